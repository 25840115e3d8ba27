//===- Assembly.cpp - text form of the operations ------------------------------===//
//
// One parser and one printer serve every operator without a region, driven by the operator table: which keys its braces
// may hold follows from MirageAttrsKind, whether its result type is written from MirageOpKind. The operations with a
// region are graph, custom, loop and thread. Grammar: dialect/README.md.
//
//===----------------------------------------------------------------------------===//

#include "DialectClasses.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "rules.h"

#include "llvm/ADT/StringExtras.h"

#include <charconv>

using namespace mlir;
using llvm::ArrayRef;
using llvm::StringRef;

void mirage::printDouble(AsmPrinter &printer, const llvm::APFloat &value) {
  char buffer[32];
  if (!value.isFinite())
    return printer.printFloat(value);
  char *end = std::to_chars(buffer, buffer + sizeof buffer, value.convertToDouble()).ptr;
  auto [digits, exponent] = StringRef(buffer, end - buffer).split('e');
  printer << digits << (digits.contains('.') ? "" : ".0") << (exponent.empty() ? "" : "e") << exponent;
}

namespace {

//===----------------------------------------------------------------------------===//
// {key = value, ...}
//===----------------------------------------------------------------------------===//

/// What was read into `state.attributes` becomes properties, which would drop an attribute of the wrong kind in
/// silence.
ParseResult checkAttributes(OpAsmParser &parser, OperationState &state) {
  auto emit = [&] { return parser.emitError(parser.getNameLoc()); };
  if (auto duplicate = state.attributes.findDuplicate())
    return emit() << "'" << duplicate->getName().getValue() << "' is given twice";
  return state.name.verifyInherentAttrs(state.attributes, emit);
}

enum class Form { Flag, Int, Float, Ints, Fill };
struct Key {
  StringRef name;
  Form form;
  std::optional<double> usual = std::nullopt; // which is not written
};

bool isStore(const MirageOpInfo &info) { return info.kind == MIRAGE_KIND_ACCESS && info.max_operands == 2; }

Key keyOf(const MirageAttrField &field) {
  Form form = field.form == MIRAGE_ATTR_FLAG     ? Form::Flag
              : field.form == MIRAGE_ATTR_NUMBER ? Form::Float
              : field.form == MIRAGE_ATTR_STEPS  ? Form::Ints
                                                 : Form::Int;
  bool needed = field.use == MIRAGE_ATTR_NEEDED;
  return {field.name, form, needed ? std::nullopt : std::optional(field.usual)};
}

llvm::SmallVector<Key> keysOf(const MirageOpInfo &info) {
  static const Key access[] = {{"grid", Form::Ints},   {"loop", Form::Ints}, {"order", Form::Ints},
                               {"begin", Form::Ints},  {"end", Form::Ints},  {"tiles", Form::Ints},
                               {"cyclic", Form::Flag}, {"fill", Form::Fill}};
  uint32_t count;
  const MirageAttrField *fields = mirage_attrs_fields(info.attrs, &count);
  switch (info.attrs) {
  case MIRAGE_ATTRS_PERM:
    return {{"perm", Form::Ints}};
  case MIRAGE_ATTRS_AXES:
    return {{"axes", Form::Ints}};
  case MIRAGE_ATTRS_ACCESS:
    return llvm::SmallVector<Key>(ArrayRef(access).drop_back(isStore(info) ? 1 : 0));
  case MIRAGE_ATTRS_CONSTANT: // its value stands in front
    return {};
  default:
    return llvm::map_to_vector(ArrayRef(fields, count), keyOf);
  }
}

/// The value of a key: its own short form, or for an attribute of another dialect any attribute (none: a unit
/// attribute).
ParseResult parseValue(OpAsmParser &parser, const Key *key, Attribute &value) {
  Builder &builder = parser.getBuilder();
  if (!key && parser.parseOptionalEqual())
    return value = builder.getUnitAttr(), success();
  if (!key)
    return parser.parseAttribute(value);
  if (key->form == Form::Flag)
    return value = builder.getUnitAttr(), success();
  if (parser.parseEqual())
    return failure();
  int64_t integer;
  double number;
  switch (key->form) {
  case Form::Int:
    if (parser.parseInteger(integer))
      return failure();
    return value = builder.getI64IntegerAttr(integer), success();
  case Form::Float:
    if (parser.parseFloat(number))
      return failure();
    return value = builder.getF64FloatAttr(number), success();
  case Form::Ints:
    return success(static_cast<bool>(value = DenseI64ArrayAttr::parse(parser, Type())));
  default: {
    auto fill = FieldParser<mirage::block::Fill>::parse(parser);
    if (failed(fill))
      return failure();
    return value = mirage::block::FillAttr::get(parser.getContext(), *fill), success();
  }
  }
}

ParseResult parseBraces(OpAsmParser &parser, ArrayRef<Key> keys, NamedAttrList &attributes) {
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::OptionalBraces, [&]() -> ParseResult {
    std::string name;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeywordOrString(&name))
      return failure();
    if (attributes.get(name))
      return parser.emitError(loc) << "'" << name << "' is given twice";
    const Key *key = llvm::find_if(keys, [&](const Key &k) { return k.name == name; });
    if (key == keys.end() && !StringRef(name).contains('.'))
      return parser.emitError(loc) << "has no attribute '" << name << "'; one of another dialect needs its prefix";
    Attribute value;
    if (parseValue(parser, key == keys.end() ? nullptr : key, value))
      return failure();
    attributes.append(name, value);
    return success();
  });
}

void printValue(OpAsmPrinter &printer, const Key *key, NamedAttribute attribute) {
  printer.printKeywordOrString(attribute.getName());
  if (isa<UnitAttr>(attribute.getValue()))
    return;
  printer << " = ";
  if (auto fill = dyn_cast<mirage::block::FillAttr>(attribute.getValue()); fill && key)
    printer << stringifyEnum(fill.getValue());
  else if (auto ints = dyn_cast<DenseI64ArrayAttr>(attribute.getValue()); ints && key)
    ints.print(printer);
  else if (auto number = dyn_cast<FloatAttr>(attribute.getValue()); number && key)
    mirage::printDouble(printer, number.getValue());
  else if (key)
    printer.printAttributeWithoutType(attribute.getValue());
  else
    printer.printAttribute(attribute.getValue());
}

/// Whether a value is what stands for nothing written.
bool isUsual(const Key *key, NamedAttribute attribute) {
  auto integer = dyn_cast<IntegerAttr>(attribute.getValue());
  auto fill = dyn_cast<mirage::block::FillAttr>(attribute.getValue());
  auto number = dyn_cast<FloatAttr>(attribute.getValue());
  if (key && key->usual && integer)
    return static_cast<double>(integer.getInt()) == *key->usual;
  if (key && key->usual && number)
    return number.getValueAsDouble() == *key->usual;
  return (attribute.getName() == "fill" && fill && fill.getValue() == mirage::block::Fill::k_zero) ||
         attribute.getName() == "value"; // a constant's, printed in front
}

void printBraces(OpAsmPrinter &printer, Operation *op, ArrayRef<Key> keys) {
  auto position = [&](NamedAttribute a) {
    return llvm::find_if(keys, [&](const Key &k) { return k.name == a.getName(); }) - keys.begin();
  };
  auto keyAt = [&](size_t at) { return at < keys.size() ? &keys[at] : nullptr; };
  llvm::SmallVector<NamedAttribute> shown;
  for (NamedAttribute attribute : op->getAttrs())
    if (!isUsual(keyAt(position(attribute)), attribute))
      shown.push_back(attribute);
  if (shown.empty())
    return;
  llvm::sort(shown, [&](NamedAttribute a, NamedAttribute b) {
    return std::pair(position(a), a.getName().getValue()) < std::pair(position(b), b.getName().getValue());
  });
  printer << " {";
  llvm::interleaveComma(shown, printer,
                        [&](NamedAttribute attribute) { printValue(printer, keyAt(position(attribute)), attribute); });
  printer << '}';
}

//===----------------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------------===//

const MirageOpInfo &infoOf(OperationName name) {
  MirageLevel level;
  return *mirage_op_info(mirage_dialect_find(wrap(name.getStringRef()), &level));
}

/// Whether the result type is always written: it is the operator's own argument, or, for load, depends on what is
/// around.
bool typeIsWritten(const MirageOpInfo &info) {
  return info.attrs == MIRAGE_ATTRS_SHAPE || info.attrs == MIRAGE_ATTRS_CONSTANT || info.kind == MIRAGE_KIND_ACCESS;
}

ParseResult inferOrReport(OperationState &state, ArrayRef<Type> operands, Type &result) {
  llvm::SmallVector<MlirType> types;
  for (Type type : operands)
    types.push_back(wrap(type));
  MlirType inferred;
  MLIRContext *context = state.getContext();
  if (mlirLogicalResultIsFailure(mirage_dialect_infer(wrap(state.name.getStringRef()), types.size(), types.data(),
                                                      wrap(state.attributes.getDictionary(context)), wrap(context),
                                                      wrap(state.location), &inferred)))
    return failure();
  return result = unwrap(inferred), success();
}

/// The value of a constant: a number, or, as in MLIR's own types, the bits of one of the element type in hexadecimal.
/// The type comes after it: bits wait for that.
ParseResult parseConstant(OpAsmParser &parser, OperationState &state, llvm::APInt &bits, bool &isBits) {
  const char *text = parser.getCurrentLocation().getPointer();
  isBits = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (isBits)
    return parser.parseInteger(bits);
  FloatAttr value;
  return parser.parseAttribute(value, parser.getBuilder().getF64Type(), "value", state.attributes);
}

ParseResult addConstantBits(OpAsmParser &parser, OperationState &state, SMLoc loc, const llvm::APInt &bits, Type type) {
  FloatType element;
  bool exact;
  type.walk([&](FloatType found) { element = element ? element : found; });
  if (!element)
    return success(); // the verifier says what is wrong with the type
  unsigned width = element.getWidth();
  if (bits.getActiveBits() > width)
    return parser.emitError(loc) << "constant: 0x" << llvm::toString(bits, 16, false) << " has more bits than the "
                                 << width << " of " << element;
  llvm::APFloat value(element.getFloatSemantics(), bits.zextOrTrunc(width));
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &exact);
  state.addAttribute("value", FloatAttr::get(parser.getBuilder().getF64Type(), value));
  return success();
}

} // namespace

ParseResult mirage::parseOperator(OpAsmParser &parser, OperationState &state) {
  const MirageOpInfo &info = infoOf(state.name);
  llvm::SmallVector<OpAsmParser::UnresolvedOperand> operands;
  llvm::SmallVector<Type> types;
  Type result;
  llvm::APInt bits;
  bool isBits = false;
  SMLoc valueLoc = parser.getCurrentLocation();
  if (info.attrs == MIRAGE_ATTRS_CONSTANT && parseConstant(parser, state, bits, isBits))
    return failure();
  if (parser.parseOperandList(operands) || parseBraces(parser, keysOf(info), state.attributes) ||
      checkAttributes(parser, state) || parser.parseColon())
    return failure();
  if (info.max_operands == 0)
    return failure(parser.parseType(result) || parser.addTypeToList(result, state.types) ||
                   (isBits && failed(addConstantBits(parser, state, valueLoc, bits, result))));
  if (parser.parseTypeList(types) || parser.resolveOperands(operands, types, parser.getNameLoc(), state.operands))
    return failure();
  if (isStore(info))
    return success();
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalArrow())) {
    if (parser.parseType(result))
      return failure();
  } else if (typeIsWritten(info)) {
    return parser.emitError(loc) << "expected '->' and the result type";
  } else if (inferOrReport(state, types, result)) {
    return failure();
  }
  return parser.addTypeToList(result, state.types);
}

void mirage::printOperator(OpAsmPrinter &printer, Operation *op) {
  const MirageOpInfo &info = infoOf(op->getName());
  if (info.attrs == MIRAGE_ATTRS_CONSTANT) {
    printer << ' ';
    printDouble(printer, op->getAttrOfType<FloatAttr>("value").getValue());
  }
  if (op->getNumOperands())
    printer << ' ' << op->getOperands();
  printBraces(printer, op, keysOf(info));
  printer << " : ";
  if (info.max_operands == 0) {
    printer << op->getResult(0).getType();
    return;
  }
  printer << op->getOperandTypes();
  if (op->getNumResults() == 0)
    return;
  bool written = typeIsWritten(info);
  if (!written) {
    llvm::SmallVector<Type> inferred;
    written = failed(inferInC(op->getContext(), std::nullopt, op->getName().getStringRef(), op->getOperands(),
                              op->getAttrDictionary(), inferred)) ||
              inferred[0] != op->getResult(0).getType();
  }
  if (written)
    printer << " -> " << op->getResult(0).getType();
}

//===----------------------------------------------------------------------------===//
// Operations with a region
//===----------------------------------------------------------------------------===//

namespace {

using Arguments = llvm::SmallVector<OpAsmParser::Argument>;
using Operands = llvm::SmallVector<OpAsmParser::UnresolvedOperand>;

/// `(%argument (: type)? = %operand, ...)`; `rest` parses what may follow each.
ParseResult parseBindings(
    OpAsmParser &parser, Arguments &arguments, Operands &operands,
    llvm::function_ref<ParseResult()> rest = [] { return success(); }) {
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::OptionalParen, [&]() -> ParseResult {
    if (parser.parseArgument(arguments.emplace_back()))
      return failure();
    if (succeeded(parser.parseOptionalColon()) && parser.parseType(arguments.back().type))
      return failure();
    return failure(parser.parseEqual() || parser.parseOperand(operands.emplace_back()) || rest());
  });
}

/// The type of an argument is written only where it is not `usual`.
void printBindings(
    OpAsmPrinter &printer, ValueRange arguments, ValueRange operands, llvm::function_ref<Type(Type)> usual,
    llvm::function_ref<void(size_t)> rest = [](size_t) {}) {
  printer << '(';
  llvm::interleaveComma(llvm::seq<size_t>(0, operands.size()), printer, [&](size_t i) {
    printer << arguments[i];
    if (arguments[i].getType() != usual(operands[i].getType()))
      printer << ": " << arguments[i].getType();
    printer << " = " << operands[i];
    rest(i);
  });
  printer << ')';
}

Type unchanged(Type type) { return type; }
Type fragmentOf(Type type) {
  auto tile = dyn_cast<mirage::block::TileType>(type);
  return tile ? mirage::thread::FragmentType::get(tile.getContext(), tile.getShape(), tile.getElementType()) : type;
}
Type tileOf(Type type) {
  auto fragment = dyn_cast<mirage::thread::FragmentType>(type);
  return fragment ? mirage::block::TileType::get(fragment.getContext(), fragment.getShape(), fragment.getElementType(),
                                                 mirage::block::Place::k_undecided, {})
                  : type;
}

/// `: operand-types (-> result-types)?`, the latter where they are not `usual`; no operands, no colon.
ParseResult parseTypes(OpAsmParser &parser, const Operands &operands, llvm::function_ref<Type(Type)> argument_type,
                       Arguments &arguments, OperationState &state) {
  llvm::SmallVector<Type> types;
  SMLoc loc = parser.getCurrentLocation();
  if ((!operands.empty() && parser.parseColonTypeList(types)) || parser.parseOptionalArrowTypeList(state.types) ||
      parser.resolveOperands(operands, types, loc, state.operands))
    return failure();
  for (auto [argument, type] : llvm::zip_equal(arguments, types))
    if (!argument.type)
      argument.type = argument_type(type);
  return success();
}

void printTypes(OpAsmPrinter &printer, Operation *op, ArrayRef<Type> usual) {
  if (op->getNumOperands())
    printer << " : " << op->getOperandTypes();
  if (op->getResultTypes() != TypeRange(usual))
    printer.printOptionalArrowTypeList(op->getResultTypes());
}

} // namespace

ParseResult mirage::kernel::GraphOp::parse(OpAsmParser &parser, OperationState &state) {
  auto build = [](Builder &builder, ArrayRef<Type> inputs, ArrayRef<Type> outputs,
                  function_interface_impl::VariadicFlag,
                  std::string &) { return builder.getFunctionType(inputs, outputs); };
  return failure(function_interface_impl::parseFunctionOp(
                     parser, state, /*allowVariadic=*/false, getFunctionTypeAttrName(state.name), build,
                     getArgAttrsAttrName(state.name), getResAttrsAttrName(state.name)) ||
                 checkAttributes(parser, state));
}

void mirage::kernel::GraphOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
                                           getArgAttrsAttrName(), getResAttrsAttrName());
}

LogicalResult mirage::kernel::GraphOp::verifySymbolUses(SymbolTableCollection &table) {
  if (!getSourceAttr())
    return success();
  return unwrap(
      mirage_dialect_check_source(wrap(getOperation()), wrap(table.lookupNearestSymbolFrom(*this, getSourceAttr()))));
}

LogicalResult mirage::kernel::CallOp::verifySymbolUses(SymbolTableCollection &table) {
  return unwrap(
      mirage_dialect_check_callee(wrap(getOperation()), wrap(table.lookupNearestSymbolFrom(*this, getCalleeAttr()))));
}

/// On memrefs: which of them are outputs only the graph says, so each is read and written.
void mirage::kernel::CallOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : getInputsMutable())
    if (isa<MemRefType>(operand.get().getType())) {
      effects.emplace_back(MemoryEffects::Read::get(), &operand, SideEffects::DefaultResource::get());
      effects.emplace_back(MemoryEffects::Write::get(), &operand, SideEffects::DefaultResource::get());
    }
}

Speculation::Speculatability mirage::kernel::CallOp::getSpeculatability() {
  return getNumResults() ? Speculation::Speculatable : Speculation::NotSpeculatable;
}

bool mirage::kernel::CallOp::bufferizesToMemoryRead(OpOperand &, const bufferization::AnalysisState &) { return true; }
bool mirage::kernel::CallOp::bufferizesToMemoryWrite(OpOperand &, const bufferization::AnalysisState &) {
  return false;
}
bool mirage::kernel::CallOp::bufferizesToAllocation(Value) { return true; }
bufferization::AliasingValueList mirage::kernel::CallOp::getAliasingValues(OpOperand &,
                                                                           const bufferization::AnalysisState &) {
  return {};
}

/// The call on memrefs: the operands' buffers, then new ones for the results.
LogicalResult mirage::kernel::CallOp::bufferize(RewriterBase &rewriter,
                                                const bufferization::BufferizationOptions &options,
                                                bufferization::BufferizationState &state) {
  SmallVector<Value> buffers, outputs;
  for (Value input : getInputs()) {
    FailureOr<Value> buffer = getBuffer(rewriter, input, options, state);
    if (failed(buffer))
      return failure();
    buffers.push_back(*buffer);
  }
  for (Type type : getResultTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    FailureOr<Value> buffer =
        options.createAlloc(rewriter, getLoc(), MemRefType::get(tensor.getShape(), tensor.getElementType()), {});
    if (failed(buffer))
      return failure();
    outputs.push_back(*buffer);
  }
  llvm::append_range(buffers, outputs);
  CallOp::create(rewriter, getLoc(), TypeRange(), getCalleeAttr(), buffers);
  bufferization::replaceOpWithBufferizedValues(rewriter, *this, outputs);
  return success();
}

ParseResult mirage::kernel::CustomOp::parse(OpAsmParser &parser, OperationState &state) {
  Arguments arguments, outs;
  Operands operands;
  FunctionType type;
  auto ints = [&](StringAttr name) -> ParseResult {
    Attribute value = DenseI64ArrayAttr::parse(parser, Type());
    return value ? (state.addAttribute(name, value), success()) : ParseResult(failure());
  };
  if (parseBindings(parser, arguments, operands) || parser.parseKeyword("outs") ||
      parser.parseArgumentList(outs, OpAsmParser::Delimiter::Paren) || parser.parseKeyword("grid") ||
      ints(getGridAttrName(state.name)))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("cluster")) && ints(getClusterAttrName(state.name)))
    return failure();
  ScheduleAttr schedule;
  PlanAttr plan;
  LaunchAttr launch;
  if (succeeded(parser.parseOptionalKeyword("schedule")) &&
      parser.parseCustomAttributeWithFallback(schedule, Type(), getScheduleAttrName(state.name), state.attributes))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("plan")) &&
      parser.parseCustomAttributeWithFallback(plan, Type(), getPlanAttrName(state.name), state.attributes))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("launch")) &&
      parser.parseCustomAttributeWithFallback(launch, Type(), getLaunchAttrName(state.name), state.attributes))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes) || checkAttributes(parser, state) ||
      parser.parseColonType(type) || parser.resolveOperands(operands, type.getInputs(), loc, state.operands) ||
      parser.addTypesToList(type.getResults(), state.types))
    return failure();
  if (outs.size() != type.getNumResults())
    return parser.emitError(loc) << "names " << outs.size() << " outputs, but has " << type.getNumResults()
                                 << " result types";
  for (auto [argument, input] : llvm::zip_equal(arguments, type.getInputs()))
    if (!argument.type)
      argument.type = input;
  for (auto [argument, output] : llvm::zip_equal(outs, type.getResults()))
    argument.type = output;
  arguments.append(outs);
  return parser.parseRegion(*state.addRegion(), arguments, /*enableNameShadowing=*/true);
}

void mirage::kernel::CustomOp::print(OpAsmPrinter &printer) {
  ValueRange arguments = getBody().getArguments();
  printer << ' ';
  printBindings(printer, arguments, getInputs(), unchanged);
  printer << " outs(" << arguments.drop_front(std::min(arguments.size(), getInputs().size())) << ") grid ";
  getGridAttr().print(printer);
  if (auto cluster = getClusterAttr())
    printer << " cluster ", cluster.print(printer);
  if (auto schedule = getScheduleAttr())
    printer << " schedule ", printer.printStrippedAttrOrType(schedule);
  if (auto plan = getPlanAttr())
    printer << " plan ", printer.printStrippedAttrOrType(plan);
  if (auto launch = getLaunchAttr())
    printer << " launch ", printer.printStrippedAttrOrType(launch);
  printer.printOptionalAttrDictWithKeyword((*this)->getDiscardableAttrDictionary().getValue());
  printer << " : ";
  printer.printFunctionalType(getOperation());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

ParseResult mirage::block::LoopOp::parse(OpAsmParser &parser, OperationState &state) {
  Arguments arguments;
  Operands inits;
  llvm::SmallVector<Attribute> carries;
  IntegerAttr range;
  auto carry = [&]() -> ParseResult {
    CarryAttr attribute;
    if (parser.parseCustomAttributeWithFallback(attribute))
      return failure();
    return carries.push_back(attribute), success();
  };
  if (parser.parseAttribute(range, parser.getBuilder().getI64Type(), getRangeAttrName(state.name), state.attributes) ||
      parseBindings(parser, arguments, inits, carry) || parser.parseOptionalAttrDictWithKeyword(state.attributes) ||
      parseTypes(parser, inits, unchanged, arguments, state))
    return failure();
  if (state.types.empty())
    for (Value init : state.operands)
      state.types.push_back(init.getType());
  state.addAttribute(getCarriesAttrName(state.name), parser.getBuilder().getArrayAttr(carries));
  if (checkAttributes(parser, state))
    return failure();
  Region &body = *state.addRegion();
  if (parser.parseRegion(body, arguments))
    return failure();
  ensureTerminator(body, parser.getBuilder(), state.location);
  return success();
}

void mirage::block::LoopOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getRange();
  if (getNumOperands()) {
    printer << ' ';
    printBindings(printer, getBody().getArguments(), getInits(), unchanged,
                  [&](size_t i) { printer.printStrippedAttrOrType(cast<CarryAttr>(getCarries()[i])); });
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getDiscardableAttrDictionary().getValue());
  printTypes(printer, *this, llvm::to_vector(getInits().getTypes()));
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/getNumOperands() != 0);
}

ParseResult mirage::block::ThreadOp::parse(OpAsmParser &parser, OperationState &state) {
  Arguments arguments;
  Operands inputs;
  if (parseBindings(parser, arguments, inputs) || parser.parseOptionalAttrDictWithKeyword(state.attributes) ||
      parseTypes(parser, inputs, fragmentOf, arguments, state))
    return failure();
  Region &body = *state.addRegion();
  if (parser.parseRegion(body, arguments, /*enableNameShadowing=*/true))
    return failure();
  if (state.types.empty() && !body.empty() && !body.front().empty())
    for (Type type : body.front().back().getOperandTypes())
      state.types.push_back(tileOf(type));
  return success();
}

void mirage::block::ThreadOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printBindings(printer, getBody().getArguments(), getInputs(), fragmentOf);
  printer.printOptionalAttrDictWithKeyword((*this)->getDiscardableAttrDictionary().getValue());
  llvm::SmallVector<Type> usual;
  for (Type type : getBody().front().back().getOperandTypes())
    usual.push_back(tileOf(type));
  printTypes(printer, *this, usual);
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

// `yield contributions (rescale factors)? (: types)?`. Operands are the contributions, then the factors.
ParseResult mirage::block::YieldOp::parse(OpAsmParser &parser, OperationState &state) {
  Operands values;
  llvm::SmallVector<Type> types;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(values) ||
      (succeeded(parser.parseOptionalKeyword("rescale")) && parser.parseOperandList(values)) ||
      parser.parseOptionalAttrDict(state.attributes) || (!values.empty() && parser.parseColonTypeList(types)))
    return failure();
  return parser.resolveOperands(values, types, loc, state.operands);
}

void mirage::block::YieldOp::print(OpAsmPrinter &printer) {
  auto loop = dyn_cast_or_null<LoopOp>((*this)->getParentOp());
  size_t contributions = std::min<size_t>(getNumOperands(), loop ? loop.getNumOperands() : getNumOperands());
  if (contributions)
    printer << ' ' << getOperands().take_front(contributions);
  if (contributions < getNumOperands())
    printer << " rescale " << getOperands().drop_front(contributions);
  printer.printOptionalAttrDict((*this)->getAttrs());
  if (getNumOperands())
    printer << " : " << getOperandTypes();
}
