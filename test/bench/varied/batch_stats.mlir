mirage_kernel.graph @batch_stats(%x: tensor<256x1024xf16>) -> (tensor<1x1024xf16>, tensor<1x1024xf16>) {
  %v1 = reduce_mean %x {dim = 0} : tensor<256x1024xf16>
  %v2 = sub %x, %v1 : tensor<256x1024xf16>, tensor<1x1024xf16>
  %v3 = mul %v2, %v2 : tensor<256x1024xf16>, tensor<256x1024xf16>
  %v4 = reduce_mean %v3 {dim = 0} : tensor<256x1024xf16>
  return %v1, %v4 : tensor<1x1024xf16>, tensor<1x1024xf16>
}
