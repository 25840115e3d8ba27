// What ptxas is told of registers, and what is kept out of them.
//
// A kernel of which a multiprocessor has one block at a time, whatever it needs, since there are no more (alone) or since it takes its tiles in
// turn (turns), says so: ptxas would do with fewer registers, or spill, for the sake of others. Of more blocks nothing is said (two).
//
// RUN: mirage-mlir-opt %s --mirage-layout=target=h200 --mirage-lower=target=h200 -o %t.low 2>/dev/null
// RUN: sed 's/\\0A/\n/g; s/\\09/ /g' %t.low | FileCheck %s
// CHECK: entry alone_0_k0(
// CHECK: .maxntid 512
// CHECK-NEXT: .minnctapersm 1
// CHECK: entry two_0_k0(
// CHECK: .maxntid 512
// CHECK-NOT: .minnctapersm
// CHECK: entry turns_0_k0(
// CHECK: .maxntid 512
// CHECK-NEXT: .minnctapersm 1
//
// Beside 192 accumulators of a thread there is room for the reads of two groups of columns, which come before anything is computed
// for them, and for little that a group knows of its threads, which it works out again for each tile: so there is no local memory.
// Beside 128 accumulators four groups are read. (lower-ptxas.test asks the assembler.)
//
// CHECK: entry wide_0_k0(
// CHECK: setmaxnreg.inc
// CHECK: bra.uni
// CHECK: mov.b32
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: mov.b32
// CHECK-COUNT-2: ld.global{{.*}}v4.b32
// CHECK-NOT: ld.global
// CHECK: tanh.approx
// CHECK-NOT: ld.global
// CHECK: st.global.v4
// CHECK: entry narrow_0_k0(
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK-COUNT-4: ld.global{{.*}}v4.b32
// CHECK-NOT: ld.global
// CHECK: tanh.approx
// CHECK-NOT: ld.global
// CHECK: st.global.v4
//
// RUN: mirage-run --target=emulator --program=wide %t.low | FileCheck %s --check-prefix=RIGHT
// RUN: mirage-run --target=emulator --program=narrow %t.low | FileCheck %s --check-prefix=RIGHT
// RIGHT: output 0 {{.*}}: ok
mirage_kernel.graph @alone(%x: tensor<2x512xf16>, %w: tensor<512x8192xf16>) -> tensor<2x8192xf16> {
  %y = matmul %x, %w : tensor<2x512xf16>, tensor<512x8192xf16>
  return %y : tensor<2x8192xf16>
}
mirage_kernel.graph @alone_0(%x: tensor<2x512xf16>, %w: tensor<512x8192xf16>) -> tensor<2x8192xf16> attributes {selected, source = @alone} {
  %y = custom (%a = %x, %b = %w) outs(%o) grid [128] schedule <warps = 16> : (tensor<2x512xf16>, tensor<512x8192xf16>) -> tensor<2x8192xf16> {
    %z = constant 0.0 : !mirage_block.tile<2x64xf32>
    %s = loop 4 (%p = %z sum) : !mirage_block.tile<2x64xf32> {
      %c = load %a {loop = [1]} : tensor<2x512xf16> -> !mirage_block.tile<2x128xf16>
      %d = load %b {grid = [1], loop = [0]} : tensor<512x8192xf16> -> !mirage_block.tile<128x64xf16>
      %m = matmul %c, %d : !mirage_block.tile<2x128xf16>, !mirage_block.tile<128x64xf16>
      yield %m : !mirage_block.tile<2x64xf32>
    }
    store %s, %o {grid = [1]} : !mirage_block.tile<2x64xf32>, tensor<2x8192xf16>
  }
  return %y : tensor<2x8192xf16>
}
mirage_kernel.graph @two(%x: tensor<2x512xf16>, %w: tensor<512x16896xf16>) -> tensor<2x16896xf16> {
  %y = matmul %x, %w : tensor<2x512xf16>, tensor<512x16896xf16>
  return %y : tensor<2x16896xf16>
}
mirage_kernel.graph @two_0(%x: tensor<2x512xf16>, %w: tensor<512x16896xf16>) -> tensor<2x16896xf16> attributes {selected, source = @two} {
  %y = custom (%a = %x, %b = %w) outs(%o) grid [264] schedule <warps = 16> : (tensor<2x512xf16>, tensor<512x16896xf16>) -> tensor<2x16896xf16> {
    %z = constant 0.0 : !mirage_block.tile<2x64xf32>
    %s = loop 4 (%p = %z sum) : !mirage_block.tile<2x64xf32> {
      %c = load %a {loop = [1]} : tensor<2x512xf16> -> !mirage_block.tile<2x128xf16>
      %d = load %b {grid = [1], loop = [0]} : tensor<512x16896xf16> -> !mirage_block.tile<128x64xf16>
      %m = matmul %c, %d : !mirage_block.tile<2x128xf16>, !mirage_block.tile<128x64xf16>
      yield %m : !mirage_block.tile<2x64xf32>
    }
    store %s, %o {grid = [1]} : !mirage_block.tile<2x64xf32>, tensor<2x16896xf16>
  }
  return %y : tensor<2x16896xf16>
}
mirage_kernel.graph @turns(%x: tensor<1x1024xf16>, %w: tensor<8448x1024xf16>) -> tensor<1x8448xf16> {
  %y = matmul %x, %w {transpose_b} : tensor<1x1024xf16>, tensor<8448x1024xf16>
  return %y : tensor<1x8448xf16>
}
mirage_kernel.graph @turns_0(%x: tensor<1x1024xf16>, %w: tensor<8448x1024xf16>) -> tensor<1x8448xf16> attributes {selected, source = @turns} {
  %y = custom (%a = %x, %b = %w) outs(%o) grid [264] schedule <warps = 16> : (tensor<1x1024xf16>, tensor<8448x1024xf16>) -> tensor<1x8448xf16> {
    %z = constant 0.0 : !mirage_block.tile<1x32xf32>
    %s = loop 2 (%p = %z sum) : !mirage_block.tile<1x32xf32> {
      %c = load %a {loop = [1]} : tensor<1x1024xf16> -> !mirage_block.tile<1x512xf16>
      %d = load %b {grid = [0], loop = [1]} : tensor<8448x1024xf16> -> !mirage_block.tile<32x512xf16>
      %m = matmul %c, %d {transpose_b} : !mirage_block.tile<1x512xf16>, !mirage_block.tile<32x512xf16>
      yield %m : !mirage_block.tile<1x32xf32>
    }
    store %s, %o {grid = [1]} : !mirage_block.tile<1x32xf32>, tensor<1x8448xf16>
  }
  return %y : tensor<1x8448xf16>
}
mirage_kernel.graph @wide(%x: tensor<640x128xbf16>, %w: tensor<128x768xbf16>, %r: tensor<640x768xbf16>) -> tensor<640x768xbf16> {
  %p = matmul %x, %w : tensor<640x128xbf16>, tensor<128x768xbf16>
  %g = gelu_tanh %p : tensor<640x768xbf16>
  %y = mul %g, %r : tensor<640x768xbf16>, tensor<640x768xbf16>
  return %y : tensor<640x768xbf16>
}
mirage_kernel.graph @wide_0(%x: tensor<640x128xbf16>, %w: tensor<128x768xbf16>, %r: tensor<640x768xbf16>) -> tensor<640x768xbf16> attributes {selected, source = @wide} {
  %y = custom (%a = %x, %b = %w, %c = %r) outs(%o) grid [4, 5] schedule <warps = 12, overlap = tiles, persistent = 6, roles = [producer(4, 40), consumer(8, 232)], loads = [tensor(stages = 4), tensor(stages = 4), register(stages = 1)]> : (tensor<640x128xbf16>, tensor<128x768xbf16>, tensor<640x768xbf16>) -> tensor<640x768xbf16> {
    %z = constant 0.0 : !mirage_block.tile<128x192xf32>
    %s = loop 2 (%p = %z sum) : !mirage_block.tile<128x192xf32> {
      %xt = load %a {grid = [-1, 0], loop = [1]} : tensor<640x128xbf16> -> !mirage_block.tile<128x64xbf16>
      %wt = load %b {grid = [1], loop = [0]} : tensor<128x768xbf16> -> !mirage_block.tile<64x192xbf16>
      %m = matmul %xt, %wt : !mirage_block.tile<128x64xbf16>, !mirage_block.tile<64x192xbf16>
      yield %m : !mirage_block.tile<128x192xf32>
    }
    %rt = load %c {grid = [1, 0]} : tensor<640x768xbf16> -> !mirage_block.tile<128x192xbf16>
    %g = gelu_tanh %s : !mirage_block.tile<128x192xf32>
    %u = mul %g, %rt : !mirage_block.tile<128x192xf32>, !mirage_block.tile<128x192xbf16>
    store %u, %o {grid = [1, 0]} : !mirage_block.tile<128x192xf32>, tensor<640x768xbf16>
  }
  return %y : tensor<640x768xbf16>
}
mirage_kernel.graph @narrow(%x: tensor<640x128xbf16>, %w: tensor<128x512xbf16>, %r: tensor<640x512xbf16>) -> tensor<640x512xbf16> {
  %p = matmul %x, %w : tensor<640x128xbf16>, tensor<128x512xbf16>
  %g = gelu_tanh %p : tensor<640x512xbf16>
  %y = mul %g, %r : tensor<640x512xbf16>, tensor<640x512xbf16>
  return %y : tensor<640x512xbf16>
}
mirage_kernel.graph @narrow_0(%x: tensor<640x128xbf16>, %w: tensor<128x512xbf16>, %r: tensor<640x512xbf16>) -> tensor<640x512xbf16> attributes {selected, source = @narrow} {
  %y = custom (%a = %x, %b = %w, %c = %r) outs(%o) grid [4, 5] schedule <warps = 12, overlap = tiles, persistent = 6, roles = [producer(4, 40), consumer(8, 232)], loads = [tensor(stages = 4), tensor(stages = 4), register(stages = 1)]> : (tensor<640x128xbf16>, tensor<128x512xbf16>, tensor<640x512xbf16>) -> tensor<640x512xbf16> {
    %z = constant 0.0 : !mirage_block.tile<128x128xf32>
    %s = loop 2 (%p = %z sum) : !mirage_block.tile<128x128xf32> {
      %xt = load %a {grid = [-1, 0], loop = [1]} : tensor<640x128xbf16> -> !mirage_block.tile<128x64xbf16>
      %wt = load %b {grid = [1], loop = [0]} : tensor<128x512xbf16> -> !mirage_block.tile<64x128xbf16>
      %m = matmul %xt, %wt : !mirage_block.tile<128x64xbf16>, !mirage_block.tile<64x128xbf16>
      yield %m : !mirage_block.tile<128x128xf32>
    }
    %rt = load %c {grid = [1, 0]} : tensor<640x512xbf16> -> !mirage_block.tile<128x128xbf16>
    %g = gelu_tanh %s : !mirage_block.tile<128x128xf32>
    %u = mul %g, %rt : !mirage_block.tile<128x128xf32>, !mirage_block.tile<128x128xbf16>
    store %u, %o {grid = [1, 0]} : !mirage_block.tile<128x128xf32>, tensor<640x512xbf16>
  }
  return %y : tensor<640x512xbf16>
}
