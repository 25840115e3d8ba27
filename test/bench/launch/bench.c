// bench.c - calls a function that stock MLIR compiled, checks nothing, writes what came out, and says how long a call takes.
//
//   bench FOLDER [calls]      reads FOLDER/input<i>.bin, writes FOLDER/output<i>.bin: raw elements, row-major
//
// prepare.py writes call.c, which says what the function takes, and links both. Tensors are in device
// memory, or, where the function does some of its work on the host, in memory that both can access. A call ends
// when its results are there, so its time has the launches in it.
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t count_of(const BenchTensor *tensor) {
  int64_t count = 1;
  for (int i = 0; i < tensor->rank; i++)
    count *= tensor->shape[i];
  return count;
}

static size_t bytes_of(const BenchTensor *tensor) { return (size_t)(count_of(tensor) * tensor->element_bytes); }

static void fail(const char *what, const char *path) {
  fprintf(stderr, "bench: %s %s\n", what, path);
  exit(1);
}

static void transfer(const BenchTensor *tensor, const char *folder, const char *kind, int number, void *device,
                     bool in) {
  char path[4096];
  void *host = malloc(bytes_of(tensor) + 1);
  snprintf(path, sizeof path, "%s/%s%d.bin", folder, kind, number);
  FILE *file = fopen(path, in ? "rb" : "wb");
  void *stream = mgpuStreamCreate();
  if (!host || !file)
    fail("cannot open", path);
  if (!in)
    mgpuMemcpy(host, device, bytes_of(tensor), stream);
  mgpuStreamSynchronize(stream);
  size_t done = (in ? fread(host, 1, bytes_of(tensor), file) : fwrite(host, 1, bytes_of(tensor), file));
  if (done != bytes_of(tensor) || (in && fgetc(file) != EOF))
    fail(in ? "not the tensor's size:" : "cannot write", path);
  if (in)
    mgpuMemcpy(device, host, bytes_of(tensor), stream);
  mgpuStreamSynchronize(stream);
  mgpuStreamDestroy(stream);
  fclose(file);
  free(host);
}

// A memref's descriptor: two pointers, offset, sizes, strides.
static void *describe(const BenchTensor *tensor, void *data) {
  int64_t *words = calloc(3 + 2 * (size_t)tensor->rank, sizeof *words), stride = 1;
  if (!words)
    fail("out of memory", "");
  words[0] = words[1] = (int64_t)(intptr_t)data;
  for (int i = tensor->rank - 1; i >= 0; i--) {
    words[3 + i] = tensor->shape[i];
    words[3 + tensor->rank + i] = stride;
    stride *= tensor->shape[i];
  }
  return words;
}

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void time_calls(void **memrefs, int calls) {
  double *times = malloc((size_t)calls * sizeof *times);
  if (!times)
    fail("out of memory", "");
  for (int i = 0; i < 10; i++)
    bench_call(memrefs);
  for (int i = 0; i < calls; i++) {
    double start = now_us();
    bench_call(memrefs);
    times[i] = now_us() - start;
  }
  qsort(times, (size_t)calls, sizeof *times, ascending);
  printf("%.2f us a call (median of %d; 10 %%: %.2f, 90 %%: %.2f), warm, launches and the wait included\n",
         times[calls / 2], calls, times[calls / 10], times[calls * 9 / 10]);
  free(times);
}

// A memref as compiled code passes it to functions outside: rank, and pointers, offset, extents, strides.
typedef struct Memref {
  int64_t rank;
  struct {
    char *allocated, *aligned;
    int64_t offset, numbers[]; // extents, then strides
  } *of;
} Memref;

static void copy_dimension(int64_t bytes, const Memref *from, const Memref *to, int64_t dim, int64_t at,
                           int64_t at_to) {
  if (dim == from->rank) {
    memcpy(to->of->aligned + (to->of->offset + at_to) * bytes, from->of->aligned + (from->of->offset + at) * bytes,
           (size_t)bytes);
    return;
  }
  for (int64_t i = 0; i < from->of->numbers[dim]; i++)
    copy_dimension(bytes, from, to, dim + 1, at + i * from->of->numbers[from->rank + dim],
                   at_to + i * to->of->numbers[to->rank + dim]);
}

/// What MLIR calls for a memref.copy between layouts, where something stays outside our programs: on the host.
void memrefCopy(int64_t bytes, const Memref *from, const Memref *to);
void memrefCopy(int64_t bytes, const Memref *from, const Memref *to) { copy_dimension(bytes, from, to, 0, 0, 0); }

int main(int argc, char **argv) {
  int calls = argc > 2 ? atoi(argv[2]) : 200;
  void *memrefs[BENCH_MOST], *data[BENCH_MOST];
  if (!bench_shared)
    setenv("MIRAGE_MEMORY", "device", 0); // what is allocated on the way, too
  if (argc < 2 || calls < 0)
    fail("usage: bench FOLDER [calls], 0 to call it once and time nothing", "");
  for (int i = 0; i < bench_num_tensors; i++) {
    data[i] = mgpuMemAlloc(bytes_of(&bench_tensors[i]), NULL, bench_shared);
    memrefs[i] = describe(&bench_tensors[i], data[i]);
    if (i < bench_num_inputs)
      transfer(&bench_tensors[i], argv[1], "input", i, data[i], true);
  }
  bench_call(memrefs);
  for (int i = bench_num_inputs; i < bench_num_tensors; i++)
    transfer(&bench_tensors[i], argv[1], "output", i - bench_num_inputs, data[i], false);
  if (calls > 0)
    time_calls(memrefs, calls);
  for (int i = 0; i < bench_num_tensors; i++) {
    mgpuMemFree(data[i], NULL);
    free(memrefs[i]);
  }
  return 0;
}
