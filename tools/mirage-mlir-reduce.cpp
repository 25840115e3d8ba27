// mirage-mlir-reduce.cpp - mlir-reduce with the dialects and passes of Mirage: shrinks a module for which a test fails.
//
//   mirage-mlir-reduce big.mlir --mirage-reduce=test=./interesting.sh
//
// interesting.sh gets the path of a module, and ends with status 1 while the failure is still there, else with 0.
//
// The stock mlir-reduce cannot load plugins, and its reduction-tree drops whole graphs at most: inside a graph the next
// operator needs each, and ends with a crash where a dialect names patterns for that. So there is a pass here:
//
//   repeat for every operation, last first:  erase it if nobody uses it; else put one of its operands in its place
//   until no step leaves a module that verifies and is interesting
//
// C++ because passes, registries and MLIR's mains have no C API.
#include "mirage-c/Dialects.h"
#include "mirage-c/Passes.h"
#include "mlir/CAPI/IR.h"
#include "mlir/IR/Verifier.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Reducer/Tester.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "llvm/Support/FileSystem.h"

#include <cstdlib>

using namespace mlir;

namespace {

/// Erases an operation that nobody uses.
bool eraseUnused(Operation *op) {
  if (!op->use_empty() || op->hasTrait<OpTrait::IsTerminator>())
    return false;
  op->erase();
  return true;
}

/// Puts the first operand of its result's type in an operation's place.
bool replaceByOperand(Operation *op) {
  if (op->getNumResults() != 1)
    return false;
  for (Value operand : op->getOperands())
    if (operand.getType() == op->getResult(0).getType()) {
      op->getResult(0).replaceAllUsesWith(operand);
      op->erase();
      return true;
    }
  return false;
}

/// The operations inside the module, each before those it holds.
SmallVector<Operation *> operationsOf(ModuleOp module) {
  SmallVector<Operation *> operations;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != module)
      operations.push_back(op);
  });
  return operations;
}

struct ReducePass : PassWrapper<ReducePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReducePass)
  ReducePass() = default;
  ReducePass(const ReducePass &other) : PassWrapper(other) {}
  StringRef getArgument() const override { return "mirage-reduce"; }
  StringRef getDescription() const override { return "Shrink the module while the test finds it interesting"; }

  LogicalResult initialize(MLIRContext *context) override {
    if (llvm::sys::fs::can_execute(test))
      return success();
    return emitError(UnknownLoc::get(context)) << "mirage-reduce: test='" << test << "' is no program that can be run";
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    Tester tester(test, testArguments);
    if (tester.isInteresting(module).first != Tester::Interestingness::True) {
      module.emitError(
          "mirage-reduce: the test does not find the module interesting: it must end with status 1 for it");
      return signalPassFailure();
    }
    while (sweep(module, tester))
      ;
  }

  /// Tries both steps on every operation; whether any did.
  bool sweep(ModuleOp module, const Tester &tester) {
    bool changed = false;
    for (size_t i = operationsOf(module).size(); i-- > 0;)
      for (auto step : {eraseUnused, replaceByOperand})
        if (i < operationsOf(module).size() && tryStep(module, i, step, tester))
          changed = true;
    return changed;
  }

  /// Takes the step with the i-th operation of a copy, which takes the module's place if it is still interesting.
  bool tryStep(ModuleOp module, size_t i, bool (*step)(Operation *), const Tester &tester) {
    ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
    OwningOpRef<ModuleOp> copy(module.clone());
    if (!step(operationsOf(*copy)[i]) || failed(verify(*copy)) ||
        tester.isInteresting(*copy).first != Tester::Interestingness::True)
      return false;
    module.getBodyRegion().takeBody(copy->getBodyRegion());
    return true;
  }

  Option<std::string> test{*this, "test", llvm::cl::desc("program that says whether a module is interesting")};
  ListOption<std::string> testArguments{*this, "test-arg", llvm::cl::desc("its arguments before the module's path")};
};

} // namespace

int main(int argc, char **argv) {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllPasses();
  PassRegistration<ReducePass>();
  mirageRegisterDialects(wrap(&registry));
  mirageRegisterAllPasses();
  MLIRContext context(registry);
  return failed(mlirReduceMain(argc, argv, context)) ? EXIT_FAILURE : EXIT_SUCCESS;
}
