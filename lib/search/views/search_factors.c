// search_factors.c - program axes may be split and merged: which dimensions are products of which factors.
//
// A reshape between operators that compute is no operator that a block graph could follow; but where each of its
// dimensions is written as the factors that both sides know, it changes nothing. So every dimension gets a list of
// cuts, and the lists travel through the operators until nothing changes: what one operand has, the result and the
// other operand have. A stretched dimension of extent 1 has as many factors as the one beside it, all of extent 1.
//
// Example:  keys of groups, k[K, T, D], repeated for the R heads of each group: [K, 1, T, D], [K, R, T, D], [K R, T,
//           D]. The last reshape cuts the heads at R; so do the queries' [H, S, D] and the result: K and R are axes.
#include "search/views/search_factors.h"

typedef struct Finder {
  const MirageUGraph *graph;
  Factors *factors;
  bool changed, failed;
} Finder;

static uint32_t slot_of(MirageValue value, uint32_t dim) { return value.index * MIRAGE_MAX_RANK + dim; }

static uint32_t rank_of(const Finder *finder, MirageValue value) {
  return mirage_ugraph_type(finder->graph, value)->rank;
}

static int64_t extent_of(const Finder *finder, uint32_t slot) {
  return mirage_ugraph_type(finder->graph, (MirageValue){slot / MIRAGE_MAX_RANK})->shape[slot % MIRAGE_MAX_RANK];
}

// Cuts must divide each other and the extent, so that factors are whole numbers.
static void add_cut(Finder *finder, uint32_t slot, int64_t inner) {
  Factors *list = &finder->factors[slot];
  int64_t extent = extent_of(finder, slot);
  uint32_t at = 0;
  while (at < list->num_cuts && list->cuts[at] > inner)
    at++;
  if (at < list->num_cuts && list->cuts[at] == inner)
    return;
  int64_t outer = at ? list->cuts[at - 1] : extent, next = at < list->num_cuts ? list->cuts[at] : 1;
  bool fits = inner % next == 0 && (extent == 1 ? !at || outer % inner == 0 : inner < outer && outer % inner == 0);
  if (!fits || list->num_cuts + 1 == MIRAGE_MAX_RANK) {
    finder->failed = true;
    return;
  }
  for (uint32_t i = list->num_cuts++; i > at; i--)
    list->cuts[i] = list->cuts[i - 1];
  list->cuts[at] = inner;
  finder->changed = true;
}

static void copy_cuts(Finder *finder, uint32_t from, uint32_t to) {
  for (uint32_t i = 0; i < finder->factors[from].num_cuts; i++)
    add_cut(finder, to, finder->factors[from].cuts[i]);
}

static void same(Finder *finder, MirageValue a, uint32_t dim_a, MirageValue b, uint32_t dim_b) {
  copy_cuts(finder, slot_of(a, dim_a), slot_of(b, dim_b));
  copy_cuts(finder, slot_of(b, dim_b), slot_of(a, dim_a));
}

// Right-aligned: the last `skip` dimensions are left out on both sides.
static void same_aligned(Finder *finder, MirageValue a, MirageValue b, uint32_t skip) {
  uint32_t rank_a = rank_of(finder, a), rank_b = rank_of(finder, b);
  for (uint32_t i = skip + 1; i <= rank_a && i <= rank_b; i++)
    same(finder, a, rank_a - i, b, rank_b - i);
}

static void visit_matmul(Finder *finder, const MirageNodeView *node) {
  MirageValue a = node->operands[0], b = node->operands[1], y = node->first_result;
  uint32_t rank_a = rank_of(finder, a), rank_b = rank_of(finder, b), rank = rank_of(finder, y);
  uint32_t flip_a = node->attrs && node->attrs->matmul.transpose_a,
           flip_b = node->attrs && node->attrs->matmul.transpose_b;
  if (rank_a < 2 || rank_b < 2)
    return;
  same(finder, a, rank_a - 2 + flip_a, y, rank - 2);
  same(finder, b, rank_b - 1 - flip_b, y, rank - 1);
  same(finder, a, rank_a - 1 - flip_a, b, rank_b - 2 + flip_b);
  same_aligned(finder, a, y, 2);
  same_aligned(finder, b, y, 2);
}

// Brings the cuts of dimensions first .. end of `from`, and the ends of its dimensions, to those of `to`.
static void send_group(Finder *finder, MirageValue from, uint32_t first, uint32_t end, MirageValue to,
                       uint32_t to_first, uint32_t to_end) {
  const MirageType *a = mirage_ugraph_type(finder->graph, from), *b = mirage_ugraph_type(finder->graph, to);
  int64_t inside = 1; // elements of the dimensions behind
  for (uint32_t d = end; d-- > first; inside *= a->shape[d]) {
    const Factors *list = &finder->factors[slot_of(from, d)];
    for (uint32_t i = 0; i <= list->num_cuts; i++) {
      int64_t size = inside * (i < list->num_cuts ? list->cuts[i] : 1), behind = 1;
      for (uint32_t e = to_end; e-- > to_first; behind *= b->shape[e]) {
        if (size <= behind || size >= behind * b->shape[e])
          continue;
        finder->failed |= size % behind != 0;
        if (!finder->failed)
          add_cut(finder, slot_of(to, e), size / behind);
      }
    }
  }
}

static void visit_reshape(Finder *finder, MirageValue a, MirageValue y) {
  const MirageType *from = mirage_ugraph_type(finder->graph, a), *to = mirage_ugraph_type(finder->graph, y);
  uint32_t i = 0, j = 0;
  while (i < from->rank && j < to->rank) {
    uint32_t first = i, to_first = j;
    int64_t left = from->shape[i++], right = to->shape[j++];
    while (left != right) {
      if (left < right)
        left *= from->shape[i++];
      else
        right *= to->shape[j++];
    }
    if (left == 1)
      continue;
    send_group(finder, a, first, i, y, to_first, j);
    send_group(finder, y, to_first, j, a, first, i);
  }
}

// Copies of a dimension side by side: as many as there are, and what one of them is.
static void visit_copies(Finder *finder, MirageValue a, MirageValue y, uint32_t dim) {
  int64_t extent = extent_of(finder, slot_of(a, dim));
  const Factors *list = &finder->factors[slot_of(y, dim)];
  add_cut(finder, slot_of(y, dim), extent);
  copy_cuts(finder, slot_of(a, dim), slot_of(y, dim));
  for (uint32_t i = 0; i < list->num_cuts; i++) {
    finder->failed |= list->cuts[i] > extent; // copies in groups
    if (list->cuts[i] < extent)
      add_cut(finder, slot_of(a, dim), list->cuts[i]);
  }
}

static void visit_shape(Finder *finder, const MirageNodeView *node) {
  MirageValue a = node->operands[0], y = node->first_result;
  switch (node->op) {
  case MIRAGE_OP_TRANSPOSE:
    for (uint32_t d = 0; d < rank_of(finder, y); d++)
      same(finder, a, (uint32_t)node->attrs->perm.perm[d], y, d);
    return;
  case MIRAGE_OP_RESHAPE:
    visit_reshape(finder, a, y);
    return;
  case MIRAGE_OP_BROADCAST:
    same_aligned(finder, a, y, 0);
    return;
  default: // repeat of what has extent 1; others stay as they are along their dimension
    for (uint32_t k = 0; k < node->num_operands; k++)
      for (uint32_t d = 0; d < rank_of(finder, y); d++)
        if (extent_of(finder, slot_of(node->operands[k], d)) == extent_of(finder, slot_of(y, d)) ||
            extent_of(finder, slot_of(node->operands[k], d)) == 1)
          same(finder, node->operands[k], d, y, d);
        else if (node->op == MIRAGE_OP_REPEAT)
          visit_copies(finder, a, y, d);
  }
}

static void visit(Finder *finder, const MirageNodeView *node) {
  MirageValue y = node->first_result;
  switch (mirage_op_info(node->op)->kind) {
  case MIRAGE_KIND_MATMUL:
    visit_matmul(finder, node);
    return;
  case MIRAGE_KIND_SHAPE:
    visit_shape(finder, node);
    return;
  case MIRAGE_KIND_UNARY:
  case MIRAGE_KIND_BINARY:
  case MIRAGE_KIND_CAST:
  case MIRAGE_KIND_REDUCE:
    for (uint32_t k = 0; k < node->num_operands; k++)
      same_aligned(finder, node->operands[k], y, 0);
    return;
  default:
    return;
  }
}

bool mirage__factors_find(const MirageUGraph *program, const bool *seen, Factors *factors) {
  Finder finder = {.graph = program, .factors = factors, .changed = true};
  MirageRegionView body = mirage_ugraph_region(program, mirage_ugraph_body(program));
  while (finder.changed && !finder.failed) {
    finder.changed = false;
    for (uint32_t i = 0; i < body.num_nodes; i++) {
      MirageNodeView node = mirage_ugraph_node(program, body.nodes[i]);
      if (node.num_results == 1 && !seen[node.first_result.index])
        visit(&finder, &node);
    }
  }
  return !finder.failed;
}

bool mirage__factors_shape(const MirageUGraph *program, const Factors *factors, MirageValue value, MirageType *out_type,
                           uint32_t *out_first) {
  const MirageType *type = mirage_ugraph_type(program, value);
  int64_t shape[MIRAGE_MAX_RANK];
  uint32_t rank = 0;
  for (uint32_t d = 0; d < type->rank; d++) {
    const Factors *list = &factors[slot_of(value, d)];
    out_first[d] = rank;
    for (uint32_t i = 0; i <= list->num_cuts; i++) {
      int64_t outer = i ? list->cuts[i - 1] : type->shape[d], inner = i < list->num_cuts ? list->cuts[i] : 1;
      if (rank == MIRAGE_MAX_RANK)
        return false;
      shape[rank++] = type->shape[d] == 1 ? 1 : outer / inner;
    }
  }
  out_first[type->rank] = rank;
  *out_type = mirage_type_tensor(type->dtype, rank, shape);
  return true;
}
