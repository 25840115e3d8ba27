// mirage-run's way through the driver, on the fake one (test/unit/fake_cuda.c): its kernels take 10 us and compute nothing, so
// that the outputs keep the NaN they were filled with. That is an error, and neither a crash nor a pass.
// RUN: not bash -c 'MIRAGE_CUDA_LIBRARY=$(dirname %plugin)/libmirage_fake_cuda.so mirage-run --target=gpu %s' | FileCheck %s
// RUN: not bash -c 'MIRAGE_CUDA_LIBRARY=$(dirname %plugin)/libmirage_fake_cuda.so mirage-run --benchmark %s' | FileCheck %s --check-prefix=COLD
// RUN: not bash -c 'MIRAGE_CUDA_LIBRARY=$(dirname %plugin)/libmirage_fake_cuda.so mirage-run --json %s' > %t.json
// RUN: %python -c "import json; r = json.load(open(r'%t.json')); assert r['backend'] == 'gpu' and r['device']['num_sms'] == 132; assert r['passed'] is False and r['result']['outputs'][0]['relative_error'] is None; assert r['result']['time']['cold_us'] is None and abs(r['result']['time']['warm_us'] - 10) < 0.01"
// RUN: bash -c 'MIRAGE_CUDA_LIBRARY=$(dirname %plugin)/libmirage_fake_cuda.so mirage-run --device 3 %s' 2>&1 | FileCheck %s --check-prefix=EMULATED
// RUN: not bash -c 'MIRAGE_CUDA_LIBRARY=$(dirname %plugin)/libmirage_fake_cuda.so mirage-run --device 3 --target gpu %s' 2>&1 | FileCheck %s --check-prefix=DEVICE

// CHECK: ran on        Fake GPU 0 (compute 9.0, driver 13.0)
// CHECK: output 0      tensor<8xf16>: error inf {{.*}}: EXCEEDED
// CHECK: time          10.00 us warm (spread 0.0 %)
// COLD:  time          10.00 us cold (spread 0.0 %), 10.00 us warm (spread 0.0 %), median of
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
