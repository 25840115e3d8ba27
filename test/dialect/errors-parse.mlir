// Rules of tiles and fragments, and syntax errors: each is located and said, none crashes.
//
// RUN: mirage-mlir-opt %s --split-input-file --verify-diagnostics -o /dev/null

// dynamic tile
// expected-error @+1 {{tile: dimension 0 is dynamic; give it an extent}}
func.func private @f(!mirage_block.tile<?x4xf16>)

// -----

// tile of zero extent
// expected-error @+1 {{tile: dimension 1 has extent 0, at least 1 is needed}}
func.func private @f(!mirage_block.tile<2x0xf16>)

// -----

// tile of integers
// expected-error @+1 {{tile: elements must be f16, bf16, f32, i1, i32, or stored: i8, i4, f8E4M3FN, f8E5M2, not i64}}
func.func private @f(!mirage_block.tile<2x4xi64>)

// -----

// tile of rank 7
// expected-error @+1 {{tile: rank is 7, at most 6 is supported}}
func.func private @f(!mirage_block.tile<1x1x1x1x1x1x1xf16>)

// -----

// unknown place
// expected-error @+1 {{expected one of [undecided, shared, register] for where a tile lives, got: global}}
func.func private @f(!mirage_block.tile<2x4xf16, global>)

// -----

// layout without a place
// expected-error @+1 {{tile: a layout needs a place, shared or register}}
func.func private @f(!mirage_block.tile<2x4xf16, undecided, <>>)

// -----

// unknown key of a layout
// expected-error @+1 {{duplicate or unknown struct parameter name: padding}}
func.func private @f(!mirage_block.tile<2x4xf16, shared, <padding = 8>>)

// -----

// offset
// expected-error @+1 {{layout: offset is -2, at least 0 is needed}}
func.func private @f(!mirage_block.tile<2x4xf16, shared, <offset = -2>>)

// -----

// stages
// expected-error @+1 {{layout: stages is 0, at least 1 is needed}}
func.func private @f(!mirage_block.tile<2x4xf16, shared, <stages = 0>>)

// -----

// swizzle
// expected-error @+1 {{layout: swizzle is 8, at most 7 is possible}}
func.func private @f(!mirage_block.tile<2x4xf16, shared, <swizzle = 8>>)

// -----

// panel
// expected-error @+1 {{layout: panel is -1, at least 0 is needed}}
func.func private @f(!mirage_block.tile<2x4xf16, shared, <panel = -1>>)

// -----

// negative stride
// expected-error @+1 {{layout: stride is -4, at least 0 is needed}}
func.func private @f(!mirage_block.tile<2x4xf16, shared, <strides = [-4, 1]>>)

// -----

// number of strides
// expected-error @+1 {{tile: layout has 1 strides, the tile has rank 2}}
func.func private @f(!mirage_block.tile<2x4xf16, shared, <strides = [1]>>)

// -----

// tile without an element type
// expected-error @+1 {{expected 'x' in dimension list}}
func.func private @f(!mirage_block.tile<2x4>)

// -----

// tile left open
// expected-error @+1 {{unbalanced '<' character in pretty dialect name}}
func.func private @f(!mirage_block.tile<2x4xf16)

// -----

// unknown type of the dialect
// expected-error @+1 {{unknown  type `block` in dialect `mirage_block`}}
func.func private @f(!mirage_block.block<2x4xf16>)

// -----

// dynamic fragment
// expected-error @+1 {{fragment: dimension 0 is dynamic; give it an extent}}
func.func private @f(!mirage_thread.fragment<?xf32>)

// -----

// fragment of zero extent
// expected-error @+1 {{fragment: dimension 0 has extent 0, at least 1 is needed}}
func.func private @f(!mirage_thread.fragment<0xf32>)

// -----

// fragment of doubles
// expected-error @+1 {{fragment: elements must be f16, bf16, f32, i1, i32, or stored: i8, i4, f8E4M3FN, f8E5M2, not f64}}
func.func private @f(!mirage_thread.fragment<4xf64>)

// -----

// fragment of rank 7
// expected-error @+1 {{fragment: rank is 7, at most 6 is supported}}
func.func private @f(!mirage_thread.fragment<1x1x1x1x1x1x1xf16>)

// -----

// fragment with a place
// expected-error @+1 {{expected '>'}}
func.func private @f(!mirage_thread.fragment<4xf32, register>)

// -----

// unknown operator
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{custom op 'conv' is unknown (tried 'mirage_kernel.conv' as well)}}
  %0 = conv %a : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// key given twice
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.reduce_sum' 'dim' is given twice}}
  %0 = reduce_sum %a {dim = 0, dim = 1} : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// key that is no word
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.reduce_sum' expected valid keyword or string}}
  %0 = reduce_sum %a {1 = 0} : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// value that is no integer
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.reduce_sum' expected integer value}}
  %0 = reduce_sum %a {dim = 1.5} : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// value that is no list
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{expected '['}}
  %0 = transpose %a {perm = 1} : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// value that is no float
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{expected floating point literal}}
  %0 = rms_norm %a {eps = tiny} : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// brace left open
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{expected '}'}}
  %0 = reduce_sum %a {dim = 1 : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// types left out
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{expected ':'}}
  %0 = exp %a
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// number of types
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.add' number of operands and types do not match: got 2 operands and 1 types}}
  %0 = add %a, %a : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// undefined value
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{use of undeclared SSA value name}}
  %0 = exp %b : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// constant without a value
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{expected attribute value}}
  %0 = constant : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// constant of another kind
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.constant' invalid kind of attribute specified}}
  %0 = constant "one" : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// integer constant
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+2 {{unexpected decimal integer literal for a floating point value}}
  // expected-note @+1 {{add a trailing dot to make the literal a float}}
  %0 = constant 1 : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// arrow without a type
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{expected non-function type}}
  %0 = exp %a : tensor<2x4xf16> -> 
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// custom without outputs
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.custom' expected 'outs'}}
  %0 = custom (%x = %a) grid [2] : (tensor<2x4xf16>) -> tensor<2x4xf16> {
  }
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// custom without a grid
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.custom' expected 'grid'}}
  %0 = custom (%x = %a) outs(%y) : (tensor<2x4xf16>) -> tensor<2x4xf16> {
  }
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// argument without an operand
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{expected '='}}
  %0 = custom (%x) outs(%y) grid [2] : (tensor<2x4xf16>) -> tensor<2x4xf16> {
  }
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// region left open
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{expected '{' to begin a region}}
  %0 = custom (%x = %a) outs(%y) grid [2] : (tensor<2x4xf16>) -> tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// graph without a name
// expected-error @+1 {{custom op 'mirage_kernel.graph' expected valid '@'-identifier for symbol name}}
mirage_kernel.graph (%a: tensor<2x4xf16>) -> tensor<2x4xf16> {
  return %a : tensor<2x4xf16>
}

// -----

// proof key
// expected-error @+1 {{duplicate or unknown struct parameter name: trails}}
func.func private @f() attributes {p = #mirage_kernel.proof<trails = 1>}

// -----

// unknown attribute
// expected-error @+1 {{unknown attribute `price` in dialect `mirage_kernel`}}
func.func private @f() attributes {p = #mirage_kernel.price<1>}
