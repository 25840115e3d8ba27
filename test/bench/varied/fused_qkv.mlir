mirage_kernel.graph @fused_qkv(%x: tensor<1024x1024xf16>, %w: tensor<1024x3072xf16>) -> tensor<1024x1024xf16>
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 0.031>} {
  %p = matmul %x, %w : tensor<1024x1024xf16>, tensor<1024x3072xf16>
  %q0 = slice %p {dim = 1, begin = 0, end = 1024} : tensor<1024x3072xf16>
  %q1 = reshape %q0 : tensor<1024x1024xf16> -> tensor<1024x16x64xf16>
  %q2 = transpose %q1 {perm = [1, 0, 2]} : tensor<1024x16x64xf16>
  %k0 = slice %p {dim = 1, begin = 1024, end = 2048} : tensor<1024x3072xf16>
  %k1 = reshape %k0 : tensor<1024x1024xf16> -> tensor<1024x16x64xf16>
  %k2 = transpose %k1 {perm = [1, 0, 2]} : tensor<1024x16x64xf16>
  %v0 = slice %p {dim = 1, begin = 2048, end = 3072} : tensor<1024x3072xf16>
  %v1 = reshape %v0 : tensor<1024x1024xf16> -> tensor<1024x16x64xf16>
  %v2 = transpose %v1 {perm = [1, 0, 2]} : tensor<1024x16x64xf16>
  %o = scaled_dot_product_attention %q2, %k2, %v2 {scale = 0.125} : tensor<16x1024x64xf16>, tensor<16x1024x64xf16>, tensor<16x1024x64xf16>
  %o1 = transpose %o {perm = [1, 0, 2]} : tensor<16x1024x64xf16>
  %o2 = reshape %o1 : tensor<1024x16x64xf16> -> tensor<1024x1024xf16>
  return %o2 : tensor<1024x1024xf16>
}
