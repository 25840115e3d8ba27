// Nothing that was measured beats the program's own lowering (one kernel of 10 us on the fake driver): it stays, whatever the
// model thinks, and the database says so the next time.
// RUN: rm -rf %t.db* && mirage-mlir-opt %s --mirage-verify -o %t.proven.mlir 2>/dev/null
// RUN: env MIRAGE_TUNING_DB=%t.db FAKE_CUDA_ZEROS=1 MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.proven.mlir --mirage-select 2>%t.log | FileCheck %s
// RUN: FileCheck %s --check-prefix=LOG < %t.log
// RUN: env MIRAGE_TUNING_DB=%t.db MIRAGE_CUDA_LIBRARY=/nowhere mirage-mlir-opt %t.proven.mlir --mirage-select -o /dev/null 2>&1 | FileCheck %s --check-prefix=AGAIN
// CHECK:     graph @zero(
// CHECK-NOT: mirage_kernel.graph
// LOG: @zero: its own lowering is better: 10.00 us measured on Fake GPU 0 (spread 0.0 %), {{[0-9.]+}} us predicted on h200, the best of 2 measured is @{{same|two}} with {{1|2}}0.00 us
// AGAIN: @zero: its own lowering is better: 10.00 us measured on Fake GPU 0 (spread 0.0 %, 20{{[0-9-]+T[0-9:]+Z}}), {{[0-9.]+}} us predicted on h200
//
// Where no candidate runs right, the own lowering stands; nothing is known of times then, and nothing is stored.
// RUN: env MIRAGE_TUNING_DB=%t.wrong.db FAKE_CUDA_ZEROS=1 FAKE_CUDA_WRONG=two_k1 FAKE_CUDA_CRASHING=same_k0 MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.proven.mlir --mirage-select 2>%t.log | FileCheck %s
// RUN: FileCheck %s --check-prefix=NONE < %t.log
// RUN: not ls %t.wrong.db
// NONE: @zero: its own lowering stands: none of 2 candidates ran right on Fake GPU 0
//
// An own lowering that fails itself tells nothing of candidates: the model decides, or `yes` fails.
// RUN: env MIRAGE_TUNING_DB=%t.own.db FAKE_CUDA_ZEROS=1 FAKE_CUDA_FAILING=zero_own_k0 MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.proven.mlir --mirage-select -o /dev/null 2>&1 | FileCheck %s --check-prefix=FAILS
// RUN: not env MIRAGE_TUNING_DB=%t.own.db FAKE_CUDA_ZEROS=1 FAKE_CUDA_FAILING=zero_own_k0 MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.proven.mlir --mirage-select=measure=yes -o /dev/null 2>&1 | FileCheck %s --check-prefix=INSISTS
// FAILS: warning: @zero: not measured: device: kernel zero_own_k0 failed: {{.*}}; the cost model decides
// FAILS: @zero: its own lowering is better: {{[0-9.]+}} us predicted on h200
// INSISTS: error: mirage-select: measure=yes: device: kernel zero_own_k0 failed

mirage_kernel.graph @zero(%x: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %y = sub %x, %x : tensor<64x256xf32>, tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
mirage_kernel.graph @two(%x: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {source = @zero} {
  %n = neg %x : tensor<64x256xf32>
  %y = add %x, %n : tensor<64x256xf32>, tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
mirage_kernel.graph @same(%x: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {source = @zero} {
  %y = sub %x, %x : tensor<64x256xf32>, tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
