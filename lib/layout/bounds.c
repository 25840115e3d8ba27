// bounds.c - loops that leave out tiles which a mask rules out: where a block's iterations begin and end.
//
// Where the predicate of a mask holds nowhere in a tile, all scores of the tile are bottom: a maximum of them changes none,
// their exponentials are 0, and so are sums and products of these. An iteration whose contributions are all such leaves
// what the loop carries as it was, by the rules of bottom (lib/eval/README.md), and may be left out. README.md has the
// argument; it asks nothing of rows that see no key.
//
// A comparison of indices is affine in block and iteration. It holds somewhere in a tile only where its least left side
// is below its largest right one, which bounds the iterations; of a conjunction each part bounds them.
//
// Example:   key <= query, keys in tiles of 128 along the loop, queries in tiles of 128 along grid axis 0:
//            128 i <= 128 x + 127, so the loop ends behind i = x.
#include "plan.h"

enum { MOST_BOUNDS = 8 };

// ----------------------------------------------------------------------------------------------- what leaves all as it was

// What a value is in an iteration whose mask holds nowhere.
typedef enum { ANY, BOTTOM, ZERO, BEFORE, UNCHANGED } Still; // BEFORE: what the loop carries; UNCHANGED: a factor of 1

typedef struct Stillness {
  const Block *block;
  int32_t loop;
  MirageNode mask;
  Still *of;           // by value id
  MirageValue *before; // by value id: which argument, where the value is BEFORE or UNCHANGED
} Stillness;

static Still still_of(const Stillness *s, MirageValue value) {
  return s->of[mirage__block_resolve(s->block, value).index];
}

static MirageValue before_of(const Stillness *s, MirageValue value) {
  return s->before[mirage__block_resolve(s->block, value).index];
}

static bool is_before(const Stillness *s, MirageValue value, MirageValue argument) {
  return still_of(s, value) == BEFORE && before_of(s, value).index == argument.index;
}

static Still max_of(const Stillness *s, const MirageValue *operands, MirageValue *before) {
  for (int i = 0; i < 2; i++)
    if (still_of(s, operands[i]) == BOTTOM) {
      *before = before_of(s, operands[1 - i]);
      return still_of(s, operands[1 - i]);
    }
  return ANY;
}

static Still sub_of(const Stillness *s, const MirageValue *operands, MirageValue *before) {
  if (still_of(s, operands[0]) == BOTTOM)
    return BOTTOM;
  *before = before_of(s, operands[0]);
  bool same = still_of(s, operands[0]) == BEFORE && is_before(s, operands[1], *before);
  return same ? UNCHANGED : ANY; // 0; its exponential is 1
}

static Still still_step(const Stillness *s, const MirageNodeView *view, MirageValue *before) {
  Still a = view->num_operands > 0 ? still_of(s, view->operands[0]) : ANY;
  Still b = view->num_operands > 1 ? still_of(s, view->operands[1]) : ANY;
  switch (view->op) {
  case MIRAGE_OP_ADD:
    return a == BOTTOM || b == BOTTOM ? BOTTOM : a == ZERO && b == ZERO ? ZERO : ANY;
  case MIRAGE_OP_SUB:
    return sub_of(s, view->operands, before);
  case MIRAGE_OP_MAX:
    return max_of(s, view->operands, before);
  case MIRAGE_OP_REDUCE_MAX:
    return a == BOTTOM ? BOTTOM : ANY;
  case MIRAGE_OP_EXP:
    *before = before_of(s, view->operands[0]);
    return a == BOTTOM ? ZERO : a == UNCHANGED ? UNCHANGED : ANY;
  case MIRAGE_OP_MUL:
  case MIRAGE_OP_MATMUL:
    return a == ZERO || b == ZERO ? ZERO : ANY;
  case MIRAGE_OP_REDUCE_SUM:
    return a == ZERO ? ZERO : ANY;
  case MIRAGE_OP_CAST:
  case MIRAGE_OP_BROADCAST:
    *before = before_of(s, view->operands[0]);
    return a;
  default:
    return ANY;
  }
}

static bool begins_with(const Block *block, MirageValue value, MirageOp op) {
  MirageNode def = mirage_ugraph_def(block->graph, mirage__block_resolve(block, value));
  if (!def.index || mirage_ugraph_node(block->graph, def).op != op)
    return false;
  return op != MIRAGE_OP_CONSTANT || mirage_ugraph_node(block->graph, def).attrs->constant.value == 0;
}

// Whether the loop carries on what it had. A factor exp(m - m) is 1, and 0 where m is bottom still: then what it rescales
// is what it began with, which is 0.
static bool carries_on(const Stillness *s, uint32_t carry) {
  MirageNode loop = s->block->loops[s->loop].node;
  MirageNodeView view = mirage_ugraph_node(s->block->graph, loop), yield = mirage__block_yield(s->block, loop);
  MirageCombine combine = view.attrs->loop.carries[carry].combine;
  Still given = still_of(s, yield.operands[carry]);
  if (combine == MIRAGE_COMBINE_MAX)
    return given == BOTTOM || is_before(s, yield.operands[carry], mirage_ugraph_argument(s->block->graph, loop, carry));
  if (combine == MIRAGE_COMBINE_SUM)
    return given == ZERO;
  if (combine != MIRAGE_COMBINE_RESCALE || given != ZERO ||
      !begins_with(s->block, view.operands[carry], MIRAGE_OP_CONSTANT))
    return false;
  uint32_t index = mirage__block_factor_index(&view.attrs->loop, carry);
  MirageValue factor = yield.operands[index], top = before_of(s, factor);
  for (uint32_t j = 0; still_of(s, factor) == UNCHANGED && j < view.num_operands; j++)
    if (mirage_ugraph_argument(s->block->graph, loop, j).index == top.index)
      return view.attrs->loop.carries[j].combine == MIRAGE_COMBINE_MAX;
  return false;
}

// Whether an iteration in which this mask holds nowhere leaves all that the loop carries as it was.
static bool mask_stills(const Block *block, int32_t loop, MirageNode mask) {
  size_t values = (size_t)mirage_ugraph_num_values(block->graph) + 1;
  Stillness s = {.block = block, .loop = loop, .mask = mask};
  s.of = mirage_arena_alloc_array(block->arena, values, sizeof *s.of);
  s.before = mirage_arena_alloc_array(block->arena, values, sizeof *s.before);
  if (!s.of || !s.before)
    return false;
  MirageNode node = block->loops[loop].node;
  uint32_t carries = mirage_ugraph_node(block->graph, node).num_operands;
  for (uint32_t i = 0; i < carries; i++) {
    MirageValue argument = mirage_ugraph_argument(block->graph, node, i);
    s.of[argument.index] = BEFORE;
    s.before[argument.index] = argument;
  }
  MirageNodeView view;
  for (int32_t step = block->loops[loop].begin;
       mirage__block_next(block, &step, &view) && step < block->loops[loop].end;) {
    if (view.num_results != 1)
      continue;
    uint32_t id = mirage__block_resolve(block, view.first_result).index;
    bool masked = block->steps[step].node.index == mask.index;
    s.of[id] = masked ? BOTTOM : still_step(&s, &view, &s.before[id]);
  }
  for (uint32_t i = 0; i < carries; i++)
    if (!carries_on(&s, i))
      return false;
  return true;
}

// ------------------------------------------------------------------------------------------------------------- indices

// Of the elements of a tile of indices the least or the largest: constant + grid . block + step * iteration + value.
typedef struct Affine {
  int64_t constant, grid[3], step;
  MirageValue value; // a tile of one element that was loaded; {0} = none
} Affine;

// Whether a load gives the same tile in every iteration.
static bool stands(const MirageNodeView *load) {
  for (uint32_t l = 0; l < MIRAGE_MAX_LOOPS; l++)
    if (load->attrs->access.loop[l] >= 0)
      return false;
  return true;
}

static bool affine(const Block *block, int32_t loop, MirageValue index, bool largest, Affine *out) {
  MirageNodeView view = mirage__block_def(block, mirage__block_resolve(block, index));
  *out = (Affine){0};
  if (view.op == MIRAGE_OP_BROADCAST)
    return affine(block, loop, view.operands[0], largest, out);
  if (view.op == MIRAGE_OP_CONSTANT) {
    out->constant = (int64_t)view.attrs->constant.value;
    return true;
  }
  const MirageType *type = view.num_results ? mirage_ugraph_type(block->graph, view.first_result) : NULL;
  if (view.op == MIRAGE_OP_LOAD && type->dtype == MIRAGE_I32 && mirage_type_elements(type) == 1 && stands(&view)) {
    out->value = view.first_result;
    return true;
  }
  if (view.op != MIRAGE_OP_IOTA)
    return false;
  out->constant = view.attrs->iota.start + (largest ? type->shape[view.attrs->iota.dim] - 1 : 0);
  for (int a = 0; a < 3; a++)
    out->grid[a] = view.attrs->iota.grid[a];
  out->step = view.attrs->iota.loop[block->loops[loop].depth];
  return true;
}

// How many indices a tile goes over, in all blocks and iterations.
static int64_t walked(const Block *block, int32_t loop, const Affine *low, const Affine *largest) {
  const int64_t *grid = mirage__block_custom(block)->grid;
  int64_t count = largest->constant - low->constant + 1 + low->step * (block->loops[loop].range - 1);
  for (int a = 0; a < 3; a++)
    count += low->grid[a] * (grid[a] - 1);
  return count;
}

// a < b, or a <= b.
typedef struct Comparison {
  MirageNode node;
  MirageValue a, b;
  bool strict;
} Comparison;

// Where it holds somewhere: least(a) + strict <= largest(b); everywhere: largest(a) + strict <= least(b).
static bool bound_of(const Block *block, int32_t loop, const Comparison *c, bool everywhere, LoopBound *out) {
  Affine low, high;
  if (!affine(block, loop, c->a, everywhere, &low) || !affine(block, loop, c->b, !everywhere, &high) || low.value.index)
    return false;
  *out = (LoopBound){.step = low.step - high.step,
                     .constant = high.constant - low.constant - c->strict,
                     .value = high.value,
                     .comparison = c->node};
  for (int x = 0; x < 3; x++)
    out->grid[x] = high.grid[x] - low.grid[x];
  Affine largest;
  if (high.value.index && affine(block, loop, c->a, true, &largest))
    out->expected = walked(block, loop, &low, &largest) / 2;
  return true;
}

static void compare(BlockLoop *l, const Block *block, int32_t loop, Comparison c) {
  LoopBound bound;
  if (l->num_bounds < MOST_BOUNDS && bound_of(block, loop, &c, false, &bound) && bound.step)
    l->bounds[l->num_bounds++] = bound;
  if (l->num_certain < MOST_BOUNDS && bound_of(block, loop, &c, true, &bound))
    l->certain[l->num_certain++] = bound;
}

static void read_predicate(BlockLoop *l, const Block *block, int32_t loop, MirageValue predicate) {
  MirageValue value = mirage__block_resolve(block, predicate);
  MirageNodeView view = mirage__block_def(block, value);
  MirageNode node = block->values[value.index].def;
  switch (view.op) {
  case MIRAGE_OP_AND:
    read_predicate(l, block, loop, view.operands[0]);
    read_predicate(l, block, loop, view.operands[1]);
    return;
  case MIRAGE_OP_BROADCAST:
    read_predicate(l, block, loop, view.operands[0]);
    return;
  case MIRAGE_OP_LESS:
  case MIRAGE_OP_LESS_EQUAL:
    compare(l, block, loop, (Comparison){node, view.operands[0], view.operands[1], view.op == MIRAGE_OP_LESS});
    return;
  case MIRAGE_OP_GREATER:
  case MIRAGE_OP_GREATER_EQUAL:
    compare(l, block, loop, (Comparison){node, view.operands[1], view.operands[0], view.op == MIRAGE_OP_GREATER});
    return;
  default: // says nothing of indices
    return;
  }
}

MirageStatus mirage__block_bounds(Block *block, int32_t loop) {
  BlockLoop *l = &block->loops[loop];
  MirageNodeView view;
  l->num_bounds = l->num_certain = 0;
  l->bounds = mirage_arena_alloc_array(block->arena, MOST_BOUNDS, sizeof *l->bounds);
  l->certain = mirage_arena_alloc_array(block->arena, MOST_BOUNDS, sizeof *l->certain);
  if (!l->bounds || !l->certain)
    return MIRAGE_NO_MEMORY;
  for (int32_t step = l->begin; mirage__block_next(block, &step, &view) && step < l->end;)
    if (view.op == MIRAGE_OP_MASK && mask_stills(block, loop, block->steps[step].node))
      read_predicate(l, block, loop, view.operands[0]);
  return MIRAGE_OK;
}

const char *mirage__bounds_reason(const Block *block, int32_t loop) {
  const BlockLoop *l = &block->loops[loop];
  MirageNodeView view;
  if (!l->num_bounds)
    return "no mask rules out whole tiles";
  if (l->parent >= 0)
    return "the loop stands in another";
  if (l->direct)
    return "the loop streams its weights";
  if (block->persistent)
    return "blocks take tiles in turn";
  if (mirage__block_cluster(block) > 1)
    return "the blocks of a cluster keep in step";
  for (int32_t step = l->begin; mirage__block_next(block, &step, &view) && step < l->end;)
    if (view.op == MIRAGE_OP_LOOP || view.op == MIRAGE_OP_STORE ||
        mirage_op_info(view.op)->kind == MIRAGE_KIND_COLLECTIVE)
      return "the loop does more than compute what it carries";
  return NULL;
}

MirageStatus mirage__plan_bounds(Plan *plan, const char **out_why) {
  *out_why = "there is no loop";
  for (int32_t l = 0; l < plan->block.num_loops; l++) {
    MIRAGE_TRY(mirage__block_bounds(&plan->block, l));
    const char *reason = mirage__bounds_reason(&plan->block, l);
    plan->block.loops[l].skips = !reason;
    if (*out_why)
      *out_why = reason;
  }
  return MIRAGE_OK;
}

// ---------------------------------------------------------------------------------------------------- how much is left

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

static int64_t room_of(const LoopBound *bound, const int64_t at[3]) {
  int64_t room = bound->constant;
  for (int a = 0; a < 3; a++)
    room += bound->grid[a] * at[a];
  return room;
}

void mirage__block_turns(const BlockLoop *l, const int64_t at[3], int64_t *out_first, int64_t *out_end) {
  int64_t first = 0, end = l->range, least = l->ahead ? 2 : 1;
  for (uint32_t i = 0; i < l->num_bounds; i++) {
    const LoopBound *b = &l->bounds[i];
    int64_t room = room_of(b, at) + b->expected;
    if (b->step > 0)
      end = clamp((room > 0 ? room : 0) / b->step + 1, 1, end);
    else
      first = clamp(((room < 0 ? -room : 0) - b->step - 1) / -b->step, first, l->range);
  }
  *out_first = clamp(first, 0, l->range - least);
  *out_end = clamp(end, *out_first + least, l->range);
}

void mirage__block_certain(const BlockLoop *l, const int64_t at[3], int64_t *out_first, int64_t *out_end) {
  int64_t first, end, begin;
  mirage__block_turns(l, at, &first, &end);
  begin = first;
  for (uint32_t i = 0; i < l->num_certain; i++) {
    const LoopBound *b = &l->certain[i];
    int64_t room = room_of(b, at) + b->expected;
    if (b->step >= 0 && room < 0)
      end = first;
    else if (b->step > 0)
      end = clamp(room / b->step + 1, first, end);
    else if (b->step < 0 && room < 0)
      begin = clamp((-room - b->step - 1) / -b->step, begin, l->range);
  }
  *out_end = end;
  *out_first = clamp(begin, first, end);
}

typedef void (*Section)(const BlockLoop *loop, const int64_t at[3], int64_t *out_first, int64_t *out_end);

// How many iterations of a section the blocks of the grid run, on average.
static double mean_of(const Block *block, const BlockLoop *l, Section section) {
  enum { SAMPLES = 64 };
  const int64_t *grid = mirage__block_custom(block)->grid;
  double sum = 0, count = 0;
  int64_t stride[3];
  for (int a = 0; a < 3; a++)
    stride[a] = grid[a] > SAMPLES ? grid[a] / SAMPLES : 1;
  for (int a = 0; a < 3; a++) { // an axis that no bound reads says nothing
    bool read = false;
    for (uint32_t i = 0; i < l->num_bounds; i++)
      read |= l->bounds[i].grid[a] != 0;
    stride[a] = read ? stride[a] : grid[a];
  }
  int64_t at[3];
  for (at[0] = 0; at[0] < grid[0]; at[0] += stride[0])
    for (at[1] = 0; at[1] < grid[1]; at[1] += stride[1])
      for (at[2] = 0; at[2] < grid[2]; at[2] += stride[2], count++) {
        int64_t first, end;
        section(l, at, &first, &end);
        sum += (double)(end - first);
      }
  return sum / count;
}

double mirage__block_share(const Block *block, int32_t loop) {
  const BlockLoop *l = &block->loops[loop];
  return l->skips ? mean_of(block, l, mirage__block_turns) / (double)l->range : 1;
}

double mirage__block_certain_share(const Block *block, int32_t loop) {
  const BlockLoop *l = &block->loops[loop];
  if (!l->skips || !l->num_certain || l->range < LEAST_SECTIONS)
    return 0;
  return mean_of(block, l, mirage__block_certain) / mean_of(block, l, mirage__block_turns);
}
