// register.c - one call that makes an MLIR context ready.
#include "mirage-c/Register.h"

#include "mlir-c/Dialect/Arith.h"
#include "mlir-c/Dialect/ControlFlow.h"
#include "mlir-c/Dialect/Func.h"
#include "mlir-c/Dialect/GPU.h"
#include "mlir-c/Dialect/LLVM.h"
#include "mlir-c/Dialect/Linalg.h"
#include "mlir-c/Dialect/Math.h"
#include "mlir-c/Dialect/MemRef.h"
#include "mlir-c/Dialect/NVVM.h"
#include "mlir-c/Dialect/SCF.h"
#include "mlir-c/Dialect/Tensor.h"
#include <pthread.h>

void mirageRegisterEverything(MlirContext context) {
  MlirDialectHandle handles[] = {
      mlirGetDialectHandle__arith__(), mlirGetDialectHandle__cf__(),     mlirGetDialectHandle__func__(),
      mlirGetDialectHandle__gpu__(),   mlirGetDialectHandle__linalg__(), mlirGetDialectHandle__llvm__(),
      mlirGetDialectHandle__math__(),  mlirGetDialectHandle__memref__(), mlirGetDialectHandle__nvvm__(),
      mlirGetDialectHandle__scf__(),   mlirGetDialectHandle__tensor__(),
  };
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mirageRegisterDialects(registry);
  for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
    mlirDialectHandleInsertDialect(handles[i], registry);
  mlirContextAppendDialectRegistry(context, registry);
  mlirDialectRegistryDestroy(registry);
  pthread_once(&once, mirageRegisterAllPasses);
}
