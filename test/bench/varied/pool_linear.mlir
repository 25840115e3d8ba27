mirage_kernel.graph @pool_linear(%x: tensor<8x512x1024xf16>, %w: tensor<1024x256xf16>) -> tensor<8x1x256xf16> {
  %v1 = reduce_mean %x {dim = 1} : tensor<8x512x1024xf16>
  %v2 = matmul %v1, %w : tensor<8x1x1024xf16>, tensor<1024x256xf16>
  return %v2 : tensor<8x1x256xf16>
}
