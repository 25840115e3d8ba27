// image_read.c - an image (image.h) becomes kernels to run.
//
// An image is input from outside: whatever is wrong with it ends in BAD_ARGUMENT, before any of it runs.
#include "image.h"

#include "codegen/host.h"
#include "llvm-c/BitReader.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static MirageStatus no_memory(const MirageDiag *diag) {
  return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "emulator: out of memory for an image");
}

static MirageStatus bad(const MirageDiag *diag, const char *what) {
  return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT,
                          "emulator: the code behind the PTX is damaged (%s): convert the module again with "
                          "convert-mirage-to-gpu=emulation",
                          what);
}

// --------------------------------------------------------------------------------------------------------- description

// Copies an array of integers of at most `most`; false when it is none.
static bool read_numbers(const json_t *array, uint32_t most, int64_t *out) {
  if (!json_is_array(array) || json_array_size(array) > most)
    return false;
  for (size_t i = 0; i < json_array_size(array); i++) {
    if (!json_is_integer(json_array_get(array, i)))
      return false;
    out[i] = json_integer_value(json_array_get(array, i));
  }
  return true;
}

static bool read_map(json_t *object, MirageTensorMap *map) {
  int pointer, dtype, rank, swizzle;
  json_t *extents, *strides, *box;
  int64_t boxes[MIRAGE_MAP_RANK] = {0};
  if (json_unpack(object, "{s:i, s:i, s:i, s:i, s:o, s:o, s:o}", "pointer", &pointer, "dtype", &dtype, "rank", &rank,
                  "swizzle", &swizzle, "extents", &extents, "strides", &strides, "box", &box) != 0)
    return false;
  if (pointer < 0 || !mirage_dtype_exists(dtype) || rank < 1 || rank > MIRAGE_MAP_RANK)
    return false;
  *map = (MirageTensorMap){
      .pointer = (uint32_t)pointer, .dtype = (MirageDType)dtype, .rank = (uint32_t)rank, .swizzle = swizzle};
  if (!read_numbers(extents, map->rank, map->extents) || !read_numbers(strides, map->rank, map->strides) ||
      !read_numbers(box, map->rank, boxes))
    return false;
  for (int i = 0; i < MIRAGE_MAP_RANK; i++)
    map->box[i] = (int32_t)boxes[i];
  return true;
}

static bool read_maps(const json_t *maps, ImageKernel *kernel) {
  for (uint32_t i = 0; i < kernel->num_maps; i++)
    if (!read_map(json_array_get(maps, i), &kernel->maps[i]) ||
        kernel->maps[i].pointer >= kernel->num_operands + kernel->num_results)
      return false;
  return true;
}

static bool read_bytes(const json_t *operands, const json_t *results, ImageKernel *kernel) {
  int64_t *out = (int64_t *)kernel->bytes;
  if (!read_numbers(operands, kernel->num_operands, out) ||
      !read_numbers(results, kernel->num_results, out + kernel->num_operands))
    return false;
  for (uint32_t i = 0; i < kernel->num_operands + kernel->num_results; i++)
    if (out[i] < 1)
      return false;
  return true;
}

static MirageStatus read_kernel(json_t *object, const MirageDiag *diag, ImageKernel *kernel) {
  const char *name;
  int op, threads, shared, meet;
  json_int_t workspace;
  json_t *operands, *results, *maps;
  if (json_unpack(object, "{s:s, s:i, s:i, s:i, s:b, s:o, s:o, s:I, s:o}", "name", &name, "operator", &op, "threads",
                  &threads, "shared", &shared, "meet", &meet, "operands", &operands, "results", &results, "workspace",
                  &workspace, "maps", &maps) != 0 ||
      op < 1 || threads < 1 || threads > 1024 || shared < 0 || workspace < 0)
    return bad(diag, "a kernel");
  *kernel = (ImageKernel){.op = (uint32_t)op,
                          .threads = threads,
                          .shared_bytes = shared,
                          .workspace_bytes = workspace,
                          .meet = meet,
                          .num_operands = (uint32_t)json_array_size(operands),
                          .num_results = (uint32_t)json_array_size(results),
                          .num_maps = (uint32_t)json_array_size(maps)};
  kernel->name = calloc(1, strlen(name) + 1);
  kernel->bytes = calloc((size_t)kernel->num_operands + kernel->num_results + 1, sizeof *kernel->bytes);
  kernel->maps = calloc((size_t)kernel->num_maps + 1, sizeof *kernel->maps);
  if (!kernel->name || !kernel->bytes || !kernel->maps)
    return no_memory(diag);
  memcpy(kernel->name, name, strlen(name));
  return read_bytes(operands, results, kernel) && read_maps(maps, kernel) ? MIRAGE_OK : bad(diag, "a kernel's memory");
}

static MirageStatus read_kernels(json_t *array, const MirageDiag *diag, MirageEmulatedModule *module) {
  module->kernels = calloc(json_array_size(array) + 1, sizeof *module->kernels);
  if (!module->kernels)
    return no_memory(diag);
  for (size_t i = 0; i < json_array_size(array); i++)
    MIRAGE_TRY(read_kernel(json_array_get(array, i), diag, &module->kernels[module->num_kernels++]));
  return MIRAGE_OK;
}

static const char *known_mnemonic(const char *text) {
  for (int op = 1; op < MIRAGE_NUM_OPS; op++)
    if (strcmp(mirage_op_info((MirageOp)op)->mnemonic, text) == 0)
      return mirage_op_info((MirageOp)op)->mnemonic;
  return NULL;
}

// The location of an operator is its text, which the module keeps.
static MirageStatus read_operators(json_t *array, const MirageDiag *diag, MirageEmulatedModule *module) {
  size_t count = json_array_size(array);
  module->operators = calloc(count + 1, sizeof *module->operators);
  module->locations = calloc(count + 1, sizeof *module->locations);
  if (!module->operators || !module->locations)
    return no_memory(diag);
  module->num_operators = count > 0 ? (uint32_t)count - 1 : 0;
  for (size_t i = 1; i < count; i++) {
    const char *mnemonic, *location;
    if (json_unpack(json_array_get(array, i), "[s, s]", &mnemonic, &location) != 0)
      return bad(diag, "an operator");
    module->locations[i] = calloc(1, strlen(location) + 1);
    if (!module->locations[i])
      return no_memory(diag);
    memcpy(module->locations[i], location, strlen(location));
    module->operators[i] = (Operator){known_mnemonic(mnemonic), *location ? module->locations[i] : NULL};
  }
  return MIRAGE_OK;
}

static MirageStatus read_description(const char *text, const MirageDiag *diag, MirageEmulatedModule *module) {
  int version = 0;
  const char *triple;
  json_t *kernels, *operators, *root = json_loads(text, 0, NULL);
  char *own = LLVMGetDefaultTargetTriple();
  MirageStatus status = MIRAGE_OK;
  if (json_unpack(root, "{s:i, s:s, s:o, s:o}", "mirage_emulation", &version, "triple", &triple, "kernels", &kernels,
                  "operators", &operators) != 0 ||
      version != IMAGE_VERSION)
    status = bad(diag, "its description");
  else if (strcmp(triple, own) != 0)
    status = mirage_diag_fail(
        diag, NULL, MIRAGE_BAD_ARGUMENT,
        "emulator: the code behind the PTX is for %s, this is %s: convert the module on a machine like "
        "this one",
        triple, own);
  if (status == MIRAGE_OK)
    status = read_kernels(kernels, diag, module);
  if (status == MIRAGE_OK)
    status = read_operators(operators, diag, module);
  LLVMDisposeMessage(own);
  json_decref(root);
  return status;
}

// ---------------------------------------------------------------------------------------------------------------- code

static LLVMTargetMachineRef create_machine(void) {
  char *triple = LLVMGetDefaultTargetTriple(), *cpu = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures();
  LLVMTargetRef target;
  char *error = NULL;
  LLVMTargetMachineRef machine = NULL;
  if (LLVMGetTargetFromTriple(triple, &target, &error))
    LLVMDisposeMessage(error);
  else
    machine = LLVMCreateTargetMachine(target, triple, cpu, features, LLVMCodeGenLevelLess, LLVMRelocDefault,
                                      LLVMCodeModelDefault);
  LLVMDisposeMessage(triple);
  LLVMDisposeMessage(cpu);
  LLVMDisposeMessage(features);
  return machine;
}

static void ignore_diagnostic(LLVMDiagnosticInfoRef info, void *user) { (void)info, (void)user; }

static MirageStatus compile(const char *code, size_t bytes, const MirageDiag *diag, MirageEmulatedModule *module) {
  MirageHostModule host = {.context = LLVMContextCreate(), .machine = create_machine()};
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(code, bytes, "kernels");
  LLVMContextSetDiagnosticHandler(host.context, ignore_diagnostic, NULL); // the default ends the process
  bool failed = LLVMParseBitcodeInContext2(host.context, buffer, &host.module);
  LLVMDisposeMemoryBuffer(buffer);
  if (!failed && host.machine)
    return mirage__jit_compile(&host, diag, &module->jit);
  if (host.machine)
    LLVMDisposeTargetMachine(host.machine);
  if (!failed)
    LLVMDisposeModule(host.module);
  LLVMContextDispose(host.context);
  return failed ? bad(diag, "its bitcode")
                : mirage_diag_fail(diag, NULL, MIRAGE_CODEGEN, "emulator: LLVM has no back end for this machine");
}

static MirageStatus read_image(const char *image, size_t bytes, const MirageDiag *diag, MirageEmulatedModule *module) {
  size_t text_bytes = strnlen(image, bytes) + 1;
  if (text_bytes >= bytes)
    return bad(diag, "cut short");
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  MIRAGE_TRY(read_description(image, diag, module));
  MIRAGE_TRY(compile(image + text_bytes, bytes - text_bytes, diag, module));
  for (uint32_t i = 0; i < module->num_kernels; i++)
    MIRAGE_TRY(mirage__jit_find(module->jit, module->kernels[i].name, diag, &module->kernels[i].entry));
  return MIRAGE_OK;
}

MirageStatus mirage_emulated_module_create(const void *image, size_t bytes, const MirageDiag *diag,
                                           MirageEmulatedModule **out_module) {
  MirageEmulatedModule *module = calloc(1, sizeof *module);
  *out_module = NULL;
  if (!module)
    return no_memory(diag);
  MirageStatus status = read_image(image, bytes, diag, module);
  if (status == MIRAGE_OK)
    *out_module = module;
  else
    mirage_emulated_module_destroy(module);
  return status;
}

void mirage_emulated_module_destroy(MirageEmulatedModule *module) {
  if (!module)
    return;
  mirage__jit_destroy(module->jit);
  for (uint32_t i = 0; i < module->num_kernels; i++) {
    free(module->kernels[i].name);
    free(module->kernels[i].bytes);
    free(module->kernels[i].maps);
  }
  for (uint32_t i = 1; module->locations && i <= module->num_operators; i++)
    free(module->locations[i]);
  free(module->kernels);
  free(module->operators);
  free(module->locations);
  free(module);
}
