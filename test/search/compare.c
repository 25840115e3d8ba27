// compare.c - brute force against the search: both must find the same block graphs.
//
//   search_brute_force [--operators N] [--program NAME] [--grids] [--switches] [--csv FILE] [--list FILE]
//
// `switches`: the search with each of its cuts off must list all that it lists with it.
//
// For small programs at small shapes, every block graph up to a number of operators (brute.c) that gives the program's
// output is grouped by its dataflow - operators, their order up to commuted operands, what stands before, inside and
// after the loop, which dimension of each load the loop walks - and one of each class is proven by mirage_verify. The
// search, with all its cuts, lists all its structures before any ranking, keyed alike. Then
//   - a class of the search with as few operators that brute force lacks is an error;
//   - a class of brute force that the search lacks has a reason, decided mechanically, or is a LOSS, an error:
//       unproven   the verifier does not prove it: right at the sample only
//       axioms     its abstract expression is not the program's under A_eq (cancellation, exp(a)exp(b), ..), which the
//                  search leaves out by design [Mirage 4.3]
//       merged     it computes one value twice, or 0, 1 or an operand again; the class without is there
//       chain      it has two element-wise operators more than the least, which only rearrange the same arithmetic
//       loop       its loop walks an axis of the output, or two axes
//       rewritten  x / -1 is there as x * -1, and a / (n / d) as one of (a d) / n, (a / n) d, a (d / n)
//       divisor    it divides by what holds a quotient (lib/expr/README.md), and the search has no longer graph without
//       products   the search finds it when expressions expand products of sums
#include "brute.h"
#include "small_programs.h"

#include "mirage/eval.h"
#include "mirage/random.h"
#include "mirage/verify.h"
#include "passes/passes.h"
#include "search/search_internal.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STRUCTURES = 20000, MOST_STATES = 200000, MOST_STATES_WITHOUT = 20000, EXTRA_LOADS = 1, BLOCK_OPS = 5 };

// ---------------------------------------------------------------------------------------------- classes

typedef struct Class {
  uint64_t key;
  uint32_t operators, elementwise, loop; // loop: iterations > 1
  uint32_t loads, block_ops;             // the latter as the search counts, of its own classes
  uint64_t graphs;                       // of brute force
  bool merged;                           // some value occurs twice, or is 0 or 1
  BruteGraph graph;                      // the first; its values are gone
} Class;

typedef struct Classes {
  Class *items;
  uint32_t num, capacity;
  uint32_t *slots; // by key, open addressing; 2 * capacity, a power of two; item + 1
} Classes;

static uint32_t slot_of(const Classes *classes, uint64_t key) {
  uint32_t mask = 2 * classes->capacity - 1, at = (uint32_t)(key ^ key >> 32) & mask;
  while (classes->slots[at] && classes->items[classes->slots[at] - 1].key != key)
    at = (at + 1) & mask;
  return at;
}

static Class *find_class(const Classes *classes, uint64_t key) {
  uint32_t item = classes->num ? classes->slots[slot_of(classes, key)] : 0;
  return item ? &classes->items[item - 1] : NULL;
}

static Class *add_class(Classes *classes, uint64_t key) {
  if (classes->num == classes->capacity) {
    classes->capacity = classes->capacity ? 2 * classes->capacity : 64;
    classes->items = realloc(classes->items, classes->capacity * sizeof *classes->items);
    free(classes->slots);
    classes->slots = calloc(2 * (size_t)classes->capacity, sizeof *classes->slots);
    if (!classes->items || !classes->slots)
      abort();
    for (uint32_t i = 0; i < classes->num; i++)
      classes->slots[slot_of(classes, classes->items[i].key)] = i + 1;
  }
  Class *added = &classes->items[classes->num++];
  *added = (Class){.key = key};
  classes->slots[slot_of(classes, key)] = classes->num;
  return added;
}

static void release_classes(Classes *classes) {
  free(classes->items);
  free(classes->slots);
}

static bool is_elementwise(uint8_t op) {
  MirageOpKind kind = mirage_op_info((MirageOp)op)->kind;
  return kind == MIRAGE_KIND_UNARY || kind == MIRAGE_KIND_BINARY;
}

// ------------------------------------------------------------------------------------------ the search

// The key of a structure's dataflow, in the terms of brute.c; 0 when it has an operator that brute force has not.
static uint64_t key_of(const SearchProgram *program, const SearchStructure *structure, Class *out) {
  uint64_t keys[SEARCH_MAX_NODES];
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    const SearchNode *node = &structure->nodes[i];
    bool binary = mirage__search_is_binary(node->op);
    uint32_t variant = 0;
    int32_t loop = BRUTE_NO_DIM;
    switch (node->op) {
    case MIRAGE_OP_LOAD:
      for (uint32_t d = 0; d < SEARCH_RANK; d++)
        if (node->stage == SEARCH_INSIDE && node->dims[d] && node->dims[d] == structure->loop_axis)
          loop = (int32_t)d - (SEARCH_RANK - BRUTE_RANK);
      keys[i] = brute_key_load(node->a, loop);
      out->loads++;
      continue;
    case MIRAGE_OP_CONSTANT:
      keys[i] = brute_key_constant(program->constants[node->a]);
      continue;
    case MIRAGE_OP_REDUCE_SUM:
    case MIRAGE_OP_REDUCE_MAX:
      variant = node->dim - (SEARCH_RANK - BRUTE_RANK) + 1u;
      break;
    case MIRAGE_OP_LOOP:
      variant = node->flags;
      break;
    default:
      break;
    }
    keys[i] = brute_key_operator(node->op, variant, keys[node->a], binary ? keys[node->b] : 0);
    out->operators++;
    out->elementwise += is_elementwise(node->op);
  }
  out->loop = structure->loop_axis != 0;
  out->block_ops = structure->num_ops;
  return keys[structure->outputs[0]];
}

static bool list_plan(const SearchProgram *program, const MirageSearchOptions *options, uint32_t axis,
                      Classes *classes) {
  MirageField *field = mirage_field_create(options->seed, 0);
  SearchSpace space;
  SearchKept kept = {.capacity = MOST_STRUCTURES};
  bool fits =
      mirage__search_space_init(&space, program, options, axis, 1, mirage_field_domain(field), field) == MIRAGE_OK &&
      mirage__search_saturate(&space) == MIRAGE_OK && !space.stopped;
  fits = fits && mirage__search_extract(&space, NULL, &kept) == MIRAGE_OK && !space.stopped && kept.num < kept.capacity;
  for (uint32_t i = 0; fits && i < kept.num; i++) {
    Class found = {0};
    found.key = key_of(program, kept.items[i], &found);
    if (!find_class(classes, found.key))
      *add_class(classes, found.key) = found;
  }
  mirage__search_space_deinit(&space);
  mirage_field_destroy(field);
  mirage__structure_release(&kept);
  return fits;
}

// All structures of the search under these switches; false when it could not end.
static bool list_search(const MirageUGraph *graph, const MirageSearchOptions *options, Classes *classes) {
  SearchProgram program;
  if (mirage__search_program_init(&program, graph, NULL) != MIRAGE_OK)
    return false;
  bool fits = true;
  for (uint32_t axis = 0; fits && axis < program.num_axes; axis++)
    if (!axis || search_axis_is_loop(&program.axes[axis]))
      fits = list_plan(&program, options, axis, classes);
  mirage__search_program_deinit(&program);
  return fits;
}

// ----------------------------------------------------------------------------------------- brute force

typedef struct Found {
  Classes classes;
  const BruteProgram *program;
} Found;

// Whether two nodes of one kind hold the same values, or one holds 0 or 1 everywhere.
static bool repeats_values(const BruteGraph *graph) {
  for (uint32_t i = 0; i < graph->num_nodes; i++) {
    const BruteNode *node = &graph->nodes[i];
    uint32_t size = graph->blocks * (node->stage == BRUTE_INSIDE ? graph->iterations : 1) *
                    (uint32_t)(node->shape[0] * node->shape[1]);
    bool zero = node->op != MIRAGE_OP_CONSTANT, one = zero;
    for (uint32_t v = 0; v < size; v++) {
      zero &= fabs(node->values[v]) < 1e-12;
      one &= fabs(node->values[v] - 1) < 1e-12;
    }
    if (zero || one)
      return true;
    for (uint32_t j = 0; j < i; j++) {
      const BruteNode *other = &graph->nodes[j];
      bool same = other->stage == node->stage && other->shape[0] == node->shape[0] &&
                  other->shape[1] == node->shape[1] && node->op != MIRAGE_OP_CONSTANT;
      for (uint32_t v = 0; same && v < size; v++)
        same = fabs(node->values[v] - other->values[v]) <= 1e-11 * fabs(node->values[v]);
      if (same)
        return true;
    }
  }
  return false;
}

static void note_graph(void *user, const BruteGraph *graph) {
  Found *found = user;
  uint64_t key = graph->nodes[graph->num_nodes - 1].key;
  Class *class = find_class(&found->classes, key);
  if (!class) {
    class = add_class(&found->classes, key);
    class->graph = *graph;
    class->operators = graph->num_operators;
    class->loop = graph->iterations > 1;
    class->merged = repeats_values(graph);
    for (uint32_t i = 0; i < graph->num_nodes; i++)
      class->elementwise += is_elementwise(graph->nodes[i].op);
  }
  class->graphs++;
}

// Positive inputs, so that roots and logarithms have values, and the program's output in float64.
static bool sample(BruteProgram *program) {
  const MirageUGraph *graph = program->graph;
  const void *inputs[BRUTE_INPUTS];
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(graph); i++) {
    size_t n = (size_t)mirage_type_elements(mirage_ugraph_type(graph, mirage_ugraph_get_input(graph, i)));
    MirageRandom random;
    mirage_random_init(&random, 5, i);
    program->inputs[i] = malloc(n * sizeof(double));
    for (size_t j = 0; program->inputs[i] && j < n; j++)
      program->inputs[i][j] = 0.5 + (double)mirage_random_below(&random, 1u << 30) / (1u << 30);
    inputs[i] = program->inputs[i];
  }
  size_t n = (size_t)mirage_type_elements(mirage_ugraph_type(graph, mirage_ugraph_get_output(graph, 0)));
  program->output = malloc(n * sizeof(double));
  return mirage_eval(graph, mirage_domain_f64(), inputs, (void *const[]){program->output}, &(MirageEvalOptions){0},
                     NULL) == MIRAGE_OK;
}

static void program_deinit(BruteProgram *program) {
  for (uint32_t i = 0; i < BRUTE_INPUTS; i++)
    free(program->inputs[i]);
  free(program->output);
}

// ------------------------------------------------------------------------------------------ comparison

typedef enum { BOTH, UNPROVEN, AXIOMS, MERGED, CHAIN, LOOP, REWRITTEN, DIVISOR, PRODUCTS, LOSS, NUM_REASONS } Reason;
static const char *const REASONS[] = {"both", "unproven",  "axioms",  "merged",   "chain",
                                      "loop", "rewritten", "divisor", "products", "LOSS"};

typedef struct Comparison {
  const MirageUGraph *program;
  const BruteProgram *brute;
  SearchProgram axes;
  Classes search, expanded; // the latter without keep_products
  MirageSearchOptions options;
} Comparison;

static bool is_proven(const Comparison *c, const BruteGraph *graph, bool *out_differs) {
  MirageUGraph *built = brute_build(c->brute, graph, NULL);
  MirageVerdict verdict = {.kind = MIRAGE_VERDICT_UNSUPPORTED};
  *out_differs = false;
  bool proven = built &&
                mirage_verify(c->program, built, &(MirageVerifyOptions){.seed = 3}, NULL, &verdict) == MIRAGE_OK &&
                verdict.kind == MIRAGE_VERDICT_EQUIVALENT &&
                mirage__expression_differs(c->program, built, false, NULL, out_differs) == MIRAGE_OK;
  mirage_ugraph_destroy(built);
  return proven;
}

// Whether no plan's loop walks what this graph's loop walks.
static bool has_other_loop(const Comparison *c, const BruteGraph *graph) {
  uint32_t walked = 0;
  for (uint32_t i = 0; i < graph->num_nodes; i++) {
    const BruteNode *node = &graph->nodes[i];
    if (node->op != MIRAGE_OP_LOAD || node->loop == BRUTE_NO_DIM)
      continue;
    MirageValue input = mirage_ugraph_get_input(c->axes.graph, node->a);
    uint32_t axis = c->axes.dims[input.index][node->loop - (BRUTE_RANK - node->rank)];
    if (!search_axis_is_loop(&c->axes.axes[axis]) || (walked && walked != axis))
      return true;
    walked = axis;
  }
  return false;
}

// -------------------------------------------------------------------------------------------- rewrites

enum { REWRITES = 3 };

static uint64_t key_above(const BruteGraph *graph, uint32_t index, uint32_t rewrite);

static bool is_minus_one(const BruteNode *node) { return node->op == MIRAGE_OP_CONSTANT && node->constant == -1; }

// a / (n / d), in one of the other ways to write it.
static uint64_t key_turned_over(uint64_t a, uint64_t n, uint64_t d, uint32_t rewrite) {
  switch (rewrite) {
  case 0:
    return brute_key_operator(MIRAGE_OP_DIV, 0, brute_key_operator(MIRAGE_OP_MUL, 0, a, d), n);
  case 1:
    return brute_key_operator(MIRAGE_OP_MUL, 0, brute_key_operator(MIRAGE_OP_DIV, 0, a, n), d);
  default:
    return brute_key_operator(MIRAGE_OP_MUL, 0, a, brute_key_operator(MIRAGE_OP_DIV, 0, d, n));
  }
}

// The key that a node would have if what the search writes in another form were written so.
static uint64_t key_above(const BruteGraph *graph, uint32_t index, uint32_t rewrite) {
  const BruteNode *node = &graph->nodes[index], *b = &graph->nodes[node->b];
  if (node->op == MIRAGE_OP_LOAD || node->op == MIRAGE_OP_CONSTANT)
    return node->key;
  uint64_t left = key_above(graph, node->a, rewrite);
  if (node->op == MIRAGE_OP_DIV && is_minus_one(b))
    return brute_key_operator(MIRAGE_OP_MUL, 0, left, b->key);
  if (node->op == MIRAGE_OP_DIV && b->op == MIRAGE_OP_DIV)
    return key_turned_over(left, key_above(graph, b->a, rewrite), key_above(graph, b->b, rewrite), rewrite);
  bool binary = node->op == MIRAGE_OP_MATMUL || mirage_op_info((MirageOp)node->op)->kind == MIRAGE_KIND_BINARY;
  uint32_t variant = node->op == MIRAGE_OP_LOOP ? node->maximum : (uint32_t)(node->dim + 1);
  return brute_key_operator(node->op, variant, left, binary ? key_above(graph, node->b, rewrite) : 0);
}

static bool is_rewritten(const Comparison *c, const BruteGraph *graph) {
  for (uint32_t rewrite = 0; rewrite < REWRITES; rewrite++)
    if (find_class(&c->search, key_above(graph, graph->num_nodes - 1, rewrite)))
      return true;
  return false;
}

// Whether the graph divides by something with a quotient in it that no non-linear operator hides.
static bool divides_by_quotient(const BruteGraph *graph) {
  bool quotient[BRUTE_NODES] = {false};
  for (uint32_t i = 0; i < graph->num_nodes; i++) {
    const BruteNode *node = &graph->nodes[i];
    MirageOpKind kind = mirage_op_info((MirageOp)node->op)->kind;
    if (node->op == MIRAGE_OP_DIV && quotient[node->b])
      return true;
    if (node->op == MIRAGE_OP_LOAD || node->op == MIRAGE_OP_CONSTANT || kind == MIRAGE_KIND_UNARY)
      continue;
    bool binary = node->op == MIRAGE_OP_MATMUL || kind == MIRAGE_KIND_BINARY;
    quotient[i] = node->op == MIRAGE_OP_DIV || quotient[node->a] || (binary && quotient[node->b]);
  }
  return false;
}

static uint32_t fewest_operators(const Classes *classes, uint32_t loop) {
  uint32_t fewest = UINT32_MAX;
  for (uint32_t i = 0; i < classes->num; i++)
    if (classes->items[i].loop == loop && classes->items[i].operators < fewest)
      fewest = classes->items[i].operators;
  return fewest;
}

// --------------------------------------------------------------------------------------------- reasons

static uint32_t fewest_elementwise(const Classes *classes, uint32_t loop) {
  uint32_t fewest = UINT32_MAX - 1;
  for (uint32_t i = 0; i < classes->num; i++)
    if (classes->items[i].loop == loop && classes->items[i].elementwise < fewest)
      fewest = classes->items[i].elementwise;
  return fewest;
}

// Whether the search finds the class when it expands products of sums.
static bool is_expanded(Comparison *c, uint64_t key) {
  MirageSearchOptions options = c->options;
  options.no_keep_products = true;
  if (!c->expanded.num)
    list_search(c->program, &options, &c->expanded);
  return find_class(&c->expanded, key) != NULL;
}

static Reason reason_of(Comparison *c, const Class *class) {
  bool differs, proven = is_proven(c, &class->graph, &differs);
  if (!proven)
    return UNPROVEN;
  if (find_class(&c->search, class->key))
    return BOTH;
  if (differs)
    return AXIOMS;
  if (class->merged)
    return MERGED;
  if (class->elementwise > fewest_elementwise(&c->search, class->loop) + 1)
    return CHAIN;
  if (has_other_loop(c, &class->graph))
    return LOOP;
  if (is_rewritten(c, &class->graph))
    return REWRITTEN;
  if (divides_by_quotient(&class->graph) && fewest_operators(&c->search, class->loop) <= class->operators)
    return DIVISOR;
  return is_expanded(c, class->key) ? PRODUCTS : LOSS;
}

// With a cut off, the search must find all that it finds with it; how many classes it does not. What does not end
// within the limit on states says nothing.
static uint32_t missing_without(const Comparison *c) {
  uint32_t missing = 0;
  for (uint32_t cut = 0; cut < 4; cut++) {
    MirageSearchOptions options = c->options;
    Classes without = {0};
    options.max_states = MOST_STATES_WITHOUT;
    options.no_keep_products = cut == 0;
    options.no_prune_expr = cut == 1;
    options.no_prune_axis = cut == 2;
    options.no_merge = cut == 3;
    bool ended = list_search(c->program, &options, &without);
    for (uint32_t i = 0; ended && i < c->search.num; i++)
      missing += !find_class(&without, c->search.items[i].key);
    release_classes(&without);
  }
  return missing;
}

// ---------------------------------------------------------------------------------------------- output

static void print_operand(FILE *file, const BruteGraph *graph, uint32_t index) {
  const BruteNode *node = &graph->nodes[index];
  if (node->op == MIRAGE_OP_CONSTANT)
    fprintf(file, "%g", node->constant);
  else
    fprintf(file, "%%%u", index);
}

static void print_graph(FILE *file, const BruteGraph *graph) {
  static const char *const stages[] = {"before", "inside", "after"};
  for (uint32_t i = 0; i < graph->num_nodes; i++) {
    const BruteNode *node = &graph->nodes[i];
    if (node->op == MIRAGE_OP_CONSTANT)
      continue;
    fprintf(file, " %%%u=", i);
    if (node->op == MIRAGE_OP_LOAD) {
      fprintf(file, "load in%u loop %d grid %d;", node->a, node->loop, node->grid);
      continue;
    }
    const char *name = node->op == MIRAGE_OP_LOOP ? (node->maximum ? "accumulate_max" : "accumulate")
                                                  : mirage_op_info((MirageOp)node->op)->mnemonic;
    fprintf(file, "%s ", name);
    print_operand(file, graph, node->a);
    if (node->op == MIRAGE_OP_MATMUL || mirage_op_info((MirageOp)node->op)->kind == MIRAGE_KIND_BINARY) {
      fprintf(file, ", ");
      print_operand(file, graph, node->b);
    }
    if (node->dim >= 0)
      fprintf(file, " dim %d", node->dim);
    fprintf(file, "%s%s;", graph->iterations > 1 ? " " : "", graph->iterations > 1 ? stages[node->stage] : "");
  }
}

typedef struct Options {
  uint32_t operators; // 0 = what a short run affords; more than a long run affords: that
  const char *program, *csv, *list;
  bool grids, switches;
} Options;

static void print_head(FILE *file) {
  fprintf(file, "program,operators,grids,visited,graphs,classes");
  for (uint32_t i = 0; i < NUM_REASONS; i++)
    fprintf(file, ",%s", REASONS[i]);
  fprintf(file, ",search_classes,search_only,most_block_ops,beyond\n");
}

// Compares one program; the number of errors.
static uint32_t compare(const SmallProgram *small, const Options *options, FILE *csv, FILE *list) {
  uint32_t operators = options->operators ? options->operators : small->operators;
  if (!operators)
    return 0;
  MirageUGraph *source = small->build(small->name), *expanded = NULL;
  if (!source || mirage_ugraph_expand(source, NULL, &expanded) != MIRAGE_OK)
    return 1;
  BruteProgram program = {.graph = expanded};
  Found found = {.program = &program};
  uint32_t num_inputs = mirage_ugraph_num_inputs(expanded), errors = !sample(&program);
  operators = operators < small->most_operators ? operators : small->most_operators;
  BruteLimits limits = {.operators = operators, .extra_loads = EXTRA_LOADS, .grids = options->grids};
  uint64_t visited = brute_enumerate(&program, &limits, note_graph, &found), graphs = 0;
  Comparison c = {.program = source, .brute = &program};
  c.options = (MirageSearchOptions){.seed = 1,
                                    .target = mirage_target_find("h200"),
                                    .max_block_ops = operators + num_inputs + EXTRA_LOADS,
                                    .max_states = MOST_STATES};
  errors += !list_search(source, &c.options, &c.search) || (options->switches && missing_without(&c)) ||
            mirage__search_program_init(&c.axes, source, NULL) != MIRAGE_OK;
  uint32_t reasons[NUM_REASONS] = {0}, search_only = 0, comparable = 0, block_ops = 0, beyond = 0;
  for (uint32_t i = 0; i < found.classes.num; i++) {
    Reason reason = reason_of(&c, &found.classes.items[i]);
    reasons[reason]++;
    graphs += found.classes.items[i].graphs;
    if (reason == BOTH || (!list && reason != LOSS))
      continue;
    FILE *file = list ? list : stderr;
    fprintf(file, "%s %s:", small->name, REASONS[reason]);
    print_graph(file, &found.classes.items[i].graph);
    fprintf(file, "\n");
  }
  for (uint32_t i = 0; i < c.search.num; i++) {
    const Class *class = &c.search.items[i];
    if (class->operators > operators || class->loads > num_inputs + EXTRA_LOADS) {
      beyond += class->block_ops <= BLOCK_OPS; // few as the search counts, but too many for this run
      continue;
    }
    comparable++;
    bool known = find_class(&found.classes, class->key) != NULL;
    search_only += !known;
    block_ops = known && class->block_ops > block_ops ? class->block_ops : block_ops;
  }
  fprintf(csv, "%s,%u,%d,%" PRIu64 ",%" PRIu64 ",%u", small->name, operators, options->grids ? 2 : 1, visited, graphs,
          found.classes.num);
  for (uint32_t i = 0; i < NUM_REASONS; i++)
    fprintf(csv, ",%u", reasons[i]);
  fprintf(csv, ",%u,%u,%u,%u\n", comparable, search_only, block_ops, beyond);
  fflush(csv);
  errors += reasons[LOSS] + search_only + (!options->operators && reasons[BOTH] == 0);
  release_classes(&found.classes);
  release_classes(&c.search);
  release_classes(&c.expanded);
  mirage__search_program_deinit(&c.axes);
  program_deinit(&program);
  mirage_ugraph_destroy(expanded);
  mirage_ugraph_destroy(source);
  return errors;
}

static bool read_options(int argc, char **argv, Options *options) {
  *options = (Options){0};
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--grids") == 0)
      options->grids = true;
    else if (strcmp(argv[i], "--switches") == 0)
      options->switches = true;
    else if (i + 1 == argc)
      return false;
    else if (strcmp(argv[i], "--operators") == 0)
      options->operators = (uint32_t)strtoul(argv[++i], NULL, 10);
    else if (strcmp(argv[i], "--program") == 0)
      options->program = argv[++i];
    else if (strcmp(argv[i], "--csv") == 0)
      options->csv = argv[++i];
    else if (strcmp(argv[i], "--list") == 0)
      options->list = argv[++i];
    else
      return false;
  }
  return true;
}

int main(int argc, char **argv) {
  Options options;
  if (!read_options(argc, argv, &options)) {
    fprintf(stderr, "usage: search_brute_force [--operators N] [--program NAME] [--grids] [--switches] [--csv FILE] "
                    "[--list FILE]\n");
    return 2;
  }
  FILE *csv = options.csv ? fopen(options.csv, "w") : stdout, *list = options.list ? fopen(options.list, "w") : NULL;
  if (!csv || (options.list && !list)) {
    fprintf(stderr, "search_brute_force: cannot write %s\n", csv ? options.list : options.csv);
    return 2;
  }
  uint32_t errors = 0;
  print_head(csv);
  for (uint32_t i = 0; i < NUM_SMALL_PROGRAMS; i++)
    if (!options.program || strcmp(options.program, SMALL_PROGRAMS[i].name) == 0)
      errors += compare(&SMALL_PROGRAMS[i], &options, csv, list);
  if (errors)
    fprintf(stderr, "search_brute_force: %u differences without a reason\n", errors);
  return errors != 0;
}
