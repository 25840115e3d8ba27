mirage_kernel.graph @heads(%q: tensor<4x64x32xf16>, %k: tensor<4x64x32xf16>, %v: tensor<4x64x32xf16>) -> tensor<4x64x32xf16> {
  %s = matmul %q, %k {transpose_b} : tensor<4x64x32xf16>, tensor<4x64x32xf16>
  %p = softmax %s {dim = 2} : tensor<4x64x64xf16>
  %y = matmul %p, %v : tensor<4x64x64xf16>, tensor<4x64x32xf16>
  return %y : tensor<4x64x32xf16>
}

mirage_kernel.graph @moved(%x: tensor<32x64xf16>, %g: tensor<64xf16>) -> (tensor<64x32xf16>, tensor<32x8x8xf16>) {
  %n = rms_norm %x, %g {eps = 1.0e-5} : tensor<32x64xf16>, tensor<64xf16>
  %c = constant 2.0 : tensor<32x64xf16>
  %d = mul %n, %c : tensor<32x64xf16>, tensor<32x64xf16>
  %r = reshape %d : tensor<32x64xf16> -> tensor<32x8x8xf16>
  %s = reduce_sum %r {dim = 2} : tensor<32x8x8xf16>
  %e = sub %r, %s : tensor<32x8x8xf16>, tensor<32x8x1xf16>
  %t = transpose %d {perm = [1, 0]} : tensor<32x64xf16>
  return %t, %e : tensor<64x32xf16>, tensor<32x8x8xf16>
}

mirage_kernel.graph @gram(%x: tensor<2x64x16xf16>) -> tensor<2x64x64xf16> {
  %y = matmul %x, %x {transpose_b} : tensor<2x64x16xf16>, tensor<2x64x16xf16>
  %z = exp %y : tensor<2x64x64xf16>
  return %z : tensor<2x64x64xf16>
}

mirage_kernel.graph @total(%x: tensor<64x64xf16>) -> tensor<1x1xf16> {
  %e = square %x : tensor<64x64xf16>
  %r = reduce_sum %e {dim = 1} : tensor<64x64xf16>
  %t = reduce_sum %r {dim = 0} : tensor<64x1xf16>
  return %t : tensor<1x1xf16>
}
