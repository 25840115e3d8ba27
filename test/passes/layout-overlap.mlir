// Attention over many queries: tensor copies feed its loop, and a barrier gives the tiles back. What a person asks for - tiles that
// warps give back one by one and products ahead, turns - is taken where the loop allows it; else a remark says why not.
//
// RUN: mirage-mlir-opt %s --mirage-layout -o %t.once 2>/dev/null
// RUN: FileCheck %s < %t.once
// RUN: mirage-mlir-opt %t.once --mirage-layout 2>/dev/null | diff %t.once -
//
// CHECK: schedule <warps = 8, loads = [tensor(stages = 1), tensor(stages = 3), tensor(stages = 3)]> plan <{{.*}} loops = "0",
//
// RUN: sed 's/grid \[32, 32\]/grid [32, 32] schedule <overlap = ahead>/' %s | mirage-mlir-opt --mirage-layout 2>/dev/null | FileCheck %s --check-prefix=ALONE
// ALONE: schedule <warps = 8, overlap = ahead, loads = [tensor(stages = 1), tensor(stages = 3), tensor(stages = 3)]> plan <{{.*}} loops = "4",
//
// With 128 columns a block has its multiprocessor to itself: a producer, and two warpgroups that take turns.
// RUN: sed 's/64x/128x/g' %s | mirage-mlir-opt --mirage-layout 2>/dev/null | FileCheck %s --check-prefix=WIDE
// WIDE: grid [32, 32] schedule <warps = 12, overlap = turns, roles = [producer(4, 40), consumer(8, 232)], loads = [tensor(stages = 1), tensor(stages = 3), tensor(stages = 3)]>
// RUN: sed 's/64x/128x/g; s/grid \[32, 32\]/grid [32, 32] schedule <warps = 8>/' %s | mirage-mlir-opt --mirage-layout=explain 2>&1 >/dev/null | FileCheck %s --check-prefix=ASKED
// ASKED: form: producer: no: the number of warps is asked for
//
// All blocks begin at once: nobody else is on the multiprocessor, whatever room there is. In 160 blocks two share one.
// RUN: sed 's/tensor<32x/tensor<4x/g; s/grid \[32, 32\]/grid [32, 4]/' %s | mirage-mlir-opt --mirage-layout 2>/dev/null | FileCheck %s --check-prefix=ATONCE
// ATONCE: grid [32, 4] schedule <warps = 12, overlap = turns, roles = [producer(4, 40), consumer(8, 232)], loads = [tensor(stages = 1), tensor(stages = {{[0-9]}}), tensor(stages = {{[0-9]}})]>
// RUN: sed 's/tensor<32x/tensor<5x/g; s/grid \[32, 32\]/grid [32, 5]/' %s | mirage-mlir-opt --mirage-layout 2>/dev/null | FileCheck %s --check-prefix=TWO
// TWO: grid [32, 5] schedule <warps = 8, loads = [tensor(stages = 1), tensor(stages = 3), tensor(stages = 3)]>
//
// By hand, with a producer: turns where nothing else is said, ahead alone, or neither.
// RUN: sed 's/grid \[32, 32\]/grid [32, 32] schedule <roles = [producer(4, 24), consumer(8, 240)], loads = [tensor, tensor, tensor]>/' %s | mirage-mlir-opt --mirage-layout 2>/dev/null | FileCheck %s --check-prefix=AUTO
// AUTO: schedule <warps = 12, overlap = turns, roles = [producer(4, 24), consumer(8, 240)], loads = [tensor(stages = 1), tensor(stages = 4), tensor(stages = 4)]>
// RUN: sed 's/grid \[32, 32\]/grid [32, 32] schedule <overlap = ahead, roles = [producer(4, 24), consumer(8, 240)], loads = [tensor, tensor, tensor]>/' %s | mirage-mlir-opt --mirage-layout 2>/dev/null | FileCheck %s --check-prefix=AHEAD
// AHEAD: schedule <warps = 12, overlap = ahead, roles
// RUN: sed 's/grid \[32, 32\]/grid [32, 32] schedule <overlap = none, roles = [producer(4, 24), consumer(8, 240)], loads = [tensor, tensor, tensor]>/' %s | mirage-mlir-opt --mirage-layout 2>/dev/null | FileCheck %s --check-prefix=NONE
// NONE: schedule <warps = 12, overlap = none, roles
//
// Not possible: two iterations need two buffers; what cp.async brings, threads wait for; no copy engine.
// RUN: sed 's/grid \[32, 32\]/grid [32, 32] schedule <overlap = ahead, roles = [producer(4, 24), consumer(8, 240)], loads = [tensor, tensor(stages = 1), tensor(stages = 1)]>/' %s | mirage-mlir-opt --mirage-layout 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: remark: layout: products do not run ahead: the loop's tiles have one buffer
// ONE: schedule <warps = 12, roles
// RUN: sed 's/grid \[32, 32\]/grid [32, 32] schedule <overlap = turns, roles = [producer(4, 24), consumer(8, 240)], loads = [tensor, async, tensor]>/' %s | mirage-mlir-opt --mirage-layout 2>&1 | FileCheck %s --check-prefix=ASYNC
// ASYNC: remark: layout: products do not run ahead: the loop loads what no copy engine brings
// ASYNC: schedule <warps = 12, roles
// RUN: sed 's/grid \[32, 32\]/grid [32, 32] schedule <overlap = turns>/' %s | mirage-mlir-opt --mirage-layout=target=a100 2>&1 | FileCheck %s --check-prefix=A100
// A100: remark: layout: products do not run ahead:
// A100: schedule <warps = {{[0-9]+}}, loads
// RUN: sed 's/grid \[32, 32\]/grid [32, 32] schedule <overlap = both>/' %s | not mirage-mlir-opt --mirage-layout 2>&1 | FileCheck %s --check-prefix=WORD
// WORD: error: {{.*}}both

mirage_kernel.graph @attention(%q: tensor<32x4096x64xf16>, %k: tensor<32x64x4096xf16>, %v: tensor<32x4096x64xf16>) -> tensor<32x4096x64xf16>
    attributes {mirage_kernel.input_scales = array<f64: 0.125, 1.0, 1.0>} {
  %s = matmul %q, %k : tensor<32x4096x64xf16>, tensor<32x64x4096xf16>
  %p = softmax %s {dim = 2} : tensor<32x4096x4096xf16>
  %y = matmul %p, %v : tensor<32x4096x4096xf16>, tensor<32x4096x64xf16>
  return %y : tensor<32x4096x64xf16>
}
mirage_kernel.graph @candidate(%q: tensor<32x4096x64xf16>, %k: tensor<32x64x4096xf16>, %v: tensor<32x4096x64xf16>) -> tensor<32x4096x64xf16> attributes {source = @attention} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [32, 32]  : (tensor<32x4096x64xf16>, tensor<32x64x4096xf16>, tensor<32x4096x64xf16>) -> tensor<32x4096x64xf16> {
    %qt = load %qk {grid = [1, 0]} : tensor<32x4096x64xf16> -> !mirage_block.tile<1x128x64xf16>
    %none = bottom : !mirage_block.tile<1x128x1xf32>
    %o0 = constant 0.0 : !mirage_block.tile<1x128x64xf32>
    %l0 = constant 0.0 : !mirage_block.tile<1x128x1xf32>
    %m, %o, %l = loop 32 (%mc = %none max, %oc = %o0 rescale, %lc = %l0 rescale) : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32> {
      %kt = load %kk {grid = [-1, 0], loop = [2]} : tensor<32x64x4096xf16> -> !mirage_block.tile<1x64x128xf16>
      %s = matmul %qt, %kt : !mirage_block.tile<1x128x64xf16>, !mirage_block.tile<1x64x128xf16> -> !mirage_block.tile<1x128x128xf32>
      %top = reduce_max %s {dim = 2} : !mirage_block.tile<1x128x128xf32> -> !mirage_block.tile<1x128x1xf32>
      %mn = max %mc, %top : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32> -> !mirage_block.tile<1x128x1xf32>
      %d = sub %mc, %mn : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32> -> !mirage_block.tile<1x128x1xf32>
      %f = exp %d : !mirage_block.tile<1x128x1xf32> -> !mirage_block.tile<1x128x1xf32>
      %e = sub %s, %mn : !mirage_block.tile<1x128x128xf32>, !mirage_block.tile<1x128x1xf32> -> !mirage_block.tile<1x128x128xf32>
      %p = exp %e : !mirage_block.tile<1x128x128xf32> -> !mirage_block.tile<1x128x128xf32>
      %vt = load %vk {grid = [-1, 0], loop = [1]} : tensor<32x4096x64xf16> -> !mirage_block.tile<1x128x64xf16>
      %ph = cast %p : !mirage_block.tile<1x128x128xf32> -> !mirage_block.tile<1x128x128xf16>
      %pv = matmul %ph, %vt : !mirage_block.tile<1x128x128xf16>, !mirage_block.tile<1x128x64xf16> -> !mirage_block.tile<1x128x64xf32>
      %row = reduce_sum %p {dim = 2} : !mirage_block.tile<1x128x128xf32> -> !mirage_block.tile<1x128x1xf32>
      yield %top, %pv, %row rescale %f, %f : !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>, !mirage_block.tile<1x128x1xf32>
    }
    %r = div %o, %l : !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x128x1xf32> -> !mirage_block.tile<1x128x64xf32>
    store %r, %yk {grid = [1, 0]} : !mirage_block.tile<1x128x64xf32>, tensor<32x4096x64xf16>
  }
  return %y : tensor<32x4096x64xf16>
}
