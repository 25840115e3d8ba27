// REQUIRES: z3
// RUN: mirage-mlir-opt %s --mirage-prune="engine=z3 duplicates=false dominated=false explain" -o /dev/null 2>%t
// RUN: FileCheck %s < %t
// RUN: mirage-mlir-opt %S/prune.mlir --mirage-prune="engine=z3 explain stats" -o /dev/null 2>%t
// RUN: FileCheck %S/prune.mlir --check-prefix=WHY < %t
// RUN: not mirage-mlir-opt %s --mirage-prune="engine=cvc5" 2>&1 | FileCheck %s --check-prefix=CHOICE
// Z3 in the place of the normal forms says the same of prune.mlir; here, of axioms one at a time.

// CHECK-NOT: @factored
// CHECK:     @difference: pruned: its abstract expression is not that of @p
// CHECK-NOT: @factored
// CHECK:     @p: 2 candidates, pruned 1 by expression
// CHOICE:    engine

mirage_kernel.graph @p(%a: tensor<4x8xf16>, %b: tensor<4x8xf16>, %c: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %s = add %a, %b : tensor<4x8xf16>, tensor<4x8xf16>
  %e = exp %s : tensor<4x8xf16>
  %y = div %s, %c : tensor<4x8xf16>, tensor<4x8xf16>
  %z = mul %y, %e : tensor<4x8xf16>, tensor<4x8xf16>
  return %z : tensor<4x8xf16>
}
// (a e + b e) / c for (a + b) / c * e, with e = exp(b + a).
mirage_kernel.graph @factored(%a: tensor<4x8xf16>, %b: tensor<4x8xf16>, %c: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @p} {
  %s = add %b, %a : tensor<4x8xf16>, tensor<4x8xf16>
  %e = exp %s : tensor<4x8xf16>
  %u = mul %a, %e : tensor<4x8xf16>, tensor<4x8xf16>
  %v = mul %e, %b : tensor<4x8xf16>, tensor<4x8xf16>
  %t = add %u, %v : tensor<4x8xf16>, tensor<4x8xf16>
  %z = div %t, %c : tensor<4x8xf16>, tensor<4x8xf16>
  return %z : tensor<4x8xf16>
}
// The same with a difference.
mirage_kernel.graph @difference(%a: tensor<4x8xf16>, %b: tensor<4x8xf16>, %c: tensor<4x8xf16>) -> tensor<4x8xf16> attributes {source = @p} {
  %s = add %b, %a : tensor<4x8xf16>, tensor<4x8xf16>
  %e = exp %s : tensor<4x8xf16>
  %u = mul %a, %e : tensor<4x8xf16>, tensor<4x8xf16>
  %v = mul %e, %b : tensor<4x8xf16>, tensor<4x8xf16>
  %t = sub %u, %v : tensor<4x8xf16>, tensor<4x8xf16>
  %z = div %t, %c : tensor<4x8xf16>, tensor<4x8xf16>
  return %z : tensor<4x8xf16>
}
