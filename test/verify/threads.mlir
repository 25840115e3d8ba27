// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// Thread level: fragments, and the matrix instruction.

mirage_kernel.graph @src_chain(%x: tensor<4x8xf16>, %b: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %e = exp %x : tensor<4x8xf16>
  %p = mul %e, %b : tensor<4x8xf16>, tensor<4x8xf16>
  %y = add %p, %x : tensor<4x8xf16>, tensor<4x8xf16>
  return %y : tensor<4x8xf16>
}

// One thread region.
// CHECK: @tgt_chain_fragments: equivalent to @src_chain;
mirage_kernel.graph @tgt_chain_fragments(%x: tensor<4x8xf16>, %b: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_chain} {
  %y = custom (%xk = %x, %bk = %b) outs(%yk) grid [2] : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16> {
    %xt = load %xk {grid = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %bt = load %bk {grid = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %r = thread (%f = %xt, %g = %bt) : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x4xf16> {
      %e = exp %f : !mirage_thread.fragment<4x4xf16>
      %p = mul %e, %g : !mirage_thread.fragment<4x4xf32>, !mirage_thread.fragment<4x4xf16>
      %s = add %p, %f : !mirage_thread.fragment<4x4xf32>, !mirage_thread.fragment<4x4xf16>
      yield %s : !mirage_thread.fragment<4x4xf32>
    }
    store %r, %yk {grid = [1]} : !mirage_block.tile<4x4xf32>, tensor<4x8xf16>
  }
  return %y : tensor<4x8xf16>
}

// Two in a row.
// CHECK: @tgt_chain_two_regions: equivalent to @src_chain;
mirage_kernel.graph @tgt_chain_two_regions(%x: tensor<4x8xf16>, %b: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_chain} {
  %y = custom (%xk = %x, %bk = %b) outs(%yk) grid [2] : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16> {
    %xt = load %xk {grid = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %bt = load %bk {grid = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %e = thread (%f = %xt) : !mirage_block.tile<4x4xf16> {
      %a = exp %f : !mirage_thread.fragment<4x4xf16>
      yield %a : !mirage_thread.fragment<4x4xf32>
    }
    %r = thread (%h = %e, %g = %bt, %f = %xt) : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x4xf16> {
      %p = mul %h, %g : !mirage_thread.fragment<4x4xf32>, !mirage_thread.fragment<4x4xf16>
      %s = add %p, %f : !mirage_thread.fragment<4x4xf32>, !mirage_thread.fragment<4x4xf16>
      yield %s : !mirage_thread.fragment<4x4xf32>
    }
    store %r, %yk {grid = [1]} : !mirage_block.tile<4x4xf32>, tensor<4x8xf16>
  }
  return %y : tensor<4x8xf16>
}

// The arguments change places.
// CHECK: @tgt_chain_arguments: different at output
mirage_kernel.graph @tgt_chain_arguments(%x: tensor<4x8xf16>, %b: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_chain} {
  %y = custom (%xk = %x, %bk = %b) outs(%yk) grid [2] : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16> {
    %xt = load %xk {grid = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %bt = load %bk {grid = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %r = thread (%f = %bt, %g = %xt) : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x4xf16> {
      %e = exp %f : !mirage_thread.fragment<4x4xf16>
      %p = mul %e, %g : !mirage_thread.fragment<4x4xf32>, !mirage_thread.fragment<4x4xf16>
      %s = add %p, %f : !mirage_thread.fragment<4x4xf32>, !mirage_thread.fragment<4x4xf16>
      yield %s : !mirage_thread.fragment<4x4xf32>
    }
    store %r, %yk {grid = [1]} : !mirage_block.tile<4x4xf32>, tensor<4x8xf16>
  }
  return %y : tensor<4x8xf16>
}

// The sum comes before the exponential.
// CHECK: @tgt_chain_order: different at output
mirage_kernel.graph @tgt_chain_order(%x: tensor<4x8xf16>, %b: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_chain} {
  %y = custom (%xk = %x, %bk = %b) outs(%yk) grid [2] : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16> {
    %xt = load %xk {grid = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %bt = load %bk {grid = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %r = thread (%f = %xt, %g = %bt) : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x4xf16> {
      %s = add %f, %g : !mirage_thread.fragment<4x4xf16>, !mirage_thread.fragment<4x4xf16>
      %e = exp %s : !mirage_thread.fragment<4x4xf32>
      %p = mul %e, %g : !mirage_thread.fragment<4x4xf32>, !mirage_thread.fragment<4x4xf16>
      yield %p : !mirage_thread.fragment<4x4xf32>
    }
    store %r, %yk {grid = [1]} : !mirage_block.tile<4x4xf32>, tensor<4x8xf16>
  }
  return %y : tensor<4x8xf16>
}

// An intermediate value is yielded.
// CHECK: @tgt_chain_yield: different at output
mirage_kernel.graph @tgt_chain_yield(%x: tensor<4x8xf16>, %b: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_chain} {
  %y = custom (%xk = %x, %bk = %b) outs(%yk) grid [2] : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16> {
    %xt = load %xk {grid = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %bt = load %bk {grid = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x4xf16>
    %r = thread (%f = %xt, %g = %bt) : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x4xf16> {
      %e = exp %f : !mirage_thread.fragment<4x4xf16>
      %p = mul %e, %g : !mirage_thread.fragment<4x4xf32>, !mirage_thread.fragment<4x4xf16>
      %s = add %p, %f : !mirage_thread.fragment<4x4xf32>, !mirage_thread.fragment<4x4xf16>
      yield %p : !mirage_thread.fragment<4x4xf32>
    }
    store %r, %yk {grid = [1]} : !mirage_block.tile<4x4xf32>, tensor<4x8xf16>
  }
  return %y : tensor<4x8xf16>
}

mirage_kernel.graph @src_mma(%a: tensor<4x8xf16>, %b: tensor<8x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %p = matmul %a, %b : tensor<4x8xf16>, tensor<8x6xf16>
  %y = add %p, %c : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// a @ b + c in one instruction.
// CHECK: @tgt_mma_mma: equivalent to @src_mma;
mirage_kernel.graph @tgt_mma_mma(%a: tensor<4x8xf16>, %b: tensor<8x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_mma} {
  %y = custom (%ak = %a, %bk = %b, %ck = %c) outs(%yk) grid [3] : (tensor<4x8xf16>, tensor<8x6xf16>, tensor<4x6xf16>) -> tensor<4x6xf16> {
    %at = load %ak : tensor<4x8xf16> -> !mirage_block.tile<4x8xf16>
    %bt = load %bk {grid = [1]} : tensor<8x6xf16> -> !mirage_block.tile<8x2xf16>
    %ct = load %ck {grid = [1]} : tensor<4x6xf16> -> !mirage_block.tile<4x2xf16>
    %cf = cast %ct : !mirage_block.tile<4x2xf16> -> !mirage_block.tile<4x2xf32>
    %r = thread (%x = %at, %w = %bt, %z = %cf) : !mirage_block.tile<4x8xf16>, !mirage_block.tile<8x2xf16>, !mirage_block.tile<4x2xf32> {
      %s = mma %x, %w, %z : !mirage_thread.fragment<4x8xf16>, !mirage_thread.fragment<8x2xf16>, !mirage_thread.fragment<4x2xf32>
      yield %s : !mirage_thread.fragment<4x2xf32>
    }
    store %r, %yk {grid = [1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// The accumulator goes through the loop.
// CHECK: @tgt_mma_accumulated: equivalent to @src_mma;
mirage_kernel.graph @tgt_mma_accumulated(%a: tensor<4x8xf16>, %b: tensor<8x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_mma} {
  %y = custom (%ak = %a, %bk = %b, %ck = %c) outs(%yk) grid [1] : (tensor<4x8xf16>, tensor<8x6xf16>, tensor<4x6xf16>) -> tensor<4x6xf16> {
    %ct = load %ck : tensor<4x6xf16> -> !mirage_block.tile<4x6xf16>
    %cf = cast %ct : !mirage_block.tile<4x6xf16> -> !mirage_block.tile<4x6xf32>
    %acc = loop 4 (%s = %cf assign) : !mirage_block.tile<4x6xf32> {
      %at = load %ak {loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x2xf16>
      %bt = load %bk {loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x6xf16>
      %r = thread (%x = %at, %w = %bt, %z = %s) : !mirage_block.tile<4x2xf16>, !mirage_block.tile<2x6xf16>, !mirage_block.tile<4x6xf32> {
        %t = mma %x, %w, %z : !mirage_thread.fragment<4x2xf16>, !mirage_thread.fragment<2x6xf16>, !mirage_thread.fragment<4x6xf32>
        yield %t : !mirage_thread.fragment<4x6xf32>
      }
      yield %r : !mirage_block.tile<4x6xf32>
    }
    store %acc, %yk : !mirage_block.tile<4x6xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// The accumulator is added again in every iteration.
// CHECK: @tgt_mma_double_start: different at output
mirage_kernel.graph @tgt_mma_double_start(%a: tensor<4x8xf16>, %b: tensor<8x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_mma} {
  %y = custom (%ak = %a, %bk = %b, %ck = %c) outs(%yk) grid [1] : (tensor<4x8xf16>, tensor<8x6xf16>, tensor<4x6xf16>) -> tensor<4x6xf16> {
    %ct = load %ck : tensor<4x6xf16> -> !mirage_block.tile<4x6xf16>
    %cf = cast %ct : !mirage_block.tile<4x6xf16> -> !mirage_block.tile<4x6xf32>
    %acc = loop 4 (%s = %cf sum) : !mirage_block.tile<4x6xf32> {
      %at = load %ak {loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x2xf16>
      %bt = load %bk {loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x6xf16>
      %r = thread (%x = %at, %w = %bt, %z = %s) : !mirage_block.tile<4x2xf16>, !mirage_block.tile<2x6xf16>, !mirage_block.tile<4x6xf32> {
        %t = mma %x, %w, %z : !mirage_thread.fragment<4x2xf16>, !mirage_thread.fragment<2x6xf16>, !mirage_thread.fragment<4x6xf32>
        yield %t : !mirage_thread.fragment<4x6xf32>
      }
      yield %r : !mirage_block.tile<4x6xf32>
    }
    store %acc, %yk : !mirage_block.tile<4x6xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// The accumulator of the instruction stays c.
// CHECK: @tgt_mma_no_accumulator: different at output
mirage_kernel.graph @tgt_mma_no_accumulator(%a: tensor<4x8xf16>, %b: tensor<8x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_mma} {
  %y = custom (%ak = %a, %bk = %b, %ck = %c) outs(%yk) grid [1] : (tensor<4x8xf16>, tensor<8x6xf16>, tensor<4x6xf16>) -> tensor<4x6xf16> {
    %ct = load %ck : tensor<4x6xf16> -> !mirage_block.tile<4x6xf16>
    %cf = cast %ct : !mirage_block.tile<4x6xf16> -> !mirage_block.tile<4x6xf32>
    %acc = loop 4 (%s = %cf assign) : !mirage_block.tile<4x6xf32> {
      %at = load %ak {loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x2xf16>
      %bt = load %bk {loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x6xf16>
      %r = thread (%x = %at, %w = %bt, %z = %cf) : !mirage_block.tile<4x2xf16>, !mirage_block.tile<2x6xf16>, !mirage_block.tile<4x6xf32> {
        %t = mma %x, %w, %z : !mirage_thread.fragment<4x2xf16>, !mirage_thread.fragment<2x6xf16>, !mirage_thread.fragment<4x6xf32>
        yield %t : !mirage_thread.fragment<4x6xf32>
      }
      yield %r : !mirage_block.tile<4x6xf32>
    }
    store %acc, %yk : !mirage_block.tile<4x6xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// c is forgotten.
// CHECK: @tgt_mma_zero: different at output
mirage_kernel.graph @tgt_mma_zero(%a: tensor<4x8xf16>, %b: tensor<8x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_mma} {
  %y = custom (%ak = %a, %bk = %b, %ck = %c) outs(%yk) grid [3] : (tensor<4x8xf16>, tensor<8x6xf16>, tensor<4x6xf16>) -> tensor<4x6xf16> {
    %at = load %ak : tensor<4x8xf16> -> !mirage_block.tile<4x8xf16>
    %bt = load %bk {grid = [1]} : tensor<8x6xf16> -> !mirage_block.tile<8x2xf16>
    %ct = load %ck {grid = [1]} : tensor<4x6xf16> -> !mirage_block.tile<4x2xf16>
    %zero = constant 0.0 : !mirage_block.tile<4x2xf32>
    %r = thread (%x = %at, %w = %bt, %z = %zero) : !mirage_block.tile<4x8xf16>, !mirage_block.tile<8x2xf16>, !mirage_block.tile<4x2xf32> {
      %s = mma %x, %w, %z : !mirage_thread.fragment<4x8xf16>, !mirage_thread.fragment<8x2xf16>, !mirage_thread.fragment<4x2xf32>
      yield %s : !mirage_thread.fragment<4x2xf32>
    }
    store %r, %yk {grid = [1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

mirage_kernel.graph @src_stats(%x: tensor<4x8xf16>) -> tensor<4x1xf16> {
  %q = square %x : tensor<4x8xf16>
  %y = reduce_sum %q {dim = 1} : tensor<4x8xf16>
  return %y : tensor<4x1xf16>
}

// A fragment reduction.
// CHECK: @tgt_stats_fragments: equivalent to @src_stats;
mirage_kernel.graph @tgt_stats_fragments(%x: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_stats} {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<4x8xf16>) -> tensor<4x1xf16> {
    %xt = load %xk {grid = [0]} : tensor<4x8xf16> -> !mirage_block.tile<2x8xf16>
    %r = thread (%f = %xt) : !mirage_block.tile<2x8xf16> {
      %q = mul %f, %f : !mirage_thread.fragment<2x8xf16>, !mirage_thread.fragment<2x8xf16>
      %s = reduce_sum %q {dim = 1} : !mirage_thread.fragment<2x8xf32>
      yield %s : !mirage_thread.fragment<2x1xf32>
    }
    store %r, %yk {grid = [0]} : !mirage_block.tile<2x1xf32>, tensor<4x1xf16>
  }
  return %y : tensor<4x1xf16>
}

// The largest square.
// CHECK: @tgt_stats_max: different at output
mirage_kernel.graph @tgt_stats_max(%x: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_stats} {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<4x8xf16>) -> tensor<4x1xf16> {
    %xt = load %xk {grid = [0]} : tensor<4x8xf16> -> !mirage_block.tile<2x8xf16>
    %r = thread (%f = %xt) : !mirage_block.tile<2x8xf16> {
      %q = mul %f, %f : !mirage_thread.fragment<2x8xf16>, !mirage_thread.fragment<2x8xf16>
      %s = reduce_max %q {dim = 1} : !mirage_thread.fragment<2x8xf32>
      yield %s : !mirage_thread.fragment<2x1xf32>
    }
    store %r, %yk {grid = [0]} : !mirage_block.tile<2x1xf32>, tensor<4x1xf16>
  }
  return %y : tensor<4x1xf16>
}

// The square of the sum.
// CHECK: @tgt_stats_square_of_sum: different at output
mirage_kernel.graph @tgt_stats_square_of_sum(%x: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_stats} {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<4x8xf16>) -> tensor<4x1xf16> {
    %xt = load %xk {grid = [0]} : tensor<4x8xf16> -> !mirage_block.tile<2x8xf16>
    %r = thread (%f = %xt) : !mirage_block.tile<2x8xf16> {
      %s = reduce_sum %f {dim = 1} : !mirage_thread.fragment<2x8xf16>
      %q = mul %s, %s : !mirage_thread.fragment<2x1xf32>, !mirage_thread.fragment<2x1xf32>
      yield %q : !mirage_thread.fragment<2x1xf32>
    }
    store %r, %yk {grid = [0]} : !mirage_block.tile<2x1xf32>, tensor<4x1xf16>
  }
  return %y : tensor<4x1xf16>
}
