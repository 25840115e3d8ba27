// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=500' -o /dev/null 2>&1 | FileCheck %s
// Attention over keys in 16 parts, each normalised by its own sum: a product of 16 denominators, each a sum of exponentials,
// which only the theorem of free exponentials has a bound for.

mirage_kernel.graph @src_parts(%q: tensor<2x4xf16>, %k: tensor<4x64xf16>, %v: tensor<64x3xf16>) -> tensor<2x3xf16> {
  %s = matmul %q, %k : tensor<2x4xf16>, tensor<4x64xf16>
  %p = softmax %s {dim = 1} : tensor<2x64xf16>
  %y = matmul %p, %v : tensor<2x64xf16>, tensor<64x3xf16>
  return %y : tensor<2x3xf16>
}

// Each of 16 parts is normalised by its own sum; they are joined with their sums as weights.
// CHECK: @tgt_parts_normalised: equivalent to @src_parts;
mirage_kernel.graph @tgt_parts_normalised(%q: tensor<2x4xf16>, %k: tensor<4x64xf16>, %v: tensor<64x3xf16>) -> tensor<2x3xf16> attributes {source = @src_parts} {
  %o, %l, %m = custom (%qk = %q, %kk = %k, %vk = %v) outs(%ok, %lk, %mk) grid [16] : (tensor<2x4xf16>, tensor<4x64xf16>, tensor<64x3xf16>) -> (tensor<16x2x3xf16>, tensor<16x2x1xf32>, tensor<16x2x1xf32>) {
    %qt = load %qk {} : tensor<2x4xf16> -> !mirage_block.tile<2x4xf16>
    %kt = load %kk {grid = [1]} : tensor<4x64xf16> -> !mirage_block.tile<4x4xf16>
    %vt = load %vk {grid = [0]} : tensor<64x3xf16> -> !mirage_block.tile<4x3xf16>
    %s = matmul %qt, %kt : !mirage_block.tile<2x4xf16>, !mirage_block.tile<4x4xf16>
    %mt = reduce_max %s {dim = 1} : !mirage_block.tile<2x4xf32>
    %d = sub %s, %mt : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    %e = exp %d : !mirage_block.tile<2x4xf32>
    %lt = reduce_sum %e {dim = 1} : !mirage_block.tile<2x4xf32>
    %e16 = cast %e : !mirage_block.tile<2x4xf32> -> !mirage_block.tile<2x4xf16>
    %u = matmul %e16, %vt : !mirage_block.tile<2x4xf16>, !mirage_block.tile<4x3xf16>
    %n = div %u, %lt : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %n3 = reshape %n : !mirage_block.tile<2x3xf32> -> !mirage_block.tile<1x2x3xf32>
    %l3 = reshape %lt : !mirage_block.tile<2x1xf32> -> !mirage_block.tile<1x2x1xf32>
    %m3 = reshape %mt : !mirage_block.tile<2x1xf32> -> !mirage_block.tile<1x2x1xf32>
    store %n3, %ok {grid = [0]} : !mirage_block.tile<1x2x3xf32>, tensor<16x2x3xf16>
    store %l3, %lk {grid = [0]} : !mirage_block.tile<1x2x1xf32>, tensor<16x2x1xf32>
    store %m3, %mk {grid = [0]} : !mirage_block.tile<1x2x1xf32>, tensor<16x2x1xf32>
  }
  %y = custom (%ok = %o, %lk = %l, %mk = %m) outs(%yk) grid [1] : (tensor<16x2x3xf16>, tensor<16x2x1xf32>, tensor<16x2x1xf32>) -> tensor<2x3xf16> {
    %o = load %ok {} : tensor<16x2x3xf16> -> !mirage_block.tile<16x2x3xf16>
    %l = load %lk {} : tensor<16x2x1xf32> -> !mirage_block.tile<16x2x1xf32>
    %m = load %mk {} : tensor<16x2x1xf32> -> !mirage_block.tile<16x2x1xf32>
    %g = reduce_max %m {dim = 0} : !mirage_block.tile<16x2x1xf32>
    %d = sub %m, %g : !mirage_block.tile<16x2x1xf32>, !mirage_block.tile<1x2x1xf32>
    %e = exp %d : !mirage_block.tile<16x2x1xf32>
    %f = mul %e, %l : !mirage_block.tile<16x2x1xf32>, !mirage_block.tile<16x2x1xf32>
    %w = mul %f, %o : !mirage_block.tile<16x2x1xf32>, !mirage_block.tile<16x2x3xf16>
    %a = reduce_sum %w {dim = 0} : !mirage_block.tile<16x2x3xf32>
    %b = reduce_sum %f {dim = 0} : !mirage_block.tile<16x2x1xf32>
    %r = div %a, %b : !mirage_block.tile<1x2x3xf32>, !mirage_block.tile<1x2x1xf32>
    %t = reshape %r : !mirage_block.tile<1x2x3xf32> -> !mirage_block.tile<2x3xf32>
    store %t, %yk {} : !mirage_block.tile<2x3xf32>, tensor<2x3xf16>
  }
  return %y : tensor<2x3xf16>
}

// Parts count by their maximum alone, not by their sum.
// CHECK: @tgt_parts_unweighted: different at output
mirage_kernel.graph @tgt_parts_unweighted(%q: tensor<2x4xf16>, %k: tensor<4x64xf16>, %v: tensor<64x3xf16>) -> tensor<2x3xf16> attributes {source = @src_parts} {
  %o, %l, %m = custom (%qk = %q, %kk = %k, %vk = %v) outs(%ok, %lk, %mk) grid [16] : (tensor<2x4xf16>, tensor<4x64xf16>, tensor<64x3xf16>) -> (tensor<16x2x3xf16>, tensor<16x2x1xf32>, tensor<16x2x1xf32>) {
    %qt = load %qk {} : tensor<2x4xf16> -> !mirage_block.tile<2x4xf16>
    %kt = load %kk {grid = [1]} : tensor<4x64xf16> -> !mirage_block.tile<4x4xf16>
    %vt = load %vk {grid = [0]} : tensor<64x3xf16> -> !mirage_block.tile<4x3xf16>
    %s = matmul %qt, %kt : !mirage_block.tile<2x4xf16>, !mirage_block.tile<4x4xf16>
    %mt = reduce_max %s {dim = 1} : !mirage_block.tile<2x4xf32>
    %d = sub %s, %mt : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    %e = exp %d : !mirage_block.tile<2x4xf32>
    %lt = reduce_sum %e {dim = 1} : !mirage_block.tile<2x4xf32>
    %e16 = cast %e : !mirage_block.tile<2x4xf32> -> !mirage_block.tile<2x4xf16>
    %u = matmul %e16, %vt : !mirage_block.tile<2x4xf16>, !mirage_block.tile<4x3xf16>
    %n = div %u, %lt : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %n3 = reshape %n : !mirage_block.tile<2x3xf32> -> !mirage_block.tile<1x2x3xf32>
    %l3 = reshape %lt : !mirage_block.tile<2x1xf32> -> !mirage_block.tile<1x2x1xf32>
    %m3 = reshape %mt : !mirage_block.tile<2x1xf32> -> !mirage_block.tile<1x2x1xf32>
    store %n3, %ok {grid = [0]} : !mirage_block.tile<1x2x3xf32>, tensor<16x2x3xf16>
    store %l3, %lk {grid = [0]} : !mirage_block.tile<1x2x1xf32>, tensor<16x2x1xf32>
    store %m3, %mk {grid = [0]} : !mirage_block.tile<1x2x1xf32>, tensor<16x2x1xf32>
  }
  %y = custom (%ok = %o, %lk = %l, %mk = %m) outs(%yk) grid [1] : (tensor<16x2x3xf16>, tensor<16x2x1xf32>, tensor<16x2x1xf32>) -> tensor<2x3xf16> {
    %o = load %ok {} : tensor<16x2x3xf16> -> !mirage_block.tile<16x2x3xf16>
    %l = load %lk {} : tensor<16x2x1xf32> -> !mirage_block.tile<16x2x1xf32>
    %m = load %mk {} : tensor<16x2x1xf32> -> !mirage_block.tile<16x2x1xf32>
    %g = reduce_max %m {dim = 0} : !mirage_block.tile<16x2x1xf32>
    %d = sub %m, %g : !mirage_block.tile<16x2x1xf32>, !mirage_block.tile<1x2x1xf32>
    %e = exp %d : !mirage_block.tile<16x2x1xf32>
    %f = mul %e, %e : !mirage_block.tile<16x2x1xf32>, !mirage_block.tile<16x2x1xf32>
    %w = mul %f, %o : !mirage_block.tile<16x2x1xf32>, !mirage_block.tile<16x2x3xf16>
    %a = reduce_sum %w {dim = 0} : !mirage_block.tile<16x2x3xf32>
    %b = reduce_sum %f {dim = 0} : !mirage_block.tile<16x2x1xf32>
    %r = div %a, %b : !mirage_block.tile<1x2x3xf32>, !mirage_block.tile<1x2x1xf32>
    %t = reshape %r : !mirage_block.tile<1x2x3xf32> -> !mirage_block.tile<2x3xf32>
    store %t, %yk {} : !mirage_block.tile<2x3xf32>, tensor<2x3xf16>
  }
  return %y : tensor<2x3xf16>
}

// The weights are their squares.
// CHECK: @tgt_parts_squared: different at output
mirage_kernel.graph @tgt_parts_squared(%q: tensor<2x4xf16>, %k: tensor<4x64xf16>, %v: tensor<64x3xf16>) -> tensor<2x3xf16> attributes {source = @src_parts} {
  %o, %l, %m = custom (%qk = %q, %kk = %k, %vk = %v) outs(%ok, %lk, %mk) grid [16] : (tensor<2x4xf16>, tensor<4x64xf16>, tensor<64x3xf16>) -> (tensor<16x2x3xf16>, tensor<16x2x1xf32>, tensor<16x2x1xf32>) {
    %qt = load %qk {} : tensor<2x4xf16> -> !mirage_block.tile<2x4xf16>
    %kt = load %kk {grid = [1]} : tensor<4x64xf16> -> !mirage_block.tile<4x4xf16>
    %vt = load %vk {grid = [0]} : tensor<64x3xf16> -> !mirage_block.tile<4x3xf16>
    %s = matmul %qt, %kt : !mirage_block.tile<2x4xf16>, !mirage_block.tile<4x4xf16>
    %mt = reduce_max %s {dim = 1} : !mirage_block.tile<2x4xf32>
    %d = sub %s, %mt : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    %e = exp %d : !mirage_block.tile<2x4xf32>
    %lt = reduce_sum %e {dim = 1} : !mirage_block.tile<2x4xf32>
    %e16 = cast %e : !mirage_block.tile<2x4xf32> -> !mirage_block.tile<2x4xf16>
    %u = matmul %e16, %vt : !mirage_block.tile<2x4xf16>, !mirage_block.tile<4x3xf16>
    %n = div %u, %lt : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %n3 = reshape %n : !mirage_block.tile<2x3xf32> -> !mirage_block.tile<1x2x3xf32>
    %l3 = reshape %lt : !mirage_block.tile<2x1xf32> -> !mirage_block.tile<1x2x1xf32>
    %m3 = reshape %mt : !mirage_block.tile<2x1xf32> -> !mirage_block.tile<1x2x1xf32>
    store %n3, %ok {grid = [0]} : !mirage_block.tile<1x2x3xf32>, tensor<16x2x3xf16>
    store %l3, %lk {grid = [0]} : !mirage_block.tile<1x2x1xf32>, tensor<16x2x1xf32>
    store %m3, %mk {grid = [0]} : !mirage_block.tile<1x2x1xf32>, tensor<16x2x1xf32>
  }
  %y = custom (%ok = %o, %lk = %l, %mk = %m) outs(%yk) grid [1] : (tensor<16x2x3xf16>, tensor<16x2x1xf32>, tensor<16x2x1xf32>) -> tensor<2x3xf16> {
    %o = load %ok {} : tensor<16x2x3xf16> -> !mirage_block.tile<16x2x3xf16>
    %l = load %lk {} : tensor<16x2x1xf32> -> !mirage_block.tile<16x2x1xf32>
    %m = load %mk {} : tensor<16x2x1xf32> -> !mirage_block.tile<16x2x1xf32>
    %g = reduce_max %m {dim = 0} : !mirage_block.tile<16x2x1xf32>
    %d = sub %m, %g : !mirage_block.tile<16x2x1xf32>, !mirage_block.tile<1x2x1xf32>
    %e = exp %d : !mirage_block.tile<16x2x1xf32>
    %f = mul %e, %l : !mirage_block.tile<16x2x1xf32>, !mirage_block.tile<16x2x1xf32>
    %f2 = mul %f, %f : !mirage_block.tile<16x2x1xf32>, !mirage_block.tile<16x2x1xf32>
    %w = mul %f2, %o : !mirage_block.tile<16x2x1xf32>, !mirage_block.tile<16x2x3xf16>
    %a = reduce_sum %w {dim = 0} : !mirage_block.tile<16x2x3xf32>
    %b = reduce_sum %f2 {dim = 0} : !mirage_block.tile<16x2x1xf32>
    %r = div %a, %b : !mirage_block.tile<1x2x3xf32>, !mirage_block.tile<1x2x1xf32>
    %t = reshape %r : !mirage_block.tile<1x2x3xf32> -> !mirage_block.tile<2x3xf32>
    store %t, %yk {} : !mirage_block.tile<2x3xf32>, tensor<2x3xf16>
  }
  return %y : tensor<2x3xf16>
}

// Parts are not brought to a common maximum.
// CHECK: @tgt_parts_own_maximum: different at output
mirage_kernel.graph @tgt_parts_own_maximum(%q: tensor<2x4xf16>, %k: tensor<4x64xf16>, %v: tensor<64x3xf16>) -> tensor<2x3xf16> attributes {source = @src_parts} {
  %o, %l, %m = custom (%qk = %q, %kk = %k, %vk = %v) outs(%ok, %lk, %mk) grid [16] : (tensor<2x4xf16>, tensor<4x64xf16>, tensor<64x3xf16>) -> (tensor<16x2x3xf16>, tensor<16x2x1xf32>, tensor<16x2x1xf32>) {
    %qt = load %qk {} : tensor<2x4xf16> -> !mirage_block.tile<2x4xf16>
    %kt = load %kk {grid = [1]} : tensor<4x64xf16> -> !mirage_block.tile<4x4xf16>
    %vt = load %vk {grid = [0]} : tensor<64x3xf16> -> !mirage_block.tile<4x3xf16>
    %s = matmul %qt, %kt : !mirage_block.tile<2x4xf16>, !mirage_block.tile<4x4xf16>
    %mt = reduce_max %s {dim = 1} : !mirage_block.tile<2x4xf32>
    %d = sub %s, %mt : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x1xf32>
    %e = exp %d : !mirage_block.tile<2x4xf32>
    %lt = reduce_sum %e {dim = 1} : !mirage_block.tile<2x4xf32>
    %e16 = cast %e : !mirage_block.tile<2x4xf32> -> !mirage_block.tile<2x4xf16>
    %u = matmul %e16, %vt : !mirage_block.tile<2x4xf16>, !mirage_block.tile<4x3xf16>
    %n = div %u, %lt : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %n3 = reshape %n : !mirage_block.tile<2x3xf32> -> !mirage_block.tile<1x2x3xf32>
    %l3 = reshape %lt : !mirage_block.tile<2x1xf32> -> !mirage_block.tile<1x2x1xf32>
    %m3 = reshape %mt : !mirage_block.tile<2x1xf32> -> !mirage_block.tile<1x2x1xf32>
    store %n3, %ok {grid = [0]} : !mirage_block.tile<1x2x3xf32>, tensor<16x2x3xf16>
    store %l3, %lk {grid = [0]} : !mirage_block.tile<1x2x1xf32>, tensor<16x2x1xf32>
    store %m3, %mk {grid = [0]} : !mirage_block.tile<1x2x1xf32>, tensor<16x2x1xf32>
  }
  %y = custom (%ok = %o, %lk = %l, %mk = %m) outs(%yk) grid [1] : (tensor<16x2x3xf16>, tensor<16x2x1xf32>, tensor<16x2x1xf32>) -> tensor<2x3xf16> {
    %o = load %ok {} : tensor<16x2x3xf16> -> !mirage_block.tile<16x2x3xf16>
    %l = load %lk {} : tensor<16x2x1xf32> -> !mirage_block.tile<16x2x1xf32>
    %m = load %mk {} : tensor<16x2x1xf32> -> !mirage_block.tile<16x2x1xf32>
    %g = reduce_max %m {dim = 0} : !mirage_block.tile<16x2x1xf32>
    %d = sub %m, %g : !mirage_block.tile<16x2x1xf32>, !mirage_block.tile<1x2x1xf32>
    %e = exp %d : !mirage_block.tile<16x2x1xf32>
    %f = mul %l, %l : !mirage_block.tile<16x2x1xf32>, !mirage_block.tile<16x2x1xf32>
    %w = mul %f, %o : !mirage_block.tile<16x2x1xf32>, !mirage_block.tile<16x2x3xf16>
    %a = reduce_sum %w {dim = 0} : !mirage_block.tile<16x2x3xf32>
    %b = reduce_sum %f {dim = 0} : !mirage_block.tile<16x2x1xf32>
    %r = div %a, %b : !mirage_block.tile<1x2x3xf32>, !mirage_block.tile<1x2x1xf32>
    %t = reshape %r : !mirage_block.tile<1x2x3xf32> -> !mirage_block.tile<2x3xf32>
    store %t, %yk {} : !mirage_block.tile<2x3xf32>, tensor<2x3xf16>
  }
  return %y : tensor<2x3xf16>
}
