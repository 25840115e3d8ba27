// bridge.h - MLIR operations <-> in-memory µGraphs. The only place where the two meet.
#ifndef MIRAGE_BRIDGE_H
#define MIRAGE_BRIDGE_H

#include "mirage-c/Values.h"
#include "mirage/ugraph.h"
#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif
#endif
