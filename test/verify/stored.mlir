// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// Weights of stored types: where scales and zero points go, and where they must not.

mirage_kernel.graph @src_column(%x: tensor<4x8xf16>, %w: tensor<8x6xi8>, %s: tensor<6xf16>) -> tensor<4x6xf16> {
  %f = cast %w : tensor<8x6xi8> -> tensor<8x6xf16>
  %d = mul %f, %s : tensor<8x6xf16>, tensor<6xf16>
  %y = matmul %x, %d : tensor<4x8xf16>, tensor<8x6xf16>
  return %y : tensor<4x6xf16>
}

// A scale for each column may wait for the product.
// CHECK: @tgt_column_after: equivalent to @src_column;
mirage_kernel.graph @tgt_column_after(%x: tensor<4x8xf16>, %w: tensor<8x6xi8>, %s: tensor<6xf16>) -> tensor<4x6xf16> attributes {source = @src_column} {
  %f = cast %w : tensor<8x6xi8> -> tensor<8x6xf16>
  %p = matmul %x, %f : tensor<4x8xf16>, tensor<8x6xf16>
  %y = mul %p, %s : tensor<4x6xf16>, tensor<6xf16>
  return %y : tensor<4x6xf16>
}

// In f32, by way of bf16.
// CHECK: @tgt_column_wide: equivalent to @src_column;
mirage_kernel.graph @tgt_column_wide(%x: tensor<4x8xf16>, %w: tensor<8x6xi8>, %s: tensor<6xf16>) -> tensor<4x6xf16> attributes {source = @src_column} {
  %b = cast %w : tensor<8x6xi8> -> tensor<8x6xbf16>
  %f = cast %b : tensor<8x6xbf16> -> tensor<8x6xf16>
  %p = matmul %x, %f : tensor<4x8xf16>, tensor<8x6xf16> -> tensor<4x6xf32>
  %m = mul %p, %s : tensor<4x6xf32>, tensor<6xf16>
  %y = cast %m : tensor<4x6xf32> -> tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// In a block, tile by tile.
// CHECK: @tgt_column_block: equivalent to @src_column;
mirage_kernel.graph @tgt_column_block(%x: tensor<4x8xf16>, %w: tensor<8x6xi8>, %s: tensor<6xf16>) -> tensor<4x6xf16> attributes {source = @src_column} {
  %y = custom (%xk = %x, %wk = %w, %sk = %s) outs(%yk) grid [3] : (tensor<4x8xf16>, tensor<8x6xi8>, tensor<6xf16>) -> tensor<4x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x2xf32>
    %a = loop 2 (%c = %zero sum) : !mirage_block.tile<4x2xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x6xi8> -> !mirage_block.tile<4x2xi8>
      %wf = cast %wt : !mirage_block.tile<4x2xi8> -> !mirage_block.tile<4x2xf16>
      %p = matmul %xt, %wf : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x2xf16>
      yield %p : !mirage_block.tile<4x2xf32>
    }
    %st = load %sk {grid = [0]} : tensor<6xf16> -> !mirage_block.tile<2xf16>
    %r = mul %a, %st : !mirage_block.tile<4x2xf32>, !mirage_block.tile<2xf16>
    store %r, %yk {grid = [1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// Left out.
// CHECK: @tgt_column_dropped: different at output
mirage_kernel.graph @tgt_column_dropped(%x: tensor<4x8xf16>, %w: tensor<8x6xi8>, %s: tensor<6xf16>) -> tensor<4x6xf16> attributes {source = @src_column} {
  %f = cast %w : tensor<8x6xi8> -> tensor<8x6xf16>
  %y = matmul %x, %f : tensor<4x8xf16>, tensor<8x6xf16>
  return %y : tensor<4x6xf16>
}

// Twice.
// CHECK: @tgt_column_twice: different at output
mirage_kernel.graph @tgt_column_twice(%x: tensor<4x8xf16>, %w: tensor<8x6xi8>, %s: tensor<6xf16>) -> tensor<4x6xf16> attributes {source = @src_column} {
  %f = cast %w : tensor<8x6xi8> -> tensor<8x6xf16>
  %d = mul %f, %s : tensor<8x6xf16>, tensor<6xf16>
  %p = matmul %x, %d : tensor<4x8xf16>, tensor<8x6xf16>
  %y = mul %p, %s : tensor<4x6xf16>, tensor<6xf16>
  return %y : tensor<4x6xf16>
}

// The scale of the block beside.
// CHECK: @tgt_column_beside: different at output
mirage_kernel.graph @tgt_column_beside(%x: tensor<4x8xf16>, %w: tensor<8x6xi8>, %s: tensor<6xf16>) -> tensor<4x6xf16> attributes {source = @src_column} {
  %l = slice %s {dim = 0, begin = 2, end = 6} : tensor<6xf16>
  %m = slice %s {dim = 0, begin = 0, end = 2} : tensor<6xf16>
  %t = concat %l, %m {dim = 0} : tensor<4xf16>, tensor<2xf16>
  %f = cast %w : tensor<8x6xi8> -> tensor<8x6xf16>
  %p = matmul %x, %f : tensor<4x8xf16>, tensor<8x6xf16>
  %y = mul %p, %t : tensor<4x6xf16>, tensor<6xf16>
  return %y : tensor<4x6xf16>
}

mirage_kernel.graph @src_row(%x: tensor<4x8xf16>, %w: tensor<8x6xi8>, %s: tensor<8x1xf16>) -> tensor<4x6xf16> {
  %f = cast %w : tensor<8x6xi8> -> tensor<8x6xf16>
  %d = mul %f, %s : tensor<8x6xf16>, tensor<8x1xf16>
  %y = matmul %x, %d : tensor<4x8xf16>, tensor<8x6xf16>
  return %y : tensor<4x6xf16>
}

// A scale for each row of the weight belongs to the activation as well.
// CHECK: @tgt_row_before: equivalent to @src_row;
mirage_kernel.graph @tgt_row_before(%x: tensor<4x8xf16>, %w: tensor<8x6xi8>, %s: tensor<8x1xf16>) -> tensor<4x6xf16> attributes {source = @src_row} {
  %f = cast %w : tensor<8x6xi8> -> tensor<8x6xf16>
  %t = reshape %s : tensor<8x1xf16> -> tensor<8xf16>
  %a = mul %x, %t : tensor<4x8xf16>, tensor<8xf16>
  %y = matmul %a, %f : tensor<4x8xf16>, tensor<8x6xf16>
  return %y : tensor<4x6xf16>
}

// It may not wait: the sum of the scales is another thing.
// CHECK: @tgt_row_after: different at output
mirage_kernel.graph @tgt_row_after(%x: tensor<4x8xf16>, %w: tensor<8x6xi8>, %s: tensor<8x1xf16>) -> tensor<4x6xf16> attributes {source = @src_row} {
  %f = cast %w : tensor<8x6xi8> -> tensor<8x6xf16>
  %p = matmul %x, %f : tensor<4x8xf16>, tensor<8x6xf16>
  %t = reduce_mean %s {dim = 0} : tensor<8x1xf16>
  %y = mul %p, %t : tensor<4x6xf16>, tensor<1x1xf16>
  return %y : tensor<4x6xf16>
}

mirage_kernel.graph @src_zero(%x: tensor<4x8xf16>, %w: tensor<8x6xi8>, %z: tensor<6xf16>) -> tensor<4x6xf16> {
  %f = cast %w : tensor<8x6xi8> -> tensor<8x6xf16>
  %d = sub %f, %z : tensor<8x6xf16>, tensor<6xf16>
  %y = matmul %x, %d : tensor<4x8xf16>, tensor<8x6xf16>
  return %y : tensor<4x6xf16>
}

// A zero point for each column is taken off the product as often as x adds it up.
// CHECK: @tgt_zero_sums: equivalent to @src_zero;
mirage_kernel.graph @tgt_zero_sums(%x: tensor<4x8xf16>, %w: tensor<8x6xi8>, %z: tensor<6xf16>) -> tensor<4x6xf16> attributes {source = @src_zero} {
  %f = cast %w : tensor<8x6xi8> -> tensor<8x6xf16>
  %p = matmul %x, %f : tensor<4x8xf16>, tensor<8x6xf16>
  %s = reduce_sum %x {dim = 1} : tensor<4x8xf16>
  %c = mul %s, %z : tensor<4x1xf16>, tensor<6xf16>
  %y = sub %p, %c : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// Dropped.
// CHECK: @tgt_zero_dropped: different at output
mirage_kernel.graph @tgt_zero_dropped(%x: tensor<4x8xf16>, %w: tensor<8x6xi8>, %z: tensor<6xf16>) -> tensor<4x6xf16> attributes {source = @src_zero} {
  %f = cast %w : tensor<8x6xi8> -> tensor<8x6xf16>
  %y = matmul %x, %f : tensor<4x8xf16>, tensor<8x6xf16>
  return %y : tensor<4x6xf16>
}

// Once for a whole row.
// CHECK: @tgt_zero_once: different at output
mirage_kernel.graph @tgt_zero_once(%x: tensor<4x8xf16>, %w: tensor<8x6xi8>, %z: tensor<6xf16>) -> tensor<4x6xf16> attributes {source = @src_zero} {
  %f = cast %w : tensor<8x6xi8> -> tensor<8x6xf16>
  %p = matmul %x, %f : tensor<4x8xf16>, tensor<8x6xf16>
  %y = sub %p, %z : tensor<4x6xf16>, tensor<6xf16>
  return %y : tensor<4x6xf16>
}

// Added.
// CHECK: @tgt_zero_added: different at output
mirage_kernel.graph @tgt_zero_added(%x: tensor<4x8xf16>, %w: tensor<8x6xi8>, %z: tensor<6xf16>) -> tensor<4x6xf16> attributes {source = @src_zero} {
  %f = cast %w : tensor<8x6xi8> -> tensor<8x6xf16>
  %d = add %f, %z : tensor<8x6xf16>, tensor<6xf16>
  %y = matmul %x, %d : tensor<4x8xf16>, tensor<8x6xf16>
  return %y : tensor<4x6xf16>
}

// Groups of 4 along the contraction.
mirage_kernel.graph @src_groups(%x: tensor<4x16xf16>, %w: tensor<16x6xi4>, %s: tensor<4x1x6xf16>, %z: tensor<4x1x6xf16>) -> tensor<4x6xf16> {
  %f = cast %w : tensor<16x6xi4> -> tensor<16x6xf16>
  %g = reshape %f : tensor<16x6xf16> -> tensor<4x4x6xf16>
  %c = sub %g, %z : tensor<4x4x6xf16>, tensor<4x1x6xf16>
  %d = mul %c, %s : tensor<4x4x6xf16>, tensor<4x1x6xf16>
  %b = reshape %d : tensor<4x4x6xf16> -> tensor<16x6xf16>
  %y = matmul %x, %b : tensor<4x16xf16>, tensor<16x6xf16>
  return %y : tensor<4x6xf16>
}

// A product for each group, scaled, then their sum.
// CHECK: @tgt_groups_sum: equivalent to @src_groups;
mirage_kernel.graph @tgt_groups_sum(%x: tensor<4x16xf16>, %w: tensor<16x6xi4>, %s: tensor<4x1x6xf16>, %z: tensor<4x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_groups} {
  %v = reshape %w : tensor<16x6xi4> -> tensor<4x4x6xi4>
  %f = cast %v : tensor<4x4x6xi4> -> tensor<4x4x6xf16>
  %c = sub %f, %z : tensor<4x4x6xf16>, tensor<4x1x6xf16>
  %t = reshape %x : tensor<4x16xf16> -> tensor<4x4x4xf16>
  %a = transpose %t {perm = [1, 0, 2]} : tensor<4x4x4xf16>
  %p = matmul %a, %c : tensor<4x4x4xf16>, tensor<4x4x6xf16> -> tensor<4x4x6xf32>
  %m = mul %p, %s : tensor<4x4x6xf32>, tensor<4x1x6xf16>
  %r = reduce_sum %m {dim = 0} : tensor<4x4x6xf32>
  %q = reshape %r : tensor<1x4x6xf32> -> tensor<4x6xf32>
  %y = cast %q : tensor<4x6xf32> -> tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// A loop whose steps are the groups.
// CHECK: @tgt_groups_loop: equivalent to @src_groups;
mirage_kernel.graph @tgt_groups_loop(%x: tensor<4x16xf16>, %w: tensor<16x6xi4>, %s: tensor<4x1x6xf16>, %z: tensor<4x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_groups} {
  %y = custom (%xk = %x, %wk = %w, %sk = %s, %zk = %z) outs(%yk) grid [3] : (tensor<4x16xf16>, tensor<16x6xi4>, tensor<4x1x6xf16>, tensor<4x1x6xf16>) -> tensor<4x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x2xf32>
    %a = loop 4 (%c = %zero sum) : !mirage_block.tile<4x2xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x16xf16> -> !mirage_block.tile<4x4xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<16x6xi4> -> !mirage_block.tile<4x2xi4>
      %st = load %sk {grid = [2], loop = [0]} : tensor<4x1x6xf16> -> !mirage_block.tile<1x1x2xf16>
      %zt = load %zk {grid = [2], loop = [0]} : tensor<4x1x6xf16> -> !mirage_block.tile<1x1x2xf16>
      %s2 = reshape %st : !mirage_block.tile<1x1x2xf16> -> !mirage_block.tile<1x2xf16>
      %z2 = reshape %zt : !mirage_block.tile<1x1x2xf16> -> !mirage_block.tile<1x2xf16>
      %wf = cast %wt : !mirage_block.tile<4x2xi4> -> !mirage_block.tile<4x2xf16>
      %wz = sub %wf, %z2 : !mirage_block.tile<4x2xf16>, !mirage_block.tile<1x2xf16>
      %wd = mul %wz, %s2 : !mirage_block.tile<4x2xf32>, !mirage_block.tile<1x2xf16>
      %wh = cast %wd : !mirage_block.tile<4x2xf32> -> !mirage_block.tile<4x2xf16>
      %p = matmul %xt, %wh : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x2xf16>
      yield %p : !mirage_block.tile<4x2xf32>
    }
    store %a, %yk {grid = [1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// Groups half as large: the first half of the scales, each for its half and that of the next.
// CHECK: @tgt_groups_halved: different at output
mirage_kernel.graph @tgt_groups_halved(%x: tensor<4x16xf16>, %w: tensor<16x6xi4>, %s: tensor<4x1x6xf16>, %z: tensor<4x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_groups} {
  %f = cast %w : tensor<16x6xi4> -> tensor<16x6xf16>
  %g = reshape %f : tensor<16x6xf16> -> tensor<8x2x6xf16>
  %s2 = repeat %s {dim = 0, times = 2} : tensor<4x1x6xf16>
  %z2 = repeat %z {dim = 0, times = 2} : tensor<4x1x6xf16>
  %c = sub %g, %z2 : tensor<8x2x6xf16>, tensor<8x1x6xf16>
  %d = mul %c, %s2 : tensor<8x2x6xf16>, tensor<8x1x6xf16>
  %b = reshape %d : tensor<8x2x6xf16> -> tensor<16x6xf16>
  %y = matmul %x, %b : tensor<4x16xf16>, tensor<16x6xf16>
  return %y : tensor<4x6xf16>
}

// Groups across the contraction: every fourth row.
// CHECK: @tgt_groups_strided: different at output
mirage_kernel.graph @tgt_groups_strided(%x: tensor<4x16xf16>, %w: tensor<16x6xi4>, %s: tensor<4x1x6xf16>, %z: tensor<4x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_groups} {
  %f = cast %w : tensor<16x6xi4> -> tensor<16x6xf16>
  %g = reshape %f : tensor<16x6xf16> -> tensor<4x4x6xf16>
  %s2 = reshape %s : tensor<4x1x6xf16> -> tensor<1x4x6xf16>
  %z2 = reshape %z : tensor<4x1x6xf16> -> tensor<1x4x6xf16>
  %c = sub %g, %z2 : tensor<4x4x6xf16>, tensor<1x4x6xf16>
  %d = mul %c, %s2 : tensor<4x4x6xf16>, tensor<1x4x6xf16>
  %b = reshape %d : tensor<4x4x6xf16> -> tensor<16x6xf16>
  %y = matmul %x, %b : tensor<4x16xf16>, tensor<16x6xf16>
  return %y : tensor<4x6xf16>
}

// Scaled before the zero point is taken off.
// CHECK: @tgt_groups_order: different at output
mirage_kernel.graph @tgt_groups_order(%x: tensor<4x16xf16>, %w: tensor<16x6xi4>, %s: tensor<4x1x6xf16>, %z: tensor<4x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_groups} {
  %f = cast %w : tensor<16x6xi4> -> tensor<16x6xf16>
  %g = reshape %f : tensor<16x6xf16> -> tensor<4x4x6xf16>
  %d = mul %g, %s : tensor<4x4x6xf16>, tensor<4x1x6xf16>
  %c = sub %d, %z : tensor<4x4x6xf16>, tensor<4x1x6xf16>
  %b = reshape %c : tensor<4x4x6xf16> -> tensor<16x6xf16>
  %y = matmul %x, %b : tensor<4x16xf16>, tensor<16x6xf16>
  return %y : tensor<4x6xf16>
}

// Neighbours of a byte exchanged.
// CHECK: @tgt_groups_nibbles: different at output
mirage_kernel.graph @tgt_groups_nibbles(%x: tensor<4x16xf16>, %w: tensor<16x6xi4>, %s: tensor<4x1x6xf16>, %z: tensor<4x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_groups} {
  %f = cast %w : tensor<16x6xi4> -> tensor<16x6xf16>
  %p = reshape %f : tensor<16x6xf16> -> tensor<48x2xf16>
  %p0 = slice %p {dim = 1, begin = 0, end = 1} : tensor<48x2xf16>
  %p1 = slice %p {dim = 1, begin = 1, end = 2} : tensor<48x2xf16>
  %q = concat %p1, %p0 {dim = 1} : tensor<48x1xf16>, tensor<48x1xf16>
  %g = reshape %q : tensor<48x2xf16> -> tensor<4x4x6xf16>
  %c = sub %g, %z : tensor<4x4x6xf16>, tensor<4x1x6xf16>
  %d = mul %c, %s : tensor<4x4x6xf16>, tensor<4x1x6xf16>
  %b = reshape %d : tensor<4x4x6xf16> -> tensor<16x6xf16>
  %y = matmul %x, %b : tensor<4x16xf16>, tensor<16x6xf16>
  return %y : tensor<4x6xf16>
}

// A loop that has moved on by one group.
// CHECK: @tgt_groups_late: different at output
mirage_kernel.graph @tgt_groups_late(%x: tensor<4x16xf16>, %w: tensor<16x6xi4>, %s: tensor<4x1x6xf16>, %z: tensor<4x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_groups} {
  %l = slice %s {dim = 0, begin = 1, end = 4} : tensor<4x1x6xf16>
  %m = slice %s {dim = 0, begin = 0, end = 1} : tensor<4x1x6xf16>
  %t = concat %l, %m {dim = 0} : tensor<3x1x6xf16>, tensor<1x1x6xf16>
  %f = cast %w : tensor<16x6xi4> -> tensor<16x6xf16>
  %g = reshape %f : tensor<16x6xf16> -> tensor<4x4x6xf16>
  %c = sub %g, %z : tensor<4x4x6xf16>, tensor<4x1x6xf16>
  %d = mul %c, %t : tensor<4x4x6xf16>, tensor<4x1x6xf16>
  %b = reshape %d : tensor<4x4x6xf16> -> tensor<16x6xf16>
  %y = matmul %x, %b : tensor<4x16xf16>, tensor<16x6xf16>
  return %y : tensor<4x6xf16>
}

mirage_kernel.graph @src_f8(%x: tensor<4x8xbf16>, %u: tensor<8x6xf8E4M3FN>, %v: tensor<8x6xf8E5M2>) -> tensor<4x6xbf16> {
  %a = cast %u : tensor<8x6xf8E4M3FN> -> tensor<8x6xbf16>
  %b = cast %v : tensor<8x6xf8E5M2> -> tensor<8x6xbf16>
  %p = matmul %x, %a : tensor<4x8xbf16>, tensor<8x6xbf16>
  %q = matmul %x, %b : tensor<4x8xbf16>, tensor<8x6xbf16>
  %y = mul %p, %q : tensor<4x6xbf16>, tensor<4x6xbf16>
  return %y : tensor<4x6xbf16>
}

// Side by side in one product.
// CHECK: @tgt_f8_together: equivalent to @src_f8;
mirage_kernel.graph @tgt_f8_together(%x: tensor<4x8xbf16>, %u: tensor<8x6xf8E4M3FN>, %v: tensor<8x6xf8E5M2>) -> tensor<4x6xbf16> attributes {source = @src_f8} {
  %a = cast %u : tensor<8x6xf8E4M3FN> -> tensor<8x6xbf16>
  %b = cast %v : tensor<8x6xf8E5M2> -> tensor<8x6xbf16>
  %w = concat %a, %b {dim = 1} : tensor<8x6xbf16>, tensor<8x6xbf16>
  %r = matmul %x, %w : tensor<4x8xbf16>, tensor<8x12xbf16>
  %p = slice %r {dim = 1, begin = 0, end = 6} : tensor<4x12xbf16>
  %q = slice %r {dim = 1, begin = 6, end = 12} : tensor<4x12xbf16>
  %y = mul %p, %q : tensor<4x6xbf16>, tensor<4x6xbf16>
  return %y : tensor<4x6xbf16>
}

// One of them twice.
// CHECK: @tgt_f8_same: different at output
mirage_kernel.graph @tgt_f8_same(%x: tensor<4x8xbf16>, %u: tensor<8x6xf8E4M3FN>, %v: tensor<8x6xf8E5M2>) -> tensor<4x6xbf16> attributes {source = @src_f8} {
  %a = cast %u : tensor<8x6xf8E4M3FN> -> tensor<8x6xbf16>
  %p = matmul %x, %a : tensor<4x8xbf16>, tensor<8x6xbf16>
  %y = mul %p, %p : tensor<4x6xbf16>, tensor<4x6xbf16>
  return %y : tensor<4x6xbf16>
}

// Added instead.
// CHECK: @tgt_f8_added: different at output
mirage_kernel.graph @tgt_f8_added(%x: tensor<4x8xbf16>, %u: tensor<8x6xf8E4M3FN>, %v: tensor<8x6xf8E5M2>) -> tensor<4x6xbf16> attributes {source = @src_f8} {
  %a = cast %u : tensor<8x6xf8E4M3FN> -> tensor<8x6xbf16>
  %b = cast %v : tensor<8x6xf8E5M2> -> tensor<8x6xbf16>
  %w = add %a, %b : tensor<8x6xbf16>, tensor<8x6xbf16>
  %y = matmul %x, %w : tensor<4x8xbf16>, tensor<8x6xbf16>
  return %y : tensor<4x6xbf16>
}
