// Products with rows that are no slabs of 64, beside what surrounds them in models: operands are swapped in some candidates.
mirage_kernel.graph @gated(%x: tensor<36x256xf16>, %v: tensor<256x1024xf16>, %w: tensor<256x1024xf16>) -> tensor<36x1024xf16>
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 0.1, 0.1>} {
  %a = matmul %x, %v : tensor<36x256xf16>, tensor<256x1024xf16>
  %s = silu %a : tensor<36x1024xf16>
  %b = matmul %x, %w : tensor<36x256xf16>, tensor<256x1024xf16>
  %y = mul %s, %b : tensor<36x1024xf16>, tensor<36x1024xf16>
  return %y : tensor<36x1024xf16>
}

mirage_kernel.graph @residual(%x: tensor<150x512xbf16>, %w: tensor<512x512xbf16>, %b: tensor<512xbf16>, %r: tensor<150x512xbf16>) -> tensor<150x512xbf16>
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 0.1, 1.0, 1.0>} {
  %p = matmul %x, %w : tensor<150x512xbf16>, tensor<512x512xbf16>
  %q = add %p, %b : tensor<150x512xbf16>, tensor<512xbf16>
  %y = add %q, %r : tensor<150x512xbf16>, tensor<150x512xbf16>
  return %y : tensor<150x512xbf16>
}

mirage_kernel.graph @by_rows(%x: tensor<5x512xf16>, %w: tensor<768x512xf16>) -> tensor<5x768xf16>
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 0.1>} {
  %y = matmul %x, %w {transpose_b} : tensor<5x512xf16>, tensor<768x512xf16>
  return %y : tensor<5x768xf16>
}
