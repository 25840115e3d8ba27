// Rules of predicates, indices and masks (lib/ugraph/infer.c), each with a text that breaks it.
//
// RUN: mirage-mlir-opt %s --split-input-file --verify-diagnostics -o /dev/null

// of a number and an index
mirage_kernel.graph @g(%a: tensor<4xf16>, %b: tensor<4xi32>) -> tensor<1xf16> {
  // expected-error @+1 {{less: compares numbers with numbers or indices with indices: f16 vs i32}}
  %0 = less %a, %b : tensor<4xf16>, tensor<4xi32>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// of predicates
mirage_kernel.graph @g(%a: tensor<4xi1>, %b: tensor<4xi1>) -> tensor<1xf16> {
  // expected-error @+1 {{equal: compares numbers or indices, operand 0 is of i1; and, or, not are the logic of predicates}}
  %0 = equal %a, %b : tensor<4xi1>, tensor<4xi1>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// extents of a comparison
mirage_kernel.graph @g(%a: tensor<4xf16>, %b: tensor<3xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{greater: extents do not broadcast: 4 vs 3 (4xf16, 3xf16)}}
  %0 = greater %a, %b : tensor<4xf16>, tensor<3xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// logic of numbers
mirage_kernel.graph @g(%a: tensor<4xf16>, %b: tensor<4xi1>) -> tensor<1xf16> {
  // expected-error @+1 {{and: operand 0 is of f16, predicates, i1 (a comparison gives them) are needed}}
  %0 = and %a, %b : tensor<4xf16>, tensor<4xi1>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// and of indices
mirage_kernel.graph @g(%a: tensor<4xi1>, %b: tensor<4xi32>) -> tensor<1xf16> {
  // expected-error @+1 {{or: operand 1 is of i32, predicates, i1 (a comparison gives them) are needed}}
  %0 = or %a, %b : tensor<4xi1>, tensor<4xi32>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// the opposite of a number
mirage_kernel.graph @g(%a: tensor<4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{not: operand 0 is of f16, predicates, i1 (a comparison gives them) are needed}}
  %0 = not %a : tensor<4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// a mask of numbers
mirage_kernel.graph @g(%a: tensor<4xf16>, %b: tensor<4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{mask: operand 0 is of f16, predicates, i1 (a comparison gives them) are needed}}
  %0 = mask %a, %b : tensor<4xf16>, tensor<4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// of predicates
mirage_kernel.graph @g(%a: tensor<4xi1>, %b: tensor<4xi1>) -> tensor<1xf16> {
  // expected-error @+1 {{mask: operand 1 is of i1, floating-point numbers (cast gives them) are needed}}
  %0 = mask %a, %b : tensor<4xi1>, tensor<4xi1>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// of another extent
mirage_kernel.graph @g(%a: tensor<3xi1>, %b: tensor<4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{mask: extents do not broadcast: 3 vs 4 (3xi1, 4xf16)}}
  %0 = mask %a, %b : tensor<3xi1>, tensor<4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// a choice by a number
mirage_kernel.graph @g(%a: tensor<4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{select: operand 0 is of f16, predicates, i1 (a comparison gives them) are needed}}
  %0 = select %a, %a, %a : tensor<4xf16>, tensor<4xf16>, tensor<4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// between predicates
mirage_kernel.graph @g(%c: tensor<4xi1>) -> tensor<1xf16> {
  // expected-error @+1 {{select: operand 0 is of i1, floating-point numbers (cast gives them) are needed}}
  %0 = select %c, %c, %c : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// arithmetic on predicates
mirage_kernel.graph @g(%a: tensor<4xi1>) -> tensor<1xf16> {
  // expected-error @+1 {{add: operand 0 is of i1, floating-point numbers (cast gives them) are needed}}
  %0 = add %a, %a : tensor<4xi1>, tensor<4xi1>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// on indices
mirage_kernel.graph @g(%a: tensor<4xi32>) -> tensor<1xf16> {
  // expected-error @+1 {{exp: operand 0 is of i32, floating-point numbers (cast gives them) are needed}}
  %0 = exp %a : tensor<4xi32>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// a product of predicates
mirage_kernel.graph @g(%a: tensor<4x4xi1>) -> tensor<1xf16> {
  // expected-error @+1 {{matmul: operand 0 is of i1, floating-point numbers (cast gives them) are needed}}
  %0 = matmul %a, %a : tensor<4x4xi1>, tensor<4x4xi1>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// a sum of predicates
mirage_kernel.graph @g(%a: tensor<4xi1>) -> tensor<1xf16> {
  // expected-error @+1 {{reduce_sum: operand 0 is of i1, floating-point numbers (cast gives them) are needed}}
  %0 = reduce_sum %a {dim = 0} : tensor<4xi1>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// a norm of indices
mirage_kernel.graph @g(%a: tensor<4xi32>) -> tensor<1xf16> {
  // expected-error @+1 {{rms_norm: operand 0 is of i32, floating-point numbers (cast gives them) are needed}}
  %0 = rms_norm %a {eps = 0.0} : tensor<4xi32>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// a softmax of predicates
mirage_kernel.graph @g(%a: tensor<4xi1>) -> tensor<1xf16> {
  // expected-error @+1 {{softmax: operand 0 is of i1, floating-point numbers (cast gives them) are needed}}
  %0 = softmax %a {dim = 0} : tensor<4xi1>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// to a predicate by cast
mirage_kernel.graph @g(%a: tensor<4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{cast: f16 to i1: a comparison gives predicates, iota gives indices}}
  %0 = cast %a : tensor<4xf16> -> tensor<4xi1>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// to an index
mirage_kernel.graph @g(%a: tensor<4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{cast: f16 to i32: a comparison gives predicates, iota gives indices}}
  %0 = cast %a : tensor<4xf16> -> tensor<4xi32>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// a predicate that is neither
mirage_kernel.graph @g() -> tensor<1xf16> {
  // expected-error @+1 {{constant: 0.5 is neither 0 nor 1, the values of i1}}
  %0 = constant 0.5 : tensor<4xi1>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// an index between two
mirage_kernel.graph @g() -> tensor<1xf16> {
  // expected-error @+1 {{constant: 2.5 is no index: a whole number of at most 16777216, on either side of 0}}
  %0 = constant 2.5 : tensor<4xi32>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// an index too large
mirage_kernel.graph @g() -> tensor<1xf16> {
  // expected-error @+1 {{constant: 16777217 is no index: a whole number of at most 16777216, on either side of 0}}
  %0 = constant 16777217.0 : tensor<4xi32>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// an iota of numbers
mirage_kernel.graph @g() -> tensor<1xf16> {
  // expected-error @+1 {{iota: gives indices, i32, not f16; cast turns them into numbers}}
  %0 = iota {dim = 0} : tensor<4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// along no dimension
mirage_kernel.graph @g() -> tensor<1xf16> {
  // expected-error @+1 {{iota: dimension 1 is out of range for rank 1}}
  %0 = iota {dim = 1} : tensor<4xi32>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// along a negative one
mirage_kernel.graph @g() -> tensor<1xf16> {
  // expected-error @+1 {{iota: dimension -1 is out of range for rank 1}}
  %0 = iota {dim = -1} : tensor<4xi32>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// too far
mirage_kernel.graph @g() -> tensor<1xf16> {
  // expected-error @+1 {{iota: its elements run from 16777214 to 16777217, at most 16777216 on either side of 0}}
  %0 = iota {dim = 0, start = 16777214} : tensor<4xi32>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// too far below
mirage_kernel.graph @g() -> tensor<1xf16> {
  // expected-error @+1 {{iota: its elements run from -16777217 to -16777214, at most 16777216 on either side of 0}}
  %0 = iota {dim = 0, start = -16777217} : tensor<4xi32>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// along a grid that is not there
mirage_kernel.graph @g() -> tensor<1xf16> {
  // expected-error @+1 {{iota: follows grid axis 1, which only a block graph has}}
  %0 = iota {dim = 0, grid = [0, 4]} : tensor<4xi32>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// and along a loop
mirage_kernel.graph @g() -> tensor<1xf16> {
  // expected-error @+1 {{iota: follows loop 0, but 0 loops enclose it}}
  %0 = iota {dim = 0, loop = [4]} : tensor<4xi32>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// a window without causal
mirage_kernel.graph @g(%q: tensor<4x8xf16>, %k: tensor<6x8xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{scaled_dot_product_attention: window is given without causal}}
  %0 = scaled_dot_product_attention %q, %k, %k {scale = 1.0, window = 2} : tensor<4x8xf16>, tensor<6x8xf16>, tensor<6x8xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// an offset without causal
mirage_kernel.graph @g(%q: tensor<4x8xf16>, %k: tensor<6x8xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{scaled_dot_product_attention: offset is given without causal}}
  %0 = scaled_dot_product_attention %q, %k, %k {scale = 1.0, offset = 2} : tensor<4x8xf16>, tensor<6x8xf16>, tensor<6x8xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// a window below nothing
mirage_kernel.graph @g(%q: tensor<4x8xf16>, %k: tensor<6x8xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{scaled_dot_product_attention: offset 0 or window -1 is out of range, which is 16777216}}
  %0 = scaled_dot_product_attention %q, %k, %k {scale = 1.0, causal, window = -1} : tensor<4x8xf16>, tensor<6x8xf16>, tensor<6x8xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// an offset beyond all
mirage_kernel.graph @g(%q: tensor<4x8xf16>, %k: tensor<6x8xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{scaled_dot_product_attention: offset 16777217 or window 0 is out of range, which is 16777216}}
  %0 = scaled_dot_product_attention %q, %k, %k {scale = 1.0, causal, offset = 16777217} : tensor<4x8xf16>, tensor<6x8xf16>, tensor<6x8xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// a cap below nothing
mirage_kernel.graph @g(%q: tensor<4x8xf16>, %k: tensor<6x8xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{scaled_dot_product_attention: cap is -1, a finite number of at least 0 is needed}}
  %0 = scaled_dot_product_attention %q, %k, %k {scale = 1.0, cap = -1.0} : tensor<4x8xf16>, tensor<6x8xf16>, tensor<6x8xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// a mask of another extent
mirage_kernel.graph @g(%q: tensor<4x8xf16>, %k: tensor<6x8xf16>, %m: tensor<4x5xi1>) -> tensor<1xf16> {
  // expected-error @+1 {{scaled_dot_product_attention: mask and scores do not broadcast: 5 vs 6 (4x5xi1, 4x6xf16)}}
  %0 = scaled_dot_product_attention %q, %k, %k, %m {scale = 1.0} : tensor<4x8xf16>, tensor<6x8xf16>, tensor<6x8xf16>, tensor<4x5xi1>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// transposed
mirage_kernel.graph @g(%q: tensor<4x8xf16>, %k: tensor<6x8xf16>, %m: tensor<6x4xi1>) -> tensor<1xf16> {
  // expected-error @+1 {{scaled_dot_product_attention: mask and scores do not broadcast: 4 vs 6 (6x4xi1, 4x6xf16)}}
  %0 = scaled_dot_product_attention %q, %k, %k, %m {scale = 1.0} : tensor<4x8xf16>, tensor<6x8xf16>, tensor<6x8xf16>, tensor<6x4xi1>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// of more than the scores
mirage_kernel.graph @g(%q: tensor<4x8xf16>, %k: tensor<6x8xf16>, %m: tensor<2x4x6xi1>) -> tensor<1xf16> {
  // expected-error @+1 {{scaled_dot_product_attention: mask has more than the scores: 2x4x6xi1 vs 4x6xf16}}
  %0 = scaled_dot_product_attention %q, %k, %k, %m {scale = 1.0} : tensor<4x8xf16>, tensor<6x8xf16>, tensor<6x8xf16>, tensor<2x4x6xi1>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// of another type
mirage_kernel.graph @g(%q: tensor<4x8xf16>, %k: tensor<6x8xf16>, %m: tensor<4x6xf32>) -> tensor<1xf16> {
  // expected-error @+1 {{scaled_dot_product_attention: element types differ: f16 vs f32}}
  %0 = scaled_dot_product_attention %q, %k, %k, %m {scale = 1.0} : tensor<4x8xf16>, tensor<6x8xf16>, tensor<6x8xf16>, tensor<4x6xf32>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// of indices
mirage_kernel.graph @g(%q: tensor<4x8xf16>, %k: tensor<6x8xf16>, %m: tensor<4x6xi32>) -> tensor<1xf16> {
  // expected-error @+1 {{scaled_dot_product_attention: element types differ: f16 vs i32}}
  %0 = scaled_dot_product_attention %q, %k, %k, %m {scale = 1.0} : tensor<4x8xf16>, tensor<6x8xf16>, tensor<6x8xf16>, tensor<4x6xi32>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// a step along a loop that is not there
mirage_kernel.graph @g(%x: tensor<8x8xf16>) -> tensor<8x8xf16> {
  %y = custom (%a = %x) outs(%b) grid [2] : (tensor<8x8xf16>) -> tensor<8x8xf16> {
    loop 2 {
      // expected-error @+1 {{iota: follows loop 1, but 1 loops enclose it}}
      %i = iota {dim = 0, loop = [0, 4]} : !mirage_block.tile<4x1xi32>
      %t = load %a {grid = [0], loop = [1]} : tensor<8x8xf16> -> !mirage_block.tile<4x4xf16>
      store %t, %b {grid = [0], loop = [1]} : !mirage_block.tile<4x4xf16>, tensor<8x8xf16>
    }
  }
  return %y : tensor<8x8xf16>
}

// -----

// steps beyond all
mirage_kernel.graph @g(%x: tensor<8x8xf16>) -> tensor<8x8xf16> {
  %y = custom (%a = %x) outs(%b) grid [2] : (tensor<8x8xf16>) -> tensor<8x8xf16> {
    loop 2 {
      // expected-error @+1 {{iota: its elements run from 0 to 33554435, at most 16777216 on either side of 0}}
      %i = iota {dim = 0, grid = [33554432]} : !mirage_block.tile<4x1xi32>
      %t = load %a {grid = [0], loop = [1]} : tensor<8x8xf16> -> !mirage_block.tile<4x4xf16>
      store %t, %b {grid = [0], loop = [1]} : !mirage_block.tile<4x4xf16>, tensor<8x8xf16>
    }
  }
  return %y : tensor<8x8xf16>
}

// -----

// bottom of indices
mirage_kernel.graph @g(%x: tensor<8x8xf16>) -> tensor<8x8xf16> {
  %y = custom (%a = %x) outs(%b) grid [2] : (tensor<8x8xf16>) -> tensor<8x8xf16> {
    loop 2 {
      // expected-error @+1 {{bottom: there is none in i32}}
      %i = bottom : !mirage_block.tile<4x1xi32>
      %t = load %a {grid = [0], loop = [1]} : tensor<8x8xf16> -> !mirage_block.tile<4x4xf16>
      store %t, %b {grid = [0], loop = [1]} : !mirage_block.tile<4x4xf16>, tensor<8x8xf16>
    }
  }
  return %y : tensor<8x8xf16>
}

// -----

// a predicate stored as a number
mirage_kernel.graph @g(%x: tensor<8xi1>) -> tensor<8xf16> {
  %y = custom (%a = %x) outs(%b) grid [1] : (tensor<8xi1>) -> tensor<8xf16> {
    %t = load %a : tensor<8xi1> -> !mirage_block.tile<8xi1>
    // expected-error @+1 {{store: a tile of i1 does not go into a tensor of f16}}
    store %t, %b : !mirage_block.tile<8xi1>, tensor<8xf16>
  }
  return %y : tensor<8xf16>
}

// -----

// what lies beyond a tensor of predicates
mirage_kernel.graph @g(%x: tensor<8xi1>) -> tensor<8xi1> {
  %y = custom (%a = %x) outs(%b) grid [1] : (tensor<8xi1>) -> tensor<8xi1> {
    // expected-error @+1 {{load: fills with bottom, and there is none in i1}}
    %t = load %a {fill = bottom} : tensor<8xi1> -> !mirage_block.tile<8xi1>
    store %t, %b : !mirage_block.tile<8xi1>, tensor<8xi1>
  }
  return %y : tensor<8xi1>
}

// -----

// predicates do not accumulate
mirage_kernel.graph @g(%x: tensor<8xi1>) -> tensor<8xi1> {
  %y = custom (%a = %x) outs(%b) grid [1] : (tensor<8xi1>) -> tensor<8xi1> {
    %no = constant 0.0 : !mirage_block.tile<8xi1>
    // expected-error @+1 {{loop: carry 0 is of i1, floating-point numbers are needed}}
    %r = loop 2 (%c = %no max) : !mirage_block.tile<8xi1> {
      %t = load %a : tensor<8xi1> -> !mirage_block.tile<8xi1>
      yield %t : !mirage_block.tile<8xi1>
    }
    store %r, %b : !mirage_block.tile<8xi1>, tensor<8xi1>
  }
  return %y : tensor<8xi1>
}

// -----

// nor do blocks share them
mirage_kernel.graph @g(%x: tensor<8xi1>) -> tensor<8xi1> {
  %y = custom (%a = %x) outs(%b) grid [2] : (tensor<8xi1>) -> tensor<8xi1> {
    %t = load %a : tensor<8xi1> -> !mirage_block.tile<8xi1>
    // expected-error @+1 {{grid_max: operand 0 is of i1, floating-point numbers are needed}}
    %r = grid_max %t {axes = [0]} : !mirage_block.tile<8xi1>
    store %r, %b : !mirage_block.tile<8xf32>, tensor<8xi1>
  }
  return %y : tensor<8xi1>
}
