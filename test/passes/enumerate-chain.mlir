// A chain with two results, one of which the other is computed from, is one kernel that reads each input once: a thread has
// what both need. Rows that no block has registers for are shared by the blocks of a cluster.
// RUN: mirage-mlir-opt %s --mirage-enumerate=max-candidates=4 --mirage-layout 2>/dev/null | FileCheck %s

// CHECK: graph @chain_0(
// CHECK-NEXT: custom {{.*}} in_threads = true
// CHECK-COUNT-2: store
// CHECK-NOT: custom
// CHECK: graph @chain_
mirage_kernel.graph @chain(%x: tensor<4096x4096xf16>, %y: tensor<4096x4096xf16>, %column: tensor<4096x1xf16>) -> (tensor<4096x4096xf16>, tensor<4096x4096xf16>) {
  %a = sub %x, %column : tensor<4096x4096xf16>, tensor<4096x1xf16>
  %b = tanh %a : tensor<4096x4096xf16>
  %c = gelu %b : tensor<4096x4096xf16>
  %d = sigmoid %c : tensor<4096x4096xf16>
  %e = sub %d, %y : tensor<4096x4096xf16>, tensor<4096x4096xf16>
  %f = tanh %e : tensor<4096x4096xf16>
  %g = mul %f, %column : tensor<4096x4096xf16>, tensor<4096x1xf16>
  return %f, %g : tensor<4096x4096xf16>, tensor<4096x4096xf16>
}

// CHECK: graph @norm_0(
// CHECK-NEXT: custom {{.*}} cluster [1, {{[248]}}] {{.*}} in_threads = true
// CHECK: cluster_sum
// CHECK-NOT: custom
// CHECK: graph @norm_1(
mirage_kernel.graph @norm(%x: tensor<64x128256xf16>, %g: tensor<128256xf16>) -> tensor<64x128256xf16> {
  %y = rms_norm %x, %g {eps = 1.0e-05} : tensor<64x128256xf16>, tensor<128256xf16>
  return %y : tensor<64x128256xf16>
}
