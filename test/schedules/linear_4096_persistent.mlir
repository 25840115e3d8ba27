// linear_persistent.mlir at full size, without clusters: 128 blocks take four tiles of rows each.
//
// RUN: sed 's/source = @program}/source = @program, selected}/' %s > %t.selected.mlir
// RUN: mirage-mlir-opt %t.selected.mlir --mirage-lower 2>/dev/null | sed 's/\\0A/\n/g; s/\\09/ /g' | FileCheck %s --check-prefix=PTX
// RUN: mirage-mlir-opt %t.selected.mlir --mirage-lower=tensor-maps=false 2>/dev/null | FileCheck %s --check-prefix=PLAIN
// RUN: mirage-mlir-opt %t.selected.mlir --mirage-lower=target=a100 2>/dev/null | FileCheck %s --check-prefix=A100
//
// PLAIN: launch <kernel = "candidate_k0", threads = 256, shared_bytes = {{[0-9]+}}, starts_early = true>
// A100: launch <kernel = "candidate_k0", threads = 256, shared_bytes = {{[0-9]+}}>
//
// PTX: maps = [<pointer = 0, {{.*}}swizzle = 3>, <pointer = 1, {{.*}}swizzle = 3>]
// PTX: .maxntid 384
// PTX-NEXT: .minnctapersm 1
// PTX: setmaxnreg.dec.sync.aligned.u32 40;
// PTX: mbarrier.try_wait.parity
// PTX: mbarrier.arrive.expect_tx
// PTX-COUNT-5: cp.async.bulk.tensor.2d
// PTX: setmaxnreg.inc.sync.aligned.u32 232;
// PTX-DAG: wgmma.fence.sync.aligned
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
// PTX-DAG: wgmma.commit_group.sync.aligned
// PTX-DAG: wgmma.wait_group.sync.aligned 1;
// PTX-DAG: wgmma.wait_group.sync.aligned 0;
// PTX-DAG: st.global.v4.b32

mirage_kernel.graph @program(%x: tensor<4096x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %y = matmul %x, %w : tensor<4096x4096xf16>, tensor<4096x4096xf16>
  return %y : tensor<4096x4096xf16>
}

mirage_kernel.graph @candidate(%x: tensor<4096x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> attributes {source = @program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [16, 8]
      schedule <warps = 12, split = rows, roles = [producer(4, 40), consumer(8, 232)],
                loads = [tensor(stages = 4), tensor(stages = 4)]>
      : (tensor<4096x4096xf16>, tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
    loop 4 {
      %zero = constant 0.0 : !mirage_block.tile<128x256xf32>
      %acc = loop 64 (%a = %zero sum) : !mirage_block.tile<128x256xf32> {
        %xt = load %xk {grid = [-1, 0], loop = [0, 1]} : tensor<4096x4096xf16> -> !mirage_block.tile<128x64xf16>
        %wt = load %wk {grid = [1], loop = [-1, 0]} : tensor<4096x4096xf16> -> !mirage_block.tile<64x256xf16>
        %p = matmul %xt, %wt : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x256xf16>
        yield %p : !mirage_block.tile<128x256xf32>
      }
      store %acc, %yk {grid = [1, 0], loop = [0]} : !mirage_block.tile<128x256xf32>, tensor<4096x4096xf16>
    }
  }
  return %y : tensor<4096x4096xf16>
}
