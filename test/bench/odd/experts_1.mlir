// Three experts of one token each.
mirage_kernel.graph @experts_1(%x: tensor<3x1x1000xf16>, %a: tensor<3x1000x1000xf16>, %b: tensor<3x1000x1000xf16>) -> tensor<3x1x1000xf16>
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 0.03, 0.03>} {
  %h = matmul %x, %a : tensor<3x1x1000xf16>, tensor<3x1000x1000xf16>
  %s = silu %h : tensor<3x1x1000xf16>
  %y = matmul %s, %b : tensor<3x1x1000xf16>, tensor<3x1000x1000xf16>
  return %y : tensor<3x1x1000xf16>
}
