// instances.c - draws extents and builds the pairs.
//
// A third of the extents is square, with equal splits everywhere: there a wrong map most often still type-checks, so
// only the verifier stands between it and the user. Another third has pairwise different extents, and the rest adds
// ragged tails or longer tiles, which give shrinking something to do.
#include "instances.h"

#include "benchmarks.h"
#include "mirage/search.h"
#include "mirage/target.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t between(MirageRandom *random, int64_t low, int64_t high) {
  return low + (int64_t)mirage_random_below(random, (uint64_t)(high - low + 1));
}

static Extents draw_extents(MirageRandom *random, uint32_t turn, bool ragged) {
  if (turn % 3 == 0) {
    int64_t parts = 2, tile = between(random, 1, 2), n = parts * parts * parts * tile;
    int64_t k = turn % 2 ? n : n * parts; // a tile of k is square with k or with n
    return (Extents){.m = n, .k = k, .n = n, .rank = n, .heads = 2, .grid = parts, .split = parts, .loop = parts};
  }
  Extents e = {.heads = between(random, 1, 3), .grid = between(random, 2, 3), .split = between(random, 2, 3)};
  e.loop = between(random, 2, 4);
  e.rank = between(random, 2, 4);
  bool longer = turn % 3 == 2 && turn % 2;
  e.m = e.grid * (longer ? 5 : between(random, 1, 2));
  e.k = e.loop * e.split * (longer ? 6 : between(random, 1, 3));
  e.n = e.grid * e.split * e.loop * (longer ? 4 : between(random, 1, 2));
  if (turn % 3 == 2 && !longer && ragged) {
    e.k += between(random, 0, 1);
    e.n += between(random, 0, 1);
  }
  return e;
}

static bool reserve(InstanceSet *set, uint32_t capacity) {
  set->data = calloc(capacity, sizeof *set->data);
  return set->data != NULL;
}

static bool add(InstanceSet *set, MirageUGraph *program, MirageUGraph *candidate) {
  if (program && candidate) {
    set->data[set->count++] = (Instance){program, candidate};
    return true;
  }
  mirage_ugraph_destroy(program);
  mirage_ugraph_destroy(candidate);
  return false;
}

static bool fill_by_hand(InstanceSet *set, const Benchmark *benchmark, uint64_t seed, uint32_t each) {
  MirageRandom random;
  mirage_random_init(&random, seed, 1000);
  snprintf(set->name, sizeof set->name, "%s", benchmark->name);
  if (!reserve(set, each))
    return false;
  for (uint32_t turn = 0; set->count < each && turn < 20 * each; turn++) {
    Extents e = draw_extents(&random, turn, benchmark->ragged);
    add(set, benchmark->program(e, NULL), benchmark->candidate(e, NULL));
  }
  return true;
}

static const Extents LARGER[] = {{.m = 4, .k = 64, .n = 64, .rank = 8, .heads = 2},
                                 {.m = 16, .k = 64, .n = 64, .rank = 16, .heads = 1},
                                 {.m = 16, .k = 32, .n = 128, .rank = 16, .heads = 2}};
// One key more than tiles hold, and one query: decoding.
static const Extents MASKED[] = {{.m = 4, .n = 32, .rank = 8, .heads = 2},
                                 {.m = 16, .n = 33, .rank = 8, .heads = 3},
                                 {.m = 1, .n = 64, .rank = 8, .heads = 2}};

// The search at three small extents of one program, at most `each` candidates in all.
static bool fill_by_search(InstanceSet *set, const char *name,
                           MirageUGraph *(*program_of)(Extents e, const MirageDiag *diag), const Extents sizes[3],
                           uint32_t each) {
  snprintf(set->name, sizeof set->name, "search:%s", name);
  if (!reserve(set, each))
    return false;
  for (size_t s = 0; s < 3; s++) {
    const MirageSearchOptions options = {
        .max_candidates = (each + 2) / 3, .max_states = 100000, .num_threads = 1, .target = mirage_target_find("h200")};
    MirageUGraph *program = program_of(sizes[s], NULL);
    MirageSearchResult found = {0};
    if (!program || mirage_search(program, &options, NULL, &found) != MIRAGE_OK)
      found.num_candidates = 0;
    for (uint32_t i = 0; i < found.num_candidates && set->count < each; i++) {
      MirageUGraph *copy = NULL, *candidate = NULL;
      if (mirage_ugraph_clone(program, NULL, &copy) == MIRAGE_OK)
        mirage_ugraph_clone(found.candidates[i], NULL, &candidate);
      add(set, copy, candidate);
    }
    mirage_search_result_deinit(&found);
    mirage_ugraph_destroy(program);
  }
  return true;
}

// Several benchmarks share a program; the search sees each once.
static bool is_first_of_its_program(uint32_t index) {
  for (uint32_t i = 0; i < index; i++)
    if (BENCHMARKS[i].program == BENCHMARKS[index].program)
      return false;
  return true;
}

// The sets of candidates that the search finds.
static bool search_all(InstanceSet *sets, uint32_t *count, uint32_t each) {
  for (uint32_t i = 0; i < NUM_BENCHMARKS + NUM_MASKED_PROGRAMS; i++) {
    bool masked = i >= NUM_BENCHMARKS;
    const MaskedProgram *program = &MASKED_PROGRAMS[masked ? i - NUM_BENCHMARKS : 0];
    if (!masked && !is_first_of_its_program(i))
      continue;
    if (!(masked ? fill_by_search(&sets[*count], program->name, program->program, MASKED, each)
                 : fill_by_search(&sets[*count], BENCHMARKS[i].name, BENCHMARKS[i].program, LARGER, each)))
      return false;
    if (sets[*count].count)
      ++*count;
    else
      free(sets[*count].data); // nothing found; the slot is used again
  }
  return true;
}

uint32_t instances_create(uint64_t seed, uint32_t each, bool search, InstanceSet **out_sets) {
  InstanceSet *sets = calloc(2 * (size_t)NUM_BENCHMARKS + NUM_MASKED_PROGRAMS, sizeof *sets);
  uint32_t count = 0;
  bool ok = sets != NULL;
  for (uint32_t i = 0; ok && i < NUM_BENCHMARKS; i++)
    ok = fill_by_hand(&sets[count++], &BENCHMARKS[i], seed + i, each);
  if (ok && search)
    ok = search_all(sets, &count, each);
  if (!ok) {
    instances_free(sets, count);
    return 0;
  }
  *out_sets = sets;
  return count;
}

void instances_free(InstanceSet *sets, uint32_t count) {
  for (uint32_t s = 0; sets && s < count; s++) {
    for (uint32_t i = 0; sets[s].data && i < sets[s].count; i++) {
      mirage_ugraph_destroy(sets[s].data[i].program);
      mirage_ugraph_destroy(sets[s].data[i].candidate);
    }
    free(sets[s].data);
  }
  free(sets);
}
