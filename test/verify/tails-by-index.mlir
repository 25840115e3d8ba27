// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s --check-prefix=TRANSFER
// What lies beyond the end becomes bottom by its index: an index that is compared with where its axis ends leaves the axis free
// to shrink; one that is compared with anything else, or told from its neighbours, does not.

mirage_kernel.graph @src_keys_1000(%x: tensor<4x1000xf32>) -> tensor<4x1xf32> {
  %e = exp %x : tensor<4x1000xf32>
  %s = reduce_sum %e {dim = 1} : tensor<4x1000xf32>
  return %s : tensor<4x1xf32>
}

// CHECK: @tgt_keys_1000_end: equivalent to @src_keys_1000;
// TRANSFER: @tgt_keys_1000_end: equivalent{{.*}}smaller instance: 2 axes
mirage_kernel.graph @tgt_keys_1000_end(%x: tensor<4x1000xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1000} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x1000xf32>) -> tensor<4x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 63 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x1000xf32> -> !mirage_block.tile<4x16xf32>
      %at = iota {dim = 1, loop = [16]} : !mirage_block.tile<1x16xi32>
      %end = constant 1000.0 : !mirage_block.tile<1x1xi32>
      %in = less %at, %end : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %m = mask %in, %xt : !mirage_block.tile<1x16xi1>, !mirage_block.tile<4x16xf32>
      %e = exp %m : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

// One zero beyond the end is counted.
// CHECK: @tgt_keys_1000_far_end: different at output
mirage_kernel.graph @tgt_keys_1000_far_end(%x: tensor<4x1000xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1000} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x1000xf32>) -> tensor<4x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 63 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x1000xf32> -> !mirage_block.tile<4x16xf32>
      %at = iota {dim = 1, loop = [16]} : !mirage_block.tile<1x16xi32>
      %end = constant 1001.0 : !mirage_block.tile<1x1xi32>
      %in = less %at, %end : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %m = mask %in, %xt : !mirage_block.tile<1x16xi1>, !mirage_block.tile<4x16xf32>
      %e = exp %m : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

// The last element is dropped.
// CHECK: @tgt_keys_1000_near_end: different at output
mirage_kernel.graph @tgt_keys_1000_near_end(%x: tensor<4x1000xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1000} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x1000xf32>) -> tensor<4x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 63 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x1000xf32> -> !mirage_block.tile<4x16xf32>
      %at = iota {dim = 1, loop = [16]} : !mirage_block.tile<1x16xi32>
      %end = constant 999.0 : !mirage_block.tile<1x1xi32>
      %in = less %at, %end : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %m = mask %in, %xt : !mirage_block.tile<1x16xi1>, !mirage_block.tile<4x16xf32>
      %e = exp %m : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

// The last tile is dropped.
// CHECK: @tgt_keys_1000_whole_tiles: different at output
mirage_kernel.graph @tgt_keys_1000_whole_tiles(%x: tensor<4x1000xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1000} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x1000xf32>) -> tensor<4x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 63 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x1000xf32> -> !mirage_block.tile<4x16xf32>
      %at = iota {dim = 1, loop = [16]} : !mirage_block.tile<1x16xi32>
      %end = constant 992.0 : !mirage_block.tile<1x1xi32>
      %in = less %at, %end : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %m = mask %in, %xt : !mirage_block.tile<1x16xi1>, !mirage_block.tile<4x16xf32>
      %e = exp %m : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

// The last tile is taken whole.
// CHECK: @tgt_keys_1000_more_tiles: different at output
mirage_kernel.graph @tgt_keys_1000_more_tiles(%x: tensor<4x1000xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1000} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x1000xf32>) -> tensor<4x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 63 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x1000xf32> -> !mirage_block.tile<4x16xf32>
      %at = iota {dim = 1, loop = [16]} : !mirage_block.tile<1x16xi32>
      %end = constant 1008.0 : !mirage_block.tile<1x1xi32>
      %in = less %at, %end : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %m = mask %in, %xt : !mirage_block.tile<1x16xi1>, !mirage_block.tile<4x16xf32>
      %e = exp %m : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

// Tiles do not begin where the indices say.
// CHECK: @tgt_keys_1000_step: different at output
mirage_kernel.graph @tgt_keys_1000_step(%x: tensor<4x1000xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1000} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x1000xf32>) -> tensor<4x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 63 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x1000xf32> -> !mirage_block.tile<4x16xf32>
      %at = iota {dim = 1, loop = [15]} : !mirage_block.tile<1x16xi32>
      %end = constant 1000.0 : !mirage_block.tile<1x1xi32>
      %in = less %at, %end : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %m = mask %in, %xt : !mirage_block.tile<1x16xi1>, !mirage_block.tile<4x16xf32>
      %e = exp %m : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

// Indices of the first tile in all of them.
// CHECK: @tgt_keys_1000_no_step: different at output
mirage_kernel.graph @tgt_keys_1000_no_step(%x: tensor<4x1000xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1000} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x1000xf32>) -> tensor<4x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 63 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x1000xf32> -> !mirage_block.tile<4x16xf32>
      %at = iota {dim = 1} : !mirage_block.tile<1x16xi32>
      %end = constant 1000.0 : !mirage_block.tile<1x1xi32>
      %in = less %at, %end : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %m = mask %in, %xt : !mirage_block.tile<1x16xi1>, !mirage_block.tile<4x16xf32>
      %e = exp %m : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

// Indices count from 1.
// CHECK: @tgt_keys_1000_start: different at output
mirage_kernel.graph @tgt_keys_1000_start(%x: tensor<4x1000xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1000} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x1000xf32>) -> tensor<4x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 63 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x1000xf32> -> !mirage_block.tile<4x16xf32>
      %at = iota {dim = 1, start = 1, loop = [16]} : !mirage_block.tile<1x16xi32>
      %end = constant 1000.0 : !mirage_block.tile<1x1xi32>
      %in = less %at, %end : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %m = mask %in, %xt : !mirage_block.tile<1x16xi1>, !mirage_block.tile<4x16xf32>
      %e = exp %m : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

// What lies before the end is dropped.
// CHECK: @tgt_keys_1000_reversed: different at output
mirage_kernel.graph @tgt_keys_1000_reversed(%x: tensor<4x1000xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1000} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x1000xf32>) -> tensor<4x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 63 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x1000xf32> -> !mirage_block.tile<4x16xf32>
      %at = iota {dim = 1, loop = [16]} : !mirage_block.tile<1x16xi32>
      %end = constant 1000.0 : !mirage_block.tile<1x1xi32>
      %in = less %end, %at : !mirage_block.tile<1x1xi32>, !mirage_block.tile<1x16xi32>
      %m = mask %in, %xt : !mirage_block.tile<1x16xi1>, !mirage_block.tile<4x16xf32>
      %e = exp %m : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

// CHECK: @tgt_keys_1000_less_equal: different at output
mirage_kernel.graph @tgt_keys_1000_less_equal(%x: tensor<4x1000xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1000} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x1000xf32>) -> tensor<4x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 63 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x1000xf32> -> !mirage_block.tile<4x16xf32>
      %at = iota {dim = 1, loop = [16]} : !mirage_block.tile<1x16xi32>
      %end = constant 1000.0 : !mirage_block.tile<1x1xi32>
      %in = less_equal %at, %end : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %m = mask %in, %xt : !mirage_block.tile<1x16xi1>, !mirage_block.tile<4x16xf32>
      %e = exp %m : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

// True, but no comparison that leaves the axis free: proven at full size.
// CHECK: @tgt_keys_1000_less_equal_last: equivalent to @src_keys_1000;
// TRANSFER: @tgt_keys_1000_less_equal_last: equivalent{{.*}}smaller instance: 1 axis
mirage_kernel.graph @tgt_keys_1000_less_equal_last(%x: tensor<4x1000xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1000} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x1000xf32>) -> tensor<4x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 63 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x1000xf32> -> !mirage_block.tile<4x16xf32>
      %at = iota {dim = 1, loop = [16]} : !mirage_block.tile<1x16xi32>
      %end = constant 999.0 : !mirage_block.tile<1x1xi32>
      %in = less_equal %at, %end : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %m = mask %in, %xt : !mirage_block.tile<1x16xi1>, !mirage_block.tile<4x16xf32>
      %e = exp %m : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

// The same index says more: one element is dropped inside.
// CHECK: @tgt_keys_1000_but_one: different at output
mirage_kernel.graph @tgt_keys_1000_but_one(%x: tensor<4x1000xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1000} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x1000xf32>) -> tensor<4x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 63 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x1000xf32> -> !mirage_block.tile<4x16xf32>
      %at = iota {dim = 1, loop = [16]} : !mirage_block.tile<1x16xi32>
      %end = constant 1000.0 : !mirage_block.tile<1x1xi32>
      %in = less %at, %end : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %one = constant 7.0 : !mirage_block.tile<1x1xi32>
      %other = not_equal %at, %one : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %both = and %in, %other : !mirage_block.tile<1x16xi1>, !mirage_block.tile<1x16xi1>
      %m = mask %both, %xt : !mirage_block.tile<1x16xi1>, !mirage_block.tile<4x16xf32>
      %e = exp %m : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

// The nearer end counts.
// CHECK: @tgt_keys_1000_two_ends: different at output
mirage_kernel.graph @tgt_keys_1000_two_ends(%x: tensor<4x1000xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1000} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x1000xf32>) -> tensor<4x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 63 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x1000xf32> -> !mirage_block.tile<4x16xf32>
      %at = iota {dim = 1, loop = [16]} : !mirage_block.tile<1x16xi32>
      %end = constant 1000.0 : !mirage_block.tile<1x1xi32>
      %in = less %at, %end : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %near = constant 500.0 : !mirage_block.tile<1x1xi32>
      %before = less %at, %near : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %both = and %in, %before : !mirage_block.tile<1x16xi1>, !mirage_block.tile<1x16xi1>
      %m = mask %both, %xt : !mirage_block.tile<1x16xi1>, !mirage_block.tile<4x16xf32>
      %e = exp %m : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

// Among blocks, in whole tiles.
// CHECK: @tgt_keys_1000_parts: equivalent to @src_keys_1000;
// TRANSFER: @tgt_keys_1000_parts: equivalent{{.*}}smaller instance: 2 axes
mirage_kernel.graph @tgt_keys_1000_parts(%x: tensor<4x1000xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1000} {
  %p = custom (%xk = %x) outs(%yk) grid [8] : (tensor<4x1000xf32>) -> tensor<4x8xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 8 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {grid = [1], loop = [1], tiles = [0, 16]} : tensor<4x1000xf32> -> !mirage_block.tile<4x16xf32>
      %at = iota {dim = 1, grid = [128], loop = [16]} : !mirage_block.tile<1x16xi32>
      %end = constant 1000.0 : !mirage_block.tile<1x1xi32>
      %in = less %at, %end : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %m = mask %in, %xt : !mirage_block.tile<1x16xi1>, !mirage_block.tile<4x16xf32>
      %e = exp %m : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk {grid = [1]} : !mirage_block.tile<4x1xf32>, tensor<4x8xf32>
  }
  %y = reduce_sum %p {dim = 1} : tensor<4x8xf32>
  return %y : tensor<4x1xf32>
}

// CHECK: @tgt_keys_1000_parts_step: different at output
mirage_kernel.graph @tgt_keys_1000_parts_step(%x: tensor<4x1000xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1000} {
  %p = custom (%xk = %x) outs(%yk) grid [8] : (tensor<4x1000xf32>) -> tensor<4x8xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 8 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {grid = [1], loop = [1], tiles = [0, 16]} : tensor<4x1000xf32> -> !mirage_block.tile<4x16xf32>
      %at = iota {dim = 1, grid = [125], loop = [16]} : !mirage_block.tile<1x16xi32>
      %end = constant 1000.0 : !mirage_block.tile<1x1xi32>
      %in = less %at, %end : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %m = mask %in, %xt : !mirage_block.tile<1x16xi1>, !mirage_block.tile<4x16xf32>
      %e = exp %m : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk {grid = [1]} : !mirage_block.tile<4x1xf32>, tensor<4x8xf32>
  }
  %y = reduce_sum %p {dim = 1} : tensor<4x8xf32>
  return %y : tensor<4x1xf32>
}

// By division each part ends inside a tile.
// CHECK: @tgt_keys_1000_cut_parts: equivalent to @src_keys_1000;
// TRANSFER: @tgt_keys_1000_cut_parts: equivalent{{.*}}smaller instance: 1 axis
mirage_kernel.graph @tgt_keys_1000_cut_parts(%x: tensor<4x1000xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1000} {
  %p = custom (%xk = %x) outs(%yk) grid [8] : (tensor<4x1000xf32>) -> tensor<4x8xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 8 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {grid = [1], loop = [1]} : tensor<4x1000xf32> -> !mirage_block.tile<4x16xf32>
      %at = iota {dim = 1, grid = [125], loop = [16]} : !mirage_block.tile<1x16xi32>
      %end = constant 1000.0 : !mirage_block.tile<1x1xi32>
      %in = less %at, %end : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %in_part = iota {dim = 1, loop = [16]} : !mirage_block.tile<1x16xi32>
      %part = constant 125.0 : !mirage_block.tile<1x1xi32>
      %mine = less %in_part, %part : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %both = and %in, %mine : !mirage_block.tile<1x16xi1>, !mirage_block.tile<1x16xi1>
      %m = mask %both, %xt : !mirage_block.tile<1x16xi1>, !mirage_block.tile<4x16xf32>
      %e = exp %m : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk {grid = [1]} : !mirage_block.tile<4x1xf32>, tensor<4x8xf32>
  }
  %y = reduce_sum %p {dim = 1} : tensor<4x8xf32>
  return %y : tensor<4x1xf32>
}

// The tensor's end alone: zeros beyond each part's end are counted.
// CHECK: @tgt_keys_1000_cut_parts_end: different at output
mirage_kernel.graph @tgt_keys_1000_cut_parts_end(%x: tensor<4x1000xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1000} {
  %p = custom (%xk = %x) outs(%yk) grid [8] : (tensor<4x1000xf32>) -> tensor<4x8xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 8 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {grid = [1], loop = [1]} : tensor<4x1000xf32> -> !mirage_block.tile<4x16xf32>
      %at = iota {dim = 1, grid = [125], loop = [16]} : !mirage_block.tile<1x16xi32>
      %end = constant 1000.0 : !mirage_block.tile<1x1xi32>
      %in = less %at, %end : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %m = mask %in, %xt : !mirage_block.tile<1x16xi1>, !mirage_block.tile<4x16xf32>
      %e = exp %m : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk {grid = [1]} : !mirage_block.tile<4x1xf32>, tensor<4x8xf32>
  }
  %y = reduce_sum %p {dim = 1} : tensor<4x8xf32>
  return %y : tensor<4x1xf32>
}

// CHECK: @tgt_keys_1000_cut_parts_far: different at output
mirage_kernel.graph @tgt_keys_1000_cut_parts_far(%x: tensor<4x1000xf32>) -> tensor<4x1xf32> attributes {source = @src_keys_1000} {
  %p = custom (%xk = %x) outs(%yk) grid [8] : (tensor<4x1000xf32>) -> tensor<4x8xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 8 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {grid = [1], loop = [1]} : tensor<4x1000xf32> -> !mirage_block.tile<4x16xf32>
      %at = iota {dim = 1, grid = [125], loop = [16]} : !mirage_block.tile<1x16xi32>
      %end = constant 1000.0 : !mirage_block.tile<1x1xi32>
      %in = less %at, %end : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %in_part = iota {dim = 1, loop = [16]} : !mirage_block.tile<1x16xi32>
      %part = constant 126.0 : !mirage_block.tile<1x1xi32>
      %mine = less %in_part, %part : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %both = and %in, %mine : !mirage_block.tile<1x16xi1>, !mirage_block.tile<1x16xi1>
      %m = mask %both, %xt : !mirage_block.tile<1x16xi1>, !mirage_block.tile<4x16xf32>
      %e = exp %m : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk {grid = [1]} : !mirage_block.tile<4x1xf32>, tensor<4x8xf32>
  }
  %y = reduce_sum %p {dim = 1} : tensor<4x8xf32>
  return %y : tensor<4x1xf32>
}

mirage_kernel.graph @src_first_512(%x: tensor<4x1024xf32>) -> tensor<4x1xf32> {
  %at = iota {dim = 1} : tensor<1x1024xi32>
  %end = constant 512.0 : tensor<1x1xi32>
  %in = less %at, %end : tensor<1x1024xi32>, tensor<1x1xi32>
  %m = mask %in, %x : tensor<1x1024xi1>, tensor<4x1024xf32>
  %e = exp %m : tensor<4x1024xf32>
  %s = reduce_sum %e {dim = 1} : tensor<4x1024xf32>
  return %s : tensor<4x1xf32>
}

// No tail: the end lies between two tiles.
// CHECK: @tgt_first_512_of_1024: equivalent to @src_first_512;
// TRANSFER: @tgt_first_512_of_1024: equivalent{{.*}}smaller instance: 2 axes
mirage_kernel.graph @tgt_first_512_of_1024(%x: tensor<4x1024xf32>) -> tensor<4x1xf32> attributes {source = @src_first_512} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x1024xf32>) -> tensor<4x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 64 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x1024xf32> -> !mirage_block.tile<4x16xf32>
      %at = iota {dim = 1, loop = [16]} : !mirage_block.tile<1x16xi32>
      %end = constant 512.0 : !mirage_block.tile<1x1xi32>
      %in = less %at, %end : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %m = mask %in, %xt : !mirage_block.tile<1x16xi1>, !mirage_block.tile<4x16xf32>
      %e = exp %m : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

// CHECK: @tgt_first_512_more: different at output
mirage_kernel.graph @tgt_first_512_more(%x: tensor<4x1024xf32>) -> tensor<4x1xf32> attributes {source = @src_first_512} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x1024xf32>) -> tensor<4x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 64 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x1024xf32> -> !mirage_block.tile<4x16xf32>
      %at = iota {dim = 1, loop = [16]} : !mirage_block.tile<1x16xi32>
      %end = constant 528.0 : !mirage_block.tile<1x1xi32>
      %in = less %at, %end : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %m = mask %in, %xt : !mirage_block.tile<1x16xi1>, !mirage_block.tile<4x16xf32>
      %e = exp %m : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

// CHECK: @tgt_first_512_one_more: different at output
mirage_kernel.graph @tgt_first_512_one_more(%x: tensor<4x1024xf32>) -> tensor<4x1xf32> attributes {source = @src_first_512} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x1024xf32>) -> tensor<4x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 64 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x1024xf32> -> !mirage_block.tile<4x16xf32>
      %at = iota {dim = 1, loop = [16]} : !mirage_block.tile<1x16xi32>
      %end = constant 513.0 : !mirage_block.tile<1x1xi32>
      %in = less %at, %end : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %m = mask %in, %xt : !mirage_block.tile<1x16xi1>, !mirage_block.tile<4x16xf32>
      %e = exp %m : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

// CHECK: @tgt_first_512_none: different at output
mirage_kernel.graph @tgt_first_512_none(%x: tensor<4x1024xf32>) -> tensor<4x1xf32> attributes {source = @src_first_512} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x1024xf32>) -> tensor<4x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 64 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x1024xf32> -> !mirage_block.tile<4x16xf32>
      %at = iota {dim = 1, loop = [16]} : !mirage_block.tile<1x16xi32>
      %end = constant 0.0 : !mirage_block.tile<1x1xi32>
      %in = less %at, %end : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %m = mask %in, %xt : !mirage_block.tile<1x16xi1>, !mirage_block.tile<4x16xf32>
      %e = exp %m : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

mirage_kernel.graph @src_first_500(%x: tensor<4x1024xf32>) -> tensor<4x1xf32> {
  %at = iota {dim = 1} : tensor<1x1024xi32>
  %end = constant 500.0 : tensor<1x1xi32>
  %in = less %at, %end : tensor<1x1024xi32>, tensor<1x1xi32>
  %m = mask %in, %x : tensor<1x1024xi1>, tensor<4x1024xf32>
  %e = exp %m : tensor<4x1024xf32>
  %s = reduce_sum %e {dim = 1} : tensor<4x1024xf32>
  return %s : tensor<4x1xf32>
}

// The end lies inside a tile.
// CHECK: @tgt_first_500_of_1024: equivalent to @src_first_500;
// TRANSFER: @tgt_first_500_of_1024: equivalent{{.*}}smaller instance: 1 axis
mirage_kernel.graph @tgt_first_500_of_1024(%x: tensor<4x1024xf32>) -> tensor<4x1xf32> attributes {source = @src_first_500} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x1024xf32>) -> tensor<4x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 64 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x1024xf32> -> !mirage_block.tile<4x16xf32>
      %at = iota {dim = 1, loop = [16]} : !mirage_block.tile<1x16xi32>
      %end = constant 500.0 : !mirage_block.tile<1x1xi32>
      %in = less %at, %end : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %m = mask %in, %xt : !mirage_block.tile<1x16xi1>, !mirage_block.tile<4x16xf32>
      %e = exp %m : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}

// CHECK: @tgt_first_500_all: different at output
mirage_kernel.graph @tgt_first_500_all(%x: tensor<4x1024xf32>) -> tensor<4x1xf32> attributes {source = @src_first_500} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x1024xf32>) -> tensor<4x1xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %a = loop 64 (%acc = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x1024xf32> -> !mirage_block.tile<4x16xf32>
      %at = iota {dim = 1, loop = [16]} : !mirage_block.tile<1x16xi32>
      %end = constant 512.0 : !mirage_block.tile<1x1xi32>
      %in = less %at, %end : !mirage_block.tile<1x16xi32>, !mirage_block.tile<1x1xi32>
      %m = mask %in, %xt : !mirage_block.tile<1x16xi1>, !mirage_block.tile<4x16xf32>
      %e = exp %m : !mirage_block.tile<4x16xf32>
      %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x16xf32>
      yield %s : !mirage_block.tile<4x1xf32>
    }
    store %a, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf32>
  }
  return %y : tensor<4x1xf32>
}
