// Seventeen rows.
mirage_kernel.graph @lora_17(%x: tensor<17x4096xf16>, %w: tensor<4096x4096xf16>, %a: tensor<4096x16xf16>, %b: tensor<16x4096xf16>) -> tensor<17x4096xf16>
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 0.0156, 0.0156, 0.25>} {
  %m = matmul %x, %w : tensor<17x4096xf16>, tensor<4096x4096xf16>
  %h = matmul %x, %a : tensor<17x4096xf16>, tensor<4096x16xf16>
  %l = matmul %h, %b : tensor<17x16xf16>, tensor<16x4096xf16>
  %y = add %m, %l : tensor<17x4096xf16>, tensor<17x4096xf16>
  return %y : tensor<17x4096xf16>
}
