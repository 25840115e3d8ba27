// memory.c - strides, copies and offsets of the buffers in shared memory.
//
// Strides: rows start on 16-byte boundaries and are an odd number of 16-byte units long, so that the eight rows of an
//          ldmatrix (and a column of a tile) fall into different banks. Tiles with rows under 16 bytes stay dense.
//          Where nothing fits, rows of 128 bytes stay dense as well and are swizzled.
// Copies:  a load inside a loop has one buffer per pipeline stage; a product or reduction that several workers share
//          has one per partial result (split.c); a carry whose old value another carry takes has one for that.
// Offsets: a buffer is live from the step that writes it to the last step that reads it, directly or through inline
// values,
//          widened to whole loops where an iteration could meet the next. Largest first, each at the lowest offset that
//          is free while it lives.
// Stages:  enough to keep 64 KiB in flight on a multiprocessor (between 3 and 8), as long as that leaves room for two
// blocks
//          where there are enough blocks; else as many as fit at all.
#include "plan.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_STAGES = 3, MOST_STAGES = 8, BYTES_IN_FLIGHT = 64 * 1024 };

static BlockValue *value_of(Plan *plan, MirageValue value) { return &plan->block.values[value.index]; }

// ----------------------------------------------------------------------------------------------------------- strides

static void default_strides(MirageType *type) {
  int64_t unit = 16 / mirage_dtype_bytes(type->dtype), stride = 1;
  for (uint32_t i = type->rank; i-- > 0;) {
    type->layout.strides[i] = stride;
    stride *= type->shape[i];
    bool rows = i + 1 == type->rank && type->rank > 1 && stride >= unit;
    if (rows) {
      stride = (stride + unit - 1) / unit * unit;
      if (stride / unit % 2 == 0)
        stride += unit;
    }
  }
}

// The matrix instruction needs 16-byte rows whatever the extent.
static void fragment_strides(MirageType *type) {
  int64_t unit = 16 / mirage_dtype_bytes(type->dtype);
  int64_t row = (type->shape[type->rank - 1] + unit - 1) / unit;
  row = (row | 1) * unit;
  type->layout.strides[type->rank - 1] = 1;
  int64_t stride = row;
  for (uint32_t i = type->rank - 1; i-- > 0;) {
    type->layout.strides[i] = stride;
    stride *= type->shape[i];
  }
}

static MirageStatus check_hand_layout(Plan *plan, const MirageType *type, bool fragments) {
  const MirageLayout *layout = &type->layout;
  char text[96];
  mirage_type_format(type, text, sizeof text);
  int64_t dense = 1, chunk = (int64_t)16 << (layout->swizzle & 15); // bytes within which a swizzle moves
  for (uint32_t i = type->rank; i-- > 0; dense *= type->shape[i]) {
    int64_t step = layout->strides[i] * mirage_dtype_bytes(type->dtype);
    if (layout->swizzle && (type->rank < 2 || layout->swizzle > 5 || (i + 1 < type->rank && step % chunk)))
      return mirage_diag_fail(plan->diag, plan->loc, MIRAGE_BAD_ARGUMENT,
                              "layout: swizzle %d of tile %s needs rows of a multiple of %lld bytes, stride %u is %lld",
                              layout->swizzle, text, (long long)chunk, i, (long long)step);
    if (layout->strides[i] < dense && type->shape[i] > 1)
      return mirage_diag_fail(plan->diag, plan->loc, MIRAGE_BAD_ARGUMENT,
                              "layout: stride %lld of dimension %u of tile %s is less than the %lld elements below it",
                              (long long)layout->strides[i], i, text, (long long)dense);
    int64_t unit = 16 / mirage_dtype_bytes(type->dtype);
    if (fragments && i + 1 < type->rank && layout->strides[i] % unit)
      return mirage_diag_fail(
          plan->diag, plan->loc, MIRAGE_BAD_ARGUMENT,
          "layout: stride %lld of tile %s, a matmul operand, is not a multiple of %lld elements (16 bytes)",
          (long long)layout->strides[i], text, (long long)unit);
  }
  if (fragments && layout->strides[type->rank - 1] != 1)
    return mirage_diag_fail(plan->diag, plan->loc, MIRAGE_BAD_ARGUMENT,
                            "layout: innermost stride of tile %s, a matmul operand, is %lld instead of 1", text,
                            (long long)layout->strides[type->rank - 1]);
  if (layout->offset >= 0 && layout->offset % 16)
    return mirage_diag_fail(plan->diag, plan->loc, MIRAGE_BAD_ARGUMENT,
                            "layout: offset %d of tile %s is not a multiple of 16", layout->offset, text);
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------- live ranges

typedef struct Reader {
  Plan *plan;
  int32_t step, loop; // where the reading happens
} Reader;

static void read_leaf(void *user, MirageValue leaf) {
  Reader *reader = user;
  Block *block = &reader->plan->block;
  BlockValue *v = &block->values[mirage__block_buffer_of(block, leaf).index];
  const BlockValue *source = &block->values[leaf.index];
  int32_t step = reader->step;
  // A value from outside a loop is read again in each iteration.
  for (int32_t l = reader->loop; l >= 0 && !mirage__block_loop_contains(block, l, source->loop);
       l = block->loops[l].parent)
    step = block->loops[l].end > step ? block->loops[l].end : step;
  v->end = step > v->end ? step : v->end;
}

static void read_value(Plan *plan, MirageValue value, int32_t step, int32_t loop) {
  Reader reader = {plan, step, loop};
  mirage__block_leaves(&plan->block, value, read_leaf, &reader);
}

// The values of a meeting come to be at its step, out of its leaves, its results and what else they are computed from.
static void read_meeting(Plan *plan, const BlockMeeting *meeting, const MirageNodeView *value) {
  for (uint32_t i = 0; i < meeting->num_leaves; ++i)
    read_value(plan, meeting->leaves[i], meeting->step, meeting->loop);
  for (uint32_t i = 0; i < value->num_operands; ++i)
    read_value(plan, value->operands[i], meeting->step, meeting->loop);
}

static void read_step(Plan *plan, int32_t s) {
  Block *block = &plan->block;
  MirageNodeView view = mirage_ugraph_node(plan->graph, block->steps[s].node);
  if (view.op == MIRAGE_OP_THREAD)
    return;
  int32_t loop = block->steps[s].loop;
  const BlockValue *result = view.num_results ? value_of(plan, view.first_result) : NULL;
  if (mirage__block_can_inline(view.op) && !result->shared && !result->resident)
    return;
  const BlockMeeting *meeting = view.num_results == 1 ? mirage__block_meeting_of(block, view.first_result) : NULL;
  if (meeting) {
    read_meeting(plan, meeting, &view);
    return;
  }
  bool product = view.op == MIRAGE_OP_MATMUL || view.op == MIRAGE_OP_MMA;
  int32_t when = result && result->carried ? block->loops[loop].end : s;
  for (uint32_t i = 0; i < view.num_operands; ++i) {
    MirageValue operand = view.operands[i];
    if (product)
      read_value(plan, mirage__matmul_operand(block, operand).base, when, loop);
    read_value(plan, operand, when, loop);
  }
}

static void birth(Plan *plan, int32_t s) {
  Block *block = &plan->block;
  MirageNodeView view = mirage_ugraph_node(plan->graph, block->steps[s].node);
  int32_t loop = block->steps[s].loop;
  if (view.op == MIRAGE_OP_LOOP) {
    int32_t index = mirage__block_find_loop(block, block->steps[s].node);
    for (uint32_t i = 0; i < view.num_results; ++i) {
      BlockValue *result = value_of(plan, mirage_ugraph_result(plan->graph, block->steps[s].node, i));
      bool in_memory = mirage__block_carry_kind(block, block->steps[s].node, i) == CARRY_SHARED;
      result->begin = in_memory ? block->loops[index].begin : block->loops[index].end + 1;
      result->end = block->loops[index].end + 1;
    }
    return;
  }
  for (uint32_t i = 0; i < view.num_results; ++i) {
    BlockValue *result = value_of(plan, mirage_ugraph_result(plan->graph, block->steps[s].node, i));
    bool pipelined = view.op == MIRAGE_OP_LOAD && loop >= 0;
    int32_t when = result->meeting >= 0 ? block->meetings[result->meeting].step : s;
    result->begin = pipelined ? block->loops[loop].begin : when;
    result->end = pipelined ? block->loops[loop].end : when;
  }
}

static void live_ranges(Plan *plan) {
  for (int32_t s = 0; s < plan->block.num_steps; ++s)
    if (plan->block.steps[s].node.index)
      birth(plan, s);
  for (int32_t s = 0; s < plan->block.num_steps; ++s)
    if (plan->block.steps[s].node.index)
      read_step(plan, s);
}

// ----------------------------------------------------------------------------------------------------------- buffers

typedef struct Item {
  MirageValue value;
  int64_t bytes;        // of one copy
  int32_t copies, loop; // loop: the pipeline that the copies belong to, -1 = none
  int32_t begin, end;
  int64_t offset;
  bool fixed;
} Item;

typedef struct Items {
  Item *items;
  uint32_t count;
} Items;

// Buffers that ldmatrix reads: operands of a product on the matrix instruction that are not computed in place.
static bool is_fragment_operand(const Plan *plan, MirageValue value) {
  const Block *block = &plan->block;
  for (int32_t s = 0; s < block->num_steps; ++s) {
    if (!block->steps[s].node.index)
      continue;
    MirageNodeView view = mirage_ugraph_node(plan->graph, block->steps[s].node);
    if (view.op != MIRAGE_OP_MATMUL && view.op != MIRAGE_OP_MMA)
      continue;
    for (uint32_t i = 0; i < 2; ++i)
      if (mirage__matmul_operand(block, view.operands[i]).base.index == value.index)
        return mirage_ugraph_type(plan->graph, value)->dtype != MIRAGE_F32;
  }
  return false;
}

// Partial results that a product or reduction leaves behind.
static int32_t partials_of(const Plan *plan, MirageNodeView def) {
  const MirageType *in = mirage_ugraph_type(plan->graph, def.operands[0]);
  if (plan->block.values[def.first_result.index].resident)
    return 1;
  switch (def.op) {
  case MIRAGE_OP_MATMUL:
  case MIRAGE_OP_MMA:
    return mirage__matmul_split(in, mirage_ugraph_type(plan->graph, def.operands[1]), def.attrs, &plan->schedule)
        .by_depth;
  case MIRAGE_OP_REDUCE_SUM:
  case MIRAGE_OP_REDUCE_MAX:
  case MIRAGE_OP_REDUCE_MEAN:
    return mirage__reduce_split(in, mirage_ugraph_type(plan->graph, def.first_result), def.attrs->reduce.dim,
                                &plan->schedule)
        .warps_each;
  default:
    return 1;
  }
}

static int32_t copies_of(const Plan *plan, MirageValue value, int32_t *out_loop) {
  const Block *block = &plan->block;
  const BlockValue *v = &block->values[value.index];
  MirageNodeView def = mirage_ugraph_node(plan->graph, v->def);
  *out_loop = -1;
  if (def.op == MIRAGE_OP_LOAD && v->loop >= 0) {
    *out_loop = v->loop;
    return plan->stages_of_loop[v->loop];
  }
  if (def.op != MIRAGE_OP_LOOP)
    return partials_of(plan, def);
  CarryKind kind = mirage__block_carry_kind(block, v->def, v->index);
  if (kind == CARRY_SHARED)
    return mirage__block_carry_is_taken(block, v->def, v->index) ? 2 : 1;
  if (kind == CARRY_RESIDENT)
    return 1;
  if (block->loops[mirage__block_find_loop(block, v->def)].direct)
    return plan->schedule.warps;
  MirageValue contribution = mirage__block_resolve(block, mirage__block_yield(block, v->def).operands[v->index]);
  return partials_of(plan, mirage__block_def(block, contribution));
}

static MirageStatus collect(Plan *plan, Items *items) {
  Block *block = &plan->block;
  uint32_t values = mirage_ugraph_num_values(plan->graph);
  items->items = mirage_arena_alloc_array(block->arena, values + 1, sizeof(Item));
  if (!items->items)
    return mirage_diag_fail(plan->diag, plan->loc, MIRAGE_NO_MEMORY, "layout: out of memory");
  for (uint32_t id = 1; id <= values; ++id) {
    MirageValue value = {id};
    BlockValue *v = &block->values[id];
    if (!v->inside || !v->shared || v->alias.index != id || mirage__block_buffer_of(block, value).index != id)
      continue;
    MirageType *type = &plan->types[id];
    bool fragments = is_fragment_operand(plan, value),
         by_hand = type->space == MIRAGE_SPACE_SHARED && type->layout.planned;
    if (by_hand)
      MIRAGE_TRY(check_hand_layout(plan, type, fragments));
    else {
      type->layout = (MirageLayout){.offset = -1};
      if (fragments)
        fragment_strides(type);
      else
        default_strides(type);
    }
    Item *item = &items->items[items->count++];
    *item = (Item){.value = value,
                   .bytes = mirage__buffer_bytes(type),
                   .begin = v->begin,
                   .end = v->end,
                   .fixed = by_hand && type->layout.offset >= 0,
                   .offset = type->layout.offset};
  }
  return MIRAGE_OK;
}

static int by_size(const void *a, const void *b) {
  const Item *x = a, *y = b;
  if (x->fixed != y->fixed)
    return x->fixed ? -1 : 1;
  int64_t bx = x->bytes * x->copies, by = y->bytes * y->copies;
  if (bx != by)
    return bx > by ? -1 : 1;
  return x->value.index < y->value.index ? -1 : 1;
}

static bool overlap(const Item *a, int64_t a_offset, const Item *b) {
  return a->begin <= b->end && b->begin <= a->end && a_offset < b->offset + b->bytes * b->copies &&
         b->offset < a_offset + a->bytes * a->copies;
}

// The lowest offset at which `item` meets none of `placed[0 .. count)`.
static int64_t first_fit(const Item *item, const Item *placed, uint32_t count) {
  int64_t offset = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t i = 0; i < count; ++i)
      if (overlap(item, offset, &placed[i])) {
        offset = placed[i].offset + placed[i].bytes * placed[i].copies;
        moved = true;
      }
  }
  return offset;
}

// Offsets for the stages in force; returns the bytes used, or -1 when hand-placed tiles overlap.
static int64_t place(Plan *plan, Items *items) {
  for (uint32_t i = 0; i < items->count; ++i)
    items->items[i].copies = copies_of(plan, items->items[i].value, &items->items[i].loop);
  qsort(items->items, items->count, sizeof(Item), by_size);
  int64_t total = 0;
  for (uint32_t i = 0; i < items->count; ++i) {
    Item *item = &items->items[i];
    if (!item->fixed)
      item->offset = first_fit(item, items->items, i);
    for (uint32_t j = 0; item->fixed && j < i; ++j)
      if (overlap(item, item->offset, &items->items[j]))
        return -1;
    int64_t end = item->offset + item->bytes * item->copies;
    total = end > total ? end : total;
  }
  return total;
}

static void set_stages(Plan *plan, int32_t stages) {
  for (int32_t l = 0; l < plan->block.num_loops; ++l) {
    int64_t range = plan->block.loops[l].range;
    if (!plan->stages_by_hand[l])
      plan->stages_of_loop[l] = (int32_t)(stages < range ? stages : range);
  }
}

// Stages that keep enough bytes in flight in the loop that loads least at a time.
static int32_t wanted_stages(const Plan *plan, const Items *items, int64_t in_flight) {
  int32_t want = LEAST_STAGES;
  for (int32_t l = 0; l < plan->block.num_loops; ++l) {
    int64_t bytes = 0;
    for (uint32_t i = 0; i < items->count; ++i)
      bytes += items->items[i].loop == l ? items->items[i].bytes : 0;
    while (bytes > 0 && want < MOST_STAGES && (want - 1) * bytes < in_flight)
      ++want;
  }
  return want;
}

// The last resort: rows of a multiple of 128 bytes give up their padding, up to an eighth of a tile, and keep clear of
// bank conflicts by moving their chunks (swizzle) instead.
static void drop_padding(Plan *plan, Items *items) {
  enum { SWIZZLE = 3, CHUNK = 16 << SWIZZLE };
  for (uint32_t i = 0; i < items->count; ++i) {
    MirageType *type = &plan->types[items->items[i].value.index];
    bool by_hand = type->space == MIRAGE_SPACE_SHARED && type->layout.planned;
    if (by_hand || type->rank < 2 || type->shape[type->rank - 1] * mirage_dtype_bytes(type->dtype) % CHUNK)
      continue;
    int64_t stride = 1;
    for (uint32_t d = type->rank; d-- > 0; stride *= type->shape[d])
      type->layout.strides[d] = stride;
    type->layout.swizzle = SWIZZLE;
    items->items[i].bytes = mirage__buffer_bytes(type);
  }
}

static MirageStatus fit(Plan *plan, Items *items, int64_t *out_bytes) {
  int64_t half = plan->target->shared_bytes_per_sm / 2 - 1024, whole = plan->target->shared_bytes_per_block;
  const MirageCustomAttrs *attrs = &mirage_ugraph_node(plan->graph, plan->block.custom).attrs->custom;
  bool alone = (double)attrs->grid[0] * (double)attrs->grid[1] * (double)attrs->grid[2] <= plan->target->num_sms;
  set_stages(plan, 1);
  int64_t bytes = place(plan, items);
  int32_t want = wanted_stages(plan, items, alone ? BYTES_IN_FLIGHT : BYTES_IN_FLIGHT / 2);
  for (int32_t attempt = 0; attempt < 3; ++attempt) {
    int64_t room = attempt || alone ? whole : half;
    if (attempt == 2)
      drop_padding(plan, items);
    for (int32_t stages = want; stages >= (attempt ? 1 : LEAST_STAGES); --stages) {
      set_stages(plan, stages);
      bytes = place(plan, items);
      if (bytes < 0)
        return mirage_diag_fail(plan->diag, plan->loc, MIRAGE_BAD_ARGUMENT,
                                "layout: two tiles placed by hand overlap in shared memory while both are live");
      if (bytes <= room) {
        *out_bytes = bytes;
        return MIRAGE_OK;
      }
    }
  }
  return mirage_diag_fail(plan->diag, plan->loc, MIRAGE_LIMIT,
                          "layout: the tiles need %lld bytes of shared memory, %s has %lld for a block",
                          (long long)bytes, plan->target->name, (long long)whole);
}

MirageStatus mirage__plan_memory(Plan *plan) {
  live_ranges(plan);
  Items items = {0};
  MIRAGE_TRY(collect(plan, &items));
  int64_t bytes = 0;
  MIRAGE_TRY(fit(plan, &items, &bytes));
  for (uint32_t i = 0; i < items.count; ++i) {
    MirageType *type = &plan->types[items.items[i].value.index];
    if (type->space == MIRAGE_SPACE_SHARED && type->layout.planned && type->layout.stages > 0 &&
        type->layout.stages != items.items[i].copies) {
      char text[96];
      return mirage_diag_fail(plan->diag, plan->loc, MIRAGE_BAD_ARGUMENT,
                              "layout: tile %s has %d stages, its operator and schedule need %d",
                              mirage_type_format(type, text, sizeof text), type->layout.stages, items.items[i].copies);
    }
    type->space = MIRAGE_SPACE_SHARED;
    type->layout.planned = true;
    type->layout.offset = (int32_t)items.items[i].offset;
    type->layout.stages = items.items[i].copies;
  }
  return MIRAGE_OK;
}
