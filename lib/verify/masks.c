// masks.c - a pair of graphs whose masks are inputs.
//
// A predicate that is made of indices, constants and i1 inputs alone is a tensor that no number decides. The source has
// it as a whole; a block of the target computes tiles of it. Where a tile is, operator by operator, what the source
// computes, with indices that count from where a load would have read, it is that load of the tensor. So the tensor can
// be an input of both graphs. What a proof then shows it shows for every mask, of which the one at hand is one.
//
// Beyond the end of a tensor that its tiles do not divide, the target must say so itself: `and index < extent` is the
// load's fill with bottom.
//
// Example:   %k = iota {dim = 1, loop = [32]} : tile<1x32xi32>      %q = iota {dim = 0, grid = [16]} : tile<16x1xi32>
//            %c = less_equal %k, %q      mask %c, %s                of key <= query, [64, 64]:
//            %t = load %b {grid = [0], loop = [1]} : tensor<64x64xf16> -> tile<16x32xf16>      add %s, %t
#include "masks.h"

#include <stdlib.h>

typedef struct Side { // one graph of the pair
  const MirageUGraph *graph;
  bool *pure;        // [num_values + 1]: made of predicates, indices and constants alone
  bool *needed;      // [num_values + 1]: of pure ones at the kernel level: the copy reads it all the same
  MirageValue *root; // [num_values + 1]: the kernel-level value that an argument of a custom kernel is
} Side;

typedef struct Masker {
  VerifyMasks *out;
  VerifyMaskForm form;
  Side sides[2];
} Masker;

static const Side *source_of(const Masker *m) { return &m->sides[0]; }

// ------------------------------------------------------------------------------------------------- what is pure

static bool is_logical(const MirageUGraph *graph, MirageValue v) {
  MirageFamily family = mirage_dtype_family(mirage_ugraph_type(graph, v)->dtype);
  return family == MIRAGE_FAMILY_PREDICATE || family == MIRAGE_FAMILY_INDEX;
}

static bool is_constant(const MirageUGraph *graph, MirageValue v) {
  MirageNode def = mirage_ugraph_def(graph, v);
  return def.index && mirage_ugraph_node(graph, def).op == MIRAGE_OP_CONSTANT;
}

static bool node_is_pure(const Side *side, const MirageNodeView *node) {
  bool pure =
      node->num_results == 1 && !node->region.index && node->op != MIRAGE_OP_MASK && node->op != MIRAGE_OP_BOTTOM;
  for (uint32_t i = 0; pure && i < node->num_operands; i++)
    pure = side->pure[node->operands[i].index];
  return pure;
}

static void find_pure(Side *side, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(side->graph, region);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(side->graph, view.nodes[i]);
    if (node.num_results == 1)
      side->pure[node.first_result.index] = node_is_pure(side, &node);
    if (node.op == MIRAGE_OP_CUSTOM)
      for (uint32_t k = 0; k < node.num_operands; k++) {
        uint32_t argument = mirage_ugraph_region(side->graph, node.region).first_argument.index + k;
        side->pure[argument] = side->pure[node.operands[k].index] && is_logical(side->graph, node.operands[k]);
        side->root[argument] = node.operands[k];
      }
    if (node.op == MIRAGE_OP_CUSTOM || node.op == MIRAGE_OP_LOOP)
      find_pure(side, node.region);
    if (node.op == MIRAGE_OP_CUSTOM && node.num_results == 1) { // a kernel of predicates alone
      bool pure = node.num_operands > 0 || is_logical(side->graph, node.first_result);
      for (uint32_t k = 0; k < node.num_operands; k++)
        pure = pure && side->pure[node.operands[k].index] && is_logical(side->graph, node.operands[k]);
      side->pure[node.first_result.index] = pure;
    }
  }
}

static bool is_masked(const Side *side, const MirageNodeView *node) {
  return node->op == MIRAGE_OP_MASK && side->pure[node->operands[0].index];
}

// A number that predicates make, which something else reads: an input as well.
static bool is_number(const Side *side, MirageValue v) {
  return side->pure[v.index] && !is_logical(side->graph, v) && !is_constant(side->graph, v);
}

static MirageStatus side_init(Side *side, const MirageUGraph *graph) {
  size_t values = (size_t)mirage_ugraph_num_values(graph) + 1;
  *side = (Side){graph, calloc(values, sizeof *side->pure), calloc(values, sizeof *side->needed),
                 calloc(values, sizeof *side->root)};
  if (!side->pure || !side->needed || !side->root)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(graph); i++) {
    MirageValue input = mirage_ugraph_get_input(graph, i);
    side->pure[input.index] = is_logical(graph, input);
  }
  find_pure(side, mirage_ugraph_body(graph));
  return MIRAGE_OK;
}

// ----------------------------------------------------------------------------------------- the masks of the source

static bool add_mask(Masker *m, MirageValue of, MirageDType dtype, bool number) {
  VerifyMasks *out = m->out;
  MirageType type = *mirage_ugraph_type(source_of(m)->graph, of);
  type.dtype = dtype;
  for (uint32_t i = 0; i < out->count; i++)
    if (out->masks[i].of.index == of.index && out->masks[i].type.dtype == dtype)
      return true;
  if (out->count == VERIFY_MAX_MASKS || type.rank == 0)
    return false;
  out->masks[out->count++] = (VerifyMask){.of = of, .type = type, .number = number};
  return true;
}

// Whether all that the source does with predicates is to mask with them, or to read them as numbers.
static bool find_masks(Masker *m) {
  const Side *side = source_of(m);
  MirageRegionView body = mirage_ugraph_region(side->graph, mirage_ugraph_body(side->graph));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(side->graph, body.nodes[i]);
    if (node.num_results && side->pure[node.first_result.index])
      continue;
    for (uint32_t k = 0; k < node.num_operands; k++) {
      MirageValue v = node.operands[k];
      bool masked = k == 0 && is_masked(side, &node), added = m->form == VERIFY_MASK_ADDED;
      if (!side->pure[v.index] || is_constant(side->graph, v))
        continue;
      if (masked ? !add_mask(m, v, added ? mirage_ugraph_type(side->graph, node.operands[1])->dtype : MIRAGE_I1, false)
                 : !is_number(side, v) || !add_mask(m, v, mirage_ugraph_type(side->graph, v)->dtype, true))
        return false;
    }
  }
  bool some = false;
  for (uint32_t i = 0; i < m->out->count; i++) {
    VerifyMask *mask = &m->out->masks[i];
    mask->full = !mask->number && mirage__verify_rows_hold(side->graph, mask->of);
    some |= !mask->number || m->form == VERIFY_MASK_ADDED;
  }
  return some;
}

// ------------------------------------------------------------------------------- whether a tile is one of a mask

// A tile, or a tensor, that may be one of a mask; how grid and loops move it along each dimension, as far as is known.
typedef struct Match {
  const Side *side, *source;
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

// The steps by which an access moves along dimension d of `extent` elements.
static void steps_of_access(const Match *match, const MirageAccessAttrs *access, uint32_t d, int64_t extent,
                            int64_t grid[3], int64_t loop[MIRAGE_MAX_LOOPS], int64_t *out_tile) {
  int64_t parts[3 + MIRAGE_MAX_LOOPS], chunks[4 + MIRAGE_MAX_LOOPS], *step[3 + MIRAGE_MAX_LOOPS];
  uint32_t count = 0;
  for (uint32_t a = 0; a < 3; a++)
    if (access->grid[a] == (int8_t)d) {
      step[count] = &grid[a];
      parts[count++] = match->scope.grid[a];
    }
  for (uint32_t l = 0; l < match->scope.num_loops; l++)
    if (access->loop[l] == (int8_t)d) {
      step[count] = &loop[l];
      parts[count++] = match->scope.ranges[l];
    }
  mirage_access_chunks(access, d, extent, count, parts, chunks);
  for (uint32_t i = 0; i < count; i++)
    *step[i] = chunks[i + 1];
  *out_tile = chunks[count];
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
  if (node.op != like.op || node.num_operands != like.num_operands)
    return false;
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

// The access that moves as the tile does, along dimension d.
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
    int64_t grid[3] = {0}, loop[MIRAGE_MAX_LOOPS] = {0}, extent;
    access->tiles[d] = given ? tile->shape[d] : 0;
    steps_of_access(match, access, d, match->shape[d], grid, loop, &extent);
    bool same = extent == tile->shape[d];
    for (uint32_t a = 0; a < 3; a++)
      same = same && grid[a] == match->grid[d][a];
    for (uint32_t l = 0; l < MIRAGE_MAX_LOOPS; l++)
      same = same && loop[l] == match->loop[d][l];
    if (same)
      return true;
  }
  return false;
}

// The load of mask `index` that gives the tile `v`, a predicate or a number.
static bool load_of(const Masker *m, const Side *side, MirageNode at, MirageValue v, uint32_t index,
                    MirageAccessAttrs *out_access) {
  const VerifyMask *mask = &m->out->masks[index];
  const MirageType *tile = mirage_ugraph_type(side->graph, v);
  Match match = {.side = side,
                 .source = source_of(m),
                 .scope = mirage_ugraph_scope(side->graph, at),
                 .in_block = true,
                 .rank = mask->type.rank};
  MirageAccessAttrs access = {.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}, .fill = MIRAGE_FILL_ZERO};
  if (tile->rank != mask->type.rank || mask->number == is_logical(side->graph, v))
    return false;
  for (uint32_t d = 0; d < mask->type.rank; d++) {
    match.shape[d] = mask->type.shape[d];
    match.tile[d] = tile->shape[d];
  }
  if (mask->number ? !matches(&match, v, mask->of) : !matches_cut(&match, v, mask->of))
    return false;
  for (uint32_t d = 0; d < mask->type.rank; d++) {
    if (!find_access(&match, tile, d, &access))
      return false;
    if (match.cut[d] && m->form == VERIFY_MASK_ADDED)
      access.fill = MIRAGE_FILL_BOTTOM;
  }
  *out_access = access;
  return true;
}

static bool tensor_of(const Masker *m, const Side *side, MirageValue v, uint32_t index) {
  const VerifyMask *mask = &m->out->masks[index];
  Match match = {.side = side, .source = source_of(m), .rank = mask->type.rank};
  const MirageType *type = mirage_ugraph_type(side->graph, v);
  MirageType like = mask->type;
  like.dtype = type->dtype;
  for (uint32_t d = 0; d < mask->type.rank; d++)
    match.shape[d] = match.tile[d] = mask->type.shape[d];
  return mirage_type_same_shape(type, &like) && mask->number == !is_logical(side->graph, v) &&
         matches(&match, v, mask->of);
}

// --------------------------------------------------------------------------------------------------------- copying

typedef struct Copy {
  const Masker *m;
  const Side *side;
  MirageUGraph *to;
  MirageValue *map;                       // [num_values + 1]
  MirageValue inputs[VERIFY_MAX_MASKS];   // of the new graph; GIVEN: numbers as its own operators make them
  MirageValue argument[VERIFY_MAX_MASKS]; // of the kernel at hand
  bool failed;                            // a mask is none of the source's
} Copy;

// The mask that a predicate or number of the kernel level is; count where there is none.
static uint32_t index_of_tensor(const Copy *copy, MirageValue v) {
  uint32_t i = 0;
  while (i < copy->m->out->count && !tensor_of(copy->m, copy->side, v, i))
    i++;
  return i;
}

// A predicate of the kernel level that is an input of the copy, whoever reads it.
static bool is_given(const Copy *copy, MirageValue v) {
  return copy->m->form == VERIFY_MASK_GIVEN && copy->side->pure[v.index] && !is_constant(copy->side->graph, v) &&
         is_logical(copy->side->graph, v) && index_of_tensor(copy, v) < copy->m->out->count;
}

static void find_needed(Copy *copy) {
  const Side *side = copy->side;
  MirageRegionView body = mirage_ugraph_region(side->graph, mirage_ugraph_body(side->graph));
  for (uint32_t i = body.num_nodes; i-- > 0;) {
    MirageNodeView node = mirage_ugraph_node(side->graph, body.nodes[i]);
    bool pure = node.num_results == 1 && side->pure[node.first_result.index];
    bool read = !pure || (side->needed[node.first_result.index] && !is_given(copy, node.first_result));
    for (uint32_t k = 0; read && k < node.num_operands; k++) {
      MirageValue v = node.operands[k];
      bool number = copy->m->form == VERIFY_MASK_ADDED && is_number(side, v);
      side->needed[v.index] |= pure || !(number || (k == 0 && is_masked(side, &node)));
    }
  }
}

static uint32_t index_of_tile(const Copy *copy, MirageNode at, MirageValue v, MirageAccessAttrs *access) {
  uint32_t i = 0;
  while (i < copy->m->out->count && !load_of(copy->m, copy->side, at, v, i, access))
    i++;
  return i;
}

// The tile of an input that an access brings; of another shape than what it stands for, it is none.
static MirageValue load_mask(Copy *copy, uint32_t index, const MirageAccessAttrs *access, MirageValue of) {
  MirageValue tile = mirage_ugraph_load(copy->to, copy->argument[index], access);
  copy->failed |= !tile.index || !mirage_type_same_shape(mirage_ugraph_type(copy->to, tile),
                                                         mirage_ugraph_type(copy->side->graph, of));
  return tile;
}

static void copy_mask(Copy *copy, MirageNode id, const MirageNodeView *node) {
  MirageAccessAttrs access;
  MirageValue x = copy->map[node->operands[1].index], mask;
  bool in_block = node->level == MIRAGE_LEVEL_BLOCK;
  uint32_t index =
      in_block ? index_of_tile(copy, id, node->operands[0], &access) : index_of_tensor(copy, node->operands[0]);
  if (index == copy->m->out->count) {
    copy->failed = true;
    return;
  }
  mask = in_block ? load_mask(copy, index, &access, node->operands[0]) : copy->inputs[index];
  MirageValue sum[] = {x, mask}, picked[] = {mask, x};
  bool added = copy->m->form == VERIFY_MASK_ADDED;
  copy->map[node->first_result.index] =
      mirage_ugraph_apply(copy->to, added ? MIRAGE_OP_ADD : MIRAGE_OP_MASK, 2, added ? sum : picked, NULL);
}

static void copy_region(Copy *copy, MirageRegion region);

static void copy_loop(Copy *copy, MirageNode id, const MirageNodeView *node) {
  MirageValue *inits = calloc((size_t)node->num_operands + 1, sizeof *inits);
  copy->failed |= !inits;
  for (uint32_t i = 0; inits && i < node->num_operands; i++)
    inits[i] = copy->map[node->operands[i].index];
  MirageNode loop = mirage_ugraph_open_loop(copy->to, inits ? node->num_operands : 0, inits, &node->attrs->loop);
  free(inits);
  for (uint32_t i = 0; i < node->num_operands; i++)
    copy->map[mirage_ugraph_argument(copy->side->graph, id, i).index] = mirage_ugraph_argument(copy->to, loop, i);
  copy_region(copy, node->region);
  for (uint32_t i = 0; i < node->num_results; i++)
    copy->map[node->first_result.index + i] = mirage_ugraph_result(copy->to, loop, i);
}

// A kernel with the masks as further operands. Its schedule says nothing of them, and is left behind.
static void copy_kernel(Copy *copy, MirageNode id, const MirageNodeView *node) {
  uint32_t count = copy->m->out->count, operands = node->num_operands;
  MirageValue *values = calloc((size_t)operands + count + 1, sizeof *values);
  MirageType *types = calloc((size_t)node->num_results + 1, sizeof *types);
  MirageCustomAttrs attrs = node->attrs->custom;
  attrs.schedule = NULL;
  attrs.plan = NULL;
  attrs.launch = NULL;
  copy->failed |= !values || !types;
  for (uint32_t i = 0; !copy->failed && i < operands; i++)
    values[i] = copy->map[node->operands[i].index];
  for (uint32_t i = 0; !copy->failed && i < count; i++)
    values[operands + i] = copy->inputs[i];
  for (uint32_t i = 0; !copy->failed && i < node->num_results; i++)
    types[i] = *mirage_ugraph_type(copy->side->graph, (MirageValue){node->first_result.index + i});
  if (!copy->failed) {
    MirageNode custom = mirage_ugraph_open_custom(copy->to, operands + count, values, node->num_results, types, &attrs);
    for (uint32_t i = 0; i < operands + node->num_results; i++)
      copy->map[mirage_ugraph_argument(copy->side->graph, id, i).index] =
          mirage_ugraph_argument(copy->to, custom, i < operands ? i : i + count);
    for (uint32_t i = 0; i < count; i++)
      copy->argument[i] = mirage_ugraph_argument(copy->to, custom, operands + i);
    copy_region(copy, node->region);
    mirage_ugraph_close(copy->to, 0, NULL);
    for (uint32_t i = 0; i < node->num_results; i++)
      copy->map[node->first_result.index + i] = mirage_ugraph_result(copy->to, custom, i);
  }
  free(values);
  free(types);
}

// Predicates and indices are left behind where nothing reads them any more. Numbers made of them become inputs.
static bool copy_pure(Copy *copy, MirageNode id, const MirageNodeView *node) {
  bool at_kernel = node->level == MIRAGE_LEVEL_KERNEL;
  if (at_kernel && node->num_results == 1 && is_given(copy, node->first_result)) {
    copy->map[node->first_result.index] = copy->inputs[index_of_tensor(copy, node->first_result)];
    return true;
  }
  if (!node->num_results || !copy->side->pure[node->first_result.index] ||
      (at_kernel && copy->side->needed[node->first_result.index]))
    return false;
  if (is_constant(copy->side->graph, node->first_result))
    return is_logical(copy->side->graph, node->first_result);
  if (at_kernel && copy->m->form == VERIFY_MASK_ADDED && is_number(copy->side, node->first_result)) {
    uint32_t index = index_of_tensor(copy, node->first_result);
    if (index < copy->m->out->count)
      copy->map[node->first_result.index] = copy->inputs[index];
  }
  if (node->level == MIRAGE_LEVEL_BLOCK && is_number(copy->side, node->first_result)) {
    MirageAccessAttrs access;
    uint32_t index = index_of_tile(copy, id, node->first_result, &access);
    if (index < copy->m->out->count)
      copy->map[node->first_result.index] = load_mask(copy, index, &access, node->first_result);
  }
  return true;
}

static void copy_node(Copy *copy, MirageNode id) {
  MirageNodeView node = mirage_ugraph_node(copy->side->graph, id);
  if (copy_pure(copy, id, &node))
    return;
  mirage_ugraph_set_loc(copy->to, node.loc);
  if (is_masked(copy->side, &node))
    copy_mask(copy, id, &node);
  else if (node.op == MIRAGE_OP_CUSTOM)
    copy_kernel(copy, id, &node);
  else if (node.op == MIRAGE_OP_LOOP)
    copy_loop(copy, id, &node);
  else
    mirage_ugraph_copy_nodes(copy->to, copy->side->graph, 1, &id, copy->map);
}

static void copy_region(Copy *copy, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(copy->side->graph, region);
  for (uint32_t i = 0; i < view.num_nodes && !copy->failed && mirage_ugraph_status(copy->to) == MIRAGE_OK; i++)
    copy_node(copy, view.nodes[i]);
}

// A value that the source makes of predicates, made of the inputs that stand for them.
static void make_number(Copy *copy, MirageValue v, MirageValue *map) {
  const MirageUGraph *source = source_of(copy->m)->graph;
  if (map[v.index].index)
    return;
  MirageNode def = mirage_ugraph_def(source, v);
  MirageNodeView node = mirage_ugraph_node(source, def);
  for (uint32_t i = 0; i < node.num_operands; i++)
    make_number(copy, node.operands[i], map);
  mirage_ugraph_copy_nodes(copy->to, source, 1, &def, map);
}

// So that tiles of a number are tiles of what the masks given say, whatever the pair makes them of.
static void make_numbers(Copy *copy) {
  const MirageUGraph *source = source_of(copy->m)->graph;
  const VerifyMasks *masks = copy->m->out;
  MirageValue *map = calloc((size_t)mirage_ugraph_num_values(source) + 1, sizeof *map);
  copy->failed |= !map;
  for (uint32_t i = 0; map && i < mirage_ugraph_num_inputs(source); i++)
    map[mirage_ugraph_get_input(source, i).index] = copy->map[mirage_ugraph_get_input(copy->side->graph, i).index];
  for (uint32_t i = 0; map && i < masks->count; i++)
    if (!masks->masks[i].number)
      map[masks->masks[i].of.index] = copy->inputs[i];
  for (uint32_t i = 0; map && i < masks->count; i++)
    if (masks->masks[i].number) {
      make_number(copy, masks->masks[i].of, map);
      copy->inputs[i] = map[masks->masks[i].of.index];
    }
  free(map);
}

static void copy_graph(Copy *copy) {
  const MirageUGraph *from = copy->side->graph;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(from); i++) {
    MirageValue input = mirage_ugraph_get_input(from, i);
    copy->map[input.index] = mirage_ugraph_input(copy->to, *mirage_ugraph_type(from, input));
  }
  bool added = copy->m->form == VERIFY_MASK_ADDED;
  for (uint32_t i = 0; i < copy->m->out->count; i++)
    if (added || !copy->m->out->masks[i].number)
      copy->inputs[i] = mirage_ugraph_input(copy->to, copy->m->out->masks[i].type);
  if (!added)
    make_numbers(copy);
  find_needed(copy);
  copy_region(copy, mirage_ugraph_body(from));
}

// NULL where it has no such form: what is said about that is nobody's business.
static MirageStatus make_graph(const Masker *m, int g, MirageUGraph **out_graph) {
  const MirageUGraph *from = m->sides[g].graph;
  Copy copy = {.m = m, .side = &m->sides[g]};
  copy.to = mirage_ugraph_create(NULL, mirage_ugraph_get_meta(from)->name, NULL);
  copy.map = calloc((size_t)mirage_ugraph_num_values(from) + 1, sizeof *copy.map);
  MirageStatus status = copy.to && copy.map ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK) {
    copy_graph(&copy);
    if (copy.failed || mirage_ugraph_finish(copy.to) != MIRAGE_OK) {
      status = mirage_ugraph_status(copy.to) == MIRAGE_NO_MEMORY ? MIRAGE_NO_MEMORY : MIRAGE_OK;
      mirage_ugraph_destroy(copy.to);
      copy.to = NULL;
    }
  }
  free(copy.map);
  *out_graph = copy.to;
  return status;
}

MirageStatus mirage__verify_masks_init(VerifyMasks *masks, const MirageUGraph *source, const MirageUGraph *target,
                                       VerifyMaskForm form) {
  Masker m = {.out = masks, .form = form};
  *masks = (VerifyMasks){.source = source, .first_input = mirage_ugraph_num_inputs(source)};
  MirageStatus status = side_init(&m.sides[0], source);
  if (status == MIRAGE_OK)
    status = side_init(&m.sides[1], target);
  if (status == MIRAGE_OK && find_masks(&m)) {
    status = make_graph(&m, 0, &masks->graphs[0]);
    if (status == MIRAGE_OK && masks->graphs[0])
      status = make_graph(&m, 1, &masks->graphs[1]);
  }
  for (int g = 0; g < 2; g++) {
    free(m.sides[g].pure);
    free(m.sides[g].needed);
    free(m.sides[g].root);
  }
  if (!masks->graphs[1])
    mirage__verify_masks_deinit(masks);
  return status;
}

void mirage__verify_masks_deinit(VerifyMasks *masks) {
  for (int g = 0; g < 2; g++) {
    mirage_ugraph_destroy(masks->graphs[g]);
    masks->graphs[g] = NULL;
  }
}
