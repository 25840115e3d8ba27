// masked.c - attention under masks: by position, given, and by lengths that are inputs. The search finds their µGraphs.
//
//   causal    key <= query + n - m; q [m, d], k and v [n, d], d = rank
//   window    of these keys, the last ones alone
//   empty     key <= query - m / 2: the first queries see nothing
//   capped    causal, under a soft cap
//   given     a mask i1 [m, n], of which rows may be empty
//   length    key < length, i32 [1, 1]
//   lengths   q [heads, m, d]; a length for each head, i32 [heads, 1, 1]
#include "benchmarks.h"

#include "../unit/block_graphs.h"

// q, k and v, with heads or without.
static MirageUGraph *begin(const char *name, Extents e, bool heads, const MirageDiag *diag, MirageValue in[4]) {
  MirageUGraph *g = mirage_ugraph_create(NULL, name, diag);
  for (uint32_t i = 0; i < 3; i++) {
    int rows = (int)(i ? e.n : e.m);
    in[i] = mirage_ugraph_input(g, heads ? tensor_type(MIRAGE_F16, 3, (int)e.heads, rows, (int)e.rank)
                                         : tensor_type(MIRAGE_F16, 2, rows, (int)e.rank));
  }
  return g;
}

static MirageUGraph *by_position(const char *name, Extents e, int64_t offset, int64_t window, double cap,
                                 const MirageDiag *diag) {
  MirageValue in[4];
  MirageUGraph *g = begin(name, e, false, diag, in);
  const MirageAttrs attrs = {.sdpa = {.scale = 0.5, .cap = cap, .causal = true, .offset = offset, .window = window}};
  return finish_with(g, mirage_ugraph_apply(g, MIRAGE_OP_SDPA, 3, in, &attrs));
}

static MirageUGraph *under(MirageUGraph *g, MirageValue in[4], MirageValue mask) {
  in[3] = mask;
  return finish_with(g, mirage_ugraph_apply(g, MIRAGE_OP_SDPA, 4, in, &(MirageAttrs){.sdpa = {.scale = 0.5}}));
}

// index < length along the last of `rank` dimensions.
static MirageValue below(MirageUGraph *g, Extents e, uint32_t rank, MirageValue length) {
  MirageType type = rank == 3 ? tensor_type(MIRAGE_I32, 3, 1, 1, (int)e.n) : tensor_type(MIRAGE_I32, 2, 1, (int)e.n);
  MirageValue index =
      mirage_ugraph_apply(g, MIRAGE_OP_IOTA, 0, NULL, &(MirageAttrs){.iota = {.type = type, .dim = (int32_t)rank - 1}});
  return op2(g, MIRAGE_OP_LESS, index, length);
}

static MirageUGraph *causal(Extents e, const MirageDiag *diag) {
  return by_position("causal", e, e.n - e.m, 0, 0, diag);
}
static MirageUGraph *window(Extents e, const MirageDiag *diag) {
  return by_position("window", e, e.n - e.m, e.n / 4 + 1, 0, diag);
}
static MirageUGraph *empty(Extents e, const MirageDiag *diag) { return by_position("empty", e, -e.m / 2, 0, 0, diag); }
static MirageUGraph *capped(Extents e, const MirageDiag *diag) {
  return by_position("capped", e, e.n - e.m, 0, 2, diag);
}

static MirageUGraph *given(Extents e, const MirageDiag *diag) {
  MirageValue in[4];
  MirageUGraph *g = begin("given", e, false, diag, in);
  return under(g, in, mirage_ugraph_input(g, tensor_type(MIRAGE_I1, 2, (int)e.m, (int)e.n)));
}

static MirageUGraph *length(Extents e, const MirageDiag *diag) {
  MirageValue in[4];
  MirageUGraph *g = begin("length", e, false, diag, in);
  return under(g, in, below(g, e, 2, mirage_ugraph_input(g, tensor_type(MIRAGE_I32, 2, 1, 1))));
}

static MirageUGraph *lengths(Extents e, const MirageDiag *diag) {
  MirageValue in[4];
  MirageUGraph *g = begin("lengths", e, true, diag, in);
  return under(g, in, below(g, e, 3, mirage_ugraph_input(g, tensor_type(MIRAGE_I32, 3, (int)e.heads, 1, 1))));
}

const MaskedProgram MASKED_PROGRAMS[] = {{"causal", causal},  {"window", window}, {"empty", empty},
                                         {"capped", capped},  {"given", given},   {"length", length},
                                         {"lengths", lengths}};
const uint32_t NUM_MASKED_PROGRAMS = sizeof MASKED_PROGRAMS / sizeof *MASKED_PROGRAMS;
