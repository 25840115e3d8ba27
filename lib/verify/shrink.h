// shrink.h - smaller copies of a pair in which every split survives. shrink.c
#ifndef MIRAGE_VERIFY_SHRINK_H
#define MIRAGE_VERIFY_SHRINK_H

#include "axes.h"
#include "verify_internal.h"

/// An axis whose sums are weighted: of each sort of its indices (below a tail, and all others) how many there are, and
/// how many points stand for them. The weights of a sort add up to its size; where all are there, each weighs 1.
typedef struct VerifyAxis {
  int64_t sizes[2], points[2];
  uint32_t root;   // in Axes
  uint32_t labels; // the most dimensions of one value that are of this axis
} VerifyAxis;

/// An input [extent, 1, .., 1] of `rank` dimensions that holds weights: element i that of point
/// i / inner % (points of both sorts).
typedef struct VerifyPattern {
  uint32_t axis;
  int64_t extent, inner;
  uint32_t rank;
  MirageDType dtype;
} VerifyPattern;

/// The inputs that weighted copies have behind their own.
struct VerifyWeights {
  uint32_t first_input;
  uint32_t num_axes, num_patterns;
  VerifyAxis *axes;
  VerifyPattern *patterns; // of input first_input + i
};

/// Weighted copies of both graphs with the digits that mirage__axes_choose has set: OK with both NULL when nothing
/// shrinks or no copy can be made. maps: NULL, or for each graph room for num_values + 1 values: where they went.
MirageStatus mirage__verify_weighted(Axes *axes, VerifyWeights *weights, MirageUGraph *out_graphs[2],
                                     MirageValue *const maps[2]);
void mirage__verify_weights_deinit(VerifyWeights *weights);

/// A weighted instance for one of the theorems, and what a trial on it is worth. transfer.c
typedef struct VerifyTransfer {
  MirageUGraph *unsplit[2]; // NULL: the graph itself
  Axes axes;
  VerifyWeights weights;
  MirageUGraph *graphs[2]; // NULL: nothing shrinks
  VerifyInstance instance;
  VerifyBound bound;
  double work; // of a trial, both graphs
  bool holds;  // its axes have the points that the theorem of transfer asks for
} VerifyTransfer;

/// Borrows the graphs, which hold no sugar. After OK: mirage__verify_transfer_deinit.
MirageStatus mirage__verify_transfer_init(VerifyTransfer *transfer, const MirageUGraph *source,
                                          const MirageUGraph *target, bool free_exp);
void mirage__verify_transfer_deinit(VerifyTransfer *transfer);
/// The smallest instance, whatever it tells, to find out what may be equal. maps: as mirage__verify_weighted.
MirageStatus mirage__verify_smallest(VerifyTransfer *transfer, const MirageUGraph *source, const MirageUGraph *target,
                                     MirageValue *const maps[2]);
/// Writes into a proof on this instance how it was transferred.
void mirage__verify_transfer_describe(const VerifyTransfer *transfer, MirageProof *proof);

#endif
