mirage_kernel.graph @swiglu_cat(%x: tensor<8x2048xf16>, %w: tensor<2048x8192xf16>) -> tensor<8x4096xf16> {
  %v1 = matmul %x, %w : tensor<8x2048xf16>, tensor<2048x8192xf16>
  %v2 = slice %v1 {dim = 1, begin = 0, end = 4096} : tensor<8x8192xf16>
  %v3 = slice %v1 {dim = 1, begin = 4096, end = 8192} : tensor<8x8192xf16>
  %v4 = silu %v2 : tensor<8x4096xf16>
  %v5 = mul %v4, %v3 : tensor<8x4096xf16>, tensor<8x4096xf16>
  return %v5 : tensor<8x4096xf16>
}
