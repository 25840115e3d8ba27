// program.c - building and reading lists of instructions (program.h).
#include "program.h"

#include <stddef.h>
#include <string.h>

const char *op_name(Op op) {
  static const char *const names[NUM_OPS] = {
#define PAIRS_NAME(name, text, operands) text,
      PAIRS_OPS(PAIRS_NAME)
#undef PAIRS_NAME
  };
  return names[op];
}

int64_t elements(const Shape *shape) {
  int64_t count = 1;
  for (int d = 0; d < shape->rank; d++)
    count *= shape->n[d];
  return count;
}

bool same_shape(const Shape *a, const Shape *b) {
  bool same = a->rank == b->rank;
  for (int d = 0; same && d < a->rank; d++)
    same = a->n[d] == b->n[d];
  return same;
}

Shape shape_of(int rank, const int64_t *n) {
  Shape shape = {.rank = rank};
  for (int d = 0; d < rank; d++)
    shape.n[d] = n[d];
  return shape;
}

// ------------------------------------------------------------------------------------------------------------ building

void clear_program(Program *p) { memset(p, 0, offsetof(Program, instr)); }

void copy_program(Program *to, const Program *from) {
  memcpy(to, from, offsetof(Program, instr) + (size_t)from->num * sizeof(Instr));
}

int put(Program *p, const Instr *instr) {
  if (p->num == MAX_INSTRS) {
    p->full = true;
    return MAX_INSTRS - 1;
  }
  p->instr[p->num] = *instr;
  return p->num++;
}

int put_input(Program *p, Shape shape) { return put(p, &(Instr){.op = OP_INPUT, .shape = shape}); }

int put_const(Program *p, Shape shape, double value) {
  return put(p, &(Instr){.op = OP_CONST, .shape = shape, .value = value});
}

int put_scalar(Program *p, int rank, double value) {
  Shape shape = {.rank = rank};
  for (int d = 0; d < rank; d++)
    shape.n[d] = 1;
  return put_const(p, shape, value);
}

int put1(Program *p, Op op, int a) { return put(p, &(Instr){.op = op, .num_args = 1, .args = {a}}); }

int put2(Program *p, Op op, int a, int b) { return put(p, &(Instr){.op = op, .num_args = 2, .args = {a, b}}); }

int put_reduce(Program *p, Op op, int a, int dim) {
  return put(p, &(Instr){.op = op, .num_args = 1, .args = {a}, .dim = dim, .extent = 1});
}

int put_reshape(Program *p, Op op, int a, Shape shape) {
  return put(p, &(Instr){.op = op, .num_args = 1, .args = {a}, .shape = shape});
}

int put_slice(Program *p, int a, int dim, int64_t begin, int64_t end) {
  return put(p, &(Instr){.op = OP_SLICE, .num_args = 1, .args = {a}, .dim = dim, .begin = begin, .end = end});
}

int put_concat(Program *p, int a, int b, int dim) {
  return put(p, &(Instr){.op = OP_CONCAT, .num_args = 2, .args = {a, b}, .dim = dim});
}

int put_transpose(Program *p, int a, int d0, int d1) {
  Instr instr = {.op = OP_TRANSPOSE, .num_args = 1, .args = {a}};
  for (int d = 0; d < MAX_DIMS; d++)
    instr.perm[d] = d == d0 ? d1 : d == d1 ? d0 : d;
  return put(p, &instr);
}

Access whole(void) {
  Access access = {.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}};
  for (int d = 0; d < MAX_DIMS; d++)
    access.order[d] = d;
  return access;
}

// ------------------------------------------------------------------------------------------------------------- reading

int bracket_end(const Program *p, int at) {
  int depth = 0;
  for (int i = at; i < p->num; i++) {
    Op op = p->instr[i].op;
    depth += op == OP_KERNEL || op == OP_LOOP;
    depth -= op == OP_END_KERNEL || op == OP_END_LOOP;
    if (depth == 0)
      return i;
  }
  return -1;
}

static void need_kernel(const Program *p, int kernel, int end, bool *needed) {
  bool any = false;
  for (int i = kernel; i < end; i++)
    any |= p->instr[i].op == OP_OUTPUT && needed[i];
  needed[kernel] = any;
  for (int i = kernel; i < end && any; i++)
    for (int a = 0; a < p->instr[i].num_args; a++)
      needed[p->instr[i].args[a]] = true;
}

void find_needed(const Program *p, bool needed[MAX_INSTRS]) {
  memset(needed, 0, MAX_INSTRS * sizeof *needed);
  for (int o = 0; o < p->num_outputs; o++)
    needed[p->outputs[o]] = true;
  for (int i = p->num - 1, end = 0; i >= 0; i--) {
    const Instr *at = &p->instr[i];
    end = at->op == OP_END_KERNEL ? i : end;
    if (at->op == OP_KERNEL)
      need_kernel(p, i, end, needed);
    for (int a = 0; a < at->num_args && needed[i]; a++)
      needed[at->args[a]] = true;
  }
}

int enclosing(const Program *p, int at, int loops[MAX_DEPTH], int *out_kernel) {
  int depth = 0;
  *out_kernel = -1;
  for (int i = 0; i < at; i++) {
    Op op = p->instr[i].op;
    if (op == OP_KERNEL)
      *out_kernel = i;
    if (op == OP_END_KERNEL)
      *out_kernel = -1;
    if (op == OP_LOOP && depth < MAX_DEPTH)
      loops[depth++] = i;
    if (op == OP_END_LOOP)
      depth--;
  }
  return depth;
}

static bool is_rational_op(Op op) {
  switch (op) {
  case OP_BOTTOM:
  case OP_EXP:
  case OP_LOG:
  case OP_SQRT:
  case OP_RSQRT:
  case OP_SIGMOID:
  case OP_SILU:
  case OP_GELU:
  case OP_GELU_TANH:
  case OP_ERF:
  case OP_TANH:
  case OP_RELU:
  case OP_MAX:
  case OP_MIN:
  case OP_TOP:
  case OP_SOFTMAX:
  case OP_RMS_NORM:
  case OP_GATHER_MAX:
    return false;
  default:
    return true;
  }
}

bool may_cycle(const Access *access) {
  bool both = false;
  for (int axis = 0; axis < 3; axis++)
    for (int l = 0; l < MAX_DEPTH; l++)
      both |= access->grid[axis] >= 0 && access->grid[axis] == access->loop[l];
  return both;
}

bool is_rational(const Program *p) {
  bool rational = true;
  for (int i = 0; i < p->num; i++) {
    const Instr *at = &p->instr[i];
    rational &= is_rational_op(at->op) && !(at->op == OP_LOAD && at->at.fill == FILL_BOTTOM);
    for (int c = 0; at->op == OP_LOOP && c < at->num_args; c++)
      rational &= at->combine[c] != COMBINE_MAX;
  }
  return rational;
}

double work_of(const Program *p) {
  double total = 0, times = 1, saved[MAX_DEPTH + 2];
  int depth = 0;
  for (int i = 0; i < p->num; i++) {
    const Instr *at = &p->instr[i];
    double count = (double)elements(&at->shape);
    if (at->op == OP_KERNEL || at->op == OP_LOOP) {
      saved[depth++] = times;
      times *= at->op == OP_LOOP ? (double)at->extent : (double)(at->grid[0] * at->grid[1] * at->grid[2]);
    } else if (at->op == OP_END_KERNEL || at->op == OP_END_LOOP) {
      times = saved[--depth];
    } else if (at->op == OP_MATMUL) {
      const Shape *a = &p->instr[at->args[0]].shape;
      count *= (double)a->n[a->rank - 1 - at->ta];
    } else if (at->num_args > 0 && at->op != OP_LOAD && at->op != OP_STORE) {
      double from = (double)elements(&p->instr[at->args[0]].shape);
      count = count > from ? count : from;
    }
    total += count * times;
  }
  return total;
}
