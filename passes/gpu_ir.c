// gpu_ir.c - builders of the operations that convert-mirage-to-gpu leaves (gpu_ir.h).
//
// All of them through the generic form, since the C API has no other: name, operands, result types, attributes.
#include "gpu_ir.h"

#include "mlir-c/Dialect/GPU.h"
#include "mlir-c/Dialect/LLVM.h"

MlirOperation mirage__ir_add(const MirageIr *ir, const MirageIrOp *op) {
  MlirOperationState state = mlirOperationStateGet(mirage__ir_text(op->name), ir->loc);
  mlirOperationStateAddOperands(&state, op->num_operands, op->operands);
  mlirOperationStateAddResults(&state, op->num_results, op->results);
  mlirOperationStateAddAttributes(&state, op->num_attributes, op->attributes);
  MlirOperation added = mlirOperationCreate(&state);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(ir->before), ir->before, added);
  return added;
}

static MlirValue value_of(MlirOperation op) { return mlirOperationGetResult(op, 0); }

MlirNamedAttribute mirage__ir_attribute(const MirageIr *ir, const char *name, MlirAttribute value) {
  return mlirNamedAttributeGet(mlirIdentifierGet(ir->context, mirage__ir_text(name)), value);
}

MlirNamedAttribute mirage__ir_flag(const MirageIr *ir, const char *name) {
  return mirage__ir_attribute(ir, name, mlirUnitAttrGet(ir->context));
}

// -------------------------------------------------------------------------------------------------------------- types

MlirType mirage__ir_integer_type(const MirageIr *ir, unsigned bits) { return mlirIntegerTypeGet(ir->context, bits); }
MlirType mirage__ir_pointer_type(const MirageIr *ir) { return mlirLLVMPointerTypeGet(ir->context, 0); }
static MlirType token_type(const MirageIr *ir) { return mlirGPUAsyncTokenTypeGet(ir->context); }

MlirType mirage__ir_buffer_type(MlirType shaped) {
  int64_t shape[MIRAGE_MAX_RANK];
  intptr_t rank = mlirShapedTypeGetRank(shaped);
  for (intptr_t i = 0; i < rank; i++)
    shape[i] = mlirShapedTypeGetDimSize(shaped, i);
  return mlirMemRefTypeContiguousGet(mlirShapedTypeGetElementType(shaped), rank, shape, mlirAttributeGetNull());
}

MlirType mirage__ir_bytes_type(const MirageIr *ir, int64_t count, unsigned bits) {
  return mlirMemRefTypeContiguousGet(mirage__ir_integer_type(ir, bits), 1, &count, mlirAttributeGetNull());
}

// --------------------------------------------------------------------------------------------------------- arithmetic

static MlirValue constant(const MirageIr *ir, MlirType type, int64_t value) {
  MlirNamedAttribute attribute = mirage__ir_attribute(ir, "value", mlirIntegerAttrGet(type, value));
  return value_of(mirage__ir_add(ir, &(MirageIrOp){.name = "arith.constant",
                                                   .num_results = 1,
                                                   .results = &type,
                                                   .num_attributes = 1,
                                                   .attributes = &attribute}));
}

MlirValue mirage__ir_index(const MirageIr *ir, int64_t value) {
  return constant(ir, mlirIndexTypeGet(ir->context), value);
}

MlirValue mirage__ir_integer(const MirageIr *ir, unsigned bits, int64_t value) {
  return constant(ir, mirage__ir_integer_type(ir, bits), value);
}

static MlirValue unary(const MirageIr *ir, const char *name, MlirValue operand, MlirType type) {
  return value_of(mirage__ir_add(
      ir, &(MirageIrOp){.name = name, .num_operands = 1, .operands = &operand, .num_results = 1, .results = &type}));
}

MlirValue mirage__ir_binary(const MirageIr *ir, const char *name, MlirValue a, MlirValue b) {
  MlirType type = mlirValueGetType(a);
  MlirValue operands[] = {a, b};
  return value_of(mirage__ir_add(
      ir, &(MirageIrOp){.name = name, .num_operands = 2, .operands = operands, .num_results = 1, .results = &type}));
}

// The offset of a memref whose type does not say it.
static MlirValue dynamic_offset(const MirageIr *ir, MlirValue memref) {
  MlirType type = mlirValueGetType(memref), index = mlirIndexTypeGet(ir->context), results[2 + 2 * MIRAGE_MAX_RANK];
  intptr_t rank = mlirShapedTypeGetRank(type);
  results[0] =
      mlirMemRefTypeContiguousGet(mlirShapedTypeGetElementType(type), 0, NULL, mlirMemRefTypeGetMemorySpace(type));
  for (intptr_t i = 0; i < 1 + 2 * rank; i++)
    results[1 + i] = index;
  MirageIrOp op = {.name = "memref.extract_strided_metadata",
                   .num_operands = 1,
                   .operands = &memref,
                   .num_results = (uint32_t)(2 + 2 * rank),
                   .results = results};
  return mlirOperationGetResult(mirage__ir_add(ir, &op), 1);
}

MlirValue mirage__ir_address(const MirageIr *ir, MlirValue memref) {
  MlirType type = mlirValueGetType(memref);
  int64_t strides[MIRAGE_MAX_RANK], offset = 0;
  MlirValue base = unary(ir, "memref.extract_aligned_pointer_as_index", memref, mlirIndexTypeGet(ir->context));
  if (mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset)) || offset == 0)
    return base;
  int64_t bytes = mlirTypeIsAF32(mlirShapedTypeGetElementType(type)) ? 4 : 2;
  MlirValue distance =
      mlirShapedTypeIsDynamicStrideOrOffset(offset)
          ? mirage__ir_binary(ir, "arith.muli", dynamic_offset(ir, memref), mirage__ir_index(ir, bytes))
          : mirage__ir_index(ir, offset * bytes);
  return mirage__ir_binary(ir, "arith.addi", base, distance);
}

MlirValue mirage__ir_pointer(const MirageIr *ir, MlirValue address) {
  MlirValue integer = unary(ir, "arith.index_cast", address, mirage__ir_integer_type(ir, 64));
  return unary(ir, "llvm.inttoptr", integer, mirage__ir_pointer_type(ir));
}

// ------------------------------------------------------------------------------------------------------------- memory

MlirValue mirage__ir_alloc_host(const MirageIr *ir, MlirType type) {
  const int32_t segments[] = {0, 0};
  MlirNamedAttribute attributes[] = {
      mirage__ir_attribute(ir, "operandSegmentSizes", mlirDenseI32ArrayGet(ir->context, 2, segments)),
      mirage__ir_attribute(ir, "alignment", mlirIntegerAttrGet(mirage__ir_integer_type(ir, 64), 256)),
  };
  return value_of(mirage__ir_add(
      ir,
      &(MirageIrOp){
          .name = "memref.alloc", .num_results = 1, .results = &type, .num_attributes = 2, .attributes = attributes}));
}

// An operation that takes the token and, as its last result, gives the next one.
static MlirOperation enqueue(MirageIr *ir, MirageIrOp *op) {
  MlirOperation added = mirage__ir_add(ir, op);
  ir->token = mlirOperationGetResult(added, mlirOperationGetNumResults(added) - 1);
  return added;
}

void mirage__ir_begin_stream(MirageIr *ir) {
  MlirType type = token_type(ir);
  enqueue(ir, &(MirageIrOp){.name = "gpu.wait", .num_results = 1, .results = &type});
}

void mirage__ir_end_stream(MirageIr *ir) {
  mirage__ir_add(ir, &(MirageIrOp){.name = "gpu.wait", .num_operands = 1, .operands = &ir->token});
  ir->token = (MlirValue){NULL};
}

MlirValue mirage__ir_alloc(MirageIr *ir, MlirType type) {
  const int32_t segments[] = {1, 0, 0};
  MlirType results[] = {type, token_type(ir)};
  MlirNamedAttribute attribute =
      mirage__ir_attribute(ir, "operandSegmentSizes", mlirDenseI32ArrayGet(ir->context, 3, segments));
  MirageIrOp op = {.name = "gpu.alloc",
                   .num_operands = 1,
                   .operands = &ir->token,
                   .num_results = 2,
                   .results = results,
                   .num_attributes = 1,
                   .attributes = &attribute};
  return value_of(enqueue(ir, &op));
}

static void enqueue_on(MirageIr *ir, const char *name, uint32_t count, const MlirValue *values) {
  MlirType type = token_type(ir);
  MlirValue operands[3] = {ir->token};
  for (uint32_t i = 0; i < count; i++)
    operands[1 + i] = values[i];
  enqueue(ir, &(MirageIrOp){
                  .name = name, .num_operands = 1 + count, .operands = operands, .num_results = 1, .results = &type});
}

void mirage__ir_free(MirageIr *ir, MlirValue memref) { enqueue_on(ir, "gpu.dealloc", 1, &memref); }

void mirage__ir_copy(MirageIr *ir, MlirValue to, MlirValue from) {
  enqueue_on(ir, "gpu.memcpy", 2, (MlirValue[]){to, from});
}

void mirage__ir_fill_zero(MirageIr *ir, MlirValue words) {
  enqueue_on(ir, "gpu.memset", 2, (MlirValue[]){words, mirage__ir_integer(ir, 32, 0)});
}

MlirValue mirage__ir_flat(const MirageIr *ir, MlirValue memref) {
  MlirType type = mlirValueGetType(memref);
  int64_t count = 1, zero = 0, one = 1;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); i++)
    count *= mlirShapedTypeGetDimSize(type, i);
  const int32_t segments[] = {1, 0, 0, 0};
  MlirType flat =
      mlirMemRefTypeContiguousGet(mlirShapedTypeGetElementType(type), 1, &count, mlirMemRefTypeGetMemorySpace(type));
  MlirNamedAttribute attributes[] = {
      mirage__ir_attribute(ir, "operandSegmentSizes", mlirDenseI32ArrayGet(ir->context, 4, segments)),
      mirage__ir_attribute(ir, "static_offsets", mlirDenseI64ArrayGet(ir->context, 1, &zero)),
      mirage__ir_attribute(ir, "static_sizes", mlirDenseI64ArrayGet(ir->context, 1, &count)),
      mirage__ir_attribute(ir, "static_strides", mlirDenseI64ArrayGet(ir->context, 1, &one)),
  };
  MirageIrOp op = {.name = "memref.reinterpret_cast",
                   .num_operands = 1,
                   .operands = &memref,
                   .num_results = 1,
                   .results = &flat,
                   .num_attributes = 4,
                   .attributes = attributes};
  return value_of(mirage__ir_add(ir, &op));
}
