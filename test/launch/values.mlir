// Results that no kernel writes: one that is another's reshape, one that is an input. With buffers from the compiler's allocations,
// from copies, and from the runtime library.
// REQUIRES: plugin
// RUN: mirage-mlir-opt --mirage-lower %s 2>/dev/null -o %t.compiled
// RUN: %launch-mlir-opt %t.compiled --pass-pipeline='builtin.module(%bufferize,convert-mirage-to-gpu{emulation},%finish)' | env MIRAGE_EMULATOR=1 %run-main | FileCheck %s
// RUN: %launch-mlir-opt %t.compiled --pass-pipeline='builtin.module(%bufferize,convert-mirage-to-gpu{emulation memory=host},%finish)' | env MIRAGE_EMULATOR=1 %run-main | FileCheck %s
// RUN: %launch-mlir-opt %t.compiled --pass-pipeline='builtin.module(%bufferize,convert-mirage-to-gpu{emulation async},finalize-memref-to-llvm{use-generic-functions},%finish)' -o %t.generic
// RUN: FileCheck %s --check-prefix=GENERIC < %t.generic
// RUN: env MIRAGE_EMULATOR=1 %run-main %t.generic | FileCheck %s
// RUN: mirage-mlir-opt --convert-mirage-to-gpu %t.compiled | FileCheck %s --check-prefix=IR

// GENERIC: llvm.call @_mlir_memref_to_llvm_alloc

// IR: gpu.launch_func
// IR: memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [32], strides: [1]
// IR: gpu.memcpy async
// IR: gpu.memcpy async

// CHECK: sizes = [8, 4]
// CHECK-COUNT-8: 2.71828,   2.71828,   2.71828,   2.71828
// CHECK: sizes = [4, 8]
// CHECK-COUNT-4: 1,   1,   1,   1,   1,   1,   1,   1
mirage_kernel.graph @p(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8x4xf32>, tensor<4x8xf32>) {
  %y = exp %x : tensor<4x8xf32>
  %z = reshape %y : tensor<4x8xf32> -> tensor<8x4xf32>
  return %y, %z, %x : tensor<4x8xf32>, tensor<8x4xf32>, tensor<4x8xf32>
}
func.func private @printMemrefF32(%m: memref<*xf32>) attributes {llvm.emit_c_interface}
func.func @main() {
  %x = arith.constant dense<1.0> : tensor<4x8xf32>
  %y, %z, %w = mirage_kernel.call @p(%x) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8x4xf32>, tensor<4x8xf32>)
  %zu = tensor.cast %z : tensor<8x4xf32> to tensor<*xf32>
  %zm = bufferization.to_buffer %zu read_only : tensor<*xf32> to memref<*xf32>
  call @printMemrefF32(%zm) : (memref<*xf32>) -> ()
  %wu = tensor.cast %w : tensor<4x8xf32> to tensor<*xf32>
  %wm = bufferization.to_buffer %wu read_only : tensor<*xf32> to memref<*xf32>
  call @printMemrefF32(%wm) : (memref<*xf32>) -> ()
  return
}
