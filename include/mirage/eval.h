// eval.h - reference evaluation of a µGraph at all levels, in any number domain, by one traversal.
//
// A domain says what an element is (a double, a double rounded to the operator's real type, a pair of residues) and how
// the arithmetic operators act on arrays of elements. Everything else - loads with masked tails, loops and carries,
// collectives among blocks, transposes - is the same traversal for every domain (lib/eval/eval.c).
#ifndef MIRAGE_EVAL_H
#define MIRAGE_EVAL_H

#include "mirage/cancel.h"
#include "mirage/ugraph.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Neighbouring rows and columns of a matrix.
typedef struct MirageBox {
  size_t row, rows, column, columns;
} MirageBox;

/// Arithmetic on arrays of elements. `self` is the domain. Operand arrays are dense; every function may be called with
/// `out` equal to an operand array. Returns OK, UNSUPPORTED (no rule for the operator), or REDRAW (division by zero).
typedef struct MirageDomain MirageDomain;
struct MirageDomain {
  const char *name;
  size_t element_bytes;
  /// Element-wise; `result` is the operator's result type (for rounding).
  MirageStatus (*unary)(const MirageDomain *self, MirageOp op, const MirageType *result, size_t n, const void *a,
                        void *out);
  MirageStatus (*binary)(const MirageDomain *self, MirageOp op, const MirageType *result, size_t n, const void *a,
                         const void *b, void *out);
  /// out[m,n] = a[m,k] @ b[k,n] (+ c[m,n] when c is not NULL), all dense row-major.
  MirageStatus (*matmul)(const MirageDomain *self, const MirageType *result, size_t m, size_t n, size_t k,
                         const void *a, const void *b, const void *c, void *out);
  /// The same, but only the box of `out` is computed and written, so that threads may share a product; `turned`: b is
  /// [n,k]. NULL: only whole, and b is never turned.
  MirageStatus (*matmul_box)(const MirageDomain *self, const MirageType *result, size_t m, size_t n, size_t k,
                             const void *a, const void *b, bool turned, const void *c, void *out, const MirageBox *box);
  /// REDUCE_SUM or REDUCE_MAX over the middle axis: a[outer, n, inner] -> out[outer, inner].
  MirageStatus (*reduce)(const MirageDomain *self, MirageOp op, const MirageType *result, size_t outer, size_t n,
                         size_t inner, const void *a, void *out);
  /// Fills n elements with a constant, or with bottom.
  MirageStatus (*constant)(const MirageDomain *self, const MirageType *result, size_t n, double value, void *out);
  MirageStatus (*bottom)(const MirageDomain *self, size_t n, void *out);
  /// Conversion to `result`'s element type (identity where that has no meaning).
  MirageStatus (*cast)(const MirageDomain *self, const MirageType *result, size_t n, const void *a, void *out);

  /// For a domain that remembers what it has met (lib/field/field_work.c); all NULL: several threads may use the domain
  /// itself. A child is for one thread, and reads its parent, which must rest meanwhile.
  MirageStatus (*fork)(const MirageDomain *self, const MirageDomain **out_child);
  /// Others will read these elements: what the child knows of them stays known. `maxima`: some will take a maximum.
  MirageStatus (*keep)(const MirageDomain *child, size_t n, const void *elements, bool maxima);
  /// A piece of work has ended: all that is not kept is forgotten.
  void (*end)(const MirageDomain *child);
  /// Destroys a child; `take`: `self` takes over what it kept. The children's order makes no difference.
  MirageStatus (*join)(const MirageDomain *self, const MirageDomain *child, bool take);
};

/// Elements are doubles; casts and element types are ignored: the meaning of the program in the reals.
const MirageDomain *mirage_domain_f64(void);
/// Elements are doubles that every operator rounds to its result's element type; matmul and sums accumulate in float.
const MirageDomain *mirage_domain_real(void);

/// Large arrays that evaluations have done with, kept for others: memory taken anew has to be cleared first. At most `most_bytes`
/// of them (0 = 2 GiB) beside what is in use. Any number of evaluations may share one, at the same time too. NULL: memory is short.
typedef struct MirageEvalMemory MirageEvalMemory;
MirageEvalMemory *mirage_eval_memory_create(size_t most_bytes);
void mirage_eval_memory_destroy(MirageEvalMemory *memory);       // when all these have ended; NULL is nothing
size_t mirage_eval_memory_bytes(const MirageEvalMemory *memory); // kept while none of them runs
/// An array as malloc gives it (NULL: memory is short), of inputs and outputs, say; and back, with the bytes that it was taken
/// with. `memory` NULL: malloc and free.
void *mirage_eval_memory_take(MirageEvalMemory *memory, size_t bytes);
void mirage_eval_memory_give(MirageEvalMemory *memory, void *data, size_t bytes);

typedef struct MirageEvalOptions {
  size_t max_bytes;           // refuse (LIMIT) before memory in use exceeds this; 0 = 8 GiB
  uint32_t num_threads;       // 0 = 1; the result does not depend on it, bit by bit
  const MirageCancel *cancel; // asked at least ten times a second; NULL = nobody
  MirageEvalMemory *memory;   // NULL = nothing is kept
  bool keep_maxima;           // outputs will be arguments of maxima in further evaluations of the same field
} MirageEvalOptions;

/// Evaluates the graph.
///
/// Shapes:  inputs[i] is dense, row-major, of input i's shape, element_bytes per element; outputs[i] likewise, caller's
///          storage, fully overwritten.
/// Blocks:  those of one cluster, and all that a grid collective joins, run in lock step; others one after the other.
/// Errors:  UNSUPPORTED with the operator named; REDRAW from the domain; LIMIT; NO_MEMORY.
/// Threads: safe on graphs that nobody is building.
/// Source:  [Mirage 2, 5]
MirageStatus mirage_eval(const MirageUGraph *graph, const MirageDomain *domain, const void *const *inputs,
                         void *const *outputs, const MirageEvalOptions *options, const MirageDiag *diag);

/// Rounds to the element type, to nearest even: to the nearest number of a stored type, with overflow to infinity of others.
double mirage_round_to(MirageDType dtype, double value);
/// The same of n numbers, in place, and several at a time.
void mirage_round_array(MirageDType dtype, size_t n, double *values);
/// Tensors as device memory holds them, mirage_type_bytes long, from and to numbers. Numbers are rounded.
void mirage_tensor_pack(const MirageType *tensor, const double *values, void *bytes);
void mirage_tensor_unpack(const MirageType *tensor, const void *bytes, double *values);
/// Bit patterns of f16 / bf16.
uint16_t mirage_f16_from_double(double value);
double mirage_f16_to_double(uint16_t bits);
uint16_t mirage_bf16_from_double(double value);
double mirage_bf16_to_double(uint16_t bits);

/// Frobenius norm of (a - reference) over that of reference, and the largest absolute difference. NaN or inf in `a` gives
/// infinity. `n` elements.
void mirage_compare(const double *a, const double *reference, size_t n, double *out_relative, double *out_max_abs);

#ifdef __cplusplus
}
#endif
#endif
