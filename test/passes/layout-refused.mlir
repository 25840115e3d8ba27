// What a schedule asks for and cannot have is refused with the sentence of the form that it asks for.
// RUN: mirage-mlir-opt %s --mirage-layout 2>&1 >/dev/null | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-layout 2>/dev/null | FileCheck %s --check-prefix=LEFT
//
// CHECK: layout: 4 side blocks are not possible: no loop streams its weights
// CHECK: @side: removed: no layout on h200
// CHECK: layout: roles are not possible: blocks of the cluster meet in a loop, where producers do not come
// CHECK: @roles: removed: no layout on h200
// CHECK: layout: no warps get roles of their own: there is nothing for a producer to copy
// LEFT-NOT: @side
// LEFT-NOT: @roles(
// LEFT: @idle(
// LEFT: schedule <warps = 4, loads = [async(stages = 2), async(stages = 2)]>

mirage_kernel.graph @program(%x: tensor<16x256xf16>, %w: tensor<256x64xf16>) -> tensor<16x64xf16> {
  %y = matmul %x, %w : tensor<16x256xf16>, tensor<256x64xf16>
  return %y : tensor<16x64xf16>
}

mirage_kernel.graph @side(%x: tensor<16x256xf16>, %w: tensor<256x64xf16>) -> tensor<16x64xf16> attributes {source = @program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2, 4] cluster [1, 4] schedule <side_blocks = 4>
      : (tensor<16x256xf16>, tensor<256x64xf16>) -> tensor<16x64xf16> {
    %zero = constant 0.0 : !mirage_block.tile<16x32xf32>
    %part = loop 2 (%a = %zero sum) : !mirage_block.tile<16x32xf32> {
      %xt = load %xk {grid = [-1, 1], loop = [1]} : tensor<16x256xf16> -> !mirage_block.tile<16x32xf16>
      %wt = load %wk {grid = [1, 0], loop = [0]} : tensor<256x64xf16> -> !mirage_block.tile<32x32xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<16x32xf16>, !mirage_block.tile<32x32xf16>
      yield %p : !mirage_block.tile<16x32xf32>
    }
    %sum = cluster_sum %part {axes = [1]} : !mirage_block.tile<16x32xf32>
    store %sum, %yk {grid = [1]} : !mirage_block.tile<16x32xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}

mirage_kernel.graph @roles(%x: tensor<16x256xf16>, %w: tensor<256x64xf16>) -> tensor<16x64xf16> attributes {source = @program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2, 4] cluster [1, 4] schedule <roles = [producer(4), consumer(4)], loads = [tensor(stages = 2), tensor(stages = 2)]>
      : (tensor<16x256xf16>, tensor<256x64xf16>) -> tensor<16x64xf16> {
    %zero = constant 0.0 : !mirage_block.tile<16x32xf32>
    %part = loop 2 (%a = %zero sum) : !mirage_block.tile<16x32xf32> {
      %xt = load %xk {grid = [-1, 1], loop = [1]} : tensor<16x256xf16> -> !mirage_block.tile<16x32xf16>
      %wt = load %wk {grid = [1, 0], loop = [0]} : tensor<256x64xf16> -> !mirage_block.tile<32x32xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<16x32xf16>, !mirage_block.tile<32x32xf16>
      %q = cluster_sum %p {axes = [1]} : !mirage_block.tile<16x32xf32>
      yield %q : !mirage_block.tile<16x32xf32>
    }
    store %part, %yk {grid = [1]} : !mirage_block.tile<16x32xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}

mirage_kernel.graph @idle(%x: tensor<16x256xf16>, %w: tensor<256x64xf16>) -> tensor<16x64xf16> attributes {source = @program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2, 4] cluster [1, 4] schedule <roles = [producer(4), consumer(4)], loads = [async(stages = 2), async(stages = 2)]>
      : (tensor<16x256xf16>, tensor<256x64xf16>) -> tensor<16x64xf16> {
    %zero = constant 0.0 : !mirage_block.tile<16x32xf32>
    %part = loop 2 (%a = %zero sum) : !mirage_block.tile<16x32xf32> {
      %xt = load %xk {grid = [-1, 1], loop = [1]} : tensor<16x256xf16> -> !mirage_block.tile<16x32xf16>
      %wt = load %wk {grid = [1, 0], loop = [0]} : tensor<256x64xf16> -> !mirage_block.tile<32x32xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<16x32xf16>, !mirage_block.tile<32x32xf16>
      yield %p : !mirage_block.tile<16x32xf32>
    }
    %sum = cluster_sum %part {axes = [1]} : !mirage_block.tile<16x32xf32>
    store %sum, %yk {grid = [1]} : !mirage_block.tile<16x32xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
