// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// Attention: online softmax, splits of the keys with a combination, and what is easily forgotten in them.

mirage_kernel.graph @src_at(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5} : tensor<2x4xf16>, tensor<8x4xf16>, tensor<8x4xf16>
  return %y : tensor<2x4xf16>
}

// The definition.
// CHECK: @tgt_at_decomposed: equivalent to @src_at;
mirage_kernel.graph @tgt_at_decomposed(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_at} {
  %t = matmul %q, %k {transpose_b} : tensor<2x4xf16>, tensor<8x4xf16>
  %c = constant 0.5 : tensor<f16>
  %z = mul %t, %c : tensor<2x8xf16>, tensor<f16>
  %w = softmax %z {dim = 1} : tensor<2x8xf16>
  %y = matmul %w, %v : tensor<2x8xf16>, tensor<8x4xf16>
  return %y : tensor<2x4xf16>
}

// Divided after the second product; the scale goes to the queries.
// CHECK: @tgt_at_late: equivalent to @src_at;
mirage_kernel.graph @tgt_at_late(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_at} {
  %c = constant 0.5 : tensor<f16>
  %qs = mul %q, %c : tensor<2x4xf16>, tensor<f16>
  %z = matmul %qs, %k {transpose_b} : tensor<2x4xf16>, tensor<8x4xf16>
  %e = exp %z : tensor<2x8xf16>
  %s = reduce_sum %e {dim = 1} : tensor<2x8xf16>
  %p = matmul %e, %v : tensor<2x8xf16>, tensor<8x4xf16>
  %y = div %p, %s : tensor<2x4xf16>, tensor<2x1xf16>
  return %y : tensor<2x4xf16>
}

// One pass over keys and values.
// CHECK: @tgt_at_online: equivalent to @src_at;
mirage_kernel.graph @tgt_at_online(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_at} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [2] : (tensor<2x4xf16>, tensor<8x4xf16>, tensor<8x4xf16>) -> tensor<2x4xf16> {
    %none = bottom : !mirage_block.tile<1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %zeros = constant 0.0 : !mirage_block.tile<1x4xf32>
    %qt = load %qk {grid = [0]} : tensor<2x4xf16> -> !mirage_block.tile<1x4xf16>
    %c = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m, %s, %acc = loop 4 (%a = %none assign, %b = %zero rescale, %o = %zeros rescale) : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32> {
      %kt = load %kk {loop = [0]} : tensor<8x4xf16> -> !mirage_block.tile<2x4xf16>
      %vt = load %vk {loop = [0]} : tensor<8x4xf16> -> !mirage_block.tile<2x4xf16>
      %d0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x4xf16>, !mirage_block.tile<2x4xf16>
      %z = mul %d0, %c : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %t = reduce_max %z {dim = 1} : !mirage_block.tile<1x2xf32>
      %n = max %a, %t : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %d = sub %z, %n : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %e = exp %d : !mirage_block.tile<1x2xf32>
      %u = reduce_sum %e {dim = 1} : !mirage_block.tile<1x2xf32>
      %ph = cast %e : !mirage_block.tile<1x2xf32> -> !mirage_block.tile<1x2xf16>
      %w = matmul %ph, %vt : !mirage_block.tile<1x2xf16>, !mirage_block.tile<2x4xf16>
      %g = sub %a, %n : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %f = exp %g : !mirage_block.tile<1x1xf32>
      yield %n, %u, %w rescale %f, %f : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    }
    %r = div %acc, %s : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
    store %r, %yk {grid = [0]} : !mirage_block.tile<1x4xf32>, tensor<2x4xf16>
  }
  return %y : tensor<2x4xf16>
}

// The sum of weights as a product with ones.
// CHECK: @tgt_at_ones: equivalent to @src_at;
mirage_kernel.graph @tgt_at_ones(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_at} {
  %t = matmul %q, %k {transpose_b} : tensor<2x4xf16>, tensor<8x4xf16>
  %c = constant 0.5 : tensor<f16>
  %z = mul %t, %c : tensor<2x8xf16>, tensor<f16>
  %e = exp %z : tensor<2x8xf16>
  %ones = constant 1.0 : tensor<8x1xf16>
  %s = matmul %e, %ones : tensor<2x8xf16>, tensor<8x1xf16>
  %p = matmul %e, %v : tensor<2x8xf16>, tensor<8x4xf16>
  %y = div %p, %s : tensor<2x4xf16>, tensor<2x1xf16>
  return %y : tensor<2x4xf16>
}

// Two blocks share the keys; a second kernel combines: partial outputs, sums and maxima.
// CHECK: @tgt_at_split: equivalent to @src_at;
mirage_kernel.graph @tgt_at_split(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_at} {
  %o, %s, %m = custom (%qk = %q, %kk = %k, %vk = %v) outs(%ok, %sk, %mk) grid [2] : (tensor<2x4xf16>, tensor<8x4xf16>, tensor<8x4xf16>) -> (tensor<2x2x4xf16>, tensor<2x2x1xf16>, tensor<2x2x1xf16>) {
    %qt = load %qk : tensor<2x4xf16> -> !mirage_block.tile<2x4xf16>
    %kt = load %kk {grid = [0]} : tensor<8x4xf16> -> !mirage_block.tile<4x4xf16>
    %vt = load %vk {grid = [0]} : tensor<8x4xf16> -> !mirage_block.tile<4x4xf16>
    %d0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<2x4xf16>, !mirage_block.tile<4x4xf16>
    %c = constant 0.5 : !mirage_block.tile<1x1xf32>
    %z = mul %d0, %c : !mirage_block.tile<2x4xf32>, !mirage_block.tile<1x1xf32>
    %t = reduce_max %z {dim = 1} : !mirage_block.tile<2x4xf32>
    %d = sub %z, %t : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    %e = exp %d : !mirage_block.tile<2x4xf32>
    %u = reduce_sum %e {dim = 1} : !mirage_block.tile<2x4xf32>
    %ph = cast %e : !mirage_block.tile<2x4xf32> -> !mirage_block.tile<2x4xf16>
    %w = matmul %ph, %vt : !mirage_block.tile<2x4xf16>, !mirage_block.tile<4x4xf16>
    %w3 = reshape %w : !mirage_block.tile<2x4xf32> -> !mirage_block.tile<1x2x4xf32>
    %u3 = reshape %u : !mirage_block.tile<2x1xf32> -> !mirage_block.tile<1x2x1xf32>
    %t3 = reshape %t : !mirage_block.tile<2x1xf32> -> !mirage_block.tile<1x2x1xf32>
    store %w3, %ok {grid = [0]} : !mirage_block.tile<1x2x4xf32>, tensor<2x2x4xf16>
    store %u3, %sk {grid = [0]} : !mirage_block.tile<1x2x1xf32>, tensor<2x2x1xf16>
    store %t3, %mk {grid = [0]} : !mirage_block.tile<1x2x1xf32>, tensor<2x2x1xf16>
  }
  %top = reduce_max %m {dim = 0} : tensor<2x2x1xf16>
  %g = sub %m, %top : tensor<2x2x1xf16>, tensor<1x2x1xf16>
  %f = exp %g : tensor<2x2x1xf16>
  %so = mul %o, %f : tensor<2x2x4xf16>, tensor<2x2x1xf16>
  %ss = mul %s, %f : tensor<2x2x1xf16>, tensor<2x2x1xf16>
  %num = reduce_sum %so {dim = 0} : tensor<2x2x4xf16>
  %den = reduce_sum %ss {dim = 0} : tensor<2x2x1xf16>
  %r = div %num, %den : tensor<1x2x4xf16>, tensor<1x2x1xf16>
  %y = reshape %r : tensor<1x2x4xf16> -> tensor<2x4xf16>
  return %y : tensor<2x4xf16>
}

// The same, but the partial results are added as they are.
// CHECK: @tgt_at_split_not_rescaled: different at output
mirage_kernel.graph @tgt_at_split_not_rescaled(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_at} {
  %o, %s = custom (%qk = %q, %kk = %k, %vk = %v) outs(%ok, %sk) grid [2] : (tensor<2x4xf16>, tensor<8x4xf16>, tensor<8x4xf16>) -> (tensor<2x2x4xf16>, tensor<2x2x1xf16>) {
    %qt = load %qk : tensor<2x4xf16> -> !mirage_block.tile<2x4xf16>
    %kt = load %kk {grid = [0]} : tensor<8x4xf16> -> !mirage_block.tile<4x4xf16>
    %vt = load %vk {grid = [0]} : tensor<8x4xf16> -> !mirage_block.tile<4x4xf16>
    %d0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<2x4xf16>, !mirage_block.tile<4x4xf16>
    %c = constant 0.5 : !mirage_block.tile<1x1xf32>
    %z = mul %d0, %c : !mirage_block.tile<2x4xf32>, !mirage_block.tile<1x1xf32>
    %t = reduce_max %z {dim = 1} : !mirage_block.tile<2x4xf32>
    %d = sub %z, %t : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    %e = exp %d : !mirage_block.tile<2x4xf32>
    %u = reduce_sum %e {dim = 1} : !mirage_block.tile<2x4xf32>
    %ph = cast %e : !mirage_block.tile<2x4xf32> -> !mirage_block.tile<2x4xf16>
    %w = matmul %ph, %vt : !mirage_block.tile<2x4xf16>, !mirage_block.tile<4x4xf16>
    %w3 = reshape %w : !mirage_block.tile<2x4xf32> -> !mirage_block.tile<1x2x4xf32>
    %u3 = reshape %u : !mirage_block.tile<2x1xf32> -> !mirage_block.tile<1x2x1xf32>
    store %w3, %ok {grid = [0]} : !mirage_block.tile<1x2x4xf32>, tensor<2x2x4xf16>
    store %u3, %sk {grid = [0]} : !mirage_block.tile<1x2x1xf32>, tensor<2x2x1xf16>
  }
  %num = reduce_sum %o {dim = 0} : tensor<2x2x4xf16>
  %den = reduce_sum %s {dim = 0} : tensor<2x2x1xf16>
  %r = div %num, %den : tensor<1x2x4xf16>, tensor<1x2x1xf16>
  %y = reshape %r : tensor<1x2x4xf16> -> tensor<2x4xf16>
  return %y : tensor<2x4xf16>
}

// Each split is normalised, then they are averaged.
// CHECK: @tgt_at_split_averaged: different at output
mirage_kernel.graph @tgt_at_split_averaged(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_at} {
  %o = custom (%qk = %q, %kk = %k, %vk = %v) outs(%ok) grid [2] : (tensor<2x4xf16>, tensor<8x4xf16>, tensor<8x4xf16>) -> tensor<2x2x4xf16> {
    %qt = load %qk : tensor<2x4xf16> -> !mirage_block.tile<2x4xf16>
    %kt = load %kk {grid = [0]} : tensor<8x4xf16> -> !mirage_block.tile<4x4xf16>
    %vt = load %vk {grid = [0]} : tensor<8x4xf16> -> !mirage_block.tile<4x4xf16>
    %d0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<2x4xf16>, !mirage_block.tile<4x4xf16>
    %c = constant 0.5 : !mirage_block.tile<1x1xf32>
    %z = mul %d0, %c : !mirage_block.tile<2x4xf32>, !mirage_block.tile<1x1xf32>
    %e = exp %z : !mirage_block.tile<2x4xf32>
    %u = reduce_sum %e {dim = 1} : !mirage_block.tile<2x4xf32>
    %ph = cast %e : !mirage_block.tile<2x4xf32> -> !mirage_block.tile<2x4xf16>
    %w = matmul %ph, %vt : !mirage_block.tile<2x4xf16>, !mirage_block.tile<4x4xf16>
    %n = div %w, %u : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    %w3 = reshape %n : !mirage_block.tile<2x4xf32> -> !mirage_block.tile<1x2x4xf32>
    store %w3, %ok {grid = [0]} : !mirage_block.tile<1x2x4xf32>, tensor<2x2x4xf16>
  }
  %num = reduce_mean %o {dim = 0} : tensor<2x2x4xf16>
  %y = reshape %num : tensor<1x2x4xf16> -> tensor<2x4xf16>
  return %y : tensor<2x4xf16>
}

// The scale is forgotten.
// CHECK: @tgt_at_scale: different at output
mirage_kernel.graph @tgt_at_scale(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_at} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [2] : (tensor<2x4xf16>, tensor<8x4xf16>, tensor<8x4xf16>) -> tensor<2x4xf16> {
    %none = bottom : !mirage_block.tile<1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %zeros = constant 0.0 : !mirage_block.tile<1x4xf32>
    %qt = load %qk {grid = [0]} : tensor<2x4xf16> -> !mirage_block.tile<1x4xf16>
    %c = constant 1.0 : !mirage_block.tile<1x1xf32>
    %m, %s, %acc = loop 4 (%a = %none assign, %b = %zero rescale, %o = %zeros rescale) : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32> {
      %kt = load %kk {loop = [0]} : tensor<8x4xf16> -> !mirage_block.tile<2x4xf16>
      %vt = load %vk {loop = [0]} : tensor<8x4xf16> -> !mirage_block.tile<2x4xf16>
      %d0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x4xf16>, !mirage_block.tile<2x4xf16>
      %z = mul %d0, %c : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %t = reduce_max %z {dim = 1} : !mirage_block.tile<1x2xf32>
      %n = max %a, %t : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %d = sub %z, %n : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %e = exp %d : !mirage_block.tile<1x2xf32>
      %u = reduce_sum %e {dim = 1} : !mirage_block.tile<1x2xf32>
      %ph = cast %e : !mirage_block.tile<1x2xf32> -> !mirage_block.tile<1x2xf16>
      %w = matmul %ph, %vt : !mirage_block.tile<1x2xf16>, !mirage_block.tile<2x4xf16>
      %g = sub %a, %n : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %f = exp %g : !mirage_block.tile<1x1xf32>
      yield %n, %u, %w rescale %f, %f : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    }
    %r = div %acc, %s : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
    store %r, %yk {grid = [0]} : !mirage_block.tile<1x4xf32>, tensor<2x4xf16>
  }
  return %y : tensor<2x4xf16>
}

// The scale is applied twice.
// CHECK: @tgt_at_scale_twice: different at output
mirage_kernel.graph @tgt_at_scale_twice(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_at} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [2] : (tensor<2x4xf16>, tensor<8x4xf16>, tensor<8x4xf16>) -> tensor<2x4xf16> {
    %none = bottom : !mirage_block.tile<1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %zeros = constant 0.0 : !mirage_block.tile<1x4xf32>
    %qt = load %qk {grid = [0]} : tensor<2x4xf16> -> !mirage_block.tile<1x4xf16>
    %c = constant 0.25 : !mirage_block.tile<1x1xf32>
    %m, %s, %acc = loop 4 (%a = %none assign, %b = %zero rescale, %o = %zeros rescale) : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32> {
      %kt = load %kk {loop = [0]} : tensor<8x4xf16> -> !mirage_block.tile<2x4xf16>
      %vt = load %vk {loop = [0]} : tensor<8x4xf16> -> !mirage_block.tile<2x4xf16>
      %d0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x4xf16>, !mirage_block.tile<2x4xf16>
      %z = mul %d0, %c : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %t = reduce_max %z {dim = 1} : !mirage_block.tile<1x2xf32>
      %n = max %a, %t : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %d = sub %z, %n : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %e = exp %d : !mirage_block.tile<1x2xf32>
      %u = reduce_sum %e {dim = 1} : !mirage_block.tile<1x2xf32>
      %ph = cast %e : !mirage_block.tile<1x2xf32> -> !mirage_block.tile<1x2xf16>
      %w = matmul %ph, %vt : !mirage_block.tile<1x2xf16>, !mirage_block.tile<2x4xf16>
      %g = sub %a, %n : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %f = exp %g : !mirage_block.tile<1x1xf32>
      yield %n, %u, %w rescale %f, %f : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    }
    %r = div %acc, %s : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
    store %r, %yk {grid = [0]} : !mirage_block.tile<1x4xf32>, tensor<2x4xf16>
  }
  return %y : tensor<2x4xf16>
}

// The accumulator is not rescaled.
// CHECK: @tgt_at_accumulator: different at output
mirage_kernel.graph @tgt_at_accumulator(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_at} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [2] : (tensor<2x4xf16>, tensor<8x4xf16>, tensor<8x4xf16>) -> tensor<2x4xf16> {
    %none = bottom : !mirage_block.tile<1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %zeros = constant 0.0 : !mirage_block.tile<1x4xf32>
    %qt = load %qk {grid = [0]} : tensor<2x4xf16> -> !mirage_block.tile<1x4xf16>
    %c = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m, %s, %acc = loop 4 (%a = %none assign, %b = %zero rescale, %o = %zeros sum) : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32> {
      %kt = load %kk {loop = [0]} : tensor<8x4xf16> -> !mirage_block.tile<2x4xf16>
      %vt = load %vk {loop = [0]} : tensor<8x4xf16> -> !mirage_block.tile<2x4xf16>
      %d0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x4xf16>, !mirage_block.tile<2x4xf16>
      %z = mul %d0, %c : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %t = reduce_max %z {dim = 1} : !mirage_block.tile<1x2xf32>
      %n = max %a, %t : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %d = sub %z, %n : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %e = exp %d : !mirage_block.tile<1x2xf32>
      %u = reduce_sum %e {dim = 1} : !mirage_block.tile<1x2xf32>
      %ph = cast %e : !mirage_block.tile<1x2xf32> -> !mirage_block.tile<1x2xf16>
      %w = matmul %ph, %vt : !mirage_block.tile<1x2xf16>, !mirage_block.tile<2x4xf16>
      %g = sub %a, %n : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %f = exp %g : !mirage_block.tile<1x1xf32>
      yield %n, %u, %w rescale %f : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
    }
    %r = div %acc, %s : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
    store %r, %yk {grid = [0]} : !mirage_block.tile<1x4xf32>, tensor<2x4xf16>
  }
  return %y : tensor<2x4xf16>
}

// The sum is not rescaled.
// CHECK: @tgt_at_sum: different at output
mirage_kernel.graph @tgt_at_sum(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_at} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [2] : (tensor<2x4xf16>, tensor<8x4xf16>, tensor<8x4xf16>) -> tensor<2x4xf16> {
    %none = bottom : !mirage_block.tile<1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %zeros = constant 0.0 : !mirage_block.tile<1x4xf32>
    %qt = load %qk {grid = [0]} : tensor<2x4xf16> -> !mirage_block.tile<1x4xf16>
    %c = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m, %s, %acc = loop 4 (%a = %none assign, %b = %zero sum, %o = %zeros rescale) : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32> {
      %kt = load %kk {loop = [0]} : tensor<8x4xf16> -> !mirage_block.tile<2x4xf16>
      %vt = load %vk {loop = [0]} : tensor<8x4xf16> -> !mirage_block.tile<2x4xf16>
      %d0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x4xf16>, !mirage_block.tile<2x4xf16>
      %z = mul %d0, %c : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %t = reduce_max %z {dim = 1} : !mirage_block.tile<1x2xf32>
      %n = max %a, %t : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %d = sub %z, %n : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %e = exp %d : !mirage_block.tile<1x2xf32>
      %u = reduce_sum %e {dim = 1} : !mirage_block.tile<1x2xf32>
      %ph = cast %e : !mirage_block.tile<1x2xf32> -> !mirage_block.tile<1x2xf16>
      %w = matmul %ph, %vt : !mirage_block.tile<1x2xf16>, !mirage_block.tile<2x4xf16>
      %g = sub %a, %n : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %f = exp %g : !mirage_block.tile<1x1xf32>
      yield %n, %u, %w rescale %f : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
    }
    %r = div %acc, %s : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
    store %r, %yk {grid = [0]} : !mirage_block.tile<1x4xf32>, tensor<2x4xf16>
  }
  return %y : tensor<2x4xf16>
}

// Values are not rescaled and the sum is not either, but the maximum runs.
// CHECK: @tgt_at_max_only_sum: different at output
mirage_kernel.graph @tgt_at_max_only_sum(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_at} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [2] : (tensor<2x4xf16>, tensor<8x4xf16>, tensor<8x4xf16>) -> tensor<2x4xf16> {
    %none = bottom : !mirage_block.tile<1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %zeros = constant 0.0 : !mirage_block.tile<1x4xf32>
    %qt = load %qk {grid = [0]} : tensor<2x4xf16> -> !mirage_block.tile<1x4xf16>
    %c = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m, %s, %acc = loop 4 (%a = %none assign, %b = %zero sum, %o = %zeros sum) : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32> {
      %kt = load %kk {loop = [0]} : tensor<8x4xf16> -> !mirage_block.tile<2x4xf16>
      %vt = load %vk {loop = [0]} : tensor<8x4xf16> -> !mirage_block.tile<2x4xf16>
      %d0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x4xf16>, !mirage_block.tile<2x4xf16>
      %z = mul %d0, %c : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %t = reduce_max %z {dim = 1} : !mirage_block.tile<1x2xf32>
      %n = max %a, %t : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %d = sub %z, %n : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %e = exp %d : !mirage_block.tile<1x2xf32>
      %u = reduce_sum %e {dim = 1} : !mirage_block.tile<1x2xf32>
      %ph = cast %e : !mirage_block.tile<1x2xf32> -> !mirage_block.tile<1x2xf16>
      %w = matmul %ph, %vt : !mirage_block.tile<1x2xf16>, !mirage_block.tile<2x4xf16>
      %g = sub %a, %n : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %f = exp %g : !mirage_block.tile<1x1xf32>
      yield %n, %u, %w : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32>
    }
    %r = div %acc, %s : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
    store %r, %yk {grid = [0]} : !mirage_block.tile<1x4xf32>, tensor<2x4xf16>
  }
  return %y : tensor<2x4xf16>
}

// Keys advance, values do not: the loop reads the first values only.
// CHECK: @tgt_at_values_stay: different at output
mirage_kernel.graph @tgt_at_values_stay(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_at} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [2] : (tensor<2x4xf16>, tensor<8x4xf16>, tensor<8x4xf16>) -> tensor<2x4xf16> {
    %none = bottom : !mirage_block.tile<1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %zeros = constant 0.0 : !mirage_block.tile<1x4xf32>
    %qt = load %qk {grid = [0]} : tensor<2x4xf16> -> !mirage_block.tile<1x4xf16>
    %c = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m, %s, %acc = loop 4 (%a = %none assign, %b = %zero rescale, %o = %zeros rescale) : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32> {
      %kt = load %kk {loop = [0]} : tensor<8x4xf16> -> !mirage_block.tile<2x4xf16>
      %va = load %vk : tensor<8x4xf16> -> !mirage_block.tile<8x4xf16>
      %vt = slice %va {dim = 0, begin = 0, end = 2} : !mirage_block.tile<8x4xf16>
      %d0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x4xf16>, !mirage_block.tile<2x4xf16>
      %z = mul %d0, %c : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %t = reduce_max %z {dim = 1} : !mirage_block.tile<1x2xf32>
      %n = max %a, %t : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %d = sub %z, %n : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %e = exp %d : !mirage_block.tile<1x2xf32>
      %u = reduce_sum %e {dim = 1} : !mirage_block.tile<1x2xf32>
      %ph = cast %e : !mirage_block.tile<1x2xf32> -> !mirage_block.tile<1x2xf16>
      %w = matmul %ph, %vt : !mirage_block.tile<1x2xf16>, !mirage_block.tile<2x4xf16>
      %g = sub %a, %n : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %f = exp %g : !mirage_block.tile<1x1xf32>
      yield %n, %u, %w rescale %f, %f : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    }
    %r = div %acc, %s : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
    store %r, %yk {grid = [0]} : !mirage_block.tile<1x4xf32>, tensor<2x4xf16>
  }
  return %y : tensor<2x4xf16>
}

// The division is forgotten.
// CHECK: @tgt_at_unnormalised: different at output
mirage_kernel.graph @tgt_at_unnormalised(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_at} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [2] : (tensor<2x4xf16>, tensor<8x4xf16>, tensor<8x4xf16>) -> tensor<2x4xf16> {
    %none = bottom : !mirage_block.tile<1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %zeros = constant 0.0 : !mirage_block.tile<1x4xf32>
    %qt = load %qk {grid = [0]} : tensor<2x4xf16> -> !mirage_block.tile<1x4xf16>
    %c = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m, %s, %acc = loop 4 (%a = %none assign, %b = %zero rescale, %o = %zeros rescale) : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32> {
      %kt = load %kk {loop = [0]} : tensor<8x4xf16> -> !mirage_block.tile<2x4xf16>
      %vt = load %vk {loop = [0]} : tensor<8x4xf16> -> !mirage_block.tile<2x4xf16>
      %d0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x4xf16>, !mirage_block.tile<2x4xf16>
      %z = mul %d0, %c : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %t = reduce_max %z {dim = 1} : !mirage_block.tile<1x2xf32>
      %n = max %a, %t : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %d = sub %z, %n : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %e = exp %d : !mirage_block.tile<1x2xf32>
      %u = reduce_sum %e {dim = 1} : !mirage_block.tile<1x2xf32>
      %ph = cast %e : !mirage_block.tile<1x2xf32> -> !mirage_block.tile<1x2xf16>
      %w = matmul %ph, %vt : !mirage_block.tile<1x2xf16>, !mirage_block.tile<2x4xf16>
      %g = sub %a, %n : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %f = exp %g : !mirage_block.tile<1x1xf32>
      yield %n, %u, %w rescale %f, %f : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    }
    %r = add %acc, %zeros : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x4xf32>
    store %r, %yk {grid = [0]} : !mirage_block.tile<1x4xf32>, tensor<2x4xf16>
  }
  return %y : tensor<2x4xf16>
}

// Divided by the maximum.
// CHECK: @tgt_at_norm_by_max: different at output
mirage_kernel.graph @tgt_at_norm_by_max(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_at} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [2] : (tensor<2x4xf16>, tensor<8x4xf16>, tensor<8x4xf16>) -> tensor<2x4xf16> {
    %none = bottom : !mirage_block.tile<1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %zeros = constant 0.0 : !mirage_block.tile<1x4xf32>
    %qt = load %qk {grid = [0]} : tensor<2x4xf16> -> !mirage_block.tile<1x4xf16>
    %c = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m, %s, %acc = loop 4 (%a = %none assign, %b = %zero rescale, %o = %zeros rescale) : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32> {
      %kt = load %kk {loop = [0]} : tensor<8x4xf16> -> !mirage_block.tile<2x4xf16>
      %vt = load %vk {loop = [0]} : tensor<8x4xf16> -> !mirage_block.tile<2x4xf16>
      %d0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x4xf16>, !mirage_block.tile<2x4xf16>
      %z = mul %d0, %c : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %t = reduce_max %z {dim = 1} : !mirage_block.tile<1x2xf32>
      %n = max %a, %t : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %d = sub %z, %n : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %e = exp %d : !mirage_block.tile<1x2xf32>
      %u = reduce_sum %e {dim = 1} : !mirage_block.tile<1x2xf32>
      %ph = cast %e : !mirage_block.tile<1x2xf32> -> !mirage_block.tile<1x2xf16>
      %w = matmul %ph, %vt : !mirage_block.tile<1x2xf16>, !mirage_block.tile<2x4xf16>
      %g = sub %a, %n : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %f = exp %g : !mirage_block.tile<1x1xf32>
      yield %n, %u, %w rescale %f, %f : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    }
    %r = div %acc, %m : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
    store %r, %yk {grid = [0]} : !mirage_block.tile<1x4xf32>, tensor<2x4xf16>
  }
  return %y : tensor<2x4xf16>
}

// The maximum starts at 0 where the sum starts at 1.
// CHECK: @tgt_at_start: different at output
mirage_kernel.graph @tgt_at_start(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_at} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [2] : (tensor<2x4xf16>, tensor<8x4xf16>, tensor<8x4xf16>) -> tensor<2x4xf16> {
    %none = constant 0.0 : !mirage_block.tile<1x1xf32>
    %zero = constant 1.0 : !mirage_block.tile<1x1xf32>
    %zeros = constant 0.0 : !mirage_block.tile<1x4xf32>
    %qt = load %qk {grid = [0]} : tensor<2x4xf16> -> !mirage_block.tile<1x4xf16>
    %c = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m, %s, %acc = loop 4 (%a = %none assign, %b = %zero rescale, %o = %zeros rescale) : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32> {
      %kt = load %kk {loop = [0]} : tensor<8x4xf16> -> !mirage_block.tile<2x4xf16>
      %vt = load %vk {loop = [0]} : tensor<8x4xf16> -> !mirage_block.tile<2x4xf16>
      %d0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x4xf16>, !mirage_block.tile<2x4xf16>
      %z = mul %d0, %c : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %t = reduce_max %z {dim = 1} : !mirage_block.tile<1x2xf32>
      %n = max %a, %t : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %d = sub %z, %n : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %e = exp %d : !mirage_block.tile<1x2xf32>
      %u = reduce_sum %e {dim = 1} : !mirage_block.tile<1x2xf32>
      %ph = cast %e : !mirage_block.tile<1x2xf32> -> !mirage_block.tile<1x2xf16>
      %w = matmul %ph, %vt : !mirage_block.tile<1x2xf16>, !mirage_block.tile<2x4xf16>
      %g = sub %a, %n : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %f = exp %g : !mirage_block.tile<1x1xf32>
      yield %n, %u, %w rescale %f, %f : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    }
    %r = div %acc, %s : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
    store %r, %yk {grid = [0]} : !mirage_block.tile<1x4xf32>, tensor<2x4xf16>
  }
  return %y : tensor<2x4xf16>
}

// The keys are weighted instead of the values.
// CHECK: @tgt_at_keys_as_values: different at output
mirage_kernel.graph @tgt_at_keys_as_values(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_at} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [2] : (tensor<2x4xf16>, tensor<8x4xf16>, tensor<8x4xf16>) -> tensor<2x4xf16> {
    %none = bottom : !mirage_block.tile<1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %zeros = constant 0.0 : !mirage_block.tile<1x4xf32>
    %qt = load %qk {grid = [0]} : tensor<2x4xf16> -> !mirage_block.tile<1x4xf16>
    %c = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m, %s, %acc = loop 4 (%a = %none assign, %b = %zero rescale, %o = %zeros rescale) : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32> {
      %kt = load %kk {loop = [0]} : tensor<8x4xf16> -> !mirage_block.tile<2x4xf16>
      %vu = load %vk {loop = [0]} : tensor<8x4xf16> -> !mirage_block.tile<2x4xf16>
      %vt = load %kk {loop = [0]} : tensor<8x4xf16> -> !mirage_block.tile<2x4xf16>
      %d0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x4xf16>, !mirage_block.tile<2x4xf16>
      %z = mul %d0, %c : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %t = reduce_max %z {dim = 1} : !mirage_block.tile<1x2xf32>
      %n = max %a, %t : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %d = sub %z, %n : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %e = exp %d : !mirage_block.tile<1x2xf32>
      %u = reduce_sum %e {dim = 1} : !mirage_block.tile<1x2xf32>
      %ph = cast %e : !mirage_block.tile<1x2xf32> -> !mirage_block.tile<1x2xf16>
      %w = matmul %ph, %vt : !mirage_block.tile<1x2xf16>, !mirage_block.tile<2x4xf16>
      %g = sub %a, %n : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %f = exp %g : !mirage_block.tile<1x1xf32>
      yield %n, %u, %w rescale %f, %f : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    }
    %r = div %acc, %s : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
    store %r, %yk {grid = [0]} : !mirage_block.tile<1x4xf32>, tensor<2x4xf16>
  }
  return %y : tensor<2x4xf16>
}

// All blocks take the first query.
// CHECK: @tgt_at_queries: different at output
mirage_kernel.graph @tgt_at_queries(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_at} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [2] : (tensor<2x4xf16>, tensor<8x4xf16>, tensor<8x4xf16>) -> tensor<2x4xf16> {
    %none = bottom : !mirage_block.tile<1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %zeros = constant 0.0 : !mirage_block.tile<1x4xf32>
    %qa = load %qk : tensor<2x4xf16> -> !mirage_block.tile<2x4xf16>
    %qt = slice %qa {dim = 0, begin = 0, end = 1} : !mirage_block.tile<2x4xf16>
    %c = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m, %s, %acc = loop 4 (%a = %none assign, %b = %zero rescale, %o = %zeros rescale) : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32> {
      %kt = load %kk {loop = [0]} : tensor<8x4xf16> -> !mirage_block.tile<2x4xf16>
      %vt = load %vk {loop = [0]} : tensor<8x4xf16> -> !mirage_block.tile<2x4xf16>
      %d0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x4xf16>, !mirage_block.tile<2x4xf16>
      %z = mul %d0, %c : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %t = reduce_max %z {dim = 1} : !mirage_block.tile<1x2xf32>
      %n = max %a, %t : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %d = sub %z, %n : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %e = exp %d : !mirage_block.tile<1x2xf32>
      %u = reduce_sum %e {dim = 1} : !mirage_block.tile<1x2xf32>
      %ph = cast %e : !mirage_block.tile<1x2xf32> -> !mirage_block.tile<1x2xf16>
      %w = matmul %ph, %vt : !mirage_block.tile<1x2xf16>, !mirage_block.tile<2x4xf16>
      %g = sub %a, %n : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %f = exp %g : !mirage_block.tile<1x1xf32>
      yield %n, %u, %w rescale %f, %f : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    }
    %r = div %acc, %s : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
    store %r, %yk {grid = [0]} : !mirage_block.tile<1x4xf32>, tensor<2x4xf16>
  }
  return %y : tensor<2x4xf16>
}

// The transposed scores, normalised along their other axis.
// CHECK: @tgt_at_keys_first: equivalent to @src_at;
mirage_kernel.graph @tgt_at_keys_first(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_at} {
  %t = matmul %k, %q {transpose_b} : tensor<8x4xf16>, tensor<2x4xf16>
  %c = constant 0.5 : tensor<f16>
  %z = mul %t, %c : tensor<8x2xf16>, tensor<f16>
  %w = softmax %z {dim = 0} : tensor<8x2xf16>
  %y = matmul %w, %v {transpose_a} : tensor<8x2xf16>, tensor<8x4xf16>
  return %y : tensor<2x4xf16>
}

// The same, normalised along the old one.
// CHECK: @tgt_at_keys_first_axis: different at output
mirage_kernel.graph @tgt_at_keys_first_axis(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_at} {
  %t = matmul %k, %q {transpose_b} : tensor<8x4xf16>, tensor<2x4xf16>
  %c = constant 0.5 : tensor<f16>
  %z = mul %t, %c : tensor<8x2xf16>, tensor<f16>
  %w = softmax %z {dim = 1} : tensor<8x2xf16>
  %y = matmul %w, %v {transpose_a} : tensor<8x2xf16>, tensor<8x4xf16>
  return %y : tensor<2x4xf16>
}

// Normalised over the queries.
// CHECK: @tgt_at_axis: different at output
mirage_kernel.graph @tgt_at_axis(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_at} {
  %t = matmul %q, %k {transpose_b} : tensor<2x4xf16>, tensor<8x4xf16>
  %c = constant 0.5 : tensor<f16>
  %z = mul %t, %c : tensor<2x8xf16>, tensor<f16>
  %w = softmax %z {dim = 0} : tensor<2x8xf16>
  %y = matmul %w, %v : tensor<2x8xf16>, tensor<8x4xf16>
  return %y : tensor<2x4xf16>
}

// Without the softmax.
// CHECK: @tgt_at_no_softmax: different at output
mirage_kernel.graph @tgt_at_no_softmax(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_at} {
  %t = matmul %q, %k {transpose_b} : tensor<2x4xf16>, tensor<8x4xf16>
  %c = constant 0.5 : tensor<f16>
  %z = mul %t, %c : tensor<2x8xf16>, tensor<f16>
  %y = matmul %z, %v : tensor<2x8xf16>, tensor<8x4xf16>
  return %y : tensor<2x4xf16>
}

mirage_kernel.graph @src_qknorm(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> {
  %qn = rms_norm %q {eps = 0.0} : tensor<2x4xf16>
  %kn = rms_norm %k {eps = 0.0} : tensor<8x4xf16>
  %y = scaled_dot_product_attention %qn, %kn, %v {scale = 1.0} : tensor<2x4xf16>, tensor<8x4xf16>, tensor<8x4xf16>
  return %y : tensor<2x4xf16>
}

// Both norms divide the scores.
// CHECK: @tgt_qknorm_late_norms: equivalent to @src_qknorm;
mirage_kernel.graph @tgt_qknorm_late_norms(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_qknorm} {
  %qq = square %q : tensor<2x4xf16>
  %kq = square %k : tensor<8x4xf16>
  %qm = reduce_mean %qq {dim = 1} : tensor<2x4xf16>
  %km = reduce_mean %kq {dim = 1} : tensor<8x4xf16>
  %qr = sqrt %qm : tensor<2x1xf16>
  %kr = sqrt %km : tensor<8x1xf16>
  %kt = transpose %kr {perm = [1, 0]} : tensor<8x1xf16>
  %t = matmul %q, %k {transpose_b} : tensor<2x4xf16>, tensor<8x4xf16>
  %u = div %t, %qr : tensor<2x8xf16>, tensor<2x1xf16>
  %z = div %u, %kt : tensor<2x8xf16>, tensor<1x8xf16>
  %w = softmax %z {dim = 1} : tensor<2x8xf16>
  %y = matmul %w, %v : tensor<2x8xf16>, tensor<8x4xf16>
  return %y : tensor<2x4xf16>
}

// Without the maximum.
// CHECK: @tgt_qknorm_unsafe: equivalent to @src_qknorm;
mirage_kernel.graph @tgt_qknorm_unsafe(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_qknorm} {
  %qn = rms_norm %q {eps = 0.0} : tensor<2x4xf16>
  %kn = rms_norm %k {eps = 0.0} : tensor<8x4xf16>
  %z = matmul %qn, %kn {transpose_b} : tensor<2x4xf16>, tensor<8x4xf16>
  %e = exp %z : tensor<2x8xf16>
  %s = reduce_sum %e {dim = 1} : tensor<2x8xf16>
  %p = matmul %e, %v : tensor<2x8xf16>, tensor<8x4xf16>
  %y = div %p, %s : tensor<2x4xf16>, tensor<2x1xf16>
  return %y : tensor<2x4xf16>
}

// The keys are not normalised.
// CHECK: @tgt_qknorm_query_only: different at output
mirage_kernel.graph @tgt_qknorm_query_only(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_qknorm} {
  %qn = rms_norm %q {eps = 0.0} : tensor<2x4xf16>
  %y = scaled_dot_product_attention %qn, %k, %v {scale = 1.0} : tensor<2x4xf16>, tensor<8x4xf16>, tensor<8x4xf16>
  return %y : tensor<2x4xf16>
}

// The scores are normalised instead (what the original shipped was wrong in a similar way).
// CHECK: @tgt_qknorm_scores: different at output
mirage_kernel.graph @tgt_qknorm_scores(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_qknorm} {
  %t = matmul %q, %k {transpose_b} : tensor<2x4xf16>, tensor<8x4xf16>
  %z = rms_norm %t {eps = 0.0} : tensor<2x8xf16>
  %w = softmax %z {dim = 1} : tensor<2x8xf16>
  %y = matmul %w, %v : tensor<2x8xf16>, tensor<8x4xf16>
  return %y : tensor<2x4xf16>
}

// The norm moves behind the softmax.
// CHECK: @tgt_qknorm_output: different at output
mirage_kernel.graph @tgt_qknorm_output(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_qknorm} {
  %w = scaled_dot_product_attention %q, %k, %v {scale = 1.0} : tensor<2x4xf16>, tensor<8x4xf16>, tensor<8x4xf16>
  %qq = square %q : tensor<2x4xf16>
  %qm = reduce_mean %qq {dim = 1} : tensor<2x4xf16>
  %qr = sqrt %qm : tensor<2x1xf16>
  %y = div %w, %qr : tensor<2x4xf16>, tensor<2x1xf16>
  return %y : tensor<2x4xf16>
}

// Queries are divided by the norm of the keys.
// CHECK: @tgt_qknorm_swapped_norms: different at output
mirage_kernel.graph @tgt_qknorm_swapped_norms(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>) -> tensor<2x4xf16> attributes {source = @src_qknorm} {
  %qq = square %q : tensor<2x4xf16>
  %kq = square %k : tensor<8x4xf16>
  %qm = reduce_mean %qq {dim = 1} : tensor<2x4xf16>
  %km = reduce_mean %kq {dim = 1} : tensor<8x4xf16>
  %qr = sqrt %qm : tensor<2x1xf16>
  %kr = sqrt %km : tensor<8x1xf16>
  %k2 = slice %kr {dim = 0, begin = 0, end = 2} : tensor<8x1xf16>
  %t = matmul %q, %k {transpose_b} : tensor<2x4xf16>, tensor<8x4xf16>
  %u = div %t, %k2 : tensor<2x8xf16>, tensor<2x1xf16>
  %kt = transpose %kr {perm = [1, 0]} : tensor<8x1xf16>
  %z = div %u, %kt : tensor<2x8xf16>, tensor<1x8xf16>
  %w = softmax %z {dim = 1} : tensor<2x8xf16>
  %y = matmul %w, %v : tensor<2x8xf16>, tensor<8x4xf16>
  return %y : tensor<2x4xf16>
}
