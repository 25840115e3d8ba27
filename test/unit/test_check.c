// test_check.c - what mirage-check asks of a proof (tools/check_proof.c): proofs that were made, and forged ones.
//
// The pair is an RMSNorm and a linear layer, and a kernel for both: right, or one of the wrong ones of block_graphs.h
// with a proof that was forged for it, its hash and all.
#include "check.h"

#include "mirage/random.h"

#include "block_graphs.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const Sizes SMALL = {.m = 2, .k = 32, .n = 24, .grid = 3, .loop = 4};
static const Sizes LARGE = {.m = 2, .k = 4096, .n = 6144, .grid = 128, .loop = 8};
static const CheckSettings SETTINGS = {.seed = 5, .max_work = 1e9, .guard = true};

typedef struct Forged {
  MirageUGraph *program, *candidate;
} Forged;

static Forged make(Sizes sizes, RmsBug bug) {
  Forged pair = {rms_program(sizes, NULL), rms_fused(sizes, bug, NULL)};
  assert_non_null(pair.program);
  assert_non_null(pair.candidate);
  return pair;
}

static void destroy(Forged *pair) {
  mirage_ugraph_destroy(pair->program);
  mirage_ugraph_destroy(pair->candidate);
}

static MirageProof *proof_of(Forged *pair) { return &mirage_ugraph_meta(pair->candidate)->proof; }

static void tie(Forged *pair) {
  assert_int_equal(mirage_ugraph_pair_hash(pair->program, pair->candidate, NULL, &proof_of(pair)->pair), MIRAGE_OK);
}

/// The right kernel with the proof and the guard that mirage-verify would give it.
static Forged proven(Sizes sizes, uint64_t seed) {
  Forged pair = make(sizes, RMS_RIGHT);
  const MirageVerifyOptions options = {.seed = seed, .max_work = 2000000};
  const MirageGuardOptions guard_options = {.seed = seed};
  MirageVerdict verdict;
  MirageGuardReport report;
  assert_int_equal(mirage_verify(pair.program, pair.candidate, &options, NULL, &verdict), MIRAGE_OK);
  assert_int_equal(verdict.kind, MIRAGE_VERDICT_EQUIVALENT);
  assert_int_equal(mirage_guard(pair.program, pair.candidate, &guard_options, NULL, &report), MIRAGE_OK);
  assert_true(report.passed && report.guard.present);
  *proof_of(&pair) = verdict.proof;
  mirage_ugraph_meta(pair.candidate)->guard = report.guard;
  tie(&pair);
  return pair;
}

static CheckAnswer answer_with(Forged *pair, const CheckSettings *settings) {
  CheckAnswer answer;
  assert_int_equal(check_proof(pair->program, pair->candidate, settings, &answer), MIRAGE_OK);
  return answer;
}

/// Expects the pair to be refused with this in the reason, and destroys it.
static void expect_refused(Forged pair, const char *reason) {
  CheckAnswer answer = answer_with(&pair, &SETTINGS);
  assert_int_equal(answer.outcome, CHECK_REFUSED);
  if (!strstr(answer.reason, reason))
    fail_msg("'%s' is no part of '%s'", reason, answer.reason);
  destroy(&pair);
}

// ----------------------------------------------------------------------------------------------------- what holds

static void test_a_proof_at_full_size_holds(void **state) {
  Forged pair = proven(SMALL, 1);
  CheckAnswer answer = answer_with(&pair, &SETTINGS);
  assert_string_equal(answer.reason, "");
  assert_int_equal(answer.outcome, CHECK_OK);
  assert_false(answer.fresh.shrunken);
  assert_true(answer.fresh.log2_bound <= answer.stored.log2_bound * (1 - 1e-6));
  assert_int_equal(answer.fresh.trials, answer.stored.trials);
  assert_int_equal(answer.fresh.degree, answer.stored.degree);
  assert_true(answer.fresh_guard.present);
  destroy(&pair);
}

static void test_a_proof_on_a_smaller_instance_holds(void **state) {
  Forged pair = proven(LARGE, 1);
  CheckAnswer answer = answer_with(&pair, &SETTINGS);
  assert_string_equal(answer.reason, "");
  assert_true(answer.stored.shrunken && answer.fresh.shrunken);
  CheckSettings full = SETTINGS;
  full.full_size = true;
  answer = answer_with(&pair, &full);
  assert_string_equal(answer.reason, "");
  assert_true(answer.stored.shrunken && !answer.fresh.shrunken);
  destroy(&pair);
}

static void test_the_bound_asked_for_is_reached(void **state) {
  Forged pair = proven(SMALL, 1);
  CheckSettings strict = SETTINGS;
  strict.log2_bound = -300;
  CheckAnswer answer = answer_with(&pair, &strict);
  assert_int_equal(answer.outcome, CHECK_OK);
  assert_true(answer.fresh.log2_bound <= -300);
  assert_true(answer.fresh.trials > answer.stored.trials);
  destroy(&pair);
}

static void test_what_has_no_proof_is_proven(void **state) {
  Forged pair = make(SMALL, RMS_RIGHT);
  CheckAnswer answer = answer_with(&pair, &SETTINGS);
  assert_int_equal(answer.outcome, CHECK_OK);
  assert_false(answer.stored.present);
  assert_true(answer.fresh.present && answer.fresh.log2_bound <= -60);
  assert_false(answer.fresh_guard.present); // no figures are claimed
  destroy(&pair);
}

static void test_the_guard_can_be_left_out(void **state) {
  Forged pair = proven(SMALL, 1);
  CheckSettings without = SETTINGS;
  without.guard = false;
  CheckAnswer answer = answer_with(&pair, &without);
  assert_int_equal(answer.outcome, CHECK_OK);
  assert_false(answer.fresh_guard.present);
  destroy(&pair);
}

// The draws are not those of the proof, even where both have one seed.
static void test_draws_are_its_own(void **state) {
  Forged pair = proven(SMALL, SETTINGS.seed);
  CheckAnswer answer = answer_with(&pair, &SETTINGS);
  assert_int_equal(answer.outcome, CHECK_OK);
  assert_true(answer.fresh.seed != answer.stored.seed);
  assert_true(answer.fresh.seed != mirage_random_purpose(SETTINGS.seed, "verify"));
  assert_true(answer.fresh_guard.candidate_relative != answer.stored_guard.candidate_relative);
  destroy(&pair);
}

// ----------------------------------------------------------------------------------------------- what does not hold

static void test_a_proof_of_another_pair_is_refused(void **state) {
  Forged pair = proven(SMALL, 1);
  proof_of(&pair)->pair++;
  expect_refused(pair, "its proof was made for other graphs");
  pair = proven(SMALL, 1);
  proof_of(&pair)->pair = 0;
  expect_refused(pair, "its proof does not say which graphs it was made for");
}

static void test_claims_are_held_to_the_trials(void **state) {
  Forged pair = proven(SMALL, 1);
  proof_of(&pair)->log2_bound -= 1;
  expect_refused(pair, "its proof claims 2^-");
  pair = proven(SMALL, 1);
  proof_of(&pair)->trials--;
  expect_refused(pair, "its proof claims 2^-");
  pair = proven(SMALL, 1);
  proof_of(&pair)->log2_bound = 0;
  expect_refused(pair, "its proof claims nothing");
  pair = proven(SMALL, 1);
  proof_of(&pair)->degree--;
  expect_refused(pair, "its proof says degree = ");
  pair = proven(SMALL, 1);
  proof_of(&pair)->calls++;
  expect_refused(pair, "its proof says calls = ");
}

static void test_a_proof_that_is_dearer_than_allowed_is_refused(void **state) {
  Forged pair = proven(SMALL, 1);
  CheckSettings poor = SETTINGS;
  poor.max_work = 10;
  CheckAnswer answer = answer_with(&pair, &poor);
  assert_int_equal(answer.outcome, CHECK_REFUSED);
  assert_non_null(strstr(answer.reason, "it could not be proven again at full size"));
  destroy(&pair);
}

/// A wrong kernel with the proof of the right one, for its own hash.
static Forged forge(RmsBug bug) {
  Forged right = proven(SMALL, 1), pair = make(SMALL, bug);
  *proof_of(&pair) = *proof_of(&right);
  mirage_ugraph_meta(pair.candidate)->guard = mirage_ugraph_get_meta(right.candidate)->guard;
  tie(&pair);
  destroy(&right);
  return pair;
}

// Whatever stands in the proof, trials at points of the checker's own find the difference.
static void test_wrong_kernels_with_forged_proofs_are_refused(void **state) {
  static const RmsBug bugs[] = {RMS_SWAPPED_DIV, RMS_NORM_NOT_ACCUMULATED, RMS_NO_GAIN,
                                RMS_GAIN_TWICE,  RMS_PARTIAL_NORM,         RMS_WRONG_CONSTANT,
                                RMS_NO_SQRT,     RMS_X_NOT_ADVANCED,       RMS_SUM_NOT_SQUARED};
  for (size_t i = 0; i < sizeof bugs / sizeof *bugs; i++)
    for (uint64_t seed = 0; seed < 5; seed++) {
      Forged pair = forge(bugs[i]);
      CheckSettings settings = SETTINGS;
      settings.seed = seed;
      CheckAnswer answer = answer_with(&pair, &settings);
      if (answer.outcome != CHECK_REFUSED)
        fail_msg("bug %d passes with seed %d", (int)bugs[i], (int)seed);
      destroy(&pair);
    }
}

static void test_a_guard_too_good_is_refused(void **state) {
  Forged pair = proven(SMALL, 1);
  mirage_ugraph_meta(pair.candidate)->guard.candidate_relative /= 1000;
  expect_refused(pair, "its guard claims a relative error of ");
}

// Graphs that do not even have the same inputs: the library's sentence is the reason.
static void test_signatures_are_compared(void **state) {
  Forged right = proven(SMALL, 1);
  Sizes wide = SMALL;
  wide.n = 48;
  Forged pair = {rms_program(SMALL, NULL), rms_fused(wide, RMS_RIGHT, NULL)};
  *proof_of(&pair) = *proof_of(&right);
  mirage_ugraph_meta(pair.candidate)->guard = mirage_ugraph_get_meta(right.candidate)->guard;
  tie(&pair);
  expect_refused(pair, "verify: input 2 differs: 32x24xf16 vs 32x48xf16");
  destroy(&right);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_proof_at_full_size_holds),
      cmocka_unit_test(test_a_proof_on_a_smaller_instance_holds),
      cmocka_unit_test(test_the_bound_asked_for_is_reached),
      cmocka_unit_test(test_what_has_no_proof_is_proven),
      cmocka_unit_test(test_the_guard_can_be_left_out),
      cmocka_unit_test(test_draws_are_its_own),
      cmocka_unit_test(test_a_proof_of_another_pair_is_refused),
      cmocka_unit_test(test_claims_are_held_to_the_trials),
      cmocka_unit_test(test_a_proof_that_is_dearer_than_allowed_is_refused),
      cmocka_unit_test(test_wrong_kernels_with_forged_proofs_are_refused),
      cmocka_unit_test(test_a_guard_too_good_is_refused),
      cmocka_unit_test(test_signatures_are_compared),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
