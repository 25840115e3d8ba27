// A linear layer whose weight is i4 as frameworks keep it, a row for each output, with a scale and a zero point for each group of 128
// along the row: [N, G, R]. One kernel, which loads groups where they lie.
// RUN: mirage-mlir-opt --mirage-superoptimize %s -o %t.mlir 2>&1 | FileCheck %s --check-prefix=SAY
// RUN: FileCheck %s < %t.mlir
// RUN: mirage-run --target=emulator --baseline --program=linear_i4_rows %t.mlir | FileCheck %s --check-prefix=EMU
// RUN: mirage-run --target=emulator --baseline --program=grouped_first %t.mlir | FileCheck %s --check-prefix=EMU
// RUN: mirage-check %t.mlir | FileCheck %s --check-prefix=PROOF

// SAY-DAG: @linear_i4_rows: {{[0-9]+}} candidates kept
// SAY-DAG: @linear_i4_rows: {{[0-9]+}} candidates, {{[1-9][0-9]*}} equivalent {{.*}} 0 different, 0 unsupported
// SAY-DAG: @grouped_first: {{[0-9]+}} candidates, {{[1-9][0-9]*}} equivalent {{.*}} 0 different, 0 unsupported
// CHECK: source = @linear_i4_rows
// CHECK: reshape {{.*}} : tensor<64x512xi4> -> tensor<64x4x128xi4>
// CHECK: custom (
// CHECK: load {{.*}}order = [1, 0, 2]} : tensor<64x4x128xi4> -> !mirage_block.tile<{{[0-9x]+}}xi4
// CHECK-NOT: custom (
// CHECK-LABEL: graph @grouped_first(
// EMU: output 0      tensor<2x64xf16>: error {{.*}}: ok
// EMU: by the program's own lowering: error {{.*}}: ok
// PROOF: 2 ok, 0 refused
mirage_kernel.graph @linear_i4_rows(%x: tensor<2x512xf16>, %w: tensor<64x512xi4>, %s: tensor<64x4x1xf16>, %z: tensor<64x4x1xf16>) -> tensor<2x64xf16> {
  %wf = cast %w : tensor<64x512xi4> -> tensor<64x512xf16>
  %wg = reshape %wf : tensor<64x512xf16> -> tensor<64x4x128xf16>
  %wz = sub %wg, %z : tensor<64x4x128xf16>, tensor<64x4x1xf16>
  %ws = mul %wz, %s : tensor<64x4x128xf16>, tensor<64x4x1xf16>
  %wd = reshape %ws : tensor<64x4x128xf16> -> tensor<64x512xf16>
  %y = matmul %x, %wd {transpose_b} : tensor<2x512xf16>, tensor<64x512xf16>
  return %y : tensor<2x64xf16>
}

// The same, with the weight in groups as it is given, a scale for all groups of a row, and one for each place in a group.
mirage_kernel.graph @grouped_first(%x: tensor<2x512xf16>, %w: tensor<64x4x128xi8>, %s: tensor<64x1x1xf16>, %g: tensor<4x128xf16>) -> tensor<2x64xf16> {
  %wf = cast %w : tensor<64x4x128xi8> -> tensor<64x4x128xf16>
  %wg = mul %wf, %g : tensor<64x4x128xf16>, tensor<4x128xf16>
  %ws = mul %wg, %s : tensor<64x4x128xf16>, tensor<64x1x1xf16>
  %wd = reshape %ws : tensor<64x4x128xf16> -> tensor<64x512xf16>
  %y = matmul %x, %wd {transpose_b} : tensor<2x512xf16>, tensor<64x512xf16>
  return %y : tensor<2x64xf16>
}
