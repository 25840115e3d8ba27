// mutation.h - every single-place change of a µGraph that could be a slip of a programmer or of a search.
#ifndef MIRAGE_TEST_MUTATION_H
#define MIRAGE_TEST_MUTATION_H

#include "mirage/ugraph.h"

// MUTATION(NAME, "what is changed")
#define MUTATION_TABLE(MUTATION)                                                                                       \
  MUTATION(IMAP, "imap")           /* the dimension that a grid axis splits, in a load */                              \
  MUTATION(OMAP, "omap")           /* the same in a store */                                                           \
  MUTATION(FMAP, "fmap")           /* the dimension that a loop splits */                                              \
  MUTATION(MAP_SWAP, "map swap")   /* what two axes or loops split, exchanged */                                       \
  MUTATION(CYCLIC, "cyclic")       /* whether loops split a dimension before the grid does, or behind it */            \
  MUTATION(FILL, "fill")           /* what a masked element holds */                                                   \
  MUTATION(RANGE, "range")         /* iterations of a loop */                                                          \
  MUTATION(GRID, "grid")           /* blocks along an axis, or of a cluster */                                         \
  MUTATION(COMBINE, "combine")     /* how a carry takes its contribution */                                            \
  MUTATION(DIM, "dim")             /* of a reduction, slice, concat, or concatenating carry */                         \
  MUTATION(EXTENT, "extent")       /* what a reduction leaves, a repeat repeats, a slice cuts */                       \
  MUTATION(PERM, "perm")           /* two entries of a transpose */                                                    \
  MUTATION(TRANSPOSE, "transpose") /* a flag of matmul */                                                              \
  MUTATION(AXES, "axes")           /* of a collective */                                                               \
  MUTATION(CONSTANT, "constant")   /* its value */                                                                     \
  MUTATION(INDEX, "index")         /* where an iota begins, or the steps of a grid axis or loop */                     \
  MUTATION(SWAP, "swap")           /* two operands of a node */                                                        \
  MUTATION(SIBLING, "sibling")     /* the operator, to one of its family */                                            \
  MUTATION(REWIRE, "rewire")       /* an operand, to another visible value of the same type */

typedef enum {
#define MUTATION_ENUM(name, text) MUTATION_##name,
  MUTATION_TABLE(MUTATION_ENUM)
#undef MUTATION_ENUM
      NUM_MUTATIONS
} MutationKind;

typedef struct Mutation {
  MutationKind kind;
  MirageNode node; // where
  uint32_t place;  // grid axis, loop, carry, perm entry, operand ...; the kind says which
  int64_t to;      // the new number
  double value;    // CONSTANT
  MirageOp op;     // SIBLING
} Mutation;

typedef struct MutationList {
  uint32_t count, capacity;
  Mutation *data;
  uint32_t first[NUM_MUTATIONS + 1]; // after sorting by kind: those of kind i are data[first[i] .. first[i + 1])
} MutationList;

const char *mutation_name(MutationKind kind);

/// All mutations of a finished graph, sorted by kind. False when memory is out. Free data with free().
bool mutation_list(const MirageUGraph *graph, MutationList *out_list);

/// The graph with one mutation applied, or NULL when the builder refuses it (its sentence goes to `diag`).
MirageUGraph *mutation_apply(const MirageUGraph *graph, const Mutation *mutation, const MirageDiag *diag);

/// What is changed into what, without node numbers: "load: fmap[0] 1 -> 0". Returns `buffer`.
const char *mutation_describe(const MirageUGraph *graph, const Mutation *mutation, char *buffer, size_t size);

#endif
