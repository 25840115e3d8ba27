// A candidate that the code generator cannot take (here: more shared memory than a block may have) fails nothing: the next
// best is selected, or, where the candidate is selected already, the program's own lowering takes its place.
// RUN: mirage-mlir-opt %s --mirage-verify -o %t.proven.mlir 2>/dev/null
// RUN: mirage-mlir-opt %t.proven.mlir --mirage-select 2>%t.err | FileCheck %s --check-prefix=NEXT
// RUN: FileCheck %s --check-prefix=WHY --input-file %t.err
// RUN: sed 's/kernels = 1>}/kernels = 1>, selected}/;/^mirage_kernel.graph @small/,$d' %s > %t.chosen.mlir
// RUN: mirage-mlir-opt %t.chosen.mlir --mirage-lower 2>%t.err | FileCheck %s --check-prefix=OWN
// RUN: FileCheck %s --check-prefix=WARN --input-file %t.err
// RUN: mirage-mlir-opt %t.chosen.mlir --mirage-lower=num-threads=1 2>/dev/null > %t.one
// RUN: mirage-mlir-opt %t.chosen.mlir --mirage-lower=num-threads=2 2>/dev/null > %t.two
// RUN: diff %t.one %t.two

// NEXT-NOT: graph @big(
// NEXT:     graph @small({{.*}}selected
// WHY: warning: layout: {{.*}} of shared memory
// WHY: @big: refused: it cannot be compiled
// WHY: @p: selected @small of 1 proven

// OWN:     graph @q_own({{.*}}selected
// OWN:     gpu.binary @q_own_bin
// OWN:     graph @p_own({{.*}}selected
// OWN:     gpu.binary @p_own_bin
// OWN:     graph @big(
// OWN-NOT: selected
// OWN-NOT: gpu.binary @big_bin
// WARN: @q_own: lowered to
// WARN: warning: layout: {{.*}} of shared memory
// WARN: warning: @big: cannot be compiled for h200; @p gets its own lowering instead
// WARN: @p_own: lowered to

mirage_kernel.graph @q(%x: tensor<256x1024xf32>) -> tensor<256x1024xf32> {
  %y = exp %x : tensor<256x1024xf32>
  return %y : tensor<256x1024xf32>
}
mirage_kernel.graph @p(%x: tensor<256x1024xf32>) -> tensor<1024x256xf32> {
  %y = transpose %x {perm = [1, 0]} : tensor<256x1024xf32>
  return %y : tensor<1024x256xf32>
}
mirage_kernel.graph @big(%x: tensor<256x1024xf32>) -> tensor<1024x256xf32> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 0.01, bytes = 4096.0, flops = 1024.0, kernels = 1>} {
  %y = custom (%xk = %x) outs(%yk) grid [1] schedule <loads = [async]> : (tensor<256x1024xf32>) -> tensor<1024x256xf32> {
    %xt = load %xk : tensor<256x1024xf32> -> !mirage_block.tile<256x1024xf32>
    %e = transpose %xt {perm = [1, 0]} : !mirage_block.tile<256x1024xf32>
    store %e, %yk : !mirage_block.tile<1024x256xf32>, tensor<1024x256xf32>
  }
  return %y : tensor<1024x256xf32>
}
mirage_kernel.graph @small(%x: tensor<256x1024xf32>) -> tensor<1024x256xf32> attributes {source = @p, cost = #mirage_kernel.cost<time_us = 0.02, bytes = 4096.0, flops = 1024.0, kernels = 1>} {
  %y = custom (%xk = %x) outs(%yk) grid [16, 16] schedule <loads = [async]> : (tensor<256x1024xf32>) -> tensor<1024x256xf32> {
    %xt = load %xk {grid = [0, 1]} : tensor<256x1024xf32> -> !mirage_block.tile<16x64xf32>
    %e = transpose %xt {perm = [1, 0]} : !mirage_block.tile<16x64xf32>
    store %e, %yk {grid = [1, 0]} : !mirage_block.tile<64x16xf32>, tensor<1024x256xf32>
  }
  return %y : tensor<1024x256xf32>
}
