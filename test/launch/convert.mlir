// What convert-mirage-to-gpu writes. The program comes from hand: two kernels, of which the second takes what the first gives.
// RUN: mirage-mlir-opt --mirage-lower %s 2>/dev/null -o %t.compiled
// RUN: mirage-mlir-opt --convert-mirage-to-gpu %t.compiled | FileCheck %s
// RUN: mirage-mlir-opt --convert-mirage-to-gpu=memory=host %t.compiled | FileCheck %s --check-prefix=HOST
// RUN: mirage-mlir-opt --convert-mirage-to-gpu=async %t.compiled | FileCheck %s --check-prefix=ASYNC
// RUN: mirage-mlir-opt --convert-mirage-to-gpu=keep-graphs %t.compiled | FileCheck %s --check-prefix=KEEP
// Stock tools read it, without our dialects.
// RUN: mirage-mlir-opt --convert-mirage-to-gpu %t.compiled | %stock-mlir-opt --verify-each | FileCheck %s
// The image is there when it is asked for, and what is converted twice is as what is converted once.
// RUN: mirage-mlir-opt --convert-mirage-to-gpu=emulation %t.compiled | FileCheck %s --check-prefix=IMAGE
// RUN: mirage-mlir-opt --convert-mirage-to-gpu %t.compiled | FileCheck %s --check-prefix=NO-IMAGE

// CHECK: module attributes {gpu.container_module}
// CHECK-NOT: mirage_kernel
// CHECK-LABEL: func.func @tensors
// CHECK: %[[X:.*]] = bufferization.to_buffer %arg0 read_only : tensor<16x64xf16> to memref<16x64xf16>
// CHECK: %[[Y:.*]] = memref.alloc() {alignment = 256 : i64} : memref<16x32xf16>
// CHECK: %[[STACK:.*]] = llvm.intr.stacksave
// CHECK: %[[T0:.*]] = gpu.wait async
// CHECK: %[[WS:.*]], %[[T1:.*]] = gpu.alloc async [%[[T0]]] () : memref<1024xi8>
// CHECK: %[[T2:.*]] = gpu.launch_func async [%[[T1]]] @p_own_bin::@p_own_k0
// CHECK-SAME: args(%{{.*}} : !llvm.ptr, %{{.*}} : !llvm.ptr, %{{.*}} : !llvm.ptr)
// CHECK: %[[T3:.*]] = gpu.launch_func async [%[[T2]]] @p_own_bin::@p_own_k1
// CHECK: %[[T4:.*]] = gpu.dealloc async [%[[T3]]] %[[WS]]
// CHECK: llvm.intr.stackrestore %[[STACK]]
// CHECK: bufferization.to_tensor %[[Y]] restrict writable
// CHECK: gpu.wait [%[[T4]]]
//
// CHECK-LABEL: func.func @memrefs
// CHECK-NOT: memref.alloc
// CHECK: memref.extract_strided_metadata %arg1
// CHECK: gpu.launch_func
// CHECK: gpu.launch_func
// CHECK: return
//
// HOST-LABEL: func.func @tensors
// HOST: %[[X:.*]] = bufferization.to_buffer %arg0
// HOST: gpu.wait async
// HOST: %[[DX:.*]], %{{.*}} = gpu.alloc async {{.*}} : memref<16x64xf16>
// HOST: gpu.memcpy async {{.*}} %[[DX]], %[[X]]
// HOST: gpu.launch_func
// HOST: %[[T:.*]] = gpu.launch_func
// HOST: gpu.memcpy async {{.*}} : memref<16x32xf16>, memref<16x32xf16>
// HOST: gpu.dealloc async {{.*}} %[[DX]]
// HOST: gpu.wait [
// HOST-NOT: gpu.memcpy
// HOST: return
// A layout goes through a memref without one, which is freed.
// HOST-LABEL: func.func @memrefs
// HOST: %[[PLAIN:.*]] = memref.alloc() {{.*}} : memref<64x32xf16>
// HOST: memref.copy %arg1, %[[PLAIN]]
// HOST: gpu.wait [
// HOST: memref.dealloc %[[PLAIN]]
//
// Calls that follow each other are one stream; an operation that might look at results, or write over operands, ends it.
// ASYNC-LABEL: func.func @two
// ASYNC: gpu.wait async
// ASYNC: gpu.launch_func
// ASYNC: gpu.launch_func
// ASYNC-NOT: gpu.wait
// ASYNC: gpu.launch_func
// ASYNC: gpu.launch_func
// ASYNC: gpu.wait [
// ASYNC-LABEL: func.func @interrupted
// ASYNC: gpu.wait async
// ASYNC: gpu.wait [
// ASYNC: call @look
// ASYNC: gpu.wait async
// ASYNC: gpu.wait [
//
// KEEP: mirage_kernel.graph @p(
// KEEP: mirage_kernel.graph @p_own(
//
// IMAGE: // mirage: {{[0-9]+}} bytes of emulation follow\0A\00{\22mirage_emulation\22:1
// NO-IMAGE-NOT: emulation follow
mirage_kernel.graph @p(%x: tensor<16x64xf16>, %w: tensor<64x32xf16>) -> tensor<16x32xf16> {
  %y = matmul %x, %w : tensor<16x64xf16>, tensor<64x32xf16>
  %z = exp %y : tensor<16x32xf16>
  return %z : tensor<16x32xf16>
}
func.func @tensors(%x: tensor<16x64xf16>, %w: tensor<64x32xf16>) -> tensor<16x32xf16> {
  %y = mirage_kernel.call @p(%x, %w) : (tensor<16x64xf16>, tensor<64x32xf16>) -> tensor<16x32xf16>
  return %y : tensor<16x32xf16>
}
func.func @memrefs(%x: memref<16x64xf16>, %w: memref<64x32xf16, strided<[32, 1], offset: ?>>, %y: memref<16x32xf16>) {
  mirage_kernel.call @p(%x, %w, %y) : (memref<16x64xf16>, memref<64x32xf16, strided<[32, 1], offset: ?>>, memref<16x32xf16>) -> ()
  return
}
func.func @two(%x: tensor<16x64xf16>, %w: tensor<64x32xf16>) -> (tensor<16x32xf16>, tensor<16x32xf16>) {
  %y = mirage_kernel.call @p(%x, %w) : (tensor<16x64xf16>, tensor<64x32xf16>) -> tensor<16x32xf16>
  %c = arith.constant 1 : index
  %z = mirage_kernel.call @p(%x, %w) : (tensor<16x64xf16>, tensor<64x32xf16>) -> tensor<16x32xf16>
  return %y, %z : tensor<16x32xf16>, tensor<16x32xf16>
}
func.func private @look()
func.func @interrupted(%x: memref<16x64xf16>, %w: memref<64x32xf16>, %y: memref<16x32xf16>) {
  mirage_kernel.call @p(%x, %w, %y) : (memref<16x64xf16>, memref<64x32xf16>, memref<16x32xf16>) -> ()
  func.call @look() : () -> ()
  mirage_kernel.call @p(%x, %w, %y) : (memref<16x64xf16>, memref<64x32xf16>, memref<16x32xf16>) -> ()
  return
}
