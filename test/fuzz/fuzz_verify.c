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
  uint32_t num_operands;
  MirageLoopAttrs loop; // its carries:
  MirageCarry carries[3];
} Frame;

typedef struct Build {
  MirageUGraph *graph;
  Bytes *bytes;
  MirageValue values[MAX_VALUES];
  uint32_t num_values, num_nodes;
  Frame frames[8];
  uint32_t depth; // frames[depth] is the innermost; frames[0] the kernel region
  MirageScope scope;
  MirageType output;
} Build;

static void push(Build *build, MirageValue value) {
  if (value.index && build->num_values < MAX_VALUES)
    build->values[build->num_values++] = value;
}

static MirageLevel level_of(const Build *build) {
  return build->depth == 0                                       ? MIRAGE_LEVEL_KERNEL
         : build->frames[build->depth].owner == MIRAGE_OP_THREAD ? MIRAGE_LEVEL_THREAD
                                                                 : MIRAGE_LEVEL_BLOCK;
}

// Whether operators of the open region work on the value: a kernel's tensors are only loaded and stored.
static bool fits_level(const Build *build, MirageValue value) {
  MirageSpace space = mirage_ugraph_type(build->graph, value)->space;
  MirageLevel level = level_of(build);
  return level == MIRAGE_LEVEL_KERNEL   ? space == MIRAGE_SPACE_DEVICE
         : level == MIRAGE_LEVEL_THREAD ? space == MIRAGE_SPACE_FRAGMENT
                                        : space != MIRAGE_SPACE_DEVICE && space != MIRAGE_SPACE_FRAGMENT;
}

// The value `back` places before the latest of those that are visible and fit; {0} when there is none.
static MirageValue pick(Build *build) {
  MirageValue fitting[MAX_VALUES];
  uint32_t count = 0;
  for (uint32_t i = build->frames[build->depth].first_value; i < build->num_values; i++)
    if (fits_level(build, build->values[i]))
      fitting[count++] = build->values[i];
  return count ? fitting[count - 1 - next(build->bytes) % count] : (MirageValue){0};
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

// Applies the operator if its rule takes the operands, and does nothing otherwise: most bytes then build something.
static MirageValue try_apply(Build *build, MirageOp op, uint32_t count, const MirageValue *operands,
                             const MirageAttrs *attrs) {
  MirageType types[8], result = {0};
  for (uint32_t i = 0; i < count; i++) {
    if (!operands[i].index)
      return (MirageValue){0};
    types[i] = *mirage_ugraph_type(build->graph, operands[i]);
  }
  if (!(mirage_op_info(op)->levels & (uint32_t)level_of(build)) ||
      mirage_op_infer(op, level_of(build), count, types, attrs, &build->scope, NULL, NULL, &result) != MIRAGE_OK ||
      mirage_type_elements(&result) > MAX_ELEMENTS)
    return (MirageValue){0};
  return mirage_ugraph_apply(build->graph, op, count, operands, attrs);
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
  build->frames[++build->depth] = (Frame){.owner = MIRAGE_OP_CUSTOM,
                                          .node = node,
                                          .first_value = build->num_values,
                                          .mark = build->num_values,
                                          .num_operands = count};
  build->scope = (MirageScope){.num_loops = 0};
  memcpy(build->scope.grid, attrs.grid, sizeof attrs.grid);
  memcpy(build->scope.cluster, attrs.cluster, sizeof attrs.cluster);
}

// The combine that the bytes ask for, where the initial value allows it.
static MirageCarry draw_carry(Build *build, const MirageType *type, int64_t range) {
  uint8_t c = next(build->bytes);
  MirageCarry carry = {(MirageCombine)(c % 5), c / 5 % 3};
  bool splits = (uint32_t)carry.dim < type->rank && type->shape[carry.dim] % range == 0;
  bool sums = carry.combine == MIRAGE_COMBINE_SUM || carry.combine == MIRAGE_COMBINE_RESCALE;
  if ((carry.combine == MIRAGE_COMBINE_CONCAT && !splits) || (sums && type->dtype != MIRAGE_F32))
    carry.combine = MIRAGE_COMBINE_ASSIGN;
  return carry;
}

static void open_loop(Build *build) {
  uint8_t a = next(build->bytes);
  MirageValue inits[3];
  Frame *frame = &build->frames[build->depth + 1];
  *frame = (Frame){.owner = MIRAGE_OP_LOOP, .first_value = build->frames[build->depth].first_value};
  frame->mark = build->num_values;
  frame->loop = (MirageLoopAttrs){1 + a % 6, 1 + a / 8 % 3, frame->carries};
  for (uint32_t i = 0; i < frame->loop.num_carries; i++) {
    inits[i] = pick(build);
    if (!inits[i].index)
      return;
    frame->carries[i] = draw_carry(build, mirage_ugraph_type(build->graph, inits[i]), frame->loop.range);
  }
  frame->node = mirage_ugraph_open_loop(build->graph, frame->loop.num_carries, inits, &frame->loop);
  build->depth++;
  build->scope.ranges[build->scope.num_loops++] = frame->loop.range;
  for (uint32_t i = 0; i < frame->loop.num_carries; i++)
    push(build, mirage_ugraph_argument(build->graph, frame->node, i));
}

static void open_thread(Build *build) {
  MirageValue operands[2] = {pick(build), pick(build)};
  if (!operands[0].index || !operands[1].index)
    return;
  MirageNode node = mirage_ugraph_open_thread(build->graph, 2, operands);
  build->frames[++build->depth] =
      (Frame){.owner = MIRAGE_OP_THREAD, .node = node, .first_value = build->num_values, .mark = build->num_values};
  for (uint32_t i = 0; i < 2; i++)
    push(build, mirage_ugraph_argument(build->graph, node, i));
}

// What the carry itself can contribute: it, or a part of it.
static MirageValue own_contribution(Build *build, const Frame *frame, uint32_t i) {
  MirageValue carry = mirage_ugraph_argument(build->graph, frame->node, i);
  int32_t dim = frame->carries[i].dim;
  if (frame->carries[i].combine != MIRAGE_COMBINE_CONCAT)
    return carry;
  int64_t extent = mirage_ugraph_type(build->graph, carry)->shape[dim] / frame->loop.range;
  return mirage_ugraph_apply(build->graph, MIRAGE_OP_SLICE, 1, &carry, &(MirageAttrs){.slice = {dim, 0, extent}});
}

static void close_loop(Build *build, const Frame *frame) {
  MirageValue yielded[6];
  MirageType inits[3], types[6];
  uint32_t count = frame->loop.num_carries, carries = count;
  for (uint32_t i = 0; i < carries; i++)
    count += frame->carries[i].combine == MIRAGE_COMBINE_RESCALE;
  for (uint32_t i = 0; i < count; i++) {
    yielded[i] = pick(build);
    types[i] = *mirage_ugraph_type(build->graph, yielded[i]);
    if (i < carries)
      inits[i] = *mirage_ugraph_type(build->graph, mirage_ugraph_argument(build->graph, frame->node, i));
  }
  if (mirage_op_check_loop(&frame->loop, carries, inits, count, types, NULL, NULL) != MIRAGE_OK) {
    uint32_t factor = carries;
    for (uint32_t i = 0; i < carries; i++) {
      yielded[i] = own_contribution(build, frame, i);
      if (frame->carries[i].combine == MIRAGE_COMBINE_RESCALE)
        yielded[factor++] = yielded[i];
    }
  }
  mirage_ugraph_close(build->graph, count, yielded);
  build->scope.num_loops--;
}

// Stores the latest tile that fits the access; a constant when none does.
static void close_custom(Build *build, const Frame *frame) {
  MirageValue tensor = mirage_ugraph_argument(build->graph, frame->node, frame->num_operands), tile = {0};
  MirageAccessAttrs access = {0};
  MirageType type;
  draw_access(build, &access);
  access.fill = MIRAGE_FILL_ZERO;
  for (int l = 0; l < MIRAGE_MAX_LOOPS; l++)
    access.loop[l] = -1;
  if (mirage_access_tile(mirage_ugraph_type(build->graph, tensor), &access, &build->scope, NULL, NULL, &type) !=
      MIRAGE_OK) {
    memset(access.grid, -1, sizeof access.grid);
    type = *mirage_ugraph_type(build->graph, tensor);
  }
  for (uint32_t i = frame->mark; i < build->num_values; i++)
    if (mirage_type_same_shape(mirage_ugraph_type(build->graph, build->values[i]), &type))
      tile = build->values[i];
  if (!tile.index)
    tile = mirage_ugraph_constant(build->graph, mirage_type_tile(MIRAGE_F32, type.rank, type.shape), 1.0);
  mirage_ugraph_store(build->graph, tile, tensor, &access);
  mirage_ugraph_close(build->graph, 0, NULL);
}

static void close_region(Build *build) {
  Frame *frame = &build->frames[build->depth];
  uint32_t results = 1;
  if (frame->owner == MIRAGE_OP_LOOP) {
    results = frame->loop.num_carries;
    close_loop(build, frame);
  } else if (frame->owner == MIRAGE_OP_CUSTOM) {
    close_custom(build, frame);
  } else {
    MirageValue y = pick(build);
    mirage_ugraph_close(build->graph, 1, &y);
  }
  build->depth--;
  build->num_values = frame->mark; // only the results stay in sight
  for (uint32_t i = 0; i < results && mirage_ugraph_status(build->graph) == MIRAGE_OK; i++)
    push(build, mirage_ugraph_result(build->graph, frame->node, i));
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
  case MIRAGE_ATTRS_SLOPE:
  case MIRAGE_ATTRS_EXPONENT:
  case MIRAGE_ATTRS_BOUNDS:
    attrs->bounds.low = (a % 5) * 0.5 - 1; // the first field of all three
    attrs->bounds.high = (a % 7) * 0.5 - 1;
    break;
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
  if (op == MIRAGE_OP_STORE)
    return;                   // close_custom stores
  if (op == MIRAGE_OP_LOAD) { // from an argument of the kernel around
    uint32_t d = build->depth;
    while (d && build->frames[d].owner != MIRAGE_OP_CUSTOM)
      d--;
    uint8_t index = next(build->bytes);
    if (d)
      operands[0] = mirage_ugraph_argument(build->graph, build->frames[d].node, index % build->frames[d].num_operands);
  }
  MirageAttrs attrs = {0};
  draw_attributes(build, op, &attrs);
  push(build, try_apply(build, op, count, operands, info->attrs == MIRAGE_ATTRS_NONE ? NULL : &attrs));
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
