// compare.c - brute force against the search: both must find the same block graphs.
//
//   search_brute_force [--operators N] [--program NAME] [--grids] [--switches] [--optimal] [--csv FILE]
//                      [--list FILE]
//
// `optimal`: the search leaves out no links of chains; then brute force may not find more of them.
// `switches`: the search with each of its cuts off must list all that it lists with it.
//
// For small programs at small shapes, every block graph up to a number of operators (brute.c) that gives the program's
// output is grouped by its dataflow - operators, their order up to commuted operands, what stands before, inside and
// after the loop, which dimension of each load the loop walks - and one of each class is proven by mirage_verify. The
// search, with all its cuts, lists all its structures before any ranking, keyed alike. Then
//   - a class of the search with as few operators that brute force lacks is an error;
//   - a class of brute force that the search lacks has a reason, decided mechanically (reasons.c), or is an error.
#include "classes.h"
#include "small_programs.h"

#include "mirage/eval.h"
#include "mirage/random.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STATES = 200000, MOST_STATES_WITHOUT = 20000, EXTRA_LOADS = 1, BLOCK_OPS = 5 };

// ----------------------------------------------------------------------------------------- brute force

static void note_graph(void *user, const BruteGraph *graph) {
  Classes *found = user;
  uint64_t key = graph->nodes[graph->num_nodes - 1].key;
  Class *class = find_class(found, key);
  if (!class) {
    class = add_class(found, key);
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
  bool finite = mirage_eval(graph, mirage_domain_f64(), inputs, (void *const[]){program->output},
                            &(MirageEvalOptions){0}, NULL) == MIRAGE_OK;
  for (size_t i = 0; finite && i < n; i++)
    finite = isfinite(program->output[i]);
  return finite;
}

static void program_deinit(BruteProgram *program) {
  for (uint32_t i = 0; i < BRUTE_INPUTS; i++)
    free(program->inputs[i]);
  free(program->output);
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
  bool grids, switches, optimal;
  uint64_t random, seed; // random programs instead
} Options;

static void print_head(FILE *file) {
  fprintf(file, "program,operators,grids,visited,graphs,classes");
  for (uint32_t i = 0; i < NUM_REASONS; i++)
    fprintf(file, ",%s", REASONS[i]);
  fprintf(file, ",search_classes,search_only,most_block_ops,beyond\n");
}

static void print_program(FILE *file, const char *name, const MirageUGraph *program) {
  MirageRegionView body = mirage_ugraph_region(program, mirage_ugraph_body(program));
  fprintf(file, "%s program:", name);
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(program); i++) {
    MirageValue input = mirage_ugraph_get_input(program, i);
    fprintf(file, " %%%u=input of rank %u;", input.index, mirage_ugraph_type(program, input)->rank);
  }
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(program, body.nodes[i]);
    fprintf(file, " %%%u=%s", node.first_result.index, mirage_op_info(node.op)->mnemonic);
    for (uint32_t k = 0; k < node.num_operands; k++)
      fprintf(file, "%s%%%u", k ? ", " : " ", node.operands[k].index);
    if (mirage_op_info(node.op)->kind == MIRAGE_KIND_REDUCE)
      fprintf(file, " dim %d", node.attrs->reduce.dim);
    fprintf(file, ";");
  }
  fprintf(file, "\n");
}

/// What one comparison counts.
typedef struct Totals {
  uint64_t visited, graphs;
  uint32_t reasons[NUM_REASONS];
  uint32_t comparable,
      search_only;    // classes of the search with at most as many operators and loads; not in brute force
  uint32_t block_ops; // the most of a class that both have
  uint32_t beyond;    // classes of the search with few block operators, but too many operators
} Totals;

/// What a run has compared.
static struct {
  uint32_t programs, classes;
  uint64_t visited;
} covered;

static void give_reasons(Comparison *c, const char *name, const Classes *found, FILE *list, Totals *totals) {
  for (uint32_t i = 0; i < found->num; i++) {
    Reason reason = reason_of(c, &found->items[i]);
    totals->reasons[reason]++;
    totals->graphs += found->items[i].graphs;
    if (reason == BOTH || (!list && reason != LOSS))
      continue;
    FILE *file = list ? list : stderr;
    fprintf(file, "%s %s:", name, REASONS[reason]);
    print_graph(file, &found->items[i].graph);
    fprintf(file, "\n");
  }
}

static void look_up(const Comparison *c, const Classes *found, uint32_t operators, Totals *totals) {
  uint32_t num_inputs = mirage_ugraph_num_inputs(c->program), most_loads = num_inputs + EXTRA_LOADS;
  for (uint32_t i = 0; i < c->search.num; i++) {
    const Class *class = &c->search.items[i];
    if (class->operators > operators || class->loads > most_loads) {
      totals->beyond += class->block_ops <= BLOCK_OPS;
      continue;
    }
    if (class->inputs < num_inputs || !class->operators)
      continue; // (y / x) x is y: brute force loads all inputs and stores a result of theirs
    totals->comparable++;
    bool known = find_class(found, class->key) != NULL;
    totals->search_only += !known;
    totals->block_ops = known && class->block_ops > totals->block_ops ? class->block_ops : totals->block_ops;
  }
}

static void print_row(FILE *csv, const char *name, uint32_t operators, const Options *options, const Classes *found,
                      const Totals *totals) {
  fprintf(csv, "%s,%u,%d,%" PRIu64 ",%" PRIu64 ",%u", name, operators, options->grids ? 2 : 1, totals->visited,
          totals->graphs, found->num);
  for (uint32_t i = 0; i < NUM_REASONS; i++)
    fprintf(csv, ",%u", totals->reasons[i]);
  fprintf(csv, ",%u,%u,%u,%u\n", totals->comparable, totals->search_only, totals->block_ops, totals->beyond);
  fflush(csv);
}

// Compares one program. False when the search cannot treat it, or it has no value at the sample.
static bool compare(const MirageUGraph *source, const char *name, uint32_t operators, const Options *options, FILE *csv,
                    FILE *list, uint32_t *in_out_errors) {
  MirageUGraph *expanded = NULL;
  if (mirage_ugraph_expand(source, NULL, &expanded) != MIRAGE_OK)
    return false;
  BruteProgram program = {.graph = expanded};
  Classes found = {0};
  Comparison c = {.program = source, .brute = &program};
  c.options = (MirageSearchOptions){.seed = 1,
                                    .target = mirage_target_find("h200"),
                                    .max_block_ops = operators + mirage_ugraph_num_inputs(expanded) + EXTRA_LOADS,
                                    .max_states = MOST_STATES,
                                    .optimal = options->optimal};
  bool fits = mirage__search_program_init(&c.axes, source, NULL) == MIRAGE_OK;
  fits = fits && list_search(source, &c.options, &c.search) && sample(&program);
  if (fits) {
    Totals totals = {0};
    if (list)
      print_program(list, name, expanded);
    BruteLimits limits = {.operators = operators, .extra_loads = EXTRA_LOADS, .grids = options->grids};
    totals.visited = brute_enumerate(&program, &limits, note_graph, &found);
    give_reasons(&c, name, &found, list, &totals);
    look_up(&c, &found, operators, &totals);
    print_row(csv, name, operators, options, &found, &totals);
    covered.programs++;
    covered.classes += found.num;
    covered.visited += totals.visited;
    *in_out_errors +=
        totals.reasons[LOSS] + totals.search_only + (!options->operators && !options->random && !totals.reasons[BOTH]);
    if (options->optimal)
      *in_out_errors += totals.reasons[CHAIN];
    if (options->switches)
      *in_out_errors += missing_without(source, &c.options, MOST_STATES_WITHOUT, &c.search);
  }
  release_classes(&found);
  release_classes(&c.search);
  release_classes(&c.expanded);
  release_classes(&c.optimal);
  mirage__search_program_deinit(&c.axes);
  program_deinit(&program);
  mirage_ugraph_destroy(expanded);
  return fits;
}

static uint32_t compare_small(const SmallProgram *small, const Options *options, FILE *csv, FILE *list) {
  uint32_t operators = options->operators ? options->operators : small->operators, errors = 0;
  if (!operators)
    return 0;
  MirageUGraph *source = small->build(small->name);
  operators = operators < small->most_operators ? operators : small->most_operators;
  errors += !source || !compare(source, small->name, operators, options, csv, list, &errors);
  mirage_ugraph_destroy(source);
  return errors;
}

// Programs of two or three operators, against all graphs of one operator more.
static uint32_t compare_random(uint64_t number, const Options *options, FILE *csv, FILE *list) {
  char name[32];
  uint32_t errors = 0, operators = 2 + (uint32_t)(number % 2);
  MirageUGraph *source = random_small_program(options->seed, number, operators);
  snprintf(name, sizeof name, "random_%" PRIu64, number);
  if (source)
    compare(source, name, operators + 1, options, csv, list, &errors);
  mirage_ugraph_destroy(source);
  return errors;
}

static bool read_options(int argc, char **argv, Options *options) {
  *options = (Options){.seed = 1};
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--grids") == 0)
      options->grids = true;
    else if (strcmp(argv[i], "--switches") == 0)
      options->switches = true;
    else if (strcmp(argv[i], "--optimal") == 0)
      options->optimal = true;
    else if (i + 1 == argc)
      return false;
    else if (strcmp(argv[i], "--operators") == 0)
      options->operators = (uint32_t)strtoul(argv[++i], NULL, 10);
    else if (strcmp(argv[i], "--random") == 0)
      options->random = strtoull(argv[++i], NULL, 10);
    else if (strcmp(argv[i], "--seed") == 0)
      options->seed = strtoull(argv[++i], NULL, 10);
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
    fprintf(stderr, "usage: search_brute_force [--operators N] [--program NAME] [--grids] [--switches] [--optimal] "
                    "[--random N] [--seed N] [--csv FILE] [--list FILE]\n");
    return 2;
  }
  FILE *csv = options.csv ? fopen(options.csv, "w") : stdout, *list = options.list ? fopen(options.list, "w") : NULL;
  if (!csv || (options.list && !list)) {
    fprintf(stderr, "search_brute_force: cannot write %s\n", csv ? options.list : options.csv);
    return 2;
  }
  uint32_t errors = 0;
  print_head(csv);
  for (uint64_t i = 0; i < options.random; i++)
    errors += compare_random(i, &options, csv, list);
  for (uint32_t i = 0; !options.random && i < NUM_SMALL_PROGRAMS; i++)
    if (!options.program || strcmp(options.program, SMALL_PROGRAMS[i].name) == 0)
      errors += compare_small(&SMALL_PROGRAMS[i], &options, csv, list);
  fprintf(stderr, "search_brute_force: compared %u programs, %" PRIu64 " prefixes, %u classes in all\n",
          covered.programs, covered.visited, covered.classes);
  if (errors)
    fprintf(stderr, "search_brute_force: %u differences without a reason\n", errors);
  return errors != 0;
}
