// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// Which row of a mask an output goes by. What is 1 for every number that a mask adds says nothing of it, and is 0 where its own row
// holds nowhere; what was divided by a sum with the row's number does, wherever it is moved to.

// One key: exp(z - z).
mirage_kernel.graph @src_one(%c: tensor<2x1x1xi1>, %x: tensor<1x2x1xf32>) -> tensor<2x2x1xf32> {
  %z = mask %c, %x : tensor<2x1x1xi1>, tensor<1x2x1xf32>
  %m = reduce_max %z {dim = 2} : tensor<2x2x1xf32>
  %d = sub %z, %m : tensor<2x2x1xf32>, tensor<2x2x1xf32>
  %e = exp %d : tensor<2x2x1xf32>
  return %e : tensor<2x2x1xf32>
}

// CHECK: @one_own_row: equivalent to @src_one;
mirage_kernel.graph @one_own_row(%c: tensor<2x1x1xi1>, %x: tensor<1x2x1xf32>) -> tensor<2x2x1xf32> attributes {source = @src_one} {
  %0 = custom (%p = %c, %q = %x) outs(%o) grid [2, 2] : (tensor<2x1x1xi1>, tensor<1x2x1xf32>) -> tensor<2x2x1xf32> {
    %b = load %p {grid = [0]} : tensor<2x1x1xi1> -> !mirage_block.tile<1x1x1xi1>
    %t = load %q {grid = [-1, 1]} : tensor<1x2x1xf32> -> !mirage_block.tile<1x1x1xf32>
    %z = mask %b, %t : !mirage_block.tile<1x1x1xi1>, !mirage_block.tile<1x1x1xf32>
    %m = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x1xf32>
    %d = sub %z, %m : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %e = exp %d : !mirage_block.tile<1x1x1xf32>
    store %e, %o {grid = [0, 1]} : !mirage_block.tile<1x1x1xf32>, tensor<2x2x1xf32>
  }
  return %0 : tensor<2x2x1xf32>
}

// CHECK: @one_other_row: different
mirage_kernel.graph @one_other_row(%c: tensor<2x1x1xi1>, %x: tensor<1x2x1xf32>) -> tensor<2x2x1xf32> attributes {source = @src_one} {
  %0 = custom (%p = %c, %q = %x) outs(%o) grid [2, 2] : (tensor<2x1x1xi1>, tensor<1x2x1xf32>) -> tensor<2x2x1xf32> {
    %b = load %p {grid = [-1, 0]} : tensor<2x1x1xi1> -> !mirage_block.tile<1x1x1xi1>
    %t = load %q {grid = [-1, 1]} : tensor<1x2x1xf32> -> !mirage_block.tile<1x1x1xf32>
    %z = mask %b, %t : !mirage_block.tile<1x1x1xi1>, !mirage_block.tile<1x1x1xf32>
    %m = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x1xf32>
    %d = sub %z, %m : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %e = exp %d : !mirage_block.tile<1x1x1xf32>
    store %e, %o {grid = [0, 1]} : !mirage_block.tile<1x1x1xf32>, tensor<2x2x1xf32>
  }
  return %0 : tensor<2x2x1xf32>
}

// Many keys: exp(m - m).
mirage_kernel.graph @src_seen(%c: tensor<16x1x16xi1>, %x: tensor<1x16x16xf32>) -> tensor<16x16x1xf32> {
  %z = mask %c, %x : tensor<16x1x16xi1>, tensor<1x16x16xf32>
  %m = reduce_max %z {dim = 2} : tensor<16x16x16xf32>
  %d = sub %m, %m : tensor<16x16x1xf32>, tensor<16x16x1xf32>
  %e = exp %d : tensor<16x16x1xf32>
  return %e : tensor<16x16x1xf32>
}
// Of another row.
// CHECK: @seen_other_row: unsupported: no useful error bound
mirage_kernel.graph @seen_other_row(%c: tensor<16x1x16xi1>, %x: tensor<1x16x16xf32>) -> tensor<16x16x1xf32> attributes {source = @src_seen} {
  %0 = custom (%p = %c, %q = %x) outs(%o) grid [16, 16] : (tensor<16x1x16xi1>, tensor<1x16x16xf32>) -> tensor<16x16x1xf32> {
    %b = load %p {grid = [-1, 0]} : tensor<16x1x16xi1> -> !mirage_block.tile<1x1x16xi1>
    %t = load %q {grid = [-1, 1]} : tensor<1x16x16xf32> -> !mirage_block.tile<1x1x16xf32>
    %z = mask %b, %t : !mirage_block.tile<1x1x16xi1>, !mirage_block.tile<1x1x16xf32>
    %m = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %d = sub %m, %m : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %e = exp %d : !mirage_block.tile<1x1x1xf32>
    store %e, %o {grid = [0, 1]} : !mirage_block.tile<1x1x1xf32>, tensor<16x16x1xf32>
  }
  return %0 : tensor<16x16x1xf32>
}

// Attention of one query a head, by a length, whose result is moved.
mirage_kernel.graph @src_moved(%q: tensor<4x1x8xf32>, %k: tensor<4x16x8xf32>, %v: tensor<4x16x8xf32>, %n: tensor<4x1x1xi32>) -> tensor<4x1x8xf32> {
  %j = iota {dim = 2} : tensor<1x1x16xi32>
  %c = less %j, %n : tensor<1x1x16xi32>, tensor<4x1x1xi32>
  %y = scaled_dot_product_attention %q, %k, %v, %c {scale = 0.5} : tensor<4x1x8xf32>, tensor<4x16x8xf32>, tensor<4x16x8xf32>, tensor<4x1x16xi1>
  return %y : tensor<4x1x8xf32>
}

// Stored with the heads as rows.
// CHECK: @moved_reshape: equivalent to @src_moved;
mirage_kernel.graph @moved_reshape(%q: tensor<4x1x8xf32>, %k: tensor<4x16x8xf32>, %v: tensor<4x16x8xf32>, %n: tensor<4x1x1xi32>) -> tensor<4x1x8xf32> attributes {source = @src_moved} {
  %j = iota {dim = 2} : tensor<1x1x16xi32>
  %c = less %j, %n : tensor<1x1x16xi32>, tensor<4x1x1xi32>
  %any = reduce_max %c {dim = 2} : tensor<4x1x16xi1>
  %no = not %any : tensor<4x1x1xi1>
  %floor = cast %no : tensor<4x1x1xi1> -> tensor<4x1x1xf32>
  %r = custom (%a = %q, %b = %k, %d = %v, %l = %n, %f = %floor) outs(%o) grid [4] : (tensor<4x1x8xf32>, tensor<4x16x8xf32>, tensor<4x16x8xf32>, tensor<4x1x1xi32>, tensor<4x1x1xf32>) -> tensor<1x4x8xf32> {
    %tq = load %a {grid = [0]} : tensor<4x1x8xf32> -> !mirage_block.tile<1x1x8xf32>
    %tk = load %b {grid = [0]} : tensor<4x16x8xf32> -> !mirage_block.tile<1x16x8xf32>
    %tv = load %d {grid = [0]} : tensor<4x16x8xf32> -> !mirage_block.tile<1x16x8xf32>
    %tn = load %l {grid = [0]} : tensor<4x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %tf = load %f {grid = [0]} : tensor<4x1x1xf32> -> !mirage_block.tile<1x1x1xf32>
    %i = iota {dim = 2} : !mirage_block.tile<1x1x16xi32>
    %in = less %i, %tn : !mirage_block.tile<1x1x16xi32>, !mirage_block.tile<1x1x1xi32>
    %s0 = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x8xf32>, !mirage_block.tile<1x16x8xf32>
    %h = constant 0.5 : !mirage_block.tile<1x1x1xf32>
    %s = mul %s0, %h : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x1x1xf32>
    %z = mask %in, %s : !mirage_block.tile<1x1x16xi1>, !mirage_block.tile<1x1x16xf32>
    %m = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %x = sub %z, %m : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x1x1xf32>
    %e = exp %x : !mirage_block.tile<1x1x16xf32>
    %t = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %by = add %t, %tf : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %p = matmul %e, %tv : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x16x8xf32>
    %y = div %p, %by : !mirage_block.tile<1x1x8xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [1]} : !mirage_block.tile<1x1x8xf32>, tensor<1x4x8xf32>
  }
  %w = reshape %r : tensor<1x4x8xf32> -> tensor<4x1x8xf32>
  return %w : tensor<4x1x8xf32>
}

// Turned on the way.
// CHECK: @moved_transposed: {{different|unsupported: not the same for every mask}}
mirage_kernel.graph @moved_transposed(%q: tensor<4x1x8xf32>, %k: tensor<4x16x8xf32>, %v: tensor<4x16x8xf32>, %n: tensor<4x1x1xi32>) -> tensor<4x1x8xf32> attributes {source = @src_moved} {
  %j = iota {dim = 2} : tensor<1x1x16xi32>
  %c = less %j, %n : tensor<1x1x16xi32>, tensor<4x1x1xi32>
  %any = reduce_max %c {dim = 2} : tensor<4x1x16xi1>
  %no = not %any : tensor<4x1x1xi1>
  %floor = cast %no : tensor<4x1x1xi1> -> tensor<4x1x1xf32>
  %r = custom (%a = %q, %b = %k, %d = %v, %l = %n, %f = %floor) outs(%o) grid [4] : (tensor<4x1x8xf32>, tensor<4x16x8xf32>, tensor<4x16x8xf32>, tensor<4x1x1xi32>, tensor<4x1x1xf32>) -> tensor<1x4x8xf32> {
    %tq = load %a {grid = [0]} : tensor<4x1x8xf32> -> !mirage_block.tile<1x1x8xf32>
    %tk = load %b {grid = [0]} : tensor<4x16x8xf32> -> !mirage_block.tile<1x16x8xf32>
    %tv = load %d {grid = [0]} : tensor<4x16x8xf32> -> !mirage_block.tile<1x16x8xf32>
    %tn = load %l {grid = [0]} : tensor<4x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %tf = load %f {grid = [0]} : tensor<4x1x1xf32> -> !mirage_block.tile<1x1x1xf32>
    %i = iota {dim = 2} : !mirage_block.tile<1x1x16xi32>
    %in = less %i, %tn : !mirage_block.tile<1x1x16xi32>, !mirage_block.tile<1x1x1xi32>
    %s0 = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x8xf32>, !mirage_block.tile<1x16x8xf32>
    %h = constant 0.5 : !mirage_block.tile<1x1x1xf32>
    %s = mul %s0, %h : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x1x1xf32>
    %z = mask %in, %s : !mirage_block.tile<1x1x16xi1>, !mirage_block.tile<1x1x16xf32>
    %m = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %x = sub %z, %m : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x1x1xf32>
    %e = exp %x : !mirage_block.tile<1x1x16xf32>
    %t = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %by = add %t, %tf : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %p = matmul %e, %tv : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x16x8xf32>
    %y = div %p, %by : !mirage_block.tile<1x1x8xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [1]} : !mirage_block.tile<1x1x8xf32>, tensor<1x4x8xf32>
  }
  %u = reshape %r : tensor<1x4x8xf32> -> tensor<1x8x4xf32>
  %u1 = transpose %u {perm = [0, 2, 1]} : tensor<1x8x4xf32>
  %w = reshape %u1 : tensor<1x4x8xf32> -> tensor<4x1x8xf32>
  return %w : tensor<4x1x8xf32>
}

// Each the head after its own.
// CHECK: @moved_last: {{different|unsupported: not the same for every mask}}
mirage_kernel.graph @moved_last(%q: tensor<4x1x8xf32>, %k: tensor<4x16x8xf32>, %v: tensor<4x16x8xf32>, %n: tensor<4x1x1xi32>) -> tensor<4x1x8xf32> attributes {source = @src_moved} {
  %j = iota {dim = 2} : tensor<1x1x16xi32>
  %c = less %j, %n : tensor<1x1x16xi32>, tensor<4x1x1xi32>
  %any = reduce_max %c {dim = 2} : tensor<4x1x16xi1>
  %no = not %any : tensor<4x1x1xi1>
  %floor = cast %no : tensor<4x1x1xi1> -> tensor<4x1x1xf32>
  %r = custom (%a = %q, %b = %k, %d = %v, %l = %n, %f = %floor) outs(%o) grid [4] : (tensor<4x1x8xf32>, tensor<4x16x8xf32>, tensor<4x16x8xf32>, tensor<4x1x1xi32>, tensor<4x1x1xf32>) -> tensor<1x4x8xf32> {
    %tq = load %a {grid = [0]} : tensor<4x1x8xf32> -> !mirage_block.tile<1x1x8xf32>
    %tk = load %b {grid = [0]} : tensor<4x16x8xf32> -> !mirage_block.tile<1x16x8xf32>
    %tv = load %d {grid = [0]} : tensor<4x16x8xf32> -> !mirage_block.tile<1x16x8xf32>
    %tn = load %l {grid = [0]} : tensor<4x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %tf = load %f {grid = [0]} : tensor<4x1x1xf32> -> !mirage_block.tile<1x1x1xf32>
    %i = iota {dim = 2} : !mirage_block.tile<1x1x16xi32>
    %in = less %i, %tn : !mirage_block.tile<1x1x16xi32>, !mirage_block.tile<1x1x1xi32>
    %s0 = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x8xf32>, !mirage_block.tile<1x16x8xf32>
    %h = constant 0.5 : !mirage_block.tile<1x1x1xf32>
    %s = mul %s0, %h : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x1x1xf32>
    %z = mask %in, %s : !mirage_block.tile<1x1x16xi1>, !mirage_block.tile<1x1x16xf32>
    %m = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %x = sub %z, %m : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x1x1xf32>
    %e = exp %x : !mirage_block.tile<1x1x16xf32>
    %t = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %by = add %t, %tf : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %p = matmul %e, %tv : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x16x8xf32>
    %y = div %p, %by : !mirage_block.tile<1x1x8xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [1]} : !mirage_block.tile<1x1x8xf32>, tensor<1x4x8xf32>
  }
  %u = slice %r {dim = 1, begin = 1, end = 4} : tensor<1x4x8xf32>
  %u1 = slice %r {dim = 1, begin = 0, end = 1} : tensor<1x4x8xf32>
  %u2 = concat %u, %u1 {dim = 1} : tensor<1x3x8xf32>, tensor<1x1x8xf32>
  %w = reshape %u2 : tensor<1x4x8xf32> -> tensor<4x1x8xf32>
  return %w : tensor<4x1x8xf32>
}

// Whether a row sees a key at all, by the first of its keys: it does if any does.
// Asked by each block.
// CHECK: @first_key: equivalent to @src_moved;
mirage_kernel.graph @first_key(%q: tensor<4x1x8xf32>, %k: tensor<4x16x8xf32>, %v: tensor<4x16x8xf32>, %n: tensor<4x1x1xi32>) -> tensor<4x1x8xf32> attributes {source = @src_moved} {
  %r = custom (%a = %q, %b = %k, %d = %v, %l = %n) outs(%o) grid [4] : (tensor<4x1x8xf32>, tensor<4x16x8xf32>, tensor<4x16x8xf32>, tensor<4x1x1xi32>) -> tensor<4x1x8xf32> {
    %tq = load %a {grid = [0]} : tensor<4x1x8xf32> -> !mirage_block.tile<1x1x8xf32>
    %tk = load %b {grid = [0]} : tensor<4x16x8xf32> -> !mirage_block.tile<1x16x8xf32>
    %tv = load %d {grid = [0]} : tensor<4x16x8xf32> -> !mirage_block.tile<1x16x8xf32>
    %tn = load %l {grid = [0]} : tensor<4x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %i = iota {dim = 2} : !mirage_block.tile<1x1x16xi32>
    %in = less %i, %tn : !mirage_block.tile<1x1x16xi32>, !mirage_block.tile<1x1x1xi32>
    %s0 = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x8xf32>, !mirage_block.tile<1x16x8xf32>
    %h = constant 0.5 : !mirage_block.tile<1x1x1xf32>
    %s = mul %s0, %h : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x1x1xf32>
    %z = mask %in, %s : !mirage_block.tile<1x1x16xi1>, !mirage_block.tile<1x1x16xf32>
    %m = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %x = sub %z, %m : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x1x1xf32>
    %e = exp %x : !mirage_block.tile<1x1x16xf32>
    %t = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %c0 = constant 0.0 : !mirage_block.tile<1x1x1xi32>
    %some = less %c0, %tn : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x1xi32>
    %no = not %some : !mirage_block.tile<1x1x1xi1>
    %tf = cast %no : !mirage_block.tile<1x1x1xi1> -> !mirage_block.tile<1x1x1xf32>
    %by = add %t, %tf : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %p = matmul %e, %tv : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x16x8xf32>
    %y = div %p, %by : !mirage_block.tile<1x1x8xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x8xf32>, tensor<4x1x8xf32>
  }
  return %r : tensor<4x1x8xf32>
}

// By the second key: a row of one key is empty.
// CHECK: @second_key: {{different|unsupported: (not the same for every mask|no useful error bound)}}
mirage_kernel.graph @second_key(%q: tensor<4x1x8xf32>, %k: tensor<4x16x8xf32>, %v: tensor<4x16x8xf32>, %n: tensor<4x1x1xi32>) -> tensor<4x1x8xf32> attributes {source = @src_moved} {
  %r = custom (%a = %q, %b = %k, %d = %v, %l = %n) outs(%o) grid [4] : (tensor<4x1x8xf32>, tensor<4x16x8xf32>, tensor<4x16x8xf32>, tensor<4x1x1xi32>) -> tensor<4x1x8xf32> {
    %tq = load %a {grid = [0]} : tensor<4x1x8xf32> -> !mirage_block.tile<1x1x8xf32>
    %tk = load %b {grid = [0]} : tensor<4x16x8xf32> -> !mirage_block.tile<1x16x8xf32>
    %tv = load %d {grid = [0]} : tensor<4x16x8xf32> -> !mirage_block.tile<1x16x8xf32>
    %tn = load %l {grid = [0]} : tensor<4x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %i = iota {dim = 2} : !mirage_block.tile<1x1x16xi32>
    %in = less %i, %tn : !mirage_block.tile<1x1x16xi32>, !mirage_block.tile<1x1x1xi32>
    %s0 = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x8xf32>, !mirage_block.tile<1x16x8xf32>
    %h = constant 0.5 : !mirage_block.tile<1x1x1xf32>
    %s = mul %s0, %h : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x1x1xf32>
    %z = mask %in, %s : !mirage_block.tile<1x1x16xi1>, !mirage_block.tile<1x1x16xf32>
    %m = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %x = sub %z, %m : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x1x1xf32>
    %e = exp %x : !mirage_block.tile<1x1x16xf32>
    %t = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %c0 = constant 1.0 : !mirage_block.tile<1x1x1xi32>
    %some = less %c0, %tn : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x1xi32>
    %no = not %some : !mirage_block.tile<1x1x1xi1>
    %tf = cast %no : !mirage_block.tile<1x1x1xi1> -> !mirage_block.tile<1x1x1xf32>
    %by = add %t, %tf : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %p = matmul %e, %tv : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x16x8xf32>
    %y = div %p, %by : !mirage_block.tile<1x1x8xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x8xf32>, tensor<4x1x8xf32>
  }
  return %r : tensor<4x1x8xf32>
}

// By 0 <= length: no row is empty.
// CHECK: @first_key_or_none: {{different|unsupported: (not the same for every mask|no useful error bound)}}
mirage_kernel.graph @first_key_or_none(%q: tensor<4x1x8xf32>, %k: tensor<4x16x8xf32>, %v: tensor<4x16x8xf32>, %n: tensor<4x1x1xi32>) -> tensor<4x1x8xf32> attributes {source = @src_moved} {
  %r = custom (%a = %q, %b = %k, %d = %v, %l = %n) outs(%o) grid [4] : (tensor<4x1x8xf32>, tensor<4x16x8xf32>, tensor<4x16x8xf32>, tensor<4x1x1xi32>) -> tensor<4x1x8xf32> {
    %tq = load %a {grid = [0]} : tensor<4x1x8xf32> -> !mirage_block.tile<1x1x8xf32>
    %tk = load %b {grid = [0]} : tensor<4x16x8xf32> -> !mirage_block.tile<1x16x8xf32>
    %tv = load %d {grid = [0]} : tensor<4x16x8xf32> -> !mirage_block.tile<1x16x8xf32>
    %tn = load %l {grid = [0]} : tensor<4x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %i = iota {dim = 2} : !mirage_block.tile<1x1x16xi32>
    %in = less %i, %tn : !mirage_block.tile<1x1x16xi32>, !mirage_block.tile<1x1x1xi32>
    %s0 = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x8xf32>, !mirage_block.tile<1x16x8xf32>
    %h = constant 0.5 : !mirage_block.tile<1x1x1xf32>
    %s = mul %s0, %h : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x1x1xf32>
    %z = mask %in, %s : !mirage_block.tile<1x1x16xi1>, !mirage_block.tile<1x1x16xf32>
    %m = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %x = sub %z, %m : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x1x1xf32>
    %e = exp %x : !mirage_block.tile<1x1x16xf32>
    %t = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %c0 = constant 0.0 : !mirage_block.tile<1x1x1xi32>
    %some = less_equal %c0, %tn : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x1xi32>
    %no = not %some : !mirage_block.tile<1x1x1xi1>
    %tf = cast %no : !mirage_block.tile<1x1x1xi1> -> !mirage_block.tile<1x1x1xf32>
    %by = add %t, %tf : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %p = matmul %e, %tv : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x16x8xf32>
    %y = div %p, %by : !mirage_block.tile<1x1x8xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x8xf32>, tensor<4x1x8xf32>
  }
  return %r : tensor<4x1x8xf32>
}

// By length < 0: each row with keys is empty.
// CHECK: @first_key_turned: {{different|unsupported: (not the same for every mask|no useful error bound)}}
mirage_kernel.graph @first_key_turned(%q: tensor<4x1x8xf32>, %k: tensor<4x16x8xf32>, %v: tensor<4x16x8xf32>, %n: tensor<4x1x1xi32>) -> tensor<4x1x8xf32> attributes {source = @src_moved} {
  %r = custom (%a = %q, %b = %k, %d = %v, %l = %n) outs(%o) grid [4] : (tensor<4x1x8xf32>, tensor<4x16x8xf32>, tensor<4x16x8xf32>, tensor<4x1x1xi32>) -> tensor<4x1x8xf32> {
    %tq = load %a {grid = [0]} : tensor<4x1x8xf32> -> !mirage_block.tile<1x1x8xf32>
    %tk = load %b {grid = [0]} : tensor<4x16x8xf32> -> !mirage_block.tile<1x16x8xf32>
    %tv = load %d {grid = [0]} : tensor<4x16x8xf32> -> !mirage_block.tile<1x16x8xf32>
    %tn = load %l {grid = [0]} : tensor<4x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %i = iota {dim = 2} : !mirage_block.tile<1x1x16xi32>
    %in = less %i, %tn : !mirage_block.tile<1x1x16xi32>, !mirage_block.tile<1x1x1xi32>
    %s0 = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x8xf32>, !mirage_block.tile<1x16x8xf32>
    %h = constant 0.5 : !mirage_block.tile<1x1x1xf32>
    %s = mul %s0, %h : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x1x1xf32>
    %z = mask %in, %s : !mirage_block.tile<1x1x16xi1>, !mirage_block.tile<1x1x16xf32>
    %m = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %x = sub %z, %m : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x1x1xf32>
    %e = exp %x : !mirage_block.tile<1x1x16xf32>
    %t = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %c0 = constant 0.0 : !mirage_block.tile<1x1x1xi32>
    %some = less %tn, %c0 : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x1xi32>
    %no = not %some : !mirage_block.tile<1x1x1xi1>
    %tf = cast %no : !mirage_block.tile<1x1x1xi1> -> !mirage_block.tile<1x1x1xf32>
    %by = add %t, %tf : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %p = matmul %e, %tv : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x16x8xf32>
    %y = div %p, %by : !mirage_block.tile<1x1x8xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x8xf32>, tensor<4x1x8xf32>
  }
  return %r : tensor<4x1x8xf32>
}

// By -1 < length.
// CHECK: @before_first_key: {{different|unsupported: (not the same for every mask|no useful error bound)}}
mirage_kernel.graph @before_first_key(%q: tensor<4x1x8xf32>, %k: tensor<4x16x8xf32>, %v: tensor<4x16x8xf32>, %n: tensor<4x1x1xi32>) -> tensor<4x1x8xf32> attributes {source = @src_moved} {
  %r = custom (%a = %q, %b = %k, %d = %v, %l = %n) outs(%o) grid [4] : (tensor<4x1x8xf32>, tensor<4x16x8xf32>, tensor<4x16x8xf32>, tensor<4x1x1xi32>) -> tensor<4x1x8xf32> {
    %tq = load %a {grid = [0]} : tensor<4x1x8xf32> -> !mirage_block.tile<1x1x8xf32>
    %tk = load %b {grid = [0]} : tensor<4x16x8xf32> -> !mirage_block.tile<1x16x8xf32>
    %tv = load %d {grid = [0]} : tensor<4x16x8xf32> -> !mirage_block.tile<1x16x8xf32>
    %tn = load %l {grid = [0]} : tensor<4x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %i = iota {dim = 2} : !mirage_block.tile<1x1x16xi32>
    %in = less %i, %tn : !mirage_block.tile<1x1x16xi32>, !mirage_block.tile<1x1x1xi32>
    %s0 = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x8xf32>, !mirage_block.tile<1x16x8xf32>
    %h = constant 0.5 : !mirage_block.tile<1x1x1xf32>
    %s = mul %s0, %h : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x1x1xf32>
    %z = mask %in, %s : !mirage_block.tile<1x1x16xi1>, !mirage_block.tile<1x1x16xf32>
    %m = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %x = sub %z, %m : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x1x1xf32>
    %e = exp %x : !mirage_block.tile<1x1x16xf32>
    %t = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %c0 = constant -1.0 : !mirage_block.tile<1x1x1xi32>
    %some = less %c0, %tn : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x1xi32>
    %no = not %some : !mirage_block.tile<1x1x1xi1>
    %tf = cast %no : !mirage_block.tile<1x1x1xi1> -> !mirage_block.tile<1x1x1xf32>
    %by = add %t, %tf : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %p = matmul %e, %tv : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x16x8xf32>
    %y = div %p, %by : !mirage_block.tile<1x1x8xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x8xf32>, tensor<4x1x8xf32>
  }
  return %r : tensor<4x1x8xf32>
}

// By the length of the first head.
// CHECK: @first_head: {{different|unsupported: (not the same for every mask|no useful error bound)}}
mirage_kernel.graph @first_head(%q: tensor<4x1x8xf32>, %k: tensor<4x16x8xf32>, %v: tensor<4x16x8xf32>, %n: tensor<4x1x1xi32>) -> tensor<4x1x8xf32> attributes {source = @src_moved} {
  %r = custom (%a = %q, %b = %k, %d = %v, %l = %n) outs(%o) grid [4] : (tensor<4x1x8xf32>, tensor<4x16x8xf32>, tensor<4x16x8xf32>, tensor<4x1x1xi32>) -> tensor<4x1x8xf32> {
    %tq = load %a {grid = [0]} : tensor<4x1x8xf32> -> !mirage_block.tile<1x1x8xf32>
    %tk = load %b {grid = [0]} : tensor<4x16x8xf32> -> !mirage_block.tile<1x16x8xf32>
    %tv = load %d {grid = [0]} : tensor<4x16x8xf32> -> !mirage_block.tile<1x16x8xf32>
    %tn = load %l {grid = [0]} : tensor<4x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %i = iota {dim = 2} : !mirage_block.tile<1x1x16xi32>
    %in = less %i, %tn : !mirage_block.tile<1x1x16xi32>, !mirage_block.tile<1x1x1xi32>
    %s0 = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x8xf32>, !mirage_block.tile<1x16x8xf32>
    %h = constant 0.5 : !mirage_block.tile<1x1x1xf32>
    %s = mul %s0, %h : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x1x1xf32>
    %z = mask %in, %s : !mirage_block.tile<1x1x16xi1>, !mirage_block.tile<1x1x16xf32>
    %m = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %x = sub %z, %m : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x1x1xf32>
    %e = exp %x : !mirage_block.tile<1x1x16xf32>
    %t = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %tn0 = load %l {begin = [0, 0, 0], end = [1, 1, 1]} : tensor<4x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %c0 = constant 0.0 : !mirage_block.tile<1x1x1xi32>
    %some = less %c0, %tn0 : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x1xi32>
    %no = not %some : !mirage_block.tile<1x1x1xi1>
    %tf = cast %no : !mirage_block.tile<1x1x1xi1> -> !mirage_block.tile<1x1x1xf32>
    %by = add %t, %tf : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %p = matmul %e, %tv : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x16x8xf32>
    %y = div %p, %by : !mirage_block.tile<1x1x8xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x8xf32>, tensor<4x1x8xf32>
  }
  return %r : tensor<4x1x8xf32>
}

// Lengths are read once more in each iteration.
mirage_kernel.graph @src_again(%q: tensor<4x8xf32>, %k: tensor<16x8xf32>, %v: tensor<16x8xf32>, %n: tensor<1x1xi32>) -> tensor<4x8xf32> {
  %j = iota {dim = 1} : tensor<1x16xi32>
  %c = less %j, %n : tensor<1x16xi32>, tensor<1x1xi32>
  %y = scaled_dot_product_attention %q, %k, %v, %c {scale = 0.5} : tensor<4x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<1x16xi1>
  return %y : tensor<4x8xf32>
}

// From where it lies.
// CHECK: @again: equivalent to @src_again;
mirage_kernel.graph @again(%q: tensor<4x8xf32>, %k: tensor<16x8xf32>, %v: tensor<16x8xf32>, %n: tensor<1x1xi32>) -> tensor<4x8xf32> attributes {source = @src_again} {
  %r = custom (%a = %q, %b = %k, %d = %v, %l = %n) outs(%o) grid [4] : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<1x1xi32>) -> tensor<4x8xf32> {
    %tq = load %a {grid = [0]} : tensor<4x8xf32> -> !mirage_block.tile<1x8xf32>
    %bottom = bottom : !mirage_block.tile<1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %none = constant 0.0 : !mirage_block.tile<1x8xf32>
    %sums:3 = loop 4 (%am = %bottom max, %as = %zero rescale, %ap = %none rescale) : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x8xf32> {
      %tk = load %b {loop = [0]} : tensor<16x8xf32> -> !mirage_block.tile<4x8xf32>
      %tv = load %d {loop = [0]} : tensor<16x8xf32> -> !mirage_block.tile<4x8xf32>
      %tn = load %l : tensor<1x1xi32> -> !mirage_block.tile<1x1xi32>
      %i = iota {dim = 1, loop = [4]} : !mirage_block.tile<1x4xi32>
      %in = less %i, %tn : !mirage_block.tile<1x4xi32>, !mirage_block.tile<1x1xi32>
      %s0 = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x8xf32>, !mirage_block.tile<4x8xf32>
      %h = constant 0.5 : !mirage_block.tile<1x1xf32>
      %s = mul %s0, %h : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
      %z = mask %in, %s : !mirage_block.tile<1x4xi1>, !mirage_block.tile<1x4xf32>
      %m = reduce_max %z {dim = 1} : !mirage_block.tile<1x4xf32>
      %top = max %am, %m : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %less = sub %am, %top : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %by = exp %less : !mirage_block.tile<1x1xf32>
      %x = sub %z, %top : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
      %e = exp %x : !mirage_block.tile<1x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<1x4xf32>
      %p = matmul %e, %tv : !mirage_block.tile<1x4xf32>, !mirage_block.tile<4x8xf32>
      yield %m, %t, %p rescale %by, %by : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x8xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    }
    %tn1 = load %l : tensor<1x1xi32> -> !mirage_block.tile<1x1xi32>
    %c0 = constant 0.0 : !mirage_block.tile<1x1xi32>
    %some = less %c0, %tn1 : !mirage_block.tile<1x1xi32>, !mirage_block.tile<1x1xi32>
    %no = not %some : !mirage_block.tile<1x1xi1>
    %tf = cast %no : !mirage_block.tile<1x1xi1> -> !mirage_block.tile<1x1xf32>
    %div = add %sums#1, %tf : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    %y = div %sums#2, %div : !mirage_block.tile<1x8xf32>, !mirage_block.tile<1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x8xf32>, tensor<4x8xf32>
  }
  return %r : tensor<4x8xf32>
}

// The loop cuts its one element: later iterations load what is beyond it, 0.
// CHECK: @again_beyond: {{different|unsupported: (not the same for every mask|no useful error bound)}}
mirage_kernel.graph @again_beyond(%q: tensor<4x8xf32>, %k: tensor<16x8xf32>, %v: tensor<16x8xf32>, %n: tensor<1x1xi32>) -> tensor<4x8xf32> attributes {source = @src_again} {
  %r = custom (%a = %q, %b = %k, %d = %v, %l = %n) outs(%o) grid [4] : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<1x1xi32>) -> tensor<4x8xf32> {
    %tq = load %a {grid = [0]} : tensor<4x8xf32> -> !mirage_block.tile<1x8xf32>
    %bottom = bottom : !mirage_block.tile<1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %none = constant 0.0 : !mirage_block.tile<1x8xf32>
    %sums:3 = loop 4 (%am = %bottom max, %as = %zero rescale, %ap = %none rescale) : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x8xf32> {
      %tk = load %b {loop = [0]} : tensor<16x8xf32> -> !mirage_block.tile<4x8xf32>
      %tv = load %d {loop = [0]} : tensor<16x8xf32> -> !mirage_block.tile<4x8xf32>
      %tn = load %l {loop = [0]} : tensor<1x1xi32> -> !mirage_block.tile<1x1xi32>
      %i = iota {dim = 1, loop = [4]} : !mirage_block.tile<1x4xi32>
      %in = less %i, %tn : !mirage_block.tile<1x4xi32>, !mirage_block.tile<1x1xi32>
      %s0 = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x8xf32>, !mirage_block.tile<4x8xf32>
      %h = constant 0.5 : !mirage_block.tile<1x1xf32>
      %s = mul %s0, %h : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
      %z = mask %in, %s : !mirage_block.tile<1x4xi1>, !mirage_block.tile<1x4xf32>
      %m = reduce_max %z {dim = 1} : !mirage_block.tile<1x4xf32>
      %top = max %am, %m : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %less = sub %am, %top : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %by = exp %less : !mirage_block.tile<1x1xf32>
      %x = sub %z, %top : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
      %e = exp %x : !mirage_block.tile<1x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<1x4xf32>
      %p = matmul %e, %tv : !mirage_block.tile<1x4xf32>, !mirage_block.tile<4x8xf32>
      yield %m, %t, %p rescale %by, %by : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x8xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    }
    %tn1 = load %l : tensor<1x1xi32> -> !mirage_block.tile<1x1xi32>
    %c0 = constant 0.0 : !mirage_block.tile<1x1xi32>
    %some = less %c0, %tn1 : !mirage_block.tile<1x1xi32>, !mirage_block.tile<1x1xi32>
    %no = not %some : !mirage_block.tile<1x1xi1>
    %tf = cast %no : !mirage_block.tile<1x1xi1> -> !mirage_block.tile<1x1xf32>
    %div = add %sums#1, %tf : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    %y = div %sums#2, %div : !mirage_block.tile<1x8xf32>, !mirage_block.tile<1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x8xf32>, tensor<4x8xf32>
  }
  return %r : tensor<4x8xf32>
}

// Blocks cut it.
// CHECK: @again_blocks_beyond: {{different|unsupported: (not the same for every mask|no useful error bound)}}
mirage_kernel.graph @again_blocks_beyond(%q: tensor<4x8xf32>, %k: tensor<16x8xf32>, %v: tensor<16x8xf32>, %n: tensor<1x1xi32>) -> tensor<4x8xf32> attributes {source = @src_again} {
  %r = custom (%a = %q, %b = %k, %d = %v, %l = %n) outs(%o) grid [4] : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<1x1xi32>) -> tensor<4x8xf32> {
    %tq = load %a {grid = [0]} : tensor<4x8xf32> -> !mirage_block.tile<1x8xf32>
    %bottom = bottom : !mirage_block.tile<1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %none = constant 0.0 : !mirage_block.tile<1x8xf32>
    %sums:3 = loop 4 (%am = %bottom max, %as = %zero rescale, %ap = %none rescale) : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x8xf32> {
      %tk = load %b {loop = [0]} : tensor<16x8xf32> -> !mirage_block.tile<4x8xf32>
      %tv = load %d {loop = [0]} : tensor<16x8xf32> -> !mirage_block.tile<4x8xf32>
      %tn = load %l {grid = [1]} : tensor<1x1xi32> -> !mirage_block.tile<1x1xi32>
      %i = iota {dim = 1, loop = [4]} : !mirage_block.tile<1x4xi32>
      %in = less %i, %tn : !mirage_block.tile<1x4xi32>, !mirage_block.tile<1x1xi32>
      %s0 = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x8xf32>, !mirage_block.tile<4x8xf32>
      %h = constant 0.5 : !mirage_block.tile<1x1xf32>
      %s = mul %s0, %h : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
      %z = mask %in, %s : !mirage_block.tile<1x4xi1>, !mirage_block.tile<1x4xf32>
      %m = reduce_max %z {dim = 1} : !mirage_block.tile<1x4xf32>
      %top = max %am, %m : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %less = sub %am, %top : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %by = exp %less : !mirage_block.tile<1x1xf32>
      %x = sub %z, %top : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
      %e = exp %x : !mirage_block.tile<1x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<1x4xf32>
      %p = matmul %e, %tv : !mirage_block.tile<1x4xf32>, !mirage_block.tile<4x8xf32>
      yield %m, %t, %p rescale %by, %by : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x8xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    }
    %tn1 = load %l : tensor<1x1xi32> -> !mirage_block.tile<1x1xi32>
    %c0 = constant 0.0 : !mirage_block.tile<1x1xi32>
    %some = less %c0, %tn1 : !mirage_block.tile<1x1xi32>, !mirage_block.tile<1x1xi32>
    %no = not %some : !mirage_block.tile<1x1xi1>
    %tf = cast %no : !mirage_block.tile<1x1xi1> -> !mirage_block.tile<1x1xf32>
    %div = add %sums#1, %tf : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    %y = div %sums#2, %div : !mirage_block.tile<1x8xf32>, !mirage_block.tile<1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x8xf32>, tensor<4x8xf32>
  }
  return %r : tensor<4x8xf32>
}

// Blocks cut it where they ask for the first key.
// CHECK: @again_floor_beyond: {{different|unsupported: (not the same for every mask|no useful error bound)}}
mirage_kernel.graph @again_floor_beyond(%q: tensor<4x8xf32>, %k: tensor<16x8xf32>, %v: tensor<16x8xf32>, %n: tensor<1x1xi32>) -> tensor<4x8xf32> attributes {source = @src_again} {
  %r = custom (%a = %q, %b = %k, %d = %v, %l = %n) outs(%o) grid [4] : (tensor<4x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<1x1xi32>) -> tensor<4x8xf32> {
    %tq = load %a {grid = [0]} : tensor<4x8xf32> -> !mirage_block.tile<1x8xf32>
    %bottom = bottom : !mirage_block.tile<1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %none = constant 0.0 : !mirage_block.tile<1x8xf32>
    %sums:3 = loop 4 (%am = %bottom max, %as = %zero rescale, %ap = %none rescale) : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x8xf32> {
      %tk = load %b {loop = [0]} : tensor<16x8xf32> -> !mirage_block.tile<4x8xf32>
      %tv = load %d {loop = [0]} : tensor<16x8xf32> -> !mirage_block.tile<4x8xf32>
      %tn = load %l : tensor<1x1xi32> -> !mirage_block.tile<1x1xi32>
      %i = iota {dim = 1, loop = [4]} : !mirage_block.tile<1x4xi32>
      %in = less %i, %tn : !mirage_block.tile<1x4xi32>, !mirage_block.tile<1x1xi32>
      %s0 = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x8xf32>, !mirage_block.tile<4x8xf32>
      %h = constant 0.5 : !mirage_block.tile<1x1xf32>
      %s = mul %s0, %h : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
      %z = mask %in, %s : !mirage_block.tile<1x4xi1>, !mirage_block.tile<1x4xf32>
      %m = reduce_max %z {dim = 1} : !mirage_block.tile<1x4xf32>
      %top = max %am, %m : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %less = sub %am, %top : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %by = exp %less : !mirage_block.tile<1x1xf32>
      %x = sub %z, %top : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
      %e = exp %x : !mirage_block.tile<1x4xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<1x4xf32>
      %p = matmul %e, %tv : !mirage_block.tile<1x4xf32>, !mirage_block.tile<4x8xf32>
      yield %m, %t, %p rescale %by, %by : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x8xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    }
    %tn1 = load %l {grid = [0]} : tensor<1x1xi32> -> !mirage_block.tile<1x1xi32>
    %c0 = constant 0.0 : !mirage_block.tile<1x1xi32>
    %some = less %c0, %tn1 : !mirage_block.tile<1x1xi32>, !mirage_block.tile<1x1xi32>
    %no = not %some : !mirage_block.tile<1x1xi1>
    %tf = cast %no : !mirage_block.tile<1x1xi1> -> !mirage_block.tile<1x1xf32>
    %div = add %sums#1, %tf : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    %y = div %sums#2, %div : !mirage_block.tile<1x8xf32>, !mirage_block.tile<1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x8xf32>, tensor<4x8xf32>
  }
  return %r : tensor<4x8xf32>
}

// Two heads in one block, a length for each.
mirage_kernel.graph @src_two(%q: tensor<2x1x8xf32>, %k: tensor<2x16x8xf32>, %v: tensor<2x16x8xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x1x8xf32> {
  %j = iota {dim = 2} : tensor<1x1x16xi32>
  %c = less %j, %n : tensor<1x1x16xi32>, tensor<2x1x1xi32>
  %y = scaled_dot_product_attention %q, %k, %v, %c {scale = 0.5} : tensor<2x1x8xf32>, tensor<2x16x8xf32>, tensor<2x16x8xf32>, tensor<2x1x16xi1>
  return %y : tensor<2x1x8xf32>
}

// Both lengths in each iteration.
// CHECK: @two: equivalent to @src_two;
mirage_kernel.graph @two(%q: tensor<2x1x8xf32>, %k: tensor<2x16x8xf32>, %v: tensor<2x16x8xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x1x8xf32> attributes {source = @src_two} {
  %r = custom (%a = %q, %b = %k, %d = %v, %l = %n) outs(%o) grid [1] : (tensor<2x1x8xf32>, tensor<2x16x8xf32>, tensor<2x16x8xf32>, tensor<2x1x1xi32>) -> tensor<2x1x8xf32> {
    %tq = load %a : tensor<2x1x8xf32> -> !mirage_block.tile<2x1x8xf32>
    %bottom = bottom : !mirage_block.tile<2x1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x1x1xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1x8xf32>
    %sums:3 = loop 2 (%am = %bottom max, %as = %zero rescale, %ap = %none rescale) : !mirage_block.tile<2x1x1xf32>, !mirage_block.tile<2x1x1xf32>, !mirage_block.tile<2x1x8xf32> {
      %tk = load %b {loop = [1]} : tensor<2x16x8xf32> -> !mirage_block.tile<2x8x8xf32>
      %tv = load %d {loop = [1]} : tensor<2x16x8xf32> -> !mirage_block.tile<2x8x8xf32>
      %tn = load %l : tensor<2x1x1xi32> -> !mirage_block.tile<2x1x1xi32>
      %i = iota {dim = 2, loop = [8]} : !mirage_block.tile<1x1x8xi32>
      %in = less %i, %tn : !mirage_block.tile<1x1x8xi32>, !mirage_block.tile<2x1x1xi32>
      %s0 = matmul %tq, %tk {transpose_b} : !mirage_block.tile<2x1x8xf32>, !mirage_block.tile<2x8x8xf32>
      %h = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %s = mul %s0, %h : !mirage_block.tile<2x1x8xf32>, !mirage_block.tile<1x1x1xf32>
      %z = mask %in, %s : !mirage_block.tile<2x1x8xi1>, !mirage_block.tile<2x1x8xf32>
      %m = reduce_max %z {dim = 2} : !mirage_block.tile<2x1x8xf32>
      %top = max %am, %m : !mirage_block.tile<2x1x1xf32>, !mirage_block.tile<2x1x1xf32>
      %less = sub %am, %top : !mirage_block.tile<2x1x1xf32>, !mirage_block.tile<2x1x1xf32>
      %by = exp %less : !mirage_block.tile<2x1x1xf32>
      %x = sub %z, %top : !mirage_block.tile<2x1x8xf32>, !mirage_block.tile<2x1x1xf32>
      %e = exp %x : !mirage_block.tile<2x1x8xf32>
      %t = reduce_sum %e {dim = 2} : !mirage_block.tile<2x1x8xf32>
      %p = matmul %e, %tv : !mirage_block.tile<2x1x8xf32>, !mirage_block.tile<2x8x8xf32>
      yield %m, %t, %p rescale %by, %by : !mirage_block.tile<2x1x1xf32>, !mirage_block.tile<2x1x1xf32>, !mirage_block.tile<2x1x8xf32>, !mirage_block.tile<2x1x1xf32>, !mirage_block.tile<2x1x1xf32>
    }
    %tn1 = load %l : tensor<2x1x1xi32> -> !mirage_block.tile<2x1x1xi32>
    %c0 = constant 0.0 : !mirage_block.tile<1x1x1xi32>
    %some = less %c0, %tn1 : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<2x1x1xi32>
    %no = not %some : !mirage_block.tile<2x1x1xi1>
    %tf = cast %no : !mirage_block.tile<2x1x1xi1> -> !mirage_block.tile<2x1x1xf32>
    %div = add %sums#1, %tf : !mirage_block.tile<2x1x1xf32>, !mirage_block.tile<2x1x1xf32>
    %y = div %sums#2, %div : !mirage_block.tile<2x1x8xf32>, !mirage_block.tile<2x1x1xf32>
    store %y, %o : !mirage_block.tile<2x1x8xf32>, tensor<2x1x8xf32>
  }
  return %r : tensor<2x1x8xf32>
}

// The loop walks lengths and keys: each iteration has the length of one head for both.
// CHECK: @two_in_turn: {{different|unsupported: (not the same for every mask|no useful error bound)}}
mirage_kernel.graph @two_in_turn(%q: tensor<2x1x8xf32>, %k: tensor<2x16x8xf32>, %v: tensor<2x16x8xf32>, %n: tensor<2x1x1xi32>) -> tensor<2x1x8xf32> attributes {source = @src_two} {
  %r = custom (%a = %q, %b = %k, %d = %v, %l = %n) outs(%o) grid [1] : (tensor<2x1x8xf32>, tensor<2x16x8xf32>, tensor<2x16x8xf32>, tensor<2x1x1xi32>) -> tensor<2x1x8xf32> {
    %tq = load %a : tensor<2x1x8xf32> -> !mirage_block.tile<2x1x8xf32>
    %bottom = bottom : !mirage_block.tile<2x1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x1x1xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1x8xf32>
    %sums:3 = loop 2 (%am = %bottom max, %as = %zero rescale, %ap = %none rescale) : !mirage_block.tile<2x1x1xf32>, !mirage_block.tile<2x1x1xf32>, !mirage_block.tile<2x1x8xf32> {
      %tk = load %b {loop = [1]} : tensor<2x16x8xf32> -> !mirage_block.tile<2x8x8xf32>
      %tv = load %d {loop = [1]} : tensor<2x16x8xf32> -> !mirage_block.tile<2x8x8xf32>
      %tn = load %l {loop = [0]} : tensor<2x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %i = iota {dim = 2, loop = [8]} : !mirage_block.tile<1x1x8xi32>
      %in = less %i, %tn : !mirage_block.tile<1x1x8xi32>, !mirage_block.tile<1x1x1xi32>
      %s0 = matmul %tq, %tk {transpose_b} : !mirage_block.tile<2x1x8xf32>, !mirage_block.tile<2x8x8xf32>
      %h = constant 0.5 : !mirage_block.tile<1x1x1xf32>
      %s = mul %s0, %h : !mirage_block.tile<2x1x8xf32>, !mirage_block.tile<1x1x1xf32>
      %z = mask %in, %s : !mirage_block.tile<1x1x8xi1>, !mirage_block.tile<2x1x8xf32>
      %m = reduce_max %z {dim = 2} : !mirage_block.tile<2x1x8xf32>
      %top = max %am, %m : !mirage_block.tile<2x1x1xf32>, !mirage_block.tile<2x1x1xf32>
      %less = sub %am, %top : !mirage_block.tile<2x1x1xf32>, !mirage_block.tile<2x1x1xf32>
      %by = exp %less : !mirage_block.tile<2x1x1xf32>
      %x = sub %z, %top : !mirage_block.tile<2x1x8xf32>, !mirage_block.tile<2x1x1xf32>
      %e = exp %x : !mirage_block.tile<2x1x8xf32>
      %t = reduce_sum %e {dim = 2} : !mirage_block.tile<2x1x8xf32>
      %p = matmul %e, %tv : !mirage_block.tile<2x1x8xf32>, !mirage_block.tile<2x8x8xf32>
      yield %m, %t, %p rescale %by, %by : !mirage_block.tile<2x1x1xf32>, !mirage_block.tile<2x1x1xf32>, !mirage_block.tile<2x1x8xf32>, !mirage_block.tile<2x1x1xf32>, !mirage_block.tile<2x1x1xf32>
    }
    %tn1 = load %l : tensor<2x1x1xi32> -> !mirage_block.tile<2x1x1xi32>
    %c0 = constant 0.0 : !mirage_block.tile<1x1x1xi32>
    %some = less %c0, %tn1 : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<2x1x1xi32>
    %no = not %some : !mirage_block.tile<2x1x1xi1>
    %tf = cast %no : !mirage_block.tile<2x1x1xi1> -> !mirage_block.tile<2x1x1xf32>
    %div = add %sums#1, %tf : !mirage_block.tile<2x1x1xf32>, !mirage_block.tile<2x1x1xf32>
    %y = div %sums#2, %div : !mirage_block.tile<2x1x8xf32>, !mirage_block.tile<2x1x1xf32>
    store %y, %o : !mirage_block.tile<2x1x8xf32>, tensor<2x1x8xf32>
  }
  return %r : tensor<2x1x8xf32>
}

// Whether a row sees a key at all, by all of its keys, in the block.
// From the first on.
// CHECK: @any_key: equivalent to @src_moved;
mirage_kernel.graph @any_key(%q: tensor<4x1x8xf32>, %k: tensor<4x16x8xf32>, %v: tensor<4x16x8xf32>, %n: tensor<4x1x1xi32>) -> tensor<4x1x8xf32> attributes {source = @src_moved} {
  %r = custom (%a = %q, %b = %k, %d = %v, %l = %n) outs(%o) grid [4] : (tensor<4x1x8xf32>, tensor<4x16x8xf32>, tensor<4x16x8xf32>, tensor<4x1x1xi32>) -> tensor<4x1x8xf32> {
    %tq = load %a {grid = [0]} : tensor<4x1x8xf32> -> !mirage_block.tile<1x1x8xf32>
    %tk = load %b {grid = [0]} : tensor<4x16x8xf32> -> !mirage_block.tile<1x16x8xf32>
    %tv = load %d {grid = [0]} : tensor<4x16x8xf32> -> !mirage_block.tile<1x16x8xf32>
    %tn = load %l {grid = [0]} : tensor<4x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %i = iota {dim = 2} : !mirage_block.tile<1x1x16xi32>
    %in = less %i, %tn : !mirage_block.tile<1x1x16xi32>, !mirage_block.tile<1x1x1xi32>
    %s0 = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x8xf32>, !mirage_block.tile<1x16x8xf32>
    %h = constant 0.5 : !mirage_block.tile<1x1x1xf32>
    %s = mul %s0, %h : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x1x1xf32>
    %z = mask %in, %s : !mirage_block.tile<1x1x16xi1>, !mirage_block.tile<1x1x16xf32>
    %m = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %x = sub %z, %m : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x1x1xf32>
    %e = exp %x : !mirage_block.tile<1x1x16xf32>
    %t = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %i2 = iota {dim = 2} : !mirage_block.tile<1x1x16xi32>
    %in2 = less %i2, %tn : !mirage_block.tile<1x1x16xi32>, !mirage_block.tile<1x1x1xi32>
    %c = cast %in2 : !mirage_block.tile<1x1x16xi1> -> !mirage_block.tile<1x1x16xf32>
    %most = reduce_max %c {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %c0 = constant 0.0 : !mirage_block.tile<1x1x1xf32>
    %some = less %c0, %most : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %no = not %some : !mirage_block.tile<1x1x1xi1>
    %tf = cast %no : !mirage_block.tile<1x1x1xi1> -> !mirage_block.tile<1x1x1xf32>
    %by = add %t, %tf : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %p = matmul %e, %tv : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x16x8xf32>
    %y = div %p, %by : !mirage_block.tile<1x1x8xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x8xf32>, tensor<4x1x8xf32>
  }
  return %r : tensor<4x1x8xf32>
}

// Blocks begin at keys 0, 16, 32, 48.
// CHECK: @any_key_behind: {{different|unsupported: (not the same for every mask|no useful error bound)}}
mirage_kernel.graph @any_key_behind(%q: tensor<4x1x8xf32>, %k: tensor<4x16x8xf32>, %v: tensor<4x16x8xf32>, %n: tensor<4x1x1xi32>) -> tensor<4x1x8xf32> attributes {source = @src_moved} {
  %r = custom (%a = %q, %b = %k, %d = %v, %l = %n) outs(%o) grid [4] : (tensor<4x1x8xf32>, tensor<4x16x8xf32>, tensor<4x16x8xf32>, tensor<4x1x1xi32>) -> tensor<4x1x8xf32> {
    %tq = load %a {grid = [0]} : tensor<4x1x8xf32> -> !mirage_block.tile<1x1x8xf32>
    %tk = load %b {grid = [0]} : tensor<4x16x8xf32> -> !mirage_block.tile<1x16x8xf32>
    %tv = load %d {grid = [0]} : tensor<4x16x8xf32> -> !mirage_block.tile<1x16x8xf32>
    %tn = load %l {grid = [0]} : tensor<4x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %i = iota {dim = 2} : !mirage_block.tile<1x1x16xi32>
    %in = less %i, %tn : !mirage_block.tile<1x1x16xi32>, !mirage_block.tile<1x1x1xi32>
    %s0 = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x8xf32>, !mirage_block.tile<1x16x8xf32>
    %h = constant 0.5 : !mirage_block.tile<1x1x1xf32>
    %s = mul %s0, %h : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x1x1xf32>
    %z = mask %in, %s : !mirage_block.tile<1x1x16xi1>, !mirage_block.tile<1x1x16xf32>
    %m = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %x = sub %z, %m : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x1x1xf32>
    %e = exp %x : !mirage_block.tile<1x1x16xf32>
    %t = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %i2 = iota {dim = 2, grid = [16]} : !mirage_block.tile<1x1x16xi32>
    %in2 = less %i2, %tn : !mirage_block.tile<1x1x16xi32>, !mirage_block.tile<1x1x1xi32>
    %c = cast %in2 : !mirage_block.tile<1x1x16xi1> -> !mirage_block.tile<1x1x16xf32>
    %most = reduce_max %c {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %c0 = constant 0.0 : !mirage_block.tile<1x1x1xf32>
    %some = less %c0, %most : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %no = not %some : !mirage_block.tile<1x1x1xi1>
    %tf = cast %no : !mirage_block.tile<1x1x1xi1> -> !mirage_block.tile<1x1x1xf32>
    %by = add %t, %tf : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %p = matmul %e, %tv : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x16x8xf32>
    %y = div %p, %by : !mirage_block.tile<1x1x8xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x8xf32>, tensor<4x1x8xf32>
  }
  return %r : tensor<4x1x8xf32>
}

// An index along one element is 0.
mirage_kernel.graph @src_zero(%q: tensor<4x1x8xf32>, %k: tensor<4x16x8xf32>, %v: tensor<4x16x8xf32>, %n: tensor<4x1x1xi32>) -> tensor<4x1x8xf32> {
  %j = iota {dim = 2} : tensor<1x1x16xi32>
  %in = less %j, %n : tensor<1x1x16xi32>, tensor<4x1x1xi32>
  %z = iota {dim = 0} : tensor<1x1x1xi32>
  %on = less_equal %z, %n : tensor<1x1x1xi32>, tensor<4x1x1xi32>
  %c = and %in, %on : tensor<4x1x16xi1>, tensor<4x1x1xi1>
  %y = scaled_dot_product_attention %q, %k, %v, %c {scale = 0.5} : tensor<4x1x8xf32>, tensor<4x16x8xf32>, tensor<4x16x8xf32>, tensor<4x1x16xi1>
  return %y : tensor<4x1x8xf32>
}

// In each block.
// CHECK: @zero: equivalent to @src_zero;
mirage_kernel.graph @zero(%q: tensor<4x1x8xf32>, %k: tensor<4x16x8xf32>, %v: tensor<4x16x8xf32>, %n: tensor<4x1x1xi32>) -> tensor<4x1x8xf32> attributes {source = @src_zero} {
  %r = custom (%a = %q, %b = %k, %d = %v, %l = %n) outs(%o) grid [4] : (tensor<4x1x8xf32>, tensor<4x16x8xf32>, tensor<4x16x8xf32>, tensor<4x1x1xi32>) -> tensor<4x1x8xf32> {
    %tq = load %a {grid = [0]} : tensor<4x1x8xf32> -> !mirage_block.tile<1x1x8xf32>
    %tk = load %b {grid = [0]} : tensor<4x16x8xf32> -> !mirage_block.tile<1x16x8xf32>
    %tv = load %d {grid = [0]} : tensor<4x16x8xf32> -> !mirage_block.tile<1x16x8xf32>
    %tn = load %l {grid = [0]} : tensor<4x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %i = iota {dim = 2} : !mirage_block.tile<1x1x16xi32>
    %in = less %i, %tn : !mirage_block.tile<1x1x16xi32>, !mirage_block.tile<1x1x1xi32>
    %zi = iota {dim = 0} : !mirage_block.tile<1x1x1xi32>
    %on = less_equal %zi, %tn : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x1xi32>
    %both = and %in, %on : !mirage_block.tile<1x1x16xi1>, !mirage_block.tile<1x1x1xi1>
    %s0 = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x8xf32>, !mirage_block.tile<1x16x8xf32>
    %h = constant 0.5 : !mirage_block.tile<1x1x1xf32>
    %s = mul %s0, %h : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x1x1xf32>
    %z = mask %both, %s : !mirage_block.tile<1x1x16xi1>, !mirage_block.tile<1x1x16xf32>
    %m = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %x = sub %z, %m : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x1x1xf32>
    %e = exp %x : !mirage_block.tile<1x1x16xf32>
    %t = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %c0 = constant 0.0 : !mirage_block.tile<1x1x1xi32>
    %first = less %c0, %tn : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x1xi32>
    %some = and %first, %on : !mirage_block.tile<1x1x1xi1>, !mirage_block.tile<1x1x1xi1>
    %no = not %some : !mirage_block.tile<1x1x1xi1>
    %tf = cast %no : !mirage_block.tile<1x1x1xi1> -> !mirage_block.tile<1x1x1xf32>
    %by = add %t, %tf : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %p = matmul %e, %tv : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x16x8xf32>
    %y = div %p, %by : !mirage_block.tile<1x1x8xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x8xf32>, tensor<4x1x8xf32>
  }
  return %r : tensor<4x1x8xf32>
}

// Blocks count.
// CHECK: @zero_counted: {{different|unsupported: (not the same for every mask|no useful error bound)}}
mirage_kernel.graph @zero_counted(%q: tensor<4x1x8xf32>, %k: tensor<4x16x8xf32>, %v: tensor<4x16x8xf32>, %n: tensor<4x1x1xi32>) -> tensor<4x1x8xf32> attributes {source = @src_zero} {
  %r = custom (%a = %q, %b = %k, %d = %v, %l = %n) outs(%o) grid [4] : (tensor<4x1x8xf32>, tensor<4x16x8xf32>, tensor<4x16x8xf32>, tensor<4x1x1xi32>) -> tensor<4x1x8xf32> {
    %tq = load %a {grid = [0]} : tensor<4x1x8xf32> -> !mirage_block.tile<1x1x8xf32>
    %tk = load %b {grid = [0]} : tensor<4x16x8xf32> -> !mirage_block.tile<1x16x8xf32>
    %tv = load %d {grid = [0]} : tensor<4x16x8xf32> -> !mirage_block.tile<1x16x8xf32>
    %tn = load %l {grid = [0]} : tensor<4x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %i = iota {dim = 2} : !mirage_block.tile<1x1x16xi32>
    %in = less %i, %tn : !mirage_block.tile<1x1x16xi32>, !mirage_block.tile<1x1x1xi32>
    %zi = iota {dim = 0, grid = [1]} : !mirage_block.tile<1x1x1xi32>
    %on = less_equal %zi, %tn : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x1xi32>
    %both = and %in, %on : !mirage_block.tile<1x1x16xi1>, !mirage_block.tile<1x1x1xi1>
    %s0 = matmul %tq, %tk {transpose_b} : !mirage_block.tile<1x1x8xf32>, !mirage_block.tile<1x16x8xf32>
    %h = constant 0.5 : !mirage_block.tile<1x1x1xf32>
    %s = mul %s0, %h : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x1x1xf32>
    %z = mask %both, %s : !mirage_block.tile<1x1x16xi1>, !mirage_block.tile<1x1x16xf32>
    %m = reduce_max %z {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %x = sub %z, %m : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x1x1xf32>
    %e = exp %x : !mirage_block.tile<1x1x16xf32>
    %t = reduce_sum %e {dim = 2} : !mirage_block.tile<1x1x16xf32>
    %c0 = constant 0.0 : !mirage_block.tile<1x1x1xi32>
    %first = less %c0, %tn : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x1xi32>
    %some = and %first, %on : !mirage_block.tile<1x1x1xi1>, !mirage_block.tile<1x1x1xi1>
    %no = not %some : !mirage_block.tile<1x1x1xi1>
    %tf = cast %no : !mirage_block.tile<1x1x1xi1> -> !mirage_block.tile<1x1x1xf32>
    %by = add %t, %tf : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<1x1x1xf32>
    %p = matmul %e, %tv : !mirage_block.tile<1x1x16xf32>, !mirage_block.tile<1x16x8xf32>
    %y = div %p, %by : !mirage_block.tile<1x1x8xf32>, !mirage_block.tile<1x1x1xf32>
    store %y, %o {grid = [0]} : !mirage_block.tile<1x1x8xf32>, tensor<4x1x8xf32>
  }
  return %r : tensor<4x1x8xf32>
}

// 130 keys over two blocks of 65, which walk them in tiles of 33: the last of each goes one key beyond the block's.
mirage_kernel.graph @src_ends(%q: tensor<2x4x24xf16>, %k: tensor<2x130x24xf16>, %v: tensor<2x130x24xf16>, %n: tensor<1x1x1xi32>) -> tensor<2x4x24xf16> {
  %j = iota {dim = 2} : tensor<1x1x130xi32>
  %in = less %j, %n : tensor<1x1x130xi32>, tensor<1x1x1xi32>
  %y = scaled_dot_product_attention %q, %k, %v, %in {scale = 0.3} : tensor<2x4x24xf16>, tensor<2x130x24xf16>, tensor<2x130x24xf16>, tensor<1x1x130xi1>
  return %y : tensor<2x4x24xf16>
}

// That key is masked by the end of all keys alone, and counted by both blocks.
// CHECK: @ends_of_all: {{different|unsupported: (not the same for every mask|no useful error bound)}}
mirage_kernel.graph @ends_of_all(%arg0: tensor<2x4x24xf16>, %arg1: tensor<2x130x24xf16>, %arg2: tensor<2x130x24xf16>, %arg3: tensor<1x1x1xi32>) -> tensor<2x4x24xf16> attributes {source = @src_ends} {
  %0 = custom (%arg4 = %arg0, %arg5 = %arg1, %arg6 = %arg2, %arg7 = %arg3) outs(%arg8) grid [6, 4, 2] cluster [1, 1, 2] : (tensor<2x4x24xf16>, tensor<2x130x24xf16>, tensor<2x130x24xf16>, tensor<1x1x1xi32>) -> tensor<2x4x24xf16> {
    %1 = load %arg4 {grid = [-1, 1]} : tensor<2x4x24xf16> -> !mirage_block.tile<2x1x24xf16>
    %2 = bottom : !mirage_block.tile<2x1x1xf32>
    %3 = constant 0.0 : !mirage_block.tile<2x1x4xf32>
    %4 = constant 0.0 : !mirage_block.tile<2x1x33xf32>
    %5:3 = loop 2 (%arg9 = %2 max, %arg10 = %3 rescale, %arg11 = %4 rescale) : !mirage_block.tile<2x1x1xf32>, !mirage_block.tile<2x1x4xf32>, !mirage_block.tile<2x1x33xf32> {
      %21 = iota {dim = 2, grid = [0, 0, 65], loop = [33]} : !mirage_block.tile<1x1x33xi32>
      %22 = load %arg7 : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
      %23 = less %21, %22 : !mirage_block.tile<1x1x33xi32>, !mirage_block.tile<1x1x1xi32>
      %24 = iota {dim = 2, grid = [0, 0, 65], loop = [33]} : !mirage_block.tile<1x1x33xi32>
      %25 = constant 130.0 : !mirage_block.tile<1x1x1xi32>
      %26 = less %24, %25 : !mirage_block.tile<1x1x33xi32>, !mirage_block.tile<1x1x1xi32>
      %27 = and %23, %26 : !mirage_block.tile<1x1x33xi1>, !mirage_block.tile<1x1x33xi1>
      %28 = constant 0.0 : !mirage_block.tile<1x1x33xf32>
      %29 = mask %27, %28 : !mirage_block.tile<1x1x33xi1>, !mirage_block.tile<1x1x33xf32>
      %30 = load %arg5 {grid = [-1, -1, 1], loop = [1]} : tensor<2x130x24xf16> -> !mirage_block.tile<2x33x24xf16>
      %31 = matmul %1, %30 {transpose_b} : !mirage_block.tile<2x1x24xf16>, !mirage_block.tile<2x33x24xf16>
      %32 = constant 0.3 : !mirage_block.tile<1x1x1xf32>
      %33 = mul %32, %31 : !mirage_block.tile<1x1x1xf32>, !mirage_block.tile<2x1x33xf32>
      %34 = add %29, %33 : !mirage_block.tile<1x1x33xf32>, !mirage_block.tile<2x1x33xf32>
      %35 = reduce_max %34 {dim = 2} : !mirage_block.tile<2x1x33xf32>
      %36 = max %arg9, %35 : !mirage_block.tile<2x1x1xf32>, !mirage_block.tile<2x1x1xf32>
      %37 = sub %arg9, %36 : !mirage_block.tile<2x1x1xf32>, !mirage_block.tile<2x1x1xf32>
      %38 = exp %37 : !mirage_block.tile<2x1x1xf32>
      %39 = sub %34, %36 : !mirage_block.tile<2x1x33xf32>, !mirage_block.tile<2x1x1xf32>
      %40 = exp %39 : !mirage_block.tile<2x1x33xf32>
      %41 = load %arg6 {grid = [2, -1, 1], loop = [1]} : tensor<2x130x24xf16> -> !mirage_block.tile<2x33x4xf16>
      %42 = cast %40 : !mirage_block.tile<2x1x33xf32> -> !mirage_block.tile<2x1x33xf16>
      %43 = matmul %42, %41 : !mirage_block.tile<2x1x33xf16>, !mirage_block.tile<2x33x4xf16>
      yield %35, %43, %40 rescale %38, %38 : !mirage_block.tile<2x1x1xf32>, !mirage_block.tile<2x1x4xf32>, !mirage_block.tile<2x1x33xf32>, !mirage_block.tile<2x1x1xf32>, !mirage_block.tile<2x1x1xf32>
    }
    %6 = cluster_max %5#0 {axes = [2]} : !mirage_block.tile<2x1x1xf32>
    %7 = sub %5#0, %6 : !mirage_block.tile<2x1x1xf32>, !mirage_block.tile<2x1x1xf32>
    %8 = exp %7 : !mirage_block.tile<2x1x1xf32>
    %9 = mul %5#1, %8 : !mirage_block.tile<2x1x4xf32>, !mirage_block.tile<2x1x1xf32>
    %10 = cluster_sum %9 {axes = [2]} : !mirage_block.tile<2x1x4xf32>
    %11 = mul %5#2, %8 : !mirage_block.tile<2x1x33xf32>, !mirage_block.tile<2x1x1xf32>
    %12 = cluster_sum %11 {axes = [2]} : !mirage_block.tile<2x1x33xf32>
    %13 = reduce_sum %12 {dim = 2} : !mirage_block.tile<2x1x33xf32>
    %14 = constant 0.0 : !mirage_block.tile<1x1x1xi32>
    %15 = load %arg7 : tensor<1x1x1xi32> -> !mirage_block.tile<1x1x1xi32>
    %16 = less %14, %15 : !mirage_block.tile<1x1x1xi32>, !mirage_block.tile<1x1x1xi32>
    %17 = not %16 : !mirage_block.tile<1x1x1xi1>
    %18 = cast %17 : !mirage_block.tile<1x1x1xi1> -> !mirage_block.tile<1x1x1xf16>
    %19 = add %13, %18 : !mirage_block.tile<2x1x1xf32>, !mirage_block.tile<1x1x1xf16>
    %20 = div %10, %19 : !mirage_block.tile<2x1x4xf32>, !mirage_block.tile<2x1x1xf32>
    store %20, %arg8 {grid = [2, 1]} : !mirage_block.tile<2x1x4xf32>, tensor<2x4x24xf16>
  }
  return %0 : tensor<2x4x24xf16>
}
