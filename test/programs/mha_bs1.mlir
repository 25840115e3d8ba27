// Multi-head attention: 32 heads of 16 query rows. The softmax subtracts no maximum.
// RUN: mirage-mlir-opt %s --mirage-expand | mirage-mlir-opt | FileCheck %s
// CHECK: graph @mha(
// CHECK: matmul
// CHECK: exp
// CHECK: reduce_sum
// CHECK: div
// CHECK: matmul
mirage_kernel.graph @mha(%q: tensor<32x16x64xf16>, %k: tensor<32x64x4096xf16>, %v: tensor<32x4096x64xf16>) -> tensor<32x16x64xf16> {
  %s = matmul %q, %k : tensor<32x16x64xf16>, tensor<32x64x4096xf16>
  %e = exp %s : tensor<32x16x4096xf16>
  %t = reduce_sum %e {dim = 2} : tensor<32x16x4096xf16>
  %p = div %e, %t : tensor<32x16x4096xf16>, tensor<32x16x1xf16>
  %y = matmul %p, %v : tensor<32x16x4096xf16>, tensor<32x4096x64xf16>
  return %y : tensor<32x16x64xf16>
}
