// A difference comes with the command that shows it again: at full size, on a smaller instance, and with `against`.
// RUN: mirage-mlir-opt %s --mirage-verify='seed=11 trials=4' -o /dev/null 2>%t.log
// RUN: FileCheck %s < %t.log
// RUN: grep -o 'mirage-mlir-opt .*' %t.log | head -1 > %t.sh
// RUN: FileCheck %s --check-prefix=COMMAND < %t.sh
// RUN: bash %t.sh 2> %t.again
// RUN: grep 'remark: @rare' %t.log > %t.first
// RUN: grep 'remark: @rare' %t.again | diff %t.first -
// RUN: grep 'remark: @wide' %t.log > %t.first
// RUN: grep 'remark: @wide' %t.again | diff %t.first -
// Another seed gives other residues.
// RUN: mirage-mlir-opt %s --mirage-verify='seed=12' -o /dev/null 2>&1 | grep 'remark: @rare' | not diff %t.first -
// RUN: mirage-mlir-opt %source/test/passes/verify-pair.mlir --mirage-verify='seed=11 first-trial=7 against=src' -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER

// CHECK: witness.mlir:[[@LINE+10]]:1: remark: @rare: different at output 0, element 5: @p gives {{[0-9]+}}, this graph {{[0-9]+}} (residues; seed 11, trial 0)
// CHECK: remark: see it again: mirage-mlir-opt {{.*}}witness.mlir --mirage-verify='seed=11 first-trial=0 trials=1 max-work=2000000' -o /dev/null
// COMMAND: seed=11 first-trial=0 trials=1
// OTHER: @shifted: different at output 0, {{.*}} seed 11, trial 7)
// OTHER: see it again: {{.*}}seed=11 first-trial=7 trials=1 max-work=2000000 against=src'
mirage_kernel.graph @p(%x: tensor<6xf16>) -> tensor<6xf16> {
  %y = exp %x : tensor<6xf16>
  return %y : tensor<6xf16>
}
// Wrong in its last element.
mirage_kernel.graph @rare(%x: tensor<6xf16>) -> tensor<6xf16> attributes {source = @p} {
  %a = slice %x {dim = 0, begin = 0, end = 5} : tensor<6xf16>
  %b = slice %x {dim = 0, begin = 4, end = 5} : tensor<6xf16>
  %c = concat %a, %b {dim = 0} : tensor<5xf16>, tensor<1xf16>
  %y = exp %c : tensor<6xf16>
  return %y : tensor<6xf16>
}

// CHECK: @wide: different at output 0, element 0 of a smaller instance: @q gives
mirage_kernel.graph @q(%x: tensor<64x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<64x4096xf16> {
  %y = matmul %x, %w : tensor<64x4096xf16>, tensor<4096x4096xf16>
  return %y : tensor<64x4096xf16>
}
mirage_kernel.graph @wide(%x: tensor<64x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<64x4096xf16> attributes {source = @q} {
  %y = matmul %x, %w {transpose_b} : tensor<64x4096xf16>, tensor<4096x4096xf16>
  return %y : tensor<64x4096xf16>
}
