// run.c - functions of a module, and one run of one of them on random inputs.
#include "run.h"

#include "generate.h" // OPEN_EXTENT
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static MlirWalkResult list_function(MlirOperation op, void *user) {
  Functions *functions = user;
  if (is_named(op, "func.func") && !mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0))) &&
      functions->count < MOST_FUNCTIONS)
    functions->ops[functions->count++] = op;
  return MlirWalkResultAdvance;
}

void list_functions(MlirModule module, Functions *out) {
  mlirOperationWalk(mlirModuleGetOperation(module), list_function, out, MlirWalkPreOrder);
}

bool same_shape(const Tensor *a, const Tensor *b) {
  return a->elem == b->elem && a->rank == b->rank && !memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape);
}

void run_function(MirageArena *arena, MlirOperation function, Tensor *const *inputs, Arithmetic arithmetic,
                  uint64_t seed, Run *run) {
  Interpreter in = {.arena = arena, .arithmetic = arithmetic, .draw = draw_of(seed, 0, 5), .most_work = MOST_WORK};
  MlirType type = mlirTypeAttrGetValue(attribute_of(function, "function_type"));
  run->num_results = run->count = (uint32_t)mlirFunctionTypeGetNumResults(type);
  run->ok = interpret_function(&in, function, inputs, run->tensors) && in.work <= in.most_work;
  run->undefined = in.undefined;
  run->poison = in.poison;
  run->swallowed = in.swallowed;
  snprintf(run->reason, sizeof run->reason, "%s", in.reason[0] ? in.reason : "too much work");
  for (uint32_t i = 0; run->ok && i < in.trace.count; i++)
    if (run->count < MOST_TENSORS)
      run->tensors[run->count++] = in.trace.values[i];
}

static Scalar draw_input(Draw *draw, Elem elem, int style) {
  Scalar x;
  if (!is_float(elem)) {
    x.i = elem == I1 ? -draw_below(draw, 2) : draw_below(draw, 4);
    return x;
  }
  double value = draw_normal(draw);
  x.f = round_to(elem, style == 0 ? value : style == 1 ? fabs(value) + 0.25 : 0.25 * value);
  return x;
}

bool draw_inputs(MirageArena *arena, MlirOperation function, uint64_t seed, Tensor **inputs) {
  Interpreter in = {.arena = arena};
  Draw draw = draw_of(seed, 1, 3);
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  int style = draw_below(&draw, 3);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); i++) {
    inputs[i] =
        i < MOST_TENSORS ? tensor_create(&in, mlirValueGetType(mlirBlockGetArgument(block, i)), OPEN_EXTENT) : NULL;
    if (!inputs[i])
      return false;
    for (int64_t k = 0; k < inputs[i]->count; k++)
      inputs[i]->data[k] = draw_input(&draw, inputs[i]->elem, style);
  }
  return true;
}
