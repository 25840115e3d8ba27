// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// RMSNorm and a linear layer. Division by the root mean square commutes with the product; little else does.

mirage_kernel.graph @src_rms(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %w: tensor<8x6xf16>) -> tensor<2x6xf16> {
  %n = rms_norm %x, %g {eps = 0.0} : tensor<2x8xf16>, tensor<8xf16>
  %y = matmul %n, %w : tensor<2x8xf16>, tensor<8x6xf16>
  return %y : tensor<2x6xf16>
}

// The definition, operator by operator.
// CHECK: @tgt_rms_decomposed: equivalent to @src_rms;
mirage_kernel.graph @tgt_rms_decomposed(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %w: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_rms} {
  %q = square %x : tensor<2x8xf16>
  %m = reduce_mean %q {dim = 1} : tensor<2x8xf16>
  %r = sqrt %m : tensor<2x1xf16>
  %n = div %x, %r : tensor<2x8xf16>, tensor<2x1xf16>
  %o = mul %n, %g : tensor<2x8xf16>, tensor<8xf16>
  %y = matmul %o, %w : tensor<2x8xf16>, tensor<8x6xf16>
  return %y : tensor<2x6xf16>
}

// Divided after the product.
// CHECK: @tgt_rms_late: equivalent to @src_rms;
mirage_kernel.graph @tgt_rms_late(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %w: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_rms} {
  %q = square %x : tensor<2x8xf16>
  %m = reduce_mean %q {dim = 1} : tensor<2x8xf16>
  %r = sqrt %m : tensor<2x1xf16>
  %o = mul %x, %g : tensor<2x8xf16>, tensor<8xf16>
  %p = matmul %o, %w : tensor<2x8xf16>, tensor<8x6xf16>
  %y = div %p, %r : tensor<2x6xf16>, tensor<2x1xf16>
  return %y : tensor<2x6xf16>
}

// The gain scales the rows of the weight.
// CHECK: @tgt_rms_gain_in_weight: equivalent to @src_rms;
mirage_kernel.graph @tgt_rms_gain_in_weight(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %w: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_rms} {
  %h = reshape %g : tensor<8xf16> -> tensor<8x1xf16>
  %v = mul %w, %h : tensor<8x6xf16>, tensor<8x1xf16>
  %q = square %x : tensor<2x8xf16>
  %m = reduce_mean %q {dim = 1} : tensor<2x8xf16>
  %r = sqrt %m : tensor<2x1xf16>
  %p = matmul %x, %v : tensor<2x8xf16>, tensor<8x6xf16>
  %y = div %p, %r : tensor<2x6xf16>, tensor<2x1xf16>
  return %y : tensor<2x6xf16>
}

// One kernel: squares are summed beside the product.
// CHECK: @tgt_rms_fused: equivalent to @src_rms;
mirage_kernel.graph @tgt_rms_fused(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %w: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_rms} {
  %y = custom (%xk = %x, %gk = %g, %wk = %w) outs(%yk) grid [2] : (tensor<2x8xf16>, tensor<8xf16>, tensor<8x6xf16>) -> tensor<2x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x3xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %acc, %squares = loop 4 (%a = %zero sum, %s = %none sum) : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<2x8xf16> -> !mirage_block.tile<2x2xf16>
      %gt = load %gk {loop = [0]} : tensor<8xf16> -> !mirage_block.tile<2xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x3xf16>
      %xg = mul %xt, %gt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2xf16>
      %xh = cast %xg : !mirage_block.tile<2x2xf32> -> !mirage_block.tile<2x2xf16>
      %p = matmul %xh, %wt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x3xf16>
      %sq = square %xt : !mirage_block.tile<2x2xf16>
      %ss = reduce_sum %sq {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %p, %ss : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    }
    %k = constant 8.0 : !mirage_block.tile<1x1xf32>
    %mean = div %squares, %k : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %rms = sqrt %mean : !mirage_block.tile<2x1xf32>
    %r = div %acc, %rms : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    store %r, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  return %y : tensor<2x6xf16>
}

// The sum of squares is the diagonal of x x^T.
// CHECK: @tgt_rms_gram: equivalent to @src_rms;
mirage_kernel.graph @tgt_rms_gram(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %w: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_rms} {
  %p = mul %x, %x : tensor<2x8xf16>, tensor<2x8xf16>
  %ones = constant 1.0 : tensor<8x1xf16>
  %s = matmul %p, %ones : tensor<2x8xf16>, tensor<8x1xf16>
  %k = constant 8.0 : tensor<f16>
  %m = div %s, %k : tensor<2x1xf16>, tensor<f16>
  %r = sqrt %m : tensor<2x1xf16>
  %o = mul %x, %g : tensor<2x8xf16>, tensor<8xf16>
  %q = matmul %o, %w : tensor<2x8xf16>, tensor<8x6xf16>
  %y = div %q, %r : tensor<2x6xf16>, tensor<2x1xf16>
  return %y : tensor<2x6xf16>
}

// The gain is forgotten.
// CHECK: @tgt_rms_no_gain: different at output
mirage_kernel.graph @tgt_rms_no_gain(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %w: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_rms} {
  %n = rms_norm %x {eps = 0.0} : tensor<2x8xf16>
  %y = matmul %n, %w : tensor<2x8xf16>, tensor<8x6xf16>
  return %y : tensor<2x6xf16>
}

// The gain is applied before the norm.
// CHECK: @tgt_rms_gain_first: different at output
mirage_kernel.graph @tgt_rms_gain_first(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %w: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_rms} {
  %o = mul %x, %g : tensor<2x8xf16>, tensor<8xf16>
  %n = rms_norm %o {eps = 0.0} : tensor<2x8xf16>
  %y = matmul %n, %w : tensor<2x8xf16>, tensor<8x6xf16>
  return %y : tensor<2x6xf16>
}

// The product is normalised instead of its input.
// CHECK: @tgt_rms_norm_of_output: different at output
mirage_kernel.graph @tgt_rms_norm_of_output(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %w: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_rms} {
  %o = mul %x, %g : tensor<2x8xf16>, tensor<8xf16>
  %p = matmul %o, %w : tensor<2x8xf16>, tensor<8x6xf16>
  %y = rms_norm %p {eps = 0.0} : tensor<2x6xf16>
  return %y : tensor<2x6xf16>
}

// An epsilon appears.
// CHECK: @tgt_rms_eps: different at output
mirage_kernel.graph @tgt_rms_eps(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %w: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_rms} {
  %n = rms_norm %x, %g {eps = 0.5} : tensor<2x8xf16>, tensor<8xf16>
  %y = matmul %n, %w : tensor<2x8xf16>, tensor<8x6xf16>
  return %y : tensor<2x6xf16>
}

// Divided by the mean square.
// CHECK: @tgt_rms_no_root: different at output
mirage_kernel.graph @tgt_rms_no_root(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %w: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_rms} {
  %y = custom (%xk = %x, %gk = %g, %wk = %w) outs(%yk) grid [2] : (tensor<2x8xf16>, tensor<8xf16>, tensor<8x6xf16>) -> tensor<2x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x3xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %acc, %squares = loop 4 (%a = %zero sum, %s = %none sum) : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<2x8xf16> -> !mirage_block.tile<2x2xf16>
      %gt = load %gk {loop = [0]} : tensor<8xf16> -> !mirage_block.tile<2xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x3xf16>
      %xg = mul %xt, %gt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2xf16>
      %xh = cast %xg : !mirage_block.tile<2x2xf32> -> !mirage_block.tile<2x2xf16>
      %p = matmul %xh, %wt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x3xf16>
      %sq = square %xt : !mirage_block.tile<2x2xf16>
      %ss = reduce_sum %sq {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %p, %ss : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    }
    %k = constant 8.0 : !mirage_block.tile<1x1xf32>
    %mean = div %squares, %k : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %rms = add %mean, %none : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x1xf32>
    %r = div %acc, %rms : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    store %r, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  return %y : tensor<2x6xf16>
}

// The count is forgotten.
// CHECK: @tgt_rms_root_of_sum: different at output
mirage_kernel.graph @tgt_rms_root_of_sum(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %w: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_rms} {
  %y = custom (%xk = %x, %gk = %g, %wk = %w) outs(%yk) grid [2] : (tensor<2x8xf16>, tensor<8xf16>, tensor<8x6xf16>) -> tensor<2x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x3xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %acc, %squares = loop 4 (%a = %zero sum, %s = %none sum) : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<2x8xf16> -> !mirage_block.tile<2x2xf16>
      %gt = load %gk {loop = [0]} : tensor<8xf16> -> !mirage_block.tile<2xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x3xf16>
      %xg = mul %xt, %gt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2xf16>
      %xh = cast %xg : !mirage_block.tile<2x2xf32> -> !mirage_block.tile<2x2xf16>
      %p = matmul %xh, %wt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x3xf16>
      %sq = square %xt : !mirage_block.tile<2x2xf16>
      %ss = reduce_sum %sq {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %p, %ss : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    }
    %k = constant 1.0 : !mirage_block.tile<1x1xf32>
    %mean = div %squares, %k : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %rms = sqrt %mean : !mirage_block.tile<2x1xf32>
    %r = div %acc, %rms : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    store %r, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  return %y : tensor<2x6xf16>
}

// The count of the tile, not of the row.
// CHECK: @tgt_rms_count: different at output
mirage_kernel.graph @tgt_rms_count(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %w: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_rms} {
  %y = custom (%xk = %x, %gk = %g, %wk = %w) outs(%yk) grid [2] : (tensor<2x8xf16>, tensor<8xf16>, tensor<8x6xf16>) -> tensor<2x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x3xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %acc, %squares = loop 4 (%a = %zero sum, %s = %none sum) : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<2x8xf16> -> !mirage_block.tile<2x2xf16>
      %gt = load %gk {loop = [0]} : tensor<8xf16> -> !mirage_block.tile<2xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x3xf16>
      %xg = mul %xt, %gt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2xf16>
      %xh = cast %xg : !mirage_block.tile<2x2xf32> -> !mirage_block.tile<2x2xf16>
      %p = matmul %xh, %wt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x3xf16>
      %sq = square %xt : !mirage_block.tile<2x2xf16>
      %ss = reduce_sum %sq {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %p, %ss : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    }
    %k = constant 2.0 : !mirage_block.tile<1x1xf32>
    %mean = div %squares, %k : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %rms = sqrt %mean : !mirage_block.tile<2x1xf32>
    %r = div %acc, %rms : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    store %r, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  return %y : tensor<2x6xf16>
}

// Squares of the gained values.
// CHECK: @tgt_rms_gained_squares: different at output
mirage_kernel.graph @tgt_rms_gained_squares(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %w: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_rms} {
  %y = custom (%xk = %x, %gk = %g, %wk = %w) outs(%yk) grid [2] : (tensor<2x8xf16>, tensor<8xf16>, tensor<8x6xf16>) -> tensor<2x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x3xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %acc, %squares = loop 4 (%a = %zero sum, %s = %none sum) : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<2x8xf16> -> !mirage_block.tile<2x2xf16>
      %gt = load %gk {loop = [0]} : tensor<8xf16> -> !mirage_block.tile<2xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x3xf16>
      %xg = mul %xt, %gt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2xf16>
      %xh = cast %xg : !mirage_block.tile<2x2xf32> -> !mirage_block.tile<2x2xf16>
      %p = matmul %xh, %wt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x3xf16>
      %sq = square %xg : !mirage_block.tile<2x2xf32>
      %ss = reduce_sum %sq {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %p, %ss : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    }
    %k = constant 8.0 : !mirage_block.tile<1x1xf32>
    %mean = div %squares, %k : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %rms = sqrt %mean : !mirage_block.tile<2x1xf32>
    %r = div %acc, %rms : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    store %r, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  return %y : tensor<2x6xf16>
}

// The squares of the last iteration only.
// CHECK: @tgt_rms_last_squares: different at output
mirage_kernel.graph @tgt_rms_last_squares(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %w: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_rms} {
  %y = custom (%xk = %x, %gk = %g, %wk = %w) outs(%yk) grid [2] : (tensor<2x8xf16>, tensor<8xf16>, tensor<8x6xf16>) -> tensor<2x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x3xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %acc, %squares = loop 4 (%a = %zero sum, %s = %none assign) : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<2x8xf16> -> !mirage_block.tile<2x2xf16>
      %gt = load %gk {loop = [0]} : tensor<8xf16> -> !mirage_block.tile<2xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x3xf16>
      %xg = mul %xt, %gt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2xf16>
      %xh = cast %xg : !mirage_block.tile<2x2xf32> -> !mirage_block.tile<2x2xf16>
      %p = matmul %xh, %wt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x3xf16>
      %sq = square %xt : !mirage_block.tile<2x2xf16>
      %ss = reduce_sum %sq {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %p, %ss : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    }
    %k = constant 8.0 : !mirage_block.tile<1x1xf32>
    %mean = div %squares, %k : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %rms = sqrt %mean : !mirage_block.tile<2x1xf32>
    %r = div %acc, %rms : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    store %r, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  return %y : tensor<2x6xf16>
}

// The largest partial sum of squares.
// CHECK: @tgt_rms_max_squares: different at output
mirage_kernel.graph @tgt_rms_max_squares(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %w: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_rms} {
  %y = custom (%xk = %x, %gk = %g, %wk = %w) outs(%yk) grid [2] : (tensor<2x8xf16>, tensor<8xf16>, tensor<8x6xf16>) -> tensor<2x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x3xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %acc, %squares = loop 4 (%a = %zero sum, %s = %none max) : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<2x8xf16> -> !mirage_block.tile<2x2xf16>
      %gt = load %gk {loop = [0]} : tensor<8xf16> -> !mirage_block.tile<2xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x3xf16>
      %xg = mul %xt, %gt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2xf16>
      %xh = cast %xg : !mirage_block.tile<2x2xf32> -> !mirage_block.tile<2x2xf16>
      %p = matmul %xh, %wt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x3xf16>
      %sq = square %xt : !mirage_block.tile<2x2xf16>
      %ss = reduce_sum %sq {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %p, %ss : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    }
    %k = constant 8.0 : !mirage_block.tile<1x1xf32>
    %mean = div %squares, %k : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %rms = sqrt %mean : !mirage_block.tile<2x1xf32>
    %r = div %acc, %rms : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    store %r, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  return %y : tensor<2x6xf16>
}

// Multiplied by the root.
// CHECK: @tgt_rms_multiplied: different at output
mirage_kernel.graph @tgt_rms_multiplied(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %w: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_rms} {
  %y = custom (%xk = %x, %gk = %g, %wk = %w) outs(%yk) grid [2] : (tensor<2x8xf16>, tensor<8xf16>, tensor<8x6xf16>) -> tensor<2x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x3xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %acc, %squares = loop 4 (%a = %zero sum, %s = %none sum) : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<2x8xf16> -> !mirage_block.tile<2x2xf16>
      %gt = load %gk {loop = [0]} : tensor<8xf16> -> !mirage_block.tile<2xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x3xf16>
      %xg = mul %xt, %gt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2xf16>
      %xh = cast %xg : !mirage_block.tile<2x2xf32> -> !mirage_block.tile<2x2xf16>
      %p = matmul %xh, %wt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x3xf16>
      %sq = square %xt : !mirage_block.tile<2x2xf16>
      %ss = reduce_sum %sq {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %p, %ss : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    }
    %k = constant 8.0 : !mirage_block.tile<1x1xf32>
    %mean = div %squares, %k : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %rms = sqrt %mean : !mirage_block.tile<2x1xf32>
    %r = mul %acc, %rms : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    store %r, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  return %y : tensor<2x6xf16>
}

// Root over product.
// CHECK: @tgt_rms_swapped: different at output
mirage_kernel.graph @tgt_rms_swapped(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %w: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_rms} {
  %y = custom (%xk = %x, %gk = %g, %wk = %w) outs(%yk) grid [2] : (tensor<2x8xf16>, tensor<8xf16>, tensor<8x6xf16>) -> tensor<2x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x3xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %acc, %squares = loop 4 (%a = %zero sum, %s = %none sum) : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<2x8xf16> -> !mirage_block.tile<2x2xf16>
      %gt = load %gk {loop = [0]} : tensor<8xf16> -> !mirage_block.tile<2xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x3xf16>
      %xg = mul %xt, %gt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2xf16>
      %xh = cast %xg : !mirage_block.tile<2x2xf32> -> !mirage_block.tile<2x2xf16>
      %p = matmul %xh, %wt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x3xf16>
      %sq = square %xt : !mirage_block.tile<2x2xf16>
      %ss = reduce_sum %sq {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %p, %ss : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    }
    %k = constant 8.0 : !mirage_block.tile<1x1xf32>
    %mean = div %squares, %k : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %rms = sqrt %mean : !mirage_block.tile<2x1xf32>
    %r = div %rms, %acc : !mirage_block.tile<2x1xf32>, !mirage_block.tile<2x3xf32>
    store %r, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  return %y : tensor<2x6xf16>
}

// The gain is loaded but not used in the product.
// CHECK: @tgt_rms_ungained: different at output
mirage_kernel.graph @tgt_rms_ungained(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %w: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_rms} {
  %y = custom (%xk = %x, %gk = %g, %wk = %w) outs(%yk) grid [2] : (tensor<2x8xf16>, tensor<8xf16>, tensor<8x6xf16>) -> tensor<2x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x3xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %acc, %squares = loop 4 (%a = %zero sum, %s = %none sum) : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<2x8xf16> -> !mirage_block.tile<2x2xf16>
      %gt = load %gk {loop = [0]} : tensor<8xf16> -> !mirage_block.tile<2xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x3xf16>
      %xg = mul %xt, %gt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2xf16>
      %xh = cast %xg : !mirage_block.tile<2x2xf32> -> !mirage_block.tile<2x2xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x3xf16>
      %sq = square %xt : !mirage_block.tile<2x2xf16>
      %ss = reduce_sum %sq {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %p, %ss : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    }
    %k = constant 8.0 : !mirage_block.tile<1x1xf32>
    %mean = div %squares, %k : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %rms = sqrt %mean : !mirage_block.tile<2x1xf32>
    %r = div %acc, %rms : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    store %r, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  return %y : tensor<2x6xf16>
}

// Squares are summed over rows.
// CHECK: @tgt_rms_sum_of_rows: different at output
mirage_kernel.graph @tgt_rms_sum_of_rows(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %w: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_rms} {
  %y = custom (%xk = %x, %gk = %g, %wk = %w) outs(%yk) grid [2] : (tensor<2x8xf16>, tensor<8xf16>, tensor<8x6xf16>) -> tensor<2x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x3xf32>
    %none = constant 0.0 : !mirage_block.tile<1x2xf32>
    %acc, %squares = loop 4 (%a = %zero sum, %s = %none sum) : !mirage_block.tile<2x3xf32>, !mirage_block.tile<1x2xf32> {
      %xt = load %xk {loop = [1]} : tensor<2x8xf16> -> !mirage_block.tile<2x2xf16>
      %gt = load %gk {loop = [0]} : tensor<8xf16> -> !mirage_block.tile<2xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x3xf16>
      %xg = mul %xt, %gt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2xf16>
      %xh = cast %xg : !mirage_block.tile<2x2xf32> -> !mirage_block.tile<2x2xf16>
      %p = matmul %xh, %wt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x3xf16>
      %sq = square %xt : !mirage_block.tile<2x2xf16>
      %ss = reduce_sum %sq {dim = 0} : !mirage_block.tile<2x2xf32>
      yield %p, %ss : !mirage_block.tile<2x3xf32>, !mirage_block.tile<1x2xf32>
    }
    %k = constant 8.0 : !mirage_block.tile<1x1xf32>
    %mean = div %squares, %k : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
    %t = reduce_sum %mean {dim = 1} : !mirage_block.tile<1x2xf32>
    %rms = sqrt %t : !mirage_block.tile<1x1xf32>
    %r = div %acc, %rms : !mirage_block.tile<2x3xf32>, !mirage_block.tile<1x1xf32>
    store %r, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  return %y : tensor<2x6xf16>
}

// The root of every partial sum, then the sum: sqrt does not distribute.
// CHECK: @tgt_rms_sqrt_inside: different at output
mirage_kernel.graph @tgt_rms_sqrt_inside(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %w: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_rms} {
  %y = custom (%xk = %x, %gk = %g, %wk = %w) outs(%yk) grid [2] : (tensor<2x8xf16>, tensor<8xf16>, tensor<8x6xf16>) -> tensor<2x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x3xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %acc, %squares = loop 4 (%a = %zero sum, %s = %none sum) : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<2x8xf16> -> !mirage_block.tile<2x2xf16>
      %gt = load %gk {loop = [0]} : tensor<8xf16> -> !mirage_block.tile<2xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x3xf16>
      %xg = mul %xt, %gt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2xf16>
      %xh = cast %xg : !mirage_block.tile<2x2xf32> -> !mirage_block.tile<2x2xf16>
      %p = matmul %xh, %wt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x3xf16>
      %sq = square %xt : !mirage_block.tile<2x2xf16>
      %part = reduce_sum %sq {dim = 1} : !mirage_block.tile<2x2xf32>
      %ss = sqrt %part : !mirage_block.tile<2x1xf32>
      yield %p, %ss : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    }
    %k = constant 8.0 : !mirage_block.tile<1x1xf32>
    %mean = div %squares, %k : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %k2 = constant 2.8284271247461903 : !mirage_block.tile<1x1xf32>
    %rms = div %squares, %k2 : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = div %acc, %rms : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    store %r, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  return %y : tensor<2x6xf16>
}

// Each tile is normalised by itself.
// CHECK: @tgt_rms_normed_tile: different at output
mirage_kernel.graph @tgt_rms_normed_tile(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %w: tensor<8x6xf16>) -> tensor<2x6xf16> attributes {source = @src_rms} {
  %y = custom (%xk = %x, %gk = %g, %wk = %w) outs(%yk) grid [2] : (tensor<2x8xf16>, tensor<8xf16>, tensor<8x6xf16>) -> tensor<2x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<2x3xf32>
    %none = constant 0.0 : !mirage_block.tile<2x1xf32>
    %acc, %squares = loop 4 (%a = %zero sum, %s = %none sum) : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<2x8xf16> -> !mirage_block.tile<2x2xf16>
      %gt = load %gk {loop = [0]} : tensor<8xf16> -> !mirage_block.tile<2xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x3xf16>
      %xg = mul %xt, %gt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2xf16>
      %xh = cast %xg : !mirage_block.tile<2x2xf32> -> !mirage_block.tile<2x2xf16>
      %sqt = square %xt : !mirage_block.tile<2x2xf16>
      %st = reduce_sum %sqt {dim = 1} : !mirage_block.tile<2x2xf32>
      %rt = sqrt %st : !mirage_block.tile<2x1xf32>
      %nt = div %xh, %rt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x1xf32>
      %nh = cast %nt : !mirage_block.tile<2x2xf32> -> !mirage_block.tile<2x2xf16>
      %p = matmul %nh, %wt : !mirage_block.tile<2x2xf16>, !mirage_block.tile<2x3xf16>
      %sq = square %xt : !mirage_block.tile<2x2xf16>
      %ss = reduce_sum %sq {dim = 1} : !mirage_block.tile<2x2xf32>
      yield %p, %ss : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    }
    %k = constant 8.0 : !mirage_block.tile<1x1xf32>
    %mean = div %squares, %k : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %rms = sqrt %mean : !mirage_block.tile<2x1xf32>
    %r = add %acc, %acc : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x3xf32>
    store %r, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  return %y : tensor<2x6xf16>
}

mirage_kernel.graph @src_eps(%x: tensor<2x8xf16>) -> tensor<2x8xf16> {
  %y = rms_norm %x {eps = 1.0e-05} : tensor<2x8xf16>
  return %y : tensor<2x8xf16>
}

// With its epsilon.
// CHECK: @tgt_eps_decomposed: equivalent to @src_eps;
mirage_kernel.graph @tgt_eps_decomposed(%x: tensor<2x8xf16>) -> tensor<2x8xf16> attributes {source = @src_eps} {
  %q = square %x : tensor<2x8xf16>
  %m = reduce_mean %q {dim = 1} : tensor<2x8xf16>
  %e = constant 1.0e-05 : tensor<f16>
  %n = add %m, %e : tensor<2x1xf16>, tensor<f16>
  %r = sqrt %n : tensor<2x1xf16>
  %y = div %x, %r : tensor<2x8xf16>, tensor<2x1xf16>
  return %y : tensor<2x8xf16>
}

// Numerator and denominator times sqrt(8), the square inside: n + 8 eps.
// CHECK: @tgt_eps_scaled: equivalent to @src_eps;
mirage_kernel.graph @tgt_eps_scaled(%x: tensor<2x8xf16>) -> tensor<2x8xf16> attributes {source = @src_eps} {
  %q = square %x : tensor<2x8xf16>
  %m = reduce_sum %q {dim = 1} : tensor<2x8xf16>
  %k = constant 0.125 : tensor<f16>
  %n = mul %m, %k : tensor<2x1xf16>, tensor<f16>
  %e = constant 1.0e-05 : tensor<f16>
  %o = add %n, %e : tensor<2x1xf16>, tensor<f16>
  %r = sqrt %o : tensor<2x1xf16>
  %y = div %x, %r : tensor<2x8xf16>, tensor<2x1xf16>
  return %y : tensor<2x8xf16>
}

// The epsilon is dropped.
// CHECK: @tgt_eps_dropped: different at output
mirage_kernel.graph @tgt_eps_dropped(%x: tensor<2x8xf16>) -> tensor<2x8xf16> attributes {source = @src_eps} {
  %y = rms_norm %x {eps = 0.0} : tensor<2x8xf16>
  return %y : tensor<2x8xf16>
}

// The epsilon is added to the root.
// CHECK: @tgt_eps_outside: different at output
mirage_kernel.graph @tgt_eps_outside(%x: tensor<2x8xf16>) -> tensor<2x8xf16> attributes {source = @src_eps} {
  %q = square %x : tensor<2x8xf16>
  %m = reduce_mean %q {dim = 1} : tensor<2x8xf16>
  %r = sqrt %m : tensor<2x1xf16>
  %e = constant 1.0e-05 : tensor<f16>
  %n = add %r, %e : tensor<2x1xf16>, tensor<f16>
  %y = div %x, %n : tensor<2x8xf16>, tensor<2x1xf16>
  return %y : tensor<2x8xf16>
}

// The epsilon is added to every square, then summed and not averaged.
// CHECK: @tgt_eps_before_mean: different at output
mirage_kernel.graph @tgt_eps_before_mean(%x: tensor<2x8xf16>) -> tensor<2x8xf16> attributes {source = @src_eps} {
  %q = square %x : tensor<2x8xf16>
  %e = constant 1.0e-05 : tensor<f16>
  %o = add %q, %e : tensor<2x8xf16>, tensor<f16>
  %m = reduce_sum %o {dim = 1} : tensor<2x8xf16>
  %k = constant 8.0 : tensor<f16>
  %n = div %m, %k : tensor<2x1xf16>, tensor<f16>
  %f = add %n, %e : tensor<2x1xf16>, tensor<f16>
  %r = sqrt %f : tensor<2x1xf16>
  %y = div %x, %r : tensor<2x8xf16>, tensor<2x1xf16>
  return %y : tensor<2x8xf16>
}
