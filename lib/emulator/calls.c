// calls.c - the instructions: one function for each row of primitives.def, and the loads and stores.
//
// lib/codegen/host.h says how operands and results travel. A new row of the table does not link until it is here.
#include "machine.h"

#include "codegen/host.h"
#include <math.h>
#include <string.h>

static Machine *machine(void) { return mirage__machine; }

// ------------------------------------------------------------------------------------------------------------ who am I

static uint32_t emu_THREAD_ID(uint32_t op) { return machine()->self->thread; }
static uint32_t emu_BLOCK_ID_X(uint32_t op) { return machine()->self->block->id[0]; }
static uint32_t emu_BLOCK_ID_Y(uint32_t op) { return machine()->self->block->id[1]; }
static uint32_t emu_BLOCK_ID_Z(uint32_t op) { return machine()->self->block->id[2]; }
static uint32_t emu_CLUSTER_RANK(uint32_t op) { return machine()->self->block->rank; }

// ------------------------------------------------------------------------------------------------------ meeting points

static void emu_nothing(uint32_t op) {} // in place of an instruction left out on purpose (MirageFault)
static void emu_BARRIER(uint32_t op, uint32_t number) {
  mirage__meeting_barrier(machine(), op, number, machine()->launch->threads, true);
}
static void emu_CLUSTER_ARRIVE(uint32_t op) { mirage__meeting_cluster_arrive(machine(), op, false); }
static void emu_CLUSTER_ARRIVE_RELAXED(uint32_t op) { mirage__meeting_cluster_arrive(machine(), op, true); }
static void emu_AWAIT_VALUE(uint32_t op, uint32_t value) { machine()->self->reads_peer = false; }
static void emu_FENCE_CLUSTER_SHARED(uint32_t op) { mirage__clock_fence_cluster(machine(), machine()->self); }
static void emu_CLUSTER_WAIT(uint32_t op) { mirage__meeting_cluster_wait(machine(), op); }
static void emu_GRID_LAUNCH_DEPENDENTS(uint32_t op) {}
static void emu_GRID_WAIT(uint32_t op) { machine()->self->grid_waited = true; }

// -------------------------------------------------------------------------------------------------------------- copies

static void emu_CP_ASYNC_16(uint32_t op, uint64_t to, uint64_t from) {
  mirage__copy_issue(machine(), op, to, from, 16, 16);
}
static void emu_CP_ASYNC_8(uint32_t op, uint64_t to, uint64_t from) {
  mirage__copy_issue(machine(), op, to, from, 8, 8);
}
static void emu_CP_ASYNC_4(uint32_t op, uint64_t to, uint64_t from) {
  mirage__copy_issue(machine(), op, to, from, 4, 4);
}
static void emu_CP_ASYNC_16_FILL(uint32_t op, uint64_t to, uint64_t from, uint32_t valid) {
  mirage__copy_issue(machine(), op, to, from, 16, valid);
}
static void emu_CP_ASYNC_8_FILL(uint32_t op, uint64_t to, uint64_t from, uint32_t valid) {
  mirage__copy_issue(machine(), op, to, from, 8, valid);
}
static void emu_CP_ASYNC_4_FILL(uint32_t op, uint64_t to, uint64_t from, uint32_t valid) {
  mirage__copy_issue(machine(), op, to, from, 4, valid);
}
static void emu_CP_ASYNC_COMMIT(uint32_t op) { mirage__copy_commit(machine()); }
static void emu_CP_ASYNC_WAIT(uint32_t op, uint32_t allowed) { mirage__copy_wait(machine(), op, allowed); }

// -------------------------------------------------------------------------------------------- barriers of some threads

static void emu_SYNC_WARP(uint32_t op, uint32_t lanes) { mirage__meeting_warp(machine(), op, lanes); }
static void emu_BARRIER_NAMED(uint32_t op, uint32_t number, uint32_t threads) {
  mirage__meeting_barrier(machine(), op, number, threads, true);
}
static void emu_BARRIER_NAMED_ARRIVE(uint32_t op, uint32_t number, uint32_t threads) {
  mirage__meeting_barrier(machine(), op, number, threads, false);
}
static uint32_t emu_BARRIER_ANY(uint32_t op, uint32_t number, uint32_t threads, uint32_t value) {
  return mirage__meeting_any(machine(), op, number, threads, value != 0);
}
static void emu_SET_REGISTERS_MORE(uint32_t op, uint32_t count) {
  mirage__meeting_registers(machine(), op, count, true);
}
static void emu_SET_REGISTERS_FEWER(uint32_t op, uint32_t count) {
  mirage__meeting_registers(machine(), op, count, false);
}

static void emu_MBARRIER_INIT(uint32_t op, uint64_t address, uint32_t count) {
  mirage__mbarrier_init(machine(), op, address, count);
}
static void emu_MBARRIER_INVAL(uint32_t op, uint64_t address) { mirage__mbarrier_end(machine(), op, address); }
static void emu_MBARRIER_EXPECT(uint32_t op, uint64_t address, uint32_t bytes) {
  mirage__mbarrier_arrive(machine(), op, address, bytes);
}
static void emu_MBARRIER_ARRIVE(uint32_t op, uint64_t address) { mirage__mbarrier_arrive(machine(), op, address, 0); }
static void emu_MBARRIER_ARRIVE_CLUSTER(uint32_t op, uint64_t address) {
  mirage__mbarrier_arrive(machine(), op, address, 0);
}
static uint32_t emu_MBARRIER_TRY_WAIT(uint32_t op, uint64_t address, uint32_t parity) {
  return mirage__mbarrier_try_wait(machine(), op, address, parity);
}
static void emu_CP_ASYNC_ARRIVE(uint32_t op, uint64_t address) { mirage__copy_arrive(machine(), op, address); }
static void emu_FENCE_MBARRIER_INIT(uint32_t op) {
  mirage__mbarrier_fence(machine());
  mirage__clock_fence_cluster(machine(), machine()->self);
}
static void emu_FENCE_ASYNC_SHARED(uint32_t op) {
  mirage__mbarrier_fence(machine());
  mirage__clock_fence(machine(), machine()->self);
}

// -------------------------------------------------------------------------------------------------- bulk, tensor
// copies

static void emu_BULK_COPY(uint32_t op, uint64_t to, uint64_t from, uint32_t bytes, uint64_t mbarrier) {
  mirage__bulk_copy(machine(), op, to, from, bytes, mbarrier);
}
static void emu_PREFETCH_MAP(uint32_t op, uint64_t map) { (void)op, (void)map; }
static void emu_PREFETCH(uint32_t op, uint64_t address) { mirage__memory_prefetch(machine(), op, address); }
static void multicast(uint32_t op, uint64_t to, uint64_t map, uint64_t mbarrier, uint32_t rank,
                      const int32_t *coordinates, uint32_t blocks) {
  if ((blocks & 0xffff) == 0)
    mirage__machine_fail(machine(), op, "copies to no block of the cluster");
  mirage__tensor_copy(machine(), op, to, map, mbarrier, rank, coordinates, blocks & 0xffff);
}
static void emu_TENSOR_COPY_1D(uint32_t op, uint64_t to, uint64_t map, uint64_t mbarrier, uint32_t c0) {
  mirage__tensor_copy(machine(), op, to, map, mbarrier, 1, (int32_t[]){(int32_t)c0}, 0);
}
static void emu_TENSOR_COPY_1D_MULTICAST(uint32_t op, uint64_t to, uint64_t map, uint64_t mbarrier, uint32_t c0,
                                         uint32_t blocks) {
  multicast(op, to, map, mbarrier, 1, (int32_t[]){(int32_t)c0}, blocks);
}
static void emu_TENSOR_COPY_2D(uint32_t op, uint64_t to, uint64_t map, uint64_t mbarrier, uint32_t c0, uint32_t c1) {
  mirage__tensor_copy(machine(), op, to, map, mbarrier, 2, (int32_t[]){(int32_t)c0, (int32_t)c1}, 0);
}
static void emu_TENSOR_COPY_2D_MULTICAST(uint32_t op, uint64_t to, uint64_t map, uint64_t mbarrier, uint32_t c0,
                                         uint32_t c1, uint32_t blocks) {
  multicast(op, to, map, mbarrier, 2, (int32_t[]){(int32_t)c0, (int32_t)c1}, blocks);
}
static void emu_TENSOR_COPY_3D(uint32_t op, uint64_t to, uint64_t map, uint64_t mbarrier, uint32_t c0, uint32_t c1,
                               uint32_t c2) {
  mirage__tensor_copy(machine(), op, to, map, mbarrier, 3, (int32_t[]){(int32_t)c0, (int32_t)c1, (int32_t)c2}, 0);
}
static void emu_TENSOR_COPY_3D_MULTICAST(uint32_t op, uint64_t to, uint64_t map, uint64_t mbarrier, uint32_t c0,
                                         uint32_t c1, uint32_t c2, uint32_t blocks) {
  multicast(op, to, map, mbarrier, 3, (int32_t[]){(int32_t)c0, (int32_t)c1, (int32_t)c2}, blocks);
}
static void emu_TENSOR_COPY_4D(uint32_t op, uint64_t to, uint64_t map, uint64_t mbarrier, uint32_t c0, uint32_t c1,
                               uint32_t c2, uint32_t c3) {
  mirage__tensor_copy(machine(), op, to, map, mbarrier, 4,
                      (int32_t[]){(int32_t)c0, (int32_t)c1, (int32_t)c2, (int32_t)c3}, 0);
}
static void emu_TENSOR_COPY_4D_MULTICAST(uint32_t op, uint64_t to, uint64_t map, uint64_t mbarrier, uint32_t c0,
                                         uint32_t c1, uint32_t c2, uint32_t c3, uint32_t blocks) {
  multicast(op, to, map, mbarrier, 4, (int32_t[]){(int32_t)c0, (int32_t)c1, (int32_t)c2, (int32_t)c3}, blocks);
}
static void emu_TENSOR_COPY_5D(uint32_t op, uint64_t to, uint64_t map, uint64_t mbarrier, uint32_t c0, uint32_t c1,
                               uint32_t c2, uint32_t c3, uint32_t c4) {
  mirage__tensor_copy(machine(), op, to, map, mbarrier, 5,
                      (int32_t[]){(int32_t)c0, (int32_t)c1, (int32_t)c2, (int32_t)c3, (int32_t)c4}, 0);
}
static void emu_TENSOR_COPY_5D_MULTICAST(uint32_t op, uint64_t to, uint64_t map, uint64_t mbarrier, uint32_t c0,
                                         uint32_t c1, uint32_t c2, uint32_t c3, uint32_t c4, uint32_t blocks) {
  multicast(op, to, map, mbarrier, 5, (int32_t[]){(int32_t)c0, (int32_t)c1, (int32_t)c2, (int32_t)c3, (int32_t)c4},
            blocks);
}

// -----------------------------------------------------------------------------------------------------------
// warpgroups

static void emu_WGMMA_FENCE(uint32_t op) { mirage__group_fence(machine(), op); }
static void emu_WGMMA_COMMIT(uint32_t op) { mirage__group_commit(machine(), op); }
static void emu_WGMMA_WAIT(uint32_t op, uint64_t groups) { mirage__group_wait(machine(), op, (uint32_t)groups); }
static MmaType mma_type(uint32_t dtype) {
  switch (dtype) {
  case MIRAGE_F16:
    return MMA_F16;
  case MIRAGE_BF16:
    return MMA_BF16;
  case MIRAGE_I8:
    return MMA_S8;
  case MIRAGE_F8E4M3FN:
    return MMA_E4M3;
  default:
    return MMA_E5M2;
  }
}
static void emu_wgmma(uint32_t op, uint32_t dtypes, uint32_t n, uint32_t majors, uint64_t a, const uint32_t *a_regs,
                      uint64_t b, uint32_t *cells) {
  GroupProduct product = {.type = mma_type(dtypes & 0xff),
                          .b_type = mma_type(dtypes >> 8 & 0xff),
                          .n = n,
                          .a_mn_major = majors & 1,
                          .b_mn_major = majors >> 1 & 1,
                          .a = a,
                          .b = b,
                          .a_regs = a_regs};
  mirage__group_product(machine(), op, &product, cells);
}
static void emu_wgmma_results(uint32_t op, uint32_t count, uint32_t *cells) {
  mirage__group_results(machine(), op, count, cells);
}

// --------------------------------------------------------------------------------------------------------------- warps

static void emu_LDMATRIX_X1_to(uint32_t op, uint64_t address, uint32_t *out, bool transposed) {
  mirage__warp_ldmatrix(machine(), op, address, 1, transposed, out);
}
static uint32_t emu_LDMATRIX_X1(uint32_t op, uint64_t address) {
  uint32_t out;
  emu_LDMATRIX_X1_to(op, address, &out, false);
  return out;
}
static uint32_t emu_LDMATRIX_X1_TRANS(uint32_t op, uint64_t address) {
  uint32_t out;
  emu_LDMATRIX_X1_to(op, address, &out, true);
  return out;
}
static void emu_LDMATRIX_X2(uint32_t op, uint64_t address, uint32_t *out) {
  mirage__warp_ldmatrix(machine(), op, address, 2, false, out);
}
static void emu_LDMATRIX_X2_TRANS(uint32_t op, uint64_t address, uint32_t *out) {
  mirage__warp_ldmatrix(machine(), op, address, 2, true, out);
}
static void emu_LDMATRIX_X4(uint32_t op, uint64_t address, uint32_t *out) {
  mirage__warp_ldmatrix(machine(), op, address, 4, false, out);
}
static void emu_LDMATRIX_X4_TRANS(uint32_t op, uint64_t address, uint32_t *out) {
  mirage__warp_ldmatrix(machine(), op, address, 4, true, out);
}

// mma.m16n8k16 and mma.m16n8k32: registers of a and b, and accumulators, of f32 or i32.
#define MMA(name, a_type, b_type, Cell)                                                                                \
  static void emu_##name(uint32_t op, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1,    \
                         Cell c0, Cell c1, Cell c2, Cell c3, uint32_t *out) {                                          \
    uint32_t operands[10] = {a0, a1, a2, a3, b0, b1};                                                                  \
    memcpy(operands + 6, (Cell[]){c0, c1, c2, c3}, 4 * sizeof *operands);                                              \
    mirage__warp_mma(machine(), op, a_type, b_type, operands, out);                                                    \
  }
MMA(MMA_F16, MMA_F16, MMA_F16, float)
MMA(MMA_BF16, MMA_BF16, MMA_BF16, float)
MMA(MMA_S8, MMA_S8, MMA_S8, uint32_t)
MMA(MMA_E4M3, MMA_E4M3, MMA_E4M3, float)
MMA(MMA_E4M3_E5M2, MMA_E4M3, MMA_E5M2, float)
MMA(MMA_E5M2_E4M3, MMA_E5M2, MMA_E4M3, float)
MMA(MMA_E5M2, MMA_E5M2, MMA_E5M2, float)
#undef MMA

static void emu_STMATRIX_X1(uint32_t op, uint64_t address, uint32_t r0) {
  mirage__warp_stmatrix(machine(), op, address, 1, false, &r0);
}
static void emu_STMATRIX_X1_TRANS(uint32_t op, uint64_t address, uint32_t r0) {
  mirage__warp_stmatrix(machine(), op, address, 1, true, &r0);
}
static void emu_STMATRIX_X2(uint32_t op, uint64_t address, uint32_t r0, uint32_t r1) {
  mirage__warp_stmatrix(machine(), op, address, 2, false, (uint32_t[]){r0, r1});
}
static void emu_STMATRIX_X2_TRANS(uint32_t op, uint64_t address, uint32_t r0, uint32_t r1) {
  mirage__warp_stmatrix(machine(), op, address, 2, true, (uint32_t[]){r0, r1});
}
static void emu_STMATRIX_X4(uint32_t op, uint64_t address, uint32_t r0, uint32_t r1, uint32_t r2, uint32_t r3) {
  mirage__warp_stmatrix(machine(), op, address, 4, false, (uint32_t[]){r0, r1, r2, r3});
}
static void emu_STMATRIX_X4_TRANS(uint32_t op, uint64_t address, uint32_t r0, uint32_t r1, uint32_t r2, uint32_t r3) {
  mirage__warp_stmatrix(machine(), op, address, 4, true, (uint32_t[]){r0, r1, r2, r3});
}

static float emu_SHUFFLE_XOR(uint32_t op, uint32_t lanes, float value, uint32_t lane_mask, uint32_t clamp) {
  return mirage__warp_shuffle_xor(machine(), op, lanes, value, lane_mask, clamp);
}

static uint32_t emu_SHUFFLE_IDX(uint32_t op, uint32_t lanes, uint32_t value, uint32_t lane, uint32_t clamp) {
  return mirage__warp_shuffle_idx(machine(), op, lanes, value, lane, clamp);
}
static uint32_t emu_VOTE_ANY(uint32_t op, uint32_t lanes, uint32_t value) {
  return mirage__warp_vote(machine(), op, lanes, value) != 0;
}
static uint32_t emu_VOTE_ALL(uint32_t op, uint32_t lanes, uint32_t value) {
  return mirage__warp_vote(machine(), op, lanes, value) == UINT32_MAX;
}

// ---------------------------------------------------------------------------------------------------------- arithmetic

static uint32_t emu_AND_XOR(uint32_t op, uint32_t a, uint32_t b, uint32_t c) { return (a & b) ^ c; }

// Byte i of the result is byte selector[4i..] & 7 of b:a, or its sign where bit 3 is set.
static uint32_t emu_BYTE_PERMUTE(uint32_t op, uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t bytes = (uint64_t)b << 32 | a;
  uint32_t result = 0;
  for (uint32_t i = 0; i < 4; i++) {
    uint32_t pick = selector >> 4 * i, byte = (uint32_t)(bytes >> 8 * (pick & 7)) & 0xff;
    if (pick & 8)
      byte = byte & 0x80 ? 0xff : 0;
    result |= byte << 8 * i;
  }
  return result;
}

static float flushed(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; } // .ftz

static float emu_EX2(uint32_t op, float x) { return flushed(exp2f(flushed(x))); }
static float emu_LG2(uint32_t op, float x) { return flushed(log2f(flushed(x))); }
static float emu_RCP(uint32_t op, float x) { return flushed(1 / flushed(x)); }
static float emu_RSQRT(uint32_t op, float x) { return flushed((float)(1 / sqrt((double)flushed(x)))); }
static float emu_SQRT(uint32_t op, float x) { return sqrtf(x); }
static float emu_DIV(uint32_t op, float x, float y) { return x / y; }
// As inexact as the processor's, by 2^-11: what a kernel makes of that is seen here.
static float emu_TANH_FAST(uint32_t op, float x) {
  int exponent;
  float fraction = frexpf(tanhf(x), &exponent);
  return ldexpf(rintf(fraction * 0x1p11f) * 0x1p-11f, exponent);
}

// -------------------------------------------------------------------------------------------------------------- memory

typedef struct Pair {
  uint64_t low, high;
} Pair;

static Pair emu_ld_global(uint32_t op, uint64_t address, uint32_t bytes) {
  Pair pair = {0, 0};
  memcpy(&pair, mirage__memory_global(machine(), op, address, bytes, bytes, false), bytes);
  return pair;
}
static void emu_st_global(uint32_t op, uint64_t address, uint32_t bytes, uint64_t low, uint64_t high) {
  Pair pair = {low, high};
  mirage__group_check_store(machine(), op, &pair, bytes);
  memcpy(mirage__memory_global(machine(), op, address, bytes, bytes, true), &pair, bytes);
}
static Pair emu_ld_shared(uint32_t op, uint64_t address, uint32_t bytes) {
  Pair pair = {0, 0};
  memcpy(&pair, mirage__memory_shared_read(machine(), op, address, bytes), bytes);
  return pair;
}
static void emu_st_shared(uint32_t op, uint64_t address, uint32_t bytes, uint64_t low, uint64_t high) {
  Pair pair = {low, high};
  mirage__group_check_store(machine(), op, &pair, bytes);
  memcpy(mirage__memory_shared_write(machine(), op, address, bytes), &pair, bytes);
}
static void emu_LD_GLOBAL_16_STREAM(uint32_t op, uint64_t address, uint32_t *out) {
  memcpy(out, mirage__memory_global(machine(), op, address, 16, 16, false), 16);
}
static void emu_LD_GLOBAL_8_STREAM(uint32_t op, uint64_t address, uint32_t *out) {
  memcpy(out, mirage__memory_global(machine(), op, address, 8, 8, false), 8);
}
static void emu_LD_GLOBAL_16_ORDERED(uint32_t op, uint64_t address, uint32_t *out) {
  emu_LD_GLOBAL_16_STREAM(op, address, out);
}
static void emu_LD_GLOBAL_16_ORDERED_CACHED(uint32_t op, uint64_t address, uint32_t *out) {
  emu_LD_GLOBAL_16_STREAM(op, address, out);
}
static void emu_LD_GLOBAL_8_ORDERED(uint32_t op, uint64_t address, uint32_t *out) {
  emu_LD_GLOBAL_8_STREAM(op, address, out);
}
static uint32_t load_number(uint32_t op, uint64_t address, uint32_t bytes) {
  uint32_t value = 0;
  memcpy(&value, mirage__memory_global(machine(), op, address, bytes, bytes, false), bytes);
  return value;
}
static uint32_t emu_LD_GLOBAL_4_ORDERED(uint32_t op, uint64_t address) { return load_number(op, address, 4); }
static void emu_LD_GLOBAL_16(uint32_t op, uint64_t address, uint32_t *out) {
  emu_LD_GLOBAL_16_STREAM(op, address, out);
}
static void emu_LD_GLOBAL_8(uint32_t op, uint64_t address, uint32_t *out) { emu_LD_GLOBAL_8_STREAM(op, address, out); }
static uint32_t emu_LD_GLOBAL_4(uint32_t op, uint64_t address) { return load_number(op, address, 4); }
static uint32_t emu_LD_GLOBAL_2(uint32_t op, uint64_t address) { return load_number(op, address, 2); }
static uint32_t emu_LD_GLOBAL_1(uint32_t op, uint64_t address) { return load_number(op, address, 1); }
static uint64_t emu_BEHIND(uint32_t op, uint64_t address) { return address; }
static void emu_KEEP_ORDER(uint32_t op) {}
static uint32_t emu_UNKNOWN(uint32_t op, uint32_t value) { return value; }

static uint64_t emu_MAP_RANK(uint32_t op, uint64_t address, uint32_t rank) {
  if (rank >= machine()->self->block->cluster->size)
    mirage__machine_fail(machine(), op, "maps shared memory of block %u of a cluster of %u", rank,
                         machine()->self->block->cluster->size);
  return address + ((uint64_t)(rank + 1) << 32);
}

// ------------------------------------------------------------------------------------- blocks that wait for each other

static void emu_RED_RELEASE(uint32_t op, uint64_t address, uint32_t value) {
  uint32_t *word = mirage__memory_flag(machine(), op, address, true);
  mirage__order_release(machine(), address);
  *word += value;
}

static void emu_RED_INC(uint32_t op, uint64_t address, uint32_t bound) {
  uint32_t *word = mirage__memory_flag(machine(), op, address, true);
  *word = *word >= bound ? 0 : *word + 1;
}

// Looking twice at the same word with nothing written in between is waiting.
static uint32_t emu_LD_ACQUIRE(uint32_t op, uint64_t address) {
  Machine *m = machine();
  Fibre *self = m->self;
  if (self->poll_address == address && self->poll_progress == m->progress) {
    self->where = "a word of device memory";
    self->op = op;
    mirage__machine_poll(m);
  }
  uint32_t value = *mirage__memory_flag(m, op, address, false);
  mirage__order_acquire(m, address);
  self->poll_address = address;
  self->poll_progress = m->progress;
  return value;
}

// Words that are their own signals: zero is one that is not there yet. A thread that finds one missing where it began to
// look, with nothing written in between, waits.
static void store_words(uint32_t op, uint64_t address, uint32_t count, const uint32_t *words) {
  memcpy(mirage__memory_words(machine(), op, address, 4 * count, true), words, 4 * (size_t)count);
}
static bool is_missing(const uint32_t *words, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (words[i] == 0)
      return true;
  return false;
}
static void load_words(uint32_t op, uint64_t address, uint32_t count, uint32_t *out) {
  Machine *m = machine();
  Fibre *self = m->self;
  const uint32_t *words = mirage__memory_words(m, op, address, 4 * count, false);
  if (is_missing(words, count) && self->poll_address == address && self->poll_progress == m->progress) {
    self->where = "words of device memory";
    self->op = op;
    mirage__machine_poll(m);
  }
  memcpy(out, words, 4 * (size_t)count);
  if (is_missing(words, count) && (self->poll_progress != m->progress || !self->poll_address)) {
    self->poll_address = address;
    self->poll_progress = m->progress;
  }
}
static uint32_t emu_LD_EPOCH(uint32_t op, uint64_t address) {
  Machine *m = machine();
  const uint32_t *word = mirage__memory_flag(m, op, address, false);
  if (m->order)
    mirage__order_epoch(m, op, word);
  return *word;
}
static void emu_ST_WORDS_4(uint32_t op, uint64_t address, uint32_t a) { store_words(op, address, 1, &a); }
static void emu_ST_WORDS_8(uint32_t op, uint64_t address, uint32_t a, uint32_t b) {
  store_words(op, address, 2, (uint32_t[]){a, b});
}
static void emu_ST_WORDS_16(uint32_t op, uint64_t address, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  store_words(op, address, 4, (uint32_t[]){a, b, c, d});
}
static uint32_t emu_LD_WORDS_4(uint32_t op, uint64_t address) {
  uint32_t word;
  load_words(op, address, 1, &word);
  return word;
}
static void emu_LD_WORDS_8(uint32_t op, uint64_t address, uint32_t *out) { load_words(op, address, 2, out); }
static void emu_LD_WORDS_16(uint32_t op, uint64_t address, uint32_t *out) { load_words(op, address, 4, out); }

// Two f8E4M3FN as f16: shifted to an f16's exponent they are that f16 divided by 2^8.
static uint32_t f16_of_e4m3(uint32_t byte) {
  uint32_t sign = (byte & 0x80) << 8, magnitude = byte & 0x7f;
  if (magnitude == 0x7f)
    return 0x7fff;
  if (magnitude >= 8) // a normal number: the exponent grows by 8
    return sign | ((magnitude << 7) + (8 << 10));
  static const uint16_t SUBNORMAL[8] = {0x0000, 0x1800, 0x1c00, 0x1e00, 0x2000, 0x2100, 0x2200, 0x2300};
  return sign | SUBNORMAL[magnitude];
}
static uint32_t emu_F16_OF_E4M3(uint32_t op, uint32_t pair) {
  return f16_of_e4m3(pair & 0xff) | f16_of_e4m3(pair >> 8 & 0xff) << 16;
}
static uint32_t emu_F16_OF_E4M3_UPPER(uint32_t op, uint32_t pairs) { return emu_F16_OF_E4M3(op, pairs >> 16); }

// --------------------------------------------------------------------------------------------------------------- table

// LLVM's own arithmetic needs no function here (primitives.c).
#define emu_FMA NULL
#define emu_MAX NULL
#define emu_MIN NULL

// Conversions that a processor without them leaves to the compiler's library. f16 and bf16 travel in the place of a
// _Float16.
#define MAX_F16 0x7c00

static uint32_t f16_bits(float value) {
  uint32_t bits, sign;
  memcpy(&bits, &value, sizeof bits);
  sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  if (bits >= 0x7f800000)
    return sign | MAX_F16 | (bits > 0x7f800000 ? 0x200 : 0);
  if (bits >= 0x477ff000) // rounds beyond the largest f16
    return sign | MAX_F16;
  float magnitude;
  memcpy(&magnitude, &bits, sizeof magnitude);
  if (bits < 0x38800000) { // subnormal: a sum with 2^-1 leaves the last bit at 2^-24
    magnitude += 0.5f;
    memcpy(&bits, &magnitude, sizeof bits);
    return sign | (bits - 0x3f000000);
  }
  return sign | ((bits + 0xfff + (bits >> 13 & 1) - (112u << 23)) >> 13);
}

static uint32_t bf16_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static _Float16 carried(uint32_t bits) {
  uint16_t half = (uint16_t)bits;
  _Float16 value;
  memcpy(&value, &half, sizeof value);
  return value;
}
static _Float16 truncate_to_f16(float value) { return carried(f16_bits(value)); }
static _Float16 truncate_to_bf16(float value) { return carried(bf16_bits(value)); }
static float extend_f16(_Float16 value) {
  uint16_t half;
  memcpy(&half, &value, sizeof half);
  uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = half & 0x7fff, bits;
  float subnormal = (float)rest * 0x1p-24f, result;
  memcpy(&bits, &subnormal, sizeof bits);
  if (rest >= 0x400)
    bits = rest >= 0x7c00 ? 0x7f800000 | (rest & 0x3ff) << 13 : (rest << 13) + (112u << 23);
  bits |= sign;
  memcpy(&result, &bits, sizeof result);
  return result;
}

const CallSymbol *mirage__calls(uint32_t *out_count) {
  static const CallSymbol CALLS[] = {
#define PRIMITIVE(name, how, text, signature, overload) {"mirage_emu_" #name, (void *)emu_##name},
#include "codegen/primitives.def"
      {"mirage_emu_nothing", (void *)emu_nothing},
      {"mirage_emu_wgmma", (void *)emu_wgmma},
      {"mirage_emu_wgmma_results", (void *)emu_wgmma_results},
      {"mirage_emu_ld_global", (void *)emu_ld_global},
      {"mirage_emu_st_global", (void *)emu_st_global},
      {"mirage_emu_ld_shared", (void *)emu_ld_shared},
      {"mirage_emu_st_shared", (void *)emu_st_shared},
      {"__truncsfhf2", (void *)truncate_to_f16},
      {"__truncsfbf2", (void *)truncate_to_bf16},
      {"__extendhfsf2", (void *)extend_f16},
      {"fmaf", (void *)fmaf},
      {"memset", (void *)memset},
      {"memcpy", (void *)memcpy},
  };
  *out_count = sizeof CALLS / sizeof *CALLS;
  return CALLS;
}
