// Products of one row with the rows of weights are sums of rows as well: blocks that take whole rows of the weights come before those
// that multiply (H100: 38.5 us for these 117 MB, and 42.4).
//
// RUN: mirage-mlir-opt %s --mirage-enumerate=target=h100 --mirage-verify --mirage-layout=target=h100 -o %t.mlir 2>%t.err
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=PROVEN < %t.err
// RUN: mirage-mlir-opt %s --mirage-enumerate=target=h100 2>/dev/null | mirage-mlir-opt --mirage-enumerate='target=h100 replay=yes' -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPLAY
//
// What the search emits is in its space.
// REPLAY-NOT: cut at
// REPLAY: @row_0: in the space: {{.*}} kept as candidate 0
// REPLAY-NOT: cut at
// REPLAY: @gated_0: in the space: {{.*}} kept as candidate 0
//
// PROVEN: @row: 16 candidates, 16 equivalent
// PROVEN: @gated: 16 candidates, {{1[0-6]}} equivalent
// PROVEN: @residual: 16 candidates, 16 equivalent
//
// CHECK-LABEL: graph @row_0(
// CHECK: grid [{{(14336|7168|3584)}}]{{.*}} in_threads = true
// CHECK-NOT: matmul
// CHECK: mul
// CHECK: reduce_sum {{.*}} {dim = 1}
// CHECK: store {{.*}} tensor<14336x1xbf16>
// CHECK: reshape {{.*}} tensor<14336x1xbf16> -> tensor<1x14336xbf16>
// CHECK-LABEL: graph @row_8(
// Half of the candidates multiply.
// CHECK: matmul
mirage_kernel.graph @row(%x: tensor<1x4096xbf16>, %w: tensor<14336x4096xbf16>) -> tensor<1x14336xbf16> {
  %y = matmul %x, %w {transpose_b} : tensor<1x4096xbf16>, tensor<14336x4096xbf16>
  return %y : tensor<1x14336xbf16>
}

// One kernel, of a norm, two products and a gate.
// CHECK-LABEL: graph @gated_0(
// CHECK-COUNT-1: custom
// CHECK-NOT: matmul
// CHECK: return
mirage_kernel.graph @gated(%x: tensor<1x1024xf16>, %a: tensor<4096x1024xf16>, %b: tensor<4096x1024xf16>) -> tensor<1x4096xf16> {
  %n = rms_norm %x {eps = 1.0e-05} : tensor<1x1024xf16>
  %1 = matmul %n, %a {transpose_b} : tensor<1x1024xf16>, tensor<4096x1024xf16>
  %2 = matmul %n, %b {transpose_b} : tensor<1x1024xf16>, tensor<4096x1024xf16>
  %3 = silu %1 : tensor<1x4096xf16>
  %4 = mul %3, %2 : tensor<1x4096xf16>, tensor<1x4096xf16>
  return %4 : tensor<1x4096xf16>
}

// What is added lies as the result does: rows and vectors are seen as columns, numbers stay.
// CHECK-LABEL: graph @residual_0(
// CHECK: load {{.*}} tensor<4096x1xf16>
// CHECK: return
mirage_kernel.graph @residual(%x: tensor<1x4096xf16>, %w: tensor<4096x4096xf16>, %r: tensor<1x4096xf16>, %b: tensor<4096xf16>) -> tensor<1x4096xf16> {
  %1 = matmul %x, %w {transpose_b} : tensor<1x4096xf16>, tensor<4096x4096xf16>
  %2 = add %1, %b : tensor<1x4096xf16>, tensor<4096xf16>
  %c = constant 0.5 : tensor<1x1xf16>
  %3 = mul %2, %c : tensor<1x4096xf16>, tensor<1x1xf16>
  %4 = add %3, %r : tensor<1x4096xf16>, tensor<1x4096xf16>
  return %4 : tensor<1x4096xf16>
}

// Two rows, weights that are read down their columns, products that are summed or multiplied again: as ever.
// CHECK-LABEL: graph @two_rows_0(
// CHECK-NOT: reduce_sum
// CHECK: return
mirage_kernel.graph @two_rows(%x: tensor<2x512xf16>, %w: tensor<1024x512xf16>) -> tensor<2x1024xf16> {
  %y = matmul %x, %w {transpose_b} : tensor<2x512xf16>, tensor<1024x512xf16>
  return %y : tensor<2x1024xf16>
}
// CHECK-LABEL: graph @columns_0(
// CHECK-NOT: reduce_sum
// CHECK: return
mirage_kernel.graph @columns(%x: tensor<1x512xf16>, %w: tensor<512x1024xf16>) -> tensor<1x1024xf16> {
  %y = matmul %x, %w : tensor<1x512xf16>, tensor<512x1024xf16>
  return %y : tensor<1x1024xf16>
}
// CHECK-LABEL: graph @summed_0(
// CHECK: matmul
// CHECK: return
mirage_kernel.graph @summed(%x: tensor<1x512xf16>, %w: tensor<256x512xf16>) -> tensor<1x1xf16> {
  %y = matmul %x, %w {transpose_b} : tensor<1x512xf16>, tensor<256x512xf16>
  %s = reduce_sum %y {dim = 1} : tensor<1x256xf16>
  return %s : tensor<1x1xf16>
}
