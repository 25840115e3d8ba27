mirage_kernel.graph @p(%x: tensor<16x64xf16>, %w: tensor<64x32xf16>) -> tensor<16x32xf16> {
  %y = matmul %x, %w : tensor<16x64xf16>, tensor<64x32xf16>
  return %y : tensor<16x32xf16>
}

mirage_kernel.graph @c(%x: tensor<16x64xf16>, %w: tensor<64x32xf16>) -> tensor<16x32xf16> attributes {source = @p} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [4] : (tensor<16x64xf16>, tensor<64x32xf16>) -> tensor<16x32xf16> {
    %zero = constant 0.0 : !mirage_block.tile<16x8xf32>
    %acc = loop 4 (%a = %zero sum) : !mirage_block.tile<16x8xf32> {
      %xt = load %xk {loop = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x16xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<64x32xf16> -> !mirage_block.tile<16x8xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<16x16xf16>, !mirage_block.tile<16x8xf16>
      yield %p : !mirage_block.tile<16x8xf32>
    }
    store %acc, %yk {grid = [1]} : !mirage_block.tile<16x8xf32>, tensor<16x32xf16>
  }
  return %y : tensor<16x32xf16>
}
