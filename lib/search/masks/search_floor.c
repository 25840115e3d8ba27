// search_floor.c - whether a row of a mask sees nothing, as the number that is added to its sum: cast(not(any of the row)).
//
// Where the first element of a row holds if any does - `index < length` - whoever needs it asks for that one, as a tile.
// Else a kernel looks at whole rows, where the mask is made of inputs; or the program's own operators do.
#include "search_remask.h"

// The predicate of whose rows cast(not(reduce_max(predicate))) says that they hold nowhere; {0}: it is something else.
MirageValue mirage__floor_predicate(const Remask *r) {
  const MirageUGraph *program = program_of(r);
  const MirageOp ops[] = {MIRAGE_OP_CAST, MIRAGE_OP_NOT, MIRAGE_OP_REDUCE_MAX};
  MirageValue v = r->masks->floor;
  for (uint32_t i = 0; i < 3; i++) {
    MirageNode def = mirage_ugraph_def(program, v);
    if (!def.index || mirage_ugraph_node(program, def).op != ops[i])
      return (MirageValue){0};
    v = mirage_ugraph_node(program, def).operands[0];
  }
  const MirageType *type = mirage_ugraph_type(program, v), *floor = mirage_ugraph_type(program, r->masks->floor);
  return mirage__remask_has_tiles(r, v) && floor->shape[type->rank - 1] == 1 ? v : (MirageValue){0};
}

// Whether the first element of each row holds if any does: of `index < x`, `index <= x` along the last dimension, with x of one
// element there, and of what `and` and `or` make of such.
bool mirage__floor_has_first(const Remask *r, MirageValue v) {
  const MirageUGraph *program = program_of(r);
  const MirageType *type = mirage_ugraph_type(program, v);
  if (!v.index || type->shape[type->rank - 1] == 1)
    return v.index != 0;
  MirageNode def = mirage_ugraph_def(program, v), first;
  MirageNodeView node = def.index ? mirage_ugraph_node(program, def) : (MirageNodeView){.op = MIRAGE_OP_NONE};
  if (node.op == MIRAGE_OP_AND || node.op == MIRAGE_OP_OR)
    return mirage__floor_has_first(r, node.operands[0]) && mirage__floor_has_first(r, node.operands[1]);
  if (node.op != MIRAGE_OP_LESS && node.op != MIRAGE_OP_LESS_EQUAL)
    return false;
  first = mirage_ugraph_def(program, node.operands[0]);
  const MirageType *x = mirage_ugraph_type(program, node.operands[1]);
  const MirageType *index = mirage_ugraph_type(program, node.operands[0]);
  return first.index && mirage_ugraph_node(program, first).op == MIRAGE_OP_IOTA &&
         mirage_ugraph_node(program, first).attrs->iota.dim + 1 == (int32_t)index->rank &&
         (x->rank == 0 || x->shape[x->rank - 1] == 1);
}

// That element of each row: indices along the last dimension are where they begin.
MirageValue mirage__floor_first(Remask *r, const Tile *t, MirageValue v) {
  const MirageType *type = mirage_ugraph_type(program_of(r), v);
  MirageNode def = mirage_ugraph_def(program_of(r), v);
  if (type->rank == 0 || type->shape[type->rank - 1] == 1)
    return mirage__remask_tile(r, t, v);
  MirageNodeView node = mirage_ugraph_node(program_of(r), def);
  int64_t extents[MIRAGE_MAX_RANK];
  mirage__remask_extents(t, type, extents);
  if (node.op == MIRAGE_OP_IOTA) {
    extents[type->rank - 1] = 1;
    return mirage_ugraph_constant(r->to, mirage_type_tile(type->dtype, type->rank, extents),
                                  (double)node.attrs->iota.start);
  }
  MirageValue operands[] = {mirage__floor_first(r, t, node.operands[0]), mirage__floor_first(r, t, node.operands[1])};
  return mirage_ugraph_apply(r->to, node.op, 2, operands, NULL);
}

// A row a block: its place in the grid, and whether there is one. Of longer rows a thread would hold too many elements.
static bool place_rows(const MirageType *type, MirageAccessAttrs *access, MirageCustomAttrs *attrs) {
  enum { MOST_KEYS = 16384, MOST_BLOCKS = 65535 };
  uint32_t axis = 0;
  *access = (MirageAccessAttrs){.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}, .fill = MIRAGE_FILL_ZERO};
  *attrs = (MirageCustomAttrs){.grid = {1, 1, 1}, .cluster = {1, 1, 1}};
  for (uint32_t d = type->rank - 1; d-- > 0;) {
    if (type->shape[d] == 1)
      continue;
    if (axis == 3 || type->shape[d] > MOST_BLOCKS)
      return false;
    access->grid[axis] = (int8_t)d;
    attrs->grid[axis++] = type->shape[d];
  }
  return type->shape[type->rank - 1] <= MOST_KEYS;
}

// cast(not(0 < reduce_max(cast(row)))): a block has maxima of numbers.
static MirageValue floor_tile(Remask *r, const Tile *row, MirageValue predicate, MirageDType dtype) {
  uint32_t last = row->tensor->rank - 1;
  const int64_t one[MIRAGE_MAX_RANK] = {1, 1, 1, 1, 1, 1};
  MirageValue held = mirage_ugraph_cast(r->to, mirage__remask_tile(r, row, predicate), MIRAGE_F32);
  MirageValue most = mirage_ugraph_apply(r->to, MIRAGE_OP_REDUCE_MAX, 1, &held,
                                         &(MirageAttrs){.reduce = {.dim = (int32_t)last, .extent = 1}});
  MirageValue zero = mirage_ugraph_constant(r->to, mirage_type_tile(MIRAGE_F32, row->tensor->rank, one), 0);
  MirageValue any = mirage_ugraph_apply(r->to, MIRAGE_OP_LESS, 2, (MirageValue[]){zero, most}, NULL);
  return mirage_ugraph_cast(r->to, mirage_ugraph_apply(r->to, MIRAGE_OP_NOT, 1, &any, NULL), dtype);
}

// The floor as a tensor, in one kernel where it can be: the program's own operators would be one each. What depends on
// positions alone stays as it is: that such a maximum is 1 where one of its numbers is, no proof at known indices knows.
MirageValue mirage__floor_build(Remask *r) {
  const MirageType *floor = mirage_ugraph_type(program_of(r), r->masks->floor);
  MirageValue predicate = mirage__floor_predicate(r), operands[64] = {{0}}, of[64] = {{0}};
  MirageCustomAttrs attrs;
  MirageAccessAttrs access;
  uint32_t count = 0;
  if (r->floor.index)
    return r->floor;
  const MirageType *type = mirage_ugraph_type(program_of(r), predicate);
  if (predicate.index && place_rows(type, &access, &attrs))
    mirage__remask_operands(r, predicate, operands, of, &count);
  if (!count)
    return r->floor = mirage__remask_build(r, r->masks->floor);
  MirageNode custom = mirage_ugraph_open_custom(r->to, count, operands, 1, floor, &attrs);
  for (uint32_t i = 0; i < count; i++)
    r->argument[of[i].index] = mirage_ugraph_argument(r->to, custom, i);
  int64_t extents[MIRAGE_MAX_RANK] = {1, 1, 1, 1, 1, 1};
  extents[type->rank - 1] = type->shape[type->rank - 1];
  MirageType tile = mirage_type_tile(MIRAGE_I1, type->rank, extents);
  Tile row = {type, &tile, &access, {.grid = {attrs.grid[0], attrs.grid[1], attrs.grid[2]}}};
  mirage_ugraph_store(r->to, floor_tile(r, &row, predicate, floor->dtype), mirage_ugraph_argument(r->to, custom, count),
                      &access);
  mirage_ugraph_close(r->to, 0, NULL);
  return r->floor = mirage_ugraph_result(r->to, custom, 0);
}
