// interpret_structured.c - linalg: for each point of the iteration space, in order, the body.
#include "interpret.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/Linalg.h"

#include <string.h>

enum { MOST_OPERANDS = 24, MOST_DIMS = 12 };

// Where an operand is read for a point: a sum over the space's dimensions, and a constant.
typedef struct Access {
  Tensor *tensor;
  int64_t steps[MOST_DIMS], start;
} Access;

typedef struct Loops {
  int rank, num_inputs, num_outputs;
  int64_t extents[MOST_DIMS];
  Access operands[MOST_OPERANDS];
} Loops;

/// Adds `factor` times an affine expression, in elements of the operand.
static bool add_expression(Interpreter *in, Access *access, MlirAffineExpr expr, int64_t factor) {
  if (mlirAffineExprIsADim(expr)) {
    access->steps[mlirAffineDimExprGetPosition(expr)] += factor;
    return true;
  }
  if (mlirAffineExprIsAConstant(expr)) {
    access->start += factor * mlirAffineConstantExprGetValue(expr);
    return true;
  }
  if (!mlirAffineExprIsAAdd(expr) && !mlirAffineExprIsAMul(expr))
    return give_up(in, "an affine expression that is not known");
  MlirAffineExpr left = mlirAffineBinaryOpExprGetLHS(expr), right = mlirAffineBinaryOpExprGetRHS(expr);
  if (mlirAffineExprIsAAdd(expr))
    return add_expression(in, access, left, factor) && add_expression(in, access, right, factor);
  if (!mlirAffineExprIsAConstant(right))
    return give_up(in, "a product of dimensions");
  return add_expression(in, access, left, factor * mlirAffineConstantExprGetValue(right));
}

static bool read_access(Interpreter *in, Loops *loops, MlirAffineMap map, Access *access) {
  int64_t step = 1;
  for (int i = access->tensor->rank; i-- > 0;) {
    MlirAffineExpr expr = mlirAffineMapGetResult(map, i);
    if (!add_expression(in, access, expr, step))
      return false;
    if (mlirAffineExprIsADim(expr))
      loops->extents[mlirAffineDimExprGetPosition(expr)] = access->tensor->shape[i];
    step *= access->tensor->shape[i];
  }
  return true;
}

static bool read_loops(Interpreter *in, MlirOperation op, Loops *loops) {
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(op);
  intptr_t count = mlirOperationGetNumOperands(op);
  if (mlirAttributeIsNull(maps) || count > MOST_OPERANDS || mlirArrayAttrGetNumElements(maps) != count)
    return give_up(in, "a structured operation without maps");
  loops->num_outputs = (int)mlirOperationGetNumResults(op);
  loops->num_inputs = (int)count - loops->num_outputs;
  for (int d = 0; d < MOST_DIMS; d++)
    loops->extents[d] = -1;
  for (intptr_t i = 0; i < count; i++) {
    MlirAffineMap map = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i));
    loops->rank = (int)mlirAffineMapGetNumDims(map);
    Access *access = &loops->operands[i];
    *access = (Access){.tensor = operand_at(in, op, i)};
    if (!access->tensor || loops->rank > MOST_DIMS || !read_access(in, loops, map, access))
      return false;
    if (i >= loops->num_inputs) // a new value; a memref is none of ours here
      access->tensor = tensor_copy(in, access->tensor);
  }
  for (int d = 0; d < loops->rank; d++)
    if (loops->extents[d] < 0)
      return give_up(in, "a dimension whose extent nobody says");
  return true;
}

static int64_t place(const Access *access, int rank, const int64_t *point) {
  int64_t at = access->start;
  for (int d = 0; d < rank; d++)
    at += access->steps[d] * point[d];
  return at;
}

static void run_point(Interpreter *in, Loops *loops, Body *body, const int64_t *point) {
  int64_t at[MOST_OPERANDS];
  for (int i = 0; i < loops->num_inputs + loops->num_outputs; i++) {
    at[i] = place(&loops->operands[i], loops->rank, point);
    body->slots[i] = loops->operands[i].tensor->data[at[i]];
  }
  body_run(in, body, point);
  for (int i = 0; i < loops->num_outputs; i++)
    loops->operands[loops->num_inputs + i].tensor->data[at[loops->num_inputs + i]] = body->slots[body->yields[i]];
}

/// Whether the body is more than a list of scalar operators.
static bool is_region(MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (mlirOperationGetNumRegions(op) > 0 || is_named(op, "tensor.extract"))
      return true;
  return false;
}

static bool run_region_at(Interpreter *in, Loops *loops, MlirRegion region, const int64_t *point) {
  Tensor *arguments[MOST_OPERANDS], *results[MOST_OPERANDS];
  int64_t at[MOST_OPERANDS];
  for (int i = 0; i < loops->num_inputs + loops->num_outputs; i++) {
    at[i] = place(&loops->operands[i], loops->rank, point);
    arguments[i] = tensor_like(in, loops->operands[i].tensor->elem, 0, NULL);
    arguments[i]->data[0] = loops->operands[i].tensor->data[at[i]];
  }
  in->point = point;
  if (!interpret_region(in, region, arguments, results))
    return false;
  for (int i = 0; i < loops->num_outputs; i++)
    loops->operands[loops->num_inputs + i].tensor->data[at[loops->num_inputs + i]] = results[i]->data[0];
  return true;
}

static bool next_point(const Loops *loops, int64_t *point) {
  for (int d = loops->rank; d-- > 0; point[d] = 0)
    if (++point[d] < loops->extents[d])
      return true;
  return false;
}

static int64_t num_points(const Loops *loops) {
  int64_t count = 1;
  for (int d = 0; d < loops->rank; d++)
    count *= loops->extents[d];
  return count;
}

static bool run_regions(Interpreter *in, Loops *loops, MlirRegion region) {
  int64_t point[MOST_DIMS] = {0};
  do
    if (!run_region_at(in, loops, region, point))
      return false;
  while (next_point(loops, point));
  return true;
}

static bool run_bodies(Interpreter *in, Loops *loops, MlirBlock block) {
  int64_t point[MOST_DIMS] = {0};
  Body body;
  if (!body_compile(in, block, &body))
    return false;
  if (body.num_yields != loops->num_outputs)
    return give_up(in, "a body that yields %d values for %d", body.num_yields, loops->num_outputs);
  do
    run_point(in, loops, &body, point);
  while (in->work <= in->most_work && next_point(loops, point));
  return true;
}

bool interpret_structured(Interpreter *in, MlirOperation op) {
  Loops loops;
  MlirRegion region = mlirOperationGetRegion(op, 0);
  MlirBlock block = mlirRegionGetFirstBlock(region);
  if (!read_loops(in, op, &loops))
    return false;
  if (num_points(&loops) > 0 && !(is_region(block) ? run_regions(in, &loops, region) : run_bodies(in, &loops, block)))
    return false;
  for (int i = 0; i < loops.num_outputs; i++)
    if (!bind(in, mlirOperationGetResult(op, i), loops.operands[loops.num_inputs + i].tensor))
      return false;
  return true;
}
