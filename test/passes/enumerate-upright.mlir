// What is summed lies as the results do, or is summed again: w x' is not followed up where x w' is wanted. So weights as PyTorch
// stores them take no more states than others do. (One row of a gated MLP would take 14 million.)
//
// RUN: mirage-mlir-opt %s --mirage-enumerate="target=h100 stats" 2>&1 >/dev/null | FileCheck %s
//
// CHECK:      enumerate @gated states {{[0-9]{1,6}$}}
// CHECK:      enumerate @gated exhausted 1
// CHECK:      enumerate @across states {{[0-9]{1,6}$}}
// CHECK:      enumerate @across exhausted 1

// RUN: mirage-mlir-opt %s --mirage-enumerate=target=h100 2>/dev/null | FileCheck %s --check-prefix=ACROSS
//
// Where the program transposes, tiles are transposed too.
// ACROSS: graph @across_0(
// ACROSS: transpose
// ACROSS: store

// RUN: mirage-mlir-opt %source/test/bench/workloads/qknorm_b8.mlir --mirage-enumerate=target=h100 2>/dev/null | FileCheck %s --check-prefix=NORMS
//
// Sums of rows stand up where others have them as columns: norms of keys scale scores, in one kernel.
// NORMS: graph @qknorm_b8_{{[0-9]+}}({{.*}}kernels = 1,
// NORMS: reduce_sum {{.*}} !mirage_block.tile<1x{{[0-9]+}}x64xf32>
// NORMS: loop
// NORMS: transpose {{.*}} !mirage_block.tile<1x{{[0-9]+}}x1xf32>
// NORMS-NOT: custom
// NORMS: return

mirage_kernel.graph @gated(%x: tensor<1x4096xbf16>, %a: tensor<14336x4096xbf16>, %b: tensor<14336x4096xbf16>) -> tensor<1x14336xbf16> {
  %1 = matmul %x, %a {transpose_b} : tensor<1x4096xbf16>, tensor<14336x4096xbf16>
  %2 = matmul %x, %b {transpose_b} : tensor<1x4096xbf16>, tensor<14336x4096xbf16>
  %3 = silu %1 : tensor<1x14336xbf16>
  %4 = mul %3, %2 : tensor<1x14336xbf16>, tensor<1x14336xbf16>
  return %4 : tensor<1x14336xbf16>
}

mirage_kernel.graph @across(%x: tensor<64x256xf16>, %a: tensor<512x256xf16>) -> tensor<512x64xf16> {
  %1 = matmul %x, %a {transpose_b} : tensor<64x256xf16>, tensor<512x256xf16>
  %2 = exp %1 : tensor<64x512xf16>
  %3 = transpose %2 {perm = [1, 0]} : tensor<64x512xf16>
  return %3 : tensor<512x64xf16>
}
