// reach_bench.c - nanoseconds of one prefix check: can an expression still become part of the goal?
//
//   reach_bench [expressions]
//
// Expressions grow from the leaves of RMSNorm + linear, and of attention, by all binary operators, as they do in a
// search; each line is a goal: questions that are asked for the first time (without building the expression), questions
// that were asked before, and the answer by degrees, which precedes both (mirage_expr_may_reach).
#define _POSIX_C_SOURCE 200809L // clock_gettime
#include "mirage/expr.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_EXPRESSIONS = 100000, REPEATS = 20 };

static const MirageOp ops[] = {MIRAGE_OP_ADD, MIRAGE_OP_SUB, MIRAGE_OP_MUL, MIRAGE_OP_DIV};

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static MirageExpr whole(MirageExprTable *table, MirageExpr a, uint32_t axis) {
  MirageExpr tile = mirage_expr_sum(table, a, mirage_axis_part(axis, MIRAGE_PART_TILE));
  return mirage_expr_sum(table, tile, mirage_axis_part(axis, MIRAGE_PART_LOOP));
}

static MirageExpr rmsnorm_linear(MirageExprTable *table) {
  MirageExpr x = mirage_expr_input(table, 0), w = mirage_expr_input(table, 1), none = {0};
  MirageExpr sum = whole(table, mirage_expr_mul(table, x, x), 1);
  MirageExpr mean = mirage_expr_div(table, sum, mirage_expr_constant(table, 4096));
  MirageExpr root = mirage_expr_apply(table, MIRAGE_OP_SQRT, mean, none);
  return whole(table, mirage_expr_mul(table, mirage_expr_div(table, x, root), w), 1);
}

static MirageExpr attention(MirageExprTable *table) {
  MirageExpr q = mirage_expr_input(table, 0), k = mirage_expr_input(table, 1), v = mirage_expr_input(table, 2);
  MirageExpr scores = whole(table, mirage_expr_mul(table, q, k), 1), none = {0};
  MirageExpr e = mirage_expr_apply(table, MIRAGE_OP_EXP, scores, none);
  MirageExpr p = mirage_expr_div(table, e, whole(table, e, 2));
  return whole(table, mirage_expr_mul(table, p, v), 2);
}

// All that one operator makes of two, until there are enough.
static uint32_t grow(MirageExprTable *table, MirageExpr *pool, uint32_t wanted) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < 3; i++)
    pool[count++] = mirage_expr_input(table, i);
  pool[count++] = mirage_expr_constant(table, 4096);
  for (uint32_t i = 0; i < count && count < wanted; i++) {
    for (uint32_t j = 0; j <= i && count < wanted; j++)
      for (size_t op = 0; op < sizeof ops / sizeof *ops && count < wanted; op++) {
        pool[count] = mirage_expr_apply(table, ops[op], pool[i], pool[j]);
        count += pool[count].index != 0;
      }
    if (count < wanted)
      pool[count++] = whole(table, pool[i], 1 + i % 2);
  }
  return count;
}

static void ask_all(MirageExprTable *table, const MirageExpr *pool, uint32_t count, MirageExpr goal,
                    uint32_t *reached) {
  for (uint32_t i = 0; i < count; i++)
    *reached += mirage_expr_reaches(table, pool[i], goal);
}

static int measure(const char *name, MirageExpr (*make)(MirageExprTable *), uint32_t wanted) {
  MirageExprTable *table = mirage_expr_table_create(NULL);
  MirageExpr *pool = calloc(wanted + 4, sizeof *pool);
  MirageExprSketch *sketches = calloc(wanted + 4, sizeof *sketches);
  if (!table || !pool || !sketches)
    return 1;
  MirageExpr goal = make(table);
  uint32_t count = grow(table, pool, wanted), reached = 0, may = 0;
  if (mirage_expr_sketch_goals(table, 1, &goal) != MIRAGE_OK)
    return 1;
  for (uint32_t i = 0; i < count; i++)
    mirage_expr_sketch(table, pool[i], &sketches[i]);
  uint64_t asked = mirage_expr_stats(table)->reach_asked, cached = mirage_expr_stats(table)->reach_cached;
  double start = now_ns();
  ask_all(table, pool, count, goal, &reached);
  double first = now_ns() - start;
  uint64_t new_ones = mirage_expr_stats(table)->reach_asked - asked - (mirage_expr_stats(table)->reach_cached - cached);
  start = now_ns();
  for (uint32_t i = 0; i < REPEATS; i++)
    ask_all(table, pool, count, goal, &reached);
  double again = now_ns() - start;
  start = now_ns();
  for (uint32_t i = 0; i < REPEATS; i++)
    for (uint32_t j = 0; j < count; j++)
      may += mirage_expr_may_reach(table, ops[i % 4], &sketches[j], &sketches[(j + i) % count]);
  double degrees = now_ns() - start;
  printf("%s,%u,%llu,%u,%.1f,%.1f,%.1f,%.4f\n", name, count, (unsigned long long)new_ones, reached / (REPEATS + 1),
         first / (double)new_ones, again / REPEATS / count, degrees / REPEATS / count, may / (double)REPEATS / count);
  free(pool);
  free(sketches);
  mirage_expr_table_destroy(table);
  return 0;
}

int main(int argc, char **argv) {
  long wanted = argc > 1 ? strtol(argv[1], NULL, 10) : 20000;
  if (wanted < 100 || wanted > MAX_EXPRESSIONS) {
    fprintf(stderr, "reach_bench: wanted 100 to %d expressions\n", MAX_EXPRESSIONS);
    return 2;
  }
  puts("goal,expressions,different,reached,ns_first_time,ns_asked_before,ns_by_degrees,share_degrees_leave");
  return measure("rmsnorm_linear", rmsnorm_linear, (uint32_t)wanted) ||
         measure("attention", attention, (uint32_t)wanted);
}
