mirage_kernel.graph @inputs20(%x0: tensor<32x1024xf16>, %x1: tensor<32x1024xf16>, %x2: tensor<32x1024xf16>, %x3: tensor<32x1024xf16>, %x4: tensor<32x1024xf16>, %x5: tensor<32x1024xf16>, %x6: tensor<32x1024xf16>, %x7: tensor<32x1024xf16>, %x8: tensor<32x1024xf16>, %x9: tensor<32x1024xf16>, %x10: tensor<32x1024xf16>, %x11: tensor<32x1024xf16>, %x12: tensor<32x1024xf16>, %x13: tensor<32x1024xf16>, %x14: tensor<32x1024xf16>, %x15: tensor<32x1024xf16>, %x16: tensor<32x1024xf16>, %x17: tensor<32x1024xf16>, %x18: tensor<32x1024xf16>, %x19: tensor<32x1024xf16>) -> tensor<32x1024xf16> {
  %v1 = add %x0, %x1 : tensor<32x1024xf16>, tensor<32x1024xf16>
  %v2 = add %v1, %x2 : tensor<32x1024xf16>, tensor<32x1024xf16>
  %v3 = add %v2, %x3 : tensor<32x1024xf16>, tensor<32x1024xf16>
  %v4 = add %v3, %x4 : tensor<32x1024xf16>, tensor<32x1024xf16>
  %v5 = add %v4, %x5 : tensor<32x1024xf16>, tensor<32x1024xf16>
  %v6 = add %v5, %x6 : tensor<32x1024xf16>, tensor<32x1024xf16>
  %v7 = add %v6, %x7 : tensor<32x1024xf16>, tensor<32x1024xf16>
  %v8 = add %v7, %x8 : tensor<32x1024xf16>, tensor<32x1024xf16>
  %v9 = add %v8, %x9 : tensor<32x1024xf16>, tensor<32x1024xf16>
  %v10 = add %v9, %x10 : tensor<32x1024xf16>, tensor<32x1024xf16>
  %v11 = add %v10, %x11 : tensor<32x1024xf16>, tensor<32x1024xf16>
  %v12 = add %v11, %x12 : tensor<32x1024xf16>, tensor<32x1024xf16>
  %v13 = add %v12, %x13 : tensor<32x1024xf16>, tensor<32x1024xf16>
  %v14 = add %v13, %x14 : tensor<32x1024xf16>, tensor<32x1024xf16>
  %v15 = add %v14, %x15 : tensor<32x1024xf16>, tensor<32x1024xf16>
  %v16 = add %v15, %x16 : tensor<32x1024xf16>, tensor<32x1024xf16>
  %v17 = add %v16, %x17 : tensor<32x1024xf16>, tensor<32x1024xf16>
  %v18 = add %v17, %x18 : tensor<32x1024xf16>, tensor<32x1024xf16>
  %v19 = add %v18, %x19 : tensor<32x1024xf16>, tensor<32x1024xf16>
  %v20 = relu %v19 : tensor<32x1024xf16>
  return %v20 : tensor<32x1024xf16>
}
