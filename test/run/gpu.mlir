// The same on a GPU: the PTX is loaded by the driver, run twice, compared with float64, and timed.
// REQUIRES: nvidia-gpu
// RUN: mirage-mlir-opt --mirage-superoptimize %S/superoptimize.mlir -o %t.mlir
// RUN: mirage-run --target=gpu --benchmark --baseline %t.mlir | FileCheck %s
// CHECK: ran on        NVIDIA
// CHECK: output 0      tensor<2x128xf16>: error {{[0-9.e-]+}} (Frobenius-relative, float64 reference), {{.*}}; tolerance 0.001: ok
// CHECK: time          {{[0-9.]+}} us cold (spread {{.*}}), {{[0-9.]+}} us warm (spread {{.*}}), median of
// CHECK: output 0      tensor<2x128xf16> by the program's own lowering: error {{[0-9.e-]+}} {{.*}}: ok
