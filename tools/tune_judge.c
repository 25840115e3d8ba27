// tune_judge.c - who is right where a candidate and the program's own lowering differ: a float64 evaluation says.
//
// The own lowering is what candidates are compared with, since both run on the GPU. But it may overflow where a candidate
// does not: one kernel an operator stores sums in f16 that a fused kernel keeps in f32. Both are then compared with the
// program evaluated in float64 on the same inputs - of a large program, leading parts of its outputs (run_sample), so that
// several processes for many candidates take neither long nor much memory.
#include "tune.h"

#include "mirage/eval.h"

#include <math.h>
#include <stdlib.h>

// ---------------------------------------------------------------------------------------------------------- comparison

// Sums over the elements at which the reference is finite.
typedef struct Difference {
  double difference, norm; // of squares
  bool broken;             // not finite where the reference is
  size_t compared;
} Difference;

static void add_elements(Difference *sum, size_t count, const double *values, const double *expected) {
  for (size_t i = 0; i < count; i++) {
    if (!isfinite(expected[i]))
      continue;
    double d = values[i] - expected[i];
    sum->broken |= !isfinite(d);
    sum->difference += d * d;
    sum->norm += expected[i] * expected[i];
    sum->compared++;
  }
}

static double relative_error(const Difference *sum) {
  if (sum->broken || !sum->compared || (sum->difference > 0 && sum->norm == 0))
    return INFINITY;
  return sum->difference > 0 ? sqrt(sum->difference / sum->norm) : 0;
}

// Elements of a tensor from `first` on, where a byte begins: two i4 make one, and rows of them an even number.
static void unpack_range(const MirageType *type, const void *bytes, size_t first, size_t count, double *values) {
  MirageType range = *type;
  range.rank = 1;
  range.shape[0] = (int64_t)count;
  mirage_tensor_unpack(&range, (const char *)bytes + first * mirage_dtype_bits(type->dtype) / 8, values);
}

double tune_error(const MirageType *type, const void *bytes, const void *reference, size_t *out_compared) {
  enum { RANGE = 4096 };
  double values[RANGE], expected[RANGE];
  size_t count = (size_t)mirage_type_elements(type);
  Difference sum = {0};
  for (size_t first = 0; first < count; first += RANGE) {
    size_t here = count - first < RANGE ? count - first : RANGE;
    unpack_range(type, bytes, first, here, values);
    unpack_range(type, reference, first, here, expected);
    add_elements(&sum, here, values, expected);
  }
  *out_compared = sum.compared;
  return relative_error(&sum);
}

// -------------------------------------------------------------------------------------------------------------- sample

static void unpack_repeated(const MirageType *type, const RunRepeated *tensor, size_t first, size_t count,
                            double *values) {
  for (size_t done = 0, here; done < count; done += here) {
    size_t at = (first + done) % tensor->held, left = tensor->held - at;
    here = count - done < left ? count - done : left;
    unpack_range(type, tensor->bytes, at, here, values + done);
  }
}

// A value's leading elements in each dimension, which lie in rows of the last one.
static void unpack_leading(const MirageType *whole, const MirageType *part, const RunRepeated *tensor, double *values) {
  uint32_t rank = whole->rank;
  size_t count = (size_t)mirage_type_elements(part), length = rank ? (size_t)part->shape[rank - 1] : 1;
  for (size_t done = 0; done < count; done += length) {
    size_t first = 0, stride = 1, index = done;
    for (uint32_t d = rank; d-- > 0;) {
      first += index % (size_t)part->shape[d] * stride;
      index /= (size_t)part->shape[d];
      stride *= (size_t)whole->shape[d];
    }
    unpack_repeated(whole, tensor, first, length, values + done);
  }
}

static const MirageType *type_of(const MirageUGraph *graph, bool output, uint32_t i) {
  return mirage_ugraph_type(graph, output ? mirage_ugraph_get_output(graph, i) : mirage_ugraph_get_input(graph, i));
}

// Of a program and its sample.
typedef struct Sample {
  const MirageUGraph *program;
  MirageUGraph *part;
  double **inputs, **expected; // of the part
} Sample;

static MirageStatus take_leading(const Sample *sample, bool output, uint32_t i, const RunRepeated *tensor,
                                 double **out_values) {
  const MirageType *part = type_of(sample->part, output, i);
  size_t count = (size_t)mirage_type_elements(part);
  *out_values = malloc((count + 1) * sizeof **out_values);
  if (!*out_values)
    return MIRAGE_NO_MEMORY;
  unpack_leading(type_of(sample->program, output, i), part, tensor, *out_values);
  return MIRAGE_OK;
}

static MirageStatus evaluate(Sample *sample, const RunRepeated *inputs, const MirageDiag *diag) {
  uint32_t num_inputs = mirage_ugraph_num_inputs(sample->part), num_outputs = mirage_ugraph_num_outputs(sample->part);
  uint32_t parts;
  sample->inputs = calloc((size_t)num_inputs + 1, sizeof *sample->inputs);
  sample->expected = calloc((size_t)num_outputs + 1, sizeof *sample->expected);
  if (!sample->inputs || !sample->expected)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < num_inputs; i++)
    MIRAGE_TRY(take_leading(sample, false, i, &inputs[i], &sample->inputs[i]));
  for (uint32_t i = 0; i < num_outputs; i++) {
    size_t count = (size_t)mirage_type_elements(type_of(sample->part, true, i));
    sample->expected[i] = malloc((count + 1) * sizeof **sample->expected);
    if (!sample->expected[i])
      return MIRAGE_NO_MEMORY;
  }
  return run_eval(sample->part, mirage_domain_f64(), 0, sample->inputs, sample->expected, diag, &parts);
}

static void sample_deinit(Sample *sample) {
  for (uint32_t i = 0; sample->inputs && i < mirage_ugraph_num_inputs(sample->program); i++)
    free(sample->inputs[i]);
  for (uint32_t i = 0; sample->expected && i < mirage_ugraph_num_outputs(sample->program); i++)
    free(sample->expected[i]);
  free(sample->inputs);
  free(sample->expected);
  mirage_ugraph_destroy(sample->part);
}

// The largest error of any output.
static MirageStatus largest_error(const Sample *sample, char *const *outputs, double *out_error) {
  *out_error = 0;
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(sample->part); i++) {
    double *values;
    Difference sum = {0};
    const RunRepeated whole = {outputs[i], (size_t)mirage_type_elements(type_of(sample->program, true, i))};
    MirageStatus status = take_leading(sample, true, i, &whole, &values);
    if (status == MIRAGE_OK)
      add_elements(&sum, (size_t)mirage_type_elements(type_of(sample->part, true, i)), values, sample->expected[i]);
    free(values);
    MIRAGE_TRY(status);
    *out_error = fmax(*out_error, relative_error(&sum));
  }
  return MIRAGE_OK;
}

static bool is_whole(const Sample *sample) {
  bool whole = true;
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(sample->part); i++)
    whole = whole && mirage_type_elements(type_of(sample->part, true, i)) ==
                         mirage_type_elements(type_of(sample->program, true, i));
  return whole;
}

MirageStatus tune_judge(const MirageUGraph *program, double max_work, const RunRepeated *inputs, char *const *own,
                        char *const *candidate, const MirageDiag *diag, TuneVerdict *out_verdict) {
  Sample sample = {.program = program};
  *out_verdict = (TuneVerdict){0};
  MirageStatus status = run_sample(program, max_work, diag, &sample.part);
  if (status == MIRAGE_OK)
    status = evaluate(&sample, inputs, diag);
  if (status == MIRAGE_OK)
    status = largest_error(&sample, own, &out_verdict->own_error);
  if (status == MIRAGE_OK)
    status = largest_error(&sample, candidate, &out_verdict->error);
  out_verdict->judged = status == MIRAGE_OK;
  out_verdict->sampled = status == MIRAGE_OK && !is_whole(&sample);
  sample_deinit(&sample);
  return status;
}
