mirage_kernel.graph @a(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
  %y = exp %x : tensor<16x64xf16>
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @b(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
  %y = neg %x : tensor<16x64xf16>
  return %y : tensor<16x64xf16>
}
