// kernel_graphs.h - the graphs that mirage-kernel-test compiles, runs and compares.
#ifndef MIRAGE_TEST_KERNEL_GRAPHS_H
#define MIRAGE_TEST_KERNEL_GRAPHS_H

#include "mirage/ugraph.h"

typedef struct KernelCase {
  const char *name;
  void (*build)(MirageUGraph *graph, const struct KernelCase *c);
  MirageDType dtype;
  int64_t p[8];     // sizes, as `build` reads them
  double offset;    // added to the normal random inputs (functions that need positive arguments)
  double tolerance; // Frobenius-relative; 0 = by element type
  bool hopper;      // needs the shared memory of an sm_90 block
} KernelCase;

/// Forms of copied_linear (copy_graphs.c).
enum {
  COPY_ROLES = 1,
  COPY_BULK = 2,
  COPY_TRANSPOSE_A = 4,
  COPY_TRANSPOSE_B = 8,
  COPY_PERSISTENT = 16,
  COPY_MULTICAST = 32,
  COPY_EIGHT_WARPS = 64,
  COPY_ASYNC = 128,
  COPY_SECOND_ASYNC = 256,
  COPY_ROWS = 512,
  COPY_GROUPED = 1024,
  COPY_SMALL_PRODUCER = 2048,
  COPY_OUTSIDE = 4096,
  COPY_CLUSTER_SUM = 8192, // two blocks share the contraction; not with COPY_PERSISTENT
};
void copied_linear(MirageUGraph *graph, const KernelCase *c);

/// Forms of overlapped_attention (overlap_graphs.c).
enum {
  OVERLAP_TURNS = 1,
  OVERLAP_KEYS_BY_ROWS = 2,   // k is [heads, keys, depth]
  OVERLAP_MASK = 4,           // keys beyond the last are masked by a tile of 0 and bottom
  OVERLAP_HEADS_IN_BLOCK = 8, // a block computes all heads, one after the other
  OVERLAP_ASYNC_QUERIES = 16, // by the workers themselves, before the loop
  OVERLAP_ALONE = 32,         // without a producer: warps give tiles back to one of them
  OVERLAP_NONE = 64,          // each product is waited for
  OVERLAP_INDEX = 128,        // scores are scaled, and keys beyond the last are told by their index
  OVERLAP_NEGATIVE = 256,     // scaled by a negative number
  OVERLAP_PAIRS = 512,        // two blocks share the copies of keys and values
  OVERLAP_FIRST = 1024,       // maxima of the first tile alone
  OVERLAP_STEEP = 2048,       // with OVERLAP_INDEX: scores so large that their exponentials overflow
};
void overlapped_attention(MirageUGraph *graph, const KernelCase *c);

/// Attention (attention_graphs.c). Whether the parts of keys meet in the grid, there narrowed, or in a cluster.
void attention(MirageUGraph *graph, const KernelCase *c);
void attention_grid(MirageUGraph *graph, const KernelCase *c);
void attention_grid_narrow(MirageUGraph *graph, const KernelCase *c);
void attention_cluster(MirageUGraph *graph, const KernelCase *c);
void attention_registers(MirageUGraph *graph, const KernelCase *c);
void attention_at_once(MirageUGraph *graph, const KernelCase *c);
void attention_split(MirageUGraph *graph, const KernelCase *c);

extern const KernelCase KERNEL_CASES[];
extern const unsigned NUM_KERNEL_CASES;

#endif
