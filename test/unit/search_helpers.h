// search_helpers.h - programs and checks that the tests of the search share.
#ifndef MIRAGE_TEST_SEARCH_HELPERS_H
#define MIRAGE_TEST_SEARCH_HELPERS_H

#include "mirage/cost.h"
#include "mirage/eval.h"
#include "mirage/random.h"
#include "mirage/search.h"
#include "mirage/verify.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char last_message[256];

static inline void remember(void *user, MirageSeverity severity, const void *loc, const char *message) {
  snprintf(last_message, sizeof last_message, "%s", message);
}
static const MirageDiag diag = {remember, NULL};

// Whether the search did no more than so many steps: tensors tried and schedules costed. The count is the same on any
// machine and at any number of threads; how long they take is for test/bench/search.
static inline bool took_less(const MirageFunnel *funnel, uint64_t steps) {
  return funnel->states + funnel->scheduled < steps;
}

// -------------------------------------------------------------------------------------------- programs

typedef MirageValue Value;

static inline MirageUGraph *begin(const char *name) { return mirage_ugraph_create(NULL, name, &diag); }

static inline Value input(MirageUGraph *g, uint32_t rank, const int64_t *shape) {
  return mirage_ugraph_input(g, mirage_type_tensor(MIRAGE_F16, rank, shape));
}
static inline Value matrix(MirageUGraph *g, int64_t rows, int64_t columns) {
  return input(g, 2, (int64_t[]){rows, columns});
}

static inline Value unary(MirageUGraph *g, MirageOp op, Value a) { return mirage_ugraph_apply(g, op, 1, &a, NULL); }
static inline Value binary(MirageUGraph *g, MirageOp op, Value a, Value b) {
  return mirage_ugraph_apply(g, op, 2, (Value[]){a, b}, NULL);
}
static inline Value matmul(MirageUGraph *g, Value a, Value b) {
  return mirage_ugraph_apply(g, MIRAGE_OP_MATMUL, 2, (Value[]){a, b}, &(MirageAttrs){0});
}

static inline MirageUGraph *end_with(MirageUGraph *g, uint32_t count, const Value *results) {
  mirage_ugraph_return(g, count, results);
  if (mirage_ugraph_finish(g) != MIRAGE_OK)
    fail_msg("%s", last_message);
  return g;
}

static inline MirageUGraph *end(MirageUGraph *g, Value result) { return end_with(g, 1, &result); }

static inline MirageUGraph *rmsnorm_linear(int64_t m, int64_t k, int64_t n) {
  MirageUGraph *g = begin("rmsnorm_linear");
  Value x = matrix(g, m, k), gain = input(g, 1, &k), w = matrix(g, k, n);
  Value norm = mirage_ugraph_apply(g, MIRAGE_OP_RMS_NORM, 2, (Value[]){x, gain}, &(MirageAttrs){.eps = {0.0}});
  return end(g, matmul(g, norm, w));
}

static inline MirageUGraph *gated_mlp(int64_t m, int64_t k, int64_t n) {
  MirageUGraph *g = begin("gated_mlp");
  Value x = matrix(g, m, k), w1 = matrix(g, k, n), w3 = matrix(g, k, n);
  return end(g, binary(g, MIRAGE_OP_MUL, unary(g, MIRAGE_OP_SILU, matmul(g, x, w1)), matmul(g, x, w3)));
}

static inline MirageUGraph *lora(int64_t m, int64_t k, int64_t r, int64_t n) {
  MirageUGraph *g = begin("lora");
  Value x = matrix(g, m, k), w = matrix(g, k, n), a = matrix(g, k, r), b = matrix(g, r, n);
  return end(g, binary(g, MIRAGE_OP_ADD, matmul(g, x, w), matmul(g, matmul(g, x, a), b)));
}

static inline MirageUGraph *linear(int64_t m, int64_t k, int64_t n) {
  MirageUGraph *g = begin("linear");
  Value x = matrix(g, m, k), w = matrix(g, k, n);
  return end(g, matmul(g, x, w));
}

static inline MirageUGraph *exp_linear(int64_t m, int64_t k, int64_t n) {
  MirageUGraph *g = begin("exp_linear");
  Value x = matrix(g, m, k), w = matrix(g, k, n);
  return end(g, matmul(g, unary(g, MIRAGE_OP_EXP, x), w));
}

// (exp(x) exp(v)) summed along rows: a tail of zeros would be counted.
static inline MirageUGraph *sum_of_exp(int64_t m, int64_t n) {
  MirageUGraph *g = begin("sum_of_exp");
  Value x = matrix(g, m, n), v = matrix(g, 1, n);
  Value e = binary(g, MIRAGE_OP_MUL, unary(g, MIRAGE_OP_EXP, x), unary(g, MIRAGE_OP_EXP, v));
  return end(g, mirage_ugraph_apply(g, MIRAGE_OP_REDUCE_SUM, 1, &e, &(MirageAttrs){.reduce = {.dim = 1, .extent = 1}}));
}

// softmax(q @ k) @ v without a maximum, as [Mirage] benchmarks it.
static inline MirageUGraph *attention(int64_t heads, int64_t rows, int64_t depth, int64_t keys) {
  MirageUGraph *g = begin("attention");
  Value q = input(g, 3, (int64_t[]){heads, rows, depth}), k = input(g, 3, (int64_t[]){heads, depth, keys});
  Value v = input(g, 3, (int64_t[]){heads, keys, depth}), e = unary(g, MIRAGE_OP_EXP, matmul(g, q, k));
  Value sum = mirage_ugraph_apply(g, MIRAGE_OP_REDUCE_SUM, 1, &e, &(MirageAttrs){.reduce = {.dim = 2, .extent = 1}});
  return end(g, matmul(g, binary(g, MIRAGE_OP_DIV, e, sum), v));
}

static inline MirageUGraph *softmax(int64_t m, int64_t n) {
  MirageUGraph *g = begin("softmax");
  Value x = matrix(g, m, n);
  return end(g, mirage_ugraph_apply(g, MIRAGE_OP_SOFTMAX, 1, &x, &(MirageAttrs){.dim = {1}}));
}

static inline MirageUGraph *transposed_linear(int64_t m, int64_t k, int64_t n) {
  MirageUGraph *g = begin("transposed_linear");
  Value x = matrix(g, m, k), w = matrix(g, n, k);
  MirageAttrs attrs = {.matmul = {.transpose_b = true}};
  return end(g, mirage_ugraph_apply(g, MIRAGE_OP_MATMUL, 2, (Value[]){x, w}, &attrs));
}

static inline MirageUGraph *sdpa(int64_t heads, int64_t rows, int64_t depth, int64_t keys) {
  MirageUGraph *g = begin("sdpa");
  Value q = input(g, 3, (int64_t[]){heads, rows, depth}), k = input(g, 3, (int64_t[]){heads, keys, depth});
  Value v = input(g, 3, (int64_t[]){heads, keys, depth});
  return end(g,
             mirage_ugraph_apply(g, MIRAGE_OP_SDPA, 3, (Value[]){q, k, v}, &(MirageAttrs){.sdpa = {.scale = 0.125}}));
}

// -------------------------------------------------------------------------------------------- checking

static inline MirageSearchOptions defaults(void) {
  return (MirageSearchOptions){.seed = 1, .num_threads = 2, .target = mirage_target_find("h200")};
}

static inline MirageSearchResult search(const MirageUGraph *program, const MirageSearchOptions *options) {
  MirageSearchResult result;
  last_message[0] = '\0';
  if (mirage_search(program, options, &diag, &result) != MIRAGE_OK)
    fail_msg("search failed: %s", last_message);
  assert_int_equal(result.num_candidates, result.funnel.candidates);
  return result;
}

static inline void append(char *text, size_t size, const char *format, ...) {
  size_t used = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + used, size - used, format, arguments);
  va_end(arguments);
}

/// Appends one line of text per node, enough to tell candidates apart.
static inline void describe(const MirageUGraph *graph, MirageRegion region, char *text, size_t size) {
  MirageRegionView view = mirage_ugraph_region(graph, region);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, view.nodes[i]);
    char type[64] = "";
    if (node.num_results)
      mirage_type_format(mirage_ugraph_type(graph, node.first_result), type, sizeof type);
    append(text, size, "%s %s", mirage_op_info(node.op)->mnemonic, type);
    for (uint32_t j = 0; j < node.num_operands; j++)
      append(text, size, " %u", node.operands[j].index);
    if (node.op == MIRAGE_OP_CONSTANT)
      append(text, size, " %g", node.attrs->constant.value);
    append(text, size, ";");
    if (node.region.index)
      describe(graph, node.region, text, size);
  }
}

// Nodes of one operator directly in a region.
static inline uint32_t count_in(const MirageUGraph *graph, MirageRegion region, MirageOp op) {
  MirageRegionView view = mirage_ugraph_region(graph, region);
  uint32_t count = 0;
  for (uint32_t i = 0; i < view.num_nodes; i++)
    count += mirage_ugraph_node(graph, view.nodes[i]).op == op;
  return count;
}

static inline MirageNodeView only_custom(const MirageUGraph *graph) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  assert_int_equal(body.num_nodes, 2); // custom, return
  MirageNodeView custom = mirage_ugraph_node(graph, body.nodes[0]);
  assert_int_equal(custom.op, MIRAGE_OP_CUSTOM);
  return custom;
}

/// How a candidate is built: operators inside and outside its loop.
typedef struct Shape {
  uint32_t accumulators, matmuls_inside, matmuls_outside, loads_inside, loads_outside, divisions_inside,
      divisions_outside;
} Shape;

static inline Shape shape_of(const MirageUGraph *graph) {
  MirageNodeView custom = only_custom(graph);
  MirageRegionView block = mirage_ugraph_region(graph, custom.region);
  Shape shape = {.matmuls_outside = count_in(graph, custom.region, MIRAGE_OP_MATMUL),
                 .loads_outside = count_in(graph, custom.region, MIRAGE_OP_LOAD),
                 .divisions_outside = count_in(graph, custom.region, MIRAGE_OP_DIV)};
  for (uint32_t i = 0; i < block.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, block.nodes[i]);
    if (node.op != MIRAGE_OP_LOOP)
      continue;
    shape.accumulators = node.num_results;
    shape.matmuls_inside = count_in(graph, node.region, MIRAGE_OP_MATMUL);
    shape.loads_inside = count_in(graph, node.region, MIRAGE_OP_LOAD);
    shape.divisions_inside = count_in(graph, node.region, MIRAGE_OP_DIV);
  }
  return shape;
}

static inline double program_cost(const MirageUGraph *program, const MirageTarget *target) {
  MirageUGraph *expanded = NULL;
  MirageCost cost;
  assert_int_equal(mirage_ugraph_expand(program, &diag, &expanded), MIRAGE_OK);
  assert_int_equal(mirage_cost(expanded, target, &diag, &cost), MIRAGE_OK);
  mirage_ugraph_destroy(expanded);
  return cost.time_us;
}

static inline double *draw(const MirageType *type, uint64_t stream) {
  size_t n = (size_t)mirage_type_elements(type);
  double *data = malloc(n * sizeof *data);
  MirageRandom random;
  mirage_random_init(&random, 7, stream);
  for (size_t i = 0; i < n; i++)
    data[i] = 0.5 * mirage_random_normal(&random);
  return data;
}

static inline void **make_outputs(const MirageUGraph *graph) {
  void **outputs = calloc(mirage_ugraph_num_outputs(graph), sizeof *outputs);
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(graph); i++)
    outputs[i] = calloc((size_t)mirage_type_elements(mirage_ugraph_type(graph, mirage_ugraph_get_output(graph, i))),
                        sizeof(double));
  return outputs;
}

static inline void free_all(void **arrays, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    free(arrays[i]);
}

// Largest relative difference of the candidate's results from the program's, in float64.
static inline double difference(const MirageUGraph *program, const MirageUGraph *candidate) {
  void *inputs[64], **expected = make_outputs(program), **actual = make_outputs(program);
  uint32_t num_inputs = mirage_ugraph_num_inputs(program), num_outputs = mirage_ugraph_num_outputs(program);
  double worst = 0;
  for (uint32_t i = 0; i < num_inputs; i++)
    inputs[i] = draw(mirage_ugraph_type(program, mirage_ugraph_get_input(program, i)), i);
  MirageEvalOptions options = {0};
  const void *const *given = (const void *const *)inputs;
  MirageUGraph *expanded = NULL;
  assert_int_equal(mirage_ugraph_expand(program, &diag, &expanded), MIRAGE_OK);
  assert_int_equal(mirage_ugraph_num_outputs(candidate), num_outputs);
  MirageStatus first = mirage_eval(expanded, mirage_domain_f64(), given, expected, &options, &diag);
  MirageStatus second = mirage_eval(candidate, mirage_domain_f64(), given, actual, &options, &diag);
  if (first != MIRAGE_OK || second != MIRAGE_OK)
    fail_msg("evaluation failed: %s", last_message);
  for (uint32_t i = 0; i < num_outputs; i++) {
    double relative, largest;
    size_t n = (size_t)mirage_type_elements(mirage_ugraph_type(program, mirage_ugraph_get_output(program, i)));
    mirage_compare(actual[i], expected[i], n, &relative, &largest);
    worst = relative > worst || isnan(relative) ? relative : worst;
  }
  free_all(inputs, num_inputs);
  free_all(expected, num_outputs);
  free_all(actual, num_outputs);
  free(expected);
  free(actual);
  mirage_ugraph_destroy(expanded);
  return worst;
}

// Every candidate computes the program.
static inline void check_all(MirageUGraph *program, const MirageSearchOptions *options, uint32_t at_least) {
  MirageSearchResult result = search(program, options);
  if (result.num_candidates < at_least)
    fail_msg("%s: %u candidates", mirage_ugraph_get_meta(program)->name, result.num_candidates);
  for (uint32_t i = 0; i < result.num_candidates; i++) {
    double relative = difference(program, result.candidates[i]);
    if (!(relative < 1e-10))
      fail_msg("%s: relative error %g", mirage_ugraph_get_meta(result.candidates[i])->name, relative);
  }
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

enum { CANDIDATE_TEXT = 16384 };

/// The candidates as texts of CANDIDATE_TEXT bytes each; the caller's.
static inline char *describe_candidates(const MirageSearchResult *result) {
  char *text = calloc((size_t)result->num_candidates + 1, CANDIDATE_TEXT);
  for (uint32_t i = 0; i < result->num_candidates; i++) {
    char *at = text + (size_t)i * CANDIDATE_TEXT;
    const MirageGraphMeta *meta = mirage_ugraph_get_meta(result->candidates[i]);
    append(at, CANDIDATE_TEXT, "%s %a: ", meta->name, meta->cost.time_us);
    describe(result->candidates[i], mirage_ugraph_body(result->candidates[i]), at, CANDIDATE_TEXT);
    assert_true(strlen(at) + 1 < CANDIDATE_TEXT); // nothing is cut off
  }
  return text;
}

/// The same candidates in the same order, and the same funnel except for the time it took.
static inline void assert_same_result(const MirageSearchResult *a, const MirageSearchResult *b) {
  const MirageFunnel *x = &a->funnel, *y = &b->funnel;
  assert_int_equal(x->states, y->states);
  assert_int_equal(x->cut_expr, y->cut_expr);
  assert_int_equal(x->cut_axis, y->cut_axis);
  assert_int_equal(x->cut_order, y->cut_order);
  assert_int_equal(x->cut_merge, y->cut_merge);
  assert_int_equal(x->cut_memory, y->cut_memory);
  assert_int_equal(x->structures, y->structures);
  assert_int_equal(x->scheduled, y->scheduled);
  assert_int_equal(x->candidates, y->candidates);
  assert_int_equal(x->exhausted, y->exhausted);
  assert_int_equal(x->whole_exhausted, y->whole_exhausted);
  assert_int_equal(x->stop, y->stop);
  assert_string_equal(a->reason, b->reason);
  assert_int_equal(a->num_candidates, b->num_candidates);
  char *first = describe_candidates(a), *second = describe_candidates(b);
  assert_memory_equal(first, second, (size_t)a->num_candidates * CANDIDATE_TEXT);
  free(first);
  free(second);
}

static inline void assert_equivalent(const MirageUGraph *program, const MirageUGraph *candidate) {
  MirageVerifyOptions options = {.seed = 3, .max_work = 1000000};
  MirageVerdict verdict;
  assert_int_equal(mirage_verify(program, candidate, &options, &diag, &verdict), MIRAGE_OK);
  if (verdict.kind != MIRAGE_VERDICT_EQUIVALENT)
    fail_msg("%s is not proven equal: %s", mirage_ugraph_get_meta(candidate)->name, verdict.reason);
}

#endif
