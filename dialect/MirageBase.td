//===- MirageBase.td - what the three dialects share ------------*- tablegen -*-===//
//
// A *level* is one dialect seen as an instruction set: its prefix, the type of its values, and where its operators may
// stand. The operators that several levels share (MirageOperators.td) are written once, over a level.
//
// No rule lives here. verify(), verifyRegions() and inferReturnTypes() of every class forward to one C dispatcher
// (rules.h), which finds the operator in include/mirage/ops.def and asks lib/ugraph; parse() and print() of every operator
// without a region forward to one pair of functions (Assembly.cpp), driven by the same table.
//
//===----------------------------------------------------------------------------===//

#ifndef MIRAGE_BASE_TD
#define MIRAGE_BASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Mirage_Dialect<string level> : Dialect {
  let name = "mirage_" # level;
  let cppNamespace = "::mirage::" # level;
}

class Mirage_Level<Dialect itsDialect, Type itsValue, string typePrefix, Trait itsParents> {
  Dialect dialect = itsDialect;
  Type value = itsValue;    // tensor, tile or fragment
  string open = typePrefix; // how its type begins in text
  Trait parents = itsParents;      // the operations whose regions hold this level's operators
}

// An operation whose rules are C.
class Mirage_Op<Dialect dialect, string mnemonic, list<Trait> traits> : Op<dialect, mnemonic, traits> {
  let hasVerifier = 1;
  code verifyInC = [{
    ::llvm::LogicalResult $cppClass::verify() { return ::mirage::verifyInC(getOperation(), /*regions=*/false); }
  }];
  let extraClassDefinition = verifyInC;
}

// An operation that holds a graph of `inner`, whose operators print without their prefix.
class Mirage_RegionOp<Dialect dialect, string mnemonic, string inner, list<Trait> traits>
    : Mirage_Op<dialect, mnemonic,
                !listconcat(traits, [DeclareOpInterfaceMethods<OpAsmOpInterface, ["getDefaultDialect"]>])> {
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let extraClassDefinition = verifyInC # [{
    ::llvm::LogicalResult $cppClass::verifyRegions() { return ::mirage::verifyInC(getOperation(), /*regions=*/true); }
    ::llvm::StringRef $cppClass::getDefaultDialect() { return "mirage_}] # inner # [{"; }
  }];
}

// The reference pages (mirage-docs) say of each operation, attribute and type what it means, and show an example, which
// test/reference runs: whole modules as they are, lines of operators inside a graph of their level.
class Mirage_Description<string detail, string example> {
  string text = !if(!empty(detail), "", detail # "\n\n") # "Example:\n\n```mlir\n" # example # "\n```\n";
}

// An operator: an operation of ops.def without a region. `text` says what it computes.
class Mirage_Operator<Mirage_Level level, string mnemonic, string text, list<Trait> traits = []>
    : Mirage_Op<level.dialect, mnemonic, !listconcat(traits, [level.parents])> {
  let summary = text;
  string detail = "";  // beyond the summary
  string example = ""; // lines of a graph; what they take and do not define are its inputs
  let description = Mirage_Description<detail, example>.text;
  let hasCustomAssemblyFormat = 1;
  code assembly = [{
    ::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser, ::mlir::OperationState &state) {
      return ::mirage::parseOperator(parser, state);
    }
    void $cppClass::print(::mlir::OpAsmPrinter &printer) { ::mirage::printOperator(printer, getOperation()); }
  }];
  let extraClassDefinition = verifyInC # assembly;
}

// A pure operator whose result type is printed, because it says what the operator does or cannot be known without it.
class Mirage_TypedOperator<Mirage_Level level, string mnemonic, string text>
    : Mirage_Operator<level, mnemonic, text, [Pure]> {
  let results = (outs level.value:$result);
}

// A pure operator whose result type follows from its operands. Verification compares in C, with our sentence, so
// refineReturnTypes, which MLIR's own comparison goes through, has nothing to add.
class Mirage_InferredOperator<Mirage_Level level, string mnemonic, string text, list<Trait> traits = []>
    : Mirage_Operator<level, mnemonic, text,
                      !listconcat([Pure, DeclareOpInterfaceMethods<InferTypeOpInterface, ["inferReturnTypes", "refineReturnTypes"]>],
                                  traits)> {
  let results = (outs level.value:$result);
  let extraClassDefinition = verifyInC # assembly # [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location, ::mlir::ValueRange operands,
        ::mlir::DictionaryAttr attributes, ::mlir::OpaqueProperties properties, ::mlir::RegionRange,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::mirage::inferInC(context, location, getOperationName(), operands,
                                ::mirage::allAttributes<$cppClass>(context, attributes, properties), types);
    }
    ::llvm::LogicalResult $cppClass::refineReturnTypes(
        ::mlir::MLIRContext *, ::std::optional<::mlir::Location>, ::mlir::ValueRange, ::mlir::DictionaryAttr,
        ::mlir::OpaqueProperties, ::mlir::RegionRange, ::llvm::SmallVectorImpl<::mlir::Type> &) {
      return ::mlir::success();
    }
  }];
}

// An enumeration whose numbers are those of the C enumeration `cType` (include/mirage/ugraph.h), in order.
class Mirage_Enum<string space, string name, string text, list<string> words>
    : I32Enum<name, text, !foreach(i, !range(!size(words)), I32EnumCase<"k_" # words[i], i, words[i]>)> {
  let cppNamespace = space;
}

#endif // MIRAGE_BASE_TD
