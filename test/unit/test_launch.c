// test_launch.c - the functions of libmirage_runtime.so, on a driver without a GPU (fake_cuda.c) and on the emulated GPU.
//
// Which of the two a process uses is decided at its first call, and an error ends it: each case runs in a child, whose exit
// status and standard error are looked at.
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_cuda.h"
#include "mirage/canonical.h"
#include "mirage/codegen.h"
#include "mirage/emulator.h"
#include "mirage/layout.h"
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// What the library exports; MLIR declares it nowhere.
void *mgpuModuleLoadJIT(const void *data, int opt_level);
void mgpuModuleUnload(void *module);
void *mgpuModuleGetFunction(void *module, const char *name);
void mgpuLaunchKernel(void *function, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, int32_t, void *stream,
                      void **parameters, void **extra, size_t num_parameters);
void mgpuLaunchClusterKernel(void *function, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t,
                             intptr_t, intptr_t, int32_t, void *stream, void **parameters, void **extra);
void *mgpuStreamCreate(void);
void mgpuStreamDestroy(void *stream);
void mgpuStreamSynchronize(void *stream);
void mgpuStreamWaitEvent(void *stream, void *event);
void *mgpuEventCreate(void);
void mgpuEventDestroy(void *event);
void mgpuEventSynchronize(void *event);
void mgpuEventRecord(void *event, void *stream);
void *mgpuMemAlloc(uint64_t bytes, void *stream, bool host_shared);
void mgpuMemFree(void *pointer, void *stream);
void mgpuMemcpy(void *to, void *from, size_t bytes, void *stream);
void mgpuMemset16(void *to, unsigned short value, size_t count, void *stream);
void mgpuMemset32(void *to, unsigned value, size_t count, void *stream);
void mgpuMemHostRegisterMemRef(int64_t rank, void *memref, int64_t element_bytes);
void *_mlir_memref_to_llvm_aligned_alloc(size_t alignment, size_t bytes);
void _mlir_memref_to_llvm_free(void *pointer);
void mirageEncodeTensorMap(void *out, void *tensor, int64_t dtype, int64_t rank, int64_t swizzle, int64_t, int64_t,
                           int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                           int64_t, int64_t, int64_t);

// ------------------------------------------------------------------------------------------------------------ children

enum { FAILED_CHECK = 99 };

// In a child, where cmocka's assertions say nothing.
#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                                  \
      _Exit(FAILED_CHECK);                                                                                             \
    }                                                                                                                  \
  } while (0)

typedef struct Outcome {
  int status;
  char said[2048];
} Outcome;

static Outcome run_child(void (*body)(void), const char *emulator) {
  Outcome outcome = {0};
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    setenv("MIRAGE_EMULATOR", emulator, 1);
    setenv("MIRAGE_CUDA_LIBRARY", MIRAGE_FAKE_CUDA, 1);
    body();
    _Exit(0);
  }
  close(ends[1]);
  size_t used = 0;
  for (ssize_t n; (n = read(ends[0], outcome.said + used, sizeof outcome.said - 1 - used)) > 0;)
    used += (size_t)n;
  close(ends[0]);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return outcome;
}

static void expect_fine(void (*body)(void), const char *emulator) {
  Outcome outcome = run_child(body, emulator);
  if (outcome.status != 0)
    print_error("%s\n", outcome.said);
  assert_int_equal(outcome.status, 0);
}

static void expect_error(void (*body)(void), const char *emulator, const char *sentence) {
  Outcome outcome = run_child(body, emulator);
  if (outcome.status != 1 || !strstr(outcome.said, sentence))
    print_error("status %d, said: %s\nwanted: %s\n", outcome.status, outcome.said, sentence);
  assert_int_equal(outcome.status, 1);
  assert_non_null(strstr(outcome.said, sentence));
}

// The fake driver that the library has opened, in the child.
static FakeCuda *fake(void) {
  void *library = dlopen(MIRAGE_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
  FakeCuda *(*state)(void);
  CHECK(library);
  void *symbol = dlsym(library, "fake_cuda_state");
  CHECK(symbol);
  memcpy(&state, &symbol, sizeof state);
  return state();
}

// -------------------------------------------------------------------------------------------------------------- driver

static void add_floats(const FakeLaunch *launch) {
  const float *a = (const float *)(uintptr_t)launch->pointers[0], *b = (const float *)(uintptr_t)launch->pointers[1];
  float *out = (float *)(uintptr_t)launch->pointers[2];
  for (int i = 0; i < 8; i++)
    out[i] = a[i] + b[i];
}

static void launch_add(void *function, void *stream, size_t num_parameters) {
  void *a = mgpuMemAlloc(32, stream, false), *b = mgpuMemAlloc(32, stream, false), *c = mgpuMemAlloc(32, stream, false);
  void *parameters[] = {&a, &b, &c};
  float ones[8], sum[8] = {0};
  for (int i = 0; i < 8; i++)
    ones[i] = 1;
  mgpuMemcpy(a, ones, sizeof ones, stream);
  mgpuMemset32(b, 0x40000000, 8, stream); // 2.0
  mgpuLaunchKernel(function, 3, 2, 1, 32, 4, 1, 1024, stream, parameters, NULL, num_parameters);
  mgpuMemcpy(sum, c, sizeof sum, stream);
  mgpuStreamSynchronize(stream);
  for (int i = 0; i < 8; i++)
    CHECK(sum[i] == 3);
  mgpuMemFree(a, stream);
  mgpuMemFree(b, stream);
  mgpuMemFree(c, stream);
}

static void body_launch(void) {
  fake()->run = add_floats;
  void *module = mgpuModuleLoadJIT("add 3\n", 2), *stream = mgpuStreamCreate();
  void *function = mgpuModuleGetFunction(module, "add");
  launch_add(function, stream, 3);
  launch_add(function, stream, 3);
  const FakeLaunch *launch = &fake()->launches[0];
  CHECK(fake()->num_launches == 2 && launch->grid[0] == 3 && launch->grid[1] == 2 && launch->grid[2] == 1);
  CHECK(launch->shared_bytes == 1024 && launch->stream == (CuStream)stream);
  CHECK(fake()->num_live_allocations == 0 && fake()->context_depth == 0 && fake()->pool_keeps == UINT64_MAX);
  mgpuModuleUnload(module);
}
static void test_launch(void **state) {
  (void)state;
  expect_fine(body_launch, "0");
}

static void body_cluster(void) {
  void *module = mgpuModuleLoadJIT("k 1\n", 0), *pointer = mgpuMemAlloc(64, NULL, false), *parameters[] = {&pointer};
  mgpuLaunchClusterKernel(mgpuModuleGetFunction(module, "k"), 4, 2, 1, 8, 6, 5, 128, 1, 1, 0, mgpuStreamCreate(),
                          parameters, NULL);
  const FakeLaunch *launch = &fake()->launches[0];
  CHECK(launch->cluster[0] == 4 && launch->cluster[1] == 2 && launch->cluster[2] == 1);
  CHECK(launch->grid[0] == 8 && launch->grid[1] == 6 && launch->grid[2] == 5 && launch->threads == 128);
}
static void test_cluster(void **state) {
  (void)state;
  expect_fine(body_cluster, "0");
}

static void body_streams(void) {
  void *a = mgpuStreamCreate(), *b = mgpuStreamCreate(), *event = mgpuEventCreate();
  CHECK(a != b);
  mgpuEventRecord(event, a);
  mgpuStreamWaitEvent(b, event);
  mgpuEventSynchronize(event);
  mgpuEventDestroy(event);
  unsigned objects = fake()->num_live_objects;
  mgpuStreamDestroy(a);
  CHECK(mgpuStreamCreate() == a && fake()->num_live_objects == objects);
}
static void test_streams(void **state) {
  (void)state;
  expect_fine(body_streams, "0");
}

static void body_memory(void) {
  uint16_t *halves = mgpuMemAlloc(64, NULL, true);
  mgpuMemset16(halves, 0x3c00, 32, NULL);
  CHECK(halves[0] == 0x3c00 && halves[31] == 0x3c00);
  mgpuMemFree(halves, NULL);
  void *pooled = mgpuMemAlloc(64, mgpuStreamCreate(), false);
  mgpuMemFree(pooled, NULL);
  void *rows = _mlir_memref_to_llvm_aligned_alloc(256, 100);
  CHECK((uintptr_t)rows % 256 == 0);
  _mlir_memref_to_llvm_free(rows);
  _mlir_memref_to_llvm_free(NULL);
  CHECK(fake()->num_live_allocations == 2); // what host and device share is kept,
  CHECK(_mlir_memref_to_llvm_aligned_alloc(256, 100) == rows && mgpuMemAlloc(64, NULL, true) == halves);
  CHECK(_mlir_memref_to_llvm_aligned_alloc(256, 100) != rows && fake()->num_live_allocations == 3);
  mgpuMemFree(rows, mgpuStreamCreate()); // but not where work on a stream may use it still
  CHECK(fake()->num_live_allocations == 2);
  struct {
    char *base, *data;
    int64_t offset, sizes[2], strides[2];
  } memref = {(char *)&halves, (char *)&halves, 0, {3, 4}, {10, 1}};
  mgpuMemHostRegisterMemRef(2, &memref, 2);
  CHECK(fake()->registered_bytes == 2 * (2 * 10 + 3 + 1));
}
static void test_memory(void **state) {
  (void)state;
  expect_fine(body_memory, "0");
}

static void encode(int64_t dtype, int64_t rank, int64_t stride, void *out, void *tensor) {
  mirageEncodeTensorMap(out, tensor, dtype, rank, 3, 4096, 64, 0, 0, 0, 2, stride, 0, 0, 0, 64, 32, 0, 0, 0);
}

static void body_map(void) {
  FakeMap maps[2];
  _Alignas(64) unsigned char out[MIRAGE_TENSOR_MAP_BYTES];
  void *tensor = mgpuMemAlloc(4096 * 64 * 2, NULL, false);
  encode(MIRAGE_BF16, 2, 8192, out, tensor);
  memcpy(maps, out, sizeof out < sizeof maps ? sizeof out : sizeof maps);
  CHECK(maps[0].address == (uintptr_t)tensor && maps[0].rank == 2 && maps[0].dtype == CU_TENSOR_BFLOAT16);
  CHECK(maps[0].extents[0] == 4096 && maps[0].extents[1] == 64 && maps[0].strides[0] == 8192 && maps[0].box[1] == 32);
}
static void test_map(void **state) {
  (void)state;
  expect_fine(body_map, "0");
}

// What nobody uses is given back before memory is out.
static void body_scarce(void) {
  uint64_t half = fake()->total_bytes / 2;
  void *first = mgpuMemAlloc(half, NULL, true);
  mgpuMemFree(first, NULL);
  mgpuMemAlloc(half + 256, NULL, true);
  CHECK(fake()->num_live_allocations == 1);
}
static void test_scarce(void **state) {
  (void)state;
  expect_fine(body_scarce, "0");
}

// ------------------------------------------------------------------------------------------------------- driver, errors

static void body_no_kernel(void) { launch_add(mgpuModuleGetFunction(mgpuModuleLoadJIT("add 3\n", 0), "sub"), NULL, 3); }
static void body_parameters(void) {
  launch_add(mgpuModuleGetFunction(mgpuModuleLoadJIT("add 3\n", 0), "add"), NULL, 4);
}
static void body_load(void) {
  fake()->fail_symbol = "cuModuleLoadDataEx";
  fake()->fail_result = 218;
  fake()->compiler_log = "line 1: no such register";
  mgpuModuleLoadJIT("add 3\n", 0);
}
static void body_hard_launch(void) {
  fake()->fail_symbol = "cuLaunchKernelEx";
  fake()->fail_result = 1;
  launch_add(mgpuModuleGetFunction(mgpuModuleLoadJIT("add 3\n", 0), "add"), NULL, 3);
}
static void body_kernel_fails(void) {
  fake()->kernel_result = 700;
  launch_add(mgpuModuleGetFunction(mgpuModuleLoadJIT("add 3\n", 0), "add"), mgpuStreamCreate(), 3);
}
static void body_out_of_memory(void) { mgpuMemAlloc(UINT64_C(1) << 40, NULL, false); }
static void body_old_device(void) {
  unsigned char out[MIRAGE_TENSOR_MAP_BYTES];
  fake()->compute_major = 8;
  encode(MIRAGE_F16, 2, 8192, out, out);
}
static void body_odd_map(void) {
  unsigned char out[MIRAGE_TENSOR_MAP_BYTES];
  encode(MIRAGE_F16, 2, 8190, out, mgpuMemAlloc(64, NULL, false));
}
static void body_no_map(void) {
  unsigned char out[MIRAGE_TENSOR_MAP_BYTES];
  encode(MIRAGE_I32, 2, 8192, out, out);
}
static void body_alignment(void) { _mlir_memref_to_llvm_aligned_alloc(512, 64); }
static void body_meeting(void) {
  void *pointer = NULL, *parameters[] = {&pointer};
  void *module = mgpuModuleLoadJIT(".visible .entry k(\n.param .u64 a\n)\n{}\n// mirage: blocks of k meet\n", 0);
  mgpuLaunchKernel(mgpuModuleGetFunction(module, "k"), 100000, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL, 1);
}
static void body_not_meeting(void) { // a kernel that begins with the other's name is another one
  void *pointer = NULL, *parameters[] = {&pointer};
  void *module = mgpuModuleLoadJIT(".visible .entry k(\n.param .u64 a\n)\n{}\n// mirage: blocks of k1 meet\n", 0);
  mgpuLaunchKernel(mgpuModuleGetFunction(module, "k"), 100000, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL, 1);
}

static void test_driver_errors(void **state) {
  (void)state;
  expect_error(body_no_kernel, "0", "launch: no kernel sub in the module");
  expect_error(body_parameters, "0", "add: the kernel takes 3 parameters, got 4");
  expect_error(body_load, "0", "line 1: no such register");
  expect_error(body_hard_launch, "0", "launch: add failed to start: CUDA_ERROR_INVALID_VALUE");
  expect_error(body_kernel_fails, "0", "a kernel on it failed: CUDA_ERROR_ILLEGAL_ADDRESS");
  expect_error(body_out_of_memory, "0",
               "cannot allocate 1099511627776 bytes of device memory: CUDA_ERROR_OUT_OF_MEMORY");
  expect_error(body_old_device, "0", "does not have: compile for this device");
  expect_error(body_odd_map, "0", "stride 1 is 8190: a multiple of 16 bytes");
  char no_map[64];
  snprintf(no_map, sizeof no_map, "element type %d and rank 2 are none", MIRAGE_I32);
  expect_error(body_no_map, "0", no_map);
  expect_error(body_alignment, "0", "memory aligned to 512 bytes is asked for, at most 256");
  expect_error(body_meeting, "0", "its 100000 blocks wait for each other");
  expect_fine(body_not_meeting, "0");
}

// ------------------------------------------------------------------------------------------------------------ emulator

// y = exp(x), 4 x 16 f32, compiled as one kernel; what a gpu.binary of it holds. Made once, before any child.
static struct {
  char *text; // PTX, NUL, image
  void *image;
  size_t bytes;
  int64_t grid[3], threads, shared_bytes;
} compiled;

enum { ELEMENTS = 64, BYTES = 4 * ELEMENTS };

static MirageUGraph *lower(const MirageTarget *target) {
  MirageUGraph *graph = mirage_ugraph_create(NULL, "p", NULL), *lowered = NULL;
  MirageValue x = mirage_ugraph_input(graph, mirage_type_tensor(MIRAGE_F32, 2, (int64_t[]){4, 16}));
  MirageValue y = mirage_ugraph_apply(graph, MIRAGE_OP_EXP, 1, &x, NULL);
  mirage_ugraph_return(graph, 1, &y);
  assert_int_equal(mirage_ugraph_finish(graph), MIRAGE_OK);
  assert_int_equal(mirage_canonicalize(graph, target, NULL, &lowered), MIRAGE_OK);
  mirage_ugraph_meta(lowered)->name = mirage_ugraph_intern_string(lowered, "p");
  mirage_ugraph_destroy(graph);
  return lowered;
}

static int compile(void **state) {
  (void)state;
  const MirageTarget *target = mirage_target_find("h200");
  MirageUGraph *graph = lower(target);
  MirageCode code;
  assert_int_equal(mirage_codegen(graph, target, &(MirageCodegenOptions){.opt_level = 1}, NULL, &code), MIRAGE_OK);
  assert_int_equal(mirage_emulation_image(graph, target, NULL, NULL, &compiled.image, &compiled.bytes), MIRAGE_OK);
  compiled.text = malloc(128 + compiled.bytes);
  assert_non_null(compiled.text);
  int used = snprintf(compiled.text, 128, "PTX\n// mirage: %zu bytes of emulation follow\n", compiled.bytes) + 1;
  memcpy(compiled.text + used, compiled.image, compiled.bytes);
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  const MirageCustomAttrs *attrs = &mirage_ugraph_node(graph, body.nodes[0]).attrs->custom;
  mirage_custom_launch_grid(attrs, compiled.grid);
  compiled.threads = attrs->launch->threads;
  compiled.shared_bytes = attrs->launch->shared_bytes;
  mirage_code_deinit(&code);
  mirage_ugraph_destroy(graph);
  return 0;
}

static int forget(void **state) {
  (void)state;
  free(compiled.text);
  free(compiled.image);
  return 0;
}

static void run_exp(const char *kernel, void *x, void *y, int64_t threads, size_t num_parameters) {
  void *parameters[] = {&x, &y, &y};
  void *function = mgpuModuleGetFunction(mgpuModuleLoadJIT(compiled.text, 0), kernel);
  mgpuLaunchKernel(function, compiled.grid[0], compiled.grid[1], compiled.grid[2], threads, 1, 1,
                   (int32_t)compiled.shared_bytes, mgpuStreamCreate(), parameters, NULL, num_parameters);
}

static void body_exp(void) {
  float in[ELEMENTS], out[ELEMENTS];
  void *stream = mgpuStreamCreate(), *x = mgpuMemAlloc(BYTES, stream, false), *y = mgpuMemAlloc(BYTES, stream, false);
  for (int i = 0; i < ELEMENTS; i++)
    in[i] = (float)(i - 32) / 16;
  mgpuMemcpy(x, in, BYTES, stream);
  run_exp("p_k0", x, y, compiled.threads, 2);
  mgpuMemcpy(out, y, BYTES, stream);
  mgpuStreamSynchronize(stream);
  for (int i = 0; i < ELEMENTS; i++)
    CHECK(fabs(out[i] - exp(in[i])) < 1e-5 * exp(in[i]));
  mgpuMemset16(y, 0x3c00, 2, stream);
  CHECK(*(uint32_t *)y == 0x3c003c00);
  mgpuMemFree(x, stream);
  mgpuMemFree(y, stream);
  mgpuStreamDestroy(stream);
}

static void test_emulated(void **state) {
  (void)state;
  expect_fine(body_exp, "1");
}

static void body_few_parameters(void) {
  run_exp("p_k0", mgpuMemAlloc(BYTES, NULL, false), mgpuMemAlloc(BYTES, NULL, false), compiled.threads, 1);
}
static void body_few_threads(void) {
  run_exp("p_k0", mgpuMemAlloc(BYTES, NULL, false), mgpuMemAlloc(BYTES, NULL, false), compiled.threads - 1, 2);
}
static void body_unknown(void) {
  run_exp("p_k1", mgpuMemAlloc(BYTES, NULL, false), mgpuMemAlloc(BYTES, NULL, false), compiled.threads, 2);
}
static void body_short_operand(void) {
  run_exp("p_k0", mgpuMemAlloc(BYTES - 4, NULL, false), mgpuMemAlloc(BYTES, NULL, false), compiled.threads, 2);
}
static void body_short_result(void) {
  run_exp("p_k0", mgpuMemAlloc(BYTES, NULL, false), (char *)mgpuMemAlloc(BYTES, NULL, false) + 16, compiled.threads, 2);
}
static void body_null(void) { run_exp("p_k0", mgpuMemAlloc(BYTES, NULL, false), NULL, compiled.threads, 2); }
static void body_misaligned(void) {
  char *x = mgpuMemAlloc(2 * BYTES, NULL, false);
  run_exp("p_k0", x + 4, mgpuMemAlloc(BYTES, NULL, false), compiled.threads, 2);
}
static void body_in_place(void) {
  void *x = mgpuMemAlloc(BYTES, NULL, false);
  run_exp("p_k0", x, x, compiled.threads, 2);
}
static void body_free_twice(void) {
  void *x = mgpuMemAlloc(BYTES, NULL, false);
  mgpuMemFree(x, NULL);
  mgpuMemFree(x, NULL);
}
static void body_long_fill(void) { mgpuMemset32(mgpuMemAlloc(BYTES, NULL, false), 0, ELEMENTS + 1, NULL); }
static void body_long_copy(void) {
  char *x = mgpuMemAlloc(BYTES, NULL, false);
  mgpuMemcpy(x + 128, x, BYTES, NULL);
}
static void body_plain_ptx(void) { mgpuModuleLoadJIT("PTX\n", 0); }
static void body_empty(void) { mgpuModuleLoadJIT("", 0); }
static void body_told_elsewhere(void) { // not the last line
  mgpuModuleLoadJIT("// mirage: 12 bytes of emulation follow\nPTX\n", 0);
}

static void test_emulator_errors(void **state) {
  (void)state;
  expect_error(body_few_parameters, "1", "launch: p_k0: the kernel takes 2 parameters, got 1");
  expect_error(body_few_threads, "1", "threads per block, the kernel takes");
  expect_error(body_unknown, "1", "no kernel p_k1 in the module");
  expect_error(body_short_operand, "1", "operand 0 has 256 bytes, and the memory that it lies in ends after 252");
  expect_error(body_short_result, "1", "result 0 has 256 bytes, and the memory that it lies in ends after 240");
  expect_error(body_null, "1", "result 0 at address (nil): tensors start on 16 bytes");
  expect_error(body_misaligned, "1", "tensors start on 16 bytes");
  expect_error(body_in_place, "1", "result 0 lies over operand 0");
  expect_error(body_free_twice, "1", "was not allocated, or is free already");
  expect_error(body_long_fill, "1", "fill of 260 bytes, and the memory at");
  expect_error(body_long_copy, "1", "copy of 256 bytes, and the memory at");
  expect_error(body_plain_ptx, "1", "holds nothing that the emulated GPU can run");
  expect_error(body_empty, "1", "holds nothing that the emulated GPU can run");
  expect_error(body_told_elsewhere, "1", "holds nothing that the emulated GPU can run");
}

// -------------------------------------------------------------------------------------------------------------- images

// Whatever an image is cut to, or one byte of its description changed to, it is refused or it is one; nothing crashes.
static void test_damaged_images(void **state) {
  (void)state;
  size_t text = strlen(compiled.image);
  MirageEmulatedModule *module = NULL;
  char *copy = malloc(compiled.bytes);
  assert_non_null(copy);
  for (size_t bytes = 0; bytes < compiled.bytes; bytes += bytes < text + 32 ? 7 : 211) {
    assert_int_not_equal(mirage_emulated_module_create(compiled.image, bytes, NULL, &module), MIRAGE_OK);
    assert_null(module);
  }
  for (size_t at = 0; at < text; at += 3) {
    memcpy(copy, compiled.image, compiled.bytes);
    copy[at] = copy[at] == '-' ? '1' : '-';
    if (mirage_emulated_module_create(copy, compiled.bytes, NULL, &module) == MIRAGE_OK)
      mirage_emulated_module_destroy(module);
    else
      assert_null(module);
  }
  free(copy);
}

// The launches that a graph has and those that its code is made for are compared.
static void test_other_launches(void **state) {
  (void)state;
  const MirageTarget *target = mirage_target_find("h200");
  MirageUGraph *graph = lower(target);
  MirageCode code;
  void *image = &code;
  size_t bytes;
  assert_int_equal(mirage_codegen(graph, target, &(MirageCodegenOptions){.opt_level = 1}, NULL, &code), MIRAGE_OK);
  mirage_ugraph_meta(graph)->name = mirage_ugraph_intern_string(graph, "q"); // its kernels are p's
  assert_int_equal(mirage_emulation_image(graph, target, NULL, NULL, &image, &bytes), MIRAGE_BAD_GRAPH);
  assert_null(image);
  mirage_code_deinit(&code);
  mirage_ugraph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_launch),
      cmocka_unit_test(test_cluster),
      cmocka_unit_test(test_streams),
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_map),
      cmocka_unit_test(test_scarce),
      cmocka_unit_test(test_driver_errors),
      cmocka_unit_test(test_emulated),
      cmocka_unit_test(test_emulator_errors),
      cmocka_unit_test(test_damaged_images),
      cmocka_unit_test(test_other_launches),
  };
  return cmocka_run_group_tests(tests, compile, forget);
}
