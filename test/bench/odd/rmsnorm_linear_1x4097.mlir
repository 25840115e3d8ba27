// One row of a prime-like 4097 elements.
mirage_kernel.graph @rmsnorm_linear_1x4097(%x: tensor<1x4097xf16>, %g: tensor<4097xf16>, %w: tensor<4097x6144xf16>) -> tensor<1x6144xf16>
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 1.0, 0.0156>} {
  %n = rms_norm %x, %g {eps = 0.0} : tensor<1x4097xf16>, tensor<4097xf16>
  %y = matmul %n, %w : tensor<1x4097xf16>, tensor<4097x6144xf16>
  return %y : tensor<1x6144xf16>
}
