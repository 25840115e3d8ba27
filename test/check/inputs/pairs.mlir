// Two programs: one that is proven at full size, and one that is proven on a smaller instance.
mirage_kernel.graph @p(%x: tensor<16x64xf16>) -> tensor<16x64xf16> {
  %e = exp %x : tensor<16x64xf16>
  %s = reduce_sum %e {dim = 1} : tensor<16x64xf16>
  %y = div %e, %s : tensor<16x64xf16>, tensor<16x1xf16>
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @p_rows(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p} {
  %y = custom (%xk = %x) outs(%yk) grid [4] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk {grid = [0]} : tensor<16x64xf16> -> !mirage_block.tile<4x64xf16>
    %e = exp %xt : !mirage_block.tile<4x64xf16>
    %s = reduce_sum %e {dim = 1} : !mirage_block.tile<4x64xf32>
    %q = div %e, %s : !mirage_block.tile<4x64xf32>, !mirage_block.tile<4x1xf32>
    store %q, %yk {grid = [0]} : !mirage_block.tile<4x64xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @p_whole(%x: tensor<16x64xf16>) -> tensor<16x64xf16> attributes {source = @p} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<16x64xf16>) -> tensor<16x64xf16> {
    %xt = load %xk : tensor<16x64xf16> -> !mirage_block.tile<16x64xf16>
    %e = exp %xt : !mirage_block.tile<16x64xf16>
    %s = reduce_sum %e {dim = 1} : !mirage_block.tile<16x64xf32>
    %q = div %e, %s : !mirage_block.tile<16x64xf32>, !mirage_block.tile<16x1xf32>
    store %q, %yk : !mirage_block.tile<16x64xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}
mirage_kernel.graph @w(%a: tensor<64x1024xf16>, %b: tensor<1024x1024xf16>) -> tensor<64x1024xf16> {
  %y = matmul %a, %b : tensor<64x1024xf16>, tensor<1024x1024xf16>
  return %y : tensor<64x1024xf16>
}
mirage_kernel.graph @w_loop(%a: tensor<64x1024xf16>, %b: tensor<1024x1024xf16>) -> tensor<64x1024xf16> attributes {source = @w} {
  %y = custom (%ak = %a, %bk = %b) outs(%yk) grid [16] : (tensor<64x1024xf16>, tensor<1024x1024xf16>) -> tensor<64x1024xf16> {
    %zero = constant 0.0 : !mirage_block.tile<64x64xf32>
    %acc = loop 16 (%c = %zero sum) : !mirage_block.tile<64x64xf32> {
      %at = load %ak {loop = [1]} : tensor<64x1024xf16> -> !mirage_block.tile<64x64xf16>
      %bt = load %bk {grid = [1], loop = [0]} : tensor<1024x1024xf16> -> !mirage_block.tile<64x64xf16>
      %m = matmul %at, %bt : !mirage_block.tile<64x64xf16>, !mirage_block.tile<64x64xf16>
      yield %m : !mirage_block.tile<64x64xf32>
    }
    store %acc, %yk {grid = [1]} : !mirage_block.tile<64x64xf32>, tensor<64x1024xf16>
  }
  return %y : tensor<64x1024xf16>
}
