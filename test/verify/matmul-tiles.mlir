// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// Grids, loops and their maps around one matrix product. Square, so that every wrong map still has fitting shapes.

mirage_kernel.graph @src_mm(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> {
  %y = matmul %x, %w : tensor<8x8xf16>, tensor<8x8xf16>
  return %y : tensor<8x8xf16>
}

// Blocks take columns.
// CHECK: @tgt_mm_columns: equivalent to @src_mm;
mirage_kernel.graph @tgt_mm_columns(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [4] : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16> {
    %xt = load %xk : tensor<8x8xf16> -> !mirage_block.tile<8x8xf16>
    %wt = load %wk {grid = [1]} : tensor<8x8xf16> -> !mirage_block.tile<8x2xf16>
    %p = matmul %xt, %wt : !mirage_block.tile<8x8xf16>, !mirage_block.tile<8x2xf16>
    store %p, %yk {grid = [1]} : !mirage_block.tile<8x2xf32>, tensor<8x8xf16>
  }
  return %y : tensor<8x8xf16>
}

// Two grid axes.
// CHECK: @tgt_mm_rows_columns: equivalent to @src_mm;
mirage_kernel.graph @tgt_mm_rows_columns(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2, 4] : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16> {
    %xt = load %xk {grid = [0, -1]} : tensor<8x8xf16> -> !mirage_block.tile<4x8xf16>
    %wt = load %wk {grid = [-1, 1]} : tensor<8x8xf16> -> !mirage_block.tile<8x2xf16>
    %p = matmul %xt, %wt : !mirage_block.tile<4x8xf16>, !mirage_block.tile<8x2xf16>
    store %p, %yk {grid = [0, 1]} : !mirage_block.tile<4x2xf32>, tensor<8x8xf16>
  }
  return %y : tensor<8x8xf16>
}

// The contraction in a loop.
// CHECK: @tgt_mm_loop: equivalent to @src_mm;
mirage_kernel.graph @tgt_mm_loop(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [1] : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16> {
    %zero = constant 0.0 : !mirage_block.tile<8x8xf32>
    %acc = loop 4 (%a = %zero sum) : !mirage_block.tile<8x8xf32> {
      %xt = load %xk {loop = [1]} : tensor<8x8xf16> -> !mirage_block.tile<8x2xf16>
      %wt = load %wk {loop = [0]} : tensor<8x8xf16> -> !mirage_block.tile<2x8xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<8x2xf16>, !mirage_block.tile<2x8xf16>
      yield %p : !mirage_block.tile<8x8xf32>
    }
    store %acc, %yk : !mirage_block.tile<8x8xf32>, tensor<8x8xf16>
  }
  return %y : tensor<8x8xf16>
}

// Loop and grid.
// CHECK: @tgt_mm_loop_grid: equivalent to @src_mm;
mirage_kernel.graph @tgt_mm_loop_grid(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2, 2] : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x4xf32>
    %acc = loop 2 (%a = %zero sum) : !mirage_block.tile<4x4xf32> {
      %xt = load %xk {grid = [0, -1], loop = [1]} : tensor<8x8xf16> -> !mirage_block.tile<4x4xf16>
      %wt = load %wk {grid = [-1, 1], loop = [0]} : tensor<8x8xf16> -> !mirage_block.tile<4x4xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x4xf16>
      yield %p : !mirage_block.tile<4x4xf32>
    }
    store %acc, %yk {grid = [0, 1]} : !mirage_block.tile<4x4xf32>, tensor<8x8xf16>
  }
  return %y : tensor<8x8xf16>
}

// Two nested loops split one axis.
// CHECK: @tgt_mm_nested: equivalent to @src_mm;
mirage_kernel.graph @tgt_mm_nested(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [1] : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16> {
    %zero = constant 0.0 : !mirage_block.tile<8x8xf32>
    %acc = loop 2 (%a = %zero sum) : !mirage_block.tile<8x8xf32> {
      %part = loop 2 (%b = %zero sum) : !mirage_block.tile<8x8xf32> {
        %xt = load %xk {loop = [1, 1]} : tensor<8x8xf16> -> !mirage_block.tile<8x2xf16>
        %wt = load %wk {loop = [0, 0]} : tensor<8x8xf16> -> !mirage_block.tile<2x8xf16>
        %p = matmul %xt, %wt : !mirage_block.tile<8x2xf16>, !mirage_block.tile<2x8xf16>
        yield %p : !mirage_block.tile<8x8xf32>
      }
      yield %part : !mirage_block.tile<8x8xf32>
    }
    store %acc, %yk : !mirage_block.tile<8x8xf32>, tensor<8x8xf16>
  }
  return %y : tensor<8x8xf16>
}

// The contraction is split twice: halves by slices, each in a loop of its own.
// CHECK: @tgt_mm_both: equivalent to @src_mm;
mirage_kernel.graph @tgt_mm_both(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [1] : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16> {
    %zero = constant 0.0 : !mirage_block.tile<8x8xf32>
    %xa = load %xk : tensor<8x8xf16> -> !mirage_block.tile<8x8xf16>
    %wa = load %wk : tensor<8x8xf16> -> !mirage_block.tile<8x8xf16>
    %x0 = slice %xa {dim = 1, begin = 0, end = 4} : !mirage_block.tile<8x8xf16>
    %w0 = slice %wa {dim = 0, begin = 0, end = 4} : !mirage_block.tile<8x8xf16>
    %first = matmul %x0, %w0 : !mirage_block.tile<8x4xf16>, !mirage_block.tile<4x8xf16>
    %acc = loop 2 (%a = %first sum) : !mirage_block.tile<8x8xf32> {
      %xt = load %xk {loop = [1]} : tensor<8x8xf16> -> !mirage_block.tile<8x4xf16>
      %wt = load %wk {loop = [0]} : tensor<8x8xf16> -> !mirage_block.tile<4x8xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<8x4xf16>, !mirage_block.tile<4x8xf16>
      yield %p : !mirage_block.tile<8x8xf32>
    }
    %again = sub %acc, %first : !mirage_block.tile<8x8xf32>, !mirage_block.tile<8x8xf32>
    store %again, %yk : !mirage_block.tile<8x8xf32>, tensor<8x8xf16>
  }
  return %y : tensor<8x8xf16>
}

// The blocks store at each other's place.
// CHECK: @tgt_mm_omap: different at output
mirage_kernel.graph @tgt_mm_omap(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2, 2] : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16> {
    %xt = load %xk {grid = [0, -1]} : tensor<8x8xf16> -> !mirage_block.tile<4x8xf16>
    %wt = load %wk {grid = [-1, 1]} : tensor<8x8xf16> -> !mirage_block.tile<8x4xf16>
    %p = matmul %xt, %wt : !mirage_block.tile<4x8xf16>, !mirage_block.tile<8x4xf16>
    store %p, %yk {grid = [1, 0]} : !mirage_block.tile<4x4xf32>, tensor<8x8xf16>
  }
  return %y : tensor<8x8xf16>
}

// The loads take each other's axis.
// CHECK: @tgt_mm_imap: different at output
mirage_kernel.graph @tgt_mm_imap(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2, 2] : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16> {
    %xt = load %xk {grid = [-1, 0]} : tensor<8x8xf16> -> !mirage_block.tile<4x8xf16>
    %wt = load %wk {grid = [1, -1]} : tensor<8x8xf16> -> !mirage_block.tile<8x4xf16>
    %p = matmul %xt, %wt : !mirage_block.tile<4x8xf16>, !mirage_block.tile<8x4xf16>
    store %p, %yk {grid = [0, 1]} : !mirage_block.tile<4x4xf32>, tensor<8x8xf16>
  }
  return %y : tensor<8x8xf16>
}

// Both operands follow the first grid axis.
// CHECK: @tgt_mm_imap_same: different at output
mirage_kernel.graph @tgt_mm_imap_same(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2, 2] : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16> {
    %xt = load %xk {grid = [0, -1]} : tensor<8x8xf16> -> !mirage_block.tile<4x8xf16>
    %wt = load %wk {grid = [1, -1]} : tensor<8x8xf16> -> !mirage_block.tile<8x4xf16>
    %p = matmul %xt, %wt : !mirage_block.tile<4x8xf16>, !mirage_block.tile<8x4xf16>
    store %p, %yk {grid = [0, 1]} : !mirage_block.tile<4x4xf32>, tensor<8x8xf16>
  }
  return %y : tensor<8x8xf16>
}

// The operands follow different loops.
// CHECK: @tgt_mm_fmap: different at output
mirage_kernel.graph @tgt_mm_fmap(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [1] : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16> {
    %zero = constant 0.0 : !mirage_block.tile<8x8xf32>
    %acc = loop 2 (%a = %zero sum) : !mirage_block.tile<8x8xf32> {
      %part = loop 2 (%b = %zero sum) : !mirage_block.tile<8x8xf32> {
        %xt = load %xk {loop = [1, -1]} : tensor<8x8xf16> -> !mirage_block.tile<8x4xf16>
        %wt = load %wk {loop = [-1, 0]} : tensor<8x8xf16> -> !mirage_block.tile<4x8xf16>
        %p = matmul %xt, %wt : !mirage_block.tile<8x4xf16>, !mirage_block.tile<4x8xf16>
        yield %p : !mirage_block.tile<8x8xf32>
      }
      yield %part : !mirage_block.tile<8x8xf32>
    }
    store %acc, %yk : !mirage_block.tile<8x8xf32>, tensor<8x8xf16>
  }
  return %y : tensor<8x8xf16>
}

// Outer and inner part of the loop change places in one operand.
// CHECK: @tgt_mm_fmap_order: different at output
mirage_kernel.graph @tgt_mm_fmap_order(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [1] : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16> {
    %zero = constant 0.0 : !mirage_block.tile<8x8xf32>
    %acc = loop 4 (%a = %zero sum) : !mirage_block.tile<8x8xf32> {
      %part = loop 2 (%b = %zero sum) : !mirage_block.tile<8x8xf32> {
        %xt = load %xk {loop = [1, 1]} : tensor<8x8xf16> -> !mirage_block.tile<8x1xf16>
        %w2 = load %wk {loop = [-1, 0]} : tensor<8x8xf16> -> !mirage_block.tile<4x8xf16>
        %wt = slice %w2 {dim = 0, begin = 0, end = 1} : !mirage_block.tile<4x8xf16>
        %p = matmul %xt, %wt : !mirage_block.tile<8x1xf16>, !mirage_block.tile<1x8xf16>
        yield %p : !mirage_block.tile<8x8xf32>
      }
      yield %part : !mirage_block.tile<8x8xf32>
    }
    store %acc, %yk : !mirage_block.tile<8x8xf32>, tensor<8x8xf16>
  }
  return %y : tensor<8x8xf16>
}

// No accumulation: the last iteration wins.
// CHECK: @tgt_mm_last: different at output
mirage_kernel.graph @tgt_mm_last(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [1] : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16> {
    %zero = constant 0.0 : !mirage_block.tile<8x8xf32>
    %acc = loop 4 (%a = %zero assign) : !mirage_block.tile<8x8xf32> {
      %xt = load %xk {loop = [1]} : tensor<8x8xf16> -> !mirage_block.tile<8x2xf16>
      %wt = load %wk {loop = [0]} : tensor<8x8xf16> -> !mirage_block.tile<2x8xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<8x2xf16>, !mirage_block.tile<2x8xf16>
      yield %p : !mirage_block.tile<8x8xf32>
    }
    store %acc, %yk : !mirage_block.tile<8x8xf32>, tensor<8x8xf16>
  }
  return %y : tensor<8x8xf16>
}

// The largest product instead of the sum.
// CHECK: @tgt_mm_max: different at output
mirage_kernel.graph @tgt_mm_max(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [1] : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16> {
    %zero = constant 0.0 : !mirage_block.tile<8x8xf32>
    %acc = loop 4 (%a = %zero max) : !mirage_block.tile<8x8xf32> {
      %xt = load %xk {loop = [1]} : tensor<8x8xf16> -> !mirage_block.tile<8x2xf16>
      %wt = load %wk {loop = [0]} : tensor<8x8xf16> -> !mirage_block.tile<2x8xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<8x2xf16>, !mirage_block.tile<2x8xf16>
      yield %p : !mirage_block.tile<8x8xf32>
    }
    store %acc, %yk : !mirage_block.tile<8x8xf32>, tensor<8x8xf16>
  }
  return %y : tensor<8x8xf16>
}

// The accumulator starts at 1.
// CHECK: @tgt_mm_start: different at output
mirage_kernel.graph @tgt_mm_start(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [1] : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16> {
    %zero = constant 1.0 : !mirage_block.tile<8x8xf32>
    %acc = loop 4 (%a = %zero sum) : !mirage_block.tile<8x8xf32> {
      %xt = load %xk {loop = [1]} : tensor<8x8xf16> -> !mirage_block.tile<8x2xf16>
      %wt = load %wk {loop = [0]} : tensor<8x8xf16> -> !mirage_block.tile<2x8xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<8x2xf16>, !mirage_block.tile<2x8xf16>
      yield %p : !mirage_block.tile<8x8xf32>
    }
    store %acc, %yk : !mirage_block.tile<8x8xf32>, tensor<8x8xf16>
  }
  return %y : tensor<8x8xf16>
}

// A loop around it all that splits nothing.
// CHECK: @tgt_mm_twice: different at output
mirage_kernel.graph @tgt_mm_twice(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [1] : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16> {
    %zero = constant 0.0 : !mirage_block.tile<8x8xf32>
    %acc = loop 2 (%a = %zero sum) : !mirage_block.tile<8x8xf32> {
      %xt = load %xk : tensor<8x8xf16> -> !mirage_block.tile<8x8xf16>
      %wt = load %wk : tensor<8x8xf16> -> !mirage_block.tile<8x8xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<8x8xf16>, !mirage_block.tile<8x8xf16>
      yield %p : !mirage_block.tile<8x8xf32>
    }
    store %acc, %yk : !mirage_block.tile<8x8xf32>, tensor<8x8xf16>
  }
  return %y : tensor<8x8xf16>
}

// Half the contraction.
// CHECK: @tgt_mm_half: different at output
mirage_kernel.graph @tgt_mm_half(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> attributes {source = @src_mm} {
  %xa = slice %x {dim = 1, begin = 0, end = 4} : tensor<8x8xf16>
  %wa = slice %w {dim = 0, begin = 0, end = 4} : tensor<8x8xf16>
  %y = matmul %xa, %wa : tensor<8x4xf16>, tensor<4x8xf16>
  return %y : tensor<8x8xf16>
}

// The halves of the contraction are paired crosswise.
// CHECK: @tgt_mm_shifted: different at output
mirage_kernel.graph @tgt_mm_shifted(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> attributes {source = @src_mm} {
  %x0 = slice %x {dim = 1, begin = 0, end = 4} : tensor<8x8xf16>
  %x1 = slice %x {dim = 1, begin = 4, end = 8} : tensor<8x8xf16>
  %w0 = slice %w {dim = 0, begin = 0, end = 4} : tensor<8x8xf16>
  %w1 = slice %w {dim = 0, begin = 4, end = 8} : tensor<8x8xf16>
  %a = matmul %x0, %w1 : tensor<8x4xf16>, tensor<4x8xf16>
  %b = matmul %x1, %w0 : tensor<8x4xf16>, tensor<4x8xf16>
  %y = add %a, %b : tensor<8x8xf16>, tensor<8x8xf16>
  return %y : tensor<8x8xf16>
}

// The operands change places.
// CHECK: @tgt_mm_commuted: different at output
mirage_kernel.graph @tgt_mm_commuted(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> attributes {source = @src_mm} {
  %y = matmul %w, %x : tensor<8x8xf16>, tensor<8x8xf16>
  return %y : tensor<8x8xf16>
}

// A transpose too many.
// CHECK: @tgt_mm_transposed: different at output
mirage_kernel.graph @tgt_mm_transposed(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> attributes {source = @src_mm} {
  %y = matmul %x, %w {transpose_b} : tensor<8x8xf16>, tensor<8x8xf16>
  return %y : tensor<8x8xf16>
}

// The same on the other side.
// CHECK: @tgt_mm_transposed_a: different at output
mirage_kernel.graph @tgt_mm_transposed_a(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> attributes {source = @src_mm} {
  %y = matmul %x, %w {transpose_a} : tensor<8x8xf16>, tensor<8x8xf16>
  return %y : tensor<8x8xf16>
}

// Blocks hold partial sums and store them to the same place.
// CHECK: @tgt_mm_race: unsupported:
mirage_kernel.graph @tgt_mm_race(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2] : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16> {
    %xt = load %xk {grid = [1]} : tensor<8x8xf16> -> !mirage_block.tile<8x4xf16>
    %wt = load %wk {grid = [0]} : tensor<8x8xf16> -> !mirage_block.tile<4x8xf16>
    %p = matmul %xt, %wt : !mirage_block.tile<8x4xf16>, !mirage_block.tile<4x8xf16>
    store %p, %yk : !mirage_block.tile<8x8xf32>, tensor<8x8xf16>
  }
  return %y : tensor<8x8xf16>
}

// The second half of the columns repeats the first.
// CHECK: @tgt_mm_hole: different at output
mirage_kernel.graph @tgt_mm_hole(%x: tensor<8x8xf16>, %w: tensor<8x8xf16>) -> tensor<8x8xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2] : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16> {
    %xt = load %xk {grid = [0]} : tensor<8x8xf16> -> !mirage_block.tile<4x8xf16>
    %wt = load %wk : tensor<8x8xf16> -> !mirage_block.tile<8x8xf16>
    %p = matmul %xt, %wt : !mirage_block.tile<4x8xf16>, !mirage_block.tile<8x8xf16>
    %h = slice %p {dim = 1, begin = 0, end = 4} : !mirage_block.tile<4x8xf32>
    %q = concat %h, %h {dim = 1} : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x4xf32>
    store %q, %yk {grid = [0]} : !mirage_block.tile<4x8xf32>, tensor<8x8xf16>
  }
  return %y : tensor<8x8xf16>
}
