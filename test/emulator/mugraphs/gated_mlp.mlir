// silu(x @ w1) * (x @ w2): two results of one kernel and a kernel-level product; and all in one kernel.
// RUN: mirage-module-test --warps 1 --warps 8 %s
// RUN: mirage-mlir-opt %s --mirage-verify -o /dev/null 2>&1 | FileCheck %s
// CHECK-COUNT-2: 0 different, 0 unsupported

mirage_kernel.graph @even(%x: tensor<8x256xf16>, %w1: tensor<256x128xf16>, %w2: tensor<256x128xf16>) -> tensor<8x128xf16> {
  %a = matmul %x, %w1 : tensor<8x256xf16>, tensor<256x128xf16>
  %b = matmul %x, %w2 : tensor<8x256xf16>, tensor<256x128xf16>
  %s = silu %a : tensor<8x128xf16>
  %y = mul %s, %b : tensor<8x128xf16>, tensor<8x128xf16>
  return %y : tensor<8x128xf16>
}
mirage_kernel.graph @even_two_outputs(%x: tensor<8x256xf16>, %w1: tensor<256x128xf16>, %w2: tensor<256x128xf16>) -> tensor<8x128xf16>
    attributes {source = @even} {
  %s, %b = custom (%xk = %x, %w1k = %w1, %w2k = %w2) outs(%sk, %bk) grid [4]
      : (tensor<8x256xf16>, tensor<256x128xf16>, tensor<256x128xf16>) -> (tensor<8x128xf16>, tensor<8x128xf16>) {
    %zero = constant 0.0 : !mirage_block.tile<8x32xf32>
    %a, %b = loop 4 (%p = %zero sum, %q = %zero sum) : !mirage_block.tile<8x32xf32>, !mirage_block.tile<8x32xf32> {
      %xt = load %xk {loop = [1]} : tensor<8x256xf16> -> !mirage_block.tile<8x64xf16>
      %w1t = load %w1k {grid = [1], loop = [0]} : tensor<256x128xf16> -> !mirage_block.tile<64x32xf16>
      %w2t = load %w2k {grid = [1], loop = [0]} : tensor<256x128xf16> -> !mirage_block.tile<64x32xf16>
      %pa = matmul %xt, %w1t : !mirage_block.tile<8x64xf16>, !mirage_block.tile<64x32xf16>
      %pb = matmul %xt, %w2t : !mirage_block.tile<8x64xf16>, !mirage_block.tile<64x32xf16>
      yield %pa, %pb : !mirage_block.tile<8x32xf32>, !mirage_block.tile<8x32xf32>
    }
    %s = silu %a : !mirage_block.tile<8x32xf32>
    store %s, %sk {grid = [1]} : !mirage_block.tile<8x32xf32>, tensor<8x128xf16>
    store %b, %bk {grid = [1]} : !mirage_block.tile<8x32xf32>, tensor<8x128xf16>
  }
  %y = mul %s, %b : tensor<8x128xf16>, tensor<8x128xf16>
  return %y : tensor<8x128xf16>
}
mirage_kernel.graph @even_one_kernel(%x: tensor<8x256xf16>, %w1: tensor<256x128xf16>, %w2: tensor<256x128xf16>) -> tensor<8x128xf16>
    attributes {source = @even} {
  %y = custom (%xk = %x, %w1k = %w1, %w2k = %w2) outs(%yk) grid [4]
      : (tensor<8x256xf16>, tensor<256x128xf16>, tensor<256x128xf16>) -> tensor<8x128xf16> {
    %zero = constant 0.0 : !mirage_block.tile<8x32xf32>
    %a, %b = loop 4 (%p = %zero sum, %q = %zero sum) : !mirage_block.tile<8x32xf32>, !mirage_block.tile<8x32xf32> {
      %xt = load %xk {loop = [1]} : tensor<8x256xf16> -> !mirage_block.tile<8x64xf16>
      %w1t = load %w1k {grid = [1], loop = [0]} : tensor<256x128xf16> -> !mirage_block.tile<64x32xf16>
      %w2t = load %w2k {grid = [1], loop = [0]} : tensor<256x128xf16> -> !mirage_block.tile<64x32xf16>
      %pa = matmul %xt, %w1t : !mirage_block.tile<8x64xf16>, !mirage_block.tile<64x32xf16>
      %pb = matmul %xt, %w2t : !mirage_block.tile<8x64xf16>, !mirage_block.tile<64x32xf16>
      yield %pa, %pb : !mirage_block.tile<8x32xf32>, !mirage_block.tile<8x32xf32>
    }
    %s = silu %a : !mirage_block.tile<8x32xf32>
    %t = mul %s, %b : !mirage_block.tile<8x32xf32>, !mirage_block.tile<8x32xf32>
    store %t, %yk {grid = [1]} : !mirage_block.tile<8x32xf32>, tensor<8x128xf16>
  }
  return %y : tensor<8x128xf16>
}


mirage_kernel.graph @ragged(%x: tensor<3x97xbf16>, %w1: tensor<97x65xbf16>, %w2: tensor<97x65xbf16>) -> tensor<3x65xbf16> {
  %a = matmul %x, %w1 : tensor<3x97xbf16>, tensor<97x65xbf16>
  %b = matmul %x, %w2 : tensor<3x97xbf16>, tensor<97x65xbf16>
  %s = silu %a : tensor<3x65xbf16>
  %y = mul %s, %b : tensor<3x65xbf16>, tensor<3x65xbf16>
  return %y : tensor<3x65xbf16>
}
mirage_kernel.graph @ragged_two_outputs(%x: tensor<3x97xbf16>, %w1: tensor<97x65xbf16>, %w2: tensor<97x65xbf16>) -> tensor<3x65xbf16>
    attributes {source = @ragged} {
  %s, %b = custom (%xk = %x, %w1k = %w1, %w2k = %w2) outs(%sk, %bk) grid [3]
      : (tensor<3x97xbf16>, tensor<97x65xbf16>, tensor<97x65xbf16>) -> (tensor<3x65xbf16>, tensor<3x65xbf16>) {
    %zero = constant 0.0 : !mirage_block.tile<3x22xf32>
    %a, %b = loop 4 (%p = %zero sum, %q = %zero sum) : !mirage_block.tile<3x22xf32>, !mirage_block.tile<3x22xf32> {
      %xt = load %xk {loop = [1]} : tensor<3x97xbf16> -> !mirage_block.tile<3x25xbf16>
      %w1t = load %w1k {grid = [1], loop = [0]} : tensor<97x65xbf16> -> !mirage_block.tile<25x22xbf16>
      %w2t = load %w2k {grid = [1], loop = [0]} : tensor<97x65xbf16> -> !mirage_block.tile<25x22xbf16>
      %pa = matmul %xt, %w1t : !mirage_block.tile<3x25xbf16>, !mirage_block.tile<25x22xbf16>
      %pb = matmul %xt, %w2t : !mirage_block.tile<3x25xbf16>, !mirage_block.tile<25x22xbf16>
      yield %pa, %pb : !mirage_block.tile<3x22xf32>, !mirage_block.tile<3x22xf32>
    }
    %s = silu %a : !mirage_block.tile<3x22xf32>
    store %s, %sk {grid = [1]} : !mirage_block.tile<3x22xf32>, tensor<3x65xbf16>
    store %b, %bk {grid = [1]} : !mirage_block.tile<3x22xf32>, tensor<3x65xbf16>
  }
  %y = mul %s, %b : tensor<3x65xbf16>, tensor<3x65xbf16>
  return %y : tensor<3x65xbf16>
}
mirage_kernel.graph @ragged_one_kernel(%x: tensor<3x97xbf16>, %w1: tensor<97x65xbf16>, %w2: tensor<97x65xbf16>) -> tensor<3x65xbf16>
    attributes {source = @ragged} {
  %y = custom (%xk = %x, %w1k = %w1, %w2k = %w2) outs(%yk) grid [3]
      : (tensor<3x97xbf16>, tensor<97x65xbf16>, tensor<97x65xbf16>) -> tensor<3x65xbf16> {
    %zero = constant 0.0 : !mirage_block.tile<3x22xf32>
    %a, %b = loop 4 (%p = %zero sum, %q = %zero sum) : !mirage_block.tile<3x22xf32>, !mirage_block.tile<3x22xf32> {
      %xt = load %xk {loop = [1]} : tensor<3x97xbf16> -> !mirage_block.tile<3x25xbf16>
      %w1t = load %w1k {grid = [1], loop = [0]} : tensor<97x65xbf16> -> !mirage_block.tile<25x22xbf16>
      %w2t = load %w2k {grid = [1], loop = [0]} : tensor<97x65xbf16> -> !mirage_block.tile<25x22xbf16>
      %pa = matmul %xt, %w1t : !mirage_block.tile<3x25xbf16>, !mirage_block.tile<25x22xbf16>
      %pb = matmul %xt, %w2t : !mirage_block.tile<3x25xbf16>, !mirage_block.tile<25x22xbf16>
      yield %pa, %pb : !mirage_block.tile<3x22xf32>, !mirage_block.tile<3x22xf32>
    }
    %s = silu %a : !mirage_block.tile<3x22xf32>
    %t = mul %s, %b : !mirage_block.tile<3x22xf32>, !mirage_block.tile<3x22xf32>
    store %t, %yk {grid = [1]} : !mirage_block.tile<3x22xf32>, tensor<3x65xbf16>
  }
  return %y : tensor<3x65xbf16>
}
