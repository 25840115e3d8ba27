// Two programs, both with sugar.
mirage_kernel.graph @p(%x: tensor<8x16xf16>) -> tensor<8x16xf16> {
  %0 = softmax %x {dim = 1} : tensor<8x16xf16>
  return %0 : tensor<8x16xf16>
}
mirage_kernel.graph @q(%x: tensor<8x32xf16>, %w: tensor<32x32xf16>) -> tensor<8x32xf16> {
  %0 = rms_norm %x {eps = 0.0} : tensor<8x32xf16>
  %1 = matmul %0, %w : tensor<8x32xf16>, tensor<32x32xf16>
  return %1 : tensor<8x32xf16>
}
