// The update of a normalised transformer, rms(x + alpha * (rms(h) - x)): in one tile a row, and in three passes over it.
// RUN: mirage-module-test --warps 1 --warps 8 %s
// RUN: mirage-mlir-opt %s --mirage-verify -o /dev/null 2>&1 | FileCheck %s
// CHECK-COUNT-2: 0 different, 0 unsupported

mirage_kernel.graph @even(%h: tensor<4x256xf16>, %x: tensor<4x256xf16>, %alpha: tensor<4x256xf16>) -> tensor<4x256xf16> {
  %n = rms_norm %h {eps = 0.0} : tensor<4x256xf16>
  %d = sub %n, %x : tensor<4x256xf16>, tensor<4x256xf16>
  %s = mul %alpha, %d : tensor<4x256xf16>, tensor<4x256xf16>
  %u = add %x, %s : tensor<4x256xf16>, tensor<4x256xf16>
  %y = rms_norm %u {eps = 0.0} : tensor<4x256xf16>
  return %y : tensor<4x256xf16>
}
mirage_kernel.graph @even_0(%h: tensor<4x256xf16>, %x: tensor<4x256xf16>, %alpha: tensor<4x256xf16>) -> tensor<4x256xf16>
    attributes {source = @even} {
  %y = custom (%hk = %h, %xk = %x, %ak = %alpha) outs(%yk) grid [4] : (tensor<4x256xf16>, tensor<4x256xf16>, tensor<4x256xf16>) -> tensor<4x256xf16> {
    %ht = load %hk {grid = [0]} : tensor<4x256xf16> -> !mirage_block.tile<1x256xf16>
    %xt = load %xk {grid = [0]} : tensor<4x256xf16> -> !mirage_block.tile<1x256xf16>
    %at = load %ak {grid = [0]} : tensor<4x256xf16> -> !mirage_block.tile<1x256xf16>
    %hs = square %ht : !mirage_block.tile<1x256xf16>
    %hm = reduce_mean %hs {dim = 1} : !mirage_block.tile<1x256xf32>
    %hr = sqrt %hm : !mirage_block.tile<1x1xf32>
    %n = div %ht, %hr : !mirage_block.tile<1x256xf16>, !mirage_block.tile<1x1xf32>
    %d = sub %n, %xt : !mirage_block.tile<1x256xf32>, !mirage_block.tile<1x256xf16>
    %s = mul %at, %d : !mirage_block.tile<1x256xf16>, !mirage_block.tile<1x256xf32>
    %u = add %xt, %s : !mirage_block.tile<1x256xf16>, !mirage_block.tile<1x256xf32>
    %us = square %u : !mirage_block.tile<1x256xf32>
    %um = reduce_mean %us {dim = 1} : !mirage_block.tile<1x256xf32>
    %ur = sqrt %um : !mirage_block.tile<1x1xf32>
    %r = div %u, %ur : !mirage_block.tile<1x256xf32>, !mirage_block.tile<1x1xf32>
    store %r, %yk {grid = [0]} : !mirage_block.tile<1x256xf32>, tensor<4x256xf16>
  }
  return %y : tensor<4x256xf16>
}
// Three passes over the row: two sums, then the result.
mirage_kernel.graph @even_passes(%h: tensor<4x256xf16>, %x: tensor<4x256xf16>, %alpha: tensor<4x256xf16>) -> tensor<4x256xf16>
    attributes {source = @even} {
  %y = custom (%hk = %h, %xk = %x, %ak = %alpha) outs(%yk) grid [4] : (tensor<4x256xf16>, tensor<4x256xf16>, tensor<4x256xf16>) -> tensor<4x256xf16> {
    %none = constant 0.0 : !mirage_block.tile<1x1xf32>
    %count = constant 256.0 : !mirage_block.tile<1x1xf32>
    %hs = loop 4 (%a = %none sum) : !mirage_block.tile<1x1xf32> {
      %ht = load %hk {grid = [0], loop = [1]} : tensor<4x256xf16> -> !mirage_block.tile<1x64xf16>
      %q = square %ht : !mirage_block.tile<1x64xf16>
      %c = reduce_sum %q {dim = 1} : !mirage_block.tile<1x64xf32>
      yield %c : !mirage_block.tile<1x1xf32>
    }
    %hm = div %hs, %count : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    %hr = sqrt %hm : !mirage_block.tile<1x1xf32>
    %us = loop 4 (%a = %none sum) : !mirage_block.tile<1x1xf32> {
      %ht = load %hk {grid = [0], loop = [1]} : tensor<4x256xf16> -> !mirage_block.tile<1x64xf16>
      %xt = load %xk {grid = [0], loop = [1]} : tensor<4x256xf16> -> !mirage_block.tile<1x64xf16>
      %at = load %ak {grid = [0], loop = [1]} : tensor<4x256xf16> -> !mirage_block.tile<1x64xf16>
      %n = div %ht, %hr : !mirage_block.tile<1x64xf16>, !mirage_block.tile<1x1xf32>
      %d = sub %n, %xt : !mirage_block.tile<1x64xf32>, !mirage_block.tile<1x64xf16>
      %s = mul %at, %d : !mirage_block.tile<1x64xf16>, !mirage_block.tile<1x64xf32>
      %u = add %xt, %s : !mirage_block.tile<1x64xf16>, !mirage_block.tile<1x64xf32>
      %q = square %u : !mirage_block.tile<1x64xf32>
      %c = reduce_sum %q {dim = 1} : !mirage_block.tile<1x64xf32>
      yield %c : !mirage_block.tile<1x1xf32>
    }
    %um = div %us, %count : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    %ur = sqrt %um : !mirage_block.tile<1x1xf32>
    loop 4 {
      %ht = load %hk {grid = [0], loop = [1]} : tensor<4x256xf16> -> !mirage_block.tile<1x64xf16>
      %xt = load %xk {grid = [0], loop = [1]} : tensor<4x256xf16> -> !mirage_block.tile<1x64xf16>
      %at = load %ak {grid = [0], loop = [1]} : tensor<4x256xf16> -> !mirage_block.tile<1x64xf16>
      %n = div %ht, %hr : !mirage_block.tile<1x64xf16>, !mirage_block.tile<1x1xf32>
      %d = sub %n, %xt : !mirage_block.tile<1x64xf32>, !mirage_block.tile<1x64xf16>
      %s = mul %at, %d : !mirage_block.tile<1x64xf16>, !mirage_block.tile<1x64xf32>
      %u = add %xt, %s : !mirage_block.tile<1x64xf16>, !mirage_block.tile<1x64xf32>
      %r = div %u, %ur : !mirage_block.tile<1x64xf32>, !mirage_block.tile<1x1xf32>
      store %r, %yk {grid = [0], loop = [1]} : !mirage_block.tile<1x64xf32>, tensor<4x256xf16>
    }
  }
  return %y : tensor<4x256xf16>
}


mirage_kernel.graph @ragged(%h: tensor<5x97xbf16>, %x: tensor<5x97xbf16>, %alpha: tensor<5x97xbf16>) -> tensor<5x97xbf16> {
  %n = rms_norm %h {eps = 0.0} : tensor<5x97xbf16>
  %d = sub %n, %x : tensor<5x97xbf16>, tensor<5x97xbf16>
  %s = mul %alpha, %d : tensor<5x97xbf16>, tensor<5x97xbf16>
  %u = add %x, %s : tensor<5x97xbf16>, tensor<5x97xbf16>
  %y = rms_norm %u {eps = 0.0} : tensor<5x97xbf16>
  return %y : tensor<5x97xbf16>
}
mirage_kernel.graph @ragged_0(%h: tensor<5x97xbf16>, %x: tensor<5x97xbf16>, %alpha: tensor<5x97xbf16>) -> tensor<5x97xbf16>
    attributes {source = @ragged} {
  %y = custom (%hk = %h, %xk = %x, %ak = %alpha) outs(%yk) grid [2] : (tensor<5x97xbf16>, tensor<5x97xbf16>, tensor<5x97xbf16>) -> tensor<5x97xbf16> {
    %ht = load %hk {grid = [0]} : tensor<5x97xbf16> -> !mirage_block.tile<3x97xbf16>
    %xt = load %xk {grid = [0]} : tensor<5x97xbf16> -> !mirage_block.tile<3x97xbf16>
    %at = load %ak {grid = [0]} : tensor<5x97xbf16> -> !mirage_block.tile<3x97xbf16>
    %hs = square %ht : !mirage_block.tile<3x97xbf16>
    %hm = reduce_mean %hs {dim = 1} : !mirage_block.tile<3x97xf32>
    %hr = sqrt %hm : !mirage_block.tile<3x1xf32>
    %n = div %ht, %hr : !mirage_block.tile<3x97xbf16>, !mirage_block.tile<3x1xf32>
    %d = sub %n, %xt : !mirage_block.tile<3x97xf32>, !mirage_block.tile<3x97xbf16>
    %s = mul %at, %d : !mirage_block.tile<3x97xbf16>, !mirage_block.tile<3x97xf32>
    %u = add %xt, %s : !mirage_block.tile<3x97xbf16>, !mirage_block.tile<3x97xf32>
    %us = square %u : !mirage_block.tile<3x97xf32>
    %um = reduce_mean %us {dim = 1} : !mirage_block.tile<3x97xf32>
    %ur = sqrt %um : !mirage_block.tile<3x1xf32>
    %r = div %u, %ur : !mirage_block.tile<3x97xf32>, !mirage_block.tile<3x1xf32>
    store %r, %yk {grid = [0]} : !mirage_block.tile<3x97xf32>, tensor<5x97xbf16>
  }
  return %y : tensor<5x97xbf16>
}
// Three passes over the row: two sums, then the result.
mirage_kernel.graph @ragged_passes(%h: tensor<5x97xbf16>, %x: tensor<5x97xbf16>, %alpha: tensor<5x97xbf16>) -> tensor<5x97xbf16>
    attributes {source = @ragged} {
  %y = custom (%hk = %h, %xk = %x, %ak = %alpha) outs(%yk) grid [2] : (tensor<5x97xbf16>, tensor<5x97xbf16>, tensor<5x97xbf16>) -> tensor<5x97xbf16> {
    %none = constant 0.0 : !mirage_block.tile<3x1xf32>
    %count = constant 97.0 : !mirage_block.tile<1x1xf32>
    %hs = loop 3 (%a = %none sum) : !mirage_block.tile<3x1xf32> {
      %ht = load %hk {grid = [0], loop = [1]} : tensor<5x97xbf16> -> !mirage_block.tile<3x33xbf16>
      %q = square %ht : !mirage_block.tile<3x33xbf16>
      %c = reduce_sum %q {dim = 1} : !mirage_block.tile<3x33xf32>
      yield %c : !mirage_block.tile<3x1xf32>
    }
    %hm = div %hs, %count : !mirage_block.tile<3x1xf32>, !mirage_block.tile<1x1xf32>
    %hr = sqrt %hm : !mirage_block.tile<3x1xf32>
    %us = loop 3 (%a = %none sum) : !mirage_block.tile<3x1xf32> {
      %ht = load %hk {grid = [0], loop = [1]} : tensor<5x97xbf16> -> !mirage_block.tile<3x33xbf16>
      %xt = load %xk {grid = [0], loop = [1]} : tensor<5x97xbf16> -> !mirage_block.tile<3x33xbf16>
      %at = load %ak {grid = [0], loop = [1]} : tensor<5x97xbf16> -> !mirage_block.tile<3x33xbf16>
      %n = div %ht, %hr : !mirage_block.tile<3x33xbf16>, !mirage_block.tile<3x1xf32>
      %d = sub %n, %xt : !mirage_block.tile<3x33xf32>, !mirage_block.tile<3x33xbf16>
      %s = mul %at, %d : !mirage_block.tile<3x33xbf16>, !mirage_block.tile<3x33xf32>
      %u = add %xt, %s : !mirage_block.tile<3x33xbf16>, !mirage_block.tile<3x33xf32>
      %q = square %u : !mirage_block.tile<3x33xf32>
      %c = reduce_sum %q {dim = 1} : !mirage_block.tile<3x33xf32>
      yield %c : !mirage_block.tile<3x1xf32>
    }
    %um = div %us, %count : !mirage_block.tile<3x1xf32>, !mirage_block.tile<1x1xf32>
    %ur = sqrt %um : !mirage_block.tile<3x1xf32>
    loop 3 {
      %ht = load %hk {grid = [0], loop = [1]} : tensor<5x97xbf16> -> !mirage_block.tile<3x33xbf16>
      %xt = load %xk {grid = [0], loop = [1]} : tensor<5x97xbf16> -> !mirage_block.tile<3x33xbf16>
      %at = load %ak {grid = [0], loop = [1]} : tensor<5x97xbf16> -> !mirage_block.tile<3x33xbf16>
      %n = div %ht, %hr : !mirage_block.tile<3x33xbf16>, !mirage_block.tile<3x1xf32>
      %d = sub %n, %xt : !mirage_block.tile<3x33xf32>, !mirage_block.tile<3x33xbf16>
      %s = mul %at, %d : !mirage_block.tile<3x33xbf16>, !mirage_block.tile<3x33xf32>
      %u = add %xt, %s : !mirage_block.tile<3x33xbf16>, !mirage_block.tile<3x33xf32>
      %r = div %u, %ur : !mirage_block.tile<3x33xf32>, !mirage_block.tile<3x1xf32>
      store %r, %yk {grid = [0], loop = [1]} : !mirage_block.tile<3x33xf32>, tensor<5x97xbf16>
    }
  }
  return %y : tensor<5x97xbf16>
}
