// search_program.c - reads a program for the search: expands it, finds its axes, and refuses what cannot be searched.
//
// Axes. Two dimensions walk the same axis when an operator steps through them together: equal positions of element-wise
// operands, the contracted dimensions of a matmul, the kept dimensions of a reduction. Union-find over all dimensions
// of all values; each class is a program axis. Dimensions of extent 1 walk none (axis 0).
//
// Axes of different results that never meet in one value are tied: the blocks that split one split the other.
//
// Example: x[M,K] @ w[K,N] * g[N] has the axes M (rows of x), K (contracted), N (columns of w, of the product, g).
#include "search/program/search_program.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TIED_RATIO = 8 };

typedef struct AxisFinder {
  SearchProgram *program;
  const MirageUGraph *graph;
  const MirageDiag *diag;
  uint32_t *parent; // by slot = value * SEARCH_RANK + dimension
  bool *reduced;    // by slot
} AxisFinder;

static uint32_t slot_of(MirageValue value, uint32_t dim) { return value.index * SEARCH_RANK + dim; }

static uint32_t root_of(AxisFinder *finder, uint32_t slot) {
  while (finder->parent[slot] != slot)
    slot = finder->parent[slot] = finder->parent[finder->parent[slot]];
  return slot;
}

static void unite(AxisFinder *finder, MirageValue a, uint32_t dim_a, MirageValue b, uint32_t dim_b) {
  const MirageType *x = mirage_ugraph_type(finder->graph, a), *y = mirage_ugraph_type(finder->graph, b);
  if (x->shape[dim_a] != y->shape[dim_b] || x->shape[dim_a] == 1)
    return; // stretched, or no axis
  uint32_t i = root_of(finder, slot_of(a, dim_a)), j = root_of(finder, slot_of(b, dim_b));
  finder->parent[i > j ? i : j] = i > j ? j : i;
}

// Right-aligned: the last `num` dimensions are left out on both sides.
static void unite_aligned(AxisFinder *finder, MirageValue a, MirageValue b, uint32_t skip_last) {
  uint32_t rank_a = mirage_ugraph_type(finder->graph, a)->rank, rank_b = mirage_ugraph_type(finder->graph, b)->rank;
  for (uint32_t i = skip_last + 1; i <= rank_a && i <= rank_b; i++)
    unite(finder, a, rank_a - i, b, rank_b - i);
}

static void mark_reduced(AxisFinder *finder, MirageValue value, uint32_t dim) {
  finder->reduced[slot_of(value, dim)] = true;
}

static MirageStatus unsupported(const AxisFinder *finder, const MirageNodeView *node, const char *why) {
  return mirage_diag_fail(finder->diag, node->loc, MIRAGE_UNSUPPORTED, "%s: the search cannot treat it: %s",
                          mirage_op_info(node->op)->mnemonic, why);
}

static MirageStatus visit_matmul(AxisFinder *finder, const MirageNodeView *node, MirageValue result) {
  MirageValue a = node->operands[0], b = node->operands[1];
  uint32_t rank_a = mirage_ugraph_type(finder->graph, a)->rank, rank_b = mirage_ugraph_type(finder->graph, b)->rank;
  uint32_t rank = mirage_ugraph_type(finder->graph, result)->rank;
  if (rank_a < 2 || rank_b < 2 || rank < 2)
    return unsupported(finder, node, "an operand is a vector");
  bool ta = node->attrs && node->attrs->matmul.transpose_a, tb = node->attrs && node->attrs->matmul.transpose_b;
  finder->program->transposes |= ta || tb;
  MirageNode weight = mirage_ugraph_def(finder->graph, b);
  MirageOp of = weight.index ? mirage_ugraph_node(finder->graph, weight).op : MIRAGE_OP_NONE;
  finder->program->turned |=
      tb && node->attrs->matmul.wide && of != MIRAGE_OP_NONE && mirage_op_info(of)->kind == MIRAGE_KIND_BINARY;
  uint32_t row_a = rank_a - (ta ? 1 : 2), inner_a = rank_a - (ta ? 2 : 1);
  uint32_t inner_b = rank_b - (tb ? 1 : 2), column_b = rank_b - (tb ? 2 : 1);
  unite(finder, a, inner_a, b, inner_b);
  unite(finder, a, row_a, result, rank - 2);
  unite(finder, b, column_b, result, rank - 1);
  unite_aligned(finder, a, b, 2);
  unite_aligned(finder, a, result, 2);
  unite_aligned(finder, b, result, 2);
  mark_reduced(finder, a, inner_a);
  mark_reduced(finder, b, inner_b);
  return MIRAGE_OK;
}

static MirageStatus visit_reduce(AxisFinder *finder, const MirageNodeView *node, MirageValue result) {
  uint32_t rank = mirage_ugraph_type(finder->graph, result)->rank, dim = (uint32_t)node->attrs->reduce.dim;
  if (node->attrs->reduce.extent != 1)
    return unsupported(finder, node, "it keeps more than one element of the dimension");
  for (uint32_t i = 0; i < rank; i++)
    if (i != dim)
      unite(finder, node->operands[0], i, result, i);
  mark_reduced(finder, node->operands[0], dim);
  return MIRAGE_OK;
}

static MirageStatus visit_transpose(AxisFinder *finder, const MirageNodeView *node, MirageValue result) {
  uint32_t rank = mirage_ugraph_type(finder->graph, result)->rank;
  const int32_t *perm = node->attrs->perm.perm;
  for (uint32_t i = 0; i < rank; i++) {
    uint32_t swapped = i + 2 < rank ? i : 2 * rank - 3 - i; // only the last two may change places
    if ((uint32_t)perm[i] != i && (uint32_t)perm[i] != swapped)
      return unsupported(finder, node, "it moves more than the last two dimensions");
    unite(finder, node->operands[0], (uint32_t)perm[i], result, i);
  }
  finder->program->transposes = finder->program->swaps_tiles = true;
  return MIRAGE_OK;
}

static MirageStatus add_constant(AxisFinder *finder, const MirageNodeView *node) {
  SearchProgram *program = finder->program;
  double value = node->attrs->constant.value;
  for (uint32_t i = 0; i < program->num_constants; i++)
    if (program->constants[i] == value)
      return MIRAGE_OK;
  if (program->num_constants == SEARCH_MAX_CONSTANTS)
    return unsupported(finder, node, "the program has more than 16 different constants");
  program->constants[program->num_constants++] = value;
  return MIRAGE_OK;
}

static MirageStatus visit(AxisFinder *finder, MirageNode id) {
  MirageNodeView node = mirage_ugraph_node(finder->graph, id);
  const MirageOpInfo *info = mirage_op_info(node.op);
  MirageValue result = node.first_result;
  finder->program->uses[node.op] = true;
  if (mirage_op_typing(node.op) != MIRAGE_TYPING_NUMBERS)
    return unsupported(finder, &node, "predicates of what is computed are not searched");
  switch (info->kind) {
  case MIRAGE_KIND_UNARY:
  case MIRAGE_KIND_BINARY:
    finder->program->num_elementwise++;
    for (uint32_t i = 0; i < node.num_operands; i++) {
      unite_aligned(finder, node.operands[i], result, 0);
      unite_aligned(finder, node.operands[0], node.operands[i], 0);
    }
    return MIRAGE_OK;
  case MIRAGE_KIND_CAST:
    unite_aligned(finder, node.operands[0], result, 0);
    return MIRAGE_OK;
  case MIRAGE_KIND_MATMUL:
    return visit_matmul(finder, &node, result);
  case MIRAGE_KIND_REDUCE:
    return visit_reduce(finder, &node, result);
  case MIRAGE_KIND_CONSTANT:
    return add_constant(finder, &node);
  case MIRAGE_KIND_TERMINATOR:
    return MIRAGE_OK;
  case MIRAGE_KIND_SHAPE:
    if (node.op == MIRAGE_OP_TRANSPOSE)
      return visit_transpose(finder, &node, result);
    if (node.op == MIRAGE_OP_BROADCAST) {
      unite_aligned(finder, node.operands[0], result, 0);
      return MIRAGE_OK;
    }
    return unsupported(finder, &node, "it changes the shape in a way that no axis follows");
  default:
    return unsupported(finder, &node, "only programs of elementary operators are searched");
  }
}

// Numbers the classes in order of their first slot.
static MirageStatus number_axes(AxisFinder *finder) {
  SearchProgram *program = finder->program;
  uint32_t num_values = mirage_ugraph_num_values(finder->graph);
  uint8_t *axis_of_root = calloc(((size_t)num_values + 1) * SEARCH_RANK, 1);
  if (!axis_of_root)
    return MIRAGE_NO_MEMORY;
  MirageStatus status = MIRAGE_OK;
  program->num_axes = 1;
  program->axes[0] = (SearchAxis){.extent = 1, .repeated = true};
  for (uint32_t v = 1; v <= num_values && status == MIRAGE_OK; v++) {
    MirageValue value = {v};
    const MirageType *type = mirage_ugraph_type(finder->graph, value);
    for (uint32_t d = 0; d < type->rank && status == MIRAGE_OK; d++) {
      if (type->shape[d] == 1)
        continue;
      uint32_t root = root_of(finder, slot_of(value, d));
      if (!axis_of_root[root]) {
        if (program->num_axes == SEARCH_MAX_AXES) {
          status = mirage_diag_fail(finder->diag, NULL, MIRAGE_UNSUPPORTED, "search: the program has more than %d axes",
                                    SEARCH_MAX_AXES - 1);
          break;
        }
        program->axes[program->num_axes] =
            (SearchAxis){.extent = type->shape[d], .batch = true, .tied = (uint8_t)program->num_axes};
        axis_of_root[root] = (uint8_t)program->num_axes++;
      }
      uint8_t axis = axis_of_root[root];
      for (uint32_t e = 0; e < d; e++)
        if (program->dims[v][e] == axis)
          program->axes[axis].repeated = true;
      program->dims[v][d] = axis;
      if (finder->reduced[slot_of(value, d)])
        program->axes[axis].reduced = true;
      if (d + 2 >= type->rank)
        program->axes[axis].batch = false;
    }
  }
  free(axis_of_root);
  return status;
}

// Whether some value has both axes, or an axis tied to the first and the second.
static bool meet(const SearchProgram *program, uint32_t a, uint32_t b) {
  for (uint32_t v = 1; v <= mirage_ugraph_num_values(program->graph); v++) {
    bool has_a = false, has_b = false;
    for (uint32_t d = 0; d < mirage_ugraph_type(program->graph, (MirageValue){v})->rank; d++) {
      has_a |= program->axes[program->dims[v][d]].tied == a;
      has_b |= program->dims[v][d] == b;
    }
    if (has_a && has_b)
      return true;
  }
  return false;
}

// Axes of different results, x a and x b: a block takes a part of either, lest all blocks that split one compute all of
// the other. Extents may differ, within reason, since parts are counted, not elements.
static void tie_axes(SearchProgram *program) {
  for (uint32_t b = 1; b < program->num_axes; b++)
    for (uint32_t a = 1; a < b && program->axes[b].tied == b; a++) {
      const SearchAxis *x = &program->axes[a], *y = &program->axes[b];
      bool alike = x->extent <= MAX_TIED_RATIO * y->extent && y->extent <= MAX_TIED_RATIO * x->extent;
      if (x->tied == a && search_axis_is_parallel(x) && search_axis_is_parallel(y) && alike && !meet(program, a, b))
        program->axes[b].tied = (uint8_t)a;
    }
}

static bool stands_as_results(const SearchProgram *program, MirageValue value) {
  uint32_t rank = mirage_ugraph_type(program->graph, value)->rank;
  for (uint32_t d = 0; d < rank; d++) {
    uint8_t axis = program->dims[value.index][d];
    if (search_axis_is_parallel(&program->axes[axis]) && !(program->places[axis] >> (rank - 1 - d) & 1))
      return false;
  }
  return true;
}

static MirageStatus find_places(SearchProgram *program) {
  const MirageUGraph *graph = program->graph;
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(graph); i++) {
    MirageValue output = mirage_ugraph_get_output(graph, i);
    uint32_t rank = mirage_ugraph_type(graph, output)->rank;
    for (uint32_t d = 0; d < rank; d++)
      program->places[program->dims[output.index][d]] |= (uint8_t)(1u << (rank - 1 - d));
  }
  bool *summed = calloc((size_t)mirage_ugraph_num_values(graph) + 1, sizeof *summed);
  if (!summed)
    return MIRAGE_NO_MEMORY;
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  program->upright = !program->swaps_tiles;
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    MirageOpKind kind = mirage_op_info(node.op)->kind;
    bool sum = kind == MIRAGE_KIND_MATMUL || kind == MIRAGE_KIND_REDUCE;
    for (uint32_t k = 0; k < node.num_operands; k++)
      sum |= summed[node.operands[k].index];
    for (uint32_t r = 0; r < node.num_results; r++) {
      MirageValue result = {node.first_result.index + r};
      summed[result.index] = sum;
      program->upright &= !sum || stands_as_results(program, result);
    }
  }
  free(summed);
  return MIRAGE_OK;
}

static bool multiplies_one_row(const MirageUGraph *graph) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    const MirageType *type = mirage_ugraph_type(graph, node.first_result);
    if (node.op == MIRAGE_OP_MATMUL && type->shape[type->rank - 2] == 1)
      return true;
  }
  return false;
}

static void add_one_row(SearchProgram *program) {
  uint8_t axis = (uint8_t)program->num_axes;
  if (axis == SEARCH_MAX_AXES || !multiplies_one_row(program->graph))
    return;
  program->axes[axis] = (SearchAxis){.extent = 1, .output = true, .tied = axis};
  program->one_row = program->num_axes++;
}

static MirageStatus find_axes(AxisFinder *finder) {
  MirageRegionView body = mirage_ugraph_region(finder->graph, mirage_ugraph_body(finder->graph));
  for (uint32_t i = 0; i < body.num_nodes; i++)
    MIRAGE_TRY(visit(finder, body.nodes[i]));
  MIRAGE_TRY(number_axes(finder));
  SearchProgram *program = finder->program;
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(finder->graph); i++) {
    MirageValue output = mirage_ugraph_get_output(finder->graph, i);
    for (uint32_t d = 0; d < mirage_ugraph_type(finder->graph, output)->rank; d++)
      program->axes[program->dims[output.index][d]].output = true;
  }
  tie_axes(program);
  add_one_row(program);
  return find_places(program);
}

static bool multiplies_bytes(const MirageUGraph *graph) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    if (node.op == MIRAGE_OP_MATMUL && mirage_dtype_is_stored(mirage_ugraph_type(graph, node.operands[0])->dtype))
      return true;
  }
  return false;
}

// The 16-bit type in which some product takes its operands; MIRAGE_F32 when none does.
static MirageDType product_dtype(const MirageUGraph *graph) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    MirageDType dtype = node.op == MIRAGE_OP_MATMUL ? mirage_ugraph_type(graph, node.operands[0])->dtype : MIRAGE_F32;
    if (mirage_dtype_bits(dtype) == 16)
      return dtype;
  }
  return MIRAGE_F32;
}

// Matmul operands meet in the 16-bit type of the program's products, or, where these are of f32, of its first 16-bit
// input: f32 operands are often only widened. A program of f32 inputs and products stays in f32. Bytes that meet something
// else than bytes do so in f16, which every i8 and f8 is.
static MirageDType operand_dtype(const MirageUGraph *graph) {
  MirageDType of_products = product_dtype(graph);
  if (of_products != MIRAGE_F32)
    return of_products;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(graph); i++) {
    MirageDType dtype = mirage_ugraph_type(graph, mirage_ugraph_get_input(graph, i))->dtype;
    if (dtype == MIRAGE_F16 || dtype == MIRAGE_BF16)
      return dtype;
  }
  return multiplies_bytes(graph) ? MIRAGE_F16 : MIRAGE_F32;
}

MirageStatus mirage__search_program_init(SearchProgram *program, const MirageUGraph *source, const MirageDiag *diag) {
  *program = (SearchProgram){.source = source};
  MIRAGE_TRY(mirage_ugraph_expand(source, diag, &program->graph));
  const MirageUGraph *graph = program->graph;
  MirageStatus status = MIRAGE_OK;
  if (mirage_ugraph_num_outputs(graph) > SEARCH_MAX_GOALS)
    status = mirage_diag_fail(diag, NULL, MIRAGE_UNSUPPORTED,
                              "search: programs of at most %d results are searched, this one has %u", SEARCH_MAX_GOALS,
                              mirage_ugraph_num_outputs(graph));
  else if (mirage_ugraph_num_inputs(graph) > 64)
    status =
        mirage_diag_fail(diag, NULL, MIRAGE_UNSUPPORTED, "search: at most 64 inputs are searched, this program has %u",
                         mirage_ugraph_num_inputs(graph));
  size_t num_slots = ((size_t)mirage_ugraph_num_values(graph) + 1) * SEARCH_RANK;
  AxisFinder finder = {.program = program, .graph = graph, .diag = diag};
  program->dims = calloc((size_t)mirage_ugraph_num_values(graph) + 1, sizeof *program->dims);
  program->dropped = calloc((size_t)mirage_ugraph_num_values(graph) + 1, sizeof *program->dropped);
  program->shift = calloc((size_t)mirage_ugraph_num_values(graph) + 1, sizeof *program->shift);
  finder.parent = calloc(num_slots, sizeof *finder.parent);
  finder.reduced = calloc(num_slots, sizeof *finder.reduced);
  if (!program->dims || !program->dropped || !program->shift || !finder.parent || !finder.reduced)
    status = MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; status == MIRAGE_OK && i < num_slots; i++)
    finder.parent[i] = i;
  if (status == MIRAGE_OK)
    status = find_axes(&finder);
  free(finder.parent);
  free(finder.reduced);
  program->dtype = operand_dtype(graph);
  program->bytes = multiplies_bytes(graph);
  if (status != MIRAGE_OK)
    mirage__search_program_deinit(program);
  return status;
}

void mirage__search_program_deinit(SearchProgram *program) {
  mirage_ugraph_destroy(program->graph);
  free(program->dims);
  free(program->dropped);
  free(program->shift);
  *program = (SearchProgram){0};
}
