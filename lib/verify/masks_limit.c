// masks_limit.c - whether a graph, with b added where it masks, has for b -> minus infinity the value that it has with
// bottom there. The theorem of masks (README.md) needs that of both graphs of a pair.
//
// Every value gets a kind. Where nothing is known, it is BAD, and the pair is proven in another way, or not.
//
//   FREE     no mask reaches it
//   CLEAN    it is finite, and its limit is its value with bottom
//   LOW      the same, or it goes to minus infinity and is bottom
//   BETWEEN  LOW minus a maximum of it and others: for an exponential to read
//   STALE    CLEAN where a maximum m is finite; where m is bottom it stays bounded, and is 0 with bottom. What an online
//            softmax has summed before it has seen a key is such: a factor exp(m - m') that goes to 0 takes it away
//   FLOORED  STALE plus a number that is 1 where a row sees no key: a divisor
//
// Example:   m' = max(m, reduce_max(s)) LOW     p = exp(s - m') STALE(m')     acc <- acc * exp(m - m') + p v: STALE(m),
//            m the maximum over the loop; that is finite where each row of the mask holds somewhere, and acc is CLEAN
#include "masks.h"

#include <stdlib.h>

typedef enum { FREE, CLEAN, LOW, BETWEEN, STALE, FLOORED, BAD } Kind;

typedef struct Limit {
  Kind kind;
  MirageValue top; // BETWEEN: the maximum; STALE, FLOORED: that says where
  uint32_t mask;   // of what is STALE and has been moved or stored: rows of this mask, counted from 1
  bool floored;    // STALE: each term was divided by what is FLOORED, so it depends on whether its row holds nowhere
  bool beyond;     // LOW: no mask reaches it, and it is bottom beyond the end of a tensor alone
} Limit;

typedef struct Limits {
  const VerifyMasks *masks;
  const MirageUGraph *graph;
  Limit *of;         // [num_values + 1]
  MirageValue *root; // [num_values + 1]: of arguments of a kernel
} Limits;

static const Limit BAD_LIMIT = {.kind = BAD};

static Limit plain(Kind kind) { return (Limit){.kind = kind}; }

static bool is_settled(Kind kind) { return kind == FREE || kind == CLEAN; }

static MirageNodeView def_of(const MirageUGraph *graph, MirageValue v) {
  MirageNode def = mirage_ugraph_def(graph, v);
  return def.index ? mirage_ugraph_node(graph, def) : (MirageNodeView){.op = MIRAGE_OP_NONE};
}

// Without what changes no number: casts, and what stretches.
static MirageValue bare(const MirageUGraph *graph, MirageValue v) {
  MirageNodeView node = def_of(graph, v);
  while (node.op == MIRAGE_OP_CAST || node.op == MIRAGE_OP_BROADCAST) {
    v = node.operands[0];
    node = def_of(graph, v);
  }
  return v;
}

static bool same(const MirageUGraph *graph, MirageValue a, MirageValue b) {
  return bare(graph, a).index == bare(graph, b).index;
}

// Extent along dimension `from_end`, counted from the last.
static int64_t extent_from_end(const Limits *l, MirageValue v, uint32_t from_end) {
  const MirageType *type = mirage_ugraph_type(l->graph, v);
  return from_end < type->rank ? type->shape[type->rank - 1 - from_end] : 1;
}

// Whether `top` is a maximum of x, element by element, and others.
static bool dominates(const Limits *l, MirageValue top, MirageValue x) {
  if (same(l->graph, top, x))
    return true;
  MirageNodeView node = def_of(l->graph, bare(l->graph, top));
  bool reduces = (node.op == MIRAGE_OP_REDUCE_MAX && node.attrs->reduce.extent == 1) ||
                 node.op == MIRAGE_OP_CLUSTER_MAX || node.op == MIRAGE_OP_GRID_MAX;
  if (reduces)
    return dominates(l, node.operands[0], x);
  return node.op == MIRAGE_OP_MAX && (dominates(l, node.operands[0], x) || dominates(l, node.operands[1], x));
}

static bool is_zero(const Limits *l, MirageValue v) {
  MirageNodeView node = def_of(l->graph, bare(l->graph, v));
  return node.op == MIRAGE_OP_CONSTANT && node.attrs->constant.value == 0;
}

// Whether v is exp(from - to), `to` a maximum of `from`.
static bool leads(const Limits *l, MirageValue v, MirageValue from, MirageValue to) {
  MirageNodeView exp = def_of(l->graph, bare(l->graph, v));
  if (exp.op != MIRAGE_OP_EXP)
    return false;
  MirageNodeView sub = def_of(l->graph, bare(l->graph, exp.operands[0]));
  return sub.op == MIRAGE_OP_SUB && same(l->graph, sub.operands[0], from) && same(l->graph, sub.operands[1], to) &&
         dominates(l, to, from);
}

// --------------------------------------------------------------------------------------- what a maximum has seen

// Of which mask a maximum or a sum has seen a part of each row, and what it would have to go over to see the rest.
typedef struct Cover {
  uint32_t mask; // counted from 1; 0 = none
  bool grid[3], loop[MIRAGE_MAX_LOOPS];
} Cover;

enum { NOT_ELEMENTS = UINT32_MAX };
static Cover cover_of(const Limits *l, MirageValue v, uint32_t from_end);

// What a loop has gone over: all parts of a row that its iterations see, element by element or of what they have reduced.
// A factor that is no online softmax's may be 0, and what a sum begins with must be.
static Cover cover_of_carry(const Limits *l, MirageValue v, const MirageNodeView *loop, uint32_t from_end) {
  MirageRegionView body = mirage_ugraph_region(l->graph, loop->region);
  MirageNodeView yield = mirage_ugraph_node(l->graph, body.nodes[body.num_nodes - 1]);
  uint32_t index = v.index - loop->first_result.index;
  MirageValue given = yield.operands[index];
  MirageCombine combine = loop->attrs->loop.carries[index].combine;
  bool summed =
      (combine == MIRAGE_COMBINE_SUM || (combine == MIRAGE_COMBINE_RESCALE && l->of[given.index].kind == STALE)) &&
      is_zero(l, loop->operands[index]);
  if (combine != MIRAGE_COMBINE_MAX && !summed)
    return (Cover){0};
  Cover cover = cover_of(l, given, from_end);
  cover.loop[mirage_ugraph_scope(l->graph, mirage_ugraph_def(l->graph, v)).num_loops] = false;
  return cover;
}

// The mask that a tensor is, or of which a load brings a tile, where it lies along its own last dimension.
static Cover cover_of_mask(const Limits *l, MirageValue tensor, const MirageNodeView *node, uint32_t from_end) {
  Cover cover = {0};
  if (node->op == MIRAGE_OP_LOAD) {
    const MirageAccessAttrs *access = &node->attrs->access;
    uint32_t last = mirage_ugraph_type(l->graph, node->operands[0])->rank - 1;
    tensor = l->root[node->operands[0].index];
    for (uint32_t a = 0; a < 3; a++)
      cover.grid[a] = access->grid[a] == (int8_t)last;
    for (uint32_t i = 0; i < MIRAGE_MAX_LOOPS; i++)
      cover.loop[i] = access->loop[i] == (int8_t)last;
    for (uint32_t d = 0; d < MIRAGE_MAX_RANK; d++)
      if (access->order[d] || access->end[d])
        return cover;
  }
  if (node->op == MIRAGE_OP_LOAD &&
      mirage_ugraph_def(l->graph, tensor).index) { // numbers that the kernel level made of it
    cover.mask = cover_of(l, tensor, from_end).mask;
    return cover;
  }
  for (uint32_t i = 0; i < l->masks->count && from_end == 0; i++)
    if (mirage_ugraph_get_input(l->graph, l->masks->first_input + i).index == tensor.index)
      cover.mask = i + 1;
  return cover;
}

// Whether a mask takes it to minus infinity. What is beyond a tensor's end has no say in that: where its bottom hid an element of
// the mask's rows, the pair would not be equal at finite numbers.
static bool is_masked(const Limits *l, MirageValue v) { return l->of[v.index].kind == LOW && !l->of[v.index].beyond; }

// Of v itself, where it is a maximum or a sum (NOT_ELEMENTS); or of what lies along dimension `from_end` of it.
static Cover cover_of(const Limits *l, MirageValue v, uint32_t from_end) {
  v = bare(l->graph, v);
  MirageNodeView node = def_of(l->graph, v);
  if (node.op == MIRAGE_OP_LOOP)
    return cover_of_carry(l, v, &node, from_end);
  if (mirage_op_info(node.op ? node.op : MIRAGE_OP_ADD)->kind == MIRAGE_KIND_COLLECTIVE) {
    Cover cover = cover_of(l, node.operands[0], from_end);
    for (uint32_t a = 0; a < 3; a++)
      cover.grid[a] &= !node.attrs->axes.axis[a];
    return cover;
  }
  for (uint32_t i = 0; node.op == MIRAGE_OP_MUL && i < 2;
       i++) { // by exp(m - m'), not 0 where there is something to weigh
    Limit weighed = l->of[node.operands[1 - i].index];
    if (weighed.kind == STALE && l->of[v.index].kind == STALE &&
        leads(l, node.operands[i], weighed.top, l->of[v.index].top))
      return cover_of(l, node.operands[1 - i], from_end);
  }
  if (from_end == NOT_ELEMENTS) {
    bool reduces = node.op == MIRAGE_OP_REDUCE_MAX || node.op == MIRAGE_OP_REDUCE_SUM;
    uint32_t rank = mirage_ugraph_type(l->graph, v)->rank;
    return reduces && node.attrs->reduce.extent == 1
               ? cover_of(l, node.operands[0], rank - 1 - (uint32_t)node.attrs->reduce.dim)
               : (Cover){0};
  }
  if (node.op == MIRAGE_OP_EXP)
    return cover_of(l, node.operands[0], from_end);
  if (node.op == MIRAGE_OP_TRANSPOSE) {
    uint32_t last = mirage_ugraph_type(l->graph, v)->rank - 1;
    return cover_of(l, node.operands[0], last - (uint32_t)node.attrs->perm.perm[last - from_end]);
  }
  if (node.op == MIRAGE_OP_ADD || node.op == MIRAGE_OP_SUB) {
    bool first = is_masked(l, node.operands[0]), second = is_masked(l, node.operands[1]);
    if (first && (!second || node.op == MIRAGE_OP_SUB))
      return cover_of(l, node.operands[0], from_end);
    return second && !first && node.op == MIRAGE_OP_ADD ? cover_of(l, node.operands[1], from_end) : (Cover){0};
  }
  return cover_of_mask(l, v, &node, from_end);
}

// The mask of whose rows it has seen all, counted from 1; 0 = none.
static uint32_t sees_rows(const Limits *l, MirageValue v) {
  Cover cover = cover_of(l, v, NOT_ELEMENTS);
  for (uint32_t a = 0; a < 3; a++)
    cover.mask = cover.grid[a] ? 0 : cover.mask;
  for (uint32_t i = 0; i < MIRAGE_MAX_LOOPS; i++)
    cover.mask = cover.loop[i] ? 0 : cover.mask;
  return cover.mask;
}

static bool is_full(const Limits *l, uint32_t mask) { return mask && l->masks->masks[mask - 1].full; }

// Where the maximum is finite for certain, nothing is stale.
static Limit stale(const Limits *l, MirageValue top) {
  top = bare(l->graph, top);
  return is_full(l, sees_rows(l, top)) ? plain(CLEAN) : (Limit){.kind = STALE, .top = top};
}

// ------------------------------------------------------------------------------------------------------- operators

static Limit sum(const Limits *l, Limit a, Limit b) {
  if (a.kind == FREE && b.kind == FREE)
    return a;
  if (is_settled(a.kind) && is_settled(b.kind))
    return plain(CLEAN);
  if (a.kind <= LOW && b.kind <= LOW)
    return plain(LOW);
  if (a.kind == STALE && b.kind == STALE && a.top.index == b.top.index)
    return (Limit){.kind = STALE, .top = a.top, .floored = a.floored && b.floored};
  return BAD_LIMIT;
}

// A number that is 1 where the rows of a mask hold nowhere: cast(not(reduce_max(mask))).
static bool is_floor(const Limits *l, MirageValue v, uint32_t mask) {
  const MirageUGraph *source = l->masks->source;
  MirageNodeView load = def_of(l->graph, bare(l->graph, v));
  MirageValue tensor = load.op == MIRAGE_OP_LOAD ? l->root[load.operands[0].index] : bare(l->graph, v);
  for (uint32_t i = 0; i < l->masks->count; i++) {
    const VerifyMask *number = &l->masks->masks[i];
    if (!number->number || mirage_ugraph_get_input(l->graph, l->masks->first_input + i).index != tensor.index)
      continue;
    MirageNodeView cast = def_of(source, number->of), none, any;
    none = cast.op == MIRAGE_OP_CAST ? def_of(source, cast.operands[0]) : cast;
    any = none.op == MIRAGE_OP_NOT ? def_of(source, none.operands[0]) : none;
    return none.op == MIRAGE_OP_NOT && any.op == MIRAGE_OP_REDUCE_MAX && any.attrs->reduce.extent == 1 && mask &&
           any.operands[0].index == l->masks->masks[mask - 1].of.index &&
           any.attrs->reduce.dim == (int32_t)mirage_ugraph_type(source, any.operands[0])->rank - 1;
  }
  return false;
}

static Limit visit_add(const Limits *l, const MirageValue *operands, Limit a, Limit b) {
  Limit both = sum(l, a, b);
  for (uint32_t i = 0; i < 2 && both.kind == BAD; i++) {
    MirageValue x = operands[i], floor = operands[1 - i];
    Limit of = i ? b : a;
    if (of.kind == STALE && sees_rows(l, x) && sees_rows(l, x) == sees_rows(l, of.top) &&
        is_floor(l, floor, sees_rows(l, x)))
      return (Limit){.kind = FLOORED, .top = of.top};
  }
  return both;
}

static Limit visit_sub(const Limits *l, const MirageValue *operands, Limit a, Limit b) {
  if (b.kind == LOW)
    return a.kind == LOW && dominates(l, operands[1], operands[0])
               ? (Limit){.kind = BETWEEN, .top = bare(l->graph, operands[1])}
               : BAD_LIMIT;
  return sum(l, a, b);
}

static Limit visit_mul(const Limits *l, const MirageValue *operands, Limit a, Limit b) {
  if (a.kind == FREE && b.kind == FREE)
    return a;
  if (is_settled(a.kind) && is_settled(b.kind))
    return plain(CLEAN);
  for (uint32_t i = 0; i < 2; i++) {
    Limit x = i ? b : a, by = i ? a : b;
    bool floored = x.floored || (by.kind == STALE && by.floored);
    if (x.kind != STALE)
      continue;
    if (is_settled(by.kind) || (by.kind == STALE && by.top.index == x.top.index))
      return (Limit){.kind = STALE, .top = x.top, .floored = floored};
    if (by.kind == STALE && leads(l, operands[1 - i], x.top, by.top))
      return (Limit){.kind = STALE, .top = by.top, .floored = floored};
  }
  return BAD_LIMIT;
}

// A divisor must not vanish with bottom: a sum of exponentials over rows that hold somewhere does not.
static Limit visit_div(const Limits *l, const MirageValue *operands, Limit a, Limit b) {
  if (b.kind == FREE)
    return a.kind == LOW ? BAD_LIMIT : a;
  if (b.kind == CLEAN && is_settled(a.kind) && is_full(l, sees_rows(l, operands[1])))
    return plain(CLEAN);
  if (b.kind == FLOORED && a.kind == STALE && a.top.index == b.top.index)
    return (Limit){.kind = STALE, .top = a.top, .floored = true};
  return BAD_LIMIT;
}

static Limit visit_max(Limit a, Limit b) {
  if (a.kind == FREE && b.kind == FREE)
    return a;
  return a.kind > LOW || b.kind > LOW ? BAD_LIMIT : plain(a.kind == LOW || b.kind == LOW ? LOW : CLEAN);
}

static Limit visit_binary(const Limits *l, const MirageNodeView *node) {
  const MirageValue *operands = node->operands;
  Limit a = l->of[operands[0].index], b = l->of[operands[1].index];
  switch (node->op) {
  case MIRAGE_OP_ADD:
    return visit_add(l, operands, a, b);
  case MIRAGE_OP_SUB:
    return visit_sub(l, operands, a, b);
  case MIRAGE_OP_MUL:
    return visit_mul(l, operands, a, b);
  case MIRAGE_OP_DIV:
    return visit_div(l, operands, a, b);
  case MIRAGE_OP_MAX:
    return visit_max(a, b);
  default: // comparisons jump
    return a.kind == FREE && b.kind == FREE ? a : BAD_LIMIT;
  }
}

static Limit visit_unary(const Limits *l, const MirageNodeView *node) {
  Limit a = l->of[node->operands[0].index];
  if (a.kind == FREE)
    return a;
  if (node->op == MIRAGE_OP_EXP)
    return a.kind == BETWEEN ? stale(l, a.top) : a.kind <= LOW ? plain(CLEAN) : BAD_LIMIT;
  bool defined = node->op == MIRAGE_OP_SQRT || node->op == MIRAGE_OP_ERF || node->op == MIRAGE_OP_TANH;
  return a.kind == CLEAN && defined ? a : BAD_LIMIT;
}

// Whether a product sums along the rows of a maximum, `from_end` where it is not turned, and leaves them where they are.
static bool goes_along(const Limits *l, MirageValue top, uint32_t from_end, bool turned) {
  return extent_from_end(l, top, from_end) == 1 && (!turned || extent_from_end(l, top, 1 - from_end) == 1);
}

// What is stale by rows stays so where the product sums along them.
static Limit visit_matmul(const Limits *l, const MirageNodeView *node) {
  Limit a = l->of[node->operands[0].index], b = l->of[node->operands[1].index];
  if (a.kind == FREE && b.kind == FREE)
    return a;
  if (is_settled(a.kind) && is_settled(b.kind))
    return plain(CLEAN);
  if (a.kind == STALE && is_settled(b.kind) && goes_along(l, a.top, 0, node->attrs->matmul.transpose_a))
    return a;
  if (b.kind == STALE && is_settled(a.kind) && goes_along(l, b.top, 1, node->attrs->matmul.transpose_b))
    return b;
  return BAD_LIMIT;
}

static Limit visit_reduce(const Limits *l, const MirageNodeView *node) {
  Limit a = l->of[node->operands[0].index];
  uint32_t rank = mirage_ugraph_type(l->graph, node->operands[0])->rank;
  uint32_t from_end = rank - 1 - (uint32_t)node->attrs->reduce.dim;
  if (is_settled(a.kind))
    return a;
  if (node->op == MIRAGE_OP_REDUCE_MAX)
    return a.kind == LOW ? a : BAD_LIMIT;
  bool along = a.kind == STALE && node->attrs->reduce.extent == 1 && extent_from_end(l, a.top, from_end) == 1;
  return along ? a : BAD_LIMIT;
}

static Limit visit_collective(const Limits *l, const MirageNodeView *node) {
  Limit a = l->of[node->operands[0].index];
  bool takes_max = node->op == MIRAGE_OP_CLUSTER_MAX || node->op == MIRAGE_OP_GRID_MAX;
  if (is_settled(a.kind) || (a.kind == LOW && takes_max))
    return a;
  MirageNodeView top = def_of(l->graph, a.top);
  bool shared = a.kind == STALE && (top.op == MIRAGE_OP_CLUSTER_MAX || top.op == MIRAGE_OP_GRID_MAX);
  for (uint32_t i = 0; shared && i < 3; i++) // the same maximum in all blocks that are summed
    shared = !node->attrs->axes.axis[i] || top.attrs->axes.axis[i];
  return shared && !takes_max ? a : BAD_LIMIT;
}

static Limit visit_load(const Limits *l, const MirageNodeView *node) {
  Limit a = l->of[node->operands[0].index];
  if (a.kind > LOW)
    return BAD_LIMIT;
  if (node->attrs->access.fill != MIRAGE_FILL_BOTTOM)
    return a;
  return (Limit){.kind = LOW, .beyond = is_settled(a.kind)};
}

// ----------------------------------------------------------------------------------------------------------- regions

static void visit_region(Limits *l, MirageRegion region);

// What an online softmax carries: rescaled by exp(m - max(m, t)), where the loop carries m and this iteration gives t.
static Limit rescaled(const Limits *l, MirageNode id, const MirageNodeView *loop, const MirageNodeView *yield,
                      MirageValue contribution, MirageValue factor, MirageValue init) {
  Limit given = l->of[contribution.index];
  for (uint32_t j = 0; j < loop->attrs->loop.num_carries; j++) {
    MirageValue before = mirage_ugraph_argument(l->graph, id, j);
    MirageNodeView max = def_of(l->graph, given.top);
    if (loop->attrs->loop.carries[j].combine != MIRAGE_COMBINE_MAX || given.kind != STALE || max.op != MIRAGE_OP_MAX)
      continue;
    bool grows = (same(l->graph, max.operands[0], before) && same(l->graph, max.operands[1], yield->operands[j])) ||
                 (same(l->graph, max.operands[1], before) && same(l->graph, max.operands[0], yield->operands[j]));
    if (grows && leads(l, factor, before, given.top) && is_zero(l, init) &&
        def_of(l->graph, loop->operands[j]).op == MIRAGE_OP_BOTTOM)
      return stale(l, (MirageValue){loop->first_result.index + j});
  }
  return BAD_LIMIT;
}

static bool is_inside(const Limits *l, MirageValue v, const MirageRegionView *body) {
  MirageNode def = mirage_ugraph_def(l->graph, v);
  for (uint32_t i = 0; i < body->num_nodes; i++)
    if (body->nodes[i].index == def.index)
      return true;
  return v.index >= body->first_argument.index && v.index < body->first_argument.index + body->num_arguments;
}

static Limit carried(const Limits *l, MirageNode id, const MirageNodeView *loop, uint32_t i, uint32_t *factors) {
  MirageRegionView body = mirage_ugraph_region(l->graph, loop->region);
  MirageNodeView yield = mirage_ugraph_node(l->graph, body.nodes[body.num_nodes - 1]);
  MirageCombine combine = loop->attrs->loop.carries[i].combine;
  Limit init = l->of[loop->operands[i].index], given = l->of[yield.operands[i].index];
  if (combine == MIRAGE_COMBINE_RESCALE) {
    MirageValue factor = yield.operands[loop->attrs->loop.num_carries + (*factors)++];
    Limit by = l->of[factor.index];
    if (is_settled(given.kind) && is_settled(by.kind) && is_settled(init.kind))
      return plain(given.kind == FREE && by.kind == FREE && init.kind == FREE ? FREE : CLEAN);
    return rescaled(l, id, loop, &yield, yield.operands[i], factor, loop->operands[i]);
  }
  if (combine == MIRAGE_COMBINE_MAX)
    return given.kind <= LOW && init.kind <= LOW ? plain(given.kind == FREE && init.kind == FREE ? FREE : LOW)
                                                 : BAD_LIMIT;
  if (combine == MIRAGE_COMBINE_SUM && given.kind == STALE)
    return !is_inside(l, given.top, &body) && is_zero(l, loop->operands[i]) ? given : BAD_LIMIT;
  return combine == MIRAGE_COMBINE_SUM ? sum(l, init, given)
         : is_settled(given.kind)      ? plain(given.kind == FREE && init.kind == FREE ? FREE : CLEAN)
                                       : BAD_LIMIT;
}

// First as if no mask reached what the loop carries; if one does, a maximum is LOW, and nothing else may be read.
static void visit_loop(Limits *l, MirageNode id, const MirageNodeView *node) {
  uint32_t count = node->attrs->loop.num_carries;
  bool settled = true;
  for (uint32_t i = 0; i < count; i++) {
    bool bottom = def_of(l->graph, node->operands[i]).op == MIRAGE_OP_BOTTOM;
    l->of[mirage_ugraph_argument(l->graph, id, i).index] = bottom ? plain(LOW) : l->of[node->operands[i].index];
  }
  visit_region(l, node->region);
  for (int again = 0; again < 2; again++) {
    uint32_t factors = 0;
    for (uint32_t i = 0; i < count; i++) {
      Limit result = carried(l, id, node, i, &factors);
      settled &= result.kind == FREE;
      l->of[node->first_result.index + i] = result;
    }
    if (settled || again)
      return;
    for (uint32_t i = 0; i < count; i++)
      l->of[mirage_ugraph_argument(l->graph, id, i).index] =
          node->attrs->loop.carries[i].combine == MIRAGE_COMBINE_MAX ? plain(LOW) : BAD_LIMIT;
    visit_region(l, node->region);
  }
}

// What is only moved keeps its limit. Of what is stale the rows lie elsewhere then: it is for outputs alone.
static Limit moved(const Limits *l, Limit a) {
  if (a.kind <= LOW)
    return a;
  Limit rows = {.kind = STALE, .mask = a.top.index ? sees_rows(l, a.top) : a.mask, .floored = a.floored};
  return a.kind == STALE && rows.mask ? rows : BAD_LIMIT;
}

// Several stores fill one result: it is what the worst of them is.
static void visit_store(Limits *l, const MirageNodeView *node) {
  Limit tile = l->of[node->operands[0].index], *out = &l->of[node->operands[1].index];
  if (tile.kind == STALE && tile.top.index)
    tile.mask = sees_rows(l, tile.top);
  bool known = tile.kind == FREE || tile.kind == CLEAN || (tile.kind == STALE && tile.mask);
  if (!known || (out->kind == STALE && tile.kind != STALE) || (out->kind == CLEAN && tile.kind == STALE) ||
      (out->kind == STALE && (out->mask != tile.mask || out->floored != tile.floored)))
    tile = BAD_LIMIT;
  if (out->kind == FREE || tile.kind == BAD)
    *out = tile;
}

static void visit_custom(Limits *l, MirageNode id, const MirageNodeView *node) {
  for (uint32_t i = 0; i < node->num_operands + node->num_results; i++) {
    MirageValue argument = mirage_ugraph_argument(l->graph, id, i);
    l->root[argument.index] = i < node->num_operands ? node->operands[i] : argument;
    l->of[argument.index] = i < node->num_operands ? l->of[node->operands[i].index] : plain(FREE);
  }
  visit_region(l, node->region);
  for (uint32_t i = 0; i < node->num_results; i++) {
    Limit limit = l->of[mirage_ugraph_argument(l->graph, id, node->num_operands + i).index];
    limit.top = (MirageValue){0}; // lies in the kernel: what is stale here is for outputs alone
    l->of[node->first_result.index + i] = limit;
  }
}

static Limit visit_operator(const Limits *l, const MirageNodeView *node) {
  Limit a = node->num_operands ? l->of[node->operands[0].index] : plain(FREE);
  if (node->op == MIRAGE_OP_RESHAPE || node->op == MIRAGE_OP_TRANSPOSE || node->op == MIRAGE_OP_SLICE)
    return moved(l, a);
  if (a.kind == STALE && !a.top.index)
    return BAD_LIMIT;
  switch (mirage_op_info(node->op)->kind) {
  case MIRAGE_KIND_UNARY:
    return visit_unary(l, node);
  case MIRAGE_KIND_BINARY:
    return visit_binary(l, node);
  case MIRAGE_KIND_MATMUL:
    return visit_matmul(l, node);
  case MIRAGE_KIND_REDUCE:
    return visit_reduce(l, node);
  case MIRAGE_KIND_CAST:
    return a;
  case MIRAGE_KIND_CONSTANT:
    return plain(node->op == MIRAGE_OP_BOTTOM ? LOW : FREE);
  case MIRAGE_KIND_ACCESS:
    return visit_load(l, node);
  case MIRAGE_KIND_COLLECTIVE:
    return visit_collective(l, node);
  default:
    break;
  }
  Kind worst = FREE;
  for (uint32_t i = 0; i < node->num_operands; i++)
    worst = l->of[node->operands[i].index].kind > worst ? l->of[node->operands[i].index].kind : worst;
  return node->op == MIRAGE_OP_BROADCAST ? a : worst <= CLEAN ? plain(worst) : BAD_LIMIT;
}

static void visit_region(Limits *l, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(l->graph, region);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(l->graph, view.nodes[i]);
    if (node.op == MIRAGE_OP_LOOP)
      visit_loop(l, view.nodes[i], &node);
    else if (node.op == MIRAGE_OP_CUSTOM)
      visit_custom(l, view.nodes[i], &node);
    else if (node.op == MIRAGE_OP_STORE)
      visit_store(l, &node);
    else if (node.op == MIRAGE_OP_THREAD)
      for (uint32_t k = 0; k < node.num_results; k++)
        l->of[node.first_result.index + k] = BAD_LIMIT;
    else if (node.num_results == 1)
      l->of[node.first_result.index] = visit_operator(l, &node);
  }
}

static bool limits_init(Limits *l, const VerifyMasks *masks, int g) {
  size_t values = (size_t)mirage_ugraph_num_values(masks->graphs[g]) + 1;
  *l = (Limits){masks, masks->graphs[g], calloc(values, sizeof *l->of), calloc(values, sizeof *l->root)};
  if (!l->of || !l->root)
    return false;
  for (uint32_t i = 0; i < masks->count; i++)
    l->of[mirage_ugraph_get_input(l->graph, masks->first_input + i).index] = plain(masks->masks[i].number ? FREE : LOW);
  visit_region(l, mirage_ugraph_body(l->graph));
  return true;
}

// How an output behaves: with the mask of whose empty rows it is 0. Which row that is, equality for all numbers tells only where
// the output depends on one of the row for certain: by a divisor that is floored. exp(m - m) is 1 for all of them.
static Limit of_output(const Limits *l, uint32_t o) {
  Limit limit = l->of[mirage_ugraph_get_output(l->graph, o).index];
  return limit.kind == STALE ? moved(l, limit) : limit;
}

bool mirage__verify_masks_hold(const VerifyMasks *masks) {
  Limits limits[2] = {{0}};
  bool hold = limits_init(&limits[0], masks, 0) && limits_init(&limits[1], masks, 1);
  for (uint32_t o = 0; hold && o < mirage_ugraph_num_outputs(masks->graphs[0]); o++) {
    Limit a = of_output(&limits[0], o), b = of_output(&limits[1], o);
    bool stale = a.kind == STALE && b.kind == STALE && a.floored && b.floored;
    hold = is_settled(a.kind) ? is_settled(b.kind) : stale && a.mask && a.mask == b.mask;
  }
  for (int g = 0; g < 2; g++) {
    free(limits[g].of);
    free(limits[g].root);
  }
  return hold;
}
