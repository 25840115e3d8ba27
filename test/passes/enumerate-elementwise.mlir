// Element-wise operators that hang together are a piece though they are more than eight: the rotations of queries and keys, which share their
// angles, are one kernel behind the products.
// RUN: mirage-mlir-opt %s --mirage-enumerate=target=h200 2>/dev/null | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-superoptimize='target=h200 measure=no' -o %t.mlir 2>/dev/null
// RUN: mirage-run --target=emulator %t.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: µGraph @program_0: 2 kernels
// RIGHT: output 0 {{.*}}: ok
// RIGHT: output 1 {{.*}}: ok
// CHECK: graph @program_0(
// CHECK: %{{[0-9]+}}:2 = custom ({{.*}}
// CHECK: matmul
// CHECK: matmul
// CHECK: %{{[0-9]+}}:2 = custom ({{.*}}
// CHECK-NOT: custom
// CHECK: graph @program_1(
//
// With angles of their own they do not hang together.
// RUN: sed 's/%%s: tensor<128xf16>/%%s: tensor<128xf16>, %%d: tensor<128xf16>, %%t: tensor<128xf16>/; s/1.0, 1.0>}/1.0, 1.0, 1.0, 1.0>}/; s/%%k1 = mul %%kh, %%c/%%k1 = mul %%kh, %%d/; s/%%k6 = mul %%k5, %%s/%%k6 = mul %%k5, %%t/' %s > %t.apart.mlir
// RUN: mirage-mlir-opt %t.apart.mlir --mirage-enumerate=target=h200 2>/dev/null | FileCheck %s --check-prefix=APART
// APART: graph @program_0(
// APART: custom (
// APART: custom (
// APART: custom (
// APART-NOT: custom
// APART: graph @program_1(
mirage_kernel.graph @program(%x: tensor<4x512xf16>, %wq: tensor<512x512xf16>, %wk: tensor<512x256xf16>, %c: tensor<128xf16>, %s: tensor<128xf16>) -> (tensor<4x4x128xf16>, tensor<4x2x128xf16>)
    attributes {mirage_kernel.input_scales = array<f64: 1.0, 0.04, 0.04, 1.0, 1.0>} {
  %q = matmul %x, %wq : tensor<4x512xf16>, tensor<512x512xf16>
  %qh = reshape %q : tensor<4x512xf16> -> tensor<4x4x128xf16>
  %q1 = mul %qh, %c : tensor<4x4x128xf16>, tensor<128xf16>
  %q2 = slice %qh {dim = 2, begin = 64, end = 128} : tensor<4x4x128xf16>
  %q3 = neg %q2 : tensor<4x4x64xf16>
  %q4 = slice %qh {dim = 2, begin = 0, end = 64} : tensor<4x4x128xf16>
  %q5 = concat %q3, %q4 {dim = 2} : tensor<4x4x64xf16>, tensor<4x4x64xf16>
  %q6 = mul %q5, %s : tensor<4x4x128xf16>, tensor<128xf16>
  %q7 = add %q1, %q6 : tensor<4x4x128xf16>, tensor<4x4x128xf16>
  %k = matmul %x, %wk : tensor<4x512xf16>, tensor<512x256xf16>
  %kh = reshape %k : tensor<4x256xf16> -> tensor<4x2x128xf16>
  %k1 = mul %kh, %c : tensor<4x2x128xf16>, tensor<128xf16>
  %k2 = slice %kh {dim = 2, begin = 64, end = 128} : tensor<4x2x128xf16>
  %k3 = neg %k2 : tensor<4x2x64xf16>
  %k4 = slice %kh {dim = 2, begin = 0, end = 64} : tensor<4x2x128xf16>
  %k5 = concat %k3, %k4 {dim = 2} : tensor<4x2x64xf16>, tensor<4x2x64xf16>
  %k6 = mul %k5, %s : tensor<4x2x128xf16>, tensor<128xf16>
  %k7 = add %k1, %k6 : tensor<4x2x128xf16>, tensor<4x2x128xf16>
  return %q7, %k7 : tensor<4x4x128xf16>, tensor<4x2x128xf16>
}
