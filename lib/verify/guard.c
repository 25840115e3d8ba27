// guard.c - runs program and candidate in their own types against float64, at several scales of inputs.
//
// Call order:  mirage_guard makes the instance (full size, or shrunken by shrink.c: guards are to be quick), then for
//              each scale: find the factor of the inputs, draw, evaluate the program in float64 (the reference) and
//              both graphs in their types, measure; last, compare.
// Instance:    what expands (a norm, a softmax, silu) is expanded in f32 with one rounding at its end, which is what a
//              framework's operator does. That is the standard for the program, on any instance.
// Factor:      a probe - the float64 domain that also remembers the largest argument of an exponential and the largest
//              value - says what a factor of the inputs does; it is found by secant steps on a log-log scale.
// Median:      of three draws, where the first leaves doubt: it may hold a division by nearly zero, whose error is
//              noise in both graphs.
#include "mirage/guard.h"

#include "mirage/eval.h"
#include "mirage/random.h"
#include "verify_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  DRAWS = 3,
  DEFAULT_MAX_WORK = 200000,
  OVERDRAFT = 20, // how far above max_work a shrunken instance may go
  SEARCH_STEPS = 10,
};

#define DEFAULT_FACTOR 2.0
#define DOUBT 0.75           // of what the candidate may lose: above, three draws are made instead of one
#define SMALL 0x1p-6         // of the unit scale
#define SMALL_OUTPUT 0x1p-6  // outputs stay above, or a program of degree 4 has nothing left in f16
#define LOGITS 60.0          // wanted
#define LARGEST_VALUE 0x1p14 // at the unit scale; f16 ends at 2^16

enum { REFERENCE, PROGRAM, CANDIDATE, NUM_RUNS };

typedef struct Guard {
  const MirageUGraph *graphs[2]; // of this instance: program, candidate
  MirageGuardOptions options;
  MirageGuardReport *report;
  uint32_t num_inputs, num_outputs;
  double **inputs, **normals[DRAWS], **outputs[NUM_RUNS];
} Guard;

const char *mirage_guard_scale_name(MirageGuardScale scale) {
  static const char *const names[] = {"unit", "small", "logits", "near-constant rows"};
  return names[scale];
}

// ------------------------------------------------------------------------------------------------------------ storage

static size_t elements(const MirageUGraph *graph, MirageValue value) {
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
    arrays[i] = malloc(elements(graph, get(graph, i)) * sizeof **arrays);
    if (!arrays[i]) {
      free_arrays(arrays, i);
      return NULL;
    }
  }
  return arrays;
}

static MirageStatus storage_init(Guard *guard) {
  const MirageUGraph *program = guard->graphs[0];
  guard->inputs = alloc_arrays(program, guard->num_inputs, mirage_ugraph_get_input);
  bool ok = guard->inputs != NULL;
  for (int draw = 0; draw < DRAWS; draw++) {
    guard->normals[draw] = alloc_arrays(program, guard->num_inputs, mirage_ugraph_get_input);
    ok = ok && guard->normals[draw];
  }
  for (int run = 0; run < NUM_RUNS; run++) {
    guard->outputs[run] = alloc_arrays(program, guard->num_outputs, mirage_ugraph_get_output);
    ok = ok && guard->outputs[run];
  }
  return ok ? MIRAGE_OK : MIRAGE_NO_MEMORY;
}

static void storage_deinit(Guard *guard) {
  free_arrays(guard->inputs, guard->num_inputs);
  for (int draw = 0; draw < DRAWS; draw++)
    free_arrays(guard->normals[draw], guard->num_inputs);
  for (int run = 0; run < NUM_RUNS; run++)
    free_arrays(guard->outputs[run], guard->num_outputs);
}

// ------------------------------------------------------------------------------------------------------------- inputs

// Distance of 1 from the next larger number.
static double spacing(MirageDType dtype) {
  return dtype == MIRAGE_F32 ? 0x1p-23 : dtype == MIRAGE_F16 ? 0x1p-10 : 0x1p-7;
}

// Normals of one draw, the same for every scale: they cost more than what is done with them.
static void draw_normals(Guard *guard, uint32_t draw) {
  for (uint32_t i = 0; i < guard->num_inputs; i++) {
    MirageRandom random;
    size_t n = elements(guard->graphs[0], mirage_ugraph_get_input(guard->graphs[0], i));
    mirage_random_init(&random, guard->options.seed, (uint64_t)draw << 32 | i);
    for (size_t j = 0; j < n; j++)
      guard->normals[draw][i][j] = mirage_random_normal(&random);
  }
}

static void draw_input(const Guard *guard, uint32_t index, MirageGuardScale scale, double factor, uint32_t draw) {
  const MirageType *type = mirage_ugraph_type(guard->graphs[0], mirage_ugraph_get_input(guard->graphs[0], index));
  size_t n = (size_t)mirage_type_elements(type), row = type->rank ? (size_t)type->shape[type->rank - 1] : 1;
  const double *normals = guard->normals[draw][index];
  double *out = guard->inputs[index], constant = 0, noise = 1;
  for (size_t i = 0; i < n; i++) {
    if (scale == MIRAGE_GUARD_CONSTANT && i % row == 0) { // the first normal of the row says where in [1, 2)
      constant = 1.0 + fabs(normals[i]) - floor(fabs(normals[i]));
      noise = 4 * spacing(type->dtype);
    }
    out[i] = mirage_round_to(type->dtype, factor * (constant + noise * normals[i]));
  }
}

static void draw_inputs(const Guard *guard, MirageGuardScale scale, double factor, uint32_t draw) {
  for (uint32_t i = 0; i < guard->num_inputs; i++)
    draw_input(guard, i, scale, factor, draw);
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

// Evaluation's sentences become the reason.
static void take_reason(void *user, MirageSeverity severity, const void *loc, const char *message) {
  MirageGuardReport *report = user;
  if (severity == MIRAGE_SEVERITY_ERROR && !report->reason[0])
    snprintf(report->reason, sizeof report->reason, "%s", message);
}

static MirageStatus run(Guard *guard, int graph, const MirageDomain *domain, int into) {
  const MirageDiag diag = {take_reason, guard->report};
  return mirage_eval(guard->graphs[graph], domain, (const void *const *)guard->inputs,
                     (void *const *)guard->outputs[into], NULL, &diag);
}

static MirageStatus probe(Guard *guard, MirageGuardScale scale, double factor, Probe *out_probe) {
  *out_probe = (Probe){.domain = *mirage_domain_f64()};
  out_probe->domain.unary = probe_unary;
  out_probe->domain.binary = probe_binary;
  out_probe->domain.matmul = probe_matmul;
  out_probe->domain.reduce = probe_reduce;
  draw_inputs(guard, scale, factor, 0);
  return run(guard, 0, &out_probe->domain, REFERENCE);
}

// --------------------------------------------------------------------------------------------------- factor of inputs

// Halves until no value of the program is too large for f16, where that helps.
static MirageStatus tame(Guard *guard, MirageGuardScale scale, double *out_factor) {
  *out_factor = 1;
  for (int step = 0; step < SEARCH_STEPS; step++) {
    Probe seen;
    MIRAGE_TRY(probe(guard, scale, *out_factor, &seen));
    if (seen.value <= LARGEST_VALUE)
      break;
    *out_factor /= 2;
  }
  return MIRAGE_OK;
}

// The factor at which exponents reach LOGITS, or come as close as they do; 0 without exponentials. Exponents grow like
// factor^degree, with the degree taken from the last two steps; 2, a product of two inputs, is the first guess.
static MirageStatus reach_logits(Guard *guard, double *out_factor) {
  double factor = 1, degree = 2, last_factor = 0, last_exponent = 0, best = INFINITY;
  *out_factor = 0;
  for (int step = 0; step < SEARCH_STEPS; step++) {
    Probe seen;
    MIRAGE_TRY(probe(guard, MIRAGE_GUARD_LOGITS, factor, &seen));
    if (seen.exponent == 0)
      return MIRAGE_OK;
    double miss = fabs(log2(LOGITS / seen.exponent));
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
    double step_bits = log2(LOGITS / seen.exponent) / degree;
    factor *= exp2(fmin(fmax(step_bits, -8), 8));
  }
  return MIRAGE_OK;
}

// From the unit scale down to SMALL of it, or to where the outputs are small.
static MirageStatus go_small(Guard *guard, double *out_factor) {
  MIRAGE_TRY(tame(guard, MIRAGE_GUARD_SMALL, out_factor));
  for (double smallest = *out_factor * SMALL; *out_factor > smallest; *out_factor /= 2) {
    Probe seen;
    double output = 0;
    MIRAGE_TRY(probe(guard, MIRAGE_GUARD_SMALL, *out_factor / 2, &seen));
    for (uint32_t o = 0; o < guard->num_outputs; o++)
      output = fmax(output, largest(elements(guard->graphs[0], mirage_ugraph_get_output(guard->graphs[0], o)),
                                    guard->outputs[REFERENCE][o]));
    if (output < SMALL_OUTPUT)
      break;
  }
  return MIRAGE_OK;
}

static MirageStatus find_factor(Guard *guard, MirageGuardScale scale, double *out_factor) {
  switch (scale) {
  case MIRAGE_GUARD_SMALL:
    return go_small(guard, out_factor);
  case MIRAGE_GUARD_LOGITS:
    return reach_logits(guard, out_factor);
  default:
    return tame(guard, scale, out_factor);
  }
}

// ---------------------------------------------------------------------------------------------------------- measuring

typedef struct Errors {
  double relative[NUM_RUNS], max[NUM_RUNS]; // REFERENCE unused
  bool measured, not_finite;
} Errors;

static Errors measure(const Guard *guard, uint32_t output) {
  const double *reference = guard->outputs[REFERENCE][output], *program = guard->outputs[PROGRAM][output],
               *candidate = guard->outputs[CANDIDATE][output];
  size_t n = elements(guard->graphs[0], mirage_ugraph_get_output(guard->graphs[0], output));
  Errors errors = {.measured = true};
  double norm = 0, squares[NUM_RUNS] = {0};
  // Where the program itself overflows, inputs lie outside its range, and nothing is asked of the candidate either: an
  // exponential without its maximum would else be held to the rows that happen to stay inside.
  for (size_t i = 0; i < n && errors.measured; i++)
    errors.measured = isfinite(reference[i]) && isfinite(program[i]);
  for (size_t i = 0; i < n && errors.measured; i++) {
    if (!isfinite(candidate[i])) {
      errors.not_finite = true;
      continue;
    }
    norm += reference[i] * reference[i];
    for (int r = PROGRAM; r <= CANDIDATE; r++) {
      double error = fabs((r == PROGRAM ? program : candidate)[i] - reference[i]);
      squares[r] += error * error;
      errors.max[r] = fmax(errors.max[r], error);
    }
  }
  for (int r = PROGRAM; r <= CANDIDATE; r++) // of a vanishing reference the error itself is taken
    errors.relative[r] = norm > 0 ? sqrt(squares[r] / norm) : sqrt(squares[r]);
  return errors;
}

static double median(double a, double b, double c) { return fmax(fmin(a, b), fmin(fmax(a, b), c)); }

// How much of what it may lose the candidate loses: above 1 is too much.
static double used(const Guard *guard, const MirageGuardErrors *errors) {
  const MirageType *type =
      mirage_ugraph_type(guard->graphs[0], mirage_ugraph_get_output(guard->graphs[0], errors->output));
  double allowed = guard->options.factor * errors->program_relative + spacing(type->dtype) / 4; // half a unit roundoff
  return !errors->measured ? 0 : errors->not_finite ? INFINITY : errors->candidate_relative / allowed;
}

// The median of all draws, of one output.
static MirageGuardErrors summarize(uint32_t output, const Errors d[DRAWS]) {
  return (MirageGuardErrors){
      .measured = d[0].measured || d[1].measured || d[2].measured,
      .program_relative = median(d[0].relative[PROGRAM], d[1].relative[PROGRAM], d[2].relative[PROGRAM]),
      .candidate_relative = median(d[0].relative[CANDIDATE], d[1].relative[CANDIDATE], d[2].relative[CANDIDATE]),
      .program_max = median(d[0].max[PROGRAM], d[1].max[PROGRAM], d[2].max[PROGRAM]),
      .candidate_max = median(d[0].max[CANDIDATE], d[1].max[CANDIDATE], d[2].max[CANDIDATE]),
      .output = output,
      .not_finite = d[0].not_finite || d[1].not_finite || d[2].not_finite};
}

static MirageStatus run_draw(Guard *guard, MirageGuardScale scale, double factor, uint32_t draw) {
  draw_inputs(guard, scale, factor, draw);
  MIRAGE_TRY(run(guard, 0, mirage_domain_f64(), REFERENCE));
  MIRAGE_TRY(run(guard, 0, mirage_domain_real(), PROGRAM));
  return run(guard, 1, mirage_domain_real(), CANDIDATE);
}

// One draw, and the others where the first leaves doubt. Keeps the output that is worst for the candidate.
static MirageStatus run_scale(Guard *guard, MirageGuardScale scale, Errors (*draws)[DRAWS]) {
  MirageGuardErrors *kept = &guard->report->errors[scale];
  double factor = 0;
  MIRAGE_TRY(find_factor(guard, scale, &factor));
  for (uint32_t draw = 0; factor > 0 && draw < DRAWS; draw++) {
    if (draw == 1 && used(guard, kept) <= DOUBT)
      break;
    MIRAGE_TRY(run_draw(guard, scale, factor, draw));
    for (uint32_t o = 0; o < guard->num_outputs; o++) {
      for (uint32_t d = draw; d < (draw == 0 ? DRAWS : draw + 1); d++) // the first stands for those to come
        draws[o][d] = measure(guard, o);
      MirageGuardErrors errors = summarize(o, draws[o]);
      if (o == 0 || used(guard, &errors) > used(guard, kept))
        *kept = errors;
    }
  }
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------------ verdict

static void judge(Guard *guard, bool shrunken) {
  MirageGuardReport *report = guard->report;
  double most = -1;
  report->passed = true;
  for (int scale = 0; scale < MIRAGE_GUARD_NUM_SCALES; scale++) {
    const MirageGuardErrors *errors = &report->errors[scale];
    double share = used(guard, errors);
    if (!errors->measured || share <= most)
      continue;
    most = share;
    report->worst = scale;
    report->guard = (MirageGuard){.present = true,
                                  .program_relative = errors->program_relative,
                                  .candidate_relative = errors->candidate_relative,
                                  .program_max = errors->program_max,
                                  .candidate_max = errors->candidate_max,
                                  .shrunken = shrunken};
  }
  if (most <= 1)
    return;
  const MirageGuardErrors *errors = &report->errors[report->worst];
  const char *scale = mirage_guard_scale_name(report->worst);
  report->passed = false;
  if (errors->not_finite)
    snprintf(report->reason, sizeof report->reason, "output %u has inf or NaN where the program has none (inputs: %s)",
             errors->output, scale);
  else
    snprintf(report->reason, sizeof report->reason,
             "output %u has a relative error of %.2e, the program's own is %.2e (inputs: %s)", errors->output,
             errors->candidate_relative, errors->program_relative, scale);
}

static MirageStatus measure_instance(Guard *guard, bool shrunken) {
  guard->num_inputs = mirage_ugraph_num_inputs(guard->graphs[0]);
  guard->num_outputs = mirage_ugraph_num_outputs(guard->graphs[0]);
  MirageStatus status = storage_init(guard);
  for (uint32_t draw = 0; status == MIRAGE_OK && draw < DRAWS; draw++)
    draw_normals(guard, draw);
  Errors(*draws)[DRAWS] = calloc((size_t)guard->num_outputs + 1, sizeof *draws);
  if (!draws)
    status = MIRAGE_NO_MEMORY;
  for (int scale = 0; status == MIRAGE_OK && scale < MIRAGE_GUARD_NUM_SCALES; scale++)
    status = run_scale(guard, scale, draws);
  free(draws);
  storage_deinit(guard);
  if (status == MIRAGE_OK)
    judge(guard, shrunken);
  else if (status != MIRAGE_NO_MEMORY && !guard->report->reason[0])
    snprintf(guard->report->reason, sizeof guard->report->reason, "%s", mirage_status_string(status));
  return status == MIRAGE_NO_MEMORY ? status : MIRAGE_OK;
}

// At the size given, or shrunken when that costs too much.
static MirageStatus measure_pair(Guard *guard) {
  MirageUGraph *small[2] = {NULL, NULL};
  double allowed = (double)guard->options.max_work;
  double work = mirage__verify_work(guard->graphs[0]) + mirage__verify_work(guard->graphs[1]);
  if (work > allowed) {
    char reason[160];
    bool follow = guard->options.followed;
    MIRAGE_TRY(mirage__verify_shrink(guard->graphs[0], guard->graphs[1], SHRINK_SMALLEST, &follow, &small[0], &small[1],
                                     reason));
  }
  if (small[0]) {
    guard->graphs[0] = small[0];
    guard->graphs[1] = small[1];
    work = mirage__verify_work(small[0]) + mirage__verify_work(small[1]);
  }
  MirageStatus status = MIRAGE_OK;
  if (work <= allowed * OVERDRAFT) {
    status = measure_instance(guard, small[0] != NULL);
  } else {
    guard->report->passed = true;
    snprintf(guard->report->reason, sizeof guard->report->reason,
             "accuracy not measured: %.3g operations an evaluation, %.3g allowed", work, allowed);
  }
  mirage_ugraph_destroy(small[0]);
  mirage_ugraph_destroy(small[1]);
  return status;
}

MirageStatus mirage_guard(const MirageUGraph *program, const MirageUGraph *candidate, const MirageGuardOptions *options,
                          const MirageDiag *diag, MirageGuardReport *out_report) {
  Guard guard = {.options = options ? *options : (MirageGuardOptions){0}, .report = out_report};
  MirageUGraph *plain[2] = {NULL, NULL};
  if (!(guard.options.factor > 0))
    guard.options.factor = DEFAULT_FACTOR;
  if (!guard.options.max_work)
    guard.options.max_work = DEFAULT_MAX_WORK;
  *out_report = (MirageGuardReport){.passed = false};
  MirageStatus status = mirage_ugraph_expand_wide(program, diag, &plain[0]);
  if (status == MIRAGE_OK)
    status = mirage_ugraph_expand_wide(candidate, diag, &plain[1]);
  if (status == MIRAGE_OK) {
    guard.graphs[0] = plain[0];
    guard.graphs[1] = plain[1];
    status = measure_pair(&guard);
  }
  mirage_ugraph_destroy(plain[0]);
  mirage_ugraph_destroy(plain[1]);
  if (status == MIRAGE_NO_MEMORY)
    return mirage_diag_fail(diag, NULL, status, "guard: out of memory");
  return status;
}
