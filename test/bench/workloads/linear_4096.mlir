// A linear layer.
mirage_kernel.graph @linear_4096(%x: tensor<4096x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 0.0156>} {
  %y = matmul %x, %w : tensor<4096x4096xf16>, tensor<4096x4096xf16>
  return %y : tensor<4096x4096xf16>
}
