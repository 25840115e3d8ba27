// A graph in a module that holds other things too: functions, globals, an operation of a dialect that nobody knows. They are
// passed over. The program says itself how large its random inputs are.
// RUN: mirage-run --target=cpu %s | FileCheck %s
// RUN: mirage-run --target=cpu --scale 0=2 %s | FileCheck %s --check-prefix=OPTION
// RUN: sed 's/0.25>/0.25, 1.0>/' %s > %t.mlir
// RUN: not mirage-run --target=cpu %t.mlir 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: sed 's/0.25>/-0.25>/' %s > %t.mlir
// RUN: not mirage-run --target=cpu %t.mlir 2>&1 | FileCheck %s --check-prefix=SIGN

// CHECK:  program       @twice
// CHECK:  input 0       tensor<8xf16>: normal(0, 1) x 0.25, seed 1
// CHECK:  output 0      {{.*}}: ok
// OPTION: input 0       tensor<8xf16>: normal(0, 1) x 2, seed 1
// COUNT:  mirage-run: error: input_scales: array<f64: ...> with one factor for each of the 1 inputs is wanted
// SIGN:   mirage-run: error: input_scales: factor 0 is -0.25, not above 0

func.func @main(%a: tensor<8xf16>) -> tensor<8xf16> {
  %c = arith.constant 1 : index
  %r = "other.thing"(%a, %c) : (tensor<8xf16>, index) -> tensor<8xf16>
  return %r : tensor<8xf16>
}
memref.global "private" @table : memref<4xf32>
llvm.func @puts(!llvm.ptr)

mirage_kernel.graph @twice(%x: tensor<8xf16>) -> tensor<8xf16> attributes {mirage_kernel.input_scales = array<f64: 0.25>} {
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
