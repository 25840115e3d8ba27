// What stock passes may and may not do: pure operators are merged and removed, stores never, listed loads never.
//
// RUN: mirage-mlir-opt %s --cse --canonicalize | FileCheck %s

// CHECK-LABEL: @pure
// CHECK-NEXT:    exp
// CHECK-NEXT:    mul
// CHECK-NEXT:    return
mirage_kernel.graph @pure(%a: tensor<2x4xf16>) -> tensor<2x4xf16> {
  %0 = exp %a : tensor<2x4xf16>
  %1 = exp %a : tensor<2x4xf16>
  %2 = sqrt %a : tensor<2x4xf16>
  %3 = mul %0, %1 : tensor<2x4xf16>, tensor<2x4xf16>
  return %3 : tensor<2x4xf16>
}

// An unused custom kernel goes with its stores; the used one stays.
// CHECK-LABEL: @custom
// CHECK:         custom
// CHECK-NOT:     custom
// CHECK:         return
mirage_kernel.graph @custom(%a: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %0 = custom (%x = %a) outs(%y) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %x {grid = [1]} : tensor<8x64xf16> -> !mirage_block.tile<8x32xf16>
    store %t, %y {grid = [1]} : !mirage_block.tile<8x32xf16>, tensor<8x64xf16>
  }
  %1 = custom (%x = %a) outs(%y) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %x {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %y {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %1 : tensor<8x64xf16>
}

// Equal loads merge, unused ones and unused loops go; stores stay, also those of a value already stored.
// CHECK-LABEL: @block
// CHECK:         load
// CHECK-NOT:     load
// CHECK-NOT:     loop
// CHECK:         store
// CHECK-NEXT:    loop 2 {
// CHECK-NEXT:      store
// CHECK:         return
mirage_kernel.graph @block(%a: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>) {
  %0:2 = custom (%x = %a) outs(%y, %z) grid [2] : (tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>) {
    %t = load %x {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %u = load %x {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %v = load %x {grid = [1]} : tensor<8x64xf16> -> !mirage_block.tile<8x32xf16>
    %c = constant 0.0 : !mirage_block.tile<4x64xf32>
    %r = loop 4 (%k = %c sum) : !mirage_block.tile<4x64xf32> {
      yield %t : !mirage_block.tile<4x64xf16>
    }
    %s = thread (%f = %t) : !mirage_block.tile<4x64xf16> {
      yield %f : !mirage_thread.fragment<4x64xf16>
    }
    store %t, %y {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
    loop 2 {
      store %u, %z {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
    }
  }
  return %0#0, %0#1 : tensor<8x64xf16>, tensor<8x64xf16>
}

// A schedule that lists loads by position keeps them all.
// CHECK-LABEL: @listed
// CHECK:         loads = [register, bulk, async]
// CHECK-COUNT-3: load %
mirage_kernel.graph @listed(%a: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %0 = custom (%x = %a) outs(%y) grid [2] schedule <loads = [register, bulk, async]> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %x {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %u = load %x {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %v = load %x {grid = [1]} : tensor<8x64xf16> -> !mirage_block.tile<8x32xf16>
    store %t, %y {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %0 : tensor<8x64xf16>
}
