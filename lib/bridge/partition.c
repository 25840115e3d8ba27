// partition.c - cuts what we can say out of functions: programs of their own, called where their operations stood.
//
// Parts:   operations are looked at in textual order. One that can be lifted joins the parts that its operands come from; one
//          that cannot closes those whose values it uses, so that nothing joins them any more. A part so is convex, all of it
//          stands before whoever uses it from outside, and it may be called where its last operation stood.
// Kept:    parts with a product or a reduction, or with two arithmetic operators; others stay as they are.
// Sources: constants and filled tensors belong to no part: each lifts those that it needs.
// Pure:    what is lifted has no side effects, so that moving it to the part's end changes nothing.
#include "lift.h"

#include "mirage-c/Dialects.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUTSIDE = -1, SOURCE = -2, MOST_TENSORS = 64 };

typedef struct Item {
  MlirOperation op;
  int32_t part; // index of a part (its root by `find`), OUTSIDE or SOURCE
  uint32_t weight;
  bool safety;        // a SOURCE that reads a part's value: mirage__lift_is_safety
  const char *reason; // of what stays outside
} Item;

typedef struct Part {
  int32_t into; // merged into this one; itself otherwise
  bool closed, dropped;
  uint32_t weight, count;
} Part;

typedef struct Place {
  const void *op;
  uint32_t index;
} Place;

typedef struct Partition {
  MirageArena *arena;
  const MirageDiag *diag;
  const MiragePartitionOptions *options;
  MirageUGraph *scratch;
  MlirOperation function;
  MlirBlock module_body;
  uint32_t num_items, num_parts;
  Item *items;
  Part *parts;
  Place *places; // of the items' operations, by address
} Partition;

static MlirStringRef str(const char *text) { return mlirStringRefCreateFromCString(text); }

// --------------------------------------------------------------------------------------------------------------- lookups

static int by_address(const void *a, const void *b) {
  uintptr_t first = (uintptr_t)((const Place *)a)->op, second = (uintptr_t)((const Place *)b)->op;
  return first < second ? -1 : first > second;
}

static Item *item_of(const Partition *p, MlirOperation op) {
  Place key = {op.ptr, 0}, *found = bsearch(&key, p->places, p->num_items, sizeof key, by_address);
  return found ? &p->items[found->index] : NULL;
}

static int32_t root(const Partition *p, int32_t part) {
  while (part >= 0 && p->parts[part].into != part)
    part = p->parts[part].into;
  return part;
}

static int32_t part_of(const Partition *p, MlirOperation op) {
  const Item *item = item_of(p, op);
  return item ? root(p, item->part) : OUTSIDE;
}

/// The item of the block that `op` is, or stands in.
static Item *enclosing(const Partition *p, MlirOperation op) {
  for (; !mlirOperationIsNull(op); op = mlirOperationGetParentOperation(op)) {
    Item *item = item_of(p, op);
    if (item)
      return item;
  }
  return NULL;
}

/// The item that makes a value, or NULL: an argument, or from elsewhere.
static Item *maker(const Partition *p, MlirValue value) {
  return mlirValueIsAOpResult(value) ? item_of(p, mlirOpResultGetOwner(value)) : NULL;
}

// ----------------------------------------------------------------------------------------------------------------- trying

static void drop_message(void *user, MirageSeverity severity, const void *loc, const char *message) {
  Lift *lift = user;
  if (severity == MIRAGE_SEVERITY_ERROR && lift)
    snprintf(lift->reason, sizeof lift->reason, "%s", message);
}

/// Binds an operand as an input of the graph, once. Numbers and sources need none. f64 only where an operation is `tried`.
static bool bind_input(Lift *lift, MlirValue value, bool tried) {
  MirageType type;
  double number;
  for (uint32_t i = 0; i < lift->count; i++)
    if (lift->values[i].value == value.ptr)
      return true;
  if (!mlirTypeIsAShaped(mlirValueGetType(value)) || mirage__lift_splat(value, &number) || mirage__lift_is_empty(value))
    return true;
  bool known = tried ? mirage__lift_type(mlirValueGetType(value), &type)
                     : mirage_bridge_type_import(mlirValueGetType(value), NULL, NULL, &type) == MIRAGE_OK;
  if (!known || type.rank == 0)
    return mirage__lift_fail(lift, "an operand is no static tensor of f16, bf16 or f32 with 1 to %d dimensions",
                             MIRAGE_MAX_RANK);
  return mirage__lift_bind(lift, value, mirage_ugraph_input(lift->graph, type));
}

/// Outputs of destination style that are not read are no inputs, but a lift that folds them in asks for them.
static bool can_be_said(Partition *p, MlirOperation op, const char **out_reason) {
  Lift lift = {.arena = p->arena};
  const MirageDiag quiet = {drop_message, &lift};
  lift.graph = mirage_ugraph_create(NULL, "trial", &quiet);
  bool ok = lift.graph != NULL;
  for (intptr_t i = 0; ok && i < mlirOperationGetNumOperands(op); i++) {
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
    if (!mlirTypeIsARankedTensor(type))
      continue;
    bind_input(&lift, mlirOperationGetOperand(op, i),
               true); // where it cannot be bound, and is asked for, the lift fails
  }
  ok = ok && mirage__lift(&lift, op);
  mirage_ugraph_destroy(lift.graph);
  if (!ok) {
    char *copy = mirage_arena_alloc(p->arena, strlen(lift.reason) + 1);
    *out_reason = copy ? strcpy(copy, lift.reason) : "out of memory";
  }
  return ok;
}

// ------------------------------------------------------------------------------------------------------------------ parts

static void merge(Partition *p, int32_t *into, int32_t other) {
  if (*into == OUTSIDE || *into == other) {
    *into = other;
    return;
  }
  p->parts[other].into = *into;
  p->parts[*into].weight += p->parts[other].weight;
  p->parts[*into].count += p->parts[other].count;
}

static void join(Partition *p, Item *item) {
  int32_t part = OUTSIDE;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(item->op); i++) {
    const Item *from = maker(p, mlirOperationGetOperand(item->op, i));
    int32_t other = from ? root(p, from->part) : OUTSIDE;
    if (other >= 0 && !p->parts[other].closed)
      merge(p, &part, other);
  }
  if (part == OUTSIDE) {
    part = (int32_t)p->num_parts++;
    p->parts[part] = (Part){.into = part};
  }
  item->part = part;
  p->parts[part].count++;
  p->parts[part].weight += item->weight;
}

static MlirWalkResult close_used(MlirOperation op, void *user) {
  Partition *p = user;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    const Item *from = maker(p, mlirOperationGetOperand(op, i));
    int32_t part = from ? root(p, from->part) : OUTSIDE;
    if (part >= 0)
      p->parts[part].closed = true;
  }
  return MlirWalkResultAdvance;
}

static MirageStatus list_items(Partition *p, MlirBlock block) {
  uint32_t count = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    count++;
  p->items = mirage_arena_alloc_array(p->arena, count + 1, sizeof *p->items);
  p->parts = mirage_arena_alloc_array(p->arena, count + 1, sizeof *p->parts);
  p->places = mirage_arena_alloc_array(p->arena, count + 1, sizeof *p->places);
  if (!p->items || !p->parts || !p->places)
    return MIRAGE_NO_MEMORY;
  p->num_items = p->num_parts = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    p->items[p->num_items] = (Item){.op = op, .part = OUTSIDE};
    p->places[p->num_items] = (Place){op.ptr, p->num_items};
    p->num_items++;
  }
  qsort(p->places, p->num_items, sizeof *p->places, by_address);
  return MIRAGE_OK;
}

static void find_parts(Partition *p) {
  for (uint32_t i = 0; i < p->num_items; i++) {
    Item *item = &p->items[i];
    item->safety = mirage__lift_is_safety(item->op);
    if (item->safety || mirage__lift_is_source(item->op)) {
      item->part = SOURCE;
      if (!item->safety) // a fill may stand on what a part gives
        mlirOperationWalk(item->op, close_used, p, MlirWalkPreOrder);
    } else if (can_be_said(p, item->op, &item->reason)) {
      item->weight = mirage__lift_weight(item->op);
      join(p, item);
    } else {
      mlirOperationWalk(item->op, close_used, p, MlirWalkPreOrder);
    }
  }
  for (uint32_t i = 0; i < p->num_parts; i++)
    p->parts[i].dropped = p->parts[i].weight < 2;
}

// -------------------------------------------------------------------------------------------------------------- outlining

typedef struct Outline {
  Partition *partition;
  int32_t part;
  Lift lift;
  uint32_t num_inputs, num_outputs;
  MlirValue inputs[MOST_TENSORS], outputs[MOST_TENSORS];
  MlirOperation last;
} Outline;

static bool stand_together(const void *user, MlirOperation a, MlirOperation b) {
  const Outline *outline = user;
  return part_of(outline->partition, a) == outline->part && part_of(outline->partition, b) == outline->part;
}

static bool is_mine(const Outline *outline, const Item *item) {
  return item->part >= 0 && root(outline->partition, item->part) == outline->part;
}

/// Whether somebody outside the part uses the value. A safety test does not, where it serves the part alone: it goes with it.
static bool is_wanted(const Outline *outline, MlirValue value) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    const Item *user = enclosing(outline->partition, mlirOpOperandGetOwner(use));
    bool mine = user && (is_mine(outline, user) || // two tests stand behind each other at most
                         (user->safety && !is_wanted(outline, mlirOperationGetResult(user->op, 0))));
    if (!mine)
      return true;
  }
  return false;
}

static bool is_unused(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(op, i))))
      return false;
  return true;
}

static bool add_inputs(Outline *outline, const Item *item) {
  Lift *lift = &outline->lift;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(item->op); i++) {
    MlirValue value = mlirOperationGetOperand(item->op, i);
    const Item *from = maker(outline->partition, value);
    uint32_t before = lift->count;
    if (!mlirTypeIsARankedTensor(mlirValueGetType(value)) || (from && is_mine(outline, from)))
      continue;
    if (!bind_input(lift, value, false))
      lift->reason[0] = '\0'; // perhaps nobody reads it
    if (lift->count == before)
      continue;
    if (outline->num_inputs == MOST_TENSORS)
      return mirage__lift_fail(lift, "more than %d tensors go in", MOST_TENSORS);
    outline->inputs[outline->num_inputs++] = value;
  }
  return true;
}

static bool add_outputs(Outline *outline, const Item *item) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(item->op); i++) {
    MlirValue value = mlirOperationGetResult(item->op, i);
    if (!is_wanted(outline, value))
      continue;
    MirageType type;
    if (mirage_bridge_type_import(mlirValueGetType(value), NULL, NULL, &type) != MIRAGE_OK)
      return mirage__lift_fail(&outline->lift, "an f64 tensor would come out");
    if (outline->num_outputs == MOST_TENSORS)
      return mirage__lift_fail(&outline->lift, "more than %d tensors come out", MOST_TENSORS);
    outline->outputs[outline->num_outputs++] = value;
  }
  return true;
}

static bool build(Outline *outline) {
  Partition *p = outline->partition;
  MirageValue results[MOST_TENSORS];
  for (uint32_t i = 0; i < p->num_items; i++)
    if (is_mine(outline, &p->items[i]) && (!add_inputs(outline, &p->items[i]) || !add_outputs(outline, &p->items[i])))
      return false;
  for (uint32_t i = 0; i < p->num_items; i++) {
    if (!is_mine(outline, &p->items[i]))
      continue;
    mirage_ugraph_set_loc(outline->lift.graph, mlirOperationGetLocation(p->items[i].op).ptr);
    if (!mirage__lift(&outline->lift, p->items[i].op))
      return false;
    outline->last = p->items[i].op;
  }
  if (outline->num_inputs == 0 || outline->num_outputs == 0)
    return mirage__lift_fail(&outline->lift, "nothing goes in, or nobody uses it");
  for (uint32_t i = 0; i < outline->num_outputs; i++)
    results[i] = mirage__lift_value(&outline->lift, outline->outputs[i]);
  mirage_ugraph_return(outline->lift.graph, outline->num_outputs, results);
  return mirage_ugraph_finish(outline->lift.graph) == MIRAGE_OK;
}

/// The call in place of the part's operations, which go.
static void replace(Outline *outline, MlirStringRef callee) {
  Partition *p = outline->partition;
  MlirContext context = mlirOperationGetContext(outline->last);
  MlirOperationState state = mlirOperationStateGet(str("mirage_kernel.call"), mlirOperationGetLocation(outline->last));
  MlirType types[MOST_TENSORS];
  for (uint32_t i = 0; i < outline->num_outputs; i++)
    types[i] = mlirValueGetType(outline->outputs[i]);
  MlirNamedAttribute attribute =
      mlirNamedAttributeGet(mlirIdentifierGet(context, str("callee")), mlirFlatSymbolRefAttrGet(context, callee));
  mlirOperationStateAddOperands(&state, (intptr_t)outline->num_inputs, outline->inputs);
  mlirOperationStateAddResults(&state, (intptr_t)outline->num_outputs, types);
  mlirOperationStateAddAttributes(&state, 1, &attribute);
  MlirOperation call = mlirOperationCreate(&state);
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(outline->last), outline->last, call);
  for (uint32_t i = 0; i < outline->num_outputs; i++)
    mlirValueReplaceAllUsesOfWith(outline->outputs[i], mlirOperationGetResult(call, (intptr_t)i));
  for (uint32_t i = p->num_items; i-- > 0;) { // users before what they use
    Item *item = &p->items[i];
    if (mlirOperationIsNull(item->op) || !(is_mine(outline, item) || (item->safety && is_unused(item->op))))
      continue;
    mlirOperationDestroy(item->op);
    item->op = (MlirOperation){NULL};
  }
}

static bool symbol_is_taken(const Partition *p, const char *name) {
  for (MlirOperation op = mlirBlockGetFirstOperation(p->module_body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    MlirAttribute symbol = mlirOperationGetAttributeByName(op, str("sym_name"));
    if (!mlirAttributeIsNull(symbol) && mlirAttributeIsAString(symbol) &&
        mlirStringRefEqual(mlirStringAttrGetValue(symbol), str(name)))
      return true;
  }
  return false;
}

static void name_part(Partition *p, uint32_t number, char *name, size_t size) {
  MlirStringRef function = mlirStringAttrGetValue(mlirOperationGetAttributeByName(p->function, str("sym_name")));
  int length = function.length < 96 ? (int)function.length : 96;
  snprintf(name, size, "%.*s_%u", length, function.data, number);
  for (uint32_t k = 0; symbol_is_taken(p, name); k++)
    snprintf(name, size, "%.*s_%u_%u", length, function.data, number, k);
}

static MirageStatus outline_part(Partition *p, int32_t part, uint32_t number, bool *out_done) {
  Outline outline = {.partition = p, .part = part, .lift = {.arena = p->arena, .together = stand_together}};
  const MirageDiag quiet = {drop_message, &outline.lift};
  char name[160];
  MlirOperation graph;
  outline.lift.user = &outline;
  name_part(p, number, name, sizeof name);
  outline.lift.graph = mirage_ugraph_create(NULL, name, &quiet);
  if (!outline.lift.graph)
    return MIRAGE_NO_MEMORY;
  MirageStatus status = MIRAGE_OK;
  *out_done = build(&outline);
  if (*out_done) {
    status = mirage_bridge_export(outline.lift.graph, mlirOperationGetContext(p->function), p->module_body,
                                  mlirOperationGetLocation(p->function), p->diag, &graph);
    if (status == MIRAGE_OK)
      replace(&outline, str(name));
  } else {
    p->parts[part].dropped = true;
    char *copy = mirage_arena_alloc(p->arena, strlen(outline.lift.reason) + 1);
    for (uint32_t i = 0; copy && i < p->num_items; i++)
      if (is_mine(&outline, &p->items[i]))
        p->items[i].reason = strcpy(copy, outline.lift.reason);
  }
  mirage_ugraph_destroy(outline.lift.graph);
  return status;
}

// -------------------------------------------------------------------------------------------------------------- functions

/// Constants, fills, empty tensors and safety tests that nobody uses any more.
static void remove_dead(Partition *p) {
  for (uint32_t i = p->num_items; i-- > 0;) {
    Item *item = &p->items[i];
    if (item->part != SOURCE || mlirOperationIsNull(item->op) || !is_unused(item->op))
      continue;
    mlirOperationDestroy(item->op);
    item->op = (MlirOperation){NULL};
  }
}

static void explain(const Partition *p) {
  for (uint32_t i = 0; i + 1 < p->num_items; i++) { // not the terminator
    const Item *item = &p->items[i];
    int32_t part = root(p, item->part);
    if (mlirOperationIsNull(item->op) || item->part == SOURCE)
      continue;
    MlirStringRef name = mirage__lift_name(item->op);
    const char *reason = item->reason ? item->reason : part >= 0 ? "alone it is not worth a kernel" : "unknown";
    mirage_diag_emit(p->diag, MIRAGE_SEVERITY_REMARK, mlirOperationGetLocation(item->op).ptr, "%.*s stays outside: %s",
                     (int)name.length, name.data, reason);
  }
}

static void summarise(const Partition *p, uint32_t inside, uint32_t graphs) {
  uint32_t all = 0;
  MlirStringRef name = mlirStringAttrGetValue(mlirOperationGetAttributeByName(p->function, str("sym_name")));
  for (uint32_t i = 0; i + 1 < p->num_items; i++)
    all += p->items[i].part != SOURCE;
  mirage_diag_emit(p->diag, MIRAGE_SEVERITY_REMARK, mlirOperationGetLocation(p->function).ptr,
                   "@%.*s: %u of %u operations in %u graph%s", (int)name.length, name.data, inside, all, graphs,
                   graphs == 1 ? "" : "s");
}

static MirageStatus partition_block(Partition *p, MlirBlock block) {
  MIRAGE_TRY(list_items(p, block));
  find_parts(p);
  uint32_t graphs = 0, inside = 0;
  for (uint32_t i = 0; i < p->num_parts; i++) {
    bool done;
    if (p->parts[i].into != (int32_t)i || p->parts[i].dropped)
      continue;
    MIRAGE_TRY(outline_part(p, (int32_t)i, graphs, &done));
    graphs += done;
    inside += done ? p->parts[i].count : 0;
  }
  remove_dead(p);
  if (p->options->explain)
    explain(p);
  summarise(p, inside, graphs);
  return MIRAGE_OK;
}

static MirageStatus partition_function(MlirOperation function, MlirBlock module_body,
                                       const MiragePartitionOptions *options, const MirageDiag *diag) {
  MirageArena arena;
  MirageStatus status = MIRAGE_OK;
  mirage_arena_init(&arena, NULL);
  MlirRegion region = mlirOperationGetRegion(function, 0);
  for (MlirBlock block = mlirRegionGetFirstBlock(region); status == MIRAGE_OK && !mlirBlockIsNull(block);
       block = mlirBlockGetNextInRegion(block)) {
    Partition partition = {
        .arena = &arena, .diag = diag, .options = options, .function = function, .module_body = module_body};
    status = partition_block(&partition, block);
  }
  mirage_arena_deinit(&arena);
  return status;
}

MirageStatus mirage_bridge_partition(MlirOperation module, const MiragePartitionOptions *options,
                                     const MirageDiag *diag) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (mirage__lift_named(op, "func.func"))
      MIRAGE_TRY(partition_function(op, body, options, diag));
  return MIRAGE_OK;
}
