// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// Comparisons, their logic, masks and choices. A comparison of numbers may be any predicate of its two operands; one of
// indices is what it is.

mirage_kernel.graph @src_less(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = less %x, %y : tensor<4x8xf32>, tensor<4x8xf32>
  %r = select %c, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// The same.
// CHECK: @less_again: equivalent to @src_less;
mirage_kernel.graph @less_again(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_less} {
  %c = less %x, %y : tensor<4x8xf32>, tensor<4x8xf32>
  %r = select %c, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// y > x is x < y.
// CHECK: @less_turned: equivalent to @src_less;
mirage_kernel.graph @less_turned(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_less} {
  %c = greater %y, %x : tensor<4x8xf32>, tensor<4x8xf32>
  %r = select %c, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// A choice is the larger of two masked values, of which one is bottom.
// CHECK: @less_by_parts: equivalent to @src_less;
mirage_kernel.graph @less_by_parts(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_less} {
  %c = less %x, %y : tensor<4x8xf32>, tensor<4x8xf32>
  %n = not %c : tensor<4x8xi1>
  %a = mask %c, %x : tensor<4x8xi1>, tensor<4x8xf32>
  %b = mask %n, %y : tensor<4x8xi1>, tensor<4x8xf32>
  %r = max %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// not not c is c; the other way round.
// CHECK: @less_twice_not: equivalent to @src_less;
mirage_kernel.graph @less_twice_not(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_less} {
  %c = less %x, %y : tensor<4x8xf32>, tensor<4x8xf32>
  %n = not %c : tensor<4x8xi1>
  %r = select %n, %y, %x : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// c and c is c.
// CHECK: @less_and_itself: equivalent to @src_less;
mirage_kernel.graph @less_and_itself(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_less} {
  %c = less %x, %y : tensor<4x8xf32>, tensor<4x8xf32>
  %d = and %c, %c : tensor<4x8xi1>, tensor<4x8xi1>
  %r = select %d, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// Less or equal is another predicate.
// CHECK: @less_equal_for_less: different
mirage_kernel.graph @less_equal_for_less(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_less} {
  %c = less_equal %x, %y : tensor<4x8xf32>, tensor<4x8xf32>
  %r = select %c, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// And so is greater.
// CHECK: @greater_for_less: different
mirage_kernel.graph @greater_for_less(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_less} {
  %c = greater %x, %y : tensor<4x8xf32>, tensor<4x8xf32>
  %r = select %c, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// The operands of a comparison do not commute.
// CHECK: @less_swapped: different
mirage_kernel.graph @less_swapped(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_less} {
  %c = less %y, %x : tensor<4x8xf32>, tensor<4x8xf32>
  %r = select %c, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// Neither do the choices.
// CHECK: @less_choices_swapped: different
mirage_kernel.graph @less_choices_swapped(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_less} {
  %c = less %x, %y : tensor<4x8xf32>, tensor<4x8xf32>
  %r = select %c, %y, %x : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// Without its not.
// CHECK: @less_negated: different
mirage_kernel.graph @less_negated(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_less} {
  %c = less %x, %y : tensor<4x8xf32>, tensor<4x8xf32>
  %n = not %c : tensor<4x8xi1>
  %r = select %n, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// Always the first.
// CHECK: @less_always: different
mirage_kernel.graph @less_always(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_less} {
  %z = add %x, %y : tensor<4x8xf32>, tensor<4x8xf32>
  %r = sub %z, %y : tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// Compared with something else.
// CHECK: @less_shifted: different
mirage_kernel.graph @less_shifted(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_less} {
  %z = add %y, %y : tensor<4x8xf32>, tensor<4x8xf32>
  %c = less %x, %z : tensor<4x8xf32>, tensor<4x8xf32>
  %r = select %c, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

mirage_kernel.graph @src_equal(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = equal %x, %y : tensor<4x8xf32>, tensor<4x8xf32>
  %r = select %c, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// Equality is symmetric.
// CHECK: @equal_turned: equivalent to @src_equal;
mirage_kernel.graph @equal_turned(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_equal} {
  %c = equal %y, %x : tensor<4x8xf32>, tensor<4x8xf32>
  %r = select %c, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// Not not equal.
// CHECK: @equal_not: equivalent to @src_equal;
mirage_kernel.graph @equal_not(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_equal} {
  %c = not_equal %x, %y : tensor<4x8xf32>, tensor<4x8xf32>
  %r = select %c, %y, %x : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// The opposite.
// CHECK: @equal_for_unequal: different
mirage_kernel.graph @equal_for_unequal(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_equal} {
  %c = not_equal %x, %y : tensor<4x8xf32>, tensor<4x8xf32>
  %r = select %c, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// An order is no equality.
// CHECK: @equal_for_less_equal: different
mirage_kernel.graph @equal_for_less_equal(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_equal} {
  %c = less_equal %x, %y : tensor<4x8xf32>, tensor<4x8xf32>
  %r = select %c, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

mirage_kernel.graph @src_self(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = less_equal %x, %x : tensor<4x8xf32>, tensor<4x8xf32>
  %r = select %c, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// A value is what it is: x <= x.
// CHECK: @self_is_known: equivalent to @src_self;
mirage_kernel.graph @self_is_known(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_self} {
  %c = equal %y, %y : tensor<4x8xf32>, tensor<4x8xf32>
  %r = select %c, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// And it is not less than itself.
// CHECK: @self_is_not_less: different
mirage_kernel.graph @self_is_not_less(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_self} {
  %c = less %x, %x : tensor<4x8xf32>, tensor<4x8xf32>
  %r = select %c, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

mirage_kernel.graph @src_and(%p: tensor<4x8xi1>, %q: tensor<8xi1>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = and %p, %q : tensor<4x8xi1>, tensor<8xi1>
  %r = cast %c : tensor<4x8xi1> -> tensor<4x8xf32>
  %s = mul %r, %x : tensor<4x8xf32>, tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// Logic commutes.
// CHECK: @and_turned: equivalent to @src_and;
mirage_kernel.graph @and_turned(%p: tensor<4x8xi1>, %q: tensor<8xi1>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_and} {
  %c = and %q, %p : tensor<8xi1>, tensor<4x8xi1>
  %r = cast %c : tensor<4x8xi1> -> tensor<4x8xf32>
  %s = mul %r, %x : tensor<4x8xf32>, tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// De Morgan: predicates are evaluated.
// CHECK: @and_by_or: equivalent to @src_and;
mirage_kernel.graph @and_by_or(%p: tensor<4x8xi1>, %q: tensor<8xi1>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_and} {
  %a = not %p : tensor<4x8xi1>
  %b = not %q : tensor<8xi1>
  %d = or %a, %b : tensor<4x8xi1>, tensor<8xi1>
  %c = not %d : tensor<4x8xi1>
  %r = cast %c : tensor<4x8xi1> -> tensor<4x8xf32>
  %s = mul %r, %x : tensor<4x8xf32>, tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// Of 0 and 1 the product.
// CHECK: @and_as_product: equivalent to @src_and;
mirage_kernel.graph @and_as_product(%p: tensor<4x8xi1>, %q: tensor<8xi1>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_and} {
  %a = cast %p : tensor<4x8xi1> -> tensor<4x8xf32>
  %b = cast %q : tensor<8xi1> -> tensor<8xf32>
  %r = mul %a, %b : tensor<4x8xf32>, tensor<8xf32>
  %s = mul %r, %x : tensor<4x8xf32>, tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// p and (p and q).
// CHECK: @and_absorbs: equivalent to @src_and;
mirage_kernel.graph @and_absorbs(%p: tensor<4x8xi1>, %q: tensor<8xi1>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_and} {
  %d = and %p, %q : tensor<4x8xi1>, tensor<8xi1>
  %c = and %p, %d : tensor<4x8xi1>, tensor<4x8xi1>
  %r = cast %c : tensor<4x8xi1> -> tensor<4x8xf32>
  %s = mul %r, %x : tensor<4x8xf32>, tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// Or is another.
// CHECK: @and_for_or: different
mirage_kernel.graph @and_for_or(%p: tensor<4x8xi1>, %q: tensor<8xi1>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_and} {
  %c = or %p, %q : tensor<4x8xi1>, tensor<8xi1>
  %r = cast %c : tensor<4x8xi1> -> tensor<4x8xf32>
  %s = mul %r, %x : tensor<4x8xf32>, tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// One of the two.
// CHECK: @and_one_left_out: different
mirage_kernel.graph @and_one_left_out(%p: tensor<4x8xi1>, %q: tensor<8xi1>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_and} {
  %c = and %p, %p : tensor<4x8xi1>, tensor<4x8xi1>
  %r = cast %c : tensor<4x8xi1> -> tensor<4x8xf32>
  %s = mul %r, %x : tensor<4x8xf32>, tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// A not too few.
// CHECK: @and_half_of_de_morgan: different
mirage_kernel.graph @and_half_of_de_morgan(%p: tensor<4x8xi1>, %q: tensor<8xi1>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_and} {
  %a = not %p : tensor<4x8xi1>
  %d = or %a, %q : tensor<4x8xi1>, tensor<8xi1>
  %c = not %d : tensor<4x8xi1>
  %r = cast %c : tensor<4x8xi1> -> tensor<4x8xf32>
  %s = mul %r, %x : tensor<4x8xf32>, tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// The sum is not.
// CHECK: @and_as_sum: different
mirage_kernel.graph @and_as_sum(%p: tensor<4x8xi1>, %q: tensor<8xi1>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_and} {
  %a = cast %p : tensor<4x8xi1> -> tensor<4x8xf32>
  %b = cast %q : tensor<8xi1> -> tensor<8xf32>
  %r = add %a, %b : tensor<4x8xf32>, tensor<8xf32>
  %s = mul %r, %x : tensor<4x8xf32>, tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

mirage_kernel.graph @src_choose_in(%p: tensor<4x8xi1>, %q: tensor<8xi1>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = exp %x : tensor<4x8xf32>
  %r = select %p, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// p x + (1 - p) y.
// CHECK: @choose_as_product: equivalent to @src_choose_in;
mirage_kernel.graph @choose_as_product(%p: tensor<4x8xi1>, %q: tensor<8xi1>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_choose_in} {
  %y = exp %x : tensor<4x8xf32>
  %n = not %p : tensor<4x8xi1>
  %a = cast %p : tensor<4x8xi1> -> tensor<4x8xf32>
  %b = cast %n : tensor<4x8xi1> -> tensor<4x8xf32>
  %c = mul %a, %x : tensor<4x8xf32>, tensor<4x8xf32>
  %d = mul %b, %y : tensor<4x8xf32>, tensor<4x8xf32>
  %r = add %c, %d : tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// The wrong way round.
// CHECK: @choose_turned: different
mirage_kernel.graph @choose_turned(%p: tensor<4x8xi1>, %q: tensor<8xi1>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_choose_in} {
  %y = exp %x : tensor<4x8xf32>
  %r = select %p, %y, %x : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// By another predicate.
// CHECK: @choose_by_a_row: different
mirage_kernel.graph @choose_by_a_row(%p: tensor<4x8xi1>, %q: tensor<8xi1>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_choose_in} {
  %y = exp %x : tensor<4x8xf32>
  %r = select %q, %x, %y : tensor<8xi1>, tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

mirage_kernel.graph @src_any(%p: tensor<4x8xi1>, %q: tensor<8xi1>, %x: tensor<4x8xf32>) -> tensor<4x1xi1> {
  %r = reduce_max %p {dim = 1} : tensor<4x8xi1>
  return %r : tensor<4x1xi1>
}

// Whether any holds depends on eight bits at once: no bound says so much.
// CHECK: @any_two_level: unsupported: no useful error bound
mirage_kernel.graph @any_two_level(%p: tensor<4x8xi1>, %q: tensor<8xi1>, %x: tensor<4x8xf32>) -> tensor<4x1xi1> attributes {source = @src_any} {
  %a = reduce_max %p {dim = 1, extent = 2} : tensor<4x8xi1>
  %r = reduce_max %a {dim = 1} : tensor<4x2xi1>
  return %r : tensor<4x1xi1>
}

// Whether all hold.
// CHECK: @any_for_all: different
mirage_kernel.graph @any_for_all(%p: tensor<4x8xi1>, %q: tensor<8xi1>, %x: tensor<4x8xf32>) -> tensor<4x1xi1> attributes {source = @src_any} {
  %n = not %p : tensor<4x8xi1>
  %a = reduce_max %n {dim = 1} : tensor<4x8xi1>
  %r = not %a : tensor<4x1xi1>
  return %r : tensor<4x1xi1>
}

// And what tells seven from eight is rare.
// CHECK: @any_of_seven: unsupported: no useful error bound
mirage_kernel.graph @any_of_seven(%p: tensor<4x8xi1>, %q: tensor<8xi1>, %x: tensor<4x8xf32>) -> tensor<4x1xi1> attributes {source = @src_any} {
  %a = slice %p {dim = 1, begin = 0, end = 7} : tensor<4x8xi1>
  %r = reduce_max %a {dim = 1} : tensor<4x7xi1>
  return %r : tensor<4x1xi1>
}

mirage_kernel.graph @src_triangle(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %i = iota {dim = 0} : tensor<4x1xi32>
  %j = iota {dim = 1} : tensor<1x8xi32>
  %c = less_equal %j, %i : tensor<1x8xi32>, tensor<4x1xi32>
  %z = constant 0.0 : tensor<f32>
  %r = select %c, %x, %z : tensor<4x8xi1>, tensor<4x8xf32>, tensor<f32>
  return %r : tensor<4x8xf32>
}

// i >= j.
// CHECK: @triangle_turned: equivalent to @src_triangle;
mirage_kernel.graph @triangle_turned(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_triangle} {
  %i = iota {dim = 0} : tensor<4x1xi32>
  %j = iota {dim = 1} : tensor<1x8xi32>
  %c = greater_equal %i, %j : tensor<4x1xi32>, tensor<1x8xi32>
  %z = constant 0.0 : tensor<f32>
  %r = select %c, %x, %z : tensor<4x8xi1>, tensor<4x8xf32>, tensor<f32>
  return %r : tensor<4x8xf32>
}

// j <= i is j < i + 1: indices are evaluated.
// CHECK: @triangle_less: equivalent to @src_triangle;
mirage_kernel.graph @triangle_less(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_triangle} {
  %i = iota {dim = 0, start = 1} : tensor<4x1xi32>
  %j = iota {dim = 1} : tensor<1x8xi32>
  %c = less %j, %i : tensor<1x8xi32>, tensor<4x1xi32>
  %z = constant 0.0 : tensor<f32>
  %r = select %c, %x, %z : tensor<4x8xi1>, tensor<4x8xf32>, tensor<f32>
  return %r : tensor<4x8xf32>
}

// A block a row, which knows where it is.
// CHECK: @triangle_blocks: equivalent to @src_triangle;
mirage_kernel.graph @triangle_blocks(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_triangle} {
  %y = custom (%a = %x) outs(%b) grid [4] : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %t = load %a {grid = [0]} : tensor<4x8xf32> -> !mirage_block.tile<1x8xf32>
    %i = iota {dim = 0, grid = [1]} : !mirage_block.tile<1x1xi32>
    %j = iota {dim = 1} : !mirage_block.tile<1x8xi32>
    %c = less_equal %j, %i : !mirage_block.tile<1x8xi32>, !mirage_block.tile<1x1xi32>
    %p = cast %c : !mirage_block.tile<1x8xi1> -> !mirage_block.tile<1x8xf32>
    %m = mul %p, %t : !mirage_block.tile<1x8xf32>, !mirage_block.tile<1x8xf32>
    store %m, %b {grid = [0]} : !mirage_block.tile<1x8xf32>, tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// In tiles of 2 x 4.
// CHECK: @triangle_tiles: equivalent to @src_triangle;
mirage_kernel.graph @triangle_tiles(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_triangle} {
  %y = custom (%a = %x) outs(%b) grid [2, 2] : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %t = load %a {grid = [0, 1]} : tensor<4x8xf32> -> !mirage_block.tile<2x4xf32>
    %i = iota {dim = 0, start = 0, grid = [2, 0]} : !mirage_block.tile<2x1xi32>
    %j = iota {dim = 1, start = 0, grid = [0, 4]} : !mirage_block.tile<1x4xi32>
    %c = less_equal %j, %i : !mirage_block.tile<1x4xi32>, !mirage_block.tile<2x1xi32>
    %p = cast %c : !mirage_block.tile<2x4xi1> -> !mirage_block.tile<2x4xf32>
    %m = mul %p, %t : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
    store %m, %b {grid = [0, 1]} : !mirage_block.tile<2x4xf32>, tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// Both moved by 3.
// CHECK: @triangle_moved: equivalent to @src_triangle;
mirage_kernel.graph @triangle_moved(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_triangle} {
  %y = custom (%a = %x) outs(%b) grid [2, 2] : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %t = load %a {grid = [0, 1]} : tensor<4x8xf32> -> !mirage_block.tile<2x4xf32>
    %i = iota {dim = 0, start = 3, grid = [2, 0]} : !mirage_block.tile<2x1xi32>
    %j = iota {dim = 1, start = 3, grid = [0, 4]} : !mirage_block.tile<1x4xi32>
    %c = less_equal %j, %i : !mirage_block.tile<1x4xi32>, !mirage_block.tile<2x1xi32>
    %p = cast %c : !mirage_block.tile<2x4xi1> -> !mirage_block.tile<2x4xf32>
    %m = mul %p, %t : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
    store %m, %b {grid = [0, 1]} : !mirage_block.tile<2x4xf32>, tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// Without the diagonal.
// CHECK: @triangle_strict: different
mirage_kernel.graph @triangle_strict(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_triangle} {
  %i = iota {dim = 0} : tensor<4x1xi32>
  %j = iota {dim = 1} : tensor<1x8xi32>
  %c = less %j, %i : tensor<1x8xi32>, tensor<4x1xi32>
  %z = constant 0.0 : tensor<f32>
  %r = select %c, %x, %z : tensor<4x8xi1>, tensor<4x8xf32>, tensor<f32>
  return %r : tensor<4x8xf32>
}

// The other triangle.
// CHECK: @triangle_upper: different
mirage_kernel.graph @triangle_upper(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_triangle} {
  %i = iota {dim = 0} : tensor<4x1xi32>
  %j = iota {dim = 1} : tensor<1x8xi32>
  %c = greater_equal %j, %i : tensor<1x8xi32>, tensor<4x1xi32>
  %z = constant 0.0 : tensor<f32>
  %r = select %c, %x, %z : tensor<4x8xi1>, tensor<4x8xf32>, tensor<f32>
  return %r : tensor<4x8xf32>
}

// One more diagonal.
// CHECK: @triangle_by_one: different
mirage_kernel.graph @triangle_by_one(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_triangle} {
  %i = iota {dim = 0, start = 1} : tensor<4x1xi32>
  %j = iota {dim = 1} : tensor<1x8xi32>
  %c = less_equal %j, %i : tensor<1x8xi32>, tensor<4x1xi32>
  %z = constant 0.0 : tensor<f32>
  %r = select %c, %x, %z : tensor<4x8xi1>, tensor<4x8xf32>, tensor<f32>
  return %r : tensor<4x8xf32>
}

// One fewer.
// CHECK: @triangle_by_minus_one: different
mirage_kernel.graph @triangle_by_minus_one(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_triangle} {
  %i = iota {dim = 0, start = -1} : tensor<4x1xi32>
  %j = iota {dim = 1} : tensor<1x8xi32>
  %c = less_equal %j, %i : tensor<1x8xi32>, tensor<4x1xi32>
  %z = constant 0.0 : tensor<f32>
  %r = select %c, %x, %z : tensor<4x8xi1>, tensor<4x8xf32>, tensor<f32>
  return %r : tensor<4x8xf32>
}

// No mask at all.
// CHECK: @triangle_whole: different
mirage_kernel.graph @triangle_whole(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_triangle} {
  %z = add %x, %x : tensor<4x8xf32>, tensor<4x8xf32>
  %r = sub %z, %x : tensor<4x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// Bottom for 0.
// CHECK: @triangle_bottom: different
mirage_kernel.graph @triangle_bottom(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_triangle} {
  %i = iota {dim = 0} : tensor<4x1xi32>
  %j = iota {dim = 1} : tensor<1x8xi32>
  %c = less_equal %j, %i : tensor<1x8xi32>, tensor<4x1xi32>
  %r = mask %c, %x : tensor<4x8xi1>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// Another filling.
// CHECK: @triangle_ones: different
mirage_kernel.graph @triangle_ones(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_triangle} {
  %i = iota {dim = 0} : tensor<4x1xi32>
  %j = iota {dim = 1} : tensor<1x8xi32>
  %c = less_equal %j, %i : tensor<1x8xi32>, tensor<4x1xi32>
  %z = constant 1.0 : tensor<f32>
  %r = select %c, %x, %z : tensor<4x8xi1>, tensor<4x8xf32>, tensor<f32>
  return %r : tensor<4x8xf32>
}

// Tiles that do not know their row.
// CHECK: @tiles_without_row_step: different
mirage_kernel.graph @tiles_without_row_step(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_triangle} {
  %y = custom (%a = %x) outs(%b) grid [2, 2] : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %t = load %a {grid = [0, 1]} : tensor<4x8xf32> -> !mirage_block.tile<2x4xf32>
    %i = iota {dim = 0, start = 0, grid = [0, 0]} : !mirage_block.tile<2x1xi32>
    %j = iota {dim = 1, start = 0, grid = [0, 4]} : !mirage_block.tile<1x4xi32>
    %c = less_equal %j, %i : !mirage_block.tile<1x4xi32>, !mirage_block.tile<2x1xi32>
    %p = cast %c : !mirage_block.tile<2x4xi1> -> !mirage_block.tile<2x4xf32>
    %m = mul %p, %t : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
    store %m, %b {grid = [0, 1]} : !mirage_block.tile<2x4xf32>, tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// Nor their column.
// CHECK: @tiles_without_column_step: different
mirage_kernel.graph @tiles_without_column_step(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_triangle} {
  %y = custom (%a = %x) outs(%b) grid [2, 2] : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %t = load %a {grid = [0, 1]} : tensor<4x8xf32> -> !mirage_block.tile<2x4xf32>
    %i = iota {dim = 0, start = 0, grid = [2, 0]} : !mirage_block.tile<2x1xi32>
    %j = iota {dim = 1, start = 0, grid = [0, 0]} : !mirage_block.tile<1x4xi32>
    %c = less_equal %j, %i : !mirage_block.tile<1x4xi32>, !mirage_block.tile<2x1xi32>
    %p = cast %c : !mirage_block.tile<2x4xi1> -> !mirage_block.tile<2x4xf32>
    %m = mul %p, %t : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
    store %m, %b {grid = [0, 1]} : !mirage_block.tile<2x4xf32>, tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// Steps along the wrong axes.
// CHECK: @tiles_axes_exchanged: different
mirage_kernel.graph @tiles_axes_exchanged(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_triangle} {
  %y = custom (%a = %x) outs(%b) grid [2, 2] : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %t = load %a {grid = [0, 1]} : tensor<4x8xf32> -> !mirage_block.tile<2x4xf32>
    %i = iota {dim = 0, start = 0, grid = [0, 2]} : !mirage_block.tile<2x1xi32>
    %j = iota {dim = 1, start = 0, grid = [4, 0]} : !mirage_block.tile<1x4xi32>
    %c = less_equal %j, %i : !mirage_block.tile<1x4xi32>, !mirage_block.tile<2x1xi32>
    %p = cast %c : !mirage_block.tile<2x4xi1> -> !mirage_block.tile<2x4xf32>
    %m = mul %p, %t : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
    store %m, %b {grid = [0, 1]} : !mirage_block.tile<2x4xf32>, tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// Half a tile a step.
// CHECK: @tiles_step_too_small: different
mirage_kernel.graph @tiles_step_too_small(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_triangle} {
  %y = custom (%a = %x) outs(%b) grid [2, 2] : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %t = load %a {grid = [0, 1]} : tensor<4x8xf32> -> !mirage_block.tile<2x4xf32>
    %i = iota {dim = 0, start = 0, grid = [1, 0]} : !mirage_block.tile<2x1xi32>
    %j = iota {dim = 1, start = 0, grid = [0, 4]} : !mirage_block.tile<1x4xi32>
    %c = less_equal %j, %i : !mirage_block.tile<1x4xi32>, !mirage_block.tile<2x1xi32>
    %p = cast %c : !mirage_block.tile<2x4xi1> -> !mirage_block.tile<2x4xf32>
    %m = mul %p, %t : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
    store %m, %b {grid = [0, 1]} : !mirage_block.tile<2x4xf32>, tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// One too far.
// CHECK: @tiles_start_by_one: different
mirage_kernel.graph @tiles_start_by_one(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_triangle} {
  %y = custom (%a = %x) outs(%b) grid [2, 2] : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %t = load %a {grid = [0, 1]} : tensor<4x8xf32> -> !mirage_block.tile<2x4xf32>
    %i = iota {dim = 0, start = 1, grid = [2, 0]} : !mirage_block.tile<2x1xi32>
    %j = iota {dim = 1, start = 0, grid = [0, 4]} : !mirage_block.tile<1x4xi32>
    %c = less_equal %j, %i : !mirage_block.tile<1x4xi32>, !mirage_block.tile<2x1xi32>
    %p = cast %c : !mirage_block.tile<2x4xi1> -> !mirage_block.tile<2x4xf32>
    %m = mul %p, %t : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
    store %m, %b {grid = [0, 1]} : !mirage_block.tile<2x4xf32>, tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// Without the diagonal.
// CHECK: @tiles_strict: different
mirage_kernel.graph @tiles_strict(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_triangle} {
  %y = custom (%a = %x) outs(%b) grid [2, 2] : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %t = load %a {grid = [0, 1]} : tensor<4x8xf32> -> !mirage_block.tile<2x4xf32>
    %i = iota {dim = 0, start = 0, grid = [2, 0]} : !mirage_block.tile<2x1xi32>
    %j = iota {dim = 1, start = 0, grid = [0, 4]} : !mirage_block.tile<1x4xi32>
    %c = less %j, %i : !mirage_block.tile<1x4xi32>, !mirage_block.tile<2x1xi32>
    %p = cast %c : !mirage_block.tile<2x4xi1> -> !mirage_block.tile<2x4xf32>
    %m = mul %p, %t : !mirage_block.tile<2x4xf32>, !mirage_block.tile<2x4xf32>
    store %m, %b {grid = [0, 1]} : !mirage_block.tile<2x4xf32>, tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

mirage_kernel.graph @src_positions(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %i = iota {dim = 1} : tensor<1x8xi32>
  %n = cast %i : tensor<1x8xi32> -> tensor<1x8xf32>
  %r = mul %x, %n : tensor<4x8xf32>, tensor<1x8xf32>
  return %r : tensor<4x8xf32>
}

// i = (i + 5) - 5.
// CHECK: @positions_moved: equivalent to @src_positions;
mirage_kernel.graph @positions_moved(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_positions} {
  %i = iota {dim = 1, start = 5} : tensor<1x8xi32>
  %n = cast %i : tensor<1x8xi32> -> tensor<1x8xf32>
  %five = constant 5.0 : tensor<f32>
  %m = sub %n, %five : tensor<1x8xf32>, tensor<f32>
  %r = mul %m, %x : tensor<1x8xf32>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// From 1.
// CHECK: @positions_from_one: different
mirage_kernel.graph @positions_from_one(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_positions} {
  %i = iota {dim = 1, start = 1} : tensor<1x8xi32>
  %n = cast %i : tensor<1x8xi32> -> tensor<1x8xf32>
  %r = mul %x, %n : tensor<4x8xf32>, tensor<1x8xf32>
  return %r : tensor<4x8xf32>
}

// Of rows.
// CHECK: @positions_of_rows: different
mirage_kernel.graph @positions_of_rows(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {source = @src_positions} {
  %i = iota {dim = 0} : tensor<4x1xi32>
  %n = cast %i : tensor<4x1xi32> -> tensor<4x1xf32>
  %r = mul %x, %n : tensor<4x8xf32>, tensor<4x1xf32>
  return %r : tensor<4x8xf32>
}
