// What random modules found (test/fuzz-linalg): each was lifted wrongly, or for a wrong reason left, once.
// RUN: mirage-mlir-opt --convert-linalg-to-mirage=explain --split-input-file %s 2>%t.remarks | FileCheck %s
// RUN: FileCheck --check-prefix=REMARK %s <%t.remarks

// A truth is 1 without a sign and -1 with one; a byte of ones is 255, and -1.
#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: mirage_kernel.graph @truths_0
// CHECK-DAG: constant 1.0
// CHECK-DAG: constant -1.0
// CHECK: return
// CHECK-LABEL: mirage_kernel.graph @bytes_0
// CHECK-DAG: constant 255.0
// CHECK-DAG: constant -1.0
// CHECK: return
func.func @truths(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %true = arith.constant dense<true> : tensor<4xi1>
  %e = tensor.empty() : tensor<4xf32>
  %y:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]} ins(%x, %true : tensor<4xf32>, tensor<4xi1>) outs(%e, %e : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %t: i1, %b: f32, %c: f32):
    %0 = arith.uitofp %t : i1 to f32
    %1 = arith.sitofp %t : i1 to f32
    %2 = arith.addf %a, %0 : f32
    %3 = arith.subf %a, %1 : f32
    %4 = math.exp %2 : f32
    %5 = math.exp %3 : f32
    linalg.yield %4, %5 : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  %z = arith.mulf %y#0, %y#1 : tensor<4xf32>
  return %y#0, %z : tensor<4xf32>, tensor<4xf32>
}
func.func @bytes(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %ones = arith.constant dense<-1> : tensor<4xi8>
  %e = tensor.empty() : tensor<4xf32>
  %y:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]} ins(%x, %ones : tensor<4xf32>, tensor<4xi8>) outs(%e, %e : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %t: i8, %b: f32, %c: f32):
    %0 = arith.uitofp %t : i8 to f32
    %1 = arith.sitofp %t : i8 to f32
    %2 = arith.addf %a, %0 : f32
    %3 = arith.subf %a, %1 : f32
    %4 = math.exp %2 : f32
    %5 = math.exp %3 : f32
    linalg.yield %4, %5 : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  %z = arith.mulf %y#0, %y#1 : tensor<4xf32>
  return %y#0, %z : tensor<4xf32>, tensor<4xf32>
}

// -----

// More elements than 64 bits count.
// CHECK-LABEL: func.func @large
// CHECK-NEXT: arith.addf
// REMARK: arith.addf stays outside: an operand has more elements than can be counted
// REMARK: @large: 0 of 2 operations in 0 graphs
func.func @large(%x: tensor<4294967296x4294967296xf32>) -> tensor<4294967296x4294967296xf32> {
  %a = arith.addf %x, %x : tensor<4294967296x4294967296xf32>
  %b = arith.mulf %a, %x : tensor<4294967296x4294967296xf32>
  return %b : tensor<4294967296x4294967296xf32>
}

// -----

// Three positions on one side of a comparison, or as a number: of two it was noticed, of three one was taken.
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @three_positions
// CHECK-NOT: mirage_kernel.call
// REMARK: linalg.generic stays outside: a mask by a sum of positions
// REMARK: linalg.generic stays outside: numbers that are a sum of positions
// REMARK: @three_positions: 0 of 3 operations in 0 graphs
func.func @three_positions(%x: tensor<4x2x8xf32>) -> (tensor<4x2x8xf32>, tensor<4x2x8xf32>) {
  %e = tensor.empty() : tensor<4x2x8xf32>
  %y:2 = linalg.generic {indexing_maps = [#id3, #id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<4x2x8xf32>) outs(%e, %e : tensor<4x2x8xf32>, tensor<4x2x8xf32>) {
  ^bb0(%v: f32, %o: f32, %p: f32):
    %low = arith.constant 0xFF800000 : f32
    %three = arith.constant 3 : index
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %ij = arith.addi %i, %j : index
    %ijk = arith.addi %ij, %k : index
    %c = arith.cmpi sle, %ijk, %three : index
    %s = arith.select %c, %v, %low : f32
    %q = math.exp %s : f32
    linalg.yield %s, %q : f32, f32
  } -> (tensor<4x2x8xf32>, tensor<4x2x8xf32>)
  %z = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y#1 : tensor<4x2x8xf32>) outs(%e : tensor<4x2x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %ij = arith.addi %i, %j : index
    %ijk = arith.addi %ij, %k : index
    %n = arith.index_cast %ijk : index to i64
    %f = arith.sitofp %n : i64 to f32
    %r = arith.mulf %v, %f : f32
    %t = math.tanh %r : f32
    linalg.yield %t : f32
  } -> tensor<4x2x8xf32>
  %w = arith.mulf %z, %y#0 : tensor<4x2x8xf32>
  return %z, %w : tensor<4x2x8xf32>, tensor<4x2x8xf32>
}
