// expr_format.c - expressions as text, for traces and tests. Monomials stand in order of their ids, which is the order
// in which the table met them.
#include "expr_table.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct Writer {
  const MirageExprTable *table;
  char *buffer;
  size_t size, used; // used counts what was wanted, also past the end
} Writer;

__attribute__((format(printf, 2, 3))) static void put(Writer *writer, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t left = writer->used < writer->size ? writer->size - writer->used : 0;
  int written = vsnprintf(left ? writer->buffer + writer->used : NULL, left, format, arguments);
  va_end(arguments);
  writer->used += written > 0 ? (size_t)written : 0;
}

static void put_expr(Writer *writer, uint32_t id);

static void put_atom(Writer *writer, uint32_t id) {
  const uint32_t *words = writer->table->atoms.records[id].words;
  if (words[0] == ATOM_INPUT) {
    put(writer, "in%u", words[1]);
  } else if (words[0] == ATOM_CONSTANT) {
    uint64_t bits = words[1] | (uint64_t)words[2] << 32;
    double value;
    memcpy(&value, &bits, sizeof value);
    put(writer, "%.9g", value);
  } else {
    put(writer, "%s(", mirage_op_info((MirageOp)words[1])->mnemonic);
    put_expr(writer, words[2]);
    if (words[3]) {
      put(writer, ", ");
      put_expr(writer, words[3]);
    }
    put(writer, ")");
  }
}

static void put_monomial(Writer *writer, uint32_t id) {
  static const char *const kinds[] = {"grid", "loop", "tile", "part"};
  Monomial monomial = mirage__expr_monomial(writer->table, id);
  if (monomial.num_parts)
    put(writer, "sum{");
  for (uint32_t i = 0; i < monomial.num_parts; i++)
    put(writer, "%s%u.%s", i ? "," : "", monomial.parts[i] >> 2, kinds[monomial.parts[i] & 3]);
  if (monomial.num_parts)
    put(writer, "} ");
  if (!monomial.num_atoms)
    put(writer, "1");
  for (uint32_t i = 0; i < monomial.num_atoms; i++) {
    put(writer, "%s", i ? " " : "");
    put_atom(writer, monomial.atoms[i]);
  }
  if (monomial.denominator) {
    put(writer, " / (");
    put_expr(writer, monomial.denominator);
    put(writer, ")");
  }
}

static void put_expr(Writer *writer, uint32_t id) {
  const ExprRecord *record = &writer->table->exprs.records[id];
  if (!record->count)
    put(writer, "0");
  for (uint32_t i = 0; i < record->count; i++) {
    bool negative = mirage__expr_monomial(writer->table, record->words[i]).negative;
    put(writer, "%s", i ? (negative ? " - " : " + ") : (negative ? "-" : ""));
    put_monomial(writer, record->words[i]);
  }
}

const char *mirage_expr_format(const MirageExprTable *table, MirageExpr e, char *buffer, size_t size) {
  Writer writer = {.table = table, .buffer = buffer, .size = size};
  if (size)
    buffer[0] = '\0';
  if (e.index)
    put_expr(&writer, e.index);
  else
    put(&writer, "none");
  return buffer;
}
