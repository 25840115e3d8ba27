// What threads read behind the loop of a product that a producer feeds - a residual, not what the producer copies - is asked for when a
// tile of the grid begins: by blocks that take tiles in turn, from their second one on, and by those whose operands are swapped. It
// changes no result.
//
// RUN: mirage-mlir-opt %s --mirage-layout=target=h100 --mirage-lower=target=h100 -o %t.mlir 2>/dev/null
// RUN: FileCheck %s < %t.mlir
// RUN: mirage-run --target=emulator %t.mlir --program=in_turn | FileCheck %s --check-prefix=RIGHT
// RUN: mirage-run --target=emulator %t.mlir --program=swapped | FileCheck %s --check-prefix=RIGHT
// RIGHT: error 0.000{{[0-9]+}} (Frobenius-relative
// CHECK-LABEL: graph @in_turn_0(
// CHECK: persistent = 4, start = after, roles = [producer(
// CHECK: setmaxnreg.inc
// CHECK-NOT: wgmma.mma_async
// CHECK: setp.{{eq|ne|lt|gt}}
// CHECK-NOT: wgmma.mma_async
// CHECK: prefetch.global.L2
// CHECK: wgmma.mma_async
// CHECK-NOT: prefetch.global.L2
// CHECK-LABEL: graph @swapped_0(
// CHECK: swap = true, start = after, roles = [producer(
// CHECK: setmaxnreg.inc
// CHECK-NOT: wgmma.mma_async
// CHECK: prefetch.global.L2
// CHECK: wgmma.mma_async
// CHECK-NOT: prefetch.global.L2
// CHECK-LABEL: graph @once_0(
// CHECK: roles = [producer(
// CHECK-NOT: prefetch.global.L2
// CHECK-LABEL: graph @plain_0(
// CHECK: persistent = 4, start = after, roles = [producer(
// CHECK-NOT: prefetch.global.L2
mirage_kernel.graph @in_turn(%x: tensor<256x512xf16>, %w: tensor<512x1024xf16>, %r: tensor<256x1024xf16>) -> tensor<256x1024xf16>
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 0.04, 1.0>} {
  %p = matmul %x, %w : tensor<256x512xf16>, tensor<512x1024xf16>
  %y = add %p, %r : tensor<256x1024xf16>, tensor<256x1024xf16>
  return %y : tensor<256x1024xf16>
}
mirage_kernel.graph @in_turn_0(%x: tensor<256x512xf16>, %w: tensor<512x1024xf16>, %r: tensor<256x1024xf16>) -> tensor<256x1024xf16>
    attributes {selected, source = @in_turn} {
  %y = custom (%a = %x, %b = %w, %c = %r) outs(%o) grid [8, 2] schedule <persistent = 4, start = after> : (tensor<256x512xf16>, tensor<512x1024xf16>, tensor<256x1024xf16>) -> tensor<256x1024xf16> {
    %t = load %c {grid = [1, 0]} : tensor<256x1024xf16> -> !mirage_block.tile<128x128xf16>
    %z = constant 0.0 : !mirage_block.tile<128x128xf32>
    %p = loop 8 (%s = %z sum) : !mirage_block.tile<128x128xf32> {
      %u = load %a {grid = [-1, 0], loop = [1]} : tensor<256x512xf16> -> !mirage_block.tile<128x64xf16>
      %v = load %b {grid = [1], loop = [0]} : tensor<512x1024xf16> -> !mirage_block.tile<64x128xf16>
      %m = matmul %u, %v : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x128xf16>
      yield %m : !mirage_block.tile<128x128xf32>
    }
    %q = add %p, %t : !mirage_block.tile<128x128xf32>, !mirage_block.tile<128x128xf16>
    store %q, %o {grid = [1, 0]} : !mirage_block.tile<128x128xf32>, tensor<256x1024xf16>
  }
  return %y : tensor<256x1024xf16>
}
mirage_kernel.graph @swapped(%x: tensor<256x512xf16>, %w: tensor<512x1024xf16>, %r: tensor<256x1024xf16>) -> tensor<256x1024xf16>
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 0.04, 1.0>} {
  %p = matmul %x, %w : tensor<256x512xf16>, tensor<512x1024xf16>
  %y = add %p, %r : tensor<256x1024xf16>, tensor<256x1024xf16>
  return %y : tensor<256x1024xf16>
}
mirage_kernel.graph @swapped_0(%x: tensor<256x512xf16>, %w: tensor<512x1024xf16>, %r: tensor<256x1024xf16>) -> tensor<256x1024xf16>
    attributes {selected, source = @swapped} {
  %y = custom (%a = %x, %b = %w, %c = %r) outs(%o) grid [8, 2] schedule <swap = true, start = after> : (tensor<256x512xf16>, tensor<512x1024xf16>, tensor<256x1024xf16>) -> tensor<256x1024xf16> {
    %t = load %c {grid = [1, 0]} : tensor<256x1024xf16> -> !mirage_block.tile<128x128xf16>
    %z = constant 0.0 : !mirage_block.tile<128x128xf32>
    %p = loop 8 (%s = %z sum) : !mirage_block.tile<128x128xf32> {
      %u = load %a {grid = [-1, 0], loop = [1]} : tensor<256x512xf16> -> !mirage_block.tile<128x64xf16>
      %v = load %b {grid = [1], loop = [0]} : tensor<512x1024xf16> -> !mirage_block.tile<64x128xf16>
      %m = matmul %u, %v : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x128xf16>
      yield %m : !mirage_block.tile<128x128xf32>
    }
    %q = add %p, %t : !mirage_block.tile<128x128xf32>, !mirage_block.tile<128x128xf16>
    store %q, %o {grid = [1, 0]} : !mirage_block.tile<128x128xf32>, tensor<256x1024xf16>
  }
  return %y : tensor<256x1024xf16>
}
mirage_kernel.graph @once(%x: tensor<256x512xf16>, %w: tensor<512x1024xf16>, %r: tensor<256x1024xf16>) -> tensor<256x1024xf16>
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 0.04, 1.0>} {
  %p = matmul %x, %w : tensor<256x512xf16>, tensor<512x1024xf16>
  %y = add %p, %r : tensor<256x1024xf16>, tensor<256x1024xf16>
  return %y : tensor<256x1024xf16>
}
mirage_kernel.graph @once_0(%x: tensor<256x512xf16>, %w: tensor<512x1024xf16>, %r: tensor<256x1024xf16>) -> tensor<256x1024xf16>
    attributes {selected, source = @once} {
  %y = custom (%a = %x, %b = %w, %c = %r) outs(%o) grid [8, 2] schedule <start = after> : (tensor<256x512xf16>, tensor<512x1024xf16>, tensor<256x1024xf16>) -> tensor<256x1024xf16> {
    %t = load %c {grid = [1, 0]} : tensor<256x1024xf16> -> !mirage_block.tile<128x128xf16>
    %z = constant 0.0 : !mirage_block.tile<128x128xf32>
    %p = loop 8 (%s = %z sum) : !mirage_block.tile<128x128xf32> {
      %u = load %a {grid = [-1, 0], loop = [1]} : tensor<256x512xf16> -> !mirage_block.tile<128x64xf16>
      %v = load %b {grid = [1], loop = [0]} : tensor<512x1024xf16> -> !mirage_block.tile<64x128xf16>
      %m = matmul %u, %v : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x128xf16>
      yield %m : !mirage_block.tile<128x128xf32>
    }
    %q = add %p, %t : !mirage_block.tile<128x128xf32>, !mirage_block.tile<128x128xf16>
    store %q, %o {grid = [1, 0]} : !mirage_block.tile<128x128xf32>, tensor<256x1024xf16>
  }
  return %y : tensor<256x1024xf16>
}
mirage_kernel.graph @plain(%x: tensor<256x512xf16>, %w: tensor<512x1024xf16>) -> tensor<256x1024xf16>
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 0.04>} {
  %p = matmul %x, %w : tensor<256x512xf16>, tensor<512x1024xf16>
  return %p : tensor<256x1024xf16>
}
mirage_kernel.graph @plain_0(%x: tensor<256x512xf16>, %w: tensor<512x1024xf16>) -> tensor<256x1024xf16>
    attributes {selected, source = @plain} {
  %y = custom (%a = %x, %b = %w) outs(%o) grid [8, 2] schedule <persistent = 4, start = after> : (tensor<256x512xf16>, tensor<512x1024xf16>) -> tensor<256x1024xf16> {
    %z = constant 0.0 : !mirage_block.tile<128x128xf32>
    %p = loop 8 (%s = %z sum) : !mirage_block.tile<128x128xf32> {
      %u = load %a {grid = [-1, 0], loop = [1]} : tensor<256x512xf16> -> !mirage_block.tile<128x64xf16>
      %v = load %b {grid = [1], loop = [0]} : tensor<512x1024xf16> -> !mirage_block.tile<64x128xf16>
      %m = matmul %u, %v : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x128xf16>
      yield %m : !mirage_block.tile<128x128xf32>
    }
    store %p, %o {grid = [1, 0]} : !mirage_block.tile<128x128xf32>, tensor<256x1024xf16>
  }
  return %y : tensor<256x1024xf16>
}
