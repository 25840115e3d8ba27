// The last tile of a loop, of which a mask leaves some columns: the products of that turn have no others. Here two slabs of 64 rows
// are a warpgroup's, whose cells lie apart; and scores are so far below zero that a hidden one that counted as 0 would be the
// largest.
//
// RUN: mirage-mlir-opt %s --mirage-lower -o %t.mlir
// RUN: mirage-run --target=emulator --program=largest %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=softmax %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=all_are_read %t.mlir | FileCheck %s
// CHECK: output 0 {{.*}}: ok
//
// 168 keys are two tiles of 64 and one of 40: of two slabs and four steps of the contraction there are eight of each. What is
// multiplied by exponentials of that turn has a contraction of 48, three steps beside four of others.
// RUN: grep '@largest_own_bin' %t.mlir | sed 's/\\0A/\n/g; s/\\09/ /g' | FileCheck %s --check-prefix=LARGEST
// LARGEST-COUNT-8: m64n64k16
// LARGEST-NOT: m64n64k16
// LARGEST-COUNT-8: m64n40k16
// LARGEST-NOT: m64n
// RUN: grep '@softmax_own_bin' %t.mlir | sed 's/\\0A/\n/g; s/\\09/ /g' | FileCheck %s --check-prefix=SOFTMAX
// SOFTMAX-COUNT-2: m64n64k16
// SOFTMAX-COUNT-4: m64n32k16
// SOFTMAX-NOT: m64n
// SOFTMAX-COUNT-2: m64n40k16
// SOFTMAX-COUNT-3: m64n32k16
// SOFTMAX-NOT: m64n
//
// Scores that somebody reads before they are masked are all computed.
// RUN: grep '@all_are_read_own_bin' %t.mlir | sed 's/\\0A/\n/g; s/\\09/ /g' | FileCheck %s --check-prefix=ALL
// ALL-NOT: m64n40

mirage_kernel.graph @largest(%q: tensor<128x64xf16>, %k: tensor<168x64xf16>) -> tensor<128x1xf32> {
  %y = custom (%cq = %q, %ck = %k) outs(%o) grid [1] schedule <warps = 4> : (tensor<128x64xf16>, tensor<168x64xf16>) -> tensor<128x1xf32> {
    %0 = load %cq {} : tensor<128x64xf16> -> !mirage_block.tile<128x64xf16>
    %none = bottom : !mirage_block.tile<128x1xf32>
    %2 = loop 3 (%p = %none max) : !mirage_block.tile<128x1xf32> {
      %10 = load %ck {loop = [0], tiles = [64]} : tensor<168x64xf16> -> !mirage_block.tile<64x64xf16>
      %11 = matmul %0, %10 {transpose_b} : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x64xf16> -> !mirage_block.tile<128x64xf32>
      %13 = iota {dim = 1, loop = [64]} : !mirage_block.tile<1x64xi32>
      %n = constant 168.0 : !mirage_block.tile<1x1xi32>
      %14 = less %13, %n : !mirage_block.tile<1x64xi32>, !mirage_block.tile<1x1xi32> -> !mirage_block.tile<1x64xi1>
      %12 = mask %14, %11 : !mirage_block.tile<1x64xi1>, !mirage_block.tile<128x64xf32> -> !mirage_block.tile<128x64xf32>
      %c = constant 100.0 : !mirage_block.tile<1x1xf32>
      %15 = sub %12, %c : !mirage_block.tile<128x64xf32>, !mirage_block.tile<1x1xf32> -> !mirage_block.tile<128x64xf32>
      %16 = reduce_max %15 {dim = 1} : !mirage_block.tile<128x64xf32> -> !mirage_block.tile<128x1xf32>
      yield %16 : !mirage_block.tile<128x1xf32>
    }
    store %2, %o {} : !mirage_block.tile<128x1xf32>, tensor<128x1xf32>
  }
  return %y : tensor<128x1xf32>
}

mirage_kernel.graph @softmax(%q: tensor<64x32xf16>, %k: tensor<168x32xf16>, %v: tensor<168x32xf16>) -> tensor<64x32xf16> {
  %y = custom (%cq = %q, %ck = %k, %cv = %v) outs(%o) grid [1] schedule <warps = 4, overlap = none> : (tensor<64x32xf16>, tensor<168x32xf16>, tensor<168x32xf16>) -> tensor<64x32xf16> {
    %0 = load %cq {} : tensor<64x32xf16> -> !mirage_block.tile<64x32xf16>
    %z = constant 0.0 : !mirage_block.tile<64x32xf32>
    %s = constant 0.0 : !mirage_block.tile<64x1xf32>
    %2:2 = loop 3 (%p = %z sum, %l = %s sum) : !mirage_block.tile<64x32xf32>, !mirage_block.tile<64x1xf32> {
      %10 = load %ck {loop = [0], tiles = [64]} : tensor<168x32xf16> -> !mirage_block.tile<64x32xf16>
      %11 = load %cv {loop = [0], tiles = [64]} : tensor<168x32xf16> -> !mirage_block.tile<64x32xf16>
      %12 = matmul %0, %10 {transpose_b} : !mirage_block.tile<64x32xf16>, !mirage_block.tile<64x32xf16> -> !mirage_block.tile<64x64xf32>
      %13 = iota {dim = 1, loop = [64]} : !mirage_block.tile<1x64xi32>
      %n = constant 168.0 : !mirage_block.tile<1x1xi32>
      %14 = less %13, %n : !mirage_block.tile<1x64xi32>, !mirage_block.tile<1x1xi32> -> !mirage_block.tile<1x64xi1>
      %eighth = constant 0.125 : !mirage_block.tile<1x1xf32>
      %scaled = mul %12, %eighth : !mirage_block.tile<64x64xf32>, !mirage_block.tile<1x1xf32> -> !mirage_block.tile<64x64xf32>
      %15 = mask %14, %scaled : !mirage_block.tile<1x64xi1>, !mirage_block.tile<64x64xf32> -> !mirage_block.tile<64x64xf32>
      %16 = exp %15 : !mirage_block.tile<64x64xf32>
      %17 = cast %16 : !mirage_block.tile<64x64xf32> -> !mirage_block.tile<64x64xf16>
      %18 = matmul %17, %11 : !mirage_block.tile<64x64xf16>, !mirage_block.tile<64x32xf16> -> !mirage_block.tile<64x32xf32>
      %19 = reduce_sum %16 {dim = 1} : !mirage_block.tile<64x64xf32> -> !mirage_block.tile<64x1xf32>
      yield %18, %19 : !mirage_block.tile<64x32xf32>, !mirage_block.tile<64x1xf32>
    }
    %3 = div %2#0, %2#1 : !mirage_block.tile<64x32xf32>, !mirage_block.tile<64x1xf32> -> !mirage_block.tile<64x32xf32>
    store %3, %o {} : !mirage_block.tile<64x32xf32>, tensor<64x32xf16>
  }
  return %y : tensor<64x32xf16>
}

mirage_kernel.graph @all_are_read(%q: tensor<64x64xf16>, %k: tensor<168x64xf16>) -> tensor<64x1xf32> {
  %y = custom (%cq = %q, %ck = %k) outs(%o) grid [1] schedule <warps = 4> : (tensor<64x64xf16>, tensor<168x64xf16>) -> tensor<64x1xf32> {
    %0 = load %cq {} : tensor<64x64xf16> -> !mirage_block.tile<64x64xf16>
    %s = constant 0.0 : !mirage_block.tile<64x1xf32>
    %2 = loop 3 (%p = %s sum) : !mirage_block.tile<64x1xf32> {
      %10 = load %ck {loop = [0], tiles = [64]} : tensor<168x64xf16> -> !mirage_block.tile<64x64xf16>
      %11 = matmul %0, %10 {transpose_b} : !mirage_block.tile<64x64xf16>, !mirage_block.tile<64x64xf16> -> !mirage_block.tile<64x64xf32>
      %13 = iota {dim = 1, loop = [64]} : !mirage_block.tile<1x64xi32>
      %n = constant 168.0 : !mirage_block.tile<1x1xi32>
      %14 = less %13, %n : !mirage_block.tile<1x64xi32>, !mirage_block.tile<1x1xi32> -> !mirage_block.tile<1x64xi1>
      %15 = mask %14, %11 : !mirage_block.tile<1x64xi1>, !mirage_block.tile<64x64xf32> -> !mirage_block.tile<64x64xf32>
      %16 = reduce_max %11 {dim = 1} : !mirage_block.tile<64x64xf32> -> !mirage_block.tile<64x1xf32>
      %17 = sub %15, %16 : !mirage_block.tile<64x64xf32>, !mirage_block.tile<64x1xf32> -> !mirage_block.tile<64x64xf32>
      %18 = exp %17 : !mirage_block.tile<64x64xf32>
      %19 = reduce_sum %18 {dim = 1} : !mirage_block.tile<64x64xf32> -> !mirage_block.tile<64x1xf32>
      yield %19 : !mirage_block.tile<64x1xf32>
    }
    store %2, %o {} : !mirage_block.tile<64x1xf32>, tensor<64x1xf32>
  }
  return %y : tensor<64x1xf32>
}
