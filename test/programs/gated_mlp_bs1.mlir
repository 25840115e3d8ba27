// The gated half of an MLP: silu(x @ w1) * (x @ w2).
// RUN: mirage-mlir-opt %s --mirage-expand | mirage-mlir-opt | FileCheck %s
// CHECK: graph @gated_mlp(
// CHECK: matmul
// CHECK: exp
// CHECK: mul
mirage_kernel.graph @gated_mlp(%x: tensor<8x4096xf16>, %w1: tensor<4096x4096xf16>, %w2: tensor<4096x4096xf16>) -> tensor<8x4096xf16> {
  %a = matmul %x, %w1 : tensor<8x4096xf16>, tensor<4096x4096xf16>
  %b = matmul %x, %w2 : tensor<8x4096xf16>, tensor<4096x4096xf16>
  %s = silu %a : tensor<8x4096xf16>
  %y = mul %s, %b : tensor<8x4096xf16>, tensor<8x4096xf16>
  return %y : tensor<8x4096xf16>
}
