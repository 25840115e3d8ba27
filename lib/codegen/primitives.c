// primitives.c - device primitives for NVPTX: each row of primitives.def as an LLVM intrinsic or inline PTX.
//
// The signature string of a row is the whole truth about its types: it gives the LLVM function type, the constraints of
// the inline PTX, and (for intrinsics) what mirage__gpu_emit asserts. See primitives.def for the codes.
#include "primitives.h"

#include "host.h"
#include "mirage/diag.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

typedef enum { INTRINSIC, WARP, ASM, PURE_ASM } How;
typedef struct Row {
  const char *name;
  How how;
  const char *text;
  const char *signature;
  char overload;
} Row;

static const Row ROWS[] = {
#define PRIMITIVE(name, how, text, signature, overload) {#name, how, text, signature, overload},
#include "primitives.def"
};

void mirage__gpu_init(MirageGpu *gpu, LLVMContextRef context, LLVMModuleRef module, LLVMBuilderRef builder) {
  *gpu = (MirageGpu){
      .context = context,
      .module = module,
      .builder = builder,
      .void_type = LLVMVoidTypeInContext(context),
      .i1 = LLVMInt1TypeInContext(context),
      .i8 = LLVMInt8TypeInContext(context),
      .i16 = LLVMInt16TypeInContext(context),
      .i32 = LLVMInt32TypeInContext(context),
      .i64 = LLVMInt64TypeInContext(context),
      .f16 = LLVMHalfTypeInContext(context),
      .bf16 = LLVMBFloatTypeInContext(context),
      .f32 = LLVMFloatTypeInContext(context),
      .global_ptr = LLVMPointerTypeInContext(context, MIRAGE_GLOBAL_SPACE),
      .shared_ptr = LLVMPointerTypeInContext(context, MIRAGE_SHARED_SPACE),
      .cluster_ptr = LLVMPointerTypeInContext(context, MIRAGE_CLUSTER_SPACE),
      .invariant_load_kind = LLVMGetMDKindIDInContext(context, "invariant.load", 14),
  };
}

static LLVMTypeRef repeated(const MirageGpu *gpu, LLVMTypeRef type, unsigned count) {
  LLVMTypeRef fields[8];
  for (unsigned i = 0; i < count; i++)
    fields[i] = type;
  return LLVMStructTypeInContext(gpu->context, fields, count, 0);
}

static LLVMTypeRef type_of_code(const MirageGpu *gpu, char code) {
  switch (code) {
  case 'i':
    return gpu->i32;
  case 'l':
    return gpu->i64;
  case 'p':
    return gpu->i1;
  case 'f':
    return gpu->f32;
  case 'h':
    return LLVMVectorType(gpu->f16, 2);
  case 's':
    return gpu->shared_ptr;
  case 'g':
    return gpu->global_ptr;
  case 'c':
    return gpu->cluster_ptr;
  case 'm':
    return LLVMPointerTypeInContext(gpu->context, 0);
  case '2':
    return repeated(gpu, gpu->i32, 2);
  case '4':
    return repeated(gpu, gpu->i32, 4);
  case '8':
    return repeated(gpu, gpu->i32, 8);
  case 'F':
    return repeated(gpu, gpu->f32, 4);
  default:
    return gpu->void_type;
  }
}

static char constraint_of_code(char code) {
  switch (code) {
  case 'f':
    return 'f';
  case 'l':
  case 's':
  case 'g':
  case 'c':
  case 'm':
    return 'l'; // this target's addresses have 64 bits in every space
  case 'p':
    return 'b';
  default:
    return 'r'; // i32, <2 x half>
  }
}

static unsigned registers_of_code(char code) {
  switch (code) {
  case 'v':
    return 0;
  case '2':
    return 2;
  case '4':
  case 'F':
    return 4;
  case '8':
    return 8;
  default:
    return 1;
  }
}

static LLVMTypeRef function_type(const MirageGpu *gpu, const Row *row) {
  LLVMTypeRef params[16];
  unsigned count = (unsigned)strlen(row->signature) - 1;
  for (unsigned i = 0; i < count; i++)
    params[i] = type_of_code(gpu, row->signature[i + 1]);
  return LLVMFunctionType(type_of_code(gpu, row->signature[0]), params, count, 0);
}

// "=r,=r,l,~{memory}": results first, then operands.
static void asm_constraints(const Row *row, char *out) {
  char result = row->signature[0] == 'F' ? 'f' : constraint_of_code(row->signature[0]);
  const char *comma = "";
  for (unsigned i = 0; i < registers_of_code(row->signature[0]); i++, comma = ",")
    out += sprintf(out, "%s=%c", comma, result);
  for (const char *code = row->signature + 1; *code; code++, comma = ",")
    out += sprintf(out, "%s%c", comma, constraint_of_code(*code));
  if (row->how == ASM)
    sprintf(out, "%s~{memory}", comma);
}

bool mirage__gpu_fault(const MirageGpu *gpu, int kind) {
  return gpu->fault && (int)gpu->fault->kind == kind && gpu->fault->seen++ == gpu->fault->index;
}

// Rows that are LLVM's own arithmetic mean the same everywhere.
static bool is_portable(const Row *row) { return row->how == INTRINSIC && strncmp(row->text, "llvm.nvvm.", 10) != 0; }

static LLVMValueRef emit_for_host(const MirageGpu *gpu, MiragePrimitive primitive, const LLVMValueRef *operands) {
  const Row *row = &ROWS[primitive];
  if (primitive == MIRAGE_PRIM_MBARRIER_TRY_WAIT && mirage__gpu_fault(gpu, MIRAGE_FAULT_SKIP_WAIT))
    return LLVMConstInt(gpu->i1, 1, 0);
  if (primitive == MIRAGE_PRIM_BARRIER_ANY && mirage__gpu_fault(gpu, MIRAGE_FAULT_SKIP_AGAIN)) {
    mirage__host_emit(gpu, row->name, row->signature, operands);
    return LLVMConstInt(gpu->i1, 0, 0);
  }
  bool dropped = gpu->fault && gpu->fault->primitive == primitive && row->signature[0] == 'v' &&
                 mirage__gpu_fault(gpu, MIRAGE_FAULT_DROP_PRIMITIVE);
  return mirage__host_emit(gpu, dropped ? "nothing" : row->name, dropped ? "v" : row->signature, operands);
}

LLVMValueRef mirage__gpu_emit(const MirageGpu *gpu, MiragePrimitive primitive, const LLVMValueRef *operands) {
  const Row *row = &ROWS[primitive];
  if (gpu->host && !is_portable(row))
    return emit_for_host(gpu, primitive, operands);
  LLVMTypeRef type = function_type(gpu, row);
  unsigned count = mirage__gpu_num_operands(primitive);
  LLVMValueRef callee;
  if (row->how == INTRINSIC || row->how == WARP) {
    unsigned id = LLVMLookupIntrinsicID(row->text, strlen(row->text));
    assert(id != 0 && "the pinned LLVM has every intrinsic of primitives.def (test_codegen checks)");
    LLVMTypeRef overload = row->overload ? type_of_code(gpu, row->overload) : NULL;
    callee = LLVMGetIntrinsicDeclaration(gpu->module, id, &overload, overload ? 1 : 0);
    type = LLVMGlobalGetValueType(callee);
  } else {
    char constraints[64];
    asm_constraints(row, constraints);
    callee = LLVMGetInlineAsm(type, row->text, strlen(row->text), constraints, strlen(constraints), row->how == ASM, 0,
                              LLVMInlineAsmDialectATT, 0);
  }
  LLVMValueRef args[16];
  for (unsigned i = 0; i < count; i++)
    args[i] = operands[i];
  LLVMValueRef call = LLVMBuildCall2(gpu->builder, type, callee, args, count, "");
  if (row->how == WARP)
    mirage__gpu_mark_convergent(gpu, call);
  return call;
}

void mirage__gpu_mark_convergent(const MirageGpu *gpu, LLVMValueRef call) {
  unsigned kind = LLVMGetEnumAttributeKindForName("convergent", 10);
  LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(gpu->context, kind, 0));
}

uint32_t mirage__gpu_num_operands(MiragePrimitive primitive) { return (uint32_t)strlen(ROWS[primitive].signature) - 1; }
LLVMTypeRef mirage__gpu_operand_type(const MirageGpu *gpu, MiragePrimitive primitive, uint32_t index) {
  return type_of_code(gpu, ROWS[primitive].signature[index + 1]);
}
const char *mirage__gpu_name(MiragePrimitive primitive) { return ROWS[primitive].name; }

// ------------------------------------------------------------------------------------------------- loads and stores

static unsigned type_bytes(const MirageGpu *gpu, LLVMTypeRef type) {
  if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
    return LLVMGetVectorSize(type) * type_bytes(gpu, LLVMGetElementType(type));
  if (type == gpu->f32 || type == gpu->i32)
    return 4;
  return type == gpu->i64 ? 8 : type == gpu->i8 ? 1 : 2;
}

static LLVMValueRef aligned_load(const MirageGpu *gpu, LLVMTypeRef type, LLVMValueRef address) {
  LLVMValueRef load = LLVMBuildLoad2(gpu->builder, type, address, "");
  LLVMSetAlignment(load, type_bytes(gpu, type));
  return load;
}

static void aligned_store(const MirageGpu *gpu, LLVMValueRef value, LLVMValueRef address) {
  LLVMValueRef store = LLVMBuildStore(gpu->builder, value, address);
  LLVMSetAlignment(store, type_bytes(gpu, LLVMTypeOf(value)));
}

LLVMValueRef mirage__gpu_load_words(const MirageGpu *gpu, MiragePrimitive primitive, uint32_t words,
                                    LLVMValueRef address) {
  LLVMValueRef registers = mirage__gpu_emit(gpu, primitive, &address);
  LLVMValueRef vector = LLVMGetUndef(LLVMVectorType(gpu->i32, words));
  for (unsigned i = 0; i < words; i++)
    vector = LLVMBuildInsertElement(gpu->builder, vector, LLVMBuildExtractValue(gpu->builder, registers, i, ""),
                                    gpu_i32(gpu, i), "");
  return vector;
}

static LLVMValueRef settled_load(const MirageGpu *gpu, LLVMTypeRef type, LLVMValueRef address) {
  unsigned bytes = type_bytes(gpu, type), words = bytes / 4;
  if (words <= 1) {
    MiragePrimitive row = bytes == 4   ? MIRAGE_PRIM_LD_GLOBAL_4
                          : bytes == 2 ? MIRAGE_PRIM_LD_GLOBAL_2
                                       : MIRAGE_PRIM_LD_GLOBAL_1;
    LLVMValueRef loaded = mirage__gpu_emit(gpu, row, &address);
    if (bytes < 4)
      loaded = LLVMBuildTrunc(gpu->builder, loaded, LLVMIntTypeInContext(gpu->context, 8 * bytes), "");
    return LLVMBuildBitCast(gpu->builder, loaded, type, "");
  }
  MiragePrimitive row = words == 4 ? MIRAGE_PRIM_LD_GLOBAL_16 : MIRAGE_PRIM_LD_GLOBAL_8;
  return LLVMBuildBitCast(gpu->builder, mirage__gpu_load_words(gpu, row, words, address), type, "");
}

LLVMValueRef mirage__gpu_load_global(const MirageGpu *gpu, LLVMTypeRef type, LLVMValueRef address,
                                     MirageGlobalMode mode) {
  if (gpu->host)
    return mirage__host_load(gpu, "mirage_emu_ld_global", type, type_bytes(gpu, type), address);
  if (mode == MIRAGE_GLOBAL_SETTLED)
    return settled_load(gpu, type, address);
  LLVMValueRef load = aligned_load(gpu, type, address);
  if (mode == MIRAGE_GLOBAL_INVARIANT)
    LLVMSetMetadata(load, gpu->invariant_load_kind,
                    LLVMMetadataAsValue(gpu->context, LLVMMDNodeInContext2(gpu->context, NULL, 0)));
  return load;
}

void mirage__gpu_store_global(const MirageGpu *gpu, LLVMValueRef value, LLVMValueRef address) {
  if (gpu->host)
    mirage__host_store(gpu, "mirage_emu_st_global", value, type_bytes(gpu, LLVMTypeOf(value)), address);
  else
    aligned_store(gpu, value, address);
}

LLVMValueRef mirage__gpu_load_shared(const MirageGpu *gpu, LLVMTypeRef type, LLVMValueRef address) {
  if (gpu->host)
    return mirage__host_load(gpu, "mirage_emu_ld_shared", type, type_bytes(gpu, type), address);
  return aligned_load(gpu, type, address);
}

void mirage__gpu_store_shared(const MirageGpu *gpu, LLVMValueRef value, LLVMValueRef address) {
  if (gpu->host)
    mirage__host_store(gpu, "mirage_emu_st_shared", value, type_bytes(gpu, LLVMTypeOf(value)), address);
  else
    aligned_store(gpu, value, address);
}

LLVMValueRef mirage__gpu_shared_base(const MirageGpu *gpu) {
  if (gpu->host)
    return mirage__host_shared_base(gpu);
  LLVMValueRef shared = LLVMGetNamedGlobal(gpu->module, "mirage_shared");
  if (shared)
    return shared;
  shared = LLVMAddGlobalInAddressSpace(gpu->module, LLVMArrayType2(gpu->i8, 0), "mirage_shared", MIRAGE_SHARED_SPACE);
  LLVMSetLinkage(shared, LLVMExternalLinkage);
  LLVMSetAlignment(shared, 1024); // the period of the 128-byte swizzle
  return shared;
}

LLVMValueRef mirage__gpu_parameter(const MirageGpu *gpu, unsigned index) {
  return gpu->host ? mirage__host_parameter(gpu, index) : LLVMGetParam(gpu->function, index);
}

LLVMValueRef mirage__gpu_tensor_map(const MirageGpu *gpu, unsigned index) {
  if (!gpu->host)
    return LLVMGetParam(gpu->function, index);
  LLVMTypeRef generic = LLVMPointerTypeInContext(gpu->context, 0);
  return LLVMBuildAddrSpaceCast(gpu->builder, mirage__host_parameter(gpu, index), generic, "");
}
