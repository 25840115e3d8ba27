// tuned.c - what select asks of the tuning database, and gives to it.
//
// Key:    the hash of the program's structure (lib/ugraph/ugraph_hash.c), so that names and locations do not matter; the target; the
//         options that change code; our version; the GPU and its driver, where there is a GPU: another driver compiles
//         the same PTX to other code. Without a GPU the newest record for the target is taken, whichever GPU it is
//         from.
// Value:  the fastest graph as text, or the own lowering; and what was measured of all.
// Code:   what was measured (mirage_code_hash): where it would be compiled to something else today, nobody has measured that,
//         and the record is not used (select_measured.c). So no version number has to be changed with the code generator.
// A stored graph is not trusted: it is proven again before it is used (select.c).
#define _POSIX_C_SOURCE 200809L // gmtime_r
#include "measure.h"

#include "mlir-c/BuiltinAttributes.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char OPTIONS[] = "opt-level=3"; // of measure.c

// -------------------------------------------------------------------------------------------------------------
// database

static void warn_once(void *user, MirageSeverity severity, const void *loc, const char *message) {
  MirageTuned *tuned = user;
  if (!tuned->broken)
    mirage_diag_emit(tuned->diag, MIRAGE_SEVERITY_WARNING, loc, "%s; going on without it", message);
  tuned->broken = true;
}

/// NULL where it cannot be had, which is a warning the first time, or where it is not there yet.
static MirageTuning *open_database(MirageTuned *tuned, bool writes) {
  const MirageDiag sink = {warn_once, tuned};
  MirageTuning *tuning = NULL;
  if (tuned->broken)
    return NULL;
  char *path = mirage_tuning_path();
  if (path)
    mirage_tuning_open(path, writes, &sink, &tuning);
  else if (writes)
    mirage_diag_emit(&sink, MIRAGE_SEVERITY_ERROR, NULL,
                     "tuning database: no place for it: MIRAGE_TUNING_DB, XDG_CACHE_HOME or HOME names one");
  free(path);
  return tuning;
}

MirageStatus mirage__hash_text(const MirageUGraph *graph, const MirageDiag *diag, char out_text[33]) {
  MirageGraphHash hash;
  MIRAGE_TRY(mirage_ugraph_hash(graph, diag, &hash));
  snprintf(out_text, 33, "%016" PRIx64 "%016" PRIx64, hash.high, hash.low);
  return MIRAGE_OK;
}

static MirageTuningRecord key_of(const MirageTuned *tuned, const char *hash) {
  return (MirageTuningRecord){.graph = hash,
                              .target = tuned->target->name,
                              .options = OPTIONS,
                              .version = MIRAGE_VERSION,
                              .gpu = tuned->has_gpu ? tuned->gpu.name : NULL,
                              .driver = tuned->has_gpu ? tuned->gpu.driver_version : 0};
}

MirageStatus mirage__tuned_find(MirageTuned *tuned, const MirageModuleGraph *program, MirageTuningRecord **out_record) {
  const MirageDiag sink = {warn_once, tuned};
  char hash[33];
  *out_record = NULL;
  MIRAGE_TRY(mirage__hash_text(program->graph, tuned->diag, hash));
  MirageTuning *tuning = open_database(tuned, false);
  if (!tuning)
    return MIRAGE_OK;
  MirageTuningRecord key = key_of(tuned, hash);
  MirageStatus status = mirage_tuning_find(tuning, &key, &sink, out_record);
  mirage_tuning_close(tuning);
  return status == MIRAGE_NO_MEMORY ? status : MIRAGE_OK;
}

// --------------------------------------------------------------------------------------------------------------
// storing

static void append_text(MlirStringRef part, void *user) {
  char **text = user;
  size_t used = *text ? strlen(*text) : 0;
  char *grown = realloc(*text, used + part.length + 1);
  if (!grown)
    return;
  memcpy(grown + used, part.data, part.length);
  grown[used + part.length] = '\0';
  *text = grown;
}

/// The graph alone: no proof, no cost, no source. The caller frees it.
static MirageStatus print_graph(MirageModuleGraphs *graphs, const MirageModuleGraph *entry, char **out_text) {
  MlirLocation loc = mlirLocationUnknownGet(mlirOperationGetContext(entry->op));
  MlirModule module = mlirModuleCreateEmpty(loc);
  MirageUGraph *copy = NULL;
  MlirOperation op;
  MirageStatus status = mirage_ugraph_clone(entry->graph, graphs->diag, &copy);
  if (status == MIRAGE_OK) {
    *mirage_ugraph_meta(copy) = (MirageGraphMeta){.name = mirage_ugraph_intern_string(copy, entry->name)};
    status = mirage_bridge_export(copy, mlirOperationGetContext(entry->op), mlirModuleGetBody(module), loc,
                                  graphs->diag, &op);
  }
  if (status == MIRAGE_OK) {
    mlirOperationPrint(op, append_text, out_text);
    status = *out_text ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  }
  mirage_ugraph_destroy(copy);
  mlirModuleDestroy(module);
  return status;
}

static json_t *json_of(const MirageMeasurement *one, const char *hash) {
  const MirageCost *cost = &mirage_ugraph_get_meta(one->entry->graph)->cost;
  json_t *object = json_pack("{s:s, s:s, s:f, s:b}", "name", one->entry->name, "hash", hash, "predicted_us",
                             cost->time_us, "ok", one->ok);
  if (object && one->ok) {
    json_object_set_new(object, "us", json_real(one->us));
    json_object_set_new(object, "spread", json_real(one->spread));
    json_object_set_new(object, "own_us", json_real(one->own_us));
    json_object_set_new(object, "own_spread", json_real(one->own_spread));
    json_object_set_new(object, "error", isfinite(one->error) ? json_real(one->error) : json_null());
    if (one->own_wrong)
      json_object_set_new(object, "own_error", isfinite(one->own_error) ? json_real(one->own_error) : json_null());
    if (one->spilled_bytes)
      json_object_set_new(object, "spilled_bytes", json_integer(one->spilled_bytes));
  } else if (object) {
    json_object_set_new(object, "reason", json_string(one->reason));
  }
  return object;
}

/// What was measured, the own lowering first.
static MirageStatus describe(const MirageTuningRecord *record, double own_predicted_us, uint32_t num,
                             const MirageMeasurement *measurements, const MirageDiag *diag, char **out_text) {
  json_t *all = json_array();
  json_array_append_new(all, json_pack("{s:s, s:s, s:f, s:b, s:f, s:f}", "name", "", "hash", "", "predicted_us",
                                       isfinite(own_predicted_us) ? own_predicted_us : 0, "ok", true, "us",
                                       record->own_us, "spread", record->own_spread));
  for (uint32_t i = 0; i < num; i++) {
    char hash[33];
    MirageStatus status = mirage__hash_text(measurements[i].entry->graph, diag, hash);
    if (status != MIRAGE_OK || json_array_append_new(all, json_of(&measurements[i], hash)) != 0) {
      json_decref(all);
      return MIRAGE_NO_MEMORY;
    }
  }
  *out_text = json_dumps(all, JSON_COMPACT | JSON_PRESERVE_ORDER);
  json_decref(all);
  return *out_text ? MIRAGE_OK : MIRAGE_NO_MEMORY;
}

static double median_own(uint32_t num, const MirageMeasurement *measurements, double *out_spread) {
  double times[MIRAGE_MOST_MEASURED], spreads[MIRAGE_MOST_MEASURED];
  uint32_t count = 0;
  for (uint32_t i = 0; i < num && i < MIRAGE_MOST_MEASURED; i++)
    if (measurements[i].ok) {
      uint32_t at = count++;
      for (; at > 0 && times[at - 1] > measurements[i].own_us; at--) {
        times[at] = times[at - 1];
        spreads[at] = spreads[at - 1];
      }
      times[at] = measurements[i].own_us;
      spreads[at] = measurements[i].own_spread;
    }
  *out_spread = count ? spreads[count / 2] : 0;
  return count ? times[count / 2] : 0;
}

static void store(MirageTuned *tuned, const MirageTuningRecord *record) {
  const MirageDiag sink = {warn_once, tuned};
  MirageTuning *tuning = open_database(tuned, true);
  if (tuning)
    mirage_tuning_store(tuning, record, &sink);
  mirage_tuning_close(tuning);
}

static void now_text(char *text, size_t size) {
  time_t now = time(NULL);
  struct tm utc;
  strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
}

MirageStatus mirage__tuned_store(MirageTuned *tuned, MirageModuleGraphs *graphs, const MirageModuleGraph *program,
                                 double own_predicted_us, uint32_t num, const MirageMeasurement *measurements,
                                 const MirageMeasurement *chosen) {
  char hash[33], choice[33] = "", code[33], date[32];
  char *text = NULL, *measured = NULL;
  now_text(date, sizeof date);
  MIRAGE_TRY(mirage__hash_text(program->graph, graphs->diag, hash));
  MirageTuningRecord record = key_of(tuned, hash);
  record.date = date;
  record.hash = choice;
  record.choice = chosen ? chosen->entry->name : "";
  record.code = code;
  mirage__code_text(measurements[0].own_code, chosen ? chosen->code : 0, code);
  record.own_us = median_own(num, measurements, &record.own_spread);
  if (chosen) { // what it was beside
    record.own_us = chosen->own_us;
    record.own_spread = chosen->own_spread;
  }
  record.time_us = chosen ? chosen->us : record.own_us;
  record.spread = chosen ? chosen->spread : record.own_spread;
  MirageStatus status = describe(&record, own_predicted_us, num, measurements, graphs->diag, &measured);
  if (status == MIRAGE_OK && chosen)
    status = mirage__hash_text(chosen->entry->graph, graphs->diag, choice);
  if (status == MIRAGE_OK && chosen)
    status = print_graph(graphs, chosen->entry, &text);
  record.text = text ? text : "";
  record.measured = measured;
  if (status == MIRAGE_OK)
    store(tuned, &record);
  free(text);
  free(measured);
  return status;
}

// -------------------------------------------------------------------------------------------------------------
// inserting

static bool same_types(const MirageUGraph *a, const MirageUGraph *b) {
  bool same = mirage_ugraph_num_inputs(a) == mirage_ugraph_num_inputs(b) &&
              mirage_ugraph_num_outputs(a) == mirage_ugraph_num_outputs(b);
  for (uint32_t i = 0; same && i < mirage_ugraph_num_inputs(a); i++)
    same = mirage_type_same_meaning(mirage_ugraph_type(a, mirage_ugraph_get_input(a, i)),
                                    mirage_ugraph_type(b, mirage_ugraph_get_input(b, i)));
  for (uint32_t i = 0; same && i < mirage_ugraph_num_outputs(a); i++)
    same = mirage_type_same_meaning(mirage_ugraph_type(a, mirage_ugraph_get_output(a, i)),
                                    mirage_ugraph_type(b, mirage_ugraph_get_output(b, i)));
  return same;
}

/// The text parsed, as the only graph of a module that the caller destroys; NULL where it is none.
static MirageStatus parse_graph(MirageModuleGraphs *graphs, const char *text, MirageUGraph **out_graph) {
  MlirModule module =
      mlirModuleCreateParse(mlirOperationGetContext(graphs->module), mlirStringRefCreateFromCString(text));
  MirageModuleGraphs parsed;
  *out_graph = NULL;
  if (mlirModuleIsNull(module))
    return MIRAGE_OK;
  MirageStatus status = mirage__graphs_init(&parsed, mlirModuleGetOperation(module), NULL);
  if (status == MIRAGE_OK && parsed.num_graphs == 1) {
    status = mirage__graphs_import(&parsed, &parsed.graphs[0]);
    if (status == MIRAGE_OK)
      status = mirage_ugraph_clone(parsed.graphs[0].graph, graphs->diag, out_graph); // its locations go with the module
  }
  mirage__graphs_deinit(&parsed);
  mlirModuleDestroy(module);
  return status == MIRAGE_NO_MEMORY ? status : MIRAGE_OK;
}

/// Makes `graph` an entry of the table, which grows.
static MirageStatus append_entry(MirageModuleGraphs *graphs, const MirageModuleGraph *program, MirageUGraph *graph,
                                 MirageModuleGraph **out_entry) {
  MirageGraphMeta *meta = mirage_ugraph_meta(graph);
  char base[300];
  snprintf(base, sizeof base, "%s_tuned", program->name);
  *meta = (MirageGraphMeta){.source = mirage_ugraph_intern_string(graph, program->name)};
  MIRAGE_TRY(mirage__graphs_name(graphs, graph, base, false));
  MirageModuleGraph *entry = mirage_arena_alloc(&graphs->arena, sizeof *entry);
  if (!entry || !meta->source)
    return MIRAGE_NO_MEMORY;
  *entry = (MirageModuleGraph){.graph = graph};
  entry->name = mirage_arena_strdup(&graphs->arena, meta->name);
  entry->source = mirage_arena_strdup(&graphs->arena, meta->source);
  MIRAGE_TRY(mirage__graphs_append(graphs, graph, program->op, &entry->op));
  *out_entry = entry;
  return MIRAGE_OK;
}

MirageStatus mirage__tuned_insert(MirageTuned *tuned, MirageModuleGraphs *graphs, const MirageModuleGraph *program,
                                  const MirageTuningRecord *record, MirageModuleGraph **out_entry) {
  MirageUGraph *graph;
  *out_entry = NULL;
  MIRAGE_TRY(parse_graph(graphs, record->text, &graph));
  MirageStatus status = MIRAGE_OK;
  if (graph && same_types(program->graph, graph)) {
    status = append_entry(graphs, program, graph, out_entry);
    if (status == MIRAGE_OK)
      return MIRAGE_OK;
  } else {
    mirage_diag_emit(tuned->diag, MIRAGE_SEVERITY_WARNING, mirage__graph_loc(program),
                     "@%s: the graph that the tuning database holds for it cannot be read or has other inputs and "
                     "outputs; mirage-tune clear %s forgets it",
                     program->name, record->graph);
  }
  mirage_ugraph_destroy(graph);
  return status;
}
