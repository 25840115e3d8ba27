// A mask of bytes is copied by a tensor map beside keys and values. What is printed of it is read again.
//
// RUN: mirage-mlir-opt %s --mirage-verify --mirage-layout='target=h100 tensor-maps=true' --mirage-select='target=h100 tensor-maps=true' --mirage-lower='target=h100 tensor-maps=true' -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: mirage-mlir-opt %t.mlir | diff - %t.mlir
// CHECK-LABEL: graph @masked
// CHECK: launch <{{.*}}type = i1, extents = [512{{.*}}box = [64
//
// RUN: mirage-run %s -g masked_0 --target=emulator --compile=h100 | FileCheck %s --check-prefix=RUNS
// RUNS: output 0 {{.*}}512 of 512 elements compared{{.*}}: ok
mirage_kernel.graph @masked(%arg0: tensor<1x4x1x128xbf16>, %arg1: tensor<1x1x512x128xbf16>, %arg2: tensor<1x1x512x128xbf16>, %arg3: tensor<1x1x1x512xi1>) -> tensor<1x1x512xbf16> {
  %0 = reshape %arg0 : tensor<1x4x1x128xbf16> -> tensor<1x1x4x1x128xbf16>
  %1 = reshape %arg1 : tensor<1x1x512x128xbf16> -> tensor<1x1x1x512x128xbf16>
  %2 = reshape %arg2 : tensor<1x1x512x128xbf16> -> tensor<1x1x1x512x128xbf16>
  %3 = reshape %arg3 : tensor<1x1x1x512xi1> -> tensor<1x1x1x1x512xi1>
  %4 = scaled_dot_product_attention %0, %1, %2, %3 {scale = 0.08838834764831843} : tensor<1x1x4x1x128xbf16>, tensor<1x1x1x512x128xbf16>, tensor<1x1x1x512x128xbf16>, tensor<1x1x1x1x512xi1>
  %5 = reshape %4 : tensor<1x1x4x1x128xbf16> -> tensor<1x4x1x128xbf16>
  %6 = transpose %5 {perm = [0, 2, 1, 3]} : tensor<1x4x1x128xbf16>
  %7 = reshape %6 : tensor<1x1x4x128xbf16> -> tensor<1x1x512xbf16>
  return %7 : tensor<1x1x512xbf16>
}

mirage_kernel.graph @masked_0(%arg0: tensor<1x4x1x128xbf16>, %arg1: tensor<1x1x512x128xbf16>, %arg2: tensor<1x1x512x128xbf16>, %arg3: tensor<1x1x1x512xi1>) -> tensor<1x1x512xbf16> attributes {source = @masked} {
  %0 = reshape %arg0 : tensor<1x4x1x128xbf16> -> tensor<1x1x1x4x128xbf16>
  %1 = reshape %arg1 : tensor<1x1x512x128xbf16> -> tensor<1x1x1x512x128xbf16>
  %2 = reshape %arg2 : tensor<1x1x512x128xbf16> -> tensor<1x1x1x512x128xbf16>
  %3 = reshape %arg3 : tensor<1x1x1x512xi1> -> tensor<1x1x1x1x512xi1>
  %4 = custom (%arg4 = %3) outs(%arg5) grid [1] schedule <warps = 4, loads = [register(stages = 1)]> : (tensor<1x1x1x1x512xi1>) -> tensor<1x1x1x1x1xbf16> {
    %7 = load %arg4 : tensor<1x1x1x1x512xi1> -> !mirage_block.tile<1x1x1x1x512xi1>
    %8 = cast %7 : !mirage_block.tile<1x1x1x1x512xi1> -> !mirage_block.tile<1x1x1x1x512xf32>
    %9 = reduce_max %8 {dim = 4} : !mirage_block.tile<1x1x1x1x512xf32> -> !mirage_block.tile<1x1x1x1x1xf32>
    %10 = constant 0.0 : !mirage_block.tile<1x1x1x1x1xf32>
    %11 = less %10, %9 : !mirage_block.tile<1x1x1x1x1xf32>, !mirage_block.tile<1x1x1x1x1xf32> -> !mirage_block.tile<1x1x1x1x1xi1>
    %12 = not %11 : !mirage_block.tile<1x1x1x1x1xi1> -> !mirage_block.tile<1x1x1x1x1xi1>
    %13 = cast %12 : !mirage_block.tile<1x1x1x1x1xi1> -> !mirage_block.tile<1x1x1x1x1xbf16>
    store %13, %arg5 : !mirage_block.tile<1x1x1x1x1xbf16>, tensor<1x1x1x1x1xbf16>
  }
  %5 = custom (%arg4 = %0, %arg5 = %1, %arg6 = %2, %arg7 = %3, %arg8 = %4) outs(%arg9) grid [1, 4] schedule <warps = 8, roles = [producer(4, 40), consumer(4, 240)], loads = [async(stages = 1), tensor(stages = 2), tensor(stages = 2), tensor(stages = 2), async(stages = 1)]> : (tensor<1x1x1x4x128xbf16>, tensor<1x1x1x512x128xbf16>, tensor<1x1x1x512x128xbf16>, tensor<1x1x1x1x512xi1>, tensor<1x1x1x1x1xbf16>) -> tensor<1x1x1x4x128xbf16> {
    %7 = load %arg4 {grid = [1], order = [0, 2, 3, 1, 4]} : tensor<1x1x1x4x128xbf16> -> !mirage_block.tile<1x1x4x1x128xbf16>
    %8 = bottom : !mirage_block.tile<1x1x4x1x1xf32>
    %9 = constant 0.0 : !mirage_block.tile<1x1x4x1x128xf32>
    %10 = constant 0.0 : !mirage_block.tile<1x1x4x1x1xf32>
    %11:3 = loop 2 (%arg10 = %8 max, %arg11 = %9 rescale, %arg12 = %10 rescale) : !mirage_block.tile<1x1x4x1x1xf32>, !mirage_block.tile<1x1x4x1x128xf32>, !mirage_block.tile<1x1x4x1x1xf32> {
      %22 = load %arg7 {grid = [-1, 4], loop = [4]} : tensor<1x1x1x1x512xi1> -> !mirage_block.tile<1x1x1x1x64xi1>
      %23 = constant 0.0 : !mirage_block.tile<1x1x1x1x64xf32>
      %24 = mask %22, %23 : !mirage_block.tile<1x1x1x1x64xi1>, !mirage_block.tile<1x1x1x1x64xf32> -> !mirage_block.tile<1x1x1x1x64xf32>
      %25 = load %arg5 {grid = [1, 3], loop = [3], order = [0, 2, 1, 3, 4]} : tensor<1x1x1x512x128xbf16> -> !mirage_block.tile<1x1x1x64x128xbf16>
      %26 = matmul %7, %25 {transpose_b} : !mirage_block.tile<1x1x4x1x128xbf16>, !mirage_block.tile<1x1x1x64x128xbf16> -> !mirage_block.tile<1x1x4x1x64xf32>
      %27 = constant 0.08838834764831843 : !mirage_block.tile<1x1x1x1x1xf32>
      %28 = mul %27, %26 : !mirage_block.tile<1x1x1x1x1xf32>, !mirage_block.tile<1x1x4x1x64xf32> -> !mirage_block.tile<1x1x4x1x64xf32>
      %29 = add %24, %28 : !mirage_block.tile<1x1x1x1x64xf32>, !mirage_block.tile<1x1x4x1x64xf32> -> !mirage_block.tile<1x1x4x1x64xf32>
      %30 = reduce_max %29 {dim = 4} : !mirage_block.tile<1x1x4x1x64xf32> -> !mirage_block.tile<1x1x4x1x1xf32>
      %31 = max %arg10, %30 : !mirage_block.tile<1x1x4x1x1xf32>, !mirage_block.tile<1x1x4x1x1xf32> -> !mirage_block.tile<1x1x4x1x1xf32>
      %32 = sub %arg10, %31 : !mirage_block.tile<1x1x4x1x1xf32>, !mirage_block.tile<1x1x4x1x1xf32> -> !mirage_block.tile<1x1x4x1x1xf32>
      %33 = exp %32 : !mirage_block.tile<1x1x4x1x1xf32> -> !mirage_block.tile<1x1x4x1x1xf32>
      %34 = sub %29, %31 : !mirage_block.tile<1x1x4x1x64xf32>, !mirage_block.tile<1x1x4x1x1xf32> -> !mirage_block.tile<1x1x4x1x64xf32>
      %35 = exp %34 : !mirage_block.tile<1x1x4x1x64xf32> -> !mirage_block.tile<1x1x4x1x64xf32>
      %36 = load %arg6 {grid = [1, 3], loop = [3], order = [0, 2, 1, 3, 4]} : tensor<1x1x1x512x128xbf16> -> !mirage_block.tile<1x1x1x64x128xbf16>
      %37 = cast %35 : !mirage_block.tile<1x1x4x1x64xf32> -> !mirage_block.tile<1x1x4x1x64xbf16>
      %38 = matmul %37, %36 : !mirage_block.tile<1x1x4x1x64xbf16>, !mirage_block.tile<1x1x1x64x128xbf16> -> !mirage_block.tile<1x1x4x1x128xf32>
      %39 = reduce_sum %35 {dim = 4} : !mirage_block.tile<1x1x4x1x64xf32> -> !mirage_block.tile<1x1x4x1x1xf32>
      yield %30, %38, %39 rescale %33, %33 : !mirage_block.tile<1x1x4x1x1xf32>, !mirage_block.tile<1x1x4x1x128xf32>, !mirage_block.tile<1x1x4x1x1xf32>, !mirage_block.tile<1x1x4x1x1xf32>, !mirage_block.tile<1x1x4x1x1xf32>
    }
    %12 = grid_max %11#0 {axes = [1]} : !mirage_block.tile<1x1x4x1x1xf32> -> !mirage_block.tile<1x1x4x1x1xf32>
    %13 = sub %11#0, %12 : !mirage_block.tile<1x1x4x1x1xf32>, !mirage_block.tile<1x1x4x1x1xf32> -> !mirage_block.tile<1x1x4x1x1xf32>
    %14 = exp %13 : !mirage_block.tile<1x1x4x1x1xf32> -> !mirage_block.tile<1x1x4x1x1xf32>
    %15 = mul %11#1, %14 : !mirage_block.tile<1x1x4x1x128xf32>, !mirage_block.tile<1x1x4x1x1xf32> -> !mirage_block.tile<1x1x4x1x128xf32>
    %16 = grid_sum %15 {axes = [1]} : !mirage_block.tile<1x1x4x1x128xf32> -> !mirage_block.tile<1x1x4x1x128xf32>
    %17 = mul %11#2, %14 : !mirage_block.tile<1x1x4x1x1xf32>, !mirage_block.tile<1x1x4x1x1xf32> -> !mirage_block.tile<1x1x4x1x1xf32>
    %18 = grid_sum %17 {axes = [1]} : !mirage_block.tile<1x1x4x1x1xf32> -> !mirage_block.tile<1x1x4x1x1xf32>
    %19 = load %arg8 {fill = one} : tensor<1x1x1x1x1xbf16> -> !mirage_block.tile<1x1x1x1x1xbf16>
    %20 = add %18, %19 : !mirage_block.tile<1x1x4x1x1xf32>, !mirage_block.tile<1x1x1x1x1xbf16> -> !mirage_block.tile<1x1x4x1x1xf32>
    %21 = div %16, %20 : !mirage_block.tile<1x1x4x1x128xf32>, !mirage_block.tile<1x1x4x1x1xf32> -> !mirage_block.tile<1x1x4x1x128xf32>
    store %21, %arg9 {grid = [1], order = [0, 2, 3, 1, 4]} : !mirage_block.tile<1x1x4x1x128xf32>, tensor<1x1x1x4x128xbf16>
  }
  %6 = reshape %5 : tensor<1x1x1x4x128xbf16> -> tensor<1x1x512xbf16>
  return %6 : tensor<1x1x512xbf16>
}
