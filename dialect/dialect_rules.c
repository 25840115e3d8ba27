// dialect_rules.c - the verifiers and the type inference of the three dialects.
//
// An operator's own rules are the core's (lib/ugraph/infer.c); here is what only MLIR can show: that result types
// written in text are the inferred ones, that region arguments stand for operands and results, what encloses a load,
// and that graphs hold nothing foreign. Every sentence goes to the operation's location.
//
// Call order: MLIR checks traits, then calls verify(regions = false), then checks what the region holds, then calls
// verify(regions = true) on operations with a region. So the first call may not trust the region's contents.
#include "rules.h"

#include "mirage-c/Dialects.h"
#include "mirage-c/Kernel.h"
#include "mirage-c/Values.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdio.h>
#include <string.h>

// One operation under check. The arena holds what the attributes point to.
typedef struct Check {
  MlirOperation operation;
  MlirContext context;
  MirageOp op;
  MirageLevel level;
  const char *name;
  MirageArena arena;
  MirageBridgeDiag sink;
  const MirageDiag *diag; // NULL: silent
} Check;

#define FAIL(check, status, ...) mirage_diag_fail((check)->diag, NULL, status, __VA_ARGS__)

enum { TEXT_BYTES = 120 };

static const struct {
  const char *prefix;
  MirageLevel level;
} LEVELS[] = {{"mirage_kernel.", MIRAGE_LEVEL_KERNEL},
              {"mirage_block.", MIRAGE_LEVEL_BLOCK},
              {"mirage_thread.", MIRAGE_LEVEL_THREAD}};

MirageOp mirage_dialect_find(MlirStringRef name, MirageLevel *out_level) {
  for (size_t i = 0; i < sizeof LEVELS / sizeof *LEVELS; i++) {
    size_t length = strlen(LEVELS[i].prefix);
    if (name.length <= length || memcmp(name.data, LEVELS[i].prefix, length) != 0)
      continue;
    *out_level = LEVELS[i].level;
    return mirage_op_find(LEVELS[i].level, name.data + length, name.length - length);
  }
  return MIRAGE_OP_NONE;
}

static MlirStringRef name_of(MlirOperation operation) { return mlirIdentifierStr(mlirOperationGetName(operation)); }

static bool is_op(MlirOperation operation, MirageOp op) {
  MirageLevel level;
  return !mlirOperationIsNull(operation) && mirage_dialect_find(name_of(operation), &level) == op;
}

// ------------------------------------------------------------------------------------------------------------- types

// Text of a type for a sentence, cut off where `buffer` ends.
typedef struct Text {
  char buffer[TEXT_BYTES];
  size_t used;
} Text;

static void append(MlirStringRef part, void *user) {
  Text *text = user;
  size_t room = sizeof text->buffer - 1 - text->used, count = part.length < room ? part.length : room;
  memcpy(text->buffer + text->used, part.data, count);
  text->used += count;
  text->buffer[text->used] = 0;
}

static Text text_of(MlirType type) {
  Text text = {.used = 0};
  mlirTypePrint(type, append, &text);
  return text;
}

// The types in `types`, imported, in the arena.
static MirageStatus import_types(Check *check, intptr_t count, const MlirType *types, MirageType **out_types) {
  MirageType *imported = mirage_arena_alloc_array(&check->arena, (size_t)count, sizeof *imported);
  if (!imported)
    return MIRAGE_NO_MEMORY;
  for (intptr_t i = 0; i < count; i++)
    MIRAGE_TRY(mirage_bridge_type_import(types[i], check->diag, NULL, &imported[i]));
  *out_types = imported;
  return MIRAGE_OK;
}

static MirageStatus operand_types(Check *check, MlirOperation operation, intptr_t *count, MlirType **out_types) {
  *count = mlirOperationGetNumOperands(operation);
  *out_types = mirage_arena_alloc_array(&check->arena, (size_t)*count, sizeof **out_types);
  if (!*out_types)
    return MIRAGE_NO_MEMORY;
  for (intptr_t i = 0; i < *count; i++)
    (*out_types)[i] = mlirValueGetType(mlirOperationGetOperand(operation, i));
  return MIRAGE_OK;
}

// A tensor that graphs and custom kernels take and give.
static MirageStatus check_tensor(Check *check, const char *what, intptr_t index, MlirType type) {
  MirageType imported;
  if (!mlirTypeIsARankedTensor(type))
    return FAIL(check, MIRAGE_BAD_TYPE, "%s: %s %d is %s, a ranked tensor is needed", check->name, what, (int)index,
                text_of(type).buffer);
  MIRAGE_TRY(mirage_bridge_type_import(type, check->diag, NULL, &imported));
  if (imported.rank == 0)
    return FAIL(check, MIRAGE_BAD_SHAPE, "%s: %s %d has rank 0, which only constants may have", check->name, what,
                (int)index);
  return MIRAGE_OK;
}

MirageStatus mirage_dialect_check_type(const char *what, intptr_t rank, const int64_t *shape, MlirType element,
                                       const MirageDiag *diag) {
  MirageDType dtype;
  if (!mirage_bridge_dtype_import(element, &dtype))
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_TYPE,
                            "%s: elements must be f16, bf16, f32, i1, i32, or stored: i8, i4, f8E4M3FN, f8E5M2, not %s",
                            what, text_of(element).buffer);
  if (rank > MIRAGE_MAX_RANK)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_TYPE, "%s: rank is %d, at most %d is supported", what, (int)rank,
                            MIRAGE_MAX_RANK);
  for (intptr_t i = 0; i < rank; i++) {
    if (shape[i] == mlirShapedTypeGetDynamicSize())
      return mirage_diag_fail(diag, NULL, MIRAGE_BAD_TYPE, "%s: dimension %d is dynamic; give it an extent", what,
                              (int)i);
    if (shape[i] < 1)
      return mirage_diag_fail(diag, NULL, MIRAGE_BAD_TYPE, "%s: dimension %d has extent %lld, at least 1 is needed",
                              what, (int)i, (long long)shape[i]);
  }
  return MIRAGE_OK;
}

// --------------------------------------------------------------------------------------------------------- operators

// Grid, cluster and loops around an operation of a block graph. With more loops than the core counts, `num_loops` says
// so and `ranges` is empty.
static MirageStatus find_scope(Check *check, MirageScope *out_scope) {
  MirageScope scope = {.num_loops = 0};
  int64_t inwards[MIRAGE_MAX_LOOPS] = {0};
  MlirOperation around = mlirOperationGetParentOperation(check->operation);
  for (; is_op(around, MIRAGE_OP_LOOP); around = mlirOperationGetParentOperation(around)) {
    MlirAttribute range = mlirOperationGetAttributeByName(around, mlirStringRefCreateFromCString("range"));
    if (scope.num_loops < MIRAGE_MAX_LOOPS && !mlirAttributeIsNull(range))
      inwards[scope.num_loops] = mlirIntegerAttrGetValueInt(range);
    scope.num_loops++;
  }
  for (uint32_t i = 0; scope.num_loops <= MIRAGE_MAX_LOOPS && i < scope.num_loops; i++)
    scope.ranges[i] = inwards[scope.num_loops - 1 - i];
  if (!is_op(around, MIRAGE_OP_CUSTOM))
    return FAIL(check, MIRAGE_BAD_GRAPH, "%s: stands outside a custom kernel", check->name);
  MirageAttrs attrs;
  MIRAGE_TRY(mirage_bridge_attrs_import(MIRAGE_OP_CUSTOM, mirageOperationGetAttributeDictionary(around), &check->arena,
                                        check->diag, NULL, &attrs));
  memcpy(scope.grid, attrs.custom.grid, sizeof scope.grid);
  memcpy(scope.cluster, attrs.custom.cluster, sizeof scope.cluster);
  *out_scope = scope;
  return MIRAGE_OK;
}

// Infers; `written` is the result type that stands in the text, for operators that have it as their argument.
static MirageStatus infer(Check *check, intptr_t num_operands, const MlirType *operands, MlirAttribute attributes,
                          const MirageType *written, const MirageScope *scope, MirageType *out_type) {
  const MirageOpInfo *info = mirage_op_info(check->op);
  MirageType *types;
  MirageAttrs attrs;
  MIRAGE_TRY(import_types(check, num_operands, operands, &types));
  MIRAGE_TRY(mirage_bridge_attrs_import(check->op, attributes, &check->arena, check->diag, NULL, &attrs));
  if (written)
    mirage_bridge_attrs_add_result(check->op, check->level, num_operands ? &types[0] : NULL, written, &attrs);
  if (info->attrs == MIRAGE_ATTRS_PERM && num_operands == 1) {
    MlirAttribute perm = mlirDictionaryAttrGetElementByName(attributes, mlirStringRefCreateFromCString("perm"));
    if (mlirDenseArrayGetNumElements(perm) != (intptr_t)types[0].rank)
      return FAIL(check, MIRAGE_BAD_ARGUMENT, "%s: perm has %d entries, the operand has rank %u", check->name,
                  (int)mlirDenseArrayGetNumElements(perm), types[0].rank);
  }
  return mirage_op_infer(check->op, check->level, (uint32_t)num_operands, types, &attrs, scope, check->diag, NULL,
                         out_type);
}

MlirLogicalResult mirage_dialect_infer(MlirStringRef name, intptr_t num_operands, const MlirType *operands,
                                       MlirAttribute attributes, MlirContext context, MlirLocation location,
                                       MlirType *out_type) {
  Check check = {.context = context};
  MirageType result;
  mirage_bridge_diag_init(&check.sink, location);
  check.diag = mlirLocationIsNull(location) ? NULL : &check.sink.diag;
  check.op = mirage_dialect_find(name, &check.level);
  check.name = mirage_op_info(check.op)->mnemonic;
  MirageStatus status = infer(&check, num_operands, operands, attributes, NULL, NULL, &result);
  mirage_arena_deinit(&check.arena);
  if (status != MIRAGE_OK)
    return mlirLogicalResultFailure();
  *out_type = mirage_bridge_type_export(context, &result);
  return mlirLogicalResultSuccess();
}

// Loads read the custom kernel's inputs, stores write its outputs; both are arguments of its region.
static MirageStatus check_access(Check *check, MlirValue tensor) {
  MlirOperation owner = {NULL};
  if (mlirValueIsABlockArgument(tensor))
    owner = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(tensor));
  if (!is_op(owner, MIRAGE_OP_CUSTOM))
    return FAIL(check, MIRAGE_BAD_GRAPH, "%s: the tensor is not an argument of the custom kernel", check->name);
  intptr_t argument = mlirBlockArgumentGetArgNumber(tensor), num_inputs = mlirOperationGetNumOperands(owner);
  if (check->op == MIRAGE_OP_LOAD && argument >= num_inputs)
    return FAIL(check, MIRAGE_BAD_GRAPH, "load: argument %d is an output: the custom kernel has %d inputs",
                (int)argument, (int)num_inputs);
  if (check->op == MIRAGE_OP_STORE && argument < num_inputs)
    return FAIL(check, MIRAGE_BAD_GRAPH, "store: argument %d is an input: outputs start at argument %d", (int)argument,
                (int)num_inputs);
  return MIRAGE_OK;
}

static MirageStatus check_operator(Check *check) {
  MlirType *operands;
  intptr_t num_operands, num_results = mlirOperationGetNumResults(check->operation);
  MirageType written = {0}, inferred;
  MirageScope scope;
  char have[TEXT_BYTES], want[TEXT_BYTES];
  const MirageOpInfo *info = mirage_op_info(check->op);
  bool in_scope = info->kind == MIRAGE_KIND_ACCESS || info->kind == MIRAGE_KIND_COLLECTIVE ||
                  (info->kind == MIRAGE_KIND_IOTA && check->level == MIRAGE_LEVEL_BLOCK);
  MIRAGE_TRY(operand_types(check, check->operation, &num_operands, &operands));
  if (in_scope)
    MIRAGE_TRY(find_scope(check, &scope));
  if (num_results)
    MIRAGE_TRY(mirage_bridge_type_import(mlirValueGetType(mlirOperationGetResult(check->operation, 0)), check->diag,
                                         NULL, &written));
  MIRAGE_TRY(infer(check, num_operands, operands, mirageOperationGetAttributeDictionary(check->operation), &written,
                   in_scope ? &scope : NULL, &inferred));
  if (info->kind == MIRAGE_KIND_ACCESS)
    MIRAGE_TRY(check_access(check, mlirOperationGetOperand(check->operation, num_operands - 1)));
  if (num_results && !mirage_type_same_meaning(&written, &inferred))
    return FAIL(check, MIRAGE_BAD_TYPE, "%s: result type is %s, should be %s", check->name,
                mirage_type_format(&written, have, sizeof have), mirage_type_format(&inferred, want, sizeof want));
  return MIRAGE_OK;
}

// ----------------------------------------------------------------------------------------------------------- regions

static MlirBlock body_of(MlirOperation operation) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(operation, 0));
}

// A region holds operators of its level only.
static MirageStatus check_contents(Check *check, MirageLevel level) {
  static const char *const names[] = {
      [MIRAGE_LEVEL_KERNEL] = "kernel", [MIRAGE_LEVEL_BLOCK] = "block", [MIRAGE_LEVEL_THREAD] = "thread"};
  for (MlirOperation inner = mlirBlockGetFirstOperation(body_of(check->operation)); !mlirOperationIsNull(inner);
       inner = mlirOperationGetNextInBlock(inner)) {
    MlirStringRef name = name_of(inner);
    MirageLevel its_level = level;
    if (mirage_dialect_find(name, &its_level) == MIRAGE_OP_NONE || its_level != level)
      return FAIL(check, MIRAGE_BAD_GRAPH, "%s: holds %.*s, which is not an operator of the %s level", check->name,
                  (int)name.length, name.data, names[level]);
  }
  return MIRAGE_OK;
}

// Argument `index` of the region has the meaning of `value`; `exact`: also its very type.
static MirageStatus check_argument(Check *check, intptr_t index, MlirType type, bool exact) {
  MlirType argument = mlirValueGetType(mlirBlockGetArgument(body_of(check->operation), index));
  MirageType have, want;
  MIRAGE_TRY(mirage_bridge_type_import(argument, check->diag, NULL, &have));
  MIRAGE_TRY(mirage_bridge_type_import(type, check->diag, NULL, &want));
  bool fragment = have.space == MIRAGE_SPACE_FRAGMENT, fragments = check->op == MIRAGE_OP_THREAD;
  if (exact ? !mlirTypeEqual(argument, type) : !mirage_type_same_meaning(&have, &want) || fragment != fragments)
    return FAIL(check, MIRAGE_BAD_TYPE, "%s: argument %d of its region is %s, stands for %s", check->name, (int)index,
                text_of(argument).buffer, text_of(type).buffer);
  return MIRAGE_OK;
}

static MirageStatus check_num_arguments(Check *check, intptr_t expected) {
  intptr_t count = mlirBlockGetNumArguments(body_of(check->operation));
  if (count != expected)
    return FAIL(check, MIRAGE_BAD_GRAPH, "%s: its region has %d arguments, %d are needed", check->name, (int)count,
                (int)expected);
  return MIRAGE_OK;
}

static MirageStatus check_custom(Check *check) {
  MirageAttrs attrs;
  MlirOperation custom = check->operation;
  intptr_t num_inputs = mlirOperationGetNumOperands(custom), num_outputs = mlirOperationGetNumResults(custom);
  MIRAGE_TRY(mirage_bridge_attrs_import(MIRAGE_OP_CUSTOM, mirageOperationGetAttributeDictionary(custom), &check->arena,
                                        check->diag, NULL, &attrs));
  MIRAGE_TRY(mirage_op_check_custom(&attrs.custom, check->diag, NULL));
  if (num_outputs == 0)
    return FAIL(check, MIRAGE_BAD_GRAPH, "custom: has no outputs");
  MIRAGE_TRY(check_num_arguments(check, num_inputs + num_outputs));
  for (intptr_t i = 0; i < num_inputs + num_outputs; i++) {
    MlirValue value =
        i < num_inputs ? mlirOperationGetOperand(custom, i) : mlirOperationGetResult(custom, i - num_inputs);
    MIRAGE_TRY(check_tensor(check, i < num_inputs ? "operand" : "result", i < num_inputs ? i : i - num_inputs,
                            mlirValueGetType(value)));
    MIRAGE_TRY(check_argument(check, i, mlirValueGetType(value), true));
  }
  return MIRAGE_OK;
}

static MlirWalkResult count_load(MlirOperation operation, void *count) {
  *(uint32_t *)count += is_op(operation, MIRAGE_OP_LOAD);
  return MlirWalkResultAdvance;
}

static MirageStatus check_custom_region(Check *check) {
  MirageAttrs attrs;
  MlirOperation custom = check->operation;
  MIRAGE_TRY(check_contents(check, MIRAGE_LEVEL_BLOCK));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(custom); i++) {
    MlirValue output = mlirBlockGetArgument(body_of(custom), mlirOperationGetNumOperands(custom) + i);
    if (mlirOpOperandIsNull(mlirValueGetFirstUse(output))) // its uses are stores: check_access
      return FAIL(check, MIRAGE_BAD_GRAPH, "custom: output %d is never stored", (int)i);
  }
  MIRAGE_TRY(mirage_bridge_attrs_import(MIRAGE_OP_CUSTOM, mirageOperationGetAttributeDictionary(custom), &check->arena,
                                        check->diag, NULL, &attrs));
  uint32_t num_loads = 0, listed = mirage_schedule_count_loads(attrs.custom.schedule);
  mlirOperationWalk(custom, count_load, &num_loads, MlirWalkPreOrder);
  if (listed && listed != num_loads)
    return FAIL(check, MIRAGE_BAD_ARGUMENT, "custom: schedule lists %u loads, the kernel has %u", listed, num_loads);
  return MIRAGE_OK;
}

static MirageStatus check_loop(Check *check) {
  MirageScope scope;
  MlirOperation loop = check->operation;
  intptr_t num_inits = mlirOperationGetNumOperands(loop);
  MIRAGE_TRY(find_scope(check, &scope));
  if (scope.num_loops >= MIRAGE_MAX_LOOPS)
    return FAIL(check, MIRAGE_LIMIT, "loop: %u loops enclose it, at most %d may nest", scope.num_loops,
                MIRAGE_MAX_LOOPS);
  MIRAGE_TRY(check_num_arguments(check, num_inits));
  if (mlirOperationGetNumResults(loop) != num_inits)
    return FAIL(check, MIRAGE_BAD_GRAPH, "loop: has %d results, %d initial values",
                (int)mlirOperationGetNumResults(loop), (int)num_inits);
  for (intptr_t i = 0; i < num_inits; i++) {
    MlirType init = mlirValueGetType(mlirOperationGetOperand(loop, i));
    MlirType result = mlirValueGetType(mlirOperationGetResult(loop, i));
    MirageType have, want;
    MIRAGE_TRY(check_argument(check, i, init, false));
    MIRAGE_TRY(mirage_bridge_type_import(result, check->diag, NULL, &have));
    MIRAGE_TRY(mirage_bridge_type_import(init, check->diag, NULL, &want));
    if (!mirage_type_same_meaning(&have, &want))
      return FAIL(check, MIRAGE_BAD_TYPE, "loop: result %d is %s, its initial value is %s", (int)i,
                  text_of(result).buffer, text_of(init).buffer);
  }
  return MIRAGE_OK;
}

static MirageStatus check_loop_region(Check *check) {
  MlirType *inits, *yielded;
  MirageType *init_types, *yielded_types;
  intptr_t num_inits, num_yielded;
  MirageAttrs attrs;
  MIRAGE_TRY(check_contents(check, MIRAGE_LEVEL_BLOCK));
  MIRAGE_TRY(operand_types(check, check->operation, &num_inits, &inits));
  MIRAGE_TRY(operand_types(check, mlirBlockGetTerminator(body_of(check->operation)), &num_yielded, &yielded));
  MIRAGE_TRY(import_types(check, num_inits, inits, &init_types));
  MIRAGE_TRY(import_types(check, num_yielded, yielded, &yielded_types));
  MIRAGE_TRY(mirage_bridge_attrs_import(MIRAGE_OP_LOOP, mirageOperationGetAttributeDictionary(check->operation),
                                        &check->arena, check->diag, NULL, &attrs));
  return mirage_op_check_loop(&attrs.loop, (uint32_t)num_inits, init_types, (uint32_t)num_yielded, yielded_types,
                              check->diag, NULL);
}

static MirageStatus check_thread(Check *check) {
  intptr_t num_operands = mlirOperationGetNumOperands(check->operation);
  MIRAGE_TRY(check_num_arguments(check, num_operands));
  for (intptr_t i = 0; i < num_operands; i++)
    MIRAGE_TRY(check_argument(check, i, mlirValueGetType(mlirOperationGetOperand(check->operation, i)), false));
  return MIRAGE_OK;
}

static MirageStatus check_thread_region(Check *check) {
  MIRAGE_TRY(check_contents(check, MIRAGE_LEVEL_THREAD));
  MlirOperation yield = mlirBlockGetTerminator(body_of(check->operation));
  intptr_t num_results = mlirOperationGetNumResults(check->operation), num_yielded = mlirOperationGetNumOperands(yield);
  if (num_yielded != num_results)
    return FAIL(check, MIRAGE_BAD_GRAPH, "thread: yields %d values, has %d results", (int)num_yielded,
                (int)num_results);
  for (intptr_t i = 0; i < num_results; i++) {
    MlirType result = mlirValueGetType(mlirOperationGetResult(check->operation, i));
    MlirType yielded = mlirValueGetType(mlirOperationGetOperand(yield, i));
    MirageType have, want;
    MIRAGE_TRY(mirage_bridge_type_import(result, check->diag, NULL, &have));
    MIRAGE_TRY(mirage_bridge_type_import(yielded, check->diag, NULL, &want));
    if (!mirage_type_same_meaning(&have, &want))
      return FAIL(check, MIRAGE_BAD_TYPE, "thread: result %d is %s, it yields %s", (int)i, text_of(result).buffer,
                  text_of(yielded).buffer);
  }
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------------- graphs

static MlirType signature_of(MlirOperation graph) {
  return mlirTypeAttrGetValue(mlirOperationGetAttributeByName(graph, mlirStringRefCreateFromCString("function_type")));
}

static MirageStatus check_graph(Check *check) {
  MlirType signature = signature_of(check->operation);
  if (mlirBlockIsNull(body_of(check->operation)))
    return FAIL(check, MIRAGE_BAD_GRAPH, "graph: has no body");
  // MLIR prints an empty symbol as text that it does not read.
  MlirAttribute symbol = mlirOperationGetAttributeByName(check->operation, mlirStringRefCreateFromCString("sym_name"));
  if (mlirStringAttrGetValue(symbol).length == 0)
    return FAIL(check, MIRAGE_BAD_GRAPH, "graph: its name is empty");
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumInputs(signature); i++)
    MIRAGE_TRY(check_tensor(check, "input", i, mlirFunctionTypeGetInput(signature, i)));
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumResults(signature); i++)
    MIRAGE_TRY(check_tensor(check, "output", i, mlirFunctionTypeGetResult(signature, i)));
  if (mlirFunctionTypeGetNumResults(signature) == 0)
    return FAIL(check, MIRAGE_BAD_GRAPH, "graph: has no outputs");
  return MIRAGE_OK;
}

static MirageStatus check_return(Check *check) {
  MlirType signature = signature_of(mlirOperationGetParentOperation(check->operation));
  intptr_t declared = mlirFunctionTypeGetNumResults(signature),
           returned = mlirOperationGetNumOperands(check->operation);
  if (returned != declared)
    return FAIL(check, MIRAGE_BAD_GRAPH, "return: returns %d values, the graph declares %d", (int)returned,
                (int)declared);
  for (intptr_t i = 0; i < returned; i++) {
    MlirType have = mlirValueGetType(mlirOperationGetOperand(check->operation, i));
    MlirType want = mlirFunctionTypeGetResult(signature, i);
    if (!mlirTypeEqual(have, want))
      return FAIL(check, MIRAGE_BAD_TYPE, "return: value %d is %s, the graph declares %s", (int)i, text_of(have).buffer,
                  text_of(want).buffer);
  }
  return MIRAGE_OK;
}

MlirLogicalResult mirage_dialect_check_source(MlirOperation candidate, MlirOperation source) {
  MirageBridgeDiag sink;
  MirageStatus status = MIRAGE_OK;
  mirage_bridge_diag_init(&sink, mlirOperationGetLocation(candidate));
  MlirAttribute symbol = mlirOperationGetAttributeByName(candidate, mlirStringRefCreateFromCString("source"));
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(symbol);
  bool is_graph = !mlirOperationIsNull(source) && mlirStringRefEqual(name_of(source), name_of(candidate));
  if (!is_graph)
    status = mirage_diag_fail(&sink.diag, NULL, MIRAGE_BAD_GRAPH, "graph: source @%.*s is not a graph beside it",
                              (int)name.length, name.data);
  else if (mlirOperationEqual(candidate, source))
    status = mirage_diag_fail(&sink.diag, NULL, MIRAGE_BAD_GRAPH, "graph: names itself as its source");
  else if (!mlirAttributeIsNull(mlirOperationGetAttributeByName(source, mlirStringRefCreateFromCString("source"))))
    status = mirage_diag_fail(&sink.diag, NULL, MIRAGE_BAD_GRAPH,
                              "graph: source @%.*s has a source itself; a candidate names a program", (int)name.length,
                              name.data);
  else if (!mlirTypeEqual(signature_of(candidate), signature_of(source)))
    status = mirage_diag_fail(&sink.diag, NULL, MIRAGE_BAD_TYPE, "graph: signature differs from its source's: %s vs %s",
                              text_of(signature_of(candidate)).buffer, text_of(signature_of(source)).buffer);
  return status == MIRAGE_OK ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}

/// Whether the call is on memrefs, with the outputs behind the inputs as operands.
static MirageStatus check_call_form(MlirOperation call, const MirageDiag *diag, bool *out_memrefs) {
  intptr_t operands = mlirOperationGetNumOperands(call), memrefs = 0;
  for (intptr_t i = 0; i < operands; i++)
    memrefs += mlirTypeIsAMemRef(mlirValueGetType(mlirOperationGetOperand(call, i)));
  *out_memrefs = memrefs > 0;
  if (memrefs == 0 || (memrefs == operands && mlirOperationGetNumResults(call) == 0))
    return MIRAGE_OK;
  return mirage_diag_fail(
      diag, NULL, MIRAGE_BAD_TYPE,
      "call: takes tensors and gives tensors, or takes memrefs alone, the outputs behind the inputs, and "
      "has no result: got %d memrefs of %d operands, and %d results",
      (int)memrefs, (int)operands, (int)mlirOperationGetNumResults(call));
}

static bool is_same_tensor(MlirType wanted, MlirType got) {
  if (!mlirTypeIsAMemRef(got))
    return mlirTypeEqual(wanted, got);
  bool same = mlirShapedTypeGetRank(wanted) == mlirShapedTypeGetRank(got) &&
              mlirTypeEqual(mlirShapedTypeGetElementType(wanted), mlirShapedTypeGetElementType(got));
  for (intptr_t i = 0; same && i < mlirShapedTypeGetRank(wanted); i++)
    same = mlirShapedTypeGetDimSize(wanted, i) == mlirShapedTypeGetDimSize(got, i);
  return same;
}

static MirageStatus check_callee_types(MlirOperation call, MlirType signature, MlirStringRef name, bool memrefs,
                                       const MirageDiag *diag) {
  intptr_t inputs = mlirFunctionTypeGetNumInputs(signature), outputs = mlirFunctionTypeGetNumResults(signature);
  for (intptr_t i = 0; i < inputs + outputs; i++) {
    bool in = i < inputs, operand = in || memrefs;
    MlirType wanted = in ? mlirFunctionTypeGetInput(signature, i) : mlirFunctionTypeGetResult(signature, i - inputs);
    intptr_t number = operand ? i : i - inputs;
    MlirType got =
        mlirValueGetType(operand ? mlirOperationGetOperand(call, number) : mlirOperationGetResult(call, number));
    if (!is_same_tensor(wanted, got))
      return mirage_diag_fail(diag, NULL, MIRAGE_BAD_TYPE, "call: %s %d is %s, @%.*s has %s",
                              operand ? "operand" : "result", (int)number, text_of(got).buffer, (int)name.length,
                              name.data, text_of(wanted).buffer);
  }
  return MIRAGE_OK;
}

static MirageStatus check_callee(MlirOperation call, MlirOperation graph, const MirageDiag *diag) {
  MlirAttribute symbol = mlirOperationGetAttributeByName(call, mlirStringRefCreateFromCString("callee"));
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(symbol);
  bool memrefs;
  if (mlirOperationIsNull(graph) ||
      !mlirStringRefEqual(name_of(graph), mlirStringRefCreateFromCString("mirage_kernel.graph")))
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_GRAPH, "call: @%.*s is no graph of this module", (int)name.length,
                            name.data);
  MIRAGE_TRY(check_call_form(call, diag, &memrefs));
  MlirType signature = signature_of(graph);
  intptr_t inputs = mlirFunctionTypeGetNumInputs(signature), outputs = mlirFunctionTypeGetNumResults(signature);
  if (mlirOperationGetNumOperands(call) != inputs + (memrefs ? outputs : 0) ||
      (!memrefs && mlirOperationGetNumResults(call) != outputs))
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_SHAPE,
                            "call: has %d operands and %d results, @%.*s has %d inputs and %d outputs",
                            (int)mlirOperationGetNumOperands(call), (int)mlirOperationGetNumResults(call),
                            (int)name.length, name.data, (int)inputs, (int)outputs);
  return check_callee_types(call, signature, name, memrefs, diag);
}

MlirLogicalResult mirage_dialect_check_callee(MlirOperation call, MlirOperation graph) {
  MirageBridgeDiag sink;
  mirage_bridge_diag_init(&sink, mlirOperationGetLocation(call));
  return check_callee(call, graph, &sink.diag) == MIRAGE_OK ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}

bool mirage_dialect_load_is_listed(MlirOperation load) {
  MlirOperation around = mlirOperationGetParentOperation(load);
  while (is_op(around, MIRAGE_OP_LOOP))
    around = mlirOperationGetParentOperation(around);
  if (!is_op(around, MIRAGE_OP_CUSTOM))
    return false;
  MlirAttribute attribute = mlirOperationGetAttributeByName(around, mlirStringRefCreateFromCString("schedule"));
  MirageSchedule schedule = {0};
  if (!mlirAttributeIsNull(attribute) && mirageKernelAttributeIsASchedule(attribute))
    mirageKernelScheduleAttrGetValue(attribute, &schedule);
  return mirage_schedule_count_loads(&schedule) != 0;
}

// ----------------------------------------------------------------------------------------------------------- dispatch

// A key that is not the operation's own belongs to another dialect, and says so by its prefix. Without this rule a
// misspelt key would pass unseen.
static MirageStatus check_keys(Check *check) {
  for (intptr_t i = 0; i < mlirOperationGetNumDiscardableAttributes(check->operation); i++) {
    MlirStringRef key = mlirIdentifierStr(mlirOperationGetDiscardableAttribute(check->operation, i).name);
    if (!memchr(key.data, '.', key.length))
      return FAIL(check, MIRAGE_BAD_ARGUMENT, "%s: has no attribute '%.*s'; one of another dialect needs its prefix",
                  check->name, (int)key.length, key.data);
  }
  return MIRAGE_OK;
}

static MirageStatus verify(Check *check, bool regions) {
  if (!regions)
    MIRAGE_TRY(check_keys(check));
  switch (check->op) {
  case MIRAGE_OP_NONE: // mirage_kernel.graph, the one operation that is no operator
    return regions ? check_contents(check, MIRAGE_LEVEL_KERNEL) : check_graph(check);
  case MIRAGE_OP_CUSTOM:
    return regions ? check_custom_region(check) : check_custom(check);
  case MIRAGE_OP_LOOP:
    return regions ? check_loop_region(check) : check_loop(check);
  case MIRAGE_OP_THREAD:
    return regions ? check_thread_region(check) : check_thread(check);
  case MIRAGE_OP_RETURN:
    return check_return(check);
  case MIRAGE_OP_YIELD: // checked with the loop or thread that it ends
    return MIRAGE_OK;
  default:
    return check_operator(check);
  }
}

MlirLogicalResult mirage_dialect_verify(MlirOperation operation, bool regions) {
  Check check = {.operation = operation, .context = mlirOperationGetContext(operation)};
  mirage_bridge_diag_init(&check.sink, mlirOperationGetLocation(operation));
  check.diag = &check.sink.diag;
  check.op = mirage_dialect_find(name_of(operation), &check.level);
  check.name = check.op == MIRAGE_OP_NONE ? "graph" : mirage_op_info(check.op)->mnemonic;
  MirageStatus status = verify(&check, regions);
  mirage_arena_deinit(&check.arena);
  return status == MIRAGE_OK ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
