// search_build.c - the µGraph of a structure and a schedule, at the program's real shapes.
//
// One custom kernel: what stands before the loop, accumulators started by constants, the loop with its loads, what
// stands after it, maybe another loop, a store for each result. Reductions that are split over blocks:
// search_combine.c. Tails: search_build_tail.c. Casts appear here and nowhere else in the search: matmul operands meet in
// the program's 16-bit type, which a tile of a stored type is cast to where it is loaded, and what is stored takes its
// output's. A program that multiplies bytes keeps them: two loaded tiles of bytes are multiplied as they are, sums of i8
// are i32 up to the end of loops and collectives, and whatever else reads either casts it. A constant becomes a tile of
// extent 1 in every dimension of its neighbour.
#include "canonical/pad.h"
#include "search/schedule/search_builder.h"
#include "search/schedule/search_leading.h"
#include "search/schedule/search_tails.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_used(const Builder *builder, uint32_t used, uint32_t axis) {
  for (uint32_t i = 0; i < used; i++)
    if (builder->grid_axes[builder->schedule->order[i]] == axis)
      return true;
  return false;
}

// The axis of the last dimension of a result that is split at all comes first, then the one before, then the next; the
// loop's axis comes last. The schedule says which of x, y and z each becomes.
void mirage__build_grid(Builder *builder, MirageCustomAttrs *attrs) {
  const SearchStructure *structure = builder->structure;
  uint32_t used = 0;
  builder->split_axis = -1;
  for (uint32_t i = 0; i < 3; i++) {
    attrs->grid[i] = attrs->cluster[i] = 1;
    builder->grid_axes[i] = 0;
  }
  for (uint32_t i = 0; i < structure->num_outputs; i++)
    for (uint32_t d = SEARCH_RANK; d-- > 0 && used < 3;) {
      uint32_t axis =
          builder->program->axes[mirage__search_axis_of(structure->nodes[structure->outputs[i]].dims[d])].tied;
      if (!axis || axis == structure->loop_axis || builder->schedule->parts[axis] == 1 || is_used(builder, used, axis))
        continue;
      uint8_t place = builder->schedule->order[used++];
      builder->grid_axes[place] = axis;
      attrs->grid[place] = builder->schedule->parts[axis];
    }
  if (builder->schedule->split > 1 && used < 3) {
    uint8_t place = builder->schedule->order[used];
    builder->split_axis = place;
    attrs->grid[place] = builder->schedule->split;
    if (builder->schedule->combine == SEARCH_BY_CLUSTER)
      attrs->cluster[place] = builder->schedule->split;
  }
}

bool mirage__build_has_loop(const Builder *builder) {
  return builder->structure->loop_axis && builder->schedule->parts[builder->structure->loop_axis] > 1;
}

MirageAccessAttrs mirage__build_access(const Builder *builder, const SearchNode *node) {
  MirageAccessAttrs access = {.fill = MIRAGE_FILL_ZERO};
  memset(access.grid, -1, sizeof access.grid);
  memset(access.loop, -1, sizeof access.loop);
  for (uint32_t d = 0; d < node->rank; d++) {
    uint8_t dim = node->dims[SEARCH_RANK - node->rank + d];
    for (uint32_t g = 0; g < 3; g++)
      if (dim && builder->grid_axes[g] == builder->program->axes[mirage__search_axis_of(dim)].tied)
        access.grid[g] = (int8_t)d;
    bool looped = dim && dim == builder->structure->loop_axis;
    if (!looped || mirage__search_is_inside(node->stage))
      access.tiles[d] = mirage__search_rounded_tile(builder->program, builder->structure, builder->schedule, dim);
    if (!looped || !mirage__search_is_inside(node->stage))
      continue;
    if (builder->split_axis >= 0)
      access.grid[builder->split_axis] = (int8_t)d;
    if (mirage__build_has_loop(builder))
      access.loop[0] = (int8_t)d;
  }
  return access;
}

MirageType mirage__build_tensor(const Builder *builder, const SearchNode *node, MirageDType dtype) {
  int64_t shape[MIRAGE_MAX_RANK];
  for (uint32_t d = 0; d < node->rank; d++)
    shape[d] = builder->program->axes[mirage__search_axis_of(node->dims[SEARCH_RANK - node->rank + d])].extent;
  return mirage_type_tensor(dtype, node->rank, shape);
}

static MirageType scalar_like(const Builder *builder, MirageValue neighbour) {
  const MirageType *type = mirage_ugraph_type(builder->graph, neighbour);
  int64_t ones[MIRAGE_MAX_RANK] = {1, 1, 1, 1, 1, 1};
  return mirage_type_tile(MIRAGE_F32, type && type->rank ? type->rank : 1, ones);
}

// A value that arithmetic takes: an i32 becomes f32, a stored number one of the program's type.
static MirageValue number(Builder *builder, uint32_t node) {
  MirageValue value = builder->values[node];
  MirageDType dtype = value.index ? mirage_ugraph_type(builder->graph, value)->dtype : MIRAGE_F32;
  if (dtype == MIRAGE_I32)
    return mirage_ugraph_cast(builder->graph, value, MIRAGE_F32);
  return mirage_dtype_is_stored(dtype) ? mirage_ugraph_cast(builder->graph, value, builder->program->dtype) : value;
}

// A node's value as an operand next to `other`; constants are built where they are used.
static MirageValue operand(Builder *builder, uint32_t node, uint32_t other) {
  const SearchNode *source = &builder->structure->nodes[node];
  if (source->op != MIRAGE_OP_CONSTANT)
    return number(builder, node);
  MirageType type = scalar_like(builder, builder->values[other]);
  return mirage_ugraph_constant(builder->graph, type, builder->program->constants[source->a]);
}

static MirageValue matmul_operand(Builder *builder, uint32_t node) {
  MirageValue value = builder->values[node];
  const MirageType *type = value.index ? mirage_ugraph_type(builder->graph, value) : NULL;
  if (!type || type->dtype == builder->program->dtype)
    return value;
  if (!builder->casts[node].index)
    builder->casts[node] = mirage_ugraph_cast(builder->graph, value, builder->program->dtype);
  return builder->casts[node];
}

MirageDType mirage__search_stored_dtype(const SearchProgram *program, const SearchStructure *structure, uint32_t node) {
  const SearchNode *source = &structure->nodes[node];
  while (source->op == MIRAGE_OP_TRANSPOSE)
    source = &structure->nodes[source->a];
  if (!program->bytes || source->op != MIRAGE_OP_LOAD)
    return MIRAGE_F32;
  MirageDType dtype = mirage_ugraph_type(program->graph, mirage_ugraph_get_input(program->graph, source->a))->dtype;
  return dtype == MIRAGE_I8 || mirage_dtype_is_f8(dtype) ? dtype : MIRAGE_F32;
}

bool mirage__search_multiplies_bytes(const SearchProgram *program, const SearchStructure *structure, uint32_t node) {
  const SearchNode *product = &structure->nodes[node];
  if (product->op != MIRAGE_OP_MATMUL)
    return false;
  MirageDType a = mirage__search_stored_dtype(program, structure, product->a);
  MirageDType b = mirage__search_stored_dtype(program, structure, product->b);
  return (a == MIRAGE_I8 && b == MIRAGE_I8) || (mirage_dtype_is_f8(a) && mirage_dtype_is_f8(b));
}

// Whether the node's value is i32: a product of i8, or a sum of such.
static bool gives_integers(const Builder *builder, uint32_t node) {
  const SearchNode *source = &builder->structure->nodes[node];
  while (source->op == MIRAGE_OP_TRANSPOSE || (source->op == MIRAGE_OP_LOOP && source->flags == SEARCH_SUM))
    source = &builder->structure->nodes[source->a];
  node = (uint32_t)(source - builder->structure->nodes);
  return mirage__search_multiplies_bytes(builder->program, builder->structure, node) &&
         mirage__search_stored_dtype(builder->program, builder->structure, source->a) == MIRAGE_I8;
}

// The reduced dimension counted from the front of the operand's own rank.
static int32_t own_dim(const Builder *builder, const SearchNode *node) {
  return (int32_t)node->dim - (int32_t)(SEARCH_RANK - builder->structure->nodes[node->a].rank);
}

static bool is_smaller(const SearchNode *part, const SearchNode *whole) {
  for (uint32_t d = 0; d < SEARCH_RANK; d++)
    if (whole->dims[d] && !part->dims[d])
      return part->op != MIRAGE_OP_CONSTANT;
  return false;
}

bool mirage__search_reciprocals(const SearchStructure *structure, const SearchNode *node, SearchReciprocals *out) {
  if (node->op != MIRAGE_OP_DIV || node->stage != SEARCH_INSIDE || structure->nodes[node->a].op == MIRAGE_OP_CONSTANT)
    return false;
  const SearchNode *divisor = &structure->nodes[node->b];
  *out = (SearchReciprocals){{node->b, SEARCH_NO_FACTOR}};
  if (is_smaller(divisor, node))
    return true;
  *out = (SearchReciprocals){{divisor->a, divisor->b}};
  return divisor->op == MIRAGE_OP_MUL && is_smaller(&structure->nodes[divisor->a], node) &&
         is_smaller(&structure->nodes[divisor->b], node);
}

static MirageValue build_quotient(Builder *builder, const SearchReciprocals *by, MirageValue value) {
  for (uint32_t i = 0; i < 2; i++)
    if (by->factors[i] != SEARCH_NO_FACTOR)
      value = mirage_ugraph_apply(builder->graph, MIRAGE_OP_MUL, 2,
                                  (MirageValue[]){value, builder->inverses[by->factors[i]]}, NULL);
  return value;
}

static void build_inverse(Builder *builder, uint32_t node) {
  MirageValue value = number(builder, node);
  MirageValue one = mirage_ugraph_constant(builder->graph, scalar_like(builder, value), 1.0);
  builder->inverses[node] = mirage_ugraph_apply(builder->graph, MIRAGE_OP_DIV, 2, (MirageValue[]){one, value}, NULL);
}

static bool is_read(const SearchStructure *structure, uint32_t node) {
  SearchReciprocals by;
  for (uint32_t i = 0; i < structure->num_outputs; i++)
    if (structure->outputs[i] == node)
      return true;
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    const SearchNode *reader = &structure->nodes[i];
    bool leaf = reader->op == MIRAGE_OP_LOAD || reader->op == MIRAGE_OP_CONSTANT;
    bool second =
        mirage__search_is_binary(reader->op) || (reader->op == MIRAGE_OP_LOOP && reader->flags == SEARCH_RESCALE);
    bool divides = second && reader->b == node && !mirage__search_reciprocals(structure, reader, &by);
    if (!leaf && (reader->a == node || divides))
      return true;
  }
  return false;
}

static void find_inverses(Builder *builder) {
  const SearchStructure *structure = builder->structure;
  memset(builder->inverted, 0, sizeof builder->inverted);
  memset(builder->unread, 0, sizeof builder->unread);
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    SearchReciprocals by;
    if ((builder->wanted && !builder->wanted[i]) || !mirage__search_reciprocals(structure, &structure->nodes[i], &by))
      continue;
    for (uint32_t f = 0; f < 2; f++)
      if (by.factors[f] != SEARCH_NO_FACTOR)
        builder->inverted[by.factors[f]] = true;
    if (by.factors[1] != SEARCH_NO_FACTOR)
      builder->unread[structure->nodes[i].b] = !is_read(structure, structure->nodes[i].b);
  }
}

// A load fills its tail by itself, unless its type has no bottom.
static bool is_masked_by_load(const Builder *builder, const SearchNode *node) {
  if (node->op != MIRAGE_OP_LOAD || !builder->masked[node - builder->structure->nodes])
    return false;
  const MirageType *tensor = mirage_ugraph_type(
      builder->graph, mirage_ugraph_argument(builder->graph, builder->custom, builder->argument[node->a]));
  return tensor && !mirage_dtype_is_stored(tensor->dtype);
}

// Of a copy with longer rows the tiles are those of the tensor itself, not what division gives.
static MirageAccessAttrs load_access(const Builder *builder, const SearchNode *node) {
  MirageAccessAttrs access = mirage__build_access(builder, node);
  if (is_masked_by_load(builder, node))
    access.fill = MIRAGE_FILL_BOTTOM;
  if (builder->padded[node->a])
    access.tiles[node->rank - 1] = mirage__search_tile_extent(builder->program, builder->structure, builder->schedule,
                                                              node->dims[SEARCH_RANK - 1]);
  return access;
}

static MirageValue build_node(Builder *builder, const SearchNode *node) {
  MirageUGraph *graph = builder->graph;
  MirageAttrs attrs = {0};
  MirageValue operands[2];
  SearchReciprocals by;
  uint32_t index = (uint32_t)(node - builder->structure->nodes);
  if (mirage__search_reciprocals(builder->structure, node, &by))
    return build_quotient(builder, &by, number(builder, node->a));
  switch ((MirageOp)node->op) {
  case MIRAGE_OP_LOAD: {
    MirageAccessAttrs access = load_access(builder, node);
    MirageValue tile =
        mirage_ugraph_load(graph, mirage_ugraph_argument(graph, builder->custom, builder->argument[node->a]), &access);
    bool stored = tile.index && mirage_dtype_is_stored(mirage_ugraph_type(graph, tile)->dtype) &&
                  mirage__search_stored_dtype(builder->program, builder->structure, index) == MIRAGE_F32;
    return stored ? mirage_ugraph_cast(graph, tile, builder->program->dtype) : tile;
  }
  case MIRAGE_OP_MATMUL:
    operands[0] = builder->values[node->a];
    operands[1] = builder->values[node->b];
    if (!mirage__search_multiplies_bytes(builder->program, builder->structure, index)) {
      operands[0] = matmul_operand(builder, node->a);
      operands[1] = matmul_operand(builder, node->b);
    }
    attrs.matmul.transpose_a = (node->flags & SEARCH_TRANSPOSE_A) != 0;
    attrs.matmul.transpose_b = (node->flags & SEARCH_TRANSPOSE_B) != 0;
    return mirage_ugraph_apply(graph, MIRAGE_OP_MATMUL, 2, operands, &attrs);
  case MIRAGE_OP_REDUCE_SUM:
  case MIRAGE_OP_REDUCE_MAX:
    attrs.reduce.dim = own_dim(builder, node);
    attrs.reduce.extent = 1;
    operands[0] = number(builder, node->a);
    return mirage_ugraph_apply(graph, (MirageOp)node->op, 1, operands, &attrs);
  case MIRAGE_OP_TRANSPOSE:
    for (int32_t d = 0; d < node->rank; d++)
      attrs.perm.perm[d] = d + 2 < node->rank ? d : 2 * node->rank - 3 - d;
    return mirage_ugraph_apply(graph, MIRAGE_OP_TRANSPOSE, 1, &builder->values[node->a], &attrs);
  default:
    operands[0] = operand(builder, node->a, node->b);
    if (mirage_op_info((MirageOp)node->op)->kind == MIRAGE_KIND_UNARY)
      return mirage_ugraph_apply(graph, (MirageOp)node->op, 1, operands, NULL);
    operands[1] = operand(builder, node->b, node->a);
    return mirage_ugraph_apply(graph, (MirageOp)node->op, 2, operands, NULL);
  }
}

// ------------------------------------------------------------------------------------- products before the loop

static int64_t tile_of(const Builder *builder, uint8_t dim) {
  return mirage__search_tile_extent(builder->program, builder->structure, builder->schedule, dim);
}

static MirageType tile_like(const Builder *builder, const SearchNode *node, MirageDType dtype) {
  int64_t shape[MIRAGE_MAX_RANK];
  for (uint32_t d = 0; d < node->rank; d++)
    shape[d] = tile_of(builder, node->dims[SEARCH_RANK - node->rank + d]);
  return mirage_type_tile(dtype, node->rank, shape);
}

// The node is a product that leads to the loop's, or a load of one.
static bool is_leading(const Builder *builder, uint32_t node, bool load) {
  const SearchProgram *program = builder->program;
  return load ? mirage__search_feeds_leading(program, builder->structure, builder->schedule, node)
              : mirage__search_is_leading(program, builder->structure, builder->schedule, node);
}

// Its tiles are as deep as those of the loop behind, if that divides the contraction; if not, as deep as it is, in whole instructions.
static MirageValue build_leading(Builder *builder, const SearchNode *product) {
  enum { INSTRUCTION_DEPTH = 16 };
  const SearchStructure *structure = builder->structure;
  const SearchNode *loads[] = {&structure->nodes[product->a], &structure->nodes[product->b]};
  bool transposed[] = {product->flags & SEARCH_TRANSPOSE_A, product->flags & SEARCH_TRANSPOSE_B};
  uint32_t depth[] = {loads[0]->rank - (transposed[0] ? 2 : 1), loads[1]->rank - (transposed[1] ? 1 : 2)};
  int64_t all = tile_of(builder, loads[0]->dims[SEARCH_RANK - loads[0]->rank + depth[0]]);
  int64_t deep = tile_of(builder, structure->loop_axis);
  MirageCarry carry = {.combine = MIRAGE_COMBINE_SUM};
  MirageLoopAttrs attrs = {.range = all % deep ? 1 : all / deep, .num_carries = 1, .carries = &carry};
  MirageValue zeros = mirage_ugraph_constant(builder->graph, tile_like(builder, product, MIRAGE_F32), 0.0);
  MirageNode loop = mirage_ugraph_open_loop(builder->graph, 1, &zeros, &attrs);
  if (!loop.index)
    return (MirageValue){0};
  for (uint32_t i = 0; i < 2; i++) {
    MirageAccessAttrs access = load_access(builder, loads[i]);
    access.loop[0] = (int8_t)depth[i];
    if (all % INSTRUCTION_DEPTH && attrs.range == 1)
      access.tiles[depth[i]] = (all / INSTRUCTION_DEPTH + 1) * INSTRUCTION_DEPTH;
    MirageValue tensor = mirage_ugraph_argument(builder->graph, builder->custom, builder->argument[loads[i]->a]);
    builder->values[loads[i] - structure->nodes] = mirage_ugraph_load(builder->graph, tensor, &access);
  }
  MirageValue value = build_node(builder, product);
  mirage_ugraph_close(builder->graph, 1, &value);
  return mirage_ugraph_result(builder->graph, loop, 0);
}

// ---------------------------------------------------------------------------------------------------------- stages

// Where blocks take their part at once, what a later loop would compute again is there already.
static MirageValue known_value(const Builder *builder, uint32_t node) {
  const SearchStructure *structure = builder->structure;
  for (uint32_t i = 0; i < node && structure->nodes[node].stage > SEARCH_AFTER; i++)
    if (builder->values[i].index && !builder->masked[i] && structure->nodes[i].op != MIRAGE_OP_CONSTANT &&
        mirage__search_same_value(structure, i, node))
      return builder->values[i];
  return (MirageValue){0};
}

static void build_stage(Builder *builder, uint32_t stage) {
  for (uint32_t i = 0; i < builder->structure->num_nodes; i++) {
    const SearchNode *node = &builder->structure->nodes[i];
    if (node->stage != stage || node->op == MIRAGE_OP_CONSTANT || node->op == MIRAGE_OP_LOOP ||
        (builder->wanted && !builder->wanted[i]) || builder->unread[i] || is_leading(builder, i, true))
      continue;
    builder->values[i] = mirage__build_has_loop(builder) ? (MirageValue){0} : known_value(builder, i);
    if (builder->values[i].index)
      continue;
    if (is_leading(builder, i, false))
      builder->values[i] = build_leading(builder, node);
    else if (!mirage__search_is_looped(node) || mirage__build_has_loop(builder))
      builder->values[i] = build_node(builder, node);
    else if (node->op == MIRAGE_OP_MAX)
      builder->values[i] = builder->values[node->b]; // the running maximum of one step is the step's
    if (builder->masked[i] && !is_masked_by_load(builder, node))
      builder->values[i] = mirage__build_masked(builder, i);
    if (builder->inverted[i])
      build_inverse(builder, i);
  }
}

// What an accumulator starts from.
static MirageValue initial_value(Builder *builder, const SearchNode *node) {
  MirageDType dtype = node->flags == SEARCH_SUM && gives_integers(builder, node->a) ? MIRAGE_I32 : MIRAGE_F32;
  MirageAttrs attrs = {.shape = {.type = tile_like(builder, node, dtype)}};
  if (node->flags == SEARCH_MAXIMUM)
    return mirage_ugraph_apply(builder->graph, MIRAGE_OP_BOTTOM, 0, NULL, &attrs);
  return mirage_ugraph_constant(builder->graph, attrs.shape.type, 0.0);
}

// What an accumulator takes.
static MirageValue contribution(Builder *builder, const SearchNode *accumulator) {
  MirageValue value = builder->values[accumulator->a];
  MirageDType dtype = value.index ? mirage_ugraph_type(builder->graph, value)->dtype : MIRAGE_F32;
  bool narrow = dtype != MIRAGE_F32 && (dtype != MIRAGE_I32 || accumulator->flags != SEARCH_SUM);
  return narrow ? mirage_ugraph_cast(builder->graph, value, MIRAGE_F32) : value;
}

static void store(Builder *builder, uint32_t output) {
  uint32_t stored = builder->structure->outputs[output];
  MirageAccessAttrs access = mirage__build_access(builder, &builder->structure->nodes[stored]);
  MirageValue to = mirage__build_output(builder, output), value = builder->values[stored];
  if (to.index && mirage_ugraph_type(builder->graph, to)->dtype != MIRAGE_I32)
    value = number(builder, stored);
  mirage_ugraph_store(builder->graph, value, to, &access);
}

// Results of which the loop of this stage stores a tile in each iteration.
static void store_tiles(Builder *builder, uint32_t stage) {
  for (uint32_t i = 0; i < builder->structure->num_outputs; i++)
    if (builder->structure->nodes[builder->structure->outputs[i]].stage == stage)
      store(builder, i);
}

// Inside the loop an accumulator's node is what earlier iterations left, afterwards the result.
static void build_loop(Builder *builder, uint32_t stage) {
  static const MirageCombine combines[] = {[SEARCH_SUM] = MIRAGE_COMBINE_SUM,
                                           [SEARCH_MAXIMUM] = MIRAGE_COMBINE_MAX,
                                           [SEARCH_RESCALE] = MIRAGE_COMBINE_RESCALE};
  const SearchStructure *structure = builder->structure;
  MirageUGraph *graph = builder->graph;
  MirageCarry carries[SEARCH_MAX_NODES];
  MirageValue values[2 * SEARCH_MAX_NODES]; // initial ones; then contributions, then factors
  uint32_t sources[SEARCH_MAX_NODES], count = 0;
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    if (structure->nodes[i].op != MIRAGE_OP_LOOP || structure->nodes[i].stage != stage + 1)
      continue;
    values[count] = initial_value(builder, &structure->nodes[i]);
    carries[count] = (MirageCarry){.combine = combines[structure->nodes[i].flags]};
    sources[count++] = i;
  }
  MirageLoopAttrs attrs = {
      .range = builder->schedule->parts[structure->loop_axis], .num_carries = count, .carries = carries};
  MirageNode loop = mirage_ugraph_open_loop(graph, count, values, &attrs);
  if (!loop.index)
    return;
  for (uint32_t i = 0; i < count; i++)
    builder->values[sources[i]] = mirage_ugraph_argument(graph, loop, i);
  build_stage(builder, stage);
  store_tiles(builder, stage);
  uint32_t num_values = count;
  for (uint32_t i = 0; i < count; i++) {
    const SearchNode *node = &structure->nodes[sources[i]];
    values[i] = contribution(builder, node);
    if (node->flags == SEARCH_RESCALE)
      values[num_values++] = number(builder, node->b);
  }
  mirage_ugraph_close(graph, num_values, values);
  for (uint32_t i = 0; i < count; i++)
    builder->values[sources[i]] = mirage_ugraph_result(graph, loop, i);
  memset(builder->casts, 0, sizeof builder->casts); // those made inside the loop must not be used after it
}

// The block's part at once: each accumulator takes what the one step contributes.
static void build_step(Builder *builder, uint32_t stage) {
  build_stage(builder, stage);
  store_tiles(builder, stage);
  for (uint32_t i = 0; i < builder->structure->num_nodes; i++)
    if (builder->structure->nodes[i].op == MIRAGE_OP_LOOP && builder->structure->nodes[i].stage == stage + 1)
      builder->values[i] = contribution(builder, &builder->structure->nodes[i]);
}

void mirage__build_before(Builder *builder) { build_stage(builder, SEARCH_BEFORE); }

void mirage__build_walk(Builder *builder, uint32_t stage) {
  build_stage(builder, stage - 1);
  if (mirage__build_has_loop(builder))
    build_loop(builder, stage);
  else
    build_step(builder, stage);
}

void mirage__build_rest(Builder *builder) {
  if (builder->structure->loop_axis)
    build_stage(builder, 2 * builder->structure->num_loops);
  for (uint32_t i = 0; i < builder->structure->num_outputs; i++)
    if (!mirage__search_is_inside(builder->structure->nodes[builder->structure->outputs[i]].stage))
      store(builder, i);
}

// ---------------------------------------------------------------------------------------------- kernels

static uint32_t used_inputs(Builder *builder, MirageValue *out_operands) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(builder->program->graph); i++)
    for (uint32_t n = 0; n < builder->structure->num_nodes; n++)
      if (builder->structure->nodes[n].op == MIRAGE_OP_LOAD && builder->structure->nodes[n].a == i &&
          (!builder->wanted || builder->wanted[n])) {
        builder->argument[i] = count;
        out_operands[count++] = builder->inputs[i];
        break;
      }
  return count;
}

bool mirage__build_open(Builder *builder, uint32_t num_operands, const MirageValue *operands, uint32_t num_results,
                        const MirageType *results, const MirageCustomAttrs *attrs) {
  MirageValue all[64 + SEARCH_MAX_NODES];
  builder->first_operand = used_inputs(builder, all);
  builder->first_output = builder->first_operand + num_operands;
  if (num_operands)
    memcpy(all + builder->first_operand, operands, num_operands * sizeof *operands);
  memset(builder->casts, 0, sizeof builder->casts);
  find_inverses(builder);
  MirageCustomAttrs with_schedule = *attrs;
  MirageSchedule schedule = {.warps = (int32_t)(builder->schedule->threads / 32), .swap = builder->schedule->swapped};
  if (schedule.warps || schedule.swap)
    with_schedule.schedule = &schedule;
  builder->custom =
      mirage_ugraph_open_custom(builder->graph, builder->first_output, all, num_results, results, &with_schedule);
  return builder->custom.index != 0;
}

MirageValue mirage__build_operand(const Builder *builder, uint32_t index) {
  return mirage_ugraph_argument(builder->graph, builder->custom, builder->first_operand + index);
}

MirageValue mirage__build_output(const Builder *builder, uint32_t index) {
  return mirage_ugraph_argument(builder->graph, builder->custom, builder->first_output + index);
}

static void build_one_kernel(Builder *builder, uint32_t num_outputs, const MirageType *outputs) {
  MirageCustomAttrs attrs = {0};
  mirage__build_grid(builder, &attrs);
  if (!mirage__build_open(builder, 0, NULL, num_outputs, outputs, &attrs))
    return;
  if (!builder->structure->loop_axis)
    mirage__build_before(builder);
  for (uint32_t loop = 0; loop < builder->structure->num_loops; loop++) {
    mirage__build_walk(builder, SEARCH_INSIDE + 2 * loop);
    if (builder->schedule->split > 1)
      mirage__build_collectives(builder, SEARCH_AFTER + 2 * loop);
  }
  mirage__build_rest(builder);
  mirage_ugraph_close(builder->graph, 0, NULL);
}

static void build_inputs(Builder *builder) {
  const MirageUGraph *source = builder->program->graph;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(source); i++)
    builder->inputs[i] =
        mirage_ugraph_input(builder->graph, *mirage_ugraph_type(source, mirage_ugraph_get_input(source, i)));
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(source); i++)
    if (builder->padded[i])
      builder->inputs[i] = mirage__pad_rows(builder->graph, builder->inputs[i]);
}

static void build_kernels(Builder *builder) {
  const MirageUGraph *source = builder->program->graph;
  build_inputs(builder);
  uint32_t count = mirage_ugraph_num_outputs(source);
  MirageType outputs[SEARCH_MAX_GOALS];
  MirageValue results[SEARCH_MAX_GOALS] = {{0}};
  for (uint32_t i = 0; i < count; i++)
    outputs[i] = *mirage_ugraph_type(source, mirage_ugraph_get_output(source, i));
  if (builder->schedule->split > 1 && builder->schedule->combine == SEARCH_BY_KERNEL)
    mirage__build_two_kernels(builder, count, outputs);
  else
    build_one_kernel(builder, count, outputs);
  for (uint32_t i = 0; i < count && builder->custom.index; i++)
    results[i] = mirage_ugraph_result(builder->graph, builder->custom, i);
  mirage_ugraph_return(builder->graph, count, results);
}

static bool is_read_by_product(const SearchStructure *structure, uint32_t load) {
  for (uint32_t i = 0; i < structure->num_nodes; i++)
    if (structure->nodes[i].op == MIRAGE_OP_MATMUL && (structure->nodes[i].a == load || structure->nodes[i].b == load))
      return true;
  return false;
}

static bool find_padded(const SearchProgram *program, const SearchStructure *structure, bool *out_padded) {
  bool found = false;
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    const SearchNode *node = &structure->nodes[i];
    if (node->op != MIRAGE_OP_LOAD || !is_read_by_product(structure, i))
      continue;
    const MirageType *type = mirage_ugraph_type(program->graph, mirage_ugraph_get_input(program->graph, node->a));
    out_padded[node->a] = mirage__may_pad(type) && node->rank == type->rank;
    found |= out_padded[node->a];
  }
  return found;
}

bool mirage__search_may_pad(const SearchProgram *program, const SearchStructure *structure) {
  bool padded[64] = {0};
  return find_padded(program, structure, padded);
}

MirageStatus mirage__search_build(const SearchProgram *program, const SearchCandidate *candidate, uint32_t index,
                                  const MirageDiag *diag, MirageUGraph **out_graph) {
  const char *source = mirage_ugraph_get_meta(program->source)->name;
  char name[256];
  snprintf(name, sizeof name, "%s_%" PRIu32, source ? source : "program", index);
  *out_graph = NULL;
  Builder builder = {.program = program, .structure = candidate->structure, .schedule = &candidate->schedule};
  if (!mirage__search_is_ragged(program, candidate->structure, &candidate->schedule) ||
      !mirage__search_masks(candidate->structure, builder.masked))
    memset(builder.masked, 0, sizeof builder.masked);
  if (candidate->padded)
    find_padded(program, candidate->structure, builder.padded);
  builder.graph = mirage_ugraph_create(NULL, name, diag);
  if (!builder.graph)
    return MIRAGE_NO_MEMORY;
  build_kernels(&builder);
  MirageStatus status = mirage_ugraph_finish(builder.graph);
  if (status != MIRAGE_OK) {
    mirage_ugraph_destroy(builder.graph);
    return status;
  }
  if (source)
    mirage_ugraph_meta(builder.graph)->source = mirage_ugraph_intern_string(builder.graph, source);
  *out_graph = builder.graph;
  return MIRAGE_OK;
}
