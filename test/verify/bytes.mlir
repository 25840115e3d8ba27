// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// Products of bytes: sums of i8 in i32, and what becomes of their scales; f8.

mirage_kernel.graph @src(%x: tensor<4x8xi8>, %w: tensor<8x8xi8>, %sx: tensor<4x1xf32>, %sw: tensor<8xf32>) -> tensor<4x8xf32> {
  %p = matmul %x, %w : tensor<4x8xi8>, tensor<8x8xi8>
  %f = cast %p : tensor<4x8xi32> -> tensor<4x8xf32>
  %a = mul %f, %sx : tensor<4x8xf32>, tensor<4x1xf32>
  %y = mul %a, %sw : tensor<4x8xf32>, tensor<8xf32>
  return %y : tensor<4x8xf32>
}

// Scales in the other order.
// CHECK: @tgt_order: equivalent to @src;
mirage_kernel.graph @tgt_order(%x: tensor<4x8xi8>, %w: tensor<8x8xi8>, %sx: tensor<4x1xf32>, %sw: tensor<8xf32>) -> tensor<4x8xf32> attributes {source = @src} {
  %p = matmul %x, %w : tensor<4x8xi8>, tensor<8x8xi8>
  %f = cast %p : tensor<4x8xi32> -> tensor<4x8xf32>
  %a = mul %f, %sw : tensor<4x8xf32>, tensor<8xf32>
  %y = mul %a, %sx : tensor<4x8xf32>, tensor<4x1xf32>
  return %y : tensor<4x8xf32>
}

// The scales multiplied by each other.
// CHECK: @tgt_scales_first: equivalent to @src;
mirage_kernel.graph @tgt_scales_first(%x: tensor<4x8xi8>, %w: tensor<8x8xi8>, %sx: tensor<4x1xf32>, %sw: tensor<8xf32>) -> tensor<4x8xf32> attributes {source = @src} {
  %p = matmul %x, %w : tensor<4x8xi8>, tensor<8x8xi8>
  %f = cast %p : tensor<4x8xi32> -> tensor<4x8xf32>
  %s = mul %sx, %sw : tensor<4x1xf32>, tensor<8xf32>
  %y = mul %f, %s : tensor<4x8xf32>, tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// As numbers of f16, which every i8 is.
// CHECK: @tgt_numbers: equivalent to @src;
mirage_kernel.graph @tgt_numbers(%x: tensor<4x8xi8>, %w: tensor<8x8xi8>, %sx: tensor<4x1xf32>, %sw: tensor<8xf32>) -> tensor<4x8xf32> attributes {source = @src} {
  %a = cast %x : tensor<4x8xi8> -> tensor<4x8xf16>
  %b = cast %w : tensor<8x8xi8> -> tensor<8x8xf16>
  %f = matmul %a, %b : tensor<4x8xf16>, tensor<8x8xf16> -> tensor<4x8xf32>
  %c = mul %f, %sx : tensor<4x8xf32>, tensor<4x1xf32>
  %y = mul %c, %sw : tensor<4x8xf32>, tensor<8xf32>
  return %y : tensor<4x8xf32>
}

// In a block: the sum is i32 up to the end of the loop.
// CHECK: @tgt_block: equivalent to @src;
mirage_kernel.graph @tgt_block(%x: tensor<4x8xi8>, %w: tensor<8x8xi8>, %sx: tensor<4x1xf32>, %sw: tensor<8xf32>) -> tensor<4x8xf32> attributes {source = @src} {
  %y = custom (%xk = %x, %wk = %w, %sxk = %sx, %swk = %sw) outs(%yk) grid [2] : (tensor<4x8xi8>, tensor<8x8xi8>, tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x4xi32>
    %a = loop 2 (%c = %zero sum) : !mirage_block.tile<4x4xi32> {
      %xt = load %xk {loop = [1]} : tensor<4x8xi8> -> !mirage_block.tile<4x4xi8>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x8xi8> -> !mirage_block.tile<4x4xi8>
      %p = matmul %xt, %wt : !mirage_block.tile<4x4xi8>, !mirage_block.tile<4x4xi8>
      yield %p : !mirage_block.tile<4x4xi32>
    }
    %f = cast %a : !mirage_block.tile<4x4xi32> -> !mirage_block.tile<4x4xf32>
    %u = load %sxk : tensor<4x1xf32> -> !mirage_block.tile<4x1xf32>
    %v = load %swk {grid = [0]} : tensor<8xf32> -> !mirage_block.tile<4xf32>
    %m = mul %f, %u : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>
    %n = mul %m, %v : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4xf32>
    store %n, %yk {grid = [1]} : !mirage_block.tile<4x4xf32>, tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// Each part a number, and numbers added.
// CHECK: @tgt_cast_in_loop: equivalent to @src;
mirage_kernel.graph @tgt_cast_in_loop(%x: tensor<4x8xi8>, %w: tensor<8x8xi8>, %sx: tensor<4x1xf32>, %sw: tensor<8xf32>) -> tensor<4x8xf32> attributes {source = @src} {
  %y = custom (%xk = %x, %wk = %w, %sxk = %sx, %swk = %sw) outs(%yk) grid [2] : (tensor<4x8xi8>, tensor<8x8xi8>, tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x4xf32>
    %f = loop 2 (%c = %zero sum) : !mirage_block.tile<4x4xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x8xi8> -> !mirage_block.tile<4x4xi8>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x8xi8> -> !mirage_block.tile<4x4xi8>
      %p = matmul %xt, %wt : !mirage_block.tile<4x4xi8>, !mirage_block.tile<4x4xi8>
      %q = cast %p : !mirage_block.tile<4x4xi32> -> !mirage_block.tile<4x4xf32>
      yield %q : !mirage_block.tile<4x4xf32>
    }
    %u = load %sxk : tensor<4x1xf32> -> !mirage_block.tile<4x1xf32>
    %v = load %swk {grid = [0]} : tensor<8xf32> -> !mirage_block.tile<4xf32>
    %m = mul %f, %u : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>
    %n = mul %m, %v : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4xf32>
    store %n, %yk {grid = [1]} : !mirage_block.tile<4x4xf32>, tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// The contraction split over blocks, which add integers.
// CHECK: @tgt_split: equivalent to @src;
mirage_kernel.graph @tgt_split(%x: tensor<4x8xi8>, %w: tensor<8x8xi8>, %sx: tensor<4x1xf32>, %sw: tensor<8xf32>) -> tensor<4x8xf32> attributes {source = @src} {
  %y = custom (%xk = %x, %wk = %w, %sxk = %sx, %swk = %sw) outs(%yk) grid [2, 2] : (tensor<4x8xi8>, tensor<8x8xi8>, tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32> {
    %xt = load %xk {grid = [-1, 1]} : tensor<4x8xi8> -> !mirage_block.tile<4x4xi8>
    %wt = load %wk {grid = [1, 0]} : tensor<8x8xi8> -> !mirage_block.tile<4x4xi8>
    %p = matmul %xt, %wt : !mirage_block.tile<4x4xi8>, !mirage_block.tile<4x4xi8>
    %a = grid_sum %p {axes = [1]} : !mirage_block.tile<4x4xi32>
    %f = cast %a : !mirage_block.tile<4x4xi32> -> !mirage_block.tile<4x4xf32>
    %u = load %sxk : tensor<4x1xf32> -> !mirage_block.tile<4x1xf32>
    %v = load %swk {grid = [0]} : tensor<8xf32> -> !mirage_block.tile<4xf32>
    %m = mul %f, %u : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>
    %n = mul %m, %v : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4xf32>
    store %n, %yk {grid = [1]} : !mirage_block.tile<4x4xf32>, tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// Turned, and turned back.
// CHECK: @tgt_turned: equivalent to @src;
mirage_kernel.graph @tgt_turned(%x: tensor<4x8xi8>, %w: tensor<8x8xi8>, %sx: tensor<4x1xf32>, %sw: tensor<8xf32>) -> tensor<4x8xf32> attributes {source = @src} {
  %p = matmul %w, %x {transpose_a, transpose_b} : tensor<8x8xi8>, tensor<4x8xi8>
  %t = transpose %p {perm = [1, 0]} : tensor<8x4xi32>
  %f = cast %t : tensor<4x8xi32> -> tensor<4x8xf32>
  %a = mul %f, %sx : tensor<4x8xf32>, tensor<4x1xf32>
  %y = mul %a, %sw : tensor<4x8xf32>, tensor<8xf32>
  return %y : tensor<4x8xf32>
}

// A scale dropped.
// CHECK: @tgt_no_row_scale: different at output
mirage_kernel.graph @tgt_no_row_scale(%x: tensor<4x8xi8>, %w: tensor<8x8xi8>, %sx: tensor<4x1xf32>, %sw: tensor<8xf32>) -> tensor<4x8xf32> attributes {source = @src} {
  %p = matmul %x, %w : tensor<4x8xi8>, tensor<8x8xi8>
  %f = cast %p : tensor<4x8xi32> -> tensor<4x8xf32>
  %y = mul %f, %sw : tensor<4x8xf32>, tensor<8xf32>
  return %y : tensor<4x8xf32>
}

// The other one dropped.
// CHECK: @tgt_no_column_scale: different at output
mirage_kernel.graph @tgt_no_column_scale(%x: tensor<4x8xi8>, %w: tensor<8x8xi8>, %sx: tensor<4x1xf32>, %sw: tensor<8xf32>) -> tensor<4x8xf32> attributes {source = @src} {
  %p = matmul %x, %w : tensor<4x8xi8>, tensor<8x8xi8>
  %f = cast %p : tensor<4x8xi32> -> tensor<4x8xf32>
  %y = mul %f, %sx : tensor<4x8xf32>, tensor<4x1xf32>
  return %y : tensor<4x8xf32>
}

// One of them twice.
// CHECK: @tgt_twice: different at output
mirage_kernel.graph @tgt_twice(%x: tensor<4x8xi8>, %w: tensor<8x8xi8>, %sx: tensor<4x1xf32>, %sw: tensor<8xf32>) -> tensor<4x8xf32> attributes {source = @src} {
  %p = matmul %x, %w : tensor<4x8xi8>, tensor<8x8xi8>
  %f = cast %p : tensor<4x8xi32> -> tensor<4x8xf32>
  %a = mul %f, %sx : tensor<4x8xf32>, tensor<4x1xf32>
  %b = mul %a, %sx : tensor<4x8xf32>, tensor<4x1xf32>
  %y = mul %b, %sw : tensor<4x8xf32>, tensor<8xf32>
  return %y : tensor<4x8xf32>
}

// The weight transposed.
// CHECK: @tgt_transposed: different at output
mirage_kernel.graph @tgt_transposed(%x: tensor<4x8xi8>, %w: tensor<8x8xi8>, %sx: tensor<4x1xf32>, %sw: tensor<8xf32>) -> tensor<4x8xf32> attributes {source = @src} {
  %p = matmul %x, %w {transpose_b} : tensor<4x8xi8>, tensor<8x8xi8>
  %f = cast %p : tensor<4x8xi32> -> tensor<4x8xf32>
  %a = mul %f, %sx : tensor<4x8xf32>, tensor<4x1xf32>
  %y = mul %a, %sw : tensor<4x8xf32>, tensor<8xf32>
  return %y : tensor<4x8xf32>
}

// A sum that saturates, at what 16 bits hold.
// CHECK: @tgt_saturates: different at output
mirage_kernel.graph @tgt_saturates(%x: tensor<4x8xi8>, %w: tensor<8x8xi8>, %sx: tensor<4x1xf32>, %sw: tensor<8xf32>) -> tensor<4x8xf32> attributes {source = @src} {
  %p = matmul %x, %w : tensor<4x8xi8>, tensor<8x8xi8>
  %f = cast %p : tensor<4x8xi32> -> tensor<4x8xf32>
  %most = constant 32767.0 : tensor<1xf32>
  %g = min %f, %most : tensor<4x8xf32>, tensor<1xf32>
  %a = mul %g, %sx : tensor<4x8xf32>, tensor<4x1xf32>
  %y = mul %a, %sw : tensor<4x8xf32>, tensor<8xf32>
  return %y : tensor<4x8xf32>
}

// A zero point that nobody asked for.
// CHECK: @tgt_zero_point: different at output
mirage_kernel.graph @tgt_zero_point(%x: tensor<4x8xi8>, %w: tensor<8x8xi8>, %sx: tensor<4x1xf32>, %sw: tensor<8xf32>) -> tensor<4x8xf32> attributes {source = @src} {
  %p = matmul %x, %w : tensor<4x8xi8>, tensor<8x8xi8>
  %f = cast %p : tensor<4x8xi32> -> tensor<4x8xf32>
  %one = constant 1.0 : tensor<1xf32>
  %g = sub %f, %one : tensor<4x8xf32>, tensor<1xf32>
  %a = mul %g, %sx : tensor<4x8xf32>, tensor<4x1xf32>
  %y = mul %a, %sw : tensor<4x8xf32>, tensor<8xf32>
  return %y : tensor<4x8xf32>
}

// Divided by a scale.
// CHECK: @tgt_divided: different at output
mirage_kernel.graph @tgt_divided(%x: tensor<4x8xi8>, %w: tensor<8x8xi8>, %sx: tensor<4x1xf32>, %sw: tensor<8xf32>) -> tensor<4x8xf32> attributes {source = @src} {
  %p = matmul %x, %w : tensor<4x8xi8>, tensor<8x8xi8>
  %f = cast %p : tensor<4x8xi32> -> tensor<4x8xf32>
  %a = div %f, %sx : tensor<4x8xf32>, tensor<4x1xf32>
  %y = mul %a, %sw : tensor<4x8xf32>, tensor<8xf32>
  return %y : tensor<4x8xf32>
}

// A scale added.
// CHECK: @tgt_added: different at output
mirage_kernel.graph @tgt_added(%x: tensor<4x8xi8>, %w: tensor<8x8xi8>, %sx: tensor<4x1xf32>, %sw: tensor<8xf32>) -> tensor<4x8xf32> attributes {source = @src} {
  %p = matmul %x, %w : tensor<4x8xi8>, tensor<8x8xi8>
  %f = cast %p : tensor<4x8xi32> -> tensor<4x8xf32>
  %a = mul %f, %sx : tensor<4x8xf32>, tensor<4x1xf32>
  %y = add %a, %sw : tensor<4x8xf32>, tensor<8xf32>
  return %y : tensor<4x8xf32>
}

// The same tile of x in each iteration.
// CHECK: @tgt_same_tile: different at output
mirage_kernel.graph @tgt_same_tile(%x: tensor<4x8xi8>, %w: tensor<8x8xi8>, %sx: tensor<4x1xf32>, %sw: tensor<8xf32>) -> tensor<4x8xf32> attributes {source = @src} {
  %y = custom (%xk = %x, %wk = %w, %sxk = %sx, %swk = %sw) outs(%yk) grid [2] : (tensor<4x8xi8>, tensor<8x8xi8>, tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x4xi32>
    %a = loop 2 (%c = %zero sum) : !mirage_block.tile<4x4xi32> {
      %xw = load %xk : tensor<4x8xi8> -> !mirage_block.tile<4x8xi8>
      %xt = slice %xw {dim = 1, begin = 0, end = 4} : !mirage_block.tile<4x8xi8>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x8xi8> -> !mirage_block.tile<4x4xi8>
      %p = matmul %xt, %wt : !mirage_block.tile<4x4xi8>, !mirage_block.tile<4x4xi8>
      yield %p : !mirage_block.tile<4x4xi32>
    }
    %f = cast %a : !mirage_block.tile<4x4xi32> -> !mirage_block.tile<4x4xf32>
    %u = load %sxk : tensor<4x1xf32> -> !mirage_block.tile<4x1xf32>
    %v = load %swk {grid = [0]} : tensor<8xf32> -> !mirage_block.tile<4xf32>
    %m = mul %f, %u : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>
    %n = mul %m, %v : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4xf32>
    store %n, %yk {grid = [1]} : !mirage_block.tile<4x4xf32>, tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// A sum that begins with 1.
// CHECK: @tgt_begins_with_one: different at output
mirage_kernel.graph @tgt_begins_with_one(%x: tensor<4x8xi8>, %w: tensor<8x8xi8>, %sx: tensor<4x1xf32>, %sw: tensor<8xf32>) -> tensor<4x8xf32> attributes {source = @src} {
  %y = custom (%xk = %x, %wk = %w, %sxk = %sx, %swk = %sw) outs(%yk) grid [2] : (tensor<4x8xi8>, tensor<8x8xi8>, tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32> {
    %zero = constant 1.0 : !mirage_block.tile<4x4xi32>
    %a = loop 2 (%c = %zero sum) : !mirage_block.tile<4x4xi32> {
      %xt = load %xk {loop = [1]} : tensor<4x8xi8> -> !mirage_block.tile<4x4xi8>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x8xi8> -> !mirage_block.tile<4x4xi8>
      %p = matmul %xt, %wt : !mirage_block.tile<4x4xi8>, !mirage_block.tile<4x4xi8>
      yield %p : !mirage_block.tile<4x4xi32>
    }
    %f = cast %a : !mirage_block.tile<4x4xi32> -> !mirage_block.tile<4x4xf32>
    %u = load %sxk : tensor<4x1xf32> -> !mirage_block.tile<4x1xf32>
    %v = load %swk {grid = [0]} : tensor<8xf32> -> !mirage_block.tile<4xf32>
    %m = mul %f, %u : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>
    %n = mul %m, %v : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4xf32>
    store %n, %yk {grid = [1]} : !mirage_block.tile<4x4xf32>, tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// The contraction split over blocks, which forget to add.
// CHECK: @tgt_not_added: unsupported: store: blocks {{.*}} store different values
mirage_kernel.graph @tgt_not_added(%x: tensor<4x8xi8>, %w: tensor<8x8xi8>, %sx: tensor<4x1xf32>, %sw: tensor<8xf32>) -> tensor<4x8xf32> attributes {source = @src} {
  %y = custom (%xk = %x, %wk = %w, %sxk = %sx, %swk = %sw) outs(%yk) grid [2, 2] : (tensor<4x8xi8>, tensor<8x8xi8>, tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32> {
    %xt = load %xk {grid = [-1, 1]} : tensor<4x8xi8> -> !mirage_block.tile<4x4xi8>
    %wt = load %wk {grid = [1, 0]} : tensor<8x8xi8> -> !mirage_block.tile<4x4xi8>
    %p = matmul %xt, %wt : !mirage_block.tile<4x4xi8>, !mirage_block.tile<4x4xi8>
    %f = cast %p : !mirage_block.tile<4x4xi32> -> !mirage_block.tile<4x4xf32>
    %u = load %sxk : tensor<4x1xf32> -> !mirage_block.tile<4x1xf32>
    %v = load %swk {grid = [0]} : tensor<8xf32> -> !mirage_block.tile<4xf32>
    %m = mul %f, %u : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>
    %n = mul %m, %v : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4xf32>
    store %n, %yk {grid = [1]} : !mirage_block.tile<4x4xf32>, tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// Blocks that all have the whole sum add it up.
// CHECK: @tgt_added_twice: different at output
mirage_kernel.graph @tgt_added_twice(%x: tensor<4x8xi8>, %w: tensor<8x8xi8>, %sx: tensor<4x1xf32>, %sw: tensor<8xf32>) -> tensor<4x8xf32> attributes {source = @src} {
  %y = custom (%xk = %x, %wk = %w, %sxk = %sx, %swk = %sw) outs(%yk) grid [2, 2] : (tensor<4x8xi8>, tensor<8x8xi8>, tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x4xi32>
    %a = loop 2 (%c = %zero sum) : !mirage_block.tile<4x4xi32> {
      %xt = load %xk {loop = [1]} : tensor<4x8xi8> -> !mirage_block.tile<4x4xi8>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x8xi8> -> !mirage_block.tile<4x4xi8>
      %p = matmul %xt, %wt : !mirage_block.tile<4x4xi8>, !mirage_block.tile<4x4xi8>
      yield %p : !mirage_block.tile<4x4xi32>
    }
    %b = grid_sum %a {axes = [1]} : !mirage_block.tile<4x4xi32>
    %f = cast %b : !mirage_block.tile<4x4xi32> -> !mirage_block.tile<4x4xf32>
    %u = load %sxk : tensor<4x1xf32> -> !mirage_block.tile<4x1xf32>
    %v = load %swk {grid = [0]} : tensor<8xf32> -> !mirage_block.tile<4xf32>
    %m = mul %f, %u : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>
    %n = mul %m, %v : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4xf32>
    store %n, %yk {grid = [1]} : !mirage_block.tile<4x4xf32>, tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// Another block's columns.
// CHECK: @tgt_columns: different at output
mirage_kernel.graph @tgt_columns(%x: tensor<4x8xi8>, %w: tensor<8x8xi8>, %sx: tensor<4x1xf32>, %sw: tensor<8xf32>) -> tensor<4x8xf32> attributes {source = @src} {
  %y = custom (%xk = %x, %wk = %w, %sxk = %sx, %swk = %sw) outs(%yk) grid [2] : (tensor<4x8xi8>, tensor<8x8xi8>, tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x4xi32>
    %a = loop 2 (%c = %zero sum) : !mirage_block.tile<4x4xi32> {
      %xt = load %xk {loop = [1]} : tensor<4x8xi8> -> !mirage_block.tile<4x4xi8>
      %wt = load %wk {loop = [0], grid = [1]} : tensor<8x8xi8> -> !mirage_block.tile<4x4xi8>
      %p = matmul %xt, %wt : !mirage_block.tile<4x4xi8>, !mirage_block.tile<4x4xi8>
      yield %p : !mirage_block.tile<4x4xi32>
    }
    %f = cast %a : !mirage_block.tile<4x4xi32> -> !mirage_block.tile<4x4xf32>
    %u = load %sxk : tensor<4x1xf32> -> !mirage_block.tile<4x1xf32>
    %v = load %swk : tensor<8xf32> -> !mirage_block.tile<8xf32>
    %vv = slice %v {dim = 0, begin = 0, end = 4} : !mirage_block.tile<8xf32>
    %m = mul %f, %u : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x1xf32>
    %n = mul %m, %vv : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4xf32>
    store %n, %yk {grid = [1]} : !mirage_block.tile<4x4xf32>, tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

mirage_kernel.graph @src_f8(%x: tensor<4x8xf8E4M3FN>, %w: tensor<6x8xf8E5M2>, %s: tensor<6xf32>) -> tensor<4x6xf16> {
  %p = matmul %x, %w {transpose_b} : tensor<4x8xf8E4M3FN>, tensor<6x8xf8E5M2>
  %a = mul %p, %s : tensor<4x6xf32>, tensor<6xf32>
  %y = cast %a : tensor<4x6xf32> -> tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// As f16, and rounded sooner.
// CHECK: @tgt_f8_halves: equivalent to @src_f8;
mirage_kernel.graph @tgt_f8_halves(%x: tensor<4x8xf8E4M3FN>, %w: tensor<6x8xf8E5M2>, %s: tensor<6xf32>) -> tensor<4x6xf16> attributes {source = @src_f8} {
  %a = cast %x : tensor<4x8xf8E4M3FN> -> tensor<4x8xf16>
  %b = cast %w : tensor<6x8xf8E5M2> -> tensor<6x8xf16>
  %p = matmul %a, %b {transpose_b} : tensor<4x8xf16>, tensor<6x8xf16>
  %q = mul %p, %s : tensor<4x6xf16>, tensor<6xf32>
  %y = cast %q : tensor<4x6xf32> -> tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// The scale in the weights.
// CHECK: @tgt_f8_weights: equivalent to @src_f8;
mirage_kernel.graph @tgt_f8_weights(%x: tensor<4x8xf8E4M3FN>, %w: tensor<6x8xf8E5M2>, %s: tensor<6xf32>) -> tensor<4x6xf16> attributes {source = @src_f8} {
  %b = cast %w : tensor<6x8xf8E5M2> -> tensor<6x8xf32>
  %c = reshape %s : tensor<6xf32> -> tensor<6x1xf32>
  %d = mul %b, %c : tensor<6x8xf32>, tensor<6x1xf32>
  %a = cast %x : tensor<4x8xf8E4M3FN> -> tensor<4x8xf32>
  %p = matmul %a, %d {transpose_b} : tensor<4x8xf32>, tensor<6x8xf32>
  %y = cast %p : tensor<4x6xf32> -> tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// Without it.
// CHECK: @tgt_f8_dropped: different at output
mirage_kernel.graph @tgt_f8_dropped(%x: tensor<4x8xf8E4M3FN>, %w: tensor<6x8xf8E5M2>, %s: tensor<6xf32>) -> tensor<4x6xf16> attributes {source = @src_f8} {
  %p = matmul %x, %w {transpose_b} : tensor<4x8xf8E4M3FN>, tensor<6x8xf8E5M2>
  %y = cast %p : tensor<4x6xf32> -> tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// Its square.
// CHECK: @tgt_f8_squared: different at output
mirage_kernel.graph @tgt_f8_squared(%x: tensor<4x8xf8E4M3FN>, %w: tensor<6x8xf8E5M2>, %s: tensor<6xf32>) -> tensor<4x6xf16> attributes {source = @src_f8} {
  %p = matmul %x, %w {transpose_b} : tensor<4x8xf8E4M3FN>, tensor<6x8xf8E5M2>
  %t = square %s : tensor<6xf32>
  %a = mul %p, %t : tensor<4x6xf32>, tensor<6xf32>
  %y = cast %a : tensor<4x6xf32> -> tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// A one added to each sum.
// CHECK: @tgt_f8_added: different at output
mirage_kernel.graph @tgt_f8_added(%x: tensor<4x8xf8E4M3FN>, %w: tensor<6x8xf8E5M2>, %s: tensor<6xf32>) -> tensor<4x6xf16> attributes {source = @src_f8} {
  %p = matmul %x, %w {transpose_b} : tensor<4x8xf8E4M3FN>, tensor<6x8xf8E5M2>
  %c = constant 1.0 : tensor<1xf32>
  %q = add %p, %c : tensor<4x6xf32>, tensor<1xf32>
  %a = mul %q, %s : tensor<4x6xf32>, tensor<6xf32>
  %y = cast %a : tensor<4x6xf32> -> tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}
