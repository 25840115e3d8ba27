mirage_kernel.graph @lone_add(%x: tensor<16x4096xf16>, %y: tensor<16x4096xf16>) -> tensor<16x4096xf16> {
  %v1 = add %x, %y : tensor<16x4096xf16>, tensor<16x4096xf16>
  return %v1 : tensor<16x4096xf16>
}
