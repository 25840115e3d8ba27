// guard_scale.c - inputs at several scales, and how large they may be.
//
// Factor:   a probe - the float64 domain that also remembers the largest argument of an exponential and the largest
//           value - says what a factor of the inputs does; it is found by secant steps on a log-log scale.
// Reach:    how far inputs may grow, all together or one alone: by powers of two while the program stands, that is,
//           while its values in its own types are finite and not much worse than at the unit scale. Whatever a
//           candidate has on the way - sums, products, exponentials that the program has not - must not overflow
//           before.
#include "guard_internal.h"

#include "mirage/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  SEARCH_STEPS = 10,
  MOST_EXPONENT_F8 = 5,   // f8E4M3FN: to within its end, 448
  MOST_EXPONENT = 30,     // nobody has inputs beyond 2^30
  MOST_EXPONENT_F16 = 10, // with normals below 2^3, to within a factor of 2^3 of its end: a product of two inputs that
                          // a candidate rounds before it divides by one of them is still within the range
  MOST_ALONE = 24,        // inputs that grow and shrink alone: each takes some thirty evaluations
};

#define SMALL 0x1p-6         // of the unit scale
#define SMALL_OUTPUT 0x1p-6  // outputs stay above, or a program of degree 4 has nothing left in f16
#define LOGITS 60.0          // wanted of the program
#define EXPONENTS 150.0      // wanted of the candidate, of either sign; f32 ends at 88.7 and -103.3
#define LARGEST_VALUE 0x1p14 // at the unit scale; f16 ends at 2^16

// ------------------------------------------------------------------------------------------------------------ storage

size_t mirage__guard_elements(const MirageUGraph *graph, MirageValue value) {
  return (size_t)mirage_type_elements(mirage_ugraph_type(graph, value));
}

static void free_arrays(double **arrays, uint32_t count) {
  for (uint32_t i = 0; arrays && i < count; i++)
    free(arrays[i]);
  free(arrays);
}

static double **alloc_arrays(const MirageUGraph *graph, uint32_t count,
                             MirageValue (*get)(const MirageUGraph *, uint32_t)) {
  double **arrays = calloc(count + 1, sizeof *arrays);
  for (uint32_t i = 0; arrays && i < count; i++) {
    arrays[i] = malloc(mirage__guard_elements(graph, get(graph, i)) * sizeof **arrays);
    if (!arrays[i]) {
      free_arrays(arrays, i);
      return NULL;
    }
  }
  return arrays;
}

static const MirageType *input_type(const Guard *guard, uint32_t index) {
  return mirage_ugraph_type(guard->graphs[0], mirage_ugraph_get_input(guard->graphs[0], index));
}

typedef struct Drawn {
  uint32_t input, before; // inputs of the same type that were drawn before
  uint64_t key;
} Drawn;

static int by_key(const void *a, const void *b) {
  const Drawn *x = a, *y = b;
  if (x->before != y->before)
    return x->before < y->before ? -1 : 1;
  return (x->key > y->key) - (x->key < y->key);
}

// Which inputs grow and shrink alone: all, or, of the many that layers have, MOST_ALONE drawn ones, of each type as
// many as of the others.
static MirageStatus choose_alone(Guard *guard) {
  uint32_t n = guard->num_inputs;
  Drawn *drawn = calloc((size_t)n + 1, sizeof *drawn);
  guard->alone = calloc((size_t)n + 1, sizeof *guard->alone);
  MirageStatus status = drawn && guard->alone ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  MirageRandom random;
  mirage_random_init(&random, mirage_random_purpose(guard->seed, "alone"), 0);
  for (uint32_t i = 0; status == MIRAGE_OK && i < n; i++)
    drawn[i] = (Drawn){.input = i, .key = mirage_random_next(&random)};
  if (status == MIRAGE_OK)
    qsort(drawn, n, sizeof *drawn, by_key);
  for (uint32_t i = 0; status == MIRAGE_OK && n > MOST_ALONE && i < n; i++)
    for (uint32_t k = 0; k < i; k++)
      drawn[i].before += mirage_type_same_meaning(input_type(guard, drawn[i].input), input_type(guard, drawn[k].input));
  if (status == MIRAGE_OK)
    qsort(drawn, n, sizeof *drawn, by_key);
  guard->num_alone = n < MOST_ALONE ? n : MOST_ALONE;
  for (uint32_t i = 0; status == MIRAGE_OK && i < guard->num_alone; i++)
    guard->alone[i] = n <= MOST_ALONE ? i : drawn[i].input;
  free(drawn);
  return status;
}

MirageStatus mirage__guard_storage_init(Guard *guard) {
  const MirageUGraph *program = guard->graphs[0];
  guard->num_inputs = mirage_ugraph_num_inputs(program);
  guard->num_outputs = mirage_ugraph_num_outputs(program);
  guard->inputs = alloc_arrays(program, guard->num_inputs, mirage_ugraph_get_input);
  guard->stands = calloc(guard->num_outputs + 1, sizeof *guard->stands);
  guard->measured = calloc(guard->num_outputs + 1, sizeof *guard->measured);
  bool ok = guard->inputs && guard->stands && guard->measured;
  for (int run = 0; run < GUARD_NUM_RUNS; run++) {
    guard->outputs[run] = alloc_arrays(program, guard->num_outputs, mirage_ugraph_get_output);
    ok = ok && guard->outputs[run];
  }
  for (int draw = 0; draw < GUARD_DRAWS; draw++) {
    guard->normals[draw] = calloc(guard->num_inputs + 1, sizeof(double *)); // filled when needed
    ok = ok && guard->normals[draw];
  }
  return ok ? choose_alone(guard) : MIRAGE_NO_MEMORY;
}

void mirage__guard_storage_deinit(Guard *guard) {
  free_arrays(guard->inputs, guard->num_inputs);
  for (int run = 0; run < GUARD_NUM_RUNS; run++)
    free_arrays(guard->outputs[run], guard->num_outputs);
  for (int draw = 0; draw < GUARD_DRAWS; draw++)
    free_arrays(guard->normals[draw], guard->num_inputs);
  free(guard->stands);
  free(guard->measured);
  free(guard->alone);
}

// ------------------------------------------------------------------------------------------------------------- inputs

// Distance of 1 from the next larger number; predicates and indices are evaluated in f32.
double mirage__guard_spacing(MirageDType dtype) {
  static const double spacings[MIRAGE_NUM_DTYPES] = {
      [MIRAGE_F16] = 0x1p-10,   [MIRAGE_BF16] = 0x1p-7, [MIRAGE_F32] = 0x1p-23,
      [MIRAGE_I8] = 1,          [MIRAGE_I4] = 1,        [MIRAGE_F8E4M3FN] = 0x1p-3,
      [MIRAGE_F8E5M2] = 0x1p-2, [MIRAGE_I1] = 0x1p-23,  [MIRAGE_I32] = 0x1p-23};
  return spacings[dtype];
}

// Integers have one scale: that at which a normal uses most of their range. Their scale factors are other inputs.
static double integer_factor(MirageDType dtype) { return dtype == MIRAGE_I8 ? 40 : dtype == MIRAGE_I4 ? 3 : 0; }

// Normals of one draw, the same for every scale: they cost more than what is done with them.
static MirageStatus draw_normals(Guard *guard, uint32_t draw) {
  for (uint32_t i = 0; i < guard->num_inputs; i++) {
    if (guard->normals[draw][i])
      continue;
    MirageRandom random;
    size_t n = (size_t)mirage_type_elements(input_type(guard, i));
    guard->normals[draw][i] = malloc(n * sizeof(double));
    if (!guard->normals[draw][i])
      return MIRAGE_NO_MEMORY;
    mirage_random_init(&random, guard->seed, (uint64_t)draw << 32 | i);
    for (size_t j = 0; j < n; j++)
      guard->normals[draw][i][j] = mirage_random_normal(&random);
  }
  return MIRAGE_OK;
}

// Powers of two by which an input may grow that is `factor` times a normal.
static int32_t most_exponent(const Guard *guard, uint32_t index, double factor) {
  MirageDType dtype = input_type(guard, index)->dtype;
  int32_t most = dtype == MIRAGE_F16 || dtype == MIRAGE_F8E5M2 ? MOST_EXPONENT_F16
                 : dtype == MIRAGE_F8E4M3FN                    ? MOST_EXPONENT_F8
                                                               : MOST_EXPONENT;
  return most - (int32_t)ceil(log2(factor));
}

static double factor_of(const Guard *guard, const GuardPoint *point, uint32_t index) {
  double whole = integer_factor(input_type(guard, index)->dtype);
  if (whole > 0)
    return whole;
  if (point->input != GUARD_ALL && point->input != index)
    return point->factor;
  int32_t most = most_exponent(guard, index, point->factor);
  return ldexp(point->factor, point->exponent < most ? point->exponent : most);
}

static void draw_input(const Guard *guard, uint32_t index, const GuardPoint *point, uint32_t draw) {
  const MirageType *type = input_type(guard, index);
  size_t n = (size_t)mirage_type_elements(type), row = type->rank ? (size_t)type->shape[type->rank - 1] : 1;
  const double *normals = guard->normals[draw][index];
  double *out = guard->inputs[index], constant = 0, noise = 1, factor = factor_of(guard, point, index);
  bool same_sign = point->same_sign && (point->input == GUARD_ALL || point->input == index);
  if (mirage_dtype_family(type->dtype) == MIRAGE_FAMILY_PREDICATE) {
    for (size_t i = 0; i < n; i++)
      out[i] = normals[i] > 0;
    return;
  }
  for (size_t i = 0; i < n; i++) {
    if (point->scale == MIRAGE_GUARD_CONSTANT && i % row == 0) { // the first normal of the row says where in [1, 2)
      constant = 1.0 + fabs(normals[i]) - floor(fabs(normals[i]));
      noise = 4 * mirage__guard_spacing(type->dtype);
    }
    double x = constant + noise * normals[i];
    out[i] = factor * (same_sign ? fabs(x) : x);
  }
  mirage_round_array(type->dtype, n, out);
}

MirageStatus mirage__guard_draw(Guard *guard, const GuardPoint *point, uint32_t draw) {
  MIRAGE_TRY(draw_normals(guard, draw));
  for (uint32_t i = 0; i < guard->num_inputs; i++)
    draw_input(guard, i, point, draw);
  return MIRAGE_OK;
}

// Evaluation's sentences become the reason.
static void take_reason(void *user, MirageSeverity severity, const void *loc, const char *message) {
  MirageGuardReport *report = user;
  if (severity == MIRAGE_SEVERITY_ERROR && !report->reason[0])
    snprintf(report->reason, sizeof report->reason, "%s", message);
}

MirageStatus mirage__guard_run(Guard *guard, int graph, const MirageDomain *domain, int into) {
  const MirageDiag diag = {take_reason, guard->report};
  if (mirage_cancelled(guard->options.cancel))
    return MIRAGE_CANCELLED;
  return mirage_eval(guard->graphs[graph], domain, (const void *const *)guard->inputs,
                     (void *const *)guard->outputs[into], NULL, &diag);
}

// -------------------------------------------------------------------------------------------------------------- probe

// float64 that remembers what it saw.
typedef struct Probe {
  MirageDomain domain;
  double exponent; // largest magnitude of an argument of an exponential
  double value;    // largest magnitude of a result
} Probe;

static double largest(size_t n, const double *a) {
  double top = 0;
  for (size_t i = 0; i < n; i++)
    if (fabs(a[i]) > top && isfinite(a[i]))
      top = fabs(a[i]);
  return top;
}

static MirageStatus noted(const MirageDomain *self, MirageStatus status, size_t n, const double *out) {
  Probe *probe = (Probe *)self; // made here, and not const
  probe->value = fmax(probe->value, largest(n, out));
  return status;
}

static bool holds_exponential(MirageOp op) {
  return op == MIRAGE_OP_EXP || op == MIRAGE_OP_SIGMOID || op == MIRAGE_OP_SILU;
}

static MirageStatus probe_unary(const MirageDomain *self, MirageOp op, const MirageType *result, size_t n,
                                const void *a, void *out) {
  Probe *probe = (Probe *)self;
  if (holds_exponential(op))
    probe->exponent = fmax(probe->exponent, largest(n, a));
  const MirageDomain *f64 = mirage_domain_f64();
  return noted(self, f64->unary(f64, op, result, n, a, out), n, out);
}

static MirageStatus probe_binary(const MirageDomain *self, MirageOp op, const MirageType *result, size_t n,
                                 const void *a, const void *b, void *out) {
  const MirageDomain *f64 = mirage_domain_f64();
  return noted(self, f64->binary(f64, op, result, n, a, b, out), n, out);
}

static MirageStatus probe_matmul(const MirageDomain *self, const MirageType *result, size_t m, size_t n, size_t k,
                                 const void *a, const void *b, const void *c, void *out) {
  const MirageDomain *f64 = mirage_domain_f64();
  return noted(self, f64->matmul(f64, result, m, n, k, a, b, c, out), m * n, out);
}

static MirageStatus probe_reduce(const MirageDomain *self, MirageOp op, const MirageType *result, size_t outer,
                                 size_t n, size_t inner, const void *a, void *out) {
  const MirageDomain *f64 = mirage_domain_f64();
  return noted(self, f64->reduce(f64, op, result, outer, n, inner, a, out), outer * inner, out);
}

static MirageStatus probe_at(Guard *guard, int graph, const GuardPoint *point, Probe *out_probe) {
  *out_probe = (Probe){.domain = *mirage_domain_f64()};
  out_probe->domain.unary = probe_unary;
  out_probe->domain.binary = probe_binary;
  out_probe->domain.matmul = probe_matmul;
  out_probe->domain.reduce = probe_reduce;
  MIRAGE_TRY(mirage__guard_draw(guard, point, 0));
  return mirage__guard_run(guard, graph, &out_probe->domain, GUARD_REFERENCE);
}

static MirageStatus probe(Guard *guard, int graph, MirageGuardScale scale, double factor, Probe *out_probe) {
  const GuardPoint point = {scale, factor, 0, GUARD_ALL, scale == MIRAGE_GUARD_SAME_SIGN};
  return probe_at(guard, graph, &point, out_probe);
}

// ---------------------------------------------------------------------------------------------------- factors of
// inputs

// Halves until no value of the program is too large for f16, where that helps.
static MirageStatus tame(Guard *guard, MirageGuardScale scale, double *out_factor) {
  *out_factor = 1;
  for (int step = 0; step < SEARCH_STEPS; step++) {
    Probe seen;
    MIRAGE_TRY(probe(guard, 0, scale, *out_factor, &seen));
    if (seen.value <= LARGEST_VALUE)
      break;
    *out_factor /= 2;
  }
  return MIRAGE_OK;
}

// The factor at which a graph's exponents reach `wanted`, or come as close as they do; 0 without exponentials.
// Exponents grow like factor^degree, with the degree taken from the last two steps; 2, a product of two inputs, is the
// first guess.
static MirageStatus reach_exponents(Guard *guard, int graph, MirageGuardScale scale, double wanted,
                                    double *out_factor) {
  double factor = 1, degree = 2, last_factor = 0, last_exponent = 0, best = INFINITY;
  *out_factor = 0;
  for (int step = 0; step < SEARCH_STEPS; step++) {
    Probe seen;
    MIRAGE_TRY(probe(guard, graph, scale, factor, &seen));
    if (seen.exponent == 0)
      return MIRAGE_OK;
    double miss = fabs(log2(wanted / seen.exponent));
    if (miss < best) {
      best = miss;
      *out_factor = factor;
    }
    if (miss < 0.2)
      return MIRAGE_OK;
    if (last_factor > 0)
      degree = log2(seen.exponent / last_exponent) / log2(factor / last_factor);
    if (!(degree > 0.1)) // a norm before the exponential: no factor changes anything
      return MIRAGE_OK;
    last_factor = factor;
    last_exponent = seen.exponent;
    double step_bits = log2(wanted / seen.exponent) / degree;
    factor *= exp2(fmin(fmax(step_bits, -8), 8));
  }
  return MIRAGE_OK;
}

MirageStatus mirage__guard_exponents_alone(Guard *guard, GuardPoint *point) {
  int32_t low = 0, high = most_exponent(guard, point->input, point->factor); // exponents reach far at high, if at all
  Probe seen;
  point->exponent = high;
  MIRAGE_TRY(probe_at(guard, 1, point, &seen));
  if (!(seen.exponent >= EXPONENTS))
    low = high = 0;
  while (low + 1 < high) {
    point->exponent = (low + high) / 2;
    MIRAGE_TRY(probe_at(guard, 1, point, &seen));
    if (seen.exponent >= EXPONENTS)
      high = point->exponent;
    else
      low = point->exponent;
  }
  point->exponent = high;
  return MIRAGE_OK;
}

// From the unit scale down to SMALL of it, or to where the outputs are small.
static MirageStatus go_small(Guard *guard, double *out_factor) {
  MIRAGE_TRY(tame(guard, MIRAGE_GUARD_SMALL, out_factor));
  for (double smallest = *out_factor * SMALL; *out_factor > smallest; *out_factor /= 2) {
    Probe seen;
    double output = 0;
    MIRAGE_TRY(probe(guard, 0, MIRAGE_GUARD_SMALL, *out_factor / 2, &seen));
    for (uint32_t o = 0; o < guard->num_outputs; o++)
      output =
          fmax(output, largest(mirage__guard_elements(guard->graphs[0], mirage_ugraph_get_output(guard->graphs[0], o)),
                               guard->outputs[GUARD_REFERENCE][o]));
    if (output < SMALL_OUTPUT)
      break;
  }
  return MIRAGE_OK;
}

MirageStatus mirage__guard_factor(Guard *guard, MirageGuardScale scale, double *out_factor) {
  switch (scale) {
  case MIRAGE_GUARD_SMALL:
    return go_small(guard, out_factor);
  case MIRAGE_GUARD_LOGITS:
    return reach_exponents(guard, 0, scale, LOGITS, out_factor);
  case MIRAGE_GUARD_EXPONENTS:
    return reach_exponents(guard, 1, scale, EXPONENTS, out_factor);
  default:
    return tame(guard, scale, out_factor);
  }
}

// ----------------------------------------------------------------------------------------------------------------
// reach

double mirage__guard_error(const Guard *guard, int run, uint32_t output) {
  const double *reference = guard->outputs[GUARD_REFERENCE][output], *values = guard->outputs[run][output];
  size_t n = mirage__guard_elements(guard->graphs[0], mirage_ugraph_get_output(guard->graphs[0], output));
  double norm = 0, squares = 0;
  for (size_t i = 0; i < n; i++) {
    double error = values[i] - reference[i];
    norm += reference[i] * reference[i];
    squares += error * error;
  }
  double relative = norm > 0 ? sqrt(squares / norm) : sqrt(squares); // of a vanishing reference the error itself
  return isfinite(norm) && isfinite(squares) ? relative : INFINITY;
}

bool mirage__guard_stands(const Guard *guard, uint32_t output) {
  return mirage__guard_error(guard, GUARD_PROGRAM, output) <= guard->stands[output];
}

static MirageStatus all_stand(Guard *guard, const GuardPoint *point, uint32_t draw, bool *out_stand) {
  MIRAGE_TRY(mirage__guard_draw(guard, point, draw));
  MIRAGE_TRY(mirage__guard_run(guard, 0, mirage_domain_real(), GUARD_PROGRAM));
  *out_stand = false;
  for (uint32_t o = 0; o < guard->num_outputs; o++)
    for (size_t i = 0; i < mirage__guard_elements(guard->graphs[0], mirage_ugraph_get_output(guard->graphs[0], o)); i++)
      if (!isfinite(guard->outputs[GUARD_PROGRAM][o][i]))
        return MIRAGE_OK;
  MIRAGE_TRY(mirage__guard_run(guard, 0, mirage_domain_f64(), GUARD_REFERENCE));
  *out_stand = true;
  for (uint32_t o = 0; o < guard->num_outputs; o++)
    *out_stand = *out_stand && mirage__guard_stands(guard, o);
  return MIRAGE_OK;
}

// Whether the program stands for one of two draws: an output that is small by cancellation has a large relative error
// by chance.
static MirageStatus stands_at(Guard *guard, const GuardPoint *point, bool *out_stand) {
  MIRAGE_TRY(all_stand(guard, point, 0, out_stand));
  return *out_stand || guard->dear ? MIRAGE_OK : all_stand(guard, point, 1, out_stand);
}

MirageStatus mirage__guard_reach(Guard *guard, GuardPoint *point) {
  int32_t low = 0, high = 0; // it stands at low, and not above high
  for (uint32_t i = 0; i < guard->num_inputs; i++)
    if ((point->input == GUARD_ALL || point->input == i) && most_exponent(guard, i, point->factor) > high)
      high = most_exponent(guard, i, point->factor);
  point->exponent = high;
  while (low < high) {
    bool stand;
    MIRAGE_TRY(stands_at(guard, point, &stand));
    if (stand)
      low = point->exponent;
    else
      high = point->exponent - 1;
    point->exponent = (low + high + 1) / 2;
  }
  point->exponent = low > 1 ? low - 1 : 0;
  return MIRAGE_OK;
}
