// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// Several kernels in one graph, and what passes between them.

mirage_kernel.graph @src_lora(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>, %a: tensor<8x2xf16>, %b: tensor<2x6xf16>) -> tensor<4x6xf16> {
  %p = matmul %x, %w : tensor<4x8xf16>, tensor<8x6xf16>
  %q = matmul %x, %a : tensor<4x8xf16>, tensor<8x2xf16>
  %r = matmul %q, %b : tensor<4x2xf16>, tensor<2x6xf16>
  %y = add %p, %r : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// [x, x a] [w; b].
// CHECK: @tgt_lora_merged: equivalent to @src_lora;
mirage_kernel.graph @tgt_lora_merged(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>, %a: tensor<8x2xf16>, %b: tensor<2x6xf16>) -> tensor<4x6xf16> attributes {source = @src_lora} {
  %q = matmul %x, %a : tensor<4x8xf16>, tensor<8x2xf16>
  %l = concat %x, %q {dim = 1} : tensor<4x8xf16>, tensor<4x2xf16>
  %r = concat %w, %b {dim = 0} : tensor<8x6xf16>, tensor<2x6xf16>
  %y = matmul %l, %r : tensor<4x10xf16>, tensor<10x6xf16>
  return %y : tensor<4x6xf16>
}

// x (w + a b).
// CHECK: @tgt_lora_weights: equivalent to @src_lora;
mirage_kernel.graph @tgt_lora_weights(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>, %a: tensor<8x2xf16>, %b: tensor<2x6xf16>) -> tensor<4x6xf16> attributes {source = @src_lora} {
  %d = matmul %a, %b : tensor<8x2xf16>, tensor<2x6xf16>
  %v = add %w, %d : tensor<8x6xf16>, tensor<8x6xf16>
  %y = matmul %x, %v : tensor<4x8xf16>, tensor<8x6xf16>
  return %y : tensor<4x6xf16>
}

// Two kernels; the second accumulates both products.
// CHECK: @tgt_lora_kernels: equivalent to @src_lora;
mirage_kernel.graph @tgt_lora_kernels(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>, %a: tensor<8x2xf16>, %b: tensor<2x6xf16>) -> tensor<4x6xf16> attributes {source = @src_lora} {
  %q = custom (%xk = %x, %ak = %a) outs(%qk) grid [1] : (tensor<4x8xf16>, tensor<8x2xf16>) -> tensor<4x2xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x2xf32>
    %s = loop 4 (%c = %zero sum) : !mirage_block.tile<4x2xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x2xf16>
      %at = load %ak {loop = [0]} : tensor<8x2xf16> -> !mirage_block.tile<2x2xf16>
      %p = matmul %xt, %at : !mirage_block.tile<4x2xf16>, !mirage_block.tile<2x2xf16>
      yield %p : !mirage_block.tile<4x2xf32>
    }
    store %s, %qk : !mirage_block.tile<4x2xf32>, tensor<4x2xf16>
  }
  %y = custom (%xk = %x, %wk = %w, %qk = %q, %bk = %b) outs(%yk) grid [3] : (tensor<4x8xf16>, tensor<8x6xf16>, tensor<4x2xf16>, tensor<2x6xf16>) -> tensor<4x6xf16> {
    %qt = load %qk : tensor<4x2xf16> -> !mirage_block.tile<4x2xf16>
    %bt = load %bk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x2xf16>
    %side = matmul %qt, %bt : !mirage_block.tile<4x2xf16>, !mirage_block.tile<2x2xf16>
    %s = loop 4 (%c = %side sum) : !mirage_block.tile<4x2xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x2xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x2xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<4x2xf16>, !mirage_block.tile<2x2xf16>
      yield %p : !mirage_block.tile<4x2xf32>
    }
    store %s, %yk {grid = [1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// [x, x a] [b; w]: the pieces change places on one side.
// CHECK: @tgt_lora_concat_order: different at output
mirage_kernel.graph @tgt_lora_concat_order(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>, %a: tensor<8x2xf16>, %b: tensor<2x6xf16>) -> tensor<4x6xf16> attributes {source = @src_lora} {
  %q = matmul %x, %a : tensor<4x8xf16>, tensor<8x2xf16>
  %l = concat %q, %x {dim = 1} : tensor<4x2xf16>, tensor<4x8xf16>
  %r = concat %w, %b {dim = 0} : tensor<8x6xf16>, tensor<2x6xf16>
  %y = matmul %l, %r : tensor<4x10xf16>, tensor<10x6xf16>
  return %y : tensor<4x6xf16>
}

// The low-rank product is forgotten.
// CHECK: @tgt_lora_no_side: different at output
mirage_kernel.graph @tgt_lora_no_side(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>, %a: tensor<8x2xf16>, %b: tensor<2x6xf16>) -> tensor<4x6xf16> attributes {source = @src_lora} {
  %y = matmul %x, %w : tensor<4x8xf16>, tensor<8x6xf16>
  return %y : tensor<4x6xf16>
}

// It is added in every iteration.
// CHECK: @tgt_lora_side_in_loop: different at output
mirage_kernel.graph @tgt_lora_side_in_loop(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>, %a: tensor<8x2xf16>, %b: tensor<2x6xf16>) -> tensor<4x6xf16> attributes {source = @src_lora} {
  %q = matmul %x, %a : tensor<4x8xf16>, tensor<8x2xf16>
  %y = custom (%xk = %x, %wk = %w, %qk = %q, %bk = %b) outs(%yk) grid [3] : (tensor<4x8xf16>, tensor<8x6xf16>, tensor<4x2xf16>, tensor<2x6xf16>) -> tensor<4x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x2xf32>
    %s = loop 4 (%c = %zero sum) : !mirage_block.tile<4x2xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x2xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x2xf16>
      %qt = load %qk : tensor<4x2xf16> -> !mirage_block.tile<4x2xf16>
      %bt = load %bk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x2xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<4x2xf16>, !mirage_block.tile<2x2xf16>
      %d = matmul %qt, %bt : !mirage_block.tile<4x2xf16>, !mirage_block.tile<2x2xf16>
      %e = add %p, %d : !mirage_block.tile<4x2xf32>, !mirage_block.tile<4x2xf32>
      yield %e : !mirage_block.tile<4x2xf32>
    }
    store %s, %yk {grid = [1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// The side product is of partial sums, and squared by the loop.
// CHECK: @tgt_lora_partial_side: different at output
mirage_kernel.graph @tgt_lora_partial_side(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>, %a: tensor<8x2xf16>, %b: tensor<2x6xf16>) -> tensor<4x6xf16> attributes {source = @src_lora} {
  %y = custom (%xk = %x, %wk = %w, %ak = %a, %bk = %b) outs(%yk) grid [3] : (tensor<4x8xf16>, tensor<8x6xf16>, tensor<8x2xf16>, tensor<2x6xf16>) -> tensor<4x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x2xf32>
    %small = constant 0.0 : !mirage_block.tile<4x2xf32>
    %s, %q = loop 4 (%c = %zero sum, %d = %small sum) : !mirage_block.tile<4x2xf32>, !mirage_block.tile<4x2xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x2xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x2xf16>
      %at = load %ak {loop = [0]} : tensor<8x2xf16> -> !mirage_block.tile<2x2xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<4x2xf16>, !mirage_block.tile<2x2xf16>
      %t = matmul %xt, %at : !mirage_block.tile<4x2xf16>, !mirage_block.tile<2x2xf16>
      yield %p, %t : !mirage_block.tile<4x2xf32>, !mirage_block.tile<4x2xf32>
    }
    %h = cast %q : !mirage_block.tile<4x2xf32> -> !mirage_block.tile<4x2xf16>
    %bt = load %bk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x2xf16>
    %e = matmul %h, %bt : !mirage_block.tile<4x2xf16>, !mirage_block.tile<2x2xf16>
    %f = sub %s, %e : !mirage_block.tile<4x2xf32>, !mirage_block.tile<4x2xf32>
    store %f, %yk {grid = [1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

mirage_kernel.graph @src_split(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> {
  %y = matmul %x, %w : tensor<4x8xf16>, tensor<8x6xf16>
  return %y : tensor<4x6xf16>
}

// Partial products in a dimension of their own, summed by a second kernel.
// CHECK: @tgt_split_partial: equivalent to @src_split;
mirage_kernel.graph @tgt_split_partial(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> attributes {source = @src_split} {
  %p = custom (%xk = %x, %wk = %w) outs(%pk) grid [4] : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x4x6xf16> {
    %xt = load %xk {grid = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x2xf16>
    %wt = load %wk {grid = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x6xf16>
    %d = matmul %xt, %wt : !mirage_block.tile<4x2xf16>, !mirage_block.tile<2x6xf16>
    %r = reshape %d : !mirage_block.tile<4x6xf32> -> !mirage_block.tile<1x4x6xf32>
    store %r, %pk {grid = [0]} : !mirage_block.tile<1x4x6xf32>, tensor<4x4x6xf16>
  }
  %s = reduce_sum %p {dim = 0} : tensor<4x4x6xf16>
  %y = reshape %s : tensor<1x4x6xf16> -> tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// They are averaged.
// CHECK: @tgt_split_mean: different at output
mirage_kernel.graph @tgt_split_mean(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> attributes {source = @src_split} {
  %p = custom (%xk = %x, %wk = %w) outs(%pk) grid [4] : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x4x6xf16> {
    %xt = load %xk {grid = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x2xf16>
    %wt = load %wk {grid = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x6xf16>
    %d = matmul %xt, %wt : !mirage_block.tile<4x2xf16>, !mirage_block.tile<2x6xf16>
    %r = reshape %d : !mirage_block.tile<4x6xf32> -> !mirage_block.tile<1x4x6xf32>
    store %r, %pk {grid = [0]} : !mirage_block.tile<1x4x6xf32>, tensor<4x4x6xf16>
  }
  %s = reduce_mean %p {dim = 0} : tensor<4x4x6xf16>
  %y = reshape %s : tensor<1x4x6xf16> -> tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// The largest is taken.
// CHECK: @tgt_split_max: different at output
mirage_kernel.graph @tgt_split_max(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> attributes {source = @src_split} {
  %p = custom (%xk = %x, %wk = %w) outs(%pk) grid [4] : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x4x6xf16> {
    %xt = load %xk {grid = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x2xf16>
    %wt = load %wk {grid = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x6xf16>
    %d = matmul %xt, %wt : !mirage_block.tile<4x2xf16>, !mirage_block.tile<2x6xf16>
    %r = reshape %d : !mirage_block.tile<4x6xf32> -> !mirage_block.tile<1x4x6xf32>
    store %r, %pk {grid = [0]} : !mirage_block.tile<1x4x6xf32>, tensor<4x4x6xf16>
  }
  %s = reduce_max %p {dim = 0} : tensor<4x4x6xf16>
  %y = reshape %s : tensor<1x4x6xf16> -> tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// They are summed over the rows instead.
// CHECK: @tgt_split_dim: different at output
mirage_kernel.graph @tgt_split_dim(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> attributes {source = @src_split} {
  %p = custom (%xk = %x, %wk = %w) outs(%pk) grid [4] : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x4x6xf16> {
    %xt = load %xk {grid = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x2xf16>
    %wt = load %wk {grid = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x6xf16>
    %d = matmul %xt, %wt : !mirage_block.tile<4x2xf16>, !mirage_block.tile<2x6xf16>
    %r = reshape %d : !mirage_block.tile<4x6xf32> -> !mirage_block.tile<1x4x6xf32>
    store %r, %pk {grid = [0]} : !mirage_block.tile<1x4x6xf32>, tensor<4x4x6xf16>
  }
  %s = reduce_sum %p {dim = 1} : tensor<4x4x6xf16>
  %y = reshape %s : tensor<4x1x6xf16> -> tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// One part is lost.
// CHECK: @tgt_split_three_of_four: different at output
mirage_kernel.graph @tgt_split_three_of_four(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> attributes {source = @src_split} {
  %p = custom (%xk = %x, %wk = %w) outs(%pk) grid [4] : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x4x6xf16> {
    %xt = load %xk {grid = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x2xf16>
    %wt = load %wk {grid = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x6xf16>
    %d = matmul %xt, %wt : !mirage_block.tile<4x2xf16>, !mirage_block.tile<2x6xf16>
    %r = reshape %d : !mirage_block.tile<4x6xf32> -> !mirage_block.tile<1x4x6xf32>
    store %r, %pk {grid = [0]} : !mirage_block.tile<1x4x6xf32>, tensor<4x4x6xf16>
  }
  %q = slice %p {dim = 0, begin = 0, end = 3} : tensor<4x4x6xf16>
  %s = reduce_sum %q {dim = 0} : tensor<3x4x6xf16>
  %y = reshape %s : tensor<1x4x6xf16> -> tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// Two outputs.
mirage_kernel.graph @src_two(%x: tensor<4x8xf16>) -> (tensor<4x8xf16>, tensor<4x1xf16>) {
  %e = exp %x : tensor<4x8xf16>
  %s = reduce_sum %e {dim = 1} : tensor<4x8xf16>
  return %e, %s : tensor<4x8xf16>, tensor<4x1xf16>
}

// One kernel stores both.
// CHECK: @tgt_two_both: equivalent to @src_two;
mirage_kernel.graph @tgt_two_both(%x: tensor<4x8xf16>) -> (tensor<4x8xf16>, tensor<4x1xf16>) attributes {source = @src_two} {
  %e, %s = custom (%xk = %x) outs(%ek, %sk) grid [2] : (tensor<4x8xf16>) -> (tensor<4x8xf16>, tensor<4x1xf16>) {
    %xt = load %xk {grid = [0]} : tensor<4x8xf16> -> !mirage_block.tile<2x8xf16>
    %t = exp %xt : !mirage_block.tile<2x8xf16>
    %u = reduce_sum %t {dim = 1} : !mirage_block.tile<2x8xf32>
    store %t, %ek {grid = [0]} : !mirage_block.tile<2x8xf32>, tensor<4x8xf16>
    store %u, %sk {grid = [0]} : !mirage_block.tile<2x1xf32>, tensor<4x1xf16>
  }
  return %e, %s : tensor<4x8xf16>, tensor<4x1xf16>
}

// Right in the first output, wrong in the second.
// CHECK: @tgt_two_second: different at output
mirage_kernel.graph @tgt_two_second(%x: tensor<4x8xf16>) -> (tensor<4x8xf16>, tensor<4x1xf16>) attributes {source = @src_two} {
  %e, %s = custom (%xk = %x) outs(%ek, %sk) grid [2] : (tensor<4x8xf16>) -> (tensor<4x8xf16>, tensor<4x1xf16>) {
    %xt = load %xk {grid = [0]} : tensor<4x8xf16> -> !mirage_block.tile<2x8xf16>
    %t = exp %xt : !mirage_block.tile<2x8xf16>
    %u = reduce_sum %xt {dim = 1} : !mirage_block.tile<2x8xf16>
    store %t, %ek {grid = [0]} : !mirage_block.tile<2x8xf32>, tensor<4x8xf16>
    store %u, %sk {grid = [0]} : !mirage_block.tile<2x1xf32>, tensor<4x1xf16>
  }
  return %e, %s : tensor<4x8xf16>, tensor<4x1xf16>
}

// Wrong in the first.
// CHECK: @tgt_two_first: different at output
mirage_kernel.graph @tgt_two_first(%x: tensor<4x8xf16>) -> (tensor<4x8xf16>, tensor<4x1xf16>) attributes {source = @src_two} {
  %e = exp %x : tensor<4x8xf16>
  %s = reduce_sum %e {dim = 1} : tensor<4x8xf16>
  %f = div %e, %s : tensor<4x8xf16>, tensor<4x1xf16>
  return %f, %s : tensor<4x8xf16>, tensor<4x1xf16>
}
