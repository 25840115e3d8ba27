// Sums of products that are no weights in groups: ../grouped.test.
// A step of 32 rows would lie in two groups.
mirage_kernel.graph @program_a(%x: tensor<16x3x96xf16>, %w: tensor<16x96x48xi8>, %s: tensor<16x1x48xf16>) -> tensor<1x3x48xf16> {
  %c = cast %w : tensor<16x96x48xi8> -> tensor<16x96x48xf16>
  %p = matmul %x, %c : tensor<16x3x96xf16>, tensor<16x96x48xf16>
  %m = reduce_sum %p {dim = 0} : tensor<16x3x48xf16>
  return %m : tensor<1x3x48xf16>
}
mirage_kernel.graph @ragged(%x: tensor<16x3x96xf16>, %w: tensor<16x96x48xi8>, %s: tensor<16x1x48xf16>) -> tensor<1x3x48xf16> attributes {source = @program_a} {
  %y = custom (%xk = %x, %wk = %w, %sk = %s) outs(%yk) grid [1] : (tensor<16x3x96xf16>, tensor<16x96x48xi8>, tensor<16x1x48xf16>) -> tensor<1x3x48xf16> {
    %zero = constant 0.0 : !mirage_block.tile<1x3x48xf32>
    %sum = loop 2 (%a = %zero sum) : !mirage_block.tile<1x3x48xf32> {
      %xt = load %xk {loop = [2]} : tensor<16x3x96xf16> -> !mirage_block.tile<16x3x48xf16>
      %wt = load %wk {loop = [1]} : tensor<16x96x48xi8> -> !mirage_block.tile<16x48x48xi8>
      %st = load %sk : tensor<16x1x48xf16> -> !mirage_block.tile<16x1x48xf16>
      %ct = cast %wt : !mirage_block.tile<16x48x48xi8> -> !mirage_block.tile<16x48x48xf16>
      %p = matmul %xt, %ct : !mirage_block.tile<16x3x48xf16>, !mirage_block.tile<16x48x48xf16>
      %m = mul %p, %st : !mirage_block.tile<16x3x48xf32>, !mirage_block.tile<16x1x48xf16>
      %r = reduce_sum %m {dim = 0} : !mirage_block.tile<16x3x48xf32>
      yield %r : !mirage_block.tile<1x3x48xf32>
    }
    store %sum, %yk : !mirage_block.tile<1x3x48xf32>, tensor<1x3x48xf16>
  }
  return %y : tensor<1x3x48xf16>
}
// The sum is over activation rows.
mirage_kernel.graph @program_b(%x: tensor<8x3x128xf16>, %w: tensor<8x128x48xi8>, %s: tensor<8x1x48xf16>) -> tensor<8x1x48xf16> {
  %c = cast %w : tensor<8x128x48xi8> -> tensor<8x128x48xf16>
  %p = matmul %x, %c : tensor<8x3x128xf16>, tensor<8x128x48xf16>
  %m = reduce_sum %p {dim = 1} : tensor<8x3x48xf16>
  return %m : tensor<8x1x48xf16>
}
mirage_kernel.graph @rows(%x: tensor<8x3x128xf16>, %w: tensor<8x128x48xi8>, %s: tensor<8x1x48xf16>) -> tensor<8x1x48xf16> attributes {source = @program_b} {
  %y = custom (%xk = %x, %wk = %w, %sk = %s) outs(%yk) grid [1] : (tensor<8x3x128xf16>, tensor<8x128x48xi8>, tensor<8x1x48xf16>) -> tensor<8x1x48xf16> {
    %zero = constant 0.0 : !mirage_block.tile<8x1x48xf32>
    %sum = loop 2 (%a = %zero sum) : !mirage_block.tile<8x1x48xf32> {
      %xt = load %xk {loop = [2]} : tensor<8x3x128xf16> -> !mirage_block.tile<8x3x64xf16>
      %wt = load %wk {loop = [1]} : tensor<8x128x48xi8> -> !mirage_block.tile<8x64x48xi8>
      %st = load %sk : tensor<8x1x48xf16> -> !mirage_block.tile<8x1x48xf16>
      %ct = cast %wt : !mirage_block.tile<8x64x48xi8> -> !mirage_block.tile<8x64x48xf16>
      %p = matmul %xt, %ct : !mirage_block.tile<8x3x64xf16>, !mirage_block.tile<8x64x48xf16>
      %m = mul %p, %st : !mirage_block.tile<8x3x48xf32>, !mirage_block.tile<8x1x48xf16>
      %r = reduce_sum %m {dim = 1} : !mirage_block.tile<8x3x48xf32>
      yield %r : !mirage_block.tile<8x1x48xf32>
    }
    store %sum, %yk : !mirage_block.tile<8x1x48xf32>, tensor<8x1x48xf16>
  }
  return %y : tensor<8x1x48xf16>
}
// Somebody else takes the product: it is squared.
mirage_kernel.graph @program_c(%x: tensor<8x3x128xf16>, %w: tensor<8x128x48xi8>, %s: tensor<8x1x48xf16>) -> tensor<1x3x48xf16> {
  %c = cast %w : tensor<8x128x48xi8> -> tensor<8x128x48xf16>
  %p = matmul %x, %c : tensor<8x3x128xf16>, tensor<8x128x48xf16>
  %m = reduce_sum %p {dim = 0} : tensor<8x3x48xf16>
  return %m : tensor<1x3x48xf16>
}
mirage_kernel.graph @squares(%x: tensor<8x3x128xf16>, %w: tensor<8x128x48xi8>, %s: tensor<8x1x48xf16>) -> tensor<1x3x48xf16> attributes {source = @program_c} {
  %y = custom (%xk = %x, %wk = %w, %sk = %s) outs(%yk) grid [1] : (tensor<8x3x128xf16>, tensor<8x128x48xi8>, tensor<8x1x48xf16>) -> tensor<1x3x48xf16> {
    %zero = constant 0.0 : !mirage_block.tile<1x3x48xf32>
    %sum = loop 2 (%a = %zero sum) : !mirage_block.tile<1x3x48xf32> {
      %xt = load %xk {loop = [2]} : tensor<8x3x128xf16> -> !mirage_block.tile<8x3x64xf16>
      %wt = load %wk {loop = [1]} : tensor<8x128x48xi8> -> !mirage_block.tile<8x64x48xi8>
      %st = load %sk : tensor<8x1x48xf16> -> !mirage_block.tile<8x1x48xf16>
      %ct = cast %wt : !mirage_block.tile<8x64x48xi8> -> !mirage_block.tile<8x64x48xf16>
      %p = matmul %xt, %ct : !mirage_block.tile<8x3x64xf16>, !mirage_block.tile<8x64x48xf16>
      %m = mul %p, %p : !mirage_block.tile<8x3x48xf32>, !mirage_block.tile<8x3x48xf32>
      %r = reduce_sum %m {dim = 0} : !mirage_block.tile<8x3x48xf32>
      yield %r : !mirage_block.tile<1x3x48xf32>
    }
    store %sum, %yk : !mirage_block.tile<1x3x48xf32>, tensor<1x3x48xf16>
  }
  return %y : tensor<1x3x48xf16>
}
