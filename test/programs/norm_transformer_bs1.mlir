// The update of a normalised transformer: rms(x + alpha * (rms(h) + x)). It adds where the paper's text subtracts.
// RUN: mirage-mlir-opt %s --mirage-expand | mirage-mlir-opt | FileCheck %s
// CHECK: graph @norm_transformer(
// CHECK: sqrt
// CHECK: mul
// CHECK: sqrt
mirage_kernel.graph @norm_transformer(%h: tensor<1x4096xf16>, %x: tensor<1x4096xf16>, %alpha: tensor<1x4096xf16>) -> tensor<1x4096xf16> {
  %n = rms_norm %h {eps = 0.0} : tensor<1x4096xf16>
  %d = add %n, %x : tensor<1x4096xf16>, tensor<1x4096xf16>
  %s = mul %alpha, %d : tensor<1x4096xf16>, tensor<1x4096xf16>
  %u = add %x, %s : tensor<1x4096xf16>, tensor<1x4096xf16>
  %y = rms_norm %u {eps = 0.0} : tensor<1x4096xf16>
  return %y : tensor<1x4096xf16>
}
