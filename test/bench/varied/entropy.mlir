mirage_kernel.graph @entropy(%x: tensor<64x2048xf16>) -> tensor<64x1xf16> {
  %v1 = softmax %x {dim = 1} : tensor<64x2048xf16>
  %v2 = log %v1 : tensor<64x2048xf16>
  %v3 = mul %v1, %v2 : tensor<64x2048xf16>, tensor<64x2048xf16>
  %v4 = reduce_sum %v3 {dim = 1} : tensor<64x2048xf16>
  %v5 = neg %v4 : tensor<64x1xf16>
  return %v5 : tensor<64x1xf16>
}
