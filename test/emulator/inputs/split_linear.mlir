mirage_kernel.graph @split_linear(%x: tensor<16x2048xf16>, %w: tensor<2048x64xf16>, %b: tensor<64xf16>) -> tensor<16x64xf16> {
  %s = matmul %x, %w : tensor<16x2048xf16>, tensor<2048x64xf16>
  %y = add %s, %b : tensor<16x64xf16>, tensor<64xf16>
  return %y : tensor<16x64xf16>
}
