// meeting.cu - what it costs that the blocks of a cluster add their parts of a tile.
//
//     nvcc -arch=sm_90a -O3 -std=c++17 -cudart static -o meeting test/bench/meeting.cu && ./meeting
//
// Each of 256 threads has VALUES f32 of its block's part, in pairs. A block adds one share of the tile over all members, and stores it as
// f16. 100 calls in a CUDA graph; microseconds of a call, median of 15 replays. A column for each way:
//
//     alone           nothing is added: each block stores a share of its own part
//     as it was       parts in shared memory, the cluster's barrier, reads of all peers, the barrier again; both release and acquire
//     relaxed         the last barrier arrives relaxed: nobody waits until stores have reached L2
//     read first      and before them, when everything has been read
//     both relaxed    the first barrier as well, without a fence: not right, but it says what the fence of PTX 8.6 may save
//     pushed          st.async to the peer that adds, whose mbarrier counts the bytes; no barrier
//     copied          cp.async.bulk from shared memory to shared memory instead, a share each
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_fp16.h>
#include <vector>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    cudaError_t error = (call);                                                                                        \
    if (error != cudaSuccess) {                                                                                        \
      fprintf(stderr, "meeting.cu: %s: %s\n", #call, cudaGetErrorString(error));                                       \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

enum { THREADS = 256, WIDTH = 8, BLOCKS = 120, CALLS = 100, REPLAYS = 15, WORK_CYCLES = 2000 };
enum Way { ALONE, AS_IT_WAS, RELAXED, READ_FIRST, BOTH_RELAXED, PUSHED, COPIED };

__device__ uint32_t address_of(const void *shared) { return (uint32_t)__cvta_generic_to_shared(shared); }

__device__ uint32_t at_peer(uint32_t address, int rank) {
  uint32_t there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}

// Adds WIDTH numbers of own shared memory, or of a peer's.
__device__ void add(uint32_t address, float *sums) {
  for (int i = 0; i < WIDTH; i += 4) {
    float a, b, c, d;
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
                 : "r"(address + 4 * i));
    sums[i] += a, sums[i + 1] += b, sums[i + 2] += c, sums[i + 3] += d;
  }
}

__device__ void store(__half *to, const float *sums) {
  __align__(16) __half narrow[WIDTH];
  for (int i = 0; i < WIDTH; i++)
    narrow[i] = sums[i];
  *(uint4 *)to = *(uint4 *)narrow;
}

__device__ void arrive(bool relaxed) {
  if (relaxed)
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  else
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
}

__device__ void wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }

__device__ void wait_for_bytes(uint64_t *mbarrier) {
  uint32_t done;
  do
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(address_of(mbarrier))
                 : "memory");
  while (!done);
}

template <int MEMBERS, int VALUES, Way WAY>
__global__ void __launch_bounds__(THREADS) meet(const float *in, __half *out) {
  constexpr int ALL = VALUES * THREADS, SHARE = ALL / MEMBERS, TURNS = SHARE / THREADS / WIDTH;
  extern __shared__ __align__(128) float own[]; // the block's part, then what peers push
  __shared__ __align__(8) uint64_t mbarrier;
  float *inbox = own + ALL, parts[VALUES], sums[TURNS][WIDTH] = {};
  int thread = threadIdx.x, rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  __half *tile = out + blockIdx.x / MEMBERS * ALL + rank * SHARE;
  if (WAY >= PUSHED) {
    if (thread == 0) {
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address_of(&mbarrier)));
      asm volatile("fence.mbarrier_init.release.cluster;");
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address_of(&mbarrier)), "r"((MEMBERS - 1) * SHARE * 4));
    }
    arrive(false);
  }
  for (int i = 0; i < VALUES; i++)
    parts[i] = in[(i * THREADS + thread) & 1023];
  for (long long begin = clock64(); clock64() - begin < WORK_CYCLES;)
    ;
  if (WAY >= PUSHED)
    wait();

  if (WAY == PUSHED) { // pair i belongs to the share of member i / (VALUES / MEMBERS)
    for (int i = 0; i < VALUES; i += 2) {
      int member = i / (VALUES / MEMBERS), at = i % (VALUES / MEMBERS) * THREADS + 2 * thread;
      if (member == rank) {
        *(float2 *)(own + rank * SHARE + at) = make_float2(parts[i], parts[i + 1]);
        continue;
      }
      int slot = rank < member ? rank : rank - 1;
      asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%0], {%1, %2}, [%3];" ::"r"(
                       at_peer(address_of(inbox + slot * SHARE + at), member)),
                   "f"(parts[i]), "f"(parts[i + 1]), "r"(at_peer(address_of(&mbarrier), member))
                   : "memory");
    }
    __syncthreads();
  } else {
    for (int i = 0; i < VALUES; i += 2)
      *(float2 *)(own + i * THREADS + 2 * thread) = make_float2(parts[i], parts[i + 1]);
    if (WAY == COPIED)
      asm volatile("fence.proxy.async.shared::cta;");
    if (WAY == ALONE || WAY == BOTH_RELAXED || WAY == COPIED)
      __syncthreads();
  }
  if (WAY == COPIED && thread < MEMBERS && thread != rank) {
    int slot = rank < thread ? rank : rank - 1;
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     at_peer(address_of(inbox + slot * SHARE), thread)),
                 "r"(address_of(own + thread * SHARE)), "r"(SHARE * 4), "r"(at_peer(address_of(&mbarrier), thread))
                 : "memory");
  }
  bool by_barrier = WAY >= AS_IT_WAS && WAY <= BOTH_RELAXED;
  if (by_barrier) {
    arrive(WAY == BOTH_RELAXED);
    wait();
  }
  if (WAY >= PUSHED)
    wait_for_bytes(&mbarrier);

#pragma unroll
  for (int turn = 0; turn < TURNS; turn++) {
    int at = (turn * THREADS + thread) * WIDTH;
#pragma unroll
    for (int member = 0; member < (WAY == ALONE ? 1 : MEMBERS); member++) {
      bool mine = WAY == ALONE || member == rank;
      const float *from = mine || by_barrier ? own + rank * SHARE : inbox + (member < rank ? member : member - 1) * SHARE;
      uint32_t address = address_of(from + at);
      add(at_peer(address, by_barrier ? member : rank), sums[turn]);
    }
    if (WAY < READ_FIRST || WAY >= PUSHED)
      store(tile + at, sums[turn]);
  }
  if (WAY == AS_IT_WAS || WAY == RELAXED || WAY == COPIED) // its part is read, by peers or by its copies
    arrive(WAY != AS_IT_WAS), wait();
  if (WAY != READ_FIRST && WAY != BOTH_RELAXED)
    return;
  arrive(true);
  for (int turn = 0; turn < TURNS; turn++)
    store(tile + (turn * THREADS + thread) * WIDTH, sums[turn]);
  wait();
}

template <int MEMBERS, int VALUES, Way WAY> float time_of(const float *in, __half *out) {
  auto *kernel = meet<MEMBERS, VALUES, WAY>;
  int bytes = 2 * VALUES * THREADS * 4;
  cudaStream_t stream;
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  CHECK(cudaStreamCreate(&stream));
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {MEMBERS, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = BLOCKS / MEMBERS * MEMBERS, config.blockDim = THREADS, config.dynamicSmemBytes = bytes;
  config.stream = stream, config.attrs = &attribute, config.numAttrs = 1;
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < CALLS; i++)
    CHECK(cudaLaunchKernelEx(&config, kernel, in, out));
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&replay, graph, 0));
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<float> times;
  for (int i = 0; i < REPLAYS; i++) {
    float ms;
    CHECK(cudaEventRecord(begin, stream));
    CHECK(cudaGraphLaunch(replay, stream));
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    times.push_back(1000 * ms / CALLS);
  }
  std::sort(times.begin(), times.end());
  return times[REPLAYS / 2];
}

template <int MEMBERS, int VALUES> void line(const float *in, __half *out) {
  printf("%7d %7d KB %8.2f %10.2f %8.2f %11.2f %13.2f %7.2f %7.2f\n", MEMBERS, VALUES * THREADS * 4 / 1024,
         time_of<MEMBERS, VALUES, ALONE>(in, out), time_of<MEMBERS, VALUES, AS_IT_WAS>(in, out),
         time_of<MEMBERS, VALUES, RELAXED>(in, out), time_of<MEMBERS, VALUES, READ_FIRST>(in, out),
         time_of<MEMBERS, VALUES, BOTH_RELAXED>(in, out), time_of<MEMBERS, VALUES, PUSHED>(in, out),
         time_of<MEMBERS, VALUES, COPIED>(in, out));
}

int main() {
  float *in;
  __half *out;
  CHECK(cudaMalloc(&in, 1 << 20));
  CHECK(cudaMalloc(&out, 64 << 20));
  printf("members    part   alone   as it was  relaxed  read first  both relaxed  pushed  copied\n");
  line<2, 16>(in, out);
  line<2, 32>(in, out);
  line<2, 64>(in, out);
  line<4, 32>(in, out);
  line<4, 64>(in, out);
  line<8, 64>(in, out);
}
