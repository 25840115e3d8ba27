// program.h - the programs that pairs are made of: a flat list of instructions with kernels and loops as brackets.
//
// It is a description of its own: the judge evaluates it, and emit.c hands the same list to the µGraph builder.
// Instruction i defines value i. Brackets nest:
//
//   KERNEL .. OUTPUT* .. [LOOP  CARRY*  ..  END_LOOP(contributions.., factors..)  LOOP_RESULT*] .. STORE .. END_KERNEL
//   KERNEL_RESULT*
//
// Values between KERNEL and END_KERNEL are tiles, one for each block; the others are tensors. Only infer (infer.c)
// fills shapes, so that whoever changes an instruction calls it again and sees whether the list still is a program.
#ifndef PAIRS_PROGRAM_H
#define PAIRS_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { MAX_DIMS = 6, MAX_INSTRS = 320, MAX_ARGS = 8, MAX_DEPTH = 4, MAX_OUTPUTS = 4 };

// OP(NAME, "mnemonic of the dialects", operands)
#define PAIRS_OPS(OP)                                                                                                  \
  OP(INPUT, "input", 0)                                                                                                \
  OP(CONST, "constant", 0)                                                                                             \
  OP(BOTTOM, "bottom", 0)                                                                                              \
  OP(EXP, "exp", 1)                                                                                                    \
  OP(LOG, "log", 1)                                                                                                    \
  OP(SQRT, "sqrt", 1)                                                                                                  \
  OP(RSQRT, "rsqrt", 1)                                                                                                \
  OP(SQUARE, "square", 1)                                                                                              \
  OP(NEG, "neg", 1)                                                                                                    \
  OP(SIGMOID, "sigmoid", 1)                                                                                            \
  OP(SILU, "silu", 1)                                                                                                  \
  OP(GELU, "gelu", 1)                                                                                                  \
  OP(GELU_TANH, "gelu_tanh", 1)                                                                                        \
  OP(ERF, "erf", 1)                                                                                                    \
  OP(TANH, "tanh", 1)                                                                                                  \
  OP(RELU, "relu", 1)                                                                                                  \
  OP(ADD, "add", 2)                                                                                                    \
  OP(SUB, "sub", 2)                                                                                                    \
  OP(MUL, "mul", 2)                                                                                                    \
  OP(DIV, "div", 2)                                                                                                    \
  OP(MAX, "max", 2)                                                                                                    \
  OP(MIN, "min", 2)                                                                                                    \
  OP(MATMUL, "matmul", 2)                                                                                              \
  OP(SUM, "reduce_sum", 1)                                                                                             \
  OP(TOP, "reduce_max", 1)                                                                                             \
  OP(MEAN, "reduce_mean", 1)                                                                                           \
  OP(BROADCAST, "broadcast", 1)                                                                                        \
  OP(REPEAT, "repeat", 1)                                                                                              \
  OP(TRANSPOSE, "transpose", 1)                                                                                        \
  OP(RESHAPE, "reshape", 1)                                                                                            \
  OP(SLICE, "slice", 1)                                                                                                \
  OP(CONCAT, "concat", -1)                                                                                             \
  OP(SOFTMAX, "softmax", 1)                                                                                            \
  OP(RMS_NORM, "rms_norm", -1)                                                                                         \
  OP(KERNEL, "custom", 0)                                                                                              \
  OP(OUTPUT, "output", 0)                                                                                              \
  OP(LOAD, "load", 1)                                                                                                  \
  OP(STORE, "store", 2)                                                                                                \
  OP(GATHER_SUM, "sum", 1)                                                                                             \
  OP(GATHER_MAX, "max", 1)                                                                                             \
  OP(LOOP, "loop", -1)                                                                                                 \
  OP(CARRY, "carry", 1)                                                                                                \
  OP(END_LOOP, "yield", -1)                                                                                            \
  OP(LOOP_RESULT, "loop result", 1)                                                                                    \
  OP(END_KERNEL, "end", 0)                                                                                             \
  OP(KERNEL_RESULT, "kernel result", 1)

typedef enum Op {
#define PAIRS_ENUM(name, text, operands) OP_##name,
  PAIRS_OPS(PAIRS_ENUM)
#undef PAIRS_ENUM
      NUM_OPS
} Op;

typedef enum Fill { FILL_ZERO, FILL_ONE, FILL_BOTTOM } Fill;
typedef enum Combine { COMBINE_SUM, COMBINE_MAX, COMBINE_RESCALE, COMBINE_CONCAT, COMBINE_ASSIGN } Combine;

typedef struct Shape {
  int rank;
  int64_t n[MAX_DIMS];
} Shape;

/// How a tile lies in a tensor: which dimension each grid axis and each loop splits (-1: none), in which order the
/// tensor's dimensions are seen, and of which window; end 0 is all of it.
typedef struct Access {
  int grid[3], loop[MAX_DEPTH];
  int order[MAX_DIMS]; // dimension d of the tile is the tensor's order[d]
  bool reordered;
  int64_t begin[MAX_DIMS], end[MAX_DIMS];
  Fill fill;
  bool cyclic; // loops split a dimension before grid axes do
} Access;

/// Whether the grid and a loop split one dimension.
bool may_cycle(const Access *access);

typedef struct Instr {
  Op op;
  int args[MAX_ARGS], num_args;
  Shape shape;        // of the result; given for INPUT, CONST, BOTTOM, BROADCAST, RESHAPE and OUTPUT, else inferred
  double value;       // CONST; the epsilon of RMS_NORM
  int dim;            // SUM, TOP, MEAN, REPEAT, SLICE, CONCAT, SOFTMAX; which carry or result
  int64_t extent;     // what a reduction leaves; times of REPEAT; range of LOOP
  int64_t begin, end; // SLICE
  int perm[MAX_DIMS]; // TRANSPOSE: result dimension d is the operand's perm[d]
  bool ta, tb;        // MATMUL
  Access at;          // LOAD, STORE
  int64_t grid[3], cluster[3]; // KERNEL
  Combine combine[MAX_ARGS];   // LOOP, one a carry
  int combine_dim[MAX_ARGS];
  bool axes[3], in_cluster; // GATHER_*
} Instr;

typedef struct Program {
  int num;
  int num_outputs, outputs[MAX_OUTPUTS];
  bool full;               // more instructions were asked for than there is room
  Instr instr[MAX_INSTRS]; // the first `num`
} Program;

const char *op_name(Op op);
int64_t elements(const Shape *shape);
bool same_shape(const Shape *a, const Shape *b);
Shape shape_of(int rank, const int64_t *n);

// Builders append an instruction, without looking at shapes, and return its number.
int put(Program *p, const Instr *instr);
void clear_program(Program *p);
void copy_program(Program *to, const Program *from);
int put_input(Program *p, Shape shape);
int put_const(Program *p, Shape shape, double value);
int put_scalar(Program *p, int rank, double value); // a constant of extents 1
int put1(Program *p, Op op, int a);
int put2(Program *p, Op op, int a, int b);
int put_reduce(Program *p, Op op, int a, int dim);
int put_reshape(Program *p, Op op, int a, Shape shape); // RESHAPE or BROADCAST
int put_slice(Program *p, int a, int dim, int64_t begin, int64_t end);
int put_concat(Program *p, int a, int b, int dim);
int put_transpose(Program *p, int a, int d0, int d1); // exchanges two dimensions; shape of `a` must be known
Access whole(void);

/// Where the bracket that `at` opens ends (END_LOOP or END_KERNEL).
int bracket_end(const Program *p, int at);
/// Which instructions an output is computed from; a kernel is one of them with its results. What no output needs is
/// never run, whatever is wrong with it.
void find_needed(const Program *p, bool needed[MAX_INSTRS]);
/// How many loops enclose `at`, their instructions outermost first; *out_kernel is the kernel around it or -1.
int enclosing(const Program *p, int at, int loops[MAX_DEPTH], int *out_kernel);

/// Fills all shapes. False if some instruction does not fit, or a tile or tensor has more than `max_elements` over all
/// blocks.
bool infer(Program *p, int64_t max_elements);
/// Extents of the tile of an access into `tensor`.
bool tile_shape(const Program *p, int at, const Shape *tensor, Shape *out_tile);
/// Rough number of scalar operations of one evaluation.
double work_of(const Program *p);
bool is_rational(const Program *p);

/// Prints the program as a mirage_kernel.graph.
void print_program(const Program *p, const char *name, const char *dtype, FILE *to);

#endif
