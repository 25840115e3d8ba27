// product.c - products of matrices of residues, in vector registers.
//
// Limbs:     a residue mod p is low + 2^31 high with two limbs of 31 bits, so that a product of limbs fills 62 bits of
//            a 64-bit lane: the multiplier of 32-bit numbers that every vector unit has. A cell is three sums,
//              low low + 2^31 (low high + high low) + 2^62 high high,
//            and a fourth for the residue mod q. None is reduced before its end (product_lanes.h).
// Panels:    COLUMNS columns of DEPTH rows of the right factor are packed, WIDTH neighbouring columns together, and
//            stay in the second-level cache while ROWS rows of the left factor pass over them. A right factor that
//            lies transposed is turned while it is packed.
// Skipped:   sums mod q where an exponential lies behind a row, or behind all columns of a group.
// Variants:  the same source for 8 lanes (AVX-512), 4 lanes (AVX2) and 2 lanes (SSE2, NEON), chosen when a field is
//            made. Sums are exact integers, so all variants give equal bits.
#include "field_internal.h"

#include <stdlib.h>
#include <string.h>

typedef MirageResidue Residue;

enum {
  WIDTH = 8, // columns that one call of an inner loop sums
  STEP = 4,  // terms between two visits to `high`
  DEPTH = 128,
  COLUMNS = 64,
  ROWS = 32,
  LIMB_BITS = 31,
};
#define LOW_HALF UINT64_C(0xffffffff)
#define LOW_LIMB UINT64_C(0x7fffffff)

// The second word of a residue: q, and the flags above it. Or-ed over a row or column, what some element of it has.
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "second words are read as they lie in memory");
enum { AFTER_EXP = 32, BOTTOM = 40, UNDEFINED = 48, FLAG = 0xff };
static uint64_t second_word(const Residue *x) {
  return x->q | (uint64_t)x->after_exp << AFTER_EXP | (uint64_t)x->bottom << BOTTOM |
         (uint64_t)x->undefined << UNDEFINED;
}

typedef struct Limbs {
  uint64_t low, high, q;
} Limbs;

// Of WIDTH neighbouring cells of a row.
typedef struct Sums {
  uint64_t low[4][WIDTH], high[4][WIDTH];
} Sums;

#define LANES 2
#define EVEN 0, 2
#define ODD 1, 3
#define TARGET
#define NAME base
#include "product_lanes.h"
#if defined(__x86_64__)
#define LANES 4
#define EVEN 0, 2, 4, 6
#define ODD 1, 3, 5, 7
#define TARGET __attribute__((target("avx2")))
#define NAME avx2
#include "product_lanes.h"
#define LANES 8
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14
#define ODD 1, 3, 5, 7, 9, 11, 13, 15
#define TARGET __attribute__((target("avx512f")))
#define NAME avx512
#include "product_lanes.h"
#endif

typedef struct Variant {
  const char *name;
  void (*pack)(size_t count, size_t stride, const Residue *b, uint64_t *out, uint32_t *out_q, uint64_t *flags);
  void (*sum_p)(size_t count, const Limbs *a, const uint64_t *b, Sums *sums);
  void (*sum_q)(size_t count, const Limbs *a, const uint32_t *b, Sums *sums);
  void (*finish)(const FieldLimbs *constants, bool with_q, const Sums *sums, uint64_t *out_p, uint64_t *out_q);
} Variant;

static const Variant VARIANTS[] = {
    {"base", pack_base, sum_p_base, sum_q_base, finish_base},
#if defined(__x86_64__)
    {"avx2", pack_avx2, sum_p_avx2, sum_q_avx2, finish_avx2},
    {"avx512", pack_avx512, sum_p_avx512, sum_q_avx512, finish_avx512},
#endif
};

uint32_t mirage__field_product_variants(void) {
  uint32_t count = 1;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2"))
    count = 2;
  if (count == 2 && __builtin_cpu_supports("avx512f"))
    count = 3;
#endif
  return count;
}

const char *mirage__field_product_variant_name(uint32_t variant) { return VARIANTS[variant].name; }

// What one product works in; kept by the field from product to product.
struct FieldProduct {
  Sums sums[ROWS][COLUMNS / WIDTH];
  Limbs left[ROWS][DEPTH];
  uint64_t right[COLUMNS / WIDTH][DEPTH][WIDTH];
  uint32_t right_q[COLUMNS / WIDTH][DEPTH][WIDTH];
  uint64_t row[ROWS], column[COLUMNS]; // flags
};

// Rows of the left factor, k elements apart, `padded` with zeros.
static void pack_left(FieldProduct *work, size_t rows, size_t k, size_t count, size_t padded, const Residue *a) {
  for (size_t r = 0; r < rows; r++) {
    uint64_t flags = work->row[r];
    for (size_t l = 0; l < count; l++) {
      const Residue *x = &a[r * k + l];
      work->left[r][l] = (Limbs){x->p & LOW_LIMB, x->p >> LIMB_BITS, x->q};
      flags |= second_word(x);
    }
    work->row[r] = flags;
    memset(&work->left[r][count], 0, (padded - count) * sizeof(Limbs));
  }
}

// A matrix whose element of row l and column c is at[l * row + c * column].
typedef struct Strided {
  const Residue *at;
  size_t row, column;
} Strided;

// Columns of a transposed factor, or the last ones, fewer than WIDTH; the panel's others become zero.
static void pack_columns(FieldProduct *work, size_t group, size_t columns, size_t count, Strided b) {
  if (columns < WIDTH) {
    memset(work->right[group], 0, count * sizeof work->right[group][0]);
    memset(work->right_q[group], 0, count * sizeof work->right_q[group][0]);
  }
  for (size_t c = 0; c < columns; c++) {
    uint64_t flags = work->column[group * WIDTH + c];
    for (size_t l = 0; l < count; l++) {
      const Residue *y = &b.at[l * b.row + c * b.column];
      work->right[group][l][c] = (y->p & LOW_LIMB) | y->p >> LIMB_BITS << 32;
      work->right_q[group][l][c] = y->q;
      flags |= second_word(y);
    }
    work->column[group * WIDTH + c] = flags;
  }
}

static void pack_right(const MirageField *f, size_t columns, size_t count, size_t padded, Strided b) {
  FieldProduct *work = f->product;
  for (size_t group = 0; group * WIDTH < columns; group++, b.at += WIDTH * b.column) {
    size_t first = group * WIDTH, here = columns - first < WIDTH ? columns - first : WIDTH;
    if (here < WIDTH || b.column != 1)
      pack_columns(work, group, here, count, b);
    else
      VARIANTS[f->product_variant].pack(count, b.row, b.at, work->right[group][0], work->right_q[group][0],
                                        &work->column[first]);
    memset(work->right[group][count], 0, (padded - count) * sizeof work->right[group][0]);
    memset(work->right_q[group][count], 0, (padded - count) * sizeof work->right_q[group][0]);
  }
}

// Whether some column of a group has a residue mod q so far.
static bool group_has_q(const FieldProduct *work, size_t group, size_t columns) {
  for (size_t c = group * WIDTH; c < columns && c < (group + 1) * WIDTH; c++)
    if (!(work->column[c] >> AFTER_EXP & FLAG))
      return true;
  return false;
}

// The sums of a panel of cells, from zero.
static void sum_panel(const MirageField *f, size_t rows, size_t columns, size_t k, const Residue *a, Strided b) {
  FieldProduct *work = f->product;
  const Variant *variant = &VARIANTS[f->product_variant];
  memset(work->row, 0, sizeof work->row);
  memset(work->column, 0, sizeof work->column);
  for (size_t r = 0; r < rows; r++)
    memset(work->sums[r], 0, (columns + WIDTH - 1) / WIDTH * sizeof(Sums));
  for (size_t l = 0; l < k; l += DEPTH) {
    size_t count = k - l < DEPTH ? k - l : DEPTH, padded = (count + STEP - 1) / STEP * STEP;
    pack_left(work, rows, k, count, padded, a + l);
    pack_right(f, columns, count, padded, b);
    b.at += count * b.row;
    for (size_t group = 0; group * WIDTH < columns; group++) {
      bool with_q = group_has_q(work, group, columns);
      for (size_t r = 0; r < rows; r++) {
        variant->sum_p(padded, work->left[r], work->right[group][0], &work->sums[r][group]);
        if (with_q && !(work->row[r] >> AFTER_EXP & FLAG))
          variant->sum_q(padded, work->left[r], work->right_q[group][0], &work->sums[r][group]);
      }
    }
  }
}

static MirageStatus take_cell(const MirageField *f, uint64_t flags, uint64_t p, uint64_t q, Residue *out) {
  uint8_t lacks = flags >> UNDEFINED & FLAG, after_exp = flags >> AFTER_EXP & FLAG;
  if (lacks)
    *out = (Residue){.undefined = lacks & MIRAGE_UNDEFINED_RULE ? MIRAGE_UNDEFINED_RULE : MIRAGE_UNDEFINED_QUOTIENT};
  else if (flags >> BOTTOM & FLAG)
    return mirage__field_without_value(f, MIRAGE_UNDEFINED_RULE, out);
  else
    *out = (Residue){.p = p, .q = after_exp ? 0 : (uint32_t)q, .after_exp = after_exp};
  return MIRAGE_OK;
}

// One row of cells.
static MirageStatus take_row(const MirageField *f, size_t r, size_t columns, const Residue *plus, Residue *out) {
  const FieldProduct *work = f->product;
  for (size_t group = 0; group * WIDTH < columns; group++) {
    size_t first = group * WIDTH, count = columns - first < WIDTH ? columns - first : WIDTH;
    uint64_t p[WIDTH], q[WIDTH] = {0};
    bool with_q = !(work->row[r] >> AFTER_EXP & FLAG) && group_has_q(work, group, columns);
    VARIANTS[f->product_variant].finish(&f->limbs, with_q, &work->sums[r][group], p, q);
    for (size_t c = first; c < first + count; c++) {
      MIRAGE_TRY(take_cell(f, work->row[r] | work->column[c], p[c - first], q[c - first], &out[c]));
      if (plus)
        out[c] = mirage__field_add(f, out[c], plus[c]);
    }
  }
  return MIRAGE_OK;
}

MirageStatus mirage__field_product(MirageField *f, size_t n, size_t k, const MirageBox *box, const Residue *a,
                                   const Residue *b, bool turned, const Residue *plus, Residue *out) {
  if (!f->product && !(f->product = malloc(sizeof *f->product)))
    return MIRAGE_NO_MEMORY;
  for (size_t j = 0; j < box->columns; j += COLUMNS)
    for (size_t i = 0; i < box->rows; i += ROWS) {
      size_t rows = box->rows - i < ROWS ? box->rows - i : ROWS, row = box->row + i;
      size_t columns = box->columns - j < COLUMNS ? box->columns - j : COLUMNS, column = box->column + j;
      Strided right = turned ? (Strided){b + column * k, 1, k} : (Strided){b + column, n, 1};
      sum_panel(f, rows, columns, k, a + row * k, right);
      for (size_t r = 0; r < rows; r++) {
        size_t at = (row + r) * n + column;
        MIRAGE_TRY(take_row(f, r, columns, plus ? plus + at : NULL, out + at));
      }
    }
  return MIRAGE_OK;
}
