// Three queries, 4095 keys, queries and keys normalised.
mirage_kernel.graph @qknorm_3x4095(%q: tensor<2x3x64xf16>, %k: tensor<2x4095x64xf16>, %v: tensor<2x4095x64xf16>) -> tensor<2x3x64xf16> {
  %qn = rms_norm %q {eps = 0.0} : tensor<2x3x64xf16>
  %kn = rms_norm %k {eps = 0.0} : tensor<2x4095x64xf16>
  %s = matmul %qn, %kn {transpose_b} : tensor<2x3x64xf16>, tensor<2x4095x64xf16>
  %p = softmax %s {dim = 2} : tensor<2x3x4095xf16>
  %y = matmul %p, %v : tensor<2x3x4095xf16>, tensor<2x4095x64xf16>
  return %y : tensor<2x3x64xf16>
}
