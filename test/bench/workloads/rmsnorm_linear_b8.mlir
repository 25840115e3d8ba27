// RMSNorm with gain, then a linear layer.
mirage_kernel.graph @rmsnorm_linear_b8(%x: tensor<16x4096xf16>, %g: tensor<4096xf16>, %w: tensor<4096x6144xf16>) -> tensor<16x6144xf16>
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 1.0, 0.0156>} {
  %n = rms_norm %x, %g {eps = 0.0} : tensor<16x4096xf16>, tensor<4096xf16>
  %y = matmul %n, %w : tensor<16x4096xf16>, tensor<4096x6144xf16>
  return %y : tensor<16x6144xf16>
}
