//===- Kernel.cpp - the mirage_kernel dialect and its C API --------------------===//

#include "mirage-c/Kernel.h"
#include "DialectClasses.h"
#include "mirage-c/Dialects.h"
#include "mlir/CAPI/Registration.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mirage::kernel;
using llvm::APFloat;

// Items of a launch's list, found by argument-dependent lookup from printList.
namespace mirage::kernel {
static void printShort(AsmPrinter &printer, TensorMapAttr map) { map.print(printer); }
} // namespace mirage::kernel

// custom<Integers>: [4, 1, 1, 64]
static ParseResult parseIntegers(AsmParser &parser, llvm::SmallVector<int64_t> &numbers) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(numbers.emplace_back()); });
}

static void printIntegers(AsmPrinter &printer, ArrayRef<int64_t> numbers) {
  printer << '[';
  llvm::interleaveComma(numbers, printer);
  printer << ']';
}

#include "MirageKernelDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "MirageKernelAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "MirageKernelOps.cpp.inc"

void MirageKernelDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "MirageKernelAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "MirageKernelOps.cpp.inc"
      >();
}

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(MirageKernel, mirage_kernel, MirageKernelDialect)

//===----------------------------------------------------------------------------===//
// Rules that an attribute keeps by itself; those of a schedule on its kernel are lib/ugraph's
//===----------------------------------------------------------------------------===//

using Emit = llvm::function_ref<InFlightDiagnostic()>;

LogicalResult PlanAttr::verify(Emit emit, StringRef target, uint64_t, ArrayRef<int64_t> partition, bool, bool,
                               StringRef loops, StringRef places, ScheduleAttr) {
  const size_t most = sizeof MiragePlan::target - 1, numbers = sizeof MiragePlan::partition / sizeof(int64_t);
  if (target.empty() || target.size() > most)
    return emit() << "plan: target has " << target.size() << " characters, 1 to " << most << " are possible";
  if (!partition.empty() && partition.size() != numbers)
    return emit() << "plan: partition has " << partition.size() << " numbers, " << numbers << " are needed";
  return success();
}

LogicalResult TensorMapAttr::verify(Emit emit, uint32_t, Type type, DenseI64ArrayAttr extents,
                                    DenseI64ArrayAttr strides, DenseI64ArrayAttr box, uint32_t) {
  bool bytes = type.isSignlessInteger(8) || type.isSignlessInteger(1) || isa<Float8E4M3FNType, Float8E5M2Type>(type);
  if (!type.isF16() && !type.isBF16() && !type.isF32() && !bytes)
    return emit() << "tensor map: elements are " << type << ", f16, bf16, f32, i8, i1 or f8 is needed";
  if (extents.size() < 1 || extents.size() > MIRAGE_MAP_RANK)
    return emit() << "tensor map: rank is " << extents.size() << ", 1 to " << int(MIRAGE_MAP_RANK) << " are possible";
  if (strides.size() != extents.size() || box.size() != extents.size())
    return emit() << "tensor map: " << extents.size() << " extents, " << strides.size() << " strides and " << box.size()
                  << " extents of the box differ";
  return success();
}

LogicalResult LaunchAttr::verify(Emit emit, StringRef kernel, int32_t, int32_t, int64_t, bool, bool,
                                 ArrayRef<TensorMapAttr> maps) {
  if (maps.size() > MIRAGE_MAX_LOADS)
    return emit() << "launch: has " << maps.size() << " tensor maps, at most " << int(MIRAGE_MAX_LOADS)
                  << " are supported";
  return kernel.empty() ? emit() << "launch: names no kernel" : success();
}

LogicalResult ProofAttr::verify(Emit emit, uint32_t trials, uint64_t, uint32_t, uint64_t, APFloat bound, bool, uint32_t,
                                uint32_t, bool, uint32_t, uint64_t, uint64_t, uint64_t, uint32_t) {
  if (trials == 0)
    return emit() << "proof: has 0 trials, at least 1 is needed";
  if (!bound.isFinite() || bound.convertToDouble() > 0)
    return emit() << "proof: log2_bound is " << bound.convertToDouble() << ", a finite number of at most 0 is needed";
  return success();
}

LogicalResult GuardAttr::verify(Emit emit, APFloat program, APFloat candidate, APFloat programMax, APFloat candidateMax,
                                bool) {
  for (auto [name, value] : {std::pair{"program_relative", program},
                             {"candidate_relative", candidate},
                             {"program_max", programMax},
                             {"candidate_max", candidateMax}})
    if (!value.isFinite() || value.isNegative())
      return emit() << "guard: " << name << " is " << value.convertToDouble()
                    << ", a finite number of at least 0 is needed";
  return success();
}

LogicalResult CostAttr::verify(Emit emit, APFloat time, APFloat bytes, APFloat flops, uint32_t, StringAttr target,
                               FloatAttr measured, FloatAttr spread) {
  const size_t most = sizeof MirageCost::target - 1;
  if (target && target.size() > most)
    return emit() << "cost: target has " << target.size() << " characters, at most " << most << " are possible";
  for (auto [name, value] : {std::pair{"measured_us", measured}, {"measured_spread", spread}})
    if (value && (!value.getType().isF64() || !value.getValue().isFinite() || value.getValue().isNegative()))
      return emit() << "cost: " << name << " is " << value << ", a finite f64 of at least 0 is needed";
  for (auto [name, value] : {std::pair{"time_us", time}, {"bytes", bytes}, {"flops", flops}})
    if (!value.isFinite() || value.isNegative())
      return emit() << "cost: " << name << " is " << value.convertToDouble()
                    << ", a finite number of at least 0 is needed";
  return success();
}

//===----------------------------------------------------------------------------===//
// C API
//===----------------------------------------------------------------------------===//

bool mirageKernelAttributeIsASchedule(MlirAttribute attribute) { return isa<ScheduleAttr>(unwrap(attribute)); }

MlirAttribute mirageKernelScheduleAttrGet(MlirContext context, const MirageSchedule *schedule) {
  return wrap(ScheduleAttr::get(unwrap(context), *schedule));
}

void mirageKernelScheduleAttrGetValue(MlirAttribute attribute, MirageSchedule *out) {
  *out = cast<ScheduleAttr>(unwrap(attribute)).getValue();
}

bool mirageKernelAttributeIsAPlan(MlirAttribute attribute) { return isa<PlanAttr>(unwrap(attribute)); }

MlirAttribute mirageKernelPlanAttrGet(MlirContext context, const MiragePlan *plan) {
  ArrayRef<int64_t> partition(plan->partition);
  ScheduleAttr asked;
  if (plan->asked)
    asked = cast<ScheduleAttr>(unwrap(mirageKernelScheduleAttrGet(context, plan->asked)));
  return wrap(PlanAttr::get(unwrap(context), StringRef(plan->target), plan->of,
                            partition[0] ? partition : ArrayRef<int64_t>(), plan->in_threads, plan->paired,
                            StringRef(plan->loops), StringRef(plan->places), asked));
}

void mirageKernelPlanAttrGetValue(MlirAttribute attribute, MirageSchedule *asked, MiragePlan *out) {
  auto plan = cast<PlanAttr>(unwrap(attribute));
  *out = MiragePlan{};
  llvm::copy(plan.getTarget().take_front(sizeof out->target - 1), out->target);
  out->of = plan.getOf();
  llvm::copy(plan.getPartition(), out->partition);
  out->in_threads = plan.getInThreads();
  out->paired = plan.getPaired();
  auto text = [&](StringRef value) { // ends in a NUL
    return value.empty() ? "" : StringAttr::get(plan.getContext(), value).data();
  };
  out->loops = text(plan.getLoops());
  out->places = text(plan.getPlaces());
  if (!plan.getAsked())
    return;
  mirageKernelScheduleAttrGetValue(wrap(plan.getAsked()), asked);
  out->asked = asked;
}

bool mirageKernelAttributeIsALaunch(MlirAttribute attribute) { return isa<LaunchAttr>(unwrap(attribute)); }

static TensorMapAttr tensorMapAttr(MLIRContext *context, const MirageTensorMap &map) {
  llvm::SmallVector<int64_t> box(ArrayRef(map.box, map.rank));
  return TensorMapAttr::get(context, map.pointer, mirage::elementType(context, map.dtype),
                            DenseI64ArrayAttr::get(context, ArrayRef(map.extents, map.rank)),
                            DenseI64ArrayAttr::get(context, ArrayRef(map.strides, map.rank)),
                            DenseI64ArrayAttr::get(context, box), map.swizzle);
}

static MirageTensorMap tensorMapOf(TensorMapAttr map) {
  MirageTensorMap out = {};
  out.pointer = map.getPointer();
  out.dtype = mirage::dtypeOf(map.getType());
  out.rank = uint32_t(map.getExtents().size());
  llvm::copy(map.getExtents().asArrayRef(), out.extents);
  llvm::copy(map.getStrides().asArrayRef(), out.strides);
  llvm::copy(map.getBox().asArrayRef(), out.box);
  out.swizzle = int32_t(map.getSwizzle());
  return out;
}

MlirAttribute mirageKernelLaunchAttrGet(MlirContext context, const MirageLaunch *launch) {
  llvm::SmallVector<TensorMapAttr> maps;
  for (const MirageTensorMap &map : ArrayRef(launch->maps, launch->num_maps))
    maps.push_back(tensorMapAttr(unwrap(context), map));
  return wrap(LaunchAttr::get(unwrap(context), launch->kernel ? launch->kernel : "", launch->threads,
                              launch->shared_bytes, launch->workspace_bytes, launch->starts_early, launch->in_pairs,
                              maps));
}

void mirageKernelLaunchAttrGetValue(MlirAttribute attribute, MirageTensorMap *maps, MirageLaunch *out) {
  auto launch = cast<LaunchAttr>(unwrap(attribute));
  *out = {};
  // A StringAttr's text is NUL-terminated and lives as long as the context.
  out->kernel = StringAttr::get(launch.getContext(), launch.getKernel()).data();
  out->threads = launch.getThreads();
  out->shared_bytes = launch.getSharedBytes();
  out->workspace_bytes = launch.getWorkspaceBytes();
  out->starts_early = launch.getStartsEarly();
  out->in_pairs = launch.getInPairs();
  out->maps = maps;
  for (TensorMapAttr map : launch.getMaps())
    maps[out->num_maps++] = tensorMapOf(map);
}

bool mirageKernelAttributeIsAProof(MlirAttribute attribute) { return isa<ProofAttr>(unwrap(attribute)); }

MlirAttribute mirageKernelProofAttrGet(MlirContext context, const MirageProof *proof) {
  return wrap(ProofAttr::get(unwrap(context), proof->trials, proof->q, proof->p_bits, proof->seed,
                             APFloat(proof->log2_bound), proof->shrunken, proof->axes, proof->points, proof->free_exp,
                             proof->pieces, proof->pair, proof->degree, proof->calls, proof->log2_terms));
}

void mirageKernelProofAttrGetValue(MlirAttribute attribute, MirageProof *out) {
  auto proof = cast<ProofAttr>(unwrap(attribute));
  *out = {true,
          proof.getTrials(),
          proof.getQ(),
          proof.getPBits(),
          proof.getSeed(),
          proof.getLog2Bound().convertToDouble(),
          proof.getShrunken(),
          proof.getAxes(),
          proof.getPoints(),
          proof.getFreeExp(),
          proof.getPieces(),
          proof.getPair(),
          proof.getDegree(),
          proof.getCalls(),
          proof.getLog2Terms()};
}

bool mirageKernelAttributeIsAGuard(MlirAttribute attribute) { return isa<GuardAttr>(unwrap(attribute)); }

MlirAttribute mirageKernelGuardAttrGet(MlirContext context, const MirageGuard *guard) {
  return wrap(GuardAttr::get(unwrap(context), APFloat(guard->program_relative), APFloat(guard->candidate_relative),
                             APFloat(guard->program_max), APFloat(guard->candidate_max), guard->shrunken));
}

void mirageKernelGuardAttrGetValue(MlirAttribute attribute, MirageGuard *out) {
  auto guard = cast<GuardAttr>(unwrap(attribute));
  *out = {true,
          guard.getProgramRelative().convertToDouble(),
          guard.getCandidateRelative().convertToDouble(),
          guard.getProgramMax().convertToDouble(),
          guard.getCandidateMax().convertToDouble(),
          guard.getShrunken()};
}

bool mirageKernelAttributeIsACost(MlirAttribute attribute) { return isa<CostAttr>(unwrap(attribute)); }

MlirAttribute mirageKernelCostAttrGet(MlirContext context, const MirageCost *cost) {
  Builder builder(unwrap(context));
  bool measured = cost->measured_us > 0;
  return wrap(CostAttr::get(unwrap(context), APFloat(cost->time_us), APFloat(cost->bytes), APFloat(cost->flops),
                            cost->kernels, cost->target[0] ? builder.getStringAttr(cost->target) : StringAttr(),
                            measured ? builder.getF64FloatAttr(cost->measured_us) : FloatAttr(),
                            measured ? builder.getF64FloatAttr(cost->measured_spread) : FloatAttr()));
}

void mirageKernelCostAttrGetValue(MlirAttribute attribute, MirageCost *out) {
  auto cost = cast<CostAttr>(unwrap(attribute));
  *out = {true, cost.getTimeUs().convertToDouble(), cost.getBytes().convertToDouble(),
          cost.getFlops().convertToDouble(), cost.getKernels()};
  if (StringAttr target = cost.getTarget())
    snprintf(out->target, sizeof out->target, "%s", target.str().c_str());
  if (FloatAttr us = cost.getMeasuredUs())
    out->measured_us = us.getValueAsDouble();
  if (FloatAttr spread = cost.getMeasuredSpread())
    out->measured_spread = spread.getValueAsDouble();
}
