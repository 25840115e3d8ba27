// Attention of normalised queries and keys, softmax(rms(q) rms(k)^T) v.
mirage_kernel.graph @qknorm_b1(%q: tensor<2x256x64xf16>, %k: tensor<2x4096x64xf16>, %v: tensor<2x4096x64xf16>) -> tensor<2x256x64xf16> {
  %qn = rms_norm %q {eps = 0.0} : tensor<2x256x64xf16>
  %kn = rms_norm %k {eps = 0.0} : tensor<2x4096x64xf16>
  %s = matmul %qn, %kn {transpose_b} : tensor<2x256x64xf16>, tensor<2x4096x64xf16>
  %p = softmax %s {dim = 2} : tensor<2x256x4096xf16>
  %y = matmul %p, %v : tensor<2x256x4096xf16>, tensor<2x4096x64xf16>
  return %y : tensor<2x256x64xf16>
}
