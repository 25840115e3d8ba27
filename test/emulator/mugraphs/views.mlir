// Windows of tensors: halves of rows rotated against each other, and a gated unit whose two weights lie side by side. Of even
// sizes, ragged ones, and windows that begin at odd elements.
// RUN: mirage-module-test --warps 1 --warps 8 %s
// RUN: mirage-mlir-opt %s --mirage-verify -o /dev/null 2>&1 | FileCheck %s
// CHECK-COUNT-6: 1 equivalent {{.*}} 0 different, 0 unsupported

mirage_kernel.graph @rope(%x: tensor<32x128xf16>, %c: tensor<32x64xf16>, %s: tensor<32x64xf16>) -> tensor<32x128xf16> {
  %a = slice %x {dim = 1, begin = 0, end = 64} : tensor<32x128xf16>
  %b = slice %x {dim = 1, begin = 64, end = 128} : tensor<32x128xf16>
  %ac = mul %a, %c : tensor<32x64xf16>, tensor<32x64xf16>
  %bs = mul %b, %s : tensor<32x64xf16>, tensor<32x64xf16>
  %u = sub %ac, %bs : tensor<32x64xf16>, tensor<32x64xf16>
  %bc = mul %b, %c : tensor<32x64xf16>, tensor<32x64xf16>
  %as = mul %a, %s : tensor<32x64xf16>, tensor<32x64xf16>
  %v = add %bc, %as : tensor<32x64xf16>, tensor<32x64xf16>
  %y = concat %u, %v {dim = 1} : tensor<32x64xf16>, tensor<32x64xf16>
  return %y : tensor<32x128xf16>
}

mirage_kernel.graph @rope_windows(%x: tensor<32x128xf16>, %c: tensor<32x64xf16>, %s: tensor<32x64xf16>) -> tensor<32x128xf16> attributes {source = @rope} {
  %y = custom (%xk = %x, %ck = %c, %sk = %s) outs(%yk) grid [2, 8] : (tensor<32x128xf16>, tensor<32x64xf16>, tensor<32x64xf16>) -> tensor<32x128xf16> {
    %a = load %xk {grid = [1, 0], begin = [0, 0], end = [0, 64]} : tensor<32x128xf16> -> !mirage_block.tile<4x32xf16>
    %b = load %xk {grid = [1, 0], begin = [0, 64], end = [0, 128]} : tensor<32x128xf16> -> !mirage_block.tile<4x32xf16>
    %ct = load %ck {grid = [1, 0]} : tensor<32x64xf16> -> !mirage_block.tile<4x32xf16>
    %st = load %sk {grid = [1, 0]} : tensor<32x64xf16> -> !mirage_block.tile<4x32xf16>
    %ac = mul %a, %ct : !mirage_block.tile<4x32xf16>, !mirage_block.tile<4x32xf16>
    %bs = mul %b, %st : !mirage_block.tile<4x32xf16>, !mirage_block.tile<4x32xf16>
    %u = sub %ac, %bs : !mirage_block.tile<4x32xf32>, !mirage_block.tile<4x32xf32>
    %bc = mul %b, %ct : !mirage_block.tile<4x32xf16>, !mirage_block.tile<4x32xf16>
    %as = mul %a, %st : !mirage_block.tile<4x32xf16>, !mirage_block.tile<4x32xf16>
    %v = add %bc, %as : !mirage_block.tile<4x32xf32>, !mirage_block.tile<4x32xf32>
    store %u, %yk {grid = [1, 0], begin = [0, 0], end = [0, 64]} : !mirage_block.tile<4x32xf32>, tensor<32x128xf16>
    store %v, %yk {grid = [1, 0], begin = [0, 64], end = [0, 128]} : !mirage_block.tile<4x32xf32>, tensor<32x128xf16>
  }
  return %y : tensor<32x128xf16>
}

mirage_kernel.graph @rope_ragged(%x: tensor<5x130xf16>, %c: tensor<5x65xf16>, %s: tensor<5x65xf16>) -> tensor<5x130xf16> {
  %a = slice %x {dim = 1, begin = 0, end = 65} : tensor<5x130xf16>
  %b = slice %x {dim = 1, begin = 65, end = 130} : tensor<5x130xf16>
  %ac = mul %a, %c : tensor<5x65xf16>, tensor<5x65xf16>
  %bs = mul %b, %s : tensor<5x65xf16>, tensor<5x65xf16>
  %u = sub %ac, %bs : tensor<5x65xf16>, tensor<5x65xf16>
  %bc = mul %b, %c : tensor<5x65xf16>, tensor<5x65xf16>
  %as = mul %a, %s : tensor<5x65xf16>, tensor<5x65xf16>
  %v = add %bc, %as : tensor<5x65xf16>, tensor<5x65xf16>
  %y = concat %u, %v {dim = 1} : tensor<5x65xf16>, tensor<5x65xf16>
  return %y : tensor<5x130xf16>
}

mirage_kernel.graph @rope_ragged_windows(%x: tensor<5x130xf16>, %c: tensor<5x65xf16>, %s: tensor<5x65xf16>) -> tensor<5x130xf16> attributes {source = @rope_ragged} {
  %y = custom (%xk = %x, %ck = %c, %sk = %s) outs(%yk) grid [3, 2] : (tensor<5x130xf16>, tensor<5x65xf16>, tensor<5x65xf16>) -> tensor<5x130xf16> {
    %a = load %xk {grid = [1, 0], begin = [0, 0], end = [0, 65]} : tensor<5x130xf16> -> !mirage_block.tile<3x22xf16>
    %b = load %xk {grid = [1, 0], begin = [0, 65], end = [0, 130]} : tensor<5x130xf16> -> !mirage_block.tile<3x22xf16>
    %ct = load %ck {grid = [1, 0]} : tensor<5x65xf16> -> !mirage_block.tile<3x22xf16>
    %st = load %sk {grid = [1, 0]} : tensor<5x65xf16> -> !mirage_block.tile<3x22xf16>
    %ac = mul %a, %ct : !mirage_block.tile<3x22xf16>, !mirage_block.tile<3x22xf16>
    %bs = mul %b, %st : !mirage_block.tile<3x22xf16>, !mirage_block.tile<3x22xf16>
    %u = sub %ac, %bs : !mirage_block.tile<3x22xf32>, !mirage_block.tile<3x22xf32>
    %bc = mul %b, %ct : !mirage_block.tile<3x22xf16>, !mirage_block.tile<3x22xf16>
    %as = mul %a, %st : !mirage_block.tile<3x22xf16>, !mirage_block.tile<3x22xf16>
    %v = add %bc, %as : !mirage_block.tile<3x22xf32>, !mirage_block.tile<3x22xf32>
    store %u, %yk {grid = [1, 0], begin = [0, 0], end = [0, 65]} : !mirage_block.tile<3x22xf32>, tensor<5x130xf16>
    store %v, %yk {grid = [1, 0], begin = [0, 65], end = [0, 130]} : !mirage_block.tile<3x22xf32>, tensor<5x130xf16>
  }
  return %y : tensor<5x130xf16>
}

mirage_kernel.graph @rope_odd(%x: tensor<3x46xbf16>, %c: tensor<3x23xbf16>, %s: tensor<3x23xbf16>) -> tensor<3x46xbf16> {
  %a = slice %x {dim = 1, begin = 0, end = 23} : tensor<3x46xbf16>
  %b = slice %x {dim = 1, begin = 23, end = 46} : tensor<3x46xbf16>
  %ac = mul %a, %c : tensor<3x23xbf16>, tensor<3x23xbf16>
  %bs = mul %b, %s : tensor<3x23xbf16>, tensor<3x23xbf16>
  %u = sub %ac, %bs : tensor<3x23xbf16>, tensor<3x23xbf16>
  %bc = mul %b, %c : tensor<3x23xbf16>, tensor<3x23xbf16>
  %as = mul %a, %s : tensor<3x23xbf16>, tensor<3x23xbf16>
  %v = add %bc, %as : tensor<3x23xbf16>, tensor<3x23xbf16>
  %y = concat %u, %v {dim = 1} : tensor<3x23xbf16>, tensor<3x23xbf16>
  return %y : tensor<3x46xbf16>
}

mirage_kernel.graph @rope_odd_windows(%x: tensor<3x46xbf16>, %c: tensor<3x23xbf16>, %s: tensor<3x23xbf16>) -> tensor<3x46xbf16> attributes {source = @rope_odd} {
  %y = custom (%xk = %x, %ck = %c, %sk = %s) outs(%yk) grid [1, 3] : (tensor<3x46xbf16>, tensor<3x23xbf16>, tensor<3x23xbf16>) -> tensor<3x46xbf16> {
    %a = load %xk {grid = [1, 0], begin = [0, 0], end = [0, 23]} : tensor<3x46xbf16> -> !mirage_block.tile<1x23xbf16>
    %b = load %xk {grid = [1, 0], begin = [0, 23], end = [0, 46]} : tensor<3x46xbf16> -> !mirage_block.tile<1x23xbf16>
    %ct = load %ck {grid = [1, 0]} : tensor<3x23xbf16> -> !mirage_block.tile<1x23xbf16>
    %st = load %sk {grid = [1, 0]} : tensor<3x23xbf16> -> !mirage_block.tile<1x23xbf16>
    %ac = mul %a, %ct : !mirage_block.tile<1x23xbf16>, !mirage_block.tile<1x23xbf16>
    %bs = mul %b, %st : !mirage_block.tile<1x23xbf16>, !mirage_block.tile<1x23xbf16>
    %u = sub %ac, %bs : !mirage_block.tile<1x23xf32>, !mirage_block.tile<1x23xf32>
    %bc = mul %b, %ct : !mirage_block.tile<1x23xbf16>, !mirage_block.tile<1x23xbf16>
    %as = mul %a, %st : !mirage_block.tile<1x23xbf16>, !mirage_block.tile<1x23xbf16>
    %v = add %bc, %as : !mirage_block.tile<1x23xf32>, !mirage_block.tile<1x23xf32>
    store %u, %yk {grid = [1, 0], begin = [0, 0], end = [0, 23]} : !mirage_block.tile<1x23xf32>, tensor<3x46xbf16>
    store %v, %yk {grid = [1, 0], begin = [0, 23], end = [0, 46]} : !mirage_block.tile<1x23xf32>, tensor<3x46xbf16>
  }
  return %y : tensor<3x46xbf16>
}

mirage_kernel.graph @swiglu(%x: tensor<16x128xf16>, %w: tensor<128x128xf16>) -> tensor<16x64xf16> {
  %p = matmul %x, %w : tensor<16x128xf16>, tensor<128x128xf16>
  %a = slice %p {dim = 1, begin = 0, end = 64} : tensor<16x128xf16>
  %b = slice %p {dim = 1, begin = 64, end = 128} : tensor<16x128xf16>
  %s = silu %a : tensor<16x64xf16>
  %y = mul %s, %b : tensor<16x64xf16>, tensor<16x64xf16>
  return %y : tensor<16x64xf16>
}

mirage_kernel.graph @swiglu_windows(%x: tensor<16x128xf16>, %w: tensor<128x128xf16>) -> tensor<16x64xf16> attributes {source = @swiglu} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2] : (tensor<16x128xf16>, tensor<128x128xf16>) -> tensor<16x64xf16> {
    %zero = constant 0.0 : !mirage_block.tile<16x32xf32>
    %a, %b = loop 4 (%p = %zero sum, %q = %zero sum) : !mirage_block.tile<16x32xf32>, !mirage_block.tile<16x32xf32> {
      %xt = load %xk {loop = [1]} : tensor<16x128xf16> -> !mirage_block.tile<16x32xf16>
      %at = load %wk {grid = [1], loop = [0], begin = [0, 0], end = [0, 64]} : tensor<128x128xf16> -> !mirage_block.tile<32x32xf16>
      %bt = load %wk {grid = [1], loop = [0], begin = [0, 64], end = [0, 128]} : tensor<128x128xf16> -> !mirage_block.tile<32x32xf16>
      %u = matmul %xt, %at : !mirage_block.tile<16x32xf16>, !mirage_block.tile<32x32xf16>
      %v = matmul %xt, %bt : !mirage_block.tile<16x32xf16>, !mirage_block.tile<32x32xf16>
      yield %u, %v : !mirage_block.tile<16x32xf32>, !mirage_block.tile<16x32xf32>
    }
    %s = silu %a : !mirage_block.tile<16x32xf32>
    %r = mul %s, %b : !mirage_block.tile<16x32xf32>, !mirage_block.tile<16x32xf32>
    store %r, %yk {grid = [1]} : !mirage_block.tile<16x32xf32>, tensor<16x64xf16>
  }
  return %y : tensor<16x64xf16>
}

mirage_kernel.graph @swiglu_ragged(%x: tensor<3x97xf16>, %w: tensor<97x130xf16>) -> tensor<3x65xf16> {
  %p = matmul %x, %w : tensor<3x97xf16>, tensor<97x130xf16>
  %a = slice %p {dim = 1, begin = 0, end = 65} : tensor<3x130xf16>
  %b = slice %p {dim = 1, begin = 65, end = 130} : tensor<3x130xf16>
  %s = silu %a : tensor<3x65xf16>
  %y = mul %s, %b : tensor<3x65xf16>, tensor<3x65xf16>
  return %y : tensor<3x65xf16>
}

mirage_kernel.graph @swiglu_ragged_windows(%x: tensor<3x97xf16>, %w: tensor<97x130xf16>) -> tensor<3x65xf16> attributes {source = @swiglu_ragged} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [3] : (tensor<3x97xf16>, tensor<97x130xf16>) -> tensor<3x65xf16> {
    %zero = constant 0.0 : !mirage_block.tile<3x22xf32>
    %a, %b = loop 4 (%p = %zero sum, %q = %zero sum) : !mirage_block.tile<3x22xf32>, !mirage_block.tile<3x22xf32> {
      %xt = load %xk {loop = [1]} : tensor<3x97xf16> -> !mirage_block.tile<3x25xf16>
      %at = load %wk {grid = [1], loop = [0], begin = [0, 0], end = [0, 65]} : tensor<97x130xf16> -> !mirage_block.tile<25x22xf16>
      %bt = load %wk {grid = [1], loop = [0], begin = [0, 65], end = [0, 130]} : tensor<97x130xf16> -> !mirage_block.tile<25x22xf16>
      %u = matmul %xt, %at : !mirage_block.tile<3x25xf16>, !mirage_block.tile<25x22xf16>
      %v = matmul %xt, %bt : !mirage_block.tile<3x25xf16>, !mirage_block.tile<25x22xf16>
      yield %u, %v : !mirage_block.tile<3x22xf32>, !mirage_block.tile<3x22xf32>
    }
    %s = silu %a : !mirage_block.tile<3x22xf32>
    %r = mul %s, %b : !mirage_block.tile<3x22xf32>, !mirage_block.tile<3x22xf32>
    store %r, %yk {grid = [1]} : !mirage_block.tile<3x22xf32>, tensor<3x65xf16>
  }
  return %y : tensor<3x65xf16>
}

mirage_kernel.graph @swiglu_rows(%x: tensor<17x64xbf16>, %w: tensor<64x48xbf16>) -> tensor<17x24xbf16> {
  %p = matmul %x, %w : tensor<17x64xbf16>, tensor<64x48xbf16>
  %a = slice %p {dim = 1, begin = 0, end = 24} : tensor<17x48xbf16>
  %b = slice %p {dim = 1, begin = 24, end = 48} : tensor<17x48xbf16>
  %s = silu %a : tensor<17x24xbf16>
  %y = mul %s, %b : tensor<17x24xbf16>, tensor<17x24xbf16>
  return %y : tensor<17x24xbf16>
}

mirage_kernel.graph @swiglu_rows_windows(%x: tensor<17x64xbf16>, %w: tensor<64x48xbf16>) -> tensor<17x24xbf16> attributes {source = @swiglu_rows} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [1] : (tensor<17x64xbf16>, tensor<64x48xbf16>) -> tensor<17x24xbf16> {
    %zero = constant 0.0 : !mirage_block.tile<17x24xf32>
    %a, %b = loop 2 (%p = %zero sum, %q = %zero sum) : !mirage_block.tile<17x24xf32>, !mirage_block.tile<17x24xf32> {
      %xt = load %xk {loop = [1]} : tensor<17x64xbf16> -> !mirage_block.tile<17x32xbf16>
      %at = load %wk {grid = [1], loop = [0], begin = [0, 0], end = [0, 24]} : tensor<64x48xbf16> -> !mirage_block.tile<32x24xbf16>
      %bt = load %wk {grid = [1], loop = [0], begin = [0, 24], end = [0, 48]} : tensor<64x48xbf16> -> !mirage_block.tile<32x24xbf16>
      %u = matmul %xt, %at : !mirage_block.tile<17x32xbf16>, !mirage_block.tile<32x24xbf16>
      %v = matmul %xt, %bt : !mirage_block.tile<17x32xbf16>, !mirage_block.tile<32x24xbf16>
      yield %u, %v : !mirage_block.tile<17x24xf32>, !mirage_block.tile<17x24xf32>
    }
    %s = silu %a : !mirage_block.tile<17x24xf32>
    %r = mul %s, %b : !mirage_block.tile<17x24xf32>, !mirage_block.tile<17x24xf32>
    store %r, %yk {grid = [1]} : !mirage_block.tile<17x24xf32>, tensor<17x24xbf16>
  }
  return %y : tensor<17x24xbf16>
}
