// search_gauge.c - finds the maxima that only stabilise exponentials, and leaves them out of the search.
//
// A softmax subtracts the maximum of a row before it exponentiates; its quotient is the same for any other number. Such
// a maximum would only get in the way: it makes every running sum depend on the order of the elements. So a maximum
// that is used in differences alone is tried as 0 on the shrunken instance, and dropped when the program's values stay
// what they are. The search then works on exp(x), and search_stabilise.c puts maxima back into each block graph found,
// running ones where a loop walks the row. What was exponentiated relative to a maximum is remembered by its axis.
//
// Example: exp(x - max(x)) / sum(exp(x - max(x)))   dropped
//          exp(x - max(x))                          kept: the value depends on it
//          (x - max(x)) - log(sum(exp(x - max(x)))) kept: a difference is used outside an exponential
#include "search_internal.h"
#include <string.h>

// Whether all that takes `value` subtracts it from something of its result's shape.
static bool is_only_subtracted(const MirageUGraph *graph, MirageValue value) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  bool used = false;
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    for (uint32_t k = 0; k < node.num_operands; k++) {
      if (node.operands[k].index != value.index)
        continue;
      used = true;
      if (node.op != MIRAGE_OP_SUB || k != 1 || node.operands[0].index == value.index ||
          !mirage_type_same_shape(mirage_ugraph_type(graph, node.operands[0]),
                                  mirage_ugraph_type(graph, node.first_result)))
        return false;
    }
  }
  return used;
}

// ---------------------------------------------------------------------------------------------- shifts

// Operators through which exp(c (x - m)) still is exp(c x) times a factor that the axis of m does not see.
static bool passes_shift(MirageOp op, uint32_t operand) {
  return op == MIRAGE_OP_ADD || op == MIRAGE_OP_SUB || op == MIRAGE_OP_MUL || op == MIRAGE_OP_CAST ||
         (op == MIRAGE_OP_DIV && operand == 0);
}

// Follows differences from dropped maxima to exponentials; false when one gets elsewhere, or two meet.
static bool follow_shifts(SearchProgram *program) {
  const MirageUGraph *graph = program->graph;
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  memset(program->shift, 0, (size_t)mirage_ugraph_num_values(graph) + 1);
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    uint8_t shift = 0;
    for (uint32_t k = 0; k < node.num_operands; k++) {
      uint8_t theirs = program->shift[node.operands[k].index];
      if (program->dropped[node.operands[k].index]) {
        MirageNodeView maximum = mirage_ugraph_node(graph, mirage_ugraph_def(graph, node.operands[k]));
        theirs = program->dims[maximum.operands[0].index][maximum.attrs->reduce.dim];
      } else if (theirs && node.op != MIRAGE_OP_EXP && !passes_shift(node.op, k)) {
        return false;
      }
      if (theirs && shift && theirs != shift)
        return false;
      shift = theirs ? theirs : shift;
    }
    if (shift && node.op != MIRAGE_OP_EXP)
      program->shift[node.first_result.index] = shift;
  }
  return true;
}

// ---------------------------------------------------------------------------------------------- trials

// The program's results on the shrunken instance, with what is marked dropped read as 0.
static MirageStatus evaluate(const SearchProgram *program, const MirageSearchOptions *options, SearchSpace *space,
                             MirageField **out_field) {
  *out_field = mirage_field_create(options->seed, 0);
  if (!*out_field)
    return MIRAGE_NO_MEMORY;
  return mirage__search_space_init(space, program, options, 0, 0, 1, mirage_field_domain(*out_field), *out_field);
}

static bool same_array(const SearchArray *a, const SearchArray *b) {
  size_t size = mirage__search_array_size(a);
  bool same = size == mirage__search_array_size(b);
  for (size_t i = 0; same && i < size; i++)
    same = a->data[i].p == b->data[i].p && a->data[i].bottom == b->data[i].bottom;
  return same;
}

static bool same_values(const SearchSpace *a, const SearchSpace *b) {
  bool same = a->num_goals == b->num_goals;
  for (uint32_t i = 0; same && i < a->num_goals; i++)
    same = same_array(&a->goals[i].values, &b->goals[i].values);
  return same;
}

static MirageStatus keeps_values(const SearchProgram *program, const MirageSearchOptions *options,
                                 const SearchSpace *whole, bool *out_same) {
  SearchSpace space = {0};
  MirageField *field;
  MirageStatus status = evaluate(program, options, &space, &field);
  *out_same = status == MIRAGE_OK && same_values(whole, &space);
  mirage__search_space_deinit(&space);
  mirage_field_destroy(field);
  return status == MIRAGE_NO_MEMORY ? status : MIRAGE_OK;
}

// What the search may use after the drops: maxima and differences only where some are left.
static void count_operators(SearchProgram *program) {
  MirageRegionView body = mirage_ugraph_region(program->graph, mirage_ugraph_body(program->graph));
  program->uses[MIRAGE_OP_REDUCE_MAX] = program->uses[MIRAGE_OP_SUB] = false;
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(program->graph, body.nodes[i]);
    if (node.op == MIRAGE_OP_REDUCE_MAX)
      program->uses[node.op] |= !program->dropped[node.first_result.index];
    if (node.op != MIRAGE_OP_SUB)
      continue;
    program->uses[node.op] |= !program->dropped[node.operands[1].index];
    program->num_elementwise -= program->dropped[node.operands[1].index];
  }
}

MirageStatus mirage__search_drop_stabilisers(SearchProgram *program, const MirageSearchOptions *options) {
  if (!program->uses[MIRAGE_OP_REDUCE_MAX] || !program->uses[MIRAGE_OP_SUB])
    return MIRAGE_OK;
  SearchSpace whole = {0};
  MirageField *field;
  MirageStatus status = evaluate(program, options, &whole, &field);
  MirageRegionView body = mirage_ugraph_region(program->graph, mirage_ugraph_body(program->graph));
  for (uint32_t i = 0; status == MIRAGE_OK && i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(program->graph, body.nodes[i]);
    if (node.op != MIRAGE_OP_REDUCE_MAX || !is_only_subtracted(program->graph, node.first_result))
      continue;
    bool *dropped = &program->dropped[node.first_result.index];
    *dropped = true;
    *dropped = follow_shifts(program);
    if (*dropped)
      status = keeps_values(program, options, &whole, dropped);
  }
  follow_shifts(program); // without those that were kept after all
  mirage__search_space_deinit(&whole);
  mirage_field_destroy(field);
  count_operators(program);
  return status == MIRAGE_NO_MEMORY ? status : MIRAGE_OK; // other failures are found again, and told, by the search
}
