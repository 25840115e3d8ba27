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

// Elements from `first` on as a tensor of their own; the bytes of it are `*out_from` behind the others'.
static MirageType part_of(const MirageType *type, size_t first, size_t count, size_t *out_from) {
  MirageType part = *type;
  part.rank = 1;
  part.shape[0] = (int64_t)count;
  *out_from = first * mirage_dtype_bits(type->dtype) / 8;
  return part;
}

double tune_error(const MirageType *type, const void *bytes, const void *reference_bytes, const double *reference,
                  size_t *out_compared) {
  enum { PART = 4096 }; // even, so that i4 begins at a byte
  double values[PART], decoded[PART], difference = 0, norm = 0;
  size_t count = (size_t)mirage_type_elements(type), from;
  bool broken = false;
  *out_compared = 0;
  for (size_t first = 0; first < count; first += PART) {
    size_t here = count - first < PART ? count - first : PART;
    MirageType part = part_of(type, first, here, &from);
    const double *expected = reference ? reference + first : decoded;
    mirage_tensor_unpack(&part, (const char *)bytes + from, values);
    if (!reference)
      mirage_tensor_unpack(&part, (const char *)reference_bytes + from, decoded);
    for (size_t i = 0; i < here; i++) {
      if (!isfinite(expected[i]))
        continue;
      double d = values[i] - expected[i];
      broken |= !isfinite(d);
      difference += d * d;
      norm += expected[i] * expected[i];
      ++*out_compared;
    }
  }
  if (broken || !*out_compared || (difference > 0 && norm == 0))
    return INFINITY;
  return difference > 0 ? sqrt(difference / norm) : 0;
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
    double of_own = tune_error(type, own[i], NULL, reference[i], &compared);
    double of_candidate = tune_error(type, candidate[i], NULL, reference[i], &compared);
    out_verdict->own_error = fmax(out_verdict->own_error, of_own);
    out_verdict->error = fmax(out_verdict->error, of_candidate);
    out_verdict->sampled |= compared < elements;
    free(reference[i]);
  }
  free(reference);
  return MIRAGE_OK;
}
