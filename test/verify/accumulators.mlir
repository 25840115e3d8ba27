// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// What a loop carries: sum, max, concat, assign, rescale.

// Horner: ((a 2) + b) 2 + c.
mirage_kernel.graph @src_horner(%x: tensor<3x4xf16>) -> tensor<1x4xf16> {
  %a = slice %x {dim = 0, begin = 0, end = 1} : tensor<3x4xf16>
  %b = slice %x {dim = 0, begin = 1, end = 2} : tensor<3x4xf16>
  %c = slice %x {dim = 0, begin = 2, end = 3} : tensor<3x4xf16>
  %two = constant 2.0 : tensor<f16>
  %four = constant 4.0 : tensor<f16>
  %p = mul %a, %four : tensor<1x4xf16>, tensor<f16>
  %q = mul %b, %two : tensor<1x4xf16>, tensor<f16>
  %s = add %p, %q : tensor<1x4xf16>, tensor<1x4xf16>
  %y = add %s, %c : tensor<1x4xf16>, tensor<1x4xf16>
  return %y : tensor<1x4xf16>
}

// The accumulator is doubled before each row is added.
// CHECK: @tgt_horner_rescale: equivalent to @src_horner;
mirage_kernel.graph @tgt_horner_rescale(%x: tensor<3x4xf16>) -> tensor<1x4xf16> attributes {source = @src_horner} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<3x4xf16>) -> tensor<1x4xf16> {
    %zero = constant 0.0 : !mirage_block.tile<1x4xf32>
    %two = constant 2.0 : !mirage_block.tile<1x1xf32>
    %s = loop 3 (%a = %zero rescale) : !mirage_block.tile<1x4xf32> {
      %xt = load %xk {loop = [0]} : tensor<3x4xf16> -> !mirage_block.tile<1x4xf16>
      yield %xt rescale %two : !mirage_block.tile<1x4xf16>, !mirage_block.tile<1x1xf32>
    }
    store %s, %yk : !mirage_block.tile<1x4xf32>, tensor<1x4xf16>
  }
  return %y : tensor<1x4xf16>
}

// By hand.
// CHECK: @tgt_horner_assign: equivalent to @src_horner;
mirage_kernel.graph @tgt_horner_assign(%x: tensor<3x4xf16>) -> tensor<1x4xf16> attributes {source = @src_horner} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<3x4xf16>) -> tensor<1x4xf16> {
    %zero = constant 0.0 : !mirage_block.tile<1x4xf32>
    %two = constant 2.0 : !mirage_block.tile<1x1xf32>
    %s = loop 3 (%a = %zero assign) : !mirage_block.tile<1x4xf32> {
      %xt = load %xk {loop = [0]} : tensor<3x4xf16> -> !mirage_block.tile<1x4xf16>
      %d = mul %a, %two : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
      %e = add %d, %xt : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x4xf16>
      yield %e : !mirage_block.tile<1x4xf32>
    }
    store %s, %yk : !mirage_block.tile<1x4xf32>, tensor<1x4xf16>
  }
  return %y : tensor<1x4xf16>
}

// Not rescaled.
// CHECK: @tgt_horner_sum: different at output
mirage_kernel.graph @tgt_horner_sum(%x: tensor<3x4xf16>) -> tensor<1x4xf16> attributes {source = @src_horner} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<3x4xf16>) -> tensor<1x4xf16> {
    %zero = constant 0.0 : !mirage_block.tile<1x4xf32>
    %s = loop 3 (%a = %zero sum) : !mirage_block.tile<1x4xf32> {
      %xt = load %xk {loop = [0]} : tensor<3x4xf16> -> !mirage_block.tile<1x4xf16>
      yield %xt : !mirage_block.tile<1x4xf16>
    }
    store %s, %yk : !mirage_block.tile<1x4xf32>, tensor<1x4xf16>
  }
  return %y : tensor<1x4xf16>
}

// Rescaled by a half.
// CHECK: @tgt_horner_factor: different at output
mirage_kernel.graph @tgt_horner_factor(%x: tensor<3x4xf16>) -> tensor<1x4xf16> attributes {source = @src_horner} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<3x4xf16>) -> tensor<1x4xf16> {
    %zero = constant 0.0 : !mirage_block.tile<1x4xf32>
    %two = constant 0.5 : !mirage_block.tile<1x1xf32>
    %s = loop 3 (%a = %zero rescale) : !mirage_block.tile<1x4xf32> {
      %xt = load %xk {loop = [0]} : tensor<3x4xf16> -> !mirage_block.tile<1x4xf16>
      yield %xt rescale %two : !mirage_block.tile<1x4xf16>, !mirage_block.tile<1x1xf32>
    }
    store %s, %yk : !mirage_block.tile<1x4xf32>, tensor<1x4xf16>
  }
  return %y : tensor<1x4xf16>
}

// The contribution is rescaled as well.
// CHECK: @tgt_horner_contribution: different at output
mirage_kernel.graph @tgt_horner_contribution(%x: tensor<3x4xf16>) -> tensor<1x4xf16> attributes {source = @src_horner} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<3x4xf16>) -> tensor<1x4xf16> {
    %zero = constant 0.0 : !mirage_block.tile<1x4xf32>
    %two = constant 2.0 : !mirage_block.tile<1x1xf32>
    %s = loop 3 (%a = %zero rescale) : !mirage_block.tile<1x4xf32> {
      %xt = load %xk {loop = [0]} : tensor<3x4xf16> -> !mirage_block.tile<1x4xf16>
      %d = mul %xt, %two : !mirage_block.tile<1x4xf16>, !mirage_block.tile<1x1xf32>
      yield %d rescale %two : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
    }
    store %s, %yk : !mirage_block.tile<1x4xf32>, tensor<1x4xf16>
  }
  return %y : tensor<1x4xf16>
}

// Doubled once more at the end.
// CHECK: @tgt_horner_after: different at output
mirage_kernel.graph @tgt_horner_after(%x: tensor<3x4xf16>) -> tensor<1x4xf16> attributes {source = @src_horner} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<3x4xf16>) -> tensor<1x4xf16> {
    %zero = constant 0.0 : !mirage_block.tile<1x4xf32>
    %two = constant 2.0 : !mirage_block.tile<1x1xf32>
    %s = loop 3 (%a = %zero assign) : !mirage_block.tile<1x4xf32> {
      %xt = load %xk {loop = [0]} : tensor<3x4xf16> -> !mirage_block.tile<1x4xf16>
      %d = add %a, %xt : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x4xf16>
      %e = mul %d, %two : !mirage_block.tile<1x4xf32>, !mirage_block.tile<1x1xf32>
      yield %e : !mirage_block.tile<1x4xf32>
    }
    store %s, %yk : !mirage_block.tile<1x4xf32>, tensor<1x4xf16>
  }
  return %y : tensor<1x4xf16>
}

mirage_kernel.graph @src_map(%x: tensor<4x4xf16>) -> tensor<4x4xf16> {
  %y = exp %x : tensor<4x4xf16>
  return %y : tensor<4x4xf16>
}

// Tiles are laid side by side.
// CHECK: @tgt_map_concat: equivalent to @src_map;
mirage_kernel.graph @tgt_map_concat(%x: tensor<4x4xf16>) -> tensor<4x4xf16> attributes {source = @src_map} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x4xf16>) -> tensor<4x4xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x4xf32>
    %s = loop 2 (%a = %zero concat(1)) : !mirage_block.tile<4x4xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x4xf16> -> !mirage_block.tile<4x2xf16>
      %e = exp %xt : !mirage_block.tile<4x2xf16>
      yield %e : !mirage_block.tile<4x2xf32>
    }
    store %s, %yk : !mirage_block.tile<4x4xf32>, tensor<4x4xf16>
  }
  return %y : tensor<4x4xf16>
}

// Each iteration stores its own.
// CHECK: @tgt_map_store: equivalent to @src_map;
mirage_kernel.graph @tgt_map_store(%x: tensor<4x4xf16>) -> tensor<4x4xf16> attributes {source = @src_map} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x4xf16>) -> tensor<4x4xf16> {
    loop 2 {
      %xt = load %xk {loop = [1]} : tensor<4x4xf16> -> !mirage_block.tile<4x2xf16>
      %e = exp %xt : !mirage_block.tile<4x2xf16>
      store %e, %yk {loop = [1]} : !mirage_block.tile<4x2xf32>, tensor<4x4xf16>
    }
  }
  return %y : tensor<4x4xf16>
}

// They are laid one below the other.
// CHECK: @tgt_map_dim: different at output
mirage_kernel.graph @tgt_map_dim(%x: tensor<4x4xf16>) -> tensor<4x4xf16> attributes {source = @src_map} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x4xf16>) -> tensor<4x4xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x4xf32>
    %s = loop 2 (%a = %zero concat(0)) : !mirage_block.tile<4x4xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x4xf16> -> !mirage_block.tile<4x2xf16>
      %e = exp %xt : !mirage_block.tile<4x2xf16>
      %t = transpose %e {perm = [1, 0]} : !mirage_block.tile<4x2xf32>
      yield %t : !mirage_block.tile<2x4xf32>
    }
    store %s, %yk : !mirage_block.tile<4x4xf32>, tensor<4x4xf16>
  }
  return %y : tensor<4x4xf16>
}

// The loop walks rows, the concat columns.
// CHECK: @tgt_map_other_axis: different at output
mirage_kernel.graph @tgt_map_other_axis(%x: tensor<4x4xf16>) -> tensor<4x4xf16> attributes {source = @src_map} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x4xf16>) -> tensor<4x4xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x4xf32>
    %s = loop 2 (%a = %zero concat(1)) : !mirage_block.tile<4x4xf32> {
      %xt = load %xk {loop = [0]} : tensor<4x4xf16> -> !mirage_block.tile<2x4xf16>
      %e = exp %xt : !mirage_block.tile<2x4xf16>
      %t = reshape %e : !mirage_block.tile<2x4xf32> -> !mirage_block.tile<4x2xf32>
      yield %t : !mirage_block.tile<4x2xf32>
    }
    store %s, %yk : !mirage_block.tile<4x4xf32>, tensor<4x4xf16>
  }
  return %y : tensor<4x4xf16>
}

// The store follows the other axis than the load.
// CHECK: @tgt_map_omap: different at output
mirage_kernel.graph @tgt_map_omap(%x: tensor<4x4xf16>) -> tensor<4x4xf16> attributes {source = @src_map} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x4xf16>) -> tensor<4x4xf16> {
    loop 2 {
      %xt = load %xk {loop = [1]} : tensor<4x4xf16> -> !mirage_block.tile<4x2xf16>
      %e = exp %xt : !mirage_block.tile<4x2xf16>
      %t = reshape %e : !mirage_block.tile<4x2xf32> -> !mirage_block.tile<2x4xf32>
      store %t, %yk {loop = [0]} : !mirage_block.tile<2x4xf32>, tensor<4x4xf16>
    }
  }
  return %y : tensor<4x4xf16>
}

mirage_kernel.graph @src_cube(%x: tensor<4x8xf16>) -> tensor<4x1xf16> {
  %s = reduce_sum %x {dim = 1} : tensor<4x8xf16>
  %q = square %s : tensor<4x1xf16>
  %y = mul %q, %s : tensor<4x1xf16>, tensor<4x1xf16>
  return %y : tensor<4x1xf16>
}

// The sum first, then the non-linear part.
// CHECK: @tgt_cube_after: equivalent to @src_cube;
mirage_kernel.graph @tgt_cube_after(%x: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_cube} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x8xf16>) -> tensor<4x1xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %s = loop 4 (%a = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x2xf16>
      %t = reduce_sum %xt {dim = 1} : !mirage_block.tile<4x2xf16>
      yield %t : !mirage_block.tile<4x1xf32>
    }
    %q = mul %s, %s : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    %r = mul %q, %s : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    store %r, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf16>
  }
  return %y : tensor<4x1xf16>
}

// Cubes of partial sums are accumulated.
// CHECK: @tgt_cube_inside: different at output
mirage_kernel.graph @tgt_cube_inside(%x: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_cube} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x8xf16>) -> tensor<4x1xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %s = loop 4 (%a = %zero sum) : !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x2xf16>
      %t = reduce_sum %xt {dim = 1} : !mirage_block.tile<4x2xf16>
      %q = mul %t, %t : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
      %r = mul %q, %t : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
      yield %r : !mirage_block.tile<4x1xf32>
    }
    store %s, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf16>
  }
  return %y : tensor<4x1xf16>
}

// The cube of the running sum is accumulated.
// CHECK: @tgt_cube_running: different at output
mirage_kernel.graph @tgt_cube_running(%x: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_cube} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x8xf16>) -> tensor<4x1xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %s, %z = loop 4 (%a = %zero sum, %b = %zero sum) : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x2xf16>
      %t = reduce_sum %xt {dim = 1} : !mirage_block.tile<4x2xf16>
      %n = add %a, %t : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
      %q = mul %n, %n : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
      %r = mul %q, %n : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
      yield %t, %r : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    }
    store %z, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf16>
  }
  return %y : tensor<4x1xf16>
}

// The accumulator is used before the last iteration has added to it.
// CHECK: @tgt_cube_before: different at output
mirage_kernel.graph @tgt_cube_before(%x: tensor<4x8xf16>) -> tensor<4x1xf16> attributes {source = @src_cube} {
  %y = custom (%xk = %x) outs(%yk) grid [1] : (tensor<4x8xf16>) -> tensor<4x1xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x1xf32>
    %s, %z = loop 4 (%a = %zero sum, %b = %zero assign) : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x8xf16> -> !mirage_block.tile<4x2xf16>
      %t = reduce_sum %xt {dim = 1} : !mirage_block.tile<4x2xf16>
      %q = mul %a, %a : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
      %r = mul %q, %a : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
      yield %t, %r : !mirage_block.tile<4x1xf32>, !mirage_block.tile<4x1xf32>
    }
    store %z, %yk : !mirage_block.tile<4x1xf32>, tensor<4x1xf16>
  }
  return %y : tensor<4x1xf16>
}
