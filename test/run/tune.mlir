// Every candidate is measured in a process of its own, on the fake driver: its launches take 10 us each and write zeros, which
// is what this program computes. One candidate computes something else on a GPU, too, but that is the proof's business; one has
// a kernel that hangs, one a kernel that fails, one cannot be compiled. Each costs a line.
// RUN: bash -c 'FAKE_CUDA_ZEROS=1 FAKE_CUDA_HANGING=hangs_k0 FAKE_CUDA_FAILING=fails_k0 MIRAGE_CUDA_LIBRARY=$(dirname %plugin)/libmirage_fake_cuda.so mirage-run --tune --timeout=0.1 %s --write %t.mlir' | FileCheck %s
// RUN: FileCheck %s --check-prefix=WRITTEN --input-file %t.mlir
// RUN: not bash -c 'MIRAGE_CUDA_LIBRARY=$(dirname %plugin)/libmirage_fake_cuda.so mirage-run --tune %s' | FileCheck %s --check-prefix=WRONG
// One graph of a module that is not lowered, compiled here.
// RUN: mirage-run --graph=slow --target=emulator %s | FileCheck %s --check-prefix=GRAPH
// RUN: mirage-run --graph=fast --compile=a100 --target=emulator %s | FileCheck %s --check-prefix=A100
// RUN: not mirage-run --graph=absent %s 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not mirage-run --graph=fast --compile=h20 %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not mirage-run --tune --json %s 2>&1 | FileCheck %s --check-prefix=JSON
// RUN: not mirage-run --tune --target=cpu %s 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not mirage-run --write=x.mlir %s 2>&1 | FileCheck %s --check-prefix=WRITE
// RUN: not mirage-run --tune %S/cpu.mlir --program=none 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK:      candidate cold us warm us own lowering  predicted  error
// CHECK-NEXT: slow 20.00     20.00         10.00 0
// CHECK-NEXT: fast 10.00     10.00         10.00       7.00  0
// CHECK-NEXT: hangs device: kernel hangs_k0 did not finish within 0.1 s
// CHECK-NEXT: fails device: kernel fails_k0 failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)
// CHECK-NEXT: big layout: the tiles need {{[0-9]+}} bytes of shared memory
// CHECK-NEXT: fastest       @fast with 10.00 us; the program's own lowering 10.00 us

// WRITTEN: graph @slow({{.*}}target = "h200", measured_us = {{19.99|2[0.]*}}
// WRITTEN: graph @fast({{.*}}time_us = {{[1-3]}}.{{.*}}target = "h200", measured_us = {{9.99|1[0.]*}}
// WRITTEN-NOT: selected
// WRITTEN: graph @big(
// WRONG: slow wrong
// WRONG: no candidate ran right: the program's own lowering stands
// GRAPH: µGraph        @slow: 2 kernels
// GRAPH: output 0 {{.*}}: ok
// A100: ptx           {{[0-9]+}} bytes for sm_80
// ABSENT: no graph @absent whose source is @nothing
// UNKNOWN: --compile: no GPU 'h20' is known; known are {{.*}}; is h200 meant?
// JSON: --tune runs every candidate on the GPU and prints a table: it does not go with --json
// TARGET: it does not go with another --target
// WRITE: --write takes what --tune measured: it needs that
// NONE: no program @none

mirage_kernel.graph @nothing(%x: tensor<1024x256xf32>) -> tensor<1024x256xf32> {
  %y = sub %x, %x : tensor<1024x256xf32>, tensor<1024x256xf32>
  return %y : tensor<1024x256xf32>
}
mirage_kernel.graph @slow(%x: tensor<1024x256xf32>) -> tensor<1024x256xf32> attributes {source = @nothing, selected} {
  %n = neg %x : tensor<1024x256xf32>
  %y = add %x, %n : tensor<1024x256xf32>, tensor<1024x256xf32>
  return %y : tensor<1024x256xf32>
}
mirage_kernel.graph @fast(%x: tensor<1024x256xf32>) -> tensor<1024x256xf32> attributes {source = @nothing, cost = #mirage_kernel.cost<time_us = 7.0, bytes = 1.0, flops = 1.0, kernels = 1>} {
  %y = sub %x, %x : tensor<1024x256xf32>, tensor<1024x256xf32>
  return %y : tensor<1024x256xf32>
}
mirage_kernel.graph @hangs(%x: tensor<1024x256xf32>) -> tensor<1024x256xf32> attributes {source = @nothing} {
  %y = sub %x, %x : tensor<1024x256xf32>, tensor<1024x256xf32>
  return %y : tensor<1024x256xf32>
}
mirage_kernel.graph @fails(%x: tensor<1024x256xf32>) -> tensor<1024x256xf32> attributes {source = @nothing} {
  %y = sub %x, %x : tensor<1024x256xf32>, tensor<1024x256xf32>
  return %y : tensor<1024x256xf32>
}
mirage_kernel.graph @big(%x: tensor<1024x256xf32>) -> tensor<1024x256xf32> attributes {source = @nothing} {
  %y = custom (%xk = %x) outs(%yk) grid [1] schedule <loads = [async]> : (tensor<1024x256xf32>) -> tensor<1024x256xf32> {
    %xt = load %xk : tensor<1024x256xf32> -> !mirage_block.tile<1024x256xf32>
    %e = sub %xt, %xt : !mirage_block.tile<1024x256xf32>, !mirage_block.tile<1024x256xf32>
    store %e, %yk : !mirage_block.tile<1024x256xf32>, tensor<1024x256xf32>
  }
  return %y : tensor<1024x256xf32>
}
