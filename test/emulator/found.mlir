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

// A norm whose result is reshaped before it is stored: the row's sum was asked for where nobody keeps it.
mirage_kernel.graph @softmax_reshaped(%x: tensor<2x16xf16>) -> tensor<2x16xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<2x16xf16>) -> tensor<2x16xf16> {
    %t = load %xk {grid = [1, 0]} : tensor<2x16xf16> -> !mirage_block.tile<2x16xf16>
    %top = reduce_max %t {dim = 1} : !mirage_block.tile<2x16xf16>
    %d = sub %t, %top : !mirage_block.tile<2x16xf16>, !mirage_block.tile<2x1xf32>
    %e = exp %d : !mirage_block.tile<2x16xf32>
    %sum = reduce_sum %e {dim = 1} : !mirage_block.tile<2x16xf32>
    %p = div %e, %sum : !mirage_block.tile<2x16xf32>, !mirage_block.tile<2x1xf32>
    %flat = reshape %p : !mirage_block.tile<2x16xf32> -> !mirage_block.tile<32xf32>
    %rows = reshape %flat : !mirage_block.tile<32xf32> -> !mirage_block.tile<2x16xf32>
    store %rows, %yk {grid = [1, 0]} : !mirage_block.tile<2x16xf32>, tensor<2x16xf16>
  }
  return %y : tensor<2x16xf16>
}

// A norm of a transposed tile: the load was fetched at the norm's index, beyond its own rows.
mirage_kernel.graph @norm_of_transpose(%x: tensor<1x17x8xf16>) -> tensor<1x8x17xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [1, 4, 2] : (tensor<1x17x8xf16>) -> tensor<1x8x17xf16> {
    %t = load %xk {grid = [0, 1, 2]} : tensor<1x17x8xf16> -> !mirage_block.tile<1x5x4xf16>
    %u = transpose %t {perm = [0, 2, 1]} : !mirage_block.tile<1x5x4xf16>
    %s = square %u : !mirage_block.tile<1x4x5xf16>
    %m = reduce_mean %s {dim = 2} : !mirage_block.tile<1x4x5xf32>
    %one = constant 1.0 : !mirage_block.tile<f32>
    %a = add %m, %one : !mirage_block.tile<1x4x1xf32>, !mirage_block.tile<f32>
    %r = sqrt %a : !mirage_block.tile<1x4x1xf32>
    %n = div %u, %r : !mirage_block.tile<1x4x5xf16>, !mirage_block.tile<1x4x1xf32>
    store %n, %yk {grid = [0, 2, 1]} : !mirage_block.tile<1x4x5xf32>, tensor<1x8x17xf16>
  }
  return %y : tensor<1x8x17xf16>
}
