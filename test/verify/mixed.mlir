// RUN: mirage-mlir-opt %s --mirage-verify='explain' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain seed=7' -o /dev/null 2>&1 | FileCheck %s
// Results that a program keeps in f32: a candidate may round less, not more.

mirage_kernel.graph @src_product(%x: tensor<4x64xf16>, %w: tensor<64x8xf16>) -> tensor<4x8xf32> {
  %y = matmul %x, %w : tensor<4x64xf16>, tensor<64x8xf16> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK: @tgt_product_cast: equivalent to @src_product;
mirage_kernel.graph @tgt_product_cast(%x: tensor<4x64xf16>, %w: tensor<64x8xf16>) -> tensor<4x8xf32> attributes {source = @src_product} {
  %a = cast %x : tensor<4x64xf16> -> tensor<4x64xf32>
  %b = cast %w : tensor<64x8xf16> -> tensor<64x8xf32>
  %y = matmul %a, %b : tensor<4x64xf32>, tensor<64x8xf32>
  return %y : tensor<4x8xf32>
}

// In two halves, added in f32.
// CHECK: @tgt_product_halves: equivalent to @src_product;
mirage_kernel.graph @tgt_product_halves(%x: tensor<4x64xf16>, %w: tensor<64x8xf16>) -> tensor<4x8xf32> attributes {source = @src_product} {
  %x0 = slice %x {dim = 1, begin = 0, end = 32} : tensor<4x64xf16>
  %x1 = slice %x {dim = 1, begin = 32, end = 64} : tensor<4x64xf16>
  %w0 = slice %w {dim = 0, begin = 0, end = 32} : tensor<64x8xf16>
  %w1 = slice %w {dim = 0, begin = 32, end = 64} : tensor<64x8xf16>
  %a = matmul %x0, %w0 : tensor<4x32xf16>, tensor<32x8xf16> -> tensor<4x8xf32>
  %b = matmul %x1, %w1 : tensor<4x32xf16>, tensor<32x8xf16> -> tensor<4x8xf32>
  %y = add %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// Rounded to f16 where f32 was said.
// CHECK: @tgt_product_rounded: inaccurate:
mirage_kernel.graph @tgt_product_rounded(%x: tensor<4x64xf16>, %w: tensor<64x8xf16>) -> tensor<4x8xf32> attributes {source = @src_product} {
  %p = matmul %x, %w : tensor<4x64xf16>, tensor<64x8xf16>
  %y = cast %p : tensor<4x8xf16> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// Halves that are f16.
// CHECK: @tgt_product_rounded_halves: inaccurate:
mirage_kernel.graph @tgt_product_rounded_halves(%x: tensor<4x64xf16>, %w: tensor<64x8xf16>) -> tensor<4x8xf32> attributes {source = @src_product} {
  %x0 = slice %x {dim = 1, begin = 0, end = 32} : tensor<4x64xf16>
  %x1 = slice %x {dim = 1, begin = 32, end = 64} : tensor<4x64xf16>
  %w0 = slice %w {dim = 0, begin = 0, end = 32} : tensor<64x8xf16>
  %w1 = slice %w {dim = 0, begin = 32, end = 64} : tensor<64x8xf16>
  %a = matmul %x0, %w0 : tensor<4x32xf16>, tensor<32x8xf16>
  %b = matmul %x1, %w1 : tensor<4x32xf16>, tensor<32x8xf16> -> tensor<4x8xf32>
  %y = add %a, %b : tensor<4x8xf16>, tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// A chain in f32 between f16 ends.
mirage_kernel.graph @src_chain(%x: tensor<4x64xf16>, %w: tensor<64x8xf16>) -> tensor<4x8xf16> {
  %p = matmul %x, %w : tensor<4x64xf16>, tensor<64x8xf16> -> tensor<4x8xf32>
  %m = reduce_mean %p {dim = 1} : tensor<4x8xf32>
  %c = sub %p, %m : tensor<4x8xf32>, tensor<4x1xf32>
  %y = cast %c : tensor<4x8xf32> -> tensor<4x8xf16>
  return %y : tensor<4x8xf16>
}

// CHECK: @tgt_chain_same: equivalent to @src_chain;
mirage_kernel.graph @tgt_chain_same(%x: tensor<4x64xf16>, %w: tensor<64x8xf16>) -> tensor<4x8xf16> attributes {source = @src_chain} {
  %p = matmul %x, %w : tensor<4x64xf16>, tensor<64x8xf16> -> tensor<4x8xf32>
  %s = reduce_sum %p {dim = 1} : tensor<4x8xf32>
  %n = constant 8.0 : tensor<f32>
  %m = div %s, %n : tensor<4x1xf32>, tensor<f32>
  %c = sub %p, %m : tensor<4x8xf32>, tensor<4x1xf32>
  %y = cast %c : tensor<4x8xf32> -> tensor<4x8xf16>
  return %y : tensor<4x8xf16>
}

// The mean of what is rounded, taken off what is not.
// CHECK: @tgt_chain_rounded: inaccurate:
mirage_kernel.graph @tgt_chain_rounded(%x: tensor<4x64xf16>, %w: tensor<64x8xf16>) -> tensor<4x8xf16> attributes {source = @src_chain} {
  %p = matmul %x, %w : tensor<4x64xf16>, tensor<64x8xf16>
  %m = reduce_mean %p {dim = 1} : tensor<4x8xf16>
  %y = sub %p, %m : tensor<4x8xf16>, tensor<4x1xf16>
  return %y : tensor<4x8xf16>
}

// Equal but for a type is not equal where values differ.
// CHECK: @tgt_chain_sum: different at output
mirage_kernel.graph @tgt_chain_sum(%x: tensor<4x64xf16>, %w: tensor<64x8xf16>) -> tensor<4x8xf16> attributes {source = @src_chain} {
  %p = matmul %x, %w : tensor<4x64xf16>, tensor<64x8xf16> -> tensor<4x8xf32>
  %m = reduce_sum %p {dim = 1} : tensor<4x8xf32>
  %c = sub %p, %m : tensor<4x8xf32>, tensor<4x1xf32>
  %y = cast %c : tensor<4x8xf32> -> tensor<4x8xf16>
  return %y : tensor<4x8xf16>
}

mirage_kernel.graph @src_sum(%x: tensor<4x512xbf16>) -> tensor<4x1xf32> {
  %y = reduce_sum %x {dim = 1} : tensor<4x512xbf16> -> tensor<4x1xf32>
  return %y : tensor<4x1xf32>
}

// CHECK: @tgt_sum_product: equivalent to @src_sum;
mirage_kernel.graph @tgt_sum_product(%x: tensor<4x512xbf16>) -> tensor<4x1xf32> attributes {source = @src_sum} {
  %one = constant 1.0 : tensor<512x1xbf16>
  %y = matmul %x, %one : tensor<4x512xbf16>, tensor<512x1xbf16> -> tensor<4x1xf32>
  return %y : tensor<4x1xf32>
}

// CHECK: @tgt_sum_rounded: inaccurate:
mirage_kernel.graph @tgt_sum_rounded(%x: tensor<4x512xbf16>) -> tensor<4x1xf32> attributes {source = @src_sum} {
  %s = reduce_sum %x {dim = 1} : tensor<4x512xbf16>
  %y = cast %s : tensor<4x1xbf16> -> tensor<4x1xf32>
  return %y : tensor<4x1xf32>
}

// CHECK: @tgt_sum_mean: different at output
mirage_kernel.graph @tgt_sum_mean(%x: tensor<4x512xbf16>) -> tensor<4x1xf32> attributes {source = @src_sum} {
  %y = reduce_mean %x {dim = 1} : tensor<4x512xbf16> -> tensor<4x1xf32>
  return %y : tensor<4x1xf32>
}
