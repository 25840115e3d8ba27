// ops.c - the operator table, expanded from ops.def, and look-up by mnemonic.
#include "mirage/ugraph.h"

#include <assert.h>
#include <string.h>

#define K MIRAGE_LEVEL_KERNEL
#define B MIRAGE_LEVEL_BLOCK
#define T MIRAGE_LEVEL_THREAD
#define ANY MIRAGE_ANY

static const MirageOpInfo OPS[MIRAGE_NUM_OPS] = {
    [MIRAGE_OP_NONE] = {.name = "NONE", .mnemonic = ""},
#define MIRAGE_OP(name, mnemonic, min, max, levels, kind, attrs)                                                       \
  [MIRAGE_OP_##name] = {#name, mnemonic, min, max, levels, MIRAGE_KIND_##kind, MIRAGE_ATTRS_##attrs},
#include "mirage/ops.def"
};

const MirageOpInfo *mirage_op_info(MirageOp op) {
  assert(op > MIRAGE_OP_NONE && op < MIRAGE_NUM_OPS && "not an operator");
  return &OPS[op];
}

MirageTyping mirage_op_typing(MirageOp op) {
  switch (op) {
  case MIRAGE_OP_LESS:
  case MIRAGE_OP_LESS_EQUAL:
  case MIRAGE_OP_GREATER:
  case MIRAGE_OP_GREATER_EQUAL:
  case MIRAGE_OP_EQUAL:
  case MIRAGE_OP_NOT_EQUAL:
    return MIRAGE_TYPING_COMPARES;
  case MIRAGE_OP_AND:
  case MIRAGE_OP_OR:
  case MIRAGE_OP_NOT:
    return MIRAGE_TYPING_PREDICATES;
  case MIRAGE_OP_MASK:
  case MIRAGE_OP_SELECT:
    return MIRAGE_TYPING_MASKS;
  default:
    return MIRAGE_TYPING_NUMBERS;
  }
}

bool mirage_op_is_function(MirageOp op) {
  switch (op) {
  case MIRAGE_OP_ABS:
  case MIRAGE_OP_SIGN:
  case MIRAGE_OP_LOG1P:
  case MIRAGE_OP_SOFTPLUS:
  case MIRAGE_OP_HARD_SIGMOID:
  case MIRAGE_OP_HARD_SWISH:
  case MIRAGE_OP_LEAKY_RELU:
  case MIRAGE_OP_POW:
  case MIRAGE_OP_CLAMP:
    return true;
  default:
    return false;
  }
}

MirageOp mirage_op_find(MirageLevel level, const char *mnemonic, size_t length) {
  for (int op = MIRAGE_OP_NONE + 1; op < MIRAGE_NUM_OPS; op++) {
    const MirageOpInfo *info = &OPS[op];
    if ((info->levels & (uint32_t)level) && strlen(info->mnemonic) == length &&
        memcmp(info->mnemonic, mnemonic, length) == 0)
      return (MirageOp)op;
  }
  return MIRAGE_OP_NONE;
}
