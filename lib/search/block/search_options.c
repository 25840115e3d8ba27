// search_options.c - the options of a search: what they may be, and what they are where nobody says.
#define _POSIX_C_SOURCE 200809L // sysconf
#include "search/block/search_options.h"
#include "search/block/search_structure.h"
#include <unistd.h>

enum { DEFAULT_BLOCK_OPS = 11, DEFAULT_CANDIDATES = 16 };

static MirageStatus check_numbers(const char *name, MirageInt64List list, int64_t min, int64_t max,
                                  const MirageDiag *diag) {
  for (size_t i = 0; i < list.size; i++)
    if (list.data[i] < min || list.data[i] > max)
      return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "search: %s must lie between %lld and %lld, got %lld",
                              name, (long long)min, (long long)max, (long long)list.data[i]);
  return MIRAGE_OK;
}

static MirageStatus check_triples(const char *name, MirageTripleList list, int64_t min, int64_t max,
                                  const MirageDiag *diag) {
  for (size_t i = 0; i < list.size; i++)
    MIRAGE_TRY(check_numbers(name, (MirageInt64List){list.data[i].xyz, 3}, min, max, diag));
  return MIRAGE_OK;
}

MirageStatus mirage_search_check_options(const MirageSearchOptions *options, const MirageDiag *diag) {
  const MirageTarget *target = options->target ? options->target : mirage_target_get(0);
  MIRAGE_TRY(check_numbers("griddims", options->griddims, 1, INT32_MAX, diag));
  MIRAGE_TRY(check_triples("griddims", options->grids, 1, INT32_MAX, diag));
  MIRAGE_TRY(check_triples("imaps", options->imaps, -1, MIRAGE_MAX_RANK - 1, diag));
  MIRAGE_TRY(check_triples("omaps", options->omaps, -1, MIRAGE_MAX_RANK - 1, diag));
  MIRAGE_TRY(check_numbers("fmaps", options->fmaps, -1, MIRAGE_MAX_RANK - 1, diag));
  MIRAGE_TRY(check_numbers("franges", options->franges, 1, INT32_MAX, diag));
  MIRAGE_TRY(check_numbers("blockdims", options->blockdims, 32, target->max_threads_per_block, diag));
  for (size_t i = 0; i < options->blockdims.size; i++)
    if (options->blockdims.data[i] % 32)
      return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "search: blockdims must be multiples of 32, got %lld",
                              (long long)options->blockdims.data[i]);
  if (options->max_loops > SEARCH_MAX_LOOPS)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "search: at most %d loops follow each other, got %u",
                            SEARCH_MAX_LOOPS, options->max_loops);
  if (options->max_block_ops > 24 || options->max_candidates > 4096)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT,
                            "search: at most 24 block operators and 4096 candidates, got %u and %u",
                            options->max_block_ops, options->max_candidates);
  return MIRAGE_OK;
}

uint64_t mirage_search_states(uint32_t max_block_ops, bool optimal) {
  enum { STATES = 200000, OPTIMAL_STATES = 1000000, DOUBLED = 2 };
  uint32_t more = max_block_ops > DEFAULT_BLOCK_OPS ? max_block_ops - DEFAULT_BLOCK_OPS : 0;
  return (uint64_t)(optimal ? OPTIMAL_STATES : STATES) << (more < DOUBLED ? more : DOUBLED);
}

void mirage__search_allow_more(const SearchProgram *program, MirageSearchOptions *options) {
  enum { MORE = 2 };
  uint64_t usual = mirage_search_states(options->max_block_ops, options->optimal);
  if (options->max_block_ops != DEFAULT_BLOCK_OPS || (program->uses[MIRAGE_OP_MATMUL] && !program->turned))
    return;
  options->max_block_ops += MORE;
  if (options->max_states == usual)
    options->max_states = mirage_search_states(options->max_block_ops, options->optimal);
}

MirageStatus mirage__search_fill_options(const MirageSearchOptions *given, const MirageDiag *diag,
                                         MirageSearchOptions *out) {
  *out = given ? *given : (MirageSearchOptions){0};
  if (!out->target)
    out->target = mirage_target_get(0);
  if (!out->max_loops)
    out->max_loops = SEARCH_MAX_LOOPS;
  if (!out->max_block_ops)
    out->max_block_ops = DEFAULT_BLOCK_OPS;
  if (!out->max_candidates)
    out->max_candidates = DEFAULT_CANDIDATES;
  if (!out->max_states)
    out->max_states = mirage_search_states(out->max_block_ops, out->optimal);
  if (!out->num_threads) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    out->num_threads = cores > 0 ? (uint32_t)cores : 1;
  }
  return mirage_search_check_options(out, diag);
}
