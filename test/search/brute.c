// brute.c - the enumerator: maps, then operators in canonical order, depth first.
//
// Canonical order [Mirage 4.1]: an operator's rank is (its later operand, the other one, operator); a graph is built
// in increasing rank, so each is met once. The only bounds are that every value must be used - an operator makes the
// number of unused values smaller by one at most, an accumulation by none - and that the last operator gives the
// output's shape, after the loop if there is one.
#include "brute.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 512 }; // of one tile, over all blocks and iterations

typedef struct Brute {
  const BruteProgram *program;
  BruteLimits limits;
  BruteGraph graph;
  uint32_t unused, unused_inside; // the latter inside the loop
  bool uses[MIRAGE_NUM_OPS];
  uint64_t visited;
  double values[BRUTE_NODES][MOST_VALUES];
  void (*found)(void *user, const BruteGraph *graph);
  void *user;
} Brute;

// ------------------------------------------------------------------------------------------------ keys

static uint64_t mix(uint64_t h, uint64_t value) {
  h = (h ^ value) * 0xff51afd7ed558ccdull;
  return h ^ h >> 32;
}

// The lowest two bits say what a key is: of a sum, of a product, or of anything else. The rest of a sum's key is the
// sum of its terms' keys, so that every grouping has the same; and so for products.
enum { KEY_OTHER, KEY_SUM, KEY_PRODUCT, KEY_KINDS = 4 };

static uint64_t key_of_terms(uint64_t key, uint64_t kind) {
  return key % KEY_KINDS == kind ? key / KEY_KINDS : mix(4, key) / KEY_KINDS;
}

static uint64_t other_key(uint64_t hash) { return hash / KEY_KINDS * KEY_KINDS; }

uint64_t brute_key_load(uint32_t input, int32_t loop_dim) {
  return other_key(mix(mix(1, input), (uint64_t)(loop_dim + 1)));
}

uint64_t brute_key_constant(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return other_key(mix(2, bits));
}

uint64_t brute_key_operator(uint32_t op, uint32_t variant, uint64_t a, uint64_t b) {
  if (op == MIRAGE_OP_ADD || op == MIRAGE_OP_MUL) {
    uint64_t kind = op == MIRAGE_OP_ADD ? KEY_SUM : KEY_PRODUCT;
    return (key_of_terms(a, kind) + key_of_terms(b, kind)) * KEY_KINDS + kind;
  }
  if (op == MIRAGE_OP_MAX && a > b)
    return brute_key_operator(op, variant, b, a);
  return other_key(mix(mix(mix(mix(3, op), variant), a), b));
}

// ------------------------------------------------------------------------------------------ evaluation

static uint32_t times_of(const BruteGraph *graph, const BruteNode *node) {
  return graph->blocks * (node->stage == BRUTE_INSIDE ? graph->iterations : 1);
}

static uint32_t tile_size(const BruteNode *node) { return (uint32_t)(node->shape[0] * node->shape[1]); }

static double unary_value(uint8_t op, double x) {
  switch (op) {
  case MIRAGE_OP_EXP:
    return exp(x);
  case MIRAGE_OP_LOG:
    return log(x);
  case MIRAGE_OP_SQRT:
    return sqrt(x);
  case MIRAGE_OP_ERF:
    return erf(x);
  default:
    return tanh(x);
  }
}

static double binary_value(uint8_t op, double x, double y) {
  switch (op) {
  case MIRAGE_OP_ADD:
    return x + y;
  case MIRAGE_OP_SUB:
    return x - y;
  case MIRAGE_OP_MUL:
    return x * y;
  case MIRAGE_OP_DIV:
    return x / y;
  default:
    return x > y ? x : y;
  }
}

// The tile of an operand that goes with (block, iteration) of `node`: what is computed once serves all iterations.
static const double *tile_for(const BruteGraph *graph, const BruteNode *node, const BruteNode *operand, uint32_t time) {
  bool walks = node->stage == BRUTE_INSIDE && operand->stage != BRUTE_INSIDE;
  return operand->values + (walks ? time / graph->iterations : time) * tile_size(operand);
}

static void elementwise(const BruteNode *node, const BruteNode *a, const BruteNode *b, const double *x, const double *y,
                        double *out) {
  for (int32_t r = 0; r < node->shape[0]; r++)
    for (int32_t c = 0; c < node->shape[1]; c++) {
      double left = x[(a->shape[0] > 1 ? r : 0) * a->shape[1] + (a->shape[1] > 1 ? c : 0)];
      double right = b ? y[(b->shape[0] > 1 ? r : 0) * b->shape[1] + (b->shape[1] > 1 ? c : 0)] : 0;
      *out++ = b ? binary_value(node->op, left, right) : unary_value(node->op, left);
    }
}

static void reduce(const BruteNode *node, const BruteNode *a, const double *x, double *out) {
  for (uint32_t i = 0; i < tile_size(a); i++) {
    uint32_t at = node->dim == 1 ? i / (uint32_t)a->shape[1] : i % (uint32_t)a->shape[1];
    bool first = node->dim == 1 ? i % (uint32_t)a->shape[1] == 0 : i < (uint32_t)a->shape[1];
    double sum = node->op == MIRAGE_OP_REDUCE_SUM ? out[at] + x[i] : (x[i] > out[at] ? x[i] : out[at]);
    out[at] = first ? x[i] : sum;
  }
}

static void matmul(const BruteNode *a, const BruteNode *b, const double *x, const double *y, double *out) {
  for (int32_t r = 0; r < a->shape[0]; r++)
    for (int32_t c = 0; c < b->shape[1]; c++) {
      double sum = 0;
      for (int32_t k = 0; k < a->shape[1]; k++)
        sum += x[r * a->shape[1] + k] * y[k * b->shape[1] + c];
      *out++ = sum;
    }
}

static void accumulate(const BruteGraph *graph, const BruteNode *node, const BruteNode *a, double *out) {
  uint32_t size = tile_size(a);
  for (uint32_t block = 0; block < graph->blocks; block++)
    for (uint32_t i = 0; i < size; i++) {
      const double *x = a->values + block * graph->iterations * size + i;
      double sum = x[0];
      for (uint32_t f = 1; f < graph->iterations; f++)
        sum = node->maximum ? (x[f * size] > sum ? x[f * size] : sum) : sum + x[f * size];
      out[block * size + i] = sum;
    }
}

// False when some value is not finite: the graph says nothing at this sample.
static bool evaluate(Brute *brute, BruteNode *node, double *out) {
  const BruteGraph *graph = &brute->graph;
  const BruteNode *a = &graph->nodes[node->a], *b = &graph->nodes[node->b];
  bool binary = node->op == MIRAGE_OP_MATMUL || mirage_op_info((MirageOp)node->op)->kind == MIRAGE_KIND_BINARY;
  uint32_t times = times_of(graph, node), size = tile_size(node);
  if (times * size > MOST_VALUES)
    return false;
  if (node->op == MIRAGE_OP_LOOP)
    accumulate(graph, node, a, out);
  for (uint32_t t = 0; t < times && node->op != MIRAGE_OP_LOOP; t++) {
    const double *x = tile_for(graph, node, a, t), *y = binary ? tile_for(graph, node, b, t) : NULL;
    double *tile = out + t * size;
    if (node->op == MIRAGE_OP_MATMUL)
      matmul(a, b, x, y, tile);
    else if (node->op == MIRAGE_OP_REDUCE_SUM || node->op == MIRAGE_OP_REDUCE_MAX)
      reduce(node, a, x, tile);
    else
      elementwise(node, a, binary ? b : NULL, x, y, tile);
  }
  node->values = out;
  for (uint32_t i = 0; i < times * size; i++)
    if (!isfinite(out[i]))
      return false;
  return true;
}

// ------------------------------------------------------------------------------------------ completion

static bool close_to(double a, double b) { return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b)) + 1e-13; }

// The shape of the output as two dimensions.
static void output_shape(const Brute *brute, int32_t *out) {
  const MirageUGraph *program = brute->program->graph;
  const MirageType *type = mirage_ugraph_type(program, mirage_ugraph_get_output(program, 0));
  out[0] = out[1] = 1;
  for (uint32_t d = 0; d < type->rank; d++)
    out[BRUTE_RANK - type->rank + d] = (int32_t)type->shape[d];
}

// Whether the last node, stored with the grid along `grid`, is the program's output.
static bool gives_output(const Brute *brute, int32_t grid) {
  const BruteGraph *graph = &brute->graph;
  const BruteNode *node = &graph->nodes[graph->num_nodes - 1];
  const MirageUGraph *program = brute->program->graph;
  int32_t whole[2];
  output_shape(brute, whole);
  if (node->rank != mirage_ugraph_type(program, mirage_ugraph_get_output(program, 0))->rank)
    return false;
  for (int32_t d = 0; d < 2; d++)
    if (node->shape[d] * (d == grid ? (int32_t)graph->blocks : 1) != whole[d])
      return false;
  const double *value = node->values;
  for (int32_t block = 0; block < (int32_t)graph->blocks; block++)
    for (int32_t r = 0; r < node->shape[0]; r++)
      for (int32_t c = 0; c < node->shape[1]; c++) {
        int32_t row = r + (grid == 0 ? block * node->shape[0] : 0),
                column = c + (grid == 1 ? block * node->shape[1] : 0);
        if (!close_to(*value++, brute->program->output[row * whole[1] + column]))
          return false;
      }
  return true;
}

static void complete(Brute *brute) {
  BruteGraph *graph = &brute->graph;
  const BruteNode *last = &graph->nodes[graph->num_nodes - 1];
  if (brute->unused != 1 || last->stage != (graph->iterations > 1 ? BRUTE_AFTER : BRUTE_BEFORE))
    return;
  for (int32_t grid = graph->blocks > 1 ? 0 : BRUTE_NO_DIM; grid < (graph->blocks > 1 ? 2 : 0); grid++)
    if (gives_output(brute, grid)) {
      graph->store_grid = (int8_t)grid;
      brute->found(brute->user, graph);
    }
}

// ------------------------------------------------------------------------------------------- operators

// Whether the graph can end with this operator, as far as shape and place go.
static bool may_be_last(const Brute *brute, const BruteNode *node) {
  int32_t whole[2], blocks = (int32_t)brute->graph.blocks;
  output_shape(brute, whole);
  int32_t elements = node->shape[0] * node->shape[1] * blocks;
  return elements == whole[0] * whole[1] && node->stage == (brute->graph.iterations > 1 ? BRUTE_AFTER : BRUTE_BEFORE);
}

static bool is_used_up(const BruteNode *node) { return node->users > 0 || node->op == MIRAGE_OP_CONSTANT; }

// Counts an operand as used.
static void take(const BruteNode *operand, uint32_t *unused, uint32_t *inside) {
  bool first = !is_used_up(operand);
  *unused -= first;
  *inside -= first && operand->stage == BRUTE_INSIDE;
}

static void extend(Brute *brute, uint32_t last_rank);

// Appends an operator, goes on from there, and takes it off again.
static void try_operator(Brute *brute, BruteNode node, bool binary, uint32_t rank) {
  BruteGraph *graph = &brute->graph;
  BruteNode *a = &graph->nodes[node.a], *b = &graph->nodes[node.b];
  uint32_t unused = brute->unused + 1, inside = brute->unused_inside + (node.stage == BRUTE_INSIDE);
  take(a, &unused, &inside);
  if (binary && node.b != node.a)
    take(b, &unused, &inside);
  uint32_t left = brute->limits.operators - graph->num_operators - 1;
  if (unused - 1 + (inside > 0) > left || graph->num_nodes == BRUTE_NODES || (!left && !may_be_last(brute, &node)))
    return;
  if (!evaluate(brute, &node, brute->values[graph->num_nodes]))
    return;
  brute->visited++;
  node.key = brute_key_operator(node.op, node.op == MIRAGE_OP_LOOP ? node.maximum : (uint32_t)(node.dim + 1), a->key,
                                binary ? b->key : 0);
  a->users++;
  b->users += binary;
  uint32_t before = brute->unused, inside_before = brute->unused_inside;
  brute->unused = unused;
  brute->unused_inside = inside;
  graph->nodes[graph->num_nodes++] = node;
  graph->num_operators++;
  complete(brute);
  if (graph->num_operators < brute->limits.operators)
    extend(brute, rank);
  graph->num_operators--;
  graph->num_nodes--;
  brute->unused = before;
  brute->unused_inside = inside_before;
  a->users--;
  b->users -= binary;
}

static uint32_t rank_of(uint32_t later, uint32_t other, uint32_t op, uint32_t variant) {
  return later << 24 | other << 16 | op << 4 | variant;
}

static void try_one_operand(Brute *brute, uint32_t index, uint32_t last_rank) {
  const BruteNode like = brute->graph.nodes[index];
  if (like.op == MIRAGE_OP_CONSTANT)
    return;
  for (uint32_t op = 1; op < MIRAGE_NUM_OPS; op++) {
    MirageOpKind kind = mirage_op_info((MirageOp)op)->kind;
    bool reduces = op == MIRAGE_OP_REDUCE_SUM || (op == MIRAGE_OP_REDUCE_MAX && brute->uses[op]);
    bool applies = kind == MIRAGE_KIND_UNARY && brute->uses[op],
         adds = op == MIRAGE_OP_LOOP && like.stage == BRUTE_INSIDE;
    uint32_t variants = reduces ? 2 : adds ? 1 + brute->uses[MIRAGE_OP_REDUCE_MAX] : applies;
    for (uint32_t variant = 0; variant < variants; variant++) {
      uint32_t rank = rank_of(index, index, op, variant);
      if (rank <= last_rank || (reduces && like.shape[variant] == 1))
        continue;
      BruteNode node = {.op = (uint8_t)op, .a = (uint8_t)index, .stage = like.stage, .rank = like.rank, .dim = -1};
      memcpy(node.shape, like.shape, sizeof node.shape);
      if (reduces) {
        node.dim = (int8_t)variant;
        node.shape[variant] = 1;
      }
      if (adds) {
        node.maximum = (uint8_t)variant;
        node.stage = BRUTE_AFTER;
      }
      try_operator(brute, node, false, rank);
    }
  }
}

static bool joint_stage(const BruteNode *a, const BruteNode *b, uint8_t *out) {
  *out = a->stage > b->stage ? a->stage : b->stage;
  return a->stage == b->stage || a->stage == BRUTE_BEFORE || b->stage == BRUTE_BEFORE;
}

// `a op b`, the operands in this order.
static void try_pair(Brute *brute, MirageOp op, uint32_t a, uint32_t b, uint32_t rank) {
  const BruteNode *x = &brute->graph.nodes[a], *y = &brute->graph.nodes[b];
  BruteNode node = {.op = (uint8_t)op, .a = (uint8_t)a, .b = (uint8_t)b, .dim = -1};
  node.rank = x->rank > y->rank ? x->rank : y->rank;
  bool fits = joint_stage(x, y, &node.stage);
  if (op == MIRAGE_OP_MATMUL) {
    fits &= x->rank == 2 && y->rank == 2 && x->shape[1] == y->shape[0] && x->shape[1] > 1;
    node.shape[0] = x->shape[0];
    node.shape[1] = y->shape[1];
  } else {
    for (uint32_t d = 0; d < 2; d++) {
      fits &= x->shape[d] == y->shape[d] || x->shape[d] == 1 || y->shape[d] == 1;
      node.shape[d] = x->shape[d] > y->shape[d] ? x->shape[d] : y->shape[d];
    }
  }
  if (fits)
    try_operator(brute, node, true, rank);
}

static void try_two_operands(Brute *brute, uint32_t later, uint32_t other, uint32_t last_rank) {
  static const MirageOp ops[] = {MIRAGE_OP_ADD, MIRAGE_OP_SUB, MIRAGE_OP_MUL,
                                 MIRAGE_OP_DIV, MIRAGE_OP_MAX, MIRAGE_OP_MATMUL};
  bool constants =
      brute->graph.nodes[later].op == MIRAGE_OP_CONSTANT && brute->graph.nodes[other].op == MIRAGE_OP_CONSTANT;
  for (uint32_t i = 0; i < sizeof ops / sizeof *ops && !constants; i++) {
    MirageOp op = ops[i];
    bool commutes = op == MIRAGE_OP_ADD || op == MIRAGE_OP_MUL || op == MIRAGE_OP_MAX;
    if ((op == MIRAGE_OP_SUB || op == MIRAGE_OP_MAX) && !brute->uses[op])
      continue;
    for (uint32_t swap = 0; swap <= (!commutes && later != other); swap++) {
      uint32_t rank = rank_of(later, other, op, swap);
      if (rank > last_rank)
        try_pair(brute, op, swap ? other : later, swap ? later : other, rank);
    }
  }
}

static void extend(Brute *brute, uint32_t last_rank) {
  for (uint32_t later = last_rank >> 24; later < brute->graph.num_nodes; later++) {
    try_one_operand(brute, later, last_rank);
    for (uint32_t other = 0; other <= later; other++)
      try_two_operands(brute, later, other, last_rank);
  }
}

// ------------------------------------------------------------------------------------------------ maps

// Fills a load's tile from the program's input; false when an extent does not divide.
static bool load(Brute *brute, BruteNode *node, double *out) {
  const BruteGraph *graph = &brute->graph;
  const MirageUGraph *program = brute->program->graph;
  const MirageType *type = mirage_ugraph_type(program, mirage_ugraph_get_input(program, node->a));
  int32_t whole[2] = {1, 1};
  node->rank = (uint8_t)type->rank;
  for (uint32_t d = 0; d < type->rank; d++)
    whole[BRUTE_RANK - type->rank + d] = (int32_t)type->shape[d];
  memcpy(node->shape, whole, sizeof whole);
  if (node->grid != BRUTE_NO_DIM)
    node->shape[node->grid] /= (int32_t)graph->blocks;
  if (node->loop != BRUTE_NO_DIM)
    node->shape[node->loop] /= (int32_t)graph->iterations;
  // A tile of one element along a split dimension would make a sum over it the identity: such grids are left out.
  if ((node->grid != BRUTE_NO_DIM && node->shape[node->grid] < 2) ||
      (node->loop != BRUTE_NO_DIM && node->shape[node->loop] < 2))
    return false;
  node->stage = node->loop == BRUTE_NO_DIM ? BRUTE_BEFORE : BRUTE_INSIDE;
  node->values = out;
  uint32_t iterations = node->stage == BRUTE_INSIDE ? graph->iterations : 1;
  for (uint32_t block = 0; block < graph->blocks; block++)
    for (uint32_t f = 0; f < iterations; f++)
      for (int32_t r = 0; r < node->shape[0]; r++)
        for (int32_t c = 0; c < node->shape[1]; c++) {
          int32_t at[2] = {r, c};
          for (int32_t d = 0; d < 2; d++) // the grid takes large pieces, the loop small ones within them
            at[d] +=
                (d == node->loop ? (int32_t)f * node->shape[d] : 0) +
                (d == node->grid ? (int32_t)block * node->shape[d] * (d == node->loop ? (int32_t)graph->iterations : 1)
                                 : 0);
          *out++ = brute->program->inputs[node->a][at[0] * whole[1] + at[1]];
        }
  return true;
}

static void add_constants(Brute *brute) {
  const MirageUGraph *program = brute->program->graph;
  MirageRegionView body = mirage_ugraph_region(program, mirage_ugraph_body(program));
  BruteGraph *graph = &brute->graph;
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView view = mirage_ugraph_node(program, body.nodes[i]);
    if (view.op != MIRAGE_OP_CONSTANT)
      continue;
    bool known = false;
    for (uint32_t n = 0; n < graph->num_nodes; n++)
      known |= graph->nodes[n].op == MIRAGE_OP_CONSTANT && graph->nodes[n].constant == view.attrs->constant.value;
    if (known)
      continue;
    BruteNode node = {.op = MIRAGE_OP_CONSTANT, .shape = {1, 1}, .constant = view.attrs->constant.value, .dim = -1};
    double *values = brute->values[graph->num_nodes];
    for (uint32_t block = 0; block < graph->blocks; block++)
      values[block] = node.constant;
    node.values = values;
    node.key = brute_key_constant(node.constant);
    graph->nodes[graph->num_nodes++] = node;
  }
}

// All operators on the loads chosen, if they make use of the grid and of the loop.
static void run_loads(Brute *brute) {
  BruteGraph *graph = &brute->graph;
  bool grid = graph->blocks == 1, loop = graph->iterations == 1;
  uint32_t loads = graph->num_nodes, inside = 0;
  for (uint32_t i = 0; i < loads; i++) {
    grid |= graph->nodes[i].grid != BRUTE_NO_DIM;
    loop |= graph->nodes[i].loop != BRUTE_NO_DIM;
    inside += graph->nodes[i].stage == BRUTE_INSIDE;
  }
  if (!grid || !loop)
    return;
  brute->unused = loads;
  brute->unused_inside = inside;
  add_constants(brute);
  extend(brute, 0);
  graph->num_nodes = loads;
}

// Every input at least once, with maps in increasing order so that a set of loads is met once.
static void choose_loads(Brute *brute, uint32_t input, int32_t first_map, uint32_t of_this, uint32_t extra) {
  const MirageUGraph *program = brute->program->graph;
  BruteGraph *graph = &brute->graph;
  if (input == mirage_ugraph_num_inputs(program)) {
    run_loads(brute);
    return;
  }
  if (of_this)
    choose_loads(brute, input + 1, 0, 0, extra);
  if (of_this && !extra)
    return;
  int32_t rank = (int32_t)mirage_ugraph_type(program, mirage_ugraph_get_input(program, input))->rank;
  for (int32_t map = first_map; map < 9; map++) {
    int32_t grid = map / 3 - 1, loop = map % 3 - 1;
    if ((grid >= 0 && (graph->blocks == 1 || grid < BRUTE_RANK - rank)) ||
        (loop >= 0 && (graph->iterations == 1 || loop < BRUTE_RANK - rank)))
      continue;
    BruteNode node = {.op = MIRAGE_OP_LOAD, .a = (uint8_t)input, .grid = (int8_t)grid, .loop = (int8_t)loop, .dim = -1};
    if (!load(brute, &node, brute->values[graph->num_nodes]))
      continue;
    node.key = brute_key_load(input, loop);
    graph->nodes[graph->num_nodes++] = node;
    choose_loads(brute, input, map + 1, of_this + 1, extra - (of_this > 0));
    graph->num_nodes--;
  }
}

uint64_t brute_enumerate(const BruteProgram *program, const BruteLimits *limits,
                         void (*found)(void *user, const BruteGraph *graph), void *user) {
  Brute *brute = calloc(1, sizeof *brute);
  if (!brute)
    return 0;
  *brute = (Brute){.program = program, .limits = *limits, .found = found, .user = user};
  MirageRegionView body = mirage_ugraph_region(program->graph, mirage_ugraph_body(program->graph));
  for (uint32_t i = 0; i < body.num_nodes; i++)
    brute->uses[mirage_ugraph_node(program->graph, body.nodes[i]).op] = true;
  for (uint32_t blocks = 1; blocks <= 1u + limits->grids; blocks++)
    for (uint32_t iterations = 1; iterations <= 2; iterations++) {
      brute->graph = (BruteGraph){.blocks = blocks, .iterations = iterations};
      choose_loads(brute, 0, 0, 0, limits->extra_loads);
    }
  uint64_t visited = brute->visited;
  free(brute);
  return visited;
}
