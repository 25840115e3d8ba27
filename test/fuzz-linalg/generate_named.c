// generate_named.c - named operations of linalg: products, element-wise ones, data movement, reduce, map, convolutions.
#include "generate_internal.h"

#include <stdio.h>

static void print_named(Gen *g, const char *name, const char *before, int count, const GenValue *inputs,
                        GenValue output) {
  GenValue result = new_value(g, output.type);
  LINE(g, "%s = linalg.%s%s ins(", name_text(g, result), name, before);
  for (int i = 0; i < count; i++)
    LINE(g, "%s%s", i ? ", " : "", name_text(g, inputs[i]));
  LINE(g, " : ");
  for (int i = 0; i < count; i++)
    LINE(g, "%s%s", i ? ", " : "", type_text(g, inputs[i].type));
  LINE(g, ") outs(%s : %s) -> %s\n", name_text(g, output), type_text(g, output.type), type_text(g, output.type));
  define(g, result);
}

/// What linalg's own bodies can turn into another type: f16 and bf16 are not turned into each other.
static Elem castable(Gen *g, Elem from) {
  Elem to = draw_chance(&g->draw, 70) ? from : some_float(g);
  return elem_bits(from) == elem_bits(to) ? from : to;
}

// --------------------------------------------------------------------------------------------------------------- products

// Letters are dimensions: of the operands and the result.
typedef struct Product {
  const char *name, *a, *b, *y;
  bool maps; // takes indexing maps, which may turn operands
} Product;

static const Product PRODUCTS[] = {{"matmul", "mk", "kn", "mn", true},
                                   {"matmul", "mk", "kn", "mn", true},
                                   {"matmul", "mk", "kn", "mn", true},
                                   {"batch_matmul", "bmk", "bkn", "bmn", true},
                                   {"batch_matmul", "bmk", "bkn", "bmn", true},
                                   {"matvec", "mk", "k", "m", false},
                                   {"vecmat", "k", "kn", "n", false},
                                   {"dot", "k", "k", "", false},
                                   {"batch_matvec", "bmk", "bk", "bm", false},
                                   {"batch_vecmat", "bk", "bkn", "bn", false},
                                   {"batch_reduce_matmul", "bmk", "bkn", "mn", false}};

static int extent_of(const char *letters, const int *extents, char letter) {
  for (int i = 0; letters[i]; i++)
    if (letters[i] == letter)
      return extents[i];
  return 1;
}

static GenType lettered(Elem elem, const char *letters, const int *extents, unsigned open) {
  int shape[MOST_RANK], rank = 0;
  for (; letters[rank]; rank++)
    shape[rank] = extent_of("bmkn", extents, letters[rank]);
  GenType type = tensor_of(elem, rank, shape);
  for (int d = 0; d < rank; d++)
    if (shape[d] == OPEN_EXTENT && open >> (letters[d] == 'b'   ? 0
                                            : letters[d] == 'm' ? 1
                                            : letters[d] == 'k' ? 2
                                                                : 3) &
                                       1)
      type.open |= 1u << d;
  return type;
}

/// Two letters of an operand change places, or its batch is left out, as indexing maps may say it.
static void turn(Gen *g, char *letters) {
  int length = 0;
  while (letters[length])
    length++;
  if (length < 2 || !draw_chance(&g->draw, 35))
    return;
  if (length == 3 && draw_chance(&g->draw, 25)) {
    for (int i = 0; i < length; i++)
      letters[i] = letters[i + 1];
    return;
  }
  char kept = letters[length - 1];
  letters[length - 1] = letters[length - 2];
  letters[length - 2] = kept;
}

static GenMap letter_map(const char *dims, const char *letters) {
  GenMap map = {0};
  while (dims[map.rank])
    map.rank++;
  for (; letters[map.count]; map.count++)
    for (int d = 0; d < map.rank; d++)
      if (dims[d] == letters[map.count])
        map.results[map.count] = d;
  return map;
}

static void make_product(Gen *g) {
  const Product *product = &DRAW_FROM(&g->draw, PRODUCTS);
  int extents[4] = {some_extent(g), some_extent(g), some_extent(g), some_extent(g)};
  unsigned open = draw_chance(&g->draw, 6) ? (unsigned)draw_below(&g->draw, 16) : 0;
  char a[4], b[4], maps[512] = "";
  snprintf(a, sizeof a, "%s", product->a);
  snprintf(b, sizeof b, "%s", product->b);
  if (open && !draw_chance(&g->draw, 20)) // an open extent is of one size
    for (int i = 0; i < 4; i++)
      extents[i] = open >> i & 1 ? OPEN_EXTENT : extents[i];
  if (product->maps) {
    turn(g, a);
    turn(g, b);
    const char *dims = product->y[2] ? "bmnk" : "mnk";
    GenMap of_a = letter_map(dims, a), of_b = letter_map(dims, b), of_y = letter_map(dims, product->y);
    if (draw_chance(&g->draw, 60) || a[0] != product->a[0] || a[1] != product->a[1] || b[0] != product->b[0] ||
        b[1] != product->b[1])
      snprintf(maps, sizeof maps, " indexing_maps = [%s, %s, %s]", map_text(g, &of_a), map_text(g, &of_b),
               map_text(g, &of_y));
  }
  Elem narrow = draw_chance(&g->draw, 95) ? some_float(g) : I32, wide = narrow == I32 ? narrow : castable(g, narrow);
  GenValue inputs[2] = {value_of(g, lettered(narrow, a, extents, open)),
                        value_of(g, lettered(narrow, b, extents, open))};
  GenValue output = output_of(g, lettered(wide, product->y, extents, open), true);
  print_named(g, product->name, maps, 2, inputs, output);
}

static void make_contract(Gen *g) {
  static const char *const triples[][3] = {
      {"mk", "kn", "mn"}, {"km", "kn", "nm"}, {"bmk", "nkb", "bmn"}, {"mkb", "bnk", "nm"}};
  int extents[4] = {some_extent(g), some_extent(g), some_extent(g), some_extent(g)}, which = draw_below(&g->draw, 4);
  const char *const *letters = triples[which], *dims = which < 2 ? "mnk" : "bmnk";
  char maps[512];
  GenMap a = letter_map(dims, letters[0]), b = letter_map(dims, letters[1]), y = letter_map(dims, letters[2]);
  snprintf(maps, sizeof maps, " indexing_maps = [%s, %s, %s]", map_text(g, &a), map_text(g, &b), map_text(g, &y));
  Elem narrow = some_float(g), wide = castable(g, narrow);
  GenValue inputs[2] = {value_of(g, lettered(narrow, letters[0], extents, 0)),
                        value_of(g, lettered(narrow, letters[1], extents, 0))};
  print_named(g, "contract", maps, 2, inputs, output_of(g, lettered(wide, letters[2], extents, 0), true));
}

// ----------------------------------------------------------------------------------------------------------- element-wise

static GenValue in_type(Gen *g, GenValue tensor, Elem elem) {
  GenType type = tensor.type;
  type.elem = elem;
  return value_of(g, type);
}

/// Everything above 0.1: what log, sqrt and quotients take.
static GenValue positive_tensor(Gen *g, GenValue tensor) {
  GenValue inputs[2] = {tensor, filled(g, tensor.type, 0.25)};
  if (draw_chance(&g->draw, 10))
    return tensor;
  print_named(g, "abs", "", 1, inputs, empty_tensor(g, tensor.type));
  inputs[0] = g->values[g->num_values - 1];
  print_named(g, "add", "", 2, inputs, empty_tensor(g, tensor.type));
  return g->values[g->num_values - 1];
}

static void make_element_wise(Gen *g) {
  static const char *const unary[] = {"exp", "abs", "negf", "square", "tanh", "erf", "tanh", "ceil", "floor", "round"};
  static const char *const of_positive[] = {"log", "sqrt", "rsqrt", "reciprocal"};
  static const char *const binary[] = {"add", "sub", "mul", "max", "min", "add", "sub", "mul"};
  GenValue inputs[3] = {any_tensor(g, true)};
  inputs[1] = value_of(g, inputs[0].type);
  GenType type = inputs[0].type;
  int kind = draw_below(&g->draw, 100);
  if (g->num_values + 8 > MOST_VALUES)
    return;
  if (kind < 35) {
    print_named(g, unary[draw_below(&g->draw, draw_chance(&g->draw, 85) ? 7 : 10)], "", 1, inputs,
                output_of(g, type, false));
  } else if (kind < 50) {
    inputs[0] = positive_tensor(g, inputs[0]);
    print_named(g, DRAW_FROM(&g->draw, of_positive), "", 1, inputs, output_of(g, type, false));
  } else if (kind < 85) {
    print_named(g, DRAW_FROM(&g->draw, binary), "", 2, inputs, output_of(g, type, false));
  } else if (kind < 95) {
    inputs[1] = positive_tensor(g, inputs[1]);
    print_named(g, "div", "", 2, inputs, output_of(g, type, false));
  } else {
    inputs[2] = inputs[1];
    inputs[1] = inputs[0];
    inputs[0] = in_type(g, inputs[0], I1);
    print_named(g, "select", "", 3, inputs, output_of(g, type, false));
  }
}

static void make_elementwise_kind(Gen *g) {
  static const char *const kinds[] = {"exp", "abs", "negf", "tanh", "add", "sub", "mul"};
  int which = draw_below(&g->draw, 7);
  char kind[80];
  GenValue inputs[2] = {any_tensor(g, true)};
  snprintf(kind, sizeof kind, " kind=#linalg.elementwise_kind<%s>", kinds[which]);
  if (which >= 4)
    inputs[1] = value_of(g, inputs[0].type);
  print_named(g, "elementwise", kind, which >= 4 ? 2 : 1, inputs, output_of(g, inputs[0].type, false));
}

// --------------------------------------------------------------------------------------------------------------- movement

static void print_moved(Gen *g, const char *name, const char *after, GenValue input, GenValue output) {
  GenValue result = new_value(g, output.type);
  LINE(g, "%s = linalg.%s ins(%s : %s) outs(%s : %s) %s\n", name_text(g, result), name, name_text(g, input),
       type_text(g, input.type), name_text(g, output), type_text(g, output.type), after);
  define(g, result);
}

static void make_transpose(Gen *g) {
  GenValue x = any_tensor(g, false);
  int perm[MOST_RANK], shape[MOST_RANK], used;
  char after[80];
  if (x.type.rank == 0)
    return; // MLIR 22 itself crashes there
  for (int d = 0; d < x.type.rank; d++)
    perm[d] = d;
  shuffle(g, perm, x.type.rank);
  used = snprintf(after, sizeof after, "permutation = [");
  for (int d = 0; d < x.type.rank; d++) {
    shape[d] = x.type.shape[perm[d]];
    used += snprintf(after + used, sizeof after - (size_t)used, "%s%d", d ? ", " : "", perm[d]);
  }
  snprintf(after + used, sizeof after - (size_t)used, "]");
  print_moved(g, "transpose", after, x, output_of(g, tensor_of(x.type.elem, x.type.rank, shape), false));
}

/// Dimensions of `rank`, each with this chance, as MLIR prints them.
static unsigned choose_dims(Gen *g, int rank, int percent, char *text, size_t room) {
  unsigned dims = 0;
  int used = snprintf(text, room, "dimensions = [");
  for (int d = 0; d < rank; d++)
    if (draw_chance(&g->draw, percent)) {
      used += snprintf(text + used, room - (size_t)used, "%s%d", dims ? ", " : "", d);
      dims |= 1u << d;
    }
  snprintf(text + used, room - (size_t)used, "]");
  return dims;
}

static void make_broadcast(Gen *g) {
  GenValue x = any_tensor(g, false);
  int shape[MOST_RANK], rank = x.type.rank + 1 + draw_below(&g->draw, 2), from = 0;
  char after[80];
  if (rank > MOST_RANK)
    return;
  unsigned added = choose_dims(g, rank, 40, after, sizeof after);
  for (int d = 0; d < rank; d++)
    if (added >> d & 1)
      shape[d] = some_extent(g);
    else if (from < x.type.rank)
      shape[d] = x.type.shape[from++];
    else
      return; // fewer were added than there are
  if (from == x.type.rank)
    print_moved(g, "broadcast", after, x, output_of(g, tensor_of(x.type.elem, rank, shape), false));
}

static void make_copy(Gen *g) {
  GenValue x = any_tensor(g, false);
  print_named(g, "copy", "", 1, &x, output_of(g, x.type, false));
}

static void make_fill(Gen *g) {
  GenValue x = any_tensor(g, true), number = value_of(g, scalar_of(x.type.elem));
  print_named(g, "fill", "", 1, &number, draw_chance(&g->draw, 50) ? x : empty_tensor(g, x.type));
}

// ------------------------------------------------------------------------------------------------------------ reduce, map

static void make_reduce(Gen *g) {
  static const char *const folds[] = {"arith.addf", "arith.addf",     "arith.maximumf",
                                      "arith.mulf", "arith.minimumf", "arith.maxnumf"};
  GenValue x = any_tensor(g, true);
  int shape[MOST_RANK], rank = 0;
  char dims[80], body[200];
  unsigned reduced = choose_dims(g, x.type.rank, 50, dims, sizeof dims);
  for (int d = 0; d < x.type.rank; d++)
    if (!(reduced >> d & 1))
      shape[rank++] = x.type.shape[d];
  GenValue start = output_of(g, tensor_of(x.type.elem, rank, shape), true), result = new_value(g, start.type);
  GenValue a = new_value(g, scalar_of(x.type.elem)), b = new_value(g, scalar_of(x.type.elem)), c = new_value(g, a.type);
  const char *name = DRAW_FROM(&g->draw, folds), *elem = elem_name(x.type.elem);
  bool shorthand = draw_chance(&g->draw, 50);
  snprintf(body, sizeof body, "(%s: %s, %s: %s) {\n%s = %s %s, %s : %s\nlinalg.yield %s : %s\n}", name_text(g, a), elem,
           name_text(g, b), elem, name_text(g, c), name, name_text(g, a), name_text(g, b), elem, name_text(g, c), elem);
  LINE(g, "%s = linalg.reduce %s%s%s ins(%s : %s) outs(%s : %s) %s\n%s%s", name_text(g, result), shorthand ? "{" : "",
       shorthand ? name : "", shorthand ? "}" : "", name_text(g, x), type_text(g, x.type), name_text(g, start),
       type_text(g, start.type), dims, shorthand ? "" : body, shorthand ? "" : "\n");
  define(g, result);
}

static void make_map(Gen *g) {
  GenValue inputs[3], output;
  GenBody body = {0};
  int count = 1 + draw_below(&g->draw, 3);
  inputs[0] = any_tensor(g, true);
  for (int i = 1; i < count; i++)
    inputs[i] = in_type(g, inputs[0], some_float(g));
  GenType type = inputs[0].type;
  type.elem = some_float(g);
  output = output_of(g, type, false);
  GenValue result = new_value(g, type), held = new_value(g, scalar_of(type.elem));
  LINE(g, "%s = linalg.map ins(", name_text(g, result));
  for (int i = 0; i < count; i++)
    LINE(g, "%s%s", i ? ", " : "", name_text(g, inputs[i]));
  LINE(g, " : ");
  for (int i = 0; i < count; i++)
    LINE(g, "%s%s", i ? ", " : "", type_text(g, inputs[i].type));
  LINE(g, ") outs(%s : %s) (", name_text(g, output), type_text(g, type));
  for (int i = 0; i < count; i++) {
    GenValue element = new_value(g, scalar_of(inputs[i].type.elem));
    body_add(&body, element);
    LINE(g, "%s: %s, ", name_text(g, element), elem_name(element.type.elem));
  }
  LINE(g, "%s: %s) {\n", name_text(g, held), elem_name(type.elem));
  GenValue value = body_expression(g, &body, type.elem, draw_below(&g->draw, 4));
  LINE(g, "linalg.yield %s : %s\n}\n", name_text(g, value), elem_name(type.elem));
  define(g, result);
}

/// What has windows: nothing that the bridge says.
static void make_window(Gen *g) {
  int n = some_extent(g), k = some_extent(g), c = some_extent(g), f = some_extent(g);
  Elem elem = some_float(g);
  bool pool = draw_chance(&g->draw, 40);
  GenValue inputs[2];
  inputs[0] = value_of(g, tensor_of(elem, 3, (int[]){2, n + k - 1, c}));
  inputs[1] =
      pool ? empty_tensor(g, tensor_of(elem, 1, (int[]){k})) : value_of(g, tensor_of(elem, 3, (int[]){k, c, f}));
  GenValue output = output_of(g, tensor_of(elem, 3, (int[]){2, n, pool ? c : f}), true);
  print_named(g, pool ? (draw_chance(&g->draw, 50) ? "pooling_nwc_sum" : "pooling_nwc_max") : "conv_1d_nwc_wcf", "", 2,
              inputs, output);
}

static void make_softmax(Gen *g) {
  GenValue x = any_tensor(g, true), output = empty_tensor(g, x.type), result = new_value(g, x.type);
  if (x.type.rank == 0)
    return;
  LINE(g, "%s = linalg.softmax dimension(%d) ins(%s : %s) outs(%s : %s) -> %s\n", name_text(g, result),
       draw_below(&g->draw, x.type.rank), name_text(g, x), type_text(g, x.type), name_text(g, output),
       type_text(g, x.type), type_text(g, x.type));
  define(g, result);
}

void make_named(Gen *g) {
  static const struct {
    int weight;
    GenOperation make;
  } rows[] = {{28, make_product},  {6, make_contract},  {24, make_element_wise}, {5, make_elementwise_kind},
              {8, make_transpose}, {6, make_broadcast}, {3, make_copy},          {3, make_fill},
              {9, make_reduce},    {5, make_map},       {2, make_window},        {1, make_softmax}};
  int at = draw_below(&g->draw, 100);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; at -= rows[i++].weight)
    if (at < rows[i].weight) {
      rows[i].make(g);
      return;
    }
}
