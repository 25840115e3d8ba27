// Grouped-query attention in two kernels: blocks share the keys of a head, each leaves its sums, a second kernel adds them.
// RUN: mirage-module-test --warps 1 --warps 8 %s
// RUN: mirage-mlir-opt %s --mirage-verify -o /dev/null 2>&1 | FileCheck %s
// CHECK-COUNT-2: 0 different, 0 unsupported

mirage_kernel.graph @even(%q: tensor<2x32x32xf16>, %k: tensor<2x32x256xf16>, %v: tensor<2x256x32xf16>) -> tensor<2x32x32xf16> {
  %s = matmul %q, %k : tensor<2x32x32xf16>, tensor<2x32x256xf16>
  %e = exp %s : tensor<2x32x256xf16>
  %t = reduce_sum %e {dim = 2} : tensor<2x32x256xf16>
  %p = div %e, %t : tensor<2x32x256xf16>, tensor<2x32x1xf16>
  %y = matmul %p, %v : tensor<2x32x256xf16>, tensor<2x256x32xf16>
  return %y : tensor<2x32x32xf16>
}
mirage_kernel.graph @even_two_kernels(%q: tensor<2x32x32xf16>, %k: tensor<2x32x256xf16>, %v: tensor<2x256x32xf16>) -> tensor<2x32x32xf16>
    attributes {source = @even} {
  %e, %o = custom (%qk = %q, %kk = %k, %vk = %v) outs(%ek, %ok) grid [2, 2, 2]
      : (tensor<2x32x32xf16>, tensor<2x32x256xf16>, tensor<2x256x32xf16>) -> (tensor<2x32x64xf32>, tensor<2x32x64xf32>) {
    %none = constant 0.0 : !mirage_block.tile<1x16x32xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x16x32xf32>
    %es, %os = loop 4 (%a = %none sum, %b = %zero sum) : !mirage_block.tile<1x16x32xf32>, !mirage_block.tile<1x16x32xf32> {
      %qt = load %qk {grid = [0, -1, 1]} : tensor<2x32x32xf16> -> !mirage_block.tile<1x16x32xf16>
      %kt = load %kk {grid = [0, 2], loop = [2]} : tensor<2x32x256xf16> -> !mirage_block.tile<1x32x32xf16>
      %vt = load %vk {grid = [0, 1], loop = [1]} : tensor<2x256x32xf16> -> !mirage_block.tile<1x32x32xf16>
      %st = matmul %qt, %kt : !mirage_block.tile<1x16x32xf16>, !mirage_block.tile<1x32x32xf16>
      %et = exp %st : !mirage_block.tile<1x16x32xf32>
      %p = cast %et : !mirage_block.tile<1x16x32xf32> -> !mirage_block.tile<1x16x32xf16>
      %ot = matmul %p, %vt : !mirage_block.tile<1x16x32xf16>, !mirage_block.tile<1x32x32xf16>
      yield %et, %ot : !mirage_block.tile<1x16x32xf32>, !mirage_block.tile<1x16x32xf32>
    }
    store %es, %ek {grid = [0, 2, 1]} : !mirage_block.tile<1x16x32xf32>, tensor<2x32x64xf32>
    store %os, %ok {grid = [0, 2, 1]} : !mirage_block.tile<1x16x32xf32>, tensor<2x32x64xf32>
  }
  %y = custom (%ek = %e, %ok = %o) outs(%yk) grid [2, 2] : (tensor<2x32x64xf32>, tensor<2x32x64xf32>) -> tensor<2x32x32xf16> {
    %et = load %ek {grid = [0, 1]} : tensor<2x32x64xf32> -> !mirage_block.tile<1x16x64xf32>
    %ot = load %ok {grid = [0, 1]} : tensor<2x32x64xf32> -> !mirage_block.tile<1x16x64xf32>
    %l = reduce_sum %et {dim = 2} : !mirage_block.tile<1x16x64xf32>
    %os = reduce_sum %ot {dim = 2, extent = 32} : !mirage_block.tile<1x16x64xf32>
    %r = div %os, %l : !mirage_block.tile<1x16x32xf32>, !mirage_block.tile<1x16x1xf32>
    store %r, %yk {grid = [0, 1]} : !mirage_block.tile<1x16x32xf32>, tensor<2x32x32xf16>
  }
  return %y : tensor<2x32x32xf16>
}


mirage_kernel.graph @ragged(%q: tensor<2x17x24xbf16>, %k: tensor<2x24x120xbf16>, %v: tensor<2x120x24xbf16>) -> tensor<2x17x24xbf16> {
  %s = matmul %q, %k : tensor<2x17x24xbf16>, tensor<2x24x120xbf16>
  %e = exp %s : tensor<2x17x120xbf16>
  %t = reduce_sum %e {dim = 2} : tensor<2x17x120xbf16>
  %p = div %e, %t : tensor<2x17x120xbf16>, tensor<2x17x1xbf16>
  %y = matmul %p, %v : tensor<2x17x120xbf16>, tensor<2x120x24xbf16>
  return %y : tensor<2x17x24xbf16>
}
mirage_kernel.graph @ragged_two_kernels(%q: tensor<2x17x24xbf16>, %k: tensor<2x24x120xbf16>, %v: tensor<2x120x24xbf16>) -> tensor<2x17x24xbf16>
    attributes {source = @ragged} {
  %e, %o = custom (%qk = %q, %kk = %k, %vk = %v) outs(%ek, %ok) grid [2, 3, 2]
      : (tensor<2x17x24xbf16>, tensor<2x24x120xbf16>, tensor<2x120x24xbf16>) -> (tensor<2x17x30xf32>, tensor<2x17x72xf32>) {
    %none = constant 0.0 : !mirage_block.tile<1x9x10xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x9x24xf32>
    %es, %os = loop 4 (%a = %none sum, %b = %zero sum) : !mirage_block.tile<1x9x10xf32>, !mirage_block.tile<1x9x24xf32> {
      %qt = load %qk {grid = [0, -1, 1]} : tensor<2x17x24xbf16> -> !mirage_block.tile<1x9x24xbf16>
      %kt = load %kk {grid = [0, 2], loop = [2]} : tensor<2x24x120xbf16> -> !mirage_block.tile<1x24x10xbf16>
      %vt = load %vk {grid = [0, 1], loop = [1]} : tensor<2x120x24xbf16> -> !mirage_block.tile<1x10x24xbf16>
      %st = matmul %qt, %kt : !mirage_block.tile<1x9x24xbf16>, !mirage_block.tile<1x24x10xbf16>
      %et = exp %st : !mirage_block.tile<1x9x10xf32>
      %p = cast %et : !mirage_block.tile<1x9x10xf32> -> !mirage_block.tile<1x9x10xbf16>
      %ot = matmul %p, %vt : !mirage_block.tile<1x9x10xbf16>, !mirage_block.tile<1x10x24xbf16>
      yield %et, %ot : !mirage_block.tile<1x9x10xf32>, !mirage_block.tile<1x9x24xf32>
    }
    store %es, %ek {grid = [0, 2, 1]} : !mirage_block.tile<1x9x10xf32>, tensor<2x17x30xf32>
    store %os, %ok {grid = [0, 2, 1]} : !mirage_block.tile<1x9x24xf32>, tensor<2x17x72xf32>
  }
  %y = custom (%ek = %e, %ok = %o) outs(%yk) grid [2, 2] : (tensor<2x17x30xf32>, tensor<2x17x72xf32>) -> tensor<2x17x24xbf16> {
    %et = load %ek {grid = [0, 1], fill = one} : tensor<2x17x30xf32> -> !mirage_block.tile<1x9x30xf32>
    %ot = load %ok {grid = [0, 1]} : tensor<2x17x72xf32> -> !mirage_block.tile<1x9x72xf32>
    %l = reduce_sum %et {dim = 2} : !mirage_block.tile<1x9x30xf32>
    %os = reduce_sum %ot {dim = 2, extent = 24} : !mirage_block.tile<1x9x72xf32>
    %r = div %os, %l : !mirage_block.tile<1x9x24xf32>, !mirage_block.tile<1x9x1xf32>
    store %r, %yk {grid = [0, 1]} : !mirage_block.tile<1x9x24xf32>, tensor<2x17x24xbf16>
  }
  return %y : tensor<2x17x24xbf16>
}
