// guard.c - runs program and candidate in their own types against float64, at several scales of inputs.
//
// Calls:     mirage_guard makes the instance (full size, or smaller with sums of full size: guard_axes.c), then for
//            each scale: find the factor of the inputs (guard_scale.c), draw, evaluate the program in float64 (the
//            reference) and both graphs in their types, measure; last, compare.
// Program:   what expands (a norm, a softmax, silu) is expanded in f32 with one rounding at its end, which is what a
//            framework's operator does. That is the standard for the program, on any instance.
// Faithful:  an instance on which both graphs do not compute the same in float64 is none, and the next larger one is
//            taken. Where none is left the pair cannot be measured, and does not pass.
// Median:    of several draws, where the first leaves doubt: it may hold a division by nearly zero, whose error is
//            noise in both graphs, or an output of few elements that are right by chance.
#include "guard_internal.h"

#include "mirage/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  DEFAULT_MAX_WORK = 2000000,
  DEAR = 5,          // times max_work: fewer points
  OVERDRAFT = 30,    // how far above max_work an evaluation may go where the pair gets no smaller
  FEW_ELEMENTS = 64, // of an output: more draws
  FEW_DRAWS = 3,
};

#define DEFAULT_FACTOR 2.0
#define DOUBT 0.75       // of what the candidate may lose: above, several draws are made instead of one
#define FAITHFUL 1e-6    // difference of two graphs that compute the same, in float64
#define LEAST_STAND 0.06 // relative error with which a program stands in any case
#define STANDS 8.0       // times that of the unit scale
#define ONE_SMALL_EXPONENT (-8)

const char *mirage_guard_scale_name(MirageGuardScale scale) {
  static const char *const names[] = {
      "unit",  "small",     "logits",   "near-constant rows", "same sign", "the candidate's exponents at 150",
      "large", "one large", "one small"};
  return names[scale];
}

const char *mirage_guard_instance_name(MirageGuardInstance instance) {
  static const char *const names[] = {"in full", "on a sample of the outputs",
                                      "on a sample of the outputs, for inputs that repeat"};
  return names[instance];
}

// ---------------------------------------------------------------------------------------------------------- measuring

typedef struct Errors {
  double relative[GUARD_NUM_RUNS], max[GUARD_NUM_RUNS]; // REFERENCE unused
  bool measured, not_finite;
} Errors;

// Scales that go as far as the program stands, and no farther.
static bool goes_far(MirageGuardScale scale) { return scale >= MIRAGE_GUARD_EXPONENTS; }

static Errors measure(const Guard *guard, MirageGuardScale scale, uint32_t output) {
  const double *reference = guard->outputs[GUARD_REFERENCE][output];
  size_t n = mirage__guard_elements(guard->graphs[0], mirage_ugraph_get_output(guard->graphs[0], output));
  Errors errors = {.relative = {[GUARD_PROGRAM] = mirage__guard_error(guard, GUARD_PROGRAM, output),
                                [GUARD_CANDIDATE] = mirage__guard_error(guard, GUARD_CANDIDATE, output)}};
  // Where the program itself overflows, inputs lie outside its range, and nothing is asked of the candidate either: an
  // exponential without its maximum would else be held to the rows that happen to stay inside.
  errors.measured = isfinite(errors.relative[GUARD_PROGRAM]);
  if (goes_far(scale))
    errors.measured = errors.measured && mirage__guard_stands(guard, output);
  errors.not_finite = !isfinite(errors.relative[GUARD_CANDIDATE]);
  for (int r = GUARD_PROGRAM; r <= GUARD_CANDIDATE; r++)
    for (size_t i = 0; i < n; i++)
      errors.max[r] = fmax(errors.max[r], fabs(guard->outputs[r][output][i] - reference[i]));
  return errors;
}

// How much of what it may lose the candidate loses: above 1 is too much.
static double used(const Guard *guard, const MirageGuardErrors *errors) {
  const MirageType *type =
      mirage_ugraph_type(guard->graphs[0], mirage_ugraph_get_output(guard->graphs[0], errors->output));
  double allowed =
      guard->options.factor * errors->program_relative + mirage__guard_spacing(type->dtype) / 4; // half a unit roundoff
  return !errors->measured ? 0 : errors->not_finite ? INFINITY : errors->candidate_relative / allowed;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(uint32_t count, double *values) {
  qsort(values, count, sizeof *values, ascending);
  return values[(count - 1) / 2];
}

// The medians of the draws at which the program stands, of one output.
static MirageGuardErrors summarize(uint32_t output, const GuardPoint *point, uint32_t count, const Errors *draws) {
  MirageGuardErrors errors = {
      .output = output, .input = point->input, .exponent = point->exponent, .same_sign = point->same_sign};
  double relative[GUARD_NUM_RUNS][GUARD_DRAWS], max[GUARD_NUM_RUNS][GUARD_DRAWS];
  uint32_t num = 0;
  for (uint32_t d = 0; d < count; d++) {
    if (!draws[d].measured)
      continue;
    errors.not_finite |= draws[d].not_finite;
    for (int r = GUARD_PROGRAM; r <= GUARD_CANDIDATE; r++) {
      relative[r][num] = draws[d].relative[r];
      max[r][num] = draws[d].max[r];
    }
    num++;
  }
  if (!num)
    return errors;
  errors.measured = true;
  errors.program_relative = median(num, relative[GUARD_PROGRAM]);
  errors.candidate_relative = median(num, relative[GUARD_CANDIDATE]);
  errors.program_max = median(num, max[GUARD_PROGRAM]);
  errors.candidate_max = median(num, max[GUARD_CANDIDATE]);
  return errors;
}

static MirageStatus run_draw(Guard *guard, const GuardPoint *point, uint32_t draw) {
  MIRAGE_TRY(mirage__guard_draw(guard, point, draw));
  MIRAGE_TRY(mirage__guard_run(guard, 0, mirage_domain_f64(), GUARD_REFERENCE));
  MIRAGE_TRY(mirage__guard_run(guard, 0, mirage_domain_real(), GUARD_PROGRAM));
  return mirage__guard_run(guard, 1, mirage_domain_real(), GUARD_CANDIDATE);
}

// One draw, and others where the first leaves doubt. `draws`: [num_outputs * GUARD_DRAWS]. Keeps the output that is
// worst for the candidate, here and at other points of this scale.
static MirageStatus run_point(Guard *guard, const GuardPoint *point, Errors *draws) {
  MirageGuardErrors *kept = &guard->report->errors[point->scale], here = {0};
  uint32_t count = 1;
  for (uint32_t draw = 0; draw < count; draw++) {
    MIRAGE_TRY(run_draw(guard, point, draw));
    here = (MirageGuardErrors){0};
    for (uint32_t o = 0; o < guard->num_outputs; o++) {
      draws[o * GUARD_DRAWS + draw] = measure(guard, point->scale, o);
      MirageGuardErrors errors = summarize(o, point, draw + 1, draws + o * GUARD_DRAWS);
      guard->measured[o] |= errors.measured;
      if (!here.measured || used(guard, &errors) > used(guard, &here))
        here = errors;
    }
    if (draw == 0 && used(guard, &here) > DOUBT && !here.not_finite) {
      MirageValue output = mirage_ugraph_get_output(guard->graphs[0], here.output);
      count = mirage__guard_elements(guard->graphs[0], output) < FEW_ELEMENTS ? GUARD_DRAWS : FEW_DRAWS;
    }
  }
  if (!kept->measured || used(guard, &here) > used(guard, kept))
    *kept = here;
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------------- scales

// A point away from the unit scale, with either sign and with one.
static MirageStatus run_far(Guard *guard, MirageGuardScale scale, uint32_t input, Errors *draws) {
  for (int same_sign = 0; same_sign < 2; same_sign++) {
    GuardPoint point = {.scale = scale, .factor = guard->unit, .input = input, .same_sign = same_sign};
    if (scale == MIRAGE_GUARD_ONE_SMALL)
      point.exponent = ONE_SMALL_EXPONENT;
    else
      MIRAGE_TRY(mirage__guard_reach(guard, &point));
    if (point.exponent)
      MIRAGE_TRY(run_point(guard, &point, draws));
    if (scale == MIRAGE_GUARD_ONE_SMALL || (scale == MIRAGE_GUARD_ONE_LARGE && guard->dear)) // signs matter least here
      break;
  }
  return MIRAGE_OK;
}

// What the unit scale tells: how large its inputs are, and with which errors the program stands.
static void learn_unit(Guard *guard, double factor, const Errors *draws) {
  guard->unit = factor;
  for (uint32_t o = 0; o < guard->num_outputs; o++) {
    const Errors *first = &draws[o * GUARD_DRAWS];
    guard->stands[o] = first->measured ? fmax(STANDS * first->relative[GUARD_PROGRAM], LEAST_STAND) : LEAST_STAND;
  }
}

static MirageStatus run_scale(Guard *guard, MirageGuardScale scale, Errors *draws) {
  GuardPoint point = {.scale = scale, .input = GUARD_ALL, .same_sign = scale == MIRAGE_GUARD_SAME_SIGN};
  if (scale == MIRAGE_GUARD_LARGE)
    return run_far(guard, scale, GUARD_ALL, draws);
  if (scale == MIRAGE_GUARD_ONE_LARGE || scale == MIRAGE_GUARD_ONE_SMALL) {
    for (uint32_t i = 0; guard->num_inputs > 1 && i < guard->num_inputs; i++)
      MIRAGE_TRY(run_far(guard, scale, i, draws));
    return MIRAGE_OK;
  }
  MIRAGE_TRY(mirage__guard_factor(guard, scale, &point.factor));
  if (point.factor == 0) // without exponentials
    return MIRAGE_OK;
  MIRAGE_TRY(run_point(guard, &point, draws));
  if (scale == MIRAGE_GUARD_UNIT)
    learn_unit(guard, point.factor, draws);
  return MIRAGE_OK;
}

static MirageStatus run_scales(Guard *guard) {
  Errors *draws = calloc((size_t)guard->num_outputs * GUARD_DRAWS + 1, sizeof *draws);
  MirageStatus status = draws ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  for (int scale = 0; status == MIRAGE_OK && scale < MIRAGE_GUARD_NUM_SCALES; scale++)
    status = run_scale(guard, scale, draws);
  free(draws);
  return status;
}

// ------------------------------------------------------------------------------------------------------------ verdict

static void explain_refusal(Guard *guard) {
  MirageGuardReport *report = guard->report;
  const MirageGuardErrors *errors = &report->errors[report->worst];
  char inputs[80];
  const char *scale = mirage_guard_scale_name(report->worst);
  if (report->worst == MIRAGE_GUARD_LARGE)
    snprintf(inputs, sizeof inputs, "all at 2^%d%s", errors->exponent, errors->same_sign ? ", of one sign" : "");
  else if (report->worst == MIRAGE_GUARD_ONE_LARGE || report->worst == MIRAGE_GUARD_ONE_SMALL)
    snprintf(inputs, sizeof inputs, "number %u at 2^%d%s", errors->input, errors->exponent,
             errors->same_sign ? ", of one sign" : "");
  else
    snprintf(inputs, sizeof inputs, "%s", scale);
  if (errors->not_finite)
    snprintf(report->reason, sizeof report->reason, "output %u has inf or NaN where the program has none (inputs: %s)",
             errors->output, inputs);
  else
    snprintf(report->reason, sizeof report->reason,
             "output %u has a relative error of %.2e, the program's own is %.2e (inputs: %s)", errors->output,
             errors->candidate_relative, errors->program_relative, inputs);
}

static void judge(Guard *guard) {
  MirageGuardReport *report = guard->report;
  double most = -1;
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
                                  .shrunken = report->instance != MIRAGE_GUARD_FULL};
  }
  report->passed = most <= 1;
  if (!report->passed)
    explain_refusal(guard);
  for (uint32_t o = 0; report->passed && o < guard->num_outputs; o++)
    if (!guard->measured[o])
      snprintf(report->reason, sizeof report->reason,
               "accuracy of output %u not measured: the program itself has inf or NaN there at every scale of inputs",
               o);
}

// ----------------------------------------------------------------------------------------------------------- instance

// Difference of both graphs in float64 at a factor of the inputs, over the elements where both have a value; NaN:
// nowhere.
static MirageStatus compare(Guard *guard, double factor, double *out_difference) {
  MIRAGE_TRY(mirage__guard_draw(guard, &(GuardPoint){MIRAGE_GUARD_UNIT, factor, 0, GUARD_ALL, false}, 0));
  MIRAGE_TRY(mirage__guard_run(guard, 0, mirage_domain_f64(), GUARD_REFERENCE));
  MIRAGE_TRY(mirage__guard_run(guard, 1, mirage_domain_f64(), GUARD_CANDIDATE));
  *out_difference = NAN;
  for (uint32_t o = 0; o < guard->num_outputs; o++) {
    const double *x = guard->outputs[GUARD_REFERENCE][o], *y = guard->outputs[GUARD_CANDIDATE][o];
    double norm = 0, squares = 0;
    bool any = false;
    for (size_t i = 0; i < mirage__guard_elements(guard->graphs[0], mirage_ugraph_get_output(guard->graphs[0], o)); i++)
      if (isfinite(x[i]) && isfinite(y[i])) {
        any = true;
        norm += x[i] * x[i];
        squares += (x[i] - y[i]) * (x[i] - y[i]);
      }
    if (any)
      *out_difference =
          fmax(*out_difference, norm > 0 ? sqrt(squares / norm) : sqrt(squares)); // not NaN, if one is not
  }
  return MIRAGE_OK;
}

// Whether both compute the same, as far as doubles can tell: where one has no value, smaller inputs may help.
static MirageStatus is_faithful(Guard *guard, bool *out_faithful) {
  *out_faithful = true;
  for (int step = 0; step < 3; step++) {
    double difference;
    MIRAGE_TRY(compare(guard, ldexp(1, -4 * step), &difference));
    if (isnan(difference))
      continue;
    *out_faithful = difference <= FAITHFUL;
    return MIRAGE_OK;
  }
  return MIRAGE_OK;
}

// Measures on the instance in guard->graphs.
static MirageStatus measure_instance(Guard *guard, bool *out_faithful) {
  *out_faithful = true;
  guard->unit = 1;
  MirageStatus status = mirage__guard_storage_init(guard);
  if (status == MIRAGE_OK && guard->report->instance != MIRAGE_GUARD_FULL)
    status = is_faithful(guard, out_faithful);
  if (status == MIRAGE_OK && *out_faithful)
    status = run_scales(guard);
  if (status == MIRAGE_OK && *out_faithful)
    judge(guard);
  mirage__guard_storage_deinit(guard);
  return status;
}

// Measures on the instance that `axes` describes. `out_measured`: it was one.
static MirageStatus try_instance(Guard *guard, GuardAxes *axes, bool *out_measured) {
  const MirageUGraph *pair[2] = {guard->graphs[0], guard->graphs[1]};
  MirageUGraph *built[2] = {NULL, NULL};
  *out_measured = false;
  *guard->report = (MirageGuardReport){.instance = guard->report->instance};
  if (guard->report->instance != MIRAGE_GUARD_FULL) {
    if (!mirage__guard_build(axes, built))
      return MIRAGE_OK;
    guard->graphs[0] = built[0];
    guard->graphs[1] = built[1];
  }
  MirageStatus status = measure_instance(guard, out_measured);
  for (int g = 0; g < 2; g++) {
    guard->graphs[g] = pair[g];
    mirage_ugraph_destroy(built[g]);
  }
  if (status == MIRAGE_OK || status == MIRAGE_NO_MEMORY || status == MIRAGE_CANCELLED)
    return status;
  *out_measured = guard->report->instance == MIRAGE_GUARD_FULL; // what fails on a smaller instance may be its fault
  guard->report->passed = false;
  if (!guard->report->reason[0])
    snprintf(guard->report->reason, sizeof guard->report->reason, "%s", mirage_status_string(status));
  return MIRAGE_OK;
}

// The smallest instance that is worth its work first; the next larger ones where it is none.
static MirageStatus measure_pair(Guard *guard) {
  double max_work = (double)guard->options.max_work, allowed = max_work * OVERDRAFT, work = 0;
  const double limits[] = {max_work, allowed, INFINITY};
  bool measured = false;
  for (int i = 0; !measured && i < 3 && work <= allowed; i++) {
    GuardAxes axes;
    MIRAGE_TRY(mirage__guard_axes_init(&axes, guard->graphs[0], guard->graphs[1]));
    guard->report->instance = mirage__guard_choose(&axes, limits[i]);
    work = mirage__guard_work(&axes, 0) + mirage__guard_work(&axes, 1);
    guard->dear = work > DEAR * max_work;
    MirageStatus status = work <= allowed ? try_instance(guard, &axes, &measured) : MIRAGE_OK;
    mirage__guard_axes_deinit(&axes);
    MIRAGE_TRY(status);
  }
  if (!measured)
    snprintf(guard->report->reason, sizeof guard->report->reason,
             "its accuracy cannot be measured: an evaluation takes %.3g operations, %.3g are allowed", work, allowed);
  return MIRAGE_OK;
}

MirageStatus mirage_guard(const MirageUGraph *program, const MirageUGraph *candidate, const MirageGuardOptions *options,
                          const MirageDiag *diag, MirageGuardReport *out_report) {
  Guard guard = {.options = options ? *options : (MirageGuardOptions){0}, .report = out_report};
  MirageUGraph *plain[2] = {NULL, NULL};
  if (!(guard.options.factor > 0))
    guard.options.factor = DEFAULT_FACTOR;
  if (!guard.options.max_work)
    guard.options.max_work = DEFAULT_MAX_WORK;
  guard.seed = mirage_random_purpose(guard.options.seed, "guard");
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
