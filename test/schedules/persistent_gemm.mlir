// A persistent, warp-specialised matrix product: one block of four warps' worth of copying and eight of multiplying walks over
// several tiles of rows, so that the copies of the next tile overlap the store of this one. The outer loop carries nothing
// and stores; the inner one sums over k. Two blocks of a cluster share each tile of x by multicast.
//
// RUN: mirage-mlir-opt %s -o %t.mlir
// RUN: mirage-mlir-opt %t.mlir | diff %t.mlir -
// RUN: mirage-mlir-opt %t.mlir --mlir-print-op-generic | mirage-mlir-opt | diff %t.mlir -
// RUN: mirage-mlir-opt %t.mlir --emit-bytecode | mirage-mlir-opt | diff %t.mlir -
// RUN: mirage-mlir-opt %t.mlir --cse --canonicalize | mirage-mlir-opt | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify -o %t.proved.mlir 2>/dev/null
// RUN: FileCheck %s --check-prefix=PROVED < %t.proved.mlir
// RUN: sed 's/%zero sum/%zero assign/' %s | mirage-mlir-opt --mirage-verify 2>/dev/null | FileCheck %s --check-prefix=WRONG
//
// PROVED: @candidate{{.*}}proof = #mirage_kernel.proof<
// Tempting: the last step of k instead of the sum.
// WRONG: @candidate{{.*}}mirage_kernel.verdict = "different"

mirage_kernel.graph @program(%x: tensor<64x128xf16>, %w: tensor<128x128xf16>) -> tensor<64x128xf16> {
  %y = matmul %x, %w : tensor<64x128xf16>, tensor<128x128xf16>
  return %y : tensor<64x128xf16>
}

// CHECK-LABEL: @candidate
// CHECK: custom {{.*}} grid [4] cluster [2] schedule <warps = 12, split = rows, tile_order = grouped, roles = [producer(4, 40), consumer(8, 232)], loads = [tensor(stages = 4, multicast = true), tensor(stages = 4)]>
// CHECK: loop 2 {
// CHECK:   loop 4 (
// CHECK:     load %{{.*}} {loop = [0, 1]}
// CHECK:     load %{{.*}} {grid = [1], loop = [-1, 0]}
// CHECK:   store %{{.*}} {grid = [1], loop = [0]}
mirage_kernel.graph @candidate(%x: tensor<64x128xf16>, %w: tensor<128x128xf16>) -> tensor<64x128xf16> attributes {source = @program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [4] cluster [2]
      schedule <warps = 12, split = rows, tile_order = grouped, roles = [producer(4, 40), consumer(8, 232)],
                loads = [tensor(stages = 4, multicast = true), tensor(stages = 4)]>
      : (tensor<64x128xf16>, tensor<128x128xf16>) -> tensor<64x128xf16> {
    loop 2 {
      %zero = constant 0.0 : !mirage_block.tile<32x32xf32, register>
      %acc = loop 4 (%a = %zero sum) : !mirage_block.tile<32x32xf32, register> {
        %xt = load %xk {loop = [0, 1]} : tensor<64x128xf16> -> !mirage_block.tile<32x32xf16, shared, <stages = 4, swizzle = 2, strides = [32, 1]>>
        %wt = load %wk {grid = [1], loop = [-1, 0]} : tensor<128x128xf16> -> !mirage_block.tile<32x32xf16, shared, <offset = 8192, stages = 4, swizzle = 2, strides = [32, 1]>>
        %p = matmul %xt, %wt : !mirage_block.tile<32x32xf16, shared, <stages = 4, swizzle = 2, strides = [32, 1]>>, !mirage_block.tile<32x32xf16, shared, <offset = 8192, stages = 4, swizzle = 2, strides = [32, 1]>>
        yield %p : !mirage_block.tile<32x32xf32>
      }
      store %acc, %yk {grid = [1], loop = [0]} : !mirage_block.tile<32x32xf32, register>, tensor<64x128xf16>
    }
  }
  return %y : tensor<64x128xf16>
}
