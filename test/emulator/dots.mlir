// Products of one row with the rows of weights, as sums of rows (lib/search/views/search_dots.c): what the search chooses, compiled
// and run on the emulator. No matrix instruction is in it.
//
// RUN: mirage-mlir-opt %s --mirage-superoptimize='target=h100 measure=no' -o %t.mlir 2>/dev/null
// RUN: mirage-run --target=emulator --program=row --emit-ptx=%t.row.ptx %t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.row.ptx
// RUN: mirage-run --target=emulator --program=odd --emit-ptx=%t.odd.ptx %t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.odd.ptx
// RUN: mirage-run --target=emulator --program=gated --emit-ptx=%t.gated.ptx %t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.gated.ptx
// RUN: mirage-run --target=emulator --program=residual --emit-ptx=%t.residual.ptx %t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.residual.ptx
// RUN: mirage-run --target=emulator --program=both --emit-ptx=%t.both.ptx %t.mlir | FileCheck %s --check-prefixes=CHECK,BOTH
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.both.ptx
// CHECK: output 0 {{.*}}: ok
// BOTH: output 1 {{.*}}: ok
// PTX: entry
// PTX-NOT: mma

mirage_kernel.graph @row(%x: tensor<1x2048xbf16>, %w: tensor<512x2048xbf16>) -> tensor<1x512xbf16> {
  %y = matmul %x, %w {transpose_b} : tensor<1x2048xbf16>, tensor<512x2048xbf16>
  return %y : tensor<1x512xbf16>
}

// Neither rows nor columns are a power of two.
mirage_kernel.graph @odd(%x: tensor<1x2000xf16>, %w: tensor<300x2000xf16>) -> tensor<1x300xf16> {
  %y = matmul %x, %w {transpose_b} : tensor<1x2000xf16>, tensor<300x2000xf16>
  return %y : tensor<1x300xf16>
}

mirage_kernel.graph @gated(%x: tensor<1x1024xbf16>, %g: tensor<1024xbf16>, %a: tensor<640x1024xbf16>, %b: tensor<640x1024xbf16>) -> tensor<1x640xbf16> {
  %n = rms_norm %x, %g {eps = 1.0e-05} : tensor<1x1024xbf16>, tensor<1024xbf16>
  %1 = matmul %n, %a {transpose_b} : tensor<1x1024xbf16>, tensor<640x1024xbf16>
  %2 = matmul %n, %b {transpose_b} : tensor<1x1024xbf16>, tensor<640x1024xbf16>
  %3 = silu %1 : tensor<1x640xbf16>
  %4 = mul %3, %2 : tensor<1x640xbf16>, tensor<1x640xbf16>
  return %4 : tensor<1x640xbf16>
}

mirage_kernel.graph @residual(%x: tensor<1x2048xf16>, %w: tensor<512x2048xf16>, %r: tensor<1x512xf16>, %b: tensor<512xf16>) -> tensor<1x512xf16> {
  %1 = matmul %x, %w {transpose_b} : tensor<1x2048xf16>, tensor<512x2048xf16>
  %2 = add %1, %b : tensor<1x512xf16>, tensor<512xf16>
  %c = constant 0.5 : tensor<1x1xf16>
  %3 = mul %2, %c : tensor<1x512xf16>, tensor<1x1xf16>
  %4 = add %3, %r : tensor<1x512xf16>, tensor<1x512xf16>
  return %4 : tensor<1x512xf16>
}

// Two results, one of which is no product.
mirage_kernel.graph @both(%x: tensor<1x2048xf16>, %w: tensor<512x2048xf16>) -> (tensor<1x512xf16>, tensor<1x2048xf16>) {
  %n = silu %x : tensor<1x2048xf16>
  %1 = matmul %n, %w {transpose_b} : tensor<1x2048xf16>, tensor<512x2048xf16>
  return %1, %n : tensor<1x512xf16>, tensor<1x2048xf16>
}
