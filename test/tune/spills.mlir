// Of two candidates that take the same time, the one that spills registers comes second, wherever it stands; one that takes half of
// the time is taken all the same. @first and @second are a kernel each, which takes 10 us; the own lowering is two.
// RUN: rm -rf %t.*.db* && mirage-mlir-opt %s --mirage-verify -o %t.proven.mlir 2>/dev/null
// RUN: env MIRAGE_TUNING_DB=%t.none.db FAKE_CUDA_ZEROS=1 MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.proven.mlir --mirage-select=measure=yes -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// NONE-NOT: a thread spills
// NONE: selected @[[CHOSEN:first|second]] of 2 measured
// RUN: env MIRAGE_TUNING_DB=%t.first.db FAKE_CUDA_ZEROS=1 FAKE_CUDA_SPILLING=first_k0 MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.proven.mlir --mirage-select=measure=yes -o /dev/null 2>&1 | FileCheck %s --check-prefix=FIRST
// FIRST-DAG: @first: 10.00 us measured {{.*}}; a thread spills 16 bytes
// FIRST-DAG: @second: 10.00 us measured {{.*}} error 0.0e+00{{$}}
// FIRST: selected @second of 2 measured
// RUN: env MIRAGE_TUNING_DB=%t.second.db FAKE_CUDA_ZEROS=1 FAKE_CUDA_SPILLING=second_k0 MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.proven.mlir --mirage-select=measure=yes -o /dev/null 2>&1 | FileCheck %s --check-prefix=SECOND
// SECOND: selected @first of 2 measured
// RUN: env MIRAGE_TUNING_DB=%t.quick.db FAKE_CUDA_ZEROS=1 FAKE_CUDA_SPILLING=second_k0 FAKE_CUDA_QUICK=second_k0 MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.proven.mlir --mirage-select=measure=yes -o /dev/null 2>&1 | FileCheck %s --check-prefix=QUICK
// QUICK: selected @second of 2 measured: 5.00 us
//
// The database keeps it.
// RUN: mirage-tune --database=%t.quick.db show | FileCheck %s --check-prefix=SHOW
// SHOW-DAG: first {{.*}}0.0e+00{{$}}
// SHOW-DAG: second {{.*}}0.0e+00  16 bytes spilled{{$}}

mirage_kernel.graph @zero(%x: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %n = neg %x : tensor<64x256xf32>
  %y = add %x, %n : tensor<64x256xf32>, tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
mirage_kernel.graph @first(%x: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {source = @zero} {
  %y = sub %x, %x : tensor<64x256xf32>, tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
mirage_kernel.graph @second(%x: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {source = @zero} {
  %y = sub %x, %x : tensor<64x256xf32>, tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
