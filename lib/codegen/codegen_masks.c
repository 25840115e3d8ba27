// codegen_masks.c - masks at little cost: comparisons of indices as integers, and a mask that is added as one that is applied.
//
// A mask is asked for at every element of a tile, so its predicate should take one instruction and no register of its own.
// Indices along a row of cells differ by constants, which the comparison takes as it stands; what is left is the same for
// the whole row:
//
//     key <= query      key = first key of the tile + 2 * lane + 8 * unit      query = first query + row
//     is                8 * unit <= (first query + row) - (first key + 2 * lane)
//
// Where a comparison holds for the whole tile nothing is asked (codegen_turns.c, sections).
#include "emit.h"

// Whether a value is computed where it is asked for, by this operator.
static bool computes(const Emit *e, MirageValue value, MirageOp op) {
  const BlockValue *v = &e->block.values[value.index];
  return mirage__block_op(&e->block, value) == op && !v->shared && !v->resident;
}

// ------------------------------------------------------------------------------------------------------------- adding

uint32_t mirage__find_mask(const Emit *e, const MirageNodeView *sum, MirageValue *out_predicate) {
  for (uint32_t i = 0; sum->op == MIRAGE_OP_ADD && i < 2; i++) {
    MirageValue mask = mirage__block_resolve(&e->block, sum->operands[i]);
    if (!computes(e, mask, MIRAGE_OP_MASK))
      continue;
    MirageNodeView def = mirage__block_def(&e->block, mask);
    MirageValue zero = mirage__block_resolve(&e->block, def.operands[1]);
    if (!computes(e, zero, MIRAGE_OP_CONSTANT) || mirage__block_def(&e->block, zero).attrs->constant.value != 0)
      continue;
    *out_predicate = def.operands[0];
    return i;
  }
  return 2;
}

void mirage__hide(Emit *e, MirageValue predicate, const MirageType *type, const LLVMValueRef *index, uint32_t width,
                  LLVMValueRef *values) {
  LLVMValueRef seen[MAX_WIDTH];
  mirage__element_broadcast(e, predicate, type, index, width, seen);
  for (uint32_t i = 0; i < width; i++)
    values[i] = mirage__binary(e, MIRAGE_OP_MASK, seen[i], values[i]);
}

bool mirage__masked_sum(Emit *e, const MirageNodeView *def, const MirageType *type, const LLVMValueRef *index,
                        uint32_t width, LLVMValueRef *out) {
  MirageValue predicate;
  uint32_t mask = mirage__find_mask(e, def, &predicate);
  if (mask == 2)
    return false;
  mirage__element_broadcast(e, def->operands[1 - mask], type, index, width, out);
  mirage__hide(e, predicate, type, index, width, out);
  return true;
}

// ---------------------------------------------------------------------------------------------------------- comparing

// An index as a sum: what is computed (NULL = 0), and a constant; and by how much a neighbour along the row is more.
typedef struct Position {
  LLVMValueRef computed;
  int64_t constant, step;
} Position;

// Takes the constants of a sum out of it.
static LLVMValueRef without_constants(Emit *e, LLVMValueRef value, int64_t *constant) {
  if (LLVMIsAConstantInt(value)) {
    *constant += LLVMConstIntGetSExtValue(value);
    return NULL;
  }
  if (!LLVMIsAInstruction(value) || LLVMGetInstructionOpcode(value) != LLVMAdd)
    return value;
  LLVMValueRef a = LLVMGetOperand(value, 0), b = LLVMGetOperand(value, 1);
  LLVMValueRef left = without_constants(e, a, constant), right = without_constants(e, b, constant);
  if (left == a && right == b)
    return value;
  return left && right ? mirage__add(e, left, right) : left ? left : right;
}

LLVMValueRef mirage__length(Emit *e, LLVMValueRef value) {
  LLVMValueRef low = gpu_i32(&e->gpu, -(1 << 25)), high = gpu_i32(&e->gpu, 1 << 25);
  value = mirage__select(e, mirage__less(e, value, high), value, high);
  return mirage__select(e, mirage__less(e, low, value), value, low);
}

// One that is loaded, and known when the kernel runs.
static bool length_of(Emit *e, MirageValue value, const MirageType *type, Position *out) {
  LLVMValueRef zero[MIRAGE_MAX_RANK];
  if (!computes(e, value, MIRAGE_OP_LOAD) || mirage_type_elements(type) != 1)
    return false;
  for (uint32_t d = 0; d < MIRAGE_MAX_RANK; d++)
    zero[d] = gpu_i32(&e->gpu, 0);
  out->computed = mirage__length(e, mirage__element1(e, value, zero));
  return true;
}

// Where an operand is an index that is computed where it is asked for, or one that is the same for all elements.
static bool position_of(Emit *e, MirageValue operand, const MirageType *to, const LLVMValueRef *index, Position *out) {
  MirageValue value = mirage__block_resolve(&e->block, operand);
  const MirageType *from = emit_type(e, value);
  *out = (Position){0};
  if (from->dtype != MIRAGE_I32)
    return false;
  if (computes(e, value, MIRAGE_OP_CONSTANT)) {
    out->constant = (int64_t)mirage__block_def(&e->block, value).attrs->constant.value;
    return true;
  }
  if (!computes(e, value, MIRAGE_OP_IOTA))
    return length_of(e, value, from, out);
  uint32_t dim = (uint32_t)mirage__block_def(&e->block, value).attrs->iota.dim;
  LLVMValueRef at[MIRAGE_MAX_RANK];
  mirage__broadcast_index(e, from, to, index, at);
  LLVMValueRef start = mirage__iota_start(e, e->block.values[value.index].def);
  out->step = dim + 1 == from->rank && from->shape[dim] > 1;
  out->computed = without_constants(e, mirage__add(e, start, at[dim]), &out->constant);
  return true;
}

static LLVMValueRef difference(Emit *e, LLVMValueRef a, LLVMValueRef b) {
  LLVMValueRef zero = gpu_i32(&e->gpu, 0);
  return LLVMBuildNSWSub(e->gpu.builder, a ? a : zero, b ? b : zero, "");
}

bool mirage__compare_indices(Emit *e, const MirageNodeView *def, const MirageType *type, const LLVMValueRef *index,
                             uint32_t width, LLVMValueRef *out) {
  bool turned = def->op == MIRAGE_OP_GREATER || def->op == MIRAGE_OP_GREATER_EQUAL;
  bool strict = def->op == MIRAGE_OP_LESS || def->op == MIRAGE_OP_GREATER;
  Position a, b; // a <= b, or a < b
  if (!turned && !strict && def->op != MIRAGE_OP_LESS_EQUAL)
    return false;
  if (!position_of(e, def->operands[turned], type, index, &a) ||
      !position_of(e, def->operands[!turned], type, index, &b))
    return false;
  LLVMValueRef room = difference(e, b.computed, a.computed);
  for (uint32_t i = 0; i < width; i++) {
    int64_t need = a.constant - b.constant + strict + (int64_t)i * (a.step - b.step);
    LLVMValueRef holds = LLVMBuildICmp(e->gpu.builder, LLVMIntSGE, room, gpu_i32(&e->gpu, need), "");
    out[i] = mirage__select(e, holds, gpu_f32(&e->gpu, 1), gpu_f32(&e->gpu, 0));
  }
  return true;
}
