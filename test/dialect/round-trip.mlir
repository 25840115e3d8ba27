// Every operation and attribute of the three dialects, as a person writes it, and as it prints. The printed form reads back
// as itself, from pretty text, from the generic form and from bytecode.
//
// RUN: mirage-mlir-opt %s | FileCheck %s
// RUN: mirage-mlir-opt %s -o %t.mlir
// RUN: mirage-mlir-opt %t.mlir | diff %t.mlir -
// RUN: mirage-mlir-opt %t.mlir --mlir-print-op-generic | mirage-mlir-opt | diff %t.mlir -
// RUN: mirage-mlir-opt %t.mlir --emit-bytecode | mirage-mlir-opt | diff %t.mlir -
// RUN: mirage-mlir-opt %t.mlir --mlir-print-debuginfo | mirage-mlir-opt | diff %t.mlir -

// CHECK-LABEL: mirage_kernel.graph @elementwise
// CHECK-SAME:    (%[[A:.*]]: tensor<2x4xf32>, %[[B:.*]]: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
mirage_kernel.graph @elementwise(%a: tensor<2x4xf32>, %b: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  // CHECK: exp %[[A]] : tensor<2x4xf32>{{$}}
  %0 = exp %a : tensor<2x4xf32>
  // CHECK: log %
  %1 = log %0 : tensor<2x4xf32>
  // CHECK: sqrt %
  %2 = sqrt %1 : tensor<2x4xf32>
  // CHECK: rsqrt %
  %3 = rsqrt %2 : tensor<2x4xf32>
  // CHECK: square %
  %4 = square %3 : tensor<2x4xf32>
  // CHECK: neg %
  %5 = neg %4 : tensor<2x4xf32>
  // CHECK: sigmoid %
  %6 = sigmoid %5 : tensor<2x4xf32>
  // CHECK: silu %
  %7 = silu %6 : tensor<2x4xf32>
  // CHECK: gelu %
  %8 = gelu %7 : tensor<2x4xf32>
  // CHECK: gelu_tanh %
  %9 = gelu_tanh %8 : tensor<2x4xf32>
  // CHECK: erf %
  %10 = erf %9 : tensor<2x4xf32>
  // CHECK: tanh %
  %11 = tanh %10 : tensor<2x4xf32>
  // CHECK: relu %
  %12 = relu %11 : tensor<2x4xf32>
  // CHECK: add %{{.*}}, %[[B]] : tensor<2x4xf32>, tensor<4xf32>{{$}}
  %13 = add %12, %b : tensor<2x4xf32>, tensor<4xf32>
  // CHECK: sub %
  %14 = sub %13, %b : tensor<2x4xf32>, tensor<4xf32>
  // CHECK: mul %
  %15 = mul %14, %b : tensor<2x4xf32>, tensor<4xf32>
  // CHECK: div %
  %16 = div %15, %b : tensor<2x4xf32>, tensor<4xf32>
  // CHECK: max %
  %17 = max %16, %b : tensor<2x4xf32>, tensor<4xf32>
  // CHECK: min %[[B]], %{{.*}} : tensor<4xf32>, tensor<2x4xf32>{{$}}
  %18 = min %b, %17 : tensor<4xf32>, tensor<2x4xf32>
  // An explicit result type that is the inferred one is not printed back; braces may hold other attributes too.
  // CHECK: exp %[[A]] {test.note = "kept"} : tensor<2x4xf32>{{$}}
  %19 = exp %a {test.note = "kept"} : tensor<2x4xf32> -> tensor<2x4xf32>
  // CHECK: return %{{.*}}, %{{.*}} : tensor<2x4xf32>, tensor<2x4xf32>
  return %18, %19 : tensor<2x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: mirage_kernel.graph @movement
mirage_kernel.graph @movement(%a: tensor<2x4xbf16>, %w: tensor<4x2xbf16>) -> tensor<2x4xf16> {
  // CHECK: matmul %{{.*}}, %{{.*}} : tensor<2x4xbf16>, tensor<4x2xbf16>
  %0 = matmul %a, %w : tensor<2x4xbf16>, tensor<4x2xbf16>
  // CHECK: matmul %{{.*}}, %{{.*}} {transpose_a, transpose_b} : tensor<2x4xbf16>, tensor<4x2xbf16>
  %1 = matmul %a, %w {transpose_b, transpose_a} : tensor<2x4xbf16>, tensor<4x2xbf16>
  // CHECK: reduce_sum %{{.*}} {dim = 1} : tensor<4x4xbf16>
  %2 = reduce_sum %1 {dim = 1, extent = 1} : tensor<4x4xbf16>
  // CHECK: reduce_max %{{.*}} {dim = 0, extent = 2} : tensor<4x1xbf16>
  %3 = reduce_max %2 {extent = 2, dim = 0} : tensor<4x1xbf16>
  // CHECK: reduce_mean %{{.*}} {dim = 0} : tensor<2x1xbf16>
  %4 = reduce_mean %3 {dim = 0} : tensor<2x1xbf16>
  // CHECK: broadcast %{{.*}} : tensor<1x1xbf16> -> tensor<2x4xbf16>
  %5 = broadcast %4 : tensor<1x1xbf16> -> tensor<2x4xbf16>
  // CHECK: repeat %{{.*}} {dim = 1, times = 3} : tensor<2x4xbf16>
  %6 = repeat %5 {dim = 1, times = 3} : tensor<2x4xbf16>
  // CHECK: transpose %{{.*}} {perm = [1, 0]} : tensor<2x12xbf16>
  %7 = transpose %6 {perm = [1, 0]} : tensor<2x12xbf16>
  // CHECK: reshape %{{.*}} : tensor<12x2xbf16> -> tensor<2x3x4xbf16>
  %8 = reshape %7 : tensor<12x2xbf16> -> tensor<2x3x4xbf16>
  // CHECK: slice %{{.*}} {dim = 1, begin = 1, end = 2} : tensor<2x3x4xbf16>
  %9 = slice %8 {dim = 1, begin = 1, end = 2} : tensor<2x3x4xbf16>
  // CHECK: reshape
  %10 = reshape %9 : tensor<2x1x4xbf16> -> tensor<2x4xbf16>
  // CHECK: concat %{{.*}}, %{{.*}}, %{{.*}} {dim = 1} : tensor<2x4xbf16>, tensor<2x4xbf16>, tensor<2x2xbf16>
  %11 = concat %10, %a, %0 {dim = 1} : tensor<2x4xbf16>, tensor<2x4xbf16>, tensor<2x2xbf16>
  // CHECK: cast %{{.*}} : tensor<2x10xbf16> -> tensor<2x10xf16>
  %12 = cast %11 : tensor<2x10xbf16> -> tensor<2x10xf16>
  // CHECK: constant -0.25 : tensor<f16>
  %13 = constant -0.25 : tensor<f16>
  // CHECK: mul %{{.*}}, %{{.*}} : tensor<2x10xf16>, tensor<f16>
  %14 = mul %12, %13 : tensor<2x10xf16>, tensor<f16>
  // CHECK: slice
  %15 = slice %14 {dim = 1, begin = 0, end = 4} : tensor<2x10xf16>
  return %15 : tensor<2x4xf16>
}

// CHECK-LABEL: mirage_kernel.graph @sugar
mirage_kernel.graph @sugar(%x: tensor<2x8x16xf16>, %g: tensor<16xf16>) -> tensor<2x8x16xf16> {
  // CHECK: softmax %{{.*}} {dim = 2} : tensor<2x8x16xf16>
  %0 = softmax %x {dim = 2} : tensor<2x8x16xf16>
  // CHECK: rms_norm %{{.*}} {eps = 0.0} : tensor<2x8x16xf16>
  %1 = rms_norm %0 {eps = 0.0} : tensor<2x8x16xf16>
  // CHECK: rms_norm %{{.*}}, %{{.*}} {eps = 1.0e-05} : tensor<2x8x16xf16>, tensor<16xf16>
  %2 = rms_norm %1, %g {eps = 1.0e-05} : tensor<2x8x16xf16>, tensor<16xf16>
  // CHECK: layer_norm %{{.*}} {eps = 1.0e-05} : tensor<2x8x16xf16>
  %3 = layer_norm %2 {eps = 1.0e-05} : tensor<2x8x16xf16>
  // CHECK: layer_norm %{{.*}}, %{{.*}}, %{{.*}} {eps = 1.0e-05} : tensor<2x8x16xf16>, tensor<16xf16>, tensor<16xf16>
  %4 = layer_norm %3, %g, %g {eps = 1.0e-05} : tensor<2x8x16xf16>, tensor<16xf16>, tensor<16xf16>
  // CHECK: scaled_dot_product_attention %{{.*}}, %{{.*}}, %{{.*}} {scale = 0.125} : tensor<2x8x16xf16>, tensor<2x8x16xf16>, tensor<2x8x16xf16>
  %5 = scaled_dot_product_attention %4, %x, %x {scale = 0.125} : tensor<2x8x16xf16>, tensor<2x8x16xf16>, tensor<2x8x16xf16>
  return %5 : tensor<2x8x16xf16>
}

// CHECK-LABEL: mirage_kernel.graph @candidate
// CHECK-SAME: attributes {cost = #mirage_kernel.cost<time_us = 12.5, bytes = 1048576.0, flops = 0.0, kernels = 2>,
// CHECK-SAME: guard = #mirage_kernel.guard<program_relative = 0.00025, candidate_relative = 0.0, program_max = 0.125, candidate_max = 1.0, shrunken = true>,
// CHECK-SAME: proof = #mirage_kernel.proof<trials = 3, q = 2147483629, p_bits = 62, seed = 18446744073709551615, log2_bound = -61.25, shrunken = true, axes = 2, points = 3, pair = 18446744073709551614>,
// CHECK-SAME: selected, source = @program}
mirage_kernel.graph @candidate(%x: tensor<8x64xf16>) -> tensor<8x64xf16> attributes {
    source = @program, selected,
    proof = #mirage_kernel.proof<trials = 3, seed = 18446744073709551615, pair = 18446744073709551614, p_bits = 62, q = 2147483629, log2_bound = -61.25, points = 3, axes = 2, shrunken = true>,
    guard = #mirage_kernel.guard<candidate_relative = 0.0, program_relative = 2.5e-04, candidate_max = 1.0, program_max = 0.125, shrunken = true>,
    cost = #mirage_kernel.cost<time_us = 12.5, bytes = 1048576.0, flops = 0.0, kernels = 2>} {
  // CHECK: custom (%[[X:.*]] = %{{.*}}) outs(%[[Y:.*]]) grid [2, 4, 1] cluster [2, 1, 1]
  // CHECK-SAME: schedule <warps = 8, split = reduction, swap = true, tile_order = grouped, side_blocks = 4, start = early,
  // CHECK-SAME: roles = [producer(1, 40), consumer(4, 232), consumer(3)],
  // CHECK-SAME: loads = [tensor(stages = 4, multicast = true), register(cache = no_allocate), async(stages = 3), bulk, auto(cache = no_allocate), auto]>
  // CHECK-SAME: plan <target = "h200", of = 18446744073709551615, partition = [4, 1, 1, 8], in_threads = true, loops = "3", places = "01e", asked = <warps = 8>>
  // CHECK-SAME: launch <kernel = "candidate_0", threads = 256, shared_bytes = 1024, workspace_bytes = 4096, maps = [<pointer = 0, type = f16, extents = [64, 8], strides = [2, 128], box = [64, 8], swizzle = 3>]> attributes {test.note = 1 : i64}
  // CHECK-SAME: : (tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2, 4, 1] cluster [2, 1, 1]
      schedule <roles = [producer(1, 40), consumer(4, 232), consumer(3)], warps = 8, split = reduction, swap = true,
                tile_order = grouped, side_blocks = 4, start = early,
                loads = [tensor(stages = 4, multicast = true), register(cache = no_allocate), async(stages = 3), bulk,
                         auto(cache = no_allocate), auto]>
      plan <of = 18446744073709551615, target = "h200", asked = <warps = 8>, places = "01e", loops = "3", in_threads = true,
            partition = [4, 1, 1, 8]>
      launch <kernel = "candidate_0", threads = 256, shared_bytes = 1024, workspace_bytes = 4096,
              maps = [<pointer = 0, type = f16, extents = [64, 8], strides = [2, 128], box = [64, 8], swizzle = 3>]>
      attributes {test.note = 1} : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    // Places and layouts are written where a value has one.
    // CHECK: load %[[X]] {grid = [0, 1]} : tensor<8x64xf16> -> !mirage_block.tile<4x16xf16, shared, <offset = 1024, stages = 2, swizzle = 3, strides = [16, 1], asked = layout>>
    %a = load %xk {grid = [0, 1]} : tensor<8x64xf16> -> !mirage_block.tile<4x16xf16, shared, <strides = [16, 1], asked = layout, swizzle = 3, stages = 2, offset = 1024>>
    // CHECK: load %[[X]] {grid = [0, 1], fill = bottom} : tensor<8x64xf16> -> !mirage_block.tile<4x16xf16, register>
    %b = load %xk {fill = bottom, grid = [0, 1]} : tensor<8x64xf16> -> !mirage_block.tile<4x16xf16, register>
    // CHECK: load %[[X]] {grid = [0, 1, -1], fill = one} : tensor<8x64xf16> -> !mirage_block.tile<4x16xf16, shared, <>>
    %c = load %xk {grid = [0, 1, -1], fill = one} : tensor<8x64xf16> -> !mirage_block.tile<4x16xf16, shared, <>>
    // CHECK: load %[[X]] {grid = [0, 1], begin = [0, 16], end = [0, 48], fill = one} : tensor<8x64xf16> -> !mirage_block.tile<4x8xf16>
    %w = load %xk {end = [0, 48], begin = [0, 16], fill = one, grid = [0, 1]} : tensor<8x64xf16> -> !mirage_block.tile<4x8xf16>
    // CHECK: load %[[X]] {grid = [0, 1]} :
    %d = load %xk {grid = [0, 1], fill = zero} : tensor<8x64xf16> -> !mirage_block.tile<4x16xf16>
    // CHECK: add %{{.*}}, %{{.*}} : !mirage_block.tile<4x16xf16, shared, {{.*}}>, !mirage_block.tile<4x16xf16, register>{{$}}
    %s = add %a, %b : !mirage_block.tile<4x16xf16, shared, <offset = 1024, stages = 2, swizzle = 3, strides = [16, 1], asked = layout>>, !mirage_block.tile<4x16xf16, register>
    // CHECK: add %{{.*}}, %{{.*}} : !mirage_block.tile<4x16xf16, shared, <>>, !mirage_block.tile<4x16xf16> -> !mirage_block.tile<4x16xf32, register>
    %p = add %c, %d : !mirage_block.tile<4x16xf16, shared, <>>, !mirage_block.tile<4x16xf16> -> !mirage_block.tile<4x16xf32, register>
    // CHECK: cluster_sum %{{.*}} {axes = [0]} : !mirage_block.tile<4x16xf32>
    %e = cluster_sum %s {axes = [0]} : !mirage_block.tile<4x16xf32>
    // CHECK: cluster_max %
    %f = cluster_max %e {axes = [0]} : !mirage_block.tile<4x16xf32>
    // CHECK: grid_sum %{{.*}} {axes = [1, 0]} : !mirage_block.tile<4x16xf32>
    %g = grid_sum %f {axes = [1, 0]} : !mirage_block.tile<4x16xf32>
    // CHECK: grid_max %
    %h = grid_max %g {axes = [1]} : !mirage_block.tile<4x16xf32>
    // CHECK: load %[[X]] {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %wide = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %narrow = slice %wide {dim = 1, begin = 0, end = 16} : !mirage_block.tile<4x64xf16>
    %i = mul %h, %narrow : !mirage_block.tile<4x16xf32>, !mirage_block.tile<4x16xf16>
    %j = add %i, %p : !mirage_block.tile<4x16xf32>, !mirage_block.tile<4x16xf32, register>
    // CHECK: store %{{.*}}, %[[Y]] {grid = [0, 1]} : !mirage_block.tile<4x16xf32>, tensor<8x64xf16>
    store %j, %yk {grid = [0, 1]} : !mirage_block.tile<4x16xf32>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}
mirage_kernel.graph @program(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %0 = exp %x : tensor<8x64xf16>
  return %0 : tensor<8x64xf16>
}

// CHECK-LABEL: mirage_kernel.graph @loops
mirage_kernel.graph @loops(%x: tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x1xf32>) {
  // Empty schedules, one grid axis, and two outputs.
  // CHECK: %[[R:.*]]:2 = custom (%[[X:.*]] = %{{.*}}) outs(%[[Y:.*]], %[[Z:.*]]) grid [2] schedule <> : (tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x1xf32>) {
  %y:2 = custom (%xk = %x) outs(%yk, %zk) grid [2] schedule <> : (tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x1xf32>) {
    // A loop without carries needs no terminator.
    // CHECK: loop 4 {
    loop 4 {
      // CHECK: %[[M:.*]] = bottom : !mirage_block.tile<4x1xf32>
      %m0 = bottom : !mirage_block.tile<4x1xf32>
      %l0 = constant 0.0 : !mirage_block.tile<4x1xf32, register>
      %o0 = constant 0.0 : !mirage_block.tile<4x16xf32>
      // CHECK: %{{.*}}:5 = loop 4 (%[[ACC:.*]] = %{{.*}} max, %{{.*}} = %{{.*}} rescale, %{{.*}} = %{{.*}} concat(1), %{{.*}} = %{{.*}} assign, %{{.*}}: !mirage_block.tile<4x1xf32> = %{{.*}} sum)
      // CHECK-SAME: : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32, register>, !mirage_block.tile<4x16xf32>, !mirage_block.tile<4x16xf32>, !mirage_block.tile<4x1xf32, register> -> (
      %m, %l, %o, %p, %q = loop 4 (%mc = %m0 max, %lc = %l0 rescale, %oc = %o0 concat(1), %pc = %o0 assign, %qc: !mirage_block.tile<4x1xf32> = %l0 sum)
          : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32, register>, !mirage_block.tile<4x16xf32>, !mirage_block.tile<4x16xf32>, !mirage_block.tile<4x1xf32, register>
         -> (!mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x16xf32>, !mirage_block.tile<4x16xf32>, !mirage_block.tile<4x1xf32>) {
        // CHECK: load %[[X]] {grid = [1], loop = [1, 1], cyclic} : tensor<8x64xf16> -> !mirage_block.tile<8x2xf16>
        %dealt = load %xk {cyclic, loop = [1, 1], grid = [1]} : tensor<8x64xf16> -> !mirage_block.tile<8x2xf16>
        // CHECK: load %[[X]] {grid = [1], loop = [1, 1], tiles = [0, 2], cyclic, fill = one} : tensor<8x64xf16> -> !mirage_block.tile<8x2xf16>
        %tiles = load %xk {fill = one, cyclic, tiles = [0, 2], loop = [1, 1], grid = [1]} : tensor<8x64xf16> -> !mirage_block.tile<8x2xf16>
        // CHECK: load %[[X]] {grid = [0], loop = [1, 1]} : tensor<8x64xf16> -> !mirage_block.tile<4x4xf16>
        %t = load %xk {grid = [0], loop = [1, 1], fill = zero} : tensor<8x64xf16> -> !mirage_block.tile<4x4xf16>
        %top = reduce_max %t {dim = 1} : !mirage_block.tile<4x4xf16>
        %new = max %mc, %top : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
        %gap = sub %mc, %new : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
        %f = exp %gap : !mirage_block.tile<4x1xf32>
        // CHECK: thread (%[[F:.*]] = %{{.*}}, %{{.*}} = %{{.*}}) : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x1xf32> {
        %part = thread (%ft = %t, %fn = %new) : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x1xf32> {
          // CHECK: sub %[[F]], %{{.*}} : !mirage_thread.fragment<4x4xf16>, !mirage_thread.fragment<4x1xf32>
          %0 = sub %ft, %fn : !mirage_thread.fragment<4x4xf16>, !mirage_thread.fragment<4x1xf32>
          %1 = exp %0 : !mirage_thread.fragment<4x4xf32>
          // CHECK: cast %{{.*}} : !mirage_thread.fragment<4x4xf32> -> !mirage_thread.fragment<4x4xf16>
          %2 = cast %1 : !mirage_thread.fragment<4x4xf32> -> !mirage_thread.fragment<4x4xf16>
          // CHECK: constant 0.0 : !mirage_thread.fragment<4x4xf32>
          %3 = constant 0.0 : !mirage_thread.fragment<4x4xf32>
          // CHECK: mma %{{.*}}, %[[F]], %{{.*}} {transpose_b} : !mirage_thread.fragment<4x4xf16>, !mirage_thread.fragment<4x4xf16>, !mirage_thread.fragment<4x4xf32>
          %4 = mma %2, %ft, %3 {transpose_b} : !mirage_thread.fragment<4x4xf16>, !mirage_thread.fragment<4x4xf16>, !mirage_thread.fragment<4x4xf32>
          // CHECK: bottom : !mirage_thread.fragment<4x4xf32>
          %5 = bottom : !mirage_thread.fragment<4x4xf32>
          %6 = max %4, %5 : !mirage_thread.fragment<4x4xf32>, !mirage_thread.fragment<4x4xf32>
          // CHECK: reduce_sum %{{.*}} {dim = 1} : !mirage_thread.fragment<4x4xf32>
          %7 = reduce_sum %6 {dim = 1} : !mirage_thread.fragment<4x4xf32>
          // CHECK: yield %{{.*}} : !mirage_thread.fragment<4x1xf32>
          yield %7 : !mirage_thread.fragment<4x1xf32>
        }
        // CHECK: thread (%{{.*}} = %{{.*}}) : !mirage_block.tile<4x4xf16> -> !mirage_block.tile<4x4xf32, register> {
        %same = thread (%ft = %t) : !mirage_block.tile<4x4xf16> -> !mirage_block.tile<4x4xf32, register> {
          %0 = exp %ft : !mirage_thread.fragment<4x4xf16>
          yield %0 : !mirage_thread.fragment<4x4xf32>
        }
        %rows = repeat %same {dim = 1, times = 4} : !mirage_block.tile<4x4xf32, register>
        // CHECK: yield %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} rescale %{{.*}} : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x4xf32, register>, !mirage_block.tile<4x16xf32>, !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
        yield %top, %part, %same, %rows, %part rescale %f
            : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x4xf32, register>, !mirage_block.tile<4x16xf32>, !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
      }
      %w = mul %o, %l : !mirage_block.tile<4x16xf32>, !mirage_block.tile<4x1xf32>
      // CHECK: store %{{.*}}, %[[Y]] {grid = [0], loop = [1]}
      store %w, %yk {grid = [0], loop = [1]} : !mirage_block.tile<4x16xf32>, tensor<8x64xf16>
      store %m, %zk {grid = [0]} : !mirage_block.tile<4x1xf32>, tensor<8x1xf32>
      // CHECK-NOT: yield
    }
    // CHECK: }
  }
  // CHECK: return %[[R]]#0, %[[R]]#1
  return %y#0, %y#1 : tensor<8x64xf16>, tensor<8x1xf32>
}

// A transposed tensor where it lies.
// CHECK: graph @order
mirage_kernel.graph @order(%x: tensor<4x2x8xf16>) -> tensor<4x2x8xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<4x2x8xf16>) -> tensor<4x2x8xf16> {
    // CHECK: load %{{.*}} {grid = [0], order = [1, 0, 2]} : tensor<4x2x8xf16> -> !mirage_block.tile<1x4x8xf16>
    %a = load %xk {order = [1, 0, 2], grid = [0]} : tensor<4x2x8xf16> -> !mirage_block.tile<1x4x8xf16>
    // CHECK: load %{{.*}} {grid = [1]} : tensor<4x2x8xf16> -> !mirage_block.tile<4x1x8xf16>
    %b = load %xk {grid = [1]} : tensor<4x2x8xf16> -> !mirage_block.tile<4x1x8xf16>
    // CHECK: store %{{.*}} {grid = [0], order = [1, 0, 2]} : !mirage_block.tile<1x4x8xf16>, tensor<4x2x8xf16>
    store %a, %yk {grid = [0], order = [1, 0, 2]} : !mirage_block.tile<1x4x8xf16>, tensor<4x2x8xf16>
  }
  return %y : tensor<4x2x8xf16>
}

// CHECK-LABEL: mirage_kernel.graph @functions
mirage_kernel.graph @functions(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // CHECK: abs %{{.*}} : tensor<4x8xf16>
  %0 = abs %x : tensor<4x8xf16>
  // CHECK: sign %{{.*}} : tensor<4x8xf16>
  %1 = sign %0 : tensor<4x8xf16>
  // CHECK: log1p %{{.*}} : tensor<4x8xf16>
  %2 = log1p %1 : tensor<4x8xf16>
  // CHECK: softplus %{{.*}} : tensor<4x8xf16>
  %3 = softplus %2 : tensor<4x8xf16>
  // CHECK: hard_sigmoid %{{.*}} : tensor<4x8xf16>
  %4 = hard_sigmoid %3 : tensor<4x8xf16>
  // CHECK: hard_swish %{{.*}} : tensor<4x8xf16>
  %5 = hard_swish %4 : tensor<4x8xf16>
  // CHECK: leaky_relu %{{.*}} {slope = 0.01} : tensor<4x8xf16>
  %6 = leaky_relu %5 {slope = 0.01} : tensor<4x8xf16>
  // CHECK: pow %{{.*}} {exponent = -0.75} : tensor<4x8xf16>
  %7 = pow %6 {exponent = -0.75} : tensor<4x8xf16>
  // CHECK: clamp %{{.*}} {low = -1.0, high = 2.5} : tensor<4x8xf16>
  %8 = clamp %7 {high = 2.5, low = -1.0} : tensor<4x8xf16>
  // CHECK: sin %{{.*}} : tensor<4x8xf16>
  %9 = sin %8 : tensor<4x8xf16>
  // CHECK: cos %{{.*}} : tensor<4x8xf16>
  %10 = cos %9 : tensor<4x8xf16>
  return %10 : tensor<4x8xf16>
}
