// image_write.c - a lowered graph as an image (image.h).
#include "image.h"

#include "codegen/host.h"
#include "mirage/canonical.h"
#include "mirage/codegen.h"
#include "llvm-c/BitWriter.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_LEVEL = 1 }; // as jit.c

static MirageStatus no_memory(const MirageDiag *diag) {
  return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "emulator: out of memory for an image");
}

// --------------------------------------------------------------------------------------------------------- description

static json_t *numbers(uint32_t count, const int64_t *values) {
  json_t *array = json_array();
  for (uint32_t i = 0; i < count; i++)
    json_array_append_new(array, json_integer(values[i]));
  return array;
}

static json_t *describe_map(const MirageTensorMap *map) {
  int64_t box[MIRAGE_MAP_RANK];
  for (int i = 0; i < MIRAGE_MAP_RANK; i++)
    box[i] = map->box[i];
  return json_pack("{s:i, s:i, s:i, s:i, s:o, s:o, s:o}", "pointer", (int)map->pointer, "dtype", (int)map->dtype,
                   "rank", (int)map->rank, "swizzle", (int)map->swizzle, "extents", numbers(map->rank, map->extents),
                   "strides", numbers(map->rank, map->strides), "box", numbers(map->rank, box));
}

static json_t *describe_bytes(const MirageUGraph *graph, uint32_t count, const MirageValue *values) {
  json_t *array = json_array();
  for (uint32_t i = 0; i < count; i++)
    json_array_append_new(array, json_integer(mirage_type_bytes(mirage_ugraph_type(graph, values[i]))));
  return array;
}

static json_t *describe_results(const MirageUGraph *graph, const MirageNodeView *node) {
  json_t *array = json_array();
  for (uint32_t i = 0; i < node->num_results; i++) {
    MirageValue value = {node->first_result.index + i};
    json_array_append_new(array, json_integer(mirage_type_bytes(mirage_ugraph_type(graph, value))));
  }
  return array;
}

static json_t *describe_kernel(const MirageUGraph *graph, MirageNode id, const MirageNodeView *node) {
  const MirageLaunch *launch = node->attrs->custom.launch;
  json_t *maps = json_array();
  for (uint32_t i = 0; i < launch->num_maps; i++)
    json_array_append_new(maps, describe_map(&launch->maps[i]));
  return json_pack("{s:s, s:i, s:i, s:i, s:b, s:o, s:o, s:I, s:o}", "name", launch->kernel, "operator", (int)id.index,
                   "threads", (int)launch->threads, "shared", (int)launch->shared_bytes, "meet",
                   launch->workspace_bytes > 0, "operands", describe_bytes(graph, node->num_operands, node->operands),
                   "results", describe_results(graph, node), "workspace", (json_int_t)launch->workspace_bytes, "maps",
                   maps);
}

static json_t *describe_operators(const MirageUGraph *graph, MirageDescribeLocation describe) {
  json_t *array = json_array();
  json_array_append_new(array, json_null());
  for (uint32_t i = 1; i <= mirage_ugraph_num_nodes(graph); i++) {
    MirageNodeView node = mirage_ugraph_node(graph, (MirageNode){i});
    char text[256] = "";
    if (describe && node.loc)
      describe(node.loc, text, sizeof text);
    json_t *entry = json_pack("[s, s]", mirage_op_info(node.op)->mnemonic, text);
    if (!entry) // no UTF-8
      entry = json_pack("[s, s]", mirage_op_info(node.op)->mnemonic, "");
    json_array_append_new(array, entry);
  }
  return array;
}

static char *describe_graph(const MirageUGraph *graph, const char *triple, MirageDescribeLocation describe) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  json_t *kernels = json_array();
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    if (node.op == MIRAGE_OP_CUSTOM)
      json_array_append_new(kernels, describe_kernel(graph, body.nodes[i], &node));
  }
  json_t *root = json_pack("{s:i, s:s, s:o, s:o}", "mirage_emulation", IMAGE_VERSION, "triple", triple, "kernels",
                           kernels, "operators", describe_operators(graph, describe));
  char *text = json_dumps(root, JSON_COMPACT);
  json_decref(root);
  return text;
}

// ------------------------------------------------------------------------------------------------------------- writing

// Whether both graphs launch the same kernels, so that the launches made for one fit the code of the other.
static bool launch_alike(const MirageUGraph *a, const MirageUGraph *b) {
  MirageRegionView left = mirage_ugraph_region(a, mirage_ugraph_body(a));
  MirageRegionView right = mirage_ugraph_region(b, mirage_ugraph_body(b));
  for (uint32_t i = 0; i < left.num_nodes && left.num_nodes == right.num_nodes; i++) {
    MirageNodeView x = mirage_ugraph_node(a, left.nodes[i]), y = mirage_ugraph_node(b, right.nodes[i]);
    if (x.op != y.op)
      return false;
    if (x.op != MIRAGE_OP_CUSTOM)
      continue;
    const MirageLaunch *p = x.attrs->custom.launch, *q = y.attrs->custom.launch;
    if (!p || !q || strcmp(p->kernel, q->kernel) != 0 || p->threads != q->threads ||
        p->workspace_bytes != q->workspace_bytes || p->num_maps != q->num_maps || p->starts_early != q->starts_early)
      return false;
    // On a GPU a kernel that starts early asks for more (mirage__spread_bytes).
    if (p->shared_bytes < q->shared_bytes || (p->shared_bytes > q->shared_bytes && !p->starts_early))
      return false;
  }
  return left.num_nodes == right.num_nodes;
}

// The description, NUL, and the bitcode.
static MirageStatus join(const char *text, const MirageHostModule *host, const MirageDiag *diag, void **out_image,
                         size_t *out_bytes) {
  LLVMMemoryBufferRef bitcode = LLVMWriteBitcodeToMemoryBuffer(host->module);
  size_t text_bytes = strlen(text) + 1, code_bytes = LLVMGetBufferSize(bitcode);
  char *image = malloc(text_bytes + code_bytes);
  if (image) {
    memcpy(image, text, text_bytes);
    memcpy(image + text_bytes, LLVMGetBufferStart(bitcode), code_bytes);
    *out_image = image;
    *out_bytes = text_bytes + code_bytes;
  }
  LLVMDisposeMemoryBuffer(bitcode);
  return image ? MIRAGE_OK : no_memory(diag);
}

static MirageStatus write_copy(const MirageUGraph *graph, MirageUGraph *copy, const MirageTarget *target,
                               MirageDescribeLocation describe, const MirageDiag *diag, void **out_image,
                               size_t *out_bytes) {
  const char *name = mirage_ugraph_get_meta(graph)->name;
  MirageHostModule host;
  mirage_ugraph_meta(copy)->name = mirage_ugraph_intern_string(copy, name);
  MIRAGE_TRY(mirage__codegen_host(copy, target, OPT_LEVEL, NULL, diag, &host));
  char *text = describe_graph(copy, LLVMGetTarget(host.module), describe);
  MirageStatus status = !text ? no_memory(diag) : MIRAGE_OK;
  if (status == MIRAGE_OK && !launch_alike(graph, copy))
    status = mirage_diag_fail(diag, NULL, MIRAGE_BAD_GRAPH,
                              "emulator: the launches of @%s are not those that this build makes of it: lower it again",
                              name);
  if (status == MIRAGE_OK)
    status = join(text, &host, diag, out_image, out_bytes);
  free(text);
  LLVMDisposeModule(host.module);
  LLVMDisposeTargetMachine(host.machine);
  LLVMContextDispose(host.context);
  return status;
}

MirageStatus mirage_emulation_image(const MirageUGraph *graph, const MirageTarget *target,
                                    MirageDescribeLocation describe, const MirageDiag *diag, void **out_image,
                                    size_t *out_bytes) {
  MirageUGraph *copy = NULL;
  *out_image = NULL;
  MIRAGE_TRY(mirage_canonicalize(graph, target, diag, &copy));
  MirageStatus status = write_copy(graph, copy, target, describe, diag, out_image, out_bytes);
  mirage_ugraph_destroy(copy);
  return status;
}
