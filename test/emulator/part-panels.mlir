// Tiles whose rows fill the last panel of 128 bytes in part: 112, 104, 224 and 200 columns, weights as they lie or in rows, alone, in
// turn, and in pairs that share copies (lib/layout/copies.c).
//
// RUN: mirage-mlir-opt %s --mirage-lower -o %t.mlir
// RUN: mirage-run --target=emulator --program=wide112 %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=wide104 %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=wide224 %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=wide200 %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=rows112 %t.mlir | FileCheck %s
// CHECK: output 0 {{.*}}: ok
//
// RUN: grep -o 'm64n[0-9]*k16' %t.mlir | sort -u | FileCheck %s --check-prefix=PTX
// PTX-DAG: m64n104k16
// PTX-DAG: m64n112k16
// PTX-DAG: m64n200k16
// PTX-DAG: m64n224k16

mirage_kernel.graph @wide112(%x: tensor<200x200xf16>, %u: tensor<200x440xf16>) -> tensor<200x440xf16> {
  %y = custom (%cx = %x, %cu = %u) outs(%o) grid [4, 2] schedule <warps = 12, roles = [producer(4, 40), consumer(8, 232)], loads = [tensor(stages = 3), tensor(stages = 3)]> : (tensor<200x200xf16>, tensor<200x440xf16>) -> tensor<200x440xf16> {
    %z = constant 0.0 : !mirage_block.tile<128x112xf32>
    %2 = loop 4 (%p = %z sum) : !mirage_block.tile<128x112xf32> {
      %10 = load %cx {grid = [-1, 0], loop = [1], tiles = [128, 64]} : tensor<200x200xf16> -> !mirage_block.tile<128x64xf16>
      %11 = load %cu {grid = [1], loop = [0], tiles = [64, 112]} : tensor<200x440xf16> -> !mirage_block.tile<64x112xf16>
      %12 = matmul %10, %11 : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x112xf16> -> !mirage_block.tile<128x112xf32>
      yield %12 : !mirage_block.tile<128x112xf32>
    }
    store %2, %o {grid = [1, 0], tiles = [128, 112]} : !mirage_block.tile<128x112xf32>, tensor<200x440xf16>
  }
  return %y : tensor<200x440xf16>
}

mirage_kernel.graph @wide104(%x: tensor<128x192xbf16>, %u: tensor<192x200xbf16>) -> tensor<128x200xbf16> {
  %y = custom (%cx = %x, %cu = %u) outs(%o) grid [2, 1] schedule <warps = 12, roles = [producer(4, 40), consumer(8, 232)], loads = [tensor(stages = 3), tensor(stages = 3)]> : (tensor<128x192xbf16>, tensor<192x200xbf16>) -> tensor<128x200xbf16> {
    %z = constant 0.0 : !mirage_block.tile<128x104xf32>
    %2 = loop 3 (%p = %z sum) : !mirage_block.tile<128x104xf32> {
      %10 = load %cx {grid = [-1, 0], loop = [1], tiles = [128, 64]} : tensor<128x192xbf16> -> !mirage_block.tile<128x64xbf16>
      %11 = load %cu {grid = [1], loop = [0], tiles = [64, 104]} : tensor<192x200xbf16> -> !mirage_block.tile<64x104xbf16>
      %12 = matmul %10, %11 : !mirage_block.tile<128x64xbf16>, !mirage_block.tile<64x104xbf16> -> !mirage_block.tile<128x104xf32>
      yield %12 : !mirage_block.tile<128x104xf32>
    }
    store %2, %o {grid = [1, 0], tiles = [128, 104]} : !mirage_block.tile<128x104xf32>, tensor<128x200xbf16>
  }
  return %y : tensor<128x200xbf16>
}

mirage_kernel.graph @wide224(%x: tensor<200x192xf16>, %u: tensor<192x440xf16>) -> tensor<200x440xf16> {
  %y = custom (%cx = %x, %cu = %u) outs(%o) grid [2, 2] schedule <warps = 12, persistent = 2, roles = [producer(4, 40), consumer(8, 232)], loads = [tensor(stages = 3), tensor(stages = 3)]> : (tensor<200x192xf16>, tensor<192x440xf16>) -> tensor<200x440xf16> {
    %z = constant 0.0 : !mirage_block.tile<128x224xf32>
    %2 = loop 3 (%p = %z sum) : !mirage_block.tile<128x224xf32> {
      %10 = load %cx {grid = [-1, 0], loop = [1], tiles = [128, 64]} : tensor<200x192xf16> -> !mirage_block.tile<128x64xf16>
      %11 = load %cu {grid = [1], loop = [0], tiles = [64, 224]} : tensor<192x440xf16> -> !mirage_block.tile<64x224xf16>
      %12 = matmul %10, %11 : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x224xf16> -> !mirage_block.tile<128x224xf32>
      yield %12 : !mirage_block.tile<128x224xf32>
    }
    store %2, %o {grid = [1, 0], tiles = [128, 224]} : !mirage_block.tile<128x224xf32>, tensor<200x440xf16>
  }
  return %y : tensor<200x440xf16>
}

mirage_kernel.graph @wide200(%x: tensor<128x128xbf16>, %u: tensor<128x400xbf16>) -> tensor<128x400xbf16> {
  %y = custom (%cx = %x, %cu = %u) outs(%o) grid [2, 1] cluster [2] schedule <warps = 12, roles = [producer(4, 40), consumer(8, 232)], loads = [tensor(stages = 3, multicast = true), tensor(stages = 3)]> : (tensor<128x128xbf16>, tensor<128x400xbf16>) -> tensor<128x400xbf16> {
    %z = constant 0.0 : !mirage_block.tile<128x200xf32>
    %2 = loop 2 (%p = %z sum) : !mirage_block.tile<128x200xf32> {
      %10 = load %cx {grid = [-1, 0], loop = [1], tiles = [128, 64]} : tensor<128x128xbf16> -> !mirage_block.tile<128x64xbf16>
      %11 = load %cu {grid = [1], loop = [0], tiles = [64, 200]} : tensor<128x400xbf16> -> !mirage_block.tile<64x200xbf16>
      %12 = matmul %10, %11 : !mirage_block.tile<128x64xbf16>, !mirage_block.tile<64x200xbf16> -> !mirage_block.tile<128x200xf32>
      yield %12 : !mirage_block.tile<128x200xf32>
    }
    store %2, %o {grid = [1, 0], tiles = [128, 200]} : !mirage_block.tile<128x200xf32>, tensor<128x400xbf16>
  }
  return %y : tensor<128x400xbf16>
}

mirage_kernel.graph @rows112(%x: tensor<128x192xf16>, %u: tensor<216x192xf16>) -> tensor<128x216xf16> {
  %y = custom (%cx = %x, %cu = %u) outs(%o) grid [2, 1] schedule <warps = 12, roles = [producer(4, 40), consumer(8, 232)], loads = [tensor(stages = 3), tensor(stages = 3)]> : (tensor<128x192xf16>, tensor<216x192xf16>) -> tensor<128x216xf16> {
    %z = constant 0.0 : !mirage_block.tile<128x112xf32>
    %2 = loop 3 (%p = %z sum) : !mirage_block.tile<128x112xf32> {
      %10 = load %cx {grid = [-1, 0], loop = [1], tiles = [128, 64]} : tensor<128x192xf16> -> !mirage_block.tile<128x64xf16>
      %11 = load %cu {grid = [0], loop = [1], tiles = [112, 64]} : tensor<216x192xf16> -> !mirage_block.tile<112x64xf16>
      %12 = matmul %10, %11 {transpose_b} : !mirage_block.tile<128x64xf16>, !mirage_block.tile<112x64xf16> -> !mirage_block.tile<128x112xf32>
      yield %12 : !mirage_block.tile<128x112xf32>
    }
    store %2, %o {grid = [1, 0], tiles = [128, 112]} : !mirage_block.tile<128x112xf32>, tensor<128x216xf16>
  }
  return %y : tensor<128x216xf16>
}
