// lift_choice.c - comparisons, and selects that choose by one.
//
// A graph has no truth values. A comparison is kept as what it compares (LiftTest), and a select says what it means:
//   select(a > b, a, b)              max(a, b), as relu and clamps are printed; the other orders likewise
//   select(x > 0, x, f(min(x, 0)))   max(x, 0) + f(min(x, 0)), where f(0) = 0: elu and its like
//   select(x > 0, x, c * x)          max(x, 0) + c * min(x, 0)
//   select(|m| = inf, 0, m)          m, of a row's maximum m: logsumexp's guard. Without infinite inputs there is none to guard
//   select(a row is -inf, 0, y)      y, made of exponentials of that row: a softmax that is made safe. Without wholly masked rows
//                                    there is none to guard; where the row's scores are masked, the sum is 1 for such rows
// Source: the exporters' own text (test/exporters).
#include "lift.h"

#include "mlir-c/BuiltinTypes.h"

#include <math.h>

/// arith.cmpf's predicates; the unordered ones lie 7 behind.
enum { EQUAL = 1, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, NOT_EQUAL, BETWEEN = 7 };

static MlirStringRef str(const char *text) { return mlirStringRefCreateFromCString(text); }

/// The predicate, whatever it says of NaN.
static int32_t order_of(const LiftTest *test) {
  return test->predicate > BETWEEN ? test->predicate - BETWEEN : test->predicate;
}

static MirageNodeView node_of(const Lift *lift, MirageValue value) {
  MirageNode none = {0}, node = mirage_ugraph_def(lift->graph, value);
  return node.index == none.index ? (MirageNodeView){.op = MIRAGE_OP_NONE} : mirage_ugraph_node(lift->graph, node);
}

/// Without widening casts, which change no order.
static MirageValue narrow(const Lift *lift, MirageValue value) {
  for (;;) {
    MirageNodeView node = node_of(lift, value);
    if (node.op != MIRAGE_OP_CAST || mirage_ugraph_type(lift->graph, value)->dtype != MIRAGE_F32)
      return value;
    value = node.operands[0];
  }
}

/// Without reshapes, too.
static MirageValue bare(const Lift *lift, MirageValue value) {
  for (;;) {
    value = narrow(lift, value);
    MirageNodeView node = node_of(lift, value);
    if (node.op != MIRAGE_OP_RESHAPE)
      return value;
    value = node.operands[0];
  }
}

/// Whether `value` is made of `of`; `steps` bounds what is looked at.
static bool is_made_of(const Lift *lift, MirageValue value, MirageValue of, uint32_t *steps) {
  value = bare(lift, value);
  if (value.index == of.index)
    return true;
  MirageNodeView node = node_of(lift, value);
  for (uint32_t i = 0; i < node.num_operands && *steps > 0; i++) {
    --*steps;
    if (is_made_of(lift, node.operands[i], of, steps))
      return true;
  }
  return false;
}

/// Whether `value` is made of an exponential of what is made of `row`, as a softmax is.
static bool is_made_of_exponential(const Lift *lift, MirageValue value, MirageValue row, uint32_t *steps) {
  MirageNodeView node = node_of(lift, bare(lift, value));
  uint32_t inside = 64;
  if (node.op == MIRAGE_OP_EXP)
    return is_made_of(lift, node.operands[0], row, &inside);
  for (uint32_t i = 0; i < node.num_operands && *steps > 0; i++) {
    --*steps;
    if (is_made_of_exponential(lift, node.operands[i], row, steps))
      return true;
  }
  return false;
}

static bool same(const Lift *lift, const LiftElement *a, const LiftElement *b) {
  if (a->test || b->test || a->is_number != b->is_number)
    return false;
  return a->is_number ? a->number == b->number : narrow(lift, a->tensor).index == narrow(lift, b->tensor).index;
}

static bool is_number(const LiftElement *element, double number) {
  return element->is_number && element->number == number;
}

// ----------------------------------------------------------------------------------------------------------------- tests

static bool give(LiftBody *body, const LiftTest *test, LiftElement *out) {
  *out = (LiftElement){.test = mirage_arena_copy(body->lift->arena, test, sizeof *test)};
  return out->test || mirage__lift_fail(body->lift, "out of memory");
}

bool mirage__lift_compare(LiftBody *body, MlirOperation op, LiftElement *out) {
  LiftTest test = {0};
  double predicate;
  if (!mirage__lift_number(mlirOperationGetAttributeByName(op, str("predicate")), &predicate))
    return mirage__lift_fail(body->lift, "a comparison without an order");
  test.predicate = (int32_t)predicate;
  if (!mirage__lift_element(body, mlirOperationGetOperand(op, 0), &test.a) ||
      !mirage__lift_element(body, mlirOperationGetOperand(op, 1), &test.b))
    return false;
  return give(body, &test, out);
}

bool mirage__lift_negate_test(LiftBody *body, MlirOperation op, LiftElement *out) {
  enum { SUM_OF_OPPOSITES = 14 };
  LiftElement test, number;
  if (!mirage__lift_element(body, mlirOperationGetOperand(op, 0), &test) ||
      !mirage__lift_element(body, mlirOperationGetOperand(op, 1), &number))
    return false;
  bool known = test.test && test.test->kind == LIFT_COMPARES && !test.test->whole_row && number.is_number &&
               number.number != 0 && test.test->predicate > 0 && test.test->predicate < SUM_OF_OPPOSITES &&
               test.test->predicate != BETWEEN;
  if (!known)
    return mirage__lift_fail(body->lift, "its body computes with truth values");
  LiftTest opposite = *test.test;
  opposite.predicate = SUM_OF_OPPOSITES - opposite.predicate;
  return give(body, &opposite, out);
}

bool mirage__lift_asks_for_bottom(const LiftTest *test) {
  return test->kind == LIFT_COMPARES && !test->whole_row && order_of(test) == EQUAL && is_number(&test->b, -INFINITY);
}

/// Whether the test is |m| = inf, or its opposite.
static bool asks_for_infinity(const Lift *lift, const LiftTest *test, LiftElement *out_m, bool *out_infinite) {
  int32_t order = order_of(test);
  if (test->whole_row || !is_number(&test->b, INFINITY) || test->a.is_number || !test->a.tensor.index)
    return false;
  MirageNodeView node = node_of(lift, narrow(lift, test->a.tensor));
  if (node.op != MIRAGE_OP_MAX)
    return false;
  for (int i = 0; i < 2; i++) {
    MirageNodeView other = node_of(lift, node.operands[1 - i]);
    if (other.op != MIRAGE_OP_NEG || other.operands[0].index != node.operands[i].index)
      continue;
    *out_m = (LiftElement){.tensor = node.operands[i]};
    *out_infinite = order == EQUAL || order == GREATER_EQUAL;
    return *out_infinite || order == NOT_EQUAL || order == LESS;
  }
  return false;
}

// --------------------------------------------------------------------------------------------------------------- choices

/// The value of an element-wise operator of numbers.
static bool evaluate(MirageOp op, double a, double b, double *out) {
  switch (op) {
  case MIRAGE_OP_ADD:
    return *out = a + b, true;
  case MIRAGE_OP_SUB:
    return *out = a - b, true;
  case MIRAGE_OP_MUL:
    return *out = a * b, true;
  case MIRAGE_OP_DIV:
    return *out = a / b, b != 0;
  case MIRAGE_OP_NEG:
    return *out = -a, true;
  case MIRAGE_OP_EXP:
    return *out = exp(a), true;
  case MIRAGE_OP_TANH:
    return *out = tanh(a), true;
  case MIRAGE_OP_CAST:
    return *out = a, true;
  default:
    return false;
  }
}

/// The value of `value` where min(x, 0) is 0, if it is made of that and numbers alone.
static bool at_zero(const Lift *lift, MirageValue value, const LiftElement *x, uint32_t depth, double *out) {
  double numbers[2] = {0};
  MirageNodeView node = node_of(lift, value);
  if (node.op == MIRAGE_OP_CONSTANT) {
    *out = node.attrs->constant.value;
    return true;
  }
  if (node.op == MIRAGE_OP_MIN) {
    LiftElement a = {.tensor = node.operands[0]};
    MirageNodeView zero = node_of(lift, node.operands[1]);
    *out = 0;
    return same(lift, &a, x) && zero.op == MIRAGE_OP_CONSTANT && zero.attrs->constant.value == 0;
  }
  if (depth == 0 || node.op == MIRAGE_OP_NONE || node.num_operands == 0 || node.num_operands > 2)
    return false;
  for (uint32_t i = 0; i < node.num_operands; i++)
    if (!at_zero(lift, node.operands[i], x, depth - 1, &numbers[i]))
      return false;
  return evaluate(node.op, numbers[0], numbers[1], out);
}

/// x where it is above 0, and otherwise what is made of min(x, 0), or is a multiple of x.
static bool choose_branch(LiftBody *body, const LiftElement *x, const LiftElement *otherwise, MirageDType dtype,
                          LiftElement *out) {
  enum { DEPTH = 16 };
  Lift *lift = body->lift;
  double number;
  if (x->is_number || otherwise->is_number || !otherwise->tensor.index)
    return false;
  MirageValue zero = mirage__lift_constant(lift, dtype, body->rank, 0), low = otherwise->tensor;
  if (!at_zero(lift, low, x, DEPTH, &number) || number != 0) {
    MirageNodeView node = node_of(lift, low);
    LiftElement factor = {.tensor = node.op == MIRAGE_OP_MUL ? node.operands[0] : (MirageValue){0}};
    if (node.op != MIRAGE_OP_MUL || !same(lift, &factor, x) || node_of(lift, node.operands[1]).op != MIRAGE_OP_CONSTANT)
      return false;
    low = mirage__lift_binary(lift, MIRAGE_OP_MUL, mirage__lift_binary(lift, MIRAGE_OP_MIN, x->tensor, zero),
                              node.operands[1]);
  }
  out->tensor =
      mirage__lift_binary(lift, MIRAGE_OP_ADD, mirage__lift_binary(lift, MIRAGE_OP_MAX, x->tensor, zero), low);
  return true;
}

static bool choose_by_order(LiftBody *body, const LiftTest *test, const LiftElement *yes, const LiftElement *no,
                            LiftElement *out) {
  Lift *lift = body->lift;
  int32_t order = order_of(test);
  bool straight = same(lift, &test->a, yes) && same(lift, &test->b, no);
  bool turned = same(lift, &test->a, no) && same(lift, &test->b, yes);
  if (test->whole_row || order < GREATER || order > LESS_EQUAL || straight == turned)
    return false;
  bool greater = order <= GREATER_EQUAL;
  const LiftElement *first = yes->is_number ? no : yes, *second = first == yes ? no : yes;
  out->tensor = mirage__lift_binary(lift, greater == straight ? MIRAGE_OP_MAX : MIRAGE_OP_MIN,
                                    mirage__lift_as_tensor(body, first), mirage__lift_as_tensor(body, second));
  return true;
}

static bool choose_by_sign(LiftBody *body, const LiftTest *test, const LiftElement *yes, const LiftElement *no,
                           MirageDType dtype, LiftElement *out) {
  int32_t order = order_of(test);
  if (test->whole_row || !is_number(&test->b, 0) || order < GREATER || order > LESS_EQUAL)
    return false;
  const LiftElement *above = order <= GREATER_EQUAL ? yes : no, *below = above == yes ? no : yes;
  return same(body->lift, &test->a, above) && choose_branch(body, above, below, dtype, out);
}

/// select(|m| = inf, 0, m) of a row's maximum.
static bool pass_infinity(const Lift *lift, const LiftTest *test, const LiftElement *yes, const LiftElement *no,
                          LiftElement *out) {
  LiftElement m;
  bool infinite;
  if (!asks_for_infinity(lift, test, &m, &infinite))
    return false;
  const LiftElement *guarded = infinite ? yes : no, *kept = infinite ? no : yes;
  if (!is_number(guarded, 0) || !same(lift, &m, kept) || node_of(lift, bare(lift, m.tensor)).op != MIRAGE_OP_REDUCE_MAX)
    return false;
  *out = *kept;
  return true;
}

/// select(a row is -inf, 0, softmax of the row).
static bool pass_whole_row(Lift *lift, const LiftTest *test, const LiftElement *yes, const LiftElement *no,
                           LiftElement *out) {
  uint32_t steps = 64;
  if (!is_number(yes, 0) || no->is_number || !no->tensor.index ||
      !is_made_of_exponential(lift, no->tensor, bare(lift, test->a.tensor), &steps))
    return false;
  if (!mirage__lift_empty_rows(lift, bare(lift, test->a.tensor), no->tensor, out))
    *out = *no;
  return true;
}

static bool pass_guard(Lift *lift, const LiftTest *test, const LiftElement *yes, const LiftElement *no,
                       LiftElement *out) {
  return test->whole_row ? pass_whole_row(lift, test, yes, no, out) : pass_infinity(lift, test, yes, no, out);
}

bool mirage__lift_choose(LiftBody *body, MlirOperation op, LiftElement *out) {
  LiftElement condition, yes, no;
  MirageDType dtype;
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  if (!mirage__lift_dtype(mlirTypeIsAShaped(type) ? mlirShapedTypeGetElementType(type) : type, &dtype))
    return mirage__lift_fail(body->lift, "its body computes what is not f16, bf16 or f32");
  if (!mirage__lift_element(body, mlirOperationGetOperand(op, 0), &condition) ||
      !mirage__lift_element(body, mlirOperationGetOperand(op, 1), &yes) ||
      !mirage__lift_element(body, mlirOperationGetOperand(op, 2), &no))
    return false;
  if (condition.is_number) {
    *out = condition.number != 0 ? yes : no;
    return true;
  }
  const LiftTest *test = condition.test;
  if (mirage__lift_is_mask(test))
    return mirage__lift_choose_by_mask(body, test, &yes, &no, dtype, out);
  if (test && test->kind == LIFT_COMPARES &&
      (pass_guard(body->lift, test, &yes, &no, out) || choose_by_order(body, test, &yes, &no, out) ||
       choose_by_sign(body, test, &yes, &no, dtype, out)))
    return true;
  return mirage__lift_fail(body->lift, "its body has arith.select, and chooses by no order of its choices");
}
