// RUN: mirage-mlir-opt %s --mirage-enumerate='max-candidates=1' --mirage-verify 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=PROVEN < %t.err
// The program subtracts the maximum of a whole row. The µGraph sees the row in pieces: it keeps a running maximum and
// rescales what it has summed whenever that grows.

// PROVEN: @attention: 1 candidate, 1 equivalent

// CHECK: graph @attention_0({{.*}}proof = #mirage_kernel.proof<
// CHECK: loop {{[0-9]+}} ([[M:%.*]] = %{{.*}} max, %{{.*}} = %{{.*}} rescale, %{{.*}} = %{{.*}} rescale)
// CHECK: [[S:%.*]] = matmul
// CHECK: [[TOP:%.*]] = reduce_max [[S]]
// CHECK: [[NEW:%.*]] = max [[M]], [[TOP]]
// CHECK: sub [[M]], [[NEW]]
// CHECK: [[F:%.*]] = exp
// CHECK: sub [[S]], [[NEW]]
// CHECK: exp
// CHECK: yield [[TOP]], %{{.*}} rescale [[F]], [[F]]
// CHECK: div
// CHECK: store
mirage_kernel.graph @attention(%q: tensor<16x256x64xf16>, %k: tensor<16x64x4096xf16>, %v: tensor<16x4096x64xf16>) -> tensor<16x256x64xf16> {
  %s = matmul %q, %k : tensor<16x256x64xf16>, tensor<16x64x4096xf16>
  %p = softmax %s {dim = 2} : tensor<16x256x4096xf16>
  %y = matmul %p, %v : tensor<16x256x4096xf16>, tensor<16x4096x64xf16>
  return %y : tensor<16x256x64xf16>
}
