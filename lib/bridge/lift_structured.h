// lift_structured.h - a structured operation that has been read: its iteration space and operands. Private to lift_structured.c
// and lift_product.c.
#ifndef MIRAGE_BRIDGE_LIFT_STRUCTURED_H
#define MIRAGE_BRIDGE_LIFT_STRUCTURED_H

#include "lift.h"

enum { LIFT_MAX_OPERANDS = 16, LIFT_NO_DIM = -1 };

typedef struct LiftOperand {
  MlirValue value;
  bool is_tensor;
  bool is_truth;   // of truth values
  bool is_known;   // `type` is
  MirageType type; // of a tensor, as a graph holds it
  uint32_t rank;
  int32_t dims[LIFT_MAX_DIMS]; // of the space, or NO_DIM: always 0. As many as `type` has, where that is known
} LiftOperand;

typedef struct LiftStructured {
  Lift *lift;
  MlirOperation op;
  MlirBlock block;
  uint32_t rank; // of the space
  int64_t extents[LIFT_MAX_DIMS];
  int32_t space[LIFT_MAX_DIMS]; // which of the space's dimensions each of the operation's is, or LIFT_NO_DIM
  uint32_t num_inputs, num_outputs;
  LiftOperand operands[LIFT_MAX_OPERANDS]; // inputs, then outputs
} LiftStructured;

/// Whether the operand has the space's dimension `dim`.
bool mirage__lift_walks(const LiftOperand *operand, uint32_t dim);
/// The operand's value with those of its dimensions that walk the space in the order `order`, each extent its own, without
/// the others.
MirageValue mirage__lift_arranged(LiftStructured *s, const LiftOperand *operand, MirageValue value, uint32_t count,
                                  const uint32_t *order);
/// A value over the dimensions `order` of the space as the output wants it: reordered, stretched, reshaped.
MirageValue mirage__lift_to_output(LiftStructured *s, const LiftOperand *output, MirageValue value, uint32_t count,
                                   const uint32_t *order);
/// The sum over `summed`, a product of two inputs, in the type that the body computes in. {0} where it is none; without a
/// reason, since it may be something else.
MirageValue mirage__lift_product(LiftStructured *s, const LiftOperand *y, MlirValue summed);

#endif
