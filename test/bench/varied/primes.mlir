mirage_kernel.graph @primes(%x: tensor<7x1009xf16>, %w: tensor<1009x2003xf16>) -> tensor<7x2003xf16> {
  %v1 = rms_norm %x {eps = 1.0e-05} : tensor<7x1009xf16>
  %v2 = matmul %v1, %w : tensor<7x1009xf16>, tensor<1009x2003xf16>
  %v3 = silu %v2 : tensor<7x2003xf16>
  return %v3 : tensor<7x2003xf16>
}
