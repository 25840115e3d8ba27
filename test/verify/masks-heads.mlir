// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// Four heads of queries that share two of keys: query head h reads key head h / 2. Masks of each head, of each key head, and causal.

mirage_kernel.graph @src_heads(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> {
  %r = reshape %k : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b = broadcast %r : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %kh = reshape %b : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %r1 = reshape %v : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b1 = broadcast %r1 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %vh = reshape %b1 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %y = scaled_dot_product_attention %q, %kh, %vh, %c {scale = 0.5} : tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x6xi1>
  return %y : tensor<4x6x4xf32>
}

// A block for each head, tiles of two keys: key heads along x, those that share one along y.
// CHECK: @heads_online: equivalent to @src_heads;
mirage_kernel.graph @heads_online(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> attributes {source = @src_heads} {
  %any = reduce_max %c {dim = 2} : tensor<4x6x6xi1>
  %empty = not %any : tensor<4x6x1xi1>
  %floor = cast %empty : tensor<4x6x1xi1> -> tensor<4x6x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %c, %floork = %floor) outs(%o) grid [2, 2] : (tensor<4x6x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<4x6x6xi1>, tensor<4x6x1xf32>) -> tensor<4x6x4xf32> {
    %qt = load %qk {grid = [0, 0]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x6x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x6x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x6x1xf32>
    %low = bottom : !mirage_block.tile<1x6x1xf32>
    %top, %sum, %sum1 = loop 3 (%c1 = %low max, %c2 = %zero rescale, %c3 = %none rescale) : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32> {
      %t = load %kk {grid = [0], loop = [1]} : tensor<2x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %vt = load %vk {grid = [0], loop = [1]} : tensor<2x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x1x1xf32>
      %ct = load %ck {grid = [0, 0], loop = [2]} : tensor<4x6x6xi1> -> !mirage_block.tile<1x6x2xi1>
      %z = mask %ct, %x : !mirage_block.tile<1x6x2xi1>, !mirage_block.tile<1x6x2xf32>
      %r = reduce_max %z {dim = 2} : !mirage_block.tile<1x6x2xf32>
      %new = max %c1, %r : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x6x1xf32>
      %e = exp %d : !mirage_block.tile<1x6x2xf32>
      %df = sub %c1, %new : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
      %f = exp %df : !mirage_block.tile<1x6x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x2x4xf32>
      %t1 = reduce_sum %e {dim = 2} : !mirage_block.tile<1x6x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
    }
    %ft = load %floork {grid = [0, 0]} : tensor<4x6x1xf32> -> !mirage_block.tile<1x6x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32>
    store %w, %o {grid = [0, 0]} : !mirage_block.tile<1x6x4xf32>, tensor<4x6x4xf32>
  }
  return %y : tensor<4x6x4xf32>
}

// Tiles of three.
// CHECK: @heads_online_halves: equivalent to @src_heads;
mirage_kernel.graph @heads_online_halves(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> attributes {source = @src_heads} {
  %any = reduce_max %c {dim = 2} : tensor<4x6x6xi1>
  %empty = not %any : tensor<4x6x1xi1>
  %floor = cast %empty : tensor<4x6x1xi1> -> tensor<4x6x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %c, %floork = %floor) outs(%o) grid [2, 2] : (tensor<4x6x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<4x6x6xi1>, tensor<4x6x1xf32>) -> tensor<4x6x4xf32> {
    %qt = load %qk {grid = [0, 0]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x6x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x6x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x6x1xf32>
    %low = bottom : !mirage_block.tile<1x6x1xf32>
    %top, %sum, %sum1 = loop 2 (%c1 = %low max, %c2 = %zero rescale, %c3 = %none rescale) : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32> {
      %t = load %kk {grid = [0], loop = [1]} : tensor<2x6x4xf32> -> !mirage_block.tile<1x3x4xf32>
      %vt = load %vk {grid = [0], loop = [1]} : tensor<2x6x4xf32> -> !mirage_block.tile<1x3x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x3x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x6x3xf32>, !mirage_block.tile<1x1x1xf32>
      %ct = load %ck {grid = [0, 0], loop = [2]} : tensor<4x6x6xi1> -> !mirage_block.tile<1x6x3xi1>
      %z = mask %ct, %x : !mirage_block.tile<1x6x3xi1>, !mirage_block.tile<1x6x3xf32>
      %r = reduce_max %z {dim = 2} : !mirage_block.tile<1x6x3xf32>
      %new = max %c1, %r : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x6x3xf32>, !mirage_block.tile<1x6x1xf32>
      %e = exp %d : !mirage_block.tile<1x6x3xf32>
      %df = sub %c1, %new : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
      %f = exp %df : !mirage_block.tile<1x6x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x6x3xf32>, !mirage_block.tile<1x3x4xf32>
      %t1 = reduce_sum %e {dim = 2} : !mirage_block.tile<1x6x3xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
    }
    %ft = load %floork {grid = [0, 0]} : tensor<4x6x1xf32> -> !mirage_block.tile<1x6x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32>
    store %w, %o {grid = [0, 0]} : !mirage_block.tile<1x6x4xf32>, tensor<4x6x4xf32>
  }
  return %y : tensor<4x6x4xf32>
}

// A block for each head and two rows.
// CHECK: @heads_online_rows: equivalent to @src_heads;
mirage_kernel.graph @heads_online_rows(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> attributes {source = @src_heads} {
  %any = reduce_max %c {dim = 2} : tensor<4x6x6xi1>
  %empty = not %any : tensor<4x6x1xi1>
  %floor = cast %empty : tensor<4x6x1xi1> -> tensor<4x6x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %c, %floork = %floor) outs(%o) grid [2, 2, 3] : (tensor<4x6x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<4x6x6xi1>, tensor<4x6x1xf32>) -> tensor<4x6x4xf32> {
    %qt = load %qk {grid = [0, 0, 1]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x2x1xf32>
    %low = bottom : !mirage_block.tile<1x2x1xf32>
    %top, %sum, %sum1 = loop 3 (%c1 = %low max, %c2 = %zero rescale, %c3 = %none rescale) : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x4xf32>, !mirage_block.tile<1x2x1xf32> {
      %t = load %kk {grid = [0], loop = [1]} : tensor<2x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %vt = load %vk {grid = [0], loop = [1]} : tensor<2x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x2x4xf32>, !mirage_block.tile<1x2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x2x2xf32>, !mirage_block.tile<1x1x1xf32>
      %ct = load %ck {grid = [0, 0, 1], loop = [2]} : tensor<4x6x6xi1> -> !mirage_block.tile<1x2x2xi1>
      %z = mask %ct, %x : !mirage_block.tile<1x2x2xi1>, !mirage_block.tile<1x2x2xf32>
      %r = reduce_max %z {dim = 2} : !mirage_block.tile<1x2x2xf32>
      %new = max %c1, %r : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x2x2xf32>, !mirage_block.tile<1x2x1xf32>
      %e = exp %d : !mirage_block.tile<1x2x2xf32>
      %df = sub %c1, %new : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>
      %f = exp %df : !mirage_block.tile<1x2x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x2x2xf32>, !mirage_block.tile<1x2x4xf32>
      %t1 = reduce_sum %e {dim = 2} : !mirage_block.tile<1x2x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x4xf32>, !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>
    }
    %ft = load %floork {grid = [0, 0, 1]} : tensor<4x6x1xf32> -> !mirage_block.tile<1x2x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x2x4xf32>, !mirage_block.tile<1x2x1xf32>
    store %w, %o {grid = [0, 0, 1]} : !mirage_block.tile<1x2x4xf32>, tensor<4x6x4xf32>
  }
  return %y : tensor<4x6x4xf32>
}

// Keys and values stretched first, one axis of blocks.
// CHECK: @heads_stretched: equivalent to @src_heads;
mirage_kernel.graph @heads_stretched(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> attributes {source = @src_heads} {
  %r = reshape %k : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b = broadcast %r : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %kh = reshape %b : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %r1 = reshape %v : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b1 = broadcast %r1 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %vh = reshape %b1 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %any = reduce_max %c {dim = 2} : tensor<4x6x6xi1>
  %empty = not %any : tensor<4x6x1xi1>
  %floor = cast %empty : tensor<4x6x1xi1> -> tensor<4x6x1xf32>
  %y = custom (%qk = %q, %khk = %kh, %vhk = %vh, %ck = %c, %floork = %floor) outs(%o) grid [4] : (tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x6xi1>, tensor<4x6x1xf32>) -> tensor<4x6x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x6x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x6x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x6x1xf32>
    %low = bottom : !mirage_block.tile<1x6x1xf32>
    %top, %sum, %sum1 = loop 3 (%c1 = %low max, %c2 = %zero rescale, %c3 = %none rescale) : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32> {
      %kht = load %khk {grid = [0], loop = [1]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %vht = load %vhk {grid = [0], loop = [1]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %raw = matmul %qt, %kht {transpose_b} : !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x1x1xf32>
      %ct = load %ck {grid = [0], loop = [2]} : tensor<4x6x6xi1> -> !mirage_block.tile<1x6x2xi1>
      %z = mask %ct, %x : !mirage_block.tile<1x6x2xi1>, !mirage_block.tile<1x6x2xf32>
      %r2 = reduce_max %z {dim = 2} : !mirage_block.tile<1x6x2xf32>
      %new = max %c1, %r2 : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x6x1xf32>
      %e = exp %d : !mirage_block.tile<1x6x2xf32>
      %df = sub %c1, %new : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
      %f = exp %df : !mirage_block.tile<1x6x1xf32>
      %pv = matmul %e, %vht : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x2x4xf32>
      %t = reduce_sum %e {dim = 2} : !mirage_block.tile<1x6x2xf32>
      yield %r2, %pv, %t rescale %f, %f : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<4x6x1xf32> -> !mirage_block.tile<1x6x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<1x6x4xf32>, tensor<4x6x4xf32>
  }
  return %y : tensor<4x6x4xf32>
}

// Written out.
// CHECK: @heads_plain: equivalent to @src_heads;
mirage_kernel.graph @heads_plain(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> attributes {source = @src_heads} {
  %r = reshape %k : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b = broadcast %r : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %kh = reshape %b : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %raw = matmul %q, %kh {transpose_b} : tensor<4x6x4xf32>, tensor<4x6x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<4x6x6xf32>, tensor<f32>
  %z = mask %c, %x : tensor<4x6x6xi1>, tensor<4x6x6xf32>
  %r1 = reshape %v : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b1 = broadcast %r1 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %vh = reshape %b1 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %any = reduce_max %c {dim = 2} : tensor<4x6x6xi1>
  %empty = not %any : tensor<4x6x1xi1>
  %floor = cast %empty : tensor<4x6x1xi1> -> tensor<4x6x1xf32>
  %m = reduce_max %z {dim = 2} : tensor<4x6x6xf32>
  %d = sub %z, %m : tensor<4x6x6xf32>, tensor<4x6x1xf32>
  %e = exp %d : tensor<4x6x6xf32>
  %sum = reduce_sum %e {dim = 2} : tensor<4x6x6xf32>
  %divisor = add %sum, %floor : tensor<4x6x1xf32>, tensor<4x6x1xf32>
  %w = div %e, %divisor : tensor<4x6x6xf32>, tensor<4x6x1xf32>
  %y = matmul %w, %vh : tensor<4x6x6xf32>, tensor<4x6x4xf32>
  return %y : tensor<4x6x4xf32>
}

// The mask of the next head.
// CHECK: @heads_next: different
mirage_kernel.graph @heads_next(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> attributes {source = @src_heads} {
  %s = slice %c {dim = 0, begin = 1, end = 4} : tensor<4x6x6xi1>
  %s1 = slice %c {dim = 0, begin = 0, end = 1} : tensor<4x6x6xi1>
  %cn = concat %s, %s1 {dim = 0} : tensor<3x6x6xi1>, tensor<1x6x6xi1>
  %r = reshape %k : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b = broadcast %r : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %kh = reshape %b : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %r1 = reshape %v : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b1 = broadcast %r1 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %vh = reshape %b1 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %y = scaled_dot_product_attention %q, %kh, %vh, %cn {scale = 0.5} : tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x6xi1>
  return %y : tensor<4x6x4xf32>
}

// Of the other group.
// CHECK: @heads_other_group: different
mirage_kernel.graph @heads_other_group(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> attributes {source = @src_heads} {
  %s = slice %c {dim = 0, begin = 2, end = 4} : tensor<4x6x6xi1>
  %s1 = slice %c {dim = 0, begin = 0, end = 2} : tensor<4x6x6xi1>
  %cn = concat %s, %s1 {dim = 0} : tensor<2x6x6xi1>, tensor<2x6x6xi1>
  %r = reshape %k : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b = broadcast %r : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %kh = reshape %b : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %r1 = reshape %v : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b1 = broadcast %r1 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %vh = reshape %b1 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %y = scaled_dot_product_attention %q, %kh, %vh, %cn {scale = 0.5} : tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x6xi1>
  return %y : tensor<4x6x4xf32>
}

// Of the group's first head, for both.
// CHECK: @heads_first_of_group: different
mirage_kernel.graph @heads_first_of_group(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> attributes {source = @src_heads} {
  %r = reshape %c : tensor<4x6x6xi1> -> tensor<2x2x6x6xi1>
  %s = slice %r {dim = 1, begin = 0, end = 1} : tensor<2x2x6x6xi1>
  %b = broadcast %s : tensor<2x1x6x6xi1> -> tensor<2x2x6x6xi1>
  %cn = reshape %b : tensor<2x2x6x6xi1> -> tensor<4x6x6xi1>
  %r1 = reshape %k : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b1 = broadcast %r1 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %kh = reshape %b1 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %r2 = reshape %v : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b2 = broadcast %r2 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %vh = reshape %b2 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %y = scaled_dot_product_attention %q, %kh, %vh, %cn {scale = 0.5} : tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x6xi1>
  return %y : tensor<4x6x4xf32>
}

// Masks counted across groups: h % 2 before h / 2.
// CHECK: @heads_interleaved: different
mirage_kernel.graph @heads_interleaved(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> attributes {source = @src_heads} {
  %r = reshape %c : tensor<4x6x6xi1> -> tensor<2x2x6x6xi1>
  %t = transpose %r {perm = [1, 0, 2, 3]} : tensor<2x2x6x6xi1>
  %cn = reshape %t : tensor<2x2x6x6xi1> -> tensor<4x6x6xi1>
  %r1 = reshape %k : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b = broadcast %r1 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %kh = reshape %b : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %r2 = reshape %v : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b1 = broadcast %r2 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %vh = reshape %b1 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %y = scaled_dot_product_attention %q, %kh, %vh, %cn {scale = 0.5} : tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x6xi1>
  return %y : tensor<4x6x4xf32>
}

// The first head's, for all.
// CHECK: @heads_one_for_all: different
mirage_kernel.graph @heads_one_for_all(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> attributes {source = @src_heads} {
  %s = slice %c {dim = 0, begin = 0, end = 1} : tensor<4x6x6xi1>
  %r = reshape %k : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b = broadcast %r : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %kh = reshape %b : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %r1 = reshape %v : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b1 = broadcast %r1 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %vh = reshape %b1 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %y = scaled_dot_product_attention %q, %kh, %vh, %s {scale = 0.5} : tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<1x6x6xi1>
  return %y : tensor<4x6x4xf32>
}

// What any head sees.
// CHECK: @heads_any: different
mirage_kernel.graph @heads_any(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> attributes {source = @src_heads} {
  %any = reduce_max %c {dim = 0} : tensor<4x6x6xi1>
  %r = reshape %k : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b = broadcast %r : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %kh = reshape %b : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %r1 = reshape %v : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b1 = broadcast %r1 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %vh = reshape %b1 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %y = scaled_dot_product_attention %q, %kh, %vh, %any {scale = 0.5} : tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<1x6x6xi1>
  return %y : tensor<4x6x4xf32>
}

// Each head's transposed.
// CHECK: @heads_turned: different
mirage_kernel.graph @heads_turned(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> attributes {source = @src_heads} {
  %t = transpose %c {perm = [0, 2, 1]} : tensor<4x6x6xi1>
  %r = reshape %k : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b = broadcast %r : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %kh = reshape %b : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %r1 = reshape %v : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b1 = broadcast %r1 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %vh = reshape %b1 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %y = scaled_dot_product_attention %q, %kh, %vh, %t {scale = 0.5} : tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x6xi1>
  return %y : tensor<4x6x4xf32>
}

// Key heads in turn: h % 2 for h / 2.
// CHECK: @heads_keys_repeated: different
mirage_kernel.graph @heads_keys_repeated(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> attributes {source = @src_heads} {
  %r = repeat %k {dim = 0, times = 2} : tensor<2x6x4xf32>
  %r1 = repeat %v {dim = 0, times = 2} : tensor<2x6x4xf32>
  %y = scaled_dot_product_attention %q, %r, %r1, %c {scale = 0.5} : tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x6xi1>
  return %y : tensor<4x6x4xf32>
}

// Only the values in turn.
// CHECK: @heads_values_repeated: different
mirage_kernel.graph @heads_values_repeated(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> attributes {source = @src_heads} {
  %r = reshape %k : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b = broadcast %r : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %kh = reshape %b : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %r1 = repeat %v {dim = 0, times = 2} : tensor<2x6x4xf32>
  %y = scaled_dot_product_attention %q, %kh, %r1, %c {scale = 0.5} : tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x6xi1>
  return %y : tensor<4x6x4xf32>
}

// One by one, by the other key head.
// CHECK: @heads_keys_one_by_one: different
mirage_kernel.graph @heads_keys_one_by_one(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> attributes {source = @src_heads} {
  %qh = slice %q {dim = 0, begin = 0, end = 1} : tensor<4x6x4xf32>
  %kh = slice %k {dim = 0, begin = 1, end = 2} : tensor<2x6x4xf32>
  %vh = slice %v {dim = 0, begin = 1, end = 2} : tensor<2x6x4xf32>
  %ch = slice %c {dim = 0, begin = 0, end = 1} : tensor<4x6x6xi1>
  %y = scaled_dot_product_attention %qh, %kh, %vh, %ch {scale = 0.5} : tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x6xi1>
  %qh1 = slice %q {dim = 0, begin = 1, end = 2} : tensor<4x6x4xf32>
  %kh1 = slice %k {dim = 0, begin = 1, end = 2} : tensor<2x6x4xf32>
  %vh1 = slice %v {dim = 0, begin = 1, end = 2} : tensor<2x6x4xf32>
  %ch1 = slice %c {dim = 0, begin = 1, end = 2} : tensor<4x6x6xi1>
  %y1 = scaled_dot_product_attention %qh1, %kh1, %vh1, %ch1 {scale = 0.5} : tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x6xi1>
  %qh2 = slice %q {dim = 0, begin = 2, end = 3} : tensor<4x6x4xf32>
  %kh2 = slice %k {dim = 0, begin = 0, end = 1} : tensor<2x6x4xf32>
  %vh2 = slice %v {dim = 0, begin = 0, end = 1} : tensor<2x6x4xf32>
  %ch2 = slice %c {dim = 0, begin = 2, end = 3} : tensor<4x6x6xi1>
  %y2 = scaled_dot_product_attention %qh2, %kh2, %vh2, %ch2 {scale = 0.5} : tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x6xi1>
  %qh3 = slice %q {dim = 0, begin = 3, end = 4} : tensor<4x6x4xf32>
  %kh3 = slice %k {dim = 0, begin = 0, end = 1} : tensor<2x6x4xf32>
  %vh3 = slice %v {dim = 0, begin = 0, end = 1} : tensor<2x6x4xf32>
  %ch3 = slice %c {dim = 0, begin = 3, end = 4} : tensor<4x6x6xi1>
  %y3 = scaled_dot_product_attention %qh3, %kh3, %vh3, %ch3 {scale = 0.5} : tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x6xi1>
  %all = concat %y, %y1, %y2, %y3 {dim = 0} : tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>
  return %all : tensor<4x6x4xf32>
}

// One by one, the masks of a group exchanged.
// CHECK: @heads_masks_one_by_one: different
mirage_kernel.graph @heads_masks_one_by_one(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> attributes {source = @src_heads} {
  %qh = slice %q {dim = 0, begin = 0, end = 1} : tensor<4x6x4xf32>
  %kh = slice %k {dim = 0, begin = 0, end = 1} : tensor<2x6x4xf32>
  %vh = slice %v {dim = 0, begin = 0, end = 1} : tensor<2x6x4xf32>
  %ch = slice %c {dim = 0, begin = 1, end = 2} : tensor<4x6x6xi1>
  %y = scaled_dot_product_attention %qh, %kh, %vh, %ch {scale = 0.5} : tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x6xi1>
  %qh1 = slice %q {dim = 0, begin = 1, end = 2} : tensor<4x6x4xf32>
  %kh1 = slice %k {dim = 0, begin = 0, end = 1} : tensor<2x6x4xf32>
  %vh1 = slice %v {dim = 0, begin = 0, end = 1} : tensor<2x6x4xf32>
  %ch1 = slice %c {dim = 0, begin = 0, end = 1} : tensor<4x6x6xi1>
  %y1 = scaled_dot_product_attention %qh1, %kh1, %vh1, %ch1 {scale = 0.5} : tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x6xi1>
  %qh2 = slice %q {dim = 0, begin = 2, end = 3} : tensor<4x6x4xf32>
  %kh2 = slice %k {dim = 0, begin = 1, end = 2} : tensor<2x6x4xf32>
  %vh2 = slice %v {dim = 0, begin = 1, end = 2} : tensor<2x6x4xf32>
  %ch2 = slice %c {dim = 0, begin = 3, end = 4} : tensor<4x6x6xi1>
  %y2 = scaled_dot_product_attention %qh2, %kh2, %vh2, %ch2 {scale = 0.5} : tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x6xi1>
  %qh3 = slice %q {dim = 0, begin = 3, end = 4} : tensor<4x6x4xf32>
  %kh3 = slice %k {dim = 0, begin = 1, end = 2} : tensor<2x6x4xf32>
  %vh3 = slice %v {dim = 0, begin = 1, end = 2} : tensor<2x6x4xf32>
  %ch3 = slice %c {dim = 0, begin = 2, end = 3} : tensor<4x6x6xi1>
  %y3 = scaled_dot_product_attention %qh3, %kh3, %vh3, %ch3 {scale = 0.5} : tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x6xi1>
  %all = concat %y, %y1, %y2, %y3 {dim = 0} : tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>
  return %all : tensor<4x6x4xf32>
}

// A block reads the other group's mask.
// CHECK: @heads_online_other_mask: different
mirage_kernel.graph @heads_online_other_mask(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> attributes {source = @src_heads} {
  %s = slice %c {dim = 0, begin = 2, end = 4} : tensor<4x6x6xi1>
  %s1 = slice %c {dim = 0, begin = 0, end = 2} : tensor<4x6x6xi1>
  %k1 = concat %s, %s1 {dim = 0} : tensor<2x6x6xi1>, tensor<2x6x6xi1>
  %any = reduce_max %c {dim = 2} : tensor<4x6x6xi1>
  %empty = not %any : tensor<4x6x1xi1>
  %floor = cast %empty : tensor<4x6x1xi1> -> tensor<4x6x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %k1k = %k1, %floork = %floor) outs(%o) grid [2, 2] : (tensor<4x6x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<4x6x6xi1>, tensor<4x6x1xf32>) -> tensor<4x6x4xf32> {
    %qt = load %qk {grid = [0, 0]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x6x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x6x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x6x1xf32>
    %low = bottom : !mirage_block.tile<1x6x1xf32>
    %top, %sum, %sum1 = loop 3 (%c1 = %low max, %c2 = %zero rescale, %c3 = %none rescale) : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32> {
      %t = load %kk {grid = [0], loop = [1]} : tensor<2x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %vt = load %vk {grid = [0], loop = [1]} : tensor<2x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x1x1xf32>
      %ct = load %k1k {grid = [0, 0], loop = [2]} : tensor<4x6x6xi1> -> !mirage_block.tile<1x6x2xi1>
      %z = mask %ct, %x : !mirage_block.tile<1x6x2xi1>, !mirage_block.tile<1x6x2xf32>
      %r = reduce_max %z {dim = 2} : !mirage_block.tile<1x6x2xf32>
      %new = max %c1, %r : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x6x1xf32>
      %e = exp %d : !mirage_block.tile<1x6x2xf32>
      %df = sub %c1, %new : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
      %f = exp %df : !mirage_block.tile<1x6x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x2x4xf32>
      %t1 = reduce_sum %e {dim = 2} : !mirage_block.tile<1x6x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
    }
    %ft = load %floork {grid = [0, 0]} : tensor<4x6x1xf32> -> !mirage_block.tile<1x6x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32>
    store %w, %o {grid = [0, 0]} : !mirage_block.tile<1x6x4xf32>, tensor<4x6x4xf32>
  }
  return %y : tensor<4x6x4xf32>
}

// The next head's.
// CHECK: @heads_online_next_mask: different
mirage_kernel.graph @heads_online_next_mask(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> attributes {source = @src_heads} {
  %s = slice %c {dim = 0, begin = 1, end = 4} : tensor<4x6x6xi1>
  %s1 = slice %c {dim = 0, begin = 0, end = 1} : tensor<4x6x6xi1>
  %k1 = concat %s, %s1 {dim = 0} : tensor<3x6x6xi1>, tensor<1x6x6xi1>
  %any = reduce_max %c {dim = 2} : tensor<4x6x6xi1>
  %empty = not %any : tensor<4x6x1xi1>
  %floor = cast %empty : tensor<4x6x1xi1> -> tensor<4x6x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %k1k = %k1, %floork = %floor) outs(%o) grid [2, 2] : (tensor<4x6x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<4x6x6xi1>, tensor<4x6x1xf32>) -> tensor<4x6x4xf32> {
    %qt = load %qk {grid = [0, 0]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x6x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x6x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x6x1xf32>
    %low = bottom : !mirage_block.tile<1x6x1xf32>
    %top, %sum, %sum1 = loop 3 (%c1 = %low max, %c2 = %zero rescale, %c3 = %none rescale) : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32> {
      %t = load %kk {grid = [0], loop = [1]} : tensor<2x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %vt = load %vk {grid = [0], loop = [1]} : tensor<2x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x1x1xf32>
      %ct = load %k1k {grid = [0, 0], loop = [2]} : tensor<4x6x6xi1> -> !mirage_block.tile<1x6x2xi1>
      %z = mask %ct, %x : !mirage_block.tile<1x6x2xi1>, !mirage_block.tile<1x6x2xf32>
      %r = reduce_max %z {dim = 2} : !mirage_block.tile<1x6x2xf32>
      %new = max %c1, %r : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x6x1xf32>
      %e = exp %d : !mirage_block.tile<1x6x2xf32>
      %df = sub %c1, %new : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
      %f = exp %df : !mirage_block.tile<1x6x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x2x4xf32>
      %t1 = reduce_sum %e {dim = 2} : !mirage_block.tile<1x6x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
    }
    %ft = load %floork {grid = [0, 0]} : tensor<4x6x1xf32> -> !mirage_block.tile<1x6x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32>
    store %w, %o {grid = [0, 0]} : !mirage_block.tile<1x6x4xf32>, tensor<4x6x4xf32>
  }
  return %y : tensor<4x6x4xf32>
}

// All read the first head's.
// CHECK: @heads_online_one_mask: different
mirage_kernel.graph @heads_online_one_mask(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> attributes {source = @src_heads} {
  %s = slice %c {dim = 0, begin = 0, end = 1} : tensor<4x6x6xi1>
  %any = reduce_max %c {dim = 2} : tensor<4x6x6xi1>
  %empty = not %any : tensor<4x6x1xi1>
  %floor = cast %empty : tensor<4x6x1xi1> -> tensor<4x6x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %sk = %s, %floork = %floor) outs(%o) grid [2, 2] : (tensor<4x6x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<1x6x6xi1>, tensor<4x6x1xf32>) -> tensor<4x6x4xf32> {
    %qt = load %qk {grid = [0, 0]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x6x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x6x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x6x1xf32>
    %low = bottom : !mirage_block.tile<1x6x1xf32>
    %top, %sum, %sum1 = loop 3 (%c1 = %low max, %c2 = %zero rescale, %c3 = %none rescale) : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32> {
      %t = load %kk {grid = [0], loop = [1]} : tensor<2x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %vt = load %vk {grid = [0], loop = [1]} : tensor<2x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x1x1xf32>
      %ct = load %sk {loop = [2]} : tensor<1x6x6xi1> -> !mirage_block.tile<1x6x2xi1>
      %z = mask %ct, %x : !mirage_block.tile<1x6x2xi1>, !mirage_block.tile<1x6x2xf32>
      %r = reduce_max %z {dim = 2} : !mirage_block.tile<1x6x2xf32>
      %new = max %c1, %r : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x6x1xf32>
      %e = exp %d : !mirage_block.tile<1x6x2xf32>
      %df = sub %c1, %new : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
      %f = exp %df : !mirage_block.tile<1x6x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x2x4xf32>
      %t1 = reduce_sum %e {dim = 2} : !mirage_block.tile<1x6x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
    }
    %ft = load %floork {grid = [0, 0]} : tensor<4x6x1xf32> -> !mirage_block.tile<1x6x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32>
    store %w, %o {grid = [0, 0]} : !mirage_block.tile<1x6x4xf32>, tensor<4x6x4xf32>
  }
  return %y : tensor<4x6x4xf32>
}

// Both heads of a group read one of the first two.
// CHECK: @heads_online_group_mask: different
mirage_kernel.graph @heads_online_group_mask(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> attributes {source = @src_heads} {
  %s = slice %c {dim = 0, begin = 0, end = 2} : tensor<4x6x6xi1>
  %any = reduce_max %c {dim = 2} : tensor<4x6x6xi1>
  %empty = not %any : tensor<4x6x1xi1>
  %floor = cast %empty : tensor<4x6x1xi1> -> tensor<4x6x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %sk = %s, %floork = %floor) outs(%o) grid [2, 2] : (tensor<4x6x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x6x6xi1>, tensor<4x6x1xf32>) -> tensor<4x6x4xf32> {
    %qt = load %qk {grid = [0, 0]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x6x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x6x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x6x1xf32>
    %low = bottom : !mirage_block.tile<1x6x1xf32>
    %top, %sum, %sum1 = loop 3 (%c1 = %low max, %c2 = %zero rescale, %c3 = %none rescale) : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32> {
      %t = load %kk {grid = [0], loop = [1]} : tensor<2x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %vt = load %vk {grid = [0], loop = [1]} : tensor<2x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x1x1xf32>
      %ct = load %sk {grid = [0, -1], loop = [2]} : tensor<2x6x6xi1> -> !mirage_block.tile<1x6x2xi1>
      %z = mask %ct, %x : !mirage_block.tile<1x6x2xi1>, !mirage_block.tile<1x6x2xf32>
      %r = reduce_max %z {dim = 2} : !mirage_block.tile<1x6x2xf32>
      %new = max %c1, %r : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x6x1xf32>
      %e = exp %d : !mirage_block.tile<1x6x2xf32>
      %df = sub %c1, %new : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
      %f = exp %df : !mirage_block.tile<1x6x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x2x4xf32>
      %t1 = reduce_sum %e {dim = 2} : !mirage_block.tile<1x6x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
    }
    %ft = load %floork {grid = [0, 0]} : tensor<4x6x1xf32> -> !mirage_block.tile<1x6x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32>
    store %w, %o {grid = [0, 0]} : !mirage_block.tile<1x6x4xf32>, tensor<4x6x4xf32>
  }
  return %y : tensor<4x6x4xf32>
}

// The mask is split along y before x.
// CHECK: @heads_online_crossed: different
mirage_kernel.graph @heads_online_crossed(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> attributes {source = @src_heads} {
  %r = reshape %c : tensor<4x6x6xi1> -> tensor<2x2x6x6xi1>
  %t = transpose %r {perm = [1, 0, 2, 3]} : tensor<2x2x6x6xi1>
  %cn = reshape %t : tensor<2x2x6x6xi1> -> tensor<4x6x6xi1>
  %any = reduce_max %c {dim = 2} : tensor<4x6x6xi1>
  %empty = not %any : tensor<4x6x1xi1>
  %floor = cast %empty : tensor<4x6x1xi1> -> tensor<4x6x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %cnk = %cn, %floork = %floor) outs(%o) grid [2, 2] : (tensor<4x6x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<4x6x6xi1>, tensor<4x6x1xf32>) -> tensor<4x6x4xf32> {
    %qt = load %qk {grid = [0, 0]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x6x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x6x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x6x1xf32>
    %low = bottom : !mirage_block.tile<1x6x1xf32>
    %top, %sum, %sum1 = loop 3 (%c1 = %low max, %c2 = %zero rescale, %c3 = %none rescale) : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32> {
      %t1 = load %kk {grid = [0], loop = [1]} : tensor<2x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %vt = load %vk {grid = [0], loop = [1]} : tensor<2x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %raw = matmul %qt, %t1 {transpose_b} : !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x1x1xf32>
      %ct = load %cnk {grid = [0, 0], loop = [2]} : tensor<4x6x6xi1> -> !mirage_block.tile<1x6x2xi1>
      %z = mask %ct, %x : !mirage_block.tile<1x6x2xi1>, !mirage_block.tile<1x6x2xf32>
      %r1 = reduce_max %z {dim = 2} : !mirage_block.tile<1x6x2xf32>
      %new = max %c1, %r1 : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x6x1xf32>
      %e = exp %d : !mirage_block.tile<1x6x2xf32>
      %df = sub %c1, %new : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
      %f = exp %df : !mirage_block.tile<1x6x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x2x4xf32>
      %t2 = reduce_sum %e {dim = 2} : !mirage_block.tile<1x6x2xf32>
      yield %r1, %pv, %t2 rescale %f, %f : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
    }
    %ft = load %floork {grid = [0, 0]} : tensor<4x6x1xf32> -> !mirage_block.tile<1x6x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32>
    store %w, %o {grid = [0, 0]} : !mirage_block.tile<1x6x4xf32>, tensor<4x6x4xf32>
  }
  return %y : tensor<4x6x4xf32>
}

// Keys go along y, where the heads are that share them.
// CHECK: @heads_online_keys_crossed: different
mirage_kernel.graph @heads_online_keys_crossed(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> attributes {source = @src_heads} {
  %any = reduce_max %c {dim = 2} : tensor<4x6x6xi1>
  %empty = not %any : tensor<4x6x1xi1>
  %floor = cast %empty : tensor<4x6x1xi1> -> tensor<4x6x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %c, %floork = %floor) outs(%o) grid [2, 2] : (tensor<4x6x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<4x6x6xi1>, tensor<4x6x1xf32>) -> tensor<4x6x4xf32> {
    %qt = load %qk {grid = [0, 0]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x6x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x6x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x6x1xf32>
    %low = bottom : !mirage_block.tile<1x6x1xf32>
    %top, %sum, %sum1 = loop 3 (%c1 = %low max, %c2 = %zero rescale, %c3 = %none rescale) : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32> {
      %t = load %kk {grid = [-1, 0], loop = [1]} : tensor<2x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %vt = load %vk {grid = [-1, 0], loop = [1]} : tensor<2x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x1x1xf32>
      %ct = load %ck {grid = [0, 0], loop = [2]} : tensor<4x6x6xi1> -> !mirage_block.tile<1x6x2xi1>
      %z = mask %ct, %x : !mirage_block.tile<1x6x2xi1>, !mirage_block.tile<1x6x2xf32>
      %r = reduce_max %z {dim = 2} : !mirage_block.tile<1x6x2xf32>
      %new = max %c1, %r : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x6x1xf32>
      %e = exp %d : !mirage_block.tile<1x6x2xf32>
      %df = sub %c1, %new : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
      %f = exp %df : !mirage_block.tile<1x6x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x2x4xf32>
      %t1 = reduce_sum %e {dim = 2} : !mirage_block.tile<1x6x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
    }
    %ft = load %floork {grid = [0, 0]} : tensor<4x6x1xf32> -> !mirage_block.tile<1x6x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32>
    store %w, %o {grid = [0, 0]} : !mirage_block.tile<1x6x4xf32>, tensor<4x6x4xf32>
  }
  return %y : tensor<4x6x4xf32>
}

// The mask's rows for its columns.
// CHECK: @heads_online_turned: different
mirage_kernel.graph @heads_online_turned(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> attributes {source = @src_heads} {
  %any = reduce_max %c {dim = 2} : tensor<4x6x6xi1>
  %empty = not %any : tensor<4x6x1xi1>
  %floor = cast %empty : tensor<4x6x1xi1> -> tensor<4x6x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %c, %floork = %floor) outs(%o) grid [2, 2] : (tensor<4x6x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<4x6x6xi1>, tensor<4x6x1xf32>) -> tensor<4x6x4xf32> {
    %qt = load %qk {grid = [0, 0]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x6x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x6x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x6x1xf32>
    %low = bottom : !mirage_block.tile<1x6x1xf32>
    %top, %sum, %sum1 = loop 3 (%c1 = %low max, %c2 = %zero rescale, %c3 = %none rescale) : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32> {
      %t = load %kk {grid = [0], loop = [1]} : tensor<2x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %vt = load %vk {grid = [0], loop = [1]} : tensor<2x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x1x1xf32>
      %ct = load %ck {grid = [0, 0], loop = [1]} : tensor<4x6x6xi1> -> !mirage_block.tile<1x2x6xi1>
      %ct1 = transpose %ct {perm = [0, 2, 1]} : !mirage_block.tile<1x2x6xi1>
      %z = mask %ct1, %x : !mirage_block.tile<1x6x2xi1>, !mirage_block.tile<1x6x2xf32>
      %r = reduce_max %z {dim = 2} : !mirage_block.tile<1x6x2xf32>
      %new = max %c1, %r : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x6x1xf32>
      %e = exp %d : !mirage_block.tile<1x6x2xf32>
      %df = sub %c1, %new : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
      %f = exp %df : !mirage_block.tile<1x6x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x2x4xf32>
      %t1 = reduce_sum %e {dim = 2} : !mirage_block.tile<1x6x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
    }
    %ft = load %floork {grid = [0, 0]} : tensor<4x6x1xf32> -> !mirage_block.tile<1x6x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32>
    store %w, %o {grid = [0, 0]} : !mirage_block.tile<1x6x4xf32>, tensor<4x6x4xf32>
  }
  return %y : tensor<4x6x4xf32>
}

// The first tile's mask for all.
// CHECK: @heads_online_standing: different
mirage_kernel.graph @heads_online_standing(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> attributes {source = @src_heads} {
  %s = slice %c {dim = 2, begin = 0, end = 2} : tensor<4x6x6xi1>
  %any = reduce_max %c {dim = 2} : tensor<4x6x6xi1>
  %empty = not %any : tensor<4x6x1xi1>
  %floor = cast %empty : tensor<4x6x1xi1> -> tensor<4x6x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %sk = %s, %floork = %floor) outs(%o) grid [2, 2] : (tensor<4x6x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<4x6x2xi1>, tensor<4x6x1xf32>) -> tensor<4x6x4xf32> {
    %qt = load %qk {grid = [0, 0]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x6x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x6x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x6x1xf32>
    %low = bottom : !mirage_block.tile<1x6x1xf32>
    %top, %sum, %sum1 = loop 3 (%c1 = %low max, %c2 = %zero rescale, %c3 = %none rescale) : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32> {
      %t = load %kk {grid = [0], loop = [1]} : tensor<2x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %vt = load %vk {grid = [0], loop = [1]} : tensor<2x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x1x1xf32>
      %ct = load %sk {grid = [0, 0]} : tensor<4x6x2xi1> -> !mirage_block.tile<1x6x2xi1>
      %z = mask %ct, %x : !mirage_block.tile<1x6x2xi1>, !mirage_block.tile<1x6x2xf32>
      %r = reduce_max %z {dim = 2} : !mirage_block.tile<1x6x2xf32>
      %new = max %c1, %r : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x6x1xf32>
      %e = exp %d : !mirage_block.tile<1x6x2xf32>
      %df = sub %c1, %new : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
      %f = exp %df : !mirage_block.tile<1x6x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x6x2xf32>, !mirage_block.tile<1x2x4xf32>
      %t1 = reduce_sum %e {dim = 2} : !mirage_block.tile<1x6x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
    }
    %ft = load %floork {grid = [0, 0]} : tensor<4x6x1xf32> -> !mirage_block.tile<1x6x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x6x1xf32>, !mirage_block.tile<1x6x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x6x4xf32>, !mirage_block.tile<1x6x1xf32>
    store %w, %o {grid = [0, 0]} : !mirage_block.tile<1x6x4xf32>, tensor<4x6x4xf32>
  }
  return %y : tensor<4x6x4xf32>
}

// The same mask for all heads.
mirage_kernel.graph @src_shared(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>) -> tensor<4x6x4xf32> {
  %r = reshape %k : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b = broadcast %r : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %kh = reshape %b : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %r1 = reshape %v : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b1 = broadcast %r1 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %vh = reshape %b1 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %y = scaled_dot_product_attention %q, %kh, %vh {scale = 0.5, causal, offset = 1, window = 3} : tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>
  return %y : tensor<4x6x4xf32>
}

// Rows of a group see what their place in their head says.
// CHECK: @shared_folded: equivalent to @src_shared;
mirage_kernel.graph @shared_folded(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>) -> tensor<4x6x4xf32> attributes {source = @src_shared} {
  %j = iota {dim = 1} : tensor<1x6xi32>
  %i = iota {dim = 0, start = 1} : tensor<6x1xi32>
  %below = less_equal %j, %i : tensor<1x6xi32>, tensor<6x1xi32>
  %i1 = iota {dim = 0, start = -2} : tensor<6x1xi32>
  %within = greater %j, %i1 : tensor<1x6xi32>, tensor<6x1xi32>
  %b = and %below, %within : tensor<6x6xi1>, tensor<6x6xi1>
  %r = reshape %b : tensor<6x6xi1> -> tensor<1x6x6xi1>
  %b1 = broadcast %r : tensor<1x6x6xi1> -> tensor<2x6x6xi1>
  %cf = reshape %b1 : tensor<2x6x6xi1> -> tensor<12x6xi1>
  %qf = reshape %q : tensor<4x6x4xf32> -> tensor<2x12x4xf32>
  %raw = matmul %qf, %k {transpose_b} : tensor<2x12x4xf32>, tensor<2x6x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<2x12x6xf32>, tensor<f32>
  %z = mask %cf, %x : tensor<12x6xi1>, tensor<2x12x6xf32>
  %any = reduce_max %cf {dim = 1} : tensor<12x6xi1>
  %empty = not %any : tensor<12x1xi1>
  %floor = cast %empty : tensor<12x1xi1> -> tensor<12x1xf32>
  %m = reduce_max %z {dim = 2} : tensor<2x12x6xf32>
  %d = sub %z, %m : tensor<2x12x6xf32>, tensor<2x12x1xf32>
  %e = exp %d : tensor<2x12x6xf32>
  %sum = reduce_sum %e {dim = 2} : tensor<2x12x6xf32>
  %divisor = add %sum, %floor : tensor<2x12x1xf32>, tensor<12x1xf32>
  %w = div %e, %divisor : tensor<2x12x6xf32>, tensor<2x12x1xf32>
  %y = matmul %w, %v : tensor<2x12x6xf32>, tensor<2x6x4xf32>
  %yh = reshape %y : tensor<2x12x4xf32> -> tensor<4x6x4xf32>
  return %yh : tensor<4x6x4xf32>
}

// Guarded, though every row sees a key.
// CHECK: @shared_folded_guarded: equivalent to @src_shared;
mirage_kernel.graph @shared_folded_guarded(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>) -> tensor<4x6x4xf32> attributes {source = @src_shared} {
  %j = iota {dim = 1} : tensor<1x6xi32>
  %i = iota {dim = 0, start = 1} : tensor<6x1xi32>
  %below = less_equal %j, %i : tensor<1x6xi32>, tensor<6x1xi32>
  %i1 = iota {dim = 0, start = -2} : tensor<6x1xi32>
  %within = greater %j, %i1 : tensor<1x6xi32>, tensor<6x1xi32>
  %b = and %below, %within : tensor<6x6xi1>, tensor<6x6xi1>
  %j1 = iota {dim = 1} : tensor<1x6xi32>
  %i2 = iota {dim = 0, start = 1} : tensor<6x1xi32>
  %below1 = less_equal %j1, %i2 : tensor<1x6xi32>, tensor<6x1xi32>
  %i3 = iota {dim = 0, start = -2} : tensor<6x1xi32>
  %within1 = greater %j1, %i3 : tensor<1x6xi32>, tensor<6x1xi32>
  %b1 = and %below1, %within1 : tensor<6x6xi1>, tensor<6x6xi1>
  %cf = concat %b, %b1 {dim = 0} : tensor<6x6xi1>, tensor<6x6xi1>
  %qf = reshape %q : tensor<4x6x4xf32> -> tensor<2x12x4xf32>
  %raw = matmul %qf, %k {transpose_b} : tensor<2x12x4xf32>, tensor<2x6x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<2x12x6xf32>, tensor<f32>
  %z = mask %cf, %x : tensor<12x6xi1>, tensor<2x12x6xf32>
  %any = reduce_max %cf {dim = 1} : tensor<12x6xi1>
  %empty = not %any : tensor<12x1xi1>
  %floor = cast %empty : tensor<12x1xi1> -> tensor<12x1xf32>
  %m = reduce_max %z {dim = 2} : tensor<2x12x6xf32>
  %d = sub %z, %m : tensor<2x12x6xf32>, tensor<2x12x1xf32>
  %e = exp %d : tensor<2x12x6xf32>
  %sum = reduce_sum %e {dim = 2} : tensor<2x12x6xf32>
  %divisor = add %sum, %floor : tensor<2x12x1xf32>, tensor<12x1xf32>
  %w = div %e, %divisor : tensor<2x12x6xf32>, tensor<2x12x1xf32>
  %y = matmul %w, %v : tensor<2x12x6xf32>, tensor<2x6x4xf32>
  %yh = reshape %y : tensor<2x12x4xf32> -> tensor<4x6x4xf32>
  return %yh : tensor<4x6x4xf32>
}

// And without.
// CHECK: @shared_unguarded: equivalent to @src_shared;
mirage_kernel.graph @shared_unguarded(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>) -> tensor<4x6x4xf32> attributes {source = @src_shared} {
  %j = iota {dim = 1} : tensor<1x6xi32>
  %i = iota {dim = 0, start = 1} : tensor<6x1xi32>
  %below = less_equal %j, %i : tensor<1x6xi32>, tensor<6x1xi32>
  %i1 = iota {dim = 0, start = -2} : tensor<6x1xi32>
  %within = greater %j, %i1 : tensor<1x6xi32>, tensor<6x1xi32>
  %b = and %below, %within : tensor<6x6xi1>, tensor<6x6xi1>
  %r = reshape %b : tensor<6x6xi1> -> tensor<1x6x6xi1>
  %b1 = broadcast %r : tensor<1x6x6xi1> -> tensor<2x6x6xi1>
  %cf = reshape %b1 : tensor<2x6x6xi1> -> tensor<12x6xi1>
  %qf = reshape %q : tensor<4x6x4xf32> -> tensor<2x12x4xf32>
  %raw = matmul %qf, %k {transpose_b} : tensor<2x12x4xf32>, tensor<2x6x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<2x12x6xf32>, tensor<f32>
  %z = mask %cf, %x : tensor<12x6xi1>, tensor<2x12x6xf32>
  %m = reduce_max %z {dim = 2} : tensor<2x12x6xf32>
  %d = sub %z, %m : tensor<2x12x6xf32>, tensor<2x12x1xf32>
  %e = exp %d : tensor<2x12x6xf32>
  %sum = reduce_sum %e {dim = 2} : tensor<2x12x6xf32>
  %w = div %e, %sum : tensor<2x12x6xf32>, tensor<2x12x1xf32>
  %y = matmul %w, %v : tensor<2x12x6xf32>, tensor<2x6x4xf32>
  %yh = reshape %y : tensor<2x12x4xf32> -> tensor<4x6x4xf32>
  return %yh : tensor<4x6x4xf32>
}

// As a mask that is made once for all heads.
// CHECK: @shared_made_once: equivalent to @src_shared;
mirage_kernel.graph @shared_made_once(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>) -> tensor<4x6x4xf32> attributes {source = @src_shared} {
  %j = iota {dim = 1} : tensor<1x6xi32>
  %i = iota {dim = 0, start = 1} : tensor<6x1xi32>
  %below = less_equal %j, %i : tensor<1x6xi32>, tensor<6x1xi32>
  %i1 = iota {dim = 0, start = -2} : tensor<6x1xi32>
  %within = greater %j, %i1 : tensor<1x6xi32>, tensor<6x1xi32>
  %b = and %below, %within : tensor<6x6xi1>, tensor<6x6xi1>
  %r = reshape %k : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b1 = broadcast %r : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %kh = reshape %b1 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %r1 = reshape %v : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b2 = broadcast %r1 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %vh = reshape %b2 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %y = scaled_dot_product_attention %q, %kh, %vh, %b {scale = 0.5} : tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<6x6xi1>
  return %y : tensor<4x6x4xf32>
}

// A block for each head and two rows.
// CHECK: @shared_online: equivalent to @src_shared;
mirage_kernel.graph @shared_online(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>) -> tensor<4x6x4xf32> attributes {source = @src_shared} {
  %r = reshape %k : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b = broadcast %r : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %kh = reshape %b : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %r1 = reshape %v : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b1 = broadcast %r1 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %vh = reshape %b1 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %y = custom (%qk = %q, %khk = %kh, %vhk = %vh) outs(%o) grid [4, 3] : (tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>) -> tensor<4x6x4xf32> {
    %qt = load %qk {grid = [0, 1]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x2x1xf32>
    %low = bottom : !mirage_block.tile<1x2x1xf32>
    %top, %sum, %sum1 = loop 3 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x4xf32>, !mirage_block.tile<1x2x1xf32> {
      %kht = load %khk {grid = [0], loop = [1]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %vht = load %vhk {grid = [0], loop = [1]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %raw = matmul %qt, %kht {transpose_b} : !mirage_block.tile<1x2x4xf32>, !mirage_block.tile<1x2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x2x2xf32>, !mirage_block.tile<1x1x1xf32>
      %j = iota {dim = 2, loop = [2]} : !mirage_block.tile<1x1x2xi32>
      %i = iota {dim = 1, start = 1, grid = [0, 2]} : !mirage_block.tile<1x2x1xi32>
      %i1 = iota {dim = 1, start = -2, grid = [0, 2]} : !mirage_block.tile<1x2x1xi32>
      %below = less_equal %j, %i : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x2x1xi32>
      %within = greater %j, %i1 : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x2x1xi32>
      %b2 = and %below, %within : !mirage_block.tile<1x2x2xi1>, !mirage_block.tile<1x2x2xi1>
      %z = mask %b2, %x : !mirage_block.tile<1x2x2xi1>, !mirage_block.tile<1x2x2xf32>
      %r2 = reduce_max %z {dim = 2} : !mirage_block.tile<1x2x2xf32>
      %new = max %c, %r2 : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x2x2xf32>, !mirage_block.tile<1x2x1xf32>
      %e = exp %d : !mirage_block.tile<1x2x2xf32>
      %df = sub %c, %new : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>
      %f = exp %df : !mirage_block.tile<1x2x1xf32>
      %pv = matmul %e, %vht : !mirage_block.tile<1x2x2xf32>, !mirage_block.tile<1x2x4xf32>
      %t = reduce_sum %e {dim = 2} : !mirage_block.tile<1x2x2xf32>
      yield %r2, %pv, %t rescale %f, %f : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x4xf32>, !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<1x2x4xf32>, !mirage_block.tile<1x2x1xf32>
    store %w, %o {grid = [0, 1]} : !mirage_block.tile<1x2x4xf32>, tensor<4x6x4xf32>
  }
  return %y : tensor<4x6x4xf32>
}

// All keys at once.
// CHECK: @shared_online_whole: equivalent to @src_shared;
mirage_kernel.graph @shared_online_whole(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>) -> tensor<4x6x4xf32> attributes {source = @src_shared} {
  %r = reshape %k : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b = broadcast %r : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %kh = reshape %b : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %r1 = reshape %v : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b1 = broadcast %r1 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %vh = reshape %b1 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %y = custom (%qk = %q, %khk = %kh, %vhk = %vh) outs(%o) grid [4, 3] : (tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>) -> tensor<4x6x4xf32> {
    %qt = load %qk {grid = [0, 1]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x2x1xf32>
    %low = bottom : !mirage_block.tile<1x2x1xf32>
    %top, %sum, %sum1 = loop 1 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x4xf32>, !mirage_block.tile<1x2x1xf32> {
      %kht = load %khk {grid = [0], loop = [1]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x6x4xf32>
      %vht = load %vhk {grid = [0], loop = [1]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x6x4xf32>
      %raw = matmul %qt, %kht {transpose_b} : !mirage_block.tile<1x2x4xf32>, !mirage_block.tile<1x6x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x2x6xf32>, !mirage_block.tile<1x1x1xf32>
      %j = iota {dim = 2, loop = [6]} : !mirage_block.tile<1x1x6xi32>
      %i = iota {dim = 1, start = 1, grid = [0, 2]} : !mirage_block.tile<1x2x1xi32>
      %i1 = iota {dim = 1, start = -2, grid = [0, 2]} : !mirage_block.tile<1x2x1xi32>
      %below = less_equal %j, %i : !mirage_block.tile<1x1x6xi32>, !mirage_block.tile<1x2x1xi32>
      %within = greater %j, %i1 : !mirage_block.tile<1x1x6xi32>, !mirage_block.tile<1x2x1xi32>
      %b2 = and %below, %within : !mirage_block.tile<1x2x6xi1>, !mirage_block.tile<1x2x6xi1>
      %z = mask %b2, %x : !mirage_block.tile<1x2x6xi1>, !mirage_block.tile<1x2x6xf32>
      %r2 = reduce_max %z {dim = 2} : !mirage_block.tile<1x2x6xf32>
      %new = max %c, %r2 : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x2x6xf32>, !mirage_block.tile<1x2x1xf32>
      %e = exp %d : !mirage_block.tile<1x2x6xf32>
      %df = sub %c, %new : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>
      %f = exp %df : !mirage_block.tile<1x2x1xf32>
      %pv = matmul %e, %vht : !mirage_block.tile<1x2x6xf32>, !mirage_block.tile<1x6x4xf32>
      %t = reduce_sum %e {dim = 2} : !mirage_block.tile<1x2x6xf32>
      yield %r2, %pv, %t rescale %f, %f : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x4xf32>, !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<1x2x4xf32>, !mirage_block.tile<1x2x1xf32>
    store %w, %o {grid = [0, 1]} : !mirage_block.tile<1x2x4xf32>, tensor<4x6x4xf32>
  }
  return %y : tensor<4x6x4xf32>
}

// Rows that are counted through the group: the second head sees all keys before it.
// CHECK: @shared_rows_run_on: different
mirage_kernel.graph @shared_rows_run_on(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>) -> tensor<4x6x4xf32> attributes {source = @src_shared} {
  %j = iota {dim = 1} : tensor<1x6xi32>
  %i = iota {dim = 0, start = 1} : tensor<12x1xi32>
  %below = less_equal %j, %i : tensor<1x6xi32>, tensor<12x1xi32>
  %i1 = iota {dim = 0, start = -2} : tensor<12x1xi32>
  %within = greater %j, %i1 : tensor<1x6xi32>, tensor<12x1xi32>
  %b = and %below, %within : tensor<12x6xi1>, tensor<12x6xi1>
  %qf = reshape %q : tensor<4x6x4xf32> -> tensor<2x12x4xf32>
  %raw = matmul %qf, %k {transpose_b} : tensor<2x12x4xf32>, tensor<2x6x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<2x12x6xf32>, tensor<f32>
  %z = mask %b, %x : tensor<12x6xi1>, tensor<2x12x6xf32>
  %any = reduce_max %b {dim = 1} : tensor<12x6xi1>
  %empty = not %any : tensor<12x1xi1>
  %floor = cast %empty : tensor<12x1xi1> -> tensor<12x1xf32>
  %m = reduce_max %z {dim = 2} : tensor<2x12x6xf32>
  %d = sub %z, %m : tensor<2x12x6xf32>, tensor<2x12x1xf32>
  %e = exp %d : tensor<2x12x6xf32>
  %sum = reduce_sum %e {dim = 2} : tensor<2x12x6xf32>
  %divisor = add %sum, %floor : tensor<2x12x1xf32>, tensor<12x1xf32>
  %w = div %e, %divisor : tensor<2x12x6xf32>, tensor<2x12x1xf32>
  %y = matmul %w, %v : tensor<2x12x6xf32>, tensor<2x6x4xf32>
  %yh = reshape %y : tensor<2x12x4xf32> -> tensor<4x6x4xf32>
  return %yh : tensor<4x6x4xf32>
}

// Without the window.
// CHECK: @shared_no_window: different
mirage_kernel.graph @shared_no_window(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>) -> tensor<4x6x4xf32> attributes {source = @src_shared} {
  %r = reshape %k : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b = broadcast %r : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %kh = reshape %b : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %r1 = reshape %v : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b1 = broadcast %r1 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %vh = reshape %b1 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %y = scaled_dot_product_attention %q, %kh, %vh {scale = 0.5, causal, offset = 1} : tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>
  return %y : tensor<4x6x4xf32>
}

// A window wider by one.
// CHECK: @shared_window_by_one: different
mirage_kernel.graph @shared_window_by_one(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>) -> tensor<4x6x4xf32> attributes {source = @src_shared} {
  %r = reshape %k : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b = broadcast %r : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %kh = reshape %b : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %r1 = reshape %v : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b1 = broadcast %r1 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %vh = reshape %b1 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %y = scaled_dot_product_attention %q, %kh, %vh {scale = 0.5, causal, offset = 1, window = 4} : tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>
  return %y : tensor<4x6x4xf32>
}

// Narrower by one.
// CHECK: @shared_window_narrow: different
mirage_kernel.graph @shared_window_narrow(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>) -> tensor<4x6x4xf32> attributes {source = @src_shared} {
  %r = reshape %k : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b = broadcast %r : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %kh = reshape %b : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %r1 = reshape %v : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b1 = broadcast %r1 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %vh = reshape %b1 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %y = scaled_dot_product_attention %q, %kh, %vh {scale = 0.5, causal, offset = 1, window = 2} : tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>
  return %y : tensor<4x6x4xf32>
}

// Closed on the far side.
// CHECK: @shared_window_closed: different
mirage_kernel.graph @shared_window_closed(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>) -> tensor<4x6x4xf32> attributes {source = @src_shared} {
  %j = iota {dim = 1} : tensor<1x6xi32>
  %i = iota {dim = 0, start = 1} : tensor<6x1xi32>
  %below = less_equal %j, %i : tensor<1x6xi32>, tensor<6x1xi32>
  %i1 = iota {dim = 0, start = -2} : tensor<6x1xi32>
  %within = greater_equal %j, %i1 : tensor<1x6xi32>, tensor<6x1xi32>
  %b = and %below, %within : tensor<6x6xi1>, tensor<6x6xi1>
  %r = reshape %k : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b1 = broadcast %r : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %kh = reshape %b1 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %r1 = reshape %v : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b2 = broadcast %r1 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %vh = reshape %b2 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %y = scaled_dot_product_attention %q, %kh, %vh, %b {scale = 0.5} : tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<6x6xi1>
  return %y : tensor<4x6x4xf32>
}

// < for <=.
// CHECK: @shared_strict: different
mirage_kernel.graph @shared_strict(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>) -> tensor<4x6x4xf32> attributes {source = @src_shared} {
  %j = iota {dim = 1} : tensor<1x6xi32>
  %i = iota {dim = 0, start = 1} : tensor<6x1xi32>
  %below = less %j, %i : tensor<1x6xi32>, tensor<6x1xi32>
  %i1 = iota {dim = 0, start = -2} : tensor<6x1xi32>
  %within = greater %j, %i1 : tensor<1x6xi32>, tensor<6x1xi32>
  %b = and %below, %within : tensor<6x6xi1>, tensor<6x6xi1>
  %r = reshape %k : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b1 = broadcast %r : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %kh = reshape %b1 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %r1 = reshape %v : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b2 = broadcast %r1 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %vh = reshape %b2 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %y = scaled_dot_product_attention %q, %kh, %vh, %b {scale = 0.5} : tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<6x6xi1>
  return %y : tensor<4x6x4xf32>
}

// No offset.
// CHECK: @shared_offset: different
mirage_kernel.graph @shared_offset(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>) -> tensor<4x6x4xf32> attributes {source = @src_shared} {
  %r = reshape %k : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b = broadcast %r : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %kh = reshape %b : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %r1 = reshape %v : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b1 = broadcast %r1 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %vh = reshape %b1 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %y = scaled_dot_product_attention %q, %kh, %vh {scale = 0.5, causal, window = 3} : tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>
  return %y : tensor<4x6x4xf32>
}

// In the first group alone.
// CHECK: @shared_not_shared: different
mirage_kernel.graph @shared_not_shared(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>) -> tensor<4x6x4xf32> attributes {source = @src_shared} {
  %j = iota {dim = 1} : tensor<1x6xi32>
  %i = iota {dim = 0, start = 1} : tensor<6x1xi32>
  %below = less_equal %j, %i : tensor<1x6xi32>, tensor<6x1xi32>
  %i1 = iota {dim = 0, start = -2} : tensor<6x1xi32>
  %within = greater %j, %i1 : tensor<1x6xi32>, tensor<6x1xi32>
  %b = and %below, %within : tensor<6x6xi1>, tensor<6x6xi1>
  %r = reshape %k : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b1 = broadcast %r : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %kh = reshape %b1 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %r1 = reshape %v : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b2 = broadcast %r1 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %vh = reshape %b2 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %y = scaled_dot_product_attention %q, %kh, %vh, %b {scale = 0.5} : tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<6x6xi1>
  %s = slice %y {dim = 0, begin = 0, end = 2} : tensor<4x6x4xf32>
  %r2 = reshape %k : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b3 = broadcast %r2 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %kh1 = reshape %b3 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %r3 = reshape %v : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b4 = broadcast %r3 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %vh1 = reshape %b4 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %y1 = scaled_dot_product_attention %q, %kh1, %vh1 {scale = 0.5} : tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>
  %s1 = slice %y1 {dim = 0, begin = 2, end = 4} : tensor<4x6x4xf32>
  %all = concat %s, %s1 {dim = 0} : tensor<2x6x4xf32>, tensor<2x6x4xf32>
  return %all : tensor<4x6x4xf32>
}

// Every block counts its rows from the first.
// CHECK: @shared_online_rows: different
mirage_kernel.graph @shared_online_rows(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>) -> tensor<4x6x4xf32> attributes {source = @src_shared} {
  %r = reshape %k : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b = broadcast %r : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %kh = reshape %b : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %r1 = reshape %v : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b1 = broadcast %r1 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %vh = reshape %b1 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %y = custom (%qk = %q, %khk = %kh, %vhk = %vh) outs(%o) grid [4, 3] : (tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>) -> tensor<4x6x4xf32> {
    %qt = load %qk {grid = [0, 1]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x2x1xf32>
    %low = bottom : !mirage_block.tile<1x2x1xf32>
    %top, %sum, %sum1 = loop 3 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x4xf32>, !mirage_block.tile<1x2x1xf32> {
      %kht = load %khk {grid = [0], loop = [1]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %vht = load %vhk {grid = [0], loop = [1]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %raw = matmul %qt, %kht {transpose_b} : !mirage_block.tile<1x2x4xf32>, !mirage_block.tile<1x2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x2x2xf32>, !mirage_block.tile<1x1x1xf32>
      %j = iota {dim = 2, loop = [2]} : !mirage_block.tile<1x1x2xi32>
      %i = iota {dim = 1, start = 1, grid = [0, 1]} : !mirage_block.tile<1x2x1xi32>
      %i1 = iota {dim = 1, start = -2, grid = [0, 1]} : !mirage_block.tile<1x2x1xi32>
      %below = less_equal %j, %i : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x2x1xi32>
      %within = greater %j, %i1 : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x2x1xi32>
      %b2 = and %below, %within : !mirage_block.tile<1x2x2xi1>, !mirage_block.tile<1x2x2xi1>
      %z = mask %b2, %x : !mirage_block.tile<1x2x2xi1>, !mirage_block.tile<1x2x2xf32>
      %r2 = reduce_max %z {dim = 2} : !mirage_block.tile<1x2x2xf32>
      %new = max %c, %r2 : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x2x2xf32>, !mirage_block.tile<1x2x1xf32>
      %e = exp %d : !mirage_block.tile<1x2x2xf32>
      %df = sub %c, %new : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>
      %f = exp %df : !mirage_block.tile<1x2x1xf32>
      %pv = matmul %e, %vht : !mirage_block.tile<1x2x2xf32>, !mirage_block.tile<1x2x4xf32>
      %t = reduce_sum %e {dim = 2} : !mirage_block.tile<1x2x2xf32>
      yield %r2, %pv, %t rescale %f, %f : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x4xf32>, !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<1x2x4xf32>, !mirage_block.tile<1x2x1xf32>
    store %w, %o {grid = [0, 1]} : !mirage_block.tile<1x2x4xf32>, tensor<4x6x4xf32>
  }
  return %y : tensor<4x6x4xf32>
}

// In tiles, < for <=.
// CHECK: @shared_online_strict: different
mirage_kernel.graph @shared_online_strict(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>) -> tensor<4x6x4xf32> attributes {source = @src_shared} {
  %r = reshape %k : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b = broadcast %r : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %kh = reshape %b : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %r1 = reshape %v : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b1 = broadcast %r1 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %vh = reshape %b1 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %y = custom (%qk = %q, %khk = %kh, %vhk = %vh) outs(%o) grid [4, 3] : (tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>) -> tensor<4x6x4xf32> {
    %qt = load %qk {grid = [0, 1]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x2x1xf32>
    %low = bottom : !mirage_block.tile<1x2x1xf32>
    %top, %sum, %sum1 = loop 3 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x4xf32>, !mirage_block.tile<1x2x1xf32> {
      %kht = load %khk {grid = [0], loop = [1]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %vht = load %vhk {grid = [0], loop = [1]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %raw = matmul %qt, %kht {transpose_b} : !mirage_block.tile<1x2x4xf32>, !mirage_block.tile<1x2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x2x2xf32>, !mirage_block.tile<1x1x1xf32>
      %j = iota {dim = 2, loop = [2]} : !mirage_block.tile<1x1x2xi32>
      %i = iota {dim = 1, start = 1, grid = [0, 2]} : !mirage_block.tile<1x2x1xi32>
      %i1 = iota {dim = 1, start = -2, grid = [0, 2]} : !mirage_block.tile<1x2x1xi32>
      %below = less %j, %i : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x2x1xi32>
      %within = greater %j, %i1 : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x2x1xi32>
      %b2 = and %below, %within : !mirage_block.tile<1x2x2xi1>, !mirage_block.tile<1x2x2xi1>
      %z = mask %b2, %x : !mirage_block.tile<1x2x2xi1>, !mirage_block.tile<1x2x2xf32>
      %r2 = reduce_max %z {dim = 2} : !mirage_block.tile<1x2x2xf32>
      %new = max %c, %r2 : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x2x2xf32>, !mirage_block.tile<1x2x1xf32>
      %e = exp %d : !mirage_block.tile<1x2x2xf32>
      %df = sub %c, %new : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>
      %f = exp %df : !mirage_block.tile<1x2x1xf32>
      %pv = matmul %e, %vht : !mirage_block.tile<1x2x2xf32>, !mirage_block.tile<1x2x4xf32>
      %t = reduce_sum %e {dim = 2} : !mirage_block.tile<1x2x2xf32>
      yield %r2, %pv, %t rescale %f, %f : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x4xf32>, !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<1x2x4xf32>, !mirage_block.tile<1x2x1xf32>
    store %w, %o {grid = [0, 1]} : !mirage_block.tile<1x2x4xf32>, tensor<4x6x4xf32>
  }
  return %y : tensor<4x6x4xf32>
}

// In tiles, a window wider by one.
// CHECK: @shared_online_window: different
mirage_kernel.graph @shared_online_window(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>) -> tensor<4x6x4xf32> attributes {source = @src_shared} {
  %r = reshape %k : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b = broadcast %r : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %kh = reshape %b : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %r1 = reshape %v : tensor<2x6x4xf32> -> tensor<2x1x6x4xf32>
  %b1 = broadcast %r1 : tensor<2x1x6x4xf32> -> tensor<2x2x6x4xf32>
  %vh = reshape %b1 : tensor<2x2x6x4xf32> -> tensor<4x6x4xf32>
  %y = custom (%qk = %q, %khk = %kh, %vhk = %vh) outs(%o) grid [4, 3] : (tensor<4x6x4xf32>, tensor<4x6x4xf32>, tensor<4x6x4xf32>) -> tensor<4x6x4xf32> {
    %qt = load %qk {grid = [0, 1]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x2x1xf32>
    %low = bottom : !mirage_block.tile<1x2x1xf32>
    %top, %sum, %sum1 = loop 3 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x4xf32>, !mirage_block.tile<1x2x1xf32> {
      %kht = load %khk {grid = [0], loop = [1]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %vht = load %vhk {grid = [0], loop = [1]} : tensor<4x6x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %raw = matmul %qt, %kht {transpose_b} : !mirage_block.tile<1x2x4xf32>, !mirage_block.tile<1x2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x2x2xf32>, !mirage_block.tile<1x1x1xf32>
      %j = iota {dim = 2, loop = [2]} : !mirage_block.tile<1x1x2xi32>
      %i = iota {dim = 1, start = 1, grid = [0, 2]} : !mirage_block.tile<1x2x1xi32>
      %i1 = iota {dim = 1, start = -3, grid = [0, 2]} : !mirage_block.tile<1x2x1xi32>
      %below = less_equal %j, %i : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x2x1xi32>
      %within = greater %j, %i1 : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x2x1xi32>
      %b2 = and %below, %within : !mirage_block.tile<1x2x2xi1>, !mirage_block.tile<1x2x2xi1>
      %z = mask %b2, %x : !mirage_block.tile<1x2x2xi1>, !mirage_block.tile<1x2x2xf32>
      %r2 = reduce_max %z {dim = 2} : !mirage_block.tile<1x2x2xf32>
      %new = max %c, %r2 : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x2x2xf32>, !mirage_block.tile<1x2x1xf32>
      %e = exp %d : !mirage_block.tile<1x2x2xf32>
      %df = sub %c, %new : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>
      %f = exp %df : !mirage_block.tile<1x2x1xf32>
      %pv = matmul %e, %vht : !mirage_block.tile<1x2x2xf32>, !mirage_block.tile<1x2x4xf32>
      %t = reduce_sum %e {dim = 2} : !mirage_block.tile<1x2x2xf32>
      yield %r2, %pv, %t rescale %f, %f : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x4xf32>, !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<1x2x4xf32>, !mirage_block.tile<1x2x1xf32>
    store %w, %o {grid = [0, 1]} : !mirage_block.tile<1x2x4xf32>, tensor<4x6x4xf32>
  }
  return %y : tensor<4x6x4xf32>
}
