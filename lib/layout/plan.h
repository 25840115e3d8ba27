// plan.h - the planner's own state; shared by the files of this folder only.
#ifndef MIRAGE_LAYOUT_PLAN_H
#define MIRAGE_LAYOUT_PLAN_H

#include "block.h"
#include "solve.h"

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

/// A buffer on its way to a place.
typedef struct Item {
  MirageValue value;
  int32_t begin, end;                       // steps between which it must hold its value
  uint32_t num_variants, num_good, variant; // the layouts it may take, see SolveTile; the one chosen
  MirageLayout variants[SOLVE_MAX_VARIANTS];
  int64_t costs[SOLVE_MAX_VARIANTS];
  int64_t offset;       // -1 = open
  int32_t copies, loop; // loop: the pipeline that the copies belong to, -1 = none
} Item;

typedef struct Items {
  Item *items;
  uint32_t count;
} Items;

// items.c
/// Decides whether the block keeps its tiles in its threads, and with how many warps where that is open.
void mirage__plan_items(Plan *plan);

// choose.c
/// What the schedule says of a load.
MirageLoadSchedule *mirage__load_schedule(Plan *plan, MirageNode load);
/// Relative cost of one element of an inline operator.
double mirage__plan_op_cost(MirageOp op);
/// Decides warps when the schedule leaves them open.
void mirage__plan_warps(Plan *plan);
/// Decides for each value whether it is a buffer, and the landing of each load.
MirageStatus mirage__plan_places(Plan *plan);

// fit.c
/// Chooses layouts, offsets and stages; LIMIT when nothing fits, BAD_ARGUMENT when what a person placed does not.
MirageStatus mirage__fit(Plan *plan, Items *items);

// memory.c
/// Copies of a buffer with the stages in force, and the loop whose pipeline they belong to, -1 = none.
int32_t mirage__copies_of(const Plan *plan, MirageValue buffer, int32_t *out_loop);
/// Gives every buffer strides and number of copies, then offsets, with as many stages as fit; LIMIT when nothing does.
MirageStatus mirage__plan_memory(Plan *plan);

#endif
