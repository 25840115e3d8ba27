// RUN: mirage-mlir-opt %s --mirage-superoptimize='max-candidates=2 max-block-ops=6' 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t
// Several programs in one module keep apart, and one that cannot be searched is lowered by itself.

// CHECK: func.func @bystander
func.func @bystander() { return }

// WHY: @linear: {{.*}} candidates kept
// CHECK: graph @linear(
// CHECK: graph @linear_{{.*}}source = @linear
// CHECK: gpu.binary @linear_
mirage_kernel.graph @linear(%x: tensor<16x512xf16>, %w: tensor<512x256xf16>) -> tensor<16x256xf16> {
  %y = matmul %x, %w : tensor<16x512xf16>, tensor<512x256xf16>
  %z = square %y : tensor<16x256xf16>
  return %z : tensor<16x256xf16>
}

// WHY: @halves: not searched; its own lowering is all there is
// CHECK: graph @halves(
// CHECK: graph @halves_own({{.*}}source = @halves
// CHECK: gpu.binary @halves_own_bin
mirage_kernel.graph @halves(%x: tensor<16x64xf16>) -> tensor<16x32xf16> {
  %y = reduce_sum %x {dim = 1, extent = 32} : tensor<16x64xf16>
  %z = exp %y : tensor<16x32xf16>
  return %z : tensor<16x32xf16>
}
