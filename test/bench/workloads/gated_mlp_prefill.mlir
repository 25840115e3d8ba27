// The gated half of an MLP, silu(x w1) * (x w3).
mirage_kernel.graph @gated_mlp_prefill(%x: tensor<2048x4096xf16>, %w1: tensor<4096x4096xf16>, %w3: tensor<4096x4096xf16>) -> tensor<2048x4096xf16>
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 0.0156, 0.0156>} {
  %a = matmul %x, %w1 : tensor<2048x4096xf16>, tensor<4096x4096xf16>
  %b = matmul %x, %w3 : tensor<2048x4096xf16>, tensor<4096x4096xf16>
  %s = silu %a : tensor<2048x4096xf16>
  %y = mul %s, %b : tensor<2048x4096xf16>, tensor<2048x4096xf16>
  return %y : tensor<2048x4096xf16>
}
