// guard.c - runs program and candidate in their own types against float64, at several scales of inputs.
//
// Calls:     mirage_guard makes the instance (full size, or smaller with sums of full size: guard_axes.c), then for
//            each scale: find the factor of the inputs (guard_scale.c), draw, evaluate the program in float64 (the
//            reference) and both graphs in their types, measure; last, compare.
// Program:   what expands (a norm, a softmax, silu) is expanded in f32 with one rounding at its end, which is what a
//            framework's operator does. That is the standard for the program, on any instance.
// Faithful:  an instance on which both graphs do not compute the same in float64 is none, and the next larger one is
//            taken. Where none is left the pair cannot be measured, and does not pass.
// Doubt:     where the first draw leaves some, the program is also run with other, larger roundings (guard_noise.c),
//            and the majority of several draws decides: there may be a division by nearly zero or a tie of a saturated
//            softmax, whose error is noise in both graphs, or an output of few elements that are right by chance.
#include "guard_internal.h"
#include "masks.h"
#include "unsplit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  DEFAULT_MAX_WORK = 2000000,
  DEAR = 5,        // times max_work: fewer points
  OVERDRAFT = 150, // how far above max_work an evaluation may go where the pair gets no smaller
  THROWS = 3,      // runs with other roundings, of a draw
  CHANCES = 3,     // draws at which the program may fail to stand before a point is left
  MAJORITY = GUARD_DRAWS / 2 + 1,
};

#define DEFAULT_FACTOR 2.0
#define DOUBT 0.75          // of what the candidate may lose: above, one draw decides nothing
#define FAITHFUL 1e-6       // difference of two graphs that compute the same, in float64
#define LEAST_STAND 0.06    // relative error with which a program stands in any case
#define STANDS 8.0          // times that of the unit scale
#define SMALL_OTHERS 0x1p-6 // of the unit scale, beside one input by which exponents grow
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

// Scales that go as far as the program stands, and no farther.
static bool goes_far(MirageGuardScale scale) { return scale >= MIRAGE_GUARD_EXPONENTS; }

static double max_error(const Guard *guard, int run, uint32_t output) {
  size_t n = mirage__guard_elements(guard->graphs[0], mirage_ugraph_get_output(guard->graphs[0], output));
  double most = 0;
  for (size_t i = 0; i < n; i++)
    most = fmax(most, fabs(guard->outputs[run][output][i] - guard->outputs[GUARD_REFERENCE][output][i]));
  return most;
}

// Of an output of the runs that were made last.
static MirageGuardErrors measure(const Guard *guard, const GuardPoint *point, uint32_t output) {
  MirageGuardErrors errors = {.output = output,
                              .input = point->input,
                              .exponent = point->exponent,
                              .same_sign = point->same_sign,
                              .program_relative = mirage__guard_error(guard, GUARD_PROGRAM, output),
                              .candidate_relative = mirage__guard_error(guard, GUARD_CANDIDATE, output),
                              .program_max = max_error(guard, GUARD_PROGRAM, output),
                              .candidate_max = max_error(guard, GUARD_CANDIDATE, output)};
  // Where the program itself overflows, inputs lie outside its range, and nothing is asked of the candidate either: an
  // exponential without its maximum would else be held to the rows that happen to stay inside.
  errors.measured = isfinite(errors.program_relative);
  if (goes_far(point->scale))
    errors.measured = errors.measured && mirage__guard_stands(guard, output);
  errors.not_finite = errors.measured && !isfinite(errors.candidate_relative);
  return errors;
}

// How much of what it may lose the candidate loses: above 1 is too much.
static double used(const Guard *guard, const MirageGuardErrors *errors) {
  const MirageType *type =
      mirage_ugraph_type(guard->graphs[0], mirage_ugraph_get_output(guard->graphs[0], errors->output));
  double allowed = fmax(guard->options.factor * errors->program_relative, errors->program_enlarged) +
                   mirage__guard_spacing(type->dtype) / 4; // half a unit roundoff
  return !errors->measured ? 0 : errors->not_finite ? INFINITY : errors->candidate_relative / allowed;
}

static MirageStatus run_draw(Guard *guard, const GuardPoint *point, uint32_t draw) {
  MIRAGE_TRY(mirage__guard_draw(guard, point, draw));
  MIRAGE_TRY(mirage__guard_run(guard, 0, mirage_domain_f64(), GUARD_REFERENCE));
  MIRAGE_TRY(mirage__guard_run(guard, 0, mirage_domain_real(), GUARD_PROGRAM));
  return mirage__guard_run(guard, 1, mirage_domain_real(), GUARD_CANDIDATE);
}

// The output that is worst for the candidate.
static const MirageGuardErrors *worst_of(const Guard *guard, const MirageGuardErrors *errors) {
  const MirageGuardErrors *worst = errors;
  for (uint32_t o = 1; o < guard->num_outputs; o++)
    if (!worst->measured || used(guard, &errors[o]) > used(guard, worst))
      worst = &errors[o];
  return worst;
}

// The program with other roundings, until the candidate is within their errors. A throw without a value says nothing.
static MirageStatus throw_again(Guard *guard, MirageGuardErrors *errors, uint32_t draw) {
  MirageStatus status = MIRAGE_OK;
  uint64_t seed = mirage_random_purpose(guard->seed, "roundings");
  for (uint32_t i = 0; i < THROWS && status == MIRAGE_OK && used(guard, worst_of(guard, errors)) > DOUBT; i++) {
    GuardNoise noise;
    mirage__guard_noise_init(&noise, seed, (uint64_t)draw << 32 | i, guard->options.factor);
    status = mirage__guard_run(guard, 0, &noise.domain, GUARD_OTHER_ROUNDINGS);
    mirage__guard_noise_deinit(&noise);
    for (uint32_t o = 0; status == MIRAGE_OK && o < guard->num_outputs; o++) {
      double error = mirage__guard_error(guard, GUARD_OTHER_ROUNDINGS, o);
      if (isfinite(error))
        errors[o].program_enlarged = fmax(errors[o].program_enlarged, error);
    }
  }
  return status;
}

// A draw by how much of what it may lose the candidate loses.
typedef struct Ranked {
  double used;
  const MirageGuardErrors *errors;
} Ranked;

static int ascending(const void *a, const void *b) {
  double x = ((const Ranked *)a)->used, y = ((const Ranked *)b)->used;
  return (x > y) - (x < y);
}

// The middle one of the draws at which the program stands, of one output; one without a value outvotes all others.
static MirageGuardErrors middle(const Guard *guard, uint32_t output, uint32_t count, MirageGuardErrors *const *draws) {
  Ranked ranked[GUARD_DRAWS];
  uint32_t num = 0;
  for (uint32_t d = 0; d < count; d++) {
    const MirageGuardErrors *errors = &draws[d][output];
    if (errors->not_finite)
      return *errors;
    if (errors->measured)
      ranked[num++] = (Ranked){used(guard, errors), errors};
  }
  qsort(ranked, num, sizeof *ranked, ascending);
  return num ? *ranked[(num - 1) / 2].errors : draws[0][output];
}

// Whether further draws would change nothing: most of all have one verdict already.
static bool is_decided(const Guard *guard, uint32_t count, MirageGuardErrors *const *draws) {
  for (uint32_t o = 0; o < guard->num_outputs; o++) {
    uint32_t good = 0, bad = 0;
    for (uint32_t d = 0; d < count; d++) {
      if (draws[d][o].measured)
        used(guard, &draws[d][o]) <= 1 ? good++ : bad++;
    }
    if (good < MAJORITY && bad < MAJORITY)
      return false;
  }
  return true;
}

static bool any_measured(const Guard *guard, const MirageGuardErrors *errors) {
  for (uint32_t o = 0; o < guard->num_outputs; o++)
    if (errors[o].measured)
      return true;
  return false;
}

// One draw, and others where the first leaves doubt, or the program does not stand. Keeps the output that is worst for
// the candidate, here and at other points of this scale.
static MirageStatus run_point(Guard *guard, const GuardPoint *point, MirageGuardErrors *const *draws) {
  uint32_t count = 0, first = 0; // draws; the first at which the program stands
  bool decided = false;
  while (!decided && count < GUARD_DRAWS) {
    MirageGuardErrors *here = draws[count];
    MIRAGE_TRY(run_draw(guard, point, count));
    for (uint32_t o = 0; o < guard->num_outputs; o++) {
      here[o] = measure(guard, point, o);
      guard->measured[o] |= here[o].measured;
    }
    double share = used(guard, worst_of(guard, here));
    decided = isinf(share) || (count == first && any_measured(guard, here) && share <= DOUBT);
    if (count == first && !any_measured(guard, here))
      decided = ++first == CHANCES || guard->dear;
    if (!decided)
      MIRAGE_TRY(throw_again(guard, here, count));
    count++;
    decided |= is_decided(guard, count, draws);
  }
  MirageGuardErrors *kept = &guard->report->errors[point->scale];
  for (uint32_t o = 0; o < guard->num_outputs; o++) {
    MirageGuardErrors errors = middle(guard, o, count, draws);
    if (errors.measured && (!kept->measured || used(guard, &errors) > used(guard, kept)))
      *kept = errors;
  }
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------------- scales

// A point away from the unit scale, with either sign and with one.
static MirageStatus run_far(Guard *guard, MirageGuardScale scale, uint32_t input, MirageGuardErrors *const *draws) {
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

// The candidate's exponents beyond the end of f32 by one input, the others small, lest what else they are used for
// leaves the program's range before.
static MirageStatus run_exponents(Guard *guard, MirageGuardErrors *const *draws) {
  for (uint32_t i = 0; guard->num_inputs > 1 && i < guard->num_alone; i++) {
    GuardPoint point = {
        .scale = MIRAGE_GUARD_EXPONENTS, .factor = guard->unit * SMALL_OTHERS, .input = guard->alone[i]};
    MIRAGE_TRY(mirage__guard_exponents_alone(guard, &point));
    if (point.exponent)
      MIRAGE_TRY(run_point(guard, &point, draws));
  }
  return MIRAGE_OK;
}

// What the unit scale tells: how large its inputs are, and with which errors the program stands.
static void learn_unit(Guard *guard, double factor, const MirageGuardErrors *first) {
  guard->unit = factor;
  for (uint32_t o = 0; o < guard->num_outputs; o++)
    guard->stands[o] = first[o].measured ? fmax(STANDS * first[o].program_relative, LEAST_STAND) : LEAST_STAND;
}

static MirageStatus run_scale(Guard *guard, MirageGuardScale scale, MirageGuardErrors *const *draws) {
  GuardPoint point = {.scale = scale, .input = GUARD_ALL, .same_sign = scale == MIRAGE_GUARD_SAME_SIGN};
  if (scale == MIRAGE_GUARD_LARGE)
    return run_far(guard, scale, GUARD_ALL, draws);
  if (scale == MIRAGE_GUARD_ONE_LARGE || scale == MIRAGE_GUARD_ONE_SMALL) {
    for (uint32_t i = 0; guard->num_inputs > 1 && i < guard->num_alone; i++)
      MIRAGE_TRY(run_far(guard, scale, guard->alone[i], draws));
    return MIRAGE_OK;
  }
  MIRAGE_TRY(mirage__guard_factor(guard, scale, &point.factor));
  if (point.factor == 0) // without exponentials
    return MIRAGE_OK;
  MIRAGE_TRY(run_point(guard, &point, draws));
  if (scale == MIRAGE_GUARD_EXPONENTS)
    return run_exponents(guard, draws);
  if (scale == MIRAGE_GUARD_UNIT)
    learn_unit(guard, point.factor, draws[0]);
  return MIRAGE_OK;
}

static MirageStatus run_scales(Guard *guard) {
  MirageGuardErrors *draws[GUARD_DRAWS], *all = calloc((size_t)guard->num_outputs * GUARD_DRAWS + 1, sizeof *all);
  MirageStatus status = all ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  for (uint32_t d = 0; d < GUARD_DRAWS && all; d++)
    draws[d] = all + (size_t)d * guard->num_outputs;
  for (int scale = 0; status == MIRAGE_OK && scale < MIRAGE_GUARD_NUM_SCALES; scale++)
    status = run_scale(guard, scale, draws);
  free(all);
  return status;
}

// ------------------------------------------------------------------------------------------------------------ verdict

static void explain_refusal(Guard *guard) {
  MirageGuardReport *report = guard->report;
  const MirageGuardErrors *errors = &report->errors[report->worst];
  char inputs[80], enlarged[60] = "";
  const char *scale = mirage_guard_scale_name(report->worst);
  if (report->worst == MIRAGE_GUARD_LARGE)
    snprintf(inputs, sizeof inputs, "all at 2^%d%s", errors->exponent, errors->same_sign ? ", of one sign" : "");
  else if (report->worst == MIRAGE_GUARD_ONE_LARGE || report->worst == MIRAGE_GUARD_ONE_SMALL)
    snprintf(inputs, sizeof inputs, "number %u at 2^%d%s", errors->input, errors->exponent,
             errors->same_sign ? ", of one sign" : "");
  else if (report->worst == MIRAGE_GUARD_EXPONENTS && errors->input != GUARD_ALL)
    snprintf(inputs, sizeof inputs, "%s, by number %u at 2^%d", scale, errors->input,
             errors->exponent - (int)-log2(SMALL_OTHERS));
  else
    snprintf(inputs, sizeof inputs, "%s", scale);
  if (errors->program_enlarged > guard->options.factor * errors->program_relative)
    snprintf(enlarged, sizeof enlarged, ", %.2e with larger roundings", errors->program_enlarged);
  if (errors->not_finite)
    snprintf(report->reason, sizeof report->reason, "output %u has inf or NaN where the program has none (inputs: %s)",
             errors->output, inputs);
  else
    snprintf(report->reason, sizeof report->reason,
             "output %u has a relative error of %.2e, the program's own is %.2e%s (inputs: %s)", errors->output,
             errors->candidate_relative, errors->program_relative, enlarged, inputs);
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
  if (status == MIRAGE_OK && (guard->report->instance != MIRAGE_GUARD_FULL || guard->masks_drawn))
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

// The smallest instance that is worth its work first; the next larger ones where it is none. `shared`: the pair
// without the grids that only share independent work, which leaves each element as it was and says more freely what
// can be smaller; NULL where there are none.
static MirageStatus measure_shared(Guard *guard, MirageUGraph *const shared[2], bool *out_measured) {
  double max_work = (double)guard->options.max_work, allowed = max_work * OVERDRAFT, work = 0;
  const double limits[] = {max_work, allowed, INFINITY};
  *out_measured = false;
  for (int i = 0; !*out_measured && i < 3 && work <= allowed; i++) {
    GuardAxes axes;
    MIRAGE_TRY(mirage__guard_axes_init(&axes, shared[0] ? shared[0] : guard->graphs[0],
                                       shared[1] ? shared[1] : guard->graphs[1]));
    guard->report->instance = mirage__guard_choose(&axes, limits[i]);
    work = mirage__guard_work(&axes, 0) + mirage__guard_work(&axes, 1);
    guard->dear = work > DEAR * max_work;
    MirageStatus status = work <= allowed ? try_instance(guard, &axes, out_measured) : MIRAGE_OK;
    mirage__guard_axes_deinit(&axes);
    MIRAGE_TRY(status);
  }
  if (!*out_measured)
    snprintf(guard->report->reason, sizeof guard->report->reason,
             "its accuracy cannot be measured: an evaluation takes %.3g operations, %.3g are allowed", work, allowed);
  return MIRAGE_OK;
}

static MirageStatus measure_pair(Guard *guard, bool *out_measured) {
  MirageUGraph *shared[2] = {mirage__verify_unsplit(guard->graphs[0], NULL),
                             mirage__verify_unsplit(guard->graphs[1], NULL)};
  MirageStatus status = measure_shared(guard, shared, out_measured);
  mirage_ugraph_destroy(shared[0]);
  mirage_ugraph_destroy(shared[1]);
  return status;
}

// With masks that are drawn; with its own where both agree under no others: a mask of all keys may be left out.
static MirageStatus measure_masked(Guard *guard, MirageUGraph *const plain[2]) {
  VerifyMasks masks;
  bool measured = false;
  MIRAGE_TRY(mirage__verify_masks_init(&masks, plain[0], plain[1], VERIFY_MASK_GIVEN));
  guard->masks_drawn = masks.graphs[0] != NULL;
  for (int g = 0; g < 2; g++)
    guard->graphs[g] = guard->masks_drawn ? masks.graphs[g] : plain[g];
  MirageStatus status = measure_pair(guard, &measured);
  if (status == MIRAGE_OK && !measured && guard->masks_drawn) {
    guard->masks_drawn = false;
    for (int g = 0; g < 2; g++)
      guard->graphs[g] = plain[g];
    *guard->report = (MirageGuardReport){.passed = false};
    status = measure_pair(guard, &measured);
  }
  mirage__verify_masks_deinit(&masks);
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
  guard.seed = mirage_random_purpose(guard.options.seed, "guard");
  *out_report = (MirageGuardReport){.passed = false};
  MirageStatus status = mirage_ugraph_expand_wide(program, diag, &plain[0]);
  if (status == MIRAGE_OK)
    status = mirage_ugraph_expand_wide(candidate, diag, &plain[1]);
  if (status == MIRAGE_OK)
    status = measure_masked(&guard, plain);
  mirage_ugraph_destroy(plain[0]);
  mirage_ugraph_destroy(plain[1]);
  if (status == MIRAGE_NO_MEMORY)
    return mirage_diag_fail(diag, NULL, status, "guard: out of memory");
  return status;
}
