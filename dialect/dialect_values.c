// dialect_values.c - single types, attributes and diagnostics across the border between MLIR and the core.
//
// Import takes whatever text or another tool may have put there and says what is wrong with it; export takes what the
// core has checked. The verifiers of the dialects, their type inference and the bridge all go through here, so that
// they agree.
#include "mirage-c/Block.h"
#include "mirage-c/Dialects.h"
#include "mirage-c/Kernel.h"
#include "mirage-c/Thread.h"
#include "mirage-c/Values.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// -------------------------------------------------------------------------------------------------------- diagnostics

static void emit_at_location(void *user, MirageSeverity severity, const void *loc, const char *message) {
  static const MlirDiagnosticSeverity severities[] = {
      [MIRAGE_SEVERITY_NOTE] = MlirDiagnosticNote,
      [MIRAGE_SEVERITY_REMARK] = MlirDiagnosticRemark,
      [MIRAGE_SEVERITY_WARNING] = MlirDiagnosticWarning,
      [MIRAGE_SEVERITY_ERROR] = MlirDiagnosticError,
  };
  const MirageBridgeDiag *storage = user;
  MlirLocation location = loc ? (MlirLocation){loc} : storage->fallback;
  mirageEmitDiagnostic(location, severities[severity], message);
}

void mirage_bridge_diag_init(MirageBridgeDiag *storage, MlirLocation fallback) {
  storage->diag = (MirageDiag){.emit = emit_at_location, .user = storage};
  storage->fallback = fallback;
}

// -------------------------------------------------------------------------------------------------------------- types

// Text of a type or attribute, cut off where `buffer` ends.
typedef struct Text {
  char buffer[120];
  size_t used;
} Text;

static void append(MlirStringRef part, void *user) {
  Text *text = user;
  size_t room = sizeof text->buffer - 1 - text->used;
  size_t count = part.length < room ? part.length : room;
  memcpy(text->buffer + text->used, part.data, count);
  text->used += count;
  text->buffer[text->used] = 0;
}

static Text type_text(MlirType type) {
  Text text = {.used = 0};
  mlirTypePrint(type, append, &text);
  return text;
}

static bool is_integer(MlirType type, unsigned width) {
  return mlirTypeIsAInteger(type) && mlirIntegerTypeIsSignless(type) && mlirIntegerTypeGetWidth(type) == width;
}

static bool is_i8(MlirType type) { return is_integer(type, 8); }
static MlirType get_i8(MlirContext context) { return mlirIntegerTypeGet(context, 8); }
static bool is_i4(MlirType type) { return is_integer(type, 4); }
static MlirType get_i4(MlirContext context) { return mlirIntegerTypeGet(context, 4); }
static bool is_i1(MlirType type) { return is_integer(type, 1); }
static bool is_i32(MlirType type) { return is_integer(type, 32); }
static MlirType get_i1(MlirContext context) { return mlirIntegerTypeGet(context, 1); }
static MlirType get_i32(MlirContext context) { return mlirIntegerTypeGet(context, 32); }

// By dtype: whether a type is this one, and the type.
static const struct {
  bool (*is)(MlirType type);
  MlirType (*get)(MlirContext context);
} ELEMENTS[] = {
    [MIRAGE_F16] = {mlirTypeIsAF16, mlirF16TypeGet},
    [MIRAGE_BF16] = {mlirTypeIsABF16, mlirBF16TypeGet},
    [MIRAGE_F32] = {mlirTypeIsAF32, mlirF32TypeGet},
    [MIRAGE_I8] = {is_i8, get_i8},
    [MIRAGE_I4] = {is_i4, get_i4},
    [MIRAGE_F8E4M3FN] = {mlirTypeIsAFloat8E4M3FN, mlirFloat8E4M3FNTypeGet},
    [MIRAGE_F8E5M2] = {mlirTypeIsAFloat8E5M2, mlirFloat8E5M2TypeGet},
    [MIRAGE_I1] = {is_i1, get_i1},
    [MIRAGE_I32] = {is_i32, get_i32},
};

bool mirage_bridge_dtype_import(MlirType element, MirageDType *out_dtype) {
  for (int i = 0; i < MIRAGE_NUM_DTYPES; i++)
    if (ELEMENTS[i].is(element)) {
      *out_dtype = (MirageDType)i;
      return true;
    }
  return false;
}

MlirType mirage_bridge_dtype_export(MlirContext context, MirageDType dtype) { return ELEMENTS[dtype].get(context); }

static MirageStatus import_tensor(MlirType type, const MirageDiag *diag, const void *loc, MirageType *out_type) {
  MirageDType dtype;
  int64_t shape[MIRAGE_MAX_RANK];
  Text text = type_text(type);
  if (!mirage_bridge_dtype_import(mlirShapedTypeGetElementType(type), &dtype))
    return mirage_diag_fail(
        diag, loc, MIRAGE_BAD_TYPE,
        "%s: elements must be f16, bf16, f32, i1, i32, or stored: i8, i4, f8E4M3FN, f8E5M2; convert them outside",
        text.buffer);
  if (!mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type)))
    return mirage_diag_fail(diag, loc, MIRAGE_BAD_TYPE, "%s: tensors are row-major; remove the encoding", text.buffer);
  intptr_t rank = (intptr_t)mlirShapedTypeGetRank(type);
  if (rank > MIRAGE_MAX_RANK)
    return mirage_diag_fail(diag, loc, MIRAGE_BAD_TYPE, "%s: rank is %d, at most %d is supported; merge dimensions",
                            text.buffer, (int)rank, MIRAGE_MAX_RANK);
  for (intptr_t i = 0; i < rank; i++) {
    if (mlirShapedTypeIsDynamicDim(type, i))
      return mirage_diag_fail(diag, loc, MIRAGE_BAD_TYPE, "%s: dimension %d is dynamic; give it an extent", text.buffer,
                              (int)i);
    shape[i] = mlirShapedTypeGetDimSize(type, i);
    if (shape[i] < 1)
      return mirage_diag_fail(diag, loc, MIRAGE_BAD_TYPE,
                              "%s: dimension %d has extent %" PRId64 ", at least 1 is needed", text.buffer, (int)i,
                              shape[i]);
  }
  *out_type = mirage_type_tensor(dtype, (uint32_t)rank, shape);
  return MIRAGE_OK;
}

MirageStatus mirage_bridge_type_import(MlirType type, const MirageDiag *diag, const void *loc, MirageType *out_type) {
  if (mlirTypeIsARankedTensor(type))
    return import_tensor(type, diag, loc, out_type);
  if (mirageBlockTypeIsATile(type)) {
    mirageBlockTileTypeGetValue(type, out_type);
    return MIRAGE_OK;
  }
  if (mirageThreadTypeIsAFragment(type)) {
    mirageThreadFragmentTypeGetValue(type, out_type);
    return MIRAGE_OK;
  }
  Text text = type_text(type);
  return mirage_diag_fail(diag, loc, MIRAGE_BAD_TYPE, "%s: not a ranked tensor, a tile or a fragment", text.buffer);
}

MlirType mirage_bridge_type_export(MlirContext context, const MirageType *type) {
  switch (type->space) {
  case MIRAGE_SPACE_TILE:
  case MIRAGE_SPACE_SHARED:
  case MIRAGE_SPACE_REGISTER:
    return mirageBlockTileTypeGet(context, type);
  case MIRAGE_SPACE_FRAGMENT:
    return mirageThreadFragmentTypeGet(context, type);
  case MIRAGE_SPACE_DEVICE:
    break;
  }
  return mlirRankedTensorTypeGet(type->rank, type->shape, mirage_bridge_dtype_export(context, type->dtype),
                                 mlirAttributeGetNull());
}

// --------------------------------------------------------------------------------------------------------- attributes

// One import: where the attributes come from, and where complaints about them go.
typedef struct Import {
  const char *name; // mnemonic
  MlirAttribute dictionary;
  MirageArena *arena;
  const MirageDiag *diag;
  const void *loc;
} Import;

static MirageStatus missing(const Import *from, const char *key, const char *what) {
  return mirage_diag_fail(from->diag, from->loc, MIRAGE_BAD_ARGUMENT, "%s: attribute '%s' is missing or not %s",
                          from->name, key, what);
}

// The attribute of this name; null when there is none.
static MlirAttribute lookup(const Import *from, const char *key) {
  if (mlirAttributeIsNull(from->dictionary) || !mlirAttributeIsADictionary(from->dictionary))
    return mlirAttributeGetNull();
  return mlirDictionaryAttrGetElementByName(from->dictionary, mlirStringRefCreateFromCString(key));
}

static bool has_flag(const Import *from, const char *key) { return !mlirAttributeIsNull(lookup(from, key)); }

static MirageStatus read_int(const Import *from, const char *key, int64_t *out_value) {
  MlirAttribute attribute = lookup(from, key);
  if (mlirAttributeIsNull(attribute) || !mlirAttributeIsAInteger(attribute))
    return missing(from, key, "an integer");
  *out_value = mlirIntegerAttrGetValueInt(attribute);
  return MIRAGE_OK;
}

static MirageStatus read_double(const Import *from, const char *key, double *out_value) {
  MlirAttribute attribute = lookup(from, key);
  if (mlirAttributeIsNull(attribute) || !mlirAttributeIsAFloat(attribute))
    return missing(from, key, "a floating-point number");
  *out_value = mlirFloatAttrGetValueDouble(attribute);
  return MIRAGE_OK;
}

// `*count` integers, `capacity` at most. Without `required`, an absent attribute is an empty list.
static MirageStatus read_ints(const Import *from, const char *key, bool required, int64_t capacity, int64_t *values,
                              int64_t *count) {
  MlirAttribute attribute = lookup(from, key);
  *count = 0;
  if (mlirAttributeIsNull(attribute) && !required)
    return MIRAGE_OK;
  if (mlirAttributeIsNull(attribute) || !mlirAttributeIsADenseI64Array(attribute))
    return missing(from, key, "a list of integers");
  int64_t length = (int64_t)mlirDenseArrayGetNumElements(attribute);
  if (length > capacity)
    return mirage_diag_fail(from->diag, from->loc, MIRAGE_BAD_ARGUMENT,
                            "%s: %s has %" PRId64 " entries, at most %" PRId64 " are possible", from->name, key, length,
                            capacity);
  for (*count = 0; *count < length; ++*count)
    values[*count] = mlirDenseI64ArrayGetElement(attribute, (intptr_t)*count);
  return MIRAGE_OK;
}

static MirageStatus read_perm(const Import *from, MirageAttrs *out_attrs) {
  int64_t values[MIRAGE_MAX_RANK], count;
  MIRAGE_TRY(read_ints(from, "perm", true, MIRAGE_MAX_RANK, values, &count));
  for (int64_t i = 0; i < MIRAGE_MAX_RANK; i++) { // absent entries are out of range for every rank
    bool fits = i < count && values[i] >= 0 && values[i] < MIRAGE_MAX_RANK;
    out_attrs->perm.perm[i] = fits ? (int32_t)values[i] : -1;
  }
  return MIRAGE_OK;
}

static MirageStatus read_map(const Import *from, const char *key, int64_t length, int8_t *map) {
  int64_t values[MIRAGE_MAX_LOOPS], count;
  MIRAGE_TRY(read_ints(from, key, false, length, values, &count));
  for (int64_t i = 0; i < length; i++) {
    int64_t dim = i < count ? values[i] : -1;
    if (dim < -1 || dim >= MIRAGE_MAX_RANK)
      return mirage_diag_fail(from->diag, from->loc, MIRAGE_BAD_ARGUMENT,
                              "%s: %s map entry %" PRId64 " is %" PRId64 ", dimensions are 0 to %d and -1 is none",
                              from->name, key, i, dim, MIRAGE_MAX_RANK - 1);
    map[i] = (int8_t)dim;
  }
  return MIRAGE_OK;
}

// Left out: as it is, which all zeros stand for.
static MirageStatus read_order(const Import *from, int8_t *order) {
  int64_t values[MIRAGE_MAX_RANK] = {0}, count;
  MIRAGE_TRY(read_ints(from, "order", false, MIRAGE_MAX_RANK, values, &count));
  for (int64_t i = 0; i < MIRAGE_MAX_RANK; i++) {
    if (values[i] < 0 || values[i] >= MIRAGE_MAX_RANK)
      return mirage_diag_fail(from->diag, from->loc, MIRAGE_BAD_ARGUMENT,
                              "%s: order entry %" PRId64 " is %" PRId64 ", dimensions are 0 to %d", from->name, i,
                              values[i], MIRAGE_MAX_RANK - 1);
    order[i] = (int8_t)values[i];
  }
  return MIRAGE_OK;
}

static MirageStatus read_access(const Import *from, MirageAttrs *out_attrs) {
  MirageAccessAttrs *access = &out_attrs->access;
  access->cyclic = has_flag(from, "cyclic");
  MIRAGE_TRY(read_map(from, "grid", 3, access->grid));
  MIRAGE_TRY(read_map(from, "loop", MIRAGE_MAX_LOOPS, access->loop));
  MIRAGE_TRY(read_order(from, access->order));
  int64_t count;
  memset(access->begin, 0, sizeof access->begin);
  memset(access->end, 0, sizeof access->end);
  memset(access->tiles, 0, sizeof access->tiles);
  MIRAGE_TRY(read_ints(from, "begin", false, MIRAGE_MAX_RANK, access->begin, &count));
  MIRAGE_TRY(read_ints(from, "end", false, MIRAGE_MAX_RANK, access->end, &count));
  MIRAGE_TRY(read_ints(from, "tiles", false, MIRAGE_MAX_RANK, access->tiles, &count));
  MlirAttribute fill = lookup(from, "fill");
  access->fill = MIRAGE_FILL_ZERO;
  if (!mlirAttributeIsNull(fill) && !mirageBlockAttributeIsAFill(fill))
    return missing(from, "fill", "a fill");
  if (!mlirAttributeIsNull(fill))
    access->fill = mirageBlockFillAttrGetValue(fill);
  return MIRAGE_OK;
}

// What is left out, and may be, is usual; steps that are left out are 0.
static MirageStatus read_field(const Import *from, const MirageAttrField *field, MirageAttrs *out_attrs) {
  bool given = has_flag(from, field->name);
  int64_t values[MIRAGE_MAX_LOOPS] = {(int64_t)field->usual}, count;
  double number = field->usual;
  if (field->form == MIRAGE_ATTR_FLAG)
    values[0] = given;
  else if (field->form == MIRAGE_ATTR_STEPS)
    MIRAGE_TRY(read_ints(from, field->name, false, mirage_attr_count(field), values, &count));
  else if (field->form == MIRAGE_ATTR_NUMBER && (given || field->use == MIRAGE_ATTR_NEEDED))
    MIRAGE_TRY(read_double(from, field->name, &number));
  else if (field->form != MIRAGE_ATTR_NUMBER && (given || field->use == MIRAGE_ATTR_NEEDED))
    MIRAGE_TRY(read_int(from, field->name, &values[0]));
  if (field->form == MIRAGE_ATTR_NUMBER)
    mirage_attr_set_number(field, out_attrs, number);
  for (uint32_t i = 0; i < mirage_attr_count(field) && field->form != MIRAGE_ATTR_NUMBER; i++)
    if (!mirage_attr_set(field, out_attrs, i, values[i])) // dimensions are 32-bit in the core
      return mirage_diag_fail(from->diag, from->loc, MIRAGE_BAD_ARGUMENT, "%s: %s %" PRId64 " is out of range",
                              from->name, field->name, values[i]);
  return MIRAGE_OK;
}

static MirageStatus read_fields(const Import *from, MirageAttrsKind kind, MirageAttrs *out_attrs) {
  uint32_t count;
  const MirageAttrField *fields = mirage_attrs_fields(kind, &count);
  for (uint32_t i = 0; i < count; i++)
    MIRAGE_TRY(read_field(from, &fields[i], out_attrs));
  return MIRAGE_OK;
}

static MirageStatus read_axes(const Import *from, MirageAttrs *out_attrs) {
  int64_t values[3], count;
  MIRAGE_TRY(read_ints(from, "axes", true, 3, values, &count));
  memset(&out_attrs->axes, 0, sizeof out_attrs->axes);
  for (int64_t i = 0; i < count; i++) {
    if (values[i] < 0 || values[i] > 2)
      return mirage_diag_fail(from->diag, from->loc, MIRAGE_BAD_ARGUMENT, "%s: grid axis %" PRId64 " is not 0, 1 or 2",
                              from->name, values[i]);
    if (out_attrs->axes.axis[values[i]])
      return mirage_diag_fail(from->diag, from->loc, MIRAGE_BAD_ARGUMENT, "%s: axes name axis %" PRId64 " twice",
                              from->name, values[i]);
    out_attrs->axes.axis[values[i]] = true;
  }
  return MIRAGE_OK;
}

static MirageStatus read_loop(const Import *from, MirageAttrs *out_attrs) {
  MIRAGE_TRY(read_int(from, "range", &out_attrs->loop.range));
  MlirAttribute list = lookup(from, "carries");
  if (mlirAttributeIsNull(list) || !mlirAttributeIsAArray(list))
    return missing(from, "carries", "a list of carries");
  intptr_t count = mlirArrayAttrGetNumElements(list);
  MirageCarry *carries = mirage_arena_alloc_array(from->arena, (size_t)count, sizeof *carries);
  if (!carries)
    return MIRAGE_NO_MEMORY;
  for (intptr_t i = 0; i < count; i++) {
    MlirAttribute carry = mlirArrayAttrGetElement(list, i);
    if (!mirageBlockAttributeIsACarry(carry))
      return missing(from, "carries", "a list of carries");
    carries[i] = mirageBlockCarryAttrGetValue(carry);
  }
  out_attrs->loop.num_carries = (uint32_t)count;
  out_attrs->loop.carries = carries;
  return MIRAGE_OK;
}

// Three axes; those left out have one block.
static MirageStatus read_blocks(const Import *from, const char *key, bool required, int64_t blocks[3]) {
  int64_t count;
  MIRAGE_TRY(read_ints(from, key, required, 3, blocks, &count));
  if (required && count == 0)
    return mirage_diag_fail(from->diag, from->loc, MIRAGE_BAD_ARGUMENT, "%s: %s has 0 entries, 1 to 3 are possible",
                            from->name, key);
  while (count < 3)
    blocks[count++] = 1;
  return MIRAGE_OK;
}

static MirageStatus read_custom(const Import *from, MirageAttrs *out_attrs) {
  MirageCustomAttrs *custom = &out_attrs->custom;
  custom->schedule = NULL;
  custom->plan = NULL;
  custom->launch = NULL;
  MIRAGE_TRY(read_blocks(from, "grid", true, custom->grid));
  MIRAGE_TRY(read_blocks(from, "cluster", false, custom->cluster));
  MlirAttribute attribute = lookup(from, "schedule");
  if (!mlirAttributeIsNull(attribute)) {
    MirageSchedule *schedule = mirage_arena_alloc(from->arena, sizeof *schedule);
    if (!schedule)
      return MIRAGE_NO_MEMORY;
    if (!mirageKernelAttributeIsASchedule(attribute))
      return missing(from, "schedule", "a schedule");
    mirageKernelScheduleAttrGetValue(attribute, schedule);
    custom->schedule = schedule;
  }
  attribute = lookup(from, "plan");
  if (!mlirAttributeIsNull(attribute)) {
    MiragePlan *plan = mirage_arena_alloc(from->arena, sizeof *plan);
    MirageSchedule *asked = mirage_arena_alloc(from->arena, sizeof *asked);
    if (!plan || !asked)
      return MIRAGE_NO_MEMORY;
    if (!mirageKernelAttributeIsAPlan(attribute))
      return missing(from, "plan", "a plan");
    mirageKernelPlanAttrGetValue(attribute, asked, plan);
    custom->plan = plan;
  }
  attribute = lookup(from, "launch");
  if (!mlirAttributeIsNull(attribute)) {
    MirageLaunch *launch = mirage_arena_alloc(from->arena, sizeof *launch);
    MirageTensorMap *maps = mirage_arena_alloc_array(from->arena, MIRAGE_MAX_LOADS, sizeof *maps);
    if (!launch || !maps)
      return MIRAGE_NO_MEMORY;
    if (!mirageKernelAttributeIsALaunch(attribute))
      return missing(from, "launch", "a launch");
    mirageKernelLaunchAttrGetValue(attribute, maps, launch);
    custom->launch = launch;
  }
  return MIRAGE_OK;
}

void mirage_bridge_attrs_add_result(MirageOp op, MirageLevel level, const MirageType *operand, const MirageType *result,
                                    MirageAttrs *attrs) {
  bool wide = level == MIRAGE_LEVEL_KERNEL && operand && operand->dtype != result->dtype && result->dtype == MIRAGE_F32;
  switch (mirage_op_info(op)->attrs) {
  case MIRAGE_ATTRS_SHAPE:
    attrs->shape.type = *result;
    return;
  case MIRAGE_ATTRS_CONSTANT:
    attrs->constant.type = *result;
    return;
  case MIRAGE_ATTRS_IOTA:
    attrs->iota.type = *result;
    return;
  case MIRAGE_ATTRS_MATMUL:
    attrs->matmul.wide = wide;
    return;
  case MIRAGE_ATTRS_REDUCE:
    attrs->reduce.wide = wide;
    return;
  default:
    return;
  }
}

MirageStatus mirage_bridge_attrs_import(MirageOp op, MlirAttribute dictionary, MirageArena *arena,
                                        const MirageDiag *diag, const void *loc, MirageAttrs *out_attrs) {
  const MirageOpInfo *info = mirage_op_info(op);
  const Import from = {info->mnemonic, dictionary, arena, diag, loc};
  MirageAttrs *out = out_attrs;
  memset(out, 0, sizeof *out);
  switch (info->attrs) {
  case MIRAGE_ATTRS_PERM:
    return read_perm(&from, out);
  case MIRAGE_ATTRS_CUSTOM:
    return read_custom(&from, out);
  case MIRAGE_ATTRS_LOOP:
    return read_loop(&from, out);
  case MIRAGE_ATTRS_ACCESS:
    return read_access(&from, out);
  case MIRAGE_ATTRS_AXES:
    return read_axes(&from, out);
  default: // a shape is the result's type, which is no attribute in MLIR; nor is that of a constant or of indices
    return read_fields(&from, info->attrs, out);
  }
}
