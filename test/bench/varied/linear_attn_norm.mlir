// Linear attention with its normaliser: two products and a sum share exp(k).
mirage_kernel.graph @linear_attn_norm(%q: tensor<8x512x64xf16>, %k: tensor<8x2048x64xf16>, %v: tensor<8x2048x64xf16>) -> tensor<8x512x64xf16>
    attributes {mirage_kernel.input_scales = array<f64: 0.5, 0.5, 1.0>} {
  %v1 = exp %q : tensor<8x512x64xf16>
  %v2 = exp %k : tensor<8x2048x64xf16>
  %v3 = matmul %v2, %v {transpose_a} : tensor<8x2048x64xf16>, tensor<8x2048x64xf16>
  %v4 = reduce_sum %v2 {dim = 1} : tensor<8x2048x64xf16>
  %v5 = matmul %v1, %v3 : tensor<8x512x64xf16>, tensor<8x64x64xf16>
  %v6 = matmul %v1, %v4 {transpose_b} : tensor<8x512x64xf16>, tensor<8x1x64xf16>
  %v7 = div %v5, %v6 : tensor<8x512x64xf16>, tensor<8x512x1xf16>
  return %v7 : tensor<8x512x64xf16>
}
