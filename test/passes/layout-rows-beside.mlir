// Long rows in threads: no more warps than have pieces, and registers for two blocks on a multiprocessor, so that one loads while the
// other reduces (H100: 203 us with 16 warps that leave room for one block, 158 with two).
//
// RUN: mirage-mlir-opt %s --mirage-layout=target=h100 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-lower=target=h100 2>/dev/null | sed 's/\\0A/\n/g; s/\\09/ /g' | FileCheck %s --check-prefix=PTX

// 1792 pieces of 16 bytes: four each of 14 warps, not of 16. (More than 400 rows wait in shared memory: layout-rows-follow.mlir.)
// CHECK-LABEL: graph @long(
// CHECK: custom {{.*}}schedule <warps = 14,
// PTX-LABEL: entry long_k0(
// PTX: .maxntid 448
// PTX-NEXT: .minnctapersm 2
mirage_kernel.graph @long_program(%x: tensor<400x14336xf16>) -> tensor<400x14336xf16> {
  %s = reduce_sum %x {dim = 1} : tensor<400x14336xf16>
  %y = sub %x, %s : tensor<400x14336xf16>, tensor<400x1xf16>
  return %y : tensor<400x14336xf16>
}
mirage_kernel.graph @long(%x: tensor<400x14336xf16>) -> tensor<400x14336xf16> attributes {source = @long_program, selected} {
  %y = custom (%a = %x) outs(%o) grid [400] : (tensor<400x14336xf16>) -> tensor<400x14336xf16> {
    %t = load %a {grid = [0]} : tensor<400x14336xf16> -> !mirage_block.tile<1x14336xf16>
    %s = reduce_sum %t {dim = 1} : !mirage_block.tile<1x14336xf16>
    %d = sub %t, %s : !mirage_block.tile<1x14336xf16>, !mirage_block.tile<1x1xf32>
    store %d, %o {grid = [0]} : !mirage_block.tile<1x14336xf32>, tensor<400x14336xf16>
  }
  return %y : tensor<400x14336xf16>
}

// Who asks for 16 warps has them. Blocks of eight warps have room beside each other without a word.
// CHECK-LABEL: graph @asked(
// CHECK: custom {{.*}}schedule <warps = 16,
// PTX-LABEL: entry asked_k0(
// PTX: .maxntid 512
// PTX-NEXT: .minnctapersm 2
mirage_kernel.graph @asked_program(%x: tensor<8192x14336xf16>) -> tensor<8192x14336xf16> {
  %s = reduce_sum %x {dim = 1} : tensor<8192x14336xf16>
  %y = sub %x, %s : tensor<8192x14336xf16>, tensor<8192x1xf16>
  return %y : tensor<8192x14336xf16>
}
mirage_kernel.graph @asked(%x: tensor<8192x14336xf16>) -> tensor<8192x14336xf16> attributes {source = @asked_program, selected} {
  %y = custom (%a = %x) outs(%o) grid [8192] schedule <warps = 16> : (tensor<8192x14336xf16>) -> tensor<8192x14336xf16> {
    %t = load %a {grid = [0]} : tensor<8192x14336xf16> -> !mirage_block.tile<1x14336xf16>
    %s = reduce_sum %t {dim = 1} : !mirage_block.tile<1x14336xf16>
    %d = sub %t, %s : !mirage_block.tile<1x14336xf16>, !mirage_block.tile<1x1xf32>
    store %d, %o {grid = [0]} : !mirage_block.tile<1x14336xf32>, tensor<8192x14336xf16>
  }
  return %y : tensor<8192x14336xf16>
}

// 320 pieces: two each of five warps. One row of threads that all have a piece, as 8192 columns are for eight warps, stays.
// CHECK-LABEL: graph @short(
// CHECK: custom {{.*}}schedule <warps = 5,
// PTX-LABEL: entry short_k0(
// PTX: .maxntid 160
// PTX-NOT: minnctapersm
// PTX-LABEL: entry even_k0(
// PTX: .maxntid 256
// PTX-NOT: minnctapersm
mirage_kernel.graph @short_program(%x: tensor<8192x2560xf16>) -> tensor<8192x2560xf16> {
  %s = reduce_sum %x {dim = 1} : tensor<8192x2560xf16>
  %y = sub %x, %s : tensor<8192x2560xf16>, tensor<8192x1xf16>
  return %y : tensor<8192x2560xf16>
}
mirage_kernel.graph @short(%x: tensor<8192x2560xf16>) -> tensor<8192x2560xf16> attributes {source = @short_program, selected} {
  %y = custom (%a = %x) outs(%o) grid [8192] : (tensor<8192x2560xf16>) -> tensor<8192x2560xf16> {
    %t = load %a {grid = [0]} : tensor<8192x2560xf16> -> !mirage_block.tile<1x2560xf16>
    %s = reduce_sum %t {dim = 1} : !mirage_block.tile<1x2560xf16>
    %d = sub %t, %s : !mirage_block.tile<1x2560xf16>, !mirage_block.tile<1x1xf32>
    store %d, %o {grid = [0]} : !mirage_block.tile<1x2560xf32>, tensor<8192x2560xf16>
  }
  return %y : tensor<8192x2560xf16>
}
// CHECK-LABEL: graph @even(
// CHECK: custom {{.*}}schedule <warps = 8,
mirage_kernel.graph @even_program(%x: tensor<8192x8192xf16>) -> tensor<8192x8192xf16> {
  %s = reduce_sum %x {dim = 1} : tensor<8192x8192xf16>
  %y = sub %x, %s : tensor<8192x8192xf16>, tensor<8192x1xf16>
  return %y : tensor<8192x8192xf16>
}
mirage_kernel.graph @even(%x: tensor<8192x8192xf16>) -> tensor<8192x8192xf16> attributes {source = @even_program, selected} {
  %y = custom (%a = %x) outs(%o) grid [8192] : (tensor<8192x8192xf16>) -> tensor<8192x8192xf16> {
    %t = load %a {grid = [0]} : tensor<8192x8192xf16> -> !mirage_block.tile<1x8192xf16>
    %s = reduce_sum %t {dim = 1} : !mirage_block.tile<1x8192xf16>
    %d = sub %t, %s : !mirage_block.tile<1x8192xf16>, !mirage_block.tile<1x1xf32>
    store %d, %o {grid = [0]} : !mirage_block.tile<1x8192xf32>, tensor<8192x8192xf16>
  }
  return %y : tensor<8192x8192xf16>
}
