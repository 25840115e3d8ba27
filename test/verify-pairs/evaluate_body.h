// evaluate_body.h - evaluation of a program over one kind of number; included by evaluate_*.c, which define
//
//   Num, EVALUATE, num_constant, num_bottom, num_unary, num_binary, num_fold (sum and maximum), num_fma, num_gap
//
// All blocks of a kernel run at once: a tile value is [blocks][elements], so that a collective is a reduction over the
// first axis and every block is at the same statement. A tensor is the same with one block.
#include "evaluate.h"

#include <stdlib.h>
#include <string.h>

typedef struct Run {
  const Program *p;
  int no_laws;
  Num *values[MAX_INSTRS];
  bool *stored[MAX_INSTRS];    // OUTPUT: which elements somebody has stored
  int32_t *writer[MAX_INSTRS]; // and which block
  int64_t iteration[MAX_DEPTH];
  int depth;
  int kernel; // -1 outside
  int64_t blocks;
  const Num *const *inputs;
  int next_input;
  double race; // the largest difference of what two blocks stored in one place
  Outcome outcome;
  bool needed[MAX_INSTRS];
} Run;

static const Shape *shape_at(const Run *run, int i) { return &run->p->instr[i].shape; }

static Num *storage(Run *run, int i) {
  if (!run->values[i])
    run->values[i] = malloc((size_t)(run->blocks * elements(shape_at(run, i))) * sizeof(Num));
  if (!run->values[i])
    run->outcome = OUT_OF_MEMORY;
  return run->values[i];
}

// Strides of `from` for each dimension of `to`, right-aligned; 0 where it stretches.
static void stretch_strides(const Shape *from, const Shape *to, int64_t *strides) {
  int64_t stride = 1;
  for (int d = to->rank - 1, f = from->rank - 1; d >= 0; d--, f--) {
    strides[d] = f < 0 || from->n[f] == 1 ? 0 : stride;
    stride *= f < 0 ? 1 : from->n[f];
  }
}

// out[..] = in[sum of index * stride + base], over `shape`.
static void gather(const Shape *shape, const int64_t *strides, const Num *in, Num *out) {
  int64_t index[MAX_DIMS] = {0}, at = 0;
  for (int64_t i = 0, n = elements(shape); i < n; i++) {
    out[i] = in[at];
    for (int d = shape->rank - 1; d >= 0; d--) {
      at += strides[d];
      if (++index[d] < shape->n[d])
        break;
      at -= strides[d] * shape->n[d];
      index[d] = 0;
    }
  }
}

static void binary_block(Op op, const Shape *shape, const int64_t *sa, const int64_t *sb, const Num *a, const Num *b,
                         Num *out, int no_laws) {
  int last = shape->rank - 1;
  int64_t inner = shape->rank ? shape->n[last] : 1, outer = elements(shape) / inner, index[MAX_DIMS] = {0};
  int64_t da = shape->rank ? sa[last] : 0, db = shape->rank ? sb[last] : 0, ia = 0, ib = 0;
  for (int64_t o = 0; o < outer; o++) {
    num_binary(op, inner, a + ia, da, b + ib, db, out + o * inner, no_laws);
    for (int d = last - 1; d >= 0; d--) {
      ia += sa[d];
      ib += sb[d];
      if (++index[d] < shape->n[d])
        break;
      ia -= sa[d] * shape->n[d];
      ib -= sb[d] * shape->n[d];
      index[d] = 0;
    }
  }
}

static void run_binary(Run *run, const Instr *at, Num *out) {
  int64_t sa[MAX_DIMS], sb[MAX_DIMS], n = elements(&at->shape);
  const Shape *a = shape_at(run, at->args[0]), *b = shape_at(run, at->args[1]);
  stretch_strides(a, &at->shape, sa);
  stretch_strides(b, &at->shape, sb);
  for (int64_t block = 0; block < run->blocks; block++)
    binary_block(at->op, &at->shape, sa, sb, run->values[at->args[0]] + block * elements(a),
                 run->values[at->args[1]] + block * elements(b), out + block * n, run->no_laws);
}

static void run_matmul(Run *run, const Instr *at, Num *out) {
  const Shape *a = shape_at(run, at->args[0]), *b = shape_at(run, at->args[1]), *y = &at->shape;
  int64_t m = y->n[y->rank - 2], n = y->n[y->rank - 1], k = a->n[a->rank - 1 - at->ta], sa[MAX_DIMS], sb[MAX_DIMS];
  int64_t a_row = at->ta ? 1 : k, a_col = at->ta ? m : 1, b_row = at->tb ? 1 : n, b_col = at->tb ? k : 1;
  Shape batch = shape_of(y->rank - 2, y->n);
  Shape a_batch = shape_of(a->rank - 2, a->n), b_batch = shape_of(b->rank - 2, b->n);
  stretch_strides(&a_batch, &batch, sa);
  stretch_strides(&b_batch, &batch, sb);
  for (int64_t block = 0; block < run->blocks; block++)
    for (int64_t i = 0, count = elements(&batch); i < count; i++) {
      int64_t ia = 0, ib = 0, rest = i;
      for (int d = batch.rank - 1; d >= 0; d--) {
        ia += rest % batch.n[d] * sa[d];
        ib += rest % batch.n[d] * sb[d];
        rest /= batch.n[d];
      }
      const Num *pa = run->values[at->args[0]] + block * elements(a) + ia * m * k;
      const Num *pb = run->values[at->args[1]] + block * elements(b) + ib * k * n;
      Num *po = out + (block * count + i) * m * n;
      for (int64_t r = 0; r < m; r++)
        for (int64_t c = 0; c < n; c++) {
          Num sum = num_constant(0);
          for (int64_t l = 0; l < k; l++)
            sum = num_fma(sum, pa[r * a_row + l * a_col], pb[l * b_row + c * b_col]);
          po[r * n + c] = sum;
        }
    }
}

// out[outer, j, inner] = combination over i of in[outer, i * extent + j, inner]
static void reduce_array(const Run *run, Op op, const Shape *from, int dim, int64_t extent, int64_t blocks,
                         const Num *in, Num *out) {
  int64_t inner = 1, n = from->n[dim], outer = blocks;
  for (int d = 0; d < from->rank; d++)
    *(d < dim ? &outer : &inner) *= d == dim ? 1 : from->n[d];
  for (int64_t o = 0; o < outer; o++)
    for (int64_t j = 0; j < extent; j++)
      for (int64_t x = 0; x < inner; x++) {
        const Num *first = in + (o * n + j) * inner + x;
        Num total = *first;
        for (int64_t i = 1; i < n / extent; i++)
          total = num_fold(op == OP_TOP, total, first[i * extent * inner], run->no_laws);
        if (op == OP_MEAN)
          total = num_quotient(total, num_constant((double)(n / extent)));
        out[(o * extent + j) * inner + x] = total;
      }
}

static void run_concat(Run *run, const Instr *at, Num *out) {
  int64_t inner = 1, outer = run->blocks, done = 0;
  for (int d = 0; d < at->shape.rank; d++)
    *(d < at->dim ? &outer : &inner) *= d == at->dim ? 1 : at->shape.n[d];
  for (int k = 0; k < at->num_args; k++) {
    int64_t n = shape_at(run, at->args[k])->n[at->dim];
    for (int64_t o = 0; o < outer; o++)
      memcpy(out + (o * at->shape.n[at->dim] + done) * inner, run->values[at->args[k]] + o * n * inner,
             (size_t)(n * inner) * sizeof(Num));
    done += n;
  }
}

static void run_moved(Run *run, const Instr *at, Num *out) {
  const Shape *from = shape_at(run, at->args[0]);
  const Num *in = run->values[at->args[0]];
  int64_t strides[MAX_DIMS], own[MAX_DIMS], n_in = elements(from), n_out = elements(&at->shape), first = 0;
  for (int64_t d = from->rank - 1, stride = 1; d >= 0; stride *= from->n[d--])
    own[d] = stride;
  if (at->op == OP_RESHAPE) {
    memcpy(out, in, (size_t)(run->blocks * n_in) * sizeof(Num));
    return;
  }
  if (at->op == OP_BROADCAST)
    stretch_strides(from, &at->shape, strides);
  else
    for (int d = 0; d < from->rank; d++)
      strides[d] = at->op == OP_TRANSPOSE ? own[at->perm[d]] : own[d];
  if (at->op == OP_SLICE)
    first = at->begin * own[at->dim];
  Shape to = at->shape;
  if (at->op == OP_REPEAT) { // [.., times, extent, ..] with stride 0 for the first
    for (int d = to.rank; d > at->dim; d--) {
      to.n[d] = from->n[d - 1];
      strides[d] = own[d - 1];
    }
    to.rank++;
    to.n[at->dim] = at->extent;
    strides[at->dim] = 0;
  }
  for (int64_t block = 0; block < run->blocks; block++)
    gather(&to, strides, in + block * n_in + first, out + block * n_out);
}

static void run_softmax(Run *run, const Instr *at, Num *out) {
  const Num *in = run->values[at->args[0]];
  int64_t inner = 1, outer = 1, n = at->shape.n[at->dim];
  for (int d = 0; d < at->shape.rank; d++)
    *(d < at->dim ? &outer : &inner) *= d == at->dim ? 1 : at->shape.n[d];
  for (int64_t o = 0; o < outer; o++)
    for (int64_t x = 0; x < inner; x++) {
      int64_t base = o * n * inner + x;
      Num top = in[base], sum = num_constant(0);
      for (int64_t i = 1; i < n; i++)
        top = num_fold(true, top, in[base + i * inner], run->no_laws);
      for (int64_t i = 0; i < n; i++) {
        Num *e = &out[base + i * inner];
        num_binary(OP_SUB, 1, &in[base + i * inner], 0, &top, 0, e, run->no_laws);
        num_unary(OP_EXP, 1, e, e, run->no_laws);
        sum = num_fold(false, sum, *e, run->no_laws);
      }
      for (int64_t i = 0; i < n; i++)
        out[base + i * inner] = num_quotient(out[base + i * inner], sum);
    }
}

static void run_norm(Run *run, const Instr *at, Num *out) {
  const Num *in = run->values[at->args[0]], *gain = at->num_args > 1 ? run->values[at->args[1]] : NULL;
  int64_t n = at->shape.n[at->shape.rank - 1];
  for (int64_t o = 0; o < elements(&at->shape) / n; o++) {
    Num mean = num_constant(0), eps = num_constant(at->value), root;
    for (int64_t i = 0; i < n; i++)
      mean = num_fma(mean, in[o * n + i], in[o * n + i]);
    mean = num_fold(false, num_quotient(mean, num_constant((double)n)), eps, run->no_laws);
    num_unary(OP_SQRT, 1, &mean, &root, run->no_laws);
    for (int64_t i = 0; i < n; i++) {
      out[o * n + i] = num_quotient(in[o * n + i], root);
      if (gain)
        num_binary(OP_MUL, 1, &out[o * n + i], 0, &gain[i], 0, &out[o * n + i], run->no_laws);
    }
  }
}

// ----------------------------------------------------------------------------------------------- tiles and their
// tensors

typedef struct Placement {
  int64_t start[MAX_DIMS];                 // of the tile, in the window
  int64_t chunk[MAX_DIMS][MAX_DEPTH + 4];  // extents of the chunks around it, the window first
  int64_t within[MAX_DIMS][MAX_DEPTH + 4]; // where the tile starts in each
  int num[MAX_DIMS];
  int64_t stride[MAX_DIMS], origin; // of the window, in the tensor
} Placement;

static void split(Placement *place, int d, int64_t parts, int64_t part) {
  int last = place->num[d]++;
  int64_t chunk = (place->chunk[d][last] + parts - 1) / parts;
  for (int c = 0; c <= last; c++)
    place->within[d][c] += part * chunk;
  place->chunk[d][last + 1] = chunk;
  place->within[d][last + 1] = 0;
}

static Placement placement(const Run *run, const Instr *at, const Shape *tensor, int64_t block) {
  Placement place = {.origin = 0};
  const Access *access = &at->at;
  const Instr *kernel = &run->p->instr[run->kernel];
  int loops[MAX_DEPTH], unused;
  int64_t part[3] = {block % kernel->grid[0], block / kernel->grid[0] % kernel->grid[1],
                     block / kernel->grid[0] / kernel->grid[1]};
  for (int d = 0; d < tensor->rank; d++) {
    int64_t stride = 1;
    for (int e = tensor->rank - 1; e > access->order[d]; e--)
      stride *= tensor->n[e];
    place.stride[d] = stride;
    place.origin += (access->end[d] ? access->begin[d] : 0) * stride;
    place.chunk[d][0] = access->end[d] ? access->end[d] - access->begin[d] : tensor->n[access->order[d]];
  }
  int depth = enclosing(run->p, (int)(at - run->p->instr), loops, &unused);
  for (int pass = 0; pass < 2; pass++) {
    bool by_loops = (pass == 0) == access->cyclic;
    for (int axis = 0; axis < 3 && !by_loops; axis++)
      if (access->grid[axis] >= 0)
        split(&place, access->grid[axis], kernel->grid[axis], part[axis]);
    for (int l = 0; l < depth && by_loops; l++)
      if (access->loop[l] >= 0)
        split(&place, access->loop[l], run->p->instr[loops[l]].extent, run->iteration[l]);
  }
  for (int d = 0; d < tensor->rank; d++)
    place.num[d]++;
  return place;
}

static bool lies_inside(const Placement *place, int d, int64_t j) {
  bool inside = true;
  for (int c = 0; c < place->num[d]; c++)
    inside &= place->within[d][c] + j < place->chunk[d][c];
  return inside;
}

// Calls for every element of a tile: where it lies in the tensor, or -1.
static void locate(const Placement *place, const Shape *tile, int64_t *where) {
  int64_t n = elements(tile);
  for (int64_t i = 0; i < n; i++) {
    int64_t rest = i, at = place->origin;
    bool inside = true;
    for (int d = tile->rank - 1; d >= 0; d--) {
      int64_t j = rest % tile->n[d];
      rest /= tile->n[d];
      inside = inside && lies_inside(place, d, j);
      at += (place->within[d][0] + j) * place->stride[d];
    }
    where[i] = inside ? at : -1;
  }
}

static void run_load(Run *run, const Instr *at, Num *out) {
  const Shape *tensor = shape_at(run, at->args[0]);
  int64_t n = elements(&at->shape), *where = malloc((size_t)n * sizeof *where);
  Num fill = at->at.fill == FILL_BOTTOM ? num_bottom() : num_constant(at->at.fill == FILL_ONE);
  if (!where) {
    run->outcome = OUT_OF_MEMORY;
    return;
  }
  for (int64_t block = 0; block < run->blocks; block++) {
    Placement place = placement(run, at, tensor, block);
    locate(&place, &at->shape, where);
    for (int64_t i = 0; i < n; i++)
      out[block * n + i] = where[i] < 0 ? fill : run->values[at->args[0]][where[i]];
  }
  free(where);
}

static void run_store(Run *run, const Instr *at) {
  int to = at->args[1];
  const Shape *tensor = shape_at(run, to), *tile = shape_at(run, at->args[0]);
  int64_t n = elements(tile), *where = malloc((size_t)n * sizeof *where);
  if (!where) {
    run->outcome = OUT_OF_MEMORY;
    return;
  }
  for (int64_t block = 0; block < run->blocks; block++) {
    Placement place = placement(run, at, tensor, block);
    locate(&place, tile, where);
    for (int64_t i = 0; i < n; i++) {
      Num value = run->values[at->args[0]][block * n + i];
      if (where[i] < 0)
        continue;
      Num *slot = &run->values[to][where[i]];
      if (run->stored[to][where[i]] && run->writer[to][where[i]] != block)
        run->race = fmax(run->race, num_gap(*slot, value));
      run->stored[to][where[i]] = true;
      run->writer[to][where[i]] = (int32_t)block;
      *slot = value;
    }
  }
  free(where);
}

static void run_output(Run *run, int i) {
  size_t n = (size_t)elements(shape_at(run, i));
  free(run->values[i]);
  free(run->stored[i]);
  free(run->writer[i]);
  run->values[i] = malloc(n * sizeof(Num));
  run->stored[i] = calloc(n, sizeof(bool));
  run->writer[i] = calloc(n, sizeof(int32_t));
  if (!run->values[i] || !run->stored[i] || !run->writer[i])
    run->outcome = OUT_OF_MEMORY;
}

// All blocks that differ in the named axes only get what they have together.
static void run_together(Run *run, const Instr *at, Num *out) {
  const Instr *kernel = &run->p->instr[run->kernel];
  const Num *in = run->values[at->args[0]];
  int64_t n = elements(&at->shape), stride[3] = {1, kernel->grid[0], kernel->grid[0] * kernel->grid[1]}, mates = 1;
  for (int axis = 0; axis < 3; axis++)
    mates *= at->axes[axis] ? kernel->grid[axis] : 1;
  for (int64_t block = 0; block < run->blocks; block++) {
    int64_t first = block;
    for (int axis = 0; axis < 3; axis++)
      if (at->axes[axis])
        first -= block / stride[axis] % kernel->grid[axis] * stride[axis];
    for (int64_t mate = 0; mate < mates; mate++) {
      int64_t from = first, rest = mate;
      for (int axis = 0; axis < 3; axis++)
        if (at->axes[axis]) {
          from += rest % kernel->grid[axis] * stride[axis];
          rest /= kernel->grid[axis];
        }
      for (int64_t i = 0; i < n; i++)
        out[block * n + i] =
            mate == 0 ? in[from * n + i]
                      : num_fold(at->op == OP_GATHER_MAX, out[block * n + i], in[from * n + i], run->no_laws);
    }
  }
}

// --------------------------------------------------------------------------------------------------------------- loops

static void run_range(Run *run, int from, int to);

// acc * factor, the factor stretched.
static void rescale(Run *run, const Shape *shape, int factor, Num *acc) {
  int64_t sa[MAX_DIMS], sb[MAX_DIMS], n = elements(shape);
  stretch_strides(shape, shape, sa);
  stretch_strides(shape_at(run, factor), shape, sb);
  for (int64_t block = 0; block < run->blocks; block++)
    binary_block(OP_MUL, shape, sa, sb, acc + block * n, run->values[factor] + block * elements(shape_at(run, factor)),
                 acc + block * n, run->no_laws);
}

// acc[.., i * e + j, ..] = c[.., j, ..]
static void append(Run *run, const Shape *shape, int dim, int64_t range, int64_t iteration, const Num *c, Num *acc) {
  int64_t inner = 1, outer = run->blocks, part = shape->n[dim] / range;
  for (int d = 0; d < shape->rank; d++)
    *(d < dim ? &outer : &inner) *= d == dim ? 1 : shape->n[d];
  for (int64_t o = 0; o < outer; o++)
    memcpy(acc + (o * shape->n[dim] + iteration * part) * inner, c + o * part * inner,
           (size_t)(part * inner) * sizeof(Num));
}

static void combine_all(Run *run, int loop, int end, int64_t iteration, Num **carries) {
  const Instr *at = &run->p->instr[loop], *yield = &run->p->instr[end];
  int factor = at->num_args;
  for (int c = 0; c < at->num_args; c++) {
    const Shape *shape = shape_at(run, at->args[c]);
    int64_t n = run->blocks * elements(shape);
    const Num *given = run->values[yield->args[c]];
    if (at->combine[c] == COMBINE_RESCALE)
      rescale(run, shape, yield->args[factor++], carries[c]);
    if (at->combine[c] == COMBINE_CONCAT)
      append(run, shape, at->combine_dim[c], at->extent, iteration, given, carries[c]);
    else if (at->combine[c] == COMBINE_ASSIGN)
      memcpy(carries[c], given, (size_t)n * sizeof(Num));
    else
      for (int64_t i = 0; i < n; i++)
        carries[c][i] = num_fold(at->combine[c] == COMBINE_MAX, carries[c][i], given[i], run->no_laws);
  }
}

// The CARRY instructions follow LOOP, one a carry; the LOOP_RESULTs follow its end.
static void run_loop(Run *run, int loop, int end) {
  const Instr *at = &run->p->instr[loop];
  Num *carries[MAX_ARGS] = {NULL};
  for (int c = 0; c < at->num_args; c++) {
    size_t bytes = (size_t)(run->blocks * elements(shape_at(run, at->args[c]))) * sizeof(Num);
    carries[c] = malloc(bytes);
    if (!carries[c])
      run->outcome = OUT_OF_MEMORY;
    else
      memcpy(carries[c], run->values[at->args[c]], bytes);
  }
  for (int64_t i = 0; i < at->extent && run->outcome == EVALUATED; i++) {
    run->iteration[run->depth++] = i;
    for (int c = 0; c < at->num_args; c++)
      if (storage(run, loop + 1 + c))
        memcpy(run->values[loop + 1 + c], carries[c],
               (size_t)(run->blocks * elements(shape_at(run, at->args[c]))) * sizeof(Num));
    run_range(run, loop + 1 + at->num_args, end);
    run->depth--;
    if (run->outcome == EVALUATED)
      combine_all(run, loop, end, i, carries);
  }
  for (int c = 0; c < at->num_args; c++) { // results stand right behind the end
    int result = end + 1 + c;
    if (run->outcome == EVALUATED && storage(run, result))
      memcpy(run->values[result], carries[c], (size_t)(run->blocks * elements(shape_at(run, result))) * sizeof(Num));
    free(carries[c]);
  }
}

// ---------------------------------------------------------------------------------------------------------- statements

static void run_plain(Run *run, int i) {
  const Instr *at = &run->p->instr[i];
  Num *out = storage(run, i);
  int64_t n = run->blocks * elements(&at->shape);
  if (!out)
    return;
  switch (at->op) {
  case OP_INPUT:
    memcpy(out, run->inputs[run->next_input++], (size_t)n * sizeof(Num));
    break;
  case OP_CONST:
  case OP_BOTTOM:
    for (int64_t k = 0; k < n; k++)
      out[k] = at->op == OP_BOTTOM ? num_bottom() : num_constant(at->value);
    break;
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
  case OP_DIV:
  case OP_MAX:
  case OP_MIN:
    run_binary(run, at, out);
    break;
  case OP_MATMUL:
    run_matmul(run, at, out);
    break;
  case OP_SUM:
  case OP_TOP:
  case OP_MEAN:
    reduce_array(run, at->op, shape_at(run, at->args[0]), at->dim, at->extent, run->blocks, run->values[at->args[0]],
                 out);
    break;
  case OP_BROADCAST:
  case OP_REPEAT:
  case OP_TRANSPOSE:
  case OP_RESHAPE:
  case OP_SLICE:
    run_moved(run, at, out);
    break;
  case OP_CONCAT:
    run_concat(run, at, out);
    break;
  case OP_SOFTMAX:
    run_softmax(run, at, out);
    break;
  case OP_RMS_NORM:
    run_norm(run, at, out);
    break;
  case OP_LOAD:
    run_load(run, at, out);
    break;
  case OP_GATHER_SUM:
  case OP_GATHER_MAX:
    run_together(run, at, out);
    break;
  default:
    num_unary(at->op, n, run->values[at->args[0]], out, run->no_laws);
    break;
  }
}

static void run_range(Run *run, int from, int to) {
  for (int i = from; i < to && run->outcome == EVALUATED; i++) {
    const Instr *at = &run->p->instr[i];
    switch (at->op) {
    case OP_KERNEL:
      if (!run->needed[i]) {
        i = bracket_end(run->p, i);
        break;
      }
      run->kernel = i;
      run->blocks = at->grid[0] * at->grid[1] * at->grid[2];
      break;
    case OP_END_KERNEL:
      run->kernel = -1;
      run->blocks = 1;
      break;
    case OP_OUTPUT:
      run_output(run, i);
      break;
    case OP_STORE:
      run_store(run, at);
      break;
    case OP_LOOP: {
      int end = bracket_end(run->p, i);
      run_loop(run, i, end);
      i = end + at->num_args;
      break;
    }
    case OP_KERNEL_RESULT: {
      size_t n = (size_t)elements(&at->shape);
      if (!run->stored[at->args[0]]) { // its kernel is not needed, nor is what reads it
        if (storage(run, i))
          memset(run->values[i], 0, n * sizeof(Num));
        break;
      }
      for (size_t k = 0; k < n; k++)
        if (!run->stored[at->args[0]][k])
          run->outcome = NOT_STORED;
      if (storage(run, i))
        memcpy(run->values[i], run->values[at->args[0]], n * sizeof(Num));
      break;
    }
    default:
      run_plain(run, i);
      break;
    }
  }
}

Outcome EVALUATE(const Program *p, int no_laws, const Num *const *inputs, Num *const *outputs, double *race) {
  Run *run = calloc(1, sizeof *run);
  if (!run)
    return OUT_OF_MEMORY;
  run->p = p;
  run->no_laws = no_laws;
  run->kernel = -1;
  run->blocks = 1;
  run->inputs = inputs;
  find_needed(p, run->needed);
  run_range(run, 0, p->num);
  for (int o = 0; o < p->num_outputs && run->outcome == EVALUATED; o++)
    memcpy(outputs[o], run->values[p->outputs[o]], (size_t)elements(shape_at(run, p->outputs[o])) * sizeof(Num));
  Outcome outcome = run->outcome == EVALUATED && run->race > 0 ? RACE : run->outcome;
  if (race)
    *race = run->race;
  for (int i = 0; i < p->num; i++) {
    free(run->values[i]);
    free(run->stored[i]);
    free(run->writer[i]);
  }
  free(run);
  return outcome;
}
