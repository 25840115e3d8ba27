// fuzz_verify.c - libFuzzer target for the verifier's input path: bytes become calls of the builder, calls become two
// graphs with one signature, and mirage_verify judges the pair within small limits.
//
// What must hold: no crash, leak or undefined behaviour, whatever is built; each graph is equivalent to itself or
// unsupported, never different; a verdict is complete (an equivalence has its bound, a difference its witness, anything
// else a reason); and what is called equivalent agrees in float64 wherever both are finite.
//
// The bytes: one instruction each, with operands taken from the bytes that follow; a short input ends everything in
// order. Operands are the latest values first, so that a small number is a likely one. Half of the inputs build the
// second graph from the bytes of the first with one byte changed: pairs that nearly agree.
#include "mirage/verify.h"
#include "verify/verify_internal.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_VALUES = 64, MAX_NODES = 48, MAX_WORK = 20000, NUM_INPUTS = 3, MAX_ELEMENTS = 4096 };

static void check(bool condition) {
  if (!condition)
    abort();
}

// ------------------------------------------------------------------------------------------------------------- builder

typedef struct Bytes {
  const uint8_t *data;
  size_t size, at;
  size_t changed; // this byte reads as another one; SIZE_MAX = none
} Bytes;

static uint8_t next(Bytes *bytes) {
  if (bytes->at >= bytes->size)
    return 0;
  size_t at = bytes->at++;
  return at == bytes->changed ? (uint8_t)(bytes->data[at] ^ bytes->data[bytes->size - 1] ^ 1) : bytes->data[at];
}

typedef struct Frame { // an open region
  MirageOp owner;
  MirageNode node;
  uint32_t first_value; // values below are not visible from an isolated region
  uint32_t mark;        // values from here on are the region's own
  uint32_t num_carries, num_factors, num_operands;
} Frame;

typedef struct Build {
  MirageUGraph *graph;
  Bytes *bytes;
  MirageValue values[MAX_VALUES];
  uint32_t num_values, num_nodes;
  Frame frames[8];
  uint32_t depth; // frames[depth] is the innermost; frames[0] the kernel region
  MirageType output;
} Build;

static void push(Build *build, MirageValue value) {
  if (value.index && build->num_values < MAX_VALUES)
    build->values[build->num_values++] = value;
}

// The value `back` places before the latest of those that are visible.
static MirageValue pick(Build *build) {
  uint32_t first = build->frames[build->depth].first_value, count = build->num_values - first;
  return count ? build->values[build->num_values - 1 - next(build->bytes) % count] : (MirageValue){0};
}

static MirageType draw_type(Build *build, MirageSpace space) {
  static const int64_t extents[] = {1, 2, 3, 4, 6, 8, 5, 16};
  uint8_t form = next(build->bytes), size = next(build->bytes);
  int64_t shape[3] = {extents[size & 7], extents[size >> 3 & 7], extents[size >> 6]};
  uint32_t rank = space == MIRAGE_SPACE_DEVICE ? 1 + form % 3 : form % 4;
  MirageDType dtype = space == MIRAGE_SPACE_DEVICE ? MIRAGE_F16 : (MirageDType)(form >> 2 & 3) % 3;
  return space == MIRAGE_SPACE_DEVICE ? mirage_type_tensor(dtype, rank, shape) : mirage_type_tile(dtype, rank, shape);
}

static void draw_access(Build *build, MirageAccessAttrs *out) {
  uint8_t a = next(build->bytes), b = next(build->bytes);
  *out = (MirageAccessAttrs){.grid = {(int8_t)(a % 4 - 1), (int8_t)(a / 4 % 4 - 1), (int8_t)(a / 16 % 4 - 1)},
                             .loop = {(int8_t)(b % 4 - 1), (int8_t)(b / 4 % 4 - 1), -1, -1},
                             .fill = (MirageFill)(b / 16 % 3)};
}

static void open_custom(Build *build) {
  uint8_t a = next(build->bytes);
  MirageCustomAttrs attrs = {.grid = {1 + a % 4, 1 + a / 4 % 4, 1 + a / 16 % 2}, .cluster = {1, 1, 1}};
  if (a & 64)
    attrs.cluster[0] = attrs.grid[0];
  if (a & 128)
    attrs.cluster[1] = attrs.grid[1];
  uint32_t count = 1 + next(build->bytes) % 3;
  MirageValue operands[3];
  for (uint32_t i = 0; i < count; i++)
    operands[i] = pick(build);
  MirageType result = next(build->bytes) & 1 ? draw_type(build, MIRAGE_SPACE_DEVICE) : build->output;
  MirageNode node = mirage_ugraph_open_custom(build->graph, count, operands, 1, &result, &attrs);
  build->frames[++build->depth] =
      (Frame){.owner = MIRAGE_OP_CUSTOM, .node = node, .first_value = build->num_values, .mark = build->num_values};
  build->frames[build->depth].num_operands = count;
  for (uint32_t i = 0; i < count; i++)
    push(build, mirage_ugraph_argument(build->graph, node, i));
}

static void open_loop(Build *build) {
  uint8_t a = next(build->bytes);
  MirageCarry carries[3];
  MirageValue inits[3];
  Frame frame = {.owner = MIRAGE_OP_LOOP, .first_value = build->frames[build->depth].first_value};
  frame.mark = build->num_values;
  frame.num_carries = 1 + a / 8 % 3;
  for (uint32_t i = 0; i < frame.num_carries; i++) {
    uint8_t c = next(build->bytes);
    carries[i] = (MirageCarry){(MirageCombine)(c % 5), c / 5 % 3};
    frame.num_factors += carries[i].combine == MIRAGE_COMBINE_RESCALE;
    inits[i] = pick(build);
  }
  frame.node = mirage_ugraph_open_loop(build->graph, frame.num_carries, inits,
                                       &(MirageLoopAttrs){1 + a % 8, frame.num_carries, carries});
  build->frames[++build->depth] = frame;
  for (uint32_t i = 0; i < frame.num_carries; i++)
    push(build, mirage_ugraph_argument(build->graph, frame.node, i));
}

static void open_thread(Build *build) {
  MirageValue operands[2] = {pick(build), pick(build)};
  MirageNode node = mirage_ugraph_open_thread(build->graph, 2, operands);
  build->frames[++build->depth] =
      (Frame){.owner = MIRAGE_OP_THREAD, .node = node, .first_value = build->num_values, .mark = build->num_values};
  for (uint32_t i = 0; i < 2; i++)
    push(build, mirage_ugraph_argument(build->graph, node, i));
}

static void close_region(Build *build) {
  Frame frame = build->frames[build->depth];
  MirageValue yielded[6];
  uint32_t count =
      frame.owner == MIRAGE_OP_LOOP ? frame.num_carries + frame.num_factors : frame.owner == MIRAGE_OP_THREAD;
  if (frame.owner == MIRAGE_OP_CUSTOM) {
    MirageAccessAttrs access;
    draw_access(build, &access);
    mirage_ugraph_store(build->graph, pick(build), mirage_ugraph_argument(build->graph, frame.node, frame.num_operands),
                        &access);
  }
  for (uint32_t i = 0; i < count; i++)
    yielded[i] = pick(build);
  mirage_ugraph_close(build->graph, count, yielded);
  build->depth--;
  build->num_values = frame.mark; // only the results stay in sight
  uint32_t results = frame.owner == MIRAGE_OP_LOOP ? frame.num_carries : 1;
  for (uint32_t i = 0; i < results && mirage_ugraph_status(build->graph) == MIRAGE_OK; i++)
    push(build, mirage_ugraph_result(build->graph, frame.node, i));
}

static void draw_attributes(Build *build, MirageOp op, MirageAttrs *attrs) {
  uint8_t a = next(build->bytes);
  switch (mirage_op_info(op)->attrs) {
  case MIRAGE_ATTRS_MATMUL:
    attrs->matmul.transpose_a = a & 1;
    attrs->matmul.transpose_b = a >> 1 & 1;
    break;
  case MIRAGE_ATTRS_REDUCE:
    attrs->reduce.dim = a % 4;
    attrs->reduce.extent = a < 128 ? 1 : 1 + a / 4 % 4;
    break;
  case MIRAGE_ATTRS_SHAPE:
    attrs->shape.type = draw_type(build, build->depth ? MIRAGE_SPACE_TILE : MIRAGE_SPACE_DEVICE);
    break;
  case MIRAGE_ATTRS_REPEAT:
    attrs->repeat.dim = a % 4;
    attrs->repeat.times = 1 + a / 4 % 4;
    break;
  case MIRAGE_ATTRS_PERM:
    for (int i = 0; i < 3; i++)
      attrs->perm.perm[i] = (a >> (2 * i) & 3);
    break;
  case MIRAGE_ATTRS_SLICE:
    attrs->slice.dim = a % 4;
    attrs->slice.begin = a / 4 % 4;
    attrs->slice.end = attrs->slice.begin + 1 + a / 16 % 4;
    break;
  case MIRAGE_ATTRS_DIM:
    attrs->dim.dim = a % 4;
    break;
  case MIRAGE_ATTRS_CONSTANT: {
    static const double values[] = {0, 1, -1, 2, 0.5, 3, 1e-3, 1024, -0.75, 65504, 1e-7, 0.1};
    attrs->constant.value = values[a % 12];
    attrs->constant.type = draw_type(build, build->depth ? MIRAGE_SPACE_TILE : MIRAGE_SPACE_DEVICE);
    break;
  }
  case MIRAGE_ATTRS_EPS:
    attrs->eps.eps = a & 1 ? 1e-5 : 0;
    break;
  case MIRAGE_ATTRS_SDPA:
    attrs->sdpa.scale = a & 1 ? 0.25 : 1;
    break;
  case MIRAGE_ATTRS_AXES:
    for (int i = 0; i < 3; i++)
      attrs->axes.axis[i] = a >> i & 1;
    break;
  case MIRAGE_ATTRS_ACCESS:
    draw_access(build, &attrs->access);
    break;
  default:
    break;
  }
}

static void apply(Build *build, MirageOp op) {
  const MirageOpInfo *info = mirage_op_info(op);
  uint32_t count = info->min_operands;
  MirageValue operands[8];
  if (info->max_operands > count)
    count += next(build->bytes) % (info->max_operands == MIRAGE_ANY ? 3 : info->max_operands - count + 1);
  for (uint32_t i = 0; i < count; i++)
    operands[i] = pick(build);
  if (info->kind == MIRAGE_KIND_ACCESS) { // loads name an argument of the kernel around them
    uint32_t d = build->depth;
    while (d && build->frames[d].owner != MIRAGE_OP_CUSTOM)
      d--;
    operands[info->min_operands - 1] = mirage_ugraph_argument(build->graph, build->frames[d].node,
                                                              next(build->bytes) % (build->frames[d].num_operands + 1));
  }
  MirageAttrs attrs = {0};
  draw_attributes(build, op, &attrs);
  push(build, mirage_ugraph_apply(build->graph, op, count, operands, info->attrs == MIRAGE_ATTRS_NONE ? NULL : &attrs));
}

static void step(Build *build) {
  MirageOp owner = build->frames[build->depth].owner;
  uint8_t code = next(build->bytes);
  if (code < 12 && build->depth) {
    close_region(build);
    return;
  }
  if (code < 28 && !build->depth) {
    open_custom(build);
    return;
  }
  if (code < 28 && owner != MIRAGE_OP_THREAD && build->depth < 4) {
    code < 22 ? open_loop(build) : open_thread(build);
    return;
  }
  if (code < 64 && build->depth && owner != MIRAGE_OP_THREAD) {
    apply(build, MIRAGE_OP_LOAD);
    return;
  }
  MirageOp op = (MirageOp)(1 + code % (MIRAGE_NUM_OPS - 1));
  MirageOpKind kind = mirage_op_info(op)->kind;
  if (kind != MIRAGE_KIND_REGION && kind != MIRAGE_KIND_TERMINATOR)
    apply(build, op);
}

static int64_t largest_value(const MirageUGraph *graph) {
  int64_t largest = 0;
  for (uint32_t v = 1; v <= mirage_ugraph_num_values(graph); v++) {
    int64_t elements = mirage_type_elements(mirage_ugraph_type(graph, (MirageValue){v}));
    largest = elements > largest ? elements : largest;
  }
  return largest;
}

// A mistake is refused at finish; the fuzzer then learns to avoid it. NULL then.
static MirageUGraph *build_graph(Bytes *bytes) {
  Build build = {.graph = mirage_ugraph_create(NULL, "fuzz", NULL), .bytes = bytes};
  if (!build.graph)
    return NULL;
  for (uint32_t i = 0; i < NUM_INPUTS; i++) {
    MirageType type = draw_type(&build, MIRAGE_SPACE_DEVICE);
    push(&build, mirage_ugraph_input(build.graph, type));
    build.output = type;
  }
  while (bytes->at < bytes->size && build.num_nodes++ < MAX_NODES && mirage_ugraph_status(build.graph) == MIRAGE_OK)
    step(&build);
  while (build.depth)
    close_region(&build);
  MirageValue y = build.values[build.num_values - 1];
  mirage_ugraph_return(build.graph, 1, &y);
  if (mirage_ugraph_finish(build.graph) == MIRAGE_OK && largest_value(build.graph) <= MAX_ELEMENTS)
    return build.graph;
  mirage_ugraph_destroy(build.graph);
  return NULL;
}

// ------------------------------------------------------------------------------------------------------------- checks

static double *draw_numbers(const MirageUGraph *graph, MirageValue value, uint32_t salt) {
  size_t n = (size_t)mirage_type_elements(mirage_ugraph_type(graph, value));
  double *data = malloc(n * sizeof *data);
  for (size_t i = 0; data && i < n; i++) {
    uint32_t h = (uint32_t)(i + 1) * 2654435761u + salt * 40503u;
    h ^= h >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    data[i] = 0.25 + (double)(h >> 8) * 0x1p-24;
  }
  return data;
}

// Float64 may lose everything to cancellation, so only a difference beyond any rounding counts: relative to the larger
// of the two outputs and of what either graph is made of.
static void check_agreement(const MirageUGraph *a, const MirageUGraph *b) {
  double *inputs[NUM_INPUTS], *outputs[2];
  for (uint32_t i = 0; i < NUM_INPUTS; i++)
    inputs[i] = draw_numbers(a, mirage_ugraph_get_input(a, i), i);
  for (int g = 0; g < 2; g++)
    outputs[g] = draw_numbers(a, mirage_ugraph_get_output(a, 0), 9);
  size_t n = (size_t)mirage_type_elements(mirage_ugraph_type(a, mirage_ugraph_get_output(a, 0)));
  MirageStatus status =
      mirage_eval(a, mirage_domain_f64(), (const void *const *)inputs, (void *const *)&outputs[0], NULL, NULL);
  if (status == MIRAGE_OK)
    status = mirage_eval(b, mirage_domain_f64(), (const void *const *)inputs, (void *const *)&outputs[1], NULL, NULL);
  for (size_t i = 0; status == MIRAGE_OK && i < n; i++) {
    double x = outputs[0][i], y = outputs[1][i];
    if (isfinite(x) && isfinite(y) && fabs(x) > 1e-3 && fabs(x) < 1e6)
      check(fabs(x - y) <= 0.5 * (fabs(x) + fabs(y)));
  }
  for (uint32_t i = 0; i < NUM_INPUTS; i++)
    free(inputs[i]);
  free(outputs[0]);
  free(outputs[1]);
}

static MirageVerdictKind judge(const MirageUGraph *a, const MirageUGraph *b, uint64_t max_work) {
  const MirageVerifyOptions options = {.seed = 5, .max_work = max_work};
  MirageVerdict verdict = {0};
  MirageStatus status = mirage_verify(a, b, &options, NULL, &verdict);
  if (status != MIRAGE_OK) {
    check(status == MIRAGE_BAD_SHAPE);
    return MIRAGE_VERDICT_UNSUPPORTED;
  }
  switch (verdict.kind) {
  case MIRAGE_VERDICT_EQUIVALENT:
    check(verdict.proof.present && verdict.proof.trials >= 1 && verdict.proof.log2_bound <= -60);
    break;
  case MIRAGE_VERDICT_DIFFERENT:
    check(verdict.output < mirage_ugraph_num_outputs(a));
    break;
  default:
    check(verdict.reason[0] != 0);
    break;
  }
  return verdict.kind;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 8 || size > 4096)
    return 0;
  Bytes first = {data, size, 0, SIZE_MAX}, second = first;
  if (data[size - 2] & 1)
    second.changed = (size_t)data[size - 2] * size / 256; // a pair that differs in one byte
  MirageUGraph *a = build_graph(&first);
  if (!a)
    return -1;
  if (!(data[size - 2] & 1)) // or the rest of the bytes
    second.at = first.at;
  MirageUGraph *b = build_graph(&second);
  if (mirage__verify_work(a) <= MAX_WORK) {
    check(judge(a, a, MAX_WORK) != MIRAGE_VERDICT_DIFFERENT);
    check(judge(a, a, 1 + (uint64_t)(mirage__verify_work(a) / 2)) != MIRAGE_VERDICT_DIFFERENT);
    if (b && mirage__verify_work(b) <= MAX_WORK && judge(a, b, MAX_WORK) == MIRAGE_VERDICT_EQUIVALENT)
      check_agreement(a, b);
  }
  mirage_ugraph_destroy(a);
  mirage_ugraph_destroy(b);
  return 0;
}
