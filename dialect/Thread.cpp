//===- Thread.cpp - the mirage_thread dialect, its C API, and the glue that all three share -----===//

#include "mirage-c/Thread.h"
#include "DialectClasses.h"
#include "mirage-c/Dialects.h"
#include "mirage-c/Values.h"
#include "mlir/CAPI/Registration.h"
#include "rules.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mirage::thread;

// custom<FragmentBody>: 2x48xf32
static ParseResult parseFragmentBody(AsmParser &parser, llvm::SmallVector<int64_t> &shape, Type &element) {
  return failure(parser.parseDimensionList(shape) || parser.parseType(element));
}

static void printFragmentBody(AsmPrinter &printer, ArrayRef<int64_t> shape, Type element) {
  printer.printDimensionList(shape);
  printer << (shape.empty() ? "" : "x") << element;
}

#include "MirageThreadDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "MirageThreadTypes.cpp.inc"

#define GET_OP_CLASSES
#include "MirageThreadOps.cpp.inc"

void MirageThreadDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "MirageThreadTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "MirageThreadOps.cpp.inc"
      >();
}

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(MirageThread, mirage_thread, MirageThreadDialect)

LogicalResult FragmentType::verify(llvm::function_ref<InFlightDiagnostic()> emit, ArrayRef<int64_t> shape,
                                   Type element) {
  return mirage::checkTypeInC(emit, "fragment", shape, element);
}

bool mirageThreadTypeIsAFragment(MlirType type) { return isa<FragmentType>(unwrap(type)); }

MlirType mirageThreadFragmentTypeGet(MlirContext context, const MirageType *fragment) {
  return wrap(FragmentType::get(unwrap(context), ArrayRef(fragment->shape, fragment->rank),
                                mirage::elementType(unwrap(context), fragment->dtype)));
}

void mirageThreadFragmentTypeGetValue(MlirType type, MirageType *out) {
  auto fragment = cast<FragmentType>(unwrap(type));
  *out = mirage_type_tile(mirage::dtypeOf(fragment.getElementType()), uint32_t(fragment.getShape().size()),
                          fragment.getShape().data());
  out->space = MIRAGE_SPACE_FRAGMENT;
}

//===----------------------------------------------------------------------------===//
// Glue: C++ hooks to C rules
//===----------------------------------------------------------------------------===//

LogicalResult mirage::verifyInC(Operation *op, bool regions) {
  return unwrap(mirage_dialect_verify(wrap(op), regions));
}

LogicalResult mirage::inferInC(MLIRContext *context, std::optional<Location> location, StringRef name,
                               ValueRange operands, Attribute attributes, llvm::SmallVectorImpl<Type> &types) {
  llvm::SmallVector<MlirType> operandTypes;
  for (Value operand : operands)
    operandTypes.push_back(wrap(operand.getType()));
  MlirType type;
  LogicalResult result =
      unwrap(mirage_dialect_infer(wrap(name), operandTypes.size(), operandTypes.data(), wrap(attributes), wrap(context),
                                  location ? wrap(*location) : MlirLocation{nullptr}, &type));
  if (succeeded(result))
    types.assign(1, unwrap(type));
  return result;
}

LogicalResult mirage::checkTypeInC(llvm::function_ref<InFlightDiagnostic()> emit, const char *what,
                                   ArrayRef<int64_t> shape, Type element) {
  auto sink = [](void *user, MirageSeverity, const void *, const char *message) {
    (*static_cast<llvm::function_ref<InFlightDiagnostic()> *>(user))() << message;
  };
  MirageDiag diag = {sink, &emit};
  return success(mirage_dialect_check_type(what, shape.size(), shape.data(), wrap(element), &diag) == MIRAGE_OK);
}

Type mirage::elementType(MLIRContext *context, MirageDType dtype) {
  return unwrap(mirage_bridge_dtype_export(wrap(context), dtype));
}

MirageDType mirage::dtypeOf(Type type) {
  MirageDType dtype = MIRAGE_F32;
  mirage_bridge_dtype_import(wrap(type), &dtype);
  return dtype;
}

void mirageRegisterDialects(MlirDialectRegistry registry) {
  for (auto handle : {mlirGetDialectHandle__mirage_kernel__, mlirGetDialectHandle__mirage_block__,
                      mlirGetDialectHandle__mirage_thread__})
    mlirDialectHandleInsertDialect(handle(), registry);
}

void mirageEmitDiagnostic(MlirLocation location, MlirDiagnosticSeverity severity, const char *message) {
  static const DiagnosticSeverity severities[] = {DiagnosticSeverity::Error, DiagnosticSeverity::Warning,
                                                  DiagnosticSeverity::Remark, DiagnosticSeverity::Remark};
  Location at = unwrap(location);
  at.getContext()->getDiagEngine().emit(at, severities[severity]) << message;
}

MlirAttribute mirageOperationGetAttributeDictionary(MlirOperation operation) {
  return wrap(unwrap(operation)->getAttrDictionary());
}
