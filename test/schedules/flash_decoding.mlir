// Flash-decoding in one kernel: each head's keys are split over four blocks that run at the same time. A block keeps a running
// maximum, and rescales its sums when that grows (online softmax); at the end the blocks of a head agree on the maximum and
// add their rescaled sums through device memory.
//
// RUN: mirage-mlir-opt %s -o %t.mlir
// RUN: mirage-mlir-opt %t.mlir | diff %t.mlir -
// RUN: mirage-mlir-opt %t.mlir --mlir-print-op-generic | mirage-mlir-opt | diff %t.mlir -
// RUN: mirage-mlir-opt %t.mlir --emit-bytecode | mirage-mlir-opt | diff %t.mlir -
// RUN: mirage-mlir-opt %t.mlir --cse --canonicalize | mirage-mlir-opt | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify -o %t.proved.mlir 2>/dev/null
// RUN: FileCheck %s --check-prefix=PROVED < %t.proved.mlir
// RUN: sed 's/grid_sum %op/grid_sum %o/' %s | mirage-mlir-opt --mirage-verify 2>/dev/null | FileCheck %s --check-prefix=WRONG
//
// PROVED: @candidate{{.*}}proof = #mirage_kernel.proof<
// Tempting: sums added without bringing them to the common maximum.
// WRONG: @candidate{{.*}}mirage_kernel.verdict = "different"

mirage_kernel.graph @program(%q: tensor<4x2x16xf16>, %k: tensor<4x64x16xf16>, %v: tensor<4x64x16xf16>) -> tensor<4x2x16xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.25} : tensor<4x2x16xf16>, tensor<4x64x16xf16>, tensor<4x64x16xf16>
  return %y : tensor<4x2x16xf16>
}

// CHECK-LABEL: @candidate
// CHECK: custom {{.*}} grid [4, 4] schedule <warps = 4, split = columns, loads = [auto, tensor(stages = 2), tensor(stages = 2)]>
// CHECK: loop 2 (%{{.*}} = %{{.*}} max, %{{.*}} = %{{.*}} rescale, %{{.*}} = %{{.*}} rescale)
// CHECK: yield %{{.*}}, %{{.*}}, %{{.*}} rescale %{{.*}}, %{{.*}} :
// CHECK: grid_max
// CHECK-COUNT-2: grid_sum
// CHECK: store
mirage_kernel.graph @candidate(%q: tensor<4x2x16xf16>, %k: tensor<4x64x16xf16>, %v: tensor<4x64x16xf16>) -> tensor<4x2x16xf16>
    attributes {source = @program} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [4, 4]
      schedule <warps = 4, split = columns, loads = [auto, tensor(stages = 2), tensor(stages = 2)]>
      : (tensor<4x2x16xf16>, tensor<4x64x16xf16>, tensor<4x64x16xf16>) -> tensor<4x2x16xf16> {
    %qt = load %qk {grid = [0]} : tensor<4x2x16xf16> -> !mirage_block.tile<1x2x16xf16>
    %scale = constant 0.25 : !mirage_block.tile<1x1x1xf32>
    %none = bottom : !mirage_block.tile<1x2x1xf32>
    %l0 = constant 0.0 : !mirage_block.tile<1x2x1xf32>
    %o0 = constant 0.0 : !mirage_block.tile<1x2x16xf32>
    %m, %l, %o = loop 2 (%mc = %none max, %lc = %l0 rescale, %oc = %o0 rescale)
        : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x16xf32> {
      %kt = load %kk {grid = [0, 1], loop = [1]} : tensor<4x64x16xf16> -> !mirage_block.tile<1x8x16xf16>
      %vt = load %vk {grid = [0, 1], loop = [1]} : tensor<4x64x16xf16> -> !mirage_block.tile<1x8x16xf16>
      %s = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x2x16xf16>, !mirage_block.tile<1x8x16xf16>
      %t = mul %s, %scale : !mirage_block.tile<1x2x8xf32>, !mirage_block.tile<1x1x1xf32>
      %top = reduce_max %t {dim = 2} : !mirage_block.tile<1x2x8xf32>
      %new = max %mc, %top : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>
      %gap = sub %mc, %new : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>
      %f = exp %gap : !mirage_block.tile<1x2x1xf32>
      %d = sub %t, %new : !mirage_block.tile<1x2x8xf32>, !mirage_block.tile<1x2x1xf32>
      %e = exp %d : !mirage_block.tile<1x2x8xf32>
      %row = reduce_sum %e {dim = 2} : !mirage_block.tile<1x2x8xf32>
      %p = cast %e : !mirage_block.tile<1x2x8xf32> -> !mirage_block.tile<1x2x8xf16>
      %pv = matmul %p, %vt : !mirage_block.tile<1x2x8xf16>, !mirage_block.tile<1x8x16xf16>
      yield %top, %row, %pv rescale %f, %f
          : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x16xf32>, !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>
    }
    %all = grid_max %m {axes = [1]} : !mirage_block.tile<1x2x1xf32>
    %behind = sub %m, %all : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>
    %c = exp %behind : !mirage_block.tile<1x2x1xf32>
    %lp = mul %l, %c : !mirage_block.tile<1x2x1xf32>, !mirage_block.tile<1x2x1xf32>
    %op = mul %o, %c : !mirage_block.tile<1x2x16xf32>, !mirage_block.tile<1x2x1xf32>
    %ls = grid_sum %lp {axes = [1]} : !mirage_block.tile<1x2x1xf32>
    %os = grid_sum %op {axes = [1]} : !mirage_block.tile<1x2x16xf32>
    %r = div %os, %ls : !mirage_block.tile<1x2x16xf32>, !mirage_block.tile<1x2x1xf32>
    store %r, %yk {grid = [0]} : !mirage_block.tile<1x2x16xf32>, tensor<4x2x16xf16>
  }
  return %y : tensor<4x2x16xf16>
}
