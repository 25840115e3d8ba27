// arena.c - a growing region of memory with one lifetime.
//
// Blocks form a list, newest first; each is at least twice as large as the one before, so a region of n bytes costs
// O(log n) calls of the allocator. Rewinding frees the blocks that the mark does not cover, except the largest, which
// is kept as a spare: a search that marks and rewinds across the end of a block would otherwise call the allocator each
// time. Under AddressSanitizer memory that is not handed out is poisoned, so that a stale pointer is reported as if it
// had come from malloc.
#include "mirage/arena.h"

#include "poison.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 16, FIRST_BLOCK_BYTES = 4096 };

struct MirageArenaBlock {
  MirageArenaBlock *previous;
  size_t capacity; // bytes of data
  size_t used;     // multiple of ALIGNMENT
  _Alignas(ALIGNMENT) unsigned char data[];
};

static MirageArenaBlock *block_create(MirageArena *arena, size_t capacity) {
  if (capacity > SIZE_MAX - sizeof(MirageArenaBlock))
    return NULL;
  size_t bytes = sizeof(MirageArenaBlock) + capacity;
  MirageArenaBlock *block = arena->allocator ? arena->allocator->alloc(arena->allocator->user, bytes) : malloc(bytes);
  if (!block)
    return NULL;
  *block = (MirageArenaBlock){.capacity = capacity};
  POISON(block->data, capacity);
  arena->total_bytes += bytes;
  return block;
}

static void block_destroy(MirageArena *arena, MirageArenaBlock *block) {
  arena->total_bytes -= sizeof(MirageArenaBlock) + block->capacity;
  UNPOISON(block->data, block->capacity);
  if (arena->allocator)
    arena->allocator->free(arena->allocator->user, block);
  else
    free(block);
}

// Puts a block with room for `size` bytes at the head.
static bool grow(MirageArena *arena, size_t size) {
  MirageArenaBlock *block = arena->spare;
  if (block && block->capacity >= size) {
    arena->spare = NULL;
  } else {
    size_t capacity = FIRST_BLOCK_BYTES;
    if (arena->head && arena->head->capacity <= SIZE_MAX / 4)
      capacity = 2 * arena->head->capacity;
    block = block_create(arena, size > capacity ? size : capacity);
    if (!block && size < capacity)
      block = block_create(arena, size); // memory is short: take just what is needed
    if (!block)
      return false;
  }
  block->previous = arena->head;
  arena->head = block;
  return true;
}

// Takes the newest block out of service: the largest such block is kept as the spare.
static void pop(MirageArena *arena) {
  MirageArenaBlock *block = arena->head;
  arena->head = block->previous;
  if (arena->spare && arena->spare->capacity >= block->capacity) {
    block_destroy(arena, block);
    return;
  }
  if (arena->spare)
    block_destroy(arena, arena->spare);
  POISON(block->data, block->used);
  block->used = 0;
  block->previous = NULL;
  arena->spare = block;
}

void mirage_arena_init(MirageArena *arena, const MirageAllocator *allocator) {
  *arena = (MirageArena){.allocator = allocator};
}

void mirage_arena_deinit(MirageArena *arena) {
  while (arena->head)
    pop(arena);
  if (arena->spare)
    block_destroy(arena, arena->spare);
  mirage_arena_init(arena, arena->allocator);
}

void *mirage_arena_alloc(MirageArena *arena, size_t size) {
  if (size > SIZE_MAX - ALIGNMENT)
    return NULL;
  size_t rounded = size ? (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT;
  MirageArenaBlock *head = arena->head;
  if (!head || head->capacity - head->used < rounded) {
    if (!grow(arena, rounded))
      return NULL;
    head = arena->head;
  }
  unsigned char *memory = head->data + head->used;
  head->used += rounded;
  UNPOISON(memory, size);
  return memset(memory, 0, size);
}

void *mirage_arena_alloc_array(MirageArena *arena, size_t count, size_t size) {
  if (size && count > SIZE_MAX / size)
    return NULL;
  return mirage_arena_alloc(arena, count * size);
}

void *mirage_arena_copy(MirageArena *arena, const void *data, size_t size) {
  void *copy = mirage_arena_alloc(arena, size);
  if (copy && size)
    memcpy(copy, data, size);
  return copy;
}

char *mirage_arena_strdup(MirageArena *arena, const char *text) {
  return mirage_arena_copy(arena, text, strlen(text) + 1);
}

MirageArenaMark mirage_arena_mark(const MirageArena *arena) {
  return (MirageArenaMark){.block = arena->head, .used = arena->head ? arena->head->used : 0};
}

void mirage_arena_rewind(MirageArena *arena, MirageArenaMark mark) {
  while (arena->head != mark.block)
    pop(arena);
  if (!mark.block)
    return;
  POISON(mark.block->data + mark.used, mark.block->used - mark.used);
  mark.block->used = mark.used;
}
