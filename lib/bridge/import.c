// import.c - reads one mirage_kernel.graph into an in-memory µGraph.
//
// Algorithm:  one walk in textual order; each operation becomes the builder call of its row in ops.def, region
//             operations open a region, walk it, and close it with the operands of its yield. Cookies are the
//             operations' locations.
// Example:    %p = mirage_block.matmul %xt, %wt  ->  mirage_ugraph_apply(graph, MIRAGE_OP_MATMUL, 2, {xt, wt}, &attrs)
// Checks:     the dialects' verifiers and the builder share one set of shape rules, so a verified graph imports unless
//             it holds an operation of another dialect. A written result type that differs from the inferred one in
//             place or layout is kept; one that differs in meaning is an error.
#include "mirage/bridge.h"

#include "mirage-c/Dialects.h"
#include "mirage-c/Kernel.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <string.h>

/// Open-addressing map from MLIR values to ours; capacity is a power of two, at most half full.
typedef struct ValueSlot {
  const void *key;
  MirageValue value;
} ValueSlot;

typedef struct Importer {
  MirageUGraph *graph;
  const MirageDiag *diag;
  MirageArena arena; // of the map and of attributes on their way into the graph
  ValueSlot *slots;
  size_t capacity, count;
} Importer;

static MlirStringRef str(const char *text) { return mlirStringRefCreateFromCString(text); }

static const void *loc_of(MlirOperation op) { return mlirOperationGetLocation(op).ptr; }

// ------------------------------------------------------------------------------------------------------------------
// map

static ValueSlot *find_slot(ValueSlot *slots, size_t capacity, const void *key) {
  size_t i = ((uintptr_t)key >> 4) * 0x9E3779B97F4A7C15u >> 20;
  for (i &= capacity - 1; slots[i].key && slots[i].key != key; i = (i + 1) & (capacity - 1))
    ;
  return &slots[i];
}

static MirageStatus bind(Importer *importer, MlirValue from, MirageValue to) {
  if (2 * (importer->count + 1) > importer->capacity) {
    size_t capacity = importer->capacity ? 2 * importer->capacity : 64;
    ValueSlot *slots = mirage_arena_alloc_array(&importer->arena, capacity, sizeof *slots);
    if (!slots)
      return MIRAGE_NO_MEMORY;
    for (size_t i = 0; i < importer->capacity; i++)
      if (importer->slots[i].key)
        *find_slot(slots, capacity, importer->slots[i].key) = importer->slots[i];
    importer->slots = slots;
    importer->capacity = capacity;
  }
  *find_slot(importer->slots, importer->capacity, from.ptr) = (ValueSlot){from.ptr, to};
  importer->count++;
  return MIRAGE_OK;
}

static MirageValue lookup(const Importer *importer, MlirValue value) {
  return importer->count ? find_slot(importer->slots, importer->capacity, value.ptr)->value : (MirageValue){0};
}

/// The operation's operands as our values, in the importer's arena.
static MirageStatus operands_of(Importer *importer, MlirOperation op, const MirageValue **out_operands) {
  intptr_t count = mlirOperationGetNumOperands(op);
  MirageValue *operands = mirage_arena_alloc_array(&importer->arena, (size_t)count, sizeof *operands);
  if (!operands)
    return MIRAGE_NO_MEMORY;
  for (intptr_t i = 0; i < count; i++) {
    operands[i] = lookup(importer, mlirOperationGetOperand(op, i));
    if (operands[i].index == 0) {
      MirageStatus earlier = mirage_ugraph_status(importer->graph);
      if (earlier != MIRAGE_OK)
        return earlier;
      MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
      return mirage_diag_fail(importer->diag, loc_of(op), MIRAGE_BAD_GRAPH,
                              "%.*s: operand %d is used before its definition", (int)name.length, name.data, (int)i);
    }
  }
  *out_operands = operands;
  return MIRAGE_OK;
}

/// Binds an MLIR value to ours, with the place and layout that its type gives.
static MirageStatus bind_placed(Importer *importer, MlirValue from, MirageValue to, const void *loc) {
  MirageType type;
  if (to.index == 0)
    return mirage_ugraph_status(importer->graph);
  MIRAGE_TRY(mirage_bridge_type_import(mlirValueGetType(from), importer->diag, loc, &type));
  const MirageType *built = mirage_ugraph_type(importer->graph, to);
  if (!mirage_type_same_meaning(built, &type)) {
    char written[128], inferred[128];
    return mirage_diag_fail(importer->diag, loc, MIRAGE_BAD_TYPE, "result type is %s, but the operands give %s",
                            mirage_type_format(&type, written, sizeof written),
                            mirage_type_format(built, inferred, sizeof inferred));
  }
  if (type.space == MIRAGE_SPACE_SHARED || type.space == MIRAGE_SPACE_REGISTER || type.layout.planned)
    mirage_ugraph_set_placement(importer->graph, to, type.space, &type.layout);
  return bind(importer, from, to);
}

// ------------------------------------------------------------------------------------------------------------
// operations

static MirageStatus attrs_of(Importer *importer, MirageOp op, MirageLevel level, MlirOperation from,
                             MirageAttrs *out_attrs) {
  MlirAttribute dictionary = mirageOperationGetAttributeDictionary(from);
  memset(out_attrs, 0, sizeof *out_attrs);
  MIRAGE_TRY(mirage_bridge_attrs_import(op, dictionary, &importer->arena, importer->diag, loc_of(from), out_attrs));
  if (mirage_op_info(op)->attrs == MIRAGE_ATTRS_NONE || mlirOperationGetNumResults(from) != 1)
    return MIRAGE_OK;
  MirageType type, operand;
  bool has_operand = mlirOperationGetNumOperands(from) > 0;
  MlirType result = mlirValueGetType(mlirOperationGetResult(from, 0));
  MIRAGE_TRY(mirage_bridge_type_import(result, importer->diag, loc_of(from), &type));
  if (has_operand)
    MIRAGE_TRY(mirage_bridge_type_import(mlirValueGetType(mlirOperationGetOperand(from, 0)), importer->diag,
                                         loc_of(from), &operand));
  mirage_bridge_attrs_add_result(op, level, has_operand ? &operand : NULL, &type, out_attrs);
  return MIRAGE_OK;
}

static MirageStatus find_op(const Importer *importer, MlirOperation from, MirageOp *out_op, MirageLevel *out_level) {
  static const struct {
    const char *prefix;
    MirageLevel level;
  } levels[] = {{"mirage_kernel.", MIRAGE_LEVEL_KERNEL},
                {"mirage_block.", MIRAGE_LEVEL_BLOCK},
                {"mirage_thread.", MIRAGE_LEVEL_THREAD}};
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(from));
  *out_op = MIRAGE_OP_NONE;
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    size_t length = strlen(levels[i].prefix);
    if (name.length > length && memcmp(name.data, levels[i].prefix, length) == 0) {
      *out_level = levels[i].level;
      *out_op = mirage_op_find(levels[i].level, name.data + length, name.length - length);
    }
  }
  if (*out_op != MIRAGE_OP_NONE)
    return MIRAGE_OK;
  return mirage_diag_fail(importer->diag, loc_of(from), MIRAGE_UNSUPPORTED,
                          "graph: cannot hold '%.*s', only operators of mirage_kernel, mirage_block and mirage_thread",
                          (int)name.length, name.data);
}

static MirageStatus import_block(Importer *importer, MlirBlock block);

/// Walks the region of a node that has just been opened, and closes it.
static MirageStatus import_region(Importer *importer, MirageNode node, MlirOperation from) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(from, 0));
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); i++)
    MIRAGE_TRY(bind_placed(importer, mlirBlockGetArgument(block, i),
                           mirage_ugraph_argument(importer->graph, node, (uint32_t)i), loc_of(from)));
  MIRAGE_TRY(import_block(importer, block));
  MlirOperation last = mlirBlockGetTerminator(block);
  const MirageValue *yielded = NULL;
  uint32_t count = 0;
  if (!mlirOperationIsNull(last)) {
    MIRAGE_TRY(operands_of(importer, last, &yielded));
    count = (uint32_t)mlirOperationGetNumOperands(last);
    mirage_ugraph_set_loc(importer->graph, loc_of(last));
  }
  mirage_ugraph_close(importer->graph, count, yielded);
  MIRAGE_TRY(mirage_ugraph_status(importer->graph));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(from); i++)
    MIRAGE_TRY(bind_placed(importer, mlirOperationGetResult(from, i),
                           mirage_ugraph_result(importer->graph, node, (uint32_t)i), loc_of(from)));
  return MIRAGE_OK;
}

static MirageStatus import_custom(Importer *importer, MlirOperation from, const MirageValue *operands,
                                  const MirageAttrs *attrs) {
  intptr_t count = mlirOperationGetNumResults(from);
  MirageType *results = mirage_arena_alloc_array(&importer->arena, (size_t)count, sizeof *results);
  if (!results)
    return MIRAGE_NO_MEMORY;
  for (intptr_t i = 0; i < count; i++)
    MIRAGE_TRY(mirage_bridge_type_import(mlirValueGetType(mlirOperationGetResult(from, i)), importer->diag,
                                         loc_of(from), &results[i]));
  MirageNode node = mirage_ugraph_open_custom(importer->graph, (uint32_t)mlirOperationGetNumOperands(from), operands,
                                              (uint32_t)count, results, &attrs->custom);
  MIRAGE_TRY(mirage_ugraph_status(importer->graph));
  return import_region(importer, node, from);
}

static MirageStatus import_op(Importer *importer, MlirOperation from) {
  MirageUGraph *graph = importer->graph;
  MirageOp op;
  MirageLevel level;
  MIRAGE_TRY(find_op(importer, from, &op, &level));
  if (op == MIRAGE_OP_YIELD)
    return MIRAGE_OK; // import_region closes with it
  const MirageValue *operands;
  MirageAttrs attrs;
  MIRAGE_TRY(operands_of(importer, from, &operands));
  MIRAGE_TRY(attrs_of(importer, op, level, from, &attrs));
  uint32_t count = (uint32_t)mlirOperationGetNumOperands(from);
  mirage_ugraph_set_loc(graph, loc_of(from));
  MirageNode node;
  switch (op) {
  case MIRAGE_OP_RETURN:
    mirage_ugraph_return(graph, count, operands);
    return mirage_ugraph_status(graph);
  case MIRAGE_OP_CUSTOM:
    return import_custom(importer, from, operands, &attrs);
  case MIRAGE_OP_LOOP:
    node = mirage_ugraph_open_loop(graph, count, operands, &attrs.loop);
    MIRAGE_TRY(mirage_ugraph_status(graph));
    return import_region(importer, node, from);
  case MIRAGE_OP_THREAD:
    node = mirage_ugraph_open_thread(graph, count, operands);
    MIRAGE_TRY(mirage_ugraph_status(graph));
    return import_region(importer, node, from);
  default: {
    bool has_attrs = mirage_op_info(op)->attrs != MIRAGE_ATTRS_NONE;
    MirageValue result = mirage_ugraph_apply(graph, op, count, operands, has_attrs ? &attrs : NULL);
    MIRAGE_TRY(mirage_ugraph_status(graph));
    if (mlirOperationGetNumResults(from) == 0)
      return MIRAGE_OK;
    return bind_placed(importer, mlirOperationGetResult(from, 0), result, loc_of(from));
  }
  }
}

static MirageStatus import_block(Importer *importer, MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    MIRAGE_TRY(import_op(importer, op));
  return MIRAGE_OK;
}

// -----------------------------------------------------------------------------------------------------------------
// graph

static const char *intern(Importer *importer, MlirStringRef text) {
  char *copy = mirage_arena_alloc(&importer->arena, text.length + 1); // zeroed, so terminated
  if (!copy)
    return NULL;
  memcpy(copy, text.data, text.length);
  return mirage_ugraph_intern_string(importer->graph, copy);
}

static MirageStatus import_meta(Importer *importer, MlirOperation op) {
  MirageGraphMeta *meta = mirage_ugraph_meta(importer->graph);
  MlirAttribute source = mlirOperationGetAttributeByName(op, str("source"));
  if (!mlirAttributeIsNull(source)) {
    meta->source = intern(importer, mlirFlatSymbolRefAttrGetValue(source));
    if (!meta->source)
      return MIRAGE_NO_MEMORY;
  }
  MlirAttribute proof = mlirOperationGetAttributeByName(op, str("proof"));
  if (!mlirAttributeIsNull(proof))
    mirageKernelProofAttrGetValue(proof, &meta->proof);
  MlirAttribute guard = mlirOperationGetAttributeByName(op, str("guard"));
  if (!mlirAttributeIsNull(guard))
    mirageKernelGuardAttrGetValue(guard, &meta->guard);
  MlirAttribute cost = mlirOperationGetAttributeByName(op, str("cost"));
  if (!mlirAttributeIsNull(cost))
    mirageKernelCostAttrGetValue(cost, &meta->cost);
  meta->selected = !mlirAttributeIsNull(mlirOperationGetAttributeByName(op, str("selected")));
  return MIRAGE_OK;
}

static MirageStatus import_graph(Importer *importer, MlirOperation op) {
  MIRAGE_TRY(import_meta(importer, op));
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  mirage_ugraph_set_loc(importer->graph, loc_of(op));
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); i++) {
    MlirValue argument = mlirBlockGetArgument(block, i);
    MirageType type;
    MIRAGE_TRY(mirage_bridge_type_import(mlirValueGetType(argument), importer->diag, loc_of(op), &type));
    MIRAGE_TRY(bind_placed(importer, argument, mirage_ugraph_input(importer->graph, type), loc_of(op)));
  }
  MIRAGE_TRY(import_block(importer, block));
  return mirage_ugraph_finish(importer->graph);
}

MirageStatus mirage_bridge_import(MlirOperation graph_op, const MirageDiag *diag, MirageUGraph **out_graph) {
  *out_graph = NULL;
  if (!mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(graph_op)), str("mirage_kernel.graph")))
    return mirage_diag_fail(diag, loc_of(graph_op), MIRAGE_BAD_ARGUMENT,
                            "bridge: the operation is no mirage_kernel.graph");
  Importer importer = {.diag = diag};
  mirage_arena_init(&importer.arena, NULL);
  MlirStringRef text = mlirStringAttrGetValue(mlirOperationGetAttributeByName(graph_op, str("sym_name")));
  char *symbol = mirage_arena_alloc(&importer.arena, text.length + 1);
  MirageStatus status = MIRAGE_NO_MEMORY;
  if (symbol) {
    memcpy(symbol, text.data, text.length);
    importer.graph = mirage_ugraph_create(NULL, symbol, diag);
  }
  if (importer.graph)
    status = import_graph(&importer, graph_op);
  mirage_arena_deinit(&importer.arena);
  if (status == MIRAGE_OK)
    *out_graph = importer.graph;
  else
    mirage_ugraph_destroy(importer.graph);
  return status;
}
