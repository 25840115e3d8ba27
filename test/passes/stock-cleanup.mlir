// Stock clean-up between our passes leaves a planned kernel as it is: the block graph holds each constant once, so that nothing in
// it can be merged. The two means divide by one and the same 64.
// RUN: mirage-mlir-opt %s --mirage-superoptimize -o %t.mlir 2>/dev/null
// RUN: FileCheck %s < %t.mlir
// RUN: mirage-mlir-opt %t.mlir --cse --canonicalize --sccp --loop-invariant-code-motion | diff %t.mlir -
// RUN: mirage-mlir-opt %t.mlir --cse --canonicalize | mirage-mlir-opt --mirage-layout -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAME --allow-empty
//
// CHECK: mirage_kernel.graph @normalized_{{[0-9]+}}
// CHECK: custom {{.*}} plan <
// CHECK: constant 64.0
// CHECK-NOT: constant 64.0
// CHECK: return
// SAME-NOT: was changed

mirage_kernel.graph @normalized(%x: tensor<8x64xf32>, %g: tensor<64xf32>) -> tensor<8x64xf32> {
  %m = reduce_mean %x {dim = 1} : tensor<8x64xf32>
  %d = sub %x, %m : tensor<8x64xf32>, tensor<8x1xf32>
  %q = mul %d, %d : tensor<8x64xf32>, tensor<8x64xf32>
  %v = reduce_mean %q {dim = 1} : tensor<8x64xf32>
  %e = constant 0.5 : tensor<1x1xf32>
  %w = add %v, %e : tensor<8x1xf32>, tensor<1x1xf32>
  %r = rsqrt %w : tensor<8x1xf32>
  %n = mul %d, %r : tensor<8x64xf32>, tensor<8x1xf32>
  %o = mul %n, %g : tensor<8x64xf32>, tensor<64xf32>
  return %o : tensor<8x64xf32>
}
