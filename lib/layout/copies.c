// copies.c - which loads the copy engine does, how their tiles lie for it, and which warps issue the copies.
//
// A landing asked for by hand is kept where hardware and shapes allow; otherwise the load lands by cp.async, which
// serves everything, and a remark says why. So does the same schedule on a GPU without a copy engine, silently.
//
// Tensor copies take boxes of a tensor and write zeros for what lies outside. They know of the tensor's own end only: a
//          tile that is cut short by a chunk of the grid or a loop would get its neighbour's elements.
// Bulk copies take contiguous bytes: the rows of a tile, which all must lie inside the tensor.
// Layout:  rows of 32, 64 or 128 bytes are swizzled as the hardware does it; others are cut into panels of the longest of these
//          that divides them, one copy each, or of 128 bytes, the last of which they fill in part; what fits neither lies dense.
// Roles:   the first producer issues the copies of the whole block graph; consumers do everything else.
//          Without a copy engine, or anything for it to copy, there are only workers.
#include "plan.h"

#include <math.h>
#include <string.h>

enum {
  LINE_BYTES = 128,
  SHORTEST_LINE = 32,
  MOST_BOX = 256,
  LEAST_PAIRED = 24,
  GROUP_WARPS = 4,
  USUAL_WORKERS = 8,
};

// ------------------------------------------------------------------------------------------------------------ layouts

static void dense_strides(MirageType *type, int64_t row) {
  int64_t stride = row;
  for (uint32_t i = type->rank; i-- > 0;) {
    type->layout.strides[i] = i + 1 == type->rank ? 1 : stride;
    if (i + 1 < type->rank)
      stride *= type->shape[i];
  }
}

// The longest line that divides a row; or 128 bytes, the last of which the row fills in part, where that wastes little: a copy takes
// as long for a short line.
static int64_t line_of(int64_t row, bool aligned) {
  int64_t line = LINE_BYTES, most_waste = row % SHORTEST_LINE || row % (2 * SHORTEST_LINE) ? 2 * row / 5 : row / 4;
  while (row % line != 0 && line > SHORTEST_LINE)
    line /= 2;
  bool wide =
      aligned && row > LINE_BYTES && row % 16 == 0 && (LINE_BYTES - row % LINE_BYTES) % LINE_BYTES <= most_waste;
  return wide ? LINE_BYTES : row % line ? 0 : line;
}

bool mirage__swizzled_layout(MirageType *type) {
  if (type->rank < 2)
    return false;
  int64_t bytes = mirage_dtype_bytes(type->dtype), width = type->shape[type->rank - 1], row = width * bytes;
  int64_t rows = mirage__panel_rows(type);
  bool aligned = rows % 8 == 0 && type->shape[type->rank - 2] % 8 == 0; // the pattern repeats every 8 rows
  int64_t line = line_of(row, aligned);
  if (!line || (!aligned && (row != line || rows != type->shape[type->rank - 2])))
    return false;
  type->layout.swizzle = line == 128 ? 3 : line == 64 ? 2 : 1;
  type->layout.panel = row > line ? (int32_t)(line / bytes) : 0;
  dense_strides(type, mirage__panel_width(type));
  return true;
}

// Rows one after the other, for a tensor copy.
static bool dense_layout(MirageType *type) {
  if (type->rank == 0)
    return false;
  int64_t width = type->shape[type->rank - 1];
  type->layout.swizzle = 0;
  type->layout.panel = 0;
  dense_strides(type, width);
  return width <= MOST_BOX && width * mirage_dtype_bytes(type->dtype) % 16 == 0 &&
         mirage_type_bytes(type) % LINE_BYTES == 0; // every stage begins on a line
}

MirageLayout mirage__tensor_layout(const MirageType *tile) {
  MirageType type = *tile;
  type.layout = (MirageLayout){.offset = -1};
  if (!mirage__swizzled_layout(&type))
    dense_layout(&type);
  return type.layout;
}

int64_t mirage__box_columns(const MirageType *tile) {
  MirageType type = *tile;
  type.layout = mirage__tensor_layout(tile);
  return tile->rank ? mirage__panel_width(&type) : 1;
}

static bool same_layout(const MirageType *a, const MirageType *b) {
  return a->layout.swizzle == b->layout.swizzle && mirage__panel_width(a) == mirage__panel_width(b) &&
         !memcmp(a->layout.strides, b->layout.strides, a->rank * sizeof *a->layout.strides);
}

bool mirage__is_swizzled_layout(const MirageType *type) {
  MirageType wanted = *type;
  return mirage__swizzled_layout(&wanted) && same_layout(type, &wanted);
}

static bool is_by_hand(const MirageType *type) { return type->space == MIRAGE_SPACE_SHARED && type->layout.planned; }

int64_t mirage__tile_alignment(const MirageType *type, LoadBy by) {
  if (type->layout.swizzle && (by == BY_TENSOR || mirage__is_swizzled_layout(type)))
    return (int64_t)LINE_BYTES << type->layout.swizzle;
  return by == BY_TENSOR ? LINE_BYTES : 16;
}

// ----------------------------------------------------------------------------------------------------------- landings

// Why the tile cannot lie as a tensor copy leaves it, or NULL.
static const char *tensor_layout_reason(const MirageType *tile) {
  MirageType wanted = *tile;
  bool by_hand = is_by_hand(tile), possible = mirage__swizzled_layout(&wanted);
  if (by_hand && possible && same_layout(tile, &wanted))
    return tile->layout.offset > 0 && tile->layout.offset % mirage__tile_alignment(tile, BY_TENSOR)
               ? "its offset is not a multiple of what the swizzle repeats after"
               : NULL;
  if (by_hand || !possible) {
    possible = dense_layout(&wanted);
    if (by_hand && (!possible || !same_layout(tile, &wanted)))
      return "its layout is none that a tensor copy writes";
    if (by_hand && tile->layout.offset > 0 && tile->layout.offset % LINE_BYTES)
      return "its offset is not a multiple of 128";
  }
  if (!possible)
    return "its rows are no multiple of 128 bytes, nor short enough for one copy";
  for (uint32_t i = 0; i + 1 < tile->rank; i++)
    if (tile->shape[i] > MOST_BOX)
      return "it has more than 256 rows";
  return NULL;
}

// Whether an access may reach beyond what it may touch: the tensor's end, or that of a chunk inside it.
static void find_ends(const Plan *plan, MirageNode load, uint32_t dim, bool *tensor_end, bool *chunk_end) {
  int64_t parts[MAX_AXES], chunk[MAX_AXES + 1];
  const MirageAccessAttrs *access = &mirage_ugraph_node(plan->graph, load).attrs->access;
  uint32_t axes = mirage__block_chunks(&plan->block, load, dim, parts, chunk);
  bool window = access->end[dim] != 0; // its end is not the tensor's
  *(window ? chunk_end : tensor_end) |= axes == 0 && access->tiles[dim] != 0;
  for (uint32_t i = 0; i < axes; i++)
    *(i || window ? chunk_end : tensor_end) |= chunk[i + 1] * parts[i] != chunk[i];
}

static const MirageType *tensor_of(const Plan *plan, const BlockLoad *load) {
  MirageValue tensor = mirage_ugraph_node(plan->graph, load->node).operands[0];
  return &plan->types[mirage__block_resolve(&plan->block, tensor).index];
}

// Whether the tile, as it is, is an operand of a product.
static bool multiplies(const Plan *plan, const BlockLoad *load) {
  return mirage__is_operand(&plan->block, load->tile, false);
}

static const char *tensor_reason(const Plan *plan, const BlockLoad *load) {
  const MirageType *tensor = tensor_of(plan, load);
  if (mirage_dtype_is_stored(tensor->dtype) && (mirage_dtype_bits(tensor->dtype) != 8 || !multiplies(plan, load)))
    return "tensor copies are not made of stored types but where bytes are multiplied as they are";
  if (tensor->rank < 1 || tensor->rank > MIRAGE_MAP_RANK)
    return "tensor copies know 1 to 5 dimensions";
  if (tensor->rank > 1 && tensor->shape[tensor->rank - 1] * mirage_dtype_bytes(tensor->dtype) % 16)
    return "rows of the tensor are no multiple of 16 bytes";
  bool tensor_end = false, chunk_end = false;
  for (uint32_t d = 0; d < tensor->rank; d++)
    find_ends(plan, load->node, d, &tensor_end, &chunk_end);
  if (chunk_end)
    return "a chunk of the grid or of a loop cuts it short";
  if (tensor_end && mirage_ugraph_node(plan->graph, load->node).attrs->access.fill != MIRAGE_FILL_ZERO)
    return "what lies outside the tensor is not filled with zeros";
  return tensor_layout_reason(&plan->types[load->tile.index]);
}

static const char *bulk_reason(const Plan *plan, const BlockLoad *load) {
  const MirageType *tensor = tensor_of(plan, load), *tile = &plan->types[load->tile.index];
  bool end = false;
  for (uint32_t d = 0; d < tensor->rank; d++)
    find_ends(plan, load->node, d, &end, &end);
  if (end)
    return "some of it lies outside the tensor";
  if (tensor->rank == 0)
    return "it is a single element";
  if (mirage_dtype_bits(tensor->dtype) < 8)
    return "its elements share bytes";
  uint32_t last = tensor->rank - 1;
  int64_t bytes = mirage_dtype_bytes(tensor->dtype), parts[MAX_AXES], chunk[MAX_AXES + 1];
  uint32_t axes = mirage__block_chunks(&plan->block, load->node, last, parts, chunk);
  for (uint32_t i = 0; i <= axes; i++) // rows begin at sums of chunks
    if (chunk[i] * bytes % 16)
      return "its rows are no multiples of 16 bytes";
  if (tensor->shape[last] * bytes % 16 ||
      mirage_ugraph_node(plan->graph, load->node).attrs->access.begin[last] * bytes % 16)
    return "rows of the tensor or of its window do not begin at multiples of 16 bytes";
  if (!is_by_hand(tile))
    return NULL;
  bool rows = !tile->layout.swizzle && !tile->layout.panel && tile->layout.strides[last] == 1;
  for (uint32_t i = 0; rows && i < last; i++)
    rows = tile->layout.strides[i] * bytes % 16 == 0;
  return rows ? NULL : "its layout does not keep rows in one piece";
}

static void check_copy(Plan *plan, BlockLoad *load) {
  bool is_tensor = load->by == BY_TENSOR;
  const char *reason = NULL;
  if (plan->target->has_tensor_copy)
    reason = is_tensor ? tensor_reason(plan, load) : bulk_reason(plan, load);
  if (reason)
    mirage_diag_emit(plan->diag, MIRAGE_SEVERITY_REMARK, mirage_ugraph_node(plan->graph, load->node).loc,
                     "load: lands by cp.async instead of a %s copy: %s", is_tensor ? "tensor" : "bulk", reason);
  if (reason || !plan->target->has_tensor_copy) {
    load->by = BY_THREADS;
    load->multicast = false;
  }
}

MirageStatus mirage__plan_landings(Plan *plan, const char **out_why) {
  for (uint32_t i = 0; i < plan->block.num_loads; i++) {
    BlockLoad *load = &plan->block.loads[i];
    if (load->by >= BY_BULK)
      check_copy(plan, load);
    plan->copies |= load->by >= BY_BULK;
  }
  if (!plan->copies)
    *out_why = plan->target->has_tensor_copy ? "none is asked for that is possible" : "the GPU has no copy engine";
  return MIRAGE_OK;
}

// The loads of a loop whose sums warpgroups accumulate, both operands from shared memory: the copy engine leaves the
// warps to multiply.
static bool feeds_warpgroups(const Plan *plan, const BlockLoad *load) {
  const Block *block = &plan->block;
  MirageNodeView view;
  for (int32_t s = -1; load->loop >= 0 && mirage__block_next(block, &s, &view);) {
    if (block->steps[s].loop != load->loop || view.num_results != 1 ||
        !block->values[view.first_result.index].warpgroup)
      continue;
    bool feeds = false, all_loads = true;
    for (uint32_t i = 0; i < 2; i++) {
      MirageValue base = mirage__matmul_operand(block, &view, i).base;
      const BlockLoad *other = mirage__block_load(block, base);
      feeds |= other == load;
      all_loads &= other && other->loop == load->loop;
    }
    if (feeds)
      return all_loads;
  }
  return false;
}

static const char *say_of_load(const Plan *plan, const BlockLoad *load, const char *reason) {
  return mirage__plan_say(plan, "load %d: %s", (int)(load - plan->block.loads), reason);
}

// Why the copy engine cannot bring what the planner would have it bring, or NULL.
static const char *own_reason(const Plan *plan, const BlockLoad *load) {
  if (load->by == BY_TENSOR)
    return NULL;
  return load->by != BY_OPEN ? "another landing is asked for" : tensor_reason(plan, load);
}

static void copy_by_engine(Plan *plan, BlockLoad *load, const char **out_why) {
  if (load->by != BY_OPEN)
    return;
  const char *reason = own_reason(plan, load);
  if (reason && !plan->own_copies)
    *out_why = say_of_load(plan, load, reason);
  if (reason)
    return;
  load->by = BY_TENSOR;
  plan->copies = plan->own_copies = true;
  *out_why = NULL;
}

// Whether all blocks begin at once: each has a multiprocessor to itself.
static bool is_at_once(const Plan *plan) { return mirage__block_grid(&plan->block) <= plan->target->num_sms; }

// A length, say: each thread reads it where it asks for it (choose.c), and no other load waits for that.
static bool is_one_index(const Plan *plan, const BlockLoad *load) {
  const MirageType *tile = &plan->types[load->tile.index];
  return load->by == BY_OPEN && mirage_type_elements(tile) == 1 &&
         mirage_dtype_family(tile->dtype) == MIRAGE_FAMILY_INDEX;
}

// Attention of 16 x 256 queries and 4096 keys in 128 blocks of eight iterations, H100: 18.6 us, 16.4 ahead; of 8 x 1024 queries and
// keys in 128 blocks of four: 16.7, 14.8.
int32_t mirage__least_ahead(bool at_once) { return at_once ? 4 : 8; }

// Whether warps multiply in the loop what they have computed of another product: attention of few queries.
static bool warps_multiply_on(const Block *block, int32_t loop) {
  bool on = false;
  MirageNodeView view;
  for (int32_t s = block->loops[loop].begin; mirage__block_next(block, &s, &view) && s < block->loops[loop].end;)
    if (mirage__is_product(view.op)) {
      if (block->values[view.first_result.index].warpgroup)
        return false;
      on |= mirage__block_operand_in_cells(block, &view);
    }
  return on;
}

// Warps that wait for tiles alone, not for each other to load some, are faster by 4 to 15 % where each block has a multiprocessor to
// itself (H100, 32 heads of 16 queries and 4096 keys: 18.7 us, 15.9; 17.0, 16.2).
static bool may_feed(const Plan *plan, int32_t loop) {
  bool at_once = is_at_once(plan);
  if (plan->block.loops[loop].range >= mirage__least_ahead(at_once) && !mirage__overlap_reason(&plan->block, loop))
    return true;
  return at_once && plan->block.loops[loop].range > 1 && mirage__team_warps(&plan->block.team) <= USUAL_WORKERS &&
         warps_multiply_on(&plan->block, loop);
}

// Attention: the copy engine brings everything that its loop loads, and what its early products take from outside, but for single
// indices; or nothing, since a loop that waits for one load by itself waits for all.
static void feed_ahead(Plan *plan, int32_t loop, const char **out_why) {
  if (!may_feed(plan, loop))
    return;
  BlockLoad *loads = plan->block.loads, *end = loads + plan->block.num_loads;
  for (BlockLoad *load = loads; load < end; load++) {
    const char *reason = load->loop == loop && !is_one_index(plan, load) ? own_reason(plan, load) : NULL;
    if (reason) {
      *out_why = say_of_load(plan, load, reason);
      return;
    }
  }
  plan->own_ahead = true;
  for (BlockLoad *load = loads; load < end; load++)
    if ((load->loop == loop && !is_one_index(plan, load)) || mirage__block_feeds_early(&plan->block, loop, load->tile))
      copy_by_engine(plan, load, out_why);
}

MirageStatus mirage__plan_own_copies(Plan *plan, const char **out_why) {
  *out_why = plan->target->has_tensor_copy ? "no loop whose schedule is open feeds warpgroups from loads alone"
                                           : "the GPU has no copy engine";
  for (uint32_t i = 0; plan->target->has_tensor_copy && i < plan->block.num_loads; i++)
    if (feeds_warpgroups(plan, &plan->block.loads[i]))
      copy_by_engine(plan, &plan->block.loads[i], out_why);
  for (int32_t l = 0; plan->target->has_tensor_copy && l < plan->block.num_loops; l++)
    feed_ahead(plan, l, out_why);
  return MIRAGE_OK;
}

// -------------------------------------------------------------------------------------------------------------- roles

enum { PRODUCER_WARPS = 4, PRODUCER_REGISTERS = 40, MOST_REGISTERS = 240 };

// Producers come to the meetings of a cluster outside loops only.
static bool meets_in_loop(const Block *block) {
  for (int32_t i = 0; i < block->num_meetings; i++) {
    const BlockMeeting *meeting = &block->meetings[i];
    if (meeting->cluster && (meeting->loop >= 0 || block->steps[meeting->end].loop >= 0))
      return true;
  }
  return false;
}

static const char IN_LOOP[] = "blocks of the cluster meet in a loop, where producers do not come";

// Whether no second block comes to the multiprocessor, for want of blocks or of room beside the tiles that the copy engine brings
// (fit.c): nobody computes there while this block waits or multiplies.
static bool is_alone(const Plan *plan) {
  if (is_at_once(plan))
    return true;
  int64_t bytes = 0;
  for (uint32_t i = 0; i < plan->block.num_loads; i++) {
    const BlockLoad *load = &plan->block.loads[i];
    bytes += mirage_type_bytes(&plan->types[load->tile.index]) * (load->loop < 0 ? 1 : SHARING_STAGES);
  }
  return bytes > mirage__shared_of_two(plan->target);
}

static const char *no_producer(const Plan *plan, int32_t workers) {
  if (mirage__has_producer(&plan->block.team))
    return "roles are asked for";
  if (mirage__team_first(&plan->block.team, ACTOR_SIDE))
    return "side blocks have no producer";
  if (!plan->own_copies)
    return "no tensor copies are the planner's";
  if (plan->own_ahead && !is_alone(plan))
    return "blocks beside this one compute while it waits";
  if (!plan->warps_open)
    return "the number of warps is asked for";
  if (workers % 4)
    return "the warps are no whole warpgroups";
  if (plan->own_ahead && workers < 2 * GROUP_WARPS && !is_at_once(plan))
    return "one warpgroup alone has nobody to take turns with";
  return meets_in_loop(&plan->block) ? IN_LOOP : NULL;
}

bool mirage__pairs_at_once(double blocks, double rows_and_columns, bool torn, const MirageTarget *target) {
  const double least_share = 0.75; // of the multiprocessors
  // Of 128 x 256, or 192 x 192: what neighbours load of smaller tiles leaves L2 once anyway. Torn rows are asked for twice.
  enum { LEAST_SIDES = 384, LEAST_TORN = 256 };
  return rows_and_columns >= (torn ? LEAST_TORN : LEAST_SIDES) && blocks >= least_share * target->num_sms &&
         blocks <= target->num_sms;
}

bool mirage__pairs_far(double blocks, double bytes, const MirageTarget *target) {
  const double least_share = 0.65; // of the multiprocessors
  const double least_bytes = 24e6; // of an operand that has left L2 before the others ask for it
  return bytes >= least_bytes && blocks >= least_share * target->num_sms && blocks <= target->num_sms;
}

bool mirage__long_boxes(const MirageType *tile) {
  enum { LEAST_ROW = 64 }; // bytes
  return tile->rank > 0 && tile->shape[tile->rank - 1] * mirage_dtype_bits(tile->dtype) / 8 % LEAST_ROW == 0;
}

bool mirage__copies_alike(const Block *block, const BlockLoad *load, uint32_t axis) {
  return load->by == BY_TENSOR && load->loop >= 0 &&
         mirage_ugraph_node(block->graph, load->node).attrs->access.grid[axis] < 0;
}

static int64_t shared_bytes(const Plan *plan, uint32_t axis) {
  int64_t bytes = 0;
  for (uint32_t i = 0; i < plan->block.num_loads; i++)
    if (mirage__copies_alike(&plan->block, &plan->block.loads[i], axis))
      bytes += mirage_type_bytes(&plan->types[plan->block.loads[i].tile.index]);
  return bytes;
}

bool mirage__rows_are_torn(const MirageType *tensor) {
  return tensor->rank > 0 && tensor->shape[tensor->rank - 1] * mirage_dtype_bits(tensor->dtype) / 8 % LINE_BYTES;
}

// Whether rows of what the copy engine brings in loops begin in the midst of a line of L2: more of it moves than is asked for. Not of
// what leads to a loop: it comes once.
static bool is_torn(const Plan *plan) {
  for (uint32_t i = 0; i < plan->block.num_loads; i++) {
    const BlockLoad *load = &plan->block.loads[i];
    bool looped = load->loop >= 0 && !mirage__block_leads(&plan->block, load->loop);
    if (load->by == BY_TENSOR && looped && mirage__rows_are_torn(tensor_of(plan, load)))
      return true;
  }
  return false;
}

static bool has_loop_of(const Plan *plan, int64_t iterations) {
  for (int32_t l = 0; l < plan->block.num_loops; l++)
    if (plan->block.loops[l].range >= iterations)
      return true;
  return false;
}

// Rows of the products of loops, and the columns of all whose sums are their own.
static double rows_and_columns(const Plan *plan) {
  double rows = 0, columns = 0;
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(&plan->block, &s, &view);) {
    int32_t loop = plan->block.steps[s].loop;
    if (!mirage__is_product(view.op) || loop < 0 || mirage__block_leads(&plan->block, loop))
      continue;
    const MirageType *result = mirage_ugraph_type(plan->graph, view.first_result);
    rows = fmax(rows, (double)result->shape[result->rank - 2]);
    columns += (double)result->shape[result->rank - 1];
  }
  return rows + columns;
}

// Of so many blocks, which all begin at once, L2 is what products of large tiles wait for: most multiprocessors are at work.
static bool fills_at_once(const Plan *plan) {
  return mirage__pairs_at_once(mirage__block_grid(&plan->block), rows_and_columns(plan), is_torn(plan), plan->target) &&
         has_loop_of(plan, MIRAGE_PAIRED_AT_ONCE);
}

// Blocks that differ in y or z of the grid are no neighbours: what they both load comes out of device memory for each, unless two of them
// share it. (H100: 384 x 4096 x 4096 in 96 tiles 37.1 us, 27.8 in pairs; 300 x 4096 x 8192 36.2, 33.2; 256 x 2560 x 9728 28.2, 24.7; 256 x
// 5120 x 5120 in 80 tiles 27.9, 29.1. Of weights of 8 MB 18.9, 22.6. In tiles of 112 and 120 columns, whose boxes have rows of 32 and 16
// bytes: 36.5 and 41.0 where others take 28.5.)
static uint32_t far_axis(const Plan *plan) {
  uint32_t best = 0;
  double most = 0;
  for (uint32_t axis = 1; axis < 3; axis++)
    for (uint32_t i = 0; mirage__block_custom(&plan->block)->grid[axis] % PAIR == 0 && i < plan->block.num_loads; i++) {
      const BlockLoad *load = &plan->block.loads[i];
      double bytes = (double)mirage_type_bytes(tensor_of(plan, load));
      if (mirage__copies_alike(&plan->block, load, axis) && bytes > most &&
          mirage__long_boxes(&plan->types[load->tile.index])) {
        most = bytes;
        best = axis + 1;
      }
    }
  return mirage__pairs_far(mirage__block_grid(&plan->block), most, plan->target) ? best : 0;
}

// L2 is what large products wait for: blocks in twos share the larger operand. Short ones begin and end more often than that is worth
// (1024 x 1024 x 4096, H200: 13.5 us, 15.0 in pairs), and where all tiles begin at once a pair waits for its two beginnings: there
// loops have to be longer still (H100, 1500 x 3000 x 3000 in 128 tiles: 60.7 us, 48.5 in pairs; 1000 x 4096 x 4096: 57.1, 48.8), and tiles
// large (1000 x 4096 x 1024 in tiles of 64 x 128: 15.9 us, 21.7 in pairs).
static uint32_t choose_pairs(const Plan *plan) {
  const MirageCustomAttrs *custom = mirage__block_custom(&plan->block);
  uint32_t best = 0;
  if (!plan->target->has_cluster || mirage__block_cluster(&plan->block) > 1 || plan->block.num_meetings > 0)
    return 0;
  if (is_at_once(plan) && !fills_at_once(plan))
    return has_loop_of(plan, MIRAGE_PAIRED_AT_ONCE) ? far_axis(plan) : 0;
  if (!is_at_once(plan) && !has_loop_of(plan, LEAST_PAIRED) && !is_torn(plan))
    return 0;
  for (uint32_t axis = 0; axis < 3; axis++)
    if (custom->grid[axis] % PAIR == 0 && shared_bytes(plan, axis) > (best ? shared_bytes(plan, best - 1) : 0))
      best = axis + 1;
  return best;
}

// A multiprocessor for each block: its warps divide all registers.
static void stand_alone(const Plan *plan, int32_t workers, Team *team) {
  int32_t left = plan->target->registers_per_sm - PRODUCER_WARPS * 32 * PRODUCER_REGISTERS;
  int32_t registers = left / (workers * 32) / 8 * 8;
  team->num_actors = 2;
  team->actors[0] = (Actor){.kind = ACTOR_PRODUCER, .warps = PRODUCER_WARPS, .registers = PRODUCER_REGISTERS};
  team->actors[1] = (Actor){
      .kind = ACTOR_CONSUMER, .warps = workers, .registers = registers < MOST_REGISTERS ? registers : MOST_REGISTERS};
}

MirageStatus mirage__plan_own_producer(Plan *plan, const char **out_why) {
  int32_t warps = mirage__team_warps(&plan->block.team);
  int32_t workers = warps < USUAL_WORKERS || warps == MIRAGE_THREE_GROUPS ? warps : USUAL_WORKERS;
  if (plan->own_producer)
    return MIRAGE_OK;
  *out_why = no_producer(plan, workers);
  if (*out_why)
    return MIRAGE_OK;
  Block again = plan->block;       // as far as it is decided
  bool product = !plan->own_ahead; // attention waits for products and exponentials, not for L2 or for its first tiles
  bool in_groups = product && mirage__plan_in_groups(plan);
  bool beside = product && !in_groups && mirage__plan_beside(plan, &again.team);
  if (!beside)
    stand_alone(plan, in_groups ? USUAL_WORKERS : workers, &again.team);
  if (in_groups)
    again.team.groups = USUAL_WORKERS / GROUP_WARPS;
  if (product && !beside && mirage__block_grid(&plan->block) > plan->target->num_sms)
    again.persistent = plan->target->num_sms;
  // More tiles than multiprocessors: those at work at one time share rows and columns, which then come out of L2.
  const int64_t *grid = mirage__block_custom(&plan->block)->grid;
  if (again.tile_order == MIRAGE_ORDER_AUTO && product && grid[0] > 1 && grid[1] > 1 &&
      mirage__block_grid(&plan->block) > plan->target->num_sms)
    again.tile_order = MIRAGE_ORDER_GROUPED;
  uint32_t pairs = beside || !product ? 0 : choose_pairs(plan); // beside each other all would wait for their pairs
  for (uint32_t i = 0; pairs && i < again.num_loads; i++)
    again.loads[i].multicast = mirage__copies_alike(&again, &again.loads[i], pairs - 1);
  const Again ask = {mirage__block_schedule(&again), pairs, out_why};
  plan->again = mirage_arena_copy(plan->block.arena, &ask, sizeof ask);
  return plan->again ? MIRAGE_OK : mirage__plan_no_memory(plan);
}

static MirageStatus check_registers(Plan *plan) {
  Team *team = &plan->block.team;
  int32_t warps = mirage__team_warps(team), launch = mirage__launch_registers(warps), total = 0;
  for (int32_t i = 0; i < team->num_actors; i++) {
    Actor *actor = &team->actors[i];
    if (actor->registers && (actor->warps % 4 || mirage__team_first_warp(team, actor) % 4)) {
      mirage_diag_emit(
          plan->diag, MIRAGE_SEVERITY_REMARK, plan->loc,
          "layout: role %d keeps its registers: it has %d warps from warp %d on, only whole groups of 4 can "
          "change them",
          i, actor->warps, mirage__team_first_warp(team, actor));
      actor->registers = 0;
    }
    total += actor->kind == ACTOR_SIDE ? 0 : actor->warps * 32 * (actor->registers ? actor->registers : launch);
  }
  if (total > plan->target->registers_per_sm)
    return mirage_diag_fail(plan->diag, plan->loc, MIRAGE_BAD_ARGUMENT, "layout: roles take %d registers, %s has %d",
                            total, plan->target->name, plan->target->registers_per_sm);
  // Warps wait for what others give back: more than the block begins with never comes.
  if (total > launch * warps * 32)
    return mirage_diag_fail(plan->diag, plan->loc, MIRAGE_BAD_ARGUMENT,
                            "layout: roles take %d registers, a block of %d warps begins with %d, %d of each thread",
                            total, warps, launch * warps * 32, launch);
  return MIRAGE_OK;
}

static void drop_roles(Team *team, int32_t workers) {
  const Actor *side = mirage__team_first(team, ACTOR_SIDE);
  int32_t blocks = side ? side->blocks : 0;
  team->actors[0] = (Actor){.kind = ACTOR_THREADS, .warps = workers};
  team->num_actors = 1;
  team->groups = 0;
  mirage__team_add_side(team, blocks);
}

MirageStatus mirage__plan_roles(Plan *plan, const char **out_why) {
  Team *team = &plan->block.team;
  if (mirage__team_first(team, ACTOR_THREADS)) {
    *out_why = "none are asked for";
    return MIRAGE_OK;
  }
  int32_t workers = mirage__team_workers(team);
  if (workers == 0)
    return mirage_diag_fail(plan->diag, plan->loc, MIRAGE_BAD_ARGUMENT,
                            "layout: all %d warps are producers, nobody consumes", mirage__team_warps(team));
  if (!mirage__has_producer(team) || !plan->copies) {
    *out_why = plan->copies ? "nobody produces" : "there is nothing for a producer to copy";
    if (plan->target->has_tensor_copy)
      mirage_diag_emit(plan->diag, MIRAGE_SEVERITY_REMARK, plan->loc, "layout: no warps get roles of their own: %s",
                       *out_why);
    drop_roles(team, workers * mirage__team_groups(team));
    return MIRAGE_OK;
  }
  if (meets_in_loop(&plan->block))
    return mirage_diag_fail(plan->diag, plan->loc, MIRAGE_UNSUPPORTED, "layout: roles are not possible: %s", IN_LOOP);
  return check_registers(plan);
}
