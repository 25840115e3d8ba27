// mirage-run's way through the driver, on the fake one (test/unit/fake_cuda.c): its kernels take 10 us and compute nothing, so
// that the outputs keep the NaN they were filled with. That is an error, and neither a crash nor a pass.
// RUN: not bash -c 'MIRAGE_CUDA_LIBRARY=$(dirname %plugin)/libmirage_fake_cuda.so mirage-run --target=gpu %s' | FileCheck %s
// RUN: not bash -c 'MIRAGE_CUDA_LIBRARY=$(dirname %plugin)/libmirage_fake_cuda.so mirage-run --benchmark %s' | FileCheck %s --check-prefix=COLD
// RUN: not bash -c 'MIRAGE_CUDA_LIBRARY=$(dirname %plugin)/libmirage_fake_cuda.so mirage-run --json %s' > %t.json
// RUN: %python -c "import json; r = json.load(open(r'%t.json')); assert r['backend'] == 'gpu' and r['device']['num_sms'] == 132; assert r['passed'] is False and r['result']['outputs'][0]['relative_error'] is None; assert r['result']['time']['cold_us'] is None and abs(r['result']['time']['warm_us'] - 10) < 0.01"
// RUN: not bash -c 'MIRAGE_CUDA_LIBRARY=$(dirname %plugin)/libmirage_fake_cuda.so mirage-run --benchmark --csv %s' | FileCheck %s --check-prefix=CSV
// RUN: not bash -c 'MIRAGE_CUDA_LIBRARY=$(dirname %plugin)/libmirage_fake_cuda.so mirage-run --repeat-check=50 %s' | FileCheck %s --check-prefix=SAME
// RUN: not bash -c 'FAKE_CUDA_ZERO=7 MIRAGE_CUDA_LIBRARY=$(dirname %plugin)/libmirage_fake_cuda.so mirage-run --repeat-check=50 %s' | FileCheck %s --check-prefix=DIFFERENT
// RUN: bash -c 'FAKE_CUDA_HANGING=twice_0_k0 MIRAGE_CUDA_LIBRARY=$(dirname %plugin)/libmirage_fake_cuda.so mirage-run --timeout=0.05 %s; [ $? = 3 ]' 2>&1 | FileCheck %s --check-prefix=HANGS
// RUN: bash -c 'FAKE_CUDA_FAILING=twice_0_k0 MIRAGE_CUDA_LIBRARY=$(dirname %plugin)/libmirage_fake_cuda.so mirage-run %s; [ $? = 3 ]' 2>&1 | FileCheck %s --check-prefix=FAILS
// RUN: printf '# of some GPU\nbytes,us\n16,1.5\n48,2.5\n' > %t.csv
// RUN: not bash -c 'MIRAGE_CUDA_LIBRARY=$(dirname %plugin)/libmirage_fake_cuda.so mirage-run --benchmark --limits=%t.csv %s' | FileCheck %s --check-prefix=LIMITS
// RUN: printf '16,1.5\n16,2.5\n' > %t.csv
// RUN: not bash -c 'MIRAGE_CUDA_LIBRARY=$(dirname %plugin)/libmirage_fake_cuda.so mirage-run --benchmark --limits=%t.csv %s' 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: printf '16,fast\n' > %t.csv
// RUN: not bash -c 'MIRAGE_CUDA_LIBRARY=$(dirname %plugin)/libmirage_fake_cuda.so mirage-run --benchmark --limits=%t.csv %s' 2>&1 | FileCheck %s --check-prefix=WORDS
// RUN: not bash -c 'MIRAGE_CUDA_LIBRARY=$(dirname %plugin)/libmirage_fake_cuda.so mirage-run --benchmark --limits=%t.absent.csv %s' 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: bash -c 'MIRAGE_CUDA_LIBRARY=$(dirname %plugin)/libmirage_fake_cuda.so mirage-run --device 3 %s' 2>&1 | FileCheck %s --check-prefix=EMULATED
// RUN: not bash -c 'MIRAGE_CUDA_LIBRARY=$(dirname %plugin)/libmirage_fake_cuda.so mirage-run --device 3 --target gpu %s' 2>&1 | FileCheck %s --check-prefix=DEVICE

// CHECK: ran on        Fake GPU 0 (compute 9.0, driver 13.0)
// CHECK: output 0      tensor<8xf16>: error inf {{.*}}: EXCEEDED
// CHECK: time          10.00 us warm (spread 0.0 %)
// COLD:  time          10.00 us cold (spread 0.0 %), 10.00 us warm (spread 0.0 %), median of
// COLD:  benchmark          cold us     spread   warm us     spread  cold / limit
// COLD-NEXT: twice_0              10.00      0.0 %     10.00      0.0 %        9.52
// COLD-NEXT: own lowering         10.00      0.0 %     10.00      0.0 %        9.52
// COLD-NEXT: limit: bytes          1.05 (reading 3.2e-05 MB; estimated from the target's row)
// COLD-NEXT: launch        {{[0-9.]+}} us of CPU a call, {{[0-9.]+}} us of them in the driver's 1 bare launch: {{-?[0-9.]+}} us ours
// CSV:      program,graph,kernels,backend,device,passed,error,cold_us,cold_spread,warm_us,warm_spread,own_cold_us,
// CSV-NEXT: twice,twice_0,1,gpu,Fake GPU 0,0,,10.000,0.0000,10.000,0.0000,10.000,10.000,,1.050,32,0,
// SAME:  repeat        50 runs gave the same bits
// DIFFERENT: repeat        run 7 differs from the first, first at element 0 of output 0: FAILED
// HANGS: mirage-run: error: device: kernel twice_0_k0 did not finish within 0.05 s on Fake GPU 0
// FAILS: mirage-run: error: device: kernel twice_0_k0 failed: CUDA_ERROR_ILLEGAL_ADDRESS (700): a kernel read or wrote outside its tensors
// LIMITS: limit: bytes          2.00 (reading 3.2e-05 MB; {{.*}}.csv)
// ORDER: mirage-run: error: {{.*}}.csv:2: sizes must increase: 16 after 16
// WORDS: mirage-run: error: {{.*}}.csv:1: 'bytes,us' is wanted, two numbers above 0
// ABSENT: mirage-run: error: {{.*}}absent.csv: No such file or directory
// EMULATED: ran on        emulator; no GPU: its generated kernels, thread by thread on the CPU (device: no device 3: the driver shows 1
// DEVICE: mirage-run: error: device: no device 3: the driver shows 1 (numbered from 0)

mirage_kernel.graph @twice(%x: tensor<8xf16>) -> tensor<8xf16> {
  %y = add %x, %x : tensor<8xf16>, tensor<8xf16>
  return %y : tensor<8xf16>
}

mirage_kernel.graph @twice_0(%x: tensor<8xf16>) -> tensor<8xf16> attributes {source = @twice, selected} {
  %y = custom (%xk = %x) outs(%yk) grid [1] launch <kernel = "twice_0_k0", threads = 32> : (tensor<8xf16>) -> tensor<8xf16> {
    %xt = load %xk : tensor<8xf16> -> !mirage_block.tile<8xf16>
    %r = add %xt, %xt : !mirage_block.tile<8xf16>, !mirage_block.tile<8xf16>
    store %r, %yk : !mirage_block.tile<8xf32>, tensor<8xf16>
  }
  return %y : tensor<8xf16>
}

gpu.binary @twice_0_bin [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "twice_0_k0 2\0A">]
