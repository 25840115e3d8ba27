// RUN: mirage-mlir-opt %s --mirage-enumerate='max-candidates=1' --mirage-verify 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=PROVEN < %t.err
// An input that is read along several axes is one for each: blocks split rows and columns of x x^T on their own.

// PROVEN: @gram: 1 candidate, 1 equivalent
// PROVEN: @residual: 1 candidate, 1 equivalent
// PROVEN: @covariance: 1 candidate, 1 equivalent
// PROVEN: @squared: 1 candidate, 1 equivalent

// Rows and columns of the scores are an input each.
// CHECK: graph @gram_0
// CHECK-NEXT: custom (%{{.*}} = %arg0, %{{.*}} = %arg0, %{{.*}} = %arg0) outs
// CHECK-NOT: custom
// CHECK: return
mirage_kernel.graph @gram(%x: tensor<512x64xf16>) -> tensor<512x64xf16> {
  %s = matmul %x, %x {transpose_b} : tensor<512x64xf16>, tensor<512x64xf16>
  %p = softmax %s {dim = 1} : tensor<512x512xf16>
  %y = matmul %p, %x : tensor<512x512xf16>, tensor<512x64xf16>
  return %y : tensor<512x64xf16>
}

// The square weight makes what is contracted and what comes out one axis of x.
// CHECK: graph @residual_0
// CHECK-NEXT: custom
// CHECK-NOT: custom
// CHECK: return
mirage_kernel.graph @residual(%x: tensor<16x512xf16>, %w: tensor<512x512xf16>) -> tensor<16x512xf16> {
  %s = matmul %x, %w : tensor<16x512xf16>, tensor<512x512xf16>
  %y = add %s, %x : tensor<16x512xf16>, tensor<16x512xf16>
  return %y : tensor<16x512xf16>
}

// CHECK: graph @covariance_0
// CHECK: custom
// CHECK: return
mirage_kernel.graph @covariance(%x: tensor<1024x256xf16>) -> tensor<256x256xf16> {
  %t = transpose %x {perm = [1, 0]} : tensor<1024x256xf16>
  %s = matmul %t, %x : tensor<256x1024xf16>, tensor<1024x256xf16>
  %r = relu %s : tensor<256x256xf16>
  return %r : tensor<256x256xf16>
}

// What is read twice along the same axes stays one.
// CHECK: graph @squared_0
// CHECK-NEXT: custom (%{{.*}} = %arg0, %{{.*}} = %arg1) outs
mirage_kernel.graph @squared(%x: tensor<16x512xf16>, %w: tensor<512x256xf16>) -> tensor<16x256xf16> {
  %q = mul %x, %x : tensor<16x512xf16>, tensor<16x512xf16>
  %s = matmul %q, %w : tensor<16x512xf16>, tensor<512x256xf16>
  %e = exp %s : tensor<16x256xf16>
  return %e : tensor<16x256xf16>
}
