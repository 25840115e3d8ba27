// The schedule of linear_tiles.mlir, persistent: each block walks over several tiles of rows, so that the copies for the next one
// overlap the stores of this one. Two blocks of a cluster share the tiles of x.
//
// RUN: mirage-mlir-opt %s -o %t.mlir
// RUN: mirage-mlir-opt %t.mlir | diff %t.mlir -
// RUN: mirage-mlir-opt %t.mlir --mlir-print-op-generic | mirage-mlir-opt | diff %t.mlir -
// RUN: mirage-mlir-opt %t.mlir --emit-bytecode | mirage-mlir-opt | diff %t.mlir -
// RUN: mirage-mlir-opt %t.mlir --cse --canonicalize | mirage-mlir-opt | diff %t.mlir -
// RUN: mirage-mlir-opt %s --mirage-verify -o %t.proved.mlir 2>/dev/null
// RUN: FileCheck %s --check-prefix=PROVED < %t.proved.mlir
// RUN: sed 's/%zero sum/%zero assign/' %s | mirage-mlir-opt --mirage-verify 2>/dev/null | FileCheck %s --check-prefix=WRONG
// RUN: mirage-module-test %s
// RUN: sed 's/source = @program}/source = @program, selected}/' %s | mirage-mlir-opt --mirage-lower 2>/dev/null | sed 's/\\0A/\n/g; s/\\09/ /g' | FileCheck %s --check-prefix=PTX
//
// PROVED: @candidate{{.*}}proof = #mirage_kernel.proof<
// Tempting: the last step of k instead of the sum.
// WRONG: @candidate{{.*}}mirage_kernel.verdict = "different"
//
// PTX: maps = [<pointer = 0, {{.*}}swizzle = 3>, <pointer = 1, {{.*}}swizzle = 3>]
// PTX: .maxntid 384
// PTX-NEXT: .minnctapersm 1
// PTX-DAG: setmaxnreg.dec.sync.aligned.u32 40;
// PTX-DAG: mbarrier.try_wait.parity
// PTX-DAG: mbarrier.arrive.expect_tx
// PTX-DAG: multicast::cluster
// PTX-DAG: setmaxnreg.inc.sync.aligned.u32 232;
// PTX-DAG: wgmma.fence.sync.aligned
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n{{[0-9]+}}k16.f32.f16.f16
// PTX-DAG: wgmma.commit_group.sync.aligned
// PTX-DAG: wgmma.wait_group.sync.aligned 1;
// PTX-DAG: wgmma.wait_group.sync.aligned 0;
// PTX-DAG: st.global.v4.b32

mirage_kernel.graph @program(%x: tensor<512x256xf16>, %w: tensor<256x128xf16>) -> tensor<512x128xf16> {
  %y = matmul %x, %w : tensor<512x256xf16>, tensor<256x128xf16>
  return %y : tensor<512x128xf16>
}

mirage_kernel.graph @candidate(%x: tensor<512x256xf16>, %w: tensor<256x128xf16>) -> tensor<512x128xf16> attributes {source = @program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2, 1] cluster [2]
      schedule <warps = 12, split = rows, roles = [producer(4, 40), consumer(8, 232)],
                loads = [tensor(stages = 3, multicast = true), tensor(stages = 3)]>
      : (tensor<512x256xf16>, tensor<256x128xf16>) -> tensor<512x128xf16> {
    loop 4 {
      %zero = constant 0.0 : !mirage_block.tile<128x64xf32>
      %acc = loop 4 (%a = %zero sum) : !mirage_block.tile<128x64xf32> {
        %xt = load %xk {grid = [-1, 0], loop = [0, 1]} : tensor<512x256xf16> -> !mirage_block.tile<128x64xf16>
        %wt = load %wk {grid = [1], loop = [-1, 0]} : tensor<256x128xf16> -> !mirage_block.tile<64x64xf16>
        %p = matmul %xt, %wt : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x64xf16>
        yield %p : !mirage_block.tile<128x64xf32>
      }
      store %acc, %yk {grid = [1, 0], loop = [0]} : !mirage_block.tile<128x64xf32>, tensor<512x128xf16>
    }
  }
  return %y : tensor<512x128xf16>
}
