// Attention over queries and keys that no tile divides: each tile is loaded once, by tensor copies, products are of warpgroups, and scores
// beyond the last key are told by their index.
//
// RUN: mirage-mlir-opt %s --mirage-enumerate --mirage-prune --mirage-verify -o %t.mlir 2> %t.said
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=SAID < %t.said
// SAID: @ragged: {{[0-9]+}} candidates, {{[0-9]+}} equivalent {{.*}}, 0 different, 0 unsupported
// RUN: mirage-mlir-opt %t.mlir --mirage-select --mirage-layout=explain -o /dev/null 2>&1 | FileCheck %s --check-prefix=PLAN
// PLAN: form: warpgroup products: taken
// PLAN: form: tensor copies: taken
// PLAN: form: producer: taken
// PLAN: form: turns: taken
// RUN: mirage-mlir-opt %t.mlir --mirage-enumerate=replay=yes -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPLAY
// REPLAY-NOT: cut at
// REPLAY: @ragged_0: in the space
// REPLAY-NOT: cut at
//
// Tempting: an end one too far, one too near, a step one too long.
// RUN: sed 's/proof = [^>]*>, //; s/constant 1000.0/constant 1001.0/' %t.mlir | mirage-mlir-opt --mirage-verify -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: sed 's/proof = [^>]*>, //; s/constant 1000.0/constant 999.0/' %t.mlir | mirage-mlir-opt --mirage-verify -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: sed -E 's/proof = [^>]*>, //; s/(iota .*loop = \[[0-9]+)/\11/' %t.mlir | mirage-mlir-opt --mirage-verify -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: @ragged: {{[0-9]+}} candidates, 0 equivalent

// CHECK-LABEL: graph @ragged_0(
// CHECK: custom {{.*}} grid [8, 32]
// CHECK-NEXT: load {{.*}} {grid = [1, 0], tiles = [0, 128]}
// CHECK-NOT: loop {{[1-9][0-9]}}
// CHECK: loop 8
// CHECK-NEXT: load {{.*}}, loop = [1], tiles = [0, 128]} {{.*}} -> !mirage_block.tile<1x128x128xf16>
// CHECK-NOT: load
// CHECK: %[[AT:.*]] = iota {dim = 2, loop = [128]} : !mirage_block.tile<1x1x128xi32>
// CHECK-NEXT: %[[END:.*]] = constant 1000.0 : !mirage_block.tile<1x1x1xi32>
// CHECK-NEXT: %[[INSIDE:.*]] = less %[[AT]], %[[END]] :
// CHECK-NEXT: mask %[[INSIDE]], {{.*}}!mirage_block.tile<1x1x128xi1>, !mirage_block.tile<1x128x128xf32>
// CHECK: load {{.*}}, loop = [1], tiles = [0, 128]}
// CHECK-NOT: load
// CHECK: return
mirage_kernel.graph @ragged(%q: tensor<32x1000x128xf16>, %k: tensor<32x1000x128xf16>, %v: tensor<32x1000x128xf16>) -> tensor<32x1000x128xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.0883789} : tensor<32x1000x128xf16>, tensor<32x1000x128xf16>, tensor<32x1000x128xf16>
  return %y : tensor<32x1000x128xf16>
}
