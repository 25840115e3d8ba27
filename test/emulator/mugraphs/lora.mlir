// x @ w + (x @ a) @ b in one kernel: without a loop, as one product of concatenations, and with both sums carried.
// RUN: mirage-module-test --warps 1 --warps 8 %s
// RUN: mirage-mlir-opt %s --mirage-verify -o /dev/null 2>&1 | FileCheck %s
// CHECK-COUNT-2: 0 different, 0 unsupported

mirage_kernel.graph @even(%x: tensor<16x128xf16>, %w: tensor<128x128xf16>, %a: tensor<128x16xf16>, %b: tensor<16x128xf16>) -> tensor<16x128xf16> {
  %xw = matmul %x, %w : tensor<16x128xf16>, tensor<128x128xf16>
  %xa = matmul %x, %a : tensor<16x128xf16>, tensor<128x16xf16>
  %xab = matmul %xa, %b : tensor<16x16xf16>, tensor<16x128xf16>
  %y = add %xw, %xab : tensor<16x128xf16>, tensor<16x128xf16>
  return %y : tensor<16x128xf16>
}
mirage_kernel.graph @even_no_loop(%x: tensor<16x128xf16>, %w: tensor<128x128xf16>, %a: tensor<128x16xf16>, %b: tensor<16x128xf16>) -> tensor<16x128xf16>
    attributes {source = @even} {
  %y = custom (%xk = %x, %wk = %w, %ak = %a, %bk = %b) outs(%yk) grid [4]
      : (tensor<16x128xf16>, tensor<128x128xf16>, tensor<128x16xf16>, tensor<16x128xf16>) -> tensor<16x128xf16> {
    %xt = load %xk : tensor<16x128xf16> -> !mirage_block.tile<16x128xf16>
    %wt = load %wk {grid = [1]} : tensor<128x128xf16> -> !mirage_block.tile<128x32xf16>
    %at = load %ak : tensor<128x16xf16> -> !mirage_block.tile<128x16xf16>
    %bt = load %bk {grid = [1]} : tensor<16x128xf16> -> !mirage_block.tile<16x32xf16>
    %xw = matmul %xt, %wt : !mirage_block.tile<16x128xf16>, !mirage_block.tile<128x32xf16>
    %xa = matmul %xt, %at : !mirage_block.tile<16x128xf16>, !mirage_block.tile<128x16xf16>
    %h = cast %xa : !mirage_block.tile<16x16xf32> -> !mirage_block.tile<16x16xf16>
    %xab = matmul %h, %bt : !mirage_block.tile<16x16xf16>, !mirage_block.tile<16x32xf16>
    %s = add %xw, %xab : !mirage_block.tile<16x32xf32>, !mirage_block.tile<16x32xf32>
    store %s, %yk {grid = [1]} : !mirage_block.tile<16x32xf32>, tensor<16x128xf16>
  }
  return %y : tensor<16x128xf16>
}
// The low-rank factor joins the weight: [x | x a] @ [w ; b] in one product.
mirage_kernel.graph @even_concat(%x: tensor<16x128xf16>, %w: tensor<128x128xf16>, %a: tensor<128x16xf16>, %b: tensor<16x128xf16>) -> tensor<16x128xf16>
    attributes {source = @even} {
  %y = custom (%xk = %x, %wk = %w, %ak = %a, %bk = %b) outs(%yk) grid [4]
      : (tensor<16x128xf16>, tensor<128x128xf16>, tensor<128x16xf16>, tensor<16x128xf16>) -> tensor<16x128xf16> {
    %xt = load %xk : tensor<16x128xf16> -> !mirage_block.tile<16x128xf16>
    %wt = load %wk {grid = [1]} : tensor<128x128xf16> -> !mirage_block.tile<128x32xf16>
    %at = load %ak : tensor<128x16xf16> -> !mirage_block.tile<128x16xf16>
    %bt = load %bk {grid = [1]} : tensor<16x128xf16> -> !mirage_block.tile<16x32xf16>
    %xa = matmul %xt, %at : !mirage_block.tile<16x128xf16>, !mirage_block.tile<128x16xf16>
    %h = cast %xa : !mirage_block.tile<16x16xf32> -> !mirage_block.tile<16x16xf16>
    %left = concat %xt, %h {dim = 1} : !mirage_block.tile<16x128xf16>, !mirage_block.tile<16x16xf16>
    %right = concat %wt, %bt {dim = 0} : !mirage_block.tile<128x32xf16>, !mirage_block.tile<16x32xf16>
    %s = matmul %left, %right : !mirage_block.tile<16x144xf16>, !mirage_block.tile<144x32xf16>
    store %s, %yk {grid = [1]} : !mirage_block.tile<16x32xf32>, tensor<16x128xf16>
  }
  return %y : tensor<16x128xf16>
}
// Both sums are carried; the small product comes after the loop.
mirage_kernel.graph @even_loop(%x: tensor<16x128xf16>, %w: tensor<128x128xf16>, %a: tensor<128x16xf16>, %b: tensor<16x128xf16>) -> tensor<16x128xf16>
    attributes {source = @even} {
  %y = custom (%xk = %x, %wk = %w, %ak = %a, %bk = %b) outs(%yk) grid [4]
      : (tensor<16x128xf16>, tensor<128x128xf16>, tensor<128x16xf16>, tensor<16x128xf16>) -> tensor<16x128xf16> {
    %zero = constant 0.0 : !mirage_block.tile<16x32xf32>
    %none = constant 0.0 : !mirage_block.tile<16x16xf32>
    %xw, %xa = loop 4 (%p = %zero sum, %q = %none sum) : !mirage_block.tile<16x32xf32>, !mirage_block.tile<16x16xf32> {
      %xt = load %xk {loop = [1]} : tensor<16x128xf16> -> !mirage_block.tile<16x32xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<128x128xf16> -> !mirage_block.tile<32x32xf16>
      %at = load %ak {loop = [0]} : tensor<128x16xf16> -> !mirage_block.tile<32x16xf16>
      %pw = matmul %xt, %wt : !mirage_block.tile<16x32xf16>, !mirage_block.tile<32x32xf16>
      %pa = matmul %xt, %at : !mirage_block.tile<16x32xf16>, !mirage_block.tile<32x16xf16>
      yield %pw, %pa : !mirage_block.tile<16x32xf32>, !mirage_block.tile<16x16xf32>
    }
    %bt = load %bk {grid = [1]} : tensor<16x128xf16> -> !mirage_block.tile<16x32xf16>
    %h = cast %xa : !mirage_block.tile<16x16xf32> -> !mirage_block.tile<16x16xf16>
    %xab = matmul %h, %bt : !mirage_block.tile<16x16xf16>, !mirage_block.tile<16x32xf16>
    %s = add %xw, %xab : !mirage_block.tile<16x32xf32>, !mirage_block.tile<16x32xf32>
    store %s, %yk {grid = [1]} : !mirage_block.tile<16x32xf32>, tensor<16x128xf16>
  }
  return %y : tensor<16x128xf16>
}


mirage_kernel.graph @ragged(%x: tensor<17x97xbf16>, %w: tensor<97x65xbf16>, %a: tensor<97x5xbf16>, %b: tensor<5x65xbf16>) -> tensor<17x65xbf16> {
  %xw = matmul %x, %w : tensor<17x97xbf16>, tensor<97x65xbf16>
  %xa = matmul %x, %a : tensor<17x97xbf16>, tensor<97x5xbf16>
  %xab = matmul %xa, %b : tensor<17x5xbf16>, tensor<5x65xbf16>
  %y = add %xw, %xab : tensor<17x65xbf16>, tensor<17x65xbf16>
  return %y : tensor<17x65xbf16>
}
mirage_kernel.graph @ragged_no_loop(%x: tensor<17x97xbf16>, %w: tensor<97x65xbf16>, %a: tensor<97x5xbf16>, %b: tensor<5x65xbf16>) -> tensor<17x65xbf16>
    attributes {source = @ragged} {
  %y = custom (%xk = %x, %wk = %w, %ak = %a, %bk = %b) outs(%yk) grid [3]
      : (tensor<17x97xbf16>, tensor<97x65xbf16>, tensor<97x5xbf16>, tensor<5x65xbf16>) -> tensor<17x65xbf16> {
    %xt = load %xk : tensor<17x97xbf16> -> !mirage_block.tile<17x97xbf16>
    %wt = load %wk {grid = [1]} : tensor<97x65xbf16> -> !mirage_block.tile<97x22xbf16>
    %at = load %ak : tensor<97x5xbf16> -> !mirage_block.tile<97x5xbf16>
    %bt = load %bk {grid = [1]} : tensor<5x65xbf16> -> !mirage_block.tile<5x22xbf16>
    %xw = matmul %xt, %wt : !mirage_block.tile<17x97xbf16>, !mirage_block.tile<97x22xbf16>
    %xa = matmul %xt, %at : !mirage_block.tile<17x97xbf16>, !mirage_block.tile<97x5xbf16>
    %h = cast %xa : !mirage_block.tile<17x5xf32> -> !mirage_block.tile<17x5xbf16>
    %xab = matmul %h, %bt : !mirage_block.tile<17x5xbf16>, !mirage_block.tile<5x22xbf16>
    %s = add %xw, %xab : !mirage_block.tile<17x22xf32>, !mirage_block.tile<17x22xf32>
    store %s, %yk {grid = [1]} : !mirage_block.tile<17x22xf32>, tensor<17x65xbf16>
  }
  return %y : tensor<17x65xbf16>
}
// The low-rank factor joins the weight: [x | x a] @ [w ; b] in one product.
mirage_kernel.graph @ragged_concat(%x: tensor<17x97xbf16>, %w: tensor<97x65xbf16>, %a: tensor<97x5xbf16>, %b: tensor<5x65xbf16>) -> tensor<17x65xbf16>
    attributes {source = @ragged} {
  %y = custom (%xk = %x, %wk = %w, %ak = %a, %bk = %b) outs(%yk) grid [3]
      : (tensor<17x97xbf16>, tensor<97x65xbf16>, tensor<97x5xbf16>, tensor<5x65xbf16>) -> tensor<17x65xbf16> {
    %xt = load %xk : tensor<17x97xbf16> -> !mirage_block.tile<17x97xbf16>
    %wt = load %wk {grid = [1]} : tensor<97x65xbf16> -> !mirage_block.tile<97x22xbf16>
    %at = load %ak : tensor<97x5xbf16> -> !mirage_block.tile<97x5xbf16>
    %bt = load %bk {grid = [1]} : tensor<5x65xbf16> -> !mirage_block.tile<5x22xbf16>
    %xa = matmul %xt, %at : !mirage_block.tile<17x97xbf16>, !mirage_block.tile<97x5xbf16>
    %h = cast %xa : !mirage_block.tile<17x5xf32> -> !mirage_block.tile<17x5xbf16>
    %left = concat %xt, %h {dim = 1} : !mirage_block.tile<17x97xbf16>, !mirage_block.tile<17x5xbf16>
    %right = concat %wt, %bt {dim = 0} : !mirage_block.tile<97x22xbf16>, !mirage_block.tile<5x22xbf16>
    %s = matmul %left, %right : !mirage_block.tile<17x102xbf16>, !mirage_block.tile<102x22xbf16>
    store %s, %yk {grid = [1]} : !mirage_block.tile<17x22xf32>, tensor<17x65xbf16>
  }
  return %y : tensor<17x65xbf16>
}
// Both sums are carried; the small product comes after the loop.
mirage_kernel.graph @ragged_loop(%x: tensor<17x97xbf16>, %w: tensor<97x65xbf16>, %a: tensor<97x5xbf16>, %b: tensor<5x65xbf16>) -> tensor<17x65xbf16>
    attributes {source = @ragged} {
  %y = custom (%xk = %x, %wk = %w, %ak = %a, %bk = %b) outs(%yk) grid [3]
      : (tensor<17x97xbf16>, tensor<97x65xbf16>, tensor<97x5xbf16>, tensor<5x65xbf16>) -> tensor<17x65xbf16> {
    %zero = constant 0.0 : !mirage_block.tile<17x22xf32>
    %none = constant 0.0 : !mirage_block.tile<17x5xf32>
    %xw, %xa = loop 4 (%p = %zero sum, %q = %none sum) : !mirage_block.tile<17x22xf32>, !mirage_block.tile<17x5xf32> {
      %xt = load %xk {loop = [1]} : tensor<17x97xbf16> -> !mirage_block.tile<17x25xbf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<97x65xbf16> -> !mirage_block.tile<25x22xbf16>
      %at = load %ak {loop = [0]} : tensor<97x5xbf16> -> !mirage_block.tile<25x5xbf16>
      %pw = matmul %xt, %wt : !mirage_block.tile<17x25xbf16>, !mirage_block.tile<25x22xbf16>
      %pa = matmul %xt, %at : !mirage_block.tile<17x25xbf16>, !mirage_block.tile<25x5xbf16>
      yield %pw, %pa : !mirage_block.tile<17x22xf32>, !mirage_block.tile<17x5xf32>
    }
    %bt = load %bk {grid = [1]} : tensor<5x65xbf16> -> !mirage_block.tile<5x22xbf16>
    %h = cast %xa : !mirage_block.tile<17x5xf32> -> !mirage_block.tile<17x5xbf16>
    %xab = matmul %h, %bt : !mirage_block.tile<17x5xbf16>, !mirage_block.tile<5x22xbf16>
    %s = add %xw, %xab : !mirage_block.tile<17x22xf32>, !mirage_block.tile<17x22xf32>
    store %s, %yk {grid = [1]} : !mirage_block.tile<17x22xf32>, tensor<17x65xbf16>
  }
  return %y : tensor<17x65xbf16>
}
