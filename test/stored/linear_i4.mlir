// A linear layer whose weight is i4, with a scale and a zero point for each group of 128 along the contraction.
// RUN: mirage-mlir-opt --mirage-superoptimize %s -o %t.mlir 2>&1 | FileCheck %s --check-prefix=SAY
// RUN: FileCheck %s < %t.mlir
// RUN: mirage-run --target=emulator --baseline %t.mlir | FileCheck %s --check-prefix=EMU
// RUN: mirage-check %t.mlir | FileCheck %s --check-prefix=PROOF

// SAY: @linear_i4: {{[0-9]+}} candidates kept
// SAY: 0 different, 0 unsupported
// CHECK: source = @linear_i4
// CHECK: custom (
// CHECK: load {{.*}}i4> -> !mirage_block.tile<{{[0-9x]+}}xi4
// CHECK-NOT: custom (
// EMU: output 0      tensor<2x64xf16>: error {{.*}}: ok
// EMU: by the program's own lowering: error {{.*}}: ok
// PROOF: 1 ok, 0 refused
mirage_kernel.graph @linear_i4(%x: tensor<2x512xf16>, %w: tensor<512x64xi4>, %s: tensor<4x1x64xf16>, %z: tensor<4x1x64xf16>) -> tensor<2x64xf16> {
  %wf = cast %w : tensor<512x64xi4> -> tensor<512x64xf16>
  %wg = reshape %wf : tensor<512x64xf16> -> tensor<4x128x64xf16>
  %wz = sub %wg, %z : tensor<4x128x64xf16>, tensor<4x1x64xf16>
  %ws = mul %wz, %s : tensor<4x128x64xf16>, tensor<4x1x64xf16>
  %wd = reshape %ws : tensor<4x128x64xf16> -> tensor<512x64xf16>
  %y = matmul %x, %wd : tensor<2x512xf16>, tensor<512x64xf16>
  return %y : tensor<2x64xf16>
}
