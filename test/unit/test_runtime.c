// test_runtime.c - lib/runtime without a GPU: what it says when there is none, its table of driver errors, its plan of
// intermediates; devices, modules and single launches against the fake driver (fake_cuda.c).
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_runtime.h"
#include "mirage/random.h"

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
  for (CuResult number = 0; number < 1000; number++) {
    const char *name = mirage__cuda_result_name(number);
    if (strcmp(name, "unknown CUDA error") == 0)
      continue;
    assert_int_equal(mirage__cuda_result_status(number) == MIRAGE_OK, number == 0);
    for (int i = 0; i < num_names; i++)
      assert_string_not_equal(names[i], name);
    names[num_names++] = name;
  }
  assert_int_equal(num_names, 101); // the rows of the table
}

// ------------------------------------------------------------------------------------------------------ plan of
// buffers

static void assert_plan_valid(uint32_t count, const MirageLiveBuffer *buffers, int64_t total) {
  for (uint32_t i = 0; i < count; i++) {
    assert_true(buffers[i].offset >= 0 && buffers[i].offset % 256 == 0);
    assert_true(buffers[i].offset + buffers[i].bytes <= total);
    for (uint32_t j = 0; j < i; j++) {
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
  for (int round = 0; round < 200; round++) {
    MirageLiveBuffer buffers[24];
    int64_t sum = 0;
    for (int i = 0; i < 24; i++) {
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
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
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
  assert_int_equal(mirage_device_upload(device, pointer, "abcd", 4, NULL), MIRAGE_OK);
  assert_int_equal(mirage_device_repeat(device, pointer, 4, 15, NULL), MIRAGE_OK);
  assert_int_equal(mirage_device_download(device, text, pointer, 16, NULL), MIRAGE_OK);
  assert_string_equal(text, "abcdabcdabcdabc");                                   // the end of the string stays
  assert_int_equal(mirage_device_repeat(device, pointer, 8, 3, NULL), MIRAGE_OK); // less than there is
  assert_int_equal(mirage_device_repeat(device, pointer, 0, 0, NULL), MIRAGE_OK);
  assert_int_equal(mirage_device_repeat(device, pointer, 0, 1, NULL), MIRAGE_BAD_ARGUMENT);
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
  char bytes[4] = {0}, repeated[8] = {0};
  MirageDevice *device = open_device();
  fail_call("cuMemcpyHtoDAsync_v2", 0, 1);
  assert_int_equal(mirage_device_upload(device, 256, bytes, 4, &fresh(&messages)->diag), MIRAGE_DRIVER);
  assert_says(&messages, "upload of 4 bytes failed: CUDA_ERROR_INVALID_VALUE (1)");
  fail_call("cuMemcpyDtoHAsync_v2", 0, 700);
  assert_int_equal(mirage_device_download(device, bytes, 256, 4, &fresh(&messages)->diag), MIRAGE_DRIVER);
  assert_says(&messages, "download of 4 bytes failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  fail_call("cuMemcpyDtoDAsync_v2", 1, 1);
  uint64_t pointer = (uint64_t)(uintptr_t)repeated;
  assert_int_equal(mirage_device_repeat(device, pointer, 1, sizeof repeated, &fresh(&messages)->diag), MIRAGE_DRIVER);
  assert_says(&messages, "repetition of 8 bytes failed: CUDA_ERROR_INVALID_VALUE (1)");
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
  MirageLaunchConfig config = {"big", {128, 2, 1}, {2, 2, 1}, 512, 100000, true, false, false, 0, NULL};
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

// A driver before CUDA 12.3 knows no such edges in graphs, and a GPU before compute 9 no such kernels: both wait for each other.
static void test_launch_early(void **unused) {
  const int drivers[] = {12030, 12020, 13000}, majors[] = {9, 9, 8};
  for (int i = 0; i < 3; i++) {
    fake->num_launches = 0;
    fake->driver_version = drivers[i];
    fake->compute_major = majors[i];
    MirageDevice *device = open_device();
    MirageModule *module = load_module(device, "k 1\n");
    MirageLaunchConfig config = {"k", {16, 1, 1}, {1, 1, 1}, 32, 4096, true, false, false, 0, NULL};
    uint64_t pointer = 0x100;
    assert_int_equal(mirage_module_launch(module, &config, 1, &pointer, NULL, NULL), MIRAGE_OK);
    assert_int_equal(fake->launches[0].dependent, i == 0);
    mirage_module_unload(module);
    mirage_device_destroy(device);
  }
}

// Below 48 KiB nothing is asked of the driver, and without cluster or dependence there is no attribute; above 8 blocks
// in a cluster the driver must be asked.
static void test_launch_attributes(void **unused) {
  MirageDevice *device = open_device();
  MirageModule *module = load_module(device, "k 1\n");
  MirageLaunchConfig config = {"k", {16, 1, 1}, {1, 1, 1}, 32, 4096, false, false, false, 0, NULL};
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

// A schedule's cluster means nothing on a device that has none.
static void test_launch_without_clusters(void **unused) {
  fake->compute_major = 8;
  MirageDevice *device = open_device();
  MirageModule *module = load_module(device, "k 1\n");
  MirageLaunchConfig config = {"k", {16, 1, 1}, {16, 1, 1}, 32, 0, false, false, false, 0, NULL};
  uint64_t pointer = 0x100;
  assert_int_equal(mirage_module_launch(module, &config, 1, &pointer, NULL, NULL), MIRAGE_OK);
  assert_int_equal(fake->launches[0].cluster[0], 1);
  assert_int_equal(fake->non_portable_cluster, 0);
  mirage_module_unload(module);
  mirage_device_destroy(device);
}

// Pairs are a matter of speed: where they cannot be, or would not all find room though their blocks wait for each other, blocks stand alone.
static void test_launch_in_pairs(void **unused) {
  static const struct {
    int64_t grid, cluster;
    bool meet;
    int major;
    unsigned launched; // blocks of a cluster
  } cases[] = {{128, 1, false, 9, 2}, {200, 1, false, 9, 2}, {127, 1, false, 9, 1}, {128, 4, false, 9, 4},
               {128, 1, true, 9, 2},  {130, 1, true, 9, 1},  {128, 1, false, 8, 1}};
  uint64_t pointer = 0x100;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fake->compute_major = cases[i].major;
    fake->num_launches = 0;
    MirageDevice *device = open_device();
    MirageModule *module = load_module(device, "k 1\n");
    MirageLaunchConfig config = {.kernel = "k",
                                 .grid = {cases[i].grid, 1, 1},
                                 .cluster = {cases[i].cluster, 1, 1},
                                 .threads = 32,
                                 .in_pairs = true,
                                 .blocks_meet = cases[i].meet};
    assert_int_equal(mirage_module_launch(module, &config, 1, &pointer, NULL, NULL), MIRAGE_OK);
    assert_int_equal(fake->launches[0].cluster[0], cases[i].launched);
    assert_int_equal(fake->launches[0].grid[0], cases[i].grid);
    mirage_module_unload(module);
    mirage_device_destroy(device);
  }
}

// Kernels whose blocks wait for each other are refused where not all fit, instead of hanging there.
static void test_launch_of_meeting_blocks(void **unused) {
  static const struct {
    int64_t grid, cluster;
    int blocks_per_sm;
    const char *sentence; // NULL: it fits
  } cases[] = {
      {132, 1, 1, NULL},
      {133, 1, 1, "launch: k: its 133 blocks wait for each other, and Fake GPU 0 holds 132 at a time: compile for"},
      {264, 1, 2, NULL},
      {128, 16, 1, NULL},
      {144, 16, 1, "its 144 blocks wait for each other, and Fake GPU 0 holds 128 at a time"},
      {1, 1, 0, "its 1 blocks wait for each other, and Fake GPU 0 holds 0 at a time"}};
  MirageDevice *device = open_device();
  MirageModule *module = load_module(device, "k 1\n");
  uint64_t pointer = 0x100;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Messages messages;
    MirageLaunchConfig config = {"k", {cases[i].grid, 1, 1}, {cases[i].cluster, 1, 1}, 32, 0, false, false, true, 0,
                                 NULL};
    fake->blocks_per_sm = cases[i].blocks_per_sm;
    assert_int_equal(mirage_module_launch(module, &config, 1, &pointer, NULL, &fresh(&messages)->diag),
                     cases[i].sentence ? MIRAGE_LIMIT : MIRAGE_OK);
    if (cases[i].sentence)
      assert_says(&messages, cases[i].sentence);
    config.blocks_meet = false;
    assert_int_equal(mirage_module_launch(module, &config, 1, &pointer, NULL, NULL), MIRAGE_OK);
  }
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
      {{"nothing", {1, 1, 1}, {1, 1, 1}, 32, 0, false, false, false, 0, NULL},
       2,
       MIRAGE_DRIVER,
       "no kernel nothing in the module: CUDA_ERROR_NOT_FOUND"},
      {{"k", {0, 1, 1}, {1, 1, 1}, 32, 0, false, false, false, 0, NULL},
       2,
       MIRAGE_BAD_ARGUMENT,
       "grid x is 0, not in 1 .. 2147483647"},
      {{"k", {1, 65536, 1}, {1, 1, 1}, 32, 0, false, false, false, 0, NULL},
       2,
       MIRAGE_BAD_ARGUMENT,
       "grid y is 65536, not in 1 .. 65535"},
      {{"k", {6, 1, 1}, {4, 1, 1}, 32, 0, false, false, false, 0, NULL},
       2,
       MIRAGE_BAD_ARGUMENT,
       "cluster x is 4, which does not divide grid 6"},
      {{"k", {1, 1, 1}, {1, 1, 1}, 0, 0, false, false, false, 0, NULL}, 2, MIRAGE_BAD_ARGUMENT, "0 threads per block"},
      {{"k", {1, 1, 1}, {1, 1, 1}, 1025, 0, false, false, false, 0, NULL},
       2,
       MIRAGE_BAD_ARGUMENT,
       "1025 threads per block, and the compiled kernel takes 1 .. 1024"},
      {{"k", {1, 1, 1}, {1, 1, 1}, 32, 300000, false, false, false, 0, NULL},
       2,
       MIRAGE_LIMIT,
       "300000 bytes of dynamic shared memory, and Fake GPU 0 has room for 232448"},
      {{"k", {1, 1, 1}, {1, 1, 1}, 32, 0, false, false, false, 0, NULL},
       1,
       MIRAGE_BAD_ARGUMENT,
       "the kernel takes 2 parameters, got 1 pointers"},
      {{"k", {1, 1, 1}, {1, 1, 1}, 32, 0, false, false, false, 0, NULL},
       3,
       MIRAGE_BAD_ARGUMENT,
       "the kernel takes 2 parameters, got 3 pointers"},
  };
  MirageDevice *device = open_device();
  MirageModule *module = load_module(device, "k 2\n");
  uint64_t pointers[3] = {0x100, 0x200, 0x300};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
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

// A map of x[rows, 64] in boxes of 8 rows, as for the 128-byte swizzle.
static MirageTensorMap box_map(uint32_t pointer, int64_t rows) {
  return (MirageTensorMap){.pointer = pointer,
                           .dtype = MIRAGE_F16,
                           .rank = 2,
                           .extents = {64, rows},
                           .strides = {2, 128},
                           .box = {64, 8},
                           .swizzle = 3};
}

static void test_launch_tensor_maps(void **unused) {
  MirageDevice *device = open_device();
  MirageModule *module = load_module(device, "k 2+2\n");
  MirageTensorMap maps[2] = {
      box_map(1, 100), {.pointer = 0, .dtype = MIRAGE_F32, .rank = 1, .extents = {1000}, .strides = {4}, .box = {256}}};
  MirageLaunchConfig config = {"k", {1, 1, 1}, {1, 1, 1}, 32, 0, false, false, false, 2, maps};
  uint64_t pointers[] = {0x100, 0x230};
  assert_int_equal(mirage_module_launch(module, &config, 2, pointers, NULL, NULL), MIRAGE_OK);
  const FakeMap *seen = fake->launches[0].maps;
  assert_int_equal(fake->launches[0].num_maps, 2);
  assert_int_equal(seen[0].address, 0x230);
  assert_int_equal(seen[0].dtype, CU_TENSOR_FLOAT16);
  assert_int_equal(seen[0].rank, 2);
  assert_int_equal(seen[0].extents[0], 64);
  assert_int_equal(seen[0].extents[1], 100);
  assert_int_equal(seen[0].strides[0], 128); // of the second dimension
  assert_int_equal(seen[0].box[1], 8);
  assert_int_equal(seen[0].swizzle, 3);
  assert_int_equal(seen[1].address, 0x100);
  assert_int_equal(seen[1].dtype, CU_TENSOR_FLOAT32);
  fail_call("cuTensorMapEncodeTiled", 1, 1);
  assert_int_equal(mirage_module_launch(module, &config, 2, pointers, NULL, NULL), MIRAGE_DRIVER);
  mirage_module_unload(module);
  mirage_device_destroy(device);
}

// Rows of 3000 f16 begin in the midst of lines of L2, those of 3072 do not.
static void test_tensor_maps_fetch_lines(void **unused) {
  MirageDevice *device = open_device();
  MirageModule *module = load_module(device, "k 2+2\n");
  MirageTensorMap maps[2] = {box_map(0, 100), box_map(1, 100)};
  MirageLaunchConfig config = {"k", {1, 1, 1}, {1, 1, 1}, 32, 0, false, false, false, 2, maps};
  uint64_t pointers[] = {0x100, 0x230};
  maps[0].strides[1] = 6000;
  maps[1].strides[1] = 6144;
  assert_int_equal(mirage_module_launch(module, &config, 2, pointers, NULL, NULL), MIRAGE_OK);
  assert_int_equal(fake->launches[0].maps[0].l2_promotion, CU_TENSOR_L2_128_BYTES);
  assert_int_equal(fake->launches[0].maps[1].l2_promotion, CU_TENSOR_L2_256_BYTES);
  mirage_module_unload(module);
  mirage_device_destroy(device);
}

static void test_launch_tensor_maps_refused(void **unused) {
  MirageTensorMap maps[10];
  for (int i = 0; i < 10; i++)
    maps[i] = box_map(0, 100);
  maps[0].pointer = 1;
  maps[1].rank = 6;
  maps[2].extents[1] = 0;
  maps[3].strides[1] = 130;
  maps[4].strides[0] = 4;
  maps[5].box[1] = 257;
  maps[6].box[0] = 4;
  maps[7].box[0] = 72;
  maps[8].swizzle = 4;
  maps[9].strides[1] = (int64_t)1 << 40;
  static const char *const sentences[10] = {
      "launch: k: tensor map 0: pointer 0 is 1: the kernel does not have as many",
      "rank 0 is 6: 1 .. 5 is possible",
      "extent 1 is 0: 1 .. 2^32 is possible",
      "stride 1 is 130: a multiple of 16 bytes below 2^40 is wanted: pad the rows of the tensor",
      "stride 0 is 4: the size of an element is wanted",
      "box 1 is 257: 1 .. 256 is possible",
      "bytes of the box 0 is 8: a multiple of 16 is wanted",
      "bytes of the box 0 is 144: the swizzle takes no more than it exchanges within",
      "swizzle 0 is 4: 0 .. 3 is possible",
      "stride 1 is 1099511627776",
  };
  MirageDevice *device = open_device();
  MirageModule *module = load_module(device, "k 1+1\n");
  uint64_t pointer = 0x100;
  for (int i = 0; i < 10; i++) {
    Messages messages;
    MirageLaunchConfig config = {"k", {1, 1, 1}, {1, 1, 1}, 32, 0, false, false, false, 1, &maps[i]};
    assert_int_equal(mirage_module_launch(module, &config, 1, &pointer, NULL, &fresh(&messages)->diag),
                     MIRAGE_BAD_ARGUMENT);
    assert_says(&messages, sentences[i]);
  }
  assert_int_equal(fake->num_launches, 0);
  mirage_module_unload(module);
  mirage_device_destroy(device);
}

static void test_launch_tensor_maps_unavailable(void **unused) {
  Messages messages;
  fake->compute_major = 8;
  MirageDevice *device = open_device();
  MirageModule *module = load_module(device, "k 1+1\n");
  MirageTensorMap map = box_map(0, 100);
  MirageLaunchConfig config = {"k", {1, 1, 1}, {1, 1, 1}, 32, 0, false, false, false, 1, &map};
  uint64_t pointer = 0x100;
  assert_int_equal(mirage_module_launch(module, &config, 1, &pointer, NULL, &fresh(&messages)->diag),
                   MIRAGE_UNSUPPORTED);
  assert_says(&messages, "it copies by tensor maps, which Fake GPU 0 (compute 8.0, driver 13.0) does not have");
  mirage_module_unload(module);
  mirage_device_destroy(device);
}

static void test_launch_fails_in_driver(void **unused) {
  Messages messages;
  MirageDevice *device = open_device();
  MirageModule *module = load_module(device, "k 1\n");
  MirageLaunchConfig config = {"k", {1, 1, 1}, {1, 1, 1}, 32, 50000, false, false, false, 0, NULL};
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
      ON_FAKE(test_launch_early),
      ON_FAKE(test_launch_attributes),
      ON_FAKE(test_launch_without_clusters),
      ON_FAKE(test_launch_in_pairs),
      ON_FAKE(test_launch_of_meeting_blocks),
      ON_FAKE(test_launch_refused),
      ON_FAKE(test_launch_tensor_maps),
      ON_FAKE(test_tensor_maps_fetch_lines),
      ON_FAKE(test_launch_tensor_maps_refused),
      ON_FAKE(test_launch_tensor_maps_unavailable),
      ON_FAKE(test_launch_fails_in_driver),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
