// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// Tiles of a given extent: 20 rows as 16 and 4, 44 columns as 16, 16 and 12, a contraction of 20 as 16 and 4; a dimension
// that nothing splits in a tile that is larger.

mirage_kernel.graph @src(%x: tensor<20x20xf16>, %w: tensor<20x44xf16>) -> tensor<20x44xf16> {
  %y = matmul %x, %w : tensor<20x20xf16>, tensor<20x44xf16>
  return %y : tensor<20x44xf16>
}

// CHECK: @tiles: equivalent to @src;
mirage_kernel.graph @tiles(%x: tensor<20x20xf16>, %w: tensor<20x44xf16>) -> tensor<20x44xf16> attributes {source = @src} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [3, 2] : (tensor<20x20xf16>, tensor<20x44xf16>) -> tensor<20x44xf16> {
    %zero = constant 0.0 : !mirage_block.tile<16x16xf32>
    %s = loop 2 (%a = %zero sum) : !mirage_block.tile<16x16xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1], tiles = [16, 16]} : tensor<20x20xf16> -> !mirage_block.tile<16x16xf16>
      %wt = load %wk {grid = [1], loop = [0], tiles = [16, 16]} : tensor<20x44xf16> -> !mirage_block.tile<16x16xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<16x16xf16>, !mirage_block.tile<16x16xf16>
      yield %p : !mirage_block.tile<16x16xf32>
    }
    store %s, %yk {grid = [1, 0], tiles = [16, 16]} : !mirage_block.tile<16x16xf32>, tensor<20x44xf16>
  }
  return %y : tensor<20x44xf16>
}

// By division the same blocks have tiles of 10, 10 and 15.
// CHECK: @division: equivalent to @src;
mirage_kernel.graph @division(%x: tensor<20x20xf16>, %w: tensor<20x44xf16>) -> tensor<20x44xf16> attributes {source = @src} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [3, 2] : (tensor<20x20xf16>, tensor<20x44xf16>) -> tensor<20x44xf16> {
    %zero = constant 0.0 : !mirage_block.tile<10x15xf32>
    %s = loop 2 (%a = %zero sum) : !mirage_block.tile<10x15xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1]} : tensor<20x20xf16> -> !mirage_block.tile<10x10xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<20x44xf16> -> !mirage_block.tile<10x15xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<10x10xf16>, !mirage_block.tile<10x15xf16>
      yield %p : !mirage_block.tile<10x15xf32>
    }
    store %s, %yk {grid = [1, 0]} : !mirage_block.tile<10x15xf32>, tensor<20x44xf16>
  }
  return %y : tensor<20x44xf16>
}

// Nothing splits the rows: one tile of 32, of which 20 are there.
// CHECK: @larger: equivalent to @src;
mirage_kernel.graph @larger(%x: tensor<20x20xf16>, %w: tensor<20x44xf16>) -> tensor<20x44xf16> attributes {source = @src} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [3] : (tensor<20x20xf16>, tensor<20x44xf16>) -> tensor<20x44xf16> {
    %zero = constant 0.0 : !mirage_block.tile<32x16xf32>
    %s = loop 2 (%a = %zero sum) : !mirage_block.tile<32x16xf32> {
      %xt = load %xk {loop = [1], tiles = [32, 16]} : tensor<20x20xf16> -> !mirage_block.tile<32x16xf16>
      %wt = load %wk {grid = [1], loop = [0], tiles = [16, 16]} : tensor<20x44xf16> -> !mirage_block.tile<16x16xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<32x16xf16>, !mirage_block.tile<16x16xf16>
      yield %p : !mirage_block.tile<32x16xf32>
    }
    store %s, %yk {grid = [1], tiles = [32, 16]} : !mirage_block.tile<32x16xf32>, tensor<20x44xf16>
  }
  return %y : tensor<20x44xf16>
}

// What is past the end of the contraction is 1 in both: it is summed.
// CHECK: @ones: different at output
mirage_kernel.graph @ones(%x: tensor<20x20xf16>, %w: tensor<20x44xf16>) -> tensor<20x44xf16> attributes {source = @src} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [3, 2] : (tensor<20x20xf16>, tensor<20x44xf16>) -> tensor<20x44xf16> {
    %zero = constant 0.0 : !mirage_block.tile<16x16xf32>
    %s = loop 2 (%a = %zero sum) : !mirage_block.tile<16x16xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1], tiles = [16, 16], fill = one} : tensor<20x20xf16> -> !mirage_block.tile<16x16xf16>
      %wt = load %wk {grid = [1], loop = [0], tiles = [16, 16], fill = one} : tensor<20x44xf16> -> !mirage_block.tile<16x16xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<16x16xf16>, !mirage_block.tile<16x16xf16>
      yield %p : !mirage_block.tile<16x16xf32>
    }
    store %s, %yk {grid = [1, 0], tiles = [16, 16]} : !mirage_block.tile<16x16xf32>, tensor<20x44xf16>
  }
  return %y : tensor<20x44xf16>
}

// One side of the contraction goes on where the other has ended: tiles of 16 beside tiles of 10.
// CHECK: @shifted: different at output
mirage_kernel.graph @shifted(%x: tensor<20x20xf16>, %w: tensor<20x44xf16>) -> tensor<20x44xf16> attributes {source = @src} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [3, 2] : (tensor<20x20xf16>, tensor<20x44xf16>) -> tensor<20x44xf16> {
    %zero = constant 0.0 : !mirage_block.tile<16x16xf32>
    %s = loop 2 (%a = %zero sum) : !mirage_block.tile<16x16xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1], tiles = [16, 10]} : tensor<20x20xf16> -> !mirage_block.tile<16x10xf16>
      %wu = load %wk {grid = [1], loop = [0], tiles = [16, 16]} : tensor<20x44xf16> -> !mirage_block.tile<16x16xf16>
      %wt = slice %wu {dim = 0, begin = 0, end = 10} : !mirage_block.tile<16x16xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<16x10xf16>, !mirage_block.tile<10x16xf16>
      yield %p : !mirage_block.tile<16x16xf32>
    }
    store %s, %yk {grid = [1, 0], tiles = [16, 16]} : !mirage_block.tile<16x16xf32>, tensor<20x44xf16>
  }
  return %y : tensor<20x44xf16>
}

// Stored by division: rows 10 to 15 of each block are dropped, and land where they do not belong.
// CHECK: @stored: different at output
mirage_kernel.graph @stored(%x: tensor<20x20xf16>, %w: tensor<20x44xf16>) -> tensor<20x44xf16> attributes {source = @src} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [3, 2] : (tensor<20x20xf16>, tensor<20x44xf16>) -> tensor<20x44xf16> {
    %zero = constant 0.0 : !mirage_block.tile<16x16xf32>
    %s = loop 2 (%a = %zero sum) : !mirage_block.tile<16x16xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1], tiles = [16, 16]} : tensor<20x20xf16> -> !mirage_block.tile<16x16xf16>
      %wt = load %wk {grid = [1], loop = [0], tiles = [16, 16]} : tensor<20x44xf16> -> !mirage_block.tile<16x16xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<16x16xf16>, !mirage_block.tile<16x16xf16>
      yield %p : !mirage_block.tile<16x16xf32>
    }
    %c = slice %s {dim = 0, begin = 0, end = 10} : !mirage_block.tile<16x16xf32>
    store %c, %yk {grid = [1, 0], tiles = [0, 16]} : !mirage_block.tile<10x16xf32>, tensor<20x44xf16>
  }
  return %y : tensor<20x44xf16>
}

// Blocks take rows in the other order than the store: x by tiles, y by tiles of the other axis.
// CHECK: @swapped: different at output
mirage_kernel.graph @swapped(%x: tensor<20x20xf16>, %w: tensor<20x44xf16>) -> tensor<20x44xf16> attributes {source = @src} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2, 2] : (tensor<20x20xf16>, tensor<20x44xf16>) -> tensor<20x44xf16> {
    %zero = constant 0.0 : !mirage_block.tile<16x32xf32>
    %s = loop 2 (%a = %zero sum) : !mirage_block.tile<16x32xf32> {
      %xt = load %xk {grid = [0, -1], loop = [1], tiles = [16, 16]} : tensor<20x20xf16> -> !mirage_block.tile<16x16xf16>
      %wt = load %wk {grid = [1, -1], loop = [0], tiles = [16, 32]} : tensor<20x44xf16> -> !mirage_block.tile<16x32xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<16x16xf16>, !mirage_block.tile<16x32xf16>
      yield %p : !mirage_block.tile<16x32xf32>
    }
    store %s, %yk {grid = [1, 0], tiles = [16, 32]} : !mirage_block.tile<16x32xf32>, tensor<20x44xf16>
  }
  return %y : tensor<20x44xf16>
}

mirage_kernel.graph @src_mean(%x: tensor<4x20xf16>) -> tensor<4x1xf16> {
  %y = reduce_mean %x {dim = 1} : tensor<4x20xf16>
  return %y : tensor<4x1xf16>
}

// A mean divides by what is there, not by what the tiles hold.
// CHECK: @mean_20: equivalent to @src_mean;
mirage_kernel.graph @mean_20(%x: tensor<4x20xf16>) -> tensor<4x1xf16> attributes {source = @src_mean} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x20xf16>) -> tensor<4x1xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %s = loop 2 (%a = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1], tiles = [0, 16]} : tensor<4x20xf16> -> !mirage_block.tile<4x16xf16>
      %t = reduce_sum %xt {dim = 1} : !mirage_block.tile<4x16xf16>
      yield %t : !mirage_block.tile<4x1xf32>
    }
    %n = constant 20.0 : !mirage_block.tile<1x1xf32>
    %m = div %s, %n : !mirage_block.tile<4x1xf32>, !mirage_block.tile<1x1xf32>
    store %m, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf16>
  }
  return %y : tensor<4x1xf16>
}

// CHECK: @mean_32: different at output
mirage_kernel.graph @mean_32(%x: tensor<4x20xf16>) -> tensor<4x1xf16> attributes {source = @src_mean} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x20xf16>) -> tensor<4x1xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %s = loop 2 (%a = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1], tiles = [0, 16]} : tensor<4x20xf16> -> !mirage_block.tile<4x16xf16>
      %t = reduce_sum %xt {dim = 1} : !mirage_block.tile<4x16xf16>
      yield %t : !mirage_block.tile<4x1xf32>
    }
    %n = constant 32.0 : !mirage_block.tile<1x1xf32>
    %m = div %s, %n : !mirage_block.tile<4x1xf32>, !mirage_block.tile<1x1xf32>
    store %m, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf16>
  }
  return %y : tensor<4x1xf16>
}
