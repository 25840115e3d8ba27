// differential.c - the prefix test of abstract expressions against Z3: whoever cuts what the other keeps is listed.
//
//   search_differential [--prefixes N] [--random N] [--rlimit N] [--seed N] [--csv FILE] [--list FILE]
//
// Prefixes: of every program of the benchmark set, tensors that the enumerator meets, with the cut by expressions on
// (all of them kept) and off (most of them garbage). Random: goals and prefixes drawn from a grammar, the latter partly
// out of the goal's own pieces. Each is asked of three judges: the normal form as the search uses it (a product of sums
// is one atom), the expanded normal form, and Z3 on the terms as built.
//
// Cut although shown. Z3's proof may hang on a step that the normal form leaves out on purpose; so Z3 is asked again
// without that step. What is left is a LOSS, and the program ends with 1:
//   kept-product  the expanded normal form keeps it: it takes a product of sums apart
//   sign          only by (-1)(-1) = 1: a sign that must be undone
//   divisor       a quotient that is only divided by: not in the goal written out from its normal form
//   gauge         part of a stabiliser of an exponential: as above
// Z3 is also asked whether each goal equals its normal form, written out.
// Kept, not shown: `limit` (out of steps), `gauge` (the normal form dropped a maximum), `saturated` (Z3's triggers
// end).
#define _POSIX_C_SOURCE 200809L // clock_gettime
#include "../verify-stats/benchmarks.h"
#include "prefix_terms.h"

#include "mirage/random.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_CUT_STATES = 400, MOST_KEPT_STATES = 20000, AGAIN = 8 };

typedef enum { AGREE, KEPT_PRODUCT, SIGN, DIVISOR, GAUGE, LOSS, NOT_SHOWN_GAUGE, LIMIT, SATURATED, NUM_CLASSES } Class;
static const char *const CLASSES[] = {"agree", "kept-product",    "sign",  "divisor",  "gauge",
                                      "LOSS",  "not-shown-gauge", "limit", "saturated"};

typedef struct Counts {
  const char *name;
  uint64_t asked, kept, shown, classes[NUM_CLASSES];
  double normal_s, oracle_s;   // of the question alone
  uint64_t cut_limit;          // cut by both, Z3 for want of steps
  uint64_t goals, goals_shown; // Z3 sees that a goal equals its normal form
} Counts;

typedef struct Options {
  uint64_t prefixes, random, rlimit, seed;
  const char *csv, *list;
} Options;

static FILE *list; // of disagreements; may be NULL

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time); // others may use the machine
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// ---------------------------------------------------------------------------------------------- judges

/// A question and everything that is needed to ask it in other ways. The tables hold normal forms of all terms so far.
typedef struct Case {
  MirageTerms *terms;
  MirageOracle *oracle;
  MirageExprTable *kept, *expanded;
  MirageExpr *kept_exprs, *expanded_exprs; // by term
  MirageTerm goal, written;                // as built; from its expanded normal form
  uint32_t rlimit;
} Case;

static void normalize(Case *c) {
  size_t count = (size_t)mirage_terms_count(c->terms) + 1;
  free(c->kept_exprs);
  free(c->expanded_exprs);
  c->kept_exprs = calloc(count, sizeof *c->kept_exprs);
  c->expanded_exprs = calloc(count, sizeof *c->expanded_exprs);
  mirage_terms_normalize(c->terms, c->kept, c->kept_exprs);
  mirage_terms_normalize(c->terms, c->expanded, c->expanded_exprs);
}

static bool case_open(Case *c, uint32_t rlimit) {
  *c = (Case){.terms = mirage_terms_create(NULL), .rlimit = rlimit};
  c->kept = mirage_expr_table_create(NULL);
  c->expanded = mirage_expr_table_create(NULL);
  mirage_expr_keep_products(c->kept);
  return mirage_oracle_create(c->terms, rlimit, MIRAGE_ORACLE_ALL, NULL, &c->oracle) == MIRAGE_OK;
}

static void case_close(Case *c) {
  mirage_oracle_destroy(c->oracle);
  mirage_expr_table_destroy(c->kept);
  mirage_expr_table_destroy(c->expanded);
  free(c->kept_exprs);
  free(c->expanded_exprs);
  mirage_terms_destroy(c->terms);
}

// The goal as its normal form has it, where no quotient is divided by and no maximum stabilises.
static void write_goal(Case *c, Counts *counts) {
  normalize(c);
  if (c->expanded_exprs[c->goal.index].index) {
    c->written = term_of_expr(c->terms, c->expanded, c->expanded_exprs[c->goal.index]);
    counts->goals++;
    counts->goals_shown += mirage_oracle_equal(c->oracle, c->goal, c->written) == MIRAGE_ORACLE_SHOWN;
  }
  normalize(c);
}

// Whether Z3 shows it without some of the axioms, with more steps.
static bool shown_without(Case *c, MirageTerm e, MirageTerm goal, uint32_t left_out) {
  MirageOracle *weaker;
  if (mirage_oracle_create(c->terms, AGAIN * c->rlimit, MIRAGE_ORACLE_ALL & ~left_out, NULL, &weaker) != MIRAGE_OK)
    return true;
  bool shown = mirage_oracle_reaches(weaker, e, goal) == MIRAGE_ORACLE_SHOWN;
  mirage_oracle_destroy(weaker);
  return shown;
}

static Class why_cut(Case *c, MirageTerm e) {
  if (mirage_expr_reaches(c->expanded, c->expanded_exprs[e.index], c->expanded_exprs[c->goal.index]))
    return KEPT_PRODUCT;
  if (!shown_without(c, e, c->goal, MIRAGE_ORACLE_NEG_NEG))
    return SIGN;
  if (!shown_without(c, e, c->written, MIRAGE_ORACLE_NEG_NEG | MIRAGE_ORACLE_EXP_GAUGE))
    return mirage_expr_stats(c->expanded)->axioms[MIRAGE_AXIOM_EXP_GAUGE] ? GAUGE : DIVISOR;
  return LOSS;
}

static Class why_kept(const Case *c, MirageOracleAnswer answer) {
  if (mirage_expr_stats(c->expanded)->axioms[MIRAGE_AXIOM_EXP_GAUGE])
    return NOT_SHOWN_GAUGE;
  return answer == MIRAGE_ORACLE_LIMIT ? LIMIT : SATURATED;
}

static void note(const Counts *counts, const Case *c, MirageTerm e, Class class) {
  char text[600], goal[600];
  if (!list && class != LOSS)
    return;
  fprintf(class == LOSS ? stderr : list, "%-16s %-15s %s  |  %s\n", counts->name, CLASSES[class],
          mirage_expr_format(c->expanded, c->expanded_exprs[e.index], text, sizeof text),
          mirage_expr_format(c->expanded, c->expanded_exprs[c->goal.index], goal, sizeof goal));
}

// Asks all judges whether `e` reaches the goal.
static void ask(Case *c, MirageTerm e, Counts *counts) {
  MirageExpr expr = c->kept_exprs[e.index], goal = c->kept_exprs[c->goal.index];
  if (!expr.index || !goal.index || !c->expanded_exprs[e.index].index)
    return; // too large to hold
  double start = now();
  bool kept = mirage_expr_reaches(c->kept, expr, goal);
  double middle = now();
  MirageOracleAnswer answer = mirage_oracle_reaches(c->oracle, e, c->goal);
  counts->oracle_s += now() - middle;
  counts->normal_s += middle - start;
  bool shown = answer == MIRAGE_ORACLE_SHOWN;
  counts->asked++;
  counts->kept += kept;
  counts->shown += shown;
  counts->cut_limit += !kept && answer == MIRAGE_ORACLE_LIMIT;
  Class class = kept == shown ? AGREE : shown ? why_cut(c, e) : why_kept(c, answer);
  counts->classes[class]++;
  if (class != AGREE)
    note(counts, c, e, class);
}

// -------------------------------------------------------------------------------------------- programs

// Up to `most` tensors of one space, spread evenly.
static bool ask_space(const SearchSpace *space, uint64_t most, uint32_t rlimit, Counts *counts) {
  Case c;
  MirageTerm *tensors = calloc((size_t)space->num_tensors + 1, sizeof *tensors);
  bool fits = case_open(&c, rlimit) && tensors && prefix_terms(space, c.terms, tensors, &c.goal);
  if (fits) {
    write_goal(&c, counts);
    uint64_t step = space->num_tensors / most + 1;
    for (uint64_t i = 1; i <= space->num_tensors; i += step)
      ask(&c, tensors[i], counts);
  }
  case_close(&c);
  free(tensors);
  return fits;
}

static bool ask_plan(const SearchProgram *program, uint32_t loop_axis, const Options *options, uint64_t most,
                     Counts *counts) {
  bool fits = true;
  for (uint32_t cut = 0; fits && cut < 2; cut++) {
    MirageSearchOptions search = {.seed = options->seed,
                                  .target = mirage_target_find("h200"),
                                  .max_block_ops = 11,
                                  .max_states = cut ? MOST_KEPT_STATES : MOST_CUT_STATES,
                                  .no_prune_expr = !cut};
    MirageField *field = mirage__search_field(&search);
    SearchSpace space;
    fits = mirage__search_space_init(&space, program, &search, loop_axis, loop_axis != 0, 1, mirage_field_domain(field),
                                     field) == MIRAGE_OK &&
           mirage__search_saturate(&space) == MIRAGE_OK &&
           ask_space(&space, most / 2, (uint32_t)options->rlimit, counts);
    mirage__search_space_deinit(&space);
    mirage_field_destroy(field);
  }
  return fits;
}

static bool ask_program(const Benchmark *benchmark, const Options *options, Counts *counts) {
  SearchProgram program;
  MirageUGraph *graph = benchmark->program(benchmark->decode, NULL);
  counts->name = benchmark->name;
  bool fits = mirage__search_program_init(&program, graph, NULL) == MIRAGE_OK;
  if (fits) {
    MirageSearchOptions search = {.seed = options->seed, .target = mirage_target_find("h200")};
    uint32_t plans = 1;
    fits = mirage__search_drop_stabilisers(&program, &search) == MIRAGE_OK;
    for (uint32_t axis = 1; axis < program.num_axes; axis++)
      plans += search_axis_is_loop(&program.axes[axis]);
    for (uint32_t axis = 0; fits && axis < program.num_axes; axis++)
      if (!axis || search_axis_is_loop(&program.axes[axis]))
        fits = ask_plan(&program, axis, options, options->prefixes / plans + 2, counts);
    mirage__search_program_deinit(&program);
  }
  mirage_ugraph_destroy(graph);
  return fits;
}

// ---------------------------------------------------------------------------------------------- random

static MirageTerm random_leaf(MirageTerms *terms, MirageRandom *random) {
  uint64_t draw = mirage_random_below(random, 8);
  return draw < 6 ? mirage_term_input(terms, (uint32_t)draw % 3) : mirage_term_constant(terms, draw == 6 ? 1 : 3);
}

static MirageTerm random_step(MirageTerms *terms, MirageRandom *random, MirageTerm a, MirageTerm b) {
  static const MirageOp ops[] = {MIRAGE_OP_ADD, MIRAGE_OP_ADD, MIRAGE_OP_MUL, MIRAGE_OP_MUL,  MIRAGE_OP_MUL,
                                 MIRAGE_OP_DIV, MIRAGE_OP_DIV, MIRAGE_OP_SUB, MIRAGE_OP_SQRT, MIRAGE_OP_EXP};
  uint64_t draw = mirage_random_below(random, 13);
  if (draw >= sizeof ops / sizeof *ops)
    return mirage_term_sum(terms, a,
                           mirage_axis_part(1, mirage_random_below(random, 2) ? MIRAGE_PART_TILE : MIRAGE_PART_LOOP));
  return mirage_term_apply(terms, ops[draw], a, b);
}

// A goal of a few operators, and prefixes: pieces of it, combinations of pieces, strangers.
static void ask_random(const Options *options, uint64_t number, Counts *counts) {
  enum { PIECES = 8, OPERATORS = 5, PREFIXES = 4 };
  Case c;
  MirageRandom random;
  MirageTerm pieces[PIECES], prefixes[PREFIXES];
  mirage_random_init(&random, options->seed, number);
  if (!case_open(&c, (uint32_t)options->rlimit)) {
    case_close(&c);
    return;
  }
  for (uint32_t i = 0; i < PIECES - OPERATORS; i++)
    pieces[i] = random_leaf(c.terms, &random);
  for (uint32_t i = PIECES - OPERATORS; i < PIECES; i++) // the newest takes part, so that little is left unused
    pieces[i] = random_step(c.terms, &random, pieces[i - 1], pieces[mirage_random_below(&random, i)]);
  c.goal = pieces[PIECES - 1];
  for (uint32_t i = 0; i < PREFIXES; i++) {
    MirageTerm a = pieces[mirage_random_below(&random, PIECES - 1)];
    MirageTerm b = pieces[mirage_random_below(&random, PIECES - 1)];
    prefixes[i] = i % 2 ? random_step(c.terms, &random, a, b) : a;
  }
  write_goal(&c, counts);
  for (uint32_t i = 0; i < PREFIXES; i++)
    ask(&c, prefixes[i], counts);
  case_close(&c);
}

// --------------------------------------------------------------------------------------------- results

static void print_head(FILE *file) {
  fprintf(file, "program,asked,kept,shown,agree,kept_product,sign,divisor,gauge,loss,not_shown_gauge,limit,saturated,"
                "cut_and_limit,goals,goals_shown,normal_us,z3_ms\n");
}

static void print_row(FILE *file, const Counts *counts) {
  fprintf(file, "%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64, counts->name, counts->asked, counts->kept, counts->shown);
  for (uint32_t i = 0; i < NUM_CLASSES; i++)
    fprintf(file, ",%" PRIu64, counts->classes[i]);
  double asked = counts->asked ? (double)counts->asked : 1;
  fprintf(file, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.3f,%.2f\n", counts->cut_limit, counts->goals,
          counts->goals_shown, 1e6 * counts->normal_s / asked, 1e3 * counts->oracle_s / asked);
  fflush(file);
}

static bool read_options(int argc, char **argv, Options *options) {
  *options = (Options){.prefixes = 16, .random = 60, .rlimit = 50000, .seed = 1};
  for (int i = 1; i + 1 < argc; i += 2) {
    uint64_t number = strtoull(argv[i + 1], NULL, 10);
    if (strcmp(argv[i], "--prefixes") == 0)
      options->prefixes = number;
    else if (strcmp(argv[i], "--random") == 0)
      options->random = number;
    else if (strcmp(argv[i], "--rlimit") == 0)
      options->rlimit = number;
    else if (strcmp(argv[i], "--seed") == 0)
      options->seed = number;
    else if (strcmp(argv[i], "--csv") == 0)
      options->csv = argv[i + 1];
    else if (strcmp(argv[i], "--list") == 0)
      options->list = argv[i + 1];
    else
      return false;
  }
  return argc % 2 == 1;
}

int main(int argc, char **argv) {
  Options options;
  if (!read_options(argc, argv, &options)) {
    fprintf(stderr, "usage: search_differential [--prefixes N] [--random N] [--rlimit N] [--seed N] [--csv FILE] "
                    "[--list FILE]\n");
    return 2;
  }
  FILE *csv = options.csv ? fopen(options.csv, "w") : stdout;
  list = options.list ? fopen(options.list, "w") : NULL;
  if (!csv || (options.list && !list)) {
    fprintf(stderr, "search_differential: cannot write %s\n", csv ? options.list : options.csv);
    return 2;
  }
  uint64_t losses = 0, shown = 0;
  print_head(csv);
  for (uint32_t i = 0; i < NUM_BENCHMARKS; i++) {
    Counts counts = {0};
    if (i > 0 && BENCHMARKS[i].program == BENCHMARKS[i - 1].program)
      continue; // the same program with another µGraph
    if (!ask_program(&BENCHMARKS[i], &options, &counts))
      continue; // the search does not treat it as one
    print_row(csv, &counts);
    losses += counts.classes[LOSS];
    shown += counts.shown;
  }
  Counts counts = {.name = "random"};
  for (uint64_t i = 0; i < options.random; i++)
    ask_random(&options, i, &counts);
  print_row(csv, &counts);
  losses += counts.classes[LOSS];
  if (losses || !shown)
    fprintf(stderr, "search_differential: %" PRIu64 " prefixes cut that Z3 shows to reach; %" PRIu64 " shown at all\n",
            losses, shown);
  return losses || !shown;
}
