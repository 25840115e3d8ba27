// Three rows, 1000 in, 4097 out.
mirage_kernel.graph @lora_3x1000(%x: tensor<3x1000xf16>, %w: tensor<1000x4097xf16>, %a: tensor<1000x16xf16>, %b: tensor<16x4097xf16>) -> tensor<3x4097xf16>
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 0.03, 0.03, 0.25>} {
  %m = matmul %x, %w : tensor<3x1000xf16>, tensor<1000x4097xf16>
  %h = matmul %x, %a : tensor<3x1000xf16>, tensor<1000x16xf16>
  %l = matmul %h, %b : tensor<3x16xf16>, tensor<16x4097xf16>
  %y = add %m, %l : tensor<3x4097xf16>, tensor<3x4097xf16>
  return %y : tensor<3x4097xf16>
}
