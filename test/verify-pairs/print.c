// print.c - a program as text, in the syntax of the dialects, so that what is printed can be read again by the tools.
#include "program.h"

#include <math.h>

typedef struct Printer {
  const Program *p;
  const char *dtype;
  FILE *to;
  int indent;
} Printer;

static bool is_tensor(const Printer *printer, int i) {
  Op op = printer->p->instr[i].op;
  int loops[MAX_DEPTH], kernel;
  enclosing(printer->p, i, loops, &kernel);
  return kernel < 0 || op == OP_OUTPUT;
}

// Tiles are f32, but those that are loaded, or moved since, have the tensors' type.
static const char *dtype_of(const Printer *printer, int i) {
  const Instr *at = &printer->p->instr[i];
  if (is_tensor(printer, i) || at->op == OP_LOAD)
    return printer->dtype;
  bool moved = at->op == OP_BROADCAST || at->op == OP_REPEAT || at->op == OP_TRANSPOSE || at->op == OP_RESHAPE ||
               at->op == OP_SLICE || at->op == OP_CONCAT;
  return moved ? dtype_of(printer, at->args[0]) : "f32";
}

static void print_type(const Printer *printer, int i) {
  const Shape *shape = &printer->p->instr[i].shape;
  fprintf(printer->to, is_tensor(printer, i) ? "tensor<" : "!mirage_block.tile<");
  for (int d = 0; d < shape->rank; d++)
    fprintf(printer->to, "%ldx", (long)shape->n[d]);
  fprintf(printer->to, "%s>", dtype_of(printer, i));
}

static void print_types(const Printer *printer, const int *values, int count) {
  for (int i = 0; i < count; i++) {
    fprintf(printer->to, i ? ", " : "");
    print_type(printer, values[i]);
  }
}

static void print_values(const Printer *printer, const int *values, int count) {
  for (int i = 0; i < count; i++)
    fprintf(printer->to, "%s%%%d", i ? ", " : "", values[i]);
}

static void print_access(const Printer *printer, const Instr *at) {
  const Access *access = &at->at;
  static const char *const fills[] = {"zero", "one", "bottom"};
  int rank = printer->p->instr[at->args[at->op == OP_STORE]].shape.rank, windows = 0;
  fprintf(printer->to, " {grid = [%d, %d, %d], loop = [%d, %d, %d, %d]", access->grid[0], access->grid[1],
          access->grid[2], access->loop[0], access->loop[1], access->loop[2], access->loop[3]);
  for (int d = 0; d < rank; d++)
    windows += access->end[d] != 0;
  for (int pass = 0; pass < 3; pass++) {
    if (pass == 0 ? !access->reordered : !windows)
      continue;
    fprintf(printer->to, pass == 0 ? ", order = [" : pass == 1 ? ", begin = [" : ", end = [");
    for (int d = 0; d < rank; d++)
      fprintf(printer->to, "%s%ld", d ? ", " : "",
              pass == 0   ? (long)access->order[d]
              : pass == 1 ? (long)(access->end[d] ? access->begin[d] : 0)
                          : (long)access->end[d]);
    fprintf(printer->to, "]");
  }
  if (access->cyclic && may_cycle(access))
    fprintf(printer->to, ", cyclic");
  fprintf(printer->to, at->op == OP_LOAD ? ", fill = %s}" : "}", fills[access->fill]);
}

static void print_kernel(Printer *printer, int i) {
  const Program *p = printer->p;
  int end = bracket_end(p, i), loads[MAX_INSTRS], outputs[MAX_INSTRS], num_loads = 0, num_outputs = 0;
  const Instr *at = &p->instr[i];
  for (int k = i; k < end; k++) {
    bool seen = false;
    for (int l = 0; l < num_loads; l++)
      seen |= loads[l] == p->instr[k].args[0];
    if (p->instr[k].op == OP_LOAD && !seen)
      loads[num_loads++] = p->instr[k].args[0];
    if (p->instr[k].op == OP_OUTPUT)
      outputs[num_outputs++] = k;
  }
  for (int o = 0; o < num_outputs; o++)
    fprintf(printer->to, "%s%%r%d", o ? ", " : "", outputs[o]);
  fprintf(printer->to, " = custom (");
  for (int l = 0; l < num_loads; l++)
    fprintf(printer->to, "%s%%t%d = %%%d", l ? ", " : "", loads[l], loads[l]);
  fprintf(printer->to, ") outs(");
  print_values(printer, outputs, num_outputs);
  fprintf(printer->to, ") grid [%ld, %ld, %ld] cluster [%ld, %ld, %ld]\n      : (", (long)at->grid[0],
          (long)at->grid[1], (long)at->grid[2], (long)at->cluster[0], (long)at->cluster[1], (long)at->cluster[2]);
  print_types(printer, loads, num_loads);
  fprintf(printer->to, ") -> (");
  print_types(printer, outputs, num_outputs);
  fprintf(printer->to, ") {\n");
}

static void print_loop(const Printer *printer, int i) {
  static const char *const combines[] = {"sum", "max", "rescale", "concat", "assign"};
  const Instr *at = &printer->p->instr[i];
  int end = bracket_end(printer->p, i);
  for (int c = 0; c < at->num_args; c++)
    fprintf(printer->to, "%s%%%d", c ? ", " : "", end + 1 + c);
  fprintf(printer->to, "%sloop %ld%s", at->num_args ? " = " : "", (long)at->extent, at->num_args ? " (" : "");
  for (int c = 0; c < at->num_args; c++) {
    fprintf(printer->to, "%s%%%d = %%%d %s", c ? ", " : "", i + 1 + c, at->args[c], combines[at->combine[c]]);
    if (at->combine[c] == COMBINE_CONCAT)
      fprintf(printer->to, "(%d)", at->combine_dim[c]);
  }
  fprintf(printer->to, at->num_args ? ") : " : "");
  print_types(printer, at->args, at->num_args);
  fprintf(printer->to, " {\n");
}

static void print_yield(const Printer *printer, int i) {
  const Instr *at = &printer->p->instr[i];
  int open = i;
  while (printer->p->instr[open].op != OP_LOOP || bracket_end(printer->p, open) != i)
    open--;
  int carries = printer->p->instr[open].num_args;
  fprintf(printer->to, "  yield ");
  print_values(printer, at->args, carries);
  if (at->num_args > carries) {
    fprintf(printer->to, " rescale ");
    print_values(printer, at->args + carries, at->num_args - carries);
  }
  fprintf(printer->to, " : ");
  print_types(printer, at->args, at->num_args);
  fprintf(printer->to, "\n");
}

static void print_attrs(const Printer *printer, const Instr *at) {
  FILE *to = printer->to;
  switch (at->op) {
  case OP_SUM:
  case OP_TOP:
  case OP_MEAN:
    fprintf(to, " {dim = %d, extent = %ld}", at->dim, (long)at->extent);
    break;
  case OP_MATMUL:
    if (at->ta || at->tb)
      fprintf(to, " {%s%s%s}", at->ta ? "transpose_a" : "", at->ta && at->tb ? ", " : "", at->tb ? "transpose_b" : "");
    break;
  case OP_REPEAT:
    fprintf(to, " {dim = %d, times = %ld}", at->dim, (long)at->extent);
    break;
  case OP_TRANSPOSE:
    fprintf(to, " {perm = [");
    for (int d = 0; d < at->shape.rank; d++)
      fprintf(to, "%s%d", d ? ", " : "", at->perm[d]);
    fprintf(to, "]}");
    break;
  case OP_SLICE:
    fprintf(to, " {dim = %d, begin = %ld, end = %ld}", at->dim, (long)at->begin, (long)at->end);
    break;
  case OP_CONCAT:
  case OP_SOFTMAX:
    fprintf(to, " {dim = %d}", at->dim);
    break;
  case OP_RMS_NORM:
    fprintf(to, " {eps = %.17e}", at->value);
    break;
  case OP_GATHER_SUM:
  case OP_GATHER_MAX:
    fprintf(to, " {axes = [");
    for (int axis = 0, any = 0; axis < 3; axis++)
      if (at->axes[axis])
        fprintf(to, "%s%d", any++ ? ", " : "", axis);
    fprintf(to, "]}");
    break;
  default:
    break;
  }
}

static void print_plain(const Printer *printer, int i) {
  const Instr *at = &printer->p->instr[i];
  FILE *to = printer->to;
  fprintf(to, "%%%d = ", i);
  if (at->op == OP_CONST || at->op == OP_BOTTOM) {
    if (at->op == OP_CONST)
      fprintf(to, "constant %.17e : ", at->value);
    else
      fprintf(to, "bottom : ");
    print_type(printer, i);
    fprintf(to, "\n");
    return;
  }
  if (at->op == OP_GATHER_SUM || at->op == OP_GATHER_MAX)
    fprintf(to, at->in_cluster ? "cluster_" : "grid_");
  fprintf(to, "%s ", op_name(at->op));
  print_values(printer, at->args, at->num_args);
  print_attrs(printer, at);
  fprintf(to, " : ");
  print_types(printer, at->args, at->num_args);
  if (at->op == OP_BROADCAST || at->op == OP_RESHAPE) {
    fprintf(to, " -> ");
    print_type(printer, i);
  }
  fprintf(to, "\n");
}

static void print_one(Printer *printer, int i) {
  const Instr *at = &printer->p->instr[i];
  FILE *to = printer->to;
  switch (at->op) {
  case OP_INPUT:
  case OP_CARRY:
  case OP_LOOP_RESULT:
  case OP_OUTPUT:
    return;
  case OP_END_KERNEL:
  case OP_END_LOOP:
    printer->indent -= 2;
    break;
  default:
    break;
  }
  if (at->op != OP_END_LOOP || at->num_args) // a loop without carries ends without a yield
    fprintf(to, "%*s", printer->indent, "");
  switch (at->op) {
  case OP_KERNEL:
    print_kernel(printer, i);
    printer->indent += 2;
    break;
  case OP_LOOP:
    print_loop(printer, i);
    printer->indent += 2;
    break;
  case OP_END_LOOP:
    if (at->num_args)
      print_yield(printer, i);
    fprintf(to, "%*s}\n", printer->indent, "");
    break;
  case OP_END_KERNEL:
    fprintf(to, "}\n");
    break;
  case OP_KERNEL_RESULT: // its own name
    fprintf(to, "%%%d = reshape %%r%d : ", i, at->args[0]);
    print_type(printer, i);
    fprintf(to, " -> ");
    print_type(printer, i);
    fprintf(to, "\n");
    break;
  case OP_LOAD:
    fprintf(to, "%%%d = load %%t%d", i, at->args[0]);
    print_access(printer, at);
    fprintf(to, " : ");
    print_type(printer, at->args[0]);
    fprintf(to, " -> ");
    print_type(printer, i);
    fprintf(to, "\n");
    break;
  case OP_STORE:
    fprintf(to, "store %%%d, %%%d", at->args[0], at->args[1]);
    print_access(printer, at);
    fprintf(to, " : ");
    print_types(printer, at->args, 2);
    fprintf(to, "\n");
    break;
  default:
    print_plain(printer, i);
    break;
  }
}

void print_program(const Program *p, const char *name, const char *dtype, FILE *to) {
  Printer printer = {.p = p, .dtype = dtype, .to = to, .indent = 2};
  fprintf(to, "mirage_kernel.graph @%s(", name);
  for (int i = 0, any = 0; i < p->num; i++)
    if (p->instr[i].op == OP_INPUT) {
      fprintf(to, "%s%%%d: ", any++ ? ", " : "", i);
      print_type(&printer, i);
    }
  fprintf(to, ") -> (");
  print_types(&printer, p->outputs, p->num_outputs);
  fprintf(to, ") {\n");
  for (int i = 0; i < p->num; i++)
    print_one(&printer, i);
  fprintf(to, "  return ");
  print_values(&printer, p->outputs, p->num_outputs);
  fprintf(to, " : ");
  print_types(&printer, p->outputs, p->num_outputs);
  fprintf(to, "\n}\n");
}
