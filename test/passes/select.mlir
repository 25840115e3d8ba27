// RUN: mirage-mlir-opt %s --mirage-select 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t
// RUN: mirage-mlir-opt %s --mirage-select=keep=all 2>/dev/null | FileCheck %s --check-prefix=ALL
// The fastest proven candidate is chosen; one without a proof is refused, however fast it says it is.

// CHECK:     graph @p(
// CHECK-NOT: graph @unproven(
// CHECK-NOT: graph @slow(
// CHECK:     graph @chosen({{.*}}selected
// CHECK-NOT: graph @also_slow(
// WHY: @unproven: refused: it has no proof
// WHY: @p: selected @chosen of 3 proven: 0.02 us predicted on h200
// ALL:     graph @unproven(
// ALL-NOT: selected
// ALL:     graph @slow(
// ALL-NOT: selected
// ALL:     graph @chosen({{.*}}selected
// ALL:     graph @also_slow(
// ALL-NOT: selected

mirage_kernel.graph @p(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
  %y = exp %x : tensor<16x64xf16>
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @unproven(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 0.01, bytes = 4096.0, flops = 1024.0, kernels = 1>} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x64xf16>
    %e = exp %xt : !mirage_block.tile<16x64xf16>
    store %e, %yk {grid = [1]} : !mirage_block.tile<16x64xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @slow(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 0.04, bytes = 4096.0, flops = 1024.0, kernels = 1>, proof = #mirage_kernel.proof<trials = 2, p_bits = 62, seed = 1, log2_bound = -61.0>, selected} {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x32xf16>
    %e = exp %xt : !mirage_block.tile<16x32xf16>
    store %e, %yk {grid = [1]} : !mirage_block.tile<16x32xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @chosen(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 0.02, bytes = 4096.0, flops = 1024.0, kernels = 1>, proof = #mirage_kernel.proof<trials = 2, p_bits = 62, seed = 1, log2_bound = -61.0>} {
  %y = custom (%xk = %x) outs(%yk) grid [4] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x16xf16>
    %e = exp %xt : !mirage_block.tile<16x16xf16>
    store %e, %yk {grid = [1]} : !mirage_block.tile<16x16xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @also_slow(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 0.03, bytes = 4096.0, flops = 1024.0, kernels = 1>, proof = #mirage_kernel.proof<trials = 2, p_bits = 62, seed = 1, log2_bound = -61.0>} {
  %y = custom (%xk = %x) outs(%yk) grid [8] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x8xf16>
    %e = exp %xt : !mirage_block.tile<16x8xf16>
    store %e, %yk {grid = [1]} : !mirage_block.tile<16x8xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
