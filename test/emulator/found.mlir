// What fuzz_codegen (test/codegen) once found wrong or refused, made small.
// RUN: mirage-module-test %s

// Numbers computed from constants alone have rank 0, which no kernel can write.
mirage_kernel.graph @computed_constant(%x: tensor<3x5xf16>) -> tensor<3x5xf16> {
  %c = constant -1.0 : tensor<f16>
  %s = sigmoid %c : tensor<f16>
  %h = constant 0.5 : tensor<f16>
  %t = add %s, %h : tensor<f16>, tensor<f16>
  %d = div %x, %t : tensor<3x5xf16>, tensor<f16>
  %y = min %d, %c : tensor<3x5xf16>, tensor<f16>
  return %y : tensor<3x5xf16>
}

// More stages than iterations: copies were under way at the end.
mirage_kernel.graph @stages_beyond_the_loop(%x: tensor<16x16xf16>, %w: tensor<16x16xf16>) -> tensor<16x16xf16> {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [1] schedule <loads = [async(stages = 3), auto]>
      : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf16> {
    %zero = constant 0.0 : !mirage_block.tile<16x16xf32>
    %sum = loop 1 (%s = %zero sum) : !mirage_block.tile<16x16xf32> {
      %xt = load %xk : tensor<16x16xf16> -> !mirage_block.tile<16x16xf16>
      %wt = load %wk : tensor<16x16xf16> -> !mirage_block.tile<16x16xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<16x16xf16>, !mirage_block.tile<16x16xf16>
      yield %p : !mirage_block.tile<16x16xf32>
    }
    store %sum, %yk : !mirage_block.tile<16x16xf32>, tensor<16x16xf16>
  }
  return %y : tensor<16x16xf16>
}

// A sum over a cluster of which some elements go straight to a store and all of them to a reduction: the reduction's result took the
// memory that a peer was still reading.
mirage_kernel.graph @cluster_sum_read_twice(%x: tensor<16x16xf16>, %w: tensor<16x16xf16>) -> tensor<16x16xf16> {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [1, 1, 2] cluster [1, 1, 2]
      : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf16> {
    %zero = constant 0.0 : !mirage_block.tile<16x16xf32>
    %sum = loop 1 (%s = %zero sum) : !mirage_block.tile<16x16xf32> {
      %xt = load %xk {grid = [-1, 0, 1]} : tensor<16x16xf16> -> !mirage_block.tile<16x8xf16>
      %wt = load %wk {grid = [1, -1, 0]} : tensor<16x16xf16> -> !mirage_block.tile<8x16xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<16x8xf16>, !mirage_block.tile<8x16xf16>
      yield %p : !mirage_block.tile<16x16xf32>
    }
    %all = cluster_sum %sum {axes = [2]} : !mirage_block.tile<16x16xf32>
    %r = relu %all : !mirage_block.tile<16x16xf32>
    %top = reduce_max %r {dim = 1} : !mirage_block.tile<16x16xf32>
    %d = sub %r, %top : !mirage_block.tile<16x16xf32>, !mirage_block.tile<16x1xf32>
    store %d, %yk {grid = [1, 0]} : !mirage_block.tile<16x16xf32>, tensor<16x16xf16>
  }
  return %y : tensor<16x16xf16>
}
