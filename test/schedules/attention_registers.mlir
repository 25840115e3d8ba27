// Attention whose scores, probabilities and output stay in registers (split = rows): each of four warps owns 16 query rows, a
// row's softmax is an exchange between four lanes, and the probabilities are the second product's first operand as the first
// product left them. Only keys and values pass through shared memory, by asynchronous copies; nothing else is stored there.
//
// RUN: mirage-mlir-opt %s -o %t.mlir
// RUN: mirage-mlir-opt %t.mlir | diff %t.mlir -
// RUN: mirage-mlir-opt %t.mlir --mlir-print-op-generic | mirage-mlir-opt | diff %t.mlir -
// RUN: mirage-mlir-opt %t.mlir --emit-bytecode | mirage-mlir-opt | diff %t.mlir -
// RUN: mirage-mlir-opt %t.mlir --cse --canonicalize | mirage-mlir-opt | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify -o %t.proved.mlir 2>/dev/null
// RUN: FileCheck %s --check-prefix=PROVED < %t.proved.mlir
// RUN: sed 's/rescale %f, %f/rescale %f, %row/' %s | mirage-mlir-opt --mirage-verify 2>/dev/null | FileCheck %s --check-prefix=WRONG
// RUN: mirage-mlir-opt %s --mirage-layout -o %t.once 2>/dev/null
// RUN: FileCheck %s --check-prefix=PLAN < %t.once
// RUN: mirage-mlir-opt %t.once --mirage-layout 2>/dev/null | diff %t.once -
// RUN: sed 's/source = @program}/source = @program, selected}/' %s | mirage-mlir-opt --mirage-lower=target=a100 2>/dev/null | sed 's/\\0A/\n/g' | FileCheck %s --check-prefix=PTX
//
// PROVED: @candidate{{.*}}proof = #mirage_kernel.proof<
// Tempting: output rescaled by the wrong factor.
// WRONG: @candidate{{.*}}mirage_kernel.verdict = "different"
//
// PLAN: = loop 4 {{.*}}tile<1x64x1xf32, register>, !mirage_block.tile<1x64x1xf32, register>, !mirage_block.tile<1x64x64xf32, register> {
// PLAN: matmul {{.*}} -> !mirage_block.tile<1x64x64xf32, register>
// PLAN: thread {{.*}} -> (!mirage_block.tile<1x64x64xf16, register>
// PLAN: matmul {{.*}} -> !mirage_block.tile<1x64x64xf32, register>
//
// PTX: .entry candidate_k0
// PTX-NOT: st.shared
// PTX-NOT: .local
// PTX: cp.async
// PTX-NOT: st.shared
// PTX-NOT: .local
// PTX: ldmatrix
// PTX-NOT: st.shared
// PTX: shfl.sync
// PTX-NOT: st.shared
// PTX: ex2
// PTX-NOT: st.shared
// PTX-COUNT-4: st.global.v4.b32
// PTX-NOT: st.

mirage_kernel.graph @program(%q: tensor<2x128x64xf16>, %k: tensor<2x256x64xf16>, %v: tensor<2x256x64xf16>) -> tensor<2x128x64xf16> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.125} : tensor<2x128x64xf16>, tensor<2x256x64xf16>, tensor<2x256x64xf16>
  return %y : tensor<2x128x64xf16>
}

// CHECK-LABEL: @candidate
// CHECK: custom {{.*}} grid [2, 2] schedule <warps = 4, split = rows>
// CHECK: rescale
mirage_kernel.graph @candidate(%q: tensor<2x128x64xf16>, %k: tensor<2x256x64xf16>, %v: tensor<2x256x64xf16>) -> tensor<2x128x64xf16>
    attributes {source = @program} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [2, 2]
      schedule <warps = 4, split = rows>
      : (tensor<2x128x64xf16>, tensor<2x256x64xf16>, tensor<2x256x64xf16>) -> tensor<2x128x64xf16> {
    %qt = load %qk {grid = [0, 1]} : tensor<2x128x64xf16> -> !mirage_block.tile<1x64x64xf16, shared>
    %none = bottom : !mirage_block.tile<1x64x1xf32, register>
    %l0 = constant 0.0 : !mirage_block.tile<1x64x1xf32, register>
    %o0 = constant 0.0 : !mirage_block.tile<1x64x64xf32, register>
    %m, %l, %o = loop 4 (%mc = %none max, %lc = %l0 rescale, %oc = %o0 rescale)
        : !mirage_block.tile<1x64x1xf32, register>, !mirage_block.tile<1x64x1xf32, register>, !mirage_block.tile<1x64x64xf32, register> {
      %kt = load %kk {grid = [0, -1], loop = [1]} : tensor<2x256x64xf16> -> !mirage_block.tile<1x64x64xf16, shared>
      %vt = load %vk {grid = [0, -1], loop = [1]} : tensor<2x256x64xf16> -> !mirage_block.tile<1x64x64xf16, shared>
      %s = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x64x64xf16, shared>, !mirage_block.tile<1x64x64xf16, shared>
          -> !mirage_block.tile<1x64x64xf32, register>
      %p, %top, %row, %f = thread (%sf = %s, %mf = %mc) : !mirage_block.tile<1x64x64xf32, register>, !mirage_block.tile<1x64x1xf32, register>
          -> (!mirage_block.tile<1x64x64xf16, register>, !mirage_block.tile<1x64x1xf32, register>, !mirage_block.tile<1x64x1xf32, register>, !mirage_block.tile<1x64x1xf32, register>) {
        %scale = constant 0.125 : !mirage_thread.fragment<1x1x1xf32>
        %0 = mul %sf, %scale : !mirage_thread.fragment<1x64x64xf32>, !mirage_thread.fragment<1x1x1xf32>
        %1 = reduce_max %0 {dim = 2} : !mirage_thread.fragment<1x64x64xf32>
        %2 = max %mf, %1 : !mirage_thread.fragment<1x64x1xf32>, !mirage_thread.fragment<1x64x1xf32>
        %3 = sub %0, %2 : !mirage_thread.fragment<1x64x64xf32>, !mirage_thread.fragment<1x64x1xf32>
        %4 = exp %3 : !mirage_thread.fragment<1x64x64xf32>
        %5 = reduce_sum %4 {dim = 2} : !mirage_thread.fragment<1x64x64xf32>
        %6 = cast %4 : !mirage_thread.fragment<1x64x64xf32> -> !mirage_thread.fragment<1x64x64xf16>
        %7 = sub %mf, %2 : !mirage_thread.fragment<1x64x1xf32>, !mirage_thread.fragment<1x64x1xf32>
        %8 = exp %7 : !mirage_thread.fragment<1x64x1xf32>
        yield %6, %1, %5, %8 : !mirage_thread.fragment<1x64x64xf16>, !mirage_thread.fragment<1x64x1xf32>, !mirage_thread.fragment<1x64x1xf32>, !mirage_thread.fragment<1x64x1xf32>
      }
      %pv = matmul %p, %vt : !mirage_block.tile<1x64x64xf16, register>, !mirage_block.tile<1x64x64xf16, shared>
      yield %top, %row, %pv rescale %f, %f
          : !mirage_block.tile<1x64x1xf32, register>, !mirage_block.tile<1x64x1xf32, register>, !mirage_block.tile<1x64x64xf32>, !mirage_block.tile<1x64x1xf32, register>, !mirage_block.tile<1x64x1xf32, register>
    }
    %r = div %o, %l : !mirage_block.tile<1x64x64xf32, register>, !mirage_block.tile<1x64x1xf32, register>
    store %r, %yk {grid = [0, 1]} : !mirage_block.tile<1x64x64xf32>, tensor<2x128x64xf16>
  }
  return %y : tensor<2x128x64xf16>
}
