// Warpgroups that take the tiles of persistent blocks in turn: ragged tiles, blocks whose last round only the first group works
// in, one tile a block, clusters that share copies, three groups; and sums that begin with a residual or a bias.
//
// RUN: mirage-mlir-opt %s --mirage-lower -o %t.mlir
// RUN: mirage-run --target=emulator --program=ragged %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=pairs %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=residual %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=bias %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=three %t.mlir | FileCheck %s
// CHECK: output 0 {{.*}}: ok
//
// Groups wait for the stages of their tiles one after the other, and hand them on.
// RUN: grep '@ragged_own_bin' %t.mlir | sed 's/\\0A/\n/g; s/\\09/ /g' | FileCheck %s --check-prefix=PTX
// PTX: {{barrier.cta.sync|barrier.sync|bar.sync}}{{.*}}%r{{[0-9]+}}, 256
// PTX: wgmma.mma_async
// PTX: {{barrier.cta.arrive|bar.arrive}}{{.*}}, 256
//
// What begins a sum is read before the first product, and nothing is added at the end.
// RUN: grep '@residual_own_bin' %t.mlir | sed 's/\\0A/\n/g; s/\\09/ /g' | FileCheck %s --check-prefix=FIRST
// FIRST: ld.global{{.*}}v4
// FIRST: wgmma.mma_async
// FIRST-NOT: ld.global
// FIRST: st.global

mirage_kernel.graph @ragged(%x: tensor<300x256xf16>, %u: tensor<256x400xf16>) -> tensor<300x400xf16> {
  %y = custom (%cx = %x, %cu = %u) outs(%o) grid [7, 3]  schedule <warps = 12, overlap = tiles, persistent = 5, roles = [producer(4, 40), consumer(8, 232)], loads = [tensor(stages = 4), tensor(stages = 4)]> : (tensor<300x256xf16>, tensor<256x400xf16>) -> tensor<300x400xf16> {
    %z = constant 0.0 : !mirage_block.tile<128x64xf32>
    %2 = loop 4 (%p = %z sum) : !mirage_block.tile<128x64xf32> {
      %10 = load %cx {grid = [-1, 0], loop = [1], tiles = [128, 0]} : tensor<300x256xf16> -> !mirage_block.tile<128x64xf16>
      %11 = load %cu {grid = [1], loop = [0], tiles = [0, 64]} : tensor<256x400xf16> -> !mirage_block.tile<64x64xf16>
      %12 = matmul %10, %11 : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x64xf16> -> !mirage_block.tile<128x64xf32>
      yield %12 : !mirage_block.tile<128x64xf32>
    }
    store %2, %o {grid = [1, 0], tiles = [128, 64]} : !mirage_block.tile<128x64xf32>, tensor<300x400xf16>
  }
  return %y : tensor<300x400xf16>
}

mirage_kernel.graph @pairs(%x: tensor<384x200xf16>, %u: tensor<200x256xf16>) -> tensor<384x256xf16> {
  %y = custom (%cx = %x, %cu = %u) outs(%o) grid [4, 3] cluster [2] schedule <warps = 12, overlap = tiles, persistent = 4, roles = [producer(4, 40), consumer(8, 232)], loads = [tensor(stages = 4, multicast = true), tensor(stages = 4)]> : (tensor<384x200xf16>, tensor<200x256xf16>) -> tensor<384x256xf16> {
    %z = constant 0.0 : !mirage_block.tile<128x64xf32>
    %2 = loop 4 (%p = %z sum) : !mirage_block.tile<128x64xf32> {
      %10 = load %cx {grid = [-1, 0], loop = [1], tiles = [0, 64]} : tensor<384x200xf16> -> !mirage_block.tile<128x64xf16>
      %11 = load %cu {grid = [1], loop = [0], tiles = [64, 0]} : tensor<200x256xf16> -> !mirage_block.tile<64x64xf16>
      %12 = matmul %10, %11 : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x64xf16> -> !mirage_block.tile<128x64xf32>
      yield %12 : !mirage_block.tile<128x64xf32>
    }
    store %2, %o {grid = [1, 0]} : !mirage_block.tile<128x64xf32>, tensor<384x256xf16>
  }
  return %y : tensor<384x256xf16>
}

mirage_kernel.graph @residual(%x: tensor<300x256xbf16>, %u: tensor<256x400xbf16>, %r: tensor<300x400xbf16>) -> tensor<300x400xbf16> {
  %y = custom (%cx = %x, %cu = %u, %cr = %r) outs(%o) grid [7, 3]  schedule <warps = 12, overlap = tiles, persistent = 7, roles = [producer(4, 40), consumer(8, 232)], loads = [tensor(stages = 4), tensor(stages = 4), register(stages = 1)]> : (tensor<300x256xbf16>, tensor<256x400xbf16>, tensor<300x400xbf16>) -> tensor<300x400xbf16> {
    %z = constant 0.0 : !mirage_block.tile<128x64xf32>
    %2 = loop 4 (%p = %z sum) : !mirage_block.tile<128x64xf32> {
      %10 = load %cx {grid = [-1, 0], loop = [1], tiles = [128, 0]} : tensor<300x256xbf16> -> !mirage_block.tile<128x64xbf16>
      %11 = load %cu {grid = [1], loop = [0], tiles = [0, 64]} : tensor<256x400xbf16> -> !mirage_block.tile<64x64xbf16>
      %12 = matmul %10, %11 : !mirage_block.tile<128x64xbf16>, !mirage_block.tile<64x64xbf16> -> !mirage_block.tile<128x64xf32>
      yield %12 : !mirage_block.tile<128x64xf32>
    }
    %20 = load %cr {grid = [1, 0], tiles = [128, 64]} : tensor<300x400xbf16> -> !mirage_block.tile<128x64xbf16>
    %21 = add %2, %20 : !mirage_block.tile<128x64xf32>, !mirage_block.tile<128x64xbf16>
    store %21, %o {grid = [1, 0], tiles = [128, 64]} : !mirage_block.tile<128x64xf32>, tensor<300x400xbf16>
  }
  return %y : tensor<300x400xbf16>
}

mirage_kernel.graph @bias(%x: tensor<200x128xf16>, %u: tensor<128x320xf16>, %b: tensor<320xf16>) -> tensor<200x320xf16> {
  %y = custom (%cx = %x, %cu = %u, %cb = %b) outs(%o) grid [5, 2]  schedule <warps = 12, overlap = tiles, persistent = 10, roles = [producer(4, 40), consumer(8, 232)], loads = [tensor(stages = 4), tensor(stages = 4), register(stages = 1)]> : (tensor<200x128xf16>, tensor<128x320xf16>, tensor<320xf16>) -> tensor<200x320xf16> {
    %z = constant 0.0 : !mirage_block.tile<128x64xf32>
    %2 = loop 2 (%p = %z sum) : !mirage_block.tile<128x64xf32> {
      %10 = load %cx {grid = [-1, 0], loop = [1], tiles = [128, 0]} : tensor<200x128xf16> -> !mirage_block.tile<128x64xf16>
      %11 = load %cu {grid = [1], loop = [0]} : tensor<128x320xf16> -> !mirage_block.tile<64x64xf16>
      %12 = matmul %10, %11 : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x64xf16> -> !mirage_block.tile<128x64xf32>
      yield %12 : !mirage_block.tile<128x64xf32>
    }
    %20 = load %cb {grid = [0]} : tensor<320xf16> -> !mirage_block.tile<64xf16>
    %21 = add %20, %2 : !mirage_block.tile<64xf16>, !mirage_block.tile<128x64xf32>
    %22 = relu %21 : !mirage_block.tile<128x64xf32>
    store %22, %o {grid = [1, 0], tiles = [128, 0]} : !mirage_block.tile<128x64xf32>, tensor<200x320xf16>
  }
  return %y : tensor<200x320xf16>
}

mirage_kernel.graph @three(%x: tensor<200x128xf16>, %u: tensor<128x320xf16>) -> tensor<200x320xf16> {
  %y = custom (%cx = %x, %cu = %u) outs(%o) grid [5, 4]  schedule <warps = 16, overlap = tiles, persistent = 3, roles = [producer(4, 40), consumer(12, 152)], loads = [tensor(stages = 2), tensor(stages = 2)]> : (tensor<200x128xf16>, tensor<128x320xf16>) -> tensor<200x320xf16> {
    %z = constant 0.0 : !mirage_block.tile<64x64xf32>
    %2 = loop 2 (%p = %z sum) : !mirage_block.tile<64x64xf32> {
      %10 = load %cx {grid = [-1, 0], loop = [1], tiles = [64, 0]} : tensor<200x128xf16> -> !mirage_block.tile<64x64xf16>
      %11 = load %cu {grid = [1], loop = [0]} : tensor<128x320xf16> -> !mirage_block.tile<64x64xf16>
      %12 = matmul %10, %11 : !mirage_block.tile<64x64xf16>, !mirage_block.tile<64x64xf16> -> !mirage_block.tile<64x64xf32>
      yield %12 : !mirage_block.tile<64x64xf32>
    }
    store %2, %o {grid = [1, 0], tiles = [64, 0]} : !mirage_block.tile<64x64xf32>, tensor<200x320xf16>
  }
  return %y : tensor<200x320xf16>
}
