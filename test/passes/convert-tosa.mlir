// TOSA becomes programs by way of linalg; what cannot be lowered stays, function by function, with a remark.
// RUN: mirage-mlir-opt --convert-tosa-to-mirage=explain --split-input-file --verify-diagnostics %s | FileCheck %s
// The calls and what stays can be read again, and a second time changes nothing.
// RUN: mirage-mlir-opt --convert-tosa-to-mirage --split-input-file %s 2>/dev/null | mirage-mlir-opt --convert-tosa-to-mirage --split-input-file 2>/dev/null | FileCheck %s

// A softmax: maximum from the lowest number, exponentials, their sum, its reciprocal.
// CHECK-LABEL: func.func @softmax
// CHECK-NEXT: mirage_kernel.call @softmax_0(%arg0) : (tensor<16x64xf32>) -> tensor<16x64xf32>
// CHECK: mirage_kernel.graph @softmax_0
// CHECK-NEXT: reduce_max %arg0 {dim = 1}
// CHECK-NEXT: sub
// CHECK-NEXT: exp
// CHECK-NEXT: reduce_sum
// CHECK-NEXT: constant 1.0
// CHECK-NEXT: div
// CHECK-NEXT: mul
// CHECK-NEXT: return
// expected-remark @below {{@softmax: 8 of 8 operations in 1 graph}}
func.func @softmax(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %m = tosa.reduce_max %x {axis = 1 : i32} : (tensor<16x64xf32>) -> tensor<16x1xf32>
  %d = tosa.sub %x, %m : (tensor<16x64xf32>, tensor<16x1xf32>) -> tensor<16x64xf32>
  %e = tosa.exp %d : (tensor<16x64xf32>) -> tensor<16x64xf32>
  %s = tosa.reduce_sum %e {axis = 1 : i32} : (tensor<16x64xf32>) -> tensor<16x1xf32>
  %r = tosa.reciprocal %s : (tensor<16x1xf32>) -> tensor<16x1xf32>
  %y = tosa.mul %e, %r, %shift : (tensor<16x64xf32>, tensor<16x1xf32>, tensor<1xi8>) -> tensor<16x64xf32>
  return %y : tensor<16x64xf32>
}

// -----

// Products, minima, clamps, powers by a constant, concatenations and slices.
// CHECK-LABEL: mirage_kernel.graph @many_0
// CHECK: matmul
// CHECK: min
// CHECK: max
// CHECK: neg
// CHECK: reduce_max
// CHECK: neg
// CHECK: mul %[[X:.*]], %[[X]]
// CHECK: slice
// CHECK: concat
// CHECK-NOT: tosa
// CHECK: return
// expected-remark-re @below {{@many: {{[0-9]+}} of {{[0-9]+}} operations in 1 graph}}
func.func @many(%x: tensor<1x4x8xf32>, %w: tensor<1x8x16xf32>) -> tensor<1x4x20xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %two = "tosa.const"() <{values = dense<2.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %begin = tosa.const_shape {values = dense<[0, 0, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %size = tosa.const_shape {values = dense<[1, 4, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %p = tosa.matmul %x, %w, %z, %z : (tensor<1x4x8xf32>, tensor<1x8x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x16xf32>
  %c = tosa.clamp %p {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x4x16xf32>) -> tensor<1x4x16xf32>
  %m = tosa.reduce_min %c {axis = 2 : i32} : (tensor<1x4x16xf32>) -> tensor<1x4x1xf32>
  %d = tosa.sub %c, %m : (tensor<1x4x16xf32>, tensor<1x4x1xf32>) -> tensor<1x4x16xf32>
  %q = tosa.pow %d, %two : (tensor<1x4x16xf32>, tensor<1x1x1xf32>) -> tensor<1x4x16xf32>
  %s = tosa.slice %q, %begin, %size : (tensor<1x4x16xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x4x4xf32>
  %y = tosa.concat %q, %s {axis = 2 : i32} : (tensor<1x4x16xf32>, tensor<1x4x4xf32>) -> tensor<1x4x20xf32>
  return %y : tensor<1x4x20xf32>
}

// -----

// One operation that MLIR lowers nowhere leaves its function as it is; the others are converted, in their order.
// CHECK-LABEL: func.func private @before
// CHECK-LABEL: func.func @custom
// CHECK-NEXT: tosa.add
// CHECK-NEXT: tosa.custom
// CHECK-NEXT: return
// CHECK-LABEL: func.func @after
// CHECK-NEXT: mirage_kernel.call @after_0
func.func private @before(tensor<4x8xf32>) -> tensor<4x8xf32>
// expected-remark @below {{@custom stays in TOSA: failed to legalize operation 'tosa.custom'}}
// expected-remark @below {{@custom: 0 of 2 operations in 0 graphs}}
func.func @custom(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-remark @below {{tosa.add stays outside: no operator computes it}}
  %a = tosa.add %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @below {{tosa.custom stays outside: no operator computes it}}
  %b = tosa.custom %a {domain_name = "d", implementation_attrs = "", operator_name = "o"} : (tensor<4x8xf32>) -> (tensor<4x8xf32>)
  return %b : tensor<4x8xf32>
}
// expected-remark @below {{@after: 2 of 2 operations in 1 graph}}
func.func @after(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = tosa.add %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = tosa.exp %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %b : tensor<4x8xf32>
}

// -----

// Integers, shapes that are known at run time alone, and gathers are lowered, and stay outside.
// CHECK-LABEL: func.func @integers
// CHECK: arith.addi
// CHECK-NOT: mirage_kernel.call
// expected-remark @below {{@integers: 0 of 1 operations in 0 graphs}}
func.func @integers(%x: tensor<4x8xi32>) -> tensor<4x8xi32> {
  // expected-remark @below {{linalg.generic stays outside: its body reads integers or truth values that nothing here computes}}
  %a = tosa.add %x, %x : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
  return %a : tensor<4x8xi32>
}
// CHECK-LABEL: func.func @gather
// CHECK: tensor.extract
// CHECK-NOT: mirage_kernel.call
// expected-remark @below {{@gather: 0 of 1 operations in 0 graphs}}
func.func @gather(%x: tensor<1x8x4xf32>, %i: tensor<1x3xi32>) -> tensor<1x3x4xf32> {
  // expected-remark @below {{linalg.generic stays outside: its body has tensor.extract}}
  %a = tosa.gather %x, %i : (tensor<1x8x4xf32>, tensor<1x3xi32>) -> tensor<1x3x4xf32>
  return %a : tensor<1x3x4xf32>
}
