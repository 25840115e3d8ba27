// The own lowering of a large product: tiles of warpgroups that the sizes need not divide, and copies of operands whose rows tensor
// copies cannot read.
// RUN: mirage-mlir-opt %s --mirage-layout='own target=h200' 2>/dev/null | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-layout='own target=h200' 2>/dev/null | mirage-mlir-opt --mirage-verify 2>&1 | FileCheck %s --check-prefix=PROOF
// PROOF-COUNT-3: 1 candidate, 1 equivalent
// RUN: mirage-mlir-opt %s --mirage-layout='own target=a100' 2>/dev/null | FileCheck %s --check-prefix=A100
// A100-NOT: loads = [tensor
// A100-NOT: x4160xf16

// CHECK: graph @ragged_own
// CHECK: loads = [tensor{{.*}}, tensor{{.*}}]
// CHECK: load {{.*}}tiles = [128]
// CHECK: store {{.*}}tiles = [128
mirage_kernel.graph @ragged(%x: tensor<3000x1536xbf16>, %w: tensor<1536x8960xbf16>) -> tensor<3000x8960xbf16> {
  %y = matmul %x, %w : tensor<3000x1536xbf16>, tensor<1536x8960xbf16>
  return %y : tensor<3000x8960xbf16>
}

// CHECK: graph @odd_own
// CHECK: load {{.*}} : tensor<1000x4097xf16>
// CHECK: store {{.*}}, tensor<1000x4160xf16>
// CHECK: loads = [tensor{{.*}}, tensor{{.*}}]
// CHECK: load {{.*}} : tensor<1000x4160xf16>
// CHECK: store {{.*}}, tensor<4096x4097xf16>
mirage_kernel.graph @odd(%x: tensor<4096x1000xf16>, %w: tensor<1000x4097xf16>) -> tensor<4096x4097xf16> {
  %y = matmul %x, %w : tensor<4096x1000xf16>, tensor<1000x4097xf16>
  return %y : tensor<4096x4097xf16>
}

// Tiles that would be empty for the most part are not taken: 77 rows are less than two thirds of two slabs.
// CHECK: graph @short_own
// CHECK-NOT: tiles =
mirage_kernel.graph @short(%x: tensor<77x1536xbf16>, %w: tensor<1536x8960xbf16>) -> tensor<77x8960xbf16> {
  %y = matmul %x, %w : tensor<77x1536xbf16>, tensor<1536x8960xbf16>
  return %y : tensor<77x8960xbf16>
}
