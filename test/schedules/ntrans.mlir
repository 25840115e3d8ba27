// The update of a normalised transformer in one kernel, one row a block: rms(x + alpha * (rms(h) + x)). Nothing names a
// schedule: tiles stay in the threads that load them, and the two norms cost one barrier each.
//
// RUN: mirage-mlir-opt %s -o %t.mlir
// RUN: mirage-mlir-opt %t.mlir | diff %t.mlir -
// RUN: mirage-mlir-opt %t.mlir --mlir-print-op-generic | mirage-mlir-opt | diff %t.mlir -
// RUN: mirage-mlir-opt %t.mlir --emit-bytecode | mirage-mlir-opt | diff %t.mlir -
// RUN: mirage-mlir-opt %s --mirage-verify -o %t.proved.mlir 2>/dev/null
// RUN: FileCheck %s --check-prefix=PROVED < %t.proved.mlir
// RUN: sed 's/div %ht, %hr/div %xt, %hr/' %s | mirage-mlir-opt --mirage-verify 2>/dev/null | FileCheck %s --check-prefix=WRONG
// RUN: sed 's/source = @program}/source = @program, selected}/' %s | mirage-mlir-opt --mirage-layout --mirage-lower -o %t.low.mlir 2>/dev/null
// RUN: FileCheck %s --check-prefix=PLAN < %t.low.mlir
// RUN: %python %S/../passes/inputs/ptx.py %t.low.mlir | FileCheck %s --check-prefix=PTX
// RUN: mirage-run --target=emulator %t.low.mlir | FileCheck %s --check-prefix=EMULATED
//
// PROVED: @candidate{{.*}}proof = #mirage_kernel.proof<
// Tempting: the other operand is normalised.
// WRONG: @candidate{{.*}}mirage_kernel.verdict = "different"
// Only the sums pass through shared memory, a word a warp.
// PLAN: loads = [register(stages = 1), register(stages = 1), register(stages = 1)]
// PLAN: reduce_sum {{.*}}-> !mirage_block.tile<1x1xf32, shared, <{{.*}}stages = 4
// PLAN-NOT: shared, <{{.*}}-> !mirage_block.tile<1x1024xf{{.*}}shared
// All is loaded before the first barrier; two barriers in all.
// PTX-COUNT-3: ld.global.v4.b32
// PTX-NOT: ld.global
// PTX-COUNT-2: bar{{.*}}sync
// PTX-NOT: bar{{.*}}sync
// PTX: st.global.v4.b32
// EMULATED: error {{.*}}: ok

mirage_kernel.graph @program(%h: tensor<4x1024xf16>, %x: tensor<4x1024xf16>, %alpha: tensor<1024xf16>) -> tensor<4x1024xf16> {
  %n = rms_norm %h {eps = 0.0} : tensor<4x1024xf16>
  %d = add %n, %x : tensor<4x1024xf16>, tensor<4x1024xf16>
  %s = mul %d, %alpha : tensor<4x1024xf16>, tensor<1024xf16>
  %u = add %x, %s : tensor<4x1024xf16>, tensor<4x1024xf16>
  %y = rms_norm %u {eps = 0.0} : tensor<4x1024xf16>
  return %y : tensor<4x1024xf16>
}

mirage_kernel.graph @candidate(%h: tensor<4x1024xf16>, %x: tensor<4x1024xf16>, %alpha: tensor<1024xf16>) -> tensor<4x1024xf16>
    attributes {source = @program} {
  %y = custom (%hk = %h, %xk = %x, %ak = %alpha) outs(%yk) grid [4]
      : (tensor<4x1024xf16>, tensor<4x1024xf16>, tensor<1024xf16>) -> tensor<4x1024xf16> {
    %ht = load %hk {grid = [0]} : tensor<4x1024xf16> -> !mirage_block.tile<1x1024xf16>
    %xt = load %xk {grid = [0]} : tensor<4x1024xf16> -> !mirage_block.tile<1x1024xf16>
    %at = load %ak : tensor<1024xf16> -> !mirage_block.tile<1024xf16>
    %count = constant 1024.0 : !mirage_block.tile<1x1xf32>
    %h2 = mul %ht, %ht : !mirage_block.tile<1x1024xf16>, !mirage_block.tile<1x1024xf16>
    %hs = reduce_sum %h2 {dim = 1} : !mirage_block.tile<1x1024xf32> -> !mirage_block.tile<1x1xf32>
    %hm = div %hs, %count : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    %hr = sqrt %hm : !mirage_block.tile<1x1xf32>
    %n = div %ht, %hr : !mirage_block.tile<1x1024xf16>, !mirage_block.tile<1x1xf32>
    %d = add %n, %xt : !mirage_block.tile<1x1024xf32>, !mirage_block.tile<1x1024xf16>
    %s = mul %d, %at : !mirage_block.tile<1x1024xf32>, !mirage_block.tile<1024xf16>
    %u = add %xt, %s : !mirage_block.tile<1x1024xf16>, !mirage_block.tile<1x1024xf32>
    %u2 = mul %u, %u : !mirage_block.tile<1x1024xf32>, !mirage_block.tile<1x1024xf32>
    %us = reduce_sum %u2 {dim = 1} : !mirage_block.tile<1x1024xf32> -> !mirage_block.tile<1x1xf32>
    %um = div %us, %count : !mirage_block.tile<1x1xf32>, !mirage_block.tile<1x1xf32>
    %ur = sqrt %um : !mirage_block.tile<1x1xf32>
    %y1 = div %u, %ur : !mirage_block.tile<1x1024xf32>, !mirage_block.tile<1x1xf32>
    store %y1, %yk {grid = [0]} : !mirage_block.tile<1x1024xf32>, tensor<4x1024xf16>
  }
  return %y : tensor<4x1024xf16>
}
