//===- DialectClasses.h - the C++ classes of the three dialects ------------*- C++ -*-===//
//
// Generated classes, and the few functions that they share. Internal to dialect/: others use include/mirage-c.
//
//===----------------------------------------------------------------------------===//

#ifndef MIRAGE_DIALECT_DIALECTS_H
#define MIRAGE_DIALECT_DIALECTS_H

#include "mirage/ugraph.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Wrap.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

/// A schedule is a parameter of its attribute as it is (Schedule.cpp).
bool operator==(const MirageSchedule &a, const MirageSchedule &b);
llvm::hash_code hash_value(const MirageSchedule &schedule);

namespace mirage {

llvm::LogicalResult verifyInC(mlir::Operation *op, bool regions);
llvm::LogicalResult inferInC(mlir::MLIRContext *context, std::optional<mlir::Location> location, llvm::StringRef name,
                             mlir::ValueRange operands, mlir::Attribute attributes,
                             llvm::SmallVectorImpl<mlir::Type> &types);

/// Rules of tiles and fragments, said through `emit`.
llvm::LogicalResult checkTypeInC(llvm::function_ref<mlir::InFlightDiagnostic()> emit, const char *what,
                                 llvm::ArrayRef<int64_t> shape, mlir::Type element);
mlir::Type elementType(mlir::MLIRContext *context, MirageDType dtype);
MirageDType dtypeOf(mlir::Type elementType); // of an element type that has been checked

template <typename Op> using PropertiesOf = typename Op::Properties;
/// An operation's inherent attributes reach inference as properties where it has any, else in the dictionary.
template <typename Op>
mlir::Attribute allAttributes(mlir::MLIRContext *context, mlir::DictionaryAttr attributes,
                              mlir::OpaqueProperties properties) {
  if constexpr (llvm::is_detected<PropertiesOf, Op>::value)
    if (properties)
      return Op::getPropertiesAsAttr(context, *properties.as<typename Op::Properties *>());
  return attributes;
}

/// Text form of every operator without a region.
mlir::ParseResult parseOperator(mlir::OpAsmParser &parser, mlir::OperationState &state);
void printOperator(mlir::OpAsmPrinter &printer, mlir::Operation *op);

inline mlir::FailureOr<llvm::APFloat> parseDouble(mlir::AsmParser &parser) {
  double value;
  if (parser.parseFloat(value))
    return mlir::failure();
  return llvm::APFloat(value);
}

/// The shortest text that reads back as the same number.
void printDouble(mlir::AsmPrinter &printer, const llvm::APFloat &value);

/// `[item, ...]`, items in their short form.
template <typename Attribute> mlir::FailureOr<llvm::SmallVector<Attribute>> parseList(mlir::AsmParser &parser) {
  llvm::SmallVector<Attribute> items;
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square, [&]() -> mlir::ParseResult {
        auto item = mlir::FieldParser<Attribute>::parse(parser);
        return failed(item) ? mlir::failure() : (items.push_back(*item), mlir::success());
      }))
    return mlir::failure();
  return items;
}
template <typename Attribute> void printList(mlir::AsmPrinter &printer, llvm::ArrayRef<Attribute> items) {
  printer << '[';
  llvm::interleaveComma(items, printer, [&](Attribute item) { printShort(printer, item); });
  printer << ']';
}

} // namespace mirage

#include "MirageKernelDialect.h.inc"

#include "MirageBlockDialect.h.inc"

#include "MirageThreadDialect.h.inc"

#include "MirageBlockEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "MirageKernelAttrs.h.inc"
#define GET_ATTRDEF_CLASSES
#include "MirageBlockAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "MirageBlockTypes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "MirageThreadTypes.h.inc"

#define GET_OP_CLASSES
#include "MirageKernelOps.h.inc"
#define GET_OP_CLASSES
#include "MirageBlockOps.h.inc"
#define GET_OP_CLASSES
#include "MirageThreadOps.h.inc"

#endif // MIRAGE_DIALECT_DIALECTS_H
