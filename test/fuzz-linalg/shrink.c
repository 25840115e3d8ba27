// shrink.c - a failing module with as little in it as can be.
//
// One change after the other is tried on a copy: a function goes, a result is not returned, an operation gives way to arguments
// of the function. It stays if the module is still judged the same. Later operations go first, so that few are left to try.
#include "judge.h"

#include "interpret.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <string.h>

enum { MOST_TYPES = 96 };

typedef struct Edit {
  long wanted, seen; // which change; how many could have been made
  bool done;
  MlirOperation op;
  intptr_t operand; // of a return; -1: the operation itself; -2 and less: a function's argument
} Edit;

static bool consider(Edit *edit, MlirOperation op, intptr_t operand) {
  if (edit->seen++ != edit->wanted)
    return false;
  edit->op = op;
  edit->operand = operand;
  edit->done = true;
  return true;
}

/// Whether it stands in the body of a named operation: that is printed by name, and MLIR crashes where it is another.
static bool is_given(MlirOperation op) {
  MlirOperation parent = mlirOperationGetParentOperation(op);
  if (mlirOperationIsNull(parent) || is_named(parent, "linalg.generic"))
    return false;
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(parent));
  return name.length > 7 && !memcmp(name.data, "linalg.", 7);
}

static MlirWalkResult look(MlirOperation op, void *user) {
  Edit *edit = user;
  bool found = false;
  if (is_named(op, "func.return"))
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
      found = found || consider(edit, op, i);
  if (is_named(op, "func.func") && !mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)))) {
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
    for (intptr_t i = 0; i < mlirBlockGetNumArguments(entry); i++)
      if (mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(entry, i))))
        found = found || consider(edit, op, -2 - i);
  }
  MlirOperation next = mlirOperationGetNextInBlock(op);
  bool is_module = is_named(op, "builtin.module") && mlirOperationIsNull(mlirOperationGetParentOperation(op));
  if (!is_module && !is_given(op) &&
      (!mlirOperationIsNull(next) || is_named(op, "func.func") || is_named(op, "builtin.module")))
    found = found || consider(edit, op, -1);
  return found ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

static MlirOperation enclosing_function(MlirOperation op) {
  while (!mlirOperationIsNull(op) && !is_named(op, "func.func"))
    op = mlirOperationGetParentOperation(op);
  return op;
}

static MlirOperation return_of(MlirOperation function) {
  MlirRegion region = mlirOperationGetRegion(function, 0);
  for (MlirBlock block = mlirRegionGetFirstBlock(region); !mlirBlockIsNull(block);
       block = mlirBlockGetNextInRegion(block))
    if (is_named(mlirBlockGetTerminator(block), "func.return"))
      return mlirBlockGetTerminator(block);
  return (MlirOperation){NULL};
}

/// The function's type anew, of its arguments and what it returns.
static void retype(MlirOperation function) {
  MlirType inputs[MOST_TYPES], results[MOST_TYPES];
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  MlirOperation end = return_of(function);
  intptr_t num_inputs = mlirBlockGetNumArguments(entry), num_results = mlirOperationGetNumOperands(end);
  for (intptr_t i = 0; i < num_inputs && i < MOST_TYPES; i++)
    inputs[i] = mlirValueGetType(mlirBlockGetArgument(entry, i));
  for (intptr_t i = 0; i < num_results && i < MOST_TYPES; i++)
    results[i] = mlirValueGetType(mlirOperationGetOperand(end, i));
  MlirType type =
      mlirFunctionTypeGet(mlirOperationGetContext(function), num_inputs < MOST_TYPES ? num_inputs : MOST_TYPES, inputs,
                          num_results < MOST_TYPES ? num_results : MOST_TYPES, results);
  mlirOperationSetInherentAttributeByName(function, mlirStringRefCreateFromCString("function_type"),
                                          mlirTypeAttrGet(type));
}

static void drop_result(MlirOperation end, intptr_t which) {
  MlirValue operands[MOST_TYPES];
  intptr_t count = mlirOperationGetNumOperands(end), kept = 0;
  for (intptr_t i = 0; i < count && kept < MOST_TYPES; i++)
    if (i != which)
      operands[kept++] = mlirOperationGetOperand(end, i);
  mlirOperationSetOperands(end, kept, operands);
  retype(enclosing_function(end));
}

/// The operation's results become arguments of its function, and it goes.
static void drop_operation(MlirOperation op) {
  MlirOperation function = enclosing_function(op);
  bool inside = !mlirOperationIsNull(function) && !mlirOperationEqual(function, op);
  for (intptr_t i = 0; inside && i < mlirOperationGetNumResults(op); i++) {
    MlirValue result = mlirOperationGetResult(op, i);
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
    if (mlirOpOperandIsNull(mlirValueGetFirstUse(result)))
      continue;
    MlirValue argument = mlirBlockAddArgument(entry, mlirValueGetType(result), mlirOperationGetLocation(op));
    mlirValueReplaceAllUsesOfWith(result, argument);
  }
  mlirOperationRemoveFromParent(op);
  mlirOperationDestroy(op);
  if (inside)
    retype(function);
}

static void drop_argument(MlirOperation function, intptr_t which) {
  mlirBlockEraseArgument(mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0)), (unsigned)which);
  retype(function);
}

/// Change number `which` of the module; false where there are fewer.
static bool change(MlirModule module, long which) {
  Edit edit = {.wanted = which};
  mlirOperationWalk(mlirModuleGetOperation(module), look, &edit, MlirWalkPreOrder);
  if (!edit.done)
    return false;
  if (edit.operand >= 0)
    drop_result(edit.op, edit.operand);
  else if (edit.operand < -1)
    drop_argument(edit.op, -2 - edit.operand);
  else
    drop_operation(edit.op);
  return true;
}

static long count_changes(MlirModule module) {
  Edit edit = {.wanted = -1};
  mlirOperationWalk(mlirModuleGetOperation(module), look, &edit, MlirWalkPreOrder);
  return edit.seen;
}

/// Tries one change; takes it over into `text` where the verdict stays.
static bool try_change(MlirContext context, Text *text, long which, const JudgeOptions *options, Verdict verdict) {
  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreate(text->data, text->used));
  Text changed = {0};
  if (mlirModuleIsNull(module))
    return false;
  bool keeps = change(module, which) && mlirOperationVerify(mlirModuleGetOperation(module));
  if (keeps)
    mlirOperationPrint(mlirModuleGetOperation(module), text_print, &changed);
  mlirModuleDestroy(module);
  if (keeps && changed.used < text->used && judge_module(context, changed.data, options, NULL).verdict == verdict) {
    text_free(text);
    *text = changed;
    return true;
  }
  text_free(&changed);
  return false;
}

static long changes_of(MlirContext context, const Text *text) {
  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreate(text->data, text->used));
  if (mlirModuleIsNull(module))
    return 0;
  long count = count_changes(module);
  mlirModuleDestroy(module);
  return count;
}

void shrink_module(MlirContext context, const char *text, const JudgeOptions *options, Verdict verdict, Text *out) {
  text_append(out, text, strlen(text));
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (long i = changes_of(context, out); i-- > 0;)
      smaller |= try_change(context, out, i, options, verdict);
  }
}
