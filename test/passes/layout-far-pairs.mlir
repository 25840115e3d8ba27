// Blocks that differ in y of the grid are no neighbours: what they both load would come out of device memory for each. Where that is large,
// and its boxes have long rows, two of them share its copies.
//
// RUN: mirage-mlir-opt %s --mirage-layout=target=h100 | FileCheck %s
//
// The search knows it, before there is a plan: such tiles come first.
// RUN: sed -n '/^mirage_kernel.graph @far(/,/^}/p' %s > %t.mlir && mirage-mlir-opt %t.mlir --mirage-enumerate='target=h100 max-candidates=2' 2>/dev/null | FileCheck %s --check-prefix=FOUND
// FOUND-LABEL: graph @far_0(
// FOUND: grid [32, 4] schedule <swap = true>

// 32 MB of weights, four tiles of rows.
// CHECK-LABEL: graph @far_0(
// CHECK: grid [32, 4] cluster [1, 2] {{.*}}loads = [tensor(stages = {{[0-9]}}), tensor(stages = {{[0-9]}}, multicast = true)]
mirage_kernel.graph @far(%x: tensor<384x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<384x4096xf16> {
  %y = matmul %x, %w : tensor<384x4096xf16>, tensor<4096x4096xf16>
  return %y : tensor<384x4096xf16>
}
mirage_kernel.graph @far_0(%x: tensor<384x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<384x4096xf16> attributes {source = @far} {
  %y = custom (%a = %x, %b = %w) outs(%c) grid [32, 4] schedule <swap = true> : (tensor<384x4096xf16>, tensor<4096x4096xf16>) -> tensor<384x4096xf16> {
    %zero = constant 0.0 : !mirage_block.tile<96x128xf32>
    %s = loop 32 (%sum = %zero sum) : !mirage_block.tile<96x128xf32> {
      %ta = load %a {grid = [-1, 0], loop = [1]} : tensor<384x4096xf16> -> !mirage_block.tile<96x128xf16>
      %tb = load %b {grid = [1], loop = [0]} : tensor<4096x4096xf16> -> !mirage_block.tile<128x128xf16>
      %p = matmul %ta, %tb : !mirage_block.tile<96x128xf16>, !mirage_block.tile<128x128xf16>
      yield %p : !mirage_block.tile<96x128xf32>
    }
    store %s, %c {grid = [1, 0]} : !mirage_block.tile<96x128xf32>, tensor<384x4096xf16>
  }
  return %y : tensor<384x4096xf16>
}

// 8 MB stay in L2.
// CHECK-LABEL: graph @small_0(
// CHECK: grid [32, 4] schedule
// CHECK-NOT: multicast = true
mirage_kernel.graph @small(%x: tensor<384x1024xf16>, %w: tensor<1024x4096xf16>) -> tensor<384x4096xf16> {
  %y = matmul %x, %w : tensor<384x1024xf16>, tensor<1024x4096xf16>
  return %y : tensor<384x4096xf16>
}
mirage_kernel.graph @small_0(%x: tensor<384x1024xf16>, %w: tensor<1024x4096xf16>) -> tensor<384x4096xf16> attributes {source = @small} {
  %y = custom (%a = %x, %b = %w) outs(%c) grid [32, 4] schedule <swap = true> : (tensor<384x1024xf16>, tensor<1024x4096xf16>) -> tensor<384x4096xf16> {
    %zero = constant 0.0 : !mirage_block.tile<96x128xf32>
    %s = loop 32 (%sum = %zero sum) : !mirage_block.tile<96x128xf32> {
      %ta = load %a {grid = [-1, 0], loop = [1]} : tensor<384x1024xf16> -> !mirage_block.tile<96x32xf16>
      %tb = load %b {grid = [1], loop = [0]} : tensor<1024x4096xf16> -> !mirage_block.tile<32x128xf16>
      %p = matmul %ta, %tb : !mirage_block.tile<96x32xf16>, !mirage_block.tile<32x128xf16>
      yield %p : !mirage_block.tile<96x128xf32>
    }
    store %s, %c {grid = [1, 0]} : !mirage_block.tile<96x128xf32>, tensor<384x4096xf16>
  }
  return %y : tensor<384x4096xf16>
}

// Tiles of 112 columns come in boxes of 16.
// CHECK-LABEL: graph @narrow_0(
// CHECK: grid [48, 2] schedule
// CHECK-NOT: multicast = true
mirage_kernel.graph @narrow(%x: tensor<256x4096xf16>, %w: tensor<4096x5376xf16>) -> tensor<256x5376xf16> {
  %y = matmul %x, %w : tensor<256x4096xf16>, tensor<4096x5376xf16>
  return %y : tensor<256x5376xf16>
}
mirage_kernel.graph @narrow_0(%x: tensor<256x4096xf16>, %w: tensor<4096x5376xf16>) -> tensor<256x5376xf16> attributes {source = @narrow} {
  %y = custom (%a = %x, %b = %w) outs(%c) grid [48, 2] : (tensor<256x4096xf16>, tensor<4096x5376xf16>) -> tensor<256x5376xf16> {
    %zero = constant 0.0 : !mirage_block.tile<128x112xf32>
    %s = loop 32 (%sum = %zero sum) : !mirage_block.tile<128x112xf32> {
      %ta = load %a {grid = [-1, 0], loop = [1]} : tensor<256x4096xf16> -> !mirage_block.tile<128x128xf16>
      %tb = load %b {grid = [1], loop = [0]} : tensor<4096x5376xf16> -> !mirage_block.tile<128x112xf16>
      %p = matmul %ta, %tb : !mirage_block.tile<128x128xf16>, !mirage_block.tile<128x112xf16>
      yield %p : !mirage_block.tile<128x112xf32>
    }
    store %s, %c {grid = [1, 0]} : !mirage_block.tile<128x112xf32>, tensor<256x5376xf16>
  }
  return %y : tensor<256x5376xf16>
}
