mirage_kernel.graph @attention_out(%q: tensor<16x64xf16>, %k: tensor<256x64xf16>, %v: tensor<256x64xf16>,
                                   %o: tensor<64x32xf16>) -> tensor<16x32xf16> {
  %s = matmul %q, %k {transpose_b} : tensor<16x64xf16>, tensor<256x64xf16>
  %p = softmax %s {dim = 1} : tensor<16x256xf16>
  %a = matmul %p, %v : tensor<16x256xf16>, tensor<256x64xf16>
  %y = matmul %a, %o : tensor<16x64xf16>, tensor<64x32xf16>
  return %y : tensor<16x32xf16>
}
