// gelu.c - the exact GELU of JAX, written with the error function again.
//
// JAX's gelu(x) = x/2 * erfc(-x / sqrt 2), and every lowering of erfc that we know prints some sixty operators: polynomials in y^2
// and in 1 / y^2, an exponential, and selects between them. No graph has selects, but the error function is an operator.
//
// Found:   select(|y| < .., .., ..), perhaps rounded, and used once: in a product. All that it is made of, element by element, is
//          read as a tape of scalar operators (TapeEntry) down to the tensor y; nothing else may be in it but numbers.
// Judged:  by its values. The tape is run in double at points from -13 to 13, and on both sides of each number that something
//          is compared with, and of its root. It is erfc if it is so at each of them, to 2^-18 of its value.
// Safe:    1 - erf(y) is as near as erfc(y) to what erfc is, but not in proportion to it where it is tiny. So the other factor and
//          y must both be multiples of one x: then the product is right to 2^-23 of x, as PyTorch's GELU is.
// Written: 1 - erf(y), in the type that it was computed in; what nobody uses then goes. All else stays as it was written.
// Source:  the text of jax 0.10 by IREE 3.13 and by StableHLO's passes (test/exporters).
#include "gelu.h"

#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <math.h>
#include <string.h>

enum { MOST_ENTRIES = 512, MOST_DEPTH = 256 };

typedef enum TapeKind { TAPE_X, TAPE_NUMBER, TAPE_FUNCTION, TAPE_COMPARE } TapeKind;

typedef struct TapeEntry {
  const void *value; // MlirValue's pointer
  TapeKind kind;
  double number; // NUMBER's; what it is at the point at hand
  double (*function)(double a, double b, double c);
  int32_t predicate; // of arith.cmpf, without what it says of NaN
  uint32_t operands[3];
} TapeEntry;

typedef struct Tape {
  MlirValue x;
  bool chooses, uses_x;
  uint32_t count, depth;
  TapeEntry entries[MOST_ENTRIES];
} Tape;

static MlirStringRef str(const char *text) { return mlirStringRefCreateFromCString(text); }

// -------------------------------------------------------------------------------------------------------------- operators

static double f_add(double a, double b, double c) { return a + b; }
static double f_sub(double a, double b, double c) { return a - b; }
static double f_mul(double a, double b, double c) { return a * b; }
static double f_div(double a, double b, double c) { return a / b; }
static double f_neg(double a, double b, double c) { return -a; }
static double f_abs(double a, double b, double c) { return fabs(a); }
static double f_exp(double a, double b, double c) { return exp(a); }
static double f_max(double a, double b, double c) { return fmax(a, b); }
static double f_min(double a, double b, double c) { return fmin(a, b); }
static double f_same(double a, double b, double c) { return a; }
static double f_select(double a, double b, double c) { return a != 0 ? b : c; }

typedef struct TapeOperator {
  const char *name;
  uint32_t operands;
  double (*function)(double a, double b, double c);
} TapeOperator;

static const TapeOperator *operator_of(MlirOperation op) {
  static const TapeOperator rows[] = {
      {"arith.addf", 2, f_add},  {"arith.subf", 2, f_sub},     {"arith.mulf", 2, f_mul},
      {"arith.divf", 2, f_div},  {"arith.negf", 1, f_neg},     {"math.absf", 1, f_abs},
      {"math.exp", 1, f_exp},    {"arith.maximumf", 2, f_max}, {"arith.minimumf", 2, f_min},
      {"arith.extf", 1, f_same}, {"arith.truncf", 1, f_same},  {"arith.select", 3, f_select},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (mirage__lift_named(op, rows[i].name))
      return &rows[i];
  return NULL;
}

// ------------------------------------------------------------------------------------------------------------------ tapes

/// A structured operation with one result, whose operands and result are walked alike, but for numbers.
static bool is_element_wise(MlirOperation op) {
  if (!mirage__lift_named(op, "linalg.generic") || mlirOperationGetNumResults(op) != 1)
    return false;
  MlirAttribute maps = mlirOperationGetAttributeByName(op, str("indexing_maps"));
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(maps); i++) {
    double number;
    if (!mirage__lift_splat(mlirOperationGetOperand(op, i), &number) &&
        !mlirAffineMapIsIdentity(mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i))))
      return false;
  }
  return true;
}

static MlirValue yielded_by(MlirOperation op) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  return mlirOperationGetOperand(mlirBlockGetTerminator(block), 0);
}

static MlirOperation maker_of(MlirValue value) {
  return mlirValueIsAOpResult(value) ? mlirOpResultGetOwner(value) : (MlirOperation){NULL};
}

static bool read_value(Tape *tape, MlirValue value, uint32_t *out);

static bool add_entry(Tape *tape, TapeEntry entry, uint32_t *out) {
  if (tape->count == MOST_ENTRIES)
    return false;
  *out = tape->count;
  tape->entries[tape->count++] = entry;
  return true;
}

/// A scalar operator of a body.
static bool read_operator(Tape *tape, MlirOperation op, MlirValue value, uint32_t *out) {
  TapeEntry entry = {.value = value.ptr, .kind = TAPE_FUNCTION};
  const TapeOperator *row = operator_of(op);
  uint32_t operands = row ? row->operands : 2;
  double predicate;
  if (!row) {
    enum { UNORDERED = 7 };
    if (!mirage__lift_named(op, "arith.cmpf") ||
        !mirage__lift_number(mlirOperationGetAttributeByName(op, str("predicate")), &predicate))
      return false;
    entry.kind = TAPE_COMPARE;
    entry.predicate = (int32_t)predicate > UNORDERED ? (int32_t)predicate - UNORDERED : (int32_t)predicate;
  } else {
    entry.function = row->function;
    tape->chooses |= row->function == f_select;
  }
  for (uint32_t i = 0; i < operands; i++)
    if (!read_value(tape, mlirOperationGetOperand(op, (intptr_t)i), &entry.operands[i]))
      return false;
  return add_entry(tape, entry, out);
}

/// A value of a body, or a tensor: what it is for one element.
static bool read_made(Tape *tape, MlirValue value, uint32_t *out) {
  if (mlirValueIsABlockArgument(value)) {
    MlirOperation owner = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value));
    intptr_t index = mlirBlockArgumentGetArgNumber(value);
    return is_element_wise(owner) && index + 1 < mlirOperationGetNumOperands(owner) &&
           read_value(tape, mlirOperationGetOperand(owner, index), out);
  }
  MlirOperation op = mlirOpResultGetOwner(value);
  if (is_element_wise(op))
    return read_value(tape, yielded_by(op), out);
  return !mlirTypeIsAShaped(mlirValueGetType(value)) && read_operator(tape, op, value, out);
}

static bool read_value(Tape *tape, MlirValue value, uint32_t *out) {
  TapeEntry entry = {.value = value.ptr, .kind = TAPE_X};
  for (uint32_t i = 0; i < tape->count; i++)
    if (tape->entries[i].value == value.ptr) {
      *out = i;
      return true;
    }
  if (mlirValueEqual(value, tape->x)) {
    tape->uses_x = true;
    return add_entry(tape, entry, out);
  }
  if (mirage__lift_splat(value, &entry.number)) {
    entry.kind = TAPE_NUMBER;
    return add_entry(tape, entry, out);
  }
  if (tape->depth == MOST_DEPTH)
    return false;
  tape->depth++;
  bool read = read_made(tape, value, out);
  tape->depth--;
  return read;
}

static double compare(int32_t predicate, double a, double b) {
  enum { EQUAL = 1, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, NOT_EQUAL };
  switch (predicate) {
  case EQUAL:
    return a == b;
  case GREATER:
    return a > b;
  case GREATER_EQUAL:
    return a >= b;
  case LESS:
    return a < b;
  case LESS_EQUAL:
    return a <= b;
  case NOT_EQUAL:
    return a != b;
  default:
    return NAN;
  }
}

/// The last entry's value at x.
static double run(Tape *tape, double x) {
  for (uint32_t i = 0; i < tape->count; i++) {
    TapeEntry *entry = &tape->entries[i];
    double a = tape->entries[entry->operands[0]].number, b = tape->entries[entry->operands[1]].number,
           c = tape->entries[entry->operands[2]].number;
    if (entry->kind == TAPE_X)
      entry->number = x;
    else if (entry->kind == TAPE_FUNCTION)
      entry->number = entry->function(a, b, c);
    else if (entry->kind == TAPE_COMPARE)
      entry->number = compare(entry->predicate, a, b);
  }
  return tape->entries[tape->count - 1].number;
}

// ---------------------------------------------------------------------------------------------------------------- judging

/// Reads what `value` is as a function of `x`, element by element.
static bool read_tape(Tape *tape, MlirValue value, MlirValue x) {
  uint32_t last;
  double number;
  if (!mlirTypeIsARankedTensor(mlirValueGetType(x)) || mirage__lift_splat(x, &number))
    return false;
  tape->x = x;
  tape->chooses = tape->uses_x = false;
  tape->count = tape->depth = 0;
  return read_value(tape, value, &last) && last + 1 == tape->count && tape->uses_x;
}

static bool is_erfc_at(Tape *tape, double y) {
  double expected = erfc(y), found = run(tape, y);
  return fabs(found - expected) <= 0x1p-18 * expected + 0x1p-120; // false where it is NaN
}

/// Just below, just above, and the same of the opposite.
static bool is_erfc_around(Tape *tape, double y) {
  const double near[] = {y * (1 - 0x1p-16), y * (1 + 0x1p-16)};
  for (int i = 0; i < 2; i++)
    if (fabs(y) < 1e4 && (!is_erfc_at(tape, near[i]) || !is_erfc_at(tape, -near[i])))
      return false;
  return true;
}

static bool is_erfc(Tape *tape) {
  enum { POINTS = 832, EACH = 32 }; // moved, so that no point is special
  if (!tape->chooses)
    return false;
  for (int i = 0; i < POINTS; i++)
    if (!is_erfc_at(tape, (i - POINTS / 2 + 0.37) / EACH))
      return false;
  for (uint32_t i = 0; i < tape->count; i++)
    for (int k = 0; k < 2 && tape->entries[i].kind == TAPE_COMPARE; k++) {
      const TapeEntry *side = &tape->entries[tape->entries[i].operands[k]];
      if (side->kind == TAPE_NUMBER &&
          !(is_erfc_around(tape, side->number) && is_erfc_around(tape, sqrt(fabs(side->number)))))
        return false;
    }
  return true;
}

/// Whether `value` is a multiple of `x`, and of nothing else.
static bool is_multiple(Tape *tape, MlirValue value, MlirValue x) {
  static const double points[] = {-7.1, -1.37, -0.011, 0.73, 2.9, 11.3};
  if (!read_tape(tape, value, x))
    return false;
  double factor = run(tape, 1);
  for (size_t i = 0; i < sizeof points / sizeof *points; i++)
    if (!(fabs(run(tape, points[i]) - factor * points[i]) <= 0x1p-30 * fabs(factor * points[i])))
      return false;
  return factor != 0;
}

static bool gives(MlirOperation op, const char *name) {
  if (mlirOperationIsNull(op) || !is_element_wise(op))
    return false;
  MlirOperation inner = maker_of(yielded_by(op));
  return !mlirOperationIsNull(inner) && mirage__lift_named(inner, name);
}

static bool is_used_once(MlirValue value) {
  MlirOpOperand use = mlirValueGetFirstUse(value);
  return !mlirOpOperandIsNull(use) && mlirOpOperandIsNull(mlirOpOperandGetNextUse(use));
}

/// The select behind a factor, perhaps rounded between, if both are used once.
static MlirOperation choice_behind(MlirValue factor) {
  MlirOperation none = {NULL}, op = maker_of(factor);
  if (gives(op, "arith.truncf") && is_used_once(factor)) {
    factor = mlirOperationGetOperand(op, 0);
    op = maker_of(factor);
  }
  return gives(op, "arith.select") && is_used_once(factor) ? op : none;
}

/// The tensor whose size the select's condition compares; null where it does something else.
static MlirValue compared_by(MlirOperation choice) {
  MlirValue none = {NULL};
  MlirOperation select = maker_of(yielded_by(choice));
  MlirValue condition = mlirOperationGetOperand(select, 0);
  if (!mlirValueIsABlockArgument(condition))
    return none;
  MlirOperation compare = maker_of(mlirOperationGetOperand(choice, mlirBlockArgumentGetArgNumber(condition)));
  if (!gives(compare, "arith.cmpf"))
    return none;
  MlirOperation size = maker_of(mlirOperationGetOperand(compare, 0));
  return gives(size, "math.absf") ? mlirOperationGetOperand(size, 0) : none;
}

/// Whether `other` and `y` are multiples of one tensor: of a factor of `other`, or of that itself.
static bool are_proportional(Tape *tape, MlirValue other, MlirValue y) {
  MlirOperation product = maker_of(other);
  for (intptr_t k = 0; gives(product, "arith.mulf") && k + 1 < mlirOperationGetNumOperands(product); k++) {
    MlirValue x = mlirOperationGetOperand(product, k);
    if (is_multiple(tape, other, x) && is_multiple(tape, y, x))
      return true;
  }
  return is_multiple(tape, y, other);
}

/// The select that gives erfc(y) to the product `op`, and y; null where there is none.
static MlirOperation erfc_of(MlirOperation op, Tape *tape, MlirValue *out_y) {
  MlirOperation none = {NULL};
  if (!gives(op, "arith.mulf") || mlirOperationGetNumOperands(op) != 3)
    return none;
  for (intptr_t i = 0; i < 2; i++) {
    MlirOperation choice = choice_behind(mlirOperationGetOperand(op, i));
    if (mlirOperationIsNull(choice))
      continue;
    *out_y = compared_by(choice);
    if (!mlirValueIsNull(*out_y) &&
        mlirTypeEqual(mlirValueGetType(*out_y), mlirValueGetType(mlirOperationGetResult(choice, 0))) &&
        read_tape(tape, mlirOperationGetResult(choice, 0), *out_y) && is_erfc(tape) &&
        are_proportional(tape, mlirOperationGetOperand(op, 1 - i), *out_y))
      return choice;
  }
  return none;
}

// ---------------------------------------------------------------------------------------------------------------- writing

static MlirValue emit(MlirBlock block, MlirLocation loc, const char *name, intptr_t count, const MlirValue *operands,
                      MlirType type, MlirAttribute value) {
  MlirOperationState state = mlirOperationStateGet(str(name), loc);
  if (count)
    mlirOperationStateAddOperands(&state, count, operands);
  if (!mlirTypeIsNull(type))
    mlirOperationStateAddResults(&state, 1, &type);
  if (!mlirAttributeIsNull(value)) {
    MlirNamedAttribute named =
        mlirNamedAttributeGet(mlirIdentifierGet(mlirLocationGetContext(loc), str("value")), value);
    mlirOperationStateAddAttributes(&state, 1, &named);
  }
  MlirOperation op = mlirOperationCreate(&state);
  mlirBlockAppendOwnedOperation(block, op);
  return mlirTypeIsNull(type) ? (MlirValue){NULL} : mlirOperationGetResult(op, 0);
}

static void fill_body(MlirBlock block, MlirLocation loc, MlirType type) {
  MlirAttribute none = mlirAttributeGetNull();
  MlirValue y = mlirBlockGetArgument(block, 0);
  MlirValue one =
      emit(block, loc, "arith.constant", 0, NULL, type, mlirFloatAttrDoubleGet(mlirLocationGetContext(loc), type, 1));
  MlirValue erf = emit(block, loc, "math.erf", 1, &y, type, none);
  MlirValue rest = emit(block, loc, "arith.subf", 2, (MlirValue[]){one, erf}, type, none);
  emit(block, loc, "linalg.yield", 1, &rest, (MlirType){NULL}, none);
}

/// 1 - erf(y) where the select stood.
static void write(MlirOperation choice, MlirValue y) {
  MlirContext context = mlirOperationGetContext(choice);
  MlirLocation loc = mlirOperationGetLocation(choice);
  MlirType type = mlirValueGetType(y), element = mlirShapedTypeGetElementType(type);
  MlirAttribute map = mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(context, mlirShapedTypeGetRank(type)));
  MlirNamedAttribute attributes[] = {
      mlirNamedAttributeGet(mlirIdentifierGet(context, str("indexing_maps")),
                            mlirArrayAttrGet(context, 2, (MlirAttribute[]){map, map})),
      mlirNamedAttributeGet(mlirIdentifierGet(context, str("iterator_types")),
                            mlirOperationGetAttributeByName(choice, str("iterator_types"))),
      mlirNamedAttributeGet(mlirIdentifierGet(context, str("operandSegmentSizes")),
                            mlirDenseI32ArrayGet(context, 2, (int32_t[]){1, 1})),
  };
  MlirOperationState state = mlirOperationStateGet(str("linalg.generic"), loc);
  MlirRegion region = mlirRegionCreate();
  MlirBlock block = mlirBlockCreate(2, (MlirType[]){element, element}, (MlirLocation[]){loc, loc});
  fill_body(block, loc, element);
  mlirRegionAppendOwnedBlock(region, block);
  MlirValue output = mlirOperationGetOperand(choice, mlirOperationGetNumOperands(choice) - 1);
  mlirOperationStateAddOperands(&state, 2, (MlirValue[]){y, output});
  mlirOperationStateAddResults(&state, 1, &type);
  mlirOperationStateAddAttributes(&state, sizeof attributes / sizeof *attributes, attributes);
  mlirOperationStateAddOwnedRegions(&state, 1, &region);
  MlirOperation op = mlirOperationCreate(&state);
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(choice), choice, op);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(choice, 0), mlirOperationGetResult(op, 0));
}

// What led to a select: each operation behind those that it uses.
typedef struct Trail {
  uint32_t count;
  MlirOperation ops[MOST_ENTRIES];
} Trail;

static void follow(Trail *trail, MlirOperation op, uint32_t depth) {
  if (mlirOperationIsNull(op) || !is_element_wise(op) || depth == MOST_DEPTH || trail->count == MOST_ENTRIES)
    return;
  for (uint32_t i = 0; i < trail->count; i++)
    if (mlirOperationEqual(trail->ops[i], op))
      return;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    follow(trail, maker_of(mlirOperationGetOperand(op, i)), depth + 1);
  if (trail->count < MOST_ENTRIES)
    trail->ops[trail->count++] = op;
}

/// Removes what led to the select and nobody uses any more, users before what they use.
static void remove_unused(MlirOperation choice, Trail *trail) {
  trail->count = 0;
  follow(trail, choice, 0);
  for (uint32_t i = trail->count; i-- > 0;)
    if (mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(trail->ops[i], 0))))
      mlirOperationDestroy(trail->ops[i]);
}

MirageStatus mirage__rewrite_gelu(MlirBlock block, MirageArena *arena) {
  Tape *tape = mirage_arena_alloc(arena, sizeof *tape);
  Trail *trail = mirage_arena_alloc(arena, sizeof *trail);
  if (!tape || !trail)
    return MIRAGE_NO_MEMORY;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    MlirValue y;
    MlirOperation choice = erfc_of(op, tape, &y);
    if (mlirOperationIsNull(choice))
      continue;
    write(choice, y);
    remove_unused(choice, trail);
  }
  return MIRAGE_OK;
}
