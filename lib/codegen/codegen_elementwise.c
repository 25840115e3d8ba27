// codegen_elementwise.c - the element function: code for neighbouring elements of any value, as f32, of i32 as i32.
//
// Shape operators only rewrite the index; arithmetic evaluates its operands at the (broadcast) index. `width` elements
// are asked for at once so that memory is read in wide pieces; an operator whose index map would tear the neighbours
// apart asks for them one by one. What was computed at an index is remembered until the end of the item
// (mirage__for_items), so a value used twice is computed once.
#include "emit.h"

#include <math.h>
#include <string.h>

void mirage__forget_elements(Emit *e) {
  if (!e->keep_elements)
    e->num_memo = 0;
}

// For whom a value is known: what the members of a meeting made together is the same for all of them.
static LLVMValueRef member_of(const Emit *e, MirageValue value) {
  bool together = mirage_op_info(mirage__block_op(&e->block, value))->kind == MIRAGE_KIND_COLLECTIVE;
  return together ? NULL : e->member;
}

static bool recall(const Emit *e, MirageValue value, uint32_t rank, const LLVMValueRef *index, uint32_t width,
                   LLVMValueRef *out) {
  LLVMValueRef member = member_of(e, value);
  for (uint32_t i = e->num_memo; i-- > 0;) {
    const Memo *memo = &e->memo[i];
    if (memo->value != value.index || memo->width != width || memo->member != member ||
        memcmp(memo->index, index, rank * sizeof *index))
      continue;
    memcpy(out, memo->out, width * sizeof *out);
    return true;
  }
  return false;
}

static void remember(Emit *e, MirageValue value, bool leaf, uint32_t rank, const LLVMValueRef *index, uint32_t width,
                     const LLVMValueRef *out) {
  if (e->num_memo == MAX_MEMO)
    return;
  Memo *memo = &e->memo[e->num_memo++];
  memo->value = value.index;
  memo->width = width;
  memo->leaf = leaf;
  memo->member = member_of(e, value);
  memcpy(memo->index, index, rank * sizeof *index);
  memcpy(memo->out, out, width * sizeof *out);
}

bool mirage__is_remembered(Emit *e, MirageValue value, const LLVMValueRef *index, uint32_t width) {
  LLVMValueRef values[MAX_WIDTH];
  value = mirage__block_resolve(&e->block, value);
  return recall(e, value, emit_type(e, value)->rank, index, width, values);
}

void mirage__remember_element(Emit *e, MirageValue value, const LLVMValueRef *index, uint32_t width,
                              const LLVMValueRef *values) {
  value = mirage__block_resolve(&e->block, value);
  remember(e, value, false, emit_type(e, value)->rank, index, width, values);
}

void mirage__broadcast_index(Emit *e, const MirageType *from, const MirageType *to, const LLVMValueRef *index,
                             LLVMValueRef *out) {
  for (uint32_t i = 1; i <= from->rank; i++) {
    LLVMValueRef at = i <= to->rank ? index[to->rank - i] : gpu_i32(&e->gpu, 0);
    out[from->rank - i] = from->shape[from->rank - i] == 1 ? gpu_i32(&e->gpu, 0) : at;
  }
}

// An operand that broadcasts to the result: one element is enough where its last dimension is stretched.
void mirage__element_broadcast(Emit *e, MirageValue operand, const MirageType *to, const LLVMValueRef *index,
                               uint32_t width, LLVMValueRef *out) {
  const MirageType *from = emit_type(e, operand);
  LLVMValueRef at[MIRAGE_MAX_RANK];
  mirage__broadcast_index(e, from, to, index, at);
  bool stretched = from->rank == 0 || from->shape[from->rank - 1] == 1;
  mirage__element(e, operand, at, stretched ? 1 : width, out);
  for (uint32_t i = 1; stretched && i < width; i++)
    out[i] = out[0];
}

static void one_by_one(Emit *e, MirageValue value, uint32_t rank, const LLVMValueRef *index, uint32_t width,
                       LLVMValueRef *out) {
  for (uint32_t i = 0; i < width; i++) {
    LLVMValueRef at[MIRAGE_MAX_RANK];
    memcpy(at, index, rank * sizeof *at);
    at[rank - 1] = mirage__add(e, index[rank - 1], gpu_i32(&e->gpu, i));
    mirage__element(e, value, at, 1, out + i);
  }
}

// ----------------------------------------------------------------------------------------------------- shape operators

static void transpose(Emit *e, const MirageNodeView *def, const LLVMValueRef *index, uint32_t width,
                      LLVMValueRef *out) {
  LLVMValueRef at[MIRAGE_MAX_RANK];
  uint32_t rank = emit_type(e, def->operands[0])->rank;
  for (uint32_t i = 0; i < rank; i++)
    at[def->attrs->perm.perm[i]] = index[i];
  mirage__element(e, def->operands[0], at, width, out);
}

static void reshape(Emit *e, const MirageNodeView *def, const MirageType *result, const LLVMValueRef *index,
                    uint32_t width, LLVMValueRef *out) {
  const MirageType *from = emit_type(e, def->operands[0]);
  LLVMValueRef at[MIRAGE_MAX_RANK];
  uint32_t same = 0; // leading dimensions that stay as they are need no division
  while (same < from->rank && same < result->rank && from->shape[same] == result->shape[same])
    same++;
  memcpy(at, index, same * sizeof *at);
  LLVMValueRef linear = mirage__linearize(e, result->rank - same, result->shape + same, index + same);
  mirage__delinearize(e, linear, from->rank - same, from->shape + same, at + same);
  mirage__element(e, def->operands[0], at, width, out);
}

static void repeat(Emit *e, const MirageNodeView *def, const LLVMValueRef *index, uint32_t width, LLVMValueRef *out) {
  const MirageType *from = emit_type(e, def->operands[0]);
  LLVMValueRef at[MIRAGE_MAX_RANK];
  memcpy(at, index, from->rank * sizeof *at);
  int32_t dim = def->attrs->repeat.dim;
  at[dim] = mirage__mod(e, index[dim], from->shape[dim]);
  mirage__element(e, def->operands[0], at, width, out);
}

static void slice(Emit *e, const MirageNodeView *def, const LLVMValueRef *index, uint32_t width, LLVMValueRef *out) {
  LLVMValueRef at[MIRAGE_MAX_RANK];
  memcpy(at, index, emit_type(e, def->operands[0])->rank * sizeof *at);
  at[def->attrs->slice.dim] = mirage__add(e, index[def->attrs->slice.dim], gpu_i32(&e->gpu, def->attrs->slice.begin));
  mirage__element(e, def->operands[0], at, width, out);
}

// Every operand is evaluated at an index clamped into it; the one that holds the element is selected.
static void concat(Emit *e, const MirageNodeView *def, const LLVMValueRef *index, uint32_t width, LLVMValueRef *out) {
  int32_t dim = def->attrs->dim.dim;
  int64_t begin = 0;
  for (uint32_t o = 0; o < def->num_operands; o++) {
    const MirageType *from = emit_type(e, def->operands[o]);
    LLVMValueRef at[MIRAGE_MAX_RANK], values[MAX_WIDTH];
    memcpy(at, index, from->rank * sizeof *at);
    LLVMValueRef inside = mirage__less_than(e, index[dim], begin + from->shape[dim]);
    LLVMValueRef reached = LLVMBuildICmp(e->gpu.builder, LLVMIntSGE, index[dim], gpu_i32(&e->gpu, begin), "");
    LLVMValueRef here = mirage__and(e, inside, reached);
    LLVMValueRef local = LLVMBuildSub(e->gpu.builder, index[dim], gpu_i32(&e->gpu, begin), "");
    at[dim] = mirage__select(e, here, local, gpu_i32(&e->gpu, 0));
    mirage__element(e, def->operands[o], at, width, values);
    for (uint32_t i = 0; i < width; i++)
      out[i] = o == 0 ? values[i] : mirage__select(e, here, values[i], out[i]);
    begin += from->shape[dim];
  }
}

// Whether `width` neighbours of the result, at a multiple of width, are neighbours of the operand at a multiple of
// width.
static bool keeps_neighbours(Emit *e, const MirageNodeView *def, const MirageType *result, uint32_t width) {
  if (width == 1)
    return true;
  int32_t last = (int32_t)result->rank - 1;
  const MirageType *from = def->num_operands ? emit_type(e, def->operands[0]) : NULL;
  switch (def->op) {
  case MIRAGE_OP_TRANSPOSE:
    return def->attrs->perm.perm[last] == last;
  case MIRAGE_OP_RESHAPE:
    return from->rank > 0 && from->shape[from->rank - 1] % width == 0 && result->shape[last] % width == 0;
  case MIRAGE_OP_REPEAT:
    return def->attrs->repeat.dim != last || from->shape[last] % width == 0;
  case MIRAGE_OP_SLICE:
    return def->attrs->slice.dim != last || def->attrs->slice.begin % width == 0;
  case MIRAGE_OP_CONCAT:
    for (uint32_t o = 0; def->attrs->dim.dim == last && o < def->num_operands; o++)
      if (emit_type(e, def->operands[o])->shape[last] % width)
        return false;
    return true;
  default:
    return true;
  }
}

// ---------------------------------------------------------------------------------------------------------- dispatch

static void constant(Emit *e, const MirageNodeView *def, const MirageType *type, uint32_t width, LLVMValueRef *out) {
  double number = def->op == MIRAGE_OP_BOTTOM ? -INFINITY : def->attrs->constant.value;
  LLVMValueRef value = mirage__round_to(e, type->dtype, gpu_number(&e->gpu, type->dtype, number));
  for (uint32_t i = 0; i < width; i++)
    out[i] = value;
}

// Neighbours along the dimension that counts differ by one.
static void iota(Emit *e, MirageNode node, const MirageType *type, const LLVMValueRef *index, uint32_t width,
                 LLVMValueRef *out) {
  uint32_t dim = (uint32_t)mirage_ugraph_node(e->block.graph, node).attrs->iota.dim;
  LLVMValueRef first = mirage__add(e, mirage__iota_start(e, node), index[dim]);
  for (uint32_t i = 0; i < width; i++)
    out[i] = dim + 1 < type->rank ? first : mirage__add(e, first, gpu_i32(&e->gpu, i));
}

static bool same_shape(const MirageType *a, const MirageType *b) {
  return a->rank == b->rank && !memcmp(a->shape, b->shape, a->rank * sizeof *a->shape);
}

// The operand of a product that is a positive constant; 2: none is.
static uint32_t find_factor(const Emit *e, const MirageNodeView *product, double *out_factor) {
  for (uint32_t i = 0; i < 2; i++) {
    MirageValue operand = mirage__block_resolve(&e->block, product->operands[i]);
    if (mirage__block_op(&e->block, operand) != MIRAGE_OP_CONSTANT)
      continue;
    *out_factor = mirage__block_def(&e->block, operand).attrs->constant.value;
    if (*out_factor > 0 && isfinite(*out_factor))
      return i;
  }
  return 2;
}

// The operator whose result is not stored anywhere, but computed where it is read; NONE.
static MirageNodeView computed_here(const Emit *e, MirageValue value) {
  const BlockValue *v = &e->block.values[value.index];
  bool stored = v->shared || v->resident || !v->def.index || v->meeting >= 0 || v->gathered ||
                (e->cell && !mirage__in_cells(e, value));
  return stored ? (MirageNodeView){.op = MIRAGE_OP_NONE} : mirage__block_def(&e->block, value);
}

double mirage__element_unscaled(Emit *e, MirageValue value, const LLVMValueRef *index, uint32_t width,
                                LLVMValueRef *out) {
  value = mirage__block_resolve(&e->block, value);
  const MirageType *type = emit_type(e, value);
  MirageNodeView def = computed_here(e, value);
  double factor = 1;
  MirageValue predicate = {0};
  uint32_t beside = 2; // the operand that is not looked through: a factor, or what says where there is bottom
  if (def.op == MIRAGE_OP_MUL)
    beside = find_factor(e, &def, &factor);
  else if (def.op == MIRAGE_OP_ADD)
    beside = mirage__find_mask(e, &def, &predicate);
  else if (def.op == MIRAGE_OP_MASK)
    predicate = def.operands[beside = 0];
  if (beside == 2 || !same_shape(emit_type(e, def.operands[1 - beside]), type)) {
    mirage__element(e, value, index, width, out);
    return 1;
  }
  factor *= mirage__element_unscaled(e, def.operands[1 - beside], index, width, out);
  if (predicate.index)
    mirage__hide(e, predicate, type, index, width, out);
  return factor;
}

// exp(x - y), where y is the same for all of a row, as one multiply-add and an exponential: softmax. False: it is not.
static bool exp_of_difference(Emit *e, const MirageNodeView *def, const MirageType *type, const LLVMValueRef *index,
                              uint32_t width, LLVMValueRef *out) {
  MirageValue operand = mirage__block_resolve(&e->block, def->operands[0]);
  const BlockValue *v = &e->block.values[operand.index];
  if (def->op != MIRAGE_OP_EXP || mirage__block_op(&e->block, operand) != MIRAGE_OP_SUB || v->shared || v->resident)
    return false;
  MirageNodeView difference = mirage__block_def(&e->block, operand);
  const MirageType *y = emit_type(e, difference.operands[1]);
  if (type->rank == 0 || type->shape[type->rank - 1] == 1 || (y->rank && y->shape[y->rank - 1] != 1))
    return false;
  LLVMValueRef a[MAX_WIDTH], b[MAX_WIDTH];
  double factor = 1;
  if (same_shape(emit_type(e, difference.operands[0]), type))
    factor = mirage__element_unscaled(e, difference.operands[0], index, width, a);
  else
    mirage__element_broadcast(e, difference.operands[0], type, index, width, a);
  mirage__element_broadcast(e, difference.operands[1], type, index, width, b);
  for (uint32_t i = 0; i < width; i++)
    out[i] = mirage__exp_difference(e, factor, a[i], b[i]);
  return true;
}

// x / y, where y is the same for all of a row, as a multiplication: a row has one reciprocal. (An extra rounding of f32.)
static bool quotient_of_row(Emit *e, const MirageNodeView *def, const MirageType *type, const LLVMValueRef *index,
                            uint32_t width, LLVMValueRef *out) {
  if (def->op != MIRAGE_OP_DIV || type->rank == 0 || type->shape[type->rank - 1] == 1)
    return false;
  const MirageType *by = emit_type(e, def->operands[1]);
  if (by->rank && by->shape[by->rank - 1] != 1)
    return false;
  LLVMValueRef divisor[MAX_WIDTH];
  mirage__element_broadcast(e, def->operands[0], type, index, width, out);
  mirage__element_broadcast(e, def->operands[1], type, index, width, divisor);
  LLVMValueRef reciprocal = GPU(&e->gpu, RCP, divisor[0]);
  for (uint32_t i = 0; i < width; i++)
    out[i] = LLVMBuildFMul(e->gpu.builder, out[i], reciprocal, "");
  return true;
}

// 1 + erf(x) and 1 + tanh(x), which GELU is made of. False: it is neither.
static bool one_more(Emit *e, const MirageNodeView *def, const MirageType *type, const LLVMValueRef *index,
                     uint32_t width, LLVMValueRef *out) {
  for (uint32_t i = 0; i < 2 && def->op == MIRAGE_OP_ADD; i++) {
    MirageValue one = mirage__block_resolve(&e->block, def->operands[i]);
    MirageValue value = mirage__block_resolve(&e->block, def->operands[1 - i]);
    if (mirage__block_op(&e->block, one) != MIRAGE_OP_CONSTANT ||
        mirage__block_def(&e->block, one).attrs->constant.value != 1 || !same_shape(emit_type(e, value), type))
      continue;
    MirageNodeView function = computed_here(e, value);
    LLVMValueRef x[MAX_WIDTH];
    if (!mirage__has_one_more(e, function.op))
      continue;
    mirage__element_broadcast(e, function.operands[0], type, index, width, x);
    for (uint32_t k = 0; k < width; k++)
      out[k] = mirage__one_more(e, function.op, x[k]);
    return true;
  }
  return false;
}

// Whether a value may be bottom, as a maximum of nothing is, or what a mask hides. Sums are not, nor what constants make of them: minus
// infinity there is a number, as it is in PyTorch. Nor is what a function gives that has no such value.
static bool may_be_bottom(const Emit *e, MirageValue value) {
  for (;;) {
    value = mirage__block_resolve(&e->block, value);
    if (!e->block.values[value.index].def.index)
      return true;
    MirageNodeView def = mirage__block_def(&e->block, value);
    switch (def.op) {
    case MIRAGE_OP_REDUCE_SUM:
    case MIRAGE_OP_REDUCE_MEAN:
    case MIRAGE_OP_CLUSTER_SUM:
    case MIRAGE_OP_GRID_SUM:
    case MIRAGE_OP_EXP:
    case MIRAGE_OP_TANH:
    case MIRAGE_OP_ERF:
    case MIRAGE_OP_SQRT:
      return false;
    case MIRAGE_OP_CONSTANT:
      return isinf(def.attrs->constant.value);
    case MIRAGE_OP_MUL:
    case MIRAGE_OP_DIV:
      if (mirage__block_op(&e->block, mirage__block_resolve(&e->block, def.operands[1])) != MIRAGE_OP_CONSTANT)
        return true;
      value = def.operands[0];
      break;
    default:
      return true;
    }
  }
}

static LLVMValueRef binary(Emit *e, const MirageNodeView *def, LLVMValueRef a, LLVMValueRef b) {
  bool plain = def->op == MIRAGE_OP_SUB && LLVMTypeOf(a) == e->gpu.f32 &&
               (!may_be_bottom(e, def->operands[0]) || !may_be_bottom(e, def->operands[1]));
  return plain ? mirage__subtract(e, a, b) : mirage__binary(e, def->op, a, b);
}

static void compute(Emit *e, const MirageNodeView *def, const MirageType *type, const LLVMValueRef *index,
                    uint32_t width, LLVMValueRef *out) {
  LLVMValueRef a[MAX_WIDTH], b[MAX_WIDTH];
  switch (mirage_op_info(def->op)->kind) {
  case MIRAGE_KIND_UNARY:
    if (exp_of_difference(e, def, type, index, width, out))
      return;
    mirage__element_broadcast(e, def->operands[0], type, index, width, a);
    for (uint32_t i = 0; i < width; i++)
      out[i] = mirage__unary(e, def->op, a[i]);
    return;
  case MIRAGE_KIND_BINARY:
    if (mirage__block_added(&e->block, def).index) {
      mirage__element_broadcast(e, mirage__block_added(&e->block, def), type, index, width, out);
      return;
    }
    if (quotient_of_row(e, def, type, index, width, out) || one_more(e, def, type, index, width, out) ||
        mirage__masked_sum(e, def, type, index, width, out) || mirage__compare_indices(e, def, type, index, width, out))
      return;
    mirage__element_broadcast(e, def->operands[0], type, index, width, a);
    mirage__element_broadcast(e, def->operands[1], type, index, width, b);
    for (uint32_t i = 0; i < width; i++)
      out[i] = binary(e, def, a[i], b[i]);
    return;
  case MIRAGE_KIND_CAST:
    mirage__element_broadcast(e, def->operands[0], type, index, width, a);
    for (uint32_t i = 0; i < width; i++)
      out[i] = mirage__round_to(e, type->dtype, a[i]);
    return;
  case MIRAGE_KIND_CONSTANT:
    constant(e, def, type, width, out);
    return;
  default:
    break;
  }
  switch (def->op) {
  case MIRAGE_OP_BROADCAST:
    mirage__element_broadcast(e, def->operands[0], type, index, width, out);
    return;
  case MIRAGE_OP_TRANSPOSE:
    transpose(e, def, index, width, out);
    return;
  case MIRAGE_OP_RESHAPE:
    reshape(e, def, type, index, width, out);
    return;
  case MIRAGE_OP_REPEAT:
    repeat(e, def, index, width, out);
    return;
  case MIRAGE_OP_SLICE:
    slice(e, def, index, width, out);
    return;
  case MIRAGE_OP_CONCAT:
    concat(e, def, index, width, out);
    return;
  default:
    mirage__emit_fail(e, def->loc, MIRAGE_UNSUPPORTED, "%s: has no element-wise lowering here",
                      mirage_op_info(def->op)->mnemonic);
    for (uint32_t i = 0; i < width; i++)
      out[i] = gpu_number(&e->gpu, type->dtype, 0);
  }
}

// The block's own buffer of a value that is computed from a meeting's leaves says nothing of another member's.
static bool computed_for_member(const Emit *e, MirageValue value) {
  return e->member && mirage__block_meeting_of(&e->block, value) == e->reading->plan &&
         mirage__block_can_inline(mirage__block_op(&e->block, value));
}

// From what defines it, whether or not it has a buffer.
static void define(Emit *e, MirageValue value, const MirageType *type, const LLVMValueRef *index, uint32_t width,
                   LLVMValueRef *out) {
  MirageNode node = e->block.values[value.index].def;
  MirageNodeView def = mirage_ugraph_node(e->block.graph, node);
  if (node.index && mirage__kept(e, value, index, width, out))
    return;
  if (!node.index) {
    mirage__emit_fail(e, NULL, MIRAGE_BAD_GRAPH, "codegen: a carry kept in registers is read inside its loop");
    for (uint32_t i = 0; i < width; i++)
      out[i] = gpu_number(&e->gpu, type->dtype, 0);
  } else if (mirage__is_certain(e, node)) {
    for (uint32_t i = 0; i < width; i++)
      out[i] = gpu_f32(&e->gpu, 1);
  } else if (def.op == MIRAGE_OP_LOAD) {
    Access access = mirage__access(e, node, def.operands[0], type, NULL);
    uint32_t around = e->gpu.op;
    e->gpu.op = node.index;
    mirage__access_read(e, &access, index, width, out);
    e->gpu.op = around;
  } else if (def.op == MIRAGE_OP_IOTA) {
    iota(e, node, type, index, width, out);
  } else if (mirage_op_info(def.op)->kind == MIRAGE_KIND_COLLECTIVE) {
    mirage__gather(e, value, index, width, out);
  } else if (!keeps_neighbours(e, &def, type, width)) {
    one_by_one(e, value, type->rank, index, width, out);
  } else {
    compute(e, &def, type, index, width, out);
  }
  mirage__add_margin(e, value, width, out);
}

static void evaluate(Emit *e, MirageValue value, const MirageType *type, const LLVMValueRef *index, uint32_t width,
                     LLVMValueRef *out) {
  if (emit_is_shared(e, value) && !computed_for_member(e, value))
    mirage__tile_load(e, type, mirage__current_copy(e, value), index, width, out);
  else
    define(e, value, type, index, width, out);
}

void mirage__element_unwritten(Emit *e, MirageValue value, const LLVMValueRef *index, uint32_t width,
                               LLVMValueRef *out) {
  value = mirage__block_resolve(&e->block, value);
  const MirageType *type = emit_type(e, value);
  if (!recall(e, value, type->rank, index, width, out))
    define(e, value, type, index, width, out);
}

void mirage__element(Emit *e, MirageValue value, const LLVMValueRef *index, uint32_t width, LLVMValueRef *out) {
  value = mirage__block_resolve(&e->block, value);
  const MirageType *type = emit_type(e, value);
  if (mirage__is_hidden(e, value, &out[0])) {
    for (uint32_t i = 1; i < width; i++)
      out[i] = out[0];
    return;
  }
  if (e->cell && e->block.values[value.index].resident) {
    mirage__cell_get(e, value, width, out);
    return;
  }
  if (e->staged.index == value.index && value.index) {
    MirageDType held = type->dtype == MIRAGE_I32 ? MIRAGE_I32 : MIRAGE_F32;
    mirage__unpack(e, mirage__gpu_load_shared(&e->gpu, mirage__packed(e, width, held), e->staged_at), width, held, out);
    return;
  }
  if (recall(e, value, type->rank, index, width, out))
    return;
  bool leaf = mirage__read_leaf(e, value, index, width, out);
  if (!leaf) {
    const CellPlace *cell = e->cell;
    if (!mirage__in_cells(e, value)) // whatever it reads, it reads in an order of its own
      e->cell = NULL;
    evaluate(e, value, type, index, width, out);
    e->cell = cell;
  }
  remember(e, value, leaf, type->rank, index, width, out);
}

LLVMValueRef mirage__element1(Emit *e, MirageValue value, const LLVMValueRef *index) {
  LLVMValueRef out;
  mirage__element(e, value, index, 1, &out);
  return out;
}
