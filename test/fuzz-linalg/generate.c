// generate.c - modules and functions: how many, what they are called, what they give.
#include "generate_internal.h"

#include <stdio.h>
#include <string.h>

void make_operations(Gen *g, int count) {
  static const struct {
    int weight;
    GenOperation make;
  } rows[] = {{34, make_structured}, {30, make_named}, {23, make_tensor}, {7, make_idiom}, {6, make_flow}};
  for (int n = 0; n < count && g->body.used < 60000; n++) {
    int at = draw_below(&g->draw, 100);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; at -= rows[i++].weight)
      if (at < rows[i].weight) {
        rows[i].make(g);
        break;
      }
  }
}

// -------------------------------------------------------------------------------------------------------------- functions

/// What was made last, something from before, the same twice, an argument.
static int choose_results(Gen *g, GenValue results[MOST_SIGNATURE]) {
  int count = 0, most = draw_chance(&g->draw, 70) ? MOST_SIGNATURE - 3 : 2;
  for (int i = g->num_values; i-- > 0 && count < most;)
    if (!g->values[i].unwritten && (count == 0 || draw_chance(&g->draw, 85)))
      results[count++] = g->values[i];
  if (count && count < MOST_SIGNATURE && draw_chance(&g->draw, 8))
    results[count++] = results[0];
  if (g->num_args && count < MOST_SIGNATURE && draw_chance(&g->draw, 5))
    results[count++] = g->args[draw_below(&g->draw, g->num_args)];
  return count;
}

static void print_function(Gen *g, const GenFunction *function, const GenValue *results) {
  text_add(g->out, "func.func %s@%s(", draw_chance(&g->draw, 20) ? "private " : "", function->name);
  for (int i = 0; i < g->num_args; i++)
    text_add(g->out, "%s%s: %s", i ? ", " : "", name_text(g, g->args[i]), type_text(g, g->args[i].type));
  text_add(g->out, ") -> (");
  for (int i = 0; i < function->num_results; i++)
    text_add(g->out, "%s%s", i ? ", " : "", type_text(g, results[i].type));
  text_add(g->out, ") {\n");
  text_append(g->out, g->body.data ? g->body.data : "", g->body.used);
  text_add(g->out, "return%s", function->num_results ? " " : "");
  for (int i = 0; i < function->num_results; i++)
    text_add(g->out, "%s%s", i ? ", " : "", name_text(g, results[i]));
  text_add(g->out, "%s", function->num_results ? " : " : "");
  for (int i = 0; i < function->num_results; i++)
    text_add(g->out, "%s%s", i ? ", " : "", type_text(g, results[i].type));
  text_add(g->out, "\n}\n");
}

/// Names that the pass will want for programs, too: f_0, f_1_0.
static void name_function(Gen *g, int number, GenFunction *function) {
  static const char *const endings[] = {"", "", "_0", "_1", "_0_0"};
  if (number == 0)
    snprintf(function->name, sizeof function->name, "f");
  else
    snprintf(function->name, sizeof function->name, "f%s%s", endings[2 + (number - 1) % 3], number > 3 ? "_x" : "");
  if (draw_chance(&g->draw, 30))
    snprintf(function->name, sizeof function->name, "g%d%s", number, endings[draw_below(&g->draw, 5)]);
}

static void make_function(Gen *g, int number, bool listed) {
  GenFunction function = {0};
  GenValue results[MOST_SIGNATURE];
  text_clear(&g->body);
  g->num_values = g->num_args = g->depth = 0;
  name_function(g, number, &function);
  make_operations(g, 2 + draw_below(&g->draw, 12));
  for (int n = draw_chance(&g->draw, 10) ? 1 + draw_below(&g->draw, 2) : 0; n > 0; n--) {
    make_blocks(g);
    make_operations(g, draw_below(&g->draw, 4));
  }
  function.num_results = choose_results(g, results);
  print_function(g, &function, results);
  if (!listed || g->num_functions == MOST_FUNCTIONS)
    return;
  function.num_inputs = g->num_args;
  for (int i = 0; i < g->num_args; i++)
    function.inputs[i] = g->args[i].type;
  for (int i = 0; i < function.num_results; i++)
    function.results[i] = results[i].type;
  g->functions[g->num_functions++] = function;
}

// ---------------------------------------------------------------------------------------------------------------- modules

static void choose_types(Gen *g) {
  static const int extents[] = {1, 2, 3, 4, 5, 6, 8};
  for (int i = 0; i < 4; i++)
    g->extents[i] = DRAW_FROM(&g->draw, extents);
  g->extents[3] = draw_chance(&g->draw, 4) ? 16 : g->extents[3];
  Elem first = (Elem)draw_below(&g->draw, draw_chance(&g->draw, 80) ? 3 : 4);
  if (g->options->stock)
    first = draw_chance(&g->draw, 50) ? F32 : F64;
  g->floats[0] = g->floats[1] = g->floats[2] = first;
  if (draw_chance(&g->draw, 30))
    g->floats[2] = g->options->stock ? (first == F32 ? F64 : F32) : (Elem)draw_below(&g->draw, 4);
}

static void declare(Gen *g) {
  for (int i = 0; i < g->num_functions; i++)
    if (g->functions[i].external) {
      GenFunction *f = &g->functions[i];
      text_add(g->out, "func.func private @%s(%s)", f->name, type_text(g, f->inputs[0]));
      text_add(g->out, f->num_results ? " -> %s\n" : "\n", type_text(g, f->results[0]));
    }
}

static void make_nested(Gen *g, int number) {
  GenFunction kept[MOST_FUNCTIONS];
  int count = g->num_functions;
  memcpy(kept, g->functions, sizeof kept);
  g->num_functions = 0; // none of them is seen from inside
  text_add(g->out, "module @inner%d {\n", number);
  make_function(g, number, false);
  declare(g);
  text_add(g->out, "}\n");
  memcpy(g->functions, kept, sizeof kept);
  g->num_functions = count;
}

void generate_module(uint64_t seed, uint64_t number, const GenerateOptions *options, Text *out) {
  Gen g = {.draw = draw_of(seed, number, 17), .options = options, .out = out};
  int functions = draw_chance(&g.draw, 75) ? 1 : 2 + draw_below(&g.draw, 3);
  choose_types(&g);
  text_add(out, "module {\n");
  for (int i = 0; i < functions; i++)
    make_function(&g, i, true);
  if (draw_chance(&g.draw, 5) && !options->stock)
    make_nested(&g, functions);
  declare(&g);
  text_add(out, "}\n");
  text_free(&g.body);
}
