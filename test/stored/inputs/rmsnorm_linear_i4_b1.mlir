// One token, weights of 13 MB.
mirage_kernel.graph @rmsnorm_linear_i4_b1(%x: tensor<1x4096xf16>, %g: tensor<4096xf16>, %w: tensor<4096x6144xi4>, %s: tensor<6144xf16>) -> tensor<1x6144xf16> {
  %n = rms_norm %x, %g {eps = 1.0e-05} : tensor<1x4096xf16>, tensor<4096xf16>
  %wf = cast %w : tensor<4096x6144xi4> -> tensor<4096x6144xf16>
  %ws = mul %wf, %s : tensor<4096x6144xf16>, tensor<6144xf16>
  %y = matmul %n, %ws : tensor<1x4096xf16>, tensor<4096x6144xf16>
  return %y : tensor<1x6144xf16>
}
