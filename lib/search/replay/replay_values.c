// replay_values.c - operators of a candidate as steps of the search: what the search has derived is found again, what
// it has not is tried by its own functions, and its funnel tells which test cuts it.
//
// Derived operators are read as their expansion. A sum is read where its last part is added: parts of it may be added
// by tiles, iterations, blocks and kernels in any order, the search knows one (the tile's, then the loop's). Maxima
// that only stabilise exponentials are read as the search reads them, as 0.
//
// Example:  sum += exp(x); reduce_sum(sum) after the loop    is read as    sum += reduce_sum(exp(x))
#include "search/block/search_structure.h"
#include "search/replay/replay_internal.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// --------------------------------------------------------------------------------------------- words

bool mirage__replay_cut(ReplayWalk *walk, MirageNode at, MirageReplayCut cut, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(walk->why, sizeof walk->why, format, arguments);
  va_end(arguments);
  walk->cut = cut;
  walk->at = at;
  return false;
}

const char *mirage__replay_axis_name(const ReplayWalk *walk, uint32_t axis, char *buffer, size_t size) {
  const SearchProgram *program = walk->space->program;
  snprintf(buffer, size, "an inner axis");
  for (uint32_t i = mirage_ugraph_num_inputs(program->graph); i-- > 0;) {
    MirageValue input = mirage_ugraph_get_input(program->graph, i);
    for (uint32_t d = 0; d < mirage_ugraph_type(program->graph, input)->rank; d++)
      if (program->dims[input.index][d] == axis)
        snprintf(buffer, size, "dimension %u of input %u", d, i);
  }
  return buffer;
}

uint8_t mirage__replay_dim(const ReplayWalk *walk, const ReplayValue *value, uint32_t rank, uint32_t dim) {
  return walk->space->tensors[value->tensor].dims[SEARCH_RANK - rank + dim];
}

// ---------------------------------------------------------------------------------------------- steps

static uint32_t find_derivation(const SearchSpace *space, const SearchDerivation *how, uint32_t *out_derivation) {
  for (uint32_t i = 1; i <= space->num_tensors; i++)
    for (uint32_t d = space->tensors[i].derivations; d; d = space->derivations[d].next) {
      const SearchDerivation *known = &space->derivations[d];
      if (known->op == how->op && known->flags == how->flags && known->dim == how->dim && known->a == how->a &&
          known->b == how->b) {
        *out_derivation = d;
        return i;
      }
    }
  return 0;
}

// Which test of the search cut the operator, by what the funnel counted.
static bool explain(ReplayWalk *walk, MirageNode at, const MirageFunnel *before) {
  const SearchSpace *space = walk->space;
  const MirageFunnel *after = &space->funnel;
  if (after->cut_expr > before->cut_expr)
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_EXPRESSION,
                              "its abstract expression cannot become part of the program's");
  if (after->cut_axis > before->cut_axis)
    return mirage__replay_cut(
        walk, at, MIRAGE_REPLAY_AXIS,
        "its operands walk different axes or stages of the loop, or it needs tiles of other blocks");
  if (after->cut_order > before->cut_order)
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_ORDER, "it gives an operand again, or 0");
  if (after->cut_memory > before->cut_memory)
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_MEMORY,
                              "the smallest tile of its result does not fit shared memory");
  if (after->cut_merge > before->cut_merge)
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_MERGE, "its result is 0 or 1 everywhere");
  if (after->states > before->states)
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_VALUE, "its result has no value in a finite field");
  return mirage__replay_cut(
      walk, at, MIRAGE_REPLAY_LIMIT,
      "with what is still needed it takes more than max-block-ops = %u operators, or more than %u "
      "element-wise ones in a row",
      space->options->max_block_ops, mirage__search_elementwise_limit(space->program));
}

static bool is_chosen(const ReplayWalk *walk, uint32_t tensor) {
  for (uint32_t i = 0; i < walk->num_chosen; i++)
    if (walk->chosen_tensor[i] == tensor)
      return true;
  return false;
}

static void choose(ReplayWalk *walk, uint32_t derivation, uint32_t tensor) {
  bool known = is_chosen(walk, tensor);
  walk->num_merged += known;
  if (known || walk->num_chosen == REPLAY_MAX_STEPS)
    return;
  walk->chosen[walk->num_chosen] = derivation;
  walk->chosen_tensor[walk->num_chosen++] = tensor;
}

void mirage__replay_choose_leaf(ReplayWalk *walk, uint32_t derivation, uint32_t tensor) {
  if (!is_chosen(walk, tensor))
    choose(walk, derivation, tensor);
}

bool mirage__replay_step(ReplayWalk *walk, MirageNode at, SearchDerivation how, uint32_t *out_tensor) {
  SearchSpace *space = walk->space;
  bool commutes = how.op == MIRAGE_OP_ADD || how.op == MIRAGE_OP_MUL || how.op == MIRAGE_OP_MAX;
  if (commutes && how.a > how.b) {
    uint32_t swap = how.a;
    how.a = how.b;
    how.b = swap;
  }
  if (!mirage__search_tries(space, &how))
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_OPERATOR,
                              "the program has no such operator, so the search has none");
  uint32_t derivation = 0;
  *out_tensor = find_derivation(space, &how, &derivation);
  if (!*out_tensor) {
    MirageFunnel before = space->funnel;
    walk->status = mirage__search_try(space, &how);
    if (walk->status != MIRAGE_OK)
      return false;
    *out_tensor = find_derivation(space, &how, &derivation);
    if (!*out_tensor)
      return explain(walk, at, &before);
    if (walk->saturated)
      return mirage__replay_cut(walk, at, MIRAGE_REPLAY_LOST,
                                "every test of the search lets it pass, and yet the search did not meet it");
  }
  walk->num_unmet += derivation > walk->num_met;
  choose(walk, derivation, *out_tensor);
  return true;
}

// Where all parts of a sum are added, the value becomes the accumulator's tensor.
static bool complete(ReplayWalk *walk, MirageNode at, uint32_t rank, ReplayValue *value) {
  const SearchTensor *tensor = &walk->space->tensors[value->tensor];
  if (walk->whole || !mirage__search_is_inside(tensor->stage) || value->apart)
    return true;
  for (uint32_t d = 0; d < rank; d++)
    if (value->parts[d] > 1)
      return true;
  for (uint32_t d = 0; d < SEARCH_RANK; d++)
    if (tensor->dims[d] == walk->space->loop_axis)
      return true; // a tile of it is still to be summed, or used element by element
  SearchDerivation how = {.op = MIRAGE_OP_LOOP, .flags = value->maximum, .a = value->tensor};
  value->summed = value->maximum = false;
  return mirage__replay_step(walk, at, how, &value->tensor);
}

// ------------------------------------------------------------------------------------------- operands

static bool find_constant(ReplayWalk *walk, MirageNode at, double constant, uint32_t *out_tensor) {
  const SearchSpace *space = walk->space;
  for (uint32_t i = 1; i <= space->num_tensors; i++) {
    uint32_t how = space->tensors[i].derivations;
    if (!space->tensors[i].constant || space->program->constants[space->derivations[how].a] != constant)
      continue;
    *out_tensor = i;
    mirage__replay_choose_leaf(walk, how, i);
    return true;
  }
  return mirage__replay_cut(walk, at, MIRAGE_REPLAY_OPERATOR, "the program has no constant %g, so the search has none",
                            constant);
}

bool mirage__replay_settle(ReplayWalk *walk, MirageNode at, ReplayValue *value) {
  SearchDerivation how = {.op = MIRAGE_OP_DIV, .a = value->tensor, .b = value->divisor};
  if (value->kind == REPLAY_RECIPROCAL) {
    how.b = value->tensor;
    if (!find_constant(walk, at, 1, &how.a))
      return false;
    value->kind = REPLAY_TENSOR;
  } else if (!value->divisor) {
    return true;
  }
  value->divisor = 0;
  return mirage__replay_step(walk, at, how, &value->tensor);
}

// The tensor that an operator takes from a value. `takes_parts`: it may hold parts of a sum.
bool mirage__replay_operand(ReplayWalk *walk, MirageNode at, MirageValue from, bool takes_parts, ReplayValue *out) {
  *out = walk->values[from.index];
  uint32_t rank = mirage_ugraph_type(walk->graph, from)->rank;
  switch (out->kind) {
  case REPLAY_INPUT:
    return mirage__replay_load_whole(walk, at, out);
  case REPLAY_CONSTANT:
    out->kind = REPLAY_TENSOR;
    return find_constant(walk, at, out->constant, &out->tensor);
  case REPLAY_CARRY:
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_OPERATOR, "it reads what earlier iterations left");
  case REPLAY_BOTTOM:
    return walk->whole || mirage__replay_cut(walk, at, MIRAGE_REPLAY_OPERATOR, "it reads the value below every number");
  case REPLAY_UNKNOWN:
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_OPERATOR, "its operand is not known to the search");
  default:
    break;
  }
  if (out->share)
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_AXIS,
                              "its operand is one part of a sum, divided by a part of another");
  if (!mirage__replay_settle(walk, at, out))
    return false;
  if (out->kind != REPLAY_TENSOR)
    return true;
  bool parts = out->summed && out->apart;
  for (uint32_t d = 0; d < rank; d++)
    parts |= out->parts[d] > 1;
  if (parts && !takes_parts && !walk->whole)
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_AXIS,
                              "it needs the whole sum, and its operand is one part of it");
  if (!out->summed || parts || walk->whole || (takes_parts && walk->tiles_first))
    return true;
  // Added element by element: the accumulator has the tile's shape.
  SearchDerivation how = {.op = MIRAGE_OP_LOOP, .flags = out->maximum, .a = out->tensor};
  out->summed = out->maximum = false;
  return mirage__replay_step(walk, at, how, &out->tensor);
}

// A block that keeps its part of a row computes with it before and after blocks meet: to the search these are two loops
// of one iteration. Gives what `tensor` is in the loop that `stage` is inside of, by the operators that made it.
static bool lift(ReplayWalk *walk, MirageNode at, uint32_t stage, uint32_t *in_out_tensor) {
  SearchSpace *space = walk->space;
  const SearchTensor *tensor = &space->tensors[*in_out_tensor];
  uint32_t chosen = 0;
  if (!mirage__search_is_inside(tensor->stage) || tensor->stage >= stage)
    return true;
  while (chosen < walk->num_chosen && walk->chosen_tensor[chosen] != *in_out_tensor)
    chosen++;
  if (chosen == walk->num_chosen)
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_AXIS, "it needs a value of an earlier loop");
  SearchDerivation how = space->derivations[walk->chosen[chosen]];
  if (how.op == MIRAGE_OP_LOAD) {
    uint32_t *walked = &walk->kernels[walk->num_kernels - 1].num_walked, before = *walked;
    *walked = (stage - SEARCH_INSIDE) / 2;
    bool loaded = mirage__replay_input(walk, at, how.a, true, in_out_tensor);
    *walked = before;
    return loaded;
  }
  return lift(walk, at, stage, &how.a) && (!mirage__search_is_binary(how.op) || lift(walk, at, stage, &how.b)) &&
         mirage__replay_step(walk, at, how, in_out_tensor);
}

// Brings both operands into the loop of the later one.
static bool lift_both(ReplayWalk *walk, MirageNode at, SearchDerivation *how) {
  const SearchTensor *a = &walk->space->tensors[how->a], *b = &walk->space->tensors[how->b];
  uint32_t stage = a->stage > b->stage ? a->stage : b->stage;
  if (walk->whole || !(mirage__search_is_inside(a->stage) || mirage__search_is_inside(b->stage)))
    return true;
  stage += !mirage__search_is_inside(stage);
  uint32_t merged = walk->num_merged; // values that are lifted twice are no values of the candidate
  bool lifted = lift(walk, at, stage, &how->a) && lift(walk, at, stage, &how->b);
  walk->num_merged = merged;
  return lifted;
}

// Parts of the loop's axis that the result of an operator on both holds.
static bool join(ReplayWalk *walk, MirageNode at, const ReplayValue *a, const ReplayValue *b, ReplayValue *out) {
  if (a->apart && b->apart && a->apart != b->apart && !walk->whole)
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_AXIS, "its operands hold different parts of the loop's axis");
  *out = (ReplayValue){.kind = REPLAY_TENSOR, .apart = a->apart | b->apart};
  return true;
}

// ----------------------------------------------------------------------------------------- operators

// x * 1, x / 1, x + 0, x - 0.
static const ReplayValue *idle_operand(const ReplayWalk *walk, MirageOp op, const ReplayValue *a,
                                       const ReplayValue *b) {
  const SearchSpace *space = walk->space;
  const ReplayValue *operands[] = {a, b};
  bool commutes = op == MIRAGE_OP_ADD || op == MIRAGE_OP_MUL;
  double neutral = op == MIRAGE_OP_ADD || op == MIRAGE_OP_SUB ? 0 : 1;
  for (uint32_t i = commutes ? 0 : 1; i < 2; i++) {
    const SearchTensor *tensor = &space->tensors[operands[i]->tensor];
    if (tensor->constant && space->program->constants[space->derivations[tensor->derivations].a] == neutral)
      return operands[1 - i];
  }
  return NULL;
}

static bool apply(ReplayWalk *walk, MirageNode at, MirageOp op, const ReplayValue *a, const ReplayValue *b,
                  ReplayValue *out) {
  SearchDerivation how = {.op = (uint8_t)op, .a = a->tensor, .b = b ? b->tensor : 0};
  if (a->kind != REPLAY_TENSOR || (b && b->kind != REPLAY_TENSOR))
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_OPERATOR, "its operand is no tensor of the search");
  if (b && (!join(walk, at, a, b, out) || !lift_both(walk, at, &how)))
    return false;
  if (!b)
    *out = (ReplayValue){.kind = REPLAY_TENSOR, .apart = a->apart};
  if (mirage__replay_step(walk, at, how, &out->tensor))
    return true;
  const ReplayValue *same = b && walk->cut == MIRAGE_REPLAY_ORDER ? idle_operand(walk, op, a, b) : NULL;
  if (!same)
    return false;
  walk->cut = MIRAGE_REPLAY_NONE;
  walk->num_merged++;
  *out = *same;
  return true;
}

// Where tiles are whole there is one iteration and one block: the running maximum starts below every number, and is the
// tile's; what it moved by, and what it differs by from that of all blocks, is nothing.
static bool apply_whole(MirageOp op, const ReplayValue *a, const ReplayValue *b, ReplayValue *out) {
  bool bottom = a->kind == REPLAY_BOTTOM || (b && b->kind == REPLAY_BOTTOM);
  if (op == MIRAGE_OP_MAX && bottom)
    *out = a->kind == REPLAY_BOTTOM ? *b : *a;
  else if (op == MIRAGE_OP_SUB &&
           (bottom || (a->kind == REPLAY_TENSOR && b->kind == REPLAY_TENSOR && a->tensor == b->tensor)))
    *out = (ReplayValue){.kind = REPLAY_GAUGE};
  else
    return false;
  return true;
}

// Maxima read as 0 and their exponentials as 1. False when the operator is none of these; then *out_taken is false.
static bool apply_gauge(ReplayWalk *walk, MirageNode at, MirageOp op, const ReplayValue *a, const ReplayValue *b,
                        bool *out_taken, ReplayValue *out) {
  if (walk->whole && apply_whole(op, a, b, out)) {
    *out_taken = true;
    return true;
  }
  bool gauges = a->kind == REPLAY_GAUGE || (b && b->kind == REPLAY_GAUGE);
  bool factors = a->kind == REPLAY_FACTOR || (b && b->kind == REPLAY_FACTOR);
  *out_taken = gauges || factors;
  if (!*out_taken)
    return true;
  bool both = b && (a->kind == b->kind);
  if (op == MIRAGE_OP_MAX && !factors && !walk->whole)
    *out = (ReplayValue){.kind = REPLAY_GAUGE};
  else if (op == MIRAGE_OP_SUB && b->kind == REPLAY_GAUGE)
    *out = *a;
  else if (op == MIRAGE_OP_ADD && gauges && !both && !factors) // after a logarithm
    *out = a->kind == REPLAY_GAUGE ? *b : *a;
  else if (op == MIRAGE_OP_EXP && gauges)
    *out = (ReplayValue){.kind = REPLAY_FACTOR};
  else if (op == MIRAGE_OP_MUL && factors && !gauges)
    *out = both ? *a : a->kind == REPLAY_FACTOR ? *b : *a;
  else if (op == MIRAGE_OP_MUL && gauges && !both && !factors) // scaled
    *out = (ReplayValue){.kind = REPLAY_GAUGE};
  else
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_OPERATOR,
                              "the search uses a maximum that stabilises only in sums and differences");
  return true;
}

bool mirage__replay_is_gauge_program(const ReplayWalk *walk) {
  return walk->space->num_stable > 0 && !walk->space->program->uses[MIRAGE_OP_REDUCE_MAX];
}

// What tails are masked with is nothing to the search, which knows no tails.
static bool apply_mask(MirageOp op, const ReplayValue *a, const ReplayValue *b, ReplayValue *out) {
  bool masks = a->kind == REPLAY_MASK && b->kind == REPLAY_MASK;
  if (op == MIRAGE_OP_AND && masks)
    *out = *a;
  else if (op == MIRAGE_OP_MASK && a->kind == REPLAY_MASK)
    *out = *b;
  else if (op == MIRAGE_OP_SUB && a->filled && !b->filled && a->kind == REPLAY_TENSOR && a->tensor == b->tensor)
    *out = (ReplayValue){.kind = REPLAY_MASK};
  else if (op == MIRAGE_OP_ADD && (a->kind == REPLAY_MASK || b->kind == REPLAY_MASK))
    *out = a->kind == REPLAY_MASK ? *b : *a;
  else
    return false;
  return true;
}

// An index that is compared with an end: the search knows no such number.
static bool is_bounded(const ReplayWalk *walk, const MirageNodeView *node) {
  return node->op == MIRAGE_OP_LESS && walk->values[node->operands[0].index].kind == REPLAY_INDEX &&
         walk->values[node->operands[1].index].kind == REPLAY_CONSTANT;
}

// One elementary element-wise operator on values.
static bool elementwise(ReplayWalk *walk, MirageNode at, MirageOp op, const ReplayValue *a, const ReplayValue *b,
                        ReplayValue *out) {
  bool taken;
  if (b && apply_mask(op, a, b, out))
    return true;
  if (!apply_gauge(walk, at, op, a, b, &taken, out))
    return false;
  return taken || apply(walk, at, op, a, b, out);
}

static bool is_one(const ReplayValue *value) { return value->kind == REPLAY_CONSTANT && value->constant == 1; }

// 1 / x where the search has no such quotient, and products with it, which it has as quotients: multiplying is quicker
// where many are divided by few (search_build.c). *out_taken is false when the operator is none of these.
static bool apply_reciprocal(ReplayWalk *walk, MirageNode at, const MirageNodeView *node, bool *out_taken) {
  const ReplayValue *a = &walk->values[node->operands[0].index], *b = &walk->values[node->operands[1].index];
  ReplayValue x, *out = &walk->values[node->first_result.index];
  *out_taken = false;
  if (node->op == MIRAGE_OP_DIV && is_one(a)) {
    uint32_t quotient;
    if (!mirage__replay_operand(walk, at, node->operands[1], false, &x) || x.kind != REPLAY_TENSOR)
      return walk->cut == MIRAGE_REPLAY_NONE && walk->status == MIRAGE_OK;
    ReplayValue one = *a;
    if (find_constant(walk, at, 1, &one.tensor) &&
        mirage__replay_step(walk, at, (SearchDerivation){.op = MIRAGE_OP_DIV, .a = one.tensor, .b = x.tensor},
                            &quotient)) {
      *out = (ReplayValue){.kind = REPLAY_TENSOR, .tensor = quotient, .apart = x.apart};
      return *out_taken = true;
    }
    walk->cut = MIRAGE_REPLAY_NONE;
    *out_taken = walk->status == MIRAGE_OK;
    *out = (ReplayValue){.kind = REPLAY_RECIPROCAL, .tensor = x.tensor, .apart = x.apart};
    return *out_taken;
  }
  if (node->op != MIRAGE_OP_MUL || (a->kind != REPLAY_RECIPROCAL && b->kind != REPLAY_RECIPROCAL))
    return true;
  *out_taken = true;
  bool first = a->kind == REPLAY_RECIPROCAL;
  const ReplayValue by = first ? *a : *b;
  x = first ? *b : *a;
  if (x.kind != REPLAY_RECIPROCAL && !x.divisor &&
      !mirage__replay_operand(walk, at, node->operands[first ? 1 : 0], false, &x))
    return false;
  uint32_t *divisor = x.kind == REPLAY_RECIPROCAL ? &x.tensor : &x.divisor;
  SearchDerivation product = {.op = MIRAGE_OP_MUL, .a = *divisor, .b = by.tensor};
  if (!*divisor)
    *divisor = by.tensor;
  else if (!mirage__replay_step(walk, at, product, divisor))
    return false;
  x.apart |= by.apart;
  *out = x;
  return true;
}

static bool walk_expansion(ReplayWalk *walk, MirageNode at, const MirageExpansion *expansion, const ReplayValue *a,
                           const ReplayValue *b, ReplayValue *out) {
  ReplayValue values[2 + 14];
  values[0] = *a;
  values[1] = b ? *b : *a;
  for (uint32_t i = 0; i < expansion->num_steps; i++) {
    const MirageExpansionStep *step = &expansion->steps[i];
    ReplayValue *result = &values[2 + i];
    if (step->op == MIRAGE_OP_CONSTANT) {
      *result = (ReplayValue){.kind = REPLAY_TENSOR};
      if (!find_constant(walk, at, step->value, &result->tensor))
        return false;
      continue;
    }
    bool binary = mirage_op_info(step->op)->kind == MIRAGE_KIND_BINARY;
    if (!elementwise(walk, at, step->op, &values[step->a], binary ? &values[step->b] : NULL, result))
      return false;
  }
  *out = values[1 + expansion->num_steps];
  return true;
}

static MirageNodeView definition(const ReplayWalk *walk, MirageValue value) {
  MirageNode def = mirage_ugraph_def(walk->graph, value);
  return def.index ? mirage_ugraph_node(walk->graph, def) : (MirageNodeView){0};
}

// Whether a product further on takes the quotient, cast or not, and its divisor times something.
static bool comes_back(const ReplayWalk *walk, MirageNode at, const MirageNodeView *quotient) {
  for (uint32_t i = at.index + 1; i <= mirage_ugraph_num_nodes(walk->graph); i++) {
    MirageNodeView product = mirage_ugraph_node(walk->graph, (MirageNode){i});
    for (uint32_t o = 0; product.op == MIRAGE_OP_MUL && o < 2; o++) {
      MirageNodeView scaled = definition(walk, product.operands[1 - o]);
      MirageValue from = product.operands[o];
      while (definition(walk, from).op == MIRAGE_OP_CAST)
        from = definition(walk, from).operands[0];
      if (from.index == quotient->first_result.index && scaled.op == MIRAGE_OP_MUL &&
          (scaled.operands[0].index == quotient->operands[1].index ||
           scaled.operands[1].index == quotient->operands[1].index))
        return true;
    }
  }
  return false;
}

static bool are_parts(const ReplayValue *a, const ReplayValue *b) {
  return a->kind == REPLAY_TENSOR && b->kind == REPLAY_TENSOR && a->apart && a->apart == b->apart;
}

// A part of a sum travels divided by the same part of another, and is multiplied by that where all are added
// (search_narrow.c): to the search nothing happened to it. False when the operator is none of these.
static bool apply_share(ReplayWalk *walk, MirageNode at, const MirageNodeView *node) {
  const ReplayValue *a = &walk->values[node->operands[0].index], *b = &walk->values[node->operands[1].index];
  ReplayValue *out = &walk->values[node->first_result.index];
  if (!are_parts(a, b))
    return false;
  if (node->op == MIRAGE_OP_DIV && !a->share && !b->share && comes_back(walk, at, node)) {
    *out = *a;
    out->share = b->tensor;
    return true;
  }
  if (node->op != MIRAGE_OP_MUL || (a->share != b->tensor && b->share != a->tensor))
    return false;
  *out = a->share == b->tensor ? *a : *b;
  out->share = 0;
  return true;
}

bool mirage__replay_elementwise(ReplayWalk *walk, MirageNode at, const MirageNodeView *node) {
  ReplayValue a, b;
  bool binary = node->num_operands == 2, taken = false;
  if (binary && apply_share(walk, at, node))
    return true;
  if (is_bounded(walk, node)) {
    walk->values[node->first_result.index] = (ReplayValue){.kind = REPLAY_MASK};
    return true;
  }
  if (binary && !apply_reciprocal(walk, at, node, &taken))
    return false;
  if (taken)
    return true;
  // What is multiplied by a factor exp(m - m') may be a part of a sum.
  bool scales = node->op == MIRAGE_OP_MUL && (walk->values[node->operands[0].index].kind == REPLAY_FACTOR ||
                                              walk->values[node->operands[1].index].kind == REPLAY_FACTOR);
  if (!mirage__replay_operand(walk, at, node->operands[0], scales, &a) ||
      (binary && !mirage__replay_operand(walk, at, node->operands[1], scales, &b)))
    return false;
  ReplayValue *out = &walk->values[node->first_result.index];
  const MirageExpansion *expansion = mirage_op_expansion(node->op);
  if (expansion)
    return walk_expansion(walk, at, expansion, &a, binary ? &b : NULL, out);
  return elementwise(walk, at, node->op, &a, binary ? &b : NULL, out);
}

bool mirage__replay_matmul(ReplayWalk *walk, MirageNode at, const MirageNodeView *node) {
  ReplayValue a, b, *out = &walk->values[node->first_result.index];
  if (!mirage__replay_operand(walk, at, node->operands[0], false, &a) ||
      !mirage__replay_operand(walk, at, node->operands[1], false, &b))
    return false;
  if (a.kind != REPLAY_TENSOR || b.kind != REPLAY_TENSOR)
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_OPERATOR, "the search multiplies no matrix by a maximum");
  SearchDerivation how = {.op = MIRAGE_OP_MATMUL, .a = a.tensor, .b = b.tensor};
  if (node->attrs && node->attrs->matmul.transpose_a)
    how.flags |= SEARCH_TRANSPOSE_A;
  if (node->attrs && node->attrs->matmul.transpose_b)
    how.flags |= SEARCH_TRANSPOSE_B;
  return join(walk, at, &a, &b, out) && lift_both(walk, at, &how) && mirage__replay_step(walk, at, how, &out->tensor) &&
         complete(walk, at, mirage_ugraph_type(walk->graph, node->first_result)->rank, out);
}

// ----------------------------------------------------------------------------------------- reductions

// Adds parts that lie along a dimension, `count` into one. Sets *in_out_count to what of it the tile's own elements
// are.
static bool reduce_parts(ReplayWalk *walk, MirageNode at, uint32_t dim, int64_t *in_out_count, ReplayValue *value) {
  int64_t parts = value->parts[dim] > 1 ? value->parts[dim] : 1;
  if (parts == 1)
    return true;
  if (parts % *in_out_count == 0) {
    value->parts[dim] = parts / *in_out_count;
    *in_out_count = 1;
    return true;
  }
  if (*in_out_count % parts != 0)
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_AXIS, "%lld parts of a sum are added %lld at a time",
                              (long long)parts, (long long)*in_out_count);
  value->parts[dim] = 1;
  *in_out_count /= parts;
  return true;
}

// Reduces the tile's own elements; those that are left are parts that something else adds later.
static bool reduce_tile(ReplayWalk *walk, MirageNode at, MirageOp op, uint32_t rank, uint32_t dim, int64_t left,
                        ReplayValue *value) {
  SearchDerivation how = {.op = (uint8_t)op, .a = value->tensor, .dim = (uint8_t)(SEARCH_RANK - rank + dim)};
  if (!mirage__replay_dim(walk, value, rank, dim))
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_AXIS, "it reduces a dimension that walks no axis of the program");
  if (!mirage__replay_step(walk, at, how, &value->tensor))
    return false;
  value->parts[dim] = left;
  value->summed |= left > 1;
  value->maximum |= left > 1 && op == MIRAGE_OP_REDUCE_MAX;
  return true;
}

bool mirage__replay_reduce(ReplayWalk *walk, MirageNode at, const MirageNodeView *node) {
  ReplayValue value = walk->values[node->operands[0].index], *out = &walk->values[node->first_result.index];
  const MirageType *type = mirage_ugraph_type(walk->graph, node->operands[0]);
  uint32_t dim = (uint32_t)node->attrs->reduce.dim;
  int64_t left = node->attrs->reduce.extent, count = type->shape[dim] / left, all = type->shape[dim];
  bool mean = node->op == MIRAGE_OP_REDUCE_MEAN, maximum = node->op == MIRAGE_OP_REDUCE_MAX;
  if (value.kind == REPLAY_MASK) {
    *out = value;
    return true;
  }
  if (value.kind == REPLAY_GAUGE || (maximum && mirage__replay_is_gauge_program(walk))) {
    *out = (ReplayValue){.kind = REPLAY_GAUGE};
    return true;
  }
  if (!mirage__replay_operand(walk, at, node->operands[0], true, &value))
    return false;
  if (value.summed && value.maximum != maximum)
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_AXIS, "parts of a sum and of a maximum are mixed");
  bool had_parts = value.parts[dim] > 1;
  if (!reduce_parts(walk, at, dim, &count, &value))
    return false;
  value.maximum |= had_parts && maximum;
  if (count > 1 &&
      !reduce_tile(walk, at, maximum ? MIRAGE_OP_REDUCE_MAX : MIRAGE_OP_REDUCE_SUM, type->rank, dim, left, &value))
    return false;
  if (!complete(walk, at, type->rank, &value))
    return false;
  *out = value;
  if (!mean)
    return true;
  ReplayValue divisor = {.kind = REPLAY_TENSOR};
  return find_constant(walk, at, (double)(all / left), &divisor.tensor) &&
         apply(walk, at, MIRAGE_OP_DIV, &value, &divisor, out);
}

// Adds what the blocks or iterations of some coordinates hold.
bool mirage__replay_gather(ReplayWalk *walk, MirageNode at, uint8_t coordinates, int64_t times, bool maximum,
                           uint32_t rank, ReplayValue *value) {
  if (value->kind == REPLAY_GAUGE && maximum)
    return true;
  if (!mirage__replay_settle(walk, at, value))
    return false;
  if (value->kind != REPLAY_TENSOR)
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_OPERATOR, "the search adds no such value up");
  if (times == 1)
    return true;
  if ((value->apart & coordinates) != coordinates) {
    if (maximum && !(value->apart & coordinates))
      return true;
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_AXIS, "it adds the same value %lld times", (long long)times);
  }
  if (value->summed && value->maximum != maximum)
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_AXIS, "parts of a sum and of a maximum are mixed");
  value->apart &= (uint8_t)~coordinates;
  value->summed = !walk->whole;
  value->maximum = maximum && !walk->whole;
  return complete(walk, at, rank, value);
}
