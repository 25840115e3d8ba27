// A kernel behind another starts early: the first lets it, it asks L2 for its weights, waits, and only then reads what the first wrote. What a
// kernel of the program computes is read by plain loads, which stay behind the wait; weights are not, since nobody writes them.
// RUN: mirage-mlir-opt %s --mirage-layout --mirage-lower=target=h200 -o %t.mlir 2>/dev/null
// RUN: FileCheck %s < %t.mlir
// RUN: mirage-run --target=emulator --program=p --emit-ptx=%t.ptx %t.mlir
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// CHECK: launch <kernel = "p_own_k0", threads = {{[0-9]+}}> :
// 48 blocks, which nothing lets crowd on a few multiprocessors: two have no room on one.
// CHECK: launch <kernel = "p_own_k1", threads = {{[0-9]+}}, shared_bytes = 115{{[0-9]*}}, starts_early = true> :
// PTX: .entry p_own_k0(
// PTX: griddepcontrol.launch_dependents
// PTX-NOT: griddepcontrol.wait
// PTX: .entry p_own_k1(
// PTX-NOT: griddepcontrol.launch_dependents
// PTX: prefetch.global.L2
// PTX: griddepcontrol.wait
// PTX: cp.async
//
// RUN: mirage-run --target=emulator --program=q --emit-ptx=%t.q.ptx %t.mlir
// RUN: FileCheck %s --check-prefix=LOADS < %t.q.ptx
// LOADS: .entry q_own_k1(
// LOADS-NOT: ld.global
// LOADS: griddepcontrol.wait
// LOADS-DAG: ld.global.nc.b32
// LOADS-DAG: ld.global.b32
// LOADS: ret
//
// RUN: mirage-run --target=emulator --program=r --emit-ptx=%t.r.ptx %t.mlir
// RUN: FileCheck %s --check-prefix=BESIDE < %t.r.ptx
// BESIDE: .entry r_own_k1(
// BESIDE-NOT: {{prefetch|st.global|griddepcontrol}}
// BESIDE: mma.sync
// BESIDE-NOT: st.global
// BESIDE: griddepcontrol.wait
// BESIDE: st.global
//
// Of 2304 blocks, those that begin when others have ended ask for nothing.
// RUN: sed 's/grid \[48\]/grid [2304]/; s/\(16\|32\)x48xf/\1x1xf/g; /^mirage_kernel.graph @q/,$d' %s > %t.rounds.mlir
// RUN: mirage-mlir-opt %t.rounds.mlir --mirage-layout --mirage-lower=target=h200 -o %t.rounds.c.mlir 2>/dev/null
// RUN: mirage-run --target=cpu --program=p --emit-ptx=%t.rounds.ptx %t.rounds.c.mlir
// RUN: FileCheck %s --check-prefix=ROUNDS < %t.rounds.ptx
// ROUNDS: .entry p_own_k1(
// ROUNDS: mov.u32 [[ID:%r[0-9]+]], %ctaid.x
// ROUNDS: setp.{{[lg][te]}}.u32 {{%p[0-9]+}}, [[ID]], {{[0-9]+}}
// ROUNDS: prefetch.global.L2
// ROUNDS: griddepcontrol.wait
//
// Asked not to; on a GPU that cannot; and where shares of the grid are uneven, 136 blocks on 132 multiprocessors, unless it is asked to.
// RUN: sed 's/grid \[48\]/grid [48] schedule <start = after>/; /^mirage_kernel.graph @q/,$d' %s | mirage-mlir-opt --mirage-layout --mirage-lower 2>/dev/null | FileCheck %s --check-prefix=AFTER
// RUN: sed '/^mirage_kernel.graph @q/,$d' %s | mirage-mlir-opt --mirage-layout=target=a100 --mirage-lower=target=a100 2>/dev/null | FileCheck %s --check-prefix=AFTER
// RUN: sed 's/grid \[48\]/grid [136]/; s/\(16\|32\)x48xf/\1x17xf/g; s/2304/2312/g; /^mirage_kernel.graph @q/,$d' %s > %t.uneven.mlir
// RUN: mirage-mlir-opt %t.uneven.mlir --mirage-layout --mirage-lower 2>/dev/null | FileCheck %s --check-prefix=AFTER
// RUN: sed 's/grid \[136\]/grid [136] schedule <start = early>/' %t.uneven.mlir | mirage-mlir-opt --mirage-layout --mirage-lower 2>/dev/null | FileCheck %s --check-prefix=ASKED
// AFTER-NOT: starts_early
// AFTER-NOT: griddepcontrol
// AFTER: launch <kernel = "p_own_k1"
// AFTER-NOT: starts_early
// ASKED: starts_early = true
//
// Of old the key was a flag.
// RUN: sed 's/grid \[48\]/grid [48] schedule <dependent_launch = true>/' %s | not mirage-mlir-opt 2>&1 | FileCheck %s --check-prefix=GONE
// GONE: error: {{.*}}dependent_launch{{.*}}write start = early

mirage_kernel.graph @p(%x: tensor<16x256xf16>, %w: tensor<256x2304xf16>) -> tensor<16x2304xf16> {
  %e = custom (%xk = %x) outs(%ek) grid [16] : (tensor<16x256xf16>) -> tensor<16x256xf16> {
    %t = load %xk {grid = [0]} : tensor<16x256xf16> -> !mirage_block.tile<1x256xf16>
    %u = exp %t : !mirage_block.tile<1x256xf16>
    store %u, %ek {grid = [0]} : !mirage_block.tile<1x256xf32>, tensor<16x256xf16>
  }
  %y = custom (%ek = %e, %wk = %w) outs(%yk) grid [48] : (tensor<16x256xf16>, tensor<256x2304xf16>) -> tensor<16x2304xf16> {
    %zero = constant 0.0 : !mirage_block.tile<16x48xf32>
    %sum = loop 8 (%a = %zero sum) : !mirage_block.tile<16x48xf32> {
      %et = load %ek {loop = [1]} : tensor<16x256xf16> -> !mirage_block.tile<16x32xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<256x2304xf16> -> !mirage_block.tile<32x48xf16>
      %p = matmul %et, %wt : !mirage_block.tile<16x32xf16>, !mirage_block.tile<32x48xf16>
      yield %p : !mirage_block.tile<16x48xf32>
    }
    store %sum, %yk {grid = [1]} : !mirage_block.tile<16x48xf32>, tensor<16x2304xf16>
  }
  return %y : tensor<16x2304xf16>
}
mirage_kernel.graph @q(%x: tensor<16x256xf16>, %w: tensor<16x256xf16>) -> tensor<16x256xf16> {
  %e = custom (%xk = %x) outs(%ek) grid [16] : (tensor<16x256xf16>) -> tensor<16x256xf16> {
    %t = load %xk {grid = [0]} : tensor<16x256xf16> -> !mirage_block.tile<1x256xf16>
    %u = exp %t : !mirage_block.tile<1x256xf16>
    store %u, %ek {grid = [0]} : !mirage_block.tile<1x256xf32>, tensor<16x256xf16>
  }
  %y = custom (%ek = %e, %wk = %w) outs(%yk) grid [16] : (tensor<16x256xf16>, tensor<16x256xf16>) -> tensor<16x256xf16> {
    %et = load %ek {grid = [0]} : tensor<16x256xf16> -> !mirage_block.tile<1x256xf16>
    %wt = load %wk {grid = [0]} : tensor<16x256xf16> -> !mirage_block.tile<1x256xf16>
    %s = add %et, %wt : !mirage_block.tile<1x256xf16>, !mirage_block.tile<1x256xf16>
    store %s, %yk {grid = [0]} : !mirage_block.tile<1x256xf32>, tensor<16x256xf16>
  }
  return %y : tensor<16x256xf16>
}
// Two kernels that need nothing of each other: the second does all its work beside the first, and waits to store.
mirage_kernel.graph @r(%x: tensor<16x256xf16>, %w: tensor<256x2304xf16>) -> (tensor<16x256xf16>, tensor<16x2304xf16>) {
  %e = custom (%xk = %x) outs(%ek) grid [16] : (tensor<16x256xf16>) -> tensor<16x256xf16> {
    %t = load %xk {grid = [0]} : tensor<16x256xf16> -> !mirage_block.tile<1x256xf16>
    %u = exp %t : !mirage_block.tile<1x256xf16>
    store %u, %ek {grid = [0]} : !mirage_block.tile<1x256xf32>, tensor<16x256xf16>
  }
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [48] : (tensor<16x256xf16>, tensor<256x2304xf16>) -> tensor<16x2304xf16> {
    %zero = constant 0.0 : !mirage_block.tile<16x48xf32>
    %sum = loop 8 (%a = %zero sum) : !mirage_block.tile<16x48xf32> {
      %xt = load %xk {loop = [1]} : tensor<16x256xf16> -> !mirage_block.tile<16x32xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<256x2304xf16> -> !mirage_block.tile<32x48xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<16x32xf16>, !mirage_block.tile<32x48xf16>
      yield %p : !mirage_block.tile<16x48xf32>
    }
    store %sum, %yk {grid = [1]} : !mirage_block.tile<16x48xf32>, tensor<16x2304xf16>
  }
  return %e, %y : tensor<16x256xf16>, tensor<16x2304xf16>
}
