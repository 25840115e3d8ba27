// More blocks than multiprocessors, whose tiles fit the accumulators of four warps: the planner lets a multiprocessor hold several,
// so that one multiplies while another starts or stores. Else a block has a multiprocessor, its warps divide the registers, and it takes
// tiles in turn, so that the next one's are copied while it stores.
//
// RUN: mirage-mlir-opt %s --mirage-layout -o %t.planned.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s < %t.planned.mlir
// RUN: mirage-mlir-opt %t.planned.mlir --mirage-layout | diff %t.planned.mlir -
// On a GPU without a copy engine a block has a tile, and nobody is told.
// RUN: mirage-mlir-opt %s --mirage-layout=target=a100 2>&1 | FileCheck %s --check-prefix=A100
// RUN: mirage-mlir-opt %s --mirage-layout=explain 2>&1 >/dev/null | FileCheck %s --check-prefix=WHO
// The assembler is told how many, and no registers pass from warp to warp.
// RUN: sed '/@tiles(/s/source = @tiles_program}/source = @tiles_program, selected}/; /@wide(/s/source = @wide_program}/source = @wide_program, selected}/' %s | mirage-mlir-opt --mirage-lower 2>/dev/null | sed 's/\\0A/\n/g; s/\\09/ /g' | FileCheck %s --check-prefix=PTX
//
// A100-NOT: a block for each tile
// A100-NOT: persistent = {{[0-9]*}},{{.*}}plan
//
// WHO: plan: consumers: warps 0..3, meet at barrier 1
// WHO: plan: producer: warps 4..4{{$}}
// WHO: form: producer: taken
// WHO: form: tiles in turn: no: a block for each tile
// WHO: form: tiles in turn: taken
//
// PTX-LABEL: entry tiles_k0(
// PTX: .maxntid 160
// PTX-NEXT: .minnctapersm 2
// PTX-NOT: setmaxnreg
// PTX-LABEL: entry wide_k0(
// PTX: .maxntid 384
// PTX-NEXT: .minnctapersm 1
// PTX: setmaxnreg.dec

// Blocks of 128 x 64.
// CHECK-LABEL: @tiles(
// CHECK: schedule <warps = 5, {{.*}}roles = [consumer(4), producer(1)], loads = [tensor(stages = 4), tensor(stages = 4)]>
mirage_kernel.graph @tiles_program(%x: tensor<2048x512xf16>, %w: tensor<512x2048xf16>) -> tensor<2048x2048xf16> {
  %y = matmul %x, %w : tensor<2048x512xf16>, tensor<512x2048xf16>
  return %y : tensor<2048x2048xf16>
}

mirage_kernel.graph @tiles(%x: tensor<2048x512xf16>, %w: tensor<512x2048xf16>) -> tensor<2048x2048xf16> attributes {source = @tiles_program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [32, 16] : (tensor<2048x512xf16>, tensor<512x2048xf16>) -> tensor<2048x2048xf16> {
    %zero = constant 0.0 : !mirage_block.tile<128x64xf32>
    %acc = loop 8 (%a = %zero sum) : !mirage_block.tile<128x64xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1]} : tensor<2048x512xf16> -> !mirage_block.tile<128x64xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<512x2048xf16> -> !mirage_block.tile<64x64xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x64xf16>
      yield %p : !mirage_block.tile<128x64xf32>
    }
    store %acc, %yk {grid = [1, 0]} : !mirage_block.tile<128x64xf32>, tensor<2048x2048xf16>
  }
  return %y : tensor<2048x2048xf16>
}

// 128 x 256 take 256 accumulators of each of four warps.
// CHECK-LABEL: @wide(
// CHECK: schedule <warps = 12, {{.*}}persistent = 132, roles = [producer(4, 40), consumer(8, 232)]
mirage_kernel.graph @wide_program(%x: tensor<2048x512xf16>, %w: tensor<512x4096xf16>) -> tensor<2048x4096xf16> {
  %y = matmul %x, %w : tensor<2048x512xf16>, tensor<512x4096xf16>
  return %y : tensor<2048x4096xf16>
}

mirage_kernel.graph @wide(%x: tensor<2048x512xf16>, %w: tensor<512x4096xf16>) -> tensor<2048x4096xf16> attributes {source = @wide_program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [16, 16] : (tensor<2048x512xf16>, tensor<512x4096xf16>) -> tensor<2048x4096xf16> {
    %zero = constant 0.0 : !mirage_block.tile<128x256xf32>
    %acc = loop 8 (%a = %zero sum) : !mirage_block.tile<128x256xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1]} : tensor<2048x512xf16> -> !mirage_block.tile<128x64xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<512x4096xf16> -> !mirage_block.tile<64x256xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x256xf16>
      yield %p : !mirage_block.tile<128x256xf32>
    }
    store %acc, %yk {grid = [1, 0]} : !mirage_block.tile<128x256xf32>, tensor<2048x4096xf16>
  }
  return %y : tensor<2048x4096xf16>
}

// Tiles of 64 x 64 leave room for three, of four stages.
// CHECK-LABEL: @small(
// CHECK: schedule <warps = 5, {{.*}}roles = [consumer(4), producer(1)], loads = [tensor(stages = 4{{.*}}), tensor(stages = 4{{.*}})]>
mirage_kernel.graph @small_program(%x: tensor<1024x512xf16>, %w: tensor<512x1024xf16>) -> tensor<1024x1024xf16> {
  %y = matmul %x, %w : tensor<1024x512xf16>, tensor<512x1024xf16>
  return %y : tensor<1024x1024xf16>
}

mirage_kernel.graph @small(%x: tensor<1024x512xf16>, %w: tensor<512x1024xf16>) -> tensor<1024x1024xf16> attributes {source = @small_program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [16, 16] : (tensor<1024x512xf16>, tensor<512x1024xf16>) -> tensor<1024x1024xf16> {
    %zero = constant 0.0 : !mirage_block.tile<64x64xf32>
    %acc = loop 8 (%a = %zero sum) : !mirage_block.tile<64x64xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1]} : tensor<1024x512xf16> -> !mirage_block.tile<64x64xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<512x1024xf16> -> !mirage_block.tile<64x64xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<64x64xf16>, !mirage_block.tile<64x64xf16>
      yield %p : !mirage_block.tile<64x64xf32>
    }
    store %acc, %yk {grid = [1, 0]} : !mirage_block.tile<64x64xf32>, tensor<1024x1024xf16>
  }
  return %y : tensor<1024x1024xf16>
}

// Three stages of 64 KiB have no room beside three others.
// CHECK-LABEL: @deep(
// CHECK: schedule <warps = 12, {{.*}}persistent = 132, roles = [producer(4, 40), consumer(8, 232)]
mirage_kernel.graph @deep_program(%x: tensor<2048x512xf16>, %w: tensor<512x2048xf16>) -> tensor<2048x2048xf16> {
  %y = matmul %x, %w : tensor<2048x512xf16>, tensor<512x2048xf16>
  return %y : tensor<2048x2048xf16>
}

mirage_kernel.graph @deep(%x: tensor<2048x512xf16>, %w: tensor<512x2048xf16>) -> tensor<2048x2048xf16> attributes {source = @deep_program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [16, 16] : (tensor<2048x512xf16>, tensor<512x2048xf16>) -> tensor<2048x2048xf16> {
    %zero = constant 0.0 : !mirage_block.tile<128x128xf32>
    %acc = loop 4 (%a = %zero sum) : !mirage_block.tile<128x128xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1]} : tensor<2048x512xf16> -> !mirage_block.tile<128x128xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<512x2048xf16> -> !mirage_block.tile<128x128xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<128x128xf16>, !mirage_block.tile<128x128xf16>
      yield %p : !mirage_block.tile<128x128xf32>
    }
    store %acc, %yk {grid = [1, 0]} : !mirage_block.tile<128x128xf32>, tensor<2048x2048xf16>
  }
  return %y : tensor<2048x2048xf16>
}

// A multiprocessor for each block.
// CHECK-LABEL: @one_wave(
// CHECK: schedule <warps = 12, roles = [producer(4, 40), consumer(8, 232)]
mirage_kernel.graph @one_wave_program(%x: tensor<1024x512xf16>, %w: tensor<512x1024xf16>) -> tensor<1024x1024xf16> {
  %y = matmul %x, %w : tensor<1024x512xf16>, tensor<512x1024xf16>
  return %y : tensor<1024x1024xf16>
}

mirage_kernel.graph @one_wave(%x: tensor<1024x512xf16>, %w: tensor<512x1024xf16>) -> tensor<1024x1024xf16> attributes {source = @one_wave_program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [8, 8] : (tensor<1024x512xf16>, tensor<512x1024xf16>) -> tensor<1024x1024xf16> {
    %zero = constant 0.0 : !mirage_block.tile<128x128xf32>
    %acc = loop 8 (%a = %zero sum) : !mirage_block.tile<128x128xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1]} : tensor<1024x512xf16> -> !mirage_block.tile<128x64xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<512x1024xf16> -> !mirage_block.tile<64x128xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x128xf16>
      yield %p : !mirage_block.tile<128x128xf32>
    }
    store %acc, %yk {grid = [1, 0]} : !mirage_block.tile<128x128xf32>, tensor<1024x1024xf16>
  }
  return %y : tensor<1024x1024xf16>
}

// What a person asks for stays.
// CHECK-LABEL: @asked(
// CHECK: schedule <warps = 12, roles = [producer(4, 40), consumer(8, 232)], loads = [tensor(stages = 2), tensor(stages = 2)]>
mirage_kernel.graph @asked_program(%x: tensor<2048x512xf16>, %w: tensor<512x2048xf16>) -> tensor<2048x2048xf16> {
  %y = matmul %x, %w : tensor<2048x512xf16>, tensor<512x2048xf16>
  return %y : tensor<2048x2048xf16>
}

mirage_kernel.graph @asked(%x: tensor<2048x512xf16>, %w: tensor<512x2048xf16>) -> tensor<2048x2048xf16> attributes {source = @asked_program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [16, 16] schedule <roles = [producer(4, 40), consumer(8, 232)], loads = [tensor(stages = 2), tensor(stages = 2)]> : (tensor<2048x512xf16>, tensor<512x2048xf16>) -> tensor<2048x2048xf16> {
    %zero = constant 0.0 : !mirage_block.tile<128x128xf32>
    %acc = loop 8 (%a = %zero sum) : !mirage_block.tile<128x128xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1]} : tensor<2048x512xf16> -> !mirage_block.tile<128x64xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<512x2048xf16> -> !mirage_block.tile<64x128xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x128xf16>
      yield %p : !mirage_block.tile<128x128xf32>
    }
    store %acc, %yk {grid = [1, 0]} : !mirage_block.tile<128x128xf32>, tensor<2048x2048xf16>
  }
  return %y : tensor<2048x2048xf16>
}

// Warps 1 to 4 are no group that the hardware knows: no warpgroup multiplies.
// CHECK-LABEL: @behind(
// CHECK: roles = [producer(1), consumer(4)]
// WHO: plan: producer: warps 0..0
// WHO: form: warpgroup products: no: the warps are no warpgroups that can share a product in slabs of 64 rows
mirage_kernel.graph @behind_program(%x: tensor<2048x512xf16>, %w: tensor<512x2048xf16>) -> tensor<2048x2048xf16> {
  %y = matmul %x, %w : tensor<2048x512xf16>, tensor<512x2048xf16>
  return %y : tensor<2048x2048xf16>
}

mirage_kernel.graph @behind(%x: tensor<2048x512xf16>, %w: tensor<512x2048xf16>) -> tensor<2048x2048xf16> attributes {source = @behind_program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [32, 32] schedule <roles = [producer(1), consumer(4)], loads = [tensor(stages = 2), tensor(stages = 2)]> : (tensor<2048x512xf16>, tensor<512x2048xf16>) -> tensor<2048x2048xf16> {
    %zero = constant 0.0 : !mirage_block.tile<64x64xf32>
    %acc = loop 8 (%a = %zero sum) : !mirage_block.tile<64x64xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1]} : tensor<2048x512xf16> -> !mirage_block.tile<64x64xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<512x2048xf16> -> !mirage_block.tile<64x64xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<64x64xf16>, !mirage_block.tile<64x64xf16>
      yield %p : !mirage_block.tile<64x64xf32>
    }
    store %acc, %yk {grid = [1, 0]} : !mirage_block.tile<64x64xf32>, tensor<2048x2048xf16>
  }
  return %y : tensor<2048x2048xf16>
}

// By hand: eight blocks take 64 tiles.
// CHECK-LABEL: @in_turn(
// CHECK: schedule <warps = 12, persistent = 8, roles = [producer(4, 40), consumer(8, 232)]
mirage_kernel.graph @in_turn_program(%x: tensor<1024x512xf16>, %w: tensor<512x1024xf16>) -> tensor<1024x1024xf16> {
  %y = matmul %x, %w : tensor<1024x512xf16>, tensor<512x1024xf16>
  return %y : tensor<1024x1024xf16>
}

mirage_kernel.graph @in_turn(%x: tensor<1024x512xf16>, %w: tensor<512x1024xf16>) -> tensor<1024x1024xf16> attributes {source = @in_turn_program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [8, 8] schedule <persistent = 8, roles = [producer(4, 40), consumer(8, 232)], loads = [tensor(stages = 2), tensor(stages = 2)]> : (tensor<1024x512xf16>, tensor<512x1024xf16>) -> tensor<1024x1024xf16> {
    %zero = constant 0.0 : !mirage_block.tile<128x128xf32>
    %acc = loop 8 (%a = %zero sum) : !mirage_block.tile<128x128xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1]} : tensor<1024x512xf16> -> !mirage_block.tile<128x64xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<512x1024xf16> -> !mirage_block.tile<64x128xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x128xf16>
      yield %p : !mirage_block.tile<128x128xf32>
    }
    store %acc, %yk {grid = [1, 0]} : !mirage_block.tile<128x128xf32>, tensor<1024x1024xf16>
  }
  return %y : tensor<1024x1024xf16>
}

// Nobody copies ahead of the others.
// REMARK: remark: layout: a block for each tile: no producer copies for the next tile
// CHECK-LABEL: @no_turn(
// CHECK: schedule <warps = 16, loads = [async
mirage_kernel.graph @no_turn_program(%x: tensor<1024x512xf16>, %w: tensor<512x1024xf16>) -> tensor<1024x1024xf16> {
  %y = matmul %x, %w : tensor<1024x512xf16>, tensor<512x1024xf16>
  return %y : tensor<1024x1024xf16>
}

mirage_kernel.graph @no_turn(%x: tensor<1024x512xf16>, %w: tensor<512x1024xf16>) -> tensor<1024x1024xf16> attributes {source = @no_turn_program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [8, 8] schedule <persistent = 8, loads = [async, async]> : (tensor<1024x512xf16>, tensor<512x1024xf16>) -> tensor<1024x1024xf16> {
    %zero = constant 0.0 : !mirage_block.tile<128x128xf32>
    %acc = loop 8 (%a = %zero sum) : !mirage_block.tile<128x128xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1]} : tensor<1024x512xf16> -> !mirage_block.tile<128x64xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<512x1024xf16> -> !mirage_block.tile<64x128xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x128xf16>
      yield %p : !mirage_block.tile<128x128xf32>
    }
    store %acc, %yk {grid = [1, 0]} : !mirage_block.tile<128x128xf32>, tensor<1024x1024xf16>
  }
  return %y : tensor<1024x1024xf16>
}

// 128 x 128 fill the registers of one warpgroup: two of them take tiles in turn.
// WHO: plan: 2 warpgroups take tiles in turn: one multiplies while others store
// CHECK-LABEL: @groups(
// CHECK: schedule <warps = 12, tile_order = grouped, overlap = tiles, persistent = 132, roles = [producer(4, 40), consumer(8, 232)]
mirage_kernel.graph @groups_program(%x: tensor<2048x512xf16>, %w: tensor<512x2048xf16>) -> tensor<2048x2048xf16> {
  %y = matmul %x, %w : tensor<2048x512xf16>, tensor<512x2048xf16>
  return %y : tensor<2048x2048xf16>
}

mirage_kernel.graph @groups(%x: tensor<2048x512xf16>, %w: tensor<512x2048xf16>) -> tensor<2048x2048xf16> attributes {source = @groups_program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [16, 16] : (tensor<2048x512xf16>, tensor<512x2048xf16>) -> tensor<2048x2048xf16> {
    %zero = constant 0.0 : !mirage_block.tile<128x128xf32>
    %acc = loop 8 (%a = %zero sum) : !mirage_block.tile<128x128xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1]} : tensor<2048x512xf16> -> !mirage_block.tile<128x64xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<512x2048xf16> -> !mirage_block.tile<64x128xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<128x64xf16>, !mirage_block.tile<64x128xf16>
      yield %p : !mirage_block.tile<128x128xf32>
    }
    store %acc, %yk {grid = [1, 0]} : !mirage_block.tile<128x128xf32>, tensor<2048x2048xf16>
  }
  return %y : tensor<2048x2048xf16>
}

// Three slabs of 64 rows are shared by three warpgroups, with 96 accumulators a thread; of 128 columns each two take turns instead.
// CHECK-LABEL: @slabs(
// CHECK: schedule <warps = 16, {{.*}}persistent = 132, roles = [producer(4, 40), consumer(12, 152)]
mirage_kernel.graph @slabs_program(%x: tensor<3072x512xf16>, %w: tensor<512x3072xf16>) -> tensor<3072x3072xf16> {
  %y = matmul %x, %w : tensor<3072x512xf16>, tensor<512x3072xf16>
  return %y : tensor<3072x3072xf16>
}

mirage_kernel.graph @slabs(%x: tensor<3072x512xf16>, %w: tensor<512x3072xf16>) -> tensor<3072x3072xf16> attributes {source = @slabs_program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [16, 16] : (tensor<3072x512xf16>, tensor<512x3072xf16>) -> tensor<3072x3072xf16> {
    %zero = constant 0.0 : !mirage_block.tile<192x192xf32>
    %acc = loop 8 (%a = %zero sum) : !mirage_block.tile<192x192xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1]} : tensor<3072x512xf16> -> !mirage_block.tile<192x64xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<512x3072xf16> -> !mirage_block.tile<64x192xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<192x64xf16>, !mirage_block.tile<64x192xf16>
      yield %p : !mirage_block.tile<192x192xf32>
    }
    store %acc, %yk {grid = [1, 0]} : !mirage_block.tile<192x192xf32>, tensor<3072x3072xf16>
  }
  return %y : tensor<3072x3072xf16>
}

// CHECK-LABEL: @narrow_slabs(
// CHECK: schedule <warps = 12, {{.*}}overlap = tiles, {{.*}}consumer(8, 232)
mirage_kernel.graph @narrow_slabs(%x: tensor<3072x512xf16>, %w: tensor<512x3072xf16>) -> tensor<3072x3072xf16> attributes {source = @slabs_program} {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [24, 16] : (tensor<3072x512xf16>, tensor<512x3072xf16>) -> tensor<3072x3072xf16> {
    %zero = constant 0.0 : !mirage_block.tile<192x128xf32>
    %acc = loop 8 (%a = %zero sum) : !mirage_block.tile<192x128xf32> {
      %xt = load %xk {grid = [-1, 0], loop = [1]} : tensor<3072x512xf16> -> !mirage_block.tile<192x64xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<512x3072xf16> -> !mirage_block.tile<64x128xf16>
      %p = matmul %xt, %wt : !mirage_block.tile<192x64xf16>, !mirage_block.tile<64x128xf16>
      yield %p : !mirage_block.tile<192x128xf32>
    }
    store %acc, %yk {grid = [1, 0]} : !mirage_block.tile<192x128xf32>, tensor<3072x3072xf16>
  }
  return %y : tensor<3072x3072xf16>
}
