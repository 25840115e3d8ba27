// async_kernels.c - instructions that only mean something together: barriers of some threads, mbarriers, bulk and
// tensor copies, the matrix instruction of a warpgroup.
//
// Each kernel moves or multiplies input that differs everywhere, and every thread shows what it sees. Emulator and GPU
// must agree on each bit, so a box that lands elsewhere, or a descriptor read in another way, shows.
#include "primitive_cases.h"

enum { MBARRIER = 0, DATA = 1024 }; // bytes of shared memory

// -------------------------------------------------------------------------------------------------------------- pieces

static LLVMValueRef shared_at(Kernel *k, int32_t byte) {
  LLVMValueRef offset = gpu_i32(&k->gpu, byte);
  return LLVMBuildGEP2(k->gpu.builder, k->gpu.i8, k->shared, &offset, 1, "");
}

static void barrier(Kernel *k) { GPU(&k->gpu, BARRIER, gpu_i32(&k->gpu, 0)); }

// Begins a branch that threads with `condition` take; end_branch ends it.
static LLVMBasicBlockRef begin_branch(Kernel *k, LLVMValueRef condition) {
  LLVMBasicBlockRef inside = LLVMAppendBasicBlockInContext(k->gpu.context, k->gpu.function, "");
  LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(k->gpu.context, k->gpu.function, "");
  LLVMBuildCondBr(k->gpu.builder, condition, inside, after);
  LLVMPositionBuilderAtEnd(k->gpu.builder, inside);
  return after;
}

static void end_branch(Kernel *k, LLVMBasicBlockRef after) {
  LLVMBuildBr(k->gpu.builder, after);
  LLVMPositionBuilderAtEnd(k->gpu.builder, after);
}

static LLVMBasicBlockRef first_thread(Kernel *k) {
  return begin_branch(k, LLVMBuildICmp(k->gpu.builder, LLVMIntEQ, k->thread, gpu_i32(&k->gpu, 0), ""));
}

static LLVMBasicBlockRef warps_below(Kernel *k, int32_t warps) {
  return begin_branch(k, LLVMBuildICmp(k->gpu.builder, LLVMIntULT, k->thread, gpu_i32(&k->gpu, 32 * warps), ""));
}

static void begin_mbarrier(Kernel *k, int32_t arrivals) {
  MirageGpu *gpu = &k->gpu;
  LLVMBasicBlockRef after = first_thread(k);
  GPU(gpu, MBARRIER_INIT, shared_at(k, MBARRIER), gpu_i32(gpu, arrivals));
  GPU0(gpu, FENCE_MBARRIER_INIT);
  end_branch(k, after);
  if (k->c->blocks > 1) {
    GPU0(gpu, CLUSTER_ARRIVE);
    GPU0(gpu, CLUSTER_WAIT);
  }
  barrier(k);
}

static void wait_for(Kernel *k, int32_t parity) {
  MirageGpu *gpu = &k->gpu;
  LLVMBasicBlockRef ask = LLVMAppendBasicBlockInContext(gpu->context, gpu->function, "");
  LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(gpu->context, gpu->function, "");
  LLVMBuildBr(gpu->builder, ask);
  LLVMPositionBuilderAtEnd(gpu->builder, ask);
  LLVMValueRef completed = GPU(gpu, MBARRIER_TRY_WAIT, shared_at(k, MBARRIER), gpu_i32(gpu, parity));
  LLVMBuildCondBr(gpu->builder, completed, done, ask);
  LLVMPositionBuilderAtEnd(gpu->builder, done);
}

// The first words of the data, by thread; more when the box is larger.
static void show_data(Kernel *k, int32_t bytes) {
  int32_t threads = 32 * (k->c->warps ? k->c->warps : 1);
  for (int32_t i = 0; i * threads * 4 < bytes && i < RESULTS; i++)
    case_output(k, mirage__gpu_load_shared(&k->gpu, k->gpu.i32, case_at(k, k->shared, 4, DATA + i * threads * 4)), i);
}

static void write_own(Kernel *k) {
  for (int32_t i = 0; i < 4; i++)
    mirage__gpu_store_shared(&k->gpu, case_input(k, k->gpu.i32, i), case_at(k, k->shared, 16, DATA + 4 * i));
}

// What thread ^ `distance` wrote.
static void show_other(Kernel *k, int32_t distance) {
  LLVMValueRef self = k->thread;
  k->thread = LLVMBuildXor(k->gpu.builder, self, gpu_i32(&k->gpu, distance), "");
  LLVMValueRef words[4];
  for (int32_t i = 0; i < 4; i++)
    words[i] = mirage__gpu_load_shared(&k->gpu, k->gpu.i32, case_at(k, k->shared, 16, DATA + 4 * i));
  k->thread = self;
  for (int32_t i = 0; i < 4; i++)
    case_output(k, words[i], i);
}

// ------------------------------------------------------------------------------------------------------------ barriers

static void emit_sync_warp(Kernel *k) {
  write_own(k);
  GPU(&k->gpu, SYNC_WARP, gpu_i32(&k->gpu, -1));
  show_other(k, 5);
}

static void emit_named_barrier(Kernel *k) { // of four warps, the first and last two apart
  MirageGpu *gpu = &k->gpu;
  write_own(k);
  LLVMValueRef pair = LLVMBuildLShr(gpu->builder, k->thread, gpu_i32(gpu, 6), "");
  GPU(gpu, BARRIER_NAMED, LLVMBuildAdd(gpu->builder, pair, gpu_i32(gpu, 1), ""), gpu_i32(gpu, 64));
  show_other(k, 37);
}

static void emit_named_arrive(Kernel *k) { // the first two warps only arrive
  MirageGpu *gpu = &k->gpu;
  write_own(k);
  LLVMBasicBlockRef after = warps_below(k, 2);
  GPU(gpu, BARRIER_NAMED_ARRIVE, gpu_i32(gpu, 3), gpu_i32(gpu, 128));
  end_branch(k, after);
  LLVMValueRef others = LLVMBuildICmp(gpu->builder, LLVMIntUGE, k->thread, gpu_i32(gpu, 64), "");
  after = begin_branch(k, others);
  GPU(gpu, BARRIER_NAMED, gpu_i32(gpu, 3), gpu_i32(gpu, 128));
  show_other(k, 64);
  end_branch(k, after);
}

// All four warps ask three times, at one barrier: nobody's holds, one thread's does, everybody's does. What they wrote is seen by all.
static void emit_any_barrier(Kernel *k) {
  MirageGpu *gpu = &k->gpu;
  LLVMValueRef threads = gpu_i32(gpu, 128), some = NULL;
  write_own(k);
  for (int64_t least = 128, i = 0; i < 3; least = i++ ? 0 : 127) {
    LLVMValueRef holds = LLVMBuildICmp(gpu->builder, LLVMIntUGE, k->thread, gpu_i32(gpu, least), "");
    LLVMValueRef any =
        LLVMBuildZExt(gpu->builder, GPU(gpu, BARRIER_ANY, gpu_i32(gpu, 5), threads, holds), gpu->i32, "");
    some = some ? LLVMBuildAdd(gpu->builder, LLVMBuildShl(gpu->builder, some, gpu_i32(gpu, 1), ""), any, "") : any;
  }
  show_other(k, 37);
  case_output(k, some, 4); // 3
}

static void emit_registers(Kernel *k) { // of three warpgroups the first gives to the others
  MirageGpu *gpu = &k->gpu;
  LLVMBasicBlockRef after = warps_below(k, 4);
  GPU(gpu, SET_REGISTERS_FEWER, gpu_i32(gpu, 40));
  end_branch(k, after);
  LLVMValueRef others = LLVMBuildICmp(gpu->builder, LLVMIntUGE, k->thread, gpu_i32(gpu, 128), "");
  after = begin_branch(k, others);
  GPU(gpu, SET_REGISTERS_MORE, gpu_i32(gpu, 232));
  end_branch(k, after);
  case_output(k, k->thread, 0);
}

static void emit_mbarrier(Kernel *k) { // two phases of all threads
  begin_mbarrier(k, 128);
  write_own(k);
  for (int32_t phase = 0; phase < 2; phase++) {
    GPU(&k->gpu, MBARRIER_ARRIVE, shared_at(k, MBARRIER));
    wait_for(k, phase);
    show_other(k, phase ? 96 : 1);
  }
  barrier(k);
  LLVMBasicBlockRef after = first_thread(k);
  GPU(&k->gpu, MBARRIER_INVAL, shared_at(k, MBARRIER));
  end_branch(k, after);
}

static void emit_mbarrier_cluster(Kernel *k) { // each thread tells the other block
  MirageGpu *gpu = &k->gpu;
  begin_mbarrier(k, 32);
  LLVMValueRef other = LLVMBuildXor(gpu->builder, GPU0(gpu, CLUSTER_RANK), gpu_i32(gpu, 1), "");
  write_own(k);
  GPU(gpu, MBARRIER_ARRIVE_CLUSTER, GPU(gpu, MAP_RANK, shared_at(k, MBARRIER), other));
  wait_for(k, 0);
  LLVMValueRef theirs = GPU(gpu, MAP_RANK, case_at(k, k->shared, 16, DATA), other);
  case_output(k, mirage__gpu_load_shared(gpu, gpu->i32, theirs), 0);
  GPU0(gpu, CLUSTER_ARRIVE);
  GPU0(gpu, CLUSTER_WAIT);
}

// Each block of a pair reads what the other wrote before they met.
static void emit_cluster_shared(Kernel *k) {
  MirageGpu *gpu = &k->gpu;
  LLVMValueRef other = LLVMBuildXor(gpu->builder, GPU0(gpu, CLUSTER_RANK), gpu_i32(gpu, 1), "");
  write_own(k);
  GPU0(gpu, FENCE_CLUSTER_SHARED);
  GPU0(gpu, CLUSTER_ARRIVE_RELAXED);
  GPU0(gpu, CLUSTER_WAIT);
  LLVMValueRef theirs = GPU(gpu, MAP_RANK, case_at(k, k->shared, 16, DATA), other);
  LLVMValueRef value = mirage__gpu_load_shared(gpu, gpu->i32, theirs);
  GPU(gpu, AWAIT_VALUE, value);
  GPU0(gpu, FENCE_CLUSTER_SHARED);
  GPU0(gpu, CLUSTER_ARRIVE_RELAXED);
  case_output(k, value, 0);
  GPU0(gpu, CLUSTER_WAIT);
}

// -------------------------------------------------------------------------------------------------------------- copies

static void emit_cp_async_arrive(Kernel *k) {
  MirageGpu *gpu = &k->gpu;
  begin_mbarrier(k, 32);
  GPU(gpu, CP_ASYNC_16, case_at(k, k->shared, 16, DATA), case_at(k, k->in, SLOTS * 4, 0));
  GPU(gpu, CP_ASYNC_ARRIVE, shared_at(k, MBARRIER));
  wait_for(k, 0);
  show_other(k, 9);
}

static void emit_bulk_copy(Kernel *k) {
  MirageGpu *gpu = &k->gpu;
  begin_mbarrier(k, 1);
  LLVMBasicBlockRef after = first_thread(k);
  GPU(gpu, PREFETCH, case_at(k, k->in, 0, 4111));
  GPU(gpu, MBARRIER_EXPECT, shared_at(k, MBARRIER), gpu_i32(gpu, 512));
  GPU(gpu, BULK_COPY, shared_at(k, DATA), case_at(k, k->in, 0, 48), gpu_i32(gpu, 496), shared_at(k, MBARRIER));
  GPU(gpu, BULK_COPY, shared_at(k, DATA + 496), case_at(k, k->in, 0, 4096), gpu_i32(gpu, 16), shared_at(k, MBARRIER));
  end_branch(k, after);
  wait_for(k, 0);
  show_data(k, 512);
}

// Stores by threads, then a copy over a part of them.
static void emit_fence_async(Kernel *k) {
  MirageGpu *gpu = &k->gpu;
  begin_mbarrier(k, 1);
  write_own(k);
  GPU0(gpu, FENCE_ASYNC_SHARED);
  barrier(k);
  LLVMBasicBlockRef after = first_thread(k);
  GPU(gpu, MBARRIER_EXPECT, shared_at(k, MBARRIER), gpu_i32(gpu, 256));
  GPU(gpu, BULK_COPY, shared_at(k, DATA + 128), case_at(k, k->in, 0, 0), gpu_i32(gpu, 256), shared_at(k, MBARRIER));
  end_branch(k, after);
  wait_for(k, 0);
  show_data(k, 512);
}

static int32_t box_bytes(const MirageTensorMap *map) {
  int32_t bytes = (int32_t)mirage_dtype_bytes(map->dtype);
  for (uint32_t d = 0; d < map->rank; d++)
    bytes *= map->box[d];
  return bytes;
}

static void issue_tensor_copy(Kernel *k) {
  static const MiragePrimitive ROWS[][2] = {
      {MIRAGE_PRIM_TENSOR_COPY_1D, MIRAGE_PRIM_TENSOR_COPY_1D_MULTICAST},
      {MIRAGE_PRIM_TENSOR_COPY_2D, MIRAGE_PRIM_TENSOR_COPY_2D_MULTICAST},
      {MIRAGE_PRIM_TENSOR_COPY_3D, MIRAGE_PRIM_TENSOR_COPY_3D_MULTICAST},
      {MIRAGE_PRIM_TENSOR_COPY_4D, MIRAGE_PRIM_TENSOR_COPY_4D_MULTICAST},
      {MIRAGE_PRIM_TENSOR_COPY_5D, MIRAGE_PRIM_TENSOR_COPY_5D_MULTICAST},
  };
  MirageGpu *gpu = &k->gpu;
  uint32_t rank = k->c->map.rank;
  LLVMValueRef operands[9] = {shared_at(k, DATA), mirage__gpu_tensor_map(gpu, 2), shared_at(k, MBARRIER)};
  for (uint32_t d = 0; d < rank; d++)
    operands[3 + d] = gpu_i32(gpu, k->c->corner[d]);
  operands[3 + rank] = gpu_i32(gpu, 3); // both blocks
  mirage__gpu_emit(gpu, ROWS[rank - 1][k->c->blocks > 1], operands);
}

// One block copies, for all of the cluster.
static void emit_tensor_copy(Kernel *k) {
  MirageGpu *gpu = &k->gpu;
  bool cluster = k->c->blocks > 1;
  begin_mbarrier(k, 1);
  LLVMBasicBlockRef after = first_thread(k);
  GPU(gpu, MBARRIER_EXPECT, shared_at(k, MBARRIER), gpu_i32(gpu, box_bytes(&k->c->map)));
  LLVMValueRef rank = cluster ? GPU0(gpu, CLUSTER_RANK) : gpu_i32(gpu, 0);
  LLVMBasicBlockRef issued = begin_branch(k, LLVMBuildICmp(gpu->builder, LLVMIntEQ, rank, gpu_i32(gpu, 0), ""));
  issue_tensor_copy(k);
  end_branch(k, issued);
  end_branch(k, after);
  wait_for(k, 0);
  show_data(k, box_bytes(&k->c->map));
  if (cluster) {
    GPU0(gpu, CLUSTER_ARRIVE);
    GPU0(gpu, CLUSTER_WAIT);
  }
}

// ---------------------------------------------------------------------------------------------------------- warpgroups

enum { A_AT = 0, B_AT = 16384, GROUP_BYTES = 49152 };

// Every byte that a descriptor may reach, from input that repeats at another place each time.
static void fill_operands(Kernel *k) {
  MirageGpu *gpu = &k->gpu;
  LLVMTypeRef piece = LLVMVectorType(gpu->i32, 4);
  for (int32_t i = 0; i < GROUP_BYTES / (16 * 128); i++) {
    LLVMValueRef from = LLVMBuildMul(gpu->builder, k->thread, gpu_i32(gpu, 16), "");
    from = LLVMBuildAdd(gpu->builder, from, gpu_i32(gpu, i * 2096), "");
    from = LLVMBuildAnd(gpu->builder, from, gpu_i32(gpu, WORDS_IN * 4 - 1), "");
    LLVMValueRef source = LLVMBuildGEP2(gpu->builder, gpu->i8, k->in, &from, 1, "");
    LLVMValueRef value = mirage__gpu_load_global(gpu, piece, source, MIRAGE_GLOBAL_PLAIN);
    mirage__gpu_store_shared(gpu, value, case_at(k, k->shared, 16, i * 2048));
  }
}

// Rows as wide as the swizzle, 8 to a group; without one, 8 x 8 pieces of 128 bytes, whose neighbours differ in
// distance by direction.
static LLVMValueRef descriptor(Kernel *k, int32_t byte, int32_t swizzle, bool mn_major) {
  int64_t width = 16 << swizzle, leading = 128, stride = 256;
  if (swizzle) {
    leading = width * 16;
    stride = width * 8;
  }
  return mirage__gpu_matrix_descriptor(&k->gpu, shared_at(k, byte), mn_major || !swizzle ? leading : 16, stride,
                                       swizzle);
}

static void emit_group_product(Kernel *k) {
  MirageGpu *gpu = &k->gpu;
  const GroupShape *g = &k->c->group;
  LLVMValueRef cells[128], a_regs[4];
  fill_operands(k);
  for (int32_t i = 0; i < 4; i++)
    a_regs[i] = case_input(k, gpu->i32, i);
  for (int32_t i = 0; i < g->n / 2; i++)
    cells[i] = g->dtype == MIRAGE_I8 ? gpu_i32(gpu, i) : gpu_f32(gpu, i);
  GPU0(gpu, FENCE_ASYNC_SHARED);
  barrier(k);
  GPU0(gpu, WGMMA_FENCE);
  for (int32_t step = 0; step < 2; step++) { // the second 32 bytes on, as the next step of a swizzled row is.
    // Not the same operands twice: ptxas 13.0 takes two equal products of n = 8 for one.
    LLVMValueRef a = descriptor(k, A_AT + 32 * step, g->a_swizzle, g->a_mn_major);
    LLVMValueRef b = descriptor(k, B_AT + 32 * step, g->b_swizzle, g->b_mn_major);
    mirage__gpu_wgmma(gpu, g->dtype, g->b_dtype, g->n, a, g->a_in_registers ? a_regs : NULL, g->a_mn_major, b,
                      g->b_mn_major, cells);
  }
  GPU0(gpu, WGMMA_COMMIT);
  mirage__gpu_wgmma_wait(gpu, 0, (uint32_t)g->n / 2, cells);
  for (int32_t i = 0; i < g->n / 2; i++)
    mirage__gpu_store_global(gpu, cells[i], case_at(k, k->out, 128 * 4, i * 4));
}

// --------------------------------------------------------------------------------------------------------------- cases

#define STEPS(row, label, function, w, b)                                                                              \
  {.primitive = MIRAGE_PRIM_##row,                                                                                     \
   .name = label,                                                                                                      \
   .draw = RANDOM_BITS,                                                                                                \
   .emit = function,                                                                                                   \
   .warps = w,                                                                                                         \
   .blocks = b,                                                                                                        \
   .shared_bytes = DATA + 16 * 32 * (w)}
#define BRACED(...) {__VA_ARGS__}
#define BOX(label, type, ranks, e, s, b, swz, at, cluster)                                                             \
  {                                                                                                                    \
    .primitive = MIRAGE_PRIM_TENSOR_COPY_##ranks##D, .name = label, .draw = RANDOM_BITS, .emit = emit_tensor_copy,     \
    .warps = 1, .blocks = cluster, .shared_bytes = 8192, .corner = at, .map = {                                        \
      .dtype = type,                                                                                                   \
      .rank = ranks,                                                                                                   \
      .extents = e,                                                                                                    \
      .strides = s,                                                                                                    \
      .box = b,                                                                                                        \
      .swizzle = swz                                                                                                   \
    }                                                                                                                  \
  }
#define GROUP(label, type, columns, aswz, bswz, regs, amn, bmn)                                                        \
  PAIR(label, type, type, (type) == MIRAGE_F16 ? RANDOM_F16_PAIRS : RANDOM_BF16_PAIRS, 1e-5, 1e-4, columns, aswz,      \
       bswz, regs, amn, bmn)
// Bytes: the GPU's sums of f8 keep fewer bits than an f32 has.
#define BYTES(label, a, b, columns, aswz, bswz, regs)                                                                  \
  PAIR(label, a, b, (a) == MIRAGE_I8 ? RANDOM_BITS : RANDOM_F8_PAIRS, (a) == MIRAGE_I8 ? 0 : 1e-3,                     \
       (a) == MIRAGE_I8 ? 0 : 4e-2, columns, aswz, bswz, regs, false, false)
#define PAIR(label, type, type_b, drawn, rel, abs, columns, aswz, bswz, regs, amn, bmn)                                \
  {                                                                                                                    \
    .primitive = MIRAGE_PRIM_WGMMA_WAIT, .name = label, .draw = drawn, .relative = rel, .absolute = abs,               \
    .emit = emit_group_product, .warps = 4, .blocks = 1, .shared_bytes = GROUP_BYTES, .group = {                       \
      .dtype = type,                                                                                                   \
      .b_dtype = type_b,                                                                                               \
      .n = columns,                                                                                                    \
      .a_swizzle = aswz,                                                                                               \
      .b_swizzle = bswz,                                                                                               \
      .a_in_registers = regs,                                                                                          \
      .a_mn_major = amn,                                                                                               \
      .b_mn_major = bmn                                                                                                \
    }                                                                                                                  \
  }

static const Case CASES[] = {
    STEPS(SYNC_WARP, "SYNC_WARP", emit_sync_warp, 1, 1),
    STEPS(BARRIER_NAMED, "BARRIER_NAMED", emit_named_barrier, 4, 1),
    STEPS(BARRIER_NAMED_ARRIVE, "BARRIER_NAMED_ARRIVE", emit_named_arrive, 4, 1),
    STEPS(BARRIER_ANY, "BARRIER_ANY", emit_any_barrier, 4, 1),
    STEPS(SET_REGISTERS_MORE, "SET_REGISTERS", emit_registers, 12, 1),
    STEPS(MBARRIER_ARRIVE, "MBARRIER_ARRIVE", emit_mbarrier, 4, 1),
    STEPS(MBARRIER_ARRIVE_CLUSTER, "MBARRIER_ARRIVE_CLUSTER", emit_mbarrier_cluster, 1, 2),
    STEPS(FENCE_CLUSTER_SHARED, "FENCE_CLUSTER_SHARED", emit_cluster_shared, 1, 2),
    STEPS(CP_ASYNC_ARRIVE, "MBARRIER_CP_ASYNC", emit_cp_async_arrive, 1, 1),
    STEPS(BULK_COPY, "BULK_COPY", emit_bulk_copy, 1, 1),
    STEPS(FENCE_ASYNC_SHARED, "FENCE_ASYNC_SHARED", emit_fence_async, 1, 1),
    BOX("TENSOR_1D", MIRAGE_F32, 1, BRACED(1000), BRACED(4), BRACED(64), 0, BRACED(960), 1),
    BOX("TENSOR_2D", MIRAGE_F16, 2, BRACED(60, 30), BRACED(2, 128), BRACED(64, 8), 0, BRACED(-8, 25), 1),
    BOX("TENSOR_2D_32B", MIRAGE_F16, 2, BRACED(60, 30), BRACED(2, 128), BRACED(16, 16), 1, BRACED(48, -4), 1),
    BOX("TENSOR_2D_64B", MIRAGE_F16, 2, BRACED(60, 30), BRACED(2, 128), BRACED(32, 16), 2, BRACED(24, 20), 1),
    BOX("TENSOR_2D_128B", MIRAGE_F16, 2, BRACED(60, 30), BRACED(2, 128), BRACED(64, 16), 3, BRACED(0, 3), 1),
    BOX("TENSOR_2D_128B_NARROW", MIRAGE_BF16, 2, BRACED(60, 30), BRACED(2, 128), BRACED(24, 16), 3, BRACED(8, 3), 1),
    BOX("TENSOR_2D_MULTICAST", MIRAGE_F16, 2, BRACED(60, 30), BRACED(2, 128), BRACED(64, 8), 3, BRACED(8, 1), 2),
    BOX("TENSOR_3D", MIRAGE_F32, 3, BRACED(8, 10, 7), BRACED(4, 48, 512), BRACED(4, 4, 4), 0, BRACED(4, -1, 5), 1),
    BOX("TENSOR_4D", MIRAGE_F32, 4, BRACED(8, 5, 3, 4), BRACED(4, 32, 192, 640), BRACED(8, 4, 2, 2), 1,
        BRACED(4, 3, 2, -1), 1),
    BOX("TENSOR_5D", MIRAGE_F16, 5, BRACED(16, 3, 3, 3, 3), BRACED(2, 32, 96, 288, 864), BRACED(16, 2, 2, 2, 2), 0,
        BRACED(8, 2, 1, -1, 2), 1),
    GROUP("WGMMA_n8", MIRAGE_F16, 8, 3, 3, false, false, false),
    GROUP("WGMMA_n64", MIRAGE_F16, 64, 3, 3, false, false, false),
    GROUP("WGMMA_n128_bf16", MIRAGE_BF16, 128, 3, 3, false, false, false),
    GROUP("WGMMA_n256", MIRAGE_F16, 256, 3, 3, false, false, false),
    GROUP("WGMMA_n256_bmn", MIRAGE_F16, 256, 3, 3, false, false, true),
    GROUP("WGMMA_n24_amn_bmn", MIRAGE_F16, 24, 3, 0, false, true, true),
    GROUP("WGMMA_plain", MIRAGE_F16, 64, 0, 0, false, false, false),
    GROUP("WGMMA_plain_bmn", MIRAGE_F16, 64, 0, 0, false, false, true),
    GROUP("WGMMA_plain_amn", MIRAGE_F16, 64, 0, 0, false, true, false),
    GROUP("WGMMA_plain_amn_bmn", MIRAGE_BF16, 64, 0, 0, false, true, true),
    GROUP("WGMMA_32B", MIRAGE_F16, 64, 1, 1, false, false, false),
    GROUP("WGMMA_32B_amn_bmn", MIRAGE_F16, 64, 1, 1, false, true, true),
    GROUP("WGMMA_64B", MIRAGE_F16, 64, 2, 2, false, false, false),
    GROUP("WGMMA_64B_amn_bmn", MIRAGE_F16, 64, 2, 2, false, true, true),
    GROUP("WGMMA_128B_amn_bmn", MIRAGE_F16, 64, 3, 3, false, true, true),
    GROUP("WGMMA_128B_bmn", MIRAGE_F16, 128, 3, 3, false, false, true),
    GROUP("WGMMA_mixed", MIRAGE_BF16, 96, 1, 2, false, true, false),
    GROUP("WGMMA_regs", MIRAGE_F16, 64, 0, 3, true, false, false),
    GROUP("WGMMA_regs_bmn_bf16", MIRAGE_BF16, 256, 0, 3, true, false, true),
    GROUP("WGMMA_regs_n8", MIRAGE_F16, 8, 0, 0, true, false, false),
    BYTES("WGMMA_s8_n8", MIRAGE_I8, MIRAGE_I8, 8, 3, 3, false),
    BYTES("WGMMA_s8_n256", MIRAGE_I8, MIRAGE_I8, 256, 3, 3, false),
    BYTES("WGMMA_s8_n48_64B", MIRAGE_I8, MIRAGE_I8, 48, 2, 1, false),
    BYTES("WGMMA_s8_plain", MIRAGE_I8, MIRAGE_I8, 24, 0, 0, false),
    BYTES("WGMMA_s8_regs", MIRAGE_I8, MIRAGE_I8, 64, 0, 3, true),
    BYTES("WGMMA_e4m3", MIRAGE_F8E4M3FN, MIRAGE_F8E4M3FN, 128, 3, 3, false),
    BYTES("WGMMA_e4m3_e5m2_n40", MIRAGE_F8E4M3FN, MIRAGE_F8E5M2, 40, 3, 2, false),
    BYTES("WGMMA_e5m2_e4m3_regs", MIRAGE_F8E5M2, MIRAGE_F8E4M3FN, 64, 0, 3, true),
    BYTES("WGMMA_e5m2_plain", MIRAGE_F8E5M2, MIRAGE_F8E5M2, 64, 0, 0, false),
};

const Case *case_async(unsigned *out_count) {
  *out_count = sizeof CASES / sizeof *CASES;
  return CASES;
}
