// Multi-query attention in two kernels: one key head, the query rows of all heads over the grid.
// RUN: mirage-module-test --warps 1 --warps 8 %s
// RUN: mirage-mlir-opt %s --mirage-verify -o /dev/null 2>&1 | FileCheck %s
// CHECK-COUNT-2: 0 different, 0 unsupported

mirage_kernel.graph @even(%q: tensor<1x64x32xf16>, %k: tensor<1x32x128xf16>, %v: tensor<1x128x32xf16>) -> tensor<1x64x32xf16> {
  %s = matmul %q, %k : tensor<1x64x32xf16>, tensor<1x32x128xf16>
  %e = exp %s : tensor<1x64x128xf16>
  %t = reduce_sum %e {dim = 2} : tensor<1x64x128xf16>
  %p = div %e, %t : tensor<1x64x128xf16>, tensor<1x64x1xf16>
  %y = matmul %p, %v : tensor<1x64x128xf16>, tensor<1x128x32xf16>
  return %y : tensor<1x64x32xf16>
}
mirage_kernel.graph @even_two_kernels(%q: tensor<1x64x32xf16>, %k: tensor<1x32x128xf16>, %v: tensor<1x128x32xf16>) -> tensor<1x64x32xf16>
    attributes {source = @even} {
  %e, %o = custom (%qk = %q, %kk = %k, %vk = %v) outs(%ek, %ok) grid [1, 2, 4]
      : (tensor<1x64x32xf16>, tensor<1x32x128xf16>, tensor<1x128x32xf16>) -> (tensor<1x64x64xf32>, tensor<1x64x64xf32>) {
    %none = constant 0.0 : !mirage_block.tile<1x16x32xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x16x32xf32>
    %es, %os = loop 2 (%a = %none sum, %b = %zero sum) : !mirage_block.tile<1x16x32xf32>, !mirage_block.tile<1x16x32xf32> {
      %qt = load %qk {grid = [0, -1, 1]} : tensor<1x64x32xf16> -> !mirage_block.tile<1x16x32xf16>
      %kt = load %kk {grid = [0, 2], loop = [2]} : tensor<1x32x128xf16> -> !mirage_block.tile<1x32x32xf16>
      %vt = load %vk {grid = [0, 1], loop = [1]} : tensor<1x128x32xf16> -> !mirage_block.tile<1x32x32xf16>
      %st = matmul %qt, %kt : !mirage_block.tile<1x16x32xf16>, !mirage_block.tile<1x32x32xf16>
      %et = exp %st : !mirage_block.tile<1x16x32xf32>
      %p = cast %et : !mirage_block.tile<1x16x32xf32> -> !mirage_block.tile<1x16x32xf16>
      %ot = matmul %p, %vt : !mirage_block.tile<1x16x32xf16>, !mirage_block.tile<1x32x32xf16>
      yield %et, %ot : !mirage_block.tile<1x16x32xf32>, !mirage_block.tile<1x16x32xf32>
    }
    store %es, %ek {grid = [0, 2, 1]} : !mirage_block.tile<1x16x32xf32>, tensor<1x64x64xf32>
    store %os, %ok {grid = [0, 2, 1]} : !mirage_block.tile<1x16x32xf32>, tensor<1x64x64xf32>
  }
  %y = custom (%ek = %e, %ok = %o) outs(%yk) grid [1, 4] : (tensor<1x64x64xf32>, tensor<1x64x64xf32>) -> tensor<1x64x32xf16> {
    %et = load %ek {grid = [0, 1]} : tensor<1x64x64xf32> -> !mirage_block.tile<1x16x64xf32>
    %ot = load %ok {grid = [0, 1]} : tensor<1x64x64xf32> -> !mirage_block.tile<1x16x64xf32>
    %l = reduce_sum %et {dim = 2} : !mirage_block.tile<1x16x64xf32>
    %os = reduce_sum %ot {dim = 2, extent = 32} : !mirage_block.tile<1x16x64xf32>
    %r = div %os, %l : !mirage_block.tile<1x16x32xf32>, !mirage_block.tile<1x16x1xf32>
    store %r, %yk {grid = [0, 1]} : !mirage_block.tile<1x16x32xf32>, tensor<1x64x32xf16>
  }
  return %y : tensor<1x64x32xf16>
}


mirage_kernel.graph @ragged(%q: tensor<1x33x17xf16>, %k: tensor<1x17x84xf16>, %v: tensor<1x84x17xf16>) -> tensor<1x33x17xf16> {
  %s = matmul %q, %k : tensor<1x33x17xf16>, tensor<1x17x84xf16>
  %e = exp %s : tensor<1x33x84xf16>
  %t = reduce_sum %e {dim = 2} : tensor<1x33x84xf16>
  %p = div %e, %t : tensor<1x33x84xf16>, tensor<1x33x1xf16>
  %y = matmul %p, %v : tensor<1x33x84xf16>, tensor<1x84x17xf16>
  return %y : tensor<1x33x17xf16>
}
mirage_kernel.graph @ragged_two_kernels(%q: tensor<1x33x17xf16>, %k: tensor<1x17x84xf16>, %v: tensor<1x84x17xf16>) -> tensor<1x33x17xf16>
    attributes {source = @ragged} {
  %e, %o = custom (%qk = %q, %kk = %k, %vk = %v) outs(%ek, %ok) grid [1, 2, 3]
      : (tensor<1x33x17xf16>, tensor<1x17x84xf16>, tensor<1x84x17xf16>) -> (tensor<1x33x28xf32>, tensor<1x33x34xf32>) {
    %none = constant 0.0 : !mirage_block.tile<1x11x14xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x11x17xf32>
    %es, %os = loop 3 (%a = %none sum, %b = %zero sum) : !mirage_block.tile<1x11x14xf32>, !mirage_block.tile<1x11x17xf32> {
      %qt = load %qk {grid = [0, -1, 1]} : tensor<1x33x17xf16> -> !mirage_block.tile<1x11x17xf16>
      %kt = load %kk {grid = [0, 2], loop = [2]} : tensor<1x17x84xf16> -> !mirage_block.tile<1x17x14xf16>
      %vt = load %vk {grid = [0, 1], loop = [1]} : tensor<1x84x17xf16> -> !mirage_block.tile<1x14x17xf16>
      %st = matmul %qt, %kt : !mirage_block.tile<1x11x17xf16>, !mirage_block.tile<1x17x14xf16>
      %et = exp %st : !mirage_block.tile<1x11x14xf32>
      %p = cast %et : !mirage_block.tile<1x11x14xf32> -> !mirage_block.tile<1x11x14xf16>
      %ot = matmul %p, %vt : !mirage_block.tile<1x11x14xf16>, !mirage_block.tile<1x14x17xf16>
      yield %et, %ot : !mirage_block.tile<1x11x14xf32>, !mirage_block.tile<1x11x17xf32>
    }
    store %es, %ek {grid = [0, 2, 1]} : !mirage_block.tile<1x11x14xf32>, tensor<1x33x28xf32>
    store %os, %ok {grid = [0, 2, 1]} : !mirage_block.tile<1x11x17xf32>, tensor<1x33x34xf32>
  }
  %y = custom (%ek = %e, %ok = %o) outs(%yk) grid [1, 3] : (tensor<1x33x28xf32>, tensor<1x33x34xf32>) -> tensor<1x33x17xf16> {
    %et = load %ek {grid = [0, 1], fill = one} : tensor<1x33x28xf32> -> !mirage_block.tile<1x11x28xf32>
    %ot = load %ok {grid = [0, 1]} : tensor<1x33x34xf32> -> !mirage_block.tile<1x11x34xf32>
    %l = reduce_sum %et {dim = 2} : !mirage_block.tile<1x11x28xf32>
    %os = reduce_sum %ot {dim = 2, extent = 17} : !mirage_block.tile<1x11x34xf32>
    %r = div %os, %l : !mirage_block.tile<1x11x17xf32>, !mirage_block.tile<1x11x1xf32>
    store %r, %yk {grid = [0, 1]} : !mirage_block.tile<1x11x17xf32>, tensor<1x33x17xf16>
  }
  return %y : tensor<1x33x17xf16>
}
