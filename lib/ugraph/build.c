// build.c - builds a graph, strictly nested, and checks every step.
//
// Call order:  create  input*  (apply | open ... close)*  return  finish.  open_* pushes a region, close pops it.
// Failures:    the first one is remembered and its sentence sent to the sink; every later call does nothing and returns
//              {0}. So the caller needs one check, at finish, and no sequence of calls can break the graph.
// Visibility:  an operand must be defined in the open region or in one around it; custom and thread regions are
//              isolated and see only their arguments and what they define.
// Results:     a node's results exist from the moment its region is closed.
#include "ugraph_internal.h"

#include <string.h>

// ----------------------------------------------------------------------------------------- failing

static bool failed(const MirageUGraph *graph) { return graph->status != MIRAGE_OK; }

// Remembers a failure whose sentence has been sent already. Returns whether building may go on.
static bool passed(MirageUGraph *graph, MirageStatus status) {
  if (graph->status == MIRAGE_OK)
    graph->status = status;
  return !failed(graph);
}

#define FAIL(graph, status, ...)                                                                                       \
  ((void)passed(graph, mirage_diag_fail((graph)->diag, (graph)->loc, status, __VA_ARGS__)))

static void fail_memory(MirageUGraph *graph, const char *what) {
  FAIL(graph, MIRAGE_NO_MEMORY, "%s: out of memory", what);
}

static const char *op_name(MirageOp op) { return mirage_op_info(op)->mnemonic; }

static Region *open_region(MirageUGraph *graph) { return &graph->regions[graph->open]; }

// ------------------------------------------------------------------------------------------ arrays

// Makes room for `extra` more elements behind `count`. NULL when memory (or the 32-bit id) is out: `array` stays.
static void *reserve(MirageUGraph *graph, void *array, uint32_t count, uint32_t *capacity, uint32_t extra,
                     size_t size) {
  if (extra > UINT32_MAX / 2 - count)
    return NULL;
  if (count + extra <= *capacity)
    return array;
  uint32_t wanted = *capacity ? 2 * *capacity : 8;
  if (wanted < count + extra)
    wanted = count + extra;
  void *grown = mirage_arena_alloc_array(&graph->arena, wanted, size);
  if (!grown)
    return NULL;
  if (*capacity)
    memcpy(grown, array, (size_t)count * size);
  *capacity = wanted;
  return grown;
}

// Adds `count` values defined in `region` by `node`; 0 when memory is out. Types are the caller's to fill in.
static uint32_t add_values(MirageUGraph *graph, uint32_t region, uint32_t node, uint32_t count) {
  Value *values = reserve(graph, graph->values, graph->num_values + 1, &graph->values_capacity, count, sizeof *values);
  if (!values) {
    fail_memory(graph, "value");
    return 0;
  }
  graph->values = values;
  uint32_t first = graph->num_values + 1;
  for (uint32_t i = 0; i < count; i++)
    values[first + i] = (Value){.node = node, .region = region};
  graph->num_values += count;
  return first;
}

static uint32_t add_region(MirageUGraph *graph, MirageLevel level, uint32_t owner) {
  Region *regions =
      reserve(graph, graph->regions, graph->num_regions + 1, &graph->regions_capacity, 1, sizeof *regions);
  if (!regions) {
    fail_memory(graph, "region");
    return 0;
  }
  graph->regions = regions;
  regions[++graph->num_regions] = (Region){.level = level, .owner = owner};
  return graph->num_regions;
}

// Appends a node to the open region; 0 when memory is out.
static uint32_t add_node(MirageUGraph *graph, MirageOp op, uint32_t num_operands, const MirageValue *operands,
                         MirageAttrs *attrs) {
  Node *nodes = reserve(graph, graph->nodes, graph->num_nodes + 1, &graph->nodes_capacity, 1, sizeof *nodes);
  Region *region = open_region(graph);
  MirageNode *listed = reserve(graph, region->nodes, region->num_nodes, &region->nodes_capacity, 1, sizeof *listed);
  MirageValue *copied = mirage_arena_copy(&graph->arena, operands, num_operands * sizeof *operands);
  if (nodes)
    graph->nodes = nodes;
  if (listed)
    region->nodes = listed;
  if (!nodes || !listed || !copied) {
    fail_memory(graph, op_name(op));
    return 0;
  }
  uint32_t index = ++graph->num_nodes;
  nodes[index] = (Node){.op = op,
                        .num_operands = num_operands,
                        .operands = copied,
                        .parent = graph->open,
                        .attrs = attrs,
                        .loc = graph->loc};
  listed[region->num_nodes++] = (MirageNode){index};
  return index;
}

// Gives a node its results, defined in the region that it stands in.
static MirageValue add_results(MirageUGraph *graph, uint32_t node, uint32_t count, const MirageType *types) {
  uint32_t first = add_values(graph, graph->nodes[node].parent, node, count);
  if (!first)
    return (MirageValue){0};
  for (uint32_t i = 0; i < count; i++)
    graph->values[first + i].type = types[i];
  graph->nodes[node].first_result = first;
  graph->nodes[node].num_results = count;
  return (MirageValue){first};
}

// ---------------------------------------------------------------------------------------- operands

// Whether a value defined in `home` may be used in the open region.
static bool visible(const MirageUGraph *graph, uint32_t home) {
  for (uint32_t region = graph->open; region != 0;) {
    if (region == home)
      return true;
    uint32_t owner = graph->regions[region].owner;
    if (owner == 0 || graph->nodes[owner].op != MIRAGE_OP_LOOP) // the kernel region, or an isolated one
      return false;
    region = graph->nodes[owner].parent;
  }
  return false;
}

static bool check_operands(MirageUGraph *graph, const char *name, uint32_t count, const MirageValue *operands) {
  if (count && !operands)
    FAIL(graph, MIRAGE_BAD_ARGUMENT, "%s: %u operands announced, none given", name, count);
  for (uint32_t i = 0; i < count && !failed(graph); i++) {
    if (operands[i].index == 0 || operands[i].index > graph->num_values)
      FAIL(graph, MIRAGE_BAD_GRAPH, "%s: operand %u is not a value: id %u, the graph has %u", name, i,
           operands[i].index, graph->num_values);
    else if (!visible(graph, graph->values[operands[i].index].region))
      FAIL(graph, MIRAGE_BAD_GRAPH, "%s: operand %u (value %u) is not visible here: it belongs to another region", name,
           i, operands[i].index);
  }
  return !failed(graph);
}

// Types of the operands, in the arena. NULL when memory is out.
static MirageType *operand_types(MirageUGraph *graph, const char *name, uint32_t count, const MirageValue *operands) {
  MirageType *types = mirage_arena_alloc_array(&graph->arena, count, sizeof *types);
  if (!types)
    fail_memory(graph, name);
  for (uint32_t i = 0; types && i < count; i++)
    types[i] = graph->values[operands[i].index].type;
  return types;
}

// The open region takes nodes of this operator.
static bool check_place(MirageUGraph *graph, MirageOp op) {
  const Region *region = open_region(graph);
  const char *name = op_name(op);
  if (region->closed)
    FAIL(graph, MIRAGE_BAD_GRAPH, "%s: the graph has returned already", name);
  else if (!(mirage_op_info(op)->levels & (uint32_t)region->level))
    FAIL(graph, MIRAGE_BAD_GRAPH, "%s: not an operator of the %s level", name, mirage__level_name(region->level));
  return !failed(graph);
}

// -------------------------------------------------------------------------------- create and input

MirageUGraph *mirage_ugraph_create(const MirageAllocator *allocator, const char *name, const MirageDiag *diag) {
  MirageArena arena;
  mirage_arena_init(&arena, allocator);
  MirageUGraph *graph = mirage_arena_alloc(&arena, sizeof *graph);
  if (!graph)
    return NULL;
  graph->arena = arena;
  graph->diag = diag;
  graph->meta.name = mirage_ugraph_intern_string(graph, name ? name : "");
  graph->open = add_region(graph, MIRAGE_LEVEL_KERNEL, 0);
  if (graph->open != KERNEL_REGION || failed(graph)) {
    mirage_ugraph_destroy(graph);
    return NULL;
  }
  return graph;
}

void mirage_ugraph_set_loc(MirageUGraph *graph, const void *loc) { graph->loc = loc; }

const char *mirage_ugraph_intern_string(MirageUGraph *graph, const char *text) {
  const char *copy = text ? mirage_arena_strdup(&graph->arena, text) : NULL;
  if (text && !copy)
    fail_memory(graph, "name");
  return copy;
}

// A tensor that graphs and custom kernels may take and give: any but rank 0, which only constants have.
static bool check_tensor(MirageUGraph *graph, const char *name, const char *what, uint32_t index,
                         const MirageType *type) {
  InferCall call = {.name = name, .level = MIRAGE_LEVEL_KERNEL, .diag = graph->diag, .loc = graph->loc};
  if (!passed(graph, mirage__check_type(&call, what, index, type)))
    return false;
  if (type->space != MIRAGE_SPACE_DEVICE)
    FAIL(graph, MIRAGE_BAD_TYPE, "%s: %s %u is not a tensor in device memory", name, what, index);
  else if (type->rank == 0)
    FAIL(graph, MIRAGE_BAD_SHAPE, "%s: %s %u has rank 0, which only constants may have", name, what, index);
  return !failed(graph);
}

MirageValue mirage_ugraph_input(MirageUGraph *graph, MirageType tensor) {
  if (failed(graph))
    return (MirageValue){0};
  uint32_t count = graph->regions[KERNEL_REGION].num_arguments;
  if (graph->open != KERNEL_REGION || graph->num_nodes != 0)
    FAIL(graph, MIRAGE_BAD_GRAPH, "input: inputs come before any node: %u nodes exist", graph->num_nodes);
  if (failed(graph) || !check_tensor(graph, "input", "input", count, &tensor))
    return (MirageValue){0};
  uint32_t value = add_values(graph, KERNEL_REGION, 0, 1);
  if (!value)
    return (MirageValue){0};
  tensor.layout = (MirageLayout){0};
  graph->values[value].type = tensor;
  Region *body = &graph->regions[KERNEL_REGION];
  if (body->num_arguments++ == 0)
    body->first_argument = value;
  return (MirageValue){value};
}

// ---------------------------------------------------------------------------- nodes without region

// load reads a custom kernel's inputs and store writes its outputs; both are arguments of the custom region.
static bool check_access(MirageUGraph *graph, MirageOp op, MirageValue tensor) {
  uint32_t home = graph->values[tensor.index].region;
  Region *region = &graph->regions[home];
  uint32_t owner = region->owner;
  if (owner == 0 || graph->nodes[owner].op != MIRAGE_OP_CUSTOM ||
      tensor.index - region->first_argument >= region->num_arguments) {
    FAIL(graph, MIRAGE_BAD_GRAPH, "%s: value %u is not an argument of the custom kernel", op_name(op), tensor.index);
    return false;
  }
  uint32_t argument = tensor.index - region->first_argument, num_inputs = graph->nodes[owner].num_operands;
  if (op == MIRAGE_OP_LOAD && argument >= num_inputs)
    FAIL(graph, MIRAGE_BAD_GRAPH, "load: argument %u is an output: the custom kernel has %u inputs", argument,
         num_inputs);
  else if (op == MIRAGE_OP_STORE && argument < num_inputs)
    FAIL(graph, MIRAGE_BAD_GRAPH, "store: argument %u is an input: outputs start at argument %u", argument, num_inputs);
  else if (op == MIRAGE_OP_LOAD)
    region->num_loads++;
  else
    region->stored[argument - num_inputs] = true;
  return !failed(graph);
}

// Attributes of an operator without a region, copied; *ok is false when memory is out.
static MirageAttrs *copy_attrs(MirageUGraph *graph, MirageOp op, const MirageAttrs *attrs, bool *ok) {
  *ok = true;
  if (mirage_op_info(op)->attrs == MIRAGE_ATTRS_NONE)
    return NULL;
  const MirageAttrs none = {0}; // matmul may leave its attributes out
  MirageAttrs *copy = mirage_arena_copy(&graph->arena, attrs ? attrs : &none, sizeof *copy);
  if (!copy) {
    fail_memory(graph, op_name(op));
    *ok = false;
  }
  return copy;
}

MirageValue mirage_ugraph_apply(MirageUGraph *graph, MirageOp op, uint32_t num_operands, const MirageValue *operands,
                                const MirageAttrs *attrs) {
  const MirageValue none = {0};
  if (failed(graph))
    return none;
  if (op <= MIRAGE_OP_NONE || op >= MIRAGE_NUM_OPS) {
    FAIL(graph, MIRAGE_BAD_ARGUMENT, "operator %d does not exist", (int)op);
    return none;
  }
  const MirageOpInfo *info = mirage_op_info(op);
  if (info->kind == MIRAGE_KIND_REGION || info->kind == MIRAGE_KIND_TERMINATOR) {
    FAIL(graph, MIRAGE_BAD_ARGUMENT, "%s: has its own building call", info->mnemonic);
    return none;
  }
  if (!check_place(graph, op) || !check_operands(graph, info->mnemonic, num_operands, operands))
    return none;
  MirageScope scope = mirage__scope_of_region(graph, graph->open);
  MirageArenaMark mark = mirage_arena_mark(&graph->arena);
  const MirageType *types = operand_types(graph, info->mnemonic, num_operands, operands);
  if (!types)
    return none;
  MirageType result = {0};
  MirageStatus status = mirage_op_infer(op, open_region(graph)->level, num_operands, types, attrs, &scope, graph->diag,
                                        graph->loc, &result);
  mirage_arena_rewind(&graph->arena, mark);
  if (!passed(graph, status))
    return none;
  if (info->kind == MIRAGE_KIND_ACCESS && !check_access(graph, op, operands[num_operands - 1]))
    return none;
  bool ok;
  MirageAttrs *copied = copy_attrs(graph, op, attrs, &ok);
  uint32_t node = ok ? add_node(graph, op, num_operands, operands, copied) : 0;
  if (!node || op == MIRAGE_OP_STORE)
    return none;
  return add_results(graph, node, 1, &result);
}

static bool is_constant(const Node *node, const MirageType *type, double value) {
  return node->op == MIRAGE_OP_CONSTANT && memcmp(&node->attrs->constant.value, &value, sizeof value) == 0 &&
         node->attrs->constant.type.space == type->space && !node->attrs->constant.type.layout.planned &&
         !type->layout.planned && mirage_type_same_meaning(&node->attrs->constant.type, type);
}

// An equal constant that the open region of a block graph sees: its own, or of the loops and the kernel around it.
static MirageValue find_constant(const MirageUGraph *graph, const MirageType *type, double value) {
  const Region *region = &graph->regions[graph->open];
  for (; region->level == MIRAGE_LEVEL_BLOCK; region = &graph->regions[graph->nodes[region->owner].parent]) {
    for (uint32_t i = 0; i < region->num_nodes; i++) {
      const Node *node = &graph->nodes[region->nodes[i].index];
      if (is_constant(node, type, value))
        return (MirageValue){node->first_result};
    }
  }
  return (MirageValue){0};
}

MirageValue mirage_ugraph_constant(MirageUGraph *graph, MirageType type, double value) {
  MirageValue found = failed(graph) ? (MirageValue){0} : find_constant(graph, &type, value);
  if (found.index)
    return found;
  return mirage_ugraph_apply(graph, MIRAGE_OP_CONSTANT, 0, NULL,
                             &(MirageAttrs){.constant = {.type = type, .value = value}});
}

MirageValue mirage_ugraph_cast(MirageUGraph *graph, MirageValue operand, MirageDType dtype) {
  MirageType type = *mirage_ugraph_type(graph, operand);
  type.dtype = dtype;
  return mirage_ugraph_apply(graph, MIRAGE_OP_CAST, 1, &operand, &(MirageAttrs){.shape = {.type = type}});
}

MirageValue mirage_ugraph_load(MirageUGraph *graph, MirageValue tensor, const MirageAccessAttrs *access) {
  return access ? mirage_ugraph_apply(graph, MIRAGE_OP_LOAD, 1, &tensor, &(MirageAttrs){.access = *access})
                : mirage_ugraph_apply(graph, MIRAGE_OP_LOAD, 1, &tensor, NULL);
}

void mirage_ugraph_store(MirageUGraph *graph, MirageValue tile, MirageValue tensor, const MirageAccessAttrs *access) {
  const MirageValue operands[] = {tile, tensor};
  if (access)
    mirage_ugraph_apply(graph, MIRAGE_OP_STORE, 2, operands, &(MirageAttrs){.access = *access});
  else
    mirage_ugraph_apply(graph, MIRAGE_OP_STORE, 2, operands, NULL);
}

// ------------------------------------------------------------------------------- nodes with region

// Appends the node, gives it a region with `num_arguments` arguments, and opens that. 0 after a failure.
static uint32_t push(MirageUGraph *graph, MirageOp op, MirageLevel level, uint32_t num_operands,
                     const MirageValue *operands, MirageAttrs *attrs, uint32_t num_arguments) {
  uint32_t node = add_node(graph, op, num_operands, operands, attrs);
  uint32_t region = node ? add_region(graph, level, node) : 0;
  uint32_t first = region ? add_values(graph, region, 0, num_arguments) : 0;
  if (!first)
    return 0;
  graph->nodes[node].region = region;
  graph->regions[region].num_arguments = num_arguments;
  graph->regions[region].first_argument = num_arguments ? first : 0;
  graph->open = region;
  return node;
}

static void set_argument_type(MirageUGraph *graph, uint32_t index, MirageType type, MirageSpace space) {
  type.space = space;
  type.layout = (MirageLayout){0};
  graph->values[open_region(graph)->first_argument + index].type = type;
}

static const MirageSchedule *copy_schedule(MirageUGraph *graph, const MirageSchedule *schedule) {
  MirageSchedule *copy = schedule ? mirage_arena_copy(&graph->arena, schedule, sizeof *copy) : NULL;
  if (schedule && !copy)
    fail_memory(graph, "schedule");
  return copy;
}

static const MirageLaunch *copy_launch(MirageUGraph *graph, const MirageLaunch *launch) {
  MirageLaunch *copy = launch ? mirage_arena_copy(&graph->arena, launch, sizeof *copy) : NULL;
  if (launch && !copy)
    fail_memory(graph, "launch");
  if (!copy)
    return NULL;
  copy->kernel = mirage_ugraph_intern_string(graph, launch->kernel);
  copy->maps = mirage_arena_copy(&graph->arena, launch->maps, launch->num_maps * sizeof *copy->maps);
  if (launch->num_maps && !copy->maps)
    fail_memory(graph, "launch");
  return copy;
}

static const MiragePlan *copy_plan(MirageUGraph *graph, const MiragePlan *plan) {
  MiragePlan *copy = plan ? mirage_arena_copy(&graph->arena, plan, sizeof *copy) : NULL;
  if (plan && !copy)
    fail_memory(graph, "plan");
  if (!copy)
    return NULL;
  copy->asked = copy_schedule(graph, plan->asked);
  copy->loops = mirage_ugraph_intern_string(graph, plan->loops);
  copy->places = mirage_ugraph_intern_string(graph, plan->places);
  return copy;
}

static bool check_custom(MirageUGraph *graph, uint32_t num_operands, const MirageValue *operands, uint32_t num_results,
                         const MirageType *results, const MirageCustomAttrs *attrs) {
  if (!check_place(graph, MIRAGE_OP_CUSTOM) || !check_operands(graph, "custom", num_operands, operands))
    return false;
  if (!attrs)
    FAIL(graph, MIRAGE_BAD_ARGUMENT, "custom: attributes are missing");
  else if (num_results == 0 || !results)
    FAIL(graph, MIRAGE_BAD_GRAPH, "custom: has no results");
  else if (num_results > UINT32_MAX / 2 - num_operands)
    FAIL(graph, MIRAGE_LIMIT, "custom: too many operands and results: %u, %u", num_operands, num_results);
  for (uint32_t i = 0; i < num_operands && !failed(graph); i++)
    check_tensor(graph, "custom", "operand", i, &graph->values[operands[i].index].type);
  for (uint32_t i = 0; i < num_results && !failed(graph); i++)
    check_tensor(graph, "custom", "result", i, &results[i]);
  return !failed(graph) && passed(graph, mirage_op_check_custom(attrs, graph->diag, graph->loc));
}

MirageNode mirage_ugraph_open_custom(MirageUGraph *graph, uint32_t num_operands, const MirageValue *operands,
                                     uint32_t num_results, const MirageType *results, const MirageCustomAttrs *attrs) {
  const MirageNode none = {0};
  if (failed(graph) || !check_custom(graph, num_operands, operands, num_results, results, attrs))
    return none;
  MirageAttrs *copied = mirage_arena_alloc(&graph->arena, sizeof *copied);
  MirageType *types = mirage_arena_copy(&graph->arena, results, num_results * sizeof *types);
  bool *stored = mirage_arena_alloc_array(&graph->arena, num_results, sizeof *stored);
  if (!copied || !types || !stored) {
    fail_memory(graph, "custom");
    return none;
  }
  copied->custom = *attrs;
  copied->custom.schedule = copy_schedule(graph, attrs->schedule);
  copied->custom.plan = copy_plan(graph, attrs->plan);
  copied->custom.launch = copy_launch(graph, attrs->launch);
  if (failed(graph))
    return none;
  uint32_t node =
      push(graph, MIRAGE_OP_CUSTOM, MIRAGE_LEVEL_BLOCK, num_operands, operands, copied, num_operands + num_results);
  if (!node)
    return none;
  for (uint32_t i = 0; i < num_operands; i++)
    set_argument_type(graph, i, graph->values[operands[i].index].type, MIRAGE_SPACE_DEVICE);
  for (uint32_t i = 0; i < num_results; i++) {
    types[i].layout = (MirageLayout){0};
    set_argument_type(graph, num_operands + i, types[i], MIRAGE_SPACE_DEVICE);
  }
  Region *region = open_region(graph);
  region->result_types = types;
  region->num_results = num_results;
  region->stored = stored;
  return (MirageNode){node};
}

MirageNode mirage_ugraph_open_loop(MirageUGraph *graph, uint32_t num_inits, const MirageValue *inits,
                                   const MirageLoopAttrs *attrs) {
  const MirageNode none = {0};
  if (failed(graph) || !check_place(graph, MIRAGE_OP_LOOP) || !check_operands(graph, "loop", num_inits, inits))
    return none;
  MirageScope scope = mirage__scope_of_region(graph, graph->open);
  if (!attrs)
    FAIL(graph, MIRAGE_BAD_ARGUMENT, "loop: attributes are missing");
  else if (scope.num_loops == MIRAGE_MAX_LOOPS)
    FAIL(graph, MIRAGE_LIMIT, "loop: nested %u deep, at most %d are supported", scope.num_loops + 1, MIRAGE_MAX_LOOPS);
  const MirageType *types = failed(graph) ? NULL : operand_types(graph, "loop", num_inits, inits);
  if (!types || !passed(graph, mirage__check_loop_start(attrs, num_inits, types, graph->diag, graph->loc)))
    return none;
  MirageAttrs *copied = mirage_arena_alloc(&graph->arena, sizeof *copied);
  MirageCarry *carries = mirage_arena_copy(&graph->arena, attrs->carries, num_inits * sizeof *carries);
  if (!copied || !carries) {
    fail_memory(graph, "loop");
    return none;
  }
  copied->loop = (MirageLoopAttrs){.range = attrs->range, .num_carries = num_inits, .carries = carries};
  uint32_t node = push(graph, MIRAGE_OP_LOOP, MIRAGE_LEVEL_BLOCK, num_inits, inits, copied, num_inits);
  for (uint32_t i = 0; node && i < num_inits; i++)
    set_argument_type(graph, i, types[i], MIRAGE_SPACE_TILE);
  return (MirageNode){node};
}

MirageNode mirage_ugraph_open_thread(MirageUGraph *graph, uint32_t num_operands, const MirageValue *operands) {
  const MirageNode none = {0};
  if (failed(graph) || !check_place(graph, MIRAGE_OP_THREAD) ||
      !check_operands(graph, "thread", num_operands, operands))
    return none;
  InferCall call = {.name = "thread", .level = MIRAGE_LEVEL_BLOCK, .diag = graph->diag, .loc = graph->loc};
  for (uint32_t i = 0; i < num_operands; i++)
    if (!passed(graph, mirage__check_space(&call, i, &graph->values[operands[i].index].type)))
      return none;
  uint32_t node = push(graph, MIRAGE_OP_THREAD, MIRAGE_LEVEL_THREAD, num_operands, operands, NULL, num_operands);
  for (uint32_t i = 0; node && i < num_operands; i++)
    set_argument_type(graph, i, graph->values[operands[i].index].type, MIRAGE_SPACE_FRAGMENT);
  return (MirageNode){node};
}

// ----------------------------------------------------------------------------------------- closing

// Pops the open region; its node's results become values of the region around it, without a placement.
static void pop(MirageUGraph *graph, uint32_t num_results, MirageType *types) {
  uint32_t node = open_region(graph)->owner;
  open_region(graph)->closed = true;
  graph->open = graph->nodes[node].parent;
  if (graph->nodes[node].op != MIRAGE_OP_CUSTOM)
    for (uint32_t i = 0; i < num_results; i++) {
      types[i].space = MIRAGE_SPACE_TILE;
      types[i].layout = (MirageLayout){0};
    }
  add_results(graph, node, num_results, types);
}

// A schedule lists all loads of its kernel, or none.
static void check_listed(MirageUGraph *graph, const Region *region, uint32_t listed) {
  if (listed != 0 && listed != region->num_loads)
    FAIL(graph, MIRAGE_BAD_GRAPH, "custom: the schedule describes %u loads, the block graph has %u", listed,
         region->num_loads);
}

static void close_custom(MirageUGraph *graph, uint32_t num_values) {
  const Region *region = open_region(graph);
  uint32_t listed = mirage_schedule_count_loads(graph->nodes[region->owner].attrs->custom.schedule);
  if (num_values != 0)
    FAIL(graph, MIRAGE_BAD_GRAPH, "custom: outputs are stored, not yielded: %u values given", num_values);
  for (uint32_t i = 0; i < region->num_results && !failed(graph); i++)
    if (!region->stored[i])
      FAIL(graph, MIRAGE_BAD_GRAPH, "custom: output %u is never stored", i);
  if (!failed(graph))
    check_listed(graph, region, listed);
  MirageType *types = failed(graph)
                          ? NULL
                          : mirage_arena_copy(&graph->arena, region->result_types, region->num_results * sizeof *types);
  if (types)
    pop(graph, region->num_results, types);
  else if (!failed(graph))
    fail_memory(graph, "custom");
}

static void close_loop(MirageUGraph *graph, uint32_t num_values, const MirageValue *values) {
  const Node *loop = &graph->nodes[open_region(graph)->owner];
  const MirageLoopAttrs *attrs = &loop->attrs->loop;
  MirageType *inits = operand_types(graph, "loop", loop->num_operands, loop->operands);
  const MirageType *yielded = inits ? operand_types(graph, "yield", num_values, values) : NULL;
  if (!yielded || !passed(graph, mirage_op_check_loop(attrs, attrs->num_carries, inits, num_values, yielded,
                                                      graph->diag, graph->loc)))
    return;
  if (add_node(graph, MIRAGE_OP_YIELD, num_values, values, NULL))
    pop(graph, attrs->num_carries, inits);
}

static void close_thread(MirageUGraph *graph, uint32_t num_values, const MirageValue *values) {
  if (num_values == 0) {
    FAIL(graph, MIRAGE_BAD_GRAPH, "thread: yields nothing");
    return;
  }
  MirageType *types = operand_types(graph, "yield", num_values, values);
  InferCall call = {.name = "yield", .level = MIRAGE_LEVEL_THREAD, .diag = graph->diag, .loc = graph->loc};
  for (uint32_t i = 0; types && i < num_values; i++)
    if (!passed(graph, mirage__check_space(&call, i, &types[i])))
      return;
  if (types && add_node(graph, MIRAGE_OP_YIELD, num_values, values, NULL))
    pop(graph, num_values, types);
}

void mirage_ugraph_close(MirageUGraph *graph, uint32_t num_values, const MirageValue *values) {
  if (failed(graph))
    return;
  uint32_t owner = open_region(graph)->owner;
  if (owner == 0) {
    FAIL(graph, MIRAGE_BAD_GRAPH, "close: no region is open");
    return;
  }
  MirageOp op = graph->nodes[owner].op;
  if (op == MIRAGE_OP_CUSTOM)
    close_custom(graph, num_values);
  else if (!check_operands(graph, "yield", num_values, values))
    return;
  else if (op == MIRAGE_OP_LOOP)
    close_loop(graph, num_values, values);
  else
    close_thread(graph, num_values, values);
}

void mirage_ugraph_return(MirageUGraph *graph, uint32_t num_values, const MirageValue *values) {
  if (failed(graph) || !check_place(graph, MIRAGE_OP_RETURN))
    return;
  if (num_values == 0)
    FAIL(graph, MIRAGE_BAD_GRAPH, "return: a graph without outputs");
  else if (check_operands(graph, "return", num_values, values) &&
           add_node(graph, MIRAGE_OP_RETURN, num_values, values, NULL))
    graph->regions[KERNEL_REGION].closed = true;
}

MirageStatus mirage_ugraph_finish(MirageUGraph *graph) {
  if (failed(graph))
    return graph->status;
  if (graph->open != KERNEL_REGION)
    FAIL(graph, MIRAGE_BAD_GRAPH, "%s: still open at the end of the graph",
         op_name(graph->nodes[open_region(graph)->owner].op));
  else if (!graph->regions[KERNEL_REGION].closed)
    FAIL(graph, MIRAGE_BAD_GRAPH, "return: missing at the end of the graph");
  return graph->status;
}

// -------------------------------------------------------------------------- changes after building

void mirage_ugraph_set_placement(MirageUGraph *graph, MirageValue value, MirageSpace space,
                                 const MirageLayout *layout) {
  if (failed(graph))
    return;
  if (value.index == 0 || value.index > graph->num_values) {
    FAIL(graph, MIRAGE_BAD_ARGUMENT, "placement: value %u does not exist, the graph has %u", value.index,
         graph->num_values);
    return;
  }
  MirageType *type = &graph->values[value.index].type;
  bool is_tile =
      type->space == MIRAGE_SPACE_TILE || type->space == MIRAGE_SPACE_SHARED || type->space == MIRAGE_SPACE_REGISTER;
  bool to_tile = space == MIRAGE_SPACE_TILE || space == MIRAGE_SPACE_SHARED || space == MIRAGE_SPACE_REGISTER;
  bool is_fragment = type->space == MIRAGE_SPACE_FRAGMENT && space == MIRAGE_SPACE_FRAGMENT;
  if ((!is_tile || !to_tile) && !is_fragment) {
    FAIL(graph, MIRAGE_BAD_TYPE, "placement: %s",
         is_tile ? "a tile lies in shared memory or registers" : "only tiles have one");
    return;
  }
  type->space = space;
  type->layout = layout ? *layout : (MirageLayout){0};
}

static MirageCustomAttrs *find_custom(MirageUGraph *graph, const char *what, MirageNode node) {
  if (failed(graph))
    return NULL;
  if (node.index == 0 || node.index > graph->num_nodes || graph->nodes[node.index].op != MIRAGE_OP_CUSTOM) {
    FAIL(graph, MIRAGE_BAD_ARGUMENT, "%s: node %u is not a custom kernel", what, node.index);
    return NULL;
  }
  return &graph->nodes[node.index].attrs->custom;
}

void mirage_ugraph_set_schedule(MirageUGraph *graph, MirageNode custom, const MirageSchedule *schedule) {
  MirageCustomAttrs *attrs = find_custom(graph, "schedule", custom);
  if (!attrs)
    return;
  MirageCustomAttrs changed = *attrs;
  changed.schedule = schedule;
  const Region *region = &graph->regions[graph->nodes[custom.index].region];
  if (!passed(graph, mirage_op_check_custom(&changed, graph->diag, graph->loc)))
    return;
  if (region->closed)
    check_listed(graph, region, mirage_schedule_count_loads(schedule));
  const MirageSchedule *copy = failed(graph) ? NULL : copy_schedule(graph, schedule);
  if (!failed(graph))
    attrs->schedule = copy;
}

void mirage_ugraph_set_cluster(MirageUGraph *graph, MirageNode custom, const int64_t cluster[3]) {
  MirageCustomAttrs *attrs = find_custom(graph, "cluster", custom);
  if (!attrs)
    return;
  MirageCustomAttrs changed = *attrs;
  memcpy(changed.cluster, cluster, sizeof changed.cluster);
  if (passed(graph, mirage_op_check_custom(&changed, graph->diag, graph->loc)))
    *attrs = changed;
}

void mirage_ugraph_set_plan(MirageUGraph *graph, MirageNode custom, const MiragePlan *plan) {
  MirageCustomAttrs *attrs = find_custom(graph, "plan", custom);
  if (!attrs)
    return;
  MiragePlan *copy = (MiragePlan *)copy_plan(graph, plan); // fresh memory of this graph's
  if (failed(graph))
    return;
  attrs->plan = copy;
  if (copy)
    copy->of = mirage__kernel_hash(graph, custom);
}

void mirage_ugraph_set_launch(MirageUGraph *graph, MirageNode custom, const MirageLaunch *launch) {
  MirageCustomAttrs *attrs = find_custom(graph, "launch", custom);
  if (!attrs || (launch && !passed(graph, mirage__check_launch(launch, graph->diag, graph->loc))))
    return;
  const MirageLaunch *copy = copy_launch(graph, launch);
  if (!failed(graph))
    attrs->launch = copy;
}
