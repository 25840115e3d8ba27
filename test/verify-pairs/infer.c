// infer.c - shapes of a list of instructions, from the rules that include/mirage/ugraph.h and ops.def state.
//
// Whatever does not fit makes the list no program: generators change instructions freely and ask here.
#include "program.h"

static bool stretch(const Shape *a, const Shape *b, int fixed, Shape *out) {
  int na = a->rank - fixed, nb = b->rank - fixed;
  out->rank = na > nb ? na : nb;
  for (int i = 0; i < out->rank; i++) { // from the right
    int64_t x = i < na ? a->n[na - 1 - i] : 1, y = i < nb ? b->n[nb - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      return false;
    out->n[out->rank - 1 - i] = x > y ? x : y;
  }
  return true;
}

static bool infer_matmul(const Instr *at, const Shape *a, const Shape *b, Shape *out) {
  if (a->rank < 2 || b->rank < 2 || a->n[a->rank - 1 - at->ta] != b->n[b->rank - 2 + at->tb] ||
      !stretch(a, b, 2, out) || out->rank + 2 > MAX_DIMS)
    return false;
  out->n[out->rank++] = a->n[a->rank - 2 + at->ta];
  out->n[out->rank++] = b->n[b->rank - 1 - at->tb];
  return true;
}

static bool infer_concat(const Program *p, const Instr *at, Shape *out) {
  *out = p->instr[at->args[0]].shape;
  if (at->dim < 0 || at->dim >= out->rank)
    return false;
  for (int i = 1; i < at->num_args; i++) {
    const Shape *next = &p->instr[at->args[i]].shape;
    if (next->rank != out->rank)
      return false;
    for (int d = 0; d < out->rank; d++)
      if (d != at->dim && next->n[d] != out->n[d])
        return false;
    out->n[at->dim] += next->n[at->dim];
  }
  return true;
}

bool tile_shape(const Program *p, int at, const Shape *tensor, Shape *out_tile) {
  const Access *access = &p->instr[at].at;
  int loops[MAX_DEPTH], kernel, depth = enclosing(p, at, loops, &kernel);
  if (kernel < 0)
    return false;
  out_tile->rank = tensor->rank;
  for (int d = 0; d < tensor->rank; d++) {
    int from = access->order[d];
    if (from < 0 || from >= tensor->rank || (access->reordered && d == tensor->rank - 1 && from != d))
      return false;
    int64_t extent = tensor->n[from];
    if (access->end[d]) {
      if (access->begin[d] < 0 || access->begin[d] >= access->end[d] || access->end[d] > extent)
        return false;
      extent = access->end[d] - access->begin[d];
    }
    for (int axis = 0; axis < 3; axis++)
      if (access->grid[axis] == d)
        extent = (extent + p->instr[kernel].grid[axis] - 1) / p->instr[kernel].grid[axis];
    for (int l = 0; l < depth; l++)
      if (access->loop[l] == d)
        extent = (extent + p->instr[loops[l]].extent - 1) / p->instr[loops[l]].extent;
    out_tile->n[d] = extent;
  }
  for (int axis = 0; axis < 3; axis++)
    if (access->grid[axis] >= tensor->rank)
      return false;
  for (int l = 0; l < MAX_DEPTH; l++)
    if (access->loop[l] >= tensor->rank || (access->loop[l] >= 0 && l >= depth))
      return false;
  return true;
}

static int carry_of(const Program *p, const Instr *at) { // the instruction of the initial value
  const Instr *loop = &p->instr[at->args[0]];
  return loop->op == OP_LOOP && at->dim < loop->num_args ? loop->args[at->dim] : -1;
}

// The opening LOOP of the END_LOOP at `at`.
static int opening(const Program *p, int at) {
  for (int i = at - 1; i >= 0; i--)
    if (p->instr[i].op == OP_LOOP && bracket_end(p, i) == at)
      return i;
  return -1;
}

static bool check_yield(const Program *p, int at) {
  const Instr *yield = &p->instr[at], *loop = &p->instr[opening(p, at)];
  int factor = loop->num_args;
  for (int c = 0; c < loop->num_args; c++) {
    if (c >= yield->num_args)
      return false;
    Shape want = p->instr[loop->args[c]].shape;
    if (loop->combine[c] == COMBINE_CONCAT) {
      int dim = loop->combine_dim[c];
      if (dim >= want.rank || want.n[dim] % loop->extent)
        return false;
      want.n[dim] /= loop->extent;
    }
    if (!same_shape(&want, &p->instr[yield->args[c]].shape))
      return false;
    if (loop->combine[c] == COMBINE_RESCALE) {
      Shape out;
      if (factor >= yield->num_args || !stretch(&want, &p->instr[yield->args[factor]].shape, 0, &out) ||
          !same_shape(&want, &out))
        return false;
      factor++;
    }
  }
  return factor == yield->num_args;
}

static bool infer_moved(const Instr *at, const Shape *a, Shape *out) {
  unsigned seen = 0;
  *out = *a;
  switch (at->op) {
  case OP_BROADCAST:
    *out = at->shape;
    return a->rank <= out->rank && stretch(a, &at->shape, 0, out) && same_shape(out, &at->shape);
  case OP_RESHAPE:
    *out = at->shape;
    return elements(a) == elements(out);
  case OP_REPEAT:
    if (at->dim >= a->rank || at->extent < 1)
      return false;
    out->n[at->dim] *= at->extent;
    return true;
  case OP_TRANSPOSE:
    for (int d = 0; d < a->rank; d++) {
      if (at->perm[d] >= a->rank)
        return false;
      seen |= 1u << at->perm[d];
      out->n[d] = a->n[at->perm[d]];
    }
    return seen == (1u << a->rank) - 1;
  case OP_SLICE:
    if (at->dim >= a->rank || at->begin < 0 || at->begin >= at->end || at->end > a->n[at->dim])
      return false;
    out->n[at->dim] = at->end - at->begin;
    return true;
  default: // reductions
    if (at->dim < 0 || at->dim >= a->rank || at->extent < 1 || a->n[at->dim] % at->extent)
      return false;
    out->n[at->dim] = at->extent;
    return true;
  }
}

static bool infer_norm(const Program *p, const Instr *at, Shape *out) {
  *out = p->instr[at->args[0]].shape;
  const Shape *gain = &p->instr[at->args[at->num_args - 1]].shape;
  return out->rank >= 1 && (at->num_args == 1 || (gain->rank == 1 && gain->n[0] == out->n[out->rank - 1]));
}

static bool check_gather(const Program *p, int at) {
  int loops[MAX_DEPTH], kernel;
  enclosing(p, at, loops, &kernel);
  bool any = false, spans = true;
  for (int axis = 0; kernel >= 0 && axis < 3; axis++) {
    any |= p->instr[at].axes[axis];
    spans &= !p->instr[at].axes[axis] || p->instr[kernel].cluster[axis] == p->instr[kernel].grid[axis];
  }
  return any && (spans || !p->instr[at].in_cluster);
}

static bool check_kernel(const Instr *at) {
  int64_t cluster = 1;
  for (int axis = 0; axis < 3; axis++) {
    if (at->grid[axis] < 1 || at->cluster[axis] < 1 || at->grid[axis] % at->cluster[axis])
      return false;
    cluster *= at->cluster[axis];
  }
  return cluster <= 16;
}

static bool infer_one(Program *p, int i) {
  Instr *at = &p->instr[i];
  Shape out = at->shape, tile;
  const Shape *a = at->num_args > 0 ? &p->instr[at->args[0]].shape : NULL,
              *b = at->num_args > 1 ? &p->instr[at->args[1]].shape : NULL;
  bool fits = true;
  switch (at->op) {
  case OP_INPUT:
  case OP_CONST:
  case OP_BOTTOM:
  case OP_OUTPUT:
  case OP_END_KERNEL:
    break;
  case OP_KERNEL:
    fits = check_kernel(at);
    break;
  case OP_LOOP:
    fits = at->extent >= 1;
    break;
  case OP_END_LOOP:
    fits = check_yield(p, i);
    break;
  case OP_CARRY:
  case OP_LOOP_RESULT:
    fits = carry_of(p, at) >= 0;
    out = fits ? p->instr[carry_of(p, at)].shape : out;
    break;
  case OP_KERNEL_RESULT:
    out = *a;
    break;
  case OP_LOAD:
    fits = tile_shape(p, i, a, &out);
    break;
  case OP_STORE:
    fits = tile_shape(p, i, b, &tile) && same_shape(&tile, a);
    break;
  case OP_GATHER_SUM:
  case OP_GATHER_MAX:
    fits = check_gather(p, i);
    out = *a;
    break;
  case OP_MATMUL:
    fits = infer_matmul(at, a, b, &out);
    break;
  case OP_CONCAT:
    fits = infer_concat(p, at, &out);
    break;
  case OP_RMS_NORM:
    fits = infer_norm(p, at, &out);
    break;
  case OP_SOFTMAX:
    fits = at->dim >= 0 && at->dim < a->rank;
    out = *a;
    break;
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
  case OP_DIV:
  case OP_MAX:
  case OP_MIN:
    fits = stretch(a, b, 0, &out);
    break;
  case OP_SUM:
  case OP_TOP:
  case OP_MEAN:
  case OP_BROADCAST:
  case OP_REPEAT:
  case OP_TRANSPOSE:
  case OP_RESHAPE:
  case OP_SLICE:
    fits = infer_moved(at, a, &out);
    break;
  default:
    out = *a;
    break;
  }
  at->shape = out;
  return fits;
}

bool infer(Program *p, int64_t max_elements) {
  int64_t blocks = 1;
  for (int i = 0; i < p->num; i++) {
    const Instr *at = &p->instr[i];
    for (int k = 0; k < at->num_args; k++)
      if (at->args[k] < 0 || at->args[k] >= i)
        return false;
    if (!infer_one(p, i))
      return false;
    if (at->op == OP_KERNEL)
      blocks = at->grid[0] * at->grid[1] * at->grid[2];
    if (at->op == OP_END_KERNEL)
      blocks = 1;
    int64_t count = blocks;
    for (int d = 0; d < at->shape.rank; d++)
      if (at->shape.n[d] < 1 || (count *= at->shape.n[d]) > max_elements)
        return false;
  }
  return !p->full && p->num_outputs > 0;
}
