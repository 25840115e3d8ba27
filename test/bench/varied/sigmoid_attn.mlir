mirage_kernel.graph @sigmoid_attn(%q: tensor<4x64x64xf16>, %k: tensor<4x64x2048xf16>, %v: tensor<4x2048x64xf16>) -> tensor<4x64x64xf16> {
  %v1 = matmul %q, %k : tensor<4x64x64xf16>, tensor<4x64x2048xf16>
  %v2 = sigmoid %v1 : tensor<4x64x2048xf16>
  %v3 = matmul %v2, %v : tensor<4x64x2048xf16>, tensor<4x2048x64xf16>
  return %v3 : tensor<4x64x64xf16>
}
