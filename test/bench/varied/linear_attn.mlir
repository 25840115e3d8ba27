mirage_kernel.graph @linear_attn(%q: tensor<4x512x64xf16>, %k: tensor<4x64x2048xf16>, %v: tensor<4x2048x64xf16>) -> tensor<4x512x64xf16>
    attributes {mirage_kernel.input_scales = array<f64: 0.5, 0.5, 1.0>} {
  %v1 = exp %k : tensor<4x64x2048xf16>
  %v2 = matmul %v1, %v : tensor<4x64x2048xf16>, tensor<4x2048x64xf16>
  %v3 = exp %q : tensor<4x512x64xf16>
  %v4 = matmul %v3, %v2 : tensor<4x512x64xf16>, tensor<4x64x64xf16>
  return %v4 : tensor<4x512x64xf16>
}
