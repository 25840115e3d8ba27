// Predicates, indices and masks print as they are read, at every level, and again in the generic form.
//
// RUN: mirage-mlir-opt %s | FileCheck %s
// RUN: mirage-mlir-opt %s | mirage-mlir-opt | FileCheck %s
// RUN: mirage-mlir-opt %s --mlir-print-op-generic | mirage-mlir-opt | FileCheck %s

// CHECK-LABEL: mirage_kernel.graph @operators
mirage_kernel.graph @operators(%a: tensor<4x8xf16>, %b: tensor<8xf16>, %p: tensor<4x8xi1>, %n: tensor<4x1xi32>) -> tensor<4x8xf16> {
  // CHECK: less %{{.*}}, %{{.*}} : tensor<4x8xf16>, tensor<8xf16>
  %0 = less %a, %b : tensor<4x8xf16>, tensor<8xf16>
  // CHECK: less_equal %{{.*}}, %{{.*}} : tensor<4x8xf16>, tensor<8xf16>
  %1 = less_equal %a, %b : tensor<4x8xf16>, tensor<8xf16>
  // CHECK: greater %{{.*}}, %{{.*}} : tensor<4x8xf16>, tensor<8xf16>
  %2 = greater %a, %b : tensor<4x8xf16>, tensor<8xf16>
  // CHECK: greater_equal %{{.*}}, %{{.*}} : tensor<4x8xf16>, tensor<8xf16>
  %3 = greater_equal %a, %b : tensor<4x8xf16>, tensor<8xf16>
  // CHECK: equal %{{.*}}, %{{.*}} : tensor<4x8xf16>, tensor<8xf16>
  %4 = equal %a, %b : tensor<4x8xf16>, tensor<8xf16>
  // CHECK: not_equal %{{.*}}, %{{.*}} : tensor<4x8xf16>, tensor<8xf16>
  %5 = not_equal %a, %b : tensor<4x8xf16>, tensor<8xf16>
  // CHECK: and %{{.*}}, %{{.*}} : tensor<4x8xi1>, tensor<4x8xi1>
  %6 = and %0, %p : tensor<4x8xi1>, tensor<4x8xi1>
  // CHECK: or %{{.*}}, %{{.*}} : tensor<4x8xi1>, tensor<4x8xi1>
  %7 = or %6, %1 : tensor<4x8xi1>, tensor<4x8xi1>
  // CHECK: not %{{.*}} : tensor<4x8xi1>
  %8 = not %7 : tensor<4x8xi1>
  // CHECK: iota {dim = 1} : tensor<1x8xi32>
  %9 = iota {dim = 1} : tensor<1x8xi32>
  // CHECK: iota {dim = 0, start = -3} : tensor<4x1xi32>
  %10 = iota {dim = 0, start = -3} : tensor<4x1xi32>
  // CHECK: less_equal %{{.*}}, %{{.*}} : tensor<1x8xi32>, tensor<4x1xi32>
  %11 = less_equal %9, %10 : tensor<1x8xi32>, tensor<4x1xi32>
  // CHECK: less %{{.*}}, %{{.*}} : tensor<1x8xi32>, tensor<4x1xi32>
  %12 = less %9, %n : tensor<1x8xi32>, tensor<4x1xi32>
  // CHECK: constant 3.0 : tensor<i32>
  %13 = constant 3.0 : tensor<i32>
  // CHECK: equal %{{.*}}, %{{.*}} : tensor<1x8xi32>, tensor<i32>
  %14 = equal %9, %13 : tensor<1x8xi32>, tensor<i32>
  // CHECK: mask %{{.*}}, %{{.*}} : tensor<4x8xi1>, tensor<4x8xf16>
  %15 = mask %11, %a : tensor<4x8xi1>, tensor<4x8xf16>
  // CHECK: select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8xi1>, tensor<4x8xf16>, tensor<8xf16>
  %16 = select %8, %15, %b : tensor<4x8xi1>, tensor<4x8xf16>, tensor<8xf16>
  // CHECK: cast %{{.*}} : tensor<1x8xi1> -> tensor<1x8xf16>
  %17 = cast %14 : tensor<1x8xi1> -> tensor<1x8xf16>
  // CHECK: reduce_max %{{.*}} {dim = 1} : tensor<4x8xi1>
  %18 = reduce_max %12 {dim = 1} : tensor<4x8xi1>
  %19 = mul %16, %17 : tensor<4x8xf16>, tensor<1x8xf16>
  return %19 : tensor<4x8xf16>
}

// CHECK-LABEL: mirage_kernel.graph @attention
mirage_kernel.graph @attention(%q: tensor<4x8xf16>, %m: tensor<4x4xi1>, %b: tensor<4xf16>) -> tensor<4x8xf16> {
  // CHECK: scaled_dot_product_attention %{{.*}}, %{{.*}}, %{{.*}} {scale = 1.0, causal} : tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>{{$}}
  %0 = scaled_dot_product_attention %q, %q, %q {scale = 1.0, causal, offset = 0, window = 0, cap = 0.0} : tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>
  // CHECK: scaled_dot_product_attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {scale = 0.5, cap = 30.0, causal, offset = -1, window = 2} : tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x4xi1>
  %1 = scaled_dot_product_attention %0, %0, %0, %m {window = 2, offset = -1, causal, scale = 0.5, cap = 30.0} : tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x4xi1>
  // CHECK: scaled_dot_product_attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {scale = 0.5} : tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>, tensor<4xf16>
  %2 = scaled_dot_product_attention %1, %1, %1, %b {scale = 0.5} : tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>, tensor<4xf16>
  return %2 : tensor<4x8xf16>
}

// CHECK-LABEL: mirage_kernel.graph @tiles
mirage_kernel.graph @tiles(%x: tensor<8x16xf16>, %p: tensor<8x16xi1>) -> (tensor<8x16xf16>, tensor<8x16xi1>) {
  %0:2 = custom (%a = %x, %b = %p) outs(%o, %r) grid [2] : (tensor<8x16xf16>, tensor<8x16xi1>) -> (tensor<8x16xf16>, tensor<8x16xi1>) {
    loop 4 {
      %t = load %a {grid = [0], loop = [1]} : tensor<8x16xf16> -> !mirage_block.tile<4x4xf16>
      // CHECK: load %{{.*}} {grid = [0], loop = [1]} : tensor<8x16xi1> -> !mirage_block.tile<4x4xi1>
      %c = load %b {grid = [0], loop = [1]} : tensor<8x16xi1> -> !mirage_block.tile<4x4xi1>
      // CHECK: iota {dim = 0, start = 2, grid = [4]} : !mirage_block.tile<4x1xi32>
      %i = iota {dim = 0, start = 2, grid = [4]} : !mirage_block.tile<4x1xi32>
      // CHECK: iota {dim = 1, loop = [4]} : !mirage_block.tile<1x4xi32>
      %j = iota {dim = 1, loop = [4]} : !mirage_block.tile<1x4xi32>
      %l = less %i, %j : !mirage_block.tile<4x1xi32>, !mirage_block.tile<1x4xi32>
      // CHECK: and %{{.*}}, %{{.*}} : !mirage_block.tile<4x4xi1>, !mirage_block.tile<4x4xi1>
      %d = and %l, %c : !mirage_block.tile<4x4xi1>, !mirage_block.tile<4x4xi1>
      // CHECK: mask %{{.*}}, %{{.*}} : !mirage_block.tile<4x4xi1>, !mirage_block.tile<4x4xf16>
      %m = mask %d, %t : !mirage_block.tile<4x4xi1>, !mirage_block.tile<4x4xf16>
      // CHECK: thread
      %e = thread (%f = %m, %g = %d) : !mirage_block.tile<4x4xf32>, !mirage_block.tile<4x4xi1> {
        // CHECK: not %{{.*}} : !mirage_thread.fragment<4x4xi1>
        %h = not %g : !mirage_thread.fragment<4x4xi1>
        // CHECK: mask %{{.*}}, %{{.*}} : !mirage_thread.fragment<4x4xi1>, !mirage_thread.fragment<4x4xf32>
        %k = mask %h, %f : !mirage_thread.fragment<4x4xi1>, !mirage_thread.fragment<4x4xf32>
        yield %k : !mirage_thread.fragment<4x4xf32>
      }
      store %e, %o {grid = [0], loop = [1]} : !mirage_block.tile<4x4xf32>, tensor<8x16xf16>
      // CHECK: store %{{.*}}, %{{.*}} {grid = [0], loop = [1]} : !mirage_block.tile<4x4xi1>, tensor<8x16xi1>
      store %d, %r {grid = [0], loop = [1]} : !mirage_block.tile<4x4xi1>, tensor<8x16xi1>
    }
  }
  return %0#0, %0#1 : tensor<8x16xf16>, tensor<8x16xi1>
}
