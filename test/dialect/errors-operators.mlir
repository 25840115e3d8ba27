// Rules of the operators (lib/ugraph/infer.c), at the kernel level, each with a text that breaks it.
//
// RUN: mirage-mlir-opt %s --split-input-file --verify-diagnostics -o /dev/null

// inner dimensions
mirage_kernel.graph @g(%a: tensor<2x64xf16>, %b: tensor<63x8xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{matmul: inner dimensions differ: 64 vs 63}}
  %0 = matmul %a, %b : tensor<2x64xf16>, tensor<63x8xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// inner dimensions, transposed
mirage_kernel.graph @g(%a: tensor<64x2xf16>, %b: tensor<63x8xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{matmul: inner dimensions differ: 64 vs 63}}
  %0 = matmul %a, %b {transpose_a} : tensor<64x2xf16>, tensor<63x8xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// rank of a matmul
mirage_kernel.graph @g(%a: tensor<64xf16>, %b: tensor<64x8xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{matmul: operands need at least rank 2: 1 vs 2}}
  %0 = matmul %a, %b : tensor<64xf16>, tensor<64x8xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// batch dimensions
mirage_kernel.graph @g(%a: tensor<2x4x8xf16>, %b: tensor<3x8x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{matmul: batch dimensions do not broadcast: 2 vs 3 (2x4x8xf16, 3x8x4xf16)}}
  %0 = matmul %a, %b : tensor<2x4x8xf16>, tensor<3x8x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// element types of a matmul
mirage_kernel.graph @g(%a: tensor<4x8xf16>, %b: tensor<8x4xbf16>) -> tensor<1xf16> {
  // expected-error @+1 {{matmul: element types differ: f16 vs bf16}}
  %0 = matmul %a, %b : tensor<4x8xf16>, tensor<8x4xbf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// element types: two of them give f32, and nothing else
mirage_kernel.graph @g(%a: tensor<2x4xf16>, %b: tensor<2x4xf32>) -> tensor<1xf16> {
  // expected-error @+1 {{add: result type is 2x4xf16, should be 2x4xf32}}
  %0 = add %a, %b : tensor<2x4xf16>, tensor<2x4xf32> -> tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// an element-wise result is never wider than its operands
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{mul: result type is 2x4xf32, should be 2x4xf16}}
  %0 = mul %a, %a : tensor<2x4xf16>, tensor<2x4xf16> -> tensor<2x4xf32>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// a product has its operands' type, or f32
mirage_kernel.graph @g(%a: tensor<4x8xf16>, %b: tensor<8x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{matmul: result type is 4x4xbf16, should be 4x4xf16}}
  %0 = matmul %a, %b : tensor<4x8xf16>, tensor<8x4xf16> -> tensor<4x4xbf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

mirage_kernel.graph @g(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> tensor<1xf16> {
  // expected-error @+1 {{matmul: result type is 4x4xf16, should be 4x4xf32}}
  %0 = matmul %a, %b : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<4x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

mirage_kernel.graph @g(%a: tensor<4x8xbf16>) -> tensor<1xf16> {
  // expected-error @+1 {{reduce_sum: result type is 4x1xf16, should be 4x1xbf16}}
  %0 = reduce_sum %a {dim = 1} : tensor<4x8xbf16> -> tensor<4x1xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// a function takes one type: cast
mirage_kernel.graph @g(%q: tensor<4x8xf16>, %k: tensor<4x8xf32>) -> tensor<1xf16> {
  // expected-error @+1 {{scaled_dot_product_attention: element types differ: f16 vs f32}}
  %0 = scaled_dot_product_attention %q, %k, %q {scale = 1.0} : tensor<4x8xf16>, tensor<4x8xf32>, tensor<4x8xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// broadcasting
mirage_kernel.graph @g(%a: tensor<2x4xf16>, %b: tensor<2x3xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{mul: extents do not broadcast: 4 vs 3 (2x4xf16, 2x3xf16)}}
  %0 = mul %a, %b : tensor<2x4xf16>, tensor<2x3xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// too few operands
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{add: too few operands: 1, at least 2 are needed}}
  %0 = add %a : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// too many operands
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{exp: too many operands: 2, at most 1 are taken}}
  %0 = exp %a, %a : tensor<2x4xf16>, tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// written result type
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{exp: result type is 4x2xf16, should be 2x4xf16}}
  %0 = exp %a : tensor<2x4xf16> -> tensor<4x2xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// reduction dimension
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{reduce_sum: dimension 2 is out of range for rank 2}}
  %0 = reduce_sum %a {dim = 2} : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// negative dimension
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{reduce_max: dimension -1 is out of range for rank 2}}
  %0 = reduce_max %a {dim = -1} : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// dimension beyond 32 bits
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{reduce_max: dim 4294967297 is out of range}}
  %0 = reduce_max %a {dim = 4294967297} : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// reduction without a dimension
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{reduce_mean: attribute 'dim' is missing or not an integer}}
  %0 = reduce_mean %a : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// reduction extent
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{reduce_sum: extent 3 does not divide dimension 1 of extent 4}}
  %0 = reduce_sum %a {dim = 1, extent = 3} : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// reduction extent of zero
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{reduce_sum: extent 0 does not divide dimension 1 of extent 4}}
  %0 = reduce_sum %a {dim = 1, extent = 0} : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// broadcast shape
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{broadcast: 2x4xf16 does not stretch to 4x4xf16}}
  %0 = broadcast %a : tensor<2x4xf16> -> tensor<4x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// broadcast to a smaller rank
mirage_kernel.graph @g(%a: tensor<1x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{broadcast: 1x4xf16 does not stretch to 4xf16}}
  %0 = broadcast %a : tensor<1x4xf16> -> tensor<4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// broadcast that converts
mirage_kernel.graph @g(%a: tensor<1x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{broadcast: element types differ: f16 vs f32}}
  %0 = broadcast %a : tensor<1x4xf16> -> tensor<2x4xf32>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// reshape size
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{reshape: numbers of elements differ: 8 vs 9 (2x4xf16 to 3x3xf16)}}
  %0 = reshape %a : tensor<2x4xf16> -> tensor<3x3xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// reshape to rank 0
mirage_kernel.graph @g(%a: tensor<1x1xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{reshape: result has rank 0, which only constants may have}}
  %0 = reshape %a : tensor<1x1xf16> -> tensor<f16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// cast that reshapes
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{cast: result type is 4x2xf32, should be 2x4xf32}}
  %0 = cast %a : tensor<2x4xf16> -> tensor<4x2xf32>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// cast to integers
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{tensor<2x4xi16>: elements must be f16, bf16, f32, i1, i32, or stored: i8, i4, f8E4M3FN, f8E5M2; convert them outside}}
  %0 = cast %a : tensor<2x4xf16> -> tensor<2x4xi16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// cast without a type
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  %0 = cast %a : tensor<2x4xf16>
  // expected-error @+1 {{custom op 'mirage_kernel.cast' expected '->' and the result type}}
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// repeat count
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{repeat: times is 0, at least 1 is needed}}
  %0 = repeat %a {dim = 0, times = 0} : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// repeat dimension
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{repeat: dimension 4 is out of range for rank 2}}
  %0 = repeat %a {dim = 4, times = 2} : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// repeat overflow
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{repeat: result has too many elements: 2 times 9223372036854775807}}
  %0 = repeat %a {dim = 0, times = 9223372036854775807} : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// repeat too large
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{repeat: result 0 has too many elements: 9223372036854775806x4xf16}}
  %0 = repeat %a {dim = 0, times = 4611686018427387903} : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// permutation length
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{transpose: perm has 3 entries, the operand has rank 2}}
  %0 = transpose %a {perm = [1, 0, 2]} : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// permutation too long
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{transpose: perm has 7 entries, at most 6 are possible}}
  %0 = transpose %a {perm = [0, 1, 2, 3, 4, 5, 6]} : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// permutation range
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{transpose: dimension 2 is out of range for rank 2}}
  %0 = transpose %a {perm = [1, 2]} : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// permutation repeats
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{transpose: perm names dimension 1 twice}}
  %0 = transpose %a {perm = [1, 1]} : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// slice range
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{slice: range 2 to 5 is empty or outside dimension 1 of extent 4}}
  %0 = slice %a {dim = 1, begin = 2, end = 5} : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// empty slice
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{slice: range 2 to 2 is empty or outside dimension 1 of extent 4}}
  %0 = slice %a {dim = 1, begin = 2, end = 2} : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// slice dimension
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{slice: dimension 3 is out of range for rank 2}}
  %0 = slice %a {dim = 3, begin = 0, end = 1} : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// concat ranks
mirage_kernel.graph @g(%a: tensor<2x4xf16>, %b: tensor<4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{concat: ranks differ: 2 vs 1}}
  %0 = concat %a, %b {dim = 0} : tensor<2x4xf16>, tensor<4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// concat extents
mirage_kernel.graph @g(%a: tensor<2x4xf16>, %b: tensor<2x3xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{concat: extents of dimension 1 differ: 4 vs 3}}
  %0 = concat %a, %b {dim = 0} : tensor<2x4xf16>, tensor<2x3xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// concat element types
mirage_kernel.graph @g(%a: tensor<2x4xf16>, %b: tensor<2x4xf32>) -> tensor<1xf16> {
  // expected-error @+1 {{concat: element types differ: f16 vs f32}}
  %0 = concat %a, %b {dim = 0} : tensor<2x4xf16>, tensor<2x4xf32>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// concat dimension
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{concat: dimension 2 is out of range for rank 2}}
  %0 = concat %a, %a {dim = 2} : tensor<2x4xf16>, tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// concat of nothing
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{concat: too few operands: 0, at least 1 are needed}}
  %0 = "mirage_kernel.concat"() {dim = 0 : i64} : () -> tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// constant that overflows its type
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{constant: 70000 is not a finite f16}}
  %0 = constant 70000.0 : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// constant that is no number
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{constant: nan is not a finite f16}}
  %0 = constant 0x7E00 : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// bits of a constant are those of its element type: this is -inf, which no constant may be
mirage_kernel.graph @g(%a: tensor<2x4xf32>) -> tensor<1xf32> {
  // expected-error @+1 {{constant: -inf is not a finite f32}}
  %0 = constant 0xFF800000 : tensor<2x4xf32>
  %z = constant 0.0 : tensor<1xf32>
  return %z : tensor<1xf32>
}

// -----

// constant of more bits than its type has
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{constant: 0x7FF8000000000000 has more bits than the 16 of 'f16'}}
  %0 = constant 0x7FF8000000000000 : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// constant of a dynamic shape
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{tensor<?xf16>: dimension 0 is dynamic; give it an extent}}
  %0 = constant 0.0 : tensor<?xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// softmax dimension
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{softmax: dimension 2 is out of range for rank 2}}
  %0 = softmax %a {dim = 2} : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// gain
mirage_kernel.graph @g(%a: tensor<2x4xf16>, %g: tensor<2xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{rms_norm: gain must have the extent of x's last dimension: 2xf16 vs 4}}
  %0 = rms_norm %a, %g {eps = 0.0} : tensor<2x4xf16>, tensor<2xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// bias
mirage_kernel.graph @g(%a: tensor<2x4xf16>, %g: tensor<4xf16>, %b: tensor<1x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{layer_norm: bias must have the extent of x's last dimension: 1x4xf16 vs 4}}
  %0 = layer_norm %a, %g, %b {eps = 0.0} : tensor<2x4xf16>, tensor<4xf16>, tensor<1x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// too many norm operands
mirage_kernel.graph @g(%a: tensor<2x4xf16>, %g: tensor<4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{layer_norm: too many operands: 4, at most 3 are taken}}
  %0 = layer_norm %a, %g, %g, %g {eps = 0.0} : tensor<2x4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// gain element type
mirage_kernel.graph @g(%a: tensor<2x4xf16>, %g: tensor<4xf32>) -> tensor<1xf16> {
  // expected-error @+1 {{rms_norm: element types differ: f16 vs f32}}
  %0 = rms_norm %a, %g {eps = 0.0} : tensor<2x4xf16>, tensor<4xf32>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// negative eps
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{rms_norm: eps is -1, a finite number of at least 0 is needed}}
  %0 = rms_norm %a {eps = -1.0} : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// norm without eps
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{rms_norm: attribute 'eps' is missing or not a floating-point number}}
  %0 = rms_norm %a : tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// norm of a constant
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  %s = constant 1.0 : tensor<f16>
  // expected-error @+1 {{rms_norm: operand 0 has rank 0, at least 1 is needed}}
  %0 = rms_norm %s {eps = 0.0} : tensor<f16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// attention: numbers of keys and values
mirage_kernel.graph @g(%q: tensor<2x4xf16>, %k: tensor<6x4xf16>, %v: tensor<5x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{scaled_dot_product_attention: numbers of keys and values differ: 6 vs 5}}
  %0 = scaled_dot_product_attention %q, %k, %v {scale = 1.0} : tensor<2x4xf16>, tensor<6x4xf16>, tensor<5x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// attention: head dimensions
mirage_kernel.graph @g(%q: tensor<2x4xf16>, %k: tensor<6x3xf16>, %v: tensor<6x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{scaled_dot_product_attention: inner dimensions differ: 4 vs 3}}
  %0 = scaled_dot_product_attention %q, %k, %v {scale = 1.0} : tensor<2x4xf16>, tensor<6x3xf16>, tensor<6x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// attention: rank
mirage_kernel.graph @g(%q: tensor<4xf16>, %k: tensor<6x4xf16>, %v: tensor<6x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{scaled_dot_product_attention: operands need at least rank 2: 1, 2, 2}}
  %0 = scaled_dot_product_attention %q, %k, %v {scale = 1.0} : tensor<4xf16>, tensor<6x4xf16>, tensor<6x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// attention: scale
mirage_kernel.graph @g(%q: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{scaled_dot_product_attention: scale is inf, a finite number is needed}}
  %0 = scaled_dot_product_attention %q, %q, %q {scale = 0x7FF0000000000000} : tensor<2x4xf16>, tensor<2x4xf16>, tensor<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// dynamic operand
// expected-note @+1 {{prior use here}}
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{use of value '%a' expects different type than prior uses: 'tensor<?x4xf16>' vs 'tensor<2x4xf16>'}}
  %0 = exp %a : tensor<?x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// operand of another type
// expected-note @+1 {{prior use here}}
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{use of value '%a' expects different type than prior uses: 'tensor<2x5xf16>' vs 'tensor<2x4xf16>'}}
  %0 = exp %a : tensor<2x5xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// misspelt key
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<2x4xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.matmul' has no attribute 'transpos_b'; one of another dialect needs its prefix}}
  %0 = matmul %a, %a {transpos_b} : tensor<2x4xf16>, tensor<2x4xf16>
  return %a : tensor<2x4xf16>
}

// -----

// key of another operator
mirage_kernel.graph @g(%a: tensor<2x4xf16>) -> tensor<2x4xf16> {
  // expected-error @+1 {{custom op 'mirage_kernel.exp' has no attribute 'dim'; one of another dialect needs its prefix}}
  %0 = exp %a {dim = 0} : tensor<2x4xf16>
  return %a : tensor<2x4xf16>
}

// -----

// concat that overflows
mirage_kernel.graph @g(%a: tensor<2305843009213693952xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{concat: result has too many elements along dimension 0}}
  %0 = concat %a, %a, %a, %a {dim = 0} : tensor<2305843009213693952xf16>, tensor<2305843009213693952xf16>, tensor<2305843009213693952xf16>, tensor<2305843009213693952xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// tile at the kernel level
mirage_kernel.graph @g(%t: !mirage_block.tile<2x4xf16>) -> tensor<1xf16> {
  // expected-error @+1 {{exp: operand 0 is a tile, the kernel level works on tensors}}
  %0 = exp %t : !mirage_block.tile<2x4xf16>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// an exponent that is missing
mirage_kernel.graph @g(%x: tensor<4xf16>) -> tensor<4xf16> {
  // expected-error @+1 {{pow: attribute 'exponent'}}
  %0 = pow %x : tensor<4xf16>
  return %0 : tensor<4xf16>
}

// -----

// the power of 0
mirage_kernel.graph @g(%x: tensor<4xf16>) -> tensor<4xf16> {
  // expected-error @+1 {{pow: exponent is 0, a whole one is 1 to 64 or the negative of that}}
  %0 = pow %x {exponent = 0.0} : tensor<4xf16>
  return %0 : tensor<4xf16>
}

// -----

// bounds that leave nothing
mirage_kernel.graph @g(%x: tensor<4xf16>) -> tensor<4xf16> {
  // expected-error @+1 {{clamp: low is 2, above high, 1}}
  %0 = clamp %x {low = 2.0, high = 1.0} : tensor<4xf16>
  return %0 : tensor<4xf16>
}

// -----

// a function of i32
mirage_kernel.graph @g(%x: tensor<4xi32>) -> tensor<1xf16> {
  // expected-error @+1 {{sin: operand 0 is of i32, floating-point numbers (cast gives them) are needed}}
  %0 = sin %x : tensor<4xi32>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// a function of i8
mirage_kernel.graph @g(%x: tensor<4xi8>) -> tensor<1xf16> {
  // expected-error @+1 {{abs: operand 0 is i8, a stored type; cast it to f16, bf16 or f32 first}}
  %0 = abs %x : tensor<4xi8>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}

// -----

// a function of i1
mirage_kernel.graph @g(%x: tensor<4xi1>) -> tensor<1xf16> {
  // expected-error @+1 {{sign: operand 0 is of i1, floating-point numbers (cast gives them) are needed}}
  %0 = sign %x : tensor<4xi1>
  %z = constant 0.0 : tensor<1xf16>
  return %z : tensor<1xf16>
}
