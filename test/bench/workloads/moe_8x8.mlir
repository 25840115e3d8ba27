// Eight experts of eight tokens each, silu(x a) b.
mirage_kernel.graph @moe_8x8(%x: tensor<8x8x4096xf16>, %a: tensor<8x4096x4096xf16>, %b: tensor<8x4096x4096xf16>) -> tensor<8x8x4096xf16>
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 0.0156, 0.0156>} {
  %h = matmul %x, %a : tensor<8x8x4096xf16>, tensor<8x4096x4096xf16>
  %s = silu %h : tensor<8x8x4096xf16>
  %y = matmul %s, %b : tensor<8x8x4096xf16>, tensor<8x4096x4096xf16>
  return %y : tensor<8x8x4096xf16>
}
