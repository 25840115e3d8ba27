mirage_kernel.graph @rope_attn(%q: tensor<16x1024x64xf16>, %k: tensor<16x1024x64xf16>, %v: tensor<16x1024x64xf16>, %c: tensor<1024x64xf16>, %s: tensor<1024x64xf16>) -> tensor<16x1024x64xf16> {
  %qa = slice %q {dim = 2, begin = 0, end = 32} : tensor<16x1024x64xf16>
  %qb = slice %q {dim = 2, begin = 32, end = 64} : tensor<16x1024x64xf16>
  %qn = neg %qb : tensor<16x1024x32xf16>
  %qr = concat %qn, %qa {dim = 2} : tensor<16x1024x32xf16>, tensor<16x1024x32xf16>
  %qx = mul %q, %c : tensor<16x1024x64xf16>, tensor<1024x64xf16>
  %qy = mul %qr, %s : tensor<16x1024x64xf16>, tensor<1024x64xf16>
  %qz = add %qx, %qy : tensor<16x1024x64xf16>, tensor<16x1024x64xf16>
  %ka = slice %k {dim = 2, begin = 0, end = 32} : tensor<16x1024x64xf16>
  %kb = slice %k {dim = 2, begin = 32, end = 64} : tensor<16x1024x64xf16>
  %kn = neg %kb : tensor<16x1024x32xf16>
  %kr = concat %kn, %ka {dim = 2} : tensor<16x1024x32xf16>, tensor<16x1024x32xf16>
  %kx = mul %k, %c : tensor<16x1024x64xf16>, tensor<1024x64xf16>
  %ky = mul %kr, %s : tensor<16x1024x64xf16>, tensor<1024x64xf16>
  %kz = add %kx, %ky : tensor<16x1024x64xf16>, tensor<16x1024x64xf16>
  %o = scaled_dot_product_attention %qz, %kz, %v {scale = 0.125} : tensor<16x1024x64xf16>, tensor<16x1024x64xf16>, tensor<16x1024x64xf16>
  return %o : tensor<16x1024x64xf16>
}
