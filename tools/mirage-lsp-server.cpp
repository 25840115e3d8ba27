// mirage-lsp-server.cpp - mlir-lsp-server with the dialects of Mirage: diagnostics, hover, definitions, completion in an
// editor. README.md says how to set it up. C++ because MLIR's mains have no C API.
#include "mirage-c/Dialects.h"
#include "mlir/CAPI/IR.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

#include <cstdlib>

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mirageRegisterDialects(wrap(&registry));
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry)) ? EXIT_FAILURE : EXIT_SUCCESS;
}
