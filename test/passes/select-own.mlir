// RUN: mirage-mlir-opt %s --mirage-verify 2>/dev/null | sed '/graph @refused/s/guard = .*proof = #mirage_kernel.proof<[^>]*>, //' > %t.mlir
// RUN: mirage-mlir-opt %t.mlir --mirage-select 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t
// RUN: mirage-mlir-opt %t.mlir --mirage-select=target=a100 -o /dev/null 2>&1 | FileCheck %s --check-prefix=A100
// When nothing beats the program's own lowering, nothing is selected, and the pass says so.

// CHECK:     graph @p(
// CHECK-NOT: selected
// CHECK-NOT: graph @slow(
// CHECK:     graph @none(
// CHECK-NOT: graph @refused(
// WHY:  @p: its own lowering is better: {{.*}} us predicted on h200, the best of 1 proven is @slow with 1000.00 us
// WHY:  @refused: refused: it has no proof
// WHY:  @none: no proven candidate; its own lowering stands ({{.*}} us predicted on h200)
// A100: predicted on a100

mirage_kernel.graph @p(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
  %y = exp %x : tensor<16x64xf16>
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @slow(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 1000.0, bytes = 4096.0, flops = 1024.0, kernels = 1>} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x64xf16>
    %e = exp %xt : !mirage_block.tile<16x64xf16>
    store %e, %yk {grid = [1]} : !mirage_block.tile<16x64xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @none(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
  %y = exp %x : tensor<16x64xf16>
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @refused(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @none, cost = #mirage_kernel.cost<time_us = 0.01, bytes = 4096.0, flops = 1024.0, kernels = 1>} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x64xf16>
    %e = exp %xt : !mirage_block.tile<16x64xf16>
    store %e, %yk {grid = [1]} : !mirage_block.tile<16x64xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
