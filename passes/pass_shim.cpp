// pass_shim.cpp - the one generic C++ pass class: every pass is a row of the C table (passes.h).
//
// C++ is here only because mlir::Pass, its options and the registry have no C API. A row's options become MLIR pass
// options (so that the command line, --help, textual pipelines and --dump-pass-pipeline know them), and before each run
// their values are stored into the plain C struct that the body takes.
#include "mirage-c/Passes.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Pass.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "passes.h"
#include <cstdlib>
#include <memory>
#include <type_traits>
#include <vector>

using namespace mlir;

namespace {

/// One option: its MLIR object and the field of the C struct that it fills.
class Slot {
public:
  explicit Slot(const MiragePassOption &row) : row(row) {}
  virtual ~Slot() = default;
  virtual void store(char *options) const = 0;
  virtual bool given() const = 0;
  virtual void assign(const Slot &other) = 0; // same kind
  const MiragePassOption &row;
};

template <class T> struct ScalarSlot final : Slot {
  using Option = detail::PassOptions::Option<T>;
  ScalarSlot(const MiragePassOption &row, std::unique_ptr<Option> option) : Slot(row), option(std::move(option)) {}
  void store(char *options) const override {
    if constexpr (std::is_same_v<T, std::string>)
      *reinterpret_cast<const char **>(options + row.offset) = option->getValue().c_str();
    else
      *reinterpret_cast<T *>(options + row.offset) = option->getValue();
  }
  bool given() const override { return option->hasValue(); }
  void assign(const Slot &other) override { *option = static_cast<const ScalarSlot &>(other).option->getValue(); }
  std::unique_ptr<Option> option;
};

struct ListSlot final : Slot {
  using Option = detail::PassOptions::ListOption<std::string>;
  ListSlot(const MiragePassOption &row, std::unique_ptr<Option> option) : Slot(row), option(std::move(option)) {}
  void store(char *options) const override {
    texts.clear();
    for (const std::string &text : ArrayRef<std::string>(**option))
      texts.push_back(text.c_str());
    *reinterpret_cast<MiragePassTextList *>(options + row.offset) = {texts.data(), texts.size()};
  }
  bool given() const override { return option->hasValue(); }
  void assign(const Slot &other) override { *option = *static_cast<const ListSlot &>(other).option; }
  std::unique_ptr<Option> option;
  mutable std::vector<const char *> texts; // what the C struct points to
};

/// Makes the slot of `row` and registers its option with `parent`, a Pass or a detail::PassOptions.
template <class Parent> std::unique_ptr<Slot> makeSlot(Parent &parent, const MiragePassOption &row) {
  constexpr bool isPass = std::is_base_of_v<Pass, Parent>;
  auto scalar = [&](auto fallback) -> std::unique_ptr<Slot> {
    using T = decltype(fallback);
    using Option = std::conditional_t<isPass, Pass::Option<T>, detail::PassOptions::Option<T>>;
    return std::make_unique<ScalarSlot<T>>(
        row, std::make_unique<Option>(parent, row.name, llvm::cl::desc(row.help), llvm::cl::init(fallback)));
  };
  switch (row.kind) {
  case MIRAGE_OPTION_BOOL:
    return scalar(row.fallback[0] == 't');
  case MIRAGE_OPTION_INT:
    return scalar(static_cast<int64_t>(std::strtoll(row.fallback, nullptr, 10)));
  case MIRAGE_OPTION_DOUBLE:
    return scalar(std::strtod(row.fallback, nullptr));
  case MIRAGE_OPTION_STRING:
  case MIRAGE_OPTION_CHOICE:
  case MIRAGE_OPTION_TARGET:
    return scalar(std::string(row.fallback));
  case MIRAGE_OPTION_TUPLES:
    break;
  }
  using Option =
      std::conditional_t<isPass, Pass::ListOption<std::string>, detail::PassOptions::ListOption<std::string>>;
  return std::make_unique<ListSlot>(row, std::make_unique<Option>(parent, row.name, llvm::cl::desc(row.help)));
}

/// What is said of options that do not parse: `text`, or, where a value has gone to standard error instead, its kind.
LogicalResult optionError(function_ref<LogicalResult(const Twine &)> error, const char *argument, StringRef text) {
  StringRef reason = text.trim();
  return error(Twine(argument) + ": " + (reason.empty() ? "an option has a value of the wrong kind" : reason));
}

class TablePass final : public Pass {
public:
  explicit TablePass(const MiragePassInfo *info)
      : Pass(TypeID::getFromOpaquePointer(info), StringRef(info->anchor)), info(info) {
    for (size_t i = 0; i < info->num_options; i++)
      slots.push_back(makeSlot<TablePass>(*this, info->options[i]));
  }
  StringRef getName() const override { return info->argument; }
  StringRef getArgument() const override { return info->argument; }
  StringRef getDescription() const override { return info->summary; }
  void getDependentDialects(DialectRegistry &registry) const override {
    for (size_t i = 0; i < info->num_dialects; i++)
      mlirDialectHandleInsertDialect(info->dialects[i](), wrap(&registry));
  }
  // The base class's clone() copies the options' values.
  std::unique_ptr<Pass> clonePass() const override { return std::make_unique<TablePass>(info); }
  bool canScheduleOn(RegisteredOperationName name) const override { return name.getStringRef() == info->anchor; }
  LogicalResult initializeOptions(StringRef text, function_ref<LogicalResult(const Twine &)> error) override {
    return Pass::initializeOptions(
        text, [&](const Twine &message) { return optionError(error, info->argument, message.str()); });
  }
  // Called for every pass of a pipeline before the first one runs.
  LogicalResult initialize(MLIRContext *context) override {
    return unwrap(mirage__pass_check(info, wrap(context), storeOptions().data()));
  }
  void runOnOperation() override {
    running = this;
    if (mlirLogicalResultIsFailure(mirage__pass_run(info, wrap(getOperation()), storeOptions().data())))
      signalPassFailure();
    running = nullptr;
  }
  LogicalResult runNested(OpPassManager &manager, Operation *op) { return runPipeline(manager, op); }
  static thread_local TablePass *running;
  std::vector<std::unique_ptr<Slot>> slots;

private:
  /// The C option struct, in storage aligned for it.
  std::vector<std::max_align_t> storeOptions() const {
    std::vector<std::max_align_t> options(info->options_bytes / sizeof(std::max_align_t) + 1);
    char *data = reinterpret_cast<char *>(options.data());
    uint64_t given = 0;
    for (size_t i = 0; i < slots.size(); i++) {
      slots[i]->store(data);
      given |= uint64_t(slots[i]->given()) << i;
    }
    if (info->given)
      *reinterpret_cast<uint64_t *>(data + info->given) = given;
    return options;
  }
  const MiragePassInfo *info;
};

thread_local TablePass *TablePass::running = nullptr;

const MiragePassInfo *findPass(StringRef argument) { return mirage__pass_find(argument.data(), argument.size()); }

/// The union of the options of a pipeline's passes, by name.
struct PipelineOptions : detail::PassOptions {
  explicit PipelineOptions(const MiragePipelineInfo *info) {
    for (size_t i = 0; i < info->num_passes; i++) {
      const MiragePassInfo *pass = findPass(info->passes[i]);
      for (size_t j = 0; j < pass->num_options; j++)
        if (!find(pass->options[j].name))
          slots.push_back(makeSlot<detail::PassOptions>(*this, pass->options[j]));
    }
  }
  const Slot *find(StringRef name) const {
    for (const auto &slot : slots)
      if (name == slot->row.name)
        return slot.get();
    return nullptr;
  }
  std::vector<std::unique_ptr<Slot>> slots;
};

LogicalResult buildPipeline(const MiragePipelineInfo *info, OpPassManager &manager, StringRef text,
                            function_ref<LogicalResult(const Twine &)> error) {
  PipelineOptions options(info);
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (failed(options.parseFromString(text, stream)))
    return optionError(error, info->argument, message);
  for (size_t i = 0; i < info->num_passes; i++) {
    auto pass = std::make_unique<TablePass>(findPass(info->passes[i]));
    for (const auto &slot : pass->slots)
      if (const Slot *given = options.find(slot->row.name); given && given->given())
        slot->assign(*given);
    manager.addPass(std::move(pass));
  }
  return success();
}

} // namespace

extern "C" {

void mirage__shim_register_pass(const MiragePassInfo *info) {
  registerPass([info] { return std::make_unique<TablePass>(info); });
}

void mirage__shim_register_pipeline(const MiragePipelineInfo *info) {
  registerPassPipeline(
      info->argument, info->summary,
      [info](OpPassManager &manager, StringRef options, function_ref<LogicalResult(const Twine &)> error) {
        return buildPipeline(info, manager, options, error);
      },
      [info](function_ref<void(const detail::PassOptions &)> show) { show(PipelineOptions(info)); });
}

MlirLogicalResult mirage__shim_run_nested(MlirOperation op, const char *anchor, size_t numPasses,
                                          const MlirPass *passes) {
  OpPassManager manager(anchor);
  for (size_t i = 0; i < numPasses; i++)
    manager.addPass(std::unique_ptr<Pass>(unwrap(passes[i])));
  return wrap(TablePass::running->runNested(manager, unwrap(op)));
}

MlirPass mirageCreatePass(MlirStringRef argument, MlirStringRef options) {
  const MiragePassInfo *info = findPass(unwrap(argument));
  if (!info) {
    llvm::errs() << "mirage: there is no pass named '" << unwrap(argument) << "'\n";
    return MlirPass{nullptr};
  }
  auto pass = std::make_unique<TablePass>(info);
  auto error = [](const Twine &message) {
    llvm::errs() << message << "\n";
    return failure();
  };
  if (failed(pass->initializeOptions(unwrap(options), error)))
    return MlirPass{nullptr};
  return wrap(static_cast<Pass *>(pass.release()));
}

} // extern "C"
