// Blocks that meet in greater number than code is written out for each: what they made together is computed once an element, before
// the members' parts are added up, not once more for each member (lib/codegen/codegen_collective.c).
//
// RUN: mirage-mlir-opt %s --mirage-lower -o %t.mlir
// RUN: mirage-run --target=emulator --emit-ptx=%t.ptx %t.mlir | FileCheck %s
// CHECK: output 0 {{.*}}: ok
//
// 64 members: the maximum of 16 and in a loop of 16 more, their parts with their maxima, twice. With the maximum anew for each of the
// first 16 members there were 280.
// RUN: grep -c ld.global %t.ptx | FileCheck %s --check-prefix=READS
// READS: {{^}}162{{$}}

mirage_kernel.graph @split_sum(%s: tensor<4x2048xf16>, %v: tensor<4x2048xf16>) -> tensor<4x1xf16> {
  %y = custom (%cs = %s, %cv = %v) outs(%o) grid [64] schedule <warps = 4> : (tensor<4x2048xf16>, tensor<4x2048xf16>) -> tensor<4x1xf16> {
    %0 = load %cs {grid = [1]} : tensor<4x2048xf16> -> !mirage_block.tile<4x32xf16>
    %1 = load %cv {grid = [1]} : tensor<4x2048xf16> -> !mirage_block.tile<4x32xf16>
    %m = reduce_max %0 {dim = 1} : !mirage_block.tile<4x32xf16> -> !mirage_block.tile<4x1xf32>
    %d = sub %0, %m : !mirage_block.tile<4x32xf16>, !mirage_block.tile<4x1xf32> -> !mirage_block.tile<4x32xf32>
    %e = exp %d : !mirage_block.tile<4x32xf32> -> !mirage_block.tile<4x32xf32>
    %l = reduce_sum %e {dim = 1} : !mirage_block.tile<4x32xf32> -> !mirage_block.tile<4x1xf32>
    %p = mul %e, %1 : !mirage_block.tile<4x32xf32>, !mirage_block.tile<4x32xf16> -> !mirage_block.tile<4x32xf32>
    %a = reduce_sum %p {dim = 1} : !mirage_block.tile<4x32xf32> -> !mirage_block.tile<4x1xf32>
    %all = grid_max %m {axes = [0]} : !mirage_block.tile<4x1xf32> -> !mirage_block.tile<4x1xf32>
    %g = sub %m, %all : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32> -> !mirage_block.tile<4x1xf32>
    %c = exp %g : !mirage_block.tile<4x1xf32> -> !mirage_block.tile<4x1xf32>
    %ac = mul %a, %c : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32> -> !mirage_block.tile<4x1xf32>
    %as = grid_sum %ac {axes = [0]} : !mirage_block.tile<4x1xf32> -> !mirage_block.tile<4x1xf32>
    %lc = mul %l, %c : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32> -> !mirage_block.tile<4x1xf32>
    %ls = grid_sum %lc {axes = [0]} : !mirage_block.tile<4x1xf32> -> !mirage_block.tile<4x1xf32>
    %q = div %as, %ls : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32> -> !mirage_block.tile<4x1xf32>
    store %q, %o : !mirage_block.tile<4x1xf32>, tensor<4x1xf16>
  }
  return %y : tensor<4x1xf16>
}
