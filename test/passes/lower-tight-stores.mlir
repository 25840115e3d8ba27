// A tile of 192 accumulators leaves a thread of 232 registers hardly any to compute what it stores: six groups of eight elements at a time,
// behind each of which the block of code ends, and four where warpgroups take tiles in turn. Of 160 all 20 groups are one piece.
//
// RUN: sed -n '/^mirage_kernel.graph @tight/,/^}/p' %s | mirage-mlir-opt --mirage-layout=target=h200 --mirage-lower=target=h200 -o %t.tight.mlir 2>/dev/null
// RUN: %python %S/inputs/ptx.py %t.tight.mlir | grep -c '@!never bra on' | FileCheck %s --check-prefix=TIGHT
// TIGHT: {{^8$}}
// RUN: sed -n '/^mirage_kernel.graph @tight/,/^}/p' %s | sed 's/256x/128x/g; s/grid .64, 2./grid [64, 4] schedule <warps = 12, overlap = tiles, persistent = 132, roles = [producer(4, 40), consumer(8, 232)], loads = [tensor(stages = 5), tensor(stages = 5)]>/' | mirage-mlir-opt --mirage-layout=target=h200 --mirage-lower=target=h200 -o %t.turns.mlir 2>/dev/null
// RUN: grep -c 'overlap = tiles' %t.turns.mlir | FileCheck %s --check-prefix=ONE
// ONE: {{^1$}}
// RUN: %python %S/inputs/ptx.py %t.turns.mlir | grep -c '@!never bra on' | FileCheck %s --check-prefix=TURNS
// TURNS: {{^12$}}
// RUN: sed -n '/^mirage_kernel.graph @roomy/,/^}/p' %s | mirage-mlir-opt --mirage-layout=target=h200 --mirage-lower=target=h200 -o %t.roomy.mlir 2>/dev/null
// RUN: %python %S/inputs/ptx.py %t.roomy.mlir | FileCheck %s --check-prefix=ROOMY
// ROOMY-NOT: never
// ROOMY: tanh.approx
// ROOMY-NOT: never

mirage_kernel.graph @tight(%x: tensor<512x8192xbf16>, %w: tensor<8192x12288xbf16>) -> (tensor<512x12288xbf16>, tensor<512x12288xbf16>) {
  %y = matmul %x, %w : tensor<512x8192xbf16>, tensor<8192x12288xbf16>
  %z = tanh %y : tensor<512x12288xbf16>
  return %y, %z : tensor<512x12288xbf16>, tensor<512x12288xbf16>
}
mirage_kernel.graph @tight_0(%x: tensor<512x8192xbf16>, %w: tensor<8192x12288xbf16>) -> (tensor<512x12288xbf16>, tensor<512x12288xbf16>) attributes {selected, source = @tight} {
  %y:2 = custom (%a = %x, %b = %w) outs(%c, %d) grid [64, 2] : (tensor<512x8192xbf16>, tensor<8192x12288xbf16>) -> (tensor<512x12288xbf16>, tensor<512x12288xbf16>) {
    %zero = constant 0.0 : !mirage_block.tile<256x192xf32>
    %s = loop 128 (%sum = %zero sum) : !mirage_block.tile<256x192xf32> {
      %ta = load %a {grid = [-1, 0], loop = [1]} : tensor<512x8192xbf16> -> !mirage_block.tile<256x64xbf16>
      %tb = load %b {grid = [1], loop = [0]} : tensor<8192x12288xbf16> -> !mirage_block.tile<64x192xbf16>
      %p = matmul %ta, %tb : !mirage_block.tile<256x64xbf16>, !mirage_block.tile<64x192xbf16>
      yield %p : !mirage_block.tile<256x192xf32>
    }
    %t = tanh %s : !mirage_block.tile<256x192xf32>
    store %s, %c {grid = [1, 0]} : !mirage_block.tile<256x192xf32>, tensor<512x12288xbf16>
    store %t, %d {grid = [1, 0]} : !mirage_block.tile<256x192xf32>, tensor<512x12288xbf16>
  }
  return %y#0, %y#1 : tensor<512x12288xbf16>, tensor<512x12288xbf16>
}

mirage_kernel.graph @roomy(%x: tensor<512x8192xbf16>, %w: tensor<8192x10240xbf16>) -> (tensor<512x10240xbf16>, tensor<512x10240xbf16>) {
  %y = matmul %x, %w : tensor<512x8192xbf16>, tensor<8192x10240xbf16>
  %z = tanh %y : tensor<512x10240xbf16>
  return %y, %z : tensor<512x10240xbf16>, tensor<512x10240xbf16>
}
mirage_kernel.graph @roomy_0(%x: tensor<512x8192xbf16>, %w: tensor<8192x10240xbf16>) -> (tensor<512x10240xbf16>, tensor<512x10240xbf16>) attributes {selected, source = @roomy} {
  %y:2 = custom (%a = %x, %b = %w) outs(%c, %d) grid [64, 2] : (tensor<512x8192xbf16>, tensor<8192x10240xbf16>) -> (tensor<512x10240xbf16>, tensor<512x10240xbf16>) {
    %zero = constant 0.0 : !mirage_block.tile<256x160xf32>
    %s = loop 128 (%sum = %zero sum) : !mirage_block.tile<256x160xf32> {
      %ta = load %a {grid = [-1, 0], loop = [1]} : tensor<512x8192xbf16> -> !mirage_block.tile<256x64xbf16>
      %tb = load %b {grid = [1], loop = [0]} : tensor<8192x10240xbf16> -> !mirage_block.tile<64x160xbf16>
      %p = matmul %ta, %tb : !mirage_block.tile<256x64xbf16>, !mirage_block.tile<64x160xbf16>
      yield %p : !mirage_block.tile<256x160xf32>
    }
    %t = tanh %s : !mirage_block.tile<256x160xf32>
    store %s, %c {grid = [1, 0]} : !mirage_block.tile<256x160xf32>, tensor<512x10240xbf16>
    store %t, %d {grid = [1, 0]} : !mirage_block.tile<256x160xf32>, tensor<512x10240xbf16>
  }
  return %y#0, %y#1 : tensor<512x10240xbf16>, tensor<512x10240xbf16>
}
