// block.c - flattens a block graph into steps and answers structural questions about its values.
#include "block.h"

#include <string.h>

typedef struct Walk {
  Block *block;
  const MirageDiag *diag;
  MirageStatus status;
} Walk;

static BlockValue *value_of(const Block *block, MirageValue value) { return &block->values[value.index]; }

static void add_value(Block *block, MirageValue value, MirageNode def, MirageNode owner, uint32_t index, int32_t loop) {
  const MirageType *type = mirage_ugraph_type(block->graph, value);
  bool planned = mirage__block_custom(block)->plan != NULL;
  *value_of(block, value) = (BlockValue){
      .inside = true,
      .shared = type->space == MIRAGE_SPACE_SHARED && (!planned || type->layout.asked),
      .def = def,
      .owner = owner,
      .index = index,
      .loop = loop,
      .alias = value,
      .meeting = -1,
      .load = -1,
      .channel = -1,
  };
}

static void walk_region(Walk *walk, MirageRegion region, int32_t loop);

static void walk_loop(Walk *walk, MirageNode node, const MirageNodeView *view, int32_t parent) {
  Block *block = walk->block;
  int32_t index = block->num_loops++;
  BlockLoop *loop = &block->loops[index];
  *loop = (BlockLoop){
      .node = node,
      .parent = parent,
      .depth = parent < 0 ? 0 : block->loops[parent].depth + 1,
      .begin = block->step_of_node[node.index],
      .range = view->attrs->loop.range,
      .trips = view->attrs->loop.range * (parent < 0 ? 1 : block->loops[parent].trips),
  };
  MirageRegionView body = mirage_ugraph_region(block->graph, view->region);
  for (uint32_t i = 0; i < body.num_arguments; i++)
    add_value(block, (MirageValue){body.first_argument.index + i}, (MirageNode){0}, node, i, index);
  walk_region(walk, view->region, index);
  loop->end = block->num_steps - 1;
  block->num_steps++; // results are written between the yield and what follows
}

static void walk_thread(Walk *walk, MirageNode node, const MirageNodeView *view, int32_t loop) {
  Block *block = walk->block;
  MirageRegionView body = mirage_ugraph_region(block->graph, view->region);
  for (uint32_t i = 0; i < body.num_arguments; i++) {
    MirageValue argument = {body.first_argument.index + i};
    add_value(block, argument, (MirageNode){0}, node, i, loop);
    value_of(block, argument)->alias = view->operands[i];
    value_of(block, argument)->shared = false;
  }
  walk_region(walk, view->region, loop);
  MirageNodeView end = mirage_ugraph_node(block->graph, body.nodes[body.num_nodes - 1]);
  for (uint32_t i = 0; i < view->num_results; i++)
    value_of(block, mirage_ugraph_result(block->graph, node, i))->alias = end.operands[i];
}

static void walk_region(Walk *walk, MirageRegion region, int32_t loop) {
  Block *block = walk->block;
  MirageRegionView view = mirage_ugraph_region(block->graph, region);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNode node = view.nodes[i];
    MirageNodeView n = mirage_ugraph_node(block->graph, node);
    block->step_of_node[node.index] = block->num_steps;
    block->steps[block->num_steps++] = (BlockStep){node, loop};
    for (uint32_t r = 0; r < n.num_results; r++)
      add_value(block, mirage_ugraph_result(block->graph, node, r), node, (MirageNode){0}, r, loop);
    if (n.op == MIRAGE_OP_LOOP)
      walk_loop(walk, node, &n, loop);
    else if (n.op == MIRAGE_OP_THREAD)
      walk_thread(walk, node, &n, loop);
  }
}

static void count_uses(Block *block) {
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(block, &s, &view);)
    for (uint32_t i = 0; i < view.num_operands; i++)
      value_of(block, mirage__block_resolve(block, view.operands[i]))->num_uses++;
}

MirageStatus mirage__block_init(Block *block, const MirageUGraph *graph, MirageNode custom, MirageArena *arena,
                                bool clusters, const MirageDiag *diag) {
  uint32_t nodes = mirage_ugraph_num_nodes(graph), values = mirage_ugraph_num_values(graph);
  *block = (Block){.graph = graph, .custom = custom, .arena = arena};
  block->values = mirage_arena_alloc_array(arena, values + 1, sizeof *block->values);
  block->types = mirage_arena_alloc_array(arena, values + 1, sizeof *block->types);
  block->seen = mirage_arena_alloc_array(arena, values + 1, sizeof *block->seen);
  block->step_of_node = mirage_arena_alloc_array(arena, nodes + 1, sizeof *block->step_of_node);
  block->steps = mirage_arena_alloc_array(arena, 2 * (size_t)nodes + 2, sizeof *block->steps);
  block->loops = mirage_arena_alloc_array(arena, nodes + 1, sizeof *block->loops);
  MirageNodeView view = mirage_ugraph_node(graph, custom);
  memcpy(block->cluster, view.attrs->custom.cluster, sizeof block->cluster);
  if (!block->values || !block->types || !block->seen || !block->step_of_node || !block->steps || !block->loops)
    return mirage_diag_fail(diag, view.loc, MIRAGE_NO_MEMORY, "custom: out of memory");
  for (uint32_t id = 1; id <= values; id++)
    block->types[id] = *mirage_ugraph_type(graph, (MirageValue){id});
  memset(block->step_of_node, -1, (nodes + 1) * sizeof *block->step_of_node);
  MirageRegionView body = mirage_ugraph_region(graph, view.region);
  for (uint32_t i = 0; i < body.num_arguments; i++)
    add_value(block, (MirageValue){body.first_argument.index + i}, (MirageNode){0}, custom, i, -1);
  Walk walk = {block, diag, MIRAGE_OK};
  walk_region(&walk, view.region, -1);
  count_uses(block);
  MIRAGE_TRY(walk.status);
  return mirage__block_meetings(block, clusters, diag);
}

const MirageCustomAttrs *mirage__block_custom(const Block *block) {
  return &mirage_ugraph_node(block->graph, block->custom).attrs->custom;
}

double mirage__block_grid(const Block *block) {
  const int64_t *grid = mirage__block_custom(block)->grid;
  return (double)grid[0] * (double)grid[1] * (double)grid[2];
}

int64_t mirage__block_cluster(const Block *block) { return block->cluster[0] * block->cluster[1] * block->cluster[2]; }

// A step of a thread region that only hands values through.
static bool forwards(const Block *block, const MirageNodeView *view) {
  return view->op == MIRAGE_OP_THREAD ||
         (view->op == MIRAGE_OP_YIELD && mirage_ugraph_region(block->graph, view->parent).level == MIRAGE_LEVEL_THREAD);
}

bool mirage__block_step(const Block *block, int32_t step, MirageNodeView *out_view) {
  if (!block->steps[step].node.index)
    return false;
  *out_view = mirage_ugraph_node(block->graph, block->steps[step].node);
  return !forwards(block, out_view);
}

bool mirage__block_next(const Block *block, int32_t *step, MirageNodeView *out_view) {
  while (++*step < block->num_steps)
    if (mirage__block_step(block, *step, out_view))
      return true;
  return false;
}

MirageValue mirage__block_resolve(const Block *block, MirageValue value) {
  while (value_of(block, value)->alias.index != value.index)
    value = value_of(block, value)->alias;
  return value;
}

MirageOp mirage__block_op(const Block *block, MirageValue value) {
  const BlockValue *v = value_of(block, value);
  if (v->def.index)
    return mirage_ugraph_node(block->graph, v->def).op;
  MirageOp owner = mirage_ugraph_node(block->graph, v->owner).op;
  return owner == MIRAGE_OP_LOOP ? MIRAGE_OP_LOOP : MIRAGE_OP_NONE;
}

MirageNodeView mirage__block_def(const Block *block, MirageValue value) {
  return mirage_ugraph_node(block->graph, value_of(block, value)->def);
}

int32_t mirage__block_find_loop(const Block *block, MirageNode node) {
  for (int32_t i = 0; i < block->num_loops; i++)
    if (block->loops[i].node.index == node.index)
      return i;
  return -1;
}

bool mirage__block_loop_contains(const Block *block, int32_t outer, int32_t inner) {
  for (; inner >= 0; inner = block->loops[inner].parent)
    if (inner == outer)
      return true;
  return outer < 0;
}

bool mirage__block_can_inline(MirageOp op) {
  if (op == MIRAGE_OP_NONE)
    return false;
  switch (mirage_op_info(op)->kind) {
  case MIRAGE_KIND_UNARY:
  case MIRAGE_KIND_BINARY:
  case MIRAGE_KIND_SHAPE:
  case MIRAGE_KIND_CAST:
  case MIRAGE_KIND_CONSTANT:
  case MIRAGE_KIND_IOTA:
    return true;
  default:
    return false;
  }
}

MirageNodeView mirage__block_yield(const Block *block, MirageNode loop) {
  MirageRegionView body = mirage_ugraph_region(block->graph, mirage_ugraph_node(block->graph, loop).region);
  return mirage_ugraph_node(block->graph, body.nodes[body.num_nodes - 1]);
}

uint32_t mirage__block_factor_index(const MirageLoopAttrs *attrs, uint32_t index) {
  uint32_t factor = attrs->num_carries;
  for (uint32_t i = 0; i < index; i++)
    factor += attrs->carries[i].combine == MIRAGE_COMBINE_RESCALE;
  return factor;
}

// Each value once: of many that are used twice there are more ways to a leaf than anybody can walk.
static void walk_leaves(const Block *block, MirageValue value, BlockVisit visit, void *user);

// A gathered result is computed from earlier results, stored or not, and from what members published.
static void visit_meeting(const Block *block, MirageValue result, BlockVisit visit, void *user) {
  const BlockMeeting *meeting = mirage__block_meeting_of(block, result);
  for (uint32_t i = 0; i < meeting->num_values && meeting->values[i].index != result.index; i++)
    if (value_of(block, meeting->values[i])->shared)
      visit(user, meeting->values[i]);
  for (uint32_t i = 0; meeting->cluster && i < meeting->num_leaves; i++)
    walk_leaves(block, meeting->leaves[i], visit, user);
}

static void walk_leaves(const Block *block, MirageValue value, BlockVisit visit, void *user) {
  value = mirage__block_resolve(block, value);
  const BlockValue *v = value_of(block, value);
  if (block->seen[value.index] == block->seen[0])
    return;
  block->seen[value.index] = block->seen[0];
  if (v->shared || v->resident || !v->def.index) {
    visit(user, value);
    return;
  }
  MirageNodeView view = mirage_ugraph_node(block->graph, v->def);
  if (mirage_op_info(view.op)->kind == MIRAGE_KIND_COLLECTIVE) {
    visit_meeting(block, value, visit, user);
    return;
  }
  if (!mirage__block_can_inline(view.op)) {
    visit(user, value);
    return;
  }
  for (uint32_t i = 0; i < view.num_operands; i++)
    walk_leaves(block, view.operands[i], visit, user);
}

void mirage__block_leaves(const Block *block, MirageValue value, BlockVisit visit, void *user) {
  block->seen[0]++;
  walk_leaves(block, value, visit, user);
}

typedef struct Reading {
  const Block *block;
  BlockRead read;
  void *user;
  int32_t step, loop; // where it happens
} Reading;

static void read_leaf(void *user, MirageValue leaf) {
  const Reading *reading = user;
  const BlockLoop *loops = reading->block->loops;
  int32_t last = reading->step, own = value_of(reading->block, leaf)->loop;
  for (int32_t l = reading->loop; !mirage__block_loop_contains(reading->block, l, own); l = loops[l].parent)
    last = loops[l].end > last ? loops[l].end : last;
  reading->read(reading->user, leaf, reading->step, last);
}

// Values of a meeting come to be at its step, out of its leaves and what else they are computed from; what a loop carries
// takes its step at the end.
void mirage__block_reads(const Block *block, BlockRead read, void *user) {
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(block, &s, &view);) {
    const BlockValue *result = view.num_results ? value_of(block, view.first_result) : NULL;
    if (mirage__block_can_inline(view.op) && !result->shared && !result->resident)
      continue;
    const BlockMeeting *meeting = view.num_results == 1 ? mirage__block_meeting_of(block, view.first_result) : NULL;
    Reading reading = {block, read, user, s, block->steps[s].loop};
    if (result && result->carried)
      reading.step = block->loops[reading.loop].end;
    if (meeting)
      reading.step = meeting->step, reading.loop = meeting->loop;
    for (uint32_t i = 0; meeting && i < meeting->num_leaves; i++)
      mirage__block_leaves(block, meeting->leaves[i], read_leaf, &reading);
    for (uint32_t i = 0; i < view.num_operands; i++)
      mirage__block_leaves(block, view.operands[i], read_leaf, &reading);
  }
}

CarryKind mirage__block_carry_candidate(const Block *block, MirageNode loop, uint32_t index) {
  MirageNodeView view = mirage_ugraph_node(block->graph, loop);
  MirageNodeView yield = mirage__block_yield(block, loop);
  MirageCombine combine = view.attrs->loop.carries[index].combine;
  MirageValue argument = mirage_ugraph_argument(block->graph, loop, index);
  MirageValue contribution = mirage__block_resolve(block, yield.operands[index]);
  const BlockValue *c = value_of(block, contribution);
  // Somebody else looks at the running value, or the contribution is not made anew in each iteration.
  if (value_of(block, argument)->num_uses || c->num_uses != 1 || !c->def.index ||
      c->loop != mirage__block_find_loop(block, loop))
    return CARRY_SHARED;
  switch (mirage_ugraph_node(block->graph, c->def).op) {
  case MIRAGE_OP_MATMUL:
    return combine == MIRAGE_COMBINE_SUM || combine == MIRAGE_COMBINE_RESCALE ? CARRY_MATMUL : CARRY_SHARED;
  case MIRAGE_OP_REDUCE_SUM:
  case MIRAGE_OP_REDUCE_MEAN:
    return combine == MIRAGE_COMBINE_SUM || combine == MIRAGE_COMBINE_RESCALE ? CARRY_REDUCE : CARRY_SHARED;
  case MIRAGE_OP_REDUCE_MAX:
    return combine == MIRAGE_COMBINE_MAX ? CARRY_REDUCE : CARRY_SHARED;
  default:
    return CARRY_SHARED;
  }
}

CarryKind mirage__block_carry_kind(const Block *block, MirageNode loop, uint32_t index) {
  MirageValue contribution = mirage__block_resolve(block, mirage__block_yield(block, loop).operands[index]);
  if (value_of(block, contribution)->carried)
    return mirage__block_carry_candidate(block, loop, index);
  MirageValue result = mirage_ugraph_result(block->graph, loop, index);
  return value_of(block, result)->resident ? CARRY_RESIDENT : CARRY_SHARED;
}

bool mirage__block_carry_is_taken(const Block *block, MirageNode loop, uint32_t index) {
  MirageValue argument = mirage_ugraph_argument(block->graph, loop, index);
  MirageNodeView yield = mirage__block_yield(block, loop);
  uint32_t carries = mirage_ugraph_node(block->graph, loop).num_operands;
  for (uint32_t i = 0; i < carries; i++)
    if (i != index && mirage__block_resolve(block, yield.operands[i]).index == argument.index)
      return true;
  return false;
}

MirageValue mirage__block_buffer_of(const Block *block, MirageValue value) {
  value = mirage__block_resolve(block, value);
  const BlockValue *v = value_of(block, value);
  if (!v->def.index && mirage_ugraph_node(block->graph, v->owner).op == MIRAGE_OP_LOOP)
    return mirage_ugraph_result(block->graph, v->owner, v->index);
  return value;
}

bool mirage__block_is_buffer(const Block *block, MirageValue value) {
  const BlockValue *v = value_of(block, value);
  return v->inside && v->shared && v->alias.index == value.index &&
         mirage__block_buffer_of(block, value).index == value.index;
}

int64_t mirage__block_mbarrier_offset(const Block *block) {
  int64_t most = 0;
  for (uint32_t id = 1; id <= mirage_ugraph_num_values(block->graph); id++) {
    int64_t end = mirage__block_is_buffer(block, (MirageValue){id}) ? mirage__buffer_end(&block->types[id]) : 0;
    most = end > most ? end : most;
  }
  return most;
}

int64_t mirage__block_staging_offset(const Block *block) {
  return mirage__block_mbarrier_offset(block) + ((int64_t)block->num_mbarriers * 8 + 15) / 16 * 16;
}

int64_t mirage__block_shared_bytes(const Block *block) {
  return mirage__block_staging_offset(block) + mirage__block_staging_bytes(block) +
         mirage__block_prepared_bytes(block) + mirage__block_waiting_bytes(block);
}

uint32_t mirage__block_chunks(const Block *block, MirageNode access, uint32_t dim, int64_t *parts, int64_t *chunk) {
  MirageNodeView view = mirage_ugraph_node(block->graph, access);
  MirageValue tensor = mirage__block_resolve(block, view.operands[view.op == MIRAGE_OP_STORE ? 1 : 0]);
  const int64_t *grid = mirage__block_custom(block)->grid;
  int32_t chain[MIRAGE_MAX_LOOPS], depth = 0;
  uint8_t splits[MIRAGE_MAX_SPLITS];
  uint32_t count = mirage_access_splits(&view.attrs->access, dim, splits);
  for (int32_t l = block->steps[block->step_of_node[access.index]].loop; l >= 0; l = block->loops[l].parent)
    chain[depth++] = l;
  for (uint32_t i = 0; i < count; i++)
    parts[i] = splits[i] < 3 ? grid[splits[i]] : block->loops[chain[depth - 1 - (splits[i] - 3)]].range;
  int64_t extent = mirage_access_extent(&view.attrs->access, &block->types[tensor.index], dim);
  mirage_access_chunks(&view.attrs->access, dim, extent, count, parts, chunk);
  return count;
}

const BlockLoad *mirage__block_load(const Block *block, MirageValue tile) {
  int32_t load = block->values[tile.index].load;
  return load < 0 ? NULL : &block->loads[load];
}

bool mirage__block_is_copied(const Block *block, MirageValue tile) {
  const BlockLoad *load = mirage__block_load(block, tile);
  return load && block->values[tile.index].shared && load->by >= BY_BULK;
}

bool mirage__block_takes_map(const Block *block, const BlockLoad *load) {
  return load->by == BY_TENSOR && mirage__block_is_copied(block, load->tile);
}

uint32_t mirage__block_count_maps(const Block *block, const BlockLoad *end) {
  uint32_t count = 0;
  for (const BlockLoad *load = block->loads; load < end; load++)
    count += mirage__block_takes_map(block, load);
  return count;
}

// Whole groups of 8 rows, which the swizzle permutes as one.
int64_t mirage__block_copied_rows(const Block *block, const BlockLoad *load) {
  enum { GROUP = 8 };
  const MirageType *tile = &block->types[load->tile.index];
  const int8_t *axes = mirage_ugraph_node(block->graph, load->node).attrs->access.grid;
  int64_t rows = tile->rank > 1 ? tile->shape[tile->rank - 2] : 1, sharers = 1;
  for (int a = 0; a < 3 && load->multicast; a++)
    sharers *= axes[a] < 0 ? block->cluster[a] : 1;
  return rows % (GROUP * sharers) == 0 ? rows / sharers : rows;
}

int64_t mirage__panel_width(const MirageType *type) {
  return type->layout.panel ? type->layout.panel : type->shape[type->rank - 1];
}

int64_t mirage__panel_rows(const MirageType *type) {
  int64_t rows = 1;
  for (uint32_t i = 0; i + 1 < type->rank; i++)
    rows *= type->shape[i];
  return rows;
}

int64_t mirage__panels_bytes(const MirageType *type) {
  int64_t panel = mirage__panel_width(type), width = type->shape[type->rank - 1];
  return mirage__panel_rows(type) * ((width + panel - 1) / panel) * panel * mirage_dtype_bytes(type->dtype);
}

int64_t mirage__buffer_end(const MirageType *type) {
  return type->layout.offset + mirage__buffer_bytes(type) * type->layout.stages;
}

bool mirage__buffers_meet(const MirageType *a, const MirageType *b) {
  return a->layout.offset < mirage__buffer_end(b) && b->layout.offset < mirage__buffer_end(a);
}

int64_t mirage__buffer_bytes(const MirageType *type) {
  int64_t elements = 1, whole = type->layout.swizzle ? INT64_C(128) << type->layout.swizzle : 16;
  for (uint32_t i = 0; i < type->rank; i++)
    elements += (type->shape[i] - 1) * type->layout.strides[i];
  if (type->layout.panel) {
    elements = mirage__panels_bytes(type) / mirage_dtype_bytes(type->dtype);
  } else if (type->rank && type->layout.strides[type->rank - 1] == 1) { // rows may be read in whole 16-byte pieces
    int64_t unit = 16 / mirage_dtype_bytes(type->dtype);
    elements = (elements + unit - 1) / unit * unit;
  }
  return (elements * mirage_dtype_bytes(type->dtype) + whole - 1) / whole * whole; // copies begin the same pattern
}
