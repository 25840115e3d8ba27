// kernel_call.c - mirage_kernel.call for the interpreter: the program that is called, by mirage_eval.
#include "interpret.h"

#include "mirage/bridge.h"
#include "mirage/eval.h"
#include "mlir-c/BuiltinAttributes.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_TENSORS = 64 };
_Static_assert(sizeof(Scalar) == sizeof(double), "floats are handed to mirage_eval as they are");

static void keep_message(void *user, MirageSeverity severity, const void *loc, const char *message) {
  Interpreter *in = user;
  if (severity == MIRAGE_SEVERITY_ERROR)
    give_up(in, "mirage_kernel.call: %s", message);
}

static MlirOperation graph_named(MlirOperation call) {
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(attribute_of(call, "callee"));
  MlirOperation module = mlirOperationGetParentOperation(call);
  while (!mlirOperationIsNull(mlirOperationGetParentOperation(module)) && !is_named(module, "builtin.module"))
    module = mlirOperationGetParentOperation(module);
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (is_named(op, "mirage_kernel.graph") &&
        mlirStringRefEqual(mlirStringAttrGetValue(attribute_of(op, "sym_name")), name))
      return op;
  return (MlirOperation){NULL};
}

/// What mirage_eval reads: doubles, of truth values 0 and 1. NULL when memory is out.
static const void *numbers_of(Interpreter *in, const Tensor *tensor) {
  double *numbers;
  if (is_float(tensor->elem))
    return tensor->data; // a Scalar is a double here
  numbers = mirage_arena_alloc_array(in->arena, (size_t)tensor->count + 1, sizeof *numbers);
  for (int64_t i = 0; numbers && i < tensor->count; i++)
    numbers[i] = tensor->elem == I1 ? tensor->data[i].i != 0 : (double)tensor->data[i].i;
  return numbers;
}

static bool evaluate(Interpreter *in, MlirOperation call, const MirageUGraph *graph) {
  const void *inputs[MOST_TENSORS];
  void *outputs[MOST_TENSORS];
  const MirageDiag diag = {keep_message, in};
  const MirageDomain *domain = in->arithmetic.rounds ? mirage_domain_real() : mirage_domain_f64();
  intptr_t num_inputs = mlirOperationGetNumOperands(call), num_outputs = mlirOperationGetNumResults(call);
  if (num_inputs > MOST_TENSORS || num_outputs > MOST_TENSORS)
    return give_up(in, "a call with too many tensors");
  for (intptr_t i = 0; i < num_inputs; i++) {
    Tensor *tensor = operand_at(in, call, i);
    if (!tensor)
      return false;
    inputs[i] = numbers_of(in, tensor);
    if (!inputs[i])
      return give_up(in, "out of memory");
  }
  for (intptr_t i = 0; i < num_outputs; i++) {
    Tensor *tensor = tensor_create(in, mlirValueGetType(mlirOperationGetResult(call, i)), 0);
    if (!bind(in, mlirOperationGetResult(call, i), tensor))
      return false;
    outputs[i] = tensor->data;
  }
  MirageStatus status = mirage_eval(graph, domain, inputs, outputs, NULL, &diag);
  in->undefined |= status == MIRAGE_REDRAW;
  return status == MIRAGE_OK || give_up(in, "mirage_kernel.call: %s", mirage_status_string(status));
}

bool interpret_kernel_call(Interpreter *in, MlirOperation call) {
  MlirOperation op = graph_named(call);
  MirageUGraph *graph;
  const MirageDiag diag = {keep_message, in};
  if (mlirOperationIsNull(op))
    return give_up(in, "a call of a program that is not there");
  if (mirage_bridge_import(op, &diag, &graph) != MIRAGE_OK)
    return give_up(in, "a program that is not read");
  bool ok = evaluate(in, call, graph);
  mirage_ugraph_destroy(graph);
  return ok;
}
