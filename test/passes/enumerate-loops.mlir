// RUN: mirage-mlir-opt %s --mirage-enumerate='max-candidates=8 griddims=1,4,256' --mirage-verify 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=PROVEN < %t.err
// No block holds a row: a loop takes its statistics, and another one walks it again and stores a tile in each iteration.

// PROVEN-NOT: not searched
// PROVEN: @softmax: {{.*}} 0 different, 0 unsupported
// PROVEN: @norm: {{.*}} 0 different, 0 unsupported

// CHECK: graph @softmax_0
// CHECK: custom {{.*}} grid [256]
// CHECK: loop {{.*}} max, {{.*}} rescale)
// CHECK: load
// CHECK: reduce_max
// CHECK: yield
// CHECK: loop {{[0-9]+}} {
// CHECK-NEXT: load
// CHECK-NOT: reduce_max
// CHECK: exp
// CHECK: div
// CHECK: store {{.*}} {grid = [0], loop = [1]}
mirage_kernel.graph @softmax(%x: tensor<256x65536xf32>) -> tensor<256x65536xf32> {
  %p = softmax %x {dim = 1} : tensor<256x65536xf32>
  return %p : tensor<256x65536xf32>
}

// Four rows are few: blocks share them, meet after their sums, and store what each of them holds.
// CHECK: graph @norm_0
// CHECK: custom {{.*}} grid [4, 4] cluster [1, 4]
// CHECK: loop
// CHECK: cluster_sum
// CHECK: loop {{[0-9]+}} {
// CHECK: store {{.*}} {grid = [0, 1], loop = [1]}
mirage_kernel.graph @norm(%x: tensor<4x1048576xf16>) -> tensor<4x1048576xf16> {
  %y = rms_norm %x {eps = 1.0e-06} : tensor<4x1048576xf16>
  return %y : tensor<4x1048576xf16>
}
