// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain' -o /dev/null 2>&1 | FileCheck %s --check-prefix=GUARD --implicit-check-not=inaccurate
// GUARD-COUNT-3: equivalent to @src_length
// Keys of which a number is valid that is known when the program runs, one of each batch: `index < length`, whatever the length is. Of
// none a row is 0. And lengths that are constants: none, all, more than there are.

mirage_kernel.graph @src_length(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %y = scaled_dot_product_attention %q, %k, %v, %in {scale = 0.5} : tensor<2x3x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x1x8xi1>
  return %y : tensor<2x3x4xf32>
}

// Written out.
// CHECK: @length_plain: equivalent to @src_length;
mirage_kernel.graph @length_plain(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<2x3x4xf32>, tensor<2x8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<2x3x8xf32>, tensor<f32>
  %z = mask %in, %x : tensor<2x1x8xi1>, tensor<2x3x8xf32>
  %any = reduce_max %in {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %m = reduce_max %z {dim = 2} : tensor<2x3x8xf32>
  %d = sub %z, %m : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %e = exp %d : tensor<2x3x8xf32>
  %sum = reduce_sum %e {dim = 2} : tensor<2x3x8xf32>
  %divisor = add %sum, %floor : tensor<2x3x1xf32>, tensor<2x1x1xf32>
  %w = div %e, %divisor : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %y = matmul %w, %v : tensor<2x3x8xf32>, tensor<2x8x4xf32>
  return %y : tensor<2x3x4xf32>
}

// n > j.
// CHECK: @length_turned: equivalent to @src_length;
mirage_kernel.graph @length_turned(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = greater %n, %j : tensor<2x1x1xi32>, tensor<1x1x8xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<2x3x4xf32>, tensor<2x8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<2x3x8xf32>, tensor<f32>
  %z = mask %in, %x : tensor<2x1x8xi1>, tensor<2x3x8xf32>
  %any = reduce_max %in {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %m = reduce_max %z {dim = 2} : tensor<2x3x8xf32>
  %d = sub %z, %m : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %e = exp %d : tensor<2x3x8xf32>
  %sum = reduce_sum %e {dim = 2} : tensor<2x3x8xf32>
  %divisor = add %sum, %floor : tensor<2x3x1xf32>, tensor<2x1x1xf32>
  %w = div %e, %divisor : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %y = matmul %w, %v : tensor<2x3x8xf32>, tensor<2x8x4xf32>
  return %y : tensor<2x3x4xf32>
}

// In tiles of two keys, a block for each batch.
// CHECK: @length_online: equivalent to @src_length;
mirage_kernel.graph @length_online(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %any = reduce_max %in {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n, %floork = %floor) outs(%o) grid [2] : (tensor<2x3x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x1x1xi32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<2x3x4xf32> -> !mirage_block.tile<1x3x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x3x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x3x1xf32>
    %low = bottom : !mirage_block.tile<1x3x1xf32>
    %top, %sum, %sum1 = loop 4 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32> {
      %t = load %kk {grid = [0], loop = [1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %vt = load %vk {grid = [0], loop = [1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x1x1xf32>
      %j1 = iota {dim = 2, loop = [2]} : !mirage_block.tile<1x1x2xi32>
      %nt = load %nk {grid = [0]} : tensor<2x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %in1 = less %j1, %nt : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %z = mask %in1, %x : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x3x2xf32>
      %r = reduce_max %z {dim = 2} : !mirage_block.tile<1x3x2xf32>
      %new = max %c, %r : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x3x1xf32>
      %e = exp %d : !mirage_block.tile<1x3x2xf32>
      %df = sub %c, %new : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %f = exp %df : !mirage_block.tile<1x3x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x2x4xf32>
      %t1 = reduce_sum %e {dim = 2} : !mirage_block.tile<1x3x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<2x1x1xf32> -> !mirage_block.tile<1x1x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<1x3x4xf32>, tensor<2x3x4xf32>
  }
  return %y : tensor<2x3x4xf32>
}

// Of four.
// CHECK: @length_online_large: equivalent to @src_length;
mirage_kernel.graph @length_online_large(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %any = reduce_max %in {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n, %floork = %floor) outs(%o) grid [2] : (tensor<2x3x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x1x1xi32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<2x3x4xf32> -> !mirage_block.tile<1x3x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x3x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x3x1xf32>
    %low = bottom : !mirage_block.tile<1x3x1xf32>
    %top, %sum, %sum1 = loop 2 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32> {
      %t = load %kk {grid = [0], loop = [1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x4x4xf32>
      %vt = load %vk {grid = [0], loop = [1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x4x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x4x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x1x1xf32>
      %j1 = iota {dim = 2, loop = [4]} : !mirage_block.tile<1x1x4xi32>
      %nt = load %nk {grid = [0]} : tensor<2x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %in1 = less %j1, %nt : !mirage_block.tile<1x1x4xi32>, !mirage_block.tile<1x1x1xi32>
      %z = mask %in1, %x : !mirage_block.tile<1x1x4xi1>, !mirage_block.tile<1x3x4xf32>
      %r = reduce_max %z {dim = 2} : !mirage_block.tile<1x3x4xf32>
      %new = max %c, %r : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>
      %e = exp %d : !mirage_block.tile<1x3x4xf32>
      %df = sub %c, %new : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %f = exp %df : !mirage_block.tile<1x3x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x4x4xf32>
      %t1 = reduce_sum %e {dim = 2} : !mirage_block.tile<1x3x4xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<2x1x1xf32> -> !mirage_block.tile<1x1x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<1x3x4xf32>, tensor<2x3x4xf32>
  }
  return %y : tensor<2x3x4xf32>
}

// Of all.
// CHECK: @length_online_once: equivalent to @src_length;
mirage_kernel.graph @length_online_once(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %any = reduce_max %in {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n, %floork = %floor) outs(%o) grid [2] : (tensor<2x3x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x1x1xi32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<2x3x4xf32> -> !mirage_block.tile<1x3x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x3x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x3x1xf32>
    %low = bottom : !mirage_block.tile<1x3x1xf32>
    %top, %sum, %sum1 = loop 1 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32> {
      %t = load %kk {grid = [0], loop = [1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x8x4xf32>
      %vt = load %vk {grid = [0], loop = [1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x8x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x8x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x3x8xf32>, !mirage_block.tile<1x1x1xf32>
      %j1 = iota {dim = 2, loop = [8]} : !mirage_block.tile<1x1x8xi32>
      %nt = load %nk {grid = [0]} : tensor<2x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %in1 = less %j1, %nt : !mirage_block.tile<1x1x8xi32>, !mirage_block.tile<1x1x1xi32>
      %z = mask %in1, %x : !mirage_block.tile<1x1x8xi1>, !mirage_block.tile<1x3x8xf32>
      %r = reduce_max %z {dim = 2} : !mirage_block.tile<1x3x8xf32>
      %new = max %c, %r : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x3x8xf32>, !mirage_block.tile<1x3x1xf32>
      %e = exp %d : !mirage_block.tile<1x3x8xf32>
      %df = sub %c, %new : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %f = exp %df : !mirage_block.tile<1x3x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x3x8xf32>, !mirage_block.tile<1x8x4xf32>
      %t1 = reduce_sum %e {dim = 2} : !mirage_block.tile<1x3x8xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<2x1x1xf32> -> !mirage_block.tile<1x1x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<1x3x4xf32>, tensor<2x3x4xf32>
  }
  return %y : tensor<2x3x4xf32>
}

// A block for each row.
// CHECK: @length_online_rows: equivalent to @src_length;
mirage_kernel.graph @length_online_rows(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %any = reduce_max %in {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n, %floork = %floor) outs(%o) grid [2, 3] : (tensor<2x3x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x1x1xi32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32> {
    %qt = load %qk {grid = [0, 1]} : tensor<2x3x4xf32> -> !mirage_block.tile<1x1x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x1x1xf32>
    %low = bottom : !mirage_block.tile<1x1x1xf32>
    %top, %sum, %sum1 = loop 4 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32> {
      %t = load %kk {grid = [0], loop = [1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %vt = load %vk {grid = [0], loop = [1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x1x1xf32>
      %j1 = iota {dim = 2, loop = [2]} : !mirage_block.tile<1x1x2xi32>
      %nt = load %nk {grid = [0]} : tensor<2x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %in1 = less %j1, %nt : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %z = mask %in1, %x : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x1x2xf32>
      %r = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x2xf32>
      %new = max %c, %r : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x1x1xf32>
      %e = exp %d : !mirage_block.tile<1x1x2xf32>
      %df = sub %c, %new : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %f = exp %df : !mirage_block.tile<1x1x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x2x4xf32>
      %t1 = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<2x1x1xf32> -> !mirage_block.tile<1x1x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    store %w, %o {grid = [0, 1]} : !mirage_block.tile<1x1x4xf32>, tensor<2x3x4xf32>
  }
  return %y : tensor<2x3x4xf32>
}

// Tiles of three: the last ends with the keys, however long the length.
// CHECK: @length_online_ragged: equivalent to @src_length;
mirage_kernel.graph @length_online_ragged(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %any = reduce_max %in {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n, %floork = %floor) outs(%o) grid [2] : (tensor<2x3x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x1x1xi32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<2x3x4xf32> -> !mirage_block.tile<1x3x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x3x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x3x1xf32>
    %low = bottom : !mirage_block.tile<1x3x1xf32>
    %top, %sum, %sum1 = loop 3 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32> {
      %t = load %kk {grid = [0], loop = [1], tiles = [0, 3, 0]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x3x4xf32>
      %vt = load %vk {grid = [0], loop = [1], tiles = [0, 3, 0]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x3x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x3x3xf32>, !mirage_block.tile<1x1x1xf32>
      %j1 = iota {dim = 2, loop = [3]} : !mirage_block.tile<1x1x3xi32>
      %nt = load %nk {grid = [0]} : tensor<2x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %in1 = less %j1, %nt : !mirage_block.tile<1x1x3xi32>, !mirage_block.tile<1x1x1xi32>
      %end = constant 8.0 : !mirage_block.tile<1x1x1xi32>
      %within = less %j1, %end : !mirage_block.tile<1x1x3xi32>, !mirage_block.tile<1x1x1xi32>
      %b = and %in1, %within : !mirage_block.tile<1x1x3xi1>, !mirage_block.tile<1x1x3xi1>
      %z = mask %b, %x : !mirage_block.tile<1x1x3xi1>, !mirage_block.tile<1x3x3xf32>
      %r = reduce_max %z {dim = 2} : !mirage_block.tile<1x3x3xf32>
      %new = max %c, %r : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x3x3xf32>, !mirage_block.tile<1x3x1xf32>
      %e = exp %d : !mirage_block.tile<1x3x3xf32>
      %df = sub %c, %new : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %f = exp %df : !mirage_block.tile<1x3x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x3x3xf32>, !mirage_block.tile<1x3x4xf32>
      %t1 = reduce_sum %e {dim = 2} : !mirage_block.tile<1x3x3xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<2x1x1xf32> -> !mirage_block.tile<1x1x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<1x3x4xf32>, tensor<2x3x4xf32>
  }
  return %y : tensor<2x3x4xf32>
}

// Keys over two blocks that agree on the maximum.
// CHECK: @length_across: equivalent to @src_length;
mirage_kernel.graph @length_across(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %any = reduce_max %in {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n, %floork = %floor) outs(%o) grid [2, 2] : (tensor<2x3x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x1x1xi32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<2x3x4xf32> -> !mirage_block.tile<1x3x4xf32>
    %t = load %kk {grid = [0, 1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x4x4xf32>
    %vt = load %vk {grid = [0, 1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x4x4xf32>
    %j1 = iota {dim = 2, grid = [0, 4]} : !mirage_block.tile<1x1x4xi32>
    %nt = load %nk {grid = [0]} : tensor<2x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %in1 = less %j1, %nt : !mirage_block.tile<1x1x4xi32>, !mirage_block.tile<1x1x1xi32>
    %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x4x4xf32>
    %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
    %x = mul %raw, %scale : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x1x1xf32>
    %z = mask %in1, %x : !mirage_block.tile<1x1x4xi1>, !mirage_block.tile<1x3x4xf32>
    %m = reduce_max %z {dim = 2} : !mirage_block.tile<1x3x4xf32>
    %top = grid_max %m {axes = [1]} : !mirage_block.tile<1x3x1xf32>
    %d = sub %z, %top : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>
    %e = exp %d : !mirage_block.tile<1x3x4xf32>
    %u = matmul %e, %vt : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x4x4xf32>
    %us = grid_sum %u {axes = [1]} : !mirage_block.tile<1x3x4xf32>
    %l = reduce_sum %e {dim = 2} : !mirage_block.tile<1x3x4xf32>
    %ls = grid_sum %l {axes = [1]} : !mirage_block.tile<1x3x1xf32>
    %ft = load %floork {grid = [0]} : tensor<2x1x1xf32> -> !mirage_block.tile<1x1x1xf32>
    %divisor = add %ls, %ft : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = div %us, %divisor : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<1x3x4xf32>, tensor<2x3x4xf32>
  }
  return %y : tensor<2x3x4xf32>
}

// Over four.
// CHECK: @length_across_four: equivalent to @src_length;
mirage_kernel.graph @length_across_four(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %any = reduce_max %in {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n, %floork = %floor) outs(%o) grid [2, 4] : (tensor<2x3x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x1x1xi32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<2x3x4xf32> -> !mirage_block.tile<1x3x4xf32>
    %t = load %kk {grid = [0, 1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x2x4xf32>
    %vt = load %vk {grid = [0, 1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x2x4xf32>
    %j1 = iota {dim = 2, grid = [0, 2]} : !mirage_block.tile<1x1x2xi32>
    %nt = load %nk {grid = [0]} : tensor<2x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %in1 = less %j1, %nt : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
    %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x2x4xf32>
    %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
    %x = mul %raw, %scale : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x1x1xf32>
    %z = mask %in1, %x : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x3x2xf32>
    %m = reduce_max %z {dim = 2} : !mirage_block.tile<1x3x2xf32>
    %top = grid_max %m {axes = [1]} : !mirage_block.tile<1x3x1xf32>
    %d = sub %z, %top : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x3x1xf32>
    %e = exp %d : !mirage_block.tile<1x3x2xf32>
    %u = matmul %e, %vt : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x2x4xf32>
    %us = grid_sum %u {axes = [1]} : !mirage_block.tile<1x3x4xf32>
    %l = reduce_sum %e {dim = 2} : !mirage_block.tile<1x3x2xf32>
    %ls = grid_sum %l {axes = [1]} : !mirage_block.tile<1x3x1xf32>
    %ft = load %floork {grid = [0]} : tensor<2x1x1xf32> -> !mirage_block.tile<1x1x1xf32>
    %divisor = add %ls, %ft : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = div %us, %divisor : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<1x3x4xf32>, tensor<2x3x4xf32>
  }
  return %y : tensor<2x3x4xf32>
}

// All keys.
// CHECK: @length_ignored: different
mirage_kernel.graph @length_ignored(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5} : tensor<2x3x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>
  return %y : tensor<2x3x4xf32>
}

// <= for <: a key more.
// CHECK: @length_less_equal: different
mirage_kernel.graph @length_less_equal(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less_equal %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<2x3x4xf32>, tensor<2x8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<2x3x8xf32>, tensor<f32>
  %z = mask %in, %x : tensor<2x1x8xi1>, tensor<2x3x8xf32>
  %any = reduce_max %in {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %m = reduce_max %z {dim = 2} : tensor<2x3x8xf32>
  %d = sub %z, %m : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %e = exp %d : tensor<2x3x8xf32>
  %sum = reduce_sum %e {dim = 2} : tensor<2x3x8xf32>
  %divisor = add %sum, %floor : tensor<2x3x1xf32>, tensor<2x1x1xf32>
  %w = div %e, %divisor : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %y = matmul %w, %v : tensor<2x3x8xf32>, tensor<2x8x4xf32>
  return %y : tensor<2x3x4xf32>
}

// A key less.
// CHECK: @length_one_less: different
mirage_kernel.graph @length_one_less(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2, start = 1} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<2x3x4xf32>, tensor<2x8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<2x3x8xf32>, tensor<f32>
  %z = mask %in, %x : tensor<2x1x8xi1>, tensor<2x3x8xf32>
  %any = reduce_max %in {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %m = reduce_max %z {dim = 2} : tensor<2x3x8xf32>
  %d = sub %z, %m : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %e = exp %d : tensor<2x3x8xf32>
  %sum = reduce_sum %e {dim = 2} : tensor<2x3x8xf32>
  %divisor = add %sum, %floor : tensor<2x3x1xf32>, tensor<2x1x1xf32>
  %w = div %e, %divisor : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %y = matmul %w, %v : tensor<2x3x8xf32>, tensor<2x8x4xf32>
  return %y : tensor<2x3x4xf32>
}

// One more.
// CHECK: @length_one_more: different
mirage_kernel.graph @length_one_more(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2, start = -1} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<2x3x4xf32>, tensor<2x8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<2x3x8xf32>, tensor<f32>
  %z = mask %in, %x : tensor<2x1x8xi1>, tensor<2x3x8xf32>
  %any = reduce_max %in {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %m = reduce_max %z {dim = 2} : tensor<2x3x8xf32>
  %d = sub %z, %m : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %e = exp %d : tensor<2x3x8xf32>
  %sum = reduce_sum %e {dim = 2} : tensor<2x3x8xf32>
  %divisor = add %sum, %floor : tensor<2x3x1xf32>, tensor<2x1x1xf32>
  %w = div %e, %divisor : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %y = matmul %w, %v : tensor<2x3x8xf32>, tensor<2x8x4xf32>
  return %y : tensor<2x3x4xf32>
}

// The others.
// CHECK: @length_rest: different
mirage_kernel.graph @length_rest(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = greater %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<2x3x4xf32>, tensor<2x8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<2x3x8xf32>, tensor<f32>
  %z = mask %in, %x : tensor<2x1x8xi1>, tensor<2x3x8xf32>
  %any = reduce_max %in {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %m = reduce_max %z {dim = 2} : tensor<2x3x8xf32>
  %d = sub %z, %m : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %e = exp %d : tensor<2x3x8xf32>
  %sum = reduce_sum %e {dim = 2} : tensor<2x3x8xf32>
  %divisor = add %sum, %floor : tensor<2x3x1xf32>, tensor<2x1x1xf32>
  %w = div %e, %divisor : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %y = matmul %w, %v : tensor<2x3x8xf32>, tensor<2x8x4xf32>
  return %y : tensor<2x3x4xf32>
}

// The other batch's.
// CHECK: @length_other_batch: different
mirage_kernel.graph @length_other_batch(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %s = slice %n {dim = 0, begin = 1, end = 2} : tensor<2x1x1xi32>
  %s1 = slice %n {dim = 0, begin = 0, end = 1} : tensor<2x1x1xi32>
  %k1 = concat %s, %s1 {dim = 0} : tensor<1x1x1xi32>, tensor<1x1x1xi32>
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %k1 : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<2x3x4xf32>, tensor<2x8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<2x3x8xf32>, tensor<f32>
  %z = mask %in, %x : tensor<2x1x8xi1>, tensor<2x3x8xf32>
  %any = reduce_max %in {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %m = reduce_max %z {dim = 2} : tensor<2x3x8xf32>
  %d = sub %z, %m : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %e = exp %d : tensor<2x3x8xf32>
  %sum = reduce_sum %e {dim = 2} : tensor<2x3x8xf32>
  %divisor = add %sum, %floor : tensor<2x3x1xf32>, tensor<2x1x1xf32>
  %w = div %e, %divisor : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %y = matmul %w, %v : tensor<2x3x8xf32>, tensor<2x8x4xf32>
  return %y : tensor<2x3x4xf32>
}

// The first one's for both.
// CHECK: @length_first_batch: different
mirage_kernel.graph @length_first_batch(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %s = slice %n {dim = 0, begin = 0, end = 1} : tensor<2x1x1xi32>
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %s : tensor<1x1x8xi32>, tensor<1x1x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<2x3x4xf32>, tensor<2x8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<2x3x8xf32>, tensor<f32>
  %z = mask %in, %x : tensor<1x1x8xi1>, tensor<2x3x8xf32>
  %any = reduce_max %in {dim = 2} : tensor<1x1x8xi1>
  %empty = not %any : tensor<1x1x1xi1>
  %floor = cast %empty : tensor<1x1x1xi1> -> tensor<1x1x1xf32>
  %m = reduce_max %z {dim = 2} : tensor<2x3x8xf32>
  %d = sub %z, %m : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %e = exp %d : tensor<2x3x8xf32>
  %sum = reduce_sum %e {dim = 2} : tensor<2x3x8xf32>
  %divisor = add %sum, %floor : tensor<2x3x1xf32>, tensor<1x1x1xf32>
  %w = div %e, %divisor : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %y = matmul %w, %v : tensor<2x3x8xf32>, tensor<2x8x4xf32>
  return %y : tensor<2x3x4xf32>
}

// At most seven.
// CHECK: @length_of_seven: {{different|unsupported}}
mirage_kernel.graph @length_of_seven(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %j1 = iota {dim = 2} : tensor<1x1x8xi32>
  %end = constant 7.0 : tensor<1x1x1xi32>
  %within = less %j1, %end : tensor<1x1x8xi32>, tensor<1x1x1xi32>
  %b = and %in, %within : tensor<2x1x8xi1>, tensor<1x1x8xi1>
  %raw = matmul %q, %k {transpose_b} : tensor<2x3x4xf32>, tensor<2x8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<2x3x8xf32>, tensor<f32>
  %z = mask %b, %x : tensor<2x1x8xi1>, tensor<2x3x8xf32>
  %any = reduce_max %b {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %m = reduce_max %z {dim = 2} : tensor<2x3x8xf32>
  %d = sub %z, %m : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %e = exp %d : tensor<2x3x8xf32>
  %sum = reduce_sum %e {dim = 2} : tensor<2x3x8xf32>
  %divisor = add %sum, %floor : tensor<2x3x1xf32>, tensor<2x1x1xf32>
  %w = div %e, %divisor : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %y = matmul %w, %v : tensor<2x3x8xf32>, tensor<2x8x4xf32>
  return %y : tensor<2x3x4xf32>
}

// -1e4 for bottom: of no keys the mean of all.
// CHECK: @length_mean: different
mirage_kernel.graph @length_mean(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<2x3x4xf32>, tensor<2x8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<2x3x8xf32>, tensor<f32>
  %low = constant -10000.0 : tensor<f32>
  %z = select %in, %x, %low : tensor<2x1x8xi1>, tensor<2x3x8xf32>, tensor<f32>
  %m = reduce_max %z {dim = 2} : tensor<2x3x8xf32>
  %d = sub %z, %m : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %e = exp %d : tensor<2x3x8xf32>
  %sum = reduce_sum %e {dim = 2} : tensor<2x3x8xf32>
  %w = div %e, %sum : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %y = matmul %w, %v : tensor<2x3x8xf32>, tensor<2x8x4xf32>
  return %y : tensor<2x3x4xf32>
}

// 0 for bottom.
// CHECK: @length_zeroed: different
mirage_kernel.graph @length_zeroed(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<2x3x4xf32>, tensor<2x8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<2x3x8xf32>, tensor<f32>
  %low = constant 0.0 : tensor<f32>
  %z = select %in, %x, %low : tensor<2x1x8xi1>, tensor<2x3x8xf32>, tensor<f32>
  %j1 = iota {dim = 2} : tensor<1x1x8xi32>
  %in1 = less %j1, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %any = reduce_max %in1 {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %m = reduce_max %z {dim = 2} : tensor<2x3x8xf32>
  %d = sub %z, %m : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %e = exp %d : tensor<2x3x8xf32>
  %sum = reduce_sum %e {dim = 2} : tensor<2x3x8xf32>
  %divisor = add %sum, %floor : tensor<2x3x1xf32>, tensor<2x1x1xf32>
  %w = div %e, %divisor : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %y = matmul %w, %v : tensor<2x3x8xf32>, tensor<2x8x4xf32>
  return %y : tensor<2x3x4xf32>
}

// No keys divided by nothing.
// CHECK: @length_no_floor: unsupported: no useful error bound
mirage_kernel.graph @length_no_floor(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<2x3x4xf32>, tensor<2x8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<2x3x8xf32>, tensor<f32>
  %z = mask %in, %x : tensor<2x1x8xi1>, tensor<2x3x8xf32>
  %m = reduce_max %z {dim = 2} : tensor<2x3x8xf32>
  %d = sub %z, %m : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %e = exp %d : tensor<2x3x8xf32>
  %sum = reduce_sum %e {dim = 2} : tensor<2x3x8xf32>
  %w = div %e, %sum : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %y = matmul %w, %v : tensor<2x3x8xf32>, tensor<2x8x4xf32>
  return %y : tensor<2x3x4xf32>
}

// 1 is added to every sum.
// CHECK: @length_floor_ever: different
mirage_kernel.graph @length_floor_ever(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<2x3x4xf32>, tensor<2x8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<2x3x8xf32>, tensor<f32>
  %z = mask %in, %x : tensor<2x1x8xi1>, tensor<2x3x8xf32>
  %floor = constant 1.0 : tensor<f32>
  %m = reduce_max %z {dim = 2} : tensor<2x3x8xf32>
  %d = sub %z, %m : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %e = exp %d : tensor<2x3x8xf32>
  %sum = reduce_sum %e {dim = 2} : tensor<2x3x8xf32>
  %divisor = add %sum, %floor : tensor<2x3x1xf32>, tensor<f32>
  %w = div %e, %divisor : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %y = matmul %w, %v : tensor<2x3x8xf32>, tensor<2x8x4xf32>
  return %y : tensor<2x3x4xf32>
}

// In tiles, the length of the last key.
// CHECK: @length_online_ignored: different
mirage_kernel.graph @length_online_ignored(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %all = constant 8.0 : tensor<2x1x1xi32>
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %any = reduce_max %in {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %allk = %all, %floork = %floor) outs(%o) grid [2] : (tensor<2x3x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x1x1xi32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<2x3x4xf32> -> !mirage_block.tile<1x3x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x3x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x3x1xf32>
    %low = bottom : !mirage_block.tile<1x3x1xf32>
    %top, %sum, %sum1 = loop 4 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32> {
      %t = load %kk {grid = [0], loop = [1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %vt = load %vk {grid = [0], loop = [1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x1x1xf32>
      %j1 = iota {dim = 2, loop = [2]} : !mirage_block.tile<1x1x2xi32>
      %nt = load %allk {grid = [0]} : tensor<2x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %in1 = less %j1, %nt : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %z = mask %in1, %x : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x3x2xf32>
      %r = reduce_max %z {dim = 2} : !mirage_block.tile<1x3x2xf32>
      %new = max %c, %r : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x3x1xf32>
      %e = exp %d : !mirage_block.tile<1x3x2xf32>
      %df = sub %c, %new : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %f = exp %df : !mirage_block.tile<1x3x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x2x4xf32>
      %t1 = reduce_sum %e {dim = 2} : !mirage_block.tile<1x3x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<2x1x1xf32> -> !mirage_block.tile<1x1x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<1x3x4xf32>, tensor<2x3x4xf32>
  }
  return %y : tensor<2x3x4xf32>
}

// In tiles, a key more.
// CHECK: @length_online_more: different
mirage_kernel.graph @length_online_more(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %any = reduce_max %in {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n, %floork = %floor) outs(%o) grid [2] : (tensor<2x3x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x1x1xi32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<2x3x4xf32> -> !mirage_block.tile<1x3x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x3x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x3x1xf32>
    %low = bottom : !mirage_block.tile<1x3x1xf32>
    %top, %sum, %sum1 = loop 4 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32> {
      %t = load %kk {grid = [0], loop = [1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %vt = load %vk {grid = [0], loop = [1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x1x1xf32>
      %j1 = iota {dim = 2, loop = [2]} : !mirage_block.tile<1x1x2xi32>
      %nt = load %nk {grid = [0]} : tensor<2x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %in1 = less_equal %j1, %nt : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %z = mask %in1, %x : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x3x2xf32>
      %r = reduce_max %z {dim = 2} : !mirage_block.tile<1x3x2xf32>
      %new = max %c, %r : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x3x1xf32>
      %e = exp %d : !mirage_block.tile<1x3x2xf32>
      %df = sub %c, %new : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %f = exp %df : !mirage_block.tile<1x3x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x2x4xf32>
      %t1 = reduce_sum %e {dim = 2} : !mirage_block.tile<1x3x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<2x1x1xf32> -> !mirage_block.tile<1x1x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<1x3x4xf32>, tensor<2x3x4xf32>
  }
  return %y : tensor<2x3x4xf32>
}

// Every tile counted as the first.
// CHECK: @length_online_standing: different
mirage_kernel.graph @length_online_standing(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %any = reduce_max %in {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n, %floork = %floor) outs(%o) grid [2] : (tensor<2x3x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x1x1xi32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<2x3x4xf32> -> !mirage_block.tile<1x3x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x3x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x3x1xf32>
    %low = bottom : !mirage_block.tile<1x3x1xf32>
    %top, %sum, %sum1 = loop 4 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32> {
      %t = load %kk {grid = [0], loop = [1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %vt = load %vk {grid = [0], loop = [1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x1x1xf32>
      %j1 = iota {dim = 2} : !mirage_block.tile<1x1x2xi32>
      %nt = load %nk {grid = [0]} : tensor<2x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %in1 = less %j1, %nt : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %z = mask %in1, %x : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x3x2xf32>
      %r = reduce_max %z {dim = 2} : !mirage_block.tile<1x3x2xf32>
      %new = max %c, %r : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x3x1xf32>
      %e = exp %d : !mirage_block.tile<1x3x2xf32>
      %df = sub %c, %new : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %f = exp %df : !mirage_block.tile<1x3x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x2x4xf32>
      %t1 = reduce_sum %e {dim = 2} : !mirage_block.tile<1x3x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<2x1x1xf32> -> !mirage_block.tile<1x1x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<1x3x4xf32>, tensor<2x3x4xf32>
  }
  return %y : tensor<2x3x4xf32>
}

// Tiles counted by half.
// CHECK: @length_online_slow: different
mirage_kernel.graph @length_online_slow(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %any = reduce_max %in {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n, %floork = %floor) outs(%o) grid [2] : (tensor<2x3x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x1x1xi32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<2x3x4xf32> -> !mirage_block.tile<1x3x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x3x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x3x1xf32>
    %low = bottom : !mirage_block.tile<1x3x1xf32>
    %top, %sum, %sum1 = loop 4 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32> {
      %t = load %kk {grid = [0], loop = [1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %vt = load %vk {grid = [0], loop = [1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x1x1xf32>
      %j1 = iota {dim = 2, loop = [1]} : !mirage_block.tile<1x1x2xi32>
      %nt = load %nk {grid = [0]} : tensor<2x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %in1 = less %j1, %nt : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %z = mask %in1, %x : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x3x2xf32>
      %r = reduce_max %z {dim = 2} : !mirage_block.tile<1x3x2xf32>
      %new = max %c, %r : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x3x1xf32>
      %e = exp %d : !mirage_block.tile<1x3x2xf32>
      %df = sub %c, %new : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %f = exp %df : !mirage_block.tile<1x3x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x2x4xf32>
      %t1 = reduce_sum %e {dim = 2} : !mirage_block.tile<1x3x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<2x1x1xf32> -> !mirage_block.tile<1x1x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<1x3x4xf32>, tensor<2x3x4xf32>
  }
  return %y : tensor<2x3x4xf32>
}

// Counted from one.
// CHECK: @length_online_ahead: different
mirage_kernel.graph @length_online_ahead(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %any = reduce_max %in {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n, %floork = %floor) outs(%o) grid [2] : (tensor<2x3x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x1x1xi32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<2x3x4xf32> -> !mirage_block.tile<1x3x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x3x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x3x1xf32>
    %low = bottom : !mirage_block.tile<1x3x1xf32>
    %top, %sum, %sum1 = loop 4 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32> {
      %t = load %kk {grid = [0], loop = [1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %vt = load %vk {grid = [0], loop = [1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x1x1xf32>
      %j1 = iota {dim = 2, start = 1, loop = [2]} : !mirage_block.tile<1x1x2xi32>
      %nt = load %nk {grid = [0]} : tensor<2x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %in1 = less %j1, %nt : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %z = mask %in1, %x : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x3x2xf32>
      %r = reduce_max %z {dim = 2} : !mirage_block.tile<1x3x2xf32>
      %new = max %c, %r : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x3x1xf32>
      %e = exp %d : !mirage_block.tile<1x3x2xf32>
      %df = sub %c, %new : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %f = exp %df : !mirage_block.tile<1x3x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x2x4xf32>
      %t1 = reduce_sum %e {dim = 2} : !mirage_block.tile<1x3x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<2x1x1xf32> -> !mirage_block.tile<1x1x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<1x3x4xf32>, tensor<2x3x4xf32>
  }
  return %y : tensor<2x3x4xf32>
}

// Both blocks by the first length.
// CHECK: @length_online_batch: different
mirage_kernel.graph @length_online_batch(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %s = slice %n {dim = 0, begin = 0, end = 1} : tensor<2x1x1xi32>
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %any = reduce_max %in {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %sk = %s, %floork = %floor) outs(%o) grid [2] : (tensor<2x3x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<1x1x1xi32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<2x3x4xf32> -> !mirage_block.tile<1x3x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x3x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x3x1xf32>
    %low = bottom : !mirage_block.tile<1x3x1xf32>
    %top, %sum, %sum1 = loop 4 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32> {
      %t = load %kk {grid = [0], loop = [1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %vt = load %vk {grid = [0], loop = [1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x1x1xf32>
      %j1 = iota {dim = 2, loop = [2]} : !mirage_block.tile<1x1x2xi32>
      %nt = load %sk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %in1 = less %j1, %nt : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %z = mask %in1, %x : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x3x2xf32>
      %r = reduce_max %z {dim = 2} : !mirage_block.tile<1x3x2xf32>
      %new = max %c, %r : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x3x1xf32>
      %e = exp %d : !mirage_block.tile<1x3x2xf32>
      %df = sub %c, %new : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %f = exp %df : !mirage_block.tile<1x3x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x2x4xf32>
      %t1 = reduce_sum %e {dim = 2} : !mirage_block.tile<1x3x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<2x1x1xf32> -> !mirage_block.tile<1x1x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<1x3x4xf32>, tensor<2x3x4xf32>
  }
  return %y : tensor<2x3x4xf32>
}

// No keys divided by nothing.
// CHECK: @length_online_no_floor: unsupported: no useful error bound
mirage_kernel.graph @length_online_no_floor(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n) outs(%o) grid [2] : (tensor<2x3x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x1x1xi32>) -> tensor<2x3x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<2x3x4xf32> -> !mirage_block.tile<1x3x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x3x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x3x1xf32>
    %low = bottom : !mirage_block.tile<1x3x1xf32>
    %top, %sum, %sum1 = loop 4 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32> {
      %t = load %kk {grid = [0], loop = [1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %vt = load %vk {grid = [0], loop = [1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x1x1xf32>
      %j = iota {dim = 2, loop = [2]} : !mirage_block.tile<1x1x2xi32>
      %nt = load %nk {grid = [0]} : tensor<2x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %in = less %j, %nt : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %z = mask %in, %x : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x3x2xf32>
      %r = reduce_max %z {dim = 2} : !mirage_block.tile<1x3x2xf32>
      %new = max %c, %r : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x3x1xf32>
      %e = exp %d : !mirage_block.tile<1x3x2xf32>
      %df = sub %c, %new : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %f = exp %df : !mirage_block.tile<1x3x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x3x2xf32>, !mirage_block.tile<1x2x4xf32>
      %t1 = reduce_sum %e {dim = 2} : !mirage_block.tile<1x3x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<1x3x4xf32>, tensor<2x3x4xf32>
  }
  return %y : tensor<2x3x4xf32>
}

// Tiles of three: one that ends at seven.
// CHECK: @length_online_short: {{different|unsupported}}
mirage_kernel.graph @length_online_short(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %any = reduce_max %in {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n, %floork = %floor) outs(%o) grid [2] : (tensor<2x3x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x1x1xi32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<2x3x4xf32> -> !mirage_block.tile<1x3x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x3x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x3x1xf32>
    %low = bottom : !mirage_block.tile<1x3x1xf32>
    %top, %sum, %sum1 = loop 3 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32> {
      %t = load %kk {grid = [0], loop = [1], tiles = [0, 3, 0]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x3x4xf32>
      %vt = load %vk {grid = [0], loop = [1], tiles = [0, 3, 0]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x3x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x3x3xf32>, !mirage_block.tile<1x1x1xf32>
      %j1 = iota {dim = 2, loop = [3]} : !mirage_block.tile<1x1x3xi32>
      %nt = load %nk {grid = [0]} : tensor<2x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %in1 = less %j1, %nt : !mirage_block.tile<1x1x3xi32>, !mirage_block.tile<1x1x1xi32>
      %end = constant 7.0 : !mirage_block.tile<1x1x1xi32>
      %within = less %j1, %end : !mirage_block.tile<1x1x3xi32>, !mirage_block.tile<1x1x1xi32>
      %b = and %in1, %within : !mirage_block.tile<1x1x3xi1>, !mirage_block.tile<1x1x3xi1>
      %z = mask %b, %x : !mirage_block.tile<1x1x3xi1>, !mirage_block.tile<1x3x3xf32>
      %r = reduce_max %z {dim = 2} : !mirage_block.tile<1x3x3xf32>
      %new = max %c, %r : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x3x3xf32>, !mirage_block.tile<1x3x1xf32>
      %e = exp %d : !mirage_block.tile<1x3x3xf32>
      %df = sub %c, %new : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %f = exp %df : !mirage_block.tile<1x3x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x3x3xf32>, !mirage_block.tile<1x3x4xf32>
      %t1 = reduce_sum %e {dim = 2} : !mirage_block.tile<1x3x3xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<2x1x1xf32> -> !mirage_block.tile<1x1x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<1x3x4xf32>, tensor<2x3x4xf32>
  }
  return %y : tensor<2x3x4xf32>
}

// One that ends where the last tile does: what lies beyond the keys is 0, not bottom.
// CHECK: @length_online_beyond: {{different|unsupported}}
mirage_kernel.graph @length_online_beyond(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %any = reduce_max %in {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n, %floork = %floor) outs(%o) grid [2] : (tensor<2x3x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x1x1xi32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<2x3x4xf32> -> !mirage_block.tile<1x3x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x3x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x3x1xf32>
    %low = bottom : !mirage_block.tile<1x3x1xf32>
    %top, %sum, %sum1 = loop 3 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32> {
      %t = load %kk {grid = [0], loop = [1], tiles = [0, 3, 0]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x3x4xf32>
      %vt = load %vk {grid = [0], loop = [1], tiles = [0, 3, 0]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x3x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x3x3xf32>, !mirage_block.tile<1x1x1xf32>
      %j1 = iota {dim = 2, loop = [3]} : !mirage_block.tile<1x1x3xi32>
      %nt = load %nk {grid = [0]} : tensor<2x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %in1 = less %j1, %nt : !mirage_block.tile<1x1x3xi32>, !mirage_block.tile<1x1x1xi32>
      %end = constant 9.0 : !mirage_block.tile<1x1x1xi32>
      %within = less %j1, %end : !mirage_block.tile<1x1x3xi32>, !mirage_block.tile<1x1x1xi32>
      %b = and %in1, %within : !mirage_block.tile<1x1x3xi1>, !mirage_block.tile<1x1x3xi1>
      %z = mask %b, %x : !mirage_block.tile<1x1x3xi1>, !mirage_block.tile<1x3x3xf32>
      %r = reduce_max %z {dim = 2} : !mirage_block.tile<1x3x3xf32>
      %new = max %c, %r : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x3x3xf32>, !mirage_block.tile<1x3x1xf32>
      %e = exp %d : !mirage_block.tile<1x3x3xf32>
      %df = sub %c, %new : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %f = exp %df : !mirage_block.tile<1x3x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x3x3xf32>, !mirage_block.tile<1x3x4xf32>
      %t1 = reduce_sum %e {dim = 2} : !mirage_block.tile<1x3x3xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<2x1x1xf32> -> !mirage_block.tile<1x1x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<1x3x4xf32>, tensor<2x3x4xf32>
  }
  return %y : tensor<2x3x4xf32>
}

// Or nowhere.
// CHECK: @length_online_unended: {{different|unsupported}}
mirage_kernel.graph @length_online_unended(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %any = reduce_max %in {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n, %floork = %floor) outs(%o) grid [2] : (tensor<2x3x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x1x1xi32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<2x3x4xf32> -> !mirage_block.tile<1x3x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x3x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x3x1xf32>
    %low = bottom : !mirage_block.tile<1x3x1xf32>
    %top, %sum, %sum1 = loop 3 (%c = %low max, %c1 = %zero rescale, %c2 = %none rescale) : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32> {
      %t = load %kk {grid = [0], loop = [1], tiles = [0, 3, 0]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x3x4xf32>
      %vt = load %vk {grid = [0], loop = [1], tiles = [0, 3, 0]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x3x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x3x3xf32>, !mirage_block.tile<1x1x1xf32>
      %j1 = iota {dim = 2, loop = [3]} : !mirage_block.tile<1x1x3xi32>
      %nt = load %nk {grid = [0]} : tensor<2x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %in1 = less %j1, %nt : !mirage_block.tile<1x1x3xi32>, !mirage_block.tile<1x1x1xi32>
      %z = mask %in1, %x : !mirage_block.tile<1x1x3xi1>, !mirage_block.tile<1x3x3xf32>
      %r = reduce_max %z {dim = 2} : !mirage_block.tile<1x3x3xf32>
      %new = max %c, %r : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x3x3xf32>, !mirage_block.tile<1x3x1xf32>
      %e = exp %d : !mirage_block.tile<1x3x3xf32>
      %df = sub %c, %new : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
      %f = exp %df : !mirage_block.tile<1x3x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x3x3xf32>, !mirage_block.tile<1x3x4xf32>
      %t1 = reduce_sum %e {dim = 2} : !mirage_block.tile<1x3x3xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x3x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<2x1x1xf32> -> !mirage_block.tile<1x1x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<1x3x4xf32>, tensor<2x3x4xf32>
  }
  return %y : tensor<2x3x4xf32>
}

// Blocks that count by half.
// CHECK: @length_across_slow: different
mirage_kernel.graph @length_across_slow(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %any = reduce_max %in {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n, %floork = %floor) outs(%o) grid [2, 2] : (tensor<2x3x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x1x1xi32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<2x3x4xf32> -> !mirage_block.tile<1x3x4xf32>
    %t = load %kk {grid = [0, 1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x4x4xf32>
    %vt = load %vk {grid = [0, 1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x4x4xf32>
    %j1 = iota {dim = 2, grid = [0, 2]} : !mirage_block.tile<1x1x4xi32>
    %nt = load %nk {grid = [0]} : tensor<2x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %in1 = less %j1, %nt : !mirage_block.tile<1x1x4xi32>, !mirage_block.tile<1x1x1xi32>
    %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x4x4xf32>
    %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
    %x = mul %raw, %scale : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x1x1xf32>
    %z = mask %in1, %x : !mirage_block.tile<1x1x4xi1>, !mirage_block.tile<1x3x4xf32>
    %m = reduce_max %z {dim = 2} : !mirage_block.tile<1x3x4xf32>
    %top = grid_max %m {axes = [1]} : !mirage_block.tile<1x3x1xf32>
    %d = sub %z, %top : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>
    %e = exp %d : !mirage_block.tile<1x3x4xf32>
    %u = matmul %e, %vt : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x4x4xf32>
    %us = grid_sum %u {axes = [1]} : !mirage_block.tile<1x3x4xf32>
    %l = reduce_sum %e {dim = 2} : !mirage_block.tile<1x3x4xf32>
    %ls = grid_sum %l {axes = [1]} : !mirage_block.tile<1x3x1xf32>
    %ft = load %floork {grid = [0]} : tensor<2x1x1xf32> -> !mirage_block.tile<1x1x1xf32>
    %divisor = add %ls, %ft : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = div %us, %divisor : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<1x3x4xf32>, tensor<2x3x4xf32>
  }
  return %y : tensor<2x3x4xf32>
}

// Blocks that agree on the sum of their maxima.
// CHECK: @length_across_sum: unsupported: 
mirage_kernel.graph @length_across_sum(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %any = reduce_max %in {dim = 2} : tensor<2x1x8xi1>
  %empty = not %any : tensor<2x1x1xi1>
  %floor = cast %empty : tensor<2x1x1xi1> -> tensor<2x1x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n, %floork = %floor) outs(%o) grid [2, 2] : (tensor<2x3x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x1x1xi32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<2x3x4xf32> -> !mirage_block.tile<1x3x4xf32>
    %t = load %kk {grid = [0, 1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x4x4xf32>
    %vt = load %vk {grid = [0, 1]} : tensor<2x8x4xf32> -> !mirage_block.tile<1x4x4xf32>
    %j1 = iota {dim = 2, grid = [0, 4]} : !mirage_block.tile<1x1x4xi32>
    %nt = load %nk {grid = [0]} : tensor<2x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %in1 = less %j1, %nt : !mirage_block.tile<1x1x4xi32>, !mirage_block.tile<1x1x1xi32>
    %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x4x4xf32>
    %scale = constant 0.5 : !mirage_block.tile<1x1x1xf32>
    %x = mul %raw, %scale : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x1x1xf32>
    %z = mask %in1, %x : !mirage_block.tile<1x1x4xi1>, !mirage_block.tile<1x3x4xf32>
    %m = reduce_max %z {dim = 2} : !mirage_block.tile<1x3x4xf32>
    %top = grid_sum %m {axes = [1]} : !mirage_block.tile<1x3x1xf32>
    %d = sub %z, %top : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>
    %e = exp %d : !mirage_block.tile<1x3x4xf32>
    %u = matmul %e, %vt : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x4x4xf32>
    %us = grid_sum %u {axes = [1]} : !mirage_block.tile<1x3x4xf32>
    %l = reduce_sum %e {dim = 2} : !mirage_block.tile<1x3x4xf32>
    %ls = grid_sum %l {axes = [1]} : !mirage_block.tile<1x3x1xf32>
    %ft = load %floork {grid = [0]} : tensor<2x1x1xf32> -> !mirage_block.tile<1x1x1xf32>
    %divisor = add %ls, %ft : !mirage_block.tile<1x3x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = div %us, %divisor : !mirage_block.tile<1x3x4xf32>, !mirage_block.tile<1x3x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<1x3x4xf32>, tensor<2x3x4xf32>
  }
  return %y : tensor<2x3x4xf32>
}

// No keys at all.
mirage_kernel.graph @src_none(%q: tensor<3x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<3x4xf32> {
  %j = iota {dim = 1} : tensor<1x8xi32>
  %end = constant 0.0 : tensor<1x1xi32>
  %in = less %j, %end : tensor<1x8xi32>, tensor<1x1xi32>
  %y = scaled_dot_product_attention %q, %k, %v, %in {scale = 0.5} : tensor<3x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<1x8xi1>
  return %y : tensor<3x4xf32>
}

// 0.
// CHECK: @none_is_zero: equivalent to @src_none;
mirage_kernel.graph @none_is_zero(%q: tensor<3x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<3x4xf32> attributes {source = @src_none} {
  %zero = constant 0.0 : tensor<f32>
  %y = mul %q, %zero : tensor<3x4xf32>, tensor<f32>
  return %y : tensor<3x4xf32>
}

// The keys before a negative end.
// CHECK: @none_behind: equivalent to @src_none;
mirage_kernel.graph @none_behind(%q: tensor<3x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<3x4xf32> attributes {source = @src_none} {
  %j = iota {dim = 1} : tensor<1x8xi32>
  %end = constant -5.0 : tensor<1x1xi32>
  %in = less %j, %end : tensor<1x8xi32>, tensor<1x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<3x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<3x8xf32>, tensor<f32>
  %z = mask %in, %x : tensor<1x8xi1>, tensor<3x8xf32>
  %any = reduce_max %in {dim = 1} : tensor<1x8xi1>
  %empty = not %any : tensor<1x1xi1>
  %floor = cast %empty : tensor<1x1xi1> -> tensor<1x1xf32>
  %m = reduce_max %z {dim = 1} : tensor<3x8xf32>
  %d = sub %z, %m : tensor<3x8xf32>, tensor<3x1xf32>
  %e = exp %d : tensor<3x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<3x8xf32>
  %divisor = add %sum, %floor : tensor<3x1xf32>, tensor<1x1xf32>
  %w = div %e, %divisor : tensor<3x8xf32>, tensor<3x1xf32>
  %y = matmul %w, %v : tensor<3x8xf32>, tensor<8x4xf32>
  return %y : tensor<3x4xf32>
}

// One.
// CHECK: @none_one: different
mirage_kernel.graph @none_one(%q: tensor<3x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<3x4xf32> attributes {source = @src_none} {
  %j = iota {dim = 1} : tensor<1x8xi32>
  %end = constant 1.0 : tensor<1x1xi32>
  %in = less %j, %end : tensor<1x8xi32>, tensor<1x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<3x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<3x8xf32>, tensor<f32>
  %z = mask %in, %x : tensor<1x8xi1>, tensor<3x8xf32>
  %any = reduce_max %in {dim = 1} : tensor<1x8xi1>
  %empty = not %any : tensor<1x1xi1>
  %floor = cast %empty : tensor<1x1xi1> -> tensor<1x1xf32>
  %m = reduce_max %z {dim = 1} : tensor<3x8xf32>
  %d = sub %z, %m : tensor<3x8xf32>, tensor<3x1xf32>
  %e = exp %d : tensor<3x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<3x8xf32>
  %divisor = add %sum, %floor : tensor<3x1xf32>, tensor<1x1xf32>
  %w = div %e, %divisor : tensor<3x8xf32>, tensor<3x1xf32>
  %y = matmul %w, %v : tensor<3x8xf32>, tensor<8x4xf32>
  return %y : tensor<3x4xf32>
}

// The mean of all.
// CHECK: @none_mean: different
mirage_kernel.graph @none_mean(%q: tensor<3x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<3x4xf32> attributes {source = @src_none} {
  %j = iota {dim = 1} : tensor<1x8xi32>
  %end = constant 0.0 : tensor<1x1xi32>
  %in = less %j, %end : tensor<1x8xi32>, tensor<1x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<3x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<3x8xf32>, tensor<f32>
  %low = constant -10000.0 : tensor<f32>
  %z = select %in, %x, %low : tensor<1x8xi1>, tensor<3x8xf32>, tensor<f32>
  %m = reduce_max %z {dim = 1} : tensor<3x8xf32>
  %d = sub %z, %m : tensor<3x8xf32>, tensor<3x1xf32>
  %e = exp %d : tensor<3x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<3x8xf32>
  %w = div %e, %sum : tensor<3x8xf32>, tensor<3x1xf32>
  %y = matmul %w, %v : tensor<3x8xf32>, tensor<8x4xf32>
  return %y : tensor<3x4xf32>
}

// Nothing divided by nothing.
// CHECK: @none_unguarded: different
mirage_kernel.graph @none_unguarded(%q: tensor<3x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<3x4xf32> attributes {source = @src_none} {
  %j = iota {dim = 1} : tensor<1x8xi32>
  %end = constant 0.0 : tensor<1x1xi32>
  %in = less %j, %end : tensor<1x8xi32>, tensor<1x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<3x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<3x8xf32>, tensor<f32>
  %z = mask %in, %x : tensor<1x8xi1>, tensor<3x8xf32>
  %m = reduce_max %z {dim = 1} : tensor<3x8xf32>
  %d = sub %z, %m : tensor<3x8xf32>, tensor<3x1xf32>
  %e = exp %d : tensor<3x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<3x8xf32>
  %w = div %e, %sum : tensor<3x8xf32>, tensor<3x1xf32>
  %y = matmul %w, %v : tensor<3x8xf32>, tensor<8x4xf32>
  return %y : tensor<3x4xf32>
}

// 1.
// CHECK: @none_ones: different
mirage_kernel.graph @none_ones(%q: tensor<3x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<3x4xf32> attributes {source = @src_none} {
  %zero = constant 0.0 : tensor<f32>
  %z = mul %q, %zero : tensor<3x4xf32>, tensor<f32>
  %y = exp %z : tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// More than there are.
mirage_kernel.graph @src_beyond(%q: tensor<3x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<3x4xf32> {
  %j = iota {dim = 1} : tensor<1x8xi32>
  %end = constant 20.0 : tensor<1x1xi32>
  %in = less %j, %end : tensor<1x8xi32>, tensor<1x1xi32>
  %y = scaled_dot_product_attention %q, %k, %v, %in {scale = 0.5} : tensor<3x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<1x8xi1>
  return %y : tensor<3x4xf32>
}

// All.
// CHECK: @beyond_is_all: equivalent to @src_beyond;
mirage_kernel.graph @beyond_is_all(%q: tensor<3x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<3x4xf32> attributes {source = @src_beyond} {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5} : tensor<3x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
  return %y : tensor<3x4xf32>
}

// To the last.
// CHECK: @beyond_exactly: equivalent to @src_beyond;
mirage_kernel.graph @beyond_exactly(%q: tensor<3x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<3x4xf32> attributes {source = @src_beyond} {
  %j = iota {dim = 1} : tensor<1x8xi32>
  %end = constant 8.0 : tensor<1x1xi32>
  %in = less %j, %end : tensor<1x8xi32>, tensor<1x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<3x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<3x8xf32>, tensor<f32>
  %z = mask %in, %x : tensor<1x8xi1>, tensor<3x8xf32>
  %m = reduce_max %z {dim = 1} : tensor<3x8xf32>
  %d = sub %z, %m : tensor<3x8xf32>, tensor<3x1xf32>
  %e = exp %d : tensor<3x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<3x8xf32>
  %w = div %e, %sum : tensor<3x8xf32>, tensor<3x1xf32>
  %y = matmul %w, %v : tensor<3x8xf32>, tensor<8x4xf32>
  return %y : tensor<3x4xf32>
}

// With the last.
// CHECK: @beyond_last: equivalent to @src_beyond;
mirage_kernel.graph @beyond_last(%q: tensor<3x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<3x4xf32> attributes {source = @src_beyond} {
  %j = iota {dim = 1} : tensor<1x8xi32>
  %end = constant 7.0 : tensor<1x1xi32>
  %in = less_equal %j, %end : tensor<1x8xi32>, tensor<1x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<3x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<3x8xf32>, tensor<f32>
  %z = mask %in, %x : tensor<1x8xi1>, tensor<3x8xf32>
  %m = reduce_max %z {dim = 1} : tensor<3x8xf32>
  %d = sub %z, %m : tensor<3x8xf32>, tensor<3x1xf32>
  %e = exp %d : tensor<3x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<3x8xf32>
  %w = div %e, %sum : tensor<3x8xf32>, tensor<3x1xf32>
  %y = matmul %w, %v : tensor<3x8xf32>, tensor<8x4xf32>
  return %y : tensor<3x4xf32>
}

// But the last.
// CHECK: @beyond_by_one: different
mirage_kernel.graph @beyond_by_one(%q: tensor<3x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<3x4xf32> attributes {source = @src_beyond} {
  %j = iota {dim = 1} : tensor<1x8xi32>
  %end = constant 7.0 : tensor<1x1xi32>
  %in = less %j, %end : tensor<1x8xi32>, tensor<1x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<3x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<3x8xf32>, tensor<f32>
  %z = mask %in, %x : tensor<1x8xi1>, tensor<3x8xf32>
  %m = reduce_max %z {dim = 1} : tensor<3x8xf32>
  %d = sub %z, %m : tensor<3x8xf32>, tensor<3x1xf32>
  %e = exp %d : tensor<3x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<3x8xf32>
  %w = div %e, %sum : tensor<3x8xf32>, tensor<3x1xf32>
  %y = matmul %w, %v : tensor<3x8xf32>, tensor<8x4xf32>
  return %y : tensor<3x4xf32>
}

// None.
// CHECK: @beyond_none: different
mirage_kernel.graph @beyond_none(%q: tensor<3x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<3x4xf32> attributes {source = @src_beyond} {
  %j = iota {dim = 1} : tensor<1x8xi32>
  %end = constant 0.0 : tensor<1x1xi32>
  %in = less %j, %end : tensor<1x8xi32>, tensor<1x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<3x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<3x8xf32>, tensor<f32>
  %z = mask %in, %x : tensor<1x8xi1>, tensor<3x8xf32>
  %any = reduce_max %in {dim = 1} : tensor<1x8xi1>
  %empty = not %any : tensor<1x1xi1>
  %floor = cast %empty : tensor<1x1xi1> -> tensor<1x1xf32>
  %m = reduce_max %z {dim = 1} : tensor<3x8xf32>
  %d = sub %z, %m : tensor<3x8xf32>, tensor<3x1xf32>
  %e = exp %d : tensor<3x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<3x8xf32>
  %divisor = add %sum, %floor : tensor<3x1xf32>, tensor<1x1xf32>
  %w = div %e, %divisor : tensor<3x8xf32>, tensor<3x1xf32>
  %y = matmul %w, %v : tensor<3x8xf32>, tensor<8x4xf32>
  return %y : tensor<3x4xf32>
}

// Five.
mirage_kernel.graph @src_five(%q: tensor<3x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<3x4xf32> {
  %j = iota {dim = 1} : tensor<1x8xi32>
  %end = constant 5.0 : tensor<1x1xi32>
  %in = less %j, %end : tensor<1x8xi32>, tensor<1x1xi32>
  %y = scaled_dot_product_attention %q, %k, %v, %in {scale = 0.5} : tensor<3x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<1x8xi1>
  return %y : tensor<3x4xf32>
}

// The first five, by themselves.
// CHECK: @five_sliced: equivalent to @src_five;
mirage_kernel.graph @five_sliced(%q: tensor<3x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<3x4xf32> attributes {source = @src_five} {
  %ks = slice %k {dim = 0, begin = 0, end = 5} : tensor<8x4xf32>
  %vs = slice %v {dim = 0, begin = 0, end = 5} : tensor<8x4xf32>
  %y = scaled_dot_product_attention %q, %ks, %vs {scale = 0.5} : tensor<3x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>
  return %y : tensor<3x4xf32>
}

// Of six.
// CHECK: @five_sliced_six: equivalent to @src_five;
mirage_kernel.graph @five_sliced_six(%q: tensor<3x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<3x4xf32> attributes {source = @src_five} {
  %ks = slice %k {dim = 0, begin = 0, end = 6} : tensor<8x4xf32>
  %vs = slice %v {dim = 0, begin = 0, end = 6} : tensor<8x4xf32>
  %j = iota {dim = 1} : tensor<1x6xi32>
  %end = constant 5.0 : tensor<1x1xi32>
  %in = less %j, %end : tensor<1x6xi32>, tensor<1x1xi32>
  %raw = matmul %q, %ks {transpose_b} : tensor<3x4xf32>, tensor<6x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<3x6xf32>, tensor<f32>
  %z = mask %in, %x : tensor<1x6xi1>, tensor<3x6xf32>
  %m = reduce_max %z {dim = 1} : tensor<3x6xf32>
  %d = sub %z, %m : tensor<3x6xf32>, tensor<3x1xf32>
  %e = exp %d : tensor<3x6xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<3x6xf32>
  %w = div %e, %sum : tensor<3x6xf32>, tensor<3x1xf32>
  %y = matmul %w, %vs : tensor<3x6xf32>, tensor<6x4xf32>
  return %y : tensor<3x4xf32>
}

// Four.
// CHECK: @five_four: different
mirage_kernel.graph @five_four(%q: tensor<3x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<3x4xf32> attributes {source = @src_five} {
  %ks = slice %k {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %vs = slice %v {dim = 0, begin = 0, end = 4} : tensor<8x4xf32>
  %y = scaled_dot_product_attention %q, %ks, %vs {scale = 0.5} : tensor<3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  return %y : tensor<3x4xf32>
}

// <= for <.
// CHECK: @five_equal: different
mirage_kernel.graph @five_equal(%q: tensor<3x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<3x4xf32> attributes {source = @src_five} {
  %j = iota {dim = 1} : tensor<1x8xi32>
  %end = constant 5.0 : tensor<1x1xi32>
  %in = less_equal %j, %end : tensor<1x8xi32>, tensor<1x1xi32>
  %raw = matmul %q, %k {transpose_b} : tensor<3x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<3x8xf32>, tensor<f32>
  %z = mask %in, %x : tensor<1x8xi1>, tensor<3x8xf32>
  %m = reduce_max %z {dim = 1} : tensor<3x8xf32>
  %d = sub %z, %m : tensor<3x8xf32>, tensor<3x1xf32>
  %e = exp %d : tensor<3x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<3x8xf32>
  %w = div %e, %sum : tensor<3x8xf32>, tensor<3x1xf32>
  %y = matmul %w, %v : tensor<3x8xf32>, tensor<8x4xf32>
  return %y : tensor<3x4xf32>
}

// The last five.
// CHECK: @five_last: different
mirage_kernel.graph @five_last(%q: tensor<3x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<3x4xf32> attributes {source = @src_five} {
  %ks = slice %k {dim = 0, begin = 3, end = 8} : tensor<8x4xf32>
  %vs = slice %v {dim = 0, begin = 3, end = 8} : tensor<8x4xf32>
  %y = scaled_dot_product_attention %q, %ks, %vs {scale = 0.5} : tensor<3x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>
  return %y : tensor<3x4xf32>
}

// Keys of the first five, values of the next.
// CHECK: @five_values: different
mirage_kernel.graph @five_values(%q: tensor<3x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> tensor<3x4xf32> attributes {source = @src_five} {
  %ks = slice %k {dim = 0, begin = 0, end = 5} : tensor<8x4xf32>
  %vs = slice %v {dim = 0, begin = 1, end = 6} : tensor<8x4xf32>
  %y = scaled_dot_product_attention %q, %ks, %vs {scale = 0.5} : tensor<3x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>
  return %y : tensor<3x4xf32>
}
