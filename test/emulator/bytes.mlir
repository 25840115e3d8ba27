// Products of bytes as they are: i8 in i32, f8 in f32, by a warp and by a warpgroup, whichever way operands lie, with tails along
// each dimension, few rows, the contraction split over warps and over blocks, and what is done with the sums.
//
// RUN: mirage-mlir-opt %s --mirage-layout -o %t.planned.mlir 2>/dev/null
// RUN: mirage-mlir-opt %t.planned.mlir --mirage-lower -o %t.mlir 2>/dev/null
// RUN: FileCheck %s --check-prefix=PTX < %t.mlir
// RUN: mirage-run --target=emulator --program=groups %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=tails %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=outer %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=few %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=over_blocks %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=over_cluster %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=f8 %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=f8_tails %t.mlir | FileCheck %s
//
// The same on GPUs without tensor copies, without warpgroups, and without products of f8, which are of f16 there.
// RUN: mirage-mlir-opt %s --mirage-lower=target=rtx4090 -o %t.4090.mlir 2>/dev/null
// RUN: mirage-run --target=emulator --program=groups %t.4090.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=tails %t.4090.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=f8 %t.4090.mlir | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-lower=target=a100 -o %t.a100.mlir 2>/dev/null
// RUN: FileCheck %s --check-prefix=A100 < %t.a100.mlir
// RUN: mirage-run --target=emulator --program=f8 %t.a100.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=f8_tails %t.a100.mlir | FileCheck %s
//
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e5m2
// PTX-DAG: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
// PTX-DAG: mma.sync.aligned.m16n8k32.row.col.f32.e{{4m3.e5m2|5m2.e4m3}}.f32
// A100-NOT: row.col.f32.e
//
// CHECK: output 0 {{.*}}: ok

// Integers are stored as they are.
mirage_kernel.graph @groups(%x: tensor<128x512xi8>, %w: tensor<128x512xi8>) -> tensor<128x128xi32> {
  %y = matmul %x, %w {transpose_b} : tensor<128x512xi8>, tensor<128x512xi8>
  return %y : tensor<128x128xi32>
}
mirage_kernel.graph @groups_0(%x: tensor<128x512xi8>, %w: tensor<128x512xi8>) -> tensor<128x128xi32> attributes {source = @groups, selected} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [1] : (tensor<128x512xi8>, tensor<128x512xi8>) -> tensor<128x128xi32> {
    %zero = constant 0.0 : !mirage_block.tile<128x128xi32>
    %s = loop 4 (%a = %zero sum) : !mirage_block.tile<128x128xi32> {
      %xt = load %xk {loop = [1]} : tensor<128x512xi8> -> !mirage_block.tile<128x128xi8>
      %wt = load %wk {loop = [1]} : tensor<128x512xi8> -> !mirage_block.tile<128x128xi8>
      %p = matmul %xt, %wt {transpose_b} : !mirage_block.tile<128x128xi8>, !mirage_block.tile<128x128xi8>
      yield %p : !mirage_block.tile<128x128xi32>
    }
    store %s, %yk : !mirage_block.tile<128x128xi32>, tensor<128x128xi32>
  }
  return %y : tensor<128x128xi32>
}

// No extent is a multiple of what an instruction takes; an epilogue of scales and a sum of two products.
mirage_kernel.graph @tails(%x: tensor<37x83xi8>, %w: tensor<29x83xi8>, %v: tensor<29x83xi8>, %s: tensor<37x1xf32>, %t: tensor<29xf32>) -> tensor<37x29xf32> {
  %p = matmul %x, %w {transpose_b} : tensor<37x83xi8>, tensor<29x83xi8>
  %q = matmul %x, %v {transpose_b} : tensor<37x83xi8>, tensor<29x83xi8>
  %a = cast %p : tensor<37x29xi32> -> tensor<37x29xf32>
  %b = cast %q : tensor<37x29xi32> -> tensor<37x29xf32>
  %c = mul %a, %s : tensor<37x29xf32>, tensor<37x1xf32>
  %d = mul %b, %t : tensor<37x29xf32>, tensor<29xf32>
  %y = add %c, %d : tensor<37x29xf32>, tensor<37x29xf32>
  return %y : tensor<37x29xf32>
}
mirage_kernel.graph @tails_0(%x: tensor<37x83xi8>, %w: tensor<29x83xi8>, %v: tensor<29x83xi8>, %s: tensor<37x1xf32>, %t: tensor<29xf32>) -> tensor<37x29xf32> attributes {source = @tails, selected} {
  %y = custom (%xk = %x, %wk = %w, %vk = %v, %sk = %s, %tk = %t) outs(%yk) grid [2] : (tensor<37x83xi8>, tensor<29x83xi8>, tensor<29x83xi8>, tensor<37x1xf32>, tensor<29xf32>) -> tensor<37x29xf32> {
    %zero = constant 0.0 : !mirage_block.tile<37x15xi32>
    %sums:2 = loop 2 (%a = %zero sum, %b = %zero sum) : !mirage_block.tile<37x15xi32>, !mirage_block.tile<37x15xi32> {
      %xt = load %xk {loop = [1]} : tensor<37x83xi8> -> !mirage_block.tile<37x42xi8>
      %wt = load %wk {grid = [0], loop = [1]} : tensor<29x83xi8> -> !mirage_block.tile<15x42xi8>
      %vt = load %vk {grid = [0], loop = [1]} : tensor<29x83xi8> -> !mirage_block.tile<15x42xi8>
      %p = matmul %xt, %wt {transpose_b} : !mirage_block.tile<37x42xi8>, !mirage_block.tile<15x42xi8>
      %q = matmul %xt, %vt {transpose_b} : !mirage_block.tile<37x42xi8>, !mirage_block.tile<15x42xi8>
      yield %p, %q : !mirage_block.tile<37x15xi32>, !mirage_block.tile<37x15xi32>
    }
    %f = cast %sums#0 : !mirage_block.tile<37x15xi32> -> !mirage_block.tile<37x15xf32>
    %g = cast %sums#1 : !mirage_block.tile<37x15xi32> -> !mirage_block.tile<37x15xf32>
    %st = load %sk : tensor<37x1xf32> -> !mirage_block.tile<37x1xf32>
    %tt = load %tk {grid = [0]} : tensor<29xf32> -> !mirage_block.tile<15xf32>
    %c = mul %f, %st : !mirage_block.tile<37x15xf32>, !mirage_block.tile<37x1xf32>
    %d = mul %g, %tt : !mirage_block.tile<37x15xf32>, !mirage_block.tile<15xf32>
    %e = add %c, %d : !mirage_block.tile<37x15xf32>, !mirage_block.tile<37x15xf32>
    store %e, %yk {grid = [1]} : !mirage_block.tile<37x15xf32>, tensor<37x29xf32>
  }
  return %y : tensor<37x29xf32>
}

// Both operands with the contraction outermost.
mirage_kernel.graph @outer(%x: tensor<96x64xi8>, %w: tensor<96x48xi8>) -> tensor<64x48xi32> {
  %y = matmul %x, %w {transpose_a} : tensor<96x64xi8>, tensor<96x48xi8>
  return %y : tensor<64x48xi32>
}

// The weight's columns become rows of the instruction, and warps divide the contraction.
mirage_kernel.graph @few(%x: tensor<3x1024xi8>, %w: tensor<64x1024xi8>, %s: tensor<64xf32>) -> tensor<3x64xf32> {
  %p = matmul %x, %w {transpose_b} : tensor<3x1024xi8>, tensor<64x1024xi8>
  %f = cast %p : tensor<3x64xi32> -> tensor<3x64xf32>
  %y = mul %f, %s : tensor<3x64xf32>, tensor<64xf32>
  return %y : tensor<3x64xf32>
}
mirage_kernel.graph @few_0(%x: tensor<3x1024xi8>, %w: tensor<64x1024xi8>, %s: tensor<64xf32>) -> tensor<3x64xf32> attributes {source = @few, selected} {
  %y = custom (%xk = %x, %wk = %w, %sk = %s) outs(%yk) grid [2] schedule <warps = 8, split = reduction> : (tensor<3x1024xi8>, tensor<64x1024xi8>, tensor<64xf32>) -> tensor<3x64xf32> {
    %zero = constant 0.0 : !mirage_block.tile<3x32xi32>
    %a = loop 4 (%c = %zero sum) : !mirage_block.tile<3x32xi32> {
      %xt = load %xk {loop = [1]} : tensor<3x1024xi8> -> !mirage_block.tile<3x256xi8>
      %wt = load %wk {grid = [0], loop = [1]} : tensor<64x1024xi8> -> !mirage_block.tile<32x256xi8>
      %p = matmul %xt, %wt {transpose_b} : !mirage_block.tile<3x256xi8>, !mirage_block.tile<32x256xi8>
      yield %p : !mirage_block.tile<3x32xi32>
    }
    %f = cast %a : !mirage_block.tile<3x32xi32> -> !mirage_block.tile<3x32xf32>
    %st = load %sk {grid = [0]} : tensor<64xf32> -> !mirage_block.tile<32xf32>
    %m = mul %f, %st : !mirage_block.tile<3x32xf32>, !mirage_block.tile<32xf32>
    store %m, %yk {grid = [1]} : !mirage_block.tile<3x32xf32>, tensor<3x64xf32>
  }
  return %y : tensor<3x64xf32>
}

mirage_kernel.graph @over_blocks(%x: tensor<16x256xi8>, %w: tensor<256x32xi8>) -> tensor<16x32xi32> {
  %y = matmul %x, %w : tensor<16x256xi8>, tensor<256x32xi8>
  return %y : tensor<16x32xi32>
}
mirage_kernel.graph @over_blocks_0(%x: tensor<16x256xi8>, %w: tensor<256x32xi8>) -> tensor<16x32xi32> attributes {source = @over_blocks, selected} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2, 4] : (tensor<16x256xi8>, tensor<256x32xi8>) -> tensor<16x32xi32> {
    %xt = load %xk {grid = [-1, 1]} : tensor<16x256xi8> -> !mirage_block.tile<16x64xi8>
    %wt = load %wk {grid = [1, 0]} : tensor<256x32xi8> -> !mirage_block.tile<64x16xi8>
    %p = matmul %xt, %wt : !mirage_block.tile<16x64xi8>, !mirage_block.tile<64x16xi8>
    %s = grid_sum %p {axes = [1]} : !mirage_block.tile<16x16xi32>
    store %s, %yk {grid = [1]} : !mirage_block.tile<16x16xi32>, tensor<16x32xi32>
  }
  return %y : tensor<16x32xi32>
}

mirage_kernel.graph @over_cluster(%x: tensor<16x256xi8>, %w: tensor<256x32xi8>) -> tensor<16x32xf32> {
  %p = matmul %x, %w : tensor<16x256xi8>, tensor<256x32xi8>
  %y = cast %p : tensor<16x32xi32> -> tensor<16x32xf32>
  return %y : tensor<16x32xf32>
}
mirage_kernel.graph @over_cluster_0(%x: tensor<16x256xi8>, %w: tensor<256x32xi8>) -> tensor<16x32xf32> attributes {source = @over_cluster, selected} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2, 4] cluster [1, 4] : (tensor<16x256xi8>, tensor<256x32xi8>) -> tensor<16x32xf32> {
    %zero = constant 0.0 : !mirage_block.tile<16x16xi32>
    %a = loop 2 (%c = %zero sum) : !mirage_block.tile<16x16xi32> {
      %xt = load %xk {grid = [-1, 1], loop = [1]} : tensor<16x256xi8> -> !mirage_block.tile<16x32xi8>
      %wt = load %wk {grid = [1, 0], loop = [0]} : tensor<256x32xi8> -> !mirage_block.tile<32x16xi8>
      %p = matmul %xt, %wt : !mirage_block.tile<16x32xi8>, !mirage_block.tile<32x16xi8>
      yield %p : !mirage_block.tile<16x16xi32>
    }
    %s = cluster_sum %a {axes = [1]} : !mirage_block.tile<16x16xi32>
    %f = cast %s : !mirage_block.tile<16x16xi32> -> !mirage_block.tile<16x16xf32>
    store %f, %yk {grid = [1]} : !mirage_block.tile<16x16xf32>, tensor<16x32xf32>
  }
  return %y : tensor<16x32xf32>
}

mirage_kernel.graph @f8(%x: tensor<128x256xf8E4M3FN>, %w: tensor<128x256xf8E5M2>) -> tensor<128x128xf32> {
  %y = matmul %x, %w {transpose_b} : tensor<128x256xf8E4M3FN>, tensor<128x256xf8E5M2>
  return %y : tensor<128x128xf32>
}
mirage_kernel.graph @f8_0(%x: tensor<128x256xf8E4M3FN>, %w: tensor<128x256xf8E5M2>) -> tensor<128x128xf32> attributes {source = @f8, selected} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [1] : (tensor<128x256xf8E4M3FN>, tensor<128x256xf8E5M2>) -> tensor<128x128xf32> {
    %zero = constant 0.0 : !mirage_block.tile<128x128xf32>
    %s = loop 2 (%a = %zero sum) : !mirage_block.tile<128x128xf32> {
      %xt = load %xk {loop = [1]} : tensor<128x256xf8E4M3FN> -> !mirage_block.tile<128x128xf8E4M3FN>
      %wt = load %wk {loop = [1]} : tensor<128x256xf8E5M2> -> !mirage_block.tile<128x128xf8E5M2>
      %p = matmul %xt, %wt {transpose_b} : !mirage_block.tile<128x128xf8E4M3FN>, !mirage_block.tile<128x128xf8E5M2>
      yield %p : !mirage_block.tile<128x128xf32>
    }
    store %s, %yk : !mirage_block.tile<128x128xf32>, tensor<128x128xf32>
  }
  return %y : tensor<128x128xf32>
}

mirage_kernel.graph @f8_tails(%x: tensor<19x50xf8E5M2>, %w: tensor<50x21xf8E4M3FN>) -> tensor<19x21xf32> {
  %y = matmul %x, %w : tensor<19x50xf8E5M2>, tensor<50x21xf8E4M3FN>
  return %y : tensor<19x21xf32>
}
