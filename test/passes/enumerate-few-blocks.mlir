// Few blocks with deep copies bring bytes as quickly as many: heads in eights and keys in sixteen parts are 80 blocks, which on an H200 take 48 us;
// 40 x 2 blocks with a row of scores in between take 59.
// RUN: mirage-mlir-opt %s --mirage-enumerate=target=h200 2>/dev/null | FileCheck %s
// CHECK: graph @program_0(
// CHECK-NEXT: custom {{.*}}grid [5, 16]
// CHECK-NOT: custom
// CHECK: graph @program_1(
mirage_kernel.graph @program(%q: tensor<40x8x64xbf16>, %k: tensor<40x16384x64xbf16>, %v: tensor<40x16384x64xbf16>) -> tensor<40x8x64xbf16>
    attributes {mirage_kernel.input_scales = array<f64: 0.125, 1.0, 1.0>} {
  %s = matmul %q, %k {transpose_b} : tensor<40x8x64xbf16>, tensor<40x16384x64xbf16>
  %p = softmax %s {dim = 2} : tensor<40x8x16384xbf16>
  %y = matmul %p, %v : tensor<40x8x16384xbf16>, tensor<40x16384x64xbf16>
  return %y : tensor<40x8x64xbf16>
}
