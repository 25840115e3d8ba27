// shrink.c - smaller copies of a pair of graphs in which every split survives.
//
// Axes:     dimensions of all values of both graphs that must keep in step - operands of one operator, a tile and the
//           tensor it is loaded from, the inputs of both graphs - are one class (union-find).
// Factors:  the extents that occur in a class are products of the splits: tensor = grid x loop x tile. Their greatest
//           common divisor g is the innermost factor of the common refinement of all splits in both graphs. It alone
//           shrinks, to 2, 3, 5 or 7, the smallest for the axes with the most parts and unequal for the first four:
//           every extent e becomes e / g * m. Grids and loop ranges stay as they are. SHRINK_OTHER makes a second
//           instance with 3, 5, 7, 11, ...: a number that fits the extents of one by chance does not fit the other's.
// Ragged:   when ceil(n / parts) does not divide n, the last tile is masked. Such a class, of one tensor extent n and
//           one tile extent t, gets n' = floor(n / t) t' + r' with 0 < r' < t': as many whole tiles, and a tail.
// Fixed:    extents of 1 stay 1; an axis split down to tiles of 1 keeps its extent, and so do the inner dimensions
//           that a reshape merges, and axes that neither an input nor an output has.
// Constants keep their value at first. A mean over n elements divides by the original n in both graphs, so the shrunken
//           pair is (sum / n) with n an unrelated number, which is enough for most identities. Some need n to be the
//           extent: E[x^2] - E[x]^2 is a variance only then. On request constants `follow`: those that equal the number
//           of elements which the source sums somewhere, or its inverse, become the shrunken number in both graphs.
//
// Example:  x[2, 4096] @ w[4096, 6144], grid 128 over columns, loop 32 over the contraction (tiles 2x128, 128x48):
//           x[2, 96] @ w[96, 256], tiles 2x3, 3x2: columns have the most parts and get 2, the contraction 3.
#include "verify_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct AxisClass {
  int64_t divisor;      // gcd of all extents
  int64_t largest;      // extent
  int64_t tensor, tile; // of a ragged split; 0 = none
  int64_t parts;        // of the ragged split
  int64_t numerator;    // extent e becomes e / divisor * numerator
  int64_t new_tensor, new_tile;
  bool frozen, several; // several: more extents than one ragged split explains
  bool shared;          // an input or an output has it
} AxisClass;

typedef struct Shrink {
  const MirageUGraph *graphs[2];
  uint32_t base[2];   // dimension d of value v of graph g has number base[g] + v * MIRAGE_MAX_RANK + d
  uint32_t *parent;   // union-find
  AxisClass *classes; // at the roots
  uint32_t num_dims;
  bool follow;       // constants that stem from extents shrink with them
  bool followed;     // some did
  ShrinkSizes sizes; // SHRINK_OTHER: no axis has the extent of the first instance unless it is the original one
  char *reason;
} Shrink;

// ---------------------------------------------------------------------------------------------------------- union-find

static uint32_t find(Shrink *shrink, uint32_t dim) {
  while (shrink->parent[dim] != dim)
    dim = shrink->parent[dim] = shrink->parent[shrink->parent[dim]];
  return dim;
}

static uint32_t dim_of(const Shrink *shrink, int g, MirageValue v, uint32_t d) {
  return shrink->base[g] + v.index * MIRAGE_MAX_RANK + d;
}

static int64_t extent_of(const Shrink *shrink, uint32_t dim) {
  int g = dim >= shrink->base[1];
  uint32_t local = dim - shrink->base[g];
  return mirage_ugraph_type(shrink->graphs[g], (MirageValue){local / MIRAGE_MAX_RANK})->shape[local % MIRAGE_MAX_RANK];
}

static void freeze(Shrink *shrink, uint32_t dim) { shrink->classes[find(shrink, dim)].frozen = true; }

static void unite(Shrink *shrink, uint32_t a, uint32_t b) {
  a = find(shrink, a);
  b = find(shrink, b);
  if (a == b)
    return;
  uint32_t low = a < b ? a : b, high = a < b ? b : a;
  shrink->classes[low].frozen |= shrink->classes[high].frozen;
  shrink->parent[high] = low;
}

// The same axis; an extent of 1 that broadcasts is none.
static void same(Shrink *shrink, uint32_t a, uint32_t b) {
  if (extent_of(shrink, a) != 1 && extent_of(shrink, b) != 1)
    unite(shrink, a, b);
}

// One is a multiple of the other; where the smaller is 1 the larger is a number of parts, and stays.
static void multiple(Shrink *shrink, uint32_t a, uint32_t b) {
  int64_t x = extent_of(shrink, a), y = extent_of(shrink, b);
  if (x != 1 && y != 1)
    unite(shrink, a, b);
  else if (x != y)
    freeze(shrink, x == 1 ? b : a);
}

static uint32_t rank_of(const Shrink *shrink, int g, MirageValue v) {
  return mirage_ugraph_type(shrink->graphs[g], v)->rank;
}

// Equal shapes, or right-aligned broadcasting.
static void same_value(Shrink *shrink, int g, MirageValue a, int h, MirageValue b) {
  uint32_t ra = rank_of(shrink, g, a), rb = rank_of(shrink, h, b);
  for (uint32_t i = 1; i <= ra && i <= rb; i++)
    same(shrink, dim_of(shrink, g, a, ra - i), dim_of(shrink, h, b, rb - i));
}

// --------------------------------------------------------------------------------------------- what each operator ties

static void tie_matmul(Shrink *shrink, int g, const MirageNodeView *node) {
  MirageValue a = node->operands[0], b = node->operands[1], y = node->first_result;
  uint32_t ra = rank_of(shrink, g, a), rb = rank_of(shrink, g, b), ry = rank_of(shrink, g, y);
  uint32_t flip_a = node->attrs && node->attrs->matmul.transpose_a,
           flip_b = node->attrs && node->attrs->matmul.transpose_b;
  same(shrink, dim_of(shrink, g, a, ra - 2 + flip_a), dim_of(shrink, g, y, ry - 2));
  same(shrink, dim_of(shrink, g, b, rb - 1 - flip_b), dim_of(shrink, g, y, ry - 1));
  same(shrink, dim_of(shrink, g, a, ra - 1 - flip_a), dim_of(shrink, g, b, rb - 2 + flip_b));
  for (uint32_t i = 3; i <= ry; i++) {
    if (i <= ra)
      same(shrink, dim_of(shrink, g, a, ra - i), dim_of(shrink, g, y, ry - i));
    if (i <= rb)
      same(shrink, dim_of(shrink, g, b, rb - i), dim_of(shrink, g, y, ry - i));
  }
  if (node->num_operands == 3)
    same_value(shrink, g, node->operands[2], g, y);
}

// Splits both shapes into the finest groups of equal product. The first dimensions of a group scale together, the
// others keep their extents.
static void tie_reshape(Shrink *shrink, int g, MirageValue a, MirageValue y) {
  const MirageType *from = mirage_ugraph_type(shrink->graphs[g], a), *to = mirage_ugraph_type(shrink->graphs[g], y);
  uint32_t i = 0, j = 0;
  while (i < from->rank && j < to->rank) {
    if (from->shape[i] == 1 || to->shape[j] == 1) {
      from->shape[i] == 1 ? i++ : j++;
      continue;
    }
    multiple(shrink, dim_of(shrink, g, a, i), dim_of(shrink, g, y, j));
    int64_t left = from->shape[i++], right = to->shape[j++];
    while (left != right) {
      if (left < right) {
        freeze(shrink, dim_of(shrink, g, a, i));
        left *= from->shape[i++];
      } else {
        freeze(shrink, dim_of(shrink, g, y, j));
        right *= to->shape[j++];
      }
    }
  }
}

static void tie_shape(Shrink *shrink, int g, const MirageNodeView *node) {
  MirageValue a = node->operands[0], y = node->first_result;
  int32_t dim = -1; // along which only multiples agree
  switch (node->op) {
  case MIRAGE_OP_TRANSPOSE:
    for (uint32_t d = 0; d < rank_of(shrink, g, y); d++)
      same(shrink, dim_of(shrink, g, a, (uint32_t)node->attrs->perm.perm[d]), dim_of(shrink, g, y, d));
    return;
  case MIRAGE_OP_RESHAPE:
    tie_reshape(shrink, g, a, y);
    return;
  case MIRAGE_OP_BROADCAST:
    same_value(shrink, g, a, g, y);
    return;
  case MIRAGE_OP_REPEAT:
    dim = node->attrs->repeat.dim;
    break;
  case MIRAGE_OP_SLICE:
    dim = node->attrs->slice.dim;
    break;
  default: // concat
    dim = node->attrs->dim.dim;
    break;
  }
  for (uint32_t i = 0; i < node->num_operands; i++)
    for (uint32_t d = 0; d < rank_of(shrink, g, y); d++) {
      uint32_t from = dim_of(shrink, g, node->operands[i], d), to = dim_of(shrink, g, y, d);
      if ((int32_t)d == dim)
        multiple(shrink, from, to);
      else
        same(shrink, from, to);
    }
}

static void tie_reduce(Shrink *shrink, int g, const MirageNodeView *node) {
  MirageValue a = node->operands[0], y = node->first_result;
  for (uint32_t d = 0; d < rank_of(shrink, g, y); d++)
    same(shrink, dim_of(shrink, g, a, d), dim_of(shrink, g, y, d)); // an extent of 1 left over ties nothing
}

// The tensor's dimension that an access sees as its d-th.
static uint32_t seen_dim(const Shrink *shrink, int g, MirageValue tensor, const MirageAccessAttrs *access, uint32_t d) {
  return dim_of(shrink, g, tensor, mirage_access_dim(access, d));
}

static void tie_access(Shrink *shrink, int g, const MirageNodeView *node) {
  MirageValue tensor = node->op == MIRAGE_OP_LOAD ? node->operands[0] : node->operands[1];
  MirageValue tile = node->op == MIRAGE_OP_LOAD ? node->first_result : node->operands[0];
  for (uint32_t d = 0; d < rank_of(shrink, g, tensor); d++)
    multiple(shrink, seen_dim(shrink, g, tensor, &node->attrs->access, d), dim_of(shrink, g, tile, d));
}

static void tie_region(Shrink *shrink, int g, MirageRegion region);

static void tie_structure(Shrink *shrink, int g, const MirageNodeView *node) {
  MirageRegionView body = mirage_ugraph_region(shrink->graphs[g], node->region);
  MirageNodeView last = mirage_ugraph_node(shrink->graphs[g], body.nodes[body.num_nodes - 1]);
  for (uint32_t i = 0; i < node->num_operands; i++)
    same_value(shrink, g, node->operands[i], g, (MirageValue){body.first_argument.index + i});
  tie_region(shrink, g, node->region);
  for (uint32_t i = 0; i < node->num_results; i++) {
    MirageValue y = {node->first_result.index + i};
    if (node->op == MIRAGE_OP_CUSTOM) {
      same_value(shrink, g, (MirageValue){body.first_argument.index + node->num_operands + i}, g, y);
      continue;
    }
    MirageValue from = last.operands[i];
    bool concat = node->op == MIRAGE_OP_LOOP && node->attrs->loop.carries[i].combine == MIRAGE_COMBINE_CONCAT;
    if (node->op == MIRAGE_OP_LOOP)
      same_value(shrink, g, (MirageValue){body.first_argument.index + i}, g, y);
    for (uint32_t d = 0; d < rank_of(shrink, g, y); d++) {
      if (concat && (int32_t)d == node->attrs->loop.carries[i].dim)
        multiple(shrink, dim_of(shrink, g, from, d), dim_of(shrink, g, y, d));
      else
        same(shrink, dim_of(shrink, g, from, d), dim_of(shrink, g, y, d));
    }
  }
  if (node->op == MIRAGE_OP_LOOP) // factors broadcast against their carry
    for (uint32_t i = 0, factor = node->attrs->loop.num_carries; i < node->attrs->loop.num_carries; i++)
      if (node->attrs->loop.carries[i].combine == MIRAGE_COMBINE_RESCALE)
        same_value(shrink, g, last.operands[factor++], g, (MirageValue){node->first_result.index + i});
}

static void tie_node(Shrink *shrink, int g, const MirageNodeView *node) {
  switch (mirage_op_info(node->op)->kind) {
  case MIRAGE_KIND_REGION:
    tie_structure(shrink, g, node);
    break;
  case MIRAGE_KIND_MATMUL:
    tie_matmul(shrink, g, node);
    break;
  case MIRAGE_KIND_REDUCE:
    tie_reduce(shrink, g, node);
    break;
  case MIRAGE_KIND_SHAPE:
    tie_shape(shrink, g, node);
    break;
  case MIRAGE_KIND_ACCESS:
    tie_access(shrink, g, node);
    break;
  default:
    for (uint32_t i = 0; node->num_results && i < node->num_operands; i++)
      same_value(shrink, g, node->operands[i], g, node->first_result);
    break;
  }
}

static void tie_region(Shrink *shrink, int g, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(shrink->graphs[g], region);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(shrink->graphs[g], view.nodes[i]);
    tie_node(shrink, g, &node);
  }
}

static void note_shared(Shrink *shrink, int g, MirageValue v) {
  for (uint32_t d = 0; d < rank_of(shrink, g, v); d++)
    shrink->classes[find(shrink, dim_of(shrink, g, v, d))].shared = true;
}

// An axis that no input and no output has, as of a constant that is summed, is one graph's own: nothing keeps it in
// step with the other graph, so it stays as it is.
static void freeze_private(Shrink *shrink) {
  for (int g = 0; g < 2; g++) {
    for (uint32_t i = 0; i < mirage_ugraph_num_inputs(shrink->graphs[g]); i++)
      note_shared(shrink, g, mirage_ugraph_get_input(shrink->graphs[g], i));
    for (uint32_t i = 0; i < mirage_ugraph_num_outputs(shrink->graphs[g]); i++)
      note_shared(shrink, g, mirage_ugraph_get_output(shrink->graphs[g], i));
  }
  for (uint32_t i = 0; i < shrink->num_dims; i++)
    if (shrink->parent[i] == i && !shrink->classes[i].shared)
      shrink->classes[i].frozen = true;
}

// --------------------------------------------------------------------------------------------------------- new extents

static int64_t gcd(int64_t a, int64_t b) {
  while (b) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// Parts into which an access splits dimension d in all.
static int64_t parts_of(const MirageUGraph *graph, MirageNode id, const MirageAccessAttrs *access, uint32_t d) {
  MirageScope scope = mirage_ugraph_scope(graph, id);
  int64_t parts = 1;
  for (uint32_t a = 0; a < 3; a++)
    parts *= access->grid[a] == (int8_t)d ? scope.grid[a] : 1;
  for (uint32_t l = 0; l < scope.num_loops; l++)
    parts *= access->loop[l] == (int8_t)d ? scope.ranges[l] : 1;
  return parts;
}

// Notes what the splits and slices of one node mean for their classes.
static void measure_node(Shrink *shrink, int g, MirageNode id) {
  MirageNodeView node = mirage_ugraph_node(shrink->graphs[g], id);
  if (node.op == MIRAGE_OP_SLICE) {
    AxisClass *class =
        &shrink->classes[find(shrink, dim_of(shrink, g, node.operands[0], (uint32_t)node.attrs->slice.dim))];
    class->divisor = gcd(class->divisor, gcd(node.attrs->slice.begin, node.attrs->slice.end));
  }
  if (mirage_op_info(node.op)->kind != MIRAGE_KIND_ACCESS)
    return;
  MirageValue tensor = node.op == MIRAGE_OP_LOAD ? node.operands[0] : node.operands[1];
  MirageValue tile = node.op == MIRAGE_OP_LOAD ? node.first_result : node.operands[0];
  for (uint32_t d = 0; d < rank_of(shrink, g, tensor); d++) {
    const MirageAccessAttrs *access = &node.attrs->access;
    uint32_t dim = seen_dim(shrink, g, tensor, access, d);
    int64_t n = mirage_access_extent(access, mirage_ugraph_type(shrink->graphs[g], tensor), d);
    int64_t t = extent_of(shrink, dim_of(shrink, g, tile, d)), parts = parts_of(shrink->graphs[g], id, access, d);
    AxisClass *class = &shrink->classes[find(shrink, dim)];
    if (access->end[d])
      class->divisor = gcd(class->divisor, gcd(access->begin[d], access->end[d]));
    if (parts * t == n)
      continue;
    class->frozen |= access->end[d] != 0; // no rule for a ragged part
    class->several |= class->tensor && (class->tensor != n || class->tile != t || class->parts != parts);
    class->tensor = n;
    class->tile = t;
    class->parts = parts;
  }
}

static void measure(Shrink *shrink) {
  for (int g = 0; g < 2; g++)
    for (uint32_t v = 1; v <= mirage_ugraph_num_values(shrink->graphs[g]); v++)
      for (uint32_t d = 0; d < rank_of(shrink, g, (MirageValue){v}); d++) {
        uint32_t dim = dim_of(shrink, g, (MirageValue){v}, d);
        AxisClass *class = &shrink->classes[find(shrink, dim)];
        int64_t extent = extent_of(shrink, dim);
        class->divisor = gcd(class->divisor, extent);
        class->largest = extent > class->largest ? extent : class->largest;
      }
  for (int g = 0; g < 2; g++)
    for (uint32_t n = 1; n <= mirage_ugraph_num_nodes(shrink->graphs[g]); n++)
      measure_node(shrink, g, (MirageNode){n});
  for (int g = 0; g < 2; g++) // a ragged class with a third extent is more than its one split
    for (uint32_t v = 1; v <= mirage_ugraph_num_values(shrink->graphs[g]); v++)
      for (uint32_t d = 0; d < rank_of(shrink, g, (MirageValue){v}); d++) {
        uint32_t dim = dim_of(shrink, g, (MirageValue){v}, d);
        AxisClass *class = &shrink->classes[find(shrink, dim)];
        int64_t extent = extent_of(shrink, dim);
        class->several |= class->tensor && extent != class->tensor && extent != class->tile;
      }
}

// The smallest tile t' >= `least` and tail r' for which ceil((whole t' + r') / parts) is t' again; or the next such
// tile.
static bool choose_ragged(AxisClass *class, int64_t least, bool next) {
  int64_t whole = class->tensor / class->tile;
  for (int64_t t = least; t < class->tile; t++)
    for (int64_t r = 1; r < t; r++)
      if ((whole * t + r + class->parts - 1) / class->parts == t) {
        if (next) {
          next = false;
          break;
        }
        class->new_tensor = whole * t + r;
        class->new_tile = t;
        return true;
      }
  return false;
}

static int by_parts(const void *a, const void *b) {
  const AxisClass *x = *(AxisClass *const *)a, *y = *(AxisClass *const *)b;
  int64_t px = x->largest / x->divisor, py = y->largest / y->divisor;
  return px != py ? (px < py) - (px > py) : (x > y) - (x < y);
}

// Returns whether any class got smaller.
static MirageStatus choose(Shrink *shrink, bool *out_smaller) {
  static const int64_t sizes[][8] = {
      [SHRINK_SMALLEST] = {2, 3, 5, 7, 2, 3, 5, 7},
      [SHRINK_OTHER] = {3, 5, 7, 11, 13, 17, 19, 23},
      [SHRINK_TILES] = {16, 32, 24, 16, 32, 24, 16, 32},
  };
  const int64_t *ragged = sizes[shrink->sizes == SHRINK_OTHER ? SHRINK_SMALLEST : shrink->sizes];
  bool next = shrink->sizes == SHRINK_OTHER;
  AxisClass **order = malloc((shrink->num_dims + 1) * sizeof(AxisClass *));
  uint32_t count = 0;
  if (!order)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < shrink->num_dims; i++)
    if (shrink->parent[i] == i && shrink->classes[i].divisor > 1)
      order[count++] = &shrink->classes[i];
  qsort(order, count, sizeof *order, by_parts);
  *out_smaller = false;
  for (uint32_t i = 0; i < count; i++) {
    AxisClass *class = order[i];
    int64_t size = sizes[shrink->sizes][i % 8];
    class->numerator = class->frozen || class->tensor || size >= class->divisor ? class->divisor : size;
    if (class->tensor && !class->frozen && !class->several)
      *out_smaller |= choose_ragged(class, ragged[i % 8], next);
    *out_smaller |= class->numerator < class->divisor;
  }
  for (uint32_t i = 0; i < shrink->num_dims; i++) // ragged classes with coprime extents are not in `order`
    if (shrink->parent[i] == i && shrink->classes[i].divisor == 1 && shrink->classes[i].tensor &&
        !shrink->classes[i].frozen && !shrink->classes[i].several)
      *out_smaller |= choose_ragged(&shrink->classes[i], ragged[0], next);
  free(order);
  return MIRAGE_OK;
}

static int64_t new_extent(Shrink *shrink, uint32_t dim, int64_t old) {
  const AxisClass *class = &shrink->classes[find(shrink, dim)];
  if (class->new_tensor)
    return old == class->tensor ? class->new_tensor : class->new_tile;
  return class->divisor > 1 ? old / class->divisor * class->numerator : old;
}

static MirageType new_type(Shrink *shrink, int g, MirageValue v) {
  MirageType type = *mirage_ugraph_type(shrink->graphs[g], v);
  for (uint32_t d = 0; d < type.rank; d++)
    type.shape[d] = new_extent(shrink, dim_of(shrink, g, v, d), type.shape[d]);
  type.layout = (MirageLayout){0};
  if (type.space == MIRAGE_SPACE_SHARED || type.space == MIRAGE_SPACE_REGISTER)
    type.space = MIRAGE_SPACE_TILE;
  return type;
}

// --------------------------------------------------------------------------------------------- constants from extents

// How many elements a node of the source sums, before and after shrinking; 0 when it sums none.
static int64_t summed_by(Shrink *shrink, const MirageNodeView *node, int64_t *out_new) {
  const MirageUGraph *graph = shrink->graphs[0];
  MirageOpKind kind = mirage_op_info(node->op)->kind;
  *out_new = 0;
  if (kind != MIRAGE_KIND_REDUCE && kind != MIRAGE_KIND_MATMUL)
    return 0;
  MirageValue a = node->operands[0];
  const MirageType *type = mirage_ugraph_type(graph, a);
  bool flip = kind == MIRAGE_KIND_MATMUL && node->attrs && node->attrs->matmul.transpose_a;
  uint32_t d = kind == MIRAGE_KIND_REDUCE ? (uint32_t)node->attrs->reduce.dim : type->rank - 1 - flip;
  int64_t old = type->shape[d], left = kind == MIRAGE_KIND_REDUCE ? node->attrs->reduce.extent : 1;
  *out_new = new_extent(shrink, dim_of(shrink, 0, a, d), old) /
             (left > 1 ? new_extent(shrink, dim_of(shrink, 0, node->first_result, d), left) : 1);
  return old / left;
}

// The value that a constant of either graph takes.
static double constant_value(Shrink *shrink, double value) {
  double count = value > 0 && value < 1 ? 1 / value : value;
  int64_t found = 0;
  if (!shrink->follow || count < 2 || count != floor(count))
    return value;
  for (uint32_t n = 1; n <= mirage_ugraph_num_nodes(shrink->graphs[0]); n++) {
    MirageNodeView node = mirage_ugraph_node(shrink->graphs[0], (MirageNode){n});
    int64_t new, old = summed_by(shrink, &node, &new);
    if ((double)old != count)
      continue;
    if (found && found != new) // two axes of this extent: it cannot be told which is meant
      return value;
    found = new;
  }
  if (!found || (double)found == count)
    return value;
  shrink->followed = true;
  return value < 1 ? 1.0 / (double)found : (double)found;
}

// ------------------------------------------------------------------------------------------------------------- copying

typedef struct Copy {
  Shrink *shrink;
  int g;
  MirageUGraph *to;
  MirageValue *map;
  bool mismatch; // an inferred shape is not the planned one
} Copy;

static void copy_region(Copy *copy, MirageRegion region);

// Pairs a value with its copy, whose shape must be the planned one.
static void pair(Copy *copy, MirageValue old, MirageValue new) {
  MirageType planned = new_type(copy->shrink, copy->g, old);
  copy->map[old.index] = new;
  if (new.index && !mirage_type_same_shape(&planned, mirage_ugraph_type(copy->to, new)))
    copy->mismatch = true;
}

// A mean divides by the number of elements that the original sums.
static MirageValue copy_mean(Copy *copy, const MirageNodeView *node, MirageValue a, const MirageAttrs *attrs) {
  const MirageType *type = mirage_ugraph_type(copy->shrink->graphs[copy->g], node->operands[0]);
  double summed = (double)(type->shape[node->attrs->reduce.dim] / node->attrs->reduce.extent);
  MirageValue sum = mirage_ugraph_apply(copy->to, MIRAGE_OP_REDUCE_SUM, 1, &a, attrs);
  if (!sum.index)
    return sum;
  MirageType one = *mirage_ugraph_type(copy->to, sum);
  for (uint32_t d = 0; d < one.rank; d++)
    one.shape[d] = 1;
  MirageValue count = mirage_ugraph_constant(copy->to, one, constant_value(copy->shrink, summed));
  return mirage_ugraph_apply(copy->to, MIRAGE_OP_DIV, 2, (MirageValue[]){sum, count}, NULL);
}

static void copy_window(Copy *copy, MirageValue tensor, MirageAccessAttrs *access) {
  for (uint32_t d = 0; d < rank_of(copy->shrink, copy->g, tensor); d++) {
    uint32_t dim = seen_dim(copy->shrink, copy->g, tensor, access, d);
    if (!access->end[d])
      continue;
    copy->mismatch |= copy->shrink->classes[find(copy->shrink, dim)].new_tensor != 0; // as for a slice
    access->begin[d] = new_extent(copy->shrink, dim, access->begin[d]);
    access->end[d] = new_extent(copy->shrink, dim, access->end[d]);
  }
}

static void copy_plain(Copy *copy, const MirageNodeView *node, const MirageValue *operands) {
  MirageAttrs attrs = node->attrs ? *node->attrs : (MirageAttrs){0};
  MirageAttrsKind kind = mirage_op_info(node->op)->attrs;
  Shrink *shrink = copy->shrink;
  if (kind == MIRAGE_ATTRS_SHAPE) {
    attrs.shape.type = new_type(shrink, copy->g, node->first_result);
  } else if (kind == MIRAGE_ATTRS_CONSTANT) {
    attrs.constant.type = new_type(shrink, copy->g, node->first_result);
    attrs.constant.value = constant_value(shrink, attrs.constant.value);
  } else if (kind == MIRAGE_ATTRS_REDUCE) {
    uint32_t dim = dim_of(shrink, copy->g, node->first_result, (uint32_t)attrs.reduce.dim);
    attrs.reduce.extent = new_extent(shrink, dim, attrs.reduce.extent);
  } else if (kind == MIRAGE_ATTRS_SLICE) {
    uint32_t dim = dim_of(shrink, copy->g, node->operands[0], (uint32_t)attrs.slice.dim);
    copy->mismatch |= shrink->classes[find(shrink, dim)].new_tensor != 0; // no rule for a slice of a ragged axis
    attrs.slice.begin = new_extent(shrink, dim, attrs.slice.begin);
    attrs.slice.end = new_extent(shrink, dim, attrs.slice.end);
  }
  if (kind == MIRAGE_ATTRS_ACCESS)
    copy_window(copy, node->op == MIRAGE_OP_LOAD ? node->operands[0] : node->operands[1], &attrs.access);
  MirageValue result;
  if (node->op == MIRAGE_OP_REDUCE_MEAN)
    result = copy_mean(copy, node, operands[0], &attrs);
  else
    result = mirage_ugraph_apply(copy->to, node->op, node->num_operands, operands,
                                 kind == MIRAGE_ATTRS_NONE ? NULL : &attrs);
  if (node->num_results)
    pair(copy, node->first_result, result);
}

static void copy_structure(Copy *copy, const MirageNodeView *node, const MirageValue *operands) {
  const MirageUGraph *from = copy->shrink->graphs[copy->g];
  MirageRegionView body = mirage_ugraph_region(from, node->region);
  MirageNode opened;
  if (node->op == MIRAGE_OP_LOOP) {
    opened = mirage_ugraph_open_loop(copy->to, node->num_operands, operands, &node->attrs->loop);
  } else if (node->op == MIRAGE_OP_THREAD) {
    opened = mirage_ugraph_open_thread(copy->to, node->num_operands, operands);
  } else {
    MirageCustomAttrs attrs = node->attrs->custom;
    MirageType *results = malloc((node->num_results + 1) * sizeof *results);
    if (!results) {
      copy->mismatch = true;
      return;
    }
    for (uint32_t i = 0; i < node->num_results; i++)
      results[i] = new_type(copy->shrink, copy->g, (MirageValue){node->first_result.index + i});
    attrs.schedule = NULL; // neither changes a result
    attrs.launch = NULL;
    opened = mirage_ugraph_open_custom(copy->to, node->num_operands, operands, node->num_results, results, &attrs);
    free(results);
  }
  if (!opened.index)
    return;
  for (uint32_t i = 0; i < body.num_arguments; i++)
    pair(copy, (MirageValue){body.first_argument.index + i}, mirage_ugraph_argument(copy->to, opened, i));
  copy_region(copy, node->region);
  for (uint32_t i = 0; i < node->num_results && mirage_ugraph_status(copy->to) == MIRAGE_OK; i++)
    pair(copy, (MirageValue){node->first_result.index + i}, mirage_ugraph_result(copy->to, opened, i));
}

static void copy_node(Copy *copy, const MirageNodeView *node) {
  MirageValue *operands = malloc((node->num_operands + 1) * sizeof *operands);
  if (!operands) {
    copy->mismatch = true;
    return;
  }
  for (uint32_t i = 0; i < node->num_operands; i++)
    operands[i] = copy->map[node->operands[i].index];
  mirage_ugraph_set_loc(copy->to, node->loc);
  if (node->region.index)
    copy_structure(copy, node, operands);
  else if (node->op == MIRAGE_OP_YIELD)
    mirage_ugraph_close(copy->to, node->num_operands, operands);
  else if (node->op == MIRAGE_OP_RETURN)
    mirage_ugraph_return(copy->to, node->num_operands, operands);
  else
    copy_plain(copy, node, operands);
  free(operands);
}

static void copy_region(Copy *copy, MirageRegion region) {
  const MirageUGraph *from = copy->shrink->graphs[copy->g];
  MirageRegionView view = mirage_ugraph_region(from, region);
  for (uint32_t i = 0; i < view.num_nodes && mirage_ugraph_status(copy->to) == MIRAGE_OK; i++) {
    MirageNodeView node = mirage_ugraph_node(from, view.nodes[i]);
    copy_node(copy, &node);
  }
  if (view.owner.index && mirage_ugraph_node(from, view.owner).op == MIRAGE_OP_CUSTOM)
    mirage_ugraph_close(copy->to, 0, NULL);
}

static bool copy_graph(Shrink *shrink, int g, MirageUGraph **out_graph) {
  const MirageUGraph *from = shrink->graphs[g];
  Copy copy = {.shrink = shrink, .g = g, .to = mirage_ugraph_create(NULL, mirage_ugraph_get_meta(from)->name, NULL)};
  copy.map = calloc(mirage_ugraph_num_values(from) + 1, sizeof *copy.map);
  bool ok = copy.to && copy.map;
  if (ok) {
    for (uint32_t i = 0; i < mirage_ugraph_num_inputs(from); i++) {
      MirageValue input = mirage_ugraph_get_input(from, i);
      copy.map[input.index] = mirage_ugraph_input(copy.to, new_type(shrink, g, input));
    }
    copy_region(&copy, mirage_ugraph_body(from));
    ok = mirage_ugraph_finish(copy.to) == MIRAGE_OK && !copy.mismatch;
  }
  free(copy.map);
  if (!ok) {
    mirage_ugraph_destroy(copy.to);
    copy.to = NULL;
  }
  *out_graph = copy.to;
  return ok;
}

static MirageStatus shrink_pair(Shrink *shrink, MirageUGraph **out_source, MirageUGraph **out_target) {
  for (uint32_t i = 0; i < shrink->num_dims; i++)
    shrink->parent[i] = i;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(shrink->graphs[0]); i++)
    same_value(shrink, 0, mirage_ugraph_get_input(shrink->graphs[0], i), 1,
               mirage_ugraph_get_input(shrink->graphs[1], i));
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(shrink->graphs[0]); i++)
    same_value(shrink, 0, mirage_ugraph_get_output(shrink->graphs[0], i), 1,
               mirage_ugraph_get_output(shrink->graphs[1], i));
  for (int g = 0; g < 2; g++)
    tie_region(shrink, g, mirage_ugraph_body(shrink->graphs[g]));
  freeze_private(shrink);
  measure(shrink);
  bool smaller;
  MIRAGE_TRY(choose(shrink, &smaller));
  if (!smaller) {
    snprintf(shrink->reason, 160, "no axis can be shrunk");
    return MIRAGE_OK;
  }
  if (!copy_graph(shrink, 0, out_source) || !copy_graph(shrink, 1, out_target)) {
    snprintf(shrink->reason, 160, "the axes have no common shrunken instance");
    mirage_ugraph_destroy(*out_source);
    *out_source = NULL;
  }
  return MIRAGE_OK;
}

MirageStatus mirage__verify_shrink(const MirageUGraph *source, const MirageUGraph *target, ShrinkSizes sizes,
                                   bool *follow, MirageUGraph **out_source, MirageUGraph **out_target, char *reason) {
  Shrink shrink = {.graphs = {source, target}, .follow = *follow, .sizes = sizes, .reason = reason};
  shrink.base[1] = (mirage_ugraph_num_values(source) + 1) * MIRAGE_MAX_RANK;
  shrink.num_dims = shrink.base[1] + (mirage_ugraph_num_values(target) + 1) * MIRAGE_MAX_RANK;
  shrink.parent = malloc(shrink.num_dims * sizeof *shrink.parent);
  shrink.classes = calloc(shrink.num_dims, sizeof *shrink.classes);
  *out_source = *out_target = NULL;
  MirageStatus status =
      shrink.parent && shrink.classes ? shrink_pair(&shrink, out_source, out_target) : MIRAGE_NO_MEMORY;
  *follow = shrink.followed;
  free(shrink.parent);
  free(shrink.classes);
  return status;
}
