// Rows that are no slabs of 64: products with their operands swapped are among the candidates, with rows rounded up to eights, and
// are planned so. Where rows are slabs the best one has them as they are; on a GPU without warpgroup instructions all do.
//
// RUN: mirage-mlir-opt %s --mirage-enumerate=target=h100 --mirage-layout=target=h100 -o %t.mlir 2>/dev/null
// RUN: FileCheck %s --input-file %t.mlir
// RUN: mirage-mlir-opt %s --mirage-enumerate=target=a100 2>/dev/null | FileCheck %s --check-prefix=NONE
// NONE-NOT: swap = true

// CHECK-LABEL: graph @ragged_0(
// CHECK: grid [56, 2] cluster [1, 2] schedule <warps = 12, swap = true, roles = [producer(4, 40), consumer(8, 232)], loads = [tensor(stages = 4), tensor(stages = 4, multicast = true)]>
// CHECK: load {{.*}}tiles = [152]} : tensor<300x4096xf16> -> !mirage_block.tile<152x64xf16, shared
// CHECK: loop 64 {{.*}} : !mirage_block.tile<152x256xf32, register> -> !mirage_block.tile<152x256xf32, shared
mirage_kernel.graph @ragged(%x: tensor<300x4096xf16>, %w: tensor<4096x14336xf16>) -> tensor<300x14336xf16> {
  %y = matmul %x, %w : tensor<300x4096xf16>, tensor<4096x14336xf16>
  return %y : tensor<300x14336xf16>
}

// CHECK-LABEL: graph @few_0(
// CHECK: schedule <warps = 12, swap = true, roles = [producer(4, 40), consumer(8, 232)], loads = [tensor(stages = 8), tensor(stages = 8)]>
// CHECK: -> !mirage_block.tile<32x64xf16, shared
mirage_kernel.graph @few(%x: tensor<32x2560xf16>, %w: tensor<2560x9728xf16>) -> tensor<32x9728xf16> {
  %y = matmul %x, %w : tensor<32x2560xf16>, tensor<2560x9728xf16>
  return %y : tensor<32x9728xf16>
}

// A single row, which walks no axis, is the first of eight, and so is what is made of it; the residual stays one row.
// CHECK-LABEL: graph @row_0(
// CHECK: schedule <warps = {{.*}}swap = true, roles = [producer
// CHECK: load {{.*}}tiles = [8]} : tensor<1x4096xf16> -> !mirage_block.tile<8x{{[0-9]+}}xf16, shared
// CHECK: load {{.*}} : tensor<1x14336xf16> -> !mirage_block.tile<1x128xf16
// CHECK: store {{.*}}tiles = [8]} : !mirage_block.tile<8x128xf32, register>, tensor<1x14336xf16>
mirage_kernel.graph @row(%x: tensor<1x4096xf16>, %w: tensor<4096x14336xf16>, %r: tensor<1x14336xf16>) -> tensor<1x14336xf16> {
  %p = matmul %x, %w : tensor<1x4096xf16>, tensor<4096x14336xf16>
  %y = add %p, %r : tensor<1x14336xf16>, tensor<1x14336xf16>
  return %y : tensor<1x14336xf16>
}

// Not where weights are computed in the loop; and what would divide by the zeros of rows that are not there has a kernel of its own.
// CHECK-LABEL: graph @scaled(
// CHECK-NOT: swap = true
// CHECK-LABEL: graph @inverse_0(
// CHECK: [[product:%.*]] = custom {{.*}}swap = true
// CHECK-NOT: div
// CHECK: }
// CHECK: div %arg2, [[product]] : tensor<1x14336xf16>
// CHECK-LABEL: graph @slabs(
// CHECK: graph @slabs_0(
// CHECK-NOT: swap = true
// CHECK: graph @slabs_1(
mirage_kernel.graph @scaled(%x: tensor<1x4096xf16>, %w: tensor<4096x14336xi8>, %s: tensor<1x14336xf16>) -> tensor<1x14336xf16> {
  %c = cast %w : tensor<4096x14336xi8> -> tensor<4096x14336xf16>
  %v = mul %c, %s : tensor<4096x14336xf16>, tensor<1x14336xf16>
  %y = matmul %x, %v : tensor<1x4096xf16>, tensor<4096x14336xf16>
  return %y : tensor<1x14336xf16>
}
mirage_kernel.graph @inverse(%x: tensor<1x4096xf16>, %w: tensor<4096x14336xf16>, %r: tensor<1x14336xf16>) -> tensor<1x14336xf16> {
  %p = matmul %x, %w : tensor<1x4096xf16>, tensor<4096x14336xf16>
  %y = div %r, %p : tensor<1x14336xf16>, tensor<1x14336xf16>
  return %y : tensor<1x14336xf16>
}
mirage_kernel.graph @slabs(%x: tensor<64x2560xf16>, %w: tensor<2560x9728xf16>) -> tensor<64x9728xf16> {
  %y = matmul %x, %w : tensor<64x2560xf16>, tensor<2560x9728xf16>
  return %y : tensor<64x9728xf16>
}

// Tiles that all begin at once are pairs where they are large, as those of @ragged; these are not.
// CHECK-LABEL: graph @tiles_0(
// CHECK: grid [8, 16] schedule <
// CHECK-NOT: multicast
// CHECK: load {{.*}}!mirage_block.tile<64x128xf16, shared
mirage_kernel.graph @tiles(%x: tensor<1000x4096xf16>, %w: tensor<4096x1024xf16>) -> tensor<1000x1024xf16> {
  %y = matmul %x, %w : tensor<1000x4096xf16>, tensor<4096x1024xf16>
  return %y : tensor<1000x1024xf16>
}
