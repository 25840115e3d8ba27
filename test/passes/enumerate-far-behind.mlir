// Three large products of one norm: nothing that one kernel does of it is worth a place beside what its pieces take.
//
// RUN: mirage-mlir-opt %s --mirage-enumerate=target=h100 2>/dev/null | FileCheck %s
// CHECK: graph @projections_0({{.*}}time_us = {{[0-9]?[0-9]?[0-9]}}.
// CHECK-NOT: time_us = {{[0-9]+[0-9][0-9][0-9]}}.
mirage_kernel.graph @projections(%x: tensor<1024x2048xf16>, %g: tensor<2048xf16>, %wq: tensor<2048x2048xf16>, %wk: tensor<2048x1024xf16>, %wv: tensor<2048x1024xf16>) -> (tensor<1024x2048xf16>, tensor<1024x1024xf16>, tensor<1024x1024xf16>) {
  %n = rms_norm %x, %g {eps = 1.0e-05} : tensor<1024x2048xf16>, tensor<2048xf16>
  %q = matmul %n, %wq : tensor<1024x2048xf16>, tensor<2048x2048xf16>
  %k = matmul %n, %wk : tensor<1024x2048xf16>, tensor<2048x1024xf16>
  %v = matmul %n, %wv : tensor<1024x2048xf16>, tensor<2048x1024xf16>
  return %q, %k, %v : tensor<1024x2048xf16>, tensor<1024x1024xf16>, tensor<1024x1024xf16>
}
