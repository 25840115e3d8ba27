// Surprising input is left alone, with its reason, and the module stays valid: it is verified after the pass, and read again.
// RUN: mirage-mlir-opt --convert-linalg-to-mirage=explain --split-input-file --verify-diagnostics %s -o %t.mlir
// RUN: mirage-mlir-opt --split-input-file %t.mlir | FileCheck %s
// RUN: mirage-mlir-opt --convert-tosa-to-mirage --split-input-file %s -o %t.tosa.mlir 2>/dev/null
// RUN: diff %t.mlir %t.tosa.mlir

// Control flow inside a function: branches, loops and whiles stay; a program before them is called before them.
// CHECK-LABEL: func.func @control
// CHECK: %[[A:.*]] = mirage_kernel.call @control_0
// CHECK: scf.if
// CHECK: linalg.matmul
// CHECK: mirage_kernel.call @control_1
// expected-remark @below {{@control: 2 of 3 operations in 2 graphs}}
func.func @control(%x: tensor<4x4xf32>, %c: i1) -> tensor<4x4xf32> {
  %a = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @below {{scf.if stays outside: no operator computes it}}
  %b = scf.if %c -> tensor<4x4xf32> {
    %d = linalg.matmul ins(%a, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %d : tensor<4x4xf32>
  } else {
    scf.yield %a : tensor<4x4xf32>
  }
  %e = linalg.matmul ins(%b, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %e : tensor<4x4xf32>
}

// -----

// A call between, that may do anything, keeps its place between what it reads and what reads it; recursion is a call.
// CHECK-LABEL: func.func @recursive
// CHECK-NEXT: %[[A:.*]] = mirage_kernel.call @recursive_0(%arg0)
// CHECK-NEXT: %[[B:.*]] = call @recursive(%[[A]])
// CHECK-NEXT: %[[C:.*]] = mirage_kernel.call @recursive_1(%[[B]], %[[A]])
// expected-remark @below {{@recursive: 2 of 3 operations in 2 graphs}}
func.func @recursive(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @below {{func.call stays outside: no operator computes it}}
  %b = call @recursive(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = linalg.matmul ins(%b, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %c : tensor<4x4xf32>
}

// -----

// Side effects between operators: a store to memory keeps its order to other effects; programs have none.
// CHECK-LABEL: func.func @effects
// CHECK: memref.store
// CHECK: memref.load
// expected-remark @below {{@effects: 2 of 4 operations in 1 graph}}
func.func @effects(%x: tensor<4x4xf32>, %m: memref<1xf32>, %v: f32) -> (tensor<4x4xf32>, f32) {
  %i = arith.constant 0 : index
  %a = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @below {{memref.store stays outside: no operator computes it}}
  memref.store %v, %m[%i] : memref<1xf32>
  %b = linalg.matmul ins(%a, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @below {{memref.load stays outside: no operator computes it}}
  %l = memref.load %m[%i] : memref<1xf32>
  return %b, %l : tensor<4x4xf32>, f32
}

// -----

// Symbols that are there already: the program takes another name, whatever kind of symbol it is, private or public.
// CHECK-LABEL: func.func private @clash_0(
// CHECK-LABEL: memref.global "private" @clash_0_0
// CHECK-LABEL: func.func @clash(
// CHECK-NEXT: mirage_kernel.call @clash_0_1(
// CHECK: mirage_kernel.graph @clash_0_1(
func.func private @clash_0(tensor<4x4xf32>) -> tensor<4x4xf32>
memref.global "private" @clash_0_0 : memref<1xf32>
// expected-remark @below {{@clash: 1 of 1 operations in 1 graph}}
func.func @clash(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %a : tensor<4x4xf32>
}

// -----

// Several users, among them the operation itself twice; a result that is returned twice, and one that nobody reads.
// CHECK-LABEL: func.func @users
// CHECK-NEXT: %[[R:.*]]:2 = mirage_kernel.call @users_0(%arg0) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
// CHECK-NEXT: return %[[R]]#1, %[[R]]#1, %[[R]]#0
// expected-remark @below {{@users: 3 of 3 operations in 1 graph}}
func.func @users(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %a = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = arith.mulf %a, %a : tensor<4x4xf32>
  %dead = arith.addf %a, %b : tensor<4x4xf32>
  return %b, %b, %a : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Functions on memory, without a body, without operations; other symbols at the top; a nested module is not looked into.
// CHECK-LABEL: func.func private @declared
// CHECK-LABEL: func.func @on_memory
// CHECK: linalg.generic
// CHECK-LABEL: module @nested
// CHECK: linalg.matmul
func.func private @declared(memref<4xf32>)
// expected-remark @below {{@on_memory: 0 of 1 operations in 0 graphs}}
func.func @on_memory(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-remark @below {{linalg.generic stays outside: it works on memory}}
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %a : f32
    linalg.yield %0 : f32
  }
  return
}
module @nested {
  module {
    func.func @on_memory(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %a = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
      return %a : tensor<4x4xf32>
    }
  }
}

// -----

// Types that we have nothing of: complex, index, sums of f8, tensors with an encoding, unranked ones.
#row = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @types
// CHECK-NOT: mirage_kernel
// CHECK: return
// expected-remark @below {{@types: 0 of 6 operations in 0 graphs}}
func.func @types(%c: tensor<4xcomplex<f32>>, %i: tensor<4xindex>, %q: tensor<4xi8>, %e: tensor<4xf8E4M3FN>, %s: tensor<4xf32, "sparse">, %u: tensor<*xf32>) -> (tensor<2x2xcomplex<f32>>, tensor<4xindex>, tensor<4xf32>, tensor<4xf8E4M3FN>, tensor<4xf32, "sparse">, tensor<*xf32>) {
  %empty = tensor.empty() : tensor<4xf32>
  // expected-remark @below {{tensor.expand_shape stays outside: its result is no static tensor of f16, bf16 or f32}}
  %c1 = tensor.expand_shape %c [[0, 1]] output_shape [2, 2] : tensor<4xcomplex<f32>> into tensor<2x2xcomplex<f32>>
  // expected-remark @below {{arith.addi stays outside: an operand is not known}}
  %i1 = arith.addi %i, %i : tensor<4xindex>
  // expected-remark @below {{linalg.generic stays outside: alone it is not worth a kernel}}
  %q1 = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%q : tensor<4xi8>) outs(%empty : tensor<4xf32>) {
  ^bb0(%a: i8, %b: f32):
    %0 = arith.sitofp %a : i8 to f32
    %1 = arith.mulf %0, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  // expected-remark @below {{arith.addf stays outside: its result is no static tensor of f16, bf16 or f32}}
  %e1 = arith.addf %e, %e : tensor<4xf8E4M3FN>
  // expected-remark @below {{arith.addf stays outside: its result is no static tensor of f16, bf16 or f32}}
  %s1 = arith.addf %s, %s : tensor<4xf32, "sparse">
  // expected-remark @below {{arith.addf stays outside: no operator computes it}}
  %u1 = arith.addf %u, %u : tensor<*xf32>
  return %c1, %i1, %q1, %e1, %s1, %u1 : tensor<2x2xcomplex<f32>>, tensor<4xindex>, tensor<4xf32>, tensor<4xf8E4M3FN>, tensor<4xf32, "sparse">, tensor<*xf32>
}

// -----

// Dynamic shapes, and no elements, in what moves data.
// CHECK-LABEL: func.func @moves
// CHECK-NOT: mirage_kernel
// CHECK: return
// expected-remark @below {{@moves: 0 of 5 operations in 0 graphs}}
func.func @moves(%x: tensor<?x4xf32>, %y: tensor<0x4xf32>, %n: index, %z: tensor<8x4xf32>) -> (tensor<?x2x2xf32>, tensor<0xf32>, tensor<?x4xf32>, tensor<4xf32>, tensor<8x4xf32>) {
  // expected-remark @below {{tensor.expand_shape stays outside: its result is no static tensor of f16, bf16 or f32}}
  %a = tensor.expand_shape %x [[0], [1, 2]] output_shape [%n, 2, 2] : tensor<?x4xf32> into tensor<?x2x2xf32>
  // expected-remark @below {{tensor.collapse_shape stays outside: its result is no static tensor of f16, bf16 or f32}}
  %b = tensor.collapse_shape %y [[0, 1]] : tensor<0x4xf32> into tensor<0xf32>
  // expected-remark @below {{tensor.concat stays outside: its result is no static tensor of f16, bf16 or f32}}
  %c = tensor.concat dim(0) %x, %x : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  // expected-remark @below {{tensor.extract_slice stays outside: its offsets or sizes are known at run time alone}}
  %d = tensor.extract_slice %z[%n, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
  // expected-remark @below {{tensor.insert_slice stays outside: its offsets or sizes are known at run time alone}}
  %e = tensor.insert_slice %d into %z[%n, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
  return %a, %b, %c, %d, %e : tensor<?x2x2xf32>, tensor<0xf32>, tensor<?x4xf32>, tensor<4xf32>, tensor<8x4xf32>
}

// -----

// f64 that others use stays outside, and takes nothing else with it: what comes before is a program, and what comes behind.
#r64 = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @wide
// CHECK: %[[P:.*]] = mirage_kernel.call @wide_0
// CHECK: %[[W:.*]] = linalg.generic {{.*}} ins(%[[P]]
// CHECK: %[[Q:.*]] = mirage_kernel.call @wide_1(%[[P]]
// CHECK: return %[[W]], %[[Q]]
// expected-remark @below {{@wide: 2 of 3 operations in 2 graphs}}
func.func @wide(%x: tensor<4x4xf32>) -> (tensor<4x4xf64>, tensor<4x4xf32>) {
  %e = tensor.empty() : tensor<4x4xf64>
  %a = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @below {{linalg.generic stays outside: others use its result, which is no tensor of f16, bf16 or f32 with at most 6 dimensions}}
  %w = linalg.generic {indexing_maps = [#r64, #r64], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x4xf32>) outs(%e : tensor<4x4xf64>) {
  ^bb0(%p: f32, %q: f64):
    %0 = arith.extf %p : f32 to f64
    linalg.yield %0 : f64
  } -> tensor<4x4xf64>
  %b = linalg.matmul ins(%a, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %w, %b : tensor<4x4xf64>, tensor<4x4xf32>
}

// -----

// Slices that leave a gap, that overlap, or whose half is used; a body that chooses by index, but no concatenation.
#o = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @gaps
// CHECK-NOT: mirage_kernel.call
// CHECK: return
// expected-remark @below {{@gaps: 0 of 6 operations in 0 graphs}}
func.func @gaps(%x: tensor<4xf32>, %z: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<8xf32>
  // expected-remark @below {{tensor.insert_slice stays outside: alone it is not worth a kernel}}
  %i = tensor.insert_slice %x into %e[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  // expected-remark @below {{arith.mulf stays outside: it reads a tensor of which a part is not written}}
  %m = arith.mulf %i, %z : tensor<8xf32>
  // expected-remark @below {{arith.mulf stays outside: alone it is not worth a kernel}}
  %n = arith.mulf %m, %z : tensor<8xf32>
  // expected-remark @below {{tensor.insert_slice stays outside: alone it is not worth a kernel}}
  %j = tensor.insert_slice %x into %e[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  // expected-remark @below {{tensor.insert_slice stays outside: it writes over what another has written}}
  %k = tensor.insert_slice %x into %j[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  // expected-remark @below {{linalg.generic stays outside: its body chooses by index, and puts no tensors together}}
  %g = linalg.generic {indexing_maps = [#o], iterator_types = ["parallel"]} outs(%e : tensor<8xf32>) {
  ^bb0(%o: f32):
    %at = linalg.index 0 : index
    %below = arith.cmpi ult, %at, %c4 : index
    %0 = scf.if %below -> (f32) {
      %a = tensor.extract %z[%at] : tensor<8xf32>
      scf.yield %a : f32
    } else {
      %twice = arith.addi %at, %at : index
      %b = arith.subi %twice, %at : index
      %a = tensor.extract %z[%b] : tensor<8xf32>
      scf.yield %a : f32
    }
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %n, %k, %g : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// Truth values from outside, that come out, that are reduced otherwise; a choice whose branch is not 0 at 0.
#t = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @truths
// CHECK-NOT: mirage_kernel.call
// CHECK: return
// expected-remark @below {{@truths: 0 of 3 operations in 0 graphs}}
func.func @truths(%x: tensor<8xf32>, %m: tensor<8xi1>) -> (tensor<8xf32>, tensor<8xi1>, tensor<8xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %ei = tensor.empty() : tensor<8xi1>
  // expected-remark @below {{linalg.generic stays outside: alone it is not worth a kernel}}
  %a = linalg.generic {indexing_maps = [#t, #t, #t], iterator_types = ["parallel"]} ins(%m, %x : tensor<8xi1>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%p: i1, %v: f32, %o: f32):
    %0 = arith.select %p, %v, %z : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  // expected-remark @below {{linalg.generic stays outside: alone it is not worth a kernel}}
  %b = linalg.generic {indexing_maps = [#t, #t], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%ei : tensor<8xi1>) {
  ^bb0(%v: f32, %o: i1):
    %0 = arith.cmpf ogt, %v, %z : f32
    linalg.yield %0 : i1
  } -> tensor<8xi1>
  // expected-remark @below {{linalg.generic stays outside: its body has arith.select, and chooses by no order of its choices}}
  %c = linalg.generic {indexing_maps = [#t, #t], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %0 = arith.cmpf ogt, %v, %z : f32
    %1 = arith.minimumf %v, %z : f32
    %2 = math.exp %1 : f32
    %3 = arith.select %0, %v, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<8xf32>
  return %a, %b, %c : tensor<8xf32>, tensor<8xi1>, tensor<8xf32>
}

// -----

// Guards of something else than a softmax and a row's maximum are choices that a program may mean: infinite elements of data, and
// rows of a mask that another tensor is not made of.
#g = affine_map<(d0, d1) -> (d0, d1)>
#h = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-LABEL: func.func @guards
// CHECK-NOT: mirage_kernel.call
// CHECK: return
// expected-remark @below {{@guards: 0 of 5 operations in 0 graphs}}
func.func @guards(%x: tensor<4x8xf32>, %mask: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %low = arith.constant 0xFF800000 : f32
  %high = arith.constant 0x7F800000 : f32
  %true = arith.constant true
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %ei = tensor.empty() : tensor<4x8xi1>
  %er = tensor.empty() : tensor<4x1xi1>
  // expected-remark @below {{linalg.generic stays outside: its body has arith.select, and chooses by no order of its choices}}
  %finite = linalg.generic {indexing_maps = [#g, #g], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.absf %a : f32
    %1 = arith.cmpf oeq, %0, %high : f32
    %2 = arith.select %1, %zero, %a : f32
    linalg.yield %2 : f32
  } -> tensor<4x8xf32>
  // expected-remark @below {{math.exp stays outside: alone it is not worth a kernel}}
  %p = math.exp %x : tensor<4x8xf32>
  // expected-remark @below {{linalg.generic stays outside: alone it is not worth a kernel}}
  %is = linalg.generic {indexing_maps = [#g, #g], iterator_types = ["parallel", "parallel"]} ins(%mask : tensor<4x8xf32>) outs(%ei : tensor<4x8xi1>) {
  ^bb0(%a: f32, %b: i1):
    %0 = arith.cmpf oeq, %a, %low : f32
    linalg.yield %0 : i1
  } -> tensor<4x8xi1>
  %t = linalg.fill ins(%true : i1) outs(%er : tensor<4x1xi1>) -> tensor<4x1xi1>
  // expected-remark @below {{linalg.generic stays outside: alone it is not worth a kernel}}
  %all = linalg.generic {indexing_maps = [#g, #h], iterator_types = ["parallel", "reduction"]} ins(%is : tensor<4x8xi1>) outs(%t : tensor<4x1xi1>) {
  ^bb0(%a: i1, %b: i1):
    %0 = arith.andi %a, %b : i1
    linalg.yield %0 : i1
  } -> tensor<4x1xi1>
  // expected-remark @below {{linalg.generic stays outside: its body has arith.select, and chooses by no order of its choices}}
  %y = linalg.generic {indexing_maps = [#h, #g, #g], iterator_types = ["parallel", "parallel"]} ins(%all, %p : tensor<4x1xi1>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: i1, %c: f32, %d: f32):
    %0 = arith.select %a, %zero, %c : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  return %finite, %y : tensor<4x8xf32>, tensor<4x8xf32>
}
