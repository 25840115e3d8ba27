mirage_kernel.graph @add_rms(%x: tensor<16x4096xf16>, %r: tensor<16x4096xf16>, %g: tensor<4096xf16>) -> (tensor<16x4096xf16>, tensor<16x4096xf16>) {
  %v1 = add %x, %r : tensor<16x4096xf16>, tensor<16x4096xf16>
  %v2 = rms_norm %v1, %g {eps = 1.0e-05} : tensor<16x4096xf16>, tensor<4096xf16>
  return %v1, %v2 : tensor<16x4096xf16>, tensor<16x4096xf16>
}
