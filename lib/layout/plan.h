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
  bool copies;                // some load lands by a bulk or tensor copy
  bool own_copies;            // some does that nobody asked for
  MirageType *types;          // block.types: placements being decided
  bool warps_open;            // nobody said how many
  int32_t resident_registers; // of a thread, for resident values
  bool unsolved; // only whether there is a plan is asked: tiles get no offsets, and the solver is not called
  const void *loc;
} Plan;

// layout.c
/// The first steps of every plan: the kernel's steps and loads, and what its schedule says of stages.
MirageStatus mirage__plan_begin(Plan *plan, MirageNode custom, MirageArena *arena);
/// The last step: who does it, and what passes between them.
MirageStatus mirage__plan_actors(Plan *plan);

// stored.c
/// Writes a finished plan to the kernel that it is of.
MirageStatus mirage__plan_store(const Plan *plan, MirageUGraph *graph, MirageNode custom);
/// Copies the plan of a kernel to another that is a copy of it.
MirageStatus mirage__plan_transfer(MirageUGraph *graph, MirageNode custom, const MirageUGraph *from,
                                   MirageNode planned);
/// Whether the kernel holds a plan for this target, and is still what was planned.
bool mirage__plan_is_current(const MirageUGraph *graph, MirageNode custom, const MirageTarget *target);
/// Everything that was planned, out of a kernel for which that holds, for code generation and whoever explains it; errors:
/// BAD_ARGUMENT where it does not, those of mirage__plan_check.
MirageStatus mirage__plan_read(const MirageUGraph *graph, MirageNode custom, const MirageTarget *target,
                               MirageArena *arena, const MirageDiag *diag, Plan *out_plan);
/// Takes a plan away: what is left is the ask that it was made from or, where the kernel was changed since, what it says
/// now.
void mirage__plan_forget(MirageUGraph *graph, MirageNode custom, const MirageDiag *diag);

// check.c
/// What has been decided: each stage comes with promises, and those of the stages before still hold.
typedef enum { PLAN_LANDED, PLAN_DIVIDED, PLAN_PLACED, PLAN_COMPLETE } PlanStage;
/// Whether the plan keeps what is promised up to here: BAD_GRAPH, with a sentence, where it does not. That is a defect of
/// the planner, or of a text that says that it was planned.
MirageStatus mirage__plan_check(const Plan *plan, PlanStage stage);

// resident.c
/// Warps that divide resident tiles of so many rows.
Partition mirage__partition(int64_t by_row, int64_t by_col, int64_t batch, int64_t rows);
/// Decides which values live in registers and how the warps divide them; UNSUPPORTED when `split = rows` asks for what
/// is not possible.
MirageStatus mirage__plan_resident(Plan *plan);

// copies.c
/// Decides how load number `load` lands.
void mirage__plan_land(Plan *plan, uint32_t load, MirageLanding landing);
/// Decides which bulk and tensor copies asked for are possible.
void mirage__plan_landings(Plan *plan);
/// Lets tensor copies feed loops in which warpgroups multiply, where the schedule leaves it open.
void mirage__plan_own_copies(Plan *plan);
/// The schedule to plan once more with: a producer of its own for copies that the planner chose; false where none is
/// worth it.
bool mirage__own_roles(const Plan *plan, MirageSchedule *out_schedule);
/// Drops the roles where there is nothing to produce, else checks their registers; decides the warps where there are
/// roles.
MirageStatus mirage__plan_roles(Plan *plan);
/// Strides, panels and swizzle of a tile that lands by tensor copy, or that a warpgroup multiplies.
MirageLayout mirage__tensor_layout(const MirageType *tile);
bool mirage__is_swizzled_layout(const MirageType *type);
/// Bytes of which the offset of a tile is a multiple.
int64_t mirage__tile_alignment(const MirageType *type, MirageLanding landing);

// warpgroup.c
/// Marks the products that a warpgroup's matrix instruction computes.
void mirage__plan_warpgroups(Plan *plan);
/// Whether a product may be one of them, as far as is decided, and its split.
bool mirage__warpgroups_may(const Plan *plan, const MirageNodeView *product, MatmulSplit *out_split);
bool mirage__is_warpgroup_operand(const Plan *plan, MirageValue value);

// direct.c
/// Marks the loops that stream their weights, and lands their loads; may decide the warps and side blocks.
MirageStatus mirage__plan_direct(Plan *plan);

/// A buffer on its way to a place.
typedef struct Item {
  MirageValue value;
  int32_t begin, end;                       // steps between which it must hold its value
  uint32_t num_variants, num_good, variant; // the layouts it may take, see SolveTile; the one chosen
  MirageLayout variants[SOLVE_MAX_VARIANTS];
  int64_t costs[SOLVE_MAX_VARIANTS];
  int64_t offset;       // -1 = open
  int64_t alignment;    // of the offset
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
/// From which step to which each buffer holds its value.
void mirage__plan_lives(Plan *plan);
/// Copies of a buffer with the stages in force, and the loop whose pipeline they belong to, -1 = none.
int32_t mirage__copies_of(const Plan *plan, MirageValue buffer, int32_t *out_loop);
/// Gives every buffer strides and number of copies, then offsets, with as many stages as fit; LIMIT when nothing does.
MirageStatus mirage__plan_memory(Plan *plan);

#endif
