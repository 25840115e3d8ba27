mirage_kernel.graph @mha_heads(%x: tensor<512x1024xf16>, %wq: tensor<1024x1024xf16>, %wk: tensor<1024x1024xf16>, %wv: tensor<1024x1024xf16>, %wo: tensor<1024x1024xf16>) -> tensor<512x1024xf16>
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 0.031, 0.031, 0.031, 0.031>} {
  %q0 = matmul %x, %wq : tensor<512x1024xf16>, tensor<1024x1024xf16>
  %q1 = reshape %q0 : tensor<512x1024xf16> -> tensor<512x16x64xf16>
  %q2 = transpose %q1 {perm = [1, 0, 2]} : tensor<512x16x64xf16>
  %k0 = matmul %x, %wk : tensor<512x1024xf16>, tensor<1024x1024xf16>
  %k1 = reshape %k0 : tensor<512x1024xf16> -> tensor<512x16x64xf16>
  %k2 = transpose %k1 {perm = [1, 0, 2]} : tensor<512x16x64xf16>
  %v0 = matmul %x, %wv : tensor<512x1024xf16>, tensor<1024x1024xf16>
  %v1 = reshape %v0 : tensor<512x1024xf16> -> tensor<512x16x64xf16>
  %v2 = transpose %v1 {perm = [1, 0, 2]} : tensor<512x16x64xf16>
  %o = scaled_dot_product_attention %q2, %k2, %v2 {scale = 0.125} : tensor<16x512x64xf16>, tensor<16x512x64xf16>, tensor<16x512x64xf16>
  %o1 = transpose %o {perm = [1, 0, 2]} : tensor<16x512x64xf16>
  %o2 = reshape %o1 : tensor<512x16x64xf16> -> tensor<512x1024xf16>
  %y = matmul %o2, %wo : tensor<512x1024xf16>, tensor<1024x1024xf16>
  return %y : tensor<512x1024xf16>
}
