// domain_field.c - the rule of every operator on pairs of residues.
//
//   add, sub, mul, div, matmul, sums   in both components; after an exponential only mod p
//   exp(x)                             omega^(x mod q), after which no residue mod q exists
//   sqrt, log, erf, tanh, sin, cos     seeded random functions of x mod p that return both components, with the values
//                                      that they have at 0 and 1; so is exp when its argument already lies behind an
//                                      exponential
//   max                                a seeded random function of the set of arguments (max_table.c); of predicates as
//                                      numbers, 0 and 1: evaluated
//   comparison of known indices        evaluated: iota and constants of i32 are known; and of predicates as numbers
//   any other comparison               a seeded random function of both operands with the values 0 and 1, but for that of
//                                      a value with itself; equal is symmetric
//   and, or, not                       of 0 and 1; mask: the value, or bottom
//   derived operators                  their expansion (mirage_op_expansion), step by step
//   constants                          exact: a double is an integer times a power of two
//
// Division by zero and the logarithm of zero are REDRAW, never a value; mod q it counts only where the quotient has a
// component mod q.
// Bottom: max passes over it; exp(bottom) = 0; bottom + x = bottom; bottom - x = bottom, also for x = bottom (see
// lib/eval/domain_f64.c); every other operator on it is UNSUPPORTED.
//
// Partial fields go on instead: the element is undefined, and whatever reads it is. A masked lane may so divide zero by
// zero; whoever asks for outputs sees whether it reached one.
//
// Free exponentials: no value has a residue mod q, so exp is the random function F like any other, but for one law.
// A difference x - m from a maximum knows m (shift_table.c), and its exponential is F(x) / F(m). So sums of e^(x - m)
// are polynomials in the values of F, whatever the number of exponentials.
#include "field_internal.h"

#include <math.h>
#include <string.h>

typedef MirageResidue Residue;

static const MirageField *field_of(const MirageDomain *self) { return (const MirageField *)self; }
// The field itself is never const: only the table of maxima changes, and that is ours.
static MirageField *mutable_field_of(const MirageDomain *self) { return (MirageField *)self; }

static const Residue BOTTOM = {.bottom = 1};

static Residue make(uint64_t p, uint64_t q, uint8_t after_exp) {
  return (Residue){.p = p, .q = after_exp ? 0 : (uint32_t)q, .after_exp = after_exp};
}

static Residue undefined(MirageUndefined why) { return (Residue){.undefined = (uint8_t)why}; }
static Residue undefined_like(Residue a, Residue b) {
  return undefined(a.undefined > b.undefined ? a.undefined : b.undefined);
}

// What an operator without a rule for its operands gives, or REDRAW for a quotient without a value.
MirageStatus mirage__field_without_value(const MirageField *f, MirageUndefined why, Residue *out) {
  *out = undefined(why);
  if (f->modes.partial)
    return MIRAGE_OK;
  return why == MIRAGE_UNDEFINED_RULE ? MIRAGE_UNSUPPORTED : MIRAGE_REDRAW;
}

Residue mirage__field_add(const MirageField *f, Residue a, Residue b) {
  if (a.undefined | b.undefined)
    return undefined_like(a, b);
  if (a.bottom | b.bottom)
    return BOTTOM;
  uint64_t q = (uint64_t)a.q + b.q;
  return make(field_add(f, a.p, b.p), q >= f->q ? q - f->q : q, a.after_exp | b.after_exp);
}

static Residue mul(const MirageField *f, Residue a, Residue b) {
  return make(field_mul(f, a.p, b.p), (uint64_t)a.q * b.q % f->q, a.after_exp | b.after_exp);
}

// -------------------------------------------------------------------------------------------------------- element-wise

static MirageStatus binary_sub(MirageField *f, size_t n, const Residue *a, const Residue *b, Residue *out) {
  Residue last = {0}; // a maximum and its tag: neighbours mostly have the same
  for (size_t i = 0; i < n; i++) {
    Residue x = a[i], y = b[i];
    if (x.undefined | y.undefined) {
      out[i] = undefined_like(x, y);
    } else if (x.bottom | y.bottom) {
      out[i] = BOTTOM;
      if (!x.bottom)
        MIRAGE_TRY(mirage__field_without_value(f, MIRAGE_UNDEFINED_RULE, &out[i]));
    } else {
      uint64_t q = x.q >= y.q ? x.q - y.q : x.q + f->q - y.q;
      out[i] = make(field_sub(f, x.p, y.p), q, x.after_exp | y.after_exp);
      if (y.role == ROLE_MAXIMUM && last.role && y.p == last.p) {
        out[i].role = last.role;
        out[i].q = last.q;
      } else if (y.role == ROLE_MAXIMUM) {
        MIRAGE_TRY(mirage__field_shift_mark(f, y.p, &out[i]));
        last = (Residue){.p = y.p, .q = out[i].q, .role = out[i].role};
      }
    }
  }
  return MIRAGE_OK;
}

static MirageStatus binary_mul(const MirageField *f, size_t n, const Residue *a, const Residue *b, Residue *out) {
  for (size_t i = 0; i < n; i++) {
    if (a[i].undefined | b[i].undefined)
      out[i] = undefined_like(a[i], b[i]);
    else if (a[i].bottom | b[i].bottom)
      MIRAGE_TRY(mirage__field_without_value(f, MIRAGE_UNDEFINED_RULE, &out[i]));
    else
      out[i] = mul(f, a[i], b[i]);
  }
  return MIRAGE_OK;
}

enum { BATCH = 64 };

// Up to BATCH divisors, none of them zero, each for a run of neighbouring elements: what a row is divided by is often
// one number. A divisor behind an exponential has no component mod q; 1 stands in for it.
typedef struct Runs {
  size_t count, end[BATCH]; // end: of the run's elements
  uint64_t p[BATCH], q[BATCH];
} Runs;

static void add_to_runs(Runs *runs, size_t end, uint64_t p, uint64_t q) {
  if (!runs->count || runs->p[runs->count - 1] != p || runs->q[runs->count - 1] != q) {
    runs->p[runs->count] = p;
    runs->q[runs->count++] = q;
  }
  runs->end[runs->count - 1] = end;
}

// Inverts all with one inversion per field: prefix products, then backwards. Those mod p come out times 2^64.
static void invert_runs(const MirageField *f, bool with_q, Runs *runs) {
  uint64_t prefix_p[BATCH + 1] = {1}, prefix_q[BATCH + 1] = {1}, inverse_q = 1;
  for (size_t i = 0; i < runs->count; i++) {
    prefix_p[i + 1] = field_mul(f, prefix_p[i], runs->p[i]);
    prefix_q[i + 1] = with_q ? prefix_q[i] * runs->q[i] % f->q : 1;
  }
  uint64_t inverse_p = mirage__field_inverse(prefix_p[runs->count], f->p);
  if (with_q)
    inverse_q = mirage__field_inverse(prefix_q[runs->count], f->q);
  for (size_t i = runs->count; i-- > 0;) {
    uint64_t p = field_mul(f, inverse_p, prefix_p[i]), q = inverse_q * prefix_q[i] % f->q;
    inverse_p = field_mul(f, inverse_p, runs->p[i]);
    inverse_q = with_q ? inverse_q * runs->q[i] % f->q : 1;
    runs->p[i] = field_montgomery(f, p);
    runs->q[i] = q;
  }
}

// Why a / b has no value, or DEFINED.
static MirageUndefined quotient_lacks(Residue a, Residue b, bool needs_q) {
  if (a.undefined | b.undefined)
    return a.undefined > b.undefined ? a.undefined : b.undefined;
  if (a.bottom | b.bottom)
    return MIRAGE_UNDEFINED_RULE;
  return b.p == 0 || (needs_q && b.q == 0) ? MIRAGE_UNDEFINED_QUOTIENT : MIRAGE_DEFINED;
}

// Elements [begin, *out_end): as many as BATCH different divisors reach.
static MirageStatus divide_runs(const MirageField *f, size_t begin, size_t n, const Residue *a, const Residue *b,
                                Residue *out, size_t *out_end) {
  Runs runs = {.count = 0};
  Residue lacking;
  bool with_q = false;
  size_t end = begin;
  for (; end < n && runs.count < BATCH; end++) {
    bool needs_q = !(a[end].after_exp | b[end].after_exp);
    MirageUndefined lacks = quotient_lacks(a[end], b[end], needs_q);
    if (lacks)
      MIRAGE_TRY(mirage__field_without_value(f, lacks, &lacking));
    with_q = with_q || needs_q;
    add_to_runs(&runs, end + 1, lacks ? 1 : b[end].p, lacks || !needs_q ? 1 : b[end].q);
  }
  invert_runs(f, with_q, &runs);
  for (size_t i = begin, r = 0; i < end; i++) {
    r += i >= runs.end[r];
    uint8_t after_exp = a[i].after_exp | b[i].after_exp;
    MirageUndefined lacks = quotient_lacks(a[i], b[i], !after_exp);
    out[i] = lacks ? undefined(lacks)
                   : make(field_redc(f, (FieldU128)a[i].p * runs.p[r]),
                          after_exp ? 0 : (uint64_t)a[i].q * runs.q[r] % f->q, after_exp);
  }
  *out_end = end;
  return MIRAGE_OK;
}

static MirageStatus binary_div(const MirageField *f, size_t n, const Residue *a, const Residue *b, Residue *out) {
  for (size_t i = 0; i < n;)
    MIRAGE_TRY(divide_runs(f, i, n, a, b, out, &i));
  return MIRAGE_OK;
}

// Whether a maximum of these is evaluated: predicates as numbers. Bottoms are passed over.
static bool is_truth(Residue x) { return (x.role == ROLE_TRUTH || x.bottom) && !x.undefined; }

static Residue truths_max(const MirageField *f, Residue a, Residue b) {
  return a.bottom ? b : b.bottom ? a : mirage__field_truth(f, a.p || b.p);
}

// The maximum of the set that was collected, of which `single` is any value that is not bottom. An undefined value
// leaves none.
static MirageStatus finish_maximum(MirageField *f, Residue single, MirageUndefined lacks, Residue *out) {
  if (lacks) {
    *out = undefined(lacks);
    return MIRAGE_OK;
  }
  MIRAGE_TRY(mirage__field_max_finish(f, &single, out));
  if (f->modes.free_exp && !out->bottom)
    *out = (Residue){.p = out->p, .after_exp = 1, .role = ROLE_MAXIMUM};
  return MIRAGE_OK;
}

static MirageStatus binary_max(MirageField *f, size_t n, const Residue *a, const Residue *b, Residue *out) {
  for (size_t i = 0; i < n; i++) {
    Residue single = a[i].bottom ? b[i] : a[i];
    MirageUndefined lacks = undefined_like(a[i], b[i]).undefined;
    if (is_truth(a[i]) && is_truth(b[i])) {
      out[i] = truths_max(f, a[i], b[i]);
      continue;
    }
    mirage__field_max_begin(f);
    MIRAGE_TRY(mirage__field_max_add(f, &a[i]));
    MIRAGE_TRY(mirage__field_max_add(f, &b[i]));
    MIRAGE_TRY(finish_maximum(f, single, lacks, &out[i]));
  }
  return MIRAGE_OK;
}

// -------------------------------------------------------------------------------------------------------- predicates

static int64_t index_of(const MirageField *f, Residue x) {
  return x.p > f->p / 2 ? -(int64_t)(f->p - x.p) : (int64_t)x.p;
}

static bool is_whole(Residue x) { return x.role == ROLE_INDEX || x.role == ROLE_TRUTH; }

static bool compare_whole(MirageOp op, int64_t a, int64_t b) {
  return op == MIRAGE_OP_LESS ? a < b : op == MIRAGE_OP_LESS_EQUAL ? a <= b : a == b;
}

// A bit for each pair of values. What a value is to itself is known.
static bool compare_values(const MirageField *f, MirageOp op, uint64_t a, uint64_t b) {
  uint64_t first[2], second[2];
  if (a == b)
    return op != MIRAGE_OP_LESS;
  if (op == MIRAGE_OP_EQUAL && a > b) {
    uint64_t swapped = a;
    a = b;
    b = swapped;
  }
  mirage__field_hash(f, op, a, first);
  mirage__field_hash(f, op, b ^ first[0], second);
  return (second[0] ^ first[1]) & 1;
}

static MirageStatus binary_compare(const MirageField *f, MirageOp op, size_t n, const Residue *a, const Residue *b,
                                   Residue *out) {
  for (size_t i = 0; i < n; i++) {
    Residue x = a[i], y = b[i];
    if (x.undefined | y.undefined)
      out[i] = undefined_like(x, y);
    else if (x.bottom | y.bottom)
      MIRAGE_TRY(mirage__field_without_value(f, MIRAGE_UNDEFINED_RULE, &out[i]));
    else if (is_whole(x) && is_whole(y))
      out[i] = mirage__field_truth(f, compare_whole(op, index_of(f, x), index_of(f, y)));
    else
      out[i] = mirage__field_truth(f, compare_values(f, op, x.p, y.p));
  }
  return MIRAGE_OK;
}

static MirageStatus binary_logic(const MirageField *f, MirageOp op, size_t n, const Residue *a, const Residue *b,
                                 Residue *out) {
  for (size_t i = 0; i < n; i++)
    out[i] = a[i].undefined | b[i].undefined ? undefined_like(a[i], b[i])
             : op == MIRAGE_OP_AND           ? mirage__field_truth(f, a[i].p && b[i].p)
                                             : mirage__field_truth(f, a[i].p || b[i].p);
  return MIRAGE_OK;
}

// What is masked need not have a value.
static void binary_mask(size_t n, const Residue *a, const Residue *b, Residue *out) {
  for (size_t i = 0; i < n; i++)
    out[i] = a[i].undefined ? undefined(a[i].undefined) : a[i].p ? b[i] : BOTTOM;
}

static MirageStatus apply_expansion(const MirageDomain *self, MirageOp op, const MirageType *result, size_t n,
                                    const Residue *a, const Residue *b, Residue *out);

static MirageStatus field_binary(const MirageDomain *self, MirageOp op, const MirageType *result, size_t n,
                                 const void *a, const void *b, void *out) {
  const MirageField *f = field_of(self);
  Residue *to = out;
  switch (op) {
  case MIRAGE_OP_ADD:
    for (size_t i = 0; i < n; i++)
      to[i] = mirage__field_add(f, ((const Residue *)a)[i], ((const Residue *)b)[i]);
    return MIRAGE_OK;
  case MIRAGE_OP_SUB:
    return binary_sub(mutable_field_of(self), n, a, b, to);
  case MIRAGE_OP_MUL:
    return binary_mul(f, n, a, b, to);
  case MIRAGE_OP_DIV:
    return binary_div(f, n, a, b, to);
  case MIRAGE_OP_MAX:
    return binary_max(mutable_field_of(self), n, a, b, to);
  case MIRAGE_OP_LESS:
  case MIRAGE_OP_LESS_EQUAL:
  case MIRAGE_OP_EQUAL:
    return binary_compare(f, op, n, a, b, to);
  case MIRAGE_OP_AND:
  case MIRAGE_OP_OR:
    return binary_logic(f, op, n, a, b, to);
  case MIRAGE_OP_MASK:
    binary_mask(n, a, b, to);
    return MIRAGE_OK;
  default:
    return apply_expansion(self, op, result, n, a, b, to);
  }
}

// What is known of the functions: sqrt(0) = 0, sqrt(1) = 1, log(1) = 0, erf(0) = 0, tanh(0) = 0, sin(0) = 0, cos(0) = 1,
// exp(0) = 1. Without these, 0 / erf(0) would have a value. Elsewhere a random function.
static Residue numeric_function(const MirageField *f, MirageOp op, uint64_t x) {
  bool at_zero = x == 0 && op != MIRAGE_OP_LOG, at_one = x == 1 && (op == MIRAGE_OP_SQRT || op == MIRAGE_OP_LOG);
  if (!at_zero && !at_one)
    return mirage__field_random_function(f, op, x);
  uint64_t value = at_zero ? op == MIRAGE_OP_EXP || op == MIRAGE_OP_COS : op == MIRAGE_OP_SQRT;
  return make(value, value, f->modes.free_exp);
}

// exp of values from `begin` on, where exp is the random function F: F(x) / F(m) for a difference x - m from a maximum.
// As many as BATCH different maxima reach; returns where that is.
static size_t free_runs(const MirageField *f, size_t begin, size_t n, const Residue *a, Residue *out) {
  Runs runs = {.count = 0};
  Residue last = {0}; // a difference, of whose maximum the following are known:
  uint64_t m = 0, divisor = 1;
  size_t end = begin;
  for (; end < n && runs.count < BATCH; end++) {
    Residue x = a[end];
    bool difference = x.role & ROLE_DIFFERENCE;
    if (difference && (x.role != last.role || x.q != last.q)) {
      m = mirage__field_shift_maximum(f, &x);
      divisor = numeric_function(f, MIRAGE_OP_EXP, m).p;
      last = x;
    }
    out[end] = numeric_function(f, MIRAGE_OP_EXP, difference ? field_add(f, x.p, m) : x.p);
    if (x.bottom)
      out[end].p = 0;
    if (x.undefined | (difference && !divisor))
      out[end] = undefined(x.undefined ? x.undefined : MIRAGE_UNDEFINED_QUOTIENT);
    add_to_runs(&runs, end + 1, difference && divisor ? divisor : 1, 1);
  }
  if (runs.count == 1 && runs.p[0] == 1)
    return end;
  invert_runs(f, false, &runs);
  for (size_t i = begin, r = 0; i < end; i++) {
    r += i >= runs.end[r];
    if (!out[i].undefined)
      out[i].p = field_redc(f, (FieldU128)out[i].p * runs.p[r]);
  }
  return end;
}

static void free_exponentials(const MirageField *f, size_t n, const Residue *a, Residue *out) {
  for (size_t i = 0; i < n;)
    i = free_runs(f, i, n, a, out);
}

// sqrt, log, erf, tanh, sin, cos: functions of x mod p.
static MirageStatus random_functions(const MirageField *f, MirageOp op, size_t n, const Residue *a, Residue *out) {
  for (size_t i = 0; i < n; i++) {
    if (a[i].undefined)
      out[i] = undefined(a[i].undefined);
    else if (a[i].bottom)
      MIRAGE_TRY(mirage__field_without_value(f, MIRAGE_UNDEFINED_RULE, &out[i]));
    else if (op == MIRAGE_OP_LOG && a[i].p == 0)
      MIRAGE_TRY(mirage__field_without_value(f, MIRAGE_UNDEFINED_QUOTIENT, &out[i]));
    else
      out[i] = numeric_function(f, op, a[i].p);
  }
  return MIRAGE_OK;
}

static MirageStatus field_unary(const MirageDomain *self, MirageOp op, const MirageType *result, size_t n,
                                const void *a, void *out) {
  const MirageField *f = field_of(self);
  const Residue *from = a;
  Residue *to = out;
  switch (op) {
  case MIRAGE_OP_EXP:
    if (f->modes.free_exp) {
      free_exponentials(f, n, from, to);
      return MIRAGE_OK;
    }
    for (size_t i = 0; i < n; i++) {
      if (from[i].undefined)
        to[i] = undefined(from[i].undefined);
      else if (from[i].bottom)
        to[i] = (Residue){.after_exp = 1};
      else if (from[i].after_exp)
        to[i] = numeric_function(f, MIRAGE_OP_EXP, from[i].p);
      else
        to[i] = (Residue){.p = field_exp(f, from[i].q), .after_exp = 1};
    }
    return MIRAGE_OK;
  case MIRAGE_OP_SQRT:
  case MIRAGE_OP_LOG:
  case MIRAGE_OP_ERF:
  case MIRAGE_OP_TANH:
  case MIRAGE_OP_SIN:
  case MIRAGE_OP_COS:
    return random_functions(f, op, n, from, to);
  case MIRAGE_OP_NOT:
    for (size_t i = 0; i < n; i++)
      to[i] = from[i].undefined ? undefined(from[i].undefined) : mirage__field_truth(f, !from[i].p);
    return MIRAGE_OK;
  default:
    return apply_expansion(self, op, result, n, a, NULL, to);
  }
}

// Runs a derived operator's steps on a few elements at a time.
static MirageStatus apply_expansion(const MirageDomain *self, MirageOp op, const MirageType *result, size_t n,
                                    const Residue *a, const Residue *b, Residue *out) {
  const MirageExpansion *expansion = mirage_op_expansion(op);
  if (!expansion)
    return MIRAGE_UNSUPPORTED;
  Residue values[2 + sizeof expansion->steps / sizeof *expansion->steps][BATCH]; // operands, then each step
  for (size_t i = 0; i < n; i += BATCH) {
    size_t count = n - i < BATCH ? n - i : BATCH;
    memcpy(values[0], a + i, count * sizeof *a);
    if (b)
      memcpy(values[1], b + i, count * sizeof *b);
    for (uint32_t s = 0; s < expansion->num_steps; s++) {
      const MirageExpansionStep *step = &expansion->steps[s];
      Residue *to = values[2 + s];
      if (step->op == MIRAGE_OP_CONSTANT)
        MIRAGE_TRY(self->constant(self, result, count, step->value, to));
      else if (mirage_op_info(step->op)->max_operands == 1)
        MIRAGE_TRY(field_unary(self, step->op, result, count, values[step->a], to));
      else
        MIRAGE_TRY(field_binary(self, step->op, result, count, values[step->a], values[step->b], to));
    }
    memcpy(out + i, values[1 + expansion->num_steps], count * sizeof *out);
  }
  return MIRAGE_OK;
}

// -------------------------------------------------------------------------------------------------------------- matmul

static MirageStatus field_matmul_box(const MirageDomain *self, const MirageType *result, size_t m, size_t n, size_t k,
                                     const void *a, const void *b, bool turned, const void *c, void *out,
                                     const MirageBox *box) {
  return mirage__field_product(mutable_field_of(self), n, k, box, a, b, turned, c, out);
}

static MirageStatus field_matmul(const MirageDomain *self, const MirageType *result, size_t m, size_t n, size_t k,
                                 const void *a, const void *b, const void *c, void *out) {
  const MirageBox all = {.rows = m, .columns = n};
  return field_matmul_box(self, result, m, n, k, a, b, false, c, out, &all);
}

// ------------------------------------------------------------------------------------------------------------ the rest

static MirageStatus max_of_column(MirageField *f, size_t n, size_t inner, const Residue *column, Residue *out) {
  const Residue *single = column;
  MirageUndefined lacks = MIRAGE_DEFINED;
  Residue truth = BOTTOM;
  size_t known = 0;
  for (; known < n && is_truth(column[known * inner]); known++)
    truth = truths_max(f, truth, column[known * inner]);
  if (known == n) {
    *out = truth;
    return MIRAGE_OK;
  }
  mirage__field_max_begin(f);
  for (size_t j = 0; j < n; j++) {
    const Residue *value = &column[j * inner];
    MIRAGE_TRY(mirage__field_max_add(f, value));
    single = single->bottom ? value : single;
    lacks = value->undefined > lacks ? value->undefined : lacks;
  }
  return finish_maximum(f, *single, lacks, out);
}

static MirageStatus reduce_max(MirageField *f, size_t outer, size_t n, size_t inner, const Residue *a, Residue *out) {
  for (size_t o = 0; o < outer; o++)
    for (size_t i = 0; i < inner; i++)
      MIRAGE_TRY(max_of_column(f, n, inner, a + o * n * inner + i, &out[o * inner + i]));
  return MIRAGE_OK;
}

// Whether any holds.
static void reduce_any(const MirageField *f, size_t outer, size_t n, size_t inner, const Residue *a, Residue *out) {
  for (size_t o = 0; o < outer; o++)
    for (size_t i = 0; i < inner; i++) {
      const Residue *column = a + o * n * inner + i;
      Residue any = column[0];
      for (size_t j = 1; j < n; j++)
        binary_logic(f, MIRAGE_OP_OR, 1, &any, &column[j * inner], &any);
      out[o * inner + i] = any;
    }
}

static MirageStatus field_reduce(const MirageDomain *self, MirageOp op, const MirageType *result, size_t outer,
                                 size_t n, size_t inner, const void *a, void *out) {
  const MirageField *f = field_of(self);
  const Residue *from = a;
  Residue *to = out;
  if (op == MIRAGE_OP_REDUCE_MAX && result->dtype == MIRAGE_I1) {
    reduce_any(f, outer, n, inner, from, to);
    return MIRAGE_OK;
  }
  if (op == MIRAGE_OP_REDUCE_MAX)
    return reduce_max(mutable_field_of(self), outer, n, inner, from, to);
  if (op != MIRAGE_OP_REDUCE_SUM)
    return MIRAGE_UNSUPPORTED;
  for (size_t o = 0; o < outer; o++) {
    memmove(to + o * inner, from + o * n * inner, inner * sizeof *to);
    for (size_t j = 1; j < n; j++)
      for (size_t i = 0; i < inner; i++)
        to[o * inner + i] = mirage__field_add(f, to[o * inner + i], from[(o * n + j) * inner + i]);
  }
  return MIRAGE_OK;
}

static void fill(size_t n, Residue value, Residue *out) {
  for (size_t i = 0; i < n; i++)
    out[i] = value;
}

// Minus infinity is bottom; other values that are no numbers have no residue.
static MirageStatus field_constant(const MirageDomain *self, const MirageType *result, size_t n, double value,
                                   void *out) {
  if (!isfinite(value) && value != -INFINITY)
    return MIRAGE_UNSUPPORTED;
  Residue constant = isfinite(value) ? mirage__field_constant(field_of(self), value) : BOTTOM;
  constant.role = result && mirage_dtype_family(result->dtype) == MIRAGE_FAMILY_INDEX ? ROLE_INDEX
                  : value == 0 || value == 1                                          ? ROLE_TRUTH
                                                                                      : ROLE_NONE;
  fill(n, constant, out);
  return MIRAGE_OK;
}

static MirageStatus field_bottom(const MirageDomain *self, size_t n, void *out) {
  fill(n, BOTTOM, out);
  return MIRAGE_OK;
}

static MirageStatus field_cast(const MirageDomain *self, const MirageType *result, size_t n, const void *a, void *out) {
  if (out != a)
    memmove(out, a, n * sizeof(Residue));
  if (result &&
      mirage_dtype_family(result->dtype) == MIRAGE_FAMILY_FLOAT) // an index becomes a number; a predicate is one
    for (size_t i = 0; i < n; i++)
      ((Residue *)out)[i].role = ((Residue *)out)[i].role == ROLE_INDEX ? ROLE_NONE : ((Residue *)out)[i].role;
  return MIRAGE_OK;
}

void mirage__field_domain_init(MirageDomain *domain) {
  *domain = (MirageDomain){.name = "field",
                           .element_bytes = sizeof(Residue),
                           .unary = field_unary,
                           .binary = field_binary,
                           .matmul = field_matmul,
                           .matmul_box = field_matmul_box,
                           .reduce = field_reduce,
                           .constant = field_constant,
                           .bottom = field_bottom,
                           .cast = field_cast,
                           .fork = mirage__field_fork,
                           .keep = mirage__field_keep,
                           .end = mirage__field_end,
                           .join = mirage__field_join};
}
