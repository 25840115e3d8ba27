// search_sections.c - programs of many operators: sections, one after the other in the text, each searched by itself.
//
// What a search looks at once is a block graph of some ten operators, or a piece of eight; a program of hundreds gains
// nothing from being looked at as one, and ways to cut it are not found faster. So it is divided into sections of at
// most SECTION_OPERATORS, which end where the fewest values pass from one to the next (of equal places, the last), and
// each is searched as a program of its own: as a whole and in pieces. Equal ones - the layers of a model - are searched
// once. The µGraphs of the program are those of its sections, one after the other: the best of each, the second best,
// and so on. So time and memory grow with the number of different sections, and otherwise with the text.
//
// Where the text repeats itself (search_period.c) sections end with the periods, as many as fit, so that they are equal.
//
// Programs of at most WHOLE_OPERATORS are searched as one, too; beyond that a block graph does not hold them.
//
// Example: twelve layers of 14 operators, which hand on one value: six sections of two layers, of which one is
//          searched.
#include "search/cost/cost_memo.h"
#include "search/pieces/search_partition.h"
#include "search/pieces/search_period.h"
#include "search/pieces/search_pieces.h"
#include "search/run/search_funnel.h"
#include "search/views/search_view.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  SECTION_OPERATORS = 32, // of a section
  SECTION_OPERANDS = 64,  // of all its operators, at most: no section has more inputs
  LARGE = 64,             // operators of a program that is searched in sections
  WHOLE_OPERATORS = 192,  // of one that is searched as one beside that
  WHOLE_NODES = 1024,     // the same, with constants and views
  KEPT = 4,               // µGraphs
  RECORDS = 1 << 16,      // pieces of one section in a checkpoint
};
static const double whole_share = 1. / 3; // of the time budget

/// Operators first .. end - 1 of the program.
typedef struct Section {
  uint32_t first, end, num_inputs, num_outputs;
  MirageValue *inputs, *outputs; // of the program; in the arena
  MirageUGraph *program;         // the section by itself; owned
  uint32_t same;                 // the first section that is the same program; itself where there is none before
  MirageUGraph *own;             // its own operators, of the first of equal ones; owned
  MirageSearchResult found;      // of the first of equal ones
} Section;

typedef struct Sections {
  const MirageUGraph *program;
  MirageArena arena;
  MirageNode *nodes; // operators; constants and views belong to whoever uses them
  uint32_t num_nodes;
  uint32_t *producer, *last_reader; // by value: number and 1 of the operator behind it, of the last one that reads it
                                    // or a view of it (number of operators and 1: it is returned)
  MirageValue *root, *home;         // by value, as in search_partition.h
  MirageValue *map;                 // by value: for whatever is being built
  SearchPeriod period;              // at its first operator sections begin
  Section *sections;
  uint32_t num_sections;
} Sections;

// ------------------------------------------------------------------------------------------------------------
// operators

static bool is_operator(MirageOp op) {
  MirageOpKind kind = mirage_op_info(op)->kind;
  return kind != MIRAGE_KIND_CONSTANT && kind != MIRAGE_KIND_TERMINATOR && !mirage__view_is_step(op);
}

static uint32_t count_operators(const MirageUGraph *program) {
  MirageRegionView body = mirage_ugraph_region(program, mirage_ugraph_body(program));
  uint32_t count = 0;
  for (uint32_t i = 0; i < body.num_nodes; i++)
    count += is_operator(mirage_ugraph_node(program, body.nodes[i]).op);
  return count;
}

static bool has_one(const MirageUGraph *program) {
  MirageRegionView body = mirage_ugraph_region(program, mirage_ugraph_body(program));
  return body.num_nodes <= WHOLE_NODES && count_operators(program) <= WHOLE_OPERATORS;
}

bool mirage__search_is_large(const MirageUGraph *program) {
  return count_operators(program) > LARGE || !has_one(program);
}

static MirageStatus allocate(Sections *all) {
  size_t values = (size_t)mirage_ugraph_num_values(all->program) + 1;
  all->nodes = mirage_arena_alloc_array(&all->arena, values, sizeof *all->nodes);
  all->producer = mirage_arena_alloc_array(&all->arena, values, sizeof *all->producer);
  all->last_reader = mirage_arena_alloc_array(&all->arena, values, sizeof *all->last_reader);
  all->root = mirage_arena_alloc_array(&all->arena, values, sizeof *all->root);
  all->home = mirage_arena_alloc_array(&all->arena, values, sizeof *all->home);
  all->map = mirage_arena_alloc_array(&all->arena, values, sizeof *all->map);
  all->sections = mirage_arena_alloc_array(&all->arena, values, sizeof *all->sections);
  return all->nodes && all->producer && all->last_reader && all->root && all->home && all->map && all->sections
             ? MIRAGE_OK
             : MIRAGE_NO_MEMORY;
}

// Who computes each value, and who reads it last.
static MirageStatus list_operators(Sections *all) {
  MIRAGE_TRY(mirage__homes_find(all->program, all->root, all->home));
  MirageRegionView body = mirage_ugraph_region(all->program, mirage_ugraph_body(all->program));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(all->program, body.nodes[i]);
    bool end = mirage_op_info(node.op)->kind == MIRAGE_KIND_TERMINATOR;
    for (uint32_t k = 0; k < node.num_operands && (end || is_operator(node.op)); k++)
      all->last_reader[all->root[node.operands[k].index].index] = all->num_nodes + 1;
    if (!is_operator(node.op))
      continue;
    all->nodes[all->num_nodes++] = body.nodes[i];
    for (uint32_t k = 0; k < node.num_results; k++)
      all->producer[node.first_result.index + k] = all->num_nodes;
  }
  return MIRAGE_OK;
}

static MirageNodeView operator_at(const Sections *all, uint32_t number) {
  return mirage_ugraph_node(all->program, all->nodes[number]);
}

static bool is_constant(const Sections *all, MirageValue root) {
  MirageNode def = mirage_ugraph_def(all->program, root);
  return def.index && mirage_op_info(mirage_ugraph_node(all->program, def).op)->kind == MIRAGE_KIND_CONSTANT;
}

// -------------------------------------------------------------------------------------------------------------
// sections

// The signature of an operator: what it is, and the types of its operands and results.
static uint64_t signature_of(const Sections *all, uint32_t number) {
  MirageNodeView node = operator_at(all, number);
  uint64_t hash = node.op;
  for (uint32_t k = 0; k < node.num_operands + node.num_results; k++) {
    uint32_t value = k < node.num_operands ? node.operands[k].index : node.first_result.index + k - node.num_operands;
    const MirageType *type = mirage_ugraph_type(all->program, (MirageValue){value});
    hash = (hash ^ type->dtype) * UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t d = 0; d < type->rank; d++)
      hash = (hash ^ hash >> 29 ^ (uint64_t)type->shape[d]) * UINT64_C(0xbf58476d1ce4e5b9);
  }
  return hash;
}

// Its first boundary is where the fewest values pass from one period to the next.
static MirageStatus find_period(Sections *all, const uint32_t *passing) {
  uint64_t *signatures = mirage_arena_alloc_array(&all->arena, (size_t)all->num_nodes + 1, sizeof *signatures);
  if (!signatures)
    return MIRAGE_NO_MEMORY;
  for (uint32_t n = 0; n < all->num_nodes; n++)
    signatures[n] = signature_of(all, n);
  SearchPeriod found = mirage__search_find_period(signatures, all->num_nodes);
  uint32_t first = found.first;
  for (uint32_t at = found.first; at < found.first + found.period; at++)
    if (passing[at + found.period] < passing[first + found.period])
      first = at;
  all->period = (SearchPeriod){found.period, first, found.end};
  return MIRAGE_OK;
}

// The last boundary of periods in first + 1 .. last, as far as they begin at `first`, else the next one; 0 = none.
static uint32_t find_boundary(const SearchPeriod *period, uint32_t first, uint32_t last) {
  uint32_t next = period->first;
  if (!period->period)
    return 0;
  if (first >= next)
    next += ((first - next) / period->period + 1) * period->period;
  bool begins = first + period->period == next;
  while (begins && next + period->period <= last && next + period->period <= period->end)
    next += period->period;
  return next > first && next <= last && next <= period->end ? next : 0;
}

// Where the section that begins here ends. passing[e]: values that are computed before operator e and read by it or
// after it.
static uint32_t find_end(const Sections *all, const uint32_t *passing, uint32_t first) {
  uint32_t last = first, best = 0, operands = 0;
  while (last < all->num_nodes && last - first < SECTION_OPERATORS) {
    operands += operator_at(all, last).num_operands;
    if (last > first && operands > SECTION_OPERANDS)
      break;
    last++;
  }
  uint32_t boundary = find_boundary(&all->period, first, last);
  if (boundary)
    return boundary;
  if (last == all->num_nodes)
    return last;
  for (uint32_t end = first + (last - first + 1) / 2; end <= last; end++)
    if (!best || passing[end] <= passing[best])
      best = end;
  return best;
}

static MirageStatus divide(Sections *all) {
  uint32_t *passing = mirage_arena_alloc_array(&all->arena, (size_t)all->num_nodes + 2, sizeof *passing);
  int32_t *change = mirage_arena_alloc_array(&all->arena, (size_t)all->num_nodes + 2, sizeof *change);
  if (!passing || !change)
    return MIRAGE_NO_MEMORY;
  for (uint32_t v = 1; v <= mirage_ugraph_num_values(all->program); v++)
    if (all->producer[v] && all->last_reader[v] > all->producer[v]) {
      change[all->producer[v]]++;
      change[all->last_reader[v] <= all->num_nodes ? all->last_reader[v] : all->num_nodes]--;
    }
  for (uint32_t e = 1; e <= all->num_nodes; e++)
    passing[e] = (uint32_t)((int32_t)passing[e - 1] + change[e]);
  MIRAGE_TRY(find_period(all, passing));
  for (uint32_t first = 0; first < all->num_nodes;) {
    Section *section = &all->sections[all->num_sections];
    *section = (Section){.first = first, .end = find_end(all, passing, first), .same = all->num_sections};
    all->num_sections++;
    first = section->end;
  }
  return MIRAGE_OK;
}

// What a section takes and what it hands on: values in the form in which they lie in memory.
static MirageStatus find_ends(const Sections *all, Section *section, MirageArena *arena) {
  uint32_t most_inputs = 0, most_outputs = 0;
  for (uint32_t n = section->first; n < section->end; n++) {
    most_inputs += operator_at(all, n).num_operands;
    most_outputs += operator_at(all, n).num_results;
  }
  section->inputs = mirage_arena_alloc_array(arena, (size_t)most_inputs + 1, sizeof *section->inputs);
  section->outputs = mirage_arena_alloc_array(arena, (size_t)most_outputs + 1, sizeof *section->outputs);
  if (!section->inputs || !section->outputs)
    return MIRAGE_NO_MEMORY;
  for (uint32_t n = section->first; n < section->end; n++) {
    MirageNodeView node = operator_at(all, n);
    for (uint32_t k = 0; k < node.num_operands; k++) {
      MirageValue root = all->root[node.operands[k].index], home = all->home[root.index];
      bool inside = all->producer[root.index] > section->first, known = inside || is_constant(all, root);
      for (uint32_t i = 0; i < section->num_inputs && !known; i++)
        known = section->inputs[i].index == home.index;
      if (!known)
        section->inputs[section->num_inputs++] = home;
    }
    for (uint32_t k = 0; k < node.num_results; k++)
      if (all->last_reader[node.first_result.index + k] > section->end)
        section->outputs[section->num_outputs++] = all->home[node.first_result.index + k];
  }
  return MIRAGE_OK;
}

// Copies what makes a view, or a constant, out of what the map has already. Views of views follow one another in the
// text, so the chain is walked down first.
static MirageStatus copy_view(const Sections *all, MirageValue value, MirageUGraph *graph) {
  MirageValue at = value;
  while (!all->map[value.index].index) {
    MirageNode def = mirage_ugraph_def(all->program, at);
    MirageNodeView node = def.index ? mirage_ugraph_node(all->program, def) : (MirageNodeView){0};
    if (!def.index)
      return MIRAGE_OK; // an input that nobody reads
    if (node.num_operands && !all->map[node.operands[0].index].index &&
        mirage_ugraph_def(all->program, node.operands[0]).index) {
      at = node.operands[0];
      continue;
    }
    MIRAGE_TRY(mirage_ugraph_copy_nodes(graph, all->program, 1, &def, all->map));
    at = value;
  }
  return MIRAGE_OK;
}

static MirageStatus fill_program(const Sections *all, Section *section, MirageValue *results) {
  MirageUGraph *graph = section->program;
  memset(all->map, 0, ((size_t)mirage_ugraph_num_values(all->program) + 1) * sizeof *all->map);
  for (uint32_t i = 0; i < section->num_inputs; i++)
    all->map[section->inputs[i].index] =
        mirage_ugraph_input(graph, *mirage_ugraph_type(all->program, section->inputs[i]));
  for (uint32_t n = section->first; n < section->end; n++) {
    MirageNodeView node = operator_at(all, n);
    for (uint32_t k = 0; k < node.num_operands; k++)
      MIRAGE_TRY(copy_view(all, node.operands[k], graph));
    MIRAGE_TRY(mirage_ugraph_copy_nodes(graph, all->program, 1, &all->nodes[n], all->map));
  }
  for (uint32_t i = 0; i < section->num_outputs; i++) {
    MIRAGE_TRY(copy_view(all, section->outputs[i], graph));
    results[i] = all->map[section->outputs[i].index];
  }
  mirage_ugraph_return(graph, section->num_outputs, results);
  return mirage_ugraph_finish(graph);
}

// The section as a program of its own; none where nobody reads what it computes.
static MirageStatus make_program(Sections *all, Section *section) {
  MIRAGE_TRY(find_ends(all, section, &all->arena));
  if (!section->num_outputs)
    return MIRAGE_OK;
  MirageValue *results = mirage_arena_alloc_array(&all->arena, section->num_outputs, sizeof *results);
  section->program = mirage_ugraph_create(NULL, "section", NULL);
  return results && section->program ? fill_program(all, section, results) : MIRAGE_NO_MEMORY;
}

static MirageStatus make_programs(Sections *all) {
  for (uint32_t i = 0; i < all->num_sections; i++) {
    Section *section = &all->sections[i];
    MIRAGE_TRY(make_program(all, section));
    for (uint32_t k = 0; section->program && k < i && section->same == i; k++) {
      const Section *other = &all->sections[k];
      if (other->same == k && other->program && mirage__pieces_same(other->program, section->program))
        section->same = k;
    }
    if (section->same == i && section->program)
      MIRAGE_TRY(mirage_ugraph_expand_wide(section->program, NULL, &section->own)); // as accurate as the program
    else
      mirage_ugraph_destroy(section->program);
    section->program = section->same == i ? section->program : NULL;
  }
  return MIRAGE_OK;
}

// -------------------------------------------------------------------------------------------------------------- search

static uint32_t count_different(const Sections *all, uint32_t from) {
  uint32_t count = 0;
  for (uint32_t i = from; i < all->num_sections; i++)
    count += all->sections[i].same == i && all->sections[i].program;
  return count;
}

// Each gets an equal share of the time that is left.
static MirageStatus search_sections(Sections *all, const SearchRun *run, MirageFunnel *funnel) {
  SearchMonitor *monitor = run->part.monitor;
  double end = monitor->end;
  MirageStatus status = MIRAGE_OK;
  for (uint32_t i = 0; i < all->num_sections && status == MIRAGE_OK; i++) {
    Section *section = &all->sections[i];
    if (section->same != i || !section->program)
      continue;
    MirageStop stop = mirage__search_wanted_stop(monitor, end);
    if (stop == MIRAGE_STOP_NONE) {
      SearchRun part = *run;
      part.part.first_record = (i + 1) * RECORDS;
      double now = mirage__search_clock(), share = (end - now) / count_different(all, i);
      mirage__search_monitor_restart(monitor, isfinite(end) ? now + share : end);
      status = run->search(section->program, &part, NULL, &section->found);
      stop = section->found.funnel.stop;
      status = status == MIRAGE_UNSUPPORTED ? MIRAGE_OK : status; // its own operators stay
      mirage__search_add_to_funnel(funnel, &section->found.funnel);
    }
    mirage__search_add_to_funnel(funnel, &(MirageFunnel){.stop = stop, .exhausted = stop == MIRAGE_STOP_NONE});
  }
  mirage__search_monitor_restart(monitor, end);
  return status;
}

// --------------------------------------------------------------------------------------------------------------- build

// The `rank`-th best of a section, its last one where it has fewer, and its own operators where it has none.
static const MirageUGraph *choice(const Sections *all, const Section *section, uint32_t rank) {
  const Section *first = &all->sections[section->same];
  uint32_t num = first->found.num_candidates;
  return num ? first->found.candidates[rank < num ? rank : num - 1] : first->own;
}

static MirageStatus append_section(const Sections *all, const Section *section, uint32_t rank, MirageUGraph *graph) {
  const MirageUGraph *from = choice(all, section, rank);
  if (!from)
    return MIRAGE_OK; // nobody reads it
  MirageValue *map = calloc((size_t)mirage_ugraph_num_values(from) + 1, sizeof *map);
  if (!map)
    return MIRAGE_NO_MEMORY;
  MirageStatus status = MIRAGE_OK;
  for (uint32_t i = 0; i < section->num_inputs && status == MIRAGE_OK; i++) {
    status = copy_view(all, section->inputs[i], graph); // a view of an input
    map[mirage_ugraph_get_input(from, i).index] = all->map[section->inputs[i].index];
  }
  MirageRegionView body = mirage_ugraph_region(from, mirage_ugraph_body(from));
  if (status == MIRAGE_OK)
    status = mirage_ugraph_copy_nodes(graph, from, body.num_nodes - 1, body.nodes, map);
  for (uint32_t i = 0; i < section->num_outputs; i++)
    all->map[section->outputs[i].index] = map[mirage_ugraph_get_output(from, i).index];
  free(map);
  return status;
}

static MirageStatus fill_graph(const Sections *all, uint32_t rank, MirageUGraph *graph, MirageValue *results) {
  const MirageUGraph *program = all->program;
  memset(all->map, 0, ((size_t)mirage_ugraph_num_values(program) + 1) * sizeof *all->map);
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(program); i++) {
    MirageValue input = mirage_ugraph_get_input(program, i);
    all->map[input.index] = mirage_ugraph_input(graph, *mirage_ugraph_type(program, input));
  }
  for (uint32_t i = 0; i < all->num_sections; i++)
    MIRAGE_TRY(append_section(all, &all->sections[i], rank, graph));
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(program); i++) {
    MirageValue output = mirage_ugraph_get_output(program, i);
    MIRAGE_TRY(copy_view(all, output, graph));
    results[i] = all->map[output.index];
  }
  mirage_ugraph_return(graph, mirage_ugraph_num_outputs(program), results);
  return mirage_ugraph_finish(graph);
}

static MirageStatus build(Sections *all, uint32_t rank, const SearchRun *run, MirageUGraph **out_graph) {
  const char *source = mirage_ugraph_get_meta(all->program)->name;
  char name[256];
  snprintf(name, sizeof name, "%s_sections_%u", source ? source : "program", rank);
  MirageValue *results =
      mirage_arena_alloc_array(&all->arena, (size_t)mirage_ugraph_num_outputs(all->program) + 1, sizeof *results);
  MirageUGraph *graph = mirage_ugraph_create(NULL, name, NULL);
  MirageStatus status = graph && results ? fill_graph(all, rank, graph, results) : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK && source)
    mirage_ugraph_meta(graph)->source = mirage_ugraph_intern_string(graph, source);
  if (status == MIRAGE_OK)
    status = mirage__cost_graph(graph, run->options->target, run->part.memo, NULL, &mirage_ugraph_meta(graph)->cost);
  if (status != MIRAGE_OK)
    mirage_ugraph_destroy(graph);
  else
    *out_graph = graph;
  return status;
}

static MirageStatus join(Sections *all, const SearchRun *run, MirageSearchResult *result) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < all->num_sections; i++)
    most = all->sections[i].found.num_candidates > most ? all->sections[i].found.num_candidates : most;
  for (uint32_t rank = 0; rank < most && rank < KEPT; rank++) {
    MirageUGraph *graph = NULL;
    MIRAGE_TRY(build(all, rank, run, &graph));
    MIRAGE_TRY(mirage__search_insert(result, run->options->max_candidates, graph));
  }
  result->funnel.candidates = result->num_candidates;
  return MIRAGE_OK;
}

// -------------------------------------------------------------------------------------------------------------- public

// What is searched as one gets a share of the time, and fails for itself alone.
static MirageStatus search_as_one(const MirageUGraph *program, const SearchRun *run, MirageSearchResult *result) {
  SearchMonitor *monitor = run->part.monitor;
  SearchPart part = run->part;
  part.deadline = monitor->end;
  if (isfinite(monitor->end))
    part.deadline = monitor->start + whole_share * (monitor->end - monitor->start);
  MirageStatus status = part.search(program, run->options, &part, NULL, result);
  return status == MIRAGE_UNSUPPORTED ? MIRAGE_OK : status;
}

static void deinit(Sections *all) {
  for (uint32_t i = 0; i < all->num_sections; i++) {
    mirage_ugraph_destroy(all->sections[i].program);
    mirage_ugraph_destroy(all->sections[i].own);
    mirage_search_result_deinit(&all->sections[i].found);
  }
  mirage_arena_deinit(&all->arena);
}

static MirageStatus search_divided(Sections *all, const SearchRun *run, MirageSearchResult *result) {
  MIRAGE_TRY(allocate(all));
  MIRAGE_TRY(list_operators(all));
  MIRAGE_TRY(divide(all));
  MIRAGE_TRY(make_programs(all));
  MIRAGE_TRY(search_sections(all, run, &result->funnel));
  if (!result->reason[0])
    snprintf(result->reason, sizeof result->reason,
             "it has %u operators, and is searched in %u sections, %u of them different", all->num_nodes,
             all->num_sections, count_different(all, 0));
  return join(all, run, result);
}

MirageStatus mirage__search_sections(const MirageUGraph *program, const SearchRun *run,
                                     MirageSearchResult *out_result) {
  Sections all = {.program = program};
  mirage_arena_init(&all.arena, NULL);
  MirageStatus status = MIRAGE_OK;
  out_result->funnel.exhausted = true;
  if (has_one(program))
    status = search_as_one(program, run, out_result);
  out_result->funnel.whole_exhausted = false;
  if (status == MIRAGE_OK)
    status = search_divided(&all, run, out_result);
  deinit(&all);
  return status;
}
