// swap = true: warpgroups take the columns of a product as the rows of their instruction, and its rows, any multiple of eight, as the
// columns (lib/layout/warpgroup.c). The result is turned in shared memory.
//
// RUN: mirage-mlir-opt %s --mirage-lower -o %t.mlir
// RUN: mirage-run --target=emulator --program=plain --emit-ptx=%t.plain.ptx %t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=PLAIN --input-file %t.plain.ptx
// RUN: mirage-run --target=emulator --program=epilogue --emit-ptx=%t.epilogue.ptx %t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=EPILOGUE --input-file %t.epilogue.ptx
// RUN: mirage-run --target=emulator --program=gated --emit-ptx=%t.gated.ptx %t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=GATED --input-file %t.gated.ptx
// RUN: mirage-run --target=emulator --program=by_rows --emit-ptx=%t.by_rows.ptx %t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=BYROWS --input-file %t.by_rows.ptx
// RUN: mirage-run --target=emulator --program=asked --emit-ptx=%t.asked.ptx %t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=ASKED --input-file %t.asked.ptx
// RUN: mirage-run --target=emulator --program=split --emit-ptx=%t.split.ptx %t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=SPLIT --input-file %t.split.ptx
// RUN: mirage-run --target=emulator --program=too_many %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=narrow --emit-ptx=%t.narrow.ptx %t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=FEW --input-file %t.narrow.ptx
// RUN: mirage-run --target=emulator --program=computed --emit-ptx=%t.computed.ptx %t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=FEW --input-file %t.computed.ptx
// RUN: mirage-run --target=emulator --program=unasked --emit-ptx=%t.unasked.ptx %t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=FEW --input-file %t.unasked.ptx
// CHECK: output 0 {{.*}}: ok

// Two tiles of 80 rows, of which the second has 70; 128 columns are two slabs.
// PLAIN: wgmma.mma_async.sync.aligned.m64n80k16
mirage_kernel.graph @plain(%x: tensor<150x256xf16>, %w: tensor<256x256xf16>) -> tensor<150x256xf16> {
  %y = custom (%cx = %x, %cw = %w) outs(%o) grid [2, 2] schedule <warps = 12, swap = true, roles = [producer(4, 40), consumer(8, 232)], loads = [tensor(stages = 3), tensor(stages = 3)]> : (tensor<150x256xf16>, tensor<256x256xf16>) -> tensor<150x256xf16> {
    %z = constant 0.0 : !mirage_block.tile<80x128xf32>
    %s = loop 4 (%p = %z sum) : !mirage_block.tile<80x128xf32> {
      %1 = load %cx {grid = [-1, 0], loop = [1], tiles = [80]} : tensor<150x256xf16> -> !mirage_block.tile<80x64xf16>
      %2 = load %cw {grid = [1], loop = [0]} : tensor<256x256xf16> -> !mirage_block.tile<64x128xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<80x64xf16>, !mirage_block.tile<64x128xf16>
      yield %3 : !mirage_block.tile<80x128xf32>
    }
    store %s, %o {grid = [1, 0], tiles = [80]} : !mirage_block.tile<80x128xf32>, tensor<150x256xf16>
  }
  return %y : tensor<150x256xf16>
}

// What is computed of the sums is computed as they lie in shared memory.
// EPILOGUE: wgmma.mma_async.sync.aligned.m64n104k16
mirage_kernel.graph @epilogue(%x: tensor<100x256xf16>, %w: tensor<256x256xf16>, %b: tensor<256xf16>, %r: tensor<100x256xf16>) -> tensor<100x256xf16> {
  %y = custom (%cx = %x, %cw = %w, %cb = %b, %cr = %r) outs(%o) grid [2] schedule <warps = 12, swap = true, roles = [producer(4, 40), consumer(8, 232)], loads = [tensor(stages = 3), tensor(stages = 3), register, register]> : (tensor<100x256xf16>, tensor<256x256xf16>, tensor<256xf16>, tensor<100x256xf16>) -> tensor<100x256xf16> {
    %z = constant 0.0 : !mirage_block.tile<104x128xf32>
    %s = loop 4 (%p = %z sum) : !mirage_block.tile<104x128xf32> {
      %1 = load %cx {loop = [1], tiles = [104]} : tensor<100x256xf16> -> !mirage_block.tile<104x64xf16>
      %2 = load %cw {grid = [1], loop = [0]} : tensor<256x256xf16> -> !mirage_block.tile<64x128xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<104x64xf16>, !mirage_block.tile<64x128xf16>
      yield %3 : !mirage_block.tile<104x128xf32>
    }
    %6 = load %cb {grid = [0]} : tensor<256xf16> -> !mirage_block.tile<128xf16>
    %7 = add %s, %6 : !mirage_block.tile<104x128xf32>, !mirage_block.tile<128xf16>
    %8 = gelu %7 : !mirage_block.tile<104x128xf32>
    %9 = load %cr {grid = [1], tiles = [104]} : tensor<100x256xf16> -> !mirage_block.tile<104x128xf16>
    %10 = add %8, %9 : !mirage_block.tile<104x128xf32>, !mirage_block.tile<104x128xf16>
    store %10, %o {grid = [1], tiles = [104]} : !mirage_block.tile<104x128xf32>, tensor<100x256xf16>
  }
  return %y : tensor<100x256xf16>
}

// Two products with the same rows, planned without being asked for anything else.
// GATED-COUNT-2: wgmma.mma_async.sync.aligned.m64n40k16
mirage_kernel.graph @gated(%x: tensor<40x256xf16>, %w: tensor<256x128xf16>, %v: tensor<256x128xf16>) -> tensor<40x128xf16> {
  %y = custom (%cx = %x, %cw = %w, %cv = %v) outs(%o) grid [2] schedule <swap = true> : (tensor<40x256xf16>, tensor<256x128xf16>, tensor<256x128xf16>) -> tensor<40x128xf16> {
    %z = constant 0.0 : !mirage_block.tile<40x64xf32>
    %s:2 = loop 4 (%p = %z sum, %q = %z sum) : !mirage_block.tile<40x64xf32>, !mirage_block.tile<40x64xf32> {
      %1 = load %cx {loop = [1]} : tensor<40x256xf16> -> !mirage_block.tile<40x64xf16>
      %2 = load %cw {grid = [1], loop = [0]} : tensor<256x128xf16> -> !mirage_block.tile<64x64xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<40x64xf16>, !mirage_block.tile<64x64xf16>
      %4 = load %cv {grid = [1], loop = [0]} : tensor<256x128xf16> -> !mirage_block.tile<64x64xf16>
      %5 = matmul %1, %4 : !mirage_block.tile<40x64xf16>, !mirage_block.tile<64x64xf16>
      yield %3, %5 : !mirage_block.tile<40x64xf32>, !mirage_block.tile<40x64xf32>
    }
    %g = silu %s#0 : !mirage_block.tile<40x64xf32>
    %h = mul %g, %s#1 : !mirage_block.tile<40x64xf32>, !mirage_block.tile<40x64xf32>
    store %h, %o {grid = [1]} : !mirage_block.tile<40x64xf32>, tensor<40x128xf16>
  }
  return %y : tensor<40x128xf16>
}

// Weights that have a row for each output.
// BYROWS: wgmma.mma_async.sync.aligned.m64n56k16
mirage_kernel.graph @by_rows(%x: tensor<112x256xbf16>, %w: tensor<256x256xbf16>) -> tensor<112x256xbf16> {
  %y = custom (%cx = %x, %cw = %w) outs(%o) grid [2, 2] schedule <swap = true> : (tensor<112x256xbf16>, tensor<256x256xbf16>) -> tensor<112x256xbf16> {
    %z = constant 0.0 : !mirage_block.tile<56x128xf32>
    %s = loop 4 (%p = %z sum) : !mirage_block.tile<56x128xf32> {
      %1 = load %cx {grid = [-1, 0], loop = [1]} : tensor<112x256xbf16> -> !mirage_block.tile<56x64xbf16>
      %2 = load %cw {grid = [0], loop = [1]} : tensor<256x256xbf16> -> !mirage_block.tile<128x64xbf16>
      %3 = matmul %1, %2 {transpose_b} : !mirage_block.tile<56x64xbf16>, !mirage_block.tile<128x64xbf16>
      yield %3 : !mirage_block.tile<56x128xf32>
    }
    store %s, %o {grid = [1, 0]} : !mirage_block.tile<56x128xf32>, tensor<112x256xbf16>
  }
  return %y : tensor<112x256xbf16>
}

// Rows that are slabs, swapped all the same.
// ASKED: wgmma.mma_async.sync.aligned.m64n64k16
mirage_kernel.graph @asked(%x: tensor<64x256xf16>, %w: tensor<256x256xf16>) -> tensor<64x256xf16> {
  %y = custom (%cx = %x, %cw = %w) outs(%o) grid [2] schedule <swap = true> : (tensor<64x256xf16>, tensor<256x256xf16>) -> tensor<64x256xf16> {
    %z = constant 0.0 : !mirage_block.tile<64x128xf32>
    %s = loop 4 (%p = %z sum) : !mirage_block.tile<64x128xf32> {
      %1 = load %cx {loop = [1]} : tensor<64x256xf16> -> !mirage_block.tile<64x64xf16>
      %2 = load %cw {grid = [1], loop = [0]} : tensor<256x256xf16> -> !mirage_block.tile<64x128xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<64x64xf16>, !mirage_block.tile<64x128xf16>
      yield %3 : !mirage_block.tile<64x128xf32>
    }
    store %s, %o {grid = [1]} : !mirage_block.tile<64x128xf32>, tensor<64x256xf16>
  }
  return %y : tensor<64x256xf16>
}

// Two blocks of a cluster each sum half of the contraction.
// SPLIT: wgmma.mma_async.sync.aligned.m64n32k16
mirage_kernel.graph @split(%x: tensor<64x512xf16>, %w: tensor<512x256xf16>) -> tensor<64x256xf16> {
  %y = custom (%cx = %x, %cw = %w) outs(%o) grid [2, 2, 2] cluster [1, 1, 2] schedule <swap = true> : (tensor<64x512xf16>, tensor<512x256xf16>) -> tensor<64x256xf16> {
    %z = constant 0.0 : !mirage_block.tile<32x128xf32>
    %s = loop 4 (%p = %z sum) : !mirage_block.tile<32x128xf32> {
      %1 = load %cx {grid = [-1, 0, 1], loop = [1]} : tensor<64x512xf16> -> !mirage_block.tile<32x64xf16>
      %2 = load %cw {grid = [1, -1, 0], loop = [0]} : tensor<512x256xf16> -> !mirage_block.tile<64x128xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<32x64xf16>, !mirage_block.tile<64x128xf16>
      yield %3 : !mirage_block.tile<32x128xf32>
    }
    %t = cluster_sum %s {axes = [2]} : !mirage_block.tile<32x128xf32>
    store %t, %o {grid = [1, 0, -1]} : !mirage_block.tile<32x128xf32>, tensor<64x256xf16>
  }
  return %y : tensor<64x256xf16>
}

// Columns that are no slab: warps multiply, swapped.
// FEW-NOT: wgmma
// FEW: mma.sync
// FEW-NOT: wgmma
mirage_kernel.graph @narrow(%x: tensor<48x256xf16>, %w: tensor<256x192xf16>) -> tensor<48x192xf16> {
  %y = custom (%cx = %x, %cw = %w) outs(%o) grid [2] schedule <swap = true> : (tensor<48x256xf16>, tensor<256x192xf16>) -> tensor<48x192xf16> {
    %z = constant 0.0 : !mirage_block.tile<48x96xf32>
    %s = loop 4 (%p = %z sum) : !mirage_block.tile<48x96xf32> {
      %1 = load %cx {loop = [1]} : tensor<48x256xf16> -> !mirage_block.tile<48x64xf16>
      %2 = load %cw {grid = [1], loop = [0]} : tensor<256x192xf16> -> !mirage_block.tile<64x96xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<48x64xf16>, !mirage_block.tile<64x96xf16>
      yield %3 : !mirage_block.tile<48x96xf32>
    }
    store %s, %o {grid = [1]} : !mirage_block.tile<48x96xf32>, tensor<48x192xf16>
  }
  return %y : tensor<48x192xf16>
}

// Rows that are computed lie in no swizzled rows.
mirage_kernel.graph @computed(%x: tensor<48x256xf16>, %w: tensor<256x256xf16>) -> tensor<48x256xf16> {
  %y = custom (%cx = %x, %cw = %w) outs(%o) grid [2] schedule <swap = true> : (tensor<48x256xf16>, tensor<256x256xf16>) -> tensor<48x256xf16> {
    %z = constant 0.0 : !mirage_block.tile<48x128xf32>
    %s = loop 4 (%p = %z sum) : !mirage_block.tile<48x128xf32> {
      %1 = load %cx {loop = [1]} : tensor<48x256xf16> -> !mirage_block.tile<48x64xf16>
      %2 = load %cw {grid = [1], loop = [0]} : tensor<256x256xf16> -> !mirage_block.tile<64x128xf16>
      %4 = relu %1 : !mirage_block.tile<48x64xf16>
      %5 = cast %4 : !mirage_block.tile<48x64xf32> -> !mirage_block.tile<48x64xf16>
      %3 = matmul %5, %2 : !mirage_block.tile<48x64xf16>, !mirage_block.tile<64x128xf16>
      yield %3 : !mirage_block.tile<48x128xf32>
    }
    store %s, %o {grid = [1]} : !mirage_block.tile<48x128xf32>, tensor<48x256xf16>
  }
  return %y : tensor<48x256xf16>
}

// Nobody asks.
mirage_kernel.graph @unasked(%x: tensor<48x256xf16>, %w: tensor<256x256xf16>) -> tensor<48x256xf16> {
  %y = custom (%cx = %x, %cw = %w) outs(%o) grid [2] : (tensor<48x256xf16>, tensor<256x256xf16>) -> tensor<48x256xf16> {
    %z = constant 0.0 : !mirage_block.tile<48x128xf32>
    %s = loop 4 (%p = %z sum) : !mirage_block.tile<48x128xf32> {
      %1 = load %cx {loop = [1]} : tensor<48x256xf16> -> !mirage_block.tile<48x64xf16>
      %2 = load %cw {grid = [1], loop = [0]} : tensor<256x256xf16> -> !mirage_block.tile<64x128xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<48x64xf16>, !mirage_block.tile<64x128xf16>
      yield %3 : !mirage_block.tile<48x128xf32>
    }
    store %s, %o {grid = [1]} : !mirage_block.tile<48x128xf32>, tensor<48x256xf16>
  }
  return %y : tensor<48x256xf16>
}

// One of two sums has no room in registers: it is added to in shared memory, where its products must have come.
mirage_kernel.graph @too_many(%x: tensor<56x320xbf16>, %w: tensor<320x256xbf16>, %v: tensor<320x256xbf16>, %b: tensor<256xbf16>) -> tensor<56x256xbf16> attributes {mirage_kernel.input_scales = array<f64: 1.0, 0.0559, 0.0559, 1.0>} {
  %y = custom (%cx = %x, %cw = %w, %cv = %v, %cb = %b) outs(%o) grid [1, 1] schedule <swap = true, roles = [producer(4, 40), consumer(4, 240)], loads = [tensor(stages = 2), tensor(stages = 2), tensor(stages = 2), register]> : (tensor<56x320xbf16>, tensor<320x256xbf16>, tensor<320x256xbf16>, tensor<256xbf16>) -> tensor<56x256xbf16> {
    %z = constant 0.0 : !mirage_block.tile<56x256xf32>
    %s:2 = loop 5 (%p = %z sum, %q = %z sum) : !mirage_block.tile<56x256xf32>, !mirage_block.tile<56x256xf32> {
      %1 = load %cx {grid = [-1, 0], loop = [1]} : tensor<56x320xbf16> -> !mirage_block.tile<56x64xbf16>
      %w0 = load %cw {grid = [1], loop = [0]} : tensor<320x256xbf16> -> !mirage_block.tile<64x256xbf16>
      %m0 = matmul %1, %w0 : !mirage_block.tile<56x64xbf16>, !mirage_block.tile<64x256xbf16>
      %w1 = load %cv {grid = [1], loop = [0]} : tensor<320x256xbf16> -> !mirage_block.tile<64x256xbf16>
      %m1 = matmul %1, %w1 : !mirage_block.tile<56x64xbf16>, !mirage_block.tile<64x256xbf16>
      yield %m0, %m1 : !mirage_block.tile<56x256xf32>, !mirage_block.tile<56x256xf32>
    }
    %h = mul %s#0, %s#1 : !mirage_block.tile<56x256xf32>, !mirage_block.tile<56x256xf32>
    %bt = load %cb {grid = [0]} : tensor<256xbf16> -> !mirage_block.tile<256xbf16>
    %bb = add %h, %bt : !mirage_block.tile<56x256xf32>, !mirage_block.tile<256xbf16>
    store %bb, %o {grid = [1, 0]} : !mirage_block.tile<56x256xf32>, tensor<56x256xbf16>
  }
  return %y : tensor<56x256xbf16>
}
