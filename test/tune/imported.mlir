// What one machine measured, used on another that has no GPU and whose program has other names and no candidates: the stored
// graph is proven before it is taken, and one that computes something else is refused.
// RUN: rm -rf %t.db* %t.other.db* %t.forged.db* && mirage-mlir-opt %S/measured.mlir --mirage-verify -o %t.proven.mlir 2>/dev/null
// RUN: env MIRAGE_TUNING_DB=%t.db FAKE_CUDA_ZEROS=1 MIRAGE_CUDA_LIBRARY=%fake-cuda mirage-mlir-opt %t.proven.mlir --mirage-select=measure=yes -o /dev/null 2>/dev/null
// RUN: mirage-tune --database=%t.db export %t.json && mirage-tune --database=%t.other.db import %t.json
// RUN: mirage-tune --database=%t.other.db export - 2>/dev/null | diff %t.json -
// RUN: env MIRAGE_TUNING_DB=%t.other.db MIRAGE_CUDA_LIBRARY=/nowhere mirage-mlir-opt %s --mirage-select 2>%t.log | FileCheck %s
// RUN: FileCheck %s --check-prefix=LOG < %t.log
// CHECK: graph @renamed(
// CHECK: graph @renamed_tuned({{.*}}measured_us = {{.*}}proof = #mirage_kernel.proof<{{.*}}selected, source = @renamed
// LOG: @renamed: selected @renamed_tuned: 10.00 us measured on Fake GPU 0
//
// The whole pipeline takes it, and its code runs.
// RUN: env MIRAGE_TUNING_DB=%t.other.db MIRAGE_CUDA_LIBRARY=/nowhere mirage-mlir-opt %s '--mirage-superoptimize=max-candidates=1 measure=yes' -o %t.compiled.mlir 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: mirage-run --target=emulator %t.compiled.mlir
// What was compiled can be read and selected again: the operators that became kernels have a proof as kernels.
// RUN: mirage-mlir-opt %t.compiled.mlir --mirage-select=measure=no -o /dev/null 2>&1 | FileCheck %s --check-prefix=REREAD
// REREAD-NOT: refused
// REREAD: the best of 1 proven is @renamed_{{[a-z0-9]+}} with 10.00 us
// WHOLE: @renamed: selected @renamed_{{[a-z0-9]+}}: 10.00 us measured on Fake GPU 0
//
// RUN: sed 's/ = sub %arg0, %arg0/ = add %arg0, %arg0/' %t.json > %t.forged.json && not diff -q %t.json %t.forged.json
// RUN: mirage-tune --database=%t.forged.db import %t.forged.json
// RUN: env MIRAGE_TUNING_DB=%t.forged.db MIRAGE_CUDA_LIBRARY=/nowhere mirage-mlir-opt %s --mirage-select 2>%t.log | FileCheck %s --check-prefix=FORGED
// RUN: FileCheck %s --check-prefix=REFUSED < %t.log
// RUN: not env MIRAGE_TUNING_DB=%t.forged.db MIRAGE_CUDA_LIBRARY=/nowhere mirage-mlir-opt %s --mirage-select=measure=yes -o /dev/null
// FORGED: graph @renamed(
// FORGED-NOT: mirage_kernel.graph
// REFUSED: @renamed_tuned: refused: the tuning database holds it for this program, and it computes something else
// REFUSED: @renamed: no proven candidate; its own lowering stands
//
// A text that is no graph, or one of other shapes, is a warning that says how to forget it.
// RUN: rm -rf %t.forged.db* && sed 's/return %0/give %0/' %t.json > %t.forged.json && mirage-tune --database=%t.forged.db import %t.forged.json
// RUN: env MIRAGE_TUNING_DB=%t.forged.db MIRAGE_CUDA_LIBRARY=/nowhere mirage-mlir-opt %s --mirage-select -o /dev/null 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: rm -rf %t.forged.db* && sed 's/64x256/32x256/g' %t.json > %t.forged.json && mirage-tune --database=%t.forged.db import %t.forged.json
// RUN: env MIRAGE_TUNING_DB=%t.forged.db MIRAGE_CUDA_LIBRARY=/nowhere mirage-mlir-opt %s --mirage-select -o /dev/null 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: warning: @renamed: the graph that the tuning database holds for it cannot be read or has other inputs and outputs; mirage-tune clear {{[0-9a-f]+}} forgets it
// TEXT: @renamed: no proven candidate; its own lowering stands

mirage_kernel.graph @renamed(%input: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %minus = neg %input : tensor<64x256xf32>
  %result = add %input, %minus : tensor<64x256xf32>, tensor<64x256xf32>
  return %result : tensor<64x256xf32>
}
