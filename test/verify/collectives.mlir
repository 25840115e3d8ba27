// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// Reductions among blocks: cluster_sum, cluster_max, grid_sum, grid_max.

mirage_kernel.graph @src_mm(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> {
  %y = matmul %x, %w : tensor<4x8xf16>, tensor<8x6xf16>
  return %y : tensor<4x6xf16>
}

// Pairs of blocks share the contraction.
// CHECK: @tgt_mm_cluster: equivalent to @src_mm;
mirage_kernel.graph @tgt_mm_cluster(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2, 3] cluster [2, 1, 1] : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x6xf16> {
    %xt = load %xk {grid = [1, -1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %wt = load %wk {grid = [0, 1]} : tensor<8x6xf16> -> !mirage_block.tile<4x2xf16>
    %p = matmul %xt, %wt : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x2xf16>
    %s = cluster_sum %p {axes = [0]} : !mirage_block.tile<4x2xf32>
    store %s, %yk {grid = [-1, 1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// All blocks of the axis, wherever they are.
// CHECK: @tgt_mm_grid: equivalent to @src_mm;
mirage_kernel.graph @tgt_mm_grid(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2, 3] : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x6xf16> {
    %xt = load %xk {grid = [1, -1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %wt = load %wk {grid = [0, 1]} : tensor<8x6xf16> -> !mirage_block.tile<4x2xf16>
    %p = matmul %xt, %wt : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x2xf16>
    %s = grid_sum %p {axes = [0]} : !mirage_block.tile<4x2xf32>
    store %s, %yk {grid = [-1, 1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// With a loop inside.
// CHECK: @tgt_mm_loop: equivalent to @src_mm;
mirage_kernel.graph @tgt_mm_loop(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2, 3] cluster [2, 1, 1] : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x2xf32>
    %p = loop 2 (%a = %zero sum) : !mirage_block.tile<4x2xf32> {
      %xt = load %xk {grid = [1, -1], loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x2xf16>
      %wt = load %wk {grid = [0, 1], loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x2xf16>
      %t = matmul %xt, %wt : !mirage_block.tile<4x2xf16>, !mirage_block.tile<2x2xf16>
      yield %t : !mirage_block.tile<4x2xf32>
    }
    %s = cluster_sum %p {axes = [0]} : !mirage_block.tile<4x2xf32>
    store %s, %yk {grid = [-1, 1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// Summed over the axis of the columns.
// CHECK: @tgt_mm_axis: different at output
mirage_kernel.graph @tgt_mm_axis(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2, 2] : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x6xf16> {
    %xt = load %xk {grid = [1, -1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %wt = load %wk {grid = [0, 1]} : tensor<8x6xf16> -> !mirage_block.tile<4x3xf16>
    %p = matmul %xt, %wt : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x3xf16>
    %s = grid_sum %p {axes = [1]} : !mirage_block.tile<4x3xf32>
    %z = concat %s, %s {dim = 1} : !mirage_block.tile<4x3xf32>, !mirage_block.tile<4x3xf32>
    %h = slice %z {dim = 0, begin = 0, end = 2} : !mirage_block.tile<4x6xf32>
    store %h, %yk {grid = [0, -1]} : !mirage_block.tile<2x6xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// Summed over both axes.
// CHECK: @tgt_mm_both: different at output
mirage_kernel.graph @tgt_mm_both(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2, 3] : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x6xf16> {
    %xt = load %xk {grid = [1, -1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %wt = load %wk {grid = [0, 1]} : tensor<8x6xf16> -> !mirage_block.tile<4x2xf16>
    %p = matmul %xt, %wt : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x2xf16>
    %s = grid_sum %p {axes = [0, 1]} : !mirage_block.tile<4x2xf32>
    store %s, %yk {grid = [-1, 1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// The largest partial sum.
// CHECK: @tgt_mm_max: different at output
mirage_kernel.graph @tgt_mm_max(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2, 3] cluster [2, 1, 1] : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x6xf16> {
    %xt = load %xk {grid = [1, -1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %wt = load %wk {grid = [0, 1]} : tensor<8x6xf16> -> !mirage_block.tile<4x2xf16>
    %p = matmul %xt, %wt : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x2xf16>
    %s = cluster_max %p {axes = [0]} : !mirage_block.tile<4x2xf32>
    store %s, %yk {grid = [-1, 1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// Summed twice: every block has the sum already.
// CHECK: @tgt_mm_twice: different at output
mirage_kernel.graph @tgt_mm_twice(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2, 3] cluster [2, 1, 1] : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x6xf16> {
    %xt = load %xk {grid = [1, -1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %wt = load %wk {grid = [0, 1]} : tensor<8x6xf16> -> !mirage_block.tile<4x2xf16>
    %p = matmul %xt, %wt : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x2xf16>
    %t = cluster_sum %p {axes = [0]} : !mirage_block.tile<4x2xf32>
    %s = cluster_sum %t {axes = [0]} : !mirage_block.tile<4x2xf32>
    store %s, %yk {grid = [-1, 1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// Squares of partial sums.
// CHECK: @tgt_mm_square: different at output
mirage_kernel.graph @tgt_mm_square(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2, 3] cluster [2, 1, 1] : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x6xf16> {
    %xt = load %xk {grid = [1, -1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %wt = load %wk {grid = [0, 1]} : tensor<8x6xf16> -> !mirage_block.tile<4x2xf16>
    %p = matmul %xt, %wt : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x2xf16>
    %t = square %p : !mirage_block.tile<4x2xf32>
    %s = cluster_sum %t {axes = [0]} : !mirage_block.tile<4x2xf32>
    store %s, %yk {grid = [-1, 1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// The sum is forgotten: the blocks store different partial sums.
// CHECK: @tgt_mm_missing: unsupported:
mirage_kernel.graph @tgt_mm_missing(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2, 3] cluster [2, 1, 1] : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x6xf16> {
    %xt = load %xk {grid = [1, -1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %wt = load %wk {grid = [0, 1]} : tensor<8x6xf16> -> !mirage_block.tile<4x2xf16>
    %p = matmul %xt, %wt : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x2xf16>
    %s = add %p, %p : !mirage_block.tile<4x2xf32>, !mirage_block.tile<4x2xf32>
    store %s, %yk {grid = [-1, 1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

mirage_kernel.graph @src_rms(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %y = rms_norm %x {eps = 0.0} : tensor<4x8xf16>
  return %y : tensor<4x8xf16>
}

// Squares are summed across the pair.
// CHECK: @tgt_rms_cluster: equivalent to @src_rms;
mirage_kernel.graph @tgt_rms_cluster(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_rms} {
  %y = custom (%xk = %x) outs(%yk) grid [2] cluster [2, 1, 1] : (tensor<4x8xf16>) -> tensor<4x8xf16> {
    %xt = load %xk {grid = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %q = square %xt : !mirage_block.tile<4x4xf16>
    %t = reduce_sum %q {dim = 1} : !mirage_block.tile<4x4xf32>
    %u = cluster_sum %t {axes = [0]} : !mirage_block.tile<4x1xf32>
    %k = constant 8.0 : !mirage_block.tile<1x1xf32>
    %m = div %u, %k : !mirage_block.tile<4x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %m : !mirage_block.tile<4x1xf32>
    %z = div %xt, %r : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x1xf32>
    store %z, %yk {grid = [1]} : !mirage_block.tile<4x4xf32>, tensor<4x8xf16>
  }
  return %y : tensor<4x8xf16>
}

// The same among all.
// CHECK: @tgt_rms_grid: equivalent to @src_rms;
mirage_kernel.graph @tgt_rms_grid(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_rms} {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<4x8xf16>) -> tensor<4x8xf16> {
    %xt = load %xk {grid = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %q = square %xt : !mirage_block.tile<4x4xf16>
    %t = reduce_sum %q {dim = 1} : !mirage_block.tile<4x4xf32>
    %u = grid_sum %t {axes = [0]} : !mirage_block.tile<4x1xf32>
    %k = constant 8.0 : !mirage_block.tile<1x1xf32>
    %m = div %u, %k : !mirage_block.tile<4x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %m : !mirage_block.tile<4x1xf32>
    %z = div %xt, %r : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x1xf32>
    store %z, %yk {grid = [1]} : !mirage_block.tile<4x4xf32>, tensor<4x8xf16>
  }
  return %y : tensor<4x8xf16>
}

// Each block normalises with its own squares.
// CHECK: @tgt_rms_local: different at output
mirage_kernel.graph @tgt_rms_local(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_rms} {
  %y = custom (%xk = %x) outs(%yk) grid [2] cluster [2, 1, 1] : (tensor<4x8xf16>) -> tensor<4x8xf16> {
    %xt = load %xk {grid = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %q = square %xt : !mirage_block.tile<4x4xf16>
    %t = reduce_sum %q {dim = 1} : !mirage_block.tile<4x4xf32>
    %u = add %t, %t : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %k = constant 8.0 : !mirage_block.tile<1x1xf32>
    %m = div %u, %k : !mirage_block.tile<4x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %m : !mirage_block.tile<4x1xf32>
    %z = div %xt, %r : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x1xf32>
    store %z, %yk {grid = [1]} : !mirage_block.tile<4x4xf32>, tensor<4x8xf16>
  }
  return %y : tensor<4x8xf16>
}

// The larger of both.
// CHECK: @tgt_rms_max: different at output
mirage_kernel.graph @tgt_rms_max(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_rms} {
  %y = custom (%xk = %x) outs(%yk) grid [2] cluster [2, 1, 1] : (tensor<4x8xf16>) -> tensor<4x8xf16> {
    %xt = load %xk {grid = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %q = square %xt : !mirage_block.tile<4x4xf16>
    %t = reduce_sum %q {dim = 1} : !mirage_block.tile<4x4xf32>
    %u = cluster_max %t {axes = [0]} : !mirage_block.tile<4x1xf32>
    %k = constant 8.0 : !mirage_block.tile<1x1xf32>
    %m = div %u, %k : !mirage_block.tile<4x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %m : !mirage_block.tile<4x1xf32>
    %z = div %xt, %r : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x1xf32>
    store %z, %yk {grid = [1]} : !mirage_block.tile<4x4xf32>, tensor<4x8xf16>
  }
  return %y : tensor<4x8xf16>
}

// Roots are summed.
// CHECK: @tgt_rms_roots: different at output
mirage_kernel.graph @tgt_rms_roots(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_rms} {
  %y = custom (%xk = %x) outs(%yk) grid [2] cluster [2, 1, 1] : (tensor<4x8xf16>) -> tensor<4x8xf16> {
    %xt = load %xk {grid = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %q = square %xt : !mirage_block.tile<4x4xf16>
    %t = reduce_sum %q {dim = 1} : !mirage_block.tile<4x4xf32>
    %v = sqrt %t : !mirage_block.tile<4x1xf32>
    %u = cluster_sum %v {axes = [0]} : !mirage_block.tile<4x1xf32>
    %k = constant 8.0 : !mirage_block.tile<1x1xf32>
    %m = div %u, %k : !mirage_block.tile<4x1xf32>, !mirage_block.tile<1x1xf32>
    %r = mul %m, %k : !mirage_block.tile<4x1xf32>, !mirage_block.tile<1x1xf32>
    %z = div %xt, %r : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x1xf32>
    store %z, %yk {grid = [1]} : !mirage_block.tile<4x4xf32>, tensor<4x8xf16>
  }
  return %y : tensor<4x8xf16>
}

// Each block counts its half only: the sum is averaged twice.
// CHECK: @tgt_rms_halved: different at output
mirage_kernel.graph @tgt_rms_halved(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_rms} {
  %y = custom (%xk = %x) outs(%yk) grid [2] cluster [2, 1, 1] : (tensor<4x8xf16>) -> tensor<4x8xf16> {
    %xt = load %xk {grid = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %q = square %xt : !mirage_block.tile<4x4xf16>
    %t = reduce_sum %q {dim = 1} : !mirage_block.tile<4x4xf32>
    %h = constant 2.0 : !mirage_block.tile<1x1xf32>
    %v = div %t, %h : !mirage_block.tile<4x1xf32>, !mirage_block.tile<1x1xf32>
    %u = cluster_sum %v {axes = [0]} : !mirage_block.tile<4x1xf32>
    %k = constant 8.0 : !mirage_block.tile<1x1xf32>
    %m = div %u, %k : !mirage_block.tile<4x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %m : !mirage_block.tile<4x1xf32>
    %z = div %xt, %r : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x1xf32>
    store %z, %yk {grid = [1]} : !mirage_block.tile<4x4xf32>, tensor<4x8xf16>
  }
  return %y : tensor<4x8xf16>
}

mirage_kernel.graph @src_sm(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %y = softmax %x {dim = 1} : tensor<4x8xf16>
  return %y : tensor<4x8xf16>
}

// Maximum and sum across the pair.
// CHECK: @tgt_sm_cluster: equivalent to @src_sm;
mirage_kernel.graph @tgt_sm_cluster(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %y = custom (%xk = %x) outs(%yk) grid [2] cluster [2, 1, 1] : (tensor<4x8xf16>) -> tensor<4x8xf16> {
    %xt = load %xk {grid = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %t = reduce_max %xt {dim = 1} : !mirage_block.tile<4x4xf16>
    %m = cluster_max %t {axes = [0]} : !mirage_block.tile<4x1xf32>
    %d = sub %xt, %m : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x1xf32>
    %e = exp %d : !mirage_block.tile<4x4xf32>
    %u = reduce_sum %e {dim = 1} : !mirage_block.tile<4x4xf32>
    %s = cluster_sum %u {axes = [0]} : !mirage_block.tile<4x1xf32>
    %z = div %e, %s : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>
    store %z, %yk {grid = [1]} : !mirage_block.tile<4x4xf32>, tensor<4x8xf16>
  }
  return %y : tensor<4x8xf16>
}

// With grid_max and grid_sum, and no common maximum needed when sums are rescaled.
// CHECK: @tgt_sm_grid: equivalent to @src_sm;
mirage_kernel.graph @tgt_sm_grid(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<4x8xf16>) -> tensor<4x8xf16> {
    %xt = load %xk {grid = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %t = reduce_max %xt {dim = 1} : !mirage_block.tile<4x4xf16>
    %m = grid_max %t {axes = [0]} : !mirage_block.tile<4x1xf32>
    %d = sub %xt, %t : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x1xf32>
    %e = exp %d : !mirage_block.tile<4x4xf32>
    %g = sub %t, %m : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %f = exp %g : !mirage_block.tile<4x1xf32>
    %h = mul %e, %f : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>
    %u = reduce_sum %h {dim = 1} : !mirage_block.tile<4x4xf32>
    %s = grid_sum %u {axes = [0]} : !mirage_block.tile<4x1xf32>
    %z = div %h, %s : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>
    store %z, %yk {grid = [1]} : !mirage_block.tile<4x4xf32>, tensor<4x8xf16>
  }
  return %y : tensor<4x8xf16>
}

// Each block uses its own maximum, and the sums are added.
// CHECK: @tgt_sm_own_max: different at output
mirage_kernel.graph @tgt_sm_own_max(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %y = custom (%xk = %x) outs(%yk) grid [2] cluster [2, 1, 1] : (tensor<4x8xf16>) -> tensor<4x8xf16> {
    %xt = load %xk {grid = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %m = reduce_max %xt {dim = 1} : !mirage_block.tile<4x4xf16>
    %d = sub %xt, %m : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x1xf32>
    %e = exp %d : !mirage_block.tile<4x4xf32>
    %u = reduce_sum %e {dim = 1} : !mirage_block.tile<4x4xf32>
    %s = cluster_sum %u {axes = [0]} : !mirage_block.tile<4x1xf32>
    %z = div %e, %s : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>
    store %z, %yk {grid = [1]} : !mirage_block.tile<4x4xf32>, tensor<4x8xf16>
  }
  return %y : tensor<4x8xf16>
}

// Each block has its own sum.
// CHECK: @tgt_sm_own_sum: different at output
mirage_kernel.graph @tgt_sm_own_sum(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %y = custom (%xk = %x) outs(%yk) grid [2] cluster [2, 1, 1] : (tensor<4x8xf16>) -> tensor<4x8xf16> {
    %xt = load %xk {grid = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %t = reduce_max %xt {dim = 1} : !mirage_block.tile<4x4xf16>
    %m = cluster_max %t {axes = [0]} : !mirage_block.tile<4x1xf32>
    %d = sub %xt, %m : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x1xf32>
    %e = exp %d : !mirage_block.tile<4x4xf32>
    %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x4xf32>
    %z = div %e, %s : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>
    store %z, %yk {grid = [1]} : !mirage_block.tile<4x4xf32>, tensor<4x8xf16>
  }
  return %y : tensor<4x8xf16>
}

// The maxima are added, and the numerator keeps its own.
// CHECK: @tgt_sm_sum_of_max: different at output
mirage_kernel.graph @tgt_sm_sum_of_max(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %y = custom (%xk = %x) outs(%yk) grid [2] cluster [2, 1, 1] : (tensor<4x8xf16>) -> tensor<4x8xf16> {
    %xt = load %xk {grid = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %t = reduce_max %xt {dim = 1} : !mirage_block.tile<4x4xf16>
    %m = cluster_sum %t {axes = [0]} : !mirage_block.tile<4x1xf32>
    %d = sub %xt, %m : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x1xf32>
    %e = exp %d : !mirage_block.tile<4x4xf32>
    %c = sub %xt, %t : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x1xf32>
    %n = exp %c : !mirage_block.tile<4x4xf32>
    %u = reduce_sum %e {dim = 1} : !mirage_block.tile<4x4xf32>
    %s = cluster_sum %u {axes = [0]} : !mirage_block.tile<4x1xf32>
    %z = div %n, %s : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>
    store %z, %yk {grid = [1]} : !mirage_block.tile<4x4xf32>, tensor<4x8xf16>
  }
  return %y : tensor<4x8xf16>
}
