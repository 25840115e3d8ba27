// convert_tosa.c - convert-tosa-to-mirage: TOSA by way of linalg.
//
// requires: nothing; provides: what convert-linalg-to-mirage provides; breaks: nothing. MLIR's own passes lower each func.func
// that holds TOSA, one by one: where one of its operations cannot be lowered, the function stays as it is, with a remark.
#include "passes.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Conversion.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/Transforms.h"

#include <stdio.h>
#include <string.h>

static MlirStringRef name_of(MlirOperation op) { return mlirIdentifierStr(mlirOperationGetName(op)); }

static MlirWalkResult find_tosa(MlirOperation op, void *user) {
  MlirStringRef name = name_of(op);
  bool found = name.length > 5 && memcmp(name.data, "tosa.", 5) == 0;
  *(bool *)user |= found;
  return found ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

static bool holds_tosa(MlirOperation op) {
  bool found = false;
  mlirOperationWalk(op, find_tosa, &found, MlirWalkPreOrder);
  return found;
}

// The first error of what is tried. Nothing of it reaches the user but as the reason of a remark.
typedef struct Errors {
  char first[160];
} Errors;

static void append_text(MlirStringRef part, void *user) {
  Errors *errors = user;
  size_t used = strlen(errors->first), room = sizeof errors->first - 1 - used;
  size_t count = part.length < room ? part.length : room;
  memcpy(errors->first + used, part.data, count);
  errors->first[used + count] = '\0';
}

static MlirLogicalResult keep_error(MlirDiagnostic diagnostic, void *user) {
  Errors *errors = user;
  if (mlirDiagnosticGetSeverity(diagnostic) == MlirDiagnosticError && !errors->first[0])
    mlirDiagnosticPrint(diagnostic, append_text, errors);
  return mlirLogicalResultSuccess();
}

/// Products first, since they have names in linalg; then the rest; then what both leave to others.
static MlirLogicalResult lower(MlirOperation function, Errors *errors) {
  MlirPass passes[] = {
      mlirCreateConversionTosaToLinalgNamed(),
      mlirCreateConversionTosaToLinalg(),
      mlirCreateConversionTosaToArithPass(),
      mlirCreateConversionTosaToTensorPass(),
      mlirCreateConversionTosaToSCFPass(),
      mlirCreateTransformsCanonicalizer(),
      mlirCreateTransformsCSE(),
  };
  MlirContext context = mlirOperationGetContext(function);
  MlirDiagnosticHandlerID handler = mlirContextAttachDiagnosticHandler(context, keep_error, errors, NULL);
  MlirLogicalResult result = mirage__shim_run_nested(function, "func.func", sizeof passes / sizeof *passes, passes);
  mlirContextDetachDiagnosticHandler(context, handler);
  return result;
}

/// The function, or, where it cannot be lowered, what it was, in its place; and the operation that now stands there.
static MlirOperation convert_function(MlirOperation function, const MirageDiag *diag) {
  Errors errors = {""};
  MlirOperation before = mlirOperationClone(function);
  if (mlirLogicalResultIsSuccess(lower(function, &errors))) {
    mlirOperationDestroy(before);
    return function;
  }
  MlirStringRef name =
      mlirStringAttrGetValue(mlirOperationGetAttributeByName(function, mlirStringRefCreateFromCString("sym_name")));
  mirage_diag_emit(diag, MIRAGE_SEVERITY_REMARK, mlirOperationGetLocation(before).ptr, "@%.*s stays in TOSA: %s",
                   (int)name.length, name.data, errors.first[0] ? errors.first : "it cannot be lowered to linalg");
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(function), function, before);
  mlirOperationDestroy(function);
  return before;
}

MirageStatus mirage_pass_convert_tosa(MlirOperation module, const void *options, const MirageDiag *diag) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (mlirStringRefEqual(name_of(op), mlirStringRefCreateFromCString("func.func")) && holds_tosa(op))
      op = convert_function(op, diag);
  return mirage_pass_convert_linalg(module, options, diag);
}
