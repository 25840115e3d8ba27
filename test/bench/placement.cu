// placement.cu - what it costs where the blocks of a kernel find room, when it starts before the one before it ends.
//
//     nvcc -arch=sm_90a -O3 -cudart static -o placement test/bench/placement.cu && ./placement
//
// 128 blocks of 16 warps read 64 MB: block b the bytes [b * piece, (b + 1) * piece) of rows of 128 pieces. 24 calls in a CUDA graph, over six
// inputs in turn; microseconds of a call, median of 43 replays. A line for each piece, size of clusters, bytes that blocks ask L2 for
// before they wait, and way to start:
//
//     after            when the call before has ended
//     early            launched programmatically, with nothing that lets it begin before all blocks of the one before have ended
//     behind wait      each call lets the next begin when it has itself waited; blocks find room as others leave it
//     behind reads     or when it has read
//     after, shuffled  after, with blocks in an order drawn at random; or pairs of neighbours in such an order
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <numeric>
#include <vector>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    cudaError_t error = (call);                                                                                        \
    if (error != cudaSuccess) {                                                                                        \
      fprintf(stderr, "placement.cu: %s: %s\n", #call, cudaGetErrorString(error));                                     \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

enum { BLOCKS = 128, THREADS = 512, BYTES = 1 << 26, SETS = 6, CALLS = 24, REPLAYS = 43, LOADS = 8 };
enum Start { AFTER, EARLY, BEHIND_WAIT, BEHIND_READS };

struct Arguments {
  const char *input;
  uint4 *output;
  const int *order; // of the blocks; NULL: as they are
  int piece, prefetched;
};

__device__ uint4 load(const char *from) {
  uint4 v;
  asm volatile("ld.global.L1::no_allocate.L2::128B.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from));
  return v;
}

__device__ void add(uint4 &sum, uint4 v) { sum.x ^= v.x, sum.y ^= v.y, sum.z ^= v.z, sum.w ^= v.w; }

template <Start START> __global__ void __launch_bounds__(THREADS, 1) reads(Arguments a) {
  __shared__ uint4 parts[THREADS];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, block = a.order ? a.order[blockIdx.x] : blockIdx.x;
  long pitch = (long)BLOCKS * a.piece;
  int lanes = a.piece / 16, rows = 32 / lanes, steps = BYTES / pitch / (THREADS / 32 * LOADS * rows);
  const char *mine = a.input + (long)block * a.piece;
  if (START == BEHIND_WAIT || START == BEHIND_READS) {
    int line = a.piece < 128 ? a.piece : 128, each = a.piece / line;
    for (int i = threadIdx.x; i < a.prefetched / line; i += THREADS)
      asm volatile("prefetch.global.L2 [%0];" ::"l"(mine + i / each * pitch + i % each * line));
  }
  if (START != AFTER)
    asm volatile("griddepcontrol.wait;" ::: "memory");
  if (START == BEHIND_WAIT)
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  uint4 sum = {0, 0, 0, 0};
  for (int s = 0; s < steps; s++) {
    uint4 v[LOADS];
    const char *from = mine + lane % lanes * 16 + ((long)(s * (THREADS / 32) + warp) * LOADS * rows + lane / lanes) * pitch;
    for (int i = 0; i < LOADS; i++)
      v[i] = load(from + i * rows * pitch);
    for (int i = 0; i < LOADS; i++)
      add(sum, v[i]);
  }
  if (START == BEHIND_READS)
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  parts[threadIdx.x] = sum;
  __syncthreads();
  for (int w = 1; warp == 0 && w < THREADS / 32; w++)
    add(sum, parts[32 * w + lane]);
  if (warp == 0)
    a.output[blockIdx.x * 32 + lane] = sum;
}

template <Start START> void launch(cudaStream_t stream, int cluster, Arguments a) {
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attributes[2];
  config.gridDim = BLOCKS, config.blockDim = THREADS, config.stream = stream, config.attrs = attributes;
  if (cluster > 1) {
    cudaLaunchAttribute *attribute = &attributes[config.numAttrs++];
    attribute->id = cudaLaunchAttributeClusterDimension;
    attribute->val.clusterDim.x = cluster, attribute->val.clusterDim.y = attribute->val.clusterDim.z = 1;
  }
  if (START != AFTER) {
    cudaLaunchAttribute *attribute = &attributes[config.numAttrs++];
    attribute->id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute->val.programmaticStreamSerializationAllowed = 1;
  }
  CHECK(cudaLaunchKernelEx(&config, reads<START>, a));
}

template <Start START> void measure(const char *name, int cluster, Arguments a) {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaEvent_t begin, end;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int c = 0; c < CALLS; c++) {
    Arguments call = a;
    call.input += (long)BYTES * (c % SETS);
    launch<START>(stream, cluster, call);
  }
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  std::vector<float> times;
  for (int i = 0; i < REPLAYS; i++) {
    float ms;
    CHECK(cudaEventRecord(begin, stream));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    times.push_back(1e3f * ms / CALLS);
  }
  std::sort(times.begin(), times.end());
  printf("%5d  %-22s %7d %10d %8.2f\n", a.piece, name, cluster, a.prefetched, times[REPLAYS / 2]);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
}

// Blocks, or runs of so many neighbours, in an order drawn at random; on the GPU.
static int *shuffled(int run) {
  std::vector<int> runs(BLOCKS / run), order;
  std::iota(runs.begin(), runs.end(), 0);
  for (int i = BLOCKS / run - 1; i > 0; i--)
    std::swap(runs[i], runs[rand() % (i + 1)]);
  for (int r : runs)
    for (int i = 0; i < run; i++)
      order.push_back(r * run + i);
  int *there;
  CHECK(cudaMalloc(&there, sizeof(int) * BLOCKS));
  CHECK(cudaMemcpy(there, order.data(), sizeof(int) * BLOCKS, cudaMemcpyHostToDevice));
  return there;
}

int main() {
  char *input;
  Arguments a = {};
  CHECK(cudaMalloc(&input, (size_t)BYTES * SETS));
  CHECK(cudaMemset(input, 1, (size_t)BYTES * SETS));
  CHECK(cudaMalloc(&a.output, sizeof(uint4) * BLOCKS * 32));
  a.input = input;
  srand(3);
  int *alone = shuffled(1), *pairs = shuffled(2);
  printf("piece  start                  cluster prefetched       us\n");
  for (int piece : {64, 128, 256}) {
    Arguments p = a;
    p.piece = piece;
    for (int cluster : {1, 2, 4}) {
      measure<AFTER>("after", cluster, p);
      measure<EARLY>("early", cluster, p);
      measure<BEHIND_WAIT>("behind wait", cluster, p);
      measure<BEHIND_READS>("behind reads", cluster, p);
    }
    p.order = alone, measure<AFTER>("after, shuffled", 1, p);
    p.order = pairs, measure<AFTER>("after, pairs shuffled", 1, p);
    p.order = NULL;
    for (int bytes : {8 << 10, 16 << 10, 32 << 10, 64 << 10})
      for (int cluster : {1, 2}) {
        p.prefetched = bytes;
        measure<BEHIND_WAIT>("behind wait", cluster, p);
        measure<BEHIND_READS>("behind reads", cluster, p);
      }
  }
}
