mirage_kernel.graph @softmax_wide(%x: tensor<8x65536xf16>) -> tensor<8x65536xf16> {
  %v1 = softmax %x {dim = 1} : tensor<8x65536xf16>
  return %v1 : tensor<8x65536xf16>
}
