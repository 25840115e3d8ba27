// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// What a smaller instance must not confuse: extents, constants that are or resemble extents, polynomials in extents, sums
// over broadcast axes, moments that fewer points cannot tell apart, last parts that are empty or have one element.

mirage_kernel.graph @src_mean(%x: tensor<8x4096xf32>, %z: tensor<8x3xf32>) -> tensor<8x1xf32> {
  %m = reduce_mean %x {dim = 1} : tensor<8x4096xf32>
  %s = reduce_sum %z {dim = 1} : tensor<8x3xf32>
  %r = mul %m, %s : tensor<8x1xf32>, tensor<8x1xf32>
  return %r : tensor<8x1xf32>
}

// CHECK: @tgt_mean_count: equivalent to @src_mean;
mirage_kernel.graph @tgt_mean_count(%x: tensor<8x4096xf32>, %z: tensor<8x3xf32>) -> tensor<8x1xf32> attributes {source = @src_mean} {
  %t = reduce_sum %x {dim = 1} : tensor<8x4096xf32>
  %c = constant 4096.0 : tensor<f32>
  %m = div %t, %c : tensor<8x1xf32>, tensor<f32>
  %s = reduce_sum %z {dim = 1} : tensor<8x3xf32>
  %r = mul %m, %s : tensor<8x1xf32>, tensor<8x1xf32>
  return %r : tensor<8x1xf32>
}

// The constant is the extent of the axis beside it.
// CHECK: @tgt_mean_other_axis: different at output
mirage_kernel.graph @tgt_mean_other_axis(%x: tensor<8x4096xf32>, %z: tensor<8x3xf32>) -> tensor<8x1xf32> attributes {source = @src_mean} {
  %t = reduce_sum %x {dim = 1} : tensor<8x4096xf32>
  %c = constant 3.0 : tensor<f32>
  %m = div %t, %c : tensor<8x1xf32>, tensor<f32>
  %s = reduce_sum %z {dim = 1} : tensor<8x3xf32>
  %r = mul %m, %s : tensor<8x1xf32>, tensor<8x1xf32>
  return %r : tensor<8x1xf32>
}

// CHECK: @tgt_mean_rows: different at output
mirage_kernel.graph @tgt_mean_rows(%x: tensor<8x4096xf32>, %z: tensor<8x3xf32>) -> tensor<8x1xf32> attributes {source = @src_mean} {
  %t = reduce_sum %x {dim = 1} : tensor<8x4096xf32>
  %c = constant 8.0 : tensor<f32>
  %m = div %t, %c : tensor<8x1xf32>, tensor<f32>
  %s = reduce_sum %z {dim = 1} : tensor<8x3xf32>
  %r = mul %m, %s : tensor<8x1xf32>, tensor<8x1xf32>
  return %r : tensor<8x1xf32>
}

// CHECK: @tgt_mean_near: different at output
mirage_kernel.graph @tgt_mean_near(%x: tensor<8x4096xf32>, %z: tensor<8x3xf32>) -> tensor<8x1xf32> attributes {source = @src_mean} {
  %t = reduce_sum %x {dim = 1} : tensor<8x4096xf32>
  %c = constant 4096.25 : tensor<f32>
  %m = div %t, %c : tensor<8x1xf32>, tensor<f32>
  %s = reduce_sum %z {dim = 1} : tensor<8x3xf32>
  %r = mul %m, %s : tensor<8x1xf32>, tensor<8x1xf32>
  return %r : tensor<8x1xf32>
}

// 4096 and a multiple of 65537 more.
// CHECK: @tgt_mean_modulo: different at output
mirage_kernel.graph @tgt_mean_modulo(%x: tensor<8x4096xf32>, %z: tensor<8x3xf32>) -> tensor<8x1xf32> attributes {source = @src_mean} {
  %t = reduce_sum %x {dim = 1} : tensor<8x4096xf32>
  %c = constant 69633.0 : tensor<f32>
  %m = div %t, %c : tensor<8x1xf32>, tensor<f32>
  %s = reduce_sum %z {dim = 1} : tensor<8x3xf32>
  %r = mul %m, %s : tensor<8x1xf32>, tensor<8x1xf32>
  return %r : tensor<8x1xf32>
}

mirage_kernel.graph @src_multiple(%x: tensor<64x128xf32>) -> tensor<64x1xf32> {
  %m = reduce_mean %x {dim = 1} : tensor<64x128xf32>
  return %m : tensor<64x1xf32>
}

// CHECK: @tgt_multiple_right: equivalent to @src_multiple;
mirage_kernel.graph @tgt_multiple_right(%x: tensor<64x128xf32>) -> tensor<64x1xf32> attributes {source = @src_multiple} {
  %t = reduce_sum %x {dim = 1} : tensor<64x128xf32>
  %c = constant 128.0 : tensor<f32>
  %m = div %t, %c : tensor<64x1xf32>, tensor<f32>
  return %m : tensor<64x1xf32>
}

// CHECK: @tgt_multiple_half: different at output
mirage_kernel.graph @tgt_multiple_half(%x: tensor<64x128xf32>) -> tensor<64x1xf32> attributes {source = @src_multiple} {
  %t = reduce_sum %x {dim = 1} : tensor<64x128xf32>
  %c = constant 64.0 : tensor<f32>
  %m = div %t, %c : tensor<64x1xf32>, tensor<f32>
  return %m : tensor<64x1xf32>
}

mirage_kernel.graph @src_coprime(%x: tensor<35x64xf32>) -> tensor<35x1xf32> {
  %m = reduce_mean %x {dim = 1} : tensor<35x64xf32>
  return %m : tensor<35x1xf32>
}

// CHECK: @tgt_coprime_right: equivalent to @src_coprime;
mirage_kernel.graph @tgt_coprime_right(%x: tensor<35x64xf32>) -> tensor<35x1xf32> attributes {source = @src_coprime} {
  %t = reduce_sum %x {dim = 1} : tensor<35x64xf32>
  %c = constant 64.0 : tensor<f32>
  %m = div %t, %c : tensor<35x1xf32>, tensor<f32>
  return %m : tensor<35x1xf32>
}

// CHECK: @tgt_coprime_other: different at output
mirage_kernel.graph @tgt_coprime_other(%x: tensor<35x64xf32>) -> tensor<35x1xf32> attributes {source = @src_coprime} {
  %t = reduce_sum %x {dim = 1} : tensor<35x64xf32>
  %c = constant 35.0 : tensor<f32>
  %m = div %t, %c : tensor<35x1xf32>, tensor<f32>
  return %m : tensor<35x1xf32>
}

mirage_kernel.graph @src_square(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %m = reduce_mean %x {dim = 1} : tensor<64x64xf32>
  %r = sub %x, %m : tensor<64x64xf32>, tensor<64x1xf32>
  return %r : tensor<64x64xf32>
}

// CHECK: @tgt_square_sum: equivalent to @src_square;
mirage_kernel.graph @tgt_square_sum(%x: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {source = @src_square} {
  %t = reduce_sum %x {dim = 1} : tensor<64x64xf32>
  %c = constant 0.015625 : tensor<f32>
  %m = mul %t, %c : tensor<64x1xf32>, tensor<f32>
  %r = sub %x, %m : tensor<64x64xf32>, tensor<64x1xf32>
  return %r : tensor<64x64xf32>
}

// Rows and columns have one extent.
// CHECK: @tgt_square_columns: different at output
mirage_kernel.graph @tgt_square_columns(%x: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {source = @src_square} {
  %m = reduce_mean %x {dim = 0} : tensor<64x64xf32>
  %r = sub %x, %m : tensor<64x64xf32>, tensor<1x64xf32>
  return %r : tensor<64x64xf32>
}

mirage_kernel.graph @src_scaled(%x: tensor<8x4096xf32>) -> tensor<8x1xf32> {
  %c = constant 4096.0 : tensor<f32>
  %s = mul %x, %c : tensor<8x4096xf32>, tensor<f32>
  %m = reduce_mean %s {dim = 1} : tensor<8x4096xf32>
  return %m : tensor<8x1xf32>
}

// The scale is the extent by chance, and cancels its count.
// CHECK: @tgt_scaled_sum: equivalent to @src_scaled;
mirage_kernel.graph @tgt_scaled_sum(%x: tensor<8x4096xf32>) -> tensor<8x1xf32> attributes {source = @src_scaled} {
  %t = reduce_sum %x {dim = 1} : tensor<8x4096xf32>
  return %t : tensor<8x1xf32>
}

// CHECK: @tgt_scaled_mean: different at output
mirage_kernel.graph @tgt_scaled_mean(%x: tensor<8x4096xf32>) -> tensor<8x1xf32> attributes {source = @src_scaled} {
  %t = reduce_mean %x {dim = 1} : tensor<8x4096xf32>
  return %t : tensor<8x1xf32>
}

mirage_kernel.graph @src_broadcast(%x: tensor<16x3xf32>, %w: tensor<16x1xf32>) -> tensor<16x1xf32> {
  %p = mul %x, %w : tensor<16x3xf32>, tensor<16x1xf32>
  %q = add %p, %w : tensor<16x3xf32>, tensor<16x1xf32>
  %s = reduce_sum %q {dim = 1} : tensor<16x3xf32>
  return %s : tensor<16x1xf32>
}

// CHECK: @tgt_broadcast_thrice: equivalent to @src_broadcast;
mirage_kernel.graph @tgt_broadcast_thrice(%x: tensor<16x3xf32>, %w: tensor<16x1xf32>) -> tensor<16x1xf32> attributes {source = @src_broadcast} {
  %p = mul %x, %w : tensor<16x3xf32>, tensor<16x1xf32>
  %s = reduce_sum %p {dim = 1} : tensor<16x3xf32>
  %c = constant 3.0 : tensor<f32>
  %m = mul %w, %c : tensor<16x1xf32>, tensor<f32>
  %r = add %s, %m : tensor<16x1xf32>, tensor<16x1xf32>
  return %r : tensor<16x1xf32>
}

// CHECK: @tgt_broadcast_twice: different at output
mirage_kernel.graph @tgt_broadcast_twice(%x: tensor<16x3xf32>, %w: tensor<16x1xf32>) -> tensor<16x1xf32> attributes {source = @src_broadcast} {
  %p = mul %x, %w : tensor<16x3xf32>, tensor<16x1xf32>
  %s = reduce_sum %p {dim = 1} : tensor<16x3xf32>
  %c = constant 2.0 : tensor<f32>
  %m = mul %w, %c : tensor<16x1xf32>, tensor<f32>
  %r = add %s, %m : tensor<16x1xf32>, tensor<16x1xf32>
  return %r : tensor<16x1xf32>
}

mirage_kernel.graph @src_wide(%x: tensor<16x500xf32>, %w: tensor<16x1xf32>) -> tensor<16x1xf32> {
  %q = add %x, %w : tensor<16x500xf32>, tensor<16x1xf32>
  %s = reduce_sum %q {dim = 1} : tensor<16x500xf32>
  return %s : tensor<16x1xf32>
}

// CHECK: @tgt_wide_all: equivalent to @src_wide;
mirage_kernel.graph @tgt_wide_all(%x: tensor<16x500xf32>, %w: tensor<16x1xf32>) -> tensor<16x1xf32> attributes {source = @src_wide} {
  %s = reduce_sum %x {dim = 1} : tensor<16x500xf32>
  %c = constant 500.0 : tensor<f32>
  %m = mul %w, %c : tensor<16x1xf32>, tensor<f32>
  %r = add %s, %m : tensor<16x1xf32>, tensor<16x1xf32>
  return %r : tensor<16x1xf32>
}

// CHECK: @tgt_wide_less: different at output
mirage_kernel.graph @tgt_wide_less(%x: tensor<16x500xf32>, %w: tensor<16x1xf32>) -> tensor<16x1xf32> attributes {source = @src_wide} {
  %s = reduce_sum %x {dim = 1} : tensor<16x500xf32>
  %c = constant 499.0 : tensor<f32>
  %m = mul %w, %c : tensor<16x1xf32>, tensor<f32>
  %r = add %s, %m : tensor<16x1xf32>, tensor<16x1xf32>
  return %r : tensor<16x1xf32>
}

// As many as a smaller instance has.
// CHECK: @tgt_wide_points: different at output
mirage_kernel.graph @tgt_wide_points(%x: tensor<16x500xf32>, %w: tensor<16x1xf32>) -> tensor<16x1xf32> attributes {source = @src_wide} {
  %s = reduce_sum %x {dim = 1} : tensor<16x500xf32>
  %c = constant 2.0 : tensor<f32>
  %m = mul %w, %c : tensor<16x1xf32>, tensor<f32>
  %r = add %s, %m : tensor<16x1xf32>, tensor<16x1xf32>
  return %r : tensor<16x1xf32>
}

mirage_kernel.graph @src_extent(%y: tensor<500x64xf32>) -> tensor<500x64xf32> {
  %c = constant 1.0 : tensor<f32>
  %r = mul %y, %c : tensor<500x64xf32>, tensor<f32>
  return %r : tensor<500x64xf32>
}

// 1 + (s - 2) (s - 3), s the number of rows: right where there are 2 or 3.
// CHECK: @tgt_extent_small_roots: different at output
mirage_kernel.graph @tgt_extent_small_roots(%y: tensor<500x64xf32>) -> tensor<500x64xf32> attributes {source = @src_extent} {
  %z = sub %y, %y : tensor<500x64xf32>, tensor<500x64xf32>
  %e = exp %z : tensor<500x64xf32>
  %s = reduce_sum %e {dim = 0} : tensor<500x64xf32>
  %one = constant 1.0 : tensor<f32>
  %k0 = constant 2.0 : tensor<f32>
  %a0 = sub %s, %k0 : tensor<1x64xf32>, tensor<f32>
  %k1 = constant 3.0 : tensor<f32>
  %a1 = sub %s, %k1 : tensor<1x64xf32>, tensor<f32>
  %p1 = mul %a0, %a1 : tensor<1x64xf32>, tensor<1x64xf32>
  %f = add %p1, %one : tensor<1x64xf32>, tensor<f32>
  %r = mul %y, %f : tensor<500x64xf32>, tensor<1x64xf32>
  return %r : tensor<500x64xf32>
}

// CHECK: @tgt_extent_more_roots: different at output
mirage_kernel.graph @tgt_extent_more_roots(%y: tensor<500x64xf32>) -> tensor<500x64xf32> attributes {source = @src_extent} {
  %z = sub %y, %y : tensor<500x64xf32>, tensor<500x64xf32>
  %e = exp %z : tensor<500x64xf32>
  %s = reduce_sum %e {dim = 0} : tensor<500x64xf32>
  %one = constant 1.0 : tensor<f32>
  %k0 = constant 2.0 : tensor<f32>
  %a0 = sub %s, %k0 : tensor<1x64xf32>, tensor<f32>
  %k1 = constant 3.0 : tensor<f32>
  %a1 = sub %s, %k1 : tensor<1x64xf32>, tensor<f32>
  %p1 = mul %a0, %a1 : tensor<1x64xf32>, tensor<1x64xf32>
  %k2 = constant 4.0 : tensor<f32>
  %a2 = sub %s, %k2 : tensor<1x64xf32>, tensor<f32>
  %p2 = mul %p1, %a2 : tensor<1x64xf32>, tensor<1x64xf32>
  %k3 = constant 5.0 : tensor<f32>
  %a3 = sub %s, %k3 : tensor<1x64xf32>, tensor<f32>
  %p3 = mul %p2, %a3 : tensor<1x64xf32>, tensor<1x64xf32>
  %k4 = constant 6.0 : tensor<f32>
  %a4 = sub %s, %k4 : tensor<1x64xf32>, tensor<f32>
  %p4 = mul %p3, %a4 : tensor<1x64xf32>, tensor<1x64xf32>
  %k5 = constant 7.0 : tensor<f32>
  %a5 = sub %s, %k5 : tensor<1x64xf32>, tensor<f32>
  %p5 = mul %p4, %a5 : tensor<1x64xf32>, tensor<1x64xf32>
  %f = add %p5, %one : tensor<1x64xf32>, tensor<f32>
  %r = mul %y, %f : tensor<500x64xf32>, tensor<1x64xf32>
  return %r : tensor<500x64xf32>
}

// CHECK: @tgt_extent_columns: different at output
mirage_kernel.graph @tgt_extent_columns(%y: tensor<500x64xf32>) -> tensor<500x64xf32> attributes {source = @src_extent} {
  %z = sub %y, %y : tensor<500x64xf32>, tensor<500x64xf32>
  %e = exp %z : tensor<500x64xf32>
  %s = reduce_sum %e {dim = 0} : tensor<500x64xf32>
  %one = constant 1.0 : tensor<f32>
  %k0 = constant 64.0 : tensor<f32>
  %a0 = sub %s, %k0 : tensor<1x64xf32>, tensor<f32>
  %k1 = constant 2.0 : tensor<f32>
  %a1 = sub %s, %k1 : tensor<1x64xf32>, tensor<f32>
  %p1 = mul %a0, %a1 : tensor<1x64xf32>, tensor<1x64xf32>
  %f = add %p1, %one : tensor<1x64xf32>, tensor<f32>
  %r = mul %y, %f : tensor<500x64xf32>, tensor<1x64xf32>
  return %r : tensor<500x64xf32>
}

// CHECK: @tgt_extent_root: equivalent to @src_extent;
mirage_kernel.graph @tgt_extent_root(%y: tensor<500x64xf32>) -> tensor<500x64xf32> attributes {source = @src_extent} {
  %z = sub %y, %y : tensor<500x64xf32>, tensor<500x64xf32>
  %e = exp %z : tensor<500x64xf32>
  %s = reduce_sum %e {dim = 0} : tensor<500x64xf32>
  %one = constant 1.0 : tensor<f32>
  %k0 = constant 500.0 : tensor<f32>
  %a0 = sub %s, %k0 : tensor<1x64xf32>, tensor<f32>
  %f = add %a0, %one : tensor<1x64xf32>, tensor<f32>
  %r = mul %y, %f : tensor<500x64xf32>, tensor<1x64xf32>
  return %r : tensor<500x64xf32>
}

// It vanishes where it has to.
// CHECK: @tgt_extent_two_roots: equivalent to @src_extent;
mirage_kernel.graph @tgt_extent_two_roots(%y: tensor<500x64xf32>) -> tensor<500x64xf32> attributes {source = @src_extent} {
  %z = sub %y, %y : tensor<500x64xf32>, tensor<500x64xf32>
  %e = exp %z : tensor<500x64xf32>
  %s = reduce_sum %e {dim = 0} : tensor<500x64xf32>
  %one = constant 1.0 : tensor<f32>
  %k0 = constant 2.0 : tensor<f32>
  %a0 = sub %s, %k0 : tensor<1x64xf32>, tensor<f32>
  %k1 = constant 500.0 : tensor<f32>
  %a1 = sub %s, %k1 : tensor<1x64xf32>, tensor<f32>
  %p1 = mul %a0, %a1 : tensor<1x64xf32>, tensor<1x64xf32>
  %f = add %p1, %one : tensor<1x64xf32>, tensor<f32>
  %r = mul %y, %f : tensor<500x64xf32>, tensor<1x64xf32>
  return %r : tensor<500x64xf32>
}

mirage_kernel.graph @src_moments(%x: tensor<4x64xf32>) -> tensor<4x1xf32> {
  %s = reduce_sum %x {dim = 1} : tensor<4x64xf32>
  return %s : tensor<4x1xf32>
}

// The determinant of moments p0 .. p2k-2 vanishes at fewer than k points, weighted or not.
// CHECK: @tgt_moments_order_2: different at output
mirage_kernel.graph @tgt_moments_order_2(%x: tensor<4x64xf32>) -> tensor<4x1xf32> attributes {source = @src_moments} {
  %z = sub %x, %x : tensor<4x64xf32>, tensor<4x64xf32>
  %q0 = exp %z : tensor<4x64xf32>
  %q1 = mul %x, %q0 : tensor<4x64xf32>, tensor<4x64xf32>
  %q2 = mul %q1, %x : tensor<4x64xf32>, tensor<4x64xf32>
  %p0 = reduce_sum %q0 {dim = 1} : tensor<4x64xf32>
  %p1 = reduce_sum %q1 {dim = 1} : tensor<4x64xf32>
  %p2 = reduce_sum %q2 {dim = 1} : tensor<4x64xf32>
  %t1 = mul %p0, %p2 : tensor<4x1xf32>, tensor<4x1xf32>
  %t2 = mul %p1, %p1 : tensor<4x1xf32>, tensor<4x1xf32>
  %t3 = sub %t1, %t2 : tensor<4x1xf32>, tensor<4x1xf32>
  %r = add %p1, %t3 : tensor<4x1xf32>, tensor<4x1xf32>
  return %r : tensor<4x1xf32>
}

// CHECK: @tgt_moments_order_3: different at output
mirage_kernel.graph @tgt_moments_order_3(%x: tensor<4x64xf32>) -> tensor<4x1xf32> attributes {source = @src_moments} {
  %z = sub %x, %x : tensor<4x64xf32>, tensor<4x64xf32>
  %q0 = exp %z : tensor<4x64xf32>
  %q1 = mul %x, %q0 : tensor<4x64xf32>, tensor<4x64xf32>
  %q2 = mul %q1, %x : tensor<4x64xf32>, tensor<4x64xf32>
  %q3 = mul %q2, %x : tensor<4x64xf32>, tensor<4x64xf32>
  %q4 = mul %q3, %x : tensor<4x64xf32>, tensor<4x64xf32>
  %p0 = reduce_sum %q0 {dim = 1} : tensor<4x64xf32>
  %p1 = reduce_sum %q1 {dim = 1} : tensor<4x64xf32>
  %p2 = reduce_sum %q2 {dim = 1} : tensor<4x64xf32>
  %p3 = reduce_sum %q3 {dim = 1} : tensor<4x64xf32>
  %p4 = reduce_sum %q4 {dim = 1} : tensor<4x64xf32>
  %t1 = mul %p2, %p4 : tensor<4x1xf32>, tensor<4x1xf32>
  %t2 = mul %p3, %p3 : tensor<4x1xf32>, tensor<4x1xf32>
  %t3 = sub %t1, %t2 : tensor<4x1xf32>, tensor<4x1xf32>
  %t4 = mul %p0, %t3 : tensor<4x1xf32>, tensor<4x1xf32>
  %t5 = mul %p1, %p4 : tensor<4x1xf32>, tensor<4x1xf32>
  %t6 = mul %p3, %p2 : tensor<4x1xf32>, tensor<4x1xf32>
  %t7 = sub %t5, %t6 : tensor<4x1xf32>, tensor<4x1xf32>
  %t8 = mul %p1, %t7 : tensor<4x1xf32>, tensor<4x1xf32>
  %t9 = sub %t4, %t8 : tensor<4x1xf32>, tensor<4x1xf32>
  %t10 = mul %p1, %p3 : tensor<4x1xf32>, tensor<4x1xf32>
  %t11 = mul %p2, %p2 : tensor<4x1xf32>, tensor<4x1xf32>
  %t12 = sub %t10, %t11 : tensor<4x1xf32>, tensor<4x1xf32>
  %t13 = mul %p2, %t12 : tensor<4x1xf32>, tensor<4x1xf32>
  %t14 = add %t9, %t13 : tensor<4x1xf32>, tensor<4x1xf32>
  %r = add %p1, %t14 : tensor<4x1xf32>, tensor<4x1xf32>
  return %r : tensor<4x1xf32>
}

// CHECK: @tgt_moments_order_4: different at output
mirage_kernel.graph @tgt_moments_order_4(%x: tensor<4x64xf32>) -> tensor<4x1xf32> attributes {source = @src_moments} {
  %z = sub %x, %x : tensor<4x64xf32>, tensor<4x64xf32>
  %q0 = exp %z : tensor<4x64xf32>
  %q1 = mul %x, %q0 : tensor<4x64xf32>, tensor<4x64xf32>
  %q2 = mul %q1, %x : tensor<4x64xf32>, tensor<4x64xf32>
  %q3 = mul %q2, %x : tensor<4x64xf32>, tensor<4x64xf32>
  %q4 = mul %q3, %x : tensor<4x64xf32>, tensor<4x64xf32>
  %q5 = mul %q4, %x : tensor<4x64xf32>, tensor<4x64xf32>
  %q6 = mul %q5, %x : tensor<4x64xf32>, tensor<4x64xf32>
  %p0 = reduce_sum %q0 {dim = 1} : tensor<4x64xf32>
  %p1 = reduce_sum %q1 {dim = 1} : tensor<4x64xf32>
  %p2 = reduce_sum %q2 {dim = 1} : tensor<4x64xf32>
  %p3 = reduce_sum %q3 {dim = 1} : tensor<4x64xf32>
  %p4 = reduce_sum %q4 {dim = 1} : tensor<4x64xf32>
  %p5 = reduce_sum %q5 {dim = 1} : tensor<4x64xf32>
  %p6 = reduce_sum %q6 {dim = 1} : tensor<4x64xf32>
  %t1 = mul %p4, %p6 : tensor<4x1xf32>, tensor<4x1xf32>
  %t2 = mul %p5, %p5 : tensor<4x1xf32>, tensor<4x1xf32>
  %t3 = sub %t1, %t2 : tensor<4x1xf32>, tensor<4x1xf32>
  %t4 = mul %p2, %t3 : tensor<4x1xf32>, tensor<4x1xf32>
  %t5 = mul %p3, %p6 : tensor<4x1xf32>, tensor<4x1xf32>
  %t6 = mul %p5, %p4 : tensor<4x1xf32>, tensor<4x1xf32>
  %t7 = sub %t5, %t6 : tensor<4x1xf32>, tensor<4x1xf32>
  %t8 = mul %p3, %t7 : tensor<4x1xf32>, tensor<4x1xf32>
  %t9 = sub %t4, %t8 : tensor<4x1xf32>, tensor<4x1xf32>
  %t10 = mul %p3, %p5 : tensor<4x1xf32>, tensor<4x1xf32>
  %t11 = mul %p4, %p4 : tensor<4x1xf32>, tensor<4x1xf32>
  %t12 = sub %t10, %t11 : tensor<4x1xf32>, tensor<4x1xf32>
  %t13 = mul %p4, %t12 : tensor<4x1xf32>, tensor<4x1xf32>
  %t14 = add %t9, %t13 : tensor<4x1xf32>, tensor<4x1xf32>
  %t15 = mul %p0, %t14 : tensor<4x1xf32>, tensor<4x1xf32>
  %t16 = mul %p4, %p6 : tensor<4x1xf32>, tensor<4x1xf32>
  %t17 = mul %p5, %p5 : tensor<4x1xf32>, tensor<4x1xf32>
  %t18 = sub %t16, %t17 : tensor<4x1xf32>, tensor<4x1xf32>
  %t19 = mul %p1, %t18 : tensor<4x1xf32>, tensor<4x1xf32>
  %t20 = mul %p2, %p6 : tensor<4x1xf32>, tensor<4x1xf32>
  %t21 = mul %p5, %p3 : tensor<4x1xf32>, tensor<4x1xf32>
  %t22 = sub %t20, %t21 : tensor<4x1xf32>, tensor<4x1xf32>
  %t23 = mul %p3, %t22 : tensor<4x1xf32>, tensor<4x1xf32>
  %t24 = sub %t19, %t23 : tensor<4x1xf32>, tensor<4x1xf32>
  %t25 = mul %p2, %p5 : tensor<4x1xf32>, tensor<4x1xf32>
  %t26 = mul %p4, %p3 : tensor<4x1xf32>, tensor<4x1xf32>
  %t27 = sub %t25, %t26 : tensor<4x1xf32>, tensor<4x1xf32>
  %t28 = mul %p4, %t27 : tensor<4x1xf32>, tensor<4x1xf32>
  %t29 = add %t24, %t28 : tensor<4x1xf32>, tensor<4x1xf32>
  %t30 = mul %p1, %t29 : tensor<4x1xf32>, tensor<4x1xf32>
  %t31 = sub %t15, %t30 : tensor<4x1xf32>, tensor<4x1xf32>
  %t32 = mul %p3, %p6 : tensor<4x1xf32>, tensor<4x1xf32>
  %t33 = mul %p5, %p4 : tensor<4x1xf32>, tensor<4x1xf32>
  %t34 = sub %t32, %t33 : tensor<4x1xf32>, tensor<4x1xf32>
  %t35 = mul %p1, %t34 : tensor<4x1xf32>, tensor<4x1xf32>
  %t36 = mul %p2, %p6 : tensor<4x1xf32>, tensor<4x1xf32>
  %t37 = mul %p5, %p3 : tensor<4x1xf32>, tensor<4x1xf32>
  %t38 = sub %t36, %t37 : tensor<4x1xf32>, tensor<4x1xf32>
  %t39 = mul %p2, %t38 : tensor<4x1xf32>, tensor<4x1xf32>
  %t40 = sub %t35, %t39 : tensor<4x1xf32>, tensor<4x1xf32>
  %t41 = mul %p2, %p4 : tensor<4x1xf32>, tensor<4x1xf32>
  %t42 = mul %p3, %p3 : tensor<4x1xf32>, tensor<4x1xf32>
  %t43 = sub %t41, %t42 : tensor<4x1xf32>, tensor<4x1xf32>
  %t44 = mul %p4, %t43 : tensor<4x1xf32>, tensor<4x1xf32>
  %t45 = add %t40, %t44 : tensor<4x1xf32>, tensor<4x1xf32>
  %t46 = mul %p2, %t45 : tensor<4x1xf32>, tensor<4x1xf32>
  %t47 = add %t31, %t46 : tensor<4x1xf32>, tensor<4x1xf32>
  %t48 = mul %p3, %p5 : tensor<4x1xf32>, tensor<4x1xf32>
  %t49 = mul %p4, %p4 : tensor<4x1xf32>, tensor<4x1xf32>
  %t50 = sub %t48, %t49 : tensor<4x1xf32>, tensor<4x1xf32>
  %t51 = mul %p1, %t50 : tensor<4x1xf32>, tensor<4x1xf32>
  %t52 = mul %p2, %p5 : tensor<4x1xf32>, tensor<4x1xf32>
  %t53 = mul %p4, %p3 : tensor<4x1xf32>, tensor<4x1xf32>
  %t54 = sub %t52, %t53 : tensor<4x1xf32>, tensor<4x1xf32>
  %t55 = mul %p2, %t54 : tensor<4x1xf32>, tensor<4x1xf32>
  %t56 = sub %t51, %t55 : tensor<4x1xf32>, tensor<4x1xf32>
  %t57 = mul %p2, %p4 : tensor<4x1xf32>, tensor<4x1xf32>
  %t58 = mul %p3, %p3 : tensor<4x1xf32>, tensor<4x1xf32>
  %t59 = sub %t57, %t58 : tensor<4x1xf32>, tensor<4x1xf32>
  %t60 = mul %p3, %t59 : tensor<4x1xf32>, tensor<4x1xf32>
  %t61 = add %t56, %t60 : tensor<4x1xf32>, tensor<4x1xf32>
  %t62 = mul %p3, %t61 : tensor<4x1xf32>, tensor<4x1xf32>
  %t63 = sub %t47, %t62 : tensor<4x1xf32>, tensor<4x1xf32>
  %r = add %p1, %t63 : tensor<4x1xf32>, tensor<4x1xf32>
  return %r : tensor<4x1xf32>
}

mirage_kernel.graph @src_two_points(%x: tensor<4x2xf32>) -> tensor<4x1xf32> {
  %s = reduce_sum %x {dim = 1} : tensor<4x2xf32>
  return %s : tensor<4x1xf32>
}

// CHECK: @tgt_two_points_order_2: different at output
mirage_kernel.graph @tgt_two_points_order_2(%x: tensor<4x2xf32>) -> tensor<4x1xf32> attributes {source = @src_two_points} {
  %z = sub %x, %x : tensor<4x2xf32>, tensor<4x2xf32>
  %q0 = exp %z : tensor<4x2xf32>
  %q1 = mul %x, %q0 : tensor<4x2xf32>, tensor<4x2xf32>
  %q2 = mul %q1, %x : tensor<4x2xf32>, tensor<4x2xf32>
  %p0 = reduce_sum %q0 {dim = 1} : tensor<4x2xf32>
  %p1 = reduce_sum %q1 {dim = 1} : tensor<4x2xf32>
  %p2 = reduce_sum %q2 {dim = 1} : tensor<4x2xf32>
  %t1 = mul %p0, %p2 : tensor<4x1xf32>, tensor<4x1xf32>
  %t2 = mul %p1, %p1 : tensor<4x1xf32>, tensor<4x1xf32>
  %t3 = sub %t1, %t2 : tensor<4x1xf32>, tensor<4x1xf32>
  %r = add %p1, %t3 : tensor<4x1xf32>, tensor<4x1xf32>
  return %r : tensor<4x1xf32>
}

// CHECK: @tgt_two_points_order_3: equivalent to @src_two_points;
mirage_kernel.graph @tgt_two_points_order_3(%x: tensor<4x2xf32>) -> tensor<4x1xf32> attributes {source = @src_two_points} {
  %z = sub %x, %x : tensor<4x2xf32>, tensor<4x2xf32>
  %q0 = exp %z : tensor<4x2xf32>
  %q1 = mul %x, %q0 : tensor<4x2xf32>, tensor<4x2xf32>
  %q2 = mul %q1, %x : tensor<4x2xf32>, tensor<4x2xf32>
  %q3 = mul %q2, %x : tensor<4x2xf32>, tensor<4x2xf32>
  %q4 = mul %q3, %x : tensor<4x2xf32>, tensor<4x2xf32>
  %p0 = reduce_sum %q0 {dim = 1} : tensor<4x2xf32>
  %p1 = reduce_sum %q1 {dim = 1} : tensor<4x2xf32>
  %p2 = reduce_sum %q2 {dim = 1} : tensor<4x2xf32>
  %p3 = reduce_sum %q3 {dim = 1} : tensor<4x2xf32>
  %p4 = reduce_sum %q4 {dim = 1} : tensor<4x2xf32>
  %t1 = mul %p2, %p4 : tensor<4x1xf32>, tensor<4x1xf32>
  %t2 = mul %p3, %p3 : tensor<4x1xf32>, tensor<4x1xf32>
  %t3 = sub %t1, %t2 : tensor<4x1xf32>, tensor<4x1xf32>
  %t4 = mul %p0, %t3 : tensor<4x1xf32>, tensor<4x1xf32>
  %t5 = mul %p1, %p4 : tensor<4x1xf32>, tensor<4x1xf32>
  %t6 = mul %p3, %p2 : tensor<4x1xf32>, tensor<4x1xf32>
  %t7 = sub %t5, %t6 : tensor<4x1xf32>, tensor<4x1xf32>
  %t8 = mul %p1, %t7 : tensor<4x1xf32>, tensor<4x1xf32>
  %t9 = sub %t4, %t8 : tensor<4x1xf32>, tensor<4x1xf32>
  %t10 = mul %p1, %p3 : tensor<4x1xf32>, tensor<4x1xf32>
  %t11 = mul %p2, %p2 : tensor<4x1xf32>, tensor<4x1xf32>
  %t12 = sub %t10, %t11 : tensor<4x1xf32>, tensor<4x1xf32>
  %t13 = mul %p2, %t12 : tensor<4x1xf32>, tensor<4x1xf32>
  %t14 = add %t9, %t13 : tensor<4x1xf32>, tensor<4x1xf32>
  %r = add %p1, %t14 : tensor<4x1xf32>, tensor<4x1xf32>
  return %r : tensor<4x1xf32>
}

// CHECK: @tgt_two_points_order_4: equivalent to @src_two_points;
mirage_kernel.graph @tgt_two_points_order_4(%x: tensor<4x2xf32>) -> tensor<4x1xf32> attributes {source = @src_two_points} {
  %z = sub %x, %x : tensor<4x2xf32>, tensor<4x2xf32>
  %q0 = exp %z : tensor<4x2xf32>
  %q1 = mul %x, %q0 : tensor<4x2xf32>, tensor<4x2xf32>
  %q2 = mul %q1, %x : tensor<4x2xf32>, tensor<4x2xf32>
  %q3 = mul %q2, %x : tensor<4x2xf32>, tensor<4x2xf32>
  %q4 = mul %q3, %x : tensor<4x2xf32>, tensor<4x2xf32>
  %q5 = mul %q4, %x : tensor<4x2xf32>, tensor<4x2xf32>
  %q6 = mul %q5, %x : tensor<4x2xf32>, tensor<4x2xf32>
  %p0 = reduce_sum %q0 {dim = 1} : tensor<4x2xf32>
  %p1 = reduce_sum %q1 {dim = 1} : tensor<4x2xf32>
  %p2 = reduce_sum %q2 {dim = 1} : tensor<4x2xf32>
  %p3 = reduce_sum %q3 {dim = 1} : tensor<4x2xf32>
  %p4 = reduce_sum %q4 {dim = 1} : tensor<4x2xf32>
  %p5 = reduce_sum %q5 {dim = 1} : tensor<4x2xf32>
  %p6 = reduce_sum %q6 {dim = 1} : tensor<4x2xf32>
  %t1 = mul %p4, %p6 : tensor<4x1xf32>, tensor<4x1xf32>
  %t2 = mul %p5, %p5 : tensor<4x1xf32>, tensor<4x1xf32>
  %t3 = sub %t1, %t2 : tensor<4x1xf32>, tensor<4x1xf32>
  %t4 = mul %p2, %t3 : tensor<4x1xf32>, tensor<4x1xf32>
  %t5 = mul %p3, %p6 : tensor<4x1xf32>, tensor<4x1xf32>
  %t6 = mul %p5, %p4 : tensor<4x1xf32>, tensor<4x1xf32>
  %t7 = sub %t5, %t6 : tensor<4x1xf32>, tensor<4x1xf32>
  %t8 = mul %p3, %t7 : tensor<4x1xf32>, tensor<4x1xf32>
  %t9 = sub %t4, %t8 : tensor<4x1xf32>, tensor<4x1xf32>
  %t10 = mul %p3, %p5 : tensor<4x1xf32>, tensor<4x1xf32>
  %t11 = mul %p4, %p4 : tensor<4x1xf32>, tensor<4x1xf32>
  %t12 = sub %t10, %t11 : tensor<4x1xf32>, tensor<4x1xf32>
  %t13 = mul %p4, %t12 : tensor<4x1xf32>, tensor<4x1xf32>
  %t14 = add %t9, %t13 : tensor<4x1xf32>, tensor<4x1xf32>
  %t15 = mul %p0, %t14 : tensor<4x1xf32>, tensor<4x1xf32>
  %t16 = mul %p4, %p6 : tensor<4x1xf32>, tensor<4x1xf32>
  %t17 = mul %p5, %p5 : tensor<4x1xf32>, tensor<4x1xf32>
  %t18 = sub %t16, %t17 : tensor<4x1xf32>, tensor<4x1xf32>
  %t19 = mul %p1, %t18 : tensor<4x1xf32>, tensor<4x1xf32>
  %t20 = mul %p2, %p6 : tensor<4x1xf32>, tensor<4x1xf32>
  %t21 = mul %p5, %p3 : tensor<4x1xf32>, tensor<4x1xf32>
  %t22 = sub %t20, %t21 : tensor<4x1xf32>, tensor<4x1xf32>
  %t23 = mul %p3, %t22 : tensor<4x1xf32>, tensor<4x1xf32>
  %t24 = sub %t19, %t23 : tensor<4x1xf32>, tensor<4x1xf32>
  %t25 = mul %p2, %p5 : tensor<4x1xf32>, tensor<4x1xf32>
  %t26 = mul %p4, %p3 : tensor<4x1xf32>, tensor<4x1xf32>
  %t27 = sub %t25, %t26 : tensor<4x1xf32>, tensor<4x1xf32>
  %t28 = mul %p4, %t27 : tensor<4x1xf32>, tensor<4x1xf32>
  %t29 = add %t24, %t28 : tensor<4x1xf32>, tensor<4x1xf32>
  %t30 = mul %p1, %t29 : tensor<4x1xf32>, tensor<4x1xf32>
  %t31 = sub %t15, %t30 : tensor<4x1xf32>, tensor<4x1xf32>
  %t32 = mul %p3, %p6 : tensor<4x1xf32>, tensor<4x1xf32>
  %t33 = mul %p5, %p4 : tensor<4x1xf32>, tensor<4x1xf32>
  %t34 = sub %t32, %t33 : tensor<4x1xf32>, tensor<4x1xf32>
  %t35 = mul %p1, %t34 : tensor<4x1xf32>, tensor<4x1xf32>
  %t36 = mul %p2, %p6 : tensor<4x1xf32>, tensor<4x1xf32>
  %t37 = mul %p5, %p3 : tensor<4x1xf32>, tensor<4x1xf32>
  %t38 = sub %t36, %t37 : tensor<4x1xf32>, tensor<4x1xf32>
  %t39 = mul %p2, %t38 : tensor<4x1xf32>, tensor<4x1xf32>
  %t40 = sub %t35, %t39 : tensor<4x1xf32>, tensor<4x1xf32>
  %t41 = mul %p2, %p4 : tensor<4x1xf32>, tensor<4x1xf32>
  %t42 = mul %p3, %p3 : tensor<4x1xf32>, tensor<4x1xf32>
  %t43 = sub %t41, %t42 : tensor<4x1xf32>, tensor<4x1xf32>
  %t44 = mul %p4, %t43 : tensor<4x1xf32>, tensor<4x1xf32>
  %t45 = add %t40, %t44 : tensor<4x1xf32>, tensor<4x1xf32>
  %t46 = mul %p2, %t45 : tensor<4x1xf32>, tensor<4x1xf32>
  %t47 = add %t31, %t46 : tensor<4x1xf32>, tensor<4x1xf32>
  %t48 = mul %p3, %p5 : tensor<4x1xf32>, tensor<4x1xf32>
  %t49 = mul %p4, %p4 : tensor<4x1xf32>, tensor<4x1xf32>
  %t50 = sub %t48, %t49 : tensor<4x1xf32>, tensor<4x1xf32>
  %t51 = mul %p1, %t50 : tensor<4x1xf32>, tensor<4x1xf32>
  %t52 = mul %p2, %p5 : tensor<4x1xf32>, tensor<4x1xf32>
  %t53 = mul %p4, %p3 : tensor<4x1xf32>, tensor<4x1xf32>
  %t54 = sub %t52, %t53 : tensor<4x1xf32>, tensor<4x1xf32>
  %t55 = mul %p2, %t54 : tensor<4x1xf32>, tensor<4x1xf32>
  %t56 = sub %t51, %t55 : tensor<4x1xf32>, tensor<4x1xf32>
  %t57 = mul %p2, %p4 : tensor<4x1xf32>, tensor<4x1xf32>
  %t58 = mul %p3, %p3 : tensor<4x1xf32>, tensor<4x1xf32>
  %t59 = sub %t57, %t58 : tensor<4x1xf32>, tensor<4x1xf32>
  %t60 = mul %p3, %t59 : tensor<4x1xf32>, tensor<4x1xf32>
  %t61 = add %t56, %t60 : tensor<4x1xf32>, tensor<4x1xf32>
  %t62 = mul %p3, %t61 : tensor<4x1xf32>, tensor<4x1xf32>
  %t63 = sub %t47, %t62 : tensor<4x1xf32>, tensor<4x1xf32>
  %r = add %p1, %t63 : tensor<4x1xf32>, tensor<4x1xf32>
  return %r : tensor<4x1xf32>
}

mirage_kernel.graph @src_keys_1008(%x: tensor<4x1008xf32>) -> tensor<4x1xf32> {
  %e = exp %x : tensor<4x1008xf32>
  %s = reduce_sum %e {dim = 1} : tensor<4x1008xf32>
  return %s : tensor<4x1xf32>
}

// 63 parts of 16, and an empty one: 0/0 by itself.
// CHECK: @tgt_keys_1008_second_kernel: different: divides by zero at every point for output
mirage_kernel.graph @tgt_keys_1008_second_kernel(%x: tensor<4x1008xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1008} {
  %p = custom (%xk = %x) outs(%yk) grid [64] : (tensor<4x1008xf32>) -> tensor<4x64xf32> {
    %xt = load %xk {grid = [1], fill = bottom} : tensor<4x1008xf32> -> !mirage_block.tile<4x16xf32>
    %e = exp %xt : !mirage_block.tile<4x16xf32>
    %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
    %d = mul %s, %s : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %n = div %d, %s : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    store %n, %yk {grid = [1]} : !mirage_block.tile<4x1xf32>, tensor<4x64xf32>
  }
  %y = reduce_sum %p {dim = 1} : tensor<4x64xf32>
  return %y : tensor<4x1xf32>
}

// CHECK: @tgt_keys_1008_loop: different: divides by zero at every point for output
mirage_kernel.graph @tgt_keys_1008_loop(%x: tensor<4x1008xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1008} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x1008xf32>) -> tensor<4x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 64 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1], fill = bottom} : tensor<4x1008xf32> -> !mirage_block.tile<4x16xf32>
      %e = exp %xt : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      %d = mul %s, %s : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
      %n = div %d, %s : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
      yield %n : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

// CHECK: @tgt_keys_1008_grid: different: divides by zero at every point for output
mirage_kernel.graph @tgt_keys_1008_grid(%x: tensor<4x1008xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1008} {
  %y = custom (%xk = %x) outs(%yk) grid [64] : (tensor<4x1008xf32>) -> tensor<4x1xf32> {
    %xt = load %xk {grid = [1], fill = bottom} : tensor<4x1008xf32> -> !mirage_block.tile<4x16xf32>
    %e = exp %xt : !mirage_block.tile<4x16xf32>
    %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
    %d = mul %s, %s : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %n = div %d, %s : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %a = grid_sum %n {axes = [0]} : !mirage_block.tile<4x1xf32>
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

// An empty part adds nothing where it is not divided by.
// CHECK: @tgt_keys_1008_neutral: equivalent to @src_keys_1008;
mirage_kernel.graph @tgt_keys_1008_neutral(%x: tensor<4x1008xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1008} {
  %p = custom (%xk = %x) outs(%yk) grid [64] : (tensor<4x1008xf32>) -> tensor<4x64xf32> {
    %xt = load %xk {grid = [1], fill = bottom} : tensor<4x1008xf32> -> !mirage_block.tile<4x16xf32>
    %e = exp %xt : !mirage_block.tile<4x16xf32>
    %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
    store %s, %yk {grid = [1]} : !mirage_block.tile<4x1xf32>, tensor<4x64xf32>
  }
  %y = reduce_sum %p {dim = 1} : tensor<4x64xf32>
  return %y : tensor<4x1xf32>
}

// CHECK: @tgt_keys_1008_neutral_loop: equivalent to @src_keys_1008;
mirage_kernel.graph @tgt_keys_1008_neutral_loop(%x: tensor<4x1008xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1008} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x1008xf32>) -> tensor<4x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 64 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1], fill = bottom} : tensor<4x1008xf32> -> !mirage_block.tile<4x16xf32>
      %e = exp %xt : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

// CHECK: @tgt_keys_1008_no_empty: equivalent to @src_keys_1008;
mirage_kernel.graph @tgt_keys_1008_no_empty(%x: tensor<4x1008xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1008} {
  %p = custom (%xk = %x) outs(%yk) grid [63] : (tensor<4x1008xf32>) -> tensor<4x63xf32> {
    %xt = load %xk {grid = [1], fill = bottom} : tensor<4x1008xf32> -> !mirage_block.tile<4x16xf32>
    %e = exp %xt : !mirage_block.tile<4x16xf32>
    %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
    %d = mul %s, %s : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %n = div %d, %s : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    store %n, %yk {grid = [1]} : !mirage_block.tile<4x1xf32>, tensor<4x63xf32>
  }
  %y = reduce_sum %p {dim = 1} : tensor<4x63xf32>
  return %y : tensor<4x1xf32>
}

// Masked elements are 0, and exp(0) counts.
// CHECK: @tgt_keys_1008_zeros: different at output
mirage_kernel.graph @tgt_keys_1008_zeros(%x: tensor<4x1008xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1008} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x1008xf32>) -> tensor<4x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 64 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1], fill = zero} : tensor<4x1008xf32> -> !mirage_block.tile<4x16xf32>
      %e = exp %xt : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

mirage_kernel.graph @src_keys_1000(%x: tensor<4x1000xf32>) -> tensor<4x1xf32> {
  %e = exp %x : tensor<4x1000xf32>
  %s = reduce_sum %e {dim = 1} : tensor<4x1000xf32>
  return %s : tensor<4x1xf32>
}

// CHECK: @tgt_keys_1000_loop: different: divides by zero at every point for output
mirage_kernel.graph @tgt_keys_1000_loop(%x: tensor<4x1000xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1000} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x1000xf32>) -> tensor<4x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 64 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1], fill = bottom} : tensor<4x1000xf32> -> !mirage_block.tile<4x16xf32>
      %e = exp %xt : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      %d = mul %s, %s : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
      %n = div %d, %s : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
      yield %n : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

// CHECK: @tgt_keys_1000_neutral: equivalent to @src_keys_1000;
mirage_kernel.graph @tgt_keys_1000_neutral(%x: tensor<4x1000xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1000} {
  %p = custom (%xk = %x) outs(%yk) grid [64] : (tensor<4x1000xf32>) -> tensor<4x64xf32> {
    %xt = load %xk {grid = [1], fill = bottom} : tensor<4x1000xf32> -> !mirage_block.tile<4x16xf32>
    %e = exp %xt : !mirage_block.tile<4x16xf32>
    %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
    store %s, %yk {grid = [1]} : !mirage_block.tile<4x1xf32>, tensor<4x64xf32>
  }
  %y = reduce_sum %p {dim = 1} : tensor<4x64xf32>
  return %y : tensor<4x1xf32>
}

mirage_kernel.graph @src_keys_1009(%x: tensor<4x1009xf32>) -> tensor<4x1xf32> {
  %e = exp %x : tensor<4x1009xf32>
  %s = reduce_sum %e {dim = 1} : tensor<4x1009xf32>
  return %s : tensor<4x1xf32>
}

// The last part has one element.
// CHECK: @tgt_keys_1009_tail_of_one: equivalent to @src_keys_1009;
mirage_kernel.graph @tgt_keys_1009_tail_of_one(%x: tensor<4x1009xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1009} {
  %p = custom (%xk = %x) outs(%yk) grid [64] : (tensor<4x1009xf32>) -> tensor<4x64xf32> {
    %xt = load %xk {grid = [1], fill = bottom} : tensor<4x1009xf32> -> !mirage_block.tile<4x16xf32>
    %e = exp %xt : !mirage_block.tile<4x16xf32>
    %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
    %d = mul %s, %s : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %n = div %d, %s : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    store %n, %yk {grid = [1]} : !mirage_block.tile<4x1xf32>, tensor<4x64xf32>
  }
  %y = reduce_sum %p {dim = 1} : tensor<4x64xf32>
  return %y : tensor<4x1xf32>
}

// CHECK: @tgt_keys_1009_ones: different at output
mirage_kernel.graph @tgt_keys_1009_ones(%x: tensor<4x1009xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1009} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x1009xf32>) -> tensor<4x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 64 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1], fill = one} : tensor<4x1009xf32> -> !mirage_block.tile<4x16xf32>
      %e = exp %xt : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

mirage_kernel.graph @src_keys_49(%x: tensor<4x49xf32>) -> tensor<4x1xf32> {
  %e = exp %x : tensor<4x49xf32>
  %s = reduce_sum %e {dim = 1} : tensor<4x49xf32>
  return %s : tensor<4x1xf32>
}

// CHECK: @tgt_keys_49_cluster: different: divides by zero at every point for output
mirage_kernel.graph @tgt_keys_49_cluster(%x: tensor<4x49xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_49} {
  %y = custom (%xk = %x) outs(%yk) grid [8] cluster [8] : (tensor<4x49xf32>) -> tensor<4x1xf32> {
    %xt = load %xk {grid = [1], fill = bottom} : tensor<4x49xf32> -> !mirage_block.tile<4x7xf32>
    %e = exp %xt : !mirage_block.tile<4x7xf32>
    %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x7xf32>
    %d = mul %s, %s : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %n = div %d, %s : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %a = cluster_sum %n {axes = [0]} : !mirage_block.tile<4x1xf32>
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

// CHECK: @tgt_keys_49_neutral_cluster: equivalent to @src_keys_49;
mirage_kernel.graph @tgt_keys_49_neutral_cluster(%x: tensor<4x49xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_49} {
  %y = custom (%xk = %x) outs(%yk) grid [8] cluster [8] : (tensor<4x49xf32>) -> tensor<4x1xf32> {
    %xt = load %xk {grid = [1], fill = bottom} : tensor<4x49xf32> -> !mirage_block.tile<4x7xf32>
    %e = exp %xt : !mirage_block.tile<4x7xf32>
    %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x7xf32>
    %a = cluster_sum %s {axes = [0]} : !mirage_block.tile<4x1xf32>
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

// CHECK: @tgt_keys_49_whole_cluster: equivalent to @src_keys_49;
mirage_kernel.graph @tgt_keys_49_whole_cluster(%x: tensor<4x49xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_49} {
  %y = custom (%xk = %x) outs(%yk) grid [7] cluster [7] : (tensor<4x49xf32>) -> tensor<4x1xf32> {
    %xt = load %xk {grid = [1], fill = bottom} : tensor<4x49xf32> -> !mirage_block.tile<4x7xf32>
    %e = exp %xt : !mirage_block.tile<4x7xf32>
    %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x7xf32>
    %d = mul %s, %s : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %n = div %d, %s : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %a = cluster_sum %n {axes = [0]} : !mirage_block.tile<4x1xf32>
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

mirage_kernel.graph @src_keys_128(%x: tensor<4x128xf32>) -> tensor<4x1xf32> {
  %e = exp %x : tensor<4x128xf32>
  %s = reduce_sum %e {dim = 1} : tensor<4x128xf32>
  return %s : tensor<4x1xf32>
}

// The tail has size zero.
// CHECK: @tgt_keys_128_no_tail: equivalent to @src_keys_128;
mirage_kernel.graph @tgt_keys_128_no_tail(%x: tensor<4x128xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_128} {
  %y = custom (%xk = %x) outs(%yk) grid [8] : (tensor<4x128xf32>) -> tensor<4x1xf32> {
    %xt = load %xk {grid = [1], fill = bottom} : tensor<4x128xf32> -> !mirage_block.tile<4x16xf32>
    %e = exp %xt : !mirage_block.tile<4x16xf32>
    %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
    %d = mul %s, %s : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %n = div %d, %s : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %a = grid_sum %n {axes = [0]} : !mirage_block.tile<4x1xf32>
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

// CHECK: @tgt_keys_128_no_tail_zeros: equivalent to @src_keys_128;
mirage_kernel.graph @tgt_keys_128_no_tail_zeros(%x: tensor<4x128xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_128} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x128xf32>) -> tensor<4x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 8 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1], fill = zero} : tensor<4x128xf32> -> !mirage_block.tile<4x16xf32>
      %e = exp %xt : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}
