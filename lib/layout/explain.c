// explain.c - a plan in words: who does what, what passes between them, and which forms were taken or why not.
//
// Example:  plan: producer: warps 0..3, 40 registers
//           plan: load 0, load 1 in loop 0: from producer to consumers, shared memory, 4 stages;
//                 full: mbarriers 0..3 of 49152 bytes; free: mbarriers 4..7 of 8 arrivals
//           form: streamed weights: no: a product has more than 32 activation rows
#include "mirage/layout.h"

#include "plan.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct Text {
  char bytes[900];
  size_t length;
} Text;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void put(Text *text, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int length = vsnprintf(text->bytes + text->length, sizeof text->bytes - text->length, format, args);
  va_end(args);
  text->length += length > 0 ? (size_t)length : 0;
  if (text->length >= sizeof text->bytes)
    text->length = sizeof text->bytes - 1;
}

static void say(const Plan *plan, const Text *text) {
  mirage_diag_emit(plan->diag, MIRAGE_SEVERITY_REMARK, plan->loc, "%s", text->bytes);
}

// Those of one kind are numbered where there are several.
static void put_actor(Text *text, const Block *block, int32_t index) {
  static const char *const NAMES[] = {"threads", "consumers", "producer", "side blocks"};
  int32_t same = 0, before = 0;
  for (int32_t i = 0; i < block->team.num_actors; i++) {
    same += block->team.actors[i].kind == block->team.actors[index].kind;
    before += i < index && block->team.actors[i].kind == block->team.actors[index].kind;
  }
  put(text, "%s", NAMES[block->team.actors[index].kind]);
  if (same > 1)
    put(text, " %d", before);
}

static void explain_actor(const Plan *plan, int32_t index) {
  const Actor *actor = &plan->block.team.actors[index];
  Text text = {0};
  put(&text, "plan: ");
  put_actor(&text, &plan->block, index);
  int32_t first = mirage__team_first_warp(&plan->block.team, actor);
  put(&text, ": warps %d..%d", actor->blocks ? 0 : first, (actor->blocks ? 0 : first) + actor->warps - 1);
  if (actor->blocks)
    put(&text, " of %d more blocks", actor->blocks);
  if (actor->registers)
    put(&text, ", %d registers", actor->registers);
  if (actor->kind == ACTOR_CONSUMER)
    put(&text, ", meet at barrier %d", CONSUMERS_BARRIER);
  say(plan, &text);
}

static void put_actors(Text *text, const Block *block, ActorSet set) {
  const char *between = "";
  for (int32_t i = 0; i < block->team.num_actors; i++) {
    if (!(set >> i & 1))
      continue;
    put(text, "%s", between);
    put_actor(text, block, i);
    between = " and ";
  }
}

static void put_value(Text *text, const Block *block, MirageValue value) {
  const BlockValue *v = &block->values[value.index];
  if (v->load >= 0)
    put(text, "load %d", v->load);
  else if (v->def.index && mirage__block_op(block, value) == MIRAGE_OP_LOOP)
    put(text, "result %u of loop %d", v->index, mirage__block_find_loop(block, v->def));
  else
    put(text, "%s", v->def.index ? mirage_op_info(mirage__block_op(block, value))->mnemonic : "an argument");
}

static void put_signal(Text *text, const char *name, const Channel *channel, const Signal *signal) {
  static const char *const KINDS[] = {[SIGNAL_COPY_GROUP] = "copy groups and a barrier",
                                      [SIGNAL_BARRIER] = "a barrier",
                                      [SIGNAL_MBARRIER] = "mbarrier",
                                      [SIGNAL_CLUSTER] = "the cluster's barrier",
                                      [SIGNAL_FLAG] = "a counter in device memory",
                                      [SIGNAL_WORDS] = "its words"};
  if (signal->kind == SIGNAL_NONE)
    return;
  put(text, "; %s: %s", name, KINDS[signal->kind]);
  if (signal->kind != SIGNAL_MBARRIER)
    return;
  put(text, channel->stages > 1 ? "s %d..%d" : " %d", signal->first, signal->first + channel->stages - 1);
  put(text, " of %lld %s", (long long)(signal->bytes ? signal->bytes : signal->arrivals),
      signal->bytes ? "bytes" : "arrivals");
}

static void explain_channel(const Plan *plan, const Channel *channel) {
  static const char *const PLACES[] = {"shared memory", "registers", "straight from device memory",
                                       "shared memory of the cluster", "device memory"};
  const Block *block = &plan->block;
  Text text = {0};
  put(&text, "plan: ");
  for (uint32_t i = 0; i < channel->num_values; i++) {
    put(&text, "%s", i ? ", " : "");
    put_value(&text, block, channel->values[i]);
  }
  if (channel->loop >= 0)
    put(&text, " in loop %d", channel->loop);
  put(&text, ": %s", channel->from == channel->to ? "of " : "from ");
  put_actors(&text, block, channel->from);
  if (channel->from != channel->to) {
    put(&text, " to ");
    put_actors(&text, block, channel->to);
  }
  put(&text, ", %s", PLACES[channel->place]);
  if (channel->stages > 1)
    put(&text, ", %d stages", channel->stages);
  put_signal(&text, "full", channel, &channel->full);
  put_signal(&text, "free", channel, &channel->free);
  if (channel->multicast)
    put(&text, "; copied once for the cluster");
  if (channel->lag)
    put(&text, "; read by %d group%s of products that run on into the next iteration", channel->lag,
        channel->lag > 1 ? "s" : "");
  say(plan, &text);
}

static void explain_overlap(const Plan *plan, int32_t loop) {
  const BlockLoop *l = &plan->block.loops[loop];
  Text text = {0};
  if (!l->ahead)
    return;
  put(&text, "plan: loop %d: products of an iteration are issued with those of the one before that wait for them",
      loop);
  if (l->turns)
    put(&text, "; %d warpgroups take turns, at barriers %d..%d", l->turns, TURNS_BARRIER, TURNS_BARRIER + l->turns - 1);
  say(plan, &text);
}

static void explain_maxima(const Plan *plan, int32_t loop) {
  BlockMaxima maxima;
  Text text = {0};
  if (!mirage__keeps_maxima(&plan->block, loop, &maxima))
    return;
  put(&text,
      "plan: loop %d: maxima are those of the first tile; where sums reach %g, the loop runs again with all maxima",
      loop, maxima.limit);
  say(plan, &text);
}

static void explain_groups(const Plan *plan) {
  int32_t groups = mirage__team_groups(&plan->block.team);
  Text text = {0};
  if (groups < 2)
    return;
  put(&text, "plan: %d warpgroups take tiles in turn: one multiplies while others store", groups);
  say(plan, &text);
}

static void explain_rows(const Plan *plan) {
  const ThreadRows *items = &plan->block.items;
  Text text = {0};
  if (!items->ahead)
    return;
  put(&text, "plan: rows wait in shared memory: %d turn%s of %d row%s, %d tensor%s", items->ahead,
      items->ahead == 1 ? "" : "s", items->together, items->together == 1 ? "" : "s", items->tensors,
      items->tensors == 1 ? "" : "s");
  if (items->torn)
    put(&text, ", in whole windows of %d bytes, in which they begin anywhere", ROW_WINDOW);
  say(plan, &text);
}

static void explain_bounds(const Plan *plan, int32_t loop) {
  Text text = {0};
  if (!plan->block.loops[loop].skips)
    return;
  put(&text, "plan: loop %d: tiles that a mask rules out are left out; %.0f %% of the iterations are run", loop,
      100 * mirage__block_share(&plan->block, loop));
  double whole = mirage__block_certain_share(&plan->block, loop);
  if (whole > 0)
    put(&text, ", %.0f %% of these without a mask", 100 * whole);
  say(plan, &text);
}

static void explain_plan(const Plan *plan) {
  for (int32_t i = 0; i < plan->block.team.num_actors; i++)
    explain_actor(plan, i);
  explain_groups(plan);
  explain_rows(plan);
  for (int32_t i = 0; i < plan->block.num_channels; i++)
    explain_channel(plan, &plan->block.channels[i]);
  for (int32_t l = 0; l < plan->block.num_loops; l++)
    explain_overlap(plan, l);
  for (int32_t l = 0; l < plan->block.num_loops; l++)
    explain_maxima(plan, l);
  for (int32_t l = 0; l < plan->block.num_loops; l++)
    explain_bounds(plan, l);
}

static void explain_forms(const Plan *plan) {
  for (uint32_t i = 0; mirage__form_name(i); i++) {
    Text text = {0};
    put(&text, "form: %s: %s%s", mirage__form_name(i), plan->why[i] ? "no: " : "taken",
        plan->why[i] ? plan->why[i] : "");
    say(plan, &text);
  }
}

// What the graph holds says who does what; which forms were tried on the way is found by planning what was asked for
// once more.
static MirageStatus explain_kernel(const MirageUGraph *graph, MirageUGraph *asked, MirageNode custom,
                                   const MirageTarget *target, const MirageDiag *diag) {
  MirageArena arena;
  Plan plan;
  mirage_arena_init(&arena, NULL);
  MirageStatus status = mirage__plan_read(graph, custom, target, &arena, diag, &plan);
  if (status == MIRAGE_OK) {
    explain_plan(&plan);
    mirage__plan_forget(asked, custom, NULL);
    status = mirage__plan_make(asked, custom, target, &arena, NULL, &plan);
  }
  if (status == MIRAGE_OK) {
    plan.diag = diag;
    explain_forms(&plan);
  }
  mirage_arena_deinit(&arena);
  return status;
}

MirageStatus mirage_layout_explain(const MirageUGraph *graph, const MirageTarget *target, const MirageDiag *diag) {
  MirageUGraph *asked;
  MIRAGE_TRY(mirage_ugraph_clone(graph, diag, &asked));
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  MirageStatus status = MIRAGE_OK;
  for (uint32_t i = 0; i < body.num_nodes && status == MIRAGE_OK; i++)
    if (mirage_ugraph_node(graph, body.nodes[i]).op == MIRAGE_OP_CUSTOM)
      status = explain_kernel(graph, asked, body.nodes[i], target, diag);
  mirage_ugraph_destroy(asked);
  return status;
}
