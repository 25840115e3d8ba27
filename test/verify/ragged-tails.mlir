// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// 10 in 4 parts: tiles of 3, and a tail of 1 with two masked elements, which must be neutral for what follows.

mirage_kernel.graph @src_sumexp(%x: tensor<2x10xf16>) -> tensor<2x1xf16> {
  %e = exp %x : tensor<2x10xf16>
  %y = reduce_sum %e {dim = 1} : tensor<2x10xf16>
  return %y : tensor<2x1xf16>
}

// exp(bottom) = 0.
// CHECK: @tgt_sumexp_bottom: equivalent to @src_sumexp;
mirage_kernel.graph @tgt_sumexp_bottom(%x: tensor<2x10xf16>) -> tensor<2x1xf16> attributes {source = @src_sumexp} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<2x10xf16>) -> tensor<2x1xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x1xf32>
    %s = loop 4 (%a = %zero sum) : !mirage_block.tile<2x1xf32> {
      %xt = load %xk {loop = [1], fill = bottom} : tensor<2x10xf16> -> !mirage_block.tile<2x3xf16>
      %e = exp %xt : !mirage_block.tile<2x3xf16>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x3xf32>
      yield %t : !mirage_block.tile<2x1xf32>
    }
    store %s, %yk : !mirage_block.tile<2x1xf32>, tensor<2x1xf16>
  }
  return %y : tensor<2x1xf16>
}

// exp(0) = 1 leaks.
// CHECK: @tgt_sumexp_zero: different at output
mirage_kernel.graph @tgt_sumexp_zero(%x: tensor<2x10xf16>) -> tensor<2x1xf16> attributes {source = @src_sumexp} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<2x10xf16>) -> tensor<2x1xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x1xf32>
    %s = loop 4 (%a = %zero sum) : !mirage_block.tile<2x1xf32> {
      %xt = load %xk {loop = [1], fill = zero} : tensor<2x10xf16> -> !mirage_block.tile<2x3xf16>
      %e = exp %xt : !mirage_block.tile<2x3xf16>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x3xf32>
      yield %t : !mirage_block.tile<2x1xf32>
    }
    store %s, %yk : !mirage_block.tile<2x1xf32>, tensor<2x1xf16>
  }
  return %y : tensor<2x1xf16>
}

// exp(1) leaks.
// CHECK: @tgt_sumexp_one: different at output
mirage_kernel.graph @tgt_sumexp_one(%x: tensor<2x10xf16>) -> tensor<2x1xf16> attributes {source = @src_sumexp} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<2x10xf16>) -> tensor<2x1xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x1xf32>
    %s = loop 4 (%a = %zero sum) : !mirage_block.tile<2x1xf32> {
      %xt = load %xk {loop = [1], fill = one} : tensor<2x10xf16> -> !mirage_block.tile<2x3xf16>
      %e = exp %xt : !mirage_block.tile<2x3xf16>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x3xf32>
      yield %t : !mirage_block.tile<2x1xf32>
    }
    store %s, %yk : !mirage_block.tile<2x1xf32>, tensor<2x1xf16>
  }
  return %y : tensor<2x1xf16>
}

mirage_kernel.graph @src_sum(%x: tensor<2x10xf16>) -> tensor<2x1xf16> {
  %y = reduce_sum %x {dim = 1} : tensor<2x10xf16>
  return %y : tensor<2x1xf16>
}

// 0 is neutral.
// CHECK: @tgt_sum_zero: equivalent to @src_sum;
mirage_kernel.graph @tgt_sum_zero(%x: tensor<2x10xf16>) -> tensor<2x1xf16> attributes {source = @src_sum} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<2x10xf16>) -> tensor<2x1xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x1xf32>
    %s = loop 4 (%a = %zero sum) : !mirage_block.tile<2x1xf32> {
      %xt = load %xk {loop = [1], fill = zero} : tensor<2x10xf16> -> !mirage_block.tile<2x3xf16>
      %e = cast %xt : !mirage_block.tile<2x3xf16> -> !mirage_block.tile<2x3xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x3xf32>
      yield %t : !mirage_block.tile<2x1xf32>
    }
    store %s, %yk : !mirage_block.tile<2x1xf32>, tensor<2x1xf16>
  }
  return %y : tensor<2x1xf16>
}

// Two ones leak.
// CHECK: @tgt_sum_one: different at output
mirage_kernel.graph @tgt_sum_one(%x: tensor<2x10xf16>) -> tensor<2x1xf16> attributes {source = @src_sum} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<2x10xf16>) -> tensor<2x1xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x1xf32>
    %s = loop 4 (%a = %zero sum) : !mirage_block.tile<2x1xf32> {
      %xt = load %xk {loop = [1], fill = one} : tensor<2x10xf16> -> !mirage_block.tile<2x3xf16>
      %e = cast %xt : !mirage_block.tile<2x3xf16> -> !mirage_block.tile<2x3xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x3xf32>
      yield %t : !mirage_block.tile<2x1xf32>
    }
    store %s, %yk : !mirage_block.tile<2x1xf32>, tensor<2x1xf16>
  }
  return %y : tensor<2x1xf16>
}

mirage_kernel.graph @src_max(%x: tensor<2x10xf16>) -> tensor<2x1xf16> {
  %y = reduce_max %x {dim = 1} : tensor<2x10xf16>
  return %y : tensor<2x1xf16>
}

// Bottom is neutral.
// CHECK: @tgt_max_bottom: equivalent to @src_max;
mirage_kernel.graph @tgt_max_bottom(%x: tensor<2x10xf16>) -> tensor<2x1xf16> attributes {source = @src_max} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<2x10xf16>) -> tensor<2x1xf16> {
    %none = bottom : !mirage_block.tile<2x1xf32>
    %s = loop 4 (%a = %none max) : !mirage_block.tile<2x1xf32> {
      %xt = load %xk {loop = [1], fill = bottom} : tensor<2x10xf16> -> !mirage_block.tile<2x3xf16>
      %t = reduce_max %xt {dim = 1} : !mirage_block.tile<2x3xf16>
      yield %t : !mirage_block.tile<2x1xf32>
    }
    store %s, %yk : !mirage_block.tile<2x1xf32>, tensor<2x1xf16>
  }
  return %y : tensor<2x1xf16>
}

// A zero may win.
// CHECK: @tgt_max_zero: different at output
mirage_kernel.graph @tgt_max_zero(%x: tensor<2x10xf16>) -> tensor<2x1xf16> attributes {source = @src_max} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<2x10xf16>) -> tensor<2x1xf16> {
    %none = bottom : !mirage_block.tile<2x1xf32>
    %s = loop 4 (%a = %none max) : !mirage_block.tile<2x1xf32> {
      %xt = load %xk {loop = [1], fill = zero} : tensor<2x10xf16> -> !mirage_block.tile<2x3xf16>
      %t = reduce_max %xt {dim = 1} : !mirage_block.tile<2x3xf16>
      yield %t : !mirage_block.tile<2x1xf32>
    }
    store %s, %yk : !mirage_block.tile<2x1xf32>, tensor<2x1xf16>
  }
  return %y : tensor<2x1xf16>
}

// A one may win.
// CHECK: @tgt_max_one: different at output
mirage_kernel.graph @tgt_max_one(%x: tensor<2x10xf16>) -> tensor<2x1xf16> attributes {source = @src_max} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<2x10xf16>) -> tensor<2x1xf16> {
    %none = bottom : !mirage_block.tile<2x1xf32>
    %s = loop 4 (%a = %none max) : !mirage_block.tile<2x1xf32> {
      %xt = load %xk {loop = [1], fill = one} : tensor<2x10xf16> -> !mirage_block.tile<2x3xf16>
      %t = reduce_max %xt {dim = 1} : !mirage_block.tile<2x3xf16>
      yield %t : !mirage_block.tile<2x1xf32>
    }
    store %s, %yk : !mirage_block.tile<2x1xf32>, tensor<2x1xf16>
  }
  return %y : tensor<2x1xf16>
}

mirage_kernel.graph @src_mm(%x: tensor<2x10xf16>, %w: tensor<10x6xf16>) -> tensor<2x6xf16> {
  %y = matmul %x, %w : tensor<2x10xf16>, tensor<10x6xf16>
  return %y : tensor<2x6xf16>
}

// Zeros on both sides.
// CHECK: @tgt_mm_zeros: equivalent to @src_mm;
mirage_kernel.graph @tgt_mm_zeros(%x: tensor<2x10xf16>, %w: tensor<10x6xf16>) -> tensor<2x6xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2] : (tensor<2x10xf16>, tensor<10x6xf16>) -> tensor<2x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x3xf32>
    %s = loop 4 (%a = %zero sum) : !mirage_block.tile<2x3xf32> {
      %xt = load %xk {loop = [1], fill = zero} : tensor<2x10xf16> -> !mirage_block.tile<2x3xf16>
      %wt = load %wk {grid = [1], loop = [0], fill = zero} : tensor<10x6xf16> -> !mirage_block.tile<3x3xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<2x3xf16>, !mirage_block.tile<3x3xf16>
      yield %p : !mirage_block.tile<2x3xf32>
    }
    store %s, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  return %y : tensor<2x6xf16>
}

// Zero times one is zero: one side is enough.
// CHECK: @tgt_mm_one_side: equivalent to @src_mm;
mirage_kernel.graph @tgt_mm_one_side(%x: tensor<2x10xf16>, %w: tensor<10x6xf16>) -> tensor<2x6xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2] : (tensor<2x10xf16>, tensor<10x6xf16>) -> tensor<2x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x3xf32>
    %s = loop 4 (%a = %zero sum) : !mirage_block.tile<2x3xf32> {
      %xt = load %xk {loop = [1], fill = one} : tensor<2x10xf16> -> !mirage_block.tile<2x3xf16>
      %wt = load %wk {grid = [1], loop = [0], fill = zero} : tensor<10x6xf16> -> !mirage_block.tile<3x3xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<2x3xf16>, !mirage_block.tile<3x3xf16>
      yield %p : !mirage_block.tile<2x3xf32>
    }
    store %s, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  return %y : tensor<2x6xf16>
}

// Ones on both sides.
// CHECK: @tgt_mm_ones: different at output
mirage_kernel.graph @tgt_mm_ones(%x: tensor<2x10xf16>, %w: tensor<10x6xf16>) -> tensor<2x6xf16> attributes {source = @src_mm} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2] : (tensor<2x10xf16>, tensor<10x6xf16>) -> tensor<2x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x3xf32>
    %s = loop 4 (%a = %zero sum) : !mirage_block.tile<2x3xf32> {
      %xt = load %xk {loop = [1], fill = one} : tensor<2x10xf16> -> !mirage_block.tile<2x3xf16>
      %wt = load %wk {grid = [1], loop = [0], fill = one} : tensor<10x6xf16> -> !mirage_block.tile<3x3xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<2x3xf16>, !mirage_block.tile<3x3xf16>
      yield %p : !mirage_block.tile<2x3xf32>
    }
    store %s, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  return %y : tensor<2x6xf16>
}

mirage_kernel.graph @src_div(%a: tensor<2x10xf16>, %b: tensor<2x10xf16>) -> tensor<2x10xf16> {
  %y = div %a, %b : tensor<2x10xf16>, tensor<2x10xf16>
  return %y : tensor<2x10xf16>
}

// Masked divisors are 1; what they divide is not stored.
// CHECK: @tgt_div_one: equivalent to @src_div;
mirage_kernel.graph @tgt_div_one(%a: tensor<2x10xf16>, %b: tensor<2x10xf16>) -> tensor<2x10xf16> attributes {source = @src_div} {
  %y = custom (%ak = %a, %bk = %b) outs(%yk) grid [4] : (tensor<2x10xf16>, tensor<2x10xf16>) -> tensor<2x10xf16> {
    %at = load %ak {grid = [1], fill = zero} : tensor<2x10xf16> -> !mirage_block.tile<2x3xf16>
    %bt = load %bk {grid = [1], fill = one} : tensor<2x10xf16> -> !mirage_block.tile<2x3xf16>
    %r = div %at, %bt : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf16>
    store %r, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x10xf16>
  }
  return %y : tensor<2x10xf16>
}

// Masked divisors are 0: what has no value is not stored.
// CHECK: @tgt_div_zero: equivalent to @src_div;
mirage_kernel.graph @tgt_div_zero(%a: tensor<2x10xf16>, %b: tensor<2x10xf16>) -> tensor<2x10xf16> attributes {source = @src_div} {
  %y = custom (%ak = %a, %bk = %b) outs(%yk) grid [4] : (tensor<2x10xf16>, tensor<2x10xf16>) -> tensor<2x10xf16> {
    %at = load %ak {grid = [1], fill = zero} : tensor<2x10xf16> -> !mirage_block.tile<2x3xf16>
    %bt = load %bk {grid = [1], fill = zero} : tensor<2x10xf16> -> !mirage_block.tile<2x3xf16>
    %r = div %at, %bt : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf16>
    store %r, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x10xf16>
  }
  return %y : tensor<2x10xf16>
}

// Operands change places.
// CHECK: @tgt_div_swapped: different at output
mirage_kernel.graph @tgt_div_swapped(%a: tensor<2x10xf16>, %b: tensor<2x10xf16>) -> tensor<2x10xf16> attributes {source = @src_div} {
  %y = custom (%ak = %a, %bk = %b) outs(%yk) grid [4] : (tensor<2x10xf16>, tensor<2x10xf16>) -> tensor<2x10xf16> {
    %at = load %ak {grid = [1], fill = one} : tensor<2x10xf16> -> !mirage_block.tile<2x3xf16>
    %bt = load %bk {grid = [1], fill = one} : tensor<2x10xf16> -> !mirage_block.tile<2x3xf16>
    %r = div %bt, %at : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf16>
    store %r, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x10xf16>
  }
  return %y : tensor<2x10xf16>
}

mirage_kernel.graph @src_rms(%x: tensor<2x10xf16>) -> tensor<2x10xf16> {
  %y = rms_norm %x {eps = 0.0} : tensor<2x10xf16>
  return %y : tensor<2x10xf16>
}

// The count is that of the row.
// CHECK: @tgt_rms_ten: equivalent to @src_rms;
mirage_kernel.graph @tgt_rms_ten(%x: tensor<2x10xf16>) -> tensor<2x10xf16> attributes {source = @src_rms} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<2x10xf16>) -> tensor<2x10xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x1xf32>
    %s = loop 4 (%a = %zero sum) : !mirage_block.tile<2x1xf32> {
      %xt = load %xk {loop = [1], fill = zero} : tensor<2x10xf16> -> !mirage_block.tile<2x3xf16>
      %e = square %xt : !mirage_block.tile<2x3xf16>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x3xf32>
      yield %t : !mirage_block.tile<2x1xf32>
    }
    %k = constant 10.0 : !mirage_block.tile<1x1xf32>
    %m = div %s, %k : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %m : !mirage_block.tile<2x1xf32>
    %xa = load %xk : tensor<2x10xf16> -> !mirage_block.tile<2x10xf16>
    %z = div %xa, %r : !mirage_block.tile<2x10xf16>, !mirage_block.tile<2x1xf32>
    store %z, %yk : !mirage_block.tile<2x10xf32>, tensor<2x10xf16>
  }
  return %y : tensor<2x10xf16>
}

// The count is that of the tiles.
// CHECK: @tgt_rms_twelve: different at output
mirage_kernel.graph @tgt_rms_twelve(%x: tensor<2x10xf16>) -> tensor<2x10xf16> attributes {source = @src_rms} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<2x10xf16>) -> tensor<2x10xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x1xf32>
    %s = loop 4 (%a = %zero sum) : !mirage_block.tile<2x1xf32> {
      %xt = load %xk {loop = [1], fill = zero} : tensor<2x10xf16> -> !mirage_block.tile<2x3xf16>
      %e = square %xt : !mirage_block.tile<2x3xf16>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x3xf32>
      yield %t : !mirage_block.tile<2x1xf32>
    }
    %k = constant 12.0 : !mirage_block.tile<1x1xf32>
    %m = div %s, %k : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %m : !mirage_block.tile<2x1xf32>
    %xa = load %xk : tensor<2x10xf16> -> !mirage_block.tile<2x10xf16>
    %z = div %xa, %r : !mirage_block.tile<2x10xf16>, !mirage_block.tile<2x1xf32>
    store %z, %yk : !mirage_block.tile<2x10xf32>, tensor<2x10xf16>
  }
  return %y : tensor<2x10xf16>
}

// Ones are squared and summed.
// CHECK: @tgt_rms_leak: different at output
mirage_kernel.graph @tgt_rms_leak(%x: tensor<2x10xf16>) -> tensor<2x10xf16> attributes {source = @src_rms} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<2x10xf16>) -> tensor<2x10xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x1xf32>
    %s = loop 4 (%a = %zero sum) : !mirage_block.tile<2x1xf32> {
      %xt = load %xk {loop = [1], fill = one} : tensor<2x10xf16> -> !mirage_block.tile<2x3xf16>
      %e = square %xt : !mirage_block.tile<2x3xf16>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<2x3xf32>
      yield %t : !mirage_block.tile<2x1xf32>
    }
    %k = constant 10.0 : !mirage_block.tile<1x1xf32>
    %m = div %s, %k : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %m : !mirage_block.tile<2x1xf32>
    %xa = load %xk : tensor<2x10xf16> -> !mirage_block.tile<2x10xf16>
    %z = div %xa, %r : !mirage_block.tile<2x10xf16>, !mirage_block.tile<2x1xf32>
    store %z, %yk : !mirage_block.tile<2x10xf32>, tensor<2x10xf16>
  }
  return %y : tensor<2x10xf16>
}

// 7 keys in 4 parts, with a bias for each key: a bias of bottom masks what is not there.
mirage_kernel.graph @src_bias(%q: tensor<2x4xf16>, %k: tensor<7x4xf16>, %v: tensor<7x4xf16>, %b: tensor<1x7xf16>) -> tensor<2x4xf16> {
  %z0 = matmul %q, %k {transpose_b} : tensor<2x4xf16>, tensor<7x4xf16>
  %z = add %z0, %b : tensor<2x7xf16>, tensor<1x7xf16>
  %w = softmax %z {dim = 1} : tensor<2x7xf16>
  %y = matmul %w, %v : tensor<2x7xf16>, tensor<7x4xf16>
  return %y : tensor<2x4xf16>
}

// The bias of masked keys is bottom.
// CHECK: @tgt_bias_mask: equivalent to @src_bias;
mirage_kernel.graph @tgt_bias_mask(%q: tensor<2x4xf16>, %k: tensor<7x4xf16>, %v: tensor<7x4xf16>, %b: tensor<1x7xf16>) -> tensor<2x4xf16> attributes {source = @src_bias} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %bk = %b) outs(%yk) grid [1] : (tensor<2x4xf16>, tensor<7x4xf16>, tensor<7x4xf16>, tensor<1x7xf16>) -> tensor<2x4xf16> {
    %none = bottom : !mirage_block.tile<2x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x1xf32>
    %zeros = constant 0.0 : !mirage_block.tile<2x4xf32>
    %qt = load %qk : tensor<2x4xf16> -> !mirage_block.tile<2x4xf16>
    %m, %s, %acc = loop 4 (%a = %none assign, %c = %zero rescale, %o = %zeros rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32> {
      %kt = load %kk {loop = [0]} : tensor<7x4xf16> -> !mirage_block.tile<2x4xf16>
      %vt = load %vk {loop = [0]} : tensor<7x4xf16> -> !mirage_block.tile<2x4xf16>
      %bt = load %bk {loop = [1], fill = bottom} : tensor<1x7xf16> -> !mirage_block.tile<1x2xf16>
      %d0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<2x4xf16>, !mirage_block.tile<2x4xf16>
      %z = add %d0, %bt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x2xf16>
      %t = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %n = max %a, %t : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %n : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %u = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      %ph = cast %e : !mirage_block.tile<2x2xf32> -> !mirage_block.tile<2x2xf16>
      %w = matmul %ph, %vt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x4xf16>
      %g = sub %a, %n : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %g : !mirage_block.tile<2x1xf32>
      yield %n, %u, %w rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %r = div %acc, %s : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %r, %yk : !mirage_block.tile<2x4xf32>, tensor<2x4xf16>
  }
  return %y : tensor<2x4xf16>
}

// It is 0: the eighth key counts, with a score of 0.
// CHECK: @tgt_bias_leak: different at output
mirage_kernel.graph @tgt_bias_leak(%q: tensor<2x4xf16>, %k: tensor<7x4xf16>, %v: tensor<7x4xf16>, %b: tensor<1x7xf16>) -> tensor<2x4xf16> attributes {source = @src_bias} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %bk = %b) outs(%yk) grid [1] : (tensor<2x4xf16>, tensor<7x4xf16>, tensor<7x4xf16>, tensor<1x7xf16>) -> tensor<2x4xf16> {
    %none = bottom : !mirage_block.tile<2x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x1xf32>
    %zeros = constant 0.0 : !mirage_block.tile<2x4xf32>
    %qt = load %qk : tensor<2x4xf16> -> !mirage_block.tile<2x4xf16>
    %m, %s, %acc = loop 4 (%a = %none assign, %c = %zero rescale, %o = %zeros rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32> {
      %kt = load %kk {loop = [0]} : tensor<7x4xf16> -> !mirage_block.tile<2x4xf16>
      %vt = load %vk {loop = [0]} : tensor<7x4xf16> -> !mirage_block.tile<2x4xf16>
      %bt = load %bk {loop = [1], fill = zero} : tensor<1x7xf16> -> !mirage_block.tile<1x2xf16>
      %d0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<2x4xf16>, !mirage_block.tile<2x4xf16>
      %z = add %d0, %bt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x2xf16>
      %t = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %n = max %a, %t : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %n : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %u = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      %ph = cast %e : !mirage_block.tile<2x2xf32> -> !mirage_block.tile<2x2xf16>
      %w = matmul %ph, %vt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x4xf16>
      %g = sub %a, %n : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %g : !mirage_block.tile<2x1xf32>
      yield %n, %u, %w rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %r = div %acc, %s : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %r, %yk : !mirage_block.tile<2x4xf32>, tensor<2x4xf16>
  }
  return %y : tensor<2x4xf16>
}

// It is 1.
// CHECK: @tgt_bias_leak_one: different at output
mirage_kernel.graph @tgt_bias_leak_one(%q: tensor<2x4xf16>, %k: tensor<7x4xf16>, %v: tensor<7x4xf16>, %b: tensor<1x7xf16>) -> tensor<2x4xf16> attributes {source = @src_bias} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %bk = %b) outs(%yk) grid [1] : (tensor<2x4xf16>, tensor<7x4xf16>, tensor<7x4xf16>, tensor<1x7xf16>) -> tensor<2x4xf16> {
    %none = bottom : !mirage_block.tile<2x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x1xf32>
    %zeros = constant 0.0 : !mirage_block.tile<2x4xf32>
    %qt = load %qk : tensor<2x4xf16> -> !mirage_block.tile<2x4xf16>
    %m, %s, %acc = loop 4 (%a = %none assign, %c = %zero rescale, %o = %zeros rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32> {
      %kt = load %kk {loop = [0]} : tensor<7x4xf16> -> !mirage_block.tile<2x4xf16>
      %vt = load %vk {loop = [0]} : tensor<7x4xf16> -> !mirage_block.tile<2x4xf16>
      %bt = load %bk {loop = [1], fill = one} : tensor<1x7xf16> -> !mirage_block.tile<1x2xf16>
      %d0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<2x4xf16>, !mirage_block.tile<2x4xf16>
      %z = add %d0, %bt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x2xf16>
      %t = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %n = max %a, %t : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %n : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %u = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      %ph = cast %e : !mirage_block.tile<2x2xf32> -> !mirage_block.tile<2x2xf16>
      %w = matmul %ph, %vt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x4xf16>
      %g = sub %a, %n : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %g : !mirage_block.tile<2x1xf32>
      yield %n, %u, %w rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %r = div %acc, %s : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %r, %yk : !mirage_block.tile<2x4xf32>, tensor<2x4xf16>
  }
  return %y : tensor<2x4xf16>
}

// The value of the eighth key is 1, and so is the sum's share.
// CHECK: @tgt_bias_values: different at output
mirage_kernel.graph @tgt_bias_values(%q: tensor<2x4xf16>, %k: tensor<7x4xf16>, %v: tensor<7x4xf16>, %b: tensor<1x7xf16>) -> tensor<2x4xf16> attributes {source = @src_bias} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %bk = %b) outs(%yk) grid [1] : (tensor<2x4xf16>, tensor<7x4xf16>, tensor<7x4xf16>, tensor<1x7xf16>) -> tensor<2x4xf16> {
    %none = bottom : !mirage_block.tile<2x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x1xf32>
    %zeros = constant 0.0 : !mirage_block.tile<2x4xf32>
    %qt = load %qk : tensor<2x4xf16> -> !mirage_block.tile<2x4xf16>
    %m, %s, %acc = loop 4 (%a = %none assign, %c = %zero rescale, %o = %zeros rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32> {
      %kt = load %kk {loop = [0]} : tensor<7x4xf16> -> !mirage_block.tile<2x4xf16>
      %vt = load %vk {loop = [0], fill = one} : tensor<7x4xf16> -> !mirage_block.tile<2x4xf16>
      %bt = load %bk {loop = [1], fill = zero} : tensor<1x7xf16> -> !mirage_block.tile<1x2xf16>
      %d0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<2x4xf16>, !mirage_block.tile<2x4xf16>
      %z = add %d0, %bt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x2xf16>
      %t = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %n = max %a, %t : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %n : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %u = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      %ph = cast %e : !mirage_block.tile<2x2xf32> -> !mirage_block.tile<2x2xf16>
      %w = matmul %ph, %vt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x4xf16>
      %g = sub %a, %n : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %g : !mirage_block.tile<2x1xf32>
      yield %n, %u, %w rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %r = div %acc, %s : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %r, %yk : !mirage_block.tile<2x4xf32>, tensor<2x4xf16>
  }
  return %y : tensor<2x4xf16>
}

// The bias is added twice.
// CHECK: @tgt_bias_bias_doubled: different at output
mirage_kernel.graph @tgt_bias_bias_doubled(%q: tensor<2x4xf16>, %k: tensor<7x4xf16>, %v: tensor<7x4xf16>, %b: tensor<1x7xf16>) -> tensor<2x4xf16> attributes {source = @src_bias} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %bk = %b) outs(%yk) grid [1] : (tensor<2x4xf16>, tensor<7x4xf16>, tensor<7x4xf16>, tensor<1x7xf16>) -> tensor<2x4xf16> {
    %none = bottom : !mirage_block.tile<2x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x1xf32>
    %zeros = constant 0.0 : !mirage_block.tile<2x4xf32>
    %qt = load %qk : tensor<2x4xf16> -> !mirage_block.tile<2x4xf16>
    %m, %s, %acc = loop 4 (%a = %none assign, %c = %zero rescale, %o = %zeros rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32> {
      %kt = load %kk {loop = [0]} : tensor<7x4xf16> -> !mirage_block.tile<2x4xf16>
      %vt = load %vk {loop = [0]} : tensor<7x4xf16> -> !mirage_block.tile<2x4xf16>
      %bt = load %bk {loop = [1], fill = bottom} : tensor<1x7xf16> -> !mirage_block.tile<1x2xf16>
      %d0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<2x4xf16>, !mirage_block.tile<2x4xf16>
      %z0 = add %d0, %bt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x2xf16>
      %z = add %z0, %bt : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x2xf16>
      %t = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %n = max %a, %t : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %n : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %u = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      %ph = cast %e : !mirage_block.tile<2x2xf32> -> !mirage_block.tile<2x2xf16>
      %w = matmul %ph, %vt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x4xf16>
      %g = sub %a, %n : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %g : !mirage_block.tile<2x1xf32>
      yield %n, %u, %w rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %r = div %acc, %s : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %r, %yk : !mirage_block.tile<2x4xf32>, tensor<2x4xf16>
  }
  return %y : tensor<2x4xf16>
}

// Every key has the first bias.
// CHECK: @tgt_bias_bias_of_first: different at output
mirage_kernel.graph @tgt_bias_bias_of_first(%q: tensor<2x4xf16>, %k: tensor<7x4xf16>, %v: tensor<7x4xf16>, %b: tensor<1x7xf16>) -> tensor<2x4xf16> attributes {source = @src_bias} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %bk = %b) outs(%yk) grid [1] : (tensor<2x4xf16>, tensor<7x4xf16>, tensor<7x4xf16>, tensor<1x7xf16>) -> tensor<2x4xf16> {
    %none = bottom : !mirage_block.tile<2x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<2x1xf32>
    %zeros = constant 0.0 : !mirage_block.tile<2x4xf32>
    %qt = load %qk : tensor<2x4xf16> -> !mirage_block.tile<2x4xf16>
    %m, %s, %acc = loop 4 (%a = %none assign, %c = %zero rescale, %o = %zeros rescale) : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32> {
      %kt = load %kk {loop = [0]} : tensor<7x4xf16> -> !mirage_block.tile<2x4xf16>
      %vt = load %vk {loop = [0]} : tensor<7x4xf16> -> !mirage_block.tile<2x4xf16>
      %bt = load %bk {loop = [1], fill = zero} : tensor<1x7xf16> -> !mirage_block.tile<1x2xf16>
      %d0 = matmul %qt, %kt {transpose_b} : !mirage_block.tile<2x4xf16>, !mirage_block.tile<2x4xf16>
      %b0 = load %bk : tensor<1x7xf16> -> !mirage_block.tile<1x7xf16>
      %b1 = slice %b0 {dim = 1, begin = 0, end = 1} : !mirage_block.tile<1x7xf16>
      %z = add %d0, %b1 : !mirage_block.tile<2x2xf32>, !mirage_block.tile<1x1xf16>
      %t = reduce_max %z {dim = 1} : !mirage_block.tile<2x2xf32>
      %n = max %a, %t : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %d = sub %z, %n : !mirage_block.tile<2x2xf32>, !mirage_block.tile<2x1xf32>
      %e = exp %d : !mirage_block.tile<2x2xf32>
      %u = reduce_sum %e {dim = 1} : !mirage_block.tile<2x2xf32>
      %ph = cast %e : !mirage_block.tile<2x2xf32> -> !mirage_block.tile<2x2xf16>
      %w = matmul %ph, %vt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x4xf16>
      %g = sub %a, %n : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
      %f = exp %g : !mirage_block.tile<2x1xf32>
      yield %n, %u, %w rescale %f, %f : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    }
    %r = div %acc, %s : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    store %r, %yk : !mirage_block.tile<2x4xf32>, tensor<2x4xf16>
  }
  return %y : tensor<2x4xf16>
}

// An additive mask.
mirage_kernel.graph @src_mask(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>, %m: tensor<2x8xf16>) -> tensor<2x4xf16> {
  %z0 = matmul %q, %k {transpose_b} : tensor<2x4xf16>, tensor<8x4xf16>
  %z = add %z0, %m : tensor<2x8xf16>, tensor<2x8xf16>
  %w = softmax %z {dim = 1} : tensor<2x8xf16>
  %y = matmul %w, %v : tensor<2x8xf16>, tensor<8x4xf16>
  return %y : tensor<2x4xf16>
}

// exp(z + m) = exp(z) exp(m).
// CHECK: @tgt_mask_factored: equivalent to @src_mask;
mirage_kernel.graph @tgt_mask_factored(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>, %m: tensor<2x8xf16>) -> tensor<2x4xf16> attributes {source = @src_mask} {
  %z = matmul %q, %k {transpose_b} : tensor<2x4xf16>, tensor<8x4xf16>
  %e = exp %z : tensor<2x8xf16>
  %f = exp %m : tensor<2x8xf16>
  %g = mul %e, %f : tensor<2x8xf16>, tensor<2x8xf16>
  %s = reduce_sum %g {dim = 1} : tensor<2x8xf16>
  %p = matmul %g, %v : tensor<2x8xf16>, tensor<8x4xf16>
  %y = div %p, %s : tensor<2x4xf16>, tensor<2x1xf16>
  return %y : tensor<2x4xf16>
}

// The sum does not see the mask.
// CHECK: @tgt_mask_sum_unmasked: different at output
mirage_kernel.graph @tgt_mask_sum_unmasked(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>, %m: tensor<2x8xf16>) -> tensor<2x4xf16> attributes {source = @src_mask} {
  %z = matmul %q, %k {transpose_b} : tensor<2x4xf16>, tensor<8x4xf16>
  %e = exp %z : tensor<2x8xf16>
  %f = exp %m : tensor<2x8xf16>
  %g = mul %e, %f : tensor<2x8xf16>, tensor<2x8xf16>
  %s = reduce_sum %e {dim = 1} : tensor<2x8xf16>
  %p = matmul %g, %v : tensor<2x8xf16>, tensor<8x4xf16>
  %y = div %p, %s : tensor<2x4xf16>, tensor<2x1xf16>
  return %y : tensor<2x4xf16>
}

// One element of the mask is lost.
// CHECK: @tgt_mask_one_leaks: different at output
mirage_kernel.graph @tgt_mask_one_leaks(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>, %m: tensor<2x8xf16>) -> tensor<2x4xf16> attributes {source = @src_mask} {
  %z0 = matmul %q, %k {transpose_b} : tensor<2x4xf16>, tensor<8x4xf16>
  %a = slice %m {dim = 1, begin = 0, end = 7} : tensor<2x8xf16>
  %b = slice %m {dim = 1, begin = 7, end = 8} : tensor<2x8xf16>
  %c = sub %b, %b : tensor<2x1xf16>, tensor<2x1xf16>
  %d = concat %a, %c {dim = 1} : tensor<2x7xf16>, tensor<2x1xf16>
  %z = add %z0, %d : tensor<2x8xf16>, tensor<2x8xf16>
  %w = softmax %z {dim = 1} : tensor<2x8xf16>
  %y = matmul %w, %v : tensor<2x8xf16>, tensor<8x4xf16>
  return %y : tensor<2x4xf16>
}

// The mask is added to the weights.
// CHECK: @tgt_mask_after: different at output
mirage_kernel.graph @tgt_mask_after(%q: tensor<2x4xf16>, %k: tensor<8x4xf16>, %v: tensor<8x4xf16>, %m: tensor<2x8xf16>) -> tensor<2x4xf16> attributes {source = @src_mask} {
  %z = matmul %q, %k {transpose_b} : tensor<2x4xf16>, tensor<8x4xf16>
  %w0 = softmax %z {dim = 1} : tensor<2x8xf16>
  %w = add %w0, %m : tensor<2x8xf16>, tensor<2x8xf16>
  %y = matmul %w, %v : tensor<2x8xf16>, tensor<8x4xf16>
  return %y : tensor<2x4xf16>
}

mirage_kernel.graph @src_rows(%x: tensor<10x6xf16>, %w: tensor<6x4xf16>) -> tensor<10x4xf16> {
  %q = mul %x, %x : tensor<10x6xf16>, tensor<10x6xf16>
  %s = reduce_sum %q {dim = 1} : tensor<10x6xf16>
  %n = div %x, %s : tensor<10x6xf16>, tensor<10x1xf16>
  %y = matmul %n, %w : tensor<10x6xf16>, tensor<6x4xf16>
  return %y : tensor<10x4xf16>
}

// Masked rows have norm 0 and are 0 / 0. They stay rows of their own until the store drops them.
// CHECK: @tgt_rows_masked: equivalent to @src_rows;
mirage_kernel.graph @tgt_rows_masked(%x: tensor<10x6xf16>, %w: tensor<6x4xf16>) -> tensor<10x4xf16> attributes {source = @src_rows} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [4] : (tensor<10x6xf16>, tensor<6x4xf16>) -> tensor<10x4xf16> {
    %xt = load %xk {grid = [0], fill = zero} : tensor<10x6xf16> -> !mirage_block.tile<3x6xf16>
    %wt = load %wk {} : tensor<6x4xf16> -> !mirage_block.tile<6x4xf16>
    %q = mul %xt, %xt : !mirage_block.tile<3x6xf16>, !mirage_block.tile<3x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<3x6xf32>
    %n = div %xt, %s : !mirage_block.tile<3x6xf16>, !mirage_block.tile<3x1xf32>
    %c = cast %n : !mirage_block.tile<3x6xf32> -> !mirage_block.tile<3x6xf16>
    %r = matmul %c, %wt : !mirage_block.tile<3x6xf16>, !mirage_block.tile<6x4xf16>
    store %r, %yk {grid = [0]} : !mirage_block.tile<3x4xf32>, tensor<10x4xf16>
  }
  return %y : tensor<10x4xf16>
}

// Rows that are bottom where they are masked: no rule for their squares, and none is needed.
// CHECK: @tgt_rows_bottom: equivalent to @src_rows;
mirage_kernel.graph @tgt_rows_bottom(%x: tensor<10x6xf16>, %w: tensor<6x4xf16>) -> tensor<10x4xf16> attributes {source = @src_rows} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [4] : (tensor<10x6xf16>, tensor<6x4xf16>) -> tensor<10x4xf16> {
    %xt = load %xk {grid = [0], fill = bottom} : tensor<10x6xf16> -> !mirage_block.tile<3x6xf16>
    %wt = load %wk {} : tensor<6x4xf16> -> !mirage_block.tile<6x4xf16>
    %q = mul %xt, %xt : !mirage_block.tile<3x6xf16>, !mirage_block.tile<3x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<3x6xf32>
    %n = div %xt, %s : !mirage_block.tile<3x6xf16>, !mirage_block.tile<3x1xf32>
    %c = cast %n : !mirage_block.tile<3x6xf32> -> !mirage_block.tile<3x6xf16>
    %r = matmul %c, %wt : !mirage_block.tile<3x6xf16>, !mirage_block.tile<6x4xf16>
    store %r, %yk {grid = [0]} : !mirage_block.tile<3x4xf32>, tensor<10x4xf16>
  }
  return %y : tensor<10x4xf16>
}

// The right result, but each row has something of the masked ones added that would be 0, if it were anything.
// CHECK: @tgt_rows_mixed: different: divides by zero at every point for output 0, element {{[0-9]+.*}}, where @src_rows has a value
mirage_kernel.graph @tgt_rows_mixed(%x: tensor<10x6xf16>, %w: tensor<6x4xf16>) -> tensor<10x4xf16> attributes {source = @src_rows} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [4] : (tensor<10x6xf16>, tensor<6x4xf16>) -> tensor<10x4xf16> {
    %xt = load %xk {grid = [0], fill = zero} : tensor<10x6xf16> -> !mirage_block.tile<3x6xf16>
    %wt = load %wk {} : tensor<6x4xf16> -> !mirage_block.tile<6x4xf16>
    %q = mul %xt, %xt : !mirage_block.tile<3x6xf16>, !mirage_block.tile<3x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<3x6xf32>
    %n = div %xt, %s : !mirage_block.tile<3x6xf16>, !mirage_block.tile<3x1xf32>
    %c = cast %n : !mirage_block.tile<3x6xf32> -> !mirage_block.tile<3x6xf16>
    %r = matmul %c, %wt : !mirage_block.tile<3x6xf16>, !mirage_block.tile<6x4xf16>
    %d = reduce_sum %r {dim = 0} : !mirage_block.tile<3x4xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %o = mul %d, %zero : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
    %t = add %r, %o : !mirage_block.tile<3x4xf32>, !mirage_block.tile<1x4xf32>
    store %t, %yk {grid = [0]} : !mirage_block.tile<3x4xf32>, tensor<10x4xf16>
  }
  return %y : tensor<10x4xf16>
}

// The sum runs over the rows of the tile.
// CHECK: @tgt_rows_column_norm: different at output
mirage_kernel.graph @tgt_rows_column_norm(%x: tensor<10x6xf16>, %w: tensor<6x4xf16>) -> tensor<10x4xf16> attributes {source = @src_rows} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [4] : (tensor<10x6xf16>, tensor<6x4xf16>) -> tensor<10x4xf16> {
    %xt = load %xk {grid = [0], fill = zero} : tensor<10x6xf16> -> !mirage_block.tile<3x6xf16>
    %wt = load %wk {} : tensor<6x4xf16> -> !mirage_block.tile<6x4xf16>
    %q = mul %xt, %xt : !mirage_block.tile<3x6xf16>, !mirage_block.tile<3x6xf16>
    %s = reduce_sum %q {dim = 0} : !mirage_block.tile<3x6xf32>
    %n = div %xt, %s : !mirage_block.tile<3x6xf16>, !mirage_block.tile<1x6xf32>
    %c = cast %n : !mirage_block.tile<3x6xf32> -> !mirage_block.tile<3x6xf16>
    %r = matmul %c, %wt : !mirage_block.tile<3x6xf16>, !mirage_block.tile<6x4xf16>
    store %r, %yk {grid = [0]} : !mirage_block.tile<3x4xf32>, tensor<10x4xf16>
  }
  return %y : tensor<10x4xf16>
}
