// run_limits.c - how fast any kernel could be: the time of reading its tensors once, and of its products at full rate.
//
// The first is measured, not computed from a data sheet: a kernel that only streams that many bytes from device memory,
// launch included, at a few sizes, and straight lines between them. Tables of one H200 and one H100 are here; --limits names the one
// of another GPU. Where there is none, the rates of the target's row (lib/support/target.c) have to do, which is said.
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_POINTS = 64 };

typedef struct Point {
  double bytes, us;
} Point;

typedef struct Table {
  uint32_t count;
  Point points[MAX_POINTS]; // bytes increase
} Table;

// NVIDIA H200, driver 580, CUDA 13.0, November 2026: medians of CUDA-graph replays, inputs rotating past the L2 cache.
static const Table H200 = {8,
                           {{65536, 1.24},
                            {524288, 1.54},
                            {2097152, 1.95},
                            {16777216, 5.21},
                            {33947648, 9.15},
                            {50364416, 12.87},
                            {67125248, 16.55},
                            {134217728, 31.29}}};
// NVIDIA H100 80GB HBM3, driver 580, CUDA 13.0, November 2026, in the same way.
static const Table H100 = {9,
                           {{65536, 1.27},
                            {1048576, 1.81},
                            {2097152, 2.20},
                            {4194304, 2.87},
                            {16777216, 6.77},
                            {33554432, 12.14},
                            {50331648, 17.54},
                            {67108864, 22.84},
                            {268435456, 86.44}}};

static double time_of(const Table *table, double bytes) {
  if (table->count == 1 || bytes <= table->points[0].bytes)
    return table->points[0].us;
  uint32_t i = 1;
  while (i + 1 < table->count && table->points[i].bytes < bytes)
    i++;
  const Point *a = &table->points[i - 1], *b = &table->points[i];
  return a->us + (b->us - a->us) * (bytes - a->bytes) / (b->bytes - a->bytes);
}

// --------------------------------------------------------------------------------------------------------------- files

// Lines "bytes,us"; a line of these names before them, empty ones and those that begin with # are passed over.
static MirageStatus read_table(const char *path, FILE *file, const MirageDiag *diag, Table *table) {
  char line[256];
  for (int number = 1; fgets(line, sizeof line, file); number++) {
    Point point;
    char rest[8];
    if (*line == '#' || *line == '\n' || *line == '\r' || (table->count == 0 && strncmp(line, "bytes,us", 8) == 0))
      continue;
    if (sscanf(line, "%lf ,%lf %7s", &point.bytes, &point.us, rest) != 2 || !(point.bytes > 0) || !(point.us > 0))
      return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "%s:%d: 'bytes,us' is wanted, two numbers above 0", path,
                              number);
    if (table->count > 0 && point.bytes <= table->points[table->count - 1].bytes)
      return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "%s:%d: sizes must increase: %.0f after %.0f", path,
                              number, point.bytes, table->points[table->count - 1].bytes);
    if (table->count == MAX_POINTS)
      return mirage_diag_fail(diag, NULL, MIRAGE_LIMIT, "%s:%d: more than %d sizes", path, number, MAX_POINTS);
    table->points[table->count++] = point;
  }
  return table->count ? MIRAGE_OK
                      : mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "%s: no line of 'bytes,us'", path);
}

static MirageStatus load_table(const char *path, const MirageDiag *diag, Table *table) {
  FILE *file = fopen(path, "r");
  if (!file)
    return mirage_diag_fail(diag, NULL, MIRAGE_IO, "%s: %s", path, strerror(errno));
  MirageStatus status = read_table(path, file, diag, table);
  bool failed = ferror(file);
  int reason = errno;
  fclose(file);
  return status == MIRAGE_OK && failed ? mirage_diag_fail(diag, NULL, MIRAGE_IO, "%s: %s", path, strerror(reason))
                                       : status;
}

// ------------------------------------------------------------------------------------------------------------- program

// Inputs and outputs once each.
static double tensor_bytes(const MirageUGraph *program) {
  double bytes = 0;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(program); i++)
    bytes += (double)mirage_type_bytes(mirage_ugraph_type(program, mirage_ugraph_get_input(program, i)));
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(program); i++)
    bytes += (double)mirage_type_bytes(mirage_ugraph_type(program, mirage_ugraph_get_output(program, i)));
  return bytes;
}

// Of matrix products alone, as the expanded program has them.
static MirageStatus matmul_flops(const MirageUGraph *program, const MirageDiag *diag, double *out_flops) {
  MirageUGraph *expanded = NULL;
  MIRAGE_TRY(mirage_ugraph_expand(program, diag, &expanded));
  MirageRegionView body = mirage_ugraph_region(expanded, mirage_ugraph_body(expanded));
  double flops = 0;
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(expanded, body.nodes[i]);
    if (node.op != MIRAGE_OP_MATMUL)
      continue;
    const MirageType *a = mirage_ugraph_type(expanded, node.operands[0]);
    int64_t k = a->shape[node.attrs->matmul.transpose_a ? a->rank - 2 : a->rank - 1];
    flops += 2.0 * (double)k * (double)mirage_type_elements(mirage_ugraph_type(expanded, node.first_result));
  }
  mirage_ugraph_destroy(expanded);
  *out_flops = flops;
  return MIRAGE_OK;
}

MirageStatus run_limits(const RunModule *module, const RunOptions *options, const RunExecution *execution,
                        const MirageDiag *diag, RunLimits *limits) {
  *limits = (RunLimits){0};
  if (!options->benchmark || !execution->has_device)
    return MIRAGE_OK;
  limits->bytes = tensor_bytes(module->program);
  MIRAGE_TRY(matmul_flops(module->program, &module->bridge_diag.diag, &limits->flops));
  const MirageTarget *target = module->target;
  if (target)
    limits->flops_us = limits->flops / target->matmul_flops_per_us;
  if (options->limits) {
    Table table = {0};
    MIRAGE_TRY(load_table(options->limits, diag, &table));
    limits->stream_us = time_of(&table, limits->bytes);
    limits->source = options->limits;
  } else if (strstr(execution->device.name, "H200")) {
    limits->stream_us = time_of(&H200, limits->bytes);
    limits->source = "measured on an H200";
  } else if (strstr(execution->device.name, "H100 80GB")) { // others have slower memory
    limits->stream_us = time_of(&H100, limits->bytes);
    limits->source = "measured on an H100";
  } else if (target) {
    limits->stream_us = target->launch_us + limits->bytes / target->dram_bytes_per_us;
    limits->source = "estimated from the target's row";
  }
  limits->us = limits->stream_us > limits->flops_us ? limits->stream_us : limits->flops_us;
  return MIRAGE_OK;
}
