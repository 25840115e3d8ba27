// truth.c - float64 evaluation at four independent draws, and the two thresholds.
//
// Draws:      standard normal; uniform in [0.5, 1.5], so that roots and logarithms of inputs exist; a quarter of the
//             normal; and normal around 2. Inputs come from their own stream of Philox, never from lib/field.
// Difference: Frobenius norm of a - b over that of a, for each output, over the elements that are finite in both (the
//             verifier's claim is about points where both are defined).
// Thresholds: float64 leaves about 1e-16 times the condition of the program, below 1e-12 at these extents and scales.
//             The smallest change that a mutation makes on purpose is a constant times 1 + 2^-12, and a single wrong
//             element among the at most 2^12 of an output moves the norm by 2^-6 of its own relative error. So 1e-9
//             and 1e-6 lie far from both sides, and nothing is expected between them.
#include "truth.h"

#include "mirage/eval.h"
#include "mirage/random.h"
#include <math.h>
#include <stdlib.h>

enum { NUM_DRAWS = 4 };

typedef struct Arrays {
  uint32_t count;
  double **data;
} Arrays;

static void arrays_deinit(Arrays *arrays) {
  for (uint32_t i = 0; arrays->data && i < arrays->count; i++)
    free(arrays->data[i]);
  free(arrays->data);
}

static size_t elements_of(const MirageUGraph *graph, MirageValue value) {
  return (size_t)mirage_type_elements(mirage_ugraph_type(graph, value));
}

static bool arrays_init(Arrays *arrays, const MirageUGraph *graph, uint32_t count,
                        MirageValue (*get)(const MirageUGraph *, uint32_t)) {
  *arrays = (Arrays){.count = count, .data = calloc(count + 1, sizeof(double *))};
  for (uint32_t i = 0; arrays->data && i < count; i++)
    if (!(arrays->data[i] = malloc(elements_of(graph, get(graph, i)) * sizeof(double))))
      return false;
  return arrays->data != NULL;
}

static double draw_number(MirageRandom *random, int draw) {
  switch (draw) {
  case 0:
    return mirage_random_normal(random);
  case 1:
    return 0.5 + (double)(mirage_random_next(random) >> 11) * 0x1p-53;
  case 2:
    return 0.25 * mirage_random_normal(random);
  default:
    return 2 + mirage_random_normal(random);
  }
}

typedef struct Gap {
  double norm, difference; // squared
  size_t compared;
} Gap;

static Gap compare(const double *a, const double *b, size_t n, TruthReport *report) {
  Gap gap = {0};
  for (size_t i = 0; i < n; i++) {
    if (isfinite(a[i]) && !isfinite(b[i]))
      report->less_defined = true;
    if (!isfinite(a[i]) || !isfinite(b[i]))
      continue;
    gap.norm += a[i] * a[i];
    gap.difference += (a[i] - b[i]) * (a[i] - b[i]);
    gap.compared++;
  }
  return gap;
}

static void compare_outputs(const MirageUGraph *graph, const Arrays *a, const Arrays *b, size_t *compared,
                            TruthReport *report) {
  for (uint32_t o = 0; o < a->count; o++) {
    Gap gap = compare(a->data[o], b->data[o], elements_of(graph, mirage_ugraph_get_output(graph, o)), report);
    *compared += gap.compared;
    if (gap.difference > 0)
      report->relative = fmax(report->relative, gap.norm > 0 ? sqrt(gap.difference / gap.norm) : INFINITY);
  }
}

bool truth_decide(const MirageUGraph *a, const MirageUGraph *b, uint64_t seed, TruthReport *out_report) {
  Arrays inputs, left, right;
  TruthReport report = {0};
  bool ok = arrays_init(&inputs, a, mirage_ugraph_num_inputs(a), mirage_ugraph_get_input);
  ok &= arrays_init(&left, a, mirage_ugraph_num_outputs(a), mirage_ugraph_get_output);
  ok &= arrays_init(&right, a, mirage_ugraph_num_outputs(a), mirage_ugraph_get_output);
  MirageStatus status = ok ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  size_t compared = 0;
  for (int draw = 0; draw < NUM_DRAWS && status == MIRAGE_OK; draw++) {
    MirageRandom random;
    mirage_random_init(&random, seed, (uint64_t)draw);
    for (uint32_t i = 0; i < inputs.count; i++)
      for (size_t j = 0, n = elements_of(a, mirage_ugraph_get_input(a, i)); j < n; j++)
        inputs.data[i][j] = draw_number(&random, draw);
    status =
        mirage_eval(a, mirage_domain_f64(), (const void *const *)inputs.data, (void *const *)left.data, NULL, NULL);
    if (status == MIRAGE_OK)
      status =
          mirage_eval(b, mirage_domain_f64(), (const void *const *)inputs.data, (void *const *)right.data, NULL, NULL);
    if (status == MIRAGE_OK)
      compare_outputs(a, &left, &right, &compared, &report);
  }
  arrays_deinit(&inputs);
  arrays_deinit(&left);
  arrays_deinit(&right);
  report.truth = status != MIRAGE_OK      ? TRUTH_NO_VALUE
                 : compared == 0          ? TRUTH_UNDEFINED
                 : report.relative > 1e-6 ? TRUTH_DIFFERENT
                 : report.relative < 1e-9 ? TRUTH_SAME
                                          : TRUTH_UNCLEAR;
  *out_report = report;
  return status != MIRAGE_NO_MEMORY;
}
