// lift.h - operations of linalg, tensor, arith and math as operators of a program. Private to lib/bridge.
//
//   lift.c             values; constants; reshapes, slices
//   lift_concat.c      concatenations, and what exporters write in place of them
//   lift_structured.c  structured operations (linalg.generic and the named ones): reductions, element-wise
//   lift_product.c     those that are products
//   lift_body.c        what a structured operation computes for an element, operator by operator
//   lift_choice.c      comparisons, and selects that choose by one
//   lift_mask.c        positions, and masks that are made of them
//   lift_rows.c        rows that a mask leaves nothing of
//   partition.c        which operations of a function become which program
//
// A lift is made several times: for each operation alone, to see whether it can be said, and for all operations of a part.
// A tensor of rank 0 has one dimension of extent 1 in a graph; one of more dimensions than a graph allows lacks those of
// extent 1 there.
#ifndef MIRAGE_BRIDGE_LIFT_H
#define MIRAGE_BRIDGE_LIFT_H

#include "mirage/arena.h"
#include "mirage/bridge.h"

enum { LIFT_MAX_DIMS = 12, LIFT_REASON = 160 };

// One element of a structured operation, as a tensor over the iteration space: what its body says of it.
typedef struct LiftElement {
  const void *value;
  bool is_number;
  double number;
  MirageDType dtype; // of a number
  MirageValue tensor;
  const struct LiftTest *test; // of a truth value
} LiftElement;

typedef enum {
  LIFT_COMPARES, // two numbers
  LIFT_POSITION, // an integer: start, and a step for each dimension
  LIFT_HOLDS,    // such an integer compared with 0
  LIFT_TRUTH,    // an i1 of the graph
  LIFT_AND,
  LIFT_OR,
  LIFT_NOT,
  LIFT_BIAS, // a number: 0 where `left` holds, -inf elsewhere
} LiftTestKind;

// A tensor of truth values or of positions, or one that is 0 or -inf: part of no graph, but what is made of it may be.
typedef struct LiftTest {
  LiftTestKind kind;
  bool whole_row;    // COMPARES: the rows of `a` are -inf throughout; otherwise element by element
  int32_t predicate; // COMPARES: of arith.cmpf
  LiftElement a, b;  // COMPARES
  MirageOp op;       // HOLDS
  int64_t start, steps[LIFT_MAX_DIMS];
  MirageValue tensor;                  // TRUTH: extents of the space, or 1
  const struct LiftTest *left, *right; // AND, OR, NOT, BIAS
  MirageDType dtype;                   // BIAS
} LiftTest;

// A tensor that is written piece by piece along one dimension, and not yet whole.
typedef struct LiftPieces {
  uint32_t dim, count;
  struct LiftPiece {
    int64_t begin, end;
    MirageValue value;
  } pieces[64];
} LiftPieces;

// What a value of the function is in the graph: a tensor, or a test, or pieces.
typedef struct LiftValue {
  const void *value; // MlirValue's pointer
  MirageValue lifted;
  const LiftTest *test;
  const LiftPieces *pieces;
} LiftValue;

typedef struct Lift {
  MirageUGraph *graph;
  MirageArena *arena;
  uint32_t count, room;
  LiftValue *values;
  // Whether two operations come to stand in the same graph; NULL: one operation alone is tried.
  bool (*together)(const void *user, MlirOperation a, MlirOperation b);
  const void *user;
  char reason[LIFT_REASON]; // why it failed
} Lift;

/// Lifts one operation: its operands' values have been bound, its results' are bound by it. False with a reason.
bool mirage__lift(Lift *lift, MlirOperation op);
/// Binds `value` to `lifted`; false when memory is out.
bool mirage__lift_bind(Lift *lift, MlirValue value, MirageValue lifted);
bool mirage__lift_bind_test(Lift *lift, MlirValue value, const LiftTest *test);
bool mirage__lift_bind_pieces(Lift *lift, MlirValue value, const LiftPieces *pieces);
/// What `value` was bound to, or NULL.
const LiftValue *mirage__lift_find(const Lift *lift, MlirValue value);
/// What truth values, positions or a bias `value` was bound to, also an i1 from outside, or NULL.
const LiftTest *mirage__lift_find_test(Lift *lift, MlirValue value);
/// The tensor that `value` was bound to, or is by its definition (a constant, a filled tensor); {0} with a reason otherwise.
MirageValue mirage__lift_value(Lift *lift, MlirValue value);
/// Whether an operation adds up products of i8 in i32, as matmul of bytes does, and the product in its body (lift_product.c).
bool mirage__lift_adds_bytes(MlirOperation op, MlirValue *out_product);
/// The type of a value that may come out of a graph: of floating-point numbers, or such a sum.
bool mirage__lift_outer_type(MlirValue value, MirageType *out);
/// Whether no graph can hold the value, so that who uses it has to know what made it: truth values, and what is written
/// piece by piece.
bool mirage__lift_is_virtual(MlirValue value);

/// Formats the reason and returns false.
__attribute__((format(printf, 2, 3))) bool mirage__lift_fail(Lift *lift, const char *format, ...);

/// A diagnostic sink whose user is a Lift: an error of the builder is its reason.
void mirage__lift_keep_message(void *lift, MirageSeverity severity, const void *loc, const char *message);

/// A value whose elements are all the same number, by its definition: constants, linalg.fill of one.
bool mirage__lift_splat(MlirValue value, double *out_value);
/// Whether nobody has written to the tensor: tensor.empty.
bool mirage__lift_is_empty(MlirValue value);
/// Whether the operation only makes such a value: it is no part's own, and lifted wherever it is needed.
bool mirage__lift_is_source(MlirOperation op);
/// A constant attribute's number: a float, an integer, or a splat of one.
bool mirage__lift_number(MlirAttribute attribute, double *out_value);

bool mirage__lift_structured(Lift *lift, MlirOperation op);
bool mirage__lift_concat(Lift *lift, MlirOperation op);
bool mirage__lift_insert(Lift *lift, MlirOperation op);
/// A structured operation whose body reads the pieces of a concatenation by index.
bool mirage__lift_is_indexed_concat(MlirOperation op);
bool mirage__lift_indexed_concat(Lift *lift, MlirOperation op);
bool mirage__lift_is_structured(MlirOperation op);
/// Whether a structured operation's body has a select.
bool mirage__lift_has_choice(MlirOperation op);
/// 2 for products and reductions, 1 for arithmetic, 0 for what moves data.
uint32_t mirage__lift_weight(MlirOperation op);

// The box that a slice operation names; steps of 1 only.
typedef struct LiftSlice {
  uint32_t rank;
  int64_t offsets[MIRAGE_MAX_RANK], sizes[MIRAGE_MAX_RANK];
} LiftSlice;
bool mirage__lift_read_slice(Lift *lift, MlirOperation op, const MirageType *whole, LiftSlice *out);
/// The type of a result; false with a reason.
bool mirage__lift_result_type(Lift *lift, MlirOperation op, MirageType *out_type);

// Short forms over the builder; types by inference.
MirageValue mirage__lift_unary(Lift *lift, MirageOp op, MirageValue a);
MirageValue mirage__lift_binary(Lift *lift, MirageOp op, MirageValue a, MirageValue b);
MirageValue mirage__lift_cast(Lift *lift, MirageValue a, MirageDType dtype);
MirageValue mirage__lift_reshape(Lift *lift, MirageValue a, uint32_t rank, const int64_t *shape);
MirageValue mirage__lift_transpose(Lift *lift, MirageValue a, const int32_t *perm);
MirageValue mirage__lift_broadcast(Lift *lift, MirageValue a, uint32_t rank, const int64_t *shape);
MirageValue mirage__lift_slice(Lift *lift, MirageValue a, uint32_t dim, int64_t begin, int64_t end);
MirageValue mirage__lift_constant(Lift *lift, MirageDType dtype, uint32_t rank, double value);

// The body of a structured operation.
typedef struct LiftBody {
  Lift *lift;
  MlirBlock block;
  uint32_t rank;             // of the iteration space
  uint32_t num_inputs;       // the block's first arguments; the others are outputs
  const MirageValue *inputs; // lifted to the iteration space: extents of it, or 1
  const int64_t *extents;    // of the space
  const int32_t *space;      // which of its dimensions each of the operation's is, or -1; NULL: it has none
  uint32_t depth;            // of operators that ask for their operands
  uint32_t count;            // of elements below
  LiftElement values[96];
} LiftBody;

/// The element `value` as a tensor over the iteration space, a number or a test.
bool mirage__lift_element(LiftBody *body, MlirValue value, LiftElement *out);
/// The same as a tensor, whatever it is.
MirageValue mirage__lift_tensor(LiftBody *body, MlirValue value);
/// Whether a body may have the operation: it computes with scalars, or with whole tensors element by element.
bool mirage__lift_is_scalar(MlirOperation op);
/// Such an operation on whole tensors of that shape.
bool mirage__lift_whole(Lift *lift, MlirOperation op, const MirageType *shape, LiftElement *out);
/// A tensor, or a number, as a tensor.
MirageValue mirage__lift_as_tensor(LiftBody *body, const LiftElement *element);
/// arith.cmpf, and the negation of a test: a test.
bool mirage__lift_compare(LiftBody *body, MlirOperation op, LiftElement *out);
bool mirage__lift_negate_test(LiftBody *body, MlirOperation op, LiftElement *out);
/// arith.select, where the choice is a maximum, a minimum or something else that operators say.
bool mirage__lift_choose(LiftBody *body, MlirOperation op, LiftElement *out);
// How truth values and positions move from one space of indices to another.
typedef struct LiftMove {
  Lift *lift;
  MirageValue (*stretched)(void *user, MirageValue tensor); // to the full extents
  MirageValue (*tensor)(void *user, MirageValue tensor);    // extents of 1 stay
  void (*steps)(void *user, const int64_t *from, int64_t *out_steps);
  void *user;
} LiftMove;
/// The test over another space; NULL when memory is out.
const LiftTest *mirage__lift_move_test(const LiftMove *move, const LiftTest *test);
bool mirage__lift_is_truth_type(MlirType type);
/// Integers that positions are counted in: index, i32, i64.
bool mirage__lift_is_position_type(MlirType type);
/// A constant of integers, of that shape, whose elements are a number and a step for each dimension; NULL for others.
const LiftTest *mirage__lift_constant_positions(Lift *lift, MlirValue value, const MirageType *shape);
/// Operations on positions, and the logic of masks.
bool mirage__lift_is_integer_op(MlirOperation op);
bool mirage__lift_integer_op(LiftBody *body, MlirOperation op, LiftElement *out);
/// Whether a number compares with 0 like that.
bool mirage__lift_compare_with_zero(MirageOp op, int64_t number);
/// Whether the test is made of positions and of masks from outside.
bool mirage__lift_is_mask(const LiftTest *test);
/// Such a test as a tensor of i1.
bool mirage__lift_predicate(LiftBody *body, const LiftTest *test, MirageValue *out);
/// sitofp and uitofp of a mask, of positions, of a stored type.
bool mirage__lift_number_of(LiftBody *body, const LiftElement *of, MirageDType dtype, LiftElement *out);
/// A LIFT_BIAS as a tensor.
MirageValue mirage__lift_bias(LiftBody *body, const LiftTest *test);
/// The sum of a LIFT_BIAS and a tensor: that, masked. False, without a reason, where neither is one.
bool mirage__lift_add_bias(LiftBody *body, const LiftElement elements[2], LiftElement *out);
/// A softmax of rows that may be masked wholly: 0 there. `masked`: the scores; `softmax`: the quotient by the row's sum. False,
/// without a reason, where it is not of that form or every row sees something: then it is right as it is.
bool mirage__lift_empty_rows(Lift *lift, MirageValue masked, MirageValue softmax, LiftElement *out);
bool mirage__lift_choose_by_mask(LiftBody *body, const LiftTest *mask, const LiftElement *yes, const LiftElement *no,
                                 MirageDType dtype, LiftElement *out);
/// Whether the test asks for -inf.
bool mirage__lift_asks_for_bottom(const LiftTest *test);
/// The operator on tensors behind "arith.addf" and its like, over a type's elements; MIRAGE_OP_NONE for others.
MirageOp mirage__lift_operator(MlirStringRef name, uint32_t *out_operands);

bool mirage__lift_is_math(MlirOperation op);

/// The element type of an input: those below, stored types, i1 and i32.
bool mirage__lift_input_dtype(MlirType type, MirageDType *out);
bool mirage__lift_input_type(MlirType type, MirageType *out);
/// f16, bf16, f32, and f64 as f32: exporters compute statistics of f16 data in f64. False, and untouched, for other types.
bool mirage__lift_dtype(MlirType type, MirageDType *out);
/// The same of a static ranked tensor, as a graph holds it. One of f64 may be inside a part, and not at its border.
bool mirage__lift_type(MlirType type, MirageType *out);
/// The shape of a tensor of truth values, or of positions, as a type of f32.
bool mirage__lift_truth_type(MlirType type, MirageType *out);
bool mirage__lift_positions_type(MlirType type, MirageType *out);
bool mirage__lift_named(MlirOperation op, const char *name);
MlirStringRef mirage__lift_name(MlirOperation op);

#endif
