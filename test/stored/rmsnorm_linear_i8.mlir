// RMSNorm, then a linear layer whose weight is i8 with a scale for each column.
// RUN: mirage-mlir-opt --mirage-superoptimize %s -o %t.mlir 2>&1 | FileCheck %s --check-prefix=SAY
// RUN: FileCheck %s < %t.mlir
// RUN: mirage-run --target=emulator --baseline %t.mlir | FileCheck %s --check-prefix=EMU
// RUN: mirage-check %t.mlir | FileCheck %s --check-prefix=PROOF

// One kernel, which reads the weight as it is stored.
// SAY: @rmsnorm_linear_i8: {{[0-9]+}} candidates kept
// SAY: 0 different, 0 unsupported
// SAY: @rmsnorm_linear_i8: selected @rmsnorm_linear_i8_{{[0-9]+}} of
// CHECK: source = @rmsnorm_linear_i8
// CHECK: custom (
// CHECK: load {{.*}} tensor<1024x128xi8> -> !mirage_block.tile<{{[0-9]+x[0-9]+}}xi8
// CHECK: cast {{.*}}xi8{{.*}}xf16
// CHECK-NOT: custom (
// EMU: program       @rmsnorm_linear_i8 of
// EMU: output 0      tensor<2x128xf16>: error {{.*}}: ok
// EMU: by the program's own lowering: error {{.*}}: ok
// PROOF: 1 ok, 0 refused
mirage_kernel.graph @rmsnorm_linear_i8(%x: tensor<2x1024xf16>, %g: tensor<1024xf16>, %w: tensor<1024x128xi8>, %s: tensor<128xf16>) -> tensor<2x128xf16> {
  %n = rms_norm %x, %g {eps = 1.0e-05} : tensor<2x1024xf16>, tensor<1024xf16>
  %wf = cast %w : tensor<1024x128xi8> -> tensor<1024x128xf16>
  %ws = mul %wf, %s : tensor<1024x128xf16>, tensor<128xf16>
  %y = matmul %n, %ws : tensor<2x1024xf16>, tensor<1024x128xf16>
  return %y : tensor<2x128xf16>
}
