// Rows that blocks of a cluster share, in the threads that load them.
// RUN: mirage-mlir-opt %s --mirage-layout=target=h200 --mirage-lower=target=h200 -o %t.mlir
// RUN: mirage-run --target=emulator --program=divided %t.mlir | FileCheck %s --check-prefix=DIVIDED
// RUN: mirage-run --target=emulator --program=late %t.mlir | FileCheck %s --check-prefix=LATE
// RUN: FileCheck %s < %t.mlir

// What a block publishes may be computed from its sums: each row's first thread computes it before it is written.
// DIVIDED: 32768 of 32768 elements compared; {{.*}}: ok
mirage_kernel.graph @divided(%x: tensor<8x4096xf16>, %g: tensor<4096xf16>) -> tensor<8x4096xf16> {
  %y = custom (%p = %x, %q = %g) outs(%o) grid [2, 4] cluster [1, 4] : (tensor<8x4096xf16>, tensor<4096xf16>) -> tensor<8x4096xf16> {
    %a = load %p {grid = [0, 1]} : tensor<8x4096xf16> -> !mirage_block.tile<4x1024xf16>
    %b = mul %a, %a : !mirage_block.tile<4x1024xf16>, !mirage_block.tile<4x1024xf16>
    %c = reduce_sum %b {dim = 1} : !mirage_block.tile<4x1024xf32>
    %n = constant 4096.0 : !mirage_block.tile<1x1xf32>
    %d = div %c, %n : !mirage_block.tile<4x1xf32>, !mirage_block.tile<1x1xf32>
    %e = cluster_sum %d {axes = [1]} : !mirage_block.tile<4x1xf32>
    %f = sqrt %e : !mirage_block.tile<4x1xf32>
    %h = load %q {grid = [-1, 0]} : tensor<4096xf16> -> !mirage_block.tile<1024xf16>
    %i = div %h, %f : !mirage_block.tile<1024xf16>, !mirage_block.tile<4x1xf32>
    %j = mul %a, %i : !mirage_block.tile<4x1024xf16>, !mirage_block.tile<4x1024xf32>
    store %j, %o {grid = [0, 1]} : !mirage_block.tile<4x1024xf32>, tensor<8x4096xf16>
  }
  return %y : tensor<8x4096xf16>
}

// A thread of 1,024 has registers for a row, not for the gain beside it, which is loaded where it is used.
// CHECK-LABEL: graph @late
// CHECK: custom {{.*}} schedule <warps = 32, {{.*}} in_threads = true
// LATE: 262144 of 262144 elements compared; {{.*}}: ok
mirage_kernel.graph @late(%x: tensor<4x65536xf16>, %g: tensor<65536xf16>) -> tensor<4x65536xf16> {
  %y = custom (%p = %x, %q = %g) outs(%o) grid [1, 2] cluster [1, 2] schedule <warps = 32> : (tensor<4x65536xf16>, tensor<65536xf16>) -> tensor<4x65536xf16> {
    %a = load %p {grid = [0, 1]} : tensor<4x65536xf16> -> !mirage_block.tile<4x32768xf16>
    %b = mul %a, %a : !mirage_block.tile<4x32768xf16>, !mirage_block.tile<4x32768xf16>
    %c = reduce_sum %b {dim = 1} : !mirage_block.tile<4x32768xf32>
    %e = cluster_sum %c {axes = [1]} : !mirage_block.tile<4x1xf32>
    %f = sqrt %e : !mirage_block.tile<4x1xf32>
    %h = load %q {grid = [-1, 0]} : tensor<65536xf16> -> !mirage_block.tile<32768xf16>
    %i = mul %a, %h : !mirage_block.tile<4x32768xf16>, !mirage_block.tile<32768xf16>
    %j = div %i, %f : !mirage_block.tile<4x32768xf32>, !mirage_block.tile<4x1xf32>
    store %j, %o {grid = [0, 1]} : !mirage_block.tile<4x32768xf32>, tensor<4x65536xf16>
  }
  return %y : tensor<4x65536xf16>
}
