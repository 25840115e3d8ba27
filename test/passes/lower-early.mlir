// Kernels start early: the first of a program waits for what the stream has before it, and lets the second start behind its wait; the second asks
// L2 for its weights, waits, and only then reads what the first wrote. What may still be written before the wait is read by loads that
// stay behind it, and not by .nc; weights are complete for all but the first, and are.
// RUN: mirage-mlir-opt %s --mirage-layout --mirage-lower=target=h200 -o %t.mlir 2>/dev/null
// RUN: FileCheck %s < %t.mlir
// RUN: mirage-run --target=emulator --program=p --emit-ptx=%t.ptx %t.mlir
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// A kernel that moves little may find any multiprocessors.
// CHECK: launch <kernel = "p_own_k0", threads = {{[0-9]+}}, starts_early = true> :
// 48 blocks, which nothing lets crowd on a few multiprocessors: two have no room on one.
// CHECK: launch <kernel = "p_own_k1", threads = {{[0-9]+}}, shared_bytes = 115{{[0-9]*}}, starts_early = true> :
// PTX: .entry p_own_k0(
// PTX-NOT: {{ld.global|st.global|griddepcontrol}}
// PTX: prefetch.global.L2
// PTX-NOT: {{ld.global|st.global|griddepcontrol}}
// PTX: griddepcontrol.wait
// PTX-NOT: ld.global
// PTX: griddepcontrol.launch_dependents
// Known from here on: the address of x.
// PTX: mov.b64 [[X:%rd[0-9]+]], %rd{{[0-9]+}};
// PTX: add.s64 [[AT:%rd[0-9]+]], [[X]],
// PTX-NOT: ld.global.nc
// PTX: ld.global.{{.*}}[[AT]]
// PTX-NOT: ld.global.nc
// PTX: .entry p_own_k1(
// The last lets the next program start.
// PTX: griddepcontrol.launch_dependents
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
// BESIDE-NOT: {{prefetch|st.global|griddepcontrol.wait}}
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
// RUN: sed '/^mirage_kernel.graph @q/,$d' %s | mirage-mlir-opt --mirage-layout=target=a100 --mirage-lower=target=a100 2>/dev/null | FileCheck %s --check-prefixes=AFTER,NEVER
// RUN: sed 's/grid \[48\]/grid [136]/; s/\(16\|32\)x48xf/\1x17xf/g; s/2304/2312/g; /^mirage_kernel.graph @q/,$d' %s > %t.uneven.mlir
// RUN: mirage-mlir-opt %t.uneven.mlir --mirage-layout --mirage-lower 2>/dev/null | FileCheck %s --check-prefix=AFTER
// RUN: sed 's/grid \[136\]/grid [136] schedule <start = early>/' %t.uneven.mlir | mirage-mlir-opt --mirage-layout --mirage-lower 2>/dev/null | FileCheck %s --check-prefix=ASKED
// NEVER-NOT: {{starts_early|griddepcontrol}}
// AFTER: launch <kernel = "p_own_k1", threads = {{[0-9]+}}{{(, shared_bytes = [0-9]+)?}}> :
// NEVER-NOT: {{starts_early|griddepcontrol}}
// ASKED: launch <kernel = "p_own_k1", {{.*}}starts_early = true> :
//
// 33 MB in columns of 64 bytes: two neighbours share each line, and stand in pairs. Of columns of 96 bytes the pairs share lines, too; 127 blocks
// are no pairs, and 80 of whole lines leave gaps.
// RUN: sed '1,/^\/\/ Streams/d; /^\/\/ Long rows/,$d' %s | mirage-mlir-opt --mirage-layout --mirage-lower 2>/dev/null | FileCheck %s --check-prefix=PAIRS
// RUN: sed '1,/^\/\/ Streams/d; /^\/\/ Long rows/,$d; s/4096x4096/4096x6144/g; s/-> tensor<16x4096/-> tensor<16x6144/; s/x32xf/x48xf/g; s/store \(.*\)16x4096/store \116x6144/; s/return \(.*\)16x4096/return \116x6144/' %s | mirage-mlir-opt --mirage-layout --mirage-lower 2>/dev/null | FileCheck %s --check-prefix=GAPS
// RUN: sed '1,/^\/\/ Streams/d; /^\/\/ Long rows/,$d; s/4096x4096/4096x5120/g; s/grid \[128\]/grid [80]/; s/-> tensor<16x4096/-> tensor<16x5120/; s/x32xf/x64xf/g; s/store \(.*\)16x4096/store \116x5120/; s/return \(.*\)16x4096/return \116x5120/' %s | mirage-mlir-opt --mirage-layout --mirage-lower 2>/dev/null | FileCheck %s --check-prefix=GAPS
// PAIRS: launch <kernel = "s_own_k0", {{.*}}starts_early = true, in_pairs = true> :
// GAPS: launch <kernel = "s_own_k0", threads = {{[0-9]+}}{{(, shared_bytes = [0-9]+)?}}> :
//
// What a block asks for is 32 KB at most, 256 lines, a thread each: not a row of 128 KB.
// RUN: sed '1,/^\/\/ Long rows/d' %s | mirage-mlir-opt --mirage-layout --mirage-lower -o %t.rows.mlir 2>/dev/null
// RUN: %python %S/inputs/ptx.py %t.rows.mlir | FileCheck %s --check-prefix=FEW
// FEW: setp.{{gt.u32 %p[0-9]+, %r[0-9]+, 255|lt.u32 %p[0-9]+, %r[0-9]+, 256}};
// FEW-NOT: setp
// FEW: prefetch.global.L2
// FEW-NOT: {{prefetch|setp}}
// FEW: griddepcontrol.wait
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

// Streams
mirage_kernel.graph @s(%x: tensor<16x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<16x4096xf16> {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [128] : (tensor<16x4096xf16>, tensor<4096x4096xf16>) -> tensor<16x4096xf16> {
    %zero = constant 0.0 : !mirage_block.tile<16x32xf32>
    %sum = loop 8 (%a = %zero sum) : !mirage_block.tile<16x32xf32> {
      %xt = load %xk {loop = [1]} : tensor<16x4096xf16> -> !mirage_block.tile<16x512xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<4096x4096xf16> -> !mirage_block.tile<512x32xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<16x512xf16>, !mirage_block.tile<512x32xf16>
      yield %p : !mirage_block.tile<16x32xf32>
    }
    store %sum, %yk {grid = [1]} : !mirage_block.tile<16x32xf32>, tensor<16x4096xf16>
  }
  return %y : tensor<16x4096xf16>
}

// Long rows
mirage_kernel.graph @t(%x: tensor<132x65536xf16>) -> tensor<132x1xf32> {
  %y = custom (%xk = %x) outs(%yk) grid [132] : (tensor<132x65536xf16>) -> tensor<132x1xf32> {
    %t = load %xk {grid = [0]} : tensor<132x65536xf16> -> !mirage_block.tile<1x65536xf16>
    %s = reduce_sum %t {dim = 1} : !mirage_block.tile<1x65536xf16> -> !mirage_block.tile<1x1xf32>
    store %s, %yk {grid = [0]} : !mirage_block.tile<1x1xf32>, tensor<132x1xf32>
  }
  return %y : tensor<132x1xf32>
}
