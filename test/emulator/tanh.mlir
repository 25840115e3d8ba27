// tanh, by polynomials of which one divides the other, and by an exponential where a tile's cells leave no registers for that: small, middle
// and large arguments, and that no result reaches 1.
//
// RUN: mirage-mlir-opt %s --mirage-lower -o %t.mlir 2>/dev/null
// RUN: mirage-run --target=emulator --program=rows --tolerance=1.5e-6 --scale=0=0.001 --emit-ptx=%t.rows.ptx %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=rows --tolerance=1.5e-6 --scale=0=0.3 %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=rows --tolerance=1.5e-6 --scale=0=2 %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=rows --tolerance=1.5e-6 --scale=0=5 %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=rows --tolerance=3e-6 --scale=0=1000 %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=below --tolerance=0.1 --scale=0=10 %t.mlir | FileCheck %s
// RUN: mirage-run --target=emulator --program=cells --emit-ptx=%t.cells.ptx %t.mlir | FileCheck %s
// RUN: FileCheck %s --check-prefix=ROWS --input-file %t.rows.ptx
// RUN: FileCheck %s --check-prefix=CELLS --input-file %t.cells.ptx
// CHECK: output 0 {{.*}}: ok

// ROWS-NOT: ex2
// ROWS: 0f3DFC5B10
// ROWS-NOT: ex2
mirage_kernel.graph @rows(%x: tensor<32x512xf32>) -> tensor<32x512xf32> {
  %y = custom (%cx = %x) outs(%o) grid [4] : (tensor<32x512xf32>) -> tensor<32x512xf32> {
    %t = load %cx {grid = [0]} : tensor<32x512xf32> -> !mirage_block.tile<8x512xf32>
    %h = tanh %t : !mirage_block.tile<8x512xf32>
    store %h, %o {grid = [0]} : !mirage_block.tile<8x512xf32>, tensor<32x512xf32>
  }
  return %y : tensor<32x512xf32>
}

// The root of 1 - tanh^2 is a number.
mirage_kernel.graph @below(%x: tensor<32x512xf32>) -> tensor<32x512xf32> {
  %y = custom (%cx = %x) outs(%o) grid [4] : (tensor<32x512xf32>) -> tensor<32x512xf32> {
    %t = load %cx {grid = [0]} : tensor<32x512xf32> -> !mirage_block.tile<8x512xf32>
    %one = constant 1.0 : !mirage_block.tile<1x1xf32>
    %h = tanh %t : !mirage_block.tile<8x512xf32>
    %s = mul %h, %h : !mirage_block.tile<8x512xf32>, !mirage_block.tile<8x512xf32>
    %d = sub %one, %s : !mirage_block.tile<1x1xf32>, !mirage_block.tile<8x512xf32>
    %r = sqrt %d : !mirage_block.tile<8x512xf32>
    store %r, %o {grid = [0]} : !mirage_block.tile<8x512xf32>, tensor<32x512xf32>
  }
  return %y : tensor<32x512xf32>
}

// CELLS-NOT: 0f3DFC5B10
// CELLS: 0fBEAAAAAB
// CELLS: ex2
mirage_kernel.graph @cells(%x: tensor<64x128xf16>, %w: tensor<128x64xf16>) -> tensor<64x64xf16> {
  %y = custom (%a = %x, %b = %w) outs(%o) grid [1] : (tensor<64x128xf16>, tensor<128x64xf16>) -> tensor<64x64xf16> {
    %zero = constant 0.0 : !mirage_block.tile<64x64xf32>
    %s = loop 2 (%sum = %zero sum) : !mirage_block.tile<64x64xf32> {
      %ta = load %a {grid = [-1], loop = [1]} : tensor<64x128xf16> -> !mirage_block.tile<64x64xf16>
      %tb = load %b {grid = [-1], loop = [0]} : tensor<128x64xf16> -> !mirage_block.tile<64x64xf16>
      %p = matmul %ta, %tb : !mirage_block.tile<64x64xf16>, !mirage_block.tile<64x64xf16>
      yield %p : !mirage_block.tile<64x64xf32>
    }
    %h = tanh %s : !mirage_block.tile<64x64xf32>
    store %h, %o {grid = [-1]} : !mirage_block.tile<64x64xf32>, tensor<64x64xf16>
  }
  return %y : tensor<64x64xf16>
}
