// Tiles of the grid in groups of rows (tile_order = grouped): of 3, 5 and 11 rows all are computed, each once. 11 are in groups of
// 6 and 5; pairs of blocks count as one.
//
// RUN: mirage-mlir-opt %s --mirage-lower -o %t.mlir
// RUN: mirage-run --target=emulator --program=three %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=five %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=eleven %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=pairs %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=tall_pairs %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=in_turn %t.mlir | FileCheck %s
// CHECK: output 0 {{.*}}: ok
//
// Three rows are one group: where a block is follows from its number among all, not from what the hardware counts.
// RUN: mirage-run --target=emulator --program=three --emit-ptx=%t.three.ptx %t.mlir
// RUN: FileCheck %s --check-prefix=THREE --input-file %t.three.ptx
// THREE: %ctaid.y
// THREE-NEXT: mad.lo.s32 {{%r[0-9]+}}, {{%r[0-9]+}}, 3,

mirage_kernel.graph @three(%x: tensor<48x64xf16>, %w: tensor<64x48xf16>) -> tensor<48x48xf16> {
  %y = custom (%cx = %x, %cw = %w) outs(%o) grid [3, 3] schedule <tile_order = grouped> : (tensor<48x64xf16>, tensor<64x48xf16>) -> tensor<48x48xf16> {
    %z = constant 0.0 : !mirage_block.tile<16x16xf32>
    %s = loop 2 (%p = %z sum) : !mirage_block.tile<16x16xf32> {
      %1 = load %cx {grid = [-1, 0], loop = [1]} : tensor<48x64xf16> -> !mirage_block.tile<16x32xf16>
      %2 = load %cw {grid = [1], loop = [0]} : tensor<64x48xf16> -> !mirage_block.tile<32x16xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<16x32xf16>, !mirage_block.tile<32x16xf16>
      yield %3 : !mirage_block.tile<16x16xf32>
    }
    store %s, %o {grid = [1, 0]} : !mirage_block.tile<16x16xf32>, tensor<48x48xf16>
  }
  return %y : tensor<48x48xf16>
}

mirage_kernel.graph @five(%x: tensor<80x64xf16>, %w: tensor<64x32xf16>) -> tensor<80x32xf16> {
  %y = custom (%cx = %x, %cw = %w) outs(%o) grid [2, 5] schedule <tile_order = grouped> : (tensor<80x64xf16>, tensor<64x32xf16>) -> tensor<80x32xf16> {
    %z = constant 0.0 : !mirage_block.tile<16x16xf32>
    %s = loop 2 (%p = %z sum) : !mirage_block.tile<16x16xf32> {
      %1 = load %cx {grid = [-1, 0], loop = [1]} : tensor<80x64xf16> -> !mirage_block.tile<16x32xf16>
      %2 = load %cw {grid = [1], loop = [0]} : tensor<64x32xf16> -> !mirage_block.tile<32x16xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<16x32xf16>, !mirage_block.tile<32x16xf16>
      yield %3 : !mirage_block.tile<16x16xf32>
    }
    store %s, %o {grid = [1, 0]} : !mirage_block.tile<16x16xf32>, tensor<80x32xf16>
  }
  return %y : tensor<80x32xf16>
}

mirage_kernel.graph @eleven(%x: tensor<176x64xf16>, %w: tensor<64x48xf16>) -> tensor<176x48xf16> {
  %y = custom (%cx = %x, %cw = %w) outs(%o) grid [3, 11] schedule <tile_order = grouped> : (tensor<176x64xf16>, tensor<64x48xf16>) -> tensor<176x48xf16> {
    %z = constant 0.0 : !mirage_block.tile<16x16xf32>
    %s = loop 2 (%p = %z sum) : !mirage_block.tile<16x16xf32> {
      %1 = load %cx {grid = [-1, 0], loop = [1]} : tensor<176x64xf16> -> !mirage_block.tile<16x32xf16>
      %2 = load %cw {grid = [1], loop = [0]} : tensor<64x48xf16> -> !mirage_block.tile<32x16xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<16x32xf16>, !mirage_block.tile<32x16xf16>
      yield %3 : !mirage_block.tile<16x16xf32>
    }
    store %s, %o {grid = [1, 0]} : !mirage_block.tile<16x16xf32>, tensor<176x48xf16>
  }
  return %y : tensor<176x48xf16>
}

mirage_kernel.graph @pairs(%x: tensor<176x64xf16>, %w: tensor<64x64xf16>) -> tensor<176x64xf16> {
  %y = custom (%cx = %x, %cw = %w) outs(%o) grid [4, 11] cluster [2, 1] schedule <tile_order = grouped> : (tensor<176x64xf16>, tensor<64x64xf16>) -> tensor<176x64xf16> {
    %z = constant 0.0 : !mirage_block.tile<16x16xf32>
    %s = loop 2 (%p = %z sum) : !mirage_block.tile<16x16xf32> {
      %1 = load %cx {grid = [-1, 0], loop = [1]} : tensor<176x64xf16> -> !mirage_block.tile<16x32xf16>
      %2 = load %cw {grid = [1], loop = [0]} : tensor<64x64xf16> -> !mirage_block.tile<32x16xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<16x32xf16>, !mirage_block.tile<32x16xf16>
      yield %3 : !mirage_block.tile<16x16xf32>
    }
    store %s, %o {grid = [1, 0]} : !mirage_block.tile<16x16xf32>, tensor<176x64xf16>
  }
  return %y : tensor<176x64xf16>
}

mirage_kernel.graph @tall_pairs(%x: tensor<288x64xf16>, %w: tensor<64x48xf16>) -> tensor<288x48xf16> {
  %y = custom (%cx = %x, %cw = %w) outs(%o) grid [3, 18] cluster [1, 2] schedule <tile_order = grouped> : (tensor<288x64xf16>, tensor<64x48xf16>) -> tensor<288x48xf16> {
    %z = constant 0.0 : !mirage_block.tile<16x16xf32>
    %s = loop 2 (%p = %z sum) : !mirage_block.tile<16x16xf32> {
      %1 = load %cx {grid = [-1, 0], loop = [1]} : tensor<288x64xf16> -> !mirage_block.tile<16x32xf16>
      %2 = load %cw {grid = [1], loop = [0]} : tensor<64x48xf16> -> !mirage_block.tile<32x16xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<16x32xf16>, !mirage_block.tile<32x16xf16>
      yield %3 : !mirage_block.tile<16x16xf32>
    }
    store %s, %o {grid = [1, 0]} : !mirage_block.tile<16x16xf32>, tensor<288x48xf16>
  }
  return %y : tensor<288x48xf16>
}

mirage_kernel.graph @in_turn(%x: tensor<704x64xf16>, %w: tensor<64x192xf16>) -> tensor<704x192xf16> {
  %y = custom (%cx = %x, %cw = %w) outs(%o) grid [3, 11] schedule <tile_order = grouped, persistent = 8, roles = [consumer(4), producer(1)], loads = [tensor(stages = 2), tensor(stages = 2)]> : (tensor<704x64xf16>, tensor<64x192xf16>) -> tensor<704x192xf16> {
    %z = constant 0.0 : !mirage_block.tile<64x64xf32>
    %s = loop 2 (%p = %z sum) : !mirage_block.tile<64x64xf32> {
      %1 = load %cx {grid = [-1, 0], loop = [1]} : tensor<704x64xf16> -> !mirage_block.tile<64x32xf16>
      %2 = load %cw {grid = [1], loop = [0]} : tensor<64x192xf16> -> !mirage_block.tile<32x64xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<64x32xf16>, !mirage_block.tile<32x64xf16>
      yield %3 : !mirage_block.tile<64x64xf32>
    }
    store %s, %o {grid = [1, 0]} : !mirage_block.tile<64x64xf32>, tensor<704x192xf16>
  }
  return %y : tensor<704x192xf16>
}
