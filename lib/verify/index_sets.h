// index_sets.h - sets of indices along one dimension, known by where they come from. cone.c asks for them.
//
// A set is a number: equal sets mostly have equal numbers, so that a union of a set with itself stays what it is. What
// is known of it is how many indices it has at most. Without memory a set is ALL, which is never too small.
#ifndef MIRAGE_VERIFY_INDEX_SETS_H
#define MIRAGE_VERIFY_INDEX_SETS_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t IndexSet;
enum { INDEX_NONE, INDEX_ALL };

typedef enum {
  SET_LABEL = 1, // one index of the output's element: its dimension
  SET_UNION,     // of two sets, in this order
  SET_SHIFT,     // set + offset
  SET_RANGE,     // begin, end
  SET_MODULO,    // set mod extent
  SET_SPREAD,    // each index j of a set becomes i * extent + j for all i
  SET_FLAT,      // row-major index of several sets in several extents
  SET_DIGITS,    // the parts and places in a part of a set's indices: set, how it is split
  SET_JOIN,      // indices made of such: sets of parts and places, how they are split
} SetKind;

enum { SET_WORDS = 24 };
typedef struct SetKey {
  int64_t word[SET_WORDS]; // a SetKind, then what the list above says
} SetKey;

typedef struct IndexSets {
  SetKey *keys; // [count], of set number i + INDEX_ALL + 1
  double *sizes;
  uint32_t *slots; // open addressing: number of the set, 0 = free
  uint32_t count, capacity;
} IndexSets;

void mirage__verify_sets_deinit(IndexSets *sets);
/// The set that `key` describes, of at most `size` indices.
IndexSet mirage__verify_sets_find(IndexSets *sets, const SetKey *key, double size);
/// The description of a set that is neither NONE nor ALL.
const SetKey *mirage__verify_sets_key(const IndexSets *sets, IndexSet set);
/// How many indices a set has in a dimension of `extent`, at most.
double mirage__verify_sets_size(const IndexSets *sets, IndexSet set, double extent);
IndexSet mirage__verify_sets_unite(IndexSets *sets, IndexSet a, IndexSet b);
IndexSet mirage__verify_sets_shift(IndexSets *sets, IndexSet set, int64_t offset);

#endif
