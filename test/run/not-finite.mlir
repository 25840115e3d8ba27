// A program that is NaN and infinite at some of its inputs in float64 too: that is said of the inputs, and fails, unless such
// elements are to be left out. One that is so everywhere fails in any case.
// RUN: not mirage-run --target=cpu %s | FileCheck %s --check-prefix=STRICT
// RUN: not mirage-run --target=cpu --json %s | FileCheck %s --check-prefix=STRICT-JSON
// RUN: mirage-run --target=cpu --skip-non-finite %s | FileCheck %s
// RUN: mirage-run --target=cpu --skip-non-finite --json %s | FileCheck %s --check-prefix=JSON
// RUN: %python %S/inputs/npy.py %t.npy 64 -1
// RUN: not mirage-run --target=cpu --skip-non-finite --input 0=%t.npy %s | FileCheck %s --check-prefix=NONE
// RUN: not mirage-run --target=cpu --skip-non-finite --input 0=%t.npy --json %s | FileCheck %s --check-prefix=NONE-JSON
// RUN: sed 's/add %l, %zt :.*/square %l : !mirage_block.tile<64xf32>/' %s > %t.mlir
// RUN: not mirage-run --target=cpu --skip-non-finite %t.mlir | FileCheck %s --check-prefix=WRONG

// STRICT: reference     output 0 is NaN or infinite in float64 itself at {{[1-9][0-9]*}} of 64 elements: other inputs are wanted (--scale, --input), or --skip-non-finite
// STRICT: output 0      {{.*}}; tolerance 0.001: NOT COMPARED
// STRICT-JSON: "compared": false
// STRICT-JSON: "passed": false
// CHECK: reference     output 0 is NaN or infinite in float64 itself at {{[1-9][0-9]*}} of 64 elements: left out of the comparison (--skip-non-finite)
// CHECK: output 0      {{.*}}, {{[1-9][0-9]*}} of 64 elements compared; tolerance 0.001: ok
// NONE: reference     output 0 is NaN or infinite in float64 itself at 64 of 64 elements
// NONE: output 0      {{.*}}, 0 of 64 elements compared; tolerance 0.001: NOT COMPARED
// NONE-JSON: "elements_compared": 0
// JSON:  "reference_not_finite": {{[1-9]}}
// JSON:  "passed": true
// WRONG: output 0      {{.*}}: EXCEEDED

mirage_kernel.graph @log(%x: tensor<64xf16>) -> tensor<64xf16> {
  %y = log %x : tensor<64xf16>
  return %y : tensor<64xf16>
}

mirage_kernel.graph @log_0(%x: tensor<64xf16>) -> tensor<64xf16> attributes {source = @log, selected} {
  %y = custom (%xk = %x) outs(%yk) grid [1] launch <kernel = "log_0_k0", threads = 32> : (tensor<64xf16>) -> tensor<64xf16> {
    %xt = load %xk : tensor<64xf16> -> !mirage_block.tile<64xf16>
    %zt = constant 0.0 : !mirage_block.tile<64xf16>
    %l = log %xt : !mirage_block.tile<64xf16>
    %r = add %l, %zt : !mirage_block.tile<64xf32>, !mirage_block.tile<64xf16>
    store %r, %yk : !mirage_block.tile<64xf32>, tensor<64xf16>
  }
  return %y : tensor<64xf16>
}

gpu.binary @log_0_bin [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "log_0_k0 2\0A">]
