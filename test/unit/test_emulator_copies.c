// test_emulator_copies.c - the emulated GPU's mbarriers, bulk and tensor copies, and proxies.
//
// Each rule has a kernel that keeps it and one that breaks it; the sentence must name the rule.
#include "emulated_kernels.h"

enum { MBARRIER = 512 };

static void begin(uint32_t arrivals) {
  if (thread_id() == 0) {
    mbarrier_init(MBARRIER, arrivals);
    V("FENCE_MBARRIER_INIT");
  }
  barrier();
}

// ----------------------------------------------------------------------------------------------------------- mbarriers

// Thread 0 writes and arrives, the others wait and read, three times round.
static void three_phases(const uint64_t *p) {
  begin(1);
  for (uint32_t phase = 0; phase < 3; phase++) {
    if (thread_id() == 0) {
      store_shared(4 * phase, 100 + phase);
      mbarrier_arrive(MBARRIER);
    }
    mbarrier_wait(MBARRIER, phase % 2);
    store_global(p[1] + 4 * (3 * thread_id() + phase), load_shared(4 * phase));
    barrier(); // nobody may fall two phases behind
  }
}
static void reads_without_waiting(const uint64_t *p) {
  begin(1);
  if (thread_id() == 0) {
    store_shared(0, 1);
    mbarrier_arrive(MBARRIER);
  } else {
    shuffle(0, 0);
  }
  if (thread_id() == 0)
    shuffle(0, 0);
  load_shared(0);
}
static void waits_for_older_phase(const uint64_t *p) {
  begin(1);
  if (thread_id() == 0)
    store_shared(0, 1);
  mbarrier_wait(MBARRIER, 1); // the phase before the first counts as done
  load_shared(0);
}
static void never_initialised(const uint64_t *p) { mbarrier_arrive(MBARRIER); }
static void initialised_twice(const uint64_t *p) {
  begin(1);
  if (thread_id() == 1)
    mbarrier_init(MBARRIER, 2);
}
static void initialised_again(const uint64_t *p) {
  begin(1);
  if (thread_id() == 1) {
    with_address("mirage_emu_MBARRIER_INVAL", shared(MBARRIER));
    mbarrier_init(MBARRIER, 2);
    mbarrier_arrive(MBARRIER);
  }
}
static void used_without_barrier(const uint64_t *p) {
  if (thread_id() == 0)
    mbarrier_init(MBARRIER, 32);
  shuffle(0, 0);
  mbarrier_arrive(MBARRIER);
}
static void for_nobody(const uint64_t *p) { mbarrier_init(MBARRIER, 0); }
static void one_too_few(const uint64_t *p) {
  begin(33);
  mbarrier_arrive(MBARRIER);
  mbarrier_wait(MBARRIER, 0);
}
static void arrives_too_often(const uint64_t *p) {
  begin(1);
  if (thread_id() == 0) {
    mbarrier_expect(MBARRIER, 16);
    mbarrier_arrive(MBARRIER);
  }
}
static void touches_mbarrier(const uint64_t *p) {
  begin(1);
  store_shared(MBARRIER + 4, 0);
}
static void askew(const uint64_t *p) { mbarrier_init(MBARRIER + 4, 1); }
static void strange_parity(const uint64_t *p) {
  begin(1);
  mbarrier_wait(MBARRIER, 2);
}

static void test_mbarriers(void **state) {
  runs(three_phases, TWO_WARPS);
  assert_int_equal(result[3 * 63 + 2], 102);
  runs(initialised_again, ONE_WARP);
  caught(reads_without_waiting, ONE_WARP, "with no barrier in between");
  caught(waits_for_older_phase, ONE_WARP, "byte 0 of shared memory, which");
  caught(never_initialised, ONE_WARP, "as an mbarrier, which nobody initialised");
  caught(initialised_twice, ONE_WARP, "initialises the mbarrier at byte 512 of shared memory, which is in use");
  caught(used_without_barrier, ONE_WARP, "which thread 0 initialises (custom) with no barrier in between");
  caught(for_nobody, ONE_WARP, "for 0 arrivals");
  caught(one_too_few, ONE_WARP,
         "deadlock: 32 threads wait at an mbarrier, 0 elsewhere, 0 have ended; the mbarrier at byte 512 lacks 1 of 33 "
         "arrivals and 0 bytes in its phase 0");
  caught(arrives_too_often, ONE_WARP, "where all 1 of phase 0 have arrived and 16 bytes are awaited");
  caught(touches_mbarrier, ONE_WARP, "writes byte 516 of shared memory, which belongs to an mbarrier");
  caught(askew, ONE_WARP, "at byte 516 of shared memory: misaligned");
  caught(strange_parity, ONE_WARP, "the phase of parity 2");
}

// --------------------------------------------------------------------------------------------------------- bulk copies

static void bulk(const uint64_t *p) {
  begin(1);
  if (thread_id() == 0) {
    mbarrier_expect(MBARRIER, 256);
    bulk_copy(0, p[0], 128, MBARRIER);
    bulk_copy(128, p[0] + 512, 128, MBARRIER);
  }
  mbarrier_wait(MBARRIER, 0);
  store_global(p[1] + 4 * thread_id(), load_shared(4 * thread_id()));
}
static void bulk_unwaited(const uint64_t *p) {
  begin(1);
  if (thread_id() == 0) {
    mbarrier_expect(MBARRIER, 128);
    bulk_copy(0, p[0], 128, MBARRIER);
  }
  barrier();
  load_shared(0);
}
// A ring of one buffer: thread 0 fills it when the others say that they have read it.
static void ring(const uint64_t *p) {
  if (thread_id() == 0)
    mbarrier_init(MBARRIER + 8, 31);
  begin(1);
  for (uint32_t i = 0; i < 3; i++) {
    if (thread_id() == 0) {
      if (i > 0)
        mbarrier_wait(MBARRIER + 8, (i - 1) % 2);
      mbarrier_expect(MBARRIER, 128);
      bulk_copy(0, p[0] + 128 * i, 128, MBARRIER);
    } else {
      mbarrier_wait(MBARRIER, i % 2);
      store_global(p[1] + 4 * (32 * i + thread_id()), load_shared(4 * thread_id()));
      mbarrier_arrive(MBARRIER + 8);
    }
  }
}
static void overwrites_what_is_read(const uint64_t *p) {
  begin(1);
  for (uint32_t i = 0; i < 2; i++) {
    if (thread_id() == 0) {
      mbarrier_expect(MBARRIER, 128);
      bulk_copy(0, p[0] + 128 * i, 128, MBARRIER);
    }
    mbarrier_wait(MBARRIER, i);
    load_shared(4 * thread_id());
    shuffle(0, 1); // all have read, but a shuffle orders no memory
  }
}
static void expects_more(const uint64_t *p) {
  begin(1);
  if (thread_id() == 0) {
    mbarrier_expect(MBARRIER, 144);
    bulk_copy(0, p[0], 128, MBARRIER);
  }
  mbarrier_wait(MBARRIER, 0);
}
static void expects_less(const uint64_t *p) {
  begin(1);
  if (thread_id() == 0) {
    bulk_copy(0, p[0], 128, MBARRIER);
    mbarrier_expect(MBARRIER, 112);
  }
  mbarrier_wait(MBARRIER, 0);
}
static void one(const uint64_t *p, int64_t to, uint64_t from, uint32_t bytes) {
  begin(1);
  if (thread_id() == 0)
    bulk_copy(to, p[0] + from, bytes, MBARRIER);
}
static void bulk_odd(const uint64_t *p) { one(p, 0, 0, 24); }
static void bulk_askew(const uint64_t *p) { one(p, 8, 0, 16); }
static void bulk_from_askew(const uint64_t *p) { one(p, 0, 8, 16); }
static void bulk_beyond(const uint64_t *p) { one(p, 0, 2048 - 16, 32); }
static void bulk_over_mbarrier(const uint64_t *p) { one(p, 496, 0, 32); }
static void leaves_bulk(const uint64_t *p) { one(p, 0, 0, 32); }
static void no_init_fence(const uint64_t *p) {
  if (thread_id() == 0) {
    mbarrier_init(MBARRIER, 1);
    bulk_copy(0, p[0], 16, MBARRIER);
  }
}
static void over_generic_writes(const uint64_t *p, bool fence, bool meet) {
  begin(1);
  store_shared(4 * thread_id(), 1);
  if (fence)
    V("FENCE_ASYNC_SHARED");
  if (meet)
    barrier();
  else
    shuffle(0, 0);
  if (thread_id() == 0) {
    mbarrier_expect(MBARRIER, 128);
    bulk_copy(0, p[0], 128, MBARRIER);
  }
  mbarrier_wait(MBARRIER, 0);
}
static void fenced(const uint64_t *p) { over_generic_writes(p, true, true); }
static void unfenced(const uint64_t *p) { over_generic_writes(p, false, true); }
static void fenced_alone(const uint64_t *p) { over_generic_writes(p, true, false); }
static void fenced_by_issuer(const uint64_t *p) {
  begin(1);
  store_shared(4 * thread_id(), 1);
  barrier();
  if (thread_id() == 0) {
    V("FENCE_ASYNC_SHARED");
    mbarrier_expect(MBARRIER, 128);
    bulk_copy(0, p[0], 128, MBARRIER);
  }
  mbarrier_wait(MBARRIER, 0);
}
static void fence_comes_first(const uint64_t *p) {
  begin(1);
  V("FENCE_ASYNC_SHARED");
  store_shared(4 * thread_id(), 1);
  barrier();
  if (thread_id() == 0)
    bulk_copy(0, p[0], 128, MBARRIER);
}

// A prefetch changes nothing, but what it names must be there.
static void prefetched(const uint64_t *p) { prefetch(p[0] + 64 * thread_id() + 1); }
static void prefetch_behind(const uint64_t *p) { prefetch(p[0] + 2048); }

static void test_prefetches(void **state) {
  runs(prefetched, ONE_WARP);
  caught(prefetch_behind, ONE_WARP, "1 bytes at byte 2048 of operand 0");
}

static void test_bulk_copies(void **state) {
  runs(bulk, TWO_WARPS);
  assert_int_equal(result[31], 31);
  assert_int_equal(result[32], 128);
  runs(ring, ONE_WARP);
  assert_int_equal(result[64 + 5], 64 + 5);
  runs(fenced, ONE_WARP);
  runs(fenced_by_issuer, ONE_WARP);
  caught(bulk_unwaited, ONE_WARP, "reads byte 0 of shared memory, wh");
  caught(overwrites_what_is_read, ONE_WARP, "reads (custom) with no barrier in between");
  caught(expects_more, ONE_WARP, "lacks 0 of 1 arrivals and 16 bytes in its phase 0");
  caught(expects_less, ONE_WARP, "lacks 0 of 1 arrivals and -16 bytes in its phase 0");
  caught(bulk_odd, ONE_WARP, "copies 24 bytes in bulk: not a multiple of 16");
  caught(bulk_askew, ONE_WARP, "copies to 16 bytes at byte 8 of shared memory: misaligned");
  caught(bulk_from_askew, ONE_WARP, "at byte 8 of operand 0: misaligned");
  caught(bulk_beyond, ONE_WARP, "reads 32 bytes at byte 2032 of operand 0");
  caught(bulk_over_mbarrier, ONE_WARP, "which belongs to an mbarrier");
  caught(no_init_fence, ONE_WARP, "with no fence after its initialisation");
  caught(unfenced, ONE_WARP, "copies to byte 0 of shared memory, which thread 0 writes (custom) with no proxy fence");
  caught(fence_comes_first, ONE_WARP, "with no proxy fence in between");
  caught(fenced_alone, ONE_WARP, "with no barrier in between");
  assert_int_equal(run(leaves_bulk, ONE_WARP, MIRAGE_COPIES_LATE), MIRAGE_FAULT);
  assert_non_null(strstr(capture.text, "ends with a copy under way to byte 0 of shared memory"));
}

// cp.async that arrives at an mbarrier.
static void cp_async(const uint64_t *p, bool wait) {
  begin(32);
  copy16(shared(16 * thread_id()), p[0] + 16 * thread_id(), 16);
  with_address("mirage_emu_CP_ASYNC_ARRIVE", shared(MBARRIER));
  if (wait)
    mbarrier_wait(MBARRIER, 0);
  else
    barrier();
  store_global(p[1] + 4 * thread_id(), load_shared(16 * (31 - thread_id())));
}
static void cp_async_waited(const uint64_t *p) { cp_async(p, true); }
static void cp_async_unwaited(const uint64_t *p) { cp_async(p, false); }

static void cp_async_too_often(const uint64_t *p) {
  begin(1);
  if (thread_id() == 0)
    mbarrier_expect(MBARRIER, 16);
  copy16(shared(16 * thread_id()), p[0], 16);
  with_address("mirage_emu_CP_ASYNC_ARRIVE", shared(MBARRIER));
  mbarrier_wait(MBARRIER, 0);
}

static void test_cp_async_arrive(void **state) {
  runs(cp_async_waited, ONE_WARP);
  assert_int_equal(result[1], 4 * 30);
  caught(cp_async_too_often, ONE_WARP, "where all 1 of phase 0 have arrived and 16 bytes are awaited");
  caught(cp_async_unwaited, ONE_WARP, "of shared memory, wh");
}

// ------------------------------------------------------------------------------------------------------- tensor copies

// f32 [16, 32], boxes of 4 rows and 16, 8 or 32 columns: 64-, 32- and 128-byte rows.
static MirageTensorMap map_of(int32_t columns, int32_t swizzle) {
  return (MirageTensorMap){.dtype = MIRAGE_F32,
                           .rank = 2,
                           .extents = {32, 16},
                           .strides = {4, 128},
                           .box = {columns, 4},
                           .swizzle = swizzle};
}

static void tensor_copy_2d(int64_t to, uint64_t map, int64_t mbarrier, int32_t x, int32_t y) {
  ((void (*)(uint32_t, uint64_t, uint64_t, uint64_t, uint32_t, uint32_t))find("mirage_emu_TENSOR_COPY_2D"))(
      0, shared(to), map, shared(mbarrier), (uint32_t)x, (uint32_t)y);
}

enum { LAST_BARRIER = 2040 };
static int32_t corner[2];

static void tensor(const uint64_t *p) {
  if (thread_id() == 0) {
    const MirageTensorMap *map = (const MirageTensorMap *)(uintptr_t)p[3];
    mbarrier_init(LAST_BARRIER, 1);
    V("FENCE_MBARRIER_INIT");
    mbarrier_expect(LAST_BARRIER, (uint32_t)(map->box[0] * map->box[1] * 4));
    tensor_copy_2d(0, p[3], LAST_BARRIER, corner[0], corner[1]);
  }
  barrier();
  mbarrier_wait(LAST_BARRIER, 0);
  for (uint32_t i = 0; i < 2; i++)
    store_global(p[1] + 4 * (thread_id() + 64 * i), load_shared(4 * (thread_id() + 64 * i)));
}

static Setting with_maps(const MirageTensorMap *maps, uint32_t count) {
  return (Setting){.blocks = 1, .cluster = 1, .threads = 64, .shared_bytes = 2048, .num_maps = count, .maps = maps};
}

// Every element of the box where the swizzle puts it, zeros outside the tensor.
static void check_box(int32_t swizzle, int32_t x, int32_t y) {
  int32_t columns = swizzle ? 4 << swizzle : 16;
  MirageTensorMap map = map_of(columns, swizzle);
  corner[0] = x;
  corner[1] = y;
  Setting setting = with_maps(&map, 1);
  for (int copies = 0; copies < 2; copies++) {
    if (columns * 4 < 128) { // the kernel reads 128 words, so the box must have them
      map.box[1] = 128 / columns;
    }
    if (run(tensor, setting, (MirageCopyTime)copies) != MIRAGE_OK)
      fail_msg("%s", capture.text);
    for (int32_t r = 0; r < map.box[1]; r++)
      for (int32_t c = 0; c < columns; c++) {
        uint32_t byte = (uint32_t)(r * columns + c) * 4, at = byte ^ (byte >> 7 & ((1u << swizzle) - 1)) << 4;
        bool inside = y + r >= 0 && y + r < 16 && x + c >= 0 && x + c < 32;
        uint32_t expected = inside ? (uint32_t)((y + r) * 32 + x + c) : 0;
        if (result[at / 4] != expected)
          fail_msg("swizzle %d, row %d, column %d: %u, not %u", swizzle, r, c, result[at / 4], expected);
      }
  }
}

static void wrong_rank(const uint64_t *p) {
  begin(1);
  if (thread_id() == 0)
    ((void (*)(uint32_t, uint64_t, uint64_t, uint64_t, uint32_t))find("mirage_emu_TENSOR_COPY_1D"))(
        0, shared(0), p[3], shared(MBARRIER), 0);
}
static void no_map(const uint64_t *p) {
  begin(1);
  tensor_copy_2d(0, p[0], MBARRIER, 0, 0);
}
static void box_askew(const uint64_t *p) {
  begin(1);
  tensor_copy_2d(128, p[3], MBARRIER, 0, 0);
}

static void refuses_map(MirageTensorMap map, const char *sentence) {
  assert_int_equal(run(tensor, with_maps(&map, 1), MIRAGE_COPIES_LATE), MIRAGE_BAD_ARGUMENT);
  if (!strstr(capture.text, sentence))
    fail_msg("\"%s\" does not contain \"%s\"", capture.text, sentence);
}

static void test_tensor_copies(void **state) {
  for (int32_t swizzle = 0; swizzle < 4; swizzle++) {
    check_box(swizzle, 0, 0);
    check_box(swizzle, 4, 2);
    check_box(swizzle, -8, -2);
    check_box(swizzle, 28, 15);
    check_box(swizzle, 100, 0);
  }
  MirageTensorMap map = map_of(32, 3);
  Setting setting = with_maps(&map, 1);
  caught(wrong_rank, setting, "by 1 coordinates from a tensor map of rank 2");
  caught(no_map, setting, "which is no tensor map");
  caught(box_askew, setting, "at byte 128 of shared memory: misaligned");
  corner[0] = 3, corner[1] = 0;
  caught(tensor, setting, "a box that begins at byte 12 of the innermost dimension: not a multiple of 16");
  map.extents[1] = 17; // the tensor has 16 rows
  corner[0] = 0, corner[1] = 14;
  caught(tensor, setting, "at byte 2175 of operand 0, which has 2048 bytes");
  map = map_of(33, 0);
  refuses_map(map, "bytes of a row of the box do not fit the swizzle or 16: 132");
  map = map_of(16, 1);
  refuses_map(map, "do not fit the swizzle or 16: 64");
  map = map_of(16, 0);
  map.strides[1] = 8;
  refuses_map(map, "a stride is no multiple of 16: 8");
  map = map_of(16, 0);
  map.pointer = 3;
  refuses_map(map, "there is no pointer 3");
  map = map_of(16, 0);
  map.box[1] = 257;
  refuses_map(map, "an extent of the box is 257");
  map = map_of(16, 0);
  map.rank = 6;
  refuses_map(map, "rank is 6");
}

// Five dimensions: f32 [2, 2, 2, 4, 16], a box of one element more in each outer one.
static void five(const uint64_t *p) {
  if (thread_id() == 0) {
    mbarrier_init(LAST_BARRIER, 1);
    V("FENCE_MBARRIER_INIT");
    mbarrier_expect(LAST_BARRIER, 4 * 2 * 2 * 2 * 2 * 4);
    ((void (*)(uint32_t, uint64_t, uint64_t, uint64_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t))find(
        "mirage_emu_TENSOR_COPY_5D"))(0, shared(0), p[3], shared(LAST_BARRIER), 4, 3, 0, 1, 0);
  }
  barrier();
  mbarrier_wait(LAST_BARRIER, 0);
  store_global(p[1] + 4 * thread_id(), load_shared(4 * thread_id()));
}

static void test_five_dimensions(void **state) {
  const MirageTensorMap map = {.dtype = MIRAGE_F32,
                               .rank = 5,
                               .extents = {16, 4, 2, 2, 2},
                               .strides = {4, 64, 256, 512, 1024},
                               .box = {4, 2, 2, 2, 2}};
  runs(five, with_maps(&map, 1));
  for (uint32_t i = 0; i < 64; i++) {
    uint32_t x = 4 + i % 4, y = 3 + i / 4 % 2, z = i / 8 % 2, u = 1 + i / 16 % 2, v = i / 32;
    assert_int_equal(result[i], y < 4 && u < 2 ? x + 16 * y + 64 * z + 128 * u + 256 * v : 0);
  }
}

// Rank 0 copies for both blocks; each waits for its own mbarrier.
static void multicast(const uint64_t *p, uint32_t blocks, bool meet) {
  if (thread_id() == 0) {
    mbarrier_init(LAST_BARRIER, 1);
    V("FENCE_MBARRIER_INIT");
    mbarrier_expect(LAST_BARRIER, 256);
  }
  if (meet) {
    V("CLUSTER_ARRIVE");
    V("CLUSTER_WAIT");
  }
  if (thread_id() == 0 && I("CLUSTER_RANK") == 0)
    ((void (*)(uint32_t, uint64_t, uint64_t, uint64_t, uint32_t, uint32_t, uint32_t))find(
        "mirage_emu_TENSOR_COPY_2D_MULTICAST"))(0, shared(0), p[3], shared(LAST_BARRIER), 0, 5, blocks);
  barrier();
  mbarrier_wait(LAST_BARRIER, 0);
  store_global(p[1] + 4 * (thread_id() + 64 * I("BLOCK_ID_X")), load_shared(4 * thread_id()));
}
static void to_both(const uint64_t *p) { multicast(p, 3, true); }
static void to_one(const uint64_t *p) { multicast(p, 1, true); }
static void to_third(const uint64_t *p) { multicast(p, 4, true); }
static void to_strangers(const uint64_t *p) { multicast(p, 3, false); }

static void test_multicast(void **state) {
  MirageTensorMap map = map_of(16, 0);
  Setting pair = with_maps(&map, 1);
  pair.blocks = pair.cluster = 2;
  runs(to_both, pair);
  for (uint32_t i = 0; i < 128; i++)
    assert_int_equal(result[i], (5 + i % 64 / 16) * 32 + i % 16);
  caught(to_one, pair, "the mbarrier at byte 2040 lacks 0 of 1 arrivals and 256 bytes");
  caught(to_third, pair, "copies to blocks 0x4 of a cluster of 2");
  assert_int_equal(run(to_strangers, pair, MIRAGE_COPIES_LATE), MIRAGE_FAULT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mbarriers),     cmocka_unit_test(test_bulk_copies),
      cmocka_unit_test(test_prefetches),    cmocka_unit_test(test_cp_async_arrive),
      cmocka_unit_test(test_tensor_copies), cmocka_unit_test(test_five_dimensions),
      cmocka_unit_test(test_multicast),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
