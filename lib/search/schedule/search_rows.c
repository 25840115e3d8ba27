// search_rows.c - see search_rows.h.
#include "search/schedule/search_rows.h"
#include "layout/block.h"
#include "search/schedule/search_leading.h"
#include "search/schedule/search_tails.h"

enum { ROW = SEARCH_RANK - 2, EIGHTS = 8 };

// In the loop, or before it for what may lead to it.
static bool is_loaded(const SearchStructure *structure, uint32_t index, bool leads) {
  const SearchNode *node = &structure->nodes[index];
  if (node->op == MIRAGE_OP_TRANSPOSE && !leads)
    node = &structure->nodes[node->a];
  return node->op == MIRAGE_OP_LOAD && (leads ? node->stage == SEARCH_BEFORE : mirage__search_is_inside(node->stage));
}

// The axis of the rows of all products, 0 where they are single rows. False: they have different ones, or not all multiply what
// the loop loads, or what leads to it does; or there is none.
static bool find_axis(const SearchStructure *structure, uint32_t *out_axis) {
  bool found = false;
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    const SearchNode *node = &structure->nodes[i];
    if (node->op != MIRAGE_OP_MATMUL)
      continue;
    uint32_t axis = mirage__search_axis_of(node->dims[ROW]);
    bool leads = node->stage == SEARCH_BEFORE, same = !found || axis == *out_axis;
    if (!same || (axis && axis == structure->loop_axis) || !is_loaded(structure, node->a, leads) ||
        !is_loaded(structure, node->b, leads))
      return false;
    *out_axis = axis;
    found = true;
  }
  return found;
}

// ---------------------------------------------------------------------------------------------------------- one row

// Whether the row of products is a row of what they load, as it stands; `out_rows`: these loads.
static bool find_loaded_rows(const SearchStructure *structure, bool *out_rows) {
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    const SearchNode *node = &structure->nodes[i];
    if (node->op != MIRAGE_OP_MATMUL)
      continue;
    if (structure->nodes[node->a].op != MIRAGE_OP_LOAD || node->flags & SEARCH_TRANSPOSE_A)
      return false;
    out_rows[node->a] = true;
  }
  for (uint32_t i = 0; i < structure->num_nodes; i++)
    if (structure->nodes[i].op == MIRAGE_OP_MATMUL && out_rows[structure->nodes[i].b])
      return false;
  return true;
}

static bool is_leaf(const SearchNode *node) { return node->op == MIRAGE_OP_LOAD || node->op == MIRAGE_OP_CONSTANT; }

// Operands come before what is made of them, but for what earlier iterations left: an accumulator is what it accumulates.
static void follow_rows(const SearchStructure *structure, bool *rows) {
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < structure->num_nodes; i++) {
      const SearchNode *node = &structure->nodes[i];
      bool made = !is_leaf(node) && (rows[node->a] || (mirage__search_is_binary(node->op) && rows[node->b]));
      more |= made && !rows[i];
      rows[i] |= made;
    }
  }
}

static void label_row(const SearchProgram *program, SearchStructure *structure) {
  bool rows[SEARCH_MAX_NODES] = {false};
  if (!program->one_row || !find_loaded_rows(structure, rows))
    return;
  follow_rows(structure, rows);
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    uint8_t *row = &structure->nodes[i].dims[ROW];
    if (rows[i] && *row && mirage__search_axis_of(*row) != program->one_row)
      return; // turned, or stretched
  }
  for (uint32_t i = 0; i < structure->num_nodes; i++)
    if (rows[i])
      structure->nodes[i].dims[ROW] = (uint8_t)program->one_row;
  structure->row_axis = program->one_row;
}

void mirage__search_find_rows(const SearchProgram *program, SearchStructure *structure) {
  uint32_t axis = 0;
  structure->row_axis = 0;
  if (find_axis(structure, &axis)) {
    structure->row_axis = axis;
    if (!axis && structure->loop_axis)
      label_row(program, structure);
  }
}

bool mirage__search_may_swap(const SearchProgram *program, const SearchStructure *structure, const MirageTarget *target,
                             const SearchSchedule *schedule) {
  uint8_t axis = (uint8_t)structure->row_axis;
  if (!axis || !target->has_wgmma)
    return false;
  SearchSchedule straight = *schedule, swapped = *schedule;
  straight.swapped = false, swapped.swapped = true;
  for (uint32_t i = 0; i < structure->num_nodes; i++)
    if (structure->nodes[i].op == MIRAGE_OP_MATMUL && structure->nodes[i].stage == SEARCH_BEFORE &&
        !mirage__search_is_leading(program, structure, &swapped, i))
      return false;
  int64_t rows = mirage__search_tile_extent(program, structure, &straight, axis);
  int64_t eights = mirage__search_tile_extent(program, structure, &swapped, axis);
  return eights % EIGHTS == 0 && (rows % MIRAGE_SLAB_ROWS || eights != rows);
}
