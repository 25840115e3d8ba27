// primitives.h - device primitives: the only place that knows what a GPU instruction is called.
//
// One row of primitives.def is one instruction. The generator asks for a primitive by name and hands it the
// instruction's own operands (addresses, registers, immediates as constants), exactly as PTX lists them; the back end
// decides what that becomes. For NVPTX (primitives.c) a row is an intrinsic, inline PTX, or a plain LLVM load or store.
// For the host (primitives_host.c) the same rows, and the loads and stores, are calls into the emulator.
#ifndef MIRAGE_CODEGEN_PRIMITIVES_H
#define MIRAGE_CODEGEN_PRIMITIVES_H

#include "mirage/ugraph.h"
#include "llvm-c/Core.h"

typedef enum MiragePrimitive {
#define PRIMITIVE(name, how, text, signature, overload) MIRAGE_PRIM_##name,
#include "primitives.def"
  MIRAGE_NUM_PRIMITIVES
} MiragePrimitive;

enum { MIRAGE_GLOBAL_SPACE = 1, MIRAGE_SHARED_SPACE = 3, MIRAGE_CLUSTER_SPACE = 7 };

typedef struct MirageFault MirageFault; // host.h

/// What every piece of the generator builds with: LLVM's handles and the types it uses all the time.
typedef struct MirageGpu {
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef builder;
  LLVMValueRef function;
  LLVMTypeRef void_type, i1, i8, i16, i32, i64, f16, bf16, f32;
  LLVMTypeRef global_ptr, shared_ptr, cluster_ptr;
  unsigned invariant_load_kind; // metadata kind of loads from memory that no kernel writes meanwhile
  bool host;                    // calls into the emulator instead of instructions
  uint32_t op;                  // host: node id of the operator being lowered, for its messages
  MirageFault *fault;           // host: a defect to put in, or NULL
} MirageGpu;

void mirage__gpu_init(MirageGpu *gpu, LLVMContextRef context, LLVMModuleRef module, LLVMBuilderRef builder);

/// Emits one primitive at the builder's place. `operands` follow the row's signature; NULL when it has none.
/// Returns the result (a struct for several registers), or the void call.
LLVMValueRef mirage__gpu_emit(const MirageGpu *gpu, MiragePrimitive primitive, const LLVMValueRef *operands);
uint32_t mirage__gpu_num_operands(MiragePrimitive primitive);
LLVMTypeRef mirage__gpu_operand_type(const MirageGpu *gpu, MiragePrimitive primitive, uint32_t index);
const char *mirage__gpu_name(MiragePrimitive primitive);
/// Start of the block's dynamic shared memory.
LLVMValueRef mirage__gpu_shared_base(const MirageGpu *gpu);
/// Pointer `index` of the kernel: operands, results, workspace.
LLVMValueRef mirage__gpu_parameter(const MirageGpu *gpu, unsigned index);
/// Whether the defect asked for is of `kind` (MirageFaultKind) and belongs here: true once at most, never for PTX.
bool mirage__gpu_fault(const MirageGpu *gpu, int kind);

#define GPU0(gpu, name) mirage__gpu_emit(gpu, MIRAGE_PRIM_##name, NULL)
#define GPU(gpu, name, ...) mirage__gpu_emit(gpu, MIRAGE_PRIM_##name, (LLVMValueRef[]){__VA_ARGS__})

/// How a global load treats the caches.
typedef enum { MIRAGE_GLOBAL_PLAIN, MIRAGE_GLOBAL_INVARIANT } MirageGlobalMode;

/// Loads and stores of 1 .. 16 bytes: `type` is a scalar or a vector of 2, 4, 8 scalars; the address is aligned to its
/// size. ld.global[.nc], st.global, ld.shared, st.shared, ld.shared::cluster.
LLVMValueRef mirage__gpu_load_global(const MirageGpu *gpu, LLVMTypeRef type, LLVMValueRef address,
                                     MirageGlobalMode mode);
void mirage__gpu_store_global(const MirageGpu *gpu, LLVMValueRef value, LLVMValueRef address);
LLVMValueRef mirage__gpu_load_shared(const MirageGpu *gpu, LLVMTypeRef type, LLVMValueRef address);
void mirage__gpu_store_shared(const MirageGpu *gpu, LLVMValueRef value, LLVMValueRef address);

/// Conversions between f32 and the element types, round to nearest even; scalars, or vectors of equal length.
LLVMValueRef mirage__gpu_to_f32(const MirageGpu *gpu, LLVMValueRef value);
LLVMValueRef mirage__gpu_from_f32(const MirageGpu *gpu, LLVMValueRef value, MirageDType dtype);
LLVMTypeRef mirage__gpu_dtype(const MirageGpu *gpu, MirageDType dtype);

// Shorthand used all over the generator.
static inline LLVMValueRef gpu_i32(const MirageGpu *gpu, int64_t value) {
  return LLVMConstInt(gpu->i32, (unsigned long long)value, 1);
}
static inline LLVMValueRef gpu_i64(const MirageGpu *gpu, int64_t value) {
  return LLVMConstInt(gpu->i64, (unsigned long long)value, 1);
}
static inline LLVMValueRef gpu_f32(const MirageGpu *gpu, double value) { return LLVMConstReal(gpu->f32, value); }

#endif
