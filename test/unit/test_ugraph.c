// test_ugraph.c - building, reading and copying graphs: what the builder accepts, what it refuses and how it says so.
//
// The scenario that most tests vary is the example of ugraph.h: y = x @ w on 4 blocks, looping 8 times over k.
#include "mirage/random.h"
#include "mirage/ugraph.h"

#include "capture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define TENSOR(dtype, ...)                                                                                             \
  mirage_type_tensor(dtype, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})
#define TILE(dtype, ...)                                                                                               \
  mirage_type_tile(dtype, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

static MirageAccessAttrs access(int8_t x, int8_t loop) {
  return (MirageAccessAttrs){.grid = {x, -1, -1}, .loop = {loop, -1, -1, -1}};
}

static const MirageCustomAttrs GRID4 = {.grid = {4, 1, 1}, .cluster = {1, 1, 1}};
static const MirageCarry SUM = {.combine = MIRAGE_COMBINE_SUM};

static MirageLoopAttrs loop_of(int64_t range, uint32_t num_carries, const MirageCarry *carries) {
  return (MirageLoopAttrs){.range = range, .num_carries = num_carries, .carries = carries};
}

typedef struct Linear {
  MirageUGraph *graph;
  MirageNode custom, loop;
  MirageValue x, w, zero, y;
} Linear;

// x [16, 64], w [64, 32] and the open custom kernel.
static Linear open_linear(const MirageAllocator *allocator, const MirageDiag *diag) {
  Linear l = {.graph = mirage_ugraph_create(allocator, "linear", diag)};
  if (!l.graph)
    return l;
  l.x = mirage_ugraph_input(l.graph, TENSOR(MIRAGE_F16, 16, 64));
  l.w = mirage_ugraph_input(l.graph, TENSOR(MIRAGE_F16, 64, 32));
  MirageType y_type = TENSOR(MIRAGE_F16, 16, 32);
  l.custom = mirage_ugraph_open_custom(l.graph, 2, (MirageValue[]){l.x, l.w}, 1, &y_type, &GRID4);
  l.zero = mirage_ugraph_constant(l.graph, TILE(MIRAGE_F32, 16, 8), 0.0);
  return l;
}

static void open_linear_loop(Linear *l) {
  MirageLoopAttrs attrs = loop_of(8, 1, &SUM);
  l->loop = mirage_ugraph_open_loop(l->graph, 1, &l->zero, &attrs);
}

static MirageValue linear_body(Linear *l) {
  MirageAccessAttrs x_access = access(-1, 1), w_access = access(1, 0);
  MirageValue xt = mirage_ugraph_load(l->graph, mirage_ugraph_argument(l->graph, l->custom, 0), &x_access);
  MirageValue wt = mirage_ugraph_load(l->graph, mirage_ugraph_argument(l->graph, l->custom, 1), &w_access);
  return mirage_ugraph_apply(l->graph, MIRAGE_OP_MATMUL, 2, (MirageValue[]){xt, wt}, NULL);
}

// Closes the loop, scales in a thread region, stores, returns.
static MirageStatus finish_linear(Linear *l, MirageValue product) {
  MirageUGraph *g = l->graph;
  mirage_ugraph_close(g, 1, &product);
  MirageValue acc = mirage_ugraph_result(g, l->loop, 0);
  MirageNode thread = mirage_ugraph_open_thread(g, 1, &acc);
  MirageValue fragment = mirage_ugraph_argument(g, thread, 0);
  MirageValue relu = mirage_ugraph_apply(g, MIRAGE_OP_RELU, 1, &fragment, NULL);
  mirage_ugraph_close(g, 1, &relu);
  MirageAccessAttrs y_access = access(1, -1);
  mirage_ugraph_store(g, mirage_ugraph_result(g, thread, 0), mirage_ugraph_argument(g, l->custom, 2), &y_access);
  mirage_ugraph_close(g, 0, NULL);
  l->y = mirage_ugraph_result(g, l->custom, 0);
  mirage_ugraph_return(g, 1, &l->y);
  return mirage_ugraph_finish(g);
}

static MirageStatus build_linear(Linear *l) {
  open_linear_loop(l);
  return finish_linear(l, linear_body(l));
}

// ------------------------------------------------------------------------------------------- building and reading

static void assert_type(const MirageUGraph *g, MirageValue value, const char *expected, MirageSpace space) {
  char text[160];
  assert_string_equal(mirage_type_format(mirage_ugraph_type(g, value), text, sizeof text), expected);
  assert_int_equal(mirage_ugraph_type(g, value)->space, space);
}

static void test_build_and_read(void **state) {
  Capture capture = {0};
  const MirageDiag diag = {capture_emit, &capture};
  Linear l = open_linear(NULL, &diag);
  MirageUGraph *g = l.graph;
  open_linear_loop(&l);
  assert_int_equal(mirage_ugraph_result(g, l.loop, 0).index, 0); // not before it is closed
  MirageValue product = linear_body(&l);
  assert_type(g, product, "16x8xf32", MIRAGE_SPACE_TILE);
  assert_int_equal(finish_linear(&l, product), MIRAGE_OK);
  assert_int_equal(capture.count, 0);

  assert_string_equal(mirage_ugraph_get_meta(g)->name, "linear");
  assert_int_equal(mirage_ugraph_num_inputs(g), 2);
  assert_int_equal(mirage_ugraph_get_input(g, 1).index, l.w.index);
  assert_int_equal(mirage_ugraph_get_input(g, 2).index, 0);
  assert_int_equal(mirage_ugraph_num_outputs(g), 1);
  assert_int_equal(mirage_ugraph_get_output(g, 0).index, l.y.index);
  assert_type(g, l.y, "16x32xf16", MIRAGE_SPACE_DEVICE);

  MirageRegionView body = mirage_ugraph_region(g, mirage_ugraph_body(g));
  assert_int_equal(body.level, MIRAGE_LEVEL_KERNEL);
  assert_int_equal(body.num_nodes, 2); // custom, return
  assert_int_equal(body.owner.index, 0);
  MirageNodeView custom = mirage_ugraph_node(g, l.custom);
  assert_int_equal(custom.op, MIRAGE_OP_CUSTOM);
  assert_int_equal(custom.level, MIRAGE_LEVEL_KERNEL);
  assert_int_equal(custom.attrs->custom.grid[0], 4);
  MirageRegionView block = mirage_ugraph_region(g, custom.region);
  assert_int_equal(block.num_arguments, 3);
  assert_int_equal(block.owner.index, l.custom.index);
  assert_int_equal(block.num_nodes, 4); // constant, loop, thread, store
  MirageNodeView loop = mirage_ugraph_node(g, l.loop);
  MirageRegionView iteration = mirage_ugraph_region(g, loop.region);
  assert_int_equal(iteration.num_nodes, 4); // load, load, matmul, yield
  MirageNodeView yield = mirage_ugraph_node(g, iteration.nodes[3]);
  assert_int_equal(yield.op, MIRAGE_OP_YIELD);
  assert_int_equal(yield.operands[0].index, product.index);
  assert_int_equal(mirage_ugraph_def(g, product).index, iteration.nodes[2].index);
  assert_int_equal(mirage_ugraph_def(g, l.x).index, 0);
  assert_type(g, mirage_ugraph_argument(g, l.loop, 0), "16x8xf32", MIRAGE_SPACE_TILE);
  assert_int_equal(mirage_ugraph_argument(g, l.loop, 1).index, 0);

  MirageNodeView thread = mirage_ugraph_node(g, block.nodes[2]);
  assert_int_equal(mirage_ugraph_region(g, thread.region).level, MIRAGE_LEVEL_THREAD);
  assert_type(g, mirage_ugraph_argument(g, block.nodes[2], 0), "16x8xf32", MIRAGE_SPACE_FRAGMENT);
  assert_type(g, thread.first_result, "16x8xf32", MIRAGE_SPACE_TILE);
  assert_null(thread.attrs);
  assert_non_null(mirage_ugraph_node(g, iteration.nodes[2]).attrs); // matmul's default attributes
  mirage_ugraph_destroy(g);
}

// A block graph has each constant once, as stock clean-up would leave it; a loop sees those around it.
static void test_equal_constants_are_one(void **state) {
  Linear l = open_linear(NULL, NULL);
  MirageType scalar = TILE(MIRAGE_F32, 1, 1), half = TILE(MIRAGE_F16, 1, 1), wide = TILE(MIRAGE_F32, 1, 2);
  MirageValue two = mirage_ugraph_constant(l.graph, scalar, 2.0);
  assert_int_equal(mirage_ugraph_constant(l.graph, scalar, 2.0).index, two.index);
  assert_int_not_equal(mirage_ugraph_constant(l.graph, scalar, 3.0).index, two.index);
  assert_int_not_equal(mirage_ugraph_constant(l.graph, half, 2.0).index, two.index);
  assert_int_not_equal(mirage_ugraph_constant(l.graph, wide, 2.0).index, two.index);
  MirageValue zero = mirage_ugraph_constant(l.graph, scalar, 0.0);
  assert_int_not_equal(mirage_ugraph_constant(l.graph, scalar, -0.0).index, zero.index);
  open_linear_loop(&l);
  assert_int_equal(mirage_ugraph_constant(l.graph, scalar, 2.0).index, two.index);
  MirageValue inside = mirage_ugraph_constant(l.graph, scalar, 5.0), product = linear_body(&l);
  mirage_ugraph_close(l.graph, 1, &product);
  assert_int_not_equal(mirage_ugraph_constant(l.graph, scalar, 5.0).index, inside.index); // which the loop holds
  assert_int_equal(mirage_ugraph_status(l.graph), MIRAGE_OK);
  mirage_ugraph_destroy(l.graph);
}

static void test_scope(void **state) {
  Linear l = open_linear(NULL, NULL);
  MirageUGraph *g = l.graph;
  MirageLoopAttrs outer = loop_of(3, 0, NULL), inner = loop_of(5, 0, NULL);
  mirage_ugraph_open_loop(g, 0, NULL, &outer);
  mirage_ugraph_open_loop(g, 0, NULL, &inner);
  MirageValue one = mirage_ugraph_constant(g, TILE(MIRAGE_F32, 1), 1.0);
  MirageScope scope = mirage_ugraph_scope(g, mirage_ugraph_def(g, one));
  assert_int_equal(scope.num_loops, 2);
  assert_int_equal(scope.ranges[0], 3);
  assert_int_equal(scope.ranges[1], 5);
  assert_int_equal(scope.grid[0], 4);
  scope = mirage_ugraph_scope(g, l.custom);
  assert_int_equal(scope.num_loops, 0);
  assert_int_equal(scope.grid[0], 1);
  mirage_ugraph_destroy(g);
}

static void test_readers_take_any_id(void **state) {
  Linear l = open_linear(NULL, NULL);
  assert_int_equal(build_linear(&l), MIRAGE_OK);
  const uint32_t ids[] = {0, 1000, UINT32_MAX};
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
    assert_int_equal(mirage_ugraph_type(l.graph, (MirageValue){ids[i]})->rank, 0);
    assert_int_equal(mirage_ugraph_node(l.graph, (MirageNode){ids[i]}).op, MIRAGE_OP_NONE);
    assert_int_equal(mirage_ugraph_region(l.graph, (MirageRegion){ids[i]}).num_nodes, 0);
    assert_int_equal(mirage_ugraph_def(l.graph, (MirageValue){ids[i]}).index, 0);
    assert_int_equal(mirage_ugraph_result(l.graph, (MirageNode){ids[i]}, 0).index, 0);
    assert_int_equal(mirage_ugraph_result(l.graph, l.custom, ids[i] + 1).index, 0 == ids[i] + 1 ? l.y.index : 0);
    assert_int_equal(mirage_ugraph_argument(l.graph, (MirageNode){ids[i]}, 0).index, 0);
    assert_int_equal(mirage_ugraph_scope(l.graph, (MirageNode){ids[i]}).num_loops, 0);
  }
  mirage_ugraph_destroy(l.graph);
  mirage_ugraph_destroy(NULL);
}

// ------------------------------------------------------------------------------------------------- what is refused

// Each case spoils a graph whose custom region is open (l->zero: a tile of 16x8xf32), then the rest is built as usual.
typedef struct Refusal {
  void (*spoil)(Linear *l);
  MirageStatus status;
  const char *message;
} Refusal;

static MirageValue argument(const Linear *l, uint32_t index) {
  return mirage_ugraph_argument(l->graph, l->custom, index);
}

static void spoil_unknown_id(Linear *l) {
  mirage_ugraph_apply(l->graph, MIRAGE_OP_ADD, 2, (MirageValue[]){l->zero, {99}}, NULL);
}
static void spoil_zero_id(Linear *l) { mirage_ugraph_apply(l->graph, MIRAGE_OP_EXP, 1, (MirageValue[]){{0}}, NULL); }
static void spoil_no_operands(Linear *l) { mirage_ugraph_apply(l->graph, MIRAGE_OP_EXP, 1, NULL, NULL); }
static void spoil_isolation(Linear *l) { // a kernel tensor named inside custom
  MirageAccessAttrs a = access(-1, -1);
  mirage_ugraph_load(l->graph, l->x, &a);
}
static void spoil_closed_region(Linear *l) {
  MirageLoopAttrs attrs = loop_of(2, 0, NULL);
  mirage_ugraph_open_loop(l->graph, 0, NULL, &attrs);
  MirageValue inner = mirage_ugraph_constant(l->graph, TILE(MIRAGE_F32, 1), 0);
  mirage_ugraph_close(l->graph, 0, NULL);
  mirage_ugraph_apply(l->graph, MIRAGE_OP_EXP, 1, &inner, NULL);
}
static void spoil_thread_isolation(Linear *l) {
  mirage_ugraph_open_thread(l->graph, 0, NULL);
  mirage_ugraph_apply(l->graph, MIRAGE_OP_EXP, 1, &l->zero, NULL);
}
static void spoil_thread_operand(Linear *l) {
  MirageValue tensor = argument(l, 0);
  mirage_ugraph_open_thread(l->graph, 1, &tensor);
}
static void spoil_thread_without_results(Linear *l) {
  mirage_ugraph_open_thread(l->graph, 1, &l->zero);
  mirage_ugraph_close(l->graph, 0, NULL);
}
static void spoil_load_output(Linear *l) {
  MirageAccessAttrs a = access(-1, -1);
  mirage_ugraph_load(l->graph, argument(l, 2), &a);
}
static void spoil_store_input(Linear *l) {
  MirageAccessAttrs a = access(1, -1);
  MirageValue tile = mirage_ugraph_constant(l->graph, TILE(MIRAGE_F32, 16, 16), 0);
  mirage_ugraph_store(l->graph, tile, argument(l, 0), &a);
}
static void spoil_store_shape(Linear *l) {
  MirageAccessAttrs a = access(-1, -1);
  mirage_ugraph_store(l->graph, l->zero, argument(l, 2), &a);
}
static void spoil_loop_map(Linear *l) {
  MirageAccessAttrs a = access(-1, 0);
  mirage_ugraph_load(l->graph, argument(l, 0), &a);
}
static void spoil_no_access(Linear *l) { mirage_ugraph_load(l->graph, argument(l, 0), NULL); }
static void spoil_operator(Linear *l) { mirage_ugraph_apply(l->graph, (MirageOp)1234, 0, NULL, NULL); }
static void spoil_region_operator(Linear *l) { mirage_ugraph_apply(l->graph, MIRAGE_OP_LOOP, 0, NULL, NULL); }
static void spoil_level(Linear *l) {
  mirage_ugraph_apply(l->graph, MIRAGE_OP_SOFTMAX, 1, &l->zero, &(MirageAttrs){.dim = {0}});
}
static void spoil_nested_custom(Linear *l) {
  MirageType type = TENSOR(MIRAGE_F16, 1);
  mirage_ugraph_open_custom(l->graph, 0, NULL, 1, &type, &GRID4);
}
static void spoil_return(Linear *l) { mirage_ugraph_return(l->graph, 1, &l->zero); }
static void spoil_late_input(Linear *l) { mirage_ugraph_input(l->graph, TENSOR(MIRAGE_F16, 1)); }
static void spoil_output(Linear *l) { mirage_ugraph_close(l->graph, 0, NULL); }
static void spoil_custom_yield(Linear *l) { mirage_ugraph_close(l->graph, 1, &l->zero); }
static void spoil_loop_range(Linear *l) {
  MirageLoopAttrs attrs = loop_of(0, 0, NULL);
  mirage_ugraph_open_loop(l->graph, 0, NULL, &attrs);
}
static void spoil_loop_carries(Linear *l) {
  MirageLoopAttrs attrs = loop_of(1, 1, &SUM);
  mirage_ugraph_open_loop(l->graph, 0, NULL, &attrs);
}
static void spoil_loop_attrs(Linear *l) { mirage_ugraph_open_loop(l->graph, 0, NULL, NULL); }
static void spoil_loop_depth(Linear *l) {
  MirageLoopAttrs attrs = loop_of(2, 0, NULL);
  for (int i = 0; i <= MIRAGE_MAX_LOOPS; i++)
    mirage_ugraph_open_loop(l->graph, 0, NULL, &attrs);
}
static void spoil_loop_yield(Linear *l) {
  open_linear_loop(l);
  mirage_ugraph_close(l->graph, 0, NULL);
}
static void spoil_placement(Linear *l) {
  mirage_ugraph_set_placement(l->graph, argument(l, 0), MIRAGE_SPACE_SHARED, NULL);
}
static void spoil_placement_space(Linear *l) {
  mirage_ugraph_set_placement(l->graph, l->zero, MIRAGE_SPACE_DEVICE, NULL);
}
static void spoil_schedule_node(Linear *l) { mirage_ugraph_set_schedule(l->graph, (MirageNode){77}, NULL); }
static void spoil_schedule(Linear *l) {
  MirageSchedule schedule = {.warps = 33};
  mirage_ugraph_set_schedule(l->graph, l->custom, &schedule);
}
static void spoil_launch(Linear *l) {
  MirageLaunch launch = {.kernel = "k", .threads = 2000};
  mirage_ugraph_set_launch(l->graph, l->custom, &launch);
}

static void test_refusals(void **state) {
  static const Refusal cases[] = {
      {spoil_unknown_id, MIRAGE_BAD_GRAPH, "add: operand 1 is not a value: id 99, the graph has 6"},
      {spoil_zero_id, MIRAGE_BAD_GRAPH, "exp: operand 0 is not a value: id 0, the graph has 6"},
      {spoil_no_operands, MIRAGE_BAD_ARGUMENT, "exp: 1 operands announced, none given"},
      {spoil_isolation, MIRAGE_BAD_GRAPH,
       "load: operand 0 (value 1) is not visible here: it belongs to another region"},
      {spoil_closed_region, MIRAGE_BAD_GRAPH,
       "exp: operand 0 (value 7) is not visible here: it belongs to another region"},
      {spoil_thread_isolation, MIRAGE_BAD_GRAPH,
       "exp: operand 0 (value 6) is not visible here: it belongs to another region"},
      {spoil_thread_operand, MIRAGE_BAD_TYPE, "thread: operand 0 is a tensor, the block level works on tiles"},
      {spoil_thread_without_results, MIRAGE_BAD_GRAPH, "thread: yields nothing"},
      {spoil_load_output, MIRAGE_BAD_GRAPH, "load: argument 2 is an output: the custom kernel has 2 inputs"},
      {spoil_store_input, MIRAGE_BAD_GRAPH, "store: argument 0 is an input: outputs start at argument 2"},
      {spoil_store_shape, MIRAGE_BAD_SHAPE, "store: tile does not fit the tensor's part: 16x8xf32 vs 16x32xf32"},
      {spoil_loop_map, MIRAGE_BAD_ARGUMENT, "load: loop map names loop 0, but 0 loops enclose it"},
      {spoil_no_access, MIRAGE_BAD_ARGUMENT, "load: attributes are missing"},
      {spoil_operator, MIRAGE_BAD_ARGUMENT, "operator 1234 does not exist"},
      {spoil_region_operator, MIRAGE_BAD_ARGUMENT, "loop: has its own building call"},
      {spoil_level, MIRAGE_BAD_GRAPH, "softmax: not an operator of the block level"},
      {spoil_nested_custom, MIRAGE_BAD_GRAPH, "custom: not an operator of the block level"},
      {spoil_return, MIRAGE_BAD_GRAPH, "return: not an operator of the block level"},
      {spoil_late_input, MIRAGE_BAD_GRAPH, "input: inputs come before any node: 2 nodes exist"},
      {spoil_output, MIRAGE_BAD_GRAPH, "custom: output 0 is never stored"},
      {spoil_custom_yield, MIRAGE_BAD_GRAPH, "custom: outputs are stored, not yielded: 1 values given"},
      {spoil_loop_range, MIRAGE_BAD_ARGUMENT, "loop: range is 0, at least 1 is needed"},
      {spoil_loop_carries, MIRAGE_BAD_ARGUMENT, "loop: numbers of carries and initial values differ: 1 vs 0"},
      {spoil_loop_attrs, MIRAGE_BAD_ARGUMENT, "loop: attributes are missing"},
      {spoil_loop_depth, MIRAGE_LIMIT, "loop: nested 5 deep, at most 4 are supported"},
      {spoil_loop_yield, MIRAGE_BAD_GRAPH, "loop: yields 0 values, 1 carries and 0 factors are needed"},
      {spoil_placement, MIRAGE_BAD_TYPE, "placement: only tiles have one"},
      {spoil_placement_space, MIRAGE_BAD_TYPE, "placement: a tile lies in shared memory or registers"},
      {spoil_schedule_node, MIRAGE_BAD_ARGUMENT, "schedule: node 77 is not a custom kernel"},
      {spoil_schedule, MIRAGE_BAD_ARGUMENT, "custom: schedule has warps = 33, 0 to 32 are possible"},
      {spoil_launch, MIRAGE_BAD_ARGUMENT, "custom: launch has 2000 threads, 1 to 1024 are possible"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Capture capture = {0};
    const MirageDiag diag = {capture_emit, &capture};
    int cookie = 0;
    Linear l = open_linear(NULL, &diag);
    mirage_ugraph_set_loc(l.graph, &cookie);
    cases[i].spoil(&l);
    uint32_t num_nodes = mirage_ugraph_num_nodes(l.graph);
    assert_string_equal(capture.text, cases[i].message);
    assert_ptr_equal(capture.loc, &cookie);
    assert_int_equal(build_linear(&l), cases[i].status);
    assert_int_equal(mirage_ugraph_status(l.graph), cases[i].status);
    assert_int_equal(capture.count, 1); // only the first failure is told
    assert_int_equal(mirage_ugraph_num_nodes(l.graph), num_nodes);
    mirage_ugraph_destroy(l.graph);
  }
}

static void test_refused_at_kernel_level(void **state) {
  Capture capture = {0};
  const MirageDiag diag = {capture_emit, &capture};
  MirageUGraph *g = mirage_ugraph_create(NULL, "g", &diag);
  assert_int_equal(mirage_ugraph_finish(g), MIRAGE_BAD_GRAPH);
  assert_string_equal(capture.text, "return: missing at the end of the graph");
  mirage_ugraph_destroy(g);

  g = mirage_ugraph_create(NULL, "g", &diag);
  mirage_ugraph_close(g, 0, NULL);
  assert_string_equal(capture.text, "close: no region is open");
  mirage_ugraph_destroy(g);

  g = mirage_ugraph_create(NULL, "g", &diag);
  mirage_ugraph_return(g, 0, NULL);
  assert_string_equal(capture.text, "return: a graph without outputs");
  mirage_ugraph_destroy(g);

  g = mirage_ugraph_create(NULL, "g", &diag);
  mirage_ugraph_input(g, TENSOR(MIRAGE_F16, 4, 0));
  assert_string_equal(capture.text, "input: input 0 has extent 0 in dimension 1, at least 1 is needed");
  mirage_ugraph_destroy(g);

  g = mirage_ugraph_create(NULL, "g", &diag);
  mirage_ugraph_input(g, TILE(MIRAGE_F16, 4));
  assert_string_equal(capture.text, "input: input 0 is not a tensor in device memory");
  mirage_ugraph_destroy(g);

  g = mirage_ugraph_create(NULL, "g", &diag);
  mirage_ugraph_input(g, mirage_type_tensor(MIRAGE_F16, 0, NULL));
  assert_string_equal(capture.text, "input: input 0 has rank 0, which only constants may have");
  mirage_ugraph_destroy(g);

  g = mirage_ugraph_create(NULL, "g", &diag);
  mirage_ugraph_input(g, mirage_type_tensor(MIRAGE_F16, 7, (int64_t[]){1, 1, 1, 1, 1, 1, 1}));
  assert_string_equal(capture.text, "input: input 0 has rank 7, at most 6 is supported");
  mirage_ugraph_destroy(g);

  g = mirage_ugraph_create(NULL, "g", &diag);
  mirage_ugraph_input(g, TENSOR(MIRAGE_F16, INT64_MAX / 2, 3));
  assert_string_equal(capture.text, "input: input 0 has too many elements: 4611686018427387903x3xf16");
  mirage_ugraph_destroy(g);

  g = mirage_ugraph_create(NULL, "g", &diag);
  MirageValue x = mirage_ugraph_input(g, TENSOR(MIRAGE_F16, 4));
  mirage_ugraph_return(g, 1, &x);
  mirage_ugraph_apply(g, MIRAGE_OP_EXP, 1, &x, NULL);
  assert_string_equal(capture.text, "exp: the graph has returned already");
  mirage_ugraph_destroy(g);

  Linear l = open_linear(NULL, &diag);
  assert_int_equal(mirage_ugraph_finish(l.graph), MIRAGE_BAD_GRAPH);
  assert_string_equal(capture.text, "custom: still open at the end of the graph");
  mirage_ugraph_destroy(l.graph);
}

static void test_schedule_counts_loads(void **state) {
  Capture capture = {0};
  const MirageDiag diag = {capture_emit, &capture};
  Linear l = open_linear(NULL, &diag);
  MirageSchedule schedule = {.warps = 16, .num_loads = 2};
  mirage_ugraph_set_schedule(l.graph, l.custom, &schedule);
  assert_int_equal(build_linear(&l), MIRAGE_OK);
  schedule.num_loads = 3;
  mirage_ugraph_set_schedule(l.graph, l.custom, &schedule);
  assert_string_equal(capture.text, "custom: the schedule describes 3 loads, the block graph has 2");
  assert_int_equal(mirage_ugraph_node(l.graph, l.custom).attrs->custom.schedule->num_loads, 2);
  mirage_ugraph_destroy(l.graph);
}

// --------------------------------------------------------------------------------------------------------- copying

static bool same_attrs(MirageAttrsKind kind, const MirageAttrs *a, const MirageAttrs *b) {
  if (kind == MIRAGE_ATTRS_LOOP)
    return a->loop.range == b->loop.range && a->loop.num_carries == b->loop.num_carries &&
           a->loop.carries != b->loop.carries;
  if (kind == MIRAGE_ATTRS_CUSTOM)
    return memcmp(a->custom.grid, b->custom.grid, sizeof a->custom.grid) == 0 &&
           (!a->custom.schedule || a->custom.schedule->warps == b->custom.schedule->warps) &&
           (!a->custom.launch || strcmp(a->custom.launch->kernel, b->custom.launch->kernel) == 0);
  if (kind == MIRAGE_ATTRS_ACCESS)
    return memcmp(a->access.grid, b->access.grid, 3) == 0 && memcmp(a->access.loop, b->access.loop, 4) == 0;
  return (a == NULL) == (b == NULL);
}

// A copy made in the order of the original has the same ids.
static void assert_same_graph(const MirageUGraph *a, const MirageUGraph *b) {
  assert_int_equal(mirage_ugraph_num_nodes(a), mirage_ugraph_num_nodes(b));
  assert_int_equal(mirage_ugraph_num_values(a), mirage_ugraph_num_values(b));
  for (uint32_t i = 1; i <= mirage_ugraph_num_nodes(a); i++) {
    MirageNodeView x = mirage_ugraph_node(a, (MirageNode){i}), y = mirage_ugraph_node(b, (MirageNode){i});
    assert_int_equal(x.op, y.op);
    assert_int_equal(x.parent.index, y.parent.index);
    assert_int_equal(x.region.index, y.region.index);
    assert_int_equal(x.first_result.index, y.first_result.index);
    assert_int_equal(x.num_operands, y.num_operands);
    for (uint32_t k = 0; k < x.num_operands; k++)
      assert_int_equal(x.operands[k].index, y.operands[k].index);
    assert_ptr_equal(x.loc, y.loc);
    assert_true(same_attrs(mirage_op_info(x.op)->attrs, x.attrs, y.attrs));
  }
  for (uint32_t i = 1; i <= mirage_ugraph_num_values(a); i++) {
    const MirageType *x = mirage_ugraph_type(a, (MirageValue){i}), *y = mirage_ugraph_type(b, (MirageValue){i});
    assert_true(mirage_type_same_meaning(x, y));
    assert_int_equal(x->space, y->space);
    assert_int_equal(x->layout.offset, y->layout.offset);
  }
}

static void test_clone(void **state) {
  Capture capture = {0};
  const MirageDiag diag = {capture_emit, &capture};
  Linear l = open_linear(NULL, &diag);
  int cookie = 0;
  mirage_ugraph_set_loc(l.graph, &cookie);
  assert_int_equal(build_linear(&l), MIRAGE_OK);
  MirageSchedule schedule = {.warps = 4};
  MirageLaunch launch = {.kernel = "linear_0", .threads = 128, .shared_bytes = 4096};
  MirageLayout layout = {.planned = true, .offset = 512, .stages = 2};
  mirage_ugraph_set_schedule(l.graph, l.custom, &schedule);
  mirage_ugraph_set_launch(l.graph, l.custom, &launch);
  mirage_ugraph_set_placement(l.graph, l.zero, MIRAGE_SPACE_SHARED, &layout);
  mirage_ugraph_meta(l.graph)->source = mirage_ugraph_intern_string(l.graph, "program");
  mirage_ugraph_meta(l.graph)->proof = (MirageProof){.present = true, .trials = 3};

  MirageUGraph *copy = NULL;
  assert_int_equal(mirage_ugraph_clone(l.graph, &diag, &copy), MIRAGE_OK);
  assert_int_equal(capture.count, 0);
  assert_same_graph(l.graph, copy);
  assert_int_equal(mirage_ugraph_type(copy, l.zero)->layout.offset, 512);
  mirage_ugraph_destroy(l.graph); // the copy stands on its own
  assert_string_equal(mirage_ugraph_get_meta(copy)->source, "program");
  assert_int_equal(mirage_ugraph_get_meta(copy)->proof.trials, 3);
  assert_string_equal(mirage_ugraph_node(copy, l.custom).attrs->custom.launch->kernel, "linear_0");
  mirage_ugraph_destroy(copy);
}

static void test_clone_refuses_unfinished(void **state) {
  Capture capture = {0};
  const MirageDiag diag = {capture_emit, &capture};
  MirageUGraph *copy = (MirageUGraph *)&capture;
  Linear l = open_linear(NULL, &diag);
  assert_int_equal(mirage_ugraph_clone(l.graph, &diag, &copy), MIRAGE_BAD_GRAPH);
  assert_null(copy);
  assert_string_equal(capture.text, "graph linear is copied before it is finished");
  spoil_operator(&l);
  assert_int_equal(mirage_ugraph_clone(l.graph, &diag, &copy), MIRAGE_BAD_ARGUMENT);
  mirage_ugraph_destroy(l.graph);
}

// ---------------------------------------------------------------------------------------------- memory and garbage

// Builds, schedules and clones; NO_MEMORY or OK, and nothing is left behind.
static MirageStatus build_and_clone(const MirageAllocator *allocator) {
  MirageStatus status = MIRAGE_NO_MEMORY;
  MirageUGraph *copy = NULL;
  Linear l = open_linear(allocator, NULL);
  if (l.graph)
    status = build_linear(&l);
  if (status == MIRAGE_OK) {
    mirage_ugraph_set_schedule(l.graph, l.custom, &(MirageSchedule){.warps = 4});
    status = mirage_ugraph_status(l.graph);
  }
  if (status == MIRAGE_OK)
    status = mirage_ugraph_clone(l.graph, NULL, &copy);
  assert_int_equal(copy != NULL, status == MIRAGE_OK);
  mirage_ugraph_destroy(copy);
  mirage_ugraph_destroy(l.graph);
  return status;
}

// With 0, 1, 2, ... calls of the allocator, and with ever more bytes, until that is enough.
static void test_oom(void **state) {
  for (size_t step = 1; step <= 16; step += 15) {
    unsigned failures = 0;
    for (size_t budget = 0;; budget += step) {
      Scarce scarce = {.left = budget};
      const MirageAllocator allocator = {step == 1 ? scarce_alloc : tight_alloc, scarce_free, &scarce};
      MirageStatus status = build_and_clone(&allocator);
      assert_int_equal(scarce.live, 0);
      if (status == MIRAGE_OK)
        break;
      assert_int_equal(status, MIRAGE_NO_MEMORY);
      failures++;
      assert_true(budget < 1 << 20);
    }
    assert_true(failures >= (step == 1 ? 3 : 100));
  }
}

// True once in `n` calls.
static bool rarely(MirageRandom *random, uint64_t n) { return mirage_random_below(random, n) == 0; }

static MirageType random_type(MirageRandom *random) {
  static const int64_t wild[] = {0, -1, INT64_MAX, INT64_MIN, (int64_t)1 << 40};
  MirageType type = {.dtype = (MirageDType)mirage_random_below(random, rarely(random, 20) ? 5 : 3),
                     .space = rarely(random, 20) ? MIRAGE_SPACE_SHARED : MIRAGE_SPACE_DEVICE,
                     .rank = (uint32_t)mirage_random_below(random, rarely(random, 20) ? 9 : 3)};
  for (int i = 0; i < MIRAGE_MAX_RANK; i++)
    type.shape[i] = rarely(random, 50) ? wild[mirage_random_below(random, 5)] : 1 << mirage_random_below(random, 3);
  return type;
}

// The newest values are the likeliest to be visible.
static MirageValue random_value(const MirageUGraph *g, MirageRandom *random) {
  uint32_t count = mirage_ugraph_num_values(g);
  if (rarely(random, 50))
    return (MirageValue){(uint32_t)mirage_random_below(random, UINT32_MAX)};
  return (MirageValue){count - (uint32_t)mirage_random_below(random, count < 3 ? count + 1 : 3)};
}

// Attributes that are small numbers, sensible or not. Pointers stay NULL: a wild one is not part of the interface.
static MirageAttrs random_attrs(MirageOp op, MirageRandom *random) {
  MirageAttrs attrs = {0};
  int32_t dim = (int32_t)mirage_random_below(random, 4) - 1;
  switch (mirage_op_info(op)->attrs) {
  case MIRAGE_ATTRS_REDUCE:
    attrs.reduce.dim = dim;
    attrs.reduce.extent = (int64_t)mirage_random_below(random, 3);
    break;
  case MIRAGE_ATTRS_REPEAT:
    attrs.repeat.dim = dim;
    attrs.repeat.times = rarely(random, 5) ? INT64_MAX : 2;
    break;
  case MIRAGE_ATTRS_PERM:
    attrs.perm.perm[0] = dim;
    attrs.perm.perm[1] = 1 - dim;
    break;
  case MIRAGE_ATTRS_SLICE:
    attrs.slice.dim = dim;
    attrs.slice.end = (int64_t)mirage_random_below(random, 5);
    break;
  case MIRAGE_ATTRS_DIM:
    attrs.dim.dim = dim;
    break;
  case MIRAGE_ATTRS_AXES:
    attrs.axes.axis[dim + 1 < 3 ? dim + 1 : 0] = true;
    break;
  case MIRAGE_ATTRS_SHAPE:
    attrs.shape.type = random_type(random);
    break;
  default: // all zero is a case of its own
    break;
  }
  return attrs;
}

static void random_apply(MirageUGraph *g, const MirageValue *values, MirageRandom *random) {
  MirageOp op = (MirageOp)(1 + mirage_random_below(random, rarely(random, 20) ? 1000 : MIRAGE_NUM_OPS - 1));
  if (op >= MIRAGE_NUM_OPS) {
    mirage_ugraph_apply(g, op, 1, values, NULL);
    return;
  }
  MirageAttrs attrs = random_attrs(op, random);
  uint32_t n = rarely(random, 20) ? 3 : mirage_op_info(op)->min_operands;
  mirage_ugraph_apply(g, op, n, values, rarely(random, 20) ? NULL : &attrs);
}

// One building call with arguments that are often, not always, sensible.
static void random_call(MirageUGraph *g, MirageRandom *random) {
  MirageValue values[4];
  uint32_t n = (uint32_t)mirage_random_below(random, 3);
  MirageCarry carries[4];
  for (int i = 0; i < 4; i++) {
    values[i] = random_value(g, random);
    carries[i] =
        (MirageCarry){(MirageCombine)mirage_random_below(random, 6), (int32_t)mirage_random_below(random, 4) - 1};
  }
  MirageType type = random_type(random);
  MirageLoopAttrs loop = loop_of(rarely(random, 9) ? 0 : 2, n, carries);
  MirageCustomAttrs custom = GRID4;
  custom.cluster[0] = (int64_t)mirage_random_below(random, 4);
  MirageAccessAttrs map = access((int8_t)mirage_random_below(random, 3) - 1, -1);
  switch (mirage_random_below(random, 20)) {
  case 0:
    mirage_ugraph_input(g, type);
    break;
  case 1:
    mirage_ugraph_open_custom(g, n, values, 1, &type, &custom);
    break;
  case 2:
    mirage_ugraph_open_loop(g, n, values, &loop);
    break;
  case 3:
    mirage_ugraph_open_thread(g, n, values);
    break;
  case 4:
    mirage_ugraph_close(g, n, values);
    break;
  case 5:
    mirage_ugraph_return(g, n, values);
    break;
  case 6:
  case 7:
    mirage_ugraph_constant(g, type, 1.0);
    break;
  case 8:
    mirage_ugraph_load(g, values[0], &map);
    break;
  case 9:
    mirage_ugraph_store(g, values[0], values[1], &map);
    break;
  case 10:
    mirage_ugraph_cast(g, values[0], type.dtype);
    break;
  default:
    random_apply(g, values, random);
    break;
  }
}

enum { MAX_CALLS = 40, ATTEMPTS = 300 };

// Makes the calls drawn from the given streams, in order, on a fresh graph or on one whose custom kernel is open.
static MirageUGraph *replay(uint64_t seed, uint32_t num_calls, const uint64_t *streams, const MirageDiag *diag) {
  MirageUGraph *g = seed % 2 ? open_linear(NULL, diag).graph : mirage_ugraph_create(NULL, NULL, diag);
  for (uint32_t i = 0; i < num_calls; i++) {
    MirageRandom random;
    mirage_random_init(&random, seed, streams[i]);
    random_call(g, &random);
  }
  return g;
}

// Any sequence of calls ends in a status, at most one sentence, and a graph that can be read and, when right, copied. A
// call that fails is taken back (by building again without it), so that the next one meets a larger graph.
static void test_garbage(void **state) {
  unsigned right = 0, calls = 0;
  for (uint64_t seed = 0; seed < 200; seed++) {
    uint64_t streams[MAX_CALLS];
    uint32_t good = 0;
    for (uint64_t attempt = 0; attempt < ATTEMPTS && good < MAX_CALLS; attempt++) {
      Capture capture = {0};
      const MirageDiag diag = {capture_emit, &capture};
      streams[good] = attempt;
      MirageUGraph *g = replay(seed, good + 1, streams, &diag);
      good += mirage_ugraph_status(g) == MIRAGE_OK;
      MirageStatus status = mirage_ugraph_finish(g);
      assert_int_equal(capture.count, status == MIRAGE_OK ? 0 : 1);
      for (uint32_t i = 0; i <= mirage_ugraph_num_nodes(g); i++)
        mirage_ugraph_scope(g, (MirageNode){i});
      MirageUGraph *copy = NULL;
      assert_int_equal(mirage_ugraph_clone(g, NULL, &copy), status);
      if (copy) {
        assert_same_graph(g, copy);
        right++;
      }
      mirage_ugraph_destroy(copy);
      mirage_ugraph_destroy(g);
      if (status == MIRAGE_OK)
        break;
    }
    calls += good;
  }
  assert_true(right >= 20); // the calls are sensible often enough to get somewhere
  assert_true(calls >= 200 * 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_build_and_read),
      cmocka_unit_test(test_equal_constants_are_one),
      cmocka_unit_test(test_scope),
      cmocka_unit_test(test_readers_take_any_id),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_refused_at_kernel_level),
      cmocka_unit_test(test_schedule_counts_loads),
      cmocka_unit_test(test_clone),
      cmocka_unit_test(test_clone_refuses_unfinished),
      cmocka_unit_test(test_oom),
      cmocka_unit_test(test_garbage),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
