// search_structure.c - finished block graphs: their order of execution, their operators, the best of them.
//
// Counting: loads count, stores and constants do not, and operators that are element-wise and feed one another are one
// chain. Composites count one: a sum of squares, a norm (its statistic and the chain that divides by it), exponentials
// with their sum, a reduction with its accumulation.
#include "search_extract.h"
#include <stdlib.h>
#include <string.h>

enum {
  OPEN = UINT32_MAX, // a node whose operands are being ordered
  MOST_ALIKE = 2
};

// ------------------------------------------------------------------------------------------------- order

// Appends the tensor after its operands; false when the choice is cyclic.
static bool append(const Paths *paths, const uint32_t *chosen, uint32_t place, uint32_t *nodes,
                   SearchStructure *structure) {
  if (nodes[place])
    return nodes[place] != OPEN;
  nodes[place] = OPEN;
  const PathStep *step = &paths->steps[chosen[place] - 1];
  const SearchDerivation *how = &paths->space->derivations[step->derivation];
  const SearchTensor *value = &paths->space->tensors[paths->tensors[place].tensor];
  SearchNode node = {.op = how->op, .flags = how->flags, .dim = how->dim, .stage = value->stage, .rank = value->rank};
  memcpy(node.dims, value->dims, sizeof node.dims);
  node.a = how->a;
  if (how->op == MIRAGE_OP_EXP)
    node.flags = mirage__search_stable_axis(paths->space, paths->space->tensors[how->a].expr);
  if (step->a) {
    if (!append(paths, chosen, step->a, nodes, structure) ||
        (step->b && !append(paths, chosen, step->b, nodes, structure)))
      return false;
    node.a = nodes[step->a] - 1;
    node.b = step->b ? nodes[step->b] - 1 : 0;
  }
  uint32_t loops = (node.stage + 1u) / 2;
  structure->num_loops = loops > structure->num_loops ? loops : structure->num_loops;
  structure->nodes[structure->num_nodes++] = node;
  nodes[place] = structure->num_nodes;
  return true;
}

static void forget(const Paths *paths, const uint32_t *chosen, uint32_t place, uint32_t *nodes) {
  if (!nodes[place])
    return;
  nodes[place] = 0;
  const PathStep *step = &paths->steps[chosen[place] - 1];
  if (step->a)
    forget(paths, chosen, step->a, nodes);
  if (step->b)
    forget(paths, chosen, step->b, nodes);
}

// Brings what a later loop computes behind what the earlier ones do; the order within a stage stays.
static void sort_by_stage(SearchStructure *structure) {
  SearchNode nodes[SEARCH_MAX_NODES];
  uint32_t place[SEARCH_MAX_NODES], count = 0;
  for (uint32_t stage = SEARCH_BEFORE; stage <= 2 * structure->num_loops; stage++)
    for (uint32_t i = 0; i < structure->num_nodes; i++)
      if (structure->nodes[i].stage == stage) {
        place[i] = count;
        nodes[count++] = structure->nodes[i];
      }
  for (uint32_t i = 0; i < count; i++) {
    if (nodes[i].op == MIRAGE_OP_LOAD || nodes[i].op == MIRAGE_OP_CONSTANT)
      continue;
    nodes[i].a = place[nodes[i].a];
    nodes[i].b = mirage__search_is_binary(nodes[i].op) ? place[nodes[i].b] : 0;
  }
  memcpy(structure->nodes, nodes, count * sizeof *nodes);
  for (uint32_t i = 0; i < structure->num_outputs; i++)
    structure->outputs[i] = place[structure->outputs[i]];
}

bool mirage__structure_order(const Paths *paths, const uint32_t *chosen, uint32_t *nodes,
                             SearchStructure *out_structure) {
  out_structure->num_nodes = out_structure->num_loops = 0;
  out_structure->num_outputs = paths->space->num_goals;
  out_structure->loop_axis = paths->space->loop_axis;
  bool acyclic = true;
  for (uint32_t i = 0; i < out_structure->num_outputs && acyclic; i++) {
    acyclic = append(paths, chosen, paths->goals[i], nodes, out_structure);
    out_structure->outputs[i] = nodes[paths->goals[i]] - 1;
  }
  for (uint32_t i = 0; i < out_structure->num_outputs; i++)
    forget(paths, chosen, paths->goals[i], nodes);
  if (acyclic && out_structure->num_loops > 1)
    sort_by_stage(out_structure);
  return acyclic;
}

// ---------------------------------------------------------------------------------------------- operators

static uint32_t chain_root(uint32_t *parent, uint32_t i) {
  while (parent[i] != i)
    i = parent[i];
  return i;
}

static void join_chains(const SearchStructure *structure, uint32_t *parent, uint32_t i, uint32_t operand) {
  if (mirage__search_is_elementwise(structure->nodes[operand].op) &&
      structure->nodes[operand].stage == structure->nodes[i].stage)
    parent[chain_root(parent, i)] = chain_root(parent, operand);
}

// Whether node `root` is a chain of its own.
static bool is_alone(uint32_t *parent, const SearchStructure *structure, uint32_t root) {
  for (uint32_t i = 0; i < structure->num_nodes; i++)
    if (i != root && mirage__search_is_elementwise(structure->nodes[i].op) && chain_root(parent, i) == root)
      return false;
  return true;
}

static bool is_reduction(uint8_t op) { return op == MIRAGE_OP_REDUCE_SUM || op == MIRAGE_OP_REDUCE_MAX; }

// A square that only reductions take: a sum of squares is one operator.
static bool is_part_of_reduction(const SearchStructure *structure, uint32_t node) {
  if (structure->nodes[node].op != MIRAGE_OP_MUL || structure->nodes[node].a != structure->nodes[node].b)
    return false;
  for (uint32_t i = node + 1; i < structure->num_nodes; i++) {
    const SearchNode *user = &structure->nodes[i];
    bool uses = user->a == node || (mirage__search_is_binary(user->op) && user->b == node);
    if (uses && user->op != MIRAGE_OP_LOAD && user->op != MIRAGE_OP_CONSTANT && !is_reduction(user->op))
      return false;
  }
  return true;
}

static bool counts_alone(const SearchStructure *structure, const SearchNode *node) {
  if (node->op == MIRAGE_OP_LOOP)
    return !is_reduction(structure->nodes[node->a].op);
  if (node->op == MIRAGE_OP_REDUCE_SUM)
    return structure->nodes[node->a].op != MIRAGE_OP_EXP;
  return node->op != MIRAGE_OP_CONSTANT;
}

// Whether a chain starts at a reduction of the same stage: a norm is one operator, its statistic and the division.
static bool ends_reduction(uint32_t *parent, const SearchStructure *structure, uint32_t root) {
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    const SearchNode *node = &structure->nodes[i];
    if (!mirage__search_is_elementwise(node->op) || chain_root(parent, i) != root)
      continue;
    const SearchNode *a = &structure->nodes[node->a], *b = &structure->nodes[node->b];
    bool ends = is_reduction(a->op) && a->stage == node->stage && counts_alone(structure, a);
    if (mirage__search_is_binary(node->op))
      ends |= is_reduction(b->op) && b->stage == node->stage && counts_alone(structure, b);
    if (ends)
      return true;
  }
  return false;
}

uint32_t mirage__structure_count(const SearchStructure *structure) {
  uint32_t parent[SEARCH_MAX_NODES], count = 0;
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    const SearchNode *node = &structure->nodes[i];
    parent[i] = i;
    if (!mirage__search_is_elementwise(node->op)) {
      count += counts_alone(structure, node);
      continue;
    }
    join_chains(structure, parent, i, node->a);
    if (mirage_op_info((MirageOp)node->op)->kind == MIRAGE_KIND_BINARY)
      join_chains(structure, parent, i, node->b);
  }
  for (uint32_t i = 0; i < structure->num_nodes; i++)
    count += mirage__search_is_elementwise(structure->nodes[i].op) && parent[i] == i &&
             !ends_reduction(parent, structure, i) &&
             !(is_part_of_reduction(structure, i) && is_alone(parent, structure, i));
  return count;
}

// ----------------------------------------------------------------------------------------------- the best

static MirageStatus make_room(SearchKept *kept) {
  if (kept->num < kept->room)
    return MIRAGE_OK;
  uint32_t room = kept->room ? 2 * kept->room : 16;
  SearchStructure **items = realloc(kept->items, room * sizeof(SearchStructure *));
  if (!items)
    return MIRAGE_NO_MEMORY;
  kept->items = items;
  kept->room = room;
  return MIRAGE_OK;
}

// Whether there is no room for more of its kind: block graphs that the cost model cannot tell apart are mostly one
// graph in other algebra. Such have one score, so that it does not matter which of several lists dropped them.
static bool is_crowded(const SearchKept *kept, const SearchStructure *structure) {
  uint32_t alike = 0;
  for (uint32_t i = kept->num; i-- > 0 && kept->items[i]->score_us >= structure->score_us;)
    alike += kept->items[i]->amounts == structure->amounts;
  return alike >= MOST_ALIKE && kept->capacity != UINT32_MAX;
}

MirageStatus mirage__structure_keep(SearchKept *kept, const SearchStructure *structure) {
  if (kept->num == kept->capacity && kept->items[kept->num - 1]->score_us <= structure->score_us)
    return MIRAGE_OK;
  if (is_crowded(kept, structure))
    return MIRAGE_OK;
  SearchStructure *copy;
  if (kept->num == kept->capacity) {
    copy = kept->items[--kept->num];
  } else {
    MIRAGE_TRY(make_room(kept));
    copy = malloc(sizeof *copy);
    if (!copy)
      return MIRAGE_NO_MEMORY;
  }
  *copy = *structure;
  uint32_t at = kept->num++;
  for (; at > 0 && kept->items[at - 1]->score_us > structure->score_us; at--)
    kept->items[at] = kept->items[at - 1];
  kept->items[at] = copy;
  return MIRAGE_OK;
}

void mirage__structure_release(SearchKept *kept) {
  for (uint32_t i = 0; i < kept->num; i++)
    free(kept->items[i]);
  free(kept->items);
  *kept = (SearchKept){.capacity = kept->capacity};
}
