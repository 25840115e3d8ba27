// direct.c - loops that stream their weights straight from device memory to the matrix instruction.
//
// For few rows of activations every element of a weight is used once, so shared memory would only delay it. A loop is
// *direct* when all it does is that:
//
//   carries  sums of products a [m, k] @ b [k, n] whose b is a load of its own, with m at most 16; beside them, sums
//            and maxima of the rows of tiles [m, k] - the norm's squares -, which take their elements where the
//            activations of a product are already in registers
//   values   everything else is computed where it is asked for: no buffer, hence no barrier, so warps run freely
//
// Every warp takes all columns and each `warps`-th step of 32 rows of b. Products that share their activation become
// one product with their columns side by side: loads stay wide (two weights of 32 columns make whole 16-byte pieces for
// eight lane groups), and the activation is read once.
//
// Dimensions before the last two, of a batch that the grid and outer loops have divided, are 1.
//
// How many warps: with one step in flight a warp, 16 warps keep 64 KB of weights on their way; with 8 the staged form
// is faster (H200, test/bench/README.md: 23.4 us against 19.6 on RMSNorm + linear, 25.9 against 20.6 on gated MLP).
#include "plan.h"

enum { STEP = 32, MOST_ROWS = 8 * MAX_DIRECT_UNITS, SMALL_SHARE = 2, SPARE_REGISTERS = 24, MOST_SIDE_BLOCKS = 4 };

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Neighbouring columns that a lane loads at once, for a product of `width` columns; 0 = no choice fits.
static int32_t lane_columns(int64_t width) {
  if (width % 8 == 0 && width > 32)
    return 8;
  if (width % 4 == 0 && width > 16)
    return 4;
  return width % 2 == 0 ? 2 : 0;
}

const int64_t *mirage__matrix_extents(const MirageType *type) {
  for (uint32_t d = 0; d + 2 < type->rank; d++)
    if (type->shape[d] != 1)
      return NULL;
  return type->rank < 2 ? NULL : type->shape + type->rank - 2;
}

// The contribution as a product of this form, but for the number of warps.
static bool add_product(const Block *block, int32_t loop, uint32_t carry, MirageValue contribution, DirectLoop *out) {
  MirageNodeView view = mirage__block_def(block, contribution);
  const MirageType *a = mirage_ugraph_type(block->graph, view.operands[0]);
  const int64_t *shape_a = mirage__matrix_extents(a),
                *shape_b = mirage__matrix_extents(mirage_ugraph_type(block->graph, view.operands[1]));
  bool transposed = view.attrs && view.attrs->matmul.transpose_a;
  if (a->dtype == MIRAGE_F32 || !shape_a || !shape_b || (view.attrs && view.attrs->matmul.transpose_b))
    return false;
  MirageValue weight = mirage__block_resolve(block, view.operands[1]);
  const BlockValue *w = &block->values[weight.index];
  int64_t m = shape_a[transposed ? 1 : 0], k = shape_b[0], n = shape_b[1];
  if (mirage__block_op(block, weight) != MIRAGE_OP_LOAD || w->num_uses != 1 || w->loop != loop || m > MOST_ROWS ||
      !lane_columns(n) || k % STEP || (out->num_products && (out->m != m || out->k != k)))
    return false;
  out->m = m;
  out->k = k;
  out->products[out->num_products++] = (DirectProduct){.node = block->values[contribution.index].def,
                                                       .weight = weight,
                                                       .activation = mirage__block_resolve(block, view.operands[0]),
                                                       .transposed = transposed,
                                                       .carry = carry,
                                                       .columns = n};
  return true;
}

static bool add_reduction(const Block *block, uint32_t carry, MirageValue contribution, DirectLoop *out) {
  MirageNodeView view = mirage__block_def(block, contribution);
  const MirageType *in = mirage_ugraph_type(block->graph, view.operands[0]);
  const MirageType *result = mirage_ugraph_type(block->graph, contribution);
  if (!mirage__matrix_extents(in) || result->shape[result->rank - 1] != 1 ||
      view.attrs->reduce.dim != (int32_t)in->rank - 1)
    return false;
  out->reductions[out->num_reductions++] = (DirectReduction){.node = block->values[contribution.index].def,
                                                             .operand = mirage__block_resolve(block, view.operands[0]),
                                                             .carry = carry};
  return true;
}

typedef struct GridUse {
  const Block *block;
  int32_t loop;
  bool found; // something of the grid, or from outside the loop
} GridUse;

static void find_grid(void *user, MirageValue leaf) {
  GridUse *use = user;
  const BlockValue *v = &use->block->values[leaf.index];
  if (v->loop != use->loop || mirage__block_op(use->block, leaf) != MIRAGE_OP_LOAD) {
    use->found |= mirage__block_op(use->block, leaf) != MIRAGE_OP_CONSTANT;
    return;
  }
  const int8_t *axes = mirage_ugraph_node(use->block->graph, v->def).attrs->access.grid;
  const int64_t *grid = mirage_ugraph_node(use->block->graph, use->block->custom).attrs->custom.grid;
  for (int a = 0; a < 3; a++)
    use->found |= axes[a] >= 0 && grid[a] > 1;
}

// Keeps the products of one part, and the reductions with the main one.
static void take_part(const Block *block, int32_t loop, DirectPart part, DirectLoop *out) {
  uint32_t kept = 0;
  for (uint32_t p = 0; p < out->num_products; p++) {
    DirectProduct *product = &out->products[p];
    GridUse use = {block, loop, false};
    find_grid(&use, product->weight);
    mirage__block_leaves(block, product->activation, find_grid, &use);
    product->side = !use.found;
    if (part == DIRECT_WHOLE || product->side == (part == DIRECT_SIDE))
      out->products[kept++] = *product;
  }
  out->num_products = kept;
  out->num_reductions = part == DIRECT_SIDE ? 0 : out->num_reductions;
}

// Products of one activation get neighbouring columns of one group.
static void group_products(DirectLoop *loop) {
  for (uint32_t p = 0; p < loop->num_products; p++) {
    DirectProduct *product = &loop->products[p];
    product->group = loop->num_groups;
    for (uint32_t q = 0; q < p; q++) {
      const DirectProduct *other = &loop->products[q];
      if (other->activation.index == product->activation.index && other->transposed == product->transposed &&
          other->columns % 8 == 0 && product->columns % 8 == 0)
        product->group = other->group;
    }
    if (product->group == loop->num_groups)
      loop->groups[loop->num_groups++] =
          (DirectGroup){.activation = product->activation, .transposed = product->transposed};
    DirectGroup *group = &loop->groups[product->group];
    product->first_column = group->columns;
    group->columns += product->columns;
  }
  loop->col_units = (int32_t)ceil_div(loop->m, 8);
  for (uint32_t g = 0; g < loop->num_groups; g++) {
    DirectGroup *group = &loop->groups[g];
    group->lane_columns = lane_columns(group->columns);
    group->pieces = (int32_t)ceil_div(group->columns, 8 * group->lane_columns);
    group->accumulators = group->pieces * group->lane_columns / 2 * loop->col_units * 4;
  }
}

bool mirage__direct_loop(const Block *block, int32_t loop, DirectPart part, DirectLoop *out) {
  *out = (DirectLoop){0};
  MirageNode node = block->loops[loop].node;
  MirageNodeView view = mirage_ugraph_node(block->graph, node), yield = mirage__block_yield(block, node);
  if (view.num_operands > MAX_DIRECT_CARRIES)
    return false;
  for (uint32_t i = 0; i < view.num_operands; i++) {
    MirageValue contribution = mirage__block_resolve(block, yield.operands[i]);
    CarryKind kind = mirage__block_carry_candidate(block, node, i);
    bool plain = view.attrs->loop.carries[i].combine != MIRAGE_COMBINE_RESCALE;
    if (!plain || block->values[contribution.index].shared ||
        !(kind == CARRY_MATMUL   ? add_product(block, loop, i, contribution, out)
          : kind == CARRY_REDUCE ? add_reduction(block, i, contribution, out)
                                 : false))
      return false;
  }
  for (uint32_t r = 0; r < out->num_reductions; r++) {
    const int64_t *in = mirage__matrix_extents(mirage_ugraph_type(block->graph, out->reductions[r].operand));
    if (in[0] != out->m || in[1] != out->k)
      return false;
  }
  take_part(block, loop, part, out);
  group_products(out);
  return out->num_products > 0;
}

// ------------------------------------------------------------------------------------------------------------ planning

static bool is_contribution(const DirectLoop *direct, MirageNode node) {
  bool found = false;
  for (uint32_t p = 0; p < direct->num_products; p++)
    found |= direct->products[p].node.index == node.index;
  for (uint32_t r = 0; r < direct->num_reductions; r++)
    found |= direct->reductions[r].node.index == node.index;
  return found;
}

static bool is_weight(const DirectLoop *direct, MirageValue value) {
  bool found = false;
  for (uint32_t p = 0; p < direct->num_products; p++)
    found |= direct->products[p].weight.index == value.index;
  return found;
}

// What else is loaded must be small, since every warp reads it for itself.
static bool load_fits(Plan *plan, const DirectLoop *direct, MirageNode node, bool *by_hand) {
  MirageValue tile = mirage_ugraph_result(plan->graph, node, 0);
  MirageLanding landing = mirage__load_schedule(plan, node)->landing;
  bool weight = is_weight(direct, tile);
  *by_hand |= weight && landing == MIRAGE_LANDING_REGISTER;
  if (landing == MIRAGE_LANDING_REGISTER)
    return true;
  int64_t columns = 0;
  for (uint32_t p = 0; p < direct->num_products; p++)
    columns += direct->products[p].columns;
  int64_t elements = mirage_type_elements(mirage_ugraph_type(plan->graph, tile));
  return landing == MIRAGE_LANDING_AUTO && (weight || elements * SMALL_SHARE <= columns * direct->k);
}

// Nothing in the loop needs a buffer.
static bool body_fits(Plan *plan, int32_t loop, const DirectLoop *direct, bool *by_hand) {
  const Block *block = &plan->block;
  for (int32_t s = block->loops[loop].begin + 1; s <= block->loops[loop].end; s++) {
    MirageNode node = block->steps[s].node;
    if (!node.index)
      continue;
    MirageNodeView view = mirage_ugraph_node(block->graph, node);
    if (view.op == MIRAGE_OP_YIELD || view.op == MIRAGE_OP_THREAD || is_contribution(direct, node))
      continue;
    if (view.op != MIRAGE_OP_LOAD && !mirage__block_can_inline(view.op))
      return false;
    if (block->values[view.first_result.index].shared ||
        (view.op == MIRAGE_OP_LOAD && !load_fits(plan, direct, node, by_hand)))
      return false;
  }
  return true;
}

int32_t mirage__direct_registers(int64_t rows, int64_t columns) {
  int32_t lane = lane_columns(columns), units = (int32_t)ceil_div(rows, 8);
  if (!lane || rows > MOST_ROWS)
    return 0;
  int32_t pieces = (int32_t)ceil_div(columns, 8 * lane), words = pieces * lane / 2;
  return words * units * 4 + words * 8 + units * 4;
}

bool mirage__direct_fits(int64_t depth, int32_t registers, int32_t warps, const MirageTarget *target) {
  int32_t limit = target->registers_per_sm / (warps * 32);
  return depth % (STEP * warps) == 0 && registers + SPARE_REGISTERS <= (limit < 255 ? limit : 255);
}

// Warps that share the contraction, 0 when the loop stays staged.
static int32_t choose_warps(const Plan *plan, const DirectLoop *direct, bool by_hand) {
  int32_t given = mirage__worker_warps(&plan->schedule), warps = given ? given : DIRECT_WARPS, registers = 0;
  while (by_hand && !given && warps > 1 && direct->k % (STEP * warps))
    warps /= 2;
  for (uint32_t g = 0; g < direct->num_groups; g++)
    registers += mirage__direct_registers(direct->m, direct->groups[g].columns);
  bool enough = warps >= DIRECT_WARPS || by_hand;
  return enough && mirage__direct_fits(direct->k, registers, warps, plan->target) ? warps : 0;
}

// Products that are the same in all blocks go to side blocks where multiprocessors are left over: the first blocks of
// the launch share the iterations, the others meet their sums after the loop. All are resident at once.
static int32_t choose_side(const Plan *plan, int32_t loop, bool open) {
  const MirageCustomAttrs *custom = &mirage_ugraph_node(plan->graph, plan->block.custom).attrs->custom;
  const BlockLoop *l = &plan->block.loops[loop];
  DirectLoop main, side;
  if (!mirage__direct_loop(&plan->block, loop, DIRECT_MAIN, &main) ||
      !mirage__direct_loop(&plan->block, loop, DIRECT_SIDE, &side) || l->parent >= 0 || custom->grid[1] > 1 ||
      custom->grid[2] > 1 || custom->cluster[0] > 1 || plan->block.num_meetings || plan->schedule.num_roles)
    return 0;
  int64_t room = plan->target->num_sms - custom->grid[0], blocks = open ? MOST_SIDE_BLOCKS : plan->schedule.side_blocks;
  while (open && blocks > 0 && (blocks > room || l->range % blocks))
    blocks--;
  return blocks > 0 && blocks <= room && l->range % blocks == 0 ? (int32_t)blocks : 0;
}

static void land_loads(Plan *plan, int32_t loop, const DirectLoop *direct) {
  for (uint32_t i = 0; i < plan->num_loads; i++) {
    MirageNode node = plan->loads[i];
    if (plan->block.steps[plan->block.step_of_node[node.index]].loop != loop)
      continue;
    MirageLoadSchedule *load = &plan->schedule.loads[i];
    mirage__plan_land(plan, i, MIRAGE_LANDING_REGISTER);
    if (is_weight(direct, mirage_ugraph_result(plan->graph, node, 0)) && load->cache == MIRAGE_CACHE_DEFAULT)
      load->cache = MIRAGE_CACHE_NO_ALLOCATE;
  }
}

MirageStatus mirage__plan_direct(Plan *plan) {
  Block *block = &plan->block;
  bool open = plan->schedule.warps == 0 && plan->schedule.side_blocks == 0, placed = plan->schedule.side_blocks == 0;
  bool rows = plan->schedule.split == MIRAGE_SPLIT_ROWS; // direct loops split the reduction
  for (int32_t l = 0; l < block->num_loops && !rows; l++) {
    DirectLoop direct;
    bool by_hand = false;
    if (!mirage__direct_loop(block, l, DIRECT_WHOLE, &direct) || !body_fits(plan, l, &direct, &by_hand))
      continue;
    int32_t warps = choose_warps(plan, &direct, by_hand);
    if (!warps)
      continue;
    block->loops[l].direct = true;
    if (!plan->schedule.warps)
      plan->schedule.warps = warps;
    land_loads(plan, l, &direct);
    int32_t side = open || !placed ? choose_side(plan, l, open) : 0;
    if (!side)
      continue;
    block->loops[l].side = placed = true;
    plan->schedule.side_blocks = side;
    open = false;
  }
  if (placed)
    return MIRAGE_OK;
  return mirage_diag_fail(
      plan->diag, plan->loc, MIRAGE_UNSUPPORTED,
      "layout: %d side blocks need a loop that streams weights, one of them the same in all blocks, "
      "a number of iterations that they divide, and multiprocessors beside the grid",
      plan->schedule.side_blocks);
}
