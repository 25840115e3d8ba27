// Blocks of a cluster meet without waiting for what they store in device memory: a fence for shared memory alone, and relaxed
// arrivals. Nobody hears that it may leave before its peers have what they read (the sleep of 0 ns on one value). That takes PTX 8.6.
// RUN: mirage-mlir-opt %s --mirage-lower=target=h200 -o %t.mlir 2>/dev/null
// RUN: mirage-run --target=emulator --program=sum --emit-ptx=%t.ptx %t.mlir
// RUN: FileCheck %s < %t.ptx
// CHECK: .version 8.6
// CHECK-NOT: {{barrier.cluster|shared::cluster}}
// CHECK: fence.release.sync_restrict::shared::cta.cluster;
// CHECK-NOT: {{ld.shared::cluster|st.shared}}
// CHECK: barrier.cluster.arrive.relaxed;
// CHECK-NEXT: barrier.cluster.wait;
// CHECK-COUNT-4: ld.shared::cluster
// CHECK: setp.eq.b32 p, {{.*}}; @p nanosleep.u32 0;
// CHECK: st.global
// CHECK: fence.release.sync_restrict::shared::cta.cluster;
// CHECK: barrier.cluster.arrive.relaxed;
// CHECK-NEXT: barrier.cluster.wait;
// CHECK-NOT: barrier.cluster
//
// Blocks that share copies initialise mbarriers, and meet in the same way. What they signal each other must have arrived when one
// leaves, so the last barrier is not relaxed.
// RUN: mirage-run --target=emulator --program=shared --emit-ptx=%t.shared.ptx %t.mlir
// RUN: FileCheck %s --check-prefix=SHARED < %t.shared.ptx
// SHARED: .version 8.0
// SHARED: fence.mbarrier_init.release.cluster;
// SHARED: barrier.cluster.arrive.relaxed;
// SHARED-NEXT: barrier.cluster.wait;
// SHARED: mbarrier.arrive.release.cta.shared::cluster
// SHARED-NOT: {{arrive.relaxed|sync_restrict}}
// SHARED: barrier.cluster.arrive;
// SHARED-NEXT: barrier.cluster.wait;

mirage_kernel.graph @sum(%x: tensor<16x256xf16>, %w: tensor<256x64xf16>) -> tensor<16x64xf16> {
  %y = matmul %x, %w : tensor<16x256xf16>, tensor<256x64xf16>
  return %y : tensor<16x64xf16>
}

mirage_kernel.graph @sum_0(%x: tensor<16x256xf16>, %w: tensor<256x64xf16>) -> tensor<16x64xf16> attributes {source = @sum, selected} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2, 4] cluster [1, 4]
      schedule <warps = 4, start = early, loads = [async(stages = 2), async(stages = 2)]>
      : (tensor<16x256xf16>, tensor<256x64xf16>) -> tensor<16x64xf16> {
    %zero = constant 0.0 : !mirage_block.tile<16x32xf32>
    %part = loop 2 (%a = %zero sum) : !mirage_block.tile<16x32xf32> {
      %xt = load %xk {grid = [-1, 1], loop = [1]} : tensor<16x256xf16> -> !mirage_block.tile<16x32xf16, shared>
      %wt = load %wk {grid = [1, 0], loop = [0]} : tensor<256x64xf16> -> !mirage_block.tile<32x32xf16, shared>
      %p = matmul %xt, %wt : !mirage_block.tile<16x32xf16, shared>, !mirage_block.tile<32x32xf16, shared>
      yield %p : !mirage_block.tile<16x32xf32>
    }
    %sum = cluster_sum %part {axes = [1]} : !mirage_block.tile<16x32xf32>
    store %sum, %yk {grid = [1]} : !mirage_block.tile<16x32xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}

mirage_kernel.graph @shared(%x: tensor<128x256xf16>, %w: tensor<256x512xf16>) -> tensor<128x512xf16> {
  %y = matmul %x, %w : tensor<128x256xf16>, tensor<256x512xf16>
  return %y : tensor<128x512xf16>
}

mirage_kernel.graph @shared_0(%x: tensor<128x256xf16>, %w: tensor<256x512xf16>) -> tensor<128x512xf16> attributes {source = @shared, selected} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2] cluster [2]
      schedule <warps = 12, split = rows, roles = [producer(4, 40), consumer(8, 232)],
                loads = [tensor(stages = 4, multicast = true), tensor(stages = 4)]>
      : (tensor<128x256xf16>, tensor<256x512xf16>) -> tensor<128x512xf16> {
    %zero = constant 0.0 : !mirage_block.tile<128x256xf32>
    %acc = loop 4 (%a = %zero sum) : !mirage_block.tile<128x256xf32> {
      %xt = load %xk {loop = [1]} : tensor<128x256xf16> -> !mirage_block.tile<128x64xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<256x512xf16> -> !mirage_block.tile<64x256xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x256xf16>
      yield %p : !mirage_block.tile<128x256xf32>
    }
    store %acc, %yk {grid = [1]} : !mirage_block.tile<128x256xf32>, tensor<128x512xf16>
  }
  return %y : tensor<128x512xf16>
}
