mirage_kernel.graph @gqa_repeat(%x: tensor<512x2048xf16>, %wq: tensor<2048x2048xf16>, %wk: tensor<2048x512xf16>, %wv: tensor<2048x512xf16>, %wo: tensor<2048x2048xf16>) -> tensor<512x2048xf16>
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 0.022, 0.022, 0.022, 0.022>} {
  %q0 = matmul %x, %wq : tensor<512x2048xf16>, tensor<2048x2048xf16>
  %q1 = reshape %q0 : tensor<512x2048xf16> -> tensor<512x32x64xf16>
  %q2 = transpose %q1 {perm = [1, 0, 2]} : tensor<512x32x64xf16>
  %k0 = matmul %x, %wk : tensor<512x2048xf16>, tensor<2048x512xf16>
  %k1 = reshape %k0 : tensor<512x512xf16> -> tensor<512x8x64xf16>
  %k2 = transpose %k1 {perm = [1, 0, 2]} : tensor<512x8x64xf16>
  %v0 = matmul %x, %wv : tensor<512x2048xf16>, tensor<2048x512xf16>
  %v1 = reshape %v0 : tensor<512x512xf16> -> tensor<512x8x64xf16>
  %v2 = transpose %v1 {perm = [1, 0, 2]} : tensor<512x8x64xf16>
  %k3 = reshape %k2 : tensor<8x512x64xf16> -> tensor<8x1x512x64xf16>
  %k4 = repeat %k3 {dim = 1, times = 4} : tensor<8x1x512x64xf16>
  %k5 = reshape %k4 : tensor<8x4x512x64xf16> -> tensor<32x512x64xf16>
  %v3 = reshape %v2 : tensor<8x512x64xf16> -> tensor<8x1x512x64xf16>
  %v4 = repeat %v3 {dim = 1, times = 4} : tensor<8x1x512x64xf16>
  %v5 = reshape %v4 : tensor<8x4x512x64xf16> -> tensor<32x512x64xf16>
  %o = scaled_dot_product_attention %q2, %k5, %v5 {scale = 0.125} : tensor<32x512x64xf16>, tensor<32x512x64xf16>, tensor<32x512x64xf16>
  %o1 = transpose %o {perm = [1, 0, 2]} : tensor<32x512x64xf16>
  %o2 = reshape %o1 : tensor<512x32x64xf16> -> tensor<512x2048xf16>
  %y = matmul %o2, %wo : tensor<512x2048xf16>, tensor<2048x2048xf16>
  return %y : tensor<512x2048xf16>
}
