// The same as grouped.mlir of weights that have a row for each output. STORED, TYPE, SCALE and COLUMNS
// are filled in; @whole takes groups in turn, @across some rows of all groups.
mirage_kernel.graph @product(%x: tensor<8x3x128xTYPE>, %w: tensor<8x384x128xSTORED>, %s: tensor<8xMx384xSCALE>) -> tensor<1x3x384xTYPE> {
  %c = cast %w : tensor<8x384x128xSTORED> -> tensor<8x384x128xTYPE>
  %p = matmul %x, %c {transpose_b} : tensor<8x3x128xTYPE>, tensor<8x384x128xTYPE> -> tensor<8x3x384xf32>
  %m = mul %p, %s : tensor<8x3x384xf32>, tensor<8xMx384xSCALE>
  %r = reduce_sum %m {dim = 0} : tensor<8x3x384xf32>
  %y = cast %r : tensor<1x3x384xf32> -> tensor<1x3x384xTYPE>
  return %y : tensor<1x3x384xTYPE>
}
mirage_kernel.graph @whole(%x: tensor<8x3x128xTYPE>, %w: tensor<8x384x128xSTORED>, %s: tensor<8xMx384xSCALE>) -> tensor<1x3x384xTYPE> attributes {source = @product} {
  %y = custom (%xk = %x, %wk = %w, %sk = %s) outs(%yk) grid [BLOCKS] : (tensor<8x3x128xTYPE>, tensor<8x384x128xSTORED>, tensor<8xMx384xSCALE>) -> tensor<1x3x384xTYPE> {
    %zero = constant 0.0 : !mirage_block.tile<1x3xCOLUMNSxf32>
    %sum = loop 2 (%a = %zero sum) : !mirage_block.tile<1x3xCOLUMNSxf32> {
      %xt = load %xk {loop = [0]} : tensor<8x3x128xTYPE> -> !mirage_block.tile<4x3x128xTYPE>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x384x128xSTORED> -> !mirage_block.tile<4xCOLUMNSx128xSTORED>
      %st = load %sk {grid = [2], loop = [0]} : tensor<8xMx384xSCALE> -> !mirage_block.tile<4xMxCOLUMNSxSCALE>
      %ct = cast %wt : !mirage_block.tile<4xCOLUMNSx128xSTORED> -> !mirage_block.tile<4xCOLUMNSx128xTYPE>
      %p = matmul %xt, %ct {transpose_b} : !mirage_block.tile<4x3x128xTYPE>, !mirage_block.tile<4xCOLUMNSx128xTYPE>
      %m = mul %p, %st : !mirage_block.tile<4x3xCOLUMNSxf32>, !mirage_block.tile<4xMxCOLUMNSxSCALE>
      %r = reduce_sum %m {dim = 0} : !mirage_block.tile<4x3xCOLUMNSxf32>
      yield %r : !mirage_block.tile<1x3xCOLUMNSxf32>
    }
    store %sum, %yk {grid = [2]} : !mirage_block.tile<1x3xCOLUMNSxf32>, tensor<1x3x384xTYPE>
  }
  return %y : tensor<1x3x384xTYPE>
}
mirage_kernel.graph @across(%x: tensor<8x3x128xTYPE>, %w: tensor<8x384x128xSTORED>, %s: tensor<8xMx384xSCALE>) -> tensor<1x3x384xTYPE> attributes {source = @product} {
  %y = custom (%xk = %x, %wk = %w, %sk = %s) outs(%yk) grid [BLOCKS] : (tensor<8x3x128xTYPE>, tensor<8x384x128xSTORED>, tensor<8xMx384xSCALE>) -> tensor<1x3x384xTYPE> {
    %st = load %sk {grid = [2]} : tensor<8xMx384xSCALE> -> !mirage_block.tile<8xMxCOLUMNSxSCALE>
    %zero = constant 0.0 : !mirage_block.tile<1x3xCOLUMNSxf32>
    %sum = loop 2 (%a = %zero sum) : !mirage_block.tile<1x3xCOLUMNSxf32> {
      %xt = load %xk {loop = [2]} : tensor<8x3x128xTYPE> -> !mirage_block.tile<8x3x64xTYPE>
      %wt = load %wk {grid = [1], loop = [2]} : tensor<8x384x128xSTORED> -> !mirage_block.tile<8xCOLUMNSx64xSTORED>
      %ct = cast %wt : !mirage_block.tile<8xCOLUMNSx64xSTORED> -> !mirage_block.tile<8xCOLUMNSx64xTYPE>
      %p = matmul %xt, %ct {transpose_b} : !mirage_block.tile<8x3x64xTYPE>, !mirage_block.tile<8xCOLUMNSx64xTYPE>
      %m = mul %st, %p : !mirage_block.tile<8xMxCOLUMNSxSCALE>, !mirage_block.tile<8x3xCOLUMNSxf32>
      %r = reduce_sum %m {dim = 0} : !mirage_block.tile<8x3xCOLUMNSxf32>
      yield %r : !mirage_block.tile<1x3xCOLUMNSxf32>
    }
    store %sum, %yk {grid = [2]} : !mirage_block.tile<1x3xCOLUMNSxf32>, tensor<1x3x384xTYPE>
  }
  return %y : tensor<1x3x384xTYPE>
}
