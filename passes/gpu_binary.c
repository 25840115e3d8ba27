// gpu_binary.c - what stands in a gpu.binary for the runtime library (gpu_binary.h).
//
// The text of an object is given to mgpuModuleLoadJIT, which is not told its length. So what we add is announced in the
// PTX itself, by comments at its end:
//
//   // mirage: blocks of g_k0 meet                  they wait for each other: all must fit on the device at once
//   // mirage: 12345 bytes of emulation follow      behind the NUL that ends the PTX
//
// A driver reads as far as the NUL, and takes comments for comments.
#include "gpu_binary.h"

#include "gpu_ir.h"
#include "mirage/emulator.h"
#include "mlir-c/Dialect/GPU.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GPU_FORMAT_ASSEMBLY = 2 }; // gpu::CompilationTarget
static const char MARK[] = "// mirage: ";

// ------------------------------------------------------------------------------------------------------------- finding

static MlirAttribute objects_of(MlirOperation binary) {
  return mlirOperationGetAttributeByName(binary, mirage__ir_text("objects"));
}

/// The number of the binary's PTX object, or -1.
static intptr_t find_ptx(MlirOperation binary) {
  MlirAttribute objects = objects_of(binary);
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(objects); i++) {
    MlirAttribute object = mlirArrayAttrGetElement(objects, i);
    if (mlirAttributeIsAGPUObjectAttr(object) && mlirGPUObjectAttrGetFormat(object) == GPU_FORMAT_ASSEMBLY)
      return i;
  }
  return -1;
}

static bool is_named(MlirOperation op, const char *graph) {
  if (!mirage__ir_is(op, "gpu.binary"))
    return false;
  MlirStringRef symbol = mlirStringAttrGetValue(mlirOperationGetAttributeByName(op, mirage__ir_text("sym_name")));
  size_t length = strlen(graph);
  return symbol.length == length + 4 && !memcmp(symbol.data, graph, length) && !memcmp(symbol.data + length, "_bin", 4);
}

/// Whether the PTX has `.entry NAME(`.
static bool has_entry(const char *ptx, const char *name) {
  size_t length = strlen(name);
  for (const char *at = strstr(ptx, ".entry "); at; at = strstr(at + 1, ".entry ")) {
    const char *found = at + strlen(".entry ");
    if (strncmp(found, name, length) == 0 && (found[length] == '(' || found[length] == ' ' || found[length] == '\n'))
      return true;
  }
  return false;
}

static MirageStatus check_entries(const char *graph, MlirStringRef text, const MirageLaunchPlan *plan, const void *loc,
                                  const MirageDiag *diag) {
  char *ptx = calloc(1, text.length + 1);
  MirageStatus status = MIRAGE_OK;
  if (!ptx)
    return mirage_diag_fail(diag, loc, MIRAGE_NO_MEMORY, "convert-mirage-to-gpu: out of memory");
  memcpy(ptx, text.data, text.length);
  for (uint32_t i = 0; i < plan->num_kernels && status == MIRAGE_OK; i++)
    if (!has_entry(ptx, plan->kernels[i].name))
      status = mirage_diag_fail(diag, loc, MIRAGE_BAD_GRAPH,
                                "convert-mirage-to-gpu: gpu.binary @%s_bin has no kernel %s: run mirage-lower again",
                                graph, plan->kernels[i].name);
  free(ptx);
  return status;
}

MirageStatus mirage__binary_find(MirageModuleGraphs *graphs, const char *graph, const MirageLaunchPlan *plan,
                                 const void *loc, MlirOperation *out_binary) {
  for (MlirOperation op = mlirBlockGetFirstOperation(graphs->body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (!is_named(op, graph))
      continue;
    intptr_t index = find_ptx(op);
    if (index < 0)
      return mirage_diag_fail(
          graphs->diag, loc, MIRAGE_BAD_GRAPH,
          "convert-mirage-to-gpu: gpu.binary @%s_bin holds no PTX (assembly) object: run mirage-lower "
          "again",
          graph);
    *out_binary = op;
    MlirStringRef text = mlirGPUObjectAttrGetObject(mlirArrayAttrGetElement(objects_of(op), index));
    return check_entries(graph, text, plan, loc, graphs->diag);
  }
  return mirage_diag_fail(graphs->diag, loc, MIRAGE_BAD_GRAPH,
                          "convert-mirage-to-gpu: @%s has no gpu.binary @%s_bin: run mirage-lower first", graph, graph);
}

// ---------------------------------------------------------------------------------------------------------- annotating

typedef struct Text {
  char *data;
  size_t length, size;
} Text;

static void append(MlirStringRef part, void *user) {
  Text *text = user;
  size_t room = text->size - text->length - 1;
  size_t length = part.length < room ? part.length : room;
  memcpy(text->data + text->length, part.data, length);
  text->data[text->length += length] = '\0';
}

/// "file.mlir:3:5", or nothing where the location is none.
static void describe_location(const void *loc, char *buffer, size_t size) {
  MlirLocation location = {loc};
  Text text = {buffer, 0, size};
  if (!mlirLocationIsAFileLineColRange(location))
    return;
  append(mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location)), &text);
  char place[48];
  snprintf(place, sizeof place, ":%d:%d", mlirLocationFileLineColRangeGetStartLine(location),
           mlirLocationFileLineColRangeGetStartColumn(location));
  append(mirage__ir_text(place), &text);
}

/// The GPU that the object is for, by its chip: the C API has no accessor for #nvvm.target.
static const MirageTarget *target_of(MlirAttribute object) {
  char buffer[512] = "", chip[32];
  Text text = {buffer, 0, sizeof buffer};
  mlirAttributePrint(mlirGPUObjectAttrGetTarget(object), append, &text);
  const char *at = strstr(buffer, "chip = \"");
  return at && sscanf(at, "chip = \"%31[^\"]", chip) == 1 ? mirage_target_find(chip) : NULL;
}

/// The plan of the graph's first kernel; NULL where none is planned.
static const MiragePlan *plan_of(const MirageUGraph *graph) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    if (node.op == MIRAGE_OP_CUSTOM && node.attrs->custom.plan)
      return node.attrs->custom.plan;
  }
  return NULL;
}

/// The target that the graph was planned for, with tensor maps or without: several GPUs have one chip. `by_chip` where nothing
/// says. A plan is for one target, and for another the kernels would be planned anew.
static MirageTarget planned_target(const MirageUGraph *graph, const MirageTarget *by_chip) {
  const MiragePlan *plan = plan_of(graph);
  char name[sizeof plan->target] = "";
  if (!plan)
    return *by_chip;
  snprintf(name, sizeof name, "%s", plan->target);
  char *without = strstr(name, " without");
  if (without)
    *without = 0;
  const MirageTarget *target = mirage_target_find(name);
  return !target ? *by_chip : without ? mirage_target_without_maps(target) : *target;
}

/// The PTX without what an earlier run put behind it.
static MlirStringRef plain_ptx(MlirStringRef text) {
  size_t length = strnlen(text.data, text.length);
  for (size_t i = 0; i + sizeof MARK <= length; i++)
    if (memcmp(text.data + i, MARK, sizeof MARK - 1) == 0)
      length = i;
  return mlirStringRefCreate(text.data, length);
}

static size_t count_marks(const MirageLaunchPlan *plan) {
  size_t bytes = 128;
  for (uint32_t i = 0; i < plan->num_kernels; i++)
    bytes += strlen(plan->kernels[i].name) + 64;
  return bytes;
}

static char *join(MlirStringRef ptx, const MirageLaunchPlan *plan, const void *image, size_t image_bytes,
                  size_t *out_length) {
  size_t size = ptx.length + count_marks(plan) + image_bytes;
  char *all = malloc(size);
  if (!all)
    return NULL;
  memcpy(all, ptx.data, ptx.length);
  size_t used = ptx.length;
  for (uint32_t i = 0; i < plan->num_kernels; i++)
    if (plan->kernels[i].blocks_meet)
      used += (size_t)snprintf(all + used, size - used, "%sblocks of %s meet\n", MARK, plan->kernels[i].name);
  if (image) {
    used += (size_t)snprintf(all + used, size - used, "%s%zu bytes of emulation follow\n", MARK, image_bytes) + 1;
    memcpy(all + used, image, image_bytes);
    used += image_bytes;
  }
  *out_length = used;
  return all;
}

static void replace_object(MlirOperation binary, intptr_t index, MlirAttribute object, MlirStringRef text) {
  MlirContext context = mlirOperationGetContext(binary);
  MlirAttribute objects = objects_of(binary), all[16];
  intptr_t count = mlirArrayAttrGetNumElements(objects);
  for (intptr_t i = 0; i < count; i++)
    all[i] = mlirArrayAttrGetElement(objects, i);
  all[index] =
      mlirGPUObjectAttrGetWithKernels(context, mlirGPUObjectAttrGetTarget(object), GPU_FORMAT_ASSEMBLY, text,
                                      mlirGPUObjectAttrGetProperties(object), mlirGPUObjectAttrGetKernels(object));
  mlirOperationSetAttributeByName(binary, mirage__ir_text("objects"), mlirArrayAttrGet(context, count, all));
}

MirageStatus mirage__binary_annotate(const MirageUGraph *graph, const MirageLaunchPlan *plan, MlirOperation binary,
                                     bool emulation, const MirageDiag *diag) {
  const void *loc = mlirOperationGetLocation(binary).ptr;
  intptr_t index = find_ptx(binary);
  MlirAttribute object = mlirArrayAttrGetElement(objects_of(binary), index);
  const MirageTarget *target = target_of(object);
  void *image = NULL;
  size_t image_bytes = 0, length = 0;
  if (mlirArrayAttrGetNumElements(objects_of(binary)) > 16)
    return mirage_diag_fail(diag, loc, MIRAGE_LIMIT, "convert-mirage-to-gpu: a gpu.binary of more than 16 objects");
  if (emulation && !target)
    return mirage_diag_fail(diag, loc, MIRAGE_UNSUPPORTED,
                            "convert-mirage-to-gpu: emulation: no GPU of ours has the chip that this is compiled for");
  if (emulation) {
    const MirageTarget planned = planned_target(graph, target);
    MIRAGE_TRY(mirage_emulation_image(graph, &planned, describe_location, diag, &image, &image_bytes));
  }
  char *text = join(plain_ptx(mlirGPUObjectAttrGetObject(object)), plan, image, image_bytes, &length);
  free(image);
  if (!text)
    return mirage_diag_fail(diag, loc, MIRAGE_NO_MEMORY, "convert-mirage-to-gpu: out of memory");
  replace_object(binary, index, object, mlirStringRefCreate(text, length));
  free(text);
  return MIRAGE_OK;
}
