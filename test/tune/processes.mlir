// A few processes share the candidates: at most four are started for nine.
// RUN: rm -rf %t.db* %t.started %t.graphs && mirage-mlir-opt %s --mirage-verify -o %t.proven.mlir 2>/dev/null
// RUN: echo '#!/bin/sh' > %t.sh && echo 'echo "$@" >> %t.started; grep -hs "source = @zero" -- "$@" >> %t.graphs; mirage-tune "$@" | tee -a %t.said' >> %t.sh && chmod +x %t.sh
// RUN: env MIRAGE_TUNE_TOOL=%t.sh MIRAGE_TUNING_DB=%t.db FAKE_CUDA_ZEROS=1 MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.proven.mlir '--mirage-select=measure=yes measure-candidates=9 measure-schedules=0' -o /dev/null 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=STARTED --input-file=%t.started
// CHECK-NOT: not measured
// CHECK: @zero: selected @{{[a-i]}} of 9 measured: 10.00 us measured
// STARTED-COUNT-1: --measure={{.*}}/0.mlir --timeout={{[0-9.]+ .*}}/1.mlir
// RUN: wc -l < %t.started | FileCheck %s --check-prefix=FOUR
// FOUR: {{^ *[1-4]$}}
//
// Each is told what its candidates are predicted to take: by that it knows which of them draw so much power that clocks fall.
// RUN: grep -c 'cost = #mirage_kernel.cost<time_us = [0-9.]*, bytes = [0-9.]*, flops = [0-9.]*, kernels = 1, target = "h200">' %t.graphs | FileCheck %s --check-prefix=TOLD
// TOLD: {{^9$}}
//
// What comes behind a candidate that spoils the process for the others is measured again, and so is as good as ever.
// RUN: rm -rf %t.db* && env MIRAGE_TUNING_DB=%t.db FAKE_CUDA_SPOILING=a_k0 FAKE_CUDA_ZEROS=1 MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.proven.mlir '--mirage-select=measure=yes measure-candidates=9 measure-schedules=0' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SPOILT
// SPOILT-NOT: not measured
// SPOILT-COUNT-9: 10.00 us measured (spread 0.0 %), {{.*}} beside it the own lowering of @zero 20.00 us; error 0
// SPOILT-NOT: not measured
// SPOILT: of 9 measured
//
// A process ends with the first that is wrong: nobody answers for a candidate twice.
// RUN: rm -rf %t.db* %t.said && env MIRAGE_TUNE_TOOL=%t.sh MIRAGE_TUNING_DB=%t.db FAKE_CUDA_WRONG=a_k0 FAKE_CUDA_ZEROS=1 MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.proven.mlir '--mirage-select=measure=yes measure-candidates=9 measure-schedules=0' -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: grep -c '^{' %t.said | FileCheck %s --check-prefix=NINE
// WRONG: @a: not measured: wrong: output 0 differs
// NINE: {{^9$}}
//
// Behind one that is wrong, hangs or crashes all others are measured, too.
// RUN: rm -rf %t.db* && env MIRAGE_TUNING_DB=%t.db FAKE_CUDA_WRONG=a_k0 FAKE_CUDA_HANGING=d_k0 FAKE_CUDA_CRASHING=e_k0 FAKE_CUDA_ZEROS=1 MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.proven.mlir '--mirage-select=measure=yes measure-candidates=9 measure-schedules=0 measure-timeout=0.1' -o /dev/null 2>%t.log
// RUN: FileCheck %s --check-prefix=ENDS < %t.log
// RUN: grep -c 'us measured (spread 0.0 %%), .* beside it' %t.log | FileCheck %s --check-prefix=SIX
// ENDS-DAG: @a: not measured: wrong: output 0 differs
// ENDS-DAG: @d: not measured: device: kernel d_k0 did not finish within 0.1 s
// ENDS-DAG: @e: not measured: its process ended by signal 11
// SIX: {{^6$}}
//
// A process says what it cannot read.
// RUN: mirage-tune --measure=%t.nowhere.mlir %t.proven.mlir 2>/dev/null | FileCheck %s --check-prefix=NOWHERE
// RUN: echo 'mirage_kernel.graph @alone(%%x: tensor<8xf32>) -> tensor<8xf32> { return %%x : tensor<8xf32> }' > %t.alone.mlir
// RUN: mirage-tune --measure=%t.alone.mlir %t.proven.mlir | FileCheck %s --check-prefix=ALONE
// RUN: mirage-tune --measure=%t.proven.mlir %t.proven.mlir | FileCheck %s --check-prefix=CODE
// NOWHERE: {"ok":false,{{.*}}"reason":"{{.*}}nowhere.mlir: no module"}
// ALONE: {"ok":false,{{.*}}"reason":"{{.*}}alone.mlir: a program and another graph are wanted"}
// CODE: {"ok":false,{{.*}}"reason":"{{.*}}proven.mlir.ptx: No such file or directory"}

mirage_kernel.graph @zero(%x: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %n = neg %x : tensor<64x256xf32>
  %y = add %x, %n : tensor<64x256xf32>, tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
mirage_kernel.graph @a(%x: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {source = @zero} {
  %y = sub %x, %x : tensor<64x256xf32>, tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
mirage_kernel.graph @b(%x: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {source = @zero} {
  %y = sub %x, %x : tensor<64x256xf32>, tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
mirage_kernel.graph @c(%x: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {source = @zero} {
  %y = sub %x, %x : tensor<64x256xf32>, tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
mirage_kernel.graph @d(%x: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {source = @zero} {
  %y = sub %x, %x : tensor<64x256xf32>, tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
mirage_kernel.graph @e(%x: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {source = @zero} {
  %y = sub %x, %x : tensor<64x256xf32>, tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
mirage_kernel.graph @f(%x: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {source = @zero} {
  %y = sub %x, %x : tensor<64x256xf32>, tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
mirage_kernel.graph @g(%x: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {source = @zero} {
  %y = sub %x, %x : tensor<64x256xf32>, tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
mirage_kernel.graph @h(%x: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {source = @zero} {
  %y = sub %x, %x : tensor<64x256xf32>, tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
mirage_kernel.graph @i(%x: tensor<64x256xf32>) -> tensor<64x256xf32> attributes {source = @zero} {
  %y = sub %x, %x : tensor<64x256xf32>, tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
