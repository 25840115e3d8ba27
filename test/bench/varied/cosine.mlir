mirage_kernel.graph @cosine(%a: tensor<64x4096xf16>, %b: tensor<64x4096xf16>) -> tensor<64x1xf16> {
  %v1 = mul %a, %b : tensor<64x4096xf16>, tensor<64x4096xf16>
  %v2 = reduce_sum %v1 {dim = 1} : tensor<64x4096xf16>
  %v3 = mul %a, %a : tensor<64x4096xf16>, tensor<64x4096xf16>
  %v4 = reduce_sum %v3 {dim = 1} : tensor<64x4096xf16>
  %v5 = sqrt %v4 : tensor<64x1xf16>
  %v6 = mul %b, %b : tensor<64x4096xf16>, tensor<64x4096xf16>
  %v7 = reduce_sum %v6 {dim = 1} : tensor<64x4096xf16>
  %v8 = sqrt %v7 : tensor<64x1xf16>
  %v9 = mul %v5, %v8 : tensor<64x1xf16>, tensor<64x1xf16>
  %v10 = div %v2, %v9 : tensor<64x1xf16>, tensor<64x1xf16>
  return %v10 : tensor<64x1xf16>
}
