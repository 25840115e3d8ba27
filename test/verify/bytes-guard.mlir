// RUN: mirage-mlir-opt %s --mirage-verify=explain -o /dev/null 2>&1 | FileCheck %s
// What is the same in the reals, and what rounding makes of it where bytes are multiplied.

mirage_kernel.graph @src(%x: tensor<16x256xi8>, %w: tensor<256x16xi8>, %s: tensor<16xf32>) -> tensor<16x16xf32> {
  %p = matmul %x, %w : tensor<16x256xi8>, tensor<256x16xi8>
  %f = cast %p : tensor<16x16xi32> -> tensor<16x16xf32>
  %y = mul %f, %s : tensor<16x16xf32>, tensor<16xf32>
  return %y : tensor<16x16xf32>
}

// As bf16, which every i8 is, added up in f32.
// CHECK: @tgt_numbers: equivalent to @src;
mirage_kernel.graph @tgt_numbers(%x: tensor<16x256xi8>, %w: tensor<256x16xi8>, %s: tensor<16xf32>) -> tensor<16x16xf32> attributes {source = @src} {
  %a = cast %x : tensor<16x256xi8> -> tensor<16x256xbf16>
  %b = cast %w : tensor<256x16xi8> -> tensor<256x16xbf16>
  %f = matmul %a, %b : tensor<16x256xbf16>, tensor<256x16xbf16> -> tensor<16x16xf32>
  %y = mul %f, %s : tensor<16x16xf32>, tensor<16xf32>
  return %y : tensor<16x16xf32>
}

// The scale in weights of f32: a rounding for each product, where the program has two in all.
// CHECK: @tgt_weights: inaccurate:
mirage_kernel.graph @tgt_weights(%x: tensor<16x256xi8>, %w: tensor<256x16xi8>, %s: tensor<16xf32>) -> tensor<16x16xf32> attributes {source = @src} {
  %b = cast %w : tensor<256x16xi8> -> tensor<256x16xf32>
  %c = mul %b, %s : tensor<256x16xf32>, tensor<16xf32>
  %a = cast %x : tensor<16x256xi8> -> tensor<16x256xf32>
  %y = matmul %a, %c : tensor<16x256xf32>, tensor<256x16xf32>
  return %y : tensor<16x16xf32>
}

// Sums go beyond what an f16 holds.
// CHECK: @tgt_half_sum: inaccurate:
mirage_kernel.graph @tgt_half_sum(%x: tensor<16x256xi8>, %w: tensor<256x16xi8>, %s: tensor<16xf32>) -> tensor<16x16xf32> attributes {source = @src} {
  %p = matmul %x, %w : tensor<16x256xi8>, tensor<256x16xi8>
  %h = cast %p : tensor<16x16xi32> -> tensor<16x16xf16>
  %f = cast %h : tensor<16x16xf16> -> tensor<16x16xf32>
  %y = mul %f, %s : tensor<16x16xf32>, tensor<16xf32>
  return %y : tensor<16x16xf32>
}

// A bf16 holds them, but for 16 of their bits.
// CHECK: @tgt_bf16_sum: inaccurate:
mirage_kernel.graph @tgt_bf16_sum(%x: tensor<16x256xi8>, %w: tensor<256x16xi8>, %s: tensor<16xf32>) -> tensor<16x16xf32> attributes {source = @src} {
  %p = matmul %x, %w : tensor<16x256xi8>, tensor<256x16xi8>
  %h = cast %p : tensor<16x16xi32> -> tensor<16x16xbf16>
  %f = cast %h : tensor<16x16xbf16> -> tensor<16x16xf32>
  %y = mul %f, %s : tensor<16x16xf32>, tensor<16xf32>
  return %y : tensor<16x16xf32>
}

// The same where the product itself is of f16.
// CHECK: @tgt_half_product: inaccurate:
mirage_kernel.graph @tgt_half_product(%x: tensor<16x256xi8>, %w: tensor<256x16xi8>, %s: tensor<16xf32>) -> tensor<16x16xf32> attributes {source = @src} {
  %a = cast %x : tensor<16x256xi8> -> tensor<16x256xf16>
  %b = cast %w : tensor<256x16xi8> -> tensor<256x16xf16>
  %h = matmul %a, %b : tensor<16x256xf16>, tensor<256x16xf16>
  %f = cast %h : tensor<16x16xf16> -> tensor<16x16xf32>
  %y = mul %f, %s : tensor<16x16xf32>, tensor<16xf32>
  return %y : tensor<16x16xf32>
}

// A scale of which half is gone.
// CHECK: @tgt_half_scale: inaccurate:
mirage_kernel.graph @tgt_half_scale(%x: tensor<16x256xi8>, %w: tensor<256x16xi8>, %s: tensor<16xf32>) -> tensor<16x16xf32> attributes {source = @src} {
  %p = matmul %x, %w : tensor<16x256xi8>, tensor<256x16xi8>
  %g = cast %p : tensor<16x16xi32> -> tensor<16x16xf32>
  %h = cast %s : tensor<16xf32> -> tensor<16xf16>
  %y = mul %g, %h : tensor<16x16xf32>, tensor<16xf16>
  return %y : tensor<16x16xf32>
}
