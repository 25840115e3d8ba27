// 1 + erf(x) and 1 + tanh(x), which GELU is made of: what the functions are near zero does not show in the sum, so that the series which
// makes them right there is left out. Where that is stored, or read by itself, it stands; kernels that store bf16 alone take the processor's
// tanh.
//
// RUN: mirage-mlir-opt %s --mirage-lower -o %t.mlir
// RUN: mirage-run --target=emulator --program=sum --tolerance=1e-6 --emit-ptx=%t.sum.ptx %t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=SUM --input-file %t.sum.ptx
// RUN: mirage-run --target=emulator --program=sum --tolerance=1e-6 --scale=0=0.01 %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=sum --tolerance=1e-6 --scale=0=6 %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=alone --tolerance=1e-6 --scale=0=0.1 --emit-ptx=%t.alone.ptx %t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=ALONE --input-file %t.alone.ptx
// RUN: mirage-run --target=emulator --program=alone --tolerance=1e-6 --scale=0=0.4 %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=alone --tolerance=1e-6 --scale=0=0.001 %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=two --tolerance=1e-6 --scale=0=0.01 --emit-ptx=%t.two.ptx %t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=ALONE --input-file %t.two.ptx
// RUN: mirage-run --target=emulator --program=bytes --emit-ptx=%t.bytes.ptx %t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=FAST --input-file %t.bytes.ptx
// RUN: mirage-run --target=emulator --program=bounded --emit-ptx=%t.bounded.ptx %t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=BOUNDED --input-file %t.bounded.ptx
// RUN: mirage-run --target=emulator --program=any --emit-ptx=%t.any.ptx %t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=ANY --input-file %t.any.ptx
// CHECK: output 0 {{.*}}: ok

// 2 / sqrt(pi), the first number of the series of erf; the second of the polynomial above tanh's line.
// SUM-NOT: 0f3F906EBB
// SUM-NOT: 0f3DFC5B10
mirage_kernel.graph @sum(%x: tensor<32x512xf32>) -> tensor<32x512xf32> {
  %y = custom (%cx = %x) outs(%o) grid [4] : (tensor<32x512xf32>) -> tensor<32x512xf32> {
    %t = load %cx {grid = [0]} : tensor<32x512xf32> -> !mirage_block.tile<8x512xf32>
    %one = constant 1.0 : !mirage_block.tile<1x1xf32>
    %e = erf %t : !mirage_block.tile<8x512xf32>
    %a = add %one, %e : !mirage_block.tile<1x1xf32>, !mirage_block.tile<8x512xf32>
    %h = tanh %t : !mirage_block.tile<8x512xf32>
    %b = add %h, %one : !mirage_block.tile<8x512xf32>, !mirage_block.tile<1x1xf32>
    %p = mul %a, %b : !mirage_block.tile<8x512xf32>, !mirage_block.tile<8x512xf32>
    store %p, %o {grid = [0]} : !mirage_block.tile<8x512xf32>, tensor<32x512xf32>
  }
  return %y : tensor<32x512xf32>
}

// ALONE-DAG: 0f3F906EBB
// ALONE-DAG: 0f3DFC5B10
mirage_kernel.graph @alone(%x: tensor<32x512xf32>) -> tensor<32x512xf32> {
  %y = custom (%cx = %x) outs(%o) grid [4] : (tensor<32x512xf32>) -> tensor<32x512xf32> {
    %t = load %cx {grid = [0]} : tensor<32x512xf32> -> !mirage_block.tile<8x512xf32>
    %e = erf %t : !mirage_block.tile<8x512xf32>
    %h = tanh %t : !mirage_block.tile<8x512xf32>
    %p = add %e, %h : !mirage_block.tile<8x512xf32>, !mirage_block.tile<8x512xf32>
    store %p, %o {grid = [0]} : !mirage_block.tile<8x512xf32>, tensor<32x512xf32>
  }
  return %y : tensor<32x512xf32>
}

// Another number than one, which might be small.
mirage_kernel.graph @two(%x: tensor<32x512xf32>) -> tensor<32x512xf32> {
  %y = custom (%cx = %x) outs(%o) grid [4] : (tensor<32x512xf32>) -> tensor<32x512xf32> {
    %t = load %cx {grid = [0]} : tensor<32x512xf32> -> !mirage_block.tile<8x512xf32>
    %c = constant 0.001 : !mirage_block.tile<1x1xf32>
    %e = erf %t : !mirage_block.tile<8x512xf32>
    %a = add %c, %e : !mirage_block.tile<1x1xf32>, !mirage_block.tile<8x512xf32>
    %h = tanh %t : !mirage_block.tile<8x512xf32>
    %b = add %h, %c : !mirage_block.tile<8x512xf32>, !mirage_block.tile<1x1xf32>
    %p = mul %a, %b : !mirage_block.tile<8x512xf32>, !mirage_block.tile<8x512xf32>
    store %p, %o {grid = [0]} : !mirage_block.tile<8x512xf32>, tensor<32x512xf32>
  }
  return %y : tensor<32x512xf32>
}

// FAST: tanh.approx.f32
mirage_kernel.graph @bytes(%x: tensor<32x512xbf16>) -> tensor<32x512xbf16> {
  %y = custom (%cx = %x) outs(%o) grid [4] : (tensor<32x512xbf16>) -> tensor<32x512xbf16> {
    %t = load %cx {grid = [0]} : tensor<32x512xbf16> -> !mirage_block.tile<8x512xbf16>
    %one = constant 1.0 : !mirage_block.tile<1x1xf32>
    %h = tanh %t : !mirage_block.tile<8x512xbf16> -> !mirage_block.tile<8x512xf32>
    %b = add %h, %one : !mirage_block.tile<8x512xf32>, !mirage_block.tile<1x1xf32>
    store %b, %o {grid = [0]} : !mirage_block.tile<8x512xf32>, tensor<32x512xbf16>
  }
  return %y : tensor<32x512xbf16>
}

// What a mask leaves of nothing is bottom, from which a difference takes nothing; no tanh is that.
// BOUNDED-NOT: 0fFF800000
// ANY: 0fFF800000
mirage_kernel.graph @bounded(%x: tensor<32x512xf32>, %r: tensor<32x512xf32>) -> tensor<32x512xf32> {
  %y = custom (%cx = %x, %cr = %r) outs(%o) grid [4] : (tensor<32x512xf32>, tensor<32x512xf32>) -> tensor<32x512xf32> {
    %t = load %cx {grid = [0]} : tensor<32x512xf32> -> !mirage_block.tile<8x512xf32>
    %s = load %cr {grid = [0]} : tensor<32x512xf32> -> !mirage_block.tile<8x512xf32>
    %h = tanh %t : !mirage_block.tile<8x512xf32>
    %d = sub %h, %s : !mirage_block.tile<8x512xf32>, !mirage_block.tile<8x512xf32>
    store %d, %o {grid = [0]} : !mirage_block.tile<8x512xf32>, tensor<32x512xf32>
  }
  return %y : tensor<32x512xf32>
}
mirage_kernel.graph @any(%x: tensor<32x512xf32>, %r: tensor<32x512xf32>) -> tensor<32x512xf32> {
  %y = custom (%cx = %x, %cr = %r) outs(%o) grid [4] : (tensor<32x512xf32>, tensor<32x512xf32>) -> tensor<32x512xf32> {
    %t = load %cx {grid = [0]} : tensor<32x512xf32> -> !mirage_block.tile<8x512xf32>
    %s = load %cr {grid = [0]} : tensor<32x512xf32> -> !mirage_block.tile<8x512xf32>
    %d = sub %t, %s : !mirage_block.tile<8x512xf32>, !mirage_block.tile<8x512xf32>
    store %d, %o {grid = [0]} : !mirage_block.tile<8x512xf32>, tensor<32x512xf32>
  }
  return %y : tensor<32x512xf32>
}
