// Rows that fit no block are shared by a cluster: by two blocks where that is enough, since meetings of more take longer.
//
// RUN: mirage-mlir-opt %s --mirage-enumerate=target=h100 2>/dev/null | FileCheck %s
//
// CHECK: graph @norm_0(
// CHECK-NEXT: grid [64, 2] cluster [1, 2]
// CHECK: cluster_sum
mirage_kernel.graph @norm(%x: tensor<64x128256xf16>, %g: tensor<128256xf16>, %b: tensor<128256xf16>) -> tensor<64x128256xf16> {
  %y = layer_norm %x, %g, %b {eps = 1.0e-05} : tensor<64x128256xf16>, tensor<128256xf16>, tensor<128256xf16>
  return %y : tensor<64x128256xf16>
}
// Two blocks beside each other are best, a row each: one computes while the other waits.
// CHECK: graph @softmax_0(
// CHECK-NEXT: grid [512] :
// CHECK-NOT: cluster_
// CHECK: graph @softmax_1(
mirage_kernel.graph @softmax(%x: tensor<512x50257xf16>) -> tensor<512x50257xf16> {
  %y = softmax %x {dim = 1} : tensor<512x50257xf16>
  return %y : tensor<512x50257xf16>
}

// What every block needs is summed in each before they meet: 128 parts of one number, not of 1954, which took 81 us in place of 11.
// CHECK-LABEL: graph @million_0(
// CHECK-NOT: grid_max
// CHECK: reduce_sum
// CHECK: grid_max
mirage_kernel.graph @million(%x: tensor<1x1000000xf16>) -> tensor<1x1000000xf16> {
  %y = softmax %x {dim = 1} : tensor<1x1000000xf16>
  return %y : tensor<1x1000000xf16>
}

// Long rows that are few are shared by blocks also where one would hold them, by those that come out even: a norm that walks its
// rows three times, in 29 parts of 1733 columns each; 16 blocks, which were all there was, take twice as long. Rows of 64 have blocks enough.
// CHECK-LABEL: graph @few_0(
// CHECK: grid [4, 29] :
// CHECK-COUNT-2: grid_sum
// CHECK-LABEL: graph @enough_0(
// CHECK-NEXT: grid [64] :
mirage_kernel.graph @few(%x: tensor<16x50257xbf16>, %g: tensor<50257xbf16>, %b: tensor<50257xbf16>) -> tensor<16x50257xbf16> {
  %y = layer_norm %x, %g, %b {eps = 1.0e-05} : tensor<16x50257xbf16>, tensor<50257xbf16>, tensor<50257xbf16>
  return %y : tensor<16x50257xbf16>
}
mirage_kernel.graph @enough(%x: tensor<64x50257xbf16>, %g: tensor<50257xbf16>, %b: tensor<50257xbf16>) -> tensor<64x50257xbf16> {
  %y = layer_norm %x, %g, %b {eps = 1.0e-05} : tensor<64x50257xbf16>, tensor<50257xbf16>, tensor<50257xbf16>
  return %y : tensor<64x50257xbf16>
}
