// search_homes.c - where pieces of a program meet: which views belong to who computes a value, which to who reads it.
//
// A view is no work, so that it belongs to no piece: whoever reads a value sees it as it wants, and two readers may see
// it in two ways. But what a kernel stores has one order in memory, its home. Usually that is what was computed. Where
// only views follow one another, the home is the first of them that its reader can see the last one in, and that can
// be stored; behind the last piece it is the program's output.
//
// Example:  heads of q = x @ w, [S, H D], are [S, H, D], then [H, S, D]: q is stored as it is, attention sees its
//           heads. What attention computes, [H, S, D], must be [S, H D] for the next product, which no view of it is:
//           so it is stored like that.
#include "search/pieces/search_partition.h"
#include "search/views/search_view.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_CHAIN = 16 };

typedef struct Reader { // of a value: how many there are, the last one, and whether it is an output
  uint32_t count;
  MirageNode node;
  bool output;
} Reader;

// What is behind `values[from]` when the views up to `values[to]` follow, or before it when they are undone.
static bool follows(const MirageUGraph *program, const MirageValue *values, uint32_t from, uint32_t to) {
  View view = mirage__view_whole(mirage_ugraph_type(program, values[from]));
  bool swapped;
  for (uint32_t i = from + 1; i <= to; i++) {
    MirageNodeView node = mirage_ugraph_node(program, mirage_ugraph_def(program, values[i]));
    if (!mirage__view_after(&view, &node, mirage_ugraph_type(program, values[i])))
      return false;
  }
  return mirage__view_is_loadable(&view, &swapped);
}

static bool precedes(const MirageUGraph *program, const MirageValue *values, uint32_t from) {
  View view = mirage__view_whole(mirage_ugraph_type(program, values[from]));
  for (uint32_t i = from; i > 0; i--) {
    MirageNodeView node = mirage_ugraph_node(program, mirage_ugraph_def(program, values[i]));
    if (!mirage__view_before(&view, &node, mirage_ugraph_type(program, values[i - 1])))
      return false;
  }
  return mirage__view_has_rows(&view);
}

static MirageValue home_of(const MirageUGraph *program, const Reader *readers, MirageValue value) {
  MirageValue chain[MAX_CHAIN] = {value};
  uint32_t last = 0;
  while (last + 1 < MAX_CHAIN && readers[chain[last].index].count == 1 && readers[chain[last].index].node.index) {
    MirageNodeView node = mirage_ugraph_node(program, readers[chain[last].index].node);
    if (node.op != MIRAGE_OP_RESHAPE && node.op != MIRAGE_OP_TRANSPOSE)
      break;
    chain[++last] = node.first_result;
  }
  if (readers[chain[last].index].output && readers[chain[last].index].count == 1)
    return chain[last];
  for (uint32_t i = 0; i <= last; i++)
    if (follows(program, chain, i, last) && precedes(program, chain, i))
      return chain[i];
  return value;
}

static Reader *find_readers(const MirageUGraph *program) {
  Reader *readers = calloc((size_t)mirage_ugraph_num_values(program) + 1, sizeof *readers);
  MirageRegionView body = mirage_ugraph_region(program, mirage_ugraph_body(program));
  for (uint32_t n = 0; readers && n < body.num_nodes; n++) {
    MirageNodeView node = mirage_ugraph_node(program, body.nodes[n]);
    for (uint32_t k = 0; k < node.num_operands; k++) {
      Reader *reader = &readers[node.operands[k].index];
      reader->count++;
      reader->output |= node.op == MIRAGE_OP_RETURN;
      reader->node = node.op == MIRAGE_OP_RETURN ? (MirageNode){0} : body.nodes[n];
    }
  }
  return readers;
}

MirageStatus mirage__homes_find(const MirageUGraph *program, MirageValue *root, MirageValue *home) {
  Reader *readers = find_readers(program);
  if (!readers)
    return MIRAGE_NO_MEMORY;
  for (uint32_t v = 1; v <= mirage_ugraph_num_values(program); v++) { // operands have smaller numbers
    MirageNode def = mirage_ugraph_def(program, (MirageValue){v});
    bool step = def.index && mirage__view_is_step(mirage_ugraph_node(program, def).op);
    root[v] = step ? root[mirage_ugraph_node(program, def).operands[0].index] : (MirageValue){v};
    home[v] = step || !def.index ? (MirageValue){v} : home_of(program, readers, (MirageValue){v});
  }
  free(readers);
  return MIRAGE_OK;
}
