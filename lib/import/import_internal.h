// import_internal.h - what the files of lib/import share.
#ifndef MIRAGE_IMPORT_INTERNAL_H
#define MIRAGE_IMPORT_INTERNAL_H

#include "mirage/import.h"

#include <jansson.h>

// ----------------------------------------------------------------------------------------------------------- operators

/// What an operator of the file becomes.
typedef enum {
  RULE_INPUT,
  RULE_OUTPUT,
  RULE_CUSTOM,
  RULE_APPLY,         // the operator `op` on the inputs
  RULE_REDUCE,        // sum over dimension `dim`, which stays with extent 1
  RULE_REDUCE_TO,     // ... with extent reduction_dimx: out[j] = sum over i of in[i * reduction_dimx + j]
  RULE_RMS_NORM,      // x / sqrt(mean of x^2 over the last dimension)
  RULE_CONCAT,        // along `dim`
  RULE_CONCAT_MATMUL, // a, b, c, d: [a | b] @ [c ; d]
  RULE_ACCUM,         // sum over the loop
  RULE_ACCUM_SUM,     // ... and over the last dimension
  RULE_ACCUM_MEAN,    // mean over the loop and the last dimension
  RULE_ACCUM_RMS,     // sqrt(mean of squares)
  RULE_ACCUM_SUM_TO,  // sum over the loop and over the last dimension down to reduction_dimx
  RULE_REFUSED,       // known, but the file says too little: `reason`
} ImportRuleKind;

typedef struct ImportRule {
  const char *name; // without kn_ / tb_ and _op
  uint32_t levels;  // of MirageLevel
  ImportRuleKind kind;
  uint32_t num_inputs;
  MirageOp op; // RULE_APPLY
  int32_t dim; // RULE_REDUCE, RULE_REDUCE_TO, RULE_CONCAT
  const char *reason;
} ImportRule;

enum { IMPORT_MAX_INPUTS = 4 }; // of any operator but a custom kernel

static inline bool mirage__import_is_accum(const ImportRule *rule) {
  return rule->kind >= RULE_ACCUM && rule->kind <= RULE_ACCUM_SUM_TO;
}

// -------------------------------------------------------------------------------------------------------------- reader

/// A tensor that some operator of the file defined.
typedef struct ImportTensor ImportTensor;
struct ImportTensor {
  ImportTensor *next;
  json_int_t guid;
  MirageType type; // at block level with element type f32: only its shape is used
  bool after;      // block level: lives after the loop
  MirageValue value;
};

typedef struct ImportReader {
  const MirageImportOptions *options;
  const MirageDiag *outer; // the caller's
  MirageDiag diag;         // puts the place before each sentence
  MirageArena arena;       // of the graph that is being read
  MirageUGraph *graph;
  ImportTensor *tensors;           // kernel level
  size_t graph_index, op_index[2]; // where we are: kernel level, block level
  const char *op_type[2];          // or NULL: not inside an operator
} ImportReader;

/// Element types of the file have numbers: 940 bf16, 941 f16, 950 f32.
MirageStatus mirage__import_dtype(ImportReader *reader, const json_t *tensor, MirageDType *out_dtype);

// json.c: typed access, and text from the file.
/// `text` as one line of printable ASCII, shortened to `size` (at least 5).
const char *mirage__import_printable(const char *text, char *buffer, size_t size);
/// Each of these fails with a sentence that names the field, what it is, and what is wanted.
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
MirageStatus mirage__import_fail(ImportReader *reader, MirageStatus status, const char *format, ...);
MirageStatus mirage__import_array(ImportReader *reader, const json_t *object, const char *key, const json_t **out);
MirageStatus mirage__import_object(ImportReader *reader, const json_t *object, const char *key, const json_t **out);
/// An integer in [min, max].
MirageStatus mirage__import_int(ImportReader *reader, const json_t *object, const char *key, int64_t min, int64_t max,
                                int64_t *out);
MirageStatus mirage__import_bool(ImportReader *reader, const json_t *object, const char *key, bool *out);
/// The members x, y, z of the object `key`, each in [min, max].
MirageStatus mirage__import_xyz(ImportReader *reader, const json_t *object, const char *key, int64_t min, int64_t max,
                                int64_t out[3]);
MirageStatus mirage__import_guid(ImportReader *reader, const json_t *tensor, json_int_t *out_guid);
/// The type that a tensor of the file states.
MirageStatus mirage__import_tensor_type(ImportReader *reader, const json_t *tensor, MirageType *out_type);
/// The operators of a graph, as objects with an op_type: checks the list, its length and entry `index`, and moves the
/// place of `level` (0 kernel, 1 block) there.
MirageStatus mirage__import_op(ImportReader *reader, const json_t *list, int level, size_t index, const json_t **out_op,
                               const ImportRule **out_rule);

// import_graphs.c: tensors by guid.
/// What the file states of a tensor has to agree with what follows from the operators, unless the caller wants only the
/// latter.
MirageStatus mirage__import_check(ImportReader *reader, const json_t *stated, const MirageType *type);
MirageStatus mirage__import_find(ImportReader *reader, ImportTensor *tensors, const json_t *stated,
                                 ImportTensor **out_tensor);
MirageStatus mirage__import_define(ImportReader *reader, ImportTensor **tensors, const json_t *stated,
                                   const MirageType *type, ImportTensor **out_tensor);
/// The only entry of output_tensors.
MirageStatus mirage__import_only_output(ImportReader *reader, const json_t *op, const json_t **out_tensor);
/// Entries of input_tensors, `rule->num_inputs` of them.
MirageStatus mirage__import_inputs(ImportReader *reader, const json_t *op, const ImportRule *rule,
                                   ImportTensor *tensors, ImportTensor **out_inputs);

// import_block.c: one kn_customized_op.
MirageStatus mirage__import_custom(ImportReader *reader, const json_t *op);

#endif
