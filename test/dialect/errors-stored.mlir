// What stored and mixed types may not do, each with a text that does it.
//
// RUN: mirage-mlir-opt %s --split-input-file --verify-diagnostics -o /dev/null

mirage_kernel.graph @g(%w: tensor<4x8xi8>, %s: tensor<8xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{mul: operand 0 is i8, a stored type; cast it to f16, bf16 or f32 first}}
  %0 = mul %w, %s : tensor<4x8xi8>, tensor<8xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

mirage_kernel.graph @g(%x: tensor<2x4xf16>, %w: tensor<4x8xf8E4M3FN>) -> tensor<1xf16> {
  // expected-error @+1 {{matmul: operand 1 is f8E4M3FN, a stored type; cast it to f16, bf16 or f32 first}}
  %0 = matmul %x, %w : tensor<2x4xf16>, tensor<4x8xf8E4M3FN>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// integers are not summed, so that none wraps around
mirage_kernel.graph @g(%w: tensor<4x8xi8>) -> tensor<1xf16> {
  // expected-error @+1 {{reduce_sum: operand 0 is i8, a stored type; cast it to f16, bf16 or f32 first}}
  %0 = reduce_sum %w {dim = 0} : tensor<4x8xi8>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

mirage_kernel.graph @g(%w: tensor<4x8xf8E5M2>) -> tensor<1xf16> {
  // expected-error @+1 {{exp: operand 0 is f8E5M2, a stored type; cast it to f16, bf16 or f32 first}}
  %0 = exp %w : tensor<4x8xf8E5M2>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

mirage_kernel.graph @g(%w: tensor<4x8xi8>) -> tensor<1xf16> {
  // expected-error @+1 {{softmax: operand 0 is i8, a stored type; cast it to f16, bf16 or f32 first}}
  %0 = softmax %w {dim = 1} : tensor<4x8xi8>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// a tensor of a stored type is not moved by a kernel: cast first
mirage_kernel.graph @g(%w: tensor<4x8xi8>) -> tensor<1xf16> {
  // expected-error @+1 {{transpose: operand 0 is i8, a stored type; cast it to f16, bf16 or f32 first}}
  %0 = transpose %w {perm = [1, 0]} : tensor<4x8xi8>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

mirage_kernel.graph @g(%x: tensor<4x8xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{cast: f16 to i8: nothing is cast to a stored type; quantise outside}}
  %0 = cast %x : tensor<4x8xf16> -> tensor<4x8xi8>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

mirage_kernel.graph @g(%x: tensor<4x8xi8>) -> tensor<1xf16> {
  // expected-error @+1 {{cast: i8 to i4: nothing is cast to a stored type; quantise outside}}
  %0 = cast %x : tensor<4x8xi8> -> tensor<4x8xi4>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

mirage_kernel.graph @g(%x: tensor<4x8xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{constant: i8 is a stored type; use f16, bf16 or f32}}
  %0 = constant 1.0 : tensor<4x8xi8>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// rows of i4 are whole bytes
mirage_kernel.graph @g(%w: tensor<4x7xi4>) -> tensor<1xf16> {
  // expected-error @+1 {{cast: operand 0 has rows of 7 i4, an even number is needed}}
  %0 = cast %w : tensor<4x7xi4> -> tensor<4x7xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

mirage_kernel.graph @g(%w: tensor<4x6xi4>) -> tensor<1xf16> {
  // expected-error @+1 {{reshape: result 0 has rows of 3 i4, an even number is needed}}
  %0 = reshape %w : tensor<4x6xi4> -> tensor<8x3xi4>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// signs are said
mirage_kernel.graph @g(%w: tensor<4x8xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{tensor<4x8xui8>: elements must be f16, bf16, f32, i1, i32, or stored: i8, i4, f8E4M3FN, f8E5M2; convert them outside}}
  %0 = cast %w : tensor<4x8xf16> -> tensor<4x8xui8>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// no kernel writes a stored type
mirage_kernel.graph @g(%w: tensor<4x8xi8>) -> tensor<4x8xi8> {
  %y = custom (%wk = %w) outs(%yk) grid [1] : (tensor<4x8xi8>) -> tensor<4x8xi8> {
    %t = load %wk : tensor<4x8xi8> -> !mirage_block.tile<4x8xi8>
    // expected-error @+1 {{store: operand 0 is i8, a stored type; cast it to f16, bf16 or f32 first}}
    store %t, %yk : !mirage_block.tile<4x8xi8>, tensor<4x8xi8>
  }
  return %y : tensor<4x8xi8>
}

// -----

mirage_kernel.graph @g(%w: tensor<4x8xf16>) -> tensor<4x8xi8> {
  %y = custom (%wk = %w) outs(%yk) grid [1] : (tensor<4x8xf16>) -> tensor<4x8xi8> {
    %t = load %wk : tensor<4x8xf16> -> !mirage_block.tile<4x8xf16>
    // expected-error @+1 {{store: operand 1 is i8, a stored type; cast it to f16, bf16 or f32 first}}
    store %t, %yk : !mirage_block.tile<4x8xf16>, tensor<4x8xi8>
  }
  return %y : tensor<4x8xi8>
}

// -----

// a maximum's start is no i8
mirage_kernel.graph @g(%w: tensor<5x8xi8>) -> tensor<5x8xf16> {
  %y = custom (%wk = %w) outs(%yk) grid [2] : (tensor<5x8xi8>) -> tensor<5x8xf16> {
    // expected-error @+1 {{load: i8, a stored type, has no bottom to fill with}}
    %t = load %wk {grid = [0], fill = bottom} : tensor<5x8xi8> -> !mirage_block.tile<3x8xi8>
    %f = cast %t : !mirage_block.tile<3x8xi8> -> !mirage_block.tile<3x8xf16>
    store %f, %yk {grid = [0]} : !mirage_block.tile<3x8xf16>, tensor<5x8xf16>
  }
  return %y : tensor<5x8xf16>
}

// -----

// nor does a loop carry one
mirage_kernel.graph @g(%w: tensor<4x8xi8>) -> tensor<4x8xf16> {
  %y = custom (%wk = %w) outs(%yk) grid [1] : (tensor<4x8xi8>) -> tensor<4x8xf16> {
    %t = load %wk : tensor<4x8xi8> -> !mirage_block.tile<4x8xi8>
    // expected-error @+1 {{loop: carry 0 is i8, a stored type; cast it to f16, bf16 or f32 first}}
    %c = loop 2 (%a = %t assign) : !mirage_block.tile<4x8xi8> {
      yield %a : !mirage_block.tile<4x8xi8>
    }
    %f = cast %c : !mirage_block.tile<4x8xi8> -> !mirage_block.tile<4x8xf16>
    store %f, %yk : !mirage_block.tile<4x8xf16>, tensor<4x8xf16>
  }
  return %y : tensor<4x8xf16>
}

// -----

mirage_kernel.graph @g(%w: tensor<4x8xi8>) -> tensor<4x1xf16> {
  %y = custom (%wk = %w) outs(%yk) grid [1] : (tensor<4x8xi8>) -> tensor<4x1xf16> {
    %t = load %wk : tensor<4x8xi8> -> !mirage_block.tile<4x8xi8>
    // expected-error @+1 {{reduce_max: operand 0 is i8, a stored type; cast it to f16, bf16 or f32 first}}
    %m = reduce_max %t {dim = 1} : !mirage_block.tile<4x8xi8>
    store %m, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf16>
  }
  return %y : tensor<4x1xf16>
}

// -----

// what is multiplied with what: bytes with bytes of their kind
mirage_kernel.graph @g(%x: tensor<4x8xi8>, %w: tensor<8x6xf8E4M3FN>) -> tensor<1xf16> {
  // expected-error @+1 {{matmul: operands are of i8 and f8E4M3FN: of stored types, i8 is multiplied with i8 and f8 with f8; cast them}}
  %0 = matmul %x, %w : tensor<4x8xi8>, tensor<8x6xf8E4M3FN>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

mirage_kernel.graph @g(%x: tensor<4x8xi4>, %w: tensor<8x6xi4>) -> tensor<1xf16> {
  // expected-error @+1 {{matmul: operands are of i4 and i4: of stored types, i8 is multiplied with i8 and f8 with f8; cast them}}
  %0 = matmul %x, %w : tensor<4x8xi4>, tensor<8x6xi4>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

mirage_kernel.graph @g(%x: tensor<4x8xi8>, %w: tensor<8x6xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{matmul: operand 0 is i8, a stored type; cast it to f16, bf16 or f32 first}}
  %0 = matmul %x, %w : tensor<4x8xi8>, tensor<8x6xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// a sum of integers is no number
mirage_kernel.graph @g(%x: tensor<4x8xi8>, %w: tensor<8x6xi8>, %s: tensor<6xf32>) -> tensor<4x6xf32> {
  %p = matmul %x, %w : tensor<4x8xi8>, tensor<8x6xi8>
  // expected-error @+1 {{mul: operand 0 is of i32, floating-point numbers (cast gives them) are needed}}
  %y = mul %p, %s : tensor<4x6xi32>, tensor<6xf32>
  return %y : tensor<4x6xf32>
}

// -----

mirage_kernel.graph @g(%x: tensor<4x8xi8>, %w: tensor<8x6xi8>) -> tensor<4x6xf32> {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [1] : (tensor<4x8xi8>, tensor<8x6xi8>) -> tensor<4x6xf32> {
    %zero = constant 0.0 : !mirage_block.tile<4x6xf32>
    // expected-error @+1 {{loop: contribution 0 and its carry differ in element type: i32 vs f32}}
    %s = loop 2 (%a = %zero sum) : !mirage_block.tile<4x6xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x8xi8> -> !mirage_block.tile<4x4xi8>
      %wt = load %wk {loop = [0]} : tensor<8x6xi8> -> !mirage_block.tile<4x6xi8>
      %p = matmul %xt, %wt : !mirage_block.tile<4x4xi8>, !mirage_block.tile<4x6xi8>
      yield %p : !mirage_block.tile<4x6xi32>
    }
    store %s, %yk : !mirage_block.tile<4x6xf32>, tensor<4x6xf32>
  }
  return %y : tensor<4x6xf32>
}

// -----

// of integers there are sums, and nothing else
mirage_kernel.graph @g(%x: tensor<4x8xi8>, %w: tensor<8x6xi8>) -> tensor<4x6xi32> {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [1] : (tensor<4x8xi8>, tensor<8x6xi8>) -> tensor<4x6xi32> {
    %zero = constant 0.0 : !mirage_block.tile<4x6xi32>
    // expected-error @+1 {{carry 0 is of i32, floating-point numbers are needed}}
    %s = loop 2 (%a = %zero max) : !mirage_block.tile<4x6xi32> {
      %xt = load %xk {loop = [1]} : tensor<4x8xi8> -> !mirage_block.tile<4x4xi8>
      %wt = load %wk {loop = [0]} : tensor<8x6xi8> -> !mirage_block.tile<4x6xi8>
      %p = matmul %xt, %wt : !mirage_block.tile<4x4xi8>, !mirage_block.tile<4x6xi8>
      yield %p : !mirage_block.tile<4x6xi32>
    }
    store %s, %yk : !mirage_block.tile<4x6xi32>, tensor<4x6xi32>
  }
  return %y : tensor<4x6xi32>
}

// -----

mirage_kernel.graph @g(%x: tensor<4x8xi8>, %w: tensor<8x6xi8>) -> tensor<4x6xi32> {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [2] : (tensor<4x8xi8>, tensor<8x6xi8>) -> tensor<4x6xi32> {
    %xt = load %xk {grid = [1]} : tensor<4x8xi8> -> !mirage_block.tile<4x4xi8>
    %wt = load %wk {grid = [0]} : tensor<8x6xi8> -> !mirage_block.tile<4x6xi8>
    %p = matmul %xt, %wt : !mirage_block.tile<4x4xi8>, !mirage_block.tile<4x6xi8>
    // expected-error @+1 {{grid_max: operand 0 is of i32, floating-point numbers are needed}}
    %m = grid_max %p {axes = [0]} : !mirage_block.tile<4x6xi32>
    store %m, %yk : !mirage_block.tile<4x6xi32>, tensor<4x6xi32>
  }
  return %y : tensor<4x6xi32>
}

// -----

// nor does a sum go where numbers go
mirage_kernel.graph @g(%x: tensor<4x8xi8>, %w: tensor<8x6xi8>) -> tensor<4x6xf32> {
  %y = custom (%xk = %x, %wk = %w) outs(%yk) grid [1] : (tensor<4x8xi8>, tensor<8x6xi8>) -> tensor<4x6xf32> {
    %xt = load %xk : tensor<4x8xi8> -> !mirage_block.tile<4x8xi8>
    %wt = load %wk : tensor<8x6xi8> -> !mirage_block.tile<8x6xi8>
    %p = matmul %xt, %wt : !mirage_block.tile<4x8xi8>, !mirage_block.tile<8x6xi8>
    // expected-error @+1 {{store: a tile of i32 does not go into a tensor of f32}}
    store %p, %yk : !mirage_block.tile<4x6xi32>, tensor<4x6xf32>
  }
  return %y : tensor<4x6xf32>
}
