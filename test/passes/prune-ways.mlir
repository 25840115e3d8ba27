// RUN: mirage-mlir-opt %s --mirage-prune='beaten-by=1 expr=false duplicates=false' | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-prune='beaten-by=4 expr=false duplicates=false' | FileCheck %s --check-prefix=MANY
// RUN: mirage-mlir-opt %s --mirage-prune='beaten-by=1 expr=false duplicates=false explain' -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY
// Of each way to combine split reductions two stay, though others are faster: the cost model knows too little of meetings.

// CHECK: graph @alone_0(
// CHECK-NOT: graph @alone_1(
// CHECK: graph @grid_0(
// CHECK: graph @grid_1(
// CHECK-NOT: graph @grid_2(
// CHECK: graph @cluster_0(
// CHECK-NOT: graph @grid_3(
// WHY: @alone_1: pruned: dominated by 1 other
// WHY: @grid_2: pruned: dominated by 4 others
// MANY: graph @alone_1(
// MANY: graph @grid_1(
// MANY-NOT: graph @grid_2(
// MANY: graph @cluster_0(
// MANY-NOT: graph @grid_3(

mirage_kernel.graph @p(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
  %y = exp %x : tensor<16x64xf16>
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @alone_0(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 1.0, bytes = 4096.0, flops = 1024.0, kernels = 1>} {
  %y = custom (%xk = %x) outs(%yk) grid [2, 2] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x32xf16>
    %e = exp %xt : !mirage_block.tile<16x32xf16>
    store %e, %yk {grid = [1]} : !mirage_block.tile<16x32xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @alone_1(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 2.0, bytes = 4096.0, flops = 1024.0, kernels = 1>} {
  %y = custom (%xk = %x) outs(%yk) grid [2, 2] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x32xf16>
    %e = exp %xt : !mirage_block.tile<16x32xf16>
    store %e, %yk {grid = [1]} : !mirage_block.tile<16x32xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @grid_0(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 3.0, bytes = 4096.0, flops = 1024.0, kernels = 1>} {
  %y = custom (%xk = %x) outs(%yk) grid [2, 2] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x32xf16>
    %e = exp %xt : !mirage_block.tile<16x32xf16>
    %s = grid_sum %e {axes = [1]} : !mirage_block.tile<16x32xf32>
    store %s, %yk {grid = [1]} : !mirage_block.tile<16x32xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @grid_1(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 4.0, bytes = 4096.0, flops = 1024.0, kernels = 1>} {
  %y = custom (%xk = %x) outs(%yk) grid [2, 2] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x32xf16>
    %e = exp %xt : !mirage_block.tile<16x32xf16>
    %s = grid_sum %e {axes = [1]} : !mirage_block.tile<16x32xf32>
    store %s, %yk {grid = [1]} : !mirage_block.tile<16x32xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @grid_2(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 5.0, bytes = 4096.0, flops = 1024.0, kernels = 1>} {
  %y = custom (%xk = %x) outs(%yk) grid [2, 2] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x32xf16>
    %e = exp %xt : !mirage_block.tile<16x32xf16>
    %s = grid_sum %e {axes = [1]} : !mirage_block.tile<16x32xf32>
    store %s, %yk {grid = [1]} : !mirage_block.tile<16x32xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @cluster_0(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 6.0, bytes = 4096.0, flops = 1024.0, kernels = 1>} {
  %y = custom (%xk = %x) outs(%yk) grid [2, 2] cluster [1, 2] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x32xf16>
    %e = exp %xt : !mirage_block.tile<16x32xf16>
    %s = cluster_sum %e {axes = [1]} : !mirage_block.tile<16x32xf32>
    store %s, %yk {grid = [1]} : !mirage_block.tile<16x32xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @grid_3(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 7.0, bytes = 4096.0, flops = 1024.0, kernels = 1>} {
  %y = custom (%xk = %x) outs(%yk) grid [2, 2] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x32xf16>
    %e = exp %xt : !mirage_block.tile<16x32xf16>
    %s = grid_sum %e {axes = [1]} : !mirage_block.tile<16x32xf32>
    store %s, %yk {grid = [1]} : !mirage_block.tile<16x32xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
