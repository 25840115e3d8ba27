// Pairs of blocks receive what either of them asks for: two stages of 128 x 256 x 128 are not enough ahead, four of half the depth are
// (H100: 59.2 us and 41.8).
//
// RUN: mirage-mlir-opt %s --mirage-enumerate=target=h100 --mirage-layout=target=h100 2>/dev/null | FileCheck %s
//
// CHECK: graph @linear_0(
// CHECK-NEXT: cluster [1, 2]{{.*}}tensor(stages = 4){{.*}}tensor(stages = 4, multicast = true)
mirage_kernel.graph @linear(%x: tensor<3000x1000xf16>, %w: tensor<1000x4096xf16>) -> tensor<3000x4096xf16> {
  %y = matmul %x, %w : tensor<3000x1000xf16>, tensor<1000x4096xf16>
  return %y : tensor<3000x4096xf16>
}
