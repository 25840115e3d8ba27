// masks_match.c - whether what a graph computes is a mask of the source, or a tile of it.
//
// Operator by operator it must be what the source computes, with indices that count from where a load of the mask would
// have read; how grid and loops move it along each dimension is noted on the way, and has to agree. Whether any element of
// a row holds may be asked in two more ways (match_any, match_first).
#include "masks_match.h"

// A tile, or a tensor, that may be one of a mask; how grid and loops move it along each dimension, as far as is known.
typedef struct Match {
  const MaskSide *side, *source;
  MirageScope scope; // all zero at the kernel level
  bool in_block;
  uint32_t rank;
  int64_t shape[MIRAGE_MAX_RANK]; // of the mask
  int64_t tile[MIRAGE_MAX_RANK];  // of what may be a tile of it
  bool known[MIRAGE_MAX_RANK];
  int64_t grid[MIRAGE_MAX_RANK][3], loop[MIRAGE_MAX_RANK][MIRAGE_MAX_LOOPS];
  bool cut[MIRAGE_MAX_RANK]; // said to end where the mask ends
} Match;

// The extent that something has along dimension d where its counterpart in the mask has `extent`.
static int64_t tile_extent(const Match *match, uint32_t d, int64_t extent) {
  return extent == match->shape[d] ? match->tile[d] : extent;
}

// That along dimension d the tile moves so.
static bool note_steps(Match *match, uint32_t d, const int64_t grid[3], const int64_t loop[MIRAGE_MAX_LOOPS]) {
  bool same = true;
  for (uint32_t a = 0; a < 3; a++) {
    int64_t step = match->scope.grid[a] > 1 ? grid[a] : 0;
    same = same && (!match->known[d] || match->grid[d][a] == step);
    match->grid[d][a] = step;
  }
  for (uint32_t l = 0; l < MIRAGE_MAX_LOOPS; l++) {
    int64_t step = l < match->scope.num_loops && match->scope.ranges[l] > 1 ? loop[l] : 0;
    same = same && (!match->known[d] || match->loop[d][l] == step);
    match->loop[d][l] = step;
  }
  match->known[d] = true;
  return same;
}

// The steps by which an access moves along dimension d of `extent` elements. Whether each part but the last ends where the next
// begins: where a part's own tiles go beyond its end, a load has its fill there, inside the tensor.
static bool steps_of_access(const Match *match, const MirageAccessAttrs *access, uint32_t d, int64_t extent,
                            int64_t grid[3], int64_t loop[MIRAGE_MAX_LOOPS], int64_t *out_tile) {
  int64_t parts[MIRAGE_MAX_SPLITS], chunks[MIRAGE_MAX_SPLITS + 1], *step[MIRAGE_MAX_SPLITS];
  uint8_t splits[MIRAGE_MAX_SPLITS];
  uint32_t count = mirage_access_splits(access, d, splits);
  for (uint32_t i = 0; i < count; i++) {
    step[i] = splits[i] < 3 ? &grid[splits[i]] : &loop[splits[i] - 3];
    parts[i] = splits[i] < 3 ? match->scope.grid[splits[i]] : match->scope.ranges[splits[i] - 3];
  }
  mirage_access_chunks(access, d, extent, count, parts, chunks);
  bool divides = true;
  for (uint32_t i = 0; i < count; i++) {
    *step[i] = chunks[i + 1];
    divides &= i == 0 || chunks[i] == parts[i] * chunks[i + 1];
  }
  *out_tile = chunks[count];
  return divides;
}

// Whether no block and no iteration moves: one that moves along a single element is beyond it.
static bool stands(const Match *match, const int64_t grid[3], const int64_t loop[MIRAGE_MAX_LOOPS]) {
  bool still = true;
  for (uint32_t a = 0; a < 3; a++)
    still = still && (match->scope.grid[a] <= 1 || !grid[a]);
  for (uint32_t l = 0; l < match->scope.num_loops; l++)
    still = still && (match->scope.ranges[l] <= 1 || !loop[l]);
  return still;
}

static bool matches(Match *match, MirageValue v, MirageValue of);

// Whether a load brings the part of `of` that lies where the tile does.
static bool match_load(Match *match, const MirageNodeView *load, MirageValue of) {
  const MirageAccessAttrs *access = &load->attrs->access;
  const MirageType *type = mirage_ugraph_type(match->source->graph, of);
  MirageValue root = match->side->root[load->operands[0].index];
  Match tensor = {.side = match->side, .source = match->source, .rank = type->rank};
  uint32_t missing = match->rank - type->rank;
  bool same = root.index && mirage_type_same_shape(mirage_ugraph_type(match->side->graph, root), type);
  for (uint32_t d = 0; same && d < MIRAGE_MAX_RANK; d++) {
    tensor.shape[d] = tensor.tile[d] = type->shape[d];
    same = !access->order[d] && !access->end[d];
  }
  for (uint32_t d = 0; same && d < type->rank; d++) {
    int64_t grid[3] = {0}, loop[MIRAGE_MAX_LOOPS] = {0}, tile;
    steps_of_access(match, access, d, type->shape[d], grid, loop, &tile);
    same = tile == tile_extent(match, d + missing, type->shape[d]) &&
           (type->shape[d] == 1 ? stands(match, grid, loop) : note_steps(match, d + missing, grid, loop));
  }
  return same && matches(&tensor, root, of);
}

static bool match_operands(Match *match, const MirageNodeView *node, const MirageNodeView *of, bool swapped) {
  Match kept = *match;
  for (uint32_t i = 0; i < of->num_operands; i++)
    if (!matches(match, node->operands[swapped ? of->num_operands - 1 - i : i], of->operands[i])) {
      *match = kept;
      return false;
    }
  return true;
}

// Whether an iota counts along dimension d of the mask, of which it has `extent` elements, as a tile of these.
static bool counts_along(Match *match, const MirageNodeView *iota, uint32_t d, int64_t extent) {
  const MirageType *type = mirage_ugraph_type(match->side->graph, iota->first_result);
  uint32_t dim = (uint32_t)iota->attrs->iota.dim;
  return dim + match->rank - type->rank == d && type->shape[dim] == tile_extent(match, d, extent) &&
         (extent == 1 ? stands(match, iota->attrs->iota.grid, iota->attrs->iota.loop)
                      : note_steps(match, d, iota->attrs->iota.grid, iota->attrs->iota.loop));
}

static bool match_iota(Match *match, const MirageNodeView *node, const MirageNodeView *of) {
  const MirageType *type = mirage_ugraph_type(match->source->graph, of->first_result);
  uint32_t dim = (uint32_t)of->attrs->iota.dim;
  return node->attrs->iota.start == of->attrs->iota.start &&
         counts_along(match, node, dim + match->rank - type->rank, type->shape[dim]);
}

static MirageValue without_broadcasts(const MirageUGraph *graph, MirageValue v) {
  MirageNode def = mirage_ugraph_def(graph, v);
  while (def.index && mirage_ugraph_node(graph, def).op == MIRAGE_OP_BROADCAST) {
    v = mirage_ugraph_node(graph, def).operands[0];
    def = mirage_ugraph_def(graph, v);
  }
  return v;
}

static MirageNodeView def_of_value(const MirageUGraph *graph, MirageValue v) {
  MirageNode def = mirage_ugraph_def(graph, v);
  return def.index ? mirage_ugraph_node(graph, def) : (MirageNodeView){.op = MIRAGE_OP_NONE};
}

// Whether any element of a row holds, as kernels say it of tiles with whole rows: 0 < reduce_max(cast(x)).
static bool match_any(Match *match, const MirageNodeView *less, const MirageNodeView *like) {
  const MirageUGraph *graph = match->side->graph;
  MirageNodeView zero = def_of_value(graph, less->operands[0]), max = def_of_value(graph, less->operands[1]), cast;
  if (zero.op != MIRAGE_OP_CONSTANT || zero.attrs->constant.value != 0 || max.op != MIRAGE_OP_REDUCE_MAX ||
      max.attrs->reduce.extent != 1 || max.attrs->reduce.dim != like->attrs->reduce.dim)
    return false;
  cast = def_of_value(graph, max.operands[0]);
  if (cast.op != MIRAGE_OP_CAST)
    return false;
  const MirageType *type = mirage_ugraph_type(match->source->graph, like->operands[0]);
  const MirageType *tile = mirage_ugraph_type(graph, cast.operands[0]);
  uint32_t along = (uint32_t)max.attrs->reduce.dim;
  Match rows = {
      .side = match->side, .source = match->source, .scope = match->scope, .in_block = true, .rank = type->rank};
  bool same = tile->rank == type->rank && match->rank == type->rank && tile->shape[along] == type->shape[along];
  for (uint32_t d = 0; d < type->rank; d++) {
    rows.shape[d] = type->shape[d];
    rows.tile[d] = tile->shape[d];
  }
  same = same && matches(&rows, cast.operands[0], like->operands[0]);
  for (uint32_t d = 0; same && d < type->rank; d++)
    same = !rows.known[d] ||
           (d == along ? stands(&rows, rows.grid[d], rows.loop[d]) : note_steps(match, d, rows.grid[d], rows.loop[d]));
  return same;
}

// Whether any element of a row of `pred` holds, where the first one does if any: of `index < x`, `index <= x` along the
// last dimension, with x of one element there, and of what `and` and `or` make of such.
static bool match_first(Match *match, MirageValue v, MirageValue pred) {
  const MirageUGraph *source = match->source->graph;
  pred = without_broadcasts(source, pred);
  const MirageType *type = mirage_ugraph_type(source, pred);
  MirageNodeView node = def_of_value(match->side->graph, without_broadcasts(match->side->graph, v));
  MirageNodeView like = def_of_value(source, pred);
  if (type->shape[type->rank - 1] == 1)
    return matches(match, v, pred);
  if (node.op != like.op)
    return false;
  if (like.op == MIRAGE_OP_AND || like.op == MIRAGE_OP_OR)
    return match_first(match, node.operands[0], like.operands[0]) &&
           match_first(match, node.operands[1], like.operands[1]);
  if (like.op != MIRAGE_OP_LESS && like.op != MIRAGE_OP_LESS_EQUAL)
    return false;
  MirageNodeView iota = def_of_value(source, without_broadcasts(source, like.operands[0]));
  MirageNodeView start = def_of_value(match->side->graph, without_broadcasts(match->side->graph, node.operands[0]));
  const MirageType *x = mirage_ugraph_type(source, like.operands[1]);
  return iota.op == MIRAGE_OP_IOTA &&
         (uint32_t)iota.attrs->iota.dim + 1 == mirage_ugraph_type(source, iota.first_result)->rank &&
         start.op == MIRAGE_OP_CONSTANT && start.attrs->constant.value == (double)iota.attrs->iota.start &&
         (x->rank == 0 || x->shape[x->rank - 1] == 1) && matches(match, node.operands[1], like.operands[1]);
}

static bool is_any_of_rows(const Match *match, const MirageNodeView *like) {
  return like->op == MIRAGE_OP_REDUCE_MAX && like->attrs->reduce.extent == 1 &&
         (uint32_t)like->attrs->reduce.dim + 1 == mirage_ugraph_type(match->source->graph, like->operands[0])->rank;
}

// The store of a kernel's result, outside loops.
static MirageNode store_of(const MirageUGraph *graph, MirageNode custom, uint32_t result) {
  MirageNodeView node = mirage_ugraph_node(graph, custom);
  MirageRegionView body = mirage_ugraph_region(graph, node.region);
  MirageValue argument = mirage_ugraph_argument(graph, custom, node.num_operands + result);
  MirageNode found = {0};
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView store = mirage_ugraph_node(graph, body.nodes[i]);
    if (store.op == MIRAGE_OP_STORE && store.operands[1].index == argument.index)
      found = body.nodes[i];
  }
  return found;
}

// Whether a kernel computes `of`, tile by tile, and stores each where it belongs.
static bool match_kernel(Match *match, MirageNode custom, uint32_t result, MirageValue of) {
  const MirageUGraph *graph = match->side->graph;
  const MirageType *type = mirage_ugraph_type(match->source->graph, of);
  MirageNode at = store_of(graph, custom, result);
  if (!at.index)
    return false;
  MirageNodeView store = mirage_ugraph_node(graph, at);
  const MirageType *tile = mirage_ugraph_type(graph, store.operands[0]);
  const MirageAccessAttrs *access = &store.attrs->access;
  Match inner = {.side = match->side,
                 .source = match->source,
                 .scope = mirage_ugraph_scope(graph, at),
                 .in_block = true,
                 .rank = type->rank};
  bool same = tile->rank == type->rank;
  for (uint32_t d = 0; d < MIRAGE_MAX_RANK; d++) {
    inner.shape[d] = type->shape[d];
    inner.tile[d] = tile->shape[d];
    same = same && !access->order[d] && !access->end[d];
  }
  same = same && matches(&inner, store.operands[0], of);
  for (uint32_t d = 0; same && d < type->rank; d++) {
    int64_t grid[3] = {0}, loop[MIRAGE_MAX_LOOPS] = {0}, extent;
    steps_of_access(&inner, access, d, type->shape[d], grid, loop, &extent);
    same = extent == tile->shape[d] && (!inner.known[d] || note_steps(&inner, d, grid, loop));
  }
  return same;
}

static MirageValue without_reshapes(const MirageUGraph *graph, MirageValue v) {
  MirageNodeView node = def_of_value(graph, v);
  for (; node.op == MIRAGE_OP_RESHAPE; node = def_of_value(graph, v))
    v = node.operands[0];
  return v;
}

// Whether two tensors of the kernel level are the same, of the same shape.
static bool match_tensors(const Match *match, MirageValue v, MirageValue of) {
  const MirageType *type = mirage_ugraph_type(match->source->graph, of);
  Match whole = {.side = match->side, .source = match->source, .rank = type->rank};
  for (uint32_t d = 0; d < type->rank; d++)
    whole.shape[d] = whole.tile[d] = type->shape[d];
  return mirage_type_same_shape(mirage_ugraph_type(match->side->graph, v), type) && matches(&whole, v, of);
}

// Reshaped to the same shape: the same elements in the same order.
static bool match_reshaped(const Match *match, MirageValue v, MirageValue of) {
  const MirageUGraph *graph = match->side->graph, *source = match->source->graph;
  return mirage_type_same_shape(mirage_ugraph_type(graph, v), mirage_ugraph_type(source, of)) &&
         match_tensors(match, without_reshapes(graph, v), without_reshapes(source, of));
}

static bool match_transposed(const Match *match, const MirageNodeView *node, const MirageNodeView *like) {
  bool same = true;
  for (uint32_t d = 0; d < mirage_ugraph_type(match->source->graph, like->first_result)->rank; d++)
    same = same && node->attrs->perm.perm[d] == like->attrs->perm.perm[d];
  return same && match_tensors(match, node->operands[0], like->operands[0]);
}

// Whether `v` of the side at hand is `of` of the source, element by element where it stretches.
static bool matches(Match *match, MirageValue v, MirageValue of) {
  const MirageUGraph *graph = match->side->graph, *source = match->source->graph;
  v = without_broadcasts(graph, v);
  of = without_broadcasts(source, of);
  MirageNode def = mirage_ugraph_def(graph, v), def_of = mirage_ugraph_def(source, of);
  MirageNodeView node = def_of_value(graph, v), like = def_of_value(source, of);
  if (match->in_block && node.op == MIRAGE_OP_LOAD)
    return match_load(match, &node, of);
  if (!match->in_block && node.op == MIRAGE_OP_CUSTOM)
    return match_kernel(match, def, v.index - node.first_result.index, of);
  if (is_any_of_rows(match, &like) && node.op != MIRAGE_OP_REDUCE_MAX) {
    Match kept = *match;
    if (match_first(match, v, like.operands[0]))
      return true;
    *match = kept;
  }
  if (match->in_block && node.op == MIRAGE_OP_LESS && like.op == MIRAGE_OP_REDUCE_MAX)
    return match_any(match, &node, &like);
  if (!def.index && !def_of.index && !match->in_block) { // an input of both graphs
    bool same = false;
    for (uint32_t i = 0; i < mirage_ugraph_num_inputs(source); i++)
      same |=
          mirage_ugraph_get_input(source, i).index == of.index && mirage_ugraph_get_input(graph, i).index == v.index;
    return same;
  }
  if (!match->in_block && (node.op == MIRAGE_OP_RESHAPE || like.op == MIRAGE_OP_RESHAPE))
    return match_reshaped(match, v, of);
  if (node.op != like.op || node.num_operands != like.num_operands)
    return false;
  if (node.op == MIRAGE_OP_TRANSPOSE)
    return !match->in_block && match_transposed(match, &node, &like);
  switch (mirage_op_info(node.op)->kind) {
  case MIRAGE_KIND_IOTA:
    return match_iota(match, &node, &like);
  case MIRAGE_KIND_CONSTANT:
    return node.op == MIRAGE_OP_CONSTANT && node.attrs->constant.value == like.attrs->constant.value;
  case MIRAGE_KIND_UNARY:
    return match_operands(match, &node, &like, false);
  case MIRAGE_KIND_BINARY: {
    bool commutes = node.op == MIRAGE_OP_AND || node.op == MIRAGE_OP_OR || node.op == MIRAGE_OP_EQUAL;
    return match_operands(match, &node, &like, false) || (commutes && match_operands(match, &node, &like, true));
  }
  case MIRAGE_KIND_CAST:
    return mirage_ugraph_type(graph, v)->dtype == mirage_ugraph_type(source, of)->dtype &&
           match_operands(match, &node, &like, false);
  case MIRAGE_KIND_REDUCE:
    return !match->in_block && node.attrs->reduce.dim == like.attrs->reduce.dim &&
           node.attrs->reduce.extent == like.attrs->reduce.extent && match_operands(match, &node, &like, false);
  default:
    return false;
  }
}

// `index < extent` of one of the mask's dimensions.
static bool match_cut(Match *match, MirageValue v) {
  MirageNode def = mirage_ugraph_def(match->side->graph, v);
  if (!def.index || mirage_ugraph_node(match->side->graph, def).op != MIRAGE_OP_LESS)
    return false;
  const MirageValue *operands = mirage_ugraph_node(match->side->graph, def).operands;
  MirageNode at = mirage_ugraph_def(match->side->graph, operands[0]),
             end = mirage_ugraph_def(match->side->graph, operands[1]);
  if (!at.index || !end.index)
    return false;
  MirageNodeView iota = mirage_ugraph_node(match->side->graph, at),
                 extent = mirage_ugraph_node(match->side->graph, end);
  if (iota.op != MIRAGE_OP_IOTA || extent.op != MIRAGE_OP_CONSTANT || iota.attrs->iota.start)
    return false;
  uint32_t d = (uint32_t)iota.attrs->iota.dim + match->rank - mirage_ugraph_type(match->side->graph, operands[0])->rank;
  if (extent.attrs->constant.value != (double)match->shape[d] || !counts_along(match, &iota, d, match->shape[d]))
    return false;
  return match->cut[d] = true;
}

// The same, where the tile may also say that the mask ends.
static bool matches_cut(Match *match, MirageValue v, MirageValue of) {
  Match kept = *match;
  if (matches(match, v, of))
    return true;
  *match = kept;
  MirageNode def = mirage_ugraph_def(match->side->graph, v);
  if (!def.index || mirage_ugraph_node(match->side->graph, def).op != MIRAGE_OP_AND)
    return false;
  const MirageValue *operands = mirage_ugraph_node(match->side->graph, def).operands;
  for (uint32_t i = 0; i < 2; i++) {
    if (match_cut(match, operands[i]) && matches_cut(match, operands[1 - i], of))
      return true;
    *match = kept;
  }
  return false;
}

// Takes an axis or loop for dimension d: an access has one for each.
static bool take(int8_t *of, uint32_t d) {
  bool free = *of < 0;
  *of = (int8_t)d;
  return free;
}

// Whether an access moves along dimension d as the tile does, in tiles of that extent and with no fill inside the mask.
static bool moves_so(const Match *match, const MirageAccessAttrs *access, uint32_t d, int64_t extent) {
  int64_t grid[3] = {0}, loop[MIRAGE_MAX_LOOPS] = {0}, tile;
  bool same = steps_of_access(match, access, d, match->shape[d], grid, loop, &tile) && tile == extent;
  for (uint32_t a = 0; a < 3; a++)
    same = same && grid[a] == match->grid[d][a];
  for (uint32_t l = 0; l < MIRAGE_MAX_LOOPS; l++)
    same = same && loop[l] == match->loop[d][l];
  return same;
}

// The access that moves as the tile does, along dimension d. It is cyclic for all dimensions or for none, which matters to
// those that both the grid and a loop split.
static bool find_access(const Match *match, const MirageType *tile, uint32_t d, MirageAccessAttrs *access) {
  int64_t whole = tile->shape[d];
  bool one_each = true;
  for (uint32_t a = 0; a < 3; a++)
    if (match->grid[d][a]) {
      one_each &= take(&access->grid[a], d);
      whole *= match->scope.grid[a];
    }
  for (uint32_t l = 0; l < match->scope.num_loops; l++)
    if (match->loop[d][l]) {
      one_each &= take(&access->loop[l], d);
      whole *= match->scope.ranges[l];
    }
  if (!one_each || (whole != match->shape[d] && !match->cut[d]))
    return false;
  for (int given = 0; given < 2; given++) {
    access->tiles[d] = given ? tile->shape[d] : 0;
    if (moves_so(match, access, d, tile->shape[d]))
      return true;
  }
  return false;
}

bool mirage__mask_is_tile(const VerifyMask *mask, VerifyMaskForm form, const MaskSide *source, const MaskSide *side,
                          MirageNode at, MirageValue v, MirageAccessAttrs *out_access) {
  const MirageType *tile = mirage_ugraph_type(side->graph, v);
  Match match = {.side = side,
                 .source = source,
                 .scope = mirage_ugraph_scope(side->graph, at),
                 .in_block = true,
                 .rank = mask->type.rank};
  MirageAccessAttrs access = {.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}, .fill = MIRAGE_FILL_ZERO};
  if (tile->rank != mask->type.rank || mask->number == mirage__mask_is_logical(side->graph, v))
    return false;
  for (uint32_t d = 0; d < mask->type.rank; d++) {
    match.shape[d] = mask->type.shape[d];
    match.tile[d] = tile->shape[d];
  }
  if (mask->number ? !matches(&match, v, mask->of) : !matches_cut(&match, v, mask->of))
    return false;
  for (int cyclic = 0; cyclic < 2; cyclic++) {
    MirageAccessAttrs like = access;
    like.cyclic = cyclic != 0;
    bool same = true;
    for (uint32_t d = 0; same && d < mask->type.rank; d++) {
      same = find_access(&match, tile, d, &like);
      if (match.cut[d] && form == VERIFY_MASK_ADDED)
        like.fill = MIRAGE_FILL_BOTTOM;
    }
    *out_access = like;
    if (same)
      return !cyclic || mirage_access_may_cycle(&like);
  }
  return false;
}

bool mirage__mask_is_tensor(const VerifyMask *mask, const MaskSide *source, const MaskSide *side, MirageValue v) {
  Match match = {.side = side, .source = source, .rank = mask->type.rank};
  const MirageType *type = mirage_ugraph_type(side->graph, v);
  MirageType like = mask->type;
  like.dtype = type->dtype;
  for (uint32_t d = 0; d < mask->type.rank; d++)
    match.shape[d] = match.tile[d] = mask->type.shape[d];
  return mirage_type_same_shape(type, &like) && mask->number == !mirage__mask_is_logical(side->graph, v) &&
         matches(&match, v, mask->of);
}
