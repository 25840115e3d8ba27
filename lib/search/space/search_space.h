// search_space.h - all tensors that can lie on a path to the program's results, each met once.
#ifndef MIRAGE_LIB_SEARCH_SPACE_H
#define MIRAGE_LIB_SEARCH_SPACE_H

#include "mirage/expr.h"
#include "search/run/search_control.h"
#include "search/space/search_values.h"

enum { SEARCH_MAX_STABLE = 16 }; // exponentials

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
  bool summed;  // every derivation holds a sum or a maximum over some axis
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

/// Where the derivation stands: each tensor in turn, with each group that goes together with its own.
typedef struct SearchPosition {
  uint32_t depth, index, partner; // 0 = past the last one
  bool inside;                    // of `index`: what takes one operand is done, groups are not
  bool again;                     // this round over the tensors found one to process
} SearchPosition;

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

// search_gauge.c
/// Drops the maxima that stabilise exponentials.
MirageStatus mirage__search_drop_stabilisers(SearchProgram *program, const MirageSearchOptions *options);

// search_instance.c
/// The random point that tensors are told apart at: of the seed's purpose "search", so that no trial of the verifier is
/// one that a candidate was found by. NULL without memory.
MirageField *mirage__search_field(const MirageSearchOptions *options);
/// Axis code of a dimension of a program value: the loop's axis counts in full.
uint8_t mirage__search_program_dim(const SearchSpace *space, MirageValue value, uint32_t dim);
/// The axis over which a maximum is subtracted from the argument of this exponential; 0 = none.
uint8_t mirage__search_stable_axis(const SearchSpace *space, MirageExpr argument);

// search_tensor.c
/// How many element-wise operators a block graph of one loop may hold.
uint32_t mirage__search_elementwise_limit(const SearchProgram *program);
/// Whether a derivation counts for max_block_ops whatever it stands next to; element-wise ones may join a chain.
bool mirage__search_counts(const SearchSpace *space, const SearchDerivation *how);
// search_space.c
/// `num_loops` walk `loop_axis` one after the other; 0, 0: no loop. `share`: how many spaces divide the limits on
/// states and memory among them.
MirageStatus mirage__search_space_init(SearchSpace *space, const SearchProgram *program,
                                       const MirageSearchOptions *options, uint32_t loop_axis, uint32_t num_loops,
                                       uint32_t share, const MirageDomain *domain, const MirageField *field);
void mirage__search_space_deinit(SearchSpace *space);
/// Lets more tensors be tried than a search would; `any_depth`: of any number of operators.
void mirage__search_lift_limits(SearchSpace *space, bool any_depth);
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

// search_snapshot.c
/// Writes the space to its checkpoint.
MirageStatus mirage__search_save_space(const SearchSpace *space);
/// Brings a space that was just begun to where the record was taken, if there is one. BAD_ARGUMENT where the record
/// makes no sense.
MirageStatus mirage__search_restore_space(SearchSpace *space);

#endif
