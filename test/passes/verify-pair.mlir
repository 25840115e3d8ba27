// RUN: mirage-mlir-opt %s --mirage-verify='against=src explain' 2>&1 | FileCheck %s
// RUN: not mirage-mlir-opt %s --mirage-verify=against=nothing 2>&1 | FileCheck %s --check-prefix=MISSING
// Hand-written graphs need no source attribute: `against` names what all others are compared with.

// MISSING: error: mirage-verify: @src shall be compared with @nothing, which is no graph of this module

// CHECK: @tgt: equivalent to @src
// CHECK: @safe: equivalent to @src
// CHECK: @shifted: different at output 0
// CHECK: @src: 3 candidates, 2 equivalent
mirage_kernel.graph @src(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %e = exp %x : tensor<4x8xf16>
  %s = reduce_sum %e {dim = 1} : tensor<4x8xf16>
  %y = div %e, %s : tensor<4x8xf16>, tensor<4x1xf16>
  return %y : tensor<4x8xf16>
}
mirage_kernel.graph @tgt(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %e = exp %x : tensor<4x8xf16>
  %a = reduce_sum %e {dim = 1, extent = 2} : tensor<4x8xf16>
  %s = reduce_sum %a {dim = 1} : tensor<4x2xf16>
  %y = div %e, %s : tensor<4x8xf16>, tensor<4x1xf16>
  return %y : tensor<4x8xf16>
}
// The same function, without overflow.
mirage_kernel.graph @safe(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %y = softmax %x {dim = 1} : tensor<4x8xf16>
  return %y : tensor<4x8xf16>
}
// Tempting: the sum is taken before the shift.
mirage_kernel.graph @shifted(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %m = reduce_max %x {dim = 1} : tensor<4x8xf16>
  %d = sub %x, %m : tensor<4x8xf16>, tensor<4x1xf16>
  %e = exp %d : tensor<4x8xf16>
  %f = exp %x : tensor<4x8xf16>
  %s = reduce_sum %f {dim = 1} : tensor<4x8xf16>
  %y = div %e, %s : tensor<4x8xf16>, tensor<4x1xf16>
  return %y : tensor<4x8xf16>
}
