// test_emulator_warps.c - what warps and warpgroups of the emulated GPU do together: named barriers, votes, stmatrix,
// registers handed over, and the matrix instruction of a warpgroup.
//
// Each rule has a kernel that keeps it and one that breaks it; the sentence must name the rule.
#include "emulated_kernels.h"

#include "mirage/eval.h"

static const Setting GROUP_OF_FOUR = {.blocks = 1, .cluster = 1, .threads = 128, .shared_bytes = 65536};
static uint32_t warp(void) { return thread_id() / 32; }

// ------------------------------------------------------------------------------------------------------- some of a
// block

// Warp 0 produces for warp 1; warp 2 does neither.
static const Setting THREE_WARPS = {.blocks = 1, .cluster = 1, .threads = 96};
static void hands_over(const uint64_t *p, bool arrive) {
  uint32_t lane = thread_id() % 32;
  if (warp() == 0) {
    store_shared(4 * lane, 7 * lane);
    if (arrive)
      named_arrive(1, 64);
  } else if (warp() == 1) {
    if (arrive)
      named_barrier(1, 64);
    store_global(p[1] + 4 * lane, load_shared(4 * (31 - lane)));
  }
}
static void with_named_barrier(const uint64_t *p) { hands_over(p, true); }
static void without_named_barrier(const uint64_t *p) { hands_over(p, false); }
static void third_warp_reads(const uint64_t *p) {
  if (warp() < 2)
    named_barrier(1, 64);
  if (warp() == 0)
    store_shared(0, 1);
  if (warp() < 2)
    named_barrier(1, 64);
  barrier();
  if (warp() == 1)
    store_shared(0, 2);
  if (warp() < 2)
    named_barrier(1, 64);
  if (warp() == 2)
    load_shared(0); // was not among those who met
}
static void two_at_once(const uint64_t *p) {
  store_shared(4 * thread_id(), thread_id());
  named_barrier(1 + thread_id() / 64, 64);
  store_global(p[1] + 4 * thread_id(), load_shared(4 * (thread_id() ^ 32)));
}
static void other_number(const uint64_t *p) { named_barrier(16, 32); }
static void odd_number(const uint64_t *p) { named_barrier(1, 48); }
static void too_many(const uint64_t *p) { named_barrier(1, 128); }
static void do_not_agree(const uint64_t *p) {
  if (warp() < 2)
    named_barrier(1, warp() ? 96 : 64);
}
static void nobody_else(const uint64_t *p) {
  if (warp() == 0)
    named_barrier(1, 64);
}

static void test_named_barriers(void **state) {
  runs(with_named_barrier, THREE_WARPS);
  assert_int_equal(result[1], 7 * 30);
  runs(two_at_once, (Setting){.blocks = 1, .cluster = 1, .threads = 128});
  assert_int_equal(result[127], 95);
  caught(without_named_barrier, THREE_WARPS, "of shared memory, which"); // read too early, or not written yet
  caught(third_warp_reads, THREE_WARPS, "with no barrier in between");
  caught(other_number, ONE_WARP, "barrier 16 of 16");
  caught(odd_number, TWO_WARPS, "barrier 1 is for 48 threads: not whole warps of a block of 64");
  caught(too_many, TWO_WARPS, "barrier 1 is for 128 threads: not whole warps of a block of 64");
  caught(do_not_agree, THREE_WARPS, "barrier 1 is for");
  caught(nobody_else, THREE_WARPS, "deadlock: 32 threads wait at a named barrier, 0 elsewhere, 64 have ended");
}

// -----------------------------------------------------------------------------------------------------------------
// warps

static void sync_warp(uint32_t lanes) { ((void (*)(uint32_t, uint32_t))find("mirage_emu_SYNC_WARP"))(0, lanes); }
static void passes_to_neighbour(const uint64_t *p) {
  store_shared(4 * thread_id(), thread_id());
  sync_warp(UINT32_MAX);
  store_global(p[1] + 4 * thread_id(), load_shared(4 * (thread_id() ^ 1)));
}
static void passes_to_other_warp(const uint64_t *p) {
  store_shared(4 * thread_id(), thread_id());
  sync_warp(UINT32_MAX);
  if (warp() == 1)
    for (int i = 0; i < 4; i++)
      shuffle(0, 1);
  load_shared(4 * (thread_id() % 32));
}
static void half_a_warp(const uint64_t *p) { sync_warp(0xffff); }

static uint32_t vote(const char *name, uint32_t value) {
  return ((uint32_t (*)(uint32_t, uint32_t, uint32_t))find(name))(0, UINT32_MAX, value);
}
static uint32_t from_lane(uint32_t value, uint32_t lane) {
  return ((uint32_t (*)(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t))find("mirage_emu_SHUFFLE_IDX"))(
      0, UINT32_MAX, value, lane, 31);
}
static void asks_around(const uint64_t *p) {
  uint32_t lane = thread_id() % 32;
  uint32_t answers = vote("mirage_emu_VOTE_ANY", lane == 5) | vote("mirage_emu_VOTE_ANY", 0) << 1 |
                     vote("mirage_emu_VOTE_ALL", lane < 32) << 2 | vote("mirage_emu_VOTE_ALL", lane != 3) << 3;
  store_global(p[1] + 4 * thread_id(), answers | from_lane(100 + thread_id(), 9) << 8);
}

static void test_warps(void **state) {
  runs(passes_to_neighbour, TWO_WARPS);
  assert_int_equal(result[40], 41);
  caught(passes_to_other_warp, TWO_WARPS, "of shared memory, which");
  caught(half_a_warp, ONE_WARP, "a barrier of lanes 0xffff: whole warps are emulated");
  runs(asks_around, TWO_WARPS);
  for (uint32_t t = 0; t < 64; t++)
    assert_int_equal(result[t], (100 + 32 * (t / 32) + 9) << 8 | 5);
}

// What stmatrix stores, ldmatrix loads.
static void there_and_back(const uint64_t *p, const char *there, const char *back) {
  uint32_t t = thread_id(), out[4];
  ((void (*)(uint32_t, uint64_t, uint32_t, uint32_t, uint32_t, uint32_t))find(there))(0, shared(16 * t), t, t + 32,
                                                                                      t + 64, (t + 96) << 16 | t);
  barrier();
  ((void (*)(uint32_t, uint64_t, uint32_t *))find(back))(0, shared(16 * t), out);
  for (uint32_t i = 0; i < 4; i++)
    store_global(p[1] + 4 * (4 * t + i), out[i]);
}
static void plain(const uint64_t *p) { there_and_back(p, "mirage_emu_STMATRIX_X4", "mirage_emu_LDMATRIX_X4"); }
static void turned(const uint64_t *p) {
  there_and_back(p, "mirage_emu_STMATRIX_X4_TRANS", "mirage_emu_LDMATRIX_X4_TRANS");
}
static void no_barrier_after(const uint64_t *p) {
  uint32_t t = thread_id();
  ((void (*)(uint32_t, uint64_t, uint32_t))find("mirage_emu_STMATRIX_X1"))(0, shared(16 * (t % 8)), t);
  load_shared(16 * ((t + 1) % 8));
}

static void test_stmatrix(void **state) {
  Kernel kernels[] = {plain, turned};
  for (int k = 0; k < 2; k++) {
    runs(kernels[k], ONE_WARP);
    for (uint32_t t = 0; t < 32; t++) {
      assert_int_equal(result[4 * t + 1], t + 32);
      assert_int_equal(result[4 * t + 3], (t + 96) << 16 | t);
    }
  }
  caught(no_barrier_after, ONE_WARP, "with no barrier in between");
}

// -------------------------------------------------------------------------------------------------------------
// registers

static void set_registers(const char *name, uint32_t count) { ((void (*)(uint32_t, uint32_t))find(name))(0, count); }
static void fewer(uint32_t count) { set_registers("mirage_emu_SET_REGISTERS_FEWER", count); }
static void more(uint32_t count) { set_registers("mirage_emu_SET_REGISTERS_MORE", count); }
static const Setting THREE_GROUPS = {.blocks = 1, .cluster = 1, .threads = 384}; // 168 registers each
static void roles(uint32_t producer, uint32_t consumer) {
  if (thread_id() < 128)
    fewer(producer);
  else
    more(consumer);
}
static void roles_that_fit(const uint64_t *p) { roles(40, 232); }
static void roles_that_do_not(const uint64_t *p) { roles(40, 240); }
static void odd_registers(const uint64_t *p) { fewer(100); }
static void more_is_less(const uint64_t *p) { more(40); }
static void warps_differ(const uint64_t *p) { fewer(40 + 8 * (warp() % 2)); }

static void test_registers(void **state) {
  runs(roles_that_fit, THREE_GROUPS);
  caught(roles_that_do_not, THREE_GROUPS, "128 threads wait at setmaxnreg, 0 elsewhere");
  caught(odd_registers, THREE_GROUPS, "100 registers per thread: not a multiple of 8 in 24 .. 256");
  caught(more_is_less, THREE_GROUPS, "asks for more registers per thread than 168: 40");
  caught(warps_differ, THREE_GROUPS, "of its warpgroup for");
}

// ------------------------------------------------------------------------------------------------------------
// warpgroups

// d[64, n] = a[64, 16] @ b[16, n] with small integers, so that sums are exact in any order.
static float a_element(uint32_t row, uint32_t k) { return (float)((row * 3 + k * 5) % 13) - 6; }
static float b_element(uint32_t k, uint32_t column) { return (float)((k * 7 + column * 2) % 11) - 5; }

typedef struct Case {
  uint32_t n, a_swizzle, b_swizzle; // as MirageTensorMap's
  bool a_mn_major, b_mn_major, a_in_registers, bf16;
  MirageDType a_bytes, b_bytes; // i8 or f8; f16, which is 0: no bytes
} Case;
static Case shape;

static bool of_bytes(void) { return shape.a_bytes != MIRAGE_F16; }
static uint32_t depth(void) { return of_bytes() ? 32 : 16; }

enum { B_AT = 32768 };

static uint32_t byte(MirageDType dtype, float value) {
  MirageType one = mirage_type_tensor(dtype, 1, (int64_t[]){1});
  double wide = (double)value;
  uint8_t bits;
  mirage_tensor_pack(&one, &wide, &bits);
  return bits;
}

static uint16_t half(float value) {
  return (uint16_t)(shape.bf16 ? mirage_bf16_from_double((double)value) : mirage_f16_from_double((double)value));
}

// A matrix of `rows` x 16 elements in the layouts of PTX: 8 x 8 pieces of 128 bytes, or rows as wide as the swizzle.
typedef struct Layout {
  uint32_t rows, swizzle, leading, stride;
  bool mn_major;
} Layout;

static Layout layout_of(uint32_t rows, uint32_t swizzle, bool mn_major) {
  Layout layout = {.rows = rows, .swizzle = swizzle, .mn_major = mn_major};
  uint32_t width = 16u << swizzle;
  if (!mn_major) {
    layout.leading = swizzle ? 16 : rows * 16; // all rows' first 8 columns, then the others
    layout.stride = width * 8;
  } else if (swizzle == 0) {
    layout.stride = 256; // the next 8 rows come after both halves of these
    layout.leading = 128;
  } else {
    layout.stride = width * 8;
    layout.leading = width * 16;
  }
  return layout;
}

// Bytes lie like halves, two in the place of one.
static uint32_t byte_of(const Layout *l, uint32_t row, uint32_t k) {
  if (of_bytes()) {
    uint32_t width = 16u << l->swizzle, at = row % 8 * width + row / 8 * l->stride;
    at += l->swizzle ? k : k / 16 * l->leading + k % 16;
    return at ^ (at >> 7 & ((1u << l->swizzle) - 1)) << 4;
  }
  uint32_t width = 16u << l->swizzle, per = width / 2, byte;
  if (!l->mn_major)
    byte = row % 8 * width + row / 8 * l->stride + (l->swizzle ? 2 * k : k / 8 * l->leading + k % 8 * 2);
  else if (l->swizzle == 0)
    byte = row % 8 * 2 + row / 8 * l->stride + k % 8 * 16 + k / 8 * l->leading;
  else
    byte = row % per * 2 + row / per * l->leading + k % 8 * width + k / 8 * l->stride;
  return byte ^ (byte >> 7 & ((1u << l->swizzle) - 1)) << 4;
}

static uint64_t descriptor(const Layout *l, uint32_t start) {
  uint64_t mode = l->swizzle ? 4 - l->swizzle : 0;
  return mode << 62 | (uint64_t)(l->stride >> 4) << 32 | (uint64_t)(l->leading >> 4) << 16 | start >> 4;
}

static void store_element(int64_t at, uint32_t value) {
  ((void (*)(uint32_t, uint64_t, uint32_t, uint64_t, uint64_t))find("mirage_emu_st_shared"))(
      0, shared(at), of_bytes() ? 1 : 2, value, 0);
}

static uint32_t element_bits(bool is_a, float value) {
  return of_bytes() ? byte(is_a ? shape.a_bytes : shape.b_bytes, value) : half(value);
}

static void fill(uint32_t at, const Layout *l, bool is_a) {
  for (uint32_t i = thread_id(); i < l->rows * depth(); i += 128) {
    uint32_t row = i / depth(), k = i % depth();
    float value = is_a ? a_element(row, k) : b_element(k, row);
    store_element(at + byte_of(l, row, k), element_bits(is_a, value));
  }
}

static void a_registers(uint32_t *out) {
  uint32_t t = thread_id(), row = t / 32 * 16 + t % 32 / 4, per = of_bytes() ? 4 : 2;
  for (uint32_t r = 0; r < 4; r++) {
    uint32_t i = row + r % 2 * 8, j = (t % 4 + r / 2 * 4) * per;
    out[r] = 0;
    for (uint32_t e = 0; e < per; e++)
      out[r] |= element_bits(true, a_element(i, j + e)) << e * 32 / per;
  }
}

static void product(uint64_t a, const uint32_t *a_regs, uint64_t b, float *cells) {
  uint32_t halves = shape.bf16 ? MIRAGE_BF16 : MIRAGE_F16;
  uint32_t dtypes = of_bytes() ? shape.a_bytes | (uint32_t)shape.b_bytes << 8 : halves | halves << 8;
  ((void (*)(uint32_t, uint32_t, uint32_t, uint32_t, uint64_t, const uint32_t *, uint64_t, uint32_t *))find(
      "mirage_emu_wgmma"))(0, dtypes, shape.n, shape.a_mn_major | (uint32_t)shape.b_mn_major << 1, a, a_regs, b,
                           (void *)cells);
}
static void wait_products(uint64_t allowed) {
  ((void (*)(uint32_t, uint64_t))find("mirage_emu_WGMMA_WAIT"))(0, allowed);
}
static void results(float *cells) {
  ((void (*)(uint32_t, uint32_t, uint32_t *))find("mirage_emu_wgmma_results"))(0, shape.n / 2, (void *)cells);
}

// Sums of i8 are integers in the same registers.
static float number(float cell) {
  int32_t integer;
  memcpy(&integer, &cell, sizeof integer);
  return shape.a_bytes == MIRAGE_I8 ? (float)integer : cell;
}

static float one(void) {
  int32_t integer = 1;
  float cell = 1;
  if (shape.a_bytes == MIRAGE_I8)
    memcpy(&cell, &integer, sizeof cell);
  return cell;
}

// Every thread checks its own cells: d = times * a @ b + 1.
static void check_cells(const uint64_t *p, const float *cells, float times) {
  uint32_t t = thread_id(), wrong = 0;
  for (uint32_t i = 0; i < shape.n / 2; i++) {
    uint32_t row = t / 32 * 16 + t % 32 / 4 + i % 4 / 2 * 8, column = i / 4 * 8 + t % 4 * 2 + i % 2;
    float expected = 0;
    for (uint32_t k = 0; k < depth(); k++)
      expected += a_element(row, k) * b_element(k, column);
    wrong += number(cells[i]) != times * expected + 1;
  }
  store_global(p[1] + 4 * t, wrong);
}

typedef struct Skip { // what a kernel leaves out
  bool proxy_fence, barrier, fence, wait, take, commit;
} Skip;

static void multiply(const uint64_t *p, Skip skip) {
  Layout a = layout_of(64, shape.a_swizzle, shape.a_mn_major),
         b = layout_of(shape.n, shape.b_swizzle, shape.b_mn_major);
  uint32_t regs[4];
  float cells[128];
  fill(0, &a, true);
  fill(B_AT, &b, false);
  a_registers(regs);
  if (!skip.proxy_fence)
    V("FENCE_ASYNC_SHARED");
  if (!skip.barrier)
    barrier();
  for (uint32_t i = 0; i < shape.n / 2; i++)
    cells[i] = one();
  if (!skip.fence)
    V("WGMMA_FENCE");
  for (int twice = 0; twice < 2; twice++)
    product(descriptor(&a, 0), shape.a_in_registers ? regs : NULL, descriptor(&b, B_AT), cells);
  if (!skip.commit)
    V("WGMMA_COMMIT");
  if (!skip.wait)
    wait_products(0);
  if (!skip.take)
    results(cells);
  check_cells(p, cells, 2);
  float first = cells[0];
  uint32_t bits;
  memcpy(&bits, &first, sizeof bits);
  store_shared(40000 + 4 * thread_id(), bits);
}

static void all_right(const uint64_t *p) { multiply(p, (Skip){0}); }
static void no_proxy_fence(const uint64_t *p) { multiply(p, (Skip){.proxy_fence = true}); }
static void no_barrier(const uint64_t *p) { multiply(p, (Skip){.barrier = true}); }
static void no_fence(const uint64_t *p) { multiply(p, (Skip){.fence = true}); }
static void no_wait(const uint64_t *p) { multiply(p, (Skip){.wait = true}); }
static void no_commit(const uint64_t *p) { multiply(p, (Skip){.commit = true}); }
static void not_taken(const uint64_t *p) { multiply(p, (Skip){.take = true}); }

static void check_shape(Case c) {
  shape = c;
  runs(all_right, GROUP_OF_FOUR);
  for (uint32_t t = 0; t < 128; t++)
    if (result[t])
      fail_msg("n %u, a: swizzle %u, major %d, b: swizzle %u, major %d: thread %u has %u wrong", c.n, c.a_swizzle,
               c.a_mn_major, c.b_swizzle, c.b_mn_major, t, result[t]);
}

static void test_product_shapes(void **state) {
  for (uint32_t n = 8; n <= 256; n *= 2)
    check_shape((Case){.n = n, .a_swizzle = 3, .b_swizzle = 3, .bf16 = n == 16});
  for (uint32_t swizzle = 0; swizzle < 4; swizzle++)
    for (int major = 0; major < 4; major++) {
      Case c = {.n = 64, .a_swizzle = swizzle, .b_swizzle = 3 - swizzle};
      c.a_mn_major = major & 1;
      c.b_mn_major = major & 2;
      check_shape(c);
    }
  check_shape((Case){.n = 24, .a_in_registers = true});
  check_shape((Case){.n = 64, .a_in_registers = true, .b_swizzle = 2, .b_mn_major = true, .bf16 = true});
}

static void test_product_of_bytes(void **state) {
  const MirageDType e4m3 = MIRAGE_F8E4M3FN, e5m2 = MIRAGE_F8E5M2, i8 = MIRAGE_I8;
  for (uint32_t swizzle = 0; swizzle < 4; swizzle++)
    check_shape((Case){.n = 64, .a_swizzle = swizzle, .b_swizzle = 3 - swizzle, .a_bytes = i8, .b_bytes = i8});
  for (uint32_t n = 8; n <= 256; n *= 2)
    check_shape((Case){.n = n, .a_swizzle = 3, .b_swizzle = 3, .a_bytes = i8, .b_bytes = i8});
  check_shape((Case){.n = 24, .a_in_registers = true, .a_bytes = i8, .b_bytes = i8});
  check_shape((Case){.n = 40, .a_swizzle = 3, .b_swizzle = 2, .a_bytes = e4m3, .b_bytes = e5m2});
  check_shape((Case){.n = 64, .a_in_registers = true, .b_swizzle = 3, .a_bytes = e5m2, .b_bytes = e4m3});
  check_shape((Case){.n = 128, .a_swizzle = 2, .b_swizzle = 3, .a_bytes = e4m3, .b_bytes = e4m3});
  shape = (Case){.n = 40, .a_swizzle = 3, .b_swizzle = 3, .a_bytes = i8, .b_bytes = i8};
  caught(all_right, GROUP_OF_FOUR, "a warpgroup's product of i8 has 40 columns: beyond 32 a multiple of 16");
  shape = (Case){.n = 32, .a_swizzle = 3, .b_swizzle = 3, .b_mn_major = true, .a_bytes = e4m3, .b_bytes = e4m3};
  caught(all_right, GROUP_OF_FOUR, "reads an operand with the contraction outermost");
  shape = (Case){.n = 32, .a_swizzle = 3, .b_swizzle = 3, .a_bytes = i8, .b_bytes = i8};
  caught(no_wait, GROUP_OF_FOUR, "stores an accumulator of a warpgroup's product before waiting for it");
  caught(no_fence, GROUP_OF_FOUR, "with no wgmma.fence before it");
}

static void overwrites_operand(const uint64_t *p) {
  Layout a = layout_of(64, 3, false), b = layout_of(shape.n, 3, false);
  float cells[128] = {0};
  fill(0, &a, true);
  fill(B_AT, &b, false);
  V("FENCE_ASYNC_SHARED");
  barrier();
  V("WGMMA_FENCE");
  product(descriptor(&a, 0), NULL, descriptor(&b, B_AT), cells);
  V("WGMMA_COMMIT");
  barrier();
  fill(0, &a, true);
  wait_products(0);
}
static void overwrites_after_wait(const uint64_t *p) {
  Layout a = layout_of(64, 3, false), b = layout_of(shape.n, 3, false);
  float cells[128] = {0};
  fill(0, &a, true);
  fill(B_AT, &b, false);
  V("FENCE_ASYNC_SHARED");
  barrier();
  V("WGMMA_FENCE");
  product(descriptor(&a, 0), NULL, descriptor(&b, B_AT), cells);
  V("WGMMA_COMMIT");
  wait_products(0);
  barrier();
  fill(0, &a, true);
}
static void unequal_operands(const uint64_t *p) {
  float cells[128] = {0};
  V("WGMMA_FENCE");
  product(warp(), NULL, 0, cells);
}
static void unwritten_operand(const uint64_t *p) {
  float cells[128] = {0};
  V("WGMMA_FENCE");
  product(0, NULL, 0, cells);
}
static void mixes_accumulators(const uint64_t *p) {
  uint32_t regs[4] = {0};
  Layout b = layout_of(shape.n, 3, false);
  float cells[128] = {0};
  fill(B_AT, &b, false);
  V("FENCE_ASYNC_SHARED");
  barrier();
  V("WGMMA_FENCE");
  product(0, regs, descriptor(&b, B_AT), cells);
  cells[1] = 0;
  product(0, regs, descriptor(&b, B_AT), cells);
}
static void two_warps_only(const uint64_t *p) {
  float cells[128] = {0};
  V("WGMMA_FENCE");
  product(0, NULL, 0, cells);
}

static void test_product_rules(void **state) {
  shape = (Case){.n = 32, .a_swizzle = 3, .b_swizzle = 3};
  caught(no_proxy_fence, GROUP_OF_FOUR, "with no proxy fence in between");
  caught(no_barrier, GROUP_OF_FOUR, "with no barrier in between");
  caught(no_fence, GROUP_OF_FOUR, "with no wgmma.fence before it");
  caught(no_wait, GROUP_OF_FOUR, "stores an accumulator of a warpgroup's product before waiting for it");
  caught(no_commit, GROUP_OF_FOUR, "stores an accumulator of a warpgroup's product before waiting for it");
  caught(not_taken, GROUP_OF_FOUR, "stores an accumulator of a warpgroup's product before waiting for it");
  caught(overwrites_operand, GROUP_OF_FOUR, "which a product of warpgroup 0 reads (custom) with no barrier in between");
  runs(overwrites_after_wait, GROUP_OF_FOUR);
  caught(unequal_operands, GROUP_OF_FOUR, "has other operands or another shape");
  caught(unwritten_operand, GROUP_OF_FOUR, "for a warpgroup's product, which nobody wrote");
  caught(mixes_accumulators, GROUP_OF_FOUR, "some of which belong to another product under way");
  caught(two_warps_only, TWO_WARPS, "a warpgroup's product by 64 threads");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_named_barriers), cmocka_unit_test(test_warps),
      cmocka_unit_test(test_stmatrix),       cmocka_unit_test(test_registers),
      cmocka_unit_test(test_product_shapes), cmocka_unit_test(test_product_of_bytes),
      cmocka_unit_test(test_product_rules),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
