// test_cone.c - the number of calls that an output's element depends on, against counting them one by one.
//
// mirage_eval runs each graph over a number domain of its own, in which an element is the set of calls of random
// functions that it was made of. What lib/verify computes from shapes alone may not be less for any element.
#include "../verify-pairs/emit.h"
#include "../verify-pairs/generate.h"
#include "../verify-stats/instances.h"
#include "block_graphs.h"
#include "mirage/eval.h"
#include "verify/verify_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// ---------------------------------------------------------------------------------------------- a domain of dependences

typedef struct Set {
  uint32_t *calls, count, shift; // shift: of a maximum m, the call F(m); else 0
} Set;

typedef struct Trace {
  MirageDomain domain; // first
  Set *sets;           // elements are indices into these; 0 is the empty set
  uint32_t num_sets, capacity, num_calls;
  uint32_t *stamps, *members, num_stamps, stamp, num_members; // of the union being made
} Trace;

static Trace *trace_of(const MirageDomain *self) { return (Trace *)(uintptr_t)self; }

static void begin_union(Trace *t) {
  t->stamp++;
  t->num_members = 0;
}

static void put_call(Trace *t, uint32_t call) {
  if (call >= t->num_stamps) {
    uint32_t grown = 2 * call + 64;
    t->stamps = realloc(t->stamps, grown * sizeof *t->stamps);
    t->members = realloc(t->members, grown * sizeof *t->members);
    memset(t->stamps + t->num_stamps, 0, (grown - t->num_stamps) * sizeof *t->stamps);
    t->num_stamps = grown;
  }
  if (t->stamps[call] == t->stamp)
    return;
  t->stamps[call] = t->stamp;
  t->members[t->num_members++] = call;
}

static void put_calls(Trace *t, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    put_call(t, ++t->num_calls);
}

static void put_set(Trace *t, uint32_t set) {
  for (uint32_t i = 0; i < t->sets[set].count; i++)
    put_call(t, t->sets[set].calls[i]);
}

static uint32_t end_union(Trace *t, bool maximum) {
  if (!t->num_members)
    return 0;
  if (t->num_sets == t->capacity)
    t->sets = realloc(t->sets, (t->capacity = 2 * t->capacity + 64) * sizeof *t->sets);
  Set *set = &t->sets[t->num_sets];
  *set = (Set){malloc(t->num_members * sizeof *set->calls), t->num_members, maximum ? ++t->num_calls : 0};
  memcpy(set->calls, t->members, t->num_members * sizeof *set->calls);
  return t->num_sets++;
}

// The calls of an operator on one element: those of its expansion.
static uint32_t calls_of(MirageOp op, bool *maximum) {
  uint32_t calls = 0;
  const MirageExpansion *expansion = mirage_op_expansion(op);
  if (op == MIRAGE_OP_EXP || op == MIRAGE_OP_LOG || op == MIRAGE_OP_SQRT || op == MIRAGE_OP_ERF || op == MIRAGE_OP_TANH)
    return 1;
  if (op == MIRAGE_OP_MAX) {
    *maximum = true;
    return 2;
  }
  for (uint32_t i = 0; expansion && i < expansion->num_steps; i++)
    calls += calls_of(expansion->steps[i].op, maximum);
  return calls;
}

static MirageStatus trace_binary(const MirageDomain *self, MirageOp op, const MirageType *result, size_t n,
                                 const void *a, const void *b, void *out) {
  Trace *t = trace_of(self);
  for (size_t i = 0; i < n; i++) {
    bool maximum = false;
    uint32_t x = ((const uint32_t *)a)[i], y = b ? ((const uint32_t *)b)[i] : 0;
    begin_union(t);
    put_set(t, x);
    put_set(t, y);
    put_calls(t, calls_of(op, &maximum));
    if (op == MIRAGE_OP_SUB && t->sets[y].shift)
      put_call(t, t->sets[y].shift);
    ((uint32_t *)out)[i] = end_union(t, maximum && op == MIRAGE_OP_MAX);
  }
  return MIRAGE_OK;
}

static MirageStatus trace_unary(const MirageDomain *self, MirageOp op, const MirageType *result, size_t n,
                                const void *a, void *out) {
  return trace_binary(self, op, result, n, a, NULL, out);
}

static MirageStatus trace_matmul(const MirageDomain *self, const MirageType *result, size_t m, size_t n, size_t k,
                                 const void *a, const void *b, const void *c, void *out) {
  Trace *t = trace_of(self);
  uint32_t *made = malloc(m * n * sizeof *made);
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++) {
      begin_union(t);
      for (size_t l = 0; l < k; l++) {
        put_set(t, ((const uint32_t *)a)[i * k + l]);
        put_set(t, ((const uint32_t *)b)[l * n + j]);
      }
      if (c)
        put_set(t, ((const uint32_t *)c)[i * n + j]);
      made[i * n + j] = end_union(t, false);
    }
  memcpy(out, made, m * n * sizeof *made);
  free(made);
  return MIRAGE_OK;
}

static MirageStatus trace_reduce(const MirageDomain *self, MirageOp op, const MirageType *result, size_t outer,
                                 size_t n, size_t inner, const void *a, void *out) {
  Trace *t = trace_of(self);
  bool maximum = op == MIRAGE_OP_REDUCE_MAX && result->dtype != MIRAGE_I1; // of predicates: whether any holds
  for (size_t o = 0; o < outer; o++)
    for (size_t i = 0; i < inner; i++) {
      begin_union(t);
      for (size_t j = 0; j < n; j++)
        put_set(t, ((const uint32_t *)a)[(o * n + j) * inner + i]);
      put_calls(t, maximum ? (uint32_t)n : 0);
      ((uint32_t *)out)[o * inner + i] = end_union(t, maximum);
    }
  return MIRAGE_OK;
}

static MirageStatus trace_constant(const MirageDomain *self, const MirageType *result, size_t n, double value,
                                   void *out) {
  memset(out, 0, n * sizeof(uint32_t));
  return MIRAGE_OK;
}

static MirageStatus trace_bottom(const MirageDomain *self, size_t n, void *out) {
  memset(out, 0, n * sizeof(uint32_t));
  return MIRAGE_OK;
}

static MirageStatus trace_cast(const MirageDomain *self, const MirageType *result, size_t n, const void *a, void *out) {
  if (out != a)
    memmove(out, a, n * sizeof(uint32_t));
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------------- counting

static size_t elements_of(const MirageUGraph *g, MirageValue v) {
  return (size_t)mirage_type_elements(mirage_ugraph_type(g, v));
}

// The most calls that an element of an output depends on; -1 where blocks store one thing twice, each its own.
static long count_one_by_one(const MirageUGraph *g) {
  Trace t = {.domain = {.name = "trace",
                        .element_bytes = sizeof(uint32_t),
                        .unary = trace_unary,
                        .binary = trace_binary,
                        .matmul = trace_matmul,
                        .reduce = trace_reduce,
                        .constant = trace_constant,
                        .bottom = trace_bottom,
                        .cast = trace_cast}};
  uint32_t *inputs[16] = {NULL}, *outputs[8] = {NULL};
  long most = 0;
  t.sets = calloc(t.capacity = 64, sizeof *t.sets);
  t.num_sets = 1;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(g); i++)
    inputs[i] = calloc(elements_of(g, mirage_ugraph_get_input(g, i)), sizeof **inputs);
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(g); i++)
    outputs[i] = calloc(elements_of(g, mirage_ugraph_get_output(g, i)), sizeof **outputs);
  if (mirage_eval(g, &t.domain, (const void *const *)inputs, (void *const *)outputs, NULL, NULL) != MIRAGE_OK)
    most = -1;
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(g); i++) {
    for (size_t e = 0, n = elements_of(g, mirage_ugraph_get_output(g, i)); e < n && most >= 0; e++)
      most = t.sets[outputs[i][e]].count > most ? (long)t.sets[outputs[i][e]].count : most;
    free(outputs[i]);
  }
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(g); i++)
    free(inputs[i]);
  for (uint32_t i = 1; i < t.num_sets; i++)
    free(t.sets[i].calls);
  free(t.sets);
  free(t.stamps);
  free(t.members);
  return most;
}

static double calls_by_bound(const MirageUGraph *g) {
  VerifyBound bound;
  assert_int_equal(mirage__verify_bound(g, g, NULL, true, &bound), MIRAGE_OK);
  return bound.calls / 2; // both graphs together
}

static void check(const char *name, const MirageUGraph *graph, double *worst, uint32_t *compared) {
  MirageUGraph *g = NULL;
  assert_int_equal(mirage_ugraph_expand(graph, NULL, &g), MIRAGE_OK);
  long exact = count_one_by_one(g);
  double bound = calls_by_bound(g);
  if (exact >= 0 && bound < (double)exact)
    fail_msg("%s: %ld calls counted, %g by the bound", name, exact, bound);
  if (exact > 0) {
    (*compared)++;
    *worst = bound / (double)exact > *worst ? bound / (double)exact : *worst;
  }
  mirage_ugraph_destroy(g);
}

// ---------------------------------------------------------------------------------------------------------------- tests

// Programs of the benchmark set, hand-written µGraphs and what the search finds, with ragged tails and without.
static void test_benchmarks(void **state) {
  InstanceSet *sets;
  uint32_t compared = 0, count = instances_create(5, 6, true, &sets);
  double worst = 1;
  assert_true(count > 0);
  for (uint32_t s = 0; s < count; s++)
    for (uint32_t i = 0; i < sets[s].count; i++) {
      check(sets[s].name, sets[s].data[i].program, &worst, &compared);
      check(sets[s].name, sets[s].data[i].candidate, &worst, &compared);
    }
  instances_free(sets, count);
  print_message("%u graphs with calls, the bound at most %.2f times what they are\n", compared, worst);
  assert_true(compared > 50);
  assert_true(worst < 4);
}

// Random programs of every kind: reshapes, slices, concatenations, kernels in several passes, loops, collectives.
static void test_random_programs(void **state) {
  static Pair pair;
  uint32_t compared = 0;
  double worst = 1;
  for (uint64_t number = 0; number < 600; number++) {
    uint64_t attempt = 0;
    generate_pair(23, number, &attempt, &pair);
    const Program *programs[2] = {&pair.source, &pair.target};
    for (int i = 0; i < 2; i++) {
      char reason[160], name[32];
      snprintf(name, sizeof name, "pair %d, %s", (int)number, i ? "target" : "source");
      MirageUGraph *g = work_of(programs[i]) < 3e4 ? emit_graph(programs[i], "g", MIRAGE_F32, reason) : NULL;
      if (g)
        check(name, g, &worst, &compared);
      mirage_ugraph_destroy(g);
    }
  }
  print_message("%u graphs with calls, the bound at most %.2f times what they are\n", compared, worst);
  assert_true(compared > 200);
}

// What an iteration reads of a carry is what the one before yielded: the sum of carry 1, which takes on carry 2, which
// takes on an exponential, with the first two of four iterations left.
static void test_carries_of_carries(void **state) {
  const MirageType x_type = mirage_type_tensor(MIRAGE_F32, 2, (int64_t[]){4, 8}),
                   y_type = mirage_type_tensor(MIRAGE_F32, 2, (int64_t[]){1, 8}),
                   tile = mirage_type_tile(MIRAGE_F32, 2, (int64_t[]){1, 8});
  const MirageCustomAttrs custom = {.grid = {1, 1, 1}, .cluster = {1, 1, 1}};
  const MirageCarry carries[] = {{MIRAGE_COMBINE_SUM, 0}, {MIRAGE_COMBINE_ASSIGN, 0}, {MIRAGE_COMBINE_ASSIGN, 0}};
  const MirageLoopAttrs loop = {.range = 4, .num_carries = 3, .carries = carries};
  MirageAccessAttrs rows = {.grid = {-1, -1, -1}, .loop = {0, -1, -1, -1}},
                    whole = {.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}};
  MirageUGraph *g = mirage_ugraph_create(NULL, "carries", NULL);
  MirageValue x = mirage_ugraph_input(g, x_type);
  MirageNode kernel = mirage_ugraph_open_custom(g, 1, &x, 1, &y_type, &custom);
  MirageValue zero = mirage_ugraph_constant(g, tile, 0.0);
  MirageNode node = mirage_ugraph_open_loop(g, 3, (MirageValue[]){zero, zero, zero}, &loop);
  MirageValue xt = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 0), &rows);
  MirageValue e = mirage_ugraph_apply(g, MIRAGE_OP_EXP, 1, &xt, NULL);
  mirage_ugraph_close(g, 3, (MirageValue[]){mirage_ugraph_argument(g, node, 1), mirage_ugraph_argument(g, node, 2), e});
  mirage_ugraph_store(g, mirage_ugraph_result(g, node, 0), mirage_ugraph_argument(g, kernel, 1), &whole);
  mirage_ugraph_close(g, 0, NULL);
  MirageValue y = mirage_ugraph_result(g, kernel, 0);
  mirage_ugraph_return(g, 1, &y);
  assert_int_equal(mirage_ugraph_finish(g), MIRAGE_OK);
  assert_int_equal(count_one_by_one(g), 2);
  assert_true(calls_by_bound(g) == 4); // which iterations, is not followed
  mirage_ugraph_destroy(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_benchmarks), cmocka_unit_test(test_carries_of_carries),
                                     cmocka_unit_test(test_random_programs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
