// A program of element-wise operators only is one kernel, whatever max-block-ops says: a chain counts as one operator.
// RUN: mirage-mlir-opt %s --mirage-enumerate='max-candidates=2 max-block-ops=4' 2>/dev/null | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-superoptimize='max-block-ops=4' -o %t.mlir 2>/dev/null
// RUN: mirage-check %t.mlir | FileCheck %s --check-prefix=PROVEN
// RUN: mirage-run --target=emulator --program=sum20 %t.mlir | FileCheck %s --check-prefix=OUT
// RUN: mirage-run --target=emulator --program=rows %t.mlir | FileCheck %s --check-prefix=OUT
// OUT: 1 kernel
// OUT: : ok
// @product_0 has a matrix product outside of kernels: its proof is of the graph that was compiled, with a kernel for it.
// PROVEN: ok            @product_0 = @product
// PROVEN: 4 proofs: 4 ok, 0 refused

// Twenty inputs.
// CHECK: graph @sum20(
// CHECK: graph @sum20_0(
// CHECK-NEXT: custom
// CHECK-COUNT-20: load
// CHECK-NOT: load
// CHECK: store
mirage_kernel.graph @sum20(%x0: tensor<32x64xf16>, %x1: tensor<32x64xf16>, %x2: tensor<32x64xf16>, %x3: tensor<32x64xf16>, %x4: tensor<32x64xf16>, %x5: tensor<32x64xf16>, %x6: tensor<32x64xf16>, %x7: tensor<32x64xf16>, %x8: tensor<32x64xf16>, %x9: tensor<32x64xf16>, %x10: tensor<32x64xf16>, %x11: tensor<32x64xf16>, %x12: tensor<32x64xf16>, %x13: tensor<32x64xf16>, %x14: tensor<32x64xf16>, %x15: tensor<32x64xf16>, %x16: tensor<32x64xf16>, %x17: tensor<32x64xf16>, %x18: tensor<32x64xf16>, %x19: tensor<32x64xf16>) -> tensor<32x64xf16> {
  %s1 = add %x0, %x1 : tensor<32x64xf16>, tensor<32x64xf16>
  %s2 = add %s1, %x2 : tensor<32x64xf16>, tensor<32x64xf16>
  %s3 = add %s2, %x3 : tensor<32x64xf16>, tensor<32x64xf16>
  %s4 = add %s3, %x4 : tensor<32x64xf16>, tensor<32x64xf16>
  %s5 = add %s4, %x5 : tensor<32x64xf16>, tensor<32x64xf16>
  %s6 = add %s5, %x6 : tensor<32x64xf16>, tensor<32x64xf16>
  %s7 = add %s6, %x7 : tensor<32x64xf16>, tensor<32x64xf16>
  %s8 = add %s7, %x8 : tensor<32x64xf16>, tensor<32x64xf16>
  %s9 = add %s8, %x9 : tensor<32x64xf16>, tensor<32x64xf16>
  %s10 = add %s9, %x10 : tensor<32x64xf16>, tensor<32x64xf16>
  %s11 = add %s10, %x11 : tensor<32x64xf16>, tensor<32x64xf16>
  %s12 = add %s11, %x12 : tensor<32x64xf16>, tensor<32x64xf16>
  %s13 = add %s12, %x13 : tensor<32x64xf16>, tensor<32x64xf16>
  %s14 = add %s13, %x14 : tensor<32x64xf16>, tensor<32x64xf16>
  %s15 = add %s14, %x15 : tensor<32x64xf16>, tensor<32x64xf16>
  %s16 = add %s15, %x16 : tensor<32x64xf16>, tensor<32x64xf16>
  %s17 = add %s16, %x17 : tensor<32x64xf16>, tensor<32x64xf16>
  %s18 = add %s17, %x18 : tensor<32x64xf16>, tensor<32x64xf16>
  %s19 = add %s18, %x19 : tensor<32x64xf16>, tensor<32x64xf16>
  return %s19 : tensor<32x64xf16>
}

// Rows and columns that are broadcast, constants, two results.
// CHECK: graph @rows_0(
// CHECK-NEXT: custom
// CHECK-NOT: custom
// CHECK: graph @rows_1(
mirage_kernel.graph @rows(%x: tensor<40x48xf16>, %r: tensor<48xf16>, %c: tensor<40x1xf16>, %y: tensor<40x48xf16>) -> (tensor<40x48xf16>, tensor<40x48xf16>) {
  %two = constant 2.0 : tensor<f16>
  %0 = mul %x, %r : tensor<40x48xf16>, tensor<48xf16>
  %1 = add %0, %c : tensor<40x48xf16>, tensor<40x1xf16>
  %2 = mul %1, %two : tensor<40x48xf16>, tensor<f16>
  %3 = sigmoid %2 : tensor<40x48xf16>
  %4 = mul %3, %y : tensor<40x48xf16>, tensor<40x48xf16>
  return %2, %4 : tensor<40x48xf16>, tensor<40x48xf16>
}

// One operator more that is not element-wise, and the limit holds again: the product is a kernel of its own.
// CHECK: graph @product_0(
// CHECK-NEXT: custom (%{{.*}} = %arg0, %{{.*}} = %arg1) outs
// CHECK: matmul
// CHECK: %1 = custom (%{{.*}} = %arg2, %{{.*}} = %0, %{{.*}} = %arg3) outs
// CHECK-NOT: matmul
// CHECK: return
mirage_kernel.graph @product(%a: tensor<8x8xf16>, %b: tensor<8x8xf16>, %c: tensor<8x8xf16>, %d: tensor<8x8xf16>) -> tensor<8x8xf16> {
  %0 = matmul %a, %b : tensor<8x8xf16>, tensor<8x8xf16>
  %1 = add %c, %0 : tensor<8x8xf16>, tensor<8x8xf16>
  %2 = mul %d, %1 : tensor<8x8xf16>, tensor<8x8xf16>
  return %2 : tensor<8x8xf16>
}

// What nothing is computed from is not loaded: %b has no part in the kernel, whose blocks would each take it whole.
// CHECK: graph @unread_0(
// CHECK-NEXT: custom (%{{[a-z0-9]*}} = %arg0, %{{[a-z0-9]*}} = %arg2) outs
// CHECK-COUNT-2: load
// CHECK-NOT: load
// CHECK: return
mirage_kernel.graph @unread(%a: tensor<64x48xf16>, %b: tensor<64x48xf16>, %c: tensor<48xf16>) -> tensor<64x48xf16> {
  %0 = mul %a, %a : tensor<64x48xf16>, tensor<64x48xf16>
  %1 = add %0, %c : tensor<64x48xf16>, tensor<48xf16>
  %2 = tanh %1 : tensor<64x48xf16>
  return %2 : tensor<64x48xf16>
}
