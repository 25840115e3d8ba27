mirage_kernel.graph @softmax_v_res(%x: tensor<16x1024xf16>, %w: tensor<1024x512xf16>, %v: tensor<512x1024xf16>, %r: tensor<16x1024xf16>) -> tensor<16x1024xf16> {
  %v1 = matmul %x, %w : tensor<16x1024xf16>, tensor<1024x512xf16>
  %v2 = softmax %v1 {dim = 1} : tensor<16x512xf16>
  %v3 = matmul %v2, %v : tensor<16x512xf16>, tensor<512x1024xf16>
  %v4 = add %v3, %r : tensor<16x1024xf16>, tensor<16x1024xf16>
  return %v4 : tensor<16x1024xf16>
}
