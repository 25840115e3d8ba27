// test_schedules.c - the hand-written schedules of test/schedules compute what their programs compute.
//
// Each file holds @program and @candidate. Both are evaluated in doubles, where they may differ by rounding of doubles
// only, and in their real types, where the candidate stays within f16 rounding of the exact answer. For each there is a
// one-word change of the text that must not pass.
#include "capture.h"
#include "mirage/bridge.h"
#include "mirage/eval.h"
#include "mirage/random.h"
#include "mlir_context.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct Schedule {
  const char *file;
  const char *right, *wrong; // the tempting change of the candidate
} Schedule;

static const Schedule SCHEDULES[] = {
    {"rmsnorm_linear_registers.mlir", " sqrt ", " exp "}, // the norm without its root
    {"split_k_cluster.mlir", " cluster_sum ", " cluster_max "},
    {"flash_decoding.mlir", " grid_sum ", " grid_max "},
    {"persistent_gemm.mlir", "sum)", "assign)"}, // the last step of the reduction alone
    {"attention_two_groups.mlir", " reduce_sum ", " reduce_max "},
    {"attention_registers.mlir", " reduce_sum ", " reduce_max "},
};

typedef struct Outcome {
  double f64, real; // Frobenius-relative errors against the program in doubles
} Outcome;

static char *read_file(const char *name) {
  char path[512];
  snprintf(path, sizeof path, "%s/schedules/%s", MIRAGE_TEST_DIR, name);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  char *text = calloc(1, 1 << 16);
  size_t size = fread(text, 1, (1 << 16) - 1, file);
  assert_true(size > 0 && feof(file));
  fclose(file);
  return text;
}

// Replaces every occurrence of `from` behind "@candidate(".
static char *change(const char *text, const char *from, const char *to) {
  char *out = calloc(1, 1 << 17);
  const char *start = strstr(text, "@candidate("), *rest = start;
  assert_non_null(start);
  memcpy(out, text, (size_t)(start - text));
  size_t used = (size_t)(start - text), changes = 0;
  for (const char *at; (at = strstr(rest, from)); rest = at + strlen(from), changes++) {
    memcpy(out + used, rest, (size_t)(at - rest));
    used += (size_t)(at - rest);
    memcpy(out + used, to, strlen(to));
    used += strlen(to);
  }
  assert_true(changes > 0);
  strcpy(out + used, rest);
  return out;
}

// The numbers that both graphs are given: normal, rounded to the inputs' type.
static double *draw(const MirageType *type, uint32_t input) {
  size_t n = (size_t)mirage_type_elements(type);
  double *data = malloc(n * sizeof *data);
  MirageRandom random;
  mirage_random_init(&random, 7, input);
  for (size_t i = 0; i < n; i++)
    data[i] = mirage_round_to(type->dtype, 0.5 * mirage_random_normal(&random));
  return data;
}

static double *evaluate(const MirageUGraph *graph, const MirageDomain *domain) {
  void *inputs[8] = {0};
  uint32_t count = mirage_ugraph_num_inputs(graph);
  assert_true(count <= 8);
  for (uint32_t i = 0; i < count; i++)
    inputs[i] = draw(mirage_ugraph_type(graph, mirage_ugraph_get_input(graph, i)), i);
  assert_int_equal(mirage_ugraph_num_outputs(graph), 1);
  const MirageType *type = mirage_ugraph_type(graph, mirage_ugraph_get_output(graph, 0));
  double *output = malloc((size_t)mirage_type_elements(type) * sizeof *output);
  Capture capture = {0};
  const MirageDiag diag = {capture_emit, &capture};
  assert_int_equal(mirage_eval(graph, domain, (const void *const *)inputs, (void *[]){output}, NULL, &diag), MIRAGE_OK);
  for (uint32_t i = 0; i < count; i++)
    free(inputs[i]);
  return output;
}

static MirageUGraph *import(MlirOperation op) {
  Capture capture = {0};
  const MirageDiag diag = {capture_emit, &capture};
  MirageUGraph *graph = NULL;
  assert_int_equal(mirage_bridge_import(op, &diag, &graph), MIRAGE_OK);
  return graph;
}

static Outcome compare(void **state, const char *text) {
  MlirModule module = mlirModuleCreateParse((MlirContext){*state}, mlirStringRefCreateFromCString(text));
  assert_false(mlirModuleIsNull(module));
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  MirageUGraph *program = import(op), *candidate = import(mlirOperationGetNextInBlock(op));
  assert_string_equal(mirage_ugraph_get_meta(candidate)->source, mirage_ugraph_get_meta(program)->name);
  double *exact = evaluate(program, mirage_domain_f64());
  double *f64 = evaluate(candidate, mirage_domain_f64()), *real = evaluate(candidate, mirage_domain_real());
  size_t n = (size_t)mirage_type_elements(mirage_ugraph_type(program, mirage_ugraph_get_output(program, 0)));
  Outcome outcome;
  double largest;
  mirage_compare(f64, exact, n, &outcome.f64, &largest);
  mirage_compare(real, exact, n, &outcome.real, &largest);
  free(exact), free(f64), free(real);
  mirage_ugraph_destroy(program);
  mirage_ugraph_destroy(candidate);
  mlirModuleDestroy(module);
  return outcome;
}

static void schedules_compute_their_programs(void **state) {
  for (size_t i = 0; i < sizeof SCHEDULES / sizeof *SCHEDULES; i++) {
    char *text = read_file(SCHEDULES[i].file);
    Outcome outcome = compare(state, text);
    print_message("%s: error %.1e in doubles, %.1e in real types\n", SCHEDULES[i].file, outcome.f64, outcome.real);
    assert_true(outcome.f64 < 1e-12);
    assert_true(outcome.real > 1e-5 && outcome.real < 1e-3); // f16 outputs are rounded
    free(text);
  }
}

static void wrong_schedules_do_not(void **state) {
  for (size_t i = 0; i < sizeof SCHEDULES / sizeof *SCHEDULES; i++) {
    char *text = read_file(SCHEDULES[i].file), *wrong = change(text, SCHEDULES[i].right, SCHEDULES[i].wrong);
    Outcome outcome = compare(state, wrong);
    print_message("%s with%sfor%s: error %.1e in doubles\n", SCHEDULES[i].file, SCHEDULES[i].wrong, SCHEDULES[i].right,
                  outcome.f64);
    assert_true(outcome.f64 > 1e-2);
    free(text), free(wrong);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(schedules_compute_their_programs, mlir_context_set_up, mlir_context_tear_down),
      cmocka_unit_test_setup_teardown(wrong_schedules_do_not, mlir_context_set_up, mlir_context_tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
