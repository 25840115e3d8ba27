// pass_expand.c - mirage-expand: writes sugar as primitive operators.
//
// requires: nothing; provides: programs without softmax, norms, attention and other derived operators, whose predicates are made in
// the shape in which they are read; breaks: nothing.
// Candidates are left alone: their custom kernels hold no sugar. The rules are lib/ugraph/expand.c's; the search
// applies them by itself, so this pass is for reading, and for those who want to start from the primitives.
#include "passes.h"

// A graph with nothing to expand stays the operation that it is, so that MLIR sees that nothing was done.
static MirageStatus expand_graph(MirageModuleGraphs *graphs, MirageModuleGraph *entry) {
  MIRAGE_TRY(mirage__graphs_import(graphs, entry));
  if (!mirage_ugraph_expands(entry->graph))
    return MIRAGE_OK;
  MirageUGraph *expanded = NULL;
  MIRAGE_TRY(mirage_ugraph_expand(entry->graph, graphs->diag, &expanded));
  mirage_ugraph_destroy(entry->graph);
  entry->graph = expanded;
  return mirage__graphs_rewrite(graphs, entry);
}

MirageStatus mirage_pass_expand(MlirOperation module, const void *options, const MirageDiag *diag) {
  (void)options;
  MirageModuleGraphs graphs;
  MirageStatus status = mirage__graphs_init(&graphs, module, diag);
  for (uint32_t i = 0; status == MIRAGE_OK && i < graphs.num_graphs; i++)
    if (!graphs.graphs[i].source)
      status = expand_graph(&graphs, &graphs.graphs[i]);
  mirage__graphs_deinit(&graphs);
  return status;
}
