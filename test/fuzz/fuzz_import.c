// fuzz_import.c - libFuzzer target for lib/import: any bytes give graphs or one sentence, never a crash, and a graph
// that comes out is finished and can be used.
//
// Half of the mutations work on the JSON tree (a number changes, a member goes or moves elsewhere, a name becomes
// another operator's), so that the text stays JSON and the reader is reached; the others are libFuzzer's own.
#include "mirage/import.h"

#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

// ------------------------------------------------------------------------------------------------------------- target

static void check(bool condition) {
  if (!condition)
    abort();
}

static void count_message(void *user, MirageSeverity severity, const void *loc, const char *message) {
  check(message && *message);
  for (const char *c = message; *c; c++)
    check(*c >= ' ' || (unsigned char)*c >= 0x80); // one line, no control characters
  ++*(unsigned *)user;
}

static void run(const char *text, size_t size, bool recompute_shapes) {
  const MirageImportOptions options = {.recompute_shapes = recompute_shapes};
  unsigned messages = 0;
  const MirageDiag diag = {count_message, &messages};
  MirageImport import;
  MirageStatus status = mirage_import_json(text, size, &options, &diag, &import);
  check((status == MIRAGE_OK) == (messages == 0));
  check(status == MIRAGE_OK || (!import.graphs && import.num_graphs == 0));
  for (size_t i = 0; i < import.num_graphs; i++) {
    MirageUGraph *expanded;
    check(mirage_ugraph_status(import.graphs[i]) == MIRAGE_OK && mirage_ugraph_num_outputs(import.graphs[i]) > 0);
    check(mirage_ugraph_expand(import.graphs[i], &diag, &expanded) == MIRAGE_OK);
    mirage_ugraph_destroy(expanded);
  }
  mirage_import_deinit(&import);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  run((const char *)data, size, false);
  run((const char *)data, size, true);
  return 0;
}

// ------------------------------------------------------------------------------------------------------------- mutator

static const char *const NAMES[] = {
    "kn_input_op",
    "kn_output_op",
    "kn_matmul_op",
    "kn_exp_op",
    "kn_add_op",
    "kn_div_op",
    "kn_reduction_1_op",
    "kn_rms_norm_op",
    "kn_concat_0_op",
    "kn_customized_op",
    "tb_input_op",
    "tb_output_op",
    "tb_matmul_op",
    "tb_exp_op",
    "tb_mul_op",
    "tb_sub_op",
    "tb_silu_op",
    "tb_reduction_0_op",
    "tb_reduction_1_to_dimx_op",
    "tb_rms_norm_op",
    "tb_concat_1_op",
    "tb_concat_then_matmul_op",
    "tb_forloop_accum_nored_op",
    "tb_forloop_accum_red_ld_sum_op",
    "tb_forloop_accum_red_ld_mean_op",
    "tb_forloop_accum_red_ld_rms_op",
    "tb_forloop_accum_redtox_ld_sum_op",
    "tb_clamp_op",
};
static const json_int_t NUMBERS[] = {-1,        0,        1, 2, 3, 4, 8, 16, 940, 941, 950, INT32_MAX, INT64_C(1) << 40,
                                     INT64_MAX, INT64_MIN};

static uint32_t draw(uint32_t *state, uint32_t below) {
  *state = *state * 1664525u + 1013904223u;
  return below ? (*state >> 8) % below : 0;
}

// A node of the tree somewhere below `root`, reached by `depth` random steps.
static json_t *descend(json_t *root, uint32_t *state) {
  json_t *at = root;
  for (uint32_t depth = draw(state, 12); depth > 0; depth--) {
    json_t *next = NULL;
    if (json_is_array(at)) {
      next = json_array_get(at, draw(state, (uint32_t)json_array_size(at)));
    } else if (json_is_object(at)) {
      void *iterator = json_object_iter(at);
      for (uint32_t skip = draw(state, (uint32_t)json_object_size(at)); iterator && skip > 0; skip--)
        iterator = json_object_iter_next(at, iterator);
      next = iterator ? json_object_iter_value(iterator) : NULL;
    }
    if (!json_is_array(next) && !json_is_object(next))
      break;
    at = next;
  }
  return at;
}

static json_t *new_value(json_t *old, json_t *root, uint32_t *state) {
  if (draw(state, 8) == 0)
    return json_deep_copy(descend(root, state));
  if (json_is_integer(old) && draw(state, 2))
    return json_integer((json_int_t)((uint64_t)json_integer_value(old) + draw(state, 5) - 2));
  if (json_is_integer(old))
    return json_integer(NUMBERS[draw(state, sizeof NUMBERS / sizeof *NUMBERS)]);
  if (json_is_string(old))
    return json_string(NAMES[draw(state, sizeof NAMES / sizeof *NAMES)]);
  if (json_is_boolean(old))
    return json_boolean(!json_is_true(old));
  return json_null();
}

static void mutate_array(json_t *array, json_t *root, uint32_t *state) {
  size_t size = json_array_size(array), index = draw(state, (uint32_t)size), other = draw(state, (uint32_t)size);
  if (size == 0)
    return;
  switch (draw(state, 4)) {
  case 0:
    json_array_remove(array, index);
    return;
  case 1:
    json_array_insert_new(array, other, json_deep_copy(json_array_get(array, index)));
    return;
  case 2: // exchange
    json_array_insert(array, other, json_array_get(array, index));
    json_array_remove(array, index < other ? index : index + 1);
    return;
  default:
    json_array_set_new(array, index, new_value(json_array_get(array, index), root, state));
    return;
  }
}

static void mutate_object(json_t *object, json_t *root, uint32_t *state) {
  void *iterator = json_object_iter(object);
  for (uint32_t skip = draw(state, (uint32_t)json_object_size(object)); iterator && skip > 0; skip--)
    iterator = json_object_iter_next(object, iterator);
  if (!iterator)
    return;
  if (draw(state, 6) == 0)
    json_object_del(object, json_object_iter_key(iterator));
  else
    json_object_iter_set_new(object, iterator, new_value(json_object_iter_value(iterator), root, state));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
  uint32_t state = seed;
  json_t *root = draw(&state, 2) ? json_loadb((const char *)data, size, 0, NULL) : NULL;
  if (!root)
    return LLVMFuzzerMutate(data, size, max_size);
  for (uint32_t n = 1 + draw(&state, 3); n > 0; n--) {
    json_t *at = descend(root, &state);
    if (json_is_array(at))
      mutate_array(at, root, &state);
    else
      mutate_object(at, root, &state);
  }
  size_t used = json_dumpb(root, (char *)data, max_size, JSON_COMPACT);
  json_decref(root);
  return used <= max_size ? used : LLVMFuzzerMutate(data, size, max_size);
}
