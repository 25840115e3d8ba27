mirage_kernel.graph @wide(%x: tensor<2x4194304xf16>) -> tensor<2x4194304xf16> {
  %y = softmax %x {dim = 1} : tensor<2x4194304xf16>
  return %y : tensor<2x4194304xf16>
}
