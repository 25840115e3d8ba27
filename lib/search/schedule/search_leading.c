// search_leading.c - see search_leading.h.
#include "search/schedule/search_leading.h"
#include "layout/block.h"
#include "search/schedule/search_tails.h"

static uint32_t count_readers(const SearchStructure *structure, uint32_t node) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    const SearchNode *reader = &structure->nodes[i];
    bool leaf = reader->op == MIRAGE_OP_LOAD || reader->op == MIRAGE_OP_CONSTANT;
    count += !leaf && reader->a == node;
    count += !leaf && mirage__search_is_binary(reader->op) && reader->b == node;
  }
  for (uint32_t i = 0; i < structure->num_outputs; i++)
    count += structure->outputs[i] == node;
  return count;
}

static bool is_looped_product(const SearchStructure *structure, uint32_t node) {
  const SearchNode *sum = &structure->nodes[node];
  return sum->op == MIRAGE_OP_LOOP && sum->flags == SEARCH_SUM && structure->nodes[sum->a].op == MIRAGE_OP_MATMUL;
}

static bool is_added_to_product(const SearchStructure *structure, uint32_t node) {
  bool added = false;
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    const SearchNode *add = &structure->nodes[i];
    added |= add->op == MIRAGE_OP_ADD && ((add->a == node && is_looped_product(structure, add->b)) ||
                                          (add->b == node && is_looped_product(structure, add->a)));
  }
  return added && count_readers(structure, node) == 1;
}

// What the instruction of a warpgroup multiplies: 16-bit tiles, in slabs of rows; of columns where these come first in it.
static bool is_for_warpgroups(const SearchProgram *program, const SearchStructure *structure,
                              const SearchSchedule *schedule, const SearchNode *product) {
  uint8_t axis = product->dims[SEARCH_RANK - (schedule->swapped ? 1 : 2)];
  int64_t rows = mirage__search_tile_extent(program, structure, schedule, axis);
  return mirage_dtype_bits(program->dtype) == 16 && rows % MIRAGE_SLAB_ROWS == 0;
}

static bool is_loaded(const SearchProgram *program, const SearchStructure *structure, uint32_t node) {
  const SearchNode *load = &structure->nodes[node];
  return load->op == MIRAGE_OP_LOAD && load->stage == SEARCH_BEFORE && count_readers(structure, node) == 1 &&
         mirage_ugraph_type(program->graph, mirage_ugraph_get_input(program->graph, load->a))->dtype == program->dtype;
}

bool mirage__search_is_leading(const SearchProgram *program, const SearchStructure *structure,
                               const SearchSchedule *schedule, uint32_t node) {
  const SearchNode *product = &structure->nodes[node];
  if (product->op != MIRAGE_OP_MATMUL || product->stage != SEARCH_BEFORE || structure->num_loops != 1 ||
      !structure->loop_axis || schedule->parts[structure->loop_axis] <= 1 || schedule->split > 1)
    return false;
  return is_for_warpgroups(program, structure, schedule, product) && is_loaded(program, structure, product->a) &&
         is_loaded(program, structure, product->b) && is_added_to_product(structure, node);
}

bool mirage__search_feeds_leading(const SearchProgram *program, const SearchStructure *structure,
                                  const SearchSchedule *schedule, uint32_t node) {
  bool may = structure->nodes[node].op == MIRAGE_OP_LOAD && structure->nodes[node].stage == SEARCH_BEFORE;
  bool feeds = false;
  for (uint32_t i = 0; may && i < structure->num_nodes; i++) {
    const SearchNode *reader = &structure->nodes[i];
    feeds |= reader->op == MIRAGE_OP_MATMUL && (reader->a == node || reader->b == node) &&
             mirage__search_is_leading(program, structure, schedule, i);
  }
  return feeds;
}
