// field_internal.h - the two prime fields of one trial, and their arithmetic. field.c tells the story.
#ifndef MIRAGE_FIELD_INTERNAL_H
#define MIRAGE_FIELD_INTERNAL_H

#include "mirage/field.h"

__extension__ typedef unsigned __int128 FieldU128;

enum {
  FIELD_Q_BITS = 31, // q is drawn from [2^30, 2^31)
  FIELD_P_BITS = 62, // p is drawn from [2^61, 2^62): four products fit 126 bits, and sixteen fit 128
  FIELD_POWER_BITS = 11,
  FIELD_POWER_TABLES = 3, // 3 * 11 >= 31
};

/// The sets of arguments that the maxima of this trial stand for, found by the residue of the maximum. max_table.c
typedef struct MaxChain { // members; a set is the first of them
  uint64_t *members;
  size_t count, capacity;
  uint32_t *index; // open addressing by member: position + 1, 0 = free; NULL = not extended yet
  size_t index_capacity;
} MaxChain;
typedef struct MaxSet {
  uint32_t chain;
  size_t count;
  uint64_t digest[2]; // sum of the members' hashes
} MaxSet;
typedef struct MaxEntry {
  uint64_t residue; // of the maximum; 0 = free slot
  MaxSet set;
} MaxEntry;
typedef struct MaxTable {
  MaxEntry *slots; // open addressing, capacity a power of two
  size_t capacity, used;
  MaxChain *chains;
  size_t num_chains, chains_capacity;
  size_t num_members, most_members; // of all chains
} MaxTable;

typedef struct MaxPart { // of a set being built: an earlier maximum's set
  const MaxTable *table;
  MaxSet set;
} MaxPart;
typedef struct MaxBuilding {
  MaxPart *parts;
  size_t num_parts, parts_capacity;
  uint64_t *singles; // residues that are no maxima
  size_t num_singles, singles_capacity;
  size_t num_members; // of parts and singles, repetitions counted
  uint64_t *fresh;    // members, each once
  size_t num_fresh, fresh_capacity;
  uint32_t *slots; // their places by hash
  size_t slots_used, slots_capacity;
} MaxBuilding;

/// The maxima that something was subtracted from, by tag: free exponentials ask for them. shift_table.c
typedef struct ShiftEntry {
  uint64_t tag, residue;
  bool used;
} ShiftEntry;
typedef struct ShiftTable {
  ShiftEntry *slots; // open addressing; capacity a power of two
  size_t count, capacity;
} ShiftTable;

typedef struct FieldProduct FieldProduct;

/// A prime in limbs of 31 bits, as the vectors of product.c reduce by it.
typedef struct LimbModulus {
  uint64_t value, low, high;      // value = low + 2^31 high; q has one limb
  uint64_t negated_inverse;       // -1/value mod 2^31
  uint64_t scale_low, scale_high; // 2^155 mod p, 2^93 mod q
} LimbModulus;
typedef struct FieldLimbs {
  LimbModulus p, q;
} FieldLimbs;

struct MirageField {
  MirageDomain domain; // first: a pointer to it is a pointer to the field
  uint64_t p, q, omega;
  uint64_t p_negated_inverse; // -1/p mod 2^64
  uint64_t p_r2;              // 2^128 mod p
  uint64_t q_ceiling;         // largest multiple of q up to 2^63
  uint64_t seed;
  uint32_t trial;
  uint64_t key[4];                          // of the random functions
  uint64_t (*power)[1 << FIELD_POWER_BITS]; // [FIELD_POWER_TABLES]: omega^(i << 11 t) * 2^64 mod p; the parent's
  FieldLimbs limbs;
  uint32_t product_variant; // of the inner loops
  FieldProduct *product;    // NULL before the first
  MirageFieldModes modes;
  MaxTable maxima;
  ShiftTable shifts;
  MaxBuilding building;
  const MirageField *parent; // of work beside other work; NULL = the field itself
  MaxTable kept_maxima;      // what the parent takes over at the end
  ShiftTable kept_shifts;
};

/// Montgomery reduction: t / 2^64 mod p, for t < p * 2^64.
static inline uint64_t field_redc(const MirageField *f, FieldU128 t) {
  uint64_t m = (uint64_t)t * f->p_negated_inverse;
  uint64_t high = (uint64_t)((t + (FieldU128)m * f->p) >> 64);
  return high >= f->p ? high - f->p : high;
}
static inline uint64_t field_mul(const MirageField *f, uint64_t a, uint64_t b) {
  return field_redc(f, (FieldU128)field_redc(f, (FieldU128)a * b) * f->p_r2);
}
/// a * 2^64, so that one reduction multiplies by a.
static inline uint64_t field_montgomery(const MirageField *f, uint64_t a) {
  return field_redc(f, (FieldU128)a * f->p_r2);
}
static inline uint64_t field_add(const MirageField *f, uint64_t a, uint64_t b) {
  uint64_t sum = a + b;
  return sum >= f->p ? sum - f->p : sum;
}
static inline uint64_t field_sub(const MirageField *f, uint64_t a, uint64_t b) { return a >= b ? a - b : a + f->p - b; }

/// omega^exponent mod p.
static inline uint64_t field_exp(const MirageField *f, uint32_t exponent) {
  enum { MASK = (1 << FIELD_POWER_BITS) - 1 };
  uint64_t low =
      field_redc(f, (FieldU128)f->power[0][exponent & MASK] * f->power[1][exponent >> FIELD_POWER_BITS & MASK]);
  uint64_t high = f->power[2][exponent >> 2 * FIELD_POWER_BITS];
  return field_redc(
      f, (FieldU128)field_redc(f, (FieldU128)low * high)); // two factors 2^64 too many, one left by the product
}

/// mirage_field_create with q from [2^(q_bits-1), 2^q_bits) and p from [2^(p_bits-1), 2^p_bits): fields so small that
/// false accepts can be counted (test/verify-stats). Only the full size proves anything.
///
/// Units:   3 <= q_bits <= FIELD_Q_BITS, q_bits < p_bits <= FIELD_P_BITS.
/// Errors:  NULL when memory is out, or when there is no such p.
MirageField *mirage__field_create_sized(uint64_t seed, uint32_t trial, uint32_t q_bits, uint32_t p_bits);

/// 1 / a modulo an odd prime below 2^62; a not divisible by it.
uint64_t mirage__field_inverse(uint64_t a, uint64_t prime);
uint64_t mirage__field_power(uint64_t base, uint64_t exponent, uint64_t modulus);
/// Deterministic for every 64-bit number.
bool mirage__field_is_prime(uint64_t n);
/// A finite double as residues: mantissa times a power of two.
MirageResidue mirage__field_constant(const MirageField *field, double value);
/// A predicate: 1 or 0.
MirageResidue mirage__field_truth(const MirageField *field, bool holds);
/// The seeded random function `tag` at x mod p: both residues of its value.
MirageResidue mirage__field_random_function(const MirageField *field, uint64_t tag, uint64_t x);

/// MirageResidue.role: what a value is known to be, besides its residue. All but INDEX and TRUTH in fields of free
/// exponentials only.
enum {
  ROLE_NONE,
  ROLE_MAXIMUM,
  ROLE_INDEX,             // a whole number below 2^60 on either side of zero, which its residue mod p says
  ROLE_TRUTH,             // a predicate, cast to a number perhaps, or a number that is 0 or 1: which, its residue says
  ROLE_DIFFERENCE = 0x80, // something minus a maximum, whose tag is in q and the other bits
};

/// 128 bits of the seeded hash `tag` at x.
void mirage__field_hash(const MirageField *field, uint64_t tag, uint64_t x, uint64_t out[2]);

/// Builds the maximum of a set of values: begin, add each, finish. Bottoms are passed over.
void mirage__field_max_begin(MirageField *field);
MirageStatus mirage__field_max_add(MirageField *field, const MirageResidue *value);
MirageStatus mirage__field_max_finish(MirageField *field, const MirageResidue *single, MirageResidue *out);
void mirage__field_max_building_deinit(MaxBuilding *building);
/// A child's entry for a residue, if it has one, goes to what is kept; and all entries of one table to another.
MirageStatus mirage__field_max_keep(MirageField *child, uint64_t residue);
MirageStatus mirage__field_max_take_all(MaxTable *to, const MaxTable *from);
void mirage__field_max_clear(MaxTable *table);
void mirage__field_max_deinit(MaxTable *table);

/// Marks a difference from the maximum `residue`, and finds that again. REDRAW where two maxima have one tag.
MirageStatus mirage__field_shift_mark(MirageField *field, uint64_t residue, MirageResidue *difference);
uint64_t mirage__field_shift_maximum(const MirageField *field, const MirageResidue *difference);
MirageStatus mirage__field_shift_keep(MirageField *child, const MirageResidue *difference);
MirageStatus mirage__field_shift_take_all(ShiftTable *to, const ShiftTable *from);
void mirage__field_shift_clear(ShiftTable *table);
void mirage__field_shift_deinit(ShiftTable *table);

/// Work beside other work: the domain's fork, keep, end and join. field_work.c
MirageStatus mirage__field_fork(const MirageDomain *self, const MirageDomain **out_child);
MirageStatus mirage__field_keep(const MirageDomain *child, size_t n, const void *elements, bool maxima);
void mirage__field_end(const MirageDomain *child);
MirageStatus mirage__field_join(const MirageDomain *self, const MirageDomain *child, bool take);

/// What an operator without a rule for its operands gives, or REDRAW for a quotient without a value. domain_field.c
MirageStatus mirage__field_without_value(const MirageField *field, MirageUndefined why, MirageResidue *out);
MirageResidue mirage__field_add(const MirageField *field, MirageResidue a, MirageResidue b);

/// The box `box` of a @ b (+ plus), a [m, k], b [k, n], or [n, k] where `turned`, plus and out [m, n]. k < 2^30. product.c
MirageStatus mirage__field_product(MirageField *field, size_t n, size_t k, const MirageBox *box, const MirageResidue *a,
                                   const MirageResidue *b, bool turned, const MirageResidue *plus, MirageResidue *out);
/// How many variants of the inner loops this processor runs; the last is the fastest, and what fields use.
uint32_t mirage__field_product_variants(void);
const char *mirage__field_product_variant_name(uint32_t variant);

/// The domain's functions (domain_field.c).
void mirage__field_domain_init(MirageDomain *domain);

#endif
