// generate_body.c - bodies of structured operations: scalars, an operator at a time.
//
// Most operators are such as the bridge knows; some are not. Operands of log, sqrt and quotients are made positive nearly
// always: an element without a value compares nothing.
#include "generate_internal.h"

#include <math.h>

void body_add(GenBody *body, GenValue value) {
  if (body->count < (int)(sizeof body->values / sizeof *body->values))
    body->values[body->count++] = value;
}

static GenValue apply(Gen *g, const char *name, GenValue a) {
  GenValue result = new_value(g, a.type);
  LINE(g, "%s = %s %s : %s\n", name_text(g, result), name, name_text(g, a), type_text(g, a.type));
  return result;
}

static GenValue apply2(Gen *g, const char *name, GenValue a, GenValue b) {
  GenValue result = new_value(g, a.type);
  LINE(g, "%s = %s %s, %s : %s\n", name_text(g, result), name, name_text(g, a), name_text(g, b), type_text(g, a.type));
  return result;
}

static GenValue convert(Gen *g, const char *name, GenValue a, Elem elem) {
  GenType type = a.type;
  type.elem = elem;
  GenValue result = new_value(g, type);
  LINE(g, "%s = %s %s : %s to %s\n", name_text(g, result), name, name_text(g, a), type_text(g, a.type),
       type_text(g, type));
  return result;
}

GenValue body_cast(Gen *g, GenValue value, Elem elem) {
  Elem from = value.type.elem;
  if (from == elem)
    return value;
  if (from == INDEX)
    return elem == I64 ? convert(g, "arith.index_cast", value, I64)
                       : body_cast(g, convert(g, "arith.index_cast", value, I64), elem);
  if (elem == INDEX)
    return convert(g, "arith.index_cast", body_cast(g, value, I64), INDEX);
  if (is_float(from) && is_float(elem)) {
    if (elem_bits(from) == elem_bits(elem)) // f16 and bf16, by way of f32
      return convert(g, "arith.truncf", convert(g, "arith.extf", value, F32), elem);
    return convert(g, elem_bits(from) < elem_bits(elem) ? "arith.extf" : "arith.truncf", value, elem);
  }
  if (is_float(from)) {
    GenValue wide = body_cast(g, value, F32);
    return body_cast(g,
                     convert(g, "arith.fptosi",
                             apply2(g, "arith.minimumf", apply(g, "math.absf", wide), scalar_constant(g, F32, 100)),
                             I32),
                     elem);
  }
  if (is_float(elem))
    return convert(g, from == I1 ? "arith.uitofp" : "arith.sitofp", value, elem);
  return convert(g, elem_bits(from) < elem_bits(elem) ? (from == I1 ? "arith.extui" : "arith.extsi") : "arith.trunci",
                 value, elem);
}

static GenValue positive(Gen *g, GenValue a) {
  if (draw_chance(&g->draw, 8))
    return a; // as it comes
  if (draw_chance(&g->draw, 40))
    return apply(g, "math.exp", apply(g, "math.tanh", a));
  return apply2(g, "arith.addf", apply(g, "math.absf", a), scalar_constant(g, a.type.elem, 0.5));
}

static GenValue unary(Gen *g, GenValue a) {
  static const char *const known[] = {"math.tanh", "math.erf", "math.absf", "arith.negf",
                                      "math.tanh", "math.sin", "math.cos"};
  static const char *const of_positive[] = {"math.log", "math.sqrt", "math.rsqrt"};
  static const char *const others[] = {"math.floor", "math.ceil", "math.round",     "math.exp2", "math.expm1",
                                       "math.atan",  "math.cbrt", "math.roundeven", "math.trunc"};
  int kind = draw_below(&g->draw, 100);
  if (kind < 50)
    return apply(g, DRAW_FROM(&g->draw, known), a);
  if (kind < 65)
    return apply(g, "math.exp", draw_chance(&g->draw, 70) ? apply(g, "math.tanh", a) : a);
  if (kind < 93)
    return apply(g, DRAW_FROM(&g->draw, of_positive), positive(g, a));
  return kind < 96 ? apply(g, draw_chance(&g->draw, 50) ? "math.log1p" : "math.log2", positive(g, a))
                   : apply(g, DRAW_FROM(&g->draw, others), a);
}

static GenValue power(Gen *g, GenValue a) {
  static const double exponents[] = {2, 3, 0.5, -0.5, -1, 1, 0, 4, 1.5};
  if (draw_chance(&g->draw, 30)) {
    GenValue exponent = scalar_constant(g, I32, draw_below(&g->draw, 4)), result = new_value(g, a.type);
    LINE(g, "%s = math.fpowi %s, %s : %s, i32\n", name_text(g, result), name_text(g, a), name_text(g, exponent),
         type_text(g, a.type));
    return result;
  }
  double exponent = DRAW_FROM(&g->draw, exponents);
  return apply2(g, "math.powf", exponent == 2 || exponent == 3 ? a : positive(g, a),
                scalar_constant(g, a.type.elem, exponent));
}

static GenValue choice(Gen *g, GenValue a, GenValue b) {
  static const char *const predicates[] = {"ogt", "oge", "olt", "ole", "ugt", "uge", "ult",
                                           "ule", "oeq", "one", "une", "uno", "ueq"};
  GenValue condition = new_value(g, scalar_of(I1)), result = new_value(g, a.type);
  bool by_order = draw_chance(&g->draw, 85), turned = draw_chance(&g->draw, 50);
  int known = draw_chance(&g->draw, 90) ? 8 : 13;
  LINE(g, "%s = arith.cmpf %s, %s, %s : %s\n", name_text(g, condition), predicates[draw_below(&g->draw, known)],
       name_text(g, a), name_text(g, b), type_text(g, a.type));
  GenValue other = by_order ? b : apply(g, "arith.negf", b);
  LINE(g, "%s = arith.select %s, %s, %s : %s\n", name_text(g, result), name_text(g, condition),
       name_text(g, turned ? other : a), name_text(g, turned ? a : other), type_text(g, a.type));
  return result;
}

/// x above zero, something else below: leaky relu, elu and what is nearly one.
static GenValue choice_by_sign(Gen *g, GenValue x) {
  static const char *const predicates[] = {"ogt", "oge", "olt", "ole", "ugt", "ult"};
  Elem elem = x.type.elem;
  GenValue condition = new_value(g, scalar_of(I1)), result = new_value(g, x.type);
  GenValue zero = scalar_constant(g, elem, draw_chance(&g->draw, 90) ? 0 : 1), other;
  if (draw_chance(&g->draw, 50)) {
    other = apply2(g, "arith.mulf", x, scalar_constant(g, elem, 0.125));
  } else {
    GenValue low = draw_chance(&g->draw, 80) ? apply2(g, "arith.minimumf", x, zero) : x;
    other = apply2(g, "arith.subf", apply(g, draw_chance(&g->draw, 80) ? "math.exp" : "math.tanh", low),
                   scalar_constant(g, elem, draw_chance(&g->draw, 80)));
  }
  bool turned = draw_chance(&g->draw, 20);
  LINE(g, "%s = arith.cmpf %s, %s, %s : %s\n", name_text(g, condition), DRAW_FROM(&g->draw, predicates),
       name_text(g, turned ? zero : x), name_text(g, turned ? x : zero), type_text(g, x.type));
  if (draw_chance(&g->draw, 10))
    condition = apply2(g, "arith.xori", condition, scalar_constant(g, I1, 1));
  turned = draw_chance(&g->draw, 40);
  LINE(g, "%s = arith.select %s, %s, %s : %s\n", name_text(g, result), name_text(g, condition),
       name_text(g, turned ? other : x), name_text(g, turned ? x : other), type_text(g, x.type));
  return result;
}

static GenValue binary(Gen *g, GenValue a, GenValue b) {
  static const char *const names[] = {"arith.addf",     "arith.subf",   "arith.mulf",     "arith.addf",
                                      "arith.subf",     "arith.mulf",   "arith.maximumf", "arith.maxnumf",
                                      "arith.minimumf", "arith.minnumf"};
  static const char *const others[] = {"arith.remf", "math.copysign", "math.atan2"};
  int kind = draw_below(&g->draw, 100);
  if (kind < 70)
    return apply2(g, DRAW_FROM(&g->draw, names), a, b);
  if (kind < 85)
    return apply2(g, "arith.divf", a, positive(g, b));
  if (kind < 92)
    return choice(g, a, b);
  if (kind < 97)
    return choice_by_sign(g, a);
  return apply2(g, DRAW_FROM(&g->draw, others), a, positive(g, b));
}

static GenValue body_index(Gen *g, const GenBody *body) {
  GenValue value = new_value(g, scalar_of(INDEX));
  LINE(g, "%s = linalg.index %d : index\n", name_text(g, value), draw_below(&g->draw, body->indices));
  return value;
}

/// An index, moved, stretched, or set off against another.
static GenValue position(Gen *g, const GenBody *body) {
  static const char *const names[] = {"arith.addi", "arith.subi", "arith.muli"};
  GenValue at = body_index(g, body);
  int kind = draw_below(&g->draw, 100);
  if (kind < 40)
    return at;
  GenValue other = kind < 75 ? scalar_constant(g, INDEX, draw_below(&g->draw, 6) - 2) : body_index(g, body);
  return apply2(g, names[draw_below(&g->draw, kind < 75 ? 3 : 2)], at, other);
}

static GenValue compare_positions(Gen *g, const GenBody *body) {
  static const char *const predicates[] = {"eq", "ne", "slt", "sle", "sgt", "sge", "slt", "sge", "ult", "uge"};
  static const Elem types[] = {INDEX, INDEX, I64, I32};
  Elem type = DRAW_FROM(&g->draw, types);
  GenValue a = body_cast(g, position(g, body), type), result = new_value(g, scalar_of(I1));
  GenValue b = draw_chance(&g->draw, 25) ? scalar_constant(g, type, draw_below(&g->draw, 4))
                                         : body_cast(g, position(g, body), type);
  LINE(g, "%s = arith.cmpi %s, %s, %s : %s\n", name_text(g, result), DRAW_FROM(&g->draw, predicates), name_text(g, a),
       name_text(g, b), type_text(g, a.type));
  return result;
}

/// A truth by positions, by what comes from outside, or by some of these.
static GenValue truth(Gen *g, const GenBody *body, int depth) {
  static const char *const names[] = {"arith.andi", "arith.ori", "arith.xori"};
  const char *name = DRAW_FROM(&g->draw, names);
  if (depth > 0 && draw_chance(&g->draw, 40)) {
    GenValue left = truth(g, body, depth - 1);
    return apply2(g, name, left, truth(g, body, depth - 1));
  }
  for (int i = 0; i < body->count; i++)
    if (body->values[i].type.elem == I1 && draw_chance(&g->draw, 50))
      return body->values[i];
  return draw_chance(&g->draw, 6) ? scalar_constant(g, I1, draw_below(&g->draw, 2)) : compare_positions(g, body);
}

/// What a mask does: one number or another, or its truth as a number.
static GenValue masked(Gen *g, const GenBody *body, GenValue a, GenValue b) {
  static const double rest[] = {-INFINITY, -INFINITY, 0, 1, -1};
  GenValue holds = truth(g, body, 2), result = new_value(g, a.type);
  int kind = draw_below(&g->draw, 100);
  if (kind < 15)
    return apply2(g, "arith.mulf", a, body_cast(g, holds, a.type.elem));
  GenValue other = kind < 60 ? b : scalar_constant(g, a.type.elem, DRAW_FROM(&g->draw, rest));
  bool adds = kind >= 85, turned = draw_chance(&g->draw, 50);
  GenValue one = adds ? scalar_constant(g, a.type.elem, 0) : a;
  LINE(g, "%s = arith.select %s, %s, %s : %s\n", name_text(g, result), name_text(g, holds),
       name_text(g, turned ? other : one), name_text(g, turned ? one : other), type_text(g, a.type));
  return adds ? apply2(g, "arith.addf", a, result) : result;
}

static GenValue integers(Gen *g, GenValue a, GenValue b) {
  static const char *const names[] = {"arith.addi", "arith.subi",  "arith.muli",  "arith.andi", "arith.ori",
                                      "arith.xori", "arith.maxsi", "arith.minsi", "arith.minui"};
  GenValue left = body_cast(g, a, I32), right = body_cast(g, b, I32);
  return apply2(g, DRAW_FROM(&g->draw, names), left, right);
}

static GenValue some_scalar(Gen *g, const GenBody *body) { return body->values[draw_below(&g->draw, body->count)]; }

/// A scalar of float, by a cast where it is none.
static GenValue operand(Gen *g, GenBody *body, Elem elem) {
  if (body->count == 0 || draw_chance(&g->draw, 12)) {
    static const double numbers[] = {0, 1, 2, -1, 0.5, 64, 1e-5, 0.1, 3};
    return scalar_constant(g, elem, DRAW_FROM(&g->draw, numbers));
  }
  return body_cast(g, some_scalar(g, body), elem);
}

static GenValue operation(Gen *g, GenBody *body, Elem elem) {
  int kind = draw_below(&g->draw, 100);
  if (kind < 3 && body->indices)
    return body_index(g, body);
  if (kind < 5 && body->count)
    return integers(g, some_scalar(g, body), some_scalar(g, body));
  GenValue a = operand(g, body, elem);
  if (kind < 40)
    return unary(g, a);
  if (kind < 46)
    return power(g, a);
  if (kind < 54 && body->indices)
    return masked(g, body, a, operand(g, body, elem));
  return binary(g, a, operand(g, body, elem));
}

GenValue body_expression(Gen *g, GenBody *body, Elem elem, int operators) {
  Elem at = draw_chance(&g->draw, 80) ? elem : some_float(g); // computed in another type, rounded in the end
  if (!is_float(at))
    at = some_float(g);
  GenValue last = body->count ? some_scalar(g, body) : scalar_constant(g, at, 1);
  for (int i = 0; i < operators; i++) {
    last = operation(g, body, at);
    body_add(body, last);
  }
  return body_cast(g, last, elem);
}
