// Scores of all queries have a row of numbers added, which no tensor copy brings.
mirage_kernel.graph @attention_row(%q: tensor<32x1000x64xf16>, %k: tensor<32x1000x64xf16>, %v: tensor<32x1000x64xf16>, %m: tensor<32x1x1000xf16>) -> tensor<32x1000x64xf16>
    attributes {mirage_kernel.input_scales = array<f64: 0.125, 1.0, 1.0, 3.0>} {
  %s = matmul %q, %k {transpose_b} : tensor<32x1000x64xf16>, tensor<32x1000x64xf16>
  %a = add %s, %m : tensor<32x1000x1000xf16>, tensor<32x1x1000xf16>
  %p = softmax %a {dim = 2} : tensor<32x1000x1000xf16>
  %y = matmul %p, %v : tensor<32x1000x1000xf16>, tensor<32x1000x64xf16>
  return %y : tensor<32x1000x64xf16>
}
