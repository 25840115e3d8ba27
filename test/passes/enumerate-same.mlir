// A program that stands in the module twice is searched once, and the second takes what was found for the first: the same bytes
// that its own search gives. Names and the order of operands of a sum do not matter; a quotient's does, and so do sizes.
// RUN: split-file %s %t
// RUN: cat %t/a.mlir %t/b.mlir %t/c.mlir %t/d.mlir > %t/all.mlir
// RUN: mirage-mlir-opt %t/all.mlir --mirage-enumerate='max-candidates=3 stats' -o %t/out.mlir 2>&1 | FileCheck %s
// CHECK: remark: @a: 3 candidates kept
// CHECK: enumerate @a states
// CHECK: remark: @b: the same program as @a: 3 candidates kept, the best predicted to take {{[0-9.]+}} us on h200, its own lowering {{[0-9.]+}} us; the space was exhausted
// CHECK-NEXT: mirage_kernel.graph @b
// CHECK: enumerate @b same-as @a
// CHECK-NOT: enumerate @b
// CHECK: remark: @c: 3 candidates kept
// CHECK: enumerate @c states
// CHECK: remark: @d: {{[0-9]}} candidate{{.*}} kept
// CHECK: enumerate @d states
// RUN: sed 's/@a(/@p(/' %t/a.mlir > %t/p.mlir
// RUN: cat %t/a.mlir %t/p.mlir > %t/two.mlir
// RUN: mirage-mlir-opt %t/two.mlir --mirage-enumerate=max-candidates=3 2>/dev/null | sed -n '/graph @p(/,$p' > %t/second
// RUN: mirage-mlir-opt %t/p.mlir --mirage-enumerate=max-candidates=3 2>/dev/null | sed -n '/graph @p(/,$p' > %t/alone
// RUN: diff %t/alone %t/second
// RUN: FileCheck %s --check-prefix=NAMES < %t/out.mlir
// NAMES: graph @b_0{{.*}}source = @b
// NAMES: graph @b_2{{.*}}source = @b
// NAMES: graph @c(
//
// What is selected is proven for each by itself, and compiled.
// RUN: mirage-mlir-opt %t/all.mlir --mirage-superoptimize='measure=no max-candidates=3' 2>/dev/null | FileCheck %s --check-prefix=COMPILED
// COMPILED: gpu.binary @a_{{[0-9]}}_bin
// COMPILED: gpu.binary @b_{{[0-9]}}_bin
//
// As JSON, the second says whose numbers it shows.
// RUN: mirage-mlir-opt %t/all.mlir --mirage-enumerate='max-candidates=3 json' -o /dev/null 2>&1 | FileCheck %s --check-prefix=JSON
// JSON: {"event":"search","program":"a","states"
// JSON: {"event":"search","program":"b","same_as":"a","states"
// JSON: {"event":"search","program":"c","states"

//--- a.mlir
mirage_kernel.graph @a(%x: tensor<8x1024xf16>, %g: tensor<8x1024xf16>) -> tensor<8x1024xf16> {
  %0 = add %x, %g : tensor<8x1024xf16>, tensor<8x1024xf16>
  %1 = exp %0 : tensor<8x1024xf16>
  %2 = div %1, %g : tensor<8x1024xf16>, tensor<8x1024xf16>
  return %2 : tensor<8x1024xf16>
}
//--- b.mlir
mirage_kernel.graph @b(%left: tensor<8x1024xf16>, %right: tensor<8x1024xf16>) -> tensor<8x1024xf16> {
  %sum = add %right, %left : tensor<8x1024xf16>, tensor<8x1024xf16>
  %e = exp %sum : tensor<8x1024xf16>
  %q = div %e, %right : tensor<8x1024xf16>, tensor<8x1024xf16>
  return %q : tensor<8x1024xf16>
}
//--- c.mlir
mirage_kernel.graph @c(%x: tensor<8x1024xf16>, %g: tensor<8x1024xf16>) -> tensor<8x1024xf16> {
  %0 = add %x, %g : tensor<8x1024xf16>, tensor<8x1024xf16>
  %1 = exp %0 : tensor<8x1024xf16>
  %2 = div %g, %1 : tensor<8x1024xf16>, tensor<8x1024xf16>
  return %2 : tensor<8x1024xf16>
}
//--- d.mlir
mirage_kernel.graph @d(%x: tensor<8x1024xf16>, %g: tensor<8x1024xf16>) -> tensor<8x1024xf16> {
  %0 = add %x, %x : tensor<8x1024xf16>, tensor<8x1024xf16>
  %1 = exp %0 : tensor<8x1024xf16>
  %2 = div %1, %g : tensor<8x1024xf16>, tensor<8x1024xf16>
  return %2 : tensor<8x1024xf16>
}
