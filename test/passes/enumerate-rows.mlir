// Rows that fill much of a block's memory: tiles of one row along every other axis are the smallest, not of eight.
// RUN: mirage-mlir-opt %s --mirage-enumerate=max-candidates=4 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=FUNNEL --input-file=%t.err
// FUNNEL: @norm: {{.*}} the space was exhausted
// FUNNEL: {{.*}} 0 by memory
// CHECK: graph @norm_0(
// CHECK-NEXT: custom
// CHECK-NOT: custom
// CHECK: graph @norm_1(
mirage_kernel.graph @norm(%x: tensor<8x32x4096xf16>) -> tensor<8x32x4096xf16> {
  %m = reduce_mean %x {dim = 2} : tensor<8x32x4096xf16>
  %d = sub %x, %m : tensor<8x32x4096xf16>, tensor<8x32x1xf16>
  %s = square %d : tensor<8x32x4096xf16>
  %v = reduce_mean %s {dim = 2} : tensor<8x32x4096xf16>
  %r = sqrt %v : tensor<8x32x1xf16>
  %y = div %d, %r : tensor<8x32x4096xf16>, tensor<8x32x1xf16>
  return %y : tensor<8x32x4096xf16>
}
// A row of which not one fits: cut, and said to be; two loops walk it.
// FUNNEL: @wide: {{[0-9]+}} candidates kept
// FUNNEL: {{[1-9][0-9]*}} by memory
// CHECK: graph @wide(
mirage_kernel.graph @wide(%x: tensor<4x262144xf16>) -> tensor<4x262144xf16> {
  %m = reduce_mean %x {dim = 1} : tensor<4x262144xf16>
  %d = sub %x, %m : tensor<4x262144xf16>, tensor<4x1xf16>
  return %d : tensor<4x262144xf16>
}
