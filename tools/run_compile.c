// run_compile.c - compiles a graph here: the program's own lowering, and the graph that --graph names.
//
// The module need not be lowered for that, and what it holds of PTX is not looked at.
#include "run.h"

#include "mirage/canonical.h"
#include "mirage/layout.h"

#include <stdlib.h>
#include <string.h>

MirageStatus run_compile(const MirageUGraph *graph, const MirageTarget *target, const MirageDiag *diag,
                         MirageUGraph **out_graph, MirageCode *out_code) {
  const MirageCodegenOptions options = {.opt_level = 3};
  const MirageGraphMeta *meta = mirage_ugraph_get_meta(graph);
  MIRAGE_TRY(mirage_canonicalize(graph, target, diag, out_graph));
  MirageGraphMeta *copy = mirage_ugraph_meta(*out_graph);
  *copy = *meta;
  copy->name = mirage_ugraph_intern_string(*out_graph, meta->name);
  copy->source = meta->source ? mirage_ugraph_intern_string(*out_graph, meta->source) : NULL;
  MIRAGE_TRY(mirage_layout_plan(*out_graph, target, diag));
  return mirage_codegen(*out_graph, target, &options, diag, out_code);
}

MirageStatus run_compile_chosen(RunModule *module, const char *target_name, const MirageDiag *diag) {
  const MirageTarget *target = mirage_target_find(target_name);
  MirageUGraph *compiled = NULL;
  MirageCode code = {0};
  if (!target) {
    char known[512];
    mirage_target_list(target_name, known, sizeof known);
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "--compile: no GPU '%s' is known; known are %s",
                            target_name, known);
  }
  MirageStatus status = run_compile(module->chosen, target, &module->bridge_diag.diag, &compiled, &code);
  if (status == MIRAGE_OK) {
    mirage_ugraph_destroy(module->chosen);
    module->chosen = compiled;
    module->target = target;
    module->ptx = code.ptx;
    code.ptx = NULL;
    strncpy(module->chip, target->chip, sizeof module->chip - 1);
  } else {
    mirage_ugraph_destroy(compiled);
  }
  mirage_code_deinit(&code);
  return status;
}
