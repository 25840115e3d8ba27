// A proof at full size counts the numbers that are drawn for it: a product of one row takes less than drawing its weight.
//
// RUN: mirage-mlir-opt %s --mirage-enumerate=max-candidates=4 --mirage-verify -o %t.mlir 2>/dev/null
// RUN: mirage-mlir-opt %t.mlir --mirage-select='measure=no full-size-work=2.5e7' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SMALLER
// RUN: mirage-mlir-opt %t.mlir --mirage-select='measure=no full-size-work=1e8' -o /dev/null 2>&1 | FileCheck %s --check-prefix=FULL
//
// SMALLER: @row: selected {{.*}} proof by transfer from a smaller instance
// FULL:    @row: selected {{.*}} proof at full size
mirage_kernel.graph @row(%x: tensor<1x2048xf16>, %w: tensor<2048x1024xf16>) -> tensor<1x1024xf16> {
  %y = matmul %x, %w : tensor<1x2048xf16>, tensor<2048x1024xf16>
  return %y : tensor<1x1024xf16>
}
