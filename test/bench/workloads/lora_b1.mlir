// A linear layer with a low-rank correction, x w + (x a) b.
mirage_kernel.graph @lora_b1(%x: tensor<2x4096xf16>, %w: tensor<4096x4096xf16>, %a: tensor<4096x16xf16>, %b: tensor<16x4096xf16>) -> tensor<2x4096xf16>
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 0.0156, 0.0156, 0.25>} {
  %xw = matmul %x, %w : tensor<2x4096xf16>, tensor<4096x4096xf16>
  %xa = matmul %x, %a : tensor<2x4096xf16>, tensor<4096x16xf16>
  %xab = matmul %xa, %b : tensor<2x16xf16>, tensor<16x4096xf16>
  %y = add %xw, %xab : tensor<2x4096xf16>, tensor<2x4096xf16>
  return %y : tensor<2x4096xf16>
}
