// replay_internal.h - what the files of the replay share: replay.c, replay_walk.c, replay_load.c, replay_pieces.c.
#ifndef MIRAGE_LIB_SEARCH_REPLAY_INTERNAL_H
#define MIRAGE_LIB_SEARCH_REPLAY_INTERNAL_H

#include "search/space/search_space.h"

/// Coordinates of a block: grid x, y, z, then the loops around a node, outermost first. Bit sets of them below.
enum { REPLAY_LOOPS = 3, REPLAY_COORDINATES = 3 + MIRAGE_MAX_LOOPS };

/// What a value of the candidate is to the search.
typedef enum {
  REPLAY_UNKNOWN,
  REPLAY_TENSOR, // a tensor of the space
  REPLAY_INPUT,  // of the program, not loaded yet
  REPLAY_CONSTANT,
  REPLAY_RECIPROCAL, // of a tensor: what is multiplied by it is divided by the tensor
  REPLAY_BOTTOM,
  REPLAY_CARRY, // what earlier iterations left
  REPLAY_INDEX, // where an element is
  REPLAY_MASK, // what lies past a tensor's end: an index compared, or two loads of one tile that fill differently, subtracted
  REPLAY_GAUGE,  // a maximum that only stabilises exponentials: the search reads it as 0 (search_gauge.c)
  REPLAY_FACTOR, // the exponential of a difference of such maxima: 1
} ReplayKind;

/// A value may hold less than its tensor: what one block and iteration add to it, or several such parts side by side.
typedef struct ReplayValue {
  ReplayKind kind;
  uint32_t tensor;  // or the input's number
  uint32_t divisor; // a tensor by which the value is still to be divided; 0 = none
  uint32_t
      share; // a part of a sum, divided by the same part of this tensor, with which it is multiplied again; 0 = not
  double constant;
  bool filled;                    // with bottom past the end of the tensor
  uint8_t apart;                  // coordinates that hold different parts of what is still to be added
  bool summed, maximum;           // some of them are added (taken the maximum of) already
  int64_t parts[MIRAGE_MAX_RANK]; // by dimension: parts along it that are still to be added; 0 and 1 = none
} ReplayValue;

/// How one custom kernel splits axes.
typedef struct ReplayKernel {
  MirageNode node;
  uint8_t mask[SEARCH_MAX_AXES];      // coordinates that split the axis in this kernel; valid where `bound`
  bool bound[SEARCH_MAX_AXES];        // parallel axes that some load or store named
  uint8_t axis[REPLAY_COORDINATES];   // that the coordinate splits; 0 = none yet
  int64_t extent[REPLAY_COORDINATES]; // blocks or iterations
  uint32_t num_loops;                 // around the node at hand
  uint32_t num_walked;                // loops before it that walk the loop's axis
  int64_t parts[SEARCH_MAX_AXES];     // blocks along each parallel axis
  int64_t split, range;               // of the loop's axis: blocks, iterations
  bool by_grid, by_cluster;           // meets other blocks
  bool adds_parts;                    // that another kernel stored
  bool swapped;                       // asks for the operands of products to be swapped
} ReplayKernel;

enum { REPLAY_MAX_KERNELS = 16, REPLAY_MAX_STEPS = 256 };

/// One reading of a candidate in the space of one plan.
typedef struct ReplayWalk {
  SearchSpace *space;
  const MirageUGraph *graph;
  bool saturated;      // the space is
  uint32_t num_met;    // derivations of the search
  bool fused;          // whole dimensions of the loop's axis are read as walked by the loop
  bool tiles_first;    // what is added element by element and summed later is read as summed first
  bool whole;          // every tile is read as the whole tensor: for finding out what kernels compute
  ReplayValue *values; // by value id
  ReplayKernel kernels[REPLAY_MAX_KERNELS];
  uint32_t num_kernels;                                               // custom ones
  uint32_t chosen[REPLAY_MAX_STEPS], chosen_tensor[REPLAY_MAX_STEPS]; // derivation and the tensor it gives
  uint32_t num_chosen;
  uint32_t num_merged; // values that another operator of the candidate stands for
  uint32_t num_unmet;  // steps that a stopped search has not met
  MirageStatus status;
  MirageReplayCut cut; // NONE while all is well
  MirageNode at;
  char why[256];
} ReplayWalk;

/// The search's tensors for one choice of the loop's axis.
typedef struct ReplayPlan {
  uint32_t loop_axis, num_loops;
  bool ready, saturated;
  uint32_t num_derivations; // that the search has met
  MirageField *field;
  SearchSpace space;
} ReplayPlan;

struct MirageReplay {
  MirageSearchOptions options; // defaults filled in
  SearchProgram program;
  ReplayPlan plans[3 * SEARCH_MAX_AXES];
  uint32_t num_plans, share; // share: as the search divides its limits
  SearchProgram plain;       // with all its maxima, for
  ReplayPlan whole;          // finding out what kernels compute
  MirageSearchOptions whole_options;
  MirageTarget whole_target;
  // The program with its products of one row as sums of rows (search_dots.c), without its views, or NULL.
  MirageUGraph *dots;
  struct SearchViews *dots_views;
  MirageReplay *of_dots;
};

/// Replays the candidate as a graph of the whole program. replay.c
MirageStatus mirage__replay_whole(MirageReplay *replay, const MirageUGraph *candidate, MirageReplayResult *out_result);
// replay_pieces.c
/// Replays the candidate's kernels as pieces of the program; changes the result when all of them are in the space.
MirageStatus mirage__replay_pieces(MirageReplay *replay, const MirageUGraph *candidate,
                                   MirageReplayResult *in_out_result);

// replay_walk.c
/// Walks the candidate; false when it is cut, or status is not OK.
bool mirage__replay_walk(ReplayWalk *walk);

// replay_values.c
/// Ends the walk with a sentence; false.
bool mirage__replay_cut(ReplayWalk *walk, MirageNode at, MirageReplayCut cut, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/// Tries the operator in the space; *out_tensor is what it gives.
bool mirage__replay_step(ReplayWalk *walk, MirageNode at, SearchDerivation how, uint32_t *out_tensor);
/// Notes a load or constant, which may be met often.
void mirage__replay_choose_leaf(ReplayWalk *walk, uint32_t derivation, uint32_t tensor);
/// The axis that dimension `dim` of a value of this rank walks, as the tensor has it.
uint8_t mirage__replay_dim(const ReplayWalk *walk, const ReplayValue *value, uint32_t rank, uint32_t dim);
/// Names an axis by an input's dimension.
const char *mirage__replay_axis_name(const ReplayWalk *walk, uint32_t axis, char *buffer, size_t size);
/// Divides by what the value is still to be divided by.
bool mirage__replay_settle(ReplayWalk *walk, MirageNode at, ReplayValue *value);
/// Whether maxima are read as 0.
bool mirage__replay_is_gauge_program(const ReplayWalk *walk);
/// The tensor that an operator takes from a value. `takes_parts`: it may hold parts of a sum.
bool mirage__replay_operand(ReplayWalk *walk, MirageNode at, MirageValue from, bool takes_parts, ReplayValue *out);
bool mirage__replay_elementwise(ReplayWalk *walk, MirageNode at, const MirageNodeView *node);
bool mirage__replay_matmul(ReplayWalk *walk, MirageNode at, const MirageNodeView *node);
bool mirage__replay_reduce(ReplayWalk *walk, MirageNode at, const MirageNodeView *node);
/// Adds what the blocks or iterations of some coordinates hold, `times` of them.
bool mirage__replay_gather(ReplayWalk *walk, MirageNode at, uint8_t coordinates, int64_t times, bool maximum,
                           uint32_t rank, ReplayValue *value);

// replay_load.c
/// The tensor of an input, in tiles of the loop at hand or whole.
bool mirage__replay_input(ReplayWalk *walk, MirageNode at, uint32_t input, bool split, uint32_t *out_tensor);
/// An input as a kernel-level operator takes it.
bool mirage__replay_load_whole(ReplayWalk *walk, MirageNode at, ReplayValue *in_out_value);
bool mirage__replay_load(ReplayWalk *walk, MirageNode at, const MirageNodeView *node);
bool mirage__replay_store(ReplayWalk *walk, MirageNode at, const MirageNodeView *node, MirageValue result);

#endif
