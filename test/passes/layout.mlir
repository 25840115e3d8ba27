// RUN: mirage-mlir-opt %s --mirage-layout 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t.err
// RUN: mirage-mlir-opt %s --mirage-layout -o %t.once
// RUN: mirage-mlir-opt %t.once --mirage-layout | diff %t.once -
// RUN: mirage-mlir-opt %s --mirage-layout=own 2>/dev/null | FileCheck %s --check-prefix=OWN
// Every tile gets a place, every load a schedule, the cost is taken anew; planning what is planned changes nothing. A
// candidate that does not fit is removed, with the reason. The program stays as it is; with `own`, its own lowering joins.

// CHECK: graph @p(
// CHECK-NEXT: matmul
// OWN: graph @p(
// OWN: graph @p_own({{.*}}source = @p
// OWN: custom{{.*}}schedule
mirage_kernel.graph @p(%x: tensor<16x64xf16>, %w: tensor<64x32xf16>) -> tensor<16x32xf16> {
  %y = matmul %x, %w : tensor<16x64xf16>, tensor<64x32xf16>
  return %y : tensor<16x32xf16>
}

// CHECK: graph @c({{.*}}cost = #mirage_kernel.cost<{{.*}}other.tag = 7
// CHECK: custom {{.*}}schedule <warps = {{[0-9]+}}
// CHECK: load {{.*}} -> !mirage_block.tile<16x16xf16, {{shared|register}}
// CHECK: load {{.*}} -> !mirage_block.tile<16x8xf16, {{shared|register}}
// CHECK: matmul {{.*}} -> !mirage_block.tile<16x8xf32, {{shared|register}}
mirage_kernel.graph @c(%x: tensor<16x64xf16>, %w: tensor<64x32xf16>) -> tensor<16x32xf16> attributes {source = @p, other.tag = 7} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [4] : (tensor<16x64xf16>, tensor<64x32xf16>) -> tensor<16x32xf16> {
    %zero = constant 0.0 : !mirage_block.tile<16x8xf32>
    %acc = loop 4 (%a = %zero sum) : !mirage_block.tile<16x8xf32> {
      %xt = load %xk {loop = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x16xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<64x32xf16> -> !mirage_block.tile<16x8xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<16x16xf16>, !mirage_block.tile<16x8xf16>
      yield %p : !mirage_block.tile<16x8xf32>
    }
    store %acc, %yk {grid = [1]} : !mirage_block.tile<16x8xf32>, tensor<16x32xf16>
  }
  return %y : tensor<16x32xf16>
}

mirage_kernel.graph @big(%x: tensor<512x512xf16>, %w: tensor<512x512xf16>) -> tensor<512x512xf16> {
  %y = matmul %x, %w : tensor<512x512xf16>, tensor<512x512xf16>
  return %y : tensor<512x512xf16>
}
// WHY: warning: {{.*}}shared memory
// WHY: @too_big: removed: no layout on h200
// CHECK: graph @big(
// CHECK-NOT: graph @too_big(
mirage_kernel.graph @too_big(%x: tensor<512x512xf16>, %w: tensor<512x512xf16>) -> tensor<512x512xf16> attributes {source = @big} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [1] : (tensor<512x512xf16>, tensor<512x512xf16>) -> tensor<512x512xf16> {
    %xt = load %xk : tensor<512x512xf16> -> !mirage_block.tile<512x512xf16>
    %wt = load %wk : tensor<512x512xf16> -> !mirage_block.tile<512x512xf16>
    %p = matmul %xt, %wt : !mirage_block.tile<512x512xf16>, !mirage_block.tile<512x512xf16>
    store %p, %yk : !mirage_block.tile<512x512xf32>, tensor<512x512xf16>
  }
  return %y : tensor<512x512xf16>
}

// Four rows of 4096 do not fit the registers of 8 warps at once: they are taken in turn. The reduction has a word for each
// warp and row.
// CHECK: graph @sum_exp(
// CHECK: graph @rows(
// CHECK: schedule <warps = 8{{.*}} in_threads = true
// CHECK: reduce_sum {{.*}} -> !mirage_block.tile<4x1xf32, shared, <offset = 0, stages = 8
mirage_kernel.graph @sum_exp(%x: tensor<512x4096xf16>) -> tensor<512x1xf16> {
  %e = exp %x : tensor<512x4096xf16>
  %s = reduce_sum %e {dim = 1} : tensor<512x4096xf16>
  return %s : tensor<512x1xf16>
}
mirage_kernel.graph @rows(%x: tensor<512x4096xf16>) -> tensor<512x1xf16> attributes {source = @sum_exp} {
  %y = custom (%xk = %x) outs(%yk) grid [128] : (tensor<512x4096xf16>) -> tensor<512x1xf16> {
    %xt = load %xk {grid = [0]} : tensor<512x4096xf16> -> !mirage_block.tile<4x4096xf16>
    %e = exp %xt : !mirage_block.tile<4x4096xf16>
    %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x4096xf32>
    store %s, %yk {grid = [0]} : !mirage_block.tile<4x1xf32>, tensor<512x1xf16>
  }
  return %y : tensor<512x1xf16>
}
