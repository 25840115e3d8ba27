// Several results of one kernel: ragged, of unequal widths, one that all blocks share, sums split over blocks.
mirage_kernel.graph @added(%x: tensor<5x90xf16>, %r: tensor<5x90xf16>, %g: tensor<90xf16>) -> (tensor<5x90xf16>, tensor<5x90xf16>) {
  %s = add %x, %r : tensor<5x90xf16>, tensor<5x90xf16>
  %n = rms_norm %s, %g {eps = 1.0e-06} : tensor<5x90xf16>, tensor<90xf16>
  return %s, %n : tensor<5x90xf16>, tensor<5x90xf16>
}
mirage_kernel.graph @projected(%x: tensor<3x256xf16>, %q: tensor<256x96xf16>, %k: tensor<256x24xf16>) -> (tensor<3x96xf16>, tensor<3x24xf16>) {
  %a = matmul %x, %q : tensor<3x256xf16>, tensor<256x96xf16>
  %b = matmul %x, %k : tensor<3x256xf16>, tensor<256x24xf16>
  return %a, %b : tensor<3x96xf16>, tensor<3x24xf16>
}
mirage_kernel.graph @attended(%q: tensor<2x3x16xf16>, %k: tensor<2x16x64xf16>, %v: tensor<2x64x16xf16>) -> (tensor<2x3x16xf16>, tensor<2x3x1xf16>) {
  %s = matmul %q, %k : tensor<2x3x16xf16>, tensor<2x16x64xf16>
  %e = exp %s : tensor<2x3x64xf16>
  %d = reduce_sum %e {dim = 2} : tensor<2x3x64xf16>
  %p = div %e, %d : tensor<2x3x64xf16>, tensor<2x3x1xf16>
  %y = matmul %p, %v : tensor<2x3x64xf16>, tensor<2x64x16xf16>
  return %y, %d : tensor<2x3x16xf16>, tensor<2x3x1xf16>
}
