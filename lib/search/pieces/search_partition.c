// search_partition.c - µGraphs of several kernels: the program in pieces (search_pieces.c), each searched on its own.
//
// A cut puts pieces one after the other, none of which needs what comes later; its cost is the sum of theirs. The
// cheapest cuts into different numbers of pieces follow by dynamic programming over the sets of operators that are
// done. What is done after some pieces of a text is often a prefix of it: those sets are all kept; of others, which
// are as many as the branches of the program can be interleaved, the cheapest of each size.
//
// Example: act(x a) b has no block that holds a row of x a:  { act(x a) } { h b }  are two kernels.
#include "search/pieces/search_partition.h"
#include "search/cost/cost_memo.h"
#include "search/pieces/search_pieces.h"
#include "search/run/search_funnel.h"
#include "search/views/search_view.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  KEPT = 4,           // cuts, of different numbers of pieces,
  ALIKE = 2,          // and of each number so many, where the second is near the best
  MOST_CHANGED = 6,   // µGraphs of the cheapest cut in which one piece is computed in another way,
  FEW_CHANGED = 2,    // and of each other cut
  STATES_SHARE = 3,   // each piece gets this part of max_states
  PIECES_STATES = 50, // partial block graphs of all pieces, for each state of max_states
  MAX_SCATTERED = 96  // cuts of one size whose operators are no prefix of the text
};

static const double near_best = 1.5;    // times the best µGraph of the whole: what a GPU may still find faster
static const double near_cut = 1.25;    // times the cut itself: the same of another way to compute a piece
static const double near_alike = 1.1;   // times the best cut: another one of as many pieces
static const double worth_share = 0.15; // of a cut's time, that a piece takes for which others are tried

// -------------------------------------------------------------------------------------------------- cuts

/// A way to compute some of the operators.
typedef struct Cut {
  Operators done;
  uint32_t pieces;
  double time_us;
  uint64_t which; // hash of the pieces, whatever their order
  bool searched;  // some piece is what a search found
  const Piece *last;
  const struct Cut *before;
} Cut;

/// Cuts that have done equally many operators.
typedef struct Layer {
  Cut *cuts;
  uint32_t num, capacity;
} Layer;

static MirageStatus add_cut(Layer *layer, const Cut *cut) {
  if (layer->num == layer->capacity) {
    uint32_t capacity = layer->capacity ? 2 * layer->capacity : 64;
    Cut *grown = realloc(layer->cuts, capacity * sizeof *grown);
    if (!grown)
      return MIRAGE_NO_MEMORY;
    layer->cuts = grown;
    layer->capacity = capacity;
  }
  layer->cuts[layer->num++] = *cut;
  return MIRAGE_OK;
}

static int compare_done(const Cut *a, const Cut *b) {
  for (uint32_t w = 0; w < CUT_WORDS; w++)
    if (a->done.words[w] != b->done.words[w])
      return a->done.words[w] < b->done.words[w] ? -1 : 1;
  return (a->pieces > b->pieces) - (a->pieces < b->pieces);
}

static int compare_times(const Cut *a, const Cut *b) { return (a->time_us > b->time_us) - (a->time_us < b->time_us); }

// Sums of these tell sets of pieces apart, as good as always.
static uint64_t scattered_number(uint64_t piece) {
  uint64_t x = piece * UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
  return x ^ x >> 32;
}

static bool are_alike(const Cut *a, const Cut *b) { return compare_done(a, b) == 0; }

// Which piece came last depends on nothing but their order in the list.
static int compare_by_done(const void *a, const void *b) {
  const Cut *x = a, *y = b;
  int order = compare_done(x, y);
  order = order ? order : compare_times(x, y);
  order = order ? order : (x->which > y->which) - (x->which < y->which);
  return order ? order : (x->last > y->last) - (x->last < y->last);
}

static int compare_by_time(const void *a, const void *b) {
  int order = compare_times(a, b);
  return order ? order : compare_done(a, b);
}

static bool is_prefix(const Cut *cut) {
  uint32_t count = operators_count(&cut->done), number = 0;
  while (number < CUT_OPERATORS && operators_has(&cut->done, number))
    number++;
  return number == count;
}

// The same pieces in another order stand beside each other: their times differ by how they were added up at most.
static bool is_same_but_order(const Cut *a, const Cut *b) {
  return a->which == b->which && fabs(a->time_us - b->time_us) <= 1e-9 * a->time_us;
}

// The cheapest of those that have done the same in as many pieces; of scattered ones, the cheapest at all.
static void prune_layer(Layer *layer) {
  uint32_t kept = 0, scattered = 0, alike = 0;
  qsort(layer->cuts, layer->num, sizeof *layer->cuts, compare_by_done);
  for (uint32_t i = 0; i < layer->num; i++) {
    const Cut *last = kept ? &layer->cuts[kept - 1] : NULL;
    alike = last && are_alike(last, &layer->cuts[i]) ? alike : 0;
    if (alike == ALIKE || (alike && is_same_but_order(last, &layer->cuts[i])))
      continue;
    layer->cuts[kept++] = layer->cuts[i];
    alike++;
  }
  layer->num = kept;
  kept = 0;
  qsort(layer->cuts, layer->num, sizeof *layer->cuts, compare_by_time);
  for (uint32_t i = 0; i < layer->num; i++)
    if (is_prefix(&layer->cuts[i]) || scattered++ < MAX_SCATTERED)
      layer->cuts[kept++] = layer->cuts[i];
  layer->num = kept;
}

// Whether the piece may come next; several operators that nobody found a way to join are pieces of their own.
static bool may_follow(const Cut *cut, const Piece *piece) {
  if (!piece->graph || (!piece->searched && piece->count > 1) || cut->pieces == CUT_PIECES)
    return false;
  for (uint32_t w = 0; w < CUT_WORDS; w++)
    if (piece->operators.words[w] & cut->done.words[w] || piece->needs.words[w] & ~cut->done.words[w])
      return false;
  return true;
}

// Fills layers[0 .. num_nodes]; a layer stays where it is once it is pruned, so cuts may point to those before.
static MirageStatus find_cuts(const Cutter *cutter, Layer *layers) {
  MIRAGE_TRY(add_cut(&layers[0], &(Cut){0}));
  for (uint32_t done = 0; done <= cutter->num_nodes; done++) {
    if (layers[done].num)
      prune_layer(&layers[done]);
    for (uint32_t i = 0; i < layers[done].num; i++) {
      const Cut *cut = &layers[done].cuts[i];
      for (uint32_t p = 0; p < cutter->num_pieces; p++) {
        const Piece *piece = &cutter->pieces[p];
        if (!may_follow(cut, piece))
          continue;
        Cut next = {.done = operators_union(&cut->done, &piece->operators),
                    .pieces = cut->pieces + 1,
                    .time_us = cut->time_us + piece->time_us,
                    .which = cut->which + scattered_number(p + 1),
                    .searched = cut->searched || piece->searched,
                    .last = piece,
                    .before = cut};
        MIRAGE_TRY(add_cut(&layers[done + piece->count], &next));
      }
    }
  }
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------ build

/// One piece of a cut in another way; `by` NULL: none.
typedef struct Change {
  const Piece *piece;
  const MirageUGraph *by;
} Change;

static MirageStatus append_piece(const Piece *piece, const MirageUGraph *way, MirageUGraph *graph,
                                 MirageValue *values) {
  MirageValue *map = calloc((size_t)mirage_ugraph_num_values(way) + 1, sizeof *map);
  if (!map)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < piece->num_inputs; i++)
    map[mirage_ugraph_get_input(way, i).index] = values[piece->inputs[i].index];
  MirageRegionView body = mirage_ugraph_region(way, mirage_ugraph_body(way));
  MirageStatus status = mirage_ugraph_copy_nodes(graph, way, body.num_nodes - 1, body.nodes, map);
  for (uint32_t i = 0; i < piece->num_outputs; i++)
    values[piece->outputs[i].index] = map[mirage_ugraph_get_output(way, i).index];
  free(map);
  return status;
}

static MirageStatus fill_graph(const Cutter *cutter, const Cut *cut, Change change, MirageUGraph *graph,
                               MirageValue *values) {
  const MirageUGraph *program = cutter->program;
  const Piece *chosen[CUT_PIECES];
  for (const Cut *c = cut; c->last; c = c->before)
    chosen[c->pieces - 1] = c->last;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(program); i++) {
    MirageValue input = mirage_ugraph_get_input(program, i);
    values[input.index] = mirage_ugraph_input(graph, *mirage_ugraph_type(program, input));
  }
  for (uint32_t i = 0; i < cut->pieces; i++)
    MIRAGE_TRY(append_piece(chosen[i], chosen[i] == change.piece ? change.by : chosen[i]->graph, graph, values));
  MirageValue results[CUT_VALUES];
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(program); i++) {
    MirageValue output = mirage_ugraph_get_output(program, i);
    MIRAGE_TRY(mirage__pieces_copy_view(cutter, output, graph, values));
    results[i] = values[output.index];
  }
  mirage_ugraph_return(graph, mirage_ugraph_num_outputs(program), results);
  return mirage_ugraph_finish(graph);
}

static MirageStatus build(const Cutter *cutter, const Cut *cut, Change change, MirageUGraph **out_graph) {
  const char *source = mirage_ugraph_get_meta(cutter->program)->name;
  char name[256];
  snprintf(name, sizeof name, "%s_pieces_%u", source ? source : "program", cut->pieces);
  MirageUGraph *graph = mirage_ugraph_create(NULL, name, NULL);
  MirageValue *values = calloc((size_t)mirage_ugraph_num_values(cutter->program) + 1, sizeof *values);
  MirageStatus status = graph && values ? fill_graph(cutter, cut, change, graph, values) : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK && source)
    mirage_ugraph_meta(graph)->source = mirage_ugraph_intern_string(graph, source);
  if (status == MIRAGE_OK)
    status =
        mirage__cost_graph(graph, cutter->options->target, cutter->part.memo, NULL, &mirage_ugraph_meta(graph)->cost);
  free(values);
  if (status != MIRAGE_OK)
    mirage_ugraph_destroy(graph);
  else
    *out_graph = graph;
  return status;
}

static MirageStatus keep_cut(const Cutter *cutter, const Cut *cut, Change change, uint32_t wanted,
                             MirageSearchResult *result) {
  MirageUGraph *graph = NULL;
  MIRAGE_TRY(build(cutter, cut, change, &graph));
  return mirage__search_insert(result, wanted, graph);
}

// The cut with one piece computed in another way, for each way that may be as fast of each piece that matters: second ways of all
// pieces before third ones.
static MirageStatus keep_changed(const Cutter *cutter, const Cut *cut, uint32_t most, uint32_t wanted,
                                 MirageSearchResult *result) {
  for (uint32_t way = 0; way < CUT_OTHERS; way++)
    for (const Cut *c = cut; c->last && most > 0; c = c->before) {
      const Piece *piece = c->last;
      if (way >= piece->num_others || piece->time_us < worth_share * cut->time_us)
        continue;
      double more = search_time_of(piece->others[way]) - piece->time_us;
      if (cut->time_us + more > near_cut * cut->time_us)
        continue;
      MIRAGE_TRY(keep_cut(cutter, cut, (Change){piece, piece->others[way]}, wanted, result));
      most--;
    }
  return MIRAGE_OK;
}

static uint32_t count_of_pieces(const Cut *const *kept, uint32_t num, uint32_t pieces) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < num; i++)
    count += kept[i]->pieces == pieces;
  return count;
}

// Whether a cut is kept beside cheaper ones: the first of its number of pieces, or near the best.
static bool may_keep(const Cut *const *kept, uint32_t num, const Cut *cut) {
  uint32_t alike = count_of_pieces(kept, num, cut->pieces), first = 0;
  for (uint32_t i = 0; i < num; i++)
    first += count_of_pieces(kept, i, kept[i]->pieces) == 0;
  return alike == 0 ? first < KEPT : alike < ALIKE && cut->time_us <= near_alike * kept[0]->time_us;
}

// The cheapest cuts of each number of pieces, unless a µGraph of the whole is far better.
static MirageStatus keep_cuts(const Cutter *cutter, uint32_t wanted, MirageSearchResult *result) {
  Layer *layers = calloc(cutter->num_nodes + 1, sizeof *layers);
  MirageStatus status = layers ? find_cuts(cutter, layers) : MIRAGE_NO_MEMORY;
  const Layer *all = layers ? &layers[cutter->num_nodes] : NULL; // cheapest first
  const Cut *kept[KEPT * ALIKE];
  double limit = INFINITY;
  if (result->num_candidates)
    limit = near_best * mirage_ugraph_get_meta(result->candidates[0])->cost.time_us;
  for (uint32_t i = 0, num = 0; status == MIRAGE_OK && i < all->num; i++) {
    const Cut *cut = &all->cuts[i];
    if (!isfinite(cut->time_us) || cut->time_us > limit || !cut->searched || !may_keep(kept, num, cut))
      continue;
    status = keep_cut(cutter, cut, (Change){0}, wanted, result);
    if (status == MIRAGE_OK)
      status = keep_changed(cutter, cut, num == 0 ? MOST_CHANGED : FEW_CHANGED, wanted, result);
    kept[num++] = cut;
  }
  for (uint32_t i = 0; layers && i <= cutter->num_nodes; i++)
    free(layers[i].cuts);
  free(layers);
  return status;
}

// ----------------------------------------------------------------------------------------------- public

static MirageStatus list_operators(Cutter *cutter, const MirageUGraph *program) {
  size_t values = (size_t)mirage_ugraph_num_values(program) + 1;
  cutter->program = program;
  cutter->producer = calloc(values, sizeof *cutter->producer);
  cutter->root = calloc(values, sizeof *cutter->root);
  cutter->home = calloc(values, sizeof *cutter->home);
  if (!cutter->producer || !cutter->root || !cutter->home)
    return MIRAGE_NO_MEMORY;
  MIRAGE_TRY(mirage__homes_find(program, cutter->root, cutter->home));
  MirageRegionView body = mirage_ugraph_region(cutter->program, mirage_ugraph_body(cutter->program));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(cutter->program, body.nodes[i]);
    MirageOpKind kind = mirage_op_info(node.op)->kind;
    if (mirage__view_is_step(node.op)) {
      cutter->producer[node.first_result.index] = cutter->producer[node.operands[0].index];
      cutter->has_views = true;
    }
    if (kind == MIRAGE_KIND_CONSTANT || kind == MIRAGE_KIND_TERMINATOR || mirage__view_is_step(node.op))
      continue;
    if (cutter->num_nodes == CUT_OPERATORS) {
      cutter->num_nodes = 0; // too many: it is not cut
      return MIRAGE_OK;
    }
    cutter->nodes[cutter->num_nodes++] = body.nodes[i];
    for (uint32_t k = 0; k < node.num_results; k++)
      cutter->producer[node.first_result.index + k] = cutter->num_nodes;
  }
  return MIRAGE_OK;
}

// All operators are a piece, too, where there are views that it leaves to others.
static bool is_cut(const Cutter *cutter) {
  return cutter->num_nodes > !cutter->has_views && mirage_ugraph_num_outputs(cutter->program) <= CUT_VALUES;
}

static void deinit(Cutter *cutter) {
  mirage__pieces_deinit(cutter);
  free(cutter->producer);
  free(cutter->root);
  free(cutter->home);
}

bool mirage__search_has_pieces(const MirageUGraph *program) {
  MirageRegionView body = mirage_ugraph_region(program, mirage_ugraph_body(program));
  uint32_t count = 0;
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageOp op = mirage_ugraph_node(program, body.nodes[i]).op;
    count += mirage_op_info(op)->kind != MIRAGE_KIND_CONSTANT && !mirage__view_is_step(op);
  }
  return count > 2 && count <= CUT_OPERATORS; // the terminator counts here
}

bool mirage__search_is_piece(const MirageUGraph *program, uint32_t num_nodes, const MirageNode *nodes) {
  Cutter cutter = {0};
  Operators set = {{0}};
  bool found =
      list_operators(&cutter, program) == MIRAGE_OK && is_cut(&cutter) && mirage__pieces_list(&cutter) == MIRAGE_OK;
  for (uint32_t i = 0; i < num_nodes && found; i++) {
    MirageNodeView node = mirage_ugraph_node(program, nodes[i]);
    uint32_t by = cutter.producer[node.first_result.index];
    if (by && !mirage__view_is_step(node.op)) // else a constant, or a view
      operators_add(&set, by - 1);
  }
  bool whole = operators_count(&set) == cutter.num_nodes && cutter.num_nodes <= CUT_LENGTH;
  found = found && (whole || mirage__pieces_has(&cutter, &set));
  deinit(&cutter);
  return found;
}

struct SearchPieces {
  MirageSearchOptions options; // of a piece
  Cutter cutter;
};

MirageStatus mirage__search_pieces(const MirageUGraph *program, const MirageSearchOptions *options,
                                   const SearchPart *whole, SearchPieces **out) {
  *out = NULL;
  SearchPieces *pieces = calloc(1, sizeof *pieces);
  if (!pieces)
    return MIRAGE_NO_MEMORY;
  pieces->options = *options;
  pieces->options.max_candidates = 1 + CUT_OTHERS;
  pieces->options.max_states = options->max_states / STATES_SHARE + 1;
  Cutter *cutter = &pieces->cutter;
  *cutter = (Cutter){.options = &pieces->options, .part = *whole, .max_states = PIECES_STATES * options->max_states};
  cutter->funnel.exhausted = true;
  MirageStatus status = list_operators(cutter, program);
  if (status == MIRAGE_OK && is_cut(cutter)) {
    status = mirage__pieces_list(cutter);
    if (status == MIRAGE_OK)
      status = mirage__pieces_solve(cutter);
  }
  if (status == MIRAGE_OK && cutter->num_pieces)
    *out = pieces;
  else
    mirage__search_pieces_destroy(pieces);
  return status;
}

// An operator by itself is taken to run as fast as the chip can, since nobody has planned it. Where that leaves nothing
// - products that share no value, of which each alone seems as fast as two in one kernel - what was found is kept all
// the same, and whoever selects compares it with the operators as they are compiled.
MirageStatus mirage__search_join(SearchPieces *pieces, uint32_t max_candidates, MirageSearchResult *in_out_result) {
  if (!pieces)
    return MIRAGE_OK;
  MIRAGE_TRY(keep_cuts(&pieces->cutter, max_candidates, in_out_result));
  if (in_out_result->num_candidates == 0) {
    MIRAGE_TRY(mirage__pieces_take_slower(&pieces->cutter));
    MIRAGE_TRY(keep_cuts(&pieces->cutter, max_candidates, in_out_result));
  }
  if (!pieces->options.optimal)
    mirage__search_drop_far_behind(in_out_result);
  mirage__search_add_to_funnel(&in_out_result->funnel, &pieces->cutter.funnel);
  in_out_result->funnel.candidates = in_out_result->num_candidates;
  return MIRAGE_OK;
}

void mirage__search_pieces_destroy(SearchPieces *pieces) {
  if (!pieces)
    return;
  deinit(&pieces->cutter);
  free(pieces);
}
