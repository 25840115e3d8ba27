// Masks as exporters write them - positions, comparisons of them, their logic, choices - and stored weights.
// RUN: mirage-mlir-opt --convert-linalg-to-mirage=explain --split-input-file --verify-diagnostics %s | FileCheck %s
// RUN: mirage-mlir-opt --convert-linalg-to-mirage --split-input-file %s 2>/dev/null | mirage-mlir-opt --split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>

// Keys up to the query's own; what is not seen is bottom.
// CHECK-LABEL: mirage_kernel.graph @causal_0(
// CHECK: %[[J:.*]] = iota {dim = 1} : tensor<1x8xi32>
// CHECK: %[[I:.*]] = iota {dim = 0} : tensor<4x1xi32>
// CHECK: %[[P:.*]] = less_equal %[[J]], %[[I]]
// CHECK: mask %[[P]], %arg0
// CHECK: exp
// expected-remark @below {{@causal: 4 of 4 operations in 1 graph}}
func.func @causal(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %eb = tensor.empty() : tensor<4x8xi1>
  %ei = tensor.empty() : tensor<4x8xi64>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %p = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%eb : tensor<4x8xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi sle, %j, %i : index
    linalg.yield %c : i1
  } -> tensor<4x8xi1>
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %x : tensor<4x8xi1>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%c: i1, %v: f32, %o: f32):
    %s = arith.select %c, %v, %low : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %y = math.exp %m : tensor<4x8xf32>
  %r = arith.addf %y, %x : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
// An offset, on the side that falls.
// CHECK-LABEL: mirage_kernel.graph @offset_0(
// CHECK: iota {dim = 0, start = 2} : tensor<4x1xi32>
// CHECK: iota {dim = 1} : tensor<1x8xi32>
// CHECK: greater
// CHECK: mask
// expected-remark @below {{@offset: 4 of 4 operations in 1 graph}}
func.func @offset(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %eb = tensor.empty() : tensor<4x8xi1>
  %ei = tensor.empty() : tensor<4x8xi64>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %p = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%eb : tensor<4x8xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %two = arith.constant 2 : index
    %k = arith.addi %i, %two : index
    %c = arith.cmpi sgt, %k, %j : index
    linalg.yield %c : i1
  } -> tensor<4x8xi1>
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %x : tensor<4x8xi1>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%c: i1, %v: f32, %o: f32):
    %s = arith.select %c, %v, %low : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %y = math.exp %m : tensor<4x8xf32>
  %r = arith.addf %y, %x : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
// The opposite of a comparison is one, and a choice the other way round a mask.
// CHECK-LABEL: mirage_kernel.graph @opposite_0(
// CHECK: %[[P:.*]] = less_equal
// CHECK: mask %[[P]], %arg0
// expected-remark @below {{@opposite: 4 of 4 operations in 1 graph}}
func.func @opposite(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %eb = tensor.empty() : tensor<4x8xi1>
  %ei = tensor.empty() : tensor<4x8xi64>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %p = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%eb : tensor<4x8xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi sgt, %j, %i : index
    linalg.yield %c : i1
  } -> tensor<4x8xi1>
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %x : tensor<4x8xi1>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%c: i1, %v: f32, %o: f32):
    %s = arith.select %c, %low, %v : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %y = math.exp %m : tensor<4x8xf32>
  %r = arith.addf %y, %x : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
// A choice between two numbers that are no bottom stays one.
// CHECK-LABEL: mirage_kernel.graph @choice_0(
// CHECK: %[[P:.*]] = equal
// CHECK: constant 0.0
// CHECK: select %[[P]], %arg0
// expected-remark @below {{@choice: 4 of 4 operations in 1 graph}}
func.func @choice(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %eb = tensor.empty() : tensor<4x8xi1>
  %ei = tensor.empty() : tensor<4x8xi64>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %p = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%eb : tensor<4x8xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi eq, %j, %i : index
    linalg.yield %c : i1
  } -> tensor<4x8xi1>
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %x : tensor<4x8xi1>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%c: i1, %v: f32, %o: f32):
    %s = arith.select %c, %v, %zero : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %y = math.exp %m : tensor<4x8xf32>
  %r = arith.addf %y, %x : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
// And; what always holds goes.
// CHECK-LABEL: mirage_kernel.graph @window_0(
// CHECK: %[[A:.*]] = less_equal
// CHECK: %[[J:.*]] = iota {dim = 1, start = -6} : tensor<1x8xi32>
// CHECK: %[[B:.*]] = less %[[J]]
// CHECK: %[[C:.*]] = and %[[A]], %[[B]]
// CHECK: mask %[[C]], %arg0
// expected-remark @below {{@window: 5 of 5 operations in 1 graph}}
func.func @window(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %eb = tensor.empty() : tensor<4x8xi1>
  %ei = tensor.empty() : tensor<4x8xi64>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %p = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%eb : tensor<4x8xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi sle, %j, %i : index
    linalg.yield %c : i1
  } -> tensor<4x8xi1>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4x8xi1>) outs(%eb : tensor<4x8xi1>) {
  ^bb0(%a: i1, %o: i1):
    %true = arith.constant true
    %j = linalg.index 1 : index
    %six = arith.constant 6 : index
    %b = arith.cmpi slt, %j, %six : index
    %c = arith.andi %a, %b : i1
    %d = arith.andi %c, %true : i1
    linalg.yield %d : i1
  } -> tensor<4x8xi1>
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%q, %x : tensor<4x8xi1>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%c: i1, %v: f32, %o: f32):
    %s = arith.select %c, %v, %low : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %y = math.exp %m : tensor<4x8xf32>
  %r = arith.addf %y, %x : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
// An i1 that comes from outside; or, and the opposite of both.
// CHECK-LABEL: mirage_kernel.graph @outside_0(
// CHECK: %[[P:.*]] = less_equal
// CHECK: %[[Q:.*]] = or %[[P]], %arg0
// CHECK: %[[N:.*]] = not %[[Q]]
// CHECK: mask %[[N]], %arg1
// expected-remark @below {{@outside: 5 of 5 operations in 1 graph}}
func.func @outside(%x: tensor<4x8xf32>, %n: tensor<4x8xi1>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %eb = tensor.empty() : tensor<4x8xi1>
  %ei = tensor.empty() : tensor<4x8xi64>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %p = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%eb : tensor<4x8xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi sle, %j, %i : index
    linalg.yield %c : i1
  } -> tensor<4x8xi1>
  %q = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %n : tensor<4x8xi1>, tensor<4x8xi1>) outs(%eb : tensor<4x8xi1>) {
  ^bb0(%a: i1, %b: i1, %o: i1):
    %true = arith.constant true
    %c = arith.ori %a, %b : i1
    %d = arith.xori %c, %true : i1
    linalg.yield %d : i1
  } -> tensor<4x8xi1>
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%q, %x : tensor<4x8xi1>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%c: i1, %v: f32, %o: f32):
    %s = arith.select %c, %v, %low : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %y = math.exp %m : tensor<4x8xf32>
  %r = arith.addf %y, %x : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
// What is 0 or -inf, and added, is a mask of what it is added to.
// CHECK-LABEL: mirage_kernel.graph @bias_0(
// CHECK: %[[P:.*]] = less_equal
// CHECK: mask %[[P]], %arg0
// CHECK: exp
// expected-remark @below {{@bias: 5 of 5 operations in 1 graph}}
func.func @bias(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %eb = tensor.empty() : tensor<4x8xi1>
  %ei = tensor.empty() : tensor<4x8xi64>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %p = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%eb : tensor<4x8xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi sle, %j, %i : index
    linalg.yield %c : i1
  } -> tensor<4x8xi1>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4x8xi1>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%c: i1, %o: f32):
    %s = arith.select %c, %zero, %low : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %m = arith.addf %x, %b : tensor<4x8xf32>
  %y = math.exp %m : tensor<4x8xf32>
  %r = arith.addf %y, %x : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
// Integers as tensors of their own: cast, subtracted, compared with a number.
// CHECK-LABEL: mirage_kernel.graph @tensors_0(
// CHECK: iota {dim = 1, start = 1} : tensor<1x8xi32>
// CHECK: iota {dim = 0} : tensor<4x1xi32>
// CHECK: greater_equal
// CHECK: mask
// expected-remark @below {{@tensors: 7 of 7 operations in 1 graph}}
func.func @tensors(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %eb = tensor.empty() : tensor<4x8xi1>
  %ei = tensor.empty() : tensor<4x8xi64>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %i = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%ei : tensor<4x8xi64>) {
  ^bb0(%o: i64):
    %a = linalg.index 0 : index
    %b = arith.index_cast %a : index to i64
    linalg.yield %b : i64
  } -> tensor<4x8xi64>
  %j = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%ei : tensor<4x8xi64>) {
  ^bb0(%o: i64):
    %a = linalg.index 1 : index
    %b = arith.index_cast %a : index to i64
    linalg.yield %b : i64
  } -> tensor<4x8xi64>
  %d = arith.subi %j, %i : tensor<4x8xi64>
  %n = arith.constant dense<-1> : tensor<4x8xi64>
  %p = arith.cmpi sge, %d, %n : tensor<4x8xi64>
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %x : tensor<4x8xi1>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%c: i1, %v: f32, %o: f32):
    %s = arith.select %c, %v, %low : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %y = math.exp %m : tensor<4x8xf32>
  %r = arith.addf %y, %x : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
// A mask as numbers, and positions as numbers.
// CHECK-LABEL: mirage_kernel.graph @numbers_0(
// CHECK: %[[P:.*]] = less_equal
// CHECK: cast %[[P]] : tensor<4x8xi1> -> tensor<4x8xf32>
// CHECK: iota {dim = 1} : tensor<1x8xi32>
// CHECK: cast {{.*}} : tensor<1x8xi32> -> tensor<1x8xf32>
// expected-remark @below {{@numbers: 4 of 4 operations in 1 graph}}
func.func @numbers(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %eb = tensor.empty() : tensor<4x8xi1>
  %ei = tensor.empty() : tensor<4x8xi64>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %p = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%eb : tensor<4x8xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi sle, %j, %i : index
    linalg.yield %c : i1
  } -> tensor<4x8xi1>
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %x : tensor<4x8xi1>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%c: i1, %v: f32, %o: f32):
    %s = arith.uitofp %c : i1 to f32
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %f = arith.sitofp %k : i64 to f32
    %g = arith.mulf %s, %f : f32
    %h = arith.addf %g, %v : f32
    linalg.yield %h : f32
  } -> tensor<4x8xf32>
  %y = math.exp %m : tensor<4x8xf32>
  %r = arith.addf %y, %x : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
// A weight of bytes, with a scale a row.
// CHECK-LABEL: mirage_kernel.graph @bytes_0(
// CHECK: %[[W:.*]] = cast %arg0 : tensor<4x8xi8> -> tensor<4x8xf32>
// CHECK: mul %[[W]], %arg1
// expected-remark @below {{@bytes: 3 of 3 operations in 1 graph}}
func.func @bytes(%x: tensor<4x8xf32>, %w: tensor<4x8xi8>, %s: tensor<4x1xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %eb = tensor.empty() : tensor<4x8xi1>
  %ei = tensor.empty() : tensor<4x8xi64>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %m = linalg.generic {indexing_maps = [#id, #row, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%w, %s, %x : tensor<4x8xi8>, tensor<4x1xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: i8, %b: f32, %v: f32, %o: f32):
    %f = arith.sitofp %a : i8 to f32
    %g = arith.mulf %f, %b : f32
    %h = arith.addf %g, %v : f32
    linalg.yield %h : f32
  } -> tensor<4x8xf32>
  %y = math.exp %m : tensor<4x8xf32>
  %r = arith.addf %y, %x : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
// One of f8.
// CHECK-LABEL: mirage_kernel.graph @eighths_0(
// CHECK: cast %arg0 : tensor<4x8xf8E4M3FN> -> tensor<4x8xf32>
// expected-remark @below {{@eighths: 3 of 3 operations in 1 graph}}
func.func @eighths(%x: tensor<4x8xf32>, %w: tensor<4x8xf8E4M3FN>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %eb = tensor.empty() : tensor<4x8xi1>
  %ei = tensor.empty() : tensor<4x8xi64>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%w, %x : tensor<4x8xf8E4M3FN>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f8E4M3FN, %v: f32, %o: f32):
    %f = arith.extf %a : f8E4M3FN to f32
    %h = arith.addf %f, %v : f32
    linalg.yield %h : f32
  } -> tensor<4x8xf32>
  %y = math.exp %m : tensor<4x8xf32>
  %r = arith.addf %y, %x : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
// Every other position.
// CHECK-LABEL: func.func @step
// CHECK-NOT: mirage_kernel.call
// expected-remark @below {{@step: 0 of 3 operations in 0 graphs}}
func.func @step(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %eb = tensor.empty() : tensor<4x8xi1>
  %ei = tensor.empty() : tensor<4x8xi64>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  // expected-remark @below {{linalg.generic stays outside: alone it is not worth a kernel}}
  %p = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%eb : tensor<4x8xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %two = arith.constant 2 : index
    %k = arith.muli %j, %two : index
    %c = arith.cmpi sle, %k, %i : index
    linalg.yield %c : i1
  } -> tensor<4x8xi1>
  // expected-remark @below {{linalg.generic stays outside: a mask by positions with a step of 2}}
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %x : tensor<4x8xi1>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%c: i1, %v: f32, %o: f32):
    %s = arith.select %c, %v, %low : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  // expected-remark @below {{math.exp stays outside: alone it is not worth a kernel}}
  %y = math.exp %m : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
// The sum of two.
// CHECK-LABEL: func.func @sum
// CHECK-NOT: mirage_kernel.call
// expected-remark @below {{@sum: 0 of 3 operations in 0 graphs}}
func.func @sum(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %eb = tensor.empty() : tensor<4x8xi1>
  %ei = tensor.empty() : tensor<4x8xi64>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  // expected-remark @below {{linalg.generic stays outside: alone it is not worth a kernel}}
  %p = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%eb : tensor<4x8xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %three = arith.constant 3 : index
    %k = arith.addi %j, %i : index
    %c = arith.cmpi sle, %k, %three : index
    linalg.yield %c : i1
  } -> tensor<4x8xi1>
  // expected-remark @below {{linalg.generic stays outside: a mask by a sum of positions}}
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %x : tensor<4x8xi1>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%c: i1, %v: f32, %o: f32):
    %s = arith.select %c, %v, %low : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  // expected-remark @below {{math.exp stays outside: alone it is not worth a kernel}}
  %y = math.exp %m : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
// The product of two.
// CHECK-LABEL: func.func @product
// CHECK-NOT: mirage_kernel.call
// expected-remark @below {{@product: 0 of 3 operations in 0 graphs}}
func.func @product(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %eb = tensor.empty() : tensor<4x8xi1>
  %ei = tensor.empty() : tensor<4x8xi64>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  // expected-remark @below {{linalg.generic stays outside: a product of positions}}
  %p = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%eb : tensor<4x8xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.muli %j, %i : index
    %c = arith.cmpi sle, %k, %i : index
    linalg.yield %c : i1
  } -> tensor<4x8xi1>
  // expected-remark @below {{linalg.generic stays outside: its body reads integers or truth values that nothing here computes}}
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %x : tensor<4x8xi1>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%c: i1, %v: f32, %o: f32):
    %s = arith.select %c, %v, %low : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  // expected-remark @below {{math.exp stays outside: alone it is not worth a kernel}}
  %y = math.exp %m : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
// Integers without a sign.
// CHECK-LABEL: func.func @unsigned
// CHECK-NOT: mirage_kernel.call
// expected-remark @below {{@unsigned: 0 of 3 operations in 0 graphs}}
func.func @unsigned(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %eb = tensor.empty() : tensor<4x8xi1>
  %ei = tensor.empty() : tensor<4x8xi64>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  // expected-remark @below {{linalg.generic stays outside: integers compared without their signs}}
  %p = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%eb : tensor<4x8xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi ule, %j, %i : index
    linalg.yield %c : i1
  } -> tensor<4x8xi1>
  // expected-remark @below {{linalg.generic stays outside: its body reads integers or truth values that nothing here computes}}
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %x : tensor<4x8xi1>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%c: i1, %v: f32, %o: f32):
    %s = arith.select %c, %v, %low : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  // expected-remark @below {{math.exp stays outside: alone it is not worth a kernel}}
  %y = math.exp %m : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
// Below 0, and cast without a sign.
// CHECK-LABEL: func.func @below
// CHECK-NOT: mirage_kernel.call
// expected-remark @below {{@below: 0 of 3 operations in 0 graphs}}
func.func @below(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %eb = tensor.empty() : tensor<4x8xi1>
  %ei = tensor.empty() : tensor<4x8xi64>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  // expected-remark @below {{linalg.generic stays outside: positions below 0 that are read without their sign}}
  %p = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%eb : tensor<4x8xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %n = arith.constant 2 : index
    %k = arith.subi %i, %n : index
    %u = arith.index_castui %k : index to i64
    %t = arith.constant 1 : i64
    %c = arith.cmpi sle, %u, %t : i64
    linalg.yield %c : i1
  } -> tensor<4x8xi1>
  // expected-remark @below {{linalg.generic stays outside: its body reads integers or truth values that nothing here computes}}
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %x : tensor<4x8xi1>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%c: i1, %v: f32, %o: f32):
    %s = arith.select %c, %v, %low : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  // expected-remark @below {{math.exp stays outside: alone it is not worth a kernel}}
  %y = math.exp %m : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
// Beyond what the narrowest type holds.
// CHECK-LABEL: func.func @large
// CHECK-NOT: mirage_kernel.call
// expected-remark @below {{@large: 0 of 3 operations in 0 graphs}}
func.func @large(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %eb = tensor.empty() : tensor<4x8xi1>
  %ei = tensor.empty() : tensor<4x8xi64>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  // expected-remark @below {{linalg.generic stays outside: positions that are too large}}
  %p = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%eb : tensor<4x8xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %l = arith.constant 4000000000 : index
    %k = arith.addi %j, %l : index
    %c = arith.cmpi sle, %k, %i : index
    linalg.yield %c : i1
  } -> tensor<4x8xi1>
  // expected-remark @below {{linalg.generic stays outside: its body reads integers or truth values that nothing here computes}}
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %x : tensor<4x8xi1>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%c: i1, %v: f32, %o: f32):
    %s = arith.select %c, %v, %low : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  // expected-remark @below {{math.exp stays outside: alone it is not worth a kernel}}
  %y = math.exp %m : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
// A division.
// CHECK-LABEL: func.func @division
// CHECK-NOT: mirage_kernel.call
// expected-remark @below {{@division: 0 of 3 operations in 0 graphs}}
func.func @division(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %eb = tensor.empty() : tensor<4x8xi1>
  %ei = tensor.empty() : tensor<4x8xi64>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  // expected-remark @below {{linalg.generic stays outside: its body has arith.divsi}}
  %p = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%eb : tensor<4x8xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %two = arith.constant 2 : index
    %k = arith.divsi %j, %two : index
    %c = arith.cmpi sle, %k, %i : index
    linalg.yield %c : i1
  } -> tensor<4x8xi1>
  // expected-remark @below {{linalg.generic stays outside: its body reads integers or truth values that nothing here computes}}
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %x : tensor<4x8xi1>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%c: i1, %v: f32, %o: f32):
    %s = arith.select %c, %v, %low : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  // expected-remark @below {{math.exp stays outside: alone it is not worth a kernel}}
  %y = math.exp %m : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
// Integers from outside.
// CHECK-LABEL: func.func @given
// CHECK-NOT: mirage_kernel.call
// expected-remark @below {{@given: 0 of 3 operations in 0 graphs}}
func.func @given(%x: tensor<4x8xf32>, %n: tensor<4x8xi64>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %eb = tensor.empty() : tensor<4x8xi1>
  %ei = tensor.empty() : tensor<4x8xi64>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  // expected-remark @below {{linalg.generic stays outside: its body reads integers or truth values that nothing here computes}}
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%n : tensor<4x8xi64>) outs(%eb : tensor<4x8xi1>) {
  ^bb0(%a: i64, %o: i1):
    %t = arith.constant 1 : i64
    %c = arith.cmpi sle, %a, %t : i64
    linalg.yield %c : i1
  } -> tensor<4x8xi1>
  // expected-remark @below {{linalg.generic stays outside: its body reads integers or truth values that nothing here computes}}
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %x : tensor<4x8xi1>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%c: i1, %v: f32, %o: f32):
    %s = arith.select %c, %v, %low : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  // expected-remark @below {{math.exp stays outside: alone it is not worth a kernel}}
  %y = math.exp %m : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
// An exclusive or of masks.
// CHECK-LABEL: func.func @exclusive
// CHECK-NOT: mirage_kernel.call
// expected-remark @below {{@exclusive: 0 of 4 operations in 0 graphs}}
func.func @exclusive(%x: tensor<4x8xf32>, %n: tensor<4x8xi1>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %eb = tensor.empty() : tensor<4x8xi1>
  %ei = tensor.empty() : tensor<4x8xi64>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  // expected-remark @below {{linalg.generic stays outside: alone it is not worth a kernel}}
  %p = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%eb : tensor<4x8xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi sle, %j, %i : index
    linalg.yield %c : i1
  } -> tensor<4x8xi1>
  // expected-remark @below {{linalg.generic stays outside: its body has an exclusive or of masks}}
  %q = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %n : tensor<4x8xi1>, tensor<4x8xi1>) outs(%eb : tensor<4x8xi1>) {
  ^bb0(%a: i1, %b: i1, %o: i1):
    %c = arith.xori %a, %b : i1
    linalg.yield %c : i1
  } -> tensor<4x8xi1>
  // expected-remark @below {{linalg.generic stays outside: its body reads integers or truth values that nothing here computes}}
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%q, %x : tensor<4x8xi1>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%c: i1, %v: f32, %o: f32):
    %s = arith.select %c, %v, %low : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  // expected-remark @below {{math.exp stays outside: alone it is not worth a kernel}}
  %y = math.exp %m : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
// A truth with its sign is -1.
// CHECK-LABEL: func.func @signed
// CHECK-NOT: mirage_kernel.call
// expected-remark @below {{@signed: 0 of 3 operations in 0 graphs}}
func.func @signed(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %eb = tensor.empty() : tensor<4x8xi1>
  %ei = tensor.empty() : tensor<4x8xi64>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  // expected-remark @below {{linalg.generic stays outside: alone it is not worth a kernel}}
  %p = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%eb : tensor<4x8xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi sle, %j, %i : index
    linalg.yield %c : i1
  } -> tensor<4x8xi1>
  // expected-remark @below {{linalg.generic stays outside: its body reads truth values with a sign}}
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %x : tensor<4x8xi1>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%c: i1, %v: f32, %o: f32):
    %s = arith.sitofp %c : i1 to f32
    %h = arith.addf %s, %v : f32
    linalg.yield %h : f32
  } -> tensor<4x8xf32>
  // expected-remark @below {{math.exp stays outside: alone it is not worth a kernel}}
  %y = math.exp %m : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
// Bytes without one.
// CHECK-LABEL: func.func @bare
// CHECK-NOT: mirage_kernel.call
// expected-remark @below {{@bare: 0 of 2 operations in 0 graphs}}
func.func @bare(%x: tensor<4x8xf32>, %w: tensor<4x8xi8>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %eb = tensor.empty() : tensor<4x8xi1>
  %ei = tensor.empty() : tensor<4x8xi64>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  // expected-remark @below {{linalg.generic stays outside: its body reads integers without a sign}}
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%w, %x : tensor<4x8xi8>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: i8, %v: f32, %o: f32):
    %f = arith.uitofp %a : i8 to f32
    %h = arith.addf %f, %v : f32
    linalg.yield %h : f32
  } -> tensor<4x8xf32>
  // expected-remark @below {{math.exp stays outside: alone it is not worth a kernel}}
  %y = math.exp %m : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
// A choice by numbers, which the search does not take.
// CHECK-LABEL: func.func @numbers_compared
// CHECK-NOT: mirage_kernel.call
// expected-remark @below {{@numbers_compared: 0 of 2 operations in 0 graphs}}
func.func @numbers_compared(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %eb = tensor.empty() : tensor<4x8xi1>
  %ei = tensor.empty() : tensor<4x8xi64>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  // expected-remark @below {{linalg.generic stays outside: its body has arith.select, and chooses by no order of its choices}}
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %c = arith.cmpf ogt, %v, %zero : f32
    %t = arith.constant 3.0 : f32
    %s = arith.select %c, %v, %t : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  // expected-remark @below {{math.exp stays outside: alone it is not worth a kernel}}
  %y = math.exp %m : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
