// Carries that begin with one constant, since their tiles look alike: [1, 1, 1] for the maximum, the sum and an element of what is
// divided by it. Where each block computes one element of the result, a proof by transfer gives it one block, whose tile has all
// columns of v - but its sum has none: each carry then begins with a constant of its own.
// RUN: mirage-mlir-opt %s --mirage-verify -o %t.mlir 2>/dev/null
// RUN: FileCheck %s < %t.mlir
// CHECK-LABEL: graph @right(
// CHECK-SAME: proof = #mirage_kernel.proof<{{.*}}shrunken = true
// The sum of what is divided, in place of the sum of weights.
// CHECK-LABEL: graph @wrong(
// CHECK-SAME: mirage_kernel.verdict = "different"

mirage_kernel.graph @p(%a: tensor<8x8x128xf16>, %b: tensor<8x128x4xf16>) -> tensor<8x8x4xf16> {
  %v5 = softmax %a {dim = 2} : tensor<8x8x128xf16>
  %v6 = matmul %v5, %b : tensor<8x8x128xf16>, tensor<8x128x4xf16>
  return %v6 : tensor<8x8x4xf16>
}
mirage_kernel.graph @right(%a: tensor<8x8x128xf16>, %b: tensor<8x128x4xf16>) -> tensor<8x8x4xf16> attributes {source = @p} {
    %1 = custom (%arg4 = %a, %arg5 = %b) outs(%arg6) grid [4, 8, 8] : (tensor<8x8x128xf16>, tensor<8x128x4xf16>) -> tensor<8x8x4xf16> {
      %2 = bottom : !mirage_block.tile<1x1x1xf32>
      %3 = constant 0.0 : !mirage_block.tile<1x1x1xf32>
      %4:3 = loop 2 (%arg7 = %2 max, %arg8 = %3 rescale, %arg9 = %3 rescale) : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32> {
        %6 = load %arg4 {grid = [-1, 1, 0], loop = [2]} : tensor<8x8x128xf16> -> !mirage_block.tile<1x1x64xf16>
        %7 = reduce_max %6 {dim = 2} : !mirage_block.tile<1x1x64xf16>
        %8 = max %arg7, %7 : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
        %9 = sub %arg7, %8 : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
        %10 = exp %9 : !mirage_block.tile<1x1x1xf32>
        %11 = sub %6, %8 : !mirage_block.tile<1x1x64xf16>, !mirage_block.tile<1x1x1xf32>
        %12 = exp %11 : !mirage_block.tile<1x1x64xf32>
        %13 = load %arg5 {grid = [2, -1, 0], loop = [1]} : tensor<8x128x4xf16> -> !mirage_block.tile<1x64x1xf16>
        %14 = cast %12 : !mirage_block.tile<1x1x64xf32> -> !mirage_block.tile<1x1x64xf16>
        %15 = matmul %14, %13 : !mirage_block.tile<1x1x64xf16>, !mirage_block.tile<1x64x1xf16>
        %16 = reduce_sum %12 {dim = 2} : !mirage_block.tile<1x1x64xf32>
        yield %7, %15, %16 rescale %10, %10 : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      }
      %5 = div %4#1, %4#2 : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      store %5, %arg6 {grid = [2, 1, 0]} : !mirage_block.tile<1x1x1xf32>, tensor<8x8x4xf16>
    }
    return %1 : tensor<8x8x4xf16>
}
mirage_kernel.graph @wrong(%a: tensor<8x8x128xf16>, %b: tensor<8x128x4xf16>) -> tensor<8x8x4xf16> attributes {source = @p} {
    %1 = custom (%arg4 = %a, %arg5 = %b) outs(%arg6) grid [4, 8, 8] : (tensor<8x8x128xf16>, tensor<8x128x4xf16>) -> tensor<8x8x4xf16> {
      %2 = bottom : !mirage_block.tile<1x1x1xf32>
      %3 = constant 0.0 : !mirage_block.tile<1x1x1xf32>
      %4:3 = loop 2 (%arg7 = %2 max, %arg8 = %3 rescale, %arg9 = %3 rescale) : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32> {
        %6 = load %arg4 {grid = [-1, 1, 0], loop = [2]} : tensor<8x8x128xf16> -> !mirage_block.tile<1x1x64xf16>
        %7 = reduce_max %6 {dim = 2} : !mirage_block.tile<1x1x64xf16>
        %8 = max %arg7, %7 : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
        %9 = sub %arg7, %8 : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
        %10 = exp %9 : !mirage_block.tile<1x1x1xf32>
        %11 = sub %6, %8 : !mirage_block.tile<1x1x64xf16>, !mirage_block.tile<1x1x1xf32>
        %12 = exp %11 : !mirage_block.tile<1x1x64xf32>
        %13 = load %arg5 {grid = [2, -1, 0], loop = [1]} : tensor<8x128x4xf16> -> !mirage_block.tile<1x64x1xf16>
        %14 = cast %12 : !mirage_block.tile<1x1x64xf32> -> !mirage_block.tile<1x1x64xf16>
        %15 = matmul %14, %13 : !mirage_block.tile<1x1x64xf16>, !mirage_block.tile<1x64x1xf16>
        %16 = reduce_sum %12 {dim = 2} : !mirage_block.tile<1x1x64xf32>
        yield %7, %15, %15 rescale %10, %10 : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      }
      %5 = div %4#1, %4#2 : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      store %5, %arg6 {grid = [2, 1, 0]} : !mirage_block.tile<1x1x1xf32>, tensor<8x8x4xf16>
    }
    return %1 : tensor<8x8x4xf16>
}
