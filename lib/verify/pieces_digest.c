// pieces_digest.c - evaluates both graphs of a pair at one random point, and keeps a digest of each tensor.
//
// Instance:  full size, or, where that costs too much, the smallest weighted one.
// Stages:    a graph is evaluated a run of operators at a time, so that of all its inputs - the weights of sixteen
//            layers are a gigabyte of residues - only those are drawn that the stage reads, and of its tensors only
//            those are kept that a later one reads.
// Field:     one for all stages: what it remembers of maxima stays known.
#include "pieces_digest.h"

#include "shrink.h"

#include "mirage/random.h"

#include <stdlib.h>
#include <string.h>

enum { STAGE = 16 }; // operators

typedef struct Digester {
  const MirageVerifyOptions *options;
  const VerifyInstance *instance;
  const MirageUGraph *graph;
  MirageField *field;
  MirageResidue **values;  // [num_values + 1]: what is there; NULL = not yet, or not any more
  MirageResidue **weights; // [num_inputs]: of the instance, drawn once
  uint32_t *number, *last; // [num_values + 1]: number and 1 of the operator that computes a value, and of the last one
                           // that reads it; 0 = none
  MirageValue *map;        // [num_values + 1]: into the stage
  uint64_t *digests;
} Digester;

/// A run of operators as a graph of its own.
typedef struct Stage {
  MirageUGraph *graph;
  uint32_t first, end;           // operators
  MirageValue *inputs, *outputs; // of the whole graph
  uint32_t num_inputs, num_outputs;
} Stage;

static MirageRegionView body_of(const MirageUGraph *graph) {
  return mirage_ugraph_region(graph, mirage_ugraph_body(graph));
}

static size_t elements_of(const MirageUGraph *graph, MirageValue v) {
  return (size_t)mirage_type_elements(mirage_ugraph_type(graph, v));
}

// 0 where some element has no value.
static uint64_t digest_of(const MirageResidue *values, size_t n) {
  uint64_t digest = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < n; i++) {
    if (values[i].undefined)
      return 0;
    digest = (digest ^ values[i].p ^ (uint64_t)values[i].bottom << 63) * UINT64_C(0x9e3779b97f4a7c15);
    digest ^= digest >> 29;
  }
  return digest | 1;
}

// --------------------------------------------------------------------------------------------------------------- stage

static bool is_constant(const Digester *digester, MirageValue v) {
  MirageNode def = mirage_ugraph_def(digester->graph, v);
  MirageOpKind kind = def.index ? mirage_op_info(mirage_ugraph_node(digester->graph, def).op)->kind : MIRAGE_KIND_UNARY;
  return kind == MIRAGE_KIND_CONSTANT || kind == MIRAGE_KIND_IOTA;
}

// Operands that no operator of the stage computes, once each: as inputs, or, of constants, which may have rank 0, as
// copies. Inputs stand before operators, so the two are added one after the other.
static bool add_operands(const Digester *digester, Stage *stage, bool constants) {
  MirageRegionView body = body_of(digester->graph);
  for (uint32_t n = stage->first; n < stage->end; n++) {
    MirageNodeView node = mirage_ugraph_node(digester->graph, body.nodes[n]);
    for (uint32_t i = 0; i < node.num_operands; i++) {
      MirageValue v = node.operands[i];
      if (digester->map[v.index].index || digester->number[v.index] > stage->first ||
          is_constant(digester, v) != constants)
        continue;
      if (constants) {
        MirageNode def = mirage_ugraph_def(digester->graph, v);
        if (mirage_ugraph_copy_nodes(stage->graph, digester->graph, 1, &def, digester->map) != MIRAGE_OK)
          return false;
        continue;
      }
      digester->map[v.index] = mirage_ugraph_input(stage->graph, *mirage_ugraph_type(digester->graph, v));
      stage->inputs[stage->num_inputs++] = v;
    }
  }
  return true;
}

// All results are outputs.
static bool fill_stage(const Digester *digester, Stage *stage) {
  MirageRegionView body = body_of(digester->graph);
  MirageValue *results = calloc((size_t)mirage_ugraph_num_values(digester->graph) + 1, sizeof *results);
  uint32_t count = stage->end - stage->first;
  bool ok = results && add_operands(digester, stage, false) && add_operands(digester, stage, true) &&
            mirage_ugraph_copy_nodes(stage->graph, digester->graph, count, &body.nodes[stage->first], digester->map) ==
                MIRAGE_OK;
  for (uint32_t n = stage->first; ok && n < stage->end; n++) {
    MirageNodeView node = mirage_ugraph_node(digester->graph, body.nodes[n]);
    for (uint32_t r = 0; r < node.num_results; r++) {
      MirageValue v = {node.first_result.index + r};
      stage->outputs[stage->num_outputs] = v;
      results[stage->num_outputs++] = digester->map[v.index];
    }
  }
  if (ok) {
    mirage_ugraph_return(stage->graph, stage->num_outputs, results);
    ok = mirage_ugraph_finish(stage->graph) == MIRAGE_OK;
  }
  free(results);
  memset(digester->map, 0, ((size_t)mirage_ugraph_num_values(digester->graph) + 1) * sizeof *digester->map);
  return ok;
}

static void stage_deinit(Stage *stage) {
  mirage_ugraph_destroy(stage->graph);
  free(stage->inputs);
  free(stage->outputs);
}

static MirageStatus stage_init(const Digester *digester, uint32_t first, uint32_t end, Stage *stage) {
  size_t values = (size_t)mirage_ugraph_num_values(digester->graph) + 1;
  *stage = (Stage){.graph = mirage_ugraph_create(NULL, "stage", NULL),
                   .first = first,
                   .end = end,
                   .inputs = calloc(values, sizeof *stage->inputs),
                   .outputs = calloc(values, sizeof *stage->outputs)};
  bool ok = stage->graph && stage->inputs && stage->outputs && fill_stage(digester, stage);
  if (!ok)
    stage_deinit(stage);
  return ok ? MIRAGE_OK : MIRAGE_NO_MEMORY;
}

// ---------------------------------------------------------------------------------------------------------- evaluation

// An input of the whole graph that a stage reads: drawn now, unless it holds weights.
static MirageStatus draw(Digester *digester, MirageValue v) {
  size_t n = elements_of(digester->graph, v);
  uint32_t number = 0;
  while (mirage_ugraph_get_input(digester->graph, number).index != v.index)
    number++;
  digester->values[v.index] = malloc(n * sizeof **digester->values);
  if (!digester->values[v.index])
    return MIRAGE_NO_MEMORY;
  if (!digester->weights[number])
    return mirage_field_draw_input(digester->field, number, mirage_ugraph_type(digester->graph, v),
                                   digester->options->cancel, digester->values[v.index]);
  for (size_t i = 0; i < n; i++)
    digester->values[v.index][i] = digester->weights[number][i];
  return MIRAGE_OK;
}

static MirageStatus run_stage(Digester *digester, const Stage *stage) {
  const MirageEvalOptions options = {
      .num_threads = digester->options->num_threads, .cancel = digester->options->cancel, .keep_maxima = true};
  const void **inputs = calloc((size_t)stage->num_inputs + 1, sizeof *inputs);
  void **outputs = calloc((size_t)stage->num_outputs + 1, sizeof *outputs);
  MirageStatus status = inputs && outputs ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; status == MIRAGE_OK && i < stage->num_inputs; i++) {
    if (!digester->values[stage->inputs[i].index])
      status = draw(digester, stage->inputs[i]);
    inputs[i] = digester->values[stage->inputs[i].index];
  }
  for (uint32_t i = 0; status == MIRAGE_OK && i < stage->num_outputs; i++) {
    MirageValue v = stage->outputs[i];
    outputs[i] = digester->values[v.index] = malloc(elements_of(digester->graph, v) * sizeof **digester->values);
    status = outputs[i] ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  }
  if (status == MIRAGE_OK)
    status = mirage_eval(stage->graph, mirage_field_domain(digester->field), inputs, outputs, &options, NULL);
  for (uint32_t i = 0; status == MIRAGE_OK && i < stage->num_outputs; i++)
    if (mirage_dtype_family(mirage_ugraph_type(digester->graph, stage->outputs[i])->dtype) == MIRAGE_FAMILY_FLOAT)
      digester->digests[stage->outputs[i].index] = // predicates and indices are no cuts: drawn, they would mean less
          digest_of(outputs[i], elements_of(digester->graph, stage->outputs[i]));
  free(inputs);
  free(outputs);
  return status;
}

// What no later operator reads.
static void forget(Digester *digester, uint32_t end) {
  for (uint32_t v = 1; v <= mirage_ugraph_num_values(digester->graph); v++)
    if (digester->values[v] && digester->last[v] <= end) {
      free(digester->values[v]);
      digester->values[v] = NULL;
    }
}

static MirageStatus run_stages(Digester *digester) {
  MirageRegionView body = body_of(digester->graph);
  MirageStatus status = MIRAGE_OK;
  for (uint32_t n = 0; n + 1 < body.num_nodes; n++) {
    MirageNodeView node = mirage_ugraph_node(digester->graph, body.nodes[n]);
    for (uint32_t i = 0; i < node.num_operands; i++)
      digester->last[node.operands[i].index] = n + 1;
    for (uint32_t r = 0; r < node.num_results; r++)
      digester->number[node.first_result.index + r] = n + 1;
  }
  for (uint32_t first = 0; status == MIRAGE_OK && first + 1 < body.num_nodes; first += STAGE) {
    uint32_t end = first + STAGE < body.num_nodes - 1 ? first + STAGE : body.num_nodes - 1;
    Stage stage;
    status = stage_init(digester, first, end, &stage);
    if (status != MIRAGE_OK)
      break;
    status = run_stage(digester, &stage);
    stage_deinit(&stage);
    forget(digester, end);
  }
  return status;
}

// The instance's weights; they are small.
static MirageStatus draw_weights(Digester *digester) {
  const VerifyWeights *weights = digester->instance->weights;
  for (uint32_t p = 0; weights && p < weights->num_patterns; p++) {
    uint32_t number = weights->first_input + p;
    size_t n = elements_of(digester->graph, mirage_ugraph_get_input(digester->graph, number));
    digester->weights[number] = malloc(n * sizeof **digester->weights);
    if (!digester->weights[number])
      return MIRAGE_NO_MEMORY;
  }
  return weights ? mirage__verify_draw_weights(digester->field, weights, digester->weights) : MIRAGE_OK;
}

static MirageStatus digest_graph(const MirageVerifyOptions *options, const VerifyInstance *instance,
                                 const MirageUGraph *graph, bool free_exp, uint64_t *digests) {
  const MirageFieldModes modes = {.partial = true, .free_exp = free_exp};
  uint64_t seed = mirage_random_purpose(options->seed, "verify");
  size_t values = (size_t)mirage_ugraph_num_values(graph) + 1;
  Digester digester = {.options = options,
                       .instance = instance,
                       .graph = graph,
                       .digests = digests,
                       .field = mirage_field_create_with(seed, UINT32_MAX, modes), // no trial has this number
                       .values = calloc(values, sizeof *digester.values),
                       .weights = calloc((size_t)mirage_ugraph_num_inputs(graph) + 1, sizeof *digester.weights),
                       .number = calloc(values, sizeof *digester.number),
                       .last = calloc(values, sizeof *digester.last),
                       .map = calloc(values, sizeof *digester.map)};
  MirageStatus status =
      digester.field && digester.values && digester.weights && digester.number && digester.last && digester.map
          ? draw_weights(&digester)
          : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK)
    status = run_stages(&digester);
  mirage_field_destroy(digester.field);
  mirage__verify_free_arrays(digester.values, (uint32_t)values);
  mirage__verify_free_arrays(digester.weights, mirage_ugraph_num_inputs(graph));
  free(digester.number);
  free(digester.last);
  free(digester.map);
  return status;
}

// ------------------------------------------------------------------------------------------------------------ instance

// On a smaller instance, whose values are those of the graph by `map`.
static MirageStatus digest_mapped(const MirageVerifyOptions *options, const VerifyInstance *instance,
                                  const MirageUGraph *graph, const MirageUGraph *small, const MirageValue *map,
                                  uint64_t *const digests[2]) {
  MirageStatus status = MIRAGE_OK;
  for (int free_exp = 0; free_exp <= 1 && status == MIRAGE_OK; free_exp++) {
    uint64_t *found = calloc((size_t)mirage_ugraph_num_values(small) + 1, sizeof *found);
    status = found ? digest_graph(options, instance, small, free_exp, found) : MIRAGE_NO_MEMORY;
    for (uint32_t v = 1; status == MIRAGE_OK && v <= mirage_ugraph_num_values(graph); v++)
      digests[free_exp][v] = found[map[v].index];
    free(found);
  }
  return status;
}

static MirageStatus digest_small(const MirageUGraph *const graphs[2], const MirageVerifyOptions *options,
                                 MirageValue *const maps[2], uint64_t *const digests[2][2]) {
  VerifyTransfer small;
  MIRAGE_TRY(mirage__verify_smallest(&small, graphs[0], graphs[1], maps));
  bool dear =
      small.graphs[0] && mirage__verify_work(small.graphs[0]) + mirage__verify_work(small.graphs[1]) > VERIFY_MOST_WORK;
  MirageStatus status = small.graphs[0] && !dear ? MIRAGE_OK : MIRAGE_LIMIT;
  for (int g = 0; g < 2 && status == MIRAGE_OK; g++)
    status = digest_mapped(options, &small.instance, graphs[g], small.graphs[g], maps[g], digests[g]);
  mirage__verify_transfer_deinit(&small);
  return status;
}

MirageStatus mirage__verify_digests(const MirageUGraph *const graphs[2], const MirageVerifyOptions *options,
                                    uint64_t *const digests[2][2]) {
  const VerifyInstance full = {graphs[0], graphs[1], NULL};
  double work = mirage__verify_work(full.source) + mirage__verify_work(full.target);
  MirageStatus status = MIRAGE_OK;
  if (options->full_size || work <= mirage__verify_allowed(options)) {
    for (int i = 0; i < 4 && status == MIRAGE_OK; i++)
      status = digest_graph(options, &full, graphs[i / 2], i % 2, digests[i / 2][i % 2]);
    return status;
  }
  MirageValue *maps[2];
  for (int g = 0; g < 2; g++)
    maps[g] = calloc((size_t)mirage_ugraph_num_values(graphs[g]) + 1, sizeof *maps[g]);
  status = maps[0] && maps[1] ? digest_small(graphs, options, maps, digests) : MIRAGE_NO_MEMORY;
  free(maps[0]);
  free(maps[1]);
  return status;
}
