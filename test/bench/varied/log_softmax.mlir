mirage_kernel.graph @log_softmax(%x: tensor<64x4096xf16>) -> tensor<64x4096xf16> {
  %v1 = reduce_max %x {dim = 1} : tensor<64x4096xf16>
  %v2 = sub %x, %v1 : tensor<64x4096xf16>, tensor<64x1xf16>
  %v3 = exp %v2 : tensor<64x4096xf16>
  %v4 = reduce_sum %v3 {dim = 1} : tensor<64x4096xf16>
  %v5 = log %v4 : tensor<64x1xf16>
  %v6 = sub %v2, %v5 : tensor<64x4096xf16>, tensor<64x1xf16>
  return %v6 : tensor<64x4096xf16>
}
