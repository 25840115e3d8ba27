// run_tensors.c - the inputs of a run.
//
// A random input is normal(0, 1) times a scale, drawn from stream i of the seed (Philox), so that one input does not
// change with another's size; of the seed's purpose "run", so that nobody has tried these numbers before. The scale keeps values moderate (run_scales.c). The program's attribute
// `mirage_kernel.input_scales` goes before that, and --scale before both; names are not to be had, because MLIR forgets
// them. Integers are lengths, and as large as the program counts.
#include "npy.h"
#include "run.h"

#include "mirage/eval.h"
#include "mirage/random.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>
#include <string.h>

// -------------------------------------------------------------------------------------------------------------- scales

// The program's own word: `mirage_kernel.input_scales = array<f64: ..>`, one for each input.
static MirageStatus attribute_scales(const RunModule *module, uint32_t count, const MirageDiag *diag, double *scales) {
  MlirAttribute attribute =
      mlirOperationGetAttributeByName(module->program_op, mlirStringRefCreateFromCString("mirage_kernel.input_scales"));
  if (mlirAttributeIsNull(attribute))
    return MIRAGE_OK;
  if (!mlirAttributeIsADenseF64Array(attribute) || mlirDenseArrayGetNumElements(attribute) != (intptr_t)count)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT,
                            "input_scales: array<f64: ...> with one factor for each of the %u inputs is wanted", count);
  for (uint32_t i = 0; i < count; i++) {
    scales[i] = mlirDenseF64ArrayGetElement(attribute, i);
    if (!(scales[i] > 0 && scales[i] < 1e30))
      return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "input_scales: factor %u is %g, not above 0", i,
                              scales[i]);
  }
  return MIRAGE_OK;
}

// -------------------------------------------------------------------------------------------------------------- inputs

MirageStatus run_files_by_index(const RunFiles *files, uint32_t count, const char *option, const char *what,
                                const MirageDiag *diag, const char **out_paths) {
  for (const struct RunFile *file = files->items; file < files->items + files->num; file++) {
    if (file->index >= count)
      return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "%s: no %s %u: the program has %u (numbered from 0)",
                              option, what, file->index, count);
    if (out_paths[file->index])
      return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "%s: two files for %s %u: %s and %s", option, what,
                              file->index, out_paths[file->index], file->path);
    out_paths[file->index] = file->path;
  }
  return MIRAGE_OK;
}

static MirageStatus apply_options(const RunOptions *options, const MirageDiag *diag, RunInputs *inputs) {
  for (uint32_t i = 0; i < options->num_scales; i++) {
    if (options->scales[i].input >= inputs->count)
      return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT,
                              "--scale: no input %u: the program has %u (numbered from 0)", options->scales[i].input,
                              inputs->count);
    inputs->scales[options->scales[i].input] = options->scales[i].factor;
  }
  return run_files_by_index(&options->inputs, inputs->count, "--input", "input", diag, inputs->paths);
}

double run_counted(const MirageUGraph *program) {
  double counted = 0;
  for (uint32_t id = 1; id <= mirage_ugraph_num_nodes(program); id++) {
    MirageNodeView view = mirage_ugraph_node(program, (MirageNode){id});
    if (view.op != MIRAGE_OP_IOTA)
      continue;
    int64_t end = view.attrs->iota.start + mirage_ugraph_type(program, view.first_result)->shape[view.attrs->iota.dim];
    counted = (double)end > counted ? (double)end : counted;
  }
  return counted;
}

static bool is_length(const MirageType *type) { return mirage_dtype_family(type->dtype) == MIRAGE_FAMILY_INDEX; }

static MirageStatus draw(const MirageType *type, size_t count, uint64_t seed, uint64_t stream, double scale,
                         const MirageDiag *diag, double **out_values) {
  double *values = malloc(count * sizeof *values);
  if (!values)
    return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "inputs: out of memory for %zu elements", count);
  MirageRandom random;
  mirage_random_init(&random, seed, stream);
  for (size_t i = 0; i < count; i++)
    values[i] = scale * mirage_random_normal(&random);
  for (size_t i = 0; mirage_dtype_family(type->dtype) == MIRAGE_FAMILY_PREDICATE && i < count; i++)
    values[i] = values[i] > 0;
  *out_values = values;
  return MIRAGE_OK;
}

static MirageStatus fill(const RunModule *module, const RunOptions *options, const MirageDiag *diag,
                         RunInputs *inputs) {
  const MirageUGraph *program = module->program;
  MIRAGE_TRY(run_default_scales(program, diag, inputs->scales));
  MIRAGE_TRY(attribute_scales(module, inputs->count, diag, inputs->scales));
  MIRAGE_TRY(apply_options(options, diag, inputs));
  for (uint32_t i = 0; i < inputs->count; i++) {
    const MirageType *type = mirage_ugraph_type(program, mirage_ugraph_get_input(program, i));
    size_t count = (size_t)mirage_type_elements(type);
    if (options->period && !inputs->paths[i] && count > options->period)
      count = (size_t)options->period;
    inputs->held[i] = count;
    if (inputs->paths[i])
      MIRAGE_TRY(npy_read(inputs->paths[i], type, diag, &inputs->values[i]));
    else
      MIRAGE_TRY(draw(type, count, mirage_random_purpose(options->seed, "run"), i, inputs->scales[i], diag,
                      &inputs->values[i]));
    double counted = run_counted(program);
    for (size_t j = 0; is_length(type) && !inputs->paths[i] && j < count; j++)
      inputs->values[i][j] = counted;
    mirage_round_array(type->dtype, count, inputs->values[i]);
  }
  return MIRAGE_OK;
}

MirageStatus run_inputs_create(const RunModule *module, const RunOptions *options, const MirageDiag *diag,
                               RunInputs *inputs) {
  uint32_t count = mirage_ugraph_num_inputs(module->program);
  *inputs = (RunInputs){.count = count};
  inputs->values = calloc(count + 1, sizeof *inputs->values);
  inputs->held = calloc(count + 1, sizeof *inputs->held);
  inputs->scales = calloc(count + 1, sizeof *inputs->scales);
  inputs->paths = calloc(count + 1, sizeof *inputs->paths);
  if (!inputs->values || !inputs->held || !inputs->scales || !inputs->paths)
    return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "inputs: out of memory");
  return fill(module, options, diag, inputs);
}

void run_inputs_deinit(RunInputs *inputs) {
  for (uint32_t i = 0; inputs->values && i < inputs->count; i++)
    free(inputs->values[i]);
  free(inputs->values);
  free(inputs->held);
  free(inputs->scales);
  free(inputs->paths);
}

MirageStatus run_inputs_pack(const RunInputs *inputs, uint32_t index, const MirageType *type, RunRepeated *out_packed) {
  MirageType held = *type;
  held.rank = 1;
  held.shape[0] = (int64_t)inputs->held[index];
  out_packed->held = inputs->held[index];
  out_packed->bytes = malloc((size_t)mirage_type_bytes(&held) + 1);
  if (!out_packed->bytes)
    return MIRAGE_NO_MEMORY;
  mirage_tensor_pack(&held, inputs->values[index], out_packed->bytes);
  return MIRAGE_OK;
}
