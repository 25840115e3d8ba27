// mirage-enumerate=replay=yes says of given candidates whether the search meets them, or which of its tests cuts which
// operator.
// RUN: mirage-mlir-opt %s --mirage-enumerate=replay=yes -o %t.mlir 2> %t.err
// RUN: FileCheck %s < %t.err
// RUN: FileCheck %s --check-prefix=SAME < %t.mlir
// RUN: mirage-mlir-opt %s --mirage-enumerate='replay=yes max-block-ops=5' -o /dev/null 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: mirage-mlir-opt %s --mirage-enumerate='replay=yes max-block-ops=3' -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: mirage-mlir-opt %s --mirage-enumerate='replay=yes max-states=12' -o /dev/null 2>&1 | FileCheck %s --check-prefix=STATES
// RUN: mirage-mlir-opt %s --mirage-enumerate='replay=yes griddims=4' -o /dev/null 2>&1 | FileCheck %s --check-prefix=GRID
// RUN: mirage-mlir-opt %s --mirage-enumerate=replay=add 2>/dev/null | FileCheck %s --check-prefix=ADD

// Nothing is added.
// SAME-COUNT-13: mirage_kernel.graph
// SAME-NOT: mirage_kernel.graph
mirage_kernel.graph @rms(%x: tensor<16x1024xf16>, %w: tensor<1024x512xf16>) -> tensor<16x512xf16> {
  %n = rms_norm %x {eps = 0.0} : tensor<16x1024xf16>
  %y = matmul %n, %w : tensor<16x1024xf16>, tensor<1024x512xf16>
  return %y : tensor<16x512xf16>
}

// Squares for products, and operands the other way round.
// CHECK: remark: @right: in the space: 6 operators counted, 10 in all, 0 merged; {{[0-9.]+}} us predicted,
// FEW: @right: cut at the end by limit: it counts 6 operators, max-block-ops = 5
// NONE: @right: cut at reduce_sum by limit: with what is still needed it takes more than max-block-ops = 3 operators
// STATES: @right: cut at the end by limit: the search stops at max-states = 12 before it meets {{[0-9]+}} of its operators
// GRID: @right: cut at the end by schedule: 8 blocks along an axis of 512, tiles of 64, are not tried
// ADD: graph @right_searched{{.*}}source = @rms
// ADD: grid [8]
// ADD: loop 8
// ADD: mul %[[X:.*]], %[[X]]
mirage_kernel.graph @right(%x: tensor<16x1024xf16>, %w: tensor<1024x512xf16>) -> tensor<16x512xf16> attributes {source = @rms} {
  %0 = custom (%a = %x, %b = %w) outs(%o) grid [8] : (tensor<16x1024xf16>, tensor<1024x512xf16>) -> tensor<16x512xf16> {
    %z1 = constant 0.0 : !mirage_block.tile<16x1xf32>
    %z2 = constant 0.0 : !mirage_block.tile<16x64xf32>
    %l:2 = loop 8 (%s = %z1 sum, %p = %z2 sum) : !mirage_block.tile<16x1xf32>, !mirage_block.tile<16x64xf32> {
      %1 = load %a {loop = [1]} : tensor<16x1024xf16> -> !mirage_block.tile<16x128xf16>
      %2 = load %b {grid = [1], loop = [0]} : tensor<1024x512xf16> -> !mirage_block.tile<128x64xf16>
      %3 = square %1 : !mirage_block.tile<16x128xf16>
      %4 = reduce_sum %3 {dim = 1} : !mirage_block.tile<16x128xf32>
      %5 = matmul %1, %2 : !mirage_block.tile<16x128xf16>, !mirage_block.tile<128x64xf16>
      yield %4, %5 : !mirage_block.tile<16x1xf32>, !mirage_block.tile<16x64xf32>
    }
    %k = constant 1024.0 : !mirage_block.tile<1x1xf32>
    %m = div %l#0, %k : !mirage_block.tile<16x1xf32>, !mirage_block.tile<1x1xf32>
    %q = sqrt %m : !mirage_block.tile<16x1xf32>
    %y = div %l#1, %q : !mirage_block.tile<16x64xf32>, !mirage_block.tile<16x1xf32>
    store %y, %o {grid = [1]} : !mirage_block.tile<16x64xf32>, tensor<16x512xf16>
  }
  return %0 : tensor<16x512xf16>
}

// Blocks of 4 parts of the contraction: the first kernel stores them side by side, the squares down to 32 columns; the
// second walks them in a loop of 2.
// CHECK: remark: @parts: in the space: 6 operators counted, 10 in all, 0 merged
// ADD: graph @parts_searched
// ADD: grid [8, 4]
// ADD: reduce_sum {{.*}} {dim = 1}
// ADD: grid [8]
mirage_kernel.graph @parts(%x: tensor<16x1024xf16>, %w: tensor<1024x512xf16>) -> tensor<16x512xf16> attributes {source = @rms} {
  %0:2 = custom (%a = %x, %b = %w) outs(%o, %o2) grid [4, 8] : (tensor<16x1024xf16>, tensor<1024x512xf16>) -> (tensor<16x128xf32>, tensor<64x512xf32>) {
    %z1 = constant 0.0 : !mirage_block.tile<16x32xf32>
    %z2 = constant 0.0 : !mirage_block.tile<16x64xf32>
    %l:2 = loop 2 (%s = %z1 sum, %p = %z2 sum) : !mirage_block.tile<16x32xf32>, !mirage_block.tile<16x64xf32> {
      %1 = load %a {grid = [1], loop = [1]} : tensor<16x1024xf16> -> !mirage_block.tile<16x128xf16>
      %2 = load %b {grid = [0, 1], loop = [0]} : tensor<1024x512xf16> -> !mirage_block.tile<128x64xf16>
      %3 = mul %1, %1 : !mirage_block.tile<16x128xf16>, !mirage_block.tile<16x128xf16>
      %4 = reduce_sum %3 {dim = 1, extent = 32} : !mirage_block.tile<16x128xf32>
      %5 = matmul %1, %2 : !mirage_block.tile<16x128xf16>, !mirage_block.tile<128x64xf16>
      yield %4, %5 : !mirage_block.tile<16x32xf32>, !mirage_block.tile<16x64xf32>
    }
    store %l#0, %o {grid = [1]} : !mirage_block.tile<16x32xf32>, tensor<16x128xf32>
    store %l#1, %o2 {grid = [0, 1]} : !mirage_block.tile<16x64xf32>, tensor<64x512xf32>
  }
  %6 = custom (%a = %0#0, %b = %0#1) outs(%o) grid [8] : (tensor<16x128xf32>, tensor<64x512xf32>) -> tensor<16x512xf16> {
    %z1 = constant 0.0 : !mirage_block.tile<16x1xf32>
    %z2 = constant 0.0 : !mirage_block.tile<16x64xf32>
    %l:2 = loop 2 (%s = %z1 sum, %p = %z2 sum) : !mirage_block.tile<16x1xf32>, !mirage_block.tile<16x64xf32> {
      %1 = load %a {loop = [1]} : tensor<16x128xf32> -> !mirage_block.tile<16x64xf32>
      %2 = load %b {grid = [1], loop = [0]} : tensor<64x512xf32> -> !mirage_block.tile<32x64xf32>
      %3 = reduce_sum %1 {dim = 1} : !mirage_block.tile<16x64xf32>
      %4 = reduce_sum %2 {dim = 0, extent = 16} : !mirage_block.tile<32x64xf32>
      yield %3, %4 : !mirage_block.tile<16x1xf32>, !mirage_block.tile<16x64xf32>
    }
    %k = constant 1024.0 : !mirage_block.tile<1x1xf32>
    %m = div %l#0, %k : !mirage_block.tile<16x1xf32>, !mirage_block.tile<1x1xf32>
    %q = sqrt %m : !mirage_block.tile<16x1xf32>
    %y = div %l#1, %q : !mirage_block.tile<16x64xf32>, !mirage_block.tile<16x1xf32>
    store %y, %o {grid = [1]} : !mirage_block.tile<16x64xf32>, tensor<16x512xf16>
  }
  return %6 : tensor<16x512xf16>
}

// The division as a kernel of its own: the search has it in the one before.
// CHECK: remark: @apart: cut at the end by kernels: its 2 kernels are 1 in the search; dominated by {{.*}} 1 kernel instead of 2
// ADD: graph @apart_searched
mirage_kernel.graph @apart(%x: tensor<16x1024xf16>, %w: tensor<1024x512xf16>) -> tensor<16x512xf16> attributes {source = @rms} {
  %0:2 = custom (%a = %x, %b = %w) outs(%o, %o2) grid [8] : (tensor<16x1024xf16>, tensor<1024x512xf16>) -> (tensor<16x1xf16>, tensor<16x512xf16>) {
    %z1 = constant 0.0 : !mirage_block.tile<16x1xf32>
    %z2 = constant 0.0 : !mirage_block.tile<16x64xf32>
    %l:2 = loop 8 (%s = %z1 sum, %p = %z2 sum) : !mirage_block.tile<16x1xf32>, !mirage_block.tile<16x64xf32> {
      %1 = load %a {loop = [1]} : tensor<16x1024xf16> -> !mirage_block.tile<16x128xf16>
      %2 = load %b {grid = [1], loop = [0]} : tensor<1024x512xf16> -> !mirage_block.tile<128x64xf16>
      %3 = square %1 : !mirage_block.tile<16x128xf16>
      %4 = reduce_sum %3 {dim = 1} : !mirage_block.tile<16x128xf32>
      %5 = matmul %1, %2 : !mirage_block.tile<16x128xf16>, !mirage_block.tile<128x64xf16>
      yield %4, %5 : !mirage_block.tile<16x1xf32>, !mirage_block.tile<16x64xf32>
    }
    %k = constant 1024.0 : !mirage_block.tile<1x1xf32>
    %m = div %l#0, %k : !mirage_block.tile<16x1xf32>, !mirage_block.tile<1x1xf32>
    %q = sqrt %m : !mirage_block.tile<16x1xf32>
    store %q, %o : !mirage_block.tile<16x1xf32>, tensor<16x1xf16>
    store %l#1, %o2 {grid = [1]} : !mirage_block.tile<16x64xf32>, tensor<16x512xf16>
  }
  %y = div %0#1, %0#0 : tensor<16x512xf16>, tensor<16x1xf16>
  return %y : tensor<16x512xf16>
}

// The program's own operators: a norm, written as the search's pieces write it, and a product.
// CHECK: remark: @pieces: in the space in 2 pieces: 2 operators counted
mirage_kernel.graph @pieces(%x: tensor<16x1024xf16>, %w: tensor<1024x512xf16>) -> tensor<16x512xf16> attributes {source = @rms} {
  %0 = custom (%a = %x) outs(%o) grid [16] : (tensor<16x1024xf16>) -> tensor<16x1024xf16> {
    %1 = load %a {grid = [0]} : tensor<16x1024xf16> -> !mirage_block.tile<1x1024xf16>
    %2 = mul %1, %1 : !mirage_block.tile<1x1024xf16>, !mirage_block.tile<1x1024xf16>
    %3 = reduce_mean %2 {dim = 1} : !mirage_block.tile<1x1024xf32>
    %4 = sqrt %3 : !mirage_block.tile<1x1xf32>
    %5 = div %1, %4 : !mirage_block.tile<1x1024xf16>, !mirage_block.tile<1x1xf32>
    store %5, %o {grid = [0]} : !mirage_block.tile<1x1024xf32>, tensor<16x1024xf16>
  }
  %y = matmul %0, %w : tensor<16x1024xf16>, tensor<1024x512xf16>
  return %y : tensor<16x512xf16>
}

// Each iteration divides by its own part of the sum.
// CHECK: :[[# @LINE + 12]]:{{.*}} remark: @early: cut at sqrt by expression: its abstract expression cannot become part of the program's
mirage_kernel.graph @early(%x: tensor<16x1024xf16>, %w: tensor<1024x512xf16>) -> tensor<16x512xf16> attributes {source = @rms} {
  %0 = custom (%a = %x, %b = %w) outs(%o) grid [8] : (tensor<16x1024xf16>, tensor<1024x512xf16>) -> tensor<16x512xf16> {
    %z2 = constant 0.0 : !mirage_block.tile<16x64xf32>
    %k = constant 1024.0 : !mirage_block.tile<1x1xf32>
    %l = loop 8 (%p = %z2 sum) : !mirage_block.tile<16x64xf32> {
      %1 = load %a {loop = [1]} : tensor<16x1024xf16> -> !mirage_block.tile<16x128xf16>
      %2 = load %b {grid = [1], loop = [0]} : tensor<1024x512xf16> -> !mirage_block.tile<128x64xf16>
      %3 = square %1 : !mirage_block.tile<16x128xf16>
      %4 = reduce_sum %3 {dim = 1} : !mirage_block.tile<16x128xf32>
      %5 = matmul %1, %2 : !mirage_block.tile<16x128xf16>, !mirage_block.tile<128x64xf16>
      %m = div %4, %k : !mirage_block.tile<16x1xf32>, !mirage_block.tile<1x1xf32>
      %q = sqrt %m : !mirage_block.tile<16x1xf32>
      %n = div %5, %q : !mirage_block.tile<16x64xf32>, !mirage_block.tile<16x1xf32>
      yield %n : !mirage_block.tile<16x64xf32>
    }
    store %l, %o {grid = [1]} : !mirage_block.tile<16x64xf32>, tensor<16x512xf16>
  }
  return %0 : tensor<16x512xf16>
}

// The parts of 4 blocks are never added.
// CHECK: remark: @partial: cut at store by axis: blocks that hold parts of a sum store to the same place
mirage_kernel.graph @partial(%x: tensor<16x1024xf16>, %w: tensor<1024x512xf16>) -> tensor<16x512xf16> attributes {source = @rms} {
  %0 = custom (%a = %x, %b = %w) outs(%o) grid [4, 8] : (tensor<16x1024xf16>, tensor<1024x512xf16>) -> tensor<16x512xf16> {
    %1 = load %a {grid = [1]} : tensor<16x1024xf16> -> !mirage_block.tile<16x256xf16>
    %2 = load %b {grid = [0, 1]} : tensor<1024x512xf16> -> !mirage_block.tile<256x64xf16>
    %5 = matmul %1, %2 : !mirage_block.tile<16x256xf16>, !mirage_block.tile<256x64xf16>
    store %5, %o {grid = [-1, 1]} : !mirage_block.tile<16x64xf32>, tensor<16x512xf16>
  }
  return %0 : tensor<16x512xf16>
}

// One operand walks the contraction with the loop, the other with the grid.
// CHECK: remark: @askew: cut at matmul by axis: its operands hold different parts of the loop's axis
mirage_kernel.graph @askew(%x: tensor<16x1024xf16>, %w: tensor<1024x512xf16>) -> tensor<16x512xf16> attributes {source = @rms} {
  %0 = custom (%a = %x, %b = %w) outs(%o) grid [8] : (tensor<16x1024xf16>, tensor<1024x512xf16>) -> tensor<16x512xf16> {
    %z = constant 0.0 : !mirage_block.tile<16x512xf32>
    %l = loop 8 (%p = %z sum) : !mirage_block.tile<16x512xf32> {
      %1 = load %a {loop = [1]} : tensor<16x1024xf16> -> !mirage_block.tile<16x128xf16>
      %2 = load %b {grid = [0]} : tensor<1024x512xf16> -> !mirage_block.tile<128x512xf16>
      %5 = matmul %1, %2 : !mirage_block.tile<16x128xf16>, !mirage_block.tile<128x512xf16>
      yield %5 : !mirage_block.tile<16x512xf32>
    }
    store %l, %o : !mirage_block.tile<16x512xf32>, tensor<16x512xf16>
  }
  return %0 : tensor<16x512xf16>
}

// A loop that walks nothing.
// CHECK: remark: @idle: cut at loop by axis: it adds the same value 4 times
mirage_kernel.graph @idle(%x: tensor<16x1024xf16>, %w: tensor<1024x512xf16>) -> tensor<16x512xf16> attributes {source = @rms} {
  %0 = custom (%a = %x, %b = %w) outs(%o) grid [64] : (tensor<16x1024xf16>, tensor<1024x512xf16>) -> tensor<16x512xf16> {
    %z = constant 0.0 : !mirage_block.tile<16x8xf32>
    %l = loop 4 (%p = %z sum) : !mirage_block.tile<16x8xf32> {
      %1 = load %a : tensor<16x1024xf16> -> !mirage_block.tile<16x1024xf16>
      %2 = load %b {grid = [1]} : tensor<1024x512xf16> -> !mirage_block.tile<1024x8xf16>
      %5 = matmul %1, %2 : !mirage_block.tile<16x1024xf16>, !mirage_block.tile<1024x8xf16>
      yield %5 : !mirage_block.tile<16x8xf32>
    }
    store %l, %o {grid = [1]} : !mirage_block.tile<16x8xf32>, tensor<16x512xf16>
  }
  return %0 : tensor<16x512xf16>
}

// The product alone: every step is one of the search's, the result is not.
// CHECK: remark: @forgot: cut at custom by value: the values of result 0 are not the program's
mirage_kernel.graph @forgot(%x: tensor<16x1024xf16>, %w: tensor<1024x512xf16>) -> tensor<16x512xf16> attributes {source = @rms} {
  %0 = custom (%a = %x, %b = %w) outs(%o) grid [64] : (tensor<16x1024xf16>, tensor<1024x512xf16>) -> tensor<16x512xf16> {
    %1 = load %a : tensor<16x1024xf16> -> !mirage_block.tile<16x1024xf16>
    %2 = load %b {grid = [1]} : tensor<1024x512xf16> -> !mirage_block.tile<1024x8xf16>
    %5 = matmul %1, %2 : !mirage_block.tile<16x1024xf16>, !mirage_block.tile<1024x8xf16>
    store %5, %o {grid = [1]} : !mirage_block.tile<16x8xf32>, tensor<16x512xf16>
  }
  return %0 : tensor<16x512xf16>
}

// An operator that the program has not.
// CHECK: remark: @foreign: cut at tanh by operator: the program has no such operator, so the search has none
mirage_kernel.graph @foreign(%x: tensor<16x1024xf16>, %w: tensor<1024x512xf16>) -> tensor<16x512xf16> attributes {source = @rms} {
  %t = tanh %x : tensor<16x1024xf16>
  %y = matmul %t, %w : tensor<16x1024xf16>, tensor<1024x512xf16>
  return %y : tensor<16x512xf16>
}

// Shared memory: 131072 elements of a row by 8 columns are 2 MB.
mirage_kernel.graph @long(%x: tensor<16x131072xf16>, %w: tensor<131072x512xf16>) -> tensor<16x512xf16> {
  %y = matmul %x, %w : tensor<16x131072xf16>, tensor<131072x512xf16>
  return %y : tensor<16x512xf16>
}

// CHECK: remark: @whole: cut at load by memory: the smallest tile of input 0 does not fit shared memory unless the loop walks it
mirage_kernel.graph @whole(%x: tensor<16x131072xf16>, %w: tensor<131072x512xf16>) -> tensor<16x512xf16> attributes {source = @long} {
  %0 = custom (%a = %x, %b = %w) outs(%o) grid [64] : (tensor<16x131072xf16>, tensor<131072x512xf16>) -> tensor<16x512xf16> {
    %1 = load %a : tensor<16x131072xf16> -> !mirage_block.tile<16x131072xf16>
    %2 = load %b {grid = [1]} : tensor<131072x512xf16> -> !mirage_block.tile<131072x8xf16>
    %5 = matmul %1, %2 : !mirage_block.tile<16x131072xf16>, !mirage_block.tile<131072x8xf16>
    store %5, %o {grid = [1]} : !mirage_block.tile<16x8xf32>, tensor<16x512xf16>
  }
  return %0 : tensor<16x512xf16>
}
