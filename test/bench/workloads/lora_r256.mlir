// A linear layer with a low-rank correction, x w + (x a) b.
mirage_kernel.graph @lora_r256(%x: tensor<16x256xf16>, %w: tensor<256x4096xf16>, %a: tensor<256x16xf16>, %b: tensor<16x4096xf16>) -> tensor<16x4096xf16>
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 0.0625, 0.0625, 0.25>} {
  %xw = matmul %x, %w : tensor<16x256xf16>, tensor<256x4096xf16>
  %xa = matmul %x, %a : tensor<16x256xf16>, tensor<256x16xf16>
  %xab = matmul %xa, %b : tensor<16x16xf16>, tensor<16x4096xf16>
  %y = add %xw, %xab : tensor<16x4096xf16>, tensor<16x4096xf16>
  return %y : tensor<16x4096xf16>
}
