// Three warpgroups share a tile of 192 rows, a slab of 64 each: ragged tiles that persistent blocks take in turn, and pairs of
// blocks that share copies.
//
// RUN: mirage-mlir-opt %s --mirage-lower -o %t.mlir
// RUN: mirage-run --target=emulator --program=ragged %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=pairs %t.mlir | FileCheck %s
// CHECK: output 0 {{.*}}: ok
//
// Each thread keeps 96 accumulators, and none of it goes to memory.
// RUN: grep '@ragged_own_bin' %t.mlir | sed 's/\\0A/\n/g; s/\\09/ /g' | FileCheck %s --check-prefix=PTX
// PTX-NOT: .local
// PTX: .maxntid 512
// PTX-NOT: .local
// PTX: wgmma.mma_async.sync.aligned.m64n192k16

mirage_kernel.graph @ragged(%x: tensor<400x200xf16>, %u: tensor<200x400xf16>) -> tensor<400x400xf16> {
  %y = custom (%cx = %x, %cu = %u) outs(%o) grid [3, 3] schedule <warps = 16, persistent = 4, roles = [producer(4, 40), consumer(12, 152)], loads = [tensor(stages = 3), tensor(stages = 3)]> : (tensor<400x200xf16>, tensor<200x400xf16>) -> tensor<400x400xf16> {
    %z = constant 0.0 : !mirage_block.tile<192x192xf32>
    %2 = loop 4 (%p = %z sum) : !mirage_block.tile<192x192xf32> {
      %10 = load %cx {grid = [-1, 0], loop = [1], tiles = [192, 64]} : tensor<400x200xf16> -> !mirage_block.tile<192x64xf16>
      %11 = load %cu {grid = [1], loop = [0], tiles = [64, 192]} : tensor<200x400xf16> -> !mirage_block.tile<64x192xf16>
      %12 = matmul %10, %11 : !mirage_block.tile<192x64xf16>, !mirage_block.tile<64x192xf16> -> !mirage_block.tile<192x192xf32>
      yield %12 : !mirage_block.tile<192x192xf32>
    }
    store %2, %o {grid = [1, 0], tiles = [192, 192]} : !mirage_block.tile<192x192xf32>, tensor<400x400xf16>
  }
  return %y : tensor<400x400xf16>
}

mirage_kernel.graph @pairs(%x: tensor<384x200xbf16>, %u: tensor<200x320xbf16>) -> tensor<384x320xbf16> {
  %y = custom (%cx = %x, %cu = %u) outs(%o) grid [2, 2] cluster [2] schedule <warps = 16, roles = [producer(4, 40), consumer(12, 152)], loads = [tensor(stages = 4, multicast = true), tensor(stages = 4)]> : (tensor<384x200xbf16>, tensor<200x320xbf16>) -> tensor<384x320xbf16> {
    %z = constant 0.0 : !mirage_block.tile<192x160xf32>
    %2 = loop 4 (%p = %z sum) : !mirage_block.tile<192x160xf32> {
      %10 = load %cx {grid = [-1, 0], loop = [1], tiles = [0, 64]} : tensor<384x200xbf16> -> !mirage_block.tile<192x64xbf16>
      %11 = load %cu {grid = [1], loop = [0], tiles = [64, 0]} : tensor<200x320xbf16> -> !mirage_block.tile<64x160xbf16>
      %12 = matmul %10, %11 : !mirage_block.tile<192x64xbf16>, !mirage_block.tile<64x160xbf16> -> !mirage_block.tile<192x160xf32>
      yield %12 : !mirage_block.tile<192x160xf32>
    }
    store %2, %o {grid = [1, 0]} : !mirage_block.tile<192x160xf32>, tensor<384x320xbf16>
  }
  return %y : tensor<384x320xbf16>
}
