// RUN: mirage-mlir-opt %s --mirage-enumerate='max-candidates=4' --mirage-verify 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=PROVEN < %t.err
// An operator that the search does not treat stands between two parts that it does: they become kernels of their own.

// PROVEN-NOT: not searched
// PROVEN: @joined: 4 candidates, 4 equivalent

// CHECK: graph @joined_{{.*}}source = @joined
// CHECK: concat
// CHECK: custom
// CHECK: reduce_max
// CHECK: store
mirage_kernel.graph @joined(%x: tensor<64x128xf16>, %w: tensor<128x64xf16>) -> tensor<64x128xf16> {
  %y = matmul %x, %w : tensor<64x128xf16>, tensor<128x64xf16>
  %z = concat %y, %y {dim = 1} : tensor<64x64xf16>, tensor<64x64xf16>
  %p = softmax %z {dim = 1} : tensor<64x128xf16>
  return %p : tensor<64x128xf16>
}
