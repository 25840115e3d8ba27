// The program's own lowering is wrong - its last kernel writes something else here, as one that overflows does - and float64 says so:
// a candidate that is right is chosen, and the remark says against what it was compared.
// RUN: rm -rf %t.db* && sed -n '/^mirage_kernel.graph @zero/,/^}/p;/^mirage_kernel.graph @one/,/^}/p' %S/measured.mlir > %t.mlir && mirage-mlir-opt %t.mlir --mirage-verify -o %t.proven.mlir 2>/dev/null
// RUN: env MIRAGE_TUNING_DB=%t.db FAKE_CUDA_ZEROS=1 FAKE_CUDA_WRONG=zero_own_k1 MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.proven.mlir --mirage-select=measure=yes -o /dev/null 2>&1 | FileCheck %s
// CHECK: remark: @one: 10.00 us measured {{.*}} beside it the own lowering of @zero 20.00 us; error 0.0e+00 against float64, the own lowering's inf: it is wrong, and is not compared with
// CHECK: remark: @zero: selected @one of 1 measured
// RUN: mirage-tune --database=%t.db export - 2>/dev/null | FileCheck %s --check-prefix=RECORD
// RECORD: "own_error": null
//
// Where the candidate is wrong, it is refused, and both errors are told.
// RUN: rm -rf %t.db* && env MIRAGE_TUNING_DB=%t.db FAKE_CUDA_ZEROS=1 FAKE_CUDA_WRONG=one_k0 MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.proven.mlir --mirage-select=measure=yes -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: warning: @one: not measured: wrong: output 0 differs from the own lowering's by inf, at most 0.005 is rounding; its error against float64 is inf, the own lowering's 0
//
// Of a large program some rows are evaluated.
// RUN: rm -rf %t.db* && split-file %s %t
// RUN: env MIRAGE_TUNING_DB=%t.db FAKE_CUDA_ZEROS=1 FAKE_CUDA_WRONG=large_own_k2 MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t/large.mlir --mirage-verify=guard=false --mirage-select='measure=yes full-size-work=0' -o /dev/null 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: remark: @shorter: {{.*}} error 0.0e+00 against float64, of a sample, the own lowering's inf: it is wrong, and is not compared with

//--- large.mlir
mirage_kernel.graph @large(%x: tensor<1024x1024xf16>, %w: tensor<1024x1024xf16>) -> tensor<1024x1024xf16> {
  %n = neg %x : tensor<1024x1024xf16>
  %s = add %x, %n : tensor<1024x1024xf16>, tensor<1024x1024xf16>
  %y = matmul %s, %w : tensor<1024x1024xf16>, tensor<1024x1024xf16>
  return %y : tensor<1024x1024xf16>
}
mirage_kernel.graph @shorter(%x: tensor<1024x1024xf16>, %w: tensor<1024x1024xf16>) -> tensor<1024x1024xf16> attributes {source = @large} {
  %s = sub %x, %x : tensor<1024x1024xf16>, tensor<1024x1024xf16>
  %y = matmul %s, %w : tensor<1024x1024xf16>, tensor<1024x1024xf16>
  return %y : tensor<1024x1024xf16>
}
