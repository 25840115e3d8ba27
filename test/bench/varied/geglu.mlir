mirage_kernel.graph @geglu(%x: tensor<8x2048xf16>, %w: tensor<2048x4096xf16>, %v: tensor<2048x4096xf16>) -> tensor<8x4096xf16> {
  %v1 = matmul %x, %w : tensor<8x2048xf16>, tensor<2048x4096xf16>
  %v2 = gelu %v1 : tensor<8x4096xf16>
  %v3 = matmul %x, %v : tensor<8x2048xf16>, tensor<2048x4096xf16>
  %v4 = mul %v2, %v3 : tensor<8x4096xf16>, tensor<8x4096xf16>
  return %v4 : tensor<8x4096xf16>
}
