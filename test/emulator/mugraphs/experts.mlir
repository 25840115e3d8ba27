// Norms and products with a batch, one expert a block of the grid: rms(x) @ w, the weights straight from device memory.
// RUN: mirage-module-test --warps 16 %s
// RUN: mirage-mlir-opt %s --mirage-verify -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-layout 2>/dev/null | FileCheck %s --check-prefix=LAYOUT
// CHECK-COUNT-2: 0 different, 0 unsupported
// LAYOUT-COUNT-2: schedule <warps = 16, loads = [register(stages = 1), register(stages = 1, cache = no_allocate)]>

mirage_kernel.graph @even(%x: tensor<3x8x1024xf16>, %w: tensor<3x1024x64xf16>) -> tensor<3x8x64xf16> {
  %n = rms_norm %x {eps = 0.0} : tensor<3x8x1024xf16>
  %y = matmul %n, %w : tensor<3x8x1024xf16>, tensor<3x1024x64xf16>
  return %y : tensor<3x8x64xf16>
}
mirage_kernel.graph @even_fused(%x: tensor<3x8x1024xf16>, %w: tensor<3x1024x64xf16>) -> tensor<3x8x64xf16> attributes {source = @even} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2, 3] : (tensor<3x8x1024xf16>, tensor<3x1024x64xf16>) -> tensor<3x8x64xf16> {
    %zero = constant 0.0 : !mirage_block.tile<1x8x32xf32>
    %none = constant 0.0 : !mirage_block.tile<1x8x1xf32>
    %acc, %sq = loop 2 (%a = %zero sum, %b = %none sum) : !mirage_block.tile<1x8x32xf32>, !mirage_block.tile<1x8x1xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [2]} : tensor<3x8x1024xf16> -> !mirage_block.tile<1x8x512xf16>
      %wt = load %wk {grid = [2, 0], loop = [1]} : tensor<3x1024x64xf16> -> !mirage_block.tile<1x512x32xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<1x8x512xf16>, !mirage_block.tile<1x512x32xf16>
      %s = square %xt : !mirage_block.tile<1x8x512xf16>
      %r = reduce_sum %s {dim = 2} : !mirage_block.tile<1x8x512xf32>
      yield %p, %r : !mirage_block.tile<1x8x32xf32>, !mirage_block.tile<1x8x1xf32>
    }
    %n = constant 1024.0 : !mirage_block.tile<f32>
    %mean = div %sq, %n : !mirage_block.tile<1x8x1xf32>, !mirage_block.tile<f32>
    %root = sqrt %mean : !mirage_block.tile<1x8x1xf32>
    %out = div %acc, %root : !mirage_block.tile<1x8x32xf32>, !mirage_block.tile<1x8x1xf32>
    store %out, %yk {grid = [2, 0]} : !mirage_block.tile<1x8x32xf32>, tensor<3x8x64xf16>
  }
  return %y : tensor<3x8x64xf16>
}

mirage_kernel.graph @odd(%x: tensor<2x5x1023xf16>, %w: tensor<2x1023x70xf16>) -> tensor<2x5x70xf16> {
  %n = rms_norm %x {eps = 0.0} : tensor<2x5x1023xf16>
  %y = matmul %n, %w : tensor<2x5x1023xf16>, tensor<2x1023x70xf16>
  return %y : tensor<2x5x70xf16>
}
mirage_kernel.graph @odd_fused(%x: tensor<2x5x1023xf16>, %w: tensor<2x1023x70xf16>) -> tensor<2x5x70xf16> attributes {source = @odd} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [3, 2] : (tensor<2x5x1023xf16>, tensor<2x1023x70xf16>) -> tensor<2x5x70xf16> {
    %zero = constant 0.0 : !mirage_block.tile<1x5x24xf32>
    %none = constant 0.0 : !mirage_block.tile<1x5x1xf32>
    %acc, %sq = loop 2 (%a = %zero sum, %b = %none sum) : !mirage_block.tile<1x5x24xf32>, !mirage_block.tile<1x5x1xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [2]} : tensor<2x5x1023xf16> -> !mirage_block.tile<1x5x512xf16>
      %wt = load %wk {grid = [2, 0], loop = [1]} : tensor<2x1023x70xf16> -> !mirage_block.tile<1x512x24xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<1x5x512xf16>, !mirage_block.tile<1x512x24xf16>
      %s = square %xt : !mirage_block.tile<1x5x512xf16>
      %r = reduce_sum %s {dim = 2} : !mirage_block.tile<1x5x512xf32>
      yield %p, %r : !mirage_block.tile<1x5x24xf32>, !mirage_block.tile<1x5x1xf32>
    }
    %n = constant 1023.0 : !mirage_block.tile<f32>
    %mean = div %sq, %n : !mirage_block.tile<1x5x1xf32>, !mirage_block.tile<f32>
    %root = sqrt %mean : !mirage_block.tile<1x5x1xf32>
    %out = div %acc, %root : !mirage_block.tile<1x5x24xf32>, !mirage_block.tile<1x5x1xf32>
    store %out, %yk {grid = [2, 0]} : !mirage_block.tile<1x5x24xf32>, tensor<2x5x70xf16>
  }
  return %y : tensor<2x5x70xf16>
}
