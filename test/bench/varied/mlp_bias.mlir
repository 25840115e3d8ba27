mirage_kernel.graph @mlp_bias(%x: tensor<16x1024xf16>, %w: tensor<1024x4096xf16>, %b: tensor<4096xf16>, %w2: tensor<4096x1024xf16>, %b2: tensor<1024xf16>) -> tensor<16x1024xf16>
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 0.031, 1.0, 0.016, 1.0>} {
  %v1 = matmul %x, %w : tensor<16x1024xf16>, tensor<1024x4096xf16>
  %v2 = add %v1, %b : tensor<16x4096xf16>, tensor<4096xf16>
  %v3 = relu %v2 : tensor<16x4096xf16>
  %v4 = matmul %v3, %w2 : tensor<16x4096xf16>, tensor<4096x1024xf16>
  %v5 = add %v4, %b2 : tensor<16x1024xf16>, tensor<1024xf16>
  return %v5 : tensor<16x1024xf16>
}
