// What exporters print in their own ways: torch-mlir, JAX through IREE and through StableHLO, TOSA's lowering.
// RUN: mirage-mlir-opt --convert-linalg-to-mirage=explain --split-input-file %s 2>%t.remarks | FileCheck %s
// RUN: FileCheck --check-prefix=REMARK %s <%t.remarks
// RUN: mirage-mlir-opt --convert-linalg-to-mirage --split-input-file %s 2>/dev/null | mirage-mlir-opt --split-input-file | FileCheck %s

// Tensors of rank 0 have one dimension in a program: a loss comes out, a scale goes in.
#id = affine_map<(d0, d1) -> (d0, d1)>
#none = affine_map<(d0, d1) -> ()>
#zero = affine_map<() -> ()>
// CHECK-LABEL: func.func @loss(
// CHECK-NEXT: %[[S:.*]] = tensor.expand_shape %arg1 [] output_shape [1] : tensor<f32> into tensor<1xf32>
// CHECK-NEXT: %[[Y:.*]] = mirage_kernel.call @loss_0(%arg0, %[[S]]) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<1xf32>
// CHECK-NEXT: %[[R:.*]] = tensor.collapse_shape %[[Y]] [] : tensor<1xf32> into tensor<f32>
// CHECK-NEXT: return %[[R]]
// CHECK: mirage_kernel.graph @loss_0(%arg0: tensor<4x8xf32>, %arg1: tensor<1xf32>) -> tensor<1xf32>
// CHECK-NEXT: reduce_sum %arg0 {dim = 0}
// CHECK-NEXT: reduce_sum {{.*}} {dim = 1}
// CHECK-NEXT: reshape {{.*}} -> tensor<1xf32>
// CHECK-NEXT: constant 32.0 : tensor<1xf32>
// CHECK-NEXT: div
// CHECK-NEXT: mul {{.*}}, %arg1
// CHECK-NEXT: return
// REMARK: @loss: 3 of 3 operations in 1 graph
func.func @loss(%x: tensor<4x8xf32>, %scale: tensor<f32>) -> tensor<f32> {
  %z = arith.constant 0.0 : f32
  %n = arith.constant 32.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%f : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  %m = linalg.generic {indexing_maps = [#zero, #zero], iterator_types = []} ins(%s : tensor<f32>) outs(%e : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.divf %a, %n : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  %r = arith.mulf %m, %scale : tensor<f32>
  return %r : tensor<f32>
}

// -----

// A minimum is the negated maximum of the negated; what starts with the largest number there is starts with nothing. A fill
// that is copied is a number: the exponent of a power.
#v = affine_map<(d0, d1) -> (d0, d1)>
#r = affine_map<(d0, d1) -> (d0)>
#no = affine_map<(d0) -> ()>
#one = affine_map<(d0) -> (d0)>
// CHECK-LABEL: mirage_kernel.graph @low_0(
// CHECK-NEXT: %[[N:.*]] = neg %arg0
// CHECK-NEXT: %[[M:.*]] = reduce_max %[[N]] {dim = 1}
// CHECK-NEXT: %[[L:.*]] = neg %[[M]]
// CHECK-NEXT: %[[X:.*]] = reshape %[[L]]
// CHECK-NEXT: %[[S:.*]] = mul %[[X]], %[[X]]
// CHECK-NEXT: %[[Q:.*]] = mul %[[S]], %[[S]]
// CHECK-NEXT: return %[[Q]]
// CHECK: mirage_kernel.graph @start_0(
// CHECK: reduce_max
// CHECK-NEXT: neg
// CHECK-NEXT: reshape
// CHECK-NEXT: constant 2.0
// CHECK-NEXT: min
// REMARK: @low: 2 of 2 operations in 1 graph
func.func @low(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %big = arith.constant 3.40282347E+38 : f32
  %four = arith.constant dense<4.0> : tensor<f32>
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%big : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %m = linalg.reduce {arith.minimumf} ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  %c = linalg.generic {indexing_maps = [#no, #one], iterator_types = ["parallel"]} ins(%four : tensor<f32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  %p = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]} ins(%m, %c : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32):
    %0 = math.powf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %p : tensor<4xf32>
}
func.func @start(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%two : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %m = linalg.reduce {arith.minimumf} ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  return %m : tensor<4xf32>
}

// -----

// Slices written one after the other, in any order, are a concatenation; into a tensor that is there, that one with a box
// exchanged.
// CHECK-LABEL: mirage_kernel.graph @pieces_0(
// CHECK-NEXT: %[[B:.*]] = slice %arg0 {dim = 1, begin = 4, end = 8}
// CHECK-NEXT: %[[N:.*]] = neg %[[B]]
// CHECK-NEXT: %[[A:.*]] = slice %arg0 {dim = 1, begin = 0, end = 4}
// CHECK-NEXT: %[[C:.*]] = concat %[[N]], %[[A]] {dim = 1}
// CHECK-NEXT: mul %[[C]], %arg0
// CHECK: mirage_kernel.graph @box_0(
// CHECK: %[[M:.*]] = mul %arg0, %arg0
// CHECK: %[[L:.*]] = slice %arg1 {dim = 0, begin = 1, end = 3}
// CHECK: %[[L0:.*]] = slice %[[L]] {dim = 1, begin = 0, end = 2}
// CHECK: %[[R:.*]] = slice %arg1 {dim = 0, begin = 1, end = 3}
// CHECK: %[[R0:.*]] = slice %[[R]] {dim = 1, begin = 6, end = 8}
// CHECK: %[[W:.*]] = concat %[[L0]], %[[M]], %[[R0]] {dim = 1}
// CHECK: %[[T:.*]] = slice %arg1 {dim = 0, begin = 0, end = 1}
// CHECK: %[[U:.*]] = slice %arg1 {dim = 0, begin = 3, end = 4}
// CHECK: concat %[[T]], %[[W]], %[[U]] {dim = 0}
// CHECK: mirage_kernel.graph @pad_0(
// CHECK: %[[P:.*]] = constant 0.0 : tensor<4x3xf32>
// CHECK: concat %{{.*}}, %[[P]] {dim = 1}
// REMARK: @pieces: 6 of 6 operations in 1 graph
// REMARK: @box: 3 of 3 operations in 1 graph
// REMARK: @pad: 3 of 3 operations in 1 graph
func.func @pieces(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %b = tensor.extract_slice %x[0, 4] [4, 4] [1, 1] : tensor<4x8xf32> to tensor<4x4xf32>
  %n = arith.negf %b : tensor<4x4xf32>
  %a = tensor.extract_slice %x[0, 0] [4, 4] [1, 1] : tensor<4x8xf32> to tensor<4x4xf32>
  %i = tensor.insert_slice %a into %e[0, 4] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x8xf32>
  %j = tensor.insert_slice %n into %i[0, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x8xf32>
  %y = arith.mulf %j, %x : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
func.func @box(%x: tensor<4x8xf32>, %p: tensor<2x4xf32>) -> tensor<4x8xf32> {
  %m = arith.mulf %p, %p : tensor<2x4xf32>
  %j = tensor.insert_slice %m into %x[1, 2] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<4x8xf32>
  %y = arith.mulf %j, %x : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
func.func @pad(%x: tensor<4x5xf32>) -> tensor<4x8xf32> {
  %z = arith.constant dense<0.0> : tensor<4x8xf32>
  %m = arith.mulf %x, %x : tensor<4x5xf32>
  %j = tensor.insert_slice %m into %z[0, 0] [4, 5] [1, 1] : tensor<4x5xf32> into tensor<4x8xf32>
  %y = arith.mulf %j, %j : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// A concatenation whose body reads its pieces by index.
#out = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: mirage_kernel.graph @by_index_0(%arg0: tensor<1x4xf32>, %arg1: tensor<1x2xf32>, %arg2: tensor<1x6xf32>)
// CHECK-NEXT: neg %arg0
// CHECK-NEXT: slice %arg2 {dim = 1, begin = 0, end = 2}
// CHECK-NEXT: concat %{{.*}}, %arg1, %{{.*}} {dim = 1}
// CHECK-NEXT: mul
// REMARK: @by_index: 3 of 3 operations in 1 graph
func.func @by_index(%x: tensor<1x4xf32>, %y: tensor<1x2xf32>, %z: tensor<1x6xf32>) -> tensor<1x8xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %n = arith.negf %x : tensor<1x4xf32>
  %e = tensor.empty() : tensor<1x8xf32>
  %c = linalg.generic {indexing_maps = [#out], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<1x8xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 1 : index
    %in_x = arith.cmpi ult, %i, %c4 : index
    %0 = scf.if %in_x -> (f32) {
      %a = tensor.extract %n[%c0, %i] : tensor<1x4xf32>
      scf.yield %a : f32
    } else {
      %j = arith.subi %i, %c4 : index
      %in_y = arith.cmpi ult, %j, %c2 : index
      %1 = scf.if %in_y -> (f32) {
        %a = tensor.extract %y[%c0, %j] : tensor<1x2xf32>
        scf.yield %a : f32
      } else {
        %k = arith.subi %j, %c2 : index
        %a = tensor.extract %z[%c0, %k] : tensor<1x6xf32>
        scf.yield %a : f32
      }
      scf.yield %1 : f32
    }
    linalg.yield %0 : f32
  } -> tensor<1x8xf32>
  %m = arith.mulf %c, %c : tensor<1x8xf32>
  return %m : tensor<1x8xf32>
}

// -----

// elu, through a tensor of truth values; leaky relu; a comparison that is negated.
#i = affine_map<(d0) -> (d0)>
// CHECK-LABEL: mirage_kernel.graph @elu_0(
// CHECK-NEXT: constant 0.0
// CHECK-NEXT: %[[MIN:.*]] = min %arg0
// CHECK-NEXT: constant 1.0
// CHECK-NEXT: %[[E:.*]] = exp %[[MIN]]
// CHECK-NEXT: %[[M1:.*]] = sub %[[E]]
// CHECK: %[[MAX:.*]] = max %arg0
// CHECK-NEXT: %[[Y:.*]] = add %[[MAX]], %[[M1]]
// CHECK-NEXT: return %[[Y]]
// CHECK: mirage_kernel.graph @leaky_0(
// CHECK: %[[LOW:.*]] = min %arg0
// CHECK: %[[ML:.*]] = mul %[[LOW]]
// CHECK: %[[HIGH:.*]] = max %arg0
// CHECK: %[[Z:.*]] = add %[[HIGH]], %[[ML]]
// CHECK: mul %[[Z]], %[[Z]]
// REMARK: @elu: 4 of 4 operations in 1 graph
// REMARK: @leaky: 2 of 2 operations in 1 graph
func.func @elu(%x: tensor<8xf32>) -> tensor<8xf32> {
  %z = arith.constant 0.0 : f32
  %ei = tensor.empty() : tensor<8xi1>
  %e = tensor.empty() : tensor<8xf32>
  %above = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%ei : tensor<8xi1>) {
  ^bb0(%a: f32, %b: i1):
    %0 = arith.cmpf ogt, %a, %z : f32
    linalg.yield %0 : i1
  } -> tensor<8xi1>
  %low = linalg.generic {indexing_maps = [#i, #i, #i], iterator_types = ["parallel"]} ins(%above, %x : tensor<8xi1>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%p: i1, %a: f32, %b: f32):
    %0 = arith.select %p, %z, %a : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %m = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%low : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.expm1 %a : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#i, #i, #i, #i], iterator_types = ["parallel"]} ins(%above, %x, %m : tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%p: i1, %a: f32, %b: f32, %c: f32):
    %0 = arith.select %p, %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func @leaky(%x: tensor<8xf32>) -> tensor<8xf32> {
  %z = arith.constant 0.0 : f32
  %slope = arith.constant 0.125 : f32
  %true = arith.constant true
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.cmpf ult, %a, %z : f32
    %1 = arith.xori %0, %true : i1
    %2 = arith.mulf %a, %slope : f32
    %3 = arith.select %1, %a, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<8xf32>
  %w = arith.mulf %y, %y : tensor<8xf32>
  return %w : tensor<8xf32>
}

// -----

// What is compared in a wider type is chosen in its own: torch-mlir compares with f64 constants.
#n = affine_map<(d0) -> (d0)>
// CHECK-LABEL: mirage_kernel.graph @narrow_0(
// CHECK: constant 0.0 : tensor<1xf16>
// CHECK-NEXT: max {{.*}} : tensor<8xf16>, tensor<1xf16>
// REMARK: @narrow: 2 of 2 operations in 1 graph
func.func @narrow(%x: tensor<8xf16>) -> tensor<8xf16> {
  %z = arith.constant 0.0 : f16
  %z64 = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<8xf16>
  %y = linalg.generic {indexing_maps = [#n, #n], iterator_types = ["parallel"]} ins(%x : tensor<8xf16>) outs(%e : tensor<8xf16>) {
  ^bb0(%a: f16, %b: f16):
    %0 = arith.extf %a : f16 to f64
    %1 = arith.cmpf ogt, %0, %z64 : f64
    %2 = arith.select %1, %a, %z : f16
    linalg.yield %2 : f16
  } -> tensor<8xf16>
  %w = arith.mulf %y, %y : tensor<8xf16>
  return %w : tensor<8xf16>
}

// -----

// logsumexp guards its maximum against infinity: the maximum. What is only compared leaves nothing behind.
#lv = affine_map<(d0, d1) -> (d0, d1)>
#lr = affine_map<(d0, d1) -> (d0)>
#l1 = affine_map<(d0) -> (d0)>
// CHECK-LABEL: mirage_kernel.graph @guard_0(
// CHECK-NEXT: %[[R:.*]] = reduce_max %arg0 {dim = 1}
// CHECK-NEXT: sub %arg0, %[[R]]
// CHECK-NEXT: exp
// CHECK-NEXT: return
// REMARK: @guard: 5 of 5 operations in 1 graph
func.func @guard(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %bottom = arith.constant 0xFF800000 : f32
  %infinity = arith.constant 0x7F800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %ei = tensor.empty() : tensor<4xi1>
  %ex = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%bottom : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %m = linalg.reduce {arith.maximumf} ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  %size = math.absf %m : tensor<4xf32>
  %is = linalg.generic {indexing_maps = [#l1, #l1], iterator_types = ["parallel"]} ins(%size : tensor<4xf32>) outs(%ei : tensor<4xi1>) {
  ^bb0(%a: f32, %b: i1):
    %0 = arith.cmpf one, %a, %infinity : f32
    linalg.yield %0 : i1
  } -> tensor<4xi1>
  %g = linalg.generic {indexing_maps = [#l1, #l1, #l1], iterator_types = ["parallel"]} ins(%is, %m : tensor<4xi1>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: i1, %a: f32, %b: f32):
    %0 = arith.select %p, %a, %zero : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#lv, #lr, #lv], iterator_types = ["parallel", "parallel"]} ins(%x, %g : tensor<4x8xf32>, tensor<4xf32>) outs(%ex : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// More dimensions than a program has, most of extent 1: as TOSA's tile is lowered.
#src = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1, d3, d5, d7)>
#dst = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2, d3, d4, d5, d6, d7)>
// CHECK-LABEL: mirage_kernel.graph @tile_0(
// CHECK-NEXT: mul
// CHECK-NEXT: reshape {{.*}} -> tensor<2x1x8xf32>
// CHECK-NEXT: broadcast {{.*}} -> tensor<2x3x8xf32>
// CHECK-NEXT: reshape {{.*}} -> tensor<1x6x8x1xf32>
// REMARK: @tile: 4 of 4 operations in 1 graph
func.func @tile(%x: tensor<1x2x8x1xf32>) -> tensor<1x6x8x1xf32> {
  %m = arith.mulf %x, %x : tensor<1x2x8x1xf32>
  %e = tensor.empty() : tensor<1x1x1x2x3x8x1x1xf32>
  %t = linalg.generic {indexing_maps = [#src, #dst], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%m : tensor<1x2x8x1xf32>) outs(%e : tensor<1x1x1x2x3x8x1x1xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<1x1x1x2x3x8x1x1xf32>
  %c = tensor.collapse_shape %t [[0, 1], [2, 3, 4], [5, 6], [7]] : tensor<1x1x1x2x3x8x1x1xf32> into tensor<1x6x8x1xf32>
  %y = arith.mulf %c, %c : tensor<1x6x8x1xf32>
  return %y : tensor<1x6x8x1xf32>
}
