// What cannot be said stays where it was, with the reason.
// RUN: mirage-mlir-opt --convert-linalg-to-mirage=explain --split-input-file --verify-diagnostics %s | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @dynamic
// CHECK-NOT: mirage_kernel.call
// expected-remark @below {{@dynamic: 0 of 1 operations in 0 graphs}}
func.func @dynamic(%x: tensor<?x64xf16>, %w: tensor<64x32xf16>, %z: tensor<?x32xf16>) -> tensor<?x32xf16> {
  // expected-remark @below {{linalg.matmul stays outside: its shape is known at run time alone}}
  %p = linalg.matmul ins(%x, %w : tensor<?x64xf16>, tensor<64x32xf16>) outs(%z : tensor<?x32xf16>) -> tensor<?x32xf16>
  return %p : tensor<?x32xf16>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @integers
// CHECK-NOT: mirage_kernel.call
// expected-remark @below {{@integers: 0 of 2 operations in 0 graphs}}
func.func @integers(%x: tensor<4x64xi32>, %e: tensor<4x64xi32>) -> tensor<4x64xi32> {
  // expected-remark @below {{linalg.generic stays outside: its body reads integers or truth values that nothing here computes}}
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x64xi32>) outs(%e : tensor<4x64xi32>) {
  ^bb0(%a: i32, %b: i32):
    %0 = arith.addi %a, %a : i32
    linalg.yield %0 : i32
  } -> tensor<4x64xi32>
  // expected-remark @below {{arith.addi stays outside: an operand is not known}}
  %z = arith.addi %y, %y : tensor<4x64xi32>
  return %z : tensor<4x64xi32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#sum = affine_map<(d0, d1) -> (d0)>
#window = affine_map<(d0, d1) -> (d0 + d1)>
#both = affine_map<(d0) -> (d0, d0)>
#one = affine_map<(d0) -> (d0)>
// expected-remark @below {{@kinds: 0 of 5 operations in 0 graphs}}
func.func @kinds(%x: tensor<4x64xf32>, %v: tensor<67xf32>, %s: tensor<4x4xf32>, %e: tensor<4x64xf32>, %f: tensor<4xf32>) -> (tensor<4x64xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x64xf32>) {
  // expected-remark @below {{linalg.generic stays outside: its body has math.tan}}
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = math.tan %p : f32
    linalg.yield %0 : f32
  } -> tensor<4x64xf32>
  // expected-remark @below {{linalg.generic stays outside: it reduces by what is no sum, no maximum and no minimum}}
  %b = linalg.generic {indexing_maps = [#id, #sum], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x64xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.mulf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  // expected-remark @below {{linalg.generic stays outside: an operand is indexed by more than one dimension at a time}}
  %c = linalg.generic {indexing_maps = [#window, #id, #sum], iterator_types = ["parallel", "reduction"]} ins(%v, %x : tensor<67xf32>, tensor<4x64xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%p: f32, %w: f32, %q: f32):
    %0 = arith.mulf %p, %w : f32
    %1 = arith.addf %0, %q : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  // expected-remark @below {{linalg.generic stays outside: an operand is read along its diagonal}}
  %d = linalg.generic {indexing_maps = [#both, #one], iterator_types = ["parallel"]} ins(%s : tensor<4x4xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %p : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  // expected-remark @below {{linalg.generic stays outside: its body reads what its output held}}
  %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.divf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<4x64xf32>
  return %a, %b, %c, %d, %g : tensor<4x64xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x64xf32>
}

// -----

// One element-wise operation is no kernel's worth; a cast and a slice neither.
// CHECK-LABEL: func.func @little
// CHECK: arith.addf
// CHECK-NOT: mirage_kernel.call
// expected-remark @below {{@little: 0 of 1 operations in 0 graphs}}
func.func @little(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  // expected-remark @below {{arith.addf stays outside: alone it is not worth a kernel}}
  %y = arith.addf %x, %x : tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

// -----

// Memory, side effects, control flow, a slice with steps, nothing to do.
// expected-remark @below {{@memory: 0 of 2 operations in 0 graphs}}
func.func @memory(%x: memref<4x4xf32>, %y: memref<4x4xf32>) {
  // expected-remark @below {{linalg.matmul stays outside: it works on memory}}
  linalg.matmul ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)
  // expected-remark @below {{memref.copy stays outside: no operator computes it}}
  memref.copy %y, %x : memref<4x4xf32> to memref<4x4xf32>
  return
}

// expected-remark @below {{@steps: 0 of 1 operations in 0 graphs}}
func.func @steps(%x: tensor<4x64xf32>) -> tensor<4x32xf32> {
  // expected-remark @below {{tensor.extract_slice stays outside: it takes every 2th element}}
  %y = tensor.extract_slice %x[0, 0] [4, 32] [1, 2] : tensor<4x64xf32> to tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// expected-remark @below {{@nothing: 0 of 0 operations in 0 graphs}}
func.func @nothing() {
  return
}

// -----

// A loop's body may use what a part gives: the part is called before the loop.
// CHECK-LABEL: func.func @loop
// CHECK: mirage_kernel.call @loop_0
// CHECK-NEXT: scf.for
// expected-remark @below {{@loop: 1 of 2 operations in 1 graph}}
func.func @loop(%x: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @below {{scf.for stays outside: no operator computes it}}
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> tensor<4x4xf32> {
    %s = arith.addf %t, %a : tensor<4x4xf32>
    scf.yield %s : tensor<4x4xf32>
  }
  return %y : tensor<4x4xf32>
}

// -----

// What is filled may be what a part gave, and somebody may want it filled: the part is called before.
// CHECK-LABEL: func.func @filled
// CHECK: %[[A:.*]] = mirage_kernel.call @filled_0
// CHECK-NEXT: %[[F:.*]] = linalg.fill {{.*}} outs(%[[A]]
// CHECK: mirage_kernel.call @filled_1(%[[A]], %arg0)
// CHECK: return %{{.*}}, %[[F]]
// expected-remark @below {{@filled: 2 of 2 operations in 2 graphs}}
func.func @filled(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %z = arith.constant 0.0 : f32
  %a = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = linalg.matmul ins(%a, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %b, %f : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Blocks of a function one by one; a module inside a module; no elements; a window; nobody's result.
// expected-remark @below {{@blocks: 1 of 1 operations in 1 graph}}
// expected-remark @below {{@blocks: 2 of 2 operations in 1 graph}}
// expected-remark @below {{@blocks: 0 of 1 operations in 0 graphs}}
func.func @blocks(%x: tensor<4x4xf32>, %c: i1) -> tensor<4x4xf32> {
  %a = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  cf.cond_br %c, ^bb1, ^bb2(%a : tensor<4x4xf32>)
^bb1:
  %b = linalg.matmul ins(%a, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = arith.addf %b, %b : tensor<4x4xf32>
  cf.br ^bb2(%d : tensor<4x4xf32>)
^bb2(%r: tensor<4x4xf32>):
  // expected-remark @below {{math.tan stays outside: no operator computes it}}
  %s = math.tan %r : tensor<4x4xf32>
  return %s : tensor<4x4xf32>
}
module @inner {
  func.func @nested(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %a = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
    return %a : tensor<4x4xf32>
  }
}
// expected-remark @below {{@empty: 0 of 1 operations in 0 graphs}}
func.func @empty(%x: tensor<0x4xf32>, %y: tensor<4x4xf32>) -> tensor<0x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<0x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<0x4xf32>) -> tensor<0x4xf32>
  // expected-remark @below {{linalg.matmul stays outside: dimension 0 of its iteration space has no elements}}
  %a = linalg.matmul ins(%x, %y : tensor<0x4xf32>, tensor<4x4xf32>) outs(%f : tensor<0x4xf32>) -> tensor<0x4xf32>
  return %a : tensor<0x4xf32>
}
// expected-remark @below {{@unused: 0 of 1 operations in 0 graphs}}
func.func @unused(%x: tensor<4x4xf32>) {
  // expected-remark @below {{linalg.matmul stays outside: nothing goes in, or nobody uses it}}
  %a = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

// A choice by anything else than the order of what is chosen is none of ours.
#i6 = affine_map<(d0) -> (d0)>
// expected-remark @below {{@choices: 0 of 2 operations in 0 graphs}}
func.func @choices(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  // expected-remark @below {{linalg.generic stays outside: its body has arith.select}}
  %a = linalg.generic {indexing_maps = [#i6, #i6, #i6], iterator_types = ["parallel"]} ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %0 = arith.cmpf one, %p, %q : f32
    %1 = arith.select %0, %p, %q : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  // expected-remark @below {{linalg.generic stays outside: its body has arith.select}}
  %b = linalg.generic {indexing_maps = [#i6, #i6, #i6], iterator_types = ["parallel"]} ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %0 = arith.cmpf ogt, %p, %q : f32
    %1 = arith.select %0, %p, %p : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}
