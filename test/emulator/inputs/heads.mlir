// Views around what computes: heads split off, transposed, repeated, merged; slices of one projection; rotated halves.

mirage_kernel.graph @mha(%x: tensor<16x32xf16>, %wq: tensor<32x32xf16>, %wk: tensor<32x32xf16>, %wv: tensor<32x32xf16>, %wo: tensor<32x32xf16>) -> tensor<16x32xf16> {
  %q0 = matmul %x, %wq : tensor<16x32xf16>, tensor<32x32xf16>
  %q1 = reshape %q0 : tensor<16x32xf16> -> tensor<16x2x16xf16>
  %q2 = transpose %q1 {perm = [1, 0, 2]} : tensor<16x2x16xf16>
  %k0 = matmul %x, %wk : tensor<16x32xf16>, tensor<32x32xf16>
  %k1 = reshape %k0 : tensor<16x32xf16> -> tensor<16x2x16xf16>
  %k2 = transpose %k1 {perm = [1, 0, 2]} : tensor<16x2x16xf16>
  %v0 = matmul %x, %wv : tensor<16x32xf16>, tensor<32x32xf16>
  %v1 = reshape %v0 : tensor<16x32xf16> -> tensor<16x2x16xf16>
  %v2 = transpose %v1 {perm = [1, 0, 2]} : tensor<16x2x16xf16>
  %o = scaled_dot_product_attention %q2, %k2, %v2 {scale = 0.125} : tensor<2x16x16xf16>, tensor<2x16x16xf16>, tensor<2x16x16xf16>
  %o1 = transpose %o {perm = [1, 0, 2]} : tensor<2x16x16xf16>
  %o2 = reshape %o1 : tensor<16x2x16xf16> -> tensor<16x32xf16>
  %y = matmul %o2, %wo : tensor<16x32xf16>, tensor<32x32xf16>
  return %y : tensor<16x32xf16>
}

mirage_kernel.graph @gqa(%x: tensor<16x64xf16>, %wq: tensor<64x64xf16>, %wk: tensor<64x32xf16>, %wv: tensor<64x32xf16>, %wo: tensor<64x64xf16>) -> tensor<16x64xf16> {
  %q0 = matmul %x, %wq : tensor<16x64xf16>, tensor<64x64xf16>
  %q1 = reshape %q0 : tensor<16x64xf16> -> tensor<16x4x16xf16>
  %q2 = transpose %q1 {perm = [1, 0, 2]} : tensor<16x4x16xf16>
  %k0 = matmul %x, %wk : tensor<16x64xf16>, tensor<64x32xf16>
  %k1 = reshape %k0 : tensor<16x32xf16> -> tensor<16x2x16xf16>
  %k2 = transpose %k1 {perm = [1, 0, 2]} : tensor<16x2x16xf16>
  %v0 = matmul %x, %wv : tensor<16x64xf16>, tensor<64x32xf16>
  %v1 = reshape %v0 : tensor<16x32xf16> -> tensor<16x2x16xf16>
  %v2 = transpose %v1 {perm = [1, 0, 2]} : tensor<16x2x16xf16>
  %k3 = reshape %k2 : tensor<2x16x16xf16> -> tensor<2x1x16x16xf16>
  %k4 = repeat %k3 {dim = 1, times = 2} : tensor<2x1x16x16xf16>
  %k5 = reshape %k4 : tensor<2x2x16x16xf16> -> tensor<4x16x16xf16>
  %v3 = reshape %v2 : tensor<2x16x16xf16> -> tensor<2x1x16x16xf16>
  %v4 = repeat %v3 {dim = 1, times = 2} : tensor<2x1x16x16xf16>
  %v5 = reshape %v4 : tensor<2x2x16x16xf16> -> tensor<4x16x16xf16>
  %o = scaled_dot_product_attention %q2, %k5, %v5 {scale = 0.125} : tensor<4x16x16xf16>, tensor<4x16x16xf16>, tensor<4x16x16xf16>
  %o1 = transpose %o {perm = [1, 0, 2]} : tensor<4x16x16xf16>
  %o2 = reshape %o1 : tensor<16x4x16xf16> -> tensor<16x64xf16>
  %y = matmul %o2, %wo : tensor<16x64xf16>, tensor<64x64xf16>
  return %y : tensor<16x64xf16>
}

mirage_kernel.graph @bshd(%q: tensor<2x16x2x16xf16>, %k: tensor<2x16x2x16xf16>, %v: tensor<2x16x2x16xf16>) -> tensor<2x16x2x16xf16> {
  %q1 = transpose %q {perm = [0, 2, 1, 3]} : tensor<2x16x2x16xf16>
  %k1 = transpose %k {perm = [0, 2, 1, 3]} : tensor<2x16x2x16xf16>
  %v1 = transpose %v {perm = [0, 2, 1, 3]} : tensor<2x16x2x16xf16>
  %o = scaled_dot_product_attention %q1, %k1, %v1 {scale = 0.125} : tensor<2x2x16x16xf16>, tensor<2x2x16x16xf16>, tensor<2x2x16x16xf16>
  %o1 = transpose %o {perm = [0, 2, 1, 3]} : tensor<2x2x16x16xf16>
  return %o1 : tensor<2x16x2x16xf16>
}

mirage_kernel.graph @rkv(%q: tensor<4x16x16xf16>, %k: tensor<2x16x16xf16>, %v: tensor<2x16x16xf16>) -> tensor<4x16x16xf16> {
  %k3 = reshape %k : tensor<2x16x16xf16> -> tensor<2x1x16x16xf16>
  %k4 = repeat %k3 {dim = 1, times = 2} : tensor<2x1x16x16xf16>
  %k5 = reshape %k4 : tensor<2x2x16x16xf16> -> tensor<4x16x16xf16>
  %v3 = reshape %v : tensor<2x16x16xf16> -> tensor<2x1x16x16xf16>
  %v4 = repeat %v3 {dim = 1, times = 2} : tensor<2x1x16x16xf16>
  %v5 = reshape %v4 : tensor<2x2x16x16xf16> -> tensor<4x16x16xf16>
  %o = scaled_dot_product_attention %q, %k5, %v5 {scale = 0.125} : tensor<4x16x16xf16>, tensor<4x16x16xf16>, tensor<4x16x16xf16>
  return %o : tensor<4x16x16xf16>
}

mirage_kernel.graph @qkv(%x: tensor<16x32xf16>, %w: tensor<32x96xf16>) -> tensor<16x32xf16> {
  %p = matmul %x, %w : tensor<16x32xf16>, tensor<32x96xf16>
  %q0 = slice %p {dim = 1, begin = 0, end = 32} : tensor<16x96xf16>
  %q1 = reshape %q0 : tensor<16x32xf16> -> tensor<16x2x16xf16>
  %q2 = transpose %q1 {perm = [1, 0, 2]} : tensor<16x2x16xf16>
  %k0 = slice %p {dim = 1, begin = 32, end = 64} : tensor<16x96xf16>
  %k1 = reshape %k0 : tensor<16x32xf16> -> tensor<16x2x16xf16>
  %k2 = transpose %k1 {perm = [1, 0, 2]} : tensor<16x2x16xf16>
  %v0 = slice %p {dim = 1, begin = 64, end = 96} : tensor<16x96xf16>
  %v1 = reshape %v0 : tensor<16x32xf16> -> tensor<16x2x16xf16>
  %v2 = transpose %v1 {perm = [1, 0, 2]} : tensor<16x2x16xf16>
  %o = scaled_dot_product_attention %q2, %k2, %v2 {scale = 0.125} : tensor<2x16x16xf16>, tensor<2x16x16xf16>, tensor<2x16x16xf16>
  %o1 = transpose %o {perm = [1, 0, 2]} : tensor<2x16x16xf16>
  %o2 = reshape %o1 : tensor<16x2x16xf16> -> tensor<16x32xf16>
  return %o2 : tensor<16x32xf16>
}

mirage_kernel.graph @gn(%x: tensor<16x64xf16>, %w: tensor<64x32xf16>) -> tensor<16x32xf16> {
  %r = reshape %x : tensor<16x64xf16> -> tensor<16x2x32xf16>
  %n = layer_norm %r {eps = 1.0e-05} : tensor<16x2x32xf16>
  %m = reshape %n : tensor<16x2x32xf16> -> tensor<16x64xf16>
  %y = matmul %m, %w : tensor<16x64xf16>, tensor<64x32xf16>
  return %y : tensor<16x32xf16>
}

mirage_kernel.graph @ropeattn(%q: tensor<2x16x16xf16>, %k: tensor<2x16x16xf16>, %v: tensor<2x16x16xf16>, %c: tensor<16x16xf16>, %s: tensor<16x16xf16>) -> tensor<2x16x16xf16> {
  %qa = slice %q {dim = 2, begin = 0, end = 8} : tensor<2x16x16xf16>
  %qb = slice %q {dim = 2, begin = 8, end = 16} : tensor<2x16x16xf16>
  %qn = neg %qb : tensor<2x16x8xf16>
  %qr = concat %qn, %qa {dim = 2} : tensor<2x16x8xf16>, tensor<2x16x8xf16>
  %qx = mul %q, %c : tensor<2x16x16xf16>, tensor<16x16xf16>
  %qy = mul %qr, %s : tensor<2x16x16xf16>, tensor<16x16xf16>
  %qz = add %qx, %qy : tensor<2x16x16xf16>, tensor<2x16x16xf16>
  %ka = slice %k {dim = 2, begin = 0, end = 8} : tensor<2x16x16xf16>
  %kb = slice %k {dim = 2, begin = 8, end = 16} : tensor<2x16x16xf16>
  %kn = neg %kb : tensor<2x16x8xf16>
  %kr = concat %kn, %ka {dim = 2} : tensor<2x16x8xf16>, tensor<2x16x8xf16>
  %kx = mul %k, %c : tensor<2x16x16xf16>, tensor<16x16xf16>
  %ky = mul %kr, %s : tensor<2x16x16xf16>, tensor<16x16xf16>
  %kz = add %kx, %ky : tensor<2x16x16xf16>, tensor<2x16x16xf16>
  %o = scaled_dot_product_attention %qz, %kz, %v {scale = 0.125} : tensor<2x16x16xf16>, tensor<2x16x16xf16>, tensor<2x16x16xf16>
  return %o : tensor<2x16x16xf16>
}


mirage_kernel.graph @mha_odd(%x: tensor<13x40xf16>, %wq: tensor<40x72xf16>, %wk: tensor<40x72xf16>, %wv: tensor<40x72xf16>, %wo: tensor<72x40xf16>) -> tensor<13x40xf16> {
  %q0 = matmul %x, %wq : tensor<13x40xf16>, tensor<40x72xf16>
  %q1 = reshape %q0 : tensor<13x72xf16> -> tensor<13x3x24xf16>
  %q2 = transpose %q1 {perm = [1, 0, 2]} : tensor<13x3x24xf16>
  %k0 = matmul %x, %wk : tensor<13x40xf16>, tensor<40x72xf16>
  %k1 = reshape %k0 : tensor<13x72xf16> -> tensor<13x3x24xf16>
  %k2 = transpose %k1 {perm = [1, 0, 2]} : tensor<13x3x24xf16>
  %v0 = matmul %x, %wv : tensor<13x40xf16>, tensor<40x72xf16>
  %v1 = reshape %v0 : tensor<13x72xf16> -> tensor<13x3x24xf16>
  %v2 = transpose %v1 {perm = [1, 0, 2]} : tensor<13x3x24xf16>
  %o = scaled_dot_product_attention %q2, %k2, %v2 {scale = 0.125} : tensor<3x13x24xf16>, tensor<3x13x24xf16>, tensor<3x13x24xf16>
  %o1 = transpose %o {perm = [1, 0, 2]} : tensor<3x13x24xf16>
  %o2 = reshape %o1 : tensor<13x3x24xf16> -> tensor<13x72xf16>
  %y = matmul %o2, %wo : tensor<13x72xf16>, tensor<72x40xf16>
  return %y : tensor<13x40xf16>
}

mirage_kernel.graph @gqa_odd(%x: tensor<7x20xf16>, %wq: tensor<20x48xf16>, %wk: tensor<20x16xf16>, %wv: tensor<20x16xf16>, %wo: tensor<48x20xf16>) -> tensor<7x20xf16> {
  %q0 = matmul %x, %wq : tensor<7x20xf16>, tensor<20x48xf16>
  %q1 = reshape %q0 : tensor<7x48xf16> -> tensor<7x6x8xf16>
  %q2 = transpose %q1 {perm = [1, 0, 2]} : tensor<7x6x8xf16>
  %k0 = matmul %x, %wk : tensor<7x20xf16>, tensor<20x16xf16>
  %k1 = reshape %k0 : tensor<7x16xf16> -> tensor<7x2x8xf16>
  %k2 = transpose %k1 {perm = [1, 0, 2]} : tensor<7x2x8xf16>
  %v0 = matmul %x, %wv : tensor<7x20xf16>, tensor<20x16xf16>
  %v1 = reshape %v0 : tensor<7x16xf16> -> tensor<7x2x8xf16>
  %v2 = transpose %v1 {perm = [1, 0, 2]} : tensor<7x2x8xf16>
  %k3 = reshape %k2 : tensor<2x7x8xf16> -> tensor<2x1x7x8xf16>
  %k4 = repeat %k3 {dim = 1, times = 3} : tensor<2x1x7x8xf16>
  %k5 = reshape %k4 : tensor<2x3x7x8xf16> -> tensor<6x7x8xf16>
  %v3 = reshape %v2 : tensor<2x7x8xf16> -> tensor<2x1x7x8xf16>
  %v4 = repeat %v3 {dim = 1, times = 3} : tensor<2x1x7x8xf16>
  %v5 = reshape %v4 : tensor<2x3x7x8xf16> -> tensor<6x7x8xf16>
  %o = scaled_dot_product_attention %q2, %k5, %v5 {scale = 0.125} : tensor<6x7x8xf16>, tensor<6x7x8xf16>, tensor<6x7x8xf16>
  %o1 = transpose %o {perm = [1, 0, 2]} : tensor<6x7x8xf16>
  %o2 = reshape %o1 : tensor<7x6x8xf16> -> tensor<7x48xf16>
  %y = matmul %o2, %wo : tensor<7x48xf16>, tensor<48x20xf16>
  return %y : tensor<7x20xf16>
}

mirage_kernel.graph @bshd_odd(%q: tensor<3x11x5x24xf16>, %k: tensor<3x11x5x24xf16>, %v: tensor<3x11x5x24xf16>) -> tensor<3x11x5x24xf16> {
  %q1 = transpose %q {perm = [0, 2, 1, 3]} : tensor<3x11x5x24xf16>
  %k1 = transpose %k {perm = [0, 2, 1, 3]} : tensor<3x11x5x24xf16>
  %v1 = transpose %v {perm = [0, 2, 1, 3]} : tensor<3x11x5x24xf16>
  %o = scaled_dot_product_attention %q1, %k1, %v1 {scale = 0.125} : tensor<3x5x11x24xf16>, tensor<3x5x11x24xf16>, tensor<3x5x11x24xf16>
  %o1 = transpose %o {perm = [0, 2, 1, 3]} : tensor<3x5x11x24xf16>
  return %o1 : tensor<3x11x5x24xf16>
}

mirage_kernel.graph @rkv_odd(%q: tensor<6x9x24xf16>, %k: tensor<3x21x24xf16>, %v: tensor<3x21x24xf16>) -> tensor<6x9x24xf16> {
  %k3 = reshape %k : tensor<3x21x24xf16> -> tensor<3x1x21x24xf16>
  %k4 = repeat %k3 {dim = 1, times = 2} : tensor<3x1x21x24xf16>
  %k5 = reshape %k4 : tensor<3x2x21x24xf16> -> tensor<6x21x24xf16>
  %v3 = reshape %v : tensor<3x21x24xf16> -> tensor<3x1x21x24xf16>
  %v4 = repeat %v3 {dim = 1, times = 2} : tensor<3x1x21x24xf16>
  %v5 = reshape %v4 : tensor<3x2x21x24xf16> -> tensor<6x21x24xf16>
  %o = scaled_dot_product_attention %q, %k5, %v5 {scale = 0.125} : tensor<6x9x24xf16>, tensor<6x21x24xf16>, tensor<6x21x24xf16>
  return %o : tensor<6x9x24xf16>
}

mirage_kernel.graph @rope_odd(%q: tensor<3x13x24xf16>, %k: tensor<3x13x24xf16>, %v: tensor<3x13x24xf16>, %c: tensor<13x24xf16>, %s: tensor<13x24xf16>) -> tensor<3x13x24xf16> {
  %qa = slice %q {dim = 2, begin = 0, end = 12} : tensor<3x13x24xf16>
  %qb = slice %q {dim = 2, begin = 12, end = 24} : tensor<3x13x24xf16>
  %qn = neg %qb : tensor<3x13x12xf16>
  %qr = concat %qn, %qa {dim = 2} : tensor<3x13x12xf16>, tensor<3x13x12xf16>
  %qx = mul %q, %c : tensor<3x13x24xf16>, tensor<13x24xf16>
  %qy = mul %qr, %s : tensor<3x13x24xf16>, tensor<13x24xf16>
  %qz = add %qx, %qy : tensor<3x13x24xf16>, tensor<3x13x24xf16>
  %ka = slice %k {dim = 2, begin = 0, end = 12} : tensor<3x13x24xf16>
  %kb = slice %k {dim = 2, begin = 12, end = 24} : tensor<3x13x24xf16>
  %kn = neg %kb : tensor<3x13x12xf16>
  %kr = concat %kn, %ka {dim = 2} : tensor<3x13x12xf16>, tensor<3x13x12xf16>
  %kx = mul %k, %c : tensor<3x13x24xf16>, tensor<13x24xf16>
  %ky = mul %kr, %s : tensor<3x13x24xf16>, tensor<13x24xf16>
  %kz = add %kx, %ky : tensor<3x13x24xf16>, tensor<3x13x24xf16>
  %o = scaled_dot_product_attention %qz, %kz, %v {scale = 0.125} : tensor<3x13x24xf16>, tensor<3x13x24xf16>, tensor<3x13x24xf16>
  return %o : tensor<3x13x24xf16>
}

mirage_kernel.graph @rep_odd(%x0: tensor<6x9x24xf16>, %x1: tensor<2x21x24xf16>, %x2: tensor<2x21x24xf16>) -> tensor<6x9x24xf16> {
  %v1 = repeat %x1 {dim = 0, times = 3} : tensor<2x21x24xf16>
  %v2 = repeat %x2 {dim = 0, times = 3} : tensor<2x21x24xf16>
  %v3 = scaled_dot_product_attention %x0, %v1, %v2 {scale = 0.125} : tensor<6x9x24xf16>, tensor<6x21x24xf16>, tensor<6x21x24xf16>
  return %v3 : tensor<6x9x24xf16>
}
