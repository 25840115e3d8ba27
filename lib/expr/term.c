// term.c - abstract expressions as they were built: a hash-consed graph of operators, without any axiom.
#include "term.h"
#include <string.h>

enum { FIRST_CAPACITY = 64 };

MirageTerms *mirage_terms_create(const MirageAllocator *allocator) {
  MirageArena arena;
  mirage_arena_init(&arena, allocator);
  MirageTerms *terms = mirage_arena_alloc(&arena, sizeof *terms);
  if (!terms) {
    mirage_arena_deinit(&arena);
    return NULL;
  }
  terms->arena = arena;
  return terms;
}

void mirage_terms_destroy(MirageTerms *terms) {
  if (!terms)
    return;
  MirageArena arena = terms->arena; // the terms themselves live in it
  mirage_arena_deinit(&arena);
}

MirageStatus mirage_terms_status(const MirageTerms *terms) {
  return terms->out_of_memory ? MIRAGE_NO_MEMORY : MIRAGE_OK;
}

uint32_t mirage_terms_count(const MirageTerms *terms) { return terms->num; }

static bool same_node(const TermNode *a, const TermNode *b) {
  return a->kind == b->kind && a->which == b->which && a->a == b->a && a->b == b->b && a->value == b->value;
}

static uint32_t hash_node(const TermNode *node) {
  uint64_t h = ((uint64_t)node->kind << 32 | node->which) * 0x9e3779b97f4a7c15ull, bits;
  memcpy(&bits, &node->value, sizeof bits);
  h = (h ^ node->a ^ (uint64_t)node->b << 32) * 0xff51afd7ed558ccdull;
  h = (h ^ h >> 31 ^ bits) * 0x9e3779b97f4a7c15ull;
  return (uint32_t)(h >> 32);
}

// Room for one more node, and at most half of the slots taken.
static bool grow(MirageTerms *terms) {
  if (terms->num + 1 < terms->capacity)
    return true;
  uint32_t capacity = terms->capacity ? 2 * terms->capacity : FIRST_CAPACITY;
  TermNode *nodes = mirage_arena_alloc_array(&terms->arena, capacity, sizeof *nodes);
  uint32_t *slots = mirage_arena_alloc_array(&terms->arena, 2 * (size_t)capacity, sizeof *slots);
  if (!nodes || !slots) {
    terms->out_of_memory = true;
    return false;
  }
  if (terms->nodes)
    memcpy(nodes, terms->nodes, terms->capacity * sizeof *nodes);
  terms->nodes = nodes;
  terms->slots = slots;
  terms->capacity = capacity;
  terms->num_slots = 2 * capacity;
  for (uint32_t i = 1; i <= terms->num; i++) {
    uint32_t at = hash_node(&nodes[i]) & (terms->num_slots - 1);
    while (slots[at])
      at = (at + 1) & (terms->num_slots - 1);
    slots[at] = i;
  }
  return true;
}

static MirageTerm add_node(MirageTerms *terms, TermNode node) {
  if (!grow(terms))
    return (MirageTerm){0};
  uint32_t at = hash_node(&node) & (terms->num_slots - 1);
  for (; terms->slots[at]; at = (at + 1) & (terms->num_slots - 1))
    if (same_node(&terms->nodes[terms->slots[at]], &node))
      return (MirageTerm){terms->slots[at]};
  terms->nodes[++terms->num] = node;
  return (MirageTerm){terms->slots[at] = terms->num};
}

MirageTerm mirage_term_input(MirageTerms *terms, uint32_t input) {
  return add_node(terms, (TermNode){.kind = TERM_INPUT, .which = input});
}

MirageTerm mirage_term_constant(MirageTerms *terms, double value) {
  return add_node(terms, (TermNode){.kind = TERM_CONSTANT, .value = value == 0 ? 0 : value}); // -0 is 0
}

MirageTerm mirage_term_sum(MirageTerms *terms, MirageTerm a, MirageAxisPart part) {
  return a.index ? add_node(terms, (TermNode){.kind = TERM_SUM, .which = part, .a = a.index}) : a;
}

// A derived operator, step by step (lib/ugraph/expand.c).
static MirageTerm expand(MirageTerms *terms, const MirageExpansion *expansion, MirageTerm a, MirageTerm b) {
  MirageTerm values[2 + sizeof expansion->steps / sizeof *expansion->steps] = {a, b}, last = {0};
  for (uint32_t i = 0; i < expansion->num_steps; i++) {
    const MirageExpansionStep *step = &expansion->steps[i];
    last = step->op == MIRAGE_OP_CONSTANT ? mirage_term_constant(terms, step->value)
                                          : mirage_term_apply(terms, step->op, values[step->a], values[step->b]);
    values[2 + i] = last;
  }
  return last;
}

MirageTerm mirage_term_apply(MirageTerms *terms, MirageOp op, MirageTerm a, MirageTerm b) {
  bool binary = mirage_op_info(op)->min_operands > 1;
  const MirageExpansion *expansion = mirage_op_expansion(op);
  if (!a.index || (binary && !b.index))
    return (MirageTerm){0};
  if (expansion)
    return expand(terms, expansion, a, b);
  switch (op) {
  case MIRAGE_OP_ADD:
  case MIRAGE_OP_SUB:
  case MIRAGE_OP_MUL:
  case MIRAGE_OP_DIV:
  case MIRAGE_OP_MAX:
    return add_node(terms, (TermNode){.kind = TERM_APPLY, .which = (uint32_t)op, .a = a.index, .b = b.index});
  case MIRAGE_OP_EXP:
  case MIRAGE_OP_LOG:
  case MIRAGE_OP_SQRT:
  case MIRAGE_OP_ERF:
  case MIRAGE_OP_TANH:
  case MIRAGE_OP_SIN:
  case MIRAGE_OP_COS:
  case MIRAGE_OP_REDUCE_MAX:
    return add_node(terms, (TermNode){.kind = TERM_APPLY, .which = (uint32_t)op, .a = a.index});
  case MIRAGE_OP_CAST:
  case MIRAGE_OP_BROADCAST:
  case MIRAGE_OP_REPEAT:
  case MIRAGE_OP_TRANSPOSE:
  case MIRAGE_OP_RESHAPE:
  case MIRAGE_OP_SLICE:
    return a;
  default:
    return (MirageTerm){0};
  }
}

void mirage_terms_normalize(const MirageTerms *terms, MirageExprTable *table, MirageExpr *out_exprs) {
  out_exprs[0] = (MirageExpr){0};
  for (uint32_t i = 1; i <= terms->num; i++) {
    const TermNode *node = &terms->nodes[i];
    switch (node->kind) {
    case TERM_INPUT:
      out_exprs[i] = mirage_expr_input(table, node->which);
      break;
    case TERM_CONSTANT:
      out_exprs[i] = mirage_expr_constant(table, node->value);
      break;
    case TERM_SUM:
      out_exprs[i] = mirage_expr_sum(table, out_exprs[node->a], node->which);
      break;
    case TERM_APPLY:
      out_exprs[i] = node->b && !out_exprs[node->b].index
                         ? (MirageExpr){0}
                         : mirage_expr_apply(table, (MirageOp)node->which, out_exprs[node->a], out_exprs[node->b]);
      break;
    }
  }
}
