// Rules of custom kernels, schedules, block graphs and thread graphs, each with a text that breaks it.
//
// RUN: mirage-mlir-opt %s --split-input-file --verify-diagnostics -o /dev/null

// grid of no blocks
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: grid axis 0 has 0 blocks, 1 to 2147483647 are possible}}
  %y = custom (%xk = %x) outs(%yk) grid [0] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// empty grid
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: grid has 0 entries, 1 to 3 are possible}}
  %y = custom (%xk = %x) outs(%yk) grid [] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// grid of four axes
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: grid has 4 entries, at most 3 are possible}}
  %y = custom (%xk = %x) outs(%yk) grid [2, 1, 1, 1] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// grid beyond what a GPU takes
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: grid axis 1 has 65536 blocks, 1 to 65535 are possible}}
  %y = custom (%xk = %x) outs(%yk) grid [1, 65536] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk : tensor<8x64xf16> -> !mirage_block.tile<8x64xf16>
    store %t, %yk : !mirage_block.tile<8x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// cluster that does not divide the grid
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: cluster does not divide grid axis 0: 4 vs 2}}
  %y = custom (%xk = %x) outs(%yk) grid [2] cluster [4] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// cluster of no blocks
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: cluster does not divide grid axis 0: 0 vs 2}}
  %y = custom (%xk = %x) outs(%yk) grid [2] cluster [0] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// cluster too large
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: cluster has 32 blocks or more, at most 16 are possible}}
  %y = custom (%xk = %x) outs(%yk) grid [32] cluster [32] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk : tensor<8x64xf16> -> !mirage_block.tile<8x64xf16>
    store %t, %yk : !mirage_block.tile<8x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// negative warps
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: schedule has warps = -1, 0 to 32 are possible}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <warps = -1> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// warps beyond a block
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: schedule has warps = 33, 0 to 32 are possible}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <warps = 33> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// role without warps
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: role 0 has warps = 0, 1 to 32 are possible}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <roles = [producer(0)]> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// registers that setmaxnreg cannot give
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: role 0 has 41 registers, a multiple of 8 from 24 on is needed}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <roles = [producer(1, 41)]> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// roles of too many warps
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: roles have 40 warps, a block has at most 32}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <roles = [producer(20), consumer(20)]> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// roles against warps
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: warps of the roles and of the block differ: 5 vs 8}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <warps = 8, roles = [producer(1), consumer(4)]> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// too many roles
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.custom' schedule: has 9 roles, at most 8 are supported}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <roles = [consumer(1), consumer(1), consumer(1), consumer(1), consumer(1), consumer(1), consumer(1), consumer(1), consumer(1)]> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// side blocks
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: schedule has side_blocks = -4, at least 0 is needed}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <side_blocks = -4> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// stages of a load
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: load 0 has stages = -1, 0 to 64 are possible}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <loads = [async(stages = -1)]> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// multicast without a cluster
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: load 0 is multicast, but there is no cluster}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <loads = [tensor(multicast = true)]> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// number of listed loads
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: schedule lists 2 loads, the kernel has 1}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <loads = [tensor, tensor]> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// too many listed loads
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.custom' schedule: has 25 loads, at most 24 are supported}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <loads = [bulk, bulk, bulk, bulk, bulk, bulk, bulk, bulk, bulk, bulk, bulk, bulk, bulk, bulk, bulk, bulk, bulk, bulk, bulk, bulk, bulk, bulk, bulk, bulk, bulk]> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// unknown landing
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.custom' load: landing is one of auto, register, async, bulk, tensor; got 'teleport'}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <loads = [teleport]> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// persistent blocks
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: schedule has persistent = -1, at least 0 is needed}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <persistent = -1> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// persistent blocks, in whole clusters
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: schedule has persistent = 1, a multiple of the cluster's 2 blocks is needed}}
  %y = custom (%xk = %x) outs(%yk) grid [2] cluster [2] schedule <persistent = 1> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// no more of them than there are tiles
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: schedule has persistent = 3, the grid has 2 blocks}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <persistent = 3> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// warpgroups take the tiles of persistent blocks in turn, of no others
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: schedule has overlap = tiles, and a block for each tile: persistent says how many blocks take tiles in turn}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <overlap = tiles, roles = [producer(4), consumer(8)]> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// and two of them at least, whole ones
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: schedule has overlap = tiles, and 6 warps that consume: whole warpgroups of 4 take turns, two or more}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <overlap = tiles, persistent = 2, roles = [producer(4), consumer(6)]> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: schedule has overlap = tiles, and 4 warps that consume: whole warpgroups of 4 take turns, two or more}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <overlap = tiles, persistent = 2, roles = [producer(4), consumer(4)]> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// and no side blocks
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: schedule has persistent = 2 beside 1 side blocks, one of them is possible}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <persistent = 2, side_blocks = 1> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// unknown key of a schedule
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.custom' schedule: has no key 'wraps'; it has warps, split, swap, tile_order, overlap, maxima, side_blocks, persistent, start, roles, loads}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <wraps = 4> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// a flag that is a number
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.custom' schedule: swap is true or false; got 'yes'}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <swap = yes> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// a role of three numbers
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.custom' role: takes 2 numbers at most}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <roles = [producer(1, 40, 3)]> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// unknown role
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.custom' role: kind is one of producer, consumer; got 'thinker'}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <roles = [thinker(1)]> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// unknown key of a load
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.custom' load: has no key 'depth'; it has stages, cache, multicast}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <loads = [async(depth = 2)]> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// a key that is no more: permute_k
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.custom' schedule: key 'permute_k' is no more: loops that stream their weights take the reduction in any order as it is: leave it out}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <permute_k = true> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// a key that is no more: prefetch
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.custom' load: key 'prefetch' is no more: cache = no_allocate fetches 128 bytes as it is, and no other load has a say: leave it out}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <loads = [register(prefetch = 128)]> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// a role that is no more
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.custom' role: kind 'helper' is no more: its warps did what consumers do: write consumer}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <roles = [helper(1)]> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// cache policies that are no more
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.custom' load: cache 'evict_first' is no more: no load carried it: leave the cache out}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <loads = [tensor(cache = evict_first)]> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// cache policies that are no more, the other
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.custom' load: cache 'evict_last' is no more: no load carried it: leave the cache out}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <loads = [register(cache = evict_last)]> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// key given twice in a schedule
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.custom' schedule: 'warps' is given twice}}
  %y = custom (%xk = %x) outs(%yk) grid [2] schedule <warps = 4, warps = 8> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// plan for nobody
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.custom' plan: target has 0 characters, 1 to 31 are possible}}
  %y = custom (%xk = %x) outs(%yk) grid [2] plan <target = "", of = 1> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// plan with half a partition
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.custom' plan: partition has 2 numbers, 4 are needed}}
  %y = custom (%xk = %x) outs(%yk) grid [2] plan <target = "h200", of = 1, partition = [4, 1]> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// plan without a target
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{struct is missing required parameter: target}}
  %y = custom (%xk = %x) outs(%yk) grid [2] plan <of = 1> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// plan whose ask lists too many roles
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+2 {{schedule: has 9 roles, at most 8 are supported}}
  // expected-error @+1 {{failed to parse Kernel_PlanAttr parameter 'asked'}}
  %y = custom (%xk = %x) outs(%yk) grid [2] plan <target = "h200", of = 1, asked = <roles = [consumer(1), consumer(1), consumer(1), consumer(1), consumer(1), consumer(1), consumer(1), consumer(1), consumer(1)]>> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// launch without a kernel
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.custom' launch: names no kernel}}
  %y = custom (%xk = %x) outs(%yk) grid [2] launch <kernel = "", threads = 32> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// launch without threads
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.custom' struct is missing required parameter: threads}}
  %y = custom (%xk = %x) outs(%yk) grid [2] launch <kernel = "k"> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// launch of too many threads
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: launch has 1025 threads, 1 to 1024 are possible}}
  %y = custom (%xk = %x) outs(%yk) grid [2] launch <kernel = "k", threads = 1025> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// launch of negative size
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: launch has negative sizes: -1, 0}}
  %y = custom (%xk = %x) outs(%yk) grid [2] launch <kernel = "k", threads = 32, shared_bytes = -1> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// tensor map of another number of strides
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+2 {{custom op 'mirage_kernel.custom' tensor map: 2 extents, 1 strides and 2 extents of the box differ}}
  // expected-error @+1 {{custom op 'mirage_kernel.custom' failed to parse Kernel_LaunchAttr parameter 'maps'}}
  %y = custom (%xk = %x) outs(%yk) grid [2] launch <kernel = "k", threads = 32, maps = [<pointer = 0, type = f16, extents = [64, 8], strides = [2], box = [64, 8]>]> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// tensor map of a box too large
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: tensor map dimension 1 has box 257, 1 to 256 are possible}}
  %y = custom (%xk = %x) outs(%yk) grid [2] launch <kernel = "k", threads = 32, maps = [<pointer = 0, type = f16, extents = [64, 8], strides = [2, 128], box = [64, 257]>]> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// tensor map of a swizzle that no copy has
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: tensor map has an unknown element type or swizzle: 0, 4}}
  %y = custom (%xk = %x) outs(%yk) grid [2] launch <kernel = "k", threads = 32, maps = [<pointer = 0, type = f16, extents = [64, 8], strides = [2, 128], box = [64, 8], swizzle = 4>]> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// tensor map of integers
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+2 {{custom op 'mirage_kernel.custom' tensor map: elements are 'i4', f16, bf16, f32, i8, i1 or f8 is needed}}
  // expected-error @+1 {{custom op 'mirage_kernel.custom' failed to parse Kernel_LaunchAttr parameter 'maps'}}
  %y = custom (%xk = %x) outs(%yk) grid [2] launch <kernel = "k", threads = 32, maps = [<pointer = 0, type = i4, extents = [64, 8], strides = [2, 128], box = [64, 8]>]> : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// output types
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.custom' names 1 outputs, but has 2 result types}}
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> (tensor<8x64xf16>, tensor<8x64xf16>) {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// operand types
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.custom' number of operands and types do not match: got 1 operands and 0 types}}
  %y = custom (%xk = %x) outs(%yk) grid [2] : () -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// output never stored
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: output 0 is never stored}}
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// no outputs
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: has no outputs}}
  custom (%xk = %x) outs() grid [2] : (tensor<8x64xf16>) -> () {
  }
  return %x : tensor<8x64xf16>
}

// -----

// dynamic output
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{tensor<?x64xf16>: dimension 0 is dynamic; give it an extent}}
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<?x64xf16> {
  }
  return %x : tensor<8x64xf16>
}

// -----

// rank 0 output
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: result 0 has rank 0, which only constants may have}}
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<f16> {
  }
  return %x : tensor<8x64xf16>
}

// -----

// argument of another type
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: argument 0 of its region is tensor<64x8xf16>, stands for tensor<8x64xf16>}}
  %y = custom (%xk: tensor<64x8xf16> = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [1]} : tensor<64x8xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// value from outside
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    // expected-error @+1 {{use of undeclared SSA value name}}
    %t = load %x {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// kernel operator in a block graph
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    // expected-error @+1 {{'mirage_kernel.exp' op expects parent op 'mirage_kernel.graph'}}
    %0 = mirage_kernel.exp %xk : tensor<8x64xf16>
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// foreign operation in a block graph
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{custom: holds arith.constant, which is not an operator of the block level}}
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %c = arith.constant 0 : index
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// operator on a tensor
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    // expected-error @+1 {{exp: operand 0 is a tensor, the block level works on tiles}}
    %0 = exp %xk : tensor<8x64xf16>
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// operator of another level
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    // expected-error @+1 {{custom op 'softmax' is unknown (tried 'mirage_block.softmax' as well)}}
    %0 = softmax %xk {dim = 0} : tensor<8x64xf16>
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// load of another tile
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    // expected-error @+1 {{load: result type is 8x64xf16, should be 4x64xf16}}
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<8x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<8x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// load of another element type
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    // expected-error @+1 {{load: result type is 4x64xf32, should be 4x64xf16}}
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf32>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf32>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// load map outside the rank
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    // expected-error @+1 {{load: grid map entry 0 is 2, out of range for rank 2}}
    %t = load %xk {grid = [2]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// load map outside any rank
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    // expected-error @+1 {{load: grid map entry 0 is 9, dimensions are 0 to 5 and -1 is none}}
    %t = load %xk {grid = [9]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// load map too long
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    // expected-error @+1 {{load: grid has 4 entries, at most 3 are possible}}
    %t = load %xk {grid = [0, -1, -1, -1]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// load map of a loop that is not there
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    // expected-error @+1 {{load: loop map names loop 0, but 0 loops enclose it}}
    %t = load %xk {grid = [0], loop = [1]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// load of an output
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    // expected-error @+1 {{load: argument 1 is an output: the custom kernel has 1 inputs}}
    %t = load %yk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// load from a tile
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    // expected-error @+1 {{'mirage_block.load' op operand #0 must be ranked tensor of any type values, but got '!mirage_block.tile<4x64xf16>'}}
    %u = load %t : !mirage_block.tile<4x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// unknown fill
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    // expected-error @+1 {{custom op 'mirage_block.load' expected one of [zero, one, bottom] for what a masked element of a load holds, got: two}}
    %t = load %xk {grid = [0], fill = two} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// load without a tile type
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16>
    // expected-error @+1 {{custom op 'mirage_block.load' expected '->' and the result type}}
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// store of another tile
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    // expected-error @+1 {{store: tile does not fit the tensor's part: 4x64xf16 vs 8x32xf16}}
    store %t, %yk {grid = [1]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// store to an input
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    // expected-error @+1 {{store: argument 0 is an input: outputs start at argument 1}}
    store %t, %xk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// store of a tensor
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    // expected-error @+1 {{'mirage_block.store' op operand #0 must be a tile that the threads of a block hold together, but got 'tensor<8x64xf16>'}}
    store %xk, %yk : tensor<8x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// store with a fill
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    // expected-error @+1 {{custom op 'mirage_block.store' has no attribute 'fill'; one of another dialect needs its prefix}}
    store %t, %yk {grid = [0], fill = one} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// store map outside the rank
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    // expected-error @+1 {{store: grid map entry 0 is 2, out of range for rank 2}}
    store %t, %yk {grid = [2]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// store map of a loop that is not there
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    // expected-error @+1 {{store: loop map names loop 0, but 0 loops enclose it}}
    store %t, %yk {grid = [0], loop = [0, 1]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// cluster collective wider than its cluster
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    // expected-error @+1 {{cluster_sum: axis 0 has 2 blocks, the cluster spans 1}}
    %s = cluster_sum %t {axes = [0]} : !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// collective over no axis
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    // expected-error @+1 {{grid_sum: names no grid axis}}
    %s = grid_sum %t {axes = []} : !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// collective over an axis that is not there
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    // expected-error @+1 {{grid_max: grid axis 3 is not 0, 1 or 2}}
    %s = grid_max %t {axes = [3]} : !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// collective that names an axis twice
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    // expected-error @+1 {{grid_max: axes name axis 0 twice}}
    %s = grid_max %t {axes = [0, 0]} : !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// collective without axes
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    // expected-error @+1 {{cluster_max: attribute 'axes' is missing or not a list of integers}}
    %s = cluster_max %t : !mirage_block.tile<4x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// loop of no iterations
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %z = constant 0.0 : !mirage_block.tile<4x64xf32>
    // expected-error @+1 {{loop: range is 0, at least 1 is needed}}
    %r = loop 0 (%a = %z sum) : !mirage_block.tile<4x64xf32> {
      yield %a : !mirage_block.tile<4x64xf32>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// number of yielded values
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %z = constant 0.0 : !mirage_block.tile<4x64xf32>
    // expected-error @+1 {{loop: yields 2 values, 1 carries and 0 factors are needed}}
    %r = loop 4 (%a = %z sum) : !mirage_block.tile<4x64xf32> {
      yield %a, %a : !mirage_block.tile<4x64xf32>, !mirage_block.tile<4x64xf32>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// missing factor
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %z = constant 0.0 : !mirage_block.tile<4x64xf32>
    // expected-error @+1 {{loop: yields 1 values, 1 carries and 1 factors are needed}}
    %r = loop 4 (%a = %z rescale) : !mirage_block.tile<4x64xf32> {
      yield %a : !mirage_block.tile<4x64xf32>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// contribution of another shape
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %z = constant 0.0 : !mirage_block.tile<4x64xf32>
    // expected-error @+1 {{loop: contribution 0 does not fit its carry: 64x4xf32 vs 4x64xf32}}
    %r = loop 4 (%a = %z sum) : !mirage_block.tile<4x64xf32> {
      %c = constant 0.0 : !mirage_block.tile<64x4xf32>
      yield %c : !mirage_block.tile<64x4xf32>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// contribution of another element type
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %z = constant 0.0 : !mirage_block.tile<4x64xf32>
    // expected-error @+1 {{loop: contribution 0 and its carry differ in element type: f16 vs f32}}
    %r = loop 4 (%a = %z assign) : !mirage_block.tile<4x64xf32> {
      yield %t : !mirage_block.tile<4x64xf16>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// sum in f16
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %z = constant 0.0 : !mirage_block.tile<4x64xf32>
    // expected-error @+1 {{loop: carry 0 accumulates in f16, f32 is needed}}
    %r = loop 4 (%a = %t sum) : !mirage_block.tile<4x64xf16> {
      yield %a : !mirage_block.tile<4x64xf16>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// factor that does not broadcast
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %z = constant 0.0 : !mirage_block.tile<4x64xf32>
    // expected-error @+1 {{loop: factor of carry 0 does not broadcast to it: 3x1xf32 vs 4x64xf32}}
    %r = loop 4 (%a = %z rescale) : !mirage_block.tile<4x64xf32> {
      %f = constant 1.0 : !mirage_block.tile<3x1xf32>
      yield %a rescale %f : !mirage_block.tile<4x64xf32>, !mirage_block.tile<3x1xf32>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// concat dimension
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %z = constant 0.0 : !mirage_block.tile<4x64xf32>
    // expected-error @+1 {{loop: carry 0: dimension 2 is out of range for rank 2}}
    %r = loop 4 (%a = %z concat(2)) : !mirage_block.tile<4x64xf32> {
      yield %a : !mirage_block.tile<4x64xf32>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// concat that does not divide
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %z = constant 0.0 : !mirage_block.tile<4x64xf32>
    // expected-error @+1 {{loop: carry 0: range 3 does not divide extent 64}}
    %r = loop 3 (%a = %z concat(1)) : !mirage_block.tile<4x64xf32> {
      yield %a : !mirage_block.tile<4x64xf32>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// concat contribution
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %z = constant 0.0 : !mirage_block.tile<4x64xf32>
    // expected-error @+1 {{loop: contribution 0 does not fit its carry: 4x64xf32 vs 4x16xf32}}
    %r = loop 4 (%a = %z concat(1)) : !mirage_block.tile<4x64xf32> {
      yield %a : !mirage_block.tile<4x64xf32>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// concat without a dimension
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %z = constant 0.0 : !mirage_block.tile<4x64xf32>
    // expected-error @+1 {{custom op 'mirage_block.loop' carry: concat needs a dimension: concat(0)}}
    %r = loop 4 (%a = %z concat) : !mirage_block.tile<4x64xf32> {
      yield %a : !mirage_block.tile<4x64xf32>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// sum with a dimension
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %z = constant 0.0 : !mirage_block.tile<4x64xf32>
    // expected-error @+1 {{custom op 'mirage_block.loop' carry: sum takes no dimension}}
    %r = loop 4 (%a = %z sum(1)) : !mirage_block.tile<4x64xf32> {
      yield %a : !mirage_block.tile<4x64xf32>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// unknown combine
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %z = constant 0.0 : !mirage_block.tile<4x64xf32>
    // expected-error @+2 {{custom op 'mirage_block.loop' expected one of [sum, max, rescale, concat, assign] for how a loop-carried value takes an iteration's contribution, got:}}
    // expected-error @+1 {{custom op 'mirage_block.loop' failed to parse Block_CarryAttr parameter 'combine' which is to be a `::mirage::block::Combine`}}
    %r = loop 4 (%a = %z product) : !mirage_block.tile<4x64xf32> {
      yield %a : !mirage_block.tile<4x64xf32>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// argument of another shape
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %z = constant 0.0 : !mirage_block.tile<4x64xf32>
    // expected-error @+1 {{loop: argument 0 of its region is !mirage_block.tile<2x1xf32>, stands for !mirage_block.tile<4x64xf32>}}
    %r = loop 4 (%a: !mirage_block.tile<2x1xf32> = %z sum) : !mirage_block.tile<4x64xf32> {
      yield %z : !mirage_block.tile<4x64xf32>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// result of another shape
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %z = constant 0.0 : !mirage_block.tile<4x64xf32>
    // expected-error @+1 {{loop: result 0 is !mirage_block.tile<2x1xf32>, its initial value is !mirage_block.tile<4x64xf32>}}
    %r = loop 4 (%a = %z sum) : !mirage_block.tile<4x64xf32> -> !mirage_block.tile<2x1xf32> {
      yield %z : !mirage_block.tile<4x64xf32>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// number of results
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %z = constant 0.0 : !mirage_block.tile<4x64xf32>
    // expected-error @+1 {{loop: has 2 results, 1 initial values}}
    %r:2 = loop 4 (%a = %z sum) : !mirage_block.tile<4x64xf32> -> (!mirage_block.tile<4x64xf32>, !mirage_block.tile<4x64xf32>) {
      yield %z : !mirage_block.tile<4x64xf32>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// types of initial values
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %z = constant 0.0 : !mirage_block.tile<4x64xf32>
    // expected-error @+1 {{expected ':'}}
    %r = loop 4 (%a = %z sum) {
      yield %z : !mirage_block.tile<4x64xf32>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// yield left out
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %z = constant 0.0 : !mirage_block.tile<4x64xf32>
    // expected-error @+1 {{loop: yields 0 values, 1 carries and 0 factors are needed}}
    %r = loop 4 (%a = %z sum) : !mirage_block.tile<4x64xf32> {
      %c = exp %a : !mirage_block.tile<4x64xf32>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// foreign operation in a loop
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %z = constant 0.0 : !mirage_block.tile<4x64xf32>
    // expected-error @+1 {{loop: holds arith.constant, which is not an operator of the block level}}
    %r = loop 4 (%a = %z sum) : !mirage_block.tile<4x64xf32> {
      %c = arith.constant 0 : index
      yield %a : !mirage_block.tile<4x64xf32>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// loops nested too deep
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    loop 2 {
      loop 2 {
        loop 2 {
          loop 2 {
            // expected-error @+1 {{loop: 4 loops enclose it, at most 4 may nest}}
            loop 2 {
            }
          }
        }
      }
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// load in a loop of another range
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    loop 5 {
      // expected-error @+1 {{load: result type is 4x12xf16, should be 4x13xf16}}
      %t = load %xk {grid = [0], loop = [1]} : tensor<8x64xf16> -> !mirage_block.tile<4x12xf16>
      store %t, %yk {grid = [0], loop = [1]} : !mirage_block.tile<4x12xf16>, tensor<8x64xf16>
    }
  }
  return %y : tensor<8x64xf16>
}

// -----

// fragment of another shape
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    // expected-error @+1 {{thread: argument 0 of its region is !mirage_thread.fragment<4x4xf16>, stands for !mirage_block.tile<4x64xf16>}}
    %r = thread (%f: !mirage_thread.fragment<4x4xf16> = %t) : !mirage_block.tile<4x64xf16> {
      yield %f : !mirage_thread.fragment<4x4xf16>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// argument that is no fragment
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    // expected-error @+1 {{thread: argument 0 of its region is !mirage_block.tile<4x64xf16>, stands for !mirage_block.tile<4x64xf16>}}
    %r = thread (%f: !mirage_block.tile<4x64xf16> = %t) : !mirage_block.tile<4x64xf16> {
      %0 = constant 0.0 : !mirage_thread.fragment<4x64xf16>
      yield %0 : !mirage_thread.fragment<4x64xf16>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// number of results of a thread graph
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    // expected-error @+1 {{thread: yields 1 values, has 2 results}}
    %r:2 = thread (%f = %t) : !mirage_block.tile<4x64xf16> -> (!mirage_block.tile<4x64xf16>, !mirage_block.tile<4x64xf16>) {
      yield %f : !mirage_thread.fragment<4x64xf16>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// result of a thread graph
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    // expected-error @+1 {{thread: result 0 is !mirage_block.tile<4x4xf16>, it yields !mirage_thread.fragment<4x64xf16>}}
    %r = thread (%f = %t) : !mirage_block.tile<4x64xf16> -> !mirage_block.tile<4x4xf16> {
      yield %f : !mirage_thread.fragment<4x64xf16>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// tile from outside a thread graph
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %r = thread (%f = %t) : !mirage_block.tile<4x64xf16> {
      // expected-error @+1 {{exp: operand 0 is a tile, the thread level works on fragments}}
      %0 = exp %t : !mirage_block.tile<4x64xf16>
      yield %f : !mirage_thread.fragment<4x64xf16>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// block operator in a thread graph
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %r = thread (%f = %t) : !mirage_block.tile<4x64xf16> {
      // expected-error @+1 {{'mirage_block.constant' op expects parent op to be one of 'mirage_kernel.custom, mirage_block.loop'}}
      %0 = mirage_block.constant 0.0 : !mirage_block.tile<4x64xf16>
      yield %f : !mirage_thread.fragment<4x64xf16>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// foreign operation in a thread graph
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    // expected-error @+1 {{thread: holds arith.constant, which is not an operator of the thread level}}
    %r = thread (%f = %t) : !mirage_block.tile<4x64xf16> {
      %0 = arith.constant 0 : index
      yield %f : !mirage_thread.fragment<4x64xf16>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// operator that the thread level lacks
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %r = thread (%f = %t) : !mirage_block.tile<4x64xf16> {
      // expected-error @+1 {{custom op 'transpose' is unknown (tried 'mirage_thread.transpose' as well)}}
      %0 = transpose %f {perm = [1, 0]} : !mirage_thread.fragment<4x64xf16>
      yield %f : !mirage_thread.fragment<4x64xf16>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// no yield in a thread graph
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %r = thread (%f = %t) : !mirage_block.tile<4x64xf16> {
      // expected-error @+1 {{block with no terminator, has %1 = "mirage_thread.exp"(%arg0) : (!mirage_thread.fragment<4x64xf16>) -> !mirage_thread.fragment<4x64xf32>}}
      %0 = exp %f : !mirage_thread.fragment<4x64xf16>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// mma accumulator shape
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %r = thread (%f = %t) : !mirage_block.tile<4x64xf16> {
      %c = constant 0.0 : !mirage_thread.fragment<4x64xf32>
      // expected-error @+1 {{mma: accumulator does not fit the product: 4x64xf32 vs 4x4xf32}}
      %0 = mma %f, %f, %c {transpose_b} : !mirage_thread.fragment<4x64xf16>, !mirage_thread.fragment<4x64xf16>, !mirage_thread.fragment<4x64xf32>
      yield %f : !mirage_thread.fragment<4x64xf16>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// mma accumulator type
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %r = thread (%f = %t) : !mirage_block.tile<4x64xf16> {
      %c = constant 0.0 : !mirage_thread.fragment<4x4xf16>
      // expected-error @+1 {{mma: accumulator does not fit the product: 4x4xf16 vs 4x4xf32}}
      %0 = mma %f, %f, %c {transpose_b} : !mirage_thread.fragment<4x64xf16>, !mirage_thread.fragment<4x64xf16>, !mirage_thread.fragment<4x4xf16>
      yield %f : !mirage_thread.fragment<4x64xf16>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// mma inner dimensions
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk {grid = [0]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
    %r = thread (%f = %t) : !mirage_block.tile<4x64xf16> {
      %c = constant 0.0 : !mirage_thread.fragment<4x4xf32>
      // expected-error @+1 {{mma: inner dimensions differ: 64 vs 4}}
      %0 = mma %f, %f, %c : !mirage_thread.fragment<4x64xf16>, !mirage_thread.fragment<4x64xf16>, !mirage_thread.fragment<4x4xf32>
      yield %f : !mirage_thread.fragment<4x64xf16>
    }
    store %t, %yk {grid = [0]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// thread operator outside a thread graph
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{'mirage_thread.bottom' op expects parent op 'mirage_block.thread'}}
  %0 = mirage_thread.bottom : !mirage_thread.fragment<4xf32>
  return %x : tensor<8x64xf16>
}

// -----

// block operator outside a block graph
func.func @f() {
  // expected-error @+1 {{'mirage_block.bottom' op expects parent op to be one of 'mirage_kernel.custom, mirage_block.loop'}}
  %0 = mirage_block.bottom : !mirage_block.tile<4xf32>
  return
}

// -----

// load in a loop of no iterations
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    loop 0 {
      // expected-error @+1 {{load: loop 0 has range 0}}
      %t = load %xk {grid = [0], loop = [1]} : tensor<8x64xf16> -> !mirage_block.tile<4x64xf16>
      store %t, %yk {grid = [0], loop = [1]} : !mirage_block.tile<4x64xf16>, tensor<8x64xf16>
    }
  }
  return %y : tensor<8x64xf16>
}

// -----

// a window beyond the tensor
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    // expected-error @+1 {{load: window [32, 65) of dimension 1 does not lie in its 64 elements}}
    %t = load %xk {begin = [0, 32], end = [0, 65]} : tensor<8x64xf16> -> !mirage_block.tile<8x33xf16>
    store %t, %yk : !mirage_block.tile<8x33xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// a tile that is not the window's
mirage_kernel.graph @g(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<8x64xf16>) -> tensor<8x64xf16> {
    %t = load %xk : tensor<8x64xf16> -> !mirage_block.tile<8x64xf16>
    // expected-error @+1 {{store: tile does not fit the tensor's part: 8x64xf16 vs 8x32xf16}}
    store %t, %yk {begin = [0, 32], end = [0, 64]} : !mirage_block.tile<8x64xf16>, tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}

// -----

// rows that are no rows
mirage_kernel.graph @g(%x: tensor<8x8xf16>) -> tensor<8x8xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<8x8xf16>) -> tensor<8x8xf16> {
    // expected-error @+1 {{load: order puts dimension 0 last, the last one of 2 must stay there}}
    %t = load %xk {order = [1, 0]} : tensor<8x8xf16> -> !mirage_block.tile<8x8xf16>
    store %t, %yk : !mirage_block.tile<8x8xf16>, tensor<8x8xf16>
  }
  return %y : tensor<8x8xf16>
}

// -----

// an order with a dimension twice
mirage_kernel.graph @g(%x: tensor<8x4x8xf16>) -> tensor<8x4x8xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<8x4x8xf16>) -> tensor<8x4x8xf16> {
    %t = load %xk : tensor<8x4x8xf16> -> !mirage_block.tile<8x4x8xf16>
    // expected-error @+1 {{store: order entry 2 is 0, which makes it no permutation of 3 dimensions}}
    store %t, %yk {order = [1, 0, 0]} : !mirage_block.tile<8x4x8xf16>, tensor<8x4x8xf16>
  }
  return %y : tensor<8x4x8xf16>
}

// -----

// an order that names no dimension
mirage_kernel.graph @g(%x: tensor<8x8xf16>) -> tensor<8x8xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<8x8xf16>) -> tensor<8x8xf16> {
    // expected-error @+1 {{load: order entry 1 is 7, dimensions are 0 to 5}}
    %t = load %xk {order = [0, 7]} : tensor<8x8xf16> -> !mirage_block.tile<8x8xf16>
    store %t, %yk : !mirage_block.tile<8x8xf16>, tensor<8x8xf16>
  }
  return %y : tensor<8x8xf16>
}
