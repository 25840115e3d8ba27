// Multi-head attention in four kernels, two of them kernel-level operators: a product, exponentials with their sums and
// product, the sum of the parts, a division.
// RUN: mirage-module-test --warps 1 --warps 8 %s
// RUN: mirage-mlir-opt %s --mirage-verify -o /dev/null 2>&1 | FileCheck %s
// CHECK-COUNT-2: 0 different, 0 unsupported

mirage_kernel.graph @even(%q: tensor<4x16x32xf16>, %k: tensor<4x32x128xf16>, %v: tensor<4x128x32xf16>) -> tensor<4x16x32xf16> {
  %s = matmul %q, %k : tensor<4x16x32xf16>, tensor<4x32x128xf16>
  %e = exp %s : tensor<4x16x128xf16>
  %t = reduce_sum %e {dim = 2} : tensor<4x16x128xf16>
  %p = div %e, %t : tensor<4x16x128xf16>, tensor<4x16x1xf16>
  %y = matmul %p, %v : tensor<4x16x128xf16>, tensor<4x128x32xf16>
  return %y : tensor<4x16x32xf16>
}
mirage_kernel.graph @even_four_kernels(%q: tensor<4x16x32xf16>, %k: tensor<4x32x128xf16>, %v: tensor<4x128x32xf16>) -> tensor<4x16x32xf16>
    attributes {source = @even} {
  %s = matmul %q, %k : tensor<4x16x32xf16>, tensor<4x32x128xf16>
  %l, %o = custom (%sk = %s, %vk = %v) outs(%lk, %ok) grid [4, 2]
      : (tensor<4x16x128xf16>, tensor<4x128x32xf16>) -> (tensor<4x16x2xf32>, tensor<4x16x64xf16>) {
    %none = constant 0.0 : !mirage_block.tile<1x16x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x16x32xf32>
    %ls, %os = loop 2 (%a = %none sum, %b = %zero sum) : !mirage_block.tile<1x16x1xf32>, !mirage_block.tile<1x16x32xf32> {
      %vt = load %vk {grid = [0, 1], loop = [1]} : tensor<4x128x32xf16> -> !mirage_block.tile<1x32x32xf16>
      %st = load %sk {grid = [0, 2], loop = [2]} : tensor<4x16x128xf16> -> !mirage_block.tile<1x16x32xf16>
      %et = exp %st : !mirage_block.tile<1x16x32xf16>
      %p = cast %et : !mirage_block.tile<1x16x32xf32> -> !mirage_block.tile<1x16x32xf16>
      %ot = matmul %p, %vt : !mirage_block.tile<1x16x32xf16>, !mirage_block.tile<1x32x32xf16>
      %lt = reduce_sum %et {dim = 2} : !mirage_block.tile<1x16x32xf32>
      yield %lt, %ot : !mirage_block.tile<1x16x1xf32>, !mirage_block.tile<1x16x32xf32>
    }
    store %ls, %lk {grid = [0, 2]} : !mirage_block.tile<1x16x1xf32>, tensor<4x16x2xf32>
    store %os, %ok {grid = [0, 2]} : !mirage_block.tile<1x16x32xf32>, tensor<4x16x64xf16>
  }
  %m, %n = custom (%lk = %l, %ok = %o) outs(%mk, %nk) grid [4]
      : (tensor<4x16x2xf32>, tensor<4x16x64xf16>) -> (tensor<4x16x1xf16>, tensor<4x16x32xf16>) {
    %lt = load %lk {grid = [0]} : tensor<4x16x2xf32> -> !mirage_block.tile<1x16x2xf32>
    %ot = load %ok {grid = [0]} : tensor<4x16x64xf16> -> !mirage_block.tile<1x16x64xf16>
    %ls = reduce_sum %lt {dim = 2} : !mirage_block.tile<1x16x2xf32>
    %os = reduce_sum %ot {dim = 2, extent = 32} : !mirage_block.tile<1x16x64xf16>
    store %ls, %mk {grid = [0]} : !mirage_block.tile<1x16x1xf32>, tensor<4x16x1xf16>
    store %os, %nk {grid = [0]} : !mirage_block.tile<1x16x32xf32>, tensor<4x16x32xf16>
  }
  %y = div %n, %m : tensor<4x16x32xf16>, tensor<4x16x1xf16>
  return %y : tensor<4x16x32xf16>
}


mirage_kernel.graph @ragged(%q: tensor<3x5x17xf16>, %k: tensor<3x17x66xf16>, %v: tensor<3x66x17xf16>) -> tensor<3x5x17xf16> {
  %s = matmul %q, %k : tensor<3x5x17xf16>, tensor<3x17x66xf16>
  %e = exp %s : tensor<3x5x66xf16>
  %t = reduce_sum %e {dim = 2} : tensor<3x5x66xf16>
  %p = div %e, %t : tensor<3x5x66xf16>, tensor<3x5x1xf16>
  %y = matmul %p, %v : tensor<3x5x66xf16>, tensor<3x66x17xf16>
  return %y : tensor<3x5x17xf16>
}
mirage_kernel.graph @ragged_four_kernels(%q: tensor<3x5x17xf16>, %k: tensor<3x17x66xf16>, %v: tensor<3x66x17xf16>) -> tensor<3x5x17xf16>
    attributes {source = @ragged} {
  %s = matmul %q, %k : tensor<3x5x17xf16>, tensor<3x17x66xf16>
  %l, %o = custom (%sk = %s, %vk = %v) outs(%lk, %ok) grid [3, 2]
      : (tensor<3x5x66xf16>, tensor<3x66x17xf16>) -> (tensor<3x5x2xf32>, tensor<3x5x34xf16>) {
    %none = constant 0.0 : !mirage_block.tile<1x5x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x5x17xf32>
    %ls, %os = loop 3 (%a = %none sum, %b = %zero sum) : !mirage_block.tile<1x5x1xf32>, !mirage_block.tile<1x5x17xf32> {
      %vt = load %vk {grid = [0, 1], loop = [1]} : tensor<3x66x17xf16> -> !mirage_block.tile<1x11x17xf16>
      %st = load %sk {grid = [0, 2], loop = [2]} : tensor<3x5x66xf16> -> !mirage_block.tile<1x5x11xf16>
      %et = exp %st : !mirage_block.tile<1x5x11xf16>
      %p = cast %et : !mirage_block.tile<1x5x11xf32> -> !mirage_block.tile<1x5x11xf16>
      %ot = matmul %p, %vt : !mirage_block.tile<1x5x11xf16>, !mirage_block.tile<1x11x17xf16>
      %lt = reduce_sum %et {dim = 2} : !mirage_block.tile<1x5x11xf32>
      yield %lt, %ot : !mirage_block.tile<1x5x1xf32>, !mirage_block.tile<1x5x17xf32>
    }
    store %ls, %lk {grid = [0, 2]} : !mirage_block.tile<1x5x1xf32>, tensor<3x5x2xf32>
    store %os, %ok {grid = [0, 2]} : !mirage_block.tile<1x5x17xf32>, tensor<3x5x34xf16>
  }
  %m, %n = custom (%lk = %l, %ok = %o) outs(%mk, %nk) grid [3]
      : (tensor<3x5x2xf32>, tensor<3x5x34xf16>) -> (tensor<3x5x1xf16>, tensor<3x5x17xf16>) {
    %lt = load %lk {grid = [0]} : tensor<3x5x2xf32> -> !mirage_block.tile<1x5x2xf32>
    %ot = load %ok {grid = [0]} : tensor<3x5x34xf16> -> !mirage_block.tile<1x5x34xf16>
    %ls = reduce_sum %lt {dim = 2} : !mirage_block.tile<1x5x2xf32>
    %os = reduce_sum %ot {dim = 2, extent = 17} : !mirage_block.tile<1x5x34xf16>
    store %ls, %mk {grid = [0]} : !mirage_block.tile<1x5x1xf32>, tensor<3x5x1xf16>
    store %os, %nk {grid = [0]} : !mirage_block.tile<1x5x17xf32>, tensor<3x5x17xf16>
  }
  %y = div %n, %m : tensor<3x5x17xf16>, tensor<3x5x1xf16>
  return %y : tensor<3x5x17xf16>
}
