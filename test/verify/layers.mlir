// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=500' -o /dev/null 2>&1 | FileCheck %s
// Several layers: sums over the values of a function of sums. Each summand has a denominator of its own, so the exponentials
// multiply, and only the theorem of free exponentials has a bound.

mirage_kernel.graph @src_moe(%x: tensor<2x2x4xf16>, %a: tensor<2x4x48xf16>, %b: tensor<2x48x4xf16>) -> tensor<2x2x4xf16> {
  %h = matmul %x, %a : tensor<2x2x4xf16>, tensor<2x4x48xf16>
  %s = silu %h : tensor<2x2x48xf16>
  %y = matmul %s, %b : tensor<2x2x48xf16>, tensor<2x48x4xf16>
  return %y : tensor<2x2x4xf16>
}

// silu where the first product ends.
// CHECK: @tgt_moe_first: equivalent to @src_moe;
mirage_kernel.graph @tgt_moe_first(%x: tensor<2x2x4xf16>, %a: tensor<2x4x48xf16>, %b: tensor<2x48x4xf16>) -> tensor<2x2x4xf16> attributes {source = @src_moe} {
  %h = custom (%xk = %x, %ak = %a) outs(%hk) grid [4, 2] : (tensor<2x2x4xf16>, tensor<2x4x48xf16>) -> tensor<2x2x48xf16> {
    %zero = constant 0.0 : !mirage_block.tile<1x2x12xf32>
    %h = loop 2 (%acc = %zero sum) : !mirage_block.tile<1x2x12xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [2]} : tensor<2x2x4xf16> -> !mirage_block.tile<1x2x2xf16>
      %at = load %ak {grid = [2, 0], loop = [1]} : tensor<2x4x48xf16> -> !mirage_block.tile<1x2x12xf16>
      %p = matmul %xt, %at : !mirage_block.tile<1x2x2xf16>, !mirage_block.tile<1x2x12xf16>
      yield %p : !mirage_block.tile<1x2x12xf32>
    }
    %s = silu %h : !mirage_block.tile<1x2x12xf32>
    store %s, %hk {grid = [2, 0]} : !mirage_block.tile<1x2x12xf32>, tensor<2x2x48xf16>
  }
  %y = custom (%hk = %h, %bk = %b) outs(%yk) grid [2] : (tensor<2x2x48xf16>, tensor<2x48x4xf16>) -> tensor<2x2x4xf16> {
    %zero = constant 0.0 : !mirage_block.tile<1x2x4xf32>
    %s = loop 4 (%acc = %zero sum) : !mirage_block.tile<1x2x4xf32> {
      %ht = load %hk {grid = [0], loop = [2]} : tensor<2x2x48xf16> -> !mirage_block.tile<1x2x12xf16>
      %bt = load %bk {grid = [0], loop = [1]} : tensor<2x48x4xf16> -> !mirage_block.tile<1x12x4xf16>
      %p = matmul %ht, %bt : !mirage_block.tile<1x2x12xf16>, !mirage_block.tile<1x12x4xf16>
      yield %p : !mirage_block.tile<1x2x4xf32>
    }
    store %s, %yk {grid = [0]} : !mirage_block.tile<1x2x4xf32>, tensor<2x2x4xf16>
  }
  return %y : tensor<2x2x4xf16>
}

// silu where the second product begins, in a tile of its own loop.
// CHECK: @tgt_moe_second: equivalent to @src_moe;
mirage_kernel.graph @tgt_moe_second(%x: tensor<2x2x4xf16>, %a: tensor<2x4x48xf16>, %b: tensor<2x48x4xf16>) -> tensor<2x2x4xf16> attributes {source = @src_moe} {
  %h = custom (%xk = %x, %ak = %a) outs(%hk) grid [4, 2] : (tensor<2x2x4xf16>, tensor<2x4x48xf16>) -> tensor<2x2x48xf16> {
    %zero = constant 0.0 : !mirage_block.tile<1x2x12xf32>
    %h = loop 2 (%acc = %zero sum) : !mirage_block.tile<1x2x12xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [2]} : tensor<2x2x4xf16> -> !mirage_block.tile<1x2x2xf16>
      %at = load %ak {grid = [2, 0], loop = [1]} : tensor<2x4x48xf16> -> !mirage_block.tile<1x2x12xf16>
      %p = matmul %xt, %at : !mirage_block.tile<1x2x2xf16>, !mirage_block.tile<1x2x12xf16>
      yield %p : !mirage_block.tile<1x2x12xf32>
    }
    store %h, %hk {grid = [2, 0]} : !mirage_block.tile<1x2x12xf32>, tensor<2x2x48xf16>
  }
  %y = custom (%hk = %h, %bk = %b) outs(%yk) grid [2] : (tensor<2x2x48xf16>, tensor<2x48x4xf16>) -> tensor<2x2x4xf16> {
    %zero = constant 0.0 : !mirage_block.tile<1x2x4xf32>
    %s = loop 4 (%acc = %zero sum) : !mirage_block.tile<1x2x4xf32> {
      %ht = load %hk {grid = [0], loop = [2]} : tensor<2x2x48xf16> -> !mirage_block.tile<1x2x12xf16>
      %bt = load %bk {grid = [0], loop = [1]} : tensor<2x48x4xf16> -> !mirage_block.tile<1x12x4xf16>
      %g = silu %ht : !mirage_block.tile<1x2x12xf16>
      %c = cast %g : !mirage_block.tile<1x2x12xf32> -> !mirage_block.tile<1x2x12xf16>
      %p = matmul %c, %bt : !mirage_block.tile<1x2x12xf16>, !mirage_block.tile<1x12x4xf16>
      yield %p : !mirage_block.tile<1x2x4xf32>
    }
    store %s, %yk {grid = [0]} : !mirage_block.tile<1x2x4xf32>, tensor<2x2x4xf16>
  }
  return %y : tensor<2x2x4xf16>
}

// silu of partial sums.
// CHECK: @tgt_moe_partial: different at output
mirage_kernel.graph @tgt_moe_partial(%x: tensor<2x2x4xf16>, %a: tensor<2x4x48xf16>, %b: tensor<2x48x4xf16>) -> tensor<2x2x4xf16> attributes {source = @src_moe} {
  %h = custom (%xk = %x, %ak = %a) outs(%hk) grid [4, 2] : (tensor<2x2x4xf16>, tensor<2x4x48xf16>) -> tensor<2x2x48xf16> {
    %zero = constant 0.0 : !mirage_block.tile<1x2x12xf32>
    %h = loop 2 (%acc = %zero sum) : !mirage_block.tile<1x2x12xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [2]} : tensor<2x2x4xf16> -> !mirage_block.tile<1x2x2xf16>
      %at = load %ak {grid = [2, 0], loop = [1]} : tensor<2x4x48xf16> -> !mirage_block.tile<1x2x12xf16>
      %t = matmul %xt, %at : !mirage_block.tile<1x2x2xf16>, !mirage_block.tile<1x2x12xf16>
      %p = silu %t : !mirage_block.tile<1x2x12xf32>
      yield %p : !mirage_block.tile<1x2x12xf32>
    }
    store %h, %hk {grid = [2, 0]} : !mirage_block.tile<1x2x12xf32>, tensor<2x2x48xf16>
  }
  %y = custom (%hk = %h, %bk = %b) outs(%yk) grid [2] : (tensor<2x2x48xf16>, tensor<2x48x4xf16>) -> tensor<2x2x4xf16> {
    %zero = constant 0.0 : !mirage_block.tile<1x2x4xf32>
    %s = loop 4 (%acc = %zero sum) : !mirage_block.tile<1x2x4xf32> {
      %ht = load %hk {grid = [0], loop = [2]} : tensor<2x2x48xf16> -> !mirage_block.tile<1x2x12xf16>
      %bt = load %bk {grid = [0], loop = [1]} : tensor<2x48x4xf16> -> !mirage_block.tile<1x12x4xf16>
      %p = matmul %ht, %bt : !mirage_block.tile<1x2x12xf16>, !mirage_block.tile<1x12x4xf16>
      yield %p : !mirage_block.tile<1x2x4xf32>
    }
    store %s, %yk {grid = [0]} : !mirage_block.tile<1x2x4xf32>, tensor<2x2x4xf16>
  }
  return %y : tensor<2x2x4xf16>
}

// The factor is missing.
// CHECK: @tgt_moe_sigmoid: different at output
mirage_kernel.graph @tgt_moe_sigmoid(%x: tensor<2x2x4xf16>, %a: tensor<2x4x48xf16>, %b: tensor<2x48x4xf16>) -> tensor<2x2x4xf16> attributes {source = @src_moe} {
  %h = custom (%xk = %x, %ak = %a) outs(%hk) grid [4, 2] : (tensor<2x2x4xf16>, tensor<2x4x48xf16>) -> tensor<2x2x48xf16> {
    %zero = constant 0.0 : !mirage_block.tile<1x2x12xf32>
    %h = loop 2 (%acc = %zero sum) : !mirage_block.tile<1x2x12xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [2]} : tensor<2x2x4xf16> -> !mirage_block.tile<1x2x2xf16>
      %at = load %ak {grid = [2, 0], loop = [1]} : tensor<2x4x48xf16> -> !mirage_block.tile<1x2x12xf16>
      %p = matmul %xt, %at : !mirage_block.tile<1x2x2xf16>, !mirage_block.tile<1x2x12xf16>
      yield %p : !mirage_block.tile<1x2x12xf32>
    }
    %s = sigmoid %h : !mirage_block.tile<1x2x12xf32>
    store %s, %hk {grid = [2, 0]} : !mirage_block.tile<1x2x12xf32>, tensor<2x2x48xf16>
  }
  %y = custom (%hk = %h, %bk = %b) outs(%yk) grid [2] : (tensor<2x2x48xf16>, tensor<2x48x4xf16>) -> tensor<2x2x4xf16> {
    %zero = constant 0.0 : !mirage_block.tile<1x2x4xf32>
    %s = loop 4 (%acc = %zero sum) : !mirage_block.tile<1x2x4xf32> {
      %ht = load %hk {grid = [0], loop = [2]} : tensor<2x2x48xf16> -> !mirage_block.tile<1x2x12xf16>
      %bt = load %bk {grid = [0], loop = [1]} : tensor<2x48x4xf16> -> !mirage_block.tile<1x12x4xf16>
      %p = matmul %ht, %bt : !mirage_block.tile<1x2x12xf16>, !mirage_block.tile<1x12x4xf16>
      yield %p : !mirage_block.tile<1x2x4xf32>
    }
    store %s, %yk {grid = [0]} : !mirage_block.tile<1x2x4xf32>, tensor<2x2x4xf16>
  }
  return %y : tensor<2x2x4xf16>
}

// No function at all.
// CHECK: @tgt_moe_none: different at output
mirage_kernel.graph @tgt_moe_none(%x: tensor<2x2x4xf16>, %a: tensor<2x4x48xf16>, %b: tensor<2x48x4xf16>) -> tensor<2x2x4xf16> attributes {source = @src_moe} {
  %h = custom (%xk = %x, %ak = %a) outs(%hk) grid [4, 2] : (tensor<2x2x4xf16>, tensor<2x4x48xf16>) -> tensor<2x2x48xf16> {
    %zero = constant 0.0 : !mirage_block.tile<1x2x12xf32>
    %h = loop 2 (%acc = %zero sum) : !mirage_block.tile<1x2x12xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [2]} : tensor<2x2x4xf16> -> !mirage_block.tile<1x2x2xf16>
      %at = load %ak {grid = [2, 0], loop = [1]} : tensor<2x4x48xf16> -> !mirage_block.tile<1x2x12xf16>
      %p = matmul %xt, %at : !mirage_block.tile<1x2x2xf16>, !mirage_block.tile<1x2x12xf16>
      yield %p : !mirage_block.tile<1x2x12xf32>
    }
    store %h, %hk {grid = [2, 0]} : !mirage_block.tile<1x2x12xf32>, tensor<2x2x48xf16>
  }
  %y = custom (%hk = %h, %bk = %b) outs(%yk) grid [2] : (tensor<2x2x48xf16>, tensor<2x48x4xf16>) -> tensor<2x2x4xf16> {
    %zero = constant 0.0 : !mirage_block.tile<1x2x4xf32>
    %s = loop 4 (%acc = %zero sum) : !mirage_block.tile<1x2x4xf32> {
      %ht = load %hk {grid = [0], loop = [2]} : tensor<2x2x48xf16> -> !mirage_block.tile<1x2x12xf16>
      %bt = load %bk {grid = [0], loop = [1]} : tensor<2x48x4xf16> -> !mirage_block.tile<1x12x4xf16>
      %p = matmul %ht, %bt : !mirage_block.tile<1x2x12xf16>, !mirage_block.tile<1x12x4xf16>
      yield %p : !mirage_block.tile<1x2x4xf32>
    }
    store %s, %yk {grid = [0]} : !mirage_block.tile<1x2x4xf32>, tensor<2x2x4xf16>
  }
  return %y : tensor<2x2x4xf16>
}

// In both kernels.
// CHECK: @tgt_moe_twice: different at output
mirage_kernel.graph @tgt_moe_twice(%x: tensor<2x2x4xf16>, %a: tensor<2x4x48xf16>, %b: tensor<2x48x4xf16>) -> tensor<2x2x4xf16> attributes {source = @src_moe} {
  %h = custom (%xk = %x, %ak = %a) outs(%hk) grid [4, 2] : (tensor<2x2x4xf16>, tensor<2x4x48xf16>) -> tensor<2x2x48xf16> {
    %zero = constant 0.0 : !mirage_block.tile<1x2x12xf32>
    %h = loop 2 (%acc = %zero sum) : !mirage_block.tile<1x2x12xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [2]} : tensor<2x2x4xf16> -> !mirage_block.tile<1x2x2xf16>
      %at = load %ak {grid = [2, 0], loop = [1]} : tensor<2x4x48xf16> -> !mirage_block.tile<1x2x12xf16>
      %p = matmul %xt, %at : !mirage_block.tile<1x2x2xf16>, !mirage_block.tile<1x2x12xf16>
      yield %p : !mirage_block.tile<1x2x12xf32>
    }
    %s = silu %h : !mirage_block.tile<1x2x12xf32>
    store %s, %hk {grid = [2, 0]} : !mirage_block.tile<1x2x12xf32>, tensor<2x2x48xf16>
  }
  %y = custom (%hk = %h, %bk = %b) outs(%yk) grid [2] : (tensor<2x2x48xf16>, tensor<2x48x4xf16>) -> tensor<2x2x4xf16> {
    %zero = constant 0.0 : !mirage_block.tile<1x2x4xf32>
    %s = loop 4 (%acc = %zero sum) : !mirage_block.tile<1x2x4xf32> {
      %ht = load %hk {grid = [0], loop = [2]} : tensor<2x2x48xf16> -> !mirage_block.tile<1x2x12xf16>
      %bt = load %bk {grid = [0], loop = [1]} : tensor<2x48x4xf16> -> !mirage_block.tile<1x12x4xf16>
      %g = silu %ht : !mirage_block.tile<1x2x12xf16>
      %c = cast %g : !mirage_block.tile<1x2x12xf32> -> !mirage_block.tile<1x2x12xf16>
      %p = matmul %c, %bt : !mirage_block.tile<1x2x12xf16>, !mirage_block.tile<1x12x4xf16>
      yield %p : !mirage_block.tile<1x2x4xf32>
    }
    store %s, %yk {grid = [0]} : !mirage_block.tile<1x2x4xf32>, tensor<2x2x4xf16>
  }
  return %y : tensor<2x2x4xf16>
}

// A gated unit, projected down, and a second layer on top.
mirage_kernel.graph @src_deep(%x: tensor<2x4xf16>, %w1: tensor<4x48xf16>, %w2: tensor<4x48xf16>, %w3: tensor<48x40xf16>, %w4: tensor<40x3xf16>) -> tensor<2x3xf16> {
  %a = matmul %x, %w1 : tensor<2x4xf16>, tensor<4x48xf16>
  %b = matmul %x, %w2 : tensor<2x4xf16>, tensor<4x48xf16>
  %s = silu %a : tensor<2x48xf16>
  %g = mul %s, %b : tensor<2x48xf16>, tensor<2x48xf16>
  %h = matmul %g, %w3 : tensor<2x48xf16>, tensor<48x40xf16>
  %t = silu %h : tensor<2x40xf16>
  %y = matmul %t, %w4 : tensor<2x40xf16>, tensor<40x3xf16>
  return %y : tensor<2x3xf16>
}

// Three kernels; the second silu is written as a / (1 + exp(-a)).
// CHECK: @tgt_deep_three_kernels: equivalent to @src_deep;
mirage_kernel.graph @tgt_deep_three_kernels(%x: tensor<2x4xf16>, %w1: tensor<4x48xf16>, %w2: tensor<4x48xf16>, %w3: tensor<48x40xf16>, %w4: tensor<40x3xf16>) -> tensor<2x3xf16> attributes {source = @src_deep} {
  %g = custom (%xk = %x, %w1k = %w1, %w2k = %w2) outs(%gk) grid [4] : (tensor<2x4xf16>, tensor<4x48xf16>, tensor<4x48xf16>) -> tensor<2x48xf16> {
    %xt = load %xk {} : tensor<2x4xf16> -> !mirage_block.tile<2x4xf16>
    %w1t = load %w1k {grid = [1]} : tensor<4x48xf16> -> !mirage_block.tile<4x12xf16>
    %w2t = load %w2k {grid = [1]} : tensor<4x48xf16> -> !mirage_block.tile<4x12xf16>
    %a = matmul %xt, %w1t : !mirage_block.tile<2x4xf16>, !mirage_block.tile<4x12xf16>
    %b = matmul %xt, %w2t : !mirage_block.tile<2x4xf16>, !mirage_block.tile<4x12xf16>
    %s = silu %a : !mirage_block.tile<2x12xf32>
    %g = mul %s, %b : !mirage_block.tile<2x12xf32>, !mirage_block.tile<2x12xf32>
    store %g, %gk {grid = [1]} : !mirage_block.tile<2x12xf32>, tensor<2x48xf16>
  }
  %u = custom (%gk = %g, %w3k = %w3) outs(%uk) grid [5] : (tensor<2x48xf16>, tensor<48x40xf16>) -> tensor<2x40xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x8xf32>
    %h = loop 4 (%acc = %zero sum) : !mirage_block.tile<2x8xf32> {
      %gt = load %gk {loop = [1]} : tensor<2x48xf16> -> !mirage_block.tile<2x12xf16>
      %w3t = load %w3k {grid = [1], loop = [0]} : tensor<48x40xf16> -> !mirage_block.tile<12x8xf16>
      %p = matmul %gt, %w3t : !mirage_block.tile<2x12xf16>, !mirage_block.tile<12x8xf16>
      yield %p : !mirage_block.tile<2x8xf32>
    }
    %n = neg %h : !mirage_block.tile<2x8xf32>
    %e = exp %n : !mirage_block.tile<2x8xf32>
    %one = constant 1.0 : !mirage_block.tile<1x1xf32>
    %d = add %e, %one : !mirage_block.tile<2x8xf32>, !mirage_block.tile<1x1xf32>
    %t = div %h, %d : !mirage_block.tile<2x8xf32>, !mirage_block.tile<2x8xf32>
    store %t, %uk {grid = [1]} : !mirage_block.tile<2x8xf32>, tensor<2x40xf16>
  }
  %y = matmul %u, %w4 : tensor<2x40xf16>, tensor<40x3xf16>
  return %y : tensor<2x3xf16>
}

// The other product is the gate.
// CHECK: @tgt_deep_wrong_gate: different at output
mirage_kernel.graph @tgt_deep_wrong_gate(%x: tensor<2x4xf16>, %w1: tensor<4x48xf16>, %w2: tensor<4x48xf16>, %w3: tensor<48x40xf16>, %w4: tensor<40x3xf16>) -> tensor<2x3xf16> attributes {source = @src_deep} {
  %g = custom (%xk = %x, %w1k = %w1, %w2k = %w2) outs(%gk) grid [4] : (tensor<2x4xf16>, tensor<4x48xf16>, tensor<4x48xf16>) -> tensor<2x48xf16> {
    %xt = load %xk {} : tensor<2x4xf16> -> !mirage_block.tile<2x4xf16>
    %w1t = load %w1k {grid = [1]} : tensor<4x48xf16> -> !mirage_block.tile<4x12xf16>
    %w2t = load %w2k {grid = [1]} : tensor<4x48xf16> -> !mirage_block.tile<4x12xf16>
    %a = matmul %xt, %w1t : !mirage_block.tile<2x4xf16>, !mirage_block.tile<4x12xf16>
    %b = matmul %xt, %w2t : !mirage_block.tile<2x4xf16>, !mirage_block.tile<4x12xf16>
    %s = silu %b : !mirage_block.tile<2x12xf32>
    %g = mul %s, %a : !mirage_block.tile<2x12xf32>, !mirage_block.tile<2x12xf32>
    store %g, %gk {grid = [1]} : !mirage_block.tile<2x12xf32>, tensor<2x48xf16>
  }
  %u = custom (%gk = %g, %w3k = %w3) outs(%uk) grid [5] : (tensor<2x48xf16>, tensor<48x40xf16>) -> tensor<2x40xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x8xf32>
    %h = loop 4 (%acc = %zero sum) : !mirage_block.tile<2x8xf32> {
      %gt = load %gk {loop = [1]} : tensor<2x48xf16> -> !mirage_block.tile<2x12xf16>
      %w3t = load %w3k {grid = [1], loop = [0]} : tensor<48x40xf16> -> !mirage_block.tile<12x8xf16>
      %p = matmul %gt, %w3t : !mirage_block.tile<2x12xf16>, !mirage_block.tile<12x8xf16>
      yield %p : !mirage_block.tile<2x8xf32>
    }
    %n = neg %h : !mirage_block.tile<2x8xf32>
    %e = exp %n : !mirage_block.tile<2x8xf32>
    %one = constant 1.0 : !mirage_block.tile<1x1xf32>
    %d = add %e, %one : !mirage_block.tile<2x8xf32>, !mirage_block.tile<1x1xf32>
    %t = div %h, %d : !mirage_block.tile<2x8xf32>, !mirage_block.tile<2x8xf32>
    store %t, %uk {grid = [1]} : !mirage_block.tile<2x8xf32>, tensor<2x40xf16>
  }
  %y = matmul %u, %w4 : tensor<2x40xf16>, tensor<40x3xf16>
  return %y : tensor<2x3xf16>
}

// The second exponential has the wrong sign.
// CHECK: @tgt_deep_wrong_sign: different at output
mirage_kernel.graph @tgt_deep_wrong_sign(%x: tensor<2x4xf16>, %w1: tensor<4x48xf16>, %w2: tensor<4x48xf16>, %w3: tensor<48x40xf16>, %w4: tensor<40x3xf16>) -> tensor<2x3xf16> attributes {source = @src_deep} {
  %g = custom (%xk = %x, %w1k = %w1, %w2k = %w2) outs(%gk) grid [4] : (tensor<2x4xf16>, tensor<4x48xf16>, tensor<4x48xf16>) -> tensor<2x48xf16> {
    %xt = load %xk {} : tensor<2x4xf16> -> !mirage_block.tile<2x4xf16>
    %w1t = load %w1k {grid = [1]} : tensor<4x48xf16> -> !mirage_block.tile<4x12xf16>
    %w2t = load %w2k {grid = [1]} : tensor<4x48xf16> -> !mirage_block.tile<4x12xf16>
    %a = matmul %xt, %w1t : !mirage_block.tile<2x4xf16>, !mirage_block.tile<4x12xf16>
    %b = matmul %xt, %w2t : !mirage_block.tile<2x4xf16>, !mirage_block.tile<4x12xf16>
    %s = silu %a : !mirage_block.tile<2x12xf32>
    %g = mul %s, %b : !mirage_block.tile<2x12xf32>, !mirage_block.tile<2x12xf32>
    store %g, %gk {grid = [1]} : !mirage_block.tile<2x12xf32>, tensor<2x48xf16>
  }
  %u = custom (%gk = %g, %w3k = %w3) outs(%uk) grid [5] : (tensor<2x48xf16>, tensor<48x40xf16>) -> tensor<2x40xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x8xf32>
    %h = loop 4 (%acc = %zero sum) : !mirage_block.tile<2x8xf32> {
      %gt = load %gk {loop = [1]} : tensor<2x48xf16> -> !mirage_block.tile<2x12xf16>
      %w3t = load %w3k {grid = [1], loop = [0]} : tensor<48x40xf16> -> !mirage_block.tile<12x8xf16>
      %p = matmul %gt, %w3t : !mirage_block.tile<2x12xf16>, !mirage_block.tile<12x8xf16>
      yield %p : !mirage_block.tile<2x8xf32>
    }
    %n = neg %h : !mirage_block.tile<2x8xf32>
    %e = exp %h : !mirage_block.tile<2x8xf32>
    %one = constant 1.0 : !mirage_block.tile<1x1xf32>
    %d = add %e, %one : !mirage_block.tile<2x8xf32>, !mirage_block.tile<1x1xf32>
    %t = div %h, %d : !mirage_block.tile<2x8xf32>, !mirage_block.tile<2x8xf32>
    store %t, %uk {grid = [1]} : !mirage_block.tile<2x8xf32>, tensor<2x40xf16>
  }
  %y = matmul %u, %w4 : tensor<2x40xf16>, tensor<40x3xf16>
  return %y : tensor<2x3xf16>
}
