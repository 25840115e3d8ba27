mirage_kernel.graph @ln_linear_gelu(%x: tensor<16x1024xf16>, %g: tensor<1024xf16>, %b: tensor<1024xf16>, %w: tensor<1024x4096xf16>) -> tensor<16x4096xf16> {
  %v1 = layer_norm %x, %g, %b {eps = 1.0e-05} : tensor<16x1024xf16>, tensor<1024xf16>, tensor<1024xf16>
  %v2 = matmul %v1, %w : tensor<16x1024xf16>, tensor<1024x4096xf16>
  %v3 = gelu %v2 : tensor<16x4096xf16>
  return %v3 : tensor<16x4096xf16>
}
