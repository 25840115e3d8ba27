// Transposed tensors, loaded and stored where they lie: heads that lie between the rows and the columns. As tiles that pass
// through shared memory, by the copy engine, straight to the matrix instruction, and of odd sizes.
// RUN: mirage-module-test --warps 1 --warps 8 %s
// RUN: mirage-mlir-opt %s --mirage-verify -o /dev/null 2>&1 | FileCheck %s
// CHECK: 4 equivalent {{.*}} 0 different, 0 unsupported
// CHECK: 1 equivalent {{.*}} 0 different, 0 unsupported

mirage_kernel.graph @heads(%x: tensor<64x2x64xf16>, %w: tensor<64x2x32xf16>) -> tensor<64x2x32xf16> {
  %xt = transpose %x {perm = [1, 0, 2]} : tensor<64x2x64xf16>
  %wt = transpose %w {perm = [1, 0, 2]} : tensor<64x2x32xf16>
  %p = matmul %xt, %wt : tensor<2x64x64xf16>, tensor<2x64x32xf16>
  %y = transpose %p {perm = [1, 0, 2]} : tensor<2x64x32xf16>
  return %y : tensor<64x2x32xf16>
}

mirage_kernel.graph @heads_tiles(%x: tensor<64x2x64xf16>, %w: tensor<64x2x32xf16>) -> tensor<64x2x32xf16> attributes {source = @heads} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2, 4] : (tensor<64x2x64xf16>, tensor<64x2x32xf16>) -> tensor<64x2x32xf16> {
    %a = load %xk {grid = [0, 1], order = [1, 0, 2]} : tensor<64x2x64xf16> -> !mirage_block.tile<1x16x64xf16>
    %b = load %wk {grid = [0], order = [1, 0, 2]} : tensor<64x2x32xf16> -> !mirage_block.tile<1x64x32xf16>
    %p = matmul %a, %b : !mirage_block.tile<1x16x64xf16>, !mirage_block.tile<1x64x32xf16>
    store %p, %yk {grid = [0, 1], order = [1, 0, 2]} : !mirage_block.tile<1x16x32xf32>, tensor<64x2x32xf16>
  }
  return %y : tensor<64x2x32xf16>
}

mirage_kernel.graph @heads_tensor_copies(%x: tensor<64x2x64xf16>, %w: tensor<64x2x32xf16>) -> tensor<64x2x32xf16> attributes {source = @heads} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2] schedule <warps = 4, loads = [tensor(stages = 2), tensor(stages = 2)]> : (tensor<64x2x64xf16>, tensor<64x2x32xf16>) -> tensor<64x2x32xf16> {
    %z = constant 0.0 : !mirage_block.tile<1x64x32xf32>
    %s = loop 2 (%acc = %z sum) : !mirage_block.tile<1x64x32xf32> {
      %a = load %xk {grid = [0], loop = [2], order = [1, 0, 2]} : tensor<64x2x64xf16> -> !mirage_block.tile<1x64x32xf16>
      %b = load %wk {grid = [0], loop = [1], order = [1, 0, 2]} : tensor<64x2x32xf16> -> !mirage_block.tile<1x32x32xf16>
      %p = matmul %a, %b : !mirage_block.tile<1x64x32xf16>, !mirage_block.tile<1x32x32xf16>
      yield %p : !mirage_block.tile<1x64x32xf32>
    }
    store %s, %yk {grid = [0], order = [1, 0, 2]} : !mirage_block.tile<1x64x32xf32>, tensor<64x2x32xf16>
  }
  return %y : tensor<64x2x32xf16>
}

mirage_kernel.graph @heads_bulk_copies(%x: tensor<64x2x64xf16>, %w: tensor<64x2x32xf16>) -> tensor<64x2x32xf16> attributes {source = @heads} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [1, 2] schedule <warps = 4, loads = [bulk(stages = 1), bulk(stages = 1)]> : (tensor<64x2x64xf16>, tensor<64x2x32xf16>) -> tensor<64x2x32xf16> {
    %a = load %xk {grid = [-1, 1], order = [1, 0, 2]} : tensor<64x2x64xf16> -> !mirage_block.tile<2x32x64xf16>
    %b = load %wk {order = [1, 0, 2]} : tensor<64x2x32xf16> -> !mirage_block.tile<2x64x32xf16>
    %p = matmul %a, %b : !mirage_block.tile<2x32x64xf16>, !mirage_block.tile<2x64x32xf16>
    store %p, %yk {grid = [-1, 1], order = [1, 0, 2]} : !mirage_block.tile<2x32x32xf32>, tensor<64x2x32xf16>
  }
  return %y : tensor<64x2x32xf16>
}

// Weights stream to the matrix instruction: rows of one head are two rows apart.
mirage_kernel.graph @heads_direct(%x: tensor<64x2x64xf16>, %w: tensor<64x2x32xf16>) -> tensor<64x2x32xf16> attributes {source = @heads} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2, 4] : (tensor<64x2x64xf16>, tensor<64x2x32xf16>) -> tensor<64x2x32xf16> {
    %z = constant 0.0 : !mirage_block.tile<1x16x32xf32>
    %s = loop 2 (%acc = %z sum) : !mirage_block.tile<1x16x32xf32> {
      %a = load %xk {grid = [0, 1], loop = [2], order = [1, 0, 2]} : tensor<64x2x64xf16> -> !mirage_block.tile<1x16x32xf16>
      %b = load %wk {grid = [0], loop = [1], order = [1, 0, 2]} : tensor<64x2x32xf16> -> !mirage_block.tile<1x32x32xf16>
      %p = matmul %a, %b : !mirage_block.tile<1x16x32xf16>, !mirage_block.tile<1x32x32xf16>
      yield %p : !mirage_block.tile<1x16x32xf32>
    }
    store %s, %yk {grid = [0, 1], order = [1, 0, 2]} : !mirage_block.tile<1x16x32xf32>, tensor<64x2x32xf16>
  }
  return %y : tensor<64x2x32xf16>
}

mirage_kernel.graph @odd(%x: tensor<2x7x3x10xf16>) -> tensor<2x7x3x10xf16> {
  %t = transpose %x {perm = [2, 0, 1, 3]} : tensor<2x7x3x10xf16>
  %e = exp %t : tensor<3x2x7x10xf16>
  %y = transpose %e {perm = [1, 2, 0, 3]} : tensor<3x2x7x10xf16>
  return %y : tensor<2x7x3x10xf16>
}

mirage_kernel.graph @odd_tiles(%x: tensor<2x7x3x10xf16>) -> tensor<2x7x3x10xf16> attributes {source = @odd} {
  %y = custom (%xk = %x) outs(%yk) grid [2, 3] : (tensor<2x7x3x10xf16>) -> tensor<2x7x3x10xf16> {
    %a = load %xk {grid = [0, 2], order = [2, 0, 1, 3]} : tensor<2x7x3x10xf16> -> !mirage_block.tile<2x2x3x10xf16>
    %e = exp %a : !mirage_block.tile<2x2x3x10xf16>
    store %e, %yk {grid = [0, 2], order = [2, 0, 1, 3]} : !mirage_block.tile<2x2x3x10xf32>, tensor<2x7x3x10xf16>
  }
  return %y : tensor<2x7x3x10xf16>
}
