// Rows walked more than once: softmax in two loops; a sum stored by the first loop and its norm by the second, ragged;
// layer_norm in three, by two blocks of a cluster that meet after each of the first two.
// RUN: mirage-module-test --warps 1 --warps 8 %s
// RUN: mirage-mlir-opt %s --mirage-verify -o /dev/null 2>&1 | FileCheck %s
// CHECK-COUNT-3: 0 different, 0 unsupported

mirage_kernel.graph @softmax(%x: tensor<3x256xf32>) -> tensor<3x256xf32> {
  %p = softmax %x {dim = 1} : tensor<3x256xf32>
  return %p : tensor<3x256xf32>
}
mirage_kernel.graph @softmax_two_loops(%x: tensor<3x256xf32>) -> tensor<3x256xf32> attributes {source = @softmax} {
  %y = custom (%xk = %x) outs(%yk) grid [3] : (tensor<3x256xf32>) -> tensor<3x256xf32> {
    %none = constant 0.0 : !mirage_block.tile<1x1xf32>
    %lowest = bottom : !mirage_block.tile<1x1xf32>
    %top, %sum = loop 4 (%m = %lowest max, %s = %none rescale) : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32> {
      %xt = load %xk {grid = [0], loop = [1]} : tensor<3x256xf32> -> !mirage_block.tile<1x64xf32>
      %r = reduce_max %xt {dim = 1} : !mirage_block.tile<1x64xf32>
      %m1 = max %m, %r : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %gap = sub %m, %m1 : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
      %f = exp %gap : !mirage_block.tile<1x1xf32>
      %d = sub %xt, %m1 : !mirage_block.tile<1x64xf32>, !mirage_block.tile<1x1xf32>
      %e = exp %d : !mirage_block.tile<1x64xf32>
      %t = reduce_sum %e {dim = 1} : !mirage_block.tile<1x64xf32>
      yield %r, %t rescale %f : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    }
    loop 4 {
      %xt = load %xk {grid = [0], loop = [1]} : tensor<3x256xf32> -> !mirage_block.tile<1x64xf32>
      %d = sub %xt, %top : !mirage_block.tile<1x64xf32>, !mirage_block.tile<1x1xf32>
      %e = exp %d : !mirage_block.tile<1x64xf32>
      %q = div %e, %sum : !mirage_block.tile<1x64xf32>, !mirage_block.tile<1x1xf32>
      store %q, %yk {grid = [0], loop = [1]} : !mirage_block.tile<1x64xf32>, tensor<3x256xf32>
    }
  }
  return %y : tensor<3x256xf32>
}

mirage_kernel.graph @added(%x: tensor<5x277xf16>, %r: tensor<5x277xf16>) -> (tensor<5x277xf16>, tensor<5x277xf16>) {
  %s = add %x, %r : tensor<5x277xf16>, tensor<5x277xf16>
  %n = rms_norm %s {eps = 0.0} : tensor<5x277xf16>
  return %s, %n : tensor<5x277xf16>, tensor<5x277xf16>
}
mirage_kernel.graph @added_two_loops(%x: tensor<5x277xf16>, %r: tensor<5x277xf16>) -> (tensor<5x277xf16>, tensor<5x277xf16>)
    attributes {source = @added} {
  %s, %n = custom (%xk = %x, %rk = %r) outs(%sk, %nk) grid [5]
      : (tensor<5x277xf16>, tensor<5x277xf16>) -> (tensor<5x277xf16>, tensor<5x277xf16>) {
    %none = constant 0.0 : !mirage_block.tile<1x1xf32>
    %squares = loop 4 (%a = %none sum) : !mirage_block.tile<1x1xf32> {
      %xt = load %xk {grid = [0], loop = [1]} : tensor<5x277xf16> -> !mirage_block.tile<1x70xf16>
      %rt = load %rk {grid = [0], loop = [1]} : tensor<5x277xf16> -> !mirage_block.tile<1x70xf16>
      %st = add %xt, %rt : !mirage_block.tile<1x70xf16>, !mirage_block.tile<1x70xf16>
      %sq = square %st : !mirage_block.tile<1x70xf32>
      %ss = reduce_sum %sq {dim = 1} : !mirage_block.tile<1x70xf32>
      store %st, %sk {grid = [0], loop = [1]} : !mirage_block.tile<1x70xf32>, tensor<5x277xf16>
      yield %ss : !mirage_block.tile<1x1xf32>
    }
    %count = constant 277.0 : !mirage_block.tile<1x1xf32>
    %mean = div %squares, %count : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    %rms = sqrt %mean : !mirage_block.tile<1x1xf32>
    loop 4 {
      %xt = load %xk {grid = [0], loop = [1]} : tensor<5x277xf16> -> !mirage_block.tile<1x70xf16>
      %rt = load %rk {grid = [0], loop = [1]} : tensor<5x277xf16> -> !mirage_block.tile<1x70xf16>
      %st = add %xt, %rt : !mirage_block.tile<1x70xf16>, !mirage_block.tile<1x70xf16>
      %nt = div %st, %rms : !mirage_block.tile<1x70xf32>, !mirage_block.tile<1x1xf32>
      store %nt, %nk {grid = [0], loop = [1]} : !mirage_block.tile<1x70xf32>, tensor<5x277xf16>
    }
  }
  return %s, %n : tensor<5x277xf16>, tensor<5x277xf16>
}

mirage_kernel.graph @normalised(%x: tensor<2x256xf16>, %g: tensor<256xf16>) -> tensor<2x256xf16> {
  %y = layer_norm %x, %g {eps = 0.0} : tensor<2x256xf16>, tensor<256xf16>
  return %y : tensor<2x256xf16>
}
mirage_kernel.graph @normalised_three_loops(%x: tensor<2x256xf16>, %g: tensor<256xf16>) -> tensor<2x256xf16>
    attributes {source = @normalised} {
  %y = custom (%xk = %x, %gk = %g) outs(%yk) grid [2, 2] cluster [1, 2]
      : (tensor<2x256xf16>, tensor<256xf16>) -> tensor<2x256xf16> {
    %none = constant 0.0 : !mirage_block.tile<1x1xf32>
    %count = constant 256.0 : !mirage_block.tile<1x1xf32>
    %part = loop 2 (%a = %none sum) : !mirage_block.tile<1x1xf32> {
      %xt = load %xk {grid = [0, 1], loop = [1]} : tensor<2x256xf16> -> !mirage_block.tile<1x64xf16>
      %s = reduce_sum %xt {dim = 1} : !mirage_block.tile<1x64xf16>
      yield %s : !mirage_block.tile<1x1xf32>
    }
    %sum = cluster_sum %part {axes = [1]} : !mirage_block.tile<1x1xf32>
    %mean = div %sum, %count : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    %part2 = loop 2 (%a = %none sum) : !mirage_block.tile<1x1xf32> {
      %xt = load %xk {grid = [0, 1], loop = [1]} : tensor<2x256xf16> -> !mirage_block.tile<1x64xf16>
      %c = sub %xt, %mean : !mirage_block.tile<1x64xf16>, !mirage_block.tile<1x1xf32>
      %q = square %c : !mirage_block.tile<1x64xf32>
      %s = reduce_sum %q {dim = 1} : !mirage_block.tile<1x64xf32>
      yield %s : !mirage_block.tile<1x1xf32>
    }
    %squares = cluster_sum %part2 {axes = [1]} : !mirage_block.tile<1x1xf32>
    %variance = div %squares, %count : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    %deviation = sqrt %variance : !mirage_block.tile<1x1xf32>
    loop 2 {
      %xt = load %xk {grid = [0, 1], loop = [1]} : tensor<2x256xf16> -> !mirage_block.tile<1x64xf16>
      %gt = load %gk {grid = [-1, 0], loop = [0]} : tensor<256xf16> -> !mirage_block.tile<64xf16>
      %c = sub %xt, %mean : !mirage_block.tile<1x64xf16>, !mirage_block.tile<1x1xf32>
      %n = div %c, %deviation : !mirage_block.tile<1x64xf32>, !mirage_block.tile<1x1xf32>
      %z = mul %n, %gt : !mirage_block.tile<1x64xf32>, !mirage_block.tile<64xf16>
      store %z, %yk {grid = [0, 1], loop = [1]} : !mirage_block.tile<1x64xf32>, tensor<2x256xf16>
    }
  }
  return %y : tensor<2x256xf16>
}
