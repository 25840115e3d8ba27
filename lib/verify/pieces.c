// pieces.c - proves a pair piece by piece, where the whole has no useful bound.
//
// Cuts:      both graphs are evaluated at a random point under each theorem (pieces_digest.c). A tensor at the kernel
//            level of the target whose residues are those of one of the source, under either, is a cut: presumably the
//            same function of the inputs, a presumption that is proven like anything else, whatever the order of the
//            operators.
// A piece:   shows that one cut, or one output, is the same function in both graphs of the inputs and of cuts that have
//            been shown before - its frontier, which stands for them as fresh random inputs of both. Where the graphs
//            reach different cuts, those in only one of them are walked through.
// Together:  by induction over the pieces, cuts and outputs are the same functions of the inputs. A piece that fails
//            proves nothing: its tensor is no cut then, and the pair may be equivalent all the same.
//
// Example:   v4 = x + silu(norm(x) w); v8 = v4 + silu(norm(v4) w); ...: fifteen such layers have useless degrees, each
//            for itself, with v4 and v8 as inputs, has 2.
#include "pieces_digest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Pieces {
  const MirageUGraph *graphs[2]; // source, target
  const MirageVerifyOptions *options;
  uint64_t *digests[2][2]; // of each graph under each theorem: [num_values + 1], of kernel-level tensors; 0 = none
  uint32_t *cuts[2];       // [num_values + 1]: the source's tensor that a value equals, 0 = none
  bool *proven;            // [num_values + 1] of the target
  bool *of_predicates;     // [num_values + 1] of the source: no cut
  // of one piece
  bool *allowed;      // [num_values + 1] of the source: may be a frontier
  bool *reached[2];   // [num_values + 1]: values that the goal is computed from, the frontier among them
  bool *frontier[2];  // [num_values + 1] of the source: cuts where the walk has stopped
  MirageValue *stack; // [num_values + 1] of the larger graph
  uint32_t num_attempts, most_attempts; // pieces tried so far, and that may be tried
  double wanted;                        // log2 bound of each
  MirageProof proof;                    // of those that went into the result
} Pieces;

// -------------------------------------------------------------------------------------------------------------- cuts

static MirageRegionView body_of(const MirageUGraph *graph) {
  return mirage_ugraph_region(graph, mirage_ugraph_body(graph));
}

static bool agree(const Pieces *pieces, uint32_t source, uint32_t target) {
  for (int free_exp = 0; free_exp <= 1; free_exp++)
    if (pieces->digests[1][free_exp][target] &&
        pieces->digests[1][free_exp][target] == pieces->digests[0][free_exp][source])
      return true;
  return false;
}

// Which tensors of the source no number goes into: only predicates, indices and constants. What stands for such a tensor in a piece would
// not know its mask any more.
static void find_predicates(Pieces *pieces) {
  const MirageUGraph *source = pieces->graphs[0];
  MirageRegionView body = body_of(source);
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(source); i++) {
    MirageValue input = mirage_ugraph_get_input(source, i);
    pieces->of_predicates[input.index] = mirage_ugraph_is_logical(source, input);
  }
  for (uint32_t n = 0; n + 1 < body.num_nodes; n++) {
    MirageNodeView node = mirage_ugraph_node(source, body.nodes[n]);
    bool all = true;
    for (uint32_t i = 0; i < node.num_operands; i++)
      all = all && pieces->of_predicates[node.operands[i].index];
    for (uint32_t r = 0; r < node.num_results; r++)
      pieces->of_predicates[node.first_result.index + r] = all;
  }
}

// Each tensor of the target is a cut with the first of the source that has its digest and shape.
static uint32_t match(Pieces *pieces) {
  uint32_t count = 0;
  for (uint32_t t = 1; t <= mirage_ugraph_num_values(pieces->graphs[1]); t++) {
    const MirageType *type = mirage_ugraph_type(pieces->graphs[1], (MirageValue){t});
    for (uint32_t s = 1; s <= mirage_ugraph_num_values(pieces->graphs[0]); s++) {
      if (!agree(pieces, s, t) ||
          !mirage_type_same_shape(type, mirage_ugraph_type(pieces->graphs[0], (MirageValue){s})) ||
          pieces->of_predicates[s])
        continue;
      pieces->cuts[0][s] = pieces->cuts[1][t] = s;
      count++;
      break;
    }
  }
  return count;
}

// ------------------------------------------------------------------------------------------------------------ frontier

static bool stops(const Pieces *pieces, int g, MirageValue v) {
  uint32_t cut = pieces->cuts[g][v.index];
  return cut && pieces->allowed[cut] && (g == 0 || pieces->proven[v.index]);
}

// Walks back from the goal to inputs and cuts.
static void walk(Pieces *pieces, int g, MirageValue goal) {
  const MirageUGraph *graph = pieces->graphs[g];
  uint32_t height = 0;
  memset(pieces->reached[g], 0, mirage_ugraph_num_values(graph) + 1);
  memset(pieces->frontier[g], 0, mirage_ugraph_num_values(pieces->graphs[0]) + 1);
  pieces->stack[height++] = goal;
  pieces->reached[g][goal.index] = true;
  while (height) {
    MirageValue v = pieces->stack[--height];
    if (v.index != goal.index && stops(pieces, g, v)) {
      pieces->frontier[g][pieces->cuts[g][v.index]] = true;
      continue;
    }
    MirageNode def = mirage_ugraph_def(graph, v);
    MirageNodeView node = mirage_ugraph_node(graph, def);
    for (uint32_t i = 0; def.index && i < node.num_operands; i++) {
      MirageValue operand = node.operands[i];
      if (!pieces->reached[g][operand.index])
        pieces->stack[height++] = operand;
      pieces->reached[g][operand.index] = true;
    }
  }
}

// Finds the frontier that both walks share. Of the cuts that only one of them meets, the source's last is given up: what that walk meets
// behind it may be what the other has met.
static void find_frontier(Pieces *pieces, const MirageValue goals[2]) {
  uint32_t values = mirage_ugraph_num_values(pieces->graphs[0]), last;
  memset(pieces->allowed, true, values + 1);
  do {
    last = 0;
    for (int g = 0; g < 2; g++)
      walk(pieces, g, goals[g]);
    for (uint32_t s = 1; s <= values; s++)
      if (pieces->frontier[0][s] != pieces->frontier[1][s])
        last = s;
    pieces->allowed[last] = false;
  } while (last);
}

// --------------------------------------------------------------------------------------------------------------- piece

// Whether one of the two walks has met that input. Others get no random numbers: with a hundred products that share
// nothing, each would be drawn a hundred times.
static bool is_needed(const Pieces *pieces, uint32_t input) {
  bool needed = false;
  for (int g = 0; g < 2; g++)
    needed |= pieces->reached[g][mirage_ugraph_get_input(pieces->graphs[g], input).index];
  return needed;
}

// The inputs of a piece: the graph's own that one of the two reads, then the frontier in the source's order. Values of the target
// that equal one cut may differ in element type.
static void add_inputs(const Pieces *pieces, int g, MirageUGraph *piece, MirageValue *map) {
  const MirageUGraph *graph = pieces->graphs[g];
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(graph); i++) {
    MirageValue input = mirage_ugraph_get_input(graph, i);
    if (is_needed(pieces, i))
      map[input.index] = mirage_ugraph_input(piece, *mirage_ugraph_type(graph, input));
  }
  for (uint32_t s = 1; s <= mirage_ugraph_num_values(pieces->graphs[0]); s++) {
    MirageValue input = {0};
    for (uint32_t v = 1; pieces->frontier[0][s] && v <= mirage_ugraph_num_values(graph); v++)
      if (pieces->reached[g][v] && pieces->cuts[g][v] == s && stops(pieces, g, (MirageValue){v})) {
        if (!input.index)
          input = mirage_ugraph_input(piece, *mirage_ugraph_type(graph, (MirageValue){v}));
        map[v] = input;
      }
  }
}

static void copy_needed(const Pieces *pieces, int g, MirageUGraph *piece, MirageValue goal, MirageValue *map) {
  const MirageUGraph *graph = pieces->graphs[g];
  MirageRegionView body = body_of(graph);
  for (uint32_t i = 0; i + 1 < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    bool needed = false;
    for (uint32_t r = 0; r < node.num_results; r++) {
      MirageValue v = {node.first_result.index + r};
      needed = needed || (pieces->reached[g][v.index] && (v.index == goal.index || !stops(pieces, g, v)));
    }
    if (!needed)
      continue;
    MirageValue kept[16]; // a cut may be one of several results
    uint32_t results = node.num_results < 16 ? node.num_results : 16;
    memcpy(kept, map + node.first_result.index, results * sizeof *kept);
    mirage_ugraph_copy_nodes(piece, graph, 1, &body.nodes[i], map);
    for (uint32_t r = 0; r < results; r++)
      if (kept[r].index && node.first_result.index + r != goal.index)
        map[node.first_result.index + r] = kept[r];
  }
}

static MirageUGraph *build_piece(const Pieces *pieces, int g, MirageValue goal) {
  const MirageUGraph *graph = pieces->graphs[g];
  MirageUGraph *piece = mirage_ugraph_create(NULL, "piece", NULL);
  MirageValue *map = calloc(mirage_ugraph_num_values(graph) + 1, sizeof *map);
  bool ok = piece && map;
  if (ok) {
    add_inputs(pieces, g, piece, map);
    copy_needed(pieces, g, piece, goal, map);
    mirage_ugraph_return(piece, 1, &map[goal.index]);
    ok = mirage_ugraph_finish(piece) == MIRAGE_OK;
  }
  free(map);
  if (!ok) {
    mirage_ugraph_destroy(piece);
    return NULL;
  }
  return piece;
}

// The bounds of pieces add up, whatever else of them is the worst.
static void add_proof(MirageProof *sum, const MirageProof *piece) {
  double bound = sum->pieces ? log2(exp2(sum->log2_bound) + exp2(piece->log2_bound)) : piece->log2_bound;
  uint32_t pieces = sum->pieces + 1;
  MirageProof worst = sum->pieces ? *sum : *piece;
  worst.trials = piece->trials > worst.trials ? piece->trials : worst.trials;
  worst.q = piece->q ? piece->q : worst.q;
  worst.free_exp |= piece->free_exp;
  worst.shrunken |= piece->shrunken;
  worst.axes = piece->axes > worst.axes ? piece->axes : worst.axes;
  worst.points = piece->points > worst.points ? piece->points : worst.points;
  worst.degree = piece->degree > worst.degree ? piece->degree : worst.degree;
  worst.calls = piece->calls > worst.calls ? piece->calls : worst.calls;
  worst.log2_terms = piece->log2_terms > worst.log2_terms ? piece->log2_terms : worst.log2_terms;
  worst.log2_bound = bound;
  worst.pieces = pieces;
  *sum = worst;
}

// What a trial says of itself, and of which piece.
static void say_piece(void *user, const MirageVerifyProgress *at) {
  const Pieces *pieces = user;
  MirageVerifyProgress here = *at;
  here.piece = pieces->num_attempts;
  here.pieces = pieces->most_attempts;
  pieces->options->progress(pieces->options->user, &here);
}

// Each attempt has trials of its own: what came out of earlier ones says nothing about its points.
static MirageStatus prove(Pieces *pieces, MirageValue source, MirageValue target, bool *out_proven) {
  const MirageValue goals[2] = {source, target};
  MirageVerifyOptions options = *pieces->options;
  MirageVerdict verdict = {.kind = MIRAGE_VERDICT_UNSUPPORTED};
  uint32_t stride = options.trials > VERIFY_MOST_TRIALS ? options.trials : VERIFY_MOST_TRIALS;
  find_frontier(pieces, goals);
  MirageUGraph *left = build_piece(pieces, 0, source), *right = build_piece(pieces, 1, target);
  options.first_trial += stride * ++pieces->num_attempts;
  options.log2_bound = pieces->wanted;
  if (options.progress) {
    options.progress = say_piece;
    options.user = pieces;
  }
  MirageStatus status = left && right ? mirage__verify_for_masks(left, right, &options, &verdict) : MIRAGE_OK;
  mirage_ugraph_destroy(left);
  mirage_ugraph_destroy(right);
  *out_proven = status == MIRAGE_OK && verdict.kind == MIRAGE_VERDICT_EQUIVALENT;
  if (*out_proven)
    add_proof(&pieces->proof, &verdict.proof);
  return status;
}

static MirageStatus prove_all(Pieces *pieces, bool *out_proven) {
  const MirageUGraph *source = pieces->graphs[0], *target = pieces->graphs[1];
  find_predicates(pieces);
  uint32_t outputs = mirage_ugraph_num_outputs(source), count = match(pieces);
  *out_proven = count > 0;
  pieces->most_attempts = count + outputs;
  pieces->wanted = mirage__verify_asked(pieces->options) - log2((double)count + outputs);
  for (uint32_t t = 1; t <= mirage_ugraph_num_values(target); t++)
    if (pieces->cuts[1][t])
      MIRAGE_TRY(prove(pieces, (MirageValue){pieces->cuts[1][t]}, (MirageValue){t}, &pieces->proven[t]));
  for (uint32_t o = 0; o < outputs && *out_proven; o++) {
    MirageValue s = mirage_ugraph_get_output(source, o), t = mirage_ugraph_get_output(target, o);
    if (!(pieces->proven[t.index] && pieces->cuts[1][t.index] == s.index))
      MIRAGE_TRY(prove(pieces, s, t, out_proven));
  }
  return MIRAGE_OK;
}

static bool alloc(Pieces *pieces) {
  size_t most = 0, values[2];
  for (int g = 0; g < 2; g++) {
    values[g] = mirage_ugraph_num_values(pieces->graphs[g]) + 1;
    most = values[g] > most ? values[g] : most;
  }
  for (int g = 0; g < 2; g++) {
    for (int free_exp = 0; free_exp <= 1; free_exp++)
      pieces->digests[g][free_exp] = calloc(values[g], sizeof *pieces->digests[g][free_exp]);
    pieces->cuts[g] = calloc(values[g], sizeof *pieces->cuts[g]);
    pieces->reached[g] = calloc(values[g], sizeof(bool));
    pieces->frontier[g] = calloc(values[0], sizeof(bool));
  }
  pieces->proven = calloc(values[1], sizeof(bool));
  pieces->of_predicates = calloc(values[0], sizeof(bool));
  pieces->allowed = calloc(values[0], sizeof(bool));
  pieces->stack = calloc(most, sizeof *pieces->stack);
  bool ok = pieces->proven && pieces->of_predicates && pieces->allowed && pieces->stack;
  for (int g = 0; g < 2; g++)
    ok = ok && pieces->digests[g][0] && pieces->digests[g][1] && pieces->cuts[g] && pieces->reached[g] &&
         pieces->frontier[g];
  return ok;
}

static void release(Pieces *pieces) {
  for (int g = 0; g < 2; g++) {
    free(pieces->digests[g][0]);
    free(pieces->digests[g][1]);
    free(pieces->cuts[g]);
    free(pieces->reached[g]);
    free(pieces->frontier[g]);
  }
  free(pieces->proven);
  free(pieces->of_predicates);
  free(pieces->allowed);
  free(pieces->stack);
}

MirageStatus mirage__verify_pieces(const MirageUGraph *source, const MirageUGraph *target,
                                   const MirageVerifyOptions *options, MirageVerdict *verdict) {
  Pieces pieces = {.graphs = {source, target}, .options = options};
  bool proven = false;
  MirageStatus status = alloc(&pieces) ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK)
    status = mirage__verify_digests(pieces.graphs, options, pieces.digests);
  if (status == MIRAGE_OK)
    status = prove_all(&pieces, &proven);
  release(&pieces);
  if (status == MIRAGE_OK && proven) {
    verdict->kind = MIRAGE_VERDICT_EQUIVALENT;
    verdict->proof = pieces.proof;
  }
  return status == MIRAGE_NO_MEMORY || status == MIRAGE_CANCELLED
             ? status
             : MIRAGE_OK; // what cannot be evaluated is somebody else's verdict
}
