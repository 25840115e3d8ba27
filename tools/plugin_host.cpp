// plugin_host.cpp - the plugin's side of the tool that loads it: LLVM's command line and MLIR's registries have no C API.
//
// mlir-opt makes its flags, one a pass, before it reads the command line, and so before --load-pass-plugin=... there loads
// us; only --pass-pipeline looks passes up later. But the command line may grow while it is read. So each of our passes
// becomes a flag that appends itself to what --pass-pipeline was given:
//
//   --load-pass-plugin=mirage-mlir.so --mirage-expand --mirage-verify=seed=2
//     is  --pass-pipeline='builtin.module(mirage-expand,mirage-verify{seed=2})'
//
// Flags of other passes beside them would lose their place in the order; MLIR refuses them beside --pass-pipeline, and so
// do we.
#include "plugin_host.h"
#include "mirage-c/Passes.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"

#include <cstdlib>
#include <string>

#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#else
#define __lsan_ignore_object(object) ((void)(object))
#endif

using namespace llvm;

namespace {

const char mixed[] =
    "cannot stand beside --pass-pipeline or the flag of a pass that mlir-opt brings: name all of them in "
    "--pass-pipeline='builtin.module(...)'";

std::string passesGiven; // "mirage-expand,mirage-verify{seed=2}"
std::string ourPipeline; // that, as --pass-pipeline

/// Writes the passes given so far into --pass-pipeline, in place of those written before.
struct PassFlagParser : cl::parser<std::string> {
  using cl::parser<std::string>::parser;
  bool parse(cl::Option &flag, StringRef name, StringRef options, std::string &value) {
    cl::Option *pipeline = cl::getRegisteredOptions().lookup("pass-pipeline");
    cl::Option *stock = cl::getRegisteredOptions().lookup("canonicalize"); // one option has all of mlir-opt's passes
    if ((pipeline->getNumOccurrences() && passesGiven.empty()) || (stock && stock->getNumOccurrences()))
      return flag.error(mixed);
    passesGiven += (passesGiven.empty() ? "" : ",") + name.str();
    if (!options.empty())
      passesGiven += "{" + options.str() + "}";
    value = options.str();
    ourPipeline = "builtin.module(" + passesGiven + ")";
    pipeline->reset();
    return pipeline->addOccurrence(flag.getPosition(), "pass-pipeline", ourPipeline);
  }
};
using PassFlag = cl::list<std::string, bool, PassFlagParser>;

/// A --pass-pipeline behind our flags would silently replace them: ends the process, as the command line does on errors.
void checkPipeline(const std::string &text) {
  if (passesGiven.empty() || text == ourPipeline)
    return;
  errs() << "mirage-mlir.so: a flag of our passes " << mixed << "\n";
  exit(EXIT_FAILURE);
}

void addFlag(const char *name, const char *summary, void *) {
  if (cl::getRegisteredOptions().count(name))
    return;
  // It lives as long as the command line, which outlives us: the plugin is unloaded first. --help has it among the passes.
  __lsan_ignore_object(new PassFlag(StringRef(name), cl::desc(summary), cl::ValueOptional, cl::ReallyHidden));
}

void findPass(const char *name, const char *, void *found) {
  *static_cast<bool *>(found) |= mlir::PassInfo::lookup(name) != nullptr;
}

} // namespace

bool plugin_host_has_dialects(void *registry) {
  return is_contained(static_cast<mlir::DialectRegistry *>(registry)->getDialectNames(), "mirage_kernel");
}

bool plugin_host_has_passes() {
  bool found = false;
  mirageForEachPass(findPass, &found);
  return found;
}

void plugin_host_add_flags() {
  cl::Option *pipeline = cl::getRegisteredOptions().lookup("pass-pipeline");
  if (!pipeline)
    return; // the tool's passes are chosen in another way
  mirageForEachPass(addFlag, nullptr);
  static_cast<cl::opt<std::string> *>(pipeline)->setCallback(checkPipeline); // its type: mlir/Pass/PassRegistry.h
}
