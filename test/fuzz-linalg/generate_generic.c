// generate_generic.c - linalg.generic: any projections of a random iteration space.
//
// A space starts from a tensor that is there: its dimensions are walked in any order, with some more around them. Operands are
// projections of the space; what reads them is element-wise, a reduction, a contraction, or has several results.
#include "generate_internal.h"

#include <string.h>

enum { MOST_OPERANDS = 6 };

typedef struct Space {
  int rank;
  int extents[MOST_RANK];
  int num_inputs, num_outputs;
  GenValue operands[MOST_OPERANDS]; // inputs, then outputs
  GenMap maps[MOST_OPERANDS];
  bool special; // a map that no GenMap says: one with a sum, or a diagonal
  char special_map[120];
} Space;

static void add_dims(Gen *g, Space *space, int most) {
  for (int n = draw_below(&g->draw, 3); n > 0 && space->rank < most; n--)
    space->extents[space->rank++] = some_extent(g);
}

/// The space of a tensor: each of its dimensions is one of the space's, or 0.
static void start(Gen *g, Space *space, GenValue tensor, bool more) {
  int order[MOST_RANK];
  *space = (Space){.num_inputs = 1};
  GenMap *map = &space->maps[0];
  for (int d = 0; d < tensor.type.rank; d++)
    if (tensor.type.shape[d] == 1 && draw_chance(&g->draw, 30))
      map->results[map->count++] = -1;
    else {
      map->results[map->count++] = space->rank;
      space->extents[space->rank++] = tensor.type.shape[d];
    }
  if (more || space->rank == 0)
    add_dims(g, space, 5);
  for (int d = 0; d < space->rank; d++)
    order[d] = d;
  if (draw_chance(&g->draw, 40))
    shuffle(g, order, space->rank);
  int extents[MOST_RANK];
  memcpy(extents, space->extents, sizeof extents);
  for (int d = 0; d < space->rank; d++)
    space->extents[order[d]] = extents[d];
  for (int i = 0; i < map->count; i++)
    map->results[i] = map->results[i] < 0 ? -1 : order[map->results[i]];
  map->rank = space->rank;
  space->operands[0] = tensor;
}

static GenType mapped(const Space *space, const GenMap *map, Elem elem) {
  int shape[MOST_RANK];
  for (int i = 0; i < map->count; i++)
    shape[i] = map->results[i] < 0 ? 1 : space->extents[map->results[i]];
  return tensor_of(elem, map->count, shape);
}

/// Some of the space's dimensions, perhaps in another order, perhaps with zeros between.
static GenMap projection(Gen *g, const Space *space, unsigned dims, bool zeros) {
  GenMap map = {.rank = space->rank};
  for (int d = 0; d < space->rank; d++)
    if (dims >> d & 1)
      map.results[map.count++] = d;
    else if (zeros && map.count < MOST_RANK - 1 && draw_chance(&g->draw, 50))
      map.results[map.count++] = -1;
  if (draw_chance(&g->draw, 20))
    shuffle(g, map.results, map.count);
  return map;
}

static unsigned some_dims(Gen *g, const Space *space) {
  unsigned all = (1u << space->rank) - 1;
  return draw_chance(&g->draw, 55) ? all : (unsigned)draw_next(&g->draw) & all;
}

static void add_input(Gen *g, Space *space, unsigned dims, Elem elem) {
  GenMap map = projection(g, space, dims, draw_chance(&g->draw, 20));
  space->maps[space->num_inputs] = map;
  space->operands[space->num_inputs++] = value_of(g, mapped(space, &map, elem));
}

/// An operand that is no tensor.
static void add_scalar(Gen *g, Space *space) {
  space->maps[space->num_inputs] = (GenMap){.rank = space->rank};
  space->operands[space->num_inputs++] = value_of(g, scalar_of(some_float(g)));
}

static void add_output(Gen *g, Space *space, unsigned dims, Elem elem, bool read, bool zeros) {
  int at = space->num_inputs + space->num_outputs++;
  space->maps[at] = projection(g, space, dims, zeros);
  space->operands[at] = output_of(g, mapped(space, &space->maps[at], elem), read);
}

static Elem some_elem(Gen *g) {
  static const Elem integers[] = {I1, I8, I32, I64, INDEX};
  return draw_chance(&g->draw, 6) ? DRAW_FROM(&g->draw, integers) : some_float(g);
}

// ----------------------------------------------------------------------------------------------------------------- printing

static void print_operands(Gen *g, const char *word, const GenValue *values, int count) {
  if (!count)
    return;
  LINE(g, " %s(", word);
  for (int i = 0; i < count; i++)
    LINE(g, "%s%s", i ? ", " : "", name_text(g, values[i]));
  LINE(g, " : ");
  for (int i = 0; i < count; i++)
    LINE(g, "%s%s", i ? ", " : "", type_text(g, values[i].type));
  LINE(g, ")");
}

static void print_maps(Gen *g, const Space *space) {
  unsigned kept = 0;
  LINE(g, "{indexing_maps = [");
  for (int i = 0; i < space->num_inputs + space->num_outputs; i++) {
    LINE(g, "%s%s", i ? ", " : "", i == 0 && space->special ? space->special_map : map_text(g, &space->maps[i]));
    for (int k = 0; i >= space->num_inputs && k < space->maps[i].count; k++)
      if (space->maps[i].results[k] >= 0)
        kept |= 1u << space->maps[i].results[k];
  }
  LINE(g, "], iterator_types = [");
  for (int d = 0; d < space->rank; d++)
    LINE(g, "%s\"%s\"", d ? ", " : "", kept >> d & 1 ? "parallel" : "reduction");
  LINE(g, "]}");
}

/// All but the body; `body` gets the inputs' elements, `held` those of the outputs.
static GenValue print_head(Gen *g, const Space *space, GenBody *body, GenValue held[MOST_OPERANDS]) {
  GenValue result = new_value(g, space->operands[space->num_inputs].type);
  if (space->num_outputs > 1)
    LINE(g, "%s:%d = linalg.generic ", name_text(g, result), space->num_outputs);
  else
    LINE(g, "%s = linalg.generic ", name_text(g, result));
  print_maps(g, space);
  print_operands(g, "ins", space->operands, space->num_inputs);
  print_operands(g, "outs", space->operands + space->num_inputs, space->num_outputs);
  LINE(g, " {\n^bb0(");
  body->indices = space->rank;
  for (int i = 0; i < space->num_inputs + space->num_outputs; i++) {
    GenValue element = new_value(g, scalar_of(space->operands[i].type.elem));
    LINE(g, "%s%s: %s", i ? ", " : "", name_text(g, element), elem_name(element.type.elem));
    if (i < space->num_inputs)
      body_add(body, element);
    else
      held[i - space->num_inputs] = element;
  }
  LINE(g, "):\n");
  return result;
}

static void print_tail(Gen *g, const Space *space, GenValue result, const GenValue *yields) {
  LINE(g, "linalg.yield ");
  for (int i = 0; i < space->num_outputs; i++)
    LINE(g, "%s%s", i ? ", " : "", name_text(g, yields[i]));
  LINE(g, " : ");
  for (int i = 0; i < space->num_outputs; i++)
    LINE(g, "%s%s", i ? ", " : "", elem_name(yields[i].type.elem));
  LINE(g, "\n} -> %s", space->num_outputs > 1 ? "(" : "");
  for (int i = 0; i < space->num_outputs; i++)
    LINE(g, "%s%s", i ? ", " : "", type_text(g, space->operands[space->num_inputs + i].type));
  LINE(g, "%s\n", space->num_outputs > 1 ? ")" : "");
  if (space->num_outputs == 1) {
    define(g, result);
    return;
  }
  for (int i = 0; i < space->num_outputs; i++)
    define(g, (GenValue){.id = result.id, .part = i + 1, .type = space->operands[space->num_inputs + i].type});
}

// -------------------------------------------------------------------------------------------------------------------- kinds

/// A map that walks a diagonal, a sum of dimensions, or a row that is not the first.
static void make_special(Gen *g, Space *space) {
  int a = some_extent(g), b = some_extent(g), sum[1] = {a + b - 1}, pair[2] = {a, a};
  bool diagonal = draw_chance(&g->draw, 50);
  *space = (Space){.rank = 2, .extents = {a, b}, .num_inputs = 1, .special = true};
  space->operands[0] = value_of(g, diagonal ? tensor_of(some_float(g), 2, pair) : tensor_of(some_float(g), 1, sum));
  strcpy(space->special_map, diagonal ? "affine_map<(d0, d1) -> (d0, d0)>" : "affine_map<(d0, d1) -> (d0 + d1)>");
}

static void make_element_wise(Gen *g) {
  Space space;
  GenBody body = {0};
  GenValue held[MOST_OPERANDS], yields[2];
  bool special = draw_chance(&g->draw, 4);
  if (special)
    make_special(g, &space);
  else
    start(g, &space, any_tensor(g, false), draw_chance(&g->draw, 15));
  for (int n = draw_below(&g->draw, 3); n > 0; n--)
    add_input(g, &space, some_dims(g, &space), some_elem(g));
  if (draw_chance(&g->draw, 10))
    add_scalar(g, &space);
  bool reads = draw_chance(&g->draw, 4);
  unsigned all = (1u << space.rank) - 1;
  for (int n = draw_chance(&g->draw, 12) ? 2 : 1; n > 0; n--)
    add_output(g, &space, all, draw_chance(&g->draw, 85) ? some_float(g) : some_elem(g), reads,
               draw_chance(&g->draw, 4));
  GenValue outside[MOST_VALUES], result;
  int num_outside = 0;
  for (int i = 0; i < g->num_values; i++)
    if (!g->values[i].type.is_tensor)
      outside[num_outside++] = g->values[i];
  result = print_head(g, &space, &body, held);
  if (num_outside && draw_chance(&g->draw, 20))
    body_add(&body, outside[draw_below(&g->draw, num_outside)]);
  if (reads)
    body_add(&body, held[0]);
  for (int i = 0; i < space.num_outputs; i++)
    yields[i] = body_expression(g, &body, space.operands[space.num_inputs + i].type.elem, draw_below(&g->draw, 5));
  print_tail(g, &space, result, yields);
}

static GenValue fold(Gen *g, const char *name, GenValue held, GenValue value) {
  GenValue result = new_value(g, held.type);
  bool turned = draw_chance(&g->draw, 40);
  LINE(g, "%s = %s %s, %s : %s\n", name_text(g, result), name, name_text(g, turned ? value : held),
       name_text(g, turned ? held : value), type_text(g, held.type));
  return result;
}

static const char *some_fold(Gen *g, Elem elem) {
  static const char *const floats[] = {"arith.addf",     "arith.addf",    "arith.addf",
                                       "arith.maximumf", "arith.maxnumf", "arith.addf",
                                       "arith.minimumf", "arith.minnumf", "arith.mulf"};
  static const char *const integers[] = {"arith.addi", "arith.andi", "arith.maxsi", "arith.ori"};
  return is_float(elem) ? DRAW_FROM(&g->draw, floats) : DRAW_FROM(&g->draw, integers);
}

/// Dimensions that inputs walk: the others are kept by an output, or nobody would know their extents.
static unsigned walked(const Space *space) {
  unsigned dims = 0;
  for (int i = 0; i < space->num_inputs; i++)
    for (int k = 0; k < space->maps[i].count; k++)
      if (space->maps[i].results[k] >= 0)
        dims |= 1u << space->maps[i].results[k];
  return dims;
}

static void make_reduction(Gen *g) {
  Space space;
  GenBody body = {0};
  GenValue held[MOST_OPERANDS], yields[2];
  start(g, &space, any_tensor(g, true), draw_chance(&g->draw, 15));
  for (int n = draw_below(&g->draw, 2); n > 0; n--)
    add_input(g, &space, some_dims(g, &space), some_elem(g));
  unsigned all = (1u << space.rank) - 1, kept = all & ((unsigned)draw_next(&g->draw) | ~walked(&space));
  int outputs = draw_chance(&g->draw, 12) ? 2 : 1;
  for (int n = 0; n < outputs; n++)
    add_output(g, &space, kept, draw_chance(&g->draw, 95) ? some_float(g) : some_elem(g), true,
               draw_chance(&g->draw, 40));
  GenValue result = print_head(g, &space, &body, held);
  for (int i = 0; i < outputs; i++) {
    Elem elem = held[i].type.elem;
    GenValue value = body_expression(g, &body, elem, draw_below(&g->draw, 3));
    yields[i] = fold(g, some_fold(g, elem), held[i], value);
    if (draw_chance(&g->draw, 4)) // what is done after the fold is done each time
      yields[i] = body_cast(g, fold(g, is_float(elem) ? "arith.subf" : "arith.subi", yields[i], value), elem);
  }
  print_tail(g, &space, result, yields);
}

/// Dimensions of a product: of both operands and the result, of one, of both and summed.
static void sort_dims(Gen *g, Space *space, unsigned *a, unsigned *b, unsigned *y) {
  *a = *b = *y = 0;
  for (int d = 0; d < space->rank; d++) {
    int kind = draw_below(&g->draw, 100);
    *a |= (unsigned)(kind < 70) << d;
    *b |= (unsigned)(kind >= 35) << d;
    *y |= (unsigned)(kind < 35 || kind >= 70 || draw_chance(&g->draw, 25)) << d;
  }
}

static void make_contraction(Gen *g) {
  Space space = {0};
  GenBody body = {0};
  GenValue held[MOST_OPERANDS];
  unsigned a, b, y;
  space.rank = 2 + draw_below(&g->draw, 4);
  for (int d = 0; d < space.rank; d++)
    space.extents[d] = some_extent(g);
  sort_dims(g, &space, &a, &b, &y);
  Elem narrow = some_float(g), wide = draw_chance(&g->draw, 60) ? narrow : some_float(g);
  add_input(g, &space, a, narrow);
  add_input(g, &space, b, draw_chance(&g->draw, 92) ? narrow : some_float(g));
  add_output(g, &space, y, wide, true, draw_chance(&g->draw, 10));
  GenValue result = print_head(g, &space, &body, held);
  bool squared = draw_chance(&g->draw, 5), turned = draw_chance(&g->draw, 30);
  GenValue left = body_cast(g, body.values[turned], wide),
           right = body_cast(g, body.values[squared ? turned : !turned], wide);
  GenValue product = fold(g, draw_chance(&g->draw, 96) ? "arith.mulf" : "arith.subf", left, right);
  GenValue sum = fold(g, draw_chance(&g->draw, 97) ? "arith.addf" : "arith.maximumf", held[0], product);
  print_tail(g, &space, result, &sum);
}

void make_structured(Gen *g) {
  int kind = draw_below(&g->draw, 100);
  if (kind < 45)
    make_element_wise(g);
  else if (kind < 72)
    make_reduction(g);
  else
    make_contraction(g);
}
