mirage_kernel.graph @self_attn(%x: tensor<2048x64xf16>) -> tensor<2048x64xf16>
    attributes {mirage_kernel.input_scales = array<f64: 0.35>} {
  %s = matmul %x, %x {transpose_b} : tensor<2048x64xf16>, tensor<2048x64xf16>
  %p = softmax %s {dim = 1} : tensor<2048x2048xf16>
  %y = matmul %p, %x : tensor<2048x2048xf16>, tensor<2048x64xf16>
  return %y : tensor<2048x64xf16>
}
