// print_primitives.c - mirage-primitives: what each row of primitives.def becomes, for tests to read.
//
//   mirage-primitives llvm | ptx       a function for each row, with the row's operands as parameters; wgmma in some
//   shapes mirage-primitives unchecked FILE   names of the functions that no CHECK-LABEL of FILE mentions; fails if
//   there are any
//
// Operands that must be constants are some that the instruction takes.
#include "codegen/primitives.h"
#include "mirage/target.h"
#include "llvm-c/Analysis.h"
#include "llvm-c/Target.h"
#include "llvm-c/TargetMachine.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Product {
  const char *name;
  MirageDType dtype, b_dtype;
  int32_t n;
  bool a_in_registers, a_mn_major, b_mn_major;
} Product;
static const Product PRODUCTS[] = {
    {"wgmma_n8", MIRAGE_F16, MIRAGE_F16, 8, false, false, false},
    {"wgmma_n8_majors", MIRAGE_BF16, MIRAGE_BF16, 8, false, true, true},
    {"wgmma_n16_registers", MIRAGE_F16, MIRAGE_F16, 16, true, false, true},
    {"wgmma_n256", MIRAGE_BF16, MIRAGE_BF16, 256, false, false, false},
    {"wgmma_s8", MIRAGE_I8, MIRAGE_I8, 8, false, false, false},
    {"wgmma_e4m3", MIRAGE_F8E4M3FN, MIRAGE_F8E4M3FN, 8, false, false, false},
    {"wgmma_e5m2_registers", MIRAGE_F8E5M2, MIRAGE_F8E4M3FN, 8, true, false, false},
};
enum { NUM_PRODUCTS = sizeof PRODUCTS / sizeof *PRODUCTS, MOST_CELLS = 128 };
static const char WAIT[] = "wgmma_wait", DESCRIPTOR[] = "matrix_descriptor";

// Constants where the instruction asks for one.
static LLVMValueRef constant(const MirageGpu *gpu, MiragePrimitive primitive) {
  switch (primitive) {
  case MIRAGE_PRIM_SET_REGISTERS_MORE:
  case MIRAGE_PRIM_SET_REGISTERS_FEWER:
    return gpu_i32(gpu, 64);
  case MIRAGE_PRIM_CP_ASYNC_WAIT:
    return gpu_i32(gpu, 2);
  case MIRAGE_PRIM_WGMMA_WAIT:
    return gpu_i64(gpu, 2);
  default:
    return NULL;
  }
}

static void begin(MirageGpu *gpu, const char *name, LLVMTypeRef result, LLVMTypeRef *params, uint32_t count) {
  gpu->function = LLVMAddFunction(gpu->module, name, LLVMFunctionType(result, params, count, 0));
  LLVMPositionBuilderAtEnd(gpu->builder, LLVMAppendBasicBlockInContext(gpu->context, gpu->function, ""));
}

static void end(const MirageGpu *gpu, LLVMValueRef result) {
  if (LLVMTypeOf(result) == gpu->void_type)
    LLVMBuildRetVoid(gpu->builder);
  else
    LLVMBuildRet(gpu->builder, result);
}

// A row's result type is known once it is emitted: a first function, thrown away, tells it.
static LLVMTypeRef result_type(MirageGpu *gpu, MiragePrimitive primitive, uint32_t count, LLVMValueRef *operands) {
  begin(gpu, "probe", gpu->void_type, NULL, 0);
  for (uint32_t i = 0; i < count; i++) {
    LLVMValueRef given = constant(gpu, primitive);
    operands[i] = given ? given : LLVMGetUndef(mirage__gpu_operand_type(gpu, primitive, i));
  }
  LLVMTypeRef type = LLVMTypeOf(mirage__gpu_emit(gpu, primitive, operands));
  LLVMDeleteFunction(gpu->function);
  return type;
}

static void emit_row(MirageGpu *gpu, MiragePrimitive primitive) {
  LLVMTypeRef params[16];
  LLVMValueRef operands[16];
  uint32_t count = mirage__gpu_num_operands(primitive);
  for (uint32_t i = 0; i < count; i++)
    params[i] = mirage__gpu_operand_type(gpu, primitive, i);
  LLVMTypeRef result = result_type(gpu, primitive, count, operands);
  begin(gpu, mirage__gpu_name(primitive), result, params, count);
  for (uint32_t i = 0; i < count && !constant(gpu, primitive); i++)
    operands[i] = LLVMGetParam(gpu->function, i);
  end(gpu, mirage__gpu_emit(gpu, primitive, operands));
}

// Cells lie in memory; operands are parameters.
static void emit_product(MirageGpu *gpu, const Product *p) {
  LLVMTypeRef params[7] = {gpu->global_ptr, gpu->i64, gpu->i64, gpu->i32, gpu->i32, gpu->i32, gpu->i32};
  begin(gpu, p->name, gpu->void_type, params, 7);
  LLVMValueRef cells[MOST_CELLS], a_regs[4], memory = LLVMGetParam(gpu->function, 0);
  for (unsigned i = 0; i < 4; i++)
    a_regs[i] = LLVMGetParam(gpu->function, 3 + i);
  for (int32_t i = 0; i < p->n / 2; i++)
    cells[i] = p->dtype == MIRAGE_I8 ? gpu_i32(gpu, 0) : gpu_f32(gpu, 0);
  mirage__gpu_wgmma(gpu, p->dtype, p->b_dtype, p->n, LLVMGetParam(gpu->function, 1), p->a_in_registers ? a_regs : NULL,
                    p->a_mn_major, LLVMGetParam(gpu->function, 2), p->b_mn_major, cells);
  mirage__gpu_store_global(gpu, cells[p->n / 2 - 1], memory);
  LLVMBuildRetVoid(gpu->builder);
}

static void emit_wait(MirageGpu *gpu) {
  LLVMTypeRef params[2] = {gpu->f32, gpu->f32}, pair = LLVMStructTypeInContext(gpu->context, params, 2, 0);
  begin(gpu, WAIT, pair, params, 2);
  LLVMValueRef cells[2] = {LLVMGetParam(gpu->function, 0), LLVMGetParam(gpu->function, 1)};
  mirage__gpu_wgmma_wait(gpu, 1, 2, cells);
  LLVMBuildAggregateRet(gpu->builder, cells, 2);
  begin(gpu, DESCRIPTOR, gpu->i64, &gpu->shared_ptr, 1);
  LLVMBuildRet(gpu->builder, mirage__gpu_matrix_descriptor(gpu, LLVMGetParam(gpu->function, 0), 128, 1024, 3));
}

static int print(LLVMModuleRef module, LLVMTargetMachineRef machine, bool ptx) {
  char *error = NULL;
  LLVMMemoryBufferRef buffer = NULL;
  if (LLVMVerifyModule(module, LLVMReturnStatusAction, &error)) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }
  LLVMDisposeMessage(error);
  if (!ptx) {
    char *text = LLVMPrintModuleToString(module);
    fputs(text, stdout);
    LLVMDisposeMessage(text);
    return 0;
  }
  if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMAssemblyFile, &error, &buffer)) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }
  fwrite(LLVMGetBufferStart(buffer), 1, LLVMGetBufferSize(buffer), stdout);
  LLVMDisposeMemoryBuffer(buffer);
  return 0;
}

static int print_all(bool ptx) {
  const MirageTarget *target = mirage_target_find("h200");
  const char *triple = "nvptx64-nvidia-cuda";
  LLVMTargetRef llvm_target;
  char *error = NULL;
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  if (LLVMGetTargetFromTriple(triple, &llvm_target, &error))
    return 1;
  LLVMTargetMachineRef machine =
      LLVMCreateTargetMachine(llvm_target, triple, target->chip, target->ptx_meet, LLVMCodeGenLevelDefault,
                              LLVMRelocDefault, LLVMCodeModelDefault);
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = LLVMModuleCreateWithNameInContext("primitives", context);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
  LLVMSetTarget(module, triple);
  LLVMSetModuleDataLayout(module, layout);
  LLVMDisposeTargetData(layout);
  MirageGpu gpu;
  mirage__gpu_init(&gpu, context, module, builder);
  for (int p = 0; p < MIRAGE_NUM_PRIMITIVES; p++)
    emit_row(&gpu, (MiragePrimitive)p);
  for (unsigned i = 0; i < NUM_PRODUCTS; i++)
    emit_product(&gpu, &PRODUCTS[i]);
  emit_wait(&gpu);
  int status = print(module, machine, ptx);
  LLVMDisposeBuilder(builder);
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
  LLVMDisposeTargetMachine(machine);
  return status;
}

// ----------------------------------------------------------------------------------------------------------- unchecked

// "LABEL NAME(" at the end of a line, and an expectation on the next.
static bool is_checked(const char *text, const char *label, const char *name, const char *expectation) {
  char line[256];
  int length = snprintf(line, sizeof line, "\n%s%s(\n%s", label, name, expectation);
  return length < (int)sizeof line && strstr(text, line);
}

static int report(const char *text, const char *name) {
  bool llvm = is_checked(text, "LLVM-LABEL: @", name, "LLVM: ");
  bool ptx = is_checked(text, "PTX-LABEL: .func{{.*}} ", name, "PTX: ");
  if (!llvm || !ptx)
    printf("not checked: %s of %s\n", llvm ? "PTX" : "LLVM IR", name);
  return !llvm || !ptx;
}

static int print_unchecked(const char *path) {
  static char text[1 << 20];
  FILE *file = fopen(path, "r");
  if (!file) {
    fprintf(stderr, "cannot read %s\n", path);
    return 1;
  }
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  int missing = report(text, WAIT) + report(text, DESCRIPTOR);
  for (int p = 0; p < MIRAGE_NUM_PRIMITIVES; p++)
    missing += report(text, mirage__gpu_name((MiragePrimitive)p));
  for (unsigned i = 0; i < NUM_PRODUCTS; i++)
    missing += report(text, PRODUCTS[i].name);
  return missing != 0;
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "unchecked") == 0)
    return print_unchecked(argv[2]);
  if (argc == 2 && (strcmp(argv[1], "llvm") == 0 || strcmp(argv[1], "ptx") == 0))
    return print_all(strcmp(argv[1], "ptx") == 0);
  fprintf(stderr, "usage: %s llvm | ptx | unchecked FILE\n", argv[0]);
  return 1;
}
