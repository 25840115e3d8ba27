// A second look: the candidate that was fastest and one that is nearly as fast are timed in other schedules too. On the fake driver
// (test/unit/fake_cuda.c) a launch takes 10 us and writes zeros, which is what this program computes; @rows in eight warps takes 5.
// RUN: rm -rf %t.db* %t.*.db* && mirage-mlir-opt %s --mirage-verify --mirage-layout -o %t.planned.mlir 2>/dev/null
// RUN: env MIRAGE_TUNING_DB=%t.db FAKE_CUDA_ZEROS=1 FAKE_CUDA_QUICK=rows_warps_8_k0 MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.planned.mlir --mirage-select=measure=yes -o %t.selected.mlir 2>%t.log
// RUN: FileCheck %s < %t.selected.mlir
// RUN: FileCheck %s --check-prefix=LOG < %t.log
// CHECK:     graph @zero(
// CHECK:     graph @rows_warps_8({{.*}}proof = {{.*}}selected, source = @zero
// CHECK:     schedule <warps = 8,
// CHECK-NOT: mirage_kernel.graph
// LOG-DAG: @rows: 10.00 us measured
// LOG-DAG: @rows_warps_8: 5.00 us measured
// LOG-DAG: @also_warps_8: 10.00 us measured
// LOG-NOT: @by_hand_
// LOG: @zero: selected @rows_warps_8 of {{1[0-9]|[5-9]}} measured: 5.00 us measured on Fake GPU 0
//
// What was found so is remembered: the next time it is none of the candidates, and is proven again.
// RUN: env MIRAGE_TUNING_DB=%t.db MIRAGE_CUDA_LIBRARY=/nowhere mirage-mlir-opt %t.planned.mlir --mirage-select=measure=yes -o %t.again.mlir 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: FileCheck %s --check-prefix=TUNED < %t.again.mlir
// AGAIN: @zero: selected @zero_tuned: 5.00 us measured on Fake GPU 0
// TUNED: graph @zero_tuned({{.*}}proof = {{.*}}selected, source = @zero
// TUNED: schedule <warps = 8,
//
// Fewer, none, and what is no number of schedules.
// RUN: env MIRAGE_TUNING_DB=%t.two.db FAKE_CUDA_ZEROS=1 MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.planned.mlir '--mirage-select=measure=yes measure-schedules=1' -o /dev/null 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: @rows_warps_{{[0-9]+}}: 10.00 us measured
// ONE-NOT: @rows_
// ONE: selected @rows of 5 measured
// RUN: env MIRAGE_TUNING_DB=%t.none.db FAKE_CUDA_ZEROS=1 MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.planned.mlir '--mirage-select=measure=yes measure-schedules=0' -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// NONE-NOT: _warps_
// NONE: of 3 measured
// RUN: not mirage-mlir-opt %t.planned.mlir --mirage-select=measure-schedules=33 -o /dev/null 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: error: mirage-select: option measure-schedules must lie between 0 and 32, got 33
// One that is slower than the first, or that hangs, changes nothing.
// RUN: env MIRAGE_TUNING_DB=%t.hangs.db FAKE_CUDA_ZEROS=1 FAKE_CUDA_QUICK=rows_k0 FAKE_CUDA_HANGING=rows_warps_8_k0 MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.planned.mlir '--mirage-select=measure=yes measure-timeout=0.1' -o /dev/null 2>&1 | FileCheck %s --check-prefix=HANGS
// HANGS-DAG: warning: @rows_warps_8: not measured: device: kernel rows_warps_8_k0 did not finish within 0.1 s
// HANGS-DAG: @zero: selected @rows of {{[0-9]+}} measured: 5.00 us measured

mirage_kernel.graph @zero(%x: tensor<64x768xf32>) -> tensor<64x1xf32> {
  %n = neg %x : tensor<64x768xf32>
  %y = add %x, %n : tensor<64x768xf32>, tensor<64x768xf32>
  %s = reduce_sum %y {dim = 1} : tensor<64x768xf32>
  return %s : tensor<64x1xf32>
}
mirage_kernel.graph @rows(%x: tensor<64x768xf32>) -> tensor<64x1xf32> attributes {source = @zero} {
  %r = custom (%a = %x) outs(%o) grid [64] : (tensor<64x768xf32>) -> tensor<64x1xf32> {
    %t = load %a {grid = [0]} : tensor<64x768xf32> -> !mirage_block.tile<1x768xf32>
    %d = sub %t, %t : !mirage_block.tile<1x768xf32>, !mirage_block.tile<1x768xf32>
    %s = reduce_sum %d {dim = 1} : !mirage_block.tile<1x768xf32>
    store %s, %o {grid = [0]} : !mirage_block.tile<1x1xf32>, tensor<64x1xf32>
  }
  return %r : tensor<64x1xf32>
}
mirage_kernel.graph @also(%x: tensor<64x768xf32>) -> tensor<64x1xf32> attributes {source = @zero} {
  %r = custom (%a = %x) outs(%o) grid [32] : (tensor<64x768xf32>) -> tensor<64x1xf32> {
    %t = load %a {grid = [0]} : tensor<64x768xf32> -> !mirage_block.tile<2x768xf32>
    %d = sub %t, %t : !mirage_block.tile<2x768xf32>, !mirage_block.tile<2x768xf32>
    %s = reduce_sum %d {dim = 1} : !mirage_block.tile<2x768xf32>
    store %s, %o {grid = [0]} : !mirage_block.tile<2x1xf32>, tensor<64x1xf32>
  }
  return %r : tensor<64x1xf32>
}
mirage_kernel.graph @by_hand(%x: tensor<64x768xf32>) -> tensor<64x1xf32> attributes {source = @zero} {
  %r = custom (%a = %x) outs(%o) grid [16] schedule <warps = 4> : (tensor<64x768xf32>) -> tensor<64x1xf32> {
    %t = load %a {grid = [0]} : tensor<64x768xf32> -> !mirage_block.tile<4x768xf32>
    %d = sub %t, %t : !mirage_block.tile<4x768xf32>, !mirage_block.tile<4x768xf32>
    %s = reduce_sum %d {dim = 1} : !mirage_block.tile<4x768xf32>
    store %s, %o {grid = [0]} : !mirage_block.tile<4x1xf32>, tensor<64x1xf32>
  }
  return %r : tensor<64x1xf32>
}
