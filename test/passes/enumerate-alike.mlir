// Of cuts into as many pieces, the second is kept, too, where it is nearly as fast by the model. Both have two pieces here: the second
// product of x by itself, eight blocks of a cluster for its sums (H200: 39.7 us; with a kernel that adds them 51.7), or the two beside each
// other (46.4).
//
// RUN: mirage-mlir-opt %s --mirage-enumerate=target=h100 2>/dev/null | FileCheck %s
// CHECK-LABEL: graph @low_rank_0(
// CHECK: custom {{.*}} grid [19, 8] cluster [1, 8] {{.*}} -> tensor<300x64xf16>
// CHECK: custom {{.*}} grid [40, 2]
// CHECK: loop 1 (
// CHECK: loop 80 (
// CHECK-LABEL: graph @low_rank_3(
// CHECK: custom {{.*}} grid [6, 20] {{.*}} -> (tensor<300x64xf16>, tensor<300x5120xf16>)
// CHECK: custom {{.*}} grid [23, 6]
mirage_kernel.graph @low_rank(%x: tensor<300x5120xf16>, %w: tensor<5120x5120xf16>, %a: tensor<5120x64xf16>, %b: tensor<64x5120xf16>) -> tensor<300x5120xf16> {
  %p = matmul %x, %w : tensor<300x5120xf16>, tensor<5120x5120xf16>
  %t = matmul %x, %a : tensor<300x5120xf16>, tensor<5120x64xf16>
  %q = matmul %t, %b : tensor<300x64xf16>, tensor<64x5120xf16>
  %y = add %p, %q : tensor<300x5120xf16>, tensor<300x5120xf16>
  return %y : tensor<300x5120xf16>
}
