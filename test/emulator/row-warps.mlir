// Rows in threads of as many warps as have pieces: three, five, seven and fourteen of them share a row, and sum it right.
//
// RUN: mirage-mlir-opt %s --mirage-superoptimize='target=h100 measure=no' -o %t.mlir 2>/dev/null
// RUN: FileCheck %s --check-prefix=WARPS < %t.mlir
// RUN: mirage-run %t.mlir --program=three --target=emulator | FileCheck %s
// RUN: mirage-run %t.mlir --program=five --target=emulator | FileCheck %s
// RUN: mirage-run %t.mlir --program=fourteen --target=emulator | FileCheck %s
// CHECK: : ok

// WARPS-LABEL: source = @three}
// WARPS: schedule <warps = 3,
mirage_kernel.graph @three(%x: tensor<6x768xf16>, %g: tensor<768xf16>, %b: tensor<768xf16>) -> tensor<6x768xf16> {
  %y = layer_norm %x, %g, %b {eps = 1.0e-05} : tensor<6x768xf16>, tensor<768xf16>, tensor<768xf16>
  return %y : tensor<6x768xf16>
}

// WARPS-LABEL: source = @five}
// WARPS: schedule <warps = 5,
mirage_kernel.graph @five(%x: tensor<6x2560xbf16>) -> tensor<6x2560xbf16> {
  %y = softmax %x {dim = 1} : tensor<6x2560xbf16>
  return %y : tensor<6x2560xbf16>
}

// WARPS-LABEL: source = @fourteen}
// WARPS: schedule <warps = 14,
mirage_kernel.graph @fourteen(%x: tensor<3x14336xf16>) -> tensor<3x14336xf16> {
  %a = reduce_mean %x {dim = 1} : tensor<3x14336xf16>
  %b = sub %x, %a : tensor<3x14336xf16>, tensor<3x1xf16>
  %c = square %b : tensor<3x14336xf16>
  %d = reduce_mean %c {dim = 1} : tensor<3x14336xf16>
  %e = constant 0.00001 : tensor<1xf16>
  %f = add %d, %e : tensor<3x1xf16>, tensor<1xf16>
  %h = rsqrt %f : tensor<3x1xf16>
  %y = mul %b, %h : tensor<3x14336xf16>, tensor<3x1xf16>
  return %y : tensor<3x14336xf16>
}
