// codegen_turns.c - the iterations that a block runs of a loop that leaves out masked tiles (lib/layout/bounds.c).
//
// Stages and phases of a pipeline count turns, from 0; places in tensors and indices count iterations: `first` more.
// Whatever a bound says, at least one iteration runs (two where products run ahead), and none outside the loop's range:
// an iteration that need not have run changes nothing.
//
//     end   = min(range, room / step + 1) over bounds with step > 0           room = constant + grid . block + value,
//     first = max(ceil(-room / -step)) over the others, at most range - 1     0 where it is less (or -room is)
#include "emit.h"

#include <math.h>

static LLVMValueRef number(Emit *e, int64_t value) { return gpu_i32(&e->gpu, value); }

static LLVMValueRef least(Emit *e, LLVMValueRef a, LLVMValueRef b) {
  return mirage__select(e, mirage__less(e, a, b), a, b);
}

static LLVMValueRef most(Emit *e, LLVMValueRef a, LLVMValueRef b) {
  return mirage__select(e, mirage__less(e, a, b), b, a);
}

// A length that is known when the kernel runs.
static LLVMValueRef length_of(Emit *e, MirageValue tile) {
  MirageNodeView load = mirage__block_def(&e->block, tile);
  Access access = mirage__access(e, e->block.values[tile.index].def, load.operands[0], emit_type(e, tile), NULL);
  LLVMValueRef index[MIRAGE_MAX_RANK], value;
  for (uint32_t d = 0; d < MIRAGE_MAX_RANK; d++)
    index[d] = number(e, 0);
  mirage__access_read(e, &access, index, 1, &value);
  return mirage__length(e, value);
}

static LLVMValueRef room_of(Emit *e, const LoopBound *bound) {
  LLVMValueRef room = number(e, bound->constant);
  for (int a = 0; a < 3; a++)
    if (bound->grid[a])
      room = mirage__add(e, room, mirage__mul(e, e->block_id[a], bound->grid[a]));
  return bound->value.index ? mirage__add(e, room, length_of(e, bound->value)) : room;
}

void mirage__find_turns(Emit *e, int32_t loop) {
  const BlockLoop *l = &e->block.loops[loop];
  LLVMValueRef first = number(e, 0), end = number(e, l->range), zero = number(e, 0);
  int64_t fewest = l->ahead ? 2 : 1;
  if (!l->skips)
    return;
  for (uint32_t i = 0; i < l->num_bounds; i++) {
    const LoopBound *bound = &l->bounds[i];
    LLVMValueRef room = room_of(e, bound);
    if (bound->step > 0) {
      LLVMValueRef last = mirage__div(e, most(e, room, zero), bound->step);
      end = least(e, end, mirage__add(e, last, number(e, 1)));
    } else {
      LLVMValueRef missing = most(e, LLVMBuildNeg(e->gpu.builder, room, ""), zero);
      first = most(e, first, mirage__div(e, mirage__add(e, missing, number(e, -bound->step - 1)), -bound->step));
    }
  }
  first = least(e, first, number(e, l->range - fewest));
  LLVMValueRef count = most(e, LLVMBuildSub(e->gpu.builder, end, first, ""), number(e, fewest));
  e->loops[loop].first = first;
  e->loops[loop].count = count;
}

// ------------------------------------------------------------------------------------------------------------- sections

static LLVMValueRef between(Emit *e, LLVMValueRef value, LLVMValueRef low, LLVMValueRef high) {
  return most(e, least(e, value, high), low);
}

static LLVMValueRef minus(Emit *e, LLVMValueRef a, LLVMValueRef b) { return LLVMBuildNSWSub(e->gpu.builder, a, b, ""); }

// The iterations in which a comparison holds everywhere: up to *end, and from *begin.
static void tighten(Emit *e, const LoopBound *bound, LLVMValueRef *begin, LLVMValueRef *end) {
  LLVMValueRef room = room_of(e, bound), zero = number(e, 0), some = mirage__less(e, room, zero);
  if (bound->step < 0) {
    LLVMValueRef missing = most(e, minus(e, zero, room), zero);
    *begin = most(e, *begin, mirage__div(e, mirage__add(e, missing, number(e, -bound->step - 1)), -bound->step));
    return;
  }
  LLVMValueRef last = bound->step ? mirage__div(e, most(e, room, zero), bound->step) : NULL;
  LLVMValueRef many = last ? least(e, *end, mirage__add(e, last, number(e, 1))) : *end;
  *end = mirage__select(e, some, zero, many);
}

// Whether a section has one turn, the same in every block.
static bool has_one_turn(const Section *section) {
  return LLVMIsAConstantInt(section->begin) && LLVMIsAConstantInt(section->end) &&
         LLVMConstIntGetSExtValue(section->end) == LLVMConstIntGetSExtValue(section->begin) + 1;
}

// What is left of the columns of that turn; NULL: all, or nobody knows which turn it is.
static const BlockNarrow *narrow_turn(Emit *e, int32_t loop, const Section *section) {
  LLVMValueRef first = e->loops[loop].first;
  BlockNarrow *narrow = mirage__emit_array(e, 1, sizeof *narrow);
  if (!narrow || !has_one_turn(section) || !LLVMIsAConstantInt(first))
    return NULL;
  int64_t iteration = LLVMConstIntGetSExtValue(first) + LLVMConstIntGetSExtValue(section->begin);
  return mirage__block_narrow(&e->block, loop, iteration, narrow) ? narrow : NULL;
}

static uint32_t find_sections(Emit *e, int32_t loop, Section sections[MOST_SECTIONS]) {
  const BlockLoop *l = &e->block.loops[loop];
  LLVMValueRef zero = number(e, 0), count = mirage__turns(e, loop), begin = zero, end = number(e, l->range);
  bool before = false, behind = false;
  uint32_t n = 0;
  if (!l->skips || !l->num_certain || l->range < LEAST_SECTIONS || e->loops[loop].lag || e->loops[loop].before) {
    sections[0] = (Section){.begin = zero, .end = count};
    return 1;
  }
  for (uint32_t i = 0; i < l->num_certain; i++) {
    tighten(e, &l->certain[i], &begin, &end);
    before |= l->certain[i].step < 0;
    behind |= l->certain[i].step >= 0;
  }
  begin = between(e, minus(e, begin, e->loops[loop].first), zero, count);
  end = between(e, minus(e, end, e->loops[loop].first), begin, count);
  if (before)
    sections[n++] = (Section){.begin = zero, .end = begin, .guarded = true};
  sections[n++] = (Section){.begin = begin, .end = behind ? end : count, .guarded = true, .certain = l};
  if (behind) {
    sections[n] = (Section){.begin = end, .end = count, .guarded = true};
    sections[n].narrow = narrow_turn(e, loop, &sections[n]);
    n++;
  }
  return n;
}

uint32_t mirage__sections(Emit *e, int32_t loop, Section sections[MOST_SECTIONS]) {
  uint32_t count = find_sections(e, loop, sections);
  for (uint32_t i = 0; e->maxima && i < count; i++)
    sections[i].maxima = MAXIMA_KEPT;
  return count;
}

bool mirage__is_certain(const Emit *e, MirageNode node) {
  for (uint32_t i = 0; e->certain && i < e->certain->num_certain; i++)
    if (e->certain->certain[i].comparison.index == node.index)
      return true;
  return false;
}

// One turn is a loop all the same, of which the compilers do not know that it ends: ptxas orders what stands in a loop by the
// registers that it takes, and other code by what waits for what, and then keeps exponentials in memory.
static Running begin_turns(Emit *e, const Section *s) {
  Running running = {.turn = s->begin};
  if (s->guarded && has_one_turn(s)) {
    running.repeat = mirage__begin_repeat_from(e, number(e, 0), GPU(&e->gpu, UNKNOWN, number(e, 1)));
    return running;
  }
  running.join = mirage__begin_if(e, s->guarded ? mirage__less(e, s->begin, s->end) : NULL);
  running.repeat = mirage__begin_repeat_from(e, s->begin, s->end);
  running.turn = running.repeat.index;
  return running;
}

Running mirage__begin_section(Emit *e, const Section *section, int64_t shift) {
  Section s = *section;
  if (shift) {
    s.begin = most(e, mirage__add(e, s.begin, number(e, -shift)), number(e, 0));
    s.end = mirage__add(e, s.end, number(e, -shift));
  }
  Running running = begin_turns(e, &s);
  e->certain = section->certain;
  e->narrow = section->narrow;
  e->maxima_turn = section->maxima;
  mirage__forget_elements(e);
  return running;
}

void mirage__end_section(Emit *e, const Running *running) {
  mirage__end_repeat(e, &running->repeat);
  mirage__end_if(e, running->join);
  e->certain = NULL;
  e->narrow = NULL;
  e->maxima_turn = MAXIMA_TAKEN;
  mirage__forget_elements(e);
}

// -------------------------------------------------------------------------------------------------------- narrow turns

enum { COLUMN_UNIT = 8 };

static HiddenColumns hidden_of(const Emit *e, MirageValue value) {
  return e->narrow ? (HiddenColumns)e->narrow->hidden[mirage__block_resolve(&e->block, value).index] : COLUMNS_SHOWN;
}

bool mirage__is_hidden(Emit *e, MirageValue value, LLVMValueRef *out) {
  HiddenColumns hidden = hidden_of(e, value);
  if (!e->cell || hidden == COLUMNS_SHOWN || e->cell->column * COLUMN_UNIT < e->narrow->columns)
    return false;
  *out = hidden == COLUMNS_BOTTOM ? gpu_f32(&e->gpu, -INFINITY) : gpu_number(&e->gpu, emit_type(e, value)->dtype, 0);
  return true;
}

int32_t mirage__narrow_columns(const Emit *e, MirageNode product, const MatmulSplit *split) {
  MirageValue result = mirage_ugraph_result(e->block.graph, product, 0);
  HiddenColumns hidden = hidden_of(e, result);
  if ((hidden != COLUMNS_UNREAD && hidden != COLUMNS_BOTTOM) || split->swap || split->by_col > 1)
    return split->cols_each;
  MirageDType dtype = emit_type(e, mirage_ugraph_node(e->block.graph, product).operands[0])->dtype;
  int32_t columns = (int32_t)((e->narrow->columns + COLUMN_UNIT - 1) / COLUMN_UNIT * COLUMN_UNIT);
  if (mirage__gpu_wgmma_columns(dtype, columns) != columns)
    columns += COLUMN_UNIT;
  return columns / COLUMN_UNIT;
}

int32_t mirage__narrow_depth(const Emit *e, MirageNode product, const MatmulSplit *split) {
  MirageNodeView view = mirage_ugraph_node(e->block.graph, product);
  if (hidden_of(e, view.operands[0]) != COLUMNS_ZERO || split->swap ||
      !mirage__block_operand_in_cells(&e->block, &view))
    return split->depth_units;
  return (int32_t)((e->narrow->columns + split->k_unit - 1) / split->k_unit);
}

LLVMValueRef mirage__turns(Emit *e, int32_t loop) {
  return e->loops[loop].count ? e->loops[loop].count : number(e, e->block.loops[loop].range);
}

LLVMValueRef mirage__is_turn(Emit *e, int32_t loop, LLVMValueRef i) {
  return mirage__less(e, i, mirage__turns(e, loop));
}
