// y = x w + t b: the product of t and b is a loop before that of x and w, whose sums begin where it ends (lib/layout/initial.c). So both
// have the same registers, tiles of 128 x 256 among them, and nothing is added.
//
// RUN: mirage-mlir-opt %s --mirage-lower=target=h100 -o %t.mlir 2>/dev/null
// RUN: mirage-run --target=emulator --program=even --emit-ptx=%t.even.ptx %t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=SUMMED --input-file %t.even.ptx
// RUN: mirage-run --target=emulator --program=odd --emit-ptx=%t.odd.ptx %t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefixes=SUMMED,STAGED --input-file %t.odd.ptx
// RUN: mirage-run --target=emulator --program=deep --emit-ptx=%t.deep.ptx %t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=SUMMED --input-file %t.deep.ptx
// RUN: mirage-run --target=emulator --program=flat --emit-ptx=%t.flat.ptx %t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=SUMMED --input-file %t.flat.ptx
// RUN: mirage-run --target=emulator --program=scaled --emit-ptx=%t.scaled.ptx %t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=ADDED --input-file %t.scaled.ptx
// RUN: mirage-run --target=emulator --program=twice --emit-ptx=%t.twice.ptx %t.mlir | FileCheck %s --check-prefixes=CHECK,BOTH
// RUN: FileCheck %s --check-prefix=ADDED --input-file %t.twice.ptx
// RUN: mirage-mlir-opt %s --mirage-layout=target=h100 2>/dev/null | FileCheck %s --check-prefix=PLAN
// CHECK: output 0 {{.*}}: ok
// BOTH: output 1 {{.*}}: ok
// SUMMED: wgmma.mma_async
// SUMMED-NOT: {{(add|fma).*f32}}
// STAGED: st.shared.v2.b32
// ADDED: wgmma.mma_async
// ADDED: {{(add|fma).*f32}}

// Tiles of which registers hold one only.
// PLAN-LABEL: graph @even_0(
// PLAN: loads = [tensor(stages = 1), tensor(stages = 1), tensor(stages = 3), tensor(stages = 3)]
mirage_kernel.graph @even(%x: tensor<520x200xf16>, %w: tensor<200x512xf16>, %t: tensor<520x64xf16>, %b: tensor<64x512xf16>) -> tensor<520x512xf16> {
  %p = matmul %x, %w : tensor<520x200xf16>, tensor<200x512xf16>
  %q = matmul %t, %b : tensor<520x64xf16>, tensor<64x512xf16>
  %y = add %p, %q : tensor<520x512xf16>, tensor<520x512xf16>
  return %y : tensor<520x512xf16>
}
mirage_kernel.graph @even_0(%x: tensor<520x200xf16>, %w: tensor<200x512xf16>, %t: tensor<520x64xf16>, %b: tensor<64x512xf16>) -> tensor<520x512xf16> attributes {selected, source = @even} {
  %y = custom (%cx = %x, %cw = %w, %ct = %t, %cb = %b) outs(%o) grid [2, 5] : (tensor<520x200xf16>, tensor<200x512xf16>, tensor<520x64xf16>, tensor<64x512xf16>) -> tensor<520x512xf16> {
    %z = constant 0.0 : !mirage_block.tile<128x256xf32>
    %low = loop 1 (%a = %z sum) : !mirage_block.tile<128x256xf32> {
      %1 = load %ct {grid = [-1, 0], loop = [1], tiles = [128]} : tensor<520x64xf16> -> !mirage_block.tile<128x64xf16>
      %2 = load %cb {grid = [1], loop = [0]} : tensor<64x512xf16> -> !mirage_block.tile<64x256xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x256xf16>
      yield %3 : !mirage_block.tile<128x256xf32>
    }
    %s = loop 4 (%a = %z sum) : !mirage_block.tile<128x256xf32> {
      %1 = load %cx {grid = [-1, 0], loop = [1], tiles = [128, 64]} : tensor<520x200xf16> -> !mirage_block.tile<128x64xf16>
      %2 = load %cw {grid = [1], loop = [0], tiles = [64]} : tensor<200x512xf16> -> !mirage_block.tile<64x256xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x256xf16>
      yield %3 : !mirage_block.tile<128x256xf32>
    }
    %sum = add %s, %low : !mirage_block.tile<128x256xf32>, !mirage_block.tile<128x256xf32>
    store %sum, %o {grid = [1, 0], tiles = [128]} : !mirage_block.tile<128x256xf32>, tensor<520x512xf16>
  }
  return %y : tensor<520x512xf16>
}

// Rows that begin anywhere: the sums leave through shared memory, as those of one product do.
mirage_kernel.graph @odd(%x: tensor<200x256xf16>, %w: tensor<256x333xf16>, %t: tensor<200x64xf16>, %b: tensor<64x333xf16>) -> tensor<200x333xf16> {
  %p = matmul %x, %w : tensor<200x256xf16>, tensor<256x333xf16>
  %q = matmul %t, %b : tensor<200x64xf16>, tensor<64x333xf16>
  %y = add %p, %q : tensor<200x333xf16>, tensor<200x333xf16>
  return %y : tensor<200x333xf16>
}
mirage_kernel.graph @odd_0(%x: tensor<200x256xf16>, %w: tensor<256x333xf16>, %t: tensor<200x64xf16>, %b: tensor<64x333xf16>) -> tensor<200x333xf16> attributes {selected, source = @odd} {
  %y = custom (%cx = %x, %cw = %w, %ct = %t, %cb = %b) outs(%o) grid [2, 2] : (tensor<200x256xf16>, tensor<256x333xf16>, tensor<200x64xf16>, tensor<64x333xf16>) -> tensor<200x333xf16> {
    %z = constant 0.0 : !mirage_block.tile<128x192xf32>
    %low = loop 1 (%a = %z sum) : !mirage_block.tile<128x192xf32> {
      %1 = load %ct {grid = [-1, 0], loop = [1], tiles = [128]} : tensor<200x64xf16> -> !mirage_block.tile<128x64xf16>
      %2 = load %cb {grid = [1], loop = [0], tiles = [0, 192]} : tensor<64x333xf16> -> !mirage_block.tile<64x192xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x192xf16>
      yield %3 : !mirage_block.tile<128x192xf32>
    }
    %s = loop 4 (%a = %z sum) : !mirage_block.tile<128x192xf32> {
      %1 = load %cx {grid = [-1, 0], loop = [1], tiles = [128]} : tensor<200x256xf16> -> !mirage_block.tile<128x64xf16>
      %2 = load %cw {grid = [1], loop = [0], tiles = [0, 192]} : tensor<256x333xf16> -> !mirage_block.tile<64x192xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x192xf16>
      yield %3 : !mirage_block.tile<128x192xf32>
    }
    %sum = add %s, %low : !mirage_block.tile<128x192xf32>, !mirage_block.tile<128x192xf32>
    store %sum, %o {grid = [1, 0], tiles = [128, 192]} : !mirage_block.tile<128x192xf32>, tensor<200x333xf16>
  }
  return %y : tensor<200x333xf16>
}

// Two iterations, which share a stage.
// PLAN-LABEL: graph @deep_0(
// PLAN: loads = [tensor(stages = 1), tensor(stages = 1), tensor(stages = 3), tensor(stages = 3)]
mirage_kernel.graph @deep(%x: tensor<256x192xbf16>, %w: tensor<192x256xbf16>, %t: tensor<256x128xbf16>, %b: tensor<128x256xbf16>) -> tensor<256x256xbf16> {
  %p = matmul %x, %w : tensor<256x192xbf16>, tensor<192x256xbf16>
  %q = matmul %t, %b : tensor<256x128xbf16>, tensor<128x256xbf16>
  %y = add %p, %q : tensor<256x256xbf16>, tensor<256x256xbf16>
  return %y : tensor<256x256xbf16>
}
mirage_kernel.graph @deep_0(%x: tensor<256x192xbf16>, %w: tensor<192x256xbf16>, %t: tensor<256x128xbf16>, %b: tensor<128x256xbf16>) -> tensor<256x256xbf16> attributes {selected, source = @deep} {
  %y = custom (%cx = %x, %cw = %w, %ct = %t, %cb = %b) outs(%o) grid [1, 2] : (tensor<256x192xbf16>, tensor<192x256xbf16>, tensor<256x128xbf16>, tensor<128x256xbf16>) -> tensor<256x256xbf16> {
    %z = constant 0.0 : !mirage_block.tile<128x256xf32>
    %low = loop 2 (%a = %z sum) : !mirage_block.tile<128x256xf32> {
      %1 = load %ct {grid = [-1, 0], loop = [1]} : tensor<256x128xbf16> -> !mirage_block.tile<128x64xbf16>
      %2 = load %cb {grid = [1], loop = [0]} : tensor<128x256xbf16> -> !mirage_block.tile<64x256xbf16>
      %3 = matmul %1, %2 : !mirage_block.tile<128x64xbf16>, !mirage_block.tile<64x256xbf16>
      yield %3 : !mirage_block.tile<128x256xf32>
    }
    %s = loop 3 (%a = %z sum) : !mirage_block.tile<128x256xf32> {
      %1 = load %cx {grid = [-1, 0], loop = [1]} : tensor<256x192xbf16> -> !mirage_block.tile<128x64xbf16>
      %2 = load %cw {grid = [1], loop = [0]} : tensor<192x256xbf16> -> !mirage_block.tile<64x256xbf16>
      %3 = matmul %1, %2 : !mirage_block.tile<128x64xbf16>, !mirage_block.tile<64x256xbf16>
      yield %3 : !mirage_block.tile<128x256xf32>
    }
    %sum = add %s, %low : !mirage_block.tile<128x256xf32>, !mirage_block.tile<128x256xf32>
    store %sum, %o {grid = [1, 0]} : !mirage_block.tile<128x256xf32>, tensor<256x256xbf16>
  }
  return %y : tensor<256x256xbf16>
}

// One step of the instruction.
mirage_kernel.graph @flat(%x: tensor<192x256xf16>, %w: tensor<256x256xf16>, %t: tensor<192x16xf16>, %b: tensor<16x256xf16>) -> tensor<192x256xf16> {
  %p = matmul %x, %w : tensor<192x256xf16>, tensor<256x256xf16>
  %q = matmul %t, %b : tensor<192x16xf16>, tensor<16x256xf16>
  %y = add %p, %q : tensor<192x256xf16>, tensor<192x256xf16>
  return %y : tensor<192x256xf16>
}
mirage_kernel.graph @flat_0(%x: tensor<192x256xf16>, %w: tensor<256x256xf16>, %t: tensor<192x16xf16>, %b: tensor<16x256xf16>) -> tensor<192x256xf16> attributes {selected, source = @flat} {
  %y = custom (%cx = %x, %cw = %w, %ct = %t, %cb = %b) outs(%o) grid [2, 1] : (tensor<192x256xf16>, tensor<256x256xf16>, tensor<192x16xf16>, tensor<16x256xf16>) -> tensor<192x256xf16> {
    %z = constant 0.0 : !mirage_block.tile<192x128xf32>
    %low = loop 1 (%a = %z sum) : !mirage_block.tile<192x128xf32> {
      %1 = load %ct {grid = [-1, 0], loop = [1]} : tensor<192x16xf16> -> !mirage_block.tile<192x16xf16>
      %2 = load %cb {grid = [1], loop = [0]} : tensor<16x256xf16> -> !mirage_block.tile<16x128xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<192x16xf16>, !mirage_block.tile<16x128xf16>
      yield %3 : !mirage_block.tile<192x128xf32>
    }
    %s = loop 4 (%a = %z sum) : !mirage_block.tile<192x128xf32> {
      %1 = load %cx {grid = [-1, 0], loop = [1]} : tensor<192x256xf16> -> !mirage_block.tile<192x64xf16>
      %2 = load %cw {grid = [1], loop = [0]} : tensor<256x256xf16> -> !mirage_block.tile<64x128xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<192x64xf16>, !mirage_block.tile<64x128xf16>
      yield %3 : !mirage_block.tile<192x128xf32>
    }
    %sum = add %s, %low : !mirage_block.tile<192x128xf32>, !mirage_block.tile<192x128xf32>
    store %sum, %o {grid = [1, 0]} : !mirage_block.tile<192x128xf32>, tensor<192x256xf16>
  }
  return %y : tensor<192x256xf16>
}

// What is added is not the sum itself.
mirage_kernel.graph @scaled(%x: tensor<200x256xf16>, %w: tensor<256x256xf16>, %t: tensor<200x64xf16>, %b: tensor<64x256xf16>) -> tensor<200x256xf16> {
  %p = matmul %x, %w : tensor<200x256xf16>, tensor<256x256xf16>
  %q = matmul %t, %b : tensor<200x64xf16>, tensor<64x256xf16>
  %h = constant 0.5 : tensor<1x1xf16>
  %u = mul %q, %h : tensor<200x256xf16>, tensor<1x1xf16>
  %y = add %p, %u : tensor<200x256xf16>, tensor<200x256xf16>
  return %y : tensor<200x256xf16>
}
mirage_kernel.graph @scaled_0(%x: tensor<200x256xf16>, %w: tensor<256x256xf16>, %t: tensor<200x64xf16>, %b: tensor<64x256xf16>) -> tensor<200x256xf16> attributes {selected, source = @scaled} {
  %y = custom (%cx = %x, %cw = %w, %ct = %t, %cb = %b) outs(%o) grid [2, 2] : (tensor<200x256xf16>, tensor<256x256xf16>, tensor<200x64xf16>, tensor<64x256xf16>) -> tensor<200x256xf16> {
    %z = constant 0.0 : !mirage_block.tile<128x128xf32>
    %low = loop 1 (%a = %z sum) : !mirage_block.tile<128x128xf32> {
      %1 = load %ct {grid = [-1, 0], loop = [1], tiles = [128]} : tensor<200x64xf16> -> !mirage_block.tile<128x64xf16>
      %2 = load %cb {grid = [1], loop = [0]} : tensor<64x256xf16> -> !mirage_block.tile<64x128xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x128xf16>
      yield %3 : !mirage_block.tile<128x128xf32>
    }
    %half = constant 0.5 : !mirage_block.tile<1x1xf32>
    %scaled = mul %low, %half : !mirage_block.tile<128x128xf32>, !mirage_block.tile<1x1xf32>
    %s = loop 4 (%a = %z sum) : !mirage_block.tile<128x128xf32> {
      %1 = load %cx {grid = [-1, 0], loop = [1], tiles = [128]} : tensor<200x256xf16> -> !mirage_block.tile<128x64xf16>
      %2 = load %cw {grid = [1], loop = [0]} : tensor<256x256xf16> -> !mirage_block.tile<64x128xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x128xf16>
      yield %3 : !mirage_block.tile<128x128xf32>
    }
    %sum = add %s, %scaled : !mirage_block.tile<128x128xf32>, !mirage_block.tile<128x128xf32>
    store %sum, %o {grid = [1, 0], tiles = [128]} : !mirage_block.tile<128x128xf32>, tensor<200x256xf16>
  }
  return %y : tensor<200x256xf16>
}

// The sum is wanted by itself as well.
mirage_kernel.graph @twice(%x: tensor<200x256xf16>, %w: tensor<256x256xf16>, %t: tensor<200x64xf16>, %b: tensor<64x256xf16>) -> (tensor<200x256xf16>, tensor<200x256xf16>) {
  %p = matmul %x, %w : tensor<200x256xf16>, tensor<256x256xf16>
  %q = matmul %t, %b : tensor<200x64xf16>, tensor<64x256xf16>
  %y = add %p, %q : tensor<200x256xf16>, tensor<200x256xf16>
  return %y, %q : tensor<200x256xf16>, tensor<200x256xf16>
}
mirage_kernel.graph @twice_0(%x: tensor<200x256xf16>, %w: tensor<256x256xf16>, %t: tensor<200x64xf16>, %b: tensor<64x256xf16>) -> (tensor<200x256xf16>, tensor<200x256xf16>) attributes {selected, source = @twice} {
  %y, %q = custom (%cx = %x, %cw = %w, %ct = %t, %cb = %b) outs(%o, %o2) grid [2, 2] : (tensor<200x256xf16>, tensor<256x256xf16>, tensor<200x64xf16>, tensor<64x256xf16>) -> (tensor<200x256xf16>, tensor<200x256xf16>) {
    %z = constant 0.0 : !mirage_block.tile<128x128xf32>
    %low = loop 1 (%a = %z sum) : !mirage_block.tile<128x128xf32> {
      %1 = load %ct {grid = [-1, 0], loop = [1], tiles = [128]} : tensor<200x64xf16> -> !mirage_block.tile<128x64xf16>
      %2 = load %cb {grid = [1], loop = [0]} : tensor<64x256xf16> -> !mirage_block.tile<64x128xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x128xf16>
      yield %3 : !mirage_block.tile<128x128xf32>
    }
    %s = loop 4 (%a = %z sum) : !mirage_block.tile<128x128xf32> {
      %1 = load %cx {grid = [-1, 0], loop = [1], tiles = [128]} : tensor<200x256xf16> -> !mirage_block.tile<128x64xf16>
      %2 = load %cw {grid = [1], loop = [0]} : tensor<256x256xf16> -> !mirage_block.tile<64x128xf16>
      %3 = matmul %1, %2 : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x128xf16>
      yield %3 : !mirage_block.tile<128x128xf32>
    }
    %sum = add %s, %low : !mirage_block.tile<128x128xf32>, !mirage_block.tile<128x128xf32>
    store %sum, %o {grid = [1, 0], tiles = [128]} : !mirage_block.tile<128x128xf32>, tensor<200x256xf16>
    store %low, %o2 {grid = [1, 0], tiles = [128]} : !mirage_block.tile<128x128xf32>, tensor<200x256xf16>
  }
  return %y, %q : tensor<200x256xf16>, tensor<200x256xf16>
}
