// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// A gated linear unit: silu of one product times another.

mirage_kernel.graph @src_mlp(%x: tensor<2x8xf16>, %w: tensor<8x6xf16>, %v: tensor<8x6xf16>) -> tensor<2x6xf16> {
  %a = matmul %x, %w : tensor<2x8xf16>, tensor<8x6xf16>
  %b = matmul %x, %v : tensor<2x8xf16>, tensor<8x6xf16>
  %s = silu %a : tensor<2x6xf16>
  %y = mul %s, %b : tensor<2x6xf16>, tensor<2x6xf16>
  return %y : tensor<2x6xf16>
}

// silu(a) = a / (1 + exp(-a)).
// CHECK: @tgt_mlp_decomposed: equivalent to @src_mlp;
mirage_kernel.graph @tgt_mlp_decomposed(%x: tensor<2x8xf16>, %w: tensor<8x6xf16>, %v: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_mlp} {
  %a = matmul %x, %w : tensor<2x8xf16>, tensor<8x6xf16>
  %b = matmul %x, %v : tensor<2x8xf16>, tensor<8x6xf16>
  %n = neg %a : tensor<2x6xf16>
  %e = exp %n : tensor<2x6xf16>
  %one = constant 1.0 : tensor<f16>
  %d = add %one, %e : tensor<f16>, tensor<2x6xf16>
  %p = mul %a, %b : tensor<2x6xf16>, tensor<2x6xf16>
  %y = div %p, %d : tensor<2x6xf16>, tensor<2x6xf16>
  return %y : tensor<2x6xf16>
}

// Both products in one loop.
// CHECK: @tgt_mlp_fused: equivalent to @src_mlp;
mirage_kernel.graph @tgt_mlp_fused(%x: tensor<2x8xf16>, %w: tensor<8x6xf16>, %v: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_mlp} {
  %y = custom (%xk = %x, %wk = %w, %vk = %v) outs(%yk) grid [3] : (tensor<2x8xf16>, tensor<8x6xf16>, tensor<8x6xf16>) -> tensor<2x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x2xf32>
    %p, %q = loop 4 (%a = %zero sum, %b = %zero sum) : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x2xf32> {
      %xt = load %xk {loop = [1]} : tensor<2x8xf16> -> !mirage_block.tile<2x2xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x2xf16>
      %vt = load %vk {grid = [1], loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x2xf16>
      %s = matmul %xt, %wt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x2xf16>
      %t = matmul %xt, %vt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x2xf16>
      yield %s, %t : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x2xf32>
    }
    %g = silu %p : !mirage_block.tile<2x2xf32>
    %r = mul %g, %q : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x2xf32>
    store %r, %yk {grid = [1]} : !mirage_block.tile<2x2xf32>, tensor<2x6xf16>
  }
  return %y : tensor<2x6xf16>
}

// One product with both weights side by side.
// CHECK: @tgt_mlp_wide: equivalent to @src_mlp;
mirage_kernel.graph @tgt_mlp_wide(%x: tensor<2x8xf16>, %w: tensor<8x6xf16>, %v: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_mlp} {
  %c = concat %w, %v {dim = 1} : tensor<8x6xf16>, tensor<8x6xf16>
  %p = matmul %x, %c : tensor<2x8xf16>, tensor<8x12xf16>
  %a = slice %p {dim = 1, begin = 0, end = 6} : tensor<2x12xf16>
  %b = slice %p {dim = 1, begin = 6, end = 12} : tensor<2x12xf16>
  %g = sigmoid %a : tensor<2x6xf16>
  %h = mul %a, %g : tensor<2x6xf16>, tensor<2x6xf16>
  %y = mul %h, %b : tensor<2x6xf16>, tensor<2x6xf16>
  return %y : tensor<2x6xf16>
}

// The gate changes sides.
// CHECK: @tgt_mlp_gate: different at output
mirage_kernel.graph @tgt_mlp_gate(%x: tensor<2x8xf16>, %w: tensor<8x6xf16>, %v: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_mlp} {
  %a = matmul %x, %w : tensor<2x8xf16>, tensor<8x6xf16>
  %b = matmul %x, %v : tensor<2x8xf16>, tensor<8x6xf16>
  %s = silu %b : tensor<2x6xf16>
  %y = mul %s, %a : tensor<2x6xf16>, tensor<2x6xf16>
  return %y : tensor<2x6xf16>
}

// The weights change places in the wide product.
// CHECK: @tgt_mlp_wide_order: different at output
mirage_kernel.graph @tgt_mlp_wide_order(%x: tensor<2x8xf16>, %w: tensor<8x6xf16>, %v: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_mlp} {
  %c = concat %v, %w {dim = 1} : tensor<8x6xf16>, tensor<8x6xf16>
  %p = matmul %x, %c : tensor<2x8xf16>, tensor<8x12xf16>
  %a = slice %p {dim = 1, begin = 0, end = 6} : tensor<2x12xf16>
  %b = slice %p {dim = 1, begin = 6, end = 12} : tensor<2x12xf16>
  %g = silu %a : tensor<2x6xf16>
  %y = mul %g, %b : tensor<2x6xf16>, tensor<2x6xf16>
  return %y : tensor<2x6xf16>
}

// exp(a) instead of exp(-a).
// CHECK: @tgt_mlp_sign: different at output
mirage_kernel.graph @tgt_mlp_sign(%x: tensor<2x8xf16>, %w: tensor<8x6xf16>, %v: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_mlp} {
  %a = matmul %x, %w : tensor<2x8xf16>, tensor<8x6xf16>
  %b = matmul %x, %v : tensor<2x8xf16>, tensor<8x6xf16>
  %e = exp %a : tensor<2x6xf16>
  %one = constant 1.0 : tensor<f16>
  %d = add %one, %e : tensor<f16>, tensor<2x6xf16>
  %p = mul %a, %b : tensor<2x6xf16>, tensor<2x6xf16>
  %y = div %p, %d : tensor<2x6xf16>, tensor<2x6xf16>
  return %y : tensor<2x6xf16>
}

// sigmoid instead of silu.
// CHECK: @tgt_mlp_sigmoid: different at output
mirage_kernel.graph @tgt_mlp_sigmoid(%x: tensor<2x8xf16>, %w: tensor<8x6xf16>, %v: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_mlp} {
  %a = matmul %x, %w : tensor<2x8xf16>, tensor<8x6xf16>
  %b = matmul %x, %v : tensor<2x8xf16>, tensor<8x6xf16>
  %s = sigmoid %a : tensor<2x6xf16>
  %y = mul %s, %b : tensor<2x6xf16>, tensor<2x6xf16>
  return %y : tensor<2x6xf16>
}

// relu instead of silu.
// CHECK: @tgt_mlp_relu: different at output
mirage_kernel.graph @tgt_mlp_relu(%x: tensor<2x8xf16>, %w: tensor<8x6xf16>, %v: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_mlp} {
  %a = matmul %x, %w : tensor<2x8xf16>, tensor<8x6xf16>
  %b = matmul %x, %v : tensor<2x8xf16>, tensor<8x6xf16>
  %s = relu %a : tensor<2x6xf16>
  %y = mul %s, %b : tensor<2x6xf16>, tensor<2x6xf16>
  return %y : tensor<2x6xf16>
}

// silu of partial products, accumulated afterwards.
// CHECK: @tgt_mlp_partial: different at output
mirage_kernel.graph @tgt_mlp_partial(%x: tensor<2x8xf16>, %w: tensor<8x6xf16>, %v: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_mlp} {
  %y = custom (%xk = %x, %wk = %w, %vk = %v) outs(%yk) grid [3] : (tensor<2x8xf16>, tensor<8x6xf16>, tensor<8x6xf16>) -> tensor<2x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x2xf32>
    %p, %q = loop 4 (%a = %zero sum, %b = %zero sum) : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x2xf32> {
      %xt = load %xk {loop = [1]} : tensor<2x8xf16> -> !mirage_block.tile<2x2xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x2xf16>
      %vt = load %vk {grid = [1], loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x2xf16>
      %s = matmul %xt, %wt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x2xf16>
      %g = silu %s : !mirage_block.tile<2x2xf32>
      %t = matmul %xt, %vt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x2xf16>
      yield %g, %t : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x2xf32>
    }
    %r = mul %p, %q : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x2xf32>
    store %r, %yk {grid = [1]} : !mirage_block.tile<2x2xf32>, tensor<2x6xf16>
  }
  return %y : tensor<2x6xf16>
}

// The gated product accumulates: a sum of products for a product of sums.
// CHECK: @tgt_mlp_products: different at output
mirage_kernel.graph @tgt_mlp_products(%x: tensor<2x8xf16>, %w: tensor<8x6xf16>, %v: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_mlp} {
  %y = custom (%xk = %x, %wk = %w, %vk = %v) outs(%yk) grid [3] : (tensor<2x8xf16>, tensor<8x6xf16>, tensor<8x6xf16>) -> tensor<2x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x2xf32>
    %p = loop 4 (%a = %zero sum) : !mirage_block.tile<2x2xf32> {
      %xt = load %xk {loop = [1]} : tensor<2x8xf16> -> !mirage_block.tile<2x2xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x2xf16>
      %vt = load %vk {grid = [1], loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x2xf16>
      %s = matmul %xt, %wt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x2xf16>
      %t = matmul %xt, %vt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x2xf16>
      %g = silu %s : !mirage_block.tile<2x2xf32>
      %r = mul %g, %t : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x2xf32>
      yield %r : !mirage_block.tile<2x2xf32>
    }
    store %p, %yk {grid = [1]} : !mirage_block.tile<2x2xf32>, tensor<2x6xf16>
  }
  return %y : tensor<2x6xf16>
}

// The second factor is added.
// CHECK: @tgt_mlp_no_product: different at output
mirage_kernel.graph @tgt_mlp_no_product(%x: tensor<2x8xf16>, %w: tensor<8x6xf16>, %v: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_mlp} {
  %a = matmul %x, %w : tensor<2x8xf16>, tensor<8x6xf16>
  %b = matmul %x, %v : tensor<2x8xf16>, tensor<8x6xf16>
  %s = silu %a : tensor<2x6xf16>
  %y = add %s, %b : tensor<2x6xf16>, tensor<2x6xf16>
  return %y : tensor<2x6xf16>
}
