// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// Field identities of element-wise operators, with broadcasting.

mirage_kernel.graph @src_diff(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<6xf16>) -> tensor<4x6xf16> {
  %s = sub %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %y = mul %s, %c : tensor<4x6xf16>, tensor<6xf16>
  return %y : tensor<4x6xf16>
}

// (a - b) c = a c - b c.
// CHECK: @tgt_diff_distribute: equivalent to @src_diff;
mirage_kernel.graph @tgt_diff_distribute(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<6xf16>) -> tensor<4x6xf16> attributes {source = @src_diff} {
  %p = mul %a, %c : tensor<4x6xf16>, tensor<6xf16>
  %q = mul %b, %c : tensor<4x6xf16>, tensor<6xf16>
  %y = sub %p, %q : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// (b - a) (-c).
// CHECK: @tgt_diff_negated: equivalent to @src_diff;
mirage_kernel.graph @tgt_diff_negated(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<6xf16>) -> tensor<4x6xf16> attributes {source = @src_diff} {
  %s = sub %b, %a : tensor<4x6xf16>, tensor<4x6xf16>
  %n = neg %c : tensor<6xf16>
  %y = mul %s, %n : tensor<4x6xf16>, tensor<6xf16>
  return %y : tensor<4x6xf16>
}

// In a block, on columns.
// CHECK: @tgt_diff_block: equivalent to @src_diff;
mirage_kernel.graph @tgt_diff_block(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<6xf16>) -> tensor<4x6xf16> attributes {source = @src_diff} {
  %y = custom (%ak = %a, %bk = %b, %ck = %c) outs(%yk) grid [3] : (tensor<4x6xf16>, tensor<4x6xf16>, tensor<6xf16>) -> tensor<4x6xf16> {
    %at = load %ak {grid = [1]} : tensor<4x6xf16> -> !mirage_block.tile<4x2xf16>
    %bt = load %bk {grid = [1]} : tensor<4x6xf16> -> !mirage_block.tile<4x2xf16>
    %ct = load %ck {grid = [0]} : tensor<6xf16> -> !mirage_block.tile<2xf16>
    %s = sub %at, %bt : !mirage_block.tile<4x2xf16>, !mirage_block.tile<4x2xf16>
    %p = mul %s, %ct : !mirage_block.tile<4x2xf32>, !mirage_block.tile<2xf16>
    store %p, %yk {grid = [1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// Operands of sub change places.
// CHECK: @tgt_diff_swapped: different at output
mirage_kernel.graph @tgt_diff_swapped(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<6xf16>) -> tensor<4x6xf16> attributes {source = @src_diff} {
  %s = sub %b, %a : tensor<4x6xf16>, tensor<4x6xf16>
  %y = mul %s, %c : tensor<4x6xf16>, tensor<6xf16>
  return %y : tensor<4x6xf16>
}

// a - b c.
// CHECK: @tgt_diff_precedence: different at output
mirage_kernel.graph @tgt_diff_precedence(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<6xf16>) -> tensor<4x6xf16> attributes {source = @src_diff} {
  %p = mul %b, %c : tensor<4x6xf16>, tensor<6xf16>
  %y = sub %a, %p : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// a + b.
// CHECK: @tgt_diff_plus: different at output
mirage_kernel.graph @tgt_diff_plus(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<6xf16>) -> tensor<4x6xf16> attributes {source = @src_diff} {
  %s = add %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %y = mul %s, %c : tensor<4x6xf16>, tensor<6xf16>
  return %y : tensor<4x6xf16>
}

// Only one term is scaled.
// CHECK: @tgt_diff_unscaled: different at output
mirage_kernel.graph @tgt_diff_unscaled(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<6xf16>) -> tensor<4x6xf16> attributes {source = @src_diff} {
  %p = mul %a, %c : tensor<4x6xf16>, tensor<6xf16>
  %y = sub %p, %b : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// The gain is not split with the columns: the first part for everybody.
// CHECK: @tgt_diff_block_imap: different at output
mirage_kernel.graph @tgt_diff_block_imap(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<6xf16>) -> tensor<4x6xf16> attributes {source = @src_diff} {
  %y = custom (%ak = %a, %bk = %b, %ck = %c) outs(%yk) grid [3] : (tensor<4x6xf16>, tensor<4x6xf16>, tensor<6xf16>) -> tensor<4x6xf16> {
    %at = load %ak {grid = [1]} : tensor<4x6xf16> -> !mirage_block.tile<4x2xf16>
    %bt = load %bk {grid = [1]} : tensor<4x6xf16> -> !mirage_block.tile<4x2xf16>
    %cf = load %ck : tensor<6xf16> -> !mirage_block.tile<6xf16>
    %ct = slice %cf {dim = 0, begin = 0, end = 2} : !mirage_block.tile<6xf16>
    %s = sub %at, %bt : !mirage_block.tile<4x2xf16>, !mirage_block.tile<4x2xf16>
    %p = mul %s, %ct : !mirage_block.tile<4x2xf32>, !mirage_block.tile<2xf16>
    store %p, %yk {grid = [1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

mirage_kernel.graph @src_quotient(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %q = div %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %y = div %q, %c : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// a / (b c).
// CHECK: @tgt_quotient_product: equivalent to @src_quotient;
mirage_kernel.graph @tgt_quotient_product(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_quotient} {
  %p = mul %b, %c : tensor<4x6xf16>, tensor<4x6xf16>
  %y = div %a, %p : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// (a / c) / b.
// CHECK: @tgt_quotient_other_order: equivalent to @src_quotient;
mirage_kernel.graph @tgt_quotient_other_order(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_quotient} {
  %q = div %a, %c : tensor<4x6xf16>, tensor<4x6xf16>
  %y = div %q, %b : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// (a c) / (b c c).
// CHECK: @tgt_quotient_cancelled: equivalent to @src_quotient;
mirage_kernel.graph @tgt_quotient_cancelled(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_quotient} {
  %n = mul %a, %c : tensor<4x6xf16>, tensor<4x6xf16>
  %d = mul %b, %c : tensor<4x6xf16>, tensor<4x6xf16>
  %e = mul %d, %c : tensor<4x6xf16>, tensor<4x6xf16>
  %y = div %n, %e : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// Operands of div change places.
// CHECK: @tgt_quotient_swapped: different at output
mirage_kernel.graph @tgt_quotient_swapped(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_quotient} {
  %q = div %b, %a : tensor<4x6xf16>, tensor<4x6xf16>
  %y = div %q, %c : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// a / (b / c).
// CHECK: @tgt_quotient_nested: different at output
mirage_kernel.graph @tgt_quotient_nested(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_quotient} {
  %q = div %b, %c : tensor<4x6xf16>, tensor<4x6xf16>
  %y = div %a, %q : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// (a / b) c.
// CHECK: @tgt_quotient_inverted: different at output
mirage_kernel.graph @tgt_quotient_inverted(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_quotient} {
  %q = div %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %y = mul %q, %c : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// The second divisor is forgotten.
// CHECK: @tgt_quotient_dropped: different at output
mirage_kernel.graph @tgt_quotient_dropped(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_quotient} {
  %y = div %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

mirage_kernel.graph @src_fraction(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %s = add %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %y = div %s, %c : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// a / c + b / c.
// CHECK: @tgt_fraction_split: equivalent to @src_fraction;
mirage_kernel.graph @tgt_fraction_split(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_fraction} {
  %p = div %a, %c : tensor<4x6xf16>, tensor<4x6xf16>
  %q = div %b, %c : tensor<4x6xf16>, tensor<4x6xf16>
  %y = add %p, %q : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// (a + b) (1 / c).
// CHECK: @tgt_fraction_reciprocal: equivalent to @src_fraction;
mirage_kernel.graph @tgt_fraction_reciprocal(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_fraction} {
  %one = constant 1.0 : tensor<f16>
  %r = div %one, %c : tensor<f16>, tensor<4x6xf16>
  %s = add %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %y = mul %s, %r : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// a / c + b.
// CHECK: @tgt_fraction_partial: different at output
mirage_kernel.graph @tgt_fraction_partial(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_fraction} {
  %p = div %a, %c : tensor<4x6xf16>, tensor<4x6xf16>
  %y = add %p, %b : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// c / (a + b).
// CHECK: @tgt_fraction_denominator: different at output
mirage_kernel.graph @tgt_fraction_denominator(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_fraction} {
  %s = add %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %y = div %c, %s : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// a / c + b / c with a sum of denominators.
// CHECK: @tgt_fraction_freshman: different at output
mirage_kernel.graph @tgt_fraction_freshman(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>, %c: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_fraction} {
  %d = add %c, %c : tensor<4x6xf16>, tensor<4x6xf16>
  %s = add %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %y = div %s, %d : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

mirage_kernel.graph @src_square(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %s = add %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %y = square %s : tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// a^2 + 2 a b + b^2.
// CHECK: @tgt_square_binomial: equivalent to @src_square;
mirage_kernel.graph @tgt_square_binomial(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_square} {
  %two = constant 2.0 : tensor<f16>
  %p = square %a : tensor<4x6xf16>
  %q = square %b : tensor<4x6xf16>
  %m = mul %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %n = mul %m, %two : tensor<4x6xf16>, tensor<f16>
  %r = add %p, %q : tensor<4x6xf16>, tensor<4x6xf16>
  %y = add %r, %n : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// In registers.
// CHECK: @tgt_square_thread: equivalent to @src_square;
mirage_kernel.graph @tgt_square_thread(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_square} {
  %y = custom (%ak = %a, %bk = %b) outs(%yk) grid [2] : (tensor<4x6xf16>, tensor<4x6xf16>) -> tensor<4x6xf16> {
    %at = load %ak {grid = [1]} : tensor<4x6xf16> -> !mirage_block.tile<4x3xf16>
    %bt = load %bk {grid = [1]} : tensor<4x6xf16> -> !mirage_block.tile<4x3xf16>
    %r = thread (%p = %at, %q = %bt) : !mirage_block.tile<4x3xf16>, !mirage_block.tile<4x3xf16> {
      %s = add %p, %q : !mirage_thread.fragment<4x3xf16>, !mirage_thread.fragment<4x3xf16>
      %t = mul %s, %s : !mirage_thread.fragment<4x3xf32>, !mirage_thread.fragment<4x3xf32>
      yield %t : !mirage_thread.fragment<4x3xf32>
    }
    store %r, %yk {grid = [1]} : !mirage_block.tile<4x3xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// a^2 + b^2.
// CHECK: @tgt_square_freshman: different at output
mirage_kernel.graph @tgt_square_freshman(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_square} {
  %p = square %a : tensor<4x6xf16>
  %q = square %b : tensor<4x6xf16>
  %y = add %p, %q : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// a^2 + a b + b^2.
// CHECK: @tgt_square_factor: different at output
mirage_kernel.graph @tgt_square_factor(%a: tensor<4x6xf16>, %b: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_square} {
  %p = square %a : tensor<4x6xf16>
  %q = square %b : tensor<4x6xf16>
  %m = mul %a, %b : tensor<4x6xf16>, tensor<4x6xf16>
  %r = add %p, %q : tensor<4x6xf16>, tensor<4x6xf16>
  %y = add %r, %m : tensor<4x6xf16>, tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

mirage_kernel.graph @src_scale(%a: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %c = constant 0.125 : tensor<f16>
  %y = mul %a, %c : tensor<4x6xf16>, tensor<f16>
  return %y : tensor<4x6xf16>
}

// Division by 8.
// CHECK: @tgt_scale_divided: equivalent to @src_scale;
mirage_kernel.graph @tgt_scale_divided(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_scale} {
  %c = constant 8.0 : tensor<f16>
  %y = div %a, %c : tensor<4x6xf16>, tensor<f16>
  return %y : tensor<4x6xf16>
}

// 0.5 times 0.25.
// CHECK: @tgt_scale_twice: equivalent to @src_scale;
mirage_kernel.graph @tgt_scale_twice(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_scale} {
  %h = constant 0.5 : tensor<f16>
  %q = constant 0.25 : tensor<f16>
  %p = mul %a, %h : tensor<4x6xf16>, tensor<f16>
  %y = mul %p, %q : tensor<4x6xf16>, tensor<f16>
  return %y : tensor<4x6xf16>
}

// A constant that is nearly the same.
// CHECK: @tgt_scale_digits: different at output
mirage_kernel.graph @tgt_scale_digits(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_scale} {
  %c = constant 0.1251220703125 : tensor<f16>
  %y = mul %a, %c : tensor<4x6xf16>, tensor<f16>
  return %y : tensor<4x6xf16>
}

// Times 8.
// CHECK: @tgt_scale_inverse: different at output
mirage_kernel.graph @tgt_scale_inverse(%a: tensor<4x6xf16>) -> tensor<4x6xf16> attributes {source = @src_scale} {
  %c = constant 8.0 : tensor<f16>
  %y = mul %a, %c : tensor<4x6xf16>, tensor<f16>
  return %y : tensor<4x6xf16>
}
