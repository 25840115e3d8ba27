// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// Linearity, associativity and transposes of matrix products, batched ones as well.

mirage_kernel.graph @src_chain(%x: tensor<4x6xf16>, %a: tensor<6x5xf16>, %b: tensor<5x3xf16>) -> tensor<4x3xf16> {
  %p = matmul %x, %a : tensor<4x6xf16>, tensor<6x5xf16>
  %y = matmul %p, %b : tensor<4x5xf16>, tensor<5x3xf16>
  return %y : tensor<4x3xf16>
}

// (x a) b = x (a b).
// CHECK: @tgt_chain_assoc: equivalent to @src_chain;
mirage_kernel.graph @tgt_chain_assoc(%x: tensor<4x6xf16>, %a: tensor<6x5xf16>, %b: tensor<5x3xf16>) -> tensor<4x3xf16> attributes {source = @src_chain} {
  %p = matmul %a, %b : tensor<6x5xf16>, tensor<5x3xf16>
  %y = matmul %x, %p : tensor<4x6xf16>, tensor<6x3xf16>
  return %y : tensor<4x3xf16>
}

// (x a b)^T = b^T a^T x^T.
// CHECK: @tgt_chain_flip: equivalent to @src_chain;
mirage_kernel.graph @tgt_chain_flip(%x: tensor<4x6xf16>, %a: tensor<6x5xf16>, %b: tensor<5x3xf16>) -> tensor<4x3xf16> attributes {source = @src_chain} {
  %p = matmul %b, %a {transpose_a, transpose_b} : tensor<5x3xf16>, tensor<6x5xf16>
  %q = matmul %p, %x {transpose_b} : tensor<3x6xf16>, tensor<4x6xf16>
  %y = transpose %q {perm = [1, 0]} : tensor<3x4xf16>
  return %y : tensor<4x3xf16>
}

// One factor twice, the other not at all.
// CHECK: @tgt_chain_order: different at output
mirage_kernel.graph @tgt_chain_order(%x: tensor<4x6xf16>, %a: tensor<6x5xf16>, %b: tensor<5x3xf16>) -> tensor<4x3xf16> attributes {source = @src_chain} {
  %s = slice %b {dim = 0, begin = 0, end = 3} : tensor<5x3xf16>
  %p = matmul %x, %a : tensor<4x6xf16>, tensor<6x5xf16>
  %q = slice %p {dim = 1, begin = 0, end = 3} : tensor<4x5xf16>
  %y = matmul %q, %s : tensor<4x3xf16>, tensor<3x3xf16>
  return %y : tensor<4x3xf16>
}

// A scale slips in.
// CHECK: @tgt_chain_scaled: different at output
mirage_kernel.graph @tgt_chain_scaled(%x: tensor<4x6xf16>, %a: tensor<6x5xf16>, %b: tensor<5x3xf16>) -> tensor<4x3xf16> attributes {source = @src_chain} {
  %c = constant 2.0 : tensor<f16>
  %p = matmul %x, %a : tensor<4x6xf16>, tensor<6x5xf16>
  %q = mul %p, %c : tensor<4x5xf16>, tensor<f16>
  %y = matmul %q, %b : tensor<4x5xf16>, tensor<5x3xf16>
  return %y : tensor<4x3xf16>
}

mirage_kernel.graph @src_sum(%x: tensor<4x6xf16>, %w: tensor<6x5xf16>, %v: tensor<6x5xf16>) -> tensor<4x5xf16> {
  %s = add %w, %v : tensor<6x5xf16>, tensor<6x5xf16>
  %y = matmul %x, %s : tensor<4x6xf16>, tensor<6x5xf16>
  return %y : tensor<4x5xf16>
}

// x (w + v) = x w + x v.
// CHECK: @tgt_sum_distribute: equivalent to @src_sum;
mirage_kernel.graph @tgt_sum_distribute(%x: tensor<4x6xf16>, %w: tensor<6x5xf16>, %v: tensor<6x5xf16>) -> tensor<4x5xf16> attributes {source = @src_sum} {
  %a = matmul %x, %w : tensor<4x6xf16>, tensor<6x5xf16>
  %b = matmul %x, %v : tensor<4x6xf16>, tensor<6x5xf16>
  %y = add %a, %b : tensor<4x5xf16>, tensor<4x5xf16>
  return %y : tensor<4x5xf16>
}

// [x x] [w; v]: the LoRA trick.
// CHECK: @tgt_sum_concat: equivalent to @src_sum;
mirage_kernel.graph @tgt_sum_concat(%x: tensor<4x6xf16>, %w: tensor<6x5xf16>, %v: tensor<6x5xf16>) -> tensor<4x5xf16> attributes {source = @src_sum} {
  %c = concat %x, %x {dim = 1} : tensor<4x6xf16>, tensor<4x6xf16>
  %d = concat %w, %v {dim = 0} : tensor<6x5xf16>, tensor<6x5xf16>
  %y = matmul %c, %d : tensor<4x12xf16>, tensor<12x5xf16>
  return %y : tensor<4x5xf16>
}

// x w - x v.
// CHECK: @tgt_sum_difference: different at output
mirage_kernel.graph @tgt_sum_difference(%x: tensor<4x6xf16>, %w: tensor<6x5xf16>, %v: tensor<6x5xf16>) -> tensor<4x5xf16> attributes {source = @src_sum} {
  %a = matmul %x, %w : tensor<4x6xf16>, tensor<6x5xf16>
  %b = matmul %x, %v : tensor<4x6xf16>, tensor<6x5xf16>
  %y = sub %a, %b : tensor<4x5xf16>, tensor<4x5xf16>
  return %y : tensor<4x5xf16>
}

// The second product is forgotten.
// CHECK: @tgt_sum_one_sided: different at output
mirage_kernel.graph @tgt_sum_one_sided(%x: tensor<4x6xf16>, %w: tensor<6x5xf16>, %v: tensor<6x5xf16>) -> tensor<4x5xf16> attributes {source = @src_sum} {
  %a = matmul %x, %w : tensor<4x6xf16>, tensor<6x5xf16>
  %y = add %a, %a : tensor<4x5xf16>, tensor<4x5xf16>
  return %y : tensor<4x5xf16>
}

// w * v instead of w + v.
// CHECK: @tgt_sum_elementwise: different at output
mirage_kernel.graph @tgt_sum_elementwise(%x: tensor<4x6xf16>, %w: tensor<6x5xf16>, %v: tensor<6x5xf16>) -> tensor<4x5xf16> attributes {source = @src_sum} {
  %s = mul %w, %v : tensor<6x5xf16>, tensor<6x5xf16>
  %y = matmul %x, %s : tensor<4x6xf16>, tensor<6x5xf16>
  return %y : tensor<4x5xf16>
}

mirage_kernel.graph @src_sub(%x: tensor<4x6xf16>, %w: tensor<6x5xf16>, %v: tensor<6x5xf16>) -> tensor<4x5xf16> {
  %a = matmul %x, %w : tensor<4x6xf16>, tensor<6x5xf16>
  %b = matmul %x, %v : tensor<4x6xf16>, tensor<6x5xf16>
  %y = sub %a, %b : tensor<4x5xf16>, tensor<4x5xf16>
  return %y : tensor<4x5xf16>
}

// x w - x v = x (w - v).
// CHECK: @tgt_sub_factored: equivalent to @src_sub;
mirage_kernel.graph @tgt_sub_factored(%x: tensor<4x6xf16>, %w: tensor<6x5xf16>, %v: tensor<6x5xf16>) -> tensor<4x5xf16> attributes {source = @src_sub} {
  %s = sub %w, %v : tensor<6x5xf16>, tensor<6x5xf16>
  %y = matmul %x, %s : tensor<4x6xf16>, tensor<6x5xf16>
  return %y : tensor<4x5xf16>
}

// x w + (-x) v.
// CHECK: @tgt_sub_negated: equivalent to @src_sub;
mirage_kernel.graph @tgt_sub_negated(%x: tensor<4x6xf16>, %w: tensor<6x5xf16>, %v: tensor<6x5xf16>) -> tensor<4x5xf16> attributes {source = @src_sub} {
  %n = neg %x : tensor<4x6xf16>
  %a = matmul %x, %w : tensor<4x6xf16>, tensor<6x5xf16>
  %b = matmul %n, %v : tensor<4x6xf16>, tensor<6x5xf16>
  %y = add %a, %b : tensor<4x5xf16>, tensor<4x5xf16>
  return %y : tensor<4x5xf16>
}

// Operands of sub change places.
// CHECK: @tgt_sub_swapped: different at output
mirage_kernel.graph @tgt_sub_swapped(%x: tensor<4x6xf16>, %w: tensor<6x5xf16>, %v: tensor<6x5xf16>) -> tensor<4x5xf16> attributes {source = @src_sub} {
  %a = matmul %x, %w : tensor<4x6xf16>, tensor<6x5xf16>
  %b = matmul %x, %v : tensor<4x6xf16>, tensor<6x5xf16>
  %y = sub %b, %a : tensor<4x5xf16>, tensor<4x5xf16>
  return %y : tensor<4x5xf16>
}

// The same, factored.
// CHECK: @tgt_sub_swapped_inside: different at output
mirage_kernel.graph @tgt_sub_swapped_inside(%x: tensor<4x6xf16>, %w: tensor<6x5xf16>, %v: tensor<6x5xf16>) -> tensor<4x5xf16> attributes {source = @src_sub} {
  %s = sub %v, %w : tensor<6x5xf16>, tensor<6x5xf16>
  %y = matmul %x, %s : tensor<4x6xf16>, tensor<6x5xf16>
  return %y : tensor<4x5xf16>
}

mirage_kernel.graph @src_batch(%x: tensor<2x4x6xf16>, %w: tensor<2x6x5xf16>) -> tensor<2x4x5xf16> {
  %y = matmul %x, %w : tensor<2x4x6xf16>, tensor<2x6x5xf16>
  return %y : tensor<2x4x5xf16>
}

// Batches are blocks.
// CHECK: @tgt_batch_grid: equivalent to @src_batch;
mirage_kernel.graph @tgt_batch_grid(%x: tensor<2x4x6xf16>, %w: tensor<2x6x5xf16>) -> tensor<2x4x5xf16> attributes {source = @src_batch} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2] : (tensor<2x4x6xf16>, tensor<2x6x5xf16>) -> tensor<2x4x5xf16> {
    %xt = load %xk {grid = [0]} : tensor<2x4x6xf16> -> !mirage_block.tile<1x4x6xf16>
    %wt = load %wk {grid = [0]} : tensor<2x6x5xf16> -> !mirage_block.tile<1x6x5xf16>
    %p = matmul %xt, %wt : !mirage_block.tile<1x4x6xf16>, !mirage_block.tile<1x6x5xf16>
    store %p, %yk {grid = [0]} : !mirage_block.tile<1x4x5xf32>, tensor<2x4x5xf16>
  }
  return %y : tensor<2x4x5xf16>
}

// Through transposes of the last two dimensions.
// CHECK: @tgt_batch_transposed: equivalent to @src_batch;
mirage_kernel.graph @tgt_batch_transposed(%x: tensor<2x4x6xf16>, %w: tensor<2x6x5xf16>) -> tensor<2x4x5xf16> attributes {source = @src_batch} {
  %t = transpose %w {perm = [0, 2, 1]} : tensor<2x6x5xf16>
  %y = matmul %x, %t {transpose_b} : tensor<2x4x6xf16>, tensor<2x5x6xf16>
  return %y : tensor<2x4x5xf16>
}

// Batch by batch.
// CHECK: @tgt_batch_sliced: equivalent to @src_batch;
mirage_kernel.graph @tgt_batch_sliced(%x: tensor<2x4x6xf16>, %w: tensor<2x6x5xf16>) -> tensor<2x4x5xf16> attributes {source = @src_batch} {
  %x0 = slice %x {dim = 0, begin = 0, end = 1} : tensor<2x4x6xf16>
  %x1 = slice %x {dim = 0, begin = 1, end = 2} : tensor<2x4x6xf16>
  %w0 = slice %w {dim = 0, begin = 0, end = 1} : tensor<2x6x5xf16>
  %w1 = slice %w {dim = 0, begin = 1, end = 2} : tensor<2x6x5xf16>
  %a = matmul %x0, %w0 : tensor<1x4x6xf16>, tensor<1x6x5xf16>
  %b = matmul %x1, %w1 : tensor<1x4x6xf16>, tensor<1x6x5xf16>
  %y = concat %a, %b {dim = 0} : tensor<1x4x5xf16>, tensor<1x4x5xf16>
  return %y : tensor<2x4x5xf16>
}

// Both batches use the first weight.
// CHECK: @tgt_batch_shared: different at output
mirage_kernel.graph @tgt_batch_shared(%x: tensor<2x4x6xf16>, %w: tensor<2x6x5xf16>) -> tensor<2x4x5xf16> attributes {source = @src_batch} {
  %w0 = slice %w {dim = 0, begin = 0, end = 1} : tensor<2x6x5xf16>
  %y = matmul %x, %w0 : tensor<2x4x6xf16>, tensor<1x6x5xf16>
  return %y : tensor<2x4x5xf16>
}

// The batches change places on the way out.
// CHECK: @tgt_batch_crossed: different at output
mirage_kernel.graph @tgt_batch_crossed(%x: tensor<2x4x6xf16>, %w: tensor<2x6x5xf16>) -> tensor<2x4x5xf16> attributes {source = @src_batch} {
  %x0 = slice %x {dim = 0, begin = 0, end = 1} : tensor<2x4x6xf16>
  %x1 = slice %x {dim = 0, begin = 1, end = 2} : tensor<2x4x6xf16>
  %w0 = slice %w {dim = 0, begin = 0, end = 1} : tensor<2x6x5xf16>
  %w1 = slice %w {dim = 0, begin = 1, end = 2} : tensor<2x6x5xf16>
  %a = matmul %x0, %w0 : tensor<1x4x6xf16>, tensor<1x6x5xf16>
  %b = matmul %x1, %w1 : tensor<1x4x6xf16>, tensor<1x6x5xf16>
  %y = concat %b, %a {dim = 0} : tensor<1x4x5xf16>, tensor<1x4x5xf16>
  return %y : tensor<2x4x5xf16>
}

// The weights of the batches are added first.
// CHECK: @tgt_batch_mixed: different at output
mirage_kernel.graph @tgt_batch_mixed(%x: tensor<2x4x6xf16>, %w: tensor<2x6x5xf16>) -> tensor<2x4x5xf16> attributes {source = @src_batch} {
  %w2 = reduce_sum %w {dim = 0} : tensor<2x6x5xf16>
  %y = matmul %x, %w2 : tensor<2x4x6xf16>, tensor<1x6x5xf16>
  return %y : tensor<2x4x5xf16>
}

mirage_kernel.graph @src_heads(%x: tensor<4x6xf16>, %w: tensor<6x8xf16>) -> tensor<2x4x4xf16> {
  %p = matmul %x, %w : tensor<4x6xf16>, tensor<6x8xf16>
  %h = reshape %p : tensor<4x8xf16> -> tensor<4x2x4xf16>
  %y = transpose %h {perm = [1, 0, 2]} : tensor<4x2x4xf16>
  return %y : tensor<2x4x4xf16>
}

// Each head has its own weight.
// CHECK: @tgt_heads_weights_first: equivalent to @src_heads;
mirage_kernel.graph @tgt_heads_weights_first(%x: tensor<4x6xf16>, %w: tensor<6x8xf16>) -> tensor<2x4x4xf16> attributes {source = @src_heads} {
  %v = reshape %w : tensor<6x8xf16> -> tensor<6x2x4xf16>
  %u = transpose %v {perm = [1, 0, 2]} : tensor<6x2x4xf16>
  %b = reshape %x : tensor<4x6xf16> -> tensor<1x4x6xf16>
  %y = matmul %b, %u : tensor<1x4x6xf16>, tensor<2x6x4xf16>
  return %y : tensor<2x4x4xf16>
}

// A block a head; the product is reshaped in the block.
// CHECK: @tgt_heads_blocks: equivalent to @src_heads;
mirage_kernel.graph @tgt_heads_blocks(%x: tensor<4x6xf16>, %w: tensor<6x8xf16>) -> tensor<2x4x4xf16> attributes {source = @src_heads} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2] : (tensor<4x6xf16>, tensor<6x8xf16>) -> tensor<2x4x4xf16> {
    %xt = load %xk : tensor<4x6xf16> -> !mirage_block.tile<4x6xf16>
    %wt = load %wk {grid = [1]} : tensor<6x8xf16> -> !mirage_block.tile<6x4xf16>
    %p = matmul %xt, %wt : !mirage_block.tile<4x6xf16>, !mirage_block.tile<6x4xf16>
    %r = reshape %p : !mirage_block.tile<4x4xf32> -> !mirage_block.tile<1x4x4xf32>
    store %r, %yk {grid = [0]} : !mirage_block.tile<1x4x4xf32>, tensor<2x4x4xf16>
  }
  return %y : tensor<2x4x4xf16>
}

// A reshape instead of the transpose.
// CHECK: @tgt_heads_no_transpose: different at output
mirage_kernel.graph @tgt_heads_no_transpose(%x: tensor<4x6xf16>, %w: tensor<6x8xf16>) -> tensor<2x4x4xf16> attributes {source = @src_heads} {
  %p = matmul %x, %w : tensor<4x6xf16>, tensor<6x8xf16>
  %y = reshape %p : tensor<4x8xf16> -> tensor<2x4x4xf16>
  return %y : tensor<2x4x4xf16>
}

// Heads interleaved: [4, 4, 2] instead of [4, 2, 4].
// CHECK: @tgt_heads_wrong_split: different at output
mirage_kernel.graph @tgt_heads_wrong_split(%x: tensor<4x6xf16>, %w: tensor<6x8xf16>) -> tensor<2x4x4xf16> attributes {source = @src_heads} {
  %p = matmul %x, %w : tensor<4x6xf16>, tensor<6x8xf16>
  %h = reshape %p : tensor<4x8xf16> -> tensor<4x4x2xf16>
  %y = transpose %h {perm = [2, 0, 1]} : tensor<4x4x2xf16>
  return %y : tensor<2x4x4xf16>
}

// Tokens and channels change places.
// CHECK: @tgt_heads_perm: different at output
mirage_kernel.graph @tgt_heads_perm(%x: tensor<4x6xf16>, %w: tensor<6x8xf16>) -> tensor<2x4x4xf16> attributes {source = @src_heads} {
  %p = matmul %x, %w : tensor<4x6xf16>, tensor<6x8xf16>
  %h = reshape %p : tensor<4x8xf16> -> tensor<4x2x4xf16>
  %y = transpose %h {perm = [1, 2, 0]} : tensor<4x2x4xf16>
  return %y : tensor<2x4x4xf16>
}
