mirage_kernel.graph @reshaped(%x: tensor<16x64xf16>, %w: tensor<64x128xf16>) -> tensor<32x64xf16> {
  %y = matmul %x, %w : tensor<16x64xf16>, tensor<64x128xf16>
  %z = square %y : tensor<16x128xf16>
  %s = reshape %z : tensor<16x128xf16> -> tensor<32x64xf16>
  %e = exp %s : tensor<32x64xf16>
  return %e : tensor<32x64xf16>
}
