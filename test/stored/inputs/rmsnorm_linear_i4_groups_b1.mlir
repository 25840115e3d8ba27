// One token, weights of 13 MB with a scale and a zero point for each group of 128 along the contraction.
mirage_kernel.graph @rmsnorm_linear_i4_groups_b1(%x: tensor<1x4096xf16>, %g: tensor<4096xf16>, %w: tensor<4096x6144xi4>, %s: tensor<32x1x6144xf16>, %z: tensor<32x1x6144xf16>) -> tensor<1x6144xf16> {
  %n = rms_norm %x, %g {eps = 1.0e-05} : tensor<1x4096xf16>, tensor<4096xf16>
  %wf = cast %w : tensor<4096x6144xi4> -> tensor<4096x6144xf16>
  %wg = reshape %wf : tensor<4096x6144xf16> -> tensor<32x128x6144xf16>
  %wz = sub %wg, %z : tensor<32x128x6144xf16>, tensor<32x1x6144xf16>
  %ws = mul %wz, %s : tensor<32x128x6144xf16>, tensor<32x1x6144xf16>
  %wd = reshape %ws : tensor<32x128x6144xf16> -> tensor<4096x6144xf16>
  %y = matmul %n, %wd : tensor<1x4096xf16>, tensor<4096x6144xf16>
  return %y : tensor<1x6144xf16>
}
