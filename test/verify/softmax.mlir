// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// Softmax with and without its maximum, whole and in parts. A maximum may be anything here, as long as it cancels.

mirage_kernel.graph @src_sm(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %y = softmax %x {dim = 1} : tensor<4x8xf16>
  return %y : tensor<4x8xf16>
}

// Without the maximum: the same function in exact arithmetic.
// CHECK: @tgt_sm_unsafe: equivalent to @src_sm;
mirage_kernel.graph @tgt_sm_unsafe(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %e = exp %x : tensor<4x8xf16>
  %s = reduce_sum %e {dim = 1} : tensor<4x8xf16>
  %y = div %e, %s : tensor<4x8xf16>, tensor<4x1xf16>
  return %y : tensor<4x8xf16>
}

// The maximum cancels.
// CHECK: @tgt_sm_safe: equivalent to @src_sm;
mirage_kernel.graph @tgt_sm_safe(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %m = reduce_max %x {dim = 1} : tensor<4x8xf16>
  %d = sub %x, %m : tensor<4x8xf16>, tensor<4x1xf16>
  %e = exp %d : tensor<4x8xf16>
  %s = reduce_sum %e {dim = 1} : tensor<4x8xf16>
  %y = div %e, %s : tensor<4x8xf16>, tensor<4x1xf16>
  return %y : tensor<4x8xf16>
}

// So does any other shift: here, the mean.
// CHECK: @tgt_sm_shifted: equivalent to @src_sm;
mirage_kernel.graph @tgt_sm_shifted(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %m = reduce_mean %x {dim = 1} : tensor<4x8xf16>
  %d = sub %x, %m : tensor<4x8xf16>, tensor<4x1xf16>
  %e = exp %d : tensor<4x8xf16>
  %s = reduce_sum %e {dim = 1} : tensor<4x8xf16>
  %y = div %e, %s : tensor<4x8xf16>, tensor<4x1xf16>
  return %y : tensor<4x8xf16>
}

// The sum in two steps.
// CHECK: @tgt_sm_two_level: equivalent to @src_sm;
mirage_kernel.graph @tgt_sm_two_level(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %m = reduce_max %x {dim = 1} : tensor<4x8xf16>
  %d = sub %x, %m : tensor<4x8xf16>, tensor<4x1xf16>
  %e = exp %d : tensor<4x8xf16>
  %p = reduce_sum %e {dim = 1, extent = 2} : tensor<4x8xf16>
  %s = reduce_sum %p {dim = 1} : tensor<4x2xf16>
  %y = div %e, %s : tensor<4x8xf16>, tensor<4x1xf16>
  return %y : tensor<4x8xf16>
}

// The maximum in two steps: a maximum of maxima is the maximum of all.
// CHECK: @tgt_sm_max_two_level: equivalent to @src_sm;
mirage_kernel.graph @tgt_sm_max_two_level(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %p = reduce_max %x {dim = 1, extent = 4} : tensor<4x8xf16>
  %m = reduce_max %p {dim = 1} : tensor<4x4xf16>
  %d = sub %x, %m : tensor<4x8xf16>, tensor<4x1xf16>
  %e = exp %d : tensor<4x8xf16>
  %s = reduce_sum %e {dim = 1} : tensor<4x8xf16>
  %y = div %e, %s : tensor<4x8xf16>, tensor<4x1xf16>
  return %y : tensor<4x8xf16>
}

// Both halves with maxima of their own, rescaled to the common one.
// CHECK: @tgt_sm_halves: equivalent to @src_sm;
mirage_kernel.graph @tgt_sm_halves(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %a = slice %x {dim = 1, begin = 0, end = 4} : tensor<4x8xf16>
  %b = slice %x {dim = 1, begin = 4, end = 8} : tensor<4x8xf16>
  %ma = reduce_max %a {dim = 1} : tensor<4x4xf16>
  %mb = reduce_max %b {dim = 1} : tensor<4x4xf16>
  %m = max %ma, %mb : tensor<4x1xf16>, tensor<4x1xf16>
  %da = sub %a, %ma : tensor<4x4xf16>, tensor<4x1xf16>
  %db = sub %b, %mb : tensor<4x4xf16>, tensor<4x1xf16>
  %ea = exp %da : tensor<4x4xf16>
  %eb = exp %db : tensor<4x4xf16>
  %sa = reduce_sum %ea {dim = 1} : tensor<4x4xf16>
  %sb = reduce_sum %eb {dim = 1} : tensor<4x4xf16>
  %ga = sub %ma, %m : tensor<4x1xf16>, tensor<4x1xf16>
  %gb = sub %mb, %m : tensor<4x1xf16>, tensor<4x1xf16>
  %fa = exp %ga : tensor<4x1xf16>
  %fb = exp %gb : tensor<4x1xf16>
  %ta = mul %sa, %fa : tensor<4x1xf16>, tensor<4x1xf16>
  %tb = mul %sb, %fb : tensor<4x1xf16>, tensor<4x1xf16>
  %s = add %ta, %tb : tensor<4x1xf16>, tensor<4x1xf16>
  %ua = mul %ea, %fa : tensor<4x4xf16>, tensor<4x1xf16>
  %ub = mul %eb, %fb : tensor<4x4xf16>, tensor<4x1xf16>
  %u = concat %ua, %ub {dim = 1} : tensor<4x4xf16>, tensor<4x4xf16>
  %y = div %u, %s : tensor<4x8xf16>, tensor<4x1xf16>
  return %y : tensor<4x8xf16>
}

// Times the reciprocal of the sum.
// CHECK: @tgt_sm_reciprocal: equivalent to @src_sm;
mirage_kernel.graph @tgt_sm_reciprocal(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %m = reduce_max %x {dim = 1} : tensor<4x8xf16>
  %d = sub %x, %m : tensor<4x8xf16>, tensor<4x1xf16>
  %e = exp %d : tensor<4x8xf16>
  %s = reduce_sum %e {dim = 1} : tensor<4x8xf16>
  %one = constant 1.0 : tensor<f16>
  %r = div %one, %s : tensor<f16>, tensor<4x1xf16>
  %y = mul %e, %r : tensor<4x8xf16>, tensor<4x1xf16>
  return %y : tensor<4x8xf16>
}

// A block a row, the sum in a loop.
// CHECK: @tgt_sm_blocks: equivalent to @src_sm;
mirage_kernel.graph @tgt_sm_blocks(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %y = custom (%xk = %x) outs(%yk) grid [4] : (tensor<4x8xf16>) -> tensor<4x8xf16> {
    %none = bottom : !mirage_block.tile<1x1xf32>
    %m = loop 2 (%a = %none max) : !mirage_block.tile<1x1xf32> {
      %xt = load %xk {grid = [0], loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<1x4xf16>
      %t = reduce_max %xt {dim = 1} : !mirage_block.tile<1x4xf16>
      yield %t : !mirage_block.tile<1x1xf32>
    }
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %s = loop 2 (%b = %zero sum) : !mirage_block.tile<1x1xf32> {
      %xu = load %xk {grid = [0], loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<1x4xf16>
      %d = sub %xu, %m : !mirage_block.tile<1x4xf16>, !mirage_block.tile<1x1xf32>
      %e = exp %d : !mirage_block.tile<1x4xf32>
      %u = reduce_sum %e {dim = 1} : !mirage_block.tile<1x4xf32>
      yield %u : !mirage_block.tile<1x1xf32>
    }
    %xv = load %xk {grid = [0]} : tensor<4x8xf16> -> !mirage_block.tile<1x8xf16>
    %dv = sub %xv, %m : !mirage_block.tile<1x8xf16>, !mirage_block.tile<1x1xf32>
    %ev = exp %dv : !mirage_block.tile<1x8xf32>
    %r = div %ev, %s : !mirage_block.tile<1x8xf32>, !mirage_block.tile<1x1xf32>
    store %r, %yk {grid = [0]} : !mirage_block.tile<1x8xf32>, tensor<4x8xf16>
  }
  return %y : tensor<4x8xf16>
}

// Running maximum, running sum rescaled.
// CHECK: @tgt_sm_online: equivalent to @src_sm;
mirage_kernel.graph @tgt_sm_online(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %y = custom (%xk = %x) outs(%yk) grid [4] : (tensor<4x8xf16>) -> tensor<4x8xf16> {
    %none = bottom : !mirage_block.tile<1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %m, %s = loop 4 (%a = %none assign, %b = %zero rescale) : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32> {
      %xt = load %xk {grid = [0], loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<1x2xf16>
      %t = reduce_max %xt {dim = 1} : !mirage_block.tile<1x2xf16>
      %n = max %a, %t : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %d = sub %xt, %n : !mirage_block.tile<1x2xf16>, !mirage_block.tile<1x1xf32>
      %e = exp %d : !mirage_block.tile<1x2xf32>
      %u = reduce_sum %e {dim = 1} : !mirage_block.tile<1x2xf32>
      %g = sub %a, %n : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %f = exp %g : !mirage_block.tile<1x1xf32>
      yield %n, %u rescale %f : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    }
    %xv = load %xk {grid = [0]} : tensor<4x8xf16> -> !mirage_block.tile<1x8xf16>
    %dv = sub %xv, %m : !mirage_block.tile<1x8xf16>, !mirage_block.tile<1x1xf32>
    %ev = exp %dv : !mirage_block.tile<1x8xf32>
    %r = div %ev, %s : !mirage_block.tile<1x8xf32>, !mirage_block.tile<1x1xf32>
    store %r, %yk {grid = [0]} : !mirage_block.tile<1x8xf32>, tensor<4x8xf16>
  }
  return %y : tensor<4x8xf16>
}

// The running sum is not rescaled when the maximum grows.
// CHECK: @tgt_sm_rescale_forgotten: different at output
mirage_kernel.graph @tgt_sm_rescale_forgotten(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %y = custom (%xk = %x) outs(%yk) grid [4] : (tensor<4x8xf16>) -> tensor<4x8xf16> {
    %none = bottom : !mirage_block.tile<1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %m, %s = loop 4 (%a = %none assign, %b = %zero sum) : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32> {
      %xt = load %xk {grid = [0], loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<1x2xf16>
      %t = reduce_max %xt {dim = 1} : !mirage_block.tile<1x2xf16>
      %n = max %a, %t : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %d = sub %xt, %n : !mirage_block.tile<1x2xf16>, !mirage_block.tile<1x1xf32>
      %e = exp %d : !mirage_block.tile<1x2xf32>
      %u = reduce_sum %e {dim = 1} : !mirage_block.tile<1x2xf32>
      yield %n, %u : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    }
    %xv = load %xk {grid = [0]} : tensor<4x8xf16> -> !mirage_block.tile<1x8xf16>
    %dv = sub %xv, %m : !mirage_block.tile<1x8xf16>, !mirage_block.tile<1x1xf32>
    %ev = exp %dv : !mirage_block.tile<1x8xf32>
    %r = div %ev, %s : !mirage_block.tile<1x8xf32>, !mirage_block.tile<1x1xf32>
    store %r, %yk {grid = [0]} : !mirage_block.tile<1x8xf32>, tensor<4x8xf16>
  }
  return %y : tensor<4x8xf16>
}

// The factor is exp(new - old).
// CHECK: @tgt_sm_rescale_inverted: different at output
mirage_kernel.graph @tgt_sm_rescale_inverted(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %y = custom (%xk = %x) outs(%yk) grid [4] : (tensor<4x8xf16>) -> tensor<4x8xf16> {
    %none = constant -1.0 : !mirage_block.tile<1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %m, %s = loop 4 (%a = %none assign, %b = %zero rescale) : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32> {
      %xt = load %xk {grid = [0], loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<1x2xf16>
      %t = reduce_max %xt {dim = 1} : !mirage_block.tile<1x2xf16>
      %n = max %a, %t : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %d = sub %xt, %n : !mirage_block.tile<1x2xf16>, !mirage_block.tile<1x1xf32>
      %e = exp %d : !mirage_block.tile<1x2xf32>
      %u = reduce_sum %e {dim = 1} : !mirage_block.tile<1x2xf32>
      %g = sub %n, %a : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %f = exp %g : !mirage_block.tile<1x1xf32>
      yield %n, %u rescale %f : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    }
    %xv = load %xk {grid = [0]} : tensor<4x8xf16> -> !mirage_block.tile<1x8xf16>
    %dv = sub %xv, %m : !mirage_block.tile<1x8xf16>, !mirage_block.tile<1x1xf32>
    %ev = exp %dv : !mirage_block.tile<1x8xf32>
    %r = div %ev, %s : !mirage_block.tile<1x8xf32>, !mirage_block.tile<1x1xf32>
    store %r, %yk {grid = [0]} : !mirage_block.tile<1x8xf32>, tensor<4x8xf16>
  }
  return %y : tensor<4x8xf16>
}

// The maximum of the tile is used where the running one belongs.
// CHECK: @tgt_sm_local_max: different at output
mirage_kernel.graph @tgt_sm_local_max(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %y = custom (%xk = %x) outs(%yk) grid [4] : (tensor<4x8xf16>) -> tensor<4x8xf16> {
    %none = bottom : !mirage_block.tile<1x1xf32>
    %zero = constant 0.0 : !mirage_block.tile<1x1xf32>
    %m, %s = loop 4 (%a = %none assign, %b = %zero rescale) : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32> {
      %xt = load %xk {grid = [0], loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<1x2xf16>
      %t = reduce_max %xt {dim = 1} : !mirage_block.tile<1x2xf16>
      %n = max %a, %t : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %d = sub %xt, %t : !mirage_block.tile<1x2xf16>, !mirage_block.tile<1x1xf32>
      %e = exp %d : !mirage_block.tile<1x2xf32>
      %u = reduce_sum %e {dim = 1} : !mirage_block.tile<1x2xf32>
      %g = sub %a, %n : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %f = exp %g : !mirage_block.tile<1x1xf32>
      yield %n, %u rescale %f : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    }
    %xv = load %xk {grid = [0]} : tensor<4x8xf16> -> !mirage_block.tile<1x8xf16>
    %dv = sub %xv, %m : !mirage_block.tile<1x8xf16>, !mirage_block.tile<1x1xf32>
    %ev = exp %dv : !mirage_block.tile<1x8xf32>
    %r = div %ev, %s : !mirage_block.tile<1x8xf32>, !mirage_block.tile<1x1xf32>
    store %r, %yk {grid = [0]} : !mirage_block.tile<1x8xf32>, tensor<4x8xf16>
  }
  return %y : tensor<4x8xf16>
}

// The maximum only in the numerator.
// CHECK: @tgt_sm_max_of_sum: different at output
mirage_kernel.graph @tgt_sm_max_of_sum(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %m = reduce_max %x {dim = 1} : tensor<4x8xf16>
  %d = sub %x, %m : tensor<4x8xf16>, tensor<4x1xf16>
  %e = exp %d : tensor<4x8xf16>
  %f = exp %x : tensor<4x8xf16>
  %s = reduce_sum %f {dim = 1} : tensor<4x8xf16>
  %y = div %e, %s : tensor<4x8xf16>, tensor<4x1xf16>
  return %y : tensor<4x8xf16>
}

// The maximum only in the denominator.
// CHECK: @tgt_sm_max_of_denominator: different at output
mirage_kernel.graph @tgt_sm_max_of_denominator(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %m = reduce_max %x {dim = 1} : tensor<4x8xf16>
  %d = sub %x, %m : tensor<4x8xf16>, tensor<4x1xf16>
  %e = exp %d : tensor<4x8xf16>
  %f = exp %x : tensor<4x8xf16>
  %s = reduce_sum %e {dim = 1} : tensor<4x8xf16>
  %y = div %f, %s : tensor<4x8xf16>, tensor<4x1xf16>
  return %y : tensor<4x8xf16>
}

// Row maximum above, maximum of everything below.
// CHECK: @tgt_sm_two_shifts: different at output
mirage_kernel.graph @tgt_sm_two_shifts(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %m = reduce_max %x {dim = 1} : tensor<4x8xf16>
  %n = reduce_max %m {dim = 0} : tensor<4x1xf16>
  %d = sub %x, %m : tensor<4x8xf16>, tensor<4x1xf16>
  %f = sub %x, %n : tensor<4x8xf16>, tensor<1x1xf16>
  %e = exp %d : tensor<4x8xf16>
  %h = exp %f : tensor<4x8xf16>
  %s = reduce_sum %h {dim = 1} : tensor<4x8xf16>
  %y = div %e, %s : tensor<4x8xf16>, tensor<4x1xf16>
  return %y : tensor<4x8xf16>
}

// Normalised along the other axis.
// CHECK: @tgt_sm_axis: different at output
mirage_kernel.graph @tgt_sm_axis(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %y = softmax %x {dim = 0} : tensor<4x8xf16>
  return %y : tensor<4x8xf16>
}

// Sum over exponential.
// CHECK: @tgt_sm_swapped: different at output
mirage_kernel.graph @tgt_sm_swapped(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %e = exp %x : tensor<4x8xf16>
  %s = reduce_sum %e {dim = 1} : tensor<4x8xf16>
  %y = div %s, %e : tensor<4x1xf16>, tensor<4x8xf16>
  return %y : tensor<4x8xf16>
}

// exp of the sum instead of the sum of exps.
// CHECK: @tgt_sm_exp_of_sum: different at output
mirage_kernel.graph @tgt_sm_exp_of_sum(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %e = exp %x : tensor<4x8xf16>
  %t = reduce_sum %x {dim = 1} : tensor<4x8xf16>
  %s = exp %t : tensor<4x1xf16>
  %y = div %e, %s : tensor<4x8xf16>, tensor<4x1xf16>
  return %y : tensor<4x8xf16>
}

// exp of partial sums, then summed.
// CHECK: @tgt_sm_exp_of_partial: different at output
mirage_kernel.graph @tgt_sm_exp_of_partial(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %e = exp %x : tensor<4x8xf16>
  %t = reduce_sum %x {dim = 1, extent = 2} : tensor<4x8xf16>
  %f = exp %t : tensor<4x2xf16>
  %s = reduce_sum %f {dim = 1} : tensor<4x2xf16>
  %y = div %e, %s : tensor<4x8xf16>, tensor<4x1xf16>
  return %y : tensor<4x8xf16>
}

// The sum of half a row.
// CHECK: @tgt_sm_half_sum: different at output
mirage_kernel.graph @tgt_sm_half_sum(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %e = exp %x : tensor<4x8xf16>
  %h = slice %e {dim = 1, begin = 0, end = 4} : tensor<4x8xf16>
  %s = reduce_sum %h {dim = 1} : tensor<4x4xf16>
  %y = div %e, %s : tensor<4x8xf16>, tensor<4x1xf16>
  return %y : tensor<4x8xf16>
}

// Not normalised.
// CHECK: @tgt_sm_no_sum: different at output
mirage_kernel.graph @tgt_sm_no_sum(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %m = reduce_max %x {dim = 1} : tensor<4x8xf16>
  %d = sub %x, %m : tensor<4x8xf16>, tensor<4x1xf16>
  %y = exp %d : tensor<4x8xf16>
  return %y : tensor<4x8xf16>
}

// The maximum matters where nothing cancels it: here it is compared with a sum of its own.
// CHECK: @tgt_sm_max_in_vain: different at output
mirage_kernel.graph @tgt_sm_max_in_vain(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %m = reduce_max %x {dim = 1} : tensor<4x8xf16>
  %e = exp %x : tensor<4x8xf16>
  %f = exp %m : tensor<4x1xf16>
  %s = reduce_sum %e {dim = 1} : tensor<4x8xf16>
  %t = add %s, %f : tensor<4x1xf16>, tensor<4x1xf16>
  %y = div %e, %t : tensor<4x8xf16>, tensor<4x1xf16>
  return %y : tensor<4x8xf16>
}

// Scaled by 2.
// CHECK: @tgt_sm_temperature: different at output
mirage_kernel.graph @tgt_sm_temperature(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_sm} {
  %z = add %x, %x : tensor<4x8xf16>, tensor<4x8xf16>
  %y = softmax %z {dim = 1} : tensor<4x8xf16>
  return %y : tensor<4x8xf16>
}
