// mlir_context.h - set-up and tear-down of cmocka tests whose state is an MLIR context with our dialects loaded.
#ifndef MIRAGE_TEST_MLIR_CONTEXT_H
#define MIRAGE_TEST_MLIR_CONTEXT_H

#include "mirage-c/Dialects.h"
#include "mlir-c/IR.h"

static inline int mlir_context_set_up(void **state) {
  MlirContext context = mlirContextCreateWithThreading(false);
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mirageRegisterDialects(registry);
  mlirContextAppendDialectRegistry(context, registry);
  mlirDialectRegistryDestroy(registry);
  mlirContextLoadAllAvailableDialects(context);
  *state = context.ptr;
  return 0;
}

static inline int mlir_context_tear_down(void **state) {
  mlirContextDestroy((MlirContext){*state});
  return 0;
}

#endif
