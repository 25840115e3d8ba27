// A loop whose tiles come in two ways: x by a producer's tensor copies, the weights by cp.async, since their rows are no multiple of 16
// bytes. Products may not run on into the next iteration, in which threads copy to where they read; nobody but the copy
// engine knows an mbarrier to wait for.
//
// RUN: mirage-mlir-opt %s --mirage-layout=explain -o %t.planned.mlir 2>&1 | FileCheck %s --check-prefix=PLAN
// RUN: mirage-mlir-opt %t.planned.mlir --mirage-lower -o %t.mlir 2>/dev/null
// RUN: mirage-run --target=emulator %t.mlir | FileCheck %s
//
// PLAN: plan: load 0 in loop 0: from producer to consumers
// PLAN-NOT: run on into the next iteration
// PLAN: plan: load 1, load 2 in loop 0: of consumers, shared memory, {{[0-9]}} stages; full: copy groups and a barrier
//
// CHECK: output 0 {{.*}}: ok

mirage_kernel.graph @program(%x: tensor<120x160xf16>, %w: tensor<160x250xf16>, %v: tensor<160x250xf16>) -> tensor<120x250xf16> {
  %a = matmul %x, %w : tensor<120x160xf16>, tensor<160x250xf16>
  %b = matmul %x, %v : tensor<120x160xf16>, tensor<160x250xf16>
  %y = mul %a, %b : tensor<120x250xf16>, tensor<120x250xf16>
  return %y : tensor<120x250xf16>
}

mirage_kernel.graph @candidate(%x: tensor<120x160xf16>, %w: tensor<160x250xf16>, %v: tensor<160x250xf16>) -> tensor<120x250xf16> attributes {source = @program, selected} {
  %y = custom (%xk = %x, %wk = %w, %vk = %v) outs(%yk) grid [1, 2] : (tensor<120x160xf16>, tensor<160x250xf16>, tensor<160x250xf16>) -> tensor<120x250xf16> {
    %zero = constant 0.0 : !mirage_block.tile<64x256xf32>
    %sums:2 = loop 5 (%a = %zero sum, %b = %zero sum) : !mirage_block.tile<64x256xf32>, !mirage_block.tile<64x256xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1], tiles = [64]} : tensor<120x160xf16> -> !mirage_block.tile<64x32xf16>
      %wt = load %wk {grid = [1], loop = [0], tiles = [0, 256]} : tensor<160x250xf16> -> !mirage_block.tile<32x256xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<64x32xf16>, !mirage_block.tile<32x256xf16>
      %vt = load %vk {grid = [1], loop = [0], tiles = [0, 256]} : tensor<160x250xf16> -> !mirage_block.tile<32x256xf16>
      %q = matmul %xt, %vt : !mirage_block.tile<64x32xf16>, !mirage_block.tile<32x256xf16>
      yield %p, %q : !mirage_block.tile<64x256xf32>, !mirage_block.tile<64x256xf32>
    }
    %m = mul %sums#0, %sums#1 : !mirage_block.tile<64x256xf32>, !mirage_block.tile<64x256xf32>
    store %m, %yk {grid = [1, 0], tiles = [64, 256]} : !mirage_block.tile<64x256xf32>, tensor<120x250xf16>
  }
  return %y : tensor<120x250xf16>
}
