// search_partition.c - µGraphs of several kernels: the program in pieces, each searched on its own.
//
// A piece is a run of the program's operators, in the order in which they are written, with few results. Each is
// searched as a program; where nothing is found, or the search cannot treat it, its own operators stay, a kernel each.
// The cheapest way to cut the program into a given number of pieces follows by dynamic programming over prefixes: the
// cost of a µGraph is the sum of its kernels'. Equal pieces are searched once.
//
// Pieces are searched a few at a time, by all threads: as many whatever the number of threads, since how many states
// were spent so far is asked between them.
//
// Example: act(x a) b has no block that holds a row of x a:  { act(x a) } { h b }  are two kernels.
#include "search_control.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_OPERATORS = 128, // of a program that is cut
  MAX_PIECE = 8,       // operators of a piece
  MAX_RESULTS = 4,     // of a piece that is searched
  MAX_PIECES = 64,     // of a µGraph
  MAX_VALUES = 64,     // inputs or outputs of a piece
  KEPT = 4,            // µGraphs, of different numbers of pieces
  STATES_SHARE = 10,   // each piece gets this part of max_states
  AT_ONCE = 8,         // pieces searched before their states are added up
};

static const double near_best = 1.5; // times the best µGraph of the whole: what a GPU may still find faster

typedef struct Piece {
  uint32_t first, count;
  MirageUGraph *program;                               // the operators by themselves; owned
  MirageUGraph *graph;                                 // how they are computed; owned
  MirageValue inputs[MAX_VALUES], outputs[MAX_VALUES]; // of the program that is cut
  uint32_t num_inputs, num_outputs;
  double time_us; // infinite: no such piece
  bool searched;
  const struct Piece *same; // an earlier piece that is the same program
  MirageSearchResult found;
  MirageStatus status;
} Piece;

typedef struct Cutter {
  const MirageUGraph *program;
  const MirageSearchOptions *options; // of a piece
  SearchPool *pool;
  SearchMonitor *monitor;
  struct SearchCheckpoint *checkpoint;
  uint64_t max_states;             // for all pieces together
  MirageNode nodes[MAX_OPERATORS]; // operators; constants belong to whoever uses them
  uint32_t num_nodes;
  Piece *pieces;      // [num_nodes][MAX_PIECE]
  uint32_t *producer; // by value: number of the operator, from 1
  MirageFunnel funnel;
} Cutter;

static Piece *piece_at(const Cutter *cutter, uint32_t first, uint32_t count) {
  return &cutter->pieces[first * MAX_PIECE + count - 1];
}

// ----------------------------------------------------------------------------------------------- pieces

static bool is_inside(const Cutter *cutter, const Piece *piece, MirageValue value) {
  uint32_t by = cutter->producer[value.index];
  return by > piece->first && by <= piece->first + piece->count;
}

static bool is_constant(const Cutter *cutter, MirageValue value) {
  MirageNode def = mirage_ugraph_def(cutter->program, value);
  return def.index && mirage_op_info(mirage_ugraph_node(cutter->program, def).op)->kind == MIRAGE_KIND_CONSTANT;
}

static bool add_value(MirageValue *list, uint32_t *count, MirageValue value) {
  for (uint32_t i = 0; i < *count; i++)
    if (list[i].index == value.index)
      return true;
  if (*count == MAX_VALUES)
    return false;
  list[(*count)++] = value;
  return true;
}

// What a piece takes and what others take from it; false when that is too much.
static bool find_ends(const Cutter *cutter, Piece *piece) {
  MirageRegionView body = mirage_ugraph_region(cutter->program, mirage_ugraph_body(cutter->program));
  bool fits = true;
  for (uint32_t n = 0; n < body.num_nodes; n++) {
    MirageNodeView node = mirage_ugraph_node(cutter->program, body.nodes[n]);
    bool inside = node.num_results && is_inside(cutter, piece, node.first_result);
    for (uint32_t k = 0; k < node.num_operands && fits; k++) {
      MirageValue value = node.operands[k];
      bool made_here = is_inside(cutter, piece, value);
      if (inside && !made_here && !is_constant(cutter, value))
        fits = add_value(piece->inputs, &piece->num_inputs, value);
      else if (!inside && made_here)
        fits = add_value(piece->outputs, &piece->num_outputs, value);
    }
  }
  return fits && piece->num_outputs > 0;
}

static MirageStatus copy_constants(const Cutter *cutter, const Piece *piece, MirageUGraph *graph, MirageValue *map) {
  for (uint32_t n = piece->first; n < piece->first + piece->count; n++) {
    MirageNodeView node = mirage_ugraph_node(cutter->program, cutter->nodes[n]);
    for (uint32_t k = 0; k < node.num_operands; k++) {
      MirageNode def = mirage_ugraph_def(cutter->program, node.operands[k]);
      if (is_constant(cutter, node.operands[k]) && !map[node.operands[k].index].index)
        MIRAGE_TRY(mirage_ugraph_copy_nodes(graph, cutter->program, 1, &def, map));
    }
  }
  return MIRAGE_OK;
}

static MirageStatus fill_program(const Cutter *cutter, Piece *piece, MirageValue *map) {
  MirageUGraph *graph = piece->program;
  MirageValue results[MAX_VALUES];
  for (uint32_t i = 0; i < piece->num_inputs; i++)
    map[piece->inputs[i].index] = mirage_ugraph_input(graph, *mirage_ugraph_type(cutter->program, piece->inputs[i]));
  MIRAGE_TRY(copy_constants(cutter, piece, graph, map));
  MIRAGE_TRY(mirage_ugraph_copy_nodes(graph, cutter->program, piece->count, &cutter->nodes[piece->first], map));
  for (uint32_t i = 0; i < piece->num_outputs; i++)
    results[i] = map[piece->outputs[i].index];
  mirage_ugraph_return(graph, piece->num_outputs, results);
  return mirage_ugraph_finish(graph);
}

// The piece as a program of its own.
static MirageStatus make_program(const Cutter *cutter, Piece *piece) {
  MirageValue *map = calloc((size_t)mirage_ugraph_num_values(cutter->program) + 1, sizeof *map);
  piece->program = mirage_ugraph_create(NULL, "piece", NULL);
  MirageStatus status = map && piece->program ? fill_program(cutter, piece, map) : MIRAGE_NO_MEMORY;
  free(map);
  return status;
}

// --------------------------------------------------------------------------------------- their µGraphs

static bool same_type(const MirageType *a, const MirageType *b) {
  return a->dtype == b->dtype && mirage_type_same_shape(a, b);
}

// Whether two pieces are the same program.
static bool same_program(const MirageUGraph *a, const MirageUGraph *b) {
  MirageRegionView x = mirage_ugraph_region(a, mirage_ugraph_body(a)),
                   y = mirage_ugraph_region(b, mirage_ugraph_body(b));
  if (x.num_nodes != y.num_nodes || mirage_ugraph_num_values(a) != mirage_ugraph_num_values(b))
    return false;
  for (uint32_t v = 1; v <= mirage_ugraph_num_values(a); v++)
    if (!same_type(mirage_ugraph_type(a, (MirageValue){v}), mirage_ugraph_type(b, (MirageValue){v})))
      return false;
  for (uint32_t i = 0; i < x.num_nodes; i++) {
    MirageNodeView n = mirage_ugraph_node(a, x.nodes[i]), m = mirage_ugraph_node(b, y.nodes[i]);
    if (n.op != m.op || n.op == MIRAGE_OP_CUSTOM || n.num_operands != m.num_operands || !n.attrs != !m.attrs ||
        memcmp(n.operands, m.operands, n.num_operands * sizeof *n.operands) != 0 ||
        (n.attrs && memcmp(n.attrs, m.attrs, sizeof *n.attrs) != 0))
      return false;
  }
  return true;
}

static const Piece *find_same(const Cutter *cutter, const Piece *piece) {
  for (uint32_t first = 0; first < piece->first; first++) {
    const Piece *other = piece_at(cutter, first, piece->count);
    if (other->program && !other->same && same_program(other->program, piece->program))
      return other;
  }
  return NULL;
}

static uint32_t count_kernels(const MirageUGraph *graph) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  uint32_t count = 0;
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageOpKind kind = mirage_op_info(mirage_ugraph_node(graph, body.nodes[i]).op)->kind;
    count += kind != MIRAGE_KIND_CONSTANT && kind != MIRAGE_KIND_TERMINATOR;
  }
  return count;
}

static bool is_product(const Cutter *cutter, uint32_t node) {
  return mirage_ugraph_node(cutter->program, cutter->nodes[node]).op == MIRAGE_OP_MATMUL;
}

// Prepares a piece: as a program, and as its own operators, a kernel each. `out_wanted`: a search may find better.
static MirageStatus prepare_piece(Cutter *cutter, Piece *piece, bool *out_wanted) {
  *out_wanted = false;
  piece->time_us = INFINITY;
  if (!find_ends(cutter, piece))
    return MIRAGE_OK;
  MIRAGE_TRY(make_program(cutter, piece));
  piece->same = cutter->options->no_share_pieces ? NULL : find_same(cutter, piece);
  if (piece->same)
    return MIRAGE_OK;
  MirageCost cost;
  MIRAGE_TRY(mirage_ugraph_expand(piece->program, NULL, &piece->graph));
  MIRAGE_TRY(mirage_cost(piece->graph, cutter->options->target, NULL, &cost));
  piece->time_us = cost.time_us;
  *out_wanted =
      piece->num_outputs <= MAX_RESULTS && (count_kernels(piece->graph) > 1 || is_product(cutter, piece->first));
  return MIRAGE_OK;
}

/// Pieces that are searched at once.
typedef struct Round {
  const Cutter *cutter;
  Piece *pieces[AT_ONCE];
  uint32_t num;
} Round;

static MirageStatus search_piece(void *user, uint32_t index) {
  const Round *round = user;
  Piece *piece = round->pieces[index];
  const Cutter *cutter = round->cutter;
  const SearchPart part = {.pool = cutter->pool,
                           .monitor = cutter->monitor,
                           .checkpoint = cutter->checkpoint,
                           .deadline = cutter->monitor->end,
                           .piece = 1 + (uint32_t)(piece - cutter->pieces)};
  piece->status = mirage__search_whole(piece->program, cutter->options, &part, NULL, &piece->found);
  return piece->status == MIRAGE_NO_MEMORY ? piece->status : MIRAGE_OK; // else its own operators stay
}

// The cheapest known µGraph of a piece: its own operators, or what the search found.
static MirageStatus take_found(Cutter *cutter, Piece *piece) {
  MirageStatus status = MIRAGE_OK;
  if (piece->status != MIRAGE_OK)
    return MIRAGE_OK;
  MirageSearchResult *found = &piece->found;
  mirage__search_add_to_funnel(&cutter->funnel, &found->funnel);
  if (found->num_candidates && mirage_ugraph_get_meta(found->candidates[0])->cost.time_us < piece->time_us) {
    mirage_ugraph_destroy(piece->graph);
    piece->graph = NULL;
    status = mirage_ugraph_clone(found->candidates[0], NULL, &piece->graph);
    piece->time_us = mirage_ugraph_get_meta(found->candidates[0])->cost.time_us;
    piece->searched = true;
  }
  mirage_search_result_deinit(found);
  return status;
}

static MirageStatus search_round(Cutter *cutter, Round *round) {
  MirageStop stop = mirage__search_wanted_stop(cutter->monitor, cutter->monitor->end);
  if (stop == MIRAGE_STOP_NONE && cutter->funnel.states >= cutter->max_states)
    stop = MIRAGE_STOP_MAX_STATES;
  if (round->num && stop != MIRAGE_STOP_NONE) {
    mirage__search_add_to_funnel(&cutter->funnel, &(MirageFunnel){.stop = stop});
    round->num = 0;
  }
  MirageStatus status = mirage__search_run_tasks(cutter->pool, round->num, search_piece, round);
  for (uint32_t i = 0; i < round->num; i++) {
    MirageStatus taken = take_found(cutter, round->pieces[i]);
    mirage__search_step(cutter->monitor);
    status = status == MIRAGE_OK ? taken : status;
  }
  round->num = 0;
  return status;
}

// Pieces of one length, in order; those that a search may better are searched as soon as a round is full.
static MirageStatus add_length(Cutter *cutter, Round *round, uint32_t count) {
  for (uint32_t first = 0; first + count <= cutter->num_nodes; first++) {
    Piece *piece = piece_at(cutter, first, count);
    bool wanted;
    piece->first = first;
    piece->count = count;
    MIRAGE_TRY(prepare_piece(cutter, piece, &wanted));
    if (wanted)
      round->pieces[round->num++] = piece;
    else
      mirage__search_step(cutter->monitor);
    if (round->num == AT_ONCE)
      MIRAGE_TRY(search_round(cutter, round));
  }
  return MIRAGE_OK;
}

// Equal pieces take what the first of them found.
static MirageStatus share_pieces(Cutter *cutter) {
  for (uint32_t i = 0; i < cutter->num_nodes * MAX_PIECE; i++) {
    Piece *piece = &cutter->pieces[i];
    if (!piece->same)
      continue;
    piece->time_us = piece->same->time_us;
    piece->searched = piece->same->searched;
    MIRAGE_TRY(mirage_ugraph_clone(piece->same->graph, NULL, &piece->graph));
  }
  return MIRAGE_OK;
}

// Short pieces first: they are quick, and every cut needs them.
static MirageStatus solve_pieces(Cutter *cutter) {
  Round round = {.cutter = cutter};
  uint32_t total = 0;
  for (uint32_t count = 1; count <= MAX_PIECE && count < cutter->num_nodes; count++)
    total += cutter->num_nodes + 1 - count;
  mirage__search_phase(cutter->monitor, MIRAGE_PHASE_PIECES, total);
  for (uint32_t count = 1; count <= MAX_PIECE && count < cutter->num_nodes; count++)
    MIRAGE_TRY(add_length(cutter, &round, count));
  MIRAGE_TRY(search_round(cutter, &round));
  return share_pieces(cutter);
}

// ------------------------------------------------------------------------------------------------- cuts

/// The cheapest way to compute the operators before some place in some number of pieces.
typedef struct Cut {
  double time_us;
  uint32_t last; // operators of the last piece
} Cut;

static void find_cuts(const Cutter *cutter, Cut (*cuts)[MAX_PIECES + 1]) {
  for (uint32_t end = 0; end <= cutter->num_nodes; end++)
    for (uint32_t pieces = 0; pieces <= MAX_PIECES; pieces++) {
      Cut *cut = &cuts[end][pieces];
      *cut = (Cut){.time_us = end == 0 && pieces == 0 ? 0 : INFINITY};
      for (uint32_t count = 1; pieces && count <= MAX_PIECE && count <= end; count++) {
        const Piece *piece = piece_at(cutter, end - count, count);
        bool usable = piece->graph && (piece->searched || count == 1); // else it is what its operators are
        double time = cuts[end - count][pieces - 1].time_us + (usable ? piece->time_us : INFINITY);
        if (time < cut->time_us)
          *cut = (Cut){time, count};
      }
    }
}

// ------------------------------------------------------------------------------------------------ build

static MirageStatus append_piece(const Piece *piece, MirageUGraph *graph, MirageValue *values) {
  MirageValue *map = calloc((size_t)mirage_ugraph_num_values(piece->graph) + 1, sizeof *map);
  if (!map)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < piece->num_inputs; i++)
    map[mirage_ugraph_get_input(piece->graph, i).index] = values[piece->inputs[i].index];
  MirageRegionView body = mirage_ugraph_region(piece->graph, mirage_ugraph_body(piece->graph));
  MirageStatus status = mirage_ugraph_copy_nodes(graph, piece->graph, body.num_nodes - 1, body.nodes, map);
  for (uint32_t i = 0; i < piece->num_outputs; i++)
    values[piece->outputs[i].index] = map[mirage_ugraph_get_output(piece->graph, i).index];
  free(map);
  return status;
}

static MirageStatus fill_graph(const Cutter *cutter, Cut (*cuts)[MAX_PIECES + 1], uint32_t pieces, MirageUGraph *graph,
                               MirageValue *values) {
  const MirageUGraph *program = cutter->program;
  const Piece *chosen[MAX_PIECES];
  uint32_t end = cutter->num_nodes;
  for (uint32_t i = pieces; i-- > 0; end -= chosen[i]->count)
    chosen[i] = piece_at(cutter, end - cuts[end][i + 1].last, cuts[end][i + 1].last);
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(program); i++) {
    MirageValue input = mirage_ugraph_get_input(program, i);
    values[input.index] = mirage_ugraph_input(graph, *mirage_ugraph_type(program, input));
  }
  for (uint32_t i = 0; i < pieces; i++)
    MIRAGE_TRY(append_piece(chosen[i], graph, values));
  MirageValue results[MAX_VALUES];
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(program); i++)
    results[i] = values[mirage_ugraph_get_output(program, i).index];
  mirage_ugraph_return(graph, mirage_ugraph_num_outputs(program), results);
  return mirage_ugraph_finish(graph);
}

static MirageStatus build(const Cutter *cutter, Cut (*cuts)[MAX_PIECES + 1], uint32_t pieces,
                          MirageUGraph **out_graph) {
  const char *source = mirage_ugraph_get_meta(cutter->program)->name;
  char name[256];
  snprintf(name, sizeof name, "%s_pieces_%u", source ? source : "program", pieces);
  MirageUGraph *graph = mirage_ugraph_create(NULL, name, NULL);
  MirageValue *values = calloc((size_t)mirage_ugraph_num_values(cutter->program) + 1, sizeof *values);
  MirageStatus status = graph && values ? fill_graph(cutter, cuts, pieces, graph, values) : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK && source)
    mirage_ugraph_meta(graph)->source = mirage_ugraph_intern_string(graph, source);
  if (status == MIRAGE_OK)
    status = mirage_cost(graph, cutter->options->target, NULL, &mirage_ugraph_meta(graph)->cost);
  free(values);
  if (status != MIRAGE_OK)
    mirage_ugraph_destroy(graph);
  else
    *out_graph = graph;
  return status;
}

static bool uses_search(const Cutter *cutter, Cut (*cuts)[MAX_PIECES + 1], uint32_t pieces) {
  uint32_t end = cutter->num_nodes;
  bool searched = false;
  for (uint32_t i = pieces; i > 0; i--) {
    searched |= piece_at(cutter, end - cuts[end][i].last, cuts[end][i].last)->searched;
    end -= cuts[end][i].last;
  }
  return searched;
}

// Puts a µGraph where its predicted time belongs; the last one goes when there are too many.
static MirageStatus insert(MirageSearchResult *result, uint32_t wanted, MirageUGraph *graph) {
  MirageUGraph **grown = realloc(result->candidates, (result->num_candidates + 1) * sizeof(MirageUGraph *));
  if (!grown) {
    mirage_ugraph_destroy(graph);
    return MIRAGE_NO_MEMORY;
  }
  result->candidates = grown;
  double time = mirage_ugraph_get_meta(graph)->cost.time_us;
  uint32_t at = result->num_candidates++;
  for (; at > 0 && mirage_ugraph_get_meta(grown[at - 1])->cost.time_us > time; at--)
    grown[at] = grown[at - 1];
  grown[at] = graph;
  if (result->num_candidates > wanted)
    mirage_ugraph_destroy(grown[--result->num_candidates]);
  return MIRAGE_OK;
}

// The cheapest cuts, each with its own number of pieces, unless a µGraph of the whole is far better.
static MirageStatus keep_cuts(const Cutter *cutter, uint32_t wanted, MirageSearchResult *result) {
  Cut(*cuts)[MAX_PIECES + 1] = calloc(cutter->num_nodes + 1, sizeof *cuts);
  if (!cuts)
    return MIRAGE_NO_MEMORY;
  find_cuts(cutter, cuts);
  MirageStatus status = MIRAGE_OK;
  const Cut *all = cuts[cutter->num_nodes];
  bool taken[MAX_PIECES + 1] = {false};
  double limit = INFINITY;
  if (result->num_candidates)
    limit = near_best * mirage_ugraph_get_meta(result->candidates[0])->cost.time_us;
  for (uint32_t kept = 0; kept < KEPT && status == MIRAGE_OK; kept++) {
    uint32_t best = 0;
    for (uint32_t pieces = 1; pieces <= MAX_PIECES; pieces++)
      if (!taken[pieces] && isfinite(all[pieces].time_us) && all[pieces].time_us <= limit &&
          uses_search(cutter, cuts, pieces) && (!best || all[pieces].time_us < all[best].time_us))
        best = pieces;
    if (!best)
      break;
    taken[best] = true;
    MirageUGraph *graph = NULL;
    status = build(cutter, cuts, best, &graph);
    if (status == MIRAGE_OK)
      status = insert(result, wanted, graph);
  }
  free(cuts);
  return status;
}

// ----------------------------------------------------------------------------------------------- public

static bool list_operators(Cutter *cutter) {
  MirageRegionView body = mirage_ugraph_region(cutter->program, mirage_ugraph_body(cutter->program));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(cutter->program, body.nodes[i]);
    MirageOpKind kind = mirage_op_info(node.op)->kind;
    if (kind == MIRAGE_KIND_CONSTANT || kind == MIRAGE_KIND_TERMINATOR)
      continue;
    if (cutter->num_nodes == MAX_OPERATORS)
      return false;
    cutter->nodes[cutter->num_nodes++] = body.nodes[i];
    for (uint32_t k = 0; k < node.num_results; k++)
      cutter->producer[node.first_result.index + k] = cutter->num_nodes;
  }
  return cutter->num_nodes > 1 && mirage_ugraph_num_outputs(cutter->program) <= MAX_VALUES;
}

bool mirage__search_has_pieces(const MirageUGraph *program) {
  MirageRegionView body = mirage_ugraph_region(program, mirage_ugraph_body(program));
  uint32_t count = 0;
  for (uint32_t i = 0; i < body.num_nodes; i++)
    count += mirage_op_info(mirage_ugraph_node(program, body.nodes[i]).op)->kind != MIRAGE_KIND_CONSTANT;
  return count > 2 && count <= MAX_OPERATORS; // the terminator counts here
}

bool mirage__search_is_piece(const MirageUGraph *program, uint32_t num_nodes, const MirageNode *nodes) {
  MirageRegionView body = mirage_ugraph_region(program, mirage_ugraph_body(program));
  uint32_t count = 0, met = 0, gaps = 0;
  for (uint32_t i = 0; i < body.num_nodes && count < num_nodes; i++) {
    bool constant = mirage_op_info(mirage_ugraph_node(program, body.nodes[i]).op)->kind == MIRAGE_KIND_CONSTANT;
    bool inside = body.nodes[i].index == nodes[count].index;
    count += inside;
    met += inside && !constant;
    gaps += !inside && !constant && met > 0;
  }
  return met <= MAX_PIECE && gaps == 0;
}

MirageStatus mirage__search_partition(const MirageUGraph *program, const MirageSearchOptions *options,
                                      const SearchPart *whole, MirageSearchResult *in_out_result) {
  MirageSearchOptions pieces = *options;
  pieces.max_candidates = 1;
  pieces.max_states = options->max_states / STATES_SHARE + 1;
  Cutter cutter = {.program = program,
                   .options = &pieces,
                   .pool = whole->pool,
                   .monitor = whole->monitor,
                   .checkpoint = whole->checkpoint,
                   .max_states = options->max_states};
  cutter.funnel.exhausted = true;
  cutter.producer = calloc((size_t)mirage_ugraph_num_values(program) + 1, sizeof *cutter.producer);
  if (!cutter.producer)
    return MIRAGE_NO_MEMORY;
  MirageStatus status = MIRAGE_OK;
  if (list_operators(&cutter)) {
    cutter.pieces = calloc((size_t)cutter.num_nodes * MAX_PIECE, sizeof *cutter.pieces);
    status = cutter.pieces ? solve_pieces(&cutter) : MIRAGE_NO_MEMORY;
    if (status == MIRAGE_OK)
      status = keep_cuts(&cutter, options->max_candidates, in_out_result);
    for (uint32_t i = 0; cutter.pieces && i < cutter.num_nodes * MAX_PIECE; i++) {
      mirage_ugraph_destroy(cutter.pieces[i].program);
      mirage_ugraph_destroy(cutter.pieces[i].graph);
    }
    mirage__search_add_to_funnel(&in_out_result->funnel, &cutter.funnel);
    in_out_result->funnel.candidates = in_out_result->num_candidates;
  }
  free(cutter.pieces);
  free(cutter.producer);
  return status;
}
