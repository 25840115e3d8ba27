// truth.c - float64 evaluation at four independent draws, and the two thresholds.
//
// Draws:      standard normal; uniform in [0.5, 1.5], so that roots and logarithms of inputs exist; a quarter of the
//             normal; and normal around 2. Inputs come from their own stream of Philox, never from lib/field.
// Difference: Frobenius norm of a - b over that of a, for each output, over the elements that are finite in both (the
//             verifier's claim is about points where both are defined).
// Thresholds: float64 leaves about 1e-16 times the condition of the program, below 1e-12 at these extents and scales.
//             The smallest change that a mutation makes on purpose is a constant times 1 + 2^-12, and a single wrong
//             element among the at most 2^12 of an output moves the norm by 2^-6 of its own relative error. So 1e-9
//             and 1e-6 lie far from both sides.
// Again:      a mutant may be ill-conditioned, e.g. subtract a sum where a maximum belongs: equal as a function, but
//             exponentials underflow. So where float64 sees a difference, the same draws are evaluated in long double,
//             and that is what counts.
#include "truth.h"

#include "mirage/random.h"
#include <math.h>
#include <stdlib.h>

enum { NUM_DRAWS = 4, MASKED_DRAWS = 16 };
static const double SAME = 1e-9, DIFFERENT = 1e-6;

typedef struct Arrays {
  uint32_t count;
  void **data;
} Arrays;

static void arrays_deinit(Arrays *arrays) {
  for (uint32_t i = 0; arrays->data && i < arrays->count; i++)
    free(arrays->data[i]);
  free(arrays->data);
}

static size_t elements_of(const MirageUGraph *graph, MirageValue value) {
  return (size_t)mirage_type_elements(mirage_ugraph_type(graph, value));
}

// Room for long doubles, also where they hold doubles.
static bool arrays_init(Arrays *arrays, const MirageUGraph *graph, uint32_t count,
                        MirageValue (*get)(const MirageUGraph *, uint32_t)) {
  *arrays = (Arrays){.count = count, .data = calloc(count + 1, sizeof(void *))};
  for (uint32_t i = 0; arrays->data && i < count; i++)
    if (!(arrays->data[i] = malloc(elements_of(graph, get(graph, i)) * sizeof(long double))))
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

// A predicate, of some draws true rarely, so that rows are empty; a length, a little less than none to more than all.
static double draw_mask(MirageRandom *random, MirageDType dtype, int64_t most, int draw) {
  if (dtype == MIRAGE_I1)
    return mirage_random_below(random, draw % 3 ? 8 : 2) == 0;
  return (double)mirage_random_below(random, (uint64_t)most + 4) - 2;
}

static long double element(const void *data, size_t i, bool extended) {
  return extended ? ((const long double *)data)[i] : ((const double *)data)[i];
}

typedef struct Pair {
  const MirageUGraph *graphs[2];
  Arrays inputs, outputs[2];
  uint64_t seed;
  int num_draws;
  int64_t longest; // extent of an input
} Pair;

static const MirageType *input_type(const Pair *pair, uint32_t i) {
  return mirage_ugraph_type(pair->graphs[0], mirage_ugraph_get_input(pair->graphs[0], i));
}
static bool is_mask(MirageDType dtype) { return dtype == MIRAGE_I1 || dtype == MIRAGE_I32; }

// More draws where masks are drawn, each of which shows one of their patterns.
static void plan_draws(Pair *pair) {
  pair->num_draws = NUM_DRAWS;
  for (uint32_t i = 0; i < pair->inputs.count; i++) {
    const MirageType *type = input_type(pair, i);
    for (uint32_t d = 0; d < type->rank; d++)
      pair->longest = type->shape[d] > pair->longest ? type->shape[d] : pair->longest;
    if (is_mask(type->dtype))
      pair->num_draws = MASKED_DRAWS;
  }
}

static void draw_inputs(Pair *pair, int draw, bool extended) {
  MirageRandom random;
  mirage_random_init(&random, pair->seed, (uint64_t)draw);
  for (uint32_t i = 0; i < pair->inputs.count; i++) {
    MirageDType dtype = input_type(pair, i)->dtype;
    for (size_t j = 0, n = elements_of(pair->graphs[0], mirage_ugraph_get_input(pair->graphs[0], i)); j < n; j++) {
      double number =
          is_mask(dtype) ? draw_mask(&random, dtype, pair->longest, draw) : draw_number(&random, draw % NUM_DRAWS);
      if (extended)
        truth_put_extended(pair->inputs.data[i], j, number);
      else
        ((double *)pair->inputs.data[i])[j] = number;
    }
  }
}

static void compare(const Pair *pair, uint32_t output, bool extended, size_t *compared, TruthReport *report) {
  const void *a = pair->outputs[0].data[output], *b = pair->outputs[1].data[output];
  size_t n = elements_of(pair->graphs[0], mirage_ugraph_get_output(pair->graphs[0], output));
  long double norm = 0, difference = 0;
  for (size_t i = 0; i < n; i++) {
    long double x = element(a, i, extended), y = element(b, i, extended);
    report->less_defined |= isfinite(x) && !isfinite(y);
    if (!isfinite(x) || !isfinite(y))
      continue;
    norm += x * x;
    difference += (x - y) * (x - y);
    ++*compared;
  }
  if (difference > 0)
    report->relative = fmax(report->relative, norm > 0 ? (double)sqrtl(difference / norm) : INFINITY);
}

static MirageStatus decide(Pair *pair, bool extended, TruthReport *out_report) {
  const MirageDomain *domain = extended ? truth_extended_domain() : mirage_domain_f64();
  TruthReport report = {0};
  size_t compared = 0;
  MirageStatus status = MIRAGE_OK;
  for (int draw = 0; draw < pair->num_draws && status == MIRAGE_OK; draw++) {
    draw_inputs(pair, draw, extended);
    for (int g = 0; g < 2 && status == MIRAGE_OK; g++)
      status = mirage_eval(pair->graphs[g], domain, (const void *const *)pair->inputs.data, pair->outputs[g].data, NULL,
                           NULL);
    for (uint32_t o = 0; o < pair->outputs[0].count && status == MIRAGE_OK; o++)
      compare(pair, o, extended, &compared, &report);
  }
  report.truth = status != MIRAGE_OK           ? TRUTH_NO_VALUE
                 : compared == 0               ? TRUTH_UNDEFINED
                 : report.relative > DIFFERENT ? TRUTH_DIFFERENT
                 : report.relative < SAME      ? TRUTH_SAME
                                               : TRUTH_UNCLEAR;
  *out_report = report;
  return status;
}

bool truth_decide(const MirageUGraph *a, const MirageUGraph *b, uint64_t seed, TruthReport *out_report) {
  Pair pair = {.graphs = {a, b}, .seed = seed};
  bool ok = arrays_init(&pair.inputs, a, mirage_ugraph_num_inputs(a), mirage_ugraph_get_input);
  for (int g = 0; g < 2; g++)
    ok = arrays_init(&pair.outputs[g], a, mirage_ugraph_num_outputs(a), mirage_ugraph_get_output) && ok;
  plan_draws(&pair);
  MirageStatus status = ok ? decide(&pair, false, out_report) : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK && (out_report->truth == TRUTH_DIFFERENT || out_report->truth == TRUTH_UNCLEAR))
    status = decide(&pair, true, out_report);
  arrays_deinit(&pair.inputs);
  for (int g = 0; g < 2; g++)
    arrays_deinit(&pair.outputs[g]);
  return status != MIRAGE_NO_MEMORY;
}
