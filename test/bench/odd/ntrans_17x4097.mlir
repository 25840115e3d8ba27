// Seventeen rows of 4097.
mirage_kernel.graph @ntrans_17x4097(%h: tensor<17x4097xf16>, %x: tensor<17x4097xf16>, %alpha: tensor<17x4097xf16>) -> tensor<17x4097xf16> {
  %n = rms_norm %h {eps = 0.0} : tensor<17x4097xf16>
  %d = sub %n, %x : tensor<17x4097xf16>, tensor<17x4097xf16>
  %s = mul %alpha, %d : tensor<17x4097xf16>, tensor<17x4097xf16>
  %u = add %x, %s : tensor<17x4097xf16>, tensor<17x4097xf16>
  %y = rms_norm %u {eps = 0.0} : tensor<17x4097xf16>
  return %y : tensor<17x4097xf16>
}
