// Element-wise kernels: what keeps their elements in threads. For layout-explain.test.
//
// RUN: mirage-mlir-opt %s --mirage-layout --mirage-lower -o %t.mlir 2>/dev/null
// RUN: mirage-run %t.mlir --target=emulator --program=two_results | FileCheck %s
//
// CHECK: output 0 {{.*}} 4096 of 4096 elements compared; {{.*}}: ok
// CHECK: output 1 {{.*}} 4096 of 4096 elements compared; {{.*}}: ok

// Taken: both results read what is computed once.
mirage_kernel.graph @two_results(%x: tensor<32x128xf16>, %row: tensor<128xf16>) -> (tensor<32x128xf16>, tensor<32x128xf16>) {
  %y = silu %x : tensor<32x128xf16>
  %z = mul %y, %row : tensor<32x128xf16>, tensor<128xf16>
  return %y, %z : tensor<32x128xf16>, tensor<32x128xf16>
}
mirage_kernel.graph @two_results_0(%x: tensor<32x128xf16>, %row: tensor<128xf16>) -> (tensor<32x128xf16>, tensor<32x128xf16>) attributes {source = @two_results} {
  %y, %z = custom (%xk = %x, %rk = %row) outs(%yk, %zk) grid [4] : (tensor<32x128xf16>, tensor<128xf16>) -> (tensor<32x128xf16>, tensor<32x128xf16>) {
    %xt = load %xk {grid = [0]} : tensor<32x128xf16> -> !mirage_block.tile<8x128xf16>
    %rt = load %rk : tensor<128xf16> -> !mirage_block.tile<128xf16>
    %s = silu %xt : !mirage_block.tile<8x128xf16> -> !mirage_block.tile<8x128xf32>
    %p = mul %s, %rt : !mirage_block.tile<8x128xf32>, !mirage_block.tile<128xf16>
    store %s, %yk {grid = [0]} : !mirage_block.tile<8x128xf32>, tensor<32x128xf16>
    store %p, %zk {grid = [0]} : !mirage_block.tile<8x128xf32>, tensor<32x128xf16>
  }
  return %y, %z : tensor<32x128xf16>, tensor<32x128xf16>
}

// Not where a tile is asked for in shared memory,
mirage_kernel.graph @program(%x: tensor<32x128xf16>) -> tensor<32x128xf16> {
  %y = silu %x : tensor<32x128xf16>
  return %y : tensor<32x128xf16>
}
mirage_kernel.graph @asked(%x: tensor<32x128xf16>) -> tensor<32x128xf16> attributes {source = @program} {
  %y = custom (%xk = %x) outs(%yk) grid [4] schedule <loads = [async]> : (tensor<32x128xf16>) -> tensor<32x128xf16> {
    %xt = load %xk {grid = [0]} : tensor<32x128xf16> -> !mirage_block.tile<8x128xf16>
    %s = silu %xt : !mirage_block.tile<8x128xf16> -> !mirage_block.tile<8x128xf32>
    store %s, %yk {grid = [0]} : !mirage_block.tile<8x128xf32>, tensor<32x128xf16>
  }
  return %y : tensor<32x128xf16>
}

// is moved,
mirage_kernel.graph @moved(%x: tensor<32x128xf16>) -> tensor<32x128xf16> attributes {source = @program} {
  %y = custom (%xk = %x) outs(%yk) grid [4] : (tensor<32x128xf16>) -> tensor<32x128xf16> {
    %xt = load %xk {grid = [0]} : tensor<32x128xf16> -> !mirage_block.tile<8x128xf16>
    %s = silu %xt : !mirage_block.tile<8x128xf16> -> !mirage_block.tile<8x128xf32>
    %a = reshape %s : !mirage_block.tile<8x128xf32> -> !mirage_block.tile<1024xf32>
    %b = reshape %a : !mirage_block.tile<1024xf32> -> !mirage_block.tile<8x128xf32>
    store %b, %yk {grid = [0]} : !mirage_block.tile<8x128xf32>, tensor<32x128xf16>
  }
  return %y : tensor<32x128xf16>
}

// is held by several blocks,
mirage_kernel.graph @alike(%x: tensor<32x128xf16>) -> tensor<32x128xf16> attributes {source = @program} {
  %y = custom (%xk = %x) outs(%yk) grid [4, 2] : (tensor<32x128xf16>) -> tensor<32x128xf16> {
    %xt = load %xk {grid = [0]} : tensor<32x128xf16> -> !mirage_block.tile<8x128xf16>
    %s = silu %xt : !mirage_block.tile<8x128xf16> -> !mirage_block.tile<8x128xf32>
    store %s, %yk {grid = [0]} : !mirage_block.tile<8x128xf32>, tensor<32x128xf16>
  }
  return %y : tensor<32x128xf16>
}

// or is of another shape than the other.
mirage_kernel.graph @sources(%x: tensor<32x128xf16>, %c: tensor<32x1xf16>) -> (tensor<32x128xf16>, tensor<32x1xf16>) {
  %y = silu %x : tensor<32x128xf16>
  %d = silu %c : tensor<32x1xf16>
  return %y, %d : tensor<32x128xf16>, tensor<32x1xf16>
}
mirage_kernel.graph @two_shapes(%x: tensor<32x128xf16>, %c: tensor<32x1xf16>) -> (tensor<32x128xf16>, tensor<32x1xf16>) attributes {source = @sources} {
  %y, %z = custom (%xk = %x, %ck = %c) outs(%yk, %zk) grid [4] : (tensor<32x128xf16>, tensor<32x1xf16>) -> (tensor<32x128xf16>, tensor<32x1xf16>) {
    %xt = load %xk {grid = [0]} : tensor<32x128xf16> -> !mirage_block.tile<8x128xf16>
    %ct = load %ck {grid = [0]} : tensor<32x1xf16> -> !mirage_block.tile<8x1xf16>
    %s = silu %xt : !mirage_block.tile<8x128xf16> -> !mirage_block.tile<8x128xf32>
    %d = silu %ct : !mirage_block.tile<8x1xf16> -> !mirage_block.tile<8x1xf32>
    store %s, %yk {grid = [0]} : !mirage_block.tile<8x128xf32>, tensor<32x128xf16>
    store %d, %zk {grid = [0]} : !mirage_block.tile<8x1xf32>, tensor<32x1xf16>
  }
  return %y, %z : tensor<32x128xf16>, tensor<32x1xf16>
}
