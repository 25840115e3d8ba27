// Attention, softmax(q k) v without a scale.
mirage_kernel.graph @gqa_b8(%q: tensor<16x256x64xf16>, %k: tensor<16x64x4096xf16>, %v: tensor<16x4096x64xf16>) -> tensor<16x256x64xf16>
    attributes {mirage_kernel.input_scales = array<f64: 0.125, 1.0, 1.0>} {
  %s = matmul %q, %k : tensor<16x256x64xf16>, tensor<16x64x4096xf16>
  %p = softmax %s {dim = 2} : tensor<16x256x4096xf16>
  %y = matmul %p, %v : tensor<16x256x4096xf16>, tensor<16x4096x64xf16>
  return %y : tensor<16x256x64xf16>
}
