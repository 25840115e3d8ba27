// interpret.h - a small interpreter of linalg, tensor, arith, math, func, scf, cf and memref over MLIR's C API.
//
// It shares nothing with lib/bridge and lib/eval. What it knows of a structured operation is what MLIR says: its maps and its body,
// run for each point. Only mirage_kernel.call, which the pass puts in, is handed to mirage_eval (kernel_call.c).
//
//   scalar.c                scalar operators, and roundings
//   body.c                  regions of scalars, as a list of instructions
//   interpret.c             functions, blocks, calls, control flow
//   interpret_tensor.c      structured operations, tensor, memref
#ifndef FUZZ_LINALG_INTERPRET_H
#define FUZZ_LINALG_INTERPRET_H

#include "element.h"

#include "mirage/arena.h"
#include "mlir-c/IR.h"

enum { TENSOR_RANK = 12, REASON = 240 };

typedef union Scalar {
  double f;
  int64_t i; // as wide as the type, extended by its sign
} Scalar;

// A scalar has rank 0. A memref is a tensor that operations change.
typedef struct Tensor {
  Elem elem;
  int rank;
  int64_t shape[TENSOR_RANK], count;
  Scalar *data;
} Tensor;

// How numbers are computed.
typedef struct Arithmetic {
  bool rounds;  // each result to its type; otherwise all floats are doubles
  double noise; // each result is off by a random part of its type's unit roundoff, times this; 0: as exactly as can be
} Arithmetic;

// What went out by calls of functions that are not there, in order.
typedef struct Trace {
  uint32_t count, room;
  Tensor **values;
} Trace;

typedef struct Binding {
  const void *value;
  Tensor *tensor;
} Binding;

typedef struct Interpreter {
  MirageArena *arena;
  Arithmetic arithmetic;
  Draw draw; // of the noise
  uint32_t num_bindings, room;
  Binding *bindings; // a hash table by address
  Trace trace;
  int64_t work, most_work; // scalars computed
  const int64_t *point;    // where a structured operation is, whose body is run as a region
  bool undefined;          // a kernel divided by zero: there is nothing to compare
  bool poison;             // fptosi of what the integers do not hold: LLVM promises nothing
  bool swallowed;          // a NaN went into what gives a number all the same, or numbers gave an infinity
  char reason[REASON];     // why it gave up
} Interpreter;

/// Runs a function. `results` has room for its results. False with a reason: something that it does not know.
bool interpret_function(Interpreter *in, MlirOperation function, Tensor *const *arguments, Tensor **results);

/// A tensor of the type, uninitialized. Open extents are `open`.
Tensor *tensor_create(Interpreter *in, MlirType type, int64_t open);
Tensor *tensor_like(Interpreter *in, Elem elem, int rank, const int64_t *shape);
Tensor *tensor_copy(Interpreter *in, const Tensor *tensor);
bool elem_of(MlirType type, Elem *out);

// -------------------------------------------------------------------------------------------------------- between its files

__attribute__((format(printf, 2, 3))) bool give_up(Interpreter *in, const char *format, ...);
bool is_named(MlirOperation op, const char *name);
MlirAttribute attribute_of(MlirOperation op, const char *name);
bool bind(Interpreter *in, MlirValue value, Tensor *tensor);
/// What a value is; null with a reason where nobody has bound it.
Tensor *value_at(Interpreter *in, MlirValue value);
Tensor *operand_at(Interpreter *in, MlirOperation op, intptr_t index);
/// The contents of an attribute as a tensor.
Tensor *constant_of(Interpreter *in, MlirAttribute attribute, MlirType type);

double round_to(Elem elem, double value);
int64_t wrap_to(Elem elem, int64_t value);

// A scalar operator: what it is, and how many operands it takes. The table is in scalar.c.
typedef struct ScalarOp {
  int code, operands;
  bool exact; // what it gives needs no rounding
} ScalarOp;
bool scalar_op(MlirOperation op, ScalarOp *out);
Scalar scalar_apply(Interpreter *in, const ScalarOp *op, Elem result, Elem operand, int predicate,
                    const Scalar *operands);
int predicate_of(MlirOperation op);

// A region of scalars, ready to be run for each point.
typedef struct Instruction {
  ScalarOp op;
  Elem result, operand;
  int predicate, dim; // `dim`: linalg.index
  int slots[3], target;
} Instruction;

enum { MOST_SLOTS = 256 };

typedef struct Body {
  int num_slots, num_instructions, num_yields;
  const void *names[MOST_SLOTS];
  Scalar slots[MOST_SLOTS];
  int yields[8];
  Instruction instructions[MOST_SLOTS];
} Body;

/// The block's arguments are slots 0, 1, ...
bool body_compile(Interpreter *in, MlirBlock block, Body *body);
/// `point`: for linalg.index.
void body_run(Interpreter *in, Body *body, const int64_t *point);

/// A region from its first block to a return or yield, whose operands are `results`.
bool interpret_region(Interpreter *in, MlirRegion region, Tensor *const *arguments, Tensor **results);
/// One operation; false with a reason. `*out_known` is false where its dialect is none of this file's.
bool interpret_tensor(Interpreter *in, MlirOperation op, bool *out_known);
bool interpret_structured(Interpreter *in, MlirOperation op);
bool interpret_kernel_call(Interpreter *in, MlirOperation op);

#endif
