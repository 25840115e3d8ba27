// test_ops.c - walks the operator table: every row is sound, can be found, and has a shape rule at each of its levels.
#include "mirage/ugraph.h"

#include "capture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const MirageLevel LEVELS[] = {MIRAGE_LEVEL_KERNEL, MIRAGE_LEVEL_BLOCK, MIRAGE_LEVEL_THREAD};

static void test_rows(void **state) {
  for (int op = 1; op < MIRAGE_NUM_OPS; op++) {
    const MirageOpInfo *info = mirage_op_info((MirageOp)op);
    assert_true(info->name && *info->name && info->mnemonic && *info->mnemonic);
    assert_true(info->min_operands <= info->max_operands);
    assert_true(info->levels != 0 && info->levels < 8);
    if (info->kind == MIRAGE_KIND_UNARY)
      assert_int_equal(info->max_operands, 1);
    if (info->kind == MIRAGE_KIND_BINARY)
      assert_true(info->min_operands == 2 && info->max_operands == 2);
    if (info->kind == MIRAGE_KIND_SUGAR)
      assert_int_equal(info->levels, MIRAGE_LEVEL_KERNEL);
    for (int other = 1; other < op; other++)
      assert_string_not_equal(info->mnemonic, mirage_op_info((MirageOp)other)->mnemonic);
  }
}

static void test_find(void **state) {
  for (int op = 1; op < MIRAGE_NUM_OPS; op++) {
    const MirageOpInfo *info = mirage_op_info((MirageOp)op);
    for (int i = 0; i < 3; i++) {
      MirageOp expected = info->levels & (uint32_t)LEVELS[i] ? (MirageOp)op : MIRAGE_OP_NONE;
      assert_int_equal(mirage_op_find(LEVELS[i], info->mnemonic, strlen(info->mnemonic)), expected);
    }
  }
  assert_int_equal(mirage_op_find(MIRAGE_LEVEL_KERNEL, "exponent", 3), MIRAGE_OP_EXP); // not NUL-terminated
  assert_int_equal(mirage_op_find(MIRAGE_LEVEL_KERNEL, "exponent", 8), MIRAGE_OP_NONE);
  assert_int_equal(mirage_op_find(MIRAGE_LEVEL_KERNEL, "", 0), MIRAGE_OP_NONE);
}

// Operands and attributes that fit the operator: everything is 4x4, attributes change nothing.
static MirageAttrs fitting_attrs(const MirageOpInfo *info, const MirageType *type) {
  MirageAttrs attrs = {0};
  switch (info->attrs) {
  case MIRAGE_ATTRS_REDUCE:
    attrs.reduce.extent = 4;
    break;
  case MIRAGE_ATTRS_SHAPE:
    attrs.shape.type = *type;
    break;
  case MIRAGE_ATTRS_REPEAT:
    attrs.repeat.times = 1;
    break;
  case MIRAGE_ATTRS_PERM:
    attrs.perm.perm[1] = 1;
    break;
  case MIRAGE_ATTRS_SLICE:
    attrs.slice.end = 4;
    break;
  case MIRAGE_ATTRS_CONSTANT:
    attrs.constant.type = *type;
    break;
  case MIRAGE_ATTRS_SLOPE:
  case MIRAGE_ATTRS_EXPONENT:
  case MIRAGE_ATTRS_BOUNDS:
    attrs.bounds.low = 1; // the first field of all three
    attrs.bounds.high = 2;
    break;
  case MIRAGE_ATTRS_SDPA:
    attrs.sdpa.scale = 0.5;
    break;
  case MIRAGE_ATTRS_IOTA:
    attrs.iota.type = *type;
    attrs.iota.type.dtype = MIRAGE_I32;
    break;
  case MIRAGE_ATTRS_AXES:
    attrs.axes.axis[0] = true;
    break;
  case MIRAGE_ATTRS_ACCESS:
    attrs.access = (MirageAccessAttrs){.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}};
    break;
  default:
    break;
  }
  return attrs;
}

static void test_every_operator_has_a_shape_rule(void **state) {
  const MirageScope scope = {.grid = {2, 1, 1}, .cluster = {2, 1, 1}};
  for (int op = 1; op < MIRAGE_NUM_OPS; op++) {
    const MirageOpInfo *info = mirage_op_info((MirageOp)op);
    for (int i = 0; i < 3; i++) {
      static const MirageSpace spaces[] = {MIRAGE_SPACE_DEVICE, MIRAGE_SPACE_TILE, MIRAGE_SPACE_FRAGMENT};
      Capture capture = {0};
      const MirageDiag diag = {capture_emit, &capture};
      MirageType type = mirage_type_tensor(MIRAGE_F32, 2, (int64_t[]){4, 4}), result = {0};
      type.space = spaces[i];
      MirageType operands[] = {type, type, type};
      MirageTyping typing = mirage_op_typing((MirageOp)op);
      for (uint32_t k = 0; k < 3; k++) // predicates where it takes them
        if (typing == MIRAGE_TYPING_PREDICATES || (typing == MIRAGE_TYPING_MASKS && k == 0))
          operands[k].dtype = MIRAGE_I1;
      if (op == MIRAGE_OP_LOAD)
        operands[0].space = MIRAGE_SPACE_DEVICE;
      if (op == MIRAGE_OP_STORE)
        operands[1].space = MIRAGE_SPACE_DEVICE;
      MirageAttrs attrs = fitting_attrs(info, &type);
      MirageStatus status =
          mirage_op_infer((MirageOp)op, LEVELS[i], info->min_operands, operands, &attrs, &scope, &diag, NULL, &result);
      bool structural = info->kind == MIRAGE_KIND_REGION || info->kind == MIRAGE_KIND_TERMINATOR;
      if (structural || !(info->levels & (uint32_t)LEVELS[i])) {
        assert_int_equal(status, MIRAGE_BAD_ARGUMENT);
        assert_int_equal(capture.count, 1);
        assert_int_equal(strncmp(capture.text, info->mnemonic, strlen(info->mnemonic)), 0);
        continue;
      }
      if (status != MIRAGE_OK)
        fail_msg("%s at level %d: %s", info->name, (int)LEVELS[i], capture.text);
      if (op == MIRAGE_OP_STORE)
        continue;
      assert_int_equal(result.space, spaces[i]);
      if (typing == MIRAGE_TYPING_COMPARES || typing == MIRAGE_TYPING_PREDICATES)
        type.dtype = MIRAGE_I1;
      if (op == MIRAGE_OP_IOTA)
        type.dtype = MIRAGE_I32;
      assert_true(mirage_type_same_meaning(&result, &type));
    }
  }
}

// Steps name elementary operators and results of earlier steps only, and every step is used.
static void test_expansions(void **state) {
  static const MirageOp derived[] = {MIRAGE_OP_RSQRT,   MIRAGE_OP_SQUARE,        MIRAGE_OP_NEG,
                                     MIRAGE_OP_SIGMOID, MIRAGE_OP_SILU,          MIRAGE_OP_GELU,
                                     MIRAGE_OP_RELU,    MIRAGE_OP_MIN,           MIRAGE_OP_GELU_TANH,
                                     MIRAGE_OP_GREATER, MIRAGE_OP_GREATER_EQUAL, MIRAGE_OP_NOT_EQUAL};
  uint32_t num_derived = 0;
  for (int op = -1; op <= MIRAGE_NUM_OPS; op++)
    num_derived += mirage_op_expansion((MirageOp)op) != NULL;
  assert_int_equal(num_derived, sizeof derived / sizeof *derived);
  for (size_t i = 0; i < sizeof derived / sizeof *derived; i++) {
    const MirageExpansion *expansion = mirage_op_expansion(derived[i]);
    assert_non_null(expansion);
    uint32_t used = 1u << (1 + expansion->num_steps); // the last step is the result
    for (uint32_t k = 0; k < expansion->num_steps; k++) {
      const MirageExpansionStep *step = &expansion->steps[k];
      uint32_t arity = mirage_op_info(step->op)->max_operands;
      assert_null(mirage_op_expansion(step->op));
      for (uint32_t operand = 0; operand < arity; operand++) {
        uint32_t number = operand ? step->b : step->a;
        assert_true(number < 2 + k);
        assert_true(number != 1 || mirage_op_info(derived[i])->max_operands == 2);
        used |= 1u << number;
      }
    }
    for (uint32_t k = 0; k < expansion->num_steps; k++)
      assert_true(used & (1u << (2 + k)));
    assert_true(used & 1u);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows),
      cmocka_unit_test(test_find),
      cmocka_unit_test(test_every_operator_has_a_shape_rule),
      cmocka_unit_test(test_expansions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
