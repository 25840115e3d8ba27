// search_program.h - a program as the search sees it: its axes, its constants, its operators.
#ifndef MIRAGE_LIB_SEARCH_PROGRAM_H
#define MIRAGE_LIB_SEARCH_PROGRAM_H

#include "mirage/search.h"
#include "mirage/ugraph.h"

enum {
  SEARCH_RANK = MIRAGE_MAX_RANK,
  SEARCH_MAX_AXES = 48,
  SEARCH_MAX_CONSTANTS = 16,
  SEARCH_MAX_GOALS = 8, // results of a program
};

/// A program axis: the dimensions of all values that must walk together.
typedef struct SearchAxis {
  int64_t extent;
  bool reduced;  // summed, maximised or contracted somewhere
  bool output;   // a dimension of an output
  bool repeated; // occurs twice in one value: never split
  bool batch;    // occurs only in leading dimensions, never in the last two
  uint8_t tied;  // the axis that blocks split together with this one; itself where there is none
} SearchAxis;

/// Whether a kernel is asked to swap the operands of its products.
static inline bool search_kernel_swaps(const MirageCustomAttrs *custom) {
  return custom->schedule && custom->schedule->swap;
}

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
  uint32_t one_row;                 // the axis of single rows of products, which no value walks; 0 = there are none
  uint8_t (*dims)[SEARCH_RANK];     // axis of each dimension, by value id of `graph`; owned
  double constants[SEARCH_MAX_CONSTANTS];
  uint32_t num_constants;
  bool uses[MIRAGE_NUM_OPS];       // operators of the expanded program
  bool transposes;                 // some matmul or transpose swaps the last two dimensions
  bool swaps_tiles;                // some transpose does
  bool turned;                     // a batch of matmuls transposes weights that it computes: search_grouped.c
  uint8_t places[SEARCH_MAX_AXES]; // by axis: where results have it; bit 0 is the last dimension
  bool upright;                    // whatever comes of a sum has parallel axes where results have them
  uint32_t num_elementwise;
  MirageDType dtype; // of matmul operands
  bool bytes;        // it multiplies stored numbers as they are: so do its µGraphs, where both operands are loaded
  // Maxima that the program subtracts before it exponentiates and whose choice does not matter (search_gauge.c).
  bool *dropped;        // by value: such a maximum; it is read as 0. Owned
  uint8_t *shift;       // by value: the axis of the dropped maximum that was subtracted from it; 0 = none. Owned
  bool stabilised_logs; // it takes logarithms of values that are relative to one
} SearchProgram;

MirageStatus mirage__search_program_init(SearchProgram *program, const MirageUGraph *source, const MirageDiag *diag);
void mirage__search_program_deinit(SearchProgram *program);

#endif
