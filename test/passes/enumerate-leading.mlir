// What is multiplied before a loop and added to the loop's own product becomes a loop that leads to it, in tiles as deep where they
// divide the contraction, if warpgroups multiply: slabs of 64 rows, or of 64 columns. Streams of few rows have it at once.
//
// RUN: mirage-mlir-opt %s --mirage-enumerate=target=h100 --mirage-verify --mirage-layout=target=h100 -o %t.mlir 2>%t.err
// RUN: FileCheck %s --input-file %t.mlir
// RUN: FileCheck %s --check-prefix=PROOF --input-file %t.err
// RUN: mirage-mlir-opt %s --mirage-enumerate='target=h100 max-loops=1' 2>/dev/null | mirage-mlir-opt --mirage-enumerate='target=h100 replay=yes max-loops=1' -o /dev/null 2>%t.replay
// RUN: FileCheck %s --check-prefix=REPLAY --input-file %t.replay
// REPLAY-NOT: {{cut at|not kept|stands for it}}
// REPLAY: @two_steps_0: in the space{{.*}}kept as candidate 0
// REPLAY-NOT: {{cut at|not kept|stands for it}}
// PROOF-NOT: {{[1-9][0-9]*}} different
// PROOF: equivalent
// PROOF-NOT: {{[1-9][0-9]*}} different

// CHECK-LABEL: graph @low_rank_0(
// CHECK: persistent = 132{{.*}}loads = [tensor(stages = 1{{[^]]*}}tensor(stages = 3
// CHECK: %[[LOW:[0-9]+]] = loop 1 (
// CHECK: load {{.*}}loop = [1]{{.*}} : tensor<3000x64xf16>
// CHECK: %[[SUM:[0-9]+]] = loop 16 (
// CHECK: add %[[LOW]], %[[SUM]]
mirage_kernel.graph @low_rank(%x: tensor<3000x1000xf16>, %w: tensor<1000x4096xf16>, %t: tensor<3000x64xf16>, %b: tensor<64x4096xf16>) -> tensor<3000x4096xf16> {
  %p = matmul %x, %w : tensor<3000x1000xf16>, tensor<1000x4096xf16>
  %q = matmul %t, %b : tensor<3000x64xf16>, tensor<64x4096xf16>
  %y = add %p, %q : tensor<3000x4096xf16>, tensor<3000x4096xf16>
  return %y : tensor<3000x4096xf16>
}

// CHECK-LABEL: graph @two_steps_0(
// CHECK: = loop 2 (
// CHECK: load {{.*}}loop = [1]{{.*}} : tensor<1024x128xbf16>
// CHECK: = loop 64 (
mirage_kernel.graph @two_steps(%x: tensor<1024x4096xbf16>, %w: tensor<4096x4096xbf16>, %t: tensor<1024x128xbf16>, %b: tensor<128x4096xbf16>) -> tensor<1024x4096xbf16> {
  %p = matmul %x, %w : tensor<1024x4096xbf16>, tensor<4096x4096xbf16>
  %q = matmul %t, %b : tensor<1024x128xbf16>, tensor<128x4096xbf16>
  %y = add %p, %q : tensor<1024x4096xbf16>, tensor<1024x4096xbf16>
  return %y : tensor<1024x4096xbf16>
}

// Eight rows.
// CHECK-LABEL: graph @few_0(
// CHECK-NOT: loop 1 (
// CHECK-LABEL: graph @few_1(
mirage_kernel.graph @few(%x: tensor<8x1024xf16>, %w: tensor<1024x1024xf16>, %t: tensor<8x64xf16>, %b: tensor<64x1024xf16>) -> tensor<8x1024xf16> {
  %p = matmul %x, %w : tensor<8x1024xf16>, tensor<1024x1024xf16>
  %q = matmul %t, %b : tensor<8x64xf16>, tensor<64x1024xf16>
  %y = add %p, %q : tensor<8x1024xf16>, tensor<8x1024xf16>
  return %y : tensor<8x1024xf16>
}

// Rows in two parts of 152, which is no slab: the weight's columns come first in the instruction, of both products.
// CHECK-LABEL: graph @columns_first_0(
// CHECK: grid [40, 2] {{.*}}swap = true
// CHECK: = loop 1 (
// CHECK: = loop 80 (
mirage_kernel.graph @columns_first(%x: tensor<300x5120xf16>, %w: tensor<5120x5120xf16>, %t: tensor<300x64xf16>, %b: tensor<64x5120xf16>) -> tensor<300x5120xf16> {
  %p = matmul %x, %w : tensor<300x5120xf16>, tensor<5120x5120xf16>
  %q = matmul %t, %b : tensor<300x64xf16>, tensor<64x5120xf16>
  %y = add %p, %q : tensor<300x5120xf16>, tensor<300x5120xf16>
  return %y : tensor<300x5120xf16>
}

// Who wants the product itself has it stored.
// CHECK-LABEL: graph @wanted(
// CHECK: graph @wanted_0(
// CHECK-NOT: loop 1 (
// CHECK: graph @wanted_1(
mirage_kernel.graph @wanted(%x: tensor<3000x1000xf16>, %w: tensor<1000x4096xf16>, %t: tensor<3000x64xf16>, %b: tensor<64x4096xf16>) -> (tensor<3000x4096xf16>, tensor<3000x4096xf16>) {
  %p = matmul %x, %w : tensor<3000x1000xf16>, tensor<1000x4096xf16>
  %q = matmul %t, %b : tensor<3000x64xf16>, tensor<64x4096xf16>
  %y = add %p, %q : tensor<3000x4096xf16>, tensor<3000x4096xf16>
  return %y, %q : tensor<3000x4096xf16>, tensor<3000x4096xf16>
}

// No instruction of a warpgroup is eight deep: tiles of 16, of which tensor copies write eight as zeros.
// CHECK-LABEL: graph @shallow_0(
// CHECK: = loop 1 (
// CHECK-NEXT: load {{.*}}loop = [1], tiles = [128, 16]} : tensor<3000x8xf16> -> !mirage_block.tile<128x16xf16
// CHECK-NEXT: load {{.*}}loop = [0], tiles = [16]} : tensor<8x4096xf16> -> !mirage_block.tile<16x256xf16
// CHECK: = loop 16 (
mirage_kernel.graph @shallow(%x: tensor<3000x1000xf16>, %w: tensor<1000x4096xf16>, %t: tensor<3000x8xf16>, %b: tensor<8x4096xf16>) -> tensor<3000x4096xf16> {
  %p = matmul %x, %w : tensor<3000x1000xf16>, tensor<1000x4096xf16>
  %q = matmul %t, %b : tensor<3000x8xf16>, tensor<8x4096xf16>
  %y = add %p, %q : tensor<3000x4096xf16>, tensor<3000x4096xf16>
  return %y : tensor<3000x4096xf16>
}

// Rows of eight are no torn rows of the product's own loop: no pairs for their sake.
// CHECK-LABEL: graph @aligned_0(
// CHECK-NOT: cluster [
// CHECK: = loop 1 (
// CHECK: return
mirage_kernel.graph @aligned(%x: tensor<1024x3072xf16>, %w: tensor<3072x3072xf16>, %t: tensor<1024x8xf16>, %b: tensor<8x3072xf16>) -> tensor<1024x3072xf16> {
  %p = matmul %x, %w : tensor<1024x3072xf16>, tensor<3072x3072xf16>
  %q = matmul %t, %b : tensor<1024x8xf16>, tensor<8x3072xf16>
  %y = add %p, %q : tensor<1024x3072xf16>, tensor<1024x3072xf16>
  return %y : tensor<1024x3072xf16>
}
