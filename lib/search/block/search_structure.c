// search_structure.c - finished block graphs: their operators, the best of them, their records.
//
// Counting: loads count, stores and constants do not, and operators that are element-wise and feed one another are one
// chain. Composites count one: a sum of squares, a norm (its statistic and the chain that divides by it), exponentials
// with their sum, a reduction with its accumulation.
#include "search/block/search_structure.h"
#include <stddef.h>
#include <stdlib.h>

enum { MOST_ALIKE = 2 };

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

// ------------------------------------------------------------------------------------------------ records

static MirageStatus pass_structure(SearchBytes *bytes, SearchStructure *structure) {
  mirage__bytes_pass(bytes, structure, offsetof(SearchStructure, nodes));
  MIRAGE_TRY(mirage__bytes_check(
      bytes, structure->num_nodes <= SEARCH_MAX_NODES && structure->num_outputs <= SEARCH_MAX_GOALS &&
                 structure->loop_axis < SEARCH_MAX_AXES && structure->num_loops <= SEARCH_MAX_LOOPS));
  mirage__bytes_pass(bytes, structure->nodes, structure->num_nodes * sizeof *structure->nodes);
  bool fits = true;
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    const SearchNode *node = &structure->nodes[i];
    fits &= node->op < MIRAGE_NUM_OPS && node->rank <= SEARCH_RANK && node->stage <= 2 * structure->num_loops;
  }
  return mirage__bytes_check(bytes, fits);
}

MirageStatus mirage__structure_pass_kept(SearchBytes *bytes, SearchKept *kept) {
  uint32_t num = kept->num;
  SEARCH_PASS(bytes, num);
  for (uint32_t i = 0; i < num; i++) {
    if (!bytes->reading) {
      MIRAGE_TRY(pass_structure(bytes, kept->items[i]));
      continue;
    }
    SearchStructure structure = {0};
    MIRAGE_TRY(pass_structure(bytes, &structure));
    MIRAGE_TRY(mirage__structure_keep(kept, &structure));
  }
  return mirage__bytes_check(bytes, true);
}
