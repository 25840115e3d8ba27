// A product whose weights are stored, streamed straight to the matrix instruction: sixteen warps, one step each. STORED, TYPE and
// COLUMNS are filled in; a block has COLUMNS columns of the 384.
mirage_kernel.graph @product(%x: tensor<3x1024xTYPE>, %w: tensor<1024x384xSTORED>) -> tensor<3x384xTYPE> {
  %c = cast %w : tensor<1024x384xSTORED> -> tensor<1024x384xTYPE>
  %y = matmul %x, %c : tensor<3x1024xTYPE>, tensor<1024x384xTYPE>
  return %y : tensor<3x384xTYPE>
}
mirage_kernel.graph @streamed(%x: tensor<3x1024xTYPE>, %w: tensor<1024x384xSTORED>) -> tensor<3x384xTYPE> attributes {source = @product} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [BLOCKS] : (tensor<3x1024xTYPE>, tensor<1024x384xSTORED>) -> tensor<3x384xTYPE> {
    %zero = constant 0.0 : !mirage_block.tile<3xCOLUMNSxf32>
    %s = loop 2 (%a = %zero sum) : !mirage_block.tile<3xCOLUMNSxf32> {
      %xt = load %xk {loop = [1]} : tensor<3x1024xTYPE> -> !mirage_block.tile<3x512xTYPE>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<1024x384xSTORED> -> !mirage_block.tile<512xCOLUMNSxSTORED>
      %ct = cast %wt : !mirage_block.tile<512xCOLUMNSxSTORED> -> !mirage_block.tile<512xCOLUMNSxTYPE>
      %p = matmul %xt, %ct : !mirage_block.tile<3x512xTYPE>, !mirage_block.tile<512xCOLUMNSxTYPE>
      yield %p : !mirage_block.tile<3xCOLUMNSxf32>
    }
    store %s, %yk {grid = [1]} : !mirage_block.tile<3xCOLUMNSxf32>, tensor<3x384xTYPE>
  }
  return %y : tensor<3x384xTYPE>
}
