// test_runtime.c - lib/runtime without a GPU: what it says when there is none, its table of driver errors, its plan of
// intermediates, and everything else against the fake driver (fake_cuda.c).
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../lib/runtime/runtime_impl.h"
#include "fake_cuda.h"
#include "mirage/random.h"
#include "mirage/runtime.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ------------------------------------------------------------------------------------------------------------ fixtures

// Keeps every message of a test in one string.
typedef struct Messages {
  MirageDiag diag;
  char text[2048];
} Messages;

static void keep(void *user, MirageSeverity severity, const void *loc, const char *message) {
  Messages *messages = user;
  size_t used = strlen(messages->text);
  snprintf(messages->text + used, sizeof messages->text - used, "%s\n", message);
}

static Messages *fresh(Messages *messages) {
  messages->text[0] = '\0';
  messages->diag = (MirageDiag){keep, messages};
  return messages;
}

static void assert_says(const Messages *messages, const char *part) {
  if (!strstr(messages->text, part))
    fail_msg("expected a message with\n  %s\ngot\n  %s", part, messages->text);
}

static char fake_library[4096];
static FakeCuda *fake;

static int load_fake(void **unused) {
  void (*reset)(void);
  FakeCuda *(*get_state)(void);
  void *library = dlopen(fake_library, RTLD_NOW);
  if (!library) {
    print_error("cannot load the fake driver: %s\n", dlerror());
    return -1;
  }
  *(void **)&reset = dlsym(library, "fake_cuda_reset");
  *(void **)&get_state = dlsym(library, "fake_cuda_state");
  reset();
  fake = get_state();
  return setenv("MIRAGE_CUDA_LIBRARY", fake_library, 1);
}

// After every test on the fake driver nothing may be left behind, whatever failed on the way.
static int check_clean(void **unused) {
  if (fake->num_live_objects != 0 || fake->num_live_allocations != 0 || fake->context_depth != 0) {
    print_error("left behind: %u objects, %u allocations, context depth %d\n", fake->num_live_objects,
                fake->num_live_allocations, fake->context_depth);
    return -1;
  }
  return 0;
}

static void fail_call(const char *symbol, unsigned call, CuResult result) {
  fake->fail_symbol = symbol;
  fake->fail_at = call;
  fake->fail_result = result;
  fake->calls_of_fail_symbol = 0;
}

static MirageDevice *open_device(void) {
  MirageDevice *device = NULL;
  assert_int_equal(mirage_device_create(0, NULL, &device), MIRAGE_OK);
  return device;
}

static MirageModule *load_module(MirageDevice *device, const char *image) {
  MirageModule *module = NULL;
  assert_int_equal(mirage_module_load(device, image, NULL, &module), MIRAGE_OK);
  return module;
}

// -------------------------------------------------------------------------------------------------------- without a
// GPU

static void test_missing_library(void **unused) {
  Messages messages;
  MirageDevice *device = (MirageDevice *)&messages;
  setenv("MIRAGE_CUDA_LIBRARY", "/nonexistent/libcuda.so.1", 1);
  assert_int_equal(mirage_device_create(0, &fresh(&messages)->diag, &device), MIRAGE_NO_DEVICE);
  assert_null(device);
  assert_says(&messages, "/nonexistent/libcuda.so.1");
  assert_says(&messages, "device: cannot load MIRAGE_CUDA_LIBRARY");
}

static void test_library_without_cuda(void **unused) {
  Messages messages;
  MirageDevice *device = NULL;
  setenv("MIRAGE_CUDA_LIBRARY", "libc.so.6", 1);
  assert_int_equal(mirage_device_create(0, &fresh(&messages)->diag, &device), MIRAGE_NO_DEVICE);
  assert_says(&messages, "has no cuInit");
  assert_says(&messages, "update the NVIDIA driver");
}

// Passes with and without a driver: the answer is a device or NO_DEVICE with a sentence, never anything else.
static void test_this_machine(void **unused) {
  Messages messages;
  MirageDevice *device = NULL;
  unsetenv("MIRAGE_CUDA_LIBRARY");
  MirageStatus status = mirage_device_create(0, &fresh(&messages)->diag, &device);
  if (status == MIRAGE_OK) {
    assert_true(mirage_device_info(device)->num_sms > 0);
    mirage_device_destroy(device);
    return;
  }
  assert_int_equal(status, MIRAGE_NO_DEVICE);
  assert_null(device);
  assert_says(&messages, "device: ");
}

// ------------------------------------------------------------------------------------------------------ table of
// errors

static void test_error_names(void **unused) {
  assert_string_equal(mirage__cuda_result_name(0), "CUDA_SUCCESS");
  assert_string_equal(mirage__cuda_result_name(2), "CUDA_ERROR_OUT_OF_MEMORY");
  assert_string_equal(mirage__cuda_result_name(222), "CUDA_ERROR_UNSUPPORTED_PTX_VERSION");
  assert_string_equal(mirage__cuda_result_name(700), "CUDA_ERROR_ILLEGAL_ADDRESS");
  assert_string_equal(mirage__cuda_result_name(701), "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
  assert_non_null(strstr(mirage__cuda_result_remedy(222), "update the driver"));
  assert_int_equal(mirage__cuda_result_status(0), MIRAGE_OK);
  assert_int_equal(mirage__cuda_result_status(2), MIRAGE_NO_MEMORY);
  assert_int_equal(mirage__cuda_result_status(100), MIRAGE_NO_DEVICE);
  assert_int_equal(mirage__cuda_result_status(700), MIRAGE_DRIVER);
}

static void test_unknown_error(void **unused) {
  Messages messages;
  assert_null(mirage__cuda_result_remedy(12345));
  assert_int_equal(mirage__cuda_check(&fresh(&messages)->diag, 12345, "upload of %d bytes", 7), MIRAGE_DRIVER);
  assert_string_equal(messages.text, "upload of 7 bytes: unknown CUDA error (12345)\n");
}

// A number that stands twice in the table would hide its second row; a failure may never become OK.
static void test_error_rows(void **unused) {
  const char *names[1000];
  int num_names = 0;
  for (CuResult number = 0; number < 1000; ++number) {
    const char *name = mirage__cuda_result_name(number);
    if (strcmp(name, "unknown CUDA error") == 0)
      continue;
    assert_int_equal(mirage__cuda_result_status(number) == MIRAGE_OK, number == 0);
    for (int i = 0; i < num_names; ++i)
      assert_string_not_equal(names[i], name);
    names[num_names++] = name;
  }
  assert_int_equal(num_names, 56); // the rows of the table
}

// ------------------------------------------------------------------------------------------------------ plan of
// buffers

static void assert_plan_valid(uint32_t count, const MirageLiveBuffer *buffers, int64_t total) {
  for (uint32_t i = 0; i < count; ++i) {
    assert_true(buffers[i].offset >= 0 && buffers[i].offset % 256 == 0);
    assert_true(buffers[i].offset + buffers[i].bytes <= total);
    for (uint32_t j = 0; j < i; ++j) {
      bool together = buffers[i].first <= buffers[j].last && buffers[j].first <= buffers[i].last;
      bool apart = buffers[i].offset + buffers[i].bytes <= buffers[j].offset ||
                   buffers[j].offset + buffers[j].bytes <= buffers[i].offset;
      if (together && !apart)
        fail_msg("buffers %u and %u live together and overlap: %lld and %lld", j, i, (long long)buffers[j].offset,
                 (long long)buffers[i].offset);
    }
  }
}

static void test_plan_chain(void **unused) {
  MirageLiveBuffer buffers[] = {{1000, 0, 1, 0}, {1000, 1, 2, 0}, {1000, 2, 3, 0}, {1000, 3, 4, 0}};
  assert_int_equal(mirage__plan_buffers(4, buffers, 256), 2048);
  assert_plan_valid(4, buffers, 2048);
  assert_int_equal(buffers[0].offset, buffers[2].offset);
  assert_int_equal(buffers[1].offset, buffers[3].offset);
}

static void test_plan_gap(void **unused) {
  // The small buffer fits beside the first large one, under the second's life.
  MirageLiveBuffer buffers[] = {{4096, 0, 2, 0}, {256, 1, 2, 0}, {4096, 3, 4, 0}};
  assert_int_equal(mirage__plan_buffers(3, buffers, 256), 4352);
  assert_plan_valid(3, buffers, 4352);
  assert_int_equal(mirage__plan_buffers(0, NULL, 256), 0);
}

static void test_plan_random(void **unused) {
  MirageRandom random;
  mirage_random_init(&random, 7, 0);
  for (int round = 0; round < 200; ++round) {
    MirageLiveBuffer buffers[24];
    int64_t sum = 0;
    for (int i = 0; i < 24; ++i) {
      uint32_t first = (uint32_t)mirage_random_below(&random, 20);
      buffers[i] = (MirageLiveBuffer){1 + (int64_t)mirage_random_below(&random, 5000), first,
                                      first + (uint32_t)mirage_random_below(&random, 5), -1};
      sum += (buffers[i].bytes + 255) / 256 * 256;
    }
    int64_t total = mirage__plan_buffers(24, buffers, 256);
    assert_true(total <= sum);
    assert_plan_valid(24, buffers, total);
  }
}

// ------------------------------------------------------------------------------------------------------------- devices

static void test_device_info(void **unused) {
  MirageDevice *device = open_device();
  const MirageDeviceInfo *info = mirage_device_info(device);
  assert_string_equal(info->name, "Fake GPU 0");
  assert_int_equal(info->compute_major, 9);
  assert_int_equal(info->compute_minor, 0);
  assert_int_equal(info->num_sms, 132);
  assert_int_equal(info->driver_version, 13000);
  assert_int_equal(info->shared_bytes_per_block, 232448);
  assert_int_equal(info->l2_bytes, 1 << 20);
  assert_int_equal(info->total_bytes, 1 << 30);
  mirage_device_destroy(device);
}

static void test_no_such_device(void **unused) {
  Messages messages;
  MirageDevice *device = NULL;
  assert_int_equal(mirage_device_create(3, &fresh(&messages)->diag, &device), MIRAGE_NO_DEVICE);
  assert_says(&messages, "no device 3: the driver shows 1");
  fake->num_devices = 0;
  assert_int_equal(mirage_device_create(0, &fresh(&messages)->diag, &device), MIRAGE_NO_DEVICE);
  assert_says(&messages, "CUDA_VISIBLE_DEVICES");
  assert_null(device);
}

// Each call of device creation fails once; nothing may leak and the sentence must name the driver's error.
static void test_device_create_failures(void **unused) {
  static const char *const calls[] = {"cuInit",
                                      "cuDeviceGetCount",
                                      "cuDeviceGet",
                                      "cuDeviceGetName",
                                      "cuDriverGetVersion",
                                      "cuDeviceTotalMem_v2",
                                      "cuDeviceGetAttribute",
                                      "cuDevicePrimaryCtxRetain",
                                      "cuCtxPushCurrent_v2",
                                      "cuStreamCreate"};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
    Messages messages;
    MirageDevice *device = NULL;
    fail_call(calls[i], 0, 803);
    assert_int_equal(mirage_device_create(0, &fresh(&messages)->diag, &device), MIRAGE_NO_DEVICE);
    assert_null(device);
    assert_says(&messages, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)");
    assert_int_equal(fake->num_live_objects, 0);
  }
}

static void test_memory(void **unused) {
  MirageDevice *device = open_device();
  uint64_t pointer = 0;
  char text[16] = "";
  assert_int_equal(mirage_device_alloc(device, 16, NULL, &pointer), MIRAGE_OK);
  assert_int_equal(mirage_device_upload(device, pointer, "fifteen letters", 16, NULL), MIRAGE_OK);
  assert_int_equal(mirage_device_fill(device, pointer, '-', 3, NULL), MIRAGE_OK);
  assert_int_equal(mirage_device_download(device, text, pointer, 16, NULL), MIRAGE_OK);
  assert_string_equal(text, "---teen letters");
  mirage_device_free(device, pointer);
  mirage_device_free(device, 0); // like free(NULL)
  mirage_device_destroy(device);
  mirage_device_destroy(NULL);
}

static void test_out_of_memory(void **unused) {
  Messages messages;
  MirageDevice *device = open_device();
  uint64_t pointer = 42;
  assert_int_equal(mirage_device_alloc(device, (size_t)3 << 30, &fresh(&messages)->diag, &pointer), MIRAGE_NO_MEMORY);
  assert_int_equal(pointer, 42);
  assert_says(&messages, "cannot allocate 3 GiB: 1 of 1 GiB are free");
  assert_says(&messages, "CUDA_ERROR_OUT_OF_MEMORY");
  mirage_device_destroy(device);
}

static void test_copy_failures(void **unused) {
  Messages messages;
  char bytes[4] = {0};
  MirageDevice *device = open_device();
  fail_call("cuMemcpyHtoDAsync_v2", 0, 1);
  assert_int_equal(mirage_device_upload(device, 256, bytes, 4, &fresh(&messages)->diag), MIRAGE_DRIVER);
  assert_says(&messages, "upload of 4 bytes failed: CUDA_ERROR_INVALID_VALUE (1)");
  fail_call("cuMemcpyDtoHAsync_v2", 0, 700);
  assert_int_equal(mirage_device_download(device, bytes, 256, 4, &fresh(&messages)->diag), MIRAGE_DRIVER);
  assert_says(&messages, "download of 4 bytes failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  mirage_device_destroy(device);
}

// ------------------------------------------------------------------------------------------------- modules and
// launches

static void test_compiler_log(void **unused) {
  Messages messages;
  MirageDevice *device = open_device();
  MirageModule *module = NULL;
  fail_call("cuModuleLoadDataEx", 0, 222);
  fake->compiler_log = "ptxas application ptx input, line 1; fatal: Unsupported .version 9.9\n";
  assert_int_equal(mirage_module_load(device, "", &fresh(&messages)->diag, &module), MIRAGE_DRIVER);
  assert_null(module);
  assert_says(&messages,
              "Fake GPU 0 (compute 9.0, driver 13.0) refuses the kernels: CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)");
  assert_says(&messages,
              "the driver's compiler says: ptxas application ptx input, line 1; fatal: Unsupported .version 9.9\n");
  mirage_module_unload(NULL);
  mirage_device_destroy(device);
}

static void test_launch(void **unused) {
  MirageDevice *device = open_device();
  MirageModule *module = load_module(device, "small 1\nbig 3\n");
  MirageLaunchConfig config = {"big", {128, 2, 1}, {2, 2, 1}, 512, 100000, true};
  uint64_t pointers[] = {0x100, 0x200, 0x300};
  assert_int_equal(mirage_module_launch(module, &config, 3, pointers, (void *)0x77, NULL), MIRAGE_OK);
  assert_int_equal(fake->num_launches, 1);
  const FakeLaunch *launch = &fake->launches[0];
  assert_string_equal(launch->kernel, "big");
  assert_memory_equal(launch->grid, ((unsigned[]){128, 2, 1}), sizeof launch->grid);
  assert_memory_equal(launch->cluster, ((unsigned[]){2, 2, 1}), sizeof launch->cluster);
  assert_int_equal(launch->threads, 512);
  assert_int_equal(launch->shared_bytes, 100000);
  assert_true(launch->dependent);
  assert_ptr_equal(launch->stream, (void *)0x77);
  assert_memory_equal(launch->pointers, pointers, sizeof pointers);
  assert_int_equal(fake->dynamic_shared_limit, 100000);
  assert_int_equal(fake->non_portable_cluster, 0);
  mirage_module_unload(module);
  mirage_device_destroy(device);
}

// Below 48 KiB nothing is asked of the driver, and without cluster or dependence there is no attribute; above 8 blocks
// in a cluster the driver must be asked.
static void test_launch_attributes(void **unused) {
  MirageDevice *device = open_device();
  MirageModule *module = load_module(device, "k 1\n");
  MirageLaunchConfig config = {"k", {16, 1, 1}, {1, 1, 1}, 32, 4096, false};
  uint64_t pointer = 0x100;
  assert_int_equal(mirage_module_launch(module, &config, 1, &pointer, NULL, NULL), MIRAGE_OK);
  assert_int_equal(fake->dynamic_shared_limit, 0);
  assert_false(fake->launches[0].dependent);
  assert_non_null(fake->launches[0].stream); // the device's own, not the legacy default stream
  config.cluster[0] = 16;
  assert_int_equal(mirage_module_launch(module, &config, 1, &pointer, NULL, NULL), MIRAGE_OK);
  assert_int_equal(fake->non_portable_cluster, 1);
  mirage_module_unload(module);
  mirage_device_destroy(device);
}

static void test_launch_refused(void **unused) {
  static const struct {
    MirageLaunchConfig config;
    uint32_t num_pointers;
    MirageStatus status;
    const char *sentence;
  } cases[] = {
      {{"nothing", {1, 1, 1}, {1, 1, 1}, 32, 0, false},
       2,
       MIRAGE_DRIVER,
       "no kernel nothing in the module: CUDA_ERROR_NOT_FOUND"},
      {{"k", {0, 1, 1}, {1, 1, 1}, 32, 0, false}, 2, MIRAGE_BAD_ARGUMENT, "grid x is 0, not in 1 .. 2147483647"},
      {{"k", {1, 65536, 1}, {1, 1, 1}, 32, 0, false}, 2, MIRAGE_BAD_ARGUMENT, "grid y is 65536, not in 1 .. 65535"},
      {{"k", {6, 1, 1}, {4, 1, 1}, 32, 0, false},
       2,
       MIRAGE_BAD_ARGUMENT,
       "cluster x is 4, which does not divide grid 6"},
      {{"k", {1, 1, 1}, {1, 1, 1}, 0, 0, false}, 2, MIRAGE_BAD_ARGUMENT, "0 threads per block"},
      {{"k", {1, 1, 1}, {1, 1, 1}, 1025, 0, false},
       2,
       MIRAGE_BAD_ARGUMENT,
       "1025 threads per block, and the compiled kernel takes 1 .. 1024"},
      {{"k", {1, 1, 1}, {1, 1, 1}, 32, 300000, false},
       2,
       MIRAGE_LIMIT,
       "300000 bytes of dynamic shared memory, and Fake GPU 0 has room for 232448"},
      {{"k", {1, 1, 1}, {1, 1, 1}, 32, 0, false}, 1, MIRAGE_BAD_ARGUMENT, "the kernel takes 2 pointers, got 1"},
      {{"k", {1, 1, 1}, {1, 1, 1}, 32, 0, false}, 3, MIRAGE_BAD_ARGUMENT, "the kernel takes 2 pointers, got 3"},
  };
  MirageDevice *device = open_device();
  MirageModule *module = load_module(device, "k 2\n");
  uint64_t pointers[3] = {0x100, 0x200, 0x300};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    Messages messages;
    MirageStatus status =
        mirage_module_launch(module, &cases[i].config, cases[i].num_pointers, pointers, NULL, &fresh(&messages)->diag);
    assert_int_equal(status, cases[i].status);
    assert_says(&messages, cases[i].sentence);
  }
  assert_int_equal(fake->num_launches, 0);
  mirage_module_unload(module);
  mirage_device_destroy(device);
}

static void test_launch_fails_in_driver(void **unused) {
  Messages messages;
  MirageDevice *device = open_device();
  MirageModule *module = load_module(device, "k 1\n");
  MirageLaunchConfig config = {"k", {1, 1, 1}, {1, 1, 1}, 32, 50000, false};
  uint64_t pointer = 0x100;
  fail_call("cuFuncSetAttribute", 0, 1);
  assert_int_equal(mirage_module_launch(module, &config, 1, &pointer, NULL, &fresh(&messages)->diag), MIRAGE_DRIVER);
  assert_says(&messages, "k: cannot have 50000 bytes of dynamic shared memory: CUDA_ERROR_INVALID_VALUE");
  fail_call("cuLaunchKernelEx", 0, 701);
  assert_int_equal(mirage_module_launch(module, &config, 1, &pointer, NULL, &fresh(&messages)->diag), MIRAGE_DRIVER);
  assert_says(&messages, "k failed to start: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701): ");
  // A kernel that fails while it runs shows at synchronize.
  fake->kernel_result = 700;
  assert_int_equal(mirage_module_launch(module, &config, 1, &pointer, NULL, NULL), MIRAGE_OK);
  assert_int_equal(mirage_device_synchronize(device, &fresh(&messages)->diag), MIRAGE_DRIVER);
  assert_says(&messages, "a kernel launched earlier on Fake GPU 0 failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  mirage_module_unload(module);
  mirage_device_destroy(device);
}

// ------------------------------------------------------------------------------------------------------------ programs

// What fake kernels do, on 8 floats: "add" out = a + b; "twice" out = 2a; "count" out = a + workspace, leaving it zero.
static void run_floats(const FakeLaunch *launch) {
  const float *a = (const float *)(uintptr_t)launch->pointers[0];
  if (strcmp(launch->kernel, "add") == 0) {
    const float *b = (const float *)(uintptr_t)launch->pointers[1];
    float *out = (float *)(uintptr_t)launch->pointers[2];
    for (int i = 0; i < 8; ++i)
      out[i] = a[i] + b[i];
    return;
  }
  float *out = (float *)(uintptr_t)launch->pointers[1];
  if (strcmp(launch->kernel, "twice") == 0) {
    for (int i = 0; i < 8; ++i)
      out[i] = 2 * a[i];
    return;
  }
  const float *workspace = (const float *)(uintptr_t)launch->pointers[2];
  for (int i = 0; i < 8; ++i)
    out[i] = a[i] + workspace[i];
}

// A custom kernel on 8 floats that stands for `launch`; its body adds up its operands and stores the sum.
static MirageValue add_kernel(MirageUGraph *graph, uint32_t num_operands, const MirageValue *operands, const char *name,
                              int64_t workspace_bytes) {
  MirageType type = mirage_type_tensor(MIRAGE_F32, 1, (int64_t[]){8});
  MirageSchedule schedule = {.dependent_launch = true};
  MirageLaunch launch = {.kernel = name, .threads = 32, .workspace_bytes = workspace_bytes};
  MirageCustomAttrs attrs = {
      .grid = {1, 1, 1}, .cluster = {1, 1, 1}, .schedule = &schedule, .launch = name ? &launch : NULL};
  MirageAccessAttrs access = {.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}};
  MirageNode custom = mirage_ugraph_open_custom(graph, num_operands, operands, 1, &type, &attrs);
  MirageValue sum = mirage_ugraph_load(graph, mirage_ugraph_argument(graph, custom, 0), &access);
  for (uint32_t i = 1; i < num_operands; ++i) {
    MirageValue next = mirage_ugraph_load(graph, mirage_ugraph_argument(graph, custom, i), &access);
    sum = mirage_ugraph_apply(graph, MIRAGE_OP_ADD, 2, (MirageValue[]){sum, next}, NULL);
  }
  mirage_ugraph_store(graph, sum, mirage_ugraph_argument(graph, custom, num_operands), &access);
  mirage_ugraph_close(graph, 0, NULL);
  return mirage_ugraph_result(graph, custom, 0);
}

// t = 2x; u = t + y; v = 2u; w = count(v); return w, x, w, u
static MirageUGraph *chain_graph(void) {
  MirageType type = mirage_type_tensor(MIRAGE_F32, 1, (int64_t[]){8});
  MirageUGraph *graph = mirage_ugraph_create(NULL, "chain", NULL);
  MirageValue x = mirage_ugraph_input(graph, type);
  MirageValue y = mirage_ugraph_input(graph, type);
  MirageValue t = add_kernel(graph, 1, &x, "twice", 0);
  MirageValue u = add_kernel(graph, 2, (MirageValue[]){t, y}, "add", 0);
  MirageValue v = add_kernel(graph, 1, &u, "twice", 0);
  MirageValue w = add_kernel(graph, 1, &v, "count", 64);
  mirage_ugraph_return(graph, 4, (MirageValue[]){w, x, w, u});
  assert_int_equal(mirage_ugraph_finish(graph), MIRAGE_OK);
  return graph;
}

static uint64_t upload_floats(MirageDevice *device, float first) {
  float values[8];
  uint64_t pointer = 0;
  for (int i = 0; i < 8; ++i)
    values[i] = first + (float)i;
  assert_int_equal(mirage_device_alloc(device, sizeof values, NULL, &pointer), MIRAGE_OK);
  assert_int_equal(mirage_device_upload(device, pointer, values, sizeof values, NULL), MIRAGE_OK);
  return pointer;
}

static void assert_floats(MirageDevice *device, uint64_t pointer, float first, float step) {
  float values[8];
  assert_int_equal(mirage_device_download(device, values, pointer, sizeof values, NULL), MIRAGE_OK);
  for (int i = 0; i < 8; ++i)
    if (values[i] != first + step * (float)i)
      fail_msg("element %d: expected %g, got %g", i, (double)(first + step * (float)i), (double)values[i]);
}

typedef struct Chain {
  MirageDevice *device;
  MirageModule *module;
  MirageUGraph *graph;
  MirageProgram *program;
  uint64_t inputs[2], outputs[4];
} Chain;

static Chain chain_create(void) {
  Chain chain = {.device = open_device(), .graph = chain_graph()};
  chain.module = load_module(chain.device, "add 3\ntwice 2\ncount 3\n");
  fake->run = run_floats;
  assert_int_equal(mirage_program_create(chain.module, chain.graph, NULL, &chain.program), MIRAGE_OK);
  chain.inputs[0] = upload_floats(chain.device, 1);
  chain.inputs[1] = upload_floats(chain.device, 100);
  for (int i = 0; i < 4; ++i)
    chain.outputs[i] = upload_floats(chain.device, -1);
  return chain;
}

static void chain_destroy(Chain *chain) {
  for (int i = 0; i < 2; ++i)
    mirage_device_free(chain->device, chain->inputs[i]);
  for (int i = 0; i < 4; ++i)
    mirage_device_free(chain->device, chain->outputs[i]);
  mirage_program_destroy(chain->program);
  mirage_ugraph_destroy(chain->graph);
  mirage_module_unload(chain->module);
  mirage_device_destroy(chain->device);
}

static void test_program(void **unused) {
  Chain chain = chain_create();
  for (int call = 0; call < 2; ++call) {
    assert_int_equal(mirage_program_launch(chain.program, chain.inputs, chain.outputs, NULL, NULL), MIRAGE_OK);
    assert_int_equal(mirage_device_synchronize(chain.device, NULL), MIRAGE_OK);
    assert_floats(chain.device, chain.outputs[0], 204, 6); // w = 2 (2x + y), x = 1 + i, y = 100 + i
    assert_floats(chain.device, chain.outputs[1], 1, 1);   // x itself
    assert_floats(chain.device, chain.outputs[2], 204, 6); // w again
    assert_floats(chain.device, chain.outputs[3], 102, 3); // u
  }
  assert_int_equal(fake->num_launches, 8);
  const FakeLaunch *launches = fake->launches;
  assert_string_equal(launches[1].kernel, "add");
  assert_int_equal(launches[1].pointers[0], launches[0].pointers[1]); // t
  assert_int_equal(launches[1].pointers[1], chain.inputs[1]);
  assert_int_equal(launches[1].pointers[2], chain.outputs[3]); // u goes straight to its output
  assert_int_equal(launches[3].pointers[1], chain.outputs[0]);
  assert_int_equal(launches[2].pointers[1],
                   launches[0].pointers[1]); // v takes the place of t, which nobody reads any more
  // The first kernel waits for whatever ran before it on the stream; the others may start early.
  assert_false(launches[0].dependent);
  assert_true(launches[1].dependent);
  assert_false(launches[4].dependent);
  chain_destroy(&chain);
}

static void test_program_refused(void **unused) {
  Messages messages;
  MirageDevice *device = open_device();
  MirageModule *module = load_module(device, "twice 2\n");
  MirageType type = mirage_type_tensor(MIRAGE_F32, 1, (int64_t[]){8});
  MirageProgram *program = NULL;

  MirageUGraph *plain = mirage_ugraph_create(NULL, "plain", NULL);
  MirageValue x = mirage_ugraph_input(plain, type);
  MirageValue y = mirage_ugraph_apply(plain, MIRAGE_OP_EXP, 1, &x, NULL);
  mirage_ugraph_return(plain, 1, &y);
  assert_int_equal(mirage_program_create(module, plain, &fresh(&messages)->diag, &program), MIRAGE_BAD_GRAPH);
  assert_says(&messages, "@plain holds exp outside a custom kernel");
  assert_null(program);
  mirage_ugraph_destroy(plain);

  static const struct {
    const char *kernel, *sentence;
    MirageStatus status;
  } cases[] = {{NULL, "a custom kernel of @g has no launch attribute", MIRAGE_BAD_GRAPH},
               {"absent", "no kernel absent in the module", MIRAGE_DRIVER}};
  for (int i = 0; i < 2; ++i) {
    MirageUGraph *graph = mirage_ugraph_create(NULL, "g", NULL);
    x = mirage_ugraph_input(graph, type);
    y = add_kernel(graph, 1, &x, cases[i].kernel, 0);
    mirage_ugraph_return(graph, 1, &y);
    assert_int_equal(mirage_ugraph_finish(graph), MIRAGE_OK);
    assert_int_equal(mirage_program_create(module, graph, &fresh(&messages)->diag, &program), cases[i].status);
    assert_says(&messages, cases[i].sentence);
    assert_null(program);
    mirage_ugraph_destroy(graph);
  }
  mirage_module_unload(module);
  mirage_device_destroy(device);
}

static void test_program_no_room(void **unused) {
  Messages messages;
  MirageDevice *device = open_device();
  MirageModule *module = load_module(device, "add 3\ntwice 2\ncount 3\n");
  MirageUGraph *graph = chain_graph();
  MirageProgram *program = NULL;
  fail_call("cuMemAlloc_v2", 0, 2);
  assert_int_equal(mirage_program_create(module, graph, &fresh(&messages)->diag, &program), MIRAGE_NO_MEMORY);
  assert_null(program);
  assert_says(&messages, "CUDA_ERROR_OUT_OF_MEMORY");
  fail_call("cuMemsetD8Async", 0, 700);
  assert_int_equal(mirage_program_create(module, graph, &fresh(&messages)->diag, &program), MIRAGE_DRIVER);
  mirage_ugraph_destroy(graph);
  mirage_module_unload(module);
  mirage_device_destroy(device);
}

static void test_program_bad_pointers(void **unused) {
  Messages messages;
  Chain chain = chain_create();
  uint64_t inputs[2] = {chain.inputs[0], chain.inputs[1] + 4};
  assert_int_equal(mirage_program_launch(chain.program, inputs, chain.outputs, NULL, &fresh(&messages)->diag),
                   MIRAGE_BAD_ARGUMENT);
  assert_says(&messages, "input 1 at address 0x");
  uint64_t outputs[4] = {0};
  assert_int_equal(mirage_program_launch(chain.program, chain.inputs, outputs, NULL, &fresh(&messages)->diag),
                   MIRAGE_BAD_ARGUMENT);
  assert_says(&messages, "output 0 at address 0x0: tensors start on 16 bytes");
  assert_int_equal(fake->num_launches, 0);
  chain_destroy(&chain);
}

// -------------------------------------------------------------------------------------------------------------- timing

static void test_timing(void **unused) {
  Chain chain = chain_create();
  MirageTiming timing;
  uint64_t sets[6] = {chain.inputs[0], chain.inputs[1], chain.inputs[1],
                      chain.inputs[0], chain.inputs[0], chain.inputs[0]};
  assert_int_equal(mirage_program_time(chain.program, 3, sets, chain.outputs, NULL, &timing), MIRAGE_OK);
  // Four kernels of 10 us each, on a clock without noise.
  assert_float_equal(timing.cold_us, 40, 1e-3);
  assert_float_equal(timing.warm_us, 40, 1e-3);
  assert_float_equal(timing.cold_spread, 0, 1e-6);
  assert_int_equal(timing.calls_per_replay, 33); // whole rounds over the three sets
  assert_true(timing.replays >= 21);
  // The eager call, then replays that walk over the sets.
  for (int call = 0; call < 7; ++call) {
    int set = call == 0 ? 0 : (call - 1) % 3;
    assert_int_equal(fake->launches[4 * call].pointers[0], sets[2 * set]);
  }
  chain_destroy(&chain);
}

// Each call that timing adds fails once: an error with the driver's name, and nothing left behind.
static void test_timing_failures(void **unused) {
  static const struct {
    const char *symbol;
    unsigned at;
  } calls[] = {{"cuEventCreate", 0},
               {"cuEventCreate", 1},
               {"cuStreamBeginCapture_v2", 0},
               {"cuStreamEndCapture", 0},
               {"cuGraphInstantiateWithFlags", 0},
               {"cuEventRecord", 0},
               {"cuEventRecord", 1},
               {"cuGraphLaunch", 5},
               {"cuEventSynchronize", 0},
               {"cuEventElapsedTime", 2},
               {"cuLaunchKernelEx", 0},
               {"cuLaunchKernelEx", 9}};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
    Messages messages;
    Chain chain = chain_create();
    MirageTiming timing = {.cold_us = -1};
    fail_call(calls[i].symbol, calls[i].at, 719);
    assert_int_equal(
        mirage_program_time(chain.program, 1, chain.inputs, chain.outputs, &fresh(&messages)->diag, &timing),
        MIRAGE_DRIVER);
    assert_says(&messages, "CUDA_ERROR_LAUNCH_FAILED (719)");
    assert_true(timing.cold_us == -1);
    chain_destroy(&chain);
  }
}

static void test_timing_refused(void **unused) {
  Messages messages;
  Chain chain = chain_create();
  MirageTiming timing;
  assert_int_equal(mirage_program_time(chain.program, 0, NULL, chain.outputs, &fresh(&messages)->diag, &timing),
                   MIRAGE_BAD_ARGUMENT);
  assert_says(&messages, "no input set given");
  // A kernel that fails is found before anything is measured.
  fake->kernel_result = 715;
  assert_int_equal(mirage_program_time(chain.program, 1, chain.inputs, chain.outputs, &fresh(&messages)->diag, &timing),
                   MIRAGE_DRIVER);
  assert_says(&messages, "CUDA_ERROR_ILLEGAL_INSTRUCTION");
  assert_int_equal(fake->num_launches, 4);
  chain_destroy(&chain);
}

// The fake driver lies beside the test in the build folder: bin/test_runtime, lib/libmirage_fake_cuda.so.
static void find_fake_library(void) {
  char path[2048] = "";
  if (readlink("/proc/self/exe", path, sizeof path - 1) < 0)
    return;
  for (int levels = 0; levels < 2; ++levels) {
    char *slash = strrchr(path, '/');
    if (slash)
      *slash = '\0';
  }
  snprintf(fake_library, sizeof fake_library, "%s/lib/libmirage_fake_cuda.so", path);
}

#define ON_FAKE(test) cmocka_unit_test_setup_teardown(test, load_fake, check_clean)

int main(void) {
  find_fake_library();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_missing_library),
      cmocka_unit_test(test_library_without_cuda),
      cmocka_unit_test(test_this_machine),
      cmocka_unit_test(test_error_names),
      cmocka_unit_test(test_unknown_error),
      cmocka_unit_test(test_error_rows),
      cmocka_unit_test(test_plan_chain),
      cmocka_unit_test(test_plan_gap),
      cmocka_unit_test(test_plan_random),
      ON_FAKE(test_device_info),
      ON_FAKE(test_no_such_device),
      ON_FAKE(test_device_create_failures),
      ON_FAKE(test_memory),
      ON_FAKE(test_out_of_memory),
      ON_FAKE(test_copy_failures),
      ON_FAKE(test_compiler_log),
      ON_FAKE(test_launch),
      ON_FAKE(test_launch_attributes),
      ON_FAKE(test_launch_refused),
      ON_FAKE(test_launch_fails_in_driver),
      ON_FAKE(test_program),
      ON_FAKE(test_program_refused),
      ON_FAKE(test_program_no_room),
      ON_FAKE(test_program_bad_pointers),
      ON_FAKE(test_timing),
      ON_FAKE(test_timing_failures),
      ON_FAKE(test_timing_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
