// plan.h - the planner's own state; shared by the files of this folder only.
#ifndef MIRAGE_LAYOUT_PLAN_H
#define MIRAGE_LAYOUT_PLAN_H

#include "block.h"

typedef struct Plan {
  const MirageUGraph *graph;
  const MirageTarget *target;
  const MirageDiag *diag;
  Block block;
  MirageSchedule schedule; // being completed
  MirageNode loads[MIRAGE_MAX_LOADS];
  uint32_t num_loads;
  int32_t *stages_of_loop; // buffers of the loads directly inside loop i
  bool *stages_by_hand;
  MirageType *types;          // block.types: placements being decided
  bool warps_open;            // nobody said how many
  int32_t resident_registers; // of a thread, for resident values
  const void *loc;
} Plan;

// resident.c
/// Decides which values live in registers and how the warps divide them; UNSUPPORTED when `split = rows` asks for what
/// is not possible.
MirageStatus mirage__plan_resident(Plan *plan);

// direct.c
/// Marks the loops that stream their weights, and lands their loads; may decide the warps.
void mirage__plan_direct(Plan *plan);

// choose.c
/// What the schedule says of a load.
MirageLoadSchedule *mirage__load_schedule(Plan *plan, MirageNode load);
/// Relative cost of one element of an inline operator.
double mirage__plan_op_cost(MirageOp op);
/// Decides warps when the schedule leaves them open.
void mirage__plan_warps(Plan *plan);
/// Decides for each value whether it is a buffer, and the landing of each load.
MirageStatus mirage__plan_places(Plan *plan);

// memory.c
/// Gives every buffer strides and number of copies, then offsets, with as many stages as fit; LIMIT when nothing does.
MirageStatus mirage__plan_memory(Plan *plan);

#endif
