// Large products: blocks in twos share the copies of what does not depend on their axis, and nobody had asked for it.
//
// RUN: mirage-mlir-opt %s --mirage-layout -o %t.planned.mlir
// RUN: FileCheck %s < %t.planned.mlir
// Planned again: the same. For a GPU without clusters: the planner's are gone. What was asked for stays.
// RUN: mirage-mlir-opt %t.planned.mlir --mirage-layout | diff %t.planned.mlir -
// RUN: mirage-mlir-opt %t.planned.mlir --mirage-layout=target=a100 | FileCheck %s --check-prefix=A100
// RUN: mirage-mlir-opt %t.planned.mlir --mirage-layout=target=a100 | mirage-mlir-opt --mirage-layout | FileCheck %s
// A copy that a person wants shared stays shared where the planner makes it a tensor copy.
// RUN: sed '/@pairs(/,/return/s/grid \[16, 16\]/grid [16, 16] cluster [2] schedule <loads = [auto(multicast = true), auto]>/' %s | mirage-mlir-opt --mirage-layout | FileCheck %s --check-prefix=SHARED
// SHARED-LABEL: @pairs(
// SHARED: roles = [producer(4, 40), {{.*}}loads = [tensor(stages = {{[0-9]}}, multicast = true), tensor(stages = {{[0-9]}})]> plan
// An edited kernel holds an ask, clusters and all.
// RUN: sed 's/stages = [2-8]/stages = 1/g' %t.planned.mlir | mirage-mlir-opt --mirage-layout 2>/dev/null | FileCheck %s --check-prefix=EDITED

// 16 x 16 tiles, too deep for blocks beside each other: w, which rows of blocks share, is as large as x; the first axis wins.
// CHECK-LABEL: @pairs(
// CHECK: grid [16, 16] cluster [2] schedule <{{.*}}loads = [tensor(stages = {{[0-9]}}, multicast = true), tensor(stages = {{[0-9]}})]> plan <{{.*}}paired = true
// A100-LABEL: @pairs(
// A100-NOT: cluster
// A100-NOT: paired
// A100: @larger_program
// EDITED-LABEL: @pairs(
// EDITED: cluster [2] {{.*}}stages = 1, multicast = true
// EDITED-NOT: paired
// EDITED: @larger_program
mirage_kernel.graph @pairs_program(%x: tensor<2048x3072xf16>, %w: tensor<3072x2048xf16>) -> tensor<2048x2048xf16> {
  %y = matmul %x, %w : tensor<2048x3072xf16>, tensor<3072x2048xf16>
  return %y : tensor<2048x2048xf16>
}

mirage_kernel.graph @pairs(%x: tensor<2048x3072xf16>, %w: tensor<3072x2048xf16>) -> tensor<2048x2048xf16> attributes {source = @pairs_program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [16, 16] : (tensor<2048x3072xf16>, tensor<3072x2048xf16>) -> tensor<2048x2048xf16> {
    %zero = constant 0.0 : !mirage_block.tile<128x128xf32>
    %acc = loop 24 (%a = %zero sum) : !mirage_block.tile<128x128xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1]} : tensor<2048x3072xf16> -> !mirage_block.tile<128x128xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<3072x2048xf16> -> !mirage_block.tile<128x128xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<128x128xf16>, !mirage_block.tile<128x128xf16>
      yield %p : !mirage_block.tile<128x128xf32>
    }
    store %acc, %yk {grid = [1, 0]} : !mirage_block.tile<128x128xf32>, tensor<2048x2048xf16>
  }
  return %y : tensor<2048x2048xf16>
}

// The larger tile is shared: w, by blocks that differ in rows.
// CHECK-LABEL: @larger(
// CHECK: grid [8, 18] cluster [1, 2] schedule <{{.*}}loads = [tensor(stages = {{[0-9]}}), tensor(stages = {{[0-9]}}, multicast = true)]> plan <{{.*}}paired = true
mirage_kernel.graph @larger_program(%x: tensor<2304x3072xf16>, %w: tensor<3072x2048xf16>) -> tensor<2304x2048xf16> {
  %y = matmul %x, %w : tensor<2304x3072xf16>, tensor<3072x2048xf16>
  return %y : tensor<2304x2048xf16>
}

mirage_kernel.graph @larger(%x: tensor<2304x3072xf16>, %w: tensor<3072x2048xf16>) -> tensor<2304x2048xf16> attributes {source = @larger_program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [8, 18] : (tensor<2304x3072xf16>, tensor<3072x2048xf16>) -> tensor<2304x2048xf16> {
    %zero = constant 0.0 : !mirage_block.tile<128x256xf32>
    %acc = loop 48 (%a = %zero sum) : !mirage_block.tile<128x256xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1]} : tensor<2304x3072xf16> -> !mirage_block.tile<128x64xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<3072x2048xf16> -> !mirage_block.tile<64x256xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x256xf16>
      yield %p : !mirage_block.tile<128x256xf32>
    }
    store %acc, %yk {grid = [1, 0]} : !mirage_block.tile<128x256xf32>, tensor<2304x2048xf16>
  }
  return %y : tensor<2304x2048xf16>
}

// 15 x 15 blocks are no pairs; 8 x 8 blocks all run at once and wait for L2 less.
// CHECK-LABEL: @odd(
// CHECK-NOT: cluster
// CHECK: producer
// CHECK-NOT: multicast
mirage_kernel.graph @odd_program(%x: tensor<1920x3072xf16>, %w: tensor<3072x1920xf16>) -> tensor<1920x1920xf16> {
  %y = matmul %x, %w : tensor<1920x3072xf16>, tensor<3072x1920xf16>
  return %y : tensor<1920x1920xf16>
}

mirage_kernel.graph @odd(%x: tensor<1920x3072xf16>, %w: tensor<3072x1920xf16>) -> tensor<1920x1920xf16> attributes {source = @odd_program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [15, 15] : (tensor<1920x3072xf16>, tensor<3072x1920xf16>) -> tensor<1920x1920xf16> {
    %zero = constant 0.0 : !mirage_block.tile<128x128xf32>
    %acc = loop 48 (%a = %zero sum) : !mirage_block.tile<128x128xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1]} : tensor<1920x3072xf16> -> !mirage_block.tile<128x64xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<3072x1920xf16> -> !mirage_block.tile<64x128xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x128xf16>
      yield %p : !mirage_block.tile<128x128xf32>
    }
    store %acc, %yk {grid = [1, 0]} : !mirage_block.tile<128x128xf32>, tensor<1920x1920xf16>
  }
  return %y : tensor<1920x1920xf16>
}

// CHECK-LABEL: @few(
// CHECK-NOT: cluster
mirage_kernel.graph @few_program(%x: tensor<1024x3072xf16>, %w: tensor<3072x1024xf16>) -> tensor<1024x1024xf16> {
  %y = matmul %x, %w : tensor<1024x3072xf16>, tensor<3072x1024xf16>
  return %y : tensor<1024x1024xf16>
}

mirage_kernel.graph @few(%x: tensor<1024x3072xf16>, %w: tensor<3072x1024xf16>) -> tensor<1024x1024xf16> attributes {source = @few_program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [8, 8] : (tensor<1024x3072xf16>, tensor<3072x1024xf16>) -> tensor<1024x1024xf16> {
    %zero = constant 0.0 : !mirage_block.tile<128x128xf32>
    %acc = loop 48 (%a = %zero sum) : !mirage_block.tile<128x128xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1]} : tensor<1024x3072xf16> -> !mirage_block.tile<128x64xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<3072x1024xf16> -> !mirage_block.tile<64x128xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x128xf16>
      yield %p : !mirage_block.tile<128x128xf32>
    }
    store %acc, %yk {grid = [1, 0]} : !mirage_block.tile<128x128xf32>, tensor<1024x1024xf16>
  }
  return %y : tensor<1024x1024xf16>
}

// Nearly all multiprocessors have one tile, and begin at once: pairs where the loop is long and tiles are large.
// CHECK-LABEL: @at_once(
// CHECK: cluster [2]
mirage_kernel.graph @at_once_program(%x: tensor<1536x3072xf16>, %w: tensor<3072x3072xf16>) -> tensor<1536x3072xf16> {
  %y = matmul %x, %w : tensor<1536x3072xf16>, tensor<3072x3072xf16>
  return %y : tensor<1536x3072xf16>
}

mirage_kernel.graph @at_once(%x: tensor<1536x3072xf16>, %w: tensor<3072x3072xf16>) -> tensor<1536x3072xf16> attributes {source = @at_once_program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [16, 8] : (tensor<1536x3072xf16>, tensor<3072x3072xf16>) -> tensor<1536x3072xf16> {
    %zero = constant 0.0 : !mirage_block.tile<192x192xf32>
    %acc = loop 48 (%a = %zero sum) : !mirage_block.tile<192x192xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1]} : tensor<1536x3072xf16> -> !mirage_block.tile<192x64xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<3072x3072xf16> -> !mirage_block.tile<64x192xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<192x64xf16>, !mirage_block.tile<64x192xf16>
      yield %p : !mirage_block.tile<192x192xf32>
    }
    store %acc, %yk {grid = [1, 0]} : !mirage_block.tile<192x192xf32>, tensor<1536x3072xf16>
  }
  return %y : tensor<1536x3072xf16>
}

// Small tiles leave L2 once without being shared.
// CHECK-LABEL: @at_once_in_small_tiles(
// CHECK-NOT: cluster
mirage_kernel.graph @at_once_in_small_tiles_program(%x: tensor<1024x3072xf16>, %w: tensor<3072x2048xf16>) -> tensor<1024x2048xf16> {
  %y = matmul %x, %w : tensor<1024x3072xf16>, tensor<3072x2048xf16>
  return %y : tensor<1024x2048xf16>
}

mirage_kernel.graph @at_once_in_small_tiles(%x: tensor<1024x3072xf16>, %w: tensor<3072x2048xf16>) -> tensor<1024x2048xf16> attributes {source = @at_once_in_small_tiles_program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [16, 8] : (tensor<1024x3072xf16>, tensor<3072x2048xf16>) -> tensor<1024x2048xf16> {
    %zero = constant 0.0 : !mirage_block.tile<128x128xf32>
    %acc = loop 48 (%a = %zero sum) : !mirage_block.tile<128x128xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1]} : tensor<1024x3072xf16> -> !mirage_block.tile<128x64xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<3072x2048xf16> -> !mirage_block.tile<64x128xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x128xf16>
      yield %p : !mirage_block.tile<128x128xf32>
    }
    store %acc, %yk {grid = [1, 0]} : !mirage_block.tile<128x128xf32>, tensor<1024x2048xf16>
  }
  return %y : tensor<1024x2048xf16>
}

// But not where it is short.
// CHECK-LABEL: @at_once_briefly(
// CHECK-NOT: cluster
mirage_kernel.graph @at_once_briefly_program(%x: tensor<1536x1536xf16>, %w: tensor<1536x3072xf16>) -> tensor<1536x3072xf16> {
  %y = matmul %x, %w : tensor<1536x1536xf16>, tensor<1536x3072xf16>
  return %y : tensor<1536x3072xf16>
}

mirage_kernel.graph @at_once_briefly(%x: tensor<1536x1536xf16>, %w: tensor<1536x3072xf16>) -> tensor<1536x3072xf16> attributes {source = @at_once_briefly_program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [16, 8] : (tensor<1536x1536xf16>, tensor<1536x3072xf16>) -> tensor<1536x3072xf16> {
    %zero = constant 0.0 : !mirage_block.tile<192x192xf32>
    %acc = loop 24 (%a = %zero sum) : !mirage_block.tile<192x192xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1]} : tensor<1536x1536xf16> -> !mirage_block.tile<192x64xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<1536x3072xf16> -> !mirage_block.tile<64x192xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<192x64xf16>, !mirage_block.tile<64x192xf16>
      yield %p : !mirage_block.tile<192x192xf32>
    }
    store %acc, %yk {grid = [1, 0]} : !mirage_block.tile<192x192xf32>, tensor<1536x3072xf16>
  }
  return %y : tensor<1536x3072xf16>
}

// A short loop is over before sharing pays.
// CHECK-LABEL: @short(
// CHECK-NOT: cluster
mirage_kernel.graph @short_program(%x: tensor<2304x512xf16>, %w: tensor<512x2048xf16>) -> tensor<2304x2048xf16> {
  %y = matmul %x, %w : tensor<2304x512xf16>, tensor<512x2048xf16>
  return %y : tensor<2304x2048xf16>
}

mirage_kernel.graph @short(%x: tensor<2304x512xf16>, %w: tensor<512x2048xf16>) -> tensor<2304x2048xf16> attributes {source = @short_program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [8, 18] : (tensor<2304x512xf16>, tensor<512x2048xf16>) -> tensor<2304x2048xf16> {
    %zero = constant 0.0 : !mirage_block.tile<128x256xf32>
    %acc = loop 8 (%a = %zero sum) : !mirage_block.tile<128x256xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1]} : tensor<2304x512xf16> -> !mirage_block.tile<128x64xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<512x2048xf16> -> !mirage_block.tile<64x256xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x256xf16>
      yield %p : !mirage_block.tile<128x256xf32>
    }
    store %acc, %yk {grid = [1, 0]} : !mirage_block.tile<128x256xf32>, tensor<2304x2048xf16>
  }
  return %y : tensor<2304x2048xf16>
}

// Rows that begin in the midst of a line of L2 make up for that: 520 columns of two bytes.
// CHECK-LABEL: @torn(
// CHECK: cluster [1, 2]
mirage_kernel.graph @torn_program(%x: tensor<2304x520xf16>, %w: tensor<520x2048xf16>) -> tensor<2304x2048xf16> {
  %y = matmul %x, %w : tensor<2304x520xf16>, tensor<520x2048xf16>
  return %y : tensor<2304x2048xf16>
}

mirage_kernel.graph @torn(%x: tensor<2304x520xf16>, %w: tensor<520x2048xf16>) -> tensor<2304x2048xf16> attributes {source = @torn_program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [8, 18] : (tensor<2304x520xf16>, tensor<520x2048xf16>) -> tensor<2304x2048xf16> {
    %zero = constant 0.0 : !mirage_block.tile<128x256xf32>
    %acc = loop 9 (%a = %zero sum) : !mirage_block.tile<128x256xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1], tiles = [0, 64]} : tensor<2304x520xf16> -> !mirage_block.tile<128x64xf16>
      %wt = load %wk {grid = [1], loop = [0], tiles = [64, 0]} : tensor<520x2048xf16> -> !mirage_block.tile<64x256xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x256xf16>
      yield %p : !mirage_block.tile<128x256xf32>
    }
    store %acc, %yk {grid = [1, 0]} : !mirage_block.tile<128x256xf32>, tensor<2304x2048xf16>
  }
  return %y : tensor<2304x2048xf16>
}

// Rows of 3000 begin in the midst of lines of L2, each is asked for as two: pairs pay in smaller tiles as well (H100: 43.7 us, 35 in pairs).
// CHECK-LABEL: @torn_at_once(
// CHECK: grid [16, 8] cluster [1, 2] schedule <{{.*}}loads = [tensor(stages = {{[0-9]}}), tensor(stages = {{[0-9]}}, multicast = true)]> plan <{{.*}}paired = true
// RUN: sed '/@torn_at_once/,/^}/s/3000/3072/g; /@torn_at_once/,/^}/s/loop 47/loop 48/' %s | mirage-mlir-opt --mirage-layout | FileCheck %s --check-prefix=WHOLE
// WHOLE-LABEL: @torn_at_once(
// WHOLE-NOT: cluster
// WHOLE: return
mirage_kernel.graph @torn_at_once_program(%x: tensor<1024x3000xf16>, %w: tensor<3000x3000xf16>) -> tensor<1024x3000xf16> {
  %y = matmul %x, %w : tensor<1024x3000xf16>, tensor<3000x3000xf16>
  return %y : tensor<1024x3000xf16>
}
mirage_kernel.graph @torn_at_once(%x: tensor<1024x3000xf16>, %w: tensor<3000x3000xf16>) -> tensor<1024x3000xf16> attributes {source = @torn_at_once_program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [16, 8] : (tensor<1024x3000xf16>, tensor<3000x3000xf16>) -> tensor<1024x3000xf16> {
    %zero = constant 0.0 : !mirage_block.tile<128x192xf32>
    %acc = loop 47 (%a = %zero sum) : !mirage_block.tile<128x192xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1], tiles = [0, 64]} : tensor<1024x3000xf16> -> !mirage_block.tile<128x64xf16>
      %wt = load %wk {grid = [1], loop = [0], tiles = [64, 192]} : tensor<3000x3000xf16> -> !mirage_block.tile<64x192xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x192xf16>
      yield %p : !mirage_block.tile<128x192xf32>
    }
    store %acc, %yk {grid = [1, 0], tiles = [0, 192]} : !mirage_block.tile<128x192xf32>, tensor<1024x3000xf16>
  }
  return %y : tensor<1024x3000xf16>
}
