// Seventeen queries, 4095 keys.
mirage_kernel.graph @gqa_17x4095(%q: tensor<3x17x64xf16>, %k: tensor<3x64x4095xf16>, %v: tensor<3x4095x64xf16>) -> tensor<3x17x64xf16>
    attributes {mirage_kernel.input_scales = array<f64: 0.125, 1.0, 1.0>} {
  %s = matmul %q, %k : tensor<3x17x64xf16>, tensor<3x64x4095xf16>
  %p = softmax %s {dim = 2} : tensor<3x17x4095xf16>
  %y = matmul %p, %v : tensor<3x17x4095xf16>, tensor<3x4095x64xf16>
  return %y : tensor<3x17x64xf16>
}
