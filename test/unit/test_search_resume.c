// test_search_resume.c - a search that is stopped and goes on from its checkpoint gives what one gives that was never
// stopped; and a checkpoint that is damaged, or somebody else's, is refused and stays as it is.
#define _POSIX_C_SOURCE 200809L // mkdtemp
#include "search_helpers.h"
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <sys/stat.h>
#include <unistd.h>

static char folder[64] = "/tmp/mirage-resume-XXXXXX", path[128];

static int make_folder(void **state) {
  if (!mkdtemp(folder))
    return -1;
  snprintf(path, sizeof path, "%s/search", folder);
  return 0;
}

static int remove_folder(void **state) {
  remove(path);
  return rmdir(folder);
}

/// Interrupts at some call of the callback.
typedef struct Stopper {
  int interrupt;
  uint32_t calls, last;
} Stopper;

static void stop_at_last(void *user, const MirageSearchProgress *progress) {
  Stopper *stopper = user;
  if (++stopper->calls >= stopper->last)
    __atomic_store_n(&stopper->interrupt, 1, __ATOMIC_RELAXED);
}

// Stops again and again until the search is complete; how often it was stopped.
static uint32_t search_in_parts(const MirageUGraph *program, MirageSearchOptions options, uint32_t calls,
                                MirageSearchResult *out_result) {
  static const uint32_t threads[] = {1, 2, 8};
  for (uint32_t part = 0;; part++) {
    Stopper stopper = {.last = calls << part / 2}; // it gets on each time, at last
    MirageSearchControl control = {.progress = stop_at_last,
                                   .user = &stopper,
                                   .interval = 1e-9,
                                   .interrupt = &stopper.interrupt,
                                   .checkpoint = path};
    options.control = &control;
    options.num_threads = threads[part % 3];
    *out_result = search(program, &options);
    if (out_result->funnel.stop < MIRAGE_STOP_TIME_BUDGET)
      return part;
    assert_false(out_result->funnel.exhausted);
    mirage_search_result_deinit(out_result);
    if (part > 60)
      fail_msg("it does not get on");
  }
}

// Few schedules: these are not what is tested.
static MirageSearchOptions quick(void) {
  static const int64_t two[] = {2};
  MirageSearchOptions options = defaults();
  options.max_candidates = 6;
  options.griddims = (MirageInt64List){two, 1};
  options.franges = (MirageInt64List){two, 1};
  return options;
}

// Takes the program.
static void check_parts(MirageUGraph *program, MirageSearchOptions options, uint32_t calls, uint32_t at_least) {
  MirageSearchResult whole = search(program, &options), parts;
  remove(path);
  uint32_t stopped = search_in_parts(program, options, calls, &parts);
  if (stopped < at_least)
    fail_msg("stopped %u times only", stopped);
  assert_true(whole.num_candidates > 0);
  assert_same_result(&whole, &parts);
  mirage_search_result_deinit(&parts);
  assert_int_equal(search_in_parts(program, options, UINT32_MAX / 1000, &parts), 0); // all of it is in the file
  assert_same_result(&whole, &parts);
  mirage_search_result_deinit(&parts);
  mirage_search_result_deinit(&whole);
  mirage_ugraph_destroy(program);
  remove(path);
}

static void test_derivation_in_parts(void **state) {
  MirageSearchOptions options = quick();
  check_parts(gated_mlp(1, 64, 64), options, 10, 3);
  options.no_prune_expr = true;
  options.max_block_ops = 6;
  check_parts(linear(4, 16, 12), options, 10, 3);
  options.no_merge = true;
  options.max_states = 10000;
  check_parts(exp_linear(4, 16, 12), options, 10, 2);
}

static void test_reading_in_parts(void **state) {
  MirageSearchOptions options = quick();
  options.max_block_ops = 16;
  check_parts(sdpa(2, 16, 16, 48), options, 20, 2);
  options.optimal = true;
  options.max_block_ops = 12;
  check_parts(attention(2, 8, 8, 24), options, 20, 2);
}

// A limit strikes where it would have.
static void test_limits_in_parts(void **state) {
  MirageSearchOptions options = quick();
  options.max_states = 5000;
  check_parts(gated_mlp(1, 64, 64), options, 10, 2);
}

static void test_pieces_in_parts(void **state) {
  MirageUGraph *g = begin("layers");
  Value x = matrix(g, 8, 256), w[3];
  for (uint32_t i = 0; i < 3; i++)
    w[i] = matrix(g, 256, 256);
  for (uint32_t i = 0; i < 3; i++)
    x = unary(g, MIRAGE_OP_EXP, matmul(g, x, w[i]));
  MirageSearchOptions options = quick();
  options.max_states = 20000;
  check_parts(end(g, x), options, 10, 3);
}

static Value slice(MirageUGraph *g, Value a, uint32_t dim, int64_t begin, int64_t end) {
  MirageAttrs attrs = {.slice = {.dim = (int32_t)dim, .begin = begin, .end = end}};
  return mirage_ugraph_apply(g, MIRAGE_OP_SLICE, 1, &a, &attrs);
}

// Halves of one product, and two results that are one tensor: what is searched has windows for inputs and outputs.
static void test_views_in_parts(void **state) {
  MirageUGraph *g = begin("views");
  Value x = matrix(g, 1, 64), w = matrix(g, 64, 64), h = matmul(g, x, w);
  Value y = binary(g, MIRAGE_OP_MUL, unary(g, MIRAGE_OP_SILU, slice(g, h, 1, 0, 32)), slice(g, h, 1, 32, 64));
  Value both[2] = {y, unary(g, MIRAGE_OP_EXP, y)};
  Value z = mirage_ugraph_apply(g, MIRAGE_OP_CONCAT, 2, both, &(MirageAttrs){.dim = {1}});
  check_parts(end(g, z), quick(), 10, 3);
}

// Several results, of the whole and of pieces, with nothing left out.
static void test_results_in_parts(void **state) {
  MirageUGraph *g = begin("results");
  Value x = matrix(g, 4, 16), w = matrix(g, 16, 8), y = matmul(g, x, w), z = unary(g, MIRAGE_OP_EXP, y);
  MirageSearchOptions options = quick();
  options.optimal = true;
  options.max_block_ops = 6;
  check_parts(end_with(g, 3, (Value[]){y, z, unary(g, MIRAGE_OP_TANH, y)}), options, 4, 2);
}

/// Interrupts while schedules are chosen, once that has got further than it was; counts block graphs.
typedef struct Scheduler {
  int interrupt;
  uint32_t first, last, total; // that had schedules
  uint32_t calls;
} Scheduler;

static void stop_in_schedules(void *user, const MirageSearchProgress *progress) {
  Scheduler *scheduler = user;
  if (progress->phase != MIRAGE_PHASE_SCHEDULES)
    return;
  scheduler->calls++;
  if (scheduler->calls == 2) // the first says that the phase has begun
    scheduler->first = progress->done;
  scheduler->last = progress->done;
  scheduler->total = progress->total;
  if (scheduler->last > scheduler->first && scheduler->last < scheduler->total)
    __atomic_store_n(&scheduler->interrupt, 1, __ATOMIC_RELAXED);
}

// Each run goes on with the block graph after the last one that had schedules.
static void test_schedules_in_parts(void **state) {
  MirageUGraph *program = attention(2, 8, 8, 24);
  MirageSearchOptions options = quick();
  options.optimal = true;
  options.max_candidates = 1; // four block graphs between two looks at the flag
  MirageSearchResult whole = search(program, &options), part;
  uint32_t runs = 0, done = 0;
  for (bool complete = false; !complete; runs++) {
    Scheduler scheduler = {0};
    MirageSearchControl control = {.progress = stop_in_schedules,
                                   .user = &scheduler,
                                   .interval = 1e-9,
                                   .interrupt = &scheduler.interrupt,
                                   .checkpoint = path};
    options.control = &control;
    options.num_threads = 1 + runs % 3;
    part = search(program, &options);
    complete = part.funnel.stop == MIRAGE_STOP_NONE;
    assert_int_equal(scheduler.first, done);
    if (scheduler.last <= done || scheduler.total <= 12)
      fail_msg("%u of %u block graphs have schedules, before %u", scheduler.last, scheduler.total, done);
    done = scheduler.last;
    if (!complete)
      mirage_search_result_deinit(&part);
  }
  assert_true(runs > 3);
  assert_same_result(&whole, &part);
  mirage_search_result_deinit(&part);
  mirage_search_result_deinit(&whole);
  mirage_ugraph_destroy(program);
  remove(path);
}

// --------------------------------------------------------------------------------------- refused files

static uint8_t *read_all(size_t *out_size) {
  FILE *file = fopen(path, "rb");
  uint8_t *data = malloc(1 << 22);
  assert_non_null(file);
  *out_size = fread(data, 1, 1 << 22, file);
  fclose(file);
  return data;
}

static void write_all(const uint8_t *data, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(data, 1, size, file), size);
  fclose(file);
}

static void expect_refused(const MirageUGraph *program, const MirageSearchOptions *options, const char *why) {
  MirageSearchResult result;
  size_t before, after;
  uint8_t *old = read_all(&before);
  last_message[0] = '\0';
  assert_int_equal(mirage_search(program, options, &diag, &result), MIRAGE_BAD_ARGUMENT);
  assert_int_equal(result.num_candidates, 0);
  if (!strstr(last_message, why))
    fail_msg("'%s' does not say '%s'", last_message, why);
  uint8_t *now = read_all(&after);
  assert_int_equal(before, after); // nothing is lost
  assert_memory_equal(old, now, before);
  free(old);
  free(now);
}

static void test_refuses_damage(void **state) {
  MirageUGraph *program = gated_mlp(2, 64, 64);
  MirageSearchControl control = {.checkpoint = path};
  MirageSearchOptions options = defaults();
  options.control = &control;
  MirageSearchResult result = search(program, &options);
  mirage_search_result_deinit(&result);
  size_t size;
  uint8_t *data = read_all(&size);
  assert_true(size > 1000);
  for (size_t i = 0; i < size; i += 1 + size / 97) { // every part of it, bit by bit
    data[i] ^= (uint8_t)(1u << i % 8);
    write_all(data, size);
    expect_refused(program, &options, "search: checkpoint '");
    data[i] ^= (uint8_t)(1u << i % 8);
  }
  for (size_t length = 0; length < size; length += 1 + size / 53) {
    write_all(data, length);
    expect_refused(program, &options, length < 14 ? "is no checkpoint of a search" : "cut short");
  }
  write_all((const uint8_t *)"mirage-mlir-opt\n\n\n", 18);
  expect_refused(program, &options, "is no checkpoint of a search");
  data[14] ^= 2; // the version
  write_all(data, size);
  expect_refused(program, &options, "was written by another version");
  free(data);
  remove(path);
  mirage_ugraph_destroy(program);
}

// A file that is whole, and whose records are not what this search writes: another version forgot to say so.
static void test_refuses_what_makes_no_sense(void **state) {
  for (uint32_t i = 0; i < 9; i++) {
    MirageUGraph *program = gated_mlp(2, 64, 64);
    MirageSearchControl control = {.checkpoint = path};
    MirageSearchOptions options = defaults();
    options.control = &control;
    int interrupt = 1;
    control.interrupt = &interrupt; // nothing but the header
    MirageSearchResult result = search(program, &options);
    mirage_search_result_deinit(&result);
    control.interrupt = NULL;
    size_t size;
    uint8_t *data = read_all(&size);
    // Of the whole and two pieces, of each kind for their first plan; 8 bytes, the size takes two.
    uint32_t record[] = {i / 3, 0, i % 3, 8, 0, 0xffffffff, 0xffffffff};
    size -= 8;
    memcpy(data + size, record, sizeof record);
    uint64_t hash = XXH3_64bits(data, size + sizeof record);
    memcpy(data + size + sizeof record, &hash, sizeof hash);
    write_all(data, size + sizeof record + sizeof hash);
    expect_refused(program, &options, "holds what this search cannot have written");
    free(data);
    remove(path);
    mirage_ugraph_destroy(program);
  }
}

static void test_refuses_what_belongs_to_others(void **state) {
  MirageUGraph *program = gated_mlp(2, 64, 64), *other = gated_mlp(2, 64, 32);
  MirageSearchControl control = {.checkpoint = path};
  MirageSearchOptions options = defaults();
  options.control = &control;
  MirageSearchResult result = search(program, &options);
  mirage_search_result_deinit(&result);
  static const char why[] = "is of other options; remove it";
  expect_refused(other, &options, "is of another program; remove it");
  MirageSearchOptions changed = options;
  changed.max_block_ops = 9;
  expect_refused(program, &changed, why);
  changed = options;
  changed.seed = 5;
  expect_refused(program, &changed, why);
  bool *switches[] = {&changed.no_prune_expr,    &changed.no_prune_axis,    &changed.no_merge,
                      &changed.no_keep_products, &changed.no_bound_needs,   &changed.no_prune_memory,
                      &changed.no_share_pieces,  &changed.no_second_kernel, &changed.optimal};
  for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
    changed = options;
    *switches[i] = true;
    expect_refused(program, &changed, why);
  }
  changed = options;
  changed.target = mirage_target_find("a100");
  expect_refused(program, &changed, "is of another target; remove it");
  changed.seed = 5;
  expect_refused(other, &changed, "is of another program and other options and another target");
  changed = options;
  changed.franges = (MirageInt64List){(const int64_t[]){4}, 1};
  expect_refused(program, &changed, why);
  changed = options;
  changed.num_threads = 3; // this one decides nothing
  result = search(program, &changed);
  mirage_search_result_deinit(&result);
  remove(path);
  mirage_ugraph_destroy(program);
  mirage_ugraph_destroy(other);
}

static void test_files_that_are_not_there(void **state) {
  MirageUGraph *program = linear(4, 16, 16);
  MirageSearchControl control = {.checkpoint = path, .must_resume = true};
  MirageSearchOptions options = defaults();
  MirageSearchResult result;
  options.control = &control;
  assert_int_equal(mirage_search(program, &options, &diag, &result), MIRAGE_IO);
  assert_non_null(strstr(last_message, "No such file"));
  control = (MirageSearchControl){.checkpoint = "/nowhere/at/all"};
  assert_int_equal(mirage_search(program, &options, &diag, &result), MIRAGE_IO);
  assert_non_null(strstr(last_message, "/nowhere/at/all"));
  control = (MirageSearchControl){.checkpoint = folder};
  assert_int_equal(mirage_search(program, &options, &diag, &result), MIRAGE_IO);
  assert_non_null(strstr(last_message, "is not a regular file"));
  control = (MirageSearchControl){.checkpoint = "/dev/zero"}; // reading it would not end
  assert_int_equal(mirage_search(program, &options, &diag, &result), MIRAGE_IO);
  assert_non_null(strstr(last_message, "is not a regular file"));
  assert_int_equal(mkfifo(path, 0600), 0);
  control = (MirageSearchControl){.checkpoint = path};
  assert_int_equal(mirage_search(program, &options, &diag, &result), MIRAGE_IO);
  remove(path);
  mirage_ugraph_destroy(program);
}

static void move_folder(void *user, const MirageSearchProgress *progress) { rename(folder, user); }

// The file's place is gone when it is written last: the search has its answer, and a warning says that it is not saved.
static void test_place_that_goes_away(void **state) {
  MirageUGraph *program = linear(4, 16, 16);
  char elsewhere[80];
  snprintf(elsewhere, sizeof elsewhere, "%s-moved", folder);
  MirageSearchControl control = {.checkpoint = path, .progress = move_folder, .user = elsewhere};
  MirageSearchOptions options = defaults();
  options.control = &control;
  MirageSearchResult result = search(program, &options);
  assert_true(result.num_candidates > 0);
  assert_false(result.saved);
  assert_non_null(strstr(last_message, "could not be written: No such file"));
  mirage_search_result_deinit(&result);
  assert_int_equal(rename(elsewhere, folder), 0);
  control.progress = NULL;
  result = search(program, &options);
  assert_true(result.saved);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
  remove(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_derivation_in_parts),      cmocka_unit_test(test_reading_in_parts),
      cmocka_unit_test(test_limits_in_parts),          cmocka_unit_test(test_pieces_in_parts),
      cmocka_unit_test(test_views_in_parts),           cmocka_unit_test(test_results_in_parts),
      cmocka_unit_test(test_schedules_in_parts),       cmocka_unit_test(test_refuses_what_makes_no_sense),
      cmocka_unit_test(test_refuses_damage),           cmocka_unit_test(test_refuses_what_belongs_to_others),
      cmocka_unit_test(test_files_that_are_not_there), cmocka_unit_test(test_place_that_goes_away),
  };
  return cmocka_run_group_tests_name("resumed search", tests, make_folder, remove_folder);
}
