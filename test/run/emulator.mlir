// Without a GPU the chosen µGraph's kernels run on the emulator, with copies as late and as early as they may complete.
// RUN: env MIRAGE_CUDA_LIBRARY=/nonexistent/libcuda.so mirage-run %s | FileCheck %s --check-prefixes=CHECK,AUTO
// RUN: mirage-run --target=emulator %s --baseline | FileCheck %s --check-prefixes=CHECK,ASKED
// RUN: mirage-run --target=emulator --json %s > %t.json
// RUN: %python -c "import json; r = json.load(open(r'%t.json')); assert r['passed'] is True and r['result']['repeatable'] is True and r['backend'] == 'emulator' and r['result']['emulator_ms'] > 0 and r['device'] is None and r['no_gpu'] == '--target=emulator'"

// Sizes that would take the emulator long: evaluated on the CPU, and said why.
// RUN: sed -e 's/f16/f32/g; s/16x64/256x1024/g; s/64x32/1024x512/g; s/16x32/256x512/g; s/16x8/256x128/g; s/<8x8/<128x128/g' %s > %t.large.mlir
// RUN: env MIRAGE_CUDA_LIBRARY=/nonexistent/libcuda.so mirage-run %t.large.mlir | FileCheck %s --check-prefix=LARGE

// A wrong graph runs and shows its error: status 1.
// RUN: sed -e 's/constant 0.0/constant 1.0/' %s > %t.wrong.mlir
// RUN: bash -c "mirage-run --target=emulator %t.wrong.mlir; [ $? = 1 ]" | FileCheck %s --check-prefix=WRONG

// A chip that we know nothing of cannot be planned for.
// RUN: sed -e 's/sm_90a/sm_33/' %s > %t.chip.mlir
// RUN: not mirage-run --target=emulator %t.chip.mlir 2>&1 | FileCheck %s --check-prefix=CHIP

// AUTO:       ran on        emulator; no GPU: its generated kernels, thread by thread on the CPU (device: cannot load
// ASKED:      ran on        emulator; no GPU: its generated kernels, thread by thread on the CPU (--target=emulator)
// CHECK-NEXT: output 0      tensor<16x32xf16>: error {{[0-9.e-]+}} (Frobenius-relative, float64 reference), {{.*}}; tolerance 0.001: ok
// CHECK-NEXT: time          {{[0-9]+}} ms to compile and emulate twice
// ASKED:      output 0      tensor<16x32xf16> by the program's own lowering: error {{.*}}: ok
// LARGE:      ran on        CPU; no GPU: {{.*}}; emulator: {{.*}} elements to work on, at most 1e+08 are allowed
// WRONG:      tolerance 0.001: EXCEEDED
// CHIP:       mirage-run: error: emulator: no target is known for chip sm_33

mirage_kernel.graph @linear(%x: tensor<16x64xf16>, %w: tensor<64x32xf16>) -> tensor<16x32xf16> {
  %y = matmul %x, %w : tensor<16x64xf16>, tensor<64x32xf16>
  return %y : tensor<16x32xf16>
}

mirage_kernel.graph @linear_0(%x: tensor<16x64xf16>, %w: tensor<64x32xf16>) -> tensor<16x32xf16>
    attributes {source = @linear, selected,
                proof = #mirage_kernel.proof<trials = 2, p_bits = 62, seed = 3, log2_bound = -61.5>,
                cost = #mirage_kernel.cost<time_us = 2.5, bytes = 7168.0, flops = 65536.0, kernels = 1>} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [4] launch <kernel = "linear_0_k0", threads = 128, shared_bytes = 2048>
      : (tensor<16x64xf16>, tensor<64x32xf16>) -> tensor<16x32xf16> {
    %zero = constant 0.0 : !mirage_block.tile<16x8xf32>
    %acc = loop 8 (%a = %zero sum) : !mirage_block.tile<16x8xf32> {
      %xt = load %xk {loop = [1]} : tensor<16x64xf16> -> !mirage_block.tile<16x8xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<64x32xf16> -> !mirage_block.tile<8x8xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<16x8xf16>, !mirage_block.tile<8x8xf16>
      yield %p : !mirage_block.tile<16x8xf32>
    }
    store %acc, %yk {grid = [1]} : !mirage_block.tile<16x8xf32>, tensor<16x32xf16>
  }
  return %y : tensor<16x32xf16>
}

gpu.binary @linear_0_bin [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = ".version 8.0\0A.target sm_90a\0A.visible .entry linear_0_k0()\0A">]
