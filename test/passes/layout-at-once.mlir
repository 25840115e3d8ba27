// Attention in blocks that all begin at once: a multiprocessor for each. The copy engine feeds warps that wait for nothing but their
// tiles, whether warpgroups multiply them (one of 64 queries runs ahead) or warps of 16 queries do.
//
// RUN: mirage-mlir-opt %s --mirage-layout -o %t.once 2>/dev/null
// RUN: FileCheck %s < %t.once
// RUN: mirage-mlir-opt %t.once --mirage-layout 2>/dev/null | diff %t.once -
//
// Four iterations are enough for that, three are not.
// RUN: sed 's/8x64x1024x/8x64x512x/g; s/8x1024x1024x/8x1024x512x/g; s/%v: tensor<8x1024x/%v: tensor<8x512x/; s/\(8x[0-9x]*512xf16>, tensor<8x\)1024x64/\1512x64/; /%vt = /s/8x1024x/8x512x/; /@warpgroup(/,/^}/s/loop 8/loop 4/' %s | mirage-mlir-opt --mirage-layout 2>/dev/null | FileCheck %s --check-prefix=FOUR
// FOUR-LABEL: @warpgroup(
// FOUR: overlap = ahead, roles = [producer
// RUN: sed 's/8x64x1024x/8x64x384x/g; s/8x1024x1024x/8x1024x384x/g; s/%v: tensor<8x1024x/%v: tensor<8x384x/; s/\(8x[0-9x]*384xf16>, tensor<8x\)1024x64/\1384x64/; /%vt = /s/8x1024x/8x384x/; /@warpgroup(/,/^}/s/loop 8/loop 3/' %s | mirage-mlir-opt --mirage-layout 2>/dev/null | FileCheck %s --check-prefix=THREE
// THREE-LABEL: @warpgroup(
// THREE-NOT: producer
// THREE-LABEL: @warps_program(
// More blocks than multiprocessors: others compute meanwhile.
// RUN: sed 's/tensor<32x16/tensor<160x16/g; s/tensor<32x64/tensor<160x64/g; s/tensor<32x512/tensor<160x512/g; s/grid \[8\]/grid [40]/; s/tensor<8x/tensor<18x/g; s/grid \[16, 8\]/grid [16, 18]/' %s | mirage-mlir-opt --mirage-layout=target=h100 2>/dev/null | FileCheck %s --check-prefix=MORE
// MORE-LABEL: @warpgroup(
// MORE-NOT: producer
// MORE-LABEL: @warps(
// MORE: producer
// RUN: sed 's/tensor<32x16/tensor<640x16/g; s/tensor<32x64/tensor<640x64/g; s/tensor<32x512/tensor<640x512/g; s/grid \[8\]/grid [160]/' %s | mirage-mlir-opt --mirage-layout=target=h100 2>/dev/null | FileCheck %s --check-prefix=MOST
// MOST-LABEL: @warps(
// MOST: async{{.*}}async
// What tensor copies cannot read - rows of 510 keys - is loaded by the warps, all of it. So it is where the roles, or the landings, are a person's.
// RUN: sed 's/x512x/x510x/g; s/x512xf/x510xf/g; s/%kt = load %kk {grid = \[0\], loop = \[2\]}/%kt = load %kk {grid = [0], loop = [2], tiles = [0, 0, 64]}/; s/%vt = load %vk {grid = \[0\], loop = \[1\]}/%vt = load %vk {grid = [0], loop = [1], tiles = [0, 64]}/' %s | mirage-mlir-opt --mirage-layout=explain 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: form: tensor copies: no: load {{[0-9]}}: rows of the tensor are no multiple of 16 bytes
// RUN: sed 's/grid \[8\]/grid [8] schedule <loads = [async, async, async]>/' %s | mirage-mlir-opt --mirage-layout 2>/dev/null | FileCheck %s --check-prefix=ASKED
// ASKED-LABEL: @warps(
// ASKED: schedule <warps = 4, loads = [async(stages = 1), async
// Nor has a GPU without a copy engine any.
// RUN: mirage-mlir-opt %s --mirage-layout=target=a100 2>/dev/null | FileCheck %s --check-prefix=A100
// A100-NOT: tensor(

// CHECK-LABEL: @warpgroup(
// CHECK: schedule <warps = 8, overlap = ahead, roles = [producer(4, 40), consumer(4, 240)], loads = [tensor(stages = 1), tensor(stages = {{[3-9]}}), tensor(stages = {{[3-9]}})]> plan
mirage_kernel.graph @warpgroup_program(%q: tensor<8x1024x64xf16>, %k: tensor<8x64x1024xf16>, %v: tensor<8x1024x64xf16>) -> tensor<8x1024x64xf16> {
  %s = matmul %q, %k : tensor<8x1024x64xf16>, tensor<8x64x1024xf16>
  %p = softmax %s {dim = 2} : tensor<8x1024x1024xf16>
  %y = matmul %p, %v : tensor<8x1024x1024xf16>, tensor<8x1024x64xf16>
  return %y : tensor<8x1024x64xf16>
}
mirage_kernel.graph @warpgroup(%q: tensor<8x1024x64xf16>, %k: tensor<8x64x1024xf16>, %v: tensor<8x1024x64xf16>) -> tensor<8x1024x64xf16> attributes {source = @warpgroup_program} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [16, 8] : (tensor<8x1024x64xf16>, tensor<8x64x1024xf16>, tensor<8x1024x64xf16>) -> tensor<8x1024x64xf16> {
    %qt = load %qk {grid = [1, 0]} : tensor<8x1024x64xf16> -> !mirage_block.tile<1x64x64xf16>
    %none = bottom : !mirage_block.tile<1x64x1xf32>
    %o0 = constant 0.0 : !mirage_block.tile<1x64x64xf32>
    %l0 = constant 0.0 : !mirage_block.tile<1x64x1xf32>
    %m, %o, %l = loop 8 (%mc = %none max, %oc = %o0 rescale, %lc = %l0 rescale) : !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x64xf32>, !mirage_block.tile<1x64x1xf32> {
      %kt = load %kk {grid = [-1, 0], loop = [2]} : tensor<8x64x1024xf16> -> !mirage_block.tile<1x64x128xf16>
      %s = matmul %qt, %kt : !mirage_block.tile<1x64x64xf16>, !mirage_block.tile<1x64x128xf16> -> !mirage_block.tile<1x64x128xf32>
      %top = reduce_max %s {dim = 2} : !mirage_block.tile<1x64x128xf32> -> !mirage_block.tile<1x64x1xf32>
      %mn = max %mc, %top : !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x1xf32> -> !mirage_block.tile<1x64x1xf32>
      %d = sub %mc, %mn : !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x1xf32> -> !mirage_block.tile<1x64x1xf32>
      %f = exp %d : !mirage_block.tile<1x64x1xf32> -> !mirage_block.tile<1x64x1xf32>
      %e = sub %s, %mn : !mirage_block.tile<1x64x128xf32>, !mirage_block.tile<1x64x1xf32> -> !mirage_block.tile<1x64x128xf32>
      %p = exp %e : !mirage_block.tile<1x64x128xf32> -> !mirage_block.tile<1x64x128xf32>
      %vt = load %vk {grid = [-1, 0], loop = [1]} : tensor<8x1024x64xf16> -> !mirage_block.tile<1x128x64xf16>
      %ph = cast %p : !mirage_block.tile<1x64x128xf32> -> !mirage_block.tile<1x64x128xf16>
      %pv = matmul %ph, %vt : !mirage_block.tile<1x64x128xf16>, !mirage_block.tile<1x128x64xf16> -> !mirage_block.tile<1x64x64xf32>
      %row = reduce_sum %p {dim = 2} : !mirage_block.tile<1x64x128xf32> -> !mirage_block.tile<1x64x1xf32>
      yield %top, %pv, %row rescale %f, %f : !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x64xf32>, !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x1xf32>
    }
    %r = div %o, %l : !mirage_block.tile<1x64x64xf32>, !mirage_block.tile<1x64x1xf32> -> !mirage_block.tile<1x64x64xf32>
    store %r, %yk {grid = [1, 0]} : !mirage_block.tile<1x64x64xf32>, tensor<8x1024x64xf16>
  }
  return %y : tensor<8x1024x64xf16>
}

// CHECK-LABEL: @warps(
// CHECK: schedule <warps = 8, roles = [producer(4, 40), consumer(4, 240)], loads = [async(stages = 1), tensor(stages = {{[2-9]}}), tensor(stages = {{[2-9]}})]> plan
mirage_kernel.graph @warps_program(%q: tensor<32x16x64xf16>, %k: tensor<32x64x512xf16>, %v: tensor<32x512x64xf16>) -> tensor<32x16x64xf16> {
  %s = matmul %q, %k : tensor<32x16x64xf16>, tensor<32x64x512xf16>
  %p = softmax %s {dim = 2} : tensor<32x16x512xf16>
  %y = matmul %p, %v : tensor<32x16x512xf16>, tensor<32x512x64xf16>
  return %y : tensor<32x16x64xf16>
}
mirage_kernel.graph @warps(%q: tensor<32x16x64xf16>, %k: tensor<32x64x512xf16>, %v: tensor<32x512x64xf16>) -> tensor<32x16x64xf16> attributes {source = @warps_program} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [8] : (tensor<32x16x64xf16>, tensor<32x64x512xf16>, tensor<32x512x64xf16>) -> tensor<32x16x64xf16> {
    %qt = load %qk {grid = [0]} : tensor<32x16x64xf16> -> !mirage_block.tile<4x16x64xf16>
    %none = bottom : !mirage_block.tile<4x16x1xf32>
    %o0 = constant 0.0 : !mirage_block.tile<4x16x64xf32>
    %l0 = constant 0.0 : !mirage_block.tile<4x16x1xf32>
    %m, %o, %l = loop 8 (%mc = %none max, %oc = %o0 rescale, %lc = %l0 rescale) : !mirage_block.tile<4x16x1xf32>, !mirage_block.tile<4x16x64xf32>, !mirage_block.tile<4x16x1xf32> {
      %kt = load %kk {grid = [0], loop = [2]} : tensor<32x64x512xf16> -> !mirage_block.tile<4x64x64xf16>
      %s = matmul %qt, %kt : !mirage_block.tile<4x16x64xf16>, !mirage_block.tile<4x64x64xf16> -> !mirage_block.tile<4x16x64xf32>
      %top = reduce_max %s {dim = 2} : !mirage_block.tile<4x16x64xf32> -> !mirage_block.tile<4x16x1xf32>
      %mn = max %mc, %top : !mirage_block.tile<4x16x1xf32>, !mirage_block.tile<4x16x1xf32> -> !mirage_block.tile<4x16x1xf32>
      %d = sub %mc, %mn : !mirage_block.tile<4x16x1xf32>, !mirage_block.tile<4x16x1xf32> -> !mirage_block.tile<4x16x1xf32>
      %f = exp %d : !mirage_block.tile<4x16x1xf32> -> !mirage_block.tile<4x16x1xf32>
      %e = sub %s, %mn : !mirage_block.tile<4x16x64xf32>, !mirage_block.tile<4x16x1xf32> -> !mirage_block.tile<4x16x64xf32>
      %p = exp %e : !mirage_block.tile<4x16x64xf32> -> !mirage_block.tile<4x16x64xf32>
      %vt = load %vk {grid = [0], loop = [1]} : tensor<32x512x64xf16> -> !mirage_block.tile<4x64x64xf16>
      %ph = cast %p : !mirage_block.tile<4x16x64xf32> -> !mirage_block.tile<4x16x64xf16>
      %pv = matmul %ph, %vt : !mirage_block.tile<4x16x64xf16>, !mirage_block.tile<4x64x64xf16> -> !mirage_block.tile<4x16x64xf32>
      %row = reduce_sum %p {dim = 2} : !mirage_block.tile<4x16x64xf32> -> !mirage_block.tile<4x16x1xf32>
      yield %top, %pv, %row rescale %f, %f : !mirage_block.tile<4x16x1xf32>, !mirage_block.tile<4x16x64xf32>, !mirage_block.tile<4x16x1xf32>, !mirage_block.tile<4x16x1xf32>, !mirage_block.tile<4x16x1xf32>
    }
    %r = div %o, %l : !mirage_block.tile<4x16x64xf32>, !mirage_block.tile<4x16x1xf32> -> !mirage_block.tile<4x16x64xf32>
    store %r, %yk {grid = [0]} : !mirage_block.tile<4x16x64xf32>, tensor<32x16x64xf16>
  }
  return %y : tensor<32x16x64xf16>
}
