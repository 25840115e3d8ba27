// Two warpgroups keep up to 192 accumulators a thread of a sum over loads, beside a producer: tiles of 256 x 160 and of 128 x 320, two slabs
// or two instructions each. Where a thread needs more, no registers are left for a producer, and of two sums that need 256 there is no plan.
//
// RUN: mirage-mlir-opt %s --mirage-layout=target=h200 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=SUMS --input-file %t.err
//
// The search knows it: 128 of these tiles are one round of the chip, where 160 of 128 x 256 would be two.
// RUN: sed -n '/^mirage_kernel.graph @slabs(/,/^}/p' %s > %t.mlir && mirage-mlir-opt %t.mlir --mirage-enumerate='target=h200 max-candidates=1' 2>/dev/null | FileCheck %s --check-prefix=FOUND
// FOUND-LABEL: graph @slabs_0(
// FOUND: grid [64, 2] :
// FOUND: matmul {{.*}}!mirage_block.tile<256x64xf16>, !mirage_block.tile<64x160xf16>
//
// And that a last round which is not full is paid for: 258 of 168 x 256, in place of 232 of 256 x 192.
// RUN: sed -n '/^mirage_kernel.graph @rounds(/,/^}/p' %s > %t.mlir && mirage-mlir-opt %t.mlir --mirage-enumerate='target=h200 max-candidates=1' 2>/dev/null | FileCheck %s --check-prefix=ROUNDS
// ROUNDS-LABEL: graph @rounds_0(
// ROUNDS: grid [43, 6] schedule <swap = true>
// ROUNDS: loop 64 {{.*}}!mirage_block.tile<168x256xf32>

// CHECK-LABEL: graph @slabs_0(
// CHECK: grid [64, 2] cluster [2] schedule <warps = 12, roles = [producer(4, 40), consumer(8, 232)], loads = [tensor(stages = 4, multicast = true), tensor(stages = 4)]> plan <{{.*}}partition = [8, 1, 1, 256]
mirage_kernel.graph @slabs(%x: tensor<512x8192xf16>, %w: tensor<8192x10240xf16>) -> tensor<512x10240xf16> {
  %y = matmul %x, %w : tensor<512x8192xf16>, tensor<8192x10240xf16>
  return %y : tensor<512x10240xf16>
}
mirage_kernel.graph @slabs_0(%x: tensor<512x8192xf16>, %w: tensor<8192x10240xf16>) -> tensor<512x10240xf16> attributes {source = @slabs} {
  %y = custom (%a = %x, %b = %w) outs(%c) grid [64, 2] : (tensor<512x8192xf16>, tensor<8192x10240xf16>) -> tensor<512x10240xf16> {
    %zero = constant 0.0 : !mirage_block.tile<256x160xf32>
    %s = loop 128 (%sum = %zero sum) : !mirage_block.tile<256x160xf32> {
      %ta = load %a {grid = [-1, 0], loop = [1]} : tensor<512x8192xf16> -> !mirage_block.tile<256x64xf16>
      %tb = load %b {grid = [1], loop = [0]} : tensor<8192x10240xf16> -> !mirage_block.tile<64x160xf16>
      %p = matmul %ta, %tb : !mirage_block.tile<256x64xf16>, !mirage_block.tile<64x160xf16>
      yield %p : !mirage_block.tile<256x160xf32>
    }
    store %s, %c {grid = [1, 0]} : !mirage_block.tile<256x160xf32>, tensor<512x10240xf16>
  }
  return %y : tensor<512x10240xf16>
}

// CHECK-LABEL: graph @columns_0(
// CHECK: grid [32, 4] cluster [1, 2] schedule <warps = 12, roles = [producer(4, 40), consumer(8, 232)], loads = [tensor(stages = 4), tensor(stages = 4, multicast = true)]> plan <{{.*}}partition = [8, 1, 1, 128]
mirage_kernel.graph @columns(%x: tensor<512x8192xf16>, %w: tensor<8192x10240xf16>) -> tensor<512x10240xf16> {
  %y = matmul %x, %w : tensor<512x8192xf16>, tensor<8192x10240xf16>
  return %y : tensor<512x10240xf16>
}
mirage_kernel.graph @columns_0(%x: tensor<512x8192xf16>, %w: tensor<8192x10240xf16>) -> tensor<512x10240xf16> attributes {source = @columns} {
  %y = custom (%a = %x, %b = %w) outs(%c) grid [32, 4] : (tensor<512x8192xf16>, tensor<8192x10240xf16>) -> tensor<512x10240xf16> {
    %zero = constant 0.0 : !mirage_block.tile<128x320xf32>
    %s = loop 128 (%sum = %zero sum) : !mirage_block.tile<128x320xf32> {
      %ta = load %a {grid = [-1, 0], loop = [1]} : tensor<512x8192xf16> -> !mirage_block.tile<128x64xf16>
      %tb = load %b {grid = [1], loop = [0]} : tensor<8192x10240xf16> -> !mirage_block.tile<64x320xf16>
      %p = matmul %ta, %tb : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x320xf16>
      yield %p : !mirage_block.tile<128x320xf32>
    }
    store %s, %c {grid = [1, 0]} : !mirage_block.tile<128x320xf32>, tensor<512x10240xf16>
  }
  return %y : tensor<512x10240xf16>
}

// CHECK-LABEL: graph @more_0(
// CHECK: grid [50, 2] schedule <warps = 8, loads = [tensor(stages = 3), tensor(stages = 3)]>
mirage_kernel.graph @more(%x: tensor<512x8192xf16>, %w: tensor<8192x10400xf16>) -> tensor<512x10400xf16> {
  %y = matmul %x, %w : tensor<512x8192xf16>, tensor<8192x10400xf16>
  return %y : tensor<512x10400xf16>
}
mirage_kernel.graph @more_0(%x: tensor<512x8192xf16>, %w: tensor<8192x10400xf16>) -> tensor<512x10400xf16> attributes {source = @more} {
  %y = custom (%a = %x, %b = %w) outs(%c) grid [50, 2] : (tensor<512x8192xf16>, tensor<8192x10400xf16>) -> tensor<512x10400xf16> {
    %zero = constant 0.0 : !mirage_block.tile<256x208xf32>
    %s = loop 128 (%sum = %zero sum) : !mirage_block.tile<256x208xf32> {
      %ta = load %a {grid = [-1, 0], loop = [1]} : tensor<512x8192xf16> -> !mirage_block.tile<256x64xf16>
      %tb = load %b {grid = [1], loop = [0]} : tensor<8192x10400xf16> -> !mirage_block.tile<64x208xf16>
      %p = matmul %ta, %tb : !mirage_block.tile<256x64xf16>, !mirage_block.tile<64x208xf16>
      yield %p : !mirage_block.tile<256x208xf32>
    }
    store %s, %c {grid = [1, 0]} : !mirage_block.tile<256x208xf32>, tensor<512x10400xf16>
  }
  return %y : tensor<512x10400xf16>
}

// SUMS: layout: the tiles need 327680 bytes of shared memory, h200 has 232448 for a block
// SUMS: @sums_0: removed: no layout on h200
mirage_kernel.graph @sums(%x: tensor<512x8192xf16>, %w: tensor<8192x10240xf16>, %u: tensor<8192x10240xf16>) -> tensor<512x10240xf16> {
  %y = matmul %x, %w : tensor<512x8192xf16>, tensor<8192x10240xf16>
  %z = matmul %x, %u : tensor<512x8192xf16>, tensor<8192x10240xf16>
  %s = mul %y, %z : tensor<512x10240xf16>, tensor<512x10240xf16>
  return %s : tensor<512x10240xf16>
}
mirage_kernel.graph @sums_0(%x: tensor<512x8192xf16>, %w: tensor<8192x10240xf16>, %u: tensor<8192x10240xf16>) -> tensor<512x10240xf16> attributes {source = @sums} {
  %y = custom (%a = %x, %b = %w, %d = %u) outs(%c) grid [80, 2] : (tensor<512x8192xf16>, tensor<8192x10240xf16>, tensor<8192x10240xf16>) -> tensor<512x10240xf16> {
    %zero = constant 0.0 : !mirage_block.tile<256x128xf32>
    %s, %t = loop 128 (%sum = %zero sum, %tum = %zero sum) : !mirage_block.tile<256x128xf32>, !mirage_block.tile<256x128xf32> {
      %ta = load %a {grid = [-1, 0], loop = [1]} : tensor<512x8192xf16> -> !mirage_block.tile<256x64xf16>
      %tb = load %b {grid = [1], loop = [0]} : tensor<8192x10240xf16> -> !mirage_block.tile<64x128xf16>
      %p = matmul %ta, %tb : !mirage_block.tile<256x64xf16>, !mirage_block.tile<64x128xf16>
      %td = load %d {grid = [1], loop = [0]} : tensor<8192x10240xf16> -> !mirage_block.tile<64x128xf16>
      %q = matmul %ta, %td : !mirage_block.tile<256x64xf16>, !mirage_block.tile<64x128xf16>
      yield %p, %q : !mirage_block.tile<256x128xf32>, !mirage_block.tile<256x128xf32>
    }
    %m = mul %s, %t : !mirage_block.tile<256x128xf32>, !mirage_block.tile<256x128xf32>
    store %m, %c {grid = [1, 0]} : !mirage_block.tile<256x128xf32>, tensor<512x10240xf16>
  }
  return %y : tensor<512x10240xf16>
}

mirage_kernel.graph @rounds(%x: tensor<1000x4096xbf16>, %w: tensor<4096x11008xbf16>, %r: tensor<1000x11008xbf16>) -> tensor<1000x11008xbf16> {
  %p = matmul %x, %w : tensor<1000x4096xbf16>, tensor<4096x11008xbf16>
  %y = add %p, %r : tensor<1000x11008xbf16>, tensor<1000x11008xbf16>
  return %y : tensor<1000x11008xbf16>
}
