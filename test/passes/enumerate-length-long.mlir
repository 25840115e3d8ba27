// Two queries of a sequence that has a length, over 4096 keys: too many for one block, so blocks share them. What is added to the sum
// of a row that sees no key is where the mask is: blocks combine their parts themselves, and no second kernel divides.
// RUN: mirage-mlir-opt %s --mirage-enumerate=max-candidates=6 --mirage-verify -o %t.mlir 2>/dev/null
// RUN: FileCheck %s < %t.mlir
// RUN: not grep 'verdict = "different"' %t.mlir
// CHECK: graph @program_{{[0-9]+}}({{.*}}kernels = 1{{.*}}proof = #mirage_kernel.proof<
// CHECK: {{cluster|grid}}_sum

mirage_kernel.graph @program(%arg0: tensor<1x16x2x64xf16>, %arg1: tensor<1x2x4096x64xf16>, %arg2: tensor<1x2x4096x64xf16>, %arg3: tensor<1xi32>) -> tensor<1x16x2x64xf16> {
  %0 = reshape %arg3 : tensor<1xi32> -> tensor<1x1xi32>
  %1 = reshape %0 : tensor<1x1xi32> -> tensor<1x1x1x1xi32>
  %2 = iota {dim = 3} : tensor<1x1x1x4096xi32>
  %3 = less %2, %1 : tensor<1x1x1x4096xi32>, tensor<1x1x1x1xi32>
  %4 = reshape %arg0 : tensor<1x16x2x64xf16> -> tensor<1x2x8x2x64xf16>
  %5 = reshape %arg1 : tensor<1x2x4096x64xf16> -> tensor<1x2x1x4096x64xf16>
  %6 = reshape %arg2 : tensor<1x2x4096x64xf16> -> tensor<1x2x1x4096x64xf16>
  %7 = reshape %3 : tensor<1x1x1x4096xi1> -> tensor<1x1x1x1x4096xi1>
  %8 = scaled_dot_product_attention %4, %5, %6, %7 {scale = 0.125} : tensor<1x2x8x2x64xf16>, tensor<1x2x1x4096x64xf16>, tensor<1x2x1x4096x64xf16>, tensor<1x1x1x1x4096xi1>
  %9 = reshape %8 : tensor<1x2x8x2x64xf16> -> tensor<1x16x2x64xf16>
  return %9 : tensor<1x16x2x64xf16>
}
