// test_import.c - the original's JSON: what is read computes what the format means, and every defect is named with its
// place. The texts are ours; the table of defects changes one of them in one spot at a time.
#define _POSIX_C_SOURCE 200809L
#include "mirage/eval.h"
#include "mirage/import.h"

#include "capture.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

// Single quotes stand for double ones. Tensors: X kernel level, guid and dims; T block level, also whether after the
// loop.
#define X(guid, rank, dims) "{'guid':" #guid ",'dim':[" dims "],'num_dims':" #rank ",'data_type':941}"
#define T(guid, rank, dims, after)                                                                                     \
  "{'guid':" #guid ",'dim':[" dims "],'num_dims':" #rank ",'data_type':941,'after_accum':" after "}"
#define MAP(x, y, z) "{'x':" #x ",'y':" #y ",'z':" #z "}"
#define OP(type, inputs, outputs) "{'op_type':'" type "','input_tensors':[" inputs "],'output_tensors':[" outputs "]}"
#define LOAD(tensor, map, loop, tile)                                                                                  \
  "{'op_type':'tb_input_op','input_tensors':[],'output_tensors':[" tile "],'dtensor':" tensor ",'input_map':" map      \
  ",'forloop_dim':" #loop "}"
#define STORE(tile, tensor, map)                                                                                       \
  "{'op_type':'tb_output_op','input_tensors':[" tile "],'output_tensors':[],'dtensor':" tensor ",'output_map':" map "}"
#define CUSTOM(inputs, outputs, grid, range, dimx, ops)                                                                \
  "{'op_type':'kn_customized_op','input_tensors':[" inputs "],'output_tensors':[" outputs                              \
  "],'bgraph':{'grid_dim':" grid ",'forloop_range':" #range ",'reduction_dimx':" #dimx ",'operators':[" ops "]}}"
#define OUT(tensor) OP("kn_output_op", tensor, "")
#define IN(tensor) OP("kn_input_op", "", tensor)

// y = x @ w, rows normalised by the rms of x: x [4,8], w [8,6], 2 blocks of 3 columns, 4 iterations.
// clang-format off
static const char LINEAR[] = "[["
  IN(X(1, 2, "4,8")) "," IN(X(2, 2, "8,6")) ","
  CUSTOM(X(1, 2, "4,8") "," X(2, 2, "8,6"), X(3, 2, "4,6"), MAP(2, 1, 1), 4, 3,
    LOAD(X(1, 2, "4,8"), MAP(-1, -1, -1), 1, T(11, 2, "4,2", "false")) ","
    LOAD(X(2, 2, "8,6"), MAP(1, -1, -1), 0, T(12, 2, "2,3", "false")) ","
    OP("tb_matmul_op", T(11, 2, "4,2", "false") "," T(12, 2, "2,3", "false"), T(13, 2, "4,3", "false")) ","
    OP("tb_forloop_accum_nored_op", T(13, 2, "4,3", "false"), T(14, 2, "4,3", "true")) ","
    OP("tb_forloop_accum_red_ld_rms_op", T(11, 2, "4,2", "false"), T(15, 2, "4,1", "true")) ","
    OP("tb_div_op", T(14, 2, "4,3", "true") "," T(15, 2, "4,1", "true"), T(16, 2, "4,3", "true")) ","
    STORE(T(16, 2, "4,3", "true"), X(3, 2, "4,6"), MAP(1, -1, -1))) ","
  OUT(X(3, 2, "4,6")) "]]";

// One operator on x [2,8], between a load and a store, or at kernel level.
#define ONE_BLOCK(range, dimx, loop, tile, op, columns, after)                                                         \
  "[[" IN(X(1, 2, "2,8")) ","                                                                                          \
  CUSTOM(X(1, 2, "2,8"), X(2, 2, "2," columns), MAP(1, 1, 1), range, dimx,                                             \
    LOAD(X(1, 2, "2,8"), MAP(-1, -1, -1), loop, T(11, 2, "2," tile, "false")) ","                                        \
    OP(op, T(11, 2, "2," tile, "false"), T(12, 2, "2," columns, after)) ","                                              \
    STORE(T(12, 2, "2," columns, after), X(2, 2, "2," columns), MAP(-1, -1, -1))) ","                                  \
  OUT(X(2, 2, "2," columns)) "]]"
#define ONE_KERNEL(op, columns)                                                                                        \
  "[[" IN(X(1, 2, "2,8")) "," OP(op, X(1, 2, "2,8"), X(2, 2, "2," columns)) "," OUT(X(2, 2, "2," columns)) "]]"
// clang-format on

static void assert_close(double value, double wanted) {
  if (!(fabs(value - wanted) <= 1e-12 * (1 + fabs(wanted))))
    fail_msg("%.17g is not %.17g", value, wanted);
}

static char *quoted(const char *text) {
  char *copy = strdup(text);
  for (char *c = copy; *c; c++)
    if (*c == '\'')
      *c = '"';
  return copy;
}

static MirageStatus import(const char *text, const MirageImportOptions *options, Capture *capture, MirageImport *out) {
  MirageDiag diag = {capture_emit, capture};
  char *json = quoted(text);
  *capture = (Capture){0};
  MirageStatus status = mirage_import_json(json, strlen(json), options, &diag, out);
  free(json);
  if (status == MIRAGE_OK)
    for (size_t i = 0; i < out->num_graphs; i++) // the sink ends with this call
      assert_int_equal(mirage_ugraph_status(out->graphs[i]), MIRAGE_OK);
  return status;
}

static MirageUGraph *import_one(const char *text, const MirageImportOptions *options, MirageImport *out) {
  Capture capture;
  MirageStatus status = import(text, options, &capture, out);
  if (status != MIRAGE_OK)
    fail_msg("%s", capture.text);
  assert_int_equal(out->num_graphs, 1);
  return out->graphs[0];
}

static void evaluate(const MirageUGraph *graph, const double *const *inputs, double *out) {
  Capture capture = {0};
  const MirageDiag diag = {capture_emit, &capture};
  void *outputs[] = {out};
  if (mirage_eval(graph, mirage_domain_f64(), (const void *const *)inputs, outputs, NULL, &diag) != MIRAGE_OK)
    fail_msg("%s", capture.text);
}

// --------------------------------------------------------------------------------------------------------- what it
// means

static void check_linear(const char *text, const MirageImportOptions *options) {
  MirageImport result;
  MirageUGraph *graph = import_one(text, options, &result);
  double x[4 * 8], w[8 * 6], y[4 * 6];
  for (int i = 0; i < 32; i++)
    x[i] = (i * 7 % 11) - 5;
  for (int i = 0; i < 48; i++)
    w[i] = (i * 5 % 13) - 6;
  evaluate(graph, (const double *[]){x, w}, y);
  for (int r = 0; r < 4; r++)
    for (int c = 0; c < 6; c++) {
      double dot = 0, squares = 0;
      for (int k = 0; k < 8; k++) {
        dot += x[r * 8 + k] * w[k * 6 + c];
        squares += x[r * 8 + k] * x[r * 8 + k];
      }
      assert_close(y[r * 6 + c], dot / sqrt(squares / 8));
    }
  mirage_import_deinit(&result);
}

static void test_linear(void **state) { check_linear(LINEAR, NULL); }

// f(row) for each operator of one input; x[r][c] = 1 + 8 r + c, so a row is 1..8 or 9..16.
static double row_sum(const double *x) {
  double sum = 0;
  for (int i = 0; i < 8; i++)
    sum += x[i];
  return sum;
}
static double row_mean(const double *x) { return row_sum(x) / 8; }
static double row_rms(const double *x) {
  double sum = 0;
  for (int i = 0; i < 8; i++)
    sum += x[i] * x[i];
  return sqrt(sum / 8);
}

static void check_row(const char *text, int columns, double (*column)(const double *x, int c)) {
  MirageImport result;
  MirageUGraph *graph = import_one(text, NULL, &result);
  double x[16], y[16];
  for (int i = 0; i < 16; i++)
    x[i] = 1 + i;
  evaluate(graph, (const double *[]){x}, y);
  for (int r = 0; r < 2; r++)
    for (int c = 0; c < columns; c++)
      assert_close(y[r * columns + c], column(x + 8 * r, c));
  mirage_import_deinit(&result);
}

static double whole_sum(const double *x, int c) { return row_sum(x); }
static double whole_mean(const double *x, int c) { return row_mean(x); }
static double whole_rms(const double *x, int c) { return row_rms(x); }
static double normed(const double *x, int c) { return x[c] / row_rms(x); }
static double rectified(const double *x, int c) { return x[c] > 0 ? x[c] : 0; }
static double logarithm(const double *x, int c) { return log(x[c]); }
static double every_other(const double *x, int c) { return x[c] + x[c + 2] + x[c + 4] + x[c + 6]; }
static double halves(const double *x, int c) { return x[c] + x[c + 4]; }
static double doubled(const double *x, int c) { return 2 * x[c]; }

static void test_accumulators(void **state) {
  check_row(ONE_BLOCK(4, 8, 1, "2", "tb_forloop_accum_red_ld_sum_op", "1", "true"), 1, whole_sum);
  check_row(ONE_BLOCK(4, 8, 1, "2", "tb_forloop_accum_red_ld_mean_op", "1", "true"), 1, whole_mean);
  check_row(ONE_BLOCK(4, 8, 1, "2", "tb_forloop_accum_red_ld_rms_op", "1", "true"), 1, whole_rms);
  check_row(ONE_BLOCK(2, 2, 1, "4", "tb_forloop_accum_redtox_ld_sum_op", "2", "true"), 2, every_other);
  check_row(ONE_BLOCK(2, 8, 1, "4", "tb_forloop_accum_nored_op", "4", "true"), 4, halves);
  check_row(ONE_BLOCK(2, 8, -1, "8", "tb_forloop_accum_nored_op", "8", "true"), 8,
            doubled); // both iterations see all of x
  check_row(ONE_BLOCK(4, 8, 1, "2", "tb_accum_red_ld_sum_op", "1", "true"), 1, whole_sum); // the later spelling
}

static void test_one_iteration_is_no_loop(void **state) {
  static const char *const texts[] = {
      ONE_BLOCK(1, 8, 1, "8", "tb_forloop_accum_red_ld_rms_op", "1", "true"),
      ONE_BLOCK(1, 8, -1, "8", "tb_forloop_accum_red_ld_rms_op", "1", "true"),
  };
  for (int i = 0; i < 2; i++) {
    MirageImport result;
    MirageUGraph *graph = import_one(texts[i], NULL, &result);
    for (uint32_t n = 1; n <= mirage_ugraph_num_nodes(graph); n++)
      assert_int_not_equal(mirage_ugraph_node(graph, (MirageNode){n}).op, MIRAGE_OP_LOOP);
    mirage_import_deinit(&result);
    check_row(texts[i], 1, whole_rms);
  }
}

static void test_operators(void **state) {
  check_row(ONE_BLOCK(1, 8, -1, "8", "tb_rms_norm_op", "8", "false"), 8, normed);
  check_row(ONE_BLOCK(1, 8, -1, "8", "tb_relu_op", "8", "false"), 8, rectified);
  check_row(ONE_BLOCK(1, 8, -1, "8", "tb_log_op", "8", "false"), 8, logarithm);
  check_row(ONE_BLOCK(1, 8, -1, "8", "tb_reduction_1_op", "1", "false"), 1, whole_sum);
  check_row(ONE_BLOCK(1, 2, -1, "8", "tb_reduction_1_to_dimx_op", "2", "false"), 2, every_other);
  check_row(ONE_KERNEL("kn_rms_norm_op", "8"), 8, normed);
  check_row(ONE_KERNEL("kn_reduction_1_op", "1"), 1, whole_sum);
  check_row(ONE_KERNEL("kn_relu_op", "8"), 8, rectified);
}

// [x | x] @ [w ; w] = 2 x @ w, x [2,2], w [2,2]
static void test_concat_then_matmul(void **state) {
#define TT T(11, 2, "2,2", "false")
#define WW T(12, 2, "2,2", "false")
  static const char text[] = "[[" IN(X(1, 2, "2,2")) "," IN(X(2, 2, "2,2")) "," CUSTOM(
      X(1, 2, "2,2") "," X(2, 2, "2,2"), X(3, 2, "2,2"), MAP(1, 1, 1), 1, 2,
      LOAD(X(1, 2, "2,2"), MAP(-1, -1, -1), -1, TT) "," LOAD(X(2, 2, "2,2"), MAP(-1, -1, -1), -1, WW) "," OP(
          "tb_concat_then_matmul_op", TT "," TT "," WW "," WW,
          T(13, 2, "2,2", "false")) "," STORE(T(13, 2, "2,2", "false"), X(3, 2, "2,2"),
                                              MAP(-1, -1, -1))) "," OUT(X(3, 2, "2,2")) "]]";
  MirageImport result;
  MirageUGraph *graph = import_one(text, NULL, &result);
  const double x[] = {1, 2, 3, 4}, w[] = {5, 6, 7, 8}, wanted[] = {38, 44, 86, 100};
  double y[4];
  evaluate(graph, (const double *[]){x, w}, y);
  for (int i = 0; i < 4; i++)
    assert_close(y[i], wanted[i]);
  mirage_import_deinit(&result);
}

// ------------------------------------------------------------------------------------------------------ lists, pairing

// Two outputs of different shapes: exp x [2,8] and the sum [2,1].
#define PAIR(first, second)                                                                                            \
  "[[" IN(X(1, 2, "2,8")) "," OP("kn_exp_op", X(1, 2, "2,8"), X(2, 2, "2,8")) "," OP(                                  \
      "kn_reduction_1_op", X(1, 2, "2,8"), X(3, 2, "2,1")) "," OUT(first) "," OUT(second) "]]"

static MirageUGraph *pair_program(void) {
  MirageUGraph *program = mirage_ugraph_create(NULL, "p", NULL);
  MirageValue x = mirage_ugraph_input(program, mirage_type_tensor(MIRAGE_F16, 2, (int64_t[]){2, 8}));
  MirageValue outputs[2] = {mirage_ugraph_apply(program, MIRAGE_OP_EXP, 1, &x, NULL)};
  MirageAttrs attrs = {.reduce = {.dim = 1, .extent = 1}};
  outputs[1] = mirage_ugraph_apply(program, MIRAGE_OP_REDUCE_SUM, 1, &x, &attrs);
  mirage_ugraph_return(program, 2, outputs);
  assert_int_equal(mirage_ugraph_finish(program), MIRAGE_OK);
  return program;
}

static void test_outputs_pair_by_type(void **state) {
  MirageUGraph *program = pair_program();
  const MirageImportOptions options = {.program = program};
  static const char *const texts[] = {PAIR(X(2, 2, "2,8"), X(3, 2, "2,1")), PAIR(X(3, 2, "2,1"), X(2, 2, "2,8"))};
  for (int i = 0; i < 2; i++) {
    MirageImport result;
    MirageUGraph *graph = import_one(texts[i], &options, &result);
    assert_int_equal(mirage_ugraph_type(graph, mirage_ugraph_get_output(graph, 0))->shape[1], 8);
    assert_int_equal(mirage_ugraph_type(graph, mirage_ugraph_get_output(graph, 1))->shape[1], 1);
    assert_string_equal(mirage_ugraph_get_meta(graph)->name, "p_0");
    assert_string_equal(mirage_ugraph_get_meta(graph)->source, "p");
    mirage_import_deinit(&result);
  }
  mirage_ugraph_destroy(program);
}

static void check_refused(const char *text, const MirageImportOptions *options, MirageStatus status,
                          const char *sentence) {
  MirageImport result;
  Capture capture;
  MirageStatus got = import(text, options, &capture, &result);
  if (got == MIRAGE_OK)
    fail_msg("accepted, '%s' was wanted", sentence);
  if (!strstr(capture.text, sentence))
    fail_msg("'%s' is not in '%s'", sentence, capture.text);
  if (got != status)
    fail_msg("status %d, %d was wanted: '%s'", (int)got, (int)status, capture.text);
  assert_int_equal(capture.count, 1);
  assert_null(result.graphs);
  assert_int_equal(result.num_graphs, 0);
}

static void test_signatures_that_do_not_pair(void **state) {
  MirageUGraph *program = pair_program();
  const MirageImportOptions options = {.program = program};
  check_refused(ONE_KERNEL("kn_exp_op", "8"), &options, MIRAGE_BAD_SHAPE, "graph 0: has 1 outputs, the program has 2");
  check_refused(PAIR(X(2, 2, "2,8"), X(2, 2, "2,8")), &options, MIRAGE_BAD_SHAPE,
                "graph 0: has no output for the program's output 1, which is 2x1xf16");
  check_refused(LINEAR, &options, MIRAGE_BAD_SHAPE, "graph 0: has 2 inputs, the program has 1");
  check_refused("[[" IN(X(1, 2, "2,9")) "," OUT(X(1, 2, "2,9")) "]]", &options, MIRAGE_BAD_SHAPE,
                "graph 0: input 0 is 2x9xf16, the program's is 2x8xf16");
  mirage_ugraph_destroy(program);
}

static void test_lists(void **state) {
  MirageImport result;
  Capture capture;
  static const char graph[] = IN(X(1, 2, "2,8")) "," OUT(X(1, 2, "2,8"));
  char text[1024];
  assert_int_equal(import("[]", NULL, &capture, &result), MIRAGE_OK);
  assert_int_equal(result.num_graphs, 0);
  mirage_import_deinit(&result);
  snprintf(text, sizeof text, "[%s]", graph); // one graph, not in a list
  assert_string_equal(mirage_ugraph_get_meta(import_one(text, NULL, &result))->name, "graph_0");
  mirage_import_deinit(&result);
  snprintf(text, sizeof text, "[[%s],[%s]]", graph, graph);
  assert_int_equal(import(text, &(MirageImportOptions){.name = "q"}, &capture, &result), MIRAGE_OK);
  assert_int_equal(result.num_graphs, 2);
  assert_string_equal(mirage_ugraph_get_meta(result.graphs[1])->name, "q_1");
  mirage_import_deinit(&result);
  snprintf(text, sizeof text, "[[%s],[%s],[%s,7]]", graph, graph, graph); // the third is bad: nothing is kept
  check_refused(text, NULL, MIRAGE_BAD_GRAPH,
                "graph 2, operator 2 (?): field 'operator' is an integer, an object is wanted");
}

// --------------------------------------------------------------------------------------------------------------
// defects

// The first occurrence of `from` after `after` (or in all of the text) becomes `to`.
static char *changed(const char *text, const char *after, const char *from, const char *to) {
  const char *start = strstr(text, after);
  const char *at = start ? strstr(start, from) : NULL;
  if (!at)
    fail_msg("'%s' does not occur after '%s'", from, after);
  char *copy = malloc(strlen(text) + strlen(to) + 1);
  memcpy(copy, text, (size_t)(at - text));
  strcpy(copy + (at - text), to);
  strcat(copy, at + strlen(from));
  return copy;
}

typedef struct Defect {
  const char *after, *from, *to; // of LINEAR
  MirageStatus status;
  const char *sentence;
} Defect;

#define BLOCK_AT(index, type) "graph 0, operator 2 (kn_customized_op), block operator " #index " (" type "): "

static const Defect DEFECTS[] = {
    // fields that are missing, of the wrong type, or out of range
    {"", "'op_type':'kn_input_op',", "", MIRAGE_BAD_GRAPH,
     "graph 0, operator 0 (?): field 'op_type' is missing, a string is wanted"},
    {"", "'kn_input_op'", "7", MIRAGE_BAD_GRAPH, "field 'op_type' is an integer, a string is wanted"},
    {"", "'guid':1,", "", MIRAGE_BAD_GRAPH, "(kn_input_op): field 'guid' is missing, an integer is wanted"},
    {"", "'guid':1,", "'guid':1.5,", MIRAGE_BAD_GRAPH, "field 'guid' is a real number, an integer is wanted"},
    {"", "'dim':[4,8]", "'dim':[4]", MIRAGE_BAD_GRAPH, "field 'dim' has 1 entries, num_dims is 2"},
    {"", "'dim':[4,8]", "'dim':[4,0]", MIRAGE_BAD_ARGUMENT,
     "field 'dim' is 0, a number from 1 to 2147483648 is wanted"},
    {"", "'dim':[4,8]", "'dim':[4,-8]", MIRAGE_BAD_ARGUMENT, "field 'dim' is -8"},
    {"", "'dim':[4,8]", "'dim':[2147483647,2147483647]", MIRAGE_LIMIT, "a tensor has more than 2^40 elements"},
    {"", "'dim':[4,8]", "'dim':[4,'8']", MIRAGE_BAD_GRAPH, "field 'dim' is a string, an integer is wanted"},
    {"", "'num_dims':2", "'num_dims':7", MIRAGE_BAD_ARGUMENT, "field 'num_dims' is 7, a number from 1 to 6 is wanted"},
    {"", "941", "930", MIRAGE_UNSUPPORTED, "data_type is 930, supported are 940 (bf16), 941 (f16) and 950 (f32)"},
    {"", "'input_tensors':[],", "'input_map':{'x':0,'y':-1,'z':-1},", MIRAGE_UNSUPPORTED,
     "graphs that span several GPUs are not supported"},
    {"kn_customized", "'input_tensors':", "'inputs':", MIRAGE_BAD_GRAPH,
     "operator 2 (kn_customized_op): field 'input_tensors' is missing, a list is wanted"},
    {"", "'bgraph':", "'graph':", MIRAGE_BAD_GRAPH, "field 'bgraph' is missing, an object is wanted"},
    {"", "'grid_dim':{'x':2", "'grid_dim':{'x':0", MIRAGE_BAD_ARGUMENT, "field 'grid_dim.x' is 0"},
    {"", "'grid_dim':{'x':2", "'grid_dim':{'x':2147483647", MIRAGE_LIMIT, "the grid has more than 2^24 blocks"},
    {"", "'y':1,'z':1}", "'y':1}", MIRAGE_BAD_GRAPH, "field 'grid_dim.z' is missing, an integer is wanted"},
    {"", "'forloop_range':4", "'forloop_range':0", MIRAGE_BAD_ARGUMENT, "field 'forloop_range' is 0"},
    {"", "'forloop_range':4", "'forloop_range':null", MIRAGE_BAD_GRAPH, "field 'forloop_range' is null"},
    {"", "'operators':[", "'operators':7,'x':[", MIRAGE_BAD_GRAPH, "field 'operators' is an integer, a list is wanted"},
    {"", ",'forloop_dim':1", "", MIRAGE_BAD_GRAPH, BLOCK_AT(0, "tb_input_op") "field 'forloop_dim' is missing"},
    {"", "'forloop_dim':1", "'forloop_dim':2", MIRAGE_BAD_ARGUMENT,
     "field 'forloop_dim' is 2, a number from -1 to 1 is wanted"},
    {"", "'input_map':{'x':1", "'input_map':{'x':2", MIRAGE_BAD_ARGUMENT,
     BLOCK_AT(1, "tb_input_op") "field 'input_map.x' is 2, a number from -1 to 1 is wanted"},
    {"tb_forloop_accum_nored_op", "'after_accum':true", "'after_accum':1", MIRAGE_BAD_GRAPH,
     "field 'after_accum' is an integer, a boolean is wanted"},
    // operators
    {"", "kn_output_op", "kn_fft_op", MIRAGE_BAD_GRAPH,
     "graph 0, operator 3 (kn_fft_op): no such operator at the kernel level of the format"},
    {"", "tb_matmul_op", "kn_matmul_op", MIRAGE_BAD_GRAPH,
     BLOCK_AT(2, "kn_matmul_op") "no such operator at the block level of the format"},
    {"", "tb_matmul_op", "tb_clamp_op", MIRAGE_UNSUPPORTED, "(tb_clamp_op): the file does not hold its bounds"},
    {"", "tb_matmul_op", "tb_forloop_accum_max_op", MIRAGE_UNSUPPORTED, "running maxima and rescaled sums"},
    {"", "tb_matmul_op", "tb_split_1_op", MIRAGE_UNSUPPORTED, "splits are not supported"},
    {"", "tb_matmul_op", "tb_\\u001b[2J\\n_op", MIRAGE_BAD_GRAPH, BLOCK_AT(2, "tb_?[2J?_op") "no such operator"},
    {"", "tb_matmul_op", "tb_exp_op", MIRAGE_BAD_GRAPH, BLOCK_AT(2, "tb_exp_op") "has 2 input tensors, 1 are wanted"},
    {"", ",'reduction_dimx':3", "", MIRAGE_OK, NULL}, // not needed here
    // tensors
    {"kn_output_op", "'guid':3", "'guid':33", MIRAGE_BAD_GRAPH,
     "operator 3 (kn_output_op): uses tensor 33, which no operator before it defines"},
    {"", "'guid':2", "'guid':1", MIRAGE_BAD_GRAPH, "operator 1 (kn_input_op): defines tensor 1 a second time"},
    {"tb_matmul_op", "'guid':12", "'guid':14", MIRAGE_BAD_GRAPH,
     BLOCK_AT(2, "tb_matmul_op") "uses tensor 14, which no operator before it defines"},
    {"tb_input_op", "'dtensor':{'guid':1", "'dtensor':{'guid':3", MIRAGE_BAD_GRAPH,
     BLOCK_AT(0, "tb_input_op") "uses tensor 3, which no operator before it defines"},
    {"kn_customized", "{'guid':1,'dim':[4,8],'num_dims':2,'data_type':941},", "", MIRAGE_BAD_GRAPH,
     BLOCK_AT(0, "tb_input_op") "reads tensor 1, which is none of the kernel's input_tensors"},
    {"tb_output_op", "'dtensor':{'guid':3", "'dtensor':{'guid':4", MIRAGE_BAD_GRAPH,
     BLOCK_AT(6, "tb_output_op") "stores to tensor 4, which is none of the kernel's output_tensors"},
    {"kn_customized", "'output_tensors':[{'guid':3",
     "'output_tensors':[{'guid':9,'dim':[4,6],'num_dims':2,'data_type':941},{'guid':3", MIRAGE_BAD_GRAPH,
     "operator 2 (kn_customized_op): no tb_output_op stores to output tensor 0"},
    // shapes and loops
    {"tb_matmul_op", "'dim':[4,3]", "'dim':[4,4]", MIRAGE_BAD_SHAPE,
     BLOCK_AT(2, "tb_matmul_op") "tensor 13 is stated as 4x4xf16, but the operators before it make it 4x3xf16"},
    {"", "'grid_dim':{'x':2", "'grid_dim':{'x':4", MIRAGE_BAD_SHAPE,
     BLOCK_AT(1, "tb_input_op") "dimension 1 of extent 6 does not divide into 4 parts of the grid"},
    {"", "'forloop_range':4", "'forloop_range':3", MIRAGE_BAD_SHAPE,
     BLOCK_AT(0, "tb_input_op") "dimension 1 of extent 8 does not divide into 3 parts of the loop"},
    {"", "'grid_dim':{'x':2,'y':1", "'grid_dim':{'x':3,'y':1", MIRAGE_BAD_SHAPE,
     "tensor 12 is stated as 2x3xf16, but the operators before it make it 2x2xf16"},
    {"tb_output_op", "'x':1", "'x':-1", MIRAGE_BAD_SHAPE,
     BLOCK_AT(6, "tb_output_op") "tensor 3 is stated as 4x6xf16, but the operators before it make it 4x3xf16"},
    {"tb_forloop_accum_red_ld_rms_op", "'guid':11", "'guid':14", MIRAGE_BAD_SHAPE, "tensor 14 is stated as 4x2xf16"},
    {"", "tb_forloop_accum_nored_op", "tb_exp_op", MIRAGE_BAD_GRAPH,
     BLOCK_AT(3, "tb_exp_op") "after_accum is stated as true, but the result lives in the loop"},
    {"tb_div_op", "{'guid':14,'dim':[4,3]", "{'guid':13,'dim':[4,3]", MIRAGE_BAD_GRAPH,
     BLOCK_AT(5, "tb_div_op") "mixes a tensor of the loop's body with one that lives after the loop"},
    {"tb_output_op", "'guid':16", "'guid':13", MIRAGE_BAD_GRAPH,
     BLOCK_AT(6, "tb_output_op") "stores a tensor of the loop's body: it has to be accumulated first"},
    {"", "tb_div_op", "tb_matmul_op", MIRAGE_BAD_SHAPE,
     BLOCK_AT(5, "tb_matmul_op") "matmul: inner dimensions differ: 3 vs 4"},
    {"", "tb_forloop_accum_red_ld_rms_op", "tb_forloop_accum_redtox_ld_sum_op", MIRAGE_BAD_SHAPE, "reduce_sum: "},
};

static void test_defects(void **state) {
  for (size_t i = 0; i < sizeof DEFECTS / sizeof *DEFECTS; i++) {
    const Defect *defect = &DEFECTS[i];
    char *text = changed(LINEAR, defect->after, defect->from, defect->to);
    if (defect->status == MIRAGE_OK)
      check_linear(text, NULL);
    else
      check_refused(text, NULL, defect->status, defect->sentence);
    free(text);
  }
}

static void test_text_that_is_no_json(void **state) {
  check_refused("", NULL, MIRAGE_BAD_GRAPH, "json: line 1, column 0: ");
  check_refused("[\033[2J]", NULL, MIRAGE_BAD_GRAPH,
                "json: line 1, column 2: invalid token near '?'"); // no escape code
  check_refused("{}", NULL, MIRAGE_BAD_GRAPH, "json: a list of graphs is wanted");
  check_refused("[7]", NULL, MIRAGE_BAD_GRAPH, "graph 0: a graph is a list of operators");
  check_refused("[[]]", NULL, MIRAGE_BAD_GRAPH, "graph 0: has no kn_output_op: 0 operators, none of them an output");
  check_refused("[{'guid':1,'guid':2}]", NULL, MIRAGE_BAD_GRAPH, "json: line 1, column");
  check_refused("[99999999999999999999999]", NULL, MIRAGE_BAD_GRAPH, "json: line 1, column");
  check_refused("[[" IN(X(1, 2, "2,8")) "," OP("kn_exp_op", X(1, 2, "2,8"),
                                               X(2, 2, "2,8")) "," IN(X(3, 2, "2,8")) "," OUT(X(2, 2, "2,8")) "]]",
                NULL, MIRAGE_BAD_GRAPH, "operator 2 (kn_input_op): an input after an operator: inputs come first");
}

// Every prefix of a good text is refused, never read past its end.
static void test_truncated(void **state) {
  char *json = quoted(LINEAR);
  size_t length = strlen(json);
  for (size_t size = 0; size < length; size++) {
    char *part = malloc(size + 1); // no terminator: the sanitizer sees what lies behind
    memcpy(part, json, size);
    MirageImport result;
    assert_int_equal(mirage_import_json(part, size, NULL, NULL, &result), MIRAGE_BAD_GRAPH);
    free(part);
  }
  free(json);
}

static void test_deep_nesting(void **state) {
  enum { DEPTH = 100000 };
  char *text = malloc(DEPTH + 1);
  memset(text, '[', DEPTH);
  text[DEPTH] = 0;
  check_refused(text, NULL, MIRAGE_BAD_GRAPH, "json: line 1, column");
  free(text);
}

// Options of an operator that the reader does not know how to honour.
static void test_operator_options(void **state) {
  static const struct {
    const char *op, *columns, *option;
    bool good;
  } cases[] = {
      {"kn_rms_norm_op", "8", "'normalized_size':8,", true},
      {"kn_rms_norm_op", "8", "'normalized_size':16,", false}, // over both dimensions
      {"kn_rms_norm_op", "8", "'normalized_size':null,", false},
      {"kn_reduction_1_op", "1", "'reduction_dim_size':1,", true},
      {"kn_reduction_1_op", "1", "'reduction_dim_size':2,", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char from[64], to[128], *text;
    snprintf(from, sizeof from, "'op_type':'%s',", cases[i].op);
    snprintf(to, sizeof to, "%s%s", from, cases[i].option);
    text =
        changed(cases[i].columns[0] == '8' ? ONE_KERNEL("kn_rms_norm_op", "8") : ONE_KERNEL("kn_reduction_1_op", "1"),
                "", from, to);
    MirageImport result;
    Capture capture;
    assert_int_equal(import(text, NULL, &capture, &result) == MIRAGE_OK, cases[i].good);
    if (cases[i].good)
      mirage_import_deinit(&result);
    else
      assert_non_null(strstr(capture.text, "graph 0, operator 1 (kn_r"));
    free(text);
  }
}

static void test_too_many_operators(void **state) {
  enum { COUNT = 1100 };
  char *text = malloc(COUNT * 3 + 8), *at = text;
  at += sprintf(at, "[[");
  for (int i = 0; i < COUNT; i++)
    at += sprintf(at, "%s{}", i ? "," : "");
  sprintf(at, "]]");
  check_refused(text, NULL, MIRAGE_LIMIT, "graph 0: 1100 operators, at most 1024 are supported");
  free(text);
}

// Shapes that the file states may be stale when the attributes alone count.
static void test_recompute_shapes(void **state) {
  const MirageImportOptions options = {.recompute_shapes = true};
  static const char *const changes[][2] = {{"'grid_dim':{'x':2", "'grid_dim':{'x':3"},
                                           {"'forloop_range':4", "'forloop_range':2"},
                                           {"'forloop_range':4", "'forloop_range':1"}};
  for (int i = 0; i < 3; i++) {
    char *text = changed(LINEAR, "", changes[i][0], changes[i][1]);
    check_linear(text, &options);
    check_refused(text, NULL, MIRAGE_BAD_SHAPE, "but the operators before it make it");
    free(text);
  }
  char *text = changed(LINEAR, "", "'grid_dim':{'x':2,'y':1", "'grid_dim':{'x':2,'y':2");
  char *twice = changed(text, "", "'input_map':{'x':1,'y':-1", "'input_map':{'x':1,'y':1");
  check_refused(twice, &options, MIRAGE_BAD_ARGUMENT, "input_map gives dimension 1 to two grid axes");
  free(twice);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_linear),
      cmocka_unit_test(test_accumulators),
      cmocka_unit_test(test_one_iteration_is_no_loop),
      cmocka_unit_test(test_operators),
      cmocka_unit_test(test_concat_then_matmul),
      cmocka_unit_test(test_outputs_pair_by_type),
      cmocka_unit_test(test_signatures_that_do_not_pair),
      cmocka_unit_test(test_lists),
      cmocka_unit_test(test_defects),
      cmocka_unit_test(test_text_that_is_no_json),
      cmocka_unit_test(test_truncated),
      cmocka_unit_test(test_deep_nesting),
      cmocka_unit_test(test_operator_options),
      cmocka_unit_test(test_too_many_operators),
      cmocka_unit_test(test_recompute_shapes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
