// generate_tensor.c - the tensor dialect; arith and math on whole tensors and on scalars.
#include "generate_internal.h"

#include <stdio.h>

static void print_two(Gen *g, const char *name, GenValue a, GenType type) {
  GenValue result = new_value(g, type);
  LINE(g, "%s = tensor.%s %s : %s to %s\n", name_text(g, result), name, name_text(g, a), type_text(g, a.type),
       type_text(g, type));
  define(g, result);
}

// --------------------------------------------------------------------------------------------------------------- reshapes

/// Neighbouring dimensions in groups: "[[0, 1], [2]]". Returns how many.
static int group(Gen *g, int rank, int *first_of, char *text, size_t room) {
  int count = 0, used = snprintf(text, room, "[");
  for (int d = 0; d < rank; d++) {
    bool begins = d == 0 || draw_chance(&g->draw, 50);
    if (begins)
      first_of[count++] = d;
    used += snprintf(text + used, room - (size_t)used, "%s%d", begins ? (d ? "], [" : "[") : ", ", d);
  }
  snprintf(text + used, room - (size_t)used, rank ? "]]" : "]");
  return count;
}

static void make_collapse(Gen *g) {
  GenValue x = any_tensor(g, false);
  int first[MOST_RANK + 1], shape[MOST_RANK];
  char groups[80];
  int count = group(g, x.type.rank, first, groups, sizeof groups);
  first[count] = x.type.rank;
  if (count == x.type.rank)
    return; // nothing collapses
  for (int i = 0; i < count; i++) {
    shape[i] = 1;
    for (int d = first[i]; d < first[i + 1]; d++)
      shape[i] *= x.type.shape[d];
  }
  GenValue result = new_value(g, tensor_of(x.type.elem, count, shape));
  LINE(g, "%s = tensor.collapse_shape %s %s : %s into %s\n", name_text(g, result), name_text(g, x), groups,
       type_text(g, x.type), type_text(g, result.type));
  define(g, result);
}

/// A factor of n, perhaps 1.
static int factor(Gen *g, int n) {
  int f = 1 + draw_below(&g->draw, n);
  return n % f == 0 ? f : 1;
}

static void make_expand(Gen *g) {
  GenValue x = any_tensor(g, false);
  int shape[MOST_RANK], rank = 0, used = 0;
  char groups[100];
  used = snprintf(groups, sizeof groups, "[");
  for (int d = 0; d < x.type.rank; d++) {
    bool splits = rank + (x.type.rank - d) < MOST_RANK && draw_chance(&g->draw, 50);
    int inner = splits ? factor(g, x.type.shape[d]) : 1;
    used += snprintf(groups + used, sizeof groups - (size_t)used, "%s[%d", d ? ", " : "", rank);
    shape[rank++] = x.type.shape[d] / inner;
    if (splits) {
      used += snprintf(groups + used, sizeof groups - (size_t)used, ", %d", rank);
      shape[rank++] = inner;
    }
    used += snprintf(groups + used, sizeof groups - (size_t)used, "]");
  }
  if (rank == x.type.rank)
    return;
  GenValue result = new_value(g, tensor_of(x.type.elem, rank, shape));
  LINE(g, "%s = tensor.expand_shape %s %s] output_shape [", name_text(g, result), name_text(g, x), groups);
  for (int d = 0; d < rank; d++)
    LINE(g, "%s%d", d ? ", " : "", shape[d]);
  LINE(g, "] : %s into %s\n", type_text(g, x.type), type_text(g, result.type));
  define(g, result);
}

static void make_reshape(Gen *g) {
  GenValue x = any_tensor(g, false);
  int shape[1] = {(int)size_of_type(x.type)};
  GenValue size = new_value(g, tensor_of(I64, 1, (int[]){1})), result = new_value(g, tensor_of(x.type.elem, 1, shape));
  LINE(g, "%s = arith.constant dense<%d> : tensor<1xi64>\n", name_text(g, size), shape[0]);
  LINE(g, "%s = tensor.reshape %s(%s) : (%s, tensor<1xi64>) -> %s\n", name_text(g, result), name_text(g, x),
       name_text(g, size), type_text(g, x.type), type_text(g, result.type));
  define(g, result);
}

// ----------------------------------------------------------------------------------------------------------------- slices

typedef struct Box {
  int rank, offsets[MOST_RANK], sizes[MOST_RANK], strides[MOST_RANK];
  int known_late; // this offset is an operand, -1: none
  GenValue late;
} Box;

static Box some_box(Gen *g, GenType type, bool steps) {
  Box box = {.rank = type.rank, .known_late = -1};
  for (int d = 0; d < type.rank; d++) {
    int extent = type.shape[d];
    box.strides[d] = steps && draw_chance(&g->draw, 12) ? 2 : 1;
    box.sizes[d] = draw_chance(&g->draw, 40) ? extent : 1 + draw_below(&g->draw, extent);
    if ((box.sizes[d] - 1) * box.strides[d] >= extent)
      box.strides[d] = 1;
    box.offsets[d] = draw_below(&g->draw, extent - (box.sizes[d] - 1) * box.strides[d]);
  }
  if (type.rank && draw_chance(&g->draw, 6)) {
    box.known_late = draw_below(&g->draw, type.rank);
    box.late = index_constant(g, box.offsets[box.known_late]);
  }
  return box;
}

static void print_box(Gen *g, const Box *box) {
  LINE(g, "[");
  for (int d = 0; d < box->rank; d++)
    if (d == box->known_late)
      LINE(g, "%s%s", d ? ", " : "", name_text(g, box->late));
    else
      LINE(g, "%s%d", d ? ", " : "", box->offsets[d]);
  LINE(g, "] [");
  for (int d = 0; d < box->rank; d++)
    LINE(g, "%s%d", d ? ", " : "", box->sizes[d]);
  LINE(g, "] [");
  for (int d = 0; d < box->rank; d++)
    LINE(g, "%s%d", d ? ", " : "", box->strides[d]);
  LINE(g, "]");
}

/// The box as a tensor; perhaps without dimensions of size 1.
static GenType box_type(Gen *g, const Box *box, Elem elem) {
  int shape[MOST_RANK], rank = 0;
  bool drops = draw_chance(&g->draw, 25);
  for (int d = 0; d < box->rank; d++)
    if (box->sizes[d] != 1 || !drops)
      shape[rank++] = box->sizes[d];
  return tensor_of(elem, rank, shape);
}

static void make_extract_slice(Gen *g) {
  GenValue x = any_tensor(g, false);
  Box box = some_box(g, x.type, true);
  GenValue result = new_value(g, box_type(g, &box, x.type.elem));
  LINE(g, "%s = tensor.extract_slice %s", name_text(g, result), name_text(g, x));
  print_box(g, &box);
  LINE(g, " : %s to %s\n", type_text(g, x.type), type_text(g, result.type));
  define(g, result);
}

static void make_insert_slice(Gen *g) {
  GenValue into = any_tensor(g, false);
  Box box = some_box(g, into.type, true);
  GenValue x = value_of(g, box_type(g, &box, into.type.elem)), result = new_value(g, into.type);
  LINE(g, "%s = tensor.insert_slice %s into %s", name_text(g, result), name_text(g, x), name_text(g, into));
  print_box(g, &box);
  LINE(g, " : %s into %s\n", type_text(g, x.type), type_text(g, into.type));
  define(g, result);
}

static void make_concat(Gen *g) {
  GenValue parts[4] = {any_tensor(g, false)};
  GenType type = parts[0].type;
  int count = 1 + draw_below(&g->draw, 3), dim = type.rank ? draw_below(&g->draw, type.rank) : -1;
  if (dim < 0)
    return;
  for (int i = 1; i < count; i++) {
    GenType other = parts[0].type;
    if (draw_chance(&g->draw, 50))
      other.shape[dim] = some_extent(g);
    parts[i] = value_of(g, other);
    type.shape[dim] += other.shape[dim];
  }
  GenValue result = new_value(g, type);
  LINE(g, "%s = tensor.concat dim(%d) ", name_text(g, result), dim);
  for (int i = 0; i < count; i++)
    LINE(g, "%s%s", i ? ", " : "", name_text(g, parts[i]));
  LINE(g, " : (");
  for (int i = 0; i < count; i++)
    LINE(g, "%s%s", i ? ", " : "", type_text(g, parts[i].type));
  LINE(g, ") -> %s\n", type_text(g, type));
  define(g, result);
}

static void make_pad(Gen *g) {
  GenValue x = any_tensor(g, false), zero;
  GenType type = x.type;
  int low[MOST_RANK], high[MOST_RANK];
  if (type.rank == 0)
    return;
  for (int d = 0; d < type.rank; d++) {
    low[d] = draw_chance(&g->draw, 30);
    high[d] = draw_chance(&g->draw, 40) ? draw_below(&g->draw, 3) : 0;
    type.shape[d] += low[d] + high[d];
  }
  GenValue result = new_value(g, type);
  LINE(g, "%s = tensor.pad %s low[", name_text(g, result), name_text(g, x));
  for (int d = 0; d < type.rank; d++)
    LINE(g, "%s%d", d ? ", " : "", low[d]);
  LINE(g, "] high[");
  for (int d = 0; d < type.rank; d++)
    LINE(g, "%s%d", d ? ", " : "", high[d]);
  LINE(g, "] {\n^bb0(");
  for (int d = 0; d < type.rank; d++)
    LINE(g, "%s%s: index", d ? ", " : "", name_text(g, new_value(g, scalar_of(INDEX))));
  LINE(g, "):\n");
  zero = scalar_constant(g, type.elem, draw_below(&g->draw, 2));
  LINE(g, "tensor.yield %s : %s\n} : %s to %s\n", name_text(g, zero), elem_name(type.elem), type_text(g, x.type),
       type_text(g, type));
  define(g, result);
}

// ------------------------------------------------------------------------------------------------- types, scalars, others

static void make_cast(Gen *g) {
  GenValue x = any_tensor(g, false);
  GenType type = x.type;
  for (int d = 0; d < type.rank; d++)
    if (type.shape[d] == OPEN_EXTENT)
      type.open |= (unsigned)draw_below(&g->draw, 2) << d;
  print_two(g, "cast", x, type);
  if (type.open && draw_chance(&g->draw, 70))
    print_two(g, "cast", g->values[g->num_values - 1], x.type);
}

static void make_extract(Gen *g) {
  GenValue x = any_tensor(g, false), places[MOST_RANK];
  for (int d = 0; d < x.type.rank; d++)
    places[d] = index_constant(g, draw_below(&g->draw, x.type.shape[d]));
  GenValue result = new_value(g, scalar_of(x.type.elem));
  LINE(g, "%s = tensor.extract %s[", name_text(g, result), name_text(g, x));
  for (int d = 0; d < x.type.rank; d++)
    LINE(g, "%s%s", d ? ", " : "", name_text(g, places[d]));
  LINE(g, "] : %s\n", type_text(g, x.type));
  define(g, result);
}

static void make_from_elements(Gen *g) {
  Elem elem = some_float(g);
  GenValue a = value_of(g, scalar_of(elem)), b = value_of(g, scalar_of(elem)),
           result = new_value(g, tensor_of(elem, 1, (int[]){2}));
  LINE(g, "%s = tensor.from_elements %s, %s : %s\n", name_text(g, result), name_text(g, a), name_text(g, b),
       type_text(g, result.type));
  define(g, result);
}

static void make_generate(Gen *g) {
  GenType type = tensor_of(some_float(g), 2, (int[]){some_extent(g), some_extent(g)});
  GenValue result = new_value(g, type), i = new_value(g, scalar_of(INDEX)), j = new_value(g, scalar_of(INDEX));
  GenBody body = {0};
  LINE(g, "%s = tensor.generate {\n^bb0(%s: index, %s: index):\n", name_text(g, result), name_text(g, i),
       name_text(g, j));
  body_add(&body, i);
  body_add(&body, j);
  GenValue value = body_expression(g, &body, type.elem, 1);
  LINE(g, "tensor.yield %s : %s\n} : %s\n", name_text(g, value), elem_name(type.elem), type_text(g, type));
  define(g, result);
}

static void make_unwritten(Gen *g) {
  GenValue x = empty_tensor(g, some_type(g, 0, 3)), y = filled(g, x.type, 1);
  define(g, y);
}

static void make_odd_shape(Gen *g) { // no elements, no dimensions
  int shape[3] = {some_extent(g), 0, some_extent(g)};
  GenType type = tensor_of(some_float(g), draw_chance(&g->draw, 50) ? 0 : 3, shape);
  GenValue x = value_of(g, type), y = value_of(g, type), result = new_value(g, type);
  LINE(g, "%s = arith.addf %s, %s : %s\n", name_text(g, result), name_text(g, x), name_text(g, y), type_text(g, type));
  define(g, result);
}

/// arith and math as scalars have them, on tensors; or on scalars of the function.
static void make_arith(Gen *g) {
  GenValue x = draw_chance(&g->draw, 92) ? any_tensor(g, true) : value_of(g, scalar_of(some_float(g)));
  static const char *const unary[] = {"math.tanh", "arith.negf", "math.exp", "math.absf", "math.erf", "math.sin"};
  static const char *const binary[] = {"arith.addf",     "arith.subf",     "arith.mulf",
                                       "arith.maximumf", "arith.minimumf", "arith.maxnumf"};
  GenValue result = new_value(g, x.type);
  if (draw_chance(&g->draw, 35)) {
    LINE(g, "%s = %s %s : %s\n", name_text(g, result), DRAW_FROM(&g->draw, unary), name_text(g, x),
         type_text(g, x.type));
  } else if (draw_chance(&g->draw, 80)) {
    GenValue y = value_of(g, x.type);
    LINE(g, "%s = %s %s, %s : %s\n", name_text(g, result), DRAW_FROM(&g->draw, binary), name_text(g, x),
         name_text(g, y), type_text(g, x.type));
  } else {
    result = body_cast(g, x, some_float(g)); // casts of whole tensors
  }
  define(g, result);
}

static void make_choice(Gen *g) {
  GenValue x = any_tensor(g, true), y = value_of(g, x.type), z = value_of(g, x.type);
  GenType bits = x.type;
  bits.elem = I1;
  GenValue condition = new_value(g, bits), result = new_value(g, x.type);
  LINE(g, "%s = arith.cmpf %s, %s, %s : %s\n", name_text(g, condition), draw_chance(&g->draw, 50) ? "ogt" : "olt",
       name_text(g, x), name_text(g, y), type_text(g, x.type));
  LINE(g, "%s = arith.select %s, %s, %s : %s, %s\n", name_text(g, result), name_text(g, condition), name_text(g, x),
       name_text(g, z), type_text(g, bits), type_text(g, x.type));
  define(g, condition);
  define(g, result);
}

void make_tensor(Gen *g) {
  static const struct {
    int weight;
    GenOperation make;
  } rows[] = {{12, make_collapse},    {12, make_expand},       {2, make_reshape},  {14, make_extract_slice},
              {8, make_insert_slice}, {8, make_concat},        {4, make_pad},      {4, make_cast},
              {4, make_extract},      {2, make_from_elements}, {2, make_generate}, {2, make_unwritten},
              {3, make_odd_shape},    {20, make_arith},        {3, make_choice}};
  int at = draw_below(&g->draw, 100);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; at -= rows[i++].weight)
    if (at < rows[i].weight) {
      rows[i].make(g);
      return;
    }
}
