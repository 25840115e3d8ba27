// ugraph_internal.h - how a graph lies in memory; shared by the files of this folder only.
//
// Nodes, values and regions are arrays indexed by id, element 0 unused. They and everything they point to live in the
// graph's arena; an array that outgrows its room is copied and the old one is left behind, at most doubling its cost.
#ifndef MIRAGE_LIB_UGRAPH_INTERNAL_H
#define MIRAGE_LIB_UGRAPH_INTERNAL_H

#include "mirage/ugraph.h"

typedef struct Node {
  MirageOp op;
  uint32_t num_operands;
  const MirageValue *operands;
  uint32_t num_results;
  uint32_t first_result; // 0 until the node's region is closed
  uint32_t region;
  uint32_t parent;
  MirageAttrs *attrs;
  const void *loc;
} Node;

typedef struct Value {
  MirageType type;
  uint32_t node;   // that defines it; 0 for an argument
  uint32_t region; // in which it is defined
} Value;

typedef struct Region {
  MirageLevel level;
  uint32_t owner;
  uint32_t num_arguments, first_argument;
  uint32_t num_nodes, nodes_capacity;
  MirageNode *nodes;
  bool closed;
  // custom regions only
  const MirageType *result_types;
  uint32_t num_results, num_loads;
  bool *stored; // per result: some store names it
} Region;

struct MirageUGraph {
  MirageArena arena;
  const MirageDiag *diag;
  const void *loc;     // cookie for the next node
  MirageStatus status; // the first failure
  uint32_t open;       // innermost open region
  Node *nodes;
  uint32_t num_nodes, nodes_capacity;
  Value *values;
  uint32_t num_values, values_capacity;
  Region *regions;
  uint32_t num_regions, regions_capacity;
  MirageGraphMeta meta;
};

enum { KERNEL_REGION = 1 };

// ugraph_hash.c
/// What a plan is of: the block graph in its order, its schedule, the places of its tiles and the plan's own decisions.
uint64_t mirage__kernel_hash(const MirageUGraph *graph, MirageNode custom);

// ugraph.c
/// Grid, cluster and loops around the nodes of a region.
MirageScope mirage__scope_of_region(const MirageUGraph *graph, uint32_t region);

/// One question to the shape rules: the arguments of mirage_op_infer, and the operator's row.
typedef struct InferCall {
  MirageOp op;
  const char *name; // mnemonic, the first word of every sentence
  MirageLevel level;
  uint32_t num_operands;
  const MirageType *operands;
  const MirageAttrs *attrs;
  const MirageScope *scope;
  const MirageDiag *diag;
  const void *loc;
} InferCall;

#define INFER_FAIL(call, status, format, ...)                                                                          \
  mirage_diag_fail((call)->diag, (call)->loc, (status), "%s: " format, (call)->name, __VA_ARGS__)

enum { TYPE_TEXT_BYTES = 160 }; // six extents of 20 digits fit

// infer.c
/// "kernel", "block" or "thread".
const char *mirage__level_name(MirageLevel level);
/// Smallest magnitude that rounds to infinity.
double mirage__overflow_bound(MirageDType dtype);
/// A type that may exist: known element type, rank <= 6, extents >= 1, a size in bytes that fits int64.
/// `what` names it in the sentence ("operand 1", "result").
MirageStatus mirage__check_type(const InferCall *call, const char *what, uint32_t index, const MirageType *type);
/// The value belongs to the call's level: tensors to kernel, tiles to block, fragments to thread.
MirageStatus mirage__check_space(const InferCall *call, uint32_t index, const MirageType *type);
/// Builds the result's type: the level's default space, no layout.
MirageStatus mirage__result(const InferCall *call, MirageDType dtype, uint32_t rank, const int64_t *shape,
                            MirageType *out_result);

// infer_region.c
MirageStatus mirage__infer_load(const InferCall *call, MirageType *out_result);
MirageStatus mirage__infer_store(const InferCall *call);
MirageStatus mirage__infer_collective(const InferCall *call, MirageType *out_result);
/// The part of mirage_op_check_loop that needs no yield: range, number of carries, initial values.
MirageStatus mirage__check_loop_start(const MirageLoopAttrs *attrs, uint32_t num_inits, const MirageType *inits,
                                      const MirageDiag *diag, const void *loc);
MirageStatus mirage__check_launch(const MirageLaunch *launch, const MirageDiag *diag, const void *loc);

// schedule.c
/// The rules of a schedule on its kernel.
MirageStatus mirage__check_schedule(const InferCall *call, const MirageCustomAttrs *attrs);

// clone.c
/// Copies nodes of one graph into another. `map[old id]` is the new value, {0} before its definition was copied.
typedef struct Copier Copier;
struct Copier {
  const MirageUGraph *from;
  MirageUGraph *to;
  MirageArena scratch;
  MirageValue *map;
  void (*copy_region)(Copier *copier, MirageRegion region); // of the nodes copied; NULL = node by node
};
/// Creates the target graph with the source's name, meta and inputs. After OK, mirage__copier_finish must follow.
MirageStatus mirage__copier_begin(Copier *copier, const MirageUGraph *from, const MirageDiag *diag);
/// Copies one node, with its region. Failures are remembered by the target graph.
void mirage__copier_node(Copier *copier, MirageNode node);
/// Finishes the target and hands it over, or destroys it and returns its first failure.
MirageStatus mirage__copier_finish(Copier *copier, MirageUGraph **out_graph);

// expand.c
/// The steps of a derived operator on these operands.
MirageValue mirage__expand_steps(MirageUGraph *g, const MirageExpansion *expansion, const MirageValue *operands,
                                 uint32_t num_operands);

// expand_predicates.c
/// Whether a node reshapes a computed predicate or index, and moves nothing but extents of 1.
bool mirage__goes_up(const MirageUGraph *graph, const MirageNodeView *node);
/// Copies such a node: what the predicate is made of is reshaped.
void mirage__move_up(Copier *copier, const MirageNodeView *node);
/// needed[num_values + 1], zeroed: which values something reads that is no such node.
void mirage__mark_needed(const MirageUGraph *graph, bool *needed);

#endif
