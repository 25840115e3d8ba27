// Stored and mixed types, there and back.
// RUN: mirage-mlir-opt %s | mirage-mlir-opt | FileCheck %s
// RUN: mirage-mlir-opt %s --mlir-print-op-generic | mirage-mlir-opt | FileCheck %s
// RUN: mirage-mlir-opt %s --emit-bytecode | mirage-mlir-opt | FileCheck %s

// A result's type is printed where it is not the usual one.
// CHECK-LABEL: graph @mixed
// CHECK: matmul %{{.*}}, %{{.*}} : tensor<4x8xf16>, tensor<8x6xf16> -> tensor<4x6xf32>
// CHECK: matmul %{{.*}}, %{{.*}} {transpose_b} : tensor<4x6xf32>, tensor<4x6xf32>{{$}}
// CHECK: reduce_mean %{{.*}} {dim = 1} : tensor<4x8xf16> -> tensor<4x1xf32>
// CHECK: add %{{.*}}, %{{.*}} : tensor<4x4xf32>, tensor<4x1xf32>{{$}}
// CHECK: mul %{{.*}}, %{{.*}} : tensor<4x4xf32>, tensor<4xbf16>{{$}}
mirage_kernel.graph @mixed(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>, %b: tensor<4xbf16>) -> tensor<4x4xf32> {
  %p = matmul %x, %w : tensor<4x8xf16>, tensor<8x6xf16> -> tensor<4x6xf32>
  %q = matmul %p, %p {transpose_b} : tensor<4x6xf32>, tensor<4x6xf32> -> tensor<4x4xf32>
  %m = reduce_mean %x {dim = 1} : tensor<4x8xf16> -> tensor<4x1xf32>
  %a = add %q, %m : tensor<4x4xf32>, tensor<4x1xf32>
  %y = mul %a, %b : tensor<4x4xf32>, tensor<4xbf16>
  return %y : tensor<4x4xf32>
}

// CHECK-LABEL: graph @stored
// CHECK: load %{{.*}} {grid = [1]} : tensor<4x8xi4> -> !mirage_block.tile<4x4xi4>
// CHECK: transpose %{{.*}} {perm = [1, 0]} : !mirage_block.tile<4x4xi4>
// CHECK: thread (%{{.*}} = %{{.*}}) : !mirage_block.tile<4x4xf8E4M3FN>
// CHECK: cast %{{.*}} : !mirage_thread.fragment<4x4xf8E4M3FN> -> !mirage_thread.fragment<4x4xf32>
// CHECK: !mirage_block.tile<4x4xf8E5M2, shared, <offset = 0, strides = [4, 1]>>
mirage_kernel.graph @stored(%a: tensor<4x8xi4>, %b: tensor<4x8xf8E4M3FN>, %c: tensor<4x8xf8E5M2>, %d: tensor<32xi8>) -> (tensor<4x8xf16>, tensor<4x8xf32>) {
  %y = custom (%ak = %a, %bk = %b, %ck = %c) outs(%yk) grid [2] : (tensor<4x8xi4>, tensor<4x8xf8E4M3FN>, tensor<4x8xf8E5M2>) -> tensor<4x8xf16> {
    %at = load %ak {grid = [1]} : tensor<4x8xi4> -> !mirage_block.tile<4x4xi4>
    %au = transpose %at {perm = [1, 0]} : !mirage_block.tile<4x4xi4>
    %af = cast %au : !mirage_block.tile<4x4xi4> -> !mirage_block.tile<4x4xf16>
    %bt = load %bk {grid = [1]} : tensor<4x8xf8E4M3FN> -> !mirage_block.tile<4x4xf8E4M3FN>
    %bf = thread (%f = %bt) : !mirage_block.tile<4x4xf8E4M3FN> {
      %g = cast %f : !mirage_thread.fragment<4x4xf8E4M3FN> -> !mirage_thread.fragment<4x4xf32>
      yield %g : !mirage_thread.fragment<4x4xf32>
    }
    %ct = load %ck {grid = [1]} : tensor<4x8xf8E5M2> -> !mirage_block.tile<4x4xf8E5M2, shared, <offset = 0, strides = [4, 1]>>
    %cf = cast %ct : !mirage_block.tile<4x4xf8E5M2, shared, <offset = 0, strides = [4, 1]>> -> !mirage_block.tile<4x4xbf16>
    %s = add %af, %bf : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x4xf32>
    %t = add %s, %cf : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x4xbf16>
    store %t, %yk {grid = [1]} : !mirage_block.tile<4x4xf32>, tensor<4x8xf16>
  }
  %e = reshape %d : tensor<32xi8> -> tensor<4x8xi8>
  %z = cast %e : tensor<4x8xi8> -> tensor<4x8xf32>
  return %y, %z : tensor<4x8xf16>, tensor<4x8xf32>
}

// What products of bytes give needs no saying.
// CHECK-LABEL: graph @products
// CHECK: matmul %{{.*}}, %{{.*}} : tensor<4x8xi8>, tensor<8x6xi8>{{$}}
// CHECK: cast %{{.*}} : tensor<4x6xi32> -> tensor<4x6xf16>
// CHECK: matmul %{{.*}}, %{{.*}} {transpose_b} : tensor<4x8xf8E4M3FN>, tensor<6x8xf8E5M2>{{$}}
// CHECK: constant 0.0 : !mirage_block.tile<4x6xi32>
// CHECK: loop 2 (%{{.*}} = %{{.*}} sum) : !mirage_block.tile<4x6xi32>
// CHECK: matmul %{{.*}}, %{{.*}} : !mirage_block.tile<4x2xi8>, !mirage_block.tile<2x6xi8>{{$}}
// CHECK: grid_sum %{{.*}} {axes = [0]} : !mirage_block.tile<4x6xi32>
mirage_kernel.graph @products(%x: tensor<4x8xi8>, %w: tensor<8x6xi8>, %a: tensor<4x8xf8E4M3FN>, %b: tensor<6x8xf8E5M2>) -> (tensor<4x6xf16>, tensor<4x6xf32>, tensor<4x6xi32>) {
  %p = matmul %x, %w : tensor<4x8xi8>, tensor<8x6xi8>
  %f = cast %p : tensor<4x6xi32> -> tensor<4x6xf16>
  %q = matmul %a, %b {transpose_b} : tensor<4x8xf8E4M3FN>, tensor<6x8xf8E5M2>
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2] : (tensor<4x8xi8>, tensor<8x6xi8>) -> tensor<4x6xi32> {
    %zero = constant 0.0 : !mirage_block.tile<4x6xi32>
    %s = loop 2 (%c = %zero sum) : !mirage_block.tile<4x6xi32> {
      %xt = load %xk {grid = [1], loop = [1]} : tensor<4x8xi8> -> !mirage_block.tile<4x2xi8>
      %wt = load %wk {grid = [0], loop = [0]} : tensor<8x6xi8> -> !mirage_block.tile<2x6xi8>
      %r = matmul %xt, %wt : !mirage_block.tile<4x2xi8>, !mirage_block.tile<2x6xi8>
      yield %r : !mirage_block.tile<4x6xi32>
    }
    %t = grid_sum %s {axes = [0]} : !mirage_block.tile<4x6xi32>
    store %t, %yk : !mirage_block.tile<4x6xi32>, tensor<4x6xi32>
  }
  return %f, %q, %y : tensor<4x6xf16>, tensor<4x6xf32>, tensor<4x6xi32>
}
