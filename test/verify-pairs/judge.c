// judge.c - same or different, at full size (judge.h).
//
// What the two verdicts mean is what lib/verify/README.md says: equality over the reals at every input where both are
// defined; and a target that has no value, or no finite one, where the source has one is different.
#include "judge.h"

#include <stdlib.h>
#include <string.h>

enum {
  FIELD_DRAWS = 2,
  REAL_DRAWS = 4,
  MAXIMUM_DRAWS = 6, // where a maximum chooses
  SMALL_DRAWS = 27,  // of small programs, whose few elements may all lie on one side of a maximum
  FAR_OUT = 100,     // numbers of the draws far out
  FAR_DRAWS = 2,
};

static const double NEAR = 1e-9; // rounding in doubles, of programs whose values are of moderate size, stays far below

// ------------------------------------------------------------------------------------------------------------- inputs

// Element i of an input. `offset` is common to a stretch of 16, so that a maximum may lie anywhere.
static double draw_real(Draw *from, int draw, double offset) {
  double normal = draw_normal(from);
  if (draw >= FAR_OUT)
    return normal * (draw_chance(from, 10) ? 3000 : 1);
  switch (draw % 9) {
  case 0:
    return normal;
  case 1:
    return 0.5 + draw_unit(from);
  case 2:
    return -0.5 - draw_unit(from);
  case 3:
    return 0.4 * normal + 1.5 * offset;
  case 4: // all far from zero
    return copysign(2 + 2 * draw_unit(from), normal);
  case 5: // all close to it
    return 0.05 * normal;
  case 6:
    return 1.5 * normal + 1;
  case 7:
    return 2.5 * normal;
  default:
    return normal - 1.5;
  }
}

double **draw_inputs(const Program *p, uint64_t seed, int draw, int *out_count) {
  double **inputs = calloc(MAX_INSTRS, sizeof *inputs);
  Draw from = draw_of(seed, (uint64_t)draw, 77);
  *out_count = 0;
  for (int i = 0; inputs && i < p->num; i++) {
    if (p->instr[i].op != OP_INPUT)
      continue;
    int64_t n = elements(&p->instr[i].shape);
    double *values = inputs[(*out_count)++] = malloc((size_t)n * sizeof *values);
    double offset = 0;
    for (int64_t k = 0; values && k < n; k++) {
      offset = k % 16 == 0 ? draw_normal(&from) : offset;
      values[k] = draw_real(&from, draw, offset);
    }
  }
  return inputs;
}

void free_inputs(double **inputs, int count) {
  for (int i = 0; inputs && i < count; i++)
    free(inputs[i]);
  free(inputs);
}

static void *alloc_output(const Program *p, int o, size_t size) {
  return malloc((size_t)elements(&p->instr[p->outputs[o]].shape) * size);
}

static Finding finding(Judgement kind, const char *why) { return (Finding){.kind = kind, .why = why}; }

static Finding of_outcome(Outcome source, Outcome target) {
  if (source == OUT_OF_MEMORY || target == OUT_OF_MEMORY)
    return finding(JUDGED_UNDECIDED, "memory");
  if (source != EVALUATED)
    return finding(JUDGED_NO_SOURCE, source == RACE ? "race" : "not stored");
  return finding(JUDGED_DIFFERENT, target == RACE ? "race" : "not stored");
}

// -------------------------------------------------------------------------------------------------------------- field

static Finding compare_residues(const Program *p, uint64_t *const *a, uint64_t *const *b) {
  Finding found = finding(JUDGED_SAME, "values");
  found.exact = true;
  for (int o = 0; o < p->num_outputs; o++) {
    int64_t n = elements(&p->instr[p->outputs[o]].shape), defined = 0;
    for (int64_t i = 0; i < n; i++) {
      if (a[o][i] == FIELD_UNDEFINED)
        continue;
      defined++;
      if (a[o][i] != b[o][i] && found.kind == JUDGED_SAME)
        found = (Finding){JUDGED_DIFFERENT, b[o][i] == FIELD_UNDEFINED ? "undefined" : "values", true, o, i, 1};
    }
    if (!defined)
      return finding(JUDGED_NO_SOURCE, "undefined");
  }
  return found;
}

static Finding judge_residues(const Program *source, const Program *target, uint64_t seed, int number) {
  uint64_t *inputs[MAX_INSTRS], *outputs[2][MAX_OUTPUTS];
  Draw from = draw_of(seed, (uint64_t)number, 61);
  int count = 0;
  for (int i = 0; i < source->num; i++) {
    if (source->instr[i].op != OP_INPUT)
      continue;
    int64_t n = elements(&source->instr[i].shape);
    inputs[count] = malloc((size_t)n * sizeof **inputs);
    for (int64_t k = 0; inputs[count] && k < n; k++)
      inputs[count][k] = draw_next(&from) % FIELD_PRIME;
    count++;
  }
  for (int g = 0; g < 2; g++)
    for (int o = 0; o < source->num_outputs; o++)
      outputs[g][o] = alloc_output(source, o, sizeof(uint64_t));
  Outcome s = evaluate_field(source, 0, (const uint64_t *const *)inputs, outputs[0], NULL);
  Outcome t = s == EVALUATED ? evaluate_field(target, 0, (const uint64_t *const *)inputs, outputs[1], NULL) : EVALUATED;
  Finding found =
      s == EVALUATED && t == EVALUATED ? compare_residues(source, outputs[0], outputs[1]) : of_outcome(s, t);
  for (int g = 0; g < 2; g++)
    for (int o = 0; o < source->num_outputs; o++)
      free(outputs[g][o]);
  for (int i = 0; i < count; i++)
    free(inputs[i]);
  return found;
}

// -------------------------------------------------------------------------------------------------------------- reals

typedef enum Digits { DOUBLES, LONG_DOUBLES, QUADS } Digits;

typedef struct Reals { // both graphs' outputs at one draw
  Outcome outcome[2];
  double race[2];
  long double *values[2][MAX_OUTPUTS];
} Reals;

static void free_reals(const Program *p, Reals *reals) {
  for (int g = 0; g < 2; g++)
    for (int o = 0; o < p->num_outputs; o++)
      free(reals->values[g][o]);
}

static Outcome evaluate_in_doubles(const Program *p, int no_laws, double **inputs, long double **values, double *race) {
  double *outputs[MAX_OUTPUTS];
  for (int o = 0; o < p->num_outputs; o++)
    outputs[o] = alloc_output(p, o, sizeof(double));
  Outcome outcome = evaluate_double(p, no_laws, (const double *const *)inputs, outputs, race);
  for (int o = 0; o < p->num_outputs; o++) {
    for (int64_t i = 0, n = elements(&p->instr[p->outputs[o]].shape); has_values(outcome) && i < n; i++)
      values[o][i] = outputs[o][i];
    free(outputs[o]);
  }
  return outcome;
}

static Outcome evaluate_widened(const Program *p, Digits digits, int no_laws, double **inputs, int count,
                                long double **values, double *race) {
  long double *wide[MAX_INSTRS];
  for (int i = 0, k = 0; i < p->num; i++) {
    if (p->instr[i].op != OP_INPUT)
      continue;
    int64_t n = elements(&p->instr[i].shape);
    wide[k] = malloc((size_t)n * sizeof **wide);
    for (int64_t e = 0; wide[k] && e < n; e++)
      wide[k][e] = inputs[k][e];
    k++;
  }
  Outcome outcome =
      (digits == QUADS ? evaluate_quad : evaluate_long)(p, no_laws, (const long double *const *)wide, values, race);
  for (int k = 0; k < count; k++)
    free(wide[k]);
  return outcome;
}

static Reals evaluate_both(const Program *source, const Program *target, int no_laws, double **inputs, int count,
                           Digits digits) {
  const Program *graphs[2] = {source, target};
  Reals reals = {.outcome = {EVALUATED, EVALUATED}, .race = {0, 0}};
  for (int g = 0; g < 2; g++) {
    for (int o = 0; o < source->num_outputs; o++)
      reals.values[g][o] = alloc_output(source, o, sizeof(long double));
    if (g == 1 && !has_values(reals.outcome[0]))
      break;
    reals.outcome[g] =
        digits == DOUBLES
            ? evaluate_in_doubles(graphs[g], no_laws, inputs, reals.values[g], &reals.race[g])
            : evaluate_widened(graphs[g], digits, no_laws, inputs, count, reals.values[g], &reals.race[g]);
  }
  return reals;
}

static double rms(const long double *values, int64_t n, int64_t *out_finite) {
  long double sum = 0;
  *out_finite = 0;
  for (int64_t i = 0; i < n; i++)
    if (isfinite(values[i])) {
      sum += values[i] * values[i];
      (*out_finite)++;
    }
  return *out_finite ? (double)sqrtl(sum / (long double)*out_finite) : 0;
}

// The largest difference over all outputs, each relative to its element, but for those far below the others.
static Finding compare_reals(const Program *p, const Reals *reals) {
  Finding found = finding(JUDGED_SAME, "values");
  for (int o = 0; o < p->num_outputs; o++) {
    int64_t n = elements(&p->instr[p->outputs[o]].shape), finite;
    const long double *a = reals->values[0][o], *b = reals->values[1][o];
    double scale = 1e-3 * rms(a, n, &finite);
    if (2 * finite < n)
      return finding(JUDGED_NO_SOURCE, "undefined");
    for (int64_t i = 0; i < n; i++) {
      if (!isfinite(a[i]))
        continue;
      double gap = (double)fabsl(a[i] - b[i]);
      double distance = gap == 0 ? 0 : !isfinite(b[i]) ? INFINITY : gap / ((double)fabsl(a[i]) + scale + 1e-300);
      if (distance > found.distance)
        found = (Finding){JUDGED_DIFFERENT, isfinite(b[i]) ? "values" : "undefined", false, o, i, distance};
    }
  }
  if (found.distance <= NEAR)
    found.kind = JUDGED_SAME;
  return found;
}

// The largest absolute difference of one output.
static double gap_of(const Program *p, const Reals *reals, int output) {
  double gap = 0;
  for (int64_t i = 0, n = elements(&p->instr[p->outputs[output]].shape); i < n; i++)
    if (isfinite(reals->values[0][output][i]))
      gap = fmax(gap, (double)fabsl(reals->values[0][output][i] - reals->values[1][output][i]));
  return gap;
}

// A difference `found` in `narrow`, once more in numbers with more digits: rounding shrinks by a factor of 2^11, a true
// difference stays. Absolute ones are compared: of values that are zero but for rounding, all digits are rounding.
static Finding compare_again(const Program *source, Finding found, const Reals *narrow, const Reals *wide) {
  Finding again = compare_reals(source, wide);
  double before = gap_of(source, narrow, found.output), after = gap_of(source, wide, found.output);
  if (again.kind != JUDGED_DIFFERENT || again.distance == INFINITY)
    return again;
  if (isfinite(before) && again.output == found.output && after < before / 64)
    again.kind = JUDGED_SAME;
  else if (again.output != found.output || (after <= before / 4 && isfinite(before)))
    again = (Finding){JUDGED_UNDECIDED, "precision", false, again.output, again.index, again.distance};
  return again;
}

// Whether a value where they differ moves with the number of digits. Then rounding has replaced it, and the difference
// need not shrink: log(x + r), with an error r above x; or x / (y + r).
static bool loses_digits(const Finding *found, const Reals *narrow, const Reals *wide) {
  for (int g = 0; g < 2; g++) {
    long double a = narrow->values[g][found->output][found->index], b = wide->values[g][found->output][found->index];
    if (!(fabsl(a - b) <= 1e-6L * fabsl(b)))
      return true;
  }
  return false;
}

// In long doubles; where these tell nothing, with still more digits.
static Finding confirm(const Program *source, const Program *target, int no_laws, double **inputs, int count,
                       Finding found, const Reals *narrow) {
  Reals wide = evaluate_both(source, target, no_laws, inputs, count, LONG_DOUBLES);
  Finding again = compare_again(source, found, narrow, &wide);
  if (again.kind == JUDGED_DIFFERENT && again.distance != INFINITY && can_evaluate_quad() &&
      loses_digits(&again, narrow, &wide)) {
    Reals widest = evaluate_both(source, target, no_laws, inputs, count, QUADS);
    again = compare_again(source, again, &wide, &widest);
    free_reals(source, &widest);
  }
  free_reals(source, &wide);
  return again;
}

// Blocks that store the same number, with different roundings, do not race: their difference shrinks, too. False where
// it shrinks too little to tell.
static bool settle_races(const Program *source, const Program *target, int no_laws, double **inputs, int count,
                         Reals *reals) {
  bool settled = true;
  if (reals->outcome[0] != RACE && reals->outcome[1] != RACE)
    return settled;
  Reals wide = evaluate_both(source, target, no_laws, inputs, count, LONG_DOUBLES);
  for (int g = 0; g < 2; g++) {
    if (reals->outcome[g] != RACE || !has_values(wide.outcome[g]) || !isfinite(reals->race[g]))
      continue;
    if (wide.race[g] < reals->race[g] / 64)
      reals->outcome[g] = EVALUATED;
    else if (wide.race[g] <= reals->race[g] / 4)
      settled = false;
  }
  free_reals(source, &wide);
  return settled;
}

static Finding judge_reals(const Program *source, const Program *target, uint64_t seed, int draw, int no_laws) {
  int count;
  double **inputs = draw_inputs(source, seed, draw, &count);
  Finding found = finding(JUDGED_UNDECIDED, "memory");
  if (!inputs)
    return found;
  Reals reals = evaluate_both(source, target, no_laws, inputs, count, DOUBLES);
  bool settled = settle_races(source, target, no_laws, inputs, count, &reals);
  if (!settled)
    found = finding(JUDGED_UNDECIDED, "precision");
  else if (reals.outcome[0] != EVALUATED || reals.outcome[1] != EVALUATED)
    found = of_outcome(reals.outcome[0], reals.outcome[1]);
  else
    found = compare_reals(source, &reals);
  bool counts = found.kind == JUDGED_DIFFERENT && (!strcmp(found.why, "values") || !strcmp(found.why, "undefined"));
  if (counts)
    found = confirm(source, target, no_laws, inputs, count, found, &reals);
  free_reals(source, &reals);
  free_inputs(inputs, count);
  return found;
}

static bool has_maximum(const Program *p) {
  for (int i = 0; i < p->num; i++) {
    Op op = p->instr[i].op;
    if (op == OP_MAX || op == OP_MIN || op == OP_TOP || op == OP_RELU)
      return true;
  }
  return false;
}

// A maximum may choose the same at all inputs of moderate size, beside a constant of 500 say. Not with exponentials,
// which would leave the range of numbers.
static bool goes_far_out(const Program *p) {
  bool exponential = false;
  for (int i = 0; i < p->num; i++) {
    Op op = p->instr[i].op;
    exponential |= op == OP_EXP || op == OP_SIGMOID || op == OP_SILU || op == OP_SOFTMAX;
  }
  return has_maximum(p) && !exponential;
}

static bool merge(Finding *result, Finding found) {
  if (found.kind == JUDGED_DIFFERENT || found.kind == JUDGED_UNDECIDED || result->kind == JUDGED_NO_SOURCE)
    *result = found; // a draw at which the source has no value says nothing
  return found.kind == JUDGED_DIFFERENT;
}

static Finding judge_in_reals(const Program *source, const Program *target, uint64_t seed, int no_laws) {
  Finding result = finding(JUDGED_NO_SOURCE, "undefined");
  bool chooses = has_maximum(source) || has_maximum(target), small = work_of(source) + work_of(target) < 1e5;
  int draws = small ? SMALL_DRAWS : chooses ? MAXIMUM_DRAWS : REAL_DRAWS;
  int same = 0, undecided = 0; // what is zero but for rounding may leave few digits to compare, now and then
  for (int draw = 0; draw < draws; draw++) {
    Finding found = judge_reals(source, target, seed, draw, no_laws ? no_laws | draw << NO_LAW_BITS : 0);
    if (merge(&result, found))
      return result;
    same += found.kind == JUDGED_SAME;
    undecided += found.kind == JUDGED_UNDECIDED;
  }
  if (result.kind == JUDGED_UNDECIDED && same > 2 * undecided)
    result.kind = JUDGED_SAME;
  bool far = goes_far_out(source) && goes_far_out(target) && !no_laws;
  for (int draw = FAR_OUT; far && draw < FAR_OUT + FAR_DRAWS; draw++) {
    Finding found = judge_reals(source, target, seed, draw, 0);
    if (found.kind == JUDGED_DIFFERENT) // there digits are lost easily, so that anything else says nothing
      return found;
  }
  return result;
}

Finding judge_pair(const Program *source, const Program *target, uint64_t seed, int no_laws) {
  if (!is_rational(source) || !is_rational(target))
    return judge_in_reals(source, target, seed, no_laws);
  Finding result = finding(JUDGED_NO_SOURCE, "undefined");
  for (int draw = 0; draw < FIELD_DRAWS; draw++)
    if (merge(&result, judge_residues(source, target, seed, draw)))
      break;
  return result;
}
