// Attention under masks, of sizes at which no trial runs in full: such a pair is proven for every mask, by the theorem of masks, and
// so for its own. Each `sed` makes a candidate that takes another one, or takes it wrongly.
//
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
//
// `<` for `<=`.
// RUN: sed 's/less_equal %j, %i/less %j, %i/' %s | mirage-mlir-opt --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s --check-prefix=BOUNDARY
// BOUNDARY: @causal: different
//
// One key too many, one too few.
// RUN: sed 's/iota {dim = 0, grid = \[64\]}/iota {dim = 0, start = 1, grid = [64]}/' %s | mirage-mlir-opt --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s --check-prefix=OFFSET
// OFFSET: @causal: different
// RUN: sed 's/iota {dim = 0, grid = \[64\]}/iota {dim = 0, start = -1, grid = [64]}/' %s | mirage-mlir-opt --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s --check-prefix=BEHIND
// BEHIND: @causal: different
//
// Rows of blocks that lie half as far apart; keys that stand, that move too fast, that are a tile ahead.
// RUN: sed 's/iota {dim = 0, grid = \[64\]}/iota {dim = 0, grid = [32]}/' %s | mirage-mlir-opt --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s --check-prefix=STEP
// STEP: @causal: different
// RUN: sed 's/iota {dim = 1, loop = \[64\]}/iota {dim = 1}/' %s | mirage-mlir-opt --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s --check-prefix=STAND
// STAND: @causal: different
// RUN: sed 's/iota {dim = 1, loop = \[64\]}/iota {dim = 1, loop = [128]}/' %s | mirage-mlir-opt --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s --check-prefix=FAST
// FAST: @causal: different
// RUN: sed 's/iota {dim = 1, loop = \[64\]}/iota {dim = 1, start = 64, loop = [64]}/' %s | mirage-mlir-opt --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s --check-prefix=AHEAD
// AHEAD: @causal: different
//
// All rows of a block see what its first one sees.
// RUN: sed '/@causal(/,/^}/{s/grid = \[64\]} : !mirage_block.tile<64x1xi32>/grid = [64]} : !mirage_block.tile<1x1xi32>/; s/!mirage_block.tile<1x64xi32>, !mirage_block.tile<64x1xi32>/!mirage_block.tile<1x64xi32>, !mirage_block.tile<1x1xi32>/; s/!mirage_block.tile<64x64xi1>, /!mirage_block.tile<1x64xi1>, /}' %s | mirage-mlir-opt --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s --check-prefix=FIRST
// FIRST: @causal: different
//
// From the other side.
// RUN: sed 's/less_equal %j, %i/less_equal %i, %j/; s/!mirage_block.tile<1x64xi32>, !mirage_block.tile<64x1xi32>/!mirage_block.tile<64x1xi32>, !mirage_block.tile<1x64xi32>/' %s | mirage-mlir-opt --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s --check-prefix=TURNED
// TURNED: @causal: different
//
// No mask.
// RUN: sed 's/%z = mask %c, %x : .*/%z = add %x, %x : !mirage_block.tile<1x64x64xf32>, !mirage_block.tile<1x64x64xf32>/' %s | mirage-mlir-opt --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: @causal: different
//
// A sum that is not rescaled.
// RUN: sed 's/rescale %f, %f/rescale %f, %one/' %s | mirage-mlir-opt --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s --check-prefix=FACTOR
// FACTOR: @causal: different
//
// A key beyond the last one; the mask of keys that end at 499.
// RUN: sed 's/constant 500.0/constant 501.0/' %s | mirage-mlir-opt --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: @cut: different
// RUN: sed 's/constant 500.0/constant 499.0/' %s | mirage-mlir-opt --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: @cut: different
//
// Rows that see no key divided by nothing.
// RUN: sed 's/%r = div %o, %divisor/%r = div %o, %l/' %s | mirage-mlir-opt --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: @given: unsupported
//
// A given mask turned.
// RUN: sed 's/load %ck {grid = \[0\], loop = \[1\]}/load %ck {grid = [1], loop = [0]}/' %s | mirage-mlir-opt --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: @given: different
//
// What is added where a row sees some.
// RUN: sed 's/%n = cast %empty/%n = cast %any/' %s | mirage-mlir-opt --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s --check-prefix=SOME
// SOME: @given: {{different|unsupported}}

mirage_kernel.graph @src_causal(%q: tensor<2x512x16xf32>, %k: tensor<2x512x16xf32>, %v: tensor<2x512x16xf32>) -> tensor<2x512x16xf32> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.25, causal} : tensor<2x512x16xf32>, tensor<2x512x16xf32>, tensor<2x512x16xf32>
  return %y : tensor<2x512x16xf32>
}

// In the first block all tiles but one hold no key that is seen, in the last each holds some.
// CHECK: @causal: equivalent to @src_causal; {{.*}}by transfer
mirage_kernel.graph @causal(%q: tensor<2x512x16xf32>, %k: tensor<2x512x16xf32>, %v: tensor<2x512x16xf32>) -> tensor<2x512x16xf32> attributes {source = @src_causal} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [8, 2] : (tensor<2x512x16xf32>, tensor<2x512x16xf32>, tensor<2x512x16xf32>) -> tensor<2x512x16xf32> {
    %qt = load %qk {grid = [1, 0]} : tensor<2x512x16xf32> -> !mirage_block.tile<1x64x16xf32>
    %none = bottom : !mirage_block.tile<1x64x1xf32>
    %o0 = constant 0.0 : !mirage_block.tile<1x64x16xf32>
    %l0 = constant 0.0 : !mirage_block.tile<1x64x1xf32>
    %one = constant 1.0 : !mirage_block.tile<1x64x1xf32>
    %m, %o, %l = loop 8 (%mc = %none max, %oc = %o0 rescale, %lc = %l0 rescale) : !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x16xf32>, !mirage_block.tile<1x64x1xf32> {
      %kt = load %kk {grid = [-1, 0], loop = [1]} : tensor<2x512x16xf32> -> !mirage_block.tile<1x64x16xf32>
      %vt = load %vk {grid = [-1, 0], loop = [1]} : tensor<2x512x16xf32> -> !mirage_block.tile<1x64x16xf32>
      %raw = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x64x16xf32>, !mirage_block.tile<1x64x16xf32>
      %scale = constant 0.25 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x64x64xf32>, !mirage_block.tile<1x1x1xf32>
      %j = iota {dim = 1, loop = [64]} : !mirage_block.tile<1x64xi32>
      %i = iota {dim = 0, grid = [64]} : !mirage_block.tile<64x1xi32>
      %c = less_equal %j, %i : !mirage_block.tile<1x64xi32>, !mirage_block.tile<64x1xi32>
      %z = mask %c, %x : !mirage_block.tile<64x64xi1>, !mirage_block.tile<1x64x64xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x64x64xf32>
      %new = max %mc, %top : !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x1xf32>
      %df = sub %mc, %new : !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x1xf32>
      %f = exp %df : !mirage_block.tile<1x64x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x64x64xf32>, !mirage_block.tile<1x64x1xf32>
      %e = exp %d : !mirage_block.tile<1x64x64xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x64x64xf32>, !mirage_block.tile<1x64x16xf32>
      %sum = reduce_sum %e {dim = 2} : !mirage_block.tile<1x64x64xf32>
      yield %top, %pv, %sum rescale %f, %f : !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x16xf32>, !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x1xf32>
    }
    %r = div %o, %l : !mirage_block.tile<1x64x16xf32>, !mirage_block.tile<1x64x1xf32>
    store %r, %yk {grid = [1, 0]} : !mirage_block.tile<1x64x16xf32>, tensor<2x512x16xf32>
  }
  return %y : tensor<2x512x16xf32>
}

// The last tile holds 52 keys.
mirage_kernel.graph @src_cut(%q: tensor<2x512x16xf32>, %k: tensor<2x500x16xf32>, %v: tensor<2x500x16xf32>) -> tensor<2x512x16xf32> {
  %y = scaled_dot_product_attention %q, %k, %v {scale = 0.25, causal, offset = 9} : tensor<2x512x16xf32>, tensor<2x500x16xf32>, tensor<2x500x16xf32>
  return %y : tensor<2x512x16xf32>
}

// CHECK: @cut: equivalent to @src_cut; {{.*}}by transfer
mirage_kernel.graph @cut(%q: tensor<2x512x16xf32>, %k: tensor<2x500x16xf32>, %v: tensor<2x500x16xf32>) -> tensor<2x512x16xf32> attributes {source = @src_cut} {
  %y = custom (%qk = %q, %kk = %k, %vk = %v) outs(%yk) grid [8, 2] : (tensor<2x512x16xf32>, tensor<2x500x16xf32>, tensor<2x500x16xf32>) -> tensor<2x512x16xf32> {
    %qt = load %qk {grid = [1, 0]} : tensor<2x512x16xf32> -> !mirage_block.tile<1x64x16xf32>
    %none = bottom : !mirage_block.tile<1x64x1xf32>
    %o0 = constant 0.0 : !mirage_block.tile<1x64x16xf32>
    %l0 = constant 0.0 : !mirage_block.tile<1x64x1xf32>
    %one = constant 1.0 : !mirage_block.tile<1x64x1xf32>
    %m, %o, %l = loop 8 (%mc = %none max, %oc = %o0 rescale, %lc = %l0 rescale) : !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x16xf32>, !mirage_block.tile<1x64x1xf32> {
      %kt = load %kk {grid = [-1, 0], loop = [1], tiles = [0, 64, 0]} : tensor<2x500x16xf32> -> !mirage_block.tile<1x64x16xf32>
      %vt = load %vk {grid = [-1, 0], loop = [1], tiles = [0, 64, 0]} : tensor<2x500x16xf32> -> !mirage_block.tile<1x64x16xf32>
      %raw = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x64x16xf32>, !mirage_block.tile<1x64x16xf32>
      %scale = constant 0.25 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x64x64xf32>, !mirage_block.tile<1x1x1xf32>
      %j = iota {dim = 1, loop = [64]} : !mirage_block.tile<1x64xi32>
      %i = iota {dim = 0, start = 9, grid = [64]} : !mirage_block.tile<64x1xi32>
      %below = less_equal %j, %i : !mirage_block.tile<1x64xi32>, !mirage_block.tile<64x1xi32>
      %end = constant 500.0 : !mirage_block.tile<1x1xi32>
      %in = less %j, %end : !mirage_block.tile<1x64xi32>, !mirage_block.tile<1x1xi32>
      %c = and %below, %in : !mirage_block.tile<64x64xi1>, !mirage_block.tile<1x64xi1>
      %z = mask %c, %x : !mirage_block.tile<64x64xi1>, !mirage_block.tile<1x64x64xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x64x64xf32>
      %new = max %mc, %top : !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x1xf32>
      %df = sub %mc, %new : !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x1xf32>
      %f = exp %df : !mirage_block.tile<1x64x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x64x64xf32>, !mirage_block.tile<1x64x1xf32>
      %e = exp %d : !mirage_block.tile<1x64x64xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x64x64xf32>, !mirage_block.tile<1x64x16xf32>
      %sum = reduce_sum %e {dim = 2} : !mirage_block.tile<1x64x64xf32>
      yield %top, %pv, %sum rescale %f, %f : !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x16xf32>, !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x1xf32>
    }
    %r = div %o, %l : !mirage_block.tile<1x64x16xf32>, !mirage_block.tile<1x64x1xf32>
    store %r, %yk {grid = [1, 0]} : !mirage_block.tile<1x64x16xf32>, tensor<2x512x16xf32>
  }
  return %y : tensor<2x512x16xf32>
}

// A mask that somebody gives, with rows that see nothing: their sum is 0, and 1 in its place makes them 0.
mirage_kernel.graph @src_given(%q: tensor<2x512x16xf32>, %k: tensor<2x512x16xf32>, %v: tensor<2x512x16xf32>, %m: tensor<512x512xi1>) -> tensor<2x512x16xf32> {
  %y = scaled_dot_product_attention %q, %k, %v, %m {scale = 0.25} : tensor<2x512x16xf32>, tensor<2x512x16xf32>, tensor<2x512x16xf32>, tensor<512x512xi1>
  return %y : tensor<2x512x16xf32>
}

// CHECK: @given: equivalent to @src_given; {{.*}}by transfer
mirage_kernel.graph @given(%q: tensor<2x512x16xf32>, %k: tensor<2x512x16xf32>, %v: tensor<2x512x16xf32>, %m: tensor<512x512xi1>) -> tensor<2x512x16xf32> attributes {source = @src_given} {
  %any = reduce_max %m {dim = 1} : tensor<512x512xi1>
  %empty = not %any : tensor<512x1xi1>
  %n = cast %empty : tensor<512x1xi1> -> tensor<512x1xf32>
  %y = custom (%qk = %q, %kk = %k, %vk = %v, %ck = %m, %nk = %n) outs(%yk) grid [8, 2] : (tensor<2x512x16xf32>, tensor<2x512x16xf32>, tensor<2x512x16xf32>, tensor<512x512xi1>, tensor<512x1xf32>) -> tensor<2x512x16xf32> {
    %qt = load %qk {grid = [1, 0]} : tensor<2x512x16xf32> -> !mirage_block.tile<1x64x16xf32>
    %none = bottom : !mirage_block.tile<1x64x1xf32>
    %o0 = constant 0.0 : !mirage_block.tile<1x64x16xf32>
    %l0 = constant 0.0 : !mirage_block.tile<1x64x1xf32>
    %one = constant 1.0 : !mirage_block.tile<1x64x1xf32>
    %m, %o, %l = loop 8 (%mc = %none max, %oc = %o0 rescale, %lc = %l0 rescale) : !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x16xf32>, !mirage_block.tile<1x64x1xf32> {
      %kt = load %kk {grid = [-1, 0], loop = [1]} : tensor<2x512x16xf32> -> !mirage_block.tile<1x64x16xf32>
      %vt = load %vk {grid = [-1, 0], loop = [1]} : tensor<2x512x16xf32> -> !mirage_block.tile<1x64x16xf32>
      %raw = matmul %qt, %kt {transpose_b} : !mirage_block.tile<1x64x16xf32>, !mirage_block.tile<1x64x16xf32>
      %scale = constant 0.25 : !mirage_block.tile<1x1x1xf32>
      %x = mul %raw, %scale : !mirage_block.tile<1x64x64xf32>, !mirage_block.tile<1x1x1xf32>
      %c = load %ck {grid = [0], loop = [1]} : tensor<512x512xi1> -> !mirage_block.tile<64x64xi1>
      %z = mask %c, %x : !mirage_block.tile<64x64xi1>, !mirage_block.tile<1x64x64xf32>
      %top = reduce_max %z {dim = 2} : !mirage_block.tile<1x64x64xf32>
      %new = max %mc, %top : !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x1xf32>
      %df = sub %mc, %new : !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x1xf32>
      %f = exp %df : !mirage_block.tile<1x64x1xf32>
      %d = sub %z, %new : !mirage_block.tile<1x64x64xf32>, !mirage_block.tile<1x64x1xf32>
      %e = exp %d : !mirage_block.tile<1x64x64xf32>
      %pv = matmul %e, %vt : !mirage_block.tile<1x64x64xf32>, !mirage_block.tile<1x64x16xf32>
      %sum = reduce_sum %e {dim = 2} : !mirage_block.tile<1x64x64xf32>
      yield %top, %pv, %sum rescale %f, %f : !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x16xf32>, !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<1x64x1xf32>
    }
    %nt = load %nk {grid = [0]} : tensor<512x1xf32> -> !mirage_block.tile<64x1xf32>
    %divisor = add %l, %nt : !mirage_block.tile<1x64x1xf32>, !mirage_block.tile<64x1xf32>
    %r = div %o, %divisor : !mirage_block.tile<1x64x16xf32>, !mirage_block.tile<1x64x1xf32>
    store %r, %yk {grid = [1, 0]} : !mirage_block.tile<1x64x16xf32>, tensor<2x512x16xf32>
  }
  return %y : tensor<2x512x16xf32>
}
