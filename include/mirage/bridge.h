// bridge.h - MLIR operations <-> in-memory µGraphs. The only place where the two meet.
#ifndef MIRAGE_BRIDGE_H
#define MIRAGE_BRIDGE_H

#include "mirage/ugraph.h"
#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A sink that emits MLIR diagnostics at the MlirLocation whose pointer is `loc` (or at `fallback` when loc is NULL).
/// `storage` is the caller's and must outlive the diag.
typedef struct MirageBridgeDiag {
  MirageDiag diag; // hand &storage.diag to the core
  MlirLocation fallback;
} MirageBridgeDiag;
void mirage_bridge_diag_init(MirageBridgeDiag *storage, MlirLocation fallback);

/// Imports one verified mirage_kernel.graph. Node cookies are MlirLocation pointers.
MirageStatus mirage_bridge_import(MlirOperation graph_op, const MirageDiag *diag, MirageUGraph **out_graph);
/// Appends a mirage_kernel.graph for `graph` to `block`; import of the result gives back an equal graph.
MirageStatus mirage_bridge_export(const MirageUGraph *graph, MlirContext context, MlirBlock block, MlirLocation loc,
                                  const MirageDiag *diag, MlirOperation *out_op);

/// Writes source, proof, cost and selected of `meta` onto a mirage_kernel.graph, and takes away those it does not have. The
/// symbol and the body stay.
MirageStatus mirage_bridge_export_meta(const MirageGraphMeta *meta, MlirOperation graph_op, const MirageDiag *diag);

/// The PTX of a graph that was lowered, and the chip that it is for ("sm_90a"; empty where the module does not say).
typedef struct MirageBridgeCode {
  MlirStringRef ptx; // the module's own memory; no NUL at its end
  char chip[32];
} MirageBridgeCode;
/// Looks for gpu.binary @<graph>_bin beside the graph. False where there is none, or none with PTX.
bool mirage_bridge_find_code(MlirOperation graph_op, MirageBridgeCode *out_code);

typedef struct MiragePartitionOptions {
  bool explain; // a remark at each operation that stays outside, with the reason
} MiragePartitionOptions;

/// Cuts what the kernel dialect can say out of every func.func of the module: linalg on tensors, and the tensor, arith and math
/// operations between. Each part becomes a mirage_kernel.graph at the module's end, and a mirage_kernel.call where it stood.
/// A remark at each function says how much was taken. What stays keeps its order and meaning.
///
/// Errors:  NO_MEMORY; what the export says.
MirageStatus mirage_bridge_partition(MlirOperation module, const MiragePartitionOptions *options,
                                     const MirageDiag *diag);

// Single types and attributes, shared with the verifiers and type inference of the dialects.
/// BAD_TYPE for anything but a ranked static tensor / tile / fragment of f16, bf16, f32 with extents >= 1: the sentence
/// names the type and the remedy.
MirageStatus mirage_bridge_type_import(MlirType type, const MirageDiag *diag, const void *loc, MirageType *out_type);
MlirType mirage_bridge_type_export(MlirContext context, const MirageType *type);
/// Attributes of an operation from its attribute dictionary (inherent ones). Pointers in `out_attrs` live in `arena`.
/// The type in `shape` and `constant` is the operation's result type, no attribute: the caller fills it in.
MirageStatus mirage_bridge_attrs_import(MirageOp op, MlirAttribute dictionary, MirageArena *arena,
                                        const MirageDiag *diag, const void *loc, MirageAttrs *out_attrs);

#ifdef __cplusplus
}
#endif
#endif
