// generate_values.c - values in scope, and making one of a type that is asked for.
//
// Operations prefer what was made last, so that chains come about; what is not there is made: an argument of the function, a
// constant, a filled tensor.
#include "generate_internal.h"

#include <stdio.h>
#include <string.h>

static char *next_text(Gen *g) { return g->texts[g->next_text++ % 16]; }

const char *type_text(Gen *g, GenType type) {
  char *text = next_text(g);
  int used = 0;
  const int room = sizeof g->texts[0];
  if (!type.is_tensor)
    return elem_name(type.elem);
  used += snprintf(text, (size_t)room, "tensor<");
  for (int d = 0; d < type.rank; d++)
    used += type.open >> d & 1 ? snprintf(text + used, (size_t)(room - used), "?x")
                               : snprintf(text + used, (size_t)(room - used), "%dx", type.shape[d]);
  snprintf(text + used, (size_t)(room - used), "%s>", elem_name(type.elem));
  return text;
}

const char *name_text(Gen *g, GenValue value) {
  char *text = next_text(g);
  if (value.part)
    snprintf(text, sizeof g->texts[0], "%%v%d#%d", value.id, value.part - 1);
  else
    snprintf(text, sizeof g->texts[0], "%%v%d", value.id);
  return text;
}

GenType scalar_of(Elem elem) { return (GenType){.elem = elem}; }

GenType tensor_of(Elem elem, int rank, const int *shape) {
  GenType type = {.elem = elem, .is_tensor = true, .rank = rank};
  memcpy(type.shape, shape, (size_t)rank * sizeof *shape);
  return type;
}

bool same_type(GenType a, GenType b) {
  return a.elem == b.elem && a.is_tensor == b.is_tensor && a.rank == b.rank && a.open == b.open &&
         memcmp(a.shape, b.shape, (size_t)a.rank * sizeof *a.shape) == 0;
}

bool is_static(GenType type) { return type.open == 0; }

long size_of_type(GenType type) {
  long size = 1;
  for (int d = 0; d < type.rank; d++)
    size *= type.shape[d];
  return size;
}

GenValue new_value(Gen *g, GenType type) { return (GenValue){.id = g->next_id++, .type = type}; }

void define(Gen *g, GenValue value) {
  if (g->num_values < MOST_VALUES)
    g->values[g->num_values++] = value;
}

static GenValue argument(Gen *g, GenType type) {
  GenValue value = new_value(g, type);
  g->args[g->num_args++] = value;
  if (g->depth == 0) // inside, it would leave the scope with what was made there
    define(g, value);
  return value;
}

Elem some_float(Gen *g) { return DRAW_FROM(&g->draw, g->floats); }
int some_extent(Gen *g) { return DRAW_FROM(&g->draw, g->extents); }

GenType some_type(Gen *g, int least_rank, int most_rank) {
  int shape[MOST_RANK], rank = least_rank + draw_below(&g->draw, most_rank - least_rank + 1);
  for (int d = 0; d < rank; d++)
    shape[d] = some_extent(g);
  return tensor_of(some_float(g), rank, shape);
}

// -------------------------------------------------------------------------------------------------------------- constants

static const char *number_text(Gen *g, Elem elem, double number) {
  char *text = next_text(g);
  if (number == -INFINITY || number == INFINITY) {
    static const char *const low[] = {"0xFC00", "0xFF80", "0xFF800000", "0xFFF0000000000000"};
    static const char *const high[] = {"0x7C00", "0x7F80", "0x7F800000", "0x7FF0000000000000"};
    return number < 0 ? low[elem] : high[elem];
  }
  if (elem == I1)
    return number != 0 ? "true" : "false";
  snprintf(text, sizeof g->texts[0], is_float(elem) ? "%.6e" : "%.0f", number);
  return text;
}

static double some_number(Gen *g, Elem elem) {
  static const double floats[] = {0, 1, -1, 2, 0.5, -0.5, 0.125, 3, -2.25, 0.1, 1e-5, 6};
  static const double integers[] = {0, 1, 2, 3, 5, 7};
  return elem == I1       ? draw_below(&g->draw, 2)
         : is_float(elem) ? DRAW_FROM(&g->draw, floats)
                          : DRAW_FROM(&g->draw, integers);
}

GenValue scalar_constant(Gen *g, Elem elem, double number) {
  GenValue value = new_value(g, scalar_of(elem));
  if (elem == I1)
    LINE(g, "%s = arith.constant %s\n", name_text(g, value), number_text(g, elem, number));
  else
    LINE(g, "%s = arith.constant %s : %s\n", name_text(g, value), number_text(g, elem, number), elem_name(elem));
  return value;
}

GenValue index_constant(Gen *g, int number) { return scalar_constant(g, INDEX, number); }

static GenValue splat_constant(Gen *g, GenType type) {
  GenValue value = new_value(g, type);
  LINE(g, "%s = arith.constant dense<%s> : %s\n", name_text(g, value),
       number_text(g, type.elem, some_number(g, type.elem)), type_text(g, type));
  return value;
}

static void dense_elements(Gen *g, GenType type, int dim) {
  if (dim == type.rank) {
    LINE(g, "%s", number_text(g, type.elem, some_number(g, type.elem)));
    return;
  }
  LINE(g, "[");
  for (int i = 0; i < type.shape[dim]; i++) {
    LINE(g, "%s", i ? ", " : "");
    dense_elements(g, type, dim + 1);
  }
  LINE(g, "]");
}

static GenValue dense_constant(Gen *g, GenType type) {
  GenValue value = new_value(g, type);
  LINE(g, "%s = arith.constant dense<", name_text(g, value));
  dense_elements(g, type, 0);
  LINE(g, "> : %s\n", type_text(g, type));
  return value;
}

GenValue empty_tensor(Gen *g, GenType type) {
  char sizes[160] = "";
  int used = 0;
  for (int d = 0; d < type.rank; d++)
    if (type.open >> d & 1) {
      GenValue size = index_constant(g, type.shape[d]);
      used += snprintf(sizes + used, sizeof sizes - (size_t)used, "%s%s", used ? ", " : "", name_text(g, size));
    }
  GenValue value = new_value(g, type);
  value.unwritten = true;
  LINE(g, "%s = tensor.empty(%s) : %s\n", name_text(g, value), sizes, type_text(g, type));
  return value;
}

GenValue filled(Gen *g, GenType type, double number) {
  GenValue start = scalar_constant(g, type.elem, number), empty = empty_tensor(g, type), value = new_value(g, type);
  LINE(g, "%s = linalg.fill ins(%s : %s) outs(%s : %s) -> %s\n", name_text(g, value), name_text(g, start),
       elem_name(type.elem), name_text(g, empty), type_text(g, type), type_text(g, type));
  return value;
}

static GenValue splat(Gen *g, GenType type) {
  GenValue number = scalar_constant(g, type.elem, some_number(g, type.elem)), value = new_value(g, type);
  LINE(g, "%s = tensor.splat %s : %s\n", name_text(g, value), name_text(g, number), type_text(g, type));
  return value;
}

// ----------------------------------------------------------------------------------------------------------------- values

static GenValue make(Gen *g, GenType type) {
  int how = draw_below(&g->draw, 100);
  bool may_ask = g->num_args < MOST_ARGS && how % 8;
  if (!type.is_tensor)
    return how < 30 && may_ask ? argument(g, type) : scalar_constant(g, type.elem, some_number(g, type.elem));
  if (type.open)
    return may_ask && how < 80 ? argument(g, type) : filled(g, type, some_number(g, type.elem));
  if (may_ask && how < 92)
    return argument(g, type);
  if (how < 94)
    return filled(g, type, some_number(g, type.elem));
  if (how < 96)
    return splat_constant(g, type);
  return how < 98 && size_of_type(type) > 0 && size_of_type(type) <= 40 ? dense_constant(g, type) : splat(g, type);
}

/// One of the values that fit, newer ones more often.
static bool choose(Gen *g, bool (*fits)(const void *user, const GenValue *value), const void *user, GenValue *out) {
  int found[MOST_VALUES], count = 0;
  for (int i = 0; i < g->num_values; i++)
    if (!g->values[i].unwritten && fits(user, &g->values[i]))
      found[count++] = i;
  if (!count)
    return false;
  int back = draw_below(&g->draw, draw_chance(&g->draw, 60) && count > 3 ? 3 : count);
  *out = g->values[found[count - 1 - back]];
  return true;
}

static bool has_type(const void *user, const GenValue *value) { return same_type(value->type, *(const GenType *)user); }

static bool is_usable(const void *user, const GenValue *value) {
  const bool floats = *(const bool *)user;
  return value->type.is_tensor && (!floats || is_float(value->type.elem)) && is_static(value->type) &&
         size_of_type(value->type) > 0 && size_of_type(value->type) < 1000;
}

GenValue value_of(Gen *g, GenType type) {
  GenValue found;
  if (!draw_chance(&g->draw, 15) && choose(g, has_type, &type, &found))
    return found;
  return make(g, type);
}

bool some_tensor(Gen *g, bool floats, GenValue *out) { return choose(g, is_usable, &floats, out); }

GenValue any_tensor(Gen *g, bool floats) {
  GenValue found;
  if (!draw_chance(&g->draw, 10) && some_tensor(g, floats, &found))
    return found;
  return make(g, some_type(g, 1, 4));
}

GenValue output_of(Gen *g, GenType type, bool read) {
  int how = draw_below(&g->draw, 100);
  if (!read)
    return how < 80 ? empty_tensor(g, type) : value_of(g, type);
  if (how < 60)
    return filled(g, type, 0);
  return how < 70 ? filled(g, type, some_number(g, type.elem)) : value_of(g, type);
}

// ------------------------------------------------------------------------------------------------------------------- maps

const char *map_text(Gen *g, const GenMap *map) {
  char *text = next_text(g);
  const size_t room = sizeof g->texts[0];
  size_t used = (size_t)snprintf(text, room, "affine_map<(");
  for (int d = 0; d < map->rank; d++)
    used += (size_t)snprintf(text + used, room - used, "%sd%d", d ? ", " : "", d);
  used += (size_t)snprintf(text + used, room - used, ") -> (");
  for (int i = 0; i < map->count; i++) {
    const char *comma = i ? ", " : "";
    used += (size_t)(map->results[i] < 0 ? snprintf(text + used, room - used, "%s0", comma)
                                         : snprintf(text + used, room - used, "%sd%d", comma, map->results[i]));
  }
  snprintf(text + used, room - used, ")>");
  return text;
}

void shuffle(Gen *g, int *numbers, int count) {
  for (int i = count - 1; i > 0; i--) {
    int j = draw_below(&g->draw, i + 1), kept = numbers[i];
    numbers[i] = numbers[j];
    numbers[j] = kept;
  }
}
