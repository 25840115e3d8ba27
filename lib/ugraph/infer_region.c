// infer_region.c - the rules that need more than operand types: how tiles lie in tensors (load, store), what blocks do
// together (collectives), and what loop and custom promise.
//
// Example:     n = 6144 on grid axis x of 128 blocks: chunk = ceil(6144 / 128) = 48, tile extent 48.
//              n = 4096 in a loop of 32: chunk 128. Both on one dimension of 4096, grid 3 outside a loop of 10:
//              ceil(4096 / 3) = 1366, ceil(1366 / 10) = 137; the last tile of each chunk is ragged.
//              n = 3000 over 24 blocks with tiles = 128: 23 tiles of 128, and one that holds 56.
// Source:      [Mirage 2] for the maps; ragged tails and split reductions are ours.
#include "ugraph_internal.h"

#include <inttypes.h>
#include <stddef.h>

enum { MOST_BEYOND = 1 << 16 }; // elements of a tile past the end of a dimension that nothing splits

static const InferCall LOOP = {.name = "loop", .level = MIRAGE_LEVEL_BLOCK};

// ------------------------------------------------------------------------------------------ access

// A map entry names a dimension of the tensor, or none (-1).
static MirageStatus check_entry(const InferCall *call, const char *map, uint32_t index, int8_t dim, uint32_t rank) {
  if (dim < -1 || dim >= (int)rank)
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "%s map entry %u is %d, out of range for rank %u", map, index, dim,
                      rank);
  return MIRAGE_OK;
}

static int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

uint32_t mirage_access_dim(const MirageAccessAttrs *access, uint32_t dim) {
  return access->order[0] == access->order[1] ? dim : (uint32_t)access->order[dim];
}

int64_t mirage_access_extent(const MirageAccessAttrs *access, const MirageType *tensor, uint32_t dim) {
  return access->end[dim] ? access->end[dim] - access->begin[dim] : tensor->shape[mirage_access_dim(access, dim)];
}

uint32_t mirage_access_splits(const MirageAccessAttrs *access, uint32_t dim, uint8_t out_splits[MIRAGE_MAX_SPLITS]) {
  uint32_t count = 0;
  for (uint8_t l = 0; l < MIRAGE_MAX_LOOPS && access->cyclic; l++)
    if (access->loop[l] == (int8_t)dim)
      out_splits[count++] = (uint8_t)(3 + l);
  for (uint8_t a = 0; a < 3; a++)
    if (access->grid[a] == (int8_t)dim)
      out_splits[count++] = a;
  for (uint8_t l = 0; l < MIRAGE_MAX_LOOPS && !access->cyclic; l++)
    if (access->loop[l] == (int8_t)dim)
      out_splits[count++] = (uint8_t)(3 + l);
  return count;
}

bool mirage_access_may_cycle(const MirageAccessAttrs *access) {
  for (uint32_t a = 0; a < 3; a++)
    for (uint32_t l = 0; l < MIRAGE_MAX_LOOPS; l++)
      if (access->grid[a] >= 0 && access->grid[a] == access->loop[l])
        return true;
  return false;
}

void mirage_access_chunks(const MirageAccessAttrs *access, uint32_t dim, int64_t extent, uint32_t count,
                          const int64_t *parts, int64_t *out_chunks) {
  int64_t tiles = 1;
  out_chunks[0] = extent;
  for (uint32_t i = 0; i < count && !access->tiles[dim]; i++)
    out_chunks[i + 1] = ceil_div(out_chunks[i], parts[i]);
  for (uint32_t i = count; i-- > 0 && access->tiles[dim]; tiles *= parts[i])
    out_chunks[i + 1] = access->tiles[dim] * tiles;
}

static MirageStatus check_order(const InferCall *call, const MirageType *tensor, const MirageAccessAttrs *access) {
  bool given = false;
  uint32_t seen = 0;
  for (uint32_t d = 0; d < MIRAGE_MAX_RANK; d++)
    given |= access->order[d] != 0;
  for (uint32_t d = 0; d < MIRAGE_MAX_RANK && given; d++) {
    int8_t dim = access->order[d];
    if (d >= tensor->rank ? dim != 0 : dim < 0 || dim >= (int)tensor->rank || seen >> dim & 1)
      return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT,
                        "order entry %u is %d, which makes it no permutation of %u dimensions", d, dim, tensor->rank);
    seen |= 1u << dim;
  }
  if (given && access->order[tensor->rank - 1] != (int)tensor->rank - 1)
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "order puts dimension %d last, the last one of %u must stay there",
                      access->order[tensor->rank - 1], tensor->rank);
  return MIRAGE_OK;
}

static MirageStatus check_window(const InferCall *call, const MirageType *tensor, const MirageAccessAttrs *access) {
  for (uint32_t d = 0; d < MIRAGE_MAX_RANK; d++) {
    int64_t begin = access->begin[d], end = access->end[d], extent = 0;
    if (d < tensor->rank)
      extent = tensor->shape[mirage_access_dim(access, d)];
    if (begin < 0 || end < 0 || end > extent || (end ? begin >= end : begin > 0))
      return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT,
                        "window [%" PRId64 ", %" PRId64 ") of dimension %u does not lie in its %" PRId64 " elements",
                        begin, end, d, extent);
  }
  return MIRAGE_OK;
}

static MirageStatus check_maps(const InferCall *call, const MirageType *tensor, const MirageAccessAttrs *access) {
  for (uint32_t axis = 0; axis < 3; axis++)
    MIRAGE_TRY(check_entry(call, "grid", axis, access->grid[axis], tensor->rank));
  for (uint32_t level = 0; level < MIRAGE_MAX_LOOPS; level++) {
    MIRAGE_TRY(check_entry(call, "loop", level, access->loop[level], tensor->rank));
    if (access->loop[level] >= 0 && level >= call->scope->num_loops)
      return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "loop map names loop %u, but %u loops enclose it", level,
                        call->scope->num_loops);
  }
  if (access->cyclic && !mirage_access_may_cycle(access))
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "%s",
                      "is cyclic, and no dimension is split by both the grid and a loop: leave that out, or name one "
                      "dimension in both maps");
  return MIRAGE_OK;
}

typedef struct Cuts { // of one dimension, outermost first
  uint32_t count;
  int64_t parts[MIRAGE_MAX_SPLITS];
} Cuts;

static Cuts cuts_of(const MirageScope *scope, const MirageAccessAttrs *access, uint32_t dim) {
  uint8_t splits[MIRAGE_MAX_SPLITS];
  Cuts cuts = {.count = mirage_access_splits(access, dim, splits)};
  for (uint32_t i = 0; i < cuts.count; i++)
    cuts.parts[i] = splits[i] < 3 ? scope->grid[splits[i]] : scope->ranges[splits[i] - 3];
  return cuts;
}

// Tiles of a given extent have to cover the dimension, and each outermost part some of it.
static MirageStatus check_tile(const InferCall *call, const MirageAccessAttrs *access, uint32_t dim, int64_t extent,
                               const Cuts *cuts) {
  int64_t tile = access->tiles[dim], part = tile, all;
  if (!tile)
    return MIRAGE_OK;
  bool fits = tile > 0 && tile <= extent + MOST_BEYOND;
  for (uint32_t i = cuts->count; fits && i-- > 1;)
    fits = !__builtin_mul_overflow(part, cuts->parts[i], &part);
  fits = fits && !__builtin_mul_overflow(part, cuts->count ? cuts->parts[0] : 1, &all);
  if (!fits || all < extent || all - part >= extent)
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT,
                      "tiles of %" PRId64 " along dimension %u do not cut its %" PRId64
                      " elements into as many parts as the grid and the loops say, none of them empty",
                      tile, dim, extent);
  return MIRAGE_OK;
}

static MirageStatus access_tile(const InferCall *call, const MirageType *tensor, const MirageAccessAttrs *access,
                                MirageType *out_tile) {
  if (tensor->space != MIRAGE_SPACE_DEVICE)
    return INFER_FAIL(call, MIRAGE_BAD_TYPE, "%s", "accesses a tensor in device memory, a tile is given");
  if ((uint32_t)access->fill > MIRAGE_FILL_BOTTOM)
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "fill %d does not exist", (int)access->fill);
  if (access->fill == MIRAGE_FILL_BOTTOM && mirage_dtype_family(tensor->dtype) != MIRAGE_FAMILY_FLOAT)
    return INFER_FAIL(call, MIRAGE_BAD_TYPE, "fills with bottom, and there is none in %s",
                      mirage_dtype_name(tensor->dtype));
  MIRAGE_TRY(check_order(call, tensor, access));
  MIRAGE_TRY(check_window(call, tensor, access));
  MIRAGE_TRY(check_maps(call, tensor, access));
  MirageType tile = *tensor;
  for (uint32_t d = 0; d < MIRAGE_MAX_RANK; d++) {
    int64_t chunks[MIRAGE_MAX_SPLITS + 1], extent = d < tensor->rank ? mirage_access_extent(access, tensor, d) : 0;
    Cuts cuts = cuts_of(call->scope, access, d);
    MIRAGE_TRY(check_tile(call, access, d, extent, &cuts));
    mirage_access_chunks(access, d, extent, cuts.count, cuts.parts, chunks);
    if (d < tensor->rank)
      tile.shape[d] = access->tiles[d] ? access->tiles[d] : chunks[cuts.count];
  }
  return mirage__result(call, tile.dtype, tile.rank, tile.shape, out_tile);
}

static MirageStatus check_scope(const InferCall *call, const MirageScope *scope) {
  for (int axis = 0; axis < 3; axis++)
    if (scope->grid[axis] < 1)
      return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "grid axis %d has %" PRId64 " blocks", axis, scope->grid[axis]);
  if (scope->num_loops > MIRAGE_MAX_LOOPS)
    return INFER_FAIL(call, MIRAGE_LIMIT, "%u loops enclose it, at most %d are supported", scope->num_loops,
                      MIRAGE_MAX_LOOPS);
  for (uint32_t i = 0; i < scope->num_loops; i++)
    if (scope->ranges[i] < 1)
      return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "loop %u has range %" PRId64, i, scope->ranges[i]);
  return MIRAGE_OK;
}

MirageStatus mirage_access_tile(const MirageType *tensor, const MirageAccessAttrs *access, const MirageScope *scope,
                                const MirageDiag *diag, const void *loc, MirageType *out_tile) {
  InferCall call = {.name = "access", .level = MIRAGE_LEVEL_BLOCK, .scope = scope, .diag = diag, .loc = loc};
  MIRAGE_TRY(mirage__check_type(&call, "tensor", 0, tensor));
  MIRAGE_TRY(check_scope(&call, scope));
  return access_tile(&call, tensor, access, out_tile);
}

MirageStatus mirage__infer_load(const InferCall *call, MirageType *out_result) {
  if (!call->scope)
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "%s", "stands outside a custom kernel");
  MIRAGE_TRY(check_scope(call, call->scope));
  MirageDType dtype = call->operands[0].dtype;
  if (mirage_dtype_is_stored(dtype) && call->attrs->access.fill == MIRAGE_FILL_BOTTOM)
    return INFER_FAIL(call, MIRAGE_BAD_TYPE, "%s, a stored type, has no bottom to fill with", mirage_dtype_name(dtype));
  return access_tile(call, &call->operands[0], &call->attrs->access, out_result);
}

MirageStatus mirage__infer_store(const InferCall *call) {
  const MirageType *tile = &call->operands[0];
  MirageType expected;
  char left[TYPE_TEXT_BYTES], right[TYPE_TEXT_BYTES];
  MIRAGE_TRY(mirage__check_space(call, 0, tile));
  if (call->operands[1].space != MIRAGE_SPACE_DEVICE)
    return INFER_FAIL(call, MIRAGE_BAD_TYPE, "%s", "operand 1 is a tile, store writes to a tensor");
  if (!call->scope)
    return MIRAGE_OK;
  MIRAGE_TRY(check_scope(call, call->scope));
  MIRAGE_TRY(access_tile(call, &call->operands[1], &call->attrs->access, &expected));
  expected.dtype = tile->dtype; // a store rounds to the tensor's element type
  MirageDType stored = call->operands[1].dtype;
  if (mirage_dtype_family(tile->dtype) != mirage_dtype_family(stored))
    return INFER_FAIL(call, MIRAGE_BAD_TYPE, "a tile of %s does not go into a tensor of %s",
                      mirage_dtype_name(tile->dtype), mirage_dtype_name(stored));
  if (!mirage_type_same_shape(tile, &expected))
    return INFER_FAIL(call, MIRAGE_BAD_SHAPE, "tile does not fit the tensor's part: %s vs %s",
                      mirage_type_format(tile, left, sizeof left), mirage_type_format(&expected, right, sizeof right));
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------- collectives

// All blocks that differ only in the named axes take part. So a cluster collective needs a cluster that spans them: the
// hardware lets only blocks of one cluster meet.
MirageStatus mirage__infer_collective(const InferCall *call, MirageType *out_result) {
  const MirageType *a = &call->operands[0];
  const MirageScope *scope = call->scope;
  bool in_cluster = call->op == MIRAGE_OP_CLUSTER_SUM || call->op == MIRAGE_OP_CLUSTER_MAX;
  bool any = false;
  for (int axis = 0; axis < 3; axis++) {
    if (!call->attrs->axes.axis[axis])
      continue;
    any = true;
    if (scope && in_cluster && scope->cluster[axis] != scope->grid[axis])
      return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "axis %d has %" PRId64 " blocks, the cluster spans %" PRId64, axis,
                        scope->grid[axis], scope->cluster[axis]);
  }
  if (!any)
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "%s", "names no grid axis");
  bool sums = call->op == MIRAGE_OP_CLUSTER_SUM || call->op == MIRAGE_OP_GRID_SUM;
  if (sums && a->dtype == MIRAGE_I32)
    return mirage__result(call, MIRAGE_I32, a->rank, a->shape, out_result);
  if (mirage_dtype_family(a->dtype) != MIRAGE_FAMILY_FLOAT)
    return INFER_FAIL(call, MIRAGE_BAD_TYPE, "operand 0 is of %s, floating-point numbers are needed",
                      mirage_dtype_name(a->dtype));
  return mirage__result(call, MIRAGE_F32, a->rank, a->shape, out_result);
}

// -------------------------------------------------------------------------------------------- loop

MirageStatus mirage__check_loop_start(const MirageLoopAttrs *attrs, uint32_t num_inits, const MirageType *inits,
                                      const MirageDiag *diag, const void *loc) {
  InferCall call = LOOP;
  call.diag = diag;
  call.loc = loc;
  if (attrs->range < 1)
    return INFER_FAIL(&call, MIRAGE_BAD_ARGUMENT, "range is %" PRId64 ", at least 1 is needed", attrs->range);
  if (attrs->num_carries != num_inits || (num_inits && !attrs->carries))
    return INFER_FAIL(&call, MIRAGE_BAD_ARGUMENT, "numbers of carries and initial values differ: %u vs %u",
                      attrs->carries ? attrs->num_carries : 0, num_inits);
  for (uint32_t i = 0; i < num_inits; i++) {
    const MirageCarry *carry = &attrs->carries[i];
    const MirageType *init = &inits[i];
    MIRAGE_TRY(mirage__check_type(&call, "initial value", i, init));
    MIRAGE_TRY(mirage__check_space(&call, i, init));
    if ((uint32_t)carry->combine > MIRAGE_COMBINE_ASSIGN)
      return INFER_FAIL(&call, MIRAGE_BAD_ARGUMENT, "carry %u has an unknown combine: %d", i, (int)carry->combine);
    if (mirage_dtype_is_stored(init->dtype))
      return INFER_FAIL(&call, MIRAGE_BAD_TYPE, "carry %u is %s, a stored type; cast it to f16, bf16 or f32 first", i,
                        mirage_dtype_name(init->dtype));
    if (init->dtype == MIRAGE_I32 && carry->combine == MIRAGE_COMBINE_SUM)
      continue;
    if (mirage_dtype_family(init->dtype) != MIRAGE_FAMILY_FLOAT)
      return INFER_FAIL(&call, MIRAGE_BAD_TYPE, "carry %u is of %s, floating-point numbers are needed", i,
                        mirage_dtype_name(init->dtype));
    bool adds = carry->combine == MIRAGE_COMBINE_SUM || carry->combine == MIRAGE_COMBINE_RESCALE;
    if (adds && init->dtype != MIRAGE_F32)
      return INFER_FAIL(&call, MIRAGE_BAD_TYPE, "carry %u accumulates in %s, f32 is needed", i,
                        mirage_dtype_name(init->dtype));
    if (carry->combine != MIRAGE_COMBINE_CONCAT)
      continue;
    if (carry->dim < 0 || (uint32_t)carry->dim >= init->rank)
      return INFER_FAIL(&call, MIRAGE_BAD_ARGUMENT, "carry %u: dimension %d is out of range for rank %u", i, carry->dim,
                        init->rank);
    if (init->shape[carry->dim] % attrs->range != 0)
      return INFER_FAIL(&call, MIRAGE_BAD_SHAPE, "carry %u: range %" PRId64 " does not divide extent %" PRId64, i,
                        attrs->range, init->shape[carry->dim]);
  }
  return MIRAGE_OK;
}

// A sum may take contributions of any element type, since it adds in f32; but integers go into a sum of integers alone. A
// maximum takes its own or goes to f32;
// concat and assign move data and so keep the type.
static MirageStatus check_contribution(const InferCall *call, uint32_t i, const MirageLoopAttrs *attrs,
                                       const MirageType *init, const MirageType *given) {
  MirageCombine combine = attrs->carries[i].combine;
  MirageType expected = *init;
  char left[TYPE_TEXT_BYTES], right[TYPE_TEXT_BYTES];
  if (combine == MIRAGE_COMBINE_CONCAT)
    expected.shape[attrs->carries[i].dim] /= attrs->range;
  if (!mirage_type_same_shape(&expected, given))
    return INFER_FAIL(call, MIRAGE_BAD_SHAPE, "contribution %u does not fit its carry: %s vs %s", i,
                      mirage_type_format(given, left, sizeof left), mirage_type_format(&expected, right, sizeof right));
  bool converts = combine == MIRAGE_COMBINE_SUM || combine == MIRAGE_COMBINE_RESCALE ||
                  (combine == MIRAGE_COMBINE_MAX && init->dtype == MIRAGE_F32);
  converts = converts && init->dtype != MIRAGE_I32 && given->dtype != MIRAGE_I32;
  if (!converts && init->dtype != given->dtype)
    return INFER_FAIL(call, MIRAGE_BAD_TYPE, "contribution %u and its carry differ in element type: %s vs %s", i,
                      mirage_dtype_name(given->dtype), mirage_dtype_name(init->dtype));
  return MIRAGE_OK;
}

// A factor broadcasts against its carry without stretching the carry.
static MirageStatus check_factor(const InferCall *call, uint32_t i, const MirageType *init, const MirageType *factor) {
  char left[TYPE_TEXT_BYTES], right[TYPE_TEXT_BYTES];
  bool fits = factor->rank <= init->rank;
  for (uint32_t d = 0; fits && d < factor->rank; d++) { // d counts from the right
    int64_t have = factor->shape[factor->rank - 1 - d];
    fits = have == 1 || have == init->shape[init->rank - 1 - d];
  }
  if (!fits)
    return INFER_FAIL(call, MIRAGE_BAD_SHAPE, "factor of carry %u does not broadcast to it: %s vs %s", i,
                      mirage_type_format(factor, left, sizeof left), mirage_type_format(init, right, sizeof right));
  return MIRAGE_OK;
}

MirageStatus mirage_op_check_loop(const MirageLoopAttrs *attrs, uint32_t num_inits, const MirageType *inits,
                                  uint32_t num_yielded, const MirageType *yielded, const MirageDiag *diag,
                                  const void *loc) {
  InferCall call = LOOP;
  call.diag = diag;
  call.loc = loc;
  MIRAGE_TRY(mirage__check_loop_start(attrs, num_inits, inits, diag, loc));
  uint32_t num_factors = 0;
  for (uint32_t i = 0; i < num_inits; i++)
    num_factors += attrs->carries[i].combine == MIRAGE_COMBINE_RESCALE;
  if (num_yielded != num_inits + num_factors)
    return INFER_FAIL(&call, MIRAGE_BAD_GRAPH, "yields %u values, %u carries and %u factors are needed", num_yielded,
                      num_inits, num_factors);
  for (uint32_t i = 0; i < num_yielded; i++) {
    MIRAGE_TRY(mirage__check_type(&call, "yielded value", i, &yielded[i]));
    MIRAGE_TRY(mirage__check_space(&call, i, &yielded[i]));
  }
  const MirageType *factor = yielded + num_inits;
  for (uint32_t i = 0; i < num_inits; i++) {
    MIRAGE_TRY(check_contribution(&call, i, attrs, &inits[i], &yielded[i]));
    if (attrs->carries[i].combine == MIRAGE_COMBINE_RESCALE)
      MIRAGE_TRY(check_factor(&call, i, &inits[i], factor++));
  }
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------ custom

// Limits that every GPU since sm_80 shares; a target's own (shared memory, clusters at all) are the planner's business.
enum { MAX_THREADS = 1024, MAX_CLUSTER_BLOCKS = 16 };

static const int64_t MAX_GRID[3] = {INT32_MAX, 65535, 65535};

static MirageStatus check_grid(const InferCall *call, const MirageCustomAttrs *attrs) {
  int64_t blocks = 1;
  for (int axis = 0; axis < 3; axis++) {
    int64_t grid = attrs->grid[axis], cluster = attrs->cluster[axis];
    if (grid < 1 || grid > MAX_GRID[axis])
      return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "grid axis %d has %" PRId64 " blocks, 1 to %" PRId64 " are possible",
                        axis, grid, MAX_GRID[axis]);
    if (cluster < 1 || grid % cluster != 0)
      return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "cluster does not divide grid axis %d: %" PRId64 " vs %" PRId64,
                        axis, cluster, grid);
    blocks = cluster > MAX_CLUSTER_BLOCKS ? cluster : blocks * cluster; // at most 16 * 16 * 16 before the check below
    if (blocks > MAX_CLUSTER_BLOCKS)
      return INFER_FAIL(call, MIRAGE_LIMIT, "cluster has %" PRId64 " blocks or more, at most %d are possible", blocks,
                        MAX_CLUSTER_BLOCKS);
  }
  return MIRAGE_OK;
}

static MirageStatus check_map(const InferCall *call, const MirageTensorMap *map) {
  if (!mirage_dtype_exists((int)map->dtype) || map->swizzle < 0 || map->swizzle > 3)
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "tensor map has an unknown element type or swizzle: %d, %d",
                      (int)map->dtype, map->swizzle);
  if (map->rank < 1 || map->rank > MIRAGE_MAP_RANK)
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "tensor map has rank %u, 1 to %d are possible", map->rank,
                      MIRAGE_MAP_RANK);
  for (uint32_t d = 0; d < map->rank; d++) {
    if (map->extents[d] < 1 || map->strides[d] < 1)
      return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT,
                        "tensor map dimension %u has extent %" PRId64 " and stride %" PRId64 ", at least 1 is needed",
                        d, map->extents[d], map->strides[d]);
    if (map->box[d] < 1 || map->box[d] > 256)
      return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "tensor map dimension %u has box %d, 1 to 256 are possible", d,
                        map->box[d]);
  }
  return MIRAGE_OK;
}

MirageStatus mirage__check_launch(const MirageLaunch *launch, const MirageDiag *diag, const void *loc) {
  InferCall call = {.name = "custom", .diag = diag, .loc = loc};
  if (!launch->kernel || !*launch->kernel)
    return INFER_FAIL(&call, MIRAGE_BAD_ARGUMENT, "%s", "launch names no kernel");
  if (launch->threads < 1 || launch->threads > MAX_THREADS)
    return INFER_FAIL(&call, MIRAGE_BAD_ARGUMENT, "launch has %d threads, 1 to %d are possible", launch->threads,
                      MAX_THREADS);
  if (launch->shared_bytes < 0 || launch->workspace_bytes < 0)
    return INFER_FAIL(&call, MIRAGE_BAD_ARGUMENT, "launch has negative sizes: %d, %" PRId64, launch->shared_bytes,
                      launch->workspace_bytes);
  if (launch->num_maps > MIRAGE_MAX_LOADS || (launch->num_maps && !launch->maps))
    return INFER_FAIL(&call, MIRAGE_BAD_ARGUMENT, "launch has %u tensor maps, at most %d are possible",
                      launch->num_maps, MIRAGE_MAX_LOADS);
  for (uint32_t i = 0; i < launch->num_maps; i++)
    MIRAGE_TRY(check_map(&call, &launch->maps[i]));
  return MIRAGE_OK;
}

MirageStatus mirage_op_check_custom(const MirageCustomAttrs *attrs, const MirageDiag *diag, const void *loc) {
  InferCall call = {.name = "custom", .level = MIRAGE_LEVEL_KERNEL, .diag = diag, .loc = loc};
  MIRAGE_TRY(check_grid(&call, attrs));
  if (attrs->schedule)
    MIRAGE_TRY(mirage__check_schedule(&call, attrs));
  return attrs->launch ? mirage__check_launch(attrs->launch, diag, loc) : MIRAGE_OK;
}
