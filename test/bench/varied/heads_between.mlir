mirage_kernel.graph @heads_between(%q: tensor<2x2048x16x64xf16>, %k: tensor<2x2048x16x64xf16>, %v: tensor<2x2048x16x64xf16>) -> tensor<2x2048x16x64xf16> {
  %q1 = transpose %q {perm = [0, 2, 1, 3]} : tensor<2x2048x16x64xf16>
  %k1 = transpose %k {perm = [0, 2, 1, 3]} : tensor<2x2048x16x64xf16>
  %v1 = transpose %v {perm = [0, 2, 1, 3]} : tensor<2x2048x16x64xf16>
  %o = scaled_dot_product_attention %q1, %k1, %v1 {scale = 0.125} : tensor<2x16x2048x64xf16>, tensor<2x16x2048x64xf16>, tensor<2x16x2048x64xf16>
  %o1 = transpose %o {perm = [0, 2, 1, 3]} : tensor<2x16x2048x64xf16>
  return %o1 : tensor<2x2048x16x64xf16>
}
