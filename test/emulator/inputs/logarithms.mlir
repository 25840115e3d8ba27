// A logarithm brings the dropped maximum back: log(sum(exp(x))) = m + log(sum(exp(x - m))).
mirage_kernel.graph @log_softmax(%x: tensor<8x96xf16>) -> tensor<8x96xf16> {
  %v1 = reduce_max %x {dim = 1} : tensor<8x96xf16>
  %v2 = sub %x, %v1 : tensor<8x96xf16>, tensor<8x1xf16>
  %v3 = exp %v2 : tensor<8x96xf16>
  %v4 = reduce_sum %v3 {dim = 1} : tensor<8x96xf16>
  %v5 = log %v4 : tensor<8x1xf16>
  %v6 = sub %v2, %v5 : tensor<8x96xf16>, tensor<8x1xf16>
  return %v6 : tensor<8x96xf16>
}
mirage_kernel.graph @logsumexp(%x: tensor<8x128xf16>) -> tensor<8x1xf16> {
  %v1 = reduce_max %x {dim = 1} : tensor<8x128xf16>
  %v2 = sub %x, %v1 : tensor<8x128xf16>, tensor<8x1xf16>
  %v3 = exp %v2 : tensor<8x128xf16>
  %v4 = reduce_sum %v3 {dim = 1} : tensor<8x128xf16>
  %v5 = log %v4 : tensor<8x1xf16>
  %v6 = add %v5, %v1 : tensor<8x1xf16>, tensor<8x1xf16>
  return %v6 : tensor<8x1xf16>
}
mirage_kernel.graph @cross_entropy(%x: tensor<8x128xf16>, %t: tensor<8x128xf16>) -> tensor<8x1xf16> {
  %v1 = reduce_max %x {dim = 1} : tensor<8x128xf16>
  %v2 = sub %x, %v1 : tensor<8x128xf16>, tensor<8x1xf16>
  %v3 = exp %v2 : tensor<8x128xf16>
  %v4 = reduce_sum %v3 {dim = 1} : tensor<8x128xf16>
  %v5 = log %v4 : tensor<8x1xf16>
  %v6 = sub %v2, %v5 : tensor<8x128xf16>, tensor<8x1xf16>
  %v7 = mul %t, %v6 : tensor<8x128xf16>, tensor<8x128xf16>
  %v8 = reduce_sum %v7 {dim = 1} : tensor<8x128xf16>
  %v9 = neg %v8 : tensor<8x1xf16>
  return %v9 : tensor<8x1xf16>
}
