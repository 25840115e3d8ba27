// field_rates.c - how often wrong pairs pass a trial in fields of 2^5 .. 2^12, beside what the theorem allows.
//
//   field_rates [--trials N] [--max-bits B] [--seed S] [--csv FILE --machine TEXT]
//
// At full size a false accept is never seen, so a wrong constant in the bound would never be seen either. Here q has b
// bits and p has 2 b (as 31 and 62 at full size), and everything else is the verifier's own: the draws, the operators'
// rules, the bound (mirage__verify_bound_in, with the numbers of primes counted by a sieve instead of taken from the
// prime number theorem).
//
// Measured:   of N draws, the share that is defined and finds no difference; one draw of a trial, not a trial.
// Asserted:   no more than the bound and five standard deviations of a binomial with that rate, for each pair and size.
#define _POSIX_C_SOURCE 200809L
#include "../unit/block_graphs.h"
#include "field/field_internal.h"
#include "mirage/verify.h"
#include "verify/verify_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MIN_BITS = 5, MAX_BITS = 12, MAX_INPUTS = 4, MAX_ELEMENTS = 64 };

// --------------------------------------------------------------------------------------------------------------- pairs

typedef struct Pair {
  const char *name, *kind, *left, *right;
} Pair;

// Programs of four scalars a, b, c, d in postfix: + - * / operate, e exp, r sqrt, m max, numbers 1..9 are constants.
static const Pair PAIRS[] = {
    {"a + b = a + c", "linear", "ab+", "ac+"},
    {"a b = a c", "product", "ab*", "ac*"},
    {"a^4 = b^4", "product", "aa*aa**", "bb*bb**"},
    {"a b c d = a + b + c + d", "product", "ab*c*d*", "ab+c+d+"},
    {"a / b = b / a", "division", "ab/", "ba/"},
    {"a / (b + c) = a / b + a / c", "division", "abc+/", "ab/ac/+"},
    {"e^a = e^b", "exponential", "ae", "be"},
    {"e^a + e^b = e^c + e^d", "exponential", "aebe+", "cede+"},
    {"e^(a b) = e^a e^b", "exponential", "ab*e", "aebe*"},
    {"a e^b = c e^b", "exponential", "abe*", "cbe*"},
    {"e^1 + 1 = e^2", "exponential", "1e1+", "2e"},
    {"e^a / (e^a + e^b) = e^a / (e^a + e^c)", "exponential, division", "aeaebe+/", "aeaece+/"},
    {"e^(a/b) = e^(b/a)", "exponential, division", "ab/e", "ba/e"},
    {"sqrt a = sqrt b", "random function", "ar", "br"},
    {"sqrt(a b) = sqrt(a c)", "random function", "ab*r", "ac*r"},
    {"max(a, b) = max(a, c)", "maximum", "abm", "acm"},
    {"max(a, b, c) = max(a, d, c)", "maximum", "abmcm", "admcm"},
};
enum { NUM_PAIRS = sizeof PAIRS / sizeof *PAIRS };

static MirageUGraph *parse(const char *postfix) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "pair", NULL);
  MirageType scalar = tensor_type(MIRAGE_F32, 1, 1);
  MirageValue inputs[MAX_INPUTS], stack[16];
  uint32_t depth = 0;
  for (int i = 0; i < MAX_INPUTS; i++)
    inputs[i] = mirage_ugraph_input(g, scalar);
  for (const char *c = postfix; *c; c++) {
    static const char binary[] = "+-*/m";
    static const MirageOp ops[] = {MIRAGE_OP_ADD, MIRAGE_OP_SUB, MIRAGE_OP_MUL, MIRAGE_OP_DIV, MIRAGE_OP_MAX};
    const char *found = strchr(binary, *c);
    if (*c >= 'a' && *c <= 'd') {
      stack[depth++] = inputs[*c - 'a'];
    } else if (*c >= '1' && *c <= '9') {
      stack[depth++] = mirage_ugraph_constant(g, scalar, *c - '0');
    } else if (found) {
      depth--;
      stack[depth - 1] = op2(g, ops[found - binary], stack[depth - 1], stack[depth]);
    } else {
      stack[depth - 1] = op1(g, *c == 'e' ? MIRAGE_OP_EXP : MIRAGE_OP_SQRT, stack[depth - 1]);
    }
  }
  return finish_with(g, stack[0]);
}

// x @ w over four terms, and the same with the last two rows of w exchanged: a slip of a map.
static MirageUGraph *dot(bool wrong) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "dot", NULL);
  MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 2, 1, 4));
  MirageValue w = mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 2, 4, 1));
  if (wrong) {
    MirageValue parts[3];
    static const int64_t from[] = {0, 3, 2}, to[] = {2, 4, 3};
    for (int i = 0; i < 3; i++)
      parts[i] = mirage_ugraph_apply(g, MIRAGE_OP_SLICE, 1, &w, &(MirageAttrs){.slice = {0, from[i], to[i]}});
    w = mirage_ugraph_apply(g, MIRAGE_OP_CONCAT, 3, parts, &(MirageAttrs){.dim = {0}});
  }
  return finish_with(g, op2(g, MIRAGE_OP_MATMUL, x, w));
}

// -------------------------------------------------------------------------------------------------------------- fields

static bool is_small_prime(uint64_t n) {
  for (uint64_t d = 2; d * d <= n; d++)
    if (n % d == 0)
      return false;
  return n > 1;
}

// Numbers of primes as the theorem counts them; those p are fewest for which q is worst.
static VerifyFields count_fields(uint32_t bits) {
  uint64_t low = UINT64_C(1) << (bits - 1), p_low = UINT64_C(1) << (2 * bits - 1), num_q = 0, least_p = UINT64_MAX;
  for (uint64_t q = low; q < 2 * low; q++) {
    if (!is_small_prime(q))
      continue;
    uint64_t num_p = 0;
    for (uint64_t p = p_low / q * q + 1; p < 2 * p_low; p += q)
      num_p += p >= p_low && is_small_prime(p);
    least_p = num_p < least_p ? num_p : least_p;
    num_q++;
  }
  return (VerifyFields){.log2_p_min = 2.0 * bits - 1,
                        .log2_q_min = bits - 1.0,
                        .log2_num_q = log2((double)num_q),
                        .log2_num_p = log2((double)least_p)};
}

// One draw: 1 when both graphs are defined and agree.
static int passes(const MirageUGraph *left, const MirageUGraph *right, uint32_t bits, uint64_t seed, uint32_t draw) {
  MirageResidue inputs[MAX_INPUTS][MAX_ELEMENTS], outputs[2][MAX_ELEMENTS];
  const void *in[MAX_INPUTS];
  MirageField *field = mirage__field_create_sized(seed, draw, bits, 2 * bits);
  if (!field)
    return -1;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(left); i++) {
    in[i] = inputs[i];
    mirage_field_draw(
        field, i, (size_t)mirage_type_elements(mirage_ugraph_type(left, mirage_ugraph_get_input(left, i))), inputs[i]);
  }
  MirageStatus status = MIRAGE_OK;
  for (int g = 0; g < 2 && status == MIRAGE_OK; g++)
    status = mirage_eval(g ? right : left, mirage_field_domain(field), in, (void *[]){outputs[g]}, NULL, NULL);
  mirage_field_destroy(field);
  if (status != MIRAGE_OK && status != MIRAGE_REDRAW)
    return -1;
  return status == MIRAGE_OK && outputs[0][0].p == outputs[1][0].p;
}

// -------------------------------------------------------------------------------------------------------------- report

typedef struct Run {
  uint64_t seed;
  uint32_t trials, max_bits;
  const char *csv, *machine;
} Run;

static bool measure(const Run *run, const char *name, const char *kind, const MirageUGraph *left,
                    const MirageUGraph *right, const VerifyFields fields[], FILE *csv) {
  bool ok = true;
  printf("%-40s", name);
  for (uint32_t bits = MIN_BITS; bits <= run->max_bits; bits++) {
    VerifyBound bound;
    uint32_t passed = 0;
    if (mirage__verify_bound_in(&fields[bits], left, right, NULL, false, &bound) != MIRAGE_OK)
      return false;
    double allowed = fmin(1, exp2(bound.log2_draw)), n = run->trials;
    for (uint32_t i = 0; i < run->trials; i++) {
      int one = passes(left, right, bits, run->seed, i);
      if (one < 0) {
        fprintf(stderr, "%s: evaluation fails in a field of %u bits\n", name, bits);
        return false;
      }
      passed += (uint32_t)one;
    }
    bool held = passed <= n * allowed + 5 * sqrt(n * allowed * (1 - allowed)) + 1e-9;
    printf("  %.5f%s%.5f", passed / n, held ? " < " : " > ", allowed);
    if (csv)
      fprintf(csv, "\"%s\",\"%s\",%u,%u,%u,%u,%.9g,%.9g\n", name, kind, bits, 2 * bits, run->trials, passed, passed / n,
              allowed);
    ok = ok && held;
  }
  printf("\n");
  fflush(stdout);
  return ok;
}

static bool measure_all(const Run *run, FILE *csv) {
  VerifyFields fields[MAX_BITS + 1];
  bool ok = true;
  printf("measured rate < bound of one draw, for q of");
  for (uint32_t bits = MIN_BITS; bits <= run->max_bits; bits++) {
    fields[bits] = count_fields(bits);
    printf(" %u", bits);
  }
  printf(" bits (p has twice as many)\n");
  for (int i = 0; i <= NUM_PAIRS; i++) {
    bool last = i == NUM_PAIRS;
    MirageUGraph *left = last ? dot(false) : parse(PAIRS[i].left), *right = last ? dot(true) : parse(PAIRS[i].right);
    ok = left && right &&
         measure(run, last ? "x @ w, two rows of w exchanged" : PAIRS[i].name, last ? "product" : PAIRS[i].kind, left,
                 right, fields, csv) &&
         ok;
    mirage_ugraph_destroy(left);
    mirage_ugraph_destroy(right);
  }
  return ok;
}

static FILE *open_csv(const Run *run) {
  char date[16] = "";
  time_t now = time(NULL);
  struct tm *day = gmtime(&now);
  FILE *file = fopen(run->csv, "w");
  if (!file) {
    perror(run->csv);
    return NULL;
  }
  if (day)
    strftime(date, sizeof date, "%Y-%m-%d", day);
  fprintf(file, "# %s; %s; command: field_rates --trials %u --max-bits %u --seed %llu\n", date, run->machine,
          run->trials, run->max_bits, (unsigned long long)run->seed);
  fprintf(file, "pair,kind,q bits,p bits,draws,passed,rate,bound\n");
  return file;
}

int main(int argc, char **argv) {
  Run run = {.seed = 1, .trials = 50000, .max_bits = MAX_BITS, .machine = "unnamed machine"};
  bool known = argc % 2 == 1;
  for (int i = 1; known && i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--trials"))
      run.trials = (uint32_t)strtoul(argv[i + 1], NULL, 10);
    else if (!strcmp(argv[i], "--max-bits"))
      run.max_bits = (uint32_t)strtoul(argv[i + 1], NULL, 10);
    else if (!strcmp(argv[i], "--seed"))
      run.seed = strtoull(argv[i + 1], NULL, 10);
    else if (!strcmp(argv[i], "--csv"))
      run.csv = argv[i + 1];
    else if (!strcmp(argv[i], "--machine"))
      run.machine = argv[i + 1];
    else
      known = false;
  }
  if (!known || run.trials == 0 || run.max_bits < MIN_BITS || run.max_bits > MAX_BITS) {
    fprintf(stderr, "usage: field_rates [--trials N] [--max-bits %d..%d] [--seed S] [--csv FILE --machine TEXT]\n",
            MIN_BITS, MAX_BITS);
    return 2;
  }
  FILE *csv = run.csv ? open_csv(&run) : NULL;
  bool ok = (!run.csv || csv) && measure_all(&run, csv);
  if (csv)
    fclose(csv);
  printf("%s\n", ok ? "no rate exceeds its bound" : "FAILED");
  return !ok;
}
