// Blocks that stream rows of weights and take tiles in turn: the next tile's first steps are under way while one is stored.
// RUN: mirage-mlir-opt %s --mirage-lower=target=h200 -o %t.mlir 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: FileCheck %s < %t.mlir
// RUN: mirage-run --target=emulator --program=columns %t.mlir | FileCheck %s --check-prefix=COLUMNS
// RUN: mirage-run --target=emulator --program=many %t.mlir | FileCheck %s --check-prefix=MANY
// RUN: mirage-run --target=emulator --program=rows %t.mlir | FileCheck %s --check-prefix=ROWS
// RUN: mirage-run --target=emulator --program=bytes %t.mlir | FileCheck %s --check-prefix=BYTES
// RUN: mirage-run --target=emulator --program=apart %t.mlir | FileCheck %s --check-prefix=APART
// RUN: mirage-run --target=emulator --program=before %t.mlir | FileCheck %s --check-prefix=BEFORE

// Columns are not, whoever asks.
// WHY: remark: layout: a block for each tile: its weights come with their activations, and blocks of small tiles stand beside each other
// CHECK-LABEL: graph @columns_own
// CHECK: schedule <warps = 16, loads
// COLUMNS: 1250 of 1250 elements compared; {{.*}}: ok
mirage_kernel.graph @columns(%x: tensor<5x1024xf16>, %w: tensor<1024x250xf16>) -> tensor<5x250xf16> {
  %y = custom (%xp = %x, %wp = %w) outs(%o) grid [8] schedule <persistent = 3> : (tensor<5x1024xf16>, tensor<1024x250xf16>) -> tensor<5x250xf16> {
    %c = constant 0.0 : !mirage_block.tile<5x32xf32>
    %l = loop 2 (%a = %c sum) : !mirage_block.tile<5x32xf32> {
      %1 = load %xp {loop = [1]} : tensor<5x1024xf16> -> !mirage_block.tile<5x512xf16>
      %2 = load %wp {grid = [1], loop = [0], tiles = [0, 32]} : tensor<1024x250xf16> -> !mirage_block.tile<512x32xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<5x512xf16>, !mirage_block.tile<512x32xf16>
      yield %3 : !mirage_block.tile<5x32xf32>
    }
    store %l, %o {grid = [1], tiles = [0, 32]} : !mirage_block.tile<5x32xf32>, tensor<5x250xf16>
  }
  return %y : tensor<5x250xf16>
}

// Nobody asks: 133 tiles are one more than the GPU has multiprocessors. A residual behind the loop, which is loaded for each tile.
// CHECK-LABEL: graph @many_own
// CHECK: schedule <warps = 16, persistent = 
// MANY: 4256 of 4256 elements compared; {{.*}}: ok
mirage_kernel.graph @many(%x: tensor<2x512xbf16>, %w: tensor<2128x512xbf16>, %r: tensor<2x2128xbf16>) -> tensor<2x2128xbf16> {
  %y = custom (%xp = %x, %wp = %w, %rp = %r) outs(%o) grid [133] : (tensor<2x512xbf16>, tensor<2128x512xbf16>, tensor<2x2128xbf16>) -> tensor<2x2128xbf16> {
    %c = constant 0.0 : !mirage_block.tile<2x16xf32>
    %d = constant 0.0 : !mirage_block.tile<2x1xf32>
    %l:2 = loop 1 (%a = %c sum, %b = %d sum) : !mirage_block.tile<2x16xf32>, !mirage_block.tile<2x1xf32> {
      %1 = load %xp {loop = [1]} : tensor<2x512xbf16> -> !mirage_block.tile<2x512xbf16>
      %2 = load %wp {grid = [0], loop = [1]} : tensor<2128x512xbf16> -> !mirage_block.tile<16x512xbf16>
      %3 = matmul %1, %2 {transpose_b} : !mirage_block.tile<2x512xbf16>, !mirage_block.tile<16x512xbf16>
      %4 = mul %1, %1 : !mirage_block.tile<2x512xbf16>, !mirage_block.tile<2x512xbf16>
      %5 = reduce_sum %4 {dim = 1} : !mirage_block.tile<2x512xf32>
      yield %3, %5 : !mirage_block.tile<2x16xf32>, !mirage_block.tile<2x1xf32>
    }
    %6 = sqrt %l#1 : !mirage_block.tile<2x1xf32>
    %7 = div %l#0, %6 : !mirage_block.tile<2x16xf32>, !mirage_block.tile<2x1xf32>
    %8 = load %rp {grid = [1]} : tensor<2x2128xbf16> -> !mirage_block.tile<2x16xbf16>
    %9 = add %7, %8 : !mirage_block.tile<2x16xf32>, !mirage_block.tile<2x16xbf16>
    store %9, %o {grid = [1]} : !mirage_block.tile<2x16xf32>, tensor<2x2128xbf16>
  }
  return %y : tensor<2x2128xbf16>
}

// A row for each output: activations and their squares are prepared once, for all tiles.
// CHECK-LABEL: graph @rows_own
// CHECK: schedule <warps = 16, persistent = 
// ROWS: 600 of 600 elements compared; {{.*}}: ok
mirage_kernel.graph @rows(%x: tensor<3x1024xf16>, %w: tensor<200x1024xf16>) -> tensor<3x200xf16> {
  %y = custom (%xp = %x, %wp = %w) outs(%o) grid [9] schedule <persistent = 2> : (tensor<3x1024xf16>, tensor<200x1024xf16>) -> tensor<3x200xf16> {
    %c = constant 0.0 : !mirage_block.tile<3x24xf32>
    %d = constant 0.0 : !mirage_block.tile<3x1xf32>
    %l:2 = loop 2 (%a = %c sum, %b = %d sum) : !mirage_block.tile<3x24xf32>, !mirage_block.tile<3x1xf32> {
      %1 = load %xp {loop = [1]} : tensor<3x1024xf16> -> !mirage_block.tile<3x512xf16>
      %2 = load %wp {grid = [0], loop = [1], tiles = [24, 0]} : tensor<200x1024xf16> -> !mirage_block.tile<24x512xf16>
      %3 = matmul %1, %2 {transpose_b} : !mirage_block.tile<3x512xf16>, !mirage_block.tile<24x512xf16>
      %4 = mul %1, %1 : !mirage_block.tile<3x512xf16>, !mirage_block.tile<3x512xf16>
      %5 = reduce_sum %4 {dim = 1} : !mirage_block.tile<3x512xf32>
      yield %3, %5 : !mirage_block.tile<3x24xf32>, !mirage_block.tile<3x1xf32>
    }
    %6 = sqrt %l#1 : !mirage_block.tile<3x1xf32>
    %7 = div %l#0, %6 : !mirage_block.tile<3x24xf32>, !mirage_block.tile<3x1xf32>
    store %7, %o {grid = [1], tiles = [0, 24]} : !mirage_block.tile<3x24xf32>, tensor<3x200xf16>
  }
  return %y : tensor<3x200xf16>
}

// Weights of bytes, whose steps a warp are no multiple of those under way; sums are corrected by what is prepared.
// CHECK-LABEL: graph @bytes_own
// CHECK: schedule <warps = 16, persistent = 
// BYTES: 160 of 160 elements compared; {{.*}}: ok
mirage_kernel.graph @bytes(%x: tensor<1x1536xf16>, %w: tensor<160x1536xi8>) -> tensor<1x160xf16> {
  %y = custom (%xp = %x, %wp = %w) outs(%o) grid [5] schedule <persistent = 2> : (tensor<1x1536xf16>, tensor<160x1536xi8>) -> tensor<1x160xf16> {
    %c = constant 0.0 : !mirage_block.tile<1x32xf32>
    %l = loop 3 (%a = %c sum) : !mirage_block.tile<1x32xf32> {
      %1 = load %xp {loop = [1]} : tensor<1x1536xf16> -> !mirage_block.tile<1x512xf16>
      %2 = load %wp {grid = [0], loop = [1]} : tensor<160x1536xi8> -> !mirage_block.tile<32x512xi8>
      %w16 = cast %2 : !mirage_block.tile<32x512xi8> -> !mirage_block.tile<32x512xf16>
      %3 = matmul %1, %w16 {transpose_b} : !mirage_block.tile<1x512xf16>, !mirage_block.tile<32x512xf16>
      yield %3 : !mirage_block.tile<1x32xf32>
    }
    store %l, %o {grid = [1]} : !mirage_block.tile<1x32xf32>, tensor<1x160xf16>
  }
  return %y : tensor<1x160xf16>
}

// What is prepared once must be the same in all tiles.
// WHY: remark: layout: a block for each tile: tiles have activations of their own
// CHECK-LABEL: graph @apart_own
// CHECK: schedule <warps = 16, loads
// APART: 768 of 768 elements compared; {{.*}}: ok
mirage_kernel.graph @apart(%x: tensor<3x4x512xf16>, %w: tensor<3x64x512xf16>) -> tensor<3x4x64xf16> {
  %y = custom (%xp = %x, %wp = %w) outs(%o) grid [3, 2] schedule <persistent = 4> : (tensor<3x4x512xf16>, tensor<3x64x512xf16>) -> tensor<3x4x64xf16> {
    %c = constant 0.0 : !mirage_block.tile<1x4x32xf32>
    %l = loop 1 (%a = %c sum) : !mirage_block.tile<1x4x32xf32> {
      %1 = load %xp {grid = [0], loop = [2]} : tensor<3x4x512xf16> -> !mirage_block.tile<1x4x512xf16>
      %2 = load %wp {grid = [0, 1], loop = [2]} : tensor<3x64x512xf16> -> !mirage_block.tile<1x32x512xf16>
      %3 = matmul %1, %2 {transpose_b} : !mirage_block.tile<1x4x512xf16>, !mirage_block.tile<1x32x512xf16>
      yield %3 : !mirage_block.tile<1x4x32xf32>
    }
    store %l, %o {grid = [0, 2]} : !mirage_block.tile<1x4x32xf32>, tensor<3x4x64xf16>
  }
  return %y : tensor<3x4x64xf16>
}

// Nor may threads write to shared memory before the loop, while others still compute the tile before.
// WHY: remark: layout: a block for each tile: threads write to shared memory before the loop
// CHECK-LABEL: graph @before_own
// CHECK: schedule <warps = 16, loads
// BEFORE: 256 of 256 elements compared; {{.*}}: ok
mirage_kernel.graph @before(%x: tensor<2x512xf16>, %w: tensor<512x128xf16>) -> tensor<2x128xf16> {
  %y = custom (%xp = %x, %wp = %w) outs(%o) grid [4] schedule <persistent = 2> : (tensor<2x512xf16>, tensor<512x128xf16>) -> tensor<2x128xf16> {
    %0 = load %xp : tensor<2x512xf16> -> !mirage_block.tile<2x512xf16>
    %q = mul %0, %0 : !mirage_block.tile<2x512xf16>, !mirage_block.tile<2x512xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x512xf32>
    %r = sqrt %s : !mirage_block.tile<2x1xf32>
    %c = constant 0.0 : !mirage_block.tile<2x32xf32>
    %l = loop 1 (%a = %c sum) : !mirage_block.tile<2x32xf32> {
      %1 = load %xp {loop = [1]} : tensor<2x512xf16> -> !mirage_block.tile<2x512xf16>
      %2 = load %wp {grid = [1], loop = [0]} : tensor<512x128xf16> -> !mirage_block.tile<512x32xf16>
      %d = div %1, %r : !mirage_block.tile<2x512xf16>, !mirage_block.tile<2x1xf32>
      %h = cast %d : !mirage_block.tile<2x512xf32> -> !mirage_block.tile<2x512xf16>
      %3 = matmul %h, %2 : !mirage_block.tile<2x512xf16>, !mirage_block.tile<512x32xf16>
      yield %3 : !mirage_block.tile<2x32xf32>
    }
    store %l, %o {grid = [1]} : !mirage_block.tile<2x32xf32>, tensor<2x128xf16>
  }
  return %y : tensor<2x128xf16>
}
