// direct.c - loops that stream their weights straight from device memory to the matrix instruction.
//
// For few rows of activations every element of a weight is used once, so shared memory would only delay it. A loop is
// *direct* when all it does is that:
//
//   carries  sums of products a [m, k] @ b [k, n] whose b is a load of its own, or the cast of one from a stored type,
//            with m at most 32; beside them, sums and maxima of the rows of tiles [m, k] - the norm's squares -, which take their elements where the
//            activations of a product are already in registers
//   values   everything else is computed where it is asked for: no buffer, hence no barrier, so warps run freely
//
// Every warp takes all columns and each `warps`-th step of 32 rows of b. Products that share their activation become
// one product with their columns side by side: loads stay wide (two weights of 32 columns make whole 16-byte pieces for
// eight lane groups), and the activation is read once.
//
// Dimensions before the last two, of a batch that the grid and outer loops have divided, are 1.
//
// groups   products of a batch that are summed over it, each perhaps multiplied with a scale s [groups, 1, n] before: a
//          weight in groups of rows, sum over q of s[q] * (a[q] @ b[q]). Its rows follow each other, so it is a weight of
//          all rows; a step lies in one group, and what it gives is multiplied with the scales where it is added.
//
// How many bytes: a step of 64 f16 columns is 128 bytes of each lane. Of narrower weights so many steps are under way that
// they are no fewer, as long as these, and what their activations and scales are computed from, leave registers.
//
// How many warps: with one step in flight a warp, 16 warps keep 64 KB of weights on their way; with 8 the staged form
// is faster (H200, test/bench/history/2026-11-23.md: 23.4 us against 19.6 on RMSNorm + linear, 25.9 against 20.6 on gated MLP).
#include "plan.h"

enum {
  STEP = 32,
  LANE_ROWS = 8,
  LANE_BYTES = 128,
  BANK_REGISTERS = 48,
  PIECE_REGISTERS = 4,
  MOST_ROWS = 8 * MAX_DIRECT_UNITS,
  SPARE_REGISTERS = 24,
  MOST_SIDE_BLOCKS = 4
};

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Neighbouring columns that a lane loads at once, for a product of `width` columns; 0 = no choice fits.
static int32_t lane_columns(int64_t width) {
  if (width % 8 == 0 && width > 32)
    return 8;
  if (width % 4 == 0 && width > 16)
    return 4;
  return width % 2 == 0 ? 2 : 0;
}

const int64_t *mirage__grouped_extents(const MirageType *type, int64_t *out_groups) {
  *out_groups = type->rank > 2 ? type->shape[type->rank - 3] : 1;
  for (uint32_t d = 0; d + 3 < type->rank; d++)
    if (type->shape[d] != 1)
      return NULL;
  return type->rank < 2 ? NULL : type->shape + type->rank - 2;
}

const int64_t *mirage__matrix_extents(const MirageType *type) {
  int64_t groups;
  const int64_t *extents = mirage__grouped_extents(type, &groups);
  return groups == 1 ? extents : NULL;
}

// Whether pieces of whole bytes can be taken of a load: i4 begin at even columns everywhere.
static bool whole_bytes(const Block *block, MirageNode load, const MirageType *tensor) {
  int64_t parts[MAX_AXES], chunk[MAX_AXES + 1];
  uint32_t last = tensor->rank - 1, axes = mirage__block_chunks(block, load, last, parts, chunk);
  bool even = mirage_ugraph_node(block->graph, load).attrs->access.begin[last] % 2 == 0;
  for (uint32_t i = 0; i <= axes; i++)
    even = even && chunk[i] % 2 == 0;
  return even || mirage_dtype_bits(tensor->dtype) >= 8;
}

// The load that the weight `value` is, or is the cast of.
static MirageValue weight_load(const Block *block, MirageValue value) {
  value = mirage__block_resolve(block, value);
  if (mirage__block_op(block, value) != MIRAGE_OP_CAST || block->values[value.index].num_uses != 1)
    return value;
  MirageValue load = mirage__block_resolve(block, mirage__block_def(block, value).operands[0]);
  if (mirage__block_op(block, load) != MIRAGE_OP_LOAD ||
      !mirage_dtype_is_stored(mirage_ugraph_type(block->graph, load)->dtype))
    return value;
  MirageNodeView view = mirage__block_def(block, load);
  const MirageType *tensor = mirage_ugraph_type(block->graph, mirage__block_resolve(block, view.operands[0]));
  bool fits = view.attrs->access.fill == MIRAGE_FILL_ZERO && whole_bytes(block, block->values[load.index].def, tensor);
  return fits ? load : value;
}

// A product, or one of groups: what is summed over them, and each multiplied with.
typedef struct Contribution {
  MirageValue product, scale;
  bool grouped; // summed over groups
} Contribution;

// The operand of a sum over groups, the last but two of its dimensions; {0}: the value is none.
static MirageValue sum_of_groups(const Block *block, MirageValue value) {
  MirageNodeView view = mirage__block_def(block, value);
  if (view.op != MIRAGE_OP_REDUCE_SUM)
    return (MirageValue){0};
  MirageValue in = mirage__block_resolve(block, view.operands[0]);
  const MirageType *type = mirage_ugraph_type(block->graph, in);
  return type->rank > 2 && view.attrs->reduce.dim == (int32_t)type->rank - 3 ? in : (MirageValue){0};
}

static bool is_inner_product(const Block *block, MirageValue value) {
  return mirage__block_op(block, value) == MIRAGE_OP_MATMUL && block->values[value.index].num_uses == 1;
}

// Takes a sum over groups apart; false: it is none of products.
static bool take_groups(const Block *block, MirageValue sum, Contribution *out) {
  MirageValue in = sum_of_groups(block, sum);
  *out = (Contribution){.product = in, .grouped = true};
  if (!in.index || is_inner_product(block, in))
    return in.index != 0;
  MirageNodeView mul = mirage__block_def(block, in);
  if (mul.op != MIRAGE_OP_MUL || block->values[in.index].num_uses != 1)
    return false;
  MirageValue a = mirage__block_resolve(block, mul.operands[0]), b = mirage__block_resolve(block, mul.operands[1]);
  bool second = is_inner_product(block, b);
  out->product = second ? b : a;
  out->scale = second ? a : b;
  return second || is_inner_product(block, a);
}

static bool swaps_last_two(const MirageNodeView *transpose, uint32_t rank) {
  bool swaps = rank >= 2;
  for (uint32_t d = 0; swaps && d < rank; d++)
    swaps = transpose->attrs->perm.perm[d] == (int32_t)(d + 2 < rank ? d : d + 2 == rank ? d + 1 : d - 1);
  return swaps;
}

// The load that is a product's second operand, perhaps transposed and cast. *rows: it is [n, k].
static MirageValue second_operand(const Block *block, const MirageNodeView *product, bool *rows) {
  MirageValue value = mirage__block_resolve(block, product->operands[1]);
  MirageNodeView def = mirage__block_def(block, value);
  *rows = product->attrs && product->attrs->matmul.transpose_b;
  if (def.op == MIRAGE_OP_TRANSPOSE && block->values[value.index].num_uses == 1 &&
      swaps_last_two(&def, mirage_ugraph_type(block->graph, value)->rank)) {
    *rows = !*rows;
    value = def.operands[0];
  }
  return weight_load(block, value);
}

// The contribution as a product of this form, but for the number of warps; why it is none, or NULL.
static const char *add_product(const Block *block, int32_t loop, uint32_t carry, MirageValue contribution,
                               const Contribution *parts, DirectLoop *out) {
  MirageNodeView view = mirage__block_def(block, parts->product);
  const MirageType *a = mirage_ugraph_type(block->graph, view.operands[0]);
  int64_t groups, groups_b;
  const int64_t *shape_a = mirage__grouped_extents(a, &groups);
  const int64_t *shape_b = mirage__grouped_extents(mirage_ugraph_type(block->graph, view.operands[1]), &groups_b);
  bool transposed = view.attrs && view.attrs->matmul.transpose_a, rows;
  bool transposed_b = view.attrs && view.attrs->matmul.transpose_b;
  if (a->dtype == MIRAGE_F32 || mirage_dtype_is_stored(a->dtype) || !shape_a || !shape_b || groups != groups_b ||
      (groups > 1 && !parts->grouped))
    return "a product of it is not of f16 or bf16 matrices [m, k] @ [k, n]";
  MirageValue weight = second_operand(block, &view, &rows);
  const BlockValue *w = &block->values[weight.index];
  int64_t m = shape_a[transposed ? 1 : 0], group_k = shape_b[transposed_b], k = groups * group_k,
          n = shape_b[!transposed_b];
  if (mirage__block_op(block, weight) != MIRAGE_OP_LOAD || w->num_uses != 1 || w->loop != loop)
    return "the second operand of a product is no load of its own";
  if (m > MOST_ROWS)
    return "a product has more than 32 activation rows";
  if (!lane_columns(n) || group_k % STEP)
    return "a weight's tile has an odd number of columns, or rows that are no multiple of 32";
  if (out->num_products && (out->m != m || out->k != k || out->group_k != group_k))
    return "its products differ in rows or depth";
  if (out->num_products && out->rows != rows)
    return "some of its weights have a row for each output, others a column";
  out->rows = rows;
  out->m = m;
  out->k = k;
  out->group_k = group_k;
  out->products[out->num_products++] = (DirectProduct){.node = block->values[contribution.index].def,
                                                       .product = block->values[parts->product.index].def,
                                                       .scale = parts->scale,
                                                       .weight = weight,
                                                       .activation = mirage__block_resolve(block, view.operands[0]),
                                                       .transposed = transposed,
                                                       .carry = carry,
                                                       .columns = n};
  return NULL;
}

// A sum over rows of a sum over groups, or the other way round.
static bool take_two_sums(const Block *block, MirageValue sum, MirageValue *out_inner) {
  MirageNodeView outer = mirage__block_def(block, sum);
  MirageValue inner = mirage__block_resolve(block, outer.operands[0]);
  MirageNodeView view = mirage__block_def(block, inner);
  if (outer.op != MIRAGE_OP_REDUCE_SUM || mirage__block_op(block, inner) != MIRAGE_OP_REDUCE_SUM ||
      block->values[inner.index].num_uses != 1)
    return false;
  int32_t rank = (int32_t)mirage_ugraph_type(block->graph, inner)->rank, rows = rank - 1, groups = rank - 3;
  int32_t a = outer.attrs->reduce.dim, b = view.attrs->reduce.dim;
  *out_inner = inner;
  return (a == rows && b == groups) || (a == groups && b == rows);
}

static const char *add_reduction(const Block *block, uint32_t carry, MirageValue contribution, DirectLoop *out) {
  MirageNodeView view = mirage__block_def(block, contribution);
  const MirageType *result = mirage_ugraph_type(block->graph, contribution);
  DirectReduction reduction = {.node = block->values[contribution.index].def, .carry = carry};
  MirageValue inner, operand = view.operands[0];
  int64_t groups;
  bool both = take_two_sums(block, contribution, &inner);
  if (both) {
    reduction.inner = block->values[inner.index].def;
    operand = mirage__block_def(block, inner).operands[0];
  }
  const MirageType *in = mirage_ugraph_type(block->graph, operand);
  if (!mirage__grouped_extents(in, &groups) || (groups > 1 && !both) || result->shape[result->rank - 1] != 1 ||
      (!both && view.attrs->reduce.dim != (int32_t)in->rank - 1))
    return "a reduction of it is not along the rows of a matrix";
  reduction.operand = mirage__block_resolve(block, operand);
  out->reductions[out->num_reductions++] = reduction;
  return NULL;
}

bool mirage__direct_of_grid(const Block *block, MirageValue load) {
  const int8_t *axes = mirage__block_def(block, load).attrs->access.grid;
  const int64_t *grid = mirage__block_custom(block)->grid;
  bool found = false;
  for (int a = 0; a < 3; a++)
    found |= axes[a] >= 0 && grid[a] > 1;
  return found;
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
  use->found |= mirage__direct_of_grid(use->block, leaf);
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

static MirageDType stored_type(const Block *block, const DirectProduct *product) {
  return mirage_ugraph_type(block->graph, product->weight)->dtype;
}

static bool is_weight(const DirectLoop *direct, MirageValue value) {
  bool found = false;
  for (uint32_t p = 0; p < direct->num_products; p++)
    found |= direct->products[p].weight.index == value.index;
  return found;
}

// Registers that a step takes beside its weights until it is multiplied: of every other load a piece of 16 bytes a row.
static int32_t side_registers(const Block *block, int32_t loop, const DirectLoop *direct) {
  int32_t loads = 0;
  for (uint32_t i = 0; i < block->num_loads; i++)
    loads += block->loads[i].loop == loop && !is_weight(direct, block->loads[i].tile);
  return PIECE_REGISTERS * loads * direct->col_units;
}

// Steps under way, a power of two.
static int32_t steps_ahead(const DirectLoop *loop, int32_t side) {
  int64_t bits = 0;
  bool narrow = false; // of f16 in narrow tiles nothing is known
  for (uint32_t g = 0; g < loop->num_groups; g++) {
    const DirectGroup *group = &loop->groups[g];
    narrow |= group->stored != group->dtype;
    bits += (int64_t)group->pieces * LANE_ROWS * group->lane_columns * mirage_dtype_bits(group->stored);
  }
  int32_t ahead = 1;
  while (narrow && 2 * ahead * bits <= 8 * LANE_BYTES && 2 * ahead * (bits / 32 + side) <= BANK_REGISTERS &&
         2 * ahead <= MAX_DIRECT_AHEAD)
    ahead *= 2;
  return ahead;
}

// Products of one activation get neighbouring columns of one group.
static void group_products(const Block *block, int32_t index, DirectLoop *loop) {
  for (uint32_t p = 0; p < loop->num_products; p++) {
    DirectProduct *product = &loop->products[p];
    product->group = loop->num_groups;
    for (uint32_t q = 0; q < p; q++) {
      const DirectProduct *other = &loop->products[q];
      if (other->activation.index == product->activation.index && other->transposed == product->transposed &&
          stored_type(block, other) == stored_type(block, product) && other->columns % 8 == 0 &&
          product->columns % 8 == 0 && !other->scale.index && !product->scale.index)
        product->group = other->group;
    }
    if (product->group == loop->num_groups)
      loop->groups[loop->num_groups++] =
          (DirectGroup){.activation = product->activation,
                        .transposed = product->transposed,
                        .stored = stored_type(block, product),
                        .dtype = mirage_ugraph_type(block->graph, product->activation)->dtype};
    DirectGroup *group = &loop->groups[product->group];
    product->first_column = group->columns;
    group->columns += product->columns;
  }
  loop->col_units = (int32_t)ceil_div(loop->m, 8);
  for (uint32_t g = 0; g < loop->num_groups; g++) {
    DirectGroup *group = &loop->groups[g];
    group->lane_columns = loop->rows ? 2 : lane_columns(group->columns);
    group->pieces = (int32_t)ceil_div(group->columns, 8 * group->lane_columns);
    group->accumulators = group->pieces * group->lane_columns / 2 * loop->col_units * 4;
  }
  loop->ahead = loop->rows ? 1 : steps_ahead(loop, side_registers(block, index, loop));
}

// Why carry `index` is nothing that such a loop can sum, or NULL.
static const char *add_carry(const Block *block, int32_t loop, uint32_t index, DirectLoop *out) {
  MirageNode node = block->loops[loop].node;
  MirageValue contribution = mirage__block_resolve(block, mirage__block_yield(block, node).operands[index]);
  if (mirage_ugraph_node(block->graph, node).attrs->loop.carries[index].combine == MIRAGE_COMBINE_RESCALE)
    return "it rescales what it carries";
  if (block->values[contribution.index].shared)
    return "what it carries is asked for in shared memory";
  Contribution parts = {.product = contribution};
  switch (mirage__block_carry_candidate(block, node, index)) {
  case CARRY_MATMUL:
    return add_product(block, loop, index, contribution, &parts, out);
  case CARRY_REDUCE:
    if (take_groups(block, contribution, &parts))
      return add_product(block, loop, index, contribution, &parts, out);
    return add_reduction(block, index, contribution, out);
  default:
    return "it carries what is neither a product nor a reduction";
  }
}

// The loop as a direct one, but for its warps; why it is none, or NULL.
static const char *describe(const Block *block, int32_t loop, DirectPart part, DirectLoop *out) {
  uint32_t carries = mirage_ugraph_node(block->graph, block->loops[loop].node).num_operands;
  const char *why = carries > MAX_DIRECT_CARRIES ? "it carries more than 8 values" : NULL;
  *out = (DirectLoop){0};
  for (uint32_t i = 0; i < carries && !why; i++)
    why = add_carry(block, loop, i, out);
  for (uint32_t r = 0; r < out->num_reductions && !why; r++) {
    int64_t groups;
    const int64_t *in = mirage__grouped_extents(mirage_ugraph_type(block->graph, out->reductions[r].operand), &groups);
    if (in[0] != out->m || in[1] != out->group_k || groups * in[1] != out->k)
      why = "it reduces other rows than its products have";
  }
  if (why)
    return why;
  take_part(block, loop, part, out);
  group_products(block, loop, out);
  why = out->num_products > 0 ? NULL : "it has no product";
  if (!why && !out->rows && part == DIRECT_WHOLE)
    mirage__direct_half_bytes(block, loop, out);
  return why || !out->rows ? why : mirage__direct_rows(block, loop, out);
}

bool mirage__direct_loop(const Block *block, int32_t loop, DirectPart part, DirectLoop *out) {
  return !describe(block, loop, part, out);
}

// ------------------------------------------------------------------------------------------------------------ planning

static bool is_contribution(const DirectLoop *direct, MirageNode node) {
  bool found = false;
  for (uint32_t p = 0; p < direct->num_products; p++)
    found |= direct->products[p].node.index == node.index || direct->products[p].product.index == node.index;
  for (uint32_t r = 0; r < direct->num_reductions; r++)
    found |= direct->reductions[r].node.index == node.index || direct->reductions[r].inner.index == node.index;
  return found;
}

// What else is loaded must be small, since every warp reads it for itself.
static bool load_fits(const Plan *plan, const DirectLoop *direct, const BlockLoad *load, bool *by_hand) {
  bool weight = is_weight(direct, load->tile);
  *by_hand |= weight && load->by == BY_READER;
  if (load->by == BY_READER)
    return true;
  int64_t columns = 0;
  for (uint32_t p = 0; p < direct->num_products; p++)
    columns += direct->products[p].columns;
  int64_t elements = mirage_type_elements(mirage_ugraph_type(plan->graph, load->tile));
  bool small = direct->rows || elements <= columns * direct->k; // beside rows it is read once
  return load->by == BY_OPEN && (weight || small);
}

// Nothing in the loop needs a buffer.
static bool body_fits(const Plan *plan, int32_t loop, const DirectLoop *direct, bool *by_hand) {
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
    const BlockLoad *load = mirage__block_load(block, view.first_result);
    if (block->values[view.first_result.index].shared || (load && !load_fits(plan, direct, load, by_hand)))
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

int64_t mirage__direct_columns(int64_t columns) {
  int64_t piece = 8 * lane_columns(columns);
  return piece ? ceil_div(columns, piece) * piece : columns;
}

bool mirage__direct_is_small(int64_t rows, int64_t columns, bool ragged) {
  enum { SMALL_ROWS = 8, SMALL_REGISTERS = 56, RAGGED_REGISTERS = 16 };
  int32_t registers = mirage__direct_registers(rows, columns) + (ragged ? RAGGED_REGISTERS : 0);
  return rows <= SMALL_ROWS && registers <= SMALL_REGISTERS && mirage__direct_columns(columns) == columns;
}

// Whether tiles of a weight cover more columns than it has.
static bool reaches_past(const Block *block, MirageValue weight, bool by_row) {
  const MirageNodeView load = mirage__block_def(block, weight);
  const MirageAccessAttrs *access = &load.attrs->access;
  const MirageType *tensor = mirage_ugraph_type(block->graph, load.operands[0]);
  uint32_t dim = tensor->rank - (by_row ? 2 : 1);
  uint8_t splits[MIRAGE_MAX_SPLITS];
  int64_t covered = mirage_ugraph_type(block->graph, weight)->shape[dim];
  for (uint32_t s = mirage_access_splits(access, dim, splits); s-- > 0;)
    covered *= splits[s] < 3 ? mirage__block_custom(block)->grid[splits[s]] : 1;
  return covered > mirage_access_extent(access, tensor, dim);
}

bool mirage__direct_is_ragged(const Block *block, const DirectLoop *direct) {
  bool ragged = false;
  for (uint32_t p = 0; p < direct->num_products; p++)
    ragged |= reaches_past(block, direct->products[p].weight, direct->rows);
  return ragged;
}

bool mirage__direct_fits(int64_t depth, int32_t registers, int32_t warps, const MirageTarget *target) {
  int32_t limit = target->registers_per_sm / (warps * 32);
  return depth % (STEP * warps) == 0 && registers + SPARE_REGISTERS <= (limit < 255 ? limit : 255);
}

// Warps that share the contraction, 0 when the loop stays staged.
static int32_t choose_warps(const Plan *plan, const DirectLoop *direct, bool by_hand) {
  int32_t given = mirage__team_workers(&plan->block.team), warps = given ? given : DIRECT_WARPS, registers = 0;
  if (direct->rows) // else there is no choice of lanes
    return warps >= DIRECT_WARPS || by_hand ? warps : 0;
  while (by_hand && !given && warps > 1 && direct->k % (STEP * warps))
    warps /= 2;
  for (uint32_t g = 0; g < direct->num_groups; g++)
    registers += mirage__direct_registers(direct->m, direct->groups[g].columns);
  bool enough = warps >= DIRECT_WARPS || by_hand;
  return enough && mirage__direct_fits(direct->k, registers, warps, plan->target) ? warps : 0;
}

static void land_loads(Plan *plan, int32_t loop, const DirectLoop *direct) {
  for (uint32_t i = 0; i < plan->block.num_loads; i++) {
    BlockLoad *load = &plan->block.loads[i];
    if (load->loop != loop)
      continue;
    load->by = BY_READER;
    load->once |= is_weight(direct, load->tile);
  }
}

// Takes loop `l` where it fits; else why not.
static const char *take_loop(Plan *plan, int32_t l) {
  DirectLoop direct;
  bool by_hand = false;
  const char *why = describe(&plan->block, l, DIRECT_WHOLE, &direct);
  if (why)
    return why;
  if (!body_fits(plan, l, &direct, &by_hand))
    return "it needs a buffer, or loads too much beside its weights for every warp to read";
  int32_t warps = choose_warps(plan, &direct, by_hand);
  if (direct.prepared && mirage__direct_prepared_bytes(&direct) > plan->target->shared_bytes_per_block / 2)
    return mirage__plan_say(plan, "its activations take %lld bytes of shared memory",
                            (long long)mirage__direct_prepared_bytes(&direct));
  if (!warps)
    return mirage__plan_say(plan, "%lld rows of a weight are none for each of 16 warps, or the warps lack registers",
                            (long long)direct.k);
  plan->block.loops[l].direct = true;
  mirage__team_set_warps(&plan->block.team, warps);
  land_loads(plan, l, &direct);
  return NULL;
}

MirageStatus mirage__plan_direct(Plan *plan, const char **out_why) {
  bool taken = false;
  const Team *team = &plan->block.team;
  const char *asked = team->swap ? "products are asked for with their operands swapped" : NULL;
  if (team->divide == DIVIDE_ROWS) // direct loops split the reduction
    asked = "the schedule asks for rows of its own for each warp";
  *out_why = asked && plan->block.num_loops ? asked : "there is no loop";
  if (asked)
    return MIRAGE_OK;
  plan->sides_open = mirage__team_warps(team) == 0 && !mirage__team_first(team, ACTOR_SIDE);
  for (int32_t l = 0; l < plan->block.num_loops; l++) {
    *out_why = take_loop(plan, l);
    taken |= !*out_why;
  }
  if (taken)
    *out_why = NULL;
  return MIRAGE_OK;
}

// -------------------------------------------------------------------------------------------------------- side blocks

static int32_t side_blocks(const Team *team) {
  const Actor *side = mirage__team_first(team, ACTOR_SIDE);
  return side ? side->blocks : 0;
}

// Products that are the same in all blocks go to side blocks where multiprocessors are left over: the first blocks of
// the launch share the iterations, the others meet their sums after the loop. All are resident at once.
static const char *take_side(Plan *plan, int32_t loop) {
  const MirageCustomAttrs *custom = mirage__block_custom(&plan->block);
  BlockLoop *l = &plan->block.loops[loop];
  DirectLoop main, side;
  if (!l->direct)
    return "no loop streams its weights";
  if (!mirage__direct_loop(&plan->block, loop, DIRECT_SIDE, &side))
    return "no product is the same in all blocks";
  if (!mirage__direct_loop(&plan->block, loop, DIRECT_MAIN, &main))
    return "all products are the same in all blocks";
  DirectLoop whole;
  if (mirage__direct_loop(&plan->block, loop, DIRECT_WHOLE, &whole) && whole.prepared)
    return "its activations are prepared before the loop";
  if (l->parent >= 0 || mirage__has_producer(&plan->block.team) || plan->block.num_meetings)
    return "the loop is in another one, warps have roles, or blocks meet";
  if (custom->grid[1] > 1 || custom->grid[2] > 1 || custom->cluster[0] > 1)
    return "the grid has more than one axis, or clusters";
  int64_t room = plan->target->num_sms - custom->grid[0];
  int64_t blocks = plan->sides_open ? MOST_SIDE_BLOCKS : side_blocks(&plan->block.team);
  while (plan->sides_open && blocks > 0 && (blocks > room || l->range % blocks))
    blocks--;
  if (blocks == 0)
    return plan->sides_open ? "no multiprocessor is left" : "warps are asked for, and no side blocks";
  if (blocks > room)
    return mirage__plan_say(plan, "%lld multiprocessors are left beside the grid", (long long)(room > 0 ? room : 0));
  if (l->range % blocks)
    return mirage__plan_say(plan, "they do not divide %lld iterations", (long long)l->range);
  l->side = true;
  if (plan->sides_open)
    mirage__team_add_side(&plan->block.team, (int32_t)blocks);
  return NULL;
}

MirageStatus mirage__plan_side(Plan *plan, const char **out_why) {
  *out_why = "there is no loop";
  for (int32_t l = 0; l < plan->block.num_loops && *out_why; l++)
    *out_why = take_side(plan, l);
  if (!*out_why || !side_blocks(&plan->block.team))
    return MIRAGE_OK;
  return mirage_diag_fail(plan->diag, plan->loc, MIRAGE_UNSUPPORTED, "layout: %d side blocks are not possible: %s",
                          side_blocks(&plan->block.team), *out_why);
}
