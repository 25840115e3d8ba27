// Operations and attributes that nobody has registered stand beside ours, and stay as they are through the whole pipeline; inside a
// graph they are refused.
//
// RUN: mirage-mlir-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics | FileCheck %s --check-prefixes=CHECK,READ
// RUN: mirage-mlir-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --emit-bytecode -o /dev/null
// RUN: not mirage-mlir-opt %s --allow-unregistered-dialect --split-input-file --mirage-superoptimize='target=a100 max-candidates=2' 2>/dev/null | FileCheck %s --check-prefixes=CHECK,DONE
// RUN: not mirage-mlir-opt %s --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=STRICT
// STRICT: foreign.mlir:[[#@LINE+5]]:{{.*}}error: operation being parsed with an unregistered dialect

// CHECK: module attributes {test.module = "kept"}
module attributes {test.module = "kept"} {
  // CHECK: "test.before"() {test.a = 1 : i64} : () -> ()
  "test.before"() {test.a = 1} : () -> ()
  // CHECK: graph @p(%arg0: tensor<8x16xf16> {test.in = #test.anything}) -> (tensor<8x16xf16> {test.out}) attributes {test.note = "kept"}
  mirage_kernel.graph @p(%x: tensor<8x16xf16> {test.in = #test.anything}) -> (tensor<8x16xf16> {test.out}) attributes {test.note = "kept"} {
    // CHECK: exp %arg0 {test.b = !test.type}
    %0 = exp %x {test.b = !test.type} : tensor<8x16xf16>
    return %0 : tensor<8x16xf16>
  }
  // DONE: gpu.binary @p_{{.*}}_bin
  // READ-NOT: gpu.binary
  // CHECK: "test.region"() ({
  "test.region"() ({
    // CHECK-NEXT: graph @inner(
    mirage_kernel.graph @inner(%x: tensor<8x16xf16>) -> tensor<8x16xf16> {
      %0 = exp %x : tensor<8x16xf16>
      return %0 : tensor<8x16xf16>
    }
    // CHECK: "test.end"() : () -> ()
    "test.end"() : () -> ()
  }) : () -> ()
}

// -----

// expected-error @+1 {{graph: holds test.op, which is not an operator of the kernel level}}
mirage_kernel.graph @p(%x: tensor<8x16xf16>) -> tensor<8x16xf16> {
  %0 = "test.op"(%x) : (tensor<8x16xf16>) -> tensor<8x16xf16>
  return %0 : tensor<8x16xf16>
}

// -----

// A key without a dialect's prefix is a misspelt one.
mirage_kernel.graph @p(%x: tensor<8x16xf16>) -> tensor<8x16xf16> {
  // expected-error @+1 {{note}}
  %0 = exp %x {note = 1} : tensor<8x16xf16>
  return %0 : tensor<8x16xf16>
}
