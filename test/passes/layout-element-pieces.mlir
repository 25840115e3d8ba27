// Element-wise kernels have a thread for each piece of a row; pieces are 16 bytes wide, and narrower, down to 4, where all blocks
// together have too few of them to keep a GPU busy (lib/layout/elements.c).
//
// RUN: mirage-mlir-opt %s --mirage-layout=target=h100 -o %t.mlir 2>/dev/null
// RUN: FileCheck %s --input-file %t.mlir
// RUN: mirage-mlir-opt %s --mirage-lower=target=h100 -o %t.lowered.mlir 2>/dev/null
// RUN: mirage-run --target=emulator --program=few --emit-ptx=%t.few.ptx %t.lowered.mlir | FileCheck %s --check-prefix=RIGHT
// RUN: FileCheck %s --check-prefix=FEW --input-file %t.few.ptx
// RUN: mirage-run --target=emulator --program=uneven --emit-ptx=%t.uneven.ptx %t.lowered.mlir | FileCheck %s --check-prefix=RIGHT
// RUN: FileCheck %s --check-prefix=UNEVEN --input-file %t.uneven.ptx
// RUN: mirage-run --target=emulator --program=many --emit-ptx=%t.many.ptx %t.lowered.mlir | FileCheck %s --check-prefix=RIGHT
// RUN: FileCheck %s --check-prefix=MANY --input-file %t.many.ptx
// RUN: mirage-run --target=emulator --program=wide %t.lowered.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: output 0 {{.*}}: ok

// 500 pieces of two columns.
// CHECK-LABEL: graph @few_0(
// CHECK: warps = 16
// FEW: .maxntid 512
// FEW: ld.global.b32
// FEW-NOT: ld.global{{.*}}v4
mirage_kernel.graph @few(%x: tensor<256x1000xf16>) -> tensor<256x1000xf16> {
  %1 = tanh %x : tensor<256x1000xf16>
  %2 = mul %1, %x : tensor<256x1000xf16>, tensor<256x1000xf16>
  return %2 : tensor<256x1000xf16>
}
mirage_kernel.graph @few_0(%x: tensor<256x1000xf16>) -> tensor<256x1000xf16> attributes {selected, source = @few} {
  %y = custom (%xk = %x) outs(%yk) grid [256] : (tensor<256x1000xf16>) -> tensor<256x1000xf16> {
    %1 = load %xk {grid = [0]} : tensor<256x1000xf16> -> !mirage_block.tile<1x1000xf16>
    %2 = tanh %1 : !mirage_block.tile<1x1000xf16> -> !mirage_block.tile<1x1000xf32>
    %3 = mul %2, %1 : !mirage_block.tile<1x1000xf32>, !mirage_block.tile<1x1000xf16>
    store %3, %yk {grid = [0]} : !mirage_block.tile<1x1000xf32>, tensor<256x1000xf16>
  }
  return %y : tensor<256x1000xf16>
}

// Single columns: rows begin at any multiple of 2 bytes.
// CHECK-LABEL: graph @uneven_0(
// CHECK: warps = 16
// UNEVEN: ld.global.u16
// UNEVEN-NOT: ld.global{{.*}}v2
mirage_kernel.graph @uneven(%x: tensor<256x999xf16>) -> tensor<256x999xf16> {
  %1 = tanh %x : tensor<256x999xf16>
  %2 = mul %1, %x : tensor<256x999xf16>, tensor<256x999xf16>
  return %2 : tensor<256x999xf16>
}
mirage_kernel.graph @uneven_0(%x: tensor<256x999xf16>) -> tensor<256x999xf16> attributes {selected, source = @uneven} {
  %y = custom (%xk = %x) outs(%yk) grid [256] : (tensor<256x999xf16>) -> tensor<256x999xf16> {
    %1 = load %xk {grid = [0]} : tensor<256x999xf16> -> !mirage_block.tile<1x999xf16>
    %2 = tanh %1 : !mirage_block.tile<1x999xf16> -> !mirage_block.tile<1x999xf32>
    %3 = mul %2, %1 : !mirage_block.tile<1x999xf32>, !mirage_block.tile<1x999xf16>
    store %3, %yk {grid = [0]} : !mirage_block.tile<1x999xf32>, tensor<256x999xf16>
  }
  return %y : tensor<256x999xf16>
}

// 262,144 pieces of eight columns.
// CHECK-LABEL: graph @many_0(
// CHECK: warps = 4
// MANY: .maxntid 128
// MANY: ld.global{{.*}}v4
mirage_kernel.graph @many(%x: tensor<1024x2048xf16>) -> tensor<1024x2048xf16> {
  %1 = tanh %x : tensor<1024x2048xf16>
  %2 = mul %1, %x : tensor<1024x2048xf16>, tensor<1024x2048xf16>
  return %2 : tensor<1024x2048xf16>
}
mirage_kernel.graph @many_0(%x: tensor<1024x2048xf16>) -> tensor<1024x2048xf16> attributes {selected, source = @many} {
  %y = custom (%xk = %x) outs(%yk) grid [1024, 2] : (tensor<1024x2048xf16>) -> tensor<1024x2048xf16> {
    %1 = load %xk {grid = [0, 1]} : tensor<1024x2048xf16> -> !mirage_block.tile<1x1024xf16>
    %2 = tanh %1 : !mirage_block.tile<1x1024xf16> -> !mirage_block.tile<1x1024xf32>
    %3 = mul %2, %1 : !mirage_block.tile<1x1024xf32>, !mirage_block.tile<1x1024xf16>
    store %3, %yk {grid = [0, 1]} : !mirage_block.tile<1x1024xf32>, tensor<1024x2048xf16>
  }
  return %y : tensor<1024x2048xf16>
}

// 256 pieces of four columns, not 128 of eight: 16 bytes of f32, beside the neighbour's.
// CHECK-LABEL: graph @wide_0(
// CHECK: warps = 8
mirage_kernel.graph @wide(%x: tensor<600x1024xf32>) -> tensor<600x1024xf32> {
  %1 = square %x : tensor<600x1024xf32>
  return %1 : tensor<600x1024xf32>
}
mirage_kernel.graph @wide_0(%x: tensor<600x1024xf32>) -> tensor<600x1024xf32> attributes {selected, source = @wide} {
  %y = custom (%xk = %x) outs(%yk) grid [600] : (tensor<600x1024xf32>) -> tensor<600x1024xf32> {
    %1 = load %xk {grid = [0]} : tensor<600x1024xf32> -> !mirage_block.tile<1x1024xf32>
    %2 = mul %1, %1 : !mirage_block.tile<1x1024xf32>, !mirage_block.tile<1x1024xf32>
    store %2, %yk {grid = [0]} : !mirage_block.tile<1x1024xf32>, tensor<600x1024xf32>
  }
  return %y : tensor<600x1024xf32>
}
