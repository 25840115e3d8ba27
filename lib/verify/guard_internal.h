// guard_internal.h - what the files of the numeric guard share. guard.c tells the story.
#ifndef MIRAGE_GUARD_INTERNAL_H
#define MIRAGE_GUARD_INTERNAL_H

#include "mirage/eval.h"
#include "mirage/guard.h"
#include "mirage/random.h"

/// Dimensions of both graphs that must keep in step, as one axis.
typedef struct GuardAxis {
  int64_t divisor;  // gcd of all extents: the innermost factor of all splits
  int64_t size;     // what it becomes; divisor = unchanged
  int64_t largest;  // extent
  int64_t outer;    // the one extent that it has at the kernel level; -1 = several
  int64_t short_of; // if not 0: every extent becomes `samples`, at most this one, with one block or a block for each
  int64_t tensor, tile; // of a ragged split; 0 = none
  int64_t parts;        // of the ragged split
  int64_t new_tensor, new_tile;
  int64_t repeats; // of a ragged split of a reduced axis: how many elements each that is left stands for; 0 = one
  bool frozen;     // no extent changes
  bool fixed;      // the innermost factor stays
  bool several;    // more extents than one ragged split explains
  bool shared;     // an input or an output has it
  bool reduced;    // some operator sums it or takes its maximum: what is computed depends on its extent
} GuardAxis;

/// What a grid axis becomes.
typedef enum GuardBlocks {
  GUARD_ANY_BLOCKS, // it splits nothing
  GUARD_ONE_BLOCK,  // whose tile is all that is left of the axis
  GUARD_BLOCK_EACH, // tiles are single elements
  GUARD_ALL_BLOCKS, // as it is
} GuardBlocks;

/// The axes of a pair of graphs, and the instance that `size`, `short_of` and `samples` describe.
typedef struct GuardAxes {
  const MirageUGraph *graphs[2];
  uint32_t base[2];       // dimension d of value v of graph g has number base[g] + v * MIRAGE_MAX_RANK + d
  uint32_t *parent;       // union-find
  GuardAxis *axes;        // at the roots
  uint32_t num_dims;      // of both graphs
  GuardBlocks *blocks[2]; // [node * 3 + a]: of grid axis a of a custom kernel
  int64_t samples;        // of axes that lose their blocks
  bool smaller;           // the instance is not the pair itself
} GuardAxes;

/// Finds the axes; nothing is smaller yet. NO_MEMORY. guard_axes.c
MirageStatus mirage__guard_axes_init(GuardAxes *axes, const MirageUGraph *program, const MirageUGraph *candidate);
void mirage__guard_axes_deinit(GuardAxes *axes);
/// Unites the dimensions that must keep in step. guard_ties.c
void mirage__guard_tie(GuardAxes *axes);
/// The axis of dimension `d` of value `v` of graph `g`.
GuardAxis *mirage__guard_axis(GuardAxes *axes, int g, MirageValue v, uint32_t d);
/// What extent `old` of this axis becomes.
int64_t mirage__guard_extent(const GuardAxes *axes, const GuardAxis *axis, int64_t old);
/// What the type of a value becomes, without a layout.
MirageType mirage__guard_type(GuardAxes *axes, int g, MirageValue v);
/// Changes grid and cluster of a custom kernel to what they become.
void mirage__guard_grid(const GuardAxes *axes, int g, MirageNode custom, MirageCustomAttrs *attrs);
/// How often the node's sum stands for each element that is left of the axis it sums; 1 where it sums nothing.
int64_t mirage__guard_repeats(GuardAxes *axes, int g, const MirageNodeView *node);

/// Operations of one evaluation of graph `g` of the instance, in units of about a nanosecond. guard_size.c
double mirage__guard_work(GuardAxes *axes, int g);
/// Makes the instance small enough for `max_work` operations an evaluation of both graphs, or as small as it gets.
/// guard_size.c
MirageGuardInstance mirage__guard_choose(GuardAxes *axes, double max_work);
/// Builds both graphs of the instance. False: they have none, or there is no memory. guard_copy.c
bool mirage__guard_build(GuardAxes *axes, MirageUGraph *out_graphs[2]);

// ----------------------------------------------------------------------------------------------------- runs and scales

enum { GUARD_DRAWS = 11 };

/// Whose output a run gives; the last is the program with larger roundings.
enum { GUARD_REFERENCE, GUARD_PROGRAM, GUARD_CANDIDATE, GUARD_OTHER_ROUNDINGS, GUARD_NUM_RUNS };

/// Real types whose roundings are `factor` times as large and to a random side. For one thread. guard_noise.c
typedef struct GuardNoise {
  MirageDomain domain;
  MirageRandom random;
  double factor;
  double *exact; // [capacity]
  size_t capacity;
  uint64_t bits; // num_bits of them are left
  uint32_t num_bits;
} GuardNoise;

void mirage__guard_noise_init(GuardNoise *noise, uint64_t seed, uint64_t stream, double factor);
void mirage__guard_noise_deinit(GuardNoise *noise);

/// A guard at work on one instance.
typedef struct Guard {
  const MirageUGraph *graphs[2]; // of this instance: program, candidate
  MirageGuardOptions options;
  MirageGuardReport *report;
  uint64_t seed;
  uint32_t num_inputs, num_outputs;
  double **inputs, **normals[GUARD_DRAWS], **outputs[GUARD_NUM_RUNS];
  double *stands;  // [num_outputs]: relative error up to which the program stands; 0 = unknown
  bool *measured;  // [num_outputs]: at some scale
  uint32_t *alone; // [num_alone]: inputs that grow and shrink alone
  uint32_t num_alone;
  double unit;      // factor of the unit scale
  bool dear;        // an evaluation takes long
  bool masks_drawn; // the graphs have the masks of the pair as inputs
} Guard;

/// Inputs to draw: all are `factor` times what the scale says, and one of them (or all) also 2^exponent times that.
typedef struct GuardPoint {
  MirageGuardScale scale;
  double factor;
  int32_t exponent;
  uint32_t input; // which the exponent is about; GUARD_ALL
  bool same_sign; // of that input, or of all: absolute values
} GuardPoint;
enum { GUARD_ALL = UINT32_MAX };

/// Storage for one instance; guard_scale.c.
MirageStatus mirage__guard_storage_init(Guard *guard);
void mirage__guard_storage_deinit(Guard *guard);
size_t mirage__guard_elements(const MirageUGraph *graph, MirageValue value);
/// Distance of 1 from the next larger number.
double mirage__guard_spacing(MirageDType dtype);
/// Draws inputs. NO_MEMORY.
MirageStatus mirage__guard_draw(Guard *guard, const GuardPoint *point, uint32_t draw);
/// Evaluates graph 0 or 1 of the instance at the inputs drawn last. CANCELLED.
MirageStatus mirage__guard_run(Guard *guard, int graph, const MirageDomain *domain, int into);
/// The factor of a scale that has one; 0: the scale does not apply. Draws and evaluates.
MirageStatus mirage__guard_factor(Guard *guard, MirageGuardScale scale, double *out_factor);
/// The least exponent of one input at which exponents of the candidate pass the end of f32; 0: none.
MirageStatus mirage__guard_exponents_alone(Guard *guard, GuardPoint *point);
/// The largest exponent up to which the program stands, less one; 0: none above.
MirageStatus mirage__guard_reach(Guard *guard, GuardPoint *point);
/// Relative error of an output of a run; infinity if it or the reference is not finite.
double mirage__guard_error(const Guard *guard, int run, uint32_t output);
/// Whether the program's output, evaluated last, is as the type `stands` says.
bool mirage__guard_stands(const Guard *guard, uint32_t output);

#endif
