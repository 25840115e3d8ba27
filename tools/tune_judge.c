// tune_judge.c - who is right where a candidate and the program's own lowering differ: a float64 evaluation says.
//
// The own lowering is what candidates are compared with, since both run on the GPU. But it may overflow where a candidate
// does not: one kernel an operator stores sums in f16 that a fused kernel keeps in f32. Both are then compared with the
// program evaluated in float64 on the same inputs - of a large program, a slice of its outputs (run_eval_sample).
#include "tune.h"

#include "mirage/eval.h"

#include <math.h>
#include <stdlib.h>

static const double SAMPLE_WORK = 5e8; // multiplications: some seconds

// Relative error over the elements that were evaluated and are finite; infinite where there are none.
static double error_of(const MirageType *type, const void *bytes, const double *reference, size_t *out_compared) {
  size_t count = (size_t)mirage_type_elements(type), kept = 0;
  double *values = malloc((count + 1) * sizeof *values), *expected = malloc((count + 1) * sizeof *expected);
  double relative = INFINITY, largest;
  if (values && expected) {
    mirage_tensor_unpack(type, bytes, values);
    for (size_t i = 0; i < count; i++)
      if (isfinite(reference[i])) {
        values[kept] = values[i];
        expected[kept++] = reference[i];
      }
    if (kept)
      mirage_compare(values, expected, kept, &relative, &largest);
  }
  free(values);
  free(expected);
  *out_compared = kept;
  return kept && !isnan(relative) ? relative : INFINITY;
}

// Outputs full of NaN: what stays so was not evaluated.
static double **create_reference(const MirageUGraph *program) {
  uint32_t num = mirage_ugraph_num_outputs(program);
  double **reference = calloc((size_t)num + 1, sizeof *reference);
  for (uint32_t i = 0; reference && i < num; i++) {
    size_t count = (size_t)mirage_type_elements(mirage_ugraph_type(program, mirage_ugraph_get_output(program, i)));
    reference[i] = malloc((count + 1) * sizeof **reference);
    if (!reference[i])
      return NULL;
    for (size_t k = 0; k < count; k++)
      reference[i][k] = NAN;
  }
  return reference;
}

MirageStatus tune_judge(const RunModule *module, const RunOptions *options, void *const *own, void *const *candidate,
                        const MirageDiag *diag, TuneVerdict *out_verdict) {
  const MirageUGraph *program = module->program;
  RunInputs inputs;
  double **reference = create_reference(program);
  *out_verdict = (TuneVerdict){0};
  if (!reference)
    return MIRAGE_NO_MEMORY;
  MIRAGE_TRY(run_inputs_create(module, options, diag, &inputs)); // the same as before, by their seed
  MIRAGE_TRY(run_inputs_complete(&inputs, program));
  MIRAGE_TRY(run_eval_sample(program, mirage_domain_f64(), SAMPLE_WORK, inputs.values, reference, diag));
  run_inputs_deinit(&inputs);
  out_verdict->judged = true;
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(program); i++) {
    const MirageType *type = mirage_ugraph_type(program, mirage_ugraph_get_output(program, i));
    size_t compared, elements = (size_t)mirage_type_elements(type);
    double of_own = error_of(type, own[i], reference[i], &compared);
    double of_candidate = error_of(type, candidate[i], reference[i], &compared);
    out_verdict->own_error = fmax(out_verdict->own_error, of_own);
    out_verdict->error = fmax(out_verdict->error, of_candidate);
    out_verdict->sampled |= compared < elements;
    free(reference[i]);
  }
  free(reference);
  return MIRAGE_OK;
}
