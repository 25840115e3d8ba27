// test_streams.c - what draws from one seed for different ends draws different numbers: a candidate was not found at
// the points that the verifier tries, nor measured on the numbers that it is run with.
#include "mirage/random.h"
#include "mirage/verify.h"
#include "search/space/search_space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ENTRIES = 16 };
static const uint64_t SEEDS[] = {0, 1, 2, 12345, INT64_MAX};
enum { NUM_SEEDS = sizeof SEEDS / sizeof *SEEDS };

/// The first entries of input 0 at a random point, which it destroys.
static void draw(MirageField *field, MirageResidue out[ENTRIES]) {
  assert_non_null(field);
  mirage_field_draw(field, 0, ENTRIES, out);
  mirage_field_destroy(field);
}

static void assert_apart(const MirageResidue *a, const MirageResidue *b) {
  for (int i = 0; i < ENTRIES; i++)
    assert_true(a[i].p != b[i].p);
}

static MirageField *search_field(uint64_t seed) { return mirage__search_field(&(MirageSearchOptions){.seed = seed}); }

// Fingerprints against the trials of the seed itself, as a library user may run them, and of the purposes of others.
static void test_fingerprints_are_no_trial(void **state) {
  static const char *const others[] = {"verify", "guard", "check", "run", "tuning"};
  for (int s = 0; s < NUM_SEEDS; s++) {
    MirageResidue search[ENTRIES], other[ENTRIES];
    draw(search_field(SEEDS[s]), search);
    for (uint32_t trial = 0; trial < 64; trial++) {
      draw(mirage_field_create(SEEDS[s], trial), other);
      assert_apart(search, other);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
      draw(mirage_field_create(mirage_random_purpose(SEEDS[s], others[i]), 0), other);
      assert_apart(search, other);
    }
  }
}

static void test_fingerprints_repeat(void **state) {
  MirageResidue a[ENTRIES], b[ENTRIES];
  draw(search_field(7), a);
  draw(search_field(7), b);
  assert_memory_equal(a, b, sizeof a);
  draw(search_field(8), b);
  assert_apart(a, b);
}

// Streams of generators: input i of mirage-run against every stream of the guard's, of tuning's and of the seed itself.
static void test_generators_of_purposes_differ(void **state) {
  static const char *const purposes[] = {"search", "verify", "guard", "check", "run", "tuning"};
  enum { NUM = sizeof purposes / sizeof *purposes };
  for (int s = 0; s < NUM_SEEDS; s++)
    for (uint64_t stream = 0; stream < 4; stream++) {
      uint64_t first[NUM + 1];
      for (int i = 0; i <= NUM; i++) {
        MirageRandom random;
        mirage_random_init(&random, i < NUM ? mirage_random_purpose(SEEDS[s], purposes[i]) : SEEDS[s], stream);
        first[i] = mirage_random_next(&random);
        for (int j = 0; j < i; j++)
          assert_true(first[i] != first[j]);
      }
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fingerprints_are_no_trial),
      cmocka_unit_test(test_fingerprints_repeat),
      cmocka_unit_test(test_generators_of_purposes_differ),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
