// body.c - the region of a structured operation as a list of instructions, run for each point of its space.
#include "interpret.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

static int slot_of(const Body *body, MlirValue value) {
  for (int i = body->num_slots; i-- > 0;)
    if (body->names[i] == value.ptr)
      return i;
  return -1;
}

static int add_slot(Interpreter *in, Body *body, MlirValue value) {
  if (body->num_slots == MOST_SLOTS)
    return give_up(in, "a body has too many operators"), -1;
  body->names[body->num_slots] = value.ptr;
  return body->num_slots++;
}

/// A slot of the body, or a scalar from outside, which becomes one.
static int operand_slot(Interpreter *in, Body *body, MlirValue value) {
  int slot = slot_of(body, value);
  if (slot >= 0)
    return slot;
  Tensor *outside = value_at(in, value);
  if (!outside || outside->rank != 0)
    return give_up(in, "a body uses what is no scalar"), -1;
  slot = add_slot(in, body, value);
  if (slot >= 0)
    body->slots[slot] = outside->data[0];
  return slot;
}

static bool compile_constant(Interpreter *in, Body *body, MlirOperation op) {
  MlirValue value = mlirOperationGetResult(op, 0);
  Tensor *number = constant_of(in, attribute_of(op, "value"), mlirValueGetType(value));
  int slot = number ? add_slot(in, body, value) : -1;
  if (slot >= 0)
    body->slots[slot] = number->data[0];
  return slot >= 0;
}

static bool compile_index(Interpreter *in, Body *body, MlirOperation op) {
  int slot = add_slot(in, body, mlirOperationGetResult(op, 0));
  if (slot < 0)
    return false;
  body->instructions[body->num_instructions++] = (Instruction){
      .op = {-1, 0, true}, .dim = (int)mlirIntegerAttrGetValueInt(attribute_of(op, "dim")), .target = slot};
  return true;
}

static bool compile_scalar(Interpreter *in, Body *body, MlirOperation op) {
  Instruction instruction = {.predicate = predicate_of(op)};
  MlirValue result = mlirOperationGetResult(op, 0);
  if (!scalar_op(op, &instruction.op)) {
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    return give_up(in, "%.*s in a body", (int)name.length, name.data);
  }
  if (!elem_of(mlirValueGetType(result), &instruction.result) ||
      !elem_of(mlirValueGetType(mlirOperationGetOperand(op, 0)), &instruction.operand))
    return give_up(in, "a type in a body");
  for (int i = 0; i < instruction.op.operands; i++) {
    instruction.slots[i] = operand_slot(in, body, mlirOperationGetOperand(op, i));
    if (instruction.slots[i] < 0)
      return false;
  }
  instruction.target = add_slot(in, body, result);
  body->instructions[body->num_instructions++] = instruction;
  return instruction.target >= 0;
}

static bool compile_yield(Interpreter *in, Body *body, MlirOperation op) {
  body->num_yields = (int)mlirOperationGetNumOperands(op);
  for (int i = 0; i < body->num_yields; i++) {
    if (i == (int)(sizeof body->yields / sizeof *body->yields))
      return give_up(in, "a body yields too many values");
    body->yields[i] = operand_slot(in, body, mlirOperationGetOperand(op, i));
    if (body->yields[i] < 0)
      return false;
  }
  return true;
}

bool body_compile(Interpreter *in, MlirBlock block, Body *body) {
  body->num_slots = body->num_instructions = body->num_yields = 0;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); i++)
    if (add_slot(in, body, mlirBlockGetArgument(block, i)) < 0)
      return false;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    bool ok = is_named(op, "arith.constant")                                 ? compile_constant(in, body, op)
              : is_named(op, "linalg.index")                                 ? compile_index(in, body, op)
              : is_named(op, "linalg.yield") || is_named(op, "tensor.yield") ? compile_yield(in, body, op)
                                                                             : compile_scalar(in, body, op);
    if (!ok)
      return false;
  }
  return true;
}

void body_run(Interpreter *in, Body *body, const int64_t *point) {
  for (int i = 0; i < body->num_instructions; i++) {
    const Instruction *instruction = &body->instructions[i];
    if (instruction->op.code < 0) {
      body->slots[instruction->target].i = point[instruction->dim];
      continue;
    }
    Scalar operands[3];
    for (int k = 0; k < instruction->op.operands; k++)
      operands[k] = body->slots[instruction->slots[k]];
    body->slots[instruction->target] =
        scalar_apply(in, &instruction->op, instruction->result, instruction->operand, instruction->predicate, operands);
  }
}
