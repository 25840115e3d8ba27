// test_emulator_machine.c - the emulated GPU by itself: kernels written in C against its instructions.
//
// Each rule has a kernel that keeps it and one that breaks it; the sentence must name the rule.
#include "emulated_kernels.h"

// ------------------------------------------------------------------------------------------------------- device memory

static void past_the_end(const uint64_t *p) { load_global(p[0] + sizeof operand); }
static void before_the_start(const uint64_t *p) { load_global(p[1] - 4); }
static void misaligned(const uint64_t *p) { load_global(p[0] + 2); }
static void nowhere(const uint64_t *p) { load_global(1234); }
static void writes_operand(const uint64_t *p) { store_global(p[0], 1); }
static void every_block_writes(const uint64_t *p) { store_global(p[1] + 8, 1); }
static void waits_for_kernel(const uint64_t *p) {
  V("GRID_WAIT");
  load_global(p[0]);
}
static void reads_at_once(const uint64_t *p) { load_global(p[0]); }

static void test_device_memory(void **state) {
  caught(past_the_end, ONE_WARP, "reads 4 bytes at byte 2048 of operand 0, which has 2048 bytes");
  caught(before_the_start, ONE_WARP, "reads 4 bytes at byte -4 of result 0");
  caught(misaligned, ONE_WARP, "at byte 2 of operand 0: misaligned");
  caught(nowhere, ONE_WARP, "which is no device memory");
  caught(writes_operand, ONE_WARP, "writes to operand 0");
  runs(every_block_writes, ONE_WARP);
  caught(every_block_writes, (Setting){.blocks = 2, .cluster = 1, .threads = 32}, "which block number 0 wrote too");
  runs(waits_for_kernel, (Setting){.blocks = 1, .cluster = 1, .threads = 32, .awaited = true});
  caught(reads_at_once, (Setting){.blocks = 1, .cluster = 1, .threads = 32, .awaited = true},
         "before waiting for the kernel");
}

// ------------------------------------------------------------------------------------------------------- shared memory

static void neighbour(const uint64_t *p) {
  uint32_t t = thread_id();
  store_shared(4 * t, t);
  barrier();
  store_global(p[1] + 4 * t, load_shared(4 * (t ^ 33)));
}
static void no_barrier(const uint64_t *p) {
  uint32_t t = thread_id();
  store_shared(4 * t, t);
  shuffle(0, 1); // all lanes have written, but a shuffle orders no memory
  load_shared(4 * (t ^ 1));
}
static void overwrites_what_is_read(const uint64_t *p) {
  uint32_t t = thread_id();
  store_shared(4 * t, t);
  barrier();
  load_shared(4 * (t ^ 33));
  store_shared(4 * t, 0);
}
static void all_write_one(const uint64_t *p) { store_shared(0, 1); }
static void unwritten(const uint64_t *p) { load_shared(64); }
static void beyond(const uint64_t *p) { store_shared(1024, 1); }
static void below(const uint64_t *p) { store_shared(-4, 1); }
static void oblique(const uint64_t *p) { store_shared(6, 1); }
static void same_thread(const uint64_t *p) {
  uint32_t t = thread_id();
  store_shared(4 * t, t);
  store_shared(4 * t, load_shared(4 * t) + 1);
}

// Tiles of i8, i4 and f8 have an element a byte.
static void bytes_of_neighbours(const uint64_t *p) {
  uint32_t t = thread_id();
  store_byte(t, t);
  barrier();
  store_global(p[1] + 4 * t, load_byte(t ^ 33) & 0xff);
}
static void bytes_of_their_own(const uint64_t *p) {
  uint32_t t = thread_id();
  store_byte(t, t);
  store_byte(t, load_byte(t) + 1);
}
static void two_write_a_byte(const uint64_t *p) { store_byte(thread_id() / 2, 1); }
static void byte_without_barrier(const uint64_t *p) {
  uint32_t t = thread_id();
  store_byte(t, t);
  shuffle(0, 1);
  load_byte(t ^ 1);
}
static void half_written(const uint64_t *p) {
  uint32_t t = thread_id();
  store_byte(4 * t, t);
  load_shared(4 * t);
}

static void test_bytes(void **state) {
  runs(bytes_of_neighbours, TWO_WARPS);
  for (uint32_t t = 0; t < 64; t++)
    assert_int_equal(result[t], t ^ 33);
  runs(bytes_of_their_own, TWO_WARPS);
  caught(two_write_a_byte, ONE_WARP, "of shared memory, which thread");
  caught(byte_without_barrier, ONE_WARP, "with no barrier in between");
  caught(half_written, ONE_WARP, "of shared memory, which nobody wrote");
}

static void test_shared_memory(void **state) {
  runs(neighbour, TWO_WARPS);
  for (uint32_t t = 0; t < 64; t++)
    assert_int_equal(result[t], t ^ 33);
  runs(same_thread, TWO_WARPS);
  caught(no_barrier, TWO_WARPS, "with no barrier in between");
  caught(overwrites_what_is_read, TWO_WARPS, "with no barrier in between");
  caught(all_write_one, ONE_WARP, "writes byte 0 of shared memory, which thread");
  caught(unwritten, ONE_WARP, "reads byte 64 of shared memory, which nobody wrote");
  caught(beyond, ONE_WARP, "writes 4 bytes at byte 1024 of shared memory, which has 1024 bytes");
  caught(below, ONE_WARP, "writes 4 bytes at byte -4 of shared memory");
  caught(oblique, ONE_WARP, "at byte 6 of shared memory: misaligned");
}

// -------------------------------------------------------------------------------------------------------------- copies

// Every thread copies a row of 16 bytes; odd ones only half of it.
static void copies(const uint64_t *p) {
  uint32_t t = thread_id();
  copy16(shared(16 * t), p[0] + 16 * t, t % 2 ? 8 : 16);
  V("CP_ASYNC_COMMIT");
  wait_copies(0);
  barrier();
  store_global(p[1] + 4 * t, load_shared(16 * (31 - t) + 8));
}
static void two_groups(const uint64_t *p) {
  uint32_t t = thread_id();
  copy16(shared(32 * t), p[0], 16);
  V("CP_ASYNC_COMMIT");
  copy16(shared(32 * t + 16), p[0], 16);
  V("CP_ASYNC_COMMIT");
  wait_copies(1);
  load_shared(32 * t);
  wait_copies(0);
  load_shared(32 * t + 16);
}
static void newer_group(const uint64_t *p) {
  uint32_t t = thread_id();
  copy16(shared(32 * t), p[0], 16);
  V("CP_ASYNC_COMMIT");
  copy16(shared(32 * t + 16), p[0], 16);
  V("CP_ASYNC_COMMIT");
  wait_copies(1);
  load_shared(32 * t + 16);
}
static void no_wait(const uint64_t *p) {
  uint32_t t = thread_id();
  copy16(shared(16 * t), p[0], 16);
  V("CP_ASYNC_COMMIT");
  barrier();
  load_shared(16 * t);
}
static void no_commit(const uint64_t *p) {
  copy16(shared(16 * thread_id()), p[0], 16);
  wait_copies(0);
  load_shared(16 * thread_id());
}
static void waits_alone(const uint64_t *p) { // the barrier comes before the wait, not after it
  uint32_t t = thread_id();
  copy16(shared(16 * t), p[0], 16);
  V("CP_ASYNC_COMMIT");
  barrier();
  wait_copies(0);
  load_shared(16 * (t ^ 1));
}
static void never_waits(const uint64_t *p) { copy16(shared(16 * thread_id()), p[0], 16); }
static void reads_too_far(const uint64_t *p) { copy16(shared(16 * thread_id()), p[0] + sizeof operand - 8 + 8, 4); }
static void fills_beyond(const uint64_t *p) {
  copy16(shared(16 * thread_id()), p[0] + sizeof operand, 0);
  V("CP_ASYNC_COMMIT");
  wait_copies(0);
}

static void test_copies(void **state) {
  for (int time = 0; time < 2; time++) {
    assert_int_equal(run(copies, ONE_WARP, (MirageCopyTime)time), MIRAGE_OK);
    for (uint32_t t = 0; t < 32; t++)
      assert_int_equal(result[t], (31 - t) % 2 ? 0 : 4 * (31 - t) + 2);
  }
  runs(two_groups, ONE_WARP);
  runs(fills_beyond, ONE_WARP); // nothing is read there
  caught(newer_group, ONE_WARP, "under way and not waited for");
  caught(no_wait, ONE_WARP, "under way and not waited for");
  caught(no_commit, ONE_WARP, "under way and not waited for");
  caught(waits_alone, ONE_WARP, "under way and not waited for");
  caught(never_waits, ONE_WARP, "ends with 1 copies under way");
  caught(reads_too_far, ONE_WARP, "reads 4 bytes at byte 2048 of operand 0");
}

// ------------------------------------------------------------------------------------------------------ meeting others

static void skips_barrier(const uint64_t *p) {
  if (thread_id() != 5)
    barrier();
}
static void barrier_in_a_lane(const uint64_t *p) {
  if (thread_id() == 5)
    barrier();
  else
    shuffle(0, 1);
}
static void sum_of_lanes(const uint64_t *p) {
  float sum = (float)thread_id();
  for (uint32_t apart = 16; apart; apart /= 2)
    sum += shuffle(sum, apart);
  store_global(p[1] + 4 * thread_id(), (uint32_t)sum);
}
static void lane_missing(const uint64_t *p) {
  if (thread_id() != 40)
    shuffle(0, 1);
}
static void different_instructions(const uint64_t *p) {
  uint32_t out[4];
  if (thread_id() == 3)
    ((void (*)(uint32_t, uint64_t, uint32_t *))find("mirage_emu_LDMATRIX_X4"))(0, shared(0), out);
  else
    shuffle(0, 1);
}

static void test_meetings(void **state) {
  runs(sum_of_lanes, TWO_WARPS);
  assert_int_equal(result[0], 31 * 32 / 2);
  assert_int_equal(result[63], 31 * 32 / 2 + 32 * 32);
  caught(skips_barrier, TWO_WARPS, "deadlock: 63 threads wait at a barrier, 0 elsewhere, 1 have ended");
  caught(barrier_in_a_lane, ONE_WARP, "deadlock: 31 threads wait at a shuffle, 1 elsewhere, 0 have ended");
  caught(lane_missing, TWO_WARPS, "deadlock: 31 threads wait at a shuffle, 0 elsewhere, 33 have ended");
  caught(different_instructions, ONE_WARP, "ldmatrix meets threads that wait at a shuffle");
}

// ----------------------------------------------------------------------------------------------------------- ldmatrix

// Element (r, c) of the 8 x 8 matrix i is 64 i + 8 r + c; lane l must get row l / 4, columns 2 (l % 4) and the next.
static void matrices(const uint64_t *p) {
  uint32_t t = thread_id(), out[4];
  for (uint32_t c = 0; c < 4; c++)
    store_shared(16 * t + 4 * c, (8 * t + 2 * c) | (8 * t + 2 * c + 1) << 16);
  barrier();
  ((void (*)(uint32_t, uint64_t, uint32_t *))find("mirage_emu_LDMATRIX_X4"))(0, shared(16 * t), out);
  store_global(p[1] + 4 * t, out[2]);
  ((void (*)(uint32_t, uint64_t, uint32_t *))find("mirage_emu_LDMATRIX_X4_TRANS"))(0, shared(16 * t), out);
  store_global(p[1] + 4 * (32 + t), out[2]);
}
static void matrix_without_barrier(const uint64_t *p) {
  uint32_t t = thread_id(), out[4];
  for (uint32_t c = 0; c < 4; c++)
    store_shared(16 * t + 4 * c, 0);
  ((void (*)(uint32_t, uint64_t, uint32_t *))find("mirage_emu_LDMATRIX_X4"))(0, shared(16 * t), out);
}
static void unwritten_matrix(const uint64_t *p) {
  uint32_t out[4];
  ((void (*)(uint32_t, uint64_t, uint32_t *))find("mirage_emu_LDMATRIX_X4"))(0, shared(16 * thread_id()), out);
}

static void test_ldmatrix(void **state) {
  runs(matrices, ONE_WARP);
  for (uint32_t l = 0; l < 32; l++) {
    uint32_t g = l / 4, t = l % 4 * 2;
    assert_int_equal(result[l], (128 + 8 * g + t) | (128 + 8 * g + t + 1) << 16);
    assert_int_equal(result[32 + l], (128 + 8 * t + g) | (128 + 8 * (t + 1) + g) << 16);
  }
  caught(matrix_without_barrier, ONE_WARP, "with no barrier in between");
  caught(unwritten_matrix, ONE_WARP, "which nobody wrote");
}

// ------------------------------------------------------------------------------------------------------------ clusters

static uint64_t of_rank(uint64_t address, uint32_t rank) {
  return ((uint64_t (*)(uint32_t, uint64_t, uint32_t))find("mirage_emu_MAP_RANK"))(0, address, rank);
}
static void meet_cluster(void) {
  V("FENCE_CLUSTER_SHARED");
  V("CLUSTER_ARRIVE_RELAXED");
  V("CLUSTER_WAIT");
}
static void load_of_peer(uint32_t byte) { load("mirage_emu_ld_shared", of_rank(shared(byte), I("CLUSTER_RANK") ^ 1)); }
static void await(void) { ((void (*)(uint32_t, uint32_t))find("mirage_emu_AWAIT_VALUE"))(0, 0); }
static void reads_peer(const uint64_t *p) {
  uint32_t t = thread_id(), rank = I("CLUSTER_RANK"), block = I("BLOCK_ID_X");
  store_shared(4 * t, 100 * block + t);
  meet_cluster();
  store_global(p[1] + 4 * (32 * block + t), load("mirage_emu_ld_shared", of_rank(shared(4 * t), rank ^ 1)));
  await();
  meet_cluster();
}
static void leaves_early(const uint64_t *p) {
  uint32_t t = thread_id();
  store_shared(4 * t, t);
  meet_cluster();
  if (I("CLUSTER_RANK") == 1) { // gives rank 0 the time to end
    for (uint32_t i = 0; i < 8; i++)
      barrier();
    load("mirage_emu_ld_shared", of_rank(shared(4 * t), 0));
  }
}
static void peer_without_meeting(const uint64_t *p) {
  uint32_t t = thread_id();
  store_shared(4 * t, t);
  barrier();
  load_of_peer(4 * t);
  meet_cluster();
}
static void peer_without_fence(const uint64_t *p) {
  uint32_t t = thread_id();
  store_shared(4 * t, t);
  V("CLUSTER_ARRIVE_RELAXED");
  V("CLUSTER_WAIT");
  load_of_peer(4 * t);
  meet_cluster();
}
// What comes behind the fence is not told.
static void peer_behind_fence(const uint64_t *p) {
  uint32_t t = thread_id();
  V("FENCE_CLUSTER_SHARED");
  store_shared(4 * t, t);
  V("CLUSTER_ARRIVE_RELAXED");
  V("CLUSTER_WAIT");
  load_of_peer(4 * t);
  meet_cluster();
}
static void leaves_while_reading(const uint64_t *p) {
  uint32_t t = thread_id();
  store_shared(4 * t, t);
  meet_cluster();
  load_of_peer(4 * t);
  meet_cluster();
}
static void overwrites_for_peer(const uint64_t *p) {
  uint32_t t = thread_id();
  store_shared(4 * t, t);
  meet_cluster();
  load_of_peer(4 * t);
  barrier();
  store_shared(4 * t, 0);
  meet_cluster();
}
static void third_rank(const uint64_t *p) { of_rank(shared(0), 2); }
static void arrives_twice(const uint64_t *p) {
  V("CLUSTER_ARRIVE");
  V("CLUSTER_ARRIVE");
}
static void waits_alone_for_cluster(const uint64_t *p) { V("CLUSTER_WAIT"); }
static void one_block_missing(const uint64_t *p) {
  if (I("CLUSTER_RANK") == 0)
    meet_cluster();
}

static void test_clusters(void **state) {
  const Setting pairs = {.blocks = 4, .cluster = 2, .threads = 32};
  runs(reads_peer, pairs);
  for (uint32_t b = 0; b < 4; b++)
    assert_int_equal(result[32 * b + 7], 100 * (b ^ 1) + 7);
  caught(leaves_early, pairs, "shared memory of block 0 of the cluster, which has ended");
  caught(peer_without_meeting, pairs, "of shared memory");
  caught(peer_without_fence, pairs, "with no barrier in between");
  caught(leaves_while_reading, pairs, "before what it reads of a peer has come");
  caught(peer_behind_fence, pairs, "with no barrier in between");
  caught(overwrites_for_peer, pairs, "with no barrier in between");
  caught(third_rank, pairs, "block 2 of a cluster of 2");
  caught(arrives_twice, pairs, "arrives at a cluster barrier twice");
  caught(waits_alone_for_cluster, pairs, "waits at a cluster barrier without having arrived");
  caught(one_block_missing, pairs, "wait at a cluster barrier");
}

// ---------------------------------------------------------------------------------------------- blocks that wait

// All blocks count up; thread 0 of each waits until `expected` have.
static void meet_grid(const uint64_t *p, uint32_t expected) {
  if (thread_id() == 0) {
    ((void (*)(uint32_t, uint64_t, uint32_t))find("mirage_emu_RED_RELEASE"))(0, p[2], 1);
    while (((uint32_t (*)(uint32_t, uint64_t))find("mirage_emu_LD_ACQUIRE"))(0, p[2]) < expected)
      ;
  }
  barrier();
}
static void all_blocks(const uint64_t *p) { meet_grid(p, 4); }

// Every thread leaves a word for the same thread of the next block; `before` and `after` are the barriers that make all
// threads' words count.
static void exchange(const uint64_t *p, bool before, bool after) {
  uint32_t t = thread_id(), block = I("BLOCK_ID_X"), next = (block + 1) % 4;
  store_global(p[2] + 64 + 4 * (32 * block + t), 100 * block + t);
  if (before)
    barrier();
  if (t == 31) {
    ((void (*)(uint32_t, uint64_t, uint32_t))find("mirage_emu_RED_RELEASE"))(0, p[2], 1);
    while (((uint32_t (*)(uint32_t, uint64_t))find("mirage_emu_LD_ACQUIRE"))(0, p[2]) < 4)
      ;
  }
  if (after)
    barrier();
  store_global(p[1] + 4 * (32 * block + t), load_global(p[2] + 64 + 4 * (32 * next + t)));
}
static void exchange_in_order(const uint64_t *p) { exchange(p, true, true); }
static void announces_too_early(const uint64_t *p) { exchange(p, false, true); }
static void reads_too_early(const uint64_t *p) { exchange(p, true, false); }
static void overwrites_too_early(const uint64_t *p) {
  exchange(p, true, true);
  store_global(p[2] + 64 + 4 * (32 * I("BLOCK_ID_X") + thread_id()), 0);
}
static void one_more(const uint64_t *p) { meet_grid(p, 5); }

// Every thread leaves a word that is a signal of its own for the same thread of the next block.
static uint64_t word_of(const uint64_t *p, uint32_t block) { return p[2] + 64 + 4 * (32 * block + thread_id()); }
static void store_word(uint64_t address, uint32_t value) {
  ((void (*)(uint32_t, uint64_t, uint32_t))find("mirage_emu_ST_WORDS_4"))(0, address, value);
}
static uint32_t await_word(uint64_t address) {
  uint32_t word;
  do
    word = ((uint32_t (*)(uint32_t, uint64_t))find("mirage_emu_LD_WORDS_4"))(0, address);
  while (!word);
  return word;
}
static void exchange_words(const uint64_t *p) {
  uint32_t t = thread_id(), block = I("BLOCK_ID_X");
  store_word(word_of(p, block), 100 * block + t + 1);
  store_global(p[1] + 4 * (32 * block + t), await_word(word_of(p, (block + 1) % 4)));
}
static void nobody_stores(const uint64_t *p) { await_word(word_of(p, 4 + I("BLOCK_ID_X"))); }
static void counts_on_more(const uint64_t *p) { // a word tells of itself alone
  uint32_t block = I("BLOCK_ID_X");
  store_global(p[2] + 1024 + 4 * (32 * block + thread_id()), 1);
  store_word(word_of(p, block), 1);
  await_word(word_of(p, (block + 1) % 4));
  load_global(p[2] + 1024 + 4 * (32 * ((block + 1) % 4) + thread_id()));
}
static void reads_word_plainly(const uint64_t *p) {
  uint32_t block = I("BLOCK_ID_X");
  store_word(word_of(p, block), 1);
  await_word(word_of(p, (block + 1) % 4));
  load_global(word_of(p, (block + 1) % 4));
}
static void overwrites_word(const uint64_t *p) {
  uint32_t block = I("BLOCK_ID_X");
  store_word(word_of(p, block), 1);
  await_word(word_of(p, (block + 1) % 4));
  store_global(word_of(p, (block + 1) % 4), 0);
}
static void reads_what_nobody_wrote(const uint64_t *p) { load_global(word_of(p, I("BLOCK_ID_X"))); }

static void test_words(void **state) {
  Setting four = {.blocks = 4, .cluster = 1, .threads = 32, .together = true};
  runs(exchange_words, four);
  assert_int_equal(result[32 * 3 + 5], 6);
  assert_int_equal(result[32 * 1 + 9], 210);
  caught(nobody_stores, four, "wait at words of device memory");
  caught(counts_on_more, four, "of the workspace, which block number");
  caught(reads_word_plainly, four, "of the workspace, which block number");
  caught(overwrites_word, four, "of the workspace, which block number");
  caught(reads_what_nobody_wrote, four, "of the workspace, which nobody wrote");
  four.left = 7;
  caught(exchange_words, four, "of the workspace, a signal that an earlier launch left");
}

static void test_grid(void **state) {
  const Setting four = {.blocks = 4, .cluster = 1, .threads = 32, .together = true};
  runs(all_blocks, four);
  assert_int_equal(workspace[0], 4);
  runs(exchange_in_order, four);
  assert_int_equal(result[32 * 3 + 5], 5);
  assert_int_equal(result[32 * 1 + 9], 209);
  caught(announces_too_early, four, "of the workspace, which ");
  caught(reads_too_early, four, "of the workspace, which ");
  caught(overwrites_too_early, four, "in no order");
  caught(one_more, four, "wait at a word of device memory");
  caught(all_blocks, (Setting){.blocks = 4, .cluster = 1, .threads = 32},
         "wait at a word of device memory"); // one block at a time
  capture = (Capture){0};
  assert_int_equal(
      run(all_blocks, (Setting){.blocks = 70000, .cluster = 1, .threads = 32, .together = true}, MIRAGE_COPIES_LATE),
      MIRAGE_LIMIT);
  assert_non_null(strstr(capture.text, "2240000 threads at once"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_device_memory), cmocka_unit_test(test_shared_memory), cmocka_unit_test(test_bytes),
      cmocka_unit_test(test_copies),        cmocka_unit_test(test_meetings),      cmocka_unit_test(test_ldmatrix),
      cmocka_unit_test(test_clusters),      cmocka_unit_test(test_grid),          cmocka_unit_test(test_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
