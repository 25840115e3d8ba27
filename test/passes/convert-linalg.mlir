// What can be said of linalg on tensors becomes a program of its own, and a call.
// RUN: mirage-mlir-opt --convert-linalg-to-mirage --split-input-file %s 2>%t.remarks | FileCheck %s
// RUN: FileCheck --check-prefix=REMARK %s <%t.remarks
// The calls stand through the pipeline, and the module that comes out can be read again.
// RUN: mirage-mlir-opt --convert-linalg-to-mirage --split-input-file %s 2>/dev/null | mirage-mlir-opt --split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0, 0)>

// A norm and a product: statistics in f32 as the source has them; the wide product is only rounded, so it is a product in f16.
// CHECK-LABEL: func.func @norm_linear
// CHECK-NEXT: %[[Y:.*]] = mirage_kernel.call @norm_linear_0(%arg0, %arg1) : (tensor<4x64xf16>, tensor<64x32xf16>) -> tensor<4x32xf16>
// CHECK-NEXT: return %[[Y]]
// CHECK: mirage_kernel.graph @norm_linear_0(
// CHECK-NEXT: cast {{.*}} -> tensor<4x64xf32>
// CHECK-NEXT: mul
// CHECK-NEXT: reduce_sum {{.*}} {dim = 1}
// CHECK-NEXT: constant 64.0
// CHECK-NEXT: div
// CHECK-NEXT: constant 9.99
// CHECK-NEXT: add
// CHECK-NEXT: rsqrt
// CHECK-NEXT: mul
// CHECK-NEXT: cast {{.*}} -> tensor<4x64xf16>
// CHECK-NEXT: matmul {{.*}} : tensor<4x64xf16>, tensor<64x32xf16>
// CHECK-NEXT: return
// REMARK: @norm_linear: 5 of 5 operations in 1 graph
func.func @norm_linear(%x: tensor<4x64xf16>, %w: tensor<64x32xf16>) -> tensor<4x32xf16> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 64.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %e1 = tensor.empty() : tensor<4x64xf32>
  %xf = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x64xf16>) outs(%e1 : tensor<4x64xf32>) {
  ^bb0(%a: f16, %b: f32):
    %0 = arith.extf %a : f16 to f32
    linalg.yield %0 : f32
  } -> tensor<4x64xf32>
  %e2 = tensor.empty() : tensor<4x1xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<4x1xf32>) -> tensor<4x1xf32>
  %s = linalg.generic {indexing_maps = [#id, #first], iterator_types = ["parallel", "reduction"]} ins(%xf : tensor<4x64xf32>) outs(%z2 : tensor<4x1xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %b, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x1xf32>
  %e3 = tensor.empty() : tensor<4x64xf16>
  %y = linalg.generic {indexing_maps = [#id, #first, #id], iterator_types = ["parallel", "parallel"]} ins(%xf, %s : tensor<4x64xf32>, tensor<4x1xf32>) outs(%e3 : tensor<4x64xf16>) {
  ^bb0(%a: f32, %b: f32, %c: f16):
    %0 = arith.divf %b, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    %4 = arith.truncf %3 : f32 to f16
    linalg.yield %4 : f16
  } -> tensor<4x64xf16>
  %e4 = tensor.empty() : tensor<4x32xf32>
  %z4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<4x32xf32>) -> tensor<4x32xf32>
  %p = linalg.matmul ins(%y, %w : tensor<4x64xf16>, tensor<64x32xf16>) outs(%z4 : tensor<4x32xf32>) -> tensor<4x32xf32>
  %e5 = tensor.empty() : tensor<4x32xf16>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4x32xf32>) outs(%e5 : tensor<4x32xf16>) {
  ^bb0(%a: f32, %b: f16):
    %0 = arith.truncf %a : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<4x32xf16>
  return %r : tensor<4x32xf16>
}

// -----

// A wide product that somebody reads as it is: of f16, kept in f32.
// CHECK-LABEL: mirage_kernel.graph @wide_0
// CHECK-NOT: cast
// CHECK: matmul {{.*}} : tensor<4x64xf16>, tensor<64x32xf16> -> tensor<4x32xf32>
func.func @wide(%x: tensor<4x64xf16>, %w: tensor<64x32xf16>) -> tensor<4x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x32xf32>) -> tensor<4x32xf32>
  %p = linalg.matmul ins(%x, %w : tensor<4x64xf16>, tensor<64x32xf16>) outs(%z : tensor<4x32xf32>) -> tensor<4x32xf32>
  return %p : tensor<4x32xf32>
}

// -----

// Any projection: heads in the middle, keys by rows. What lies like that is multiplied turned, the rest is moved.
#q = affine_map<(b, h, s, t, d) -> (b, s, h, d)>
#k = affine_map<(b, h, s, t, d) -> (b, t, h, d)>
#y = affine_map<(b, h, s, t, d) -> (b, h, s, t)>
// CHECK-LABEL: mirage_kernel.graph @heads_0
// CHECK-NEXT: transpose %arg0 {perm = [0, 2, 1, 3]}
// CHECK-NEXT: reshape {{.*}} -> tensor<6x4x8xf16>
// CHECK-NEXT: transpose %arg1 {perm = [0, 2, 3, 1]}
// CHECK-NEXT: reshape {{.*}} -> tensor<6x8x5xf16>
// CHECK-NEXT: matmul
// CHECK-NEXT: reshape {{.*}} -> tensor<2x3x4x5xf16>
// CHECK-NEXT: return
func.func @heads(%q: tensor<2x4x3x8xf16>, %k: tensor<2x5x3x8xf16>) -> tensor<2x3x4x5xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<2x3x4x5xf16>
  %z = linalg.fill ins(%zero : f16) outs(%e : tensor<2x3x4x5xf16>) -> tensor<2x3x4x5xf16>
  %p = linalg.generic {indexing_maps = [#q, #k, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x4x3x8xf16>, tensor<2x5x3x8xf16>) outs(%z : tensor<2x3x4x5xf16>) {
  ^bb0(%a: f16, %b: f16, %c: f16):
    %0 = arith.mulf %a, %b : f16
    %1 = arith.addf %c, %0 : f16
    linalg.yield %1 : f16
  } -> tensor<2x3x4x5xf16>
  return %p : tensor<2x3x4x5xf16>
}

// -----

// What the output held is added; a maximum that starts at -inf starts at nothing; an argmax that nobody wants is left out. What
// has nothing to do with each other is no one program.
#v = affine_map<(d0, d1) -> (d0, d1)>
#r = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: mirage_kernel.graph @starts_0(%arg0: tensor<4x64xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: reduce_sum %arg0 {dim = 1}
// CHECK-NEXT: reshape
// CHECK-NEXT: add {{.*}}, %arg1
// CHECK: mirage_kernel.graph @starts_1(%arg0: tensor<4x64xf32>) -> tensor<4xf32>
// CHECK-NEXT: reduce_max %arg0 {dim = 1}
// CHECK-NEXT: reshape
// CHECK-NEXT: return
func.func @starts(%x: tensor<4x64xf32>, %held: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %low = arith.constant 0xFF800000 : f32
  %no = arith.constant 0 : i64
  %s = linalg.reduce {arith.addf} ins(%x : tensor<4x64xf32>) outs(%held : tensor<4xf32>) dimensions = [1]
  %e = tensor.empty() : tensor<4xf32>
  %z = linalg.fill ins(%low : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %ei = tensor.empty() : tensor<4xi64>
  %zi = linalg.fill ins(%no : i64) outs(%ei : tensor<4xi64>) -> tensor<4xi64>
  %m:2 = linalg.generic {indexing_maps = [#v, #r, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x64xf32>) outs(%z, %zi : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%a: f32, %b: f32, %c: i64):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i64
    %0 = arith.maximumf %a, %b : f32
    %1 = arith.cmpf ogt, %a, %b : f32
    %2 = arith.select %1, %j, %c : i64
    linalg.yield %0, %2 : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %s, %m#0 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Slices, reshapes, concatenations and transpositions of the tensor dialect and linalg's own.
// CHECK-LABEL: mirage_kernel.graph @moves_0
// CHECK: slice %arg0 {dim = 1, begin = 0, end = 32}
// CHECK: slice %arg0 {dim = 1, begin = 32, end = 64}
// CHECK: neg
// CHECK: concat {{.*}} {dim = 1}
// CHECK: transpose {{.*}} {perm = [1, 0]}
// CHECK: reshape {{.*}} -> tensor<8x8x4xf16>
func.func @moves(%x: tensor<4x64xf16>) -> tensor<8x8x4xf16> {
  %a = tensor.extract_slice %x[0, 0] [4, 32] [1, 1] : tensor<4x64xf16> to tensor<4x32xf16>
  %b = tensor.extract_slice %x[0, 32] [4, 32] [1, 1] : tensor<4x64xf16> to tensor<4x32xf16>
  %n = arith.negf %b : tensor<4x32xf16>
  %s = arith.mulf %a, %n : tensor<4x32xf16>
  %c = tensor.concat dim(1) %s, %a : (tensor<4x32xf16>, tensor<4x32xf16>) -> tensor<4x64xf16>
  %e = tensor.empty() : tensor<64x4xf16>
  %t = linalg.transpose ins(%c : tensor<4x64xf16>) outs(%e : tensor<64x4xf16>) permutation = [1, 0]
  %r = tensor.expand_shape %t [[0, 1], [2]] output_shape [8, 8, 4] : tensor<64x4xf16> into tensor<8x8x4xf16>
  return %r : tensor<8x8x4xf16>
}

// -----

// A part that somebody outside reads in between is two programs, in order; so are two functions.
// CHECK-LABEL: func.func @between
// CHECK-NEXT: %[[A:.*]] = mirage_kernel.call @between_0
// CHECK-NEXT: %[[B:.*]] = call @other(%[[A]])
// CHECK-NEXT: %[[C:.*]] = mirage_kernel.call @between_1(%[[A]], %[[B]])
// CHECK-NEXT: return %[[C]]
// REMARK: @between: 2 of 3 operations in 2 graphs
func.func private @other(tensor<4x4xf32>) -> tensor<4x4xf32>
func.func @between(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = call @other(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %c : tensor<4x4xf32>
}

// -----

// f64 inside, as exporters compute statistics: f32. The test for rows that are masked wholly goes where nothing masks.
#m4 = affine_map<(d0, d1) -> (d0, d1)>
#c4 = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-LABEL: func.func @safe
// CHECK-NEXT: %[[Y:.*]] = mirage_kernel.call @safe_0
// CHECK-NEXT: return %[[Y]]
// CHECK: mirage_kernel.graph @safe_0
// CHECK-NOT: f64
// REMARK: @safe: 5 of 5 operations in 1 graph
func.func @safe(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f64
  %low = arith.constant 0xFFF0000000000000 : f64
  %true = arith.constant true
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  %e1 = tensor.empty() : tensor<4x8xf64>
  %w = linalg.generic {indexing_maps = [#m4, #m4], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e1 : tensor<4x8xf64>) {
  ^bb0(%a: f32, %b: f64):
    %0 = arith.extf %a : f32 to f64
    %1 = math.exp %0 : f64
    linalg.yield %1 : f64
  } -> tensor<4x8xf64>
  %e2 = tensor.empty() : tensor<4x8xf32>
  %p = linalg.generic {indexing_maps = [#m4, #m4], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<4x8xf64>) outs(%e2 : tensor<4x8xf32>) {
  ^bb0(%a: f64, %b: f32):
    %0 = arith.addf %a, %a : f64
    %1 = arith.truncf %0 : f64 to f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  %e3 = tensor.empty() : tensor<4x8xi1>
  %is = linalg.generic {indexing_maps = [#m4, #m4], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e3 : tensor<4x8xi1>) {
  ^bb0(%a: f32, %b: i1):
    %0 = arith.extf %a : f32 to f64
    %1 = arith.cmpf oeq, %0, %low : f64
    linalg.yield %1 : i1
  } -> tensor<4x8xi1>
  %e4 = tensor.empty() : tensor<4x1xi1>
  %t = linalg.fill ins(%true : i1) outs(%e4 : tensor<4x1xi1>) -> tensor<4x1xi1>
  %all = linalg.generic {indexing_maps = [#m4, #c4], iterator_types = ["parallel", "reduction"]} ins(%is : tensor<4x8xi1>) outs(%t : tensor<4x1xi1>) {
  ^bb0(%a: i1, %b: i1):
    %0 = arith.andi %a, %b : i1
    linalg.yield %0 : i1
  } -> tensor<4x1xi1>
  %y = linalg.generic {indexing_maps = [#c4, #m4, #m4, #m4], iterator_types = ["parallel", "parallel"]} ins(%all, %zeros, %p : tensor<4x1xi1>, tensor<4x8xf32>, tensor<4x8xf32>) outs(%e2 : tensor<4x8xf32>) {
  ^bb0(%a: i1, %b: f32, %c: f32, %d: f32):
    %0 = arith.select %a, %b, %c : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// A choice by order is a maximum or a minimum: relu, and a clamp written the other way round.
#i5 = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: mirage_kernel.graph @clamp_0
// CHECK-NEXT: constant 0.0
// CHECK-NEXT: max %arg0
// CHECK-NEXT: constant 6.0
// CHECK-NEXT: min
// CHECK-NEXT: mul
// CHECK-NEXT: return
func.func @clamp(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %zero = arith.constant 0.0 : f16
  %six = arith.constant 6.0 : f16
  %e = tensor.empty() : tensor<4x8xf16>
  %y = linalg.generic {indexing_maps = [#i5, #i5], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf16>) outs(%e : tensor<4x8xf16>) {
  ^bb0(%a: f16, %b: f16):
    %0 = arith.cmpf ugt, %a, %zero : f16
    %1 = arith.select %0, %a, %zero : f16
    %2 = arith.cmpf oge, %1, %six : f16
    %3 = arith.select %2, %six, %1 : f16
    linalg.yield %3 : f16
  } -> tensor<4x8xf16>
  %z = arith.mulf %y, %y : tensor<4x8xf16>
  return %z : tensor<4x8xf16>
}
