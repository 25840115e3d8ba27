// What blocks exchange of attention travels in 16 bits, divided by the sum of its weights (lib/search/schedule/search_narrow.c): only where
// that sum is at least one.
//
// RUN: mirage-mlir-opt %s --mirage-enumerate='target=h100 max-candidates=24' -o %t.mlir 2>/dev/null
// RUN: %python %S/inputs/narrowed.py %t.mlir | FileCheck %s
//
// CHECK: plain: narrowed
// CHECK: scaled: narrowed
//
// Keys whose number no parts divide; scores that may be minus infinity; scores without their maximum; no 16-bit type.
// CHECK: ragged: whole
// CHECK: masked: whole
// CHECK: unsafe: whole
// CHECK: wide: whole
//
// It is the same sum to the proof, and to the replay; what is multiplied with another factor is neither.
// RUN: mirage-mlir-opt %s --mirage-enumerate='target=h100 max-candidates=24' 2>/dev/null | %python %S/inputs/narrowed.py - plain > %t.one.mlir
// RUN: mirage-mlir-opt %t.one.mlir --mirage-verify 2>/dev/null | FileCheck %s --check-prefix=PROVED
// PROVED: proof = #mirage_kernel.proof<{{.*}}log2_terms =
// RUN: mirage-mlir-opt %t.one.mlir --mirage-enumerate=replay=yes -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPLAY
// REPLAY: in the space
// RUN: %python %S/inputs/narrowed.py %t.mlir plain wrong > %t.wrong.mlir
// RUN: mirage-mlir-opt %t.wrong.mlir --mirage-verify 2>/dev/null | FileCheck %s --check-prefix=WRONG
// WRONG: mirage_kernel.verdict = "different"
// RUN: mirage-mlir-opt %t.wrong.mlir --mirage-enumerate=replay=yes -o /dev/null 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: cut at div by axis: it needs the whole sum

mirage_kernel.graph @plain(%q: tensor<4x64x64xf16>, %k: tensor<4x64x4096xf16>, %v: tensor<4x4096x64xf16>) -> tensor<4x64x64xf16> {
  %s = matmul %q, %k : tensor<4x64x64xf16>, tensor<4x64x4096xf16>
  %p = softmax %s {dim = 2} : tensor<4x64x4096xf16>
  %y = matmul %p, %v : tensor<4x64x4096xf16>, tensor<4x4096x64xf16>
  return %y : tensor<4x64x64xf16>
}
mirage_kernel.graph @scaled(%q: tensor<4x64x64xbf16>, %k: tensor<4x64x4096xbf16>, %v: tensor<4x4096x64xbf16>) -> tensor<4x64x64xbf16> {
  %s = matmul %q, %k : tensor<4x64x64xbf16>, tensor<4x64x4096xbf16>
  %c = constant 0.125 : tensor<4x64x4096xbf16>
  %t = mul %s, %c : tensor<4x64x4096xbf16>, tensor<4x64x4096xbf16>
  %p = softmax %t {dim = 2} : tensor<4x64x4096xbf16>
  %y = matmul %p, %v : tensor<4x64x4096xbf16>, tensor<4x4096x64xbf16>
  return %y : tensor<4x64x64xbf16>
}
mirage_kernel.graph @ragged(%q: tensor<4x64x64xf16>, %k: tensor<4x64x4093xf16>, %v: tensor<4x4093x64xf16>) -> tensor<4x64x64xf16> {
  %s = matmul %q, %k : tensor<4x64x64xf16>, tensor<4x64x4093xf16>
  %p = softmax %s {dim = 2} : tensor<4x64x4093xf16>
  %y = matmul %p, %v : tensor<4x64x4093xf16>, tensor<4x4093x64xf16>
  return %y : tensor<4x64x64xf16>
}
mirage_kernel.graph @masked(%q: tensor<4x64x64xf16>, %k: tensor<4x64x4096xf16>, %v: tensor<4x4096x64xf16>, %m: tensor<1x1x4096xf16>) -> tensor<4x64x64xf16> {
  %s = matmul %q, %k : tensor<4x64x64xf16>, tensor<4x64x4096xf16>
  %t = add %s, %m : tensor<4x64x4096xf16>, tensor<1x1x4096xf16>
  %p = softmax %t {dim = 2} : tensor<4x64x4096xf16>
  %y = matmul %p, %v : tensor<4x64x4096xf16>, tensor<4x4096x64xf16>
  return %y : tensor<4x64x64xf16>
}
mirage_kernel.graph @unsafe(%q: tensor<4x64x64xf16>, %k: tensor<4x64x4096xf16>, %v: tensor<4x4096x64xf16>) -> tensor<4x64x64xf16> {
  %s = matmul %q, %k : tensor<4x64x64xf16>, tensor<4x64x4096xf16>
  %e = exp %s : tensor<4x64x4096xf16>
  %l = reduce_sum %e {dim = 2} : tensor<4x64x4096xf16>
  %p = div %e, %l : tensor<4x64x4096xf16>, tensor<4x64x1xf16>
  %y = matmul %p, %v : tensor<4x64x4096xf16>, tensor<4x4096x64xf16>
  return %y : tensor<4x64x64xf16>
}
mirage_kernel.graph @wide(%q: tensor<4x64x64xf32>, %k: tensor<4x64x4096xf32>, %v: tensor<4x4096x64xf32>) -> tensor<4x64x64xf32> {
  %s = matmul %q, %k : tensor<4x64x64xf32>, tensor<4x64x4096xf32>
  %p = softmax %s {dim = 2} : tensor<4x64x4096xf32>
  %y = matmul %p, %v : tensor<4x64x4096xf32>, tensor<4x4096x64xf32>
  return %y : tensor<4x64x64xf32>
}
