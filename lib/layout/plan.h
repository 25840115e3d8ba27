// plan.h - the planner's own state; shared by the files of this folder only.
#ifndef MIRAGE_LAYOUT_PLAN_H
#define MIRAGE_LAYOUT_PLAN_H

#include "block.h"
#include "solve.h"

enum {
  MAX_FORMS = 24,
  PAIR = 2,           // blocks of a cluster that the planner makes
  SHARING_STAGES = 3, // least of a loop, where there is to be room for two blocks
};
/// Of blocks that share a multiprocessor: how many they are at most; shared memory that each takes beside its own.
enum { MOST_RESIDENT = 16, SYSTEM_BYTES = 1024 };

/// A plan that a form would rather have: what it is asked for, which blocks are pairs, and where the form says why not.
typedef struct Again {
  MirageSchedule asked;
  uint32_t pairs;
  const char **why;
} Again;

typedef struct Plan {
  const MirageUGraph *graph;
  const MirageTarget *target;
  const MirageDiag *diag;
  Block block;
  const MirageSchedule *asked; // what planning begins with; NULL = everything is open
  bool copies;                 // some load lands by a bulk or tensor copy
  bool own_copies;             // some does that nobody asked for
  bool own_ahead;              // for a loop of attention, which could multiply ahead or is fed by a producer
  bool own_producer;           // the roles are the planner's
  const struct Again *again;   // to plan once more, and to keep what comes of it; NULL = this plan stands
  uint32_t pairs;              // 1 + the axis of the grid along which the planner made blocks clusters of two; 0 = none
  const char *why[MAX_FORMS];  // by form: why it is not taken, NULL = it is
  MirageType *types;           // block.types: placements being decided
  bool warps_open;             // nobody said how many
  bool sides_open;             // nor whether there are side blocks, or how many warps
  int32_t resident_registers;  // of a thread, for resident values
  bool unsolved;               // in closed form: the solver is not called, offsets are those of the rules
  const void *loc;
} Plan;

// ask.c
/// Takes what the plan is asked for; the loads are numbered. The only place that reads a schedule's keys.
MirageStatus mirage__plan_ask(Plan *plan);
/// A block as a schedule, complete where the block is: the only place that writes one.
MirageSchedule mirage__block_schedule(const Block *block);

/// Takes back that warpgroups have tiles of their own; false where nobody asks for that.
bool mirage__ask_shared_tiles(MirageSchedule *schedule);

// layout.c
/// The first steps of every plan: the kernel's steps and loads, and what it is asked for.
MirageStatus mirage__plan_begin(Plan *plan, MirageNode custom, MirageArena *arena);
/// The last: what passes between whom; and whether the plan keeps its promises.
MirageStatus mirage__plan_end(Plan *plan);
/// A plan of what the kernel asks for, without touching the graph.
MirageStatus mirage__plan_make(const MirageUGraph *graph, MirageNode custom, const MirageTarget *target,
                               MirageArena *arena, const MirageDiag *diag, Plan *out_plan);
/// What a step of planning returns where memory is short.
MirageStatus mirage__plan_no_memory(const Plan *plan);

// forms.c
/// Takes each form that fits, in order, and notes why others are not taken. The errors of forms that were asked for.
MirageStatus mirage__plan_forms(Plan *plan);
/// Of a plan that was made twice: what the first says of forms that the second was asked for.
void mirage__forms_asked(Plan *second, const Plan *first);
/// Name of form `index`, NULL past the last.
const char *mirage__form_name(uint32_t index);
/// A sentence in the plan's memory.
const char *mirage__plan_say(const Plan *plan, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

// The forms, in the files that know them. Each leaves the plan as it is where it does not fit, and says why in *out_why;
// NULL there: it is taken.

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
typedef enum { PLAN_BEGUN, PLAN_LANDED, PLAN_DIVIDED, PLAN_PLACED, PLAN_COMPLETE } PlanStage;
/// Whether the plan keeps what is promised up to here: BAD_GRAPH, with a sentence, where it does not. That is a defect of
/// the planner, or of a text that says that it was planned.
MirageStatus mirage__plan_check(const Plan *plan, PlanStage stage);

// resident.c
/// Warps that divide resident tiles of so many rows.
Partition mirage__partition(int64_t by_row, int64_t by_col, int64_t batch, int64_t rows);
/// Decides which values live in registers and how the warps divide them; UNSUPPORTED when `split = rows` asks for what
/// is not possible.
MirageStatus mirage__plan_resident(Plan *plan, const char **out_why);

// copies.c
/// Decides which bulk and tensor copies asked for are possible.
MirageStatus mirage__plan_landings(Plan *plan, const char **out_why);
/// Whether neighbours along an axis of the grid copy the same tile in each iteration.
bool mirage__copies_alike(const Block *block, const BlockLoad *load, uint32_t axis);
/// Lets tensor copies feed loops in which warpgroups multiply, where the schedule leaves it open.
MirageStatus mirage__plan_own_copies(Plan *plan, const char **out_why);
/// Asks to plan once more, with a producer of its own for copies that the planner chose.
MirageStatus mirage__plan_own_producer(Plan *plan, const char **out_why);
/// Drops the roles where there is nothing to produce, else checks their registers; decides the warps where there are
/// roles.
MirageStatus mirage__plan_roles(Plan *plan, const char **out_why);
/// Strides, panels and swizzle of a tile that lands by tensor copy, or that a warpgroup multiplies.
MirageLayout mirage__tensor_layout(const MirageType *tile);
bool mirage__is_swizzled_layout(const MirageType *type);
/// Bytes of which the offset of a tile is a multiple.
int64_t mirage__tile_alignment(const MirageType *type, LoadBy by);

// residence.c
/// Makes a team of which a multiprocessor has room for two blocks, where there are so many and they fit.
bool mirage__plan_beside(const Plan *plan, Team *team);
/// Whether warpgroups should take tiles in turn, each a whole one.
bool mirage__plan_in_groups(const Plan *plan);
/// Whether blocks take several tiles in turn.
MirageStatus mirage__plan_persistent(Plan *plan, const char **out_why);

// warpgroup.c
/// Marks the products that a warpgroup's matrix instruction computes.
MirageStatus mirage__plan_warpgroups(Plan *plan, const char **out_why);
/// Whether a product may be one of them, as far as is decided, and its split.
bool mirage__warpgroups_may(const Plan *plan, const MirageNodeView *product, MatmulSplit *out_split);

// overlap.c
/// Why the structure of a loop, or where its values live, keeps it from multiplying ahead, or NULL.
const char *mirage__overlap_reason(const Block *block, int32_t loop);
/// Marks the loops that do, where the block says that any should.
void mirage__block_overlap(Block *block);
/// Decides whether loops multiply ahead, and whether their warpgroups take turns.
MirageStatus mirage__plan_release(Plan *plan, const char **out_why);
MirageStatus mirage__plan_ahead(Plan *plan, const char **out_why);
MirageStatus mirage__plan_turns(Plan *plan, const char **out_why);
/// Whether nobody said what goes on while warpgroups multiply.
bool mirage__overlap_is_open(const Block *block);
/// Stages that the loops of a block cannot do without.
int32_t mirage__least_stages(const Block *block);
/// Takes that back for want of memory, with a remark; false where nothing was to be taken back.
bool mirage__plan_waits(Plan *plan);

// bounds.c
/// Marks the loops that leave out tiles which a mask rules out.
MirageStatus mirage__plan_bounds(Plan *plan, const char **out_why);
MirageStatus mirage__plan_order(Plan *plan, const char **out_why);  // longest.c
MirageStatus mirage__plan_maxima(Plan *plan, const char **out_why); // maxima.c

// direct.c
/// Marks the loops that stream their weights, and lands their loads; may decide the warps.
MirageStatus mirage__plan_direct(Plan *plan, const char **out_why);
/// Gives the products of such a loop that are the same in all blocks to side blocks; UNSUPPORTED where a person asked for
/// some and they do not fit.
MirageStatus mirage__plan_side(Plan *plan, const char **out_why);

// direct_turns.c
/// Whether a loop that streams its weights is all that a block has to wait for.
bool mirage__streams_alone(const Block *block);
/// Why such a block cannot take tiles in turn, or NULL.
const char *mirage__stream_turns_reason(const Block *block);

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
MirageStatus mirage__plan_items(Plan *plan, const char **out_why);
MirageStatus mirage__plan_elements(Plan *plan, const char **out_why); // elements.c

// choose.c
/// Relative cost of one element of an inline operator.
double mirage__plan_op_cost(MirageOp op);
/// Decides warps when the schedule leaves them open.
void mirage__plan_warps(Plan *plan);
/// Decides for each value whether it is a buffer, and the landing of each load: by cp.async, in loops, where no form
/// before has said otherwise.
MirageStatus mirage__plan_places(Plan *plan, const char **out_why);

// fit.c
/// Shared memory of a block, where two are to share a multiprocessor.
int64_t mirage__shared_of_two(const MirageTarget *target);
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
