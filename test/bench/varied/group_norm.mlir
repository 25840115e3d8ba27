mirage_kernel.graph @group_norm(%x: tensor<8x32x4096xf16>) -> tensor<8x32x4096xf16> {
  %v1 = reduce_mean %x {dim = 2} : tensor<8x32x4096xf16>
  %v2 = sub %x, %v1 : tensor<8x32x4096xf16>, tensor<8x32x1xf16>
  %v3 = mul %v2, %v2 : tensor<8x32x4096xf16>, tensor<8x32x4096xf16>
  %v4 = reduce_mean %v3 {dim = 2} : tensor<8x32x4096xf16>
  %v5 = constant 1.0e-5 : tensor<f16>
  %v6 = add %v4, %v5 : tensor<8x32x1xf16>, tensor<f16>
  %v7 = sqrt %v6 : tensor<8x32x1xf16>
  %v8 = div %v2, %v7 : tensor<8x32x4096xf16>, tensor<8x32x1xf16>
  return %v8 : tensor<8x32x4096xf16>
}
