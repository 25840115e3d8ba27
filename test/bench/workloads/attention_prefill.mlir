// Attention, softmax(q k) v without a scale.
mirage_kernel.graph @attention_prefill(%q: tensor<32x4096x64xf16>, %k: tensor<32x64x4096xf16>, %v: tensor<32x4096x64xf16>) -> tensor<32x4096x64xf16>
    attributes {mirage_kernel.input_scales = array<f64: 0.125, 1.0, 1.0>} {
  %s = matmul %q, %k : tensor<32x4096x64xf16>, tensor<32x64x4096xf16>
  %p = softmax %s {dim = 2} : tensor<32x4096x4096xf16>
  %y = matmul %p, %v : tensor<32x4096x4096xf16>, tensor<32x4096x64xf16>
  return %y : tensor<32x4096x64xf16>
}
