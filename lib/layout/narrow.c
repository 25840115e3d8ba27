// narrow.c - the last columns of a loop's tiles, where a mask rules them out in the same iteration of every block.
//
// 3000 keys in tiles of 128 leave 56 of them in the last tile. Nobody asks there for what a score is beyond these 56: the
// mask makes it bottom, its exponential 0. So the product that gives the scores may have 56 columns, and the product with
// the exponentials a contraction of as many; the code of that iteration asks mirage__block_narrow how much is left.
//
// The columns are followed from operator to operator, as tiles are in bounds.c but one by one: a value is bottom or 0 in the
// columns that the mask rules out, or it is read by nobody there.
#include "plan.h"

typedef struct Columns {
  const Block *block;
  const BlockLoop *loop;
  int64_t width; // of the tiles
  MirageNode comparison;
  uint8_t *of;  // HiddenColumns, by value id
  bool *reader; // by value id: somebody asks for those columns
} Columns;

static int64_t width_of(const Block *block, MirageValue value) {
  const MirageType *type = &block->types[value.index];
  return type->rank ? type->shape[type->rank - 1] : 0;
}

static HiddenColumns hidden_of(const Columns *c, MirageValue value) {
  return (HiddenColumns)c->of[mirage__block_resolve(c->block, value).index];
}

// ------------------------------------------------------------------------------------------------------ the comparison

static MirageNodeView without_broadcasts(const Block *block, MirageValue value) {
  MirageNodeView view = mirage__block_def(block, mirage__block_resolve(block, value));
  while (view.op == MIRAGE_OP_BROADCAST)
    view = mirage__block_def(block, mirage__block_resolve(block, view.operands[0]));
  return view;
}

// How long the tile of column numbers is that a comparison holds up to a constant; 0: it is of another kind.
static int64_t columns_compared(const Block *block, MirageNode comparison) {
  MirageNodeView view = mirage_ugraph_node(block->graph, comparison);
  bool turned = view.op == MIRAGE_OP_GREATER || view.op == MIRAGE_OP_GREATER_EQUAL;
  MirageNodeView index = without_broadcasts(block, view.operands[turned]);
  if (index.op != MIRAGE_OP_IOTA || without_broadcasts(block, view.operands[!turned]).op != MIRAGE_OP_CONSTANT)
    return 0;
  const MirageType *type = mirage_ugraph_type(block->graph, index.first_result);
  uint32_t last = type->rank - 1;
  return (uint32_t)index.attrs->iota.dim == last && width_of(block, view.first_result) == type->shape[last]
             ? type->shape[last]
             : 0;
}

static bool is_part_of(const Columns *c, MirageValue predicate) {
  MirageValue value = mirage__block_resolve(c->block, predicate);
  MirageNodeView view = mirage__block_def(c->block, value);
  if (width_of(c->block, value) != c->width)
    return false;
  if (view.op == MIRAGE_OP_AND)
    return is_part_of(c, view.operands[0]) || is_part_of(c, view.operands[1]);
  return view.op == MIRAGE_OP_BROADCAST ? is_part_of(c, view.operands[0])
                                        : c->block->values[value.index].def.index == c->comparison.index;
}

// ---------------------------------------------------------------------------------------------------- column by column

static bool is_elementwise(MirageOp op) {
  MirageOpKind kind = mirage_op_info(op)->kind;
  return kind == MIRAGE_KIND_UNARY || kind == MIRAGE_KIND_BINARY || kind == MIRAGE_KIND_CAST ||
         op == MIRAGE_OP_BROADCAST;
}

static HiddenColumns hidden_after(const Columns *c, const MirageNodeView *view) {
  HiddenColumns a = view->num_operands > 0 ? hidden_of(c, view->operands[0]) : COLUMNS_SHOWN;
  HiddenColumns b = view->num_operands > 1 ? hidden_of(c, view->operands[1]) : COLUMNS_SHOWN;
  switch (view->op) {
  case MIRAGE_OP_MASK:
    return is_part_of(c, view->operands[0]) || b == COLUMNS_BOTTOM ? COLUMNS_BOTTOM : COLUMNS_SHOWN;
  case MIRAGE_OP_ADD:
    return a == COLUMNS_BOTTOM || b == COLUMNS_BOTTOM ? COLUMNS_BOTTOM : COLUMNS_SHOWN;
  case MIRAGE_OP_SUB:
    return a == COLUMNS_BOTTOM ? COLUMNS_BOTTOM : COLUMNS_SHOWN;
  case MIRAGE_OP_EXP:
    return a == COLUMNS_BOTTOM ? COLUMNS_ZERO : COLUMNS_SHOWN;
  case MIRAGE_OP_MUL:
    return a == COLUMNS_ZERO || b == COLUMNS_ZERO ? COLUMNS_ZERO : COLUMNS_SHOWN;
  case MIRAGE_OP_CAST:
  case MIRAGE_OP_BROADCAST:
    return a;
  default:
    return COLUMNS_SHOWN;
  }
}

// Whether an operator reads its operands where they are, or gives the sum over columns: others might move columns.
static bool keeps_columns(const Columns *c, const MirageNodeView *view) {
  bool hidden = false;
  for (uint32_t i = 0; i < view->num_operands; i++)
    hidden |= hidden_of(c, view->operands[i]) != COLUMNS_SHOWN;
  MirageOpKind kind = mirage_op_info(view->op)->kind;
  return !hidden || is_elementwise(view->op) || kind == MIRAGE_KIND_REDUCE || kind == MIRAGE_KIND_TERMINATOR ||
         view->op == MIRAGE_OP_THREAD ||
         (view->op == MIRAGE_OP_MATMUL && hidden_of(c, view->operands[1]) == COLUMNS_SHOWN &&
          mirage__k_is_last(view, 0));
}

static bool follow(Columns *c) {
  MirageNodeView view;
  for (int32_t step = c->loop->begin; mirage__block_next(c->block, &step, &view) && step < c->loop->end;) {
    if (!keeps_columns(c, &view))
      return false;
    if (view.num_results != 1 || view.op == MIRAGE_OP_THREAD || width_of(c->block, view.first_result) != c->width)
      continue;
    c->of[mirage__block_resolve(c->block, view.first_result).index] = (uint8_t)hidden_after(c, &view);
  }
  return true;
}

// What an operator asks of its operands: nothing in those columns where its own are hidden.
static void note_readers(Columns *c, const MirageNodeView *view) {
  bool hides = view->num_results == 1 && is_elementwise(view->op) && hidden_of(c, view->first_result) != COLUMNS_SHOWN;
  for (uint32_t i = 0; i < view->num_operands; i++) {
    MirageValue operand = mirage__block_resolve(c->block, view->operands[i]);
    c->reader[operand.index] |= !hides || width_of(c->block, operand) != c->width;
  }
}

// Backwards, so that all who read a value are known when it comes. Whether a product of warpgroups is read by nobody.
static bool find_unread(Columns *c) {
  bool some = false;
  for (int32_t step = c->loop->end; step > c->loop->begin; step--) {
    MirageNodeView view;
    if (!mirage__block_step(c->block, step, &view) || view.op == MIRAGE_OP_THREAD ||
        (view.op == MIRAGE_OP_YIELD && step < c->loop->end))
      continue;
    bool product = view.op == MIRAGE_OP_MATMUL;
    MirageValue result = view.num_results == 1 ? mirage__block_resolve(c->block, view.first_result) : (MirageValue){0};
    if (result.index && !c->reader[result.index] && c->of[result.index] == COLUMNS_SHOWN &&
        width_of(c->block, result) == c->width && (product || is_elementwise(view.op))) {
      c->of[result.index] = COLUMNS_UNREAD;
      some |= product && c->block->values[result.index].warpgroup;
    }
    note_readers(c, &view);
  }
  return some;
}

static bool follow_from(const Block *block, const BlockLoop *loop, MirageNode comparison, BlockNarrow *out) {
  size_t values = (size_t)mirage_ugraph_num_values(block->graph) + 1;
  Columns c = {.block = block, .loop = loop, .width = out->width, .comparison = comparison};
  c.of = mirage_arena_alloc_array(block->arena, values, sizeof *c.of);
  c.reader = mirage_arena_alloc_array(block->arena, values, sizeof *c.reader);
  out->hidden = c.of;
  return c.of && c.reader && follow(&c) && find_unread(&c);
}

bool mirage__block_narrow(const Block *block, int32_t loop, int64_t iteration, BlockNarrow *out) {
  enum { UNIT = 8 }; // columns of the instruction
  const BlockLoop *l = &block->loops[loop];
  for (uint32_t i = 0; i < l->num_certain && block->partition.by_col == 1; i++) {
    const LoopBound *bound = &l->certain[i];
    int64_t width = columns_compared(block, bound->comparison);
    int64_t columns = width + bound->constant - bound->step * iteration;
    if (!width || bound->step <= 0 || bound->grid[0] || bound->grid[1] || bound->grid[2] || bound->value.index ||
        columns <= 0 || columns > width - UNIT)
      continue;
    *out = (BlockNarrow){.columns = columns, .width = width};
    if (follow_from(block, l, bound->comparison, out))
      return true;
  }
  return false;
}
