// What is left of a row's column units behind the last four: two are exchanged between neighbouring lanes and move 8 bytes at a time,
// one moves as it lies (lib/codegen/codegen_quads.c). Tiles of 112, 80, 104, 48, 88 and 24 columns that reach beyond the tensor, with a
// residual, a bias, both.
//
// RUN: mirage-mlir-opt %s --mirage-lower -o %t.mlir
// RUN: mirage-run --target=emulator --program=twos112 %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=twos80 %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=ones104 %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=twos48 %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=three88 %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=ends8 %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=eights204 %t.mlir | FileCheck %s
// CHECK: output 0 {{.*}}: ok
//
// RUN: mirage-run --target=emulator --program=twos112 --emit-ptx=%t.ptx %t.mlir
// RUN: grep -o 'st.global[.a-z0-9]*' %t.ptx | sort | uniq -c | FileCheck %s --check-prefix=TWOS
// TWOS-NOT: st.global.b32
// TWOS: 2 st.global.v2.b32
// TWOS-NOT: st.global.b32
// TWOS: 6 st.global.v4.b32
// TWOS-NOT: st.global.b32
//
// RUN: mirage-run --target=emulator --program=ones104 --emit-ptx=%t.ptx %t.mlir
// RUN: grep -o 'st.global[.a-z0-9]*' %t.ptx | sort | uniq -c | FileCheck %s --check-prefix=ONES
// ONES: 2 st.global.b32
// ONES: 6 st.global.v4.b32
//
// Rows of 204 columns begin at multiples of 8 bytes only.
// RUN: mirage-run --target=emulator --program=eights204 --emit-ptx=%t.ptx %t.mlir
// RUN: grep -o 'st.global[.a-z0-9]*' %t.ptx | sort | uniq -c | FileCheck %s --check-prefix=EIGHTS
// EIGHTS: 14 st.global.v2.b32
// EIGHTS-NOT: st.global

mirage_kernel.graph @twos112(%x: tensor<200x128xf16>, %u: tensor<128x440xf16>, %r: tensor<200x440xf16>) -> tensor<200x440xf16> {
  %y = custom (%cx = %x, %cu = %u, %cr = %r) outs(%o) grid [4, 2] schedule <warps = 12, roles = [producer(4, 40), consumer(8, 232)], loads = [register, tensor(stages = 3), tensor(stages = 3)]> : (tensor<200x128xf16>, tensor<128x440xf16>, tensor<200x440xf16>) -> tensor<200x440xf16> {
    %20 = load %cr {grid = [1, 0], tiles = [128, 112]} : tensor<200x440xf16> -> !mirage_block.tile<128x112xf16>
    %z = constant 0.0 : !mirage_block.tile<128x112xf32>
    %2 = loop 2 (%p = %z sum) : !mirage_block.tile<128x112xf32> {
      %10 = load %cx {grid = [-1, 0], loop = [1], tiles = [128, 64]} : tensor<200x128xf16> -> !mirage_block.tile<128x64xf16>
      %11 = load %cu {grid = [1], loop = [0], tiles = [64, 112]} : tensor<128x440xf16> -> !mirage_block.tile<64x112xf16>
      %12 = matmul %10, %11 : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x112xf16> -> !mirage_block.tile<128x112xf32>
      yield %12 : !mirage_block.tile<128x112xf32>
    }
    %21 = add %2, %20 : !mirage_block.tile<128x112xf32>, !mirage_block.tile<128x112xf16> -> !mirage_block.tile<128x112xf32>
    store %21, %o {grid = [1, 0], tiles = [128, 112]} : !mirage_block.tile<128x112xf32>, tensor<200x440xf16>
  }
  return %y : tensor<200x440xf16>
}

mirage_kernel.graph @twos80(%x: tensor<128x128xbf16>, %u: tensor<128x232xbf16>, %r: tensor<128x232xbf16>, %b: tensor<232xbf16>) -> tensor<128x232xbf16> {
  %y = custom (%cx = %x, %cu = %u, %cr = %r, %cb = %b) outs(%o) grid [3, 1] schedule <warps = 12, roles = [producer(4, 40), consumer(8, 232)], loads = [register, register, tensor(stages = 3), tensor(stages = 3)]> : (tensor<128x128xbf16>, tensor<128x232xbf16>, tensor<128x232xbf16>, tensor<232xbf16>) -> tensor<128x232xbf16> {
    %20 = load %cr {grid = [1, 0], tiles = [128, 80]} : tensor<128x232xbf16> -> !mirage_block.tile<128x80xbf16>
    %30 = load %cb {grid = [0], tiles = [80]} : tensor<232xbf16> -> !mirage_block.tile<80xbf16>
    %z = constant 0.0 : !mirage_block.tile<128x80xf32>
    %2 = loop 2 (%p = %z sum) : !mirage_block.tile<128x80xf32> {
      %10 = load %cx {grid = [-1, 0], loop = [1], tiles = [128, 64]} : tensor<128x128xbf16> -> !mirage_block.tile<128x64xbf16>
      %11 = load %cu {grid = [1], loop = [0], tiles = [64, 80]} : tensor<128x232xbf16> -> !mirage_block.tile<64x80xbf16>
      %12 = matmul %10, %11 : !mirage_block.tile<128x64xbf16>, !mirage_block.tile<64x80xbf16> -> !mirage_block.tile<128x80xf32>
      yield %12 : !mirage_block.tile<128x80xf32>
    }
    %21 = add %2, %20 : !mirage_block.tile<128x80xf32>, !mirage_block.tile<128x80xbf16> -> !mirage_block.tile<128x80xf32>
    %31 = add %21, %30 : !mirage_block.tile<128x80xf32>, !mirage_block.tile<80xbf16> -> !mirage_block.tile<128x80xf32>
    store %31, %o {grid = [1, 0], tiles = [128, 80]} : !mirage_block.tile<128x80xf32>, tensor<128x232xbf16>
  }
  return %y : tensor<128x232xbf16>
}

mirage_kernel.graph @ones104(%x: tensor<128x128xf16>, %u: tensor<128x200xf16>, %r: tensor<128x200xf16>) -> tensor<128x200xf16> {
  %y = custom (%cx = %x, %cu = %u, %cr = %r) outs(%o) grid [2, 1] schedule <warps = 12, roles = [producer(4, 40), consumer(8, 232)], loads = [register, tensor(stages = 3), tensor(stages = 3)]> : (tensor<128x128xf16>, tensor<128x200xf16>, tensor<128x200xf16>) -> tensor<128x200xf16> {
    %20 = load %cr {grid = [1, 0], tiles = [128, 104]} : tensor<128x200xf16> -> !mirage_block.tile<128x104xf16>
    %z = constant 0.0 : !mirage_block.tile<128x104xf32>
    %2 = loop 2 (%p = %z sum) : !mirage_block.tile<128x104xf32> {
      %10 = load %cx {grid = [-1, 0], loop = [1], tiles = [128, 64]} : tensor<128x128xf16> -> !mirage_block.tile<128x64xf16>
      %11 = load %cu {grid = [1], loop = [0], tiles = [64, 104]} : tensor<128x200xf16> -> !mirage_block.tile<64x104xf16>
      %12 = matmul %10, %11 : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x104xf16> -> !mirage_block.tile<128x104xf32>
      yield %12 : !mirage_block.tile<128x104xf32>
    }
    %21 = add %2, %20 : !mirage_block.tile<128x104xf32>, !mirage_block.tile<128x104xf16> -> !mirage_block.tile<128x104xf32>
    store %21, %o {grid = [1, 0], tiles = [128, 104]} : !mirage_block.tile<128x104xf32>, tensor<128x200xf16>
  }
  return %y : tensor<128x200xf16>
}

mirage_kernel.graph @twos48(%x: tensor<128x64xf16>, %u: tensor<64x136xf16>, %b: tensor<136xf16>) -> tensor<128x136xf16> {
  %y = custom (%cx = %x, %cu = %u, %cb = %b) outs(%o) grid [3, 1] schedule <warps = 12, roles = [producer(4, 40), consumer(8, 232)], loads = [register, tensor(stages = 3), tensor(stages = 3)]> : (tensor<128x64xf16>, tensor<64x136xf16>, tensor<136xf16>) -> tensor<128x136xf16> {
    %30 = load %cb {grid = [0], tiles = [48]} : tensor<136xf16> -> !mirage_block.tile<48xf16>
    %z = constant 0.0 : !mirage_block.tile<128x48xf32>
    %2 = loop 1 (%p = %z sum) : !mirage_block.tile<128x48xf32> {
      %10 = load %cx {grid = [-1, 0], loop = [1], tiles = [128, 64]} : tensor<128x64xf16> -> !mirage_block.tile<128x64xf16>
      %11 = load %cu {grid = [1], loop = [0], tiles = [64, 48]} : tensor<64x136xf16> -> !mirage_block.tile<64x48xf16>
      %12 = matmul %10, %11 : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x48xf16> -> !mirage_block.tile<128x48xf32>
      yield %12 : !mirage_block.tile<128x48xf32>
    }
    %31 = add %2, %30 : !mirage_block.tile<128x48xf32>, !mirage_block.tile<48xf16> -> !mirage_block.tile<128x48xf32>
    store %31, %o {grid = [1, 0], tiles = [128, 48]} : !mirage_block.tile<128x48xf32>, tensor<128x136xf16>
  }
  return %y : tensor<128x136xf16>
}

mirage_kernel.graph @three88(%x: tensor<128x64xbf16>, %u: tensor<64x168xbf16>, %r: tensor<128x168xbf16>, %b: tensor<168xbf16>) -> tensor<128x168xbf16> {
  %y = custom (%cx = %x, %cu = %u, %cr = %r, %cb = %b) outs(%o) grid [2, 1] schedule <warps = 12, roles = [producer(4, 40), consumer(8, 232)], loads = [register, register, tensor(stages = 3), tensor(stages = 3)]> : (tensor<128x64xbf16>, tensor<64x168xbf16>, tensor<128x168xbf16>, tensor<168xbf16>) -> tensor<128x168xbf16> {
    %20 = load %cr {grid = [1, 0], tiles = [128, 88]} : tensor<128x168xbf16> -> !mirage_block.tile<128x88xbf16>
    %30 = load %cb {grid = [0], tiles = [88]} : tensor<168xbf16> -> !mirage_block.tile<88xbf16>
    %z = constant 0.0 : !mirage_block.tile<128x88xf32>
    %2 = loop 1 (%p = %z sum) : !mirage_block.tile<128x88xf32> {
      %10 = load %cx {grid = [-1, 0], loop = [1], tiles = [128, 64]} : tensor<128x64xbf16> -> !mirage_block.tile<128x64xbf16>
      %11 = load %cu {grid = [1], loop = [0], tiles = [64, 88]} : tensor<64x168xbf16> -> !mirage_block.tile<64x88xbf16>
      %12 = matmul %10, %11 : !mirage_block.tile<128x64xbf16>, !mirage_block.tile<64x88xbf16> -> !mirage_block.tile<128x88xf32>
      yield %12 : !mirage_block.tile<128x88xf32>
    }
    %21 = add %2, %20 : !mirage_block.tile<128x88xf32>, !mirage_block.tile<128x88xbf16> -> !mirage_block.tile<128x88xf32>
    %31 = add %21, %30 : !mirage_block.tile<128x88xf32>, !mirage_block.tile<88xbf16> -> !mirage_block.tile<128x88xf32>
    store %31, %o {grid = [1, 0], tiles = [128, 88]} : !mirage_block.tile<128x88xf32>, tensor<128x168xbf16>
  }
  return %y : tensor<128x168xbf16>
}

mirage_kernel.graph @ends8(%x: tensor<136x64xf16>, %u: tensor<64x24xf16>, %r: tensor<136x24xf16>) -> tensor<136x24xf16> {
  %y = custom (%cx = %x, %cu = %u, %cr = %r) outs(%o) grid [1, 2] schedule <warps = 12, roles = [producer(4, 40), consumer(8, 232)], loads = [register, tensor(stages = 3), tensor(stages = 3)]> : (tensor<136x64xf16>, tensor<64x24xf16>, tensor<136x24xf16>) -> tensor<136x24xf16> {
    %20 = load %cr {grid = [1, 0], tiles = [128, 24]} : tensor<136x24xf16> -> !mirage_block.tile<128x24xf16>
    %z = constant 0.0 : !mirage_block.tile<128x24xf32>
    %2 = loop 1 (%p = %z sum) : !mirage_block.tile<128x24xf32> {
      %10 = load %cx {grid = [-1, 0], loop = [1], tiles = [128, 64]} : tensor<136x64xf16> -> !mirage_block.tile<128x64xf16>
      %11 = load %cu {grid = [1], loop = [0], tiles = [64, 24]} : tensor<64x24xf16> -> !mirage_block.tile<64x24xf16>
      %12 = matmul %10, %11 : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x24xf16> -> !mirage_block.tile<128x24xf32>
      yield %12 : !mirage_block.tile<128x24xf32>
    }
    %21 = add %2, %20 : !mirage_block.tile<128x24xf32>, !mirage_block.tile<128x24xf16> -> !mirage_block.tile<128x24xf32>
    store %21, %o {grid = [1, 0], tiles = [128, 24]} : !mirage_block.tile<128x24xf32>, tensor<136x24xf16>
  }
  return %y : tensor<136x24xf16>
}

mirage_kernel.graph @eights204(%x: tensor<128x64xf16>, %u: tensor<204x64xf16>, %r: tensor<128x204xf16>) -> tensor<128x204xf16> {
  %y = custom (%cx = %x, %cu = %u, %cr = %r) outs(%o) grid [2, 1] schedule <warps = 12, roles = [producer(4, 40), consumer(8, 232)], loads = [register, tensor(stages = 1), tensor(stages = 1)]> : (tensor<128x64xf16>, tensor<204x64xf16>, tensor<128x204xf16>) -> tensor<128x204xf16> {
    %20 = load %cr {grid = [1, 0], tiles = [128, 112]} : tensor<128x204xf16> -> !mirage_block.tile<128x112xf16>
    %z = constant 0.0 : !mirage_block.tile<128x112xf32>
    %2 = loop 1 (%p = %z sum) : !mirage_block.tile<128x112xf32> {
      %10 = load %cx {grid = [-1, 0], loop = [1], tiles = [128, 64]} : tensor<128x64xf16> -> !mirage_block.tile<128x64xf16>
      %11 = load %cu {grid = [0], loop = [1], tiles = [112, 64]} : tensor<204x64xf16> -> !mirage_block.tile<112x64xf16>
      %12 = matmul %10, %11 {transpose_b} : !mirage_block.tile<128x64xf16>, !mirage_block.tile<112x64xf16> -> !mirage_block.tile<128x112xf32>
      yield %12 : !mirage_block.tile<128x112xf32>
    }
    %21 = add %2, %20 : !mirage_block.tile<128x112xf32>, !mirage_block.tile<128x112xf16> -> !mirage_block.tile<128x112xf32>
    store %21, %o {grid = [1, 0], tiles = [128, 112]} : !mirage_block.tile<128x112xf32>, tensor<128x204xf16>
  }
  return %y : tensor<128x204xf16>
}
