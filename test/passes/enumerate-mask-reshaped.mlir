// A mask that is reshaped is loaded as it lies, tile by tile; no tensor of numbers is made of it. All are proven.
//
// RUN: mirage-mlir-opt %s --mirage-enumerate='target=h100 max-candidates=4' --mirage-verify 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=PROOF < %t.err
// PROOF: @given: 4 candidates, 4 equivalent
// PROOF: @turned: 4 candidates, 4 equivalent
//
// CHECK-LABEL: graph @given_0(
// CHECK: %[[MASK:.*]] = reshape %arg3 : tensor<16xi1> -> tensor<1x16xi1>
// CHECK-NOT: mask {{.*}} : tensor
// CHECK: custom {{.*}}%[[MASK]]
// CHECK: load {{.*}} : tensor<1x16xi1>
// CHECK: mask {{.*}} : !mirage_block.tile
mirage_kernel.graph @given(%q: tensor<2x8xf16>, %k: tensor<16x8xf16>, %v: tensor<16x8xf16>, %c: tensor<16xi1>) -> tensor<2x8xf16> {
  %m = reshape %c : tensor<16xi1> -> tensor<1x16xi1>
  %y = scaled_dot_product_attention %q, %k, %v, %m {scale = 0.25} : tensor<2x8xf16>, tensor<16x8xf16>, tensor<16x8xf16>, tensor<1x16xi1>
  return %y : tensor<2x8xf16>
}

// One that is transposed is such a tensor, computed once, of which kernels load tiles.
// CHECK-LABEL: graph @turned_0(
// CHECK: %[[TURNED:.*]] = transpose %arg3 {perm = [1, 0]} : tensor<16x2xi1>
// CHECK: %[[ADDED:.*]] = mask %[[TURNED]], {{.*}} : tensor
// CHECK: custom {{.*}}%[[ADDED]]
mirage_kernel.graph @turned(%q: tensor<2x8xf16>, %k: tensor<16x8xf16>, %v: tensor<16x8xf16>, %c: tensor<16x2xi1>) -> tensor<2x8xf16> {
  %m = transpose %c {perm = [1, 0]} : tensor<16x2xi1>
  %y = scaled_dot_product_attention %q, %k, %v, %m {scale = 0.25} : tensor<2x8xf16>, tensor<16x8xf16>, tensor<16x8xf16>, tensor<2x16xi1>
  return %y : tensor<2x8xf16>
}
