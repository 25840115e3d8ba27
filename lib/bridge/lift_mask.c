// lift_mask.c - what no graph holds but masks are made of: positions, comparisons of them, and their logic.
//
// Exporters write a causal mask as tensors of integers: linalg.index gives the positions, others subtract and compare them.
// Here such a tensor is a number and a step for each dimension (LIFT_POSITION); a comparison of two is one with 0 (LIFT_HOLDS);
// an i1 that comes from outside is a tensor (LIFT_TRUTH). Where a select chooses by them they become operators:
//   select(p, x, -inf)    mask(p, x)
//   select(p, 0, -inf)    added to x: mask(p, x), since what is added to bottom is bottom (LIFT_BIAS until then)
//   select(p, x, y)       select
// Example: 0 <= i - j of 8 queries i and 8 keys j is less_equal(iota [1, 8], iota [8, 1]).
#include "lift.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <math.h>
#include <string.h>

// arith.cmpi's predicates; the unsigned ones are behind these.
enum { EQ, NE, SLT, SLE, SGT, SGE, NUM_SIGNED };

static MlirStringRef str(const char *text) { return mlirStringRefCreateFromCString(text); }

static MlirType element_type(MlirValue value) {
  MlirType type = mlirValueGetType(value);
  return mlirTypeIsAShaped(type) ? mlirShapedTypeGetElementType(type) : type;
}

bool mirage__lift_is_truth_type(MlirType type) {
  return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 1;
}

bool mirage__lift_is_position_type(MlirType type) {
  return mlirTypeIsAIndex(type) ||
         (mlirTypeIsAInteger(type) && mlirIntegerTypeIsSignless(type) && mlirIntegerTypeGetWidth(type) >= 32);
}

static const LiftTest *keep(Lift *lift, const LiftTest *test) {
  const LiftTest *kept = mirage_arena_copy(lift->arena, test, sizeof *test);
  if (!kept)
    mirage__lift_fail(lift, "out of memory");
  return kept;
}

static bool give(LiftBody *body, const LiftTest *test, LiftElement *out) {
  *out = (LiftElement){.dtype = test->dtype, .test = keep(body->lift, test)};
  return out->test != NULL;
}

static bool is(const LiftElement *element, LiftTestKind kind) { return element->test && element->test->kind == kind; }

// ----------------------------------------------------------------------------------------------------------------- moving

const LiftTest *mirage__lift_move_test(const LiftMove *move, const LiftTest *test) {
  LiftTest moved = *test;
  LiftElement *sides[] = {&moved.a, &moved.b};
  for (int i = 0; i < 2; i++)
    if (sides[i]->tensor.index && !moved.whole_row)
      sides[i]->tensor = move->stretched(move->user, sides[i]->tensor);
  if (moved.tensor.index)
    moved.tensor = move->tensor(move->user, moved.tensor);
  if (test->kind == LIFT_HOLDS || test->kind == LIFT_POSITION)
    move->steps(move->user, test->steps, moved.steps);
  if (test->left)
    moved.left = mirage__lift_move_test(move, test->left);
  if (test->right)
    moved.right = mirage__lift_move_test(move, test->right);
  return (test->left && !moved.left) || (test->right && !moved.right) ? NULL : keep(move->lift, &moved);
}

// -------------------------------------------------------------------------------------------------------------- positions

static bool position(LiftBody *body, MlirValue value, LiftTest *out) {
  LiftElement element;
  if (!mirage__lift_element(body, value, &element))
    return false;
  *out = (LiftTest){.kind = LIFT_POSITION};
  if (is(&element, LIFT_POSITION))
    *out = *element.test;
  else if (element.is_number && element.number == floor(element.number) && fabs(element.number) < 0x1p40)
    out->start = (int64_t)element.number;
  else
    return mirage__lift_fail(body->lift, "its body computes with integers that are no positions");
  return true;
}

static bool is_constant(const LiftTest *test) {
  for (uint32_t d = 0; d < LIFT_MAX_DIMS; d++)
    if (test->steps[d])
      return false;
  return true;
}

/// The least and the greatest of the positions.
static void range_of(const LiftBody *body, const LiftTest *test, int64_t *out_least, int64_t *out_greatest) {
  *out_least = *out_greatest = test->start;
  for (uint32_t d = 0; d < body->rank; d++) {
    int64_t last = test->steps[d] * (body->extents ? body->extents[d] - 1 : 0);
    *(last < 0 ? out_least : out_greatest) += last;
  }
}

/// No type of integers that positions have is too narrow for them, so that none wraps around.
static bool give_position(LiftBody *body, const LiftTest *test, LiftElement *out) {
  int64_t least, greatest;
  for (uint32_t d = 0; d < LIFT_MAX_DIMS; d++)
    if (test->steps[d] > INT32_MAX || test->steps[d] < -INT32_MAX)
      return mirage__lift_fail(body->lift, "positions that are too large");
  range_of(body, test, &least, &greatest);
  if (least < -INT32_MAX || greatest > INT32_MAX)
    return mirage__lift_fail(body->lift, "positions that are too large");
  if (!is_constant(test))
    return give(body, test, out);
  *out = (LiftElement){.is_number = true, .number = (double)test->start, .dtype = MIRAGE_F32};
  return true;
}

/// a + factor * b
static void add_scaled(LiftTest *a, const LiftTest *b, int64_t factor) {
  a->start += factor * b->start;
  for (uint32_t d = 0; d < LIFT_MAX_DIMS; d++)
    a->steps[d] += factor * b->steps[d];
}

static bool apply_arithmetic(LiftBody *body, MlirOperation op, LiftElement *out) {
  enum { MOST = 1 << 20 };
  LiftTest a, b, product = {.kind = LIFT_POSITION};
  if (!position(body, mlirOperationGetOperand(op, 0), &a) || !position(body, mlirOperationGetOperand(op, 1), &b))
    return false;
  if (!mirage__lift_named(op, "arith.muli")) {
    add_scaled(&a, &b, mirage__lift_named(op, "arith.subi") ? -1 : 1);
    return give_position(body, &a, out);
  }
  const LiftTest *factor = is_constant(&a) ? &a : &b;
  if (!is_constant(factor) || factor->start > MOST || factor->start < -MOST)
    return mirage__lift_fail(body->lift, "a product of positions");
  add_scaled(&product, factor == &a ? &b : &a, factor->start);
  return give_position(body, &product, out);
}

static bool apply_index(LiftBody *body, MlirOperation op, LiftElement *out) {
  double dim;
  LiftTest test = {.kind = LIFT_POSITION};
  if (!mirage__lift_number(mlirOperationGetAttributeByName(op, str("dim")), &dim) || !body->space || dim < 0 ||
      dim >= LIFT_MAX_DIMS)
    return mirage__lift_fail(body->lift, "its body has linalg.index outside of an iteration space");
  if (body->space[(int)dim] >= 0)
    test.steps[body->space[(int)dim]] = 1;
  return give_position(body, &test, out);
}

/// The elements of a constant of integers.
static bool read_integer(MlirAttribute dense, MlirType element, intptr_t at, int64_t *out) {
  if (mlirTypeIsAIndex(element))
    *out = (int64_t)mlirDenseElementsAttrGetIndexValue(dense, at);
  else if (mlirIntegerTypeGetWidth(element) == 64)
    *out = mlirDenseElementsAttrGetInt64Value(dense, at);
  else if (mlirIntegerTypeGetWidth(element) == 32)
    *out = mlirDenseElementsAttrGetInt32Value(dense, at);
  else
    return false;
  return true;
}

const LiftTest *mirage__lift_constant_positions(Lift *lift, MlirValue value, const MirageType *shape) {
  enum { MOST = 1 << 16 };
  MlirAttribute dense = mlirOperationGetAttributeByName(mlirOpResultGetOwner(value), str("value"));
  MlirType element = element_type(value);
  int64_t elements = mirage_type_elements(shape), stride = 1, number;
  LiftTest test = {.kind = LIFT_POSITION};
  if (mlirAttributeIsNull(dense) || !mlirAttributeIsADenseElements(dense) || elements > MOST ||
      mlirDenseElementsAttrIsSplat(dense) || !read_integer(dense, element, 0, &test.start))
    return NULL;
  for (uint32_t d = shape->rank; d-- > 0; stride *= shape->shape[d])
    if (shape->shape[d] > 1 && read_integer(dense, element, (intptr_t)stride, &number) &&
        __builtin_sub_overflow(number, test.start, &test.steps[d]))
      return NULL;
  for (int64_t i = 0; i < elements; i++) {
    int64_t expected = test.start, rest = i;
    for (uint32_t d = shape->rank; d-- > 0; rest /= shape->shape[d])
      if (test.steps[d] > MOST || test.steps[d] < -MOST)
        return NULL;
      else
        expected += test.steps[d] * (rest % shape->shape[d]);
    if (!read_integer(dense, element, (intptr_t)i, &number) || number != expected)
      return NULL;
  }
  return keep(lift, &test);
}

// ----------------------------------------------------------------------------------------------------------- truth values

static MirageOp comparison(int32_t predicate) {
  static const MirageOp ops[NUM_SIGNED] = {[EQ] = MIRAGE_OP_EQUAL,    [NE] = MIRAGE_OP_NOT_EQUAL,
                                           [SLT] = MIRAGE_OP_LESS,    [SLE] = MIRAGE_OP_LESS_EQUAL,
                                           [SGT] = MIRAGE_OP_GREATER, [SGE] = MIRAGE_OP_GREATER_EQUAL};
  return predicate >= 0 && predicate < NUM_SIGNED ? ops[predicate] : MIRAGE_OP_NONE;
}

bool mirage__lift_compare_with_zero(MirageOp op, int64_t value) {
  switch (op) {
  case MIRAGE_OP_EQUAL:
    return value == 0;
  case MIRAGE_OP_NOT_EQUAL:
    return value != 0;
  case MIRAGE_OP_LESS:
    return value < 0;
  case MIRAGE_OP_LESS_EQUAL:
    return value <= 0;
  case MIRAGE_OP_GREATER:
    return value > 0;
  default:
    return value >= 0;
  }
}

/// Positions as a tensor of indices; none where more than one dimension has the step, since an iota counts along one.
static MirageValue index_tensor(LiftBody *body, const int64_t *steps, int64_t sign, int64_t start) {
  MirageValue none = {0};
  int64_t shape[MIRAGE_MAX_RANK];
  int32_t dim = -1;
  for (uint32_t d = 0; d < body->rank; d++) {
    shape[d] = 1;
    if (steps[d] != sign)
      continue;
    if (dim >= 0)
      return none;
    dim = (int32_t)d;
    shape[d] = body->extents[d];
  }
  if (dim < 0)
    return mirage_ugraph_constant(body->lift->graph, mirage_type_tensor(MIRAGE_I32, body->rank, shape), (double)start);
  const MirageAttrs attrs = {
      .iota = {.type = mirage_type_tensor(MIRAGE_I32, body->rank, shape), .dim = dim, .start = start}};
  return mirage_ugraph_apply(body->lift->graph, MIRAGE_OP_IOTA, 0, NULL, &attrs);
}

/// Those that rise, compared with those that fall.
static bool comparison_tensor(LiftBody *body, const LiftTest *test, MirageValue *out) {
  bool any_rises = false;
  for (uint32_t d = 0; d < body->rank; d++) {
    any_rises |= test->steps[d] > 0;
    if (test->steps[d] > 1 || test->steps[d] < -1)
      return mirage__lift_fail(body->lift, "a mask by positions with a step of %d", (int)test->steps[d]);
  }
  MirageValue rising = index_tensor(body, test->steps, 1, any_rises ? test->start : 0);
  MirageValue falling = index_tensor(body, test->steps, -1, any_rises ? 0 : -test->start);
  if (!rising.index || !falling.index)
    return mirage__lift_fail(body->lift, "a mask by a sum of positions");
  *out = mirage__lift_binary(body->lift, test->op, rising, falling);
  return true;
}

bool mirage__lift_predicate(LiftBody *body, const LiftTest *test, MirageValue *out) {
  MirageValue left, right;
  switch (test->kind) {
  case LIFT_TRUTH:
    *out = test->tensor;
    return true;
  case LIFT_HOLDS:
    return comparison_tensor(body, test, out);
  case LIFT_NOT:
    if (!mirage__lift_predicate(body, test->left, &left))
      return false;
    *out = mirage__lift_unary(body->lift, MIRAGE_OP_NOT, left);
    return true;
  case LIFT_AND:
  case LIFT_OR:
    if (!mirage__lift_predicate(body, test->left, &left) || !mirage__lift_predicate(body, test->right, &right))
      return false;
    *out = mirage__lift_binary(body->lift, test->kind == LIFT_AND ? MIRAGE_OP_AND : MIRAGE_OP_OR, left, right);
    return true;
  default:
    return mirage__lift_fail(body->lift, "a comparison of numbers that chooses by no order of its choices");
  }
}

bool mirage__lift_is_mask(const LiftTest *test) {
  if (!test)
    return false;
  if (test->kind == LIFT_AND || test->kind == LIFT_OR)
    return mirage__lift_is_mask(test->left) && mirage__lift_is_mask(test->right);
  return test->kind == LIFT_TRUTH || test->kind == LIFT_HOLDS ||
         (test->kind == LIFT_NOT && mirage__lift_is_mask(test->left));
}

static bool give_opposite(LiftBody *body, const LiftTest *test, LiftElement *out) {
  static const MirageOp opposites[][2] = {{MIRAGE_OP_EQUAL, MIRAGE_OP_NOT_EQUAL},
                                          {MIRAGE_OP_LESS, MIRAGE_OP_GREATER_EQUAL},
                                          {MIRAGE_OP_GREATER, MIRAGE_OP_LESS_EQUAL}};
  LiftTest opposite = {.kind = LIFT_NOT, .left = test};
  if (test->kind == LIFT_NOT)
    opposite = *test->left;
  for (int i = 0; test->kind == LIFT_HOLDS && i < 6; i++)
    if (opposites[i / 2][i % 2] == test->op) {
      opposite = *test;
      opposite.op = opposites[i / 2][1 - i % 2];
    }
  return give(body, &opposite, out);
}

static bool apply_comparison(LiftBody *body, MlirOperation op, LiftElement *out) {
  LiftTest a, b;
  double predicate;
  if (!mirage__lift_number(mlirOperationGetAttributeByName(op, str("predicate")), &predicate))
    return mirage__lift_fail(body->lift, "a comparison without an order");
  MirageOp found = comparison((int32_t)predicate);
  if (found == MIRAGE_OP_NONE)
    return mirage__lift_fail(body->lift, "integers compared without their signs");
  if (!position(body, mlirOperationGetOperand(op, 0), &a) || !position(body, mlirOperationGetOperand(op, 1), &b))
    return false;
  add_scaled(&a, &b, -1);
  a.kind = LIFT_HOLDS;
  a.op = found;
  if (!is_constant(&a))
    return give(body, &a, out);
  *out =
      (LiftElement){.is_number = true, .number = mirage__lift_compare_with_zero(found, a.start), .dtype = MIRAGE_F32};
  return true;
}

/// The logic of masks, of which one may be known.
static bool apply_logic(LiftBody *body, MlirOperation op, LiftElement *out) {
  LiftElement a, b;
  if (!mirage__lift_element(body, mlirOperationGetOperand(op, 0), &a) ||
      !mirage__lift_element(body, mlirOperationGetOperand(op, 1), &b))
    return false;
  bool is_and = mirage__lift_named(op, "arith.andi"), is_or = mirage__lift_named(op, "arith.ori");
  const LiftElement *known = a.is_number ? &a : &b, *other = known == &a ? &b : &a;
  if (!mirage__lift_is_mask(other->test) || (!known->is_number && !mirage__lift_is_mask(known->test)))
    return mirage__lift_fail(body->lift, "its body computes with truth values");
  if (known->is_number && (is_and || is_or)) {
    *out = (known->number != 0) == is_and ? *other : *known;
    return true;
  }
  if (known->is_number && known->number == 0)
    return *out = *other, true;
  if (known->is_number)
    return give_opposite(body, other->test, out);
  if (!is_and && !is_or)
    return mirage__lift_fail(body->lift, "its body has an exclusive or of masks");
  return give(body, &(LiftTest){.kind = is_and ? LIFT_AND : LIFT_OR, .left = a.test, .right = b.test}, out);
}

// ------------------------------------------------------------------------------------------------------------ operations

static bool is_named(MlirOperation op, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (mirage__lift_named(op, names[i]))
      return true;
  return false;
}

static const char *const ARITHMETIC[] = {"arith.addi", "arith.subi", "arith.muli"};
static const char *const LOGIC[] = {"arith.andi", "arith.ori", "arith.xori"};
static const char *const CASTS[] = {"arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui",
                                    "arith.trunci"};
#define COUNT(array) (sizeof(array) / sizeof *(array))

bool mirage__lift_is_integer_op(MlirOperation op) {
  if (mlirOperationGetNumResults(op) != 1)
    return false;
  MlirType type = element_type(mlirOperationGetResult(op, 0));
  if (mirage__lift_named(op, "arith.cmpi"))
    return mirage__lift_is_position_type(element_type(mlirOperationGetOperand(op, 0)));
  if (is_named(op, LOGIC, COUNT(LOGIC)))
    return mirage__lift_is_truth_type(type);
  bool casts =
      is_named(op, CASTS, COUNT(CASTS)) && mirage__lift_is_position_type(element_type(mlirOperationGetOperand(op, 0)));
  return mirage__lift_is_position_type(type) &&
         (mirage__lift_named(op, "linalg.index") || casts || is_named(op, ARITHMETIC, COUNT(ARITHMETIC)));
}

bool mirage__lift_integer_op(LiftBody *body, MlirOperation op, LiftElement *out) {
  LiftTest same;
  int64_t least, greatest;
  if (mirage__lift_named(op, "linalg.index"))
    return apply_index(body, op, out);
  if (mirage__lift_named(op, "arith.cmpi"))
    return apply_comparison(body, op, out);
  if (is_named(op, LOGIC, COUNT(LOGIC)))
    return apply_logic(body, op, out);
  if (is_named(op, ARITHMETIC, COUNT(ARITHMETIC)))
    return apply_arithmetic(body, op, out);
  if (!position(body, mlirOperationGetOperand(op, 0), &same))
    return false;
  range_of(body, &same, &least, &greatest);
  bool without_sign = mirage__lift_named(op, "arith.extui") || mirage__lift_named(op, "arith.index_castui");
  if (without_sign && least < 0)
    return mirage__lift_fail(body->lift, "positions below 0 that are read without their sign");
  return give_position(body, &same, out);
}

bool mirage__lift_number_of(LiftBody *body, const LiftElement *of, MirageDType dtype, LiftElement *out) {
  MirageValue tensor = of->tensor;
  if (is(of, LIFT_POSITION)) {
    LiftTest rising = *of->test;
    for (uint32_t d = 0; d < body->rank; d++)
      if (rising.steps[d] < 0 || rising.steps[d] > 1)
        return mirage__lift_fail(body->lift, "numbers that are every other position");
    tensor = index_tensor(body, rising.steps, 1, rising.start);
    if (!tensor.index)
      return mirage__lift_fail(body->lift, "numbers that are a sum of positions");
  } else if (mirage__lift_is_mask(of->test)) {
    if (!mirage__lift_predicate(body, of->test, &tensor))
      return false;
  } else if (!tensor.index || of->test) {
    return mirage__lift_fail(body->lift, "its body computes with integers");
  }
  *out = (LiftElement){.tensor = mirage__lift_cast(body->lift, tensor, dtype)};
  return true;
}

// --------------------------------------------------------------------------------------------------------------- choices

MirageValue mirage__lift_bias(LiftBody *body, const LiftTest *test) {
  MirageValue visible, zero = mirage__lift_constant(body->lift, test->dtype, body->rank, 0);
  if (!mirage__lift_predicate(body, test->left, &visible))
    return (MirageValue){0};
  return mirage__lift_binary(body->lift, MIRAGE_OP_MASK, visible, zero);
}

static bool is_bottom(const LiftElement *element) { return element->is_number && element->number == -INFINITY; }

/// x where the mask, or its opposite, holds.
static bool give_masked(LiftBody *body, const LiftTest *mask, const LiftElement *x, MirageDType dtype,
                        LiftElement *out) {
  MirageValue visible;
  if (x->is_number && x->number == 0)
    return give(body, &(LiftTest){.kind = LIFT_BIAS, .left = mask, .dtype = dtype}, out);
  if (!mirage__lift_predicate(body, mask, &visible))
    return false;
  *out = (LiftElement){.tensor =
                           mirage__lift_binary(body->lift, MIRAGE_OP_MASK, visible, mirage__lift_as_tensor(body, x))};
  return true;
}

bool mirage__lift_choose_by_mask(LiftBody *body, const LiftTest *mask, const LiftElement *yes, const LiftElement *no,
                                 MirageDType dtype, LiftElement *out) {
  LiftElement opposite;
  MirageValue operands[3];
  if (is_bottom(no))
    return give_masked(body, mask, yes, dtype, out);
  if (is_bottom(yes))
    return give_opposite(body, mask, &opposite) && give_masked(body, opposite.test, no, dtype, out);
  if (!mirage__lift_predicate(body, mask, &operands[0]))
    return false;
  operands[1] = mirage__lift_as_tensor(body, yes);
  operands[2] = mirage__lift_as_tensor(body, no);
  *out = (LiftElement){.tensor = mirage_ugraph_apply(body->lift->graph, MIRAGE_OP_SELECT, 3, operands, NULL)};
  return true;
}

bool mirage__lift_add_bias(LiftBody *body, const LiftElement elements[2], LiftElement *out) {
  for (int i = 0; i < 2; i++)
    if (is(&elements[i], LIFT_BIAS) && elements[1 - i].tensor.index)
      return give_masked(body, elements[i].test->left, &elements[1 - i], elements[i].test->dtype, out);
  return false;
}
