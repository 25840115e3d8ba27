// test_support.c - arena, random numbers, messages, statuses, targets.
#include "mirage/cancel.h"
#include "mirage/random.h"
#include "mirage/target.h"

#include "capture.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#include <sanitizer/asan_interface.h>
#endif
#endif

// ---------------------------------------------------------------------------------------------- arena

static void test_arena_alloc(void **state) {
  MirageArena arena = {0};
  unsigned char *previous = NULL;
  for (size_t size = 0; size < 300; size++) {
    unsigned char *memory = mirage_arena_alloc(&arena, size);
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % 16, 0);
    assert_ptr_not_equal(memory, previous);
    for (size_t i = 0; i < size; i++)
      assert_int_equal(memory[i], 0);
    memset(memory, 0xAB, size); // so that memory handed out twice is noticed
    previous = memory;
  }
  mirage_arena_deinit(&arena);
  assert_int_equal(arena.total_bytes, 0);
}

static void test_arena_large(void **state) {
  MirageArena arena;
  mirage_arena_init(&arena, NULL);
  char *small = mirage_arena_strdup(&arena, "small");
  char *large = mirage_arena_alloc(&arena, 1 << 20);
  memset(large, 1, 1 << 20);
  assert_string_equal(small, "small");
  assert_null(mirage_arena_alloc(&arena, SIZE_MAX));
  assert_null(mirage_arena_alloc(&arena, SIZE_MAX - 40));
  assert_null(mirage_arena_alloc_array(&arena, SIZE_MAX / 2, 3));
  assert_non_null(mirage_arena_alloc_array(&arena, 0, 3));
  assert_non_null(mirage_arena_copy(&arena, NULL, 0));
  mirage_arena_deinit(&arena);
}

static void test_arena_rewind(void **state) {
  Scarce scarce = {.left = 1000};
  const MirageAllocator allocator = {scarce_alloc, scarce_free, &scarce};
  MirageArena arena;
  mirage_arena_init(&arena, &allocator);
  MirageArenaMark empty = mirage_arena_mark(&arena);
  char *kept = mirage_arena_strdup(&arena, "kept");
  MirageArenaMark mark = mirage_arena_mark(&arena);
  char *first = mirage_arena_alloc(&arena, 64);
  memset(first, 7, 64);
  mirage_arena_rewind(&arena, mark);
  char *again = mirage_arena_alloc(&arena, 64);
  assert_ptr_equal(first, again);
  for (int i = 0; i < 64; i++)
    assert_int_equal(again[i], 0);
  for (int i = 0; i < 20; i++)
    assert_non_null(mirage_arena_alloc(&arena, 4000)); // several blocks
  mirage_arena_rewind(&arena, mark);
  assert_string_equal(kept, "kept");
  assert_int_equal(scarce.live, 2); // the first block and one spare
  size_t left = scarce.left;
  for (int i = 0; i < 100; i++) { // across the end of the first block: the spare serves
    MirageArenaMark inner = mirage_arena_mark(&arena);
    assert_non_null(mirage_arena_alloc(&arena, 6000));
    mirage_arena_rewind(&arena, inner);
  }
  assert_int_equal(scarce.left, left);
  mirage_arena_rewind(&arena, empty);
  assert_null(arena.head);
  mirage_arena_deinit(&arena);
  assert_int_equal(scarce.live, 0);
  assert_int_equal(arena.total_bytes, 0);
}

#ifdef WITH_ASAN
// Poisoning can be turned off by ASAN_OPTIONS; then nothing is said of a stale pointer.
static void test_arena_poisons(void **state) {
  MirageArena arena = {0};
  char *kept = mirage_arena_alloc(&arena, 64);
  MirageArenaMark mark = mirage_arena_mark(&arena);
  char *stale = mirage_arena_alloc(&arena, 64);
  assert_false(__asan_address_is_poisoned(stale));
  mirage_arena_rewind(&arena, mark);
  assert_true(__asan_address_is_poisoned(stale));
  assert_false(__asan_address_is_poisoned(kept));
  mirage_arena_deinit(&arena);
}
#endif

static void test_arena_dry(void **state) {
  Scarce scarce = {.left = 1};
  const MirageAllocator allocator = {scarce_alloc, scarce_free, &scarce};
  MirageArena arena;
  mirage_arena_init(&arena, &allocator);
  char *text = mirage_arena_strdup(&arena, "text");
  assert_non_null(text);
  assert_null(mirage_arena_alloc(&arena, 1 << 16));
  assert_null(mirage_arena_alloc_array(&arena, 1 << 10, 1 << 10));
  assert_string_equal(text, "text"); // a failure leaves what there was
  mirage_arena_deinit(&arena);
  assert_int_equal(scarce.live, 0);
}

// --------------------------------------------------------------------------------------------- random

// Known answers of the authors' Random123 library, philox4x32-10.
static void test_philox_known_answers(void **state) {
  static const struct {
    uint32_t counter[4], key[2], expected[4];
  } cases[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    MirageRandom random;
    mirage_random_init(&random, cases[i].key[0] | (uint64_t)cases[i].key[1] << 32,
                       cases[i].counter[2] | (uint64_t)cases[i].counter[3] << 32);
    random.counter = cases[i].counter[0] | (uint64_t)cases[i].counter[1] << 32;
    uint64_t low = mirage_random_next(&random), high = mirage_random_next(&random);
    assert_int_equal(low, cases[i].expected[0] | (uint64_t)cases[i].expected[1] << 32);
    assert_int_equal(high, cases[i].expected[2] | (uint64_t)cases[i].expected[3] << 32);
  }
}

static void test_random_streams(void **state) {
  MirageRandom a, b, c, d;
  mirage_random_init(&a, 1, 0);
  mirage_random_init(&b, 1, 0);
  mirage_random_init(&c, 1, 1);
  mirage_random_init(&d, 2, 0);
  for (int i = 0; i < 100; i++) {
    uint64_t draw = mirage_random_next(&a);
    assert_int_equal(draw, mirage_random_next(&b));
    assert_int_not_equal(draw, mirage_random_next(&c));
    assert_int_not_equal(draw, mirage_random_next(&d));
  }
}

static void test_random_purposes(void **state) {
  (void)state;
  assert_int_equal(mirage_random_purpose(1, "verify"), mirage_random_purpose(1, "verify"));
  assert_int_not_equal(mirage_random_purpose(1, "verify"), mirage_random_purpose(1, "search"));
  assert_int_not_equal(mirage_random_purpose(1, "verify"), mirage_random_purpose(2, "verify"));
  assert_int_not_equal(mirage_random_purpose(1, "verify"), 1);
}

static void test_cancel(void **state) {
  (void)state;
  int flag = 0;
  MirageCancel cancel = {.interrupt = &flag};
  assert_false(mirage_cancelled(NULL));
  assert_false(mirage_cancelled(&(MirageCancel){0}));
  assert_false(mirage_cancelled(&cancel));
  flag = 1;
  assert_true(mirage_cancelled(&cancel));
  cancel = (MirageCancel){.deadline = mirage_clock()};
  assert_true(mirage_cancelled(&cancel)); // reached, not only passed
  cancel.deadline += 1e6;
  assert_false(mirage_cancelled(&cancel));
}

static void test_interrupt_measured(void **state) {
  (void)state;
  int flag = 0;
  assert_true(mirage_interrupt_longest() == 0);
  assert_true(mirage_interrupt_counted() == 0);
  mirage_interrupt_measure();
  mirage_interrupt_after(2);
  assert_false(mirage_interrupted(NULL)); // asks nobody: counts for nothing
  assert_false(mirage_interrupted(&flag));
  assert_true(mirage_interrupt_counted() == 0);
  for (volatile uint32_t i = 0; i < 10000; i++) // some CPU time
    ;
  assert_true(mirage_interrupted(&flag));
  assert_true(mirage_interrupt_counted() > 0);
  assert_true(mirage_interrupt_longest() > 0);
  mirage_interrupt_after(0);
  assert_false(mirage_interrupted(&flag));
}

static void test_random_below(void **state) {
  MirageRandom random;
  mirage_random_init(&random, 42, 0);
  int count[5] = {0};
  for (int i = 0; i < 10000; i++)
    count[mirage_random_below(&random, 5)]++;
  for (int i = 0; i < 5; i++)
    assert_in_range(count[i], 1800, 2200); // 2000 expected, 40 standard deviation
  assert_int_equal(mirage_random_below(&random, 1), 0);
  // 2^63 + 2^62: a quarter of all draws is rejected; plain remainders would give the lowest third half of them.
  const uint64_t bound = (UINT64_C(1) << 63) + (UINT64_C(1) << 62);
  int low = 0;
  for (int i = 0; i < 10000; i++) {
    uint64_t draw = mirage_random_below(&random, bound);
    assert_true(draw < bound);
    low += draw < bound / 3;
  }
  assert_in_range(low, 3100, 3570); // 3333 expected, 47 standard deviation; biased: 5000
}

static void test_random_normal(void **state) {
  MirageRandom random;
  mirage_random_init(&random, 7, 3);
  double sum = 0, squares = 0, fourth = 0;
  const int n = 20000;
  for (int i = 0; i < n; i++) {
    double x = mirage_random_normal(&random);
    assert_true(isfinite(x));
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  assert_true(fabs(sum / n) < 0.03);
  assert_true(fabs(squares / n - 1) < 0.04);
  assert_true(fabs(fourth / n - 3) < 0.4);
}

// ---------------------------------------------------------------------------------- messages, statuses

static void test_diag(void **state) {
  Capture capture = {0};
  const MirageDiag diag = {capture_emit, &capture};
  int cookie = 0;
  assert_int_equal(
      mirage_diag_fail(&diag, &cookie, MIRAGE_BAD_SHAPE, "matmul: inner dimensions differ: %d vs %d", 64, 63),
      MIRAGE_BAD_SHAPE);
  assert_string_equal(capture.text, "matmul: inner dimensions differ: 64 vs 63");
  assert_ptr_equal(capture.loc, &cookie);
  mirage_diag_emit(&diag, MIRAGE_SEVERITY_REMARK, NULL, "%01500d", 1);
  assert_int_equal(capture.count, 2);
  assert_int_equal(strlen(capture.text), 1023);
  assert_string_equal(capture.text + 1020, "...");
  const MirageDiag silent = {0};
  assert_int_equal(mirage_diag_fail(&silent, NULL, MIRAGE_IO, "x"), MIRAGE_IO);
  assert_int_equal(mirage_diag_fail(NULL, NULL, MIRAGE_IO, "x"), MIRAGE_IO);
}

static void test_status(void **state) {
  assert_string_equal(mirage_status_string(MIRAGE_OK), "success");
  assert_string_equal(mirage_status_string(MIRAGE_REDRAW),
                      "a random evaluation divided by zero and has to be drawn again");
  assert_string_equal(mirage_status_string((MirageStatus)1000), "unknown status");
  assert_int_equal(MIRAGE_BAD_SHAPE, 3); // part of the ABI
}

static void test_targets(void **state) {
  assert_string_equal(mirage_target_find("h200")->chip, "sm_90a");
  assert_string_equal(mirage_target_find("sm_90a")->name, "h200"); // the first row with it
  assert_string_equal(mirage_target_find("sm_89")->name, "rtx4090");
  assert_string_equal(mirage_target_find("sm_86")->name, "rtx3090");
  assert_int_equal(mirage_target_find("l4")->num_sms, 58);
  assert_string_equal(mirage_target_find("sm_100")->name, "b200");
  assert_string_equal(mirage_target_find("sm_120")->name, "rtx5090");
  static const struct {
    const char *typed, *name;
  } typed[] = {{"H200", "h200"},        {"sm_90", "h200"},       {"SM_90A", "h200"},
               {"hopper", "h200"},      {"Hopper", "h200"},      {"NVIDIA H100", "h100"},
               {"RTX 4090", "rtx4090"}, {"rtx-4090", "rtx4090"}, {"GeForce RTX 3090", "rtx3090"},
               {"ampere", "a100"},      {"blackwell", "b200"},   {"SM_80", "a100"},
               {"4090", "rtx4090"}};
  for (size_t i = 0; i < sizeof typed / sizeof *typed; i++)
    assert_string_equal(mirage_target_find(typed[i].typed)->name, typed[i].name);
  char text[512];
  mirage_target_list("h20", text, sizeof text);
  assert_non_null(strstr(text, "h200 (sm_90a), h100 (sm_90a), a100 (sm_80)"));
  assert_non_null(strstr(text, "; is h200 meant?"));
  mirage_target_list("gtx1080", text, sizeof text);
  assert_null(strstr(text, "meant"));
  mirage_target_list("h20", text, 12); // what fits
  assert_string_equal(text, "h200 (sm_90");
  assert_null(mirage_target_find("nvidia"));
  assert_null(mirage_target_find("a name that is longer than any that we know of"));
  assert_null(mirage_target_find("h20"));
  assert_null(mirage_target_find(""));
  assert_null(mirage_target_find(NULL));
  size_t count = 0;
  for (const MirageTarget *target; (target = mirage_target_get(count)) != NULL; count++) {
    assert_ptr_equal(mirage_target_find(target->name), target);
    assert_true(target->shared_bytes_per_block < target->shared_bytes_per_sm);
    assert_true(target->max_threads_per_block <= target->max_threads_per_sm);
    assert_true(target->dram_bytes_per_us < target->l2_bytes_per_us);
    assert_true(target->fma_flops_per_us < target->matmul_flops_per_us);
    assert_true(target->num_sms > 0 && target->registers_per_sm > 0 && target->exp_per_us > 0 && target->launch_us > 0);
    assert_int_equal(target->has_wgmma, strcmp(target->chip, "sm_90a") == 0);
  }
  assert_int_equal(count, 8);
  assert_null(mirage_target_get(SIZE_MAX));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arena_alloc),
      cmocka_unit_test(test_arena_large),
      cmocka_unit_test(test_arena_rewind),
      cmocka_unit_test(test_arena_dry),
#ifdef WITH_ASAN
      cmocka_unit_test(test_arena_poisons),
#endif
      cmocka_unit_test(test_philox_known_answers),
      cmocka_unit_test(test_random_streams),
      cmocka_unit_test(test_random_purposes),
      cmocka_unit_test(test_cancel),
      cmocka_unit_test(test_interrupt_measured),
      cmocka_unit_test(test_random_below),
      cmocka_unit_test(test_random_normal),
      cmocka_unit_test(test_diag),
      cmocka_unit_test(test_status),
      cmocka_unit_test(test_targets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
