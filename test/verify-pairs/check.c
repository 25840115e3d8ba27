// check.c - judge and verifier on the same pair (check.h).
#define _POSIX_C_SOURCE 200809L // clock_gettime
#include "check.h"
#include "emit.h"
#include "mirage/eval.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *const MODE_NAMES[NUM_MODES] = {"default", "small"};
const char *const CLASS_NAMES[NUM_CLASSES] = {"accepted right", "refused wrong", "FALSE ACCEPT",
                                              "false reject",   "undecided",     "failed"};

static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

// -------------------------------------------------------------------------------------------------------- element type

static bool exact_in_f16(const Program *p) {
  for (int i = 0; i < p->num; i++) {
    const Instr *at = &p->instr[i];
    if (at->op == OP_KERNEL ||
        (at->op == OP_CONST && mirage_f16_to_double(mirage_f16_from_double(at->value)) != at->value))
      return false;
  }
  return true;
}

static bool exact_in_f32(const Program *p) {
  bool exact = true;
  for (int i = 0; i < p->num; i++)
    exact &= p->instr[i].op != OP_CONST || (double)(float)p->instr[i].value == p->instr[i].value;
  return exact;
}

MirageDType dtype_of_pair(const Pair *pair, uint64_t number) {
  return number % 3 == 0 && exact_in_f16(&pair->source) && exact_in_f16(&pair->target) ? MIRAGE_F16 : MIRAGE_F32;
}

void print_pair(const Pair *pair, uint64_t number, FILE *to) {
  const char *dtype = mirage_dtype_name(dtype_of_pair(pair, number));
  print_program(&pair->source, "source", dtype, to);
  print_program(&pair->target, "target", dtype, to);
}

// ------------------------------------------------------------------------------------------------------- false rejects

// Digits say where, not why.
static void without_numbers(const char *text, char *out, size_t size) {
  size_t used = 0;
  for (const char *c = text; *c && used + 1 < size; c++) {
    bool digit = isdigit((unsigned char)*c) || (*c == '.' && isdigit((unsigned char)c[1]));
    if (digit && used > 0 && out[used - 1] == '#')
      continue;
    out[used++] = digit ? '#' : *c;
  }
  out[used] = 0;
}

// Which law the pair needs: without it the two are different.
static const char *law_needed(const Pair *pair, uint64_t seed) {
  if (is_rational(&pair->source) && is_rational(&pair->target))
    return "rational";
  static const struct {
    int no_laws;
    const char *name;
  } laws[] = {{NO_LAW_FUNCTIONS, "law of a function"},
              {NO_LAW_MAX, "law of max"},
              {NO_LAW_FUNCTIONS | NO_LAW_MAX, "laws of functions and max"},
              {NO_LAW_EXP, "law of exp"},
              {NO_LAW_EXP | NO_LAW_FUNCTIONS | NO_LAW_MAX, "laws of exp and others"}};
  for (size_t i = 0; i < sizeof laws / sizeof *laws; i++)
    if (judge_pair(&pair->source, &pair->target, seed, laws[i].no_laws).kind == JUDGED_DIFFERENT)
      return laws[i].name;
  return "no law";
}

static void note_cause(const Pair *pair, uint64_t seed, const MirageVerdict *verdict, char *cause, size_t size) {
  char reason[64];
  without_numbers(verdict->reason, reason, sizeof reason);
  snprintf(cause, size, "%s: %s%s%s", law_needed(pair, seed),
           verdict->kind == MIRAGE_VERDICT_DIFFERENT ? "different" : "unsupported, ",
           verdict->kind != MIRAGE_VERDICT_DIFFERENT ? reason
           : verdict->proof.shrunken                 ? " on a smaller instance"
                                                     : " at full size",
           "");
}

// ------------------------------------------------------------------------------------------------------------ one pair

static Class classify(const Finding *judged, const MirageVerdict *verdict) {
  bool accepted = verdict->kind == MIRAGE_VERDICT_EQUIVALENT;
  if (judged->kind == JUDGED_UNDECIDED)
    return UNDECIDED;
  if (judged->kind == JUDGED_SAME)
    return accepted ? ACCEPTED_RIGHT : FALSE_REJECT;
  return accepted ? FALSE_ACCEPT : REFUSED_WRONG;
}

static void ask(const CheckOptions *options, const Pair *pair, uint64_t number, Mode mode, const MirageUGraph *source,
                const MirageUGraph *target, Record *record) {
  double work = mode == MODE_SMALL ? 1 : options->max_work > 0 ? options->max_work : 2e6, start = milliseconds();
  const MirageVerifyOptions asked = {.seed = options->seed * 1000003 + number, .max_work = (uint64_t)work};
  MirageVerdict verdict = {.kind = MIRAGE_VERDICT_UNSUPPORTED};
  MirageStatus status = mirage_verify(source, target, &asked, NULL, &verdict);
  if (options->believe)
    verdict.kind = MIRAGE_VERDICT_EQUIVALENT;
  record->verify_ms[mode] = (float)(milliseconds() - start);
  record->shrunken[mode] = verdict.proof.shrunken;
  record->class[mode] = status == MIRAGE_OK ? classify(&record->judged, &verdict) : FAILED;
  if (record->class[mode] == FALSE_REJECT)
    note_cause(pair, number, &verdict, record->cause[mode], sizeof record->cause[mode]);
}

// The next pair with this number that the builder takes.
static void next_pair(const CheckOptions *options, uint64_t number, uint64_t *attempt, Pair *pair,
                      MirageUGraph *graphs[2], int *refused) {
  char reason[160];
  for (;;) {
    generate_pair(options->seed, number, attempt, pair);
    if (!exact_in_f32(&pair->source) || !exact_in_f32(&pair->target))
      continue;
    MirageDType dtype = dtype_of_pair(pair, number);
    graphs[0] = emit_graph(&pair->source, "source", dtype, reason);
    graphs[1] = graphs[0] ? emit_graph(&pair->target, "target", dtype, reason) : NULL;
    if (graphs[1])
      return;
    mirage_ugraph_destroy(graphs[0]);
    (*refused)++;
  }
}

void check_pair(const CheckOptions *options, uint64_t number, Pair *pair, Record *record) {
  MirageUGraph *graphs[2];
  uint64_t attempt = 0;
  memset(record, 0, sizeof *record);
  for (;;) {
    next_pair(options, number, &attempt, pair, graphs, &record->refused);
    double start = milliseconds();
    record->judged = judge_pair(&pair->source, &pair->target, options->seed * 77 + number, 0);
    record->judge_ms = (float)(milliseconds() - start);
    if (record->judged.kind != JUDGED_NO_SOURCE)
      break;
    record->undefined++;
    mirage_ugraph_destroy(graphs[0]);
    mirage_ugraph_destroy(graphs[1]);
  }
  snprintf(record->family, sizeof record->family, "%s", pair->family);
  snprintf(record->story, sizeof record->story, "%s", pair->story);
  for (int mode = 0; mode < NUM_MODES && !options->judge_only; mode++)
    ask(options, pair, number, (Mode)mode, graphs[0], graphs[1], record);
  mirage_ugraph_destroy(graphs[0]);
  mirage_ugraph_destroy(graphs[1]);
}

// --------------------------------------------------------------------------------------------------------- cross-check

typedef struct Values {
  double *outputs[MAX_OUTPUTS];
} Values;

static Values alloc_values(const Program *p) {
  Values values = {{NULL}};
  for (int o = 0; o < p->num_outputs; o++)
    values.outputs[o] = calloc((size_t)elements(&p->instr[p->outputs[o]].shape), sizeof(double));
  return values;
}

static void free_values(const Program *p, Values *values) {
  for (int o = 0; o < p->num_outputs; o++)
    free(values->outputs[o]);
}

// What long doubles give: how far they are from the doubles says what rounding does here.
static void rounding_of(const Program *p, double **inputs, int count, double **out) {
  long double *wide[MAX_INSTRS], *values[MAX_OUTPUTS];
  for (int i = 0, k = 0; i < p->num && k < count; i++) {
    if (p->instr[i].op != OP_INPUT)
      continue;
    int64_t n = elements(&p->instr[i].shape);
    wide[k] = malloc((size_t)n * sizeof **wide);
    for (int64_t e = 0; wide[k] && e < n; e++)
      wide[k][e] = inputs[k][e];
    k++;
  }
  for (int o = 0; o < p->num_outputs; o++)
    values[o] = calloc((size_t)elements(&p->instr[p->outputs[o]].shape), sizeof(long double));
  evaluate_long(p, 0, (const long double *const *)wide, values, NULL);
  for (int o = 0; o < p->num_outputs; o++) {
    for (int64_t i = 0, n = elements(&p->instr[p->outputs[o]].shape); i < n; i++)
      out[o][i] = (double)values[o][i];
    free(values[o]);
  }
  for (int k = 0; k < count; k++)
    free(wide[k]);
}

// What has no value here (a quotient by zero) may be an infinity there, and what a maximum makes of it.
static bool agree(double a, double b, double rounding, double scale) {
  return isnan(a) || a == b || fabs(a - b) <= 1e-8 * (fabs(a) + scale) + 1e4 * rounding;
}

static bool outputs_agree(const Program *p, const Values *ours, const Values *theirs, const Values *wide, FILE *to) {
  for (int o = 0; o < p->num_outputs; o++) {
    int64_t n = elements(&p->instr[p->outputs[o]].shape);
    double scale = 0, rounding = 0;
    for (int64_t i = 0; i < n; i++)
      if (isfinite(ours->outputs[o][i]) && isfinite(wide->outputs[o][i])) {
        scale = fmax(scale, fabs(ours->outputs[o][i]));
        rounding = fmax(rounding, fabs(ours->outputs[o][i] - wide->outputs[o][i]));
      }
    for (int64_t i = 0; i < n; i++)
      if (!agree(ours->outputs[o][i], theirs->outputs[o][i], rounding, 1e-3 * scale)) {
        fprintf(to, "output %d, element %ld: %.17g here, %.17g by mirage_eval\n", o, (long)i, ours->outputs[o][i],
                theirs->outputs[o][i]);
        return false;
      }
  }
  return true;
}

static bool cross_check_one(const Program *p, const MirageUGraph *graph, uint64_t seed, FILE *to) {
  int count;
  double **inputs = draw_inputs(p, seed, 0, &count);
  Values ours = alloc_values(p), theirs = alloc_values(p);
  Outcome outcome = evaluate_double(p, 0, (const double *const *)inputs, ours.outputs, NULL);
  MirageStatus status =
      mirage_eval(graph, mirage_domain_f64(), (const void *const *)inputs, (void *const *)theirs.outputs, NULL, NULL);
  bool same = (outcome == EVALUATED) == (status == MIRAGE_OK);
  Values wide = alloc_values(p);
  if (same && outcome == EVALUATED)
    rounding_of(p, inputs, count, wide.outputs);
  if (!same)
    fprintf(to, "outcome %d here, status %d (%s) by mirage_eval\n", outcome, status, mirage_status_string(status));
  else if (outcome == EVALUATED)
    same = outputs_agree(p, &ours, &theirs, &wide, to);
  free_values(p, &ours);
  free_values(p, &theirs);
  free_values(p, &wide);
  free_inputs(inputs, count);
  return same;
}

int cross_check(const CheckOptions *options, uint64_t number, Pair *pair, FILE *to) {
  MirageUGraph *graphs[2];
  uint64_t attempt = 0;
  int refused = 0, differences = 0;
  next_pair(options, number, &attempt, pair, graphs, &refused);
  const Program *programs[2] = {&pair->source, &pair->target};
  for (int g = 0; g < 2; g++) {
    if (!cross_check_one(programs[g], graphs[g], number, to)) {
      differences++;
      fprintf(to, "  pair %lu, %s: %s, %s\n", (unsigned long)number, g ? "target" : "source", pair->family,
              pair->story);
    }
    mirage_ugraph_destroy(graphs[g]);
  }
  return differences;
}
