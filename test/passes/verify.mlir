// RUN: mirage-mlir-opt %s --mirage-verify=explain 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t
// RUN: mirage-mlir-opt %s --mirage-verify='explain num-threads=1' 2>&1 >/dev/null | diff %t -
// RUN: mirage-mlir-opt %s --mirage-verify='explain num-threads=3' 2>&1 >/dev/null | diff %t -
// RUN: mirage-mlir-opt %s --mirage-verify='explain seed=5' 2>&1 >/dev/null | FileCheck %s --check-prefix=SEED
// Proofs go onto what is equivalent, verdicts onto the rest; nothing is removed, and a proof from before is not believed.

// CHECK: graph @p(
// CHECK-NOT: proof
mirage_kernel.graph @p(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> {
  %y = matmul %x, %w : tensor<4x8xf16>, tensor<8x6xf16>
  return %y : tensor<4x6xf16>
}

// WHY: @right: equivalent to @p; a wrong graph passes with probability below 2^-{{[6-9][0-9]|[1-9][0-9][0-9]}}.
// SEED: @right: equivalent to @p
// CHECK: graph @right({{.*}}proof = #mirage_kernel.proof<trials = {{[0-9]+}}, p_bits = {{[0-9]+}}, seed = 1, log2_bound = -
// CHECK-NOT: verdict
mirage_kernel.graph @right(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> attributes {source = @p, mirage_kernel.verdict = "different"} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2] : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x3xf32>
    %acc = loop 4 (%a = %zero sum) : !mirage_block.tile<4x3xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x2xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<8x6xf16> -> !mirage_block.tile<2x3xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<4x2xf16>, !mirage_block.tile<2x3xf16>
      yield %p : !mirage_block.tile<4x3xf32>
    }
    store %acc, %yk {grid = [1]} : !mirage_block.tile<4x3xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// Tempting: doubled on the way in. It comes with a proof of something else, and selected.
// WHY: @doubled: different at output 0, element {{[0-9]+}}: @p gives {{[0-9]+}}, this graph {{[0-9]+}} (residues; seed 1, trial 0)
// SEED: @doubled: different at output 0, {{.*}} seed 5, trial 0)
// CHECK: graph @doubled(
// CHECK-SAME: mirage_kernel.verdict = "different"
// CHECK-NOT: proof
// CHECK-NOT: selected
mirage_kernel.graph @doubled(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> attributes {source = @p, selected, proof = #mirage_kernel.proof<trials = 2, p_bits = 62, seed = 1, log2_bound = -61.0>} {
  %z = add %x, %x : tensor<4x8xf16>, tensor<4x8xf16>
  %y = matmul %z, %w : tensor<4x8xf16>, tensor<8x6xf16>
  return %y : tensor<4x6xf16>
}

// Tempting: right everywhere but in the last column.
// WHY: @ragged: different at output 0, element {{5|11|17|23}}:
// CHECK: graph @ragged({{.*}}verdict = "different"
mirage_kernel.graph @ragged(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> attributes {source = @p} {
  %y = matmul %x, %w : tensor<4x8xf16>, tensor<8x6xf16>
  %a = slice %y {dim = 1, begin = 0, end = 5} : tensor<4x6xf16>
  %b = slice %y {dim = 1, begin = 4, end = 5} : tensor<4x6xf16>
  %c = concat %a, %b {dim = 1} : tensor<4x5xf16>, tensor<4x1xf16>
  return %c : tensor<4x6xf16>
}
// WHY: @p: 3 candidates, 1 equivalent (any wrong one passes with probability below 2^-{{[0-9.]+}}), 2 different, 0 unsupported
