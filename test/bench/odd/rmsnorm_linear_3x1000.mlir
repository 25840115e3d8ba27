// Three rows; 1000 columns in, 1000 out.
mirage_kernel.graph @rmsnorm_linear_3x1000(%x: tensor<3x1000xf16>, %g: tensor<1000xf16>, %w: tensor<1000x1000xf16>) -> tensor<3x1000xf16>
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 1.0, 0.03>} {
  %n = rms_norm %x, %g {eps = 0.0} : tensor<3x1000xf16>, tensor<1000xf16>
  %y = matmul %n, %w : tensor<3x1000xf16>, tensor<1000x1000xf16>
  return %y : tensor<3x1000xf16>
}
