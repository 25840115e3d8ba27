// A transformer block of one head: two norms, attention, a gated MLP, both residuals.
mirage_kernel.graph @transformer_block(%x: tensor<64x512xf16>, %wq: tensor<512x512xf16>, %wk: tensor<512x512xf16>, %wv: tensor<512x512xf16>, %wo: tensor<512x512xf16>, %w1: tensor<512x2048xf16>, %w2: tensor<2048x512xf16>, %g1: tensor<512xf16>, %g2: tensor<512xf16>) -> tensor<64x512xf16>
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 0.044, 0.044, 0.044, 0.044, 0.044, 0.022, 1.0, 1.0>} {
  %v1 = rms_norm %x, %g1 {eps = 1.0e-05} : tensor<64x512xf16>, tensor<512xf16>
  %v2 = matmul %v1, %wq : tensor<64x512xf16>, tensor<512x512xf16>
  %v3 = matmul %v1, %wk : tensor<64x512xf16>, tensor<512x512xf16>
  %v4 = matmul %v1, %wv : tensor<64x512xf16>, tensor<512x512xf16>
  %v5 = scaled_dot_product_attention %v2, %v3, %v4 {scale = 0.044} : tensor<64x512xf16>, tensor<64x512xf16>, tensor<64x512xf16>
  %v6 = matmul %v5, %wo : tensor<64x512xf16>, tensor<512x512xf16>
  %v7 = add %x, %v6 : tensor<64x512xf16>, tensor<64x512xf16>
  %v8 = rms_norm %v7, %g2 {eps = 1.0e-05} : tensor<64x512xf16>, tensor<512xf16>
  %v9 = matmul %v8, %w1 : tensor<64x512xf16>, tensor<512x2048xf16>
  %v10 = silu %v9 : tensor<64x2048xf16>
  %v11 = matmul %v10, %w2 : tensor<64x2048xf16>, tensor<2048x512xf16>
  %v12 = add %v7, %v11 : tensor<64x512xf16>, tensor<64x512xf16>
  return %v12 : tensor<64x512xf16>
}
