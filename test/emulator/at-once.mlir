// Attention whose blocks all begin at once, fed by a producer: one warpgroup that runs ahead, and warps of 16 queries (passes/layout-at-once.mlir).
//
// RUN: sed 's/tensor<8x/tensor<1x/g; s/grid \[16, 8\]/grid [16, 1]/' %source/test/passes/layout-at-once.mlir > %t.mlir
// RUN: mirage-run %t.mlir -p warpgroup_program -g warpgroup --target=emulator --compile=h100 > %t.out
// RUN: mirage-run %t.mlir -p warps_program -g warps --target=emulator --compile=h100 >> %t.out
// RUN: FileCheck %s < %t.out
// CHECK: output 0 {{.*}}65536 of 65536 elements compared{{.*}}: ok
// CHECK: output 0 {{.*}}32768 of 32768 elements compared{{.*}}: ok
//
// A product that leads to another's, of a contraction that no instruction divides: eight, and 24.
// RUN: mirage-mlir-opt %s --mirage-enumerate=target=h100 --mirage-verify --mirage-layout=target=h100 -o %t.rank.mlir 2>/dev/null
// RUN: FileCheck %s --check-prefix=RANK < %t.rank.mlir
// RUN: mirage-run %t.rank.mlir -g rank8_0 --target=emulator --compile=h100 | FileCheck %s --check-prefix=SUM
// RUN: sed 's/256x8x/256x24x/g; s/<8x264x/<24x264x/g' %s | mirage-mlir-opt --mirage-enumerate=target=h100 --mirage-verify --mirage-layout=target=h100 -o %t.rank.mlir 2>/dev/null
// RUN: mirage-run %t.rank.mlir -g rank8_0 --target=emulator --compile=h100 | FileCheck %s --check-prefix=SUM
// RANK-LABEL: graph @rank8_0(
// RANK: loop 1 (
// RANK: tiles = [{{[0-9]+, }}16]} : tensor<256x8xf16>
// SUM: output 0 {{.*}}67584 of 67584 elements compared{{.*}}: ok
mirage_kernel.graph @rank8(%x: tensor<256x320xf16>, %w: tensor<320x264xf16>, %t: tensor<256x8xf16>, %b: tensor<8x264xf16>) -> tensor<256x264xf16> {
  %p = matmul %x, %w : tensor<256x320xf16>, tensor<320x264xf16>
  %q = matmul %t, %b : tensor<256x8xf16>, tensor<8x264xf16>
  %y = add %p, %q : tensor<256x264xf16>, tensor<256x264xf16>
  return %y : tensor<256x264xf16>
}
