// A linear layer whose weights and activations are i8, with a scale for each token and each output: 16 tokens, 4096 to 4096.
//
//   build/bin/mirage-mlir-opt --mirage-superoptimize=target=h200 examples/w8a8_linear.mlir
//
// Four kernels become one: bytes are multiplied as they are, sums stay i32 up to the end of the loop, and are scaled before
// they are stored.
mirage_kernel.graph @w8a8_linear(%x: tensor<16x4096xi8>, %w: tensor<4096x4096xi8>, %sx: tensor<16x1xf32>, %sw: tensor<4096xf32>) -> tensor<16x4096xf16> {
  %sums = matmul %x, %w {transpose_b} : tensor<16x4096xi8>, tensor<4096x4096xi8>
  %numbers = cast %sums : tensor<16x4096xi32> -> tensor<16x4096xf32>
  %tokens = mul %numbers, %sx : tensor<16x4096xf32>, tensor<16x1xf32>
  %outputs = mul %tokens, %sw : tensor<16x4096xf32>, tensor<4096xf32>
  %y = cast %outputs : tensor<16x4096xf32> -> tensor<16x4096xf16>
  return %y : tensor<16x4096xf16>
}
