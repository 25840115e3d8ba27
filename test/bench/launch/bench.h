// bench.h - what bench.c and the call.c of a folder share.
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BENCH_MOST = 256, BENCH_RANK = 8 };
typedef struct BenchTensor {
  int element_bytes, rank;
  int64_t shape[BENCH_RANK];
} BenchTensor;

extern const int bench_num_inputs, bench_num_tensors; // inputs, then outputs
extern const bool bench_shared;                       // the host looks at tensors, too
extern const BenchTensor bench_tensors[];
void bench_call(void **memrefs);

// Of libmirage_runtime.so.
void *mgpuStreamCreate(void);
void mgpuStreamSynchronize(void *stream);
void mgpuStreamDestroy(void *stream);
void *mgpuMemAlloc(uint64_t bytes, void *stream, bool host_shared);
void mgpuMemFree(void *pointer, void *stream);
void mgpuMemcpy(void *to, void *from, size_t bytes, void *stream);

#endif
