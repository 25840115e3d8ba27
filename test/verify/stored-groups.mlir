// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false seed=99' -o /dev/null 2>&1 | FileCheck %s
// RUN: mirage-mlir-opt %s --mirage-verify='explain guard=false max-work=100' -o /dev/null 2>&1 | FileCheck %s
// Weights in groups along the contraction, each with scales and zero points: i8 and i4, before the loop and in it.

// Groups of 8.
mirage_kernel.graph @src_eights(%x: tensor<4x16xf16>, %w: tensor<16x6xi8>, %s: tensor<2x1x6xf16>, %z: tensor<2x1x6xf16>) -> tensor<4x6xf16> {
  %f = cast %w : tensor<16x6xi8> -> tensor<16x6xf16>
  %g = reshape %f : tensor<16x6xf16> -> tensor<2x8x6xf16>
  %c = sub %g, %z : tensor<2x8x6xf16>, tensor<2x1x6xf16>
  %d = mul %c, %s : tensor<2x8x6xf16>, tensor<2x1x6xf16>
  %b = reshape %d : tensor<2x8x6xf16> -> tensor<16x6xf16>
  %y = matmul %x, %b : tensor<4x16xf16>, tensor<16x6xf16>
  return %y : tensor<4x6xf16>
}

// A loop whose steps are the groups.
// CHECK: @eights_loop: equivalent to @src_eights;
mirage_kernel.graph @eights_loop(%x: tensor<4x16xf16>, %w: tensor<16x6xi8>, %s: tensor<2x1x6xf16>, %z: tensor<2x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_eights} {
  %y = custom (%xk = %x, %wk = %w, %sk = %s, %zk = %z) outs(%o) grid [3] : (tensor<4x16xf16>, tensor<16x6xi8>, tensor<2x1x6xf16>, tensor<2x1x6xf16>) -> tensor<4x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x2xf32>
    %sum = loop 2 (%c = %zero sum) : !mirage_block.tile<4x2xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x16xf16> -> !mirage_block.tile<4x8xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<16x6xi8> -> !mirage_block.tile<8x2xi8>
      %st = load %sk {grid = [2], loop = [0]} : tensor<2x1x6xf16> -> !mirage_block.tile<1x1x2xf16>
      %wf = cast %wt : !mirage_block.tile<8x2xi8> -> !mirage_block.tile<8x2xf16>
      %s2 = reshape %st : !mirage_block.tile<1x1x2xf16> -> !mirage_block.tile<1x2xf16>
      %zt = load %zk {grid = [2], loop = [0]} : tensor<2x1x6xf16> -> !mirage_block.tile<1x1x2xf16>
      %z2 = reshape %zt : !mirage_block.tile<1x1x2xf16> -> !mirage_block.tile<1x2xf16>
      %wz = sub %wf, %z2 : !mirage_block.tile<8x2xf16>, !mirage_block.tile<1x2xf16>
      %wd = mul %wz, %s2 : !mirage_block.tile<8x2xf32>, !mirage_block.tile<1x2xf16>
      %wh = cast %wd : !mirage_block.tile<8x2xf32> -> !mirage_block.tile<8x2xf16>
      %p = matmul %xt, %wh : !mirage_block.tile<4x8xf16>, !mirage_block.tile<8x2xf16>
      yield %p : !mirage_block.tile<4x2xf32>
    }
    store %sum, %o {grid = [1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// Steps of half a group in a loop within.
// CHECK: @eights_half_steps: equivalent to @src_eights;
mirage_kernel.graph @eights_half_steps(%x: tensor<4x16xf16>, %w: tensor<16x6xi8>, %s: tensor<2x1x6xf16>, %z: tensor<2x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_eights} {
  %y = custom (%xk = %x, %wk = %w, %sk = %s, %zk = %z) outs(%o) grid [3] : (tensor<4x16xf16>, tensor<16x6xi8>, tensor<2x1x6xf16>, tensor<2x1x6xf16>) -> tensor<4x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x2xf32>
    %sum = loop 2 (%c = %zero sum) : !mirage_block.tile<4x2xf32> {
      %zero1 = constant 0.0 : !mirage_block.tile<4x2xf32>
      %sum1 = loop 2 (%c1 = %zero1 sum) : !mirage_block.tile<4x2xf32> {
        %xt = load %xk {loop = [1, 1]} : tensor<4x16xf16> -> !mirage_block.tile<4x4xf16>
        %wt = load %wk {grid = [1], loop = [0, 0]} : tensor<16x6xi8> -> !mirage_block.tile<4x2xi8>
        %st = load %sk {grid = [2], loop = [0]} : tensor<2x1x6xf16> -> !mirage_block.tile<1x1x2xf16>
        %wf = cast %wt : !mirage_block.tile<4x2xi8> -> !mirage_block.tile<4x2xf16>
        %s2 = reshape %st : !mirage_block.tile<1x1x2xf16> -> !mirage_block.tile<1x2xf16>
        %zt = load %zk {grid = [2], loop = [0]} : tensor<2x1x6xf16> -> !mirage_block.tile<1x1x2xf16>
        %z2 = reshape %zt : !mirage_block.tile<1x1x2xf16> -> !mirage_block.tile<1x2xf16>
        %wz = sub %wf, %z2 : !mirage_block.tile<4x2xf16>, !mirage_block.tile<1x2xf16>
        %wd = mul %wz, %s2 : !mirage_block.tile<4x2xf32>, !mirage_block.tile<1x2xf16>
        %wh = cast %wd : !mirage_block.tile<4x2xf32> -> !mirage_block.tile<4x2xf16>
        %p = matmul %xt, %wh : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x2xf16>
        yield %p : !mirage_block.tile<4x2xf32>
      }
      yield %sum1 : !mirage_block.tile<4x2xf32>
    }
    store %sum, %o {grid = [1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// One block of all columns, steps of two.
// CHECK: @eights_rows_of_four: equivalent to @src_eights;
mirage_kernel.graph @eights_rows_of_four(%x: tensor<4x16xf16>, %w: tensor<16x6xi8>, %s: tensor<2x1x6xf16>, %z: tensor<2x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_eights} {
  %y = custom (%xk = %x, %wk = %w, %sk = %s, %zk = %z) outs(%o) grid [1] : (tensor<4x16xf16>, tensor<16x6xi8>, tensor<2x1x6xf16>, tensor<2x1x6xf16>) -> tensor<4x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x6xf32>
    %sum = loop 2 (%c = %zero sum) : !mirage_block.tile<4x6xf32> {
      %zero1 = constant 0.0 : !mirage_block.tile<4x6xf32>
      %sum1 = loop 4 (%c1 = %zero1 sum) : !mirage_block.tile<4x6xf32> {
        %xt = load %xk {loop = [1, 1]} : tensor<4x16xf16> -> !mirage_block.tile<4x2xf16>
        %wt = load %wk {grid = [1], loop = [0, 0]} : tensor<16x6xi8> -> !mirage_block.tile<2x6xi8>
        %st = load %sk {grid = [2], loop = [0]} : tensor<2x1x6xf16> -> !mirage_block.tile<1x1x6xf16>
        %wf = cast %wt : !mirage_block.tile<2x6xi8> -> !mirage_block.tile<2x6xf16>
        %s2 = reshape %st : !mirage_block.tile<1x1x6xf16> -> !mirage_block.tile<1x6xf16>
        %zt = load %zk {grid = [2], loop = [0]} : tensor<2x1x6xf16> -> !mirage_block.tile<1x1x6xf16>
        %z2 = reshape %zt : !mirage_block.tile<1x1x6xf16> -> !mirage_block.tile<1x6xf16>
        %wz = sub %wf, %z2 : !mirage_block.tile<2x6xf16>, !mirage_block.tile<1x6xf16>
        %wd = mul %wz, %s2 : !mirage_block.tile<2x6xf32>, !mirage_block.tile<1x6xf16>
        %wh = cast %wd : !mirage_block.tile<2x6xf32> -> !mirage_block.tile<2x6xf16>
        %p = matmul %xt, %wh : !mirage_block.tile<4x2xf16>, !mirage_block.tile<2x6xf16>
        yield %p : !mirage_block.tile<4x6xf32>
      }
      yield %sum1 : !mirage_block.tile<4x6xf32>
    }
    store %sum, %o {grid = [1]} : !mirage_block.tile<4x6xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// A product for each group; zero points as often as x adds them up.
// CHECK: @eights_after: equivalent to @src_eights;
mirage_kernel.graph @eights_after(%x: tensor<4x16xf16>, %w: tensor<16x6xi8>, %s: tensor<2x1x6xf16>, %z: tensor<2x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_eights} {
  %g = reshape %w : tensor<16x6xi8> -> tensor<2x8x6xi8>
  %f = cast %g : tensor<2x8x6xi8> -> tensor<2x8x6xf16>
  %r = reshape %x : tensor<4x16xf16> -> tensor<4x2x8xf16>
  %t = transpose %r {perm = [1, 0, 2]} : tensor<4x2x8xf16>
  %p = matmul %t, %f : tensor<2x4x8xf16>, tensor<2x8x6xf16> -> tensor<2x4x6xf32>
  %sums = reduce_sum %t {dim = 2} : tensor<2x4x8xf16> -> tensor<2x4x1xf32>
  %o = mul %sums, %z : tensor<2x4x1xf32>, tensor<2x1x6xf16>
  %c = sub %p, %o : tensor<2x4x6xf32>, tensor<2x4x6xf32>
  %m = mul %c, %s : tensor<2x4x6xf32>, tensor<2x1x6xf16>
  %s1 = reduce_sum %m {dim = 0} : tensor<2x4x6xf32>
  %r1 = reshape %s1 : tensor<1x4x6xf32> -> tensor<4x6xf32>
  %y = cast %r1 : tensor<4x6xf32> -> tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// Dequantised by a kernel before.
// CHECK: @eights_kernel_before: equivalent to @src_eights;
mirage_kernel.graph @eights_kernel_before(%x: tensor<4x16xf16>, %w: tensor<16x6xi8>, %s: tensor<2x1x6xf16>, %z: tensor<2x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_eights} {
  %y = custom (%wk = %w, %sk = %s, %zk = %z) outs(%o) grid [2] : (tensor<16x6xi8>, tensor<2x1x6xf16>, tensor<2x1x6xf16>) -> tensor<16x6xf16> {
    %wt = load %wk {grid = [0]} : tensor<16x6xi8> -> !mirage_block.tile<8x6xi8>
    %st = load %sk {grid = [0]} : tensor<2x1x6xf16> -> !mirage_block.tile<1x1x6xf16>
    %r = reshape %st : !mirage_block.tile<1x1x6xf16> -> !mirage_block.tile<1x6xf16>
    %zt = load %zk {grid = [0]} : tensor<2x1x6xf16> -> !mirage_block.tile<1x1x6xf16>
    %r1 = reshape %zt : !mirage_block.tile<1x1x6xf16> -> !mirage_block.tile<1x6xf16>
    %f = cast %wt : !mirage_block.tile<8x6xi8> -> !mirage_block.tile<8x6xf16>
    %c = sub %f, %r1 : !mirage_block.tile<8x6xf16>, !mirage_block.tile<1x6xf16>
    %d = mul %c, %r : !mirage_block.tile<8x6xf32>, !mirage_block.tile<1x6xf16>
    store %d, %o {grid = [0]} : !mirage_block.tile<8x6xf32>, tensor<16x6xf16>
  }
  %y1 = matmul %x, %y : tensor<4x16xf16>, tensor<16x6xf16>
  return %y1 : tensor<4x6xf16>
}

// s w - s z.
// CHECK: @eights_zero_scaled: equivalent to @src_eights;
mirage_kernel.graph @eights_zero_scaled(%x: tensor<4x16xf16>, %w: tensor<16x6xi8>, %s: tensor<2x1x6xf16>, %z: tensor<2x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_eights} {
  %sz = mul %s, %z : tensor<2x1x6xf16>, tensor<2x1x6xf16>
  %f = cast %w : tensor<16x6xi8> -> tensor<16x6xf16>
  %g = reshape %f : tensor<16x6xf16> -> tensor<2x8x6xf16>
  %d = mul %g, %s : tensor<2x8x6xf16>, tensor<2x1x6xf16>
  %c = sub %d, %sz : tensor<2x8x6xf16>, tensor<2x1x6xf16>
  %b = reshape %c : tensor<2x8x6xf16> -> tensor<16x6xf16>
  %y = matmul %x, %b : tensor<4x16xf16>, tensor<16x6xf16>
  return %y : tensor<4x6xf16>
}

// Groups half as large.
// CHECK: @eights_halved: different at output
mirage_kernel.graph @eights_halved(%x: tensor<4x16xf16>, %w: tensor<16x6xi8>, %s: tensor<2x1x6xf16>, %z: tensor<2x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_eights} {
  %r = repeat %s {dim = 0, times = 2} : tensor<2x1x6xf16>
  %r1 = repeat %z {dim = 0, times = 2} : tensor<2x1x6xf16>
  %f = cast %w : tensor<16x6xi8> -> tensor<16x6xf16>
  %g = reshape %f : tensor<16x6xf16> -> tensor<4x4x6xf16>
  %c = sub %g, %r1 : tensor<4x4x6xf16>, tensor<4x1x6xf16>
  %d = mul %c, %r : tensor<4x4x6xf16>, tensor<4x1x6xf16>
  %b = reshape %d : tensor<4x4x6xf16> -> tensor<16x6xf16>
  %y = matmul %x, %b : tensor<4x16xf16>, tensor<16x6xf16>
  return %y : tensor<4x6xf16>
}

// One group of all.
// CHECK: @eights_one_group: different at output
mirage_kernel.graph @eights_one_group(%x: tensor<4x16xf16>, %w: tensor<16x6xi8>, %s: tensor<2x1x6xf16>, %z: tensor<2x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_eights} {
  %s1 = slice %s {dim = 0, begin = 0, end = 1} : tensor<2x1x6xf16>
  %s2 = slice %z {dim = 0, begin = 0, end = 1} : tensor<2x1x6xf16>
  %f = cast %w : tensor<16x6xi8> -> tensor<16x6xf16>
  %g = reshape %f : tensor<16x6xf16> -> tensor<1x16x6xf16>
  %c = sub %g, %s2 : tensor<1x16x6xf16>, tensor<1x1x6xf16>
  %d = mul %c, %s1 : tensor<1x16x6xf16>, tensor<1x1x6xf16>
  %b = reshape %d : tensor<1x16x6xf16> -> tensor<16x6xf16>
  %y = matmul %x, %b : tensor<4x16xf16>, tensor<16x6xf16>
  return %y : tensor<4x6xf16>
}

// No zero point.
// CHECK: @eights_zero_dropped: different at output
mirage_kernel.graph @eights_zero_dropped(%x: tensor<4x16xf16>, %w: tensor<16x6xi8>, %s: tensor<2x1x6xf16>, %z: tensor<2x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_eights} {
  %f = cast %w : tensor<16x6xi8> -> tensor<16x6xf16>
  %g = reshape %f : tensor<16x6xf16> -> tensor<2x8x6xf16>
  %d = mul %g, %s : tensor<2x8x6xf16>, tensor<2x1x6xf16>
  %b = reshape %d : tensor<2x8x6xf16> -> tensor<16x6xf16>
  %y = matmul %x, %b : tensor<4x16xf16>, tensor<16x6xf16>
  return %y : tensor<4x6xf16>
}

// No scale.
// CHECK: @eights_scale_dropped: different at output
mirage_kernel.graph @eights_scale_dropped(%x: tensor<4x16xf16>, %w: tensor<16x6xi8>, %s: tensor<2x1x6xf16>, %z: tensor<2x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_eights} {
  %f = cast %w : tensor<16x6xi8> -> tensor<16x6xf16>
  %r = reshape %f : tensor<16x6xf16> -> tensor<2x8x6xf16>
  %c = sub %r, %z : tensor<2x8x6xf16>, tensor<2x1x6xf16>
  %b = reshape %c : tensor<2x8x6xf16> -> tensor<16x6xf16>
  %y = matmul %x, %b : tensor<4x16xf16>, tensor<16x6xf16>
  return %y : tensor<4x6xf16>
}

// Scaled twice.
// CHECK: @eights_scaled_twice: different at output
mirage_kernel.graph @eights_scaled_twice(%x: tensor<4x16xf16>, %w: tensor<16x6xi8>, %s: tensor<2x1x6xf16>, %z: tensor<2x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_eights} {
  %f = cast %w : tensor<16x6xi8> -> tensor<16x6xf16>
  %g = reshape %f : tensor<16x6xf16> -> tensor<2x8x6xf16>
  %c = sub %g, %z : tensor<2x8x6xf16>, tensor<2x1x6xf16>
  %d = mul %c, %s : tensor<2x8x6xf16>, tensor<2x1x6xf16>
  %d1 = mul %d, %s : tensor<2x8x6xf16>, tensor<2x1x6xf16>
  %b = reshape %d1 : tensor<2x8x6xf16> -> tensor<16x6xf16>
  %y = matmul %x, %b : tensor<4x16xf16>, tensor<16x6xf16>
  return %y : tensor<4x6xf16>
}

// Scale and zero point exchanged.
// CHECK: @eights_exchanged: different at output
mirage_kernel.graph @eights_exchanged(%x: tensor<4x16xf16>, %w: tensor<16x6xi8>, %s: tensor<2x1x6xf16>, %z: tensor<2x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_eights} {
  %f = cast %w : tensor<16x6xi8> -> tensor<16x6xf16>
  %g = reshape %f : tensor<16x6xf16> -> tensor<2x8x6xf16>
  %c = sub %g, %s : tensor<2x8x6xf16>, tensor<2x1x6xf16>
  %d = mul %c, %z : tensor<2x8x6xf16>, tensor<2x1x6xf16>
  %b = reshape %d : tensor<2x8x6xf16> -> tensor<16x6xf16>
  %y = matmul %x, %b : tensor<4x16xf16>, tensor<16x6xf16>
  return %y : tensor<4x6xf16>
}

// Scaled first.
// CHECK: @eights_order: different at output
mirage_kernel.graph @eights_order(%x: tensor<4x16xf16>, %w: tensor<16x6xi8>, %s: tensor<2x1x6xf16>, %z: tensor<2x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_eights} {
  %f = cast %w : tensor<16x6xi8> -> tensor<16x6xf16>
  %g = reshape %f : tensor<16x6xf16> -> tensor<2x8x6xf16>
  %d = mul %g, %s : tensor<2x8x6xf16>, tensor<2x1x6xf16>
  %c = sub %d, %z : tensor<2x8x6xf16>, tensor<2x1x6xf16>
  %b = reshape %c : tensor<2x8x6xf16> -> tensor<16x6xf16>
  %y = matmul %x, %b : tensor<4x16xf16>, tensor<16x6xf16>
  return %y : tensor<4x6xf16>
}

// The scale of the next column.
// CHECK: @eights_next_column: different at output
mirage_kernel.graph @eights_next_column(%x: tensor<4x16xf16>, %w: tensor<16x6xi8>, %s: tensor<2x1x6xf16>, %z: tensor<2x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_eights} {
  %s1 = slice %s {dim = 2, begin = 1, end = 6} : tensor<2x1x6xf16>
  %s2 = slice %s {dim = 2, begin = 0, end = 1} : tensor<2x1x6xf16>
  %sn = concat %s1, %s2 {dim = 2} : tensor<2x1x5xf16>, tensor<2x1x1xf16>
  %f = cast %w : tensor<16x6xi8> -> tensor<16x6xf16>
  %g = reshape %f : tensor<16x6xf16> -> tensor<2x8x6xf16>
  %c = sub %g, %z : tensor<2x8x6xf16>, tensor<2x1x6xf16>
  %d = mul %c, %sn : tensor<2x8x6xf16>, tensor<2x1x6xf16>
  %b = reshape %d : tensor<2x8x6xf16> -> tensor<16x6xf16>
  %y = matmul %x, %b : tensor<4x16xf16>, tensor<16x6xf16>
  return %y : tensor<4x6xf16>
}

// Its zero point.
// CHECK: @eights_next_zero: different at output
mirage_kernel.graph @eights_next_zero(%x: tensor<4x16xf16>, %w: tensor<16x6xi8>, %s: tensor<2x1x6xf16>, %z: tensor<2x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_eights} {
  %s1 = slice %z {dim = 2, begin = 1, end = 6} : tensor<2x1x6xf16>
  %s2 = slice %z {dim = 2, begin = 0, end = 1} : tensor<2x1x6xf16>
  %zn = concat %s1, %s2 {dim = 2} : tensor<2x1x5xf16>, tensor<2x1x1xf16>
  %f = cast %w : tensor<16x6xi8> -> tensor<16x6xf16>
  %g = reshape %f : tensor<16x6xf16> -> tensor<2x8x6xf16>
  %c = sub %g, %zn : tensor<2x8x6xf16>, tensor<2x1x6xf16>
  %d = mul %c, %s : tensor<2x8x6xf16>, tensor<2x1x6xf16>
  %b = reshape %d : tensor<2x8x6xf16> -> tensor<16x6xf16>
  %y = matmul %x, %b : tensor<4x16xf16>, tensor<16x6xf16>
  return %y : tensor<4x6xf16>
}

// The other group's scales.
// CHECK: @eights_other_group: different at output
mirage_kernel.graph @eights_other_group(%x: tensor<4x16xf16>, %w: tensor<16x6xi8>, %s: tensor<2x1x6xf16>, %z: tensor<2x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_eights} {
  %s1 = slice %s {dim = 0, begin = 1, end = 2} : tensor<2x1x6xf16>
  %s2 = slice %s {dim = 0, begin = 0, end = 1} : tensor<2x1x6xf16>
  %sn = concat %s1, %s2 {dim = 0} : tensor<1x1x6xf16>, tensor<1x1x6xf16>
  %f = cast %w : tensor<16x6xi8> -> tensor<16x6xf16>
  %g = reshape %f : tensor<16x6xf16> -> tensor<2x8x6xf16>
  %c = sub %g, %z : tensor<2x8x6xf16>, tensor<2x1x6xf16>
  %d = mul %c, %sn : tensor<2x8x6xf16>, tensor<2x1x6xf16>
  %b = reshape %d : tensor<2x8x6xf16> -> tensor<16x6xf16>
  %y = matmul %x, %b : tensor<4x16xf16>, tensor<16x6xf16>
  return %y : tensor<4x6xf16>
}

// In the loop, no zero point.
// CHECK: @eights_loop_no_zero: different at output
mirage_kernel.graph @eights_loop_no_zero(%x: tensor<4x16xf16>, %w: tensor<16x6xi8>, %s: tensor<2x1x6xf16>, %z: tensor<2x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_eights} {
  %y = custom (%xk = %x, %wk = %w, %sk = %s) outs(%o) grid [3] : (tensor<4x16xf16>, tensor<16x6xi8>, tensor<2x1x6xf16>) -> tensor<4x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x2xf32>
    %sum = loop 2 (%c = %zero sum) : !mirage_block.tile<4x2xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x16xf16> -> !mirage_block.tile<4x8xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<16x6xi8> -> !mirage_block.tile<8x2xi8>
      %st = load %sk {grid = [2], loop = [0]} : tensor<2x1x6xf16> -> !mirage_block.tile<1x1x2xf16>
      %wf = cast %wt : !mirage_block.tile<8x2xi8> -> !mirage_block.tile<8x2xf16>
      %s2 = reshape %st : !mirage_block.tile<1x1x2xf16> -> !mirage_block.tile<1x2xf16>
      %wd = mul %wf, %s2 : !mirage_block.tile<8x2xf16>, !mirage_block.tile<1x2xf16>
      %wh = cast %wd : !mirage_block.tile<8x2xf32> -> !mirage_block.tile<8x2xf16>
      %p = matmul %xt, %wh : !mirage_block.tile<4x8xf16>, !mirage_block.tile<8x2xf16>
      yield %p : !mirage_block.tile<4x2xf32>
    }
    store %sum, %o {grid = [1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// In the loop, scaled first.
// CHECK: @eights_loop_order: different at output
mirage_kernel.graph @eights_loop_order(%x: tensor<4x16xf16>, %w: tensor<16x6xi8>, %s: tensor<2x1x6xf16>, %z: tensor<2x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_eights} {
  %y = custom (%xk = %x, %wk = %w, %sk = %s, %zk = %z) outs(%o) grid [3] : (tensor<4x16xf16>, tensor<16x6xi8>, tensor<2x1x6xf16>, tensor<2x1x6xf16>) -> tensor<4x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x2xf32>
    %sum = loop 2 (%c = %zero sum) : !mirage_block.tile<4x2xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x16xf16> -> !mirage_block.tile<4x8xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<16x6xi8> -> !mirage_block.tile<8x2xi8>
      %st = load %sk {grid = [2], loop = [0]} : tensor<2x1x6xf16> -> !mirage_block.tile<1x1x2xf16>
      %wf = cast %wt : !mirage_block.tile<8x2xi8> -> !mirage_block.tile<8x2xf16>
      %s2 = reshape %st : !mirage_block.tile<1x1x2xf16> -> !mirage_block.tile<1x2xf16>
      %zt = load %zk {grid = [2], loop = [0]} : tensor<2x1x6xf16> -> !mirage_block.tile<1x1x2xf16>
      %z2 = reshape %zt : !mirage_block.tile<1x1x2xf16> -> !mirage_block.tile<1x2xf16>
      %wd = mul %wf, %s2 : !mirage_block.tile<8x2xf16>, !mirage_block.tile<1x2xf16>
      %wz = sub %wd, %z2 : !mirage_block.tile<8x2xf32>, !mirage_block.tile<1x2xf16>
      %wh = cast %wz : !mirage_block.tile<8x2xf32> -> !mirage_block.tile<8x2xf16>
      %p = matmul %xt, %wh : !mirage_block.tile<4x8xf16>, !mirage_block.tile<8x2xf16>
      yield %p : !mirage_block.tile<4x2xf32>
    }
    store %sum, %o {grid = [1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// All steps by the first group's scales.
// CHECK: @eights_loop_standing: different at output
mirage_kernel.graph @eights_loop_standing(%x: tensor<4x16xf16>, %w: tensor<16x6xi8>, %s: tensor<2x1x6xf16>, %z: tensor<2x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_eights} {
  %s1 = slice %s {dim = 0, begin = 0, end = 1} : tensor<2x1x6xf16>
  %y = custom (%xk = %x, %wk = %w, %s1k = %s1, %zk = %z) outs(%o) grid [3] : (tensor<4x16xf16>, tensor<16x6xi8>, tensor<1x1x6xf16>, tensor<2x1x6xf16>) -> tensor<4x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x2xf32>
    %sum = loop 2 (%c = %zero sum) : !mirage_block.tile<4x2xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x16xf16> -> !mirage_block.tile<4x8xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<16x6xi8> -> !mirage_block.tile<8x2xi8>
      %s1t = load %s1k {grid = [2]} : tensor<1x1x6xf16> -> !mirage_block.tile<1x1x2xf16>
      %wf = cast %wt : !mirage_block.tile<8x2xi8> -> !mirage_block.tile<8x2xf16>
      %s2 = reshape %s1t : !mirage_block.tile<1x1x2xf16> -> !mirage_block.tile<1x2xf16>
      %zt = load %zk {grid = [2], loop = [0]} : tensor<2x1x6xf16> -> !mirage_block.tile<1x1x2xf16>
      %z2 = reshape %zt : !mirage_block.tile<1x1x2xf16> -> !mirage_block.tile<1x2xf16>
      %wz = sub %wf, %z2 : !mirage_block.tile<8x2xf16>, !mirage_block.tile<1x2xf16>
      %wd = mul %wz, %s2 : !mirage_block.tile<8x2xf32>, !mirage_block.tile<1x2xf16>
      %wh = cast %wd : !mirage_block.tile<8x2xf32> -> !mirage_block.tile<8x2xf16>
      %p = matmul %xt, %wh : !mirage_block.tile<4x8xf16>, !mirage_block.tile<8x2xf16>
      yield %p : !mirage_block.tile<4x2xf32>
    }
    store %sum, %o {grid = [1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// By its zero points.
// CHECK: @eights_loop_zero_standing: different at output
mirage_kernel.graph @eights_loop_zero_standing(%x: tensor<4x16xf16>, %w: tensor<16x6xi8>, %s: tensor<2x1x6xf16>, %z: tensor<2x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_eights} {
  %s1 = slice %z {dim = 0, begin = 0, end = 1} : tensor<2x1x6xf16>
  %y = custom (%xk = %x, %wk = %w, %sk = %s, %s1k = %s1) outs(%o) grid [3] : (tensor<4x16xf16>, tensor<16x6xi8>, tensor<2x1x6xf16>, tensor<1x1x6xf16>) -> tensor<4x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x2xf32>
    %sum = loop 2 (%c = %zero sum) : !mirage_block.tile<4x2xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x16xf16> -> !mirage_block.tile<4x8xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<16x6xi8> -> !mirage_block.tile<8x2xi8>
      %st = load %sk {grid = [2], loop = [0]} : tensor<2x1x6xf16> -> !mirage_block.tile<1x1x2xf16>
      %wf = cast %wt : !mirage_block.tile<8x2xi8> -> !mirage_block.tile<8x2xf16>
      %s2 = reshape %st : !mirage_block.tile<1x1x2xf16> -> !mirage_block.tile<1x2xf16>
      %s1t = load %s1k {grid = [2]} : tensor<1x1x6xf16> -> !mirage_block.tile<1x1x2xf16>
      %z2 = reshape %s1t : !mirage_block.tile<1x1x2xf16> -> !mirage_block.tile<1x2xf16>
      %wz = sub %wf, %z2 : !mirage_block.tile<8x2xf16>, !mirage_block.tile<1x2xf16>
      %wd = mul %wz, %s2 : !mirage_block.tile<8x2xf32>, !mirage_block.tile<1x2xf16>
      %wh = cast %wd : !mirage_block.tile<8x2xf32> -> !mirage_block.tile<8x2xf16>
      %p = matmul %xt, %wh : !mirage_block.tile<4x8xf16>, !mirage_block.tile<8x2xf16>
      yield %p : !mirage_block.tile<4x2xf32>
    }
    store %sum, %o {grid = [1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// Scales that go with the half of a group, not with the group.
// CHECK: @eights_half_steps_inner: different at output
mirage_kernel.graph @eights_half_steps_inner(%x: tensor<4x16xf16>, %w: tensor<16x6xi8>, %s: tensor<2x1x6xf16>, %z: tensor<2x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_eights} {
  %y = custom (%xk = %x, %wk = %w, %sk = %s, %zk = %z) outs(%o) grid [3] : (tensor<4x16xf16>, tensor<16x6xi8>, tensor<2x1x6xf16>, tensor<2x1x6xf16>) -> tensor<4x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x2xf32>
    %sum = loop 2 (%c = %zero sum) : !mirage_block.tile<4x2xf32> {
      %zero1 = constant 0.0 : !mirage_block.tile<4x2xf32>
      %sum1 = loop 2 (%c1 = %zero1 sum) : !mirage_block.tile<4x2xf32> {
        %xt = load %xk {loop = [1, 1]} : tensor<4x16xf16> -> !mirage_block.tile<4x4xf16>
        %wt = load %wk {grid = [1], loop = [0, 0]} : tensor<16x6xi8> -> !mirage_block.tile<4x2xi8>
        %st = load %sk {grid = [2], loop = [-1, 0]} : tensor<2x1x6xf16> -> !mirage_block.tile<1x1x2xf16>
        %wf = cast %wt : !mirage_block.tile<4x2xi8> -> !mirage_block.tile<4x2xf16>
        %s2 = reshape %st : !mirage_block.tile<1x1x2xf16> -> !mirage_block.tile<1x2xf16>
        %zt = load %zk {grid = [2], loop = [-1, 0]} : tensor<2x1x6xf16> -> !mirage_block.tile<1x1x2xf16>
        %z2 = reshape %zt : !mirage_block.tile<1x1x2xf16> -> !mirage_block.tile<1x2xf16>
        %wz = sub %wf, %z2 : !mirage_block.tile<4x2xf16>, !mirage_block.tile<1x2xf16>
        %wd = mul %wz, %s2 : !mirage_block.tile<4x2xf32>, !mirage_block.tile<1x2xf16>
        %wh = cast %wd : !mirage_block.tile<4x2xf32> -> !mirage_block.tile<4x2xf16>
        %p = matmul %xt, %wh : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x2xf16>
        yield %p : !mirage_block.tile<4x2xf32>
      }
      yield %sum1 : !mirage_block.tile<4x2xf32>
    }
    store %sum, %o {grid = [1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// Each block by the scales of the one beside.
// CHECK: @eights_loop_columns: different at output
mirage_kernel.graph @eights_loop_columns(%x: tensor<4x16xf16>, %w: tensor<16x6xi8>, %s: tensor<2x1x6xf16>, %z: tensor<2x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_eights} {
  %s1 = slice %s {dim = 2, begin = 2, end = 6} : tensor<2x1x6xf16>
  %s2 = slice %s {dim = 2, begin = 0, end = 2} : tensor<2x1x6xf16>
  %k = concat %s1, %s2 {dim = 2} : tensor<2x1x4xf16>, tensor<2x1x2xf16>
  %y = custom (%xk = %x, %wk = %w, %kk = %k, %zk = %z) outs(%o) grid [3] : (tensor<4x16xf16>, tensor<16x6xi8>, tensor<2x1x6xf16>, tensor<2x1x6xf16>) -> tensor<4x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x2xf32>
    %sum = loop 2 (%c = %zero sum) : !mirage_block.tile<4x2xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x16xf16> -> !mirage_block.tile<4x8xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<16x6xi8> -> !mirage_block.tile<8x2xi8>
      %t = load %kk {grid = [2], loop = [0]} : tensor<2x1x6xf16> -> !mirage_block.tile<1x1x2xf16>
      %wf = cast %wt : !mirage_block.tile<8x2xi8> -> !mirage_block.tile<8x2xf16>
      %s21 = reshape %t : !mirage_block.tile<1x1x2xf16> -> !mirage_block.tile<1x2xf16>
      %zt = load %zk {grid = [2], loop = [0]} : tensor<2x1x6xf16> -> !mirage_block.tile<1x1x2xf16>
      %z2 = reshape %zt : !mirage_block.tile<1x1x2xf16> -> !mirage_block.tile<1x2xf16>
      %wz = sub %wf, %z2 : !mirage_block.tile<8x2xf16>, !mirage_block.tile<1x2xf16>
      %wd = mul %wz, %s21 : !mirage_block.tile<8x2xf32>, !mirage_block.tile<1x2xf16>
      %wh = cast %wd : !mirage_block.tile<8x2xf32> -> !mirage_block.tile<8x2xf16>
      %p = matmul %xt, %wh : !mirage_block.tile<4x8xf16>, !mirage_block.tile<8x2xf16>
      yield %p : !mirage_block.tile<4x2xf32>
    }
    store %sum, %o {grid = [1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// Behind the product, no zero point.
// CHECK: @eights_after_no_zero: different at output
mirage_kernel.graph @eights_after_no_zero(%x: tensor<4x16xf16>, %w: tensor<16x6xi8>, %s: tensor<2x1x6xf16>, %z: tensor<2x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_eights} {
  %g = reshape %w : tensor<16x6xi8> -> tensor<2x8x6xi8>
  %f = cast %g : tensor<2x8x6xi8> -> tensor<2x8x6xf16>
  %r = reshape %x : tensor<4x16xf16> -> tensor<4x2x8xf16>
  %t = transpose %r {perm = [1, 0, 2]} : tensor<4x2x8xf16>
  %p = matmul %t, %f : tensor<2x4x8xf16>, tensor<2x8x6xf16> -> tensor<2x4x6xf32>
  %sums = reduce_sum %t {dim = 2} : tensor<2x4x8xf16> -> tensor<2x4x1xf32>
  %m = mul %p, %s : tensor<2x4x6xf32>, tensor<2x1x6xf16>
  %s1 = reduce_sum %m {dim = 0} : tensor<2x4x6xf32>
  %r1 = reshape %s1 : tensor<1x4x6xf32> -> tensor<4x6xf32>
  %y = cast %r1 : tensor<4x6xf32> -> tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// Taken off once for a row of x.
// CHECK: @eights_after_once: different at output
mirage_kernel.graph @eights_after_once(%x: tensor<4x16xf16>, %w: tensor<16x6xi8>, %s: tensor<2x1x6xf16>, %z: tensor<2x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_eights} {
  %r = reshape %x : tensor<4x16xf16> -> tensor<4x2x8xf16>
  %t = transpose %r {perm = [1, 0, 2]} : tensor<4x2x8xf16>
  %g = reshape %w : tensor<16x6xi8> -> tensor<2x8x6xi8>
  %f = cast %g : tensor<2x8x6xi8> -> tensor<2x8x6xf16>
  %p = matmul %t, %f : tensor<2x4x8xf16>, tensor<2x8x6xf16> -> tensor<2x4x6xf32>
  %c = sub %p, %z : tensor<2x4x6xf32>, tensor<2x1x6xf16>
  %m = mul %c, %s : tensor<2x4x6xf32>, tensor<2x1x6xf16>
  %s1 = reduce_sum %m {dim = 0} : tensor<2x4x6xf32>
  %r1 = reshape %s1 : tensor<1x4x6xf32> -> tensor<4x6xf32>
  %y = cast %r1 : tensor<4x6xf32> -> tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// Numbers from 0 to 15 that are stored less 8, in groups of 4: the zero point is a constant.
mirage_kernel.graph @src_nibbles(%x: tensor<4x16xf16>, %w: tensor<16x6xi4>, %s: tensor<4x1x6xf16>) -> tensor<4x6xf16> {
  %eight = constant 8.0 : tensor<1x1x1xf16>
  %f = cast %w : tensor<16x6xi4> -> tensor<16x6xf16>
  %g = reshape %f : tensor<16x6xf16> -> tensor<4x4x6xf16>
  %c = sub %g, %eight : tensor<4x4x6xf16>, tensor<1x1x1xf16>
  %d = mul %c, %s : tensor<4x4x6xf16>, tensor<4x1x6xf16>
  %b = reshape %d : tensor<4x4x6xf16> -> tensor<16x6xf16>
  %y = matmul %x, %b : tensor<4x16xf16>, tensor<16x6xf16>
  return %y : tensor<4x6xf16>
}

// In the loop.
// CHECK: @nibbles_loop: equivalent to @src_nibbles;
mirage_kernel.graph @nibbles_loop(%x: tensor<4x16xf16>, %w: tensor<16x6xi4>, %s: tensor<4x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_nibbles} {
  %y = custom (%xk = %x, %wk = %w, %sk = %s) outs(%o) grid [3] : (tensor<4x16xf16>, tensor<16x6xi4>, tensor<4x1x6xf16>) -> tensor<4x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x2xf32>
    %sum = loop 4 (%c = %zero sum) : !mirage_block.tile<4x2xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x16xf16> -> !mirage_block.tile<4x4xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<16x6xi4> -> !mirage_block.tile<4x2xi4>
      %st = load %sk {grid = [2], loop = [0]} : tensor<4x1x6xf16> -> !mirage_block.tile<1x1x2xf16>
      %s2 = reshape %st : !mirage_block.tile<1x1x2xf16> -> !mirage_block.tile<1x2xf16>
      %wf = cast %wt : !mirage_block.tile<4x2xi4> -> !mirage_block.tile<4x2xf16>
      %eight = constant 8.0 : !mirage_block.tile<1x1xf32>
      %wz = sub %wf, %eight : !mirage_block.tile<4x2xf16>, !mirage_block.tile<1x1xf32>
      %wd = mul %wz, %s2 : !mirage_block.tile<4x2xf32>, !mirage_block.tile<1x2xf16>
      %wh = cast %wd : !mirage_block.tile<4x2xf32> -> !mirage_block.tile<4x2xf16>
      %p = matmul %xt, %wh : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x2xf16>
      yield %p : !mirage_block.tile<4x2xf32>
    }
    store %sum, %o {grid = [1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// Scales behind the product of each group.
// CHECK: @nibbles_loop_late: equivalent to @src_nibbles;
mirage_kernel.graph @nibbles_loop_late(%x: tensor<4x16xf16>, %w: tensor<16x6xi4>, %s: tensor<4x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_nibbles} {
  %y = custom (%xk = %x, %wk = %w, %sk = %s) outs(%o) grid [3] : (tensor<4x16xf16>, tensor<16x6xi4>, tensor<4x1x6xf16>) -> tensor<4x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x2xf32>
    %sum = loop 4 (%c = %zero sum) : !mirage_block.tile<4x2xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x16xf16> -> !mirage_block.tile<4x4xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<16x6xi4> -> !mirage_block.tile<4x2xi4>
      %st = load %sk {grid = [2], loop = [0]} : tensor<4x1x6xf16> -> !mirage_block.tile<1x1x2xf16>
      %s2 = reshape %st : !mirage_block.tile<1x1x2xf16> -> !mirage_block.tile<1x2xf16>
      %wf = cast %wt : !mirage_block.tile<4x2xi4> -> !mirage_block.tile<4x2xf16>
      %eight = constant 8.0 : !mirage_block.tile<1x1xf32>
      %wz = sub %wf, %eight : !mirage_block.tile<4x2xf16>, !mirage_block.tile<1x1xf32>
      %wh = cast %wz : !mirage_block.tile<4x2xf32> -> !mirage_block.tile<4x2xf16>
      %p = matmul %xt, %wh : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x2xf16>
      %ps = mul %p, %s2 : !mirage_block.tile<4x2xf32>, !mirage_block.tile<1x2xf16>
      yield %ps : !mirage_block.tile<4x2xf32>
    }
    store %sum, %o {grid = [1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// In one block.
// CHECK: @nibbles_loop_one_block: equivalent to @src_nibbles;
mirage_kernel.graph @nibbles_loop_one_block(%x: tensor<4x16xf16>, %w: tensor<16x6xi4>, %s: tensor<4x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_nibbles} {
  %y = custom (%xk = %x, %wk = %w, %sk = %s) outs(%o) grid [1] : (tensor<4x16xf16>, tensor<16x6xi4>, tensor<4x1x6xf16>) -> tensor<4x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x6xf32>
    %sum = loop 4 (%c = %zero sum) : !mirage_block.tile<4x6xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x16xf16> -> !mirage_block.tile<4x4xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<16x6xi4> -> !mirage_block.tile<4x6xi4>
      %st = load %sk {grid = [2], loop = [0]} : tensor<4x1x6xf16> -> !mirage_block.tile<1x1x6xf16>
      %s2 = reshape %st : !mirage_block.tile<1x1x6xf16> -> !mirage_block.tile<1x6xf16>
      %wf = cast %wt : !mirage_block.tile<4x6xi4> -> !mirage_block.tile<4x6xf16>
      %eight = constant 8.0 : !mirage_block.tile<1x1xf32>
      %wz = sub %wf, %eight : !mirage_block.tile<4x6xf16>, !mirage_block.tile<1x1xf32>
      %wd = mul %wz, %s2 : !mirage_block.tile<4x6xf32>, !mirage_block.tile<1x6xf16>
      %wh = cast %wd : !mirage_block.tile<4x6xf32> -> !mirage_block.tile<4x6xf16>
      %p = matmul %xt, %wh : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x6xf16>
      yield %p : !mirage_block.tile<4x6xf32>
    }
    store %sum, %o {grid = [1]} : !mirage_block.tile<4x6xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// The halves of a byte exchanged.
// CHECK: @nibbles_swapped: different at output
mirage_kernel.graph @nibbles_swapped(%x: tensor<4x16xf16>, %w: tensor<16x6xi4>, %s: tensor<4x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_nibbles} {
  %f = cast %w : tensor<16x6xi4> -> tensor<16x6xf16>
  %p = reshape %f : tensor<16x6xf16> -> tensor<48x2xf16>
  %s1 = slice %p {dim = 1, begin = 1, end = 2} : tensor<48x2xf16>
  %s2 = slice %p {dim = 1, begin = 0, end = 1} : tensor<48x2xf16>
  %q = concat %s1, %s2 {dim = 1} : tensor<48x1xf16>, tensor<48x1xf16>
  %wq = reshape %q : tensor<48x2xf16> -> tensor<16x6xf16>
  %g = reshape %wq : tensor<16x6xf16> -> tensor<4x4x6xf16>
  %eight = constant 8.0 : tensor<1x1x1xf16>
  %c = sub %g, %eight : tensor<4x4x6xf16>, tensor<1x1x1xf16>
  %d = mul %c, %s : tensor<4x4x6xf16>, tensor<4x1x6xf16>
  %b = reshape %d : tensor<4x4x6xf16> -> tensor<16x6xf16>
  %y = matmul %x, %b : tensor<4x16xf16>, tensor<16x6xf16>
  return %y : tensor<4x6xf16>
}

// Bytes that go down, not along: two rows exchanged.
// CHECK: @nibbles_swapped_rows: different at output
mirage_kernel.graph @nibbles_swapped_rows(%x: tensor<4x16xf16>, %w: tensor<16x6xi4>, %s: tensor<4x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_nibbles} {
  %f = cast %w : tensor<16x6xi4> -> tensor<16x6xf16>
  %p = reshape %f : tensor<16x6xf16> -> tensor<8x2x6xf16>
  %s1 = slice %p {dim = 1, begin = 1, end = 2} : tensor<8x2x6xf16>
  %s2 = slice %p {dim = 1, begin = 0, end = 1} : tensor<8x2x6xf16>
  %q = concat %s1, %s2 {dim = 1} : tensor<8x1x6xf16>, tensor<8x1x6xf16>
  %wq = reshape %q : tensor<8x2x6xf16> -> tensor<16x6xf16>
  %g = reshape %wq : tensor<16x6xf16> -> tensor<4x4x6xf16>
  %eight = constant 8.0 : tensor<1x1x1xf16>
  %c = sub %g, %eight : tensor<4x4x6xf16>, tensor<1x1x1xf16>
  %d = mul %c, %s : tensor<4x4x6xf16>, tensor<4x1x6xf16>
  %b = reshape %d : tensor<4x4x6xf16> -> tensor<16x6xf16>
  %y = matmul %x, %b : tensor<4x16xf16>, tensor<16x6xf16>
  return %y : tensor<4x6xf16>
}

// Less nothing.
// CHECK: @nibbles_no_zero: different at output
mirage_kernel.graph @nibbles_no_zero(%x: tensor<4x16xf16>, %w: tensor<16x6xi4>, %s: tensor<4x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_nibbles} {
  %f = cast %w : tensor<16x6xi4> -> tensor<16x6xf16>
  %g = reshape %f : tensor<16x6xf16> -> tensor<4x4x6xf16>
  %d = mul %g, %s : tensor<4x4x6xf16>, tensor<4x1x6xf16>
  %b = reshape %d : tensor<4x4x6xf16> -> tensor<16x6xf16>
  %y = matmul %x, %b : tensor<4x16xf16>, tensor<16x6xf16>
  return %y : tensor<4x6xf16>
}

// Less 7.
// CHECK: @nibbles_seven: different at output
mirage_kernel.graph @nibbles_seven(%x: tensor<4x16xf16>, %w: tensor<16x6xi4>, %s: tensor<4x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_nibbles} {
  %seven = constant 7.0 : tensor<1x1x1xf16>
  %f = cast %w : tensor<16x6xi4> -> tensor<16x6xf16>
  %g = reshape %f : tensor<16x6xf16> -> tensor<4x4x6xf16>
  %c = sub %g, %seven : tensor<4x4x6xf16>, tensor<1x1x1xf16>
  %d = mul %c, %s : tensor<4x4x6xf16>, tensor<4x1x6xf16>
  %b = reshape %d : tensor<4x4x6xf16> -> tensor<16x6xf16>
  %y = matmul %x, %b : tensor<4x16xf16>, tensor<16x6xf16>
  return %y : tensor<4x6xf16>
}

// And 8.
// CHECK: @nibbles_plus: different at output
mirage_kernel.graph @nibbles_plus(%x: tensor<4x16xf16>, %w: tensor<16x6xi4>, %s: tensor<4x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_nibbles} {
  %eight = constant -8.0 : tensor<1x1x1xf16>
  %f = cast %w : tensor<16x6xi4> -> tensor<16x6xf16>
  %g = reshape %f : tensor<16x6xf16> -> tensor<4x4x6xf16>
  %c = sub %g, %eight : tensor<4x4x6xf16>, tensor<1x1x1xf16>
  %d = mul %c, %s : tensor<4x4x6xf16>, tensor<4x1x6xf16>
  %b = reshape %d : tensor<4x4x6xf16> -> tensor<16x6xf16>
  %y = matmul %x, %b : tensor<4x16xf16>, tensor<16x6xf16>
  return %y : tensor<4x6xf16>
}

// In the loop, less nothing.
// CHECK: @nibbles_loop_no_zero: different at output
mirage_kernel.graph @nibbles_loop_no_zero(%x: tensor<4x16xf16>, %w: tensor<16x6xi4>, %s: tensor<4x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_nibbles} {
  %y = custom (%xk = %x, %wk = %w, %sk = %s) outs(%o) grid [3] : (tensor<4x16xf16>, tensor<16x6xi4>, tensor<4x1x6xf16>) -> tensor<4x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x2xf32>
    %sum = loop 4 (%c = %zero sum) : !mirage_block.tile<4x2xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x16xf16> -> !mirage_block.tile<4x4xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<16x6xi4> -> !mirage_block.tile<4x2xi4>
      %st = load %sk {grid = [2], loop = [0]} : tensor<4x1x6xf16> -> !mirage_block.tile<1x1x2xf16>
      %s2 = reshape %st : !mirage_block.tile<1x1x2xf16> -> !mirage_block.tile<1x2xf16>
      %wf = cast %wt : !mirage_block.tile<4x2xi4> -> !mirage_block.tile<4x2xf16>
      %wd = mul %wf, %s2 : !mirage_block.tile<4x2xf16>, !mirage_block.tile<1x2xf16>
      %wh = cast %wd : !mirage_block.tile<4x2xf32> -> !mirage_block.tile<4x2xf16>
      %p = matmul %xt, %wh : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x2xf16>
      yield %p : !mirage_block.tile<4x2xf32>
    }
    store %sum, %o {grid = [1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// In the loop, the next group's scales.
// CHECK: @nibbles_loop_next: different at output
mirage_kernel.graph @nibbles_loop_next(%x: tensor<4x16xf16>, %w: tensor<16x6xi4>, %s: tensor<4x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_nibbles} {
  %s1 = slice %s {dim = 0, begin = 1, end = 4} : tensor<4x1x6xf16>
  %s2 = slice %s {dim = 0, begin = 0, end = 1} : tensor<4x1x6xf16>
  %k = concat %s1, %s2 {dim = 0} : tensor<3x1x6xf16>, tensor<1x1x6xf16>
  %y = custom (%xk = %x, %wk = %w, %kk = %k) outs(%o) grid [3] : (tensor<4x16xf16>, tensor<16x6xi4>, tensor<4x1x6xf16>) -> tensor<4x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x2xf32>
    %sum = loop 4 (%c = %zero sum) : !mirage_block.tile<4x2xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x16xf16> -> !mirage_block.tile<4x4xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<16x6xi4> -> !mirage_block.tile<4x2xi4>
      %t = load %kk {grid = [2], loop = [0]} : tensor<4x1x6xf16> -> !mirage_block.tile<1x1x2xf16>
      %s21 = reshape %t : !mirage_block.tile<1x1x2xf16> -> !mirage_block.tile<1x2xf16>
      %wf = cast %wt : !mirage_block.tile<4x2xi4> -> !mirage_block.tile<4x2xf16>
      %eight = constant 8.0 : !mirage_block.tile<1x1xf32>
      %wz = sub %wf, %eight : !mirage_block.tile<4x2xf16>, !mirage_block.tile<1x1xf32>
      %wd = mul %wz, %s21 : !mirage_block.tile<4x2xf32>, !mirage_block.tile<1x2xf16>
      %wh = cast %wd : !mirage_block.tile<4x2xf32> -> !mirage_block.tile<4x2xf16>
      %p = matmul %xt, %wh : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x2xf16>
      yield %p : !mirage_block.tile<4x2xf32>
    }
    store %sum, %o {grid = [1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// The scales of the block beside.
// CHECK: @nibbles_loop_columns: different at output
mirage_kernel.graph @nibbles_loop_columns(%x: tensor<4x16xf16>, %w: tensor<16x6xi4>, %s: tensor<4x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_nibbles} {
  %s1 = slice %s {dim = 2, begin = 2, end = 6} : tensor<4x1x6xf16>
  %s2 = slice %s {dim = 2, begin = 0, end = 2} : tensor<4x1x6xf16>
  %k = concat %s1, %s2 {dim = 2} : tensor<4x1x4xf16>, tensor<4x1x2xf16>
  %y = custom (%xk = %x, %wk = %w, %kk = %k) outs(%o) grid [3] : (tensor<4x16xf16>, tensor<16x6xi4>, tensor<4x1x6xf16>) -> tensor<4x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x2xf32>
    %sum = loop 4 (%c = %zero sum) : !mirage_block.tile<4x2xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x16xf16> -> !mirage_block.tile<4x4xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<16x6xi4> -> !mirage_block.tile<4x2xi4>
      %t = load %kk {grid = [2], loop = [0]} : tensor<4x1x6xf16> -> !mirage_block.tile<1x1x2xf16>
      %s21 = reshape %t : !mirage_block.tile<1x1x2xf16> -> !mirage_block.tile<1x2xf16>
      %wf = cast %wt : !mirage_block.tile<4x2xi4> -> !mirage_block.tile<4x2xf16>
      %eight = constant 8.0 : !mirage_block.tile<1x1xf32>
      %wz = sub %wf, %eight : !mirage_block.tile<4x2xf16>, !mirage_block.tile<1x1xf32>
      %wd = mul %wz, %s21 : !mirage_block.tile<4x2xf32>, !mirage_block.tile<1x2xf16>
      %wh = cast %wd : !mirage_block.tile<4x2xf32> -> !mirage_block.tile<4x2xf16>
      %p = matmul %xt, %wh : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x2xf16>
      yield %p : !mirage_block.tile<4x2xf32>
    }
    store %sum, %o {grid = [1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}

// The first group's for all.
// CHECK: @nibbles_loop_standing: different at output
mirage_kernel.graph @nibbles_loop_standing(%x: tensor<4x16xf16>, %w: tensor<16x6xi4>, %s: tensor<4x1x6xf16>) -> tensor<4x6xf16> attributes {source = @src_nibbles} {
  %s1 = slice %s {dim = 0, begin = 0, end = 1} : tensor<4x1x6xf16>
  %y = custom (%xk = %x, %wk = %w, %s1k = %s1) outs(%o) grid [3] : (tensor<4x16xf16>, tensor<16x6xi4>, tensor<1x1x6xf16>) -> tensor<4x6xf16> {
    %zero = constant 0.0 : !mirage_block.tile<4x2xf32>
    %sum = loop 4 (%c = %zero sum) : !mirage_block.tile<4x2xf32> {
      %xt = load %xk {loop = [1]} : tensor<4x16xf16> -> !mirage_block.tile<4x4xf16>
      %wt = load %wk {grid = [1], loop = [0]} : tensor<16x6xi4> -> !mirage_block.tile<4x2xi4>
      %s1t = load %s1k {grid = [2]} : tensor<1x1x6xf16> -> !mirage_block.tile<1x1x2xf16>
      %s2 = reshape %s1t : !mirage_block.tile<1x1x2xf16> -> !mirage_block.tile<1x2xf16>
      %wf = cast %wt : !mirage_block.tile<4x2xi4> -> !mirage_block.tile<4x2xf16>
      %eight = constant 8.0 : !mirage_block.tile<1x1xf32>
      %wz = sub %wf, %eight : !mirage_block.tile<4x2xf16>, !mirage_block.tile<1x1xf32>
      %wd = mul %wz, %s2 : !mirage_block.tile<4x2xf32>, !mirage_block.tile<1x2xf16>
      %wh = cast %wd : !mirage_block.tile<4x2xf32> -> !mirage_block.tile<4x2xf16>
      %p = matmul %xt, %wh : !mirage_block.tile<4x4xf16>, !mirage_block.tile<4x2xf16>
      yield %p : !mirage_block.tile<4x2xf32>
    }
    store %sum, %o {grid = [1]} : !mirage_block.tile<4x2xf32>, tensor<4x6xf16>
  }
  return %y : tensor<4x6xf16>
}
