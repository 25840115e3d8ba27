// call_from_c.c - calls a compiled program from C: reads the module, loads its PTX, launches it on a stream.
//
//   mirage-mlir-opt --mirage-superoptimize examples/lora.mlir -o compiled.mlir
//   call_from_c compiled.mlir
//
// Every input holds 2^-6, f16; the first element of each output is printed. A program of yours would do the first two
// steps once, and then launch as often as it likes, on a stream of its own, with its own device pointers, also while
// that stream is captured in a CUDA graph. Beside CUDA code, mirageProgramLaunch takes the context that is current;
// mirageCompile goes from text to here in one call (COMPILER.md).
#include "mirage-c/Register.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_TENSORS = 64, F16_2_TO_MINUS_6 = 0x2400 };

static void print_message(void *user, MirageSeverity severity, const void *loc, const char *message) {
  fprintf(stderr, "call_from_c: %s\n", message);
}
static const MirageDiag DIAG = {print_message, NULL};

// Step 1: the compiled programs of a module. MLIR says on standard error what is wrong with a file.
static MirageCompilation *read_programs(const char *path) {
  MirageCompilation *compilation = NULL;
  MlirContext context = mlirContextCreate();
  mirageRegisterEverything(context);
  MlirModule module = mlirModuleCreateParseFromFile(context, mlirStringRefCreateFromCString(path));
  if (!mlirModuleIsNull(module)) {
    mirageReadModule(module, &compilation);
    mlirModuleDestroy(module);
  }
  mlirContextDestroy(context);
  return compilation;
}

// Step 2: device memory for a tensor, every element 2^-6.
static MirageStatus make_tensor(MirageDevice *device, const MirageType *type, uint64_t *out_pointer) {
  size_t bytes = (size_t)mirage_type_bytes(type);
  uint16_t *host = malloc(bytes);
  if (!host)
    return MIRAGE_NO_MEMORY;
  for (size_t i = 0; i < bytes / sizeof *host; i++)
    host[i] = F16_2_TO_MINUS_6;
  MirageStatus status = mirage_device_alloc(device, bytes, &DIAG, out_pointer);
  if (status == MIRAGE_OK)
    status = mirage_device_upload(device, *out_pointer, host, bytes, &DIAG);
  free(host);
  return status;
}

// Step 3: a launch; then what it gave.
static MirageStatus call(MirageDevice *device, const MirageCompiledProgram *program) {
  uint64_t inputs[MAX_TENSORS] = {0}, outputs[MAX_TENSORS] = {0};
  for (uint32_t i = 0; i < program->num_inputs; i++)
    MIRAGE_TRY(make_tensor(device, &program->inputs[i], &inputs[i]));
  for (uint32_t i = 0; i < program->num_outputs; i++)
    MIRAGE_TRY(make_tensor(device, &program->outputs[i], &outputs[i]));
  MIRAGE_TRY(mirage_callable_launch(program->callable, 0, inputs, outputs, NULL, &DIAG)); // device 0, its own stream
  MIRAGE_TRY(mirage_device_synchronize(device, &DIAG));
  for (uint32_t i = 0; i < program->num_outputs; i++) {
    _Float16 first;
    MIRAGE_TRY(mirage_device_download(device, &first, outputs[i], sizeof first, &DIAG));
    printf("output %u begins with %g\n", i, (double)first);
  }
  return MIRAGE_OK;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return fprintf(stderr, "usage: call_from_c compiled.mlir\n"), 2;
  MirageCompilation *compilation = read_programs(argv[1]);
  if (!compilation)
    return 1;
  const MirageCompiledProgram *program = mirageCompilationGetProgram(compilation, 0);
  MirageDevice *device = NULL;
  MirageStatus status = program->num_inputs <= MAX_TENSORS && program->num_outputs <= MAX_TENSORS
                            ? mirage_device_create(0, &DIAG, &device)
                            : mirage_diag_fail(&DIAG, NULL, MIRAGE_LIMIT, "more than %d tensors", MAX_TENSORS);
  if (status == MIRAGE_OK)
    status = call(device, program);
  mirageCompilationDestroy(compilation);
  mirage_device_destroy(device); // and its memory
  return status == MIRAGE_OK ? 0 : 1;
}
