// warpgroup.c - which products the matrix instruction of a warpgroup computes, and how warpgroups divide them.
//
// The instruction multiplies 64 rows by up to 256 columns, both operands straight from shared memory in the swizzled
// rows of mirage__swizzled_layout, whichever of their dimensions is innermost; the first may also come from registers,
// where it is evaluated in the cells of resident tiles (resident.c). Four warps issue it together: the
// workers must come in whole groups of four that the hardware counts as groups too.
//
// Example: 128 x 256 x 64 on two warpgroups: each has one slab of 64 rows and all 256 columns, 128 accumulators a
//          thread, and four instructions for the 64 steps of the contraction. 192 x 192 on three: 96 accumulators.
// Swapped, where the schedule asks for it: of 152 x 128 the 128 columns are the instruction's rows, two slabs, and the 152 rows its
//          columns, of which it takes any eight. The result passes through shared memory, where it is turned.
#include "plan.h"

// The hardware counts groups from the block's first warp on.
static bool groups_are_whole(const Team *team) {
  for (int32_t i = 0; i < team->num_actors; i++)
    if (team->actors[i].kind == ACTOR_CONSUMER && mirage__team_first_warp(team, &team->actors[i]) % 4)
      return false;
  return mirage__team_workers(team) % 4 == 0;
}

// Bytes must lie with the contraction innermost, both; of i8 there are instructions of 8, 16, 24 and 32 columns, and of
// multiples of 16.
static bool bytes_fit(const Block *block, const MirageNodeView *product, int64_t columns) {
  enum { MOST = 256, FEW = 32, EVEN = 16 };
  MirageDType dtype = mirage_ugraph_type(block->graph, product->operands[0])->dtype;
  int64_t rest = columns % MOST;
  if (mirage_dtype_bits(dtype) != 8)
    return true;
  for (uint32_t i = 0; i < 2; i++)
    if (!mirage__matmul_operand(block, product, i).k_inner)
      return false;
  return dtype != MIRAGE_I8 || rest <= FEW || rest % EVEN == 0;
}

// A resident product has its split already: four warps must own slabs, with nothing beyond the tile.
static bool resident_fits(const Block *block, const MirageNodeView *product, MatmulSplit *s) {
  const Partition *p = &block->partition;
  const MirageType *a = mirage_ugraph_type(block->graph, product->operands[0]);
  bool slabs = p->by_row % 4 == 0 && p->row_units == p->by_row * p->rows_each && s->n / 8 % p->by_col == 0;
  bool panels = p->by_col == 1 || mirage__matmul_operand(block, product, 1).k_inner || s->n / 8 / p->by_col % 8 == 0;
  return slabs && panels && groups_are_whole(&block->team) && s->batch == 1 && s->m % MIRAGE_SLAB_ROWS == 0 &&
         s->n % 8 == 0 && s->k % mirage__k_unit(a) == 0 && a->dtype != MIRAGE_F32 &&
         bytes_fit(block, product, s->n / p->by_col);
}

// Whether the product is a sum of a loop that multiplies tiles as they are loaded, and somebody takes only the whole of it.
static bool is_sum_of_loads(const Block *block, const MirageNodeView *product) {
  const BlockValue *result = &block->values[product->first_result.index];
  if (result->loop < 0 || mirage__block_operand_in_cells(block, product))
    return false;
  for (uint32_t i = 0; i < 2; i++) {
    const BlockLoad *load = mirage__block_load(block, mirage__matmul_operand(block, product, i).base);
    if (!load || load->loop != result->loop)
      return false;
  }
  MirageNode loop = block->loops[result->loop].node;
  for (uint32_t i = 0; i < mirage_ugraph_node(block->graph, loop).num_operands; i++)
    if (mirage__block_resolve(block, mirage__block_yield(block, loop).operands[i]).index == product->first_result.index)
      return mirage__block_carry_candidate(block, loop, i) == CARRY_MATMUL;
  return false;
}

// A warpgroup that has columns of its own reads all rows once more: with fewer than these it waits for shared memory.
static bool may_share_columns(const MatmulSplit *s, int32_t cols, bool n_inner) {
  enum { LEAST_UNITS = 8 };
  bool panels = !n_inner || s->cols_each % 8 == 0;
  return cols == 1 || (panels && (!s->swap || s->cols_each >= LEAST_UNITS));
}

bool mirage__warpgroup_split(const Block *block, const MirageNodeView *product, MatmulSplit *out_split) {
  const Team *team = &block->team;
  MatmulSplit s = {.tensor_core = true, .warpgroup = true, .by_depth = 1};
  const MirageType *a = mirage_ugraph_type(block->graph, product->operands[0]);
  const MirageType *b = mirage_ugraph_type(block->graph, product->operands[1]);
  mirage__matmul_shape(a, b, product->attrs, &s);
  if (block->values[product->first_result.index].resident)
    return resident_fits(block, product, &s);
  s.summed = is_sum_of_loads(block, product);
  s.swap = team->swap && s.summed;
  int64_t rows = s.swap ? s.n : s.m, columns = s.swap ? s.m : s.n;
  if (a->dtype == MIRAGE_F32 || (team->swap && !s.swap) || team->divide == DIVIDE_DEPTH || s.batch != 1 ||
      rows % MIRAGE_SLAB_ROWS || columns % 8 || s.k % mirage__k_unit(a) || !groups_are_whole(team))
    return false;
  s.row_units = (int32_t)(rows / 16);
  s.col_units = (int32_t)(columns / 8);
  s.k_unit = mirage__k_unit(a);
  s.depth_units = (int32_t)(s.k / s.k_unit);
  int32_t groups = mirage__team_workers(team) / 4, slabs = (int32_t)(rows / MIRAGE_SLAB_ROWS);
  bool inner = !mirage__matmul_operand(block, product, s.swap ? 0 : 1).k_inner; // columns
  for (int32_t by_row = groups; by_row >= 1; by_row--) { // the more rows, the less of the columns is read twice
    int32_t cols = groups / by_row;
    if (groups % by_row || slabs % by_row || s.col_units % cols || !mirage__may_divide(team->divide, by_row, cols, 1))
      continue;
    s.by_row = 4 * by_row, s.by_col = cols;
    s.rows_each = slabs / by_row, s.cols_each = s.col_units / cols;
    s.accumulators = 4 * s.rows_each * s.cols_each;
    if (!bytes_fit(block, product, 8 * s.cols_each) || !may_share_columns(&s, cols, inner) ||
        s.accumulators > mirage__warpgroup_limit(team, s.summed))
      continue;
    *out_split = s;
    return true;
  }
  return false;
}

// A load whose tile lies, or may be made to lie, in swizzled rows of shared memory.
static bool operand_fits(const Plan *plan, const MirageNodeView *product, uint32_t which) {
  const Block *block = &plan->block;
  MirageValue base = mirage__matmul_operand(block, product, which).base;
  const BlockValue *v = &block->values[base.index];
  const BlockLoad *load = mirage__block_load(block, base);
  const MirageType *type = &plan->types[base.index];
  if (!load || (v->loop >= 0 && block->loops[v->loop].direct) || load->by == BY_READER || load->by == BY_BULK ||
      (type->layout.planned && type->space == MIRAGE_SPACE_REGISTER))
    return false;
  if (type->layout.planned && type->space == MIRAGE_SPACE_SHARED)
    return mirage__is_swizzled_layout(type) &&
           (type->layout.offset < 0 || type->layout.offset % mirage__tile_alignment(type, BY_TENSOR) == 0);
  MirageType wanted = *type;
  return mirage__swizzled_layout(&wanted);
}

// Warpgroups sum products of f8 in fewer bits than f32 has: a relative error of 1.4e-3 after 4096 of them, 1.7e-4 after 256
// (H200). Of more than these, warps multiply.
static bool loses_digits(const Block *block, const MirageNodeView *product) {
  enum { MOST_SUMMED = 1024 };
  const MirageType *a = mirage_ugraph_type(block->graph, product->operands[0]);
  const MirageType *b = mirage_ugraph_type(block->graph, product->operands[1]);
  int32_t loop = block->values[product->first_result.index].loop;
  MatmulSplit s = {0};
  mirage__matmul_shape(a, b, product->attrs, &s);
  return mirage_dtype_bits(a->dtype) == 8 && a->dtype != MIRAGE_I8 &&
         s.k * (loop < 0 ? 1 : block->loops[loop].trips) > MOST_SUMMED;
}

// Why a product is none of them, as far as is decided; NULL: it is.
static const char *not_by_warpgroups(const Plan *plan, const MirageNodeView *product, MatmulSplit *out_split) {
  if (!plan->target->has_wgmma)
    return "the GPU has no such instruction";
  if (!mirage__block_operand_in_cells(&plan->block, product) && !operand_fits(plan, product, 0))
    return "a product's first operand is neither in cells nor a load that may lie in swizzled rows";
  if (!operand_fits(plan, product, 1))
    return "a product's second operand is no load that may lie in swizzled rows";
  if (loses_digits(&plan->block, product))
    return "so long a sum of products of f8 loses digits in a warpgroup's instruction";
  return mirage__warpgroup_split(&plan->block, product, out_split)
             ? NULL
             : "the warps are no warpgroups that can share a product in slabs of 64 rows";
}

bool mirage__warpgroups_may(const Plan *plan, const MirageNodeView *product, MatmulSplit *out_split) {
  return !not_by_warpgroups(plan, product, out_split);
}

MirageStatus mirage__plan_warpgroups(Plan *plan, const char **out_why) {
  Block *block = &plan->block;
  MirageNodeView view;
  bool taken = false;
  *out_why = "there is no product";
  for (int32_t s = -1; mirage__block_next(block, &s, &view);) {
    MatmulSplit split;
    if (!mirage__is_product(view.op))
      continue;
    const char *why = not_by_warpgroups(plan, &view, &split);
    block->values[view.first_result.index].warpgroup = !why;
    *out_why = why;
    taken |= !why;
  }
  if (taken)
    *out_why = NULL;
  return MIRAGE_OK;
}
