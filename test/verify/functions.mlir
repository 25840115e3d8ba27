// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// Exponentials obey their law; sqrt, log, erf, tanh and max are functions of which only that is known.

mirage_kernel.graph @src_product(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %p = exp %a : tensor<4x6xf16>
  %q = exp %b : tensor<4x6xf16>
  %y = mul %p, %q : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// exp(a) exp(b) = exp(a + b).
// CHECK: @tgt_product_sum: equivalent to @src_product;
mirage_kernel.graph @tgt_product_sum(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_product} {
  %s = add %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %y = exp %s : tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// exp(a) / exp(-b).
// CHECK: @tgt_product_quotient: equivalent to @src_product;
mirage_kernel.graph @tgt_product_quotient(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_product} {
  %n = neg %b : tensor<4x6xf16>
  %p = exp %a : tensor<4x6xf16>
  %q = exp %n : tensor<4x6xf16>
  %y = div %p, %q : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// exp(a b).
// CHECK: @tgt_product_of_product: different at output
mirage_kernel.graph @tgt_product_of_product(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_product} {
  %s = mul %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %y = exp %s : tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// exp(a) + exp(b).
// CHECK: @tgt_product_sum_of: different at output
mirage_kernel.graph @tgt_product_sum_of(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_product} {
  %p = exp %a : tensor<4x6xf16>
  %q = exp %b : tensor<4x6xf16>
  %y = add %p, %q : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// exp(a - b).
// CHECK: @tgt_product_difference: different at output
mirage_kernel.graph @tgt_product_difference(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_product} {
  %s = sub %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %y = exp %s : tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

mirage_kernel.graph @src_sigmoid(%a: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %y = sigmoid %a : tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// 1 - sigmoid(-a).
// CHECK: @tgt_sigmoid_mirrored: equivalent to @src_sigmoid;
mirage_kernel.graph @tgt_sigmoid_mirrored(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_sigmoid} {
  %n = neg %a : tensor<4x6xf16>
  %s = sigmoid %n : tensor<4x6xf16>
  %one = constant 1.0 : tensor<f16>
  %y = sub %one, %s : tensor<f16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// exp(a) / (1 + exp(a)).
// CHECK: @tgt_sigmoid_exp: equivalent to @src_sigmoid;
mirage_kernel.graph @tgt_sigmoid_exp(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_sigmoid} {
  %e = exp %a : tensor<4x6xf16>
  %one = constant 1.0 : tensor<f16>
  %d = add %e, %one : tensor<4x6xf16>, tensor<f16>
  %y = div %e, %d : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// sigmoid(-a).
// CHECK: @tgt_sigmoid_minus: different at output
mirage_kernel.graph @tgt_sigmoid_minus(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_sigmoid} {
  %n = neg %a : tensor<4x6xf16>
  %y = sigmoid %n : tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// exp(a) / (2 + exp(a)).
// CHECK: @tgt_sigmoid_half: different at output
mirage_kernel.graph @tgt_sigmoid_half(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_sigmoid} {
  %e = exp %a : tensor<4x6xf16>
  %two = constant 2.0 : tensor<f16>
  %d = add %e, %two : tensor<4x6xf16>, tensor<f16>
  %y = div %e, %d : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// 1 / (1 + exp(a)).
// CHECK: @tgt_sigmoid_numerator: different at output
mirage_kernel.graph @tgt_sigmoid_numerator(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_sigmoid} {
  %e = exp %a : tensor<4x6xf16>
  %one = constant 1.0 : tensor<f16>
  %d = add %e, %one : tensor<4x6xf16>, tensor<f16>
  %y = div %one, %d : tensor<f16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

mirage_kernel.graph @src_gelu(%a: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %y = gelu %a : tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// In a block.
// CHECK: @tgt_gelu_blocks: equivalent to @src_gelu;
mirage_kernel.graph @tgt_gelu_blocks(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_gelu} {
  %y = custom (%ak = %a) outs(%yk) grid [2] : (tensor<4x6xf16>) -> tensor<4x6xf16> {
    %at = load %ak {grid = [0]} : tensor<4x6xf16> -> !mirage_block.tile<2x6xf16>
    %g = gelu %at : !mirage_block.tile<2x6xf16>
    store %g, %yk {grid = [0]} : !mirage_block.tile<2x6xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// The approximation by tanh is another function.
// CHECK: @tgt_gelu_tanh: different at output
mirage_kernel.graph @tgt_gelu_tanh(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_gelu} {
  %y = gelu_tanh %a : tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// So is silu.
// CHECK: @tgt_gelu_silu: different at output
mirage_kernel.graph @tgt_gelu_silu(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_gelu} {
  %y = silu %a : tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// The argument is not divided.
// CHECK: @tgt_gelu_inside: different at output
mirage_kernel.graph @tgt_gelu_inside(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_gelu} {
  %e = erf %a : tensor<4x6xf16>
  %one = constant 1.0 : tensor<f16>
  %o = add %e, %one : tensor<4x6xf16>, tensor<f16>
  %h = constant 0.5 : tensor<f16>
  %p = mul %a, %h : tensor<4x6xf16>, tensor<f16>
  %y = mul %p, %o : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

mirage_kernel.graph @src_tanh(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %s = add %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %t = tanh %s : tensor<4x6xf16>
  %y = mul %t, %a : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// Equal arguments, however they came about.
// CHECK: @tgt_tanh_commuted: equivalent to @src_tanh;
mirage_kernel.graph @tgt_tanh_commuted(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_tanh} {
  %two = constant 2.0 : tensor<f16>
  %c = mul %b, %two : tensor<4x6xf16>, tensor<f16>
  %d = sub %c, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %s = add %d, %a : tensor<4x6xf16>, tensor<4x6xf16>
  %t = tanh %s : tensor<4x6xf16>
  %y = mul %a, %t : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// tanh(a - b).
// CHECK: @tgt_tanh_argument: different at output
mirage_kernel.graph @tgt_tanh_argument(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_tanh} {
  %s = sub %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %t = tanh %s : tensor<4x6xf16>
  %y = mul %t, %a : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// erf instead of tanh.
// CHECK: @tgt_tanh_other_function: different at output
mirage_kernel.graph @tgt_tanh_other_function(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_tanh} {
  %s = add %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %t = erf %s : tensor<4x6xf16>
  %y = mul %t, %a : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// tanh(a) + tanh(b).
// CHECK: @tgt_tanh_distributed: different at output
mirage_kernel.graph @tgt_tanh_distributed(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_tanh} {
  %p = tanh %a : tensor<4x6xf16>
  %q = tanh %b : tensor<4x6xf16>
  %t = add %p, %q : tensor<4x6xf16>, tensor<4x6xf16>
  %y = mul %t, %a : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

mirage_kernel.graph @src_log(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %p = mul %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %y = log %p : tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// log(b a).
// CHECK: @tgt_log_commuted: equivalent to @src_log;
mirage_kernel.graph @tgt_log_commuted(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_log} {
  %p = mul %b, %a : tensor<4x6xf16>, tensor<4x6xf16>
  %y = log %p : tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// log(a) + b.
// CHECK: @tgt_log_first: different at output
mirage_kernel.graph @tgt_log_first(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_log} {
  %p = log %a : tensor<4x6xf16>
  %y = add %p, %b : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// log(a + b).
// CHECK: @tgt_log_sum: different at output
mirage_kernel.graph @tgt_log_sum(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_log} {
  %p = add %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %y = log %p : tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

mirage_kernel.graph @src_root(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %s = add %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %r = sqrt %s : tensor<4x6xf16>
  %y = div %a, %r : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// a rsqrt(a + b).
// CHECK: @tgt_root_rsqrt: equivalent to @src_root;
mirage_kernel.graph @tgt_root_rsqrt(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_root} {
  %s = add %b, %a : tensor<4x6xf16>, tensor<4x6xf16>
  %r = rsqrt %s : tensor<4x6xf16>
  %y = mul %a, %r : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// a / (a + b).
// CHECK: @tgt_root_no_root: different at output
mirage_kernel.graph @tgt_root_no_root(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_root} {
  %s = add %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %y = div %a, %s : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// sqrt(a) + sqrt(b) for sqrt(a + b).
// CHECK: @tgt_root_roots: different at output
mirage_kernel.graph @tgt_root_roots(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_root} {
  %p = sqrt %a : tensor<4x6xf16>
  %q = sqrt %b : tensor<4x6xf16>
  %r = add %p, %q : tensor<4x6xf16>, tensor<4x6xf16>
  %y = div %a, %r : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// The root of the root.
// CHECK: @tgt_root_fourth: different at output
mirage_kernel.graph @tgt_root_fourth(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_root} {
  %s = add %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %r = sqrt %s : tensor<4x6xf16>
  %q = sqrt %r : tensor<4x6xf16>
  %y = div %a, %q : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

mirage_kernel.graph @src_tower(%a: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %e = exp %a : tensor<4x6xf16>
  %y = exp %e : tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// exp(exp(a / 2)^2): the second exponential is a function of its argument.
// CHECK: @tgt_tower_argument: equivalent to @src_tower;
mirage_kernel.graph @tgt_tower_argument(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_tower} {
  %h = constant 0.5 : tensor<f16>
  %b = mul %a, %h : tensor<4x6xf16>, tensor<f16>
  %e = exp %b : tensor<4x6xf16>
  %f = mul %e, %e : tensor<4x6xf16>, tensor<4x6xf16>
  %y = exp %f : tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// exp(2 exp(a)).
// CHECK: @tgt_tower_double: different at output
mirage_kernel.graph @tgt_tower_double(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_tower} {
  %e = exp %a : tensor<4x6xf16>
  %f = add %e, %e : tensor<4x6xf16>, tensor<4x6xf16>
  %y = exp %f : tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// exp(a)^2.
// CHECK: @tgt_tower_flat: different at output
mirage_kernel.graph @tgt_tower_flat(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_tower} {
  %e = exp %a : tensor<4x6xf16>
  %y = mul %e, %e : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

mirage_kernel.graph @src_max(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %m = max %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %y = max %m, %c : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// max(a, max(b, c)), in another order.
// CHECK: @tgt_max_assoc: equivalent to @src_max;
mirage_kernel.graph @tgt_max_assoc(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_max} {
  %m = max %c, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %y = max %m, %a : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// With a repeated.
// CHECK: @tgt_max_idempotent: equivalent to @src_max;
mirage_kernel.graph @tgt_max_idempotent(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_max} {
  %m = max %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %n = max %a, %c : tensor<4x6xf16>, tensor<4x6xf16>
  %y = max %n, %m : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// c is forgotten.
// CHECK: @tgt_max_without_c: different at output
mirage_kernel.graph @tgt_max_without_c(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_max} {
  %y = max %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// One minimum.
// CHECK: @tgt_max_min: different at output
mirage_kernel.graph @tgt_max_min(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_max} {
  %m = min %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %y = max %m, %c : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// A sum.
// CHECK: @tgt_max_sum: different at output
mirage_kernel.graph @tgt_max_sum(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_max} {
  %m = add %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %y = max %m, %c : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

mirage_kernel.graph @src_min(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %y = min %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// -max(-a, -b).
// CHECK: @tgt_min_negated: equivalent to @src_min;
mirage_kernel.graph @tgt_min_negated(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_min} {
  %p = neg %a : tensor<4x6xf16>
  %q = neg %b : tensor<4x6xf16>
  %m = max %q, %p : tensor<4x6xf16>, tensor<4x6xf16>
  %y = neg %m : tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// max.
// CHECK: @tgt_min_max: different at output
mirage_kernel.graph @tgt_min_max(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_min} {
  %y = max %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// -max(-a, b).
// CHECK: @tgt_min_half_negated: different at output
mirage_kernel.graph @tgt_min_half_negated(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_min} {
  %p = neg %a : tensor<4x6xf16>
  %m = max %p, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %y = neg %m : tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

mirage_kernel.graph @src_relu(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %s = add %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %y = relu %s : tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// max(a + b, 0).
// CHECK: @tgt_relu_max: equivalent to @src_relu;
mirage_kernel.graph @tgt_relu_max(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_relu} {
  %z = constant 0.0 : tensor<f16>
  %s = add %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %y = max %s, %z : tensor<4x6xf16>, tensor<f16>
  return %y : tensor<4x6xf16>
}

// relu(a) + relu(b).
// CHECK: @tgt_relu_parts: different at output
mirage_kernel.graph @tgt_relu_parts(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_relu} {
  %p = relu %a : tensor<4x6xf16>
  %q = relu %b : tensor<4x6xf16>
  %y = add %p, %q : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// max(a + b, 1).
// CHECK: @tgt_relu_one: different at output
mirage_kernel.graph @tgt_relu_one(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_relu} {
  %z = constant 1.0 : tensor<f16>
  %s = add %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %y = max %s, %z : tensor<4x6xf16>, tensor<f16>
  return %y : tensor<4x6xf16>
}

// What a function is at 0 and at 1 is known: sqrt(0) = 0, sqrt(1) = 1, log(1) = 0, erf(0) = 0, tanh(0) = 0; log(0) has no value.
mirage_kernel.graph @src_zero(%a: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %z = sub %a, %a : tensor<4x6xf16>, tensor<4x6xf16>
  %e = erf %z : tensor<4x6xf16>
  %y = mul %z, %e : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// 0 / erf(0).
// CHECK: @tgt_zero_by_erf: different: divides by zero at every point for output
mirage_kernel.graph @tgt_zero_by_erf(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_zero} {
  %z = sub %a, %a : tensor<4x6xf16>, tensor<4x6xf16>
  %e = erf %z : tensor<4x6xf16>
  %y = div %z, %e : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// 0 / tanh(0).
// CHECK: @tgt_zero_by_tanh: different: divides by zero at every point for output
mirage_kernel.graph @tgt_zero_by_tanh(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_zero} {
  %z = sub %a, %a : tensor<4x6xf16>, tensor<4x6xf16>
  %e = tanh %z : tensor<4x6xf16>
  %y = div %z, %e : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// 0 rsqrt(0).
// CHECK: @tgt_zero_by_root: different: divides by zero at every point for output
mirage_kernel.graph @tgt_zero_by_root(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_zero} {
  %z = sub %a, %a : tensor<4x6xf16>, tensor<4x6xf16>
  %e = rsqrt %z : tensor<4x6xf16>
  %y = mul %z, %e : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// 0 / log(1).
// CHECK: @tgt_zero_by_log: different: divides by zero at every point for output
mirage_kernel.graph @tgt_zero_by_log(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_zero} {
  %one = constant 1.0 : tensor<f16>
  %z = sub %a, %a : tensor<4x6xf16>, tensor<4x6xf16>
  %s = add %z, %one : tensor<4x6xf16>, tensor<f16>
  %e = log %s : tensor<4x6xf16>
  %y = div %z, %e : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// 0 log(0).
// CHECK: @tgt_zero_times_log: different: divides by zero at every point for output
mirage_kernel.graph @tgt_zero_times_log(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_zero} {
  %z = sub %a, %a : tensor<4x6xf16>, tensor<4x6xf16>
  %e = log %z : tensor<4x6xf16>
  %y = mul %z, %e : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// 0 / (1 - exp(exp(a) - exp(a))): an exponential of exponentials.
// CHECK: @tgt_zero_by_exponentials: different: divides by zero at every point for output
mirage_kernel.graph @tgt_zero_by_exponentials(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_zero} {
  %one = constant 1.0 : tensor<f16>
  %z = sub %a, %a : tensor<4x6xf16>, tensor<4x6xf16>
  %e = exp %a : tensor<4x6xf16>
  %n = sub %e, %e : tensor<4x6xf16>, tensor<4x6xf16>
  %f = exp %n : tensor<4x6xf16>
  %d = sub %f, %one : tensor<4x6xf16>, tensor<f16>
  %y = div %z, %d : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// erf(0) tanh(0) + sqrt(0) + log(1) + (sqrt(1) - 1).
// CHECK: @tgt_zero_sum: equivalent to @src_zero;
mirage_kernel.graph @tgt_zero_sum(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_zero} {
  %one = constant 1.0 : tensor<f16>
  %z = sub %a, %a : tensor<4x6xf16>, tensor<4x6xf16>
  %i = add %z, %one : tensor<4x6xf16>, tensor<f16>
  %e = erf %z : tensor<4x6xf16>
  %t = tanh %z : tensor<4x6xf16>
  %et = mul %e, %t : tensor<4x6xf16>, tensor<4x6xf16>
  %r = sqrt %z : tensor<4x6xf16>
  %l = log %i : tensor<4x6xf16>
  %q = sqrt %i : tensor<4x6xf16>
  %s = add %et, %r : tensor<4x6xf16>, tensor<4x6xf16>
  %u = add %s, %l : tensor<4x6xf16>, tensor<4x6xf16>
  %v = sub %q, %one : tensor<4x6xf16>, tensor<f16>
  %y = add %u, %v : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// erf(1): a number, but not one that is known.
// CHECK: @tgt_zero_erf_of_one: different at output
mirage_kernel.graph @tgt_zero_erf_of_one(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_zero} {
  %one = constant 1.0 : tensor<f16>
  %z = sub %a, %a : tensor<4x6xf16>, tensor<4x6xf16>
  %i = add %z, %one : tensor<4x6xf16>, tensor<f16>
  %y = erf %i : tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}
