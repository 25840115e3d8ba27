// test_capi.c - the C API of the whole (mirage-c/Compile.h, Register.h): what a compilation says and gives, its calls on the
// emulator and on the fake driver, and what is refused.
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_runtime.h"
#include "mirage-c/Register.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Pass.h"
#include "plugin_entries.h"
#include <math.h>
#include <pthread.h>

static const char PROGRAM[] =
    "mirage_kernel.graph @exps(%x: tensor<8x32xf32>, %w: tensor<32x16xf32>) -> tensor<8x16xf32> {\n"
    "  %y = matmul %x, %w : tensor<8x32xf32>, tensor<32x16xf32>\n"
    "  %z = exp %y : tensor<8x16xf32>\n"
    "  return %z : tensor<8x16xf32>\n"
    "}\n";

// A program in each of two functions.
static const char LINALG[] =
    "func.func @f(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>) -> tensor<8x16xf32> {\n"
    "  %e = tensor.empty() : tensor<8x16xf32>\n"
    "  %a = linalg.exp ins(%x : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>\n"
    "  %b = linalg.add ins(%a, %y : tensor<8x16xf32>, tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> "
    "tensor<8x16xf32>\n"
    "  return %b : tensor<8x16xf32>\n"
    "}\n"
    "func.func @g(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {\n"
    "  %e = tensor.empty() : tensor<4x16xf32>\n"
    "  %a = linalg.exp ins(%x : tensor<4x16xf32>) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>\n"
    "  %b = linalg.add ins(%a, %x : tensor<4x16xf32>, tensor<4x16xf32>) outs(%e : tensor<4x16xf32>) -> "
    "tensor<4x16xf32>\n"
    "  return %b : tensor<4x16xf32>\n"
    "}\n";

// Every error of a test, one after the other: "file:line:column: text".
typedef struct Said {
  char errors[4096];
  uint32_t num_errors, num_remarks;
} Said;

static void say(const MirageMessage *message, void *user) {
  Said *said = user;
  size_t used = strlen(said->errors);
  if (message->severity == MIRAGE_SEVERITY_REMARK)
    said->num_remarks++;
  if (message->severity != MIRAGE_SEVERITY_ERROR)
    return;
  said->num_errors++;
  snprintf(said->errors + used, sizeof said->errors - used, "%s:%d:%d: %s\n", message->file, message->line,
           message->column, message->text);
}

static void assert_said(const Said *said, const char *part) {
  if (!strstr(said->errors, part))
    fail_msg("expected an error with\n  %s\ngot\n  %s", part, said->errors);
}

static MirageCompilation *compile(const char *text, const char *options, Said *said) {
  MirageCompilation *compilation = NULL;
  MirageCompileOptions asked = {.options = options, .on_message = say, .user = said};
  if (mirageCompile(text, strlen(text), &asked, &compilation) != MIRAGE_OK)
    fail_msg("not compiled: %s", said->errors);
  return compilation;
}

static void fill(float *values, size_t count, float step) {
  for (size_t i = 0; i < count; i++)
    values[i] = step * (float)((i * 7) % 11) - 2 * step;
}

// ----------------------------------------------------------------------------------------------------------- compiling

static void test_version(void **unused) { assert_string_equal(mirageGetVersion(), MIRAGE_TEST_VERSION); }

static void test_compile(void **unused) {
  Said said = {0};
  MirageCompilation *compilation = compile(PROGRAM, "measure=no", &said);
  assert_true(said.num_remarks >= 4);
  assert_int_equal(mirageCompilationGetNumPrograms(compilation), 1);
  const MirageCompiledProgram *program = mirageCompilationGetProgram(compilation, 0);
  assert_null(mirageCompilationGetProgram(compilation, 1));
  assert_ptr_equal(mirageCompilationFindProgram(compilation, "exps"), program);
  assert_null(mirageCompilationFindProgram(compilation, "exp"));
  assert_string_equal(program->chip, "sm_90a"); // h200 where nothing is said
  assert_true(strncmp(program->graph, "exps_", 5) == 0);
  assert_int_equal(program->ptx_bytes, strlen(program->ptx));
  assert_non_null(strstr(program->ptx, ".target sm_90a"));
  assert_true(program->log2_bound < -60 && program->predicted_us > 0);
  assert_true(program->measured_us == 0);
  assert_int_equal(program->num_inputs, 2);
  assert_int_equal(program->inputs[1].shape[0], 32);
  assert_int_equal(program->outputs[0].dtype, MIRAGE_F32);
  mirageCompilationDestroy(compilation);
}

static void test_launch_numbers(void **unused) {
  Said said = {0};
  MirageCompilation *compilation = compile(PROGRAM, "measure=no", &said);
  const MirageCompiledProgram *program = mirageCompilationGetProgram(compilation, 0);
  assert_int_equal(program->plan->num_inputs, 2);
  assert_true(program->plan->num_kernels >= 1);
  for (uint32_t k = 0; k < program->plan->num_kernels; k++) {
    const MiragePlannedKernel *kernel = &program->plan->kernels[k];
    char entry[160];
    snprintf(entry, sizeof entry, ".entry %s(", kernel->name);
    assert_non_null(strstr(program->ptx, entry));
    assert_true(kernel->grid[0] >= 1 && kernel->threads % 32 == 0);
    assert_true(kernel->num_pointers >= 2);
  }
  const MiragePlannedKernel *last = &program->plan->kernels[program->plan->num_kernels - 1];
  assert_int_equal(program->plan->sources[last->first_source + last->num_pointers - 1].kind, MIRAGE_FROM_OUTPUT);
  mirageCompilationDestroy(compilation);
}

static void test_other_target(void **unused) {
  Said said = {0};
  MirageCompilation *compilation = NULL;
  MirageCompileOptions options = {.target = "RTX 4090", .options = "measure=no", .on_message = say, .user = &said};
  assert_int_equal(mirageCompile(PROGRAM, strlen(PROGRAM), &options, &compilation), MIRAGE_OK);
  assert_string_equal(mirageCompilationGetProgram(compilation, 0)->chip, "sm_89");
  mirageCompilationDestroy(compilation);
}

static void test_no_options(void **unused) {
  MirageCompilation *compilation = NULL;
  assert_int_equal(setenv("MIRAGE_MEASURE", "no", 1), 0);
  assert_int_equal(mirageCompile(PROGRAM, strlen(PROGRAM), NULL, &compilation), MIRAGE_OK);
  assert_int_equal(mirageCompilationGetNumPrograms(compilation), 1);
  mirageCompilationDestroy(compilation);
  mirageCompilationDestroy(NULL);
}

static void test_linalg(void **unused) {
  Said said = {0};
  MirageCompilation *compilation = compile(LINALG, "measure=no", &said);
  assert_int_equal(mirageCompilationGetNumPrograms(compilation), 2);
  assert_string_equal(mirageCompilationGetProgram(compilation, 0)->name, "f_0");
  const MirageCompiledProgram *program = mirageCompilationFindProgram(compilation, "g_0");
  assert_int_equal(program->num_inputs, 1);
  float in[64], out[64];
  fill(in, 64, 0.25F);
  assert_int_equal(mirageProgramEmulate(program, (const void *[]){in}, (void *[]){out}, say, &said), MIRAGE_OK);
  for (int i = 0; i < 64; i++)
    assert_true(fabsf(out[i] - expf(in[i]) - in[i]) < 1e-5F);
  size_t length = 0;
  const char *text = mirageCompilationGetModuleText(compilation, &length);
  assert_int_equal(strlen(text), length);
  assert_non_null(strstr(text, "mirage_kernel.call @f_0"));
  mirageCompilationDestroy(compilation);
}

static void *compile_in_thread(void *user) {
  Said *said = user;
  const char *text = said->num_remarks ? LINALG : PROGRAM;
  MirageCompileOptions options = {.options = "measure=no", .on_message = say, .user = said};
  MirageCompilation *compilation; // NULL after a failure
  mirageCompile(text, strlen(text), &options, &compilation);
  return compilation;
}

// Two compilations at once; each hears its own messages.
static void test_threads(void **unused) {
  Said said[2] = {{.num_remarks = 0}, {.num_remarks = 1}};
  pthread_t threads[2];
  void *compilations[2];
  for (int i = 0; i < 2; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, compile_in_thread, &said[i]), 0);
  for (int i = 0; i < 2; i++)
    assert_int_equal(pthread_join(threads[i], &compilations[i]), 0);
  assert_true(compilations[0] && compilations[1]);
  assert_int_equal(mirageCompilationGetNumPrograms(compilations[0]), 1);
  assert_int_equal(mirageCompilationGetNumPrograms(compilations[1]), 2);
  assert_true(said[1].num_remarks > said[0].num_remarks);
  mirageCompilationDestroy(compilations[0]);
  mirageCompilationDestroy(compilations[1]);
}

// ------------------------------------------------------------------------------------------------------------- refused

static void refuse(const char *text, const char *target, const char *options, MirageStatus status, const char *error) {
  Said said = {0};
  MirageCompilation *compilation = (MirageCompilation *)&said;
  MirageCompileOptions asked = {
      .target = target, .options = options, .file = "net.mlir", .on_message = say, .user = &said};
  MirageStatus got = mirageCompile(text, strlen(text), &asked, &compilation);
  assert_said(&said, error);
  assert_int_equal(got, status);
  assert_null(compilation);
  asked.on_message = NULL; // and with nobody listening
  assert_int_equal(mirageCompile(text, strlen(text), &asked, &compilation), status);
}

static void test_refused_texts(void **unused) {
  refuse("this is no MLIR", NULL, NULL, MIRAGE_BAD_GRAPH, "net.mlir:1:1: ");
  refuse("", NULL, NULL, MIRAGE_BAD_GRAPH, "no program");
  refuse("module {}", NULL, NULL, MIRAGE_BAD_GRAPH, "no program: the module holds neither");
  refuse("\n  func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> { return %x : tensor<4xi32> }", NULL, NULL,
         MIRAGE_BAD_GRAPH, "no program");
  refuse("mirage_kernel.graph @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {\n"
         "  %y = matmul %x, %x : tensor<4x8xf32>, tensor<4x8xf32>\n"
         "  return %y : tensor<4x8xf32>\n"
         "}\n",
         NULL, NULL, MIRAGE_BAD_GRAPH, "net.mlir:2:8: ");
  refuse("mirage_kernel.graph @g(%x: tensor<?x8xf32>) -> tensor<?x8xf32> { return %x : tensor<?x8xf32> }", NULL, NULL,
         MIRAGE_BAD_GRAPH, "net.mlir:1:");
}

static void test_refused_program(void **unused) {
  refuse("mirage_kernel.graph @g(%x: tensor<9999999999x9xf32>) -> tensor<9999999999x9xf32> {\n"
         "  %y = exp %x : tensor<9999999999x9xf32>\n"
         "  return %y : tensor<9999999999x9xf32>\n"
         "}\n",
         NULL, "measure=no", MIRAGE_UNSUPPORTED,
         "net.mlir:2:8: custom: an extent of 9999999999 is beyond 32-bit indices");
}

static void test_refused_options(void **unused) {
  refuse(PROGRAM, "h9000", NULL, MIRAGE_BAD_ARGUMENT, "target 'h9000' is not known; known are");
  refuse(PROGRAM, NULL, "target=h9000", MIRAGE_BAD_ARGUMENT, "target 'h9000' is not known; known are");
  refuse(PROGRAM, NULL, "colour=red", MIRAGE_BAD_ARGUMENT, "colour");
  refuse(PROGRAM, NULL, "max-block-ops=many", MIRAGE_BAD_ARGUMENT, "mirage-superoptimize: ");
  refuse(PROGRAM, NULL, "max-block-ops=0", MIRAGE_BAD_ARGUMENT, "max-block-ops must lie between 1 and 64, got 0");
  refuse(PROGRAM, NULL, "measure=no},canonicalize{", MIRAGE_BAD_ARGUMENT, "brackets and quotation marks");
  refuse(PROGRAM, "a100} ", NULL, MIRAGE_BAD_ARGUMENT, "brackets and quotation marks");
  refuse(PROGRAM, "a100", "measure=no target=h200", MIRAGE_BAD_ARGUMENT, "the target is given twice");
}

// -------------------------------------------------------------------------------------------------------------- calling

static void test_emulate(void **unused) {
  Said said = {0};
  MirageCompilation *compilation = compile(PROGRAM, "measure=no", &said);
  const MirageCompiledProgram *program = mirageCompilationGetProgram(compilation, 0);
  float x[8 * 32], w[32 * 16], y[8 * 16];
  fill(x, 8 * 32, 0.05F);
  fill(w, 32 * 16, 0.03F);
  for (int call = 0; call < 2; call++) {
    memset(y, 0, sizeof y);
    assert_int_equal(mirageProgramEmulate(program, (const void *[]){x, w}, (void *[]){y}, say, &said), MIRAGE_OK);
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < 16; j++) {
        double sum = 0;
        for (int k = 0; k < 32; k++)
          sum += (double)x[i * 32 + k] * (double)w[k * 16 + j];
        assert_true(fabs((double)y[i * 16 + j] - exp(sum)) < 1e-4 * exp(sum));
      }
  }
  mirageCompilationDestroy(compilation);
}

static void test_launch_without_driver(void **unused) {
  Said said = {0};
  MirageCompilation *compilation = compile(PROGRAM, "measure=no", &said);
  const MirageCompiledProgram *program = mirageCompilationGetProgram(compilation, 0);
  uint64_t pointers[2] = {256, 512};
  setenv("MIRAGE_CUDA_LIBRARY", "/nonexistent/libcuda.so", 1);
  assert_int_equal(mirageProgramLaunch(program, pointers, pointers, NULL, say, &said), MIRAGE_NO_DEVICE);
  assert_said(&said, "cannot load MIRAGE_CUDA_LIBRARY=/nonexistent/libcuda.so");
  assert_int_equal(mirageProgramLaunch(program, pointers, pointers, NULL, NULL, NULL), MIRAGE_NO_DEVICE);
  unsetenv("MIRAGE_CUDA_LIBRARY");
  mirageCompilationDestroy(compilation);
}

static void test_launch(void **unused) {
  Said said = {0};
  CuResult (*push)(CuContext), (*pop)(CuContext *);
  CuContext (*get_other)(void), popped = NULL;
  *(void **)&push = dlsym(fake_handle, "cuCtxPushCurrent_v2");
  *(void **)&pop = dlsym(fake_handle, "cuCtxPopCurrent_v2");
  *(void **)&get_other = dlsym(fake_handle, "fake_cuda_context");
  MirageCompilation *compilation = compile(PROGRAM, "measure=no tensor-maps=false", &said);
  const MirageCompiledProgram *program = mirageCompilationGetProgram(compilation, 0);
  const uint64_t inputs[2] = {0x1000, 0x2000}, outputs[1] = {0x3000}, odd[1] = {0x3001};

  assert_int_equal(mirageProgramLaunch(program, inputs, outputs, NULL, say, &said), MIRAGE_BAD_ARGUMENT);
  assert_said(&said, "no context is current for this thread");
  assert_int_equal(push(get_other()), CU_SUCCESS);
  assert_int_equal(mirageProgramLaunch(program, inputs, odd, NULL, say, &said), MIRAGE_BAD_ARGUMENT);
  assert_said(&said, "output 0");
  for (int call = 0; call < 2; call++)
    if (mirageProgramLaunch(program, inputs, outputs, NULL, say, &said) != MIRAGE_OK)
      fail_msg("not launched: %s", said.errors);
  assert_int_equal(fake->num_loads, 1); // once a context
  const MiragePlannedKernel *kernel = &program->plan->kernels[0];
  assert_int_equal(fake->num_launches, 2 * program->plan->num_kernels);
  assert_string_equal(fake->launches[0].kernel, kernel->name);
  assert_int_equal(fake->launches[0].grid[0], kernel->grid[0]);
  assert_ptr_equal(fake->launches[0].stream, MIRAGE_STREAM_LEGACY);
  assert_int_equal(fake->launches[0].num_pointers, kernel->num_pointers);
  assert_int_equal(fake->launches[0].pointers[0], 0x1000);
  mirageCompilationDestroy(compilation);
  assert_int_equal(pop(&popped), CU_SUCCESS);
}

// ---------------------------------------------------------------------------------------------------- with MLIR's C API

static MlirLogicalResult keep_diagnostic(MlirDiagnostic diagnostic, void *user) {
  Said *said = user;
  said->num_errors += mlirDiagnosticGetSeverity(diagnostic) == MlirDiagnosticError;
  return mlirLogicalResultSuccess();
}

static void ignore_text(MlirStringRef part, void *user) {}

static void test_read_module(void **unused) {
  Said said = {0};
  MirageCompilation *compilation = NULL;
  MlirContext context = mlirContextCreate();
  mirageRegisterEverything(context);
  mirageRegisterEverything(context); // again does no harm
  mlirContextAttachDiagnosticHandler(context, keep_diagnostic, &said, NULL);
  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(LINALG));
  assert_false(mlirModuleIsNull(module));
  assert_int_equal(mirageReadModule(module, &compilation), MIRAGE_BAD_GRAPH); // not yet
  assert_null(compilation);
  assert_int_equal(said.num_errors, 1);

  MlirPassManager manager = mlirPassManagerCreate(context);
  MlirStringRef pipeline = mlirStringRefCreateFromCString(
      "builtin.module(convert-linalg-to-mirage,mirage-superoptimize{measure=no progress=none})");
  assert_true(mlirLogicalResultIsSuccess(
      mlirParsePassPipeline(mlirPassManagerGetAsOpPassManager(manager), pipeline, ignore_text, NULL)));
  assert_true(mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module))));
  mlirPassManagerDestroy(manager);
  assert_int_equal(mirageReadModule(module, &compilation), MIRAGE_OK);
  mlirModuleDestroy(module);
  mlirContextDestroy(context); // what was read does not need it
  assert_int_equal(mirageCompilationGetNumPrograms(compilation), 2);
  assert_non_null(strstr(mirageCompilationFindProgram(compilation, "f_0")->ptx, ".entry"));
  mirageCompilationDestroy(compilation);
}

// A process that links the library and loads the plugin has the dialects and passes once: two copies would end it.
static void test_beside_plugin(void **unused) {
  char path[sizeof fake_library];
  strcpy(path, fake_library);
  strcpy(strrchr(path, '/'), "/mirage-mlir.so");
  void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!plugin)
    fail_msg("%s", dlerror());
  MlirContext context = mlirContextCreate();
  mirageRegisterEverything(context);
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mirageRegisterDialects(registry);
  struct DialectPluginLibraryInfo dialects;
  struct PassPluginLibraryInfo passes;
  assert_true(plugin_get_dialects(plugin, &dialects) && plugin_get_passes(plugin, &passes));
  assert_int_equal(dialects.api_version, 1);
  dialects.register_dialects(registry.ptr);
  passes.register_passes();
  mlirContextAppendDialectRegistry(context, registry);
  mlirDialectRegistryDestroy(registry);
  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(PROGRAM));
  assert_false(mlirModuleIsNull(module));
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
}

// The text of a compiled module is a module that can be read.
static void test_read_text(void **unused) {
  Said said = {0};
  MirageCompilation *first = compile(PROGRAM, "measure=no", &said), *second = NULL;
  MlirContext context = mlirContextCreate();
  mirageRegisterEverything(context);
  MlirModule module =
      mlirModuleCreateParse(context, mlirStringRefCreateFromCString(mirageCompilationGetModuleText(first, NULL)));
  assert_int_equal(mirageReadModule(module, &second), MIRAGE_OK);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  assert_string_equal(mirageCompilationGetProgram(first, 0)->ptx, mirageCompilationGetProgram(second, 0)->ptx);
  mirageCompilationDestroy(first);
  mirageCompilationDestroy(second);
}

// A program that was selected and then lost its code.
static void test_read_module_without_code(void **unused) {
  Said said = {0};
  MirageCompilation *whole = compile(PROGRAM, "measure=no", &said), *compilation = NULL;
  MlirContext context = mlirContextCreate();
  mirageRegisterEverything(context);
  mlirContextAttachDiagnosticHandler(context, keep_diagnostic, &said, NULL);
  MlirModule module =
      mlirModuleCreateParse(context, mlirStringRefCreateFromCString(mirageCompilationGetModuleText(whole, NULL)));
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module)), last = op;
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    last = op;
  mlirOperationDestroy(last); // the gpu.binary
  assert_int_equal(mirageReadModule(module, &compilation), MIRAGE_BAD_GRAPH);
  assert_null(compilation);
  assert_int_equal(said.num_errors, 1);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  mirageCompilationDestroy(whole);
}

int main(void) {
  find_fake_library();
  setenv("MIRAGE_MEASURE", "no", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_version),
      cmocka_unit_test(test_compile),
      cmocka_unit_test(test_launch_numbers),
      cmocka_unit_test(test_other_target),
      cmocka_unit_test(test_no_options),
      cmocka_unit_test(test_linalg),
      cmocka_unit_test(test_read_text),
      cmocka_unit_test(test_beside_plugin),
      cmocka_unit_test(test_threads),
      cmocka_unit_test(test_refused_texts),
      cmocka_unit_test(test_refused_program),
      cmocka_unit_test(test_refused_options),
      cmocka_unit_test(test_emulate),
      cmocka_unit_test(test_launch_without_driver),
      ON_FAKE(test_launch),
      cmocka_unit_test(test_read_module),
      cmocka_unit_test(test_read_module_without_code),
  };
  return cmocka_run_group_tests_name("capi", tests, NULL, NULL);
}
