// Five blocks share 448 keys, which five does not divide: 96 keys each, two tiles of 48, and 64 for the last, whose second tile ends in the
// midst. Proven, and right on the emulated GPU, by blocks that meet and by a second kernel.
// RUN: mirage-mlir-opt %s --mirage-enumerate='target=h200 griddims=5,3' --mirage-prune --mirage-verify --mirage-layout=target=h200 -o %t.mlir 2>%t.err
// RUN: FileCheck %s --check-prefix=SAY < %t.err
// SAY: @heads: {{[0-9]+}} candidates, {{[1-9][0-9]*}} equivalent {{.*}}, 0 different, 0 unsupported
// RUN: FileCheck %s < %t.mlir
// CHECK: graph @heads_0({{.*}}
// CHECK: grid [5, 5, 5]
// CHECK: loop 2
// CHECK: tiles = [0, 48]
// CHECK: constant 448.0
// CHECK: less
// CHECK: mask
// CHECK: graph @heads_1({{.*}}
// CHECK: grid [5, 5, 5]
// RUN: mirage-mlir-opt %t.mlir --mirage-lower=target=h200 -o %t.low.mlir 2>/dev/null
// RUN: mirage-run %t.low.mlir --program=heads --graph=heads_0 --target=emulator | FileCheck %s --check-prefix=OUT
// RUN: mirage-run %t.low.mlir --program=heads --graph=heads_1 --target=emulator | FileCheck %s --check-prefix=OUT
// OUT: output 0 {{.*}}: ok

mirage_kernel.graph @heads(%q: tensor<5x64x32xf16>, %k: tensor<5x448x32xf16>, %v: tensor<5x448x32xf16>) -> tensor<5x64x32xf16> {
  %s = matmul %q, %k {transpose_b} : tensor<5x64x32xf16>, tensor<5x448x32xf16>
  %p = softmax %s {dim = 2} : tensor<5x64x448xf16>
  %y = matmul %p, %v : tensor<5x64x448xf16>, tensor<5x448x32xf16>
  return %y : tensor<5x64x32xf16>
}
