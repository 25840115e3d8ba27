// replay.c - says of a given µGraph whether the search meets it, and if not, which test cuts which operator.
//
// The search derives its tensors first (one space for each choice of the loop's axis). The candidate is then walked
// operator by operator through these (replay_walk.c): what the search has derived is found again; what it has not is
// tried by the functions of the search itself, and its funnel tells which test cut it. Where the walk ends at the goal,
// the derivations it took are all that extraction gets to see, and the limits on operators are its answer; then the
// schedule step is asked for the grid, the loop's range and the way to combine.
//
// A candidate is read in several ways: for each axis as the loop's, as it is; with what is added element by element and
// summed after the loop as summed in it; and, which puts several kernels into one, with whole dimensions of the loop's
// axis as walked by the loop. The reading that gets furthest counts. Where none is in the space, the kernels are
// replayed as pieces of the program (replay_pieces.c).
#include "mirage/cost.h"
#include "search/block/search_options.h"
#include "search/pieces/search_pieces.h"
#include "search/replay/replay_internal.h"
#include "search/schedule/search_rows.h"
#include "search/schedule/search_schedule.h"
#include "search/views/search_dots.h"
#include "search/views/search_views.h"
#include "search/walk/search_extract.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// As it is; sums that end after the loop as sums in it; and whole dimensions of the loop's axis as walked by the loop.
typedef enum { LITERAL, TILES_FIRST, FUSED, NUM_READINGS } Reading;

const char *mirage_replay_cut_name(MirageReplayCut cut) {
  static const char *const names[] = {"nothing", "operator", "axis",  "expression", "memory",  "order",
                                      "merge",   "value",    "limit", "schedule",   "kernels", "loss"};
  return names[cut];
}

// ---------------------------------------------------------------------------------------------- spaces

static MirageStatus saturate(MirageReplay *replay, ReplayPlan *plan) {
  SearchSpace *space = &plan->space;
  SearchKept kept = {.capacity = 1};
  plan->field = mirage__search_field(&replay->options);
  plan->ready = plan->field != NULL;
  MirageStatus status = MIRAGE_NO_MEMORY;
  if (plan->ready)
    status = mirage__search_space_init(space, &replay->program, &replay->options, plan->loop_axis, plan->num_loops,
                                       replay->share, mirage_field_domain(plan->field), plan->field);
  if (status == MIRAGE_OK)
    status = mirage__search_saturate(space);
  plan->num_derivations = space->num_derivations;
  plan->saturated = !space->stopped;
  if (status == MIRAGE_OK) {
    mirage__search_begin_extract(space, replay->share);
    status = mirage__search_extract(space, NULL, &kept);
  }
  mirage__search_lift_limits(space, false); // the candidate's own tensors are few
  mirage__structure_release(&kept);
  return status;
}

// Every tile is a whole tensor here, and nothing is cut but what has no value.
static MirageStatus fill_whole(MirageReplay *replay) {
  ReplayPlan *plan = &replay->whole;
  replay->whole_target = *replay->options.target;
  replay->whole_target.shared_bytes_per_block = INT32_MAX;
  replay->whole_options = replay->options;
  replay->whole_options.target = &replay->whole_target;
  replay->whole_options.no_prune_expr = true;
  MIRAGE_TRY(mirage__search_program_init(&replay->plain, replay->program.source, NULL));
  plan->field = mirage__search_field(&replay->options);
  plan->ready = plan->field != NULL;
  if (!plan->ready)
    return MIRAGE_NO_MEMORY;
  MirageStatus status = mirage__search_space_init(&plan->space, &replay->plain, &replay->whole_options, 0, 0, 1,
                                                  mirage_field_domain(plan->field), plan->field);
  mirage__search_lift_limits(&plan->space, true);
  return status;
}

// --------------------------------------------------------------------------------------------- limits

// Element-wise operators of the block graph that was walked.
static uint32_t count_elementwise(const ReplayWalk *walk, uint32_t *out_operators) {
  uint32_t count = 0;
  *out_operators = 0;
  for (uint32_t i = 0; i < walk->num_chosen; i++) {
    const SearchDerivation *how = &walk->space->derivations[walk->chosen[i]];
    count += mirage__search_is_elementwise(how->op);
    *out_operators += how->op != MIRAGE_OP_CONSTANT;
  }
  return count;
}

// The structure that was walked; num_nodes is 0 when the walk is cut by a limit.
static MirageStatus find_structure(ReplayWalk *walk, SearchStructure *out) {
  SearchSpace *space = walk->space;
  const MirageSearchOptions *options = space->options;
  const SearchChoice choice = {walk->num_chosen, walk->chosen_tensor, walk->chosen};
  uint32_t operators, elementwise = count_elementwise(walk, &operators);
  MIRAGE_TRY(mirage__search_extract_choice(space, &choice, options->max_block_ops, out));
  if (out->num_nodes && elementwise > space->most_elementwise && space->most_elementwise)
    mirage__replay_cut(walk, (MirageNode){0}, MIRAGE_REPLAY_LIMIT,
                       "it has %u element-wise operators, the search keeps graphs of up to %u: the fewest that any "
                       "needs, and one more",
                       elementwise, space->most_elementwise);
  if (out->num_nodes)
    return MIRAGE_OK;
  MirageStatus status = mirage__search_extract_choice(space, &choice, SEARCH_MAX_NODES, out);
  if (out->num_nodes)
    mirage__replay_cut(walk, (MirageNode){0}, MIRAGE_REPLAY_LIMIT, "it counts %u operators, max-block-ops = %u",
                       out->num_ops, options->max_block_ops);
  else
    mirage__replay_cut(walk, (MirageNode){0}, MIRAGE_REPLAY_LIMIT,
                       "of its %u operators %u are element-wise, more than the program's and one; or it would need a "
                       "maximum's exponential itself",
                       operators, elementwise);
  return status;
}

// ------------------------------------------------------------------------------------------- schedule

// The kernel that walks the loop's axis, or else the first.
static const ReplayKernel *main_kernel(const ReplayWalk *walk) {
  for (uint32_t i = 0; i < walk->num_kernels; i++)
    if (walk->kernels[i].split > 1 || walk->kernels[i].range > 1)
      return &walk->kernels[i];
  return walk->num_kernels ? &walk->kernels[0] : NULL;
}

// The candidate's schedule; the number of kernels it stands for.
static uint32_t read_schedule(const ReplayWalk *walk, const SearchStructure *structure, SearchSchedule *out) {
  const SearchProgram *program = walk->space->program;
  const ReplayKernel *first = main_kernel(walk), *last = first;
  mirage__search_reference_schedule(program, structure, 1, out);
  for (uint32_t i = 0; i < program->num_axes; i++)
    out->parts[i] = first ? first->parts[i] : 1;
  out->split = 1;
  out->combine = SEARCH_BY_NOBODY;
  if (!first)
    return 1;
  if (structure->loop_axis)
    out->parts[structure->loop_axis] = first->range;
  out->split = first->split;
  out->swapped = first->swapped && mirage__search_may_swap(program, structure, walk->space->options->target, out);
  if (out->split == 1)
    return 1;
  out->combine = first->by_cluster ? SEARCH_BY_CLUSTER : first->by_grid ? SEARCH_BY_GRID : SEARCH_BY_KERNEL;
  if (out->combine != SEARCH_BY_KERNEL)
    return 1;
  for (uint32_t i = 0; i < walk->num_kernels; i++)
    if (walk->kernels[i].adds_parts)
      last = &walk->kernels[i];
  for (uint32_t i = 0; i < program->num_axes; i++)
    out->combine_parts[i] = last == first ? 1 : last->parts[i];
  return 2;
}

// The best schedule that the search has for the structure.
static MirageStatus best_schedule(const SearchSpace *space, const SearchStructure *structure, SearchCandidate *out) {
  SearchCandidate *best = calloc(SEARCH_NUM_COMBINES, sizeof *best);
  uint64_t scheduled = 0;
  uint32_t count;
  if (!best)
    return MIRAGE_NO_MEMORY;
  MirageStatus status =
      mirage__search_schedules(space->program, structure, space->options, NULL, 1, best, &count, &scheduled);
  out->time_us = INFINITY;
  for (uint32_t i = 0; i < count; i++)
    if (best[i].time_us < out->time_us)
      *out = best[i];
  free(best);
  return status;
}

static MirageStatus build(const SearchSpace *space, const SearchCandidate *candidate, MirageUGraph **out_graph) {
  MirageStatus status = mirage__search_build(space->program, candidate, 0, NULL, out_graph);
  if (status == MIRAGE_OK)
    return mirage_cost(*out_graph, space->options->target, NULL, &mirage_ugraph_meta(*out_graph)->cost);
  return status == MIRAGE_NO_MEMORY ? status : MIRAGE_OK;
}

// The µGraph of ours: the candidate's schedule where the search tries it, and else its best.
static MirageStatus judge_schedule(ReplayWalk *walk, const SearchStructure *structure, MirageReplayResult *result) {
  const SearchSpace *space = walk->space;
  SearchCandidate candidate = {.structure = structure};
  uint32_t kernels = read_schedule(walk, structure, &candidate.schedule),
           num_kernels = mirage__search_count_kernels(walk->graph);
  char why[160];
  bool tried =
      mirage__search_schedule_is_tried(space->program, structure, space->options, &candidate.schedule, why, sizeof why);
  if (!tried) {
    mirage__replay_cut(walk, (MirageNode){0}, MIRAGE_REPLAY_SCHEDULE, "%s", why);
    MIRAGE_TRY(best_schedule(space, structure, &candidate));
    if (!isfinite(candidate.time_us))
      return MIRAGE_OK;
  }
  if (num_kernels != kernels)
    mirage__replay_cut(walk, (MirageNode){0}, MIRAGE_REPLAY_KERNELS, "its %u kernels are %u in the search", num_kernels,
                       kernels);
  return build(space, &candidate, &result->graph);
}

// -------------------------------------------------------------------------------------------- readings

// Whether the candidate's results are the goals.
static bool ends_at_goals(ReplayWalk *walk) {
  SearchSpace *space = walk->space;
  bool looped = !space->loop_axis;
  for (uint32_t i = 0; i < space->num_goals; i++) {
    MirageValue output = mirage_ugraph_get_output(walk->graph, i);
    MirageNode at = mirage_ugraph_def(walk->graph, output);
    const ReplayValue *value = &walk->values[output.index];
    if (value->kind != REPLAY_TENSOR || value->apart || value->summed)
      return mirage__replay_cut(walk, at, MIRAGE_REPLAY_AXIS, "result %u is not a whole sum", i);
    const SearchTensor *tensor = &space->tensors[value->tensor];
    if (!mirage__search_is_goal(&space->goals[i], tensor))
      return mirage__replay_cut(walk, at, MIRAGE_REPLAY_VALUE, "the values of result %u are not the program's", i);
    looped |= tensor->stage != SEARCH_BEFORE;
  }
  return looped || mirage__replay_cut(walk, (MirageNode){1}, MIRAGE_REPLAY_AXIS, "no result comes out of the loop");
}

static bool is_met(ReplayWalk *walk) {
  return walk->num_unmet == 0 ||
         mirage__replay_cut(walk, (MirageNode){0}, MIRAGE_REPLAY_LIMIT,
                            "the search stops at max-states = %" PRIu64 " before it meets %u of its operators",
                            walk->space->options->max_states, walk->num_unmet);
}

/// How far a reading gets, further ones greater.
static uint32_t progress(const ReplayWalk *walk) {
  switch (walk->cut) {
  case MIRAGE_REPLAY_NONE:
    return UINT32_MAX;
  case MIRAGE_REPLAY_KERNELS:
    return UINT32_MAX - 1;
  case MIRAGE_REPLAY_SCHEDULE:
    return UINT32_MAX - 2;
  default:
    return walk->at.index ? walk->at.index : UINT32_MAX - 3; // cut by a limit after the last operator
  }
}

static MirageStatus read_once(MirageReplay *replay, ReplayPlan *plan, Reading reading, ReplayWalk *walk,
                              MirageReplayResult *result) {
  if (!plan->ready)
    MIRAGE_TRY(saturate(replay, plan));
  SearchStructure *structure = calloc(1, sizeof *structure);
  walk->values = calloc((size_t)mirage_ugraph_num_values(walk->graph) + 1, sizeof *walk->values);
  walk->space = &plan->space;
  walk->saturated = plan->saturated;
  walk->num_met = plan->num_derivations;
  walk->fused = reading == FUSED;
  walk->tiles_first = reading != LITERAL;
  MirageStatus status = structure && walk->values ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK && mirage__replay_walk(walk) && ends_at_goals(walk) && is_met(walk)) {
    status = find_structure(walk, structure);
    count_elementwise(walk, &result->operators);
    result->counted_ops = structure->num_nodes ? structure->num_ops : 0;
    if (status == MIRAGE_OK && structure->num_nodes && walk->cut == MIRAGE_REPLAY_NONE)
      status = judge_schedule(walk, structure, result);
  } else if (status == MIRAGE_OK) {
    status = walk->status;
  }
  free(walk->values);
  free(structure);
  result->merged = walk->num_merged;
  return status;
}

static void take_verdict(const ReplayWalk *walk, MirageReplayResult *result) {
  result->in_space = walk->cut == MIRAGE_REPLAY_NONE;
  result->cut = walk->cut;
  if (walk->at.index) {
    MirageNodeView node = mirage_ugraph_node(walk->graph, walk->at);
    result->op = node.op;
    result->loc = node.loc;
  }
  result->pieces = 1;
  snprintf(result->why, sizeof result->why, "%s", walk->why);
}

// How many loops follow one another in some kernel, at most; where blocks meet, what is before and after may be two.
static uint32_t longest_sequence(const MirageUGraph *graph) {
  uint32_t longest = 0;
  for (uint32_t n = 1; n <= mirage_ugraph_num_nodes(graph); n++) {
    MirageNodeView custom = mirage_ugraph_node(graph, (MirageNode){n});
    if (custom.op != MIRAGE_OP_CUSTOM)
      continue;
    MirageRegionView body = mirage_ugraph_region(graph, custom.region);
    uint32_t count = 0;
    for (uint32_t i = 0; i < body.num_nodes; i++)
      count += mirage_ugraph_node(graph, body.nodes[i]).op == MIRAGE_OP_LOOP;
    for (uint32_t i = 0; i < body.num_nodes; i++)
      if (mirage_op_info(mirage_ugraph_node(graph, body.nodes[i]).op)->kind == MIRAGE_KIND_COLLECTIVE)
        count = SEARCH_MAX_LOOPS;
    longest = count > longest ? count : longest;
  }
  return longest;
}

// All readings; the one that gets furthest, the first of equals.
MirageStatus mirage__replay_whole(MirageReplay *replay, const MirageUGraph *candidate, MirageReplayResult *out_result) {
  *out_result = (MirageReplayResult){0};
  uint32_t best = 0,
           readings = (mirage__search_count_kernels(candidate) > 1 ? NUM_READINGS : FUSED) * replay->num_plans;
  uint32_t sequence = longest_sequence(candidate);
  ReplayWalk *walk = malloc(sizeof *walk);
  MirageStatus status = walk ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < readings && status == MIRAGE_OK && !out_result->in_space; i++) {
    ReplayPlan *plan = &replay->plans[i % replay->num_plans];
    Reading reading = (Reading)(i / replay->num_plans);
    MirageReplayResult result = {0};
    if ((reading != LITERAL && !plan->loop_axis) || (plan->num_loops > 1 && plan->num_loops > sequence))
      continue;
    *walk = (ReplayWalk){.graph = candidate};
    status = read_once(replay, plan, reading, walk, &result);
    if (i > 0 && progress(walk) <= best) {
      mirage_ugraph_destroy(result.graph);
      continue;
    }
    best = progress(walk);
    take_verdict(walk, &result);
    mirage_ugraph_destroy(out_result->graph);
    *out_result = result;
  }
  free(walk);
  return status;
}

// --------------------------------------------------------------------------------------------- by rule

static uint32_t count_nodes(const SearchStructure *structure, uint32_t *out_operators) {
  uint32_t count = 0;
  *out_operators = 0;
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    count += mirage__search_is_elementwise(structure->nodes[i].op);
    *out_operators += structure->nodes[i].op != MIRAGE_OP_CONSTANT;
  }
  return count;
}

static bool has_loop(const ReplayWalk *walk) {
  for (uint32_t i = 0; i < walk->num_kernels; i++)
    if (walk->kernels[i].range > 1 || walk->kernels[i].split > 1)
      return true;
  return false;
}

// An element-wise program is one kernel by rule, whatever the limits (search_pointwise.c): a candidate with as many
// operators that computes the same is that kernel.
static MirageStatus read_pointwise(MirageReplay *replay, const MirageUGraph *candidate, const SearchStructure *rule,
                                   MirageReplayResult *out_result) {
  ReplayWalk *walk = calloc(1, sizeof *walk);
  ReplayValue *values = calloc((size_t)mirage_ugraph_num_values(candidate) + 1, sizeof *values);
  MirageStatus status = walk && values ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  uint32_t operators, walked;
  if (status == MIRAGE_OK) {
    *walk = (ReplayWalk){
        .space = &replay->whole.space, .graph = candidate, .whole = true, .num_met = UINT32_MAX, .values = values};
    bool same = mirage__replay_walk(walk) && ends_at_goals(walk) && !has_loop(walk) &&
                count_elementwise(walk, &walked) == count_nodes(rule, &operators);
    status = walk->status;
    if (same && status == MIRAGE_OK) {
      MirageReplayResult result = {.counted_ops = rule->num_ops, .operators = operators, .merged = walk->num_merged};
      walk->space = &replay->plans[0].space;
      status = judge_schedule(walk, rule, &result);
      take_verdict(walk, &result);
      mirage_ugraph_destroy(out_result->graph);
      *out_result = result;
    }
  }
  free(walk);
  free(values);
  return status;
}

static MirageStatus replay_pointwise(MirageReplay *replay, const MirageUGraph *candidate,
                                     MirageReplayResult *out_result) {
  SearchKept kept = {.capacity = 1};
  MirageStatus status = mirage__search_pointwise(&replay->program, &replay->options, &kept);
  if (status == MIRAGE_OK && kept.num)
    status = read_pointwise(replay, candidate, kept.items[0], out_result);
  mirage__structure_release(&kept);
  return status;
}

// ---------------------------------------------------------------------------------------------- public

static MirageStatus check_ends(const MirageUGraph *program, const MirageUGraph *candidate, const MirageDiag *diag) {
  uint32_t inputs = mirage_ugraph_num_inputs(program), outputs = mirage_ugraph_num_outputs(program);
  if (mirage_ugraph_num_inputs(candidate) != inputs || mirage_ugraph_num_outputs(candidate) != outputs)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_SHAPE,
                            "replay: the program has %u inputs and %u outputs, the candidate %u and %u", inputs,
                            outputs, mirage_ugraph_num_inputs(candidate), mirage_ugraph_num_outputs(candidate));
  for (uint32_t i = 0; i < inputs + outputs; i++) {
    bool in = i < inputs;
    const MirageType *a = mirage_ugraph_type(program, in ? mirage_ugraph_get_input(program, i)
                                                         : mirage_ugraph_get_output(program, i - inputs));
    const MirageType *b = mirage_ugraph_type(candidate, in ? mirage_ugraph_get_input(candidate, i)
                                                           : mirage_ugraph_get_output(candidate, i - inputs));
    char first[64], second[64];
    if (!mirage_type_same_meaning(a, b))
      return mirage_diag_fail(diag, NULL, MIRAGE_BAD_SHAPE, "replay: %s %u is %s in the program, %s in the candidate",
                              in ? "input" : "output", in ? i : i - inputs, mirage_type_format(a, first, sizeof first),
                              mirage_type_format(b, second, sizeof second));
  }
  return MIRAGE_OK;
}

static void add_plan(MirageReplay *replay, uint32_t loop_axis, uint32_t num_loops) {
  replay->plans[replay->num_plans++] = (ReplayPlan){.loop_axis = loop_axis, .num_loops = num_loops};
}

// The search's plans, also those that it takes only when the others find nothing.
static void add_plans(MirageReplay *replay) {
  const SearchProgram *program = &replay->program;
  add_plan(replay, 0, 0);
  for (uint32_t axis = 1; axis < program->num_axes; axis++)
    if (search_axis_is_loop(&program->axes[axis]))
      add_plan(replay, axis, 1);
  replay->share = replay->num_plans;
  for (uint32_t loops = 2; loops <= replay->options.max_loops; loops++)
    for (uint32_t axis = 1; axis < program->num_axes; axis++)
      if (search_axis_is_row(&program->axes[axis]) || (search_axis_is_loop(&program->axes[axis]) && loops == 2))
        add_plan(replay, axis, loops);
}

// Where the search tries sums of rows for products of one row, so does the replay.
static MirageStatus create_dots(MirageReplay *replay, const MirageUGraph *program, const MirageSearchOptions *options,
                                const MirageDiag *diag) {
  const MirageDiag quiet = {0};
  const MirageUGraph *core;
  MIRAGE_TRY(mirage__search_dots(program, diag, &replay->dots));
  if (!replay->dots)
    return MIRAGE_OK;
  MIRAGE_TRY(mirage__search_peel(replay->dots, diag, &replay->dots_views, &core));
  if (!replay->dots_views)
    return MIRAGE_OK;
  MirageStatus status = mirage_replay_create(core, options, &quiet, &replay->of_dots);
  return status == MIRAGE_UNSUPPORTED ? MIRAGE_OK : status;
}

// Changes the result where the candidate is in the space of those.
static MirageStatus replay_dots(MirageReplay *replay, const MirageUGraph *candidate, const MirageDiag *diag,
                                MirageReplayResult *in_out_result) {
  MirageUGraph *core, *wrapped = NULL;
  MirageReplayResult result = {0};
  MIRAGE_TRY(mirage__search_unwrap(replay->dots_views, candidate, &core));
  if (!core)
    return MIRAGE_OK;
  MirageStatus status = mirage_replay_run(replay->of_dots, core, diag, &result);
  if (status == MIRAGE_OK && result.in_space && result.graph)
    status = mirage__search_wrap(replay->dots_views, result.graph, diag, &wrapped);
  mirage_ugraph_destroy(result.graph);
  mirage_ugraph_destroy(core);
  if (status != MIRAGE_OK || !result.in_space)
    return status;
  mirage_ugraph_destroy(in_out_result->graph);
  *in_out_result = result;
  in_out_result->graph = wrapped;
  return MIRAGE_OK;
}

MirageStatus mirage_replay_create(const MirageUGraph *program, const MirageSearchOptions *options,
                                  const MirageDiag *diag, MirageReplay **out_replay) {
  MirageReplay *replay = calloc(1, sizeof *replay);
  *out_replay = NULL;
  if (!replay)
    return MIRAGE_NO_MEMORY;
  MirageStatus status = mirage__search_fill_options(options, diag, &replay->options);
  if (status == MIRAGE_OK)
    status = mirage__search_program_init(&replay->program, program, diag);
  if (status == MIRAGE_OK) {
    mirage__search_allow_more(&replay->program, &replay->options);
    status = mirage__search_drop_stabilisers(&replay->program, &replay->options);
  }
  add_plans(replay);
  if (status == MIRAGE_OK)
    status = create_dots(replay, program, options, diag);
  if (status == MIRAGE_OK)
    *out_replay = replay;
  else
    mirage_replay_destroy(replay);
  return status;
}

MirageStatus mirage_replay_run(MirageReplay *replay, const MirageUGraph *candidate, const MirageDiag *diag,
                               MirageReplayResult *out_result) {
  *out_result = (MirageReplayResult){0};
  MIRAGE_TRY(check_ends(replay->program.source, candidate, diag));
  MirageStatus status = mirage__replay_whole(replay, candidate, out_result);
  if (status == MIRAGE_OK && !out_result->in_space) {
    if (!replay->whole.ready)
      status = fill_whole(replay);
    if (status == MIRAGE_OK)
      status = replay_pointwise(replay, candidate, out_result);
    if (status == MIRAGE_OK && !out_result->in_space)
      status = mirage__replay_pieces(replay, candidate, out_result);
    if (status == MIRAGE_OK && !out_result->in_space && replay->of_dots)
      status = replay_dots(replay, candidate, diag, out_result);
  }
  if (status != MIRAGE_OK) {
    mirage_ugraph_destroy(out_result->graph);
    out_result->graph = NULL;
  }
  return status;
}

static void deinit_plan(ReplayPlan *plan) {
  if (!plan->ready)
    return;
  mirage__search_space_deinit(&plan->space);
  mirage_field_destroy(plan->field);
}

void mirage_replay_destroy(MirageReplay *replay) {
  if (!replay)
    return;
  for (uint32_t i = 0; i < replay->num_plans; i++)
    deinit_plan(&replay->plans[i]);
  deinit_plan(&replay->whole);
  mirage_replay_destroy(replay->of_dots);
  mirage__search_views_destroy(replay->dots_views);
  mirage_ugraph_destroy(replay->dots);
  mirage__search_program_deinit(&replay->plain);
  mirage__search_program_deinit(&replay->program);
  free(replay);
}
