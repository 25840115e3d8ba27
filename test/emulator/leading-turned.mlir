// Products that lead to a loop's own, where the weight's columns come first in the instruction: parts of 152 rows are no slabs.
//
// RUN: mirage-mlir-opt %s --mirage-verify --mirage-layout='target=h100 tensor-maps=true' -o %t.mlir 2>%t.err
// RUN: FileCheck %s --check-prefix=PROOF --input-file %t.err
// RUN: mirage-run %t.mlir -g turned --target=emulator --compile=h100 | FileCheck %s
// PROOF: 1 equivalent
// CHECK: output 0 {{.*}}76800 of 76800 elements compared{{.*}}: ok
mirage_kernel.graph @lead2(%x: tensor<300x256xf16>, %w: tensor<256x256xf16>, %t: tensor<300x64xf16>, %b: tensor<64x256xf16>) -> tensor<300x256xf16> {
  %p = matmul %x, %w : tensor<300x256xf16>, tensor<256x256xf16>
  %q = matmul %t, %b : tensor<300x64xf16>, tensor<64x256xf16>
  %y = add %p, %q : tensor<300x256xf16>, tensor<300x256xf16>
  return %y : tensor<300x256xf16>
}

mirage_kernel.graph @turned(%x: tensor<300x256xf16>, %w: tensor<256x256xf16>, %t: tensor<300x64xf16>, %b: tensor<64x256xf16>) -> tensor<300x256xf16> attributes {source = @lead2} {
  %0 = custom (%xk = %x, %wk = %w, %tk = %t, %bk = %b) outs(%o) grid [2, 2] schedule <warps = 12, swap = true, roles = [producer(4, 40), consumer(8, 232)], loads = [tensor(stages = 3), tensor(stages = 3), tensor(stages = 3), tensor(stages = 3)]> : (tensor<300x256xf16>, tensor<256x256xf16>, tensor<300x64xf16>, tensor<64x256xf16>) -> tensor<300x256xf16> {
    %1 = constant 0.0 : !mirage_block.tile<152x128xf32>
    %2 = loop 1 (%a = %1 sum) : !mirage_block.tile<152x128xf32> {
      %5 = load %tk {grid = [-1, 0], loop = [1], tiles = [152]} : tensor<300x64xf16> -> !mirage_block.tile<152x64xf16>
      %6 = load %bk {grid = [1], loop = [0]} : tensor<64x256xf16> -> !mirage_block.tile<64x128xf16>
      %7 = matmul %5, %6 : !mirage_block.tile<152x64xf16>, !mirage_block.tile<64x128xf16>
      yield %7 : !mirage_block.tile<152x128xf32>
    }
    %3 = loop 4 (%a = %1 sum) : !mirage_block.tile<152x128xf32> {
      %5 = load %xk {grid = [-1, 0], loop = [1], tiles = [152]} : tensor<300x256xf16> -> !mirage_block.tile<152x64xf16>
      %6 = load %wk {grid = [1], loop = [0]} : tensor<256x256xf16> -> !mirage_block.tile<64x128xf16>
      %7 = matmul %5, %6 : !mirage_block.tile<152x64xf16>, !mirage_block.tile<64x128xf16>
      yield %7 : !mirage_block.tile<152x128xf32>
    }
    %4 = add %2, %3 : !mirage_block.tile<152x128xf32>, !mirage_block.tile<152x128xf32>
    store %4, %o {grid = [1, 0], tiles = [152]} : !mirage_block.tile<152x128xf32>, tensor<300x256xf16>
  }
  return %0 : tensor<300x256xf16>
}
