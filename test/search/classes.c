// classes.c - sets of dataflows, and the search's own.
#include "classes.h"

#include "mirage/verify.h"
#include <stdlib.h>

enum { MOST_STRUCTURES = 20000 };

static uint32_t slot_of(const Classes *classes, uint64_t key) {
  uint32_t mask = 2 * classes->capacity - 1, at = (uint32_t)(key ^ key >> 32) & mask;
  while (classes->slots[at] && classes->items[classes->slots[at] - 1].key != key)
    at = (at + 1) & mask;
  return at;
}

Class *find_class(const Classes *classes, uint64_t key) {
  uint32_t item = classes->num ? classes->slots[slot_of(classes, key)] : 0;
  return item ? &classes->items[item - 1] : NULL;
}

Class *add_class(Classes *classes, uint64_t key) {
  if (classes->num == classes->capacity) {
    classes->capacity = classes->capacity ? 2 * classes->capacity : 64;
    classes->items = realloc(classes->items, classes->capacity * sizeof *classes->items);
    free(classes->slots);
    classes->slots = calloc(2 * (size_t)classes->capacity, sizeof *classes->slots);
    if (!classes->items || !classes->slots)
      abort();
    for (uint32_t i = 0; i < classes->num; i++)
      classes->slots[slot_of(classes, classes->items[i].key)] = i + 1;
  }
  Class *added = &classes->items[classes->num++];
  *added = (Class){.key = key};
  classes->slots[slot_of(classes, key)] = classes->num;
  return added;
}

void release_classes(Classes *classes) {
  free(classes->items);
  free(classes->slots);
}

bool is_elementwise(uint8_t op) {
  MirageOpKind kind = mirage_op_info((MirageOp)op)->kind;
  return kind == MIRAGE_KIND_UNARY || kind == MIRAGE_KIND_BINARY;
}

// ------------------------------------------------------------------------------------------ the search

// The key of a structure's dataflow, in the terms of brute.c; 0 when it has an operator that brute force has not.
static uint64_t key_of(const SearchProgram *program, const SearchStructure *structure, Class *out) {
  uint64_t keys[SEARCH_MAX_NODES], inputs = 0;
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    const SearchNode *node = &structure->nodes[i];
    bool binary = mirage__search_is_binary(node->op);
    uint32_t variant = 0;
    int32_t loop = BRUTE_NO_DIM;
    switch (node->op) {
    case MIRAGE_OP_LOAD:
      for (uint32_t d = 0; d < SEARCH_RANK; d++)
        if (node->stage == SEARCH_INSIDE && node->dims[d] && node->dims[d] == structure->loop_axis)
          loop = (int32_t)d - (SEARCH_RANK - BRUTE_RANK);
      keys[i] = brute_key_load(node->a, loop);
      out->loads++;
      inputs |= (uint64_t)1 << node->a;
      continue;
    case MIRAGE_OP_CONSTANT:
      keys[i] = brute_key_constant(program->constants[node->a]);
      continue;
    case MIRAGE_OP_REDUCE_SUM:
    case MIRAGE_OP_REDUCE_MAX:
      variant = node->dim - (SEARCH_RANK - BRUTE_RANK) + 1u;
      break;
    case MIRAGE_OP_LOOP:
      variant = node->flags;
      break;
    default:
      break;
    }
    keys[i] = brute_key_operator(node->op, variant, keys[node->a], binary ? keys[node->b] : 0);
    out->operators++;
    out->elementwise += is_elementwise(node->op);
  }
  out->loop = structure->loop_axis != 0;
  out->block_ops = structure->num_ops;
  out->inputs = (uint32_t)__builtin_popcountll(inputs);
  return keys[structure->outputs[0]];
}

static bool list_plan(const SearchProgram *program, const MirageSearchOptions *options, uint32_t axis,
                      Classes *classes) {
  MirageField *field = mirage__search_field(options);
  SearchSpace space;
  SearchKept kept = {.capacity = UINT32_MAX}; // all, alike or not
  bool fits = mirage__search_space_init(&space, program, options, axis, axis != 0, 1, mirage_field_domain(field),
                                        field) == MIRAGE_OK &&
              mirage__search_saturate(&space) == MIRAGE_OK && !space.stopped;
  fits =
      fits && mirage__search_extract(&space, NULL, &kept) == MIRAGE_OK && !space.stopped && kept.num < MOST_STRUCTURES;
  for (uint32_t i = 0; fits && i < kept.num; i++) {
    Class found = {0};
    found.key = key_of(program, kept.items[i], &found);
    if (!find_class(classes, found.key))
      *add_class(classes, found.key) = found;
  }
  mirage__search_space_deinit(&space);
  mirage_field_destroy(field);
  mirage__structure_release(&kept);
  return fits;
}

bool list_search(const MirageUGraph *graph, const MirageSearchOptions *options, Classes *classes) {
  SearchProgram program;
  if (mirage__search_program_init(&program, graph, NULL) != MIRAGE_OK)
    return false;
  bool fits = true;
  for (uint32_t axis = 0; fits && axis < program.num_axes; axis++)
    if (!axis || search_axis_is_loop(&program.axes[axis]))
      fits = list_plan(&program, options, axis, classes);
  mirage__search_program_deinit(&program);
  return fits;
}

uint32_t missing_without(const MirageUGraph *graph, const MirageSearchOptions *options, uint64_t max_states,
                         const Classes *with) {
  uint32_t missing = 0;
  for (uint32_t cut = 0; cut < 4; cut++) {
    MirageSearchOptions switched = *options;
    Classes without = {0};
    switched.max_states = max_states;
    switched.no_keep_products = cut == 0;
    switched.no_prune_expr = cut == 1;
    switched.no_prune_axis = cut == 2;
    switched.no_merge = cut == 3;
    bool ended = list_search(graph, &switched, &without);
    for (uint32_t i = 0; ended && i < with->num; i++)
      missing += !find_class(&without, with->items[i].key);
    release_classes(&without);
  }
  return missing;
}
