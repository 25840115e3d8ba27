// Weights that stream to the matrix instruction for 17 to 32 rows of activations, and for which they do not.
// RUN: mirage-mlir-opt %s --mirage-lower=target=h200 -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: mirage-run --target=emulator --program=ragged %t.mlir | FileCheck %s --check-prefix=RAGGED
// RUN: mirage-run --target=emulator --program=most %t.mlir | FileCheck %s --check-prefix=MOST
// RUN: mirage-run --target=emulator --program=rows %t.mlir | FileCheck %s --check-prefix=ROWS
// RUN: mirage-run --target=emulator --program=narrow %t.mlir | FileCheck %s --check-prefix=NARROW
// RUN: mirage-run --target=emulator --program=beyond %t.mlir | FileCheck %s --check-prefix=BEYOND

// 24 rows, the last tile of columns short; the norm's squares beside the product.
// CHECK-LABEL: graph @ragged_own
// CHECK: schedule <warps = 16, loads = [register(stages = 1), register(stages = 1, cache = no_allocate)]
// RAGGED: 3120 of 3120 elements compared; {{.*}}: ok
mirage_kernel.graph @ragged(%arg0: tensor<24x1024xf16>, %arg1: tensor<1024x130xf16>) -> tensor<24x130xf16> {
  %0 = custom (%b0 = %arg0, %b1 = %arg1) outs(%o) grid [5] : (tensor<24x1024xf16>, tensor<1024x130xf16>) -> tensor<24x130xf16> {
    %c = constant 0.0 : !mirage_block.tile<24x32xf32>
    %d = constant 0.0 : !mirage_block.tile<24x1xf32>
    %l:2 = loop 2 (%a0 = %c sum, %a1 = %d sum) : !mirage_block.tile<24x32xf32>, !mirage_block.tile<24x1xf32> {
      %1 = load %b0 {loop = [1]} : tensor<24x1024xf16> -> !mirage_block.tile<24x512xf16>
      %2 = load %b1 {grid = [1], loop = [0], tiles = [0, 32]} : tensor<1024x130xf16> -> !mirage_block.tile<512x32xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<24x512xf16>, !mirage_block.tile<512x32xf16>
      %4 = mul %1, %1 : !mirage_block.tile<24x512xf16>, !mirage_block.tile<24x512xf16>
      %5 = reduce_sum %4 {dim = 1} : !mirage_block.tile<24x512xf32>
      yield %3, %5 : !mirage_block.tile<24x32xf32>, !mirage_block.tile<24x1xf32>
    }
    %n = constant 1024.0 : !mirage_block.tile<1x1xf32>
    %6 = div %l#1, %n : !mirage_block.tile<24x1xf32>, !mirage_block.tile<1x1xf32>
    %7 = sqrt %6 : !mirage_block.tile<24x1xf32>
    %8 = div %l#0, %7 : !mirage_block.tile<24x32xf32>, !mirage_block.tile<24x1xf32>
    store %8, %o {grid = [1], tiles = [0, 32]} : !mirage_block.tile<24x32xf32>, tensor<24x130xf16>
  }
  return %0 : tensor<24x130xf16>
}


// 32 rows, as many as columns of a tile.
// CHECK-LABEL: graph @most_own
// CHECK: schedule <warps = 16, loads = [register(stages = 1), register(stages = 1, cache = no_allocate), register(stages = 1)]
// MOST: 3072 of 3072 elements compared; {{.*}}: ok
mirage_kernel.graph @most(%arg0: tensor<32x512xbf16>, %arg1: tensor<512x96xbf16>, %arg9: tensor<32x96xbf16>) -> tensor<32x96xbf16> {
  %0 = custom (%b0 = %arg0, %b1 = %arg1, %b9 = %arg9) outs(%o) grid [3] : (tensor<32x512xbf16>, tensor<512x96xbf16>, tensor<32x96xbf16>) -> tensor<32x96xbf16> {
    %c = constant 0.0 : !mirage_block.tile<32x32xf32>
    %l = loop 1 (%a0 = %c sum) : !mirage_block.tile<32x32xf32> {
      %1 = load %b0 {loop = [1]} : tensor<32x512xbf16> -> !mirage_block.tile<32x512xbf16>
      %2 = load %b1 {grid = [1], loop = [0]} : tensor<512x96xbf16> -> !mirage_block.tile<512x32xbf16>
      %3 = matmul %1, %2 : !mirage_block.tile<32x512xbf16>, !mirage_block.tile<512x32xbf16>
      yield %3 : !mirage_block.tile<32x32xf32>
    }
    %9 = load %b9 {grid = [1]} : tensor<32x96xbf16> -> !mirage_block.tile<32x32xbf16>
    %10 = add %l, %9 : !mirage_block.tile<32x32xf32>, !mirage_block.tile<32x32xbf16>
    store %10, %o {grid = [1]} : !mirage_block.tile<32x32xf32>, tensor<32x96xbf16>
  }
  return %0 : tensor<32x96xbf16>
}


// 19 rows, and weights with a row for each output.
// CHECK-LABEL: graph @rows_own
// CHECK: schedule <warps = 16, loads = [register(stages = 1), register(stages = 1, cache = no_allocate)]
// ROWS: 1824 of 1824 elements compared; {{.*}}: ok
mirage_kernel.graph @rows(%arg0: tensor<19x1024xf16>, %arg1: tensor<96x1024xf16>) -> tensor<19x96xf16> {
  %0 = custom (%b0 = %arg0, %b1 = %arg1) outs(%o) grid [4] : (tensor<19x1024xf16>, tensor<96x1024xf16>) -> tensor<19x96xf16> {
    %c = constant 0.0 : !mirage_block.tile<19x24xf32>
    %d = constant 0.0 : !mirage_block.tile<19x1xf32>
    %l:2 = loop 2 (%a0 = %c sum, %a1 = %d sum) : !mirage_block.tile<19x24xf32>, !mirage_block.tile<19x1xf32> {
      %1 = load %b0 {loop = [1]} : tensor<19x1024xf16> -> !mirage_block.tile<19x512xf16>
      %2 = load %b1 {grid = [0], loop = [1]} : tensor<96x1024xf16> -> !mirage_block.tile<24x512xf16>
      %3 = matmul %1, %2 {transpose_b} : !mirage_block.tile<19x512xf16>, !mirage_block.tile<24x512xf16>
      %4 = mul %1, %1 : !mirage_block.tile<19x512xf16>, !mirage_block.tile<19x512xf16>
      %5 = reduce_sum %4 {dim = 1} : !mirage_block.tile<19x512xf32>
      yield %3, %5 : !mirage_block.tile<19x24xf32>, !mirage_block.tile<19x1xf32>
    }
    %n = constant 1024.0 : !mirage_block.tile<1x1xf32>
    %6 = div %l#1, %n : !mirage_block.tile<19x1xf32>, !mirage_block.tile<1x1xf32>
    %7 = sqrt %6 : !mirage_block.tile<19x1xf32>
    %8 = div %l#0, %7 : !mirage_block.tile<19x24xf32>, !mirage_block.tile<19x1xf32>
    store %8, %o {grid = [1]} : !mirage_block.tile<19x24xf32>, tensor<19x96xf16>
  }
  return %0 : tensor<19x96xf16>
}


// Every warp would read more activations than weights: tiles of 32 rows and 16 columns are staged.
// CHECK-LABEL: graph @narrow_own
// CHECK: schedule <warps = {{[0-9]+}}, loads = [async
// NARROW: 1536 of 1536 elements compared; {{.*}}: ok
mirage_kernel.graph @narrow(%arg0: tensor<32x512xf16>, %arg1: tensor<512x48xf16>) -> tensor<32x48xf16> {
  %0 = custom (%b0 = %arg0, %b1 = %arg1) outs(%o) grid [3] : (tensor<32x512xf16>, tensor<512x48xf16>) -> tensor<32x48xf16> {
    %c = constant 0.0 : !mirage_block.tile<32x16xf32>
    %l = loop 1 (%a0 = %c sum) : !mirage_block.tile<32x16xf32> {
      %1 = load %b0 {loop = [1]} : tensor<32x512xf16> -> !mirage_block.tile<32x512xf16>
      %2 = load %b1 {grid = [1], loop = [0]} : tensor<512x48xf16> -> !mirage_block.tile<512x16xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<32x512xf16>, !mirage_block.tile<512x16xf16>
      yield %3 : !mirage_block.tile<32x16xf32>
    }
    store %l, %o {grid = [1]} : !mirage_block.tile<32x16xf32>, tensor<32x48xf16>
  }
  return %0 : tensor<32x48xf16>
}


// So are 33 rows.
// CHECK-LABEL: graph @beyond_own
// CHECK: schedule <warps = {{[0-9]+}}, loads = [async
// BEYOND: 2112 of 2112 elements compared; {{.*}}: ok
mirage_kernel.graph @beyond(%arg0: tensor<33x512xf16>, %arg1: tensor<512x64xf16>) -> tensor<33x64xf16> {
  %0 = custom (%b0 = %arg0, %b1 = %arg1) outs(%o) grid [2] : (tensor<33x512xf16>, tensor<512x64xf16>) -> tensor<33x64xf16> {
    %c = constant 0.0 : !mirage_block.tile<33x32xf32>
    %l = loop 1 (%a0 = %c sum) : !mirage_block.tile<33x32xf32> {
      %1 = load %b0 {loop = [1]} : tensor<33x512xf16> -> !mirage_block.tile<33x512xf16>
      %2 = load %b1 {grid = [1], loop = [0]} : tensor<512x64xf16> -> !mirage_block.tile<512x32xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<33x512xf16>, !mirage_block.tile<512x32xf16>
      yield %3 : !mirage_block.tile<33x32xf32>
    }
    store %l, %o {grid = [1]} : !mirage_block.tile<33x32xf32>, tensor<33x64xf16>
  }
  return %0 : tensor<33x64xf16>
}

