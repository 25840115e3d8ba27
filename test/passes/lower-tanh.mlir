// What is stored as bf16 needs eight bits of a tanh: the processor's instruction has eleven. f16 has eleven itself, and takes polynomials.
//
// RUN: mirage-mlir-opt %s --mirage-lower=target=h100 2>/dev/null | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-lower=target=h100 -o %t.mlir 2>/dev/null
// RUN: mirage-run --target=emulator %t.mlir --program=bf16 | FileCheck %s --check-prefix=RIGHT
// RIGHT: error 0.00{{1[4-9][0-9]*}} (Frobenius-relative
// CHECK-LABEL: graph @bf16_own(
// CHECK: tanh.approx.f32
// CHECK-NOT: ex2.approx
// CHECK-LABEL: graph @f16_own(
// CHECK-NOT: tanh.approx.f32
// CHECK-NOT: ex2.approx
// CHECK: rcp.approx
mirage_kernel.graph @bf16(%x: tensor<64x256xbf16>) -> tensor<64x256xbf16> {
  %y = tanh %x : tensor<64x256xbf16>
  return %y : tensor<64x256xbf16>
}
mirage_kernel.graph @f16(%x: tensor<64x256xf16>) -> tensor<64x256xf16> {
  %y = tanh %x : tensor<64x256xf16>
  return %y : tensor<64x256xf16>
}
