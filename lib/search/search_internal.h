// search_internal.h - what the files of lib/search share. Reading order: lib/search/README.md.
#ifndef MIRAGE_LIB_SEARCH_INTERNAL_H
#define MIRAGE_LIB_SEARCH_INTERNAL_H

#include "mirage/cost.h"
#include "mirage/expr.h"
#include "mirage/search.h"
#include "mirage/verify.h"
#include "search_pool.h"

enum {
  SEARCH_RANK = MIRAGE_MAX_RANK,
  SEARCH_MAX_AXES = 48,
  SEARCH_MAX_CONSTANTS = 16,
  SEARCH_MAX_STABLE = 16, // exponentials
  SEARCH_MAX_NODES = 192, // operators, loads and constants of one block graph
  SEARCH_MAX_GOALS = 8,   // results of a program
  SEARCH_MAX_LOOPS = 3,   // of a block graph, one after the other
  SEARCH_LOOPS = 2,       // iterations of the loop on the shrunken instance
  SEARCH_TICKS = 16,      // steps between two looks at the clock: large expressions make steps of a millisecond
};

// --------------------------------------------------------------------------------------------- program

/// A program axis: the dimensions of all values that must walk together.
typedef struct SearchAxis {
  int64_t extent;
  bool reduced;  // summed, maximised or contracted somewhere
  bool output;   // a dimension of an output
  bool repeated; // occurs twice in one value: never split
  bool batch;    // occurs only in leading dimensions, never in the last two
  uint8_t tied;  // the axis that blocks split together with this one; itself where there is none
} SearchAxis;

/// An axis that blocks may split: every element along it is computed on its own.
static inline bool search_axis_is_parallel(const SearchAxis *axis) {
  return axis->output && !axis->reduced && !axis->repeated;
}
/// An axis that a loop may walk: it ends in sums or maxima and is gone in the output.
static inline bool search_axis_is_loop(const SearchAxis *axis) {
  return axis->reduced && !axis->output && !axis->repeated;
}
/// The axis of rows that are normalised: a loop takes its statistics, and a later one walks it again and stores.
static inline bool search_axis_is_row(const SearchAxis *axis) {
  return axis->reduced && axis->output && !axis->repeated;
}

typedef struct SearchProgram {
  const MirageUGraph *source;       // as given
  MirageUGraph *graph;              // expanded; owned
  SearchAxis axes[SEARCH_MAX_AXES]; // [0] is the unit axis: extent 1, never split
  uint32_t num_axes;                // including axis 0
  uint8_t (*dims)[SEARCH_RANK];     // axis of each dimension, by value id of `graph`; owned
  double constants[SEARCH_MAX_CONSTANTS];
  uint32_t num_constants;
  bool uses[MIRAGE_NUM_OPS]; // operators of the expanded program
  bool transposes;           // some matmul or transpose swaps the last two dimensions
  uint32_t num_elementwise;
  MirageDType dtype; // of matmul operands
  // Maxima that the program subtracts before it exponentiates and whose choice does not matter (search_gauge.c).
  bool *dropped;        // by value: such a maximum; it is read as 0. Owned
  uint8_t *shift;       // by value: the axis of the dropped maximum that was subtracted from it; 0 = none. Owned
  bool stabilised_logs; // it takes logarithms of values that are relative to one
} SearchProgram;

MirageStatus mirage__search_program_init(SearchProgram *program, const MirageUGraph *source, const MirageDiag *diag);
void mirage__search_program_deinit(SearchProgram *program);
/// Drops the maxima that stabilise exponentials. search_gauge.c
MirageStatus mirage__search_drop_stabilisers(SearchProgram *program, const MirageSearchOptions *options);

// ---------------------------------------------------------------------------------------------- values

/// Dense residues of the shrunken instance: the loop coordinate (1 when absent), then right-aligned dimensions.
typedef struct SearchArray {
  int32_t shape[1 + SEARCH_RANK];
  MirageResidue *data;
} SearchArray;

typedef struct SearchEval {
  const MirageDomain *domain;
  MirageArena *arena; // of results
  MirageArena scratch;
} SearchEval;

size_t mirage__search_array_size(const SearchArray *array);
/// Result arrays live in eval->arena. REDRAW: division by zero; then there is no result.
MirageStatus mirage__search_unary(SearchEval *eval, MirageOp op, const SearchArray *a, SearchArray *out);
MirageStatus mirage__search_binary(SearchEval *eval, MirageOp op, const SearchArray *a, const SearchArray *b,
                                   SearchArray *out);
MirageStatus mirage__search_matmul(SearchEval *eval, const SearchArray *a, const SearchArray *b, bool transpose_a,
                                   bool transpose_b, SearchArray *out);
/// Over dimension `dim` of the array (0 = the loop coordinate), which becomes 1.
MirageStatus mirage__search_reduce(SearchEval *eval, MirageOp op, const SearchArray *a, uint32_t dim, SearchArray *out);
MirageStatus mirage__search_transpose(SearchEval *eval, const SearchArray *a, SearchArray *out); // the last two
MirageStatus mirage__search_broadcast(SearchEval *eval, const SearchArray *a, SearchArray *in_out_shape);
MirageStatus mirage__search_constant(SearchEval *eval, double value, SearchArray *out);
/// Splits dimension `dim` (extent LOOPS * t) into the loop coordinate and t. dim 0: no split, a copy.
MirageStatus mirage__search_split(SearchEval *eval, const SearchArray *a, uint32_t dim, SearchArray *out);

// ------------------------------------------------------------------------------------ block structures

/// When a tensor of a block graph is computed: before the loop, inside, after it. With several loops, which all walk
/// the same axis, what comes after one comes before the next: odd stages are inside a loop, and a stage may use what
/// even stages before it hold.
typedef enum { SEARCH_BEFORE, SEARCH_INSIDE, SEARCH_AFTER } SearchStage;
static inline bool mirage__search_is_inside(uint32_t stage) { return stage & SEARCH_INSIDE; }

enum { SEARCH_WHOLE = 0x80 }; // flag on a dimension that walks the loop's axis: all of it, not one iteration's tile
enum { SEARCH_TRANSPOSE_A = 1, SEARCH_TRANSPOSE_B = 2 };

static inline uint32_t mirage__search_axis_of(uint8_t dim) { return dim & (SEARCH_WHOLE - 1u); }
static inline bool mirage__search_is_elementwise(uint8_t op) {
  MirageOpKind kind = mirage_op_info((MirageOp)op)->kind;
  return kind == MIRAGE_KIND_UNARY || kind == MIRAGE_KIND_BINARY;
}

/// How an accumulator takes what an iteration contributes. RESCALE multiplies it by the node `b` first.
enum { SEARCH_SUM, SEARCH_MAXIMUM, SEARCH_RESCALE };

/// One node of a block graph whose grid and loop range are still open. MIRAGE_OP_LOOP stands for "accumulate"; as an
/// operand inside the loop it is what earlier iterations left.
typedef struct SearchNode {
  uint8_t op;    // MirageOp
  uint8_t flags; // matmul: transposes; accumulate: SEARCH_SUM ...; exp: the axis over which a maximum is subtracted;
                 // max, sub, and exp of a finished structure: SEARCH_LOOPED
  uint8_t dim;   // reduction: right-aligned dimension, 0 .. SEARCH_RANK - 1
  uint8_t stage; // SearchStage
  uint8_t rank;
  uint8_t dims[SEARCH_RANK]; // right-aligned axis codes
  uint32_t a, b;             // operand nodes, by index; load: a = input; constant: a = index into program->constants
  uint32_t gauge;            // exp(gauge node) times this is the value meant; 0 = this is. The number is the index + 1
} SearchNode;

static inline bool mirage__search_is_binary(uint8_t op) {
  return op == MIRAGE_OP_MATMUL || mirage_op_info((MirageOp)op)->kind == MIRAGE_KIND_BINARY;
}

/// On what keeps a running maximum: m' = max(m, r) and exp(m - m'). Without a loop, m' is r and there is no factor.
enum { SEARCH_LOOPED = 0x40 };
static inline bool mirage__search_is_looped(const SearchNode *node) {
  return mirage__search_is_elementwise(node->op) && node->flags == SEARCH_LOOPED;
}

/// A quotient in the loop whose divisor is smaller than it, or a product of two values that are: the divisor's
/// reciprocals are taken once, and every element costs one or two multiplications.
enum { SEARCH_NO_FACTOR = UINT32_MAX };
typedef struct SearchReciprocals {
  uint32_t factors[2]; // nodes to take reciprocals of; SEARCH_NO_FACTOR = none
} SearchReciprocals;

typedef struct SearchStructure {
  uint32_t num_nodes;                              // in execution order
  uint32_t num_outputs, outputs[SEARCH_MAX_GOALS]; // nodes that are stored
  uint32_t loop_axis;                              // 0 = no loop
  uint32_t num_loops;                              // one after the other; 0 without a loop
  uint32_t num_ops;                                // as counted for max_block_ops
  uint32_t order;                                  // of plan and discovery, breaks ties
  double score_us;                                 // at the reference schedule
  uint64_t amounts;                                // what it moves and computes there, hashed: alike ones cost the same
  SearchNode nodes[SEARCH_MAX_NODES];
} SearchStructure;

/// The best structures of one plan, best first; ties broken by order of insertion, which is deterministic.
typedef struct SearchKept {
  SearchStructure **items; // owned
  uint32_t num, capacity;
  uint32_t room; // in the list
} SearchKept;

// ----------------------------------------------------------------------------------------------- space

/// How a tensor can be computed from others.
typedef struct SearchDerivation {
  uint8_t op, flags, dim;
  uint32_t a, b; // tensors; load and constant as in SearchNode
  uint32_t next; // of the same tensor; 0 = last
} SearchDerivation;

/// An exponential of the program from whose argument a maximum was subtracted.
typedef struct SearchStable {
  MirageExpr argument;
  uint8_t axis; // over which
} SearchStable;

/// A value that some block graph computes, met once.
typedef struct SearchTensor {
  uint8_t stage, rank;
  uint8_t dims[SEARCH_RANK];
  bool constant, processed, grouped;
  // Some derivation is a reduction: accumulating it costs no operator. Or an exponential: summing it costs none.
  bool reduction, exponential;
  bool follows; // every derivation uses something that came out of the loop before
  MirageExpr expr;
  uint64_t inputs; // that it needs, as a bit set: a lower bound of its loads
  // Operators between its loads and it, on the longest path, at least: all, those that are not element-wise, those that
  // are.
  uint32_t depth, counted_depth, elementwise_depth;
  uint32_t derivations; // first
  uint32_t next_hashed, next_grouped, group;
  uint64_t hash;
  SearchArray values;
} SearchTensor;

/// What a result of the program is.
typedef struct SearchGoal {
  MirageExpr expr;
  SearchArray values;
  uint8_t dims[SEARCH_RANK], rank;
  bool walked; // it has the loop's axis, once: it may be stored tile by tile
  SearchArray tiles;
  uint8_t tile_dims[SEARCH_RANK];
} SearchGoal;

/// Which part of a search this is.
typedef struct SearchPart {
  SearchPool *pool;
  struct SearchMonitor *monitor;
  struct SearchCheckpoint *checkpoint; // or NULL
  double deadline;                     // of mirage__search_clock
  uint32_t piece;                      // 0 = the whole program
  uint32_t first_record;               // what its records in the checkpoint, by piece, count from
} SearchPart;

/// A search for one program, or for one section of it.
typedef struct SearchRun {
  const MirageSearchOptions *options; // with defaults filled in
  SearchPart part;                    // of the whole
} SearchRun;

/// How one worker is stopped, and how much of what it counts is shown to whoever watches (search_control.h).
typedef struct SearchWatch {
  struct SearchMonitor *monitor;
  double deadline;
  bool piece; // of the program
  bool deaf;  // the caller was heard already
  uint32_t ticks;
  double looked; // at the clock, when
  double next_publish;
  MirageFunnel published; // how much of the worker's funnel is shown
  double best_us;         // of a structure at its reference schedule; infinite: none
} SearchWatch;

/// Whose records these are in a checkpoint (search_checkpoint.h); none where checkpoint is NULL.
typedef struct SearchSlot {
  struct SearchCheckpoint *checkpoint;
  uint32_t piece, plan;
} SearchSlot;

/// Where the derivation stands: each tensor in turn, with each group that goes together with its own.
typedef struct SearchPosition {
  uint32_t depth, index, partner; // 0 = past the last one
  bool inside;                    // of `index`: what takes one operand is done, groups are not
  bool again;                     // this round over the tensors found one to process
} SearchPosition;

/// A binary operator, and whether the operands change places.
typedef struct SearchForm {
  uint8_t op;
  bool swap;
} SearchForm;
enum { SEARCH_NUM_FORMS = 7 };
extern const SearchForm mirage__search_forms[SEARCH_NUM_FORMS];

/// Another group, and what of it and this one reaches a goal.
typedef struct SearchPartner {
  uint32_t group, next; // 0 = last
  uint8_t forms;        // bit set over mirage__search_forms; this group's tensor is the left operand unless they swap
} SearchPartner;

/// Processed tensors of one expression: what may be done with two of them is the same for all.
typedef struct SearchGroup {
  MirageExpr expr;
  MirageExprSketch sketch;
  uint32_t first, size;                 // tensors
  uint32_t first_partner, last_partner; // in order of group; 0 = none
} SearchGroup;

/// All tensors that can lie on a path to a goal for one choice of the loops' axis.
typedef struct SearchSpace {
  const SearchProgram *program;
  const MirageSearchOptions *options; // with defaults filled in
  uint32_t loop_axis, num_loops;
  uint64_t max_states;
  uint64_t max_pair_work;           // of a formula (search_space.c); 0 = any
  size_t max_bytes;                 // of tensors and derivations
  int32_t extents[SEARCH_MAX_AXES]; // shrunken
  MirageExprTable *exprs;
  SearchEval eval;
  MirageArena values, arena; // residues of tensors; everything else
  SearchTensor *tensors;     // from 1
  uint32_t num_tensors, capacity_tensors;
  SearchDerivation *derivations; // from 1
  uint32_t num_derivations, capacity_derivations;
  uint32_t *buckets, num_buckets; // tensors by hash
  SearchGroup *groups;
  uint32_t num_groups, capacity_groups, num_grouped; // tensors in all of them
  uint64_t grouped_monomials, goal_size;             // monomials of the groups' expressions, of the goals
  uint64_t pair_work;                                // that questions about any two groups look through
  SearchPartner *partners;                           // from 1
  uint32_t num_partners, capacity_partners;
  SearchGoal goals[SEARCH_MAX_GOALS];
  uint32_t num_goals;
  uint64_t goal_inputs; // every block graph loads these
  SearchStable stable[SEARCH_MAX_STABLE];
  uint32_t num_stable;
  MirageFunnel funnel;
  SearchPosition at;
  bool stopped; // by max_states, max_bytes or the caller
  MirageStop stop;
  bool lost;                // there was no room for some block graph
  uint32_t too_large_input; // number + 1 of one that no block can hold a piece of; 0 = none
  SearchWatch watch;
  SearchSlot slot;
  double next_snapshot;      // seconds of mirage__search_clock
  size_t bytes;              // of tensors and derivations: at most this much is allocated for them
  bool any_depth;            // no limits on operators: not for searching
  uint32_t most_elementwise; // element-wise operators of a block graph that extraction looks for at most
} SearchSpace;

/// A tensor about to be added.
typedef struct SearchAttempt {
  SearchDerivation how;
  uint8_t stage, rank;
  uint8_t dims[SEARCH_RANK];
  MirageExpr expr; // {0}: of a binary operator or matmul, when expressions cut nothing; found when it fits the limits
} SearchAttempt;

// search_instance.c
/// The random point that tensors are told apart at: of the seed's purpose "search", so that no trial of the verifier is
/// one that a candidate was found by. NULL without memory.
MirageField *mirage__search_field(const MirageSearchOptions *options);
void mirage__search_shrink(SearchSpace *space);
int32_t mirage__search_shrunken_extent(const SearchSpace *space, uint8_t dim);
/// Axis code of a dimension of a program value: the loop's axis counts in full.
uint8_t mirage__search_program_dim(const SearchSpace *space, MirageValue value, uint32_t dim);
void mirage__search_program_shape(const SearchSpace *space, MirageValue value, SearchArray *out);
/// The sum over a dimension, which is the sum over each of its parts.
MirageExpr mirage__search_sum_over(SearchSpace *space, MirageExpr e, uint8_t dim);
/// Sets the goals. REDRAW and UNSUPPORTED as the field says.
MirageStatus mirage__search_evaluate_program(SearchSpace *space, const MirageField *field);

/// The axis over which a maximum is subtracted from the argument of this exponential; 0 = none.
uint8_t mirage__search_stable_axis(const SearchSpace *space, MirageExpr argument);

// search_tensor.c
/// Doubles an array that lives in the space's arena; NULL when memory is out.
void *mirage__search_grow(SearchSpace *space, void *array, uint32_t *capacity, size_t size);
/// Whether the expression can become part of a goal (always, when that test is off).
/// Whether a derivation counts for max_block_ops whatever it stands next to; element-wise ones may join a chain.
bool mirage__search_counts(const SearchSpace *space, const SearchDerivation *how);
bool mirage__search_keeps_reach(SearchSpace *space, MirageExpr expr);
/// Evaluates and adds a tensor whose expression reaches (or is not asked), unless it fits neither the target nor the
/// limits.
MirageStatus mirage__search_try_tensor(SearchSpace *space, const SearchAttempt *attempt);
/// The same, after the test of the expression.
MirageStatus mirage__search_try_unless_cut(SearchSpace *space, const SearchAttempt *attempt);
/// Adds a tensor that was there before, with its values evaluated again by its first derivation; `tensor` has the rest.
MirageStatus mirage__search_restore_tensor(SearchSpace *space, const SearchTensor *tensor, const SearchDerivation *how);
/// Adds a load or a constant whose values are known.
MirageStatus mirage__search_add_leaf(SearchSpace *space, SearchTensor *tensor, const SearchDerivation *how);

// search_groups.c
/// Adds a tensor to the group of its expression; a new group finds its partners, unless expressions cut nothing.
MirageStatus mirage__search_add_to_group(SearchSpace *space, uint32_t tensor);
/// By which a tensor is grouped.
MirageExpr mirage__search_group_expr(const SearchSpace *space, uint32_t tensor);
/// A group without tensors, which has found its partners.
MirageStatus mirage__search_add_group(SearchSpace *space, MirageExpr expr);
/// The forms that the program's operators allow, as a bit set.
uint8_t mirage__search_allowed_forms(const SearchSpace *space);

/// `num_loops` walk `loop_axis` one after the other; 0, 0: no loop. `share`: how many spaces divide the limits on
/// states and memory among them.
MirageStatus mirage__search_space_init(SearchSpace *space, const SearchProgram *program,
                                       const MirageSearchOptions *options, uint32_t loop_axis, uint32_t num_loops,
                                       uint32_t share, const MirageDomain *domain, const MirageField *field);
void mirage__search_space_deinit(SearchSpace *space);
/// Whether saturation tries such an operator on these tensors at all.
bool mirage__search_tries(const SearchSpace *space, const SearchDerivation *how);
/// Tries one operator as saturation does. Operands of commutative ones come in order of their numbers. The funnel says
/// which test cut it.
MirageStatus mirage__search_try(SearchSpace *space, const SearchDerivation *how);
/// Derives tensors until nothing new reaches a goal.
MirageStatus mirage__search_saturate(SearchSpace *space);
/// The abstract expression of what a derivation computes.
MirageExpr mirage__search_expr_of(SearchSpace *space, const SearchDerivation *how);
/// Whether a tensor's values are those of one of the program's results.
bool mirage__search_is_goal(const SearchGoal *goal, const SearchTensor *tensor);
/// Enumerates the block graphs that compute all goals from the derivations and keeps the best by reference schedule.
MirageStatus mirage__search_extract(SearchSpace *space, SearchPool *pool, SearchKept *kept);
void mirage__structure_release(SearchKept *kept);
/// Keeps the program's own operators as one block graph where all are element-wise. search_pointwise.c
MirageStatus mirage__search_pointwise(const SearchProgram *program, const MirageSearchOptions *options,
                                      SearchKept *kept);
/// How many element-wise operators a block graph of one loop may hold.
uint32_t mirage__search_elementwise_limit(const SearchProgram *program);

/// Subtracts maxima where the program did, running ones inside the loop, and rescales what depends on them. False when
/// some operator does not carry the factor through, or the result would hold one.
bool mirage__search_stabilise(const SearchProgram *program, SearchStructure *structure);
/// Whether two nodes have equal values, tile by tile, though they may be computed in different loops.
bool mirage__search_same_value(const SearchStructure *structure, uint32_t a, uint32_t b);

// ------------------------------------------------------------------------------------------- schedules

/// Who adds up a reduction that is split over blocks.
typedef enum {
  SEARCH_BY_NOBODY,
  SEARCH_BY_GRID,
  SEARCH_BY_CLUSTER,
  SEARCH_BY_KERNEL,
  SEARCH_NUM_COMBINES
} SearchCombine;

/// Grid and loop range of a structure: how many parts each axis is split into.
typedef struct SearchSchedule {
  int64_t parts[SEARCH_MAX_AXES];         // of the loop's axis: iterations of one block
  int64_t split;                          // blocks among which the loop's axis is divided; 1 = none
  SearchCombine combine;                  // BY_NOBODY when split is 1
  uint8_t order[3];                       // which of grid x, y, z (0, 1, 2) walks the first, second, third axis split
  uint32_t threads;                       // of a block; 0 = the planner's choice
  int64_t combine_parts[SEARCH_MAX_AXES]; // of the second kernel
  uint8_t combine_order[3];
} SearchSchedule;

typedef struct SearchCandidate {
  const SearchStructure *structure;
  SearchSchedule schedule;
  double time_us;
  uint32_t order; // of creation, breaks ties
  bool chosen;    // to be built, whatever its rank
} SearchCandidate;

/// Predicted time, or infinity when it does not fit the target; without the second kernel, where there is one.
/// `out_amounts`, unless NULL: a hash of what the time was computed from.
double mirage__search_schedule_cost(const SearchProgram *program, const SearchStructure *structure,
                                    const SearchSchedule *schedule, const MirageTarget *target, uint64_t *out_amounts);
/// Predicted time of the second kernel of a split reduction; `schedule->parts` are its own.
double mirage__search_combine_cost(const SearchProgram *program, const SearchStructure *structure,
                                   const SearchSchedule *schedule, const MirageTarget *target);
/// A middling schedule by which structures are ranked before their own is chosen.
/// A parallel axis has tiles of `columns`.
void mirage__search_reference_schedule(const SearchProgram *program, const SearchStructure *structure, int64_t columns,
                                       SearchSchedule *out_schedule);
/// Sets the structure's score_us and amounts.
void mirage__search_score(const SearchProgram *program, const MirageSearchOptions *options, SearchStructure *structure);
/// The best `max` schedules of a structure for each way to combine, best first; out_best[max * SEARCH_NUM_COMBINES].
/// Counts every one tried into *in_out_scheduled.
MirageStatus mirage__search_schedules(const SearchProgram *program, const SearchStructure *structure,
                                      const MirageSearchOptions *options, SearchPool *pool, uint32_t max,
                                      SearchCandidate *out_best, uint32_t *out_num, uint64_t *in_out_scheduled);
/// What block graphs were found for.
typedef struct SearchPlans {
  const SearchProgram *program;
  const MirageSearchOptions *options;
  const SearchPart *part;
  SearchSlot slot; // of the ranking
} SearchPlans;
/// How many structures get schedules of their own: all at once, or, where all of them do, in a round.
uint32_t mirage__search_scheduled_at_once(const MirageSearchOptions *options);
/// Schedules, builds and ranks candidates of the best of `num` structures, which it sorts; of all with `optimal`.
/// search_candidates.c
MirageStatus mirage__search_candidates(const SearchPlans *plans, uint32_t num, const SearchStructure **structures,
                                       const MirageDiag *diag, MirageSearchResult *result);
/// The extent of a dimension in a tile of the given schedule.
int64_t mirage__search_tile_extent(const SearchProgram *program, const SearchStructure *structure,
                                   const SearchSchedule *schedule, uint8_t dim);
// search_tails.c
/// Whether a dimension of the node is a part of the axis.
bool mirage__search_walks(const SearchNode *node, uint32_t axis);
/// Whether a tail tile of a parallel axis divides by zero in the elements that its store drops: a norm of masked rows,
/// say. `parts`: the second kernel of a split reduction, whose loads are accumulators.
bool mirage__search_tails_divide(const SearchStructure *structure, uint32_t axis, bool parts);
/// Whether the loop's axis may end in a tail tile of zeros; out_masked[num_nodes]: nodes to which bottom is added
/// there.
bool mirage__search_masks(const SearchStructure *structure, bool *out_masked);
/// The load that says what the tail of a masked node is; SEARCH_MAX_NODES = none.
uint32_t mirage__search_mask_load(const SearchStructure *structure, uint32_t node);
/// Whether there is a tail.
bool mirage__search_is_ragged(const SearchProgram *program, const SearchStructure *structure,
                              const SearchSchedule *schedule);
// search_maps.c
/// Whether griddims and whole grids allow this number of blocks along some axis.
bool mirage__search_allows_parts(const MirageSearchOptions *options, int64_t parts);
/// Orders the grid of a kernel so that the options allow it; false when no order does. `second`: the kernel that
/// combines parts, whose schedule this is.
bool mirage__search_place(const SearchProgram *program, const SearchStructure *structure,
                          const MirageSearchOptions *options, bool second, SearchSchedule *schedule);
/// Marks what a kernel computes that ends before (SEARCH_INSIDE) or starts at (SEARCH_AFTER) the accumulators, which
/// are marked in both.
void mirage__search_wanted(const SearchStructure *structure, SearchStage stage, bool *out_wanted);

/// Whether the quotient `node` is computed by reciprocals, and of what. search_build.c
bool mirage__search_reciprocals(const SearchStructure *structure, const SearchNode *node, SearchReciprocals *out);
/// Builds the µGraph of a structure at the program's real shapes.
MirageStatus mirage__search_build(const SearchProgram *program, const SearchCandidate *candidate, uint32_t index,
                                  const MirageDiag *diag, MirageUGraph **out_graph);

/// Whether the schedule is among those that are tried for the structure; if not, `out_why` says why, in words.
bool mirage__search_schedule_is_tried(const SearchProgram *program, const SearchStructure *structure,
                                      const MirageSearchOptions *options, const SearchSchedule *schedule, char *out_why,
                                      size_t size);

// ------------------------------------------------------------------------------------------- partition

/// Defaults filled in; BAD_ARGUMENT where a number lies outside what the search can do. search.c
MirageStatus mirage__search_fill_options(const MirageSearchOptions *given, const MirageDiag *diag,
                                         MirageSearchOptions *out);
/// The search for µGraphs that treat the whole program as one: of a program that has no views (search.c), and of any
/// (search_wrap.c).
MirageStatus mirage__search_viewed(const MirageUGraph *program, const MirageSearchOptions *options,
                                   const SearchPart *part, const MirageDiag *diag, MirageSearchResult *out_result);
MirageStatus mirage__search_whole(const MirageUGraph *program, const MirageSearchOptions *options,
                                  const SearchPart *part, const MirageDiag *diag, MirageSearchResult *out_result);
/// The program as one and in pieces, side by side, within the monitor's time. search.c
MirageStatus mirage__search_all(const MirageUGraph *program, const SearchRun *run, const MirageDiag *diag,
                                MirageSearchResult *out_result);
/// Whether a program has so many operators that it is searched in sections; and that search. search_sections.c
bool mirage__search_is_large(const MirageUGraph *program);
MirageStatus mirage__search_sections(const MirageUGraph *program, const SearchRun *run, MirageSearchResult *out_result);
void mirage__search_add_to_funnel(MirageFunnel *total, const MirageFunnel *part);
/// Whether there are pieces to search. search_partition.c
bool mirage__search_has_pieces(const MirageUGraph *program);
/// Whether these operators and constants of a program, in its order, make a piece that would be searched.
bool mirage__search_is_piece(const MirageUGraph *program, uint32_t num_nodes, const MirageNode *nodes);
/// Kernel-level operators that become kernels: all but constants. search_pieces.c
uint32_t mirage__search_count_kernels(const MirageUGraph *graph);
// search_partition.c
/// A program in pieces, each searched on its own.
typedef struct SearchPieces SearchPieces;
/// Searches the pieces; *out is NULL where there are none. `whole`: the search of the whole program, which may still
/// run.
MirageStatus mirage__search_pieces(const MirageUGraph *program, const MirageSearchOptions *options,
                                   const SearchPart *whole, SearchPieces **out);
/// Adds candidates that compute the program in pieces, where there are some, to those for the whole.
MirageStatus mirage__search_join(SearchPieces *pieces, uint32_t max_candidates, MirageSearchResult *in_out_result);
void mirage__search_pieces_destroy(SearchPieces *pieces);
/// Puts a µGraph, which it takes, where its predicted time belongs; the last one goes when there are more than wanted.
MirageStatus mirage__search_insert(MirageSearchResult *result, uint32_t wanted, MirageUGraph *graph);

// ------------------------------------------------------------------------------------------------ cost

/// What lib/layout/direct.c asks of a loop that streams its weights straight to the matrix instruction.
typedef struct CostStream {
  uint32_t products, others;    // products and reductions inside loops
  uint32_t carries, carried;    // carries, and those that such a loop may have
  uint32_t product_carries;     // sums of products; the results of other products are used in the loop
  int64_t rows, depth, columns; // activation rows, tile of the contraction, columns of all weights together
  int64_t side_columns;         // of products that are the same in all blocks
  bool uneven;                  // products differ in rows or depth
} CostStream;

/// What one kernel does, summed over all blocks unless said otherwise.
typedef struct CostKernel {
  bool ideal; // loads and arithmetic overlap perfectly
  double blocks;
  double threads;           // of a block; 0 = open
  double stages;            // of the loads in loops; 0 = open
  double dram_bytes;        // every tensor touched, once
  double l2_bytes;          // every tile moved, in whole 32-byte sectors
  double matmul_flops;      // in whole 16x8x16 instructions
  double fma_flops;         // element-wise and reductions
  double special;           // exponentials, roots, divisions
  double flops;             // as the program counts them
  double product_elements;  // results of products
  double product_columns;   // of their tiles, summed
  bool crossed;             // a product takes another's result as its second operand, or transposed
  bool planned;             // lib/layout said which values pass through shared memory
  bool produced;            // and gave the loads a producer
  bool side_blocks;         // and products that are the same in all blocks to side blocks
  double stored_elements;   // such values of loops, but for loads and vectors
  double reduced_elements;  // operands of reductions that come of no product, in loops and outside, and tiles summed
                            // over a loop that come of none
  double reduced_outside;   // of these, outside
  double narrow_elements;   // loaded one by one, since their rows are not aligned
  double least_rows;        // of a product's tile
  double iterations;        // of the loops of one block
  double iteration_bytes;   // loaded by one block in one iteration
  double shared_bytes;      // per block, two stages of each load inside a loop
  double accumulator_bytes; // per block, in registers
  double outside;           // products, reductions and collectives of a block outside loops
  double outside_products;  // of these, products
  double exchange_us;       // writing and reading the parts where blocks meet
  CostStream stream;
  bool multicast;       // copies of a cluster's blocks are shared
  double collective_us; // waiting for other blocks
  double cluster;       // blocks that meet through distributed shared memory; 0 = none
  bool resident;        // all blocks must run at once, one a multiprocessor
} CostKernel;

/// Adds `times` executions of an operator without a region. `a`, `b` NULL when absent.
void mirage__cost_operator(CostKernel *kernel, MirageOp op, const MirageAttrs *attrs, const MirageType *result,
                           const MirageType *a, const MirageType *b, double times);
/// Notes a product or reduction, and one that a loop's plain sum or maximum carries.
void mirage__cost_step(CostKernel *kernel, MirageOp op, bool inside_loop);
void mirage__cost_carry(CostKernel *kernel, MirageOp op, const MirageAttrs *attrs, const MirageType *a,
                        const MirageType *b, bool b_is_loaded, bool same_in_all_blocks);
/// Whether the tile is more than a vector.
bool mirage__cost_is_long(const MirageType *tile);
/// What an operator takes through shared memory, given the type of its first operand and whether operands come of
/// products: such are left in cells, which a reduction along rows and a product's first operand read as they stand.
void mirage__cost_passage(CostKernel *kernel, MirageOp op, const MirageAttrs *attrs, const MirageType *a,
                          bool a_of_product, bool b_of_product, bool inside_loop, double times);
/// A tile of a tensor (NULL: not known) that is read or written.
void mirage__cost_access(CostKernel *kernel, const MirageType *tensor, const MirageType *tile, double times);
/// The same of a load: rows that are not aligned are read element by element.
void mirage__cost_load(CostKernel *kernel, const MirageType *tensor, const MirageType *tile, double times);
/// A sum or maximum of one tile over `members` blocks.
void mirage__cost_collective(CostKernel *kernel, const MirageType *tile, double members, bool cluster);
/// Shared memory that a value needs: what a load or an intermediate tile of a block takes.
void mirage__cost_tile(CostKernel *kernel, const MirageType *tile, double copies);
/// Equal for kernels that the model cannot tell apart.
uint64_t mirage__cost_amounts(const CostKernel *kernel);
/// Microseconds without the launch; infinity when the kernel does not fit the target.
double mirage__cost_kernel_us(const CostKernel *kernel, const MirageTarget *target);

// search_peel.c, search_wrap.c
typedef struct SearchViews SearchViews;
/// The program without what can be a view of an input or an output; the program itself, and no views, where it has
/// none.
MirageStatus mirage__search_peel(const MirageUGraph *program, const MirageDiag *diag, SearchViews **out_views,
                                 const MirageUGraph **out_core);
/// A µGraph for the core as one for the program.
MirageStatus mirage__search_wrap(const SearchViews *views, const MirageUGraph *found, const MirageDiag *diag,
                                 MirageUGraph **out_graph);
void mirage__search_views_destroy(SearchViews *views);

#endif
