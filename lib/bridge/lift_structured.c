// lift_structured.c - structured operations: reductions and element-wise bodies over an iteration space, and products.
//
// Every operand is a projection of the iteration space: each of its dimensions walks one of the space's, or stays at 0. It is
// lifted to the space by moving its dimensions into the space's order and giving those that it lacks an extent of 1.
//   product       the body adds up a product of two operands (lift_product.c)
//   reduction     the body adds up, or keeps the maximum or minimum of, what it computes: that as element-wise, then a
//                 reduction a dimension. A minimum is the negated maximum of the negated
//   element-wise  everything else
#include "lift_structured.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/Linalg.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MAX_OPERANDS = LIFT_MAX_OPERANDS, NO_DIM = LIFT_NO_DIM };

typedef LiftOperand Operand;
typedef LiftStructured Structured;

static MlirStringRef str(const char *text) { return mlirStringRefCreateFromCString(text); }

// --------------------------------------------------------------------------------------------------------------- reading

bool mirage__lift_is_structured(MlirOperation op) {
  MlirStringRef name = mirage__lift_name(op);
  if (name.length < 7 || memcmp(name.data, "linalg.", 7) != 0 || mlirOperationGetNumRegions(op) != 1)
    return false;
  return !mlirAttributeIsNull(mlirOperationGetAttributeByName(op, str("operandSegmentSizes"))) ||
         mirage__lift_named(op, "linalg.transpose") || mirage__lift_named(op, "linalg.broadcast") ||
         mirage__lift_named(op, "linalg.reduce") || mirage__lift_named(op, "linalg.map");
}

static bool read_map(Structured *s, MlirAffineMap map, Operand *operand) {
  uint32_t seen = 0;
  if (mlirAffineMapGetNumResults(map) > LIFT_MAX_DIMS)
    return mirage__lift_fail(s->lift, "an operand of %d dimensions, at most %d are supported",
                             (int)mlirAffineMapGetNumResults(map), LIFT_MAX_DIMS);
  operand->rank = (uint32_t)mlirAffineMapGetNumResults(map);
  for (uint32_t i = 0; i < operand->rank; i++) {
    MlirAffineExpr expr = mlirAffineMapGetResult(map, (intptr_t)i);
    if (mlirAffineExprIsAConstant(expr) && mlirAffineConstantExprGetValue(expr) == 0) {
      operand->dims[i] = NO_DIM;
      continue;
    }
    if (!mlirAffineExprIsADim(expr))
      return mirage__lift_fail(s->lift, "an operand is indexed by more than one dimension at a time");
    operand->dims[i] = (int32_t)mlirAffineDimExprGetPosition(expr);
    if (seen & 1u << operand->dims[i])
      return mirage__lift_fail(s->lift, "an operand is read along its diagonal");
    seen |= 1u << operand->dims[i];
  }
  return true;
}

/// The operand's dimensions as its lifted type has them: none of extent 1 where there are too many, one where there is none.
static void fit_to_type(Operand *operand, MlirType type) {
  uint32_t kept = 0;
  operand->is_truth =
      mirage__lift_truth_type(type, &operand->type) || mirage__lift_positions_type(type, &operand->type);
  operand->is_known = operand->is_truth || mirage__lift_input_type(type, &operand->type);
  if (operand->rank > MIRAGE_MAX_RANK) {
    for (uint32_t i = 0; i < operand->rank; i++)
      if (mlirShapedTypeGetDimSize(type, (intptr_t)i) != 1)
        operand->dims[kept++] = operand->dims[i];
    operand->rank = kept;
  }
  if (operand->rank == 0)
    operand->dims[operand->rank++] = NO_DIM;
}

static bool read_operand(Structured *s, uint32_t i, MlirAffineMap map) {
  Operand *operand = &s->operands[i];
  operand->value = mlirOperationGetOperand(s->op, (intptr_t)i);
  MlirType type = mlirValueGetType(operand->value);
  operand->is_tensor = mlirTypeIsARankedTensor(type);
  if (!operand->is_tensor)
    return mlirAffineMapGetNumResults(map) == 0 || mirage__lift_fail(s->lift, "an operand is no tensor");
  if (!read_map(s, map, operand))
    return false;
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(type); d++) {
    if (mlirShapedTypeIsDynamicDim(type, d))
      return mirage__lift_fail(s->lift, "its shape is known at run time alone");
    int32_t dim = operand->dims[d];
    int64_t extent = mlirShapedTypeGetDimSize(type, d);
    if (dim == NO_DIM && extent != 1)
      return mirage__lift_fail(s->lift, "it reads one row of an operand that has more");
    if (dim != NO_DIM)
      s->extents[dim] = extent;
  }
  fit_to_type(operand, type); // an output that nobody uses may be of any type
  return true;
}

static bool read_counts(Structured *s) {
  MlirAttribute sizes = mlirOperationGetAttributeByName(s->op, str("operandSegmentSizes"));
  intptr_t operands = mlirOperationGetNumOperands(s->op);
  if (!mlirAttributeIsNull(sizes) && mlirDenseArrayGetNumElements(sizes) == 2) {
    s->num_inputs = (uint32_t)mlirDenseI32ArrayGetElement(sizes, 0);
    s->num_outputs = (uint32_t)mlirDenseI32ArrayGetElement(sizes, 1);
  } else {
    s->num_outputs = (uint32_t)mlirOperationGetNumResults(s->op);
    s->num_inputs = (uint32_t)operands - s->num_outputs;
  }
  return operands <= MAX_OPERANDS ||
         mirage__lift_fail(s->lift, "it has %d operands, at most %d are supported", (int)operands, MAX_OPERANDS);
}

/// A space of too many dimensions without those of extent 1; one of none with one.
static void fit_space(Structured *s) {
  int32_t now[LIFT_MAX_DIMS];
  uint32_t kept = 0;
  for (uint32_t d = 0; d < s->rank; d++) {
    bool drops = s->rank > MIRAGE_MAX_RANK && s->extents[d] == 1;
    now[d] = drops ? NO_DIM : (int32_t)kept;
    if (!drops)
      s->extents[kept++] = s->extents[d];
  }
  memcpy(s->space, now, sizeof now);
  for (uint32_t i = 0; i < s->num_inputs + s->num_outputs; i++)
    for (uint32_t k = 0; k < s->operands[i].rank; k++)
      if (s->operands[i].dims[k] != NO_DIM)
        s->operands[i].dims[k] = now[s->operands[i].dims[k]];
  if (kept == 0)
    s->extents[kept++] = 1;
  s->rank = kept;
}

static bool read_structured(Structured *s) {
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(s->op);
  if (mlirAttributeIsNull(maps) || mlirOperationGetNumResults(s->op) == 0)
    return mirage__lift_fail(s->lift, "it works on memory");
  if (!read_counts(s))
    return false;
  if (mlirArrayAttrGetNumElements(maps) != (intptr_t)(s->num_inputs + s->num_outputs))
    return mirage__lift_fail(s->lift, "its maps do not fit its operands");
  for (uint32_t i = 0; i < s->num_inputs + s->num_outputs; i++) {
    MlirAffineMap map = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, (intptr_t)i));
    s->rank = (uint32_t)mlirAffineMapGetNumDims(map);
    if (s->rank > LIFT_MAX_DIMS || mlirAffineMapGetNumSymbols(map) > 0)
      return mirage__lift_fail(s->lift, "its iteration space has %u dimensions", s->rank);
    if (!read_operand(s, i, map))
      return false;
  }
  s->block = mlirRegionGetFirstBlock(mlirOperationGetRegion(s->op, 0));
  for (uint32_t d = 0; d < s->rank; d++)
    if (s->extents[d] < 1)
      return mirage__lift_fail(s->lift, "dimension %u of its iteration space has no elements", d);
  fit_space(s);
  return true;
}

// --------------------------------------------------------------------------------------------------------------- lifting

bool mirage__lift_walks(const LiftOperand *operand, uint32_t dim) {
  for (uint32_t i = 0; i < operand->rank; i++)
    if (operand->dims[i] == (int32_t)dim)
      return true;
  return false;
}

MirageValue mirage__lift_arranged(LiftStructured *s, const LiftOperand *operand, MirageValue value, uint32_t count,
                                  const uint32_t *order) {
  int32_t perm[LIFT_MAX_DIMS];
  int64_t shape[LIFT_MAX_DIMS];
  uint32_t used = 0;
  for (uint32_t k = 0; k < count; k++)
    for (uint32_t i = 0; i < operand->rank; i++)
      if (operand->dims[i] == (int32_t)order[k]) {
        shape[used] = s->extents[order[k]];
        perm[used++] = (int32_t)i;
      }
  uint32_t walked = used;
  for (uint32_t i = 0; i < operand->rank; i++)
    if (operand->dims[i] == NO_DIM)
      perm[used++] = (int32_t)i;
  if (walked == 0)
    shape[walked++] = 1;
  value = mirage__lift_transpose(s->lift, value, perm);
  return mirage__lift_reshape(s->lift, value, walked, shape);
}

/// The operand over the whole space: its extents, and 1 where it does not walk.
static MirageValue over_space(Structured *s, const Operand *operand, MirageValue value) {
  int64_t shape[MIRAGE_MAX_RANK];
  int32_t perm[LIFT_MAX_DIMS];
  uint32_t used = 0;
  for (uint32_t d = 0; d < s->rank; d++)
    shape[d] = mirage__lift_walks(operand, d) ? s->extents[d] : 1;
  for (uint32_t d = 0; d < s->rank; d++)
    for (uint32_t i = 0; i < operand->rank; i++)
      if (operand->dims[i] == (int32_t)d)
        perm[used++] = (int32_t)i;
  for (uint32_t i = 0; i < operand->rank; i++)
    if (operand->dims[i] == NO_DIM)
      perm[used++] = (int32_t)i;
  return mirage__lift_reshape(s->lift, mirage__lift_transpose(s->lift, value, perm), s->rank, shape);
}

MirageValue mirage__lift_to_output(LiftStructured *s, const LiftOperand *output, MirageValue value, uint32_t count,
                                   const uint32_t *order) {
  int32_t perm[LIFT_MAX_DIMS];
  int64_t full[LIFT_MAX_DIMS];
  uint32_t used = 0;
  for (uint32_t i = 0; i < output->rank; i++)
    for (uint32_t k = 0; k < count; k++)
      if (output->dims[i] == (int32_t)order[k]) {
        full[used] = s->extents[order[k]];
        perm[used++] = (int32_t)k;
      }
  for (uint32_t k = 0; k < count; k++) // reduced: of extent 1
    if (!mirage__lift_walks(output, order[k])) {
      full[used] = 1;
      perm[used++] = (int32_t)k;
    }
  value = mirage__lift_transpose(s->lift, value, perm);
  value = mirage__lift_broadcast(s->lift, value, used, full);
  return mirage__lift_reshape(s->lift, value, output->type.rank, output->type.shape);
}

// ----------------------------------------------------------------------------------------------- reductions, element-wise

// What a body adds up, or keeps the maximum of: by REDUCE_SUM or REDUCE_MAX; NONE: element-wise.
typedef struct Fold {
  MirageOp reduce;
  bool is_minimum; // the negated maximum of the negated
  bool is_and;     // of truth values; REDUCE_MAX otherwise
  MlirValue value;
} Fold;

/// What an operator folds by; its value is not set.
static Fold fold_by(MlirOperation op) {
  static const struct {
    const char *name;
    Fold fold;
  } rows[] = {
      {"arith.addf", {.reduce = MIRAGE_OP_REDUCE_SUM}},
      {"arith.maximumf", {.reduce = MIRAGE_OP_REDUCE_MAX}},
      {"arith.maxnumf", {.reduce = MIRAGE_OP_REDUCE_MAX}},
      {"arith.minimumf", {.reduce = MIRAGE_OP_REDUCE_MAX, .is_minimum = true}},
      {"arith.minnumf", {.reduce = MIRAGE_OP_REDUCE_MAX, .is_minimum = true}},
      {"arith.andi", {.reduce = MIRAGE_OP_REDUCE_MAX, .is_and = true}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (mirage__lift_named(op, rows[i].name))
      return rows[i].fold;
  return (Fold){.reduce = MIRAGE_OP_NONE};
}

static Fold fold_of(const Structured *s, uint32_t output, MlirValue yielded) {
  Fold none = {.reduce = MIRAGE_OP_NONE, .value = yielded};
  if (!mlirValueIsAOpResult(yielded))
    return none;
  MlirOperation op = mlirOpResultGetOwner(yielded);
  Fold fold = fold_by(op);
  if (fold.reduce == MIRAGE_OP_NONE)
    return none;
  MlirValue held = mlirBlockGetArgument(s->block, (intptr_t)(s->num_inputs + output));
  for (intptr_t i = 0; i < 2; i++)
    if (mlirValueEqual(mlirOperationGetOperand(op, i), held)) {
      fold.value = mlirOperationGetOperand(op, 1 - i);
      return fold;
    }
  return none;
}

// Between an operand and the space.
typedef struct Walk {
  Structured *s;
  const Operand *operand;
} Walk;

static MirageValue space_tensor(void *user, MirageValue tensor) {
  const Walk *walk = user;
  Operand of = *walk->operand;
  const MirageType *type = mirage_ugraph_type(walk->s->lift->graph, tensor);
  for (uint32_t i = 0; i < of.rank; i++) // an extent of 1 of a mask stays
    if (type->shape[i] == 1)
      of.dims[i] = NO_DIM;
  return over_space(walk->s, &of, tensor);
}

static MirageValue space_stretched(void *user, MirageValue tensor) {
  const Walk *walk = user;
  return over_space(walk->s, walk->operand, tensor);
}

static void space_steps(void *user, const int64_t *from, int64_t *out_steps) {
  const Walk *walk = user;
  memset(out_steps, 0, LIFT_MAX_DIMS * sizeof *out_steps);
  for (uint32_t i = 0; i < walk->operand->rank; i++)
    if (walk->operand->dims[i] != NO_DIM)
      out_steps[walk->operand->dims[i]] += from[i];
}

/// Truth values or positions over the whole space, moved as the operand is.
static bool test_over_space(Structured *s, const Operand *operand, LiftElement *out) {
  const LiftTest *test = mirage__lift_find_test(s->lift, operand->value);
  if (!test)
    return true; // said where it is read
  const LiftMove move = {s->lift, space_stretched, space_tensor, space_steps, &(Walk){s, operand}};
  out->test = mirage__lift_move_test(&move, test);
  return out->test != NULL;
}

/// Whether a tensor of integers is one that a product of bytes gave.
static bool is_sum(const Structured *s, MlirValue value) {
  const LiftValue *bound = mirage__lift_find(s->lift, value);
  return bound && bound->lifted.index && mirage_ugraph_type(s->lift->graph, bound->lifted)->dtype == MIRAGE_I32;
}

/// What the body's i-th argument is: a number, a test, or a tensor in `inputs`.
static bool prepare_input(Structured *s, LiftBody *body, uint32_t i, MirageValue *out_input) {
  const Operand *operand = &s->operands[i];
  LiftElement element = {.value = mlirBlockGetArgument(s->block, (intptr_t)i).ptr};
  MlirType type = mlirValueGetType(operand->value);
  *out_input = (MirageValue){0};
  if (mirage__lift_splat(operand->value, &element.number)) {
    element.is_number = true;
    if (!mirage__lift_dtype(operand->is_tensor ? mlirShapedTypeGetElementType(type) : type, &element.dtype))
      element.dtype = MIRAGE_F32;
  } else if (operand->is_tensor && !test_over_space(s, operand, &element)) {
    return false;
  } else if (operand->is_tensor && (!operand->is_truth || is_sum(s, operand->value)) && !element.test) {
    *out_input = mirage__lift_value(s->lift, operand->value);
    if (out_input->index)
      *out_input = over_space(s, operand, *out_input);
  }
  if (element.is_number || element.test)
    body->values[body->count++] = element;
  return true;
}

static bool prepare_body(Structured *s, LiftBody *body, MirageValue inputs[MAX_OPERANDS]) {
  if (s->rank > MIRAGE_MAX_RANK)
    return mirage__lift_fail(s->lift, "its iteration space has %u dimensions, at most %d are supported", s->rank,
                             MIRAGE_MAX_RANK);
  *body = (LiftBody){.lift = s->lift,
                     .block = s->block,
                     .rank = s->rank,
                     .num_inputs = s->num_inputs,
                     .inputs = inputs,
                     .extents = s->extents,
                     .space = s->space};
  for (uint32_t i = 0; i < s->num_inputs; i++)
    if (!prepare_input(s, body, i, &inputs[i]))
      return false;
  s->lift->reason[0] = '\0'; // what is not known may not be read
  return true;
}

/// The value, stretched over the dimensions that are reduced, and reduced over them.
static MirageValue reduced(Structured *s, const Operand *y, const Fold *fold, MirageValue value) {
  int64_t shape[MIRAGE_MAX_RANK];
  const MirageType *type = mirage_ugraph_type(s->lift->graph, value);
  for (uint32_t d = 0; d < s->rank; d++)
    shape[d] = mirage__lift_walks(y, d) ? type->shape[d] : s->extents[d];
  value = mirage__lift_broadcast(s->lift, value, s->rank, shape);
  if (fold->is_minimum)
    value = mirage__lift_unary(s->lift, MIRAGE_OP_NEG, value);
  for (uint32_t d = 0; d < s->rank; d++) {
    MirageAttrs attrs = {.reduce = {.dim = (int32_t)d, .extent = 1}};
    if (!mirage__lift_walks(y, d) && s->extents[d] > 1)
      value = mirage_ugraph_apply(s->lift->graph, fold->reduce, 1, &value, &attrs);
  }
  return fold->is_minimum ? mirage__lift_unary(s->lift, MIRAGE_OP_NEG, value) : value;
}

/// Whether a fold that starts with it starts with nothing. TOSA's maxima start with the lowest number there is.
static bool is_neutral(const Fold *fold, MirageDType dtype, double start) {
  double largest = dtype == MIRAGE_F16 ? 65504 : dtype == MIRAGE_BF16 ? 0x1.FEp127 : FLT_MAX;
  if (fold->reduce == MIRAGE_OP_REDUCE_SUM)
    return start == 0;
  return fold->is_minimum ? start >= largest : start <= -largest;
}

/// What the output held before, folded in: nothing where it is neutral.
static MirageValue with_start(Structured *s, const Operand *y, const Fold *fold, MirageValue value) {
  MirageOp op = fold->reduce == MIRAGE_OP_REDUCE_SUM ? MIRAGE_OP_ADD : fold->is_minimum ? MIRAGE_OP_MIN : MIRAGE_OP_MAX;
  double start;
  if (mirage__lift_splat(y->value, &start)) {
    if (is_neutral(fold, y->type.dtype, start))
      return value;
    return mirage__lift_binary(s->lift, op, value, mirage__lift_constant(s->lift, y->type.dtype, y->type.rank, start));
  }
  MirageValue held = mirage__lift_value(s->lift, y->value);
  if (!held.index)
    return held;
  held = mirage__lift_cast(s->lift, held, mirage_ugraph_type(s->lift->graph, value)->dtype);
  return mirage__lift_binary(s->lift, op, value, held);
}

/// Whether something is folded, in fact or in form.
static bool folds(const Structured *s, const Operand *y, const Fold *fold, bool *out_must) {
  bool any = false;
  *out_must = false;
  for (uint32_t d = 0; d < s->rank; d++) {
    any |= !mirage__lift_walks(y, d);
    *out_must |= !mirage__lift_walks(y, d) && s->extents[d] > 1;
  }
  return any && fold->reduce != MIRAGE_OP_NONE;
}

static MirageValue lift_output(Structured *s, uint32_t output, MlirValue yielded) {
  const Operand *y = &s->operands[s->num_inputs + output];
  Fold fold = fold_of(s, output, yielded);
  MirageValue none = {0}, inputs[MAX_OPERANDS];
  uint32_t order[LIFT_MAX_DIMS];
  LiftBody body;
  bool must_fold;
  s->lift->reason[0] = '\0';
  if (fold.reduce == MIRAGE_OP_REDUCE_SUM) {
    MirageValue value = mirage__lift_product(s, y, fold.value);
    if (value.index)
      return with_start(s, y, &fold, value);
  }
  for (uint32_t d = 0; d < s->rank; d++)
    order[d] = d;
  bool reduces = folds(s, y, &fold, &must_fold);
  if (must_fold && !reduces)
    return mirage__lift_fail(s->lift, "it reduces by what is no sum, no maximum and no minimum"), none;
  if (!prepare_body(s, &body, inputs))
    return none;
  MirageValue value = mirage__lift_tensor(&body, reduces ? fold.value : yielded);
  if (!value.index)
    return none;
  if (reduces)
    value = reduced(s, y, &fold, value);
  value = mirage__lift_to_output(s, y, value, s->rank, order);
  return reduces ? with_start(s, y, &fold, value) : value;
}

// ----------------------------------------------------------------------------------------------------------- truth values

static MirageValue output_stretched(void *user, MirageValue tensor) {
  const Walk *walk = user;
  uint32_t order[LIFT_MAX_DIMS];
  for (uint32_t d = 0; d < walk->s->rank; d++)
    order[d] = d;
  return mirage__lift_to_output(walk->s, walk->operand, tensor, walk->s->rank, order);
}

static MirageValue output_tensor(void *user, MirageValue tensor) {
  const Walk *walk = user;
  Structured *s = walk->s;
  int32_t perm[LIFT_MAX_DIMS];
  int64_t shape[LIFT_MAX_DIMS];
  uint32_t used = 0;
  const MirageType type = *mirage_ugraph_type(s->lift->graph, tensor);
  for (uint32_t i = 0; i < walk->operand->rank; i++) {
    int32_t dim = walk->operand->dims[i];
    shape[i] = dim == NO_DIM ? 1 : type.shape[dim];
    if (dim != NO_DIM)
      perm[used++] = dim;
  }
  for (uint32_t d = 0; d < s->rank; d++)
    if (!mirage__lift_walks(walk->operand, d))
      perm[used++] = (int32_t)d;
  return mirage__lift_reshape(s->lift, mirage__lift_transpose(s->lift, tensor, perm), walk->operand->rank, shape);
}

static void output_steps(void *user, const int64_t *from, int64_t *out_steps) {
  const Walk *walk = user;
  memset(out_steps, 0, LIFT_MAX_DIMS * sizeof *out_steps);
  for (uint32_t i = 0; i < walk->operand->rank; i++)
    if (walk->operand->dims[i] != NO_DIM)
      out_steps[i] = from[walk->operand->dims[i]];
}

/// Truth values, positions or a bias, element by element, in the result's shape.
static bool bind_test(Structured *s, const Operand *y, MlirValue result, const LiftTest *test) {
  const LiftMove move = {s->lift, output_stretched, output_tensor, output_steps, &(Walk){s, y}};
  const LiftTest *moved = mirage__lift_move_test(&move, test);
  return moved && mirage__lift_bind_test(s->lift, result, moved);
}

/// Whether all of a row is -inf: the rows that were compared are kept, whatever shape the answer takes.
static bool bind_whole_row(Structured *s, const Operand *y, MlirValue result, const LiftTest *test) {
  double start;
  if (!mirage__lift_asks_for_bottom(test) || !mirage__lift_splat(y->value, &start) || start == 0)
    return mirage__lift_fail(s->lift, "it reduces truth values");
  LiftTest *whole_row = mirage_arena_copy(s->lift->arena, test, sizeof *test);
  if (!whole_row)
    return mirage__lift_fail(s->lift, "out of memory");
  whole_row->whole_row = true;
  return mirage__lift_bind_test(s->lift, result, whole_row);
}

static bool lift_truth(Structured *s, uint32_t output, MlirValue yielded) {
  const Operand *y = &s->operands[s->num_inputs + output];
  MlirValue result = mlirOperationGetResult(s->op, (intptr_t)output);
  Fold fold = fold_of(s, output, yielded);
  MirageValue inputs[MAX_OPERANDS];
  LiftElement element;
  LiftBody body;
  bool must_fold;
  bool reduces = folds(s, y, &fold, &must_fold);
  if (must_fold && !(reduces && fold.is_and))
    return mirage__lift_fail(s->lift, "it reduces truth values");
  if (!prepare_body(s, &body, inputs) || !mirage__lift_element(&body, reduces ? fold.value : yielded, &element))
    return false;
  if (!element.test)
    return mirage__lift_fail(s->lift, "truth values or integers that no comparison and no position gives");
  return reduces ? bind_whole_row(s, y, result, element.test) : bind_test(s, y, result, element.test);
}

// --------------------------------------------------------------------------------------------------------------- results

/// Whether the body is one that may give a bias: it chooses, or copies what did.
static bool chooses(Structured *s) {
  if (mirage__lift_has_choice(s->op))
    return true;
  for (uint32_t i = 0; i < s->num_inputs; i++) {
    const LiftValue *bound = mirage__lift_find(s->lift, s->operands[i].value);
    if (bound && bound->test && bound->test->kind == LIFT_BIAS)
      return true;
  }
  return false;
}

/// What is 0 or -inf by a mask alone; false, without a reason, where the body gives something else.
static bool bind_bias(Structured *s, uint32_t i, MlirValue yielded) {
  const Operand *y = &s->operands[s->num_inputs + i];
  MirageValue inputs[MAX_OPERANDS];
  LiftElement element;
  LiftBody body;
  bool must_fold;
  Fold fold = fold_of(s, i, yielded);
  if (!chooses(s) || folds(s, y, &fold, &must_fold) || must_fold || !prepare_body(s, &body, inputs))
    return false;
  bool found = mirage__lift_element(&body, yielded, &element) && element.test && element.test->kind == LIFT_BIAS;
  return found && bind_test(s, y, mlirOperationGetResult(s->op, (intptr_t)i), element.test);
}

/// A product of bytes, in i32, which is added to nothing.
static bool bind_sum_of_bytes(Structured *s, const Operand *y, MlirValue product) {
  double start;
  if (!mirage__lift_splat(y->value, &start) || start != 0)
    return mirage__lift_fail(s->lift, "a product of bytes that is added to other integers");
  MirageValue value = mirage__lift_product(s, y, product);
  if (!value.index)
    return s->lift->reason[0] ? false : mirage__lift_fail(s->lift, "a product of bytes that is none of matrices");
  return mirage__lift_bind(s->lift, mlirOperationGetResult(s->op, 0), value);
}

static bool bind_output(Structured *s, uint32_t i, MlirValue yielded) {
  const Operand *y = &s->operands[s->num_inputs + i];
  MlirValue product;
  if (mirage__lift_adds_bytes(s->op, &product) && y->is_tensor && y->is_known)
    return bind_sum_of_bytes(s, y, product);
  if (!y->is_tensor || !y->is_known)
    return mirage__lift_fail(s->lift, "its result is no tensor of f16, bf16 or f32 with at most %d dimensions",
                             MIRAGE_MAX_RANK);
  if (y->is_truth)
    return lift_truth(s, i, yielded);
  if (bind_bias(s, i, yielded))
    return true;
  MirageValue value = lift_output(s, i, yielded);
  if (!value.index)
    return s->lift->reason[0] ? false : mirage__lift_fail(s->lift, "shapes or types that no operator takes");
  return mirage__lift_bind(s->lift, mlirOperationGetResult(s->op, (intptr_t)i), value);
}

bool mirage__lift_structured(Lift *lift, MlirOperation op) {
  Structured s = {.lift = lift, .op = op};
  if (!read_structured(&s))
    return false;
  MlirOperation yield = mlirBlockGetTerminator(s.block);
  for (uint32_t i = 0; i < s.num_outputs; i++) {
    if (mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(op, (intptr_t)i))))
      continue; // an argmax that nobody wants
    if (!bind_output(&s, i, mlirOperationGetOperand(yield, (intptr_t)i)))
      return false;
  }
  return true;
}

// ---------------------------------------------------------------------------------------------------------------- weight

/// Whether anything is folded, truth values aside.
static bool has_reduction(MlirOperation op) {
  Lift lift = {.arena = NULL};
  Structured s = {.lift = &lift, .op = op};
  MlirValue product;
  if (!read_structured(&s) || (s.operands[s.num_inputs].is_truth && !mirage__lift_adds_bytes(op, &product)))
    return false;
  for (uint32_t d = 0; d < s.rank; d++)
    if (!mirage__lift_walks(&s.operands[s.num_inputs], d) && s.extents[d] > 1)
      return true;
  return false;
}

bool mirage__lift_has_choice(MlirOperation op) {
  if (!mirage__lift_is_structured(op))
    return mirage__lift_named(op, "arith.select");
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  for (MlirOperation at = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(at);
       at = mlirOperationGetNextInBlock(at))
    if (mirage__lift_named(at, "arith.select"))
      return true;
  return false;
}

uint32_t mirage__lift_weight(MlirOperation op) {
  uint32_t operands;
  if (!mirage__lift_is_structured(op)) {
    MirageOp found = mirage__lift_operator(mirage__lift_name(op), &operands);
    return found != MIRAGE_OP_NONE || mirage__lift_is_math(op) || mirage__lift_named(op, "arith.select") ? 1 : 0;
  }
  if (has_reduction(op))
    return 2;
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  for (MlirOperation at = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(at);
       at = mlirOperationGetNextInBlock(at)) {
    MirageOp found = mirage__lift_operator(mirage__lift_name(at), &operands);
    if ((found != MIRAGE_OP_NONE && found != MIRAGE_OP_CAST) || mirage__lift_named(at, "arith.select") ||
        mirage__lift_is_math(at))
      return 1;
  }
  return 0;
}
