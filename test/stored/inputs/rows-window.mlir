// A window of rows that begin anywhere: STORED, TYPE, BEGIN and END are filled in, and PITCH, how far rows are apart.
mirage_kernel.graph @product(%x: tensor<2x1024xTYPE>, %w: tensor<98xPITCHxSTORED>) -> tensor<2x96xTYPE> {
  %c = cast %w : tensor<98xPITCHxSTORED> -> tensor<98xPITCHxTYPE>
  %u = slice %c {dim = 0, begin = 1, end = 97} : tensor<98xPITCHxTYPE>
  %v = slice %u {dim = 1, begin = BEGIN, end = END} : tensor<96xPITCHxTYPE>
  %y = matmul %x, %v {transpose_b} : tensor<2x1024xTYPE>, tensor<96x1024xTYPE>
  return %y : tensor<2x96xTYPE>
}
mirage_kernel.graph @streamed(%x: tensor<2x1024xTYPE>, %w: tensor<98xPITCHxSTORED>) -> tensor<2x96xTYPE> attributes {source = @product} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2] : (tensor<2x1024xTYPE>, tensor<98xPITCHxSTORED>) -> tensor<2x96xTYPE> {
    %zero = constant 0.0 : !mirage_block.tile<2x48xf32>
    %s = loop 2 (%a = %zero sum) : !mirage_block.tile<2x48xf32> {
      %xt = load %xk {loop = [1]} : tensor<2x1024xTYPE> -> !mirage_block.tile<2x512xTYPE>
      %wt = load %wk {grid = [0], loop = [1], begin = [1, BEGIN], end = [97, END]} : tensor<98xPITCHxSTORED> -> !mirage_block.tile<48x512xSTORED>
      %ct = cast %wt : !mirage_block.tile<48x512xSTORED> -> !mirage_block.tile<48x512xTYPE>
      %p = matmul %xt, %ct {transpose_b} : !mirage_block.tile<2x512xTYPE>, !mirage_block.tile<48x512xTYPE>
      yield %p : !mirage_block.tile<2x48xf32>
    }
    store %s, %yk {grid = [1]} : !mirage_block.tile<2x48xf32>, tensor<2x96xTYPE>
  }
  return %y : tensor<2x96xTYPE>
}
