// axes.h - the axes of a pair of graphs, and the innermost digit of each that every split leaves whole. axes.c
#ifndef MIRAGE_VERIFY_AXES_H
#define MIRAGE_VERIFY_AXES_H

#include "mirage/ugraph.h"

/// The dimensions of all values of both graphs that keep in step: one axis of the program.
///
/// Even:    every extent is parts x digit x inner of its dimension (axes.c); index i has digit i / inner % digit.
/// Ragged:  one extent is the tensor's, n = whole x digit + tail, one the tile's, digit; index i has digit i % digit.
///          What lies below the tail occurs in one tile more than the rest: two sorts of indices.
typedef struct Axis {
  int64_t digit;       // its extent; 1 = nothing can be shrunk
  int64_t tensor;      // ragged: the tensor's extent; 0 = even
  int64_t whole, tail; // ragged
  int64_t largest;     // extent that occurs
  bool frozen;         // stays as it is
  bool shared;         // an input or an output has it
  int64_t new_digit;   // what the digit shrinks to: digit = not at all
  int64_t new_tail;    // ragged: of it, how much lies below the tail
  uint32_t weight;     // 1 + its number among the axes whose sums are weighted, 0 = none; shrink.c
} Axis;

typedef struct Axes {
  const MirageUGraph *graphs[2];
  uint32_t base[2];  // dimension d of value v of graph g has number base[g] + v * MIRAGE_MAX_RANK + d
  uint32_t num_dims; // numbers
  uint32_t *parent;  // union-find of axes
  Axis *axes;        // [num_dims], at the roots
  // How far the digits of two dimensions of an axis lie apart:
  uint32_t *level;  // union-find of dimensions with equal strides of the digit
  double *inner;    // [num_dims], at the roots of level: the stride of the digit
  struct AxesEdge { // of two levels, by a reshape
    uint32_t from, to;
    double ratio; // inner of `to` over that of `from`
  } *edges;
  uint32_t num_edges;
  bool failed; // out of memory while noting edges
} Axes;

/// Finds the axes of two graphs without sugar whose inputs and outputs pair up. Borrows the graphs.
MirageStatus mirage__axes_init(Axes *axes, const MirageUGraph *source, const MirageUGraph *target);
void mirage__axes_deinit(Axes *axes);

/// The axis of dimension `d` of value `v` of graph `g`.
Axis *mirage__axes_of(const Axes *axes, int g, MirageValue v, uint32_t d);
/// The stride of its digit in that dimension.
int64_t mirage__axes_inner(const Axes *axes, int g, MirageValue v, uint32_t d);
/// What an extent of the axis becomes.
int64_t mirage__verify_axis_extent(const Axis *axis, int64_t old);
/// What a number of elements from the axis's beginning becomes at which digits, or the axis, begin or end.
int64_t mirage__verify_axis_position(const Axis *axis, int64_t old);
/// Whether the digit becomes smaller.
static inline bool mirage__axis_shrinks(const Axis *axis) { return axis->new_digit < axis->digit; }
/// Sets new_digit to the least number, at least `extent`, that keeps every split and at least `points` indices of each
/// sort (all of them where there are fewer); to the digit itself where no smaller one does.
void mirage__axes_choose(Axes *axes, Axis *axis, int64_t points, int64_t extent);
/// All axes, each once: the next root after `at`, or num_dims.
uint32_t mirage__axes_next(const Axes *axes, uint32_t at);

#endif
