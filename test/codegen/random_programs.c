// random_programs.c - random programs: a pool of tensors that operators are applied to, one after the other.
//
// Values stay within the range of f16 by construction: exponentials and divisions meet bounded arguments. Two rounds:
// a builder takes inputs before any node, so the first round finds out which inputs the second declares.
#include "random_graphs.h"

enum { MOST_POOL = 24, MOST_INPUTS = 8 };

typedef struct Program {
  Choices *choices;
  MirageUGraph *graph;
  MirageDType dtype;
  MirageType inputs[MOST_INPUTS];
  uint32_t num_inputs, used_inputs; // known from the round before; taken in this round
  bool dry;                         // the first round: inputs beyond those known end it
  bool missing;
  MirageValue pool[MOST_POOL];
  uint32_t count;
} Program;

static const int64_t EXTENTS[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 24, 31, 32, 33, 40, 63, 64, 65, 97, 100, 128};
enum { NUM_EXTENTS = sizeof EXTENTS / sizeof *EXTENTS };

static int64_t extent(Program *p) { return EXTENTS[choose(p->choices, NUM_EXTENTS)]; }
static int64_t small_extent(Program *p) { return EXTENTS[choose(p->choices, 6)]; }
static const MirageType *type_of(const Program *p, MirageValue v) { return mirage_ugraph_type(p->graph, v); }

// The next input; in the first round one that is not there yet is noted, and the round is over.
static MirageValue input(Program *p, uint32_t rank, const int64_t *shape) {
  if (p->used_inputs < p->num_inputs)
    return mirage_ugraph_get_input(p->graph, p->used_inputs++);
  if (p->num_inputs < MOST_INPUTS)
    p->inputs[p->num_inputs++] = mirage_type_tensor(p->dtype, rank, shape);
  p->missing = true;
  return (MirageValue){0};
}

static MirageValue op1(Program *p, MirageOp op, MirageValue a) {
  return mirage_ugraph_apply(p->graph, op, 1, &a, NULL);
}
static MirageValue op2(Program *p, MirageOp op, MirageValue a, MirageValue b) {
  return mirage_ugraph_apply(p->graph, op, 2, (MirageValue[]){a, b}, NULL);
}
static MirageValue with(Program *p, MirageOp op, MirageValue a, MirageAttrs attrs) {
  return mirage_ugraph_apply(p->graph, op, 1, &a, &attrs);
}
static MirageValue number(Program *p, double value) {
  return mirage_ugraph_constant(p->graph, mirage_type_tensor(p->dtype, 0, NULL), value);
}

// ----------------------------------------------------------------------------------------------------------- operators

static MirageValue unary(Program *p, MirageValue x) {
  static const MirageOp plain[] = {MIRAGE_OP_RELU, MIRAGE_OP_NEG,       MIRAGE_OP_SIGMOID, MIRAGE_OP_SILU,
                                   MIRAGE_OP_GELU, MIRAGE_OP_GELU_TANH, MIRAGE_OP_TANH,    MIRAGE_OP_ERF};
  static const MirageOp positive[] = {MIRAGE_OP_SQRT, MIRAGE_OP_LOG, MIRAGE_OP_RSQRT};
  switch (choose(p->choices, 4)) {
  case 0:
  case 1:
    return op1(p, plain[choose(p->choices, 8)], x);
  case 2:
    return op1(p, MIRAGE_OP_EXP, op1(p, MIRAGE_OP_TANH, x));
  default: {
    MirageValue bounded = op1(p, MIRAGE_OP_SQUARE, op1(p, MIRAGE_OP_TANH, x));
    return op1(p, positive[choose(p->choices, 3)], op2(p, MIRAGE_OP_ADD, bounded, number(p, 1)));
  }
  }
}

// An operand that broadcasts against x: a value of the pool that does, a constant, or a new input.
static MirageValue partner(Program *p, MirageValue x) {
  MirageType type = *type_of(p, x);
  uint32_t kind = choose(p->choices, 3);
  if (kind == 0)
    return number(p, 0.5 * (double)choose(p->choices, 8) - 1);
  if (kind == 1) {
    MirageValue other = p->pool[choose(p->choices, p->count)];
    const MirageType *o = type_of(p, other);
    bool fits = o->dtype == type.dtype && o->rank <= type.rank;
    for (uint32_t i = 1; fits && i <= o->rank; i++)
      fits = o->shape[o->rank - i] == 1 || o->shape[o->rank - i] == type.shape[type.rank - i];
    if (fits)
      return other;
  }
  uint32_t drop = type.rank ? choose(p->choices, type.rank) : 0;
  for (uint32_t i = 0; i < type.rank; i++)
    if (once_in(p->choices, 3))
      type.shape[i] = 1;
  return input(p, type.rank - drop, type.shape + drop);
}

static MirageValue binary(Program *p, MirageValue x) {
  static const MirageOp ops[] = {MIRAGE_OP_ADD, MIRAGE_OP_SUB, MIRAGE_OP_MUL, MIRAGE_OP_MAX, MIRAGE_OP_MIN};
  MirageValue y = partner(p, x);
  if (p->missing)
    return y;
  uint32_t which = choose(p->choices, 6);
  if (which == 5)
    return op2(p, MIRAGE_OP_DIV, x, op2(p, MIRAGE_OP_ADD, op1(p, MIRAGE_OP_SIGMOID, y), number(p, 0.5)));
  return once_in(p->choices, 3) ? op2(p, ops[which], y, x) : op2(p, ops[which], x, y);
}

static MirageValue product(Program *p, MirageValue x) {
  MirageType type = *type_of(p, x);
  bool ta = once_in(p->choices, 3), tb = once_in(p->choices, 3), left = once_in(p->choices, 4);
  if (type.rank < 2 || type.dtype != p->dtype)
    return unary(p, x);
  int64_t shape[MIRAGE_MAX_RANK], n = extent(p);
  uint32_t rank = once_in(p->choices, 3) ? 2 : type.rank;
  int64_t k = left ? type.shape[type.rank - (tb ? 1 : 2)] : type.shape[type.rank - (ta ? 2 : 1)];
  for (uint32_t i = 0; i < rank; i++)
    shape[i] = type.shape[type.rank - rank + i];
  bool flip = left ? ta : tb; // of the new operand
  shape[rank - 2] = left == flip ? k : n;
  shape[rank - 1] = left == flip ? n : k;
  MirageValue w = input(p, rank, shape);
  if (p->missing)
    return w;
  MirageAttrs attrs = {.matmul = {.transpose_a = ta, .transpose_b = tb}};
  return mirage_ugraph_apply(p->graph, MIRAGE_OP_MATMUL, 2, left ? (MirageValue[]){w, x} : (MirageValue[]){x, w},
                             &attrs);
}

static MirageValue reduction(Program *p, MirageValue x) {
  static const MirageOp ops[] = {MIRAGE_OP_REDUCE_SUM, MIRAGE_OP_REDUCE_MAX, MIRAGE_OP_REDUCE_MEAN};
  const MirageType *type = type_of(p, x);
  MirageOp op = ops[choose(p->choices, 3)];
  if (type->rank == 0)
    return unary(p, x);
  int32_t dim = (int32_t)(type->rank - 1 - choose(p->choices, type->rank));
  int64_t n = type->shape[dim], left = 1;
  if (once_in(p->choices, 3))
    for (int64_t d = 2; d <= 4; d++)
      left = n % d == 0 ? n / d : left;
  return with(p, op, x, (MirageAttrs){.reduce = {.dim = dim, .extent = left}});
}

static MirageValue reshape(Program *p, MirageValue x) {
  MirageType type = *type_of(p, x), to = type;
  if (once_in(p->choices, 2) && type.rank >= 2) { // merges two dimensions
    to.rank = 0;
    uint32_t at = choose(p->choices, type.rank - 1);
    for (uint32_t i = 0; i < type.rank; i++)
      if (i == at + 1)
        to.shape[to.rank - 1] *= type.shape[i];
      else
        to.shape[to.rank++] = type.shape[i];
  } else if (type.rank > 0 && type.rank < 4) { // splits one
    uint32_t at = choose(p->choices, type.rank);
    int64_t by = 1;
    for (int64_t d = 2; d <= 8; d++)
      by = type.shape[at] % d == 0 ? d : by;
    for (uint32_t i = type.rank; i > at; i--)
      to.shape[i] = type.shape[i - 1];
    to.rank = type.rank + 1;
    to.shape[at] = by;
    to.shape[at + 1] = type.shape[at] / by;
  }
  return with(p, MIRAGE_OP_RESHAPE, x, (MirageAttrs){.shape = {to}});
}

static MirageValue move(Program *p, MirageValue x) {
  MirageType type = *type_of(p, x);
  uint32_t which = choose(p->choices, 7);
  if (type.rank == 0)
    return unary(p, x);
  int32_t dim = (int32_t)choose(p->choices, type.rank);
  MirageAttrs attrs = {0};
  switch (which) {
  case 0:
    for (uint32_t i = 0; i < type.rank; i++) // a rotation, or a swap of the last two
      attrs.perm.perm[i] = (int32_t)((i + 1) % type.rank);
    return with(p, MIRAGE_OP_TRANSPOSE, x, attrs);
  case 1:
    for (uint32_t i = 0; i < type.rank; i++)
      attrs.perm.perm[i] = (int32_t)(type.rank - 1 - i);
    return with(p, MIRAGE_OP_TRANSPOSE, x, attrs);
  case 2: {
    int64_t begin = choose(p->choices, (uint32_t)type.shape[dim]);
    int64_t length = 1 + choose(p->choices, (uint32_t)(type.shape[dim] - begin));
    return with(p, MIRAGE_OP_SLICE, x, (MirageAttrs){.slice = {dim, begin, begin + length}});
  }
  case 3: {
    MirageType other = type;
    other.shape[dim] = small_extent(p);
    MirageValue y = once_in(p->choices, 2) && type.dtype == p->dtype ? input(p, other.rank, other.shape) : x;
    if (p->missing)
      return y;
    attrs.dim.dim = dim;
    return mirage_ugraph_apply(p->graph, MIRAGE_OP_CONCAT, 2, (MirageValue[]){x, y}, &attrs);
  }
  case 4:
    return with(p, MIRAGE_OP_REPEAT, x, (MirageAttrs){.repeat = {dim, 1 + choose(p->choices, 3)}});
  case 5: {
    MirageType to = type;
    if (to.rank < 4) {
      for (uint32_t i = to.rank; i > 0; i--)
        to.shape[i] = to.shape[i - 1];
      to.shape[0] = small_extent(p);
      to.rank++;
    }
    return with(p, MIRAGE_OP_BROADCAST, x, (MirageAttrs){.shape = {to}});
  }
  default:
    return reshape(p, x);
  }
}

static MirageValue sugar(Program *p, MirageValue x) {
  const MirageType *type = type_of(p, x);
  uint32_t which = choose(p->choices, 4);
  if (type->rank == 0 || type->dtype != p->dtype)
    return unary(p, x);
  int64_t last = type->shape[type->rank - 1];
  if (which == 0)
    return with(p, MIRAGE_OP_SOFTMAX, x,
                (MirageAttrs){.dim = {(int32_t)(type->rank - 1 - choose(p->choices, type->rank))}});
  if (which == 1)
    return with(p, MIRAGE_OP_RMS_NORM, x, (MirageAttrs){.eps = {1e-3}});
  MirageAttrs attrs = {.eps = {1e-3}};
  MirageValue operands[3] = {x};
  for (uint32_t i = 1; i <= 3 - which + 1 && i < 3; i++) {
    operands[i] = input(p, 1, &last);
    if (p->missing)
      return operands[i];
  }
  return which == 2 ? mirage_ugraph_apply(p->graph, MIRAGE_OP_RMS_NORM, 2, operands, &attrs)
                    : mirage_ugraph_apply(p->graph, MIRAGE_OP_LAYER_NORM, 2, operands, &attrs);
}

// q @ k^T, softmax, @ v on x as the queries.
static MirageValue attention(Program *p, MirageValue x) {
  MirageType type = *type_of(p, x);
  if (type.rank < 2 || type.dtype != p->dtype)
    return sugar(p, x);
  type.shape[type.rank - 2] = extent(p);
  MirageValue k = input(p, type.rank, type.shape);
  if (p->missing)
    return k;
  MirageValue v = input(p, type.rank, type.shape);
  if (p->missing)
    return v;
  MirageAttrs attrs = {.sdpa = {.scale = 0.25}};
  return mirage_ugraph_apply(p->graph, MIRAGE_OP_SDPA, 3, (MirageValue[]){x, k, v}, &attrs);
}

static MirageValue step(Program *p, MirageValue x) {
  const MirageType *type = type_of(p, x);
  if (mirage_type_elements(type) > 40000) // keep it small
    return reduction(p, x);
  switch (choose(p->choices, 10)) {
  case 0:
  case 1:
    return unary(p, x);
  case 2:
  case 3:
    return binary(p, x);
  case 4:
    return product(p, x);
  case 5:
    return reduction(p, x);
  case 6:
  case 7:
    return move(p, x);
  case 8:
    return once_in(p->choices, 2) ? attention(p, x) : sugar(p, x);
  default:
    return type->dtype == p->dtype && p->dtype != MIRAGE_F32
               ? mirage_ugraph_cast(p->graph, mirage_ugraph_cast(p->graph, x, MIRAGE_F32), p->dtype)
               : unary(p, x);
  }
}

// ---------------------------------------------------------------------------------------------------------------
// rounds

static void build(Program *p) {
  static const MirageDType dtypes[] = {MIRAGE_F16, MIRAGE_BF16, MIRAGE_F32};
  p->dtype = dtypes[choose(p->choices, 3)];
  uint32_t rank = 2 + (choose(p->choices, 4) == 3) - (choose(p->choices, 8) == 7);
  int64_t shape[4];
  for (uint32_t i = 0; i < rank; i++)
    shape[i] = rank == 3 && i == 0 ? small_extent(p) : extent(p);
  p->pool[p->count++] = input(p, rank, shape);
  uint32_t steps = 1 + choose(p->choices, 5);
  for (uint32_t i = 0; i < steps && !p->missing; i++) {
    // mostly the newest value, so that programs are chains with joins
    MirageValue x = once_in(p->choices, 4) ? p->pool[choose(p->choices, p->count)] : p->pool[p->count - 1];
    MirageValue y = step(p, x);
    if (!y.index)
      return;
    p->pool[p->count++] = y;
  }
  if (p->missing)
    return;
  uint32_t outputs = once_in(p->choices, 4) && p->count > 2 ? 2 : 1;
  mirage_ugraph_return(p->graph, outputs, &p->pool[p->count - outputs]);
}

MirageUGraph *random_program(Choices *choices) {
  Program p = {.choices = choices, .missing = true};
  while (p.missing) { // each round finds one input more
    p.graph = mirage_ugraph_create(NULL, "random", NULL);
    for (uint32_t i = 0; i < p.num_inputs; i++)
      mirage_ugraph_input(p.graph, p.inputs[i]);
    p.missing = false;
    p.used_inputs = p.count = 0;
    choices->next = 0;
    uint32_t known = p.num_inputs;
    build(&p);
    bool stuck = p.missing && p.num_inputs == known;
    if (!p.missing && mirage_ugraph_finish(p.graph) == MIRAGE_OK)
      return p.graph;
    mirage_ugraph_destroy(p.graph);
    if (!p.missing || stuck)
      return NULL;
  }
  return NULL;
}
