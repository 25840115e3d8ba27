// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// Attention with masks by position: in one piece, in tiles of keys with a running maximum, and wrongly.
// Rows of 6 queries, 10 keys; a tile of keys may be beyond every query's sight.

mirage_kernel.graph @src_causal(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5, causal} : tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// Written out.
// CHECK: @causal_plain: equivalent to @src_causal;
mirage_kernel.graph @causal_plain(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %s0 = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<10x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %s = mul %s0, %scale : tensor<6x10xf32>, tensor<f32>
  %i = iota {dim = 0, start = 0} : tensor<6x1xi32>
  %j = iota {dim = 1} : tensor<1x10xi32>
  %c = less_equal %j, %i : tensor<1x10xi32>, tensor<6x1xi32>
  %z = mask %c, %s : tensor<6x10xi1>, tensor<6x10xf32>
  %m = reduce_max %z {dim = 1} : tensor<6x10xf32>
  %d = sub %z, %m : tensor<6x10xf32>, tensor<6x1xf32>
  %e = exp %d : tensor<6x10xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<6x10xf32>
  %w = div %e, %sum : tensor<6x10xf32>, tensor<6x1xf32>
  %y = matmul %w, %v : tensor<6x10xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// j < i + 1.
// CHECK: @causal_strict_from_one: equivalent to @src_causal;
mirage_kernel.graph @causal_strict_from_one(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %s0 = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<10x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %s = mul %s0, %scale : tensor<6x10xf32>, tensor<f32>
  %i = iota {dim = 0, start = 1} : tensor<6x1xi32>
  %j = iota {dim = 1} : tensor<1x10xi32>
  %c = less %j, %i : tensor<1x10xi32>, tensor<6x1xi32>
  %z = mask %c, %s : tensor<6x10xi1>, tensor<6x10xf32>
  %m = reduce_max %z {dim = 1} : tensor<6x10xf32>
  %d = sub %z, %m : tensor<6x10xf32>, tensor<6x1xf32>
  %e = exp %d : tensor<6x10xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<6x10xf32>
  %w = div %e, %sum : tensor<6x10xf32>, tensor<6x1xf32>
  %y = matmul %w, %v : tensor<6x10xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// Without the maximum.
// CHECK: @causal_unsafe: equivalent to @src_causal;
mirage_kernel.graph @causal_unsafe(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %s0 = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<10x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %s = mul %s0, %scale : tensor<6x10xf32>, tensor<f32>
  %i = iota {dim = 0, start = 0} : tensor<6x1xi32>
  %j = iota {dim = 1} : tensor<1x10xi32>
  %c = less_equal %j, %i : tensor<1x10xi32>, tensor<6x1xi32>
  %z = mask %c, %s : tensor<6x10xi1>, tensor<6x10xf32>
  %e = exp %z : tensor<6x10xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<6x10xf32>
  %w = div %e, %sum : tensor<6x10xf32>, tensor<6x1xf32>
  %y = matmul %w, %v : tensor<6x10xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// Any maximum cancels, that of all scores too.
// CHECK: @causal_other_maximum: equivalent to @src_causal;
mirage_kernel.graph @causal_other_maximum(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %s0 = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<10x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %s = mul %s0, %scale : tensor<6x10xf32>, tensor<f32>
  %i = iota {dim = 0, start = 0} : tensor<6x1xi32>
  %j = iota {dim = 1} : tensor<1x10xi32>
  %c = less_equal %j, %i : tensor<1x10xi32>, tensor<6x1xi32>
  %z = mask %c, %s : tensor<6x10xi1>, tensor<6x10xf32>
  %m = reduce_max %s {dim = 1} : tensor<6x10xf32>
  %d = sub %z, %m : tensor<6x10xf32>, tensor<6x1xf32>
  %e = exp %d : tensor<6x10xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<6x10xf32>
  %w = div %e, %sum : tensor<6x10xf32>, tensor<6x1xf32>
  %y = matmul %w, %v : tensor<6x10xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// A window of all keys.
// CHECK: @causal_wide_window: equivalent to @src_causal;
mirage_kernel.graph @causal_wide_window(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5, causal, window = 6} : tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// Every row sees a key: nothing to guard against.
// CHECK: @causal_guarded: equivalent to @src_causal;
mirage_kernel.graph @causal_guarded(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %s0 = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<10x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %s = mul %s0, %scale : tensor<6x10xf32>, tensor<f32>
  %i = iota {dim = 0, start = 0} : tensor<6x1xi32>
  %j = iota {dim = 1} : tensor<1x10xi32>
  %c = less_equal %j, %i : tensor<1x10xi32>, tensor<6x1xi32>
  %z = mask %c, %s : tensor<6x10xi1>, tensor<6x10xf32>
  %m = reduce_max %z {dim = 1} : tensor<6x10xf32>
  %d = sub %z, %m : tensor<6x10xf32>, tensor<6x1xf32>
  %e = exp %d : tensor<6x10xf32>
  %any = reduce_max %c {dim = 1} : tensor<6x10xi1>
  %none = not %any : tensor<6x1xi1>
  %one = cast %none : tensor<6x1xi1> -> tensor<6x1xf32>
  %t = reduce_sum %e {dim = 1} : tensor<6x10xf32>
  %sum = add %t, %one : tensor<6x1xf32>, tensor<6x1xf32>
  %w = div %e, %sum : tensor<6x10xf32>, tensor<6x1xf32>
  %y = matmul %w, %v : tensor<6x10xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// Tiles of keys, with a running maximum.
// CHECK: @causal_online: equivalent to @src_causal;
mirage_kernel.graph @causal_online(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [3] : (tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> tensor<6x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %keep = constant 1.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %acc, %sum = loop 5 (%m = %low max, %a = %zero rescale, %l = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kt = load %kk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %s0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %s = mul %s0, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %i = iota {dim = 0, start = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %c = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z = mask %c, %s : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %n = max %m, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %n : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %g = sub %m, %n : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %g : !mirage_block.tile<2x1xf32>
      %p = matmul %e, %vt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %p, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %acc, %sum : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<6x4xf32>
  }
  return %y : tensor<6x4xf32>
}

// A block for each query.
// CHECK: @causal_online_one_row: equivalent to @src_causal;
mirage_kernel.graph @causal_online_one_row(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [6] : (tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> tensor<6x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<6x4xf32> -> !mirage_block.tile<1x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x1xf32>
    %keep = constant 1.0 : !mirage_block.tile<1x1xf32>
    %low = bottom : !mirage_block.tile<1x1xf32>
    %top, %acc, %sum = loop 5 (%m = %low max, %a = %zero rescale, %l = %none rescale) : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32> {
      %kt = load %kk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %s0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %s = mul %s0, %scale : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %i = iota {dim = 0, start = 0, grid = [1]} : !mirage_block.tile<1x1xi32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %c = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<1x1xi32>
      %z = mask %c, %s : !mirage_block.tile<1x2xi1>, !mirage_block.tile<1x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<1x2xf32>
      %n = max %m, %r : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %d = sub %z, %n : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %e = exp %d : !mirage_block.tile<1x2xf32>
      %g = sub %m, %n : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %f = exp %g : !mirage_block.tile<1x1xf32>
      %p = matmul %e, %vt : !mirage_block.tile<1x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<1x2xf32>
      yield %r, %p, %t rescale %f, %f : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    }
    %w = div %acc, %sum : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<1x4xf32>, tensor<6x4xf32>
  }
  return %y : tensor<6x4xf32>
}

// One block for all.
// CHECK: @causal_online_one_block: equivalent to @src_causal;
mirage_kernel.graph @causal_online_one_block(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [1] : (tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> tensor<6x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<6x4xf32> -> !mirage_block.tile<6x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<6x4xf32>
    %none = constant 0.0 : !mirage_block.tile<6x1xf32>
    %keep = constant 1.0 : !mirage_block.tile<6x1xf32>
    %low = bottom : !mirage_block.tile<6x1xf32>
    %top, %acc, %sum = loop 5 (%m = %low max, %a = %zero rescale, %l = %none rescale) : !mirage_block.tile<6x1xf32>, !mirage_block.tile<6x4xf32>, !mirage_block.tile<6x1xf32> {
      %kt = load %kk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %s0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<6x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %s = mul %s0, %scale : !mirage_block.tile<6x2xf32>, !mirage_block.tile<1x1xf32>
      %i = iota {dim = 0, start = 0, grid = [6]} : !mirage_block.tile<6x1xi32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %c = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<6x1xi32>
      %z = mask %c, %s : !mirage_block.tile<6x2xi1>, !mirage_block.tile<6x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<6x2xf32>
      %n = max %m, %r : !mirage_block.tile<6x1xf32>, !mirage_block.tile<6x1xf32>
      %d = sub %z, %n : !mirage_block.tile<6x2xf32>, !mirage_block.tile<6x1xf32>
      %e = exp %d : !mirage_block.tile<6x2xf32>
      %g = sub %m, %n : !mirage_block.tile<6x1xf32>, !mirage_block.tile<6x1xf32>
      %f = exp %g : !mirage_block.tile<6x1xf32>
      %p = matmul %e, %vt : !mirage_block.tile<6x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<6x2xf32>
      yield %r, %p, %t rescale %f, %f : !mirage_block.tile<6x1xf32>, !mirage_block.tile<6x4xf32>, !mirage_block.tile<6x1xf32>, !mirage_block.tile<6x1xf32>, !mirage_block.tile<6x1xf32>
    }
    %w = div %acc, %sum : !mirage_block.tile<6x4xf32>, !mirage_block.tile<6x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<6x4xf32>, tensor<6x4xf32>
  }
  return %y : tensor<6x4xf32>
}

// Tiles of 4 keys, of which the last is short: what is beyond is after every query.
// CHECK: @causal_online_ragged: equivalent to @src_causal;
mirage_kernel.graph @causal_online_ragged(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [3] : (tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> tensor<6x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %keep = constant 1.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %acc, %sum = loop 3 (%m = %low max, %a = %zero rescale, %l = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kt = load %kk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<4x4xf32>
      %vt = load %vk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<4x4xf32>
      %s0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<4x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %s = mul %s0, %scale : !mirage_block.tile<2x4xf32>, !mirage_block.tile<1x1xf32>
      %i = iota {dim = 0, start = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %j = iota {dim = 1, loop = [4]} : !mirage_block.tile<1x4xi32>
      %c = less_equal %j, %i : !mirage_block.tile<1x4xi32>, !mirage_block.tile<2x1xi32>
      %z = mask %c, %s : !mirage_block.tile<2x4xi1>, !mirage_block.tile<2x4xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x4xf32>
      %n = max %m, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %n : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x4xf32>
      %g = sub %m, %n : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %g : !mirage_block.tile<2x1xf32>
      %p = matmul %e, %vt : !mirage_block.tile<2x4xf32>, !mirage_block.tile<4x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x4xf32>
      yield %r, %p, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %acc, %sum : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<6x4xf32>
  }
  return %y : tensor<6x4xf32>
}

// Tiles of 4 queries.
// CHECK: @causal_online_ragged_rows: equivalent to @src_causal;
mirage_kernel.graph @causal_online_ragged_rows(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [2] : (tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> tensor<6x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<6x4xf32> -> !mirage_block.tile<3x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<3x4xf32>
    %none = constant 0.0 : !mirage_block.tile<3x1xf32>
    %keep = constant 1.0 : !mirage_block.tile<3x1xf32>
    %low = bottom : !mirage_block.tile<3x1xf32>
    %top, %acc, %sum = loop 5 (%m = %low max, %a = %zero rescale, %l = %none rescale) : !mirage_block.tile<3x1xf32>, !mirage_block.tile<3x4xf32>, !mirage_block.tile<3x1xf32> {
      %kt = load %kk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %s0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<3x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %s = mul %s0, %scale : !mirage_block.tile<3x2xf32>, !mirage_block.tile<1x1xf32>
      %i = iota {dim = 0, start = 0, grid = [3]} : !mirage_block.tile<3x1xi32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %c = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<3x1xi32>
      %z = mask %c, %s : !mirage_block.tile<3x2xi1>, !mirage_block.tile<3x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<3x2xf32>
      %n = max %m, %r : !mirage_block.tile<3x1xf32>, !mirage_block.tile<3x1xf32>
      %d = sub %z, %n : !mirage_block.tile<3x2xf32>, !mirage_block.tile<3x1xf32>
      %e = exp %d : !mirage_block.tile<3x2xf32>
      %g = sub %m, %n : !mirage_block.tile<3x1xf32>, !mirage_block.tile<3x1xf32>
      %f = exp %g : !mirage_block.tile<3x1xf32>
      %p = matmul %e, %vt : !mirage_block.tile<3x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<3x2xf32>
      yield %r, %p, %t rescale %f, %f : !mirage_block.tile<3x1xf32>, !mirage_block.tile<3x4xf32>, !mirage_block.tile<3x1xf32>, !mirage_block.tile<3x1xf32>, !mirage_block.tile<3x1xf32>
    }
    %w = div %acc, %sum : !mirage_block.tile<3x4xf32>, !mirage_block.tile<3x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<3x4xf32>, tensor<6x4xf32>
  }
  return %y : tensor<6x4xf32>
}

// No mask.
// CHECK: @causal_none: different
mirage_kernel.graph @causal_none(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5} : tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// One key too many.
// CHECK: @causal_by_one: different
mirage_kernel.graph @causal_by_one(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5, causal, offset = 1} : tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// One too few.
// CHECK: @causal_by_minus_one: different
mirage_kernel.graph @causal_by_minus_one(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5, causal, offset = -1} : tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// Queries at the end of the keys.
// CHECK: @causal_aligned_at_the_end: different
mirage_kernel.graph @causal_aligned_at_the_end(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5, causal, offset = 4} : tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// With a window.
// CHECK: @causal_window: different
mirage_kernel.graph @causal_window(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5, causal, window = 3} : tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// Another scale.
// CHECK: @causal_scale: different
mirage_kernel.graph @causal_scale(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.25, causal} : tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// With a cap.
// CHECK: @causal_capped: different
mirage_kernel.graph @causal_capped(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5, causal, cap = 8.0} : tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// Without itself.
// CHECK: @causal_strict: different
mirage_kernel.graph @causal_strict(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %s0 = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<10x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %s = mul %s0, %scale : tensor<6x10xf32>, tensor<f32>
  %i = iota {dim = 0, start = 0} : tensor<6x1xi32>
  %j = iota {dim = 1} : tensor<1x10xi32>
  %c = less %j, %i : tensor<1x10xi32>, tensor<6x1xi32>
  %z = mask %c, %s : tensor<6x10xi1>, tensor<6x10xf32>
  %m = reduce_max %z {dim = 1} : tensor<6x10xf32>
  %d = sub %z, %m : tensor<6x10xf32>, tensor<6x1xf32>
  %e = exp %d : tensor<6x10xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<6x10xf32>
  %w = div %e, %sum : tensor<6x10xf32>, tensor<6x1xf32>
  %y = matmul %w, %v : tensor<6x10xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// The future.
// CHECK: @causal_reverse: different
mirage_kernel.graph @causal_reverse(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %s0 = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<10x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %s = mul %s0, %scale : tensor<6x10xf32>, tensor<f32>
  %i = iota {dim = 0, start = 0} : tensor<6x1xi32>
  %j = iota {dim = 1} : tensor<1x10xi32>
  %c = greater_equal %j, %i : tensor<1x10xi32>, tensor<6x1xi32>
  %z = mask %c, %s : tensor<6x10xi1>, tensor<6x10xf32>
  %m = reduce_max %z {dim = 1} : tensor<6x10xf32>
  %d = sub %z, %m : tensor<6x10xf32>, tensor<6x1xf32>
  %e = exp %d : tensor<6x10xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<6x10xf32>
  %w = div %e, %sum : tensor<6x10xf32>, tensor<6x1xf32>
  %y = matmul %w, %v : tensor<6x10xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// -1e4 is no bottom.
// CHECK: @causal_large_number: different
mirage_kernel.graph @causal_large_number(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %s0 = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<10x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %s = mul %s0, %scale : tensor<6x10xf32>, tensor<f32>
  %i = iota {dim = 0, start = 0} : tensor<6x1xi32>
  %j = iota {dim = 1} : tensor<1x10xi32>
  %c = less_equal %j, %i : tensor<1x10xi32>, tensor<6x1xi32>
  %low = constant -10000.0 : tensor<f32>
  %z = select %c, %s, %low : tensor<6x10xi1>, tensor<6x10xf32>, tensor<f32>
  %m = reduce_max %z {dim = 1} : tensor<6x10xf32>
  %d = sub %z, %m : tensor<6x10xf32>, tensor<6x1xf32>
  %e = exp %d : tensor<6x10xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<6x10xf32>
  %w = div %e, %sum : tensor<6x10xf32>, tensor<6x1xf32>
  %y = matmul %w, %v : tensor<6x10xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// Zero even less.
// CHECK: @causal_zero: different
mirage_kernel.graph @causal_zero(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %s0 = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<10x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %s = mul %s0, %scale : tensor<6x10xf32>, tensor<f32>
  %i = iota {dim = 0, start = 0} : tensor<6x1xi32>
  %j = iota {dim = 1} : tensor<1x10xi32>
  %c = less_equal %j, %i : tensor<1x10xi32>, tensor<6x1xi32>
  %low = constant 0.0 : tensor<f32>
  %z = select %c, %s, %low : tensor<6x10xi1>, tensor<6x10xf32>, tensor<f32>
  %m = reduce_max %z {dim = 1} : tensor<6x10xf32>
  %d = sub %z, %m : tensor<6x10xf32>, tensor<6x1xf32>
  %e = exp %d : tensor<6x10xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<6x10xf32>
  %w = div %e, %sum : tensor<6x10xf32>, tensor<6x1xf32>
  %y = matmul %w, %v : tensor<6x10xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// In tiles, without itself.
// CHECK: @online_strict: different
mirage_kernel.graph @online_strict(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [3] : (tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> tensor<6x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %keep = constant 1.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %acc, %sum = loop 5 (%m = %low max, %a = %zero rescale, %l = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kt = load %kk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %s0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %s = mul %s0, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %i = iota {dim = 0, start = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %c = less %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z = mask %c, %s : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %n = max %m, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %n : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %g = sub %m, %n : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %g : !mirage_block.tile<2x1xf32>
      %p = matmul %e, %vt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %p, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %acc, %sum : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<6x4xf32>
  }
  return %y : tensor<6x4xf32>
}

// In tiles, one too many.
// CHECK: @online_by_one: different
mirage_kernel.graph @online_by_one(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [3] : (tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> tensor<6x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %keep = constant 1.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %acc, %sum = loop 5 (%m = %low max, %a = %zero rescale, %l = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kt = load %kk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %s0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %s = mul %s0, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %i = iota {dim = 0, start = 1, grid = [2]} : !mirage_block.tile<2x1xi32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %c = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z = mask %c, %s : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %n = max %m, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %n : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %g = sub %m, %n : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %g : !mirage_block.tile<2x1xf32>
      %p = matmul %e, %vt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %p, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %acc, %sum : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<6x4xf32>
  }
  return %y : tensor<6x4xf32>
}

// Tiles that do not know their rows.
// CHECK: @online_lost_row: different
mirage_kernel.graph @online_lost_row(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [3] : (tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> tensor<6x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %keep = constant 1.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %acc, %sum = loop 5 (%m = %low max, %a = %zero rescale, %l = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kt = load %kk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %s0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %s = mul %s0, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %i = iota {dim = 0, start = 0, grid = [0]} : !mirage_block.tile<2x1xi32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %c = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z = mask %c, %s : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %n = max %m, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %n : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %g = sub %m, %n : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %g : !mirage_block.tile<2x1xf32>
      %p = matmul %e, %vt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %p, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %acc, %sum : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<6x4xf32>
  }
  return %y : tensor<6x4xf32>
}

// Tiles that do not know their columns.
// CHECK: @online_lost_column: different
mirage_kernel.graph @online_lost_column(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [3] : (tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> tensor<6x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %keep = constant 1.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %acc, %sum = loop 5 (%m = %low max, %a = %zero rescale, %l = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kt = load %kk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %s0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %s = mul %s0, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %i = iota {dim = 0, start = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %j = iota {dim = 1, loop = [0]} : !mirage_block.tile<1x2xi32>
      %c = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z = mask %c, %s : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %n = max %m, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %n : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %g = sub %m, %n : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %g : !mirage_block.tile<2x1xf32>
      %p = matmul %e, %vt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %p, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %acc, %sum : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<6x4xf32>
  }
  return %y : tensor<6x4xf32>
}

// Rows that overlap.
// CHECK: @online_small_row_step: different
mirage_kernel.graph @online_small_row_step(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [3] : (tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> tensor<6x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %keep = constant 1.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %acc, %sum = loop 5 (%m = %low max, %a = %zero rescale, %l = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kt = load %kk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %s0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %s = mul %s0, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %i = iota {dim = 0, start = 0, grid = [1]} : !mirage_block.tile<2x1xi32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %c = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z = mask %c, %s : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %n = max %m, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %n : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %g = sub %m, %n : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %g : !mirage_block.tile<2x1xf32>
      %p = matmul %e, %vt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %p, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %acc, %sum : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<6x4xf32>
  }
  return %y : tensor<6x4xf32>
}

// Columns that leave some out.
// CHECK: @online_large_column_step: different
mirage_kernel.graph @online_large_column_step(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [3] : (tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> tensor<6x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %keep = constant 1.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %acc, %sum = loop 5 (%m = %low max, %a = %zero rescale, %l = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kt = load %kk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %s0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %s = mul %s0, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %i = iota {dim = 0, start = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %j = iota {dim = 1, loop = [3]} : !mirage_block.tile<1x2xi32>
      %c = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z = mask %c, %s : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %n = max %m, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %n : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %g = sub %m, %n : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %g : !mirage_block.tile<2x1xf32>
      %p = matmul %e, %vt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %p, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %acc, %sum : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<6x4xf32>
  }
  return %y : tensor<6x4xf32>
}

// The steps of the other.
// CHECK: @online_swapped_steps: different
mirage_kernel.graph @online_swapped_steps(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [2] : (tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> tensor<6x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<6x4xf32> -> !mirage_block.tile<3x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<3x4xf32>
    %none = constant 0.0 : !mirage_block.tile<3x1xf32>
    %keep = constant 1.0 : !mirage_block.tile<3x1xf32>
    %low = bottom : !mirage_block.tile<3x1xf32>
    %top, %acc, %sum = loop 5 (%m = %low max, %a = %zero rescale, %l = %none rescale) : !mirage_block.tile<3x1xf32>, !mirage_block.tile<3x4xf32>, !mirage_block.tile<3x1xf32> {
      %kt = load %kk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %s0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<3x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %s = mul %s0, %scale : !mirage_block.tile<3x2xf32>, !mirage_block.tile<1x1xf32>
      %i = iota {dim = 0, start = 0, grid = [2]} : !mirage_block.tile<3x1xi32>
      %j = iota {dim = 1, loop = [3]} : !mirage_block.tile<1x2xi32>
      %c = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<3x1xi32>
      %z = mask %c, %s : !mirage_block.tile<3x2xi1>, !mirage_block.tile<3x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<3x2xf32>
      %n = max %m, %r : !mirage_block.tile<3x1xf32>, !mirage_block.tile<3x1xf32>
      %d = sub %z, %n : !mirage_block.tile<3x2xf32>, !mirage_block.tile<3x1xf32>
      %e = exp %d : !mirage_block.tile<3x2xf32>
      %g = sub %m, %n : !mirage_block.tile<3x1xf32>, !mirage_block.tile<3x1xf32>
      %f = exp %g : !mirage_block.tile<3x1xf32>
      %p = matmul %e, %vt : !mirage_block.tile<3x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<3x2xf32>
      yield %r, %p, %t rescale %f, %f : !mirage_block.tile<3x1xf32>, !mirage_block.tile<3x4xf32>, !mirage_block.tile<3x1xf32>, !mirage_block.tile<3x1xf32>, !mirage_block.tile<3x1xf32>
    }
    %w = div %acc, %sum : !mirage_block.tile<3x4xf32>, !mirage_block.tile<3x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<3x4xf32>, tensor<6x4xf32>
  }
  return %y : tensor<6x4xf32>
}

// What was summed before stays as it was.
// CHECK: @online_no_rescale: different
mirage_kernel.graph @online_no_rescale(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [3] : (tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> tensor<6x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %keep = constant 1.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %acc, %sum = loop 5 (%m = %low max, %a = %zero rescale, %l = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kt = load %kk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %s0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %s = mul %s0, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %i = iota {dim = 0, start = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %c = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z = mask %c, %s : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %n = max %m, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %n : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %g = sub %m, %n : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %g : !mirage_block.tile<2x1xf32>
      %p = matmul %e, %vt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %p, %t rescale %keep, %keep : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %acc, %sum : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<6x4xf32>
  }
  return %y : tensor<6x4xf32>
}

// The future, in tiles.
// CHECK: @online_upper: different
mirage_kernel.graph @online_upper(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [3] : (tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> tensor<6x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %keep = constant 1.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %acc, %sum = loop 5 (%m = %low max, %a = %zero rescale, %l = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kt = load %kk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %s0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %s = mul %s0, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %i = iota {dim = 0, start = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %c = greater_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z = mask %c, %s : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %n = max %m, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %n : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %g = sub %m, %n : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %g : !mirage_block.tile<2x1xf32>
      %p = matmul %e, %vt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %p, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %acc, %sum : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<6x4xf32>
  }
  return %y : tensor<6x4xf32>
}

// Beyond the end there are no keys, but zeros: the future sees them.
// CHECK: @online_ragged_upper: different
mirage_kernel.graph @online_ragged_upper(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_causal} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [3] : (tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> tensor<6x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %keep = constant 1.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %acc, %sum = loop 3 (%m = %low max, %a = %zero rescale, %l = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kt = load %kk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<4x4xf32>
      %vt = load %vk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<4x4xf32>
      %s0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<4x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %s = mul %s0, %scale : !mirage_block.tile<2x4xf32>, !mirage_block.tile<1x1xf32>
      %i = iota {dim = 0, start = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %j = iota {dim = 1, loop = [4]} : !mirage_block.tile<1x4xi32>
      %c = greater_equal %j, %i : !mirage_block.tile<1x4xi32>, !mirage_block.tile<2x1xi32>
      %z = mask %c, %s : !mirage_block.tile<2x4xi1>, !mirage_block.tile<2x4xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x4xf32>
      %n = max %m, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %n : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x4xf32>
      %g = sub %m, %n : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %g : !mirage_block.tile<2x1xf32>
      %p = matmul %e, %vt : !mirage_block.tile<2x4xf32>, !mirage_block.tile<4x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x4xf32>
      yield %r, %p, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %acc, %sum : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<6x4xf32>
  }
  return %y : tensor<6x4xf32>
}

mirage_kernel.graph @src_window(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5, causal, offset = 4, window = 3} : tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// Written out.
// CHECK: @window_plain: equivalent to @src_window;
mirage_kernel.graph @window_plain(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_window} {
  %s0 = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<10x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %s = mul %s0, %scale : tensor<6x10xf32>, tensor<f32>
  %i = iota {dim = 0, start = 4} : tensor<6x1xi32>
  %j = iota {dim = 1} : tensor<1x10xi32>
  %c0 = less_equal %j, %i : tensor<1x10xi32>, tensor<6x1xi32>
  %h = iota {dim = 0, start = 1} : tensor<6x1xi32>
  %c1 = less %h, %j : tensor<6x1xi32>, tensor<1x10xi32>
  %c = and %c0, %c1 : tensor<6x10xi1>, tensor<6x10xi1>
  %z = mask %c, %s : tensor<6x10xi1>, tensor<6x10xf32>
  %m = reduce_max %z {dim = 1} : tensor<6x10xf32>
  %d = sub %z, %m : tensor<6x10xf32>, tensor<6x1xf32>
  %e = exp %d : tensor<6x10xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<6x10xf32>
  %w = div %e, %sum : tensor<6x10xf32>, tensor<6x1xf32>
  %y = matmul %w, %v : tensor<6x10xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// h + 1 <= j.
// CHECK: @window_closed: equivalent to @src_window;
mirage_kernel.graph @window_closed(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_window} {
  %s0 = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<10x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %s = mul %s0, %scale : tensor<6x10xf32>, tensor<f32>
  %i = iota {dim = 0, start = 4} : tensor<6x1xi32>
  %j = iota {dim = 1} : tensor<1x10xi32>
  %c0 = less_equal %j, %i : tensor<1x10xi32>, tensor<6x1xi32>
  %h = iota {dim = 0, start = 2} : tensor<6x1xi32>
  %c1 = less_equal %h, %j : tensor<6x1xi32>, tensor<1x10xi32>
  %c = and %c0, %c1 : tensor<6x10xi1>, tensor<6x10xi1>
  %z = mask %c, %s : tensor<6x10xi1>, tensor<6x10xf32>
  %m = reduce_max %z {dim = 1} : tensor<6x10xf32>
  %d = sub %z, %m : tensor<6x10xf32>, tensor<6x1xf32>
  %e = exp %d : tensor<6x10xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<6x10xf32>
  %w = div %e, %sum : tensor<6x10xf32>, tensor<6x1xf32>
  %y = matmul %w, %v : tensor<6x10xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// In tiles, the first of which some rows do not see.
// CHECK: @window_online: equivalent to @src_window;
mirage_kernel.graph @window_online(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_window} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [3] : (tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> tensor<6x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %keep = constant 1.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %acc, %sum = loop 5 (%m = %low max, %a = %zero rescale, %l = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kt = load %kk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %s0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %s = mul %s0, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %i = iota {dim = 0, start = 4, grid = [2]} : !mirage_block.tile<2x1xi32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %c0 = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %h = iota {dim = 0, start = 1, grid = [2]} : !mirage_block.tile<2x1xi32>
      %c1 = less %h, %j : !mirage_block.tile<2x1xi32>, !mirage_block.tile<1x2xi32>
      %c = and %c0, %c1 : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xi1>
      %z = mask %c, %s : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %n = max %m, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %n : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %g = sub %m, %n : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %g : !mirage_block.tile<2x1xf32>
      %p = matmul %e, %vt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %p, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %acc, %sum : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<6x4xf32>
  }
  return %y : tensor<6x4xf32>
}

// A block for each query.
// CHECK: @window_online_rows: equivalent to @src_window;
mirage_kernel.graph @window_online_rows(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_window} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [6] : (tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> tensor<6x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<6x4xf32> -> !mirage_block.tile<1x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x1xf32>
    %keep = constant 1.0 : !mirage_block.tile<1x1xf32>
    %low = bottom : !mirage_block.tile<1x1xf32>
    %top, %acc, %sum = loop 5 (%m = %low max, %a = %zero rescale, %l = %none rescale) : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32> {
      %kt = load %kk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %s0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %s = mul %s0, %scale : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %i = iota {dim = 0, start = 4, grid = [1]} : !mirage_block.tile<1x1xi32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %c0 = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<1x1xi32>
      %h = iota {dim = 0, start = 1, grid = [1]} : !mirage_block.tile<1x1xi32>
      %c1 = less %h, %j : !mirage_block.tile<1x1xi32>, !mirage_block.tile<1x2xi32>
      %c = and %c0, %c1 : !mirage_block.tile<1x2xi1>, !mirage_block.tile<1x2xi1>
      %z = mask %c, %s : !mirage_block.tile<1x2xi1>, !mirage_block.tile<1x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<1x2xf32>
      %n = max %m, %r : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %d = sub %z, %n : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %e = exp %d : !mirage_block.tile<1x2xf32>
      %g = sub %m, %n : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %f = exp %g : !mirage_block.tile<1x1xf32>
      %p = matmul %e, %vt : !mirage_block.tile<1x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<1x2xf32>
      yield %r, %p, %t rescale %f, %f : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    }
    %w = div %acc, %sum : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<1x4xf32>, tensor<6x4xf32>
  }
  return %y : tensor<6x4xf32>
}

// One more.
// CHECK: @window_wider: different
mirage_kernel.graph @window_wider(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_window} {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5, causal, offset = 4, window = 4} : tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// One fewer.
// CHECK: @window_narrower: different
mirage_kernel.graph @window_narrower(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_window} {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5, causal, offset = 4, window = 2} : tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// None.
// CHECK: @window_none: different
mirage_kernel.graph @window_none(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_window} {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5, causal, offset = 4} : tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// From another position.
// CHECK: @window_without_offset: different
mirage_kernel.graph @window_without_offset(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_window} {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5, causal, window = 3} : tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// By one.
// CHECK: @window_offset_by_one: different
mirage_kernel.graph @window_offset_by_one(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_window} {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5, causal, offset = 3, window = 3} : tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// h <= j.
// CHECK: @window_closed_by_one: different
mirage_kernel.graph @window_closed_by_one(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_window} {
  %s0 = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<10x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %s = mul %s0, %scale : tensor<6x10xf32>, tensor<f32>
  %i = iota {dim = 0, start = 4} : tensor<6x1xi32>
  %j = iota {dim = 1} : tensor<1x10xi32>
  %c0 = less_equal %j, %i : tensor<1x10xi32>, tensor<6x1xi32>
  %h = iota {dim = 0, start = 1} : tensor<6x1xi32>
  %c1 = less_equal %h, %j : tensor<6x1xi32>, tensor<1x10xi32>
  %c = and %c0, %c1 : tensor<6x10xi1>, tensor<6x10xi1>
  %z = mask %c, %s : tensor<6x10xi1>, tensor<6x10xf32>
  %m = reduce_max %z {dim = 1} : tensor<6x10xf32>
  %d = sub %z, %m : tensor<6x10xf32>, tensor<6x1xf32>
  %e = exp %d : tensor<6x10xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<6x10xf32>
  %w = div %e, %sum : tensor<6x10xf32>, tensor<6x1xf32>
  %y = matmul %w, %v : tensor<6x10xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// In tiles, one more.
// CHECK: @window_online_wider: different
mirage_kernel.graph @window_online_wider(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_window} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [3] : (tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> tensor<6x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %keep = constant 1.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %acc, %sum = loop 5 (%m = %low max, %a = %zero rescale, %l = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kt = load %kk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %s0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %s = mul %s0, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %i = iota {dim = 0, start = 4, grid = [2]} : !mirage_block.tile<2x1xi32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %c0 = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %h = iota {dim = 0, start = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %c1 = less %h, %j : !mirage_block.tile<2x1xi32>, !mirage_block.tile<1x2xi32>
      %c = and %c0, %c1 : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xi1>
      %z = mask %c, %s : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %n = max %m, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %n : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %g = sub %m, %n : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %g : !mirage_block.tile<2x1xf32>
      %p = matmul %e, %vt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %p, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %acc, %sum : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<6x4xf32>
  }
  return %y : tensor<6x4xf32>
}

// In tiles, without it.
// CHECK: @window_online_only_causal: different
mirage_kernel.graph @window_online_only_causal(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_window} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [3] : (tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> tensor<6x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<6x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %keep = constant 1.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %acc, %sum = loop 5 (%m = %low max, %a = %zero rescale, %l = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %kt = load %kk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<10x4xf32> -> !mirage_block.tile<2x4xf32>
      %s0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %s = mul %s0, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %i = iota {dim = 0, start = 4, grid = [2]} : !mirage_block.tile<2x1xi32>
      %j = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %c = less_equal %j, %i : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %z = mask %c, %s : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %n = max %m, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %n : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %g = sub %m, %n : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %g : !mirage_block.tile<2x1xf32>
      %p = matmul %e, %vt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %p, %t rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %w = div %acc, %sum : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<6x4xf32>
  }
  return %y : tensor<6x4xf32>
}

mirage_kernel.graph @src_empty(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5, causal, offset = -2} : tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// The first two queries see no key, and give 0.
// CHECK: @empty_guarded: equivalent to @src_empty;
mirage_kernel.graph @empty_guarded(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_empty} {
  %s0 = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<10x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %s = mul %s0, %scale : tensor<6x10xf32>, tensor<f32>
  %i = iota {dim = 0, start = -2} : tensor<6x1xi32>
  %j = iota {dim = 1} : tensor<1x10xi32>
  %c = less_equal %j, %i : tensor<1x10xi32>, tensor<6x1xi32>
  %z = mask %c, %s : tensor<6x10xi1>, tensor<6x10xf32>
  %m = reduce_max %z {dim = 1} : tensor<6x10xf32>
  %d = sub %z, %m : tensor<6x10xf32>, tensor<6x1xf32>
  %e = exp %d : tensor<6x10xf32>
  %any = reduce_max %c {dim = 1} : tensor<6x10xi1>
  %none = not %any : tensor<6x1xi1>
  %one = cast %none : tensor<6x1xi1> -> tensor<6x1xf32>
  %t = reduce_sum %e {dim = 1} : tensor<6x10xf32>
  %sum = add %t, %one : tensor<6x1xf32>, tensor<6x1xf32>
  %w = div %e, %sum : tensor<6x10xf32>, tensor<6x1xf32>
  %y = matmul %w, %v : tensor<6x10xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// Or their sum is said to be 1.
// CHECK: @empty_select: equivalent to @src_empty;
mirage_kernel.graph @empty_select(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_empty} {
  %s0 = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<10x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %s = mul %s0, %scale : tensor<6x10xf32>, tensor<f32>
  %i = iota {dim = 0, start = -2} : tensor<6x1xi32>
  %j = iota {dim = 1} : tensor<1x10xi32>
  %c = less_equal %j, %i : tensor<1x10xi32>, tensor<6x1xi32>
  %z = mask %c, %s : tensor<6x10xi1>, tensor<6x10xf32>
  %m = reduce_max %z {dim = 1} : tensor<6x10xf32>
  %d = sub %z, %m : tensor<6x10xf32>, tensor<6x1xf32>
  %e = exp %d : tensor<6x10xf32>
  %any = reduce_max %c {dim = 1} : tensor<6x10xi1>
  %none = not %any : tensor<6x1xi1>
  %one = cast %none : tensor<6x1xi1> -> tensor<6x1xf32>
  %t = reduce_sum %e {dim = 1} : tensor<6x10xf32>
  %sum = add %t, %one : tensor<6x1xf32>, tensor<6x1xf32>
  %w = div %e, %sum : tensor<6x10xf32>, tensor<6x1xf32>
  %y = matmul %w, %v : tensor<6x10xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// One row more than there should be.
// CHECK: @empty_wrong_rows: different
mirage_kernel.graph @empty_wrong_rows(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_empty} {
  %s0 = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<10x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %s = mul %s0, %scale : tensor<6x10xf32>, tensor<f32>
  %i = iota {dim = 0, start = -3} : tensor<6x1xi32>
  %j = iota {dim = 1} : tensor<1x10xi32>
  %c = less_equal %j, %i : tensor<1x10xi32>, tensor<6x1xi32>
  %z = mask %c, %s : tensor<6x10xi1>, tensor<6x10xf32>
  %m = reduce_max %z {dim = 1} : tensor<6x10xf32>
  %d = sub %z, %m : tensor<6x10xf32>, tensor<6x1xf32>
  %e = exp %d : tensor<6x10xf32>
  %any = reduce_max %c {dim = 1} : tensor<6x10xi1>
  %none = not %any : tensor<6x1xi1>
  %one = cast %none : tensor<6x1xi1> -> tensor<6x1xf32>
  %t = reduce_sum %e {dim = 1} : tensor<6x10xf32>
  %sum = add %t, %one : tensor<6x1xf32>, tensor<6x1xf32>
  %w = div %e, %sum : tensor<6x10xf32>, tensor<6x1xf32>
  %y = matmul %w, %v : tensor<6x10xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// None.
// CHECK: @empty_full: different
mirage_kernel.graph @empty_full(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_empty} {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5, causal} : tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

mirage_kernel.graph @src_cap(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5, cap = 8.0} : tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// 8 tanh(s / 8).
// CHECK: @cap_plain: equivalent to @src_cap;
mirage_kernel.graph @cap_plain(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_cap} {
  %s0 = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<10x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %s = mul %s0, %scale : tensor<6x10xf32>, tensor<f32>
  %in = constant 0.125 : tensor<f32>
  %a = mul %s, %in : tensor<6x10xf32>, tensor<f32>
  %b = tanh %a : tensor<6x10xf32>
  %out = constant 8.0 : tensor<f32>
  %z = mul %b, %out : tensor<6x10xf32>, tensor<f32>
  %w = softmax %z {dim = 1} : tensor<6x10xf32>
  %y = matmul %w, %v : tensor<6x10xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// Another cap.
// CHECK: @cap_other: different
mirage_kernel.graph @cap_other(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_cap} {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5, cap = 4.0} : tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// None.
// CHECK: @cap_none: different
mirage_kernel.graph @cap_none(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_cap} {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5} : tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// Not brought back.
// CHECK: @cap_only_inside: different
mirage_kernel.graph @cap_only_inside(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_cap} {
  %s0 = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<10x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %s = mul %s0, %scale : tensor<6x10xf32>, tensor<f32>
  %in = constant 0.125 : tensor<f32>
  %a = mul %s, %in : tensor<6x10xf32>, tensor<f32>
  %b = tanh %a : tensor<6x10xf32>
  %out = constant 1.0 : tensor<f32>
  %z = mul %b, %out : tensor<6x10xf32>, tensor<f32>
  %w = softmax %z {dim = 1} : tensor<6x10xf32>
  %y = matmul %w, %v : tensor<6x10xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// Not brought in.
// CHECK: @cap_only_outside: different
mirage_kernel.graph @cap_only_outside(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>) -> tensor<6x4xf32> attributes {source = @src_cap} {
  %s0 = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<10x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %s = mul %s0, %scale : tensor<6x10xf32>, tensor<f32>
  %in = constant 1.0 : tensor<f32>
  %a = mul %s, %in : tensor<6x10xf32>, tensor<f32>
  %b = tanh %a : tensor<6x10xf32>
  %out = constant 8.0 : tensor<f32>
  %z = mul %b, %out : tensor<6x10xf32>, tensor<f32>
  %w = softmax %z {dim = 1} : tensor<6x10xf32>
  %y = matmul %w, %v : tensor<6x10xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

mirage_kernel.graph @src_bias(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>, %b: tensor<6x10xf32>) -> tensor<6x4xf32> {
  %y = scaled_dot_product_attention %q, %k, %v, %b {scale = 0.5} : tensor<6x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>, tensor<6x10xf32>
  return %y : tensor<6x4xf32>
}

// Added behind the scale.
// CHECK: @bias_plain: equivalent to @src_bias;
mirage_kernel.graph @bias_plain(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>, %b: tensor<6x10xf32>) -> tensor<6x4xf32> attributes {source = @src_bias} {
  %s0 = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<10x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %s = mul %s0, %scale : tensor<6x10xf32>, tensor<f32>
  %z = add %s, %b : tensor<6x10xf32>, tensor<6x10xf32>
  %w = softmax %z {dim = 1} : tensor<6x10xf32>
  %y = matmul %w, %v : tensor<6x10xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// Twice.
// CHECK: @bias_doubled: different
mirage_kernel.graph @bias_doubled(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>, %b: tensor<6x10xf32>) -> tensor<6x4xf32> attributes {source = @src_bias} {
  %s0 = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<10x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %s = mul %s0, %scale : tensor<6x10xf32>, tensor<f32>
  %z0 = add %s, %b : tensor<6x10xf32>, tensor<6x10xf32>
  %z = add %z0, %b : tensor<6x10xf32>, tensor<6x10xf32>
  %w = softmax %z {dim = 1} : tensor<6x10xf32>
  %y = matmul %w, %v : tensor<6x10xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// Before the scale.
// CHECK: @bias_scaled: different
mirage_kernel.graph @bias_scaled(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>, %b: tensor<6x10xf32>) -> tensor<6x4xf32> attributes {source = @src_bias} {
  %s0 = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<10x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %s = add %s0, %b : tensor<6x10xf32>, tensor<6x10xf32>
  %z = mul %s, %scale : tensor<6x10xf32>, tensor<f32>
  %w = softmax %z {dim = 1} : tensor<6x10xf32>
  %y = matmul %w, %v : tensor<6x10xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// Not at all.
// CHECK: @bias_left_out: different
mirage_kernel.graph @bias_left_out(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>, %b: tensor<6x10xf32>) -> tensor<6x4xf32> attributes {source = @src_bias} {
  %s0 = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<10x4xf32>
  %scale = constant 0.5 : tensor<f32>
  
  %z = mul %s0, %scale : tensor<6x10xf32>, tensor<f32>
  %w = softmax %z {dim = 1} : tensor<6x10xf32>
  %y = matmul %w, %v : tensor<6x10xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// Behind the maximum of the scores alone: it cancels all the same.
// CHECK: @bias_after_the_maximum: equivalent to @src_bias;
mirage_kernel.graph @bias_after_the_maximum(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>, %b: tensor<6x10xf32>) -> tensor<6x4xf32> attributes {source = @src_bias} {
  %s0 = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<10x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %s = mul %s0, %scale : tensor<6x10xf32>, tensor<f32>
  %m = reduce_max %s {dim = 1} : tensor<6x10xf32>
  %d = sub %s, %m : tensor<6x10xf32>, tensor<6x1xf32>
  %z = add %d, %b : tensor<6x10xf32>, tensor<6x10xf32>
  %e = exp %z : tensor<6x10xf32>
  %t = reduce_sum %e {dim = 1} : tensor<6x10xf32>
  %w = div %e, %t : tensor<6x10xf32>, tensor<6x1xf32>
  %y = matmul %w, %v : tensor<6x10xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}

// On the weights.
// CHECK: @bias_on_weights: different
mirage_kernel.graph @bias_on_weights(%q: tensor<6x4xf32>, %k: tensor<10x4xf32>, %v: tensor<10x4xf32>, %b: tensor<6x10xf32>) -> tensor<6x4xf32> attributes {source = @src_bias} {
  %s0 = matmul %q, %k {transpose_b} : tensor<6x4xf32>, tensor<10x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %s = mul %s0, %scale : tensor<6x10xf32>, tensor<f32>
  %w0 = softmax %s {dim = 1} : tensor<6x10xf32>
  %w = add %w0, %b : tensor<6x10xf32>, tensor<6x10xf32>
  %y = matmul %w, %v : tensor<6x10xf32>, tensor<10x4xf32>
  return %y : tensor<6x4xf32>
}
