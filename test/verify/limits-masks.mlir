// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// Right, and still refused: what a proof for every mask has no rule for. The mask is an input, so no other theorem has a bound.

mirage_kernel.graph @src_given(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>, %b: tensor<8x8xi1>) -> tensor<8x4xf32> {
  %y = scaled_dot_product_attention %q, %k, %v, %c {scale = 0.5} : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>
  return %y : tensor<8x4xf32>
}

// Without the maximum: equal where a row sees a key, and 0 where it sees none, but not for every number that is added.
// CHECK: @given_unsafe: unsupported: no useful error bound
mirage_kernel.graph @given_unsafe(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>, %b: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %raw = matmul %q, %k {transpose_b} : tensor<8x4xf32>, tensor<8x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<8x8xf32>, tensor<f32>
  %z = mask %c, %x : tensor<8x8xi1>, tensor<8x8xf32>
  %any = reduce_max %c {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %e = exp %z : tensor<8x8xf32>
  %sum = reduce_sum %e {dim = 1} : tensor<8x8xf32>
  %divisor = add %sum, %floor : tensor<8x1xf32>, tensor<8x1xf32>
  %w = div %e, %divisor : tensor<8x8xf32>, tensor<8x1xf32>
  %y = matmul %w, %v : tensor<8x8xf32>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// Keys in two parts that a second kernel joins: what is stored of a part may be of no key.
// CHECK: @given_split: unsupported: no useful error bound
mirage_kernel.graph @given_split(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %c: tensor<8x8xi1>, %b: tensor<8x8xi1>) -> tensor<8x4xf32> attributes {source = @src_given} {
  %any = reduce_max %c {dim = 1} : tensor<8x8xi1>
  %empty = not %any : tensor<8x1xi1>
  %floor = cast %empty : tensor<8x1xi1> -> tensor<8x1xf32>
  %part, %part1, %part2 = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %c) outs(%o, %o1, %o2) grid [2] : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xi1>) -> (tensor<2x8x4xf32>, tensor<2x8x1xf32>, tensor<2x8x1xf32>) {
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
    %l = reduce_sum %e {dim = 1} : !mirage_block.tile<8x4xf32>
    %r = reshape %u : !mirage_block.tile<8x4xf32> -> !mirage_block.tile<1x8x4xf32>
    store %r, %o {grid = [0]} : !mirage_block.tile<1x8x4xf32>, tensor<2x8x4xf32>
    %r1 = reshape %l : !mirage_block.tile<8x1xf32> -> !mirage_block.tile<1x8x1xf32>
    store %r1, %o1 {grid = [0]} : !mirage_block.tile<1x8x1xf32>, tensor<2x8x1xf32>
    %r2 = reshape %m : !mirage_block.tile<8x1xf32> -> !mirage_block.tile<1x8x1xf32>
    store %r2, %o2 {grid = [0]} : !mirage_block.tile<1x8x1xf32>, tensor<2x8x1xf32>
  }
  %y = custom (%partk = %part, %part1k = %part1, %part2k = %part2, %floork = %floor) outs(%o3) grid [1] : (tensor<2x8x4xf32>, tensor<2x8x1xf32>, tensor<2x8x1xf32>, tensor<8x1xf32>) -> tensor<8x4xf32> {
    %partt = load %partk : tensor<2x8x4xf32> -> !mirage_block.tile<2x8x4xf32>
    %part1t = load %part1k : tensor<2x8x1xf32> -> !mirage_block.tile<2x8x1xf32>
    %part2t = load %part2k : tensor<2x8x1xf32> -> !mirage_block.tile<2x8x1xf32>
    %top = reduce_max %part2t {dim = 0} : !mirage_block.tile<2x8x1xf32>
    %d1 = sub %part2t, %top : !mirage_block.tile<2x8x1xf32>, !mirage_block.tile<1x8x1xf32>
    %f = exp %d1 : !mirage_block.tile<2x8x1xf32>
    %w = mul %partt, %f : !mirage_block.tile<2x8x4xf32>, !mirage_block.tile<2x8x1xf32>
    %s = reduce_sum %w {dim = 0} : !mirage_block.tile<2x8x4xf32>
    %w1 = mul %part1t, %f : !mirage_block.tile<2x8x1xf32>, !mirage_block.tile<2x8x1xf32>
    %s1 = reduce_sum %w1 {dim = 0} : !mirage_block.tile<2x8x1xf32>
    %floort = load %floork : tensor<8x1xf32> -> !mirage_block.tile<8x1xf32>
    %divisor = add %s1, %floort : !mirage_block.tile<1x8x1xf32>, !mirage_block.tile<8x1xf32>
    %w2 = div %s, %divisor : !mirage_block.tile<1x8x4xf32>, !mirage_block.tile<1x8x1xf32>
    %r3 = reshape %w2 : !mirage_block.tile<1x8x4xf32> -> !mirage_block.tile<8x4xf32>
    store %r3, %o3 : !mirage_block.tile<8x4xf32>, tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// Heads that share keys.
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

// A mask that is reshaped.
// CHECK: @heads_folded: unsupported: no useful error bound
mirage_kernel.graph @heads_folded(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> attributes {source = @src_heads} {
  %qf = reshape %q : tensor<4x6x4xf32> -> tensor<2x12x4xf32>
  %cf = reshape %c : tensor<4x6x6xi1> -> tensor<2x12x6xi1>
  %raw = matmul %qf, %k {transpose_b} : tensor<2x12x4xf32>, tensor<2x6x4xf32>
  %scale = constant 0.5 : tensor<f32>
  %x = mul %raw, %scale : tensor<2x12x6xf32>, tensor<f32>
  %z = mask %cf, %x : tensor<2x12x6xi1>, tensor<2x12x6xf32>
  %any = reduce_max %cf {dim = 2} : tensor<2x12x6xi1>
  %empty = not %any : tensor<2x12x1xi1>
  %floor = cast %empty : tensor<2x12x1xi1> -> tensor<2x12x1xf32>
  %m = reduce_max %z {dim = 2} : tensor<2x12x6xf32>
  %d = sub %z, %m : tensor<2x12x6xf32>, tensor<2x12x1xf32>
  %e = exp %d : tensor<2x12x6xf32>
  %sum = reduce_sum %e {dim = 2} : tensor<2x12x6xf32>
  %divisor = add %sum, %floor : tensor<2x12x1xf32>, tensor<2x12x1xf32>
  %w = div %e, %divisor : tensor<2x12x6xf32>, tensor<2x12x1xf32>
  %y = matmul %w, %v : tensor<2x12x6xf32>, tensor<2x6x4xf32>
  %yh = reshape %y : tensor<2x12x4xf32> -> tensor<4x6x4xf32>
  return %yh : tensor<4x6x4xf32>
}

// Or cut.
// CHECK: @heads_one_by_one: unsupported: no useful error bound
mirage_kernel.graph @heads_one_by_one(%q: tensor<4x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>, %c: tensor<4x6x6xi1>) -> tensor<4x6x4xf32> attributes {source = @src_heads} {
  %qh = slice %q {dim = 0, begin = 0, end = 1} : tensor<4x6x4xf32>
  %kh = slice %k {dim = 0, begin = 0, end = 1} : tensor<2x6x4xf32>
  %vh = slice %v {dim = 0, begin = 0, end = 1} : tensor<2x6x4xf32>
  %ch = slice %c {dim = 0, begin = 0, end = 1} : tensor<4x6x6xi1>
  %y = scaled_dot_product_attention %qh, %kh, %vh, %ch {scale = 0.5} : tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x6xi1>
  %qh1 = slice %q {dim = 0, begin = 1, end = 2} : tensor<4x6x4xf32>
  %kh1 = slice %k {dim = 0, begin = 0, end = 1} : tensor<2x6x4xf32>
  %vh1 = slice %v {dim = 0, begin = 0, end = 1} : tensor<2x6x4xf32>
  %ch1 = slice %c {dim = 0, begin = 1, end = 2} : tensor<4x6x6xi1>
  %y1 = scaled_dot_product_attention %qh1, %kh1, %vh1, %ch1 {scale = 0.5} : tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x6xi1>
  %qh2 = slice %q {dim = 0, begin = 2, end = 3} : tensor<4x6x4xf32>
  %kh2 = slice %k {dim = 0, begin = 1, end = 2} : tensor<2x6x4xf32>
  %vh2 = slice %v {dim = 0, begin = 1, end = 2} : tensor<2x6x4xf32>
  %ch2 = slice %c {dim = 0, begin = 2, end = 3} : tensor<4x6x6xi1>
  %y2 = scaled_dot_product_attention %qh2, %kh2, %vh2, %ch2 {scale = 0.5} : tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x6xi1>
  %qh3 = slice %q {dim = 0, begin = 3, end = 4} : tensor<4x6x4xf32>
  %kh3 = slice %k {dim = 0, begin = 1, end = 2} : tensor<2x6x4xf32>
  %vh3 = slice %v {dim = 0, begin = 1, end = 2} : tensor<2x6x4xf32>
  %ch3 = slice %c {dim = 0, begin = 3, end = 4} : tensor<4x6x6xi1>
  %y3 = scaled_dot_product_attention %qh3, %kh3, %vh3, %ch3 {scale = 0.5} : tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x6xi1>
  %all = concat %y, %y1, %y2, %y3 {dim = 0} : tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>, tensor<1x6x4xf32>
  return %all : tensor<4x6x4xf32>
}

mirage_kernel.graph @src_length(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %y = scaled_dot_product_attention %q, %k, %v, %in {scale = 0.5} : tensor<2x3x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x1x8xi1>
  return %y : tensor<2x3x4xf32>
}

// Or stretched.
// CHECK: @length_stretched: unsupported: no useful error bound
mirage_kernel.graph @length_stretched(%q: tensor<2x3x4xf32>, %k: tensor<2x8x4xf32>, %v: tensor<2x8x4xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x3x4xf32> attributes {source = @src_length} {
  %j = iota {dim = 2} : tensor<1x1x8xi32>
  %in = less %j, %n : tensor<1x1x8xi32>, tensor<2x1x1xi32>
  %c = broadcast %in : tensor<2x1x8xi1> -> tensor<2x3x8xi1>
  %y = scaled_dot_product_attention %q, %k, %v, %c {scale = 0.5} : tensor<2x3x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x3x8xi1>
  return %y : tensor<2x3x4xf32>
}

// Many keys: exp(m - m) is 1 for every number that a mask adds, so that nothing tells which row it goes by.
mirage_kernel.graph @src_seen(%c: tensor<16x1x16xi1>, %x: tensor<1x16x16xf32>) -> tensor<16x16x1xf32> {
  %z = mask %c, %x : tensor<16x1x16xi1>, tensor<1x16x16xf32>
  %m = reduce_max %z {dim = 2} : tensor<16x16x16xf32>
  %d = sub %m, %m : tensor<16x16x1xf32>, tensor<16x16x1xf32>
  %e = exp %d : tensor<16x16x1xf32>
  return %e : tensor<16x16x1xf32>
}

// Of its own row.
// CHECK: @seen_own_row: unsupported: no useful error bound
mirage_kernel.graph @seen_own_row(%c: tensor<16x1x16xi1>, %x: tensor<1x16x16xf32>) -> tensor<16x16x1xf32> attributes {source = @src_seen} {
  %0 = custom (%p = %c, %q = %x) outs(%o) grid [16, 16] : (tensor<16x1x16xi1>, tensor<1x16x16xf32>) -> tensor<16x16x1xf32> {
    %b = load %p {grid = [0]} : tensor<16x1x16xi1> -> !mirage_block.tile<1x1x16xi1>
    %t = load %q {grid = [-1, 1]} : tensor<1x16x16xf32> -> !mirage_block.tile<1x1x16xf32>
    %z = mask %b, %t : !mirage_block.tile<1x1x16xi1>, !mirage_block.tile<1x1x16xf32>
    %m = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %d = sub %m, %m : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %e = exp %d : !mirage_block.tile<1x1x1xf32>
    store %e, %o {grid = [0, 1]} : !mirage_block.tile<1x1x1xf32>, tensor<16x16x1xf32>
  }
  return %0 : tensor<16x16x1xf32>
}
