// Rows of 8 bytes, which tensor copies cannot read, and which a copy with longer rows does not help: tiles of 4 columns do
// not cut 8. What cannot be built is no candidate, in two kernels neither; the others are right on the emulated GPU.
// RUN: mirage-mlir-opt %s --mirage-superoptimize='target=h200 measure=no max-states=4000' -o %t.mlir 2>/dev/null
// RUN: mirage-run %t.mlir --target=emulator | FileCheck %s
// CHECK: : ok
mirage_kernel.graph @sums_and_product(%e: tensor<8x128x4xf16>, %q: tensor<8x32x4xf16>, %m: tensor<8x4x4xf16>) -> (tensor<8x1x4xf16>, tensor<8x32x4xf16>) {
  %1 = reduce_sum %e {dim = 1} : tensor<8x128x4xf16>
  %2 = matmul %q, %m : tensor<8x32x4xf16>, tensor<8x4x4xf16>
  return %1, %2 : tensor<8x1x4xf16>, tensor<8x32x4xf16>
}
