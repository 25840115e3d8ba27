// No block holds a row, and one loop takes the statistics alone.
mirage_kernel.graph @wide(%x: tensor<8x1048576xf16>) -> tensor<8x1048576xf16> {
  %y = softmax %x {dim = 1} : tensor<8x1048576xf16>
  return %y : tensor<8x1048576xf16>
}
