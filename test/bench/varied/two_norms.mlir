mirage_kernel.graph @two_norms(%x: tensor<16x2048xf16>, %w: tensor<2048x2048xf16>) -> tensor<16x2048xf16> {
  %v1 = rms_norm %x {eps = 1.0e-05} : tensor<16x2048xf16>
  %v2 = matmul %v1, %w : tensor<16x2048xf16>, tensor<2048x2048xf16>
  %v3 = add %v2, %x : tensor<16x2048xf16>, tensor<16x2048xf16>
  %v4 = rms_norm %v3 {eps = 1.0e-05} : tensor<16x2048xf16>
  return %v4 : tensor<16x2048xf16>
}
