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
/// Address of the tensor map that is parameter `index`, for TENSOR_COPY_*. On a GPU the parameter is the map itself: a
/// `byval` of MIRAGE_TENSOR_MAP_BYTES, aligned to 64, with the string attribute "nvvm.grid_constant". On the host it is
/// the address of the MirageTensorMap.
LLVMValueRef mirage__gpu_tensor_map(const MirageGpu *gpu, unsigned index);
/// Says of a call that its warp executes it together: LLVM must not move it into a branch.
void mirage__gpu_mark_convergent(const MirageGpu *gpu, LLVMValueRef call);
/// Whether the defect asked for is of `kind` (MirageFaultKind) and belongs here: true once at most, never for PTX.
bool mirage__gpu_fault(const MirageGpu *gpu, int kind);

#define GPU0(gpu, name) mirage__gpu_emit(gpu, MIRAGE_PRIM_##name, NULL)
#define GPU(gpu, name, ...) mirage__gpu_emit(gpu, MIRAGE_PRIM_##name, (LLVMValueRef[]){__VA_ARGS__})

/// How a global load treats the caches.
typedef enum {
  MIRAGE_GLOBAL_PLAIN,
  MIRAGE_GLOBAL_INVARIANT, // of memory that nobody writes while the kernel is there
  MIRAGE_GLOBAL_SETTLED,   // or from where its address is known (BEHIND)
} MirageGlobalMode;

/// What a row that loads so many words gives, as a vector of i32.
LLVMValueRef mirage__gpu_load_words(const MirageGpu *gpu, MiragePrimitive primitive, uint32_t words,
                                    LLVMValueRef address);
/// Loads and stores of 1 .. 16 bytes: `type` is a scalar or a vector of 2, 4, 8 scalars; the address is aligned to its
/// size. ld.global[.nc], st.global, ld.shared, st.shared, ld.shared::cluster.
LLVMValueRef mirage__gpu_load_global(const MirageGpu *gpu, LLVMTypeRef type, LLVMValueRef address,
                                     MirageGlobalMode mode);
void mirage__gpu_store_global(const MirageGpu *gpu, LLVMValueRef value, LLVMValueRef address);
LLVMValueRef mirage__gpu_load_shared(const MirageGpu *gpu, LLVMTypeRef type, LLVMValueRef address);
void mirage__gpu_store_shared(const MirageGpu *gpu, LLVMValueRef value, LLVMValueRef address);

/// Conversions between f32 and the element types, round to nearest even; scalars, or vectors of equal length. A stored type
/// is an i8 that holds the number or its bits; only scalars, and to it only numbers that it has. An i32 is computed with as
/// it is: neither changes it. primitives_convert.c
LLVMValueRef mirage__gpu_to_f32(const MirageGpu *gpu, LLVMValueRef value, MirageDType dtype);
LLVMValueRef mirage__gpu_from_f32(const MirageGpu *gpu, LLVMValueRef value, MirageDType dtype);
LLVMTypeRef mirage__gpu_dtype(const MirageGpu *gpu, MirageDType dtype);
/// Of what numbers of the type are computed as: f32, or i32. And that number in it, a whole one for an i32.
static inline LLVMTypeRef gpu_register(const MirageGpu *gpu, MirageDType dtype) {
  return dtype == MIRAGE_I32 ? gpu->i32 : gpu->f32;
}
static inline LLVMValueRef gpu_number(const MirageGpu *gpu, MirageDType dtype, double value) {
  return dtype == MIRAGE_I32 ? LLVMConstInt(gpu->i32, (unsigned long long)(int64_t)value, 1)
                             : LLVMConstReal(gpu->f32, value);
}

// ---------------------------------------------------------------------------- warpgroup products (primitives_wgmma.c)

/// d[64, n] += a[64, 16] @ b[16, n], issued by the 128 threads of a warpgroup; f16 or bf16 with f32 accumulators. Of bytes
/// [64, 32] @ [32, n]: i8 with i32 accumulators, f8 of either kind each with f32 ones.
///
/// Cells:       n / 2 values of this thread, replaced by those after the product. They may go into another product
/// of
///              the same shape, or a wait, and nowhere else until they come out of a wait. In unit u (columns 8 u ..)
///              lane 4 g + t of warp w of the group has cells 4 u + c at row 16 w + g + 8 (c / 2), column 8 u + 2 t + c
///              % 2.
/// Beginning:   where cells[0] is NULL the product is d = a @ b: the cells begin with nothing.
/// a_regs:      4 registers, two elements each: (g, 2t..), (g + 8, 2t..), (g, 2t + 8..), (g + 8, 2t + 8..) of rows
///              16 w ..; or NULL, and a_desc. Not with a_mn_major. Bytes: four elements each, from k = 4 t and 16 + 4 t on.
/// Majors:      bytes lie with the contraction innermost, both.
/// Descriptors: i64 of PTX (mirage__gpu_matrix_descriptor).
/// Order:       WGMMA_FENCE, products, WGMMA_COMMIT, mirage__gpu_wgmma_wait. Operands in shared memory are read through
///              the async proxy: other stores and cp.async need FENCE_ASYNC_SHARED and a barrier before.
/// n:           8 .. 256, a multiple of 8; of i8 beyond 32 of 16: mirage__gpu_wgmma_columns.
void mirage__gpu_wgmma(const MirageGpu *gpu, MirageDType a_dtype, MirageDType b_dtype, int32_t n, LLVMValueRef a_desc,
                       const LLVMValueRef *a_regs, bool a_mn_major, LLVMValueRef b_desc, bool b_mn_major,
                       LLVMValueRef *cells);
/// The most columns of which there is such an instruction, of `n` or fewer.
int32_t mirage__gpu_wgmma_columns(MirageDType dtype, int32_t n);
/// WGMMA_FENCE, with the first values of all cells that products after it begin with in their registers before it.
void mirage__gpu_wgmma_fence(const MirageGpu *gpu, uint32_t count, LLVMValueRef *cells);
/// Waits until at most `groups` committed groups are under way. All cells of the others go through it.
void mirage__gpu_wgmma_wait(const MirageGpu *gpu, int32_t groups, uint32_t count, LLVMValueRef *cells);
/// Descriptor of a matrix at `address` (shared, a multiple of 16): leading and stride offsets in bytes, multiples of
/// 16; swizzle as MirageTensorMap.swizzle.
LLVMValueRef mirage__gpu_matrix_descriptor(const MirageGpu *gpu, LLVMValueRef address, int64_t leading_bytes,
                                           int64_t stride_bytes, int32_t swizzle);

// Shorthand used all over the generator.
static inline LLVMValueRef gpu_i32(const MirageGpu *gpu, int64_t value) {
  return LLVMConstInt(gpu->i32, (unsigned long long)value, 1);
}
static inline LLVMValueRef gpu_i64(const MirageGpu *gpu, int64_t value) {
  return LLVMConstInt(gpu->i64, (unsigned long long)value, 1);
}
static inline LLVMValueRef gpu_f32(const MirageGpu *gpu, double value) { return LLVMConstReal(gpu->f32, value); }

#endif
