// Three rows of 1000.
mirage_kernel.graph @ntrans_3x1000(%h: tensor<3x1000xf16>, %x: tensor<3x1000xf16>, %alpha: tensor<3x1000xf16>) -> tensor<3x1000xf16> {
  %n = rms_norm %h {eps = 0.0} : tensor<3x1000xf16>
  %d = sub %n, %x : tensor<3x1000xf16>, tensor<3x1000xf16>
  %s = mul %alpha, %d : tensor<3x1000xf16>, tensor<3x1000xf16>
  %u = add %x, %s : tensor<3x1000xf16>, tensor<3x1000xf16>
  %y = rms_norm %u {eps = 0.0} : tensor<3x1000xf16>
  return %y : tensor<3x1000xf16>
}
