// RUN: mirage-mlir-opt %s --mirage-prune=beaten-by=1 | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: mirage-mlir-opt %s --mirage-prune=beaten-by=3 | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: mirage-mlir-opt %s --mirage-prune="beaten-by=1 explain" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY
// A candidate goes when enough others are as good in every respect and better in one. A trade of time for traffic stays, and so does what
// is predicted to be slower by less than predictions are known to.

// CHECK:     graph @fast(
// CHECK:     graph @close(
// ONE-NOT:   graph @slower(
// TWO:       graph @slower(
// CHECK-NOT: graph @slowest(
// CHECK:     graph @lean(
// WHY-NOT: @close: pruned
// WHY: @slower: pruned: dominated by 2 others
// WHY: @slowest: pruned: dominated by 4 others

mirage_kernel.graph @p(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
  %y = exp %x : tensor<16x64xf16>
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @fast(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 1.0, bytes = 4096.0, flops = 1024.0, kernels = 1>} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x64xf16>
    %e = exp %xt : !mirage_block.tile<16x64xf16>
    store %e, %yk {grid = [1]} : !mirage_block.tile<16x64xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @close(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 1.02, bytes = 4096.0, flops = 1024.0, kernels = 1>} {
  %y = custom (%xk = %x) outs(%yk) grid [16] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x4xf16>
    %e = exp %xt : !mirage_block.tile<16x4xf16>
    store %e, %yk {grid = [1]} : !mirage_block.tile<16x4xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @slower(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 2.0, bytes = 4096.0, flops = 1024.0, kernels = 1>} {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x32xf16>
    %e = exp %xt : !mirage_block.tile<16x32xf16>
    store %e, %yk {grid = [1]} : !mirage_block.tile<16x32xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @slowest(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 3.0, bytes = 4096.0, flops = 1024.0, kernels = 1>} {
  %y = custom (%xk = %x) outs(%yk) grid [4] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x16xf16>
    %e = exp %xt : !mirage_block.tile<16x16xf16>
    store %e, %yk {grid = [1]} : !mirage_block.tile<16x16xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @lean(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 2.5, bytes = 1024.0, flops = 1024.0, kernels = 1>} {
  %y = custom (%xk = %x) outs(%yk) grid [8] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x8xf16>
    %e = exp %xt : !mirage_block.tile<16x8xf16>
    store %e, %yk {grid = [1]} : !mirage_block.tile<16x8xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
