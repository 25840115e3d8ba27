// export.c - writes an in-memory µGraph as one mirage_kernel.graph.
//
// Algorithm:  one walk over regions and nodes; each node becomes the operation of its mnemonic and level, with the
//             types of our values (place and layout included), the attributes of its row in ops.def, and its region
//             filled in. Attributes that say the default (no axis, fill with zero, extent 1) are left out, as a writer
//             would.
// Round trip: import of the result gives an equal graph, which test/unit/test_bridge.c checks field by field.
#include "mirage/bridge.h"

#include "mirage-c/Block.h"
#include "mirage-c/Kernel.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <math.h>
#include <stdio.h>

enum { MAX_ATTRIBUTES = 8 };

typedef struct Exporter {
  const MirageUGraph *graph;
  MlirContext context;
  MlirLocation loc; // where a node has none
  const MirageDiag *diag;
  MirageArena arena;
  MlirValue *values; // by value id
} Exporter;

/// Attributes of the operation under construction.
typedef struct AttributeList {
  MlirContext context;
  MlirNamedAttribute data[MAX_ATTRIBUTES];
  intptr_t count;
} AttributeList;

static MlirStringRef str(const char *text) { return mlirStringRefCreateFromCString(text); }

static void add(AttributeList *list, const char *name, MlirAttribute attribute) {
  list->data[list->count++] = mlirNamedAttributeGet(mlirIdentifierGet(list->context, str(name)), attribute);
}

static void add_int(AttributeList *list, const char *name, int64_t value) {
  add(list, name, mlirIntegerAttrGet(mlirIntegerTypeGet(list->context, 64), value));
}

static void add_double(AttributeList *list, const char *name, double value) {
  add(list, name, mlirFloatAttrDoubleGet(list->context, mlirF64TypeGet(list->context), value));
}

static void add_ints(AttributeList *list, const char *name, intptr_t count, const int64_t *values) {
  add(list, name, mlirDenseI64ArrayGet(list->context, count, values));
}

// ------------------------------------------------------------------------------------------------------------
// attributes

/// The dimensions of an access without the trailing -1; left out when nothing remains.
static void add_dims(AttributeList *list, const char *name, intptr_t count, const int8_t *dims) {
  int64_t values[MIRAGE_MAX_LOOPS + 3];
  while (count > 0 && dims[count - 1] < 0)
    count--;
  for (intptr_t i = 0; i < count; i++)
    values[i] = dims[i];
  if (count > 0)
    add_ints(list, name, count, values);
}

/// Up to the last dimension that is seen in part; end 0 stands for a whole one.
static void add_window(AttributeList *list, const MirageAccessAttrs *access) {
  intptr_t count = MIRAGE_MAX_RANK;
  while (count > 0 && !access->end[count - 1])
    count--;
  if (count > 0) {
    add_ints(list, "begin", count, access->begin);
    add_ints(list, "end", count, access->end);
  }
}

/// As many entries as the tensor has dimensions, the last of which stays the last.
static void add_order(AttributeList *list, const MirageAccessAttrs *access) {
  int64_t values[MIRAGE_MAX_RANK], rank = 0;
  for (int64_t i = 0; i < MIRAGE_MAX_RANK; i++) {
    values[i] = access->order[i];
    rank = values[i] >= rank ? values[i] + 1 : rank;
  }
  if (rank > 1)
    add_ints(list, "order", rank, values);
}

/// Up to the last dimension whose tiles are given.
static void add_tile(AttributeList *list, const MirageAccessAttrs *access) {
  intptr_t count = MIRAGE_MAX_RANK;
  while (count > 0 && !access->tiles[count - 1])
    count--;
  if (count > 0)
    add_ints(list, "tiles", count, access->tiles);
}

static void add_access(AttributeList *list, MirageOp op, const MirageAccessAttrs *access) {
  add_dims(list, "grid", 3, access->grid);
  add_dims(list, "loop", MIRAGE_MAX_LOOPS, access->loop);
  add_order(list, access);
  add_window(list, access);
  add_tile(list, access);
  if (access->cyclic)
    add(list, "cyclic", mlirUnitAttrGet(list->context));
  if (op == MIRAGE_OP_LOAD && access->fill != MIRAGE_FILL_ZERO)
    add(list, "fill", mirageBlockFillAttrGet(list->context, access->fill));
}

/// Trailing axes of extent 1 are left out, but for the first.
static intptr_t num_axes(const int64_t extents[3]) {
  intptr_t count = 3;
  while (count > 1 && extents[count - 1] == 1)
    count--;
  return count;
}

static void add_custom(AttributeList *list, const MirageCustomAttrs *custom) {
  add_ints(list, "grid", num_axes(custom->grid), custom->grid);
  if (custom->cluster[0] * custom->cluster[1] * custom->cluster[2] != 1)
    add_ints(list, "cluster", num_axes(custom->cluster), custom->cluster);
  if (custom->schedule)
    add(list, "schedule", mirageKernelScheduleAttrGet(list->context, custom->schedule));
  if (custom->plan)
    add(list, "plan", mirageKernelPlanAttrGet(list->context, custom->plan));
  if (custom->launch)
    add(list, "launch", mirageKernelLaunchAttrGet(list->context, custom->launch));
}

static MirageStatus add_loop(Exporter *exporter, AttributeList *list, const MirageLoopAttrs *loop) {
  MlirAttribute *carries = mirage_arena_alloc_array(&exporter->arena, loop->num_carries, sizeof *carries);
  if (!carries)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < loop->num_carries; i++)
    carries[i] = mirageBlockCarryAttrGet(list->context, loop->carries[i]);
  add_int(list, "range", loop->range);
  add(list, "carries", mlirArrayAttrGet(list->context, loop->num_carries, carries));
  return MIRAGE_OK;
}

static void add_perm(AttributeList *list, uint32_t rank, const int32_t *perm) {
  int64_t values[MIRAGE_MAX_RANK];
  for (uint32_t i = 0; i < rank; i++)
    values[i] = perm[i];
  add_ints(list, "perm", rank, values);
}

static void add_axes(AttributeList *list, const bool axis[3]) {
  int64_t values[3];
  intptr_t count = 0;
  for (int64_t i = 0; i < 3; i++)
    if (axis[i])
      values[count++] = i;
  add_ints(list, "axes", count, values);
}

// Steps up to the last that is not 0.
static void add_steps(AttributeList *list, const MirageAttrField *field, const MirageAttrs *attrs) {
  int64_t steps[MIRAGE_MAX_LOOPS], count = 0;
  for (uint32_t i = 0; i < mirage_attr_count(field); i++) {
    steps[i] = mirage_attr_get(field, attrs, i);
    count = steps[i] ? i + 1 : count;
  }
  add_ints(list, field->name, count, steps);
}

static void add_field(AttributeList *list, const MirageAttrField *field, const MirageAttrs *attrs) {
  if (field->use != MIRAGE_ATTR_NEEDED && mirage_attr_is_usual(field, attrs))
    return;
  if (field->form == MIRAGE_ATTR_NUMBER)
    add_double(list, field->name, mirage_attr_number(field, attrs));
  else if (field->form == MIRAGE_ATTR_STEPS)
    add_steps(list, field, attrs);
  else if (field->form == MIRAGE_ATTR_FLAG)
    add(list, field->name, mlirUnitAttrGet(list->context));
  else
    add_int(list, field->name, mirage_attr_get(field, attrs, 0));
}

static void add_fields(AttributeList *list, MirageAttrsKind kind, const MirageAttrs *attrs) {
  uint32_t count;
  const MirageAttrField *fields = mirage_attrs_fields(kind, &count);
  for (uint32_t i = 0; i < count; i++)
    add_field(list, &fields[i], attrs);
}

static MirageStatus add_attrs(Exporter *exporter, AttributeList *list, const MirageNodeView *view) {
  const MirageAttrs *attrs = view->attrs;
  MirageAttrsKind kind = attrs ? mirage_op_info(view->op)->attrs : MIRAGE_ATTRS_NONE;
  switch (kind) {
  case MIRAGE_ATTRS_PERM:
    add_perm(list, mirage_ugraph_type(exporter->graph, view->first_result)->rank, attrs->perm.perm);
    break;
  case MIRAGE_ATTRS_CUSTOM:
    add_custom(list, &attrs->custom);
    break;
  case MIRAGE_ATTRS_LOOP:
    return add_loop(exporter, list, &attrs->loop);
  case MIRAGE_ATTRS_ACCESS:
    add_access(list, view->op, &attrs->access);
    break;
  case MIRAGE_ATTRS_AXES:
    add_axes(list, attrs->axes.axis);
    break;
  default: // of a shape, the result's type says it
    add_fields(list, kind, attrs);
  }
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------------
// operations

static const char *level_prefix(MirageLevel level) {
  return level == MIRAGE_LEVEL_KERNEL  ? "mirage_kernel"
         : level == MIRAGE_LEVEL_BLOCK ? "mirage_block"
                                       : "mirage_thread";
}

static MlirLocation loc_or(const Exporter *exporter, const void *cookie) {
  MlirLocation loc = exporter->loc;
  if (cookie)
    loc.ptr = cookie;
  return loc;
}

static MlirType type_of(const Exporter *exporter, MirageValue value) {
  return mirage_bridge_type_export(exporter->context, mirage_ugraph_type(exporter->graph, value));
}

/// An operation in `block`, checked only by MLIR's verifier later. `region` may be null.
static MlirOperation create_op(Exporter *exporter, MlirBlock block, const char *name, MlirLocation loc,
                               const AttributeList *attributes, uint32_t num_operands, const MlirValue *operands,
                               uint32_t num_results, const MlirType *results, MlirRegion region) {
  MlirOperationState state = mlirOperationStateGet(str(name), loc);
  mlirOperationStateAddOperands(&state, num_operands, operands);
  mlirOperationStateAddResults(&state, num_results, results);
  mlirOperationStateAddAttributes(&state, attributes->count, attributes->data);
  if (!mlirRegionIsNull(region))
    mlirOperationStateAddOwnedRegions(&state, 1, &region);
  MlirOperation op = mlirOperationCreate(&state);
  if (!mlirOperationIsNull(op))
    mlirBlockAppendOwnedOperation(block, op);
  return op;
}

static MirageStatus export_nodes(Exporter *exporter, MirageRegionView view, MlirBlock block);

/// A region with one block, whose arguments are bound to those of `region`, filled with its nodes.
static MirageStatus export_region(Exporter *exporter, MirageRegion region, MlirLocation loc, MlirRegion *out_region) {
  MirageRegionView view = mirage_ugraph_region(exporter->graph, region);
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  for (uint32_t i = 0; i < view.num_arguments; i++) {
    MirageValue argument = {view.first_argument.index + i};
    exporter->values[argument.index] = mlirBlockAddArgument(block, type_of(exporter, argument), loc);
  }
  MlirRegion out = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(out, block);
  MirageStatus status = export_nodes(exporter, view, block);
  if (status == MIRAGE_OK)
    *out_region = out;
  else
    mlirRegionDestroy(out);
  return status;
}

static MirageStatus export_node(Exporter *exporter, MirageNode node, MlirBlock block) {
  MirageNodeView view = mirage_ugraph_node(exporter->graph, node);
  MlirLocation loc = loc_or(exporter, view.loc);
  MlirValue *operands = mirage_arena_alloc_array(&exporter->arena, view.num_operands, sizeof *operands);
  MlirType *results = mirage_arena_alloc_array(&exporter->arena, view.num_results, sizeof *results);
  if (!operands || !results)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < view.num_operands; i++)
    operands[i] = exporter->values[view.operands[i].index];
  for (uint32_t i = 0; i < view.num_results; i++)
    results[i] = type_of(exporter, (MirageValue){view.first_result.index + i});
  AttributeList attributes = {.context = exporter->context};
  MIRAGE_TRY(add_attrs(exporter, &attributes, &view));
  MlirRegion region = {NULL};
  if (view.region.index)
    MIRAGE_TRY(export_region(exporter, view.region, loc, &region));
  char name[64];
  snprintf(name, sizeof name, "%s.%s", level_prefix(view.level), mirage_op_info(view.op)->mnemonic);
  MlirOperation op = create_op(exporter, block, name, loc, &attributes, view.num_operands, operands, view.num_results,
                               results, region);
  if (mlirOperationIsNull(op))
    return mirage_diag_fail(exporter->diag, loc.ptr, MIRAGE_BAD_GRAPH, "%s: MLIR refused the operation", name);
  for (uint32_t i = 0; i < view.num_results; i++)
    exporter->values[view.first_result.index + i] = mlirOperationGetResult(op, i);
  return MIRAGE_OK;
}

static MirageStatus export_nodes(Exporter *exporter, MirageRegionView view, MlirBlock block) {
  for (uint32_t i = 0; i < view.num_nodes; i++)
    MIRAGE_TRY(export_node(exporter, view.nodes[i], block));
  return MIRAGE_OK;
}

// -----------------------------------------------------------------------------------------------------------------
// graph

static void set_or_remove(MlirOperation op, const char *name, bool present, MlirAttribute attribute) {
  if (present)
    mlirOperationSetAttributeByName(op, str(name), attribute);
  else
    mlirOperationRemoveAttributeByName(op, str(name));
}

MirageStatus mirage_bridge_export_meta(const MirageGraphMeta *meta, MlirOperation graph_op, const MirageDiag *diag) {
  MlirContext context = mlirOperationGetContext(graph_op);
  MlirAttribute none = {NULL};
  MlirAttribute source = meta->source ? mlirFlatSymbolRefAttrGet(context, str(meta->source)) : none;
  MlirAttribute proof = meta->proof.present ? mirageKernelProofAttrGet(context, &meta->proof) : none;
  MlirAttribute guard = meta->guard.present ? mirageKernelGuardAttrGet(context, &meta->guard) : none;
  bool has_cost = meta->cost.present && isfinite(meta->cost.time_us); // infinite: beyond what the cost model can say
  MlirAttribute cost = has_cost ? mirageKernelCostAttrGet(context, &meta->cost) : none;
  if ((meta->proof.present && mlirAttributeIsNull(proof)) || (meta->guard.present && mlirAttributeIsNull(guard)) ||
      (has_cost && mlirAttributeIsNull(cost)))
    return mirage_diag_fail(diag, mlirOperationGetLocation(graph_op).ptr, MIRAGE_BAD_ARGUMENT,
                            "graph: proof, guard or cost is out of range");
  set_or_remove(graph_op, "source", meta->source != NULL, source);
  set_or_remove(graph_op, "proof", meta->proof.present, proof);
  set_or_remove(graph_op, "guard", meta->guard.present, guard);
  set_or_remove(graph_op, "cost", has_cost, cost);
  set_or_remove(graph_op, "selected", meta->selected, mlirUnitAttrGet(context));
  return MIRAGE_OK;
}

/// (inputs) -> (outputs)
static MirageStatus function_type(Exporter *exporter, MlirType *out_type) {
  const MirageUGraph *graph = exporter->graph;
  uint32_t num_inputs = mirage_ugraph_num_inputs(graph), num_outputs = mirage_ugraph_num_outputs(graph);
  MlirType *types = mirage_arena_alloc_array(&exporter->arena, (size_t)num_inputs + num_outputs, sizeof *types);
  if (!types)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < num_inputs; i++)
    types[i] = type_of(exporter, mirage_ugraph_get_input(graph, i));
  for (uint32_t i = 0; i < num_outputs; i++)
    types[num_inputs + i] = type_of(exporter, mirage_ugraph_get_output(graph, i));
  *out_type = mlirFunctionTypeGet(exporter->context, num_inputs, types, num_outputs, types + num_inputs);
  return MIRAGE_OK;
}

static MirageStatus export_graph(Exporter *exporter, MlirBlock block, MlirOperation *out_op) {
  const MirageUGraph *graph = exporter->graph;
  const MirageGraphMeta *meta = mirage_ugraph_get_meta(graph);
  exporter->values =
      mirage_arena_alloc_array(&exporter->arena, (size_t)mirage_ugraph_num_values(graph) + 1, sizeof *exporter->values);
  if (!exporter->values)
    return MIRAGE_NO_MEMORY;
  MlirType type = {NULL};
  MIRAGE_TRY(function_type(exporter, &type));
  AttributeList attributes = {.context = exporter->context};
  add(&attributes, "sym_name", mlirStringAttrGet(exporter->context, str(meta->name)));
  add(&attributes, "function_type", mlirTypeAttrGet(type));
  MlirRegion region = {NULL};
  MIRAGE_TRY(export_region(exporter, mirage_ugraph_body(graph), exporter->loc, &region));
  MlirOperation op =
      create_op(exporter, block, "mirage_kernel.graph", exporter->loc, &attributes, 0, NULL, 0, NULL, region);
  if (mlirOperationIsNull(op))
    return mirage_diag_fail(exporter->diag, exporter->loc.ptr, MIRAGE_BAD_GRAPH, "graph: MLIR refused the operation");
  MirageStatus status = mirage_bridge_export_meta(meta, op, exporter->diag);
  if (status == MIRAGE_OK)
    *out_op = op;
  else
    mlirOperationDestroy(op);
  return status;
}

MirageStatus mirage_bridge_export(const MirageUGraph *graph, MlirContext context, MlirBlock block, MlirLocation loc,
                                  const MirageDiag *diag, MlirOperation *out_op) {
  out_op->ptr = NULL;
  Exporter exporter = {.graph = graph, .context = context, .loc = loc, .diag = diag};
  mirage_arena_init(&exporter.arena, NULL);
  MirageStatus status = export_graph(&exporter, block, out_op);
  mirage_arena_deinit(&exporter.arena);
  return status;
}
