// generate_idiom.c - sequences that exporters print: norms, softmax with and without masks, an argmax beside a maximum, a wide
// product that is rounded, casts there and back.
#include "generate_internal.h"

#include <stdio.h>

// A generic in two dimensions at most, for sequences: each input's map, and a body as text with %0, %1, ... for its elements.
static const char *const IDENTITY = "affine_map<(d0, d1) -> (d0, d1)>";
static const char *const ROW = "affine_map<(d0, d1) -> (d0, 0)>";

typedef struct Step {
  int count; // of inputs
  GenValue inputs[3];
  bool rows[3];
  GenValue output;
  bool to_rows;
} Step;

static void print_step(Gen *g, const Step *step, GenValue elements[4], GenValue result) {
  LINE(g, "%s = linalg.generic {indexing_maps = [", name_text(g, result));
  for (int i = 0; i < step->count; i++)
    LINE(g, "%s, ", step->rows[i] ? ROW : IDENTITY);
  LINE(g, "%s], iterator_types = [\"parallel\", \"%s\"]} ins(", step->to_rows ? ROW : IDENTITY,
       step->to_rows ? "reduction" : "parallel");
  for (int i = 0; i < step->count; i++)
    LINE(g, "%s%s", i ? ", " : "", name_text(g, step->inputs[i]));
  LINE(g, " : ");
  for (int i = 0; i < step->count; i++)
    LINE(g, "%s%s", i ? ", " : "", type_text(g, step->inputs[i].type));
  LINE(g, ") outs(%s : %s) {\n^bb0(", name_text(g, step->output), type_text(g, step->output.type));
  for (int i = 0; i <= step->count; i++) {
    elements[i] = new_value(g, scalar_of(i < step->count ? step->inputs[i].type.elem : step->output.type.elem));
    LINE(g, "%s%s: %s", i ? ", " : "", name_text(g, elements[i]), elem_name(elements[i].type.elem));
  }
  LINE(g, "):\n");
}

static void end_step(Gen *g, const Step *step, GenValue yielded, GenValue result) {
  LINE(g, "linalg.yield %s : %s\n} -> %s\n", name_text(g, yielded), elem_name(yielded.type.elem),
       type_text(g, step->output.type));
  define(g, result);
}

/// One operator on two elements (`b` is element 1, or what the output held where there is one input).
static GenValue simple(Gen *g, Step step, const char *name) {
  GenValue elements[4], result = new_value(g, step.output.type), value;
  print_step(g, &step, elements, result);
  value = new_value(g, elements[0].type);
  LINE(g, "%s = %s %s, %s : %s\n", name_text(g, value), name, name_text(g, elements[0]), name_text(g, elements[1]),
       elem_name(value.type.elem));
  end_step(g, &step, value, result);
  return result;
}

static GenValue simple_unary(Gen *g, GenValue x, const char *name) {
  Step step = {.count = 1, .inputs = {x}, .output = empty_tensor(g, x.type)};
  GenValue elements[4], result = new_value(g, x.type), value = new_value(g, scalar_of(x.type.elem));
  print_step(g, &step, elements, result);
  LINE(g, "%s = %s %s : %s\n", name_text(g, value), name, name_text(g, elements[0]), elem_name(value.type.elem));
  end_step(g, &step, value, result);
  return result;
}

static GenValue cast_tensor(Gen *g, GenValue x, Elem elem) {
  GenType type = x.type;
  type.elem = elem;
  if (x.type.elem == elem)
    return x;
  Step step = {.count = 1, .inputs = {x}, .output = empty_tensor(g, type)};
  GenValue elements[4], result = new_value(g, type);
  print_step(g, &step, elements, result);
  end_step(g, &step, body_cast(g, elements[0], elem), result);
  return result;
}

static GenType rows_of(GenType type) {
  type.shape[1] = 1;
  return type;
}

static GenValue some_matrix(Gen *g) {
  return value_of(g, tensor_of(some_float(g), 2, (int[]){some_extent(g), some_extent(g)}));
}

static Elem wider(Gen *g, Elem elem) {
  return draw_chance(&g->draw, 70) ? (elem == F32 || elem == F64 ? elem : F32) : draw_chance(&g->draw, 30) ? F64 : elem;
}

static void make_norm(Gen *g) {
  GenValue x = some_matrix(g), y = cast_tensor(g, x, wider(g, x.type.elem)), squares, scale;
  squares = simple(g, (Step){.count = 2, .inputs = {y, y}, .output = empty_tensor(g, y.type)}, "arith.mulf");
  GenValue sum =
      simple(g, (Step){.count = 1, .inputs = {squares}, .to_rows = true, .output = filled(g, rows_of(y.type), 0)},
             "arith.addf");
  GenValue few = filled(g, rows_of(y.type), 0.125);
  GenValue mean =
      simple(g, (Step){.count = 2, .inputs = {sum, few}, .output = empty_tensor(g, few.type)}, "arith.mulf");
  GenValue safe =
      simple(g, (Step){.count = 2, .inputs = {mean, few}, .output = empty_tensor(g, few.type)}, "arith.addf");
  scale = simple_unary(g, safe, draw_chance(&g->draw, 70) ? "math.rsqrt" : "math.sqrt");
  GenValue normed =
      simple(g, (Step){.count = 2, .inputs = {y, scale}, .rows = {false, true}, .output = empty_tensor(g, y.type)},
             draw_chance(&g->draw, 70) ? "arith.mulf" : "arith.divf");
  cast_tensor(g, normed, x.type.elem);
}

/// -inf where the column is behind the row, or another comparison of the two holds; x elsewhere.
static GenValue mask_by_position(Gen *g, GenValue x) {
  static const char *const predicates[] = {"sgt", "sgt", "sge", "slt", "sle", "eq", "ne", "ugt"};
  Step step = {.count = 1, .inputs = {x}, .output = empty_tensor(g, x.type)};
  GenValue elements[4], result = new_value(g, x.type), row = new_value(g, scalar_of(INDEX)),
                        column = new_value(g, row.type), moved = new_value(g, row.type),
                        offset = scalar_constant(g, INDEX, draw_below(&g->draw, 5) - 2),
                        behind = new_value(g, scalar_of(I1)), value = new_value(g, scalar_of(x.type.elem));
  GenValue low = scalar_constant(g, x.type.elem, -INFINITY);
  print_step(g, &step, elements, result);
  LINE(g, "%s = linalg.index 0 : index\n%s = linalg.index 1 : index\n", name_text(g, row), name_text(g, column));
  LINE(g, "%s = arith.%s %s, %s : index\n", name_text(g, moved), draw_chance(&g->draw, 80) ? "addi" : "subi",
       name_text(g, column), name_text(g, offset));
  LINE(g, "%s = arith.cmpi %s, %s, %s : index\n", name_text(g, behind), DRAW_FROM(&g->draw, predicates),
       name_text(g, moved), name_text(g, row));
  LINE(g, "%s = arith.select %s, %s, %s : %s\n", name_text(g, value), name_text(g, behind), name_text(g, low),
       name_text(g, elements[0]), elem_name(x.type.elem));
  end_step(g, &step, value, result);
  return result;
}

/// Whether a row is -inf altogether; of them the result is 0 then.
static GenValue make_safe(Gen *g, GenValue tested, GenValue x) {
  GenType bits = x.type;
  bits.elem = I1;
  GenValue low = scalar_constant(g, x.type.elem, -INFINITY), zeros = filled(g, x.type, 0),
           all_start = filled(g, rows_of(bits), 1);
  Step test = {.count = 1, .inputs = {tested}, .output = empty_tensor(g, bits)};
  GenValue elements[4], is_low = new_value(g, bits), bit = new_value(g, scalar_of(I1));
  print_step(g, &test, elements, is_low);
  LINE(g, "%s = arith.cmpf oeq, %s, %s : %s\n", name_text(g, bit), name_text(g, elements[0]), name_text(g, low),
       elem_name(x.type.elem));
  end_step(g, &test, bit, is_low);
  GenValue all = simple(g, (Step){.count = 1, .inputs = {is_low}, .to_rows = true, .output = all_start}, "arith.andi");
  Step choice = {
      .count = 3, .inputs = {all, zeros, x}, .rows = {true, false, false}, .output = empty_tensor(g, x.type)};
  GenValue result = new_value(g, x.type), value = new_value(g, scalar_of(x.type.elem));
  print_step(g, &choice, elements, result);
  LINE(g, "%s = arith.select %s, %s, %s : %s\n", name_text(g, value), name_text(g, elements[0]),
       name_text(g, elements[1]), name_text(g, elements[2]), elem_name(x.type.elem));
  end_step(g, &choice, value, result);
  return result;
}

static void make_softmax(Gen *g) {
  GenValue x = some_matrix(g);
  GenValue y = cast_tensor(g, x, wider(g, x.type.elem));
  if (draw_chance(&g->draw, 30))
    y = mask_by_position(g, y);
  GenValue most =
      simple(g, (Step){.count = 1, .inputs = {y}, .to_rows = true, .output = filled(g, rows_of(y.type), -INFINITY)},
             "arith.maximumf");
  GenValue less =
      simple(g, (Step){.count = 2, .inputs = {y, most}, .rows = {false, true}, .output = empty_tensor(g, y.type)},
             "arith.subf");
  GenValue raised = simple_unary(g, less, "math.exp");
  GenValue sum =
      simple(g, (Step){.count = 1, .inputs = {raised}, .to_rows = true, .output = filled(g, rows_of(y.type), 0)},
             "arith.addf");
  GenValue result =
      simple(g, (Step){.count = 2, .inputs = {raised, sum}, .rows = {false, true}, .output = empty_tensor(g, y.type)},
             "arith.divf");
  if (draw_chance(&g->draw, 40))
    result = make_safe(g, y, result);
  cast_tensor(g, result, x.type.elem);
}

/// A maximum with the place where it stands.
static void make_argmax(Gen *g) {
  GenValue x = some_matrix(g), starts = filled(g, rows_of(x.type), -INFINITY);
  GenType places = rows_of(x.type);
  places.elem = I64;
  GenValue zero = filled(g, places, 0), result = new_value(g, x.type);
  const char *elem = elem_name(x.type.elem);
  LINE(g, "%s:2 = linalg.generic {indexing_maps = [%s, %s, %s], iterator_types = [\"parallel\", \"reduction\"]} ",
       name_text(g, result), IDENTITY, ROW, ROW);
  LINE(g, "ins(%s : %s) outs(%s, %s : %s, %s) {\n", name_text(g, x), type_text(g, x.type), name_text(g, starts),
       name_text(g, zero), type_text(g, starts.type), type_text(g, places));
  int id = g->next_id;
  g->next_id += 7;
  LINE(g, "^bb0(%%v%d: %s, %%v%d: %s, %%v%d: i64):\n", id, elem, id + 1, elem, id + 2);
  LINE(g, "%%v%d = linalg.index 1 : index\n%%v%d = arith.index_cast %%v%d : index to i64\n", id + 3, id + 4, id + 3);
  LINE(g, "%%v%d = arith.maximumf %%v%d, %%v%d : %s\n", id + 5, id, id + 1, elem);
  LINE(g, "%%v%d = arith.cmpf ogt, %%v%d, %%v%d : %s\n", id + 6, id, id + 1, elem);
  LINE(g, "%%v%d = arith.select %%v%d, %%v%d, %%v%d : i64\n", g->next_id, id + 6, id + 4, id + 2);
  LINE(g, "linalg.yield %%v%d, %%v%d : %s, i64\n} -> (%s, %s)\n", id + 5, g->next_id, elem, type_text(g, starts.type),
       type_text(g, places));
  g->next_id++;
  define(g, (GenValue){.id = result.id, .part = 1, .type = starts.type});
  if (draw_chance(&g->draw, 30)) // mostly nobody asks where
    define(g, (GenValue){.id = result.id, .part = 2, .type = places});
}

/// A product of narrow operands, wide, and rounded.
static void make_rounded_product(Gen *g) {
  int m = some_extent(g), n = some_extent(g), k = some_extent(g);
  Elem narrow = some_float(g), wide = wider(g, narrow);
  GenValue a = value_of(g, tensor_of(narrow, 2, (int[]){m, k})), b = value_of(g, tensor_of(narrow, 2, (int[]){k, n}));
  GenValue start = output_of(g, tensor_of(wide, 2, (int[]){m, n}), true), product = new_value(g, start.type);
  LINE(g, "%s = linalg.matmul ins(%s, %s : %s, %s) outs(%s : %s) -> %s\n", name_text(g, product), name_text(g, a),
       name_text(g, b), type_text(g, a.type), type_text(g, b.type), name_text(g, start), type_text(g, start.type),
       type_text(g, start.type));
  if (draw_chance(&g->draw, 20))
    define(g, product); // somebody may see it wide
  cast_tensor(g, product, narrow);
}

/// Pieces along one dimension, put one after the other into a tensor that nobody has written: some in another order, some that
/// leave a gap or lie over another.
static void make_inserts(Gen *g) {
  int sizes[3] = {some_extent(g), some_extent(g), some_extent(g)}, order[3] = {0, 1, 2}, starts[3];
  int count = 1 + draw_below(&g->draw, 3), dim = draw_below(&g->draw, 2), shape[2] = {some_extent(g), some_extent(g)},
      at = 0;
  Elem elem = some_float(g);
  for (int i = 0; i < count; i++) {
    starts[i] = at;
    at += sizes[i];
  }
  shape[dim] = at;
  GenType whole = tensor_of(elem, 2, shape);
  GenValue into = draw_chance(&g->draw, 70) ? empty_tensor(g, whole) : filled(g, whole, 1);
  if (draw_chance(&g->draw, 30))
    shuffle(g, order, count);
  for (int i = 0; i < count; i++) {
    int which = order[i];
    shape[dim] = sizes[which];
    GenValue piece = value_of(g, tensor_of(elem, 2, shape)), result = new_value(g, whole);
    if (draw_chance(&g->draw, 4))
      starts[which] = 0;
    LINE(g, "%s = tensor.insert_slice %s into %s[%d, %d] [%d, %d] [1, 1] : %s into %s\n", name_text(g, result),
         name_text(g, piece), name_text(g, into), dim ? 0 : starts[which], dim ? starts[which] : 0, shape[0], shape[1],
         type_text(g, piece.type), type_text(g, whole));
    into = result;
    if (i + 1 < count && draw_chance(&g->draw, 10))
      define(g, into);
  }
  define(g, into);
}

/// An element of `tensor` at the point, `start` less along `dim`.
static GenValue read_at(Gen *g, GenValue tensor, const GenValue point[2], int dim, int start) {
  GenValue moved = new_value(g, scalar_of(INDEX)), result = new_value(g, scalar_of(tensor.type.elem));
  GenValue by = index_constant(g, start);
  LINE(g, "%s = arith.subi %s, %s : index\n", name_text(g, moved), name_text(g, point[dim]), name_text(g, by));
  LINE(g, "%s = tensor.extract %s[%s, %s] : %s\n", name_text(g, result), name_text(g, tensor),
       name_text(g, dim ? point[0] : moved), name_text(g, dim ? moved : point[1]), type_text(g, tensor.type));
  return result;
}

/// Two tensors behind each other, element by element: the body asks in which one an index lies.
static void make_indexed(Gen *g) {
  int first = some_extent(g), second = some_extent(g), dim = draw_below(&g->draw, 2),
      shape[2] = {some_extent(g), some_extent(g)};
  int slack = draw_chance(&g->draw, 20); // the first is longer than what is read of it
  Elem elem = some_float(g);
  GenValue parts[2], point[2], result, condition, chosen;
  for (int i = 0; i < 2; i++) {
    shape[dim] = i ? second : first + slack;
    parts[i] = value_of(g, tensor_of(elem, 2, shape));
  }
  shape[dim] = first + second;
  GenValue output = empty_tensor(g, tensor_of(elem, 2, shape));
  result = new_value(g, output.type);
  LINE(g,
       "%s = linalg.generic {indexing_maps = [%s], iterator_types = [\"parallel\", \"parallel\"]} outs(%s : %s) "
       "{\n^bb0(%s: %s):\n",
       name_text(g, result), IDENTITY, name_text(g, output), type_text(g, output.type),
       name_text(g, new_value(g, scalar_of(elem))), elem_name(elem));
  for (int d = 0; d < 2; d++) {
    point[d] = new_value(g, scalar_of(INDEX));
    LINE(g, "%s = linalg.index %d : index\n", name_text(g, point[d]), d);
  }
  GenValue border = index_constant(g, first);
  condition = new_value(g, scalar_of(I1));
  chosen = new_value(g, scalar_of(elem));
  LINE(g, "%s = arith.cmpi %s, %s, %s : index\n", name_text(g, condition), draw_chance(&g->draw, 60) ? "slt" : "ult",
       name_text(g, point[dim]), name_text(g, border));
  LINE(g, "%s = scf.if %s -> (%s) {\n", name_text(g, chosen), name_text(g, condition), elem_name(elem));
  GenValue one = read_at(g, parts[0], point, dim, 0);
  LINE(g, "scf.yield %s : %s\n} else {\n", name_text(g, one), elem_name(elem));
  GenValue other = read_at(g, parts[1], point, dim, first);
  LINE(g, "scf.yield %s : %s\n}\nlinalg.yield %s : %s\n} -> %s\n", name_text(g, other), elem_name(elem),
       name_text(g, chosen), elem_name(elem), type_text(g, output.type));
  define(g, result);
}

void make_idiom(Gen *g) {
  static const GenOperation rows[] = {make_norm,    make_softmax, make_softmax, make_argmax, make_rounded_product,
                                      make_inserts, make_indexed};
  DRAW_FROM(&g->draw, rows)(g);
}
