mirage_kernel.graph @repeat_kv(%q: tensor<32x16x128xf16>, %k: tensor<8x4096x128xf16>, %v: tensor<8x4096x128xf16>) -> tensor<32x16x128xf16>
    attributes {mirage_kernel.input_scales = array<f64: 0.35, 0.35, 1.0>} {
  %k3 = reshape %k : tensor<8x4096x128xf16> -> tensor<8x1x4096x128xf16>
  %k4 = repeat %k3 {dim = 1, times = 4} : tensor<8x1x4096x128xf16>
  %k5 = reshape %k4 : tensor<8x4x4096x128xf16> -> tensor<32x4096x128xf16>
  %v3 = reshape %v : tensor<8x4096x128xf16> -> tensor<8x1x4096x128xf16>
  %v4 = repeat %v3 {dim = 1, times = 4} : tensor<8x1x4096x128xf16>
  %v5 = reshape %v4 : tensor<8x4x4096x128xf16> -> tensor<32x4096x128xf16>
  %o = scaled_dot_product_attention %q, %k5, %v5 {scale = 0.125} : tensor<32x16x128xf16>, tensor<32x4096x128xf16>, tensor<32x4096x128xf16>
  return %o : tensor<32x16x128xf16>
}
