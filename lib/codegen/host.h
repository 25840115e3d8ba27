// host.h - the second back end: the same generator, for the machine we run on, with every primitive a call.
//
// What the generator emits for a GPU as an instruction (a row of primitives.def, or a load or store of device or shared
// memory) becomes here a call of `mirage_emu_<ROW>`. lib/emulator defines these functions and runs the result. Shared
// by lib/codegen and lib/emulator (and tests) only.
//
// Calls:      first the operator the call comes from (the node's id, u32), then the row's operands: i, h as u32, l and
//             every address as u64, f as float, p as u32. A result of one register is returned; several are written to
//             the u32 or f32 array that the last argument points to.
// Memory:     mirage_emu_ld_global, _st_global, _ld_shared, _st_shared (op, address, bytes, values low, high as u64);
//             loads return a pair of u64.
// Warpgroups: mirage_emu_wgmma (op, element types of a and, << 8, of b, n, majors: 1 = a, 2 = b, descriptor of a as u64, registers of a or
//             NULL, descriptor of b, cells in and out) and mirage_emu_wgmma_results (op, count, cells in and out),
//             which comes after WGMMA_WAIT. Cells that a product leaves are marks, which the latter turns into values.
// Addresses:  shared memory of the own block starts at MIRAGE_HOST_SHARED_BASE; device memory is wherever the kernel's
//             pointers say. No address is one of the host, but that of a tensor map.
// Entry:      void kernel(const uint64_t *pointers): operands, results, workspace, addresses of the tensor maps
//             (MirageTensorMap).
#ifndef MIRAGE_CODEGEN_HOST_H
#define MIRAGE_CODEGEN_HOST_H

#include "mirage/target.h"
#include "mirage/ugraph.h"
#include "primitives.h"

#include "llvm-c/TargetMachine.h"

#define MIRAGE_HOST_SHARED_BASE UINT64_C(0x01000000)

/// A defect put into the generated code on purpose, so that tests see it caught.
typedef enum {
  MIRAGE_FAULT_NONE,
  MIRAGE_FAULT_DROP_PRIMITIVE, // leaves out an instruction without a result: a barrier, a wait
  MIRAGE_FAULT_DROP_MASK,      // takes a masked access for a full one
  MIRAGE_FAULT_SKEW_SWIZZLE,   // takes a row's swizzle from the next row; a matrix descriptor's from the next mode
  MIRAGE_FAULT_SHRINK_SHARED,  // asks for 16 bytes of shared memory less than needed
  MIRAGE_FAULT_SKIP_WAIT,      // takes an mbarrier's phase for completed
  MIRAGE_FAULT_SKIP_AGAIN,     // takes for false what threads ask each other at a barrier
} MirageFaultKind;

struct MirageFault {
  MirageFaultKind kind;
  MiragePrimitive primitive; // DROP_PRIMITIVE
  int32_t index;             // which occurrence in the module, from 0
  int32_t seen;              // set by the generator: occurrences met
};

/// A module for the host and its machine; context, module and machine belong to the caller.
typedef struct MirageHostModule {
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMTargetMachineRef machine;
} MirageHostModule;

/// As mirage_codegen, for the host. `fault` may be NULL.
MirageStatus mirage__codegen_host(MirageUGraph *graph, const MirageTarget *target, int32_t opt_level,
                                  MirageFault *fault, const MirageDiag *diag, MirageHostModule *out_module);

/// Instructions as calls: primitives_host.c, called by primitives.c where gpu->host is set.
LLVMValueRef mirage__host_emit(const MirageGpu *gpu, const char *name, const char *signature,
                               const LLVMValueRef *operands);
LLVMValueRef mirage__host_load(const MirageGpu *gpu, const char *function, LLVMTypeRef type, unsigned bytes,
                               LLVMValueRef address);
void mirage__host_store(const MirageGpu *gpu, const char *function, LLVMValueRef value, unsigned bytes,
                        LLVMValueRef address);
void mirage__host_wgmma(const MirageGpu *gpu, MirageDType a_dtype, MirageDType b_dtype, int32_t n, LLVMValueRef a_desc,
                        const LLVMValueRef *a_regs, bool a_mn_major, LLVMValueRef b_desc, bool b_mn_major,
                        LLVMValueRef *cells);
void mirage__host_wgmma_results(const MirageGpu *gpu, uint32_t count, LLVMValueRef *cells);
LLVMValueRef mirage__host_shared_base(const MirageGpu *gpu);
/// Pointer `index` of the kernel being emitted.
LLVMValueRef mirage__host_parameter(const MirageGpu *gpu, unsigned index);

#endif
