// search_remask.c - puts the masks back: what a candidate loads of a mask, it computes instead.
//
// A tile of a mask is the mask of tiles: of an iota by the index that its block and iteration have, of an i1 input, reshaped
// perhaps, by a load, of what is computed by the same operators. Elements beyond the mask's end get what the load would have filled in.
// Where that is not possible - a mask that holds a reduction, a window, a transposed access - the program's own operators
// compute the mask as a tensor, which the kernel loads.
//
// Example:   load %b {grid = [0], loop = [1]} : tensor<64x64xf16> -> tile<16x32xf16>, b of key <= query:
//              %q = iota {dim = 0, grid = [16]} : tile<16x1xi32>     %k = iota {dim = 1, loop = [32]} : tile<1x32xi32>
//              %c = less_equal %k, %q                                %t = mask %c, 0
#include "search_remask.h"

#include <stdlib.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------------ kernel level

// A value of the program, by the program's own operators.
MirageValue mirage__remask_build(Remask *r, MirageValue v) {
  if (r->built[v.index].index)
    return r->built[v.index];
  MirageNode def = mirage_ugraph_def(program_of(r), v);
  MirageNodeView node = mirage_ugraph_node(program_of(r), def);
  for (uint32_t i = 0; i < node.num_operands; i++)
    mirage__remask_build(r, node.operands[i]);
  mirage_ugraph_copy_nodes(r->to, program_of(r), 1, &def, r->built);
  return r->built[v.index];
}

// What stands for an input of the core, as a tensor.
static MirageValue tensor_for(Remask *r, const MaskInput *input) {
  MirageValue value = mirage__remask_build(r, input->of);
  if (!input->added)
    return value;
  MirageValue zero = mirage_ugraph_constant(r->to, mirage_type_tensor(input->type.dtype, 0, NULL), 0);
  return mirage_ugraph_apply(r->to, MIRAGE_OP_MASK, 2, (MirageValue[]){value, zero}, NULL);
}

// Whether two shapes differ in extents of 1 alone.
static bool same_but_ones(const MirageType *a, const MirageType *b) {
  uint32_t i = 0, j = 0;
  while (i < a->rank || j < b->rank) {
    if (i < a->rank && a->shape[i] == 1)
      i++;
    else if (j < b->rank && b->shape[j] == 1)
      j++;
    else if (i == a->rank || j == b->rank || a->shape[i++] != b->shape[j++])
      return false;
  }
  return true;
}

// What stands for a mask, where v is that, or that with its extents of 1 elsewhere.
static const MaskInput *input_of(const Remask *r, MirageValue v) {
  for (uint32_t i = 0; i < r->masks->num_inputs; i++)
    if (mirage_ugraph_get_input(r->from, i).index == v.index)
      return &r->masks->inputs[i];
  MirageNode def = mirage_ugraph_def(r->from, v);
  MirageNodeView node = def.index ? mirage_ugraph_node(r->from, def) : (MirageNodeView){.op = MIRAGE_OP_NONE};
  bool moved = node.op == MIRAGE_OP_RESHAPE &&
               same_but_ones(mirage_ugraph_type(r->from, v), mirage_ugraph_type(r->from, node.operands[0]));
  return moved ? input_of(r, node.operands[0]) : NULL;
}

// Whether an access of `tensor`, an input with its extents of 1 elsewhere, is one of the input as it lies; which then.
static bool is_as_it_lies(const MaskInput *input, const MirageType *tensor, MirageAccessAttrs *access) {
  uint32_t last = 0;
  bool same = input->type.rank == tensor->rank;
  for (uint32_t d = 0; same && d < tensor->rank; d++) {
    uint32_t dim = mirage_access_dim(access, d);
    bool counts = tensor->shape[dim] > 1;
    same = input->type.shape[d] == tensor->shape[dim] && !access->end[d] && (!counts || dim >= last);
    last = counts ? dim : last;
  }
  memset(access->order, 0, sizeof access->order);
  return same;
}

// --------------------------------------------------------------------------------------------------------- in a block

// What a kernel loads: an input, or one with other extents, which is no more than a view.
static bool is_loaded(const Remask *r, MirageValue v) {
  MirageNode def = mirage_ugraph_def(program_of(r), v);
  MirageNodeView node = def.index ? mirage_ugraph_node(program_of(r), def) : (MirageNodeView){.op = MIRAGE_OP_NONE};
  return !def.index || (node.op == MIRAGE_OP_RESHAPE && is_loaded(r, node.operands[0]));
}

// Whether tiles of it can be computed: by operators on single elements, of indices and inputs.
bool mirage__remask_has_tiles(const Remask *r, MirageValue v) {
  if (is_loaded(r, v))
    return r->masks->pure[v.index];
  MirageNodeView node = mirage_ugraph_node(program_of(r), mirage_ugraph_def(program_of(r), v));
  MirageOpKind kind = mirage_op_info(node.op)->kind;
  bool has = kind == MIRAGE_KIND_IOTA || kind == MIRAGE_KIND_CONSTANT || kind == MIRAGE_KIND_UNARY ||
             kind == MIRAGE_KIND_BINARY || kind == MIRAGE_KIND_CAST || node.op == MIRAGE_OP_BROADCAST;
  for (uint32_t i = 0; has && i < node.num_operands; i++)
    has = mirage__remask_has_tiles(r, node.operands[i]);
  return has;
}

// The steps by which grid axes and loops, without the outermost `outer` of them, move the tile along dimension d. The extent of
// which they walk the parts, where the last part is short; 0: it is not.
static int64_t steps_in(const Tile *t, uint32_t d, uint32_t outer, int64_t grid[3], int64_t loop[MIRAGE_MAX_LOOPS]) {
  int64_t parts[MIRAGE_MAX_SPLITS], chunks[MIRAGE_MAX_SPLITS + 1], *step[MIRAGE_MAX_SPLITS];
  uint8_t splits[MIRAGE_MAX_SPLITS];
  uint32_t count = mirage_access_splits(t->access, d, splits);
  for (uint32_t i = 0; i < count; i++) {
    step[i] = splits[i] < 3 ? &grid[splits[i]] : &loop[splits[i] - 3];
    parts[i] = splits[i] < 3 ? t->scope.grid[splits[i]] : t->scope.ranges[splits[i] - 3];
  }
  mirage_access_chunks(t->access, d, t->tensor->shape[d], count, parts, chunks);
  for (uint32_t i = outer; i < count; i++)
    *step[i] = chunks[i + 1];
  bool is_short =
      outer < count ? parts[outer] * chunks[outer + 1] > chunks[outer] : outer == 0 && chunks[0] != t->tile->shape[d];
  return is_short ? chunks[outer] : 0;
}

// Those of all; whether some part is short.
static bool steps_of(const Tile *t, uint32_t d, int64_t grid[3], int64_t loop[MIRAGE_MAX_LOOPS]) {
  bool any = steps_in(t, d, 0, grid, loop) > 0;
  for (uint32_t outer = 1; outer < MIRAGE_MAX_SPLITS; outer++) {
    int64_t inner_grid[3] = {0}, inner_loop[MIRAGE_MAX_LOOPS] = {0};
    any |= steps_in(t, d, outer, inner_grid, inner_loop) > 0;
  }
  return any;
}

// An index along dimension d of the mask, as a tile of rank `rank` with `extents`.
static MirageValue index_tile(Remask *r, const Tile *t, uint32_t d, uint32_t rank, int32_t dim, const int64_t *extents,
                              int64_t start) {
  MirageAttrs attrs = {.iota = {.type = mirage_type_tile(MIRAGE_I32, rank, extents), .dim = dim, .start = start}};
  if (extents[dim] > 1 || t->tensor->shape[d] > 1)
    steps_of(t, d, attrs.iota.grid, attrs.iota.loop);
  return mirage_ugraph_apply(r->to, MIRAGE_OP_IOTA, 0, NULL, &attrs);
}

// The extents of the tile of a value that stretches to the mask: 1 where it has 1.
void mirage__remask_extents(const Tile *t, const MirageType *type, int64_t *out) {
  for (uint32_t d = 0; d < type->rank; d++)
    out[d] = type->shape[d] == 1 ? 1 : t->tile->shape[d + t->tensor->rank - type->rank];
}

// The part of what is loaded that meets the tile.
static MirageValue load_tile(Remask *r, const Tile *t, MirageValue input) {
  const MirageType *type = mirage_ugraph_type(program_of(r), input);
  uint32_t missing = t->tensor->rank - type->rank;
  MirageAccessAttrs access = {.fill = MIRAGE_FILL_ZERO};
  for (uint32_t a = 0; a < 3; a++) {
    int32_t d = t->access->grid[a] - (int32_t)missing;
    access.grid[a] = (int8_t)(t->access->grid[a] >= 0 && d >= 0 && type->shape[d] > 1 ? d : -1);
  }
  for (uint32_t l = 0; l < MIRAGE_MAX_LOOPS; l++) {
    int32_t d = t->access->loop[l] - (int32_t)missing;
    access.loop[l] = (int8_t)(t->access->loop[l] >= 0 && d >= 0 && type->shape[d] > 1 ? d : -1);
  }
  for (uint32_t d = 0; d < type->rank; d++)
    access.tiles[d] = type->shape[d] > 1 ? t->access->tiles[d + missing] : 0;
  access.cyclic = t->access->cyclic && mirage_access_may_cycle(&access);
  return mirage_ugraph_load(r->to, r->argument[input.index], &access);
}

MirageValue mirage__remask_tile(Remask *r, const Tile *t, MirageValue v) {
  const MirageType *type = mirage_ugraph_type(program_of(r), v);
  if (is_loaded(r, v))
    return load_tile(r, t, v);
  MirageNodeView node = mirage_ugraph_node(program_of(r), mirage_ugraph_def(program_of(r), v));
  int64_t extents[MIRAGE_MAX_RANK];
  MirageValue operands[2] = {{0}};
  mirage__remask_extents(t, type, extents);
  if (node.op == MIRAGE_OP_IOTA)
    return index_tile(r, t, (uint32_t)node.attrs->iota.dim + t->tensor->rank - type->rank, type->rank,
                      node.attrs->iota.dim, extents, node.attrs->iota.start);
  if (node.op == MIRAGE_OP_CONSTANT)
    return mirage_ugraph_constant(r->to, mirage_type_tile(type->dtype, type->rank, extents),
                                  node.attrs->constant.value);
  for (uint32_t i = 0; i < node.num_operands && i < 2; i++)
    operands[i] = mirage__remask_tile(r, t, node.operands[i]);
  if (node.op == MIRAGE_OP_BROADCAST) // whoever reads it stretches it
    return operands[0];
  if (node.op == MIRAGE_OP_CAST)
    return mirage_ugraph_cast(r->to, operands[0], type->dtype);
  return mirage_ugraph_apply(r->to, node.op, node.num_operands, operands, NULL);
}

// Where one of the axes and loops but the first `outer` goes beyond the end of what they walk, what the load says: seen, or
// not seen.
static MirageValue cut_part(Remask *r, const Tile *t, uint32_t d, uint32_t outer, MirageValue predicate) {
  const int64_t one[MIRAGE_MAX_RANK] = {1, 1, 1, 1, 1, 1};
  int64_t extents[MIRAGE_MAX_RANK] = {1, 1, 1, 1, 1, 1};
  uint32_t rank = t->tensor->rank;
  MirageAttrs attrs = {.iota = {.dim = (int32_t)d}};
  int64_t extent = steps_in(t, d, outer, attrs.iota.grid, attrs.iota.loop);
  if (!extent)
    return predicate;
  extents[d] = t->tile->shape[d];
  attrs.iota.type = mirage_type_tile(MIRAGE_I32, rank, extents);
  MirageValue at = mirage_ugraph_apply(r->to, MIRAGE_OP_IOTA, 0, NULL, &attrs);
  MirageValue end = mirage_ugraph_constant(r->to, mirage_type_tile(MIRAGE_I32, rank, one), (double)extent);
  bool bottom = t->access->fill == MIRAGE_FILL_BOTTOM;
  MirageValue inside =
      mirage_ugraph_apply(r->to, bottom ? MIRAGE_OP_LESS : MIRAGE_OP_GREATER_EQUAL, 2, (MirageValue[]){at, end}, NULL);
  return mirage_ugraph_apply(r->to, bottom ? MIRAGE_OP_AND : MIRAGE_OP_OR, 2, (MirageValue[]){predicate, inside}, NULL);
}

// Beyond the end of a mask that is cut short, and of each part whose own parts go beyond it: 130 keys over 2 blocks, in tiles of 33.
static MirageValue cut_short(Remask *r, const Tile *t, MirageValue predicate) {
  for (uint32_t d = 0; d < t->tensor->rank; d++)
    for (uint32_t outer = 0; outer < MIRAGE_MAX_SPLITS; outer++)
      predicate = cut_part(r, t, d, outer, predicate);
  return predicate;
}

// Whether a load can be computed instead: it sees the tensor as it lies, all of it.
static bool may_compute(const MirageUGraph *graph, MirageNode id, const MaskInput *input) {
  MirageNodeView node = mirage_ugraph_node(graph, id);
  MirageAccessAttrs access = node.attrs->access;
  Tile t = {&input->type, mirage_ugraph_type(graph, node.first_result), &access, mirage_ugraph_scope(graph, id)};
  bool ragged = false;
  if (!is_as_it_lies(input, mirage_ugraph_type(graph, node.operands[0]), &access))
    return false;
  for (uint32_t d = 0; d < t.tensor->rank; d++) {
    int64_t grid[3] = {0}, loop[MIRAGE_MAX_LOOPS] = {0};
    ragged = ragged || steps_of(&t, d, grid, loop);
  }
  return access.fill != MIRAGE_FILL_ONE && (input->added || !ragged);
}

static MirageValue computed_load(Remask *r, MirageNode id, const MaskInput *input, MirageAccessAttrs access) {
  MirageNodeView node = mirage_ugraph_node(r->from, id);
  const MirageType *tile = mirage_ugraph_type(r->from, node.first_result);
  Tile t = {&input->type, tile, &access, mirage_ugraph_scope(r->from, id)};
  is_as_it_lies(input, mirage_ugraph_type(r->from, node.operands[0]), &access);
  MirageValue value = mirage__remask_tile(r, &t, input->of);
  if (!input->added)
    return value;
  MirageType zeros = mirage_type_tile(MIRAGE_F32, tile->rank, tile->shape);
  return mirage_ugraph_apply(r->to, MIRAGE_OP_MASK, 2,
                             (MirageValue[]){cut_short(r, &t, value), mirage_ugraph_constant(r->to, zeros, 0)}, NULL);
}

// ------------------------------------------------------------------------------------------------------------ kernels

static bool all_loads_compute(const MirageUGraph *graph, MirageRegion region, MirageValue argument,
                              const MaskInput *input) {
  MirageRegionView view = mirage_ugraph_region(graph, region);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, view.nodes[i]);
    if (node.op == MIRAGE_OP_LOAD && node.operands[0].index == argument.index &&
        !may_compute(graph, view.nodes[i], input))
      return false;
    if (node.region.index && !all_loads_compute(graph, node.region, argument, input))
      return false;
  }
  return true;
}

static void find_computed(const Remask *r, Kernel *k) {
  for (uint32_t i = 0; i < k->node.num_operands && i < 64; i++) {
    const MaskInput *input = input_of(r, k->node.operands[i]);
    MirageValue argument = {k->first_argument.index + i};
    bool made = input && r->masks->pure[input->of.index] && mirage__remask_has_tiles(r, input->of);
    k->computed[i] = made && all_loads_compute(r->from, k->node.region, argument, input) ? input : NULL;
  }
}

static void copy_access(Remask *r, const Kernel *k, MirageNode id, const MirageNodeView *node) {
  MirageAccessAttrs access = mirage__remask_access(r, k, id);
  if (node->op == MIRAGE_OP_LOAD)
    r->map[node->first_result.index] = mirage_ugraph_load(r->to, r->map[node->operands[0].index], &access);
  else
    mirage_ugraph_store(r->to, r->map[node->operands[0].index], r->map[node->operands[1].index], &access);
}

// Inputs of the program that computed tiles read, as operands of the kernel.
void mirage__remask_operands(Remask *r, MirageValue v, MirageValue *operands, MirageValue *of, uint32_t *count) {
  if (!is_loaded(r, v)) {
    MirageNodeView node = mirage_ugraph_node(program_of(r), mirage_ugraph_def(program_of(r), v));
    for (uint32_t i = 0; i < node.num_operands; i++)
      mirage__remask_operands(r, node.operands[i], operands, of, count);
    return;
  }
  for (uint32_t i = 0; i < *count; i++)
    if (of[i].index == v.index)
      return;
  of[*count] = v;
  operands[(*count)++] = mirage__remask_build(r, v);
}

static void copy_region(Remask *r, const Kernel *k, MirageRegion region);

// The first load of a mask that is added, as it lies.
static MirageNode find_mask_load(const Remask *r, MirageRegion region, MirageValue first_argument, const Kernel *k) {
  MirageRegionView view = mirage_ugraph_region(r->from, region);
  MirageNode found = {0};
  for (uint32_t i = 0; i < view.num_nodes && !found.index; i++) {
    MirageNodeView node = mirage_ugraph_node(r->from, view.nodes[i]);
    uint32_t operand = node.op == MIRAGE_OP_LOAD ? node.operands[0].index - first_argument.index : UINT32_MAX;
    const MaskInput *input = operand < k->node.num_operands ? input_of(r, k->node.operands[operand]) : NULL;
    MirageAccessAttrs access = node.op == MIRAGE_OP_LOAD ? node.attrs->access : (MirageAccessAttrs){0};
    if (input && input->added && is_as_it_lies(input, mirage_ugraph_type(r->from, node.operands[0]), &access))
      found = view.nodes[i];
    else if (node.op == MIRAGE_OP_LOOP)
      found = find_mask_load(r, node.region, first_argument, k);
  }
  return found;
}

// Whether no row of a mask's tiles lies beyond the mask.
static bool rows_divide(const Remask *r, MirageNode load, const MaskInput *input) {
  MirageNodeView node = mirage_ugraph_node(r->from, load);
  MirageAccessAttrs access = node.attrs->access;
  bool divide = is_as_it_lies(input, mirage_ugraph_type(r->from, node.operands[0]), &access);
  Tile t = {&input->type, mirage_ugraph_type(r->from, node.first_result), &access, mirage_ugraph_scope(r->from, load)};
  for (uint32_t d = 0; d + 1 < input->type.rank; d++) {
    int64_t grid[3] = {0}, loop[MIRAGE_MAX_LOOPS] = {0};
    divide = divide && !steps_of(&t, d, grid, loop);
  }
  return divide;
}

// The tile of the floor that goes with a divisor [.., rows, 1], or with any where all rows have one; {0} where its rows are not
// the mask's.
static MirageValue load_floor(Remask *r, const Kernel *k, const MirageType *divisor) {
  const MirageType *type = mirage_ugraph_type(program_of(r), r->masks->floor);
  MirageAccessAttrs access = mirage_ugraph_node(r->from, k->mask).attrs->access;
  const MirageType *tile = mirage_ugraph_type(r->from, mirage_ugraph_node(r->from, k->mask).first_result);
  int8_t last = (int8_t)(type->rank - 1);
  bool fits = tile->rank == type->rank && type->rank >= 2 && divisor->rank >= 2 &&
              (type->shape[type->rank - 2] == 1 || (divisor->shape[divisor->rank - 1] == 1 &&
                                                    divisor->shape[divisor->rank - 2] == tile->shape[type->rank - 2]));
  access.fill = MIRAGE_FILL_ONE;                // a row beyond the end sees nothing
  memset(access.order, 0, sizeof access.order); // as it lies
  for (uint32_t a = 0; a < 3; a++)
    access.grid[a] = access.grid[a] == last ? -1 : access.grid[a];
  for (uint32_t l = 0; l < MIRAGE_MAX_LOOPS; l++) {
    fits = fits && (access.loop[l] < 0 || access.loop[l] == last);
    access.loop[l] = -1;
  }
  access.tiles[last] = 0;
  access.cyclic = false;
  if (!fits || !k->computes_floor)
    return fits ? mirage_ugraph_load(r->to, k->floor, &access) : (MirageValue){0};
  MirageType rows = *tile;
  rows.shape[last] = 1;
  Tile t = {type, &rows, &access, mirage_ugraph_scope(r->from, k->mask)};
  MirageValue none = mirage__floor_first(r, &t, mirage__floor_predicate(r));
  return mirage_ugraph_cast(r->to, mirage_ugraph_apply(r->to, MIRAGE_OP_NOT, 1, &none, NULL), type->dtype);
}

static void copy_division(Remask *r, const Kernel *k, const MirageNodeView *node) {
  MirageValue divisor = r->map[node->operands[1].index];
  MirageValue floor = load_floor(r, k, mirage_ugraph_type(r->from, node->operands[1]));
  if (floor.index)
    divisor = mirage_ugraph_apply(r->to, MIRAGE_OP_ADD, 2, (MirageValue[]){divisor, floor}, NULL);
  r->floored |= floor.index != 0;
  r->map[node->first_result.index] =
      mirage_ugraph_apply(r->to, MIRAGE_OP_DIV, 2, (MirageValue[]){r->map[node->operands[0].index], divisor}, NULL);
}

// Whether a division outside loops is by a sum that the program has a floor for.
static bool needs_floor(const Remask *r, const Kernel *k, MirageNode id, const MirageNodeView *node) {
  return (k->floor.index || k->computes_floor) && node->op == MIRAGE_OP_DIV && r->masked[node->operands[1].index] &&
         mirage_ugraph_scope(r->from, id).num_loops == 0;
}

static void copy_loop(Remask *r, const Kernel *k, MirageNode id, const MirageNodeView *node) {
  MirageRegionView body = mirage_ugraph_region(r->from, node->region);
  MirageValue *inits = calloc((size_t)node->num_operands + 1, sizeof *inits);
  for (uint32_t i = 0; inits && i < node->num_operands; i++)
    inits[i] = r->map[node->operands[i].index];
  MirageNode loop = mirage_ugraph_open_loop(r->to, inits ? node->num_operands : 0, inits, &node->attrs->loop);
  free(inits);
  for (uint32_t i = 0; i < body.num_arguments; i++)
    r->map[body.first_argument.index + i] = mirage_ugraph_argument(r->to, loop, i);
  copy_region(r, k, node->region);
  for (uint32_t i = 0; i < node->num_results; i++)
    r->map[node->first_result.index + i] = mirage_ugraph_result(r->to, loop, i);
}

static void copy_region(Remask *r, const Kernel *k, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(r->from, region);
  for (uint32_t i = 0; i < view.num_nodes && mirage_ugraph_status(r->to) == MIRAGE_OK; i++) {
    MirageNodeView node = mirage_ugraph_node(r->from, view.nodes[i]);
    const MaskInput *computed = mirage__remask_computed_by(k, &node);
    mirage_ugraph_set_loc(r->to, node.loc);
    if (computed)
      r->map[node.first_result.index] =
          computed_load(r, view.nodes[i], computed, mirage__remask_access(r, k, view.nodes[i]));
    else if (mirage_op_info(node.op)->kind == MIRAGE_KIND_ACCESS)
      copy_access(r, k, view.nodes[i], &node);
    else if (node.op == MIRAGE_OP_LOOP)
      copy_loop(r, k, view.nodes[i], &node);
    else if (needs_floor(r, k, view.nodes[i], &node))
      copy_division(r, k, &node);
    else
      mirage_ugraph_copy_nodes(r->to, r->from, 1, &view.nodes[i], r->map);
  }
}

// The loads of a schedule are those of the kernel, in order: without them nobody has asked anything of any.
static void copy_kernel(Remask *r, MirageNode id, const MirageNodeView *node) {
  MirageRegionView body = mirage_ugraph_region(r->from, node->region);
  Kernel k = {.node = *node, .first_argument = body.first_argument};
  MirageValue operands[128] = {{0}}, of[128] = {{0}};
  uint32_t count = 0, place[64] = {0}, given;
  MirageSchedule schedule;
  find_computed(r, &k);
  k.cyclic = mirage__remask_is_dealt(r, &k);
  for (uint32_t i = 0; i < node->num_operands && i < 64; i++) {
    place[i] = count;
    if (!k.computed[i])
      operands[count++] = r->map[node->operands[i].index];
  }
  given = count;
  for (uint32_t i = 0; i < node->num_operands && i < 64; i++)
    if (k.computed[i])
      mirage__remask_operands(r, k.computed[i]->of, operands, of, &count);
  k.mask = r->masks->floor.index ? find_mask_load(r, node->region, k.first_argument, &k) : (MirageNode){0};
  MirageNodeView mask_load =
      k.mask.index ? mirage_ugraph_node(r->from, k.mask) : (MirageNodeView){.op = MIRAGE_OP_NONE};
  const MaskInput *of_mask = mirage__remask_computed_by(&k, &mask_load);
  k.computes_floor =
      of_mask && mirage__floor_has_first(r, mirage__floor_predicate(r)) && rows_divide(r, k.mask, of_mask);
  bool loads_floor = k.mask.index && !k.computes_floor;
  if (loads_floor)
    operands[count++] = mirage__floor_build(r);
  MirageCustomAttrs attrs = node->attrs->custom;
  if (attrs.schedule) {
    schedule = *attrs.schedule;
    schedule.num_loads = 0;
    attrs.schedule = &schedule;
  }
  MirageType *types = calloc((size_t)node->num_results + 1, sizeof *types);
  for (uint32_t i = 0; types && i < node->num_results; i++)
    types[i] = *mirage_ugraph_type(r->from, (MirageValue){node->first_result.index + i});
  MirageNode custom = mirage_ugraph_open_custom(r->to, count, operands, types ? node->num_results : 0, types, &attrs);
  free(types);
  for (uint32_t i = 0; i < node->num_operands && i < 64; i++)
    if (!k.computed[i])
      r->map[body.first_argument.index + i] = mirage_ugraph_argument(r->to, custom, place[i]);
  for (uint32_t i = given; i < count - loads_floor; i++)
    r->argument[of[i].index] = mirage_ugraph_argument(r->to, custom, i);
  if (loads_floor)
    k.floor = mirage_ugraph_argument(r->to, custom, count - 1);
  for (uint32_t i = 0; i < node->num_results; i++)
    r->map[body.first_argument.index + node->num_operands + i] = mirage_ugraph_argument(r->to, custom, count + i);
  copy_region(r, &k, node->region);
  mirage_ugraph_close(r->to, 0, NULL);
  for (uint32_t i = 0; i < node->num_results; i++)
    r->map[node->first_result.index + i] = mirage_ugraph_result(r->to, custom, i);
}

// ------------------------------------------------------------------------------------------------------------- graphs

// What stands for an input of the core, or for that with its extents of 1 elsewhere.
static void bring(Remask *r, MirageValue v) {
  const MaskInput *input = input_of(r, v);
  MirageNode def = mirage_ugraph_def(r->from, v);
  if (!input || r->map[v.index].index)
    return;
  if (!def.index) {
    r->map[v.index] = tensor_for(r, input);
    return;
  }
  bring(r, mirage_ugraph_node(r->from, def).operands[0]);
  mirage_ugraph_copy_nodes(r->to, r->from, 1, &def, r->map);
}

// What stands for inputs of the core that something besides computed loads reads.
static void bring_operands(Remask *r, const MirageNodeView *node) {
  Kernel k = {.node = *node};
  if (node->op == MIRAGE_OP_CUSTOM) {
    k.first_argument = mirage_ugraph_region(r->from, node->region).first_argument;
    find_computed(r, &k);
  }
  for (uint32_t i = 0; i < node->num_operands; i++)
    if (!(i < 64 && k.computed[i]))
      bring(r, node->operands[i]);
}

// What a mask is in, kernels and loops as a whole.
static bool find_masked(Remask *r, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(r->from, region);
  bool some = false;
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(r->from, view.nodes[i]);
    bool any = false;
    if (node.op == MIRAGE_OP_CUSTOM)
      for (uint32_t k = 0; k < node.num_operands; k++)
        r->masked[mirage_ugraph_argument(r->from, view.nodes[i], k).index] = r->masked[node.operands[k].index];
    if (node.region.index)
      any = find_masked(r, node.region);
    for (uint32_t k = 0; k < node.num_operands; k++)
      any |= r->masked[node.operands[k].index];
    for (uint32_t k = 0; k < node.num_results; k++)
      r->masked[node.first_result.index + k] = any;
    some |= any;
  }
  return some;
}

static void remask_graph(Remask *r) {
  for (uint32_t i = 0; i < r->masks->num_inputs; i++)
    r->masked[mirage_ugraph_get_input(r->from, i).index] = r->masks->inputs[i].added;
  find_masked(r, mirage_ugraph_body(r->from));
  MirageRegionView body = mirage_ugraph_region(r->from, mirage_ugraph_body(r->from));
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(program_of(r)); i++) {
    MirageValue input = mirage_ugraph_get_input(program_of(r), i);
    r->built[input.index] = mirage_ugraph_input(r->to, *mirage_ugraph_type(program_of(r), input));
  }
  for (uint32_t i = 0; i < body.num_nodes && mirage_ugraph_status(r->to) == MIRAGE_OK; i++) {
    MirageNodeView node = mirage_ugraph_node(r->from, body.nodes[i]);
    if (node.num_results == 1 && input_of(r, node.first_result))
      continue; // where it is read
    bring_operands(r, &node);
    mirage_ugraph_set_loc(r->to, node.loc);
    if (node.op == MIRAGE_OP_CUSTOM && node.num_operands <= 64)
      copy_kernel(r, body.nodes[i], &node);
    else
      mirage_ugraph_copy_nodes(r->to, r->from, 1, &body.nodes[i], r->map);
  }
}

MirageStatus mirage__search_remask(const SearchMasks *masks, const MirageUGraph *found, const MirageDiag *diag,
                                   MirageUGraph **out_graph) {
  const MirageGraphMeta *meta = mirage_ugraph_get_meta(found);
  size_t values = (size_t)mirage_ugraph_num_values(masks->program) + 1;
  Remask r = {.masks = masks, .from = found, .to = mirage_ugraph_create(NULL, meta->name, diag)};
  r.map = calloc((size_t)mirage_ugraph_num_values(found) + 1, sizeof *r.map);
  r.built = calloc(values, sizeof *r.built);
  r.argument = calloc(values, sizeof *r.argument);
  r.masked = calloc((size_t)mirage_ugraph_num_values(found) + 1, sizeof *r.masked);
  MirageStatus status = r.to && r.map && r.built && r.argument && r.masked ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK) {
    MirageGraphMeta copy = *meta;
    copy.name = mirage_ugraph_get_meta(r.to)->name;
    copy.source = meta->source ? mirage_ugraph_intern_string(r.to, meta->source) : NULL;
    *mirage_ugraph_meta(r.to) = copy;
    remask_graph(&r);
    status = mirage_ugraph_finish(r.to);
  }
  bool wrong = masks->floor.index && !r.floored;
  free(r.map);
  free(r.built);
  free(r.argument);
  free(r.masked);
  if (status != MIRAGE_OK || wrong)
    mirage_ugraph_destroy(r.to);
  *out_graph = status == MIRAGE_OK && !wrong ? r.to : NULL;
  return status;
}
