// search_gauge.c - finds the maxima that only stabilise exponentials, and leaves them out of the search.
//
// A softmax subtracts the maximum of a row before it exponentiates; its quotient is the same for any other number. Such
// a maximum would only get in the way: it makes every running sum depend on the order of the elements. So it is read as
// 0 where the program's results stay what they are. The search then works on exp(x), and search_stabilise.c puts maxima
// back into each block graph found, running ones where a loop walks the row. What was exponentiated relative to a
// maximum is remembered by its axis.
//
// With m read as 0, every value is the one meant but for its gauge: v + c m (a shift), or v exp(c m) (a power). Shifts
// add up in sums, become powers in exponentials and shifts again in logarithms; powers add up in products. Where no
// result has a gauge, the program is proven to be the same. A number c that is not known - the scale of scores may be a
// tensor - is left to a trial on the shrunken instance, as long as shifts end in exponentials.
//
// Example: exp(x - max(x)) / sum(exp(x - max(x)))   proven: powers -1 and -1
//          (x - max(x)) - log(sum(exp(x - max(x)))) proven: shifts -1 and -1
//          max(x) + log(sum(exp(x - max(x))))       proven: shifts 1 and -1
//          exp(x - max(x))                          kept: the value depends on it
#include "search/space/search_space.h"
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------- gauges

typedef enum { GAUGE_NONE, GAUGE_SHIFT, GAUGE_POWER, GAUGE_UNKNOWN } GaugeKind;

typedef struct Gauge {
  GaugeKind kind;
  bool exact; // `times` is known
  double times;
} Gauge;

/// What is known of a program without one maximum.
typedef enum { GAUGE_NEEDED, GAUGE_TRIAL, GAUGE_PROVEN } GaugeVerdict;

typedef struct Gauges {
  const SearchProgram *program;
  const MirageUGraph *graph;
  MirageValue maximum;
  Gauge *values; // by id
} Gauges;

// Whether all that takes `value` adds or subtracts it to something of its result's shape.
static bool is_only_added(const MirageUGraph *graph, MirageValue value) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  bool used = false;
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    for (uint32_t k = 0; k < node.num_operands; k++) {
      if (node.operands[k].index != value.index)
        continue;
      used = true;
      if ((node.op != MIRAGE_OP_ADD && (node.op != MIRAGE_OP_SUB || k != 1)) ||
          node.operands[!k].index == value.index ||
          !mirage_type_same_shape(mirage_ugraph_type(graph, node.operands[!k]),
                                  mirage_ugraph_type(graph, node.first_result)))
        return false;
    }
  }
  return used;
}

static Gauge make_gauge(GaugeKind kind, double times, bool exact) {
  return exact && times == 0 ? (Gauge){0} : (Gauge){kind, exact, times};
}

// a + sign b, for shifts of a sum and powers of a product.
static Gauge add_gauges(Gauge a, Gauge b, double sign) {
  if (!b.kind)
    return a;
  if (a.kind && (a.kind != b.kind || !a.exact || !b.exact))
    return (Gauge){a.kind == b.kind ? a.kind : GAUGE_UNKNOWN, false, 0};
  return make_gauge(b.kind, a.times + sign * b.times, b.exact);
}

// The same for both operands, or none.
static Gauge common_gauge(Gauge a, Gauge b) {
  bool same = a.kind == b.kind && a.exact == b.exact && a.times == b.times && (a.exact || !a.kind);
  return same ? a : (Gauge){.kind = GAUGE_UNKNOWN};
}

static bool find_constant(const MirageUGraph *graph, MirageValue value, double *out) {
  MirageNode by = mirage_ugraph_def(graph, value);
  if (!by.index)
    return false;
  MirageNodeView node = mirage_ugraph_node(graph, by);
  if (node.op == MIRAGE_OP_CAST || node.op == MIRAGE_OP_BROADCAST)
    return find_constant(graph, node.operands[0], out);
  if (node.op == MIRAGE_OP_CONSTANT)
    *out = node.attrs->constant.value;
  return node.op == MIRAGE_OP_CONSTANT;
}

// A shift times or over a number.
static Gauge scale(const Gauges *gauges, Gauge shift, MirageValue by, bool over) {
  double number = 0;
  if (!shift.exact || !find_constant(gauges->graph, by, &number) || (over && number == 0))
    return (Gauge){.kind = GAUGE_SHIFT};
  return make_gauge(GAUGE_SHIFT, over ? shift.times / number : shift.times * number, true);
}

// Whether the maximum is the same along a dimension of a value, counted from the last one.
static bool is_constant_along(const Gauges *gauges, uint32_t from_last) {
  const MirageType *type = mirage_ugraph_type(gauges->graph, gauges->maximum);
  return from_last > type->rank || type->shape[type->rank - from_last] == 1;
}

static Gauge gauge_of_reduction(const Gauges *gauges, const MirageNodeView *node, Gauge a) {
  const MirageType *type = mirage_ugraph_type(gauges->graph, node->operands[0]);
  uint32_t dim = (uint32_t)node->attrs->reduce.dim;
  if (!a.kind || !is_constant_along(gauges, type->rank - dim))
    return (Gauge){.kind = a.kind ? GAUGE_UNKNOWN : GAUGE_NONE};
  if (node->op == MIRAGE_OP_REDUCE_SUM && a.kind == GAUGE_SHIFT)
    return make_gauge(a.kind, a.times * (double)type->shape[dim], a.exact);
  return a;
}

static Gauge gauge_of_matmul(const Gauges *gauges, const MirageNodeView *node, Gauge a, Gauge b) {
  bool moved = node->attrs && (node->attrs->matmul.transpose_a || node->attrs->matmul.transpose_b);
  if ((!a.kind || (a.kind == GAUGE_POWER && is_constant_along(gauges, 1))) &&
      (!b.kind || (b.kind == GAUGE_POWER && is_constant_along(gauges, 2))) && (!moved || (!a.kind && !b.kind)))
    return add_gauges(a, b, 1);
  return (Gauge){.kind = GAUGE_UNKNOWN};
}

static Gauge gauge_of_product(const Gauges *gauges, const MirageNodeView *node, Gauge a, Gauge b) {
  bool over = node->op == MIRAGE_OP_DIV;
  if (a.kind == GAUGE_SHIFT && !b.kind)
    return scale(gauges, a, node->operands[1], over);
  if (b.kind == GAUGE_SHIFT && !a.kind && !over)
    return scale(gauges, b, node->operands[0], false);
  if (a.kind == GAUGE_SHIFT || b.kind == GAUGE_SHIFT)
    return (Gauge){.kind = GAUGE_UNKNOWN};
  return add_gauges(a, b, over ? -1 : 1);
}

static Gauge gauge_of(const Gauges *gauges, const MirageNodeView *node) {
  Gauge a = node->num_operands > 0 ? gauges->values[node->operands[0].index] : (Gauge){0};
  Gauge b = node->num_operands > 1 ? gauges->values[node->operands[1].index] : (Gauge){0};
  if (!a.kind && !b.kind)
    return a;
  if (a.kind == GAUGE_UNKNOWN || b.kind == GAUGE_UNKNOWN)
    return (Gauge){.kind = GAUGE_UNKNOWN};
  switch (node->op) {
  case MIRAGE_OP_ADD:
  case MIRAGE_OP_SUB: {
    bool shifts = a.kind != GAUGE_POWER && b.kind != GAUGE_POWER;
    return shifts ? add_gauges(a, b, node->op == MIRAGE_OP_ADD ? 1 : -1) : common_gauge(a, b);
  }
  case MIRAGE_OP_MUL:
  case MIRAGE_OP_DIV:
    return gauge_of_product(gauges, node, a, b);
  case MIRAGE_OP_MAX:
  case MIRAGE_OP_MIN:
    return common_gauge(a, b);
  case MIRAGE_OP_EXP:
    return (Gauge){a.kind == GAUGE_SHIFT ? GAUGE_POWER : GAUGE_UNKNOWN, a.exact, a.times};
  case MIRAGE_OP_LOG:
    return (Gauge){a.kind == GAUGE_POWER ? GAUGE_SHIFT : GAUGE_UNKNOWN, a.exact, a.times};
  case MIRAGE_OP_CAST:
  case MIRAGE_OP_BROADCAST:
    return a;
  case MIRAGE_OP_REDUCE_SUM:
  case MIRAGE_OP_REDUCE_MAX:
    return gauge_of_reduction(gauges, node, a);
  case MIRAGE_OP_MATMUL:
    return gauge_of_matmul(gauges, node, a, b);
  default:
    return (Gauge){.kind = GAUGE_UNKNOWN};
  }
}

static uint8_t axis_of_maximum(const SearchProgram *program, MirageValue maximum) {
  MirageNodeView node = mirage_ugraph_node(program->graph, mirage_ugraph_def(program->graph, maximum));
  return program->dims[node.operands[0].index][node.attrs->reduce.dim];
}

// Whether the operator needs the maximum: a shift that nothing is known of afterwards, where no trial can be trusted,
// or the exponential of one that has no row, before which nothing could be subtracted.
static bool needs_maximum(const Gauges *gauges, const MirageNodeView *node) {
  uint8_t axis = axis_of_maximum(gauges->program, gauges->maximum);
  for (uint32_t k = 0; k < node->num_operands; k++) {
    if (gauges->values[node->operands[k].index].kind != GAUGE_SHIFT)
      continue;
    if (gauges->values[node->first_result.index].kind == GAUGE_UNKNOWN)
      return true;
    if (node->op == MIRAGE_OP_EXP && !memchr(gauges->program->dims[node->operands[k].index], axis, SEARCH_RANK))
      return true;
  }
  return false;
}

static GaugeVerdict follow(Gauges *gauges) {
  const MirageUGraph *graph = gauges->graph;
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  GaugeVerdict verdict = GAUGE_PROVEN;
  memset(gauges->values, 0, ((size_t)mirage_ugraph_num_values(graph) + 1) * sizeof *gauges->values);
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    if (!node.num_results)
      continue;
    bool self = node.first_result.index == gauges->maximum.index;
    gauges->values[node.first_result.index] = self ? make_gauge(GAUGE_SHIFT, 1, true) : gauge_of(gauges, &node);
    if (needs_maximum(gauges, &node))
      return GAUGE_NEEDED;
  }
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(graph); i++) {
    GaugeKind kind = gauges->values[mirage_ugraph_get_output(graph, i).index].kind;
    if (kind == GAUGE_SHIFT)
      return GAUGE_NEEDED;
    verdict = kind ? GAUGE_TRIAL : verdict;
  }
  return verdict;
}

// Notes whose exponentials are relative to this maximum, and whether logarithms are; false where another axis is noted.
static bool note_shifts(SearchProgram *program, const Gauges *gauges) {
  uint8_t axis = axis_of_maximum(program, gauges->maximum);
  uint32_t num = mirage_ugraph_num_values(program->graph);
  for (uint32_t i = 1; i <= num; i++)
    if (gauges->values[i].kind == GAUGE_SHIFT && program->shift[i] && program->shift[i] != axis)
      return false;
  for (uint32_t i = 1; i <= num; i++)
    if (gauges->values[i].kind == GAUGE_SHIFT)
      program->shift[i] = axis;
  MirageRegionView body = mirage_ugraph_region(program->graph, mirage_ugraph_body(program->graph));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(program->graph, body.nodes[i]);
    program->stabilised_logs |= node.op == MIRAGE_OP_LOG && gauges->values[node.operands[0].index].kind == GAUGE_POWER;
  }
  return true;
}

// ---------------------------------------------------------------------------------------------- trials

// The program's results on the shrunken instance, with what is marked dropped read as 0.
static MirageStatus evaluate(const SearchProgram *program, const MirageSearchOptions *options, SearchSpace *space,
                             MirageField **out_field) {
  *out_field = mirage__search_field(options);
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
    if (node.op == MIRAGE_OP_ADD || node.op == MIRAGE_OP_SUB)
      program->num_elementwise -= program->dropped[node.operands[0].index] || program->dropped[node.operands[1].index];
    if (node.op != MIRAGE_OP_SUB)
      continue;
    program->uses[node.op] |= !program->dropped[node.operands[1].index];
  }
}

// Drops one maximum if nothing depends on it.
static MirageStatus try_to_drop(SearchProgram *program, const MirageSearchOptions *options, const SearchSpace *whole,
                                Gauges *gauges) {
  GaugeVerdict verdict = follow(gauges);
  if (verdict == GAUGE_NEEDED)
    return MIRAGE_OK;
  bool *dropped = &program->dropped[gauges->maximum.index];
  *dropped = true;
  if (verdict == GAUGE_TRIAL)
    MIRAGE_TRY(keeps_values(program, options, whole, dropped));
  *dropped = *dropped && note_shifts(program, gauges);
  return MIRAGE_OK;
}

MirageStatus mirage__search_drop_stabilisers(SearchProgram *program, const MirageSearchOptions *options) {
  if (!program->uses[MIRAGE_OP_REDUCE_MAX] || !program->uses[MIRAGE_OP_SUB])
    return MIRAGE_OK;
  SearchSpace whole = {0};
  MirageField *field = NULL;
  Gauges gauges = {.program = program,
                   .graph = program->graph,
                   .values = calloc((size_t)mirage_ugraph_num_values(program->graph) + 1, sizeof *gauges.values)};
  MirageStatus status = gauges.values ? evaluate(program, options, &whole, &field) : MIRAGE_NO_MEMORY;
  MirageRegionView body = mirage_ugraph_region(program->graph, mirage_ugraph_body(program->graph));
  for (uint32_t i = 0; status == MIRAGE_OK && i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(program->graph, body.nodes[i]);
    if (node.op != MIRAGE_OP_REDUCE_MAX || !is_only_added(program->graph, node.first_result))
      continue;
    gauges.maximum = node.first_result;
    status = try_to_drop(program, options, &whole, &gauges);
  }
  free(gauges.values);
  mirage__search_space_deinit(&whole);
  mirage_field_destroy(field);
  count_operators(program);
  return status == MIRAGE_NO_MEMORY ? status : MIRAGE_OK; // other failures are found again, and told, by the search
}
