// import_graphs.c - the JSON of the original system's µGraphs -> graphs. This file: the text, kernel level, and
// pairing with the program; import_block.c: custom kernels; json.c: fields and operator names.
//
// Call order:  read_text -> for each graph: read_graph = (kn_* operators in order)* then return.
// Algorithm:   one pass. Tensors are known by their guid, and an operator may only use what an earlier one defined.
// Example:     [kn_input x, kn_input w, kn_customized (x, w) -> y, kn_output y]
#include "import_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OUTPUTS = 64, MAX_GRAPHS = 1 << 20 };

// --------------------------------------------------------------------------------------------------------------- place

static void emit_with_place(void *user, MirageSeverity severity, const void *loc, const char *message) {
  const ImportReader *reader = user;
  char place[256];
  int used = snprintf(place, sizeof place, "graph %zu", reader->graph_index);
  if (reader->op_type[0])
    used += snprintf(place + used, sizeof place - (size_t)used, ", operator %zu (%s)", reader->op_index[0],
                     reader->op_type[0]);
  if (reader->op_type[1])
    snprintf(place + used, sizeof place - (size_t)used, ", block operator %zu (%s)", reader->op_index[1],
             reader->op_type[1]);
  mirage_diag_emit(reader->outer, severity, loc, "%s: %s", place, message);
}

// ------------------------------------------------------------------------------------------------------------- tensors

MirageStatus mirage__import_check(ImportReader *reader, const json_t *stated, const MirageType *type) {
  MirageType said;
  char left[96], right[96];
  if (reader->options->recompute_shapes)
    return MIRAGE_OK;
  MIRAGE_TRY(mirage__import_tensor_type(reader, stated, &said));
  if (type->space == MIRAGE_SPACE_DEVICE ? mirage_type_same_meaning(&said, type) : mirage_type_same_shape(&said, type))
    return MIRAGE_OK;
  json_int_t guid = json_integer_value(json_object_get(stated, "guid"));
  MirageType shown = *type;
  shown.dtype = type->space == MIRAGE_SPACE_DEVICE ? type->dtype : said.dtype;
  return mirage__import_fail(
      reader, MIRAGE_BAD_SHAPE, "tensor %" PRId64 " is stated as %s, but the operators before it make it %s",
      (int64_t)guid, mirage_type_format(&said, left, sizeof left), mirage_type_format(&shown, right, sizeof right));
}

MirageStatus mirage__import_find(ImportReader *reader, ImportTensor *tensors, const json_t *stated,
                                 ImportTensor **out_tensor) {
  json_int_t guid;
  MIRAGE_TRY(mirage__import_guid(reader, stated, &guid));
  for (ImportTensor *tensor = tensors; tensor; tensor = tensor->next)
    if (tensor->guid == guid) {
      *out_tensor = tensor;
      return mirage__import_check(reader, stated, &tensor->type);
    }
  return mirage__import_fail(reader, MIRAGE_BAD_GRAPH, "uses tensor %" PRId64 ", which no operator before it defines",
                             (int64_t)guid);
}

MirageStatus mirage__import_define(ImportReader *reader, ImportTensor **tensors, const json_t *stated,
                                   const MirageType *type, ImportTensor **out_tensor) {
  json_int_t guid;
  MIRAGE_TRY(mirage__import_guid(reader, stated, &guid));
  for (ImportTensor *tensor = *tensors; tensor; tensor = tensor->next)
    if (tensor->guid == guid)
      return mirage__import_fail(reader, MIRAGE_BAD_GRAPH, "defines tensor %" PRId64 " a second time", (int64_t)guid);
  MIRAGE_TRY(mirage__import_check(reader, stated, type));
  ImportTensor *tensor = mirage_arena_alloc(&reader->arena, sizeof *tensor);
  if (!tensor)
    return MIRAGE_NO_MEMORY;
  *tensor = (ImportTensor){.next = *tensors, .guid = guid, .type = *type};
  *out_tensor = *tensors = tensor;
  return MIRAGE_OK;
}

MirageStatus mirage__import_only_output(ImportReader *reader, const json_t *op, const json_t **out_tensor) {
  const json_t *outputs;
  MIRAGE_TRY(mirage__import_array(reader, op, "output_tensors", &outputs));
  if (json_array_size(outputs) != 1)
    return mirage__import_fail(reader, MIRAGE_BAD_GRAPH, "has %zu output tensors, 1 is wanted",
                               json_array_size(outputs));
  *out_tensor = json_array_get(outputs, 0);
  return MIRAGE_OK;
}

MirageStatus mirage__import_inputs(ImportReader *reader, const json_t *op, const ImportRule *rule,
                                   ImportTensor *tensors, ImportTensor **out_inputs) {
  const json_t *inputs;
  MIRAGE_TRY(mirage__import_array(reader, op, "input_tensors", &inputs));
  if (json_array_size(inputs) != rule->num_inputs)
    return mirage__import_fail(reader, MIRAGE_BAD_GRAPH, "has %zu input tensors, %u are wanted",
                               json_array_size(inputs), rule->num_inputs);
  for (uint32_t i = 0; i < rule->num_inputs; i++)
    MIRAGE_TRY(mirage__import_find(reader, tensors, json_array_get(inputs, i), &out_inputs[i]));
  return MIRAGE_OK;
}

// -------------------------------------------------------------------------------------------------------- kernel level

static MirageStatus read_input(ImportReader *reader, const json_t *op) {
  const json_t *stated;
  MirageType type;
  ImportTensor *tensor;
  int64_t devices[3];
  if (json_object_get(op, "input_map")) { // splits over several GPUs
    MIRAGE_TRY(mirage__import_xyz(reader, op, "input_map", INT32_MIN, INT32_MAX, devices));
    if (devices[0] != -1 || devices[1] != -1 || devices[2] != -1)
      return mirage__import_fail(reader, MIRAGE_UNSUPPORTED, "graphs that span several GPUs are not supported");
  }
  MIRAGE_TRY(mirage__import_only_output(reader, op, &stated));
  MIRAGE_TRY(mirage__import_tensor_type(reader, stated, &type));
  MIRAGE_TRY(mirage__import_define(reader, &reader->tensors, stated, &type, &tensor));
  tensor->value = mirage_ugraph_input(reader->graph, type);
  return mirage_ugraph_status(reader->graph);
}

static MirageStatus apply_rule(ImportReader *reader, const ImportRule *rule, const json_t *op, MirageValue *inputs,
                               MirageValue *out) {
  MirageUGraph *graph = reader->graph;
  MirageAttrs attrs = {0};
  int64_t size = 1;
  switch (rule->kind) {
  case RULE_APPLY:
    *out = mirage_ugraph_apply(graph, rule->op, rule->num_inputs, inputs, NULL);
    break;
  case RULE_REDUCE:
    if (json_object_get(op, "reduction_dim_size"))
      MIRAGE_TRY(mirage__import_int(reader, op, "reduction_dim_size", 1, 1, &size));
    attrs.reduce.dim = rule->dim;
    attrs.reduce.extent = 1;
    *out = mirage_ugraph_apply(graph, MIRAGE_OP_REDUCE_SUM, 1, inputs, &attrs);
    break;
  case RULE_RMS_NORM: {
    const MirageType *type = mirage_ugraph_type(graph, inputs[0]);
    int64_t last = type->shape[type->rank - 1];
    if (json_object_get(op, "normalized_size")) // over the last dimension only
      MIRAGE_TRY(mirage__import_int(reader, op, "normalized_size", last, last, &size));
    attrs.eps.eps = 0;
    *out = mirage_ugraph_apply(graph, MIRAGE_OP_RMS_NORM, 1, inputs, &attrs);
    break;
  }
  default: // RULE_CONCAT: the other kinds do not occur at kernel level
    attrs.dim.dim = rule->dim;
    *out = mirage_ugraph_apply(graph, MIRAGE_OP_CONCAT, rule->num_inputs, inputs, &attrs);
    break;
  }
  return mirage_ugraph_status(graph);
}

static MirageStatus read_apply(ImportReader *reader, const json_t *op, const ImportRule *rule) {
  ImportTensor *inputs[IMPORT_MAX_INPUTS], *tensor;
  MirageValue values[IMPORT_MAX_INPUTS], result;
  const json_t *stated;
  MIRAGE_TRY(mirage__import_inputs(reader, op, rule, reader->tensors, inputs));
  MIRAGE_TRY(mirage__import_only_output(reader, op, &stated));
  for (uint32_t i = 0; i < rule->num_inputs; i++)
    values[i] = inputs[i]->value;
  MIRAGE_TRY(apply_rule(reader, rule, op, values, &result));
  MirageType type = *mirage_ugraph_type(reader->graph, result);
  MIRAGE_TRY(mirage__import_define(reader, &reader->tensors, stated, &type, &tensor));
  tensor->value = result;
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------------- pairing

static MirageStatus check_inputs(ImportReader *reader) {
  const MirageUGraph *program = reader->options->program, *graph = reader->graph;
  if (!program)
    return MIRAGE_OK;
  uint32_t wanted = mirage_ugraph_num_inputs(program), count = mirage_ugraph_num_inputs(graph);
  if (wanted != count)
    return mirage__import_fail(reader, MIRAGE_BAD_SHAPE, "has %u inputs, the program has %u", count, wanted);
  for (uint32_t i = 0; i < count; i++) {
    const MirageType *a = mirage_ugraph_type(graph, mirage_ugraph_get_input(graph, i));
    const MirageType *b = mirage_ugraph_type(program, mirage_ugraph_get_input(program, i));
    char left[96], right[96];
    if (!mirage_type_same_meaning(a, b))
      return mirage__import_fail(reader, MIRAGE_BAD_SHAPE, "input %u is %s, the program's is %s", i,
                                 mirage_type_format(a, left, sizeof left), mirage_type_format(b, right, sizeof right));
  }
  return MIRAGE_OK;
}

// Puts the outputs into the program's order: for each of its outputs the first one of that type that is not taken yet.
static MirageStatus pair_outputs(ImportReader *reader, MirageValue *outputs, uint32_t count) {
  const MirageUGraph *program = reader->options->program;
  if (!program)
    return MIRAGE_OK;
  if (count != mirage_ugraph_num_outputs(program))
    return mirage__import_fail(reader, MIRAGE_BAD_SHAPE, "has %u outputs, the program has %u", count,
                               mirage_ugraph_num_outputs(program));
  for (uint32_t i = 0; i < count; i++) {
    const MirageType *wanted = mirage_ugraph_type(program, mirage_ugraph_get_output(program, i));
    uint32_t j = i;
    while (j < count && !mirage_type_same_meaning(mirage_ugraph_type(reader->graph, outputs[j]), wanted))
      j++;
    char text[96];
    if (j == count)
      return mirage__import_fail(reader, MIRAGE_BAD_SHAPE, "has no output for the program's output %u, which is %s", i,
                                 mirage_type_format(wanted, text, sizeof text));
    MirageValue found = outputs[j];
    memmove(outputs + i + 1, outputs + i, (j - i) * sizeof *outputs); // the others keep the file's order
    outputs[i] = found;
  }
  return MIRAGE_OK;
}

// --------------------------------------------------------------------------------------------------------------- graph

static MirageStatus read_operators(ImportReader *reader, const json_t *list, MirageValue *outputs,
                                   uint32_t *num_outputs) {
  bool inputs_over = false;
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *op;
    const ImportRule *rule;
    ImportTensor *tensor;
    MIRAGE_TRY(mirage__import_op(reader, list, 0, i, &op, &rule));
    if (rule->kind == RULE_INPUT && inputs_over)
      return mirage__import_fail(reader, MIRAGE_BAD_GRAPH, "an input after an operator: inputs come first");
    inputs_over = rule->kind != RULE_INPUT;
    switch (rule->kind) {
    case RULE_INPUT:
      MIRAGE_TRY(read_input(reader, op));
      break;
    case RULE_OUTPUT:
      MIRAGE_TRY(mirage__import_inputs(reader, op, rule, reader->tensors, &tensor));
      if (*num_outputs == MAX_OUTPUTS)
        return mirage__import_fail(reader, MIRAGE_LIMIT, "more than %d outputs", MAX_OUTPUTS);
      outputs[(*num_outputs)++] = tensor->value;
      break;
    case RULE_CUSTOM:
      MIRAGE_TRY(mirage__import_custom(reader, op));
      break;
    default:
      MIRAGE_TRY(read_apply(reader, op, rule));
      break;
    }
  }
  reader->op_type[0] = NULL;
  return MIRAGE_OK;
}

static MirageStatus fill_graph(ImportReader *reader, const json_t *list) {
  MirageValue outputs[MAX_OUTPUTS];
  uint32_t num_outputs = 0;
  if (!json_is_array(list))
    return mirage__import_fail(reader, MIRAGE_BAD_GRAPH, "a graph is a list of operators");
  MIRAGE_TRY(read_operators(reader, list, outputs, &num_outputs));
  if (num_outputs == 0)
    return mirage__import_fail(reader, MIRAGE_BAD_GRAPH, "has no kn_output_op: %zu operators, none of them an output",
                               json_array_size(list));
  MIRAGE_TRY(check_inputs(reader));
  MIRAGE_TRY(pair_outputs(reader, outputs, num_outputs));
  mirage_ugraph_return(reader->graph, num_outputs, outputs);
  return mirage_ugraph_finish(reader->graph);
}

static MirageStatus read_graph(ImportReader *reader, const json_t *list, MirageUGraph **out_graph) {
  const MirageImportOptions *options = reader->options;
  const char *source = options->program ? mirage_ugraph_get_meta(options->program)->name : NULL;
  const char *stem = options->name ? options->name : source ? source : "graph";
  size_t size = strlen(stem) + 24;
  char *name = malloc(size);
  if (!name)
    return MIRAGE_NO_MEMORY;
  snprintf(name, size, "%s_%zu", stem, reader->graph_index);
  reader->graph = mirage_ugraph_create(NULL, name, &reader->diag);
  free(name);
  if (!reader->graph)
    return MIRAGE_NO_MEMORY;
  mirage_arena_init(&reader->arena, NULL);
  reader->tensors = NULL;
  MirageStatus status = fill_graph(reader, list);
  if (status == MIRAGE_OK && source) {
    const char *copy = mirage_ugraph_intern_string(reader->graph, source);
    mirage_ugraph_meta(reader->graph)->source = copy;
    status = copy ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  }
  reader->op_type[0] = reader->op_type[1] = NULL;
  mirage_arena_deinit(&reader->arena);
  if (status == MIRAGE_OK) // a copy, because a graph holds on to its sink and ours goes with the reader
    status = mirage_ugraph_clone(reader->graph, reader->outer, out_graph);
  mirage_ugraph_destroy(reader->graph);
  return status;
}

// ---------------------------------------------------------------------------------------------------------------- text

static MirageStatus read_graphs(ImportReader *reader, const json_t *root, MirageImport *import) {
  bool single = json_is_object(json_array_get(root, 0)); // one graph, not in a list
  size_t count = single ? 1 : json_array_size(root);
  if (!json_is_array(root))
    return mirage_diag_fail(reader->outer, NULL, MIRAGE_BAD_GRAPH, "json: a list of graphs is wanted");
  if (count > MAX_GRAPHS)
    return mirage_diag_fail(reader->outer, NULL, MIRAGE_LIMIT, "json: %zu graphs, at most %d are supported", count,
                            MAX_GRAPHS);
  import->graphs = calloc(count + 1, sizeof *import->graphs);
  if (!import->graphs)
    return MIRAGE_NO_MEMORY;
  for (size_t i = 0; i < count; i++) {
    reader->graph_index = i;
    MIRAGE_TRY(read_graph(reader, single ? root : json_array_get(root, i), &import->graphs[i]));
    import->num_graphs++;
  }
  return MIRAGE_OK;
}

MirageStatus mirage_import_json(const char *text, size_t size, const MirageImportOptions *options,
                                const MirageDiag *diag, MirageImport *out_import) {
  static const MirageImportOptions defaults = {0};
  ImportReader reader = {.options = options ? options : &defaults, .outer = diag};
  reader.diag = (MirageDiag){emit_with_place, &reader};
  MirageImport import = {0};
  json_error_t error;
  char reason[JSON_ERROR_TEXT_LENGTH + 5];
  *out_import = import;
  json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
  if (!root)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_GRAPH, "json: line %d, column %d: %s", error.line, error.column,
                            mirage__import_printable(error.text, reason, sizeof reason));
  MirageStatus status = read_graphs(&reader, root, &import);
  json_decref(root);
  if (status == MIRAGE_NO_MEMORY)
    mirage_diag_emit(diag, MIRAGE_SEVERITY_ERROR, NULL, "import: out of memory");
  if (status != MIRAGE_OK) {
    mirage_import_deinit(&import);
    return status;
  }
  *out_import = import;
  return MIRAGE_OK;
}

void mirage_import_deinit(MirageImport *import) {
  for (size_t i = 0; i < import->num_graphs; i++)
    mirage_ugraph_destroy(import->graphs[i]);
  free(import->graphs);
  *import = (MirageImport){0};
}
