// code.c - the compiled code of a graph, as mirage-lower leaves it beside: gpu.binary @<graph>_bin.
#include "mirage/bridge.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/GPU.h"
#include <stdio.h>
#include <string.h>

enum { GPU_OBJECT_ASSEMBLY = 2 }; // gpu::CompilationTarget::Assembly: PTX text

static MlirStringRef str(const char *text) { return mlirStringRefCreateFromCString(text); }

static MlirStringRef symbol_of(MlirOperation op) {
  MlirAttribute name = mlirOperationGetAttributeByName(op, str("sym_name"));
  return mlirAttributeIsNull(name) || !mlirAttributeIsAString(name) ? str("") : mlirStringAttrGetValue(name);
}

static bool is_binary_of(MlirOperation op, MlirStringRef graph) {
  MlirStringRef symbol = symbol_of(op);
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), str("gpu.binary")) &&
         symbol.length == graph.length + 4 && !memcmp(symbol.data, graph.data, graph.length) &&
         !memcmp(symbol.data + graph.length, "_bin", 4);
}

typedef struct Text {
  char bytes[512];
  size_t used;
} Text;

static void append(MlirStringRef part, void *user) {
  Text *text = user;
  size_t room = sizeof text->bytes - 1 - text->used, length = part.length < room ? part.length : room;
  memcpy(text->bytes + text->used, part.data, length);
  text->used += length;
}

// The target is an attribute of NVVM's, which has no C API; a chip that is the default is not printed.
static void read_chip(MlirAttribute target, char out_chip[32]) {
  Text text = {0};
  mlirAttributePrint(target, append, &text);
  const char *chip = strstr(text.bytes, "chip = \"");
  if (!chip || sscanf(chip, "chip = \"%31[^\"]", out_chip) != 1)
    out_chip[0] = '\0';
}

static bool find_ptx(MlirOperation binary, MirageBridgeCode *out_code) {
  MlirAttribute objects = mlirOperationGetAttributeByName(binary, str("objects"));
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(objects); i++) {
    MlirAttribute object = mlirArrayAttrGetElement(objects, i);
    if (!mlirAttributeIsAGPUObjectAttr(object) || mlirGPUObjectAttrGetFormat(object) != GPU_OBJECT_ASSEMBLY)
      continue;
    out_code->ptx = mlirGPUObjectAttrGetObject(object);
    read_chip(mlirGPUObjectAttrGetTarget(object), out_code->chip);
    return true;
  }
  return false;
}

bool mirage_bridge_find_code(MlirOperation graph_op, MirageBridgeCode *out_code) {
  MlirStringRef graph = symbol_of(graph_op);
  MlirOperation op = mlirBlockGetFirstOperation(mlirOperationGetBlock(graph_op));
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (is_binary_of(op, graph) && find_ptx(op, out_code))
      return true;
  return false;
}
