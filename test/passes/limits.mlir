// RUN: mirage-mlir-opt %s --mirage-superoptimize 2>&1 | FileCheck %s
// A space too large to cover ends at the default limits in seconds, with what was found until then.

// CHECK-DAG: @attention: {{.*}} candidates kept
// CHECK-DAG: graph @attention_{{.*}}selected
mirage_kernel.graph @attention(%q: tensor<2x16x64xf16>, %k: tensor<2x48x64xf16>, %v: tensor<2x48x64xf16>) -> tensor<2x16x64xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.125} : tensor<2x16x64xf16>, tensor<2x48x64xf16>, tensor<2x48x64xf16>
  return %y : tensor<2x16x64xf16>
}

// CHECK-DAG: @doubling: {{.*}} candidates kept
mirage_kernel.graph @doubling(%x: tensor<8x32xf16>) -> tensor<8x32xf16> {
  %0 = add %x, %x : tensor<8x32xf16>, tensor<8x32xf16>
  %1 = add %0, %0 : tensor<8x32xf16>, tensor<8x32xf16>
  %2 = add %1, %1 : tensor<8x32xf16>, tensor<8x32xf16>
  %3 = add %2, %2 : tensor<8x32xf16>, tensor<8x32xf16>
  return %3 : tensor<8x32xf16>
}
