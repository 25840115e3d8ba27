//===- Block.cpp - the mirage_block dialect and its C API ----------------------===//

#include "mirage-c/Block.h"
#include "DialectClasses.h"
#include "mirage-c/Dialects.h"
#include "mlir/CAPI/Registration.h"
#include "rules.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mirage::block;

static_assert(int(Fill::k_bottom) == MIRAGE_FILL_BOTTOM && int(Combine::k_assign) == MIRAGE_COMBINE_ASSIGN,
              "the enumerations of MirageBlock.td follow those of ugraph.h");

// custom<TileBody>: 2x48xf16 (, place (, <layout>)?)?
static ParseResult parseTileBody(AsmParser &parser, llvm::SmallVector<int64_t> &shape, Type &element, Place &place,
                                 LayoutAttr &layout) {
  if (parser.parseDimensionList(shape) || parser.parseType(element))
    return failure();
  if (failed(parser.parseOptionalComma()))
    return success();
  FailureOr<Place> given = FieldParser<Place>::parse(parser);
  if (failed(given))
    return failure();
  place = *given;
  return failure(succeeded(parser.parseOptionalComma()) && parser.parseCustomAttributeWithFallback(layout));
}

static void printTileBody(AsmPrinter &printer, ArrayRef<int64_t> shape, Type element, Place place, LayoutAttr layout) {
  printer.printDimensionList(shape);
  printer << (shape.empty() ? "" : "x") << element;
  if (place != Place::k_undecided || layout)
    printer << ", " << stringifyEnum(place);
  if (layout)
    printer << ", ", printer.printStrippedAttrOrType(layout);
}

// custom<Strides>: [64, 1]
static ParseResult parseStrides(AsmParser &parser, llvm::SmallVector<int64_t> &strides) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(strides.emplace_back()); });
}

static void printStrides(AsmPrinter &printer, ArrayRef<int64_t> strides) {
  printer << '[';
  llvm::interleaveComma(strides, printer);
  printer << ']';
}

#include "MirageBlockDialect.cpp.inc"

#include "MirageBlockEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "MirageBlockAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "MirageBlockTypes.cpp.inc"

#define GET_OP_CLASSES
#include "MirageBlockOps.cpp.inc"

void MirageBlockDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "MirageBlockAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "MirageBlockTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "MirageBlockOps.cpp.inc"
      >();
}

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(MirageBlock, mirage_block, MirageBlockDialect)

//===----------------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------------===//

using Emit = llvm::function_ref<InFlightDiagnostic()>;

LogicalResult CarryAttr::verify(Emit emit, Combine combine, int32_t dim) {
  if ((combine == Combine::k_concat) != (dim >= 0))
    return emit() << "carry: " << stringifyEnum(combine)
                  << (combine == Combine::k_concat ? " needs a dimension: concat(0)" : " takes no dimension");
  return success();
}

LogicalResult LayoutAttr::verify(Emit emit, int32_t offset, int32_t stages, uint32_t swizzle, int32_t panel,
                                 ArrayRef<int64_t> strides, Ask) {
  if (offset < -1)
    return emit() << "layout: offset is " << offset << ", at least 0 is needed";
  if (stages < 1)
    return emit() << "layout: stages is " << stages << ", at least 1 is needed";
  if (swizzle > 7)
    return emit() << "layout: swizzle is " << swizzle << ", at most 7 is possible";
  if (panel < 0)
    return emit() << "layout: panel is " << panel << ", at least 0 is needed";
  for (int64_t stride : strides)
    if (stride < 0)
      return emit() << "layout: stride is " << stride << ", at least 0 is needed";
  return success();
}

static MirageSpace spaceOf(Place place) {
  return place == Place::k_shared     ? MIRAGE_SPACE_SHARED
         : place == Place::k_register ? MIRAGE_SPACE_REGISTER
                                      : MIRAGE_SPACE_TILE;
}

LogicalResult TileType::verify(Emit emit, ArrayRef<int64_t> shape, Type element, Place place, LayoutAttr layout) {
  if (failed(mirage::checkTypeInC(emit, "tile", shape, element)))
    return failure();
  if (layout && place == Place::k_undecided)
    return emit() << "tile: a layout needs a place, shared or register";
  if (layout && !layout.getStrides().empty() && layout.getStrides().size() != shape.size())
    return emit() << "tile: layout has " << layout.getStrides().size() << " strides, the tile has rank "
                  << shape.size();
  return success();
}

void LoadOp::getEffects(llvm::SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getTensorMutable());
  if (mirage_dialect_load_is_listed(wrap(getOperation())))
    effects.emplace_back(MemoryEffects::Write::get());
}

//===----------------------------------------------------------------------------===//
// C API
//===----------------------------------------------------------------------------===//

bool mirageBlockTypeIsATile(MlirType type) { return isa<TileType>(unwrap(type)); }

MlirType mirageBlockTileTypeGet(MlirContext context, const MirageType *tile) {
  LayoutAttr layout;
  if (tile->layout.planned)
    layout = cast<LayoutAttr>(unwrap(mirageBlockLayoutAttrGet(context, tile->rank, &tile->layout)));
  Place place = tile->space == MIRAGE_SPACE_SHARED     ? Place::k_shared
                : tile->space == MIRAGE_SPACE_REGISTER ? Place::k_register
                                                       : Place::k_undecided;
  return wrap(TileType::get(unwrap(context), ArrayRef(tile->shape, tile->rank),
                            mirage::elementType(unwrap(context), tile->dtype), place, layout));
}

void mirageBlockTileTypeGetValue(MlirType type, MirageType *out) {
  auto tile = cast<TileType>(unwrap(type));
  *out = mirage_type_tile(mirage::dtypeOf(tile.getElementType()), uint32_t(tile.getShape().size()),
                          tile.getShape().data());
  out->space = spaceOf(tile.getPlace());
  if (tile.getLayout())
    mirageBlockLayoutAttrGetValue(wrap(tile.getLayout()), &out->layout);
}

bool mirageBlockAttributeIsALayout(MlirAttribute attribute) { return isa<LayoutAttr>(unwrap(attribute)); }

MlirAttribute mirageBlockLayoutAttrGet(MlirContext context, uint32_t rank, const MirageLayout *layout) {
  ArrayRef<int64_t> strides(layout->strides, rank);
  if (llvm::all_of(strides, [](int64_t stride) { return stride == 0; }))
    strides = {};
  return wrap(LayoutAttr::get(unwrap(context), layout->offset, layout->stages, layout->swizzle, layout->panel, strides,
                              Ask(layout->asked)));
}

void mirageBlockLayoutAttrGetValue(MlirAttribute attribute, MirageLayout *out) {
  auto layout = cast<LayoutAttr>(unwrap(attribute));
  *out = MirageLayout{};
  out->planned = true;
  out->swizzle = uint8_t(layout.getSwizzle());
  out->panel = layout.getPanel();
  out->offset = layout.getOffset();
  out->stages = layout.getStages();
  out->asked = MirageAsk(layout.getAsked());
  llvm::copy(layout.getStrides().take_front(MIRAGE_MAX_RANK), out->strides);
}

bool mirageBlockAttributeIsACarry(MlirAttribute attribute) { return isa<CarryAttr>(unwrap(attribute)); }

MlirAttribute mirageBlockCarryAttrGet(MlirContext context, MirageCarry carry) {
  return wrap(
      CarryAttr::get(unwrap(context), Combine(carry.combine), carry.combine == MIRAGE_COMBINE_CONCAT ? carry.dim : -1));
}

MirageCarry mirageBlockCarryAttrGetValue(MlirAttribute attribute) {
  auto carry = cast<CarryAttr>(unwrap(attribute));
  return {MirageCombine(carry.getCombine()), std::max(carry.getDim(), 0)};
}

bool mirageBlockAttributeIsAFill(MlirAttribute attribute) { return isa<FillAttr>(unwrap(attribute)); }

MlirAttribute mirageBlockFillAttrGet(MlirContext context, MirageFill fill) {
  return wrap(FillAttr::get(unwrap(context), Fill(fill)));
}

MirageFill mirageBlockFillAttrGetValue(MlirAttribute attribute) {
  return MirageFill(cast<FillAttr>(unwrap(attribute)).getValue());
}
