// test_bridge.c - MLIR to the in-memory µGraph and back: what is printed again is what was written, attribute by
// attribute.
#include "mirage/bridge.h"

#include "capture.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir_context.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct Text {
  char data[16384];
  size_t used;
} Text;

static void append(MlirStringRef part, void *user) {
  Text *text = user;
  assert_true(text->used + part.length < sizeof text->data);
  memcpy(text->data + text->used, part.data, part.length);
  text->used += part.length;
  text->data[text->used] = 0;
}

static int set_up(void **state) {
  mlir_context_set_up(state);
  mlirContextSetAllowUnregisteredDialects((MlirContext){*state}, true);
  return 0;
}

static MlirModule parse(void **state, const char *text) {
  MlirModule module = mlirModuleCreateParse((MlirContext){*state}, mlirStringRefCreateFromCString(text));
  assert_false(mlirModuleIsNull(module));
  return module;
}

static MlirOperation first(MlirModule module) { return mlirBlockGetFirstOperation(mlirModuleGetBody(module)); }

// Imports the first graph of `text`, puts what is exported in its place, and compares the two printed forms.
static void round_trip(void **state, const char *text) {
  static Text before, after;
  before.used = after.used = 0;
  Capture capture = {0};
  const MirageDiag diag = {capture_emit, &capture};
  MlirModule module = parse(state, text);
  MirageUGraph *graph = NULL;
  assert_int_equal(mirage_bridge_import(first(module), &diag, &graph), MIRAGE_OK);
  MlirLocation loc = mlirOperationGetLocation(first(module));
  mlirOperationPrint(first(module), append, &before);
  mlirOperationDestroy(first(module));
  MlirOperation op;
  assert_int_equal(mirage_bridge_export(graph, (MlirContext){*state}, mlirModuleGetBody(module), loc, &diag, &op),
                   MIRAGE_OK);
  assert_true(mlirOperationVerify(mlirModuleGetOperation(module)));
  mlirOperationPrint(op, append, &after);
  assert_string_equal(after.data, before.data);
  assert_int_equal(capture.count, 0);
  mirage_ugraph_destroy(graph);
  mlirModuleDestroy(module);
}

// Imports the first graph of `text`, which must fail with a sentence that holds `part`.
static void refuse(void **state, const char *text, MirageStatus expected, const char *part) {
  Capture capture = {0};
  const MirageDiag diag = {capture_emit, &capture};
  MlirModule module = parse(state, text);
  MirageUGraph *graph = (MirageUGraph *)&capture;
  assert_int_equal(mirage_bridge_import(first(module), &diag, &graph), expected);
  assert_null(graph);
  assert_int_equal(capture.count, 1);
  assert_non_null(capture.loc);
  if (!strstr(capture.text, part))
    fail_msg("'%s' does not hold '%s'", capture.text, part);
  mlirModuleDestroy(module);
}

static void kernel_operators(void **state) {
  round_trip(state,
             "mirage_kernel.graph @all(%x: tensor<4x8xf16>, %y: tensor<8x4xf16>, %g: tensor<8xf16>, "
             "%q: tensor<2x4x8xf16>) -> (tensor<8x4xbf16>, tensor<4x8xf16>, tensor<2x4x8xf16>, tensor<4x16xf16>) {\n"
             "  %a = rms_norm %x, %g {eps = 1.0e-05} : tensor<4x8xf16>, tensor<8xf16>\n"
             "  %b = layer_norm %a, %g, %g {eps = 0.5} : tensor<4x8xf16>, tensor<8xf16>, tensor<8xf16>\n"
             "  %c = softmax %b {dim = 1} : tensor<4x8xf16>\n"
             "  %d = matmul %y, %c {transpose_a, transpose_b} : tensor<8x4xf16>, tensor<4x8xf16>\n"
             "  %e = reduce_sum %x {dim = 1, extent = 2} : tensor<4x8xf16>\n"
             "  %f = repeat %e {dim = 1, times = 4} : tensor<4x2xf16>\n"
             "  %h = slice %f {dim = 1, begin = 1, end = 5} : tensor<4x8xf16>\n"
             "  %i = concat %h, %h {dim = 1} : tensor<4x4xf16>, tensor<4x4xf16>\n"
             "  %j = transpose %i {perm = [1, 0]} : tensor<4x8xf16>\n"
             "  %k = cast %j : tensor<8x4xf16> -> tensor<8x4xbf16>\n"
             "  %l = constant 0.1 : tensor<4x1xf16>\n"
             "  %m = broadcast %l : tensor<4x1xf16> -> tensor<4x8xf16>\n"
             "  %n = reshape %i : tensor<4x8xf16> -> tensor<2x16xf16>\n"
             "  %o = reshape %n : tensor<2x16xf16> -> tensor<4x8xf16>\n"
             "  %p = max %m, %o : tensor<4x8xf16>, tensor<4x8xf16>\n"
             "  %r = scaled_dot_product_attention %q, %q, %q {scale = 0.125} : tensor<2x4x8xf16>, "
             "tensor<2x4x8xf16>, tensor<2x4x8xf16>\n"
             "  %s = concat %p, %p {dim = 1} : tensor<4x8xf16>, tensor<4x8xf16>\n"
             "  return %k, %p, %r, %s : tensor<8x4xbf16>, tensor<4x8xf16>, tensor<2x4x8xf16>, tensor<4x16xf16>\n"
             "}\n");
}

// Everything that a planned, proven, lowered candidate carries.
static void candidate_with_all_attributes(void **state) {
  round_trip(
      state,
      "mirage_kernel.graph @p_0(%x: tensor<16x64xf16>, %w: tensor<64x33xf16>) -> tensor<16x33xf16> attributes {"
      "source = @p, proof = #mirage_kernel.proof<trials = 3, q = 2147483629, p_bits = 62, seed = 7, log2_bound = "
      "-60.1, "
      "shrunken = true>, cost = #mirage_kernel.cost<time_us = 1.1, bytes = 1.0e+06, flops = 123.0, kernels = 1>, "
      "selected} {\n"
      "  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [4, 2] cluster [4] "
      "schedule <warps = 8, split = reduction, swap = true, tile_order = grouped, side_blocks = 4, "
      "start = early, roles = [producer(1, 40), consumer(7, 232)], loads = [register(cache = no_allocate), "
      "tensor(stages = 4, multicast = true)]> "
      "launch <kernel = \"p_0_k0\", threads = 256, shared_bytes = 4096, workspace_bytes = 128, starts_early = true>\n"
      "      : (tensor<16x64xf16>, tensor<64x33xf16>) -> tensor<16x33xf16> {\n"
      "    %z = constant 0.0 : !mirage_block.tile<16x9xf32, register>\n"
      "    %b = bottom : !mirage_block.tile<16x1xf32>\n"
      "    %a, %m = loop 2 (%c = %z rescale, %d = %b max) : !mirage_block.tile<16x9xf32, register>, "
      "!mirage_block.tile<16x1xf32> {\n"
      "      %xt = load %xk {grid = [-1, 1], loop = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x16xf16, shared, "
      "<offset = 1024, stages = 2, swizzle = 3, strides = [16, 1]>>\n"
      "      %wt = load %wk {grid = [1, 0], loop = [0], fill = bottom} : tensor<64x33xf16> -> "
      "!mirage_block.tile<16x9xf16>\n"
      "      %p = matmul %xt, %wt : !mirage_block.tile<16x16xf16, shared, <offset = 1024, stages = 2, swizzle = 3, "
      "strides = [16, 1]>>, !mirage_block.tile<16x9xf16> -> !mirage_block.tile<16x9xf32, register>\n"
      "      %e = thread (%f = %p) : !mirage_block.tile<16x9xf32, register> {\n"
      "        %g = exp %f : !mirage_thread.fragment<16x9xf32>\n"
      "        yield %g : !mirage_thread.fragment<16x9xf32>\n"
      "      }\n"
      "      %r = reduce_max %e {dim = 1} : !mirage_block.tile<16x9xf32>\n"
      "      yield %e, %r rescale %d : !mirage_block.tile<16x9xf32>, !mirage_block.tile<16x1xf32>, "
      "!mirage_block.tile<16x1xf32>\n"
      "    }\n"
      "    %s = grid_sum %a {axes = [1]} : !mirage_block.tile<16x9xf32, register>\n"
      "    %t = cluster_max %s {axes = [0]} : !mirage_block.tile<16x9xf32>\n"
      "    store %t, %yk {grid = [1]} : !mirage_block.tile<16x9xf32>, tensor<16x33xf16>\n"
      "  }\n"
      "  return %y : tensor<16x33xf16>\n"
      "}\n"
      "mirage_kernel.graph @p(%x: tensor<16x64xf16>, %w: tensor<64x33xf16>) -> tensor<16x33xf16> {\n"
      "  %y = matmul %x, %w : tensor<16x64xf16>, tensor<64x33xf16>\n"
      "  return %y : tensor<16x33xf16>\n"
      "}\n");
}

static void locations_are_kept(void **state) {
  MlirModule module = parse(state, "mirage_kernel.graph @g(%x: tensor<4xf16>) -> tensor<4xf16> {\n"
                                   "  %y = exp %x : tensor<4xf16> loc(\"here\")\n"
                                   "  return %y : tensor<4xf16>\n}\n");
  MirageUGraph *graph = NULL;
  assert_int_equal(mirage_bridge_import(first(module), NULL, &graph), MIRAGE_OK);
  MirageNodeView node = mirage_ugraph_node(graph, (MirageNode){1});
  Text text = {.used = 0};
  mlirLocationPrint((MlirLocation){node.loc}, append, &text);
  assert_string_equal(text.data, "loc(\"here\")");
  mirage_ugraph_destroy(graph);
  mlirModuleDestroy(module);
}

static void meta_is_written_and_taken_away(void **state) {
  MlirModule module = parse(state, "mirage_kernel.graph @p(%x: tensor<4xf16>) -> tensor<4xf16> {\n"
                                   "  return %x : tensor<4xf16>\n}\n");
  MlirStringRef proof = mlirStringRefCreateFromCString("proof"), selected = mlirStringRefCreateFromCString("selected");
  MirageGraphMeta meta = {.name = "p", .selected = true};
  meta.proof = (MirageProof){.present = true, .trials = 2, .p_bits = 62, .seed = 3, .log2_bound = -61};
  assert_int_equal(mirage_bridge_export_meta(&meta, first(module), NULL), MIRAGE_OK);
  assert_false(mlirAttributeIsNull(mlirOperationGetAttributeByName(first(module), proof)));
  assert_false(mlirAttributeIsNull(mlirOperationGetAttributeByName(first(module), selected)));
  meta = (MirageGraphMeta){.name = "p"};
  assert_int_equal(mirage_bridge_export_meta(&meta, first(module), NULL), MIRAGE_OK);
  assert_true(mlirAttributeIsNull(mlirOperationGetAttributeByName(first(module), proof)));
  assert_true(mlirAttributeIsNull(mlirOperationGetAttributeByName(first(module), selected)));
  // A cost is written where the model has one: the attribute takes finite numbers only.
  MlirStringRef cost = mlirStringRefCreateFromCString("cost");
  meta.cost = (MirageCost){.present = true, .time_us = 2, .bytes = 8, .flops = 4, .kernels = 1};
  assert_int_equal(mirage_bridge_export_meta(&meta, first(module), NULL), MIRAGE_OK);
  assert_false(mlirAttributeIsNull(mlirOperationGetAttributeByName(first(module), cost)));
  meta.cost.time_us = INFINITY;
  assert_int_equal(mirage_bridge_export_meta(&meta, first(module), NULL), MIRAGE_OK);
  assert_true(mlirAttributeIsNull(mlirOperationGetAttributeByName(first(module), cost)));
  mlirModuleDestroy(module);
}

// The dialects' verifiers refuse operations of others, so a pass that puts one in comes first here.
static void refuse_intruder(void **state, bool nested) {
  Capture capture = {0};
  const MirageDiag diag = {capture_emit, &capture};
  MlirModule module = parse(state, "mirage_kernel.graph @g(%x: tensor<4xf16>) -> tensor<4xf16> {\n"
                                   "  %y = custom (%a = %x) outs(%o) grid [1] : (tensor<4xf16>) -> tensor<4xf16> {\n"
                                   "    %t = load %a : tensor<4xf16> -> !mirage_block.tile<4xf16>\n"
                                   "    store %t, %o : !mirage_block.tile<4xf16>, tensor<4xf16>\n"
                                   "  }\n"
                                   "  return %y : tensor<4xf16>\n}\n");
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(first(module), 0));
  if (nested)
    block = mlirRegionGetFirstBlock(mlirOperationGetRegion(mlirBlockGetFirstOperation(block), 0));
  MlirOperationState other =
      mlirOperationStateGet(mlirStringRefCreateFromCString("other.op"), mlirOperationGetLocation(first(module)));
  mlirBlockInsertOwnedOperation(block, 0, mlirOperationCreate(&other));
  MirageUGraph *graph = NULL;
  assert_int_equal(mirage_bridge_import(first(module), &diag, &graph), MIRAGE_UNSUPPORTED);
  assert_null(graph);
  assert_non_null(strstr(capture.text, "cannot hold 'other.op'"));
  mlirModuleDestroy(module);
}

static void refuses_foreign_operations(void **state) { refuse_intruder(state, false); }
static void refuses_foreign_operations_in_a_block(void **state) { refuse_intruder(state, true); }

static void refuses_what_is_no_graph(void **state) {
  refuse(state, "\"other.op\"() : () -> ()\n", MIRAGE_BAD_ARGUMENT, "no mirage_kernel.graph");
}

static void refuses_a_named_operation_of_another_dialect(void **state) {
  refuse(state, "\"other.op\"() {sym_name = \"g\"} : () -> ()\n", MIRAGE_BAD_ARGUMENT, "no mirage_kernel.graph");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(kernel_operators, set_up, mlir_context_tear_down),
      cmocka_unit_test_setup_teardown(candidate_with_all_attributes, set_up, mlir_context_tear_down),
      cmocka_unit_test_setup_teardown(locations_are_kept, set_up, mlir_context_tear_down),
      cmocka_unit_test_setup_teardown(meta_is_written_and_taken_away, set_up, mlir_context_tear_down),
      cmocka_unit_test_setup_teardown(refuses_foreign_operations, set_up, mlir_context_tear_down),
      cmocka_unit_test_setup_teardown(refuses_foreign_operations_in_a_block, set_up, mlir_context_tear_down),
      cmocka_unit_test_setup_teardown(refuses_what_is_no_graph, set_up, mlir_context_tear_down),
      cmocka_unit_test_setup_teardown(refuses_a_named_operation_of_another_dialect, set_up, mlir_context_tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
