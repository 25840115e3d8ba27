// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// Fifteen residual layers: no theorem has a bound for the whole. Each layer is shown for itself, with the one before as an input.

mirage_kernel.graph @src_deep(%x: tensor<2x6xf16>, %w: tensor<6x6xf16>) -> tensor<2x6xf16> {
  %n1 = rms_norm %x {eps = 0.5} : tensor<2x6xf16>
  %h1 = matmul %n1, %w : tensor<2x6xf16>, tensor<6x6xf16>
  %s1 = silu %h1 : tensor<2x6xf16>
  %v1 = add %x, %s1 : tensor<2x6xf16>, tensor<2x6xf16>
  %n2 = rms_norm %v1 {eps = 0.5} : tensor<2x6xf16>
  %h2 = matmul %n2, %w : tensor<2x6xf16>, tensor<6x6xf16>
  %s2 = silu %h2 : tensor<2x6xf16>
  %v2 = add %v1, %s2 : tensor<2x6xf16>, tensor<2x6xf16>
  %n3 = rms_norm %v2 {eps = 0.5} : tensor<2x6xf16>
  %h3 = matmul %n3, %w : tensor<2x6xf16>, tensor<6x6xf16>
  %s3 = silu %h3 : tensor<2x6xf16>
  %v3 = add %v2, %s3 : tensor<2x6xf16>, tensor<2x6xf16>
  %n4 = rms_norm %v3 {eps = 0.5} : tensor<2x6xf16>
  %h4 = matmul %n4, %w : tensor<2x6xf16>, tensor<6x6xf16>
  %s4 = silu %h4 : tensor<2x6xf16>
  %v4 = add %v3, %s4 : tensor<2x6xf16>, tensor<2x6xf16>
  %n5 = rms_norm %v4 {eps = 0.5} : tensor<2x6xf16>
  %h5 = matmul %n5, %w : tensor<2x6xf16>, tensor<6x6xf16>
  %s5 = silu %h5 : tensor<2x6xf16>
  %v5 = add %v4, %s5 : tensor<2x6xf16>, tensor<2x6xf16>
  %n6 = rms_norm %v5 {eps = 0.5} : tensor<2x6xf16>
  %h6 = matmul %n6, %w : tensor<2x6xf16>, tensor<6x6xf16>
  %s6 = silu %h6 : tensor<2x6xf16>
  %v6 = add %v5, %s6 : tensor<2x6xf16>, tensor<2x6xf16>
  %n7 = rms_norm %v6 {eps = 0.5} : tensor<2x6xf16>
  %h7 = matmul %n7, %w : tensor<2x6xf16>, tensor<6x6xf16>
  %s7 = silu %h7 : tensor<2x6xf16>
  %v7 = add %v6, %s7 : tensor<2x6xf16>, tensor<2x6xf16>
  %n8 = rms_norm %v7 {eps = 0.5} : tensor<2x6xf16>
  %h8 = matmul %n8, %w : tensor<2x6xf16>, tensor<6x6xf16>
  %s8 = silu %h8 : tensor<2x6xf16>
  %v8 = add %v7, %s8 : tensor<2x6xf16>, tensor<2x6xf16>
  %n9 = rms_norm %v8 {eps = 0.5} : tensor<2x6xf16>
  %h9 = matmul %n9, %w : tensor<2x6xf16>, tensor<6x6xf16>
  %s9 = silu %h9 : tensor<2x6xf16>
  %v9 = add %v8, %s9 : tensor<2x6xf16>, tensor<2x6xf16>
  %n10 = rms_norm %v9 {eps = 0.5} : tensor<2x6xf16>
  %h10 = matmul %n10, %w : tensor<2x6xf16>, tensor<6x6xf16>
  %s10 = silu %h10 : tensor<2x6xf16>
  %v10 = add %v9, %s10 : tensor<2x6xf16>, tensor<2x6xf16>
  %n11 = rms_norm %v10 {eps = 0.5} : tensor<2x6xf16>
  %h11 = matmul %n11, %w : tensor<2x6xf16>, tensor<6x6xf16>
  %s11 = silu %h11 : tensor<2x6xf16>
  %v11 = add %v10, %s11 : tensor<2x6xf16>, tensor<2x6xf16>
  %n12 = rms_norm %v11 {eps = 0.5} : tensor<2x6xf16>
  %h12 = matmul %n12, %w : tensor<2x6xf16>, tensor<6x6xf16>
  %s12 = silu %h12 : tensor<2x6xf16>
  %v12 = add %v11, %s12 : tensor<2x6xf16>, tensor<2x6xf16>
  %n13 = rms_norm %v12 {eps = 0.5} : tensor<2x6xf16>
  %h13 = matmul %n13, %w : tensor<2x6xf16>, tensor<6x6xf16>
  %s13 = silu %h13 : tensor<2x6xf16>
  %v13 = add %v12, %s13 : tensor<2x6xf16>, tensor<2x6xf16>
  %n14 = rms_norm %v13 {eps = 0.5} : tensor<2x6xf16>
  %h14 = matmul %n14, %w : tensor<2x6xf16>, tensor<6x6xf16>
  %s14 = silu %h14 : tensor<2x6xf16>
  %v14 = add %v13, %s14 : tensor<2x6xf16>, tensor<2x6xf16>
  %n15 = rms_norm %v14 {eps = 0.5} : tensor<2x6xf16>
  %h15 = matmul %n15, %w : tensor<2x6xf16>, tensor<6x6xf16>
  %s15 = silu %h15 : tensor<2x6xf16>
  %v15 = add %v14, %s15 : tensor<2x6xf16>, tensor<2x6xf16>
  return %v15 : tensor<2x6xf16>
}

// A kernel a layer.
// CHECK: @tgt_deep_kernels: equivalent to @src_deep; {{.*}} in 15 pieces;
mirage_kernel.graph @tgt_deep_kernels(%x: tensor<2x6xf16>, %w: tensor<6x6xf16>) -> tensor<2x6xf16> attributes {source = @src_deep} {
  %v1 = custom (%vk = %x, %rk = %x, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v2 = custom (%vk = %v1, %rk = %v1, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v3 = custom (%vk = %v2, %rk = %v2, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v4 = custom (%vk = %v3, %rk = %v3, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v5 = custom (%vk = %v4, %rk = %v4, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v6 = custom (%vk = %v5, %rk = %v5, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v7 = custom (%vk = %v6, %rk = %v6, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v8 = custom (%vk = %v7, %rk = %v7, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v9 = custom (%vk = %v8, %rk = %v8, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v10 = custom (%vk = %v9, %rk = %v9, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v11 = custom (%vk = %v10, %rk = %v10, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v12 = custom (%vk = %v11, %rk = %v11, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v13 = custom (%vk = %v12, %rk = %v12, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v14 = custom (%vk = %v13, %rk = %v13, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v15 = custom (%vk = %v14, %rk = %v14, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  return %v15 : tensor<2x6xf16>
}

// The eighth layer adds the input of the seventh.
// CHECK: @tgt_deep_residual: different at output
mirage_kernel.graph @tgt_deep_residual(%x: tensor<2x6xf16>, %w: tensor<6x6xf16>) -> tensor<2x6xf16> attributes {source = @src_deep} {
  %v1 = custom (%vk = %x, %rk = %x, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v2 = custom (%vk = %v1, %rk = %v1, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v3 = custom (%vk = %v2, %rk = %v2, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v4 = custom (%vk = %v3, %rk = %v3, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v5 = custom (%vk = %v4, %rk = %v4, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v6 = custom (%vk = %v5, %rk = %v5, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v7 = custom (%vk = %v6, %rk = %v6, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v8 = custom (%vk = %v7, %rk = %v6, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v9 = custom (%vk = %v8, %rk = %v8, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v10 = custom (%vk = %v9, %rk = %v9, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v11 = custom (%vk = %v10, %rk = %v10, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v12 = custom (%vk = %v11, %rk = %v11, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v13 = custom (%vk = %v12, %rk = %v12, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v14 = custom (%vk = %v13, %rk = %v13, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v15 = custom (%vk = %v14, %rk = %v14, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  return %v15 : tensor<2x6xf16>
}

// Values of the candidate that the program does not have are walked through.
// CHECK: @tgt_deep_detour: equivalent to @src_deep;
mirage_kernel.graph @tgt_deep_detour(%x: tensor<2x6xf16>, %w: tensor<6x6xf16>) -> tensor<2x6xf16> attributes {source = @src_deep} {
  %v1 = custom (%vk = %x, %rk = %x, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v2 = custom (%vk = %v1, %rk = %v1, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v3 = custom (%vk = %v2, %rk = %v2, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v4 = custom (%vk = %v3, %rk = %v3, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v5 = custom (%vk = %v4, %rk = %v4, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v6 = custom (%vk = %v5, %rk = %v5, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v7 = custom (%vk = %v6, %rk = %v6, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %two = constant 2.0 : tensor<f16>
  %w2 = mul %w, %two : tensor<6x6xf16>, tensor<f16>
  %half = div %w2, %two : tensor<6x6xf16>, tensor<f16>
  %v8 = custom (%vk = %v7, %rk = %v7, %wk = %half) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v9 = custom (%vk = %v8, %rk = %v8, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v10 = custom (%vk = %v9, %rk = %v9, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v11 = custom (%vk = %v10, %rk = %v10, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v12 = custom (%vk = %v11, %rk = %v11, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v13 = custom (%vk = %v12, %rk = %v12, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v14 = custom (%vk = %v13, %rk = %v13, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  %v15 = custom (%vk = %v14, %rk = %v14, %wk = %w) outs(%yk) grid [2] : (tensor<2x6xf16>, tensor<2x6xf16>, tensor<6x6xf16>) -> tensor<2x6xf16> {
    %vt = load %vk {} : tensor<2x6xf16> -> !mirage_block.tile<2x6xf16>
    %rt = load %rk {grid = [1]} : tensor<2x6xf16> -> !mirage_block.tile<2x3xf16>
    %wt = load %wk {grid = [1]} : tensor<6x6xf16> -> !mirage_block.tile<6x3xf16>
    %q = mul %vt, %vt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<2x6xf16>
    %s = reduce_sum %q {dim = 1} : !mirage_block.tile<2x6xf32>
    %six = constant 6.0 : !mirage_block.tile<1x1xf32>
    %eps = constant 0.5 : !mirage_block.tile<1x1xf32>
    %m = div %s, %six : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %a = add %m, %eps : !mirage_block.tile<2x1xf32>, !mirage_block.tile<1x1xf32>
    %r = sqrt %a : !mirage_block.tile<2x1xf32>
    %p = matmul %vt, %wt : !mirage_block.tile<2x6xf16>, !mirage_block.tile<6x3xf16>
    %h = div %p, %r : !mirage_block.tile<2x3xf32>, !mirage_block.tile<2x1xf32>
    %g = silu %h : !mirage_block.tile<2x3xf32>
    %y = add %rt, %g : !mirage_block.tile<2x3xf16>, !mirage_block.tile<2x3xf32>
    store %y, %yk {grid = [1]} : !mirage_block.tile<2x3xf32>, tensor<2x6xf16>
  }
  return %v15 : tensor<2x6xf16>
}
