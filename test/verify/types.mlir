// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// Casts change no value here (rounding is the guard's business); shapes and constants do.

mirage_kernel.graph @src_f32(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> {
  %y = matmul %x, %w : tensor<4x8xf16>, tensor<8x6xf16>
  return %y : tensor<4x6xf16>
}

// In f32.
// CHECK: @tgt_f32_wide: equivalent to @src_f32;
mirage_kernel.graph @tgt_f32_wide(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> attributes {source = @src_f32} {
  %a = cast %x : tensor<4x8xf16> -> tensor<4x8xf32>
  %b = cast %w : tensor<8x6xf16> -> tensor<8x6xf32>
  %p = matmul %a, %b : tensor<4x8xf32>, tensor<8x6xf32>
  %y = cast %p : tensor<4x6xf32> -> tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// Through bf16.
// CHECK: @tgt_f32_narrow: equivalent to @src_f32;
mirage_kernel.graph @tgt_f32_narrow(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> attributes {source = @src_f32} {
  %a = cast %x : tensor<4x8xf16> -> tensor<4x8xbf16>
  %b = cast %w : tensor<8x6xf16> -> tensor<8x6xbf16>
  %p = matmul %a, %b : tensor<4x8xbf16>, tensor<8x6xbf16>
  %y = cast %p : tensor<4x6xbf16> -> tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// A cast that also scales.
// CHECK: @tgt_f32_scaled: different at output
mirage_kernel.graph @tgt_f32_scaled(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> attributes {source = @src_f32} {
  %a = cast %x : tensor<4x8xf16> -> tensor<4x8xf32>
  %b = cast %w : tensor<8x6xf16> -> tensor<8x6xf32>
  %k = constant 0.5 : tensor<f32>
  %p = matmul %a, %b : tensor<4x8xf32>, tensor<8x6xf32>
  %q = mul %p, %k : tensor<4x6xf32>, tensor<f32>
  %y = cast %q : tensor<4x6xf32> -> tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// The cast of the wrong value.
// CHECK: @tgt_f32_wrong_operand: different at output
mirage_kernel.graph @tgt_f32_wrong_operand(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> attributes {source = @src_f32} {
  %a = cast %x : tensor<4x8xf16> -> tensor<4x8xf32>
  %b = cast %w : tensor<8x6xf16> -> tensor<8x6xf32>
  %p = matmul %a, %b : tensor<4x8xf32>, tensor<8x6xf32>
  %z = sub %p, %p : tensor<4x6xf32>, tensor<4x6xf32>
  %y = cast %z : tensor<4x6xf32> -> tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

mirage_kernel.graph @src_third(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %k = constant 3.0 : tensor<f16>
  %y = div %x, %k : tensor<4x8xf16>, tensor<f16>
  return %y : tensor<4x8xf16>
}

// Three ninths.
// CHECK: @tgt_third_ninth: equivalent to @src_third;
mirage_kernel.graph @tgt_third_ninth(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_third} {
  %k = constant 9.0 : tensor<f16>
  %p = div %x, %k : tensor<4x8xf16>, tensor<f16>
  %q = add %p, %p : tensor<4x8xf16>, tensor<4x8xf16>
  %y = add %q, %p : tensor<4x8xf16>, tensor<4x8xf16>
  return %y : tensor<4x8xf16>
}

// 0.333333 is no third.
// CHECK: @tgt_third_decimal: different at output
mirage_kernel.graph @tgt_third_decimal(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_third} {
  %k = constant 0.333251953125 : tensor<f16>
  %y = mul %x, %k : tensor<4x8xf16>, tensor<f16>
  return %y : tensor<4x8xf16>
}

// 3 / x.
// CHECK: @tgt_third_upside_down: different at output
mirage_kernel.graph @tgt_third_upside_down(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_third} {
  %k = constant 3.0 : tensor<f16>
  %y = div %k, %x : tensor<f16>, tensor<4x8xf16>
  return %y : tensor<4x8xf16>
}

mirage_kernel.graph @src_zero(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %y = sub %x, %x : tensor<4x8xf16>, tensor<4x8xf16>
  return %y : tensor<4x8xf16>
}

// Zero, however it is written.
// CHECK: @tgt_zero_constant: equivalent to @src_zero;
mirage_kernel.graph @tgt_zero_constant(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_zero} {
  %z = constant 0.0 : tensor<f16>
  %y = mul %x, %z : tensor<4x8xf16>, tensor<f16>
  return %y : tensor<4x8xf16>
}

// Not quite zero.
// CHECK: @tgt_zero_tiny: different at output
mirage_kernel.graph @tgt_zero_tiny(%x: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @src_zero} {
  %z = constant 0.0009765625 : tensor<f16>
  %y = mul %x, %z : tensor<4x8xf16>, tensor<f16>
  return %y : tensor<4x8xf16>
}
