// Loops in which warpgroups multiply what they load are fed by tensor copies and a producer of their own, where the schedule
// leaves it open and whoever launches the kernel can pass tensor maps.
// RUN: mirage-mlir-opt %s --mirage-layout 2>/dev/null | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-layout=target=a100 2>/dev/null | FileCheck %s --check-prefix=A100
// RUN: mirage-mlir-opt %s --mirage-layout 2>/dev/null | mirage-mlir-opt --mirage-layout 2>/dev/null | FileCheck %s
// RUN: sed '/@candidate(/s/source = @program}/source = @program, selected}/' %s | mirage-mlir-opt --mirage-lower 2>/dev/null | FileCheck %s --check-prefix=MAPS
// RUN: sed '/@candidate(/s/source = @program}/source = @program, selected}/' %s | mirage-mlir-opt --mirage-lower=tensor-maps=false 2>/dev/null | FileCheck %s --check-prefix=PLAIN
//
// MAPS: launch <kernel = "candidate_k0", threads = 384, {{.*}}maps = [<pointer = 0,
// PLAIN: launch <kernel = "candidate_k0", threads = 512, shared_bytes = {{[0-9]+}}, starts_early = true>

mirage_kernel.graph @program(%x: tensor<128x256xf16>, %w: tensor<256x256xf16>) -> tensor<128x256xf16> {
  %y = matmul %x, %w : tensor<128x256xf16>, tensor<256x256xf16>
  return %y : tensor<128x256xf16>
}

// CHECK-LABEL: @candidate
// CHECK: schedule <warps = 12, roles = [producer(4, 40), consumer(8, 232)], loads = [tensor(stages = {{[0-9]}}), tensor(stages = {{[0-9]}})]>
// A100-LABEL: @candidate
// A100: schedule <warps = 8, loads = [async(stages = {{[0-9]}}), async(stages = {{[0-9]}})]>
mirage_kernel.graph @candidate(%x: tensor<128x256xf16>, %w: tensor<256x256xf16>) -> tensor<128x256xf16> attributes {source = @program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [1] : (tensor<128x256xf16>, tensor<256x256xf16>) -> tensor<128x256xf16> {
    %zero = constant 0.0 : !mirage_block.tile<128x256xf32>
    %acc = loop 4 (%a = %zero sum) : !mirage_block.tile<128x256xf32> {
      %xt = load %xk {loop = [1]} : tensor<128x256xf16> -> !mirage_block.tile<128x64xf16>
      %wt = load %wk {loop = [0]} : tensor<256x256xf16> -> !mirage_block.tile<64x256xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x256xf16>
      yield %p : !mirage_block.tile<128x256xf32>
    }
    store %acc, %yk {} : !mirage_block.tile<128x256xf32>, tensor<128x256xf16>
  }
  return %y : tensor<128x256xf16>
}

// What a schedule says stays as it is.
// CHECK-LABEL: @by_hand
// CHECK: schedule <warps = 8, loads = [async(stages = {{[0-9]}}), async(stages = {{[0-9]}})]>
mirage_kernel.graph @by_hand(%x: tensor<128x256xf16>, %w: tensor<256x256xf16>) -> tensor<128x256xf16> attributes {source = @program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [1] schedule <warps = 8, loads = [async, async]>
      : (tensor<128x256xf16>, tensor<256x256xf16>) -> tensor<128x256xf16> {
    %zero = constant 0.0 : !mirage_block.tile<128x256xf32>
    %acc = loop 4 (%a = %zero sum) : !mirage_block.tile<128x256xf32> {
      %xt = load %xk {loop = [1]} : tensor<128x256xf16> -> !mirage_block.tile<128x64xf16>
      %wt = load %wk {loop = [0]} : tensor<256x256xf16> -> !mirage_block.tile<64x256xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x256xf16>
      yield %p : !mirage_block.tile<128x256xf32>
    }
    store %acc, %yk {} : !mirage_block.tile<128x256xf32>, tensor<128x256xf16>
  }
  return %y : tensor<128x256xf16>
}
