// Products of bytes in linalg: of i8 in i32, named and written out, with the scales behind them, and of f8 in f32; and what of
// integers stays outside.
//
// RUN: mirage-mlir-opt %s --convert-linalg-to-mirage | FileCheck %s
// RUN: mirage-mlir-opt %s --convert-linalg-to-mirage=explain -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

// CHECK-LABEL: graph @w8a8_0
// CHECK: matmul %{{.*}}, %{{.*}} : tensor<64x256xi8>, tensor<256x128xi8>
// CHECK: cast %{{.*}} : tensor<64x128xi32> -> tensor<64x128xf32>
// CHECK: mul
// CHECK: mul
func.func @w8a8(%x: tensor<64x256xi8>, %w: tensor<256x128xi8>, %sx: tensor<64x1xf32>, %sw: tensor<128xf32>) -> tensor<64x128xf32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<64x128xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<64x128xi32>) -> tensor<64x128xi32>
  %p = linalg.matmul ins(%x, %w : tensor<64x256xi8>, tensor<256x128xi8>) outs(%z : tensor<64x128xi32>) -> tensor<64x128xi32>
  %o = tensor.empty() : tensor<64x128xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %sx, %sw : tensor<64x128xi32>, tensor<64x1xf32>, tensor<128xf32>) outs(%o : tensor<64x128xf32>) {
  ^bb0(%a: i32, %b: f32, %c: f32, %d: f32):
    %f = arith.sitofp %a : i32 to f32
    %g = arith.mulf %f, %b : f32
    %h = arith.mulf %g, %c : f32
    linalg.yield %h : f32
  } -> tensor<64x128xf32>
  return %y : tensor<64x128xf32>
}

// Integers that come out.
// CHECK-LABEL: graph @sums_0
// CHECK: matmul %{{.*}}, %{{.*}} {transpose_b} : tensor<64x256xi8>, tensor<128x256xi8>
// CHECK-NEXT: return {{.*}}tensor<64x128xi32>
func.func @sums(%x: tensor<64x256xi8>, %w: tensor<128x256xi8>) -> tensor<64x128xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<64x128xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<64x128xi32>) -> tensor<64x128xi32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x256xi8>, tensor<128x256xi8>) outs(%z : tensor<64x128xi32>) {
  ^bb0(%a: i8, %b: i8, %c: i32):
    %f = arith.extsi %a : i8 to i32
    %g = arith.extsi %b : i8 to i32
    %h = arith.muli %f, %g : i32
    %s = arith.addi %c, %h : i32
    linalg.yield %s : i32
  } -> tensor<64x128xi32>
  return %p : tensor<64x128xi32>
}

// CHECK-LABEL: graph @f8_0
// CHECK: matmul %{{.*}}, %{{.*}} : tensor<64x256xf8E4M3FN>, tensor<256x128xf8E5M2>
func.func @f8(%x: tensor<64x256xf8E4M3FN>, %w: tensor<256x128xf8E5M2>) -> tensor<64x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %p = linalg.matmul ins(%x, %w : tensor<64x256xf8E4M3FN>, tensor<256x128xf8E5M2>) outs(%z : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %p : tensor<64x128xf32>
}

// A sum that begins with something.
// WHY: linalg.matmul stays outside: a product of bytes that is added to other integers
// CHECK-NOT: graph @begun
func.func @begun(%x: tensor<8x16xi8>, %w: tensor<16x8xi8>, %b: tensor<8x8xi32>) -> tensor<8x8xi32> {
  %p = linalg.matmul ins(%x, %w : tensor<8x16xi8>, tensor<16x8xi8>) outs(%b : tensor<8x8xi32>) -> tensor<8x8xi32>
  return %p : tensor<8x8xi32>
}

// Bytes without a sign, and others than bytes.
// WHY: linalg.generic stays outside
// CHECK-NOT: graph @unsigned
func.func @unsigned(%x: tensor<8x16xi8>, %w: tensor<16x8xi8>) -> tensor<8x8xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<8x8xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<8x8xi32>) -> tensor<8x8xi32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x16xi8>, tensor<16x8xi8>) outs(%z : tensor<8x8xi32>) {
  ^bb0(%a: i8, %b: i8, %c: i32):
    %f = arith.extui %a : i8 to i32
    %g = arith.extsi %b : i8 to i32
    %h = arith.muli %f, %g : i32
    %s = arith.addi %c, %h : i32
    linalg.yield %s : i32
  } -> tensor<8x8xi32>
  return %p : tensor<8x8xi32>
}

// WHY: linalg.matmul stays outside
// CHECK-NOT: graph @shorts
func.func @shorts(%x: tensor<8x16xi16>, %w: tensor<16x8xi16>) -> tensor<8x8xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<8x8xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<8x8xi32>) -> tensor<8x8xi32>
  %p = linalg.matmul ins(%x, %w : tensor<8x16xi16>, tensor<16x8xi16>) outs(%z : tensor<8x8xi32>) -> tensor<8x8xi32>
  return %p : tensor<8x8xi32>
}
