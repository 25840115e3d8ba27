// The fastest proven candidate is chosen; one without a proof is refused, however fast it says it is, and so is one whose
// proof was made for something else.
// RUN: mirage-mlir-opt %s --mirage-verify -o %t.proven.mlir 2>/dev/null
// RUN: sed -e '/graph @unproven/s/guard = .*proof = #mirage_kernel.proof<[^>]*>, //' -e '/graph @untied/s/, pair = [0-9]*//' -e '/graph @edited/,/return/s/exp /log /' -e '/graph @boasting/s/log2_bound = -[0-9.]*/log2_bound = -1000.0/' -e '/graph @changed/,/return/s/grid \[16\]/grid [16] schedule <warps = 4>/' %t.proven.mlir > %t.mlir
// RUN: mirage-mlir-opt %t.mlir --mirage-select 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t
// RUN: mirage-mlir-opt %t.mlir --mirage-select=keep=all 2>/dev/null | FileCheck %s --check-prefix=ALL
// RUN: mirage-mlir-opt %t.mlir --mirage-select=log2-bound=-400 -o /dev/null 2>&1 | FileCheck %s --check-prefix=STRICT

// STRICT: @chosen: refused: a wrong graph passes its proof with probability 2^-{{[0-9.]+}}, 2^-400.0 is asked for
// STRICT: @p: no proven candidate; its own lowering stands

// CHECK:     graph @p(
// CHECK-NOT: graph @unproven(
// CHECK-NOT: graph @slow(
// CHECK:     graph @chosen({{.*}}selected
// CHECK-NOT: graph @also_slow(
// CHECK-NOT: graph @edited(
// WHY: @unproven: refused: it has no proof
// WHY: @edited: refused: its proof was made for other graphs; one of the two has been changed since
// WHY: @untied: refused: its proof does not say which graphs it was made for
// WHY: @boasting: refused: its proof claims 2^-1000.0, its {{[0-9]}} trials show 2^-{{[0-9][0-9]}}.
// WHY: @p: selected @chosen of 4 proven: 0.02 us predicted on h200, {{.*}}; proof at full size, a wrong graph passes with probability below 2^-{{[6-9][0-9]}}.
// ALL:     graph @unproven(
// ALL-NOT: selected
// ALL:     graph @slow(
// ALL-NOT: selected
// ALL:     graph @chosen({{.*}}selected
// ALL:     graph @also_slow(
// ALL-NOT: selected
// ALL:     graph @edited(
// ALL-NOT: proof
// ALL:     graph @untied(
// ALL-NOT: proof
// ALL:     graph @boasting(
// ALL-NOT: proof
// ALL:     graph @changed({{.*}}proof = #mirage_kernel.proof<

mirage_kernel.graph @p(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
  %y = exp %x : tensor<16x64xf16>
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @unproven(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 0.01, bytes = 4096.0, flops = 1024.0, kernels = 1>} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x64xf16>
    %e = exp %xt : !mirage_block.tile<16x64xf16>
    store %e, %yk {grid = [1]} : !mirage_block.tile<16x64xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @slow(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 0.04, bytes = 4096.0, flops = 1024.0, kernels = 1>, selected} {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x32xf16>
    %e = exp %xt : !mirage_block.tile<16x32xf16>
    store %e, %yk {grid = [1]} : !mirage_block.tile<16x32xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @chosen(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 0.02, bytes = 4096.0, flops = 1024.0, kernels = 1>} {
  %y = custom (%xk = %x) outs(%yk) grid [4] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x16xf16>
    %e = exp %xt : !mirage_block.tile<16x16xf16>
    store %e, %yk {grid = [1]} : !mirage_block.tile<16x16xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @also_slow(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 0.03, bytes = 4096.0, flops = 1024.0, kernels = 1>} {
  %y = custom (%xk = %x) outs(%yk) grid [8] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x8xf16>
    %e = exp %xt : !mirage_block.tile<16x8xf16>
    store %e, %yk {grid = [1]} : !mirage_block.tile<16x8xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
// Its exponential becomes a logarithm after the proof.
mirage_kernel.graph @edited(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 0.01, bytes = 4096.0, flops = 1024.0, kernels = 1>} {
  %y = custom (%xk = %x) outs(%yk) grid [4] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x16xf16>
    %e = exp %xt : !mirage_block.tile<16x16xf16>
    store %e, %yk {grid = [1]} : !mirage_block.tile<16x16xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
// Its proof loses the hash of the graphs.
mirage_kernel.graph @untied(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 0.01, bytes = 4096.0, flops = 1024.0, kernels = 1>} {
  %y = custom (%xk = %x) outs(%yk) grid [4] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x16xf16>
    %e = exp %xt : !mirage_block.tile<16x16xf16>
    store %e, %yk {grid = [1]} : !mirage_block.tile<16x16xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
// Its proof claims more than its trials show.
mirage_kernel.graph @boasting(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 0.01, bytes = 4096.0, flops = 1024.0, kernels = 1>} {
  %y = custom (%xk = %x) outs(%yk) grid [4] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x16xf16>
    %e = exp %xt : !mirage_block.tile<16x16xf16>
    store %e, %yk {grid = [1]} : !mirage_block.tile<16x16xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
// A schedule that is written later changes no result: the proof stands.
mirage_kernel.graph @changed(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 0.05, bytes = 4096.0, flops = 1024.0, kernels = 1>} {
  %y = custom (%xk = %x) outs(%yk) grid [16] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x4xf16>
    %e = exp %xt : !mirage_block.tile<16x4xf16>
    store %e, %yk {grid = [1]} : !mirage_block.tile<16x4xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
