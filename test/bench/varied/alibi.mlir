// Attention with linear biases: a slope a head times the key's position, added to the scores.
mirage_kernel.graph @alibi(%q: tensor<8x16x64xf16>, %k: tensor<8x64x1024xf16>, %v: tensor<8x1024x64xf16>, %slope: tensor<8x1x1xf16>, %pos: tensor<1x1x1024xf16>) -> tensor<8x16x64xf16> attributes {mirage_kernel.input_scales = array<f64: 1.0, 1.0, 1.0, 0.1, 1.0>} {
  %v1 = matmul %q, %k : tensor<8x16x64xf16>, tensor<8x64x1024xf16>
  %v2 = constant 0.125 : tensor<1x1x1xf16>
  %v3 = mul %v1, %v2 : tensor<8x16x1024xf16>, tensor<1x1x1xf16>
  %v4 = mul %slope, %pos : tensor<8x1x1xf16>, tensor<1x1x1024xf16>
  %v5 = add %v3, %v4 : tensor<8x16x1024xf16>, tensor<8x1x1024xf16>
  %v6 = softmax %v5 {dim = 2} : tensor<8x16x1024xf16>
  %v7 = matmul %v6, %v : tensor<8x16x1024xf16>, tensor<8x1024x64xf16>
  return %v7 : tensor<8x16x64xf16>
}
