// Attention that takes maxima of its first tile of keys alone (maxima = first): where a person, or a variant that is timed, asks for it
// and what is subtracted cancels. Else a remark says why not.
//
// RUN: sed 's/grid \[32, 32\]/grid [32, 32] schedule <maxima = first>/' %s > %t.first.mlir
// RUN: mirage-mlir-opt %t.first.mlir --mirage-layout -o %t.once 2>/dev/null
// RUN: FileCheck %s < %t.once
// RUN: mirage-mlir-opt %t.once --mirage-layout 2>/dev/null | diff %t.once -
// CHECK: schedule <warps = 8, maxima = first, loads = [tensor(stages = 1), tensor(stages = 3), tensor(stages = 3)]> plan <
//
// RUN: mirage-mlir-opt %s --mirage-layout 2>/dev/null | FileCheck %s --check-prefix=EVERY
// EVERY-NOT: maxima
//
// Weights of bf16 have the range of f32.
// RUN: sed 's/xf16/xbf16/g' %t.first.mlir | mirage-mlir-opt --mirage-layout=explain 2>&1 >/dev/null | FileCheck %s --check-prefix=BF16
// BF16: plan: loop 0: maxima are those of the first tile; where sums reach 1.09951e+12, the loop runs again with all maxima
//
// RUN: mirage-mlir-opt %s --mirage-layout=variants=1 2>/dev/null | FileCheck %s --check-prefix=VARIANT
// VARIANT: graph @candidate_first_maxima(
// VARIANT: schedule <warps = 8, maxima = first,
//
// In the code: 64 columns of the first tile; the loop; a barrier that asks all threads; the loop for its maximum alone, and with that.
// A producer comes to the barrier, too.
// RUN: sed 's/source = @attention/source = @attention, selected/' %t.first.mlir | mirage-mlir-opt --mirage-layout --mirage-lower -o %t.lowered 2>/dev/null
// RUN: %python %S/inputs/ptx.py %t.lowered | FileCheck %s --check-prefix=PTX
// PTX: .minnctapersm 2
// PTX-COUNT-4: wgmma.mma_async.sync.aligned.m64n64k16
// PTX-COUNT-4: wgmma.mma_async.sync.aligned.m64n128k16
// PTX-COUNT-8: wgmma.mma_async.sync.aligned.m64n64k16
// PTX-NOT: wgmma.mma_async
// PTX: red.or.pred
// PTX-NOT: red.or.pred
// PTX-COUNT-8: wgmma.mma_async.sync.aligned.m64n128k16
// PTX-COUNT-8: wgmma.mma_async.sync.aligned.m64n64k16
// PTX-NOT: wgmma.mma_async
// Lanes exchange the maxima of that sample, sums and what is stored; in the second run maxima in one loop, sums behind the other.
// RUN: %python %S/inputs/ptx.py %t.lowered | grep -c 'shfl.sync.bfly' | FileCheck %s --check-prefix=LANES
// LANES: {{^48$}}
// A look for maxima multiplies with no weights, also where their product is not what is carried: 4 of the sample's scores, 8 of each other run.
// RUN: sed 's/source = @attention/source = @attention, selected/; s/^ *%%row = reduce_sum.*/%%half = constant 0.5 : !mirage_block.tile<1x1x1xf32>\n%%pw = mul %%pv, %%half : !mirage_block.tile<1x128x64xf32>, !mirage_block.tile<1x1x1xf32> -> !mirage_block.tile<1x128x64xf32>\n&/; s/yield %%top, %%pv/yield %%top, %%pw/' %t.first.mlir | mirage-mlir-opt --mirage-layout --mirage-lower -o %t.halved 2>/dev/null
// RUN: %python %S/inputs/ptx.py %t.halved | grep -c 'wgmma.mma_async.sync.aligned.m64n64k16' | FileCheck %s --check-prefix=HALVED
// HALVED: {{^20$}}
// RUN: sed 's/source = @attention/source = @attention, selected/; s/64x/128x/g' %t.first.mlir | mirage-mlir-opt --mirage-layout --mirage-lower -o %t.wide 2>/dev/null
// RUN: %python %S/inputs/ptx.py %t.wide | FileCheck %s --check-prefix=WIDE
// WIDE-COUNT-2: red.or.pred
//
// It is not for: a result that depends on what is subtracted; two iterations; sums that are given in another order of rows; tiles
// that clusters share.
// RUN: sed 's/div %%o, %%l/mul %%o, %%l/' %t.first.mlir | mirage-mlir-opt --mirage-layout 2>&1 | FileCheck %s --check-prefix=STORED
// STORED: remark: layout: loops take the maxima of every tile: what is stored depends on what is subtracted
// STORED: schedule <warps = {{[0-9]+}}, loads
// RUN: sed 's/rescale %%f, %%f/rescale %%f, %%d/' %t.first.mlir | mirage-mlir-opt --mirage-layout 2>&1 | FileCheck %s --check-prefix=FACTOR
// FACTOR: remark: layout: loops take the maxima of every tile: a sum is rescaled by something else than what its contributions are
// FACTOR: schedule <warps = {{[0-9]+}}, loads
// RUN: sed 's/loop 32/loop 2/; s/x4096x/x256x/g; s/x4096xf/x256xf/g; s/grid \[32, 32\]/grid [2, 32]/' %t.first.mlir | mirage-mlir-opt --mirage-layout 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: remark: layout: loops take the maxima of every tile: the loop streams weights, has few iterations, or stands in another
// SHORT: schedule <warps = {{[0-9]+}}, loads
//
// RUN: sed 's/grid \[32, 32\]/grid [32, 32] schedule <maxima = last>/' %s | not mirage-mlir-opt --mirage-layout 2>&1 | FileCheck %s --check-prefix=WORD
// WORD: error: {{.*}}last

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
