// A product whose weights have a row for each output, streamed straight to the matrix instruction. STORED, TYPE, ROWS, DEPTH, OF
// and OUTPUTS are filled in; a block has OUTPUTS of the OF outputs, in two
// iterations. @turned has the transposition as an operator.
mirage_kernel.graph @product(%x: tensor<ROWSxDEPTHxTYPE>, %w: tensor<OFxDEPTHxSTORED>) -> tensor<ROWSxOFxTYPE> {
  %c = cast %w : tensor<OFxDEPTHxSTORED> -> tensor<OFxDEPTHxTYPE>
  %y = matmul %x, %c {transpose_b} : tensor<ROWSxDEPTHxTYPE>, tensor<OFxDEPTHxTYPE>
  return %y : tensor<ROWSxOFxTYPE>
}
mirage_kernel.graph @streamed(%x: tensor<ROWSxDEPTHxTYPE>, %w: tensor<OFxDEPTHxSTORED>) -> tensor<ROWSxOFxTYPE> attributes {source = @product} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [BLOCKS] : (tensor<ROWSxDEPTHxTYPE>, tensor<OFxDEPTHxSTORED>) -> tensor<ROWSxOFxTYPE> {
    %zero = constant 0.0 : !mirage_block.tile<ROWSxOUTPUTSxf32>
    %s = loop 2 (%a = %zero sum) : !mirage_block.tile<ROWSxOUTPUTSxf32> {
      %xt = load %xk {loop = [1]} : tensor<ROWSxDEPTHxTYPE> -> !mirage_block.tile<ROWSxHALFxTYPE>
      %wt = load %wk {grid = [0], loop = [1]} : tensor<OFxDEPTHxSTORED> -> !mirage_block.tile<OUTPUTSxHALFxSTORED>
      %ct = cast %wt : !mirage_block.tile<OUTPUTSxHALFxSTORED> -> !mirage_block.tile<OUTPUTSxHALFxTYPE>
      %p = matmul %xt, %ct {transpose_b} : !mirage_block.tile<ROWSxHALFxTYPE>, !mirage_block.tile<OUTPUTSxHALFxTYPE>
      yield %p : !mirage_block.tile<ROWSxOUTPUTSxf32>
    }
    store %s, %yk {grid = [1]} : !mirage_block.tile<ROWSxOUTPUTSxf32>, tensor<ROWSxOFxTYPE>
  }
  return %y : tensor<ROWSxOFxTYPE>
}
mirage_kernel.graph @turned(%x: tensor<ROWSxDEPTHxTYPE>, %w: tensor<OFxDEPTHxSTORED>) -> tensor<ROWSxOFxTYPE> attributes {source = @product} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [BLOCKS] : (tensor<ROWSxDEPTHxTYPE>, tensor<OFxDEPTHxSTORED>) -> tensor<ROWSxOFxTYPE> {
    %zero = constant 0.0 : !mirage_block.tile<ROWSxOUTPUTSxf32>
    %s = loop 2 (%a = %zero sum) : !mirage_block.tile<ROWSxOUTPUTSxf32> {
      %xt = load %xk {loop = [1]} : tensor<ROWSxDEPTHxTYPE> -> !mirage_block.tile<ROWSxHALFxTYPE>
      %wt = load %wk {grid = [0], loop = [1]} : tensor<OFxDEPTHxSTORED> -> !mirage_block.tile<OUTPUTSxHALFxSTORED>
      %ct = cast %wt : !mirage_block.tile<OUTPUTSxHALFxSTORED> -> !mirage_block.tile<OUTPUTSxHALFxTYPE>
      %tt = transpose %ct {perm = [1, 0]} : !mirage_block.tile<OUTPUTSxHALFxTYPE>
      %p = matmul %xt, %tt : !mirage_block.tile<ROWSxHALFxTYPE>, !mirage_block.tile<HALFxOUTPUTSxTYPE>
      yield %p : !mirage_block.tile<ROWSxOUTPUTSxf32>
    }
    store %s, %yk {grid = [1]} : !mirage_block.tile<ROWSxOUTPUTSxf32>, tensor<ROWSxOFxTYPE>
  }
  return %y : tensor<ROWSxOFxTYPE>
}
