// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// Equal in the reals, and still refused: these need a law of the function, and functions here are unknown ones. Safe, and said
// in lib/verify/README.md.

mirage_kernel.graph @src_log(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %p = mul %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %y = log %p : tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// log(a) + log(b).
// CHECK: @tgt_log_sum: different at output
mirage_kernel.graph @tgt_log_sum(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_log} {
  %p = log %a : tensor<4x6xf16>
  %q = log %b : tensor<4x6xf16>
  %y = add %p, %q : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

mirage_kernel.graph @src_tanh(%a: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %y = tanh %a : tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// -tanh(-a).
// CHECK: @tgt_tanh_odd: different at output
mirage_kernel.graph @tgt_tanh_odd(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_tanh} {
  %n = neg %a : tensor<4x6xf16>
  %t = tanh %n : tensor<4x6xf16>
  %y = neg %t : tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// 2 sigmoid(2 a) - 1.
// CHECK: @tgt_tanh_sigmoid: different at output
mirage_kernel.graph @tgt_tanh_sigmoid(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_tanh} {
  %two = constant 2.0 : tensor<f16>
  %one = constant 1.0 : tensor<f16>
  %b = mul %a, %two : tensor<4x6xf16>, tensor<f16>
  %s = sigmoid %b : tensor<4x6xf16>
  %t = mul %s, %two : tensor<4x6xf16>, tensor<f16>
  %y = sub %t, %one : tensor<4x6xf16>, tensor<f16>
  return %y : tensor<4x6xf16>
}

mirage_kernel.graph @src_root(%a: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %r = sqrt %a : tensor<4x6xf16>
  %y = mul %r, %r : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// a.
// CHECK: @tgt_root_square: different at output
mirage_kernel.graph @tgt_root_square(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_root} {
  %one = constant 1.0 : tensor<f16>
  %y = mul %a, %one : tensor<4x6xf16>, tensor<f16>
  return %y : tensor<4x6xf16>
}

mirage_kernel.graph @src_max(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %m = max %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %y = add %m, %c : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// max(a + c, b + c).
// CHECK: @tgt_max_shifted: different at output
mirage_kernel.graph @tgt_max_shifted(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_max} {
  %p = add %a, %c : tensor<4x6xf16>, tensor<4x6xf16>
  %q = add %b, %c : tensor<4x6xf16>, tensor<4x6xf16>
  %y = max %p, %q : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}
