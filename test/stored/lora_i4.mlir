// LoRA on a base of i4 with a scale for each column; the adapter is f16.
// RUN: mirage-mlir-opt --mirage-superoptimize %s -o %t.mlir 2>&1 | FileCheck %s --check-prefix=SAY
// RUN: FileCheck %s < %t.mlir
// RUN: mirage-run --target=emulator --baseline %t.mlir | FileCheck %s --check-prefix=EMU
// RUN: mirage-check %t.mlir | FileCheck %s --check-prefix=PROOF

// SAY: @lora_i4: {{[0-9]+}} candidates kept
// SAY: 0 different, 0 unsupported
// CHECK: source = @lora_i4
// CHECK: load {{.*}}xi4> -> !mirage_block.tile
// EMU: output 0      tensor<2x128xf16>: error {{.*}}: ok
// EMU: by the program's own lowering: error {{.*}}: ok
// PROOF: 1 ok, 0 refused
mirage_kernel.graph @lora_i4(%x: tensor<2x512xf16>, %w: tensor<512x128xi4>, %s: tensor<128xf16>, %a: tensor<512x16xf16>, %b: tensor<16x128xf16>) -> tensor<2x128xf16> {
  %wf = cast %w : tensor<512x128xi4> -> tensor<512x128xf16>
  %ws = mul %wf, %s : tensor<512x128xf16>, tensor<128xf16>
  %p = matmul %x, %ws : tensor<2x512xf16>, tensor<512x128xf16>
  %l = matmul %x, %a : tensor<2x512xf16>, tensor<512x16xf16>
  %r = matmul %l, %b : tensor<2x16xf16>, tensor<16x128xf16>
  %y = add %p, %r : tensor<2x128xf16>, tensor<2x128xf16>
  return %y : tensor<2x128xf16>
}
