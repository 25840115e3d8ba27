// test_layout.c - plans for block graphs: what becomes a buffer, where it lies, and which hand edits are refused.
#include "mirage/layout.h"

#include "block_graphs.h"
#include "capture.h"
#include "layout/plan.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct Fixture {
  Capture capture;
  MirageDiag diag;
  MirageUGraph *graph;
  MirageNode custom;
} Fixture;

static const Sizes SMALL = {.m = 2, .k = 512, .n = 384, .grid = 8, .loop = 4};

static MirageNode first_custom(const MirageUGraph *graph) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  for (uint32_t i = 0; i < body.num_nodes; i++)
    if (mirage_ugraph_node(graph, body.nodes[i]).op == MIRAGE_OP_CUSTOM)
      return body.nodes[i];
  return (MirageNode){0};
}

static void begin(Fixture *f, Sizes sizes) {
  *f = (Fixture){0};
  f->diag = (MirageDiag){capture_emit, &f->capture};
  f->graph = rms_fused(sizes, RMS_RIGHT, &f->diag);
  assert_non_null(f->graph);
  f->custom = first_custom(f->graph);
  assert_int_not_equal(f->custom.index, 0);
}

static void end(Fixture *f) { mirage_ugraph_destroy(f->graph); }

static MirageStatus plan(Fixture *f, const char *target) {
  return mirage_layout_plan(f->graph, mirage_target_find(target), &f->diag);
}

static const MirageSchedule *schedule_of(const Fixture *f) {
  return mirage_ugraph_node(f->graph, f->custom).attrs->custom.schedule;
}

// The first node of this operator, in order of creation.
static MirageNode find_op(const MirageUGraph *graph, MirageOp op, uint32_t nth) {
  for (uint32_t id = 1; id <= mirage_ugraph_num_nodes(graph); id++)
    if (mirage_ugraph_node(graph, (MirageNode){id}).op == op && nth-- == 0)
      return (MirageNode){id};
  return (MirageNode){0};
}

static const MirageType *result_type(const Fixture *f, MirageOp op, uint32_t nth) {
  return mirage_ugraph_type(f->graph, mirage_ugraph_result(f->graph, find_op(f->graph, op, nth), 0));
}

static void fails(Fixture *f, MirageStatus expected, const char *sentence) {
  MirageStatus status = plan(f, "h200");
  if (status != expected || !strstr(f->capture.text, sentence))
    fail_msg("status %d (expected %d): \"%s\" does not contain \"%s\"", status, expected, f->capture.text, sentence);
}

static void test_fused_kernel(void **state) {
  Fixture f;
  begin(&f, SMALL);
  assert_int_equal(plan(&f, "h200"), MIRAGE_OK);
  const MirageType *product = result_type(&f, MIRAGE_OP_MATMUL, 0), *w = result_type(&f, MIRAGE_OP_LOAD, 2);
  assert_int_equal(product->space, MIRAGE_SPACE_REGISTER); // accumulators stay in registers
  assert_int_equal(result_type(&f, MIRAGE_OP_REDUCE_SUM, 0)->space, MIRAGE_SPACE_REGISTER);
  assert_int_equal(w->space, MIRAGE_SPACE_SHARED);
  assert_true(w->layout.stages > 1);
  assert_int_equal(w->layout.strides[1], 1);
  assert_int_equal(w->layout.strides[0] % 16, 8); // an odd number of 16-byte units
  assert_true(w->layout.strides[0] >= w->shape[1]);
  assert_int_equal(result_type(&f, MIRAGE_OP_LOOP, 0)->space, MIRAGE_SPACE_SHARED);
  assert_int_equal(schedule_of(&f)->num_loads, 3);
  assert_int_equal(schedule_of(&f)->loads[2].landing, MIRAGE_LANDING_ASYNC);
  assert_int_equal(schedule_of(&f)->loads[2].stages, w->layout.stages);
  end(&f);
}

static void test_every_tile_has_a_place(void **state) {
  Fixture f;
  begin(&f, SMALL);
  assert_int_equal(plan(&f, "a100"), MIRAGE_OK);
  for (uint32_t id = 1; id <= mirage_ugraph_num_values(f.graph); id++) {
    const MirageType *type = mirage_ugraph_type(f.graph, (MirageValue){id});
    assert_int_not_equal(type->space, MIRAGE_SPACE_TILE);
    if (type->space == MIRAGE_SPACE_SHARED) {
      assert_true(type->layout.planned && type->layout.offset >= 0 && type->layout.stages >= 1);
      assert_int_equal(type->layout.offset % 16, 0);
    }
  }
  assert_true(mirage_layout_shared_bytes(f.graph, f.custom) <= mirage_target_find("a100")->shared_bytes_per_block);
  end(&f);
}

static void test_buffers_in_one_loop_do_not_overlap(void **state) {
  Fixture f;
  begin(&f, SMALL);
  assert_int_equal(plan(&f, "h200"), MIRAGE_OK);
  for (uint32_t a = 0; a < 3; a++)
    for (uint32_t b = 0; b < a; b++) {
      const MirageType *x = result_type(&f, MIRAGE_OP_LOAD, a), *y = result_type(&f, MIRAGE_OP_LOAD, b);
      int64_t x_end = x->layout.offset + x->layout.stages * mirage__buffer_bytes(x);
      int64_t y_end = y->layout.offset + y->layout.stages * mirage__buffer_bytes(y);
      assert_true(x_end <= y->layout.offset || y_end <= x->layout.offset);
    }
  end(&f);
}

static void test_planning_twice_changes_nothing(void **state) {
  Fixture f, g;
  begin(&f, SMALL);
  begin(&g, SMALL);
  assert_int_equal(plan(&f, "h200"), MIRAGE_OK);
  assert_int_equal(plan(&g, "h200"), MIRAGE_OK);
  assert_int_equal(plan(&g, "h200"), MIRAGE_OK);
  for (uint32_t id = 1; id <= mirage_ugraph_num_values(f.graph); id++) {
    const MirageType *x = mirage_ugraph_type(f.graph, (MirageValue){id}),
                     *y = mirage_ugraph_type(g.graph, (MirageValue){id});
    assert_int_equal(x->space, y->space);
    assert_int_equal(x->layout.offset, y->layout.offset);
    assert_int_equal(x->layout.stages, y->layout.stages);
  }
  end(&f);
  end(&g);
}

static void test_hand_schedule_is_kept(void **state) {
  Fixture f;
  begin(&f, SMALL);
  MirageSchedule schedule = {.warps = 3, .num_loads = 3};
  for (int i = 0; i < 3; i++)
    schedule.loads[i] = (MirageLoadSchedule){.landing = MIRAGE_LANDING_ASYNC, .stages = 2};
  mirage_ugraph_set_schedule(f.graph, f.custom, &schedule);
  assert_int_equal(plan(&f, "h200"), MIRAGE_OK);
  assert_int_equal(schedule_of(&f)->warps, 3);
  assert_int_equal(result_type(&f, MIRAGE_OP_LOAD, 2)->layout.stages, 2);
  end(&f);
}

static void test_hand_layout_is_kept(void **state) {
  Fixture f;
  begin(&f, SMALL);
  MirageValue w = mirage_ugraph_result(f.graph, find_op(f.graph, MIRAGE_OP_LOAD, 2), 0);
  MirageLayout layout = {.planned = true, .offset = 4096, .strides = {72, 1}};
  mirage_ugraph_set_placement(f.graph, w, MIRAGE_SPACE_SHARED, &layout);
  assert_int_equal(plan(&f, "h200"), MIRAGE_OK);
  assert_int_equal(mirage_ugraph_type(f.graph, w)->layout.offset, 4096);
  assert_int_equal(mirage_ugraph_type(f.graph, w)->layout.strides[0], 72);
  end(&f);
}

// ------------------------------------------------------------------------------------------------------ refused edits

static void refuse_schedule(MirageSchedule schedule, MirageStatus expected, const char *sentence) {
  Fixture f;
  begin(&f, SMALL);
  mirage_ugraph_set_schedule(f.graph, f.custom, &schedule);
  fails(&f, expected, sentence);
  end(&f);
}

static void test_refused_schedules(void **state) {
  refuse_schedule((MirageSchedule){.num_loads = 3, .loads = {{.stages = 2}, {.stages = 3}}}, MIRAGE_BAD_ARGUMENT,
                  "same number of stages: 3 vs 2");
  refuse_schedule((MirageSchedule){.side_blocks = 4}, MIRAGE_UNSUPPORTED, "side blocks");
  refuse_schedule((MirageSchedule){.warps = 1, .num_roles = 1, .roles = {{MIRAGE_ROLE_PRODUCER, 1, 0}}},
                  MIRAGE_BAD_ARGUMENT, "nobody consumes");
}

static void test_too_many_warps(void **state) {
  Fixture f;
  begin(&f, SMALL);
  MirageTarget small = *mirage_target_find("h200");
  small.max_threads_per_block = 512;
  mirage_ugraph_set_schedule(f.graph, f.custom, &(MirageSchedule){.warps = 20});
  assert_int_equal(mirage_layout_plan(f.graph, &small, &f.diag), MIRAGE_BAD_ARGUMENT);
  assert_string_equal(f.capture.text, "layout: 20 warps are 640 threads, h200 allows 512");
  end(&f);
}

static void refuse_layout(uint32_t load, MirageLayout layout, const char *sentence) {
  Fixture f;
  begin(&f, SMALL);
  MirageValue tile = mirage_ugraph_result(f.graph, find_op(f.graph, MIRAGE_OP_LOAD, load), 0);
  layout.planned = true;
  mirage_ugraph_set_placement(f.graph, tile, MIRAGE_SPACE_SHARED, &layout);
  fails(&f, MIRAGE_BAD_ARGUMENT, sentence);
  end(&f);
}

static void test_refused_layouts(void **state) {
  refuse_layout(2, (MirageLayout){.offset = 8, .strides = {56, 1}},
                "tile 128x48xf16 is at offset 8, which is not a multiple of 16");
  refuse_layout(2, (MirageLayout){.offset = 0, .strides = {40, 1}}, "stride 40 of dimension 0");
  refuse_layout(2, (MirageLayout){.offset = 0, .strides = {52, 1}}, "not a multiple of 8 elements");
  refuse_layout(2, (MirageLayout){.offset = 0, .strides = {112, 2}}, "innermost stride");
  refuse_layout(2, (MirageLayout){.offset = 0, .swizzle = 3, .strides = {56, 1}},
                "needs rows of a multiple of 128 bytes");
  refuse_layout(2, (MirageLayout){.offset = -1, .stages = 63, .strides = {56, 1}}, "63 stages");
}

static void test_overlapping_tiles(void **state) {
  Fixture f;
  begin(&f, SMALL);
  for (uint32_t i = 0; i < 2; i++) { // x and g, both read in every iteration
    MirageValue tile = mirage_ugraph_result(f.graph, find_op(f.graph, MIRAGE_OP_LOAD, i), 0);
    MirageLayout layout = {.planned = true, .offset = (int32_t)(i * 16), .strides = {i ? 1 : 128, 1}};
    mirage_ugraph_set_placement(f.graph, tile, MIRAGE_SPACE_SHARED, &layout);
  }
  fails(&f, MIRAGE_BAD_ARGUMENT,
        "overlap in shared memory while both are live: 2x128xf16 at byte 0, 128xf16 at byte 16");
  end(&f);
}

static void test_tile_outside(void **state) {
  Fixture f;
  begin(&f, SMALL);
  MirageValue tile = mirage_ugraph_result(f.graph, find_op(f.graph, MIRAGE_OP_LOAD, 0), 0);
  MirageLayout layout = {.planned = true, .offset = 232448 - 256, .strides = {128, 1}};
  mirage_ugraph_set_placement(f.graph, tile, MIRAGE_SPACE_SHARED, &layout);
  fails(&f, MIRAGE_BAD_ARGUMENT,
        "tile 2x128xf16 placed by hand at byte 232192 ends at byte 232704, h200 has 232448 for a block");
  end(&f);
}

static void test_too_large(void **state) {
  Fixture f;
  begin(&f, (Sizes){.m = 2, .k = 512, .n = 4096, .grid = 2, .loop = 1});
  fails(&f, MIRAGE_LIMIT, "bytes of shared memory, h200 has 232448");
  end(&f);
  assert_int_equal(mirage_layout_plan(NULL, mirage_target_find("h200"), NULL), MIRAGE_BAD_ARGUMENT);
}

static MirageStatus plan_closed(Fixture *f, const MirageTarget *target, MirageSchedule *out_schedule) {
  MirageArena arena;
  Block block;
  mirage_arena_init(&arena, NULL);
  MirageStatus status = mirage__plan_closed(f->graph, f->custom, target, &arena, &block);
  if (status == MIRAGE_OK)
    *out_schedule = mirage__block_schedule(&block);
  mirage_arena_deinit(&arena);
  return status;
}

// What a kernel would cost is asked of a plan that nothing is written of.
static void test_closed_form(void **state) {
  Fixture f;
  MirageSchedule schedule;
  begin(&f, SMALL);
  MirageTarget small = *mirage_target_find("h200");
  small.shared_bytes_per_block = 4096;
  assert_int_equal(plan_closed(&f, &small, &schedule), MIRAGE_LIMIT);
  assert_int_equal(plan_closed(&f, mirage_target_find("h200"), &schedule), MIRAGE_OK);
  assert_null(schedule_of(&f));
  assert_string_equal(f.capture.text, ""); // an answer, no error
  assert_int_equal(plan(&f, "h200"), MIRAGE_OK);
  assert_int_equal(schedule_of(&f)->warps, schedule.warps);
  assert_int_equal(schedule_of(&f)->loads[0].stages, schedule.loads[0].stages);
  assert_int_equal(plan_closed(&f, mirage_target_find("a100"), &schedule), MIRAGE_OK); // from what had been asked
  assert_null(schedule_of(&f));
  end(&f);
}

// The fixture's kernel, twice in one graph.
static MirageUGraph *twice(const Fixture *f, MirageNode out_kernels[2]) {
  MirageUGraph *graph = mirage_ugraph_create(NULL, "twice", &f->diag);
  MirageValue *map = calloc(mirage_ugraph_num_values(f->graph) + 1, sizeof *map), results[2];
  assert_non_null(map);
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(f->graph); i++) {
    MirageValue input = mirage_ugraph_get_input(f->graph, i);
    map[input.index] = mirage_ugraph_input(graph, *mirage_ugraph_type(f->graph, input));
  }
  for (int k = 0; k < 2; k++) {
    mirage_ugraph_copy_nodes(graph, f->graph, 1, &f->custom, map);
    results[k] = map[mirage_ugraph_result(f->graph, f->custom, 0).index];
    out_kernels[k] = mirage_ugraph_def(graph, results[k]);
  }
  free(map);
  mirage_ugraph_return(graph, 2, results);
  assert_int_equal(mirage_ugraph_finish(graph), MIRAGE_OK);
  return graph;
}

static void assert_same_places(const MirageUGraph *a, MirageRegion in_a, const MirageUGraph *b, MirageRegion in_b) {
  MirageRegionView left = mirage_ugraph_region(a, in_a), right = mirage_ugraph_region(b, in_b);
  assert_int_equal(left.num_nodes, right.num_nodes);
  for (uint32_t i = 0; i < left.num_nodes; i++) {
    MirageNodeView x = mirage_ugraph_node(a, left.nodes[i]), y = mirage_ugraph_node(b, right.nodes[i]);
    for (uint32_t r = 0; r < x.num_results; r++) {
      const MirageType *s = mirage_ugraph_type(a, (MirageValue){x.first_result.index + r});
      const MirageType *t = mirage_ugraph_type(b, (MirageValue){y.first_result.index + r});
      assert_int_equal(s->space, t->space);
      assert_memory_equal(&s->layout, &t->layout, sizeof s->layout);
    }
    if (x.region.index)
      assert_same_places(a, x.region, b, y.region);
  }
}

// Each kernel of several is planned in a graph of its own: the plan is that of the kernel alone.
static void test_kernels_are_planned_apart(void **state) {
  Fixture f;
  MirageNode kernels[2];
  begin(&f, SMALL);
  MirageUGraph *graph = twice(&f, kernels);
  assert_int_equal(plan(&f, "h200"), MIRAGE_OK);
  assert_int_equal(mirage_layout_plan(graph, mirage_target_find("h200"), &f.diag), MIRAGE_OK);
  for (int k = 0; k < 2; k++) {
    assert_same_places(f.graph, mirage_ugraph_node(f.graph, f.custom).region, graph,
                       mirage_ugraph_node(graph, kernels[k]).region);
    assert_int_equal(mirage_ugraph_node(graph, kernels[k]).attrs->custom.schedule->warps, schedule_of(&f)->warps);
  }
  mirage_ugraph_destroy(graph);
  end(&f);
}

// Asked before each kernel: the second is left open.
static void test_planning_is_cancelled(void **state) {
  Fixture f;
  MirageNode kernels[2];
  int interrupt = 0;
  const MirageCancel cancel = {.interrupt = &interrupt};
  begin(&f, SMALL);
  MirageUGraph *graph = twice(&f, kernels);
  mirage_interrupt_after(2);
  assert_int_equal(mirage_layout_plan_until(graph, mirage_target_find("h200"), &cancel, &f.diag), MIRAGE_CANCELLED);
  mirage_interrupt_after(0);
  assert_non_null(mirage_ugraph_node(graph, kernels[0]).attrs->custom.schedule);
  assert_null(mirage_ugraph_node(graph, kernels[1]).attrs->custom.schedule);
  assert_int_equal(mirage_layout_plan_until(graph, mirage_target_find("h200"), &cancel, &f.diag), MIRAGE_OK);
  mirage_ugraph_destroy(graph);
  end(&f);
}

// 1664 rows of 128 bytes fit as they are, not with 16 bytes of padding each.
static void test_padding_given_up_for_room(void **state) {
  Fixture f;
  begin(&f, (Sizes){.m = 2, .k = 1664, .n = 64, .grid = 1, .loop = 1});
  assert_int_equal(plan(&f, "h200"), MIRAGE_OK);
  const MirageType *w =
      mirage_ugraph_type(f.graph, mirage_ugraph_result(f.graph, find_op(f.graph, MIRAGE_OP_LOAD, 2), 0));
  assert_int_equal(w->layout.swizzle, 3);
  assert_int_equal(w->layout.strides[0], 64);
  end(&f);
}

static void test_reduce_split(void **state) {
  MirageType in = mirage_type_tile(MIRAGE_F32, 2, (int64_t[]){1, 4096}),
             out = mirage_type_tile(MIRAGE_F32, 2, (int64_t[]){1, 1});
  ReduceSplit one = mirage__reduce_split(&in, &out, 1, 8);
  assert_int_equal(one.warps_each, 8); // one result: the whole block works on it
  in = mirage_type_tile(MIRAGE_F32, 2, (int64_t[]){512, 3});
  out = mirage_type_tile(MIRAGE_F32, 2, (int64_t[]){512, 1});
  ReduceSplit many = mirage__reduce_split(&in, &out, 1, 8);
  assert_true(many.group <= 2 && many.warps_each == 1);
  assert_int_equal(many.outputs, 512);
  assert_int_equal(many.length, 3);
}

static void test_matmul_split(void **state) {
  Team team = {.actors = {{.kind = ACTOR_THREADS, .warps = 16}}, .num_actors = 1, .divide = DIVIDE_ANY};
  MirageType a = mirage_type_tile(MIRAGE_F16, 2, (int64_t[]){2, 128}),
             b = mirage_type_tile(MIRAGE_F16, 2, (int64_t[]){128, 48});
  MatmulSplit s = mirage__matmul_split(&a, &b, NULL, &team);
  assert_true(s.tensor_core && s.swap); // two activation rows: the weight becomes the 16-row operand
  assert_int_equal(s.by_row * s.by_col * s.by_depth, 16);
  assert_int_equal(s.depth_units % s.by_depth, 0);
  team.divide = DIVIDE_DEPTH;
  mirage__team_set_warps(&team, 8);
  assert_int_equal(mirage__matmul_split(&a, &b, NULL, &team).by_depth, 8);
  a.dtype = b.dtype = MIRAGE_F32;
  assert_false(mirage__matmul_split(&a, &b, NULL, &team).tensor_core);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fused_kernel),
      cmocka_unit_test(test_every_tile_has_a_place),
      cmocka_unit_test(test_buffers_in_one_loop_do_not_overlap),
      cmocka_unit_test(test_planning_twice_changes_nothing),
      cmocka_unit_test(test_hand_schedule_is_kept),
      cmocka_unit_test(test_hand_layout_is_kept),
      cmocka_unit_test(test_refused_schedules),
      cmocka_unit_test(test_too_many_warps),
      cmocka_unit_test(test_refused_layouts),
      cmocka_unit_test(test_overlapping_tiles),
      cmocka_unit_test(test_tile_outside),
      cmocka_unit_test(test_too_large),
      cmocka_unit_test(test_closed_form),
      cmocka_unit_test(test_kernels_are_planned_apart),
      cmocka_unit_test(test_planning_is_cancelled),
      cmocka_unit_test(test_padding_given_up_for_room),
      cmocka_unit_test(test_reduce_split),
      cmocka_unit_test(test_matmul_split),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
