// Stock bufferization makes calls on memrefs of calls on tensors; who frees what, stock passes find out.
// RUN: mirage-mlir-opt --one-shot-bufferize="bufferize-function-boundaries allow-unknown-ops function-boundary-type-conversion=identity-layout-map" --buffer-deallocation-pipeline %s | FileCheck %s
// Without a layout that functions promise, the call takes what comes.
// RUN: mirage-mlir-opt --one-shot-bufferize="bufferize-function-boundaries allow-unknown-ops" %s | FileCheck %s --check-prefix=STRIDED

// CHECK-LABEL: func.func @chain(%arg0: memref<4xf32>) -> memref<4xf32>
// CHECK-NEXT: %[[A:.*]] = memref.alloc
// CHECK-NEXT: mirage_kernel.call @f(%arg0, %[[A]]) : (memref<4xf32>, memref<4xf32>) -> ()
// CHECK-NEXT: %[[B:.*]] = memref.alloc
// CHECK-NEXT: mirage_kernel.call @f(%[[A]], %[[B]]) : (memref<4xf32>, memref<4xf32>) -> ()
// CHECK-NEXT: memref.dealloc %[[A]]
// CHECK-NEXT: return %[[B]]
// STRIDED-LABEL: func.func @chain
// STRIDED: mirage_kernel.call @f(%arg0, %{{.*}}) : (memref<4xf32, strided<[?], offset: ?>>, memref<4xf32>) -> ()
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = mirage_kernel.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = mirage_kernel.call @f(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// The operand is read, so what writes over it behind the call does so in a copy where it is still wanted.
// CHECK-LABEL: func.func @read
// CHECK: mirage_kernel.call @f(%arg0, %[[Y:.*]]) : (memref<4xf32>, memref<4xf32>) -> ()
// CHECK: memref.store %{{.*}}, %arg0
func.func @read(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %y = mirage_kernel.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %w = tensor.insert %one into %x[%c] : tensor<4xf32>
  return %y, %w : tensor<4xf32>, tensor<4xf32>
}

// The graph stays as it is.
// CHECK: mirage_kernel.graph @f(%arg0: tensor<4xf32>) -> tensor<4xf32>
mirage_kernel.graph @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
