// Attention of which the last tile of keys is ragged, two blocks of 128 registers a thread on a multiprocessor: the turn that computes
// the mask takes no more registers than the others. (As straight-line code ptxas put up to 296 bytes in memory.)
//
// REQUIRES: ptxas
// RUN: sed 's/KEYS/1000/g; s/TILES/8/' %s | mirage-mlir-opt --mirage-layout=target=h200 --mirage-lower=target=h200 -o %t.1000.mlir 2>/dev/null
// RUN: %python %S/inputs/ptx.py %t.1000.mlir > %t.1000.ptx
// RUN: ptxas -arch=sm_90a -v %t.1000.ptx -o %t.cubin 2>&1 | FileCheck %s
// RUN: sed 's/KEYS/1144/g; s/TILES/9/' %s | mirage-mlir-opt --mirage-layout=target=h200 --mirage-lower=target=h200 -o %t.1144.mlir 2>/dev/null
// RUN: %python %S/inputs/ptx.py %t.1144.mlir > %t.1144.ptx
// RUN: ptxas -arch=sm_90a -v %t.1144.ptx -o %t.cubin 2>&1 | FileCheck %s
//
// All 128 columns but one: nothing is left out, and the turn is a loop all the same.
// RUN: sed 's/KEYS/1151/g; s/TILES/9/' %s | mirage-mlir-opt --mirage-layout=target=h200 --mirage-lower=target=h200 -o %t.1151.mlir 2>/dev/null
// RUN: %python %S/inputs/ptx.py %t.1151.mlir > %t.1151.ptx
// RUN: ptxas -arch=sm_90a -v %t.1151.ptx -o %t.cubin 2>&1 | FileCheck %s
//
// CHECK: 0 bytes spill stores, 0 bytes spill loads
// CHECK: Used 12{{[0-8]}} registers

mirage_kernel.graph @p(%q: tensor<32x1024x64xf16>, %k: tensor<32xKEYSx64xf16>, %v: tensor<32xKEYSx64xf16>) -> tensor<32x1024x64xf16> {
  %0 = matmul %q, %k {transpose_b} : tensor<32x1024x64xf16>, tensor<32xKEYSx64xf16>
  %1 = softmax %0 {dim = 2} : tensor<32x1024xKEYSxf16>
  %2 = matmul %1, %v : tensor<32x1024xKEYSxf16>, tensor<32xKEYSx64xf16>
  return %2 : tensor<32x1024x64xf16>
}
mirage_kernel.graph @attention(%q: tensor<32x1024x64xf16>, %k: tensor<32xKEYSx64xf16>, %v: tensor<32xKEYSx64xf16>) -> tensor<32x1024x64xf16> attributes {source = @p, selected} {
  %0 = custom (%a = %q, %b = %k, %c = %v) outs(%o) grid [8, 32] : (tensor<32x1024x64xf16>, tensor<32xKEYSx64xf16>, tensor<32xKEYSx64xf16>) -> tensor<32x1024x64xf16> {
    %1 = load %a {grid = [1, 0]} : tensor<32x1024x64xf16> -> !mirage_block.tile<1x128x64xf16>
    %2 = bottom : !mirage_block.tile<1x128x1xf32>
    %3 = constant 0.0 : !mirage_block.tile<1x128x64xf32>
    %4 = constant 0.0 : !mirage_block.tile<1x128x1xf32>
    %5:3 = loop TILES (%m = %2 max, %x = %3 rescale, %l = %4 rescale) : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32> {
      %7 = load %b {grid = [-1, 0], loop = [1], tiles = [0, 128]} : tensor<32xKEYSx64xf16> -> !mirage_block.tile<1x128x64xf16>
      %8 = matmul %1, %7 {transpose_b} : !mirage_block.tile<1x128x64xf16>, !mirage_block.tile<1x128x64xf16>
      %i = iota {dim = 2, loop = [128]} : !mirage_block.tile<1x1x128xi32>
      %n = constant KEYS.0 : !mirage_block.tile<1x1x1xi32>
      %p = less %i, %n : !mirage_block.tile<1x1x128xi32>, !mirage_block.tile<1x1x1xi32>
      %s = mask %p, %8 : !mirage_block.tile<1x1x128xi1>, !mirage_block.tile<1x128x128xf32>
      %9 = reduce_max %s {dim = 2} : !mirage_block.tile<1x128x128xf32>
      %10 = max %m, %9 : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
      %11 = sub %m, %10 : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
      %12 = exp %11 : !mirage_block.tile<1x128x1xf32>
      %13 = sub %s, %10 : !mirage_block.tile<1x128x128xf32>, !mirage_block.tile<1x128x1xf32>
      %14 = exp %13 : !mirage_block.tile<1x128x128xf32>
      %15 = load %c {grid = [-1, 0], loop = [1], tiles = [0, 128]} : tensor<32xKEYSx64xf16> -> !mirage_block.tile<1x128x64xf16>
      %16 = cast %14 : !mirage_block.tile<1x128x128xf32> -> !mirage_block.tile<1x128x128xf16>
      %17 = matmul %16, %15 : !mirage_block.tile<1x128x128xf16>, !mirage_block.tile<1x128x64xf16>
      %18 = reduce_sum %14 {dim = 2} : !mirage_block.tile<1x128x128xf32>
      yield %9, %17, %18 rescale %12, %12 : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
    }
    %6 = div %5#1, %5#2 : !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>
    store %6, %o {grid = [1, 0]} : !mirage_block.tile<1x128x64xf32>, tensor<32x1024x64xf16>
  }
  return %0 : tensor<32x1024x64xf16>
}

