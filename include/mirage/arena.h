// arena.h - a growing region of memory with one lifetime, with marks to rewind to.
//
// Model: zstd's workspace. Blocks double in size; nothing is freed before rewind, reset or deinit.
#ifndef MIRAGE_ARENA_H
#define MIRAGE_ARENA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Where an arena gets its blocks. NULL everywhere means malloc and free.
typedef struct MirageAllocator {
  void *(*alloc)(void *user, size_t size);
  void (*free)(void *user, void *pointer);
  void *user;
} MirageAllocator;

typedef struct MirageArenaBlock MirageArenaBlock;

/// Caller's storage; zero-initialised is an empty arena on malloc.
typedef struct MirageArena {
  MirageArenaBlock *head;
  MirageArenaBlock *spare; // largest block that rewinding gave back, kept for the next growth
  const MirageAllocator *allocator;
  size_t total_bytes; // bytes of all blocks held now
} MirageArena;

typedef struct MirageArenaMark {
  MirageArenaBlock *block;
  size_t used;
} MirageArenaMark;

void mirage_arena_init(MirageArena *arena, const MirageAllocator *allocator);
void mirage_arena_deinit(MirageArena *arena);

/// Returns `size` bytes aligned to 16, zeroed, or NULL when memory is out. Size 0 gives a valid unique pointer.
void *mirage_arena_alloc(MirageArena *arena, size_t size);
/// Array form that checks the multiplication.
void *mirage_arena_alloc_array(MirageArena *arena, size_t count, size_t size);
/// Copies `size` bytes into the arena.
void *mirage_arena_copy(MirageArena *arena, const void *data, size_t size);
char *mirage_arena_strdup(MirageArena *arena, const char *text);

MirageArenaMark mirage_arena_mark(const MirageArena *arena);
/// Frees everything allocated after `mark` was taken.
void mirage_arena_rewind(MirageArena *arena, MirageArenaMark mark);

#ifdef __cplusplus
}
#endif
#endif
