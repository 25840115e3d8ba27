// test_copies.c - bulk and tensor copies, warp roles and warpgroup products: what is planned for them, what is refused,
// and that an instruction left out of their protocols is noticed when the kernel runs.
#include "mirage/codegen.h"
#include "mirage/emulator.h"
#include "mirage/layout.h"

#include "block_graphs.h"
#include "capture.h"
#include "codegen/host.h"
#include "layout/block.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

// y = x @ w, x [m, k], w [k, n], blocks over n, a loop over k.
typedef struct Linear {
  int64_t m, k, n, blocks, range;
  MirageDType dtype;
  MirageFill fill;
  MirageSchedule schedule;
  MirageLayout x_layout; // by hand
} Linear;

typedef struct Fixture {
  Capture capture;
  MirageDiag diag;
  MirageUGraph *graph;
  MirageNode custom, x, w, product;
} Fixture;

static MirageSchedule copied(MirageLanding landing, int32_t warps) {
  MirageSchedule schedule = {.warps = warps, .num_loads = 2};
  for (int i = 0; i < 2; i++)
    schedule.loads[i] = (MirageLoadSchedule){.landing = landing, .stages = 2};
  return schedule;
}

static MirageSchedule with_roles(MirageSchedule schedule, int32_t producers, int32_t registers) {
  schedule.num_roles = 2;
  schedule.roles[0] = (MirageRole){MIRAGE_ROLE_PRODUCER, producers, registers ? 40 : 0};
  schedule.roles[1] = (MirageRole){MIRAGE_ROLE_CONSUMER, schedule.warps, registers};
  schedule.warps += producers;
  return schedule;
}

static MirageNode definition(const Fixture *f, MirageValue value) { return mirage_ugraph_def(f->graph, value); }

static void begin(Fixture *f, Linear s) {
  *f = (Fixture){0};
  f->diag = (MirageDiag){capture_emit, &f->capture};
  MirageUGraph *g = f->graph = mirage_ugraph_create(NULL, "linear", &f->diag);
  MirageValue in[] = {mirage_ugraph_input(g, tensor_type(s.dtype, 2, (int)s.m, (int)s.k)),
                      mirage_ugraph_input(g, tensor_type(s.dtype, 2, (int)s.k, (int)s.n))};
  MirageType result = tensor_type(s.dtype, 2, (int)s.m, (int)s.n);
  MirageCustomAttrs attrs = blocks(s.blocks);
  attrs.schedule = &s.schedule;
  f->custom = mirage_ugraph_open_custom(g, 2, in, 1, &result, &attrs);
  MirageValue zero = mirage_ugraph_constant(g, tile2(s.m, (s.n + s.blocks - 1) / s.blocks), 0);
  MirageCarry sum = {.combine = MIRAGE_COMBINE_SUM};
  MirageLoopAttrs loop = {.range = s.range, .num_carries = 1, .carries = &sum};
  MirageNode l = mirage_ugraph_open_loop(g, 1, &zero, &loop);
  MirageAccessAttrs x_access = access_of(-1, 1), w_access = access_of(1, 0), y_access = access_of(1, -1);
  x_access.fill = w_access.fill = s.fill;
  MirageValue x = mirage_ugraph_load(g, mirage_ugraph_argument(g, f->custom, 0), &x_access);
  if (s.x_layout.planned)
    mirage_ugraph_set_placement(g, x, MIRAGE_SPACE_SHARED, &s.x_layout);
  MirageValue w = mirage_ugraph_load(g, mirage_ugraph_argument(g, f->custom, 1), &w_access);
  MirageValue p = op2(g, MIRAGE_OP_MATMUL, x, w);
  mirage_ugraph_close(g, 1, &p);
  mirage_ugraph_store(g, mirage_ugraph_result(g, l, 0), mirage_ugraph_argument(g, f->custom, 2), &y_access);
  mirage_ugraph_close(g, 0, NULL);
  MirageValue y = mirage_ugraph_result(g, f->custom, 0);
  mirage_ugraph_return(g, 1, &y);
  assert_int_equal(mirage_ugraph_finish(g), MIRAGE_OK);
  f->x = definition(f, x), f->w = definition(f, w), f->product = definition(f, p);
}

static void end(Fixture *f) { mirage_ugraph_destroy(f->graph); }

static void plan(Fixture *f, const char *target) {
  if (mirage_layout_plan(f->graph, mirage_target_find(target), &f->diag) != MIRAGE_OK)
    fail_msg("%s", f->capture.text);
}

static const MirageSchedule *schedule_of(const Fixture *f) {
  return mirage_ugraph_node(f->graph, f->custom).attrs->custom.schedule;
}
static const MirageLayout *layout_of(const Fixture *f, MirageNode load) {
  return &mirage_ugraph_type(f->graph, mirage_ugraph_result(f->graph, load, 0))->layout;
}

static const Linear TILES = {.m = 64, .k = 256, .n = 128, .blocks = 1, .range = 4};

static Linear linear(MirageSchedule schedule) {
  Linear s = TILES;
  s.schedule = schedule;
  return s;
}

// ----------------------------------------------------------------------------------------------------------- landings

static void lands(Linear s, const char *target, MirageLanding expected, const char *remark) {
  Fixture f;
  begin(&f, s);
  plan(&f, target);
  if (schedule_of(&f)->loads[0].landing != expected)
    fail_msg("landing %d instead of %d: %s", (int)schedule_of(&f)->loads[0].landing, (int)expected, f.capture.text);
  if (remark ? !strstr(f.capture.text, remark) : f.capture.count != 0)
    fail_msg("\"%s\" instead of \"%s\"", f.capture.text, remark ? remark : "");
  unsigned said = f.capture.count;
  plan(&f, target); // what is planned stays, and nothing is said twice
  assert_int_equal(schedule_of(&f)->loads[0].landing, expected);
  assert_int_equal(f.capture.count, said);
  end(&f);
}

static void test_landings(void **state) {
  Linear s = linear(copied(MIRAGE_LANDING_TENSOR, 4));
  lands(s, "h200", MIRAGE_LANDING_TENSOR, NULL);
  lands(s, "a100", MIRAGE_LANDING_ASYNC, NULL);
  s.schedule = copied(MIRAGE_LANDING_BULK, 4);
  lands(s, "h200", MIRAGE_LANDING_BULK, NULL);
  lands(s, "a100", MIRAGE_LANDING_ASYNC, NULL);
}

static void test_tensor_copies_that_are_not_possible(void **state) {
  Linear s = linear(copied(MIRAGE_LANDING_TENSOR, 4));
  s.k = 252;
  lands(s, "h200", MIRAGE_LANDING_ASYNC, "rows of the tensor are no multiple of 16 bytes");
  s.k = 256, s.range = 11; // 24 elements, 48 bytes, times 64 rows: dense; the last tile reaches beyond the tensor
  lands(s, "h200", MIRAGE_LANDING_TENSOR, NULL);
  s.fill = MIRAGE_FILL_ONE;
  lands(s, "h200", MIRAGE_LANDING_ASYNC, "what lies outside the tensor is not filled with zeros");
  s.fill = MIRAGE_FILL_ZERO, s.m = 60;
  lands(s, "h200", MIRAGE_LANDING_ASYNC, "no multiple of 128 bytes");
  s.m = 320, s.n = 32, s.range = 4;
  lands(s, "h200", MIRAGE_LANDING_ASYNC, "more than 256 rows");
  s.m = 64, s.n = 128;
  s.x_layout = (MirageLayout){.planned = true, .offset = -1, .stages = 2, .strides = {72, 1}};
  lands(s, "h200", MIRAGE_LANDING_ASYNC, "none that a tensor copy writes");
  s.x_layout = (MirageLayout){.planned = true, .offset = 512, .stages = 2, .swizzle = 3, .strides = {64, 1}};
  lands(s, "h200", MIRAGE_LANDING_ASYNC, "its offset is not a multiple of what the swizzle repeats after");
  s.x_layout.offset = 2048;
  lands(s, "h200", MIRAGE_LANDING_TENSOR, NULL);
}

static void test_bulk_copies_that_are_not_possible(void **state) {
  Linear s = linear(copied(MIRAGE_LANDING_BULK, 4));
  s.k = 252;
  lands(s, "h200", MIRAGE_LANDING_ASYNC, "its rows are no multiples of 16 bytes");
  s.k = 256, s.range = 11;
  lands(s, "h200", MIRAGE_LANDING_ASYNC, "some of it lies outside the tensor");
  s.range = 4;
  s.x_layout = (MirageLayout){.planned = true, .offset = -1, .stages = 2, .swizzle = 3, .strides = {64, 1}};
  lands(s, "h200", MIRAGE_LANDING_ASYNC, "does not keep rows in one piece");
}

static void test_rows(void **state) {
  static const struct {
    int64_t columns;
    int32_t swizzle, panel, row;
  } ROWS[] = {{16, 1, 0, 16},  {32, 2, 0, 32},  {64, 3, 0, 64},  {128, 3, 64, 64}, {192, 3, 64, 64},
              {48, 1, 16, 16}, {80, 1, 16, 16}, {96, 2, 32, 32}, {40, 0, 0, 40},   {72, 0, 0, 72}};
  for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
    Linear s = linear(copied(MIRAGE_LANDING_TENSOR, 4));
    s.k = ROWS[i].columns * 4;
    Fixture f;
    begin(&f, s);
    plan(&f, "h200");
    const MirageLayout *layout = layout_of(&f, f.x);
    assert_int_equal(layout->swizzle, ROWS[i].swizzle);
    assert_int_equal(layout->panel, ROWS[i].panel);
    assert_int_equal(layout->strides[0], ROWS[i].row);
    assert_int_equal(layout->offset % (128 << ROWS[i].swizzle), 0);
    end(&f);
  }
}

// -------------------------------------------------------------------------------------------------------------- roles

static void test_roles_without_copies_are_dropped(void **state) {
  Fixture f;
  begin(&f, linear(with_roles(copied(MIRAGE_LANDING_ASYNC, 8), 4, 232)));
  plan(&f, "h200");
  assert_int_equal(schedule_of(&f)->num_roles, 0);
  assert_int_equal(schedule_of(&f)->warps, 8);
  assert_non_null(strstr(f.capture.text, "no warps get roles of their own: there is nothing for a producer to copy"));
  end(&f);
  begin(&f, linear(with_roles(copied(MIRAGE_LANDING_TENSOR, 8), 4, 232)));
  plan(&f, "a100");
  assert_int_equal(schedule_of(&f)->num_roles, 0);
  assert_int_equal(schedule_of(&f)->warps, 8);
  assert_string_equal(f.capture.text, ""); // written for another GPU
  end(&f);
  begin(&f, linear(with_roles(copied(MIRAGE_LANDING_TENSOR, 8), 4, 232)));
  plan(&f, "h200");
  assert_int_equal(schedule_of(&f)->num_roles, 2);
  assert_int_equal(schedule_of(&f)->warps, 12);
  end(&f);
}

static void test_roles_that_are_not_possible(void **state) {
  Fixture f;
  MirageSchedule schedule = with_roles(copied(MIRAGE_LANDING_TENSOR, 12), 4, 240);
  begin(&f, linear(schedule));
  assert_int_equal(mirage_layout_plan(f.graph, mirage_target_find("h200"), &f.diag), MIRAGE_BAD_ARGUMENT);
  assert_string_equal(f.capture.text, "layout: roles take 97280 registers, h200 has 65536");
  end(&f);
  begin(&f, linear(with_roles(copied(MIRAGE_LANDING_TENSOR, 16), 4, 112))); // would wait for ever
  assert_int_equal(mirage_layout_plan(f.graph, mirage_target_find("h200"), &f.diag), MIRAGE_BAD_ARGUMENT);
  assert_string_equal(f.capture.text,
                      "layout: roles take 62464 registers, a block of 20 warps begins with 61440, 96 of "
                      "each thread");
  end(&f);
  schedule.roles[1].kind = MIRAGE_ROLE_PRODUCER;
  begin(&f, linear(schedule));
  assert_int_equal(mirage_layout_plan(f.graph, mirage_target_find("h200"), &f.diag), MIRAGE_BAD_ARGUMENT);
  assert_string_equal(f.capture.text, "layout: all 16 warps are producers, nobody consumes");
  end(&f);
  begin(&f, linear(with_roles(copied(MIRAGE_LANDING_TENSOR, 4), 1, 232)));
  plan(&f, "h200");
  assert_non_null(strstr(f.capture.text, "only whole groups of 4 can change them"));
  assert_int_equal(schedule_of(&f)->roles[0].registers, 0);
  end(&f);
}

static MirageStatus compile(Fixture *f, const char *target, MirageCode *code) {
  MirageCodegenOptions options = {.opt_level = 3};
  return mirage_codegen(f->graph, mirage_target_find(target), &options, &f->diag, code);
}

static void test_launch_of_copies(void **state) {
  Fixture f;
  MirageCode code;
  begin(&f, linear(with_roles(copied(MIRAGE_LANDING_TENSOR, 8), 4, 232)));
  assert_int_equal(compile(&f, "h200", &code), MIRAGE_OK);
  const MirageLaunch *launch = mirage_ugraph_node(f.graph, f.custom).attrs->custom.launch;
  assert_int_equal(launch->threads, 384);
  assert_int_equal(launch->shared_bytes, mirage_layout_shared_bytes(f.graph, f.custom));
  assert_int_equal(launch->shared_bytes, 2 * (64 * 64 + 64 * 128) * 2 + 2 * 2 * 8); // tiles, full and free mbarriers
  assert_int_equal(launch->num_maps, 2);
  const MirageTensorMap *map = &launch->maps[1];
  assert_int_equal(map->pointer, 1);
  assert_int_equal(map->rank, 2);
  assert_int_equal(map->extents[0], 128);
  assert_int_equal(map->extents[1], 256);
  assert_int_equal(map->strides[1], 256);
  assert_int_equal(map->box[0], 64); // a panel
  assert_int_equal(map->box[1], 64);
  assert_int_equal(map->swizzle, 3);
  mirage_code_deinit(&code);
  end(&f);
}

// --------------------------------------------------------------------------------------------------------- warpgroups

static int count(const char *text, const char *part) {
  int n = 0;
  for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
    n++;
  return n;
}

// How many matrix instructions of warpgroups the kernel has.
static int products(Linear s, const char *target) {
  Fixture f;
  MirageCode code;
  begin(&f, s);
  if (compile(&f, target, &code) != MIRAGE_OK)
    fail_msg("%s", f.capture.text);
  int found = count(code.ptx, "wgmma.mma_async");
  mirage_code_deinit(&code);
  end(&f);
  return found;
}

static void test_warpgroups(void **state) {
  Linear s = linear(copied(MIRAGE_LANDING_TENSOR, 4));
  assert_true(products(s, "h200") > 0);
  assert_int_equal(products(s, "a100"), 0);
  s.schedule = copied(MIRAGE_LANDING_ASYNC, 4);
  assert_true(products(s, "h200") > 0);
  s.schedule.warps = 6; // no whole groups
  assert_int_equal(products(s, "h200"), 0);
  s = linear(copied(MIRAGE_LANDING_TENSOR, 4));
  s.m = 48;
  assert_int_equal(products(s, "h200"), 0);
  s.m = 64, s.n = 72; // 144 bytes: no rows of 128
  assert_int_equal(products(s, "h200"), 0);
  s.n = 128;
  s.x_layout = (MirageLayout){.planned = true, .offset = -1, .stages = 2, .strides = {72, 1}};
  assert_int_equal(products(s, "h200"), 0);
  s.x_layout = (MirageLayout){0}, s.dtype = MIRAGE_F32;
  assert_int_equal(products(s, "h200"), 0);
}

// Rows that are no slab are the columns of the instruction, where columns are slabs and the schedule asks for it.
static void test_warpgroups_that_swap(void **state) {
  Linear s = linear(copied(MIRAGE_LANDING_TENSOR, 4));
  s.m = 48, s.schedule.swap = true;
  assert_true(products(s, "h200") > 0);
  assert_int_equal(products(s, "a100"), 0);
  s.m = 44; // no eights
  assert_int_equal(products(s, "h200"), 0);
  s.m = 64;
  assert_true(products(s, "h200") > 0);
  s.n = 72; // columns are no slab
  assert_int_equal(products(s, "h200"), 0);
  s.n = 128, s.dtype = MIRAGE_F32;
  assert_int_equal(products(s, "h200"), 0);
}

// ------------------------------------------------------------------------------------------------------------ defects

enum { MOST_ELEMENTS = 64 * 256 };

// Runs the kernel with one instruction left out. Returns whether that was noticed.
static bool notices(Linear s, MiragePrimitive primitive, Fixture *f) {
  static uint16_t x[MOST_ELEMENTS], w[256 * 128], y[64 * 128];
  struct MirageFault fault = {.kind = MIRAGE_FAULT_DROP_PRIMITIVE, .primitive = primitive};
  MirageEmulationOptions options = {.fault = &fault};
  MirageEmulation *emulation;
  bool noticed = false;
  begin(f, s);
  assert_int_equal(mirage_emulation_create(f->graph, mirage_target_find("h200"), &options, &f->diag, &emulation),
                   MIRAGE_OK);
  assert_true(fault.seen > 0);
  for (int copies = 0; copies < 2; copies++)
    noticed |= mirage_emulation_run(emulation, (MirageCopyTime)copies, (const void *[]){x, w}, (void *[]){y},
                                    &f->diag) == MIRAGE_FAULT;
  mirage_emulation_destroy(emulation);
  end(f);
  return noticed;
}

static void test_defects(void **state) {
  MirageSchedule roles = with_roles(copied(MIRAGE_LANDING_TENSOR, 4), 4, 0), async = copied(MIRAGE_LANDING_ASYNC, 4);
  const struct {
    MirageSchedule schedule;
    MiragePrimitive primitive;
  } DEFECTS[] = {
      {roles, MIRAGE_PRIM_MBARRIER_INIT},   {roles, MIRAGE_PRIM_MBARRIER_EXPECT},
      {roles, MIRAGE_PRIM_MBARRIER_ARRIVE}, {roles, MIRAGE_PRIM_TENSOR_COPY_2D},
      {roles, MIRAGE_PRIM_WGMMA_WAIT},      {roles, MIRAGE_PRIM_WGMMA_COMMIT},
      {roles, MIRAGE_PRIM_BARRIER},         {async, MIRAGE_PRIM_BARRIER},
      {async, MIRAGE_PRIM_CP_ASYNC_WAIT},   {async, MIRAGE_PRIM_FENCE_ASYNC_SHARED},
  };
  for (size_t i = 0; i < sizeof DEFECTS / sizeof *DEFECTS; i++) {
    Fixture f;
    if (!notices(linear(DEFECTS[i].schedule), DEFECTS[i].primitive, &f))
      fail_msg("nobody misses %s", mirage__gpu_name(DEFECTS[i].primitive));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_landings),
      cmocka_unit_test(test_tensor_copies_that_are_not_possible),
      cmocka_unit_test(test_bulk_copies_that_are_not_possible),
      cmocka_unit_test(test_rows),
      cmocka_unit_test(test_roles_without_copies_are_dropped),
      cmocka_unit_test(test_roles_that_are_not_possible),
      cmocka_unit_test(test_launch_of_copies),
      cmocka_unit_test(test_warpgroups),
      cmocka_unit_test(test_warpgroups_that_swap),
      cmocka_unit_test(test_defects),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
