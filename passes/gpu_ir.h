// gpu_ir.h - operations of the gpu, memref, arith and llvm dialects in front of a given one. Private to passes/.
#ifndef MIRAGE_PASSES_GPU_IR_H
#define MIRAGE_PASSES_GPU_IR_H

#include "mirage/ugraph.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/IR.h"

/// Where operations go, and the last token of the stream that they are on: each one that takes a token moves it on.
typedef struct MirageIr {
  MlirContext context;
  MlirLocation loc;
  MlirOperation before;
  MlirValue token;
} MirageIr;

static inline MlirStringRef mirage__ir_text(const char *text) { return mlirStringRefCreateFromCString(text); }
static inline bool mirage__ir_is(MlirOperation op, const char *name) {
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), mirage__ir_text(name));
}

typedef struct MirageIrOp {
  const char *name;
  uint32_t num_operands, num_results, num_attributes;
  const MlirValue *operands;
  const MlirType *results;
  const MlirNamedAttribute *attributes;
} MirageIrOp;
MlirOperation mirage__ir_add(const MirageIr *ir, const MirageIrOp *op);
MlirNamedAttribute mirage__ir_attribute(const MirageIr *ir, const char *name, MlirAttribute value);
MlirNamedAttribute mirage__ir_flag(const MirageIr *ir, const char *name);

MlirType mirage__ir_integer_type(const MirageIr *ir, unsigned bits);
MlirType mirage__ir_pointer_type(const MirageIr *ir);
/// The row-major memref of a tensor type's, or of a memref type's, shape.
MlirType mirage__ir_buffer_type(MlirType shaped);
/// memref<NxiBITS>.
MlirType mirage__ir_bytes_type(const MirageIr *ir, int64_t count, unsigned bits);

MlirValue mirage__ir_index(const MirageIr *ir, int64_t value);
MlirValue mirage__ir_integer(const MirageIr *ir, unsigned bits, int64_t value);
MlirValue mirage__ir_binary(const MirageIr *ir, const char *name, MlirValue a, MlirValue b);
/// The address of a memref's first element, as an index; and an address as an !llvm.ptr.
MlirValue mirage__ir_address(const MirageIr *ir, MlirValue memref);
MlirValue mirage__ir_pointer(const MirageIr *ir, MlirValue address);

/// Host memory, aligned to 256 bytes: memref.alloc.
MlirValue mirage__ir_alloc_host(const MirageIr *ir, MlirType type);
/// The rest is enqueued: gpu.wait async begins a stream, gpu.wait ends it.
void mirage__ir_begin_stream(MirageIr *ir);
void mirage__ir_end_stream(MirageIr *ir);
MlirValue mirage__ir_alloc(MirageIr *ir, MlirType type);
void mirage__ir_free(MirageIr *ir, MlirValue memref);
void mirage__ir_copy(MirageIr *ir, MlirValue to, MlirValue from);
void mirage__ir_fill_zero(MirageIr *ir, MlirValue words);
/// The memref as one row of its elements; it must be row-major and begin at its buffer's first.
MlirValue mirage__ir_flat(const MirageIr *ir, MlirValue memref);

#endif
