// describe.c - what a module's graphs are, and what they consist of, as JSON. json.loads makes it Python's.
//
//   {"graphs": [{"name", "source", "selected", "hash", "holds", "inputs": [{"dtype", "dims"}], "outputs": [..], "proof": {..} | null,
//     "guard", "cost", "ptx", "chip", "text", "nodes": [node]}], "python": what Graph wrote at the module}
//   holds: whether the proof was made for this graph and its program in the module; null without the one or the other
//   node: {"op", "level", "operands": [id], "results": [{"id", "type"}], "attrs": {..}, "arguments": [..], "nodes": [..]}
#include "python.h"

#include "mirage/bridge.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Diagnostics.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --------------------------------------------------------------------------------------------------------------- values

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *ints(uint32_t count, const int64_t *values) {
  json_t *array = json_array();
  for (uint32_t i = 0; i < count; i++)
    json_array_append_new(array, json_integer(values[i]));
  return array;
}

static json_t *maps(uint32_t count, const int8_t *values) {
  json_t *array = json_array();
  for (uint32_t i = 0; i < count; i++)
    json_array_append_new(array, json_integer(values[i]));
  return array;
}

static const char *space_name(MirageSpace space) {
  static const char *const names[] = {"device", "tile", "shared", "register", "fragment"};
  return names[space];
}

static json_t *type_json(const MirageType *type) {
  return json_pack("{s:s, s:o, s:s}", "dtype", dtype_name(type->dtype), "dims", ints(type->rank, type->shape), "space",
                   space_name(type->space));
}

static json_t *value_json(const MirageUGraph *graph, MirageValue value) {
  json_t *object = type_json(mirage_ugraph_type(graph, value));
  json_object_set_new(object, "id", json_integer(value.index));
  return object;
}

static json_t *values_json(const MirageUGraph *graph, uint32_t count, MirageValue first) {
  json_t *array = json_array();
  for (uint32_t i = 0; i < count; i++)
    json_array_append_new(array, value_json(graph, (MirageValue){first.index + i}));
  return array;
}

// ----------------------------------------------------------------------------------------------------------- attributes

static json_t *record_json(const MirageRecord *record, const void *values);

static json_t *key_json(const MirageKey *key, const void *values) {
  if (key->form != MIRAGE_FORM_LIST) {
    int32_t value = mirage_key_get(key, values);
    return key->form == MIRAGE_FORM_WORD   ? json_string(mirage_key_word(key, values))
           : key->form == MIRAGE_FORM_FLAG ? json_boolean(value)
                                           : json_integer(value);
  }
  uint32_t count;
  const char *items = mirage_key_items(key, values, &count);
  json_t *array = json_array();
  for (uint32_t i = 0; i < count; i++)
    json_array_append_new(array, record_json(key->items, items + i * key->items->size));
  return array;
}

/// A schedule, or an item of one: every key, by the name that the dialect's text has.
static json_t *record_json(const MirageRecord *record, const void *values) {
  json_t *object = json_object();
  for (uint32_t i = 0; i < record->num_keys; i++)
    json_object_set_new(object, record->keys[i].name, key_json(&record->keys[i], values));
  return object;
}

static json_t *custom_json(const MirageCustomAttrs *custom) {
  json_t *object =
      json_pack("{s:o, s:o, s:o}", "grid", ints(3, custom->grid), "cluster", ints(3, custom->cluster), "schedule",
                custom->schedule ? record_json(mirage_schedule_record(), custom->schedule) : json_null());
  if (custom->launch)
    json_object_set_new(object, "launch",
                        json_pack("{s:s, s:i, s:i, s:I, s:b, s:b}", "kernel", custom->launch->kernel, "threads",
                                  (int)custom->launch->threads, "shared_bytes", (int)custom->launch->shared_bytes,
                                  "workspace_bytes", (json_int_t)custom->launch->workspace_bytes, "starts_early",
                                  (int)custom->launch->starts_early, "in_pairs", (int)custom->launch->in_pairs));
  return object;
}

static json_t *loop_json(const MirageLoopAttrs *loop) {
  static const char *const names[] = {"sum", "max", "rescale", "concat", "assign"};
  json_t *carries = json_array();
  for (uint32_t i = 0; i < loop->num_carries; i++)
    json_array_append_new(carries, json_string(names[loop->carries[i].combine]));
  return json_pack("{s:I, s:o}", "range", (json_int_t)loop->range, "carries", carries);
}

/// Maps, "cyclic" where loops split before the grid does, and where they are not the whole tensor as it lies: the window
/// ([begin, end) a dimension, end 0: all of it) and the order of dimensions.
static json_t *access_json(const MirageUGraph *graph, const MirageNodeView *node) {
  const MirageAccessAttrs *access = &node->attrs->access;
  uint32_t rank = mirage_ugraph_type(graph, node->operands[node->num_operands - 1])->rank, ordered = 0, cut = 0;
  json_t *object = json_pack("{s:o, s:o}", "grid", maps(3, access->grid), "loop", maps(MIRAGE_MAX_LOOPS, access->loop));
  for (uint32_t d = 0; d < rank; d++) {
    ordered |= (uint32_t)access->order[d];
    cut |= access->end[d] != 0;
  }
  if (ordered)
    json_object_set_new(object, "order", maps(rank, access->order));
  if (access->cyclic)
    json_object_set_new(object, "cyclic", json_true());
  if (cut)
    json_object_set_new(object, "window", json_pack("[o, o]", ints(rank, access->begin), ints(rank, access->end)));
  return object;
}

static json_t *perm_json(const MirageUGraph *graph, const MirageNodeView *node) {
  json_t *array = json_array();
  uint32_t rank = mirage_ugraph_type(graph, node->first_result)->rank;
  for (uint32_t i = 0; i < rank; i++)
    json_array_append_new(array, json_integer(node->attrs->perm.perm[i]));
  return json_pack("{s:o}", "perm", array);
}

static json_t *field_json(const MirageAttrField *field, const MirageAttrs *attrs) {
  int64_t values[MIRAGE_MAX_LOOPS];
  uint32_t count = mirage_attr_count(field);
  if (field->form == MIRAGE_ATTR_NUMBER)
    return number(mirage_attr_number(field, attrs));
  for (uint32_t i = 0; i < count; i++)
    values[i] = mirage_attr_get(field, attrs, i);
  return field->form == MIRAGE_ATTR_STEPS  ? ints(count, values)
         : field->form == MIRAGE_ATTR_FLAG ? json_boolean(values[0])
                                           : json_integer(values[0]);
}

/// Every field by name, but for steps that there are none of.
static json_t *fields_json(MirageAttrsKind kind, const MirageAttrs *attrs) {
  uint32_t count;
  const MirageAttrField *fields = mirage_attrs_fields(kind, &count);
  json_t *object = json_object();
  for (uint32_t i = 0; i < count; i++)
    if (fields[i].form != MIRAGE_ATTR_STEPS || !mirage_attr_is_usual(&fields[i], attrs))
      json_object_set_new(object, fields[i].name, field_json(&fields[i], attrs));
  return object;
}

static json_t *attrs_json(const MirageUGraph *graph, const MirageNodeView *node) {
  const MirageAttrs *attrs = node->attrs;
  if (!attrs)
    return json_object();
  switch (mirage_op_info(node->op)->attrs) {
  case MIRAGE_ATTRS_PERM:
    return perm_json(graph, node);
  case MIRAGE_ATTRS_CUSTOM:
    return custom_json(&attrs->custom);
  case MIRAGE_ATTRS_LOOP:
    return loop_json(&attrs->loop);
  case MIRAGE_ATTRS_ACCESS:
    return access_json(graph, node);
  case MIRAGE_ATTRS_AXES:
    return json_pack("{s:[b,b,b]}", "axes", attrs->axes.axis[0], attrs->axes.axis[1], attrs->axes.axis[2]);
  default:
    return fields_json(mirage_op_info(node->op)->attrs, attrs);
  }
}

static const char *level_name(MirageLevel level) {
  return level == MIRAGE_LEVEL_KERNEL ? "kernel" : level == MIRAGE_LEVEL_BLOCK ? "block" : "thread";
}

static void region_json(const MirageUGraph *graph, MirageRegion region, json_t *object) {
  MirageRegionView view = mirage_ugraph_region(graph, region);
  json_t *nodes = json_array();
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, view.nodes[i]);
    json_t *operands = json_array(), *item;
    for (uint32_t k = 0; k < node.num_operands; k++)
      json_array_append_new(operands, json_integer(node.operands[k].index));
    item = json_pack("{s:s, s:s, s:o, s:o, s:o}", "op", mirage_op_info(node.op)->mnemonic, "level",
                     level_name(node.level), "operands", operands, "results",
                     values_json(graph, node.num_results, node.first_result), "attrs", attrs_json(graph, &node));
    if (node.region.index)
      region_json(graph, node.region, item); // as deep as kernel, block, loops and thread graphs nest
    json_array_append_new(nodes, item);
  }
  json_object_set_new(object, "arguments", values_json(graph, view.num_arguments, view.first_argument));
  json_object_set_new(object, "nodes", nodes);
}

// --------------------------------------------------------------------------------------------------------------- graphs

static json_t *proof_json(const MirageProof *proof) {
  if (!proof->present)
    return json_null();
  char seed[24];
  snprintf(seed, sizeof seed, "%" PRIu64, proof->seed);
  return json_pack("{s:f, s:i, s:i, s:s, s:b, s:i, s:i, s:b, s:i}", "log2_bound", proof->log2_bound, "trials",
                   (int)proof->trials, "prime_bits", (int)proof->p_bits, "seed", seed, "transferred", proof->shrunken,
                   "axes", (int)proof->axes, "points", (int)proof->points, "free_exponentials", proof->free_exp,
                   "pieces", (int)proof->pieces);
}

static json_t *guard_json(const MirageGuard *guard) {
  return guard->present ? json_pack("{s:o, s:o, s:o, s:o}", "program_relative", number(guard->program_relative),
                                    "candidate_relative", number(guard->candidate_relative), "program_max",
                                    number(guard->program_max), "candidate_max", number(guard->candidate_max))
                        : json_null();
}

static json_t *cost_json(const MirageCost *cost) {
  if (!cost->present)
    return json_null();
  json_t *object =
      json_pack("{s:o, s:o, s:o, s:i, s:s}", "time_us", number(cost->time_us), "bytes", number(cost->bytes), "flops",
                number(cost->flops), "kernels", (int)cost->kernels, "target", cost->target);
  if (cost->measured_us > 0) {
    json_object_set_new(object, "measured_us", number(cost->measured_us));
    json_object_set_new(object, "measured_spread", number(cost->measured_spread));
  }
  return object;
}

static json_t *signature(const MirageUGraph *graph, bool inputs) {
  json_t *array = json_array();
  uint32_t count = inputs ? mirage_ugraph_num_inputs(graph) : mirage_ugraph_num_outputs(graph);
  for (uint32_t i = 0; i < count; i++)
    json_array_append_new(
        array, value_json(graph, inputs ? mirage_ugraph_get_input(graph, i) : mirage_ugraph_get_output(graph, i)));
  return array;
}

static json_t *graph_json(const MirageUGraph *graph, const char *ptx, size_t ptx_bytes, const char *chip) {
  const MirageGraphMeta *meta = mirage_ugraph_get_meta(graph);
  MirageGraphHash hash = {0};
  char text[40];
  mirage_ugraph_hash(graph, NULL, &hash);
  snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, hash.high, hash.low);
  json_t *object = json_pack("{s:s, s:s?, s:b, s:s, s:o, s:o, s:o, s:o, s:o}", "name", meta->name, "source",
                             meta->source, "selected", meta->selected, "hash", text, "inputs", signature(graph, true),
                             "outputs", signature(graph, false), "proof", proof_json(&meta->proof), "guard",
                             guard_json(&meta->guard), "cost", cost_json(&meta->cost));
  json_object_set_new(object, "ptx", ptx ? json_stringn(ptx, ptx_bytes) : json_null());
  json_object_set_new(object, "chip", ptx ? json_string(chip) : json_null());
  region_json(graph, mirage_ugraph_body(graph), object);
  return object;
}

/// The operation's own text, with nothing said elsewhere.
static json_t *op_text(MlirOperation op) {
  Text text = {0};
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsUseLocalScope(flags);
  mlirOperationPrintWithFlags(op, flags, text_append, &text);
  mlirOpPrintingFlagsDestroy(flags);
  json_t *result = text.data ? json_stringn(text.data, text.length) : NULL;
  free(text.data);
  return result;
}

/// What the Python side wrote at the module, as it is.
static void python_json(MlirModule module, json_t *whole) {
  MlirAttribute note = mlirOperationGetAttributeByName(mlirModuleGetOperation(module), string_ref("mirage.python"));
  if (mlirAttributeIsNull(note) || !mlirAttributeIsAString(note))
    return;
  MlirStringRef text = mlirStringAttrGetValue(note);
  json_object_set_new(whole, "python", json_stringn(text.data, text.length));
}

/// The program that a graph computes, among those before it in the module; NULL where it is not there.
static const MirageUGraph *find_source(uint32_t num, MirageUGraph *const graphs[], const char *source) {
  for (uint32_t i = 0; source && i < num; i++)
    if (strcmp(mirage_ugraph_get_meta(graphs[i])->name, source) == 0)
      return graphs[i];
  return NULL;
}

static json_t *holds_json(const MirageUGraph *program, const MirageUGraph *graph) {
  const MirageProof *proof = &mirage_ugraph_get_meta(graph)->proof;
  uint64_t pair;
  if (!program || !proof->present || mirage_ugraph_pair_hash(program, graph, NULL, &pair) != MIRAGE_OK)
    return json_null();
  return json_boolean(proof->pair == pair);
}

static MirageStatus describe_one(MlirModule module, MlirOperation op, uint32_t num, MirageUGraph **seen, json_t *graphs,
                                 const MirageDiag *diag) {
  MlirStringRef ptx = {NULL, 0};
  char chip[32] = "";
  MlirOperation binary;
  MIRAGE_TRY(mirage_bridge_import(op, diag, &seen[num]));
  bool compiled = find_ptx(module, symbol_of(op), &binary, &ptx, chip);
  json_t *object = graph_json(seen[num], compiled ? ptx.data : NULL, ptx.length, chip);
  const MirageUGraph *program = find_source(num, seen, mirage_ugraph_get_meta(seen[num])->source);
  json_object_set_new(object, "holds", holds_json(program, seen[num]));
  json_object_set_new(object, "text", op_text(op));
  json_object_set_new(object, "binary", compiled ? op_text(binary) : json_null());
  json_array_append_new(graphs, object);
  return MIRAGE_OK;
}

static uint32_t count_operations(MlirModule module) {
  uint32_t count = 0;
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    count++;
  return count;
}

static MirageStatus describe_all(MlirModule module, json_t *graphs, const MirageDiag *diag) {
  MirageUGraph **seen = calloc(count_operations(module) + 1, sizeof *seen);
  MirageStatus status = seen ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  uint32_t num = 0;
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  for (; status == MIRAGE_OK && !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (!op_is(op, "mirage_kernel.graph"))
      continue;
    status = describe_one(module, op, num, seen, graphs, diag);
    num++;
  }
  for (uint32_t i = 0; i < num; i++)
    mirage_ugraph_destroy(seen[i]);
  free(seen);
  return status;
}

static MlirLogicalResult keep_error(MlirDiagnostic diagnostic, void *user) {
  Text text = {0};
  MlirLocation loc = mlirDiagnosticGetLocation(diagnostic);
  if (mlirDiagnosticGetSeverity(diagnostic) != MlirDiagnosticError)
    return mlirLogicalResultSuccess();
  if (mlirLocationIsAFileLineColRange(loc)) {
    char place[64];
    snprintf(place, sizeof place, "line %d, column %d: ", mlirLocationFileLineColRangeGetStartLine(loc),
             mlirLocationFileLineColRangeGetStartColumn(loc));
    text_append(string_ref(place), &text);
  }
  mlirDiagnosticPrint(diagnostic, text_append, &text);
  const MirageDiag diag = messages_sink(user);
  diag.emit(diag.user, MIRAGE_SEVERITY_ERROR, NULL, text.data ? text.data : "");
  free(text.data);
  return mlirLogicalResultSuccess();
}

PyObject *mirage_py_describe(PyObject *self, PyObject *args) {
  const char *text;
  Py_ssize_t length;
  Messages messages = {0};
  if (!PyArg_ParseTuple(args, "s#", &text, &length))
    return NULL;
  MlirContext context = context_create();
  mlirContextAttachDiagnosticHandler(context, keep_error, &messages, NULL);
  MlirModule module = module_parse(context, text, length);
  MirageStatus status = mlirModuleIsNull(module) ? MIRAGE_BAD_GRAPH : MIRAGE_OK;
  json_t *graphs = json_array(), *whole = json_pack("{s:o}", "graphs", graphs);
  const MirageDiag diag = messages_sink(&messages);
  if (status == MIRAGE_OK)
    status = describe_all(module, graphs, &diag);
  if (status == MIRAGE_OK)
    python_json(module, whole);
  if (!mlirModuleIsNull(module))
    mlirModuleDestroy(module);
  mlirContextDestroy(context);
  char *printed = status == MIRAGE_OK ? json_dumps(whole, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
  json_decref(whole);
  PyObject *result = status != MIRAGE_OK ? messages_raise(&messages, status)
                     : printed           ? PyUnicode_FromString(printed)
                                         : PyErr_NoMemory();
  messages_free(&messages);
  free(printed);
  return result;
}
