// Three rows, 4097 in, 1000 out.
mirage_kernel.graph @gated_mlp_3x4097(%x: tensor<3x4097xf16>, %w1: tensor<4097x1000xf16>, %w3: tensor<4097x1000xf16>) -> tensor<3x1000xf16>
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 0.0156, 0.0156>} {
  %a = matmul %x, %w1 : tensor<3x4097xf16>, tensor<4097x1000xf16>
  %s = silu %a : tensor<3x1000xf16>
  %b = matmul %x, %w3 : tensor<3x4097xf16>, tensor<4097x1000xf16>
  %y = mul %s, %b : tensor<3x1000xf16>, tensor<3x1000xf16>
  return %y : tensor<3x1000xf16>
}
