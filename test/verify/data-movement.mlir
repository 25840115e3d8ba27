// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// Reshape, transpose, slice, concat, repeat, broadcast: what goes where.

mirage_kernel.graph @src_repeat(%x: tensor<2x3xf16>) -> tensor<4x3xf16> {
  %y = repeat %x {dim = 0, times = 2} : tensor<2x3xf16>
  return %y : tensor<4x3xf16>
}

// The whole, twice.
// CHECK: @tgt_repeat_concat: equivalent to @src_repeat;
mirage_kernel.graph @tgt_repeat_concat(%x: tensor<2x3xf16>) -> tensor<4x3xf16> attributes {source = @src_repeat} {
  %y = concat %x, %x {dim = 0} : tensor<2x3xf16>, tensor<2x3xf16>
  return %y : tensor<4x3xf16>
}

// A new leading dimension, merged.
// CHECK: @tgt_repeat_broadcast: equivalent to @src_repeat;
mirage_kernel.graph @tgt_repeat_broadcast(%x: tensor<2x3xf16>) -> tensor<4x3xf16> attributes {source = @src_repeat} {
  %r = reshape %x : tensor<2x3xf16> -> tensor<1x2x3xf16>
  %b = broadcast %r : tensor<1x2x3xf16> -> tensor<2x2x3xf16>
  %y = reshape %b : tensor<2x2x3xf16> -> tensor<4x3xf16>
  return %y : tensor<4x3xf16>
}

// Each row twice: the grouped-query trap.
// CHECK: @tgt_repeat_interleaved: different at output
mirage_kernel.graph @tgt_repeat_interleaved(%x: tensor<2x3xf16>) -> tensor<4x3xf16> attributes {source = @src_repeat} {
  %r = reshape %x : tensor<2x3xf16> -> tensor<2x1x3xf16>
  %b = broadcast %r : tensor<2x1x3xf16> -> tensor<2x2x3xf16>
  %y = reshape %b : tensor<2x2x3xf16> -> tensor<4x3xf16>
  return %y : tensor<4x3xf16>
}

// The first row four times.
// CHECK: @tgt_repeat_one_row: different at output
mirage_kernel.graph @tgt_repeat_one_row(%x: tensor<2x3xf16>) -> tensor<4x3xf16> attributes {source = @src_repeat} {
  %a = slice %x {dim = 0, begin = 0, end = 1} : tensor<2x3xf16>
  %y = repeat %a {dim = 0, times = 4} : tensor<1x3xf16>
  return %y : tensor<4x3xf16>
}

// The second copy upside down.
// CHECK: @tgt_repeat_order: different at output
mirage_kernel.graph @tgt_repeat_order(%x: tensor<2x3xf16>) -> tensor<4x3xf16> attributes {source = @src_repeat} {
  %a = slice %x {dim = 0, begin = 0, end = 1} : tensor<2x3xf16>
  %b = slice %x {dim = 0, begin = 1, end = 2} : tensor<2x3xf16>
  %y = concat %a, %b, %b, %a {dim = 0} : tensor<1x3xf16>, tensor<1x3xf16>, tensor<1x3xf16>, tensor<1x3xf16>
  return %y : tensor<4x3xf16>
}

mirage_kernel.graph @src_transpose(%x: tensor<4x6xf16>) -> tensor<6x4xf16> {
  %y = transpose %x {perm = [1, 0]} : tensor<4x6xf16>
  return %y : tensor<6x4xf16>
}

// Tile by tile.
// CHECK: @tgt_transpose_tiles: equivalent to @src_transpose;
mirage_kernel.graph @tgt_transpose_tiles(%x: tensor<4x6xf16>) -> tensor<6x4xf16> attributes {source = @src_transpose} {
  %y = custom (%xk = %x) outs(%yk) grid [2, 3] : (tensor<4x6xf16>) -> tensor<6x4xf16> {
    %xt = load %xk {grid = [0, 1]} : tensor<4x6xf16> -> !mirage_block.tile<2x2xf16>
    %t = transpose %xt {perm = [1, 0]} : !mirage_block.tile<2x2xf16>
    store %t, %yk {grid = [1, 0]} : !mirage_block.tile<2x2xf16>, tensor<6x4xf16>
  }
  return %y : tensor<6x4xf16>
}

// Three times.
// CHECK: @tgt_transpose_thrice: equivalent to @src_transpose;
mirage_kernel.graph @tgt_transpose_thrice(%x: tensor<4x6xf16>) -> tensor<6x4xf16> attributes {source = @src_transpose} {
  %a = transpose %x {perm = [1, 0]} : tensor<4x6xf16>
  %b = transpose %a {perm = [1, 0]} : tensor<6x4xf16>
  %y = transpose %b {perm = [1, 0]} : tensor<4x6xf16>
  return %y : tensor<6x4xf16>
}

// A reshape is no transpose.
// CHECK: @tgt_transpose_reshape: different at output
mirage_kernel.graph @tgt_transpose_reshape(%x: tensor<4x6xf16>) -> tensor<6x4xf16> attributes {source = @src_transpose} {
  %y = reshape %x : tensor<4x6xf16> -> tensor<6x4xf16>
  return %y : tensor<6x4xf16>
}

// The tiles are transposed, their places are those of a reshape.
// CHECK: @tgt_transpose_inside_only: different at output
mirage_kernel.graph @tgt_transpose_inside_only(%x: tensor<4x6xf16>) -> tensor<6x4xf16> attributes {source = @src_transpose} {
  %r = reshape %x : tensor<4x6xf16> -> tensor<6x4xf16>
  %y = custom (%rk = %r) outs(%yk) grid [2, 3] : (tensor<6x4xf16>) -> tensor<6x4xf16> {
    %xt = load %rk {grid = [1, 0]} : tensor<6x4xf16> -> !mirage_block.tile<2x2xf16>
    store %xt, %yk {grid = [1, 0]} : !mirage_block.tile<2x2xf16>, tensor<6x4xf16>
  }
  return %y : tensor<6x4xf16>
}

mirage_kernel.graph @src_cat(%a: tensor<2x4xf16>, %b: tensor<2x4xf16>, %c: tensor<2x4xf16>) -> tensor<2x12xf16> {
  %y = concat %a, %b, %c {dim = 1} : tensor<2x4xf16>, tensor<2x4xf16>, tensor<2x4xf16>
  return %y : tensor<2x12xf16>
}

// Pairwise.
// CHECK: @tgt_cat_nested: equivalent to @src_cat;
mirage_kernel.graph @tgt_cat_nested(%a: tensor<2x4xf16>, %b: tensor<2x4xf16>, %c: tensor<2x4xf16>) -> tensor<2x12xf16> attributes {source = @src_cat} {
  %t = concat %b, %c {dim = 1} : tensor<2x4xf16>, tensor<2x4xf16>
  %y = concat %a, %t {dim = 1} : tensor<2x4xf16>, tensor<2x8xf16>
  return %y : tensor<2x12xf16>
}

// Cut and joined.
// CHECK: @tgt_cat_halves: equivalent to @src_cat;
mirage_kernel.graph @tgt_cat_halves(%a: tensor<2x4xf16>, %b: tensor<2x4xf16>, %c: tensor<2x4xf16>) -> tensor<2x12xf16> attributes {source = @src_cat} {
  %l = slice %b {dim = 1, begin = 0, end = 2} : tensor<2x4xf16>
  %r = slice %b {dim = 1, begin = 2, end = 4} : tensor<2x4xf16>
  %y = concat %a, %l, %r, %c {dim = 1} : tensor<2x4xf16>, tensor<2x2xf16>, tensor<2x2xf16>, tensor<2x4xf16>
  return %y : tensor<2x12xf16>
}

// b and c change places.
// CHECK: @tgt_cat_order: different at output
mirage_kernel.graph @tgt_cat_order(%a: tensor<2x4xf16>, %b: tensor<2x4xf16>, %c: tensor<2x4xf16>) -> tensor<2x12xf16> attributes {source = @src_cat} {
  %y = concat %a, %c, %b {dim = 1} : tensor<2x4xf16>, tensor<2x4xf16>, tensor<2x4xf16>
  return %y : tensor<2x12xf16>
}

// Along the other dimension, reshaped.
// CHECK: @tgt_cat_dim: different at output
mirage_kernel.graph @tgt_cat_dim(%a: tensor<2x4xf16>, %b: tensor<2x4xf16>, %c: tensor<2x4xf16>) -> tensor<2x12xf16> attributes {source = @src_cat} {
  %t = concat %a, %b, %c {dim = 0} : tensor<2x4xf16>, tensor<2x4xf16>, tensor<2x4xf16>
  %y = reshape %t : tensor<6x4xf16> -> tensor<2x12xf16>
  return %y : tensor<2x12xf16>
}

// c comes twice, b not at all.
// CHECK: @tgt_cat_twice: different at output
mirage_kernel.graph @tgt_cat_twice(%a: tensor<2x4xf16>, %b: tensor<2x4xf16>, %c: tensor<2x4xf16>) -> tensor<2x12xf16> attributes {source = @src_cat} {
  %y = concat %a, %c, %c {dim = 1} : tensor<2x4xf16>, tensor<2x4xf16>, tensor<2x4xf16>
  return %y : tensor<2x12xf16>
}

mirage_kernel.graph @src_slice(%x: tensor<2x8xf16>) -> tensor<2x4xf16> {
  %y = slice %x {dim = 1, begin = 2, end = 6} : tensor<2x8xf16>
  return %y : tensor<2x4xf16>
}

// In two steps.
// CHECK: @tgt_slice_twice: equivalent to @src_slice;
mirage_kernel.graph @tgt_slice_twice(%x: tensor<2x8xf16>) -> tensor<2x4xf16> attributes {source = @src_slice} {
  %a = slice %x {dim = 1, begin = 1, end = 7} : tensor<2x8xf16>
  %y = slice %a {dim = 1, begin = 1, end = 5} : tensor<2x6xf16>
  return %y : tensor<2x4xf16>
}

// One further.
// CHECK: @tgt_slice_off_by_one: different at output
mirage_kernel.graph @tgt_slice_off_by_one(%x: tensor<2x8xf16>) -> tensor<2x4xf16> attributes {source = @src_slice} {
  %y = slice %x {dim = 1, begin = 3, end = 7} : tensor<2x8xf16>
  return %y : tensor<2x4xf16>
}

// The second step counts from the wrong origin.
// CHECK: @tgt_slice_relative: different at output
mirage_kernel.graph @tgt_slice_relative(%x: tensor<2x8xf16>) -> tensor<2x4xf16> attributes {source = @src_slice} {
  %a = slice %x {dim = 1, begin = 1, end = 7} : tensor<2x8xf16>
  %y = slice %a {dim = 1, begin = 2, end = 6} : tensor<2x6xf16>
  return %y : tensor<2x4xf16>
}

mirage_kernel.graph @src_merge(%x: tensor<2x3x4xf16>) -> tensor<6x4xf16> {
  %y = reshape %x : tensor<2x3x4xf16> -> tensor<6x4xf16>
  return %y : tensor<6x4xf16>
}

// A row of the first dimension a block.
// CHECK: @tgt_merge_rows: equivalent to @src_merge;
mirage_kernel.graph @tgt_merge_rows(%x: tensor<2x3x4xf16>) -> tensor<6x4xf16> attributes {source = @src_merge} {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<2x3x4xf16>) -> tensor<6x4xf16> {
    %xt = load %xk {grid = [0]} : tensor<2x3x4xf16> -> !mirage_block.tile<1x3x4xf16>
    %r = reshape %xt : !mirage_block.tile<1x3x4xf16> -> !mirage_block.tile<3x4xf16>
    store %r, %yk {grid = [0]} : !mirage_block.tile<3x4xf16>, tensor<6x4xf16>
  }
  return %y : tensor<6x4xf16>
}

// The first two dimensions change places before.
// CHECK: @tgt_merge_transposed_first: different at output
mirage_kernel.graph @tgt_merge_transposed_first(%x: tensor<2x3x4xf16>) -> tensor<6x4xf16> attributes {source = @src_merge} {
  %t = transpose %x {perm = [1, 0, 2]} : tensor<2x3x4xf16>
  %y = reshape %t : tensor<3x2x4xf16> -> tensor<6x4xf16>
  return %y : tensor<6x4xf16>
}

mirage_kernel.graph @src_bias(%x: tensor<4x4xf16>, %b: tensor<4xf16>) -> tensor<4x4xf16> {
  %y = add %x, %b : tensor<4x4xf16>, tensor<4xf16>
  return %y : tensor<4x4xf16>
}

// Broadcast explicitly.
// CHECK: @tgt_bias_rows: equivalent to @src_bias;
mirage_kernel.graph @tgt_bias_rows(%x: tensor<4x4xf16>, %b: tensor<4xf16>) -> tensor<4x4xf16> attributes {source = @src_bias} {
  %c = broadcast %b : tensor<4xf16> -> tensor<4x4xf16>
  %y = add %x, %c : tensor<4x4xf16>, tensor<4x4xf16>
  return %y : tensor<4x4xf16>
}

// Along the other dimension.
// CHECK: @tgt_bias_columns: different at output
mirage_kernel.graph @tgt_bias_columns(%x: tensor<4x4xf16>, %b: tensor<4xf16>) -> tensor<4x4xf16> attributes {source = @src_bias} {
  %c = reshape %b : tensor<4xf16> -> tensor<4x1xf16>
  %y = add %x, %c : tensor<4x4xf16>, tensor<4x1xf16>
  return %y : tensor<4x4xf16>
}

mirage_kernel.graph @src_windows(%x: tensor<2x12xf16>, %c: tensor<2x6xf16>) -> tensor<2x12xf16> {
  %a = slice %x {dim = 1, begin = 0, end = 6} : tensor<2x12xf16>
  %b = slice %x {dim = 1, begin = 6, end = 12} : tensor<2x12xf16>
  %u = mul %a, %c : tensor<2x6xf16>, tensor<2x6xf16>
  %v = sub %b, %c : tensor<2x6xf16>, tensor<2x6xf16>
  %y = concat %u, %v {dim = 1} : tensor<2x6xf16>, tensor<2x6xf16>
  return %y : tensor<2x12xf16>
}

// Both halves where they lie.
// CHECK: @tgt_windows_halves: equivalent to @src_windows;
mirage_kernel.graph @tgt_windows_halves(%x: tensor<2x12xf16>, %c: tensor<2x6xf16>) -> tensor<2x12xf16> attributes {source = @src_windows} {
  %y = custom (%xk = %x, %ck = %c) outs(%yk) grid [2] : (tensor<2x12xf16>, tensor<2x6xf16>) -> tensor<2x12xf16> {
    %a = load %xk {grid = [1], begin = [0, 0], end = [0, 6]} : tensor<2x12xf16> -> !mirage_block.tile<2x3xf16>
    %b = load %xk {grid = [1], begin = [0, 6], end = [0, 12]} : tensor<2x12xf16> -> !mirage_block.tile<2x3xf16>
    %ct = load %ck {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %u = mul %a, %ct : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf16>
    %v = sub %b, %ct : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf16>
    store %u, %yk {grid = [1], begin = [0, 0], end = [0, 6]} : !mirage_block.tile<2x3xf32>, tensor<2x12xf16>
    store %v, %yk {grid = [1], begin = [0, 6], end = [0, 12]} : !mirage_block.tile<2x3xf32>, tensor<2x12xf16>
  }
  return %y : tensor<2x12xf16>
}

// The second half is multiplied.
// CHECK: @tgt_windows_loads_swapped: different at output
mirage_kernel.graph @tgt_windows_loads_swapped(%x: tensor<2x12xf16>, %c: tensor<2x6xf16>) -> tensor<2x12xf16> attributes {source = @src_windows} {
  %y = custom (%xk = %x, %ck = %c) outs(%yk) grid [2] : (tensor<2x12xf16>, tensor<2x6xf16>) -> tensor<2x12xf16> {
    %a = load %xk {grid = [1], begin = [0, 6], end = [0, 12]} : tensor<2x12xf16> -> !mirage_block.tile<2x3xf16>
    %b = load %xk {grid = [1], begin = [0, 0], end = [0, 6]} : tensor<2x12xf16> -> !mirage_block.tile<2x3xf16>
    %ct = load %ck {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %u = mul %a, %ct : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf16>
    %v = sub %b, %ct : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf16>
    store %u, %yk {grid = [1], begin = [0, 0], end = [0, 6]} : !mirage_block.tile<2x3xf32>, tensor<2x12xf16>
    store %v, %yk {grid = [1], begin = [0, 6], end = [0, 12]} : !mirage_block.tile<2x3xf32>, tensor<2x12xf16>
  }
  return %y : tensor<2x12xf16>
}

// The halves of the result change places.
// CHECK: @tgt_windows_stores_swapped: different at output
mirage_kernel.graph @tgt_windows_stores_swapped(%x: tensor<2x12xf16>, %c: tensor<2x6xf16>) -> tensor<2x12xf16> attributes {source = @src_windows} {
  %y = custom (%xk = %x, %ck = %c) outs(%yk) grid [2] : (tensor<2x12xf16>, tensor<2x6xf16>) -> tensor<2x12xf16> {
    %a = load %xk {grid = [1], begin = [0, 0], end = [0, 6]} : tensor<2x12xf16> -> !mirage_block.tile<2x3xf16>
    %b = load %xk {grid = [1], begin = [0, 6], end = [0, 12]} : tensor<2x12xf16> -> !mirage_block.tile<2x3xf16>
    %ct = load %ck {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %u = mul %a, %ct : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf16>
    %v = sub %b, %ct : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf16>
    store %u, %yk {grid = [1], begin = [0, 6], end = [0, 12]} : !mirage_block.tile<2x3xf32>, tensor<2x12xf16>
    store %v, %yk {grid = [1], begin = [0, 0], end = [0, 6]} : !mirage_block.tile<2x3xf32>, tensor<2x12xf16>
  }
  return %y : tensor<2x12xf16>
}

// The second half begins one too early.
// CHECK: @tgt_windows_off_by_one: different at output
mirage_kernel.graph @tgt_windows_off_by_one(%x: tensor<2x12xf16>, %c: tensor<2x6xf16>) -> tensor<2x12xf16> attributes {source = @src_windows} {
  %y = custom (%xk = %x, %ck = %c) outs(%yk) grid [2] : (tensor<2x12xf16>, tensor<2x6xf16>) -> tensor<2x12xf16> {
    %a = load %xk {grid = [1], begin = [0, 0], end = [0, 6]} : tensor<2x12xf16> -> !mirage_block.tile<2x3xf16>
    %b = load %xk {grid = [1], begin = [0, 5], end = [0, 11]} : tensor<2x12xf16> -> !mirage_block.tile<2x3xf16>
    %ct = load %ck {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %u = mul %a, %ct : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf16>
    %v = sub %b, %ct : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf16>
    store %u, %yk {grid = [1], begin = [0, 0], end = [0, 6]} : !mirage_block.tile<2x3xf32>, tensor<2x12xf16>
    store %v, %yk {grid = [1], begin = [0, 6], end = [0, 12]} : !mirage_block.tile<2x3xf32>, tensor<2x12xf16>
  }
  return %y : tensor<2x12xf16>
}

// Two blocks write what differs, and some of it nobody writes.
// CHECK: @tgt_windows_overlap: unsupported:
mirage_kernel.graph @tgt_windows_overlap(%x: tensor<2x12xf16>, %c: tensor<2x6xf16>) -> tensor<2x12xf16> attributes {source = @src_windows} {
  %y = custom (%xk = %x, %ck = %c) outs(%yk) grid [2] : (tensor<2x12xf16>, tensor<2x6xf16>) -> tensor<2x12xf16> {
    %a = load %xk {grid = [1], begin = [0, 0], end = [0, 6]} : tensor<2x12xf16> -> !mirage_block.tile<2x3xf16>
    %b = load %xk {grid = [1], begin = [0, 6], end = [0, 12]} : tensor<2x12xf16> -> !mirage_block.tile<2x3xf16>
    %ct = load %ck {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %u = mul %a, %ct : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf16>
    %v = sub %b, %ct : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf16>
    store %u, %yk {grid = [1], begin = [0, 0], end = [0, 6]} : !mirage_block.tile<2x3xf32>, tensor<2x12xf16>
    store %v, %yk {grid = [1], begin = [0, 5], end = [0, 11]} : !mirage_block.tile<2x3xf32>, tensor<2x12xf16>
  }
  return %y : tensor<2x12xf16>
}

// Heads between rows and columns, proven by transfer from a smaller instance.
mirage_kernel.graph @src_order(%x: tensor<512x4x256xf16>) -> tensor<512x4x256xf16> {
  %t = transpose %x {perm = [1, 0, 2]} : tensor<512x4x256xf16>
  %s = reduce_sum %t {dim = 1} : tensor<4x512x256xf16>
  %u = mul %t, %s : tensor<4x512x256xf16>, tensor<4x1x256xf16>
  %y = transpose %u {perm = [1, 0, 2]} : tensor<4x512x256xf16>
  return %y : tensor<512x4x256xf16>
}

// CHECK: @tgt_order: equivalent to @src_order;
mirage_kernel.graph @tgt_order(%x: tensor<512x4x256xf16>) -> tensor<512x4x256xf16> attributes {source = @src_order} {
  %y = custom (%xk = %x) outs(%yk) grid [4, 8] : (tensor<512x4x256xf16>) -> tensor<512x4x256xf16> {
    %t = load %xk {grid = [0, 2], order = [1, 0, 2]} : tensor<512x4x256xf16> -> !mirage_block.tile<1x512x32xf16>
    %s = reduce_sum %t {dim = 1} : !mirage_block.tile<1x512x32xf16>
    %u = mul %t, %s : !mirage_block.tile<1x512x32xf16>, !mirage_block.tile<1x1x32xf32>
    store %u, %yk {grid = [0, 2], order = [1, 0, 2]} : !mirage_block.tile<1x512x32xf32>, tensor<512x4x256xf16>
  }
  return %y : tensor<512x4x256xf16>
}

mirage_kernel.graph @src_square(%x: tensor<4x4x6xf16>) -> tensor<4x4x6xf16> {
  %y = square %x : tensor<4x4x6xf16>
  return %y : tensor<4x4x6xf16>
}

// Read in one order, written in another.
// CHECK: @tgt_order_load_only: different at output
mirage_kernel.graph @tgt_order_load_only(%x: tensor<4x4x6xf16>) -> tensor<4x4x6xf16> attributes {source = @src_square} {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<4x4x6xf16>) -> tensor<4x4x6xf16> {
    %t = load %xk {grid = [0], order = [1, 0, 2]} : tensor<4x4x6xf16> -> !mirage_block.tile<2x4x6xf16>
    %s = square %t : !mirage_block.tile<2x4x6xf16>
    store %s, %yk {grid = [0]} : !mirage_block.tile<2x4x6xf32>, tensor<4x4x6xf16>
  }
  return %y : tensor<4x4x6xf16>
}

// CHECK: @tgt_order_store_only: different at output
mirage_kernel.graph @tgt_order_store_only(%x: tensor<4x4x6xf16>) -> tensor<4x4x6xf16> attributes {source = @src_square} {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<4x4x6xf16>) -> tensor<4x4x6xf16> {
    %t = load %xk {grid = [0]} : tensor<4x4x6xf16> -> !mirage_block.tile<2x4x6xf16>
    %s = square %t : !mirage_block.tile<2x4x6xf16>
    store %s, %yk {grid = [0], order = [1, 0, 2]} : !mirage_block.tile<2x4x6xf32>, tensor<4x4x6xf16>
  }
  return %y : tensor<4x4x6xf16>
}
