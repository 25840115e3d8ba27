// replay_load.c - loads and stores of a candidate: which axes its blocks and loops split, and how.
//
// A parallel axis must be split alike by all tiles of a kernel, and then counts for nothing: every element along it is
// computed on its own. What splits the loop's axis makes a tile one of several parts: it is noted in `apart` until the
// parts are added, by the loop, by the blocks of the grid, or, when they are stored side by side, along a dimension of
// the tensor in device memory by a kernel that loads them.
#include "search/block/search_structure.h"
#include "search/replay/replay_internal.h"
#include <string.h>

static ReplayKernel *kernel_of(ReplayWalk *walk) { return &walk->kernels[walk->num_kernels - 1]; }

// Axes that blocks split together go by one name.
static uint32_t name_of(const ReplayWalk *walk, uint32_t axis) { return walk->space->program->axes[axis].tied; }

static bool is_loop_axis(const ReplayWalk *walk, uint32_t axis) {
  if (walk->whole)
    return !search_axis_is_parallel(&walk->space->program->axes[axis]);
  return axis == walk->space->loop_axis;
}

// The tensor of an input: in tiles of the loop's axis, or whole.
bool mirage__replay_input(ReplayWalk *walk, MirageNode at, uint32_t input, bool split, uint32_t *out_tensor) {
  SearchSpace *space = walk->space;
  uint32_t walked = walk->num_kernels ? kernel_of(walk)->num_walked : 0, stage = SEARCH_INSIDE + 2 * walked;
  for (uint32_t i = 1; i <= space->num_tensors; i++) {
    const SearchTensor *tensor = &space->tensors[i];
    bool right_stage = tensor->stage == (split ? stage : SEARCH_BEFORE);
    for (uint32_t d = tensor->derivations; d && right_stage; d = space->derivations[d].next)
      if (space->derivations[d].op == MIRAGE_OP_LOAD && space->derivations[d].a == input) {
        *out_tensor = i;
        mirage__replay_choose_leaf(walk, d, i);
        return true;
      }
  }
  if (split && walked >= space->num_loops)
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_AXIS, "%u loops walk one axis after the other", walked + 1);
  if (split && !walk->fused)
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_AXIS, "input %u does not walk the loop's axis", input);
  return mirage__replay_cut(walk, at, MIRAGE_REPLAY_MEMORY,
                            "the smallest tile of input %u does not fit shared memory%s", input,
                            split ? "" : " unless the loop walks it");
}

// Notes that a coordinate splits an axis: it may split no other in this kernel.
static bool note_coordinate(ReplayWalk *walk, MirageNode at, uint32_t coordinate, uint32_t axis) {
  ReplayKernel *kernel = kernel_of(walk);
  char one[48], other[48];
  if (kernel->axis[coordinate] && kernel->axis[coordinate] != name_of(walk, axis))
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_AXIS, "%s splits %s and %s",
                              coordinate < REPLAY_LOOPS ? "one axis of the grid" : "one loop",
                              mirage__replay_axis_name(walk, kernel->axis[coordinate], one, sizeof one),
                              mirage__replay_axis_name(walk, axis, other, sizeof other));
  kernel->axis[coordinate] = (uint8_t)name_of(walk, axis);
  return true;
}

// All tiles of a kernel split a parallel axis alike.
static bool bind_parallel(ReplayWalk *walk, MirageNode at, uint32_t axis, uint8_t mask) {
  ReplayKernel *kernel = kernel_of(walk);
  char name[48];
  if (mask >> REPLAY_LOOPS)
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_AXIS, "a loop walks %s, which is an axis of the output",
                              mirage__replay_axis_name(walk, axis, name, sizeof name));
  if (kernel->bound[axis] && kernel->mask[axis] != mask)
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_AXIS, "tiles hold different parts of %s",
                              mirage__replay_axis_name(walk, axis, name, sizeof name));
  kernel->bound[axis] = true;
  kernel->mask[axis] = mask;
  int64_t parts = 1;
  for (uint32_t g = 0; g < 3; g++)
    parts *= mask >> g & 1 ? kernel->extent[g] : 1;
  kernel->parts[axis] = parts;
  return true;
}

static void count_split(ReplayKernel *kernel, uint8_t mask) {
  int64_t split = 1, range = 1;
  for (uint32_t c = 0; c < REPLAY_COORDINATES; c++)
    if (mask >> c & 1)
      *(c < REPLAY_LOOPS ? &split : &range) *= kernel->extent[c];
  kernel->split = split > kernel->split ? split : kernel->split;
  kernel->range = range > kernel->range ? range : kernel->range;
}

// --------------------------------------------------------------------------------------------- loads

// The coordinates that split dimension `dim`; grid axes come before loops.
static uint8_t mask_of(const ReplayKernel *kernel, const MirageAccessAttrs *access, uint32_t dim) {
  uint8_t mask = 0;
  for (uint32_t c = 0; c < REPLAY_COORDINATES; c++) {
    bool loop = c >= REPLAY_LOOPS;
    if (loop && c - REPLAY_LOOPS >= kernel->num_loops)
      break;
    if ((loop ? access->loop[c - REPLAY_LOOPS] : access->grid[c]) == (int32_t)dim && kernel->extent[c] > 1)
      mask |= (uint8_t)(1u << c);
  }
  return mask;
}

// Splits the parts that lie along a dimension: each block or iteration gets some of them. What is left of the mask
// splits the dimension itself.
static bool split_parts(ReplayWalk *walk, MirageNode at, uint32_t dim, uint8_t *mask, ReplayValue *value) {
  ReplayKernel *kernel = kernel_of(walk);
  kernel->adds_parts |= value->parts[dim] > 1;
  for (uint32_t c = 0; c < REPLAY_COORDINATES && value->parts[dim] > 1; c++) {
    if (!(*mask >> c & 1))
      continue;
    if (value->parts[dim] % kernel->extent[c] != 0)
      return mirage__replay_cut(walk, at, MIRAGE_REPLAY_AXIS, "%lld parts of a sum are divided into %lld",
                                (long long)value->parts[dim], (long long)kernel->extent[c]);
    value->parts[dim] /= kernel->extent[c];
    value->apart |= (uint8_t)(1u << c);
    *mask &= (uint8_t)~(1u << c);
  }
  return true;
}

// One dimension of a load, after the parts along it. `dim`: as the tensor has it.
static bool load_dim(ReplayWalk *walk, MirageNode at, uint8_t dim, uint8_t mask, ReplayValue *value) {
  uint32_t axis = mirage__search_axis_of(dim);
  ReplayKernel *kernel = kernel_of(walk);
  char name[48];
  for (uint32_t c = 0; c < REPLAY_COORDINATES; c++)
    if (mask >> c & 1 && !note_coordinate(walk, at, c, axis))
      return false;
  if (!axis)
    return !mask || mirage__replay_cut(walk, at, MIRAGE_REPLAY_AXIS, "a dimension of extent 1 is split");
  if (search_axis_is_parallel(&walk->space->program->axes[axis]))
    return bind_parallel(walk, at, axis, mask);
  if (!mask)
    return true;
  if (!is_loop_axis(walk, axis))
    return mirage__replay_cut(
        walk, at, MIRAGE_REPLAY_AXIS, "%s is split, which %s", mirage__replay_axis_name(walk, axis, name, sizeof name),
        walk->space->loop_axis ? "is not the axis of the other loads" : "is summed without a loop");
  if (dim & SEARCH_WHOLE)
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_AXIS, "a tensor that another kernel computed is split along %s",
                              mirage__replay_axis_name(walk, axis, name, sizeof name));
  value->apart |= mask;
  count_split(kernel, mask);
  return true;
}

// Whether an input's load is split along the loop's axis, or read as if it were.
static bool loads_tiles(const ReplayWalk *walk, uint32_t input, const MirageAccessAttrs *access) {
  const SearchProgram *program = walk->space->program;
  MirageValue value = mirage_ugraph_get_input(program->graph, input);
  if (walk->whole || !walk->space->loop_axis)
    return false;
  for (uint32_t d = 0; d < mirage_ugraph_type(program->graph, value)->rank; d++)
    if (program->dims[value.index][d] == walk->space->loop_axis)
      return walk->fused || (access && mask_of(&walk->kernels[walk->num_kernels - 1], access, d));
  return false;
}

bool mirage__replay_load_whole(ReplayWalk *walk, MirageNode at, ReplayValue *in_out_value) {
  uint32_t input = in_out_value->tensor;
  *in_out_value = (ReplayValue){.kind = REPLAY_TENSOR};
  return mirage__replay_input(walk, at, input, loads_tiles(walk, input, NULL), &in_out_value->tensor);
}

bool mirage__replay_load(ReplayWalk *walk, MirageNode at, const MirageNodeView *node) {
  const SearchProgram *program = walk->space->program;
  ReplayValue value = walk->values[node->operands[0].index];
  const MirageAccessAttrs *access = &node->attrs->access;
  uint32_t rank = mirage_ugraph_type(walk->graph, node->operands[0])->rank;
  bool input = value.kind == REPLAY_INPUT;
  if (access->cyclic) // search/masks makes such of what is searched, for masks
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_AXIS,
                              "it is cyclic, and the search splits an axis in one piece a block");
  for (uint32_t d = 0; d < rank && (input || value.kind == REPLAY_TENSOR); d++) {
    uint8_t mask = mask_of(kernel_of(walk), access, d);
    if (!split_parts(walk, at, d, &mask, &value))
      return false;
    uint8_t dim = input ? program->dims[mirage_ugraph_get_input(program->graph, value.tensor).index][d]
                        : mirage__replay_dim(walk, &value, rank, d);
    if (!load_dim(walk, at, dim, mask, &value))
      return false;
  }
  if (input) {
    uint32_t number = value.tensor;
    value.kind = REPLAY_TENSOR;
    if (!mirage__replay_input(walk, at, number, loads_tiles(walk, number, access), &value.tensor))
      return false;
  }
  value.filled = access->fill == MIRAGE_FILL_BOTTOM;
  walk->values[node->first_result.index] = value;
  return true;
}

// -------------------------------------------------------------------------------------------- stores

// One coordinate at a store: it names the dimension of the axis that it splits, or puts parts side by side.
static bool store_coordinate(ReplayWalk *walk, MirageNode at, uint32_t rank, int32_t dim, uint32_t coordinate,
                             ReplayValue *value) {
  ReplayKernel *kernel = kernel_of(walk);
  uint32_t axis = kernel->axis[coordinate];
  bool apart = value->apart >> coordinate & 1, loop = coordinate >= REPLAY_LOOPS;
  char name[48];
  if (dim < 0 && !apart) {
    if (loop)
      return mirage__replay_cut(walk, at, MIRAGE_REPLAY_AXIS, "each iteration stores the same");
    for (uint32_t d = 0; d < rank; d++)
      if (axis && name_of(walk, mirage__search_axis_of(mirage__replay_dim(walk, value, rank, d))) == axis &&
          search_axis_is_parallel(&walk->space->program->axes[axis]))
        return mirage__replay_cut(walk, at, MIRAGE_REPLAY_AXIS, "blocks that split %s store to the same place",
                                  mirage__replay_axis_name(walk, axis, name, sizeof name));
    return true;
  }
  if (dim < 0)
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_AXIS, "%s that hold parts of a sum store to the same place",
                              loop ? "iterations" : "blocks");
  uint32_t held = name_of(walk, mirage__search_axis_of(mirage__replay_dim(walk, value, rank, (uint32_t)dim)));
  value->apart &= (uint8_t)~(1u << coordinate);
  if (axis && held == axis && !(apart && value->summed))
    return true; // the tiles make up the axis again
  if (!apart)
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_AXIS, "%s that split %s are stored along %s",
                              loop ? "iterations" : "blocks", mirage__replay_axis_name(walk, axis, name, sizeof name),
                              held ? "another axis" : "none");
  value->parts[dim] = (value->parts[dim] > 1 ? value->parts[dim] : 1) * kernel->extent[coordinate];
  return true;
}

bool mirage__replay_store(ReplayWalk *walk, MirageNode at, const MirageNodeView *node, MirageValue result) {
  ReplayValue value = walk->values[node->operands[0].index];
  const MirageAccessAttrs *access = &node->attrs->access;
  uint32_t rank = mirage_ugraph_type(walk->graph, node->operands[0])->rank;
  ReplayKernel *kernel = kernel_of(walk);
  if (!mirage__replay_settle(walk, at, &value))
    return false;
  for (uint32_t c = 0; c < REPLAY_LOOPS + kernel->num_loops && value.kind == REPLAY_TENSOR; c++) {
    int32_t dim = c < REPLAY_LOOPS ? access->grid[c] : access->loop[c - REPLAY_LOOPS];
    if (kernel->extent[c] > 1 && !store_coordinate(walk, at, rank, dim, c, &value))
      return false;
  }
  if (walk->values[result.index].kind != REPLAY_UNKNOWN)
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_OPERATOR, "a second store to the same result");
  walk->values[result.index] = value;
  return true;
}
