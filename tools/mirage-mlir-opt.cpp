// mirage-mlir-opt.cpp - mlir-opt with the dialects and passes of Mirage.
//
// Every flag of mlir-opt works. Ctrl-C lets the passes end with the best they have found (interrupt.c), and the exit
// status says so. The ordinary build registers all of upstream; the static bundle (MIRAGE_STATIC), made to be carried
// to machines without LLVM, only what a Mirage module can hold.
#include "interrupt.h"
#include "mirage-c/Dialects.h"
#include "mirage-c/Passes.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#ifdef MIRAGE_STATIC
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/Passes.h"
#else
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#endif

static void registerUpstream(mlir::DialectRegistry &registry) {
#ifdef MIRAGE_STATIC
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::gpu::GPUDialect, mlir::LLVM::LLVMDialect,
                  mlir::linalg::LinalgDialect, mlir::memref::MemRefDialect, mlir::NVVM::NVVMDialect,
                  mlir::scf::SCFDialect, mlir::tensor::TensorDialect>();
  mlir::registerTransformsPasses();
#else
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
#endif
}

// As a shell says of what Ctrl-C ended: the output is written and valid, but it is not all that was asked for.
static const int exitInterrupted = 130;

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registerUpstream(registry);
  mirageRegisterDialects(wrap(&registry));
  mirageRegisterAllPasses();
  llvm::sys::SetInterruptFunction(nullptr); // registers LLVM's handlers, behind ours
  tool_handle_interrupts();
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv,
      "Mirage superoptimizer driver\n\n"
      "Exit status: 0 finished; 1 failed, and nothing is written; 130 interrupted by Ctrl-C or SIGTERM: what is "
      "written is\n"
      "valid, and the best that was found until then. A second signal ends the process by that signal.\n",
      registry);
  if (llvm::sys::fs::equivalent(input, output)) { // the input stays mapped while the output is opened, which empties it
    llvm::errs() << "mirage-mlir-opt: " << output << " is the input and the output: write to another file\n";
    return EXIT_FAILURE;
  }
  int code = mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
  return code == EXIT_SUCCESS && mirageWasInterrupted() ? exitInterrupted : code;
}
