// Grouped-query attention with normalised q and v, as the original's artifact has it (models normalise q and k).
// RUN: mirage-mlir-opt %s --mirage-expand | mirage-mlir-opt | FileCheck %s
// CHECK: graph @qknorm_gqa(
// CHECK-COUNT-2: sqrt
// CHECK: matmul
// CHECK: exp
// CHECK: reduce_sum
// CHECK: div
// CHECK: matmul
mirage_kernel.graph @qknorm_gqa(%q: tensor<2x256x64xf16>, %k: tensor<2x64x4096xf16>, %v: tensor<2x4096x64xf16>) -> tensor<2x256x64xf16> {
  %qn = rms_norm %q {eps = 0.0} : tensor<2x256x64xf16>
  %vn = rms_norm %v {eps = 0.0} : tensor<2x4096x64xf16>
  %s = matmul %qn, %k : tensor<2x256x64xf16>, tensor<2x64x4096xf16>
  %e = exp %s : tensor<2x256x4096xf16>
  %t = reduce_sum %e {dim = 2} : tensor<2x256x4096xf16>
  %p = div %e, %t : tensor<2x256x4096xf16>, tensor<2x256x1xf16>
  %y = matmul %p, %vn : tensor<2x256x4096xf16>, tensor<2x4096x64xf16>
  return %y : tensor<2x256x64xf16>
}
