// Attention with a mask is 13 operators, more than other pieces may have; it is a piece all the same, with all that makes its mask.
//
// RUN: mirage-mlir-opt %s --mirage-enumerate='target=h100 max-candidates=2' --mirage-verify 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=PROOF < %t.err
// Both are accurate: no piece hands on the squares of the norm, of which another kernel would make the sum. In f16 they overflow.
// PROOF: @layer: 2 candidates, 2 equivalent {{.*}} 0 different, 0 unsupported{{$}}
//
// One kernel of scores, maximum, exponentials and values, with the mask beside them; the projection behind it.
// CHECK-LABEL: graph @layer_0(
// CHECK: custom {{.*}}tensor<4x512x32xf16>, {{.*}}tensor<1x1x512xi1>
// CHECK: matmul
// CHECK: reduce_max
// CHECK: exp
// CHECK: matmul
// CHECK: store
// CHECK: custom
// CHECK: matmul
mirage_kernel.graph @layer(%q: tensor<4x2x32xf16>, %k: tensor<4x512x32xf16>, %v: tensor<4x512x32xf16>, %m: tensor<1x1x512xi1>, %wo: tensor<256x256xf16>, %x: tensor<1x256xf16>, %g: tensor<256xf16>, %w1: tensor<256x512xf16>, %w2: tensor<512x256xf16>) -> tensor<1x256xf16> {
  %a = scaled_dot_product_attention %q, %k, %v, %m {scale = 0.176} : tensor<4x2x32xf16>, tensor<4x512x32xf16>, tensor<4x512x32xf16>, tensor<1x1x512xi1>
  %r = reshape %a : tensor<4x2x32xf16> -> tensor<1x256xf16>
  %o = matmul %r, %wo : tensor<1x256xf16>, tensor<256x256xf16>
  %y = add %x, %o : tensor<1x256xf16>, tensor<1x256xf16>
  %n = rms_norm %y, %g {eps = 1.0e-05} : tensor<1x256xf16>, tensor<256xf16>
  %h = matmul %n, %w1 : tensor<1x256xf16>, tensor<256x512xf16>
  %s = silu %h : tensor<1x512xf16>
  %d = matmul %s, %w2 : tensor<1x512xf16>, tensor<512x256xf16>
  %z = add %y, %d : tensor<1x256xf16>, tensor<1x256xf16>
  return %z : tensor<1x256xf16>
}
