// A row too long for one block, in parts that do not divide it: the loads fill the tail with bottom, no index is compared, and
// what is found is proven, measured and selected.
// RUN: mirage-mlir-opt %s --mirage-superoptimize='target=h200 max-candidates=1' 2>%t.log | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAY < %t.log
mirage_kernel.graph @softmax(%x: tensor<1x100003xf16>) -> tensor<1x100003xf16> {
  %y = softmax %x {dim = 1} : tensor<1x100003xf16>
  return %y : tensor<1x100003xf16>
}
// CHECK: graph @softmax_0({{.*}}proof = {{.*}}selected
// CHECK-NOT: iota
// CHECK: load {{.*}}grid = [1]{{.*}}fill = bottom
// CHECK-NOT: iota
// CHECK: gpu.binary
// SAY: 1 equivalent
// SAY-NOT: cannot be measured
