mirage_kernel.graph @rope_like(%x: tensor<32x128xf16>, %c: tensor<32x64xf16>, %sn: tensor<32x64xf16>) -> tensor<32x128xf16> {
  %v1 = slice %x {dim = 1, begin = 0, end = 64} : tensor<32x128xf16>
  %v2 = slice %x {dim = 1, begin = 64, end = 128} : tensor<32x128xf16>
  %v3 = mul %v1, %c : tensor<32x64xf16>, tensor<32x64xf16>
  %v4 = mul %v2, %sn : tensor<32x64xf16>, tensor<32x64xf16>
  %v5 = sub %v3, %v4 : tensor<32x64xf16>, tensor<32x64xf16>
  %v6 = mul %v2, %c : tensor<32x64xf16>, tensor<32x64xf16>
  %v7 = mul %v1, %sn : tensor<32x64xf16>, tensor<32x64xf16>
  %v8 = add %v6, %v7 : tensor<32x64xf16>, tensor<32x64xf16>
  %v9 = concat %v5, %v8 {dim = 1} : tensor<32x64xf16>, tensor<32x64xf16>
  return %v9 : tensor<32x128xf16>
}
