// call_from_c.c - calls a compiled program from C: reads the module, loads its PTX, launches it on a stream.
//
//   mirage-mlir-opt --mirage-superoptimize examples/lora.mlir -o compiled.mlir
//   call_from_c compiled.mlir
//
// Every input holds 2^-6, f16; the first element of each output is printed. A program of yours would do the first three
// steps once, and then launch as often as it likes, on a stream of its own, with its own device pointers, also while
// that stream is captured in a CUDA graph. Beside CUDA code, mirage_device_create_current takes the context that is
// there.
#include "mirage-c/Dialects.h"
#include "mirage/bridge.h"
#include "mirage/eval.h"
#include "mirage/runtime.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/GPU.h"
#include "mlir-c/Dialect/NVVM.h"
#include "mlir-c/IR.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TENSORS = 64, PTX = 2 }; // PTX: the format of a gpu.object that is assembly text

static void print_message(void *user, MirageSeverity severity, const void *loc, const char *message) {
  fprintf(stderr, "call_from_c: %s\n", message);
}
static const MirageDiag DIAG = {print_message, NULL};

static MlirStringRef str(const char *text) { return mlirStringRefCreateFromCString(text); }

static MlirModule read_module(MlirContext context, const char *path) {
  MlirDialectHandle handles[] = {mlirGetDialectHandle__mirage_kernel__(), mlirGetDialectHandle__mirage_block__(),
                                 mlirGetDialectHandle__mirage_thread__(), mlirGetDialectHandle__gpu__(),
                                 mlirGetDialectHandle__nvvm__()};
  for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
    mlirDialectHandleRegisterDialect(handles[i], context);
  return mlirModuleCreateParseFromFile(context, str(path)); // says what is wrong by itself
}

// The graph that was selected, and the gpu.binary with its code: @<graph>_bin. Null when there is none.
static void find(MlirModule module, MlirOperation *graph, MlirOperation *binary) {
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (!mlirAttributeIsNull(mlirOperationGetAttributeByName(op, str("selected"))))
      *graph = op;
    if (mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), str("gpu.binary")))
      *binary = op;
  }
}

// Step 1: the module's PTX, with an end. The caller frees it.
static char *read_ptx(MlirOperation binary) {
  MlirAttribute objects = mlirOperationGetAttributeByName(binary, str("objects"));
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(objects); i++) {
    MlirAttribute object = mlirArrayAttrGetElement(objects, i);
    if (mlirGPUObjectAttrGetFormat(object) != PTX)
      continue;
    MlirStringRef text = mlirGPUObjectAttrGetObject(object);
    char *ptx = calloc(1, text.length + 1);
    return ptx ? memcpy(ptx, text.data, text.length) : NULL;
  }
  return NULL;
}

// Step 3: device memory for a tensor, every element 2^-6.
static MirageStatus make_tensor(MirageDevice *device, const MirageType *type, uint64_t *out_pointer) {
  size_t bytes = (size_t)mirage_type_bytes(type);
  uint16_t *host = malloc(bytes);
  if (!host)
    return MIRAGE_NO_MEMORY;
  for (size_t i = 0; i < bytes / sizeof *host; i++)
    host[i] = mirage_f16_from_double(0.015625);
  MirageStatus status = mirage_device_alloc(device, bytes, &DIAG, out_pointer);
  if (status == MIRAGE_OK)
    status = mirage_device_upload(device, *out_pointer, host, bytes, &DIAG);
  free(host);
  return status;
}

// Step 4: a launch; then what it gave.
static MirageStatus call(MirageDevice *device, MirageProgram *program, const MirageUGraph *graph) {
  uint64_t inputs[MAX_TENSORS] = {0}, outputs[MAX_TENSORS] = {0};
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(graph); i++)
    MIRAGE_TRY(make_tensor(device, mirage_ugraph_type(graph, mirage_ugraph_get_input(graph, i)), &inputs[i]));
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(graph); i++)
    MIRAGE_TRY(make_tensor(device, mirage_ugraph_type(graph, mirage_ugraph_get_output(graph, i)), &outputs[i]));
  MIRAGE_TRY(mirage_program_launch(program, inputs, outputs, NULL, &DIAG)); // NULL: the default stream
  MIRAGE_TRY(mirage_device_synchronize(device, &DIAG));
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(graph); i++) {
    uint16_t first;
    MIRAGE_TRY(mirage_device_download(device, &first, outputs[i], sizeof first, &DIAG));
    printf("output %u begins with %g\n", i, mirage_f16_to_double(first));
  }
  return MIRAGE_OK;
}

static MirageStatus load_and_call(const MirageUGraph *graph, const char *ptx) {
  MirageDevice *device = NULL;
  MirageModule *module = NULL;
  MirageProgram *program = NULL;
  if (mirage_ugraph_num_inputs(graph) > MAX_TENSORS || mirage_ugraph_num_outputs(graph) > MAX_TENSORS)
    return mirage_diag_fail(&DIAG, NULL, MIRAGE_LIMIT, "more than %d tensors", MAX_TENSORS);
  MirageStatus status = mirage_device_create(0, &DIAG, &device); // step 2: a GPU, its code, all kernels as one program
  if (status == MIRAGE_OK)
    status = mirage_module_load(device, ptx, &DIAG, &module);
  if (status == MIRAGE_OK)
    status = mirage_program_create(module, graph, &DIAG, &program);
  if (status == MIRAGE_OK)
    status = call(device, program, graph);
  mirage_program_destroy(program);
  mirage_module_unload(module);
  mirage_device_destroy(device); // and its memory
  return status;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return fprintf(stderr, "usage: call_from_c compiled.mlir\n"), 2;
  MlirContext context = mlirContextCreate();
  MlirModule module = read_module(context, argv[1]);
  MlirOperation op = {NULL}, binary = {NULL};
  MirageUGraph *graph = NULL;
  if (!mlirModuleIsNull(module))
    find(module, &op, &binary);
  if (mlirOperationIsNull(op) || mlirOperationIsNull(binary))
    return fprintf(stderr, "call_from_c: %s: no compiled graph\n", argv[1]), 1;
  char *ptx = read_ptx(binary);
  MirageStatus status = ptx ? mirage_bridge_import(op, &DIAG, &graph) : MIRAGE_BAD_GRAPH;
  if (status == MIRAGE_OK)
    status = load_and_call(graph, ptx);
  free(ptx);
  mirage_ugraph_destroy(graph);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  return status == MIRAGE_OK ? 0 : 1;
}
