mirage_kernel.graph @attn_bias(%q: tensor<8x128x64xf16>, %k: tensor<8x64x2048xf16>, %v: tensor<8x2048x64xf16>, %bias: tensor<8x128x2048xf16>) -> tensor<8x128x64xf16> {
  %v1 = constant 0.125 : tensor<f16>
  %v2 = matmul %q, %k : tensor<8x128x64xf16>, tensor<8x64x2048xf16>
  %v3 = mul %v2, %v1 : tensor<8x128x2048xf16>, tensor<f16>
  %v4 = add %v3, %bias : tensor<8x128x2048xf16>, tensor<8x128x2048xf16>
  %v5 = softmax %v4 {dim = 2} : tensor<8x128x2048xf16>
  %v6 = matmul %v5, %v : tensor<8x128x2048xf16>, tensor<8x2048x64xf16>
  return %v6 : tensor<8x128x64xf16>
}
