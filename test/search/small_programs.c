// small_programs.c - the programs of the brute force. All extents are 4, so that every axis can be split in two and no
// two axes can be told apart by their extent.
#include "small_programs.h"

#include "mirage/random.h"

#include <stddef.h>

typedef MirageValue Value;

enum { EXTENT = 4 };

static Value matrix(MirageUGraph *g) {
  return mirage_ugraph_input(g, mirage_type_tensor(MIRAGE_F16, 2, (int64_t[]){EXTENT, EXTENT}));
}
static Value vector(MirageUGraph *g) {
  return mirage_ugraph_input(g, mirage_type_tensor(MIRAGE_F16, 1, (int64_t[]){EXTENT}));
}
static Value unary(MirageUGraph *g, MirageOp op, Value a) { return mirage_ugraph_apply(g, op, 1, &a, NULL); }
static Value binary(MirageUGraph *g, MirageOp op, Value a, Value b) {
  return mirage_ugraph_apply(g, op, 2, (Value[]){a, b}, NULL);
}
static Value matmul(MirageUGraph *g, Value a, Value b) {
  return mirage_ugraph_apply(g, MIRAGE_OP_MATMUL, 2, (Value[]){a, b}, &(MirageAttrs){0});
}
static Value sum(MirageUGraph *g, Value a) { // over the last dimension
  return mirage_ugraph_apply(g, MIRAGE_OP_REDUCE_SUM, 1, &a, &(MirageAttrs){.reduce = {.dim = 1, .extent = 1}});
}
static MirageUGraph *begin(const char *name) { return mirage_ugraph_create(NULL, name, NULL); }
static MirageUGraph *end(MirageUGraph *g, Value result) {
  mirage_ugraph_return(g, 1, &result);
  if (mirage_ugraph_finish(g) == MIRAGE_OK)
    return g;
  mirage_ugraph_destroy(g);
  return NULL;
}

static MirageUGraph *reduce(const char *name) {
  MirageUGraph *g = begin(name);
  return end(g, sum(g, matrix(g)));
}

static MirageUGraph *linear(const char *name) { // x w
  MirageUGraph *g = begin(name);
  Value x = matrix(g), w = matrix(g);
  return end(g, matmul(g, x, w));
}

static MirageUGraph *exp_linear(const char *name) { // exp(x) w
  MirageUGraph *g = begin(name);
  Value x = matrix(g), w = matrix(g);
  return end(g, matmul(g, unary(g, MIRAGE_OP_EXP, x), w));
}

static MirageUGraph *divided(const char *name) { // x / sum(x)
  MirageUGraph *g = begin(name);
  Value x = matrix(g);
  return end(g, binary(g, MIRAGE_OP_DIV, x, sum(g, x)));
}

static MirageUGraph *softmax(const char *name) { // exp(x) / sum(exp(x)), as [Mirage] has it
  MirageUGraph *g = begin(name);
  Value e = unary(g, MIRAGE_OP_EXP, matrix(g));
  return end(g, binary(g, MIRAGE_OP_DIV, e, sum(g, e)));
}

static MirageUGraph *softmax_linear(const char *name) { // softmax(x) v
  MirageUGraph *g = begin(name);
  Value x = matrix(g), v = matrix(g), e = unary(g, MIRAGE_OP_EXP, x);
  return end(g, matmul(g, binary(g, MIRAGE_OP_DIV, e, sum(g, e)), v));
}

static MirageUGraph *rms_norm(const char *name) {
  MirageUGraph *g = begin(name);
  Value x = matrix(g);
  return end(g, mirage_ugraph_apply(g, MIRAGE_OP_RMS_NORM, 1, &x, &(MirageAttrs){.eps = {0.0}}));
}

static MirageUGraph *row_max(const char *name) {
  MirageUGraph *g = begin(name);
  Value x = matrix(g);
  return end(g, mirage_ugraph_apply(g, MIRAGE_OP_REDUCE_MAX, 1, &x, &(MirageAttrs){.reduce = {.dim = 1, .extent = 1}}));
}

static MirageUGraph *larger_sum(const char *name) { // sum(max(x, y))
  MirageUGraph *g = begin(name);
  Value x = matrix(g), y = matrix(g);
  return end(g, sum(g, binary(g, MIRAGE_OP_MAX, x, y)));
}

static MirageUGraph *unit(const char *name) { // x / sqrt(sum(x x))
  MirageUGraph *g = begin(name);
  Value x = matrix(g), squares = sum(g, binary(g, MIRAGE_OP_MUL, x, x));
  return end(g, binary(g, MIRAGE_OP_DIV, x, unary(g, MIRAGE_OP_SQRT, squares)));
}

static MirageUGraph *norm_linear(const char *name) { // (x / sum(x x)) w
  MirageUGraph *g = begin(name);
  Value x = matrix(g), w = matrix(g), squares = sum(g, binary(g, MIRAGE_OP_MUL, x, x));
  return end(g, matmul(g, binary(g, MIRAGE_OP_DIV, x, squares), w));
}

static MirageUGraph *gated(const char *name) { // (x w) (x v)
  MirageUGraph *g = begin(name);
  Value x = matrix(g), w = matrix(g), v = matrix(g);
  return end(g, binary(g, MIRAGE_OP_MUL, matmul(g, x, w), matmul(g, x, v)));
}

static MirageUGraph *lora(const char *name) { // x w + (x a) b
  MirageUGraph *g = begin(name);
  Value x = matrix(g), w = matrix(g), a = matrix(g), b = matrix(g);
  return end(g, binary(g, MIRAGE_OP_ADD, matmul(g, x, w), matmul(g, matmul(g, x, a), b)));
}

static MirageUGraph *scaled_sum(const char *name) { // sum((x + y) g): a vector that is broadcast, a sum to factor
  MirageUGraph *g = begin(name);
  Value x = matrix(g), y = matrix(g), gain = vector(g);
  return end(g, sum(g, binary(g, MIRAGE_OP_MUL, binary(g, MIRAGE_OP_ADD, x, y), gain)));
}

static MirageUGraph *difference(const char *name) { // (x - y) / y
  MirageUGraph *g = begin(name);
  Value x = matrix(g), y = matrix(g);
  return end(g, binary(g, MIRAGE_OP_DIV, binary(g, MIRAGE_OP_SUB, x, y), y));
}

static MirageUGraph *sums(const char *name) { // (x + y) (x + z) y
  MirageUGraph *g = begin(name);
  Value x = matrix(g), y = matrix(g), z = matrix(g);
  Value product = binary(g, MIRAGE_OP_MUL, binary(g, MIRAGE_OP_ADD, x, y), binary(g, MIRAGE_OP_ADD, x, z));
  return end(g, binary(g, MIRAGE_OP_MUL, product, y));
}

static MirageUGraph *two_sums_below(const char *name) { // x / (x + y) / (x + z)
  MirageUGraph *g = begin(name);
  Value x = matrix(g), y = matrix(g), z = matrix(g);
  Value below = binary(g, MIRAGE_OP_ADD, x, y), once = binary(g, MIRAGE_OP_DIV, x, below);
  return end(g, binary(g, MIRAGE_OP_DIV, once, binary(g, MIRAGE_OP_ADD, x, z)));
}

static MirageUGraph *gate(const char *name) { // x y / (1 + exp(x))
  MirageUGraph *g = begin(name);
  Value x = matrix(g), y = matrix(g);
  Value one = mirage_ugraph_constant(g, mirage_type_tensor(MIRAGE_F16, 0, NULL), 1.0);
  Value below = binary(g, MIRAGE_OP_ADD, unary(g, MIRAGE_OP_EXP, x), one);
  return end(g, binary(g, MIRAGE_OP_DIV, binary(g, MIRAGE_OP_MUL, x, y), below));
}

static MirageUGraph *three_terms(const char *name) { // x x + x y + 2 x, or (x + y + 2) x
  MirageUGraph *g = begin(name);
  Value x = matrix(g), y = matrix(g);
  Value two = mirage_ugraph_constant(g, mirage_type_tensor(MIRAGE_F16, 0, NULL), 2.0);
  Value sum = binary(g, MIRAGE_OP_ADD, binary(g, MIRAGE_OP_MUL, x, x), binary(g, MIRAGE_OP_MUL, x, y));
  return end(g, binary(g, MIRAGE_OP_ADD, sum, binary(g, MIRAGE_OP_MUL, x, two)));
}

static MirageUGraph *negated(const char *name) { // exp(-x) y
  MirageUGraph *g = begin(name);
  Value x = matrix(g), y = matrix(g);
  return end(g, binary(g, MIRAGE_OP_MUL, unary(g, MIRAGE_OP_EXP, unary(g, MIRAGE_OP_NEG, x)), y));
}

const SmallProgram SMALL_PROGRAMS[] = {
    {"reduce", reduce, 4, 5},
    {"linear", linear, 4, 5},
    {"exp_linear", exp_linear, 4, 5},
    {"divided", divided, 4, 5},
    {"softmax", softmax, 5, 6},
    {"softmax_linear", softmax_linear, 4, 5},
    {"unit", unit, 5, 6},
    {"rms_norm", rms_norm, 0, 6},
    {"norm_linear", norm_linear, 4, 6},
    {"gated", gated, 4, 5},
    {"lora", lora, 4, 5},
    {"row_max", row_max, 4, 5},
    {"larger_sum", larger_sum, 4, 5},
    {"scaled_sum", scaled_sum, 4, 5},
    {"difference", difference, 3, 5},
    {"sums", sums, 4, 5},
    {"two_sums_below", two_sums_below, 4, 5},
    {"gate", gate, 4, 5},
    {"three_terms", three_terms, 4, 5},
    {"negated", negated, 4, 5},
};
const uint32_t NUM_SMALL_PROGRAMS = sizeof SMALL_PROGRAMS / sizeof *SMALL_PROGRAMS;

// ---------------------------------------------------------------------------------------------- random

// One operator on values of the pool; {0} when they do not fit.
static Value random_operator(MirageUGraph *g, MirageRandom *random, Value a, Value b) {
  static const MirageOp ops[] = {MIRAGE_OP_ADD,    MIRAGE_OP_MUL,    MIRAGE_OP_MUL,        MIRAGE_OP_DIV,
                                 MIRAGE_OP_DIV,    MIRAGE_OP_SUB,    MIRAGE_OP_EXP,        MIRAGE_OP_SQRT,
                                 MIRAGE_OP_MATMUL, MIRAGE_OP_MATMUL, MIRAGE_OP_REDUCE_SUM, MIRAGE_OP_REDUCE_SUM};
  MirageOp op = ops[mirage_random_below(random, sizeof ops / sizeof *ops)];
  const MirageType *x = mirage_ugraph_type(g, a), *y = mirage_ugraph_type(g, b);
  uint32_t dim = (uint32_t)mirage_random_below(random, 2);
  switch (op) {
  case MIRAGE_OP_EXP:
  case MIRAGE_OP_SQRT:
    return unary(g, op, a);
  case MIRAGE_OP_MATMUL:
    return x->rank == 2 && y->rank == 2 && x->shape[1] == EXTENT && y->shape[0] == EXTENT ? matmul(g, a, b)
                                                                                          : (Value){0};
  case MIRAGE_OP_REDUCE_SUM:
    if (x->rank != 2 || x->shape[dim] == 1)
      return (Value){0};
    return mirage_ugraph_apply(g, op, 1, &a, &(MirageAttrs){.reduce = {.dim = (int32_t)dim, .extent = 1}});
  default:
    if (a.index == b.index && op != MIRAGE_OP_MUL) // 0, 1 and 2 a: nearly every graph would give them
      return (Value){0};
    return binary(g, op, a, b);
  }
}

static bool uses_all_inputs(const MirageUGraph *g) {
  uint64_t used = 0;
  MirageRegionView body = mirage_ugraph_region(g, mirage_ugraph_body(g));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(g, body.nodes[i]);
    for (uint32_t k = 0; k < node.num_operands; k++)
      used |= (uint64_t)1 << node.operands[k].index;
  }
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(g); i++)
    if (!(used >> mirage_ugraph_get_input(g, i).index & 1))
      return false;
  return true;
}

MirageUGraph *random_small_program(uint64_t seed, uint64_t number, uint32_t operators) {
  enum { MOST = 16 };
  MirageRandom random;
  Value pool[MOST], unused[MOST];
  uint32_t count = 0, num_unused = 0;
  mirage_random_init(&random, seed, number);
  MirageUGraph *g = begin("random");
  for (uint32_t i = 1 + (uint32_t)mirage_random_below(&random, 3); i > 0; i--)
    unused[num_unused++] = pool[count++] = mirage_random_below(&random, 5) ? matrix(g) : vector(g);
  for (uint32_t i = 0; i < operators; i++) {
    // The first operand is one that nobody took yet; so is the second while there are more of these than operators.
    Value a = unused[--num_unused], b = pool[mirage_random_below(&random, count)];
    if (num_unused && num_unused + 1 > operators - i - 1)
      b = unused[--num_unused];
    Value result = random_operator(g, &random, a, b);
    if (!result.index || count == MOST) {
      mirage_ugraph_destroy(g);
      return NULL;
    }
    unused[num_unused++] = pool[count++] = result;
  }
  if (num_unused == 1 && uses_all_inputs(g)) // a unary operator drops what was to be its second operand
    return end(g, unused[0]);
  mirage_ugraph_destroy(g);
  return NULL;
}
