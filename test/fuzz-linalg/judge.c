// judge.c - one module before and after the pass.
//
// Order:    parse, pass, remarks, verifier; then each function is run before and after on the same random inputs: first in real
//           arithmetic (doubles, no roundings), where the results have to be equal, then in the types of the source, where ours
//           may not be much less exact than what was there.
// Equal:    a difference counts if it is larger than what rounding makes of the source itself: the source is run again with each
//           result off by some units in the last place, a few times, and the differences that this gives are the measure. Where
//           they are as large as the value, as behind a step, nothing is decided.
// Exact:    the error of ours in the source's types, against real arithmetic and over a whole tensor, is at most a few times that
//           of the source, which again is the worst of some noisy runs.
#include "judge.h"

#include "run.h"

#include "mirage-c/Dialects.h"
#include "mirage/bridge.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/Dialect/Arith.h"
#include "mlir-c/Dialect/ControlFlow.h"
#include "mlir-c/Dialect/Func.h"
#include "mlir-c/Dialect/Linalg.h"
#include "mlir-c/Dialect/Math.h"
#include "mlir-c/Dialect/MemRef.h"
#include "mlir-c/Dialect/SCF.h"
#include "mlir-c/Dialect/Tensor.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NOISY_RUNS = 4, MORE_RUNS = 48 };

const char *const VERDICT_NAMES[NUM_VERDICTS] = {"same",        "undecided", "not run",   "bad input", "pass failed",
                                                 "bad remarks", "not valid", "DIFFERENT", "IMPRECISE"};

// ---------------------------------------------------------------------------------------------------------------- context

static MlirLogicalResult swallow(MlirDiagnostic diagnostic, void *user) { return mlirLogicalResultSuccess(); }

MlirContext judge_context(void) {
  MlirContext context = mlirContextCreateWithThreading(false);
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  MlirDialectHandle handles[] = {mlirGetDialectHandle__arith__(), mlirGetDialectHandle__cf__(),
                                 mlirGetDialectHandle__func__(),  mlirGetDialectHandle__linalg__(),
                                 mlirGetDialectHandle__math__(),  mlirGetDialectHandle__memref__(),
                                 mlirGetDialectHandle__scf__(),   mlirGetDialectHandle__tensor__()};
  for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
    mlirDialectHandleInsertDialect(handles[i], registry);
  mirageRegisterDialects(registry);
  mlirContextAppendDialectRegistry(context, registry);
  mlirDialectRegistryDestroy(registry);
  mlirContextLoadAllAvailableDialects(context);
  mlirContextAttachDiagnosticHandler(context, swallow, NULL, NULL);
  return context;
}

__attribute__((format(printf, 3, 4))) static void decide(Judgement *judgement, Verdict verdict, const char *format,
                                                         ...) {
  va_list arguments;
  if (judgement->verdict >= verdict)
    return; // what is worse is known
  judgement->verdict = verdict;
  va_start(arguments, format);
  vsnprintf(judgement->reason, sizeof judgement->reason, format, arguments);
  va_end(arguments);
}

// ----------------------------------------------------------------------------------------------------------------- remarks

// What the pass said: operations of functions, those inside, and those of which it said why not.
typedef struct Remarks {
  unsigned all, inside, outside, errors, odd;
  char first_odd[200];
} Remarks;

static void hear(void *user, MirageSeverity severity, const void *loc, const char *message) {
  static const char stays[] = " stays outside: ";
  Remarks *remarks = user;
  unsigned inside, all;
  const char *reason = strstr(message, stays), *colon = strstr(message, ": ");
  bool odd = severity != MIRAGE_SEVERITY_REMARK || !loc;
  if (reason) {
    remarks->outside++;
    reason += sizeof stays - 1;
    odd |= !*reason || !strcmp(reason, "unknown") || strchr(reason, '\n');
  } else if (colon && sscanf(colon, ": %u of %u operations", &inside, &all) == 2) {
    remarks->inside += inside;
    remarks->all += all;
  } else {
    odd = true;
  }
  remarks->errors += severity == MIRAGE_SEVERITY_ERROR;
  if (odd && remarks->odd++ == 0)
    snprintf(remarks->first_odd, sizeof remarks->first_odd, "%s", message);
}

static void run_pass(MlirModule module, Judgement *judgement) {
  const MiragePartitionOptions options = {.explain = true};
  Remarks remarks = {0};
  const MirageDiag diag = {hear, &remarks};
  MirageStatus status = mirage_bridge_partition(mlirModuleGetOperation(module), &options, &diag);
  if (status != MIRAGE_OK)
    decide(judgement, PASS_FAILED, "%s: %s", mirage_status_string(status), remarks.first_odd);
  else if (remarks.odd)
    decide(judgement, BAD_REMARKS, "an odd message: %s", remarks.first_odd);
  else if (remarks.all - remarks.inside != remarks.outside)
    decide(judgement, BAD_REMARKS, "%u of %u operations inside, and %u reasons", remarks.inside, remarks.all,
           remarks.outside);
  else if (!mlirOperationVerify(mlirModuleGetOperation(module)))
    decide(judgement, NOT_VALID, "after the pass");
}

static void run_again(MlirContext context, MlirModule module, Judgement *judgement) {
  Text text = {0};
  mlirOperationPrint(mlirModuleGetOperation(module), text_print, &text);
  MlirModule copy = mlirModuleCreateParse(context, mlirStringRefCreate(text.data, text.used));
  if (mlirModuleIsNull(copy))
    decide(judgement, NOT_VALID, "printed, it cannot be read");
  else
    run_pass(copy, judgement);
  if (!mlirModuleIsNull(copy))
    mlirModuleDestroy(copy);
  text_free(&text);
}

// -------------------------------------------------------------------------------------------------------------- comparing

typedef struct Case {
  MirageArena *arena;
  MlirOperation before, after;
  Tensor **inputs;
  uint64_t seed;
  const char *name;
  Judgement *judgement;
  bool has_noise[2];
  Run noisy[2][NOISY_RUNS]; // of the source: in real arithmetic, in its types
} Case;

static const Run *noisy_runs(Case *c, bool rounds) {
  for (int i = 0; i < NOISY_RUNS && !c->has_noise[rounds]; i++)
    run_function(c->arena, c->before, c->inputs, (Arithmetic){rounds, rounds ? 1 : 8}, c->seed + (uint64_t)i,
                 &c->noisy[rounds][i]);
  c->has_noise[rounds] = true;
  return c->noisy[rounds];
}

static bool same_kind(const Run *a, const Run *b) {
  if (a->count != b->count)
    return false;
  for (uint32_t i = 0; i < a->count; i++)
    if (!same_shape(a->tensors[i], b->tensors[i]))
      return false;
  return true;
}

/// What noise makes of an element of the source; infinite where it makes another of it altogether.
static double noise_at(Case *c, bool rounds, uint32_t tensor, int64_t i, const Tensor *source) {
  const Run *runs = noisy_runs(c, rounds);
  double most = 0;
  for (int k = 0; k < NOISY_RUNS; k++) {
    const Run *run = &runs[k];
    if (!run->ok || tensor >= run->count || !same_shape(run->tensors[tensor], source))
      return INFINITY;
    Scalar x = run->tensors[tensor]->data[i], y = source->data[i];
    if (!is_float(source->elem))
      most = x.i == y.i ? most : INFINITY;
    else
      most = isfinite(x.f) ? fmax(most, fabs(x.f - y.f)) : INFINITY;
  }
  return most;
}

/// Whether the source, run again and again, comes as far as ours: four runs seldom miss a step, and now and then do.
static bool reaches(Case *c, uint32_t tensor, int64_t i, const Tensor *source, double distance) {
  for (int k = 0; k < MORE_RUNS; k++) {
    Run run;
    run_function(c->arena, c->before, c->inputs, (Arithmetic){false, 8}, c->seed + NOISY_RUNS + (uint64_t)k, &run);
    if (!run.ok || tensor >= run.count || !same_shape(run.tensors[tensor], source))
      return true;
    Scalar x = run.tensors[tensor]->data[i], y = source->data[i];
    if (is_float(source->elem) ? !(64 * fabs(x.f - y.f) < distance) : x.i != y.i)
      return true;
  }
  return false;
}

static void compare_element(Case *c, uint32_t t, int64_t i, const Tensor *before, const Tensor *after, bool swallowed) {
  enum { TIMES = 64 };
  Scalar x = before->data[i], y = after->data[i];
  bool floats = is_float(before->elem);
  if (floats && isnan(x.f)) {
    c->judgement->skipped++;
    return;
  }
  c->judgement->compared++;
  if (floats ? x.f == y.f || fabs(x.f - y.f) <= 1e-13 * fabs(x.f) : x.i == y.i)
    return;
  double noise = isinf(floats ? x.f : 0) || swallowed ? INFINITY : noise_at(c, false, t, i, before);
  bool differs = !isinf(noise) && (!floats || !(fabs(x.f - y.f) <= TIMES * noise)); // as a difference from NaN is
  if (isinf(noise) ||
      (differs && c->judgement->verdict < DIFFERENT && reaches(c, t, i, before, floats ? fabs(x.f - y.f) : 1)))
    decide(c->judgement, UNDECIDED, "@%s: element %ld of tensor %u is a step, or has no value", c->name, (long)i, t);
  else if (differs && !floats)
    decide(c->judgement, DIFFERENT, "@%s: element %ld of tensor %u is %ld, not %ld", c->name, (long)i, t, (long)y.i,
           (long)x.i);
  else if (differs)
    decide(c->judgement, DIFFERENT, "@%s: element %ld of tensor %u is %.17g, not %.17g; rounding makes %.3g", c->name,
           (long)i, t, y.f, x.f, noise);
}

static void compare_reals(Case *c, const Run *before, const Run *after) {
  if (!same_kind(before, after)) {
    decide(c->judgement, DIFFERENT, "@%s: %u tensors come out, not %u, or their shapes differ", c->name, after->count,
           before->count);
    return;
  }
  for (uint32_t t = 0; t < before->count; t++)
    for (int64_t i = 0; i < before->tensors[t]->count; i++)
      compare_element(c, t, i, before->tensors[t], after->tensors[t], before->swallowed);
}

// Squares of errors over a tensor.
typedef struct Errors {
  double ours, source, noisy[NOISY_RUNS], size;
  bool lost;       // a number became none,
  int64_t lost_at; // that one first
} Errors;

static double square(double x) { return x * x; }

static void add_element(const Run *runs, uint32_t t, int64_t i, const Run *reals, const Run *before, const Run *after,
                        Errors *errors) {
  double x = reals->tensors[t]->data[i].f, theirs = before->tensors[t]->data[i].f, ours = after->tensors[t]->data[i].f;
  bool finite = isfinite(x) && isfinite(theirs);
  for (int k = 0; k < NOISY_RUNS; k++)
    finite = finite && isfinite(runs[k].tensors[t]->data[i].f);
  if (!finite)
    return;
  if (!isfinite(ours)) {
    bool lost = !before->swallowed && !reals->swallowed;
    errors->lost_at = lost && !errors->lost ? i : errors->lost_at;
    errors->lost |= lost;
    return;
  }
  errors->ours += square(ours - x);
  errors->source += square(theirs - x);
  errors->size += square(x);
  for (int k = 0; k < NOISY_RUNS; k++)
    errors->noisy[k] += square(runs[k].tensors[t]->data[i].f - x);
}

static const double TIMES_WORSE = 6, LEAST_ERROR = 0x1p-21;

/// Whether no noise need be asked: ours are about as exact as the source's, and numbers where it has some.
static bool is_as_exact(const Run *reals, const Run *before, const Run *after) {
  for (uint32_t t = 0; t < reals->count; t++) {
    double ours = 0, source = 0, size = 0;
    for (int64_t i = 0; is_float(reals->tensors[t]->elem) && i < reals->tensors[t]->count; i++) {
      double x = reals->tensors[t]->data[i].f;
      ours += square(after->tensors[t]->data[i].f - x);
      source += square(before->tensors[t]->data[i].f - x);
      size += square(x);
    }
    if (!(sqrt(ours) <= TIMES_WORSE * sqrt(source) + LEAST_ERROR * sqrt(size)))
      return false; // what is no number compares so, too
  }
  return true;
}

static double allowed_error(const Errors *errors, double worst) {
  return TIMES_WORSE * sqrt(worst) + LEAST_ERROR * sqrt(errors->size);
}

/// Whether the source, run again and again in its types, errs as much as ours, or loses the number that ours lost: four runs now
/// and then miss a step.
static bool errs_as_much(Case *c, const Run *reals, uint32_t t, const Errors *errors) {
  for (int k = 0; k < MORE_RUNS; k++) {
    Run run;
    double error = 0;
    run_function(c->arena, c->before, c->inputs, (Arithmetic){true, 1}, c->seed + NOISY_RUNS + (uint64_t)k, &run);
    if (!run.ok || !same_kind(reals, &run))
      return true;
    for (int64_t i = 0; i < reals->tensors[t]->count; i++) {
      double difference = run.tensors[t]->data[i].f - reals->tensors[t]->data[i].f;
      error += isfinite(difference) ? square(difference) : 0;
    }
    if (errors->lost ? !isfinite(run.tensors[t]->data[errors->lost_at].f)
                     : sqrt(errors->ours) <= allowed_error(errors, error))
      return true;
  }
  return false;
}

static void compare_tensor(Case *c, const Run *reals, const Run *before, const Run *after, const Run *runs,
                           uint32_t t) {
  Errors errors = {0};
  for (int64_t i = 0; is_float(reals->tensors[t]->elem) && i < reals->tensors[t]->count; i++)
    add_element(runs, t, i, reals, before, after, &errors);
  double worst = errors.source;
  for (int k = 0; k < NOISY_RUNS; k++)
    worst = fmax(worst, errors.noisy[k]);
  if (!errors.lost && sqrt(errors.ours) <= allowed_error(&errors, worst))
    return;
  if (errs_as_much(c, reals, t, &errors))
    decide(c->judgement, UNDECIDED, "@%s: tensor %u has a step, in its types", c->name, t);
  else if (errors.lost)
    decide(c->judgement, IMPRECISE, "@%s: tensor %u is infinite or no number where it was one", c->name, t);
  else
    decide(c->judgement, IMPRECISE, "@%s: tensor %u has an error of %.3g, before %.3g, with noise %.3g", c->name, t,
           sqrt(errors.ours), sqrt(errors.source), sqrt(worst));
}

/// In the types of the source.
static void compare_types(Case *c, const Run *reals, const Run *before, const Run *after) {
  if (!same_kind(reals, before) || !same_kind(reals, after) || is_as_exact(reals, before, after))
    return;
  const Run *runs = noisy_runs(c, true);
  for (int k = 0; k < NOISY_RUNS; k++)
    if (!runs[k].ok || !same_kind(reals, &runs[k]))
      return;
  for (uint32_t t = 0; t < reals->count; t++)
    compare_tensor(c, reals, before, after, runs, t);
}

static void judge_run(Case *c) {
  const Arithmetic reals = {false, 0}, types = {true, 0};
  Run before, after, rounded, ours;
  run_function(c->arena, c->before, c->inputs, reals, 1, &before);
  if (!before.ok) {
    decide(c->judgement, NOT_RUN, "@%s: %s", c->name, before.reason);
    return;
  }
  run_function(c->arena, c->after, c->inputs, reals, 1, &after);
  if (!after.ok) {
    decide(c->judgement, after.undefined ? UNDECIDED : DIFFERENT, "@%s after the pass: %s", c->name, after.reason);
    return;
  }
  compare_reals(c, &before, &after);
  if (c->judgement->verdict != SAME)
    return;
  run_function(c->arena, c->before, c->inputs, types, 1, &rounded);
  run_function(c->arena, c->after, c->inputs, types, 1, &ours);
  if (rounded.ok && ours.ok)
    compare_types(c, &before, &rounded, &ours);
  else if (!ours.undefined)
    decide(c->judgement, DIFFERENT, "@%s, in its types: %s", c->name, ours.ok ? rounded.reason : ours.reason);
}

// -------------------------------------------------------------------------------------------------------------- functions

static void compare_modules(MlirModule before, MlirModule after, const JudgeOptions *options, Judgement *judgement) {
  Functions old = {0}, new = {0};
  list_functions(before, &old);
  list_functions(after, &new);
  if (old.count != new.count)
    decide(judgement, DIFFERENT, "%d functions, not %d", new.count, old.count);
  for (int i = 0; i < old.count && i < new.count; i++) {
    MirageArena arena;
    Tensor *inputs[MOST_TENSORS];
    char name[64];
    MlirStringRef symbol = mlirStringAttrGetValue(attribute_of(old.ops[i], "sym_name"));
    snprintf(name, sizeof name, "%.*s", (int)symbol.length, symbol.data);
    mirage_arena_init(&arena, NULL);
    Case c = {.arena = &arena,
              .before = old.ops[i],
              .after = new.ops[i],
              .inputs = inputs,
              .seed = options->seed,
              .name = name,
              .judgement = judgement};
    if (draw_inputs(&arena, old.ops[i], options->seed + (uint64_t)i, inputs))
      judge_run(&c);
    else
      decide(judgement, NOT_RUN, "@%s: an argument's type", name);
    mirage_arena_deinit(&arena);
  }
}

static void judge_parsed(MlirContext context, MlirModule before, MlirModule after, const JudgeOptions *options,
                         Counts *counts, Judgement *judgement) {
  if (counts)
    count_operations(before, false, counts);
  run_pass(after, judgement);
  if (is_failure(judgement->verdict))
    return;
  if (counts)
    count_operations(after, true, counts);
  if (options->spoil != SPOIL_NONE)
    judgement->spoiled = spoil_module(after, options->spoil);
  if (options->spoil != SPOIL_NONE && !judgement->spoiled)
    return; // nothing to see
  if (options->thorough && options->spoil == SPOIL_NONE)
    run_again(context, after, judgement);
  compare_modules(before, after, options, judgement);
}

Judgement judge_module(MlirContext context, const char *text, const JudgeOptions *options, Counts *counts) {
  Judgement judgement = {.verdict = SAME};
  MlirModule before = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(text));
  if (mlirModuleIsNull(before)) {
    decide(&judgement, BAD_INPUT, "the module is not valid");
    return judgement;
  }
  MlirModule after = mlirModuleFromOperation(mlirOperationClone(mlirModuleGetOperation(before)));
  judge_parsed(context, before, after, options, counts, &judgement);
  mlirModuleDestroy(after);
  mlirModuleDestroy(before);
  return judgement;
}
