// A compiled module, the chosen µGraph evaluated on the CPU, which is said, and compared with float64.
// RUN: mirage-run --target=cpu %s | FileCheck %s
// RUN: mirage-run --target=cpu %s --emit-ptx %t.ptx --print-graph | FileCheck %s --check-prefix=GRAPH
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.ptx
// RUN: mirage-run --target=cpu --json --baseline --scale 0=0.5,1=2 --seed 7 %s > %t.json
// RUN: %python -c "import json; r = json.load(open(r'%t.json')); print(r['program'], r['graph'], r['backend'], r['no_gpu'], r['seed'])" | FileCheck %s --check-prefix=JSON
// RUN: %python -c "import json; r = json.load(open(r'%t.json')); assert r['passed'] is True and r['result']['passed'] is True and r['own_lowering']['passed'] is True; assert [i['scale'] for i in r['inputs']] == [0.5, 2.0]; assert 0 < r['result']['outputs'][0]['relative_error'] < 1e-3; assert r['proof']['log2_bound'] == -61.5 and r['proof']['pieces'] == 3 and r['proof']['free_exp'] is True and r['exhausted_block_ops'] == 11 and r['predicted']['time_us'] == 2.5 and r['device'] is None and r['chip'] == 'sm_90a'"
// RUN: sed 's/pieces = 3/shrunken = true, axes = 1, points = 3/' %s > %t.small.mlir
// RUN: mirage-run --target=cpu %t.small.mlir | FileCheck %s --check-prefix=SMALL
// RUN: mirage-run --target=cpu --json %t.small.mlir | %python -c "import json, sys; r = json.load(sys.stdin)['proof']; assert r['shrunken'] is True and r['axes'] == 1 and r['points'] == 3"
// SMALL: 2 trials, {{.*}}, by transfer from a smaller instance: 1 axis, 3 points

// CHECK:      program       @linear of {{.*}}cpu.mlir
// CHECK-NEXT: µGraph        @linear_0: 1 kernel
// CHECK-NEXT:   kernel 0    linear_0_k0: grid 4x1x1, 128 threads, 2048 bytes of shared memory
// CHECK-NEXT: proof         equivalent to the program; a wrong µGraph would pass with probability <= 2^-61.5
// CHECK-NEXT:               2 trials, seed 3, in Z_p with a fresh random prime p of 62 bits a trial, at full size
// CHECK-NEXT:               in 3 pieces, one after the other
// CHECK-NEXT:               with free exponentials
// CHECK-NEXT: search        exhausted: every block graph of up to 11 operators was met
// CHECK-NEXT: predicted     2.50 us
// CHECK-NEXT: own lowering  {{[0-9.]+}} us
// CHECK-NEXT: ptx           {{[0-9]+}} bytes for sm_90a
// CHECK-NEXT: input 0       tensor<16x64xf16>: normal(0, 1) x 1, seed 1
// CHECK-NEXT: input 1       tensor<64x32xf16>: normal(0, 1) x 0.125, seed 1
// CHECK-NEXT: ran on        CPU; no GPU: evaluated the chosen µGraph on the CPU (--target=cpu)
// CHECK-NEXT: output 0      tensor<16x32xf16>: error {{[0-9.e-]+}} (Frobenius-relative, float64 reference), {{.*}}; tolerance 0.001: ok
// CHECK-NEXT: time          {{[0-9]+}} ms to evaluate on the CPU

// GRAPH:      mirage_kernel.graph @linear_0
// GRAPH:      program       @linear of
// GRAPH:      (--target=cpu)
// PTX:        .visible .entry linear_0_k0

// JSON:       linear linear_0 cpu --target=cpu 7

mirage_kernel.graph @linear(%x: tensor<16x64xf16>, %w: tensor<64x32xf16>) -> tensor<16x32xf16>
    attributes {mirage_kernel.search = {exhausted, max_block_ops = 11}} {
  %y = matmul %x, %w : tensor<16x64xf16>, tensor<64x32xf16>
  return %y : tensor<16x32xf16>
}

mirage_kernel.graph @linear_0(%x: tensor<16x64xf16>, %w: tensor<64x32xf16>) -> tensor<16x32xf16>
    attributes {source = @linear, selected,
                proof = #mirage_kernel.proof<trials = 2, p_bits = 62, seed = 3, log2_bound = -61.5, free_exp = true, pieces = 3>,
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
