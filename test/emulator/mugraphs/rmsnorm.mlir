// RMSNorm and a linear layer in one kernel: squares are summed beside the product, the division comes after the loop.
// RUN: mirage-module-test --warps 1 --warps 8 %s
// RUN: mirage-mlir-opt %s --mirage-verify -o /dev/null 2>&1 | FileCheck %s
// CHECK-COUNT-3: 0 different, 0 unsupported

mirage_kernel.graph @even(%x: tensor<2x256xf16>, %w: tensor<256x192xf16>) -> tensor<2x192xf16> {
  %n = rms_norm %x {eps = 0.0} : tensor<2x256xf16>
  %y = matmul %n, %w : tensor<2x256xf16>, tensor<256x192xf16>
  return %y : tensor<2x192xf16>
}
mirage_kernel.graph @even_0(%x: tensor<2x256xf16>, %w: tensor<256x192xf16>) -> tensor<2x192xf16>
    attributes {source = @even} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [8] : (tensor<2x256xf16>, tensor<256x192xf16>) -> tensor<2x192xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x24xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %acc, %squares = loop 4 (%a = %zero sum, %s = %none sum) : !mirage_block.tile<2x24xf32>, !mirage_block.tile<2x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<2x256xf16> -> !mirage_block.tile<2x64xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<256x192xf16> -> !mirage_block.tile<64x24xf16>
      %sq = square %xt : !mirage_block.tile<2x64xf16>
      %ss = reduce_sum %sq {dim = 1} : !mirage_block.tile<2x64xf32>
      %p = matmul %xt, %wt : !mirage_block.tile<2x64xf16>, !mirage_block.tile<64x24xf16>
      yield %p, %ss : !mirage_block.tile<2x24xf32>, !mirage_block.tile<2x1xf32>
    }
    %count = constant 256.0 : !mirage_block.tile<1x1xf32>
    %mean = div %squares, %count : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %rms = sqrt %mean : !mirage_block.tile<2x1xf32>
    %r = div %acc, %rms : !mirage_block.tile<2x24xf32>, !mirage_block.tile<2x1xf32>
    store %r, %yk {grid = [1]} : !mirage_block.tile<2x24xf32>, tensor<2x192xf16>
  }
  return %y : tensor<2x192xf16>
}


mirage_kernel.graph @ragged(%x: tensor<17x100xbf16>, %w: tensor<100x97xbf16>) -> tensor<17x97xbf16> {
  %n = rms_norm %x {eps = 0.0} : tensor<17x100xbf16>
  %y = matmul %n, %w : tensor<17x100xbf16>, tensor<100x97xbf16>
  return %y : tensor<17x97xbf16>
}
mirage_kernel.graph @ragged_0(%x: tensor<17x100xbf16>, %w: tensor<100x97xbf16>) -> tensor<17x97xbf16>
    attributes {source = @ragged} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [5] : (tensor<17x100xbf16>, tensor<100x97xbf16>) -> tensor<17x97xbf16> {
    %zero = constant 0.0 : !mirage_block.tile<17x20xf32>
    %none = constant 0.0 : !mirage_block.tile<17x1xf32>
    %acc, %squares = loop 3 (%a = %zero sum, %s = %none sum) : !mirage_block.tile<17x20xf32>, !mirage_block.tile<17x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<17x100xbf16> -> !mirage_block.tile<17x34xbf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<100x97xbf16> -> !mirage_block.tile<34x20xbf16>
      %sq = square %xt : !mirage_block.tile<17x34xbf16>
      %ss = reduce_sum %sq {dim = 1} : !mirage_block.tile<17x34xf32>
      %p = matmul %xt, %wt : !mirage_block.tile<17x34xbf16>, !mirage_block.tile<34x20xbf16>
      yield %p, %ss : !mirage_block.tile<17x20xf32>, !mirage_block.tile<17x1xf32>
    }
    %count = constant 100.0 : !mirage_block.tile<1x1xf32>
    %mean = div %squares, %count : !mirage_block.tile<17x1xf32>, !mirage_block.tile<1x1xf32>
    %rms = sqrt %mean : !mirage_block.tile<17x1xf32>
    %r = div %acc, %rms : !mirage_block.tile<17x20xf32>, !mirage_block.tile<17x1xf32>
    store %r, %yk {grid = [1]} : !mirage_block.tile<17x20xf32>, tensor<17x97xbf16>
  }
  return %y : tensor<17x97xbf16>
}


mirage_kernel.graph @single(%x: tensor<1x97xf32>, %w: tensor<97x33xf32>) -> tensor<1x33xf32> {
  %n = rms_norm %x {eps = 0.0} : tensor<1x97xf32>
  %y = matmul %n, %w : tensor<1x97xf32>, tensor<97x33xf32>
  return %y : tensor<1x33xf32>
}
mirage_kernel.graph @single_0(%x: tensor<1x97xf32>, %w: tensor<97x33xf32>) -> tensor<1x33xf32>
    attributes {source = @single} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2] : (tensor<1x97xf32>, tensor<97x33xf32>) -> tensor<1x33xf32> {
    %zero = constant 0.0 : !mirage_block.tile<1x17xf32>
    %none = constant 0.0 : !mirage_block.tile<1x1xf32>
    %acc, %squares = loop 2 (%a = %zero sum, %s = %none sum) : !mirage_block.tile<1x17xf32>, !mirage_block.tile<1x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<1x97xf32> -> !mirage_block.tile<1x49xf32>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<97x33xf32> -> !mirage_block.tile<49x17xf32>
      %sq = square %xt : !mirage_block.tile<1x49xf32>
      %ss = reduce_sum %sq {dim = 1} : !mirage_block.tile<1x49xf32>
      %p = matmul %xt, %wt : !mirage_block.tile<1x49xf32>, !mirage_block.tile<49x17xf32>
      yield %p, %ss : !mirage_block.tile<1x17xf32>, !mirage_block.tile<1x1xf32>
    }
    %count = constant 97.0 : !mirage_block.tile<1x1xf32>
    %mean = div %squares, %count : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    %rms = sqrt %mean : !mirage_block.tile<1x1xf32>
    %r = div %acc, %rms : !mirage_block.tile<1x17xf32>, !mirage_block.tile<1x1xf32>
    store %r, %yk {grid = [1]} : !mirage_block.tile<1x17xf32>, tensor<1x33xf32>
  }
  return %y : tensor<1x33xf32>
}
