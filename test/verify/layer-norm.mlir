// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// Layer norm: mean and variance, gain and bias.

mirage_kernel.graph @src_ln(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %b: tensor<8xf16>) -> tensor<2x8xf16> {
  %y = layer_norm %x, %g, %b {eps = 1.0e-05} : tensor<2x8xf16>, tensor<8xf16>, tensor<8xf16>
  return %y : tensor<2x8xf16>
}

// Mean, then the mean of squared differences.
// CHECK: @tgt_ln_two_pass: equivalent to @src_ln;
mirage_kernel.graph @tgt_ln_two_pass(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %b: tensor<8xf16>) -> tensor<2x8xf16> attributes {source = @src_ln} {
  %m = reduce_mean %x {dim = 1} : tensor<2x8xf16>
  %c = sub %x, %m : tensor<2x8xf16>, tensor<2x1xf16>
  %q = square %c : tensor<2x8xf16>
  %v = reduce_mean %q {dim = 1} : tensor<2x8xf16>
  %e = constant 1.0e-05 : tensor<f16>
  %w = add %v, %e : tensor<2x1xf16>, tensor<f16>
  %r = sqrt %w : tensor<2x1xf16>
  %n = div %c, %r : tensor<2x8xf16>, tensor<2x1xf16>
  %o = mul %n, %g : tensor<2x8xf16>, tensor<8xf16>
  %y = add %o, %b : tensor<2x8xf16>, tensor<8xf16>
  return %y : tensor<2x8xf16>
}

// E[x^2] - E[x]^2 (the numeric guard has an opinion).
// CHECK: @tgt_ln_one_pass: equivalent to @src_ln;
mirage_kernel.graph @tgt_ln_one_pass(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %b: tensor<8xf16>) -> tensor<2x8xf16> attributes {source = @src_ln} {
  %q = square %x : tensor<2x8xf16>
  %m = reduce_mean %x {dim = 1} : tensor<2x8xf16>
  %u = reduce_mean %q {dim = 1} : tensor<2x8xf16>
  %mm = square %m : tensor<2x1xf16>
  %v = sub %u, %mm : tensor<2x1xf16>, tensor<2x1xf16>
  %e = constant 1.0e-05 : tensor<f16>
  %w = add %v, %e : tensor<2x1xf16>, tensor<f16>
  %r = sqrt %w : tensor<2x1xf16>
  %c = sub %x, %m : tensor<2x8xf16>, tensor<2x1xf16>
  %n = div %c, %r : tensor<2x8xf16>, tensor<2x1xf16>
  %o = mul %n, %g : tensor<2x8xf16>, tensor<8xf16>
  %y = add %o, %b : tensor<2x8xf16>, tensor<8xf16>
  return %y : tensor<2x8xf16>
}

// Both sums in one loop, then a second loop writes.
// CHECK: @tgt_ln_fused: equivalent to @src_ln;
mirage_kernel.graph @tgt_ln_fused(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %b: tensor<8xf16>) -> tensor<2x8xf16> attributes {source = @src_ln} {
  %y = custom (%xk = %x, %gk = %g, %bk = %b) outs(%yk) grid [2] : (tensor<2x8xf16>, tensor<8xf16>, tensor<8xf16>) -> tensor<2x8xf16> {
    %none = constant 0.0 : !mirage_block.tile<1x1xf32>
    %sums, %squares = loop 4 (%s = %none sum, %t = %none sum) : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32> {
      %xt = load %xk {grid = [0], loop = [1]} : tensor<2x8xf16> -> !mirage_block.tile<1x2xf16>
      %q = square %xt : !mirage_block.tile<1x2xf16>
      %a = reduce_sum %xt {dim = 1} : !mirage_block.tile<1x2xf16>
      %c = reduce_sum %q {dim = 1} : !mirage_block.tile<1x2xf32>
      yield %a, %c : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    }
    %k = constant 8.0 : !mirage_block.tile<1x1xf32>
    %m = div %sums, %k : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    %u = div %squares, %k : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    %mm = square %m : !mirage_block.tile<1x1xf32>
    %v = sub %u, %mm : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    %e = constant 1.0e-05 : !mirage_block.tile<1x1xf32>
    %w = add %v, %e : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %w : !mirage_block.tile<1x1xf32>
    loop 4 {
      %xu = load %xk {grid = [0], loop = [1]} : tensor<2x8xf16> -> !mirage_block.tile<1x2xf16>
      %gt = load %gk {loop = [0]} : tensor<8xf16> -> !mirage_block.tile<2xf16>
      %bt = load %bk {loop = [0]} : tensor<8xf16> -> !mirage_block.tile<2xf16>
      %d = sub %xu, %m : !mirage_block.tile<1x2xf16>, !mirage_block.tile<1x1xf32>
      %n = div %d, %r : !mirage_block.tile<1x2xf32>, !mirage_block.tile<1x1xf32>
      %o = mul %n, %gt : !mirage_block.tile<1x2xf32>, !mirage_block.tile<2xf16>
      %z = add %o, %bt : !mirage_block.tile<1x2xf32>, !mirage_block.tile<2xf16>
      store %z, %yk {grid = [0], loop = [1]} : !mirage_block.tile<1x2xf32>, tensor<2x8xf16>
    }
  }
  return %y : tensor<2x8xf16>
}

// The variance of centred values, but the values themselves are divided.
// CHECK: @tgt_ln_not_centred: different at output
mirage_kernel.graph @tgt_ln_not_centred(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %b: tensor<8xf16>) -> tensor<2x8xf16> attributes {source = @src_ln} {
  %m = reduce_mean %x {dim = 1} : tensor<2x8xf16>
  %c = sub %x, %m : tensor<2x8xf16>, tensor<2x1xf16>
  %q = square %c : tensor<2x8xf16>
  %v = reduce_mean %q {dim = 1} : tensor<2x8xf16>
  %e = constant 1.0e-05 : tensor<f16>
  %w = add %v, %e : tensor<2x1xf16>, tensor<f16>
  %r = sqrt %w : tensor<2x1xf16>
  %n = div %x, %r : tensor<2x8xf16>, tensor<2x1xf16>
  %o = mul %n, %g : tensor<2x8xf16>, tensor<8xf16>
  %y = add %o, %b : tensor<2x8xf16>, tensor<8xf16>
  return %y : tensor<2x8xf16>
}

// The second moment instead of the variance.
// CHECK: @tgt_ln_second_moment: different at output
mirage_kernel.graph @tgt_ln_second_moment(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %b: tensor<8xf16>) -> tensor<2x8xf16> attributes {source = @src_ln} {
  %m = reduce_mean %x {dim = 1} : tensor<2x8xf16>
  %c = sub %x, %m : tensor<2x8xf16>, tensor<2x1xf16>
  %q = square %x : tensor<2x8xf16>
  %v = reduce_mean %q {dim = 1} : tensor<2x8xf16>
  %e = constant 1.0e-05 : tensor<f16>
  %w = add %v, %e : tensor<2x1xf16>, tensor<f16>
  %r = sqrt %w : tensor<2x1xf16>
  %n = div %c, %r : tensor<2x8xf16>, tensor<2x1xf16>
  %o = mul %n, %g : tensor<2x8xf16>, tensor<8xf16>
  %y = add %o, %b : tensor<2x8xf16>, tensor<8xf16>
  return %y : tensor<2x8xf16>
}

// E[x]^2 - E[x^2].
// CHECK: @tgt_ln_sign: different at output
mirage_kernel.graph @tgt_ln_sign(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %b: tensor<8xf16>) -> tensor<2x8xf16> attributes {source = @src_ln} {
  %q = square %x : tensor<2x8xf16>
  %m = reduce_mean %x {dim = 1} : tensor<2x8xf16>
  %u = reduce_mean %q {dim = 1} : tensor<2x8xf16>
  %mm = square %m : tensor<2x1xf16>
  %v = sub %mm, %u : tensor<2x1xf16>, tensor<2x1xf16>
  %e = constant 1.0e-05 : tensor<f16>
  %w = add %v, %e : tensor<2x1xf16>, tensor<f16>
  %r = sqrt %w : tensor<2x1xf16>
  %c = sub %x, %m : tensor<2x8xf16>, tensor<2x1xf16>
  %n = div %c, %r : tensor<2x8xf16>, tensor<2x1xf16>
  %o = mul %n, %g : tensor<2x8xf16>, tensor<8xf16>
  %y = add %o, %b : tensor<2x8xf16>, tensor<8xf16>
  return %y : tensor<2x8xf16>
}

// Divided by n - 1.
// CHECK: @tgt_ln_unbiased: different at output
mirage_kernel.graph @tgt_ln_unbiased(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %b: tensor<8xf16>) -> tensor<2x8xf16> attributes {source = @src_ln} {
  %m = reduce_mean %x {dim = 1} : tensor<2x8xf16>
  %c = sub %x, %m : tensor<2x8xf16>, tensor<2x1xf16>
  %q = square %c : tensor<2x8xf16>
  %t = reduce_sum %q {dim = 1} : tensor<2x8xf16>
  %k = constant 7.0 : tensor<f16>
  %v = div %t, %k : tensor<2x1xf16>, tensor<f16>
  %e = constant 1.0e-05 : tensor<f16>
  %w = add %v, %e : tensor<2x1xf16>, tensor<f16>
  %r = sqrt %w : tensor<2x1xf16>
  %n = div %c, %r : tensor<2x8xf16>, tensor<2x1xf16>
  %o = mul %n, %g : tensor<2x8xf16>, tensor<8xf16>
  %y = add %o, %b : tensor<2x8xf16>, tensor<8xf16>
  return %y : tensor<2x8xf16>
}

// The bias is scaled as well.
// CHECK: @tgt_ln_bias_scaled: different at output
mirage_kernel.graph @tgt_ln_bias_scaled(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %b: tensor<8xf16>) -> tensor<2x8xf16> attributes {source = @src_ln} {
  %n = layer_norm %x {eps = 1.0e-05} : tensor<2x8xf16>
  %a = add %n, %b : tensor<2x8xf16>, tensor<8xf16>
  %y = mul %a, %g : tensor<2x8xf16>, tensor<8xf16>
  return %y : tensor<2x8xf16>
}

// The bias is forgotten.
// CHECK: @tgt_ln_no_bias: different at output
mirage_kernel.graph @tgt_ln_no_bias(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %b: tensor<8xf16>) -> tensor<2x8xf16> attributes {source = @src_ln} {
  %y = layer_norm %x, %g {eps = 1.0e-05} : tensor<2x8xf16>, tensor<8xf16>
  return %y : tensor<2x8xf16>
}

// Gain and bias change places.
// CHECK: @tgt_ln_swapped: different at output
mirage_kernel.graph @tgt_ln_swapped(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %b: tensor<8xf16>) -> tensor<2x8xf16> attributes {source = @src_ln} {
  %y = layer_norm %x, %b, %g {eps = 1.0e-05} : tensor<2x8xf16>, tensor<8xf16>, tensor<8xf16>
  return %y : tensor<2x8xf16>
}

// The epsilon is dropped.
// CHECK: @tgt_ln_eps_dropped: different at output
mirage_kernel.graph @tgt_ln_eps_dropped(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %b: tensor<8xf16>) -> tensor<2x8xf16> attributes {source = @src_ln} {
  %y = layer_norm %x, %g, %b {eps = 0.0} : tensor<2x8xf16>, tensor<8xf16>, tensor<8xf16>
  return %y : tensor<2x8xf16>
}

// RMSNorm with a bias.
// CHECK: @tgt_ln_rms: different at output
mirage_kernel.graph @tgt_ln_rms(%x: tensor<2x8xf16>, %g: tensor<8xf16>, %b: tensor<8xf16>) -> tensor<2x8xf16> attributes {source = @src_ln} {
  %n = rms_norm %x, %g {eps = 1.0e-05} : tensor<2x8xf16>, tensor<8xf16>
  %y = add %n, %b : tensor<2x8xf16>, tensor<8xf16>
  return %y : tensor<2x8xf16>
}
