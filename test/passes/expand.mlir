// RUN: mirage-mlir-opt %s --mirage-expand | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-expand | mirage-mlir-opt --mirage-expand | FileCheck %s
// Sugar becomes primitives; what is primitive stays; candidates are left alone.

// CHECK-LABEL: mirage_kernel.graph @norm
// CHECK-NOT:     rms_norm
// CHECK:         %[[SQ:.*]] = mul %arg0, %arg0
// CHECK:         %[[SUM:.*]] = reduce_sum %[[SQ]] {dim = 1}
// CHECK:         %[[N:.*]] = constant 64.0
// CHECK:         %[[MEAN:.*]] = div %[[SUM]], %[[N]]
// CHECK:         sqrt
// CHECK:         return
mirage_kernel.graph @norm(%x: tensor<2x64xf16>) -> tensor<2x64xf16> {
  %n = rms_norm %x {eps = 0.0} : tensor<2x64xf16>
  return %n : tensor<2x64xf16>
}

// CHECK-LABEL: mirage_kernel.graph @attention
// CHECK-NOT:     scaled_dot_product_attention
// CHECK:         matmul %{{.*}}, %{{.*}} {transpose_b}
// CHECK:         exp
// CHECK:         return
mirage_kernel.graph @attention(%q: tensor<2x4x8xf16>, %k: tensor<2x6x8xf16>, %v: tensor<2x6x8xf16>) -> tensor<2x4x8xf16> {
  %o = scaled_dot_product_attention %q, %k, %v {scale = 0.125} : tensor<2x4x8xf16>, tensor<2x6x8xf16>, tensor<2x6x8xf16>
  return %o : tensor<2x4x8xf16>
}

// CHECK-LABEL: mirage_kernel.graph @linear
// CHECK-NEXT:    %[[Y:.*]] = matmul %arg0, %arg1
// CHECK-NEXT:    return %[[Y]]
mirage_kernel.graph @linear(%x: tensor<2x64xf16>, %w: tensor<64x32xf16>) -> tensor<2x32xf16> {
  %y = matmul %x, %w : tensor<2x64xf16>, tensor<64x32xf16>
  return %y : tensor<2x32xf16>
}

// CHECK-LABEL: mirage_kernel.graph @norm_0
// CHECK-SAME:    source = @norm
// CHECK:         rms_norm
mirage_kernel.graph @norm_0(%x: tensor<2x64xf16>) -> tensor<2x64xf16> attributes {source = @norm} {
  %n = rms_norm %x {eps = 0.0} : tensor<2x64xf16>
  return %n : tensor<2x64xf16>
}

// A predicate with more dimensions of extent 1 is compared with them.
// CHECK-LABEL: mirage_kernel.graph @seen
// CHECK-NEXT:    %[[I:.*]] = iota {dim = 3} : tensor<1x1x1x8xi32>
// CHECK-NEXT:    %[[N:.*]] = reshape %arg1 : tensor<2x1xi32> -> tensor<1x2x1x1xi32>
// CHECK-NEXT:    %[[IN:.*]] = less_equal %[[I]], %[[N]] : tensor<1x1x1x8xi32>, tensor<1x2x1x1xi32>
// CHECK-NEXT:    %[[C:.*]] = reshape %arg2 : tensor<2x8xi1> -> tensor<1x2x1x8xi1>
// CHECK-NEXT:    %[[BOTH:.*]] = and %[[IN]], %[[C]]
// CHECK-NEXT:    mask %[[BOTH]], %arg0
mirage_kernel.graph @seen(%x: tensor<1x2x3x8xf16>, %n: tensor<2x1xi32>, %c: tensor<2x8xi1>) -> tensor<1x2x3x8xf16> {
  %i = iota {dim = 0} : tensor<8xi32>
  %in = less_equal %i, %n : tensor<8xi32>, tensor<2x1xi32>
  %both = and %in, %c : tensor<2x8xi1>, tensor<2x8xi1>
  %r = reshape %both : tensor<2x8xi1> -> tensor<2x1x8xi1>
  %s = reshape %r : tensor<2x1x8xi1> -> tensor<1x2x1x8xi1>
  %y = mask %s, %x : tensor<1x2x1x8xi1>, tensor<1x2x3x8xf16>
  return %y : tensor<1x2x3x8xf16>
}

// Who reads it as it was has it, too; what is greater is less the other way round; of one element along its dimension an index is where
// it starts; what stretches does so elsewhere.
// CHECK-LABEL: mirage_kernel.graph @read_twice
// CHECK-NEXT:    %[[I:.*]] = iota {dim = 0} : tensor<8xi32>
// CHECK-NEXT:    %[[FIRST:.*]] = less %arg1, %[[I]] : tensor<1xi32>, tensor<8xi32>
// CHECK-NEXT:    %[[Y:.*]] = mask %[[FIRST]], %arg0
// CHECK-NEXT:    %[[J:.*]] = iota {dim = 1} : tensor<1x8xi32>
// CHECK-NEXT:    %[[N:.*]] = reshape %arg1 : tensor<1xi32> -> tensor<1x1xi32>
// CHECK-NEXT:    %[[AGAIN:.*]] = less %[[N]], %[[J]] : tensor<1x1xi32>, tensor<1x8xi32>
// CHECK-NEXT:    mask %[[AGAIN]], %[[Y]]
mirage_kernel.graph @read_twice(%x: tensor<8xf16>, %n: tensor<1xi32>) -> tensor<1x8xf16> {
  %i = iota {dim = 0} : tensor<8xi32>
  %c = greater %i, %n : tensor<8xi32>, tensor<1xi32>
  %y = mask %c, %x : tensor<8xi1>, tensor<8xf16>
  %r = reshape %c : tensor<8xi1> -> tensor<1x8xi1>
  %z = mask %r, %y : tensor<1x8xi1>, tensor<8xf16>
  return %z : tensor<1x8xf16>
}

// CHECK-LABEL: mirage_kernel.graph @one_row
// CHECK-NEXT:    %[[K:.*]] = iota {dim = 0} : tensor<8xi32>
// CHECK-NEXT:    %[[ROW:.*]] = constant 3.0 : tensor<1xi32>
// CHECK-NEXT:    %[[Q:.*]] = broadcast %[[ROW]] : tensor<1xi32> -> tensor<8xi32>
// CHECK-NEXT:    less_equal %[[K]], %[[Q]]
mirage_kernel.graph @one_row(%x: tensor<8xf16>) -> tensor<8xf16> {
  %q = iota {dim = 0, start = 3} : tensor<1x1xi32>
  %b = broadcast %q : tensor<1x1xi32> -> tensor<1x8xi32>
  %k = iota {dim = 1} : tensor<1x8xi32>
  %c = less_equal %k, %b : tensor<1x8xi32>, tensor<1x8xi32>
  %r = reshape %c : tensor<1x8xi1> -> tensor<8xi1>
  %y = mask %r, %x : tensor<8xi1>, tensor<8xf16>
  return %y : tensor<8xf16>
}

// A predicate without dimensions stays what it is, and is made once.
// CHECK-LABEL: mirage_kernel.graph @of_a_scalar
// CHECK:         %[[C:.*]] = less {{.*}} : tensor<i32>, tensor<i32>
// CHECK:         %[[D:.*]] = less_equal {{.*}} : tensor<1x8xi32>, tensor<i32>
// CHECK-NEXT:    %[[E:.*]] = and %[[D]], %[[C]] : tensor<1x8xi1>, tensor<i1>
// CHECK-NEXT:    mask %[[E]]
mirage_kernel.graph @of_a_scalar(%x: tensor<1x8xf16>) -> tensor<1x8xf16> {
  %a = constant 3.0 : tensor<i32>
  %b = constant 4.0 : tensor<i32>
  %c = less %a, %b : tensor<i32>, tensor<i32>
  %i = iota {dim = 0} : tensor<8xi32>
  %d = less_equal %i, %a : tensor<8xi32>, tensor<i32>
  %e = and %d, %c : tensor<8xi1>, tensor<i1>
  %r = reshape %e : tensor<8xi1> -> tensor<1x8xi1>
  %y = mask %r, %x : tensor<1x8xi1>, tensor<1x8xf16>
  return %y : tensor<1x8xf16>
}

// What moves more than extents of 1 stays where it is; so does what compares numbers.
// CHECK-LABEL: mirage_kernel.graph @moved
// CHECK:         %[[C:.*]] = less
// CHECK-NEXT:    reshape %[[C]] : tensor<8xi1> -> tensor<2x4xi1>
mirage_kernel.graph @moved(%x: tensor<2x4xf16>, %n: tensor<1xi32>) -> tensor<2x4xf16> {
  %i = iota {dim = 0} : tensor<8xi32>
  %c = less %i, %n : tensor<8xi32>, tensor<1xi32>
  %r = reshape %c : tensor<8xi1> -> tensor<2x4xi1>
  %y = mask %r, %x : tensor<2x4xi1>, tensor<2x4xf16>
  return %y : tensor<2x4xf16>
}

// CHECK-LABEL: mirage_kernel.graph @of_numbers
// CHECK-NEXT:    %[[C:.*]] = less %arg0, %arg1
// CHECK-NEXT:    reshape %[[C]] : tensor<8xi1> -> tensor<1x8xi1>
mirage_kernel.graph @of_numbers(%x: tensor<8xf16>, %z: tensor<8xf16>) -> tensor<1x8xf16> {
  %c = less %x, %z : tensor<8xf16>, tensor<8xf16>
  %r = reshape %c : tensor<8xi1> -> tensor<1x8xi1>
  %y = mask %r, %x : tensor<1x8xi1>, tensor<8xf16>
  return %y : tensor<1x8xf16>
}
