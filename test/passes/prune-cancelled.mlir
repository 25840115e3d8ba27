// RUN: mirage-mlir-opt %s --mirage-superoptimize='max-candidates=2' -o %t 2>&1 | FileCheck %s
// RUN: mirage-run --target=emulator %t | FileCheck %s --check-prefix=RAN
// The search drops rsqrt(s) * sqrt(s), which abstract expressions keep: every candidate differs by expression, none is
// wrong, and the verifier says so.
// CHECK: @p: no candidate has its abstract expression; the verifier decides
// CHECK: @p: 2 candidates, pruned 0 by expression
// CHECK: @p: {{[12]}} candidate{{s?}}, {{[12]}} equivalent {{.*}}, 0 different, 0 unsupported
// CHECK: @p: selected @p_{{[01]}}
// RAN: output 0 {{.*}}: ok
mirage_kernel.graph @p(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %xx = square %x : tensor<8x64xf16>
  %s = reduce_sum %xx {dim = 1} : tensor<8x64xf16>
  %r = rsqrt %s : tensor<8x1xf16>
  %q = sqrt %s : tensor<8x1xf16>
  %a = mul %x, %r : tensor<8x64xf16>, tensor<8x1xf16>
  %y = mul %a, %q : tensor<8x64xf16>, tensor<8x1xf16>
  %z = div %y, %q : tensor<8x64xf16>, tensor<8x1xf16>
  return %z : tensor<8x64xf16>
}
