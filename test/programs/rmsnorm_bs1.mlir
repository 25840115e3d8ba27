// RMSNorm without gain, then a linear layer.
// RUN: mirage-mlir-opt %s --mirage-expand | mirage-mlir-opt | FileCheck %s
// CHECK: graph @rmsnorm(
// CHECK: constant 4096.0
// CHECK: sqrt
// CHECK: matmul
mirage_kernel.graph @rmsnorm(%x: tensor<2x4096xf16>, %w: tensor<4096x6144xf16>) -> tensor<2x6144xf16> {
  %n = rms_norm %x {eps = 0.0} : tensor<2x4096xf16>
  %y = matmul %n, %w : tensor<2x4096xf16>, tensor<4096x6144xf16>
  return %y : tensor<2x6144xf16>
}
