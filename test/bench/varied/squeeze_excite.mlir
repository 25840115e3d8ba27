// Squeeze and excite: means over pixels gate the channels, through two small products from the left.
mirage_kernel.graph @squeeze_excite(%x: tensor<32x256x196xf16>, %w1: tensor<16x256xf16>, %w2: tensor<256x16xf16>) -> tensor<32x256x196xf16> {
  %v1 = reduce_mean %x {dim = 2} : tensor<32x256x196xf16>
  %v2 = matmul %w1, %v1 : tensor<16x256xf16>, tensor<32x256x1xf16>
  %v3 = relu %v2 : tensor<32x16x1xf16>
  %v4 = matmul %w2, %v3 : tensor<256x16xf16>, tensor<32x16x1xf16>
  %v5 = sigmoid %v4 : tensor<32x256x1xf16>
  %v6 = mul %x, %v5 : tensor<32x256x196xf16>, tensor<32x256x1xf16>
  return %v6 : tensor<32x256x196xf16>
}
