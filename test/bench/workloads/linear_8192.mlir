// A linear layer.
mirage_kernel.graph @linear_8192(%x: tensor<8192x8192xf16>, %w: tensor<8192x8192xf16>) -> tensor<8192x8192xf16>
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 0.011>} {
  %y = matmul %x, %w : tensor<8192x8192xf16>, tensor<8192x8192xf16>
  return %y : tensor<8192x8192xf16>
}
