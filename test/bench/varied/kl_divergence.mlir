// Kullback-Leibler divergence of two softmax, from logits.
mirage_kernel.graph @kl_divergence(%a: tensor<256x4096xf16>, %b: tensor<256x4096xf16>) -> tensor<256x1xf16> {
  %v1 = softmax %a {dim = 1} : tensor<256x4096xf16>
  %v2 = softmax %b {dim = 1} : tensor<256x4096xf16>
  %v3 = log %v1 : tensor<256x4096xf16>
  %v4 = log %v2 : tensor<256x4096xf16>
  %v5 = sub %v3, %v4 : tensor<256x4096xf16>, tensor<256x4096xf16>
  %v6 = mul %v1, %v5 : tensor<256x4096xf16>, tensor<256x4096xf16>
  %v7 = reduce_sum %v6 {dim = 1} : tensor<256x4096xf16>
  return %v7 : tensor<256x1xf16>
}
