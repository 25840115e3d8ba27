// maxima.c - loops that may take a running maximum from their first tile alone, and subtract it from the others as it is.
//
// A loop that sums exponentials subtracts the largest exponent so far, and rescales its sums where that has grown:
//
//     now = max(old, top of the tile);  weight = exp(score - now);  sum = sum exp(old - now) + (sum of the tile's weights)
//
// What is subtracted cancels in the end, so any other number does as long as no weight overflows: the maximum of the
// first tile's first columns, mostly. With schedule maxima = first the loop keeps that one, which is taken before it begins. Then
// `now` is `old`, exp(old - now) is 1 and the tile's top is not asked for. Weights are never negative, so those that overflow show
// in the loop's sums of them; where they do, the block looks for the maximum of all tiles, and runs the loop again with that one
// (lib/codegen/codegen_maxima.c).
//
// That what is subtracted cancels is followed from operator to operator, for the references before and behind the tile and
// for those that blocks agree upon: a value is free of a reference, or has a multiple of it added, or is multiplied by the
// exponential of one; what is stored is free of all. References belong to rows, so rows stay where they are.
// Source of the loop: Milakov and Gimelshein, Online normalizer calculation for softmax, arXiv 1805.02867.
#include "plan.h"

#include <math.h>
#include <string.h>

enum { OLD, NOW, AGREED, MOST_REFERENCES = 4 };
enum { SAMPLE = 64 }; // columns of the first tile

typedef enum { FREE, SHIFTED, SCALED } Form;

/// FREE: x; SHIFTED: x + sum of by[r] reference[r]; SCALED: x exp(sum of by[r] reference[r]).
typedef struct Degree {
  Form form;
  double by[MOST_REFERENCES];
} Degree;

typedef struct Walk {
  const Block *block;
  int32_t loop;
  MirageNode node;     // of the loop
  MirageNodeView view; // and what it is
  MirageNodeView yield;
  const MirageType *column; // of one row's references
  Degree *degrees;          // by value id
  uint8_t *kept;            // KeptValue, by value id
  uint8_t *weights;         // by value id: an exponential that no sum tells of yet
  uint8_t *hidden;          // HiddenColumns, by value id
  bool *tells, *sought;     // of BlockMaxima
  uint32_t references;
  const MirageAttrs *agreed[MOST_REFERENCES]; // by whom: the axes of the grid over which blocks have one
  bool inside;                                // the loop
  BlockMaxima *out;
} Walk;

static MirageValue resolve(const Walk *w, MirageValue value) { return mirage__block_resolve(w->block, value); }

static Degree *degree_of(const Walk *w, MirageValue value) { return &w->degrees[resolve(w, value).index]; }

static KeptValue kept_of(const Walk *w, MirageValue value) { return (KeptValue)w->kept[resolve(w, value).index]; }

// In the form that it is, FREE where nothing is left of any reference.
static Degree settled(Degree d) {
  bool some = false;
  for (int r = 0; r < MOST_REFERENCES; r++)
    some |= d.by[r] != 0;
  return some ? d : (Degree){FREE, {0}};
}

static Degree sum(const Degree *a, const Degree *b, double sign) {
  Degree d = {a->form == FREE ? b->form : a->form, {0}};
  for (int r = 0; r < MOST_REFERENCES; r++)
    d.by[r] = a->by[r] + sign * b->by[r];
  return settled(d);
}

static Degree times(const Degree *a, double factor) {
  Degree d = *a;
  for (int r = 0; r < MOST_REFERENCES; r++)
    d.by[r] *= factor;
  return settled(d);
}

static bool same(const Degree *a, const Degree *b) {
  bool equal = a->form == b->form;
  for (int r = 0; r < MOST_REFERENCES; r++)
    equal &= a->by[r] == b->by[r];
  return equal;
}

// ----------------------------------------------------------------------------------------------------------- operators

static const char MIXED[] = "a value depends on what is subtracted, and not by a sum or a factor";

// The constant that a value is, or NaN.
static double constant_of(const Walk *w, MirageValue value) {
  MirageNodeView view = mirage__block_def(w->block, resolve(w, value));
  while (view.op == MIRAGE_OP_BROADCAST || view.op == MIRAGE_OP_CAST)
    view = mirage__block_def(w->block, resolve(w, view.operands[0]));
  return view.op == MIRAGE_OP_CONSTANT ? view.attrs->constant.value : NAN;
}

static const char *binary(const Walk *w, const MirageNodeView *view, Degree *out) {
  const Degree *a = degree_of(w, view->operands[0]), *b = degree_of(w, view->operands[1]);
  bool add = view->op == MIRAGE_OP_ADD || view->op == MIRAGE_OP_SUB;
  bool multiply = view->op == MIRAGE_OP_MUL || view->op == MIRAGE_OP_DIV;
  double sign = view->op == MIRAGE_OP_SUB || view->op == MIRAGE_OP_DIV ? -1 : 1, factor;
  if (a->form == FREE && b->form == FREE)
    *out = *a;
  else if (add && a->form != SCALED && b->form != SCALED)
    *out = sum(a, b, sign);
  else if ((add || view->op == MIRAGE_OP_MAX) && same(a, b))
    *out = *a;
  else if (multiply && a->form != SHIFTED && b->form != SHIFTED)
    *out = sum(a, b, sign);
  else if (multiply && isfinite(factor = constant_of(w, view->operands[1])) && factor != 0)
    *out = times(a, sign < 0 ? 1 / factor : factor);
  else if (view->op == MIRAGE_OP_MUL && isfinite(factor = constant_of(w, view->operands[0])))
    *out = times(b, factor);
  else
    return MIXED;
  return NULL;
}

static const char *unary(const Walk *w, const MirageNodeView *view, Degree *out) {
  const Degree *a = degree_of(w, view->operands[0]);
  *out = *a;
  if (a->form == FREE)
    return NULL;
  if (view->op == MIRAGE_OP_EXP && a->form == SHIFTED)
    out->form = SCALED;
  else if (view->op == MIRAGE_OP_LOG && a->form == SCALED)
    out->form = SHIFTED;
  else if (view->op == MIRAGE_OP_NEG)
    *out = a->form == SHIFTED ? times(a, -1) : *a;
  else
    return MIXED;
  return NULL;
}

// Columns of one row have its reference in common.
static bool is_along_row(const Walk *w, int32_t dim) { return w->column->shape[dim] == 1; }

static const char *reduction(const Walk *w, const MirageNodeView *view, Degree *out) {
  *out = *degree_of(w, view->operands[0]);
  bool linear = view->op != MIRAGE_OP_REDUCE_MAX;
  return out->form == FREE || (out->form == SCALED && linear && is_along_row(w, view->attrs->reduce.dim)) ? NULL
                                                                                                          : MIXED;
}

static const char *product(const Walk *w, const MirageNodeView *view, Degree *out) {
  *out = *degree_of(w, view->operands[0]);
  bool others_free = true;
  for (uint32_t i = 1; i < view->num_operands; i++)
    others_free &= degree_of(w, view->operands[i])->form == FREE;
  bool rows = view->num_operands == 2 && out->form == SCALED && mirage__k_is_last(view, 0);
  return others_free && (out->form == FREE || rows) ? NULL : MIXED;
}

// Weights may be rounded to f16 or bf16, which the limit of their sums makes sure of; sums and what comes of them may not.
static const char *cast(Walk *w, const MirageNodeView *view, Degree *out) {
  MirageDType to = mirage_ugraph_type(w->block->graph, view->first_result)->dtype;
  MirageValue operand = resolve(w, view->operands[0]);
  *out = w->degrees[operand.index];
  if (out->form == FREE || to == MIRAGE_F32)
    return NULL;
  if (!w->inside || mirage__block_op(w->block, operand) != MIRAGE_OP_EXP || (to != MIRAGE_F16 && to != MIRAGE_BF16))
    return "a value that depends on what is subtracted is rounded to fewer bits";
  if (to == MIRAGE_F16) {
    w->out->limit = 60000; // f16 ends at 65504
    w->out->margin = fmax(w->out->margin, 8 * log(2) / fabs(out->by[NOW]));
  }
  return NULL;
}

static bool same_axes(const MirageAttrs *a, const MirageAttrs *b) {
  return memcmp(a->axes.axis, b->axes.axis, sizeof a->axes.axis) == 0;
}

// Blocks have references of their own; the largest of them is one that they have in common.
static const char *collective(Walk *w, const MirageNodeView *view, Degree *out) {
  const Degree *a = degree_of(w, view->operands[0]), own = {SHIFTED, {[NOW] = 1}};
  bool most = view->op == MIRAGE_OP_GRID_MAX || view->op == MIRAGE_OP_CLUSTER_MAX;
  *out = *a;
  if (a->form == FREE)
    return NULL;
  if (most && same(a, &own) && w->references < MOST_REFERENCES) {
    *out = (Degree){SHIFTED, {0}};
    out->by[w->references] = 1;
    w->agreed[w->references++] = view->attrs;
    return NULL;
  }
  bool agreed = !most && a->form == SCALED && a->by[OLD] == 0 && a->by[NOW] == 0;
  for (uint32_t r = AGREED; r < w->references; r++)
    agreed &= a->by[r] == 0 || same_axes(view->attrs, w->agreed[r]);
  return agreed ? NULL : "blocks add up what each has subtracted something else from";
}

static const char *others(const Walk *w, const MirageNodeView *view, Degree *out) {
  *out = (Degree){FREE, {0}};
  for (uint32_t i = 0; i < view->num_operands; i++)
    if (degree_of(w, view->operands[i])->form != FREE)
      return view->op == MIRAGE_OP_STORE ? "what is stored depends on what is subtracted" : MIXED;
  return NULL;
}

static const char *follow(Walk *w, const MirageNodeView *view, Degree *out) {
  switch (mirage_op_info(view->op)->kind) {
  case MIRAGE_KIND_UNARY:
    return unary(w, view, out);
  case MIRAGE_KIND_BINARY:
    return binary(w, view, out);
  case MIRAGE_KIND_CAST:
    return cast(w, view, out);
  case MIRAGE_KIND_REDUCE:
    return reduction(w, view, out);
  case MIRAGE_KIND_MATMUL:
    return product(w, view, out);
  case MIRAGE_KIND_COLLECTIVE:
    return collective(w, view, out);
  default:
    if (view->op != MIRAGE_OP_BROADCAST)
      return others(w, view, out);
    *out = *degree_of(w, view->operands[0]);
    return NULL;
  }
}

// ------------------------------------------------------------------------------------- what values are in later tiles

// now = max(old, top), where the loop carries the maximum of all tops.
static bool is_now(const Walk *w, const MirageNodeView *view) {
  MirageValue result = resolve(w, view->first_result), next = resolve(w, w->yield.operands[w->out->carry]);
  for (uint32_t i = 0; view->op == MIRAGE_OP_MAX && i < 2; i++)
    if (resolve(w, view->operands[i]).index == w->out->old.index &&
        (next.index == result.index || next.index == resolve(w, view->operands[1 - i]).index))
      return true;
  return false;
}

static KeptValue kept_after(const Walk *w, const MirageNodeView *view) {
  KeptValue a = view->num_operands > 0 ? kept_of(w, view->operands[0]) : KEPT_NOT;
  KeptValue b = view->num_operands > 1 ? kept_of(w, view->operands[1]) : KEPT_NOT;
  switch (view->op) {
  case MIRAGE_OP_SUB:
    return a == KEPT_MAXIMUM && b == KEPT_MAXIMUM ? KEPT_ZERO : KEPT_NOT;
  case MIRAGE_OP_MUL:
    return (a == KEPT_ZERO && isfinite(constant_of(w, view->operands[1]))) ||
                   (b == KEPT_ZERO && isfinite(constant_of(w, view->operands[0])))
               ? KEPT_ZERO
               : KEPT_NOT;
  case MIRAGE_OP_EXP:
    return a == KEPT_ZERO ? KEPT_ONE : KEPT_NOT;
  case MIRAGE_OP_NEG:
    return a == KEPT_ZERO ? KEPT_ZERO : KEPT_NOT;
  case MIRAGE_OP_CAST:
  case MIRAGE_OP_BROADCAST:
    return a == KEPT_ZERO || a == KEPT_ONE ? a : KEPT_NOT;
  default:
    return KEPT_NOT;
  }
}

// The maximum of the tile.
static MirageValue top_of(const Walk *w) {
  MirageValue top = resolve(w, w->yield.operands[w->out->carry]);
  if (kept_of(w, top) != KEPT_MAXIMUM)
    return top;
  MirageNodeView now = mirage__block_def(w->block, top); // which is what is carried
  return resolve(w, now.operands[resolve(w, now.operands[0]).index == w->out->old.index]);
}

// It is asked for by nobody where all who do are what they were.
static void find_unread(Walk *w) {
  uint32_t asked = 0;
  MirageNodeView view;
  MirageValue top = top_of(w);
  for (int32_t s = -1; mirage__block_next(w->block, &s, &view);)
    for (uint32_t i = 0; i < view.num_operands; i++) {
      bool carried = view.op == MIRAGE_OP_YIELD && i == w->out->carry && s == w->block->loops[w->loop].end;
      bool kept = view.num_results == 1 && kept_of(w, view.first_result) == KEPT_MAXIMUM;
      asked += resolve(w, view.operands[i]).index == top.index && !carried && !kept;
    }
  if (!asked && mirage__block_op(w->block, top) == MIRAGE_OP_REDUCE_MAX)
    w->kept[top.index] = KEPT_UNREAD;
}

// What the maximum of a tile is computed from: each value's operands stand before it.
static void find_sought(Walk *w) {
  const BlockLoop *l = &w->block->loops[w->loop];
  MirageNodeView view;
  w->sought[resolve(w, w->yield.operands[w->out->carry]).index] = true;
  for (int32_t s = l->end - 1; s >= l->begin; s--) {
    if (!mirage__block_step(w->block, s, &view) || view.num_results != 1 ||
        !w->sought[resolve(w, view.first_result).index])
      continue;
    for (uint32_t i = 0; i < view.num_operands; i++)
      w->sought[resolve(w, view.operands[i]).index] = true;
  }
}

static int64_t width_of(const Walk *w, MirageValue value) {
  const MirageType *type = &w->block->types[value.index];
  return type->rank ? type->shape[type->rank - 1] : 0;
}

// Whether all columns of the first tile count: a mask hides some of them from some rows, or no product gets shorter.
static bool needs_all(const Walk *w, int64_t width) {
  const BlockLoop *l = &w->block->loops[w->loop];
  bool all = w->block->partition.by_col != 1 || width <= SAMPLE;
  for (uint32_t i = 0; i < l->num_certain; i++)
    all |= l->certain[i].step < 0;
  return all;
}

// Some columns of the first tile say nearly as much of the tiles to come as all of them.
static void find_sample(Walk *w) {
  const BlockLoop *l = &w->block->loops[w->loop];
  MirageNodeView view = mirage__block_def(w->block, top_of(w));
  if (view.op != MIRAGE_OP_REDUCE_MAX)
    return;
  MirageValue scores = resolve(w, view.operands[0]);
  int64_t width = width_of(w, scores);
  bool shorter = false, all = needs_all(w, width);
  for (int32_t s = l->begin; !all && mirage__block_next(w->block, &s, &view) && s < l->end;) {
    MirageValue result = view.num_results == 1 ? resolve(w, view.first_result) : (MirageValue){0};
    if (!w->sought[result.index] || width_of(w, result) != width)
      continue;
    w->hidden[result.index] = COLUMNS_UNREAD;
    shorter |= view.op == MIRAGE_OP_MATMUL && w->block->values[result.index].warpgroup;
  }
  w->hidden[scores.index] = COLUMNS_BOTTOM;
  if (shorter)
    w->out->sample = (BlockNarrow){.columns = SAMPLE, .width = width, .hidden = w->hidden};
}

// -------------------------------------------------------------------------------------------------------------- the loop

static const char *step_inside(Walk *w, const MirageNodeView *view) {
  if (view->op == MIRAGE_OP_LOOP || mirage_op_info(view->op)->kind == MIRAGE_KIND_COLLECTIVE)
    return "a loop or a sum over blocks stands in the loop";
  if (view->num_results != 1 && view->op != MIRAGE_OP_STORE)
    return NULL;
  if (is_now(w, view)) {
    MirageValue now = w->out->now = resolve(w, view->first_result);
    w->degrees[now.index] = (Degree){SHIFTED, {[NOW] = 1}};
    w->kept[now.index] = KEPT_MAXIMUM;
    return NULL;
  }
  Degree degree;
  const char *reason = follow(w, view, &degree);
  if (reason || view->op == MIRAGE_OP_STORE)
    return reason;
  MirageValue result = resolve(w, view->first_result);
  w->degrees[result.index] = degree;
  w->kept[result.index] = (uint8_t)kept_after(w, view);
  w->weights[result.index] =
      view->op == MIRAGE_OP_EXP && degree.form == SCALED && degree.by[NOW] != 0 && w->kept[result.index] != KEPT_ONE;
  return NULL;
}

// A sum of weights as they are, which is small only if all of them are.
static bool tells(Walk *w, MirageValue contribution) {
  MirageNodeView view = mirage__block_def(w->block, contribution);
  if (view.op != MIRAGE_OP_REDUCE_SUM)
    return false;
  MirageValue operand = resolve(w, view.operands[0]);
  while (mirage__block_op(w->block, operand) == MIRAGE_OP_CAST)
    operand = resolve(w, mirage__block_def(w->block, operand).operands[0]);
  bool found = w->weights[operand.index] != 0;
  w->weights[operand.index] = 0;
  return found;
}

static const char *rescaled(Walk *w, uint32_t i, const Degree *contribution) {
  MirageValue factor = resolve(w, w->yield.operands[mirage__block_factor_index(&w->view.attrs->loop, i)]);
  Degree wanted = {SCALED, {[OLD] = -contribution->by[NOW], [NOW] = contribution->by[NOW]}};
  if (contribution->form != SCALED || contribution->by[OLD] != 0 || !same(&w->degrees[factor.index], &wanted))
    return "a sum is rescaled by something else than what its contributions are";
  return NULL;
}

static const char *end_of_loop(Walk *w) {
  const MirageLoopAttrs *attrs = &w->view.attrs->loop;
  for (uint32_t i = 0; i < attrs->num_carries; i++) {
    MirageValue contribution = resolve(w, w->yield.operands[i]),
                result = mirage_ugraph_result(w->block->graph, w->node, i);
    const Degree *degree = &w->degrees[contribution.index];
    if (i == w->out->carry) {
      w->degrees[result.index] = (Degree){SHIFTED, {[NOW] = 1}};
      continue;
    }
    bool rescales = attrs->carries[i].combine == MIRAGE_COMBINE_RESCALE;
    MirageValue argument = mirage_ugraph_argument(w->block->graph, w->node, i);
    if (rescales && w->block->values[argument.index].num_uses)
      return "the loop reads a sum that it rescales";
    const char *reason = rescales               ? rescaled(w, i, degree)
                         : degree->form == FREE ? NULL
                                                : "the loop carries what depends on what is subtracted";
    if (reason)
      return reason;
    w->degrees[result.index] = *degree;
    w->tells[i] = rescales && degree->by[NOW] < 0 && tells(w, contribution);
  }
  for (uint32_t id = 1; id <= mirage_ugraph_num_values(w->block->graph); id++)
    if (w->weights[id])
      return "no sum of the loop tells when its exponentials overflow";
  return NULL;
}

static const char *rest_of_block(Walk *w) {
  MirageNodeView view;
  for (int32_t s = w->block->loops[w->loop].end; mirage__block_next(w->block, &s, &view);) {
    Degree degree;
    const char *reason = follow(w, &view, &degree);
    if (reason)
      return reason;
    if (view.num_results == 1 && view.op != MIRAGE_OP_LOOP)
      w->degrees[resolve(w, view.first_result).index] = degree;
  }
  return NULL;
}

static const char *all_of_loop(Walk *w) {
  MirageNodeView view;
  for (int32_t s = w->block->loops[w->loop].begin;
       mirage__block_next(w->block, &s, &view) && s < w->block->loops[w->loop].end;) {
    const char *reason = step_inside(w, &view);
    if (reason)
      return reason;
  }
  return w->out->now.index ? end_of_loop(w) : "the loop does not subtract the maximum that it carries";
}

// ---------------------------------------------------------------------------------------------------------- the block

// Where values live: partial sums and the maximum in registers, tiles that the block loads for itself.
static const char *places_reason(const Block *block, int32_t loop) {
  const BlockLoop *l = &block->loops[loop];
  MirageNodeView view = mirage_ugraph_node(block->graph, l->node);
  if (l->direct || l->parent >= 0 || l->range < LEAST_SECTIONS)
    return "the loop streams weights, has few iterations, or stands in another";
  if (l->stages == 1 && !l->ahead)
    return "the loop has one buffer for its tiles, and cannot look at the first before it begins";
  if (block->persistent || mirage__team_groups(&block->team) > 1)
    return "blocks take several tiles";
  for (uint32_t i = 0; i < block->num_loads; i++) {
    const BlockLoad *load = &block->loads[i];
    if (load->loop == loop && load->multicast)
      return "blocks share their copies";
  }
  for (uint32_t i = 0; i < view.num_operands; i++)
    if (!block->values[mirage_ugraph_result(block->graph, l->node, i).index].resident)
      return "the loop carries something in shared memory";
  return NULL;
}

static bool find_maximum(Walk *w) {
  const MirageLoopAttrs *attrs = &w->view.attrs->loop;
  uint32_t found = 0;
  for (uint32_t i = 0; i < attrs->num_carries; i++) {
    MirageValue argument = mirage_ugraph_argument(w->block->graph, w->node, i);
    if (attrs->carries[i].combine != MIRAGE_COMBINE_MAX || !w->block->values[argument.index].num_uses)
      continue;
    w->out->carry = i;
    found++;
  }
  w->out->old = mirage_ugraph_argument(w->block->graph, w->node, w->out->carry);
  w->column = &w->block->types[w->out->old.index];
  return found == 1 && w->column->rank && w->column->shape[w->column->rank - 1] == 1 &&
         mirage__block_carry_kind(w->block, w->node, w->out->carry) == CARRY_RESIDENT;
}

static bool get_memory(Walk *w) {
  size_t values = (size_t)mirage_ugraph_num_values(w->block->graph) + 1;
  w->degrees = mirage_arena_alloc_array(w->block->arena, values, sizeof *w->degrees);
  w->kept = mirage_arena_alloc_array(w->block->arena, values, sizeof *w->kept);
  w->weights = mirage_arena_alloc_array(w->block->arena, values, sizeof *w->weights);
  w->tells = mirage_arena_alloc_array(w->block->arena, w->view.num_operands + 1, sizeof *w->tells);
  w->sought = mirage_arena_alloc_array(w->block->arena, values, sizeof *w->sought);
  w->hidden = mirage_arena_alloc_array(w->block->arena, values, sizeof *w->hidden);
  w->out->kept = w->kept;
  w->out->tells = w->tells;
  w->out->sought = w->sought;
  return w->degrees && w->kept && w->weights && w->tells && w->sought && w->hidden;
}

const char *mirage__maxima_reason(const Block *block, int32_t loop, BlockMaxima *out) {
  const char *reason = places_reason(block, loop);
  if (reason)
    return reason;
  *out = (BlockMaxima){.limit = 0x1p40};
  Walk w = {.block = block, .loop = loop, .node = block->loops[loop].node, .references = AGREED, .out = out};
  w.view = mirage_ugraph_node(block->graph, w.node);
  w.yield = mirage__block_yield(block, w.node);
  if (!find_maximum(&w))
    return "the loop reads no running maximum of rows, or several";
  if (!get_memory(&w))
    return "memory is short";
  w.degrees[out->old.index] = (Degree){SHIFTED, {[OLD] = 1}};
  w.kept[out->old.index] = KEPT_MAXIMUM;
  w.inside = true;
  reason = all_of_loop(&w);
  w.inside = false;
  if (!reason)
    reason = rest_of_block(&w);
  if (reason)
    return reason;
  find_unread(&w);
  find_sought(&w);
  find_sample(&w);
  return NULL;
}

bool mirage__keeps_maxima(const Block *block, int32_t loop, BlockMaxima *out) {
  return block->first_maxima && !mirage__maxima_reason(block, loop, out);
}

MirageStatus mirage__plan_maxima(Plan *plan, const char **out_why) {
  BlockMaxima maxima;
  *out_why = "those of every tile are asked for";
  if (!plan->block.first_maxima)
    return MIRAGE_OK;
  *out_why = "there is no loop";
  for (int32_t l = 0; l < plan->block.num_loops && *out_why; l++)
    *out_why = mirage__maxima_reason(&plan->block, l, &maxima);
  if (*out_why)
    mirage_diag_emit(plan->diag, MIRAGE_SEVERITY_REMARK, plan->loc, "layout: loops take the maxima of every tile: %s",
                     *out_why);
  plan->block.first_maxima = !*out_why;
  return MIRAGE_OK;
}
