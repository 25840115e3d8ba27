// test_program.c - programs of several kernels on the fake driver (fake_cuda.c): where each pointer comes from,
// workspaces by stream, captures, threads, kernels that fail or hang, and timing.
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_runtime.h"
#include <pthread.h>

// ------------------------------------------------------------------------------------------------------------ programs

// What fake kernels do, on 8 floats: "add" out = a + b; "twice" out = 2a; "count" out = a + workspace, leaving it zero.
static void run_floats(const FakeLaunch *launch) {
  const float *a = (const float *)(uintptr_t)launch->pointers[0];
  if (strcmp(launch->kernel, "add") == 0) {
    const float *b = (const float *)(uintptr_t)launch->pointers[1];
    float *out = (float *)(uintptr_t)launch->pointers[2];
    for (int i = 0; i < 8; i++)
      out[i] = a[i] + b[i];
    return;
  }
  float *out = (float *)(uintptr_t)launch->pointers[1];
  if (strcmp(launch->kernel, "twice") == 0) {
    for (int i = 0; i < 8; i++)
      out[i] = 2 * a[i];
    return;
  }
  const float *workspace = (const float *)(uintptr_t)launch->pointers[2];
  for (int i = 0; i < 8; i++)
    out[i] = a[i] + workspace[i];
}

// A custom kernel on 8 floats that stands for `launch`; its body adds up its operands and stores the sum.
static MirageValue add_kernel(MirageUGraph *graph, uint32_t num_operands, const MirageValue *operands, const char *name,
                              int64_t workspace_bytes) {
  MirageType type = mirage_type_tensor(MIRAGE_F32, 1, (int64_t[]){8});
  MirageLaunch launch = {.kernel = name, .threads = 32, .workspace_bytes = workspace_bytes, .starts_early = true};
  MirageTensorMap map = {.dtype = MIRAGE_F32, .rank = 1, .extents = {8}, .strides = {4}, .box = {8}};
  if (name && strcmp(name, "mapped") == 0)
    launch.num_maps = 1, launch.maps = &map; // of its first operand
  MirageCustomAttrs attrs = {.grid = {1, 1, 1}, .cluster = {1, 1, 1}, .launch = name ? &launch : NULL};
  MirageAccessAttrs access = {.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}};
  MirageNode custom = mirage_ugraph_open_custom(graph, num_operands, operands, 1, &type, &attrs);
  MirageValue sum = mirage_ugraph_load(graph, mirage_ugraph_argument(graph, custom, 0), &access);
  for (uint32_t i = 1; i < num_operands; i++) {
    MirageValue next = mirage_ugraph_load(graph, mirage_ugraph_argument(graph, custom, i), &access);
    sum = mirage_ugraph_apply(graph, MIRAGE_OP_ADD, 2, (MirageValue[]){sum, next}, NULL);
  }
  mirage_ugraph_store(graph, sum, mirage_ugraph_argument(graph, custom, num_operands), &access);
  mirage_ugraph_close(graph, 0, NULL);
  return mirage_ugraph_result(graph, custom, 0);
}

static MirageValue reshape(MirageUGraph *graph, MirageValue value, uint32_t rank, const int64_t *shape) {
  MirageAttrs attrs = {.shape = {.type = mirage_type_tensor(MIRAGE_F32, rank, shape)}};
  return mirage_ugraph_apply(graph, MIRAGE_OP_RESHAPE, 1, &value, &attrs);
}

// t = 2x; u = t + y; v = 2u; w = count(v); return w, x, w, u. t, x and w are reshaped in between, which launches
// nothing.
static MirageUGraph *chain_graph(void) {
  MirageType type = mirage_type_tensor(MIRAGE_F32, 1, (int64_t[]){8});
  MirageUGraph *graph = mirage_ugraph_create(NULL, "chain", NULL);
  MirageValue x = mirage_ugraph_input(graph, type);
  MirageValue y = mirage_ugraph_input(graph, type);
  MirageValue t = add_kernel(graph, 1, &x, "twice", 0);
  t = reshape(graph, t, 2, (int64_t[]){2, 4});
  t = reshape(graph, t, 1, (int64_t[]){8});
  MirageValue u = add_kernel(graph, 2, (MirageValue[]){t, y}, "add", 0);
  MirageValue v = add_kernel(graph, 1, &u, "twice", 0);
  MirageValue w = add_kernel(graph, 1, &v, "count", 64);
  MirageValue square = reshape(graph, w, 2, (int64_t[]){2, 4}), flat = reshape(graph, x, 2, (int64_t[]){1, 8});
  mirage_ugraph_return(graph, 4, (MirageValue[]){square, flat, w, u});
  assert_int_equal(mirage_ugraph_finish(graph), MIRAGE_OK);
  return graph;
}

static uint64_t upload_floats(MirageDevice *device, float first) {
  float values[8];
  uint64_t pointer = 0;
  for (int i = 0; i < 8; i++)
    values[i] = first + (float)i;
  assert_int_equal(mirage_device_alloc(device, sizeof values, NULL, &pointer), MIRAGE_OK);
  assert_int_equal(mirage_device_upload(device, pointer, values, sizeof values, NULL), MIRAGE_OK);
  return pointer;
}

static void assert_floats(MirageDevice *device, uint64_t pointer, float first, float step) {
  float values[8];
  assert_int_equal(mirage_device_download(device, values, pointer, sizeof values, NULL), MIRAGE_OK);
  for (int i = 0; i < 8; i++)
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
  for (int i = 0; i < 4; i++)
    chain.outputs[i] = upload_floats(chain.device, -1);
  return chain;
}

static void chain_destroy(Chain *chain) {
  for (int i = 0; i < 2; i++)
    mirage_device_free(chain->device, chain->inputs[i]);
  for (int i = 0; i < 4; i++)
    mirage_device_free(chain->device, chain->outputs[i]);
  mirage_program_destroy(chain->program);
  mirage_ugraph_destroy(chain->graph);
  mirage_module_unload(chain->module);
  mirage_device_destroy(chain->device);
}

static void test_program(void **unused) {
  Chain chain = chain_create();
  for (int call = 0; call < 2; call++) {
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
  for (int i = 0; i < 8; i++) // the first of a call may start early behind the last of the call before, too
    assert_true(launches[i].dependent);
  chain_destroy(&chain);
}

static void assert_source(const MirageLaunchPlan *plan, uint32_t kernel, uint32_t i, MirageSourceKind kind,
                          uint32_t index, int64_t offset) {
  const MirageSource *source = &plan->sources[plan->kernels[kernel].first_source + i];
  assert_int_equal(source->kind, kind);
  assert_int_equal(kind == MIRAGE_FROM_WORKSPACE ? source->offset : source->index,
                   kind == MIRAGE_FROM_WORKSPACE ? offset : index);
}

// The same program with no device: what test_program sees on the driver.
static void test_plan(void **unused) {
  MirageUGraph *graph = chain_graph();
  MirageLaunchPlan plan;
  assert_int_equal(mirage_launch_plan_init(&plan, graph, NULL), MIRAGE_OK);
  mirage_ugraph_destroy(graph); // the plan does not need it
  assert_int_equal(plan.num_inputs, 2);
  assert_int_equal(plan.num_outputs, 4);
  assert_int_equal(plan.num_kernels, 4);
  assert_string_equal(plan.kernels[0].name, "twice");
  assert_int_equal(plan.kernels[0].threads, 32);
  assert_int_equal(plan.kernels[0].grid[0], 1);
  assert_true(plan.kernels[0].dependent_launch);
  assert_true(plan.kernels[1].dependent_launch);
  assert_source(&plan, 0, 0, MIRAGE_FROM_INPUT, 0, 0);
  assert_source(&plan, 0, 1, MIRAGE_FROM_WORKSPACE, 0, 0); // t
  assert_source(&plan, 1, 0, MIRAGE_FROM_WORKSPACE, 0, 0);
  assert_source(&plan, 1, 1, MIRAGE_FROM_INPUT, 1, 0);
  assert_source(&plan, 1, 2, MIRAGE_FROM_OUTPUT, 3, 0);
  assert_source(&plan, 3, 1, MIRAGE_FROM_OUTPUT, 0, 0);
  assert_int_equal(plan.kernels[3].num_pointers, 3);
  assert_true(plan.kernels[3].blocks_meet);
  assert_source(&plan, 3, 2, MIRAGE_FROM_WORKSPACE, 0, (int64_t)(plan.workspace_bytes - plan.zeroed_bytes));
  assert_int_equal(plan.zeroed_bytes, MIRAGE_WORKSPACE_ALIGNMENT); // 64, and what aligns the next
  assert_int_equal(plan.num_copies, 2);                            // x, and w again
  assert_int_equal(plan.copies[0].output, 1);
  assert_int_equal(plan.copies[0].from.kind, MIRAGE_FROM_INPUT);
  assert_int_equal(plan.copies[1].output, 2);
  assert_int_equal(plan.copies[1].from.kind, MIRAGE_FROM_OUTPUT);
  assert_int_equal(plan.copies[1].bytes, 32);
  mirage_launch_plan_deinit(&plan);
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
  for (int i = 0; i < 2; i++) {
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
  assert_int_equal(mirage_program_create(module, graph, NULL, &program), MIRAGE_OK);
  fail_call("cuMemAlloc_v2", 0, 2);
  assert_int_equal(mirage_program_prepare(program, NULL, &fresh(&messages)->diag), MIRAGE_NO_MEMORY);
  assert_says(&messages, "CUDA_ERROR_OUT_OF_MEMORY");
  fail_call("cuMemsetD8Async", 0, 700);
  assert_int_equal(mirage_program_prepare(program, NULL, &fresh(&messages)->diag), MIRAGE_DRIVER);
  assert_int_equal(fake->num_live_allocations, 0);
  fake->fail_symbol = NULL;
  assert_int_equal(mirage_program_prepare(program, NULL, NULL), MIRAGE_OK);
  assert_int_equal(fake->num_live_allocations, 1);
  mirage_program_destroy(program);
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

// ---------------------------------------------------------------------------------------------------------- workspaces

static CuStream new_stream(MirageDevice *device) {
  CuStream stream = NULL;
  assert_int_equal(mirage__device_enter(device, NULL), MIRAGE_OK);
  assert_int_equal(device->cuda.stream_create(&stream, CU_STREAM_NON_BLOCKING_FLAG), CU_SUCCESS);
  mirage__device_leave(device);
  return stream;
}

static void delete_stream(MirageDevice *device, CuStream stream) {
  assert_int_equal(mirage__device_enter(device, NULL), MIRAGE_OK);
  assert_int_equal(device->cuda.stream_destroy(stream), CU_SUCCESS);
  mirage__device_leave(device);
}

// Each stream has a workspace of its own, made once; one that is forgotten goes to the next stream.
static void test_workspace_by_stream(void **unused) {
  Chain chain = chain_create();
  CuStream streams[3];
  for (int i = 0; i < 3; i++)
    streams[i] = new_stream(chain.device);
  unsigned before = fake->num_live_allocations;
  for (int round = 0; round < 2; round++)
    for (int i = 0; i < 2; i++) {
      assert_int_equal(mirage_program_launch(chain.program, chain.inputs, chain.outputs, streams[i], NULL), MIRAGE_OK);
      assert_floats(chain.device, chain.outputs[0], 204, 6);
    }
  assert_int_equal(fake->num_live_allocations, before + 2);
  const FakeLaunch *launches = fake->launches;
  assert_ptr_equal(launches[0].stream, streams[0]);
  assert_ptr_equal(launches[4].stream, streams[1]);
  assert_int_not_equal(launches[0].pointers[1], launches[4].pointers[1]); // t of the first stream and of the second
  assert_int_equal(launches[0].pointers[1], launches[8].pointers[1]);
  mirage_program_forget(chain.program, streams[0]);
  assert_int_equal(mirage_program_launch(chain.program, chain.inputs, chain.outputs, streams[2], NULL), MIRAGE_OK);
  assert_int_equal(fake->num_live_allocations, before + 2);
  assert_ptr_equal(launches[16].stream, streams[2]);
  assert_int_equal(launches[16].pointers[1], launches[0].pointers[1]);
  mirage_program_forget(chain.program, streams[0]); // nothing to forget
  for (int i = 0; i < 3; i++)
    delete_stream(chain.device, streams[i]);
  chain_destroy(&chain);
}

static void test_workspace_of_caller(void **unused) {
  Messages messages;
  Chain chain = chain_create();
  size_t bytes = mirage_program_workspace_bytes(chain.program);
  assert_int_equal(bytes, 256 + 256); // t and v in turn; the workspace of "count"
  uint64_t workspaces[2];
  for (int i = 0; i < 2; i++) {
    assert_int_equal(mirage_device_alloc(chain.device, bytes, NULL, &workspaces[i]), MIRAGE_OK);
    assert_int_equal(mirage_device_fill(chain.device, workspaces[i], 0, bytes, NULL), MIRAGE_OK);
  }
  unsigned before = fake->num_live_allocations;
  for (int i = 0; i < 3; i++) {
    assert_int_equal(
        mirage_program_launch_in(chain.program, chain.inputs, chain.outputs, workspaces[i % 2], NULL, NULL), MIRAGE_OK);
    assert_floats(chain.device, chain.outputs[0], 204, 6);
    assert_int_equal(fake->launches[4 * i].pointers[1], workspaces[i % 2]);
    assert_int_equal(fake->launches[4 * i + 3].pointers[2], workspaces[i % 2] + 256);
  }
  assert_int_equal(fake->num_live_allocations, before);
  assert_int_equal(mirage_program_launch_in(chain.program, chain.inputs, chain.outputs, workspaces[0] + 16, NULL,
                                            &fresh(&messages)->diag),
                   MIRAGE_BAD_ARGUMENT);
  assert_says(&messages, "512 bytes that start on 256 are needed");
  assert_int_equal(
      mirage_program_launch_in(chain.program, chain.inputs, chain.outputs, 0, NULL, &fresh(&messages)->diag),
      MIRAGE_BAD_ARGUMENT);
  assert_int_equal(fake->num_launches, 12);
  for (int i = 0; i < 2; i++)
    mirage_device_free(chain.device, workspaces[i]);
  chain_destroy(&chain);
}

// A capture holds the launches alone. Where the stream has no workspace yet, one is made beside the capture (the fake driver
// allows allocations and waits only to a thread that says they are its own affair), and the thread's mode is as before.
static void test_capture(void **unused) {
  Chain chain = chain_create();
  const MirageCuda *cuda = &chain.device->cuda;
  CuStream stream = new_stream(chain.device);
  CuDevicePointer pointer;
  assert_int_equal(mirage__device_enter(chain.device, NULL), MIRAGE_OK);
  for (int round = 0; round < 2; round++) { // without and with a workspace
    CuGraph graph = NULL;
    CuGraphExec exec = NULL;
    unsigned launches = fake->num_launches, allocations = fake->num_live_allocations;
    assert_false(mirage_program_is_captured(chain.program, stream));
    assert_int_equal(cuda->capture_begin(stream, CU_CAPTURE_THREAD_LOCAL), CU_SUCCESS);
    assert_true(mirage_program_is_captured(chain.program, stream));
    assert_false(mirage_program_is_captured(chain.program, NULL)); // the device's own stream
    assert_int_equal(mirage_program_launch(chain.program, chain.inputs, chain.outputs, stream, NULL), MIRAGE_OK);
    assert_int_equal(mirage_program_prepare(chain.program, stream, NULL), MIRAGE_OK); // there already
    assert_int_equal(fake->num_live_allocations, allocations + (round == 0));
    assert_int_not_equal(cuda->memory_alloc(&pointer, 16), CU_SUCCESS); // the mode is the old one
    assert_int_equal(cuda->capture_end(stream, &graph), CU_SUCCESS);
    assert_false(mirage_program_is_captured(chain.program, stream));
    assert_int_equal(fake->num_launches, launches);
    assert_int_equal(cuda->graph_instantiate(&exec, graph, 0), CU_SUCCESS);
    assert_int_equal(cuda->graph_launch(exec, stream), CU_SUCCESS);
    assert_int_equal(fake->num_launches, launches + 4);
    assert_floats(chain.device, chain.outputs[0], 204, 6);
    assert_int_equal(cuda->graph_exec_destroy(exec), CU_SUCCESS);
    assert_int_equal(cuda->graph_destroy(graph), CU_SUCCESS);
  }
  mirage__device_leave(chain.device);
  delete_stream(chain.device, stream);
  chain_destroy(&chain);
}

static void test_per_thread_stream(void **unused) {
  Messages messages;
  Chain chain = chain_create();
  assert_int_equal(
      mirage_program_launch(chain.program, chain.inputs, chain.outputs, (void *)2, &fresh(&messages)->diag),
      MIRAGE_BAD_ARGUMENT);
  assert_says(&messages, "the per-thread default stream is another stream in every thread");
  assert_int_equal(mirage_program_launch(chain.program, chain.inputs, chain.outputs, MIRAGE_STREAM_LEGACY, NULL),
                   MIRAGE_OK);
  assert_ptr_equal(fake->launches[0].stream, (void *)1);
  chain_destroy(&chain);
}

// With the context current already, a call is the launches, the copies, and one question for the current context.
static void test_driver_calls_of_a_launch(void **unused) {
  Chain chain = chain_create();
  assert_int_equal(mirage_program_prepare(chain.program, NULL, NULL), MIRAGE_OK);
  assert_int_equal(mirage__device_enter(chain.device, NULL), MIRAGE_OK);
  unsigned before = fake->num_calls;
  assert_int_equal(mirage_program_launch(chain.program, chain.inputs, chain.outputs, NULL, NULL), MIRAGE_OK);
  assert_int_equal(fake->num_calls - before, 4 + 2 + 1);
  mirage__device_leave(chain.device);
  chain_destroy(&chain);
}

// -------------------------------------------------------------------------------------------------------- tensor maps

// t = mapped(x); y = mapped(t): the first map follows the caller's tensor, the second stays; an address that comes
// again is not encoded again.
static void test_tensor_maps(void **unused) {
  Messages messages;
  MirageDevice *device = open_device();
  MirageModule *module = load_module(device, "mapped 2+1\n");
  MirageUGraph *graph = mirage_ugraph_create(NULL, "maps", NULL);
  MirageValue x = mirage_ugraph_input(graph, mirage_type_tensor(MIRAGE_F32, 1, (int64_t[]){8}));
  MirageValue t = add_kernel(graph, 1, &x, "mapped", 0);
  MirageValue y = add_kernel(graph, 1, &t, "mapped", 0);
  mirage_ugraph_return(graph, 1, &y);
  assert_int_equal(mirage_ugraph_finish(graph), MIRAGE_OK);
  MirageProgram *program = NULL;
  assert_int_equal(mirage_program_create(module, graph, NULL, &program), MIRAGE_OK);
  mirage_ugraph_destroy(graph);
  uint64_t inputs[3], output = upload_floats(device, 0);
  for (int i = 0; i < 3; i++)
    inputs[i] = upload_floats(device, 0);
  for (int i = 0; i < 9; i++)
    assert_int_equal(mirage_program_launch(program, &inputs[i % 3], &output, NULL, NULL), MIRAGE_OK);
  for (int i = 0; i < 9; i++) {
    const FakeLaunch *launches = &fake->launches[2 * i];
    assert_int_equal(launches[0].num_maps, 1);
    assert_int_equal(launches[0].maps[0].address, inputs[i % 3]);
    assert_int_equal(launches[0].pointers[0], inputs[i % 3]);
    assert_int_equal(launches[1].maps[0].address, launches[0].pointers[1]);
    assert_int_equal(launches[1].pointers[1], output);
  }
  assert_true(fake->num_encodings >= 4 &&
              fake->num_encodings <= 10); // two of the three may share an entry of the cache
  unsigned before = fake->num_encodings;
  for (int i = 0; i < 9; i++)
    assert_int_equal(mirage_program_launch(program, &inputs[2], &output, NULL, NULL), MIRAGE_OK);
  assert_true(fake->num_encodings <= before + 1);
  fail_call("cuTensorMapEncodeTiled", 0, 1);
  uint64_t elsewhere = upload_floats(device, 0);
  assert_int_equal(mirage_program_launch(program, &elsewhere, &output, NULL, &fresh(&messages)->diag), MIRAGE_DRIVER);
  assert_says(&messages, "cannot make a tensor map for address 0x");
  assert_int_equal(mirage_program_launch(program, &elsewhere, &output, NULL, NULL), MIRAGE_OK);
  for (int i = 0; i < 3; i++)
    mirage_device_free(device, inputs[i]);
  mirage_device_free(device, elsewhere);
  mirage_device_free(device, output);
  mirage_program_destroy(program);
  mirage_module_unload(module);
  mirage_device_destroy(device);
}

// ------------------------------------------------------------------------------------------------------------- threads

enum { THREADS = 4, CALLS = 2000 };

typedef struct Worker {
  Chain *chain;
  CuStream stream; // own, or one that all share
  pthread_barrier_t *start;
  uint64_t inputs[2], outputs[4];
  unsigned wrong;
} Worker;

static void *work(void *user) {
  Worker *worker = user;
  pthread_barrier_wait(worker->start);
  for (int i = 0; i < CALLS; i++) {
    MirageProgram *program = worker->chain->program;
    if (mirage_program_launch(program, worker->inputs, worker->outputs, worker->stream, NULL) != MIRAGE_OK)
      worker->wrong++;
  }
  const float *w = (const float *)(uintptr_t)worker->outputs[0], *y = (const float *)(uintptr_t)worker->inputs[1];
  for (int i = 0; i < 8; i++)
    worker->wrong += w[i] != 2 * (2 * (float)(1 + i) + y[i]);
  return NULL;
}

// Several threads launch one program, each on its stream and with its tensors; then all on one stream, where their
// kernels must not mix, because they share its workspace.
static void test_threads(void **unused) {
  for (int shared = 0; shared < 2; shared++) {
    Chain chain = chain_create();
    Worker workers[THREADS];
    pthread_t threads[THREADS];
    pthread_barrier_t start;
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++) {
      workers[i] = (Worker){.chain = &chain, .start = &start};
      workers[i].stream = shared ? chain.device->stream : new_stream(chain.device);
      workers[i].inputs[0] = chain.inputs[0];
      workers[i].inputs[1] = upload_floats(chain.device, (float)(1000 * i));
      for (int j = 0; j < 4; j++)
        workers[i].outputs[j] = upload_floats(chain.device, -1);
    }
    for (int i = 0; i < THREADS; i++)
      assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    for (int i = 0; i < THREADS; i++) {
      assert_int_equal(pthread_join(threads[i], NULL), 0);
      assert_int_equal(workers[i].wrong, 0);
      for (int j = 0; j < 4; j++)
        mirage_device_free(chain.device, workers[i].outputs[j]);
      mirage_device_free(chain.device, workers[i].inputs[1]);
      if (!shared)
        delete_stream(chain.device, workers[i].stream);
    }
    pthread_barrier_destroy(&start);
    assert_int_equal(fake->num_launches, (shared + 1) * 4 * THREADS * CALLS);
    chain_destroy(&chain);
  }
}

static void *load_chain(void *user) {
  MirageModule *module = NULL;
  mirage_module_load(user, "add 3\ntwice 2\ncount 3\n", NULL, &module);
  return module;
}

// The same PTX is loaded once, whoever asks; another PTX is not it.
static void test_module_cache(void **unused) {
  MirageDevice *device = open_device();
  pthread_t threads[THREADS];
  void *modules[THREADS];
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, load_chain, device), 0);
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_join(threads[i], &modules[i]), 0);
  assert_int_equal(fake->num_loads, 1);
  MirageModule *different = load_module(device, "add 3\ntwice 2\n");
  assert_int_equal(fake->num_loads, 2);
  assert_ptr_not_equal(different, modules[0]);
  mirage_module_unload(different);
  for (int i = 0; i < THREADS; i++) {
    assert_ptr_equal(modules[i], modules[0]);
    mirage_module_unload(modules[i]);
  }
  assert_int_equal(fake->num_live_objects, 2); // the context and its stream: the last user was the last
  mirage_module_unload(load_module(device, "add 3\ntwice 2\n"));
  assert_int_equal(fake->num_loads, 3);
  // A cubin's length is the driver's business, so it is never compared.
  MirageModule *cubins[2] = {load_module(device, "\x7f"
                                                 "ELF"),
                             load_module(device, "\x7f"
                                                 "ELF")};
  assert_int_equal(fake->num_loads, 5);
  mirage_module_unload(cubins[0]);
  mirage_module_unload(cubins[1]);
  mirage_device_destroy(device);
}

// ------------------------------------------------------------------------------------------------- the caller's
// context

static void test_current_context(void **unused) {
  Messages messages;
  MirageDevice *device = NULL;
  assert_int_equal(mirage_device_create_current(&fresh(&messages)->diag, &device), MIRAGE_BAD_ARGUMENT);
  assert_says(&messages, "no context is current for this thread");
  assert_null(device);

  CuResult (*push)(CuContext), (*pop)(CuContext *);
  CuContext (*get_other)(void), popped = NULL;
  *(void **)&push = dlsym(fake_handle, "cuCtxPushCurrent_v2");
  *(void **)&pop = dlsym(fake_handle, "cuCtxPopCurrent_v2");
  *(void **)&get_other = dlsym(fake_handle, "fake_cuda_context");
  assert_int_equal(push(get_other()), CU_SUCCESS);
  assert_int_equal(mirage_device_create_current(NULL, &device), MIRAGE_OK);
  assert_string_equal(mirage_device_info(device)->name, "Fake GPU 0");
  assert_int_equal(fake->num_live_objects, 1); // a stream, and no primary context
  MirageModule *module = load_module(device, "k 1\n");
  assert_int_equal(pop(&popped), CU_SUCCESS);
  // It works in that context, whatever is current for the caller (the fake driver refuses another context's kernels).
  MirageLaunchConfig config = {"k", {1, 1, 1}, {1, 1, 1}, 32, 0, false, false, false, 0, NULL};
  uint64_t pointer = 0x100;
  assert_int_equal(mirage_module_launch(module, &config, 1, &pointer, NULL, NULL), MIRAGE_OK);
  mirage_module_unload(module);
  mirage_device_destroy(device);
}

// ------------------------------------------------------------------------------------------------ kernels that go
// wrong

static void test_failing_kernel_is_named(void **unused) {
  Messages messages;
  Chain chain = chain_create();
  fake->failing = "add";
  fake->kernel_result = 700;
  assert_int_equal(mirage_program_run(chain.program, chain.inputs, chain.outputs, &fresh(&messages)->diag),
                   MIRAGE_DRIVER);
  assert_says(&messages, "device: kernel add failed: CUDA_ERROR_ILLEGAL_ADDRESS (700): ");
  assert_int_equal(fake->num_launches, 2);
  chain_destroy(&chain);
}

// The wait ends, the kernel is named, and nothing after it blocks: the fake driver would say so (WOULD_BLOCK). What the
// device holds is given up.
static void test_hanging_kernel_is_named(void **unused) {
  Messages messages;
  Chain chain = chain_create();
  mirage_device_set_timeout(chain.device, 0.02);
  assert_int_equal(mirage_program_run(chain.program, chain.inputs, chain.outputs, NULL), MIRAGE_OK);
  fake->hanging = "count";
  assert_int_equal(mirage_program_run(chain.program, chain.inputs, chain.outputs, &fresh(&messages)->diag),
                   MIRAGE_DRIVER);
  assert_says(&messages, "device: kernel count did not finish within 0.02 s on Fake GPU 0");
  float values[8];
  assert_int_equal(
      mirage_device_download(chain.device, values, chain.outputs[0], sizeof values, &fresh(&messages)->diag),
      MIRAGE_DRIVER);
  assert_says(&messages, "Fake GPU 0 still runs a kernel that did not finish in time: end the process");
  unsigned launched = fake->num_launches;
  assert_int_equal(mirage_program_launch(chain.program, chain.inputs, chain.outputs, NULL, NULL), MIRAGE_DRIVER);
  assert_int_equal(fake->num_launches, launched);
  chain_destroy(&chain);
  assert_int_equal(fake->num_blocking, 0);
  load_fake(NULL); // forgets what was given up
}

static void test_hanging_replay(void **unused) {
  Messages messages;
  Chain chain = chain_create();
  MirageTiming timing;
  mirage_device_set_timeout(chain.device, 0.02);
  fake->hang_after = 4; // the eager call is over then
  fake->hanging = "add";
  assert_int_equal(mirage_program_time(chain.program, 1, chain.inputs, chain.outputs, &fresh(&messages)->diag, &timing),
                   MIRAGE_DRIVER);
  assert_says(&messages, "a replay of the program did not finish within 0.02 s");
  chain_destroy(&chain);
  assert_int_equal(fake->num_blocking, 0);
  load_fake(NULL);
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
  for (int call = 0; call < 7; call++) {
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
               {"cuEventQuery", 0},
               {"cuEventElapsedTime", 2},
               {"cuLaunchKernelEx", 0},
               {"cuLaunchKernelEx", 9}};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
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
  assert_says(&messages, "kernel twice failed");
  assert_int_equal(fake->num_launches, 1);
  chain_destroy(&chain);
}

// --------------------------------------------------------------------------------------------------------------- races

// Launches of a race of a program with itself.
static unsigned race(Chain *chain, double settle_us) {
  MirageProgram *programs[] = {chain->program, chain->program};
  MirageTiming timings[2];
  unsigned before = fake->num_launches;
  assert_int_equal(mirage_programs_race(2, programs, 1, chain->inputs, chain->outputs, settle_us, 10e3, NULL, timings),
                   MIRAGE_OK);
  for (int i = 0; i < 2; i++) {
    assert_float_equal(timings[i].cold_us, fake->kernel_us * 4, 1e-3);
    assert_true(timings[i].replays >= 7);
  }
  return fake->num_launches - before;
}

static void test_race(void **unused) {
  Chain chain = chain_create();
  unsigned lap = 2 * 11 * 4; // of two programs, 11 calls of four kernels: 440 us a replay
  unsigned plain = race(&chain, 0);
  assert_int_equal(race(&chain, 0), plain);
  assert_int_equal(race(&chain, 2 * 880 - 1), plain); // two laps come first in any case
  assert_int_equal(race(&chain, 100 * 880 - 1), plain + 98 * lap);
  // A clock that stands still does not keep it for ever.
  fake->kernel_us = 0;
  race(&chain, 1e6);
  chain_destroy(&chain);
}

static void test_race_refused(void **unused) {
  Messages messages;
  Chain chain = chain_create();
  MirageProgram *programs[9];
  MirageTiming timings[9];
  for (int i = 0; i < 9; i++)
    programs[i] = chain.program;
  static const struct {
    unsigned programs, sets;
  } wrong[] = {{0, 1}, {9, 1}, {2, 0}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_int_equal(mirage_programs_race(wrong[i].programs, programs, wrong[i].sets, chain.inputs, chain.outputs, 0,
                                          10e3, &fresh(&messages)->diag, timings),
                     MIRAGE_BAD_ARGUMENT);
    assert_says(&messages, "at least 1 set and 1 to 8 programs are needed");
  }
  fail_call("cuGraphLaunch", 9, 719); // while clocks settle
  assert_int_equal(
      mirage_programs_race(2, programs, 1, chain.inputs, chain.outputs, 1e6, 10e3, &fresh(&messages)->diag, timings),
      MIRAGE_DRIVER);
  assert_says(&messages, "CUDA_ERROR_LAUNCH_FAILED (719)");
  chain_destroy(&chain);
}

// ------------------------------------------------------------------------------------------------------------ overhead

static void test_launch_overhead(void **unused) {
  Messages messages;
  Chain chain = chain_create();
  MirageLaunchOverhead overhead = {0};
  assert_int_equal(mirage_program_launch_overhead(chain.program, chain.inputs, chain.outputs, NULL, &overhead),
                   MIRAGE_OK);
  assert_int_equal(overhead.kernels, 4);
  assert_true(overhead.bare_us > 0 && overhead.launch_us > 0);
  assert_int_equal(fake->num_launches, 4 * (1 + 2 * overhead.calls)); // once to begin with, and both kinds
  fail_call("cuLaunchKernelEx", 100, 719);
  assert_int_equal(
      mirage_program_launch_overhead(chain.program, chain.inputs, chain.outputs, &fresh(&messages)->diag, &overhead),
      MIRAGE_DRIVER);
  assert_says(&messages, "failed to start: CUDA_ERROR_LAUNCH_FAILED (719)");
  chain_destroy(&chain);
}

int main(void) {
  find_fake_library();
  const struct CMUnitTest tests[] = {
      ON_FAKE(test_program),
      cmocka_unit_test(test_plan),
      ON_FAKE(test_program_refused),
      ON_FAKE(test_program_no_room),
      ON_FAKE(test_program_bad_pointers),
      ON_FAKE(test_workspace_by_stream),
      ON_FAKE(test_workspace_of_caller),
      ON_FAKE(test_capture),
      ON_FAKE(test_per_thread_stream),
      ON_FAKE(test_driver_calls_of_a_launch),
      ON_FAKE(test_tensor_maps),
      ON_FAKE(test_threads),
      ON_FAKE(test_module_cache),
      ON_FAKE(test_current_context),
      ON_FAKE(test_failing_kernel_is_named),
      ON_FAKE(test_hanging_kernel_is_named),
      ON_FAKE(test_timing),
      ON_FAKE(test_timing_failures),
      ON_FAKE(test_timing_refused),
      ON_FAKE(test_race),
      ON_FAKE(test_race_refused),
      ON_FAKE(test_hanging_replay),
      ON_FAKE(test_launch_overhead),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
