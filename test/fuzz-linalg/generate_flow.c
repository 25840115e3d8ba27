// generate_flow.c - what stands between operators: calls with and without side effects, memory, scf, blocks.
#include "generate_internal.h"

#include <stdio.h>

// ------------------------------------------------------------------------------------------------------------------ calls

static void print_call(Gen *g, const GenFunction *function, const GenValue *inputs) {
  GenValue results[MOST_SIGNATURE];
  for (int i = 0; i < function->num_results; i++)
    results[i] = new_value(g, function->results[i]);
  for (int i = 0; i < function->num_results; i++)
    LINE(g, "%s%s", i ? ", " : "", name_text(g, results[i]));
  LINE(g, "%sfunc.call @%s(", function->num_results ? " = " : "", function->name);
  for (int i = 0; i < function->num_inputs; i++)
    LINE(g, "%s%s", i ? ", " : "", name_text(g, inputs[i]));
  LINE(g, ") : (");
  for (int i = 0; i < function->num_inputs; i++)
    LINE(g, "%s%s", i ? ", " : "", type_text(g, function->inputs[i]));
  LINE(g, ") -> (");
  for (int i = 0; i < function->num_results; i++)
    LINE(g, "%s%s", i ? ", " : "", type_text(g, function->results[i]));
  LINE(g, ")\n");
  for (int i = 0; i < function->num_results; i++)
    define(g, results[i]);
}

static void make_call(Gen *g) {
  if (!g->num_functions)
    return;
  const GenFunction *function = &g->functions[draw_below(&g->draw, g->num_functions)];
  GenValue inputs[MOST_ARGS];
  for (int i = 0; i < function->num_inputs; i++)
    inputs[i] = value_of(g, function->inputs[i]);
  print_call(g, function, inputs);
}

/// A function from elsewhere that sees a value as it is just now, and perhaps gives another.
static void make_effect(Gen *g) {
  GenValue x = any_tensor(g, false);
  if (g->num_functions == MOST_FUNCTIONS || g->options->stock)
    return;
  GenFunction *function = &g->functions[g->num_functions];
  *function = (GenFunction){.external = true, .num_inputs = 1, .num_results = draw_below(&g->draw, 2)};
  function->inputs[0] = function->results[0] = x.type;
  snprintf(function->name, sizeof function->name, "outside_%d", g->num_functions++);
  print_call(g, function, &x);
}

// ----------------------------------------------------------------------------------------------------------------- memory

/// An element is stored, and loaded again behind other operations.
static void make_memory(Gen *g) {
  Elem elem = some_float(g);
  GenValue value = value_of(g, scalar_of(elem)), place = index_constant(g, draw_below(&g->draw, 4)),
           memory = new_value(g, scalar_of(elem)), loaded = new_value(g, scalar_of(elem));
  const char *type = elem_name(elem);
  LINE(g, "%s = memref.alloc() : memref<4x%s>\n", name_text(g, memory), type);
  LINE(g, "memref.store %s, %s[%s] : memref<4x%s>\n", name_text(g, value), name_text(g, memory), name_text(g, place),
       type);
  if (g->depth < 3)
    make_operations(g, 1 + draw_below(&g->draw, 2));
  if (draw_chance(&g->draw, 50))
    LINE(g, "memref.store %s, %s[%s] : memref<4x%s>\n", name_text(g, value_of(g, scalar_of(elem))),
         name_text(g, memory), name_text(g, place), type);
  LINE(g, "%s = memref.load %s[%s] : memref<4x%s>\n", name_text(g, loaded), name_text(g, memory), name_text(g, place),
       type);
  LINE(g, "memref.dealloc %s : memref<4x%s>\n", name_text(g, memory), type);
  define(g, loaded);
}

// -------------------------------------------------------------------------------------------------------------------- scf

/// What was made since `mark` goes out of scope.
static GenValue inside(Gen *g, GenType type, int count) {
  int mark = g->num_values;
  g->depth++;
  make_operations(g, count);
  GenValue value = value_of(g, type);
  g->depth--;
  g->num_values = mark;
  return value;
}

static void make_if(Gen *g) {
  GenValue condition = value_of(g, scalar_of(I1)), x = any_tensor(g, true), result = new_value(g, x.type);
  if (g->depth > 1)
    return;
  LINE(g, "%s = scf.if %s -> (%s) {\n", name_text(g, result), name_text(g, condition), type_text(g, x.type));
  GenValue one = inside(g, x.type, 1 + draw_below(&g->draw, 3));
  LINE(g, "scf.yield %s : %s\n} else {\n", name_text(g, one), type_text(g, x.type));
  GenValue other = inside(g, x.type, draw_below(&g->draw, 3));
  LINE(g, "scf.yield %s : %s\n}\n", name_text(g, other), type_text(g, x.type));
  define(g, result);
}

static void make_for(Gen *g) {
  GenValue zero = index_constant(g, 0), one = index_constant(g, 1), count = index_constant(g, draw_below(&g->draw, 4));
  GenValue x = any_tensor(g, true), result = new_value(g, x.type), i = new_value(g, scalar_of(INDEX)),
           carried = new_value(g, x.type);
  if (g->depth > 1)
    return;
  LINE(g, "%s = scf.for %s = %s to %s step %s iter_args(%s = %s) -> (%s) {\n", name_text(g, result), name_text(g, i),
       name_text(g, zero), name_text(g, count), name_text(g, one), name_text(g, carried), name_text(g, x),
       type_text(g, x.type));
  int mark = g->num_values;
  define(g, i);
  define(g, carried);
  GenValue next = inside(g, x.type, 1 + draw_below(&g->draw, 3));
  g->num_values = mark;
  LINE(g, "scf.yield %s : %s\n}\n", name_text(g, next), type_text(g, x.type));
  define(g, result);
}

// ----------------------------------------------------------------------------------------------------------------- blocks

bool make_blocks(Gen *g) {
  GenValue condition = value_of(g, scalar_of(I1)), x = any_tensor(g, true), met = new_value(g, x.type);
  int label = g->next_id++;
  bool direct = draw_chance(&g->draw, 30);
  if (direct)
    LINE(g, "cf.cond_br %s, ^a%d, ^c%d(%s : %s)\n^a%d:\n", name_text(g, condition), label, label, name_text(g, x),
         type_text(g, x.type), label);
  else
    LINE(g, "cf.cond_br %s, ^a%d, ^b%d\n^a%d:\n", name_text(g, condition), label, label, label);
  GenValue one = inside(g, x.type, 1 + draw_below(&g->draw, 4));
  LINE(g, "cf.br ^c%d(%s : %s)\n", label, name_text(g, one), type_text(g, x.type));
  if (!direct) {
    LINE(g, "^b%d:\n", label);
    GenValue other = inside(g, x.type, draw_below(&g->draw, 3));
    LINE(g, "cf.br ^c%d(%s : %s)\n", label, name_text(g, other), type_text(g, x.type));
  }
  LINE(g, "^c%d(%s: %s):\n", label, name_text(g, met), type_text(g, x.type));
  define(g, met);
  return true;
}

void make_flow(Gen *g) {
  static const GenOperation rows[] = {make_call, make_effect, make_effect, make_memory, make_if, make_for};
  DRAW_FROM(&g->draw, rows)(g);
}
