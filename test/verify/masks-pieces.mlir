// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// Masks that are inputs, in pieces: each piece is proven for every mask, whatever there is before and behind it.

mirage_kernel.graph @src_given(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>, %b: tensor<8x8xi1>) -> tensor<8x4xf32> {
  %y = scaled_dot_product_attention %q, %k, %v, %c {scale = 0.5} : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>
  return %y : tensor<8x4xf32>
}

// c and c.
// CHECK: @given_twice: equivalent to @src_given;
mirage_kernel.graph @given_twice(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>, %b: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %a = and %c, %c : tensor<8x8xi1>, tensor<8x8xi1>
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %z = mask %a, %x : tensor<8x8xi1>, tensor<8x8xf32>
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

// c or not c: no mask.
// CHECK: @given_or_not: different
mirage_kernel.graph @given_or_not(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>, %b: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %n = not %c : tensor<8x8xi1>
  %a = or %c, %n : tensor<8x8xi1>, tensor<8x8xi1>
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %z = mask %a, %x : tensor<8x8xi1>, tensor<8x8xf32>
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

// With an end that no key lies beyond.
// CHECK: @given_within: equivalent to @src_given;
mirage_kernel.graph @given_within(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>, %b: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %j = iota {dim = 1} : tensor<1x8xi32>
  %end = constant 8.0 : tensor<1x1xi32>
  %in = less %j, %end : tensor<1x8xi32>, tensor<1x1xi32>
  %both = and %c, %in : tensor<8x8xi1>, tensor<1x8xi1>
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %z = mask %both, %x : tensor<8x8xi1>, tensor<8x8xf32>
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

// With one that the last key lies beyond.
// CHECK: @given_cut: different
mirage_kernel.graph @given_cut(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>, %b: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %j = iota {dim = 1} : tensor<1x8xi32>
  %end = constant 7.0 : tensor<1x1xi32>
  %in = less %j, %end : tensor<1x8xi32>, tensor<1x1xi32>
  %both = and %c, %in : tensor<8x8xi1>, tensor<1x8xi1>
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %z = mask %both, %x : tensor<8x8xi1>, tensor<8x8xf32>
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

mirage_kernel.graph @src_two(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>, %b: tensor<8x8xi1>) -> tensor<8x4xf32> {
  %both = and %c, %b : tensor<8x8xi1>, tensor<8x8xi1>
  %y = scaled_dot_product_attention %q, %k, %v, %both {scale = 0.5} : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>
  return %y : tensor<8x4xf32>
}

// One mask after the other.
// CHECK: @two_masks: equivalent to @src_two;
mirage_kernel.graph @two_masks(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>, %b: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_two} {
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %z = mask %c, %x : tensor<8x8xi1>, tensor<8x8xf32>
  %zz = mask %b, %z : tensor<8x8xi1>, tensor<8x8xf32>
  %both = and %c, %b : tensor<8x8xi1>, tensor<8x8xi1>
  %any = reduce_max %both {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %m = reduce_max %zz {dim = 1} : tensor<8x8xf32>
  %d = sub %zz, %m : tensor<8x8xf32>, tensor<8x1xf32>
  %e = exp %d : tensor<8x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<8x8xf32>
  %divisor = add %sum, %floor : tensor<8x1xf32>, tensor<8x1xf32>
  %w = div %e, %divisor : tensor<8x8xf32>, tensor<8x1xf32>
  %y = matmul %w, %v : tensor<8x8xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// The number is that of one mask: rows that the other empties are divided by nothing.
// CHECK: @two_masks_floor_of_one: {{different|unsupported}}
mirage_kernel.graph @two_masks_floor_of_one(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>, %b: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_two} {
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %z = mask %c, %x : tensor<8x8xi1>, tensor<8x8xf32>
  %zz = mask %b, %z : tensor<8x8xi1>, tensor<8x8xf32>
  %any = reduce_max %c {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %m = reduce_max %zz {dim = 1} : tensor<8x8xf32>
  %d = sub %zz, %m : tensor<8x8xf32>, tensor<8x1xf32>
  %e = exp %d : tensor<8x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<8x8xf32>
  %divisor = add %sum, %floor : tensor<8x1xf32>, tensor<8x1xf32>
  %w = div %e, %divisor : tensor<8x8xf32>, tensor<8x1xf32>
  %y = matmul %w, %v : tensor<8x8xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// One mask twice.
// CHECK: @two_masks_one_left_out: different
mirage_kernel.graph @two_masks_one_left_out(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>, %b: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_two} {
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %z = mask %c, %x : tensor<8x8xi1>, tensor<8x8xf32>
  %zz = mask %c, %z : tensor<8x8xi1>, tensor<8x8xf32>
  %both = and %c, %b : tensor<8x8xi1>, tensor<8x8xi1>
  %any = reduce_max %both {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %m = reduce_max %zz {dim = 1} : tensor<8x8xf32>
  %d = sub %zz, %m : tensor<8x8xf32>, tensor<8x1xf32>
  %e = exp %d : tensor<8x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<8x8xf32>
  %divisor = add %sum, %floor : tensor<8x1xf32>, tensor<8x1xf32>
  %w = div %e, %divisor : tensor<8x8xf32>, tensor<8x1xf32>
  %y = matmul %w, %v : tensor<8x8xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// A layer: what is computed of the attention reads rows that may have seen nothing, so no proof for every mask reaches its end.
mirage_kernel.graph @src_layer(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<64xi1>, %w: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %m = reshape %c : tensor<64xi1> -> tensor<8x8xi1>
  %y = scaled_dot_product_attention %q, %k, %v, %m {scale = 0.5} : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>
  %z = matmul %y, %w : tensor<8x4xf32>, tensor<4x4xf32>
  %s = silu %z : tensor<8x4xf32>
  return %s : tensor<8x4xf32>
}

// Attention in one kernel, and what follows it.
// CHECK: @layer_kernel: equivalent to @src_layer;
mirage_kernel.graph @layer_kernel(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<64xi1>, %w: tensor<4x4xf32>) -> tensor<8x4xf32> attributes {source = @src_layer} {
  %m = reshape %c : tensor<64xi1> -> tensor<8x8xi1>
  %a = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %m) outs(%o) grid [2] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>) -> tensor<8x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
    %kt = load %kk : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %vt = load %vk : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %ct = load %ck {grid = [0]} : tensor<8x8xi1> -> !mirage_block.tile<4x8xi1>
    %raw = matmul %qt, %kt {transpose_b} : !mirage_block.tile<4x4xf32>, !mirage_block.tile<8x4xf32>
    %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
    %x = mul %raw, %scale : !mirage_block.tile<4x8xf32>, !mirage_block.tile<1x1xf32>
    %z = mask %ct, %x : !mirage_block.tile<4x8xi1>, !mirage_block.tile<4x8xf32>
    %numbers = cast %ct : !mirage_block.tile<4x8xi1> -> !mirage_block.tile<4x8xf32>
    %most = reduce_max %numbers {dim = 1} : !mirage_block.tile<4x8xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %any = less %zero, %most : !mirage_block.tile<1x1xf32>, !mirage_block.tile<4x1xf32>
    %none = not %any : !mirage_block.tile<4x1xi1>
    %floor = cast %none : !mirage_block.tile<4x1xi1> -> !mirage_block.tile<4x1xf32>
    %top = reduce_max %z {dim = 1} : !mirage_block.tile<4x8xf32>
    %d = sub %z, %top : !mirage_block.tile<4x8xf32>, !mirage_block.tile<4x1xf32>
    %e = exp %d : !mirage_block.tile<4x8xf32>
    %l = reduce_sum %e {dim = 1} : !mirage_block.tile<4x8xf32>
    %sum = add %l, %floor : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %u = matmul %e, %vt : !mirage_block.tile<4x8xf32>, !mirage_block.tile<8x4xf32>
    %y = div %u, %sum : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<4x4xf32>, tensor<8x4xf32>
  }
  %p = matmul %a, %w : tensor<8x4xf32>, tensor<4x4xf32>
  %s = silu %p : tensor<8x4xf32>
  return %s : tensor<8x4xf32>
}

// Rows without keys are divided by nothing: no draw of 64 predicates shows that, and no proof holds.
// CHECK: @layer_no_floor: unsupported: no useful error bound
mirage_kernel.graph @layer_no_floor(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<64xi1>, %w: tensor<4x4xf32>) -> tensor<8x4xf32> attributes {source = @src_layer} {
  %m = reshape %c : tensor<64xi1> -> tensor<8x8xi1>
  %a = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %m) outs(%o) grid [2] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>) -> tensor<8x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
    %kt = load %kk : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %vt = load %vk : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %ct = load %ck {grid = [0]} : tensor<8x8xi1> -> !mirage_block.tile<4x8xi1>
    %raw = matmul %qt, %kt {transpose_b} : !mirage_block.tile<4x4xf32>, !mirage_block.tile<8x4xf32>
    %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
    %x = mul %raw, %scale : !mirage_block.tile<4x8xf32>, !mirage_block.tile<1x1xf32>
    %z = mask %ct, %x : !mirage_block.tile<4x8xi1>, !mirage_block.tile<4x8xf32>
    %numbers = cast %ct : !mirage_block.tile<4x8xi1> -> !mirage_block.tile<4x8xf32>
    %most = reduce_max %numbers {dim = 1} : !mirage_block.tile<4x8xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %any = less %zero, %most : !mirage_block.tile<1x1xf32>, !mirage_block.tile<4x1xf32>
    %none = not %any : !mirage_block.tile<4x1xi1>
    %floor = cast %none : !mirage_block.tile<4x1xi1> -> !mirage_block.tile<4x1xf32>
    %top = reduce_max %z {dim = 1} : !mirage_block.tile<4x8xf32>
    %d = sub %z, %top : !mirage_block.tile<4x8xf32>, !mirage_block.tile<4x1xf32>
    %e = exp %d : !mirage_block.tile<4x8xf32>
    %l = reduce_sum %e {dim = 1} : !mirage_block.tile<4x8xf32>
    %nothing = sub %floor, %floor : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %sum = add %l, %nothing : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %u = matmul %e, %vt : !mirage_block.tile<4x8xf32>, !mirage_block.tile<8x4xf32>
    %y = div %u, %sum : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<4x4xf32>, tensor<8x4xf32>
  }
  %p = matmul %a, %w : tensor<8x4xf32>, tensor<4x4xf32>
  %s = silu %p : tensor<8x4xf32>
  return %s : tensor<8x4xf32>
}

// Whether none holds, for whether any does.
// CHECK: @layer_any_turned: different
mirage_kernel.graph @layer_any_turned(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<64xi1>, %w: tensor<4x4xf32>) -> tensor<8x4xf32> attributes {source = @src_layer} {
  %m = reshape %c : tensor<64xi1> -> tensor<8x8xi1>
  %a = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %m) outs(%o) grid [2] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>) -> tensor<8x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
    %kt = load %kk : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %vt = load %vk : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %ct = load %ck {grid = [0]} : tensor<8x8xi1> -> !mirage_block.tile<4x8xi1>
    %raw = matmul %qt, %kt {transpose_b} : !mirage_block.tile<4x4xf32>, !mirage_block.tile<8x4xf32>
    %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
    %x = mul %raw, %scale : !mirage_block.tile<4x8xf32>, !mirage_block.tile<1x1xf32>
    %z = mask %ct, %x : !mirage_block.tile<4x8xi1>, !mirage_block.tile<4x8xf32>
    %numbers = cast %ct : !mirage_block.tile<4x8xi1> -> !mirage_block.tile<4x8xf32>
    %most = reduce_max %numbers {dim = 1} : !mirage_block.tile<4x8xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %any = less_equal %most, %zero : !mirage_block.tile<4x1xf32>, !mirage_block.tile<1x1xf32>
    %none = not %any : !mirage_block.tile<4x1xi1>
    %floor = cast %none : !mirage_block.tile<4x1xi1> -> !mirage_block.tile<4x1xf32>
    %top = reduce_max %z {dim = 1} : !mirage_block.tile<4x8xf32>
    %d = sub %z, %top : !mirage_block.tile<4x8xf32>, !mirage_block.tile<4x1xf32>
    %e = exp %d : !mirage_block.tile<4x8xf32>
    %l = reduce_sum %e {dim = 1} : !mirage_block.tile<4x8xf32>
    %sum = add %l, %floor : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %u = matmul %e, %vt : !mirage_block.tile<4x8xf32>, !mirage_block.tile<8x4xf32>
    %y = div %u, %sum : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<4x4xf32>, tensor<8x4xf32>
  }
  %p = matmul %a, %w : tensor<8x4xf32>, tensor<4x4xf32>
  %s = silu %p : tensor<8x4xf32>
  return %s : tensor<8x4xf32>
}

// The weight's other side.
// CHECK: @layer_transposed: different
mirage_kernel.graph @layer_transposed(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<64xi1>, %w: tensor<4x4xf32>) -> tensor<8x4xf32> attributes {source = @src_layer} {
  %m = reshape %c : tensor<64xi1> -> tensor<8x8xi1>
  %a = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %m) outs(%o) grid [2] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>) -> tensor<8x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
    %kt = load %kk : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %vt = load %vk : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %ct = load %ck {grid = [0]} : tensor<8x8xi1> -> !mirage_block.tile<4x8xi1>
    %raw = matmul %qt, %kt {transpose_b} : !mirage_block.tile<4x4xf32>, !mirage_block.tile<8x4xf32>
    %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
    %x = mul %raw, %scale : !mirage_block.tile<4x8xf32>, !mirage_block.tile<1x1xf32>
    %z = mask %ct, %x : !mirage_block.tile<4x8xi1>, !mirage_block.tile<4x8xf32>
    %numbers = cast %ct : !mirage_block.tile<4x8xi1> -> !mirage_block.tile<4x8xf32>
    %most = reduce_max %numbers {dim = 1} : !mirage_block.tile<4x8xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %any = less %zero, %most : !mirage_block.tile<1x1xf32>, !mirage_block.tile<4x1xf32>
    %none = not %any : !mirage_block.tile<4x1xi1>
    %floor = cast %none : !mirage_block.tile<4x1xi1> -> !mirage_block.tile<4x1xf32>
    %top = reduce_max %z {dim = 1} : !mirage_block.tile<4x8xf32>
    %d = sub %z, %top : !mirage_block.tile<4x8xf32>, !mirage_block.tile<4x1xf32>
    %e = exp %d : !mirage_block.tile<4x8xf32>
    %l = reduce_sum %e {dim = 1} : !mirage_block.tile<4x8xf32>
    %sum = add %l, %floor : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %u = matmul %e, %vt : !mirage_block.tile<4x8xf32>, !mirage_block.tile<8x4xf32>
    %y = div %u, %sum : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<4x4xf32>, tensor<8x4xf32>
  }
  %p = matmul %a, %w {transpose_b} : tensor<8x4xf32>, tensor<4x4xf32>
  %s = silu %p : tensor<8x4xf32>
  return %s : tensor<8x4xf32>
}

// The mask's other side.
// CHECK: @layer_mask_transposed: different
mirage_kernel.graph @layer_mask_transposed(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<64xi1>, %w: tensor<4x4xf32>) -> tensor<8x4xf32> attributes {source = @src_layer} {
  %t = reshape %c : tensor<64xi1> -> tensor<8x8xi1>
  %m = transpose %t {perm = [1, 0]} : tensor<8x8xi1>
  %a = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %m) outs(%o) grid [2] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>) -> tensor<8x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
    %kt = load %kk : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %vt = load %vk : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %ct = load %ck {grid = [0]} : tensor<8x8xi1> -> !mirage_block.tile<4x8xi1>
    %raw = matmul %qt, %kt {transpose_b} : !mirage_block.tile<4x4xf32>, !mirage_block.tile<8x4xf32>
    %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
    %x = mul %raw, %scale : !mirage_block.tile<4x8xf32>, !mirage_block.tile<1x1xf32>
    %z = mask %ct, %x : !mirage_block.tile<4x8xi1>, !mirage_block.tile<4x8xf32>
    %numbers = cast %ct : !mirage_block.tile<4x8xi1> -> !mirage_block.tile<4x8xf32>
    %most = reduce_max %numbers {dim = 1} : !mirage_block.tile<4x8xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %any = less %zero, %most : !mirage_block.tile<1x1xf32>, !mirage_block.tile<4x1xf32>
    %none = not %any : !mirage_block.tile<4x1xi1>
    %floor = cast %none : !mirage_block.tile<4x1xi1> -> !mirage_block.tile<4x1xf32>
    %top = reduce_max %z {dim = 1} : !mirage_block.tile<4x8xf32>
    %d = sub %z, %top : !mirage_block.tile<4x8xf32>, !mirage_block.tile<4x1xf32>
    %e = exp %d : !mirage_block.tile<4x8xf32>
    %l = reduce_sum %e {dim = 1} : !mirage_block.tile<4x8xf32>
    %sum = add %l, %floor : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %u = matmul %e, %vt : !mirage_block.tile<4x8xf32>, !mirage_block.tile<8x4xf32>
    %y = div %u, %sum : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<4x4xf32>, tensor<8x4xf32>
  }
  %p = matmul %a, %w : tensor<8x4xf32>, tensor<4x4xf32>
  %s = silu %p : tensor<8x4xf32>
  return %s : tensor<8x4xf32>
}

// An end of the keys less.
// CHECK: @layer_cut: different
mirage_kernel.graph @layer_cut(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<64xi1>, %w: tensor<4x4xf32>) -> tensor<8x4xf32> attributes {source = @src_layer} {
  %m = reshape %c : tensor<64xi1> -> tensor<8x8xi1>
  %a = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %m) outs(%o) grid [2] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>) -> tensor<8x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
    %kt = load %kk : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %vt = load %vk : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %ct = load %ck {grid = [0]} : tensor<8x8xi1> -> !mirage_block.tile<4x8xi1>
    %j = iota {dim = 1} : !mirage_block.tile<1x8xi32>
    %end = constant 7.0 : !mirage_block.tile<1x1xi32>
    %in = less %j, %end : !mirage_block.tile<1x8xi32>, !mirage_block.tile<1x1xi32>
    %cut = and %ct, %in : !mirage_block.tile<4x8xi1>, !mirage_block.tile<1x8xi1>
    %raw = matmul %qt, %kt {transpose_b} : !mirage_block.tile<4x4xf32>, !mirage_block.tile<8x4xf32>
    %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
    %x = mul %raw, %scale : !mirage_block.tile<4x8xf32>, !mirage_block.tile<1x1xf32>
    %z = mask %cut, %x : !mirage_block.tile<4x8xi1>, !mirage_block.tile<4x8xf32>
    %numbers = cast %ct : !mirage_block.tile<4x8xi1> -> !mirage_block.tile<4x8xf32>
    %most = reduce_max %numbers {dim = 1} : !mirage_block.tile<4x8xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %any = less %zero, %most : !mirage_block.tile<1x1xf32>, !mirage_block.tile<4x1xf32>
    %none = not %any : !mirage_block.tile<4x1xi1>
    %floor = cast %none : !mirage_block.tile<4x1xi1> -> !mirage_block.tile<4x1xf32>
    %top = reduce_max %z {dim = 1} : !mirage_block.tile<4x8xf32>
    %d = sub %z, %top : !mirage_block.tile<4x8xf32>, !mirage_block.tile<4x1xf32>
    %e = exp %d : !mirage_block.tile<4x8xf32>
    %l = reduce_sum %e {dim = 1} : !mirage_block.tile<4x8xf32>
    %sum = add %l, %floor : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %u = matmul %e, %vt : !mirage_block.tile<4x8xf32>, !mirage_block.tile<8x4xf32>
    %y = div %u, %sum : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<4x4xf32>, tensor<8x4xf32>
  }
  %p = matmul %a, %w : tensor<8x4xf32>, tensor<4x4xf32>
  %s = silu %p : tensor<8x4xf32>
  return %s : tensor<8x4xf32>
}

// The mask as numbers, which the kernel loads.
// CHECK: @layer_bias: equivalent to @src_layer;
mirage_kernel.graph @layer_bias(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<64xi1>, %w: tensor<4x4xf32>) -> tensor<8x4xf32> attributes {source = @src_layer} {
  %m = reshape %c : tensor<64xi1> -> tensor<8x8xi1>
  %zero = constant 0.0 : tensor<f32>
  %b = mask %m, %zero : tensor<8x8xi1>, tensor<f32>
  %any = reduce_max %m {dim = 1} : tensor<8x8xi1>
  %none = not %any : tensor<8x1xi1>
  %floor = cast %none : tensor<8x1xi1> -> tensor<8x1xf32>
  %a = custom (%qk = %q, %kk = %k, %vk = %v, %bk = %b, %fk = %floor) outs(%o) grid [2] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
    %kt = load %kk : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %vt = load %vk : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %bt = load %bk {grid = [0]} : tensor<8x8xf32> -> !mirage_block.tile<4x8xf32>
    %ft = load %fk {grid = [0]} : tensor<8x1xf32> -> !mirage_block.tile<4x1xf32>
    %raw = matmul %qt, %kt {transpose_b} : !mirage_block.tile<4x4xf32>, !mirage_block.tile<8x4xf32>
    %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
    %x = mul %raw, %scale : !mirage_block.tile<4x8xf32>, !mirage_block.tile<1x1xf32>
    %z = add %x, %bt : !mirage_block.tile<4x8xf32>, !mirage_block.tile<4x8xf32>
    %top = reduce_max %z {dim = 1} : !mirage_block.tile<4x8xf32>
    %d = sub %z, %top : !mirage_block.tile<4x8xf32>, !mirage_block.tile<4x1xf32>
    %e = exp %d : !mirage_block.tile<4x8xf32>
    %l = reduce_sum %e {dim = 1} : !mirage_block.tile<4x8xf32>
    %nothing = sub %ft, %ft : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %sum = add %l, %ft : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %u = matmul %e, %vt : !mirage_block.tile<4x8xf32>, !mirage_block.tile<8x4xf32>
    %y = div %u, %sum : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<4x4xf32>, tensor<8x4xf32>
  }
  %p = matmul %a, %w : tensor<8x4xf32>, tensor<4x4xf32>
  %s = silu %p : tensor<8x4xf32>
  return %s : tensor<8x4xf32>
}

// The same, and rows without keys are divided by nothing.
// CHECK: @layer_bias_no_floor: unsupported: no useful error bound
mirage_kernel.graph @layer_bias_no_floor(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<64xi1>, %w: tensor<4x4xf32>) -> tensor<8x4xf32> attributes {source = @src_layer} {
  %m = reshape %c : tensor<64xi1> -> tensor<8x8xi1>
  %zero = constant 0.0 : tensor<f32>
  %b = mask %m, %zero : tensor<8x8xi1>, tensor<f32>
  %any = reduce_max %m {dim = 1} : tensor<8x8xi1>
  %none = not %any : tensor<8x1xi1>
  %floor = cast %none : tensor<8x1xi1> -> tensor<8x1xf32>
  %a = custom (%qk = %q, %kk = %k, %vk = %v, %bk = %b, %fk = %floor) outs(%o) grid [2] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
    %kt = load %kk : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %vt = load %vk : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %bt = load %bk {grid = [0]} : tensor<8x8xf32> -> !mirage_block.tile<4x8xf32>
    %ft = load %fk {grid = [0]} : tensor<8x1xf32> -> !mirage_block.tile<4x1xf32>
    %raw = matmul %qt, %kt {transpose_b} : !mirage_block.tile<4x4xf32>, !mirage_block.tile<8x4xf32>
    %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
    %x = mul %raw, %scale : !mirage_block.tile<4x8xf32>, !mirage_block.tile<1x1xf32>
    %z = add %x, %bt : !mirage_block.tile<4x8xf32>, !mirage_block.tile<4x8xf32>
    %top = reduce_max %z {dim = 1} : !mirage_block.tile<4x8xf32>
    %d = sub %z, %top : !mirage_block.tile<4x8xf32>, !mirage_block.tile<4x1xf32>
    %e = exp %d : !mirage_block.tile<4x8xf32>
    %l = reduce_sum %e {dim = 1} : !mirage_block.tile<4x8xf32>
    %nothing = sub %ft, %ft : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %sum = add %l, %nothing : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %u = matmul %e, %vt : !mirage_block.tile<4x8xf32>, !mirage_block.tile<8x4xf32>
    %y = div %u, %sum : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<4x4xf32>, tensor<8x4xf32>
  }
  %p = matmul %a, %w : tensor<8x4xf32>, tensor<4x4xf32>
  %s = silu %p : tensor<8x4xf32>
  return %s : tensor<8x4xf32>
}

// Numbers of the mask's other side.
// CHECK: @layer_bias_turned: different
mirage_kernel.graph @layer_bias_turned(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<64xi1>, %w: tensor<4x4xf32>) -> tensor<8x4xf32> attributes {source = @src_layer} {
  %m = reshape %c : tensor<64xi1> -> tensor<8x8xi1>
  %t = transpose %m {perm = [1, 0]} : tensor<8x8xi1>
  %zero = constant 0.0 : tensor<f32>
  %b = mask %t, %zero : tensor<8x8xi1>, tensor<f32>
  %any = reduce_max %m {dim = 1} : tensor<8x8xi1>
  %none = not %any : tensor<8x1xi1>
  %floor = cast %none : tensor<8x1xi1> -> tensor<8x1xf32>
  %a = custom (%qk = %q, %kk = %k, %vk = %v, %bk = %b, %fk = %floor) outs(%o) grid [2] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
    %kt = load %kk : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %vt = load %vk : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %bt = load %bk {grid = [0]} : tensor<8x8xf32> -> !mirage_block.tile<4x8xf32>
    %ft = load %fk {grid = [0]} : tensor<8x1xf32> -> !mirage_block.tile<4x1xf32>
    %raw = matmul %qt, %kt {transpose_b} : !mirage_block.tile<4x4xf32>, !mirage_block.tile<8x4xf32>
    %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
    %x = mul %raw, %scale : !mirage_block.tile<4x8xf32>, !mirage_block.tile<1x1xf32>
    %z = add %x, %bt : !mirage_block.tile<4x8xf32>, !mirage_block.tile<4x8xf32>
    %top = reduce_max %z {dim = 1} : !mirage_block.tile<4x8xf32>
    %d = sub %z, %top : !mirage_block.tile<4x8xf32>, !mirage_block.tile<4x1xf32>
    %e = exp %d : !mirage_block.tile<4x8xf32>
    %l = reduce_sum %e {dim = 1} : !mirage_block.tile<4x8xf32>
    %nothing = sub %ft, %ft : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %sum = add %l, %ft : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %u = matmul %e, %vt : !mirage_block.tile<4x8xf32>, !mirage_block.tile<8x4xf32>
    %y = div %u, %sum : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<4x4xf32>, tensor<8x4xf32>
  }
  %p = matmul %a, %w : tensor<8x4xf32>, tensor<4x4xf32>
  %s = silu %p : tensor<8x4xf32>
  return %s : tensor<8x4xf32>
}

// The number of the mask's other side: rows and columns that hold nowhere are others.
// CHECK: @layer_bias_other_floor: unsupported: no useful error bound
mirage_kernel.graph @layer_bias_other_floor(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<64xi1>, %w: tensor<4x4xf32>) -> tensor<8x4xf32> attributes {source = @src_layer} {
  %m = reshape %c : tensor<64xi1> -> tensor<8x8xi1>
  %t = transpose %m {perm = [1, 0]} : tensor<8x8xi1>
  %zero = constant 0.0 : tensor<f32>
  %b = mask %m, %zero : tensor<8x8xi1>, tensor<f32>
  %any = reduce_max %t {dim = 1} : tensor<8x8xi1>
  %none = not %any : tensor<8x1xi1>
  %floor = cast %none : tensor<8x1xi1> -> tensor<8x1xf32>
  %a = custom (%qk = %q, %kk = %k, %vk = %v, %bk = %b, %fk = %floor) outs(%o) grid [2] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x4xf32> {
    %qt = load %qk {grid = [0]} : tensor<8x4xf32> -> !mirage_block.tile<4x4xf32>
    %kt = load %kk : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %vt = load %vk : tensor<8x4xf32> -> !mirage_block.tile<8x4xf32>
    %bt = load %bk {grid = [0]} : tensor<8x8xf32> -> !mirage_block.tile<4x8xf32>
    %ft = load %fk {grid = [0]} : tensor<8x1xf32> -> !mirage_block.tile<4x1xf32>
    %raw = matmul %qt, %kt {transpose_b} : !mirage_block.tile<4x4xf32>, !mirage_block.tile<8x4xf32>
    %scale = constant 0.5 : !mirage_block.tile<1x1xf32>
    %x = mul %raw, %scale : !mirage_block.tile<4x8xf32>, !mirage_block.tile<1x1xf32>
    %z = add %x, %bt : !mirage_block.tile<4x8xf32>, !mirage_block.tile<4x8xf32>
    %top = reduce_max %z {dim = 1} : !mirage_block.tile<4x8xf32>
    %d = sub %z, %top : !mirage_block.tile<4x8xf32>, !mirage_block.tile<4x1xf32>
    %e = exp %d : !mirage_block.tile<4x8xf32>
    %l = reduce_sum %e {dim = 1} : !mirage_block.tile<4x8xf32>
    %nothing = sub %ft, %ft : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %sum = add %l, %ft : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %u = matmul %e, %vt : !mirage_block.tile<4x8xf32>, !mirage_block.tile<8x4xf32>
    %y = div %u, %sum : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<4x4xf32>, tensor<8x4xf32>
  }
  %p = matmul %a, %w : tensor<8x4xf32>, tensor<4x4xf32>
  %s = silu %p : tensor<8x4xf32>
  return %s : tensor<8x4xf32>
}
