mirage_kernel.graph @group_norm_linear(%x: tensor<4096x1024xf16>, %w: tensor<1024x1024xf16>) -> tensor<4096x1024xf16> {
  %r = reshape %x : tensor<4096x1024xf16> -> tensor<4096x32x32xf16>
  %n = layer_norm %r {eps = 1.0e-05} : tensor<4096x32x32xf16>
  %m = reshape %n : tensor<4096x32x32xf16> -> tensor<4096x1024xf16>
  %y = matmul %m, %w : tensor<4096x1024xf16>, tensor<1024x1024xf16>
  return %y : tensor<4096x1024xf16>
}
