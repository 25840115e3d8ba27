// Attention of normalised queries and keys, softmax(rms(q) rms(k)^T) v.
mirage_kernel.graph @qknorm_b8(%q: tensor<16x256x64xf16>, %k: tensor<16x4096x64xf16>, %v: tensor<16x4096x64xf16>) -> tensor<16x256x64xf16> {
  %qn = rms_norm %q {eps = 0.0} : tensor<16x256x64xf16>
  %kn = rms_norm %k {eps = 0.0} : tensor<16x4096x64xf16>
  %s = matmul %qn, %kn {transpose_b} : tensor<16x256x64xf16>, tensor<16x4096x64xf16>
  %p = softmax %s {dim = 2} : tensor<16x256x4096xf16>
  %y = matmul %p, %v : tensor<16x256x4096xf16>, tensor<16x4096x64xf16>
  return %y : tensor<16x256x64xf16>
}
