// check_graph.c - runs one graph on the emulator and measures it against two evaluations.
//
// Call order:  allocate -> draw inputs -> evaluate in float64 (the reference) and in the graph's own types (what
//              rounding alone does) -> emulate late and early -> judge each output.
// Rounding:    a lucky rounding must not make the measure too tight where terms cancel, so the graph is evaluated in
//              its own types three times, twice with every input moved by a rounding; the worst error counts.
#include "check_graph.h"

#include "mirage/canonical.h"
#include "mirage/codegen.h"
#include "mirage/emulator.h"
#include "mirage/eval.h"
#include "mirage/layout.h"
#include "mirage/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// One input or output: its bits for the emulator, its values for the evaluator.
typedef struct Tensor {
  MirageType type;
  size_t count;
  void *bits;
  double *values; // input: as drawn; output: float64 reference
  double *moved;  // input: moved by a rounding; output: evaluated in the graph's own types, on these
  double *margin; // output: what rounding does to each element, the worst of some evaluations
} Tensor;

typedef struct Check {
  const MirageUGraph *graph;
  uint32_t num_inputs, num_outputs;
  Tensor *inputs, *outputs;
  const void **in; // scratch: pointers of one kind, in order
  void **out;
  CheckReport *report;
} Check;

// The first error is the reason.
static void keep_message(void *user, MirageSeverity severity, const void *loc, const char *message) {
  CheckReport *report = user;
  if (severity == MIRAGE_SEVERITY_ERROR && !report->reason[0])
    snprintf(report->reason, sizeof report->reason, "%s", message);
}

// ------------------------------------------------------------------------------------------------------------- tensors

static bool tensor_init(Tensor *tensor, const MirageType *type) {
  tensor->type = *type;
  tensor->count = (size_t)mirage_type_elements(type);
  tensor->bits = calloc(tensor->count + 1, 4);
  tensor->values = calloc(tensor->count + 1, sizeof(double));
  tensor->moved = calloc(tensor->count + 1, sizeof(double));
  tensor->margin = calloc(tensor->count + 1, sizeof(double));
  return tensor->bits && tensor->values && tensor->moved && tensor->margin;
}

static void tensors_free(Tensor *tensors, uint32_t count) {
  for (uint32_t i = 0; tensors && i < count; i++) {
    free(tensors[i].bits);
    free(tensors[i].values);
    free(tensors[i].moved);
    free(tensors[i].margin);
  }
  free(tensors);
}

static void encode(MirageDType dtype, size_t n, const double *values, void *bits) {
  for (size_t i = 0; i < n; i++)
    if (dtype == MIRAGE_F32)
      ((float *)bits)[i] = (float)values[i];
    else
      ((uint16_t *)bits)[i] =
          dtype == MIRAGE_F16 ? mirage_f16_from_double(values[i]) : mirage_bf16_from_double(values[i]);
}

static double element(const Tensor *tensor, size_t i) {
  return tensor->type.dtype == MIRAGE_F32   ? (double)((const float *)tensor->bits)[i]
         : tensor->type.dtype == MIRAGE_F16 ? mirage_f16_to_double(((const uint16_t *)tensor->bits)[i])
                                            : mirage_bf16_to_double(((const uint16_t *)tensor->bits)[i]);
}

static void draw(Tensor *tensor, uint64_t seed, uint32_t stream) {
  MirageRandom random;
  mirage_random_init(&random, seed, stream);
  bool weight = stream > 0 && tensor->type.rank >= 2;
  double scale = weight ? 1 / sqrt((double)tensor->type.shape[tensor->type.rank - 2]) : 1;
  for (size_t i = 0; i < tensor->count; i++)
    tensor->values[i] = mirage_round_to(tensor->type.dtype, mirage_random_normal(&random) * scale);
  encode(tensor->type.dtype, tensor->count, tensor->values, tensor->bits);
}

static bool check_init(Check *check, uint64_t seed) {
  const MirageUGraph *graph = check->graph;
  check->num_inputs = mirage_ugraph_num_inputs(graph);
  check->num_outputs = mirage_ugraph_num_outputs(graph);
  check->inputs = calloc(check->num_inputs + 1, sizeof *check->inputs);
  check->outputs = calloc(check->num_outputs + 1, sizeof *check->outputs);
  check->in = calloc(check->num_inputs + 1, sizeof *check->in);
  check->out = calloc(check->num_outputs + 1, sizeof *check->out);
  bool ok = check->inputs && check->outputs && check->in && check->out;
  for (uint32_t i = 0; ok && i < check->num_inputs; i++) {
    ok = tensor_init(&check->inputs[i], mirage_ugraph_type(graph, mirage_ugraph_get_input(graph, i)));
    if (ok)
      draw(&check->inputs[i], seed, i);
  }
  for (uint32_t i = 0; ok && i < check->num_outputs; i++)
    ok = tensor_init(&check->outputs[i], mirage_ugraph_type(graph, mirage_ugraph_get_output(graph, i)));
  return ok;
}

static void check_deinit(Check *check) {
  tensors_free(check->inputs, check->num_inputs);
  tensors_free(check->outputs, check->num_outputs);
  free(check->in);
  free(check->out);
}

// ---------------------------------------------------------------------------------------------------------- evaluating

// Distance of 1 from the next larger number.
static double spacing(MirageDType dtype) {
  return dtype == MIRAGE_F32 ? 0x1p-23 : dtype == MIRAGE_F16 ? 0x1p-10 : 0x1p-7;
}

static MirageStatus evaluate(Check *check, const MirageDomain *domain, bool moved, const MirageDiag *diag) {
  for (uint32_t i = 0; i < check->num_inputs; i++)
    check->in[i] = moved ? check->inputs[i].moved : check->inputs[i].values;
  for (uint32_t i = 0; i < check->num_outputs; i++)
    check->out[i] = moved ? check->outputs[i].moved : check->outputs[i].values;
  return mirage_eval(check->graph, domain, check->in, check->out, NULL, diag);
}

// The inputs as they are, or each element one rounding up or down.
static void move_inputs(Check *check, uint64_t seed, uint32_t round) {
  for (uint32_t i = 0; i < check->num_inputs; i++) {
    Tensor *input = &check->inputs[i];
    MirageRandom random;
    mirage_random_init(&random, seed, (uint64_t)(round + 1) << 32 | i);
    for (size_t j = 0; j < input->count; j++) {
      double step = round == 0 ? 0 : spacing(input->type.dtype) * (mirage_random_below(&random, 2) ? 0.5 : -0.5);
      input->moved[j] = mirage_round_to(MIRAGE_F32, input->values[j] * (1 + step));
    }
  }
}

static MirageStatus measure_rounding(Check *check, uint64_t seed, const MirageDiag *diag) {
  enum { ROUNDS = 3 };
  for (uint32_t round = 0; round < ROUNDS; round++) {
    move_inputs(check, seed, round);
    MIRAGE_TRY(evaluate(check, mirage_domain_real(), true, diag));
    for (uint32_t i = 0; i < check->num_outputs; i++)
      for (size_t j = 0; j < check->outputs[i].count; j++) {
        Tensor *output = &check->outputs[i];
        double error = fabs(output->moved[j] - output->values[j]);
        output->margin[j] = isfinite(error) ? fmax(output->margin[j], error) : INFINITY;
      }
  }
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------------- judging

static void blame(Check *check, const char *run, uint32_t output, size_t at, const char *what) {
  const Tensor *tensor = &check->outputs[output];
  char type[64];
  check->report->verdict = CHECK_WRONG;
  snprintf(check->report->reason, sizeof check->report->reason,
           "copies %s: output %u (%s) %s: element %zu is %.9g, %.9g in float64; rounding accounts for %.3g", run,
           output, mirage_type_format(&tensor->type, type, sizeof type), what, at, element(tensor, at),
           tensor->values[at], tensor->margin[at]);
}

static void judge(Check *check, const char *run, uint32_t output) {
  const Tensor *tensor = &check->outputs[output];
  double squares = 0, error = 0, rounding = 0, worst = 0, worst_rounding = 0;
  size_t measured = 0, at = 0;
  for (size_t i = 0; i < tensor->count; i++) {
    double reference = tensor->values[i], own = tensor->margin[i], got = element(tensor, i) - reference;
    if (!isfinite(reference) || !isfinite(own))
      continue;
    if (!isfinite(got)) {
      blame(check, run, output, i, "is not finite");
      return;
    }
    measured++;
    squares += reference * reference;
    error += got * got;
    rounding += own * own;
    worst_rounding = fmax(worst_rounding, own);
    if (fabs(got) > worst) {
      worst = fabs(got);
      at = i;
    }
  }
  if (measured == 0 || squares == 0)
    return; // nothing to measure against
  // f32 results carry the error of approximate exponentials and reciprocals besides.
  double unit = tensor->type.dtype == MIRAGE_F32 ? 0x1p-20 : spacing(tensor->type.dtype);
  double size = sqrt(squares / (double)measured);
  double relative = sqrt(error / squares), allowed = 4 * sqrt(rounding / squares) + 2 * unit;
  if (relative / allowed > check->report->relative / check->report->allowed) {
    check->report->relative = relative;
    check->report->allowed = allowed;
  }
  if (relative > allowed)
    blame(check, run, output, at, "is off");
  else if (worst > 8 * worst_rounding + 16 * unit * size)
    blame(check, run, output, at, "is off in one element");
}

static void emulate(Check *check, MirageEmulation *emulation, MirageCopyTime copies, const char *run,
                    const MirageDiag *diag) {
  for (uint32_t i = 0; i < check->num_inputs; i++)
    check->in[i] = check->inputs[i].bits;
  for (uint32_t i = 0; i < check->num_outputs; i++)
    check->out[i] = check->outputs[i].bits;
  if (mirage_emulation_run(emulation, copies, check->in, check->out, diag) != MIRAGE_OK) {
    check->report->verdict = CHECK_WRONG;
    return;
  }
  for (uint32_t i = 0; check->report->verdict == CHECK_OK && i < check->num_outputs; i++)
    judge(check, run, i);
}

static void run_both(Check *check, MirageEmulation *emulation, uint64_t seed, const MirageDiag *diag) {
  if (evaluate(check, mirage_domain_f64(), false, diag) != MIRAGE_OK ||
      measure_rounding(check, seed, diag) != MIRAGE_OK) {
    check->report->verdict = CHECK_WRONG;
    return;
  }
  emulate(check, emulation, MIRAGE_COPIES_LATE, "late", diag);
  if (check->report->verdict == CHECK_OK)
    emulate(check, emulation, MIRAGE_COPIES_EARLY, "early", diag);
}

void check_graph(const MirageUGraph *graph, const MirageTarget *target, uint64_t seed, double max_work,
                 CheckReport *out_report) {
  const MirageDiag diag = {keep_message, out_report};
  *out_report = (CheckReport){.work = mirage_emulation_work(graph), .allowed = 1};
  if (max_work > 0 && out_report->work > max_work) {
    out_report->verdict = CHECK_TOO_LARGE;
    return;
  }
  MirageEmulation *emulation = NULL;
  out_report->status = mirage_emulation_create(graph, target, NULL, &diag, &emulation);
  if (out_report->status != MIRAGE_OK) {
    out_report->verdict = CHECK_REFUSED;
    return;
  }
  Check check = {.graph = graph, .report = out_report};
  if (check_init(&check, seed)) {
    run_both(&check, emulation, seed, &diag);
  } else {
    out_report->verdict = CHECK_WRONG;
    snprintf(out_report->reason, sizeof out_report->reason, "out of memory");
  }
  check_deinit(&check);
  mirage_emulation_destroy(emulation);
}

static MirageStatus compile(const MirageUGraph *graph, const MirageTarget *target, const MirageDiag *diag) {
  const MirageCodegenOptions options = {.opt_level = 3};
  MirageUGraph *lowered = NULL;
  MirageCode code = {0};
  MIRAGE_TRY(mirage_canonicalize(graph, target, diag, &lowered));
  MirageStatus status = mirage_layout_plan(lowered, target, diag);
  if (status == MIRAGE_OK)
    status = mirage_codegen(lowered, target, &options, diag, &code);
  mirage_code_deinit(&code);
  mirage_ugraph_destroy(lowered);
  return status;
}

void check_compiles(const MirageUGraph *graph, const MirageTarget *target, CheckReport *out_report) {
  const MirageDiag diag = {keep_message, out_report};
  *out_report = (CheckReport){.work = mirage_emulation_work(graph), .allowed = 1};
  out_report->status = compile(graph, target, &diag);
  if (out_report->status != MIRAGE_OK)
    out_report->verdict = CHECK_REFUSED;
}
