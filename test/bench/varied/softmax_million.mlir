// One row of a million columns: what one block must not do alone.
mirage_kernel.graph @softmax_million(%x: tensor<1x1000000xf16>) -> tensor<1x1000000xf16> {
  %v1 = softmax %x {dim = 1} : tensor<1x1000000xf16>
  return %v1 : tensor<1x1000000xf16>
}
