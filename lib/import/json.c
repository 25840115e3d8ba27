// json.c - typed access to the JSON of a file, and sentences that say where in it something is wrong.
//
// Example:     {"op_type": "kn_exp_op", "input_tensors": 7} as operator 3 of graph 1 gives
//              "graph 1, operator 3 (kn_exp_op): field 'input_tensors' is an integer, a list is wanted"
#include "import_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
  MAX_OPERATORS = 1024, // of one graph; those of the original have at most 16
  SENTENCE_BYTES = 1024,
  NAME_BYTES = 64,
};
static const int64_t MAX_EXTENT = INT64_C(1) << 31, MAX_ELEMENTS = INT64_C(1) << 40;

// ----------------------------------------------------------------------------------------------------------- sentences

const char *mirage__import_printable(const char *text, char *buffer, size_t size) {
  size_t length = strlen(text), used = length < size - 4 ? length : size - 4;
  for (size_t i = 0; i < used; i++)
    buffer[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
  strcpy(buffer + used, used < length ? "..." : "");
  return buffer;
}

MirageStatus mirage__import_fail(ImportReader *reader, MirageStatus status, const char *format, ...) {
  char sentence[SENTENCE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  return mirage_diag_fail(&reader->diag, NULL, status, "%s", sentence);
}

static const char *type_name(const json_t *value) {
  if (!value)
    return "missing";
  switch (json_typeof(value)) {
  case JSON_OBJECT:
    return "an object";
  case JSON_ARRAY:
    return "a list";
  case JSON_STRING:
    return "a string";
  case JSON_INTEGER:
    return "an integer";
  case JSON_REAL:
    return "a real number";
  case JSON_TRUE:
  case JSON_FALSE:
    return "a boolean";
  case JSON_NULL:
    break;
  }
  return "null";
}

static MirageStatus wrong_type(ImportReader *reader, const char *key, const json_t *value, const char *wanted) {
  return mirage__import_fail(reader, MIRAGE_BAD_GRAPH, "field '%s' is %s, %s is wanted", key, type_name(value), wanted);
}

// -------------------------------------------------------------------------------------------------------------- fields

MirageStatus mirage__import_array(ImportReader *reader, const json_t *object, const char *key, const json_t **out) {
  const json_t *value = json_object_get(object, key);
  if (!json_is_array(value))
    return wrong_type(reader, key, value, "a list");
  *out = value;
  return MIRAGE_OK;
}

MirageStatus mirage__import_object(ImportReader *reader, const json_t *object, const char *key, const json_t **out) {
  const json_t *value = json_object_get(object, key);
  if (!json_is_object(value))
    return wrong_type(reader, key, value, "an object");
  *out = value;
  return MIRAGE_OK;
}

static MirageStatus check_int(ImportReader *reader, const char *key, const json_t *value, int64_t min, int64_t max,
                              int64_t *out) {
  if (!json_is_integer(value))
    return wrong_type(reader, key, value, "an integer");
  int64_t number = json_integer_value(value);
  if (number < min || number > max)
    return mirage__import_fail(reader, MIRAGE_BAD_ARGUMENT,
                               "field '%s' is %" PRId64 ", a number from %" PRId64 " to %" PRId64 " is wanted", key,
                               number, min, max);
  *out = number;
  return MIRAGE_OK;
}

MirageStatus mirage__import_int(ImportReader *reader, const json_t *object, const char *key, int64_t min, int64_t max,
                                int64_t *out) {
  return check_int(reader, key, json_object_get(object, key), min, max, out);
}

MirageStatus mirage__import_bool(ImportReader *reader, const json_t *object, const char *key, bool *out) {
  const json_t *value = json_object_get(object, key);
  if (!json_is_boolean(value))
    return wrong_type(reader, key, value, "a boolean");
  *out = json_is_true(value);
  return MIRAGE_OK;
}

MirageStatus mirage__import_xyz(ImportReader *reader, const json_t *object, const char *key, int64_t min, int64_t max,
                                int64_t out[3]) {
  static const char *const axes[] = {"x", "y", "z"};
  const json_t *map;
  MIRAGE_TRY(mirage__import_object(reader, object, key, &map));
  for (int a = 0; a < 3; a++) {
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%s.%s", key, axes[a]);
    MIRAGE_TRY(check_int(reader, name, json_object_get(map, axes[a]), min, max, &out[a]));
  }
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------------- tensors

MirageStatus mirage__import_guid(ImportReader *reader, const json_t *tensor, json_int_t *out_guid) {
  if (!json_is_object(tensor))
    return wrong_type(reader, "tensor", tensor, "an object");
  int64_t guid;
  MIRAGE_TRY(mirage__import_int(reader, tensor, "guid", INT64_MIN, INT64_MAX, &guid));
  *out_guid = guid;
  return MIRAGE_OK;
}

MirageStatus mirage__import_dtype(ImportReader *reader, const json_t *tensor, MirageDType *out_dtype) {
  int64_t number;
  MIRAGE_TRY(mirage__import_int(reader, tensor, "data_type", INT32_MIN, INT32_MAX, &number));
  switch (number) {
  case 940:
    *out_dtype = MIRAGE_BF16;
    return MIRAGE_OK;
  case 941:
    *out_dtype = MIRAGE_F16;
    return MIRAGE_OK;
  case 950:
    *out_dtype = MIRAGE_F32;
    return MIRAGE_OK;
  default:
    return mirage__import_fail(reader, MIRAGE_UNSUPPORTED,
                               "data_type is %" PRId64 ", supported are 940 (bf16), 941 (f16) and 950 (f32)", number);
  }
}

MirageStatus mirage__import_tensor_type(ImportReader *reader, const json_t *tensor, MirageType *out_type) {
  MirageDType dtype;
  int64_t rank, elements = 1, shape[MIRAGE_MAX_RANK];
  const json_t *dims;
  if (!json_is_object(tensor))
    return wrong_type(reader, "tensor", tensor, "an object");
  MIRAGE_TRY(mirage__import_dtype(reader, tensor, &dtype));
  MIRAGE_TRY(mirage__import_int(reader, tensor, "num_dims", 1, MIRAGE_MAX_RANK, &rank));
  MIRAGE_TRY(mirage__import_array(reader, tensor, "dim", &dims));
  if (json_array_size(dims) < (size_t)rank)
    return mirage__import_fail(reader, MIRAGE_BAD_GRAPH, "field 'dim' has %zu entries, num_dims is %" PRId64,
                               json_array_size(dims), rank);
  for (size_t d = 0; d < (size_t)rank; d++) {
    MIRAGE_TRY(check_int(reader, "dim", json_array_get(dims, d), 1, MAX_EXTENT, &shape[d]));
    if (shape[d] > MAX_ELEMENTS / elements)
      return mirage__import_fail(reader, MIRAGE_LIMIT, "a tensor has more than 2^40 elements");
    elements *= shape[d];
  }
  *out_type = mirage_type_tensor(dtype, (uint32_t)rank, shape);
  return MIRAGE_OK;
}

// ----------------------------------------------------------------------------------------------------------- operators

static const char SPLITS[] = "splits are not supported";
static const char MAXIMA[] = "running maxima and rescaled sums of the format are not supported";
#define K MIRAGE_LEVEL_KERNEL
#define B MIRAGE_LEVEL_BLOCK
static const ImportRule RULES[] = {
    {.name = "input", .levels = K | B, .kind = RULE_INPUT},
    {.name = "output", .levels = K | B, .kind = RULE_OUTPUT, .num_inputs = 1},
    {.name = "customized", .levels = K, .kind = RULE_CUSTOM},
    {.name = "matmul", .levels = K | B, .kind = RULE_APPLY, .num_inputs = 2, .op = MIRAGE_OP_MATMUL},
    {.name = "exp", .levels = K | B, .kind = RULE_APPLY, .num_inputs = 1, .op = MIRAGE_OP_EXP},
    {.name = "square", .levels = K | B, .kind = RULE_APPLY, .num_inputs = 1, .op = MIRAGE_OP_SQUARE},
    {.name = "sqrt", .levels = K | B, .kind = RULE_APPLY, .num_inputs = 1, .op = MIRAGE_OP_SQRT},
    {.name = "silu", .levels = K | B, .kind = RULE_APPLY, .num_inputs = 1, .op = MIRAGE_OP_SILU},
    {.name = "sigmoid", .levels = K | B, .kind = RULE_APPLY, .num_inputs = 1, .op = MIRAGE_OP_SIGMOID},
    {.name = "gelu", .levels = K | B, .kind = RULE_APPLY, .num_inputs = 1, .op = MIRAGE_OP_GELU},
    {.name = "relu", .levels = K | B, .kind = RULE_APPLY, .num_inputs = 1, .op = MIRAGE_OP_RELU},
    {.name = "log", .levels = K | B, .kind = RULE_APPLY, .num_inputs = 1, .op = MIRAGE_OP_LOG},
    {.name = "add", .levels = K | B, .kind = RULE_APPLY, .num_inputs = 2, .op = MIRAGE_OP_ADD},
    {.name = "sub", .levels = K | B, .kind = RULE_APPLY, .num_inputs = 2, .op = MIRAGE_OP_SUB},
    {.name = "mul", .levels = K | B, .kind = RULE_APPLY, .num_inputs = 2, .op = MIRAGE_OP_MUL},
    {.name = "div", .levels = K | B, .kind = RULE_APPLY, .num_inputs = 2, .op = MIRAGE_OP_DIV},
    {.name = "reduction_0", .levels = K | B, .kind = RULE_REDUCE, .num_inputs = 1, .dim = 0},
    {.name = "reduction_1", .levels = K | B, .kind = RULE_REDUCE, .num_inputs = 1, .dim = 1},
    {.name = "reduction_2", .levels = K | B, .kind = RULE_REDUCE, .num_inputs = 1, .dim = 2},
    {.name = "reduction_0_to_dimx", .levels = B, .kind = RULE_REDUCE_TO, .num_inputs = 1, .dim = 0},
    {.name = "reduction_1_to_dimx", .levels = B, .kind = RULE_REDUCE_TO, .num_inputs = 1, .dim = 1},
    {.name = "reduction_2_to_dimx", .levels = B, .kind = RULE_REDUCE_TO, .num_inputs = 1, .dim = 2},
    {.name = "rms_norm", .levels = K | B, .kind = RULE_RMS_NORM, .num_inputs = 1},
    {.name = "concat_0", .levels = K | B, .kind = RULE_CONCAT, .num_inputs = 2, .dim = 0},
    {.name = "concat_1", .levels = K | B, .kind = RULE_CONCAT, .num_inputs = 2, .dim = 1},
    {.name = "concat_2", .levels = K | B, .kind = RULE_CONCAT, .num_inputs = 2, .dim = 2},
    {.name = "concat_then_matmul", .levels = B, .kind = RULE_CONCAT_MATMUL, .num_inputs = 4},
    {.name = "accum_nored", .levels = B, .kind = RULE_ACCUM, .num_inputs = 1},
    {.name = "accum_red_ld_sum", .levels = B, .kind = RULE_ACCUM_SUM, .num_inputs = 1},
    {.name = "accum_red_ld_mean", .levels = B, .kind = RULE_ACCUM_MEAN, .num_inputs = 1},
    {.name = "accum_red_ld_rms", .levels = B, .kind = RULE_ACCUM_RMS, .num_inputs = 1},
    {.name = "accum_redtox_ld_sum", .levels = B, .kind = RULE_ACCUM_SUM_TO, .num_inputs = 1},
    {.name = "clamp", .levels = K | B, .kind = RULE_REFUSED, .reason = "the file does not hold its bounds"},
    {.name = "mul_scalar", .levels = K | B, .kind = RULE_REFUSED, .reason = "the file does not hold its factor"},
    {.name = "allreduce",
     .levels = K,
     .kind = RULE_REFUSED,
     .reason = "graphs that span several GPUs are not supported"},
    {.name = "split_0", .levels = K | B, .kind = RULE_REFUSED, .reason = SPLITS},
    {.name = "split_1", .levels = K | B, .kind = RULE_REFUSED, .reason = SPLITS},
    {.name = "split_2", .levels = K | B, .kind = RULE_REFUSED, .reason = SPLITS},
    {.name = "chunk_0", .levels = K | B, .kind = RULE_REFUSED, .reason = SPLITS},
    {.name = "chunk_1", .levels = K | B, .kind = RULE_REFUSED, .reason = SPLITS},
    {.name = "chunk_2", .levels = K | B, .kind = RULE_REFUSED, .reason = SPLITS},
    {.name = "pow", .levels = K | B, .kind = RULE_REFUSED, .reason = "powers are not supported"},
    {.name = "reduction_0_max", .levels = B, .kind = RULE_REFUSED, .reason = MAXIMA},
    {.name = "reduction_1_max", .levels = B, .kind = RULE_REFUSED, .reason = MAXIMA},
    {.name = "reduction_2_max", .levels = B, .kind = RULE_REFUSED, .reason = MAXIMA},
    {.name = "accum_max", .levels = B, .kind = RULE_REFUSED, .reason = MAXIMA},
    {.name = "accum_nored_rescale", .levels = B, .kind = RULE_REFUSED, .reason = MAXIMA},
    {.name = "accum_red_ld_sum_rescale", .levels = B, .kind = RULE_REFUSED, .reason = MAXIMA},
};
#undef K
#undef B

// "tb_forloop_accum_nored_op" -> the row "accum_nored". Later versions of the original leave out "forloop_".
static const ImportRule *find_rule(const char *op_type, int level) {
  static const char loop[] = "forloop_";
  const char *prefix = level == 0 ? "kn_" : "tb_";
  size_t length = strlen(op_type);
  if (length < 6 || strncmp(op_type, prefix, 3) != 0 || strcmp(op_type + length - 3, "_op") != 0)
    return NULL;
  const char *name = op_type + 3;
  length -= 6;
  if (level == 1 && length > sizeof loop - 1 && strncmp(name, loop, sizeof loop - 1) == 0 &&
      strncmp(name + sizeof loop - 1, "accum", 5) == 0) {
    name += sizeof loop - 1;
    length -= sizeof loop - 1;
  }
  uint32_t bit = level == 0 ? MIRAGE_LEVEL_KERNEL : MIRAGE_LEVEL_BLOCK;
  for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++)
    if (strlen(RULES[i].name) == length && memcmp(RULES[i].name, name, length) == 0 && (RULES[i].levels & bit))
      return &RULES[i];
  return NULL;
}

MirageStatus mirage__import_op(ImportReader *reader, const json_t *list, int level, size_t index, const json_t **out_op,
                               const ImportRule **out_rule) {
  if (json_array_size(list) > MAX_OPERATORS)
    return mirage__import_fail(reader, MIRAGE_LIMIT, "%zu operators, at most %d are supported", json_array_size(list),
                               MAX_OPERATORS);
  const json_t *op = json_array_get(list, index);
  reader->op_index[level] = index;
  reader->op_type[level] = "?";
  if (!json_is_object(op))
    return wrong_type(reader, "operator", op, "an object");
  const json_t *type = json_object_get(op, "op_type");
  if (!json_is_string(type))
    return wrong_type(reader, "op_type", type, "a string");
  char name[NAME_BYTES];
  reader->op_type[level] =
      mirage_arena_strdup(&reader->arena, mirage__import_printable(json_string_value(type), name, sizeof name));
  if (!reader->op_type[level])
    return MIRAGE_NO_MEMORY;
  *out_op = op;
  *out_rule = find_rule(json_string_value(type), level);
  if (!*out_rule)
    return mirage__import_fail(reader, MIRAGE_BAD_GRAPH, "no such operator at the %s level of the format",
                               level == 0 ? "kernel" : "block");
  if ((*out_rule)->kind == RULE_REFUSED)
    return mirage__import_fail(reader, MIRAGE_UNSUPPORTED, "%s", (*out_rule)->reason);
  return MIRAGE_OK;
}
