mirage_kernel.graph @lone_matmul(%x: tensor<16x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<16x4096xf16> {
  %v1 = matmul %x, %w : tensor<16x4096xf16>, tensor<4096x4096xf16>
  return %v1 : tensor<16x4096xf16>
}
