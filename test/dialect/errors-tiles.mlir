// `tiles` of loads and stores: what does not cut a dimension into the parts that are there, each text breaking one rule.
//
// RUN: mirage-mlir-opt %s --split-input-file --verify-diagnostics -o /dev/null

// too small to cover the dimension
mirage_kernel.graph @g(%x: tensor<20x64xf16>) -> tensor<20x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<20x64xf16>) -> tensor<20x64xf16> {
    // expected-error @+1 {{load: tiles of 8 along dimension 0 do not cut its 20 elements into as many parts as the grid and the loops say, none of them empty}}
    %t = load %xk {grid = [0], tiles = [8]} : tensor<20x64xf16> -> !mirage_block.tile<8x64xf16>
    store %t, %yk {grid = [0], tiles = [8]} : !mirage_block.tile<8x64xf16>, tensor<20x64xf16>
  }
  return %y : tensor<20x64xf16>
}

// -----

// so large that the last block has nothing
mirage_kernel.graph @g(%x: tensor<20x64xf16>) -> tensor<20x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [3] : (tensor<20x64xf16>) -> tensor<20x64xf16> {
    // expected-error @+1 {{load: tiles of 16 along dimension 0 do not cut its 20 elements into as many parts as the grid and the loops say, none of them empty}}
    %t = load %xk {grid = [0], tiles = [16]} : tensor<20x64xf16> -> !mirage_block.tile<16x64xf16>
    store %t, %yk {grid = [0], tiles = [16]} : !mirage_block.tile<16x64xf16>, tensor<20x64xf16>
  }
  return %y : tensor<20x64xf16>
}

// -----

// negative
mirage_kernel.graph @g(%x: tensor<20x64xf16>) -> tensor<20x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<20x64xf16>) -> tensor<20x64xf16> {
    // expected-error @+1 {{load: tiles of -16 along dimension 0 do not cut its 20 elements into as many parts as the grid and the loops say, none of them empty}}
    %t = load %xk {grid = [0], tiles = [-16]} : tensor<20x64xf16> -> !mirage_block.tile<16x64xf16>
    store %t, %yk {grid = [0], tiles = [-16]} : !mirage_block.tile<16x64xf16>, tensor<20x64xf16>
  }
  return %y : tensor<20x64xf16>
}

// -----

// of a dimension that nothing splits: smaller than it
mirage_kernel.graph @g(%x: tensor<20x64xf16>) -> tensor<20x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<20x64xf16>) -> tensor<20x64xf16> {
    // expected-error @+1 {{load: tiles of 32 along dimension 1 do not cut its 64 elements into as many parts as the grid and the loops say, none of them empty}}
    %t = load %xk {grid = [0], tiles = [16, 32]} : tensor<20x64xf16> -> !mirage_block.tile<16x32xf16>
    store %t, %yk {grid = [0], tiles = [16, 32]} : !mirage_block.tile<16x32xf16>, tensor<20x64xf16>
  }
  return %y : tensor<20x64xf16>
}

// -----

// beyond any sense
mirage_kernel.graph @g(%x: tensor<20x64xf16>) -> tensor<20x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<20x64xf16>) -> tensor<20x64xf16> {
    // expected-error @+1 {{load: tiles of 10000000000 along dimension 0 do not cut its 20 elements into as many parts as the grid and the loops say, none of them empty}}
    %t = load %xk {grid = [0], tiles = [10000000000]} : tensor<20x64xf16> -> !mirage_block.tile<10000000000x64xf16>
    store %t, %yk {grid = [0], tiles = [10000000000]} : !mirage_block.tile<10000000000x64xf16>, tensor<20x64xf16>
  }
  return %y : tensor<20x64xf16>
}

// -----

// of a dimension that is not there
mirage_kernel.graph @g(%x: tensor<20x64xf16>) -> tensor<20x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<20x64xf16>) -> tensor<20x64xf16> {
    // expected-error @+1 {{load: tiles of 16 along dimension 2 do not cut its 0 elements into as many parts as the grid and the loops say, none of them empty}}
    %t = load %xk {grid = [0], tiles = [0, 0, 16]} : tensor<20x64xf16> -> !mirage_block.tile<10x64xf16>
    store %t, %yk {grid = [0], tiles = [0, 0, 16]} : !mirage_block.tile<10x64xf16>, tensor<20x64xf16>
  }
  return %y : tensor<20x64xf16>
}

// -----

// more entries than dimensions are possible
mirage_kernel.graph @g(%x: tensor<20x64xf16>) -> tensor<20x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<20x64xf16>) -> tensor<20x64xf16> {
    // expected-error @+1 {{load: tiles has 7 entries, at most 6 are possible}}
    %t = load %xk {grid = [0], tiles = [16, 0, 0, 0, 0, 0, 0]} : tensor<20x64xf16> -> !mirage_block.tile<16x64xf16>
    store %t, %yk {grid = [0], tiles = [16, 0, 0, 0, 0, 0, 0]} : !mirage_block.tile<16x64xf16>, tensor<20x64xf16>
  }
  return %y : tensor<20x64xf16>
}

// -----

// the tile has another extent
mirage_kernel.graph @g(%x: tensor<20x64xf16>) -> tensor<20x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<20x64xf16>) -> tensor<20x64xf16> {
    %t = load %xk {grid = [0], tiles = [16]} : tensor<20x64xf16> -> !mirage_block.tile<16x64xf16>
    // expected-error @+1 {{store: tile does not fit the tensor's part: 16x64xf16 vs 10x64xf16}}
    store %t, %yk {grid = [0], tiles = [0]} : !mirage_block.tile<16x64xf16>, tensor<20x64xf16>
  }
  return %y : tensor<20x64xf16>
}

// -----

// cyclic, where the grid alone splits a dimension
mirage_kernel.graph @g(%x: tensor<20x64xf16>) -> tensor<20x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<20x64xf16>) -> tensor<20x64xf16> {
    // expected-error @+1 {{load: is cyclic, and no dimension is split by both the grid and a loop: leave that out, or name one dimension in both maps}}
    %t = load %xk {grid = [0], cyclic} : tensor<20x64xf16> -> !mirage_block.tile<10x64xf16>
    store %t, %yk {grid = [0]} : !mirage_block.tile<10x64xf16>, tensor<20x64xf16>
  }
  return %y : tensor<20x64xf16>
}

// -----

// the grid one, a loop another
mirage_kernel.graph @g(%x: tensor<20x64xf16>) -> tensor<20x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<20x64xf16>) -> tensor<20x64xf16> {
    loop 4 {
      %t = load %xk {grid = [0], loop = [1]} : tensor<20x64xf16> -> !mirage_block.tile<10x16xf16>
      // expected-error @+1 {{store: is cyclic, and no dimension is split by both the grid and a loop: leave that out, or name one dimension in both maps}}
      store %t, %yk {grid = [0], loop = [1], cyclic} : !mirage_block.tile<10x16xf16>, tensor<20x64xf16>
    }
  }
  return %y : tensor<20x64xf16>
}

// -----

// tiles of which the last iteration has none: rounds of 2 times 8, two of which are all
mirage_kernel.graph @g(%x: tensor<20x64xf16>) -> tensor<20x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<20x64xf16>) -> tensor<20x64xf16> {
    loop 3 {
      // expected-error @+1 {{load: tiles of 8 along dimension 0 do not cut its 20 elements into as many parts as the grid and the loops say, none of them empty}}
      %t = load %xk {grid = [0], loop = [0], tiles = [8], cyclic} : tensor<20x64xf16> -> !mirage_block.tile<8x64xf16>
      store %t, %yk {grid = [0], loop = [0], tiles = [8], cyclic} : !mirage_block.tile<8x64xf16>, tensor<20x64xf16>
    }
  }
  return %y : tensor<20x64xf16>
}

// -----

// cyclic is there or not
mirage_kernel.graph @g(%x: tensor<20x64xf16>) -> tensor<20x64xf16> {
  %y = custom (%xk = %x) outs(%yk) grid [2] : (tensor<20x64xf16>) -> tensor<20x64xf16> {
    loop 2 {
      // expected-error @+1 {{expected '}'}}
      %t = load %xk {grid = [0], loop = [0], cyclic = false} : tensor<20x64xf16> -> !mirage_block.tile<5x64xf16>
      store %t, %yk {grid = [0], loop = [0]} : !mirage_block.tile<5x64xf16>, tensor<20x64xf16>
    }
  }
  return %y : tensor<20x64xf16>
}
