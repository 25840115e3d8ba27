// search.c - the search, from options to candidates.
//
// Call order: options, checkpoint, monitor, threads; then a long program goes in sections (pieces/search_sections.c),
//             any other as one and in pieces, side by side. As one: its views come off (views/), what is left is
//             searched (search_plans.c), and they are put back. A piece of a program is searched as one, too.
//
// Source: [Mirage 4]
#include "mirage/search.h"
#include "mirage/cost.h"
#include "search/block/search_options.h"
#include "search/cost/cost_memo.h"
#include "search/masks/search_masks.h"
#include "search/pieces/search_pieces.h"
#include "search/run/search_funnel.h"
#include "search/search_plans.h"
#include "search/views/search_dots.h"
#include "search/views/search_views.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double whole_share = 2. / 3; // of the time budget, where pieces are searched as well

// ---------------------------------------------------------------------------------------------- as one

// Moves candidate i in front of the slower ones before it.
static void rank(MirageSearchResult *result, uint32_t i) {
  MirageUGraph *candidate = result->candidates[i];
  for (uint32_t at = i; at > 0 && search_time_of(result->candidates[at - 1]) > search_time_of(candidate); at--) {
    result->candidates[at] = result->candidates[at - 1];
    result->candidates[at - 1] = candidate;
  }
}

// Candidates as ones for the program. What lies outside their kernels may change which is cheapest.
static MirageStatus wrap_all(const SearchViews *views, const MirageTarget *target, struct CostMemo *memo,
                             const MirageDiag *diag, MirageSearchResult *result) {
  for (uint32_t i = 0; i < result->num_candidates; i++) {
    MirageUGraph *wrapped;
    MIRAGE_TRY(mirage__search_wrap(views, result->candidates[i], diag, &wrapped));
    mirage_ugraph_destroy(result->candidates[i]);
    result->candidates[i] = wrapped;
    MIRAGE_TRY(mirage__cost_graph(wrapped, target, memo, diag, &mirage_ugraph_meta(wrapped)->cost));
    rank(result, i);
  }
  return MIRAGE_OK;
}

// Puts the best of `other` among what was found: at most half of what is wanted.
static MirageStatus join(MirageSearchResult *result, MirageSearchResult *other, uint32_t wanted) {
  uint32_t most = wanted > 1 ? wanted / 2 : 1, taken = other->num_candidates < most ? other->num_candidates : most;
  MirageUGraph **all =
      realloc(result->candidates, ((size_t)result->num_candidates + taken + 1) * sizeof(MirageUGraph *));
  if (!all)
    return MIRAGE_NO_MEMORY;
  result->candidates = all;
  for (uint32_t i = 0; i < taken; i++) {
    all[result->num_candidates] = other->candidates[i];
    other->candidates[i] = NULL;
    rank(result, result->num_candidates++);
  }
  while (result->num_candidates > wanted)
    mirage_ugraph_destroy(all[--result->num_candidates]);
  mirage__search_add_to_funnel(&result->funnel, &other->funnel);
  return MIRAGE_OK;
}

static MirageStatus search_viewed(const MirageUGraph *program, const MirageSearchOptions *options,
                                  const SearchPart *part, const MirageDiag *diag, MirageSearchResult *out_result);

// Products of one row, as sums of rows, beside what was found for them. That this cannot be searched is no error.
static MirageStatus search_dots(const MirageUGraph *core, const MirageSearchOptions *options, const SearchPart *part,
                                const MirageDiag *diag, MirageSearchResult *result) {
  const MirageDiag quiet = {0};
  MirageUGraph *dots;
  MIRAGE_TRY(mirage__search_dots(core, diag, &dots));
  if (!dots)
    return MIRAGE_OK;
  SearchPart beside = *part;
  beside.checkpoint = NULL;
  MirageSearchResult other;
  MirageStatus status = search_viewed(dots, options, &beside, &quiet, &other);
  if (status == MIRAGE_OK)
    status = join(result, &other, options->max_candidates);
  mirage_search_result_deinit(&other);
  mirage_ugraph_destroy(dots);
  return status == MIRAGE_UNSUPPORTED ? MIRAGE_OK : status;
}

static MirageStatus search_viewed(const MirageUGraph *program, const MirageSearchOptions *options,
                                  const SearchPart *part, const MirageDiag *diag, MirageSearchResult *out_result) {
  SearchViews *views;
  const MirageUGraph *core;
  *out_result = (MirageSearchResult){0};
  MIRAGE_TRY(mirage__search_peel(program, diag, &views, &core));
  MirageStatus status = mirage__search_whole(core, options, part, diag, out_result);
  if (status == MIRAGE_OK)
    status = search_dots(core, options, part, diag, out_result);
  if (views && status == MIRAGE_OK)
    status = wrap_all(views, options->target, part->memo, diag, out_result);
  if (status != MIRAGE_OK)
    mirage_search_result_deinit(out_result);
  mirage__search_views_destroy(views);
  return status;
}

// -------------------------------------------------------------------------------------- as one and in pieces

/// The last message of a search that may fail without consequence.
typedef struct Held {
  char text[256];
  const void *loc;
} Held;

static void hold(void *user, MirageSeverity severity, const void *loc, const char *message) {
  Held *held = user;
  (void)severity;
  held->loc = loc;
  strncpy(held->text, message, sizeof held->text - 1);
}

/// The whole program and its pieces, searched side by side.
typedef struct Halves {
  const MirageUGraph *program;
  const MirageSearchOptions *options;
  SearchPart whole;
  MirageSearchResult *result; // of the whole
  SearchPieces *pieces;
  Held held; // what the whole says
  MirageStatus of_whole, of_pieces;
} Halves;

static MirageStatus search_half(void *user, uint32_t index) {
  Halves *halves = user;
  MirageDiag holding = {hold, &halves->held};
  MirageStatus *status = index == 0 ? &halves->of_whole : &halves->of_pieces;
  if (index == 0) {
    *status = search_viewed(halves->program, halves->options, &halves->whole, &holding, halves->result);
    mirage__search_whole_done(halves->whole.monitor);
  } else {
    *status = mirage__search_pieces(halves->program, halves->options, &halves->whole, &halves->pieces);
    mirage__search_leave_rest(halves->whole.monitor);
  }
  if (*status != MIRAGE_OK && *status != MIRAGE_UNSUPPORTED)
    mirage__search_give_up(halves->whole.monitor);
  return MIRAGE_OK;
}

static MirageStatus search_all(const MirageUGraph *program, const SearchRun *run, const MirageDiag *diag,
                               MirageSearchResult *out_result) {
  const MirageSearchOptions *options = run->options;
  SearchMonitor *monitor = run->part.monitor;
  Halves halves = {.program = program, .options = options, .whole = run->part, .result = out_result};
  double now = mirage__search_clock();
  halves.whole.deadline = monitor->end;
  if (isfinite(monitor->end) && mirage__search_has_pieces(program))
    halves.whole.deadline = now + whole_share * (monitor->end - now);
  mirage__search_run_beside(run->part.pool, search_half, &halves);
  MirageStatus status = halves.of_whole, pieces = halves.of_pieces;
  out_result->funnel.whole_exhausted = out_result->funnel.exhausted;
  if (pieces == MIRAGE_OK && (status == MIRAGE_OK || status == MIRAGE_UNSUPPORTED))
    pieces = mirage__search_join(halves.pieces, options->max_candidates, out_result);
  mirage__search_pieces_destroy(halves.pieces);
  if (status == MIRAGE_UNSUPPORTED && out_result->num_candidates > 0) {
    status = MIRAGE_OK; // pieces of it can be treated
    snprintf(out_result->reason, sizeof out_result->reason, "%s", halves.held.text);
  } else if (status != MIRAGE_OK && halves.held.text[0])
    mirage_diag_emit(diag, MIRAGE_SEVERITY_ERROR, halves.held.loc, "%s", halves.held.text);
  return pieces != MIRAGE_OK ? pieces : status;
}

static MirageStatus search_numbers(const MirageUGraph *program, const MirageSearchOptions *options,
                                   const MirageDiag *diag, MirageSearchResult *out_result) {
  MirageSearchOptions filled;
  SearchMonitor monitor;
  MIRAGE_TRY(mirage__search_fill_options(options, diag, &filled));
  SearchCheckpoint *checkpoint;
  MIRAGE_TRY(mirage__checkpoint_open(program, &filled, diag, &checkpoint));
  MirageStatus status = mirage__search_monitor_init(&monitor, filled.control);
  if (status == MIRAGE_OK) {
    SearchPool *pool = mirage__search_pool_create(filled.num_threads);
    CostMemo *memo = mirage__cost_memo_create();
    SearchPart part = {
        .search = search_viewed, .pool = pool, .monitor = &monitor, .checkpoint = checkpoint, .memo = memo};
    SearchRun run = {.options = &filled, .part = part, .search = search_all};
    if (!pool || !memo)
      status = MIRAGE_NO_MEMORY;
    else if (!filled.optimal && mirage__search_is_large(program)) // to exhaust sections of 32 operators takes hours
      status = mirage__search_sections(program, &run, out_result);
    else
      status = search_all(program, &run, diag, out_result);
    if (status == MIRAGE_OK && !out_result->num_candidates && filled.optimal && mirage__search_is_large(program))
      snprintf(
          out_result->reason, sizeof out_result->reason,
          "it is too long for one block graph, and with optimal it is not divided into sections: leave that out, or "
          "write it as several programs");
    mirage__search_pool_destroy(pool);
    mirage__cost_memo_destroy(memo);
    mirage__search_monitor_deinit(&monitor);
  }
  bool saved = mirage__checkpoint_close(checkpoint, status, diag);
  if (status != MIRAGE_OK) {
    mirage_search_result_deinit(out_result);
    return status;
  }
  out_result->saved = saved;
  out_result->funnel.seconds = mirage__search_clock() - monitor.start;
  return MIRAGE_OK;
}

// Candidates as ones for the program, cheapest first. One that cannot be is left out.
static MirageStatus remask_all(const SearchMasks *masks, const MirageTarget *target, const MirageDiag *diag,
                               MirageSearchResult *result) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < result->num_candidates; i++) {
    MirageUGraph *masked;
    MIRAGE_TRY(mirage__search_remask(masks, result->candidates[i], diag, &masked));
    mirage_ugraph_destroy(result->candidates[i]);
    result->candidates[i] = NULL;
    if (!masked)
      continue;
    result->candidates[count] = masked;
    MIRAGE_TRY(mirage_cost(masked, target, diag, &mirage_ugraph_meta(masked)->cost));
    rank(result, count++);
  }
  result->num_candidates = count;
  return MIRAGE_OK;
}

// ---------------------------------------------------------------------------------------------- public

MirageStatus mirage_search(const MirageUGraph *program, const MirageSearchOptions *options, const MirageDiag *diag,
                           MirageSearchResult *out_result) {
  SearchMasks *masks;
  const MirageUGraph *core;
  *out_result = (MirageSearchResult){0};
  MIRAGE_TRY(mirage__search_unmask(program, diag, &masks, &core));
  MirageSearchOptions filled, wanted = options ? *options : (MirageSearchOptions){0};
  wanted.no_second_kernel |= masks && masks->floor.index; // the division has to be where the mask is
  MirageStatus status = mirage__search_fill_options(&wanted, diag, &filled);
  if (status == MIRAGE_OK)
    status = search_numbers(core, &wanted, diag, out_result);
  if (status == MIRAGE_OK && masks)
    status = remask_all(masks, filled.target, diag, out_result);
  if (status != MIRAGE_OK)
    mirage_search_result_deinit(out_result);
  mirage__search_masks_destroy(masks);
  return status;
}

void mirage_search_result_deinit(MirageSearchResult *result) {
  for (uint32_t i = 0; i < result->num_candidates; i++)
    mirage_ugraph_destroy(result->candidates[i]);
  free(result->candidates);
  *result = (MirageSearchResult){0};
}
