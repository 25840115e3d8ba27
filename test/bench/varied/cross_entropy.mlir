// Cross entropy with targets in probabilities, its mean over the rows: a scalar.
mirage_kernel.graph @cross_entropy(%logits: tensor<256x8192xf16>, %targets: tensor<256x8192xf16>) -> tensor<1x1xf16> attributes {mirage_kernel.input_scales = array<f64: 1.0, 0.05>} {
  %v1 = reduce_max %logits {dim = 1} : tensor<256x8192xf16>
  %v2 = sub %logits, %v1 : tensor<256x8192xf16>, tensor<256x1xf16>
  %v3 = exp %v2 : tensor<256x8192xf16>
  %v4 = reduce_sum %v3 {dim = 1} : tensor<256x8192xf16>
  %v5 = log %v4 : tensor<256x1xf16>
  %v6 = add %v1, %v5 : tensor<256x1xf16>, tensor<256x1xf16>
  %v7 = mul %logits, %targets : tensor<256x8192xf16>, tensor<256x8192xf16>
  %v8 = reduce_sum %v7 {dim = 1} : tensor<256x8192xf16>
  %v9 = sub %v6, %v8 : tensor<256x1xf16>, tensor<256x1xf16>
  %v10 = reduce_mean %v9 {dim = 0} : tensor<256x1xf16>
  return %v10 : tensor<1x1xf16>
}
