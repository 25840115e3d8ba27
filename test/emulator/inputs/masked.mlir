mirage_kernel.graph @masked(%q: tensor<2x16x32xf16>, %k: tensor<2x32x1024xf16>, %b: tensor<2x16x1024xf16>, %v: tensor<2x1024x32xf16>) -> tensor<2x16x32xf16> {
  %s = matmul %q, %k : tensor<2x16x32xf16>, tensor<2x32x1024xf16>
  %t = add %s, %b : tensor<2x16x1024xf16>, tensor<2x16x1024xf16>
  %p = softmax %t {dim = 2} : tensor<2x16x1024xf16>
  %y = matmul %p, %v : tensor<2x16x1024xf16>, tensor<2x1024x32xf16>
  return %y : tensor<2x16x32xf16>
}
