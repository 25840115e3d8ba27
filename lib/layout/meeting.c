// meeting.c - which collectives of a block graph can share one meeting of the blocks.
//
// Collectives of one kind and one set of axes meet once as long as nothing in between needs a result of theirs as a
// whole: a later one's operand may be computed from an earlier one's result element by element, since every member's
// part of it follows from what the members publish. Example, the end of attention split over blocks:
//
//     all = grid_max(m);  c = exp(m - all);  ls = grid_sum(l * c);  os = grid_sum(o * c);  store os / ls
//
// One meeting at the step of os: leaves m, l, o; values all, m - all, c, l * c, ls, o * c, os. A product, a reduction,
// a loop or a store that reads one of the values ends the meeting.
//
// Leaves:   the largest subexpressions of the operands that depend on no result of the meeting. What is made of
//           constants only is not published; of a broadcast, its operand is.
// Gathered: a result that flows, element by element, only into stores which name none of the axes is needed nowhere as
//           a whole: each member finishes its share of those stores. Other results become buffers, in every block.
#include "block.h"

typedef struct Finder {
  Block *block;
  int32_t *within; // by value id: 1 + the meeting among whose values it is
  int32_t *after;  // by value id: 1 + the latest meeting that it is computed from, element by element
  int32_t *whole;  // by value id: 1 + the latest meeting of which somebody needs all of it in every block
  int32_t *seen;
  bool *uniform; // by value id: made of constants
  bool clusters; // the target has clusters; without, those members meet as any blocks of the grid do
} Finder;

static bool is_collective(MirageOp op) { return mirage_op_info(op)->kind == MIRAGE_KIND_COLLECTIVE; }

static bool any_operand(const Block *block, const MirageNodeView *view, const int32_t *mark, int32_t value) {
  for (uint32_t i = 0; i < view->num_operands; i++)
    if (mark[mirage__block_resolve(block, view->operands[i]).index] == value)
      return true;
  return false;
}

static bool is_uniform(const Finder *f, const MirageNodeView *view) {
  for (uint32_t i = 0; i < view->num_operands; i++)
    if (!f->uniform[mirage__block_resolve(f->block, view->operands[i]).index])
      return false;
  return !f->block->values[view->first_result.index].shared;
}

static bool in_cluster(const Finder *f, MirageOp op) {
  return f->clusters && (op == MIRAGE_OP_CLUSTER_SUM || op == MIRAGE_OP_CLUSTER_MAX);
}

static bool may_join(const Finder *f, const BlockMeeting *meeting, const MirageNodeView *view, int32_t loop) {
  for (int a = 0; a < 3; a++)
    if (meeting->axes[a] != view->attrs->axes.axis[a])
      return false;
  return meeting->cluster == in_cluster(f, view->op) && meeting->loop == loop;
}

// Cuts the steps into meetings.
static void find_meetings(Finder *f) {
  Block *block = f->block;
  BlockMeeting *open = NULL;
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(block, &s, &view);) {
    int32_t loop = block->steps[s].loop;
    if (is_collective(view.op)) {
      if (!open || !may_join(f, open, &view, loop)) {
        open = &block->meetings[block->num_meetings++];
        *open = (BlockMeeting){.cluster = in_cluster(f, view.op), .loop = loop, .first = s};
        for (int a = 0; a < 3; a++)
          open->axes[a] = view.attrs->axes.axis[a];
      }
      open->step = s;
      f->within[view.first_result.index] = block->num_meetings;
      continue;
    }
    bool reads = open && any_operand(block, &view, f->within, block->num_meetings);
    if (mirage__block_can_inline(view.op)) {
      f->uniform[view.first_result.index] = is_uniform(f, &view);
      if (reads && loop == open->loop) {
        f->within[view.first_result.index] = block->num_meetings;
        continue;
      }
    }
    if (reads || (open && !mirage__block_loop_contains(block, open->loop, loop)))
      open = NULL;
  }
}

static void add_leaves(Finder *f, BlockMeeting *meeting, int32_t mark, MirageValue value) {
  const Block *block = f->block;
  value = mirage__block_resolve(block, value);
  if (f->uniform[value.index] || f->seen[value.index] == mark)
    return;
  f->seen[value.index] = mark;
  MirageOp op = mirage__block_op(block, value);
  bool stretched = (op == MIRAGE_OP_BROADCAST || op == MIRAGE_OP_REPEAT) && !block->values[value.index].shared;
  if (f->within[value.index] != mark && !stretched) {
    meeting->leaves[meeting->num_leaves++] = value;
    return;
  }
  MirageNodeView def = mirage__block_def(block, value);
  for (uint32_t i = 0; !is_collective(op) && i < def.num_operands; i++)
    add_leaves(f, meeting, mark, def.operands[i]);
}

// Lists of the meeting's values and leaves.
static MirageStatus fill_meeting(Finder *f, int32_t index, const MirageDiag *diag) {
  Block *block = f->block;
  BlockMeeting *meeting = &block->meetings[index];
  MirageNodeView view = mirage_ugraph_node(block->graph, block->steps[meeting->first].node);
  meeting->values =
      mirage_arena_alloc_array(block->arena, (size_t)(meeting->step - meeting->first) + 1, sizeof(MirageValue));
  meeting->leaves =
      mirage_arena_alloc_array(block->arena, mirage_ugraph_num_values(block->graph) + 1, sizeof(MirageValue));
  if (!meeting->values || !meeting->leaves)
    return mirage_diag_fail(diag, view.loc, MIRAGE_NO_MEMORY, "%s: out of memory", mirage_op_info(view.op)->mnemonic);
  for (int32_t s = meeting->first - 1; mirage__block_next(block, &s, &view) && s <= meeting->step;) {
    if (view.num_results != 1 || f->within[view.first_result.index] != index + 1)
      continue;
    meeting->values[meeting->num_values++] = view.first_result;
    block->values[view.first_result.index].meeting = index;
    if (is_collective(view.op))
      add_leaves(f, meeting, index + 1, view.operands[0]);
  }
  return MIRAGE_OK;
}

// A store in whose tensor the members of the meeting hold the same tile.
static bool stores_alike(const Block *block, const BlockMeeting *meeting, int32_t s, const MirageNodeView *view) {
  const int64_t *grid = mirage__block_custom(block)->grid;
  for (int a = 0; a < 3; a++)
    if (meeting->axes[a] && grid[a] > 1 && view->attrs->access.grid[a] >= 0)
      return false;
  return block->steps[s].loop == meeting->loop;
}

// Whether the step can do with its operand's elements one by one, members sharing the work.
static bool shares_work(const Finder *f, int32_t index, int32_t s, const MirageNodeView *view) {
  const Block *block = f->block;
  if (view->op == MIRAGE_OP_STORE)
    return stores_alike(block, &block->meetings[index], s, view);
  if (view->num_results != 1)
    return false;
  uint32_t result = view->first_result.index;
  bool within = f->within[result] == index + 1;
  if (is_collective(view->op))
    return within;
  bool stored = block->values[result].shared && !within; // what is within is stored at the meeting, if at all
  return mirage__block_can_inline(view->op) && f->whole[result] != index + 1 && !stored;
}

// Which values are gathered, and until when.
static void find_gathered(Finder *f, int32_t index) {
  Block *block = f->block;
  BlockMeeting *meeting = &block->meetings[index];
  MirageNodeView view;
  for (uint32_t i = 0; i < meeting->num_values; i++)
    f->after[meeting->values[i].index] = index + 1;
  meeting->end = meeting->step;
  for (int32_t s = meeting->first - 1; mirage__block_next(block, &s, &view);) {
    if (!any_operand(block, &view, f->after, index + 1))
      continue;
    if (mirage__block_can_inline(view.op))
      f->after[view.first_result.index] = index + 1;
    else if (view.op == MIRAGE_OP_STORE && stores_alike(block, meeting, s, &view))
      meeting->end = s;
  }
  for (int32_t s = block->num_steps - 1; s >= meeting->first; s--) {
    if (!mirage__block_step(block, s, &view) || shares_work(f, index, s, &view))
      continue;
    for (uint32_t i = 0; i < view.num_operands; i++)
      f->whole[mirage__block_resolve(block, view.operands[i]).index] = index + 1;
  }
  bool results = false;
  for (int32_t s = meeting->first - 1; mirage__block_next(block, &s, &view);)
    if (view.num_results == 1) {
      uint32_t id = view.first_result.index;
      BlockValue *v = &block->values[id];
      v->gathered |= f->after[id] == index + 1 && f->whole[id] != index + 1 && !v->shared;
      results |= v->gathered && v->meeting == index && is_collective(view.op);
    }
  if (!results) // what was published is read at the meeting only
    meeting->end = meeting->step;
}

MirageStatus mirage__block_meetings(Block *block, bool clusters, const MirageDiag *diag) {
  MirageNodeView view;
  size_t collectives = 0, values = mirage_ugraph_num_values(block->graph) + 1;
  for (int32_t s = -1; mirage__block_next(block, &s, &view);)
    collectives += is_collective(view.op);
  if (!collectives)
    return MIRAGE_OK;
  Finder f = {.block = block, .clusters = clusters};
  int32_t **marks[] = {&f.within, &f.after, &f.whole, &f.seen};
  bool enough = true;
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
    enough &= (*marks[i] = mirage_arena_alloc_array(block->arena, values, sizeof(int32_t))) != NULL;
  f.uniform = mirage_arena_alloc_array(block->arena, values, sizeof(bool));
  block->meetings = mirage_arena_alloc_array(block->arena, collectives, sizeof *block->meetings);
  if (!enough || !f.uniform || !block->meetings)
    return mirage_diag_fail(diag, mirage_ugraph_node(block->graph, block->custom).loc, MIRAGE_NO_MEMORY,
                            "custom: out of memory");
  find_meetings(&f);
  for (int32_t i = 0; i < block->num_meetings; i++) {
    MIRAGE_TRY(fill_meeting(&f, i, diag));
    find_gathered(&f, i);
  }
  return MIRAGE_OK;
}

const BlockMeeting *mirage__block_meeting_of(const Block *block, MirageValue value) {
  int32_t index = block->values[value.index].meeting;
  return index < 0 ? NULL : &block->meetings[index];
}

int32_t mirage__meeting_leaf(const BlockMeeting *meeting, MirageValue value) {
  for (uint32_t i = 0; i < meeting->num_leaves; i++)
    if (meeting->leaves[i].index == value.index)
      return (int32_t)i;
  return -1;
}
