// The main job at a small size: compiled here, then run. Without a GPU the chosen µGraph is evaluated on the CPU.
// RUN: mirage-mlir-opt --mirage-superoptimize %s -o %t.mlir
// RUN: mirage-run --target=cpu --baseline %t.mlir | FileCheck %s
// RUN: mirage-run --target=cpu --json %t.mlir > %t.first && mirage-run --target=cpu --json %t.mlir > %t.second
// RUN: grep -v cpu_ms %t.first > %t.first.kept && grep -v cpu_ms %t.second > %t.second.kept && diff %t.first.kept %t.second.kept

// CHECK: program       @norm_linear of
// CHECK: µGraph        @norm_linear_{{[0-9a-z]+}}: {{[0-9]+}} kernel
// CHECK: ptx           {{[0-9]+}} bytes for sm_90a
// CHECK: input 1       tensor<256xf16>: normal(0, 1) x 1, seed 1
// CHECK: input 2       tensor<256x128xf16>: normal(0, 1) x 0.0625, seed 1
// CHECK: output 0      tensor<2x128xf16>: error {{[0-9.e-]+}} (Frobenius-relative, float64 reference), {{.*}}; tolerance 0.001: ok
// CHECK: output 0      tensor<2x128xf16> by the program's own lowering: error
mirage_kernel.graph @norm_linear(%x: tensor<2x256xf16>, %g: tensor<256xf16>, %w: tensor<256x128xf16>) -> tensor<2x128xf16> {
  %n = rms_norm %x, %g {eps = 0.0} : tensor<2x256xf16>, tensor<256xf16>
  %y = matmul %n, %w : tensor<2x256xf16>, tensor<256x128xf16>
  return %y : tensor<2x128xf16>
}
