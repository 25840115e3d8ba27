// test_operator_rules.c - walks the operator table and asks for everything that an operator needs beyond its row.
//
// Each operator is written alone, as a program, as a tile of a block and as a fragment of a thread, wherever its row says
// that it exists. Each rule of the table below is tried on it; what is missing is told by operator and folder, all gaps
// at once. Gaps that are meant stand in `without`, and one that is no gap fails too.
#include "mirage/codegen.h"
#include "mirage/cost.h"
#include "mirage/emulator.h"
#include "mirage/expr.h"
#include "mirage/guard.h"
#include "mirage/search.h"
#include "mirage/verify.h"
#include "search/schedule/search_tails.h"

#include "capture.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SIDE = 16, ELEMENTS = SIDE * SIDE, MOST = 2 * ELEMENTS, MAX_OPERANDS = 3 };

static Capture capture;
static const MirageDiag DIAG = {capture_emit, &capture};

// ------------------------------------------------------------------------------------------------------- programs

static MirageAttrs attrs_of(const MirageOpInfo *info, MirageType type) {
  MirageAttrs attrs = {0};
  switch (info->attrs) {
  case MIRAGE_ATTRS_REDUCE:
    attrs.reduce.dim = 1;
    attrs.reduce.extent = 1;
    break;
  case MIRAGE_ATTRS_SHAPE:
    attrs.shape.type = type;
    break;
  case MIRAGE_ATTRS_CONSTANT:
    attrs.constant.type = type;
    attrs.constant.value = 0.5;
    break;
  case MIRAGE_ATTRS_REPEAT:
    attrs.repeat.times = 2;
    break;
  case MIRAGE_ATTRS_PERM:
    attrs.perm.perm[0] = 1;
    break;
  case MIRAGE_ATTRS_SLICE:
    attrs.slice.begin = 4;
    attrs.slice.end = 12;
    break;
  case MIRAGE_ATTRS_DIM:
    attrs.dim.dim = 1;
    break;
  case MIRAGE_ATTRS_SLOPE:
    attrs.slope.slope = 0.25;
    break;
  case MIRAGE_ATTRS_EXPONENT:
    attrs.exponent.exponent = 3;
    break;
  case MIRAGE_ATTRS_BOUNDS:
    attrs.bounds.low = -0.5;
    attrs.bounds.high = 0.75;
    break;
  case MIRAGE_ATTRS_EPS:
    attrs.eps.eps = 0.001;
    break;
  case MIRAGE_ATTRS_SDPA:
    attrs.sdpa.scale = 0.25;
    break;
  case MIRAGE_ATTRS_IOTA:
    attrs.iota.type = type;
    attrs.iota.type.dtype = MIRAGE_I32;
    attrs.iota.start = 3;
    break;
  default:
    break;
  }
  return attrs;
}

static uint32_t arity(const MirageOpInfo *info) { return info->max_operands < MAX_OPERANDS ? info->max_operands : 2; }

// The operands, of the elements that the operator takes.
static void give_predicates(MirageUGraph *g, MirageOp op, const MirageValue *operands, MirageValue *out) {
  MirageTyping typing = mirage_op_typing(op);
  for (uint32_t i = 0; i < MAX_OPERANDS; i++) {
    bool predicate = typing == MIRAGE_TYPING_PREDICATES || (typing == MIRAGE_TYPING_MASKS && i == 0);
    const MirageValue compared[] = {operands[i], operands[(i + 1) % MAX_OPERANDS]};
    out[i] = predicate ? mirage_ugraph_apply(g, MIRAGE_OP_LESS, 2, compared, NULL) : operands[i];
  }
}

// A number for what the operator gives: of a predicate and an index it is that, of bottom 0.
static MirageValue as_number(MirageUGraph *g, MirageOp op, MirageValue value) {
  if (op == MIRAGE_OP_MASK)
    return mirage_ugraph_apply(g, MIRAGE_OP_EXP, 1, &value, NULL);
  bool number = mirage_dtype_family(mirage_ugraph_type(g, value)->dtype) == MIRAGE_FAMILY_FLOAT;
  return number ? value : mirage_ugraph_cast(g, value, MIRAGE_F32);
}

static MirageValue apply(MirageUGraph *g, MirageOp op, const MirageValue *inputs) {
  const MirageOpInfo *info = mirage_op_info(op);
  MirageValue operands[MAX_OPERANDS];
  give_predicates(g, op, inputs, operands);
  uint32_t count = info->kind == MIRAGE_KIND_SUGAR ? info->min_operands : arity(info);
  MirageType type = mirage_ugraph_type(g, inputs[0]) ? *mirage_ugraph_type(g, inputs[0]) : (MirageType){0};
  if (op == MIRAGE_OP_RESHAPE) {
    type.shape[0] /= 2;
    type.shape[1] *= 2;
  }
  MirageAttrs attrs = attrs_of(info, type);
  return as_number(g, op, mirage_ugraph_apply(g, op, count, operands, &attrs));
}

// The operator inside one block, as it is (B) or in a thread region (T). The result's shape is the program's.
static MirageValue apply_inside(MirageUGraph *g, MirageOp op, MirageLevel level, const MirageValue *inputs,
                                const MirageType *result) {
  const MirageAccessAttrs all = {.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}};
  const MirageCustomAttrs one = {.grid = {1, 1, 1}, .cluster = {1, 1, 1}};
  MirageValue tiles[MAX_OPERANDS], fragments[MAX_OPERANDS];
  MirageNode custom = mirage_ugraph_open_custom(g, MAX_OPERANDS, inputs, 1, result, &one);
  for (uint32_t i = 0; i < MAX_OPERANDS; i++)
    tiles[i] = mirage_ugraph_load(g, mirage_ugraph_argument(g, custom, i), &all);
  MirageValue value;
  if (level == MIRAGE_LEVEL_THREAD) {
    MirageNode thread = mirage_ugraph_open_thread(g, MAX_OPERANDS, tiles);
    for (uint32_t i = 0; i < MAX_OPERANDS; i++)
      fragments[i] = mirage_ugraph_argument(g, thread, i);
    value = apply(g, op, fragments);
    mirage_ugraph_close(g, 1, &value);
    value = mirage_ugraph_result(g, thread, 0);
  } else {
    value = apply(g, op, tiles);
  }
  mirage_ugraph_store(g, value, mirage_ugraph_argument(g, custom, MAX_OPERANDS), &all);
  mirage_ugraph_close(g, 0, NULL);
  return mirage_ugraph_result(g, custom, 0);
}

/// The operator at one level.
typedef struct Case {
  MirageOp op;
  MirageLevel level;
  MirageUGraph *graph;
} Case;

static MirageUGraph *begin(MirageValue *inputs) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "rules", &DIAG);
  for (uint32_t i = 0; i < MAX_OPERANDS; i++)
    inputs[i] = mirage_ugraph_input(g, mirage_type_tensor(MIRAGE_F32, 2, (int64_t[]){SIDE, SIDE}));
  return g;
}

static MirageUGraph *program_of(MirageOp op) {
  MirageValue inputs[MAX_OPERANDS];
  MirageUGraph *g = begin(inputs);
  MirageValue y = apply(g, op, inputs);
  mirage_ugraph_return(g, 1, &y);
  if (mirage_ugraph_finish(g) != MIRAGE_OK)
    fail_msg("%s: %s", mirage_op_info(op)->name, capture.text);
  return g;
}

static MirageUGraph *graph_of(MirageOp op, MirageLevel level) {
  if (level == MIRAGE_LEVEL_KERNEL)
    return program_of(op);
  MirageUGraph *program = program_of(op);
  MirageType result = *mirage_ugraph_type(program, mirage_ugraph_get_output(program, 0));
  mirage_ugraph_destroy(program);
  MirageValue inputs[MAX_OPERANDS];
  MirageUGraph *g = begin(inputs);
  MirageValue y = apply_inside(g, op, level, inputs, &result);
  mirage_ugraph_return(g, 1, &y);
  if (mirage_ugraph_finish(g) != MIRAGE_OK)
    fail_msg("%s inside a block: %s", mirage_op_info(op)->name, capture.text);
  return g;
}

static size_t elements_of(const MirageUGraph *graph) {
  return (size_t)mirage_type_elements(mirage_ugraph_type(graph, mirage_ugraph_get_output(graph, 0)));
}

// ---------------------------------------------------------------------------------------------------------- rules

static double input_at(uint32_t input, uint32_t i) { return 0.125 + (double)((i * 37 + input * 11) % 29) / 32; }

static bool evaluate(const MirageUGraph *graph, double *out) {
  static double values[MAX_OPERANDS][ELEMENTS];
  const void *inputs[MAX_OPERANDS];
  for (uint32_t i = 0; i < MAX_OPERANDS; i++) {
    for (uint32_t k = 0; k < ELEMENTS; k++)
      values[i][k] = input_at(i, k);
    inputs[i] = values[i];
  }
  return mirage_eval(graph, mirage_domain_f64(), inputs, (void *[]){out}, NULL, &DIAG) == MIRAGE_OK;
}

static bool has_value(const Case *of) {
  double out[MOST];
  bool finite = evaluate(of->graph, out);
  for (size_t i = 0; finite && i < elements_of(of->graph); i++)
    finite = isfinite(out[i]);
  return finite;
}

static bool has_residue(const Case *of) {
  static MirageResidue values[MAX_OPERANDS][ELEMENTS], out[MOST];
  const void *inputs[MAX_OPERANDS] = {values[0], values[1], values[2]};
  MirageField *field = mirage_field_create(7, 0);
  for (uint32_t i = 0; i < MAX_OPERANDS; i++)
    mirage_field_draw(field, i, ELEMENTS, values[i]);
  MirageStatus status = mirage_eval(of->graph, mirage_field_domain(field), inputs, (void *[]){out}, NULL, &DIAG);
  mirage_field_destroy(field);
  return status == MIRAGE_OK;
}

static bool has_bound(const Case *of) {
  MirageVerdict verdict;
  MirageStatus status = mirage_verify(of->graph, of->graph, &(MirageVerifyOptions){.seed = 7}, &DIAG, &verdict);
  if (status == MIRAGE_OK)
    snprintf(capture.text, sizeof capture.text, "%s", verdict.reason);
  return status == MIRAGE_OK && verdict.kind == MIRAGE_VERDICT_EQUIVALENT;
}

static bool has_guard(const Case *of) {
  MirageGuardReport report;
  MirageStatus status = mirage_guard(of->graph, of->graph, &(MirageGuardOptions){.seed = 7}, &DIAG, &report);
  return status == MIRAGE_OK && report.passed;
}

static bool is_elementwise(MirageOp op) {
  MirageOpKind kind = mirage_op_info(op)->kind;
  return kind == MIRAGE_KIND_UNARY || kind == MIRAGE_KIND_BINARY;
}

static bool has_expression(const Case *of) {
  if (!is_elementwise(of->op))
    return true; // built by those who know the axes: what the search finds shows them
  MirageExprTable *table = mirage_expr_table_create(NULL);
  MirageExpr x = mirage_expr_input(table, 0), y = mirage_expr_input(table, 1);
  MirageExpr result = mirage_expr_apply(table, of->op, x, y);
  mirage_expr_table_destroy(table);
  return result.index != 0;
}

// What only moves elements is a view, and no work by itself: it is added to another input.
static MirageUGraph *searched_program(const Case *of) {
  MirageValue inputs[MAX_OPERANDS];
  MirageUGraph *g = begin(inputs);
  MirageType result = *mirage_ugraph_type(of->graph, mirage_ugraph_get_output(of->graph, 0));
  MirageValue other = mirage_ugraph_input(g, result), y = apply(g, of->op, inputs);
  if (mirage_op_info(of->op)->kind == MIRAGE_KIND_SHAPE)
    y = mirage_ugraph_apply(g, MIRAGE_OP_ADD, 2, (MirageValue[]){y, other}, NULL);
  mirage_ugraph_return(g, 1, &y);
  assert_int_equal(mirage_ugraph_finish(g), MIRAGE_OK);
  return g;
}

static bool has_search(const Case *of) {
  MirageUGraph *program = searched_program(of);
  MirageSearchResult result;
  MirageStatus status = mirage_search(program, &(MirageSearchOptions){.num_threads = 1}, &DIAG, &result);
  bool found = status == MIRAGE_OK && result.num_candidates > 0;
  if (status == MIRAGE_OK) {
    snprintf(capture.text, sizeof capture.text, "%s", result.reason);
    mirage_search_result_deinit(&result);
  }
  mirage_ugraph_destroy(program);
  return found;
}

static bool has_code(const Case *of) {
  double wanted[MOST], relative, largest, got[MOST];
  static float values[MAX_OPERANDS][ELEMENTS], out[MOST];
  const void *inputs[MAX_OPERANDS] = {values[0], values[1], values[2]};
  for (uint32_t i = 0; i < MAX_OPERANDS; i++)
    for (uint32_t k = 0; k < ELEMENTS; k++)
      values[i][k] = (float)input_at(i, k);
  const MirageTarget *target = mirage_target_find("h200");
  capture.text[0] = 0;
  if (!evaluate(of->graph, wanted) ||
      mirage_emulate(of->graph, target, inputs, (void *[]){out}, &(MirageEmulationOptions){0}, &DIAG) != MIRAGE_OK)
    return false;
  size_t count = elements_of(of->graph);
  for (size_t i = 0; i < count; i++)
    got[i] = out[i];
  mirage_compare(got, wanted, count, &relative, &largest);
  snprintf(capture.text, sizeof capture.text, "its kernel is wrong: error %g", relative);
  return relative < 0.002; // tf32 and fast functions
}

static bool has_cost(const Case *of) {
  MirageCost cost = {0};
  MirageUGraph *expanded;
  assert_int_equal(mirage_ugraph_expand(of->graph, &DIAG, &expanded), MIRAGE_OK);
  MirageStatus status = mirage_cost(expanded, mirage_target_find("h200"), &DIAG, &cost);
  mirage_ugraph_destroy(expanded);
  return status == MIRAGE_OK && cost.time_us > 0 && isfinite(cost.time_us);
}

// A function that keeps zero is one that tail tiles of zeros may pass through; the search must know it.
static bool knows_zero(const Case *of) {
  double zeros[ELEMENTS] = {0}, out[MOST];
  const void *inputs[MAX_OPERANDS] = {zeros, zeros, zeros};
  if (mirage_op_info(of->op)->kind != MIRAGE_KIND_UNARY || mirage_op_expansion(of->op))
    return true;
  bool keeps =
      mirage_eval(of->graph, mirage_domain_f64(), inputs, (void *[]){out}, NULL, &DIAG) == MIRAGE_OK && out[0] == 0;
  snprintf(capture.text, sizeof capture.text, "at 0 it is %g", out[0]);
  return keeps == mirage__search_keeps_zero(of->op);
}

typedef struct Rule {
  const char *name, *where;
  bool (*holds)(const Case *of);
  uint32_t levels;
} Rule;

enum { K = MIRAGE_LEVEL_KERNEL, B = MIRAGE_LEVEL_BLOCK, T = MIRAGE_LEVEL_THREAD };
static const Rule rules[] = {
    {"value", "lib/eval/domain_f64.c", has_value, K | B | T},
    {"field rule", "lib/field/domain_field.c", has_residue, K | B | T},
    {"bound", "lib/verify/bound.c", has_bound, K | B | T},
    {"guard", "lib/verify/guard.c", has_guard, K | B | T},
    {"expression", "lib/expr/expr.c", has_expression, K},
    {"search class", "lib/search/program and lib/search/space", has_search, K},
    {"zero preservation", "lib/search/schedule/search_tails.c", knows_zero, K},
    {"cost", "lib/search/cost", has_cost, K | B | T},
    {"code", "lib/codegen", has_code, K | B | T},
};
enum { NUM_RULES = sizeof rules / sizeof *rules };

/// What an operator does without, and why.
typedef struct Without {
  MirageOp op;
  const char *rule, *why; // at the kernel level
} Without;

static const Without without[] = {
    {MIRAGE_OP_RESHAPE, "cost", "of a whole tensor it is no kernel"},
    {MIRAGE_OP_CONSTANT, "search class", "a program of it alone reads nothing"},
    {MIRAGE_OP_SIGN, "search class", "it compares what is computed"},
};

// The search takes masks off a program; predicates of what is computed it does not take.
static bool is_left_to_masks(MirageOp op, const char *rule) {
  bool expression = op != MIRAGE_OP_SELECT && strcmp(rule, "expression") == 0;
  return mirage_op_typing(op) != MIRAGE_TYPING_NUMBERS && (expression || strcmp(rule, "search class") == 0);
}

static bool is_without(MirageOp op, MirageLevel level, const char *rule) {
  if (level != MIRAGE_LEVEL_KERNEL)
    return false;
  if (is_left_to_masks(op, rule))
    return true;
  for (size_t i = 0; i < sizeof without / sizeof *without; i++)
    if (without[i].op == op && strcmp(without[i].rule, rule) == 0)
      return true;
  return false;
}

// ----------------------------------------------------------------------------------------------------------- walk

/// Whether the operator can be written alone: structure and accesses are part of every case, fragments of a matrix
/// instruction and collectives have kernels of their own (test/codegen).
static bool stands_alone(const MirageOpInfo *info, MirageOp op) {
  return info->kind != MIRAGE_KIND_REGION && info->kind != MIRAGE_KIND_TERMINATOR && info->kind != MIRAGE_KIND_ACCESS &&
         info->kind != MIRAGE_KIND_COLLECTIVE && op != MIRAGE_OP_BOTTOM && op != MIRAGE_OP_MMA;
}

static int try_rules(MirageOp op, MirageLevel level, char *report, size_t size) {
  int gaps = 0;
  Case of = {op, level, graph_of(op, level)};
  for (int r = 0; r < NUM_RULES; r++) {
    if (!(rules[r].levels & level))
      continue;
    capture.text[0] = 0;
    bool holds = rules[r].holds(&of), spared = is_without(op, level, rules[r].name);
    if (holds != spared)
      continue;
    gaps++;
    size_t used = strlen(report);
    snprintf(report + used, size - used, "\n  %s at level %c: %s %s (%s)%s%s", mirage_op_info(op)->mnemonic,
             "?KB?T"[level], spared ? "has what `without` says it lacks:" : "no", rules[r].name, rules[r].where,
             capture.text[0] ? ": " : "", capture.text);
  }
  mirage_ugraph_destroy(of.graph);
  return gaps;
}

static void test_every_operator_has_every_rule(void **state) {
  static char report[20000];
  int gaps = 0, tried = 0;
  for (int op = 1; op < MIRAGE_NUM_OPS; op++) {
    const MirageOpInfo *info = mirage_op_info((MirageOp)op);
    for (uint32_t level = K; level <= T; level *= 2)
      if (stands_alone(info, (MirageOp)op) && (info->levels & level)) {
        gaps += try_rules((MirageOp)op, (MirageLevel)level, report, sizeof report);
        tried++;
      }
  }
  assert_true(tried > MIRAGE_NUM_OPS);
  if (gaps)
    fprintf(stderr, "%s\n", report); // longer than cmocka's own messages may be
  assert_int_equal(gaps, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_operator_has_every_rule)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
