// What mirage-run is given where values are to overflow: x * x, compiled by nobody.
mirage_kernel.graph @squares(%x: tensor<64xf16>) -> tensor<64xf16> {
  %y = mul %x, %x : tensor<64xf16>, tensor<64xf16>
  return %y : tensor<64xf16>
}

mirage_kernel.graph @squares_0(%x: tensor<64xf16>) -> tensor<64xf16> attributes {source = @squares, selected} {
  %y = custom (%xk = %x) outs(%yk) grid [1] launch <kernel = "squares_0_k0", threads = 32> : (tensor<64xf16>) -> tensor<64xf16> {
    %xt = load %xk : tensor<64xf16> -> !mirage_block.tile<64xf16>
    %r = mul %xt, %xt : !mirage_block.tile<64xf16>, !mirage_block.tile<64xf16>
    store %r, %yk : !mirage_block.tile<64xf32>, tensor<64xf16>
  }
  return %y : tensor<64xf16>
}

gpu.binary @squares_0_bin [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "squares_0_k0 2\0A">]
