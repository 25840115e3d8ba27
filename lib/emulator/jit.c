// jit.c - generated code for the host, compiled in memory by ORC.
//
// The code sees the instructions of calls.c and nothing else of this process.
#include "machine.h"

#include "codegen/host.h"
#include "llvm-c/Error.h"
#include "llvm-c/LLJIT.h"
#include "llvm-c/Orc.h"
#include <stdlib.h>

struct Jit {
  LLVMOrcLLJITRef orc;
};

enum { OPT_LEVEL = 1 }; // the emulator's own work dominates; compiling fast is worth more

static MirageStatus llvm_failed(const MirageDiag *diag, LLVMErrorRef error) {
  char *text = LLVMGetErrorMessage(error);
  MirageStatus status = mirage_diag_fail(diag, NULL, MIRAGE_CODEGEN, "emulator: %s", text);
  LLVMDisposeErrorMessage(text);
  return status;
}

static LLVMErrorRef define_calls(LLVMOrcLLJITRef orc) {
  uint32_t count = 0, used = 0;
  const CallSymbol *calls = mirage__calls(&count);
  LLVMOrcCSymbolMapPair *pairs = calloc(count, sizeof *pairs);
  if (!pairs)
    return LLVMCreateStringError("out of memory");
  for (uint32_t i = 0; i < count; i++) {
    if (!calls[i].function)
      continue;
    pairs[used].Name = LLVMOrcLLJITMangleAndIntern(orc, calls[i].name);
    pairs[used].Sym.Address = (LLVMOrcExecutorAddress)(uintptr_t)calls[i].function;
    pairs[used++].Sym.Flags.GenericFlags = LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable;
  }
  LLVMOrcMaterializationUnitRef unit = LLVMOrcAbsoluteSymbols(pairs, used);
  free(pairs);
  LLVMErrorRef error = LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(orc), unit);
  if (error)
    LLVMOrcDisposeMaterializationUnit(unit);
  return error;
}

// Hands the module and its context to ORC.
static LLVMErrorRef add_module(LLVMOrcLLJITRef orc, const MirageHostModule *host) {
  LLVMOrcThreadSafeContextRef context = LLVMOrcCreateNewThreadSafeContextFromLLVMContext(host->context);
  LLVMOrcThreadSafeModuleRef module = LLVMOrcCreateNewThreadSafeModule(host->module, context);
  LLVMOrcDisposeThreadSafeContext(context); // the module keeps it alive
  return LLVMOrcLLJITAddLLVMIRModule(orc, LLVMOrcLLJITGetMainJITDylib(orc), module);
}

MirageStatus mirage__jit_create(MirageUGraph *graph, const MirageTarget *target, struct MirageFault *fault,
                                const MirageDiag *diag, Jit **out_jit) {
  *out_jit = NULL;
  MirageHostModule host;
  MIRAGE_TRY(mirage__codegen_host(graph, target, OPT_LEVEL, fault, diag, &host));
  return mirage__jit_compile(&host, diag, out_jit);
}

MirageStatus mirage__jit_compile(const struct MirageHostModule *module, const MirageDiag *diag, Jit **out_jit) {
  const MirageHostModule host = *module;
  *out_jit = NULL;
  LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
  LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder,
                                                LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(host.machine));
  LLVMOrcLLJITRef orc = NULL;
  LLVMErrorRef error = LLVMOrcCreateLLJIT(&orc, builder);
  if (error) {
    LLVMDisposeModule(host.module);
    LLVMContextDispose(host.context);
    return llvm_failed(diag, error);
  }
  error = add_module(orc, &host);
  if (!error)
    error = define_calls(orc);
  Jit *jit = malloc(sizeof *jit);
  if (error || !jit) {
    free(jit);
    MirageStatus status =
        error ? llvm_failed(diag, error) : mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "emulator: out of memory");
    LLVMConsumeError(LLVMOrcDisposeLLJIT(orc));
    return status;
  }
  jit->orc = orc;
  *out_jit = jit;
  return MIRAGE_OK;
}

MirageStatus mirage__jit_find(Jit *jit, const char *name, const MirageDiag *diag,
                              void (**out_entry)(const uint64_t *pointers)) {
  LLVMOrcExecutorAddress address = 0;
  LLVMErrorRef error = LLVMOrcLLJITLookup(jit->orc, &address, name);
  if (error)
    return llvm_failed(diag, error);
  *out_entry = (void (*)(const uint64_t *))(uintptr_t)address;
  return MIRAGE_OK;
}

void mirage__jit_destroy(Jit *jit) {
  if (!jit)
    return;
  LLVMConsumeError(LLVMOrcDisposeLLJIT(jit->orc));
  free(jit);
}
