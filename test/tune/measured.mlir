// Measured selection from end to end, on the fake driver (test/unit/fake_cuda.c): a launch takes 10 us and writes zeros, which is
// what this program computes. Its own lowering is two kernels, @one is one, @three are three. The others hang, fail, crash,
// compute something else and NaN; each is a line and no more.
// RUN: rm -rf %t.db* && mirage-mlir-opt %s --mirage-verify -o %t.proven.mlir 2>/dev/null
// RUN: env MIRAGE_TUNING_DB=%t.db FAKE_CUDA_ZEROS=1 FAKE_CUDA_HANGING=hangs_k0 FAKE_CUDA_FAILING=fails_k0 FAKE_CUDA_CRASHING=crashes_k0 FAKE_CUDA_WRONG=wrong_k0 FAKE_CUDA_NAN=nan_k0 MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.proven.mlir '--mirage-select=measure=yes measure-timeout=0.1' -o %t.selected.mlir 2>%t.log
// RUN: FileCheck %s < %t.selected.mlir
// RUN: FileCheck %s --check-prefix=LOG < %t.log
// CHECK:     graph @zero(
// CHECK:     graph @one({{.*}}target = "h200", measured_us = {{9.99|10.0|1.000*e}}{{.*}}selected, source = @zero
// CHECK-NOT: mirage_kernel.graph
// LOG-DAG: @one: 10.00 us measured (spread 0.0 %), {{[0-9.]+}} us predicted; beside it the own lowering of @zero 20.00 us; error 0
// LOG-DAG: @three: 30.00 us measured {{.*}} the own lowering of @zero 20.00 us
// LOG-DAG: warning: @hangs: not measured: device: kernel hangs_k0 did not finish within 0.1 s
// LOG-DAG: warning: @fails: not measured: device: kernel fails_k0 failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)
// LOG-DAG: warning: @crashes: not measured: its process ended by signal 11
// LOG-DAG: warning: @wrong: not measured: wrong: output 0 differs from the own lowering's by inf
// LOG-DAG: warning: @nan: not measured: wrong: output 0 differs from the own lowering's by inf
// LOG: @zero: selected @one of 7 measured: 10.00 us measured on Fake GPU 0 (spread 0.0 %), {{[0-9.]+}} us predicted on h200, its own lowering 20.00 us measured, {{[0-9.]+}} us predicted; proof
//
// What is lowered after that keeps the measured time beside the cost of its code.
// RUN: mirage-mlir-opt %t.selected.mlir --mirage-lower 2>/dev/null | FileCheck %s --check-prefix=LOWERED
// LOWERED: graph @one({{.*}}time_us = {{[0-9.e-]+}}, {{.*}}target = "h200", measured_us =
//
// All of it is in the database, the failures too.
// RUN: mirage-tune --database=%t.db list | FileCheck %s --check-prefix=LIST
// RUN: mirage-tune --database=%t.db show | FileCheck %s --check-prefix=SHOW
// LIST:      program target GPU fastest us
// LIST-NEXT: {{^[0-9a-f]+}} h200 Fake GPU 0 one 10.00 0.0 % 20.00 20{{[0-9-]+T[0-9:]+Z$}}
// LIST-NOT:  h200
// SHOW: GPU Fake GPU 0, driver 13.0
// SHOW: fastest one: 10.00 us (spread 0.0 %); the program's own lowering 20.00 us (spread 0.0 %)
// SHOW: (own lowering) {{[0-9.]+}} 20.00 0.0 %
// SHOW: crashes {{.*}}its process ended by signal 11
// SHOW: mirage_kernel.graph @one(
//
// The next time nothing is measured, with the GPU or without one; and `no` does not even ask.
// RUN: env MIRAGE_TUNING_DB=%t.db MIRAGE_CUDA_LIBRARY=%fake-cuda MIRAGE_TUNE_TOOL=/nowhere mirage-mlir-opt %t.proven.mlir --mirage-select=measure=yes 2>&1 -o %t.again.mlir | FileCheck %s --check-prefix=AGAIN
// RUN: diff %t.selected.mlir %t.again.mlir
// RUN: env MIRAGE_TUNING_DB=%t.db MIRAGE_CUDA_LIBRARY=/nowhere mirage-mlir-opt %t.proven.mlir --mirage-select=measure=yes 2>&1 -o %t.again.mlir | FileCheck %s --check-prefix=AGAIN
// RUN: diff %t.selected.mlir %t.again.mlir
// RUN: env MIRAGE_TUNING_DB=%t.db MIRAGE_CUDA_LIBRARY=/nowhere mirage-mlir-opt %t.proven.mlir --mirage-select 2>&1 -o %t.again.mlir | FileCheck %s --check-prefix=AGAIN
// RUN: diff %t.selected.mlir %t.again.mlir
// RUN: env MIRAGE_TUNING_DB=%t.db MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.proven.mlir --mirage-select=measure=no -o /dev/null 2>&1 | FileCheck %s --check-prefix=NO
// RUN: env MIRAGE_MEASURE=no MIRAGE_TUNING_DB=%t.db MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.proven.mlir --mirage-select -o /dev/null 2>&1 | FileCheck %s --check-prefix=NO
// AGAIN-NOT: not measured
// AGAIN: @zero: selected @one: 10.00 us measured on Fake GPU 0 (spread 0.0 %, 20{{[0-9-]+T[0-9:]+Z}}), {{[0-9.]+}} us predicted on h200, its own lowering 20.00 us measured; proof
// NO-NOT: us measured
// NO: @zero: selected @{{.*}} proven: {{[0-9.]+}} us predicted on h200, its own lowering
//
// Another driver, another GPU or another target is another question.
// RUN: not env MIRAGE_TUNING_DB=%t.db MIRAGE_CUDA_LIBRARY=/nowhere mirage-mlir-opt %t.proven.mlir '--mirage-select=measure=yes target=a100' -o /dev/null 2>&1 | FileCheck %s --check-prefix=A100
// RUN: not env MIRAGE_TUNING_DB=%t.db MIRAGE_CUDA_LIBRARY=/nowhere mirage-mlir-opt %t.proven.mlir '--mirage-select=measure=yes tensor-maps=false' -o /dev/null 2>&1 | FileCheck %s --check-prefix=A100
// RUN: not env MIRAGE_TUNING_DB=%t.none.db MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.proven.mlir '--mirage-select=measure=yes target=b200' -o /dev/null 2>&1 | FileCheck %s --check-prefix=B200
// A100: error: mirage-select: measure=yes: no usable GPU, and the tuning database does not know @zero: device: cannot load MIRAGE_CUDA_LIBRARY=/nowhere
// B200: error: mirage-select: measure=yes: no usable GPU, {{.*}} Fake GPU 0 has compute capability 9.0, code for b200 needs 10.0
//
// Without the tool nothing can be measured: an error for who insists, a warning else.
// RUN: not env MIRAGE_TUNING_DB=%t.none.db MIRAGE_TUNE_TOOL=/nowhere MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.proven.mlir --mirage-select=measure=yes -o /dev/null 2>&1 | FileCheck %s --check-prefix=TOOL
// RUN: env MIRAGE_TUNING_DB=%t.none.db MIRAGE_TUNE_TOOL=/nowhere MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.proven.mlir --mirage-select -o /dev/null 2>&1 | FileCheck %s --check-prefix=MODEL
// TOOL: error: mirage-select: measure=yes: measure: MIRAGE_TUNE_TOOL=/nowhere: No such file or directory
// MODEL: warning: @zero: not measured: measure: MIRAGE_TUNE_TOOL=/nowhere: No such file or directory; the cost model decides
// MODEL: @zero: selected @{{.*}} us predicted on h200

mirage_kernel.graph @zero(%x: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %n = neg %x : tensor<64x256xf32>
  %y = add %x, %n : tensor<64x256xf32>, tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
mirage_kernel.graph @three(%x: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {source = @zero} {
  %n = neg %x : tensor<64x256xf32>
  %s = neg %n : tensor<64x256xf32>
  %y = add %s, %n : tensor<64x256xf32>, tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
mirage_kernel.graph @one(%x: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {source = @zero} {
  %y = sub %x, %x : tensor<64x256xf32>, tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
mirage_kernel.graph @hangs(%x: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {source = @zero} {
  %y = sub %x, %x : tensor<64x256xf32>, tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
mirage_kernel.graph @fails(%x: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {source = @zero} {
  %y = sub %x, %x : tensor<64x256xf32>, tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
mirage_kernel.graph @crashes(%x: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {source = @zero} {
  %y = sub %x, %x : tensor<64x256xf32>, tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
mirage_kernel.graph @wrong(%x: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {source = @zero} {
  %y = sub %x, %x : tensor<64x256xf32>, tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
mirage_kernel.graph @nan(%x: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {source = @zero} {
  %y = sub %x, %x : tensor<64x256xf32>, tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
