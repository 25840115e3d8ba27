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
