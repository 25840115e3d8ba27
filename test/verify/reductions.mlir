// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// Sums, means and maxima along one dimension or in steps. `extent` is what is left: out[j] = sum_i in[i extent + j].

mirage_kernel.graph @src_sum(%x: tensor<4x8xf16>) -> tensor<4x1xf16> {
  %y = reduce_sum %x {dim = 1} : tensor<4x8xf16>
  return %y : tensor<4x1xf16>
}

// In steps.
// CHECK: @tgt_sum_steps: equivalent to @src_sum;
mirage_kernel.graph @tgt_sum_steps(%x: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_sum} {
  %a = reduce_sum %x {dim = 1, extent = 4} : tensor<4x8xf16>
  %b = reduce_sum %a {dim = 1, extent = 2} : tensor<4x4xf16>
  %y = reduce_sum %b {dim = 1} : tensor<4x2xf16>
  return %y : tensor<4x1xf16>
}

// Eight times the mean.
// CHECK: @tgt_sum_mean: equivalent to @src_sum;
mirage_kernel.graph @tgt_sum_mean(%x: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_sum} {
  %m = reduce_mean %x {dim = 1} : tensor<4x8xf16>
  %k = constant 8.0 : tensor<f16>
  %y = mul %m, %k : tensor<4x1xf16>, tensor<f16>
  return %y : tensor<4x1xf16>
}

// A product with ones.
// CHECK: @tgt_sum_ones: equivalent to @src_sum;
mirage_kernel.graph @tgt_sum_ones(%x: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_sum} {
  %o = constant 1.0 : tensor<8x1xf16>
  %y = matmul %x, %o : tensor<4x8xf16>, tensor<8x1xf16>
  return %y : tensor<4x1xf16>
}

// Halves, then added.
// CHECK: @tgt_sum_halves: equivalent to @src_sum;
mirage_kernel.graph @tgt_sum_halves(%x: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_sum} {
  %a = slice %x {dim = 1, begin = 0, end = 4} : tensor<4x8xf16>
  %b = slice %x {dim = 1, begin = 4, end = 8} : tensor<4x8xf16>
  %c = add %a, %b : tensor<4x4xf16>, tensor<4x4xf16>
  %y = reduce_sum %c {dim = 1} : tensor<4x4xf16>
  return %y : tensor<4x1xf16>
}

// The order of summands does not matter.
// CHECK: @tgt_sum_permuted: equivalent to @src_sum;
mirage_kernel.graph @tgt_sum_permuted(%x: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_sum} {
  %a = slice %x {dim = 1, begin = 5, end = 8} : tensor<4x8xf16>
  %b = slice %x {dim = 1, begin = 0, end = 5} : tensor<4x8xf16>
  %c = concat %a, %b {dim = 1} : tensor<4x3xf16>, tensor<4x5xf16>
  %y = reduce_sum %c {dim = 1} : tensor<4x8xf16>
  return %y : tensor<4x1xf16>
}

// One element is missing.
// CHECK: @tgt_sum_short: different at output
mirage_kernel.graph @tgt_sum_short(%x: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_sum} {
  %a = slice %x {dim = 1, begin = 0, end = 7} : tensor<4x8xf16>
  %y = reduce_sum %a {dim = 1} : tensor<4x7xf16>
  return %y : tensor<4x1xf16>
}

// One element counts twice.
// CHECK: @tgt_sum_twice: different at output
mirage_kernel.graph @tgt_sum_twice(%x: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_sum} {
  %a = slice %x {dim = 1, begin = 0, end = 1} : tensor<4x8xf16>
  %b = concat %x, %a {dim = 1} : tensor<4x8xf16>, tensor<4x1xf16>
  %y = reduce_sum %b {dim = 1} : tensor<4x9xf16>
  return %y : tensor<4x1xf16>
}

// The mean.
// CHECK: @tgt_sum_averaged: different at output
mirage_kernel.graph @tgt_sum_averaged(%x: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_sum} {
  %y = reduce_mean %x {dim = 1} : tensor<4x8xf16>
  return %y : tensor<4x1xf16>
}

// A mean on the way.
// CHECK: @tgt_sum_mean_steps: different at output
mirage_kernel.graph @tgt_sum_mean_steps(%x: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_sum} {
  %a = reduce_sum %x {dim = 1, extent = 4} : tensor<4x8xf16>
  %y = reduce_mean %a {dim = 1} : tensor<4x4xf16>
  return %y : tensor<4x1xf16>
}

// The maximum.
// CHECK: @tgt_sum_max: different at output
mirage_kernel.graph @tgt_sum_max(%x: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_sum} {
  %y = reduce_max %x {dim = 1} : tensor<4x8xf16>
  return %y : tensor<4x1xf16>
}

// A maximum on the way.
// CHECK: @tgt_sum_max_steps: different at output
mirage_kernel.graph @tgt_sum_max_steps(%x: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_sum} {
  %a = reduce_max %x {dim = 1, extent = 4} : tensor<4x8xf16>
  %y = reduce_sum %a {dim = 1} : tensor<4x4xf16>
  return %y : tensor<4x1xf16>
}

mirage_kernel.graph @src_groups(%x: tensor<4x8xf16>) -> tensor<4x4xf16> {
  %y = reduce_sum %x {dim = 1, extent = 4} : tensor<4x8xf16>
  return %y : tensor<4x4xf16>
}

// [2, 4], summed over the first.
// CHECK: @tgt_groups_reshaped: equivalent to @src_groups;
mirage_kernel.graph @tgt_groups_reshaped(%x: tensor<4x8xf16>) -> tensor<4x4xf16> attributes {source = @src_groups} {
  %r = reshape %x : tensor<4x8xf16> -> tensor<4x2x4xf16>
  %s = reduce_sum %r {dim = 1} : tensor<4x2x4xf16>
  %y = reshape %s : tensor<4x1x4xf16> -> tensor<4x4xf16>
  return %y : tensor<4x4xf16>
}

// First half plus second half.
// CHECK: @tgt_groups_sliced: equivalent to @src_groups;
mirage_kernel.graph @tgt_groups_sliced(%x: tensor<4x8xf16>) -> tensor<4x4xf16> attributes {source = @src_groups} {
  %a = slice %x {dim = 1, begin = 0, end = 4} : tensor<4x8xf16>
  %b = slice %x {dim = 1, begin = 4, end = 8} : tensor<4x8xf16>
  %y = add %a, %b : tensor<4x4xf16>, tensor<4x4xf16>
  return %y : tensor<4x4xf16>
}

// [4, 2], summed over the second: neighbours.
// CHECK: @tgt_groups_neighbours: different at output
mirage_kernel.graph @tgt_groups_neighbours(%x: tensor<4x8xf16>) -> tensor<4x4xf16> attributes {source = @src_groups} {
  %r = reshape %x : tensor<4x8xf16> -> tensor<4x4x2xf16>
  %s = reduce_sum %r {dim = 2} : tensor<4x4x2xf16>
  %y = reshape %s : tensor<4x4x1xf16> -> tensor<4x4xf16>
  return %y : tensor<4x4xf16>
}

// One half only.
// CHECK: @tgt_groups_one_half: different at output
mirage_kernel.graph @tgt_groups_one_half(%x: tensor<4x8xf16>) -> tensor<4x4xf16> attributes {source = @src_groups} {
  %a = slice %x {dim = 1, begin = 0, end = 4} : tensor<4x8xf16>
  %y = add %a, %a : tensor<4x4xf16>, tensor<4x4xf16>
  return %y : tensor<4x4xf16>
}

// First half minus second half.
// CHECK: @tgt_groups_difference: different at output
mirage_kernel.graph @tgt_groups_difference(%x: tensor<4x8xf16>) -> tensor<4x4xf16> attributes {source = @src_groups} {
  %a = slice %x {dim = 1, begin = 0, end = 4} : tensor<4x8xf16>
  %b = slice %x {dim = 1, begin = 4, end = 8} : tensor<4x8xf16>
  %y = sub %a, %b : tensor<4x4xf16>, tensor<4x4xf16>
  return %y : tensor<4x4xf16>
}

mirage_kernel.graph @src_square(%x: tensor<6x6xf16>) -> tensor<1x6xf16> {
  %y = reduce_sum %x {dim = 0} : tensor<6x6xf16>
  return %y : tensor<1x6xf16>
}

// Columns of the transpose are rows.
// CHECK: @tgt_square_transposed: equivalent to @src_square;
mirage_kernel.graph @tgt_square_transposed(%x: tensor<6x6xf16>) -> tensor<1x6xf16> attributes {source = @src_square} {
  %t = transpose %x {perm = [1, 0]} : tensor<6x6xf16>
  %s = reduce_sum %t {dim = 1} : tensor<6x6xf16>
  %y = transpose %s {perm = [1, 0]} : tensor<6x1xf16>
  return %y : tensor<1x6xf16>
}

// A block a pair of columns.
// CHECK: @tgt_square_blocks: equivalent to @src_square;
mirage_kernel.graph @tgt_square_blocks(%x: tensor<6x6xf16>) -> tensor<1x6xf16> attributes {source = @src_square} {
  %y = custom (%xk = %x) outs(%yk) grid [3] : (tensor<6x6xf16>) -> tensor<1x6xf16> {
    %xt = load %xk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x2xf16>
    %s = reduce_sum %xt {dim = 0} : !mirage_block.tile<6x2xf16>
    store %s, %yk {grid = [1]} : !mirage_block.tile<1x2xf32>, tensor<1x6xf16>
  }
  return %y : tensor<1x6xf16>
}

// The other dimension.
// CHECK: @tgt_square_rows: different at output
mirage_kernel.graph @tgt_square_rows(%x: tensor<6x6xf16>) -> tensor<1x6xf16> attributes {source = @src_square} {
  %s = reduce_sum %x {dim = 1} : tensor<6x6xf16>
  %y = transpose %s {perm = [1, 0]} : tensor<6x1xf16>
  return %y : tensor<1x6xf16>
}

// The blocks load rows.
// CHECK: @tgt_square_block_imap: different at output
mirage_kernel.graph @tgt_square_block_imap(%x: tensor<6x6xf16>) -> tensor<1x6xf16> attributes {source = @src_square} {
  %y = custom (%xk = %x) outs(%yk) grid [3] : (tensor<6x6xf16>) -> tensor<1x6xf16> {
    %xt = load %xk {grid = [0]} : tensor<6x6xf16> -> !mirage_block.tile<2x6xf16>
    %s = reduce_sum %xt {dim = 1} : !mirage_block.tile<2x6xf16>
    %t = transpose %s {perm = [1, 0]} : !mirage_block.tile<2x1xf32>
    store %t, %yk {grid = [1]} : !mirage_block.tile<1x2xf32>, tensor<1x6xf16>
  }
  return %y : tensor<1x6xf16>
}

mirage_kernel.graph @src_max(%x: tensor<4x8xf16>) -> tensor<4x1xf16> {
  %y = reduce_max %x {dim = 1} : tensor<4x8xf16>
  return %y : tensor<4x1xf16>
}

// Maxima of maxima, overlapping as well.
// CHECK: @tgt_max_steps: equivalent to @src_max;
mirage_kernel.graph @tgt_max_steps(%x: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_max} {
  %a = slice %x {dim = 1, begin = 0, end = 5} : tensor<4x8xf16>
  %b = slice %x {dim = 1, begin = 3, end = 8} : tensor<4x8xf16>
  %m = reduce_max %a {dim = 1} : tensor<4x5xf16>
  %n = reduce_max %b {dim = 1} : tensor<4x5xf16>
  %y = max %n, %m : tensor<4x1xf16>, tensor<4x1xf16>
  return %y : tensor<4x1xf16>
}

// A running maximum.
// CHECK: @tgt_max_loop: equivalent to @src_max;
mirage_kernel.graph @tgt_max_loop(%x: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_max} {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<4x8xf16>) -> tensor<4x1xf16> {
    %none = bottom : !mirage_block.tile<2x1xf32>
    %m = loop 4 (%a = %none max) : !mirage_block.tile<2x1xf32> {
      %xt = load %xk {grid = [0], loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<2x2xf16>
      %t = reduce_max %xt {dim = 1} : !mirage_block.tile<2x2xf16>
      yield %t : !mirage_block.tile<2x1xf32>
    }
    store %m, %yk {grid = [0]} : !mirage_block.tile<2x1xf32>, tensor<4x1xf16>
  }
  return %y : tensor<4x1xf16>
}

// Two elements are never looked at.
// CHECK: @tgt_max_gap: different at output
mirage_kernel.graph @tgt_max_gap(%x: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_max} {
  %a = slice %x {dim = 1, begin = 0, end = 3} : tensor<4x8xf16>
  %b = slice %x {dim = 1, begin = 5, end = 8} : tensor<4x8xf16>
  %m = reduce_max %a {dim = 1} : tensor<4x3xf16>
  %n = reduce_max %b {dim = 1} : tensor<4x3xf16>
  %y = max %n, %m : tensor<4x1xf16>, tensor<4x1xf16>
  return %y : tensor<4x1xf16>
}

// The last element is not.
// CHECK: @tgt_max_last_missing: different at output
mirage_kernel.graph @tgt_max_last_missing(%x: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_max} {
  %a = slice %x {dim = 1, begin = 0, end = 7} : tensor<4x8xf16>
  %y = reduce_max %a {dim = 1} : tensor<4x7xf16>
  return %y : tensor<4x1xf16>
}

// The running maximum starts at 0.
// CHECK: @tgt_max_from_zero: different at output
mirage_kernel.graph @tgt_max_from_zero(%x: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_max} {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<4x8xf16>) -> tensor<4x1xf16> {
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %m = loop 4 (%a = %none max) : !mirage_block.tile<2x1xf32> {
      %xt = load %xk {grid = [0], loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<2x2xf16>
      %t = reduce_max %xt {dim = 1} : !mirage_block.tile<2x2xf16>
      yield %t : !mirage_block.tile<2x1xf32>
    }
    store %m, %yk {grid = [0]} : !mirage_block.tile<2x1xf32>, tensor<4x1xf16>
  }
  return %y : tensor<4x1xf16>
}

// The last tile only.
// CHECK: @tgt_max_last_tile: different at output
mirage_kernel.graph @tgt_max_last_tile(%x: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_max} {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<4x8xf16>) -> tensor<4x1xf16> {
    %none = bottom : !mirage_block.tile<2x1xf32>
    %m = loop 4 (%a = %none assign) : !mirage_block.tile<2x1xf32> {
      %xt = load %xk {grid = [0], loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<2x2xf16>
      %t = reduce_max %xt {dim = 1} : !mirage_block.tile<2x2xf16>
      yield %t : !mirage_block.tile<2x1xf32>
    }
    store %m, %yk {grid = [0]} : !mirage_block.tile<2x1xf32>, tensor<4x1xf16>
  }
  return %y : tensor<4x1xf16>
}

// The minimum.
// CHECK: @tgt_max_min: different at output
mirage_kernel.graph @tgt_max_min(%x: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_max} {
  %n = neg %x : tensor<4x8xf16>
  %m = reduce_max %n {dim = 1} : tensor<4x8xf16>
  %y = neg %m : tensor<4x1xf16>
  return %y : tensor<4x1xf16>
}

mirage_kernel.graph @src_dot(%a: tensor<4x8xf16>, %b: tensor<4x8xf16>) -> tensor<4x1xf16> {
  %p = mul %a, %b : tensor<4x8xf16>, tensor<4x8xf16>
  %y = reduce_sum %p {dim = 1} : tensor<4x8xf16>
  return %y : tensor<4x1xf16>
}

// Products of tiles, summed.
// CHECK: @tgt_dot_steps: equivalent to @src_dot;
mirage_kernel.graph @tgt_dot_steps(%a: tensor<4x8xf16>, %b: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_dot} {
  %y = custom (%ak = %a, %bk = %b) outs(%yk) grid [2] : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x1xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x1xf32>
    %s = loop 4 (%c = %zero sum) : !mirage_block.tile<2x1xf32> {
      %at = load %ak {grid = [0], loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<2x2xf16>
      %bt = load %bk {grid = [0], loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<2x2xf16>
      %p = mul %at, %bt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x2xf16>
      %r = reduce_sum %p {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r : !mirage_block.tile<2x1xf32>
    }
    store %s, %yk {grid = [0]} : !mirage_block.tile<2x1xf32>, tensor<4x1xf16>
  }
  return %y : tensor<4x1xf16>
}

// A product of sums.
// CHECK: @tgt_dot_product_of_sums: different at output
mirage_kernel.graph @tgt_dot_product_of_sums(%a: tensor<4x8xf16>, %b: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_dot} {
  %s = reduce_sum %a {dim = 1} : tensor<4x8xf16>
  %t = reduce_sum %b {dim = 1} : tensor<4x8xf16>
  %y = mul %s, %t : tensor<4x1xf16>, tensor<4x1xf16>
  return %y : tensor<4x1xf16>
}

// Products of sums of tiles.
// CHECK: @tgt_dot_tile_products: different at output
mirage_kernel.graph @tgt_dot_tile_products(%a: tensor<4x8xf16>, %b: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_dot} {
  %y = custom (%ak = %a, %bk = %b) outs(%yk) grid [2] : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x1xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x1xf32>
    %s = loop 4 (%c = %zero sum) : !mirage_block.tile<2x1xf32> {
      %at = load %ak {grid = [0], loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<2x2xf16>
      %bt = load %bk {grid = [0], loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<2x2xf16>
      %p = reduce_sum %at {dim = 1} : !mirage_block.tile<2x2xf16>
      %q = reduce_sum %bt {dim = 1} : !mirage_block.tile<2x2xf16>
      %r = mul %p, %q : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      yield %r : !mirage_block.tile<2x1xf32>
    }
    store %s, %yk {grid = [0]} : !mirage_block.tile<2x1xf32>, tensor<4x1xf16>
  }
  return %y : tensor<4x1xf16>
}
