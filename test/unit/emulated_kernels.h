// emulated_kernels.h - kernels written in C against the instructions of the emulated GPU, and what runs them.
//
// A kernel finds the instructions by the names that generated code uses. Operand 0 holds 0, 1, 2, ...; result 0 and the
// workspace are writable.
#ifndef MIRAGE_TEST_EMULATED_KERNELS_H
#define MIRAGE_TEST_EMULATED_KERNELS_H

#include "capture.h"
#include "codegen/host.h"
#include "emulator/machine.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static Capture capture;
static const MirageDiag DIAG = {capture_emit, &capture};

// ------------------------------------------------------------------------------------------------------- instructions

typedef struct Pair {
  uint64_t low, high;
} Pair;

static inline void *find(const char *name) {
  uint32_t count;
  const CallSymbol *calls = mirage__calls(&count);
  for (uint32_t i = 0; i < count; i++)
    if (strcmp(calls[i].name, name) == 0)
      return calls[i].function;
  fail_msg("no instruction %s", name);
  return NULL;
}

#define V(name) ((void (*)(uint32_t))find("mirage_emu_" name))(0)
#define I(name) ((uint32_t (*)(uint32_t))find("mirage_emu_" name))(0)
static inline void barrier(void) { ((void (*)(uint32_t, uint32_t))find("mirage_emu_BARRIER"))(0, 0); }
static inline void wait_copies(uint32_t n) { ((void (*)(uint32_t, uint32_t))find("mirage_emu_CP_ASYNC_WAIT"))(0, n); }
static inline void copy16(uint64_t to, uint64_t from, uint32_t valid) {
  ((void (*)(uint32_t, uint64_t, uint64_t, uint32_t))find("mirage_emu_CP_ASYNC_16_FILL"))(0, to, from, valid);
}
static inline uint32_t load_bytes(const char *name, uint64_t address, uint32_t bytes) {
  return (uint32_t)((Pair (*)(uint32_t, uint64_t, uint32_t))find(name))(0, address, bytes).low;
}
static inline void store_bytes(const char *name, uint64_t address, uint32_t bytes, uint32_t value) {
  ((void (*)(uint32_t, uint64_t, uint32_t, uint64_t, uint64_t))find(name))(0, address, bytes, value, 0);
}
static inline uint32_t load(const char *name, uint64_t address) { return load_bytes(name, address, 4); }
static inline void store(const char *name, uint64_t address, uint32_t value) { store_bytes(name, address, 4, value); }
static inline uint64_t shared(int64_t byte) { return MIRAGE_HOST_SHARED_BASE + (uint64_t)byte; }
static inline uint32_t load_shared(int64_t byte) { return load("mirage_emu_ld_shared", shared(byte)); }
static inline void store_shared(int64_t byte, uint32_t value) { store("mirage_emu_st_shared", shared(byte), value); }
static inline uint32_t load_byte(int64_t byte) { return load_bytes("mirage_emu_ld_shared", shared(byte), 1); }
static inline void store_byte(int64_t byte, uint32_t value) {
  store_bytes("mirage_emu_st_shared", shared(byte), 1, value);
}
static inline uint32_t load_global(uint64_t address) { return load("mirage_emu_ld_global", address); }
static inline void store_global(uint64_t address, uint32_t value) { store("mirage_emu_st_global", address, value); }
static inline uint32_t thread_id(void) { return I("THREAD_ID"); }
static inline float shuffle(float value, uint32_t mask) {
  return ((float (*)(uint32_t, uint32_t, float, uint32_t, uint32_t))find("mirage_emu_SHUFFLE_XOR"))(0, UINT32_MAX,
                                                                                                    value, mask, 31);
}

static inline void with_address(const char *name, uint64_t address) {
  ((void (*)(uint32_t, uint64_t))find(name))(0, address);
}
static inline void with_number(const char *name, uint64_t address, uint32_t number) {
  ((void (*)(uint32_t, uint64_t, uint32_t))find(name))(0, address, number);
}
static inline void mbarrier_init(int64_t byte, uint32_t count) {
  with_number("mirage_emu_MBARRIER_INIT", shared(byte), count);
}
static inline void mbarrier_arrive(int64_t byte) { with_address("mirage_emu_MBARRIER_ARRIVE", shared(byte)); }
static inline void mbarrier_expect(int64_t byte, uint32_t bytes) {
  with_number("mirage_emu_MBARRIER_EXPECT", shared(byte), bytes);
}
static inline void mbarrier_wait(int64_t byte, uint32_t parity) {
  uint32_t (*ask)(uint32_t, uint64_t, uint32_t) =
      (uint32_t (*)(uint32_t, uint64_t, uint32_t))find("mirage_emu_MBARRIER_TRY_WAIT");
  while (!ask(0, shared(byte), parity))
    ;
}
static inline void bulk_copy(int64_t to, uint64_t from, uint32_t bytes, int64_t mbarrier) {
  ((void (*)(uint32_t, uint64_t, uint64_t, uint32_t, uint64_t))find("mirage_emu_BULK_COPY"))(0, shared(to), from, bytes,
                                                                                             shared(mbarrier));
}
static inline void prefetch(uint64_t from) { ((void (*)(uint32_t, uint64_t))find("mirage_emu_PREFETCH"))(0, from); }
static inline void named_barrier(uint32_t number, uint32_t threads) {
  ((void (*)(uint32_t, uint32_t, uint32_t))find("mirage_emu_BARRIER_NAMED"))(0, number, threads);
}
static inline void named_arrive(uint32_t number, uint32_t threads) {
  ((void (*)(uint32_t, uint32_t, uint32_t))find("mirage_emu_BARRIER_NAMED_ARRIVE"))(0, number, threads);
}

// ------------------------------------------------------------------------------------------------------------- running

enum { WORDS = 512 };
typedef void (*Kernel)(const uint64_t *pointers);

typedef struct Setting {
  int64_t blocks, cluster;
  uint32_t threads;
  bool together, awaited;
  uint32_t shared_bytes; // 0 = 1024
  uint32_t num_maps;
  const MirageTensorMap *maps;
  uint32_t left; // by an earlier launch, in the workspace
} Setting;
static const Setting ONE_WARP = {.blocks = 1, .cluster = 1, .threads = 32};
static const Setting TWO_WARPS = {.blocks = 1, .cluster = 1, .threads = 64};

static uint32_t operand[WORDS], result[WORDS], workspace[WORDS];

static inline MirageStatus run(Kernel kernel, Setting setting, MirageCopyTime copies) {
  static uint32_t writer[WORDS * 2];
  memset(writer, 0, sizeof writer);
  for (uint32_t i = 0; i < WORDS; i++)
    operand[i] = i, result[i] = UINT32_MAX, workspace[i] = setting.left;
  Buffer buffers[3] = {
      {.data = (uint8_t *)operand, .bytes = sizeof operand, .kind = "operand", .awaited = setting.awaited},
      {.data = (uint8_t *)result, .bytes = sizeof result, .kind = "result", .writable = true, .writer = writer},
      {.data = (uint8_t *)workspace, .bytes = sizeof workspace, .kind = "workspace", .writable = true}};
  Launch launch = {.name = "k",
                   .entry = kernel,
                   .num_buffers = 3,
                   .buffers = buffers,
                   .grid = {setting.blocks, 1, 1},
                   .cluster = {setting.cluster, 1, 1},
                   .threads = setting.threads,
                   .shared_bytes = setting.shared_bytes ? setting.shared_bytes : 1024,
                   .num_maps = setting.num_maps,
                   .maps = setting.maps,
                   .together = setting.together,
                   .copies = copies,
                   .diag = &DIAG};
  capture = (Capture){0};
  return mirage__machine_run(&launch);
}

static inline void runs(Kernel kernel, Setting setting) {
  for (int copies = 0; copies < 2; copies++)
    if (run(kernel, setting, (MirageCopyTime)copies) != MIRAGE_OK)
      fail_msg("%s", capture.text);
}

static inline void caught(Kernel kernel, Setting setting, const char *sentence) {
  for (int copies = 0; copies < 2; copies++) {
    MirageStatus status = run(kernel, setting, (MirageCopyTime)copies);
    if (status != MIRAGE_FAULT || !strstr(capture.text, sentence))
      fail_msg("status %d: \"%s\" does not contain \"%s\"", status, capture.text, sentence);
  }
}

#endif
