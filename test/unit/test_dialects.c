// test_dialects.c - the C API of the dialects: every structure of ugraph.h survives the way into an attribute or type
// and back, in memory and through text; and what is no attribute of ours is told apart.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture.h"
#include "mirage-c/Block.h"
#include "mirage-c/Dialects.h"
#include "mirage-c/Kernel.h"
#include "mirage-c/Thread.h"
#include "mirage/bridge.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <string.h>

static MlirContext context;

static int set_up(void **state) {
  context = mlirContextCreate();
  mlirDialectHandleLoadDialect(mlirGetDialectHandle__mirage_kernel__(), context);
  return 0;
}

static int tear_down(void **state) {
  mlirContextDestroy(context);
  return 0;
}

typedef struct Text {
  char buffer[4096];
  size_t used;
} Text;

static void append(MlirStringRef part, void *user) {
  Text *text = user;
  assert_true(text->used + part.length < sizeof text->buffer);
  memcpy(text->buffer + text->used, part.data, part.length);
  text->used += part.length;
  text->buffer[text->used] = 0;
}

// The attribute that its own text gives.
static MlirAttribute through_text(MlirAttribute attribute) {
  Text text = {.used = 0};
  mlirAttributePrint(attribute, append, &text);
  MlirAttribute again = mlirAttributeParseGet(context, mlirStringRefCreate(text.buffer, text.used));
  if (mlirAttributeIsNull(again))
    fail_msg("does not parse: %s", text.buffer);
  assert_true(mlirAttributeEqual(attribute, again));
  return again;
}

static MlirType type_through_text(MlirType type) {
  Text text = {.used = 0};
  mlirTypePrint(type, append, &text);
  MlirType again = mlirTypeParseGet(context, mlirStringRefCreate(text.buffer, text.used));
  if (mlirTypeIsNull(again))
    fail_msg("does not parse: %s", text.buffer);
  assert_true(mlirTypeEqual(type, again));
  return again;
}

// --------------------------------------------------------------------------------------------------------- attributes

static void check_schedule(const MirageSchedule *schedule) {
  MirageSchedule back;
  MlirAttribute attribute = mirageKernelScheduleAttrGet(context, schedule);
  assert_true(mirageKernelAttributeIsASchedule(attribute));
  mirageKernelScheduleAttrGetValue(through_text(attribute), &back);
  assert_int_equal(back.warps, schedule->warps);
  assert_int_equal(back.split, schedule->split);
  assert_int_equal(back.swap, schedule->swap);
  assert_int_equal(back.tile_order, schedule->tile_order);
  assert_int_equal(back.overlap, schedule->overlap);
  assert_int_equal(back.maxima, schedule->maxima);
  assert_int_equal(back.side_blocks, schedule->side_blocks);
  assert_int_equal(back.start, schedule->start);
  assert_int_equal(back.num_roles, schedule->num_roles);
  assert_int_equal(back.num_loads, schedule->num_loads);
  for (uint32_t i = 0; i < back.num_roles; i++) {
    assert_int_equal(back.roles[i].kind, schedule->roles[i].kind);
    assert_int_equal(back.roles[i].warps, schedule->roles[i].warps);
    assert_int_equal(back.roles[i].registers, schedule->roles[i].registers);
  }
  for (uint32_t i = 0; i < back.num_loads; i++) {
    assert_int_equal(back.loads[i].landing, schedule->loads[i].landing);
    assert_int_equal(back.loads[i].stages, schedule->loads[i].stages);
    assert_int_equal(back.loads[i].cache, schedule->loads[i].cache);
    assert_int_equal(back.loads[i].multicast, schedule->loads[i].multicast);
  }
}

static void test_schedule(void **state) {
  MirageSchedule empty = {.warps = 0}, full = {.warps = 16};
  check_schedule(&empty);
  full.swap = true;
  full.side_blocks = 4;
  full.num_roles = MIRAGE_MAX_ROLES;
  full.num_loads = MIRAGE_MAX_LOADS;
  for (int i = 0; i < MIRAGE_MAX_ROLES; i++)
    full.roles[i] = (MirageRole){(MirageRoleKind)(i % 2), i + 1, 8 * i};
  for (int i = 0; i < MIRAGE_MAX_LOADS; i++)
    full.loads[i] = (MirageLoadSchedule){(MirageLanding)(i % 5), i % 7, (MirageCache)(i % 2), i % 3 == 1};
  for (int i = 0; i < 4; i++) { // every enumerator once
    full.split = (MirageWarpSplit)i;
    full.tile_order = (MirageTileOrder)(3 - i);
    full.overlap = (MirageOverlap)(i ^ 1);
    full.maxima = (MirageMaxima)(i % 2);
    full.start = (MirageStart)(i % 3);
    check_schedule(&full);
  }
}

static MirageSchedule with_one_item_each(void) {
  return (MirageSchedule){.num_roles = 1, .roles = {{.warps = 1}}, .num_loads = 1, .loads = {{.stages = 1}}};
}

// Each key by itself, one after the other: its text has its name or its word, and gives it back; no other schedule is
// equal to it. A key that the printer, the parser or the comparison left out would be found here.
static void walk_keys(const MirageRecord *record, MirageSchedule *schedule, void *values, bool named) {
  const MirageSchedule usual = with_one_item_each();
  for (uint32_t i = 0; i < record->num_keys; i++) {
    const MirageKey *key = &record->keys[i];
    uint32_t count;
    if (key->form == MIRAGE_FORM_LIST) {
      walk_keys(key->items, schedule, (void *)mirage_key_items(key, schedule, &count), !key->items->by_place);
      continue;
    }
    int32_t before = mirage_key_get(key, values), value = before == key->most ? before - 1 : before + 1;
    Text text = {.used = 0};
    mirage_key_set(key, values, value);
    MlirAttribute attribute = mirageKernelScheduleAttrGet(context, schedule);
    mirageKernelScheduleAttrGetValue(through_text(attribute), schedule);
    assert_int_equal(mirage_key_get(key, values), value);
    assert_false(mlirAttributeEqual(attribute, mirageKernelScheduleAttrGet(context, &usual)));
    mlirAttributePrint(attribute, append, &text);
    const char *wanted = key->form == MIRAGE_FORM_WORD ? mirage_key_word(key, values) : named ? key->name : "";
    if (!strstr(text.buffer, wanted))
      fail_msg("%s of a %s is not in %s", wanted, record->name, text.buffer);
    mirage_key_set(key, values, before);
  }
}

static void test_every_key(void **state) {
  MirageSchedule schedule = with_one_item_each();
  walk_keys(mirage_schedule_record(), &schedule, &schedule, true);
}

static void test_launch(void **state) {
  MirageTensorMap maps[2] = {{.pointer = 3,
                              .dtype = MIRAGE_BF16,
                              .rank = 5,
                              .extents = {64, 7, INT64_C(1) << 40, 1, 9},
                              .strides = {2, 128, 896, INT64_C(1) << 41, 16},
                              .box = {64, 7, 256, 1, 3},
                              .swizzle = 3},
                             {.dtype = MIRAGE_F32, .rank = 1, .extents = {8}, .strides = {4}, .box = {8}}};
  MirageTensorMap read[MIRAGE_MAX_LOADS];
  MirageLaunch launch = {"rms \"norm\"_0", 256, 1 << 16, INT64_C(1) << 40, true, true, 2, maps}, back;
  MlirAttribute attribute = through_text(mirageKernelLaunchAttrGet(context, &launch));
  assert_true(mirageKernelAttributeIsALaunch(attribute));
  mirageKernelLaunchAttrGetValue(attribute, read, &back);
  assert_string_equal(back.kernel, launch.kernel);
  assert_int_equal(back.threads, launch.threads);
  assert_int_equal(back.shared_bytes, launch.shared_bytes);
  assert_int_equal(back.workspace_bytes, launch.workspace_bytes);
  assert_true(back.starts_early);
  assert_true(back.in_pairs);
  assert_int_equal(back.num_maps, 2);
  for (int i = 0; i < 2; i++) {
    const MirageTensorMap *was = &maps[i], *is = &back.maps[i];
    assert_int_equal(is->pointer, was->pointer);
    assert_int_equal(is->dtype, was->dtype);
    assert_int_equal(is->rank, was->rank);
    assert_memory_equal(is->extents, was->extents, sizeof was->extents);
    assert_memory_equal(is->strides, was->strides, sizeof was->strides);
    assert_memory_equal(is->box, was->box, sizeof was->box);
    assert_int_equal(is->swizzle, was->swizzle);
  }
}

static void test_proof(void **state) {
  MirageProof proof = {.present = true,
                       .trials = UINT32_MAX,
                       .q = (UINT64_C(1) << 31) - 19,
                       .p_bits = 62,
                       .seed = UINT64_MAX,
                       .log2_bound = -60.123456789012345,
                       .shrunken = true,
                       .free_exp = true,
                       .pieces = 3,
                       .pair = UINT64_MAX - 1,
                       .degree = UINT64_MAX - 2,
                       .calls = 7,
                       .log2_terms = 9},
              back;
  MlirAttribute attribute = through_text(mirageKernelProofAttrGet(context, &proof));
  assert_true(mirageKernelAttributeIsAProof(attribute));
  mirageKernelProofAttrGetValue(attribute, &back);
  assert_true(back.present && back.shrunken && back.free_exp && back.pieces == 3);
  assert_int_equal(back.trials, proof.trials);
  assert_int_equal(back.q, proof.q);
  assert_int_equal(back.p_bits, proof.p_bits);
  assert_true(back.seed == proof.seed);
  assert_true(back.log2_bound == proof.log2_bound);
  assert_true(back.pair == proof.pair && back.degree == proof.degree);
  assert_true(back.calls == proof.calls && back.log2_terms == proof.log2_terms);
}

static void test_guard(void **state) {
  MirageGuard guard = {true, 2.5e-4, 3.0e-4, 0.1, 1e22, true}, back;
  MlirAttribute attribute = through_text(mirageKernelGuardAttrGet(context, &guard));
  assert_true(mirageKernelAttributeIsAGuard(attribute));
  assert_false(mirageKernelAttributeIsAProof(attribute));
  mirageKernelGuardAttrGetValue(attribute, &back);
  assert_true(back.present && back.shrunken);
  assert_true(back.program_relative == guard.program_relative && back.candidate_relative == guard.candidate_relative);
  assert_true(back.program_max == guard.program_max && back.candidate_max == guard.candidate_max);
}

// Numbers print as the shortest text that reads back the same.
static void test_cost(void **state) {
  static const double numbers[] = {0.0, 1.0, 0.1, 1e22, 1.5e-300, 123456789.0, 5e-324, 1.7976931348623157e308};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    MirageCost cost = {.present = true,
                       .time_us = numbers[i],
                       .bytes = numbers[(i + 1) % 8],
                       .flops = numbers[(i + 2) % 8],
                       .kernels = 3},
               back;
    MlirAttribute attribute = through_text(mirageKernelCostAttrGet(context, &cost));
    assert_true(mirageKernelAttributeIsACost(attribute));
    mirageKernelCostAttrGetValue(attribute, &back);
    assert_true(back.present);
    assert_true(back.time_us == cost.time_us && back.bytes == cost.bytes && back.flops == cost.flops);
    assert_int_equal(back.kernels, cost.kernels);
  }
}

static void test_carry_and_fill(void **state) {
  for (int i = MIRAGE_COMBINE_SUM; i <= MIRAGE_COMBINE_ASSIGN; i++) {
    MirageCarry carry = {(MirageCombine)i, i == MIRAGE_COMBINE_CONCAT ? 2 : 0};
    MlirAttribute attribute = through_text(mirageBlockCarryAttrGet(context, carry));
    assert_true(mirageBlockAttributeIsACarry(attribute));
    MirageCarry back = mirageBlockCarryAttrGetValue(attribute);
    assert_int_equal(back.combine, carry.combine);
    assert_int_equal(back.dim, carry.dim);
  }
  for (int i = MIRAGE_FILL_ZERO; i <= MIRAGE_FILL_BOTTOM; i++) {
    MlirAttribute attribute = through_text(mirageBlockFillAttrGet(context, (MirageFill)i));
    assert_true(mirageBlockAttributeIsAFill(attribute));
    assert_int_equal(mirageBlockFillAttrGetValue(attribute), i);
  }
}

static void test_kinds_are_told_apart(void **state) {
  MlirAttribute fill = mirageBlockFillAttrGet(context, MIRAGE_FILL_ONE), unit = mlirUnitAttrGet(context);
  assert_false(mirageBlockAttributeIsACarry(fill));
  assert_false(mirageBlockAttributeIsALayout(fill));
  assert_false(mirageBlockAttributeIsAFill(unit));
  assert_false(mirageKernelAttributeIsASchedule(fill));
  assert_false(mirageKernelAttributeIsALaunch(unit));
  assert_false(mirageKernelAttributeIsAProof(unit));
  assert_false(mirageKernelAttributeIsACost(unit));
  assert_false(mirageBlockTypeIsATile(mlirF32TypeGet(context)));
  assert_false(mirageThreadTypeIsAFragment(mlirF32TypeGet(context)));
}

// -------------------------------------------------------------------------------------------------------------- types

static void check_type(const MirageType *type) {
  MirageType back;
  MlirType exported = type_through_text(mirage_bridge_type_export(context, type));
  assert_int_equal(mirage_bridge_type_import(exported, NULL, NULL, &back), MIRAGE_OK);
  assert_true(mirage_type_same_meaning(type, &back));
  assert_int_equal(back.space, type->space);
  assert_int_equal(back.layout.planned, type->layout.planned);
  assert_int_equal(back.layout.offset, type->layout.offset);
  assert_int_equal(back.layout.stages, type->layout.stages);
  assert_int_equal(back.layout.swizzle, type->layout.swizzle);
  assert_int_equal(back.layout.panel, type->layout.panel);
  assert_memory_equal(back.layout.strides, type->layout.strides, sizeof back.layout.strides);
}

static void test_types(void **state) {
  const int64_t shape[MIRAGE_MAX_RANK] = {1, 2, 3, 4, 5, 6};
  for (uint32_t rank = 0; rank <= MIRAGE_MAX_RANK; rank++)
    for (int dtype = MIRAGE_F16; dtype <= MIRAGE_F32; dtype++)
      for (int space = MIRAGE_SPACE_DEVICE; space <= MIRAGE_SPACE_FRAGMENT; space++) {
        MirageType type = mirage_type_tensor((MirageDType)dtype, rank, shape);
        type.space = (MirageSpace)space;
        check_type(&type);
      }
}

static void test_layouts(void **state) {
  MirageType type = mirage_type_tile(MIRAGE_F16, 2, (int64_t[]){64, 48});
  type.space = MIRAGE_SPACE_SHARED;
  type.layout = (MirageLayout){.planned = true, .offset = -1, .stages = 1};
  check_type(&type);
  type.layout =
      (MirageLayout){.planned = true, .offset = 4096, .stages = 3, .swizzle = 7, .panel = 64, .strides = {56, 1}};
  check_type(&type);
  type.layout.strides[0] = 0; // a broadcast row
  check_type(&type);
  type.space = MIRAGE_SPACE_REGISTER;
  type.layout = (MirageLayout){.planned = true, .offset = -1, .stages = 1};
  check_type(&type);
}

// What cannot be imported: the text of the type, and the sentence.
static void test_types_refused(void **state) {
  static const struct {
    const char *type;
    MirageStatus status;
    const char *sentence;
  } cases[] = {
      {"tensor<2x?xf16>", MIRAGE_BAD_TYPE, "tensor<2x?xf16>: dimension 1 is dynamic; give it an extent"},
      {"tensor<2x0xf16>", MIRAGE_BAD_TYPE, "tensor<2x0xf16>: dimension 1 has extent 0, at least 1 is needed"},
      {"tensor<2xf64>", MIRAGE_BAD_TYPE,
       "tensor<2xf64>: elements must be f16, bf16, f32, i1, i32, or stored: i8, i4, f8E4M3FN, f8E5M2; convert them "
       "outside"},
      {"tensor<2xf16, 1 : i8>", MIRAGE_BAD_TYPE, "tensor<2xf16, 1 : i8>: tensors are row-major; remove the encoding"},
      {"tensor<1x1x1x1x1x1x1xf16>", MIRAGE_BAD_TYPE,
       "tensor<1x1x1x1x1x1x1xf16>: rank is 7, at most 6 is supported; merge dimensions"},
      {"tensor<*xf16>", MIRAGE_BAD_TYPE, "tensor<*xf16>: not a ranked tensor, a tile or a fragment"},
      {"memref<2xf16>", MIRAGE_BAD_TYPE, "memref<2xf16>: not a ranked tensor, a tile or a fragment"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Capture capture = {.count = 0};
    MirageDiag diag = {capture_emit, &capture};
    MirageType type = {.rank = 99};
    MlirType parsed = mlirTypeParseGet(context, mlirStringRefCreateFromCString(cases[i].type));
    assert_false(mlirTypeIsNull(parsed));
    assert_int_equal(mirage_bridge_type_import(parsed, &diag, &capture, &type), cases[i].status);
    assert_int_equal(capture.count, 1);
    assert_string_equal(capture.text, cases[i].sentence);
    assert_ptr_equal(capture.loc, &capture);
    assert_int_equal(type.rank, 99); // an out value is untouched after a failure
  }
}

// ---------------------------------------------------------------------------------------- attributes of an operation

// What verification stops earlier, but another tool's dictionary may hold: an operator, its dictionary, the sentence.
static void test_attributes_refused(void **state) {
  static const struct {
    MirageOp op;
    const char *dictionary, *sentence;
  } cases[] = {
      {MIRAGE_OP_REDUCE_SUM, "{}", "reduce_sum: attribute 'dim' is missing or not an integer"},
      {MIRAGE_OP_REDUCE_SUM, "{dim = 0, extent = \"all\"}",
       "reduce_sum: attribute 'extent' is missing or not an integer"},
      {MIRAGE_OP_REPEAT, "{dim = 0}", "repeat: attribute 'times' is missing or not an integer"},
      {MIRAGE_OP_SLICE, "{dim = 0, begin = 0}", "slice: attribute 'end' is missing or not an integer"},
      {MIRAGE_OP_TRANSPOSE, "{perm = [0, 1]}", "transpose: attribute 'perm' is missing or not a list of integers"},
      {MIRAGE_OP_CONSTANT, "{value = 1}", "constant: attribute 'value' is missing or not a floating-point number"},
      {MIRAGE_OP_RMS_NORM, "unit", "rms_norm: attribute 'eps' is missing or not a floating-point number"},
      {MIRAGE_OP_LOAD, "{fill = 0}", "load: attribute 'fill' is missing or not a fill"},
      {MIRAGE_OP_LOAD, "{grid = array<i64: -2>}", "load: grid map entry 0 is -2, dimensions are 0 to 5 and -1 is none"},
      {MIRAGE_OP_LOOP, "{range = 4}", "loop: attribute 'carries' is missing or not a list of carries"},
      {MIRAGE_OP_LOOP, "{range = 4, carries = [unit]}",
       "loop: attribute 'carries' is missing or not a list of carries"},
      {MIRAGE_OP_CUSTOM, "{grid = array<i64: 1>, schedule = unit}",
       "custom: attribute 'schedule' is missing or not a schedule"},
      {MIRAGE_OP_CUSTOM, "{grid = array<i64: 1>, launch = unit}",
       "custom: attribute 'launch' is missing or not a launch"},
      {MIRAGE_OP_GRID_SUM, "{axes = array<i64: -1>}", "grid_sum: grid axis -1 is not 0, 1 or 2"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Capture capture = {.count = 0};
    MirageDiag diag = {capture_emit, &capture};
    MirageArena arena = {.head = NULL};
    MirageAttrs attrs;
    MlirAttribute dictionary = mlirAttributeParseGet(context, mlirStringRefCreateFromCString(cases[i].dictionary));
    assert_false(mlirAttributeIsNull(dictionary));
    assert_int_equal(mirage_bridge_attrs_import(cases[i].op, dictionary, &arena, &diag, NULL, &attrs),
                     MIRAGE_BAD_ARGUMENT);
    assert_string_equal(capture.text, cases[i].sentence);
    mirage_arena_deinit(&arena);
  }
}

// Builds an operator on two tensors of the graph's signature through MLIR's own result type inference; null when it
// fails.
static MlirOperation build(MlirBlock block, const char *name, intptr_t num_operands, const char *attribute,
                           int64_t value) {
  MlirValue operands[] = {mlirBlockGetArgument(block, 0), mlirBlockGetArgument(block, 1)};
  MlirOperationState state =
      mlirOperationStateGet(mlirStringRefCreateFromCString(name), mlirLocationUnknownGet(context));
  mlirOperationStateAddOperands(&state, num_operands, operands);
  if (attribute) {
    MlirIdentifier key = mlirIdentifierGet(context, mlirStringRefCreateFromCString(attribute));
    MlirNamedAttribute named = mlirNamedAttributeGet(key, mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), value));
    mlirOperationStateAddAttributes(&state, 1, &named);
  }
  mlirOperationStateEnableResultTypeInference(&state);
  return mlirOperationCreate(&state);
}

static MlirLogicalResult ignore(MlirDiagnostic diagnostic, void *user) { return mlirLogicalResultSuccess(); }

// Builders that leave result types to MLIR get them from the same rules, attributes included.
static void test_inference(void **state) {
  MlirType f16 = mlirF16TypeGet(context);
  MlirLocation unknown = mlirLocationUnknownGet(context);
  MlirType types[] = {mlirRankedTensorTypeGet(2, (int64_t[]){4, 64}, f16, mlirAttributeGetNull()),
                      mlirRankedTensorTypeGet(2, (int64_t[]){64, 8}, f16, mlirAttributeGetNull())};
  MlirBlock block = mlirBlockCreate(2, types, (MlirLocation[]){unknown, unknown});
  MlirOperation matmul = build(block, "mirage_kernel.matmul", 2, NULL, 0);
  MirageType type;
  assert_false(mlirOperationIsNull(matmul));
  assert_int_equal(mirage_bridge_type_import(mlirValueGetType(mlirOperationGetResult(matmul, 0)), NULL, NULL, &type),
                   0);
  assert_int_equal(type.shape[0], 4);
  assert_int_equal(type.shape[1], 8);
  MlirOperation sum = build(block, "mirage_kernel.reduce_sum", 1, "dim", 1);
  assert_false(mlirOperationIsNull(sum));
  assert_int_equal(mirage_bridge_type_import(mlirValueGetType(mlirOperationGetResult(sum, 0)), NULL, NULL, &type), 0);
  assert_int_equal(type.shape[1], 1);
  MlirDiagnosticHandlerID handler = mlirContextAttachDiagnosticHandler(context, ignore, NULL, NULL);
  assert_true(mlirOperationIsNull(build(block, "mirage_kernel.add", 2, NULL, 0)));         // 64 vs 8
  assert_true(mlirOperationIsNull(build(block, "mirage_kernel.reduce_sum", 1, "dim", 2))); // rank 2
  assert_true(mlirOperationIsNull(build(block, "mirage_kernel.reduce_sum", 1, NULL, 0)));  // no dim
  mlirContextDetachDiagnosticHandler(context, handler);
  mlirOperationDestroy(matmul);
  mlirOperationDestroy(sum);
  mlirBlockDestroy(block);
}

// A sink of MLIR diagnostics keeps the severity and falls back to its own location.
typedef struct Seen {
  MlirDiagnosticSeverity severity;
  Text text;
  bool at_fallback;
  MlirLocation fallback;
} Seen;

static MlirLogicalResult see(MlirDiagnostic diagnostic, void *user) {
  Seen *seen = user;
  seen->severity = mlirDiagnosticGetSeverity(diagnostic);
  seen->text.used = 0;
  mlirDiagnosticPrint(diagnostic, append, &seen->text);
  seen->at_fallback = mlirLocationEqual(mlirDiagnosticGetLocation(diagnostic), seen->fallback);
  return mlirLogicalResultSuccess();
}

static void test_diagnostics(void **state) {
  static const MlirDiagnosticSeverity expected[] = {MlirDiagnosticRemark, MlirDiagnosticRemark, MlirDiagnosticWarning,
                                                    MlirDiagnosticError};
  MlirLocation here = mlirLocationFileLineColGet(context, mlirStringRefCreateFromCString("a.mlir"), 3, 7);
  MlirLocation there = mlirLocationFileLineColGet(context, mlirStringRefCreateFromCString("b.mlir"), 1, 1);
  Seen seen = {.fallback = here};
  MirageBridgeDiag sink;
  MlirDiagnosticHandlerID handler = mlirContextAttachDiagnosticHandler(context, see, &seen, NULL);
  mirage_bridge_diag_init(&sink, here);
  for (int severity = MIRAGE_SEVERITY_NOTE; severity <= MIRAGE_SEVERITY_ERROR; severity++) {
    mirage_diag_emit(&sink.diag, (MirageSeverity)severity, NULL, "matmul: %d vs %d", 64, 63);
    assert_int_equal(seen.severity, expected[severity]);
    assert_string_equal(seen.text.buffer, "matmul: 64 vs 63");
    assert_true(seen.at_fallback);
    mirage_diag_emit(&sink.diag, (MirageSeverity)severity, there.ptr, "elsewhere");
    assert_false(seen.at_fallback);
  }
  mlirContextDetachDiagnosticHandler(context, handler);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_schedule),       cmocka_unit_test(test_every_key),
      cmocka_unit_test(test_launch),         cmocka_unit_test(test_proof),
      cmocka_unit_test(test_guard),          cmocka_unit_test(test_cost),
      cmocka_unit_test(test_carry_and_fill), cmocka_unit_test(test_kinds_are_told_apart),
      cmocka_unit_test(test_types),          cmocka_unit_test(test_layouts),
      cmocka_unit_test(test_types_refused),  cmocka_unit_test(test_attributes_refused),
      cmocka_unit_test(test_inference),      cmocka_unit_test(test_diagnostics),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
