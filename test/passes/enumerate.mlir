// RUN: mirage-mlir-opt %s --mirage-enumerate='max-candidates=3 stats' 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=FUNNEL < %t.err
// RUN: mirage-mlir-opt %s --mirage-enumerate='max-candidates=3' 2>/dev/null > %t.all
// RUN: mirage-mlir-opt %s --mirage-enumerate='max-candidates=3 num-threads=1' 2>/dev/null | diff %t.all -
// RUN: mirage-mlir-opt %s --mirage-enumerate='griddims=8 franges=4' 2>/dev/null | FileCheck %s --check-prefix=GRID
// RUN: mirage-mlir-opt %s --mirage-enumerate='max-block-ops=1' -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: mirage-mlir-opt %s --mirage-enumerate -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROOM
// RUN: mirage-mlir-opt %t.all --mirage-enumerate='max-candidates=1' 2>/dev/null | FileCheck %s --check-prefix=AGAIN
// Candidates follow their program, best predicted first, with source and cost, under free names.

// FUNNEL: remark: @p: 3 candidates kept, the best {{.*}}; the space was exhausted up to 11 block operators
// FUNNEL-NEXT: states {{[1-9][0-9]*$}}
// FUNNEL-NEXT: cut {{[0-9]+}} by expression
// FUNNEL: enumerate @p states {{[1-9][0-9]*}}
// FUNNEL: enumerate @p candidates 3
// FUNNEL: enumerate @p seconds
// FUNNEL: enumerate @p axiom-sum-mul {{[1-9][0-9]*}}
// FUNNEL: enumerate @p axiom-exp-gauge 0
// GRID: custom {{.*}} grid [8]
// GRID-NOT: grid [{{[2-79]|[1-9][0-9]}}
// GRID-NOT: loop {{[1-35-9]|[1-9][0-9]}} (
// NONE: @p: no candidate found: no block graph of at most 1 operators computes it; the space was exhausted up to 1 block operators
// NONE: hint max-block-ops=2 searches more
// More operators than the program has inputs and operators cannot be what is missing.
// ROOM: @other: {{.*}} none cheaper than its own lowering
// ROOM-NOT: hint
// AGAIN: graph @p(
// AGAIN: graph @p_0(
// AGAIN: graph @p_1(
// AGAIN: graph @p_3(
// AGAIN: graph @p_4(
// AGAIN: graph @p_2(

// CHECK: graph @p(
// CHECK-NEXT: matmul
// CHECK: graph @p_0({{.*}}cost = #mirage_kernel.cost<time_us = [[T:.*]], bytes{{.*}}source = @p}
// CHECK: custom
// CHECK: graph @p_1({{.*}}source = @p}
// CHECK: graph @p_3({{.*}}source = @p}
// CHECK-NOT: source = @p
// CHECK: graph @p_2(
mirage_kernel.graph @p(%x: tensor<16x64xf16>, %w: tensor<64x128xf16>) -> tensor<16x128xf16> {
  %y = matmul %x, %w : tensor<16x64xf16>, tensor<64x128xf16>
  %z = square %y : tensor<16x128xf16>
  return %z : tensor<16x128xf16>
}

// The name @p_2 is taken.
mirage_kernel.graph @p_2(%x: tensor<4xf16>) -> tensor<4xf16> attributes {source = @other} {
  return %x : tensor<4xf16>
}
mirage_kernel.graph @other(%x: tensor<4xf16>) -> tensor<4xf16> {
  return %x : tensor<4xf16>
}
