// test_judge.c - the judge's evaluators against values worked out by hand, and its verdicts on pairs that are known.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "generate.h"
#include "judge.h"

enum { ROOM = 64 };

static void take_output(Program *p, int value) {
  p->outputs[p->num_outputs++] = value;
  assert_true(infer(p, MAX_TENSOR));
}

static void expect(const Program *p, int count, const double *const *inputs, int n, const double *wanted) {
  double values[ROOM];
  long double wide[ROOM], wide_inputs[4][ROOM];
  double *outputs[] = {values};
  long double *wide_outputs[] = {wide};
  const long double *wide_in[4];
  for (int i = 0; i < count; i++) {
    int64_t size = elements(&p->instr[i].shape);
    for (int64_t k = 0; k < size; k++)
      wide_inputs[i][k] = inputs[i][k];
    wide_in[i] = wide_inputs[i];
  }
  assert_int_equal(elements(&p->instr[p->outputs[0]].shape), n);
  assert_int_equal(evaluate_double(p, 0, inputs, outputs, NULL), EVALUATED);
  assert_int_equal(evaluate_long(p, 0, wide_in, wide_outputs, NULL), EVALUATED);
  for (int i = 0; i < n; i++) {
    if (fabs(values[i] - wanted[i]) > 1e-12 || fabsl(wide[i] - (long double)wanted[i]) > 1e-12L)
      fail_msg("element %d: %.17g and %.17Lg, %.17g wanted", i, values[i], wide[i], wanted[i]);
  }
  if (!is_rational(p))
    return;
  uint64_t residues[ROOM], in[4][ROOM], *field_outputs[] = {residues};
  const uint64_t *field_in[4];
  for (int i = 0; i < count; i++) {
    for (int64_t k = 0, size = elements(&p->instr[i].shape); k < size; k++)
      in[i][k] = field_constant(inputs[i][k]);
    field_in[i] = in[i];
  }
  assert_int_equal(evaluate_field(p, 0, field_in, field_outputs, NULL), EVALUATED);
  for (int i = 0; i < n; i++)
    if (residues[i] != field_constant(wanted[i]))
      fail_msg("element %d: residue %lu, %lu wanted", i, (unsigned long)residues[i],
               (unsigned long)field_constant(wanted[i]));
}

static const double X[] = {1, 2, 3, 4, 5, 6}, W[] = {1, 0, 2, 1, 0, 3};

static Program two_inputs(void) { // x: [2, 3], w: [3, 2]
  Program p = {0};
  put_input(&p, shape_of(2, (int64_t[]){2, 3}));
  put_input(&p, shape_of(2, (int64_t[]){3, 2}));
  return p;
}

static void test_products(void **state) {
  (void)state;
  const double *inputs[] = {X, W};
  Program p = two_inputs();
  take_output(&p, put2(&p, OP_MATMUL, 0, 1));
  expect(&p, 2, inputs, 4, (const double[]){5, 11, 14, 23});
  p = two_inputs(); // x^T w^T: [3, 2] @ [2, 3]
  take_output(&p, put(&p, &(Instr){.op = OP_MATMUL, .num_args = 2, .args = {0, 1}, .ta = true, .tb = true}));
  expect(&p, 2, inputs, 9, (const double[]){1, 6, 12, 2, 9, 15, 3, 12, 18});
}

static void test_reductions(void **state) {
  (void)state;
  const double *inputs[] = {X, W};
  Program p = two_inputs();
  take_output(&p, put_reduce(&p, OP_SUM, 0, 0));
  expect(&p, 2, inputs, 3, (const double[]){5, 7, 9});
  p = two_inputs();
  take_output(&p, put_reduce(&p, OP_MEAN, 0, 1));
  expect(&p, 2, inputs, 2, (const double[]){2, 5});
  p = two_inputs();
  take_output(&p, put_reduce(&p, OP_TOP, 1, 0));
  expect(&p, 2, inputs, 2, (const double[]){2, 3});
  p = (Program){0}; // six in three pairs that are three apart: out[j] = sum over i of in[3 i + j]
  put_input(&p, shape_of(1, (int64_t[]){6}));
  int sum = put_reduce(&p, OP_SUM, 0, 0);
  p.instr[sum].extent = 3;
  take_output(&p, sum);
  expect(&p, 1, inputs, 3, (const double[]){5, 7, 9});
}

static void test_movement(void **state) {
  (void)state;
  const double *inputs[] = {X, W};
  Program p = two_inputs();
  take_output(&p, put_transpose(&p, 0, 0, 1));
  expect(&p, 2, inputs, 6, (const double[]){1, 4, 2, 5, 3, 6});
  p = two_inputs();
  take_output(&p, put_slice(&p, 0, 1, 1, 3));
  expect(&p, 2, inputs, 4, (const double[]){2, 3, 5, 6});
  p = two_inputs();
  take_output(&p, put_concat(&p, 0, put_slice(&p, 0, 1, 0, 1), 1));
  expect(&p, 2, inputs, 8, (const double[]){1, 2, 3, 1, 4, 5, 6, 4});
  p = two_inputs();
  take_output(&p, put(&p, &(Instr){.op = OP_REPEAT, .num_args = 1, .args = {0}, .dim = 1, .extent = 2}));
  expect(&p, 2, inputs, 12, (const double[]){1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  p = two_inputs();
  int column = put_slice(&p, 0, 1, 2, 3);
  take_output(&p, put_reshape(&p, OP_BROADCAST, column, shape_of(2, (int64_t[]){2, 2})));
  expect(&p, 2, inputs, 4, (const double[]){3, 3, 6, 6});
  p = two_inputs(); // 2 x 3 minus a column
  take_output(&p, put2(&p, OP_SUB, 0, put_slice(&p, 0, 1, 0, 1)));
  expect(&p, 2, inputs, 6, (const double[]){0, 1, 2, 0, 1, 2});
}

static void test_functions(void **state) {
  (void)state;
  static const struct {
    Op op;
    double at, wanted;
  } cases[] = {{OP_EXP, 1, 2.718281828459045},
               {OP_LOG, 2, 0.6931471805599453},
               {OP_SQRT, 2, 1.4142135623730951},
               {OP_RSQRT, 4, 0.5},
               {OP_SIGMOID, 0, 0.5},
               {OP_SILU, 1, 0.7310585786300049},
               {OP_GELU, 1, 0.8413447460685429},
               {OP_GELU_TANH, 1, 0.8411919906082768},
               {OP_ERF, 1, 0.8427007929497149},
               {OP_TANH, 1, 0.7615941559557649},
               {OP_RELU, -1, 0},
               {OP_NEG, 3, -3},
               {OP_SQUARE, 3, 9}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Program p = {0};
    put_input(&p, shape_of(1, (int64_t[]){1}));
    take_output(&p, put1(&p, cases[i].op, 0));
    expect(&p, 1, (const double *const[]){&cases[i].at}, 1, &cases[i].wanted);
  }
  Program p = {0};
  put_input(&p, shape_of(1, (int64_t[]){2}));
  take_output(&p, put(&p, &(Instr){.op = OP_SOFTMAX, .num_args = 1, .args = {0}, .dim = 0}));
  expect(&p, 1, (const double *const[]){(const double[]){0, 1}}, 2,
         (const double[]){0.2689414213699951, 0.7310585786300049});
  p = (Program){0}; // 3 and 4: the root of the mean of their squares is sqrt(12.5)
  put_input(&p, shape_of(1, (int64_t[]){2}));
  take_output(&p, put(&p, &(Instr){.op = OP_RMS_NORM, .num_args = 1, .args = {0}}));
  expect(&p, 1, (const double *const[]){(const double[]){3, 4}}, 2,
         (const double[]){0.848528137423857, 1.131370849898476});
}

// ------------------------------------------------------------------------------------------------------------- kernels

// y[parts, 1]: each block of x sums its tile of in[n], masked elements being `fill`.
static Program tile_sums(int64_t n, int64_t parts, int64_t range, Fill fill) {
  Program p = {0};
  put_input(&p, shape_of(1, &n));
  put(&p, &(Instr){.op = OP_KERNEL, .grid = {parts, 1, 1}, .cluster = {1, 1, 1}});
  int out = put(&p, &(Instr){.op = OP_OUTPUT, .shape = shape_of(1, &parts)});
  int zero = put_const(&p, shape_of(1, (int64_t[]){1}), 0);
  int loop = put(&p, &(Instr){.op = OP_LOOP, .num_args = 1, .args = {zero}, .extent = range});
  put(&p, &(Instr){.op = OP_CARRY, .num_args = 1, .args = {loop}});
  Instr load = {.op = OP_LOAD, .num_args = 1, .args = {0}, .at = whole()},
        store = {.op = OP_STORE, .num_args = 2, .at = whole()};
  load.at.grid[0] = load.at.loop[0] = store.at.grid[0] = 0;
  load.at.fill = fill;
  int sum = put_reduce(&p, OP_SUM, put(&p, &load), 0);
  put(&p, &(Instr){.op = OP_END_LOOP, .num_args = 1, .args = {sum}});
  store.args[0] = put(&p, &(Instr){.op = OP_LOOP_RESULT, .num_args = 1, .args = {loop}});
  store.args[1] = out;
  put(&p, &store);
  put(&p, &(Instr){.op = OP_END_KERNEL});
  take_output(&p, put(&p, &(Instr){.op = OP_KERNEL_RESULT, .num_args = 1, .args = {out}}));
  return p;
}

static void test_ragged_tiles(void **state) {
  (void)state;
  const double in[] = {1, 2, 3, 4, 5, 6, 7};
  const double *inputs[] = {in};
  Program p = tile_sums(6, 2, 3, FILL_ZERO); // 3 each
  expect(&p, 1, inputs, 2, (const double[]){6, 15});
  p = tile_sums(7, 2, 3,
                FILL_ZERO); // chunks of 4, tiles of 2: {1 2}{3 4}{} and {5 6}{7}{}; the third lies outside its chunk
  expect(&p, 1, inputs, 2, (const double[]){10, 18});
  p = tile_sums(7, 2, 3, FILL_ONE); // 2 masked in the first block; 1 and 2 in the second
  expect(&p, 1, inputs, 2, (const double[]){12, 21});
  p = tile_sums(5, 4, 1, FILL_ZERO); // chunks of 2: the last part is empty
  expect(&p, 1, inputs, 4, (const double[]){3, 7, 5, 0});
}

// Two parts of x[4] meet: y = sum or maximum of all, and every block stores all of it.
static void test_collectives(void **state) {
  (void)state;
  const double in[] = {1, 5, 2, 4};
  for (int top = 0; top < 2; top++) {
    Program p = {0};
    put_input(&p, shape_of(1, (int64_t[]){4}));
    put(&p, &(Instr){.op = OP_KERNEL, .grid = {1, 2, 1}, .cluster = {1, 2, 1}});
    int out = put(&p, &(Instr){.op = OP_OUTPUT, .shape = shape_of(1, (int64_t[]){2})});
    Instr load = {.op = OP_LOAD, .num_args = 1, .args = {0}, .at = whole()};
    load.at.grid[1] = 0;
    int tile = put(&p, &load);
    int all = put(&p, &(Instr){.op = top ? OP_GATHER_MAX : OP_GATHER_SUM,
                               .num_args = 1,
                               .args = {tile},
                               .axes = {false, true},
                               .in_cluster = true});
    put(&p, &(Instr){.op = OP_STORE, .num_args = 2, .args = {all, out}, .at = whole()});
    put(&p, &(Instr){.op = OP_END_KERNEL});
    take_output(&p, put(&p, &(Instr){.op = OP_KERNEL_RESULT, .num_args = 1, .args = {out}}));
    expect(&p, 1, (const double *const[]){in}, 2, top ? (const double[]){2, 5} : (const double[]){3, 9});
  }
}

// Carries: a maximum from bottom, a rescaled sum, a concatenation, the last. in[4] in four steps of one.
static void test_carries(void **state) {
  (void)state;
  const double in[] = {2, 1, 3, 5};
  static const double wanted[4][4] = {
      {5}, {41}, {2, 1, 3, 5}, {5}}; // 41: 10 / 16 doubled four times, and 2 * 8 + 1 * 4 + 3 * 2 + 5
  for (int kind = 0; kind < 4; kind++) {
    static const Combine combines[] = {COMBINE_MAX, COMBINE_RESCALE, COMBINE_CONCAT, COMBINE_ASSIGN};
    int64_t n = kind == 2 ? 4 : 1;
    Program p = {0};
    put_input(&p, shape_of(1, (int64_t[]){4}));
    put(&p, &(Instr){.op = OP_KERNEL, .grid = {1, 1, 1}, .cluster = {1, 1, 1}});
    int out = put(&p, &(Instr){.op = OP_OUTPUT, .shape = shape_of(1, &n)});
    int init = put(
        &p,
        &(Instr){.op = kind == 0 ? OP_BOTTOM : OP_CONST, .shape = shape_of(1, &n), .value = kind == 1 ? 10.0 / 16 : 0});
    int loop =
        put(&p, &(Instr){.op = OP_LOOP, .num_args = 1, .args = {init}, .extent = 4, .combine = {combines[kind]}});
    put(&p, &(Instr){.op = OP_CARRY, .num_args = 1, .args = {loop}});
    Instr load = {.op = OP_LOAD, .num_args = 1, .args = {0}, .at = whole()};
    load.at.loop[0] = 0;
    Instr yield = {.op = OP_END_LOOP, .num_args = 1 + (kind == 1), .args = {put(&p, &load)}};
    if (kind == 1)
      yield.args[1] = put_scalar(&p, 1, 2);
    put(&p, &yield);
    int result = put(&p, &(Instr){.op = OP_LOOP_RESULT, .num_args = 1, .args = {loop}});
    put(&p, &(Instr){.op = OP_STORE, .num_args = 2, .args = {result, out}, .at = whole()});
    put(&p, &(Instr){.op = OP_END_KERNEL});
    take_output(&p, put(&p, &(Instr){.op = OP_KERNEL_RESULT, .num_args = 1, .args = {out}}));
    expect(&p, 1, (const double *const[]){in}, (int)n, wanted[kind]);
  }
}

// A window of a tensor whose first two dimensions are seen exchanged.
static void test_windows(void **state) {
  (void)state;
  const double in[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}; // [2, 3, 2]
  Program p = {0};
  put_input(&p, shape_of(3, (int64_t[]){2, 3, 2}));
  put(&p, &(Instr){.op = OP_KERNEL, .grid = {2, 1, 1}, .cluster = {1, 1, 1}});
  int out = put(&p, &(Instr){.op = OP_OUTPUT, .shape = shape_of(3, (int64_t[]){2, 2, 1})});
  Instr load = {.op = OP_LOAD, .num_args = 1, .args = {0}, .at = whole()},
        store = {.op = OP_STORE, .num_args = 2, .at = whole()};
  load.at.reordered = true;
  load.at.order[0] = 1;
  load.at.order[1] = 0;
  load.at.begin[0] = 1; // of the middle dimension, 1 to 3
  load.at.end[0] = 3;
  load.at.begin[2] = 1;
  load.at.end[2] = 2;
  load.at.grid[0] = store.at.grid[0] = 0;
  store.args[0] = put(&p, &load);
  store.args[1] = out;
  put(&p, &store);
  put(&p, &(Instr){.op = OP_END_KERNEL});
  take_output(&p, put(&p, &(Instr){.op = OP_KERNEL_RESULT, .num_args = 1, .args = {out}}));
  expect(&p, 1, (const double *const[]){in}, 4, (const double[]){4, 10, 6, 12});
}

// Blocks that store different values in one place race; what nobody stores is missing.
static void test_stores(void **state) {
  (void)state;
  const double in[] = {1, 2};
  double values[ROOM], *outputs[] = {values};
  for (int kind = 0; kind < 2; kind++) {
    Program p = {0};
    put_input(&p, shape_of(1, (int64_t[]){2}));
    put(&p, &(Instr){.op = OP_KERNEL, .grid = {2, 1, 1}, .cluster = {1, 1, 1}});
    int out = put(&p, &(Instr){.op = OP_OUTPUT, .shape = shape_of(1, (int64_t[]){kind == 0 ? 1 : 4})});
    Instr load = {.op = OP_LOAD, .num_args = 1, .args = {0}, .at = whole()},
          store = {.op = OP_STORE, .num_args = 2, .at = whole()};
    load.at.grid[0] = 0;
    store.args[0] = put(&p, &load);
    store.args[1] = out;
    if (kind == 1) { // two of four
      store.at.grid[0] = 0;
      store.at.end[0] = 2;
    }
    put(&p, &store);
    put(&p, &(Instr){.op = OP_END_KERNEL});
    take_output(&p, put(&p, &(Instr){.op = OP_KERNEL_RESULT, .num_args = 1, .args = {out}}));
    assert_int_equal(evaluate_double(&p, 0, (const double *const[]){in}, outputs, NULL), kind == 0 ? RACE : NOT_STORED);
  }
}

// ------------------------------------------------------------------------------------------------------------ verdicts

static Program mean_like(int64_t n, Op op, double count) {
  Program p = {0};
  put_input(&p, shape_of(2, (int64_t[]){n, 3}));
  int value = put_reduce(&p, op, 0, 0);
  take_output(&p, count != 0 ? put2(&p, OP_DIV, value, put_scalar(&p, 0, count)) : value);
  return p;
}

static void test_verdicts(void **state) {
  (void)state;
  Program mean = mean_like(4096, OP_MEAN, 0), right = mean_like(4096, OP_SUM, 4096), wrong = mean_like(4096, OP_SUM, 3);
  assert_int_equal(judge_pair(&mean, &right, 1, 0).kind, JUDGED_SAME);
  assert_true(judge_pair(&mean, &right, 1, 0).exact);
  assert_int_equal(judge_pair(&mean, &wrong, 1, 0).kind, JUDGED_DIFFERENT);
  wrong = mean_like(4096, OP_SUM, 4097);
  assert_int_equal(judge_pair(&mean, &wrong, 1, 0).kind, JUDGED_DIFFERENT);
}

static void test_undefined(void **state) {
  (void)state;
  Program source = {0}, target = {0}, real = {0};
  put_input(&source, shape_of(1, (int64_t[]){3}));
  take_output(&source, put1(&source, OP_NEG, 0));
  put_input(&target, shape_of(1, (int64_t[]){3})); // -x + 0 / (x - x)
  int zero = put2(&target, OP_SUB, 0, 0);
  take_output(&target, put2(&target, OP_ADD, put1(&target, OP_NEG, 0), put2(&target, OP_DIV, zero, zero)));
  Finding found = judge_pair(&source, &target, 1, 0);
  assert_int_equal(found.kind, JUDGED_DIFFERENT);
  assert_string_equal(found.why, "undefined");
  assert_int_equal(judge_pair(&target, &source, 1, 0).kind, JUDGED_NO_SOURCE);
  Program shown = {0}, hidden = {0}; // max(x / 0, 2) has no value, though an infinity would be less than 2
  put_input(&shown, shape_of(1, (int64_t[]){3}));
  put_input(&hidden, shape_of(1, (int64_t[]){3}));
  int top = put2(&hidden, OP_DIV, 0, put_scalar(&hidden, 0, 0));
  take_output(&hidden, put2(&hidden, OP_MAX, top, put_scalar(&hidden, 0, 2)));
  take_output(&shown, put2(&shown, OP_MAX, 0, put_scalar(&shown, 0, 2)));
  assert_int_equal(judge_pair(&shown, &hidden, 1, 0).kind, JUDGED_DIFFERENT);
  put_input(&real, shape_of(1, (int64_t[]){3})); // the same beside a logarithm, where reals decide
  int log = put1(&real, OP_LOG, 0), none = put2(&real, OP_SUB, log, log);
  take_output(&real, put2(&real, OP_ADD, put1(&real, OP_NEG, 0), put2(&real, OP_DIV, none, none)));
  assert_int_equal(judge_pair(&source, &real, 1, 0).kind, JUDGED_DIFFERENT);
}

// Zero but for rounding is the same as zero; a thousandth of a millionth is not.
static void test_precision(void **state) {
  (void)state;
  Program zero = {0}, rounded = {0}, small = {0};
  Program *all[] = {&zero, &rounded, &small};
  for (int i = 0; i < 3; i++) {
    put_input(all[i], shape_of(1, (int64_t[]){1000}));
    int e = put1(all[i], OP_EXP, 0), mean = put_reduce(all[i], OP_MEAN, e, 0);
    int none = put_reduce(all[i], i == 1 ? OP_SUM : OP_TOP, put2(all[i], OP_SUB, e, i == 1 ? mean : e), 0);
    take_output(all[i], i < 2 ? none : put2(all[i], OP_ADD, none, put_scalar(all[i], 0, 0x1p-40)));
  }
  assert_int_equal(judge_pair(&rounded, &zero, 1, 0).kind, JUDGED_SAME);
  assert_int_equal(judge_pair(&zero, &rounded, 1, 0).kind, JUDGED_SAME);
  assert_int_equal(judge_pair(&zero, &small, 1, 0).kind, JUDGED_DIFFERENT);
}

// What rounding makes of a number that is formally zero may decide a value: log(p + r), e / (s + r). Quads tell.
static void test_lost_digits(void **state) {
  (void)state;
  if (!can_evaluate_quad())
    skip();
  Program all[6] = {{0}};
  for (int i = 0; i < 6; i++) {
    Program *p = &all[i];
    put_input(p, shape_of(2, (int64_t[]){8, 8}));
    int e = put1(p, OP_EXP, put2(p, OP_MUL, 0, put_scalar(p, 0, 8))), s = put_reduce(p, OP_SUM, e, 1);
    int mean = put_reduce(p, OP_MEAN, s, 0), none = put_reduce(p, OP_SUM, put2(p, OP_SUB, s, mean), 0);
    int wrong = put2(p, OP_ADD, none, put_scalar(p, 0, 1));
    int sum = i % 3 == 0 ? s : put2(p, OP_ADD, s, i % 3 == 1 ? none : wrong);
    take_output(p, i < 3 ? put1(p, OP_LOG, sum) : put2(p, OP_DIV, e, sum));
  }
  for (int i = 0; i < 6; i += 3) {
    assert_int_equal(judge_pair(&all[i], &all[i + 1], 1, 0).kind, JUDGED_SAME);
    assert_int_equal(judge_pair(&all[i], &all[i + 2], 1, 0).kind, JUDGED_DIFFERENT);
  }
}

// Two blocks that store the same but for rounding do not race; two that differ by a millionth of a millionth do.
static void test_rounded_races(void **state) {
  (void)state;
  Program plain = {0}, kernels[2] = {{0}, {0}};
  put_input(&plain, shape_of(1, (int64_t[]){100}));
  take_output(&plain, put1(&plain, OP_TANH, 0));
  for (int i = 0; i < 2; i++) {
    Program *p = &kernels[i];
    put_input(p, shape_of(1, (int64_t[]){100}));
    int t = put1(p, OP_TANH, 0), mean = put_reduce(p, OP_MEAN, t, 0);
    int none = put_reduce(p, OP_SUM, put2(p, OP_SUB, t, mean), 0); // [1], zero but for rounding
    if (i == 1)
      none = put2(p, OP_ADD, none, put_scalar(p, 0, 0x1p-40));
    put(p, &(Instr){.op = OP_KERNEL, .grid = {2, 1, 1}, .cluster = {1, 1, 1}});
    int out = put(p, &(Instr){.op = OP_OUTPUT, .shape = shape_of(1, (int64_t[]){100})});
    Instr load = {.op = OP_LOAD, .num_args = 1, .args = {t}, .at = whole()}, part = load,
          store = {.op = OP_STORE, .num_args = 2, .at = whole()};
    part.args[0] = none; // block 1 has what stands behind the end: zero
    part.at.grid[0] = 0;
    store.args[0] = put2(p, OP_ADD, put(p, &load), put(p, &part));
    store.args[1] = out;
    put(p, &store);
    put(p, &(Instr){.op = OP_END_KERNEL});
    take_output(p, put(p, &(Instr){.op = OP_KERNEL_RESULT, .num_args = 1, .args = {out}}));
  }
  assert_int_equal(judge_pair(&plain, &kernels[0], 1, 0).kind, JUDGED_SAME);
  Finding found = judge_pair(&plain, &kernels[1], 1, 0);
  assert_int_equal(found.kind, JUDGED_DIFFERENT);
  assert_string_equal(found.why, "race");
}

// exp(a) exp(b) = exp(a + b) needs the law; x + y = y + x does not.
static void test_laws(void **state) {
  (void)state;
  Program a = {0}, b = {0}, c = {0}, d = {0};
  Program *all[] = {&a, &b, &c, &d};
  for (int i = 0; i < 4; i++) {
    put_input(all[i], shape_of(1, (int64_t[]){5}));
    put_input(all[i], shape_of(1, (int64_t[]){5}));
  }
  take_output(&a, put1(&a, OP_EXP, put2(&a, OP_ADD, 0, 1)));
  take_output(&b, put2(&b, OP_MUL, put1(&b, OP_EXP, 0), put1(&b, OP_EXP, 1)));
  take_output(&c, put1(&c, OP_EXP, put2(&c, OP_ADD, 1, 0)));
  take_output(&d, put1(&d, OP_EXP, put2(&d, OP_MAX, 0, 1)));
  assert_int_equal(judge_pair(&a, &b, 1, 0).kind, JUDGED_SAME);
  assert_int_equal(judge_pair(&a, &b, 1, NO_LAW_EXP).kind, JUDGED_DIFFERENT);
  assert_int_equal(judge_pair(&a, &c, 1, NO_LAW_EXP).kind, JUDGED_SAME);
  assert_int_equal(judge_pair(&d, &d, 1, NO_LAW_EXP | NO_LAW_MAX).kind, JUDGED_SAME);
  assert_int_equal(judge_pair(&d, &a, 1, 0).kind, JUDGED_DIFFERENT);
}

// The pair of a number does not depend on what was made before.
static void test_numbers(void **state) {
  (void)state;
  static Pair first, again;
  for (uint64_t number = 0; number < 40; number++) {
    uint64_t a = 0, b = 0, other = 0;
    generate_pair(5, number, &a, &first);
    generate_pair(6, number + 1, &other, &again);
    generate_pair(5, number, &b, &again);
    assert_int_equal(a, b);
    assert_int_equal(first.source.num, again.source.num);
    assert_int_equal(first.target.num, again.target.num);
    assert_memory_equal(first.target.instr, again.target.instr, (size_t)first.target.num * sizeof(Instr));
    assert_true(infer(&first.source, MAX_TENSOR) && infer(&first.target, MAX_TENSOR));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_products),      cmocka_unit_test(test_reductions),   cmocka_unit_test(test_movement),
      cmocka_unit_test(test_functions),     cmocka_unit_test(test_ragged_tiles), cmocka_unit_test(test_collectives),
      cmocka_unit_test(test_carries),       cmocka_unit_test(test_windows),      cmocka_unit_test(test_stores),
      cmocka_unit_test(test_verdicts),      cmocka_unit_test(test_undefined),    cmocka_unit_test(test_precision),
      cmocka_unit_test(test_laws),          cmocka_unit_test(test_numbers),      cmocka_unit_test(test_lost_digits),
      cmocka_unit_test(test_rounded_races),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
