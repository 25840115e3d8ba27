// memory.c - the buffers in shared memory: what layouts each may take, how many copies there are, when it lives.
//
// Layouts: rows padded to an odd number of 16-byte units, so that the eight rows of an ldmatrix (and a column of a
//          tile) fall into different banks; dense rows; dense rows with their 16-byte chunks swizzled by the row, where
//          these are whole powers of two. What each costs is counted (traffic.c); which one it is, solve.c decides.
// Copies:  a load inside a loop has one buffer per pipeline stage; a product or reduction that several workers share
//          has one per partial result (split.c); a carry whose old value another carry takes has one for that.
// Life:    from the step that writes a buffer to the last step that reads it, directly or through inline values,
//          widened to whole loops where an iteration could meet the next.
#include "banks.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SWIZZLE = 3, QUARTERS = 4 }; // costs are in quarters of a cycle, one for an address that is swizzled

static BlockValue *value_of(Plan *plan, MirageValue value) { return &plan->block.values[value.index]; }

// How a load's tile comes; of other tiles it is open.
static LoadBy way_of(const Plan *plan, MirageValue tile) {
  const BlockLoad *load = mirage__block_load(&plan->block, tile);
  return load ? load->by : BY_OPEN;
}

// ----------------------------------------------------------------------------------------------------------- strides

// Strides of rows that are `row` elements apart; all other dimensions dense.
static void set_strides(MirageType *type, int64_t row) {
  int64_t stride = 1;
  for (uint32_t i = type->rank; i-- > 0;) {
    type->layout.strides[i] = stride;
    stride *= i + 1 == type->rank && type->rank > 1 ? row : type->shape[i];
  }
}

static bool is_known(const Item *item, const MirageLayout *layout, uint32_t rank) {
  for (uint32_t v = 0; v < item->num_variants; v++)
    if (item->variants[v].swizzle == layout->swizzle &&
        !memcmp(item->variants[v].strides, layout->strides, rank * sizeof *layout->strides))
      return true;
  return false;
}

// The layouts a tile may take, padded rows first. Those without more conflicts than these are good anywhere; the others
// are for want of room.
static void add_variants(Plan *plan, Item *item, const MirageType *tile, bool fragments) {
  MirageType type = *tile;
  int64_t bytes = mirage_dtype_bytes(type.dtype), unit = 16 / bytes, last = type.rank ? type.shape[type.rank - 1] : 1;
  int64_t whole = (last + unit - 1) / unit * unit; // of 16-byte pieces
  bool pieces = fragments || last >= unit;
  Traffic best = {0};
  item->num_variants = item->num_good = 0;
  for (int32_t swizzle = -1; swizzle <= MOST_SWIZZLE; swizzle++) { // -1: padded
    if (swizzle > 0 &&
        (type.rank < 2 || way_of(plan, item->value) == BY_BULK || last * bytes % ((int64_t)16 << swizzle)))
      break;
    type.layout = (MirageLayout){.offset = -1, .swizzle = (uint8_t)(swizzle > 0 ? swizzle : 0)};
    set_strides(&type, swizzle < 0 && pieces ? (whole / unit | 1) * unit : fragments ? whole : last);
    if (is_known(item, &type.layout, type.rank))
      continue;
    Traffic traffic = mirage__traffic(plan, item->value, &type);
    if (swizzle < 0)
      best = traffic;
    uint32_t at = item->num_variants++; // good ones first
    bool good = traffic.conflicts <= best.conflicts;
    if (good) {
      for (; at > item->num_good; at--) {
        item->variants[at] = item->variants[at - 1];
        item->costs[at] = item->costs[at - 1];
      }
      item->num_good++;
    }
    item->variants[at] = type.layout;
    item->costs[at] = (int64_t)(QUARTERS * traffic.conflicts + traffic.swizzles);
  }
}

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static MirageStatus refuse(const Plan *plan, const MirageType *tile, const char *format, ...) {
  char text[96], reason[160];
  va_list args;
  va_start(args, format);
  vsnprintf(reason, sizeof reason, format, args);
  va_end(args);
  return mirage_diag_fail(plan->diag, plan->loc, MIRAGE_BAD_ARGUMENT, "layout: tile %s %s",
                          mirage_type_format(tile, text, sizeof text), reason);
}

static MirageStatus check_panels(const Plan *plan, const MirageType *type) {
  const MirageLayout *layout = &type->layout;
  int64_t width = type->shape[type->rank - 1], stride = layout->panel;
  if (width % layout->panel || layout->panel * mirage_dtype_bytes(type->dtype) % 16)
    return refuse(plan, type, "has panels of %d, which do not divide its last dimension into whole 16-byte pieces",
                  layout->panel);
  for (uint32_t i = type->rank - 1; i-- > 0; stride *= type->shape[i])
    if (layout->strides[i] != stride)
      return refuse(plan, type, "has stride %lld of dimension %u, its panels %lld", (long long)layout->strides[i], i,
                    (long long)stride);
  return MIRAGE_OK;
}

static MirageStatus check_hand_layout(const Plan *plan, const MirageType *type, bool fragments) {
  const MirageLayout *layout = &type->layout;
  int64_t dense = 1, chunk = (int64_t)16 << (layout->swizzle & 15); // bytes within which a swizzle moves
  int64_t bytes = mirage_dtype_bytes(type->dtype), unit = 16 / bytes;
  if (layout->panel && type->rank)
    MIRAGE_TRY(check_panels(plan, type));
  for (uint32_t i = type->rank; i-- > 0;
       dense *= layout->panel && i + 1 == type->rank ? layout->panel : type->shape[i]) {
    int64_t stride = layout->strides[i], step = stride * bytes;
    if (layout->swizzle && (type->rank < 2 || layout->swizzle > 5 || (i + 1 < type->rank && step % chunk)))
      return refuse(plan, type, "has swizzle %d, which needs rows of a multiple of %lld bytes, stride %u is %lld",
                    layout->swizzle, (long long)chunk, i, (long long)step);
    if (stride < dense && type->shape[i] > 1)
      return refuse(plan, type, "has stride %lld of dimension %u, less than the %lld elements below it",
                    (long long)stride, i, (long long)dense);
    if (fragments && i + 1 < type->rank && stride % unit)
      return refuse(plan, type, "is a matmul operand: stride %lld is not a multiple of %lld elements (16 bytes)",
                    (long long)stride, (long long)unit);
  }
  if (fragments && layout->strides[type->rank - 1] != 1)
    return refuse(plan, type, "is a matmul operand: its innermost stride is %lld instead of 1",
                  (long long)layout->strides[type->rank - 1]);
  return layout->offset >= 0 && layout->offset % 16
             ? refuse(plan, type, "is at offset %d, which is not a multiple of 16", layout->offset)
             : MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------- live ranges

static void extend(void *user, MirageValue leaf, int32_t first, int32_t last) {
  Block *block = user;
  BlockValue *v = &block->values[mirage__block_buffer_of(block, leaf).index];
  (void)first;
  v->end = last > v->end ? last : v->end;
}

static void birth(Plan *plan, int32_t s, const MirageNodeView *view) {
  Block *block = &plan->block;
  int32_t loop = block->steps[s].loop, own = mirage__block_find_loop(block, block->steps[s].node);
  for (uint32_t i = 0; i < view->num_results; i++) {
    MirageValue value = {view->first_result.index + i};
    BlockValue *result = value_of(plan, value);
    int32_t when = result->meeting >= 0 ? block->meetings[result->meeting].step : s;
    bool pipelined = view->op == MIRAGE_OP_LOAD && loop >= 0;
    result->begin = pipelined ? block->loops[loop].begin : when;
    result->end = pipelined ? block->loops[loop].end : when;
    if (own >= 0) {
      bool in_memory = mirage__block_carry_kind(block, block->steps[s].node, i) == CARRY_SHARED;
      result->end = block->loops[own].end + 1;
      result->begin = in_memory ? block->loops[own].begin : result->end;
    }
    if (!mirage__has_producer(&block->team) || !mirage__block_is_copied(block, value))
      continue;
    result->begin = 0; // the producer runs ahead of everybody
    for (int32_t l = loop; l >= 0; l = block->loops[l].parent)
      result->end = block->loops[l].end;
  }
}

void mirage__plan_lives(Plan *plan) {
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(&plan->block, &s, &view);)
    birth(plan, s, &view);
  mirage__block_reads(&plan->block, extend, &plan->block);
}

// ----------------------------------------------------------------------------------------------------------- buffers

// Partial results that a product or reduction leaves behind.
static int32_t partials_of(const Plan *plan, MirageNodeView def) {
  if (plan->block.values[def.first_result.index].resident)
    return 1;
  switch (def.op) {
  case MIRAGE_OP_MATMUL:
  case MIRAGE_OP_MMA:
    return mirage__block_matmul_split(&plan->block, &def).by_depth;
  case MIRAGE_OP_REDUCE_SUM:
  case MIRAGE_OP_REDUCE_MAX:
  case MIRAGE_OP_REDUCE_MEAN:
    if (plan->block.items.on)
      return mirage__team_workers(&plan->block.team);
    return mirage__block_reduce_split(&plan->block, &def).warps_each;
  default:
    return 1;
  }
}

int32_t mirage__copies_of(const Plan *plan, MirageValue value, int32_t *out_loop) {
  const Block *block = &plan->block;
  const BlockValue *v = &block->values[value.index];
  MirageNodeView def = mirage_ugraph_node(plan->graph, v->def);
  *out_loop = -1;
  if (def.op == MIRAGE_OP_LOAD && v->loop >= 0) {
    *out_loop = v->loop;
    return block->loops[v->loop].stages;
  }
  if (def.op != MIRAGE_OP_LOOP)
    return partials_of(plan, def);
  CarryKind kind = mirage__block_carry_kind(block, v->def, v->index);
  if (kind == CARRY_SHARED)
    return mirage__block_carry_is_taken(block, v->def, v->index) ? 2 : 1;
  if (kind == CARRY_RESIDENT)
    return 1;
  if (block->loops[mirage__block_find_loop(block, v->def)].direct)
    return mirage__team_workers(&plan->block.team);
  MirageValue contribution = mirage__block_resolve(block, mirage__block_yield(block, v->def).operands[v->index]);
  return partials_of(plan, mirage__block_def(block, contribution));
}

static MirageStatus collect(Plan *plan, Items *items) {
  Block *block = &plan->block;
  uint32_t values = mirage_ugraph_num_values(plan->graph);
  items->items = mirage_arena_alloc_array(block->arena, values + 1, sizeof(Item));
  if (!items->items)
    return mirage__plan_no_memory(plan);
  for (uint32_t id = 1; id <= values; id++) {
    MirageValue value = {id};
    BlockValue *v = &block->values[id];
    if (!mirage__block_is_buffer(block, value))
      continue;
    MirageType *type = &plan->types[id];
    Item *item = &items->items[items->count++];
    *item = (Item){.value = value, .begin = v->begin, .end = v->end, .offset = -1, .num_variants = 1, .num_good = 1};
    bool groups = mirage__is_operand(block, value, true); // what ldmatrix reads, and what the hardware has its way with
    bool fragments = mirage__is_operand(block, value, false) && type->dtype != MIRAGE_F32;
    if (type->space == MIRAGE_SPACE_SHARED && type->layout.planned) {
      MIRAGE_TRY(check_hand_layout(plan, type, fragments));
      item->variants[0] = type->layout;
      item->offset = type->layout.offset;
    } else if (way_of(plan, value) == BY_TENSOR || groups) { // as the hardware has it
      item->variants[0] = mirage__tensor_layout(type);
    } else {
      add_variants(plan, item, type, fragments);
    }
    MirageType placed = *type;
    placed.layout = item->variants[0];
    item->alignment = mirage__tile_alignment(&placed, way_of(plan, value));
  }
  return MIRAGE_OK;
}

MirageStatus mirage__plan_memory(Plan *plan) {
  mirage__plan_lives(plan);
  Items items = {0};
  MIRAGE_TRY(collect(plan, &items));
  MIRAGE_TRY(mirage__fit(plan, &items));
  for (uint32_t i = 0; i < items.count; i++) {
    MirageType *type = &plan->types[items.items[i].value.index];
    if (type->space == MIRAGE_SPACE_SHARED && type->layout.planned && type->layout.stages > 0 &&
        type->layout.stages != items.items[i].copies)
      return refuse(plan, type, "has %d stages, its operator and schedule need %d", type->layout.stages,
                    items.items[i].copies);
    type->space = MIRAGE_SPACE_SHARED;
    type->layout = items.items[i].variants[items.items[i].variant];
    type->layout.planned = true;
    type->layout.offset = (int32_t)items.items[i].offset;
    type->layout.stages = items.items[i].copies;
  }
  return MIRAGE_OK;
}
