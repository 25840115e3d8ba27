mirage_kernel.graph @lowrank(%x: tensor<8x4096xf16>, %a: tensor<4096x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x4096xf16>) -> tensor<8x4096xf16> {
  %v1 = matmul %x, %a : tensor<8x4096xf16>, tensor<4096x64xf16>
  %v2 = matmul %v1, %b : tensor<8x64xf16>, tensor<64x64xf16>
  %v3 = matmul %v2, %c : tensor<8x64xf16>, tensor<64x4096xf16>
  return %v3 : tensor<8x4096xf16>
}
