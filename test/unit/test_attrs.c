// test_attrs.c - walks the table of attributes (attrs.def): kinds, fields, and that whoever passes them on has each of them.
#include "mirage/ugraph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const KINDS[] = {
#define MIRAGE_ATTRS(KIND) #KIND,
#define MIRAGE_ATTRS_OWN(KIND) #KIND,
#include "mirage/attrs.def"
};

static const MirageAttrField *fields_of(MirageAttrsKind kind, uint32_t *out_count) {
  return mirage_attrs_fields(kind, out_count);
}

// An operator at the kernel level with such attributes; NULL where there is none.
static const MirageOpInfo *operator_with(MirageAttrsKind kind, MirageOp *out_op) {
  for (int op = 1; op < MIRAGE_NUM_OPS; op++)
    if (mirage_op_info((MirageOp)op)->attrs == kind && mirage_op_info((MirageOp)op)->levels & MIRAGE_LEVEL_KERNEL) {
      *out_op = (MirageOp)op;
      return mirage_op_info((MirageOp)op);
    }
  return NULL;
}

static bool is_used(MirageAttrsKind kind) {
  for (int op = 1; op < MIRAGE_NUM_OPS; op++)
    if (mirage_op_info((MirageOp)op)->attrs == kind)
      return true;
  return false;
}

// A kind has fields, or a form of its own; some operator has it.
static void test_every_kind_has_fields_or_a_form(void **state) {
  for (int kind = 0; kind < MIRAGE_NUM_ATTRS; kind++) {
    uint32_t count;
    fields_of((MirageAttrsKind)kind, &count);
    bool own = mirage_attrs_are_own((MirageAttrsKind)kind);
    if (!is_used((MirageAttrsKind)kind))
      fail_msg("no operator of ops.def has attributes of kind %s", KINDS[kind]);
    if (own && count)
      fail_msg("kind %s has a form of its own and %u fields in attrs.def", KINDS[kind], count);
    if (!own && !count && kind != MIRAGE_ATTRS_NONE)
      fail_msg("kind %s has no field in attrs.def, and no form of its own", KINDS[kind]);
  }
  uint32_t count;
  fields_of(MIRAGE_ATTRS_NONE, &count);
  assert_int_equal(count, 0);
}

static void test_rows_of_a_kind_stand_together(void **state) {
  for (int kind = 0; kind < MIRAGE_NUM_ATTRS; kind++) {
    uint32_t count;
    const MirageAttrField *fields = fields_of((MirageAttrsKind)kind, &count);
    for (uint32_t i = 0; i < count; i++) {
      assert_int_equal(fields[i].kind, kind);
      assert_true(*fields[i].name && *fields[i].meaning);
      assert_true(fields[i].offset + fields[i].size <= sizeof(MirageAttrs));
      for (uint32_t k = 0; k < i; k++) {
        assert_string_not_equal(fields[i].name, fields[k].name);
        assert_true(fields[k].offset + fields[k].size <= fields[i].offset || // their members do not overlap
                    fields[i].offset + fields[i].size <= fields[k].offset);
      }
    }
  }
  uint32_t rows = 0, found = 0; // rows of a kind that are torn apart would not all be found
#define MIRAGE_ATTR(...) rows++;
#include "mirage/attrs.def"
  for (int kind = 0; kind < MIRAGE_NUM_ATTRS; kind++) {
    uint32_t count;
    fields_of((MirageAttrsKind)kind, &count);
    found += count;
  }
  assert_int_equal(found, rows);
}

static void test_values_are_set_and_read(void **state) {
  for (int kind = 0; kind < MIRAGE_NUM_ATTRS; kind++) {
    uint32_t count;
    const MirageAttrField *fields = fields_of((MirageAttrsKind)kind, &count);
    for (uint32_t i = 0; i < count; i++) {
      MirageAttrs attrs = {0};
      uint32_t last = mirage_attr_count(&fields[i]) - 1;
      int64_t other = fields[i].usual == 1 ? 0 : 1;
      if (fields[i].form == MIRAGE_ATTR_NUMBER) {
        mirage_attr_set_number(&fields[i], &attrs, 2.5);
        assert_true(mirage_attr_number(&fields[i], &attrs) == 2.5);
        assert_false(mirage_attr_is_usual(&fields[i], &attrs));
        mirage_attr_set_number(&fields[i], &attrs, fields[i].usual);
      } else {
        assert_true(mirage_attr_set(&fields[i], &attrs, last, other));
        assert_int_equal(mirage_attr_get(&fields[i], &attrs, last), other);
        assert_false(mirage_attr_is_usual(&fields[i], &attrs));
        assert_true(mirage_attr_set(&fields[i], &attrs, last, (int64_t)fields[i].usual));
      }
      assert_true(mirage_attr_is_usual(&fields[i], &attrs));
    }
  }
}

static void test_dimensions_are_32_bits(void **state) {
  uint32_t count;
  const MirageAttrField *fields = fields_of(MIRAGE_ATTRS_SLICE, &count);
  MirageAttrs attrs = {0};
  assert_true(mirage_attr_set(&fields[0], &attrs, 0, INT32_MIN));
  assert_false(mirage_attr_set(&fields[0], &attrs, 0, (int64_t)INT32_MAX + 1));
  assert_true(mirage_attr_set(&fields[1], &attrs, 0, (int64_t)INT32_MAX + 1)); // an element
}

// ------------------------------------------------------------------------------------------------------------- hashes

// The hash of a graph of one operator, of operands of 4x4; false where the attributes do not fit.
static bool hash_of(const MirageOpInfo *info, MirageOp op, const MirageAttrs *attrs, MirageGraphHash *out) {
  MirageUGraph *graph = mirage_ugraph_create(NULL, "one", NULL);
  MirageValue operands[4], result;
  for (uint32_t i = 0; i < info->min_operands; i++)
    operands[i] = mirage_ugraph_input(graph, mirage_type_tensor(MIRAGE_F16, 2, (int64_t[]){4, 4}));
  result = mirage_ugraph_apply(graph, op, info->min_operands, operands, attrs);
  mirage_ugraph_return(graph, 1, &result);
  bool fits = mirage_ugraph_finish(graph) == MIRAGE_OK && mirage_ugraph_hash(graph, NULL, out) == MIRAGE_OK;
  mirage_ugraph_destroy(graph);
  return fits;
}

// Attributes of which each field can be changed alone.
static MirageAttrs begin_with(MirageAttrsKind kind) {
  MirageAttrs attrs = {0};
  uint32_t count;
  const MirageAttrField *fields = fields_of(kind, &count);
  for (uint32_t i = 0; i < count; i++)
    if (fields[i].form == MIRAGE_ATTR_NUMBER)
      mirage_attr_set_number(&fields[i], &attrs, 0.5);
    else
      mirage_attr_set(&fields[i], &attrs, 0, (int64_t)fields[i].usual);
  if (kind == MIRAGE_ATTRS_SLICE)
    attrs.slice.end = 2;
  if (kind == MIRAGE_ATTRS_BOUNDS)
    attrs.bounds.high = 8;
  if (kind == MIRAGE_ATTRS_SDPA)
    attrs.sdpa.causal = true;
  if (kind == MIRAGE_ATTRS_CONSTANT)
    attrs.constant.type = mirage_type_tensor(MIRAGE_F16, 2, (int64_t[]){4, 4});
  if (kind == MIRAGE_ATTRS_IOTA)
    attrs.iota.type = mirage_type_tensor(MIRAGE_I32, 2, (int64_t[]){4, 4});
  return attrs;
}

static bool change(const MirageAttrField *field, int64_t value, MirageAttrs *attrs) {
  if (field->form == MIRAGE_ATTR_NUMBER) {
    mirage_attr_set_number(field, attrs, 0.25 * (double)(value + 3));
    return true;
  }
  return mirage_attr_get(field, attrs, 0) != value && mirage_attr_set(field, attrs, 0, value);
}

// Two operators that differ in one field are not the same.
static void test_every_field_is_hashed(void **state) {
  for (int kind = 0; kind < MIRAGE_NUM_ATTRS; kind++) {
    uint32_t count;
    const MirageAttrField *fields = fields_of((MirageAttrsKind)kind, &count);
    MirageOp op;
    const MirageOpInfo *info = operator_with((MirageAttrsKind)kind, &op);
    for (uint32_t i = 0; i < count && info; i++) {
      MirageGraphHash before, after;
      MirageAttrs attrs = begin_with((MirageAttrsKind)kind);
      bool fits = false, steps = fields[i].form == MIRAGE_ATTR_STEPS; // which no operator of a program has
      if (!hash_of(info, op, &attrs, &before))
        fail_msg("%s: begin_with has attributes that do not fit it", info->mnemonic);
      for (int64_t value = 0; value <= 4 && !fits && !steps; value++) {
        MirageAttrs other = begin_with((MirageAttrsKind)kind);
        fits = change(&fields[i], value, &other) && hash_of(info, op, &other, &after);
      }
      if (!fits && !steps)
        fail_msg("%s: no other value of %s fits it", info->mnemonic, fields[i].name);
      if (fits && before.low == after.low && before.high == after.high)
        fail_msg("%s: its hash does not tell values of %s apart", info->mnemonic, fields[i].name);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_kind_has_fields_or_a_form), cmocka_unit_test(test_rows_of_a_kind_stand_together),
      cmocka_unit_test(test_values_are_set_and_read),         cmocka_unit_test(test_dimensions_are_32_bits),
      cmocka_unit_test(test_every_field_is_hashed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
