// Calls of graphs, and what is wrong with them.
// RUN: mirage-mlir-opt --split-input-file --verify-diagnostics %s | FileCheck %s

// CHECK: mirage_kernel.call @f(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
mirage_kernel.graph @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @good(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = mirage_kernel.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
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
