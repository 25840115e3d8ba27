// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// What the grid and a loop split is dealt out tile by tile (`cyclic`), or in one piece a block: whoever reads along the same axis has to do it in
// the same way, indices included.

mirage_kernel.graph @src_dot(%x: tensor<2x16xf32>, %y: tensor<2x16xf32>) -> tensor<2x1xf32> {
  %p = mul %x, %y : tensor<2x16xf32>, tensor<2x16xf32>
  %s = reduce_sum %p {dim = 1} : tensor<2x16xf32>
  return %s : tensor<2x1xf32>
}

// Both in one piece.
// CHECK: @dot_parts: equivalent to @src_dot;
mirage_kernel.graph @dot_parts(%x: tensor<2x16xf32>, %y: tensor<2x16xf32>) -> tensor<2x1xf32> attributes {source = @src_dot} {
  %r = custom (%a = %x, %b = %y) outs(%o) grid [2] : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<2x1xf32>
    %s = loop 4 (%c = %zero sum) : !mirage_block.tile<2x1xf32> {
      %tx = load %a {grid = [1], loop = [1]} : tensor<2x16xf32> -> !mirage_block.tile<2x2xf32>
      %ty = load %b {grid = [1], loop = [1]} : tensor<2x16xf32> -> !mirage_block.tile<2x2xf32>
      %p = mul %tx, %ty : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x2xf32>
      %d = reduce_sum %p {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %d : !mirage_block.tile<2x1xf32>
    }
    %all = grid_sum %s {axes = [0]} : !mirage_block.tile<2x1xf32>
    store %all, %o : !mirage_block.tile<2x1xf32>, tensor<2x1xf32>
  }
  return %r : tensor<2x1xf32>
}

// Both tile by tile.
// CHECK: @dot_cyclic: equivalent to @src_dot;
mirage_kernel.graph @dot_cyclic(%x: tensor<2x16xf32>, %y: tensor<2x16xf32>) -> tensor<2x1xf32> attributes {source = @src_dot} {
  %r = custom (%a = %x, %b = %y) outs(%o) grid [2] : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<2x1xf32>
    %s = loop 4 (%c = %zero sum) : !mirage_block.tile<2x1xf32> {
      %tx = load %a {grid = [1], loop = [1], cyclic} : tensor<2x16xf32> -> !mirage_block.tile<2x2xf32>
      %ty = load %b {grid = [1], loop = [1], cyclic} : tensor<2x16xf32> -> !mirage_block.tile<2x2xf32>
      %p = mul %tx, %ty : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x2xf32>
      %d = reduce_sum %p {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %d : !mirage_block.tile<2x1xf32>
    }
    %all = grid_sum %s {axes = [0]} : !mirage_block.tile<2x1xf32>
    store %all, %o : !mirage_block.tile<2x1xf32>, tensor<2x1xf32>
  }
  return %r : tensor<2x1xf32>
}

// One of the two.
// CHECK: @dot_one_cyclic: different at output
mirage_kernel.graph @dot_one_cyclic(%x: tensor<2x16xf32>, %y: tensor<2x16xf32>) -> tensor<2x1xf32> attributes {source = @src_dot} {
  %r = custom (%a = %x, %b = %y) outs(%o) grid [2] : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<2x1xf32>
    %s = loop 4 (%c = %zero sum) : !mirage_block.tile<2x1xf32> {
      %tx = load %a {grid = [1], loop = [1], cyclic} : tensor<2x16xf32> -> !mirage_block.tile<2x2xf32>
      %ty = load %b {grid = [1], loop = [1]} : tensor<2x16xf32> -> !mirage_block.tile<2x2xf32>
      %p = mul %tx, %ty : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x2xf32>
      %d = reduce_sum %p {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %d : !mirage_block.tile<2x1xf32>
    }
    %all = grid_sum %s {axes = [0]} : !mirage_block.tile<2x1xf32>
    store %all, %o : !mirage_block.tile<2x1xf32>, tensor<2x1xf32>
  }
  return %r : tensor<2x1xf32>
}

// Tiles of 3, of which the last is cut short: 6 of them, 3 a block.
// CHECK: @dot_tiles: equivalent to @src_dot;
mirage_kernel.graph @dot_tiles(%x: tensor<2x16xf32>, %y: tensor<2x16xf32>) -> tensor<2x1xf32> attributes {source = @src_dot} {
  %r = custom (%a = %x, %b = %y) outs(%o) grid [2] : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<2x1xf32>
    %s = loop 3 (%c = %zero sum) : !mirage_block.tile<2x1xf32> {
      %tx = load %a {grid = [1], loop = [1], cyclic, tiles = [0, 3]} : tensor<2x16xf32> -> !mirage_block.tile<2x3xf32>
      %ty = load %b {grid = [1], loop = [1], cyclic, tiles = [0, 3]} : tensor<2x16xf32> -> !mirage_block.tile<2x3xf32>
      %p = mul %tx, %ty : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x3xf32>
      %d = reduce_sum %p {dim = 1} : !mirage_block.tile<2x3xf32>
      yield %d : !mirage_block.tile<2x1xf32>
    }
    %all = grid_sum %s {axes = [0]} : !mirage_block.tile<2x1xf32>
    store %all, %o : !mirage_block.tile<2x1xf32>, tensor<2x1xf32>
  }
  return %r : tensor<2x1xf32>
}

// The other in one piece of 8 a block, which cuts its third tile.
// CHECK: @dot_tiles_one: different at output
mirage_kernel.graph @dot_tiles_one(%x: tensor<2x16xf32>, %y: tensor<2x16xf32>) -> tensor<2x1xf32> attributes {source = @src_dot} {
  %r = custom (%a = %x, %b = %y) outs(%o) grid [2] : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<2x1xf32>
    %s = loop 3 (%c = %zero sum) : !mirage_block.tile<2x1xf32> {
      %tx = load %a {grid = [1], loop = [1], cyclic, tiles = [0, 3]} : tensor<2x16xf32> -> !mirage_block.tile<2x3xf32>
      %ty = load %b {grid = [1], loop = [1]} : tensor<2x16xf32> -> !mirage_block.tile<2x3xf32>
      %p = mul %tx, %ty : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x3xf32>
      %d = reduce_sum %p {dim = 1} : !mirage_block.tile<2x3xf32>
      yield %d : !mirage_block.tile<2x1xf32>
    }
    %all = grid_sum %s {axes = [0]} : !mirage_block.tile<2x1xf32>
    store %all, %o : !mirage_block.tile<2x1xf32>, tensor<2x1xf32>
  }
  return %r : tensor<2x1xf32>
}

mirage_kernel.graph @src_copy(%x: tensor<2x16xf32>) -> tensor<2x16xf32> {
  %e = exp %x : tensor<2x16xf32>
  return %e : tensor<2x16xf32>
}

// Stored where it was.
// CHECK: @copy_cyclic: equivalent to @src_copy;
mirage_kernel.graph @copy_cyclic(%x: tensor<2x16xf32>) -> tensor<2x16xf32> attributes {source = @src_copy} {
  %r = custom (%a = %x) outs(%o) grid [2] : (tensor<2x16xf32>) -> tensor<2x16xf32> {
    loop 4 {
      %tx = load %a {grid = [1], loop = [1], cyclic} : tensor<2x16xf32> -> !mirage_block.tile<2x2xf32>
      %e = exp %tx : !mirage_block.tile<2x2xf32>
      store %e, %o {grid = [1], loop = [1], cyclic} : !mirage_block.tile<2x2xf32>, tensor<2x16xf32>
    }
  }
  return %r : tensor<2x16xf32>
}

// Stored in another order.
// CHECK: @copy_moved: different at output
mirage_kernel.graph @copy_moved(%x: tensor<2x16xf32>) -> tensor<2x16xf32> attributes {source = @src_copy} {
  %r = custom (%a = %x) outs(%o) grid [2] : (tensor<2x16xf32>) -> tensor<2x16xf32> {
    loop 4 {
      %tx = load %a {grid = [1], loop = [1], cyclic} : tensor<2x16xf32> -> !mirage_block.tile<2x2xf32>
      %e = exp %tx : !mirage_block.tile<2x2xf32>
      store %e, %o {grid = [1], loop = [1]} : !mirage_block.tile<2x2xf32>, tensor<2x16xf32>
    }
  }
  return %r : tensor<2x16xf32>
}

// A number of valid keys, known when the program runs.
mirage_kernel.graph @src_length(%q: tensor<2x1x4xf32>, %k: tensor<2x16x4xf32>, %v: tensor<2x16x4xf32>, %n: tensor<1x1x1xi32>) -> tensor<2x1x4xf32> {
  %j = iota {dim = 2} : tensor<1x1x16xi32>
  %in = less %j, %n : tensor<1x1x16xi32>, tensor<1x1x1xi32>
  %y = scaled_dot_product_attention %q, %k, %v, %in {scale = 1.0} : tensor<2x1x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<1x1x16xi1>
  return %y : tensor<2x1x4xf32>
}

// In one piece a block.
// CHECK: @length_parts: equivalent to @src_length;
mirage_kernel.graph @length_parts(%q: tensor<2x1x4xf32>, %k: tensor<2x16x4xf32>, %v: tensor<2x16x4xf32>, %n: tensor<1x1x1xi32>) -> tensor<2x1x4xf32> attributes {source = @src_length} {
  %r = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n) outs(%o) grid [2, 2] : (tensor<2x1x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<1x1x1xi32>) -> tensor<2x1x4xf32> {
    %tq = load %qk {grid = [0]} : tensor<2x1x4xf32> -> !mirage_block.tile<1x1x4xf32>
    %low = bottom : !mirage_block.tile<1x1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x1x1xf32>
    %l:3 = loop 4 (%m = %low max, %a = %zero rescale, %b = %none rescale) : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32> {
      %tk = load %kk {grid = [0, 1], loop = [1]} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %tv = load %vk {grid = [0, 1], loop = [1]} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %s = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x2x4xf32>
      %j = iota {dim = 2, grid = [0, 8], loop = [2]} : !mirage_block.tile<1x1x2xi32>
      %n1 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %in = less %j, %n1 : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %z = mask %in, %s : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x1x2xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x2xf32>
      %next = max %m, %top : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %dm = sub %m, %next : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %f = exp %dm : !mirage_block.tile<1x1x1xf32>
      %ds = sub %z, %next : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x1x1xf32>
      %e = exp %ds : !mirage_block.tile<1x1x2xf32>
      %pv = matmul %e, %tv : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x2x4xf32>
      %es = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x2xf32>
      yield %top, %pv, %es rescale %f, %f : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    }
    %most = grid_max %l#0 {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %dg = sub %l#0, %most : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = exp %dg : !mirage_block.tile<1x1x1xf32>
    %wa = mul %l#1, %w : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    %wb = mul %l#2, %w : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %acc = grid_sum %wa {axes = [1]} : !mirage_block.tile<1x1x4xf32>
    %sum = grid_sum %wb {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %first = constant 0.0 : !mirage_block.tile<1x1x1xi32>
    %n2 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %some = less %first, %n2 : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x1xi32>
    %empty = not %some : !mirage_block.tile<1x1x1xi1>
    %floor = cast %empty : !mirage_block.tile<1x1x1xi1> -> !mirage_block.tile<1x1x1xf32>
    %sf = add %sum, %floor : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %y = div %acc, %sf : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x4xf32>, tensor<2x1x4xf32>
  }
  return %r : tensor<2x1x4xf32>
}

// Tile by tile.
// CHECK: @length_cyclic: equivalent to @src_length;
mirage_kernel.graph @length_cyclic(%q: tensor<2x1x4xf32>, %k: tensor<2x16x4xf32>, %v: tensor<2x16x4xf32>, %n: tensor<1x1x1xi32>) -> tensor<2x1x4xf32> attributes {source = @src_length} {
  %r = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n) outs(%o) grid [2, 2] : (tensor<2x1x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<1x1x1xi32>) -> tensor<2x1x4xf32> {
    %tq = load %qk {grid = [0]} : tensor<2x1x4xf32> -> !mirage_block.tile<1x1x4xf32>
    %low = bottom : !mirage_block.tile<1x1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x1x1xf32>
    %l:3 = loop 4 (%m = %low max, %a = %zero rescale, %b = %none rescale) : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32> {
      %tk = load %kk {grid = [0, 1], loop = [1], cyclic} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %tv = load %vk {grid = [0, 1], loop = [1], cyclic} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %s = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x2x4xf32>
      %j = iota {dim = 2, grid = [0, 2], loop = [4]} : !mirage_block.tile<1x1x2xi32>
      %n1 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %in = less %j, %n1 : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %z = mask %in, %s : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x1x2xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x2xf32>
      %next = max %m, %top : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %dm = sub %m, %next : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %f = exp %dm : !mirage_block.tile<1x1x1xf32>
      %ds = sub %z, %next : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x1x1xf32>
      %e = exp %ds : !mirage_block.tile<1x1x2xf32>
      %pv = matmul %e, %tv : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x2x4xf32>
      %es = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x2xf32>
      yield %top, %pv, %es rescale %f, %f : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    }
    %most = grid_max %l#0 {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %dg = sub %l#0, %most : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = exp %dg : !mirage_block.tile<1x1x1xf32>
    %wa = mul %l#1, %w : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    %wb = mul %l#2, %w : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %acc = grid_sum %wa {axes = [1]} : !mirage_block.tile<1x1x4xf32>
    %sum = grid_sum %wb {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %first = constant 0.0 : !mirage_block.tile<1x1x1xi32>
    %n2 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %some = less %first, %n2 : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x1xi32>
    %empty = not %some : !mirage_block.tile<1x1x1xi1>
    %floor = cast %empty : !mirage_block.tile<1x1x1xi1> -> !mirage_block.tile<1x1x1xf32>
    %sf = add %sum, %floor : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %y = div %acc, %sf : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x4xf32>, tensor<2x1x4xf32>
  }
  return %r : tensor<2x1x4xf32>
}

// The mask alone.
// CHECK: @length_mask_cyclic: {{different|unsupported: (not the same for every mask|no useful error bound)}}
mirage_kernel.graph @length_mask_cyclic(%q: tensor<2x1x4xf32>, %k: tensor<2x16x4xf32>, %v: tensor<2x16x4xf32>, %n: tensor<1x1x1xi32>) -> tensor<2x1x4xf32> attributes {source = @src_length} {
  %r = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n) outs(%o) grid [2, 2] : (tensor<2x1x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<1x1x1xi32>) -> tensor<2x1x4xf32> {
    %tq = load %qk {grid = [0]} : tensor<2x1x4xf32> -> !mirage_block.tile<1x1x4xf32>
    %low = bottom : !mirage_block.tile<1x1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x1x1xf32>
    %l:3 = loop 4 (%m = %low max, %a = %zero rescale, %b = %none rescale) : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32> {
      %tk = load %kk {grid = [0, 1], loop = [1]} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %tv = load %vk {grid = [0, 1], loop = [1]} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %s = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x2x4xf32>
      %j = iota {dim = 2, grid = [0, 2], loop = [4]} : !mirage_block.tile<1x1x2xi32>
      %n1 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %in = less %j, %n1 : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %z = mask %in, %s : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x1x2xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x2xf32>
      %next = max %m, %top : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %dm = sub %m, %next : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %f = exp %dm : !mirage_block.tile<1x1x1xf32>
      %ds = sub %z, %next : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x1x1xf32>
      %e = exp %ds : !mirage_block.tile<1x1x2xf32>
      %pv = matmul %e, %tv : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x2x4xf32>
      %es = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x2xf32>
      yield %top, %pv, %es rescale %f, %f : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    }
    %most = grid_max %l#0 {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %dg = sub %l#0, %most : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = exp %dg : !mirage_block.tile<1x1x1xf32>
    %wa = mul %l#1, %w : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    %wb = mul %l#2, %w : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %acc = grid_sum %wa {axes = [1]} : !mirage_block.tile<1x1x4xf32>
    %sum = grid_sum %wb {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %first = constant 0.0 : !mirage_block.tile<1x1x1xi32>
    %n2 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %some = less %first, %n2 : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x1xi32>
    %empty = not %some : !mirage_block.tile<1x1x1xi1>
    %floor = cast %empty : !mirage_block.tile<1x1x1xi1> -> !mirage_block.tile<1x1x1xf32>
    %sf = add %sum, %floor : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %y = div %acc, %sf : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x4xf32>, tensor<2x1x4xf32>
  }
  return %r : tensor<2x1x4xf32>
}

// All but the mask.
// CHECK: @length_mask_parts: {{different|unsupported: (not the same for every mask|no useful error bound)}}
mirage_kernel.graph @length_mask_parts(%q: tensor<2x1x4xf32>, %k: tensor<2x16x4xf32>, %v: tensor<2x16x4xf32>, %n: tensor<1x1x1xi32>) -> tensor<2x1x4xf32> attributes {source = @src_length} {
  %r = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n) outs(%o) grid [2, 2] : (tensor<2x1x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<1x1x1xi32>) -> tensor<2x1x4xf32> {
    %tq = load %qk {grid = [0]} : tensor<2x1x4xf32> -> !mirage_block.tile<1x1x4xf32>
    %low = bottom : !mirage_block.tile<1x1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x1x1xf32>
    %l:3 = loop 4 (%m = %low max, %a = %zero rescale, %b = %none rescale) : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32> {
      %tk = load %kk {grid = [0, 1], loop = [1], cyclic} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %tv = load %vk {grid = [0, 1], loop = [1], cyclic} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %s = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x2x4xf32>
      %j = iota {dim = 2, grid = [0, 8], loop = [2]} : !mirage_block.tile<1x1x2xi32>
      %n1 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %in = less %j, %n1 : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %z = mask %in, %s : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x1x2xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x2xf32>
      %next = max %m, %top : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %dm = sub %m, %next : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %f = exp %dm : !mirage_block.tile<1x1x1xf32>
      %ds = sub %z, %next : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x1x1xf32>
      %e = exp %ds : !mirage_block.tile<1x1x2xf32>
      %pv = matmul %e, %tv : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x2x4xf32>
      %es = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x2xf32>
      yield %top, %pv, %es rescale %f, %f : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    }
    %most = grid_max %l#0 {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %dg = sub %l#0, %most : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = exp %dg : !mirage_block.tile<1x1x1xf32>
    %wa = mul %l#1, %w : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    %wb = mul %l#2, %w : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %acc = grid_sum %wa {axes = [1]} : !mirage_block.tile<1x1x4xf32>
    %sum = grid_sum %wb {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %first = constant 0.0 : !mirage_block.tile<1x1x1xi32>
    %n2 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %some = less %first, %n2 : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x1xi32>
    %empty = not %some : !mirage_block.tile<1x1x1xi1>
    %floor = cast %empty : !mirage_block.tile<1x1x1xi1> -> !mirage_block.tile<1x1x1xf32>
    %sf = add %sum, %floor : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %y = div %acc, %sf : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x4xf32>, tensor<2x1x4xf32>
  }
  return %r : tensor<2x1x4xf32>
}

// All but the values.
// CHECK: @length_values_parts: {{different|unsupported: (not the same for every mask|no useful error bound)}}
mirage_kernel.graph @length_values_parts(%q: tensor<2x1x4xf32>, %k: tensor<2x16x4xf32>, %v: tensor<2x16x4xf32>, %n: tensor<1x1x1xi32>) -> tensor<2x1x4xf32> attributes {source = @src_length} {
  %r = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n) outs(%o) grid [2, 2] : (tensor<2x1x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<1x1x1xi32>) -> tensor<2x1x4xf32> {
    %tq = load %qk {grid = [0]} : tensor<2x1x4xf32> -> !mirage_block.tile<1x1x4xf32>
    %low = bottom : !mirage_block.tile<1x1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x1x1xf32>
    %l:3 = loop 4 (%m = %low max, %a = %zero rescale, %b = %none rescale) : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32> {
      %tk = load %kk {grid = [0, 1], loop = [1], cyclic} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %tv = load %vk {grid = [0, 1], loop = [1]} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %s = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x2x4xf32>
      %j = iota {dim = 2, grid = [0, 2], loop = [4]} : !mirage_block.tile<1x1x2xi32>
      %n1 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %in = less %j, %n1 : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %z = mask %in, %s : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x1x2xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x2xf32>
      %next = max %m, %top : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %dm = sub %m, %next : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %f = exp %dm : !mirage_block.tile<1x1x1xf32>
      %ds = sub %z, %next : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x1x1xf32>
      %e = exp %ds : !mirage_block.tile<1x1x2xf32>
      %pv = matmul %e, %tv : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x2x4xf32>
      %es = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x2xf32>
      yield %top, %pv, %es rescale %f, %f : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    }
    %most = grid_max %l#0 {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %dg = sub %l#0, %most : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = exp %dg : !mirage_block.tile<1x1x1xf32>
    %wa = mul %l#1, %w : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    %wb = mul %l#2, %w : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %acc = grid_sum %wa {axes = [1]} : !mirage_block.tile<1x1x4xf32>
    %sum = grid_sum %wb {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %first = constant 0.0 : !mirage_block.tile<1x1x1xi32>
    %n2 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %some = less %first, %n2 : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x1xi32>
    %empty = not %some : !mirage_block.tile<1x1x1xi1>
    %floor = cast %empty : !mirage_block.tile<1x1x1xi1> -> !mirage_block.tile<1x1x1xf32>
    %sf = add %sum, %floor : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %y = div %acc, %sf : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x4xf32>, tensor<2x1x4xf32>
  }
  return %r : tensor<2x1x4xf32>
}

// The mask of the next block.
// CHECK: @length_next_block: {{different|unsupported: (not the same for every mask|no useful error bound)}}
mirage_kernel.graph @length_next_block(%q: tensor<2x1x4xf32>, %k: tensor<2x16x4xf32>, %v: tensor<2x16x4xf32>, %n: tensor<1x1x1xi32>) -> tensor<2x1x4xf32> attributes {source = @src_length} {
  %r = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n) outs(%o) grid [2, 2] : (tensor<2x1x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<1x1x1xi32>) -> tensor<2x1x4xf32> {
    %tq = load %qk {grid = [0]} : tensor<2x1x4xf32> -> !mirage_block.tile<1x1x4xf32>
    %low = bottom : !mirage_block.tile<1x1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x1x1xf32>
    %l:3 = loop 4 (%m = %low max, %a = %zero rescale, %b = %none rescale) : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32> {
      %tk = load %kk {grid = [0, 1], loop = [1], cyclic} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %tv = load %vk {grid = [0, 1], loop = [1], cyclic} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %s = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x2x4xf32>
      %j = iota {dim = 2, start = 2, grid = [0, 2], loop = [4]} : !mirage_block.tile<1x1x2xi32>
      %n1 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %in = less %j, %n1 : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %z = mask %in, %s : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x1x2xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x2xf32>
      %next = max %m, %top : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %dm = sub %m, %next : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %f = exp %dm : !mirage_block.tile<1x1x1xf32>
      %ds = sub %z, %next : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x1x1xf32>
      %e = exp %ds : !mirage_block.tile<1x1x2xf32>
      %pv = matmul %e, %tv : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x2x4xf32>
      %es = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x2xf32>
      yield %top, %pv, %es rescale %f, %f : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    }
    %most = grid_max %l#0 {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %dg = sub %l#0, %most : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = exp %dg : !mirage_block.tile<1x1x1xf32>
    %wa = mul %l#1, %w : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    %wb = mul %l#2, %w : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %acc = grid_sum %wa {axes = [1]} : !mirage_block.tile<1x1x4xf32>
    %sum = grid_sum %wb {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %first = constant 0.0 : !mirage_block.tile<1x1x1xi32>
    %n2 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %some = less %first, %n2 : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x1xi32>
    %empty = not %some : !mirage_block.tile<1x1x1xi1>
    %floor = cast %empty : !mirage_block.tile<1x1x1xi1> -> !mirage_block.tile<1x1x1xf32>
    %sf = add %sum, %floor : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %y = div %acc, %sf : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x4xf32>, tensor<2x1x4xf32>
  }
  return %r : tensor<2x1x4xf32>
}

// Blocks go on as iterations do.
// CHECK: @length_steps_swapped: {{different|unsupported: (not the same for every mask|no useful error bound)}}
mirage_kernel.graph @length_steps_swapped(%q: tensor<2x1x4xf32>, %k: tensor<2x16x4xf32>, %v: tensor<2x16x4xf32>, %n: tensor<1x1x1xi32>) -> tensor<2x1x4xf32> attributes {source = @src_length} {
  %r = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n) outs(%o) grid [2, 2] : (tensor<2x1x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<1x1x1xi32>) -> tensor<2x1x4xf32> {
    %tq = load %qk {grid = [0]} : tensor<2x1x4xf32> -> !mirage_block.tile<1x1x4xf32>
    %low = bottom : !mirage_block.tile<1x1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x1x1xf32>
    %l:3 = loop 4 (%m = %low max, %a = %zero rescale, %b = %none rescale) : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32> {
      %tk = load %kk {grid = [0, 1], loop = [1], cyclic} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %tv = load %vk {grid = [0, 1], loop = [1], cyclic} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %s = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x2x4xf32>
      %j = iota {dim = 2, grid = [0, 4], loop = [2]} : !mirage_block.tile<1x1x2xi32>
      %n1 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %in = less %j, %n1 : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %z = mask %in, %s : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x1x2xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x2xf32>
      %next = max %m, %top : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %dm = sub %m, %next : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %f = exp %dm : !mirage_block.tile<1x1x1xf32>
      %ds = sub %z, %next : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x1x1xf32>
      %e = exp %ds : !mirage_block.tile<1x1x2xf32>
      %pv = matmul %e, %tv : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x2x4xf32>
      %es = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x2xf32>
      yield %top, %pv, %es rescale %f, %f : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    }
    %most = grid_max %l#0 {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %dg = sub %l#0, %most : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = exp %dg : !mirage_block.tile<1x1x1xf32>
    %wa = mul %l#1, %w : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    %wb = mul %l#2, %w : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %acc = grid_sum %wa {axes = [1]} : !mirage_block.tile<1x1x4xf32>
    %sum = grid_sum %wb {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %first = constant 0.0 : !mirage_block.tile<1x1x1xi32>
    %n2 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %some = less %first, %n2 : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x1xi32>
    %empty = not %some : !mirage_block.tile<1x1x1xi1>
    %floor = cast %empty : !mirage_block.tile<1x1x1xi1> -> !mirage_block.tile<1x1x1xf32>
    %sf = add %sum, %floor : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %y = div %acc, %sf : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x4xf32>, tensor<2x1x4xf32>
  }
  return %r : tensor<2x1x4xf32>
}

// A tile left out in each round.
// CHECK: @length_too_far: {{different|unsupported: (not the same for every mask|no useful error bound)}}
mirage_kernel.graph @length_too_far(%q: tensor<2x1x4xf32>, %k: tensor<2x16x4xf32>, %v: tensor<2x16x4xf32>, %n: tensor<1x1x1xi32>) -> tensor<2x1x4xf32> attributes {source = @src_length} {
  %r = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n) outs(%o) grid [2, 2] : (tensor<2x1x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<1x1x1xi32>) -> tensor<2x1x4xf32> {
    %tq = load %qk {grid = [0]} : tensor<2x1x4xf32> -> !mirage_block.tile<1x1x4xf32>
    %low = bottom : !mirage_block.tile<1x1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x1x1xf32>
    %l:3 = loop 4 (%m = %low max, %a = %zero rescale, %b = %none rescale) : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32> {
      %tk = load %kk {grid = [0, 1], loop = [1], cyclic} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %tv = load %vk {grid = [0, 1], loop = [1], cyclic} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %s = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x2x4xf32>
      %j = iota {dim = 2, grid = [0, 2], loop = [6]} : !mirage_block.tile<1x1x2xi32>
      %n1 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %in = less %j, %n1 : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %z = mask %in, %s : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x1x2xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x2xf32>
      %next = max %m, %top : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %dm = sub %m, %next : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %f = exp %dm : !mirage_block.tile<1x1x1xf32>
      %ds = sub %z, %next : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x1x1xf32>
      %e = exp %ds : !mirage_block.tile<1x1x2xf32>
      %pv = matmul %e, %tv : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x2x4xf32>
      %es = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x2xf32>
      yield %top, %pv, %es rescale %f, %f : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    }
    %most = grid_max %l#0 {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %dg = sub %l#0, %most : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = exp %dg : !mirage_block.tile<1x1x1xf32>
    %wa = mul %l#1, %w : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    %wb = mul %l#2, %w : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %acc = grid_sum %wa {axes = [1]} : !mirage_block.tile<1x1x4xf32>
    %sum = grid_sum %wb {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %first = constant 0.0 : !mirage_block.tile<1x1x1xi32>
    %n2 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %some = less %first, %n2 : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x1xi32>
    %empty = not %some : !mirage_block.tile<1x1x1xi1>
    %floor = cast %empty : !mirage_block.tile<1x1x1xi1> -> !mirage_block.tile<1x1x1xf32>
    %sf = add %sum, %floor : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %y = div %acc, %sf : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x4xf32>, tensor<2x1x4xf32>
  }
  return %r : tensor<2x1x4xf32>
}

// One key more than are valid.
// CHECK: @length_one_more: {{different|unsupported: (not the same for every mask|no useful error bound)}}
mirage_kernel.graph @length_one_more(%q: tensor<2x1x4xf32>, %k: tensor<2x16x4xf32>, %v: tensor<2x16x4xf32>, %n: tensor<1x1x1xi32>) -> tensor<2x1x4xf32> attributes {source = @src_length} {
  %r = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n) outs(%o) grid [2, 2] : (tensor<2x1x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<1x1x1xi32>) -> tensor<2x1x4xf32> {
    %tq = load %qk {grid = [0]} : tensor<2x1x4xf32> -> !mirage_block.tile<1x1x4xf32>
    %low = bottom : !mirage_block.tile<1x1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x1x1xf32>
    %l:3 = loop 4 (%m = %low max, %a = %zero rescale, %b = %none rescale) : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32> {
      %tk = load %kk {grid = [0, 1], loop = [1], cyclic} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %tv = load %vk {grid = [0, 1], loop = [1], cyclic} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %s = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x2x4xf32>
      %j = iota {dim = 2, grid = [0, 2], loop = [4]} : !mirage_block.tile<1x1x2xi32>
      %n1 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %in = less_equal %j, %n1 : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %z = mask %in, %s : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x1x2xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x2xf32>
      %next = max %m, %top : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %dm = sub %m, %next : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %f = exp %dm : !mirage_block.tile<1x1x1xf32>
      %ds = sub %z, %next : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x1x1xf32>
      %e = exp %ds : !mirage_block.tile<1x1x2xf32>
      %pv = matmul %e, %tv : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x2x4xf32>
      %es = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x2xf32>
      yield %top, %pv, %es rescale %f, %f : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    }
    %most = grid_max %l#0 {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %dg = sub %l#0, %most : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = exp %dg : !mirage_block.tile<1x1x1xf32>
    %wa = mul %l#1, %w : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    %wb = mul %l#2, %w : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %acc = grid_sum %wa {axes = [1]} : !mirage_block.tile<1x1x4xf32>
    %sum = grid_sum %wb {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %first = constant 0.0 : !mirage_block.tile<1x1x1xi32>
    %n2 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %some = less %first, %n2 : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x1xi32>
    %empty = not %some : !mirage_block.tile<1x1x1xi1>
    %floor = cast %empty : !mirage_block.tile<1x1x1xi1> -> !mirage_block.tile<1x1x1xf32>
    %sf = add %sum, %floor : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %y = div %acc, %sf : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x4xf32>, tensor<2x1x4xf32>
  }
  return %r : tensor<2x1x4xf32>
}

// No number of tiles divides the keys.
mirage_kernel.graph @src_ragged(%q: tensor<2x1x4xf32>, %k: tensor<2x15x4xf32>, %v: tensor<2x15x4xf32>, %n: tensor<1x1x1xi32>) -> tensor<2x1x4xf32> {
  %j = iota {dim = 2} : tensor<1x1x15xi32>
  %in = less %j, %n : tensor<1x1x15xi32>, tensor<1x1x1xi32>
  %y = scaled_dot_product_attention %q, %k, %v, %in {scale = 1.0} : tensor<2x1x4xf32>, tensor<2x15x4xf32>, tensor<2x15x4xf32>, tensor<1x1x15xi1>
  return %y : tensor<2x1x4xf32>
}

// Whole tiles, cut by the end of the keys: 15 in 4 rounds of 2 + 2.
// CHECK: @ragged_cyclic: equivalent to @src_ragged;
mirage_kernel.graph @ragged_cyclic(%q: tensor<2x1x4xf32>, %k: tensor<2x15x4xf32>, %v: tensor<2x15x4xf32>, %n: tensor<1x1x1xi32>) -> tensor<2x1x4xf32> attributes {source = @src_ragged} {
  %r = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n) outs(%o) grid [2, 2] : (tensor<2x1x4xf32>, tensor<2x15x4xf32>, tensor<2x15x4xf32>, tensor<1x1x1xi32>) -> tensor<2x1x4xf32> {
    %tq = load %qk {grid = [0]} : tensor<2x1x4xf32> -> !mirage_block.tile<1x1x4xf32>
    %low = bottom : !mirage_block.tile<1x1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x1x1xf32>
    %l:3 = loop 4 (%m = %low max, %a = %zero rescale, %b = %none rescale) : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32> {
      %tk = load %kk {grid = [0, 1], loop = [1], tiles = [0, 2], cyclic} : tensor<2x15x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %tv = load %vk {grid = [0, 1], loop = [1], tiles = [0, 2], cyclic} : tensor<2x15x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %s = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x2x4xf32>
      %j = iota {dim = 2, grid = [0, 2], loop = [4]} : !mirage_block.tile<1x1x2xi32>
      %n1 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %i0 = less %j, %n1 : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %end = constant 15.0 : !mirage_block.tile<1x1x1xi32>
      %i1 = less %j, %end : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %in = and %i0, %i1 : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x1x2xi1>
      %z = mask %in, %s : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x1x2xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x2xf32>
      %next = max %m, %top : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %dm = sub %m, %next : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %f = exp %dm : !mirage_block.tile<1x1x1xf32>
      %ds = sub %z, %next : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x1x1xf32>
      %e = exp %ds : !mirage_block.tile<1x1x2xf32>
      %pv = matmul %e, %tv : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x2x4xf32>
      %es = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x2xf32>
      yield %top, %pv, %es rescale %f, %f : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    }
    %most = grid_max %l#0 {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %dg = sub %l#0, %most : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = exp %dg : !mirage_block.tile<1x1x1xf32>
    %wa = mul %l#1, %w : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    %wb = mul %l#2, %w : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %acc = grid_sum %wa {axes = [1]} : !mirage_block.tile<1x1x4xf32>
    %sum = grid_sum %wb {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %first = constant 0.0 : !mirage_block.tile<1x1x1xi32>
    %n2 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %some = less %first, %n2 : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x1xi32>
    %empty = not %some : !mirage_block.tile<1x1x1xi1>
    %floor = cast %empty : !mirage_block.tile<1x1x1xi1> -> !mirage_block.tile<1x1x1xf32>
    %sf = add %sum, %floor : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %y = div %acc, %sf : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x4xf32>, tensor<2x1x4xf32>
  }
  return %r : tensor<2x1x4xf32>
}

// A length may be larger than 15: beyond the keys are zeros, no keys.
// CHECK: @ragged_no_end: {{different|unsupported: (not the same for every mask|no useful error bound)}}
mirage_kernel.graph @ragged_no_end(%q: tensor<2x1x4xf32>, %k: tensor<2x15x4xf32>, %v: tensor<2x15x4xf32>, %n: tensor<1x1x1xi32>) -> tensor<2x1x4xf32> attributes {source = @src_ragged} {
  %r = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n) outs(%o) grid [2, 2] : (tensor<2x1x4xf32>, tensor<2x15x4xf32>, tensor<2x15x4xf32>, tensor<1x1x1xi32>) -> tensor<2x1x4xf32> {
    %tq = load %qk {grid = [0]} : tensor<2x1x4xf32> -> !mirage_block.tile<1x1x4xf32>
    %low = bottom : !mirage_block.tile<1x1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x1x1xf32>
    %l:3 = loop 4 (%m = %low max, %a = %zero rescale, %b = %none rescale) : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32> {
      %tk = load %kk {grid = [0, 1], loop = [1], tiles = [0, 2], cyclic} : tensor<2x15x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %tv = load %vk {grid = [0, 1], loop = [1], tiles = [0, 2], cyclic} : tensor<2x15x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %s = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x2x4xf32>
      %j = iota {dim = 2, grid = [0, 2], loop = [4]} : !mirage_block.tile<1x1x2xi32>
      %n1 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %in = less %j, %n1 : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %z = mask %in, %s : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x1x2xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x2xf32>
      %next = max %m, %top : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %dm = sub %m, %next : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %f = exp %dm : !mirage_block.tile<1x1x1xf32>
      %ds = sub %z, %next : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x1x1xf32>
      %e = exp %ds : !mirage_block.tile<1x1x2xf32>
      %pv = matmul %e, %tv : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x2x4xf32>
      %es = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x2xf32>
      yield %top, %pv, %es rescale %f, %f : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    }
    %most = grid_max %l#0 {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %dg = sub %l#0, %most : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = exp %dg : !mirage_block.tile<1x1x1xf32>
    %wa = mul %l#1, %w : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    %wb = mul %l#2, %w : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %acc = grid_sum %wa {axes = [1]} : !mirage_block.tile<1x1x4xf32>
    %sum = grid_sum %wb {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %first = constant 0.0 : !mirage_block.tile<1x1x1xi32>
    %n2 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %some = less %first, %n2 : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x1xi32>
    %empty = not %some : !mirage_block.tile<1x1x1xi1>
    %floor = cast %empty : !mirage_block.tile<1x1x1xi1> -> !mirage_block.tile<1x1x1xf32>
    %sf = add %sum, %floor : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %y = div %acc, %sf : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x4xf32>, tensor<2x1x4xf32>
  }
  return %r : tensor<2x1x4xf32>
}

// One key too many.
// CHECK: @ragged_late_end: {{different|unsupported: (not the same for every mask|no useful error bound)}}
mirage_kernel.graph @ragged_late_end(%q: tensor<2x1x4xf32>, %k: tensor<2x15x4xf32>, %v: tensor<2x15x4xf32>, %n: tensor<1x1x1xi32>) -> tensor<2x1x4xf32> attributes {source = @src_ragged} {
  %r = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n) outs(%o) grid [2, 2] : (tensor<2x1x4xf32>, tensor<2x15x4xf32>, tensor<2x15x4xf32>, tensor<1x1x1xi32>) -> tensor<2x1x4xf32> {
    %tq = load %qk {grid = [0]} : tensor<2x1x4xf32> -> !mirage_block.tile<1x1x4xf32>
    %low = bottom : !mirage_block.tile<1x1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x1x1xf32>
    %l:3 = loop 4 (%m = %low max, %a = %zero rescale, %b = %none rescale) : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32> {
      %tk = load %kk {grid = [0, 1], loop = [1], tiles = [0, 2], cyclic} : tensor<2x15x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %tv = load %vk {grid = [0, 1], loop = [1], tiles = [0, 2], cyclic} : tensor<2x15x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %s = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x2x4xf32>
      %j = iota {dim = 2, grid = [0, 2], loop = [4]} : !mirage_block.tile<1x1x2xi32>
      %n1 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %i0 = less %j, %n1 : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %end = constant 16.0 : !mirage_block.tile<1x1x1xi32>
      %i1 = less %j, %end : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %in = and %i0, %i1 : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x1x2xi1>
      %z = mask %in, %s : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x1x2xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x2xf32>
      %next = max %m, %top : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %dm = sub %m, %next : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %f = exp %dm : !mirage_block.tile<1x1x1xf32>
      %ds = sub %z, %next : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x1x1xf32>
      %e = exp %ds : !mirage_block.tile<1x1x2xf32>
      %pv = matmul %e, %tv : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x2x4xf32>
      %es = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x2xf32>
      yield %top, %pv, %es rescale %f, %f : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    }
    %most = grid_max %l#0 {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %dg = sub %l#0, %most : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = exp %dg : !mirage_block.tile<1x1x1xf32>
    %wa = mul %l#1, %w : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    %wb = mul %l#2, %w : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %acc = grid_sum %wa {axes = [1]} : !mirage_block.tile<1x1x4xf32>
    %sum = grid_sum %wb {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %first = constant 0.0 : !mirage_block.tile<1x1x1xi32>
    %n2 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %some = less %first, %n2 : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x1xi32>
    %empty = not %some : !mirage_block.tile<1x1x1xi1>
    %floor = cast %empty : !mirage_block.tile<1x1x1xi1> -> !mirage_block.tile<1x1x1xf32>
    %sf = add %sum, %floor : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %y = div %acc, %sf : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x4xf32>, tensor<2x1x4xf32>
  }
  return %r : tensor<2x1x4xf32>
}

// By division: rounds of 5 keys, of 3 and 2. The sixth key is the next round's.
// CHECK: @ragged_rounds: {{different|unsupported: (not the same for every mask|no useful error bound)}}
mirage_kernel.graph @ragged_rounds(%q: tensor<2x1x4xf32>, %k: tensor<2x15x4xf32>, %v: tensor<2x15x4xf32>, %n: tensor<1x1x1xi32>) -> tensor<2x1x4xf32> attributes {source = @src_ragged} {
  %r = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n) outs(%o) grid [2, 2] : (tensor<2x1x4xf32>, tensor<2x15x4xf32>, tensor<2x15x4xf32>, tensor<1x1x1xi32>) -> tensor<2x1x4xf32> {
    %tq = load %qk {grid = [0]} : tensor<2x1x4xf32> -> !mirage_block.tile<1x1x4xf32>
    %low = bottom : !mirage_block.tile<1x1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x1x1xf32>
    %l:3 = loop 3 (%m = %low max, %a = %zero rescale, %b = %none rescale) : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32> {
      %tk = load %kk {grid = [0, 1], loop = [1], cyclic} : tensor<2x15x4xf32> -> !mirage_block.tile<1x3x4xf32>
      %tv = load %vk {grid = [0, 1], loop = [1], cyclic} : tensor<2x15x4xf32> -> !mirage_block.tile<1x3x4xf32>
      %s = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x3x4xf32>
      %j = iota {dim = 2, grid = [0, 3], loop = [5]} : !mirage_block.tile<1x1x3xi32>
      %n1 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %i0 = less %j, %n1 : !mirage_block.tile<1x1x3xi32>, !mirage_block.tile<1x1x1xi32>
      %end = constant 15.0 : !mirage_block.tile<1x1x1xi32>
      %i1 = less %j, %end : !mirage_block.tile<1x1x3xi32>, !mirage_block.tile<1x1x1xi32>
      %in = and %i0, %i1 : !mirage_block.tile<1x1x3xi1>, !mirage_block.tile<1x1x3xi1>
      %z = mask %in, %s : !mirage_block.tile<1x1x3xi1>, !mirage_block.tile<1x1x3xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x3xf32>
      %next = max %m, %top : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %dm = sub %m, %next : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %f = exp %dm : !mirage_block.tile<1x1x1xf32>
      %ds = sub %z, %next : !mirage_block.tile<1x1x3xf32>, !mirage_block.tile<1x1x1xf32>
      %e = exp %ds : !mirage_block.tile<1x1x3xf32>
      %pv = matmul %e, %tv : !mirage_block.tile<1x1x3xf32>, !mirage_block.tile<1x3x4xf32>
      %es = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x3xf32>
      yield %top, %pv, %es rescale %f, %f : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    }
    %most = grid_max %l#0 {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %dg = sub %l#0, %most : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = exp %dg : !mirage_block.tile<1x1x1xf32>
    %wa = mul %l#1, %w : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    %wb = mul %l#2, %w : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %acc = grid_sum %wa {axes = [1]} : !mirage_block.tile<1x1x4xf32>
    %sum = grid_sum %wb {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %first = constant 0.0 : !mirage_block.tile<1x1x1xi32>
    %n2 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %some = less %first, %n2 : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x1xi32>
    %empty = not %some : !mirage_block.tile<1x1x1xi1>
    %floor = cast %empty : !mirage_block.tile<1x1x1xi1> -> !mirage_block.tile<1x1x1xf32>
    %sf = add %sum, %floor : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %y = div %acc, %sf : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x4xf32>, tensor<2x1x4xf32>
  }
  return %r : tensor<2x1x4xf32>
}

// Rounds of 6 keys.
// CHECK: @ragged_rounds_tiles: equivalent to @src_ragged;
mirage_kernel.graph @ragged_rounds_tiles(%q: tensor<2x1x4xf32>, %k: tensor<2x15x4xf32>, %v: tensor<2x15x4xf32>, %n: tensor<1x1x1xi32>) -> tensor<2x1x4xf32> attributes {source = @src_ragged} {
  %r = custom (%qk = %q, %kk = %k, %vk = %v, %nk = %n) outs(%o) grid [2, 2] : (tensor<2x1x4xf32>, tensor<2x15x4xf32>, tensor<2x15x4xf32>, tensor<1x1x1xi32>) -> tensor<2x1x4xf32> {
    %tq = load %qk {grid = [0]} : tensor<2x1x4xf32> -> !mirage_block.tile<1x1x4xf32>
    %low = bottom : !mirage_block.tile<1x1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x1x1xf32>
    %l:3 = loop 3 (%m = %low max, %a = %zero rescale, %b = %none rescale) : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32> {
      %tk = load %kk {grid = [0, 1], loop = [1], tiles = [0, 3], cyclic} : tensor<2x15x4xf32> -> !mirage_block.tile<1x3x4xf32>
      %tv = load %vk {grid = [0, 1], loop = [1], tiles = [0, 3], cyclic} : tensor<2x15x4xf32> -> !mirage_block.tile<1x3x4xf32>
      %s = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x3x4xf32>
      %j = iota {dim = 2, grid = [0, 3], loop = [6]} : !mirage_block.tile<1x1x3xi32>
      %n1 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %i0 = less %j, %n1 : !mirage_block.tile<1x1x3xi32>, !mirage_block.tile<1x1x1xi32>
      %end = constant 15.0 : !mirage_block.tile<1x1x1xi32>
      %i1 = less %j, %end : !mirage_block.tile<1x1x3xi32>, !mirage_block.tile<1x1x1xi32>
      %in = and %i0, %i1 : !mirage_block.tile<1x1x3xi1>, !mirage_block.tile<1x1x3xi1>
      %z = mask %in, %s : !mirage_block.tile<1x1x3xi1>, !mirage_block.tile<1x1x3xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x3xf32>
      %next = max %m, %top : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %dm = sub %m, %next : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %f = exp %dm : !mirage_block.tile<1x1x1xf32>
      %ds = sub %z, %next : !mirage_block.tile<1x1x3xf32>, !mirage_block.tile<1x1x1xf32>
      %e = exp %ds : !mirage_block.tile<1x1x3xf32>
      %pv = matmul %e, %tv : !mirage_block.tile<1x1x3xf32>, !mirage_block.tile<1x3x4xf32>
      %es = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x3xf32>
      yield %top, %pv, %es rescale %f, %f : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    }
    %most = grid_max %l#0 {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %dg = sub %l#0, %most : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = exp %dg : !mirage_block.tile<1x1x1xf32>
    %wa = mul %l#1, %w : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    %wb = mul %l#2, %w : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %acc = grid_sum %wa {axes = [1]} : !mirage_block.tile<1x1x4xf32>
    %sum = grid_sum %wb {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %first = constant 0.0 : !mirage_block.tile<1x1x1xi32>
    %n2 = load %nk : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %some = less %first, %n2 : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x1xi32>
    %empty = not %some : !mirage_block.tile<1x1x1xi1>
    %floor = cast %empty : !mirage_block.tile<1x1x1xi1> -> !mirage_block.tile<1x1x1xf32>
    %sf = add %sum, %floor : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %y = div %acc, %sf : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x4xf32>, tensor<2x1x4xf32>
  }
  return %r : tensor<2x1x4xf32>
}

// A mask that somebody gives.
mirage_kernel.graph @src_given(%q: tensor<2x1x4xf32>, %k: tensor<2x16x4xf32>, %v: tensor<2x16x4xf32>, %c: tensor<1x1x16xi1>) -> tensor<2x1x4xf32> {
  %y = scaled_dot_product_attention %q, %k, %v, %c {scale = 1.0} : tensor<2x1x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<1x1x16xi1>
  return %y : tensor<2x1x4xf32>
}

// Tile by tile.
// CHECK: @given_cyclic: equivalent to @src_given;
mirage_kernel.graph @given_cyclic(%q: tensor<2x1x4xf32>, %k: tensor<2x16x4xf32>, %v: tensor<2x16x4xf32>, %c: tensor<1x1x16xi1>) -> tensor<2x1x4xf32> attributes {source = @src_given} {
  %any = reduce_max %c {dim = 2} : tensor<1x1x16xi1>
  %no = not %any : tensor<1x1x1xi1>
  %e = cast %no : tensor<1x1x1xi1> -> tensor<1x1x1xf32>
  %r = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %c, %ek = %e) outs(%o) grid [2, 2] : (tensor<2x1x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<1x1x16xi1>, tensor<1x1x1xf32>) -> tensor<2x1x4xf32> {
    %tq = load %qk {grid = [0]} : tensor<2x1x4xf32> -> !mirage_block.tile<1x1x4xf32>
    %low = bottom : !mirage_block.tile<1x1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x1x1xf32>
    %l:3 = loop 4 (%m = %low max, %a = %zero rescale, %b = %none rescale) : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32> {
      %tk = load %kk {grid = [0, 1], loop = [1], cyclic} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %tv = load %vk {grid = [0, 1], loop = [1], cyclic} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %s = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x2x4xf32>
      %in = load %ck {grid = [-1, 2], loop = [2], cyclic} : tensor<1x1x16xi1> -> !mirage_block.tile<1x1x2xi1>
      %z = mask %in, %s : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x1x2xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x2xf32>
      %next = max %m, %top : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %dm = sub %m, %next : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %f = exp %dm : !mirage_block.tile<1x1x1xf32>
      %ds = sub %z, %next : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x1x1xf32>
      %e = exp %ds : !mirage_block.tile<1x1x2xf32>
      %pv = matmul %e, %tv : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x2x4xf32>
      %es = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x2xf32>
      yield %top, %pv, %es rescale %f, %f : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    }
    %most = grid_max %l#0 {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %dg = sub %l#0, %most : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = exp %dg : !mirage_block.tile<1x1x1xf32>
    %wa = mul %l#1, %w : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    %wb = mul %l#2, %w : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %acc = grid_sum %wa {axes = [1]} : !mirage_block.tile<1x1x4xf32>
    %sum = grid_sum %wb {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %floor = load %ek : tensor<1x1x1xf32> -> !mirage_block.tile<1x1x1xf32>
    %sf = add %sum, %floor : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %y = div %acc, %sf : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x4xf32>, tensor<2x1x4xf32>
  }
  return %r : tensor<2x1x4xf32>
}

// All but the mask.
// CHECK: @given_mask_parts: {{different|unsupported: (not the same for every mask|no useful error bound)}}
mirage_kernel.graph @given_mask_parts(%q: tensor<2x1x4xf32>, %k: tensor<2x16x4xf32>, %v: tensor<2x16x4xf32>, %c: tensor<1x1x16xi1>) -> tensor<2x1x4xf32> attributes {source = @src_given} {
  %any = reduce_max %c {dim = 2} : tensor<1x1x16xi1>
  %no = not %any : tensor<1x1x1xi1>
  %e = cast %no : tensor<1x1x1xi1> -> tensor<1x1x1xf32>
  %r = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %c, %ek = %e) outs(%o) grid [2, 2] : (tensor<2x1x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<1x1x16xi1>, tensor<1x1x1xf32>) -> tensor<2x1x4xf32> {
    %tq = load %qk {grid = [0]} : tensor<2x1x4xf32> -> !mirage_block.tile<1x1x4xf32>
    %low = bottom : !mirage_block.tile<1x1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x1x1xf32>
    %l:3 = loop 4 (%m = %low max, %a = %zero rescale, %b = %none rescale) : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32> {
      %tk = load %kk {grid = [0, 1], loop = [1], cyclic} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %tv = load %vk {grid = [0, 1], loop = [1], cyclic} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %s = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x2x4xf32>
      %in = load %ck {grid = [-1, 2], loop = [2]} : tensor<1x1x16xi1> -> !mirage_block.tile<1x1x2xi1>
      %z = mask %in, %s : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x1x2xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x2xf32>
      %next = max %m, %top : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %dm = sub %m, %next : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %f = exp %dm : !mirage_block.tile<1x1x1xf32>
      %ds = sub %z, %next : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x1x1xf32>
      %e = exp %ds : !mirage_block.tile<1x1x2xf32>
      %pv = matmul %e, %tv : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x2x4xf32>
      %es = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x2xf32>
      yield %top, %pv, %es rescale %f, %f : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    }
    %most = grid_max %l#0 {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %dg = sub %l#0, %most : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = exp %dg : !mirage_block.tile<1x1x1xf32>
    %wa = mul %l#1, %w : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    %wb = mul %l#2, %w : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %acc = grid_sum %wa {axes = [1]} : !mirage_block.tile<1x1x4xf32>
    %sum = grid_sum %wb {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %floor = load %ek : tensor<1x1x1xf32> -> !mirage_block.tile<1x1x1xf32>
    %sf = add %sum, %floor : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %y = div %acc, %sf : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x4xf32>, tensor<2x1x4xf32>
  }
  return %r : tensor<2x1x4xf32>
}

// The mask alone.
// CHECK: @given_mask_cyclic: {{different|unsupported: (not the same for every mask|no useful error bound)}}
mirage_kernel.graph @given_mask_cyclic(%q: tensor<2x1x4xf32>, %k: tensor<2x16x4xf32>, %v: tensor<2x16x4xf32>, %c: tensor<1x1x16xi1>) -> tensor<2x1x4xf32> attributes {source = @src_given} {
  %any = reduce_max %c {dim = 2} : tensor<1x1x16xi1>
  %no = not %any : tensor<1x1x1xi1>
  %e = cast %no : tensor<1x1x1xi1> -> tensor<1x1x1xf32>
  %r = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %c, %ek = %e) outs(%o) grid [2, 2] : (tensor<2x1x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<1x1x16xi1>, tensor<1x1x1xf32>) -> tensor<2x1x4xf32> {
    %tq = load %qk {grid = [0]} : tensor<2x1x4xf32> -> !mirage_block.tile<1x1x4xf32>
    %low = bottom : !mirage_block.tile<1x1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x1x1xf32>
    %l:3 = loop 4 (%m = %low max, %a = %zero rescale, %b = %none rescale) : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32> {
      %tk = load %kk {grid = [0, 1], loop = [1]} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %tv = load %vk {grid = [0, 1], loop = [1]} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %s = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x2x4xf32>
      %in = load %ck {grid = [-1, 2], loop = [2], cyclic} : tensor<1x1x16xi1> -> !mirage_block.tile<1x1x2xi1>
      %z = mask %in, %s : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x1x2xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x2xf32>
      %next = max %m, %top : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %dm = sub %m, %next : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %f = exp %dm : !mirage_block.tile<1x1x1xf32>
      %ds = sub %z, %next : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x1x1xf32>
      %e = exp %ds : !mirage_block.tile<1x1x2xf32>
      %pv = matmul %e, %tv : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x2x4xf32>
      %es = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x2xf32>
      yield %top, %pv, %es rescale %f, %f : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    }
    %most = grid_max %l#0 {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %dg = sub %l#0, %most : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = exp %dg : !mirage_block.tile<1x1x1xf32>
    %wa = mul %l#1, %w : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    %wb = mul %l#2, %w : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %acc = grid_sum %wa {axes = [1]} : !mirage_block.tile<1x1x4xf32>
    %sum = grid_sum %wb {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %floor = load %ek : tensor<1x1x1xf32> -> !mirage_block.tile<1x1x1xf32>
    %sf = add %sum, %floor : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %y = div %acc, %sf : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x4xf32>, tensor<2x1x4xf32>
  }
  return %r : tensor<2x1x4xf32>
}

// Keys from the fourth to the twelfth: known, so that each is told from each.
mirage_kernel.graph @src_known(%q: tensor<2x1x4xf32>, %k: tensor<2x16x4xf32>, %v: tensor<2x16x4xf32>) -> tensor<2x1x4xf32> {
  %j = iota {dim = 2} : tensor<1x1x16xi32>
  %b = constant 3.0 : tensor<i32>
  %e = constant 12.0 : tensor<i32>
  %i0 = less_equal %b, %j : tensor<i32>, tensor<1x1x16xi32>
  %i1 = less %j, %e : tensor<1x1x16xi32>, tensor<i32>
  %in = and %i0, %i1 : tensor<1x1x16xi1>, tensor<1x1x16xi1>
  %y = scaled_dot_product_attention %q, %k, %v, %in {scale = 1.0} : tensor<2x1x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>, tensor<1x1x16xi1>
  return %y : tensor<2x1x4xf32>
}

// Tile by tile.
// CHECK: @known_cyclic: equivalent to @src_known;
mirage_kernel.graph @known_cyclic(%q: tensor<2x1x4xf32>, %k: tensor<2x16x4xf32>, %v: tensor<2x16x4xf32>) -> tensor<2x1x4xf32> attributes {source = @src_known} {
  %r = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [2, 2] : (tensor<2x1x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>) -> tensor<2x1x4xf32> {
    %tq = load %qk {grid = [0]} : tensor<2x1x4xf32> -> !mirage_block.tile<1x1x4xf32>
    %low = bottom : !mirage_block.tile<1x1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x1x1xf32>
    %l:3 = loop 4 (%m = %low max, %a = %zero rescale, %b = %none rescale) : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32> {
      %tk = load %kk {grid = [0, 1], loop = [1], cyclic} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %tv = load %vk {grid = [0, 1], loop = [1], cyclic} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %s = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x2x4xf32>
      %j = iota {dim = 2, grid = [0, 2], loop = [4]} : !mirage_block.tile<1x1x2xi32>
      %b0 = constant 3.0 : !mirage_block.tile<1x1x1xi32>
      %e0 = constant 12.0 : !mirage_block.tile<1x1x1xi32>
      %i0 = less_equal %b0, %j : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x2xi32>
      %i1 = less %j, %e0 : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %in = and %i0, %i1 : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x1x2xi1>
      %z = mask %in, %s : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x1x2xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x2xf32>
      %next = max %m, %top : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %dm = sub %m, %next : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %f = exp %dm : !mirage_block.tile<1x1x1xf32>
      %ds = sub %z, %next : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x1x1xf32>
      %e = exp %ds : !mirage_block.tile<1x1x2xf32>
      %pv = matmul %e, %tv : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x2x4xf32>
      %es = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x2xf32>
      yield %top, %pv, %es rescale %f, %f : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    }
    %most = grid_max %l#0 {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %dg = sub %l#0, %most : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = exp %dg : !mirage_block.tile<1x1x1xf32>
    %wa = mul %l#1, %w : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    %wb = mul %l#2, %w : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %acc = grid_sum %wa {axes = [1]} : !mirage_block.tile<1x1x4xf32>
    %sum = grid_sum %wb {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %y = div %acc, %sum : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x4xf32>, tensor<2x1x4xf32>
  }
  return %r : tensor<2x1x4xf32>
}

// In one piece.
// CHECK: @known_parts: equivalent to @src_known;
mirage_kernel.graph @known_parts(%q: tensor<2x1x4xf32>, %k: tensor<2x16x4xf32>, %v: tensor<2x16x4xf32>) -> tensor<2x1x4xf32> attributes {source = @src_known} {
  %r = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [2, 2] : (tensor<2x1x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>) -> tensor<2x1x4xf32> {
    %tq = load %qk {grid = [0]} : tensor<2x1x4xf32> -> !mirage_block.tile<1x1x4xf32>
    %low = bottom : !mirage_block.tile<1x1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x1x1xf32>
    %l:3 = loop 4 (%m = %low max, %a = %zero rescale, %b = %none rescale) : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32> {
      %tk = load %kk {grid = [0, 1], loop = [1]} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %tv = load %vk {grid = [0, 1], loop = [1]} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %s = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x2x4xf32>
      %j = iota {dim = 2, grid = [0, 8], loop = [2]} : !mirage_block.tile<1x1x2xi32>
      %b0 = constant 3.0 : !mirage_block.tile<1x1x1xi32>
      %e0 = constant 12.0 : !mirage_block.tile<1x1x1xi32>
      %i0 = less_equal %b0, %j : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x2xi32>
      %i1 = less %j, %e0 : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %in = and %i0, %i1 : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x1x2xi1>
      %z = mask %in, %s : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x1x2xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x2xf32>
      %next = max %m, %top : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %dm = sub %m, %next : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %f = exp %dm : !mirage_block.tile<1x1x1xf32>
      %ds = sub %z, %next : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x1x1xf32>
      %e = exp %ds : !mirage_block.tile<1x1x2xf32>
      %pv = matmul %e, %tv : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x2x4xf32>
      %es = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x2xf32>
      yield %top, %pv, %es rescale %f, %f : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    }
    %most = grid_max %l#0 {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %dg = sub %l#0, %most : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = exp %dg : !mirage_block.tile<1x1x1xf32>
    %wa = mul %l#1, %w : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    %wb = mul %l#2, %w : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %acc = grid_sum %wa {axes = [1]} : !mirage_block.tile<1x1x4xf32>
    %sum = grid_sum %wb {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %y = div %acc, %sum : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x4xf32>, tensor<2x1x4xf32>
  }
  return %r : tensor<2x1x4xf32>
}

// All but the mask.
// CHECK: @known_mask_parts: {{different|unsupported: (not the same for every mask|no useful error bound)}}
mirage_kernel.graph @known_mask_parts(%q: tensor<2x1x4xf32>, %k: tensor<2x16x4xf32>, %v: tensor<2x16x4xf32>) -> tensor<2x1x4xf32> attributes {source = @src_known} {
  %r = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [2, 2] : (tensor<2x1x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>) -> tensor<2x1x4xf32> {
    %tq = load %qk {grid = [0]} : tensor<2x1x4xf32> -> !mirage_block.tile<1x1x4xf32>
    %low = bottom : !mirage_block.tile<1x1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x1x1xf32>
    %l:3 = loop 4 (%m = %low max, %a = %zero rescale, %b = %none rescale) : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32> {
      %tk = load %kk {grid = [0, 1], loop = [1], cyclic} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %tv = load %vk {grid = [0, 1], loop = [1], cyclic} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %s = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x2x4xf32>
      %j = iota {dim = 2, grid = [0, 8], loop = [2]} : !mirage_block.tile<1x1x2xi32>
      %b0 = constant 3.0 : !mirage_block.tile<1x1x1xi32>
      %e0 = constant 12.0 : !mirage_block.tile<1x1x1xi32>
      %i0 = less_equal %b0, %j : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x2xi32>
      %i1 = less %j, %e0 : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %in = and %i0, %i1 : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x1x2xi1>
      %z = mask %in, %s : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x1x2xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x2xf32>
      %next = max %m, %top : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %dm = sub %m, %next : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %f = exp %dm : !mirage_block.tile<1x1x1xf32>
      %ds = sub %z, %next : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x1x1xf32>
      %e = exp %ds : !mirage_block.tile<1x1x2xf32>
      %pv = matmul %e, %tv : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x2x4xf32>
      %es = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x2xf32>
      yield %top, %pv, %es rescale %f, %f : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    }
    %most = grid_max %l#0 {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %dg = sub %l#0, %most : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = exp %dg : !mirage_block.tile<1x1x1xf32>
    %wa = mul %l#1, %w : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    %wb = mul %l#2, %w : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %acc = grid_sum %wa {axes = [1]} : !mirage_block.tile<1x1x4xf32>
    %sum = grid_sum %wb {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %y = div %acc, %sum : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x4xf32>, tensor<2x1x4xf32>
  }
  return %r : tensor<2x1x4xf32>
}

// The mask alone.
// CHECK: @known_mask_cyclic: {{different|unsupported: (not the same for every mask|no useful error bound)}}
mirage_kernel.graph @known_mask_cyclic(%q: tensor<2x1x4xf32>, %k: tensor<2x16x4xf32>, %v: tensor<2x16x4xf32>) -> tensor<2x1x4xf32> attributes {source = @src_known} {
  %r = custom (%qk = %q, %kk = %k, %vk = %v) outs(%o) grid [2, 2] : (tensor<2x1x4xf32>, tensor<2x16x4xf32>, tensor<2x16x4xf32>) -> tensor<2x1x4xf32> {
    %tq = load %qk {grid = [0]} : tensor<2x1x4xf32> -> !mirage_block.tile<1x1x4xf32>
    %low = bottom : !mirage_block.tile<1x1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1x4xf32>
    %none = constant 0.0 : !mirage_block.tile<1x1x1xf32>
    %l:3 = loop 4 (%m = %low max, %a = %zero rescale, %b = %none rescale) : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32> {
      %tk = load %kk {grid = [0, 1], loop = [1]} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %tv = load %vk {grid = [0, 1], loop = [1]} : tensor<2x16x4xf32> -> !mirage_block.tile<1x2x4xf32>
      %s = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x2x4xf32>
      %j = iota {dim = 2, grid = [0, 2], loop = [4]} : !mirage_block.tile<1x1x2xi32>
      %b0 = constant 3.0 : !mirage_block.tile<1x1x1xi32>
      %e0 = constant 12.0 : !mirage_block.tile<1x1x1xi32>
      %i0 = less_equal %b0, %j : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x2xi32>
      %i1 = less %j, %e0 : !mirage_block.tile<1x1x2xi32>, !mirage_block.tile<1x1x1xi32>
      %in = and %i0, %i1 : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x1x2xi1>
      %z = mask %in, %s : !mirage_block.tile<1x1x2xi1>, !mirage_block.tile<1x1x2xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x2xf32>
      %next = max %m, %top : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %dm = sub %m, %next : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
      %f = exp %dm : !mirage_block.tile<1x1x1xf32>
      %ds = sub %z, %next : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x1x1xf32>
      %e = exp %ds : !mirage_block.tile<1x1x2xf32>
      %pv = matmul %e, %tv : !mirage_block.tile<1x1x2xf32>, !mirage_block.tile<1x2x4xf32>
      %es = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x2xf32>
      yield %top, %pv, %es rescale %f, %f : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    }
    %most = grid_max %l#0 {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %dg = sub %l#0, %most : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %w = exp %dg : !mirage_block.tile<1x1x1xf32>
    %wa = mul %l#1, %w : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    %wb = mul %l#2, %w : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %acc = grid_sum %wa {axes = [1]} : !mirage_block.tile<1x1x4xf32>
    %sum = grid_sum %wb {axes = [1]} : !mirage_block.tile<1x1x1xf32>
    %y = div %acc, %sum : !mirage_block.tile<1x1x4xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x4xf32>, tensor<2x1x4xf32>
  }
  return %r : tensor<2x1x4xf32>
}
