// Warpgroups sum products of f8 in fewer bits than f32 has: no more than 1024 of them. Warps multiply longer ones, in f32.
//
// RUN: mirage-mlir-opt %s --mirage-layout=explain -o /dev/null 2>&1 | FileCheck %s

// CHECK: form: warpgroup products: taken
mirage_kernel.graph @short_program(%x: tensor<128x1024xf8E4M3FN>, %w: tensor<128x1024xf8E4M3FN>) -> tensor<128x128xf32> {
  %y = matmul %x, %w {transpose_b} : tensor<128x1024xf8E4M3FN>, tensor<128x1024xf8E4M3FN>
  return %y : tensor<128x128xf32>
}

mirage_kernel.graph @short(%x: tensor<128x1024xf8E4M3FN>, %w: tensor<128x1024xf8E4M3FN>) -> tensor<128x128xf32> attributes {source = @short_program} {
  %y = custom (%cx = %x, %cw = %w) outs(%o) grid [1] : (tensor<128x1024xf8E4M3FN>, tensor<128x1024xf8E4M3FN>) -> tensor<128x128xf32> {
    %z = constant 0.0 : !mirage_block.tile<128x128xf32>
    %s = loop 8 (%p = %z sum) : !mirage_block.tile<128x128xf32> {
      %a = load %cx {loop = [1]} : tensor<128x1024xf8E4M3FN> -> !mirage_block.tile<128x128xf8E4M3FN>
      %b = load %cw {loop = [1]} : tensor<128x1024xf8E4M3FN> -> !mirage_block.tile<128x128xf8E4M3FN>
      %m = matmul %a, %b {transpose_b} : !mirage_block.tile<128x128xf8E4M3FN>, !mirage_block.tile<128x128xf8E4M3FN> -> !mirage_block.tile<128x128xf32>
      yield %m : !mirage_block.tile<128x128xf32>
    }
    store %s, %o : !mirage_block.tile<128x128xf32>, tensor<128x128xf32>
  }
  return %y : tensor<128x128xf32>
}

// CHECK: form: warpgroup products: no: so long a sum of products of f8 loses digits in a warpgroup's instruction
mirage_kernel.graph @long_program(%x: tensor<128x1152xf8E4M3FN>, %w: tensor<128x1152xf8E4M3FN>) -> tensor<128x128xf32> {
  %y = matmul %x, %w {transpose_b} : tensor<128x1152xf8E4M3FN>, tensor<128x1152xf8E4M3FN>
  return %y : tensor<128x128xf32>
}

mirage_kernel.graph @long(%x: tensor<128x1152xf8E4M3FN>, %w: tensor<128x1152xf8E4M3FN>) -> tensor<128x128xf32> attributes {source = @long_program} {
  %y = custom (%cx = %x, %cw = %w) outs(%o) grid [1] : (tensor<128x1152xf8E4M3FN>, tensor<128x1152xf8E4M3FN>) -> tensor<128x128xf32> {
    %z = constant 0.0 : !mirage_block.tile<128x128xf32>
    %s = loop 9 (%p = %z sum) : !mirage_block.tile<128x128xf32> {
      %a = load %cx {loop = [1]} : tensor<128x1152xf8E4M3FN> -> !mirage_block.tile<128x128xf8E4M3FN>
      %b = load %cw {loop = [1]} : tensor<128x1152xf8E4M3FN> -> !mirage_block.tile<128x128xf8E4M3FN>
      %m = matmul %a, %b {transpose_b} : !mirage_block.tile<128x128xf8E4M3FN>, !mirage_block.tile<128x128xf8E4M3FN> -> !mirage_block.tile<128x128xf32>
      yield %m : !mirage_block.tile<128x128xf32>
    }
    store %s, %o : !mirage_block.tile<128x128xf32>, tensor<128x128xf32>
  }
  return %y : tensor<128x128xf32>
}
