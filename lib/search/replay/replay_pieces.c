// replay_pieces.c - a candidate of several kernels as the program in pieces, each replayed as a program of its own.
//
// Program and candidate are walked with every tile read as the whole tensor, so that equal values on the shrunken
// instance tell which of the program's values a kernel computes. A cut is where everything that passes is such a value;
// what lies between two cuts computes a piece of the program: it must be one that the search makes, and its kernels lie
// in the space of its program, or be its own operators.
#include "search/pieces/search_pieces.h"
#include "search/replay/replay_internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ENDS = 64 };

typedef struct Matcher {
  MirageReplay *replay;
  const MirageUGraph *program, *candidate;
  ReplayValue *theirs, *ours; // by value of the program, of the candidate
  MirageValue *match;         // by value of the candidate: the program's; 0 = none
  MirageReplayResult *result;
} Matcher;

/// What lies between two cuts: candidate nodes [first, last) of the body.
typedef struct Section {
  uint32_t first, last;
  MirageValue inputs[MAX_ENDS], outputs[MAX_ENDS]; // of the candidate
  uint32_t num_inputs, num_outputs;
  MirageNode nodes[REPLAY_MAX_STEPS]; // of the program, in order; constants too
  uint32_t num_nodes, num_operators;
} Section;

// ------------------------------------------------------------------------------------------- matching

static MirageStatus walk_all(MirageReplay *replay, const MirageUGraph *graph, ReplayValue *values, bool *out_walked) {
  ReplayWalk *walk = calloc(1, sizeof *walk);
  if (!walk)
    return MIRAGE_NO_MEMORY;
  walk->space = &replay->whole.space;
  walk->graph = graph;
  walk->whole = true;
  walk->num_met = UINT32_MAX;
  walk->values = values;
  *out_walked = mirage__replay_walk(walk);
  MirageStatus status = walk->status;
  free(walk);
  return status;
}

static bool is_whole(const ReplayValue *value) {
  for (uint32_t d = 0; d < MIRAGE_MAX_RANK; d++)
    if (value->parts[d] > 1)
      return false;
  return value->kind == REPLAY_INPUT || (value->kind == REPLAY_TENSOR && !value->apart);
}

static MirageValue find_match(const Matcher *matcher, MirageValue value) {
  const ReplayValue *mine = &matcher->ours[value.index];
  for (uint32_t v = 1; is_whole(mine) && v <= mirage_ugraph_num_values(matcher->program); v++) {
    const ReplayValue *other = &matcher->theirs[v];
    if (other->kind == mine->kind && other->tensor == mine->tensor &&
        mirage_type_same_shape(mirage_ugraph_type(matcher->program, (MirageValue){v}),
                               mirage_ugraph_type(matcher->candidate, value)))
      return (MirageValue){v};
  }
  return (MirageValue){0};
}

static bool is_constant(const MirageUGraph *graph, MirageValue value) {
  MirageNode def = mirage_ugraph_def(graph, value);
  return def.index && mirage_op_info(mirage_ugraph_node(graph, def).op)->kind == MIRAGE_KIND_CONSTANT;
}

// ------------------------------------------------------------------------------------------- sections

static bool add_end(MirageValue *list, uint32_t *count, MirageValue value) {
  for (uint32_t i = 0; i < *count; i++)
    if (list[i].index == value.index)
      return true;
  if (*count == MAX_ENDS)
    return false;
  list[(*count)++] = value;
  return true;
}

// The place in the body of the node that defines a value; -1 for inputs.
static int64_t place_of(const Matcher *matcher, MirageRegionView body, MirageValue value) {
  MirageNode def = mirage_ugraph_def(matcher->candidate, value);
  for (uint32_t i = 0; i < body.num_nodes; i++)
    if (body.nodes[i].index == def.index)
      return i;
  return -1;
}

// Inputs and outputs of a section; false when one of them is no value of the program.
static bool find_ends(const Matcher *matcher, Section *section) {
  MirageRegionView body = mirage_ugraph_region(matcher->candidate, mirage_ugraph_body(matcher->candidate));
  section->num_inputs = section->num_outputs = 0;
  for (uint32_t n = section->first; n < body.num_nodes; n++) {
    MirageNodeView node = mirage_ugraph_node(matcher->candidate, body.nodes[n]);
    for (uint32_t k = 0; k < node.num_operands; k++) {
      MirageValue value = node.operands[k];
      int64_t place = place_of(matcher, body, value);
      bool here = n < section->last, made_here = place >= section->first && place < section->last;
      if (here == made_here || (!here && !made_here) || is_constant(matcher->candidate, value))
        continue;
      if (!matcher->match[value.index].index || !(here ? add_end(section->inputs, &section->num_inputs, value)
                                                       : add_end(section->outputs, &section->num_outputs, value)))
        return false;
    }
  }
  return section->num_outputs > 0;
}

// The program's operators between the section's ends, backwards from `value`; false when they need something else.
static bool slice(const Matcher *matcher, Section *section, MirageValue value, bool *wanted) {
  for (uint32_t i = 0; i < section->num_inputs; i++)
    if (matcher->match[section->inputs[i].index].index == value.index)
      return true;
  MirageNode def = mirage_ugraph_def(matcher->program, value);
  if (!def.index)
    return false;
  if (wanted[def.index])
    return true;
  wanted[def.index] = true;
  MirageNodeView node = mirage_ugraph_node(matcher->program, def);
  for (uint32_t k = 0; k < node.num_operands; k++)
    if (!slice(matcher, section, node.operands[k], wanted))
      return false;
  return true;
}

static bool find_nodes(const Matcher *matcher, Section *section, bool *wanted) {
  MirageRegionView body = mirage_ugraph_region(matcher->program, mirage_ugraph_body(matcher->program));
  memset(wanted, 0, ((size_t)mirage_ugraph_num_nodes(matcher->program) + 1) * sizeof *wanted);
  section->num_nodes = section->num_operators = 0;
  for (uint32_t i = 0; i < section->num_outputs; i++)
    if (!slice(matcher, section, matcher->match[section->outputs[i].index], wanted))
      return false;
  for (uint32_t i = 0; i < body.num_nodes && section->num_nodes < REPLAY_MAX_STEPS; i++)
    if (wanted[body.nodes[i].index]) {
      section->nodes[section->num_nodes++] = body.nodes[i];
      section->num_operators +=
          mirage_op_info(mirage_ugraph_node(matcher->program, body.nodes[i]).op)->kind != MIRAGE_KIND_CONSTANT;
    }
  return section->num_nodes < REPLAY_MAX_STEPS;
}

// ---------------------------------------------------------------------------------------------- graphs

// A graph of these nodes of `from`, which takes and gives the section's ends.
static MirageStatus make_graph(const MirageUGraph *from, uint32_t num_nodes, const MirageNode *nodes,
                               const Section *section, const MirageValue *match, MirageUGraph **out_graph) {
  MirageValue *map = calloc((size_t)mirage_ugraph_num_values(from) + 1, sizeof *map), results[MAX_ENDS];
  MirageUGraph *graph = mirage_ugraph_create(NULL, "piece", NULL);
  MirageStatus status = map && graph ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < section->num_inputs && status == MIRAGE_OK; i++) {
    MirageValue input = match ? match[section->inputs[i].index] : section->inputs[i];
    map[input.index] = mirage_ugraph_input(graph, *mirage_ugraph_type(from, input));
  }
  if (status == MIRAGE_OK)
    status = mirage_ugraph_copy_nodes(graph, from, num_nodes, nodes, map);
  for (uint32_t i = 0; i < section->num_outputs && status == MIRAGE_OK; i++)
    results[i] = map[(match ? match[section->outputs[i].index] : section->outputs[i]).index];
  if (status == MIRAGE_OK) {
    mirage_ugraph_return(graph, section->num_outputs, results);
    status = mirage_ugraph_finish(graph);
  }
  free(map);
  if (status != MIRAGE_OK)
    mirage_ugraph_destroy(graph);
  else
    *out_graph = graph;
  return status;
}

// The section's nodes of the candidate, and the constants that they use.
static MirageStatus make_candidate(const Matcher *matcher, const Section *section, MirageUGraph **out_graph) {
  MirageRegionView body = mirage_ugraph_region(matcher->candidate, mirage_ugraph_body(matcher->candidate));
  MirageNode *nodes = calloc(body.num_nodes, sizeof *nodes);
  uint32_t count = 0;
  if (!nodes)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < section->last; i++) {
    bool constant =
        mirage_op_info(mirage_ugraph_node(matcher->candidate, body.nodes[i]).op)->kind == MIRAGE_KIND_CONSTANT;
    if (i >= section->first || constant)
      nodes[count++] = body.nodes[i];
  }
  MirageStatus status = make_graph(matcher->candidate, count, nodes, section, NULL, out_graph);
  free(nodes);
  return status;
}

static bool has_custom(const Matcher *matcher, const Section *section) {
  MirageRegionView body = mirage_ugraph_region(matcher->candidate, mirage_ugraph_body(matcher->candidate));
  for (uint32_t i = section->first; i < section->last; i++)
    if (mirage_ugraph_node(matcher->candidate, body.nodes[i]).op == MIRAGE_OP_CUSTOM)
      return true;
  return false;
}

// ------------------------------------------------------------------------------------------- verdicts

static MirageStatus replay_graphs(const Matcher *matcher, const MirageUGraph *program, const MirageUGraph *candidate,
                                  MirageReplayResult *out_result) {
  MirageReplay *replay;
  MIRAGE_TRY(mirage_replay_create(program, &matcher->replay->options, NULL, &replay));
  MirageStatus status = mirage__replay_whole(replay, candidate, out_result);
  mirage_replay_destroy(replay);
  mirage_ugraph_destroy(out_result->graph);
  out_result->graph = NULL;
  return status;
}

static MirageStatus replay_section(const Matcher *matcher, const Section *section, MirageReplayResult *out_result) {
  *out_result = (MirageReplayResult){.cut = MIRAGE_REPLAY_KERNELS};
  if (!has_custom(matcher, section)) {
    out_result->in_space = section->num_operators == 1;
    snprintf(out_result->why, sizeof out_result->why,
             "%u operators are as many kernels, which the search puts into one", section->num_operators);
    return MIRAGE_OK;
  }
  if (!mirage__search_is_piece(matcher->program, section->num_nodes, section->nodes)) {
    snprintf(out_result->why, sizeof out_result->why, "the search makes no such piece of %u operators",
             section->num_operators);
    return MIRAGE_OK;
  }
  MirageUGraph *program = NULL, *candidate = NULL;
  MirageStatus status =
      make_graph(matcher->program, section->num_nodes, section->nodes, section, matcher->match, &program);
  if (status == MIRAGE_OK)
    status = make_candidate(matcher, section, &candidate);
  if (status == MIRAGE_OK)
    status = replay_graphs(matcher, program, candidate, out_result);
  mirage_ugraph_destroy(program);
  mirage_ugraph_destroy(candidate);
  if (status == MIRAGE_OK || status == MIRAGE_NO_MEMORY)
    return status;
  snprintf(out_result->why, sizeof out_result->why, "the search cannot treat the piece");
  return MIRAGE_OK;
}

// Takes the verdict on the pieces when it says more than that on the whole.
static void take_pieces(Matcher *matcher, const MirageReplayResult *pieces) {
  MirageReplayResult *result = matcher->result;
  if (!pieces->in_space && (result->graph || pieces->cut == MIRAGE_REPLAY_KERNELS))
    return;
  mirage_ugraph_destroy(result->graph);
  *result = *pieces;
  if (!pieces->in_space)
    snprintf(result->why, sizeof result->why, "in piece %u: %s", pieces->pieces, pieces->why);
}

// Cuts as often as possible, and replays what lies between.
static MirageStatus replay_sections(Matcher *matcher, bool *wanted) {
  MirageRegionView body = mirage_ugraph_region(matcher->candidate, mirage_ugraph_body(matcher->candidate));
  MirageReplayResult all = {.in_space = true};
  Section section = {0};
  for (uint32_t n = 0; n + 1 < body.num_nodes; n++) {
    section.last = n + 1;
    if (mirage_op_info(mirage_ugraph_node(matcher->candidate, body.nodes[n]).op)->kind == MIRAGE_KIND_CONSTANT ||
        !find_ends(matcher, &section) || !find_nodes(matcher, &section, wanted))
      continue;
    if (section.first == 0 && n + 2 == body.num_nodes)
      return MIRAGE_OK; // one piece is the whole
    MirageReplayResult result;
    MIRAGE_TRY(replay_section(matcher, &section, &result));
    all.pieces++;
    all.operators += result.operators;
    all.merged += result.merged;
    all.counted_ops = result.counted_ops > all.counted_ops ? result.counted_ops : all.counted_ops;
    if (!result.in_space) {
      result.pieces = all.pieces;
      take_pieces(matcher, &result);
      return MIRAGE_OK;
    }
    section.first = section.last;
  }
  if (section.first == section.last && all.pieces > 1)
    take_pieces(matcher, &all);
  return MIRAGE_OK;
}

static MirageStatus match_values(Matcher *matcher) {
  bool walked = false;
  MIRAGE_TRY(walk_all(matcher->replay, matcher->program, matcher->theirs, &walked));
  if (walked)
    MIRAGE_TRY(walk_all(matcher->replay, matcher->candidate, matcher->ours, &walked));
  for (uint32_t v = 1; v <= mirage_ugraph_num_values(matcher->candidate); v++)
    matcher->match[v] = find_match(matcher, (MirageValue){v});
  return MIRAGE_OK;
}

MirageStatus mirage__replay_pieces(MirageReplay *replay, const MirageUGraph *candidate,
                                   MirageReplayResult *in_out_result) {
  Matcher matcher = {
      .replay = replay, .program = replay->program.source, .candidate = candidate, .result = in_out_result};
  matcher.theirs = calloc((size_t)mirage_ugraph_num_values(matcher.program) + 1, sizeof *matcher.theirs);
  matcher.ours = calloc((size_t)mirage_ugraph_num_values(candidate) + 1, sizeof *matcher.ours);
  matcher.match = calloc((size_t)mirage_ugraph_num_values(candidate) + 1, sizeof *matcher.match);
  bool *wanted = calloc((size_t)mirage_ugraph_num_nodes(matcher.program) + 1, sizeof *wanted);
  MirageStatus status = matcher.theirs && matcher.ours && matcher.match && wanted ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK)
    status = match_values(&matcher);
  if (status == MIRAGE_OK)
    status = replay_sections(&matcher, wanted);
  free(matcher.theirs);
  free(matcher.ours);
  free(matcher.match);
  free(wanted);
  return status;
}
