// layout.h - decides, for every custom kernel, where each tile lives and how. [Mirage 6]
#ifndef MIRAGE_LAYOUT_H
#define MIRAGE_LAYOUT_H

#include "mirage/cancel.h"
#include "mirage/target.h"
#include "mirage/ugraph.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Fills in place what the schedule leaves open (warps, landing and stages of each load) and the space, strides, swizzle
/// and shared-memory offset of every tile; what is already set by hand is checked and kept. A kernel that is planned for
/// this target stays as it is; one planned for another is planned from what had been asked for (MiragePlan).
///
/// Result:  custom nodes carry a complete schedule and a plan; every tile is SHARED (planned layout) or REGISTER.
/// Errors:  LIMIT when the tiles do not fit the target's shared memory (both numbers are named); BAD_ARGUMENT when a hand
///          edit contradicts an operator or overlaps another live tile.
MirageStatus mirage_layout_plan(MirageUGraph *graph, const MirageTarget *target, const MirageDiag *diag);
/// The same, until `cancel` says otherwise, which is asked before each kernel: CANCELLED then, and some kernels are planned.
MirageStatus mirage_layout_plan_until(MirageUGraph *graph, const MirageTarget *target, const MirageCancel *cancel,
                                      const MirageDiag *diag);
/// Says of every custom kernel of a graph that is planned for the target, in remarks at it: who does what, what passes between
/// them, and of each form in which a block can be carried out that it was taken, or why not.
///
/// Errors:  BAD_ARGUMENT where a kernel is not planned for the target; NO_MEMORY.
MirageStatus mirage_layout_explain(const MirageUGraph *graph, const MirageTarget *target, const MirageDiag *diag);
/// Name of variant `index`, "stages-4"; NULL past the last.
const char *mirage_layout_variant_name(uint32_t index);
/// Whether no kernel's schedule was set by hand, planned or not. That operands are swapped, the search says.
bool mirage_layout_is_open(const MirageUGraph *graph);
/// Another schedule for a planned µGraph that is open: variant `index` changes one thing of the plan and leaves what follows
/// from it to the planner.
///
/// Result:  *out_graph is planned and the caller's, perhaps as `planned` is; NULL where there is nothing to vary.
/// Errors:  those of mirage_layout_plan, where the variant does not fit.
MirageStatus mirage_layout_variant(const MirageUGraph *planned, const MirageTarget *target, uint32_t index,
                                   const MirageDiag *diag, MirageUGraph **out_graph);
/// Bytes of shared memory that the plan of `custom` takes; -1 when it has none.
int32_t mirage_layout_shared_bytes(const MirageUGraph *graph, MirageNode custom);

#ifdef __cplusplus
}
#endif
#endif
