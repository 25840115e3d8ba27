// mutation.c - lists the single mutations of a µGraph, and applies one by building the graph again.
//
// Listing:   one walk in textual order, with a stack of the values that are visible; each node adds its mutations.
// Applying:  a copy through the public builder that changes one node on its way. Types are inferred anew, so that a
//            change of a map changes tiles downstream; where they no longer fit, the builder refuses, and so it should.
#include "mutation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *mutation_name(MutationKind kind) {
  static const char *const names[] = {
#define MUTATION_NAME(name, text) text,
      MUTATION_TABLE(MUTATION_NAME)
#undef MUTATION_NAME
  };
  return names[kind];
}

// ------------------------------------------------------------------------------------------------------------- listing

typedef struct Lister {
  const MirageUGraph *graph;
  MutationList *list;
  MirageValue *visible; // a stack
  uint32_t num_visible;
  bool failed;
} Lister;

static void add(Lister *lister, Mutation mutation) {
  MutationList *list = lister->list;
  if (list->count == list->capacity) {
    uint32_t capacity = list->capacity ? 2 * list->capacity : 256;
    Mutation *larger = realloc(list->data, capacity * sizeof *larger);
    if (!larger) {
      lister->failed = true;
      return;
    }
    list->data = larger;
    list->capacity = capacity;
  }
  list->data[list->count++] = mutation;
}

// Numbers near `now`: one more, one less, twice, half.
static void add_numbers(Lister *lister, Mutation base, int64_t now) {
  const int64_t to[] = {now + 1, now - 1, now * 2, now / 2};
  for (uint32_t i = 0; i < 4; i++)
    if (to[i] >= 1 && to[i] != now && (i < 2 || (to[i] != now + 1 && to[i] != now - 1))) {
      base.to = to[i];
      add(lister, base);
    }
}

static void add_dims(Lister *lister, Mutation base, int32_t now, MirageValue of) {
  for (uint32_t d = 0; d < mirage_ugraph_type(lister->graph, of)->rank; d++)
    if ((int32_t)d != now) {
      base.to = d;
      add(lister, base);
    }
}

// Entries of an access map in one numbering: grid axes x, y, z, then loops.
static int8_t map_entry(const MirageAccessAttrs *access, uint32_t i) {
  return i < 3 ? access->grid[i] : access->loop[i - 3];
}
static void set_map_entry(MirageAccessAttrs *access, uint32_t i, int8_t to) {
  *(i < 3 ? &access->grid[i] : &access->loop[i - 3]) = to;
}

// Whether some block or iteration loads elements that lie outside the tensor.
static bool is_masked(const MirageUGraph *graph, const MirageNodeView *load, const MirageScope *scope) {
  const MirageType *tensor = mirage_ugraph_type(graph, load->operands[0]);
  const MirageType *tile = mirage_ugraph_type(graph, load->first_result);
  for (uint32_t d = 0; d < tensor->rank; d++) {
    int64_t covered = tile->shape[d];
    for (uint32_t i = 0; i < 3 + scope->num_loops; i++)
      if (map_entry(&load->attrs->access, i) == (int8_t)d)
        covered *= i < 3 ? scope->grid[i] : scope->ranges[i - 3];
    if (covered != tensor->shape[d])
      return true;
  }
  return false;
}

static void list_access(Lister *lister, MirageNode id, const MirageNodeView *node) {
  const MirageAccessAttrs *access = &node->attrs->access;
  bool load = node->op == MIRAGE_OP_LOAD;
  int32_t rank = (int32_t)mirage_ugraph_type(lister->graph, node->operands[load ? 0 : 1])->rank;
  MirageScope scope = mirage_ugraph_scope(lister->graph, id);
  for (int32_t to = -1; to < rank; to++) {
    for (uint32_t axis = 0; axis < 3; axis++)
      if (access->grid[axis] != to && scope.grid[axis] > 1) // an axis of one block splits nothing
        add(lister, (Mutation){.kind = load ? MUTATION_IMAP : MUTATION_OMAP, .node = id, .place = axis, .to = to});
    for (uint32_t l = 0; l < scope.num_loops; l++)
      if (access->loop[l] != to && scope.ranges[l] > 1)
        add(lister, (Mutation){.kind = MUTATION_FMAP, .node = id, .place = l, .to = to});
  }
  // Two axes that exchange their dimensions: the slip that type-checks most often.
  for (uint32_t i = 0; i < 3 + scope.num_loops; i++)
    for (uint32_t j = i + 1; j < 3 + scope.num_loops; j++)
      if (map_entry(access, i) != map_entry(access, j))
        add(lister, (Mutation){.kind = MUTATION_MAP_SWAP, .node = id, .place = i, .to = j});
  if (mirage_access_may_cycle(access))
    add(lister, (Mutation){.kind = MUTATION_CYCLIC, .node = id, .to = !access->cyclic});
  for (int64_t fill = 0; load && fill <= MIRAGE_FILL_BOTTOM; fill++)
    if ((MirageFill)fill != access->fill && is_masked(lister->graph, node, &scope))
      add(lister, (Mutation){.kind = MUTATION_FILL, .node = id, .to = fill});
}

static void list_custom(Lister *lister, MirageNode id, const MirageCustomAttrs *custom) {
  for (uint32_t axis = 0; axis < 3; axis++) {
    if (custom->grid[axis] == 1)
      continue; // further blocks along an axis that nothing names only repeat what the first does
    add_numbers(lister, (Mutation){.kind = MUTATION_GRID, .node = id, .place = axis}, custom->grid[axis]);
    add_numbers(lister, (Mutation){.kind = MUTATION_GRID, .node = id, .place = 3 + axis}, custom->cluster[axis]);
  }
}

static void list_loop(Lister *lister, MirageNode id, const MirageNodeView *node) {
  const MirageLoopAttrs *loop = &node->attrs->loop;
  add_numbers(lister, (Mutation){.kind = MUTATION_RANGE, .node = id}, loop->range);
  for (uint32_t i = 0; i < loop->num_carries; i++) {
    for (int64_t to = 0; to <= MIRAGE_COMBINE_ASSIGN; to++)
      if ((MirageCombine)to != loop->carries[i].combine)
        add(lister, (Mutation){.kind = MUTATION_COMBINE, .node = id, .place = i, .to = to});
    if (loop->carries[i].combine == MIRAGE_COMBINE_CONCAT)
      add_dims(lister, (Mutation){.kind = MUTATION_DIM, .node = id, .place = i}, loop->carries[i].dim,
               node->operands[i]);
  }
}

// Other numbers, and every extent that occurs in the graph: a mean over the wrong axis.
static void list_constant(Lister *lister, MirageNode id, double now) {
  const double to[] = {now * 2, now + 1, -now, now * (1 + 0x1p-12), 0, 1};
  bool seen[64] = {false};
  for (uint32_t i = 0; i < sizeof to / sizeof *to; i++)
    if (to[i] != now)
      add(lister, (Mutation){.kind = MUTATION_CONSTANT, .node = id, .value = to[i]});
  for (uint32_t v = 1; now != 0 && v <= mirage_ugraph_num_values(lister->graph); v++) {
    const MirageType *type = mirage_ugraph_type(lister->graph, (MirageValue){v});
    for (uint32_t d = 0; d < type->rank; d++) {
      int64_t extent = type->shape[d];
      if (extent == (int64_t)now || extent >= 64 || seen[extent])
        continue;
      seen[extent] = true;
      add(lister, (Mutation){.kind = MUTATION_CONSTANT, .node = id, .value = (double)extent});
    }
  }
}

// One place of an iota: 0 = where it begins, then the steps of grid axes, then those of loops.
static int64_t *index_place(MirageAttrs *attrs, uint32_t place) {
  return place == 0 ? &attrs->iota.start : place < 4 ? &attrs->iota.grid[place - 1] : &attrs->iota.loop[place - 4];
}

static void list_index(Lister *lister, MirageNode id, const MirageNodeView *node) {
  MirageScope scope = mirage_ugraph_scope(lister->graph, id);
  MirageAttrs attrs = *node->attrs;
  for (uint32_t place = 0; place < 4 + scope.num_loops; place++) {
    int64_t now = *index_place(&attrs, place);
    const int64_t to[] = {now - 1, now + 1, 2 * now, 0};
    bool moves = place == 0 || (place < 4 ? scope.grid[place - 1] : scope.ranges[place - 4]) > 1;
    for (uint32_t i = 0; moves && i < 4; i++)
      if (to[i] != now)
        add(lister, (Mutation){.kind = MUTATION_INDEX, .node = id, .place = place, .to = to[i]});
  }
}

static void list_attributes(Lister *lister, MirageNode id, const MirageNodeView *node) {
  const MirageAttrs *attrs = node->attrs;
  switch (mirage_op_info(node->op)->attrs) {
  case MIRAGE_ATTRS_ACCESS:
    list_access(lister, id, node);
    break;
  case MIRAGE_ATTRS_CUSTOM:
    list_custom(lister, id, &attrs->custom);
    break;
  case MIRAGE_ATTRS_LOOP:
    list_loop(lister, id, node);
    break;
  case MIRAGE_ATTRS_MATMUL:
    for (uint32_t i = 0; i < 2; i++)
      add(lister, (Mutation){.kind = MUTATION_TRANSPOSE, .node = id, .place = i});
    break;
  case MIRAGE_ATTRS_REDUCE:
    add_dims(lister, (Mutation){.kind = MUTATION_DIM, .node = id}, attrs->reduce.dim, node->operands[0]);
    add_numbers(lister, (Mutation){.kind = MUTATION_EXTENT, .node = id}, attrs->reduce.extent);
    break;
  case MIRAGE_ATTRS_REPEAT:
    add_dims(lister, (Mutation){.kind = MUTATION_DIM, .node = id}, attrs->repeat.dim, node->operands[0]);
    add_numbers(lister, (Mutation){.kind = MUTATION_EXTENT, .node = id}, attrs->repeat.times);
    break;
  case MIRAGE_ATTRS_DIM:
    add_dims(lister, (Mutation){.kind = MUTATION_DIM, .node = id}, attrs->dim.dim, node->operands[0]);
    break;
  case MIRAGE_ATTRS_SLICE:
    add_dims(lister, (Mutation){.kind = MUTATION_DIM, .node = id}, attrs->slice.dim, node->operands[0]);
    for (int64_t by = -1; by <= 1; by += 2) // both ends move, so that the extent stays
      add(lister, (Mutation){.kind = MUTATION_EXTENT, .node = id, .to = by});
    break;
  case MIRAGE_ATTRS_PERM:
    for (uint32_t i = 1; i < mirage_ugraph_type(lister->graph, node->operands[0])->rank; i++)
      add(lister, (Mutation){.kind = MUTATION_PERM, .node = id, .place = i});
    break;
  case MIRAGE_ATTRS_AXES:
    for (uint32_t i = 0; i < 3; i++)
      add(lister, (Mutation){.kind = MUTATION_AXES, .node = id, .place = i});
    break;
  case MIRAGE_ATTRS_CONSTANT:
    list_constant(lister, id, attrs->constant.value);
    break;
  case MIRAGE_ATTRS_IOTA:
    list_index(lister, id, node);
    break;
  default:
    break;
  }
}

static void list_siblings(Lister *lister, MirageNode id, const MirageNodeView *node) {
  const MirageOpInfo *info = mirage_op_info(node->op);
  if (info->kind == MIRAGE_KIND_REGION || info->kind == MIRAGE_KIND_TERMINATOR || info->kind == MIRAGE_KIND_ACCESS ||
      info->kind == MIRAGE_KIND_CONSTANT)
    return;
  for (MirageOp op = MIRAGE_OP_NONE + 1; op < MIRAGE_NUM_OPS; op++) {
    const MirageOpInfo *other = mirage_op_info(op);
    if (op != node->op && other->kind == info->kind && other->attrs == info->attrs &&
        (other->levels & (uint32_t)node->level) && other->min_operands == info->min_operands)
      add(lister, (Mutation){.kind = MUTATION_SIBLING, .node = id, .op = op});
  }
}

static void list_operands(Lister *lister, MirageNode id, const MirageNodeView *node) {
  for (uint32_t i = 0; i < node->num_operands; i++) {
    const MirageType *type = mirage_ugraph_type(lister->graph, node->operands[i]);
    for (uint32_t j = i + 1; j < node->num_operands; j++)
      if (node->operands[i].index != node->operands[j].index)
        add(lister, (Mutation){.kind = MUTATION_SWAP, .node = id, .place = i, .to = j});
    for (uint32_t v = 0; v < lister->num_visible; v++) {
      const MirageType *other = mirage_ugraph_type(lister->graph, lister->visible[v]);
      if (lister->visible[v].index != node->operands[i].index && other->rank == type->rank &&
          mirage_type_same_meaning(type, other))
        add(lister, (Mutation){.kind = MUTATION_REWIRE, .node = id, .place = i, .to = lister->visible[v].index});
    }
  }
}

static void list_region(Lister *lister, MirageRegion region);

static void list_node(Lister *lister, MirageNode id) {
  MirageNodeView node = mirage_ugraph_node(lister->graph, id);
  list_attributes(lister, id, &node);
  list_siblings(lister, id, &node);
  list_operands(lister, id, &node);
  if (node.region.index) {
    uint32_t before = lister->num_visible;
    MirageValue *outside = lister->visible;
    if (node.op != MIRAGE_OP_LOOP) { // an isolated region sees nothing from outside
      lister->visible += before;
      lister->num_visible = 0;
    }
    list_region(lister, node.region);
    lister->visible = outside;
    lister->num_visible = before;
  }
  for (uint32_t i = 0; i < node.num_results; i++)
    lister->visible[lister->num_visible++] = mirage_ugraph_result(lister->graph, id, i);
}

static void list_region(Lister *lister, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(lister->graph, region);
  for (uint32_t i = 0; i < view.num_arguments; i++)
    lister->visible[lister->num_visible++] = (MirageValue){view.first_argument.index + i};
  for (uint32_t i = 0; i < view.num_nodes; i++)
    list_node(lister, view.nodes[i]);
}

static int by_kind(const void *a, const void *b) {
  const Mutation *x = a, *y = b;
  if (x->kind != y->kind)
    return x->kind < y->kind ? -1 : 1;
  if (x->node.index != y->node.index)
    return x->node.index < y->node.index ? -1 : 1;
  if (x->place != y->place)
    return x->place < y->place ? -1 : 1;
  if (x->to != y->to)
    return x->to < y->to ? -1 : 1;
  return x->op != y->op ? (x->op < y->op ? -1 : 1) : (x->value > y->value) - (x->value < y->value);
}

bool mutation_list(const MirageUGraph *graph, MutationList *out_list) {
  *out_list = (MutationList){0};
  MirageValue *visible = calloc(mirage_ugraph_num_values(graph) + 1, sizeof *visible);
  Lister lister = {.graph = graph, .list = out_list, .visible = visible, .failed = !visible};
  if (visible) {
    for (uint32_t i = 0; i < mirage_ugraph_num_inputs(graph); i++)
      lister.visible[lister.num_visible++] = mirage_ugraph_get_input(graph, i);
    MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
    for (uint32_t i = 0; i < body.num_nodes; i++)
      list_node(&lister, body.nodes[i]);
  }
  free(visible);
  if (lister.failed)
    return false;
  qsort(out_list->data, out_list->count, sizeof *out_list->data, by_kind);
  for (uint32_t i = 0, kind = 0; kind <= NUM_MUTATIONS; kind++) {
    while (i < out_list->count && out_list->data[i].kind < kind)
      i++;
    out_list->first[kind] = i;
  }
  return true;
}

// ------------------------------------------------------------------------------------------------------------ applying

enum { MAX_OPERANDS = 64 };

typedef struct Rebuild {
  const MirageUGraph *from;
  MirageUGraph *to;
  const Mutation *mutation;
  MirageValue *map; // old value -> new
} Rebuild;

static void change_attributes(const MirageNodeView *node, const Mutation *m, MirageAttrs *attrs) {
  switch (m->kind) {
  case MUTATION_IMAP:
  case MUTATION_OMAP:
    attrs->access.grid[m->place] = (int8_t)m->to;
    break;
  case MUTATION_FMAP:
    attrs->access.loop[m->place] = (int8_t)m->to;
    break;
  case MUTATION_MAP_SWAP: {
    int8_t kept = map_entry(&attrs->access, m->place);
    set_map_entry(&attrs->access, m->place, map_entry(&attrs->access, (uint32_t)m->to));
    set_map_entry(&attrs->access, (uint32_t)m->to, kept);
    break;
  }
  case MUTATION_CYCLIC:
    attrs->access.cyclic = m->to;
    break;
  case MUTATION_FILL:
    attrs->access.fill = (MirageFill)m->to;
    break;
  case MUTATION_RANGE:
    attrs->loop.range = m->to;
    break;
  case MUTATION_GRID:
    *(m->place < 3 ? &attrs->custom.grid[m->place] : &attrs->custom.cluster[m->place - 3]) = m->to;
    break;
  case MUTATION_DIM:
    if (node->op == MIRAGE_OP_REPEAT)
      attrs->repeat.dim = (int32_t)m->to;
    else if (node->op == MIRAGE_OP_SLICE)
      attrs->slice.dim = (int32_t)m->to;
    else if (mirage_op_info(node->op)->attrs == MIRAGE_ATTRS_REDUCE)
      attrs->reduce.dim = (int32_t)m->to;
    else if (node->op != MIRAGE_OP_LOOP) // a loop's carries are changed where they are copied
      attrs->dim.dim = (int32_t)m->to;
    break;
  case MUTATION_EXTENT:
    if (node->op == MIRAGE_OP_REPEAT) {
      attrs->repeat.times = m->to;
    } else if (node->op == MIRAGE_OP_SLICE) {
      attrs->slice.begin += m->to;
      attrs->slice.end += m->to;
    } else {
      attrs->reduce.extent = m->to;
    }
    break;
  case MUTATION_PERM: {
    int32_t *perm = attrs->perm.perm, kept = perm[m->place];
    perm[m->place] = perm[m->place - 1];
    perm[m->place - 1] = kept;
    break;
  }
  case MUTATION_TRANSPOSE:
    *(m->place ? &attrs->matmul.transpose_b : &attrs->matmul.transpose_a) ^= true;
    break;
  case MUTATION_AXES:
    attrs->axes.axis[m->place] ^= true;
    break;
  case MUTATION_CONSTANT:
    attrs->constant.value = m->value;
    break;
  case MUTATION_INDEX:
    *index_place(attrs, m->place) = m->to;
    break;
  default:
    break;
  }
}

static void rebuild_region(Rebuild *rebuild, MirageRegion region);

static void map_arguments(Rebuild *rebuild, const MirageNodeView *node, MirageNode copy) {
  MirageRegionView region = mirage_ugraph_region(rebuild->from, node->region);
  for (uint32_t i = 0; i < region.num_arguments; i++)
    rebuild->map[region.first_argument.index + i] = mirage_ugraph_argument(rebuild->to, copy, i);
}

static MirageNode open_loop(Rebuild *rebuild, MirageNode id, const MirageNodeView *node, const MirageValue *operands,
                            MirageAttrs *attrs) {
  MirageCarry carries[MAX_OPERANDS];
  memcpy(carries, attrs->loop.carries, attrs->loop.num_carries * sizeof *carries);
  attrs->loop.carries = carries;
  const Mutation *m = rebuild->mutation;
  if (m->node.index == id.index && m->kind == MUTATION_COMBINE)
    carries[m->place].combine = (MirageCombine)m->to;
  if (m->node.index == id.index && m->kind == MUTATION_DIM)
    carries[m->place].dim = (int32_t)m->to;
  return mirage_ugraph_open_loop(rebuild->to, node->num_operands, operands, &attrs->loop);
}

static MirageNode open_custom(Rebuild *rebuild, const MirageNodeView *node, const MirageValue *operands,
                              const MirageAttrs *attrs) {
  MirageType results[MAX_OPERANDS];
  for (uint32_t i = 0; i < node->num_results; i++)
    results[i] = *mirage_ugraph_type(rebuild->from, (MirageValue){node->first_result.index + i});
  return mirage_ugraph_open_custom(rebuild->to, node->num_operands, operands, node->num_results, results,
                                   &attrs->custom);
}

static void rebuild_with_region(Rebuild *rebuild, MirageNode id, const MirageNodeView *node,
                                const MirageValue *operands, MirageAttrs *attrs) {
  MirageNode copy = node->op == MIRAGE_OP_LOOP ? open_loop(rebuild, id, node, operands, attrs)
                    : node->op == MIRAGE_OP_THREAD
                        ? mirage_ugraph_open_thread(rebuild->to, node->num_operands, operands)
                        : open_custom(rebuild, node, operands, attrs);
  map_arguments(rebuild, node, copy);
  rebuild_region(rebuild, node->region);
  if (node->op == MIRAGE_OP_CUSTOM) // loop and thread end with their yield
    mirage_ugraph_close(rebuild->to, 0, NULL);
  for (uint32_t i = 0; i < node->num_results; i++)
    rebuild->map[node->first_result.index + i] = mirage_ugraph_result(rebuild->to, copy, i);
}

// A carry that becomes a rescaled one needs a factor: its own contribution, the only value at hand that surely
// broadcasts. One that stops being rescaled loses its factor.
static uint32_t adapt_factors(Rebuild *rebuild, const MirageNodeView *yield, MirageValue *operands, uint32_t count) {
  const Mutation *m = rebuild->mutation;
  MirageNode owner = mirage_ugraph_region(rebuild->from, yield->parent).owner;
  if (m->kind != MUTATION_COMBINE || m->node.index != owner.index)
    return count;
  const MirageLoopAttrs *loop = &mirage_ugraph_node(rebuild->from, owner).attrs->loop;
  uint32_t at = loop->num_carries;
  for (uint32_t i = 0; i < m->place; i++)
    at += loop->carries[i].combine == MIRAGE_COMBINE_RESCALE;
  if (loop->carries[m->place].combine == MIRAGE_COMBINE_RESCALE) {
    memmove(operands + at, operands + at + 1, (count - at - 1) * sizeof *operands);
    return count - 1;
  }
  if ((MirageCombine)m->to == MIRAGE_COMBINE_RESCALE) {
    memmove(operands + at + 1, operands + at, (count - at) * sizeof *operands);
    operands[at] = operands[m->place];
    return count + 1;
  }
  return count;
}

static void rebuild_node(Rebuild *rebuild, MirageNode id) {
  MirageNodeView node = mirage_ugraph_node(rebuild->from, id);
  const Mutation *m = rebuild->mutation;
  bool here = m->node.index == id.index;
  MirageValue operands[MAX_OPERANDS + 1];
  uint32_t count = node.num_operands < MAX_OPERANDS ? node.num_operands : MAX_OPERANDS;
  for (uint32_t i = 0; i < count; i++)
    operands[i] = rebuild->map[node.operands[i].index];
  if (here && m->kind == MUTATION_SWAP) {
    MirageValue kept = operands[m->place];
    operands[m->place] = operands[m->to];
    operands[m->to] = kept;
  }
  if (here && m->kind == MUTATION_REWIRE)
    operands[m->place] = rebuild->map[m->to];
  MirageAttrs attrs = {0};
  if (node.attrs)
    attrs = *node.attrs;
  if (here)
    change_attributes(&node, m, &attrs);
  MirageOp op = here && m->kind == MUTATION_SIBLING ? m->op : node.op;
  if (node.region.index) {
    rebuild_with_region(rebuild, id, &node, operands, &attrs);
  } else if (node.op == MIRAGE_OP_RETURN) {
    mirage_ugraph_return(rebuild->to, count, operands);
  } else if (node.op == MIRAGE_OP_YIELD) {
    count = adapt_factors(rebuild, &node, operands, count);
    mirage_ugraph_close(rebuild->to, count, operands);
  } else {
    bool plain = mirage_op_info(node.op)->attrs == MIRAGE_ATTRS_NONE;
    MirageValue y = mirage_ugraph_apply(rebuild->to, op, count, operands, plain ? NULL : &attrs);
    if (node.num_results)
      rebuild->map[node.first_result.index] = y;
  }
}

static void rebuild_region(Rebuild *rebuild, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(rebuild->from, region);
  for (uint32_t i = 0; i < view.num_nodes && mirage_ugraph_status(rebuild->to) == MIRAGE_OK; i++)
    rebuild_node(rebuild, view.nodes[i]);
}

MirageUGraph *mutation_apply(const MirageUGraph *graph, const Mutation *mutation, const MirageDiag *diag) {
  Rebuild rebuild = {.from = graph, .mutation = mutation};
  rebuild.to = mirage_ugraph_create(NULL, "mutant", diag);
  rebuild.map = calloc(mirage_ugraph_num_values(graph) + 1, sizeof *rebuild.map);
  bool ok = rebuild.to && rebuild.map;
  for (uint32_t i = 0; ok && i < mirage_ugraph_num_inputs(graph); i++) {
    MirageValue input = mirage_ugraph_get_input(graph, i);
    rebuild.map[input.index] = mirage_ugraph_input(rebuild.to, *mirage_ugraph_type(graph, input));
  }
  if (ok)
    rebuild_region(&rebuild, mirage_ugraph_body(graph));
  ok = ok && mirage_ugraph_status(rebuild.to) == MIRAGE_OK && mirage_ugraph_finish(rebuild.to) == MIRAGE_OK;
  free(rebuild.map);
  if (ok)
    return rebuild.to;
  mirage_ugraph_destroy(rebuild.to);
  return NULL;
}

// ---------------------------------------------------------------------------------------------------------- describing

static const char *value_origin(const MirageUGraph *graph, uint32_t index) {
  MirageNode def = mirage_ugraph_def(graph, (MirageValue){index});
  return def.index ? mirage_op_info(mirage_ugraph_node(graph, def).op)->mnemonic : "argument";
}

const char *mutation_describe(const MirageUGraph *graph, const Mutation *m, char *buffer, size_t size) {
  static const char *const combines[] = {"sum", "max", "rescale", "concat", "assign"};
  static const char *const fills[] = {"zero", "one", "bottom"};
  MirageNodeView node = mirage_ugraph_node(graph, m->node);
  const char *op = mirage_op_info(node.op)->mnemonic;
  const MirageAttrs *attrs = node.attrs;
  switch (m->kind) {
  case MUTATION_IMAP:
  case MUTATION_OMAP:
    snprintf(buffer, size, "%s: grid[%u] %d -> %d", op, m->place, attrs->access.grid[m->place], (int)m->to);
    break;
  case MUTATION_FMAP:
    snprintf(buffer, size, "%s: loop[%u] %d -> %d", op, m->place, attrs->access.loop[m->place], (int)m->to);
    break;
  case MUTATION_MAP_SWAP: {
    static const char axes[] = "xyz0123";
    snprintf(buffer, size, "%s: maps of %c and %c swapped", op, axes[m->place], axes[m->to]);
    break;
  }
  case MUTATION_CYCLIC:
    snprintf(buffer, size, "%s: %s", op, m->to ? "cyclic" : "no more cyclic");
    break;
  case MUTATION_FILL:
    snprintf(buffer, size, "%s: fill %s -> %s", op, fills[attrs->access.fill], fills[m->to]);
    break;
  case MUTATION_RANGE:
    snprintf(buffer, size, "%s: range %lld -> %lld", op, (long long)attrs->loop.range, (long long)m->to);
    break;
  case MUTATION_GRID:
    snprintf(buffer, size, "%s: %s[%u] %lld -> %lld", op, m->place < 3 ? "grid" : "cluster", m->place % 3,
             (long long)(m->place < 3 ? attrs->custom.grid : attrs->custom.cluster)[m->place % 3], (long long)m->to);
    break;
  case MUTATION_COMBINE:
    snprintf(buffer, size, "%s: carry %u %s -> %s", op, m->place, combines[attrs->loop.carries[m->place].combine],
             combines[m->to]);
    break;
  case MUTATION_CONSTANT:
    snprintf(buffer, size, "%s: %g -> %.8g", op, attrs->constant.value, m->value);
    break;
  case MUTATION_SIBLING:
    snprintf(buffer, size, "%s -> %s", op, mirage_op_info(m->op)->mnemonic);
    break;
  case MUTATION_SWAP:
    snprintf(buffer, size, "%s: operands %u and %u swapped", op, m->place, (uint32_t)m->to);
    break;
  case MUTATION_REWIRE:
    snprintf(buffer, size, "%s: operand %u %s -> %s", op, m->place, value_origin(graph, node.operands[m->place].index),
             value_origin(graph, (uint32_t)m->to));
    break;
  default:
    snprintf(buffer, size, "%s: %s[%u] -> %lld", op, mutation_name(m->kind), m->place, (long long)m->to);
    break;
  }
  return buffer;
}
