// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// Attention under a mask that is an input: rows that see nothing give 0. What a candidate reads of it, and what it does with rows of none.

mirage_kernel.graph @src_given(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> {
  %y = scaled_dot_product_attention %q, %k, %v, %c {scale = 0.5} : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>
  return %y : tensor<8x4xf32>
}

// Written out: 1 is added to the sum of a row without keys.
// CHECK: @given_plain: equivalent to @src_given;
mirage_kernel.graph @given_plain(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %z = mask %c, %x : tensor<8x8xi1>, tensor<8x8xf32>
  %any = reduce_max %c {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %m = reduce_max %z {dim = 1} : tensor<8x8xf32>
  %d = sub %z, %m : tensor<8x8xf32>, tensor<8x1xf32>
  %e = exp %d : tensor<8x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<8x8xf32>
  %divisor = add %sum, %floor : tensor<8x1xf32>, tensor<8x1xf32>
  %w = div %e, %divisor : tensor<8x8xf32>, tensor<8x1xf32>
  %y = matmul %w, %v : tensor<8x8xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// Divided behind the product.
// CHECK: @given_divided_last: equivalent to @src_given;
mirage_kernel.graph @given_divided_last(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %z = mask %c, %x : tensor<8x8xi1>, tensor<8x8xf32>
  %m = reduce_max %z {dim = 1} : tensor<8x8xf32>
  %d = sub %z, %m : tensor<8x8xf32>, tensor<8x1xf32>
  %e = exp %d : tensor<8x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<8x8xf32>
  %any = reduce_max %c {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %divisor = add %sum, %floor : tensor<8x1xf32>, tensor<8x1xf32>
  %p = matmul %e, %v : tensor<8x8xf32>, tensor<8x4xf32>
  %y = div %p, %divisor : tensor<8x4xf32>, tensor<8x1xf32>
  return %y : tensor<8x4xf32>
}

// What is bottom is so behind the scale, too.
// CHECK: @given_before_the_scale: equivalent to @src_given;
mirage_kernel.graph @given_before_the_scale(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %c1 = constant 0.5 : tensor<f32>
  %qs = mul %q, %c1 : tensor<8x4xf32>, tensor<f32>
  %p = matmul %qs, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %z = mask %c, %p : tensor<8x8xi1>, tensor<8x8xf32>
  %any = reduce_max %c {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %m = reduce_max %z {dim = 1} : tensor<8x8xf32>
  %d = sub %z, %m : tensor<8x8xf32>, tensor<8x1xf32>
  %e = exp %d : tensor<8x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<8x8xf32>
  %divisor = add %sum, %floor : tensor<8x1xf32>, tensor<8x1xf32>
  %w = div %e, %divisor : tensor<8x8xf32>, tensor<8x1xf32>
  %y = matmul %w, %v : tensor<8x8xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// Tiles of two keys with a running maximum, one block.
// CHECK: @given_online: equivalent to @src_given;
mirage_kernel.graph @given_online(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %any = reduce_max %c {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %c, %floork = %floor) outs(%o) grid [1] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>, tensor<8x1xf32>) -> tensor<8x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<8x4xf32>
    %none = constant 0.0 : !mirage_block.tile<8x1xf32>
    %low = bottom : !mirage_block.tile<8x1xf32>
    %top, %sum, %sum1 = loop 4 (%c1 = %low max, %c2 = %zero rescale, %c3 = %none rescale) : !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x4xf32>, !mirage_block.tile<8x1xf32> {
      %t = load %kk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<8x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<8x2xf32>, !mirage_block.tile<1x1xf32>
      %ct = load %ck {grid = [0], loop = [1]} : tensor<8x8xi1> -> !mirage_block.tile<8x2xi1>
      %z = mask %ct, %x : !mirage_block.tile<8x2xi1>, !mirage_block.tile<8x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<8x2xf32>
      %new = max %c1, %r : !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x1xf32>
      %d = sub %z, %new : !mirage_block.tile<8x2xf32>, !mirage_block.tile<8x1xf32>
      %e = exp %d : !mirage_block.tile<8x2xf32>
      %df = sub %c1, %new : !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x1xf32>
      %f = exp %df : !mirage_block.tile<8x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<8x2xf32>, !mirage_block.tile<2x4xf32>
      %t1 = reduce_sum %e {dim = 1} : !mirage_block.tile<8x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x4xf32>, !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<8x1xf32> -> !mirage_block.tile<8x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<8x4xf32>, !mirage_block.tile<8x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<8x4xf32>, tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// Four blocks of rows, tiles of four keys.
// CHECK: @given_online_rows: equivalent to @src_given;
mirage_kernel.graph @given_online_rows(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %any = reduce_max %c {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %c, %floork = %floor) outs(%o) grid [4] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>, tensor<8x1xf32>) -> tensor<8x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 2 (%c1 = %low max, %c2 = %zero rescale, %c3 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %t = load %kk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
      %vt = load %vk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<4x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<2x4xf32>, !mirage_block.tile<1x1xf32>
      %ct = load %ck {grid = [0], loop = [1]} : tensor<8x8xi1> -> !mirage_block.tile<2x4xi1>
      %z = mask %ct, %x : !mirage_block.tile<2x4xi1>, !mirage_block.tile<2x4xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x4xf32>
      %new = max %c1, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x4xf32>
      %df = sub %c1, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<2x4xf32>, !mirage_block.tile<4x4xf32>
      %t1 = reduce_sum %e {dim = 1} : !mirage_block.tile<2x4xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<8x1xf32> -> !mirage_block.tile<2x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// A row a block, all keys at once.
// CHECK: @given_online_one_step: equivalent to @src_given;
mirage_kernel.graph @given_online_one_step(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %any = reduce_max %c {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %c, %floork = %floor) outs(%o) grid [8] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>, tensor<8x1xf32>) -> tensor<8x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<1x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x1xf32>
    %low = bottom : !mirage_block.tile<1x1xf32>
    %top, %sum, %sum1 = loop 1 (%c1 = %low max, %c2 = %zero rescale, %c3 = %none rescale) : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32> {
      %t = load %kk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
      %vt = load %vk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<1x4xf32>, !mirage_block.tile<8x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x8xf32>, !mirage_block.tile<1x1xf32>
      %ct = load %ck {grid = [0], loop = [1]} : tensor<8x8xi1> -> !mirage_block.tile<1x8xi1>
      %z = mask %ct, %x : !mirage_block.tile<1x8xi1>, !mirage_block.tile<1x8xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<1x8xf32>
      %new = max %c1, %r : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x8xf32>, !mirage_block.tile<1x1xf32>
      %e = exp %d : !mirage_block.tile<1x8xf32>
      %df = sub %c1, %new : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %f = exp %df : !mirage_block.tile<1x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x8xf32>, !mirage_block.tile<8x4xf32>
      %t1 = reduce_sum %e {dim = 1} : !mirage_block.tile<1x8xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<8x1xf32> -> !mirage_block.tile<1x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<1x4xf32>, tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// Keys split over two blocks that agree on the maximum.
// CHECK: @given_across: equivalent to @src_given;
mirage_kernel.graph @given_across(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %any = reduce_max %c {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %c, %floork = %floor) outs(%o) grid [2] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>, tensor<8x1xf32>) -> tensor<8x4xf32> {
    %qt = load %qk : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %t = load %kk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
    %vt = load %vk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
    %ct = load %ck {grid = [1]} : tensor<8x8xi1> -> !mirage_block.tile<8x4xi1>
    %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<8x4xf32>, !mirage_block.tile<4x4xf32>
    %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
    %x = mul %raw, %scale : !mirage_block.tile<8x4xf32>, !mirage_block.tile<1x1xf32>
    %z = mask %ct, %x : !mirage_block.tile<8x4xi1>, !mirage_block.tile<8x4xf32>
    %m = reduce_max %z {dim = 1} : !mirage_block.tile<8x4xf32>
    %top = grid_max %m {axes = [0]} : !mirage_block.tile<8x1xf32>
    %d = sub %z, %top : !mirage_block.tile<8x4xf32>, !mirage_block.tile<8x1xf32>
    %e = exp %d : !mirage_block.tile<8x4xf32>
    %u = matmul %e, %vt : !mirage_block.tile<8x4xf32>, !mirage_block.tile<4x4xf32>
    %us = grid_sum %u {axes = [0]} : !mirage_block.tile<8x4xf32>
    %l = reduce_sum %e {dim = 1} : !mirage_block.tile<8x4xf32>
    %ls = grid_sum %l {axes = [0]} : !mirage_block.tile<8x1xf32>
    %ft = load %floork : tensor<8x1xf32> -> !mirage_block.tile<8x1xf32>
    %divisor = add %ls, %ft : !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x1xf32>
    %w = div %us, %divisor : !mirage_block.tile<8x4xf32>, !mirage_block.tile<8x1xf32>
    store %w, %o : !mirage_block.tile<8x4xf32>, tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// Over four.
// CHECK: @given_across_four: equivalent to @src_given;
mirage_kernel.graph @given_across_four(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %any = reduce_max %c {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %c, %floork = %floor) outs(%o) grid [4] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>, tensor<8x1xf32>) -> tensor<8x4xf32> {
    %qt = load %qk : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %t = load %kk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
    %vt = load %vk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
    %ct = load %ck {grid = [1]} : tensor<8x8xi1> -> !mirage_block.tile<8x2xi1>
    %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<8x4xf32>, !mirage_block.tile<2x4xf32>
    %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
    %x = mul %raw, %scale : !mirage_block.tile<8x2xf32>, !mirage_block.tile<1x1xf32>
    %z = mask %ct, %x : !mirage_block.tile<8x2xi1>, !mirage_block.tile<8x2xf32>
    %m = reduce_max %z {dim = 1} : !mirage_block.tile<8x2xf32>
    %top = grid_max %m {axes = [0]} : !mirage_block.tile<8x1xf32>
    %d = sub %z, %top : !mirage_block.tile<8x2xf32>, !mirage_block.tile<8x1xf32>
    %e = exp %d : !mirage_block.tile<8x2xf32>
    %u = matmul %e, %vt : !mirage_block.tile<8x2xf32>, !mirage_block.tile<2x4xf32>
    %us = grid_sum %u {axes = [0]} : !mirage_block.tile<8x4xf32>
    %l = reduce_sum %e {dim = 1} : !mirage_block.tile<8x2xf32>
    %ls = grid_sum %l {axes = [0]} : !mirage_block.tile<8x1xf32>
    %ft = load %floork : tensor<8x1xf32> -> !mirage_block.tile<8x1xf32>
    %divisor = add %ls, %ft : !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x1xf32>
    %w = div %us, %divisor : !mirage_block.tile<8x4xf32>, !mirage_block.tile<8x1xf32>
    store %w, %o : !mirage_block.tile<8x4xf32>, tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// The mask transposed.
// CHECK: @given_transposed: different
mirage_kernel.graph @given_transposed(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %t = transpose %c {perm = [1, 0]} : tensor<8x8xi1>
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %z = mask %t, %x : tensor<8x8xi1>, tensor<8x8xf32>
  %any = reduce_max %t {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %m = reduce_max %z {dim = 1} : tensor<8x8xf32>
  %d = sub %z, %m : tensor<8x8xf32>, tensor<8x1xf32>
  %e = exp %d : tensor<8x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<8x8xf32>
  %divisor = add %sum, %floor : tensor<8x1xf32>, tensor<8x1xf32>
  %w = div %e, %divisor : tensor<8x8xf32>, tensor<8x1xf32>
  %y = matmul %w, %v : tensor<8x8xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// Or only where a row is asked whether it is empty.
// CHECK: @given_transposed_floor: {{different|unsupported}}
mirage_kernel.graph @given_transposed_floor(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %z = mask %c, %x : tensor<8x8xi1>, tensor<8x8xf32>
  %t = transpose %c {perm = [1, 0]} : tensor<8x8xi1>
  %any = reduce_max %t {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %m = reduce_max %z {dim = 1} : tensor<8x8xf32>
  %d = sub %z, %m : tensor<8x8xf32>, tensor<8x1xf32>
  %e = exp %d : tensor<8x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<8x8xf32>
  %divisor = add %sum, %floor : tensor<8x1xf32>, tensor<8x1xf32>
  %w = div %e, %divisor : tensor<8x8xf32>, tensor<8x1xf32>
  %y = matmul %w, %v : tensor<8x8xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// The other keys.
// CHECK: @given_negated: different
mirage_kernel.graph @given_negated(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %o = not %c : tensor<8x8xi1>
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %z = mask %o, %x : tensor<8x8xi1>, tensor<8x8xf32>
  %any = reduce_max %o {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %m = reduce_max %z {dim = 1} : tensor<8x8xf32>
  %d = sub %z, %m : tensor<8x8xf32>, tensor<8x1xf32>
  %e = exp %d : tensor<8x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<8x8xf32>
  %divisor = add %sum, %floor : tensor<8x1xf32>, tensor<8x1xf32>
  %w = div %e, %divisor : tensor<8x8xf32>, tensor<8x1xf32>
  %y = matmul %w, %v : tensor<8x8xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// What the next query sees.
// CHECK: @given_next_row: different
mirage_kernel.graph @given_next_row(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %s = slice %c {dim = 0, begin = 1, end = 8} : tensor<8x8xi1>
  %s1 = slice %c {dim = 0, begin = 0, end = 1} : tensor<8x8xi1>
  %k1 = concat %s, %s1 {dim = 0} : tensor<7x8xi1>, tensor<1x8xi1>
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %z = mask %k1, %x : tensor<8x8xi1>, tensor<8x8xf32>
  %any = reduce_max %k1 {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %m = reduce_max %z {dim = 1} : tensor<8x8xf32>
  %d = sub %z, %m : tensor<8x8xf32>, tensor<8x1xf32>
  %e = exp %d : tensor<8x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<8x8xf32>
  %divisor = add %sum, %floor : tensor<8x1xf32>, tensor<8x1xf32>
  %w = div %e, %divisor : tensor<8x8xf32>, tensor<8x1xf32>
  %y = matmul %w, %v : tensor<8x8xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// The mask of the next key.
// CHECK: @given_next_key: different
mirage_kernel.graph @given_next_key(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %s = slice %c {dim = 1, begin = 1, end = 8} : tensor<8x8xi1>
  %s1 = slice %c {dim = 1, begin = 0, end = 1} : tensor<8x8xi1>
  %k1 = concat %s, %s1 {dim = 1} : tensor<8x7xi1>, tensor<8x1xi1>
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %z = mask %k1, %x : tensor<8x8xi1>, tensor<8x8xf32>
  %any = reduce_max %k1 {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %m = reduce_max %z {dim = 1} : tensor<8x8xf32>
  %d = sub %z, %m : tensor<8x8xf32>, tensor<8x1xf32>
  %e = exp %d : tensor<8x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<8x8xf32>
  %divisor = add %sum, %floor : tensor<8x1xf32>, tensor<8x1xf32>
  %w = div %e, %divisor : tensor<8x8xf32>, tensor<8x1xf32>
  %y = matmul %w, %v : tensor<8x8xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// What the first query sees, for all.
// CHECK: @given_one_row: different
mirage_kernel.graph @given_one_row(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %s = slice %c {dim = 0, begin = 0, end = 1} : tensor<8x8xi1>
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %z = mask %s, %x : tensor<1x8xi1>, tensor<8x8xf32>
  %any = reduce_max %c {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %m = reduce_max %z {dim = 1} : tensor<8x8xf32>
  %d = sub %z, %m : tensor<8x8xf32>, tensor<8x1xf32>
  %e = exp %d : tensor<8x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<8x8xf32>
  %divisor = add %sum, %floor : tensor<8x1xf32>, tensor<8x1xf32>
  %w = div %e, %divisor : tensor<8x8xf32>, tensor<8x1xf32>
  %y = matmul %w, %v : tensor<8x8xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// Keys that some query sees.
// CHECK: @given_any_query: different
mirage_kernel.graph @given_any_query(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %any = reduce_max %c {dim = 0} : tensor<8x8xi1>
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %z = mask %any, %x : tensor<1x8xi1>, tensor<8x8xf32>
  %any1 = reduce_max %c {dim = 1} : tensor<8x8xi1>
  %empty = not %any1 : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %m = reduce_max %z {dim = 1} : tensor<8x8xf32>
  %d = sub %z, %m : tensor<8x8xf32>, tensor<8x1xf32>
  %e = exp %d : tensor<8x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<8x8xf32>
  %divisor = add %sum, %floor : tensor<8x1xf32>, tensor<8x1xf32>
  %w = div %e, %divisor : tensor<8x8xf32>, tensor<8x1xf32>
  %y = matmul %w, %v : tensor<8x8xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// None.
// CHECK: @given_left_out: different
mirage_kernel.graph @given_left_out(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5} : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -1e4 for bottom: a row that sees nothing gives the mean of all.
// CHECK: @given_mean_of_none: different
mirage_kernel.graph @given_mean_of_none(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %low = constant -10000.0 : tensor<f32>
  %z = select %c, %x, %low : tensor<8x8xi1>, tensor<8x8xf32>, tensor<f32>
  %m = reduce_max %z {dim = 1} : tensor<8x8xf32>
  %d = sub %z, %m : tensor<8x8xf32>, tensor<8x1xf32>
  %e = exp %d : tensor<8x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<8x8xf32>
  %w = div %e, %sum : tensor<8x8xf32>, tensor<8x1xf32>
  %y = matmul %w, %v : tensor<8x8xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// And with the sum of such a row made larger.
// CHECK: @given_mean_and_floor: different
mirage_kernel.graph @given_mean_and_floor(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %low = constant -10000.0 : tensor<f32>
  %z = select %c, %x, %low : tensor<8x8xi1>, tensor<8x8xf32>, tensor<f32>
  %any = reduce_max %c {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %m = reduce_max %z {dim = 1} : tensor<8x8xf32>
  %d = sub %z, %m : tensor<8x8xf32>, tensor<8x1xf32>
  %e = exp %d : tensor<8x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<8x8xf32>
  %divisor = add %sum, %floor : tensor<8x1xf32>, tensor<8x1xf32>
  %w = div %e, %divisor : tensor<8x8xf32>, tensor<8x1xf32>
  %y = matmul %w, %v : tensor<8x8xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// Rows that see nothing divided by nothing.
// CHECK: @given_no_floor: unsupported: no useful error bound
mirage_kernel.graph @given_no_floor(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %z = mask %c, %x : tensor<8x8xi1>, tensor<8x8xf32>
  %m = reduce_max %z {dim = 1} : tensor<8x8xf32>
  %d = sub %z, %m : tensor<8x8xf32>, tensor<8x1xf32>
  %e = exp %d : tensor<8x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<8x8xf32>
  %w = div %e, %sum : tensor<8x8xf32>, tensor<8x1xf32>
  %y = matmul %w, %v : tensor<8x8xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// 1 is added where a row sees something.
// CHECK: @given_floor_of_some: different
mirage_kernel.graph @given_floor_of_some(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %z = mask %c, %x : tensor<8x8xi1>, tensor<8x8xf32>
  %any = reduce_max %c {dim = 1} : tensor<8x8xi1>
  %floor = cast %any : tensor<8x1xi1> -> tensor<8x1xf32>
  %m = reduce_max %z {dim = 1} : tensor<8x8xf32>
  %d = sub %z, %m : tensor<8x8xf32>, tensor<8x1xf32>
  %e = exp %d : tensor<8x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<8x8xf32>
  %divisor = add %sum, %floor : tensor<8x1xf32>, tensor<8x1xf32>
  %w = div %e, %divisor : tensor<8x8xf32>, tensor<8x1xf32>
  %y = matmul %w, %v : tensor<8x8xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// Everywhere.
// CHECK: @given_floor_of_all: different
mirage_kernel.graph @given_floor_of_all(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %z = mask %c, %x : tensor<8x8xi1>, tensor<8x8xf32>
  %floor = constant 1.0 : tensor<f32>
  %m = reduce_max %z {dim = 1} : tensor<8x8xf32>
  %d = sub %z, %m : tensor<8x8xf32>, tensor<8x1xf32>
  %e = exp %d : tensor<8x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<8x8xf32>
  %divisor = add %sum, %floor : tensor<8x1xf32>, tensor<f32>
  %w = div %e, %divisor : tensor<8x8xf32>, tensor<8x1xf32>
  %y = matmul %w, %v : tensor<8x8xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// On the weights: their sum is that of all keys.
// CHECK: @given_on_weights: different
mirage_kernel.graph @given_on_weights(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %w = softmax %x {dim = 1} : tensor<8x8xf32>
  %f = cast %c : tensor<8x8xi1> -> tensor<8x8xf32>
  %b = mul %w, %f : tensor<8x8xf32>, tensor<8x8xf32>
  %y = matmul %b, %v : tensor<8x8xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// On the sum alone.
// CHECK: @given_on_sum_only: different
mirage_kernel.graph @given_on_sum_only(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %e = exp %x : tensor<8x8xf32>
  %p = matmul %e, %v : tensor<8x8xf32>, tensor<8x4xf32>
  %z = mask %c, %x : tensor<8x8xi1>, tensor<8x8xf32>
  %e1 = exp %z : tensor<8x8xf32>
  %sum = reduce_sum %e1 {dim = 1} : tensor<8x8xf32>
  %any = reduce_max %c {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %divisor = add %sum, %floor : tensor<8x1xf32>, tensor<8x1xf32>
  %y = div %p, %divisor : tensor<8x4xf32>, tensor<8x1xf32>
  return %y : tensor<8x4xf32>
}

// Every tile by the mask of the first.
// CHECK: @online_first_tile: different
mirage_kernel.graph @online_first_tile(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %s = slice %c {dim = 1, begin = 0, end = 2} : tensor<8x8xi1>
  %any = reduce_max %c {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %sk = %s, %floork = %floor) outs(%o) grid [1] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x2xi1>, tensor<8x1xf32>) -> tensor<8x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<8x4xf32>
    %none = constant 0.0 : !mirage_block.tile<8x1xf32>
    %low = bottom : !mirage_block.tile<8x1xf32>
    %top, %sum, %sum1 = loop 4 (%c1 = %low max, %c2 = %zero rescale, %c3 = %none rescale) : !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x4xf32>, !mirage_block.tile<8x1xf32> {
      %t = load %kk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<8x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<8x2xf32>, !mirage_block.tile<1x1xf32>
      %ct = load %sk {grid = [0]} : tensor<8x2xi1> -> !mirage_block.tile<8x2xi1>
      %z = mask %ct, %x : !mirage_block.tile<8x2xi1>, !mirage_block.tile<8x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<8x2xf32>
      %new = max %c1, %r : !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x1xf32>
      %d = sub %z, %new : !mirage_block.tile<8x2xf32>, !mirage_block.tile<8x1xf32>
      %e = exp %d : !mirage_block.tile<8x2xf32>
      %df = sub %c1, %new : !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x1xf32>
      %f = exp %df : !mirage_block.tile<8x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<8x2xf32>, !mirage_block.tile<2x4xf32>
      %t1 = reduce_sum %e {dim = 1} : !mirage_block.tile<8x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x4xf32>, !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<8x1xf32> -> !mirage_block.tile<8x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<8x4xf32>, !mirage_block.tile<8x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<8x4xf32>, tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// Every block by the mask of the first.
// CHECK: @online_first_rows: different
mirage_kernel.graph @online_first_rows(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %s = slice %c {dim = 0, begin = 0, end = 2} : tensor<8x8xi1>
  %any = reduce_max %c {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %sk = %s, %floork = %floor) outs(%o) grid [4] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<2x8xi1>, tensor<8x1xf32>) -> tensor<8x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 2 (%c1 = %low max, %c2 = %zero rescale, %c3 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %t = load %kk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
      %vt = load %vk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<4x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<2x4xf32>, !mirage_block.tile<1x1xf32>
      %ct = load %sk {loop = [1]} : tensor<2x8xi1> -> !mirage_block.tile<2x4xi1>
      %z = mask %ct, %x : !mirage_block.tile<2x4xi1>, !mirage_block.tile<2x4xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x4xf32>
      %new = max %c1, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x4xf32>
      %df = sub %c1, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<2x4xf32>, !mirage_block.tile<4x4xf32>
      %t1 = reduce_sum %e {dim = 1} : !mirage_block.tile<2x4xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<8x1xf32> -> !mirage_block.tile<2x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// Blocks go along the keys of the mask, the loop along its rows.
// CHECK: @online_turned: different
mirage_kernel.graph @online_turned(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %any = reduce_max %c {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %c, %floork = %floor) outs(%o) grid [4] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>, tensor<8x1xf32>) -> tensor<8x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 4 (%c1 = %low max, %c2 = %zero rescale, %c3 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %t = load %kk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %ct = load %ck {grid = [1], loop = [0]} : tensor<8x8xi1> -> !mirage_block.tile<2x2xi1>
      %z = mask %ct, %x : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %new = max %c1, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %df = sub %c1, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t1 = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<8x1xf32> -> !mirage_block.tile<2x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// Rows without keys divided by nothing.
// CHECK: @online_no_floor: unsupported: no useful error bound
mirage_kernel.graph @online_no_floor(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %c) outs(%o) grid [1] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>) -> tensor<8x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<8x4xf32>
    %none = constant 0.0 : !mirage_block.tile<8x1xf32>
    %low = bottom : !mirage_block.tile<8x1xf32>
    %top, %sum, %sum1 = loop 4 (%c1 = %low max, %c2 = %zero rescale, %c3 = %none rescale) : !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x4xf32>, !mirage_block.tile<8x1xf32> {
      %t = load %kk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<8x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<8x2xf32>, !mirage_block.tile<1x1xf32>
      %ct = load %ck {grid = [0], loop = [1]} : tensor<8x8xi1> -> !mirage_block.tile<8x2xi1>
      %z = mask %ct, %x : !mirage_block.tile<8x2xi1>, !mirage_block.tile<8x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<8x2xf32>
      %new = max %c1, %r : !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x1xf32>
      %d = sub %z, %new : !mirage_block.tile<8x2xf32>, !mirage_block.tile<8x1xf32>
      %e = exp %d : !mirage_block.tile<8x2xf32>
      %df = sub %c1, %new : !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x1xf32>
      %f = exp %df : !mirage_block.tile<8x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<8x2xf32>, !mirage_block.tile<2x4xf32>
      %t1 = reduce_sum %e {dim = 1} : !mirage_block.tile<8x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x4xf32>, !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x1xf32>
    }
    %w = div %sum, %sum1 : !mirage_block.tile<8x4xf32>, !mirage_block.tile<8x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<8x4xf32>, tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// Sums that keep to the maximum they were begun with.
// CHECK: @online_not_rescaled: different
mirage_kernel.graph @online_not_rescaled(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %any = reduce_max %c {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %c, %floork = %floor) outs(%o) grid [1] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>, tensor<8x1xf32>) -> tensor<8x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<8x4xf32>
    %none = constant 0.0 : !mirage_block.tile<8x1xf32>
    %one = constant 1.0 : !mirage_block.tile<8x1xf32>
    %low = bottom : !mirage_block.tile<8x1xf32>
    %top, %sum, %sum1 = loop 4 (%c1 = %low max, %c2 = %zero rescale, %c3 = %none rescale) : !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x4xf32>, !mirage_block.tile<8x1xf32> {
      %t = load %kk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<8x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<8x2xf32>, !mirage_block.tile<1x1xf32>
      %ct = load %ck {grid = [0], loop = [1]} : tensor<8x8xi1> -> !mirage_block.tile<8x2xi1>
      %z = mask %ct, %x : !mirage_block.tile<8x2xi1>, !mirage_block.tile<8x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<8x2xf32>
      %new = max %c1, %r : !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x1xf32>
      %d = sub %z, %new : !mirage_block.tile<8x2xf32>, !mirage_block.tile<8x1xf32>
      %e = exp %d : !mirage_block.tile<8x2xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<8x2xf32>, !mirage_block.tile<2x4xf32>
      %t1 = reduce_sum %e {dim = 1} : !mirage_block.tile<8x2xf32>
      yield %r, %pv, %t1 rescale %one, %one : !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x4xf32>, !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<8x1xf32> -> !mirage_block.tile<8x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<8x4xf32>, !mirage_block.tile<8x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<8x4xf32>, tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// Each block by its own maximum.
// CHECK: @across_own_maximum: different
mirage_kernel.graph @across_own_maximum(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %any = reduce_max %c {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %c, %floork = %floor) outs(%o) grid [2] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>, tensor<8x1xf32>) -> tensor<8x4xf32> {
    %qt = load %qk : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %t = load %kk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
    %vt = load %vk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
    %ct = load %ck {grid = [1]} : tensor<8x8xi1> -> !mirage_block.tile<8x4xi1>
    %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<8x4xf32>, !mirage_block.tile<4x4xf32>
    %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
    %x = mul %raw, %scale : !mirage_block.tile<8x4xf32>, !mirage_block.tile<1x1xf32>
    %z = mask %ct, %x : !mirage_block.tile<8x4xi1>, !mirage_block.tile<8x4xf32>
    %m = reduce_max %z {dim = 1} : !mirage_block.tile<8x4xf32>
    %d = sub %z, %m : !mirage_block.tile<8x4xf32>, !mirage_block.tile<8x1xf32>
    %e = exp %d : !mirage_block.tile<8x4xf32>
    %u = matmul %e, %vt : !mirage_block.tile<8x4xf32>, !mirage_block.tile<4x4xf32>
    %us = grid_sum %u {axes = [0]} : !mirage_block.tile<8x4xf32>
    %l = reduce_sum %e {dim = 1} : !mirage_block.tile<8x4xf32>
    %ls = grid_sum %l {axes = [0]} : !mirage_block.tile<8x1xf32>
    %ft = load %floork : tensor<8x1xf32> -> !mirage_block.tile<8x1xf32>
    %divisor = add %ls, %ft : !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x1xf32>
    %w = div %us, %divisor : !mirage_block.tile<8x4xf32>, !mirage_block.tile<8x1xf32>
    store %w, %o : !mirage_block.tile<8x4xf32>, tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// Both blocks by the mask of the first.
// CHECK: @across_first_mask: different
mirage_kernel.graph @across_first_mask(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %s = slice %c {dim = 1, begin = 0, end = 4} : tensor<8x8xi1>
  %any = reduce_max %c {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %sk = %s, %floork = %floor) outs(%o) grid [2] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xi1>, tensor<8x1xf32>) -> tensor<8x4xf32> {
    %qt = load %qk : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %t = load %kk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
    %vt = load %vk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
    %ct = load %sk : tensor<8x4xi1> -> !mirage_block.tile<8x4xi1>
    %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<8x4xf32>, !mirage_block.tile<4x4xf32>
    %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
    %x = mul %raw, %scale : !mirage_block.tile<8x4xf32>, !mirage_block.tile<1x1xf32>
    %z = mask %ct, %x : !mirage_block.tile<8x4xi1>, !mirage_block.tile<8x4xf32>
    %m = reduce_max %z {dim = 1} : !mirage_block.tile<8x4xf32>
    %top = grid_max %m {axes = [0]} : !mirage_block.tile<8x1xf32>
    %d = sub %z, %top : !mirage_block.tile<8x4xf32>, !mirage_block.tile<8x1xf32>
    %e = exp %d : !mirage_block.tile<8x4xf32>
    %u = matmul %e, %vt : !mirage_block.tile<8x4xf32>, !mirage_block.tile<4x4xf32>
    %us = grid_sum %u {axes = [0]} : !mirage_block.tile<8x4xf32>
    %l = reduce_sum %e {dim = 1} : !mirage_block.tile<8x4xf32>
    %ls = grid_sum %l {axes = [0]} : !mirage_block.tile<8x1xf32>
    %ft = load %floork : tensor<8x1xf32> -> !mirage_block.tile<8x1xf32>
    %divisor = add %ls, %ft : !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x1xf32>
    %w = div %us, %divisor : !mirage_block.tile<8x4xf32>, !mirage_block.tile<8x1xf32>
    store %w, %o : !mirage_block.tile<8x4xf32>, tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// The mask of the other block.
// CHECK: @across_exchanged: different
mirage_kernel.graph @across_exchanged(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %s = slice %c {dim = 1, begin = 4, end = 8} : tensor<8x8xi1>
  %s1 = slice %c {dim = 1, begin = 0, end = 4} : tensor<8x8xi1>
  %k1 = concat %s, %s1 {dim = 1} : tensor<8x4xi1>, tensor<8x4xi1>
  %any = reduce_max %c {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %k1k = %k1, %floork = %floor) outs(%o) grid [2] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>, tensor<8x1xf32>) -> tensor<8x4xf32> {
    %qt = load %qk : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %t = load %kk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
    %vt = load %vk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
    %ct = load %k1k {grid = [1]} : tensor<8x8xi1> -> !mirage_block.tile<8x4xi1>
    %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<8x4xf32>, !mirage_block.tile<4x4xf32>
    %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
    %x = mul %raw, %scale : !mirage_block.tile<8x4xf32>, !mirage_block.tile<1x1xf32>
    %z = mask %ct, %x : !mirage_block.tile<8x4xi1>, !mirage_block.tile<8x4xf32>
    %m = reduce_max %z {dim = 1} : !mirage_block.tile<8x4xf32>
    %top = grid_max %m {axes = [0]} : !mirage_block.tile<8x1xf32>
    %d = sub %z, %top : !mirage_block.tile<8x4xf32>, !mirage_block.tile<8x1xf32>
    %e = exp %d : !mirage_block.tile<8x4xf32>
    %u = matmul %e, %vt : !mirage_block.tile<8x4xf32>, !mirage_block.tile<4x4xf32>
    %us = grid_sum %u {axes = [0]} : !mirage_block.tile<8x4xf32>
    %l = reduce_sum %e {dim = 1} : !mirage_block.tile<8x4xf32>
    %ls = grid_sum %l {axes = [0]} : !mirage_block.tile<8x1xf32>
    %ft = load %floork : tensor<8x1xf32> -> !mirage_block.tile<8x1xf32>
    %divisor = add %ls, %ft : !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x1xf32>
    %w = div %us, %divisor : !mirage_block.tile<8x4xf32>, !mirage_block.tile<8x1xf32>
    store %w, %o : !mirage_block.tile<8x4xf32>, tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// The largest of the sums for their sum.
// CHECK: @across_part_of_sum: different
mirage_kernel.graph @across_part_of_sum(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %any = reduce_max %c {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %c, %floork = %floor) outs(%o) grid [2] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>, tensor<8x1xf32>) -> tensor<8x4xf32> {
    %qt = load %qk : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %t = load %kk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
    %vt = load %vk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
    %ct = load %ck {grid = [1]} : tensor<8x8xi1> -> !mirage_block.tile<8x4xi1>
    %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<8x4xf32>, !mirage_block.tile<4x4xf32>
    %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
    %x = mul %raw, %scale : !mirage_block.tile<8x4xf32>, !mirage_block.tile<1x1xf32>
    %z = mask %ct, %x : !mirage_block.tile<8x4xi1>, !mirage_block.tile<8x4xf32>
    %m = reduce_max %z {dim = 1} : !mirage_block.tile<8x4xf32>
    %top = grid_max %m {axes = [0]} : !mirage_block.tile<8x1xf32>
    %d = sub %z, %top : !mirage_block.tile<8x4xf32>, !mirage_block.tile<8x1xf32>
    %e = exp %d : !mirage_block.tile<8x4xf32>
    %u = matmul %e, %vt : !mirage_block.tile<8x4xf32>, !mirage_block.tile<4x4xf32>
    %us = grid_max %u {axes = [0]} : !mirage_block.tile<8x4xf32>
    %l = reduce_sum %e {dim = 1} : !mirage_block.tile<8x4xf32>
    %ls = grid_max %l {axes = [0]} : !mirage_block.tile<8x1xf32>
    %ft = load %floork : tensor<8x1xf32> -> !mirage_block.tile<8x1xf32>
    %divisor = add %ls, %ft : !mirage_block.tile<8x1xf32>, !mirage_block.tile<8x1xf32>
    %w = div %us, %divisor : !mirage_block.tile<8x4xf32>, !mirage_block.tile<8x1xf32>
    store %w, %o : !mirage_block.tile<8x4xf32>, tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// A given mask, and causal.
mirage_kernel.graph @src_both(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> {
  %y = scaled_dot_product_attention %q, %k, %v, %c {scale = 0.5, causal} : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>
  return %y : tensor<8x4xf32>
}

// Both hold.
// CHECK: @both_plain: equivalent to @src_both;
mirage_kernel.graph @both_plain(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_both} {
  %j = iota {dim = 1} : tensor<1x8xi32>
  %i = iota {dim = 0} : tensor<8x1xi32>
  %below = less_equal %j, %i : tensor<1x8xi32>, tensor<8x1xi32>
  %b = and %c, %below : tensor<8x8xi1>, tensor<8x8xi1>
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %z = mask %b, %x : tensor<8x8xi1>, tensor<8x8xf32>
  %any = reduce_max %b {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %m = reduce_max %z {dim = 1} : tensor<8x8xf32>
  %d = sub %z, %m : tensor<8x8xf32>, tensor<8x1xf32>
  %e = exp %d : tensor<8x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<8x8xf32>
  %divisor = add %sum, %floor : tensor<8x1xf32>, tensor<8x1xf32>
  %w = div %e, %divisor : tensor<8x8xf32>, tensor<8x1xf32>
  %y = matmul %w, %v : tensor<8x8xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// In the other order.
// CHECK: @both_turned: equivalent to @src_both;
mirage_kernel.graph @both_turned(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_both} {
  %j = iota {dim = 1} : tensor<1x8xi32>
  %i = iota {dim = 0} : tensor<8x1xi32>
  %below = less_equal %j, %i : tensor<1x8xi32>, tensor<8x1xi32>
  %b = and %below, %c : tensor<8x8xi1>, tensor<8x8xi1>
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %z = mask %b, %x : tensor<8x8xi1>, tensor<8x8xf32>
  %any = reduce_max %b {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %m = reduce_max %z {dim = 1} : tensor<8x8xf32>
  %d = sub %z, %m : tensor<8x8xf32>, tensor<8x1xf32>
  %e = exp %d : tensor<8x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<8x8xf32>
  %divisor = add %sum, %floor : tensor<8x1xf32>, tensor<8x1xf32>
  %w = div %e, %divisor : tensor<8x8xf32>, tensor<8x1xf32>
  %y = matmul %w, %v : tensor<8x8xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// In tiles: the one is loaded, the other made of indices.
// CHECK: @both_online: equivalent to @src_both;
mirage_kernel.graph @both_online(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_both} {
  %j = iota {dim = 1} : tensor<1x8xi32>
  %i = iota {dim = 0} : tensor<8x1xi32>
  %below = less_equal %j, %i : tensor<1x8xi32>, tensor<8x1xi32>
  %b = and %c, %below : tensor<8x8xi1>, tensor<8x8xi1>
  %any = reduce_max %b {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %c, %floork = %floor) outs(%o) grid [4] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>, tensor<8x1xf32>) -> tensor<8x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 4 (%c1 = %low max, %c2 = %zero rescale, %c3 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %t = load %kk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %ct = load %ck {grid = [0], loop = [1]} : tensor<8x8xi1> -> !mirage_block.tile<2x2xi1>
      %j1 = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i1 = iota {dim = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below1 = less_equal %j1, %i1 : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %both = and %ct, %below1 : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xi1>
      %z = mask %both, %x : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %new = max %c1, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %df = sub %c1, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t1 = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<8x1xf32> -> !mirage_block.tile<2x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// Both in one mask that a kernel before has made.
// CHECK: @both_made_before: equivalent to @src_both;
mirage_kernel.graph @both_made_before(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_both} {
  %j = iota {dim = 1} : tensor<1x8xi32>
  %i = iota {dim = 0} : tensor<8x1xi32>
  %below = less_equal %j, %i : tensor<1x8xi32>, tensor<8x1xi32>
  %b = and %c, %below : tensor<8x8xi1>, tensor<8x8xi1>
  %any = reduce_max %b {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %bk = %b, %floork = %floor) outs(%o) grid [2] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>, tensor<8x1xf32>) -> tensor<8x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<4x4xf32>
    %none = constant 0.0 : !mirage_block.tile<4x1xf32>
    %low = bottom : !mirage_block.tile<4x1xf32>
    %top, %sum, %sum1 = loop 2 (%c1 = %low max, %c2 = %zero rescale, %c3 = %none rescale) : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32> {
      %t = load %kk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
      %vt = load %vk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<4x4xf32>, !mirage_block.tile<1x1xf32>
      %ct = load %bk {grid = [0], loop = [1]} : tensor<8x8xi1> -> !mirage_block.tile<4x4xi1>
      %z = mask %ct, %x : !mirage_block.tile<4x4xi1>, !mirage_block.tile<4x4xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<4x4xf32>
      %new = max %c1, %r : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
      %d = sub %z, %new : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>
      %e = exp %d : !mirage_block.tile<4x4xf32>
      %df = sub %c1, %new : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
      %f = exp %df : !mirage_block.tile<4x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x4xf32>
      %t1 = reduce_sum %e {dim = 1} : !mirage_block.tile<4x4xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<8x1xf32> -> !mirage_block.tile<4x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<4x4xf32>, tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// One of them is enough.
// CHECK: @both_or: different
mirage_kernel.graph @both_or(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_both} {
  %j = iota {dim = 1} : tensor<1x8xi32>
  %i = iota {dim = 0} : tensor<8x1xi32>
  %below = less_equal %j, %i : tensor<1x8xi32>, tensor<8x1xi32>
  %b = or %c, %below : tensor<8x8xi1>, tensor<8x8xi1>
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %z = mask %b, %x : tensor<8x8xi1>, tensor<8x8xf32>
  %any = reduce_max %b {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %m = reduce_max %z {dim = 1} : tensor<8x8xf32>
  %d = sub %z, %m : tensor<8x8xf32>, tensor<8x1xf32>
  %e = exp %d : tensor<8x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<8x8xf32>
  %divisor = add %sum, %floor : tensor<8x1xf32>, tensor<8x1xf32>
  %w = div %e, %divisor : tensor<8x8xf32>, tensor<8x1xf32>
  %y = matmul %w, %v : tensor<8x8xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// The given one alone.
// CHECK: @both_given: different
mirage_kernel.graph @both_given(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_both} {
  %b = and %c, %c : tensor<8x8xi1>, tensor<8x8xi1>
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %z = mask %b, %x : tensor<8x8xi1>, tensor<8x8xf32>
  %any = reduce_max %b {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %m = reduce_max %z {dim = 1} : tensor<8x8xf32>
  %d = sub %z, %m : tensor<8x8xf32>, tensor<8x1xf32>
  %e = exp %d : tensor<8x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<8x8xf32>
  %divisor = add %sum, %floor : tensor<8x1xf32>, tensor<8x1xf32>
  %w = div %e, %divisor : tensor<8x8xf32>, tensor<8x1xf32>
  %y = matmul %w, %v : tensor<8x8xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// The other alone.
// CHECK: @both_causal: different
mirage_kernel.graph @both_causal(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_both} {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.5, causal} : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// < for <=.
// CHECK: @both_strict: different
mirage_kernel.graph @both_strict(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_both} {
  %j = iota {dim = 1} : tensor<1x8xi32>
  %i = iota {dim = 0} : tensor<8x1xi32>
  %below = less %j, %i : tensor<1x8xi32>, tensor<8x1xi32>
  %b = and %c, %below : tensor<8x8xi1>, tensor<8x8xi1>
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %z = mask %b, %x : tensor<8x8xi1>, tensor<8x8xf32>
  %any = reduce_max %b {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %m = reduce_max %z {dim = 1} : tensor<8x8xf32>
  %d = sub %z, %m : tensor<8x8xf32>, tensor<8x1xf32>
  %e = exp %d : tensor<8x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<8x8xf32>
  %divisor = add %sum, %floor : tensor<8x1xf32>, tensor<8x1xf32>
  %w = div %e, %divisor : tensor<8x8xf32>, tensor<8x1xf32>
  %y = matmul %w, %v : tensor<8x8xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// A key too many.
// CHECK: @both_by_one: different
mirage_kernel.graph @both_by_one(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_both} {
  %j = iota {dim = 1} : tensor<1x8xi32>
  %i = iota {dim = 0, start = 1} : tensor<8x1xi32>
  %below = less_equal %j, %i : tensor<1x8xi32>, tensor<8x1xi32>
  %b = and %c, %below : tensor<8x8xi1>, tensor<8x8xi1>
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %z = mask %b, %x : tensor<8x8xi1>, tensor<8x8xf32>
  %any = reduce_max %b {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %m = reduce_max %z {dim = 1} : tensor<8x8xf32>
  %d = sub %z, %m : tensor<8x8xf32>, tensor<8x1xf32>
  %e = exp %d : tensor<8x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<8x8xf32>
  %divisor = add %sum, %floor : tensor<8x1xf32>, tensor<8x1xf32>
  %w = div %e, %divisor : tensor<8x8xf32>, tensor<8x1xf32>
  %y = matmul %w, %v : tensor<8x8xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// In tiles, with < for <=.
// CHECK: @both_online_strict: different
mirage_kernel.graph @both_online_strict(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_both} {
  %j = iota {dim = 1} : tensor<1x8xi32>
  %i = iota {dim = 0} : tensor<8x1xi32>
  %below = less_equal %j, %i : tensor<1x8xi32>, tensor<8x1xi32>
  %b = and %c, %below : tensor<8x8xi1>, tensor<8x8xi1>
  %any = reduce_max %b {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %c, %floork = %floor) outs(%o) grid [4] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>, tensor<8x1xf32>) -> tensor<8x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 4 (%c1 = %low max, %c2 = %zero rescale, %c3 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %t = load %kk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %ct = load %ck {grid = [0], loop = [1]} : tensor<8x8xi1> -> !mirage_block.tile<2x2xi1>
      %j1 = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i1 = iota {dim = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below1 = less %j1, %i1 : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %both = and %ct, %below1 : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xi1>
      %z = mask %both, %x : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %new = max %c1, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %df = sub %c1, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t1 = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<8x1xf32> -> !mirage_block.tile<2x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// In tiles, one of them is enough.
// CHECK: @both_online_or: different
mirage_kernel.graph @both_online_or(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_both} {
  %j = iota {dim = 1} : tensor<1x8xi32>
  %i = iota {dim = 0} : tensor<8x1xi32>
  %below = less_equal %j, %i : tensor<1x8xi32>, tensor<8x1xi32>
  %b = and %c, %below : tensor<8x8xi1>, tensor<8x8xi1>
  %any = reduce_max %b {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %c, %floork = %floor) outs(%o) grid [4] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>, tensor<8x1xf32>) -> tensor<8x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 4 (%c1 = %low max, %c2 = %zero rescale, %c3 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %t = load %kk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %ct = load %ck {grid = [0], loop = [1]} : tensor<8x8xi1> -> !mirage_block.tile<2x2xi1>
      %j1 = iota {dim = 1, loop = [2]} : !mirage_block.tile<1x2xi32>
      %i1 = iota {dim = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below1 = less_equal %j1, %i1 : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %both = or %ct, %below1 : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xi1>
      %z = mask %both, %x : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %new = max %c1, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %df = sub %c1, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t1 = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<8x1xf32> -> !mirage_block.tile<2x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// In tiles whose keys are counted by half.
// CHECK: @both_online_step: different
mirage_kernel.graph @both_online_step(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_both} {
  %j = iota {dim = 1} : tensor<1x8xi32>
  %i = iota {dim = 0} : tensor<8x1xi32>
  %below = less_equal %j, %i : tensor<1x8xi32>, tensor<8x1xi32>
  %b = and %c, %below : tensor<8x8xi1>, tensor<8x8xi1>
  %any = reduce_max %b {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %c, %floork = %floor) outs(%o) grid [4] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>, tensor<8x1xf32>) -> tensor<8x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x4xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %low = bottom : !mirage_block.tile<2x1xf32>
    %top, %sum, %sum1 = loop 4 (%c1 = %low max, %c2 = %zero rescale, %c3 = %none rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32> {
      %t = load %kk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %vt = load %vk {loop = [0]} : tensor<8x4xf32> -> !mirage_block.tile<2x4xf32>
      %raw = matmul %qt, %t {transpose_b} : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
      %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf32>
      %ct = load %ck {grid = [0], loop = [1]} : tensor<8x8xi1> -> !mirage_block.tile<2x2xi1>
      %j1 = iota {dim = 1, loop = [1]} : !mirage_block.tile<1x2xi32>
      %i1 = iota {dim = 0, grid = [2]} : !mirage_block.tile<2x1xi32>
      %below1 = less_equal %j1, %i1 : !mirage_block.tile<1x2xi32>, !mirage_block.tile<2x1xi32>
      %both = and %ct, %below1 : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xi1>
      %z = mask %both, %x : !mirage_block.tile<2x2xi1>, !mirage_block.tile<2x2xf32>
      %r = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %new = max %c1, %r : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %new : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %df = sub %c1, %new : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %df : !mirage_block.tile<2x1xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x4xf32>
      %t1 = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %r, %pv, %t1 rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %ft = load %floork {grid = [0]} : tensor<8x1xf32> -> !mirage_block.tile<2x1xf32>
    %divisor = add %sum1, %ft : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    %w = div %sum, %divisor : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %w, %o {grid = [0]} : !mirage_block.tile<2x4xf32>, tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// Of two keys a row often sees none.
mirage_kernel.graph @src_two_keys(%q: tensor<4x4xf32>, %k: tensor<2x4xf32>, %v: tensor<2x4xf32>, %c: tensor<4x2xi1>) -> tensor<4x4xf32> {
  %y = scaled_dot_product_attention %q, %k, %v, %c {scale = 0.5} : tensor<4x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<4x2xi1>
  return %y : tensor<4x4xf32>
}

// 0.
// CHECK: @two_keys_plain: equivalent to @src_two_keys;
mirage_kernel.graph @two_keys_plain(%q: tensor<4x4xf32>, %k: tensor<2x4xf32>, %v: tensor<2x4xf32>, %c: tensor<4x2xi1>) -> tensor<4x4xf32> attributes {source = @src_two_keys} {
  %raw = matmul %q, %k {transpose_b} : tensor<4x4xf32>, tensor<2x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<4x2xf32>, tensor<f32>
  %z = mask %c, %x : tensor<4x2xi1>, tensor<4x2xf32>
  %any = reduce_max %c {dim = 1} : tensor<4x2xi1>
  %empty = not %any : tensor<4x1xi1>
  %floor = cast %empty : tensor<4x1xi1> -> tensor<4x1xf32>
  %m = reduce_max %z {dim = 1} : tensor<4x2xf32>
  %d = sub %z, %m : tensor<4x2xf32>, tensor<4x1xf32>
  %e = exp %d : tensor<4x2xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<4x2xf32>
  %divisor = add %sum, %floor : tensor<4x1xf32>, tensor<4x1xf32>
  %w = div %e, %divisor : tensor<4x2xf32>, tensor<4x1xf32>
  %y = matmul %w, %v : tensor<4x2xf32>, tensor<2x4xf32>
  return %y : tensor<4x4xf32>
}

// Nothing divided by nothing.
// CHECK: @two_keys_no_floor: unsupported: no useful error bound
mirage_kernel.graph @two_keys_no_floor(%q: tensor<4x4xf32>, %k: tensor<2x4xf32>, %v: tensor<2x4xf32>, %c: tensor<4x2xi1>) -> tensor<4x4xf32> attributes {source = @src_two_keys} {
  %raw = matmul %q, %k {transpose_b} : tensor<4x4xf32>, tensor<2x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<4x2xf32>, tensor<f32>
  %z = mask %c, %x : tensor<4x2xi1>, tensor<4x2xf32>
  %m = reduce_max %z {dim = 1} : tensor<4x2xf32>
  %d = sub %z, %m : tensor<4x2xf32>, tensor<4x1xf32>
  %e = exp %d : tensor<4x2xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<4x2xf32>
  %w = div %e, %sum : tensor<4x2xf32>, tensor<4x1xf32>
  %y = matmul %w, %v : tensor<4x2xf32>, tensor<2x4xf32>
  return %y : tensor<4x4xf32>
}

// 1/2 of each value.
// CHECK: @two_keys_mean: different
mirage_kernel.graph @two_keys_mean(%q: tensor<4x4xf32>, %k: tensor<2x4xf32>, %v: tensor<2x4xf32>, %c: tensor<4x2xi1>) -> tensor<4x4xf32> attributes {source = @src_two_keys} {
  %raw = matmul %q, %k {transpose_b} : tensor<4x4xf32>, tensor<2x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<4x2xf32>, tensor<f32>
  %low = constant -10000.0 : tensor<f32>
  %z = select %c, %x, %low : tensor<4x2xi1>, tensor<4x2xf32>, tensor<f32>
  %m = reduce_max %z {dim = 1} : tensor<4x2xf32>
  %d = sub %z, %m : tensor<4x2xf32>, tensor<4x1xf32>
  %e = exp %d : tensor<4x2xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<4x2xf32>
  %w = div %e, %sum : tensor<4x2xf32>, tensor<4x1xf32>
  %y = matmul %w, %v : tensor<4x2xf32>, tensor<2x4xf32>
  return %y : tensor<4x4xf32>
}

// 1 is added where the next row sees none.
// CHECK: @two_keys_next_floor: unsupported: no useful error bound
mirage_kernel.graph @two_keys_next_floor(%q: tensor<4x4xf32>, %k: tensor<2x4xf32>, %v: tensor<2x4xf32>, %c: tensor<4x2xi1>) -> tensor<4x4xf32> attributes {source = @src_two_keys} {
  %raw = matmul %q, %k {transpose_b} : tensor<4x4xf32>, tensor<2x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<4x2xf32>, tensor<f32>
  %z = mask %c, %x : tensor<4x2xi1>, tensor<4x2xf32>
  %s = slice %c {dim = 0, begin = 1, end = 4} : tensor<4x2xi1>
  %s1 = slice %c {dim = 0, begin = 0, end = 1} : tensor<4x2xi1>
  %k1 = concat %s, %s1 {dim = 0} : tensor<3x2xi1>, tensor<1x2xi1>
  %any = reduce_max %k1 {dim = 1} : tensor<4x2xi1>
  %empty = not %any : tensor<4x1xi1>
  %floor = cast %empty : tensor<4x1xi1> -> tensor<4x1xf32>
  %m = reduce_max %z {dim = 1} : tensor<4x2xf32>
  %d = sub %z, %m : tensor<4x2xf32>, tensor<4x1xf32>
  %e = exp %d : tensor<4x2xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<4x2xf32>
  %divisor = add %sum, %floor : tensor<4x1xf32>, tensor<4x1xf32>
  %w = div %e, %divisor : tensor<4x2xf32>, tensor<4x1xf32>
  %y = matmul %w, %v : tensor<4x2xf32>, tensor<2x4xf32>
  return %y : tensor<4x4xf32>
}

// Where no row sees any.
// CHECK: @two_keys_any_floor: unsupported: no useful error bound
mirage_kernel.graph @two_keys_any_floor(%q: tensor<4x4xf32>, %k: tensor<2x4xf32>, %v: tensor<2x4xf32>, %c: tensor<4x2xi1>) -> tensor<4x4xf32> attributes {source = @src_two_keys} {
  %raw = matmul %q, %k {transpose_b} : tensor<4x4xf32>, tensor<2x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<4x2xf32>, tensor<f32>
  %z = mask %c, %x : tensor<4x2xi1>, tensor<4x2xf32>
  %seen = reduce_max %c {dim = 0} : tensor<4x2xi1>
  %any = reduce_max %seen {dim = 1} : tensor<1x2xi1>
  %empty = not %any : tensor<1x1xi1>
  %floor = cast %empty : tensor<1x1xi1> -> tensor<1x1xf32>
  %m = reduce_max %z {dim = 1} : tensor<4x2xf32>
  %d = sub %z, %m : tensor<4x2xf32>, tensor<4x1xf32>
  %e = exp %d : tensor<4x2xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<4x2xf32>
  %divisor = add %sum, %floor : tensor<4x1xf32>, tensor<1x1xf32>
  %w = div %e, %divisor : tensor<4x2xf32>, tensor<4x1xf32>
  %y = matmul %w, %v : tensor<4x2xf32>, tensor<2x4xf32>
  return %y : tensor<4x4xf32>
}
