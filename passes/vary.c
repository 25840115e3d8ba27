// vary.c - other schedules of a planned candidate, as candidates beside it.
#include "vary.h"

#include "mirage/cost.h"
#include "mirage/layout.h"

#include <stdio.h>

static const double most_slower = 1.1; // predicted: timing a variant takes a GPU seconds

// The schedules met so far of one candidate, its own first.
typedef struct Met {
  MirageGraphHash hashes[1 + MIRAGE_MOST_VARIANTS];
  uint32_t count;
} Met;

static MirageStatus is_new(Met *met, const MirageUGraph *graph, const MirageDiag *diag, bool *out_new) {
  MirageGraphHash hash;
  MIRAGE_TRY(mirage_ugraph_hash(graph, diag, &hash));
  *out_new = met->count < sizeof met->hashes / sizeof *met->hashes;
  for (uint32_t i = 0; i < met->count; i++)
    *out_new &= met->hashes[i].low != hash.low || met->hashes[i].high != hash.high;
  if (*out_new)
    met->hashes[met->count++] = hash;
  return MIRAGE_OK;
}

static MirageStatus add(MirageModuleGraphs *graphs, const MirageModuleGraph *varied, uint32_t variant,
                        MirageUGraph *graph, MirageVariants *variants) {
  const MirageModuleGraph *after = variants->num ? &variants->entries[variants->num - 1] : varied;
  MirageModuleGraph entry = {.source = varied->source, .graph = graph};
  char name[300];
  snprintf(name, sizeof name, "%s_%s", varied->name, mirage_layout_variant_name(variant));
  for (char *c = name; *c; c++)
    *c = *c == '-' ? '_' : *c;
  MIRAGE_TRY(mirage__graphs_name(graphs, graph, name, false));
  MIRAGE_TRY(mirage__graphs_append(graphs, graph, after->op, &entry.op));
  entry.name = mirage_ugraph_get_meta(graph)->name;
  variants->entries[variants->num++] = entry;
  return MIRAGE_OK;
}

/// `*out_wanted`: it differs from all before, and is not predicted to be much slower. One without a cost is none, and nobody is told.
static MirageStatus judge(const MirageModuleGraph *varied, const MirageTarget *target, MirageUGraph *graph, Met *met,
                          bool *out_wanted) {
  MirageCost *cost = &mirage_ugraph_meta(graph)->cost;
  MIRAGE_TRY(is_new(met, graph, NULL, out_wanted));
  MirageStatus status = *out_wanted ? mirage__lowered_cost(graph, target, NULL, cost) : MIRAGE_OK;
  *out_wanted &= status == MIRAGE_OK;
  if (status == MIRAGE_NO_MEMORY || status == MIRAGE_CANCELLED)
    return status;
  *out_wanted &= cost->time_us <= most_slower * mirage_ugraph_get_meta(varied->graph)->cost.time_us;
  return MIRAGE_OK;
}

MirageStatus mirage__vary(MirageModuleGraphs *graphs, const MirageModuleGraph *entry, const MirageTarget *target,
                          uint32_t most, MirageVariants *out_variants) {
  Met met = {0};
  bool wanted;
  out_variants->num = 0;
  if (!mirage_layout_is_open(entry->graph))
    return MIRAGE_OK;
  MIRAGE_TRY(is_new(&met, entry->graph, graphs->diag, &wanted));
  for (uint32_t variant = 0; mirage_layout_variant_name(variant) && !mirage__is_interrupted(); variant++) {
    MirageUGraph *graph;
    if (out_variants->num == most || out_variants->num == MIRAGE_MOST_VARIANTS)
      break;
    MirageStatus status = mirage_layout_variant(entry->graph, target, variant, NULL, &graph);
    if (status == MIRAGE_NO_MEMORY)
      return status;
    if (status != MIRAGE_OK || !graph)
      continue; // it does not fit, or is none
    uint32_t before = out_variants->num;
    status = judge(entry, target, graph, &met, &wanted);
    if (status == MIRAGE_OK && wanted)
      status = add(graphs, entry, variant, graph, out_variants);
    if (out_variants->num == before)
      mirage_ugraph_destroy(graph);
    if (status == MIRAGE_CANCELLED) // the variants that are there are enough
      return MIRAGE_OK;
    MIRAGE_TRY(status);
  }
  return MIRAGE_OK;
}

void mirage__variants_deinit(MirageVariants *variants) {
  for (uint32_t i = 0; i < variants->num; i++)
    mirage_ugraph_destroy(variants->entries[i].graph);
  variants->num = 0;
}
