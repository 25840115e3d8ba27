mirage_kernel.graph @contrastive(%a: tensor<128x1024xf16>, %b: tensor<256x1024xf16>) -> tensor<128x256xf16> {
  %v1 = mul %a, %a : tensor<128x1024xf16>, tensor<128x1024xf16>
  %v2 = reduce_sum %v1 {dim = 1} : tensor<128x1024xf16>
  %v3 = sqrt %v2 : tensor<128x1xf16>
  %v4 = div %a, %v3 : tensor<128x1024xf16>, tensor<128x1xf16>
  %v5 = mul %b, %b : tensor<256x1024xf16>, tensor<256x1024xf16>
  %v6 = reduce_sum %v5 {dim = 1} : tensor<256x1024xf16>
  %v7 = sqrt %v6 : tensor<256x1xf16>
  %v8 = div %b, %v7 : tensor<256x1024xf16>, tensor<256x1xf16>
  %v9 = matmul %v4, %v8 {transpose_b} : tensor<128x1024xf16>, tensor<256x1024xf16>
  return %v9 : tensor<128x256xf16>
}
