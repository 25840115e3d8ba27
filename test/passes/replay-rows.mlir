// Programs without products may have two operators more in a block: the gradient of RMSNorm takes twelve where a cluster shares its
// rows. One kernel is found, whose graph lies in the space that a replay looks at.
//
// RUN: mirage-mlir-opt %s --mirage-enumerate=max-candidates=2 -o %t.mlir 2> %t.search
// RUN: FileCheck %s < %t.mlir
// RUN: mirage-mlir-opt %t.mlir --mirage-enumerate=replay=yes -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPLAY
// REPLAY-NOT: cut at
// REPLAY: remark:{{.*}}kept as candidate
// REPLAY-NOT: cut at
//
// Whoever says how many, is heard.
// RUN: mirage-mlir-opt %s --mirage-enumerate='max-candidates=2 max-block-ops=10' -o - 2>/dev/null | FileCheck %s --check-prefix=FEW
// FEW-LABEL: graph @rms_grad_0(
// FEW: custom
// FEW: custom

// CHECK-LABEL: graph @rms_grad_0(
// CHECK: custom
// CHECK-COUNT-2: cluster_sum
// CHECK-NOT: custom
// CHECK: return
mirage_kernel.graph @rms_grad(%x: tensor<512x50257xf16>, %d: tensor<512x50257xf16>) -> tensor<512x50257xf16> {
  %0 = square %x : tensor<512x50257xf16>
  %1 = reduce_mean %0 {dim = 1} : tensor<512x50257xf16>
  %e = constant 0.00001 : tensor<1xf16>
  %2 = add %1, %e : tensor<512x1xf16>, tensor<1xf16>
  %3 = rsqrt %2 : tensor<512x1xf16>
  %4 = mul %x, %3 : tensor<512x50257xf16>, tensor<512x1xf16>
  %5 = mul %d, %4 : tensor<512x50257xf16>, tensor<512x50257xf16>
  %6 = reduce_mean %5 {dim = 1} : tensor<512x50257xf16>
  %7 = mul %4, %6 : tensor<512x50257xf16>, tensor<512x1xf16>
  %8 = sub %d, %7 : tensor<512x50257xf16>, tensor<512x50257xf16>
  %9 = mul %3, %8 : tensor<512x1xf16>, tensor<512x50257xf16>
  return %9 : tensor<512x50257xf16>
}
