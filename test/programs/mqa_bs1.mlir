// Multi-query attention: one key head for 1024 query rows. The softmax subtracts no maximum.
// RUN: mirage-mlir-opt %s --mirage-expand | mirage-mlir-opt | FileCheck %s
// CHECK: graph @mqa(
// CHECK: matmul
// CHECK: exp
// CHECK: reduce_sum
// CHECK: div
// CHECK: matmul
mirage_kernel.graph @mqa(%q: tensor<1x1024x64xf16>, %k: tensor<1x64x4096xf16>, %v: tensor<1x4096x64xf16>) -> tensor<1x1024x64xf16> {
  %s = matmul %q, %k : tensor<1x1024x64xf16>, tensor<1x64x4096xf16>
  %e = exp %s : tensor<1x1024x4096xf16>
  %t = reduce_sum %e {dim = 2} : tensor<1x1024x4096xf16>
  %p = div %e, %t : tensor<1x1024x4096xf16>, tensor<1x1024x1xf16>
  %y = matmul %p, %v : tensor<1x1024x4096xf16>, tensor<1x4096x64xf16>
  return %y : tensor<1x1024x64xf16>
}
