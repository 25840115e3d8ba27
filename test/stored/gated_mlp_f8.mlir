// A gated MLP in bf16 whose weights are f8E4M3FN, with a scale for each tensor.
// RUN: mirage-mlir-opt --mirage-superoptimize %s -o %t.mlir 2>&1 | FileCheck %s --check-prefix=SAY
// RUN: FileCheck %s < %t.mlir
// RUN: mirage-run --target=emulator --baseline %t.mlir | FileCheck %s --check-prefix=EMU
// RUN: mirage-check %t.mlir | FileCheck %s --check-prefix=PROOF

// SAY: @gated_mlp_f8: {{[0-9]+}} candidates kept
// SAY: 0 different, 0 unsupported
// CHECK: source = @gated_mlp_f8
// CHECK-COUNT-2: load {{.*}}xf8E4M3FN> -> !mirage_block.tile
// EMU: output 0      tensor<4x64xbf16>: error {{.*}}: ok
// EMU: by the program's own lowering: error {{.*}}: ok
// PROOF: 1 ok, 0 refused
mirage_kernel.graph @gated_mlp_f8(%x: tensor<4x512xbf16>, %u: tensor<512x64xf8E4M3FN>, %v: tensor<512x64xf8E4M3FN>, %su: tensor<1x1xf32>, %sv: tensor<1x1xf32>) -> tensor<4x64xbf16> {
  %uf = cast %u : tensor<512x64xf8E4M3FN> -> tensor<512x64xbf16>
  %vf = cast %v : tensor<512x64xf8E4M3FN> -> tensor<512x64xbf16>
  %a = matmul %x, %uf : tensor<4x512xbf16>, tensor<512x64xbf16> -> tensor<4x64xf32>
  %b = matmul %x, %vf : tensor<4x512xbf16>, tensor<512x64xbf16> -> tensor<4x64xf32>
  %as = mul %a, %su : tensor<4x64xf32>, tensor<1x1xf32>
  %bs = mul %b, %sv : tensor<4x64xf32>, tensor<1x1xf32>
  %g = silu %as : tensor<4x64xf32>
  %p = mul %g, %bs : tensor<4x64xf32>, tensor<4x64xf32>
  %y = cast %p : tensor<4x64xf32> -> tensor<4x64xbf16>
  return %y : tensor<4x64xbf16>
}
