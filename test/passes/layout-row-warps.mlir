// How many warps share a row: two pieces of 16 bytes a thread. Where more than three blocks come to a multiprocessor, eight warps at most,
// if their registers hold a row (lib/layout/items.c).
//
// RUN: mirage-mlir-opt %s --mirage-layout=target=h100 2>/dev/null | FileCheck %s

// CHECK-LABEL: graph @few_0(
// CHECK: warps = 16
mirage_kernel.graph @few(%x: tensor<132x8192xf16>) -> tensor<132x8192xf16> {
  %1 = reduce_sum %x {dim = 1} : tensor<132x8192xf16>
  %2 = sub %x, %1 : tensor<132x8192xf16>, tensor<132x1xf16>
  return %2 : tensor<132x8192xf16>
}
mirage_kernel.graph @few_0(%x: tensor<132x8192xf16>) -> tensor<132x8192xf16> attributes {selected, source = @few} {
  %y = custom (%xk = %x) outs(%yk) grid [132] : (tensor<132x8192xf16>) -> tensor<132x8192xf16> {
    %1 = load %xk {grid = [0]} : tensor<132x8192xf16> -> !mirage_block.tile<1x8192xf16>
    %2 = reduce_sum %1 {dim = 1} : !mirage_block.tile<1x8192xf16> -> !mirage_block.tile<1x1xf32>
    %3 = sub %1, %2 : !mirage_block.tile<1x8192xf16>, !mirage_block.tile<1x1xf32> -> !mirage_block.tile<1x8192xf32>
    store %3, %yk {grid = [0]} : !mirage_block.tile<1x8192xf32>, tensor<132x8192xf16>
  }
  return %y : tensor<132x8192xf16>
}

// CHECK-LABEL: graph @many_0(
// CHECK: warps = 8,
mirage_kernel.graph @many(%x: tensor<512x8192xf16>) -> tensor<512x8192xf16> {
  %1 = reduce_sum %x {dim = 1} : tensor<512x8192xf16>
  %2 = sub %x, %1 : tensor<512x8192xf16>, tensor<512x1xf16>
  return %2 : tensor<512x8192xf16>
}
mirage_kernel.graph @many_0(%x: tensor<512x8192xf16>) -> tensor<512x8192xf16> attributes {selected, source = @many} {
  %y = custom (%xk = %x) outs(%yk) grid [512] : (tensor<512x8192xf16>) -> tensor<512x8192xf16> {
    %1 = load %xk {grid = [0]} : tensor<512x8192xf16> -> !mirage_block.tile<1x8192xf16>
    %2 = reduce_sum %1 {dim = 1} : !mirage_block.tile<1x8192xf16> -> !mirage_block.tile<1x1xf32>
    %3 = sub %1, %2 : !mirage_block.tile<1x8192xf16>, !mirage_block.tile<1x1xf32> -> !mirage_block.tile<1x8192xf32>
    store %3, %yk {grid = [0]} : !mirage_block.tile<1x8192xf32>, tensor<512x8192xf16>
  }
  return %y : tensor<512x8192xf16>
}

// CHECK-LABEL: graph @short_0(
// CHECK: warps = 4,
mirage_kernel.graph @short(%x: tensor<512x2048xf16>) -> tensor<512x2048xf16> {
  %1 = reduce_sum %x {dim = 1} : tensor<512x2048xf16>
  %2 = sub %x, %1 : tensor<512x2048xf16>, tensor<512x1xf16>
  return %2 : tensor<512x2048xf16>
}
mirage_kernel.graph @short_0(%x: tensor<512x2048xf16>) -> tensor<512x2048xf16> attributes {selected, source = @short} {
  %y = custom (%xk = %x) outs(%yk) grid [512] : (tensor<512x2048xf16>) -> tensor<512x2048xf16> {
    %1 = load %xk {grid = [0]} : tensor<512x2048xf16> -> !mirage_block.tile<1x2048xf16>
    %2 = reduce_sum %1 {dim = 1} : !mirage_block.tile<1x2048xf16> -> !mirage_block.tile<1x1xf32>
    %3 = sub %1, %2 : !mirage_block.tile<1x2048xf16>, !mirage_block.tile<1x1xf32> -> !mirage_block.tile<1x2048xf32>
    store %3, %yk {grid = [0]} : !mirage_block.tile<1x2048xf32>, tensor<512x2048xf16>
  }
  return %y : tensor<512x2048xf16>
}

// Three more values beside each element of a row are too many: it waits in shared memory (lib/layout/rows_ahead.c).
// CHECK-LABEL: graph @full_0(
// CHECK: warps = 4,
mirage_kernel.graph @full(%x: tensor<512x8192xf16>, %s0: tensor<8192xf16>, %s1: tensor<8192xf16>, %s2: tensor<8192xf16>) -> tensor<512x8192xf16> {
  %1 = reduce_sum %x {dim = 1} : tensor<512x8192xf16>
  %2 = sub %x, %1 : tensor<512x8192xf16>, tensor<512x1xf16>
  %m0 = mul %2, %s0 : tensor<512x8192xf16>, tensor<8192xf16>
  %m1 = mul %m0, %s1 : tensor<512x8192xf16>, tensor<8192xf16>
  %m2 = mul %m1, %s2 : tensor<512x8192xf16>, tensor<8192xf16>
  return %m2 : tensor<512x8192xf16>
}
mirage_kernel.graph @full_0(%x: tensor<512x8192xf16>, %s0: tensor<8192xf16>, %s1: tensor<8192xf16>, %s2: tensor<8192xf16>) -> tensor<512x8192xf16> attributes {selected, source = @full} {
  %y = custom (%xk = %x, %k0 = %s0, %k1 = %s1, %k2 = %s2) outs(%yk) grid [512] : (tensor<512x8192xf16>, tensor<8192xf16>, tensor<8192xf16>, tensor<8192xf16>) -> tensor<512x8192xf16> {
    %1 = load %xk {grid = [0]} : tensor<512x8192xf16> -> !mirage_block.tile<1x8192xf16>
    %2 = reduce_sum %1 {dim = 1} : !mirage_block.tile<1x8192xf16> -> !mirage_block.tile<1x1xf32>
    %3 = sub %1, %2 : !mirage_block.tile<1x8192xf16>, !mirage_block.tile<1x1xf32> -> !mirage_block.tile<1x8192xf32>
    %l0 = load %k0 : tensor<8192xf16> -> !mirage_block.tile<8192xf16>
    %n0 = mul %3, %l0 : !mirage_block.tile<1x8192xf32>, !mirage_block.tile<8192xf16>
    %l1 = load %k1 : tensor<8192xf16> -> !mirage_block.tile<8192xf16>
    %n1 = mul %n0, %l1 : !mirage_block.tile<1x8192xf32>, !mirage_block.tile<8192xf16>
    %l2 = load %k2 : tensor<8192xf16> -> !mirage_block.tile<8192xf16>
    %n2 = mul %n1, %l2 : !mirage_block.tile<1x8192xf32>, !mirage_block.tile<8192xf16>
    store %n2, %yk {grid = [0]} : !mirage_block.tile<1x8192xf32>, tensor<512x8192xf16>
  }
  return %y : tensor<512x8192xf16>
}
