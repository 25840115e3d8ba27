// RUN: mirage-mlir-opt %s --mirage-prune="stats explain" 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t
// RUN: mirage-mlir-opt %s --mirage-prune='expr=false duplicates=false dominated=false' | FileCheck %s --check-prefix=OFF
// Wrong expressions and duplicates go, each with its reason; right candidates stay.

// CHECK:     graph @p(
// CHECK:     graph @good(
// CHECK-NOT: graph @last(
// CHECK-NOT: graph @square(
// CHECK-NOT: graph @again(
// CHECK:     graph @norm(
// CHECK:     graph @norm_right(
// CHECK-NOT: graph @norm_wrong(
// WHY: @last: pruned: its abstract expression is not that of @p
// WHY: @square: pruned: its abstract expression is not that of @p
// WHY: @again: pruned: built like @good
// WHY: @p: 4 candidates, pruned 2 by expression, 1 as duplicates, 0 as dominated; 1 left
// WHY: prune @p candidates 4
// WHY: prune @p left 1
// WHY: @norm_wrong: pruned: its abstract expression is not that of @norm
// WHY: @norm: 2 candidates, pruned 1 by expression
// OFF: graph @good(
// OFF: graph @last(
// OFF: graph @square(
// OFF: graph @again(
// OFF: graph @norm_wrong(

mirage_kernel.graph @p(%x: tensor<16x64xf16>, %w: tensor<64x32xf16>) -> tensor<16x32xf16> {
  %y = matmul %x, %w : tensor<16x64xf16>, tensor<64x32xf16>
  return %y : tensor<16x32xf16>
}
// Right.
mirage_kernel.graph @good(%x: tensor<16x64xf16>, %w: tensor<64x32xf16>) -> tensor<16x32xf16> attributes {source = @p} {
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
// The last iteration only.
mirage_kernel.graph @last(%x: tensor<16x64xf16>, %w: tensor<64x32xf16>) -> tensor<16x32xf16> attributes {source = @p} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [4] : (tensor<16x64xf16>, tensor<64x32xf16>) -> tensor<16x32xf16> {
    %zero = constant 0.0 : !mirage_block.tile<16x8xf32>
    %acc = loop 4 (%a = %zero assign) : !mirage_block.tile<16x8xf32> {
      %xt = load %xk {loop = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x16xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<64x32xf16> -> !mirage_block.tile<16x8xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<16x16xf16>, !mirage_block.tile<16x8xf16>
      yield %p : !mirage_block.tile<16x8xf32>
    }
    store %acc, %yk {grid = [1]} : !mirage_block.tile<16x8xf32>, tensor<16x32xf16>
  }
  return %y : tensor<16x32xf16>
}
// Squared.
mirage_kernel.graph @square(%x: tensor<16x64xf16>, %w: tensor<64x32xf16>) -> tensor<16x32xf16> attributes {source = @p} {
  %y = custom (%wk = %w, %xk = %x) outs(%yk) grid [4] : (tensor<64x32xf16>, tensor<16x64xf16>) -> tensor<16x32xf16> {
    %xt = load %xk : tensor<16x64xf16> -> !mirage_block.tile<16x64xf16>
    %wt = load %wk {grid = [1]} : tensor<64x32xf16> -> !mirage_block.tile<64x8xf16>
    %p = matmul %xt, %wt : !mirage_block.tile<16x64xf16>, !mirage_block.tile<64x8xf16>
    %q = square %p : !mirage_block.tile<16x8xf32>
    store %q, %yk {grid = [1]} : !mirage_block.tile<16x8xf32>, tensor<16x32xf16>
  }
  return %y : tensor<16x32xf16>
}
// Built like @good, with operands in another order and an operator that nobody uses.
mirage_kernel.graph @again(%x: tensor<16x64xf16>, %w: tensor<64x32xf16>) -> tensor<16x32xf16> attributes {source = @p} {
  %y = custom (%wk = %w, %xk = %x) outs(%yk) grid [4] : (tensor<64x32xf16>, tensor<16x64xf16>) -> tensor<16x32xf16> {
    %zero = constant 0.0 : !mirage_block.tile<16x8xf32>
    %acc = loop 4 (%a = %zero sum) : !mirage_block.tile<16x8xf32> {
      %wt = load %wk {grid = [1], loop = [0]} : tensor<64x32xf16> -> !mirage_block.tile<16x8xf16>
      %xt = load %xk {loop = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x16xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<16x16xf16>, !mirage_block.tile<16x8xf16>
      %unused = exp %p : !mirage_block.tile<16x8xf32>
      yield %p : !mirage_block.tile<16x8xf32>
    }
    store %acc, %yk {grid = [1]} : !mirage_block.tile<16x8xf32>, tensor<16x32xf16>
  }
  return %y : tensor<16x32xf16>
}

mirage_kernel.graph @norm(%x: tensor<2x64xf16>, %w: tensor<64x32xf16>) -> tensor<2x32xf16> {
  %n = rms_norm %x {eps = 0.0} : tensor<2x64xf16>
  %y = matmul %n, %w : tensor<2x64xf16>, tensor<64x32xf16>
  return %y : tensor<2x32xf16>
}
// Divides once, after the loop.
mirage_kernel.graph @norm_right(%x: tensor<2x64xf16>, %w: tensor<64x32xf16>) -> tensor<2x32xf16> attributes {source = @norm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2] : (tensor<2x64xf16>, tensor<64x32xf16>) -> tensor<2x32xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x16xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %acc, %squares = loop 4 (%a = %zero sum, %s = %none sum) : !mirage_block.tile<2x16xf32>, !mirage_block.tile<2x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<2x64xf16> -> !mirage_block.tile<2x16xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<64x32xf16> -> !mirage_block.tile<16x16xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<2x16xf16>, !mirage_block.tile<16x16xf16>
      %sq = square %xt : !mirage_block.tile<2x16xf16>
      %ss = reduce_sum %sq {dim = 1} : !mirage_block.tile<2x16xf32>
      yield %p, %ss : !mirage_block.tile<2x16xf32>, !mirage_block.tile<2x1xf32>
    }
    %k = constant 64.0 : !mirage_block.tile<1x1xf32>
    %mean = div %squares, %k : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %rms = sqrt %mean : !mirage_block.tile<2x1xf32>
    %r = div %acc, %rms : !mirage_block.tile<2x16xf32>, !mirage_block.tile<2x1xf32>
    store %r, %yk {grid = [1]} : !mirage_block.tile<2x16xf32>, tensor<2x32xf16>
  }
  return %y : tensor<2x32xf16>
}
// Forgets the root.
mirage_kernel.graph @norm_wrong(%x: tensor<2x64xf16>, %w: tensor<64x32xf16>) -> tensor<2x32xf16> attributes {source = @norm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2] : (tensor<2x64xf16>, tensor<64x32xf16>) -> tensor<2x32xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x16xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %acc, %squares = loop 4 (%a = %zero sum, %s = %none sum) : !mirage_block.tile<2x16xf32>, !mirage_block.tile<2x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<2x64xf16> -> !mirage_block.tile<2x16xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<64x32xf16> -> !mirage_block.tile<16x16xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<2x16xf16>, !mirage_block.tile<16x16xf16>
      %sq = square %xt : !mirage_block.tile<2x16xf16>
      %ss = reduce_sum %sq {dim = 1} : !mirage_block.tile<2x16xf32>
      yield %p, %ss : !mirage_block.tile<2x16xf32>, !mirage_block.tile<2x1xf32>
    }
    %k = constant 64.0 : !mirage_block.tile<1x1xf32>
    %mean = div %squares, %k : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %rms = sqrt %mean : !mirage_block.tile<2x1xf32>
    %r = div %acc, %mean : !mirage_block.tile<2x16xf32>, !mirage_block.tile<2x1xf32>
    store %r, %yk {grid = [1]} : !mirage_block.tile<2x16xf32>, tensor<2x32xf16>
  }
  return %y : tensor<2x32xf16>
}
