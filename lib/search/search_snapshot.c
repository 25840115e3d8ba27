// search_snapshot.c - what a checkpoint stores of a search: funnels, block graphs, the tensors derived so far, where
// the reading of block graphs stands, and where the choice of their schedules.
//
// Of a tensor everything is stored but its values, its hash and its expression: these follow from the derivation by
// which it was met first, whose operands were met before it. So restoring a space costs one evaluation a tensor, and
// none of what led to nothing.
#include "search_extract.h"
#include <stdlib.h>
#include <string.h>

static MirageStatus senseless(const SearchBytes *bytes, bool makes_sense) {
  return bytes->failed || !makes_sense ? MIRAGE_BAD_ARGUMENT : MIRAGE_OK;
}

// -------------------------------------------------------------------------------------- funnels, block graphs

void mirage__pass_funnel(SearchBytes *bytes, MirageFunnel *funnel) {
  uint32_t stop = funnel->stop;
  SEARCH_PASS(bytes, funnel->states);
  SEARCH_PASS(bytes, funnel->cut_expr);
  SEARCH_PASS(bytes, funnel->cut_axis);
  SEARCH_PASS(bytes, funnel->cut_order);
  SEARCH_PASS(bytes, funnel->cut_merge);
  SEARCH_PASS(bytes, funnel->cut_memory);
  SEARCH_PASS(bytes, funnel->structures);
  SEARCH_PASS(bytes, funnel->scheduled);
  SEARCH_PASS(bytes, funnel->exhausted);
  SEARCH_PASS(bytes, funnel->axioms);
  SEARCH_PASS(bytes, stop);
  funnel->stop = (MirageStop)stop;
}

static void pass_node(SearchBytes *bytes, SearchNode *node) {
  SEARCH_PASS(bytes, node->op);
  SEARCH_PASS(bytes, node->flags);
  SEARCH_PASS(bytes, node->dim);
  SEARCH_PASS(bytes, node->stage);
  SEARCH_PASS(bytes, node->rank);
  SEARCH_PASS(bytes, node->dims);
  SEARCH_PASS(bytes, node->a);
  SEARCH_PASS(bytes, node->b);
  SEARCH_PASS(bytes, node->gauge);
}

static MirageStatus pass_structure(SearchBytes *bytes, SearchStructure *structure) {
  SEARCH_PASS(bytes, structure->num_nodes);
  SEARCH_PASS(bytes, structure->num_outputs);
  SEARCH_PASS(bytes, structure->outputs);
  SEARCH_PASS(bytes, structure->loop_axis);
  SEARCH_PASS(bytes, structure->num_loops);
  SEARCH_PASS(bytes, structure->num_ops);
  SEARCH_PASS(bytes, structure->order);
  SEARCH_PASS(bytes, structure->score_us);
  SEARCH_PASS(bytes, structure->amounts);
  MIRAGE_TRY(senseless(bytes, structure->num_nodes <= SEARCH_MAX_NODES && structure->num_outputs <= SEARCH_MAX_GOALS &&
                                  structure->loop_axis < SEARCH_MAX_AXES && structure->num_loops <= SEARCH_MAX_LOOPS));
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    SearchNode *node = &structure->nodes[i];
    pass_node(bytes, node);
    MIRAGE_TRY(senseless(bytes, node->op < MIRAGE_NUM_OPS && node->rank <= SEARCH_RANK &&
                                    node->stage <= 2 * structure->num_loops));
  }
  return MIRAGE_OK;
}

MirageStatus mirage__pass_kept(SearchBytes *bytes, SearchKept *kept) {
  uint32_t num = kept->num;
  SEARCH_PASS(bytes, num);
  for (uint32_t i = 0; i < num; i++) {
    if (!bytes->reading) {
      MIRAGE_TRY(pass_structure(bytes, kept->items[i]));
      continue;
    }
    SearchStructure structure = {0};
    MIRAGE_TRY(pass_structure(bytes, &structure));
    MIRAGE_TRY(mirage__structure_keep(kept, &structure));
  }
  return senseless(bytes, true);
}

// ------------------------------------------------------------------------------------------------------ spaces

static void pass_tensor(SearchBytes *bytes, SearchTensor *tensor) {
  SEARCH_PASS(bytes, tensor->stage);
  SEARCH_PASS(bytes, tensor->rank);
  SEARCH_PASS(bytes, tensor->dims);
  SEARCH_PASS(bytes, tensor->constant);
  SEARCH_PASS(bytes, tensor->processed);
  SEARCH_PASS(bytes, tensor->grouped);
  SEARCH_PASS(bytes, tensor->reduction);
  SEARCH_PASS(bytes, tensor->exponential);
  SEARCH_PASS(bytes, tensor->follows);
  SEARCH_PASS(bytes, tensor->inputs);
  SEARCH_PASS(bytes, tensor->depth);
  SEARCH_PASS(bytes, tensor->counted_depth);
  SEARCH_PASS(bytes, tensor->elementwise_depth);
  SEARCH_PASS(bytes, tensor->derivations);
  SEARCH_PASS(bytes, tensor->next_grouped);
  SEARCH_PASS(bytes, tensor->group);
}

static void pass_derivation(SearchBytes *bytes, SearchDerivation *how) {
  SEARCH_PASS(bytes, how->op);
  SEARCH_PASS(bytes, how->flags);
  SEARCH_PASS(bytes, how->dim);
  SEARCH_PASS(bytes, how->a);
  SEARCH_PASS(bytes, how->b);
  SEARCH_PASS(bytes, how->next);
}

static void pass_position(SearchBytes *bytes, SearchPosition *at) {
  SEARCH_PASS(bytes, at->depth);
  SEARCH_PASS(bytes, at->index);
  SEARCH_PASS(bytes, at->partner);
  SEARCH_PASS(bytes, at->inside);
  SEARCH_PASS(bytes, at->again);
}

MirageStatus mirage__save_space(const SearchSpace *space) {
  SearchBytes bytes = {0};
  SearchSpace copy = *space;
  uint32_t stop = space->stop >= MIRAGE_STOP_TIME_BUDGET ? MIRAGE_STOP_NONE : space->stop; // the next run goes on
  SEARCH_PASS(&bytes, copy.num_tensors);
  SEARCH_PASS(&bytes, copy.num_derivations);
  SEARCH_PASS(&bytes, copy.num_groups);
  SEARCH_PASS(&bytes, copy.too_large_input);
  SEARCH_PASS(&bytes, stop);
  mirage__pass_funnel(&bytes, &copy.funnel);
  pass_position(&bytes, &copy.at);
  for (uint32_t i = 1; i <= copy.num_tensors; i++)
    pass_tensor(&bytes, &copy.tensors[i]);
  for (uint32_t i = 1; i <= copy.num_derivations; i++)
    pass_derivation(&bytes, &copy.derivations[i]);
  for (uint32_t i = 0; i < copy.num_groups; i++) {
    SEARCH_PASS(&bytes, copy.groups[i].first);
    SEARCH_PASS(&bytes, copy.groups[i].size);
  }
  return mirage__checkpoint_put(&space->slot, SEARCH_RECORD_SPACE, &bytes);
}

/// A record being read, before it becomes the space's.
typedef struct Reading {
  SearchTensor *tensors;
  SearchDerivation *derivations;
  uint32_t num_tensors, num_derivations, num_groups;
} Reading;

static bool is_leaf(const SearchDerivation *how) { return how->op == MIRAGE_OP_LOAD || how->op == MIRAGE_OP_CONSTANT; }

// The derivation by which tensor `index` was met first: derivations are put in front of those known before.
static const SearchDerivation *first_of(const Reading *reading, uint32_t index) {
  uint32_t at = reading->tensors[index].derivations;
  while (at && reading->derivations[at].next)
    at = reading->derivations[at].next;
  return at ? &reading->derivations[at] : NULL;
}

// Whether every number names something, lists end, and a tensor's first derivation stands on earlier tensors.
static bool makes_sense(const SearchSpace *space, const Reading *reading) {
  for (uint32_t i = 1; i <= reading->num_derivations; i++) {
    const SearchDerivation *how = &reading->derivations[i];
    bool fits = how->next < i && how->op > 0 && how->op < MIRAGE_NUM_OPS && how->dim < SEARCH_RANK;
    if (!is_leaf(how))
      fits = fits && how->a > 0 && how->a <= reading->num_tensors && how->b <= reading->num_tensors &&
             (how->b > 0 || !mirage__search_is_binary(how->op));
    if (!fits)
      return false;
  }
  for (uint32_t i = 1; i <= reading->num_tensors; i++) {
    const SearchTensor *tensor = &reading->tensors[i];
    if (tensor->derivations > reading->num_derivations || tensor->next_grouped > reading->num_tensors ||
        tensor->stage > 2 * space->num_loops || tensor->rank > SEARCH_RANK)
      return false;
    const SearchDerivation *how = first_of(reading, i);
    if (!how || is_leaf(how) != (i <= space->num_tensors) || (!is_leaf(how) && (how->a >= i || how->b >= i)))
      return false;
    for (uint32_t d = 0; d < SEARCH_RANK; d++)
      if (mirage__search_axis_of(tensor->dims[d]) >= space->program->num_axes)
        return false;
  }
  return true;
}

// Leaves are there already; all others are evaluated again.
static MirageStatus restore_tensors(SearchSpace *space, const Reading *reading) {
  uint32_t leaves = space->num_tensors;
  for (uint32_t i = 1; i <= reading->num_tensors; i++) {
    SearchTensor tensor = reading->tensors[i];
    if (i > leaves) {
      const SearchDerivation *how = first_of(reading, i);
      tensor.expr = mirage__search_expr_of(space, how);
      MIRAGE_TRY(mirage__search_restore_tensor(space, &tensor, how));
      continue;
    }
    SearchTensor *leaf = &space->tensors[i];
    tensor.expr = leaf->expr;
    tensor.values = leaf->values;
    tensor.hash = leaf->hash;
    tensor.next_hashed = leaf->next_hashed;
    *leaf = tensor;
  }
  while (space->capacity_derivations <= reading->num_derivations + 1) {
    space->derivations =
        mirage__search_grow(space, space->derivations, &space->capacity_derivations, sizeof *space->derivations);
    if (!space->derivations)
      return MIRAGE_NO_MEMORY;
  }
  memcpy(space->derivations, reading->derivations, (reading->num_derivations + 1) * sizeof *space->derivations);
  space->num_derivations = reading->num_derivations;
  return MIRAGE_OK;
}

static MirageStatus restore_groups(SearchSpace *space, SearchBytes *bytes, uint32_t num) {
  for (uint32_t i = 0; i < num; i++) {
    uint32_t first = 0, size = 0;
    SEARCH_PASS(bytes, first);
    SEARCH_PASS(bytes, size);
    MIRAGE_TRY(senseless(bytes, first > 0 && first <= space->num_tensors));
    MIRAGE_TRY(mirage__search_add_group(space, mirage__search_group_expr(space, first)));
    space->groups[i].first = first;
    space->groups[i].size = size;
    space->num_grouped += size;
  }
  for (uint32_t i = 1; i <= space->num_tensors; i++)
    MIRAGE_TRY(senseless(bytes, !space->tensors[i].grouped || space->tensors[i].group < num));
  return senseless(bytes, space->at.partner <= space->num_partners);
}

static MirageStatus read_space(SearchSpace *space, SearchBytes *bytes, Reading *reading) {
  uint32_t stop = 0;
  SEARCH_PASS(bytes, reading->num_tensors);
  SEARCH_PASS(bytes, reading->num_derivations);
  SEARCH_PASS(bytes, reading->num_groups);
  SEARCH_PASS(bytes, space->too_large_input);
  SEARCH_PASS(bytes, stop);
  mirage__pass_funnel(bytes, &space->funnel);
  pass_position(bytes, &space->at);
  MIRAGE_TRY(senseless(bytes, reading->num_tensors <= bytes->size && reading->num_derivations <= bytes->size &&
                                  reading->num_tensors >= space->num_tensors && space->at.index > 0 &&
                                  space->at.index <= reading->num_tensors + 1));
  reading->tensors = calloc((size_t)reading->num_tensors + 1, sizeof *reading->tensors);
  reading->derivations = calloc((size_t)reading->num_derivations + 1, sizeof *reading->derivations);
  if (!reading->tensors || !reading->derivations)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 1; i <= reading->num_tensors; i++)
    pass_tensor(bytes, &reading->tensors[i]);
  for (uint32_t i = 1; i <= reading->num_derivations; i++)
    pass_derivation(bytes, &reading->derivations[i]);
  MIRAGE_TRY(senseless(bytes, makes_sense(space, reading)));
  MIRAGE_TRY(restore_tensors(space, reading));
  space->stop = (MirageStop)stop;
  space->stopped = space->stop != MIRAGE_STOP_NONE;
  return restore_groups(space, bytes, reading->num_groups);
}

MirageStatus mirage__restore_space(SearchSpace *space) {
  SearchBytes bytes;
  Reading reading = {0};
  if (!mirage__checkpoint_find(&space->slot, SEARCH_RECORD_SPACE, &bytes))
    return MIRAGE_OK;
  MirageStatus status = read_space(space, &bytes, &reading);
  free(reading.tensors);
  free(reading.derivations);
  return status;
}

// ------------------------------------------------------------------------------------------------- rankings

static void pass_schedule(SearchBytes *bytes, SearchSchedule *schedule) {
  uint32_t combine = schedule->combine;
  SEARCH_PASS(bytes, schedule->parts);
  SEARCH_PASS(bytes, schedule->split);
  SEARCH_PASS(bytes, combine);
  SEARCH_PASS(bytes, schedule->order);
  SEARCH_PASS(bytes, schedule->threads);
  SEARCH_PASS(bytes, schedule->combine_parts);
  SEARCH_PASS(bytes, schedule->combine_order);
  schedule->combine = (SearchCombine)combine;
}

static bool schedule_makes_sense(const SearchSchedule *schedule) {
  bool fits = schedule->split > 0 && schedule->combine < SEARCH_NUM_COMBINES;
  for (uint32_t i = 0; i < 3; i++)
    fits = fits && schedule->order[i] < 3 && schedule->combine_order[i] < 3;
  return fits;
}

// A structure is known by its number.
static MirageStatus pass_candidate(SearchBytes *bytes, SearchRanking *ranking, SearchCandidate *candidate) {
  uint32_t number = bytes->reading ? 0 : candidate->structure->order;
  SEARCH_PASS(bytes, number);
  pass_schedule(bytes, &candidate->schedule);
  SEARCH_PASS(bytes, candidate->time_us);
  SEARCH_PASS(bytes, candidate->order);
  for (uint32_t i = 0; bytes->reading && i < ranking->num && !candidate->structure; i++)
    if (ranking->structures[i]->order == number)
      candidate->structure = ranking->structures[i];
  return senseless(bytes, candidate->structure && schedule_makes_sense(&candidate->schedule));
}

static MirageStatus pass_ranking(SearchBytes *bytes, SearchRanking *ranking) {
  SEARCH_PASS(bytes, ranking->done);
  SEARCH_PASS(bytes, ranking->order);
  SEARCH_PASS(bytes, ranking->scheduled);
  SEARCH_PASS(bytes, ranking->count);
  MIRAGE_TRY(senseless(bytes, ranking->done < ranking->num && ranking->count <= ranking->room));
  for (uint32_t i = 0; i < ranking->count; i++)
    MIRAGE_TRY(pass_candidate(bytes, ranking, &ranking->candidates[i]));
  return MIRAGE_OK;
}

MirageStatus mirage__save_ranking(const SearchSlot *slot, const SearchRanking *ranking) {
  SearchBytes bytes = {0};
  SearchRanking copy = *ranking;
  MirageStatus status = pass_ranking(&bytes, &copy);
  bytes.failed |= status != MIRAGE_OK;
  return mirage__checkpoint_put(slot, SEARCH_RECORD_RANKING, &bytes);
}

MirageStatus mirage__restore_ranking(const SearchSlot *slot, SearchRanking *ranking) {
  SearchBytes bytes;
  return mirage__checkpoint_find(slot, SEARCH_RECORD_RANKING, &bytes) ? pass_ranking(&bytes, ranking) : MIRAGE_OK;
}

// ---------------------------------------------------------------------------------------------- standings

Branch *mirage__branches_add(Branches *branches) {
  if (branches->num == branches->capacity) {
    uint32_t capacity = branches->capacity ? 2 * branches->capacity : 32;
    Branch *items = realloc(branches->items, capacity * sizeof *items);
    if (!items)
      return NULL;
    branches->items = items;
    branches->capacity = capacity;
  }
  return &branches->items[branches->num++];
}

MirageStatus mirage__pass_standing(SearchBytes *bytes, Standing *at, SearchSpace *space, SearchKept *kept) {
  uint32_t num = at->branches.num;
  SEARCH_PASS(bytes, at->choice);
  SEARCH_PASS(bytes, at->round);
  SEARCH_PASS(bytes, at->last);
  SEARCH_PASS(bytes, at->before);
  SEARCH_PASS(bytes, at->share);
  SEARCH_PASS(bytes, at->cut_elementwise);
  SEARCH_PASS(bytes, space->lost);
  mirage__pass_funnel(bytes, &space->funnel);
  SEARCH_PASS(bytes, num);
  for (uint32_t i = 0; i < num; i++) {
    Branch *branch = bytes->reading ? mirage__branches_add(&at->branches) : &at->branches.items[i];
    if (!branch)
      return MIRAGE_NO_MEMORY;
    SEARCH_PASS(bytes, branch->depth);
    MIRAGE_TRY(senseless(bytes, branch->depth > 0 && branch->depth <= SEARCH_MAX_NODES));
    mirage__bytes_pass(bytes, branch->steps, branch->depth * sizeof *branch->steps);
  }
  return mirage__pass_kept(bytes, kept);
}
