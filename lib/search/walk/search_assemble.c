// search_assemble.c - the block graph of one derivation for each tensor needed, in order of execution.
#include "search/walk/search_paths.h"
#include <string.h>

enum { OPEN = UINT32_MAX }; // a node whose operands are being ordered

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

bool mirage__paths_assemble(const Paths *paths, const uint32_t *chosen, uint32_t *nodes,
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
