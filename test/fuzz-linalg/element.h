// element.h - the element types that modules are made of, and the random numbers that they are made by.
#ifndef FUZZ_LINALG_ELEMENT_H
#define FUZZ_LINALG_ELEMENT_H

#include "draw.h" // of test/verify-pairs

typedef enum Elem { F16, BF16, F32, F64, I1, I8, I32, I64, INDEX, NUM_ELEMS } Elem;

static const char *const ELEM_NAMES[NUM_ELEMS] = {"f16", "bf16", "f32", "f64", "i1", "i8", "i32", "i64", "index"};
static const int ELEM_BITS[NUM_ELEMS] = {16, 16, 32, 64, 1, 8, 32, 64, 64};

static inline bool is_float(Elem elem) { return elem <= F64; }
static inline const char *elem_name(Elem elem) { return ELEM_NAMES[elem]; }
static inline int elem_bits(Elem elem) { return ELEM_BITS[elem]; }

#endif
