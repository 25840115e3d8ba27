// mirage-mlir-opt.cpp - mlir-opt with the dialects and passes of Mirage.
//
// Every flag of mlir-opt works, but that --help shows ours first. Ctrl-C lets the passes end with the best they have found
// (interrupt.c), and the exit status says so. What -o names is replaced when the new file is whole (file.c). The
// ordinary build registers all of upstream; the static bundle (MIRAGE_STATIC), made to be carried to machines without
// LLVM, only what a Mirage module can hold.
#include "file.h"
#include "interrupt.h"
#include "mirage-c/Dialects.h"
#include "mirage-c/Passes.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#ifdef MIRAGE_STATIC
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Transforms/Passes.h"
#else
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#endif

static void registerUpstream(mlir::DialectRegistry &registry) {
#ifdef MIRAGE_STATIC
  registry
      .insert<mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::gpu::GPUDialect, mlir::LLVM::LLVMDialect,
              mlir::linalg::LinalgDialect, mlir::math::MathDialect, mlir::memref::MemRefDialect,
              mlir::NVVM::NVVMDialect, mlir::scf::SCFDialect, mlir::tensor::TensorDialect, mlir::tosa::TosaDialect>();
  mlir::registerTransformsPasses();
#else
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
#endif
}

// As a shell says of what Ctrl-C ended: the output is written and valid, but it is not all that was asked for.
static const int exitInterrupted = 130;

/// The file that is being written, which goes when the tool ends by an error: LLVM's streams end the process themselves.
static char *unfinished;

static void removeUnfinished() {
  if (unfinished)
    remove(unfinished);
  free(unfinished);
}

/// Runs mlir-opt into a file beside the output, which takes its place if all went well.
static int runInto(llvm::StringRef input, const std::string &output, int argc, char **argv,
                   mlir::DialectRegistry &registry) {
  char *place;
  char *beside = tool_file_beside(output.c_str(), &place);
  if (!beside)
    return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
  unfinished = beside;
  atexit(removeUnfinished);
  bool done = mlir::succeeded(mlir::MlirOptMain(argc, argv, input, beside, registry));
  int reason = done ? tool_file_replace(beside, place) : 0;
  if (reason)
    llvm::errs() << "mirage-mlir-opt: " << output << ": " << strerror(reason) << "\n";
  else if (done)
    free(std::exchange(unfinished, nullptr));
  free(place);
  return done && !reason ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv) {
  if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-help") || !strcmp(argv[1], "-h"))) {
    mirageHelpPrint(stdout);
    return EXIT_SUCCESS;
  }
  if (argc == 2 && !strcmp(argv[1], "--mirage-help=markdown")) {
    mirageHelpPrintMarkdown(stdout);
    return EXIT_SUCCESS;
  }
  if (argc == 2 && !strcmp(argv[1], "--mirage-help=schedule")) {
    mirageHelpPrintSchedule(stdout);
    return EXIT_SUCCESS;
  }
  mlir::DialectRegistry registry;
  registerUpstream(registry);
  mirageRegisterDialects(wrap(&registry));
  mirageRegisterAllPasses();
  llvm::sys::SetInterruptFunction(nullptr); // registers LLVM's handlers, behind ours
  tool_handle_interrupts();
  tool_file_no_signal();
  auto [input, output] = mlir::registerAndParseCLIOptions(argc, argv, "Mirage superoptimizer driver\n", registry);
  if (llvm::sys::fs::equivalent(input, output)) { // the input stays mapped while it is read
    llvm::errs() << "mirage-mlir-opt: " << output << " is the input and the output: write to another file\n";
    return EXIT_FAILURE;
  }
  int code = runInto(input, output, argc, argv, registry);
  return code == EXIT_SUCCESS && mirageWasInterrupted() ? exitInterrupted : code;
}
