// 40 heads of 128 queries are 80 blocks where two share a head's keys, and 120 where three do, of 132 multiprocessors: numbers that are no
// powers of two, whole tiles each but for the last. Of few queries, whose keys take the time to load, and where powers of two fill the GPU, they are not tried.
//
// RUN: mirage-mlir-opt %s --mirage-enumerate=target=h200 2>/dev/null | FileCheck %s
// CHECK: grid [40, 3]
// CHECK: tiles = [0, {{[0-9]+}}]
// RUN: sed 's/4096/4095/g' %s | mirage-mlir-opt --mirage-enumerate=target=h200 2>/dev/null | FileCheck %s
// RUN: sed 's/x128x/x16x/g' %s | mirage-mlir-opt --mirage-enumerate=target=h200 2>/dev/null | FileCheck %s --check-prefix=NONE
// RUN: sed 's/<40x/<32x/g' %s | mirage-mlir-opt --mirage-enumerate=target=h200 2>/dev/null | FileCheck %s --check-prefix=NONE
// NONE-NOT: grid [{{[0-9]+}}, 3]
// NONE-NOT: grid [{{[0-9]+}}, {{[0-9]+}}, 3]
//
// Each of those numbers is for the blocks that it fills the GPU with: 24 heads by 5 and, two heads a block, 12 by 11.
// RUN: sed 's/<40x/<24x/g; s/x128x/x64x/g; s/4096/8192/g' %s | mirage-mlir-opt --mirage-enumerate=target=h200 -o %t.24 2>/dev/null
// RUN: FileCheck %s --check-prefix=FIVE < %t.24
// RUN: FileCheck %s --check-prefix=OTHER < %t.24
// FIVE: grid [24, 5]
// OTHER-NOT: grid [24, 11]
//
// What is listed is tried: a loop's tiles are whole ones, since three blocks do not divide 4096 keys.
// RUN: mirage-mlir-opt %s --mirage-enumerate='target=h200 griddims=40,3' 2>/dev/null | FileCheck %s

mirage_kernel.graph @attention(%q: tensor<40x128x64xf16>, %k: tensor<40x4096x64xf16>, %v: tensor<40x4096x64xf16>) -> tensor<40x128x64xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.125} : tensor<40x128x64xf16>, tensor<40x4096x64xf16>, tensor<40x4096x64xf16>
  return %y : tensor<40x128x64xf16>
}
