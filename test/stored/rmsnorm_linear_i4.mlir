// RMSNorm, then a linear layer whose weight is i4 with a scale for each group of 128 along the contraction.
// RUN: mirage-mlir-opt --mirage-superoptimize %s -o %t.mlir 2>&1 | FileCheck %s --check-prefix=SAY
// RUN: FileCheck %s < %t.mlir
// RUN: mirage-run --target=emulator --baseline %t.mlir | FileCheck %s --check-prefix=EMU
// RUN: mirage-check %t.mlir | FileCheck %s --check-prefix=PROOF

// SAY: @rmsnorm_linear_i4: {{[0-9]+}} candidates kept
// SAY: 0 different, 0 unsupported
// SAY: selected @rmsnorm_linear_i4_{{[0-9]+}} of
// CHECK: source = @rmsnorm_linear_i4
// CHECK: custom (
// CHECK: load {{.*}}xi4> -> !mirage_block.tile<{{[0-9x]+}}xi4
// CHECK-NOT: custom (
// EMU: output 0      tensor<2x192xf16>: error {{.*}}: ok
// PROOF: 1 ok, 0 refused
mirage_kernel.graph @rmsnorm_linear_i4(%x: tensor<2x512xf16>, %g: tensor<512xf16>, %w: tensor<512x192xi4>, %s: tensor<4x1x192xf16>) -> tensor<2x192xf16> {
  %n = rms_norm %x, %g {eps = 1.0e-05} : tensor<2x512xf16>, tensor<512xf16>
  %wf = cast %w : tensor<512x192xi4> -> tensor<512x192xf16>
  %wg = reshape %wf : tensor<512x192xf16> -> tensor<4x128x192xf16>
  %ws = mul %wg, %s : tensor<4x128x192xf16>, tensor<4x1x192xf16>
  %wd = reshape %ws : tensor<4x128x192xf16> -> tensor<512x192xf16>
  %y = matmul %n, %wd : tensor<2x512xf16>, tensor<512x192xf16>
  return %y : tensor<2x192xf16>
}
