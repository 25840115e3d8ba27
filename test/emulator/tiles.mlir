// Tiles that the sizes do not divide: rows, columns and contractions rounded up to what instructions want, by the search.
// RUN: mirage-mlir-opt --mirage-superoptimize=measure=no %s -o %t.mlir
// RUN: FileCheck %s --check-prefix=TILES --input-file %t.mlir
// RUN: mirage-run --target=emulator --program=linear %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=gelu %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=few %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=attention %t.mlir | FileCheck %s

// CHECK: output 0 {{.*}}: ok

// Tensor copies and warpgroups, with nothing of the sizes a multiple of 64: rows are rounded up to eights, operands swapped.
// TILES: @linear_{{.*}} attributes
// TILES: swap = true, roles = [{{.*}}producer({{.*}}loads = [tensor({{.*}}tensor(
// TILES: load {{.*}}tiles = [32, 64]
mirage_kernel.graph @linear(%x: tensor<456x200xf16>, %w: tensor<200x440xf16>) -> tensor<456x440xf16> {
  %y = matmul %x, %w : tensor<456x200xf16>, tensor<200x440xf16>
  return %y : tensor<456x440xf16>
}

// 100 rows in seven tiles of 16.
// TILES: @gelu_{{.*}} attributes
// TILES: swap = true, roles = [{{.*}}producer(
// TILES: load {{.*}}tiles = [16]
mirage_kernel.graph @gelu(%x: tensor<100x256xbf16>, %w: tensor<256x1024xbf16>) -> tensor<100x1024xbf16> {
  %h = matmul %x, %w : tensor<100x256xbf16>, tensor<256x1024xbf16>
  %y = gelu_tanh %h : tensor<100x1024xbf16>
  return %y : tensor<100x1024xbf16>
}

// Rows of 40 elements have no tile of 64 that is worth it.
mirage_kernel.graph @few(%x: tensor<40x200xf16>, %w: tensor<200x200xf16>, %b: tensor<200xf16>) -> tensor<40x200xf16> {
  %h = matmul %x, %w : tensor<40x200xf16>, tensor<200x200xf16>
  %y = add %h, %b : tensor<40x200xf16>, tensor<200xf16>
  return %y : tensor<40x200xf16>
}

// Queries and keys.
mirage_kernel.graph @attention(%q: tensor<2x100x64xf16>, %k: tensor<2x64x200xf16>, %v: tensor<2x200x64xf16>) -> tensor<2x100x64xf16> {
  %s = matmul %q, %k : tensor<2x100x64xf16>, tensor<2x64x200xf16>
  %p = softmax %s {dim = 2} : tensor<2x100x200xf16>
  %y = matmul %p, %v : tensor<2x100x200xf16>, tensor<2x200x64xf16>
  return %y : tensor<2x100x64xf16>
}
