// Grouped-query attention, decoding: 2 key heads, 256 query rows each. The softmax subtracts no maximum.
// RUN: mirage-mlir-opt %s --mirage-expand | mirage-mlir-opt | FileCheck %s
// CHECK: graph @gqa(
// CHECK: matmul
// CHECK: exp
// CHECK: reduce_sum
// CHECK: div
// CHECK: matmul
mirage_kernel.graph @gqa(%q: tensor<2x256x64xf16>, %k: tensor<2x64x4096xf16>, %v: tensor<2x4096x64xf16>) -> tensor<2x256x64xf16> {
  %s = matmul %q, %k : tensor<2x256x64xf16>, tensor<2x64x4096xf16>
  %e = exp %s : tensor<2x256x4096xf16>
  %t = reduce_sum %e {dim = 2} : tensor<2x256x4096xf16>
  %p = div %e, %t : tensor<2x256x4096xf16>, tensor<2x256x1xf16>
  %y = matmul %p, %v : tensor<2x256x4096xf16>, tensor<2x4096x64xf16>
  return %y : tensor<2x256x64xf16>
}
