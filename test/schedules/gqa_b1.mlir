// Grouped-query attention of 2 heads, keys split so that 128 blocks work at once: a block has 64 query rows and 256 keys, all its
// scores in registers, no loop. Blocks agree on the maximum and add their parts, which they exchange as f16, in one meeting.
//
// RUN: mirage-mlir-opt %s -o %t.mlir
// RUN: mirage-mlir-opt %t.mlir | diff %t.mlir -
// RUN: mirage-mlir-opt %t.mlir --cse --canonicalize | mirage-mlir-opt | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify -o %t.proved.mlir 2>/dev/null
// RUN: FileCheck %s --check-prefix=PROVED < %t.proved.mlir
// RUN: sed 's/grid_sum %ow/grid_sum %o/' %s | mirage-mlir-opt --mirage-verify 2>/dev/null | FileCheck %s --check-prefix=WRONG
// RUN: sed 's/source = @program}/source = @program, selected}/' %s | mirage-mlir-opt --mirage-lower -o %t.lowered.mlir 2>/dev/null
// RUN: %python %S/../passes/inputs/ptx.py %t.lowered.mlir | FileCheck %s --check-prefix=PTX
//
// PROVED: @candidate{{.*}}proof = #mirage_kernel.proof<
// Tempting: parts added without their blocks' weights.
// WRONG: @candidate{{.*}}mirage_kernel.verdict = "different"
//
// Nothing is stored in shared memory but by copies.
// PTX-NOT: st.shared
// PTX-NOT: .local

mirage_kernel.graph @program(%q: tensor<2x256x64xf16>, %k: tensor<2x64x4096xf16>, %v: tensor<2x4096x64xf16>) -> tensor<2x256x64xf16> {
  %s = matmul %q, %k : tensor<2x256x64xf16>, tensor<2x64x4096xf16>
  %p = softmax %s {dim = 2} : tensor<2x256x4096xf16>
  %y = matmul %p, %v : tensor<2x256x4096xf16>, tensor<2x4096x64xf16>
  return %y : tensor<2x256x64xf16>
}

// CHECK-LABEL: @candidate
// CHECK: custom {{.*}} grid [2, 4, 16] schedule <warps = 4, split = rows>
// CHECK: grid_max
// CHECK-COUNT-2: grid_sum
mirage_kernel.graph @candidate(%q: tensor<2x256x64xf16>, %k: tensor<2x64x4096xf16>, %v: tensor<2x4096x64xf16>) -> tensor<2x256x64xf16> attributes {source = @program} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [2, 4, 16] schedule <warps = 4, split = rows>
      : (tensor<2x256x64xf16>, tensor<2x64x4096xf16>, tensor<2x4096x64xf16>) -> tensor<2x256x64xf16> {
    %qt = load %qk {grid = [0, 1]} : tensor<2x256x64xf16> -> !mirage_block.tile<1x64x64xf16>
    %kt = load %kk {grid = [0, -1, 2]} : tensor<2x64x4096xf16> -> !mirage_block.tile<1x64x256xf16>
    %vt = load %vk {grid = [0, -1, 1]} : tensor<2x4096x64xf16> -> !mirage_block.tile<1x256x64xf16>
    %s = matmul %qt, %kt : !mirage_block.tile<1x64x64xf16>, !mirage_block.tile<1x64x256xf16>
    %m = reduce_max %s {dim = 2} : !mirage_block.tile<1x64x256xf32>
    %d = sub %s, %m : !mirage_block.tile<1x64x256xf32>, !mirage_block.tile<1x64x1xf32>
    %e = exp %d : !mirage_block.tile<1x64x256xf32>
    %l = reduce_sum %e {dim = 2} : !mirage_block.tile<1x64x256xf32>
    %p = cast %e : !mirage_block.tile<1x64x256xf32> -> !mirage_block.tile<1x64x256xf16>
    %o = matmul %p, %vt : !mirage_block.tile<1x64x256xf16>, !mirage_block.tile<1x256x64xf16>
    %oh = cast %o : !mirage_block.tile<1x64x64xf32> -> !mirage_block.tile<1x64x64xf16>
    %all = grid_max %m {axes = [2]} : !mirage_block.tile<1x64x1xf32>
    %behind = sub %m, %all : !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x1xf32>
    %c = exp %behind : !mirage_block.tile<1x64x1xf32>
    %w = mul %l, %c : !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x1xf32>
    %ow = mul %oh, %c : !mirage_block.tile<1x64x64xf16>, !mirage_block.tile<1x64x1xf32>
    %ls = grid_sum %w {axes = [2]} : !mirage_block.tile<1x64x1xf32>
    %os = grid_sum %ow {axes = [2]} : !mirage_block.tile<1x64x64xf32>
    %r = div %os, %ls : !mirage_block.tile<1x64x64xf32>, !mirage_block.tile<1x64x1xf32>
    store %r, %yk {grid = [0, 1]} : !mirage_block.tile<1x64x64xf32>, tensor<2x256x64xf16>
  }
  return %y : tensor<2x256x64xf16>
}
