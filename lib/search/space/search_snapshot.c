// search_snapshot.c - the record of a space in a checkpoint, and the space of a record.
//
// Of a tensor everything is stored but its values, its hash and its expression: these follow from the derivation by
// which it was met first, whose operands were met before it. So restoring a space costs one evaluation a tensor, and
// none of what led to nothing.
#include "search/block/search_structure.h"
#include "search/run/search_funnel.h"
#include "search/space/search_tensor.h"
#include <stdlib.h>
#include <string.h>

static void pass_tensor(SearchBytes *bytes, const SearchTensor *tensor) {
  SearchTensor stored = *tensor;
  stored.values = (SearchArray){0};
  stored.expr = (MirageExpr){0};
  stored.hash = stored.next_hashed = 0;
  SEARCH_PASS(bytes, stored);
}

MirageStatus mirage__search_save_space(const SearchSpace *space) {
  SearchBytes bytes = {0};
  SearchSpace copy = *space;
  uint32_t stop = space->stop >= MIRAGE_STOP_TIME_BUDGET ? MIRAGE_STOP_NONE : space->stop; // the next run goes on
  SEARCH_PASS(&bytes, copy.num_tensors);
  SEARCH_PASS(&bytes, copy.num_derivations);
  SEARCH_PASS(&bytes, copy.num_groups);
  SEARCH_PASS(&bytes, copy.too_large_input);
  SEARCH_PASS(&bytes, stop);
  SEARCH_PASS(&bytes, copy.funnel);
  SEARCH_PASS(&bytes, copy.at);
  for (uint32_t i = 1; i <= copy.num_tensors; i++)
    pass_tensor(&bytes, &copy.tensors[i]);
  mirage__bytes_pass(&bytes, copy.derivations + 1, copy.num_derivations * sizeof *copy.derivations);
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
    MIRAGE_TRY(mirage__bytes_check(bytes, first > 0 && first <= space->num_tensors));
    MIRAGE_TRY(mirage__search_add_group(space, mirage__search_group_expr(space, first)));
    space->groups[i].first = first;
    space->groups[i].size = size;
    space->num_grouped += size;
  }
  for (uint32_t i = 1; i <= space->num_tensors; i++)
    MIRAGE_TRY(mirage__bytes_check(bytes, !space->tensors[i].grouped || space->tensors[i].group < num));
  return mirage__bytes_check(bytes, space->at.partner <= space->num_partners);
}

static MirageStatus read_space(SearchSpace *space, SearchBytes *bytes, Reading *reading) {
  uint32_t stop = 0;
  SEARCH_PASS(bytes, reading->num_tensors);
  SEARCH_PASS(bytes, reading->num_derivations);
  SEARCH_PASS(bytes, reading->num_groups);
  SEARCH_PASS(bytes, space->too_large_input);
  SEARCH_PASS(bytes, stop);
  SEARCH_PASS(bytes, space->funnel);
  SEARCH_PASS(bytes, space->at);
  MIRAGE_TRY(mirage__bytes_check(bytes, reading->num_tensors <= bytes->size &&
                                            reading->num_derivations <= bytes->size &&
                                            reading->num_tensors >= space->num_tensors && space->at.index > 0 &&
                                            space->at.index <= reading->num_tensors + 1));
  reading->tensors = calloc((size_t)reading->num_tensors + 1, sizeof *reading->tensors);
  reading->derivations = calloc((size_t)reading->num_derivations + 1, sizeof *reading->derivations);
  if (!reading->tensors || !reading->derivations)
    return MIRAGE_NO_MEMORY;
  mirage__bytes_pass(bytes, reading->tensors + 1, reading->num_tensors * sizeof *reading->tensors);
  mirage__bytes_pass(bytes, reading->derivations + 1, reading->num_derivations * sizeof *reading->derivations);
  MIRAGE_TRY(mirage__bytes_check(bytes, makes_sense(space, reading)));
  MIRAGE_TRY(restore_tensors(space, reading));
  space->stop = (MirageStop)stop;
  space->stopped = space->stop != MIRAGE_STOP_NONE;
  return restore_groups(space, bytes, reading->num_groups);
}

MirageStatus mirage__search_restore_space(SearchSpace *space) {
  SearchBytes bytes;
  Reading reading = {0};
  if (!mirage__checkpoint_find(&space->slot, SEARCH_RECORD_SPACE, &bytes))
    return MIRAGE_OK;
  MirageStatus status = read_space(space, &bytes, &reading);
  free(reading.tensors);
  free(reading.derivations);
  return status;
}
