// Four blocks take ten tiles in turn: two have three, the stages of their loop go on from tile to tile, and so do the phases of the
// mbarriers. As pairs two clusters take five.
//
// RUN: sed '/@alone(/s/source = @program/source = @program, selected/' %s | mirage-mlir-opt --mirage-layout --mirage-lower -o %t.alone.mlir 2>/dev/null
// RUN: FileCheck %s --check-prefix=LAUNCH < %t.alone.mlir
// RUN: mirage-run --target=emulator %t.alone.mlir | FileCheck %s
// RUN: sed '/@pairs(/s/source = @program/source = @program, selected/' %s | mirage-mlir-opt --mirage-layout --mirage-lower -o %t.pairs.mlir 2>/dev/null
// RUN: mirage-run --target=emulator %t.pairs.mlir | FileCheck %s
//
// LAUNCH: persistent = 4, roles = [consumer(4), producer(1)]
// CHECK: output 0 {{.*}}: ok

mirage_kernel.graph @program(%x: tensor<310x256xf16>, %w: tensor<256x128xf16>, %r: tensor<310x128xf16>) -> tensor<310x128xf16> {
  %p = matmul %x, %w : tensor<310x256xf16>, tensor<256x128xf16>
  %y = add %p, %r : tensor<310x128xf16>, tensor<310x128xf16>
  return %y : tensor<310x128xf16>
}

mirage_kernel.graph @alone(%x: tensor<310x256xf16>, %w: tensor<256x128xf16>, %r: tensor<310x128xf16>) -> tensor<310x128xf16> attributes {source = @program} {
  %y = custom (%xk = %x, %wk = %w, %rk = %r) outs(%yk) grid [2, 5]
      schedule <tile_order = row, persistent = 4, roles = [consumer(4), producer(1)], loads = [tensor(stages = 3), tensor(stages = 3), register]>
      : (tensor<310x256xf16>, tensor<256x128xf16>, tensor<310x128xf16>) -> tensor<310x128xf16> {
    %zero = constant 0.0 : !mirage_block.tile<64x64xf32>
    %acc = loop 4 (%a = %zero sum) : !mirage_block.tile<64x64xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1], tiles = [64]} : tensor<310x256xf16> -> !mirage_block.tile<64x64xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<256x128xf16> -> !mirage_block.tile<64x64xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<64x64xf16>, !mirage_block.tile<64x64xf16>
      yield %p : !mirage_block.tile<64x64xf32>
    }
    %rt = load %rk {grid = [1, 0], tiles = [64]} : tensor<310x128xf16> -> !mirage_block.tile<64x64xf16>
    %s = add %acc, %rt : !mirage_block.tile<64x64xf32>, !mirage_block.tile<64x64xf16>
    store %s, %yk {grid = [1, 0], tiles = [64]} : !mirage_block.tile<64x64xf32>, tensor<310x128xf16>
  }
  return %y : tensor<310x128xf16>
}

mirage_kernel.graph @pairs(%x: tensor<310x256xf16>, %w: tensor<256x128xf16>, %r: tensor<310x128xf16>) -> tensor<310x128xf16> attributes {source = @program} {
  %y = custom (%xk = %x, %wk = %w, %rk = %r) outs(%yk) grid [2, 5] cluster [2]
      schedule <tile_order = grouped, persistent = 4, roles = [consumer(4), producer(1)], loads = [tensor(stages = 3, multicast = true), tensor(stages = 3), register]>
      : (tensor<310x256xf16>, tensor<256x128xf16>, tensor<310x128xf16>) -> tensor<310x128xf16> {
    %zero = constant 0.0 : !mirage_block.tile<64x64xf32>
    %acc = loop 4 (%a = %zero sum) : !mirage_block.tile<64x64xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1], tiles = [64]} : tensor<310x256xf16> -> !mirage_block.tile<64x64xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<256x128xf16> -> !mirage_block.tile<64x64xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<64x64xf16>, !mirage_block.tile<64x64xf16>
      yield %p : !mirage_block.tile<64x64xf32>
    }
    %rt = load %rk {grid = [1, 0], tiles = [64]} : tensor<310x128xf16> -> !mirage_block.tile<64x64xf16>
    %s = add %acc, %rt : !mirage_block.tile<64x64xf32>, !mirage_block.tile<64x64xf16>
    store %s, %yk {grid = [1, 0], tiles = [64]} : !mirage_block.tile<64x64xf32>, tensor<310x128xf16>
  }
  return %y : tensor<310x128xf16>
}
