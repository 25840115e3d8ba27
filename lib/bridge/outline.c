// outline.c - a part of a function as a program of its own, and the call that takes its place.
//
// Build:   what its operations read from outside goes in, what others read of theirs comes out; between, each is lifted.
// Call:    where the last operation stood; tensors of rank 0 pass with one dimension of extent 1. Then the operations go.
#include "partition.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdio.h>
#include <string.h>

enum { MOST_TENSORS = 64 };

static MlirStringRef str(const char *text) { return mlirStringRefCreateFromCString(text); }

// -------------------------------------------------------------------------------------------------------------- outlining

typedef struct Outline {
  Partition *partition;
  int32_t part;
  Lift lift;
  uint32_t num_inputs, num_outputs;
  MlirValue inputs[MOST_TENSORS], outputs[MOST_TENSORS];
  MlirOperation last;
  PartItem *failed; // the operation at which building ended, if one was in the way
  bool too_many;    // because so many tensors go in or come out
} Outline;

static bool stand_together(const void *user, MlirOperation a, MlirOperation b) {
  const Outline *outline = user;
  return mirage__part_of(outline->partition, a) == outline->part &&
         mirage__part_of(outline->partition, b) == outline->part;
}

static bool is_mine(const Outline *outline, const PartItem *item) {
  return item->part >= 0 && mirage__part_root(outline->partition, item->part) == outline->part;
}

/// Whether somebody outside the part uses the value.
static bool is_wanted(const Outline *outline, MlirValue value) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    const PartItem *user = mirage__part_enclosing(outline->partition, mlirOpOperandGetOwner(use));
    if (!user || !is_mine(outline, user))
      return true;
  }
  return false;
}

bool mirage__part_is_unused(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(op, i))))
      return false;
  return true;
}

static bool is_too_many(Outline *outline, const char *where) {
  outline->too_many = true;
  return mirage__lift_fail(&outline->lift, "more than %d tensors %s", MOST_TENSORS, where);
}

static void add_input(Partition *p, MlirValue value, void *user) {
  Outline *outline = user;
  Lift *lift = &outline->lift;
  const PartItem *from = mirage__part_maker(p, value);
  uint32_t before = lift->count;
  if (outline->too_many || !mlirTypeIsARankedTensor(mlirValueGetType(value)) || (from && is_mine(outline, from)))
    return;
  if (!mirage__part_bind_input(lift, value, false))
    lift->reason[0] = '\0'; // perhaps nobody reads it
  if (lift->count == before)
    return;
  if (outline->num_inputs == MOST_TENSORS)
    is_too_many(outline, "go in");
  else
    outline->inputs[outline->num_inputs++] = value;
}

static bool add_inputs(Outline *outline, const PartItem *item) {
  mirage__part_each_used(outline->partition, item->op, add_input, outline);
  return !outline->too_many;
}

/// Whether the value can leave a graph.
static bool can_come_out(MlirValue value) {
  MirageType type;
  MlirType given = mlirValueGetType(value);
  return mirage__lift_outer_type(value, &type) && !mlirTypeIsAF64(mlirShapedTypeGetElementType(given)) &&
         (mlirShapedTypeGetRank(given) == (intptr_t)type.rank || mlirShapedTypeGetRank(given) == 0);
}

static bool add_outputs(Outline *outline, const PartItem *item) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(item->op); i++) {
    MlirValue value = mlirOperationGetResult(item->op, i);
    if (!is_wanted(outline, value))
      continue;
    if (!can_come_out(value))
      return mirage__lift_fail(&outline->lift,
                               "others use its result, which is no tensor of f16, bf16 or f32 with at "
                               "most %d dimensions",
                               MIRAGE_MAX_RANK);
    if (!mirage__lift_value(&outline->lift, value).index)
      return false;
    if (outline->num_outputs == MOST_TENSORS)
      return is_too_many(outline, "come out");
    outline->outputs[outline->num_outputs++] = value;
  }
  return true;
}

static bool build_item(Outline *outline, PartItem *item) {
  mirage_ugraph_set_loc(outline->lift.graph, mlirOperationGetLocation(item->op).ptr);
  outline->last = item->op;
  return mirage__lift(&outline->lift, item->op) && add_outputs(outline, item);
}

static bool build(Outline *outline) {
  Partition *p = outline->partition;
  MirageValue results[MOST_TENSORS];
  for (uint32_t i = 0; i < p->num_items; i++)
    if (is_mine(outline, &p->items[i]) && !add_inputs(outline, outline->failed = &p->items[i]))
      return false;
  for (uint32_t i = 0; i < p->num_items; i++)
    if (is_mine(outline, &p->items[i]) && !build_item(outline, outline->failed = &p->items[i]))
      return false;
  outline->failed = NULL;
  if (outline->num_inputs == 0 || outline->num_outputs == 0)
    return mirage__lift_fail(&outline->lift, "nothing goes in, or nobody uses it");
  for (uint32_t i = 0; i < outline->num_outputs; i++)
    results[i] = mirage__lift_value(&outline->lift, outline->outputs[i]);
  mirage_ugraph_return(outline->lift.graph, outline->num_outputs, results);
  return mirage_ugraph_finish(outline->lift.graph) == MIRAGE_OK;
}

// ---------------------------------------------------------------------------------------------------------------- calling

static MlirOperation create(const Outline *outline, const char *name, MlirValue operand, MlirType type,
                            MlirNamedAttribute attribute, bool has_shape) {
  MlirContext context = mlirTypeGetContext(type);
  MlirOperationState state = mlirOperationStateGet(str(name), mlirOperationGetLocation(outline->last));
  MlirNamedAttribute shape = mlirNamedAttributeGet(mlirIdentifierGet(context, str("static_output_shape")),
                                                   mlirDenseI64ArrayGet(context, 1, (int64_t[]){1}));
  mlirOperationStateAddOperands(&state, 1, &operand);
  mlirOperationStateAddResults(&state, 1, &type);
  mlirOperationStateAddAttributes(&state, 1, &attribute);
  if (has_shape)
    mlirOperationStateAddAttributes(&state, 1, &shape);
  return mlirOperationCreate(&state);
}

/// A tensor of rank 0 as the call takes it, with one dimension of extent 1; or, `back`, what a call gives as one of rank 0.
/// Others are as they are.
static MlirValue fit_rank(const Outline *outline, MlirOperation *after, MlirValue value, MlirType like, bool back) {
  if (mlirShapedTypeGetRank(like) != 0)
    return value;
  MlirContext context = mlirTypeGetContext(like);
  MlirType type =
      mlirRankedTensorTypeGet(1, (int64_t[]){1}, mlirShapedTypeGetElementType(like), mlirAttributeGetNull());
  MlirNamedAttribute none =
      mlirNamedAttributeGet(mlirIdentifierGet(context, str("reassociation")), mlirArrayAttrGet(context, 0, NULL));
  MlirOperation op =
      create(outline, back ? "tensor.collapse_shape" : "tensor.expand_shape", value, back ? like : type, none, !back);
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(*after), *after, op);
  *after = op;
  return mlirOperationGetResult(op, 0);
}

static MlirOperation insert_call(Outline *outline, MlirStringRef callee, MlirOperation *after) {
  MlirContext context = mlirOperationGetContext(outline->last);
  MlirOperationState state = mlirOperationStateGet(str("mirage_kernel.call"), mlirOperationGetLocation(outline->last));
  MlirType types[MOST_TENSORS];
  MlirValue inputs[MOST_TENSORS];
  MirageType type;
  for (uint32_t i = 0; i < outline->num_outputs; i++) {
    mirage__lift_outer_type(outline->outputs[i], &type);
    types[i] = mirage_bridge_type_export(context, &type);
  }
  for (uint32_t i = 0; i < outline->num_inputs; i++)
    inputs[i] = fit_rank(outline, after, outline->inputs[i], mlirValueGetType(outline->inputs[i]), false);
  MlirNamedAttribute attribute =
      mlirNamedAttributeGet(mlirIdentifierGet(context, str("callee")), mlirFlatSymbolRefAttrGet(context, callee));
  mlirOperationStateAddOperands(&state, (intptr_t)outline->num_inputs, inputs);
  mlirOperationStateAddResults(&state, (intptr_t)outline->num_outputs, types);
  mlirOperationStateAddAttributes(&state, 1, &attribute);
  MlirOperation call = mlirOperationCreate(&state);
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(*after), *after, call);
  *after = call;
  return call;
}

/// The call in place of the part's operations, which go.
static void replace(Outline *outline, MlirStringRef callee) {
  Partition *p = outline->partition;
  MlirOperation after = outline->last;
  MlirOperation call = insert_call(outline, callee, &after);
  for (uint32_t i = 0; i < outline->num_outputs; i++) {
    MlirValue result = mlirOperationGetResult(call, (intptr_t)i);
    result = fit_rank(outline, &after, result, mlirValueGetType(outline->outputs[i]), true);
    mlirValueReplaceAllUsesOfWith(outline->outputs[i], result);
  }
  for (uint32_t i = p->num_items; i-- > 0;) { // users before what they use
    PartItem *item = &p->items[i];
    if (mlirOperationIsNull(item->op) || !is_mine(outline, item))
      continue;
    mlirOperationDestroy(item->op);
    item->op = (MlirOperation){NULL};
  }
}

/// Removes operators that nobody uses: what was compared alone, and the like.
static MirageStatus remove_unused(MirageArena *arena, MlirOperation graph) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(graph, 0));
  uint32_t count = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    count++;
  MlirOperation *list = mirage_arena_alloc_array(arena, count + 1, sizeof *list);
  if (!list)
    return MIRAGE_NO_MEMORY;
  count = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    list[count++] = op;
  while (count-- > 0) // users before what they use
    if (mlirOperationGetNumResults(list[count]) > 0 && mirage__part_is_unused(list[count]))
      mlirOperationDestroy(list[count]);
  return MIRAGE_OK;
}

static bool symbol_is_taken(const Partition *p, const char *name) {
  return !mlirOperationIsNull(mlirSymbolTableLookup(p->symbols, str(name)));
}

static void name_part(Partition *p, uint32_t number, char *name, size_t size) {
  MlirStringRef function = mlirStringAttrGetValue(mlirOperationGetAttributeByName(p->function, str("sym_name")));
  int length = function.length < 96 ? (int)function.length : 96;
  snprintf(name, size, "%.*s_%u", length, function.data, number);
  for (uint32_t k = 0; symbol_is_taken(p, name); k++)
    snprintf(name, size, "%.*s_%u_%u", length, function.data, number, k);
}

static MirageStatus place(Outline *outline, const char *name) {
  Partition *p = outline->partition;
  MlirOperation graph;
  MIRAGE_TRY(mirage_bridge_export(outline->lift.graph, mlirOperationGetContext(p->function), p->module_body,
                                  mlirOperationGetLocation(p->function), p->diag, &graph));
  mlirSymbolTableInsert(p->symbols, graph);
  replace(outline, str(name));
  return remove_unused(p->arena, graph);
}

MirageStatus mirage__part_outline(Partition *p, int32_t part, uint32_t number, bool replaces, PartOutcome *out) {
  Outline outline = {.partition = p, .part = part, .lift = {.arena = p->arena, .together = stand_together}};
  const MirageDiag quiet = {mirage__lift_keep_message, &outline.lift};
  char name[160];
  outline.lift.user = &outline;
  name_part(p, number, name, sizeof name);
  outline.lift.graph = mirage_ugraph_create(NULL, name, &quiet);
  if (!outline.lift.graph)
    return MIRAGE_NO_MEMORY;
  MirageStatus status = MIRAGE_OK;
  *out = (PartOutcome){.done = build(&outline), .failed = outline.failed, .too_many = outline.too_many};
  if (!out->done)
    out->reason = mirage_arena_strdup(p->arena, outline.lift.reason);
  else if (replaces)
    status = place(&outline, name);
  mirage_ugraph_destroy(outline.lift.graph);
  return !out->done && !out->reason ? MIRAGE_NO_MEMORY : status;
}
