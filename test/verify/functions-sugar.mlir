// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// Functions that are sugar are what they are made of; sine and cosine are functions of which the value at 0 is known alone.

mirage_kernel.graph @src_abs(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = abs %a : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// max(-a, a).
// CHECK: @tgt_abs_is_0: equivalent to @src_abs;
mirage_kernel.graph @tgt_abs_is_0(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_abs} {
  %n = neg %a : tensor<4x6xf32>
  %y = max %n, %a : tensor<4x6xf32>, tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// |-a| = |a|.
// CHECK: @tgt_abs_is_1: equivalent to @src_abs;
mirage_kernel.graph @tgt_abs_is_1(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_abs} {
  %n = neg %a : tensor<4x6xf32>
  %y = abs %n : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// a.
// CHECK: @tgt_abs_not_0: different
mirage_kernel.graph @tgt_abs_not_0(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_abs} {
  %z = constant 0.0 : tensor<f32>
  %y = add %a, %z : tensor<4x6xf32>, tensor<f32>
  return %y : tensor<4x6xf32>
}

// max(a, 0).
// CHECK: @tgt_abs_not_1: different
mirage_kernel.graph @tgt_abs_not_1(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_abs} {
  %y = relu %a : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// min(-a, a).
// CHECK: @tgt_abs_not_2: different
mirage_kernel.graph @tgt_abs_not_2(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_abs} {
  %n = neg %a : tensor<4x6xf32>
  %y = min %n, %a : tensor<4x6xf32>, tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

mirage_kernel.graph @src_clamp(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = clamp %a {low = -1.0, high = 2.0} : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// min after max.
// CHECK: @tgt_clamp_is_0: equivalent to @src_clamp;
mirage_kernel.graph @tgt_clamp_is_0(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_clamp} {
  %l = constant -1.0 : tensor<f32>
  %h = constant 2.0 : tensor<f32>
  %m = max %a, %l : tensor<4x6xf32>, tensor<f32>
  %y = min %m, %h : tensor<4x6xf32>, tensor<f32>
  return %y : tensor<4x6xf32>
}

// Bounds changed round.
// CHECK: @tgt_clamp_not_0: different
mirage_kernel.graph @tgt_clamp_not_0(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_clamp} {
  %y = clamp %a {low = -2.0, high = 1.0} : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// The lower bound alone.
// CHECK: @tgt_clamp_not_1: different
mirage_kernel.graph @tgt_clamp_not_1(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_clamp} {
  %l = constant -1.0 : tensor<f32>
  %y = max %a, %l : tensor<4x6xf32>, tensor<f32>
  return %y : tensor<4x6xf32>
}

// max after min.
// CHECK: @tgt_clamp_not_2: different
mirage_kernel.graph @tgt_clamp_not_2(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_clamp} {
  %l = constant 2.0 : tensor<f32>
  %h = constant -1.0 : tensor<f32>
  %m = max %a, %l : tensor<4x6xf32>, tensor<f32>
  %y = min %m, %h : tensor<4x6xf32>, tensor<f32>
  return %y : tensor<4x6xf32>
}

mirage_kernel.graph @src_cube(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = pow %a {exponent = 3.0} : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// a a a.
// CHECK: @tgt_cube_is_0: equivalent to @src_cube;
mirage_kernel.graph @tgt_cube_is_0(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_cube} {
  %s = mul %a, %a : tensor<4x6xf32>, tensor<4x6xf32>
  %y = mul %a, %s : tensor<4x6xf32>, tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// a^5 / a^2.
// CHECK: @tgt_cube_is_1: equivalent to @src_cube;
mirage_kernel.graph @tgt_cube_is_1(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_cube} {
  %p = pow %a {exponent = 5.0} : tensor<4x6xf32>
  %q = square %a : tensor<4x6xf32>
  %y = div %p, %q : tensor<4x6xf32>, tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// a^2.
// CHECK: @tgt_cube_not_0: different
mirage_kernel.graph @tgt_cube_not_0(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_cube} {
  %y = pow %a {exponent = 2.0} : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// a^-3.
// CHECK: @tgt_cube_not_1: different
mirage_kernel.graph @tgt_cube_not_1(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_cube} {
  %y = pow %a {exponent = -3.0} : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// 3 a.
// CHECK: @tgt_cube_not_2: different
mirage_kernel.graph @tgt_cube_not_2(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_cube} {
  %t = constant 3.0 : tensor<f32>
  %y = mul %a, %t : tensor<4x6xf32>, tensor<f32>
  return %y : tensor<4x6xf32>
}

mirage_kernel.graph @src_root(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = pow %a {exponent = 1.5} : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// a sqrt(a).
// CHECK: @tgt_root_is_0: equivalent to @src_root;
mirage_kernel.graph @tgt_root_is_0(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_root} {
  %r = sqrt %a : tensor<4x6xf32>
  %y = mul %r, %a : tensor<4x6xf32>, tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// sqrt(a).
// CHECK: @tgt_root_not_0: different
mirage_kernel.graph @tgt_root_not_0(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_root} {
  %y = sqrt %a : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// exp(1.4 log(a)).
// CHECK: @tgt_root_not_1: different
mirage_kernel.graph @tgt_root_not_1(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_root} {
  %y = pow %a {exponent = 1.4} : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

mirage_kernel.graph @src_tenth(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = pow %a {exponent = 0.1} : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// exp(log(a) / 10), as constants have it.
// CHECK: @tgt_tenth_is_0: equivalent to @src_tenth;
mirage_kernel.graph @tgt_tenth_is_0(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_tenth} {
  %t = constant 0.1 : tensor<f32>
  %l = log %a : tensor<4x6xf32>
  %m = mul %l, %t : tensor<4x6xf32>, tensor<f32>
  %y = exp %m : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// exp(log(a) 0.11).
// CHECK: @tgt_tenth_not_0: different
mirage_kernel.graph @tgt_tenth_not_0(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_tenth} {
  %y = pow %a {exponent = 0.11} : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// log(a) / 10.
// CHECK: @tgt_tenth_not_1: different
mirage_kernel.graph @tgt_tenth_not_1(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_tenth} {
  %t = constant 0.1 : tensor<f32>
  %l = log %a : tensor<4x6xf32>
  %y = mul %l, %t : tensor<4x6xf32>, tensor<f32>
  return %y : tensor<4x6xf32>
}

mirage_kernel.graph @src_leaky(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = leaky_relu %a {slope = 2.5e-01} : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// max(a / 4, a).
// CHECK: @tgt_leaky_is_0: equivalent to @src_leaky;
mirage_kernel.graph @tgt_leaky_is_0(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_leaky} {
  %t = constant 0.25 : tensor<f32>
  %m = mul %a, %t : tensor<4x6xf32>, tensor<f32>
  %y = max %m, %a : tensor<4x6xf32>, tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// Another slope.
// CHECK: @tgt_leaky_not_0: different
mirage_kernel.graph @tgt_leaky_not_0(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_leaky} {
  %y = leaky_relu %a {slope = 1.25e-01} : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// min for max.
// CHECK: @tgt_leaky_not_1: different
mirage_kernel.graph @tgt_leaky_not_1(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_leaky} {
  %t = constant 0.25 : tensor<f32>
  %m = mul %a, %t : tensor<4x6xf32>, tensor<f32>
  %y = min %m, %a : tensor<4x6xf32>, tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// relu.
// CHECK: @tgt_leaky_not_2: different
mirage_kernel.graph @tgt_leaky_not_2(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_leaky} {
  %y = relu %a : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

mirage_kernel.graph @src_steep(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = leaky_relu %a {slope = 3.0} : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// min(3 a, a).
// CHECK: @tgt_steep_is_0: equivalent to @src_steep;
mirage_kernel.graph @tgt_steep_is_0(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_steep} {
  %t = constant 3.0 : tensor<f32>
  %m = mul %a, %t : tensor<4x6xf32>, tensor<f32>
  %y = min %m, %a : tensor<4x6xf32>, tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// max(3 a, a).
// CHECK: @tgt_steep_not_0: different
mirage_kernel.graph @tgt_steep_not_0(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_steep} {
  %t = constant 3.0 : tensor<f32>
  %m = mul %a, %t : tensor<4x6xf32>, tensor<f32>
  %y = max %m, %a : tensor<4x6xf32>, tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

mirage_kernel.graph @src_hard_swish(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = hard_swish %a : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// a hard_sigmoid(a).
// CHECK: @tgt_hard_swish_is_0: equivalent to @src_hard_swish;
mirage_kernel.graph @tgt_hard_swish_is_0(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_hard_swish} {
  %h = hard_sigmoid %a : tensor<4x6xf32>
  %y = mul %h, %a : tensor<4x6xf32>, tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// hard_sigmoid(a).
// CHECK: @tgt_hard_swish_not_0: different
mirage_kernel.graph @tgt_hard_swish_not_0(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_hard_swish} {
  %y = hard_sigmoid %a : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// silu(a).
// CHECK: @tgt_hard_swish_not_1: different
mirage_kernel.graph @tgt_hard_swish_not_1(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_hard_swish} {
  %y = silu %a : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

mirage_kernel.graph @src_softplus(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = softplus %a : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// max(0, a) + log1p(exp(-|a|)).
// CHECK: @tgt_softplus_is_0: equivalent to @src_softplus;
mirage_kernel.graph @tgt_softplus_is_0(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_softplus} {
  %r = relu %a : tensor<4x6xf32>
  %s = abs %a : tensor<4x6xf32>
  %n = neg %s : tensor<4x6xf32>
  %e = exp %n : tensor<4x6xf32>
  %l = log1p %e : tensor<4x6xf32>
  %y = add %l, %r : tensor<4x6xf32>, tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// log1p(exp(-|a|)).
// CHECK: @tgt_softplus_not_0: different
mirage_kernel.graph @tgt_softplus_not_0(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_softplus} {
  %s = abs %a : tensor<4x6xf32>
  %n = neg %s : tensor<4x6xf32>
  %e = exp %n : tensor<4x6xf32>
  %y = log1p %e : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// With exp(|a|).
// CHECK: @tgt_softplus_not_1: different
mirage_kernel.graph @tgt_softplus_not_1(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_softplus} {
  %r = relu %a : tensor<4x6xf32>
  %s = abs %a : tensor<4x6xf32>
  %e = exp %s : tensor<4x6xf32>
  %l = log1p %e : tensor<4x6xf32>
  %y = add %l, %r : tensor<4x6xf32>, tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

mirage_kernel.graph @src_log1p(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = log1p %a : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// log(a + 1).
// CHECK: @tgt_log1p_is_0: equivalent to @src_log1p;
mirage_kernel.graph @tgt_log1p_is_0(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_log1p} {
  %o = constant 1.0 : tensor<f32>
  %s = add %a, %o : tensor<4x6xf32>, tensor<f32>
  %y = log %s : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// log(a).
// CHECK: @tgt_log1p_not_0: different
mirage_kernel.graph @tgt_log1p_not_0(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_log1p} {
  %y = log %a : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// log(a + 2).
// CHECK: @tgt_log1p_not_1: different
mirage_kernel.graph @tgt_log1p_not_1(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_log1p} {
  %o = constant 2.0 : tensor<f32>
  %s = add %a, %o : tensor<4x6xf32>, tensor<f32>
  %y = log %s : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

mirage_kernel.graph @src_sign(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = sign %a : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// (a > 0) - (a < 0).
// CHECK: @tgt_sign_is_0: equivalent to @src_sign;
mirage_kernel.graph @tgt_sign_is_0(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_sign} {
  %z = constant 0.0 : tensor<f32>
  %p = greater %a, %z : tensor<4x6xf32>, tensor<f32>
  %n = less %a, %z : tensor<4x6xf32>, tensor<f32>
  %q = cast %p : tensor<4x6xi1> -> tensor<4x6xf32>
  %m = cast %n : tensor<4x6xi1> -> tensor<4x6xf32>
  %y = sub %q, %m : tensor<4x6xf32>, tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// (a > 0).
// CHECK: @tgt_sign_not_0: different
mirage_kernel.graph @tgt_sign_not_0(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_sign} {
  %z = constant 0.0 : tensor<f32>
  %p = greater %a, %z : tensor<4x6xf32>, tensor<f32>
  %y = cast %p : tensor<4x6xi1> -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// (a < 0) - (a > 0).
// CHECK: @tgt_sign_not_1: different
mirage_kernel.graph @tgt_sign_not_1(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_sign} {
  %s = sign %a : tensor<4x6xf32>
  %y = neg %s : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

mirage_kernel.graph @src_sine(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = sin %a : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// sin(a + a - a).
// CHECK: @tgt_sine_is_0: equivalent to @src_sine;
mirage_kernel.graph @tgt_sine_is_0(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_sine} {
  %d = add %a, %a : tensor<4x6xf32>, tensor<4x6xf32>
  %s = sub %d, %a : tensor<4x6xf32>, tensor<4x6xf32>
  %y = sin %s : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// cos(a).
// CHECK: @tgt_sine_not_0: different
mirage_kernel.graph @tgt_sine_not_0(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_sine} {
  %y = cos %a : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// sin(2 a).
// CHECK: @tgt_sine_not_1: different
mirage_kernel.graph @tgt_sine_not_1(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_sine} {
  %d = add %a, %a : tensor<4x6xf32>, tensor<4x6xf32>
  %y = sin %d : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// tanh(a).
// CHECK: @tgt_sine_not_2: different
mirage_kernel.graph @tgt_sine_not_2(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_sine} {
  %y = tanh %a : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

mirage_kernel.graph @src_nothing(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %y = sub %a, %a : tensor<4x6xf32>, tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// sin(0).
// CHECK: @tgt_nothing_is_0: equivalent to @src_nothing;
mirage_kernel.graph @tgt_nothing_is_0(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_nothing} {
  %z = sub %a, %a : tensor<4x6xf32>, tensor<4x6xf32>
  %y = sin %z : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// cos(0) - 1.
// CHECK: @tgt_nothing_is_1: equivalent to @src_nothing;
mirage_kernel.graph @tgt_nothing_is_1(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_nothing} {
  %z = sub %a, %a : tensor<4x6xf32>, tensor<4x6xf32>
  %o = constant 1.0 : tensor<f32>
  %c = cos %z : tensor<4x6xf32>
  %y = sub %c, %o : tensor<4x6xf32>, tensor<f32>
  return %y : tensor<4x6xf32>
}

// cos(0).
// CHECK: @tgt_nothing_not_0: different
mirage_kernel.graph @tgt_nothing_not_0(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_nothing} {
  %z = sub %a, %a : tensor<4x6xf32>, tensor<4x6xf32>
  %y = cos %z : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// 0 / sin(0).
// CHECK: @tgt_nothing_not_1: different: divides by zero at every point for output
mirage_kernel.graph @tgt_nothing_not_1(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_nothing} {
  %z = sub %a, %a : tensor<4x6xf32>, tensor<4x6xf32>
  %s = sin %z : tensor<4x6xf32>
  %y = div %z, %s : tensor<4x6xf32>, tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// sin(1).
// CHECK: @tgt_nothing_not_2: different
mirage_kernel.graph @tgt_nothing_not_2(%a: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {source = @src_nothing} {
  %z = sub %a, %a : tensor<4x6xf32>, tensor<4x6xf32>
  %o = constant 1.0 : tensor<f32>
  %i = add %z, %o : tensor<4x6xf32>, tensor<f32>
  %y = sin %i : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
