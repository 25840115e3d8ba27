// The gated half of an MLP for one token in bf16; the weights are f8E4M3FN, with a scale for each tensor.
mirage_kernel.graph @gated_mlp_f8_b1(%x: tensor<1x4096xbf16>, %u: tensor<4096x4096xf8E4M3FN>, %v: tensor<4096x4096xf8E4M3FN>, %su: tensor<1x1xf32>, %sv: tensor<1x1xf32>) -> tensor<1x4096xbf16> {
  %uf = cast %u : tensor<4096x4096xf8E4M3FN> -> tensor<4096x4096xbf16>
  %vf = cast %v : tensor<4096x4096xf8E4M3FN> -> tensor<4096x4096xbf16>
  %a = matmul %x, %uf : tensor<1x4096xbf16>, tensor<4096x4096xbf16> -> tensor<1x4096xf32>
  %b = matmul %x, %vf : tensor<1x4096xbf16>, tensor<4096x4096xbf16> -> tensor<1x4096xf32>
  %as = mul %a, %su : tensor<1x4096xf32>, tensor<1x1xf32>
  %bs = mul %b, %sv : tensor<1x4096xf32>, tensor<1x1xf32>
  %g = silu %as : tensor<1x4096xf32>
  %p = mul %g, %bs : tensor<1x4096xf32>, tensor<1x4096xf32>
  %y = cast %p : tensor<1x4096xf32> -> tensor<1x4096xbf16>
  return %y : tensor<1x4096xbf16>
}
