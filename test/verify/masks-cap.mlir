// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// Soft caps under masks: 8 tanh(s / 8), then the mask. And tiles that a mask leaves nothing of.

mirage_kernel.graph @src_capped(%q: tensor<6x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5, cap = 8.0, causal} : tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// Written out.
// CHECK: @capped_plain: equivalent to @src_capped;
mirage_kernel.graph @capped_plain(%q: tensor<6x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>) -> tensor<6x4xf32> attributes {source = @src_capped} {
  %j = iota {dim = 1} : tensor<1x6xi32>
  %i = iota {dim = 0} : tensor<6x1xi32>
  %below = less_equal %j, %i : tensor<1x6xi32>, tensor<6x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<6x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<6x6xf32>, tensor<f32>
  %in = constant 0.125 : tensor<f32>
  %a = mul %x, %in : tensor<6x6xf32>, tensor<f32>
  %b = tanh %a : tensor<6x6xf32>
  %out = constant 8.0 : tensor<f32>
  %capped = mul %b, %out : tensor<6x6xf32>, tensor<f32>
  %z = mask %below, %capped : tensor<6x6xi1>, tensor<6x6xf32>
  %m = reduce_max %z {dim = 1} : tensor<6x6xf32>
  %d = sub %z, %m : tensor<6x6xf32>, tensor<6x1xf32>
  %e = exp %d : tensor<6x6xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<6x6xf32>
  %w = div %e, %sum : tensor<6x6xf32>, tensor<6x1xf32>
  %y = matmul %w, %v : tensor<6x6xf32>, tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// What is capped needs no maximum.
// CHECK: @capped_unsafe: equivalent to @src_capped;
mirage_kernel.graph @capped_unsafe(%q: tensor<6x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>) -> tensor<6x4xf32> attributes {source = @src_capped} {
  %j = iota {dim = 1} : tensor<1x6xi32>
  %i = iota {dim = 0} : tensor<6x1xi32>
  %below = less_equal %j, %i : tensor<1x6xi32>, tensor<6x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<6x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<6x6xf32>, tensor<f32>
  %in = constant 0.125 : tensor<f32>
  %a = mul %x, %in : tensor<6x6xf32>, tensor<f32>
  %b = tanh %a : tensor<6x6xf32>
  %out = constant 8.0 : tensor<f32>
  %capped = mul %b, %out : tensor<6x6xf32>, tensor<f32>
  %z = mask %below, %capped : tensor<6x6xi1>, tensor<6x6xf32>
  %e = exp %z : tensor<6x6xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<6x6xf32>
  %w = div %e, %sum : tensor<6x6xf32>, tensor<6x1xf32>
  %y = matmul %w, %v : tensor<6x6xf32>, tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// The weights are divided before the product.
// CHECK: @capped_outer_behind: equivalent to @src_capped;
mirage_kernel.graph @capped_outer_behind(%q: tensor<6x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>) -> tensor<6x4xf32> attributes {source = @src_capped} {
  %j = iota {dim = 1} : tensor<1x6xi32>
  %i = iota {dim = 0} : tensor<6x1xi32>
  %below = less_equal %j, %i : tensor<1x6xi32>, tensor<6x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<6x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<6x6xf32>, tensor<f32>
  %in = constant 0.125 : tensor<f32>
  %a = mul %x, %in : tensor<6x6xf32>, tensor<f32>
  %b = tanh %a : tensor<6x6xf32>
  %out = constant 8.0 : tensor<f32>
  %capped = mul %b, %out : tensor<6x6xf32>, tensor<f32>
  %z = mask %below, %capped : tensor<6x6xi1>, tensor<6x6xf32>
  %e = exp %z : tensor<6x6xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<6x6xf32>
  %w = div %e, %sum : tensor<6x6xf32>, tensor<6x1xf32>
  %y = matmul %w, %v : tensor<6x6xf32>, tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// By division.
// CHECK: @capped_divided: equivalent to @src_capped;
mirage_kernel.graph @capped_divided(%q: tensor<6x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>) -> tensor<6x4xf32> attributes {source = @src_capped} {
  %j = iota {dim = 1} : tensor<1x6xi32>
  %i = iota {dim = 0} : tensor<6x1xi32>
  %below = less_equal %j, %i : tensor<1x6xi32>, tensor<6x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<6x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<6x6xf32>, tensor<f32>
  %cap = constant 8.0 : tensor<f32>
  %a = div %x, %cap : tensor<6x6xf32>, tensor<f32>
  %b = tanh %a : tensor<6x6xf32>
  %cap1 = constant 8.0 : tensor<f32>
  %capped = mul %b, %cap1 : tensor<6x6xf32>, tensor<f32>
  %z = mask %below, %capped : tensor<6x6xi1>, tensor<6x6xf32>
  %m = reduce_max %z {dim = 1} : tensor<6x6xf32>
  %d = sub %z, %m : tensor<6x6xf32>, tensor<6x1xf32>
  %e = exp %d : tensor<6x6xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<6x6xf32>
  %w = div %e, %sum : tensor<6x6xf32>, tensor<6x1xf32>
  %y = matmul %w, %v : tensor<6x6xf32>, tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// Scale and cap in one factor: 0.5 / 8.
// CHECK: @capped_scaled_once: equivalent to @src_capped;
mirage_kernel.graph @capped_scaled_once(%q: tensor<6x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>) -> tensor<6x4xf32> attributes {source = @src_capped} {
  %j = iota {dim = 1} : tensor<1x6xi32>
  %i = iota {dim = 0} : tensor<6x1xi32>
  %below = less_equal %j, %i : tensor<1x6xi32>, tensor<6x1xi32>
  %p = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<6x4xf32>
  %in = constant 0.0625 : tensor<f32>
  %a = mul %p, %in : tensor<6x6xf32>, tensor<f32>
  %b = tanh %a : tensor<6x6xf32>
  %out = constant 8.0 : tensor<f32>
  %capped = mul %b, %out : tensor<6x6xf32>, tensor<f32>
  %z = mask %below, %capped : tensor<6x6xi1>, tensor<6x6xf32>
  %m = reduce_max %z {dim = 1} : tensor<6x6xf32>
  %d = sub %z, %m : tensor<6x6xf32>, tensor<6x1xf32>
  %e = exp %d : tensor<6x6xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<6x6xf32>
  %w = div %e, %sum : tensor<6x6xf32>, tensor<6x1xf32>
  %y = matmul %w, %v : tensor<6x6xf32>, tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// In tiles.
// CHECK: @capped_online: equivalent to @src_capped;
mirage_kernel.graph @capped_online(%q: tensor<6x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>) -> tensor<6x4xf32> attributes {source = @src_capped} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [3] : (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 3 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %t = load %kk {loop = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i = iota {dim = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %in = constant 0.125 : !mirage_block.tile<1x1xf32>
      %a = mul %x, %in : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %b = tanh %a : !mirage_block.tile<2x2xf32>
      %out = constant 8.0 : !mirage_block.tile<1x1xf32>
      %capped = mul %b, %out : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %z = mask %below, %capped : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %new = max %c, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %df = sub %c, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t1 = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<6x4xf32>
  }
  return %y : tensor<6x4xf32>
}

// In larger ones.
// CHECK: @capped_online_large: equivalent to @src_capped;
mirage_kernel.graph @capped_online_large(%q: tensor<6x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>) -> tensor<6x4xf32> attributes {source = @src_capped} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [2] : (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<6x4xf32> -> !mirage_block.tile<3x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<3x4xf32>
    %none = constant 0.0 : !mirage_block.tile<3x1xf32>
    %low = bottom : !mirage_block.tile<3x1xf32>
    %top, %sum, %sum1 = loop 2 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<3x1xf32>, !mirage_block.tile<3x4xf32>, !mirage_block.tile<3x1xf32> {
      %t = load %kk {loop = [0]} : tensor<6x4xf32> -> !mirage_block.tile<3x4xf32>
      %vt = load %vk {loop = [0]} : tensor<6x4xf32> -> !mirage_block.tile<3x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<3x4xf32>, !mirage_block.tile<3x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<3x3xf32>, !mirage_block.tile<1x1xf32>
      %j = iota {dim = 1, loop = [3]} : !mirage_block.tile<1x3xi32>
      %i = iota {dim = 0, grid = [3]} : !mirage_block.tile<3x1xi32>
      %below = less_equal %j, %i : !mirage_block.tile<1x3xi32>, !mirage_block.tile<3x1xi32>
      %in = constant 0.125 : !mirage_block.tile<1x1xf32>
      %a = mul %x, %in : !mirage_block.tile<3x3xf32>, !mirage_block.tile<1x1xf32>
      %b = tanh %a : !mirage_block.tile<3x3xf32>
      %out = constant 8.0 : !mirage_block.tile<1x1xf32>
      %capped = mul %b, %out : !mirage_block.tile<3x3xf32>, !mirage_block.tile<1x1xf32>
      %z = mask %below, %capped : !mirage_block.tile<3x3xi1>, !mirage_block.tile<3x3xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<3x3xf32>
      %new = max %c, %r : !mirage_block.tile<3x1xf32>, !mirage_block.tile<3x1xf32>
      %d = sub %z, %new : !mirage_block.tile<3x3xf32>, !mirage_block.tile<3x1xf32>
      %e = exp %d : !mirage_block.tile<3x3xf32>
      %df = sub %c, %new : !mirage_block.tile<3x1xf32>, !mirage_block.tile<3x1xf32>
      %f = exp %df : !mirage_block.tile<3x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<3x3xf32>, !mirage_block.tile<3x4xf32>
      %t1 = reduce_sum %e {dim = 1} : !mirage_block.tile<3x3xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<3x1xf32>, !mirage_block.tile<3x4xf32>, !mirage_block.tile<3x1xf32>, !mirage_block.tile<3x1xf32>, !mirage_block.tile<3x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<3x4xf32>, !mirage_block.tile<3x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<3x4xf32>, tensor<6x4xf32>
  }
  return %y : tensor<6x4xf32>
}

// The cap dropped.
// CHECK: @capped_not: different
mirage_kernel.graph @capped_not(%q: tensor<6x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>) -> tensor<6x4xf32> attributes {source = @src_capped} {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5, causal} : tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// The cap after the mask: what is tanh of bottom?
// CHECK: @capped_late: unsupported: mul: no rule
mirage_kernel.graph @capped_late(%q: tensor<6x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>) -> tensor<6x4xf32> attributes {source = @src_capped} {
  %j = iota {dim = 1} : tensor<1x6xi32>
  %i = iota {dim = 0} : tensor<6x1xi32>
  %below = less_equal %j, %i : tensor<1x6xi32>, tensor<6x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<6x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<6x6xf32>, tensor<f32>
  %z = mask %below, %x : tensor<6x6xi1>, tensor<6x6xf32>
  %in = constant 0.125 : tensor<f32>
  %a = mul %z, %in : tensor<6x6xf32>, tensor<f32>
  %b = tanh %a : tensor<6x6xf32>
  %out = constant 8.0 : tensor<f32>
  %capped = mul %b, %out : tensor<6x6xf32>, tensor<f32>
  %m = reduce_max %capped {dim = 1} : tensor<6x6xf32>
  %d = sub %capped, %m : tensor<6x6xf32>, tensor<6x1xf32>
  %e = exp %d : tensor<6x6xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<6x6xf32>
  %w = div %e, %sum : tensor<6x6xf32>, tensor<6x1xf32>
  %y = matmul %w, %v : tensor<6x6xf32>, tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// After a mask of -1e4, which becomes -8.
// CHECK: @capped_late_large: different
mirage_kernel.graph @capped_late_large(%q: tensor<6x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>) -> tensor<6x4xf32> attributes {source = @src_capped} {
  %j = iota {dim = 1} : tensor<1x6xi32>
  %i = iota {dim = 0} : tensor<6x1xi32>
  %below = less_equal %j, %i : tensor<1x6xi32>, tensor<6x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<6x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<6x6xf32>, tensor<f32>
  %low = constant -10000.0 : tensor<f32>
  %z = select %below, %x, %low : tensor<6x6xi1>, tensor<6x6xf32>, tensor<f32>
  %in = constant 0.125 : tensor<f32>
  %a = mul %z, %in : tensor<6x6xf32>, tensor<f32>
  %b = tanh %a : tensor<6x6xf32>
  %out = constant 8.0 : tensor<f32>
  %capped = mul %b, %out : tensor<6x6xf32>, tensor<f32>
  %m = reduce_max %capped {dim = 1} : tensor<6x6xf32>
  %d = sub %capped, %m : tensor<6x6xf32>, tensor<6x1xf32>
  %e = exp %d : tensor<6x6xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<6x6xf32>
  %w = div %e, %sum : tensor<6x6xf32>, tensor<6x1xf32>
  %y = matmul %w, %v : tensor<6x6xf32>, tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// In tiles.
// CHECK: @capped_online_late: unsupported: mul: no rule
mirage_kernel.graph @capped_online_late(%q: tensor<6x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>) -> tensor<6x4xf32> attributes {source = @src_capped} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [3] : (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 3 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %t = load %kk {loop = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i = iota {dim = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z = mask %below, %x : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %in = constant 0.125 : !mirage_block.tile<1x1xf32>
      %a = mul %z, %in : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %b = tanh %a : !mirage_block.tile<2x2xf32>
      %out = constant 8.0 : !mirage_block.tile<1x1xf32>
      %capped = mul %b, %out : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %r = reduce_max %capped {dim = 1} : !mirage_block.tile<2x2xf32>
      %new = max %c, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %capped, %new : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %df = sub %c, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t1 = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<6x4xf32>
  }
  return %y : tensor<6x4xf32>
}

// The cap before the scale.
// CHECK: @capped_before_scale: different
mirage_kernel.graph @capped_before_scale(%q: tensor<6x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>) -> tensor<6x4xf32> attributes {source = @src_capped} {
  %j = iota {dim = 1} : tensor<1x6xi32>
  %i = iota {dim = 0} : tensor<6x1xi32>
  %below = less_equal %j, %i : tensor<1x6xi32>, tensor<6x1xi32>
  %p = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<6x4xf32>
  %in = constant 0.125 : tensor<f32>
  %a = mul %p, %in : tensor<6x6xf32>, tensor<f32>
  %b = tanh %a : tensor<6x6xf32>
  %out = constant 8.0 : tensor<f32>
  %capped = mul %b, %out : tensor<6x6xf32>, tensor<f32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %capped, %scale : tensor<6x6xf32>, tensor<f32>
  %z = mask %below, %x : tensor<6x6xi1>, tensor<6x6xf32>
  %m = reduce_max %z {dim = 1} : tensor<6x6xf32>
  %d = sub %z, %m : tensor<6x6xf32>, tensor<6x1xf32>
  %e = exp %d : tensor<6x6xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<6x6xf32>
  %w = div %e, %sum : tensor<6x6xf32>, tensor<6x1xf32>
  %y = matmul %w, %v : tensor<6x6xf32>, tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// Half the cap.
// CHECK: @capped_lower: different
mirage_kernel.graph @capped_lower(%q: tensor<6x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>) -> tensor<6x4xf32> attributes {source = @src_capped} {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5, cap = 4.0, causal} : tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// The weights capped.
// CHECK: @capped_weights: different
mirage_kernel.graph @capped_weights(%q: tensor<6x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>) -> tensor<6x4xf32> attributes {source = @src_capped} {
  %j = iota {dim = 1} : tensor<1x6xi32>
  %i = iota {dim = 0} : tensor<6x1xi32>
  %below = less_equal %j, %i : tensor<1x6xi32>, tensor<6x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<6x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<6x6xf32>, tensor<f32>
  %z = mask %below, %x : tensor<6x6xi1>, tensor<6x6xf32>
  %w = softmax %z {dim = 1} : tensor<6x6xf32>
  %in = constant 0.125 : tensor<f32>
  %a = mul %w, %in : tensor<6x6xf32>, tensor<f32>
  %b = tanh %a : tensor<6x6xf32>
  %out = constant 8.0 : tensor<f32>
  %capped = mul %b, %out : tensor<6x6xf32>, tensor<f32>
  %y = matmul %capped, %v : tensor<6x6xf32>, tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// The maximum of what is not capped, in one place of two.
// CHECK: @capped_maximum: different
mirage_kernel.graph @capped_maximum(%q: tensor<6x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>) -> tensor<6x4xf32> attributes {source = @src_capped} {
  %raw = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<6x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<6x6xf32>, tensor<f32>
  %j = iota {dim = 1} : tensor<1x6xi32>
  %i = iota {dim = 0} : tensor<6x1xi32>
  %below = less_equal %j, %i : tensor<1x6xi32>, tensor<6x1xi32>
  %z = mask %below, %x : tensor<6x6xi1>, tensor<6x6xf32>
  %in = constant 0.125 : tensor<f32>
  %a = mul %x, %in : tensor<6x6xf32>, tensor<f32>
  %b = tanh %a : tensor<6x6xf32>
  %out = constant 8.0 : tensor<f32>
  %capped = mul %b, %out : tensor<6x6xf32>, tensor<f32>
  %zc = mask %below, %capped : tensor<6x6xi1>, tensor<6x6xf32>
  %m = reduce_max %zc {dim = 1} : tensor<6x6xf32>
  %d = sub %zc, %m : tensor<6x6xf32>, tensor<6x1xf32>
  %e = exp %d : tensor<6x6xf32>
  %p = matmul %e, %v : tensor<6x6xf32>, tensor<6x4xf32>
  %m1 = reduce_max %z {dim = 1} : tensor<6x6xf32>
  %d1 = sub %z, %m1 : tensor<6x6xf32>, tensor<6x1xf32>
  %e1 = exp %d1 : tensor<6x6xf32>
  %sum = reduce_sum %e1 {dim = 1} : tensor<6x6xf32>
  %y = div %p, %sum : tensor<6x4xf32>, tensor<6x1xf32>
  return %y : tensor<6x4xf32>
}

// The mask dropped.
// CHECK: @capped_no_mask: different
mirage_kernel.graph @capped_no_mask(%q: tensor<6x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>) -> tensor<6x4xf32> attributes {source = @src_capped} {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5, cap = 8.0} : tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// < for <=.
// CHECK: @capped_strict: different
mirage_kernel.graph @capped_strict(%q: tensor<6x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>) -> tensor<6x4xf32> attributes {source = @src_capped} {
  %j = iota {dim = 1} : tensor<1x6xi32>
  %i = iota {dim = 0} : tensor<6x1xi32>
  %below = less %j, %i : tensor<1x6xi32>, tensor<6x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<6x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<6x6xf32>, tensor<f32>
  %in = constant 0.125 : tensor<f32>
  %a = mul %x, %in : tensor<6x6xf32>, tensor<f32>
  %b = tanh %a : tensor<6x6xf32>
  %out = constant 8.0 : tensor<f32>
  %capped = mul %b, %out : tensor<6x6xf32>, tensor<f32>
  %z = mask %below, %capped : tensor<6x6xi1>, tensor<6x6xf32>
  %m = reduce_max %z {dim = 1} : tensor<6x6xf32>
  %d = sub %z, %m : tensor<6x6xf32>, tensor<6x1xf32>
  %e = exp %d : tensor<6x6xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<6x6xf32>
  %w = div %e, %sum : tensor<6x6xf32>, tensor<6x1xf32>
  %y = matmul %w, %v : tensor<6x6xf32>, tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// A key too many.
// CHECK: @capped_by_one: different
mirage_kernel.graph @capped_by_one(%q: tensor<6x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>) -> tensor<6x4xf32> attributes {source = @src_capped} {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5, cap = 8.0, causal, offset = 1} : tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// In tiles, the cap dropped.
// CHECK: @capped_online_dropped: different
mirage_kernel.graph @capped_online_dropped(%q: tensor<6x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>) -> tensor<6x4xf32> attributes {source = @src_capped} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [3] : (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 3 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %t = load %kk {loop = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i = iota {dim = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z = mask %below, %x : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %new = max %c, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %df = sub %c, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t1 = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<6x4xf32>
  }
  return %y : tensor<6x4xf32>
}

// Not brought back.
// CHECK: @capped_online_once: different
mirage_kernel.graph @capped_online_once(%q: tensor<6x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>) -> tensor<6x4xf32> attributes {source = @src_capped} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [3] : (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 3 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %t = load %kk {loop = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i = iota {dim = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %in = constant 0.125 : !mirage_block.tile<1x1xf32>
      %a = mul %x, %in : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %b = tanh %a : !mirage_block.tile<2x2xf32>
      %out = constant 1.0 : !mirage_block.tile<1x1xf32>
      %capped = mul %b, %out : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %z = mask %below, %capped : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %new = max %c, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %df = sub %c, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t1 = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<6x4xf32>
  }
  return %y : tensor<6x4xf32>
}

// A key too many.
// CHECK: @capped_online_by_one: different
mirage_kernel.graph @capped_online_by_one(%q: tensor<6x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>) -> tensor<6x4xf32> attributes {source = @src_capped} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [3] : (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 3 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %t = load %kk {loop = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i = iota {dim = 0, start = 1, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %in = constant 0.125 : !mirage_block.tile<1x1xf32>
      %a = mul %x, %in : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %b = tanh %a : !mirage_block.tile<2x2xf32>
      %out = constant 8.0 : !mirage_block.tile<1x1xf32>
      %capped = mul %b, %out : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %z = mask %below, %capped : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %new = max %c, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %df = sub %c, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t1 = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<6x4xf32>
  }
  return %y : tensor<6x4xf32>
}

// Causal: a loop need not go where no key is seen.
mirage_kernel.graph @src_skipped(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5, causal} : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// The first four queries go over the first four keys alone.
// CHECK: @skipped_half: equivalent to @src_skipped;
mirage_kernel.graph @skipped_half(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {source = @src_skipped} {
  %qs = slice %q {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %ks = slice %k {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %vs = slice %v {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %y = custom (%qsk = %qs, %ksk = %ks, %vsk = %vs) outs(%o) grid [2] : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
    %qst = load %qsk {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 2 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kst = load %ksk {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %vst = load %vsk {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw = matmul %qst, %kst {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i = iota {dim = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z = mask %below, %x : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %new = max %c, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %df = sub %c, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e, %vst : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %pv, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %qs1 = slice %q {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %ks1 = slice %k {dim = 0, begin = 0, end = 8} : tensor<8x4xf32>
  %vs1 = slice %v {dim = 0, begin = 0, end = 8} : tensor<8x4xf32>
  %y1 = custom (%qs1k = %qs1, %ks1k = %ks1, %vs1k = %vs1) outs(%o1) grid [2] : (tensor<4x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32> {
    %qs1t = load %qs1k {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero1 = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none1 = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low1 = bottom : !mirage_block.tile<2x1xf32>
    %top1, %sum2, %sum3 = loop 4 (%c3 = %low1 max, %c4 = %zero1 rescale, %c5 = %none1 rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %ks1t = load %ks1k {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %vs1t = load %vs1k {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw1 = matmul %qs1t, %ks1t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale1 = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x1 = mul %raw1, %scale1 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j1 = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i1 = iota {dim = 0, start = 4, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below1 = less_equal %j1, %i1 : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z1 = mask %below1, %x1 : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r1 = reduce_max %z1 {dim = 1} : !mirage_block.tile<2x2xf32>
      %new1 = max %c3, %r1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d1 = sub %z1, %new1 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e1 = exp %d1 : !mirage_block.tile<2x2xf32>
      %df1 = sub %c3, %new1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f1 = exp %df1 : !mirage_block.tile<2x1xf32>
      %pv1 = matmul %e1, %vs1t : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t1 = reduce_sum %e1 {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r1, %pv1, %t1 rescale %f1, %f1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w1 = div %sum2, %sum3 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w1, %o1 {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %all = concat %y, %y1 {dim = 0} : tensor<4x4xf32>, tensor<4x4xf32>
  return %all : tensor<8x4xf32>
}

// Nothing left out.
// CHECK: @skipped_none: equivalent to @src_skipped;
mirage_kernel.graph @skipped_none(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {source = @src_skipped} {
  %qs = slice %q {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %ks = slice %k {dim = 0, begin = 0, end = 8} : tensor<8x4xf32>
  %vs = slice %v {dim = 0, begin = 0, end = 8} : tensor<8x4xf32>
  %y = custom (%qsk = %qs, %ksk = %ks, %vsk = %vs) outs(%o) grid [2] : (tensor<4x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32> {
    %qst = load %qsk {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 4 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kst = load %ksk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %vst = load %vsk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw = matmul %qst, %kst {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i = iota {dim = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z = mask %below, %x : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %new = max %c, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %df = sub %c, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e, %vst : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %pv, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %qs1 = slice %q {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %ks1 = slice %k {dim = 0, begin = 0, end = 8} : tensor<8x4xf32>
  %vs1 = slice %v {dim = 0, begin = 0, end = 8} : tensor<8x4xf32>
  %y1 = custom (%qs1k = %qs1, %ks1k = %ks1, %vs1k = %vs1) outs(%o1) grid [2] : (tensor<4x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32> {
    %qs1t = load %qs1k {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero1 = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none1 = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low1 = bottom : !mirage_block.tile<2x1xf32>
    %top1, %sum2, %sum3 = loop 4 (%c3 = %low1 max, %c4 = %zero1 rescale, %c5 = %none1 rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %ks1t = load %ks1k {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %vs1t = load %vs1k {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw1 = matmul %qs1t, %ks1t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale1 = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x1 = mul %raw1, %scale1 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j1 = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i1 = iota {dim = 0, start = 4, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below1 = less_equal %j1, %i1 : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z1 = mask %below1, %x1 : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r1 = reduce_max %z1 {dim = 1} : !mirage_block.tile<2x2xf32>
      %new1 = max %c3, %r1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d1 = sub %z1, %new1 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e1 = exp %d1 : !mirage_block.tile<2x2xf32>
      %df1 = sub %c3, %new1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f1 = exp %df1 : !mirage_block.tile<2x1xf32>
      %pv1 = matmul %e1, %vs1t : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t1 = reduce_sum %e1 {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r1, %pv1, %t1 rescale %f1, %f1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w1 = div %sum2, %sum3 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w1, %o1 {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %all = concat %y, %y1 {dim = 0} : tensor<4x4xf32>, tensor<4x4xf32>
  return %all : tensor<8x4xf32>
}

// In tiles of four.
// CHECK: @skipped_large_tiles: equivalent to @src_skipped;
mirage_kernel.graph @skipped_large_tiles(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {source = @src_skipped} {
  %qs = slice %q {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %ks = slice %k {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %vs = slice %v {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %y = custom (%qsk = %qs, %ksk = %ks, %vsk = %vs) outs(%o) grid [2] : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
    %qst = load %qsk {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 1 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kst = load %ksk {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<4x4xf32>
      %vst = load %vsk {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<4x4xf32>
      %raw = matmul %qst, %kst {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<4x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<2x4xf32>, !mirage_block.tile<1x1xf32>
      %j = iota {dim = 1, loop = [4]} : !mirage_block.tile<1x4xi32>
      %i = iota {dim = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below = less_equal %j, %i : !mirage_block.tile<1x4xi32>, !mirage_block.tile<2x1xi32>
      %z = mask %below, %x : !mirage_block.tile<2x4xi1>, !mirage_block.tile<2x4xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x4xf32>
      %new = max %c, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x4xf32>
      %df = sub %c, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e, %vst : !mirage_block.tile<2x4xf32>, !mirage_block.tile<4x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x4xf32>
      yield %r, %pv, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %qs1 = slice %q {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %ks1 = slice %k {dim = 0, begin = 0, end = 8} : tensor<8x4xf32>
  %vs1 = slice %v {dim = 0, begin = 0, end = 8} : tensor<8x4xf32>
  %y1 = custom (%qs1k = %qs1, %ks1k = %ks1, %vs1k = %vs1) outs(%o1) grid [2] : (tensor<4x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32> {
    %qs1t = load %qs1k {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero1 = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none1 = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low1 = bottom : !mirage_block.tile<2x1xf32>
    %top1, %sum2, %sum3 = loop 2 (%c3 = %low1 max, %c4 = %zero1 rescale, %c5 = %none1 rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %ks1t = load %ks1k {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
      %vs1t = load %vs1k {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
      %raw1 = matmul %qs1t, %ks1t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<4x4xf32>
      %scale1 = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x1 = mul %raw1, %scale1 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<1x1xf32>
      %j1 = iota {dim = 1, loop = [4]} : !mirage_block.tile<1x4xi32>
      %i1 = iota {dim = 0, start = 4, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below1 = less_equal %j1, %i1 : !mirage_block.tile<1x4xi32>, !mirage_block.tile<2x1xi32>
      %z1 = mask %below1, %x1 : !mirage_block.tile<2x4xi1>, !mirage_block.tile<2x4xf32>
      %r1 = reduce_max %z1 {dim = 1} : !mirage_block.tile<2x4xf32>
      %new1 = max %c3, %r1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d1 = sub %z1, %new1 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
      %e1 = exp %d1 : !mirage_block.tile<2x4xf32>
      %df1 = sub %c3, %new1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f1 = exp %df1 : !mirage_block.tile<2x1xf32>
      %pv1 = matmul %e1, %vs1t : !mirage_block.tile<2x4xf32>, !mirage_block.tile<4x4xf32>
      %t1 = reduce_sum %e1 {dim = 1} : !mirage_block.tile<2x4xf32>
      yield %r1, %pv1, %t1 rescale %f1, %f1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w1 = div %sum2, %sum3 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w1, %o1 {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %all = concat %y, %y1 {dim = 0} : tensor<4x4xf32>, tensor<4x4xf32>
  return %all : tensor<8x4xf32>
}

// Only tiles on the diagonal are masked.
// CHECK: @skipped_diagonal: equivalent to @src_skipped;
mirage_kernel.graph @skipped_diagonal(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {source = @src_skipped} {
  %qs = slice %q {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %ks = slice %k {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %raw = matmul %qs, %ks {transpose_b} : tensor<4x4xf32>, tensor<4x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<4x4xf32>, tensor<f32>
  %ks1 = slice %k {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %raw1 = matmul %qs, %ks1 {transpose_b} : tensor<4x4xf32>, tensor<4x4xf32>
  %scale1 = constant 0.5 : tensor<f32>
  %x1 = mul %raw1, %scale1 : tensor<4x4xf32>, tensor<f32>
  %j = iota {dim = 1, start = 4} : tensor<1x4xi32>
  %i = iota {dim = 0, start = 4} : tensor<4x1xi32>
  %below = less_equal %j, %i : tensor<1x4xi32>, tensor<4x1xi32>
  %z = mask %below, %x1 : tensor<4x4xi1>, tensor<4x4xf32>
  %m = reduce_max %x {dim = 1} : tensor<4x4xf32>
  %m1 = reduce_max %z {dim = 1} : tensor<4x4xf32>
  %m2 = max %m, %m1 : tensor<4x1xf32>, tensor<4x1xf32>
  %d = sub %x, %m2 : tensor<4x4xf32>, tensor<4x1xf32>
  %e = exp %d : tensor<4x4xf32>
  %d1 = sub %z, %m2 : tensor<4x4xf32>, tensor<4x1xf32>
  %e1 = exp %d1 : tensor<4x4xf32>
  %vs = slice %v {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %p = matmul %e, %vs : tensor<4x4xf32>, tensor<4x4xf32>
  %vs1 = slice %v {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %p1 = matmul %e1, %vs1 : tensor<4x4xf32>, tensor<4x4xf32>
  %u = add %p, %p1 : tensor<4x4xf32>, tensor<4x4xf32>
  %l = reduce_sum %e {dim = 1} : tensor<4x4xf32>
  %l1 = reduce_sum %e1 {dim = 1} : tensor<4x4xf32>
  %l2 = add %l, %l1 : tensor<4x1xf32>, tensor<4x1xf32>
  %qs1 = slice %q {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %ks2 = slice %k {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %vs2 = slice %v {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %y = custom (%qs1k = %qs1, %ks2k = %ks2, %vs2k = %vs2) outs(%o) grid [2] : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
    %qs1t = load %qs1k {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 2 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %ks2t = load %ks2k {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %vs2t = load %vs2k {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw2 = matmul %qs1t, %ks2t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale2 = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x2 = mul %raw2, %scale2 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j1 = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i1 = iota {dim = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below1 = less_equal %j1, %i1 : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z1 = mask %below1, %x2 : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z1 {dim = 1} : !mirage_block.tile<2x2xf32>
      %new = max %c, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d2 = sub %z1, %new : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e2 = exp %d2 : !mirage_block.tile<2x2xf32>
      %df = sub %c, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e2, %vs2t : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e2 {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %pv, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %y1 = div %u, %l2 : tensor<4x4xf32>, tensor<4x1xf32>
  %all = concat %y, %y1 {dim = 0} : tensor<4x4xf32>, tensor<4x4xf32>
  return %all : tensor<8x4xf32>
}

// The last queries go over six keys.
// CHECK: @skipped_too_many: different
mirage_kernel.graph @skipped_too_many(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {source = @src_skipped} {
  %qs = slice %q {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %ks = slice %k {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %vs = slice %v {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %y = custom (%qsk = %qs, %ksk = %ks, %vsk = %vs) outs(%o) grid [2] : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
    %qst = load %qsk {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 2 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kst = load %ksk {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %vst = load %vsk {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw = matmul %qst, %kst {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i = iota {dim = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z = mask %below, %x : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %new = max %c, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %df = sub %c, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e, %vst : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %pv, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %qs1 = slice %q {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %ks1 = slice %k {dim = 0, begin = 0, end = 6} : tensor<8x4xf32>
  %vs1 = slice %v {dim = 0, begin = 0, end = 6} : tensor<8x4xf32>
  %y1 = custom (%qs1k = %qs1, %ks1k = %ks1, %vs1k = %vs1) outs(%o1) grid [2] : (tensor<4x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<4x4xf32> {
    %qs1t = load %qs1k {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero1 = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none1 = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low1 = bottom : !mirage_block.tile<2x1xf32>
    %top1, %sum2, %sum3 = loop 3 (%c3 = %low1 max, %c4 = %zero1 rescale, %c5 = %none1 rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %ks1t = load %ks1k {loop = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
      %vs1t = load %vs1k {loop = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw1 = matmul %qs1t, %ks1t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale1 = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x1 = mul %raw1, %scale1 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j1 = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i1 = iota {dim = 0, start = 4, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below1 = less_equal %j1, %i1 : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z1 = mask %below1, %x1 : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r1 = reduce_max %z1 {dim = 1} : !mirage_block.tile<2x2xf32>
      %new1 = max %c3, %r1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d1 = sub %z1, %new1 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e1 = exp %d1 : !mirage_block.tile<2x2xf32>
      %df1 = sub %c3, %new1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f1 = exp %df1 : !mirage_block.tile<2x1xf32>
      %pv1 = matmul %e1, %vs1t : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t1 = reduce_sum %e1 {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r1, %pv1, %t1 rescale %f1, %f1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w1 = div %sum2, %sum3 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w1, %o1 {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %all = concat %y, %y1 {dim = 0} : tensor<4x4xf32>, tensor<4x4xf32>
  return %all : tensor<8x4xf32>
}

// The first tile of keys left out.
// CHECK: @skipped_first: different
mirage_kernel.graph @skipped_first(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {source = @src_skipped} {
  %qs = slice %q {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %ks = slice %k {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %vs = slice %v {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %y = custom (%qsk = %qs, %ksk = %ks, %vsk = %vs) outs(%o) grid [2] : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
    %qst = load %qsk {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 2 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kst = load %ksk {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %vst = load %vsk {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw = matmul %qst, %kst {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i = iota {dim = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z = mask %below, %x : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %new = max %c, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %df = sub %c, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e, %vst : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %pv, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %qs1 = slice %q {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %ks1 = slice %k {dim = 0, begin = 2, end = 8} : tensor<8x4xf32>
  %vs1 = slice %v {dim = 0, begin = 2, end = 8} : tensor<8x4xf32>
  %y1 = custom (%qs1k = %qs1, %ks1k = %ks1, %vs1k = %vs1) outs(%o1) grid [2] : (tensor<4x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<4x4xf32> {
    %qs1t = load %qs1k {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero1 = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none1 = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low1 = bottom : !mirage_block.tile<2x1xf32>
    %top1, %sum2, %sum3 = loop 3 (%c3 = %low1 max, %c4 = %zero1 rescale, %c5 = %none1 rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %ks1t = load %ks1k {loop = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
      %vs1t = load %vs1k {loop = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw1 = matmul %qs1t, %ks1t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale1 = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x1 = mul %raw1, %scale1 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j1 = iota {dim = 1, start = 2, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i1 = iota {dim = 0, start = 4, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below1 = less_equal %j1, %i1 : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z1 = mask %below1, %x1 : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r1 = reduce_max %z1 {dim = 1} : !mirage_block.tile<2x2xf32>
      %new1 = max %c3, %r1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d1 = sub %z1, %new1 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e1 = exp %d1 : !mirage_block.tile<2x2xf32>
      %df1 = sub %c3, %new1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f1 = exp %df1 : !mirage_block.tile<2x1xf32>
      %pv1 = matmul %e1, %vs1t : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t1 = reduce_sum %e1 {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r1, %pv1, %t1 rescale %f1, %f1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w1 = div %sum2, %sum3 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w1, %o1 {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %all = concat %y, %y1 {dim = 0} : tensor<4x4xf32>, tensor<4x4xf32>
  return %all : tensor<8x4xf32>
}

// No mask where nothing more is left out.
// CHECK: @skipped_unmasked: different
mirage_kernel.graph @skipped_unmasked(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {source = @src_skipped} {
  %qs = slice %q {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %ks = slice %k {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %vs = slice %v {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %y = custom (%qsk = %qs, %ksk = %ks, %vsk = %vs) outs(%o) grid [2] : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
    %qst = load %qsk {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 2 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kst = load %ksk {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %vst = load %vsk {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw = matmul %qst, %kst {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %r = reduce_max %x {dim = 1} : !mirage_block.tile<2x2xf32>
      %new = max %c, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %x, %new : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %df = sub %c, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e, %vst : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %pv, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %qs1 = slice %q {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %ks1 = slice %k {dim = 0, begin = 0, end = 8} : tensor<8x4xf32>
  %vs1 = slice %v {dim = 0, begin = 0, end = 8} : tensor<8x4xf32>
  %y1 = custom (%qs1k = %qs1, %ks1k = %ks1, %vs1k = %vs1) outs(%o1) grid [2] : (tensor<4x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32> {
    %qs1t = load %qs1k {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero1 = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none1 = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low1 = bottom : !mirage_block.tile<2x1xf32>
    %top1, %sum2, %sum3 = loop 4 (%c3 = %low1 max, %c4 = %zero1 rescale, %c5 = %none1 rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %ks1t = load %ks1k {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %vs1t = load %vs1k {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw1 = matmul %qs1t, %ks1t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale1 = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x1 = mul %raw1, %scale1 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i = iota {dim = 0, start = 4, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z = mask %below, %x1 : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r1 = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %new1 = max %c3, %r1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d1 = sub %z, %new1 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e1 = exp %d1 : !mirage_block.tile<2x2xf32>
      %df1 = sub %c3, %new1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f1 = exp %df1 : !mirage_block.tile<2x1xf32>
      %pv1 = matmul %e1, %vs1t : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t1 = reduce_sum %e1 {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r1, %pv1, %t1 rescale %f1, %f1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w1 = div %sum2, %sum3 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w1, %o1 {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %all = concat %y, %y1 {dim = 0} : tensor<4x4xf32>, tensor<4x4xf32>
  return %all : tensor<8x4xf32>
}

// None for the second half.
// CHECK: @skipped_last_unmasked: different
mirage_kernel.graph @skipped_last_unmasked(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {source = @src_skipped} {
  %qs = slice %q {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %ks = slice %k {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %vs = slice %v {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %y = custom (%qsk = %qs, %ksk = %ks, %vsk = %vs) outs(%o) grid [2] : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
    %qst = load %qsk {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 2 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kst = load %ksk {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %vst = load %vsk {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw = matmul %qst, %kst {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i = iota {dim = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z = mask %below, %x : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %new = max %c, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %df = sub %c, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e, %vst : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %pv, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %qs1 = slice %q {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %ks1 = slice %k {dim = 0, begin = 0, end = 8} : tensor<8x4xf32>
  %vs1 = slice %v {dim = 0, begin = 0, end = 8} : tensor<8x4xf32>
  %y1 = custom (%qs1k = %qs1, %ks1k = %ks1, %vs1k = %vs1) outs(%o1) grid [2] : (tensor<4x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32> {
    %qs1t = load %qs1k {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero1 = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none1 = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low1 = bottom : !mirage_block.tile<2x1xf32>
    %top1, %sum2, %sum3 = loop 4 (%c3 = %low1 max, %c4 = %zero1 rescale, %c5 = %none1 rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %ks1t = load %ks1k {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %vs1t = load %vs1k {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw1 = matmul %qs1t, %ks1t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale1 = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x1 = mul %raw1, %scale1 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %r1 = reduce_max %x1 {dim = 1} : !mirage_block.tile<2x2xf32>
      %new1 = max %c3, %r1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d1 = sub %x1, %new1 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e1 = exp %d1 : !mirage_block.tile<2x2xf32>
      %df1 = sub %c3, %new1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f1 = exp %df1 : !mirage_block.tile<2x1xf32>
      %pv1 = matmul %e1, %vs1t : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t1 = reduce_sum %e1 {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r1, %pv1, %t1 rescale %f1, %f1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w1 = div %sum2, %sum3 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w1, %o1 {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %all = concat %y, %y1 {dim = 0} : tensor<4x4xf32>, tensor<4x4xf32>
  return %all : tensor<8x4xf32>
}

// The second half counted from the first query.
// CHECK: @skipped_start: different
mirage_kernel.graph @skipped_start(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {source = @src_skipped} {
  %qs = slice %q {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %ks = slice %k {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %vs = slice %v {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %y = custom (%qsk = %qs, %ksk = %ks, %vsk = %vs) outs(%o) grid [2] : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
    %qst = load %qsk {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 2 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kst = load %ksk {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %vst = load %vsk {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw = matmul %qst, %kst {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i = iota {dim = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z = mask %below, %x : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %new = max %c, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %df = sub %c, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e, %vst : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %pv, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %qs1 = slice %q {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %ks1 = slice %k {dim = 0, begin = 0, end = 8} : tensor<8x4xf32>
  %vs1 = slice %v {dim = 0, begin = 0, end = 8} : tensor<8x4xf32>
  %y1 = custom (%qs1k = %qs1, %ks1k = %ks1, %vs1k = %vs1) outs(%o1) grid [2] : (tensor<4x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32> {
    %qs1t = load %qs1k {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero1 = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none1 = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low1 = bottom : !mirage_block.tile<2x1xf32>
    %top1, %sum2, %sum3 = loop 4 (%c3 = %low1 max, %c4 = %zero1 rescale, %c5 = %none1 rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %ks1t = load %ks1k {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %vs1t = load %vs1k {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw1 = matmul %qs1t, %ks1t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale1 = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x1 = mul %raw1, %scale1 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j1 = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i1 = iota {dim = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below1 = less_equal %j1, %i1 : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z1 = mask %below1, %x1 : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r1 = reduce_max %z1 {dim = 1} : !mirage_block.tile<2x2xf32>
      %new1 = max %c3, %r1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d1 = sub %z1, %new1 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e1 = exp %d1 : !mirage_block.tile<2x2xf32>
      %df1 = sub %c3, %new1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f1 = exp %df1 : !mirage_block.tile<2x1xf32>
      %pv1 = matmul %e1, %vs1t : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t1 = reduce_sum %e1 {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r1, %pv1, %t1 rescale %f1, %f1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w1 = div %sum2, %sum3 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w1, %o1 {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %all = concat %y, %y1 {dim = 0} : tensor<4x4xf32>, tensor<4x4xf32>
  return %all : tensor<8x4xf32>
}

// < for <= on the diagonal.
// CHECK: @skipped_diagonal_strict: different
mirage_kernel.graph @skipped_diagonal_strict(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {source = @src_skipped} {
  %qs = slice %q {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %ks = slice %k {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %raw = matmul %qs, %ks {transpose_b} : tensor<4x4xf32>, tensor<4x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<4x4xf32>, tensor<f32>
  %ks1 = slice %k {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %raw1 = matmul %qs, %ks1 {transpose_b} : tensor<4x4xf32>, tensor<4x4xf32>
  %scale1 = constant 0.5 : tensor<f32>
  %x1 = mul %raw1, %scale1 : tensor<4x4xf32>, tensor<f32>
  %j = iota {dim = 1, start = 4} : tensor<1x4xi32>
  %i = iota {dim = 0, start = 4} : tensor<4x1xi32>
  %below = less %j, %i : tensor<1x4xi32>, tensor<4x1xi32>
  %z = mask %below, %x1 : tensor<4x4xi1>, tensor<4x4xf32>
  %m = reduce_max %x {dim = 1} : tensor<4x4xf32>
  %m1 = reduce_max %z {dim = 1} : tensor<4x4xf32>
  %m2 = max %m, %m1 : tensor<4x1xf32>, tensor<4x1xf32>
  %d = sub %x, %m2 : tensor<4x4xf32>, tensor<4x1xf32>
  %e = exp %d : tensor<4x4xf32>
  %d1 = sub %z, %m2 : tensor<4x4xf32>, tensor<4x1xf32>
  %e1 = exp %d1 : tensor<4x4xf32>
  %vs = slice %v {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %p = matmul %e, %vs : tensor<4x4xf32>, tensor<4x4xf32>
  %vs1 = slice %v {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %p1 = matmul %e1, %vs1 : tensor<4x4xf32>, tensor<4x4xf32>
  %u = add %p, %p1 : tensor<4x4xf32>, tensor<4x4xf32>
  %l = reduce_sum %e {dim = 1} : tensor<4x4xf32>
  %l1 = reduce_sum %e1 {dim = 1} : tensor<4x4xf32>
  %l2 = add %l, %l1 : tensor<4x1xf32>, tensor<4x1xf32>
  %qs1 = slice %q {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %ks2 = slice %k {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %vs2 = slice %v {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %y = custom (%qs1k = %qs1, %ks2k = %ks2, %vs2k = %vs2) outs(%o) grid [2] : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
    %qs1t = load %qs1k {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 2 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %ks2t = load %ks2k {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %vs2t = load %vs2k {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw2 = matmul %qs1t, %ks2t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale2 = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x2 = mul %raw2, %scale2 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j1 = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i1 = iota {dim = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below1 = less_equal %j1, %i1 : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z1 = mask %below1, %x2 : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z1 {dim = 1} : !mirage_block.tile<2x2xf32>
      %new = max %c, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d2 = sub %z1, %new : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e2 = exp %d2 : !mirage_block.tile<2x2xf32>
      %df = sub %c, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e2, %vs2t : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e2 {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %pv, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %y1 = div %u, %l2 : tensor<4x4xf32>, tensor<4x1xf32>
  %all = concat %y, %y1 {dim = 0} : tensor<4x4xf32>, tensor<4x4xf32>
  return %all : tensor<8x4xf32>
}

// Its queries counted from the first.
// CHECK: @skipped_diagonal_start: different
mirage_kernel.graph @skipped_diagonal_start(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {source = @src_skipped} {
  %qs = slice %q {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %ks = slice %k {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %raw = matmul %qs, %ks {transpose_b} : tensor<4x4xf32>, tensor<4x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<4x4xf32>, tensor<f32>
  %ks1 = slice %k {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %raw1 = matmul %qs, %ks1 {transpose_b} : tensor<4x4xf32>, tensor<4x4xf32>
  %scale1 = constant 0.5 : tensor<f32>
  %x1 = mul %raw1, %scale1 : tensor<4x4xf32>, tensor<f32>
  %j = iota {dim = 1, start = 4} : tensor<1x4xi32>
  %i = iota {dim = 0} : tensor<4x1xi32>
  %below = less_equal %j, %i : tensor<1x4xi32>, tensor<4x1xi32>
  %z = mask %below, %x1 : tensor<4x4xi1>, tensor<4x4xf32>
  %m = reduce_max %x {dim = 1} : tensor<4x4xf32>
  %m1 = reduce_max %z {dim = 1} : tensor<4x4xf32>
  %m2 = max %m, %m1 : tensor<4x1xf32>, tensor<4x1xf32>
  %d = sub %x, %m2 : tensor<4x4xf32>, tensor<4x1xf32>
  %e = exp %d : tensor<4x4xf32>
  %d1 = sub %z, %m2 : tensor<4x4xf32>, tensor<4x1xf32>
  %e1 = exp %d1 : tensor<4x4xf32>
  %vs = slice %v {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %p = matmul %e, %vs : tensor<4x4xf32>, tensor<4x4xf32>
  %vs1 = slice %v {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %p1 = matmul %e1, %vs1 : tensor<4x4xf32>, tensor<4x4xf32>
  %u = add %p, %p1 : tensor<4x4xf32>, tensor<4x4xf32>
  %l = reduce_sum %e {dim = 1} : tensor<4x4xf32>
  %l1 = reduce_sum %e1 {dim = 1} : tensor<4x4xf32>
  %l2 = add %l, %l1 : tensor<4x1xf32>, tensor<4x1xf32>
  %qs1 = slice %q {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %ks2 = slice %k {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %vs2 = slice %v {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %y = custom (%qs1k = %qs1, %ks2k = %ks2, %vs2k = %vs2) outs(%o) grid [2] : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
    %qs1t = load %qs1k {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 2 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %ks2t = load %ks2k {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %vs2t = load %vs2k {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw2 = matmul %qs1t, %ks2t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale2 = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x2 = mul %raw2, %scale2 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j1 = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i1 = iota {dim = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below1 = less_equal %j1, %i1 : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z1 = mask %below1, %x2 : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z1 {dim = 1} : !mirage_block.tile<2x2xf32>
      %new = max %c, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d2 = sub %z1, %new : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e2 = exp %d2 : !mirage_block.tile<2x2xf32>
      %df = sub %c, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e2, %vs2t : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e2 {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %pv, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %y1 = div %u, %l2 : tensor<4x4xf32>, tensor<4x1xf32>
  %all = concat %y, %y1 {dim = 0} : tensor<4x4xf32>, tensor<4x4xf32>
  return %all : tensor<8x4xf32>
}

// The sum of the diagonal alone.
// CHECK: @skipped_sum: different
mirage_kernel.graph @skipped_sum(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {source = @src_skipped} {
  %qs = slice %q {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %ks = slice %k {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %raw = matmul %qs, %ks {transpose_b} : tensor<4x4xf32>, tensor<4x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<4x4xf32>, tensor<f32>
  %ks1 = slice %k {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %raw1 = matmul %qs, %ks1 {transpose_b} : tensor<4x4xf32>, tensor<4x4xf32>
  %scale1 = constant 0.5 : tensor<f32>
  %x1 = mul %raw1, %scale1 : tensor<4x4xf32>, tensor<f32>
  %j = iota {dim = 1, start = 4} : tensor<1x4xi32>
  %i = iota {dim = 0, start = 4} : tensor<4x1xi32>
  %below = less_equal %j, %i : tensor<1x4xi32>, tensor<4x1xi32>
  %z = mask %below, %x1 : tensor<4x4xi1>, tensor<4x4xf32>
  %m = reduce_max %x {dim = 1} : tensor<4x4xf32>
  %m1 = reduce_max %z {dim = 1} : tensor<4x4xf32>
  %m2 = max %m, %m1 : tensor<4x1xf32>, tensor<4x1xf32>
  %d = sub %x, %m2 : tensor<4x4xf32>, tensor<4x1xf32>
  %e = exp %d : tensor<4x4xf32>
  %d1 = sub %z, %m2 : tensor<4x4xf32>, tensor<4x1xf32>
  %e1 = exp %d1 : tensor<4x4xf32>
  %vs = slice %v {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %p = matmul %e, %vs : tensor<4x4xf32>, tensor<4x4xf32>
  %vs1 = slice %v {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %p1 = matmul %e1, %vs1 : tensor<4x4xf32>, tensor<4x4xf32>
  %u = add %p, %p1 : tensor<4x4xf32>, tensor<4x4xf32>
  %l = reduce_sum %e1 {dim = 1} : tensor<4x4xf32>
  %qs1 = slice %q {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %ks2 = slice %k {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %vs2 = slice %v {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %y = custom (%qs1k = %qs1, %ks2k = %ks2, %vs2k = %vs2) outs(%o) grid [2] : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
    %qs1t = load %qs1k {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 2 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %ks2t = load %ks2k {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %vs2t = load %vs2k {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw2 = matmul %qs1t, %ks2t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale2 = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x2 = mul %raw2, %scale2 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j1 = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i1 = iota {dim = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below1 = less_equal %j1, %i1 : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z1 = mask %below1, %x2 : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z1 {dim = 1} : !mirage_block.tile<2x2xf32>
      %new = max %c, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d2 = sub %z1, %new : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e2 = exp %d2 : !mirage_block.tile<2x2xf32>
      %df = sub %c, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e2, %vs2t : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e2 {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %pv, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %y1 = div %u, %l : tensor<4x4xf32>, tensor<4x1xf32>
  %all = concat %y, %y1 {dim = 0} : tensor<4x4xf32>, tensor<4x4xf32>
  return %all : tensor<8x4xf32>
}

// A window: nor where no key is seen any more.
mirage_kernel.graph @src_skipped_window(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5, causal, window = 2} : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// The last four queries begin with the third key.
// CHECK: @skipped_window: equivalent to @src_skipped_window;
mirage_kernel.graph @skipped_window(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {source = @src_skipped_window} {
  %qs = slice %q {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %ks = slice %k {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %vs = slice %v {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %y = custom (%qsk = %qs, %ksk = %ks, %vsk = %vs) outs(%o) grid [2] : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
    %qst = load %qsk {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 2 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kst = load %ksk {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %vst = load %vsk {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw = matmul %qst, %kst {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i = iota {dim = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %i1 = iota {dim = 0, start = -2, grid = [2]} : !mirage_block.tile<2x1xi32>
      %within = greater %j, %i1 : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %b = and %below, %within : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xi1>
      %z = mask %b, %x : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %new = max %c, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %df = sub %c, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e, %vst : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %pv, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %qs1 = slice %q {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %ks1 = slice %k {dim = 0, begin = 2, end = 8} : tensor<8x4xf32>
  %vs1 = slice %v {dim = 0, begin = 2, end = 8} : tensor<8x4xf32>
  %y1 = custom (%qs1k = %qs1, %ks1k = %ks1, %vs1k = %vs1) outs(%o1) grid [2] : (tensor<4x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<4x4xf32> {
    %qs1t = load %qs1k {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero1 = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none1 = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low1 = bottom : !mirage_block.tile<2x1xf32>
    %top1, %sum2, %sum3 = loop 3 (%c3 = %low1 max, %c4 = %zero1 rescale, %c5 = %none1 rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %ks1t = load %ks1k {loop = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
      %vs1t = load %vs1k {loop = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw1 = matmul %qs1t, %ks1t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale1 = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x1 = mul %raw1, %scale1 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j1 = iota {dim = 1, start = 2, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i2 = iota {dim = 0, start = 4, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below1 = less_equal %j1, %i2 : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %i3 = iota {dim = 0, start = 2, grid = [2]} : !mirage_block.tile<2x1xi32>
      %within1 = greater %j1, %i3 : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %b1 = and %below1, %within1 : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xi1>
      %z1 = mask %b1, %x1 : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r1 = reduce_max %z1 {dim = 1} : !mirage_block.tile<2x2xf32>
      %new1 = max %c3, %r1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d1 = sub %z1, %new1 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e1 = exp %d1 : !mirage_block.tile<2x2xf32>
      %df1 = sub %c3, %new1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f1 = exp %df1 : !mirage_block.tile<2x1xf32>
      %pv1 = matmul %e1, %vs1t : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t1 = reduce_sum %e1 {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r1, %pv1, %t1 rescale %f1, %f1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w1 = div %sum2, %sum3 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w1, %o1 {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %all = concat %y, %y1 {dim = 0} : tensor<4x4xf32>, tensor<4x4xf32>
  return %all : tensor<8x4xf32>
}

// Nothing left out.
// CHECK: @skipped_window_none: equivalent to @src_skipped_window;
mirage_kernel.graph @skipped_window_none(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {source = @src_skipped_window} {
  %qs = slice %q {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %ks = slice %k {dim = 0, begin = 0, end = 8} : tensor<8x4xf32>
  %vs = slice %v {dim = 0, begin = 0, end = 8} : tensor<8x4xf32>
  %y = custom (%qsk = %qs, %ksk = %ks, %vsk = %vs) outs(%o) grid [2] : (tensor<4x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32> {
    %qst = load %qsk {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 4 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kst = load %ksk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %vst = load %vsk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw = matmul %qst, %kst {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i = iota {dim = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %i1 = iota {dim = 0, start = -2, grid = [2]} : !mirage_block.tile<2x1xi32>
      %within = greater %j, %i1 : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %b = and %below, %within : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xi1>
      %z = mask %b, %x : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %new = max %c, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %df = sub %c, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e, %vst : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %pv, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %qs1 = slice %q {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %ks1 = slice %k {dim = 0, begin = 0, end = 8} : tensor<8x4xf32>
  %vs1 = slice %v {dim = 0, begin = 0, end = 8} : tensor<8x4xf32>
  %y1 = custom (%qs1k = %qs1, %ks1k = %ks1, %vs1k = %vs1) outs(%o1) grid [2] : (tensor<4x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32> {
    %qs1t = load %qs1k {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero1 = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none1 = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low1 = bottom : !mirage_block.tile<2x1xf32>
    %top1, %sum2, %sum3 = loop 4 (%c3 = %low1 max, %c4 = %zero1 rescale, %c5 = %none1 rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %ks1t = load %ks1k {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %vs1t = load %vs1k {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw1 = matmul %qs1t, %ks1t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale1 = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x1 = mul %raw1, %scale1 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j1 = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i2 = iota {dim = 0, start = 4, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below1 = less_equal %j1, %i2 : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %i3 = iota {dim = 0, start = 2, grid = [2]} : !mirage_block.tile<2x1xi32>
      %within1 = greater %j1, %i3 : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %b1 = and %below1, %within1 : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xi1>
      %z1 = mask %b1, %x1 : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r1 = reduce_max %z1 {dim = 1} : !mirage_block.tile<2x2xf32>
      %new1 = max %c3, %r1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d1 = sub %z1, %new1 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e1 = exp %d1 : !mirage_block.tile<2x2xf32>
      %df1 = sub %c3, %new1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f1 = exp %df1 : !mirage_block.tile<2x1xf32>
      %pv1 = matmul %e1, %vs1t : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t1 = reduce_sum %e1 {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r1, %pv1, %t1 rescale %f1, %f1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w1 = div %sum2, %sum3 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w1, %o1 {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %all = concat %y, %y1 {dim = 0} : tensor<4x4xf32>, tensor<4x4xf32>
  return %all : tensor<8x4xf32>
}

// Begin with the fifth: the query before saw it, this one the fourth.
// CHECK: @skipped_window_more: different
mirage_kernel.graph @skipped_window_more(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {source = @src_skipped_window} {
  %qs = slice %q {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %ks = slice %k {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %vs = slice %v {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %y = custom (%qsk = %qs, %ksk = %ks, %vsk = %vs) outs(%o) grid [2] : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
    %qst = load %qsk {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 2 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kst = load %ksk {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %vst = load %vsk {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw = matmul %qst, %kst {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i = iota {dim = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %i1 = iota {dim = 0, start = -2, grid = [2]} : !mirage_block.tile<2x1xi32>
      %within = greater %j, %i1 : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %b = and %below, %within : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xi1>
      %z = mask %b, %x : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %new = max %c, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %df = sub %c, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e, %vst : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %pv, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %qs1 = slice %q {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %ks1 = slice %k {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %vs1 = slice %v {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %y1 = custom (%qs1k = %qs1, %ks1k = %ks1, %vs1k = %vs1) outs(%o1) grid [2] : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
    %qs1t = load %qs1k {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero1 = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none1 = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low1 = bottom : !mirage_block.tile<2x1xf32>
    %top1, %sum2, %sum3 = loop 2 (%c3 = %low1 max, %c4 = %zero1 rescale, %c5 = %none1 rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %ks1t = load %ks1k {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %vs1t = load %vs1k {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw1 = matmul %qs1t, %ks1t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale1 = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x1 = mul %raw1, %scale1 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j1 = iota {dim = 1, start = 4, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i2 = iota {dim = 0, start = 4, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below1 = less_equal %j1, %i2 : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %i3 = iota {dim = 0, start = 2, grid = [2]} : !mirage_block.tile<2x1xi32>
      %within1 = greater %j1, %i3 : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %b1 = and %below1, %within1 : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xi1>
      %z1 = mask %b1, %x1 : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r1 = reduce_max %z1 {dim = 1} : !mirage_block.tile<2x2xf32>
      %new1 = max %c3, %r1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d1 = sub %z1, %new1 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e1 = exp %d1 : !mirage_block.tile<2x2xf32>
      %df1 = sub %c3, %new1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f1 = exp %df1 : !mirage_block.tile<2x1xf32>
      %pv1 = matmul %e1, %vs1t : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t1 = reduce_sum %e1 {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r1, %pv1, %t1 rescale %f1, %f1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w1 = div %sum2, %sum3 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w1, %o1 {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %all = concat %y, %y1 {dim = 0} : tensor<4x4xf32>, tensor<4x4xf32>
  return %all : tensor<8x4xf32>
}

// Tiles left out, and not masked at the far side.
// CHECK: @skipped_window_left_out: different
mirage_kernel.graph @skipped_window_left_out(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {source = @src_skipped_window} {
  %qs = slice %q {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %ks = slice %k {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %vs = slice %v {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %y = custom (%qsk = %qs, %ksk = %ks, %vsk = %vs) outs(%o) grid [2] : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
    %qst = load %qsk {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 2 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kst = load %ksk {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %vst = load %vsk {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw = matmul %qst, %kst {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i = iota {dim = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z = mask %below, %x : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %new = max %c, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %df = sub %c, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e, %vst : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %pv, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %qs1 = slice %q {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %ks1 = slice %k {dim = 0, begin = 2, end = 8} : tensor<8x4xf32>
  %vs1 = slice %v {dim = 0, begin = 2, end = 8} : tensor<8x4xf32>
  %y1 = custom (%qs1k = %qs1, %ks1k = %ks1, %vs1k = %vs1) outs(%o1) grid [2] : (tensor<4x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<4x4xf32> {
    %qs1t = load %qs1k {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero1 = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none1 = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low1 = bottom : !mirage_block.tile<2x1xf32>
    %top1, %sum2, %sum3 = loop 3 (%c3 = %low1 max, %c4 = %zero1 rescale, %c5 = %none1 rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %ks1t = load %ks1k {loop = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
      %vs1t = load %vs1k {loop = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw1 = matmul %qs1t, %ks1t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale1 = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x1 = mul %raw1, %scale1 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j1 = iota {dim = 1, start = 2, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i1 = iota {dim = 0, start = 4, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below1 = less_equal %j1, %i1 : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z1 = mask %below1, %x1 : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r1 = reduce_max %z1 {dim = 1} : !mirage_block.tile<2x2xf32>
      %new1 = max %c3, %r1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d1 = sub %z1, %new1 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e1 = exp %d1 : !mirage_block.tile<2x2xf32>
      %df1 = sub %c3, %new1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f1 = exp %df1 : !mirage_block.tile<2x1xf32>
      %pv1 = matmul %e1, %vs1t : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t1 = reduce_sum %e1 {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r1, %pv1, %t1 rescale %f1, %f1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w1 = div %sum2, %sum3 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w1, %o1 {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %all = concat %y, %y1 {dim = 0} : tensor<4x4xf32>, tensor<4x4xf32>
  return %all : tensor<8x4xf32>
}

// A window wider by one.
// CHECK: @skipped_window_by_one: different
mirage_kernel.graph @skipped_window_by_one(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {source = @src_skipped_window} {
  %qs = slice %q {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %ks = slice %k {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %vs = slice %v {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %y = custom (%qsk = %qs, %ksk = %ks, %vsk = %vs) outs(%o) grid [2] : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
    %qst = load %qsk {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 2 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kst = load %ksk {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %vst = load %vsk {loop = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw = matmul %qst, %kst {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i = iota {dim = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %i1 = iota {dim = 0, start = -3, grid = [2]} : !mirage_block.tile<2x1xi32>
      %within = greater %j, %i1 : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %b = and %below, %within : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xi1>
      %z = mask %b, %x : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %new = max %c, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %df = sub %c, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e, %vst : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %pv, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %qs1 = slice %q {dim = 0, begin = 4, end = 8} : tensor<8x4xf32>
  %ks1 = slice %k {dim = 0, begin = 2, end = 8} : tensor<8x4xf32>
  %vs1 = slice %v {dim = 0, begin = 2, end = 8} : tensor<8x4xf32>
  %y1 = custom (%qs1k = %qs1, %ks1k = %ks1, %vs1k = %vs1) outs(%o1) grid [2] : (tensor<4x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<4x4xf32> {
    %qs1t = load %qs1k {grid = [0]} : tensor<4x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero1 = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none1 = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low1 = bottom : !mirage_block.tile<2x1xf32>
    %top1, %sum2, %sum3 = loop 3 (%c3 = %low1 max, %c4 = %zero1 rescale, %c5 = %none1 rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %ks1t = load %ks1k {loop = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
      %vs1t = load %vs1k {loop = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw1 = matmul %qs1t, %ks1t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale1 = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x1 = mul %raw1, %scale1 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %j1 = iota {dim = 1, start = 2, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i2 = iota {dim = 0, start = 4, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below1 = less_equal %j1, %i2 : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %i3 = iota {dim = 0, start = 1, grid = [2]} : !mirage_block.tile<2x1xi32>
      %within1 = greater %j1, %i3 : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %b1 = and %below1, %within1 : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xi1>
      %z1 = mask %b1, %x1 : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r1 = reduce_max %z1 {dim = 1} : !mirage_block.tile<2x2xf32>
      %new1 = max %c3, %r1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d1 = sub %z1, %new1 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e1 = exp %d1 : !mirage_block.tile<2x2xf32>
      %df1 = sub %c3, %new1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f1 = exp %df1 : !mirage_block.tile<2x1xf32>
      %pv1 = matmul %e1, %vs1t : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t1 = reduce_sum %e1 {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r1, %pv1, %t1 rescale %f1, %f1 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w1 = div %sum2, %sum3 : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w1, %o1 {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf32>
  }
  %all = concat %y, %y1 {dim = 0} : tensor<4x4xf32>, tensor<4x4xf32>
  return %all : tensor<8x4xf32>
}
