// Calls of graphs, and what is wrong with them.
// RUN: mirage-mlir-opt --split-input-file --verify-diagnostics --canonicalize --cse %s | FileCheck %s

// CHECK: mirage_kernel.call @f(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
mirage_kernel.graph @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @good(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = mirage_kernel.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// Nobody takes a call on memrefs away, or across another.
// CHECK-LABEL: func.func @memrefs
// CHECK-NEXT: mirage_kernel.call @g(%arg0, %arg1) : (memref<4xf32>, memref<4xf32, strided<[1], offset: 4>>) -> ()
// CHECK-NEXT: mirage_kernel.call @g(%arg0, %arg1) : (memref<4xf32>, memref<4xf32, strided<[1], offset: 4>>) -> ()
// CHECK-NEXT: return
mirage_kernel.graph @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @memrefs(%x: memref<4xf32>, %y: memref<4xf32, strided<[1], offset: 4>>) {
  mirage_kernel.call @g(%x, %y) : (memref<4xf32>, memref<4xf32, strided<[1], offset: 4>>) -> ()
  mirage_kernel.call @g(%x, %y) : (memref<4xf32>, memref<4xf32, strided<[1], offset: 4>>) -> ()
  return
}
// One on tensors that nobody uses goes.
// CHECK-LABEL: func.func @unused
// CHECK-NEXT: return
func.func @unused(%x: tensor<4xf32>) {
  %y = mirage_kernel.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @nobody(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{call: @f is no graph of this module}}
  %y = mirage_kernel.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @function(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{call: @function is no graph of this module}}
  %y = mirage_kernel.call @function(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

mirage_kernel.graph @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @count(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{call: has 2 operands and 1 results, @f has 1 inputs and 1 outputs}}
  %y = mirage_kernel.call @f(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

mirage_kernel.graph @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @type(%x: tensor<4xf16>) -> tensor<4xf32> {
  // expected-error @below {{call: operand 0 is tensor<4xf16>, @f has tensor<4xf32>}}
  %y = mirage_kernel.call @f(%x) : (tensor<4xf16>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

mirage_kernel.graph @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @mixed(%x: tensor<4xf32>, %y: memref<4xf32>) {
  // expected-error @below {{call: takes tensors and gives tensors, or takes memrefs alone, the outputs behind the inputs, and has no result: got 1 memrefs of 2 operands, and 0 results}}
  mirage_kernel.call @f(%x, %y) : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}

// -----

mirage_kernel.graph @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @result_of_memrefs(%x: memref<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{got 1 memrefs of 1 operands, and 1 results}}
  %y = mirage_kernel.call @f(%x) : (memref<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

mirage_kernel.graph @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @no_output(%x: memref<4xf32>) {
  // expected-error @below {{call: has 1 operands and 0 results, @f has 1 inputs and 1 outputs}}
  mirage_kernel.call @f(%x) : (memref<4xf32>) -> ()
  return
}

// -----

mirage_kernel.graph @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @other_output(%x: memref<4xf32>, %y: memref<?xf32>) {
  // expected-error @below {{call: operand 1 is memref<?xf32>, @f has tensor<4xf32>}}
  mirage_kernel.call @f(%x, %y) : (memref<4xf32>, memref<?xf32>) -> ()
  return
}
