// A linear layer whose reduction is split over the four blocks of a cluster: each multiplies a quarter of k, and the
// partial products are added through distributed shared memory. Blocks of a cluster store alike. The next kernel may start
// before this one ends.
//
// RUN: mirage-mlir-opt %s -o %t.mlir
// RUN: mirage-mlir-opt %t.mlir | diff %t.mlir -
// RUN: mirage-mlir-opt %t.mlir --mlir-print-op-generic | mirage-mlir-opt | diff %t.mlir -
// RUN: mirage-mlir-opt %t.mlir --emit-bytecode | mirage-mlir-opt | diff %t.mlir -
// RUN: mirage-mlir-opt %t.mlir --cse --canonicalize | mirage-mlir-opt | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify -o %t.proved.mlir 2>/dev/null
// RUN: FileCheck %s --check-prefix=PROVED < %t.proved.mlir
// RUN: sed 's/= cluster_sum /= cluster_max /' %s | mirage-mlir-opt --mirage-verify 2>/dev/null | FileCheck %s --check-prefix=WRONG
//
// PROVED: @candidate{{.*}}proof = #mirage_kernel.proof<
// Tempting: a maximum in place of the sum.
// WRONG: @candidate{{.*}}mirage_kernel.verdict = "different"

mirage_kernel.graph @program(%x: tensor<16x256xf16>, %w: tensor<256x64xf16>) -> tensor<16x64xf16> {
  %y = matmul %x, %w : tensor<16x256xf16>, tensor<256x64xf16>
  return %y : tensor<16x64xf16>
}

// CHECK-LABEL: @candidate
// CHECK: custom {{.*}} grid [2, 4] cluster [1, 4] schedule <warps = 4, start = early, loads = [async(stages = 2), async(stages = 2)]>
// CHECK: cluster_sum %{{.*}} {axes = [1]} : !mirage_block.tile<16x32xf32>
// CHECK: store
mirage_kernel.graph @candidate(%x: tensor<16x256xf16>, %w: tensor<256x64xf16>) -> tensor<16x64xf16> attributes {source = @program} {
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
