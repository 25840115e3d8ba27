// eval_split.c - operators in pieces, for threads and for whoever wants to stop the evaluation.
//
// An element-wise operator is cut into runs of GRAIN elements, a reduction between its rows, a product into boxes.
// Operands that broadcast are stretched run by run, never as a whole. Small operators stay whole.
#include "eval_internal.h"

#include <string.h>

enum {
  GRAIN = 8192,          // elements of a run
  BOX_ROWS = 128,        // of a product
  BOX_COLUMNS = 64,      // or a multiple
  BOX_TERMS = 1 << 23,   // about a millisecond
  WHOLE_TERMS = 1 << 18, // products of fewer terms stay whole
  BOXES = 8,             // at least, where columns allow
};

// Pieces in order on this thread, or on all where the evaluation has some.
static MirageStatus run_pieces(Eval *eval, size_t count, EvalTask run, void *user) {
  if (eval->pool && count > 1)
    return mirage__eval_tasks(eval, UINT32_MAX, count, run, user);
  for (size_t i = 0; i < count; i++) {
    if (mirage_cancelled(eval->cancel))
      return MIRAGE_CANCELLED;
    MIRAGE_TRY(run(user, eval, 0, i));
  }
  return MIRAGE_OK;
}

MirageStatus mirage__eval_keep(Eval *worker, size_t n, const void *elements, bool maxima) {
  const MirageDomain *domain = worker->domain;
  if (!worker->is_worker || worker->in_group || !domain->fork)
    return MIRAGE_OK;
  MirageStatus status = domain->keep(domain, n, elements, maxima);
  domain->end(domain);
  return status;
}

// -------------------------------------------------------------------------------------------------------- element-wise

// out[0 .. count) = elements [begin, begin + count) of `type` stretched to `result`.
static void stretch_run(size_t size, const MirageType *type, const char *a, const MirageType *result, size_t begin,
                        size_t count, char *out) {
  int64_t strides[MIRAGE_MAX_RANK], at[MIRAGE_MAX_RANK];
  uint32_t rank = result->rank, last = rank ? rank - 1 : 0;
  mirage__eval_broadcast_strides(type, rank, strides);
  size_t rest = begin;
  int64_t offset = 0;
  for (uint32_t d = rank; d-- > 0;) {
    at[d] = (int64_t)(rest % (size_t)result->shape[d]);
    rest /= (size_t)result->shape[d];
    offset += at[d] * strides[d];
  }
  while (count) {
    int64_t left = rank ? result->shape[last] - at[last] : 1;
    size_t run = (size_t)left < count ? (size_t)left : count;
    mirage__eval_copy(size, 1, (int64_t[]){(int64_t)run}, a + offset * (int64_t)size,
                      (int64_t[]){rank ? strides[last] : 0}, out, (int64_t[]){1});
    out += run * size;
    count -= run;
    if (!count)
      return;
    offset -= at[last] * strides[last];
    at[last] = 0;
    for (uint32_t d = last; d-- > 0;) {
      offset += strides[d];
      if (++at[d] < result->shape[d])
        break;
      offset -= at[d] * strides[d];
      at[d] = 0;
    }
  }
}

static MirageStatus operand_run(Eval *worker, uint32_t slot, const MirageType *type, const void *a,
                                const MirageType *result, size_t begin, size_t count, const void **out) {
  if (mirage_type_same_shape(type, result)) {
    *out = (const char *)a + begin * worker->size;
    return MIRAGE_OK;
  }
  void *wide;
  MIRAGE_TRY(mirage__eval_scratch(worker, slot, count, &wide));
  stretch_run(worker->size, type, a, result, begin, count, wide);
  *out = wide;
  return MIRAGE_OK;
}

static MirageStatus run_elements(void *user, Eval *worker, uint32_t number, size_t piece) {
  const EvalElements *call = user;
  const MirageDomain *domain = worker->domain;
  size_t total = (size_t)mirage_type_elements(call->result), begin = piece * GRAIN;
  size_t n = total - begin < GRAIN ? total - begin : GRAIN;
  char *out = (char *)call->out + begin * worker->size;
  const void *a = NULL, *b = NULL;
  if (call->a)
    MIRAGE_TRY(operand_run(worker, 0, call->a_type, call->a, call->result, begin, n, &a));
  if (call->b)
    MIRAGE_TRY(operand_run(worker, 1, call->b_type, call->b, call->result, begin, n, &b));
  MirageStatus status;
  if (call->op == MIRAGE_OP_BOTTOM)
    status = domain->bottom(domain, n, out);
  else if (call->op == MIRAGE_OP_CONSTANT)
    status = domain->constant(domain, call->result, n, call->value, out);
  else if (call->op == MIRAGE_OP_CAST)
    status = domain->cast(domain, call->result, n, a, out);
  else if (b)
    status = domain->binary(domain, call->op, call->result, n, a, b, out);
  else
    status = domain->unary(domain, call->op, call->result, n, a, out);
  return status == MIRAGE_OK ? mirage__eval_keep(worker, n, out, worker->maxima_ahead) : status;
}

MirageStatus mirage__eval_elements(Eval *eval, const EvalElements *call) {
  size_t n = (size_t)mirage_type_elements(call->result);
  return run_pieces(eval, (n + GRAIN - 1) / GRAIN, run_elements, (void *)call);
}

// ---------------------------------------------------------------------------------------------------------- reductions

typedef struct Reduction {
  MirageOp op;
  const MirageType *result;
  size_t outer, n, inner, rows; // rows: of `outer`, in a piece
  const char *a;
  char *out;
} Reduction;

static MirageStatus run_reduction(void *user, Eval *worker, uint32_t number, size_t piece) {
  const Reduction *r = user;
  size_t begin = piece * r->rows, rows = r->outer - begin < r->rows ? r->outer - begin : r->rows;
  char *out = r->out + begin * r->inner * worker->size;
  MIRAGE_TRY(worker->domain->reduce(worker->domain, r->op, r->result, rows, r->n, r->inner,
                                    r->a + begin * r->n * r->inner * worker->size, out));
  return mirage__eval_keep(worker, rows * r->inner, out, worker->maxima_ahead);
}

MirageStatus mirage__eval_rows(Eval *eval, MirageOp op, const MirageType *result, size_t outer, size_t n, size_t inner,
                               const void *a, void *out) {
  size_t rows = n * inner < GRAIN ? GRAIN / (n * inner + 1) + 1 : 1;
  Reduction reduction = {op, result, outer, n, inner, rows, a, out};
  return run_pieces(eval, (outer + rows - 1) / rows, run_reduction, &reduction);
}

// ------------------------------------------------------------------------------------------------------------ products

typedef struct Product {
  const MirageType *result;
  size_t m, n, k, rows, columns; // rows, columns: of a box
  const void *a, *b, *c;
  bool turned; // b is [n, k]
  void *out;
} Product;

static MirageStatus run_box(void *user, Eval *worker, uint32_t number, size_t piece) {
  const Product *p = user;
  size_t down = (p->m + p->rows - 1) / p->rows;
  MirageBox box = {.row = piece % down * p->rows, .column = piece / down * p->columns};
  box.rows = p->m - box.row < p->rows ? p->m - box.row : p->rows;
  box.columns = p->n - box.column < p->columns ? p->n - box.column : p->columns;
  return worker->domain->matmul_box(worker->domain, p->result, p->m, p->n, p->k, p->a, p->b, p->turned, p->c, p->out,
                                    &box);
}

MirageStatus mirage__eval_product(Eval *eval, const MirageType *result, size_t m, size_t n, size_t k, const void *a,
                                  const void *b, bool turned, const void *c, void *out) {
  const MirageDomain *domain = eval->domain;
  if (!domain->matmul_box)
    return domain->matmul(domain, result, m, n, k, a, b, c, out);
  const MirageBox all = {.rows = m, .columns = n};
  if ((double)m * (double)n * (double)k < WHOLE_TERMS)
    return domain->matmul_box(domain, result, m, n, k, a, b, turned, c, out, &all);
  Product product = {result, m, n, k, m < BOX_ROWS ? m : BOX_ROWS, 0, a, b, c, turned, out};
  size_t columns = BOX_TERMS / (product.rows * k) + 1, share = n / BOXES + 1;
  columns = columns < share ? columns : share;
  product.columns = (columns + BOX_COLUMNS - 1) / BOX_COLUMNS * BOX_COLUMNS;
  size_t boxes = (m + product.rows - 1) / product.rows * ((n + product.columns - 1) / product.columns);
  return run_pieces(eval, boxes, run_box, &product);
}
