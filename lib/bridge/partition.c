// partition.c - cuts what we can say out of functions: programs of their own, called where their operations stood.
//
// Parts:   operations are looked at in textual order. One that can be lifted joins the parts that its operands come from; one
//          that cannot closes those whose values it uses, so that nothing joins them any more. A part so is convex, all of it
//          stands before whoever uses it from outside, and it may be called where its last operation stood.
// Rounds:  where a part cannot be built after all, the operation that is in the way stays outside, or begins a part of its own
//          where only the number of tensors was, and the parts are found again, until all can be built.
// Kept:    parts with a product or a reduction, or with two arithmetic operators; others stay as they are.
// Sources: constants and filled tensors belong to no part: each lifts those that it needs.
// Pure:    what is lifted has no side effects, so that moving it to the part's end changes nothing.
#include "partition.h"
#include "gelu.h"

#include "mirage-c/Dialects.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MlirStringRef str(const char *text) { return mlirStringRefCreateFromCString(text); }

// --------------------------------------------------------------------------------------------------------------- lookups

static int by_address(const void *a, const void *b) {
  uintptr_t first = (uintptr_t)((const PartPlace *)a)->op, second = (uintptr_t)((const PartPlace *)b)->op;
  return first < second ? -1 : first > second;
}

static PartItem *item_of(const Partition *p, MlirOperation op) {
  PartPlace key = {op.ptr, 0}, *found = bsearch(&key, p->places, p->num_items, sizeof key, by_address);
  return found ? &p->items[found->index] : NULL;
}

int32_t mirage__part_root(const Partition *p, int32_t part) {
  while (part >= 0 && p->parts[part].into != part)
    part = p->parts[part].into;
  return part;
}

int32_t mirage__part_of(const Partition *p, MlirOperation op) {
  const PartItem *item = item_of(p, op);
  return item ? mirage__part_root(p, item->part) : PART_OUTSIDE;
}

/// The item of the block that `op` is, or stands in.
PartItem *mirage__part_enclosing(const Partition *p, MlirOperation op) {
  for (; !mlirOperationIsNull(op); op = mlirOperationGetParentOperation(op)) {
    PartItem *item = item_of(p, op);
    if (item)
      return item;
  }
  return NULL;
}

/// The item that makes a value, or NULL: an argument, or from elsewhere.
PartItem *mirage__part_maker(const Partition *p, MlirValue value) {
  return mlirValueIsAOpResult(value) ? item_of(p, mlirOpResultGetOwner(value)) : NULL;
}

typedef struct Visit {
  Partition *partition;
  PartVisitor visitor;
  void *user;
} Visit;

static MlirWalkResult visit_operands(MlirOperation op, void *user) {
  Visit *visit = user;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    visit->visitor(visit->partition, mlirOperationGetOperand(op, i), visit->user);
  return MlirWalkResultAdvance;
}

/// All values that the operation uses, and the operations inside it.
void mirage__part_each_used(Partition *p, MlirOperation op, PartVisitor visitor, void *user) {
  Visit visit = {p, visitor, user};
  mlirOperationWalk(op, visit_operands, &visit, MlirWalkPreOrder);
}

// ----------------------------------------------------------------------------------------------------------------- trying

void mirage__lift_keep_message(void *user, MirageSeverity severity, const void *loc, const char *message) {
  Lift *lift = user;
  if (severity == MIRAGE_SEVERITY_ERROR && lift)
    snprintf(lift->reason, sizeof lift->reason, "%s", message);
}

/// Binds an operand as an input of the graph, once. Numbers and sources need none. f64 only where an operation is `tried`.
bool mirage__part_bind_input(Lift *lift, MlirValue value, bool tried) {
  MirageType type;
  double number;
  MlirType given = mlirValueGetType(value);
  if (!mlirTypeIsARankedTensor(given) || mirage__lift_find(lift, value) || mirage__lift_splat(value, &number) ||
      mirage__lift_is_empty(value))
    return true;
  bool sum = mirage__lift_outer_type(value, &type) && type.dtype == MIRAGE_I32; // of products of bytes
  bool fits = (sum || mirage__lift_input_type(given, &type)) &&
              (tried || (!mlirTypeIsAF64(mlirShapedTypeGetElementType(given)) &&
                         (mlirShapedTypeGetRank(given) == (intptr_t)type.rank || mlirShapedTypeGetRank(given) == 0)));
  if (!fits)
    return mirage__lift_fail(
        lift, "an operand is no static tensor of f16, bf16, f32, i1 or a stored type with at most %d dimensions",
        MIRAGE_MAX_RANK);
  return mirage__lift_bind(lift, value, mirage_ugraph_input(lift->graph, type));
}

enum { MOST_MADE = 128 };

// One operation that is tried.
typedef struct Trial {
  Lift lift;
  bool with_context; // also from what its operands are made of, not as if they came from outside
  uint32_t depth, count;
  const PartItem *made[MOST_MADE]; // what is lifted only for it, in order
} Trial;

/// Whether the value is lifted from what made it: where no graph can hold it, or its making may matter.
static bool is_lifted_for(const Trial *trial, MlirValue value, const PartItem *made) {
  enum { MOST_DEPTH = 96, CONTEXT = 24 };
  if (!made || made->banned || trial->count == MOST_MADE)
    return false;
  if (mirage__lift_is_virtual(value))
    return trial->depth < MOST_DEPTH;
  return trial->with_context && made->said && trial->depth < CONTEXT;
}

static bool is_made(const Trial *trial, const PartItem *item) {
  for (uint32_t i = 0; i < trial->count; i++)
    if (trial->made[i] == item)
      return true;
  return false;
}

/// Binds what an operation uses as inputs, or notes what is lifted for it. Where neither can be done, and it is asked for,
/// the lift fails.
static void bind_for_trial(Partition *p, MlirValue value, void *user) {
  Trial *trial = user;
  const PartItem *made = mirage__part_maker(p, value);
  if (made && is_made(trial, made))
    return;
  if (!is_lifted_for(trial, value, made)) {
    mirage__part_bind_input(&trial->lift, value, true);
    return;
  }
  trial->depth++;
  mirage__part_each_used(p, made->op, bind_for_trial, trial);
  trial->depth--;
  if (trial->count < MOST_MADE)
    trial->made[trial->count++] = made;
}

static bool try_item(Partition *p, PartItem *item, bool with_context) {
  Trial trial = {.lift = {.arena = p->arena}, .with_context = with_context};
  const MirageDiag quiet = {mirage__lift_keep_message, &trial.lift};
  trial.lift.graph = mirage_ugraph_create(NULL, "trial", &quiet);
  bool ok = trial.lift.graph != NULL;
  if (ok) {
    mirage__part_each_used(p, item->op, bind_for_trial, &trial);
    for (uint32_t i = 0; i < trial.count; i++)
      mirage__lift(&trial.lift, trial.made[i]->op);
    trial.lift.reason[0] = '\0';
    ok = mirage__lift(&trial.lift, item->op);
  }
  mirage_ugraph_destroy(trial.lift.graph);
  item->reason = ok ? NULL : mirage_arena_strdup(p->arena, trial.lift.reason);
  return ok;
}

/// Alone, or, what chooses, beside what its choices are made of.
static bool can_be_said(Partition *p, PartItem *item) {
  return try_item(p, item, false) || (mirage__lift_has_choice(item->op) && try_item(p, item, true));
}

// ------------------------------------------------------------------------------------------------------------------ parts

static void merge(Partition *p, int32_t *into, int32_t other) {
  if (*into == PART_OUTSIDE || *into == other) {
    *into = other;
    return;
  }
  p->parts[other].into = *into;
  p->parts[*into].weight += p->parts[other].weight;
  p->parts[*into].count += p->parts[other].count;
}

static void close_maker(Partition *p, MlirValue value, void *user) {
  const PartItem *from = mirage__part_maker(p, value);
  int32_t part = from ? mirage__part_root(p, from->part) : PART_OUTSIDE;
  if (part >= 0)
    p->parts[part].closed = true;
}

static void join_maker(Partition *p, MlirValue value, void *user) {
  int32_t *part = user;
  const PartItem *from = mirage__part_maker(p, value);
  int32_t other = from ? mirage__part_root(p, from->part) : PART_OUTSIDE;
  if (other >= 0 && !p->parts[other].closed)
    merge(p, part, other);
}

static void join(Partition *p, PartItem *item) {
  int32_t part = PART_OUTSIDE;
  if (item->cut)
    mirage__part_each_used(p, item->op, close_maker, NULL);
  mirage__part_each_used(p, item->op, join_maker, &part);
  if (part == PART_OUTSIDE) {
    part = (int32_t)p->num_parts++;
    p->parts[part] = (Part){.into = part};
  }
  item->part = part;
  p->parts[part].count++;
  p->parts[part].weight += item->weight;
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
    p->items[p->num_items] = (PartItem){.op = op, .part = PART_OUTSIDE};
    p->places[p->num_items] = (PartPlace){op.ptr, p->num_items};
    p->num_items++;
  }
  qsort(p->places, p->num_items, sizeof *p->places, by_address);
  return MIRAGE_OK;
}

static bool is_said(Partition *p, PartItem *item) {
  if (!item->tried) {
    item->tried = true;
    item->said = can_be_said(p, item);
    item->weight = item->said ? mirage__lift_weight(item->op) : 0;
  }
  return item->said && !item->banned;
}

static void find_parts(Partition *p) {
  p->num_parts = 0;
  for (uint32_t i = 0; i < p->num_items; i++) {
    PartItem *item = &p->items[i];
    item->part = PART_OUTSIDE;
    if (!mirage__lift_is_source(item->op) && is_said(p, item)) {
      join(p, item);
      continue;
    }
    if (mirage__lift_is_source(item->op))
      item->part = PART_SOURCE;
    mirage__part_each_used(p, item->op, close_maker, NULL); // a fill may stand on what a part gives
  }
  for (uint32_t i = 0; i < p->num_parts; i++)
    p->parts[i].dropped = p->parts[i].weight < 2;
}

// -------------------------------------------------------------------------------------------------------------- functions

/// Constants, fills and empty tensors that nobody uses any more.
static void remove_dead(Partition *p) {
  for (uint32_t i = p->num_items; i-- > 0;) {
    PartItem *item = &p->items[i];
    if (item->part != PART_SOURCE || mlirOperationIsNull(item->op) || !mirage__part_is_unused(item->op))
      continue;
    mlirOperationDestroy(item->op);
    item->op = (MlirOperation){NULL};
  }
}

static void explain(const Partition *p) {
  for (uint32_t i = 0; i + 1 < p->num_items; i++) { // not the terminator
    const PartItem *item = &p->items[i];
    int32_t part = mirage__part_root(p, item->part);
    if (mlirOperationIsNull(item->op) || item->part == PART_SOURCE)
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
    all += p->items[i].part != PART_SOURCE;
  mirage_diag_emit(p->diag, MIRAGE_SEVERITY_REMARK, mlirOperationGetLocation(p->function).ptr,
                   "@%.*s: %u of %u operations in %u graph%s", (int)name.length, name.data, inside, all, graphs,
                   graphs == 1 ? "" : "s");
}

/// Bans or cuts at what is in the way of a part; whether there was something.
static bool step_aside(Partition *p, int32_t part, const PartOutcome *outcome) {
  PartItem *item = outcome->failed;
  if (item && outcome->too_many && !item->cut) {
    item->cut = true;
    return true;
  }
  if (item) {
    item->banned = true;
    item->reason = outcome->reason;
    return true;
  }
  p->parts[part].dropped = true;
  for (uint32_t i = 0; i < p->num_items; i++)
    if (mirage__part_root(p, p->items[i].part) == part)
      p->items[i].reason = outcome->reason;
  return false;
}

/// Finds parts that can all be built.
static MirageStatus settle_parts(Partition *p) {
  bool again = true;
  while (again) {
    again = false;
    find_parts(p);
    for (uint32_t i = 0; i < p->num_parts; i++) {
      PartOutcome outcome;
      if (p->parts[i].into != (int32_t)i || p->parts[i].dropped)
        continue;
      MIRAGE_TRY(mirage__part_outline(p, (int32_t)i, 0, false, &outcome));
      again |= !outcome.done && step_aside(p, (int32_t)i, &outcome);
    }
  }
  return MIRAGE_OK;
}

static MirageStatus partition_block(Partition *p, MlirBlock block) {
  MIRAGE_TRY(mirage__rewrite_gelu(block, p->arena));
  MIRAGE_TRY(list_items(p, block));
  MIRAGE_TRY(settle_parts(p));
  uint32_t graphs = 0, inside = 0;
  for (uint32_t i = 0; i < p->num_parts; i++) {
    PartOutcome outcome;
    if (p->parts[i].into != (int32_t)i || p->parts[i].dropped)
      continue;
    MIRAGE_TRY(mirage__part_outline(p, (int32_t)i, graphs, true, &outcome));
    if (!outcome.done)
      step_aside(p, (int32_t)i, &outcome);
    graphs += outcome.done;
    inside += outcome.done ? p->parts[i].count : 0;
  }
  remove_dead(p);
  if (p->options->explain)
    explain(p);
  summarise(p, inside, graphs);
  return MIRAGE_OK;
}

static MirageStatus partition_function(MlirOperation function, MlirBlock module_body, MlirSymbolTable symbols,
                                       const MiragePartitionOptions *options, const MirageDiag *diag) {
  MirageArena arena;
  MirageStatus status = MIRAGE_OK;
  mirage_arena_init(&arena, NULL);
  MlirRegion region = mlirOperationGetRegion(function, 0);
  for (MlirBlock block = mlirRegionGetFirstBlock(region); status == MIRAGE_OK && !mlirBlockIsNull(block);
       block = mlirBlockGetNextInRegion(block)) {
    Partition partition = {.arena = &arena,
                           .diag = diag,
                           .options = options,
                           .function = function,
                           .module_body = module_body,
                           .symbols = symbols};
    status = partition_block(&partition, block);
  }
  mirage_arena_deinit(&arena);
  return status;
}

MirageStatus mirage_bridge_partition(MlirOperation module, const MiragePartitionOptions *options,
                                     const MirageDiag *diag) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  MlirSymbolTable symbols = mlirSymbolTableCreate(module);
  MirageStatus status = MIRAGE_OK;
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op) && status == MIRAGE_OK;
       op = mlirOperationGetNextInBlock(op))
    if (mirage__lift_named(op, "func.func"))
      status = partition_function(op, body, symbols, options, diag);
  mlirSymbolTableDestroy(symbols);
  return status;
}
