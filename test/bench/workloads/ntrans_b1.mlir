// The update of a normalised transformer, rms(x + alpha (rms(h) - x)).
mirage_kernel.graph @ntrans_b1(%h: tensor<8x4096xf16>, %x: tensor<8x4096xf16>, %alpha: tensor<8x4096xf16>) -> tensor<8x4096xf16> {
  %n = rms_norm %h {eps = 0.0} : tensor<8x4096xf16>
  %d = sub %n, %x : tensor<8x4096xf16>, tensor<8x4096xf16>
  %s = mul %alpha, %d : tensor<8x4096xf16>, tensor<8x4096xf16>
  %u = add %x, %s : tensor<8x4096xf16>, tensor<8x4096xf16>
  %y = rms_norm %u {eps = 0.0} : tensor<8x4096xf16>
  return %y : tensor<8x4096xf16>
}
