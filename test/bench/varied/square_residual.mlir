mirage_kernel.graph @square_residual(%x: tensor<16x1024xf16>, %w: tensor<1024x1024xf16>) -> tensor<16x1024xf16>
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 0.031>} {
  %s = matmul %x, %w : tensor<16x1024xf16>, tensor<1024x1024xf16>
  %y = add %s, %x : tensor<16x1024xf16>, tensor<16x1024xf16>
  return %y : tensor<16x1024xf16>
}
