mirage_kernel.graph @sliced(%x: tensor<16x64xf16>, %w: tensor<64x128xf16>) -> tensor<16x64xf16> {
  %y = matmul %x, %w : tensor<16x64xf16>, tensor<64x128xf16>
  %z = square %y : tensor<16x128xf16>
  %s = slice %z {dim = 1, begin = 0, end = 64} : tensor<16x128xf16>
  return %s : tensor<16x64xf16>
}
