// trials.c - evaluates a pair at random points, and compares.
//
// A trial:     fresh primes, root of unity and inputs from (seed, number); both graphs in mirage_eval; outputs compared
//              mod p. Where an output has no value, since something is divided by zero, the point is drawn again, at
//              most VERIFY_ATTEMPTS times, which the bound accounts for.
// Undefined:   a graph that divides by zero at all these points where the program has a value is DIFFERENT: a
//              denominator that is not zero formally is so at a random point with a probability of some 2^-50.
// Weights:     of a weighted instance (shrink.c) are drawn like inputs, but for the last of each sort, which makes
//              their sum the number of indices that the points stand for.
#include "shrink.h"

#include "mirage/random.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct Trials {
  const VerifyInstance *instance;
  const MirageVerifyOptions *options;
  MirageVerdict *verdict;
  uint64_t seed; // of fields
  bool free_exp; // the theorem that the trials are for
  MirageResidue **inputs, **outputs[2];
  MirageEvalMemory *memory, *own; // the options', or own
} Trials;

// Evaluation's sentences become the verdict's reason.
static void take_reason(void *user, MirageSeverity severity, const void *loc, const char *message) {
  MirageVerdict *verdict = user;
  if (severity != MIRAGE_SEVERITY_ERROR || verdict->reason[0])
    return;
  snprintf(verdict->reason, sizeof verdict->reason, "%s", message);
  verdict->loc = loc;
}

// ------------------------------------------------------------------------------------------------------------- storage

typedef MirageValue (*GetValue)(const MirageUGraph *, uint32_t);

static size_t bytes_of(const MirageUGraph *graph, MirageValue value) {
  return (size_t)mirage_type_elements(mirage_ugraph_type(graph, value)) * sizeof(MirageResidue);
}

static void give_arrays(MirageEvalMemory *memory, const MirageUGraph *graph, uint32_t count, GetValue get,
                        MirageResidue **arrays) {
  for (uint32_t i = 0; arrays && i < count; i++)
    mirage_eval_memory_give(memory, arrays[i], bytes_of(graph, get(graph, i)));
  free(arrays);
}

static MirageResidue **take_arrays(MirageEvalMemory *memory, const MirageUGraph *graph, uint32_t count, GetValue get) {
  MirageResidue **arrays = calloc(count + 1, sizeof(MirageResidue *));
  for (uint32_t i = 0; arrays && i < count; i++) {
    arrays[i] = mirage_eval_memory_take(memory, bytes_of(graph, get(graph, i)));
    if (!arrays[i]) {
      give_arrays(memory, graph, i, get, arrays);
      return NULL;
    }
  }
  return arrays;
}

MirageResidue **mirage__verify_alloc_inputs(const MirageUGraph *graph) {
  return take_arrays(NULL, graph, mirage_ugraph_num_inputs(graph), mirage_ugraph_get_input);
}

MirageResidue **mirage__verify_alloc_outputs(const MirageUGraph *graph) {
  return take_arrays(NULL, graph, mirage_ugraph_num_outputs(graph), mirage_ugraph_get_output);
}

void mirage__verify_free_arrays(MirageResidue **arrays, uint32_t count) {
  for (uint32_t i = 0; arrays && i < count; i++)
    free(arrays[i]);
  free(arrays);
}

static void storage_deinit(Trials *trials) {
  const MirageUGraph *source = trials->instance->source;
  give_arrays(trials->memory, source, mirage_ugraph_num_inputs(source), mirage_ugraph_get_input, trials->inputs);
  for (int g = 0; g < 2; g++)
    give_arrays(trials->memory, source, mirage_ugraph_num_outputs(source), mirage_ugraph_get_output,
                trials->outputs[g]);
  mirage_eval_memory_destroy(trials->own);
}

static MirageStatus storage_init(Trials *trials) {
  const MirageUGraph *source = trials->instance->source;
  trials->own = trials->options->memory ? NULL : mirage_eval_memory_create(0);
  trials->memory = trials->own ? trials->own : trials->options->memory;
  trials->inputs = take_arrays(trials->memory, source, mirage_ugraph_num_inputs(source), mirage_ugraph_get_input);
  for (int g = 0; g < 2; g++)
    trials->outputs[g] =
        take_arrays(trials->memory, source, mirage_ugraph_num_outputs(source), mirage_ugraph_get_output);
  return trials->inputs && trials->outputs[0] && trials->outputs[1] ? MIRAGE_OK : MIRAGE_NO_MEMORY;
}

// --------------------------------------------------------------------------------------------------------------
// drawing

// The weights of points [0, points) of a sort of `size` indices.
static MirageStatus draw_sort(const MirageDomain *domain, int64_t size, int64_t points, MirageResidue *weights) {
  const MirageType one = mirage_type_tensor(MIRAGE_F32, 0, NULL);
  if (points == size)
    return domain->constant(domain, &one, (size_t)points, 1.0, weights);
  MirageResidue *last = &weights[points - 1];
  MIRAGE_TRY(domain->constant(domain, &one, 1, (double)size, last));
  for (int64_t i = 0; i + 1 < points; i++)
    MIRAGE_TRY(domain->binary(domain, MIRAGE_OP_SUB, &one, 1, last, &weights[i], last));
  return MIRAGE_OK;
}

MirageStatus mirage__verify_draw_weights(const MirageField *field, const VerifyWeights *weights,
                                         MirageResidue **inputs) {
  for (uint32_t a = 0; a < weights->num_axes; a++) {
    const VerifyAxis *axis = &weights->axes[a];
    const MirageDomain *domain = mirage_field_domain(field);
    int64_t points = axis->points[0] + axis->points[1];
    MirageResidue *drawn = malloc((size_t)points * sizeof *drawn);
    if (!drawn)
      return MIRAGE_NO_MEMORY;
    mirage_field_draw(field, weights->first_input + a, (size_t)points, drawn);
    MirageStatus status = draw_sort(domain, axis->sizes[0], axis->points[0], drawn);
    if (status == MIRAGE_OK)
      status = draw_sort(domain, axis->sizes[1], axis->points[1], drawn + axis->points[0]);
    for (uint32_t p = 0; p < weights->num_patterns && status == MIRAGE_OK; p++) {
      const VerifyPattern *pattern = &weights->patterns[p];
      for (int64_t i = 0; pattern->axis == a && i < pattern->extent; i++)
        inputs[weights->first_input + p][i] = drawn[i / pattern->inner % points];
    }
    free(drawn);
    MIRAGE_TRY(status);
  }
  return MIRAGE_OK;
}

// Fills the inputs of an instance at a random point, weights among them.
static MirageStatus draw_inputs(const MirageField *field, const VerifyInstance *instance, const MirageCancel *cancel,
                                MirageResidue **inputs) {
  uint32_t own = instance->weights ? instance->weights->first_input : mirage_ugraph_num_inputs(instance->source);
  for (uint32_t i = 0; i < own; i++) {
    const MirageType *type = mirage_ugraph_type(instance->source, mirage_ugraph_get_input(instance->source, i));
    MIRAGE_TRY(mirage_field_draw_input(field, i, type, cancel, inputs[i]));
  }
  return instance->weights ? mirage__verify_draw_weights(field, instance->weights, inputs) : MIRAGE_OK;
}

// -------------------------------------------------------------------------------------------------------------- trials

// Both graphs at one random point. In partial fields, elements may be undefined; else REDRAW when either divides by
// zero.
static MirageStatus evaluate_in(Trials *trials, uint32_t draw, bool partial) {
  const MirageFieldModes modes = {.partial = partial, .free_exp = trials->free_exp};
  MirageField *field = mirage_field_create_with(trials->seed, draw, modes);
  if (!field)
    return MIRAGE_NO_MEMORY;
  const MirageDiag reason = {take_reason, trials->verdict};
  const MirageUGraph *graphs[2] = {trials->instance->source, trials->instance->target};
  MirageStatus status = draw_inputs(field, trials->instance, trials->options->cancel, trials->inputs);
  const MirageEvalOptions options = {
      .num_threads = trials->options->num_threads, .cancel = trials->options->cancel, .memory = trials->memory};
  for (int g = 0; g < 2 && status == MIRAGE_OK; g++)
    status = mirage_eval(graphs[g], mirage_field_domain(field), (const void *const *)trials->inputs,
                         (void *const *)trials->outputs[g], &options, &reason);
  mirage_field_destroy(field);
  return status;
}

static size_t output_elements(const Trials *trials, uint32_t output) {
  const MirageUGraph *source = trials->instance->source;
  return (size_t)mirage_type_elements(mirage_ugraph_type(source, mirage_ugraph_get_output(source, output)));
}

static void note_witness(Trials *trials, uint32_t draw, uint32_t output, size_t index) {
  MirageVerdict *verdict = trials->verdict;
  verdict->seed = trials->options->seed;
  verdict->trial = draw / VERIFY_ATTEMPTS;
  verdict->draw = draw;
  verdict->output = output;
  verdict->index = index;
  verdict->source_value = trials->outputs[0][output][index].p;
  verdict->target_value = trials->outputs[1][output][index].p;
}

typedef enum Definedness {
  DEFINED,        // every element, in both graphs
  TARGET_DIVIDES, // by zero, where the program has a value: the witness is noted
  UNDEFINED,      // some element, otherwise
  WITHOUT_RULE,   // some element comes of an operator on bottom that has no rule: another draw may hide it, no more
} Definedness;

// What has no value does not count where it reaches no output, as in masked lanes.
static Definedness look_for_undefined(Trials *trials, uint32_t draw) {
  Definedness found = DEFINED;
  for (uint32_t o = 0; o < mirage_ugraph_num_outputs(trials->instance->source); o++)
    for (size_t i = 0, n = output_elements(trials, o); i < n; i++) {
      uint8_t source = trials->outputs[0][o][i].undefined, target = trials->outputs[1][o][i].undefined;
      if (!source && target == MIRAGE_UNDEFINED_QUOTIENT) {
        note_witness(trials, draw, o, i);
        return TARGET_DIVIDES;
      }
      if (source == MIRAGE_UNDEFINED_RULE || target == MIRAGE_UNDEFINED_RULE)
        return WITHOUT_RULE;
      found = source | target ? UNDEFINED : found;
    }
  return found;
}

static bool find_difference(Trials *trials, uint32_t draw) {
  for (uint32_t o = 0; o < mirage_ugraph_num_outputs(trials->instance->source); o++) {
    const MirageResidue *a = trials->outputs[0][o], *b = trials->outputs[1][o];
    for (size_t i = 0, n = output_elements(trials, o); i < n; i++) {
      if (a[i].p == b[i].p && a[i].bottom == b[i].bottom)
        continue;
      note_witness(trials, draw, o, i);
      trials->verdict->kind = MIRAGE_VERDICT_DIFFERENT;
      return true;
    }
  }
  return false;
}

// A point at which all is defined, in trials->outputs; or DIFFERENT; or REDRAW with a reason, or what failed.
static MirageStatus find_point(Trials *trials, uint32_t first, uint32_t *out_draw) {
  bool divides = true;
  for (uint32_t attempt = 0; attempt < VERIFY_ATTEMPTS; attempt++) {
    *out_draw = first + attempt;
    MIRAGE_TRY(evaluate_in(trials, *out_draw, true));
    Definedness found = look_for_undefined(trials, *out_draw);
    if (found == DEFINED)
      return MIRAGE_OK;
    divides &= found == TARGET_DIVIDES;
    if (found == WITHOUT_RULE)
      break;
  }
  if (divides) {
    trials->verdict->kind = MIRAGE_VERDICT_DIFFERENT;
    trials->verdict->undefined = true;
    return MIRAGE_OK;
  }
  MirageStatus status = evaluate_in(trials, *out_draw, false); // says why
  return status == MIRAGE_OK ? MIRAGE_REDRAW : status;
}

static const char *words_of(MirageStatus status) {
  switch (status) {
  case MIRAGE_REDRAW:
    return "evaluation divides by zero at every random point";
  case MIRAGE_LIMIT:
    return "its running maxima have too many members to be told apart in 512 MB";
  default:
    return mirage_status_string(status);
  }
}

static MirageStatus run(Trials *trials, uint32_t count) {
  MirageVerdict *verdict = trials->verdict;
  verdict->kind = MIRAGE_VERDICT_UNSUPPORTED;
  for (uint32_t trial = 0; trial < count; trial++) {
    uint32_t draw;
    if (trials->options->progress)
      trials->options->progress(trials->options->user, &(MirageVerifyProgress){.trial = trial + 1, .trials = count});
    MirageStatus status = find_point(trials, (trials->options->first_trial + trial) * VERIFY_ATTEMPTS, &draw);
    if (status == MIRAGE_NO_MEMORY || status == MIRAGE_CANCELLED)
      return status;
    if (verdict->kind == MIRAGE_VERDICT_DIFFERENT)
      return MIRAGE_OK;
    if (status != MIRAGE_OK) {
      if (!verdict->reason[0])
        snprintf(verdict->reason, sizeof verdict->reason, "%s", words_of(status));
      return MIRAGE_OK;
    }
    if (find_difference(trials, draw))
      return MIRAGE_OK;
  }
  verdict->kind = MIRAGE_VERDICT_EQUIVALENT;
  return MIRAGE_OK;
}

MirageStatus mirage__verify_trials(const VerifyInstance *instance, const MirageVerifyOptions *options, bool free_exp,
                                   uint32_t count, MirageVerdict *verdict) {
  Trials trials = {.instance = instance, .options = options, .verdict = verdict, .free_exp = free_exp};
  trials.seed = mirage_random_purpose(options->seed, "verify");
  MirageStatus status = storage_init(&trials);
  if (status == MIRAGE_OK)
    status = run(&trials, count);
  storage_deinit(&trials);
  return status;
}
