// test_plan.c - plans as graphs hold them: made once, read as they were made, never taken for what a person asked; and the
// checks of a plan, each with a plan that breaks what it promises.
#include "mirage/codegen.h"
#include "mirage/layout.h"

#include "block_graphs.h"
#include "capture.h"
#include "layout/banks.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct Fixture {
  Capture capture;
  MirageDiag diag;
  MirageUGraph *graph;
  MirageNode custom;
  MirageArena arena;
  Plan plan; // as the graph holds it
} Fixture;

static const MirageTarget *h200(void) { return mirage_target_find("h200"); }

// x [m, k] @ w [k, n] in one block, summed by a loop; then, where `outside`, times one more load.
static MirageUGraph *linear(int64_t m, int64_t k, int64_t n, int64_t range, bool outside, const MirageDiag *diag) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "linear", diag);
  MirageType result = mirage_type_tensor(MIRAGE_F16, 2, (int64_t[]){m, n});
  MirageCustomAttrs attrs = blocks(1);
  MirageCarry sum = {.combine = MIRAGE_COMBINE_SUM};
  MirageAccessAttrs x_access = access_of(-1, 1), w_access = access_of(-1, 0), all = access_of(-1, -1);
  MirageValue in[] = {mirage_ugraph_input(g, mirage_type_tensor(MIRAGE_F16, 2, (int64_t[]){m, k})),
                      mirage_ugraph_input(g, mirage_type_tensor(MIRAGE_F16, 2, (int64_t[]){k, n})),
                      mirage_ugraph_input(g, result)};
  MirageNode custom = mirage_ugraph_open_custom(g, 3, in, 1, &result, &attrs);
  MirageValue zero = mirage_ugraph_constant(g, tile2(m, n), 0);
  MirageNode loop =
      mirage_ugraph_open_loop(g, 1, &zero, &(MirageLoopAttrs){.range = range, .num_carries = 1, .carries = &sum});
  MirageValue x = mirage_ugraph_load(g, mirage_ugraph_argument(g, custom, 0), &x_access);
  MirageValue w = mirage_ugraph_load(g, mirage_ugraph_argument(g, custom, 1), &w_access);
  MirageValue p = op2(g, MIRAGE_OP_MATMUL, x, w);
  mirage_ugraph_close(g, 1, &p);
  MirageValue y = mirage_ugraph_result(g, loop, 0);
  if (outside)
    y = op2(g, MIRAGE_OP_MUL, y, mirage_ugraph_load(g, mirage_ugraph_argument(g, custom, 2), &all));
  mirage_ugraph_store(g, y, mirage_ugraph_argument(g, custom, 3), &all);
  mirage_ugraph_close(g, 0, NULL);
  return finish_with(g, mirage_ugraph_result(g, custom, 0));
}

static void open_fixture(Fixture *f, MirageUGraph *(*make)(const MirageDiag *diag)) {
  *f = (Fixture){.diag = {capture_emit, &f->capture}};
  mirage_arena_init(&f->arena, NULL);
  f->graph = make(&f->diag);
  assert_non_null(f->graph);
  f->custom = mirage_ugraph_region(f->graph, mirage_ugraph_body(f->graph)).nodes[0];
}

static void begin(Fixture *f, MirageUGraph *(*make)(const MirageDiag *diag)) {
  open_fixture(f, make);
  assert_int_equal(mirage_layout_plan(f->graph, h200(), &f->diag), MIRAGE_OK);
  if (mirage__plan_read(f->graph, f->custom, h200(), &f->arena, &f->diag, &f->plan) != MIRAGE_OK)
    fail_msg("%s", f->capture.text);
}

static void end(Fixture *f) {
  mirage_arena_deinit(&f->arena);
  mirage_ugraph_destroy(f->graph);
}

// Tensor copies by a producer, products of warpgroups: 128 x 256 in steps of 64.
static MirageUGraph *produced(const MirageDiag *diag) { return linear(128, 512, 256, 8, false, diag); }
// A load outside the loop by tensor copy, besides, and no roles.
static MirageUGraph *landed(const MirageDiag *diag) {
  MirageUGraph *g = linear(64, 256, 64, 4, true, diag);
  MirageSchedule schedule = {.warps = 4, .num_loads = 3};
  for (int i = 0; i < 3; i++)
    schedule.loads[i].landing = MIRAGE_LANDING_TENSOR;
  mirage_ugraph_set_schedule(g, mirage_ugraph_region(g, mirage_ugraph_body(g)).nodes[0], &schedule);
  return g;
}
// By cp.async, and sums beside a product.
static MirageUGraph *staged(const MirageDiag *diag) {
  return rms_fused((Sizes){.m = 2, .k = 512, .n = 384, .grid = 8, .loop = 4}, RMS_RIGHT, diag);
}

// Attention without a maximum, whose products run ahead and whose two warpgroups take turns.
static MirageUGraph *turning(const MirageDiag *diag) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "turning", diag);
  MirageType rows = mirage_type_tensor(MIRAGE_F16, 2, (int64_t[]){128, 64});
  MirageType keys = mirage_type_tensor(MIRAGE_F16, 2, (int64_t[]){256, 64});
  MirageValue in[] = {mirage_ugraph_input(g, rows), mirage_ugraph_input(g, keys), mirage_ugraph_input(g, keys)};
  MirageSchedule schedule = {
      .num_roles = 2, .roles = {{MIRAGE_ROLE_PRODUCER, 4, 24}, {MIRAGE_ROLE_CONSUMER, 8, 240}}, .num_loads = 3};
  for (int i = 0; i < 3; i++)
    schedule.loads[i].landing = MIRAGE_LANDING_TENSOR;
  MirageCustomAttrs attrs = blocks(1);
  attrs.schedule = &schedule;
  MirageAccessAttrs all = access_of(-1, -1), turn = access_of(-1, 0);
  MirageNode custom = mirage_ugraph_open_custom(g, 3, in, 1, &rows, &attrs);
  MirageValue q = mirage_ugraph_load(g, mirage_ugraph_argument(g, custom, 0), &all);
  MirageValue zero = mirage_ugraph_constant(g, tile2(128, 64), 0);
  MirageCarry sum = {.combine = MIRAGE_COMBINE_SUM};
  MirageNode loop =
      mirage_ugraph_open_loop(g, 1, &zero, &(MirageLoopAttrs){.range = 4, .num_carries = 1, .carries = &sum});
  MirageAttrs transposed = {.matmul = {.transpose_b = true}};
  MirageValue scores[] = {q, mirage_ugraph_load(g, mirage_ugraph_argument(g, custom, 1), &turn)};
  MirageValue s = mirage_ugraph_apply(g, MIRAGE_OP_MATMUL, 2, scores, &transposed);
  MirageValue p = mirage_ugraph_cast(g, op1(g, MIRAGE_OP_EXP, s), MIRAGE_F16);
  MirageValue o = op2(g, MIRAGE_OP_MATMUL, p, mirage_ugraph_load(g, mirage_ugraph_argument(g, custom, 2), &turn));
  mirage_ugraph_close(g, 1, &o);
  mirage_ugraph_store(g, mirage_ugraph_result(g, loop, 0), mirage_ugraph_argument(g, custom, 3), &all);
  mirage_ugraph_close(g, 0, NULL);
  return finish_with(g, mirage_ugraph_result(g, custom, 0));
}

static MirageValue result_of(const Plan *plan, MirageOp op) {
  for (int32_t s = 0; s < plan->block.num_steps; s++)
    if (plan->block.steps[s].node.index && mirage_ugraph_node(plan->graph, plan->block.steps[s].node).op == op)
      return mirage_ugraph_node(plan->graph, plan->block.steps[s].node).first_result;
  fail_msg("no %s", mirage_op_info(op)->mnemonic);
  return (MirageValue){0};
}

static BlockValue *value_of(Plan *plan, MirageOp op) { return &plan->block.values[result_of(plan, op).index]; }

// ------------------------------------------------------------------------------------------------------- broken plans

typedef void (*Damage)(Plan *plan);

static void damage_registers(Plan *plan) {
  plan->block.team.actors[1].registers = 255, plan->block.team.actors[0].registers = 255;
}
static void damage_threads(Plan *plan) { mirage__team_set_warps(&plan->block.team, 64); }
static void damage_engine(Plan *plan) { plan->target = mirage_target_find("a100"); }
static void damage_partition(Plan *plan) { plan->block.partition.by_col = 3; }
static void damage_cover(Plan *plan) { plan->block.partition.rows_each = 0; }
static void damage_rows(Plan *plan) { plan->block.partition.rows /= 2; }
static void damage_warpgroup(Plan *plan) { value_of(plan, MIRAGE_OP_LOAD)->warpgroup = true; }
static void damage_product(Plan *plan) {
  value_of(plan, MIRAGE_OP_MATMUL)->carried = value_of(plan, MIRAGE_OP_MATMUL)->resident = false;
}
static void damage_carry(Plan *plan) { value_of(plan, MIRAGE_OP_LOAD)->carried = true; }
static void damage_result(Plan *plan) {
  value_of(plan, MIRAGE_OP_LOOP)->shared = value_of(plan, MIRAGE_OP_LOOP)->resident = false;
}
static void damage_cells(Plan *plan) {
  plan->block.partition = mirage__partition(mirage__team_workers(&plan->block.team), 1, 1, 2);
  value_of(plan, MIRAGE_OP_LOAD)->resident = true;
}
static void damage_landing(Plan *plan) { plan->block.loads[0].by = BY_READER; }
static void damage_tile(Plan *plan) { value_of(plan, MIRAGE_OP_LOAD)->shared = false; }
static void damage_stages(Plan *plan) { plan->block.loops[0].stages++; }
static void damage_buffers(Plan *plan) { plan->types[result_of(plan, MIRAGE_OP_LOAD).index].layout.stages--; }
static void damage_full(Plan *plan) { plan->block.channels[0].full.kind = SIGNAL_NONE; }
static void damage_free(Plan *plan) { plan->block.channels[0].free.first = plan->block.channels[0].full.first; }
static void damage_count(Plan *plan) { plan->block.num_mbarriers++; }
static void damage_landed(Plan *plan) {
  MirageValue tile = plan->block.loads[plan->block.num_loads - 1].tile;
  plan->block.channels[plan->block.values[tile.index].channel].full.kind = SIGNAL_BARRIER;
}
static void damage_alignment(Plan *plan) { plan->types[result_of(plan, MIRAGE_OP_LOAD).index].layout.offset += 8; }
static void damage_offset(Plan *plan) {
  int32_t *first = &plan->types[result_of(plan, MIRAGE_OP_LOAD).index].layout.offset;
  *first = plan->types[plan->block.loads[1].tile.index].layout.offset;
}
static void damage_room(Plan *plan) { plan->types[result_of(plan, MIRAGE_OP_LOAD).index].layout.offset = 1 << 20; }
static void damage_life(Plan *plan) { value_of(plan, MIRAGE_OP_LOAD)->end = value_of(plan, MIRAGE_OP_LOAD)->begin; }

static void damage_crew(Plan *plan) { plan->block.team.actors[1].warps = 0; }
static void damage_side(Plan *plan) { plan->block.team.actors[0].blocks = 4; }
static void damage_sender(Plan *plan) { plan->block.channels[0].from = plan->block.channels[0].to; }
static void damage_receiver(Plan *plan) { plan->block.channels[0].to = 1; }
static void damage_stranger(Plan *plan) { plan->block.channels[1].to = 8; }
static void damage_nobody(Plan *plan) { plan->block.channels[1].from = 0; }
static void damage_values(Plan *plan) { plan->block.channels[0].num_values--; }
static void damage_where(Plan *plan) { plan->block.channels[0].place = PLACE_STREAM; }
static void damage_turn(Plan *plan) { plan->block.channels[0].loop = -1; }
static void damage_depth(Plan *plan) { plan->block.channels[0].stages++; }
static void damage_return(Plan *plan) { plan->block.channels[0].free.kind = SIGNAL_BARRIER; }
static void damage_bytes(Plan *plan) { plan->block.channels[0].full.bytes /= 2; }
static void damage_arrivals(Plan *plan) { plan->block.channels[0].free.arrivals = 1; }
static void damage_shared(Plan *plan) { plan->block.values[result_of(plan, MIRAGE_OP_LOOP).index].channel = -1; }

static void damage_ahead(Plan *plan) { plan->block.loops[0].ahead = false, plan->block.loops[0].turns = 0; }
static void damage_overlap(Plan *plan) { plan->block.overlap = MIRAGE_OVERLAP_NONE; }
static void damage_maxima(Plan *plan) { plan->block.first_maxima = true; }
static void damage_turns(Plan *plan) { plan->block.loops[0].turns = 3; }
static void damage_early(Plan *plan) { value_of(plan, MIRAGE_OP_MATMUL)->warpgroup = false; }

static const struct Broken {
  MirageUGraph *(*make)(const MirageDiag *diag);
  Damage damage;
  PlanStage from; // the first stage at which it shows
  const char *sentence;
} BROKEN[] = {
    {produced, damage_registers, PLAN_LANDED, "plan: roles take"},
    {staged, damage_threads, PLAN_LANDED, "plan: 64 warps are more than h200 allows"},
    {produced, damage_engine, PLAN_LANDED, "which a100 does not have"},
    {landed, damage_partition, PLAN_DIVIDED, "warps divide the tiles in registers, 4 work"},
    {landed, damage_cover, PLAN_DIVIDED, "leave some of"},
    {landed, damage_rows, PLAN_DIVIDED, "divided for other rows"},
    {produced, damage_warpgroup, PLAN_DIVIDED, "plan: warpgroups compute what they cannot"},
    {staged, damage_product, PLAN_PLACED, "plan: matmul has no place"},
    {staged, damage_carry, PLAN_PLACED, "plan: load is carried"},
    {staged, damage_result, PLAN_PLACED, "plan: result 0 of the loop has no place"},
    {staged, damage_cells, PLAN_PLACED, "plan: load is kept in registers"},
    {staged, damage_landing, PLAN_PLACED, "plan: load 0 does not land where its tile is"},
    {staged, damage_tile, PLAN_PLACED, "plan: load 0 does not land where its tile is"},
    {staged, damage_stages, PLAN_COMPLETE, "plan: load 0 has 4 buffers, its loop 5 stages"},
    {staged, damage_buffers, PLAN_COMPLETE, "plan: load 0 has 3 buffers, its loop 4 stages"},
    {produced, damage_full, PLAN_COMPLETE, "plan: load 0 is copied without an mbarrier"},
    {produced, damage_free, PLAN_COMPLETE, "plan: mbarrier 0 stands where"},
    {produced, damage_count, PLAN_COMPLETE, "mbarriers are counted"},
    {landed, damage_landed, PLAN_COMPLETE, "plan: load 2 is copied without an mbarrier"},
    {produced, damage_crew, PLAN_DIVIDED, "plan: of 4 warps none works"},
    {staged, damage_side, PLAN_COMPLETE, " and 4 blocks, which is not of its kind"},
    {produced, damage_sender, PLAN_COMPLETE, "plan: load 0 is copied by or for who does not"},
    {produced, damage_receiver, PLAN_COMPLETE, "plan: load 0 is copied by or for who does not"},
    {produced, damage_stranger, PLAN_COMPLETE, "plan: channel 1 leads from or to nobody"},
    {produced, damage_nobody, PLAN_COMPLETE, "plan: channel 1 leads from or to nobody"},
    {produced, damage_values, PLAN_COMPLETE, "plan: load 1 comes through no channel"},
    {produced, damage_where, PLAN_COMPLETE, "plan: load 0 waits where its tile is not"},
    {produced, damage_turn, PLAN_COMPLETE, "plan: load 0 is given back by who does not wait"},
    {produced, damage_depth, PLAN_COMPLETE, "plan: load 0 does not turn with its channel"},
    {produced, damage_return, PLAN_COMPLETE, "plan: load 0 is given back by who does not wait"},
    {produced, damage_bytes, PLAN_COMPLETE, "plan: an mbarrier waits for"},
    {produced, damage_arrivals, PLAN_COMPLETE, "plan: an mbarrier waits for 1 warps to give a stage back, 8 do"},
    {staged, damage_shared, PLAN_COMPLETE, "plan: a buffer is in no channel"},
    {staged, damage_alignment, PLAN_COMPLETE, "is not at a multiple of 16"},
    {staged, damage_offset, PLAN_COMPLETE, "plan: two tiles share shared memory"},
    {staged, damage_room, PLAN_COMPLETE, "bytes of shared memory are planned, a block has"},
    {staged, damage_life, PLAN_COMPLETE, "plan: a tile is read at step"},
    {turning, damage_ahead, PLAN_COMPLETE, "plan: the schedule says that products run ahead, and none do"},
    {turning, damage_overlap, PLAN_COMPLETE, "plan: the schedule says that products run ahead, and none do"},
    {turning, damage_maxima, PLAN_COMPLETE,
     "plan: the schedule says that loops keep the maxima of their first tiles, and none can"},
    {turning, damage_turns, PLAN_COMPLETE, "plan: 3 warpgroups take turns, 2 compute"},
    {turning, damage_early, PLAN_COMPLETE,
     "plan: products run ahead: the loop has a product that is neither early nor late"},
};

static void test_broken_plans(void **state) {
  for (size_t i = 0; i < sizeof BROKEN / sizeof *BROKEN; i++) {
    Fixture f;
    begin(&f, BROKEN[i].make);
    for (PlanStage stage = PLAN_LANDED; stage <= PLAN_COMPLETE; stage++)
      assert_int_equal(mirage__plan_check(&f.plan, stage), MIRAGE_OK);
    BROKEN[i].damage(&f.plan);
    for (PlanStage stage = PLAN_LANDED; stage <= PLAN_COMPLETE; stage++) {
      MirageStatus status = mirage__plan_check(&f.plan, stage);
      if (status != (stage < BROKEN[i].from ? MIRAGE_OK : MIRAGE_BAD_GRAPH) ||
          (stage == BROKEN[i].from && !strstr(f.capture.text, BROKEN[i].sentence)))
        fail_msg("'%s' at stage %d: %d, '%s'", BROKEN[i].sentence, stage, status, f.capture.text);
    }
    end(&f);
  }
}

// ----------------------------------------------------------------------------------------------------------- held plans

static void assert_same(const Fixture *f, const Plan *plan) {
  const MirageSchedule first = mirage__block_schedule(&f->plan.block), second = mirage__block_schedule(&plan->block);
  assert_memory_equal(&first, &second, sizeof first);
  assert_memory_equal(&f->plan.block.partition, &plan->block.partition, sizeof plan->block.partition);
  for (uint32_t id = 1; id <= mirage_ugraph_num_values(f->graph); id++) {
    const BlockValue *a = &f->plan.block.values[id], *b = &plan->block.values[id];
    assert_memory_equal(a, b, sizeof *a);
    assert_int_equal(f->plan.types[id].layout.offset, plan->types[id].layout.offset);
  }
}

// Who compiles reads what was planned: a GPU with one multiprocessor would be planned for in another way.
static void test_codegen_plans_nothing(void **state) {
  Fixture f;
  begin(&f, staged);
  MirageTarget lone = *h200();
  lone.num_sms = 1;
  Plan plan;
  assert_int_equal(mirage_layout_plan(f.graph, &lone, &f.diag), MIRAGE_OK);
  assert_int_equal(mirage__plan_read(f.graph, f.custom, &lone, &f.arena, &f.diag, &plan), MIRAGE_OK);
  assert_same(&f, &plan);
  MirageCode code;
  assert_int_equal(mirage_codegen(f.graph, &lone, &(MirageCodegenOptions){.opt_level = 0}, &f.diag, &code), MIRAGE_OK);
  assert_int_equal(mirage_ugraph_node(f.graph, f.custom).attrs->custom.launch->threads,
                   mirage__team_warps(&f.plan.block.team) * 32);
  mirage_code_deinit(&code);
  end(&f);
}

static void test_plan_is_no_ask(void **state) {
  Fixture f;
  begin(&f, landed);
  const MirageSchedule asked = *mirage_ugraph_node(f.graph, f.custom).attrs->custom.plan->asked;
  assert_int_equal(asked.loads[0].stages, 0); // nobody said how many
  assert_int_not_equal(f.plan.block.loops[0].stages, 0);
  assert_int_equal(mirage_layout_plan(f.graph, mirage_target_find("a100"), &f.diag), MIRAGE_OK);
  assert_memory_equal(mirage_ugraph_node(f.graph, f.custom).attrs->custom.plan->asked, &asked, sizeof asked);
  assert_int_equal(mirage_layout_plan(f.graph, h200(), &f.diag), MIRAGE_OK);
  Plan plan;
  assert_int_equal(mirage__plan_read(f.graph, f.custom, h200(), &f.arena, &f.diag, &plan), MIRAGE_OK);
  assert_same(&f, &plan);
  end(&f);
}

static void test_edited_since(void **state) {
  Fixture f;
  begin(&f, staged);
  MirageSchedule edited = mirage__block_schedule(&f.plan.block);
  edited.start = MIRAGE_START_EARLY;
  mirage_ugraph_set_schedule(f.graph, f.custom, &edited);
  assert_false(mirage_ugraph_plan_holds(f.graph, f.custom));
  assert_int_equal(mirage_layout_plan(f.graph, h200(), &f.diag), MIRAGE_OK);
  assert_non_null(strstr(f.capture.text, "was changed since it was planned"));
  assert_int_equal(mirage_ugraph_node(f.graph, f.custom).attrs->custom.schedule->start, MIRAGE_START_EARLY);
  assert_int_equal(mirage_ugraph_node(f.graph, f.custom).attrs->custom.plan->asked->start, MIRAGE_START_EARLY);
  end(&f);
}

static void test_read_for_another_target(void **state) {
  Fixture f;
  Plan plan;
  begin(&f, staged);
  assert_int_equal(mirage__plan_read(f.graph, f.custom, mirage_target_find("a100"), &f.arena, &f.diag, &plan),
                   MIRAGE_BAD_ARGUMENT);
  assert_string_equal(f.capture.text, "custom: is not planned for a100");
  end(&f);
}

// A text may claim a plan that it is not: places that nothing can have are refused before they are compiled.
static void test_false_plan(void **state) {
  Fixture f;
  begin(&f, staged);
  MiragePlan claimed = *mirage_ugraph_node(f.graph, f.custom).attrs->custom.plan;
  char places[64] = {0};
  assert_true(strlen(claimed.places) < sizeof places);
  memset(places, '0', strlen(claimed.places));
  claimed.places = places;
  mirage_ugraph_set_plan(f.graph, f.custom, &claimed);
  MirageCode code;
  assert_int_equal(mirage_codegen(f.graph, h200(), &(MirageCodegenOptions){.opt_level = 0}, &f.diag, &code),
                   MIRAGE_BAD_GRAPH);
  assert_non_null(strstr(f.capture.text, "plan: "));
  end(&f);
}

// What of the ask is left in a block that nobody has planned yet, as a schedule.
static MirageSchedule asked_and_written(Fixture *f, const MirageSchedule *asked) {
  Plan plan = {.graph = f->graph, .target = h200(), .diag = &f->diag, .asked = asked};
  assert_int_equal(mirage__plan_begin(&plan, f->custom, &f->arena), MIRAGE_OK);
  return mirage__block_schedule(&plan.block);
}

// A value of a key that is not its default.
static int32_t some_value(const MirageKey *key) { return key->form == MIRAGE_FORM_INT ? 4 : key->most; }

// A schedule with that value, and what it needs: warpgroups that take tiles in turn are consumers.
static MirageSchedule some_schedule(const MirageKey *key) {
  MirageSchedule asked = {0};
  mirage_key_set(key, &asked, some_value(key));
  if (asked.overlap == MIRAGE_OVERLAP_TILES) {
    asked.num_roles = 2;
    asked.roles[0] = (MirageRole){MIRAGE_ROLE_PRODUCER, 4, 0};
    asked.roles[1] = (MirageRole){MIRAGE_ROLE_CONSUMER, 8, 0};
  }
  return asked;
}

static void assert_comes_back(Fixture *f, const MirageSchedule *asked, const MirageKey *key, size_t offset) {
  const MirageSchedule written = asked_and_written(f, asked);
  int32_t want = mirage_key_get(key, (const char *)asked + offset),
          got = mirage_key_get(key, (const char *)&written + offset);
  if (want != got)
    fail_msg("%s: %d was asked for, %d came of it", key->name, want, got);
}

// Every key of a schedule is read by a plan, and written by it: one that ask.c does not know is named.
static void test_every_key_is_asked(void **state) {
  const MirageRecord *record = mirage_schedule_record();
  Fixture f;
  open_fixture(&f, produced);
  for (uint32_t k = 0; k < record->num_keys; k++) {
    const MirageKey *key = &record->keys[k];
    MirageSchedule asked = {0};
    if (key->form != MIRAGE_FORM_LIST) {
      asked = some_schedule(key);
      assert_comes_back(&f, &asked, key, 0);
      continue;
    }
    asked.num_loads = 2;
    asked.num_roles = 2;
    for (uint32_t i = 0; i < 2; i++) {
      asked.roles[i] = (MirageRole){i ? MIRAGE_ROLE_CONSUMER : MIRAGE_ROLE_PRODUCER, 4, 0};
      asked.loads[i] = (MirageLoadSchedule){.landing = MIRAGE_LANDING_ASYNC, .stages = 4};
    }
    for (uint32_t i = 0; i < key->items->num_keys; i++) {
      size_t second = key->offset + key->items->size; // the second item has what the first has not
      mirage_key_set(&key->items->keys[i], (char *)&asked + second, some_value(&key->items->keys[i]));
      assert_comes_back(&f, &asked, &key->items->keys[i], second);
    }
  }
  end(&f);
}

// Loads of one loop turn in step, also where the loop is too short for what they are asked.
static void test_stages_differ(void **state) {
  Fixture f;
  open_fixture(&f, produced);
  const MirageSchedule asked = {.num_loads = 2, .loads = {{.stages = 32}, {.stages = 64}}};
  Plan plan = {.graph = f.graph, .target = h200(), .diag = &f.diag, .asked = &asked};
  assert_int_equal(mirage__plan_begin(&plan, f.custom, &f.arena), MIRAGE_BAD_ARGUMENT);
  assert_string_equal(f.capture.text, "load: loads of one loop take the same number of stages: 64 vs 32");
  end(&f);
}

// Whoever only copies touches no buffer: the layouts of tiles are weighed by what workers do.
static void test_producers_touch_nothing(void **state) {
  Fixture f;
  begin(&f, staged);
  Team *team = &f.plan.block.team;
  const Team alone = {.actors = {{.kind = ACTOR_THREADS, .warps = 4}}, .num_actors = 1, .divide = DIVIDE_ANY};
  const Team fed = {.actors = {{.kind = ACTOR_PRODUCER, .warps = 4, .registers = 40},
                               {.kind = ACTOR_CONSUMER, .warps = 4, .registers = mirage__team_registers(&alone)}},
                    .num_actors = 2,
                    .divide = DIVIDE_ANY};
  double conflicts = 0;
  for (uint32_t id = 1; id <= mirage_ugraph_num_values(f.graph); id++) {
    MirageValue buffer = {id};
    if (!f.plan.block.values[id].shared || mirage__block_buffer_of(&f.plan.block, buffer).index != id)
      continue;
    MirageType type = f.plan.types[id]; // all elements lie in the same bank
    for (uint32_t d = 0; d < type.rank; d++)
      type.layout.strides[d] = 1024 + 64 * d;
    *team = alone;
    Traffic first = mirage__traffic(&f.plan, buffer, &type);
    *team = fed;
    Traffic second = mirage__traffic(&f.plan, buffer, &type);
    assert_true(first.conflicts == second.conflicts && first.swizzles == second.swizzles);
    conflicts += first.conflicts;
  }
  assert_true(conflicts > 0);
  end(&f);
}

// ----------------------------------------------------------------------------------------------------------- explained

typedef struct Lines {
  const char *wanted;
  int found;
} Lines;

static void find_line(void *user, MirageSeverity severity, const void *loc, const char *message) {
  Lines *lines = user;
  lines->found += severity == MIRAGE_SEVERITY_REMARK && strstr(message, lines->wanted) == message;
}

static int explained(const Fixture *f, const MirageTarget *target, const char *wanted) {
  Lines lines = {.wanted = wanted};
  assert_int_equal(mirage_layout_explain(f->graph, target, &(MirageDiag){find_line, &lines}), MIRAGE_OK);
  return lines.found;
}

// The second plan of a kernel, with a producer, may fail where the first does not.
static void test_first_plan_stands(void **state) {
  Fixture f;
  MirageTarget poor = *h200();
  poor.registers_per_sm = 6000;
  open_fixture(&f, produced);
  assert_int_equal(mirage_layout_plan(f.graph, &poor, &f.diag), MIRAGE_OK);
  assert_string_equal(f.capture.text, ""); // nobody asked for it
  assert_int_equal(mirage_ugraph_node(f.graph, f.custom).attrs->custom.schedule->num_roles, 0);
  assert_int_equal(explained(&f, &poor, "form: producer: no: with it, layout: roles take "), 1);
  assert_int_equal(explained(&f, &poor, "form: tensor copies: taken"), 1);
  assert_int_equal(explained(&f, &poor, "plan: producer"), 0);
  end(&f);
}

static MirageUGraph *produced_in_three(const MirageDiag *diag) {
  MirageUGraph *g = produced(diag);
  const MirageSchedule three = {.num_loads = 2, .loads = {{.stages = 3}, {.stages = 3}}};
  mirage_ugraph_set_schedule(g, mirage_ugraph_region(g, mirage_ugraph_body(g)).nodes[0], &three);
  return g;
}

// The second plan is asked for what a person asked, too.
static void test_second_plan_keeps_stages(void **state) {
  Fixture f;
  begin(&f, produced_in_three);
  assert_true(mirage__has_producer(&f.plan.block.team));
  assert_int_equal(f.plan.block.loops[0].stages, 3);
  end(&f);
}

// What the second plan is asked for is still not what a person asked for.
static void test_second_plan(void **state) {
  Fixture f;
  begin(&f, produced);
  assert_int_equal(explained(&f, h200(), "plan: producer: warps 0..3, 40 registers"), 1);
  assert_int_equal(explained(&f, h200(), "form: producer: taken"), 1);
  assert_int_equal(explained(&f, h200(), "form: roles as asked: no: none are asked for"), 1);
  assert_int_equal(explained(&f, h200(), "form: copies as asked: no: "), 1);
  assert_int_equal(explained(&f, h200(), "form: tensor copies: taken"), 1);
  end(&f);
}

static void test_explain_what_is_not_planned(void **state) {
  Fixture f;
  open_fixture(&f, staged);
  assert_int_equal(mirage_layout_explain(f.graph, h200(), &f.diag), MIRAGE_BAD_ARGUMENT);
  assert_string_equal(f.capture.text, "custom: is not planned for h200");
  end(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_broken_plans),
      cmocka_unit_test(test_codegen_plans_nothing),
      cmocka_unit_test(test_plan_is_no_ask),
      cmocka_unit_test(test_edited_since),
      cmocka_unit_test(test_false_plan),
      cmocka_unit_test(test_read_for_another_target),
      cmocka_unit_test(test_every_key_is_asked),
      cmocka_unit_test(test_stages_differ),
      cmocka_unit_test(test_producers_touch_nothing),
      cmocka_unit_test(test_first_plan_stands),
      cmocka_unit_test(test_second_plan),
      cmocka_unit_test(test_second_plan_keeps_stages),
      cmocka_unit_test(test_explain_what_is_not_planned),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
