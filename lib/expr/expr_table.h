// expr_table.h - how normal forms are stored; shared by the files of this folder only.
#ifndef MIRAGE_LIB_EXPR_TABLE_H
#define MIRAGE_LIB_EXPR_TABLE_H

#include "mirage/expr.h"

enum { EXPR_MAX_WORDS = 1024 }; // longest record; a normal form with more monomials is given up

/// Interned arrays of 32-bit words. Ids run from 1; equal words mean equal id.
typedef struct ExprRecord {
  const uint32_t *words;
  uint32_t count;
  uint32_t hash;
} ExprRecord;

typedef struct ExprPool {
  ExprRecord *records; // [capacity], record 0 unused
  uint32_t num, capacity;
  uint32_t *slots; // open addressing, power of two
  uint32_t num_slots;
} ExprPool;

/// Remembers a result for a pair of ids and an operation.
typedef struct ExprCacheEntry {
  uint64_t key; // 0 = empty
  uint32_t tag, value;
} ExprCacheEntry;

typedef struct ExprCache {
  ExprCacheEntry *entries;
  uint32_t num, capacity; // power of two
} ExprCache;

// Atom records.    {ATOM_INPUT, input}  {ATOM_CONSTANT, low, high}  {ATOM_APPLY, op, a, b}   (b = 0 for unary)
// Monomial records {denominator or 0, negative, number of parts, parts (sorted)..., atoms (sorted)...}
// Expr records     {monomial ids, sorted}
enum { ATOM_INPUT, ATOM_CONSTANT, ATOM_APPLY };
enum { MONO_DENOMINATOR, MONO_NEGATIVE, MONO_NUM_PARTS, MONO_HEADER };

typedef struct ExprGoal {
  uint32_t goal;
  uint32_t num;
  const uint32_t *parts; // the goal, its denominators and atoms' arguments, at any depth, each once
} ExprGoal;

typedef struct ExprSketches ExprSketches; // expr_sketch.c

struct MirageExprTable {
  MirageArena arena;
  ExprPool atoms, monomials, exprs;
  ExprCache operations, reached;
  ExprGoal *goals;
  uint32_t num_goals, capacity_goals;
  uint32_t zero, one; // expr ids
  bool out_of_memory;
  bool keeps_products;    // of two sums, as atoms
  ExprSketches *sketches; // once mirage_expr_sketch_goals was called
  MirageExprStats stats;
};

/// A view of a monomial record.
typedef struct Monomial {
  uint32_t denominator; // 0 = none
  bool negative;
  uint32_t num_parts, num_atoms;
  const uint32_t *parts, *atoms;
} Monomial;

// expr_pool.c
uint32_t mirage__expr_intern(MirageExprTable *table, ExprPool *pool, const uint32_t *words, uint32_t count);
bool mirage__expr_cache_find(const ExprCache *cache, uint32_t tag, uint32_t a, uint32_t b, uint32_t *out_value);
void mirage__expr_cache_put(MirageExprTable *table, ExprCache *cache, uint32_t tag, uint32_t a, uint32_t b,
                            uint32_t value);
void *mirage__expr_grow(MirageExprTable *table, void *array, uint32_t used, uint32_t *capacity, size_t size);

/// The id of a record; 0 when there is none, which it does not add.
uint32_t mirage__expr_find(const ExprPool *pool, const uint32_t *words, uint32_t count);

// expr_reach.c
/// The goal and its parts, found once; NULL when memory is out.
const ExprGoal *mirage__expr_goal(MirageExprTable *table, uint32_t goal);

// expr.c
/// Whether a monomial is exactly +/- one maximum.
bool mirage__expr_is_maximum(const MirageExprTable *table, uint32_t monomial);
/// The denominator that all monomials share (0 = none); false when they differ.
bool mirage__expr_common_denominator(const MirageExprTable *table, uint32_t a, uint32_t *out_denominator);
Monomial mirage__expr_monomial(const MirageExprTable *table, uint32_t id);
uint32_t mirage__expr_make_monomial(MirageExprTable *table, const Monomial *monomial);   // lists need not be sorted
uint32_t mirage__expr_make(MirageExprTable *table, uint32_t *monomials, uint32_t count); // sorts in place
uint32_t mirage__expr_monomial_product(MirageExprTable *table, uint32_t a, uint32_t b);

#endif
