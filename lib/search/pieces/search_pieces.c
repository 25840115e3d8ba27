// search_pieces.c - the pieces into which a program may be cut, and how each is best computed.
//
// A piece is a set of operators that no path leaves and enters again (convex), with few results: every run of the
// program's text, and sets that hang together although the text has something else in between. These are grown: a
// piece, a neighbour of it, and whatever lies on paths between the two. So every such set is met, up to a limit for
// each size, whatever the order in which the program was written. An attention is a piece whatever its mask adds to it.
//
// Each piece is searched as a program of its own; where nothing is found, or the search cannot treat it, its own
// operators stay, a kernel each. Equal pieces are searched once. All threads search pieces, without waiting for each
// other; where together they may spend no more states is settled afterwards, a few pieces at a time and in order, so
// that it does not depend on who was faster.
//
// Example: a = f(x), b = g(y), c = h(a), d = k(b):  { f h } and { g k } are no runs.
#include "search/pieces/search_pieces.h"
#include "search/cost/cost_memo.h"
#include "search/pieces/search_partition.h"
#include "search/run/search_funnel.h"
#include "search/views/search_view.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_RESULTS = 4,    // of a piece that is searched
  MAX_GROWN = 96,     // pieces of one size that are no runs
  MAX_ATTENTION = 24, // operators of an attention, which is a piece even where others of its size are not,
  MAX_POINTWISE = 24, // and of element-wise ones
  AT_ONCE = 8,        // pieces whose states are added up together
};

// ------------------------------------------------------------------------------------------------- ends

static bool is_inside(const Cutter *cutter, const Piece *piece, MirageValue value) {
  uint32_t by = cutter->producer[value.index];
  return by && operators_has(&piece->operators, by - 1);
}

static bool is_constant(const Cutter *cutter, MirageValue value) {
  MirageNode def = mirage_ugraph_def(cutter->program, cutter->root[value.index]);
  return def.index && mirage_op_info(mirage_ugraph_node(cutter->program, def).op)->kind == MIRAGE_KIND_CONSTANT;
}

static bool add_value(MirageValue *list, uint32_t *count, MirageValue value) {
  for (uint32_t i = 0; i < *count; i++)
    if (list[i].index == value.index)
      return true;
  if (*count == CUT_VALUES)
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
    if (mirage__view_is_step(node.op))
      continue;
    bool inside = node.num_results && is_inside(cutter, piece, node.first_result);
    for (uint32_t k = 0; k < node.num_operands && fits; k++) {
      MirageValue value = node.operands[k];
      MirageValue home = cutter->home[cutter->root[value.index].index];
      bool made_here = is_inside(cutter, piece, value);
      if (inside && !made_here && !is_constant(cutter, value)) {
        fits = add_value(piece->inputs, &piece->num_inputs, home);
        if (cutter->producer[value.index])
          operators_add(&piece->needs, cutter->producer[value.index] - 1);
      } else if (!inside && made_here) {
        fits = add_value(piece->outputs, &piece->num_outputs, home);
      }
    }
  }
  return fits && piece->num_outputs > 0;
}

MirageStatus mirage__pieces_copy_view(const Cutter *cutter, MirageValue value, MirageUGraph *graph, MirageValue *map) {
  MirageNode def = mirage_ugraph_def(cutter->program, value);
  if (map[value.index].index || !def.index)
    return MIRAGE_OK;
  MirageNodeView node = mirage_ugraph_node(cutter->program, def);
  if (node.num_operands)
    MIRAGE_TRY(mirage__pieces_copy_view(cutter, node.operands[0], graph, map));
  return mirage_ugraph_copy_nodes(graph, cutter->program, 1, &def, map);
}

static MirageStatus fill_program(const Cutter *cutter, Piece *piece, MirageValue *map) {
  MirageUGraph *graph = piece->program;
  MirageValue results[CUT_VALUES];
  for (uint32_t i = 0; i < piece->num_inputs; i++)
    map[piece->inputs[i].index] = mirage_ugraph_input(graph, *mirage_ugraph_type(cutter->program, piece->inputs[i]));
  for (uint32_t n = 0; n < cutter->num_nodes; n++) {
    if (!operators_has(&piece->operators, n))
      continue;
    MirageNodeView node = mirage_ugraph_node(cutter->program, cutter->nodes[n]);
    for (uint32_t k = 0; k < node.num_operands; k++)
      MIRAGE_TRY(mirage__pieces_copy_view(cutter, node.operands[k], graph, map));
    MIRAGE_TRY(mirage_ugraph_copy_nodes(graph, cutter->program, 1, &cutter->nodes[n], map));
  }
  for (uint32_t i = 0; i < piece->num_outputs; i++) {
    MIRAGE_TRY(mirage__pieces_copy_view(cutter, piece->outputs[i], graph, map));
    results[i] = map[piece->outputs[i].index];
  }
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

bool mirage__pieces_same(const MirageUGraph *a, const MirageUGraph *b) {
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
  for (const Piece *other = cutter->pieces; other < piece; other++)
    if (other->count == piece->count && other->program && !other->same &&
        mirage__pieces_same(other->program, piece->program))
      return other;
  return NULL;
}

uint32_t mirage__search_count_kernels(const MirageUGraph *graph) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  uint32_t count = 0;
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageOp op = mirage_ugraph_node(graph, body.nodes[i]).op;
    MirageOpKind kind = mirage_op_info(op)->kind;
    count += kind != MIRAGE_KIND_CONSTANT && kind != MIRAGE_KIND_TERMINATOR && op != MIRAGE_OP_RESHAPE;
  }
  return count;
}

static bool is_product(const Cutter *cutter, const Piece *piece) {
  for (uint32_t n = 0; n < cutter->num_nodes; n++)
    if (operators_has(&piece->operators, n))
      return mirage_ugraph_node(cutter->program, cutter->nodes[n]).op == MIRAGE_OP_MATMUL;
  return false;
}

static bool is_elementwise(const Cutter *cutter, uint32_t number) {
  MirageOpKind kind = mirage_op_info(mirage_ugraph_node(cutter->program, cutter->nodes[number]).op)->kind;
  return kind == MIRAGE_KIND_UNARY || kind == MIRAGE_KIND_BINARY || kind == MIRAGE_KIND_CAST ||
         kind == MIRAGE_KIND_SHAPE;
}

// Whether it holds neither a product nor a reduction: it costs next to no states.
static bool is_pointwise(const Cutter *cutter, const Piece *piece) {
  for (uint32_t n = 0; n < cutter->num_nodes; n++)
    if (operators_has(&piece->operators, n) && !is_elementwise(cutter, n))
      return false;
  return true;
}

static uint32_t num_nodes_of(const MirageUGraph *graph) {
  return mirage_ugraph_region(graph, mirage_ugraph_body(graph)).num_nodes;
}

// ------------------------------------------------------------------------------------- sums of squares

static bool is_square(const MirageNodeView *node) {
  return node->op == MIRAGE_OP_MUL && node->operands[0].index == node->operands[1].index;
}

// The reduction that takes what an operator computes, if nobody else does: its number, and 1.
static uint32_t only_reduction(const Cutter *cutter, uint32_t number) {
  uint32_t taken = 0;
  for (uint32_t n = 0; n < cutter->num_nodes; n++) {
    MirageNodeView user = mirage_ugraph_node(cutter->program, cutter->nodes[n]);
    for (uint32_t k = 0; k < user.num_operands; k++) {
      if (cutter->producer[user.operands[k].index] != number + 1)
        continue;
      if (taken || mirage_op_info(user.op)->kind != MIRAGE_KIND_REDUCE)
        return 0;
      taken = n + 1;
    }
  }
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(cutter->program); i++)
    if (cutter->producer[mirage_ugraph_get_output(cutter->program, i).index] == number + 1)
      return 0;
  return taken;
}

// Whether it has squares and not their sum, or the sum alone: stored between two kernels, squares overflow, or lose what the sum needs.
// One of the two by itself stays a piece, so that every program has a cut.
static bool tears_sum_of_squares(const Cutter *cutter, const Piece *piece) {
  for (uint32_t n = 0; n < cutter->num_nodes && piece->count > 1; n++) {
    MirageNodeView node = mirage_ugraph_node(cutter->program, cutter->nodes[n]);
    uint32_t sum = is_square(&node) ? only_reduction(cutter, n) : 0;
    if (sum && operators_has(&piece->operators, n) != operators_has(&piece->operators, sum - 1))
      return true;
  }
  return false;
}

// --------------------------------------------------------------------------------------------- searches

// Prepares a piece: as a program, and as its own operators, a kernel each. `out_wanted`: a search may find better.
static MirageStatus prepare_piece(Cutter *cutter, Piece *piece, bool *out_wanted) {
  *out_wanted = false;
  piece->time_us = INFINITY;
  if (tears_sum_of_squares(cutter, piece) || !find_ends(cutter, piece))
    return MIRAGE_OK;
  MIRAGE_TRY(make_program(cutter, piece));
  if (piece->count == cutter->num_nodes && num_nodes_of(piece->program) == num_nodes_of(cutter->program))
    return MIRAGE_OK; // the whole, which is searched as such
  piece->same = cutter->options->no_share_pieces ? NULL : find_same(cutter, piece);
  if (piece->same)
    return MIRAGE_OK;
  MirageCost cost;
  MIRAGE_TRY(mirage_ugraph_expand(piece->program, NULL, &piece->graph));
  MIRAGE_TRY(mirage__cost_graph(piece->graph, cutter->options->target, cutter->part.memo, NULL, &cost));
  piece->time_us = cost.time_us;
  *out_wanted = piece->num_outputs <= MAX_RESULTS &&
                (mirage__search_count_kernels(piece->graph) > 1 || is_product(cutter, piece));
  return MIRAGE_OK;
}

/// Pieces that are searched, in the order in which their states count.
typedef struct Searches {
  Cutter *cutter;
  Piece **pieces;
  uint32_t num;
  uint64_t *spent; // atomic; states of the pieces that are finished, AT_ONCE of them together
} Searches;

// Whether the pieces before those that are counted with this one have spent all states, as far as they are finished.
static bool are_states_spent(const Searches *searches, uint32_t index) {
  uint64_t states = 0;
  for (uint32_t i = 0; i < index / AT_ONCE; i++)
    states += __atomic_load_n(&searches->spent[i], __ATOMIC_RELAXED);
  return states >= searches->cutter->max_states;
}

static MirageStatus search_piece(void *user, uint32_t index) {
  const Searches *searches = user;
  Piece *piece = searches->pieces[index];
  const Cutter *cutter = searches->cutter;
  SearchPart part = cutter->part;
  part.deadline = part.monitor->end;
  part.piece = 1 + (uint32_t)(piece - cutter->pieces);
  piece->skipped = mirage__search_wanted_stop(cutter->part.monitor, cutter->part.monitor->end);
  if (piece->skipped != MIRAGE_STOP_NONE || are_states_spent(searches, index))
    return MIRAGE_OK;
  piece->status = part.search(piece->program, cutter->options, &part, NULL, &piece->found);
  __atomic_add_fetch(&searches->spent[index / AT_ONCE], piece->found.funnel.states, __ATOMIC_RELAXED);
  mirage__search_step_piece(cutter->part.monitor);
  bool fatal = piece->status == MIRAGE_NO_MEMORY || piece->status == MIRAGE_BAD_ARGUMENT;
  return fatal ? piece->status : MIRAGE_OK; // else its own operators stay
}

static MirageStatus copy_others(Piece *piece, uint32_t num, MirageUGraph *const *graphs) {
  for (uint32_t i = 0; i < num && piece->num_others < CUT_OTHERS; i++) {
    MIRAGE_TRY(mirage_ugraph_clone(graphs[i], NULL, &piece->others[piece->num_others]));
    piece->num_others++;
  }
  return MIRAGE_OK;
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
    if (status == MIRAGE_OK)
      status = copy_others(piece, found->num_candidates - 1, found->candidates + 1);
  } else if (found->num_candidates) {
    status = mirage_ugraph_clone(found->candidates[0], NULL, &piece->slower);
  }
  mirage_search_result_deinit(found);
  return status;
}

// Takes what was found, up to the pieces before which all states are spent: what some thread found beyond, another
// number of threads would not have looked for.
static MirageStatus take_all(Searches *searches) {
  Cutter *cutter = searches->cutter;
  MirageStatus status = MIRAGE_OK;
  for (uint32_t i = 0; i < searches->num; i++) {
    Piece *piece = searches->pieces[i];
    MirageStop stop = are_states_spent(searches, i) ? MIRAGE_STOP_MAX_STATES : piece->skipped;
    if (stop != MIRAGE_STOP_NONE) {
      mirage__search_add_to_funnel(&cutter->funnel, &(MirageFunnel){.stop = stop});
      mirage_search_result_deinit(&piece->found);
      continue;
    }
    MirageStatus taken = take_found(cutter, piece);
    status = status == MIRAGE_OK ? taken : status;
  }
  return status;
}

static MirageStatus search_pieces(Searches *searches) {
  MirageStatus status = mirage__search_run_tasks(searches->cutter->part.pool, searches->num, search_piece, searches);
  MirageStatus taken = take_all(searches);
  return status != MIRAGE_OK ? status : taken;
}

static MirageStatus copy_same(Piece *piece) {
  if (!piece->same)
    return MIRAGE_OK;
  piece->time_us = piece->same->time_us;
  piece->searched = piece->same->searched;
  MIRAGE_TRY(mirage_ugraph_clone(piece->same->graph, NULL, &piece->graph));
  return copy_others(piece, piece->same->num_others, piece->same->others);
}

MirageStatus mirage__pieces_take_slower(Cutter *cutter) {
  for (uint32_t i = 0; i < cutter->num_pieces; i++) {
    Piece *piece = &cutter->pieces[i];
    const MirageUGraph *slower = piece->same ? piece->same->slower : piece->slower;
    MirageUGraph *graph;
    if (!slower)
      continue;
    MIRAGE_TRY(mirage_ugraph_clone(slower, NULL, &graph));
    mirage_ugraph_destroy(piece->graph);
    piece->graph = graph;
    piece->time_us = mirage_ugraph_get_meta(slower)->cost.time_us;
    piece->searched = true;
  }
  return MIRAGE_OK;
}

// Element-wise ones before the others, lest these leave no states for them.
static MirageStatus prepare_pieces(Searches *searches) {
  Cutter *cutter = searches->cutter;
  for (uint32_t k = 0; k < 2 * cutter->num_pieces; k++) {
    Piece *piece = &cutter->pieces[k % cutter->num_pieces];
    bool wanted;
    if (is_pointwise(cutter, piece) != (k < cutter->num_pieces))
      continue;
    MIRAGE_TRY(prepare_piece(cutter, piece, &wanted));
    if (wanted)
      searches->pieces[searches->num++] = piece;
    else
      mirage__search_step_piece(cutter->part.monitor);
  }
  return MIRAGE_OK;
}

// Prepared in order, and searched; then equal ones take what the first found.
MirageStatus mirage__pieces_solve(Cutter *cutter) {
  Searches searches = {.cutter = cutter,
                       .pieces = calloc(cutter->num_pieces + 1, sizeof(Piece *)),
                       .spent = calloc(cutter->num_pieces / AT_ONCE + 1, sizeof *searches.spent)};
  mirage__search_phase(cutter->part.monitor, MIRAGE_PHASE_PIECES, cutter->num_pieces);
  MirageStatus status = searches.pieces && searches.spent ? prepare_pieces(&searches) : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK)
    status = search_pieces(&searches);
  for (uint32_t i = 0; i < cutter->num_pieces && status == MIRAGE_OK; i++)
    status = copy_same(&cutter->pieces[i]);
  free(searches.pieces);
  free(searches.spent);
  return status;
}

// ------------------------------------------------------------------------------------------------- sets

/// How the operators hang together, each by its number.
typedef struct Web {
  Operators before[CUT_OPERATORS], after[CUT_OPERATORS]; // whose results it needs, who needs its, by whatever path
  Operators beside[CUT_OPERATORS];                       // whom it takes from or gives to, or shares an operand with
} Web;

static void link_operators(const Cutter *cutter, Web *web) {
  for (uint32_t n = 0; n < cutter->num_nodes; n++) {
    MirageNodeView node = mirage_ugraph_node(cutter->program, cutter->nodes[n]);
    for (uint32_t k = 0; k < node.num_operands; k++) {
      uint32_t by = cutter->producer[node.operands[k].index];
      if (!by)
        continue;
      operators_add(&web->before[n], by - 1);
      web->before[n] = operators_union(&web->before[n], &web->before[by - 1]);
      operators_add(&web->beside[n], by - 1);
      operators_add(&web->beside[by - 1], n);
    }
  }
  for (uint32_t n = 0; n < cutter->num_nodes; n++)
    for (uint32_t m = 0; m < n; m++)
      if (operators_has(&web->before[n], m))
        operators_add(&web->after[m], n);
}

static bool share_operand(const Cutter *cutter, const MirageNodeView *a, const MirageNodeView *b) {
  for (uint32_t i = 0; i < a->num_operands; i++)
    for (uint32_t k = 0; k < b->num_operands; k++)
      if (cutter->root[a->operands[i].index].index == cutter->root[b->operands[k].index].index)
        return true;
  return false;
}

static void link_sharers(const Cutter *cutter, Web *web) {
  for (uint32_t n = 0; n < cutter->num_nodes; n++)
    for (uint32_t m = 0; m < n; m++) {
      MirageNodeView a = mirage_ugraph_node(cutter->program, cutter->nodes[n]),
                     b = mirage_ugraph_node(cutter->program, cutter->nodes[m]);
      if (!share_operand(cutter, &a, &b))
        continue;
      operators_add(&web->beside[n], m);
      operators_add(&web->beside[m], n);
    }
}

// The set, the operator, and all between them.
static Operators grow(const Cutter *cutter, const Web *web, const Operators *set, uint32_t number) {
  Operators all = *set, before = {{0}}, after = {{0}};
  operators_add(&all, number);
  for (uint32_t n = 0; n < cutter->num_nodes; n++)
    if (operators_has(&all, n)) {
      before = operators_union(&before, &web->before[n]);
      after = operators_union(&after, &web->after[n]);
    }
  for (uint32_t w = 0; w < CUT_WORDS; w++)
    all.words[w] |= before.words[w] & after.words[w];
  return all;
}

static bool is_run(const Cutter *cutter, const Operators *set) {
  uint32_t starts = 0;
  for (uint32_t n = 0; n < cutter->num_nodes; n++)
    starts += operators_has(set, n) && (n == 0 || !operators_has(set, n - 1));
  return starts == 1;
}

bool mirage__pieces_has(const Cutter *cutter, const Operators *set) {
  for (uint32_t i = 0; i < cutter->num_pieces; i++)
    if (operators_equal(&cutter->pieces[i].operators, set))
      return true;
  return false;
}

static void list_piece(Cutter *cutter, const Operators *set) {
  cutter->pieces[cutter->num_pieces++] = (Piece){.operators = *set, .count = operators_count(set)};
}

static void list_runs(Cutter *cutter) {
  for (uint32_t count = 1; count <= CUT_LENGTH && count < cutter->num_nodes + cutter->has_views; count++)
    for (uint32_t first = 0; first + count <= cutter->num_nodes; first++) {
      Operators set = {{0}};
      for (uint32_t n = first; n < first + count; n++)
        operators_add(&set, n);
      list_piece(cutter, &set);
    }
}

// Pieces of `count` operators are all listed: adds what becomes of each with one neighbour. `in_out_grown`: by size.
static void grow_pieces(Cutter *cutter, const Web *web, uint32_t count, uint32_t *in_out_grown) {
  uint32_t known = cutter->num_pieces;
  for (uint32_t i = 0; i < known; i++) {
    if (cutter->pieces[i].count != count)
      continue;
    Operators set = cutter->pieces[i].operators, beside = {{0}};
    for (uint32_t n = 0; n < cutter->num_nodes; n++)
      if (operators_has(&set, n))
        beside = operators_union(&beside, &web->beside[n]);
    beside = operators_without(&beside, &set);
    for (uint32_t n = 0; n < cutter->num_nodes; n++) {
      if (!operators_has(&beside, n))
        continue;
      Operators grown = grow(cutter, web, &set, n);
      uint32_t size = operators_count(&grown);
      if (size > CUT_LENGTH || size == cutter->num_nodes || in_out_grown[size] == MAX_GROWN || is_run(cutter, &grown) ||
          mirage__pieces_has(cutter, &grown))
        continue;
      list_piece(cutter, &grown);
      in_out_grown[size]++;
    }
  }
}

static MirageOp op_of(const Cutter *cutter, uint32_t n) {
  return mirage_ugraph_node(cutter->program, cutter->nodes[n]).op;
}

static uint32_t count_ops(const Cutter *cutter, const Operators *set, MirageOp op) {
  uint32_t count = 0;
  for (uint32_t n = 0; n < cutter->num_nodes; n++)
    count += operators_has(set, n) && op_of(cutter, n) == op;
  return count;
}

// Whether an operator makes nothing but of predicates and indices, and nobody but the set reads it.
static bool makes_mask_for(const Cutter *cutter, const Operators *set, uint32_t number) {
  MirageNodeView node = mirage_ugraph_node(cutter->program, cutter->nodes[number]);
  bool logical = node.num_operands > 0;
  for (uint32_t k = 0; k < node.num_operands; k++)
    logical = logical &&
              (mirage_ugraph_is_logical(cutter->program, node.operands[k]) || is_constant(cutter, node.operands[k]));
  for (uint32_t n = 0; n < cutter->num_nodes && logical; n++) {
    MirageNodeView user = mirage_ugraph_node(cutter->program, cutter->nodes[n]);
    for (uint32_t k = 0; k < user.num_operands; k++)
      logical = logical && (cutter->producer[user.operands[k].index] != number + 1 || operators_has(set, n));
  }
  return logical;
}

// Two products, an exponential between them, and what makes their mask: longer than other pieces may be.
static bool find_attention(const Cutter *cutter, const Web *web, uint32_t first, uint32_t last, Operators *out_set) {
  Operators set = {{0}};
  operators_add(&set, first);
  set = grow(cutter, web, &set, last);
  if (count_ops(cutter, &set, MIRAGE_OP_MATMUL) != 2 || !count_ops(cutter, &set, MIRAGE_OP_EXP))
    return false;
  for (uint32_t n = cutter->num_nodes; n-- > 0;)
    if (!operators_has(&set, n) && makes_mask_for(cutter, &set, n))
      operators_add(&set, n);
  *out_set = set;
  return true;
}

// No more than there are operators, first those that end first: many products before one exponential and many behind it are no attentions,
// though each two look like one.
static void list_attentions(Cutter *cutter, const Web *web) {
  uint32_t most = cutter->num_pieces + cutter->num_nodes;
  for (uint32_t last = 0; last < cutter->num_nodes; last++)
    for (uint32_t first = 0; first < last && cutter->num_pieces < most; first++) {
      Operators set;
      if (op_of(cutter, first) != MIRAGE_OP_MATMUL || op_of(cutter, last) != MIRAGE_OP_MATMUL ||
          !operators_has(&web->before[last], first) || !find_attention(cutter, web, first, last, &set))
        continue;
      uint32_t size = operators_count(&set);
      if (size > CUT_LENGTH && size <= MAX_ATTENTION && size < cutter->num_nodes && !mirage__pieces_has(cutter, &set))
        list_piece(cutter, &set);
    }
}

// The element-wise operators that hang together with this one, without others in between.
static Operators find_pointwise(const Cutter *cutter, const Web *web, uint32_t number) {
  Operators set = {{0}};
  operators_add(&set, number);
  for (uint32_t before = 0; before < operators_count(&set);) {
    before = operators_count(&set);
    for (uint32_t n = 0; n < cutter->num_nodes; n++)
      for (uint32_t m = 0; m < cutter->num_nodes && operators_has(&set, n); m++)
        if (operators_has(&web->beside[n], m) && is_elementwise(cutter, m))
          operators_add(&set, m);
  }
  return set;
}

// Element-wise operators cost no search, so more of them may be a piece, all that hang together. Example: the rotations of queries and keys,
// which share their angles, beside what makes either.
static void list_pointwise(Cutter *cutter, const Web *web) {
  Operators seen = {{0}};
  for (uint32_t n = 0; n < cutter->num_nodes; n++) {
    if (!is_elementwise(cutter, n) || operators_has(&seen, n))
      continue;
    Operators set = find_pointwise(cutter, web, n), all = grow(cutter, web, &set, n);
    uint32_t size = operators_count(&set);
    seen = operators_union(&seen, &set);
    if (operators_equal(&set, &all) && size > CUT_LENGTH && size <= MAX_POINTWISE && size < cutter->num_nodes &&
        !mirage__pieces_has(cutter, &set))
      list_piece(cutter, &set);
  }
}

MirageStatus mirage__pieces_list(Cutter *cutter) {
  Web *web = calloc(1, sizeof *web);
  cutter->pieces =
      calloc((size_t)(cutter->num_nodes + MAX_GROWN) * CUT_LENGTH + 2 * cutter->num_nodes, sizeof *cutter->pieces);
  if (web && cutter->pieces) {
    uint32_t grown[CUT_LENGTH + 1] = {0};
    link_operators(cutter, web);
    link_sharers(cutter, web);
    list_runs(cutter);
    for (uint32_t count = 1; count < CUT_LENGTH; count++)
      grow_pieces(cutter, web, count, grown);
    list_attentions(cutter, web);
    list_pointwise(cutter, web);
  }
  MirageStatus status = web && cutter->pieces ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  free(web);
  return status;
}

void mirage__pieces_deinit(Cutter *cutter) {
  for (uint32_t i = 0; i < cutter->num_pieces; i++) {
    mirage_ugraph_destroy(cutter->pieces[i].program);
    mirage_ugraph_destroy(cutter->pieces[i].graph);
    mirage_ugraph_destroy(cutter->pieces[i].slower);
    for (uint32_t k = 0; k < cutter->pieces[i].num_others; k++)
      mirage_ugraph_destroy(cutter->pieces[i].others[k]);
  }
  free(cutter->pieces);
}
