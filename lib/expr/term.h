// term.h - how terms are stored; shared by term.c and oracle_z3.c only.
#ifndef MIRAGE_LIB_EXPR_TERM_H
#define MIRAGE_LIB_EXPR_TERM_H

#include "mirage/oracle.h"

typedef enum { TERM_INPUT, TERM_CONSTANT, TERM_APPLY, TERM_SUM } TermKind;

typedef struct TermNode {
  TermKind kind;
  uint32_t which; // input, MirageOp or MirageAxisPart
  uint32_t a, b;  // operands; b = 0 for unary operators and sums
  double value;   // of a constant
} TermNode;

struct MirageTerms {
  MirageArena arena;
  TermNode *nodes; // from 1
  uint32_t num, capacity;
  uint32_t *slots; // open addressing, power of two
  uint32_t num_slots;
  bool out_of_memory;
};

#endif
